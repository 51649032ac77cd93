/* Computed layouts: changetype, byteswap, bytesplit, bitint, bitfloat. Expected numbers are those of
 * LLAMA's own tests (0.6); what single values and runs of bits do is also told by slow code here. */
#include "layout_memory.h"

#include "../layout.h"
#include "layout_blobs.h"

#include "layout_record.h"
#include <math.h>

#define XYZ(type) "x:" type " y:" type " z:" type

/* ---- memory ---------------------------------------------------------------------------------- */

static void make(memory *w, const char *record, const char *layout, int rank, const int64_t *extent,
                 int fill) {
    ha_error e;
    ha_record *r = ha_record_parse(record, &e);
    if (!r) fail_msg("%s: %s", record, e.text);
    new_memory(w, r, layout, rank, extent, 0, fill);
    w->record = r;
}

static double get_double(const memory *w, int64_t leaf, const int64_t *index) {
    double x = -1;
    ha_mapped_get(&w->mapped, leaf, index, &x);
    return x;
}

/* Bit by bit. */
static uint64_t slow_bits(const uint8_t *place, int64_t at, int bits) {
    uint64_t value = 0;
    for (int b = 0; b < bits; b++)
        value |= (uint64_t)(place[(at + b) / 8] >> (at + b) % 8 & 1) << b;
    return value;
}

static void slow_set(uint8_t *place, int64_t at, int bits, uint64_t value) {
    for (int b = 0; b < bits; b++) {
        const uint8_t bit = (uint8_t)(1u << (at + b) % 8);
        if (value >> b & 1)
            place[(at + b) / 8] |= bit;
        else
            place[(at + b) / 8] &= (uint8_t)~bit;
    }
}

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

/* ---- many at a time -------------------------------------------------------------------------- */

/* Values that are special in one format or another, so many that loops go by groups, and have a rest. */
static void test_many_floats(void **state) {
    (void)state;
    static const char *const types[] = {"a:f16", "a:bf16", "a:f32", "a:f64"};
    static const int exponents[] = {1, 3, 5, 8, 11}, mantissas[] = {0, 4, 7, 10, 23, 52};
    static const double numbers[] = {0,         -0.0,    1,        -1.5,       0.1,  INFINITY,
                                     -INFINITY, NAN,     1e4,      -7e4,       1e30, -1e300,
                                     0x1p-14,   0x1p-24, 0x1p-130, -0x1p-1060, 3.25};
    enum { SPECIAL = sizeof numbers / sizeof *numbers, MANY = 77 };
    const int64_t n = MANY, zero = 0;
    for (int k = 0; k < 4 * 5 * 6; k++) {
        if (k < 90 && exponents[k / 6 % 5] + mantissas[k % 6] > 31)
            continue; /* in a word of 4 bytes */
        char layout[40];
        double all[MANY], one[MANY];
        char values[MANY * 8];
        memory many, single;
        snprintf(layout, sizeof layout, "bitfloat(%d,%d; soa)", exponents[k / 6 % 5],
                 mantissas[k % 6]);
        make(&many, types[k / 30], layout, 1, &n, 0);
        make(&single, types[k / 30], layout, 1, &n, 0);
        const ha_scalar type = (ha_scalar)many.mapping->row[0].scalar;
        const size_t size = (size_t)ha_scalar_size(type);
        for (int64_t i = 0; i < n; i++) {
            ha_change_values(values + (size_t)i * size, type,
                             &numbers[(i * 5 + i / SPECIAL) % SPECIAL], HA_F64, 1);
            ha_mapped_set(&single.mapped, 0, &i, values + (size_t)i * size);
        }
        ha_mapped_set_run(&many.mapped, 0, &zero, 0, n, values);
        assert_memory_equal(many.blob[0], single.blob[0], (size_t)many.mapping->blob[0].bytes);
        ha_mapped_get_run(&many.mapped, 0, &zero, 0, n, all);
        for (int64_t i = 0; i < n; i++)
            ha_mapped_get(&single.mapped, 0, &i, (char *)one + (size_t)i * size);
        assert_memory_equal(all, one, (size_t)n * size);
        free_memory(&many);
        free_memory(&single);
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
    assert_true(x->stored == HA_F32 && x->swapped == 1 && x->bytes == 4 && x->bits == 0);
    assert_true(y->bytes == 4 && x->byte_row == 0 && y->byte_row == 4);
    assert_true(u->stored == HA_C64 && u->swapped == 1 && u->bytes == 0);
    assert_true(v->stored == HA_F16 && v->swapped == 0); /* twice is not at all */
    assert_int_equal(m->byte_rows, 8);
    for (int b = 0; b < 8; b++) assert_int_equal(m->byte_row[b].blob, 2 + b);
    for (int k = 0; k < 5; k++) assert_int_equal(m->row[k].scalar, r->field[k].scalar);
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

/* ---- integers of few bits -------------------------------------------------------------------- */

/* What is loaded when this is stored. */
static int64_t through(const char *type, const char *layout, int64_t value) {
    const int64_t n = 5, at = 3;
    char record[16];
    union {
        int64_t i64;
        int32_t i32;
        int16_t i16;
        int8_t i8;
    } v = {.i64 = value};
    int64_t result;
    memory w;
    snprintf(record, sizeof record, "a:%s", type);
    make(&w, record, layout, 1, &n, 0x55);
    ha_mapped_set(&w.mapped, 0, &at, &v);
    v.i64 = 0x6666666666666666;
    ha_mapped_get(&w.mapped, 0, &at, &v);
    switch (ha_scalar_size(w.record->field[0].scalar)) {
    case 1:
        result = type[0] == 'i' ? v.i8 : (uint8_t)v.i8;
        break;
    case 2:
        result = type[0] == 'i' ? v.i16 : (uint16_t)v.i16;
        break;
    case 4:
        result = type[0] == 'i' ? v.i32 : (int64_t)(uint32_t)v.i32;
        break;
    default:
        result = v.i64;
        break;
    }
    free_memory(&w);
    return result;
}

static void test_bit_integers(void **state) {
    (void)state;
    static const char *const without[] = {"u8", "u16", "u32", "u64"};
    static const char *const with[] = {"i8", "i16", "i32", "i64"};
    assert_int_equal(through("i32", "bitint(3; soa)", 31), 3);
    assert_int_equal(through("i32", "bitint(5; soa)", 31), 15);
    for (int64_t i = 8; i < 100; i++)
        for (int k = 0; k < 4; k++)
            assert_int_equal(through(without[k], "bitint(3; aos)", i), i % 8);
    for (int64_t i = 0; i < 100; i++)
        for (int k = 0; k < 4; k++) {
            assert_int_equal(through(with[k], "bitint(4; soa)", i), i % 8);
            if (i >= 8)
                assert_int_equal(through(with[k], "bitint(4; soa)", -i), -((i - 1) % 8) - 1);
        }
    assert_int_equal(through("bool", "bitint(1; soa)", 1), 1);
    assert_int_equal(through("bool", "bitint(1; soa)", 0), 0);
    assert_int_equal(through("i8", "bitint(1; soa)", -5), -1);
    assert_int_equal(through("i8", "bitint(1; soa)", 5), 0);
    /* more than the type has, and as many */
    assert_int_equal(through("i8", "bitint(32; soa)", -128), -128);
    assert_int_equal(through("u8", "bitint(11; aos)", 255), 255);
    assert_int_equal(through("i64", "bitint(64; soa)", INT64_MIN), INT64_MIN);
    assert_int_equal(through("i64", "bitint(63; soa)", INT64_MAX), INT64_MAX >> 1);
    assert_int_equal(through("i64", "bitint(63; aos)", INT64_MIN), -((int64_t)1 << 62));
    assert_int_equal(through("u64", "bitint(64; aos)", -1), -1);
}

/* Many at once go in groups: a field of every type, and each value as it comes alone. */
static void test_many_bits(void **state) {
    (void)state;
    static const char text[] =
        "a:i8 b:i16 c:i32 d:i64 e:u8 f:u16 g:u32 h:u64 i:bool j:f16 k:bf16 l:f32 "
        "m:f64";
    static const char *const layouts[] = {
        "split(separate; a+b+c+d+e+f+g+h+i: bitint(7; soa), bitfloat(5,6; soa))",
        "split(separate; a+b+c+d+e+f+g+h+i: bitint(7; aos), bitfloat(9,6; aos))"};
    const int64_t n = 77;
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
        memory plain, few, back;
        ha_error error;
        make(&plain, text, "soa", 1, &n, 0);
        make(&few, text, layouts[k], 1, &n, 0x55);
        make(&back, text, "aos", 1, &n, 0x33);
        for (int64_t leaf = 0; leaf < plain.mapping->rows; leaf++)
            for (int64_t at = 0; at < n; at++) {
                const int64_t number = leaf == 8 ? at % 2 : at % 64;
                const double real = (double)number;
                const float single = (float)real;
                const ha_half half = ha_half_of_double(real);
                const ha_bfloat16 brain = ha_bfloat16_of_double(real);
                const void *const value = leaf < 9     ? (const void *)&number
                                          : leaf == 9  ? (const void *)&half
                                          : leaf == 10 ? (const void *)&brain
                                          : leaf == 11 ? (const void *)&single
                                                       : (const void *)&real;
                ha_mapped_set(&plain.mapped, leaf, &at, value);
            }
        assert_int_equal(HA_OK, ha_mapped_copy(&few.mapped, &plain.mapped, NULL, &error));
        assert_int_equal(HA_OK, ha_mapped_copy(&back.mapped, &few.mapped, NULL, &error));
        for (int64_t leaf = 0; leaf < plain.mapping->rows; leaf++)
            for (int64_t at = 0; at < n; at++) {
                char expected[8] = {0}, alone[8] = {0}, all[8] = {0};
                ha_mapped_get(&plain.mapped, leaf, &at, expected);
                ha_mapped_get(&few.mapped, leaf, &at, alone);
                ha_mapped_get(&back.mapped, leaf, &at, all);
                assert_memory_equal(expected, alone, 8);
                assert_memory_equal(expected, all, 8);
            }
        free_memory(&plain);
        free_memory(&few);
        free_memory(&back);
    }
}

/* ---- floats of few bits ---------------------------------------------------------------------- */

static double through_float(const char *type, const char *layout, double value) {
    const int64_t n = 5, at = 2;
    char record[16];
    float f = (float)value;
    const ha_half h = ha_half_of_double(value);
    const ha_bfloat16 b = ha_bfloat16_of_double(value);
    unsigned char v[8];
    const void *from = !strcmp(type, "f64")   ? (const void *)&value
                       : !strcmp(type, "f32") ? (const void *)&f
                       : !strcmp(type, "f16") ? (const void *)&h
                                              : (const void *)&b;
    double result;
    memory w;
    snprintf(record, sizeof record, "a:%s", type);
    make(&w, record, layout, 1, &n, 0x55);
    ha_mapped_set(&w.mapped, 0, &at, from);
    ha_mapped_get(&w.mapped, 0, &at, v);
    memcpy(&f, v, sizeof f);
    memcpy(&result, v, sizeof result);
    ha_half half;
    ha_bfloat16 brain;
    memcpy(&half, v, sizeof half);
    memcpy(&brain, v, sizeof brain);
    free_memory(&w);
    return !strcmp(type, "f64")   ? result
           : !strcmp(type, "f32") ? (double)f
           : !strcmp(type, "f16") ? ha_half_to_double(half)
                                  : ha_bfloat16_to_double(brain);
}

static void check_float(const char *type, const char *layout, double value, double loaded) {
    for (int sign = 1; sign >= -1; sign -= 2) {
        const double x = through_float(type, layout, sign * value);
        if (isnan(loaded) ? !isnan(x) : x != sign * loaded || !signbit(x) != (sign > 0))
            fail_msg("%s %s: %g loads %g", type, layout, sign * value, x);
    }
}

static void test_bit_floats(void **state) {
    (void)state;
    static const char *const types[] = {"f64", "f32", "f16", "bf16"};
    for (int k = 0; k < 2; k++) {
        const char *t = types[k];
        check_float(t, "bitfloat(3,0; soa)", 0.222, 0);
        check_float(t, "bitfloat(3,0; soa)", 1.111, 1);
        check_float(t, "bitfloat(3,0; soa)", 3.333, 2);
        check_float(t, "bitfloat(3,0; soa)", 7.777, 4);
        check_float(t, "bitfloat(3,0; soa)", 15.555, 8);
        check_float(t, "bitfloat(3,0; soa)", 27.777, INFINITY);
        check_float(t, "bitfloat(3,0; soa)", INFINITY, INFINITY);
        assert_true(isinf(through_float(t, "bitfloat(3,0; aos)", NAN)));
        check_float(t, "bitfloat(3,3; aos)", 1.111, 1);
        check_float(t, "bitfloat(3,3; aos)", 3.333, 3.25);
        check_float(t, "bitfloat(3,3; aos)", 7.777, 7.5);
        check_float(t, "bitfloat(3,3; aos)", 15.555, 15);
        check_float(t, "bitfloat(3,3; aos)", 27.777, INFINITY);
        check_float(t, "bitfloat(3,3; aos)", INFINITY, INFINITY);
        check_float(t, "bitfloat(3,3; aos)", NAN, NAN);
    }
    for (int k = 0; k < 4; k++) {
        const char *t = types[k];
        check_float(t, "bitfloat(3,3; soa)", 0, 0);
        check_float(t, "bitfloat(3,3; soa)", 0.25, 0.25); /* the least */
        check_float(t, "bitfloat(3,3; soa)", 0.2421875, 0);
        check_float(t, "bitfloat(3,3; soa)", 15.9375, 15);
        check_float(t, "bitfloat(3,3; soa)", 16, INFINITY);
        check_float(t, "bitfloat(11,20; soa)", 1.25, 1.25); /* a wider exponent */
        check_float(t, "bitfloat(11,20; aos)", INFINITY, INFINITY);
        check_float(t, "bitfloat(11,20; aos)", NAN, NAN);
        check_float(t, "bitfloat(1,3; soa)", 1.5, 0); /* nothing but 0 and infinite */
        check_float(t, "bitfloat(1,3; soa)", 2, INFINITY);
        check_float(t, "bitfloat(2,1; soa)", NAN, NAN);
    }
    /* subnormal numbers stay where the exponent is as wide as their own */
    check_float("f32", "bitfloat(8,23; soa)", 0x1p-149, 0x1p-149);
    check_float("f32", "bitfloat(8,7; soa)", 0x1.81p-127, 0x1.8p-127);
    check_float("f64", "bitfloat(8,23; soa)", 0x1p-127, 0);
    check_float("f64", "bitfloat(11,52; soa)", 0x1p-1074, 0x1p-1074);
    check_float("f64", "bitfloat(11,52; soa)", 0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023);
    check_float("f16", "bitfloat(5,10; soa)", 0x1p-24, 0x1p-24);
    check_float("bf16", "bitfloat(8,7; aos)", 0x1p-133, 0x1p-133);
    check_float("f32", "bitfloat(11,20; soa)", 0x1p-149, 0x1p-149);
    check_float("f16", "bitfloat(5,20; soa)", 1.0009765625, 1.0009765625); /* more than it has */
    check_float("f16", "bitfloat(5,20; soa)", NAN, NAN);
}

/* Every value of 10 bits, by the definition of the format. */
static void test_all_bit_floats(void **state) {
    (void)state;
    const int64_t n = 512;
    memory w;
    make(&w, "a:f64", "bitfloat(4,4; soa)", 1, &n, 0);
    for (int64_t k = 0; k < 512; k++)
        for (int b = 0; b < 9; b++)
            if (k >> b & 1) slow_set((uint8_t *)w.blob[0], k * 9 + b, 1, 1);
    for (int64_t k = 0; k < 512; k++) {
        const int exponent = k >> 4 & 15;
        double x = exponent == 0    ? 0
                   : exponent == 15 ? (k & 15 ? NAN : INFINITY)
                                    : ldexp(1 + (double)(k & 15) / 16, exponent - 7);
        const double y = get_double(&w, 0, &k);
        if (k >> 8) x = -x;
        assert_true(isnan(x) ? isnan(y) : x == y);
        if (exponent == 0 || isnan(x)) continue;
        ha_mapped_set(&w.mapped, 0, &k, &x); /* nothing changes */
        assert_true(get_double(&w, 0, &k) == x);
        /* all up to the next one are cut off to it */
        const double above = x * (1 + 1.0 / 64);
        ha_mapped_set(&w.mapped, 0, &k, &above);
        assert_true(get_double(&w, 0, &k) == x);
    }
    free_memory(&w);
}

/* ---- changed types --------------------------------------------------------------------------- */

static double through_type(const char *record, const char *layout, double value) {
    const int64_t n = 3, at = 1;
    memory w;
    make(&w, record, layout, 1, &n, 0x55);
    ha_mapped_set(&w.mapped, 0, &at, &value);
    value = get_double(&w, 0, &at);
    free_memory(&w);
    return value;
}

static void test_changed_values(void **state) {
    (void)state;
    static const struct {
        const char *to;
        double value, loaded;
    } cases[] = {
        {"f32", 0.1, (double)0.1f},
        {"f32", 1e300, INFINITY},
        {"f16", 1.0 + 0x1p-11, 1},
        {"f16", 1.0 + 0x1p-11 + 0x1p-40, 1 + 0x1p-10},
        {"bf16", -3.14159, -3.140625},
        {"i16", 2.5, 2},
        {"i16", 3.5, 4},
        {"i16", -2.5, -2},
        {"i16", -2.75, -3},
        {"i16", 1e9, 32767},
        {"i16", -1e9, -32768},
        {"i16", (double)INFINITY, 32767},
        {"i16", (double)NAN, 0},
        {"i8", -129, -128},
        {"i32", 2147483648.0, 2147483647},
        {"i64", 1e300, 0x1p63},
        {"i64", -1e300, -0x1p63},
        {"i64", -0x1p62, -0x1p62},
        {"u8", -1, 0},
        {"u8", 255.5, 255},
        {"u16", 65535.25, 65535},
        {"u32", 4294967296.0, 4294967295.0},
        {"u64", 1e300, 0x1p64},
        {"u64", 0x1p63 + 0x1p40, 0x1p63 + 0x1p40},
        {"u64", -3, 0},
        {"u64", 77, 77},
        {"bool", 0.25, 1},
        {"bool", 0, 0},
        {"bool", (double)NAN, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char layout[60];
        snprintf(layout, sizeof layout, "changetype(f64:%s; aos)", cases[k].to);
        const double x = through_type("a:f64 b:i8", layout, cases[k].value);
        if (x != cases[k].loaded) fail_msg("%s: %g loads %g", layout, cases[k].value, x);
        snprintf(layout, sizeof layout, "byteswap(changetype(a:%s; bytesplit(soa)))", cases[k].to);
        assert_true(through_type("a:f64 b:i8", layout, cases[k].value) == cases[k].loaded);
    }
}

/* Integers of one type as another: what fits is the same, what does not is the nearest that does. */
static void check_integer(const char *from, const char *to, int64_t value, int64_t loaded) {
    char layout[60];
    snprintf(layout, sizeof layout, "changetype(%s:%s; soa)", from, to);
    const int64_t x = through(from, layout, value);
    if (x != loaded) fail_msg("%s: %lld loads %lld", layout, (long long)value, (long long)x);
}

static void test_changed_integers(void **state) {
    (void)state;
    static const char *const types[] = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"};
    for (int f = 0; f < 8; f++)
        for (int t = 0; t < 8; t++) {
            check_integer(types[f], types[t], 100, 100);
            if (f < 4) check_integer(types[f], types[t], -100, t < 4 ? -100 : 0);
            check_integer(types[f], "bool", 100, 1);
            check_integer(types[f], "bool", 0, 0);
            check_integer(types[f], "f16", 100, 100);
            check_integer(types[f], "f64", 100, 100);
        }
    check_integer("i64", "i32", INT64_MIN, INT32_MIN);
    check_integer("i64", "i16", 40000, 32767);
    check_integer("i64", "u32", INT64_MAX, UINT32_MAX);
    check_integer("u64", "i64", -1, INT64_MAX);
    check_integer("u64", "u16", -1, 65535);
    check_integer("u32", "i8", 200, 127);
    check_integer("i64", "f64", ((int64_t)1 << 53) + 1, (int64_t)1 << 53);
    check_integer("u64", "f64", -1, -1); /* 2^64, which becomes the largest */
    check_integer("i64", "f32", ((int64_t)1 << 24) + 1, (int64_t)1 << 24);
    /* rounded once: by way of double it would be halfway, and rounded down */
    check_integer("i64", "f32", ((int64_t)1 << 60) + ((int64_t)1 << 36) + 1,
                  ((int64_t)1 << 60) + ((int64_t)1 << 37));
    check_integer("u64", "f32", ((int64_t)1 << 60) + ((int64_t)1 << 36) + 1,
                  ((int64_t)1 << 60) + ((int64_t)1 << 37));
    check_integer("i64", "f32", -((int64_t)1 << 60) - ((int64_t)1 << 36) - 1,
                  -((int64_t)1 << 60) - ((int64_t)1 << 37));
    check_integer("bool", "i32", 1, 1);
    check_integer("bool", "f64", 1, 1);
    check_integer("bool", "u64", 1, 1);
}

static void test_changed_complex(void **state) {
    (void)state;
    const int64_t n = 300;
    ha_c128 value[300], back[300];
    memory w;
    make(&w, "a:c128", "byteswap(changetype(c128:c64; soa))", 1, &n, 0);
    assert_int_equal(w.mapping->blob[0].bytes, 8 * n);
    for (int i = 0; i < n; i++) value[i] = (ha_c128){i + 0.5, -0.1 * i};
    ha_mapped_set_run(&w.mapped, 0, (int64_t[]){0}, 0, n, value);
    ha_mapped_get_run(&w.mapped, 0, (int64_t[]){0}, 0, n, back);
    for (int i = 0; i < n; i++)
        assert_true(back[i].re == value[i].re && back[i].im == (double)(float)value[i].im);
    free_memory(&w);
}

/* ---- runs of bits ---------------------------------------------------------------------------- */

static uint64_t noise(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 29;
}

/* One run in memory that ends with its last bit: what others have there stays. */
static void check_run(ha_bit_run r, int64_t n, uint64_t *state) {
    const size_t bytes = (size_t)((r.at + (n - 1) * r.step + r.bits + 7) / 8);
    uint8_t *place = (uint8_t *)malloc(bytes), *expected = (uint8_t *)malloc(bytes);
    uint64_t value[64] = {0}, read[64];
    for (size_t b = 0; b < bytes; b++) place[b] = expected[b] = (uint8_t)noise(state);
    for (int64_t k = 0; k < n; k++) {
        value[k] = noise(state) >> (64 - r.bits);
        slow_set(expected, r.at + k * r.step, r.bits, value[k]);
    }
    ha_bits_write(place, r, value, n);
    if (memcmp(place, expected, bytes) != 0)
        fail_msg("%lld values of %d bits, from %lld on, %lld apart", (long long)n, r.bits,
                 (long long)r.at, (long long)r.step);
    ha_bits_read(place, r, read, n);
    for (int64_t k = 0; k < n; k++) {
        assert_int_equal(read[k], slow_bits(expected, r.at + k * r.step, r.bits));
        assert_int_equal(read[k], value[k]);
    }
    free(place);
    free(expected);
}

/* Every start in a word, number of bits, and length that makes a difference; apart by several steps. */
static void test_bit_runs(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int bits = 1; bits <= 64; bits++)
        for (int64_t at = 0; at < 64; at += bits % 8 == 0 ? 1 : 3)
            for (int64_t n = 1; n <= 40; n = n < 5 ? n + 1 : 2 * n) {
                check_run((ha_bit_run){at, bits, bits}, n, &random);
                check_run((ha_bit_run){at, bits + 1 + at % 7, bits}, n, &random);
                check_run((ha_bit_run){at, 3 * bits + 64, bits}, n, &random);
            }
    check_run((ha_bit_run){13, 0, 5}, 1, &random);
    /* backwards, as a table by hand may have it */
    uint8_t place[8] = {0}, expected[8] = {0};
    const uint64_t value[] = {5, 6, 7, 1};
    uint64_t read[4];
    for (int k = 0; k < 4; k++) slow_set(expected, 40 - 9 * k, 3, value[k]);
    ha_bits_write(place, (ha_bit_run){40, -9, 3}, value, 4);
    assert_memory_equal(place, expected, 8);
    ha_bits_read(place, (ha_bit_run){40, -9, 3}, read, 4);
    assert_memory_equal(read, value, sizeof value);
}

/* ---- runs of values -------------------------------------------------------------------------- */

/* Sets and gets runs from everywhere, along every dimension; one by one the same. */
static void check_runs_of(const char *record, const char *layout, int rank, const int64_t *extent) {
    memory w, one;
    make(&w, record, layout, rank, extent, 0x5a);
    make(&one, record, layout, rank, extent, 0x5a);
    int64_t at[HA_MAPPING_RANK] = {0};
    uint64_t random = 7;
    for (int64_t leaf = 0; leaf < w.mapping->rows; leaf++)
        for (int d = 0; d < rank; d++) {
            for (int k = 0; k < rank; k++) at[k] = (leaf * 5 + 3 * k) % extent[k];
            at[d] = leaf % 3;
            const int64_t n = extent[d] - at[d] - leaf % 2;
            const int64_t size = ha_scalar_size((ha_scalar)w.mapping->row[leaf].scalar);
            char *values = (char *)calloc((size_t)n + 1, (size_t)size);
            char *read = (char *)calloc((size_t)n + 1, (size_t)size), *single = read + n * size;
            for (int64_t k = 0; k < n * size; k++)
                values[k] = (char)(w.mapping->row[leaf].scalar == HA_BOOL ? (uint64_t)(k % 3 == 0)
                                                                          : noise(&random) & 0x3f);
            ha_mapped_set_run(&w.mapped, leaf, at, d, n, values);
            ha_mapped_get_run(&w.mapped, leaf, at, d, n, read);
            for (int64_t k = 0; k < n; k++, at[d]++)
                ha_mapped_set(&one.mapped, leaf, at, values + k * size);
            for (int64_t k = n; k-- > 0;) {
                at[d]--;
                ha_mapped_get(&one.mapped, leaf, at, single);
                assert_memory_equal(single, read + k * size, (size_t)size);
            }
            for (int b = 0; b < w.mapping->blobs; b++)
                assert_memory_equal(w.blob[b], one.blob[b], (size_t)w.mapping->blob[b].bytes);
            free(values);
            free(read);
        }
    free_memory(&w);
    free_memory(&one);
}

static void test_runs(void **state) {
    (void)state;
    static const struct {
        const char *record, *layout;
    } cases[] = {
        {PARTICLE, "aos"},
        {PARTICLE, "one"},
        {PARTICLE, "split(pos: null, soa)"},
        {PARTICLE, "aosoa(4)@col"},
        {PARTICLE, "aosoa(3)"},
        {PARTICLE, "aosoa(4,rows)"},
        {PARTICLE, "soa@morton"},
        {"a:c128 b:i16 c:f16", "aosoa(8)"},
        {PARTICLE, "byteswap(aosoa(5))"},
        {PARTICLE, "changetype(f64:f32, flags:u16; aosoa(4)@morton)"},
        {PARTICLE, "bytesplit(aosoa(4))"},
        {PARTICLE, "bytesplit(split(vel: aos, one))"},
        {PARTICLE, "split(separate; pos+mass+vel: bitfloat(5,8; aos), bitint(3; soa@col))"},
        {PARTICLE, "split(separate; pos+mass+vel: bitfloat(9,30; soa), bitint(17; aos@morton))"},
        {"a:u64 b:i64 c:u8", "bitint(61; aos)"},
        {"a:u64 b:i64 c:u8", "bitint(57; soa)"},
        {"a:u16 b:i16 c:u32", "byteswap(bytesplit(soa@col))"},
        {"a:f16 b:bf16 c:f32", "bitfloat(7,9; aos)"},
        {PARTICLE, "permute(1,0, changetype(f64:i16; bytesplit(aos)))"},
        {PARTICLE, "byteswap(tree(leafonly))"},
        {PARTICLE, "changetype(f64:f32; tree(movedown(0;4)))"},
        {PARTICLE, "bytesplit(tree())"},
        {PARTICLE, "bytesplit(tree(leafonly))"},
    };
    static const int64_t small[] = {9, 14}, large[] = {3, 700};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        check_runs_of(cases[k].record, cases[k].layout, 2, small);
        if (!strstr(cases[k].layout, "morton"))
            check_runs_of(cases[k].record, cases[k].layout, 2, large);
    }
    check_runs_of("a:i32 b:u8", "bitint(7; aos)", 1, (int64_t[]){1000});
}

/* From every type to every other, many at once. */
static void test_all_changes(void **state) {
    (void)state;
    const int64_t n = 77;
    for (int from = HA_BOOL; from <= HA_F64; from++)
        for (int to = HA_BOOL; to <= HA_F64; to++) {
            const char *f = ha_scalar_name((ha_scalar)from), *t = ha_scalar_name((ha_scalar)to);
            char record[16], layout[60];
            snprintf(record, sizeof record, "a:%s", f);
            snprintf(layout, sizeof layout, "byteswap(changetype(%s:%s; soa))", f, t);
            check_runs_of(record, layout, 1, &n);
        }
}

/* Bytes of which few bits are stored: runs from every start, of every length that makes a difference. */
static void check_small_runs(const char *type, int bits) {
    const int64_t n = 60;
    char record[16], layout[32], values[60], read[60];
    memory w, one;
    uint64_t random = 3;
    snprintf(record, sizeof record, "a:%s", type);
    snprintf(layout, sizeof layout, "bitint(%d; soa)", bits);
    make(&w, record, layout, 1, &n, 0xa5);
    make(&one, record, layout, 1, &n, 0xa5);
    for (int64_t start = 0; start < 16; start++)
        for (int64_t count = 1; count <= 40; count += count < 20 ? 3 : 1) {
            for (int64_t k = 0; k < count; k++)
                values[k] = (char)(noise(&random) >> (type[0] == 'b' ? 63 : 56));
            memset(read, 0x77, sizeof read);
            ha_mapped_set_run(&w.mapped, 0, &start, 0, count, values);
            ha_mapped_get_run(&w.mapped, 0, &start, 0, count, read);
            for (int64_t k = 0, at = start; k < count; k++, at++) {
                char x;
                ha_mapped_set(&one.mapped, 0, &at, values + k);
                ha_mapped_get(&one.mapped, 0, &at, &x);
                if (x != read[k]) fail_msg("%s: %d is read as %d", layout, x, read[k]);
            }
            assert_int_equal(read[count], 0x77);
            assert_memory_equal(w.blob[0], one.blob[0], (size_t)w.mapping->blob[0].bytes);
        }
    free_memory(&w);
    free_memory(&one);
}

static void test_small_runs(void **state) {
    (void)state;
    for (int bits = 1; bits <= 8; bits++) {
        check_small_runs("u8", bits);
        check_small_runs("i8", bits);
        check_small_runs("bool", bits);
    }
}

/* A table by hand, of which the rows do not say their type. */
static void test_by_hand(void **state) {
    (void)state;
    const int64_t n = 6;
    memory w;
    make(&w, "a:i16 b:f32", "byteswap(soa)", 1, &n, 0);
    ha_row row[2] = {w.mapping->row[0], w.mapping->row[1]};
    ha_mapping m = *w.mapping;
    const ha_mapped mapped = {&m, w.blob};
    float x = 0;
    m.row = row;
    row[0].scalar = row[1].scalar = 0;
    ha_mapped_set(&mapped, 1, (int64_t[]){2}, &(float){1.5f});
    ha_mapped_get(&w.mapped, 1, (int64_t[]){2}, &x);
    assert_true(x == 1.5f);
    free_memory(&w);
}

/* ---- text and functions ---------------------------------------------------------------------- */

static void test_text(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"changetype(f64:f32, pos.x:f64; aos)", NULL},
        {"changetype(; soa)", NULL},
        {" changetype ( f64 : f32,flags[2]:u8 ; byteswap( bytesplit (soa) ) ) ",
         "changetype(f64:f32, flags[2]:u8; byteswap(bytesplit(soa)))"},
        {"split(separate; flags: bitint( 1 ;soa @col), bitfloat(5 , 10;aos@morton))",
         "split(separate; flags: bitint(1; soa@col), bitfloat(5,10; aos@morton))"},
        {"split(flags:bitint(1;aos@row),byteswap(one))",
         "split(flags: bitint(1; aos), byteswap(one))"},
    };
    const int64_t n[] = {3, 5};
    ha_record *r = ha_record_parse(PARTICLE, NULL);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        ha_error e;
        ha_mapping *m = ha_mapping_parse(r, texts[k][0], 2, n, &e);
        if (!m) fail_msg("%s: %s", texts[k][0], e.text);
        assert_string_equal(m->text, texts[k][texts[k][1] != NULL]);
        ha_mapping *again = ha_mapping_parse(r, m->text, 2, n, &e);
        assert_string_equal(again->text, m->text);
        assert_memory_equal(again->row, m->row, (size_t)m->rows * sizeof *m->row);
        ha_mapping_free(again);
        ha_mapping_free(m);
    }
    ha_record_free(r);
}

static void check_layout(const ha_record *r, const ha_layout *l, const char *text,
                         const char *why) {
    const int64_t n = 10;
    ha_error e;
    ha_mapping *m = ha_mapping_new(r, l, 1, &n, &e);
    if (text) {
        if (!m) fail_msg("%s: %s", text, e.text);
        assert_string_equal(m->text, text);
        ha_mapping *again = ha_mapping_parse(r, text, 1, &n, &e);
        assert_memory_equal(again->row, m->row, (size_t)m->rows * sizeof *m->row);
        ha_mapping_free(again);
    } else {
        if (m) fail_msg("%s is no mistake", m->text);
        if (!strstr(e.text, why)) fail_msg("\"%s\" instead of \"%s\"", e.text, why);
        assert_int_equal(e.code, 0);
    }
    ha_mapping_free(m);
}

static void test_functions(void **state) {
    (void)state;
    static const ha_layout aos = {0}, soa = {.kind = HA_LAYOUT_SOA, .order = HA_LINEAR_COLUMN};
    static const ha_layout packed = {.flags = HA_LAYOUT_PACKED}, nothing = {.kind = HA_LAYOUT_NULL};
    static const ha_layout split = {.kind = HA_LAYOUT_BYTESPLIT, .first = &aos};
    static const ha_layout ints = {.kind = HA_LAYOUT_BITINT, .bits = 5, .first = &soa};
    static const ha_layout floats = {
        .kind = HA_LAYOUT_BITFLOAT, .exponent = 5, .mantissa = 10, .first = &aos};
    static const ha_layout change = {
        .kind = HA_LAYOUT_CHANGETYPE, .changes = " x:f32,f32 : i16", .first = &split};
    static const ha_layout swap = {.kind = HA_LAYOUT_BYTESWAP, .first = &change};
    const struct {
        ha_layout layout;
        const char *why;
    } wrong[] = {
        {{.kind = HA_LAYOUT_BYTESPLIT}, "a layout inside is missing"},
        {{.kind = HA_LAYOUT_BYTESWAP, .first = &aos, .second = &aos}, "the second layout"},
        {{.kind = HA_LAYOUT_BYTESWAP, .first = &aos, .flags = 1}, "a flag does not fit"},
        {{.kind = HA_LAYOUT_BYTESWAP, .first = &aos, .order = HA_LINEAR_MORTON}, "the order"},
        {{.kind = HA_LAYOUT_BYTESWAP, .first = &aos, .lanes = 1}, "the number of lanes"},
        {{.kind = HA_LAYOUT_BYTESWAP, .first = &aos, .paths = "x"}, "the paths"},
        {{.kind = HA_LAYOUT_BYTESWAP, .first = &aos, .changes = ""}, "the changes"},
        {{.kind = HA_LAYOUT_CHANGETYPE, .first = &aos}, "the changes"},
        {{.kind = HA_LAYOUT_CHANGETYPE, .first = &aos, .changes = "x:"}, "the changes"},
        {{.kind = HA_LAYOUT_CHANGETYPE, .first = &aos, .changes = "x:f32,"}, "the changes"},
        {{.kind = HA_LAYOUT_CHANGETYPE, .first = &aos, .changes = "x:f32;"}, "the changes"},
        {{.kind = HA_LAYOUT_CHANGETYPE, .first = &aos, .changes = "w:f32"}, "no such field"},
        {{.kind = HA_LAYOUT_AOS, .bits = 1}, "the number of bits"},
        {{.kind = HA_LAYOUT_BITINT, .first = &aos}, "the number of bits"},
        {{.kind = HA_LAYOUT_BITINT, .first = &aos, .bits = 65}, "the number of bits"},
        {{.kind = HA_LAYOUT_BITINT, .first = &aos, .bits = 5, .mantissa = 1}, "or mantissa"},
        {{.kind = HA_LAYOUT_BITINT, .first = &aos, .bits = 5, .exponent = 1}, "of exponent"},
        {{.kind = HA_LAYOUT_BITFLOAT, .first = &aos}, "of exponent"},
        {{.kind = HA_LAYOUT_BITFLOAT, .first = &aos, .exponent = 12}, "of exponent"},
        {{.kind = HA_LAYOUT_BITFLOAT, .first = &aos, .exponent = 1, .mantissa = -1}, "mantissa"},
        {{.kind = HA_LAYOUT_BITFLOAT, .first = &aos, .exponent = 1, .mantissa = 53}, "mantissa"},
        {{.kind = HA_LAYOUT_BITINT, .first = &packed, .bits = 5}, "without options"},
        {{.kind = HA_LAYOUT_BITINT, .first = &nothing, .bits = 5}, "as soa or aos"},
        {{.kind = HA_LAYOUT_BITINT, .first = &aos, .bits = 5}, "x is no integer"},
    };
    ha_record *r = ha_record_parse("x:f64 y:f32", NULL), *i = ha_record_parse("x:i64", NULL);
    check_layout(r, &split, "bytesplit(aos)", NULL);
    check_layout(i, &ints, "bitint(5; soa@col)", NULL);
    check_layout(r, &floats, "bitfloat(5,10; aos)", NULL);
    check_layout(r, &swap, "byteswap(changetype(x:f32, f32:i16; bytesplit(aos)))", NULL);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        check_layout(r, &wrong[k].layout, NULL, wrong[k].why);
    ha_record_free(r);
    ha_record_free(i);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t position;
        const char *why;
    } refused[] = {
        {"byteswap", 8, "expected '('"},
        {"byteswap(aos", 12, "expected ')'"},
        {"bytesplit()", 10, "expected a layout"},
        {"changetype", 10, "expected '('"},
        {"changetype(aos)", 14, "expected ':', '.' or '[', found ')'"},
        {"changetype(8:f32; aos)", 11, "expected a type or a field"},
        {"changetype(d.:f32; aos)", 13, "expected a name"},
        {"changetype(f64; aos)", 14, "expected ':', '.' or '['"},
        {"changetype(f64:; aos)", 15, "expected a type (bool"},
        {"changetype(f64:f31; aos)", 15, "expected a type (bool"},
        {"changetype(f64:f32, ; aos)", 20, "expected a type or a field, found ';'"},
        {"changetype(f64:f32: aos)", 18, "expected ',' or ';', found ':'"},
        {"changetype(f64:f32)", 18, "expected ',' or ';', found ')'"},
        {"changetype(f64:f32; aos", 23, "expected ')'"},
        {"changetype(f64:f32, e:f32; aos)", 20, "there is no such field here"},
        {"split(d: changetype(i:f32; aos), aos)", 20, "there is no such field here"},
        {"changetype(f64:f32, f64:f16; aos)", 20, "it is there already"},
        {"changetype(d:f32, i:i8, d:f16; aos)", 24, "it is there already"},
        {"changetype(f64:c64; aos)", 11, "complex numbers stay complex"},
        {"changetype(c64:f32; aos)", 11, "complex numbers stay complex"},
        {"changetype(c:f32; aos)", 11, "c cannot be it: complex numbers stay complex"},
        {"changetype(i:c64; aos)", 11, "i cannot be it: complex numbers stay complex"},
        {"changetype(d:f32; changetype(f32:f16; aos))", 29, "d is stored already as f32"},
        {"changetype(d:f32; split(d: changetype(d:f16; aos), aos))", 38, "already as f32"},
        {"bitint", 6, "expected '('"},
        {"bitint(0; soa)", 7, "a number of bits, from 1 to 64"},
        {"bitint(65; soa)", 7, "a number of bits, from 1 to 64"},
        {"bitint(soa)", 7, "expected a number of bits"},
        {"bitint(5, soa)", 8, "expected ';'"},
        {"bitint(5; aosoa(4))", 10, "expected soa or aos"},
        {"bitint(5; )", 10, "expected soa or aos"},
        {"bitint(5; soa(single))", 10, "without options"},
        {"bitint(5; aos(packed))", 10, "without options"},
        {"bitint(5; soa@up)", 14, "expected row, col or morton"},
        {"bitint(5; soa", 13, "expected ')'"},
        {"bitfloat(0,3; soa)", 9, "from 1 to 11"},
        {"bitfloat(12,3; soa)", 9, "from 1 to 11"},
        {"bitfloat(3; soa)", 10, "expected ','"},
        {"bitfloat(3,53; soa)", 11, "from 0 to 52"},
        {"bitint(5; aos)", 0, "d is no integer: bitint cannot store f64"},
        {"split(i+b: bitint(33; soa), aos)", 11, "more than 32 bits"},
        {"split(separate; i: soa, bitfloat(5,2; aos))", 24,
         "b is no real number: bitfloat cannot store bool"},
        {"split(c: bitfloat(5,2; soa), soa(single))", 9, "c is no real number"},
        {"split(c: bitint(5; soa), soa(single))", 9, "c is no integer"},
        {"split(f: bitfloat(8,24; soa), soa(single))", 9, "more than 32 bits"},
        {"byteswap(split(i: bitint(5; soa), soa(single)))", 18,
         "i is stored in the other byte order"},
        {"bytesplit(byteswap(aos))", 10, "inside bytesplit"},
        {"bytesplit(bytesplit(aos))", 10, "inside bytesplit"},
        {"bytesplit(changetype(;aos))", 10, "inside bytesplit"},
        {"bytesplit(split(i: bitint(5; soa), aos))", 19, "inside bytesplit"},
        {"bytesplit(split(i: bitfloat(5,5; soa), aos))", 19, "inside bytesplit"},
        {"split(i: bitint(3; soa), soa)", 0, "it needs \"separate;\""},
    };
    ha_record *r = ha_record_parse("d:f64 i:i32 b:bool c:c64 f:f32", NULL);
    const int64_t n = 10;
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        ha_error e;
        ha_mapping *m = ha_mapping_parse(r, refused[k].text, 1, &n, &e);
        if (m) fail_msg("%s is a layout", refused[k].text);
        if (!strstr(e.text, refused[k].why))
            fail_msg("%s: \"%s\" instead of \"%s\"", refused[k].text, e.text, refused[k].why);
        if (e.code != refused[k].position)
            fail_msg("%s: at %lld: %s", refused[k].text, (long long)e.code, e.text);
    }
    ha_record_free(r);
}

static void test_too_large(void **state) {
    (void)state;
    static const struct {
        const char *record, *layout;
        int64_t n;
        int fits;
    } cases[] = {
        {"a:i64", "bitint(8; soa)", (int64_t)1 << 59, 1},
        {"a:i64", "bitint(8; soa)", (int64_t)1 << 60, 0},
        {"a:i64", "bitint(64; soa)", (int64_t)1 << 60, 0},
        {"a:i64", "bitint(1; soa)", INT64_MAX, 0},
        {"a:i64 b:i8", "split(b: soa, bitint(1; soa))", (int64_t)1 << 60, 0},
        {"a:i64", "bitint(64; soa@morton)", (int64_t)1 << 60, 0},
        {"a:i64", "bytesplit(soa)", (int64_t)1 << 61, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ha_record *r = ha_record_parse(cases[k].record, NULL);
        ha_error e;
        ha_mapping *m = ha_mapping_parse(r, cases[k].layout, 1, &cases[k].n, &e);
        assert_int_equal(m != NULL, cases[k].fits);
        if (!m) assert_int_equal(e.status, HA_ERR_MEMORY);
        if (m) assert_int_equal(ha_mapping_check(m, &e), HA_OK);
        ha_mapping_free(m);
        ha_record_free(r);
    }
}

static void test_failing_memory(void **state) {
    (void)state;
    const int64_t n = 10;
    const char *text = "byteswap(changetype(f64:f32; split(separate; pos: bytesplit(soa), aos)))";
    ha_record *r = ha_record_parse(PARTICLE, NULL);
    const long before = allocated;
    ha_mapping *m = NULL;
    ha_error e;
    for (long k = 0; !m; k++) {
        until_failure = k;
        m = ha_mapping_parse(r, text, 1, &n, &e);
        until_failure = -1;
        if (!m) assert_int_equal(e.status, HA_ERR_MEMORY);
        if (!m) assert_int_equal(allocated, before);
        assert_true(k < 10);
    }
    ha_mapping_free(m);
    assert_int_equal(allocated, before);
    ha_record_free(r);
}

/* ---- what else reads tables ------------------------------------------------------------------ */

static char *text_of(const ha_mapping *m, const int64_t *index) {
    const int64_t length = index ? ha_mapping_json(m, index, NULL, 0) : ha_mapping_svg(m, NULL, 0);
    char *text = (char *)malloc((size_t)length + 1);
    assert_int_equal(index ? ha_mapping_json(m, index, text, (size_t)length + 1)
                           : ha_mapping_svg(m, text, (size_t)length + 1),
                     length);
    assert_int_equal(strlen(text), length);
    return text;
}

static void test_json(void **state) {
    (void)state;
    static const struct {
        const char *record, *layout, *fields;
    } cases[] = {
        {"x:i32 y:bool", "bitint(3; aos)",
         "{\"name\": \"x\", \"type\": \"i32\", \"blob\": 0, \"bit_offset\": 30, \"bits\": 3}, "
         "{\"name\": \"y\", \"type\": \"bool\", \"blob\": 0, \"bit_offset\": 33, \"bits\": 3}]}"},
        {"x:f64", "changetype(x:f32; bitfloat(5,10; soa))",
         "{\"name\": \"x\", \"type\": \"f64\", \"blob\": 0, \"bit_offset\": 80, \"stored\": "
         "\"f32\", "
         "\"bits\": 16, \"exponent\": 5, \"mantissa\": 10}]}"},
        {"x:u16 y:f64", "byteswap(split(separate; x: bytesplit(soa), changetype(y:f32; aos)))",
         "{\"name\": \"x\", \"type\": \"u16\", \"blob\": null, \"offset\": null, \"bytes\": "
         "[{\"blob\": 0, \"offset\": 5}, {\"blob\": 1, \"offset\": 5}], \"swapped\": true}, "
         "{\"name\": \"y\", \"type\": \"f64\", \"blob\": 2, \"offset\": 20, \"stored\": \"f32\", "
         "\"swapped\": true}]}"},
        {"x:u16", "byteswap(null)",
         "{\"name\": \"x\", \"type\": \"u16\", \"blob\": null, \"offset\": null}]}"},
    };
    const int64_t n = 8, at = 5;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ha_record *r = ha_record_parse(cases[k].record, NULL);
        ha_mapping *m = ha_mapping_parse(r, cases[k].layout, 1, &n, NULL);
        char *text = text_of(m, &at);
        assert_string_equal(strstr(text, "\"fields\": [") + 11, cases[k].fields);
        assert_true(ha_mapping_device_text(m, "name", NULL, 0) > 0);
        free(text);
        ha_mapping_free(m);
        ha_record_free(r);
    }
}

static int count_of(const char *text, const char *what) {
    int n = 0;
    while ((text = strstr(text, what)) != NULL) {
        text++;
        n++;
    }
    return n;
}

/* Boxes of 3 bits are 5 or 6 wide, and have no name; of bytes 15. */
static void test_pictures(void **state) {
    (void)state;
    static const struct {
        const char *layout, *box, *name;
        int boxes;
    } cases[] = {
        {"bitint(3; aos)", "<rect x=\"70\" y=\"60\" width=\"5\" height=\"34\" fill=\"#ffd9a0\"",
         "pos", 20},
        {"bitint(9; soa)", "<rect x=\"70\" y=\"60\" width=\"16\" height=\"34\" fill=\"#ffd9a0\"",
         ">x<", 20},
        {"bitint(5; aos)", "<rect x=\"79\" y=\"60\" width=\"9\" height=\"34\" fill=\"#9cc7e8\"",
         ">y 0<", 20},
        {"bytesplit(aos)", "<rect x=\"130\" y=\"60\" width=\"15\" height=\"34\" fill=\"#9cc7e8\"",
         ">y:0<", 60},
        {"changetype(x:i16; soa)", "<rect x=\"70\" y=\"60\" width=\"30\" height=\"34\"", ">x<", 20},
    };
    const int64_t n = 10;
    ha_record *r = ha_record_parse("x:i32 y:u16", NULL);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ha_mapping *m = ha_mapping_parse(r, cases[k].layout, 1, &n, NULL);
        char *text = text_of(m, NULL);
        if (!strstr(text, cases[k].box)) fail_msg("%s: %s", cases[k].layout, text);
        assert_int_equal(strstr(text, cases[k].name) != NULL, cases[k].name[0] == '>');
        assert_int_equal(count_of(text, "stroke=\"#333\""), cases[k].boxes);
        free(text);
        ha_mapping_free(m);
    }
    ha_record_free(r);
}

static void test_stretch(void **state) {
    (void)state;
    const int64_t n[] = {3, 7}, at[] = {1, 2};
    ha_record *r = ha_record_parse("x:i32 y:i32", NULL);
    ha_mapping *m = ha_mapping_parse(r, "bitint(5; aos)", 2, n, NULL);
    ha_stretch s;
    assert_int_equal(ha_mapping_stretch(m, 1, at, &s), HA_OK);
    assert_true(s.offset == 95 && s.stride == 10 && s.count == 5 && s.dimension == 1);
    ha_mapping_free(m);
    ha_record_free(r);
}

static void test_no_view(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"bitint(5; soa)", "x is stored as 5 bits: no view has it"},
        {"changetype(y:i8; soa)", "y is stored as i8: no view has it"},
        {"byteswap(aos)", "x is stored as i32, swapped: no view has it"},
        {"bytesplit(soa)", "x is stored as i32, byte by byte: no view has it"},
    };
    const int64_t n = 4;
    ha_record *r = ha_record_parse("x:i32 y:i32", NULL);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ha_mapping *m = ha_mapping_parse(r, cases[k][0], 1, &n, NULL);
        _Alignas(8) char place[8][64];
        void *blob[8];
        ha_matched_ matched;
        char *leaf[2];
        ptrdiff_t stride[4];
        ha_error e;
        for (int b = 0; b < 8; b++) blob[b] = place[b];
        assert_int_equal(ha_view_match(m, blob, r, 1, -1, &matched, leaf, stride, &e),
                         HA_ERR_ARGUMENT);
        assert_string_equal(e.text, cases[k][1]);
        ha_mapping_free(m);
    }
    ha_record_free(r);
}

/* ---- tables by hand -------------------------------------------------------------------------- */

static void check_wrong(const ha_mapping *m, const char *why) {
    ha_error e;
    assert_int_equal(ha_mapping_check(m, &e), why ? HA_ERR_ARGUMENT : HA_OK);
    if (why && !strstr(e.text, why)) fail_msg("\"%s\" instead of \"%s\"", e.text, why);
}

static void test_wrong_codings(void **state) {
    (void)state;
    static const struct {
        ha_coding coding;
        const char *why;
    } wrong[] = {
        {{.stored = HA_NO_SCALAR}, "a type that is none"},
        {{.stored = HA_F32, .swapped = 2}, "cannot be swapped"},
        {{.stored = HA_U8, .swapped = 1}, "cannot be swapped"},
        {{.stored = HA_I32, .bits = -1}, "a number of bits"},
        {{.stored = HA_I32, .bits = 65}, "a number of bits"},
        {{.stored = HA_F32, .bits = 5, .exponent = 12}, "an exponent or a mantissa"},
        {{.stored = HA_F32, .bits = 5, .exponent = -1}, "an exponent or a mantissa"},
        {{.stored = HA_F32, .bits = 60, .exponent = 6, .mantissa = 53},
         "an exponent or a mantissa"},
        {{.stored = HA_F32, .bits = 5, .mantissa = 4}, "an exponent or a mantissa"},
        {{.stored = HA_F32, .bits = 5, .exponent = 3, .mantissa = 2}, "an exponent or a mantissa"},
        {{.stored = HA_I32, .bits = 5, .exponent = 3, .mantissa = 1}, "do not fit its type"},
        {{.stored = HA_F32, .bits = 5}, "do not fit its type"},
        {{.stored = HA_C64, .bits = 5}, "do not fit its type"},
        {{.stored = HA_I32, .bits = 5, .swapped = 1}, "bits and something else"},
        {{.stored = HA_I16, .bits = 5, .bytes = 2}, "bits and something else"},
        {{.stored = HA_I32, .bytes = 2}, "bytes that do not exist"},
        {{.stored = HA_I16, .bytes = 2, .byte_row = -1}, "bytes that do not exist"},
        {{.stored = HA_I16, .bytes = 2, .byte_row = 2}, "bytes that do not exist"},
        {{.stored = HA_I16, .bytes = 2, .byte_row = 1}, "is not stored"},
        {{.stored = HA_C64}, "another type than a"},
        {{.stored = HA_I16, .bits = 9}, NULL},
        {{.stored = HA_F32, .bits = 9, .exponent = 5, .mantissa = 3}, NULL},
    };
    const ha_row bytes[] = {
        {.lanes = 1, .block_stride = 1}, {.lanes = 1, .block_stride = 1}, {.lanes = 1, .blob = -1}};
    const ha_linearizer linear = {.rank = 1, .stride = {1}, .pad = 1, .count = 3};
    const ha_blob blob = {30, 1};
    ha_coding coding;
    ha_row row = {.lanes = 1, .block_stride = 9, .coding = 1};
    ha_record *r = ha_record_parse("a:i32", NULL);
    ha_mapping m = {.record = r,
                    .rank = 1,
                    .extent = {3, 1, 1, 1},
                    .blobs = 1,
                    .linearizers = 1,
                    .rows = 1,
                    .row = &row,
                    .linearizer = &linear,
                    .blob = &blob,
                    .coding = &coding,
                    .codings = 1,
                    .byte_row = bytes,
                    .byte_rows = 3};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        coding = wrong[k].coding;
        check_wrong(&m, wrong[k].why);
    }
    row.coding = 2;
    check_wrong(&m, "a coding that does not exist");
    row.coding = -1;
    check_wrong(&m, "a coding that does not exist");
    row.coding = 0;
    row.scalar = HA_F32;
    check_wrong(&m, "another type than a");
    /* bits beside bits, and on them */
    row = (ha_row){.lanes = 1, .block_stride = 9, .coding = 1, .scalar = HA_I32};
    coding = (ha_coding){.stored = HA_I32, .bits = 10};
    check_wrong(&m, "values of a and of a overlap at byte 1");
    row.block_stride = 115;
    check_wrong(&m, NULL);
    row.base = 1;
    check_wrong(&m, "a takes bytes from 0 to 31 of blob 0, which has 30");
    row.block_stride = INT64_MAX / 2;
    check_wrong(&m, "overflow");
    ha_record_free(r);
}

/* Rows of bits, bytes and whole values in one blob. */
static void test_mixed_tables(void **state) {
    (void)state;
    const int64_t n = 5;
    ha_record *r = ha_record_parse("a:i32 b:i32 c:u16", NULL);
    ha_mapping *made = ha_mapping_parse(
        r, "split(a: bitint(6; aos), split(b: bytesplit(aos), byteswap(soa(single))))", 1, &n,
        NULL);
    assert_non_null(made);
    ha_row row[3] = {made->row[0], made->row[1], made->row[2]}, byte[4];
    ha_mapping m = *made;
    memcpy(byte, made->byte_row, sizeof byte);
    m.row = row;
    m.byte_row = byte;
    check_wrong(&m, NULL);
    row[2].base -= 1;
    check_wrong(&m, "values of b and of c overlap");
    row[2].base = INT64_MAX / 2;
    check_wrong(&m, "the addresses of c overflow");
    row[2].base = made->row[2].base;
    byte[3].base = 3;
    check_wrong(&m, "values of a and of b overlap at byte 3");
    byte[3].base = 30;
    check_wrong(&m, "b takes bytes");
    byte[3].lanes = 0;
    check_wrong(&m, "no lanes");
    ha_mapping_free(made);
    ha_record_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_floats),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_codings),
        cmocka_unit_test(test_byteswap),
        cmocka_unit_test(test_byteswap_parts),
        cmocka_unit_test(test_bytesplit),
        cmocka_unit_test(test_null_and_permute),
        cmocka_unit_test(test_bit_integers),
        cmocka_unit_test(test_many_bits),
        cmocka_unit_test(test_bit_floats),
        cmocka_unit_test(test_all_bit_floats),
        cmocka_unit_test(test_changed_values),
        cmocka_unit_test(test_changed_integers),
        cmocka_unit_test(test_changed_complex),
        cmocka_unit_test(test_bit_runs),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_all_changes),
        cmocka_unit_test(test_small_runs),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_failing_memory),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_stretch),
        cmocka_unit_test(test_no_view),
        cmocka_unit_test(test_wrong_codings),
        cmocka_unit_test(test_mixed_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
