/* half.h and bfloat16.h: every 16 bits to float and double, and what floats and doubles become,
 * against the list of all values. All floats when HARRAY_TEST_LONG is set. */
#include "../../harray/bfloat16.h"
#include "../../harray/half.h"
#include "../../harray/status.h"
#include "../support/numbers.h"

static int list_all(void **state HA_UNUSED) {
    list_values(&half);
    list_values(&bfloat16);
    return 0;
}

/* ---- literal bits -------------------------------------------------------------------------- */

TEST(bits_of_numbers) {
    static const struct {
        float x;
        uint16_t bits;
    } cases[] = {{1, 0x3c00},     {0.5f, 0x3800},  {0.33333f, 0x3555}, {0, 0},
                 {-0.0f, 0x8000}, {65504, 0x7bff}, {65536, 0x7c00}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(ha_half_of_float(cases[i].x).bits, cases[i].bits);
        assert_int_equal(ha_half_of_double((double)cases[i].x).bits, cases[i].bits);
    }
    assert_int_equal(ha_half_of_double(0.33333).bits, 0x3555);
}

TEST(bits_of_integers) {
    static const uint16_t bits[] = {0xbc00, 0, 0x3c00, 0x4000, 0x4200};
    for (int i = -1; i <= 3; i++) {
        assert_int_equal(ha_half_of_float((float)i).bits, bits[i + 1]);
        assert_int_equal(ha_half_of_double(i).bits, bits[i + 1]);
    }
}

TEST(zeros_are_equal) {
    const ha_half minus = {0x8000}, plus = {0};
    assert_true(ha_half_equal(minus, plus));
    assert_false(ha_half_less(minus, plus));
    assert_false(ha_half_less(plus, minus));
    assert_true(ha_half_less_equal(minus, plus));
    assert_true(ha_half_less_equal(plus, minus));
}

TEST(infinity_and_nan) {
    assert_true(ha_half_isinf(ha_half_of_bits(0x7c00)));
    assert_true(ha_half_isinf(ha_half_of_float(INFINITY)));
    assert_true(ha_half_isnan(ha_half_of_bits(0x7fff)));
    assert_true(ha_half_isnan(ha_half_of_float(NAN)));
}

TEST(size_of_halves) {
    assert_int_equal(sizeof(ha_half[2][3]), 2 * 3 * 2);
    assert_int_equal(sizeof(ha_bfloat16[2][3]), 2 * 3 * 2);
}

/* Where the middle of two halves, and a little more, is rounded to float first, the little is gone. */
TEST(rounded_once) {
    assert_int_equal(ha_half_of_double(1 + 0x1p-11).bits, 0x3c00);
    assert_int_equal(ha_half_of_double(1 + 0x1p-11 + 0x1p-40).bits, 0x3c01);
    assert_int_equal(ha_half_of_float((float)(1 + 0x1p-11 + 0x1p-40)).bits, 0x3c00);
    assert_int_equal(ha_bfloat16_of_double(1 + 0x1p-8 + 0x1p-40).bits, 0x3f81);
    assert_int_equal(ha_half_of_double(0x1p-25).bits, 0);
    assert_int_equal(ha_half_of_double(0x1p-25 + 0x1p-70).bits, 1);
    assert_int_equal(ha_half_of_double(65520 - 0x1p-30).bits, 0x7bff);
    assert_int_equal(ha_half_of_double(65520).bits, 0x7c00);
    assert_int_equal(ha_bfloat16_of_double(0x1p-134 + 0x1p-180).bits, 1);
}

/* Signs stay, payloads too as far as there is room, and what would become infinity is still a NaN. */
TEST(nans) {
    assert_int_equal(ha_half_of_float(float_with_bits(0x7f800001)).bits, 0x7e00);
    assert_int_equal(ha_half_of_float(float_with_bits(0xffc02000)).bits, 0xfe01);
    assert_int_equal(ha_half_of_double(with_bits(0x7ff0000000000001)).bits, 0x7e00);
    assert_int_equal(ha_half_of_double(with_bits(0xfff8040000000000)).bits, 0xfe01);
    assert_int_equal(ha_bfloat16_of_float(float_with_bits(0xff800001)).bits, 0xffc0);
    assert_int_equal(ha_bfloat16_of_double(with_bits(0x7ff0200000000000)).bits, 0x7fc1);
    assert_int_equal(bits_of_float(ha_half_to_float(ha_half_of_bits(0xfc01))), 0xffc02000);
    assert_int_equal(bits_of_float(ha_bfloat16_to_float(ha_bfloat16_of_bits(0x7f81))), 0x7fc10000);
    assert_int_equal(bits_of(ha_half_to_double(ha_half_of_bits(0x7c01))), 0x7ff8040000000000);
}

/* ---- all of them --------------------------------------------------------------------------- */

TEST(every_half) {
    for (uint32_t i = 0; i < 0x10000; i++) {
        const ha_half h = ha_half_of_bits((uint16_t)i);
        const uint16_t back = ha_half_isnan(h) ? h.bits | 0x200 : h.bits;
        assert_int_equal(bits_of_float(ha_half_to_float(h)), expected_float(&half, h.bits));
        assert_int_equal(bits_of(ha_half_to_double(h)), expected_double(&half, h.bits));
        assert_int_equal(ha_half_of_float(ha_half_to_float(h)).bits, back);
        assert_int_equal(ha_half_of_double(ha_half_to_double(h)).bits, back);
    }
}

TEST(every_bfloat16) {
    for (uint32_t i = 0; i < 0x10000; i++) {
        const ha_bfloat16 b = ha_bfloat16_of_bits((uint16_t)i);
        const uint16_t back = ha_bfloat16_isnan(b) ? b.bits | 0x40 : b.bits;
        assert_int_equal(bits_of_float(ha_bfloat16_to_float(b)), expected_float(&bfloat16, b.bits));
        assert_int_equal(bits_of(ha_bfloat16_to_double(b)), expected_double(&bfloat16, b.bits));
        assert_int_equal(ha_bfloat16_of_float(ha_bfloat16_to_float(b)).bits, back);
        assert_int_equal(ha_bfloat16_of_double(ha_bfloat16_to_double(b)).bits, back);
    }
}

static void expect_same(uint16_t got, uint16_t expected, uint64_t of) {
    if (got != expected) fail_msg("%#llx: %#x, not %#x", (unsigned long long)of, got, expected);
}

static void convert_float(uint64_t bits) {
    const float x = float_with_bits((uint32_t)bits);
    const uint64_t wide = widened((uint32_t)bits);
    expect_same(ha_half_of_float(x).bits, expected_of(&half, wide), bits);
    expect_same(ha_bfloat16_of_float(x).bits, expected_of(&bfloat16, wide), bits);
}
TEST(floats) { each_float(convert_float); }

static void convert_double(uint64_t bits) {
    expect_same(ha_half_of_double(with_bits(bits)).bits, expected_of(&half, bits), bits);
    expect_same(ha_bfloat16_of_double(with_bits(bits)).bits, expected_of(&bfloat16, bits), bits);
}
TEST(doubles) { each_double(convert_double); }

/* ---- asking -------------------------------------------------------------------------------- */

TEST(kinds_and_order) {
    for (uint32_t i = 0; i < 0x10000; i++) {
        const ha_half h = ha_half_of_bits((uint16_t)i);
        const ha_half other = ha_half_of_bits((uint16_t)random_bits());
        const double x = ha_half_to_double(h), y = ha_half_to_double(other);
        assert_int_equal(ha_half_isnan(h), isnan(x) != 0);
        assert_int_equal(ha_half_isinf(h), isinf(x) != 0);
        assert_int_equal(ha_half_isfinite(h), isfinite(x) != 0);
        assert_int_equal(ha_half_equal(h, other), x <= y && x >= y);
        assert_int_equal(ha_half_less(h, other), x < y);
        assert_int_equal(ha_half_less_equal(h, other), x <= y);
        assert_int_equal(ha_half_equal(h, h), !isnan(x));
    }
    for (uint32_t i = 0; i < 0x10000; i++) {
        const ha_bfloat16 b = ha_bfloat16_of_bits((uint16_t)i);
        const ha_bfloat16 other = ha_bfloat16_of_bits((uint16_t)random_bits());
        const double x = ha_bfloat16_to_double(b), y = ha_bfloat16_to_double(other);
        assert_int_equal(ha_bfloat16_isnan(b), isnan(x) != 0);
        assert_int_equal(ha_bfloat16_isinf(b), isinf(x) != 0);
        assert_int_equal(ha_bfloat16_isfinite(b), isfinite(x) != 0);
        assert_int_equal(ha_bfloat16_equal(b, other), x <= y && x >= y);
        assert_int_equal(ha_bfloat16_less(b, other), x < y);
        assert_int_equal(ha_bfloat16_less_equal(b, other), x <= y);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_of_numbers),
        cmocka_unit_test(bits_of_integers),
        cmocka_unit_test(zeros_are_equal),
        cmocka_unit_test(infinity_and_nan),
        cmocka_unit_test(size_of_halves),
        cmocka_unit_test(rounded_once),
        cmocka_unit_test(nans),
        cmocka_unit_test(every_half),
        cmocka_unit_test(every_bfloat16),
        cmocka_unit_test(floats),
        cmocka_unit_test(doubles),
        cmocka_unit_test(kinds_and_order),
    };
    return cmocka_run_group_tests(tests, list_all, NULL);
}
