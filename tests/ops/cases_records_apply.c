/* Fields of record arrays with a number, on every context and in many layouts, against the same arithmetic with an array of
 * structs here. */
#include "sparing.h"
#define TRIED_EACH 2
#include "../support/few_kernels.h"
#include "known_apply.h"

static const char fields[] =
    "a:f32 b:f64 h:f16 s:bf16 z.x:c64 z.y:c128 i8:i8 i16:i16 i32:i32 i64:i64 u8:u8 "
    "u16:u16 u32:u32 u64:u64 m[2].e[3]:f32 flag:bool";
static const char numbers_only[] = "a+b+h+s+z+i8+i16+i32+i64+u8+u16+u32+u64+m";
static const char *const layouts[] = {"aos",           "aos(packed)",
                                      "soa",           "soa(single,aligned)",
                                      "aosoa(8)",      "soa(fields)",
                                      "soa@col",       "split(separate; a+m: soa, aos)",
                                      "byteswap(aos)", "changetype(f32:f64; soa)",
                                      "bytesplit(soa)"};
enum { LAYOUTS = sizeof layouts / sizeof *layouts, N = 7, M = 9, MOST_BYTES = 1 << 16 };

static ha_record *record;
static const int64_t extent[2] = {N, M};
static ha_records *r;
static ha_mapping *known; /* of what is expected: an array of structs */
static char expected[MOST_BYTES];
static void *known_blob[1] = {expected};
static ha_mapped model;

static int begin_records(void **state) {
    ha_error error;
    begin_case(state);
    record = ha_record_parse(fields, &error);
    known = record ? ha_mapping_parse(record, "aos", 2, extent, &error) : NULL;
    if (!known || known->blob[0].bytes > MOST_BYTES) return -1;
    model = (ha_mapped){known, known_blob};
    r = ha_records_new(record, 2, extent, NULL);
    return r ? 0 : -1;
}

static int end_records(void **state) {
    HA_CHECK(ha_context_finish(C)); /* what is known of the last call is not needed any more */
    HA_CHECK(ha_records_free(r));
    ha_mapping_free(known);
    ha_record_free(record);
    return end_case(state);
}
#define RECORDS(name) cmocka_unit_test_setup_teardown(name, begin_records, end_records)

/* Values of all kinds: the least, the greatest, halves, what rounds up. */
static void fill_records(void) {
    static const double some[] = {0,   1,     -1,    2.5, 3.5, 100, -128,
                                  127, 32767, 65535, 1e9, -7,  0.1, 1e18};
    memset(expected, 0, sizeof expected);
    int64_t index[2], k = 0;
    for (int64_t leaf = 0; leaf < known->rows; leaf++)
        for (index[0] = 0; index[0] < N; index[0]++)
            for (index[1] = 0; index[1] < M; index[1]++, k++) {
                ha_mapped one = model;
                const ha_applying here = {.first = index,
                                          .last = (const int64_t[]){index[0] + 1, index[1] + 1}};
                char name[100], path[104];
                ha_error error;
                (void)ha_record_leaf_name(record, leaf, name, sizeof name);
                snprintf(path, sizeof path, "%s", name);
                ha_applying how = here;
                how.paths = path;
                if (ha_mapped_apply_number(&one, HA_ASSIGN, some[k * 7 % 14], &how, &error)) fail();
            }
    for (index[0] = 0; index[0] < N; index[0]++)
        for (index[1] = 0; index[1] < M; index[1]++)
            HA_CHECK(ha_records_set(
                r, index, expected + ha_mapping_offset(known, 0, index) - known->row[0].base));
}

static int is_number(int64_t leaf, const char *value) {
    ha_leaf l;
    HA_CHECK(ha_record_leaf(record, leaf, &l));
    float f = 0;
    if (l.type == HA_DTYPE_half) f = ha_half_to_float(*(const ha_half *)(const void *)value);
    if (l.type == HA_DTYPE_bfloat16)
        f = ha_bfloat16_to_float(*(const ha_bfloat16 *)(const void *)value);
    return f == f;
}

/* Every leaf of every record, by its bits; NaN is as good as another NaN. */
static void is_expected(void) {
    int64_t index[2];
    ha_records_access x = {.records = NULL};
    assert_int_equal(ha_records_open(&x, r, H, "read", 0, HA_END), HA_OK);
    const ha_mapped here = {x.mapping, x.blob};
    for (int64_t leaf = 0; leaf < known->rows; leaf++)
        for (index[0] = 0; index[0] < N; index[0]++)
            for (index[1] = 0; index[1] < M; index[1]++) {
                _Alignas(16) char got[16] = {0}, wanted[16] = {0};
                ha_mapped_get(&here, leaf, index, got);
                ha_mapped_get(&model, leaf, index, wanted);
                if (is_number(leaf, wanted)) assert_memory_equal(got, wanted, sizeof got);
            }
    HA_CHECK(ha_records_close(&x));
}

static void apply_there(ha_records *records, ha_operator op, double number,
                        const ha_applying *how) {
    know_number(records, op, number, how);
    assert_int_equal(ha_records_apply_number(records, op, number, how, C), HA_OK);
}

static void apply(ha_operator op, double number, const ha_applying *how) {
    ha_error error;
    assert_int_equal(ha_mapped_apply_number(&model, op, number, how, &error), HA_OK);
    apply_there(r, op, number, how);
}

TEST(computes_what_the_host_does_in_every_layout) {
    static const double some[] = {0.5, 2, 3, -1.25, 1e-3};
    if (is_not_for_it()) skip();
    for (int l = 0; l < LAYOUTS; l++) {
        if (is_fake(C) && !is_tried_here(0, 0, l)) continue;
        assert_int_equal(ha_records_layout(r, C, layouts[l]), HA_OK);
        fill_records();
        for (int op = HA_ADD; op <= HA_DIVIDE; op++) {
            const int is_launched = C != H && ha_way_of(C) != HA_WAY_COMPILED;
            if (!is_tried_here(0, op, l) || (is_launched && (op + l) % stride_up_to(3))) continue;
            apply((ha_operator)op, some[(l + op) % 5], &(ha_applying){.paths = numbers_only});
            is_expected();
        }
        apply(HA_ASSIGN, 2.5, NULL);
        is_expected();
    }
}

TEST(changes_what_is_asked_for_only) {
    const int64_t first[] = {2, -5}, last[] = {5, 4};
    if (is_not_for_it()) skip();
    for (int l = 0; l < LAYOUTS; l++) {
        if (!is_tried_here(0, 0, l)) continue;
        assert_int_equal(ha_records_layout(r, C, layouts[l]), HA_OK);
        fill_records();
        apply(HA_MULTIPLY, 3, &(ha_applying){.paths = "z.x + i16", .first = first, .last = last});
        apply(HA_ADD, 1, &(ha_applying){.paths = "m[1]+m[0].e[2]", .first = first});
        apply(HA_ASSIGN, 7, &(ha_applying){.paths = "flag+u8", .last = last});
        apply(HA_ASSIGN, 7, &(ha_applying){.paths = "a", .first = last, .last = first});
        is_expected();
    }
}

/* The values of a device stay there. */
TEST(moves_nothing_that_is_there) {
    if (shares_memory(C) || is_not_for_it()) skip();
    if (ha_way_of(C) == HA_WAY_HOST) skip();
    assert_int_equal(ha_records_layout(r, C, "soa"), HA_OK);
    fill_records();
    HA_CHECK(ha_records_prefetch(r, C, NULL, 0, HA_END));
    const uint64_t moved = ha_records_statistics(r).transfers;
    apply(HA_ADD, 1, &(ha_applying){.paths = "a+i32"});
    apply(HA_ASSIGN, 3, &(ha_applying){.paths = "b"});
    assert_int_equal(ha_records_statistics(r).transfers, moved);
    assert_true(ha_records_valid(r, C, "a+i32+b", 0, HA_END));
    assert_false(ha_records_valid(r, H, "a", 0, HA_END));
    is_expected();
}

static void count_wait(const ha_event_info *event, void *waits) {
    *(int *)waits += event->kind == HA_EVENT_WAIT;
}

/* A device runs it as a function, with each kind of right side, and the call waits for that: who listens hears of it. */
TEST(tells_that_it_waits) {
    static int waits[3];
    const ha_applying how = {.paths = "a"};
    if (ha_way_of(C) != HA_WAY_FUNCTION) skip();
    darray x = darray_filled(HA_DTYPE_double, 2, extent, HA_DVALUE(2.0), C);
    fill_records();
    HA_CHECK(ha_records_prefetch(r, C, "a", 0, HA_END));
    for (int k = 0; k < 3; k++) {
        waits[k] = 0;
        ha_set_event_handler(count_wait, &waits[k]);
        HA_CHECK(k == 0   ? ha_records_apply_number(r, HA_ADD, 1, &how, C)
                 : k == 1 ? ha_records_apply_array(r, HA_ADD, x, &how, C)
                          : ha_records_apply_records(r, HA_ADD, r, &how, C));
    }
    ha_set_event_handler(NULL, NULL);
    HA_CHECK(darray_free(&x));
    for (int k = 0; k < 3; k++) assert_int_equal(waits[k], 1);
}

TEST(goes_by_way_of_the_host_where_values_share_bytes) {
    ha_error error;
    ha_record *whole = ha_record_parse("x:i32 y:u8", &error);
    const int64_t n = 30;
    ha_records *bits = ha_records_new(whole, 1, &n, NULL);
    struct {
        int32_t x;
        uint8_t y;
    } one = {5, 9};
    assert_non_null(bits);
    assert_int_equal(ha_records_layout(bits, C, "bitint(12; soa)"), HA_OK);
    for (int64_t i = 0; i < n; i++) HA_CHECK(ha_records_set(bits, &i, &one));
    HA_CHECK(ha_records_prefetch(bits, C, NULL, 0, HA_END));
    apply_there(bits, HA_ADD, 3, NULL);
    for (int64_t i = 0; i < n; i++) {
        HA_CHECK(ha_records_get(bits, &i, &one));
        assert_int_equal(one.x, 8);
        assert_int_equal(one.y, 12);
    }
    HA_CHECK(ha_records_free(bits));
    ha_record_free(whole);
}

/* Room for one of three arrays at a time: they take turns, and keep their values. */
TEST(under_pressure) {
    enum { ARRAYS = 3, LONG = 1 << 15 };
    if (shares_memory(C) || is_not_for_it()) skip();
    ha_error error;
    ha_record *pair = ha_record_parse("x:f32 n:i32", &error);
    const int64_t n = LONG;
    ha_records *many[ARRAYS];
    struct {
        float x;
        int32_t n;
    } one;
    const uint64_t budget = ha_memory_budget(C);
    (void)ha_memory_trim(C, 0);
    assert_int_equal(ha_memory_set_budget(C, LONG * sizeof one * 3 / 2), HA_OK);
    for (int i = 0; i < ARRAYS; i++) {
        many[i] = ha_records_new(pair, 1, &n, "aos");
        apply_there(many[i], HA_ASSIGN, i, NULL);
    }
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < ARRAYS; i++) apply_there(many[i], HA_ADD, 1, NULL);
    for (int i = 0; i < ARRAYS; i++) {
        for (int64_t k = 0; k < n; k += 1001) {
            HA_CHECK(ha_records_get(many[i], &k, &one));
            assert_true(one.x == (float)(i + 3) && one.n == i + 3);
        }
        HA_CHECK(ha_records_free(many[i]));
    }
    (void)ha_memory_trim(C, 0);
    assert_int_equal(ha_memory_set_budget(C, budget), HA_OK);
    ha_record_free(pair);
}

static void is_refused(ha_status s, ha_status as, const char *why) {
    const ha_error error = ha_take_error();
    assert_int_equal(s, as);
    if (!strstr(error.text, why)) fail_msg("%s", error.text);
}

TEST(refuses_and_changes_nothing) {
    fill_records();
    const uint64_t version = ha_records_version(r);
#define REFUSES(as, why, op, number, ...)                                                          \
    is_refused(ha_records_apply_number(r, op, number, &(ha_applying){__VA_ARGS__}, C), as, why)
    REFUSES(HA_ERR_ARGUMENT, "a bool can be assigned only", HA_ADD, 1, .paths = NULL);
    REFUSES(HA_ERR_ARGUMENT, "cannot be divided by 0", HA_DIVIDE, 0, .paths = "a+u32");
    REFUSES(HA_ERR_ARGUMENT, "no field \"w\"", HA_ADD, 1, .paths = "a+w");
    REFUSES(HA_ERR_ARGUMENT, "come twice", HA_ADD, 1, .paths = "z+z.x");
    REFUSES(HA_ERR_ARGUMENT, "HA_ABS_MAXIMUM is none of ha_records_apply_number's", (ha_operator)9,
            1, .paths = "a");
    is_refused(ha_records_apply_number(NULL, HA_ADD, 1, NULL, C), HA_ERR_ARGUMENT, "no records");
    ha_records_access x = {.records = NULL};
    know_number(r, HA_ADD, 1, &(ha_applying){.paths = "a"});
    HA_CHECK(ha_records_open(&x, r, H, "write a", 0, HA_END));
    const ha_status held = ha_records_apply_number(r, HA_ADD, 1, &(ha_applying){.paths = "a"}, C);
    HA_CHECK(ha_records_close(&x));
    is_refused(held, HA_ERR_CONFLICT, "a");
    assert_int_equal(ha_records_version(r), version + 1); /* that of the access */
    is_expected();
}

static ha_status resized;
static void resize(HA_UNUSED const ha_error *e, HA_UNUSED void *user) {
    resized = ha_records_resize(r, extent);
}

/* The handler hears of it when nothing is held any more. */
TEST(handlers_may_resize_the_records) {
    const ha_applying nowhere = {.paths = "w"};
    darray z = darray_filled(HA_DTYPE_double, 2, extent, HA_DVALUE(1.0), H);
    fill_records();
    ha_set_error_handler(resize, NULL);
    for (int call = 0; call < 3; call++) {
        resized = HA_ERR_BACKEND;
        const ha_status s = call == 0   ? ha_records_apply_number(r, HA_ADD, 1, &nowhere, C)
                            : call == 1 ? ha_records_apply_records(r, HA_ADD, r, &nowhere, C)
                                        : ha_records_apply_array(r, HA_ADD, z, &nowhere, C);
        is_refused(s, HA_ERR_ARGUMENT, "no field \"w\"");
        assert_int_equal(resized, HA_OK);
    }
    ha_set_error_handler(NULL, NULL);
    is_expected();
    HA_CHECK(darray_free(&z));
}

static void *change_layout(void *layout) {
    HA_CHECK(ha_records_layout(r, H, (const char *)layout));
    return NULL;
}

static void change_elsewhere(const char *layout) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, change_layout, (void *)(uintptr_t)layout), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Calls look at mappings while they have the handle's lock: another thread may put other ones in their place. */
TEST(mappings_stay_while_they_are_looked_at) {
    ha_placement *p;
    ha_array *a;
    HA_CHECK(ha_records_layout(r, H, "soa"));
    fill_records();
    assert_int_equal(ha_records_begin_at(r, "looking", &a), HA_OK);
    assert_int_equal(ha_placement_get(a, H->memory, &p), HA_OK);
    change_elsewhere("aos");
    change_elsewhere("aosoa(8)");
    assert_string_equal(p->mapping->text, "soa");
    assert_non_null(ha_records_state_of(a)->retired);
    ha_records_leave(r);
    change_elsewhere("aos");
    assert_null(ha_records_state_of(a)->retired);
    is_expected();
}

/* Only some values are written: those of x, in a box, of each layout. With others nothing is computed, whatever is on the right. Both
 * sides are of one record and in one layout, so that the views of a kernel have the same mapping. */
static void refuse_unwritten(const char *layout) {
    static const int64_t n = 30, first[] = {4}, last[] = {20}, most[] = {21};
    static const char why[] = "were never written";
    const ha_applying written = {.paths = "x", .first = first, .last = last};
    const ha_applying more = {.paths = "x", .first = first, .last = most};
    const ha_applying beside = {.paths = "x+y", .first = first, .last = last};
    ha_error error;
    ha_record *pair = ha_record_parse("x:i32 y:i32", &error);
    ha_records *some = ha_records_new(pair, 1, &n, NULL), *all = ha_records_new(pair, 1, &n, NULL);
    darray z = darray_filled(HA_DTYPE_double, 1, &n, HA_DVALUE(1.0), C);
    int32_t one[2];
    assert_int_equal(ha_records_layout(some, C, layout), HA_OK);
    assert_int_equal(ha_records_layout(all, C, layout), HA_OK);
    apply_there(all, HA_ASSIGN, 1, NULL);
    apply_there(some, HA_ASSIGN, 5, &written);
    for (int i = 0; i < 2; i++) {
        const ha_applying *how = i ? &beside : &more;
        know_number(some, HA_ADD, 1, how);
        is_refused(ha_records_apply_number(some, HA_ADD, 1, how, C), HA_ERR_STATE, why);
        know_records_with(some, HA_ADD, all, how);
        is_refused(ha_records_apply_records(some, HA_ADD, all, how, C), HA_ERR_STATE, why);
        know_elements(some, HA_ADD, z, how);
        is_refused(ha_records_apply_array(some, HA_ADD, z, how, C), HA_ERR_STATE, why);
    }
    apply_there(some, HA_ADD, 1, &written);
    know_records_with(some, HA_ADD, all, &written);
    assert_int_equal(ha_records_apply_records(some, HA_ADD, all, &written, C), HA_OK);
    know_elements(some, HA_ADD, z, &written);
    assert_int_equal(ha_records_apply_array(some, HA_ADD, z, &written, C), HA_OK);
    ha_records_access x;
    HA_CHECK(ha_records_open(&x, some, H, "read x", 4, 20));
    for (int64_t i = 4; i < 20; i++) {
        ha_mapped_get(&(ha_mapped){x.mapping, x.blob}, 0, &i, one);
        assert_int_equal(one[0], 8);
    }
    HA_CHECK(ha_records_close(&x));
    HA_CHECK(darray_free(&z));
    HA_CHECK(ha_records_free(some));
    HA_CHECK(ha_records_free(all));
    ha_record_free(pair);
}

TEST(refuses_what_was_never_written) {
    if (is_not_for_it()) skip();
    refuse_unwritten("soa");
    refuse_unwritten("aos");
    if (!is_fake(C)) refuse_unwritten("bitint(12; soa)");
}

/* Each allocation of a call fails in turn: then nothing has changed. */
TEST(changes_nothing_without_memory) {
    if (is_not_for_it()) skip();
    assert_int_equal(ha_records_layout(r, C, "aosoa(8)"), HA_OK);
    fill_records();
    for (int op = is_fake(C) ? HA_ADD : HA_ASSIGN; op <= HA_ADD; op++) {
        const ha_applying how = {.paths = "a+m+u16"};
        ha_status s = HA_ERR_MEMORY;
        know_number(r, (ha_operator)op, 2, &how);
        for (int n = 0; s; n++) {
            until_failure = n;
            s = ha_records_apply_number(r, (ha_operator)op, 2, &how, C);
            until_failure = -1;
            const ha_error error = ha_take_error();
            if (s && (!error.status || n > 10000))
                fail_msg("%d: %d, told %d: %s", n, s, error.status, error.text);
            if (s) is_expected();
        }
        HA_CHECK(ha_mapped_apply_number(&model, (ha_operator)op, 2, &how, NULL));
        is_expected();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {RECORDS(computes_what_the_host_does_in_every_layout),
                                       RECORDS(changes_what_is_asked_for_only),
                                       RECORDS(moves_nothing_that_is_there),
                                       RECORDS(tells_that_it_waits),
                                       RECORDS(goes_by_way_of_the_host_where_values_share_bytes),
                                       RECORDS(under_pressure),
                                       RECORDS(refuses_and_changes_nothing),
                                       RECORDS(handlers_may_resize_the_records),
                                       RECORDS(mappings_stay_while_they_are_looked_at),
                                       RECORDS(refuses_what_was_never_written),
                                       RECORDS(changes_nothing_without_memory)};
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
