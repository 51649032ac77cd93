/* Uses all of half.h, bfloat16.h and complex.h, on host or device: C11, C++17, CUDA and OpenCL C.
 * To be included behind harray.h, or behind these three. */
#ifndef NUMBERS_H
#define NUMBERS_H

HA_FN int use_half(void) {
    const ha_half h = ha_half_of_float(0.33333f), inf = ha_half_of_float(65520.0f);
    const ha_half zero = ha_half_of_bits(0x8000), tiny = ha_half_of_bits(1);
    const ha_half nan = ha_half_of_float(ha_half_to_float(ha_half_of_bits(0xfc01)));
    int failed = 0;
    failed += h.bits != 0x3555 || ha_half_of_float(-1e-8f).bits != 0x8000;
    failed += ha_half_of_float(0x1p-24f).bits != 1 || ha_half_of_float(2049).bits != 0x6800;
    failed += !ha_half_isinf(inf) || ha_half_isfinite(inf) || !ha_half_isfinite(h);
    failed += !ha_half_isnan(nan) || nan.bits != 0xfe01 || ha_half_equal(nan, nan);
    failed += !ha_half_equal(zero, ha_half_of_bits(0)) || ha_half_less(zero, zero);
    failed += !ha_half_less(zero, tiny) || !ha_half_less_equal(tiny, h);
    failed += ha_half_to_float(tiny) < 0x1p-24f || ha_half_to_float(tiny) > 0x1p-24f;
#if HA_HAS_DOUBLE_
    failed += ha_half_of_double(1 + 0x1p-11 + 0x1p-40).bits != 0x3c01;
    failed += ha_half_to_double(h) < 0.333 || ha_half_to_double(h) > 0.334;
#endif
    return failed;
}

HA_FN int use_bfloat16(void) {
    const ha_bfloat16 b = ha_bfloat16_of_float(3.140625f), inf = ha_bfloat16_of_bits(0x7f80);
    const ha_bfloat16 zero = ha_bfloat16_of_bits(0x8000), tiny = ha_bfloat16_of_bits(0x0080);
    const ha_bfloat16 nan = ha_bfloat16_of_float(ha_bfloat16_to_float(ha_bfloat16_of_bits(0xff81)));
    int failed = 0;
    failed += b.bits != 0x4049 || ha_bfloat16_to_float(b) < 3.14f;
    failed += !ha_bfloat16_isinf(inf) || ha_bfloat16_isfinite(inf) || !ha_bfloat16_isfinite(b);
    failed += !ha_bfloat16_isnan(nan) || nan.bits != 0xffc1 || ha_bfloat16_equal(nan, nan);
    failed += !ha_bfloat16_equal(zero, ha_bfloat16_of_bits(0)) || ha_bfloat16_less(zero, zero);
    failed += !ha_bfloat16_less(zero, tiny) || !ha_bfloat16_less_equal(tiny, b);
#if HA_HAS_DOUBLE_
    failed += ha_bfloat16_of_double(1 + 0x1p-8 + 0x1p-40).bits != 0x3f81;
    failed += ha_bfloat16_of_double(ha_bfloat16_to_double(ha_bfloat16_of_bits(1))).bits != 1;
#endif
    return failed;
}

HA_FN int use_complex(void) {
    const ha_c64 x = ha_c64_make(1, 2), y = ha_c64_make(3, -4), large = ha_c64_make(0, 0x1p127f);
    int failed = 0;
    failed += !ha_c64_equal(ha_c64_add(x, y), ha_c64_make(4, -2));
    failed += !ha_c64_equal(ha_c64_sub(x, y), ha_c64_make(-2, 6));
    failed += !ha_c64_equal(ha_c64_mul(x, y), ha_c64_make(11, 2));
    failed += !ha_c64_equal(ha_c64_div(x, ha_c64_make(0, 0.5f)), ha_c64_make(4, -2));
    failed += !ha_c64_equal(ha_c64_div(large, large), ha_c64_make(1, 0));
    failed += !ha_c64_equal(ha_c64_negate(ha_c64_conj(y)), ha_c64_scale(ha_c64_make(6, 8), -0.5f));
    failed += ha_c64_abs(y) < 4.99999f || ha_c64_abs(y) > 5.00001f || ha_c64_abs2(y) < 25;
#if HA_HAS_DOUBLE_
    const ha_c128 v = ha_c128_make(1, 2), w = ha_c128_make(3, -4),
                  small = ha_c128_make(0x1p-1000, 0);
    failed += !ha_c128_equal(ha_c128_add(v, w), ha_c128_make(4, -2));
    failed += !ha_c128_equal(ha_c128_sub(v, w), ha_c128_make(-2, 6));
    failed += !ha_c128_equal(ha_c128_mul(v, w), ha_c128_make(11, 2));
    failed += !ha_c128_equal(ha_c128_div(v, ha_c128_make(0, 0.5)), ha_c128_make(4, -2));
    failed += !ha_c128_equal(ha_c128_div(small, small), ha_c128_make(1, 0));
    failed += !ha_c128_equal(ha_c128_negate(ha_c128_conj(w)),
                             ha_c128_scale(ha_c128_make(6, 8), -0.5));
    failed += ha_c128_abs(w) < 4.99999 || ha_c128_abs(w) > 5.00001 || ha_c128_abs2(w) < 25;
#endif
    return failed;
}

#endif
