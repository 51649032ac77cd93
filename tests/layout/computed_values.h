/* Computed layouts: values as those of other types, and runs of all that is stored. */
#ifndef HARRAY_TESTS_LAYOUT_COMPUTED_VALUES_H
#define HARRAY_TESTS_LAYOUT_COMPUTED_VALUES_H

#include "computed_memory.h"

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
            const int64_t size = (int64_t)ha_dtype_size((ha_dtype)w.mapping->row[leaf].type);
            char *values = (char *)calloc((size_t)n + 1, (size_t)size);
            char *read = (char *)calloc((size_t)n + 1, (size_t)size), *single = read + n * size;
            for (int64_t k = 0; k < n * size; k++)
                values[k] = (char)(w.mapping->row[leaf].type == HA_DTYPE_bool
                                       ? (uint64_t)(k % 3 == 0)
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
    for (int from = HA_DTYPE_bool; from <= HA_DTYPE_double; from++)
        for (int to = HA_DTYPE_bool; to <= HA_DTYPE_double; to++) {
            const char *f = ha_dtype_short_name((ha_dtype)from),
                       *t = ha_dtype_short_name((ha_dtype)to);
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
    row[0].type = row[1].type = 0;
    ha_mapped_set(&mapped, 1, (int64_t[]){2}, &(float){1.5f});
    ha_mapped_get(&w.mapped, 1, (int64_t[]){2}, &x);
    assert_true(x == 1.5f);
    free_memory(&w);
}

#endif
