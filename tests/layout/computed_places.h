/* Computed layouts: how large they are, where bits, bytes and changed values are, and which these are. */
#ifndef HARRAY_TESTS_LAYOUT_COMPUTED_PLACES_H
#define HARRAY_TESTS_LAYOUT_COMPUTED_PLACES_H

#include "computed_memory.h"

/* ---- sizes ----------------------------------------------------------------------------------- */

static void test_sizes(void **state) {
    (void)state;
    static const struct {
        const char *layout, *record;
        int64_t n, blobs, bytes;
    } sizes[] = {
        {"changetype(; aos(packed))", XYZ("f64"), 128, 1, 3072},
        {"changetype(f64:f32; aos(packed))", XYZ("f64"), 128, 1, 1536},
        {"changetype(y:f32; aos(packed))", XYZ("f64"), 128, 1, 2560},
        {"changetype(f64:f32, y:f64; aos(packed))", XYZ("f64"), 128, 1, 2048},
        {"changetype(y:f64, f64:f32; aos(packed))", XYZ("f64"), 128, 1, 2048},
        {"changetype(f64:f32,f32:i16,bool:i32; aos(packed))", PARTICLE, 128, 1, 5376},
        {"changetype(pos:f32, pos.y:f64; aos(packed))", PARTICLE, 10, 1, 480},
        {"bitint(1; soa)", "a:bool", 32, 1, 4},
        {"bitint(1; aos)", "a:bool", 32, 1, 4},
        {"bitint(3; soa)", "a:i32", 32, 1, 12},
        {"bitint(5; soa)", "a:i32", 32, 1, 20},
        {"bitfloat(3,5; aos)", XYZ("f64"), 1000, 1, 3376},
        {"bitfloat(3,5; soa)", XYZ("f64"), 1000, 3, 1128},
        {"bytesplit(soa)", XYZ("i32"), 128, 12, 128},
        {"byteswap(aos)", "x:u8 y:u16 z:u32", 128, 1, 1024},
        {"aosoa(4,aligned)", PARTICLE, 0, 1, 0},
        {"aosoa(4,aligned)", PARTICLE, 1, 1, 256},
        {"aosoa(4,aligned)", PARTICLE, 4, 1, 256},
        {"aosoa(4,aligned)", PARTICLE, 5, 1, 512},
        {"aosoa(4,aligned)", PARTICLE, 8, 1, 512},
        {"aosoa(4,aligned)", PARTICLE, 9, 1, 768},
        /* structs of what is stored, not the C struct; that of swapped ones; of bytes */
        {"changetype(f64:f32; aos)", PARTICLE, 10, 1, 320},
        {"changetype(f64:f64; aos)", PARTICLE, 10, 1, 640},
        {"byteswap(aos)", PARTICLE, 10, 1, 640},
        {"bytesplit(aos)", PARTICLE, 10, 1, 560},
        {"bytesplit(one)", PARTICLE, 10, 1, 56},
        {"changetype(f64:i32; bitint(12; aos))", XYZ("f64"), 10, 1, 48},
        {"split(x: bitint(3; soa), soa(single))", "x:u8 y:f32", 10, 1, 44},
        {"split(x+y: bitint(3; aos), bitfloat(5,10; aos))", "x:u8 y:i16 z:f32", 10, 1, 28},
        {"bitint(64; soa)", "a:i64", 3, 1, 24},
        {"bitfloat(11,52; aos)", "a:f64", 3, 1, 24},
        {"bitint(3; soa@morton)", "a:i32", 3, 1, 4},
        {"bitint(3; soa)", "a:i32", 0, 1, 0},
        {"permute(0, byteswap(null))", PARTICLE, 10, 0, 0},
    };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        ha_record *r = ha_record_parse(sizes[k].record, NULL);
        ha_error e;
        ha_mapping *m = ha_mapping_parse(r, sizes[k].layout, 1, &sizes[k].n, &e);
        if (!m) fail_msg("%s: %s", sizes[k].layout, e.text);
        if (m->blobs != sizes[k].blobs) fail_msg("%s has %d blobs", sizes[k].layout, m->blobs);
        for (int b = 0; b < m->blobs; b++)
            if (m->blob[b].bytes != sizes[k].bytes)
                fail_msg("%s: %lld bytes", m->text, (long long)m->blob[b].bytes);
        assert_int_equal(ha_mapping_check(m, &e), strstr(m->text, "one") ? HA_ERR_ARGUMENT : HA_OK);
        ha_mapping_free(m);
        ha_record_free(r);
    }
}

/* ---- where bits, bytes and changed values are ------------------------------------------------ */

static void check_rows(const char *record, const char *layout, const int32_t *blob,
                       const int64_t *base, const int64_t *stride) {
    const int64_t n = 20;
    ha_record *r = ha_record_parse(record, NULL);
    ha_mapping *m = ha_mapping_parse(r, layout, 1, &n, NULL);
    assert_non_null(m);
    for (int64_t k = 0; k < m->rows; k++) {
        const int64_t one = 1;
        assert_int_equal(m->row[k].blob, blob[k]);
        assert_int_equal(m->row[k].base, base[k]);
        assert_int_equal(ha_mapping_offset(m, k, &one) - base[k], stride[k]);
    }
    ha_mapping_free(m);
    ha_record_free(r);
}

static void test_rows(void **state) {
    (void)state;
    static const int32_t zero[3] = {0}, three[] = {0, 1, 2};
    check_rows("x:i32 y:u16 z:bool", "bitint(5; aos)", zero, (int64_t[]){0, 5, 10},
               (int64_t[]){15, 15, 15});
    check_rows("x:i32 y:u16 z:bool", "bitint(5; soa)", three, (int64_t[]){0, 0, 0},
               (int64_t[]){5, 5, 5});
    /* the second part begins at a word behind 3 * 20 bits, which take 8 bytes */
    check_rows("x:i32 y:f32 z:i64", "split(x: bitint(3; soa), aos)", zero, (int64_t[]){0, 8, 16},
               (int64_t[]){3, 16, 16});
    check_rows("x:i32 y:f32 z:i8", "split(y: soa(single), bitint(3; aos))", zero,
               (int64_t[]){640, 0, 643}, (int64_t[]){6, 4, 6});
    check_rows("x:f64 y:i8 z:f64", "changetype(z:f32; aos)", zero, (int64_t[]){0, 8, 12},
               (int64_t[]){16, 16, 16});
    check_rows("x:u8 y:u16 z:u32", "byteswap(aos)", zero, (int64_t[]){0, 2, 4},
               (int64_t[]){8, 8, 8});
    check_rows("x:u8 y:u16 z:u32", "bytesplit(soa)", (int32_t[]){0, 1, 3}, (int64_t[]){0, 0, 0},
               (int64_t[]){1, 1, 1});
    check_rows("x:u8 y:u16 z:u32", "bytesplit(aos)", zero, (int64_t[]){0, 1, 3},
               (int64_t[]){7, 7, 7});
}

static void test_codings(void **state) {
    (void)state;
    const int64_t n = 20;
    ha_record *r = ha_record_parse("x:f64 y:f64 z:u8 u:c64 v:f32", NULL);
    ha_mapping *m = ha_mapping_parse(
        r,
        "split(separate; z+v: byteswap(changetype(v:f16; byteswap(soa(single)))), "
        "split(separate; u: byteswap(aos), changetype(f64:f32; byteswap(bytesplit(soa)))))",
        1, &n, NULL);
    assert_non_null(m);
    assert_int_equal(m->row[2].coding, 0); /* of one byte */
    assert_int_equal(m->codings, 4);
    const ha_coding *x = ha_row_coding(m, &m->row[0]), *y = ha_row_coding(m, &m->row[1]);
    const ha_coding *u = ha_row_coding(m, &m->row[3]), *v = ha_row_coding(m, &m->row[4]);
    assert_true(x->stored == HA_DTYPE_float && x->swapped == 1 && x->bytes == 4 && x->bits == 0);
    assert_true(y->bytes == 4 && x->byte_row == 0 && y->byte_row == 4);
    assert_true(u->stored == HA_DTYPE_c64 && u->swapped == 1 && u->bytes == 0);
    assert_true(v->stored == HA_DTYPE_half && v->swapped == 0); /* twice is not at all */
    assert_int_equal(m->byte_rows, 8);
    for (int b = 0; b < 8; b++) assert_int_equal(m->byte_row[b].blob, 2 + b);
    for (int k = 0; k < 5; k++) assert_int_equal(m->row[k].type, r->field[k].type);
    ha_mapping_free(m);
    m = ha_mapping_parse(r, "byteswap(byteswap(aos))", 1, &n, NULL);
    assert_int_equal(m->codings, 0);
    assert_null(m->coding);
    ha_mapping_free(m);
    m = ha_mapping_parse(r, "split(separate; x+y+v: bitfloat(5,2; soa), byteswap(null))", 1, &n,
                         NULL);
    assert_int_equal(m->codings, 2); /* by what is stored */
    assert_int_equal(m->row[0].coding, m->row[1].coding);
    assert_int_equal(m->row[3].coding, 0);
    ha_mapping_free(m);
    ha_record_free(r);
}

/* ---- memory contents ------------------------------------------------------------------------- */

static void test_byteswap(void **state) {
    (void)state;
    const int64_t n = 128;
    memory w;
    for (int64_t i = 0; i < n; i += 127) {
        const uint8_t x = 0x12, *place;
        const uint16_t y = 0x1234;
        const uint32_t z = 0x12345678;
        uint16_t two;
        uint32_t four;
        make(&w, "x:u8 y:u16 z:u32", "byteswap(aos)", 1, &n, 0xee);
        ha_mapped_set(&w.mapped, 0, &i, &x);
        ha_mapped_set(&w.mapped, 1, &i, &y);
        ha_mapped_set(&w.mapped, 2, &i, &z);
        place = (const uint8_t *)w.blob[0] + 8 * i;
        memcpy(&two, place + 2, 2);
        memcpy(&four, place + 4, 4);
        assert_int_equal(place[0], 0x12);
        assert_int_equal(place[1], 0xee);
        assert_int_equal(two, 0x3412);
        assert_int_equal(four, 0x78563412);
        ha_mapped_get(&w.mapped, 2, &i, &four);
        assert_int_equal(four, 0x12345678);
        free_memory(&w);
    }
}

static void test_byteswap_parts(void **state) {
    (void)state;
    const int64_t n = 2, i = 1;
    const ha_c64 u = {1.0f, -2.0f};
    const double v = 1;
    const ha_c128 x = {3, 4};
    ha_c128 y;
    memory w;
    make(&w, "u:c64 v:f64 x:c128", "byteswap(soa)", 1, &n, 0);
    ha_mapped_set(&w.mapped, 0, &i, &u);
    ha_mapped_set(&w.mapped, 1, &i, &v);
    ha_mapped_set(&w.mapped, 2, &i, &x);
    assert_memory_equal(w.blob[0], "\0\0\0\0\0\0\0\0\x3f\x80\0\0\xc0\0\0\0", 16);
    assert_memory_equal(w.blob[1], "\0\0\0\0\0\0\0\0\x3f\xf0\0\0\0\0\0\0", 16);
    assert_memory_equal((char *)w.blob[2] + 16, "\x40\x08\0\0\0\0\0\0\x40\x10\0\0\0\0\0\0", 16);
    ha_mapped_get(&w.mapped, 2, &i, &y);
    assert_true(y.re == 3 && y.im == 4);
    free_memory(&w);
}

static void test_bytesplit(void **state) {
    (void)state;
    const int64_t n = 128;
    memory w;
    int32_t value[128];
    make(&w, XYZ("i32"), "bytesplit(soa)", 1, &n, 0xee);
    for (int64_t i = 0; i < n; i++)
        for (int64_t leaf = 0; leaf < 3; leaf++) {
            const int32_t x = (int32_t)i;
            ha_mapped_set(&w.mapped, leaf, &i, &x);
        }
    for (int b = 0; b < 12; b++)
        for (int i = 0; i < 128; i++)
            assert_int_equal(((uint8_t *)w.blob[b])[i], b % 4 == 0 ? i : 0);
    ha_mapped_get_run(&w.mapped, 1, (int64_t[]){3}, 0, 125, value);
    for (int i = 0; i < 125; i++) assert_int_equal(value[i], i + 3);
    free_memory(&w);
    /* swapped before it is split; bytes of a struct are neighbours */
    make(&w, "x:u16 y:u32", "byteswap(bytesplit(aos))", 1, &n, 0xee);
    ha_mapped_set(&w.mapped, 1, (int64_t[]){1}, &(uint32_t){0x12345678});
    ha_mapped_set(&w.mapped, 0, (int64_t[]){1}, &(uint16_t){0x1234});
    assert_memory_equal((char *)w.blob[0] + 5, "\xee\x12\x34\x12\x34\x56\x78\xee", 8);
    free_memory(&w);
}

static void test_null_and_permute(void **state) {
    (void)state;
    const int64_t n[] = {4, 5, 6};
    memory w;
    double x = 3;
    make(&w, PARTICLE, "null", 3, n, 0);
    ha_mapped_set(&w.mapped, 0, (int64_t[]){1, 2, 3}, &x);
    ha_mapped_get(&w.mapped, 0, (int64_t[]){1, 2, 3}, &x);
    assert_true(x == 0);
    free_memory(&w);
    make(&w, XYZ("i32"), "permute(2,0,1, aos)", 3, n, 0);
    int32_t value = 0;
    for (int64_t a = 0; a < 4; a++)
        for (int64_t b = 0; b < 5; b++)
            for (int64_t c = 0; c < 6; c++, value++)
                ha_mapped_set(&w.mapped, 1, (int64_t[]){a, b, c}, &value);
    value = 0;
    for (int64_t a = 0; a < 4; a++)
        for (int64_t b = 0; b < 5; b++)
            for (int64_t c = 0; c < 6; c++, value++) /* inside it is (a[2], a[0], a[1]) */
                assert_int_equal(((int32_t *)w.blob[0])[3 * ((c * 4 + a) * 5 + b) + 1], value);
    free_memory(&w);
}

#endif
