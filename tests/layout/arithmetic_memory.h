/* Arithmetic between views that have memory in common, and with views of known layouts. */
#ifndef HARRAY_TESTS_LAYOUT_ARITHMETIC_MEMORY_H
#define HARRAY_TESTS_LAYOUT_ARITHMETIC_MEMORY_H

#include "arithmetic_model.h"

/* ---- memory in common ------------------------------------------------------------------------ */

HA_VIEW(any_sky, particle, 1, HA_ANY)
HA_VIEW(sky, particle, 1, HA_AOSOA(8))

static void test_itself(void **state) {
    (void)state;
    ha_record *r = record_of(records[0]);
    const int64_t n[] = {100}, shift[] = {1}, zeros[] = {0};
    for (int k = 0; k < LAYOUTS; k++) {
        memory left, expected;
        ha_error error;
        if (strstr(layouts[k], "permute")) continue;
        make_memory(&left, r, layouts[k], 1, n);
        copy_memory(&expected, &left, 0);
        expect(ha_mapped_apply_view(&left.mapped, HA_ADD, &left.mapped, NULL, &error), &error,
               "itself");
        model(&expected, HA_ADD, &(model_right){.view = &expected}, zeros, n, NULL, NULL);
        check_equal(&left, &expected, "itself");
        assert_int_equal(ha_mapped_apply_view(&left.mapped, HA_ADD, &left.mapped,
                                              &(ha_applying){.shift = shift}, &error),
                         HA_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, "overlap"));
        check_equal(&left, &expected, "itself, shifted");
        free_blobs(&expected);
        free_memory(&left);
    }
    ha_record_free(r);
}

/* The same mapping twice, each byte of a value in a blob of its own: all of these have to be the same. */
static void test_overlap_of_bytes(const ha_record *r) {
    const int64_t n[] = {4};
    char byte[4][4] = {{1, 2, 3}, {4}, {0}, {0x3f, 0x40, 0x41}};
    void *blob[] = {byte[0], byte[1], byte[2], byte[3]};
    void *turned[] = {byte[0], byte[2], byte[1], byte[3]};
    ha_error error;
    ha_mapping *m = ha_mapping_parse(r, "bytesplit(soa)", 1, n, NULL);
    const ha_mapped a = {m, blob}, b = {m, turned};
    expect(ha_mapped_apply_view(&a, HA_ASSIGN, &a, NULL, &error), &error, "the same bytes");
    assert_int_equal(ha_mapped_apply_view(&a, HA_ASSIGN, &b, NULL, &error), HA_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "overlap"));
    ha_mapping_free(m);
}

/* The same memory as two views; fields of one record that lie where other ones of the other do. */
/* Other layouts in the same memory: the first field of both begins at one place. */
static void test_overlap_of_layouts(void) {
    static const char *const layouts_of[] = {"soa(single)",   "aosoa(4)",        "aosoa(8)", "aos",
                                             "aosoa(8,rows)", "soa(single)@col", "one"};
    const int64_t n[] = {4, 8};
    char room[400] = {0};
    void *blob[] = {room};
    ha_error error;
    ha_record *r = record_of("a:f32 b:f32");
    for (int k = 0; k < 7; k++)
        for (int j = 0; j < 7; j++) {
            ha_mapping *m = ha_mapping_parse(r, layouts_of[k], 2, n, NULL);
            ha_mapping *other = ha_mapping_parse(r, layouts_of[j], 2, n, NULL);
            const bool same = k == j || (k == 2 && j == 4) || (k == 4 && j == 2);
            const ha_status s = ha_mapped_apply_view(&(ha_mapped){m, blob}, HA_ADD,
                                                     &(ha_mapped){other, blob}, NULL, &error);
            assert_int_equal(s, same && k < 6 ? HA_OK : HA_ERR_ARGUMENT);
            ha_mapping_free(m);
            ha_mapping_free(other);
        }
    ha_record_free(r);
}

/* More records than numbers count, of which nothing is stored. */
static void test_no_end(void **state) {
    (void)state;
    static const int64_t far[] = {INT64_MAX / 4, 1 << 20}, shift[] = {1, 1};
    ha_error error;
    ha_record *r = record_of("a:f32");
    ha_mapping *m = ha_mapping_parse(r, "null", 2, far, NULL);
    assert_non_null(m);
    const ha_mapped nothing = {m, NULL};
    expect(ha_mapped_apply_number(&nothing, HA_ADD, 1, &(ha_applying){.shift = shift}, &error),
           &error, "null");
    expect(ha_mapped_apply_view(&nothing, HA_ADD, &nothing, &(ha_applying){.shift = shift}, &error),
           &error, "null");
    ha_mapping_free(m);
    ha_record_free(r);
}

/* Several orders in one view, and fields that are not side by side. */
static void test_orders(void **state) {
    (void)state;
    static const char *const all[] = {"split(separate; pos: aos@col, aos)",
                                      "split(pos: soa(single)@col, aosoa(4))",
                                      "split(separate; mass: soa, aos(packed))", "aosoa(8,aligned)",
                                      "split(separate; mass: aos@morton, aosoa(4))"};
    const int64_t n[] = {11, 13}, zeros[] = {0, 0};
    ha_record *r = record_of("pos.x:f32 mass:f64 pos.y:f32 pos.z:f32 a:f64 b:f32 c:i32");
    for (int k = 0; k < 25; k++)
        for (int op = HA_ASSIGN; op < HA_DIVIDE; op++) {
            memory left, right, expected;
            ha_error error;
            make_memory(&left, r, all[k / 5], 2, n);
            make_memory(&right, r, all[k % 5], 2, n);
            copy_memory(&expected, &left, 0);
            expect(ha_mapped_apply_view(&left.mapped, (ha_operator)op, &right.mapped, NULL, &error),
                   &error, "orders");
            model(&expected, (ha_operator)op, &(model_right){.view = &right}, zeros, n, NULL, NULL);
            check_equal(&left, &expected, "orders");
            free_blobs(&expected);
            free_memory(&left);
            free_memory(&right);
        }
    ha_record_free(r);
}

static void test_overlap(void **state) {
    (void)state;
    const int64_t n[] = {8};
    ha_error error;
    float array[16] = {1, 2, 3, 4, 5, 6, 7, 8};
    void *blob[] = {array}, *behind[] = {array + 8};
    ha_record *r = record_of("x:f32"), *s = record_of("y:f32 x:f32");
    ha_mapping *m = ha_mapping_parse(r, "aos", 1, n, NULL);
    ha_mapping *again = ha_mapping_parse(r, "soa", 1, n, NULL);
    ha_mapping *other = ha_mapping_parse(s, "aos", 1, n, NULL);
    const ha_mapped a = {m, blob}, b = {again, blob}, c = {other, blob}, d = {m, behind};
    expect(ha_mapped_apply_view(&a, HA_ADD, &b, NULL, &error), &error, "the same memory");
    assert_true(array[0] == 2 && array[7] == 16);
    assert_int_equal(ha_mapped_apply_view(&a, HA_ADD, &c, NULL, &error), HA_ERR_ARGUMENT);
    assert_string_equal(error.text,
                        "blob 0 of the left side and blob 0 of the right one overlap, and "
                        "not every field meets itself");
    expect(ha_mapped_apply_view(&d, HA_ADD, &a, NULL, &error), &error, "side by side");
    assert_true(array[8] == 2 && array[15] == 16);
    test_overlap_of_bytes(r);
    test_overlap_of_layouts();
    ha_mapping_free(m);
    ha_mapping_free(again);
    ha_mapping_free(other);
    ha_record_free(r);
    ha_record_free(s);
}

/* ---- views ----------------------------------------------------------------------------------- */

static void test_views(void **state) {
    (void)state;
    ha_error error;
    sky v = sky_new(20);
    particle array[20];
    memset(array, 0, sizeof array);
    HA_EACH(sky, v, at) sky_store(v, at, particle_of((uint64_t)ha_index(at)));
    ha_mapped *mapped = sky_mapped(v, &error);
    const particle half = {.pos = {.x = 0.5, .y = 2, .z = 0}, .mass = 3};
    expect(ha_mapped_apply_record(mapped, HA_MULTIPLY, &particle_record, &half,
                                  &(ha_applying){.paths = "pos + mass"}, &error),
           &error, "a struct");
    for (int64_t i = 0; i < 20; i++) {
        const particle p = sky_load(v, sky_at(v, i)), q = particle_of((uint64_t)i);
        assert_true(p.pos.x == q.pos.x * 0.5 && p.pos.y == q.pos.y * 2 && p.pos.z == 0);
        assert_true(p.mass == q.mass * 3 && p.vel.x == q.vel.x && p.flags[2] == q.flags[2]);
    }
    ha_mapped_free(mapped);
    sky_free(v);
}

#endif
