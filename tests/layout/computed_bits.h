/* Computed layouts: integers of few bits, one by one and in runs. */
#ifndef HARRAY_TESTS_LAYOUT_COMPUTED_BITS_H
#define HARRAY_TESTS_LAYOUT_COMPUTED_BITS_H

#include "computed_memory.h"

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
    switch (ha_dtype_size(w.record->field[0].type)) {
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

#endif
