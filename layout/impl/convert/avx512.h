/* Conversions of whole arrays on x86-64 with AVX-512 (F, BW), as avx2.h explains them. */
#ifndef HARRAY_LAYOUT_IMPL_CONVERT_AVX512_H
#define HARRAY_LAYOUT_IMPL_CONVERT_AVX512_H

#include "avx2.h"

#if defined __x86_64__ && !defined HARRAY_NO_SIMD
#define HA_AVX512_ __attribute__((target("avx512f,avx512bw,avx2,f16c")))
#define HA_AVX512_INLINE_ HA_AVX512_ __attribute__((always_inline)) static inline
enum { HA_AVX512_WIDTH = 32 };

HA_AVX512_INLINE_ __m512i ha_load_avx512(const char *from, size_t number) {
    return _mm512_loadu_si512(from + 64 * number);
}
HA_AVX512_INLINE_ void ha_store_avx512(char *to, size_t number, __m512i x, int past) {
    if (past)
        _mm512_stream_si512((__m512i *)(void *)to + number, x);
    else
        _mm512_storeu_si512(to + 64 * number, x);
}
HA_AVX512_INLINE_ __m256i ha_load_half_avx512(const char *from, size_t number) {
    return _mm256_loadu_si256((const __m256i *)(const void *)from + number);
}
HA_AVX512_INLINE_ void ha_store_half_avx512(char *to, size_t number, __m256i x, int past) {
    if (past)
        _mm256_stream_si256((__m256i *)(void *)to + number, x);
    else
        _mm256_storeu_si256((__m256i *)(void *)to + number, x);
}

/* ---- half ---------------------------------------------------------------------------------- */

HA_AVX512_INLINE_ void ha_step_half_to_float_avx512(char *to, const char *from, int past) {
    for (size_t i = 0; i < 2; i++)
        ha_store_avx512(to, i, _mm512_castps_si512(_mm512_cvtph_ps(ha_load_half_avx512(from, i))),
                        past);
}

/* All of a mask: without optimisation gcc's unmasked form warns of a conversion in itself. */
HA_AVX512_INLINE_ void ha_store_as_half_avx512(char *to, size_t number, __m512i x, int past) {
    const __m512 floats = _mm512_castsi512_ps(x);
    ha_store_half_avx512(
        to, number,
        _mm512_maskz_cvtps_ph(0xffff, floats, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), past);
}

HA_AVX512_INLINE_ void ha_step_float_to_half_avx512(char *to, const char *from, int past) {
    for (size_t i = 0; i < 2; i++) ha_store_as_half_avx512(to, i, ha_load_avx512(from, i), past);
}

/* Sixteen floats as doubles. */
HA_AVX512_INLINE_ void ha_store_doubles_avx512(char *to, size_t i, __m512i x, int past) {
    const __m256i high = _mm512_extracti64x4_epi64(x, 1);
    const __m512d a = _mm512_cvtps_pd(_mm256_castsi256_ps(_mm512_castsi512_si256(x)));
    const __m512d b = _mm512_cvtps_pd(_mm256_castsi256_ps(high));
    ha_store_avx512(to, 2 * i, _mm512_castpd_si512(a), past);
    ha_store_avx512(to, 2 * i + 1, _mm512_castpd_si512(b), past);
}

HA_AVX512_INLINE_ void ha_step_half_to_double_avx512(char *to, const char *from, int past) {
    for (size_t i = 0; i < 2; i++) {
        const __m512 x = _mm512_cvtph_ps(ha_load_half_avx512(from, i));
        ha_store_doubles_avx512(to, i, _mm512_castps_si512(x), past);
    }
}

/* Eight doubles as floats, rounded to odd: 0xa8 is (x | carry) & kept. */
HA_AVX512_INLINE_ __m256i ha_round_to_odd_avx512(__m512i x) {
    const __m512i dropped = _mm512_set1_epi64(0x1fffffff), kept = _mm512_set1_epi64(~0x1fffffffll);
    const __m512i carry = _mm512_add_epi64(_mm512_and_si512(x, dropped), dropped);
    const __m512i odd = _mm512_ternarylogic_epi64(x, carry, kept, 0xa8);
    return _mm256_castps_si256(_mm512_cvtpd_ps(_mm512_castsi512_pd(odd)));
}

HA_AVX512_INLINE_ __m512i ha_load_doubles_avx512(const char *from, size_t i) {
    const __m256i low = ha_round_to_odd_avx512(ha_load_avx512(from, 2 * i));
    const __m256i high = ha_round_to_odd_avx512(ha_load_avx512(from, 2 * i + 1));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

HA_AVX512_INLINE_ void ha_step_double_to_half_avx512(char *to, const char *from, int past) {
    for (size_t i = 0; i < 2; i++)
        ha_store_as_half_avx512(to, i, ha_load_doubles_avx512(from, i), past);
}

/* ---- bfloat16 ------------------------------------------------------------------------------ */

HA_AVX512_INLINE_ __mmask16 ha_nan_avx512(__m512i x) {
    const __m512 floats = _mm512_castsi512_ps(x);
    return _mm512_cmp_ps_mask(floats, floats, _CMP_UNORD_Q);
}

HA_AVX512_INLINE_ __m512i ha_widen_bfloat16_avx512(__m256i b) {
    const __m512i x = _mm512_slli_epi32(_mm512_cvtepu16_epi32(b), 16);
    return _mm512_mask_or_epi32(x, ha_nan_avx512(x), x, _mm512_set1_epi32(0x400000));
}

HA_AVX512_INLINE_ void ha_step_bfloat16_to_float_avx512(char *to, const char *from, int past) {
    for (size_t i = 0; i < 2; i++)
        ha_store_avx512(to, i, ha_widen_bfloat16_avx512(ha_load_half_avx512(from, i)), past);
}

HA_AVX512_INLINE_ void ha_step_bfloat16_to_double_avx512(char *to, const char *from, int past) {
    if (__builtin_expect(ha_any_subnormal_avx2(ha_load_half_avx512(from, 0)) |
                             ha_any_subnormal_avx2(ha_load_half_avx512(from, 1)),
                         0)) {
        ha_bfloat16_to_double_portable(to, from, HA_AVX512_WIDTH);
        return;
    }
    for (size_t i = 0; i < 2; i++)
        ha_store_doubles_avx512(to, i, ha_widen_bfloat16_avx512(ha_load_half_avx512(from, i)),
                                past);
}

/* Sixteen floats; each result is in the upper half of 32 bits. */
HA_AVX512_INLINE_ __m512i ha_round_bfloat16_avx512(__m512i x) {
    const __mmask16 odd = _mm512_test_epi32_mask(x, _mm512_set1_epi32(0x10000));
    const __m512i even = _mm512_add_epi32(x, _mm512_set1_epi32(0x7fff));
    const __m512i rounded = _mm512_mask_add_epi32(even, odd, x, _mm512_set1_epi32(0x8000));
    return _mm512_mask_or_epi32(rounded, ha_nan_avx512(x), x, _mm512_set1_epi32(0x400000));
}

/* The upper halves of 32 floats, rounded: every other 16 bits of two vectors. (The instruction for all
 * this, of AVX512_BF16, takes subnormal numbers for zero.) */
HA_AVX512_INLINE_ void ha_store_as_bfloat16_avx512(char *to, __m512i low, __m512i high, int past) {
    const __m512i upper = _mm512_setr_epi32(
        0x030001, 0x070005, 0x0b0009, 0x0f000d, 0x130011, 0x170015, 0x1b0019, 0x1f001d, 0x230021,
        0x270025, 0x2b0029, 0x2f002d, 0x330031, 0x370035, 0x3b0039, 0x3f003d);
    ha_store_avx512(to, 0,
                    _mm512_permutex2var_epi16(ha_round_bfloat16_avx512(low), upper,
                                              ha_round_bfloat16_avx512(high)),
                    past);
}

HA_AVX512_INLINE_ void ha_step_float_to_bfloat16_avx512(char *to, const char *from, int past) {
    ha_store_as_bfloat16_avx512(to, ha_load_avx512(from, 0), ha_load_avx512(from, 1), past);
}

/* Nonzero when one of 32 doubles is not zero, but less than the normal floats. */
HA_AVX512_INLINE_ int ha_any_tiny_avx512(const char *from) {
    unsigned any = 0;
    for (size_t i = 0; i < 4; i++) {
        const __m512d x = _mm512_abs_pd(_mm512_castsi512_pd(ha_load_avx512(from, i)));
        const __mmask8 less = _mm512_cmp_pd_mask(x, _mm512_set1_pd(0x1p-126), _CMP_LT_OQ);
        any |= _mm512_mask_cmp_pd_mask(less, x, _mm512_setzero_pd(), _CMP_GT_OQ);
    }
    return any != 0;
}

HA_AVX512_INLINE_ void ha_step_double_to_bfloat16_avx512(char *to, const char *from, int past) {
    if (__builtin_expect(ha_any_tiny_avx512(from), 0)) {
        ha_double_to_bfloat16_portable(to, from, HA_AVX512_WIDTH);
        return;
    }
    ha_store_as_bfloat16_avx512(to, ha_load_doubles_avx512(from, 0),
                                ha_load_doubles_avx512(from, 1), past);
}

/* ---- whole arrays -------------------------------------------------------------------------- */

#define HA_CONVERT_AVX512_(name, From, To)                                                         \
    HA_CONVERT_X86_(HA_AVX512_, ha_##name##_avx512, ha_step_##name##_avx512, HA_AVX512_WIDTH,      \
                    From, To)
HA_CONVERT_AVX512_(half_to_float, uint16_t, float)
HA_CONVERT_AVX512_(half_to_double, uint16_t, double)
HA_CONVERT_AVX512_(float_to_half, float, uint16_t)
HA_CONVERT_AVX512_(double_to_half, double, uint16_t)
HA_CONVERT_AVX512_(bfloat16_to_float, uint16_t, float)
HA_CONVERT_AVX512_(bfloat16_to_double, uint16_t, double)
HA_CONVERT_AVX512_(float_to_bfloat16, float, uint16_t)
HA_CONVERT_AVX512_(double_to_bfloat16, double, uint16_t)

static const ha_conversions ha_conversions_avx512 = HA_CONVERSIONS_(avx512);
#endif

#endif
