/* Computed layouts: floats of few bits, one by one and many at a time. */
#ifndef HARRAY_TESTS_LAYOUT_COMPUTED_FLOATS_H
#define HARRAY_TESTS_LAYOUT_COMPUTED_FLOATS_H

#include "computed_memory.h"

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
        const ha_dtype type = (ha_dtype)many.mapping->row[0].type;
        const size_t size = ha_dtype_size(type);
        for (int64_t i = 0; i < n; i++) {
            ha_change_values(values + (size_t)i * size, type,
                             &numbers[(i * 5 + i / SPECIAL) % SPECIAL], HA_DTYPE_double, 1);
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

#endif
