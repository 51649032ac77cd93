/* Conversions of whole arrays on x86-64 with AVX2 and F16C. The instructions for half round as they are
 * told here, and to and from float they take and give subnormal halves whatever the state of the
 * processor. */
#ifndef HARRAY_LAYOUT_IMPL_CONVERT_AVX2_H
#define HARRAY_LAYOUT_IMPL_CONVERT_AVX2_H

#include "portable.h"

#if defined __x86_64__ && !defined HARRAY_NO_SIMD
#include <immintrin.h>

#define HA_AVX2_ __attribute__((target("avx2,f16c")))
#define HA_AVX2_INLINE_ HA_AVX2_ __attribute__((always_inline)) static inline
enum { HA_AVX2_WIDTH = 16 };

HA_AVX2_INLINE_ __m256i ha_load_avx2(const char *from, size_t number) {
    return _mm256_loadu_si256((const __m256i *)(const void *)from + number);
}
HA_AVX2_INLINE_ __m128i ha_load_half_avx2(const char *from, size_t number) {
    return _mm_loadu_si128((const __m128i *)(const void *)from + number);
}
/* Past the caches, or into them; `past` is a constant where these are called. */
HA_AVX2_INLINE_ void ha_store_avx2(char *to, size_t number, __m256i x, int past) {
    if (past)
        _mm256_stream_si256((__m256i *)(void *)to + number, x);
    else
        _mm256_storeu_si256((__m256i *)(void *)to + number, x);
}
HA_AVX2_INLINE_ void ha_store_half_avx2(char *to, size_t number, __m128i x, int past) {
    if (past)
        _mm_stream_si128((__m128i *)(void *)to + number, x);
    else
        _mm_storeu_si128((__m128i *)(void *)to + number, x);
}

/* ---- half ---------------------------------------------------------------------------------- */

HA_AVX2_INLINE_ void ha_step_half_to_float_avx2(char *to, const char *from, int past) {
    for (size_t i = 0; i < 2; i++)
        ha_store_avx2(to, i, _mm256_castps_si256(_mm256_cvtph_ps(ha_load_half_avx2(from, i))),
                      past);
}

HA_AVX2_INLINE_ void ha_step_float_to_half_avx2(char *to, const char *from, int past) {
    for (size_t i = 0; i < 2; i++)
        ha_store_half_avx2(to, i,
                           _mm256_cvtps_ph(_mm256_castsi256_ps(ha_load_avx2(from, i)),
                                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                           past);
}

/* Eight floats as doubles: exact, and no half is subnormal as a float. */
HA_AVX2_INLINE_ void ha_store_doubles_avx2(char *to, size_t i, __m256 x, int past) {
    const __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(x));
    const __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
    ha_store_avx2(to, 2 * i, _mm256_castpd_si256(low), past);
    ha_store_avx2(to, 2 * i + 1, _mm256_castpd_si256(high), past);
}

HA_AVX2_INLINE_ void ha_step_half_to_double_avx2(char *to, const char *from, int past) {
    for (size_t i = 0; i < 2; i++)
        ha_store_doubles_avx2(to, i, _mm256_cvtph_ps(ha_load_half_avx2(from, i)), past);
}

/* Four doubles as floats, rounded to odd: what float has no room for is cut off, and leaves its last bit
 * set when it was not zero. So the rounding that comes next, to fewer bits by two at least, sees on
 * which side of a middle the double was, and both together round once (S. Boldo, G. Melquiond,
 * "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008). What is
 * left fits into a float, so that converting it rounds nothing, unless it is below the normal floats:
 * a half is zero there, and bfloat16 must not come this way. Above the greatest float it is infinity or
 * the greatest, as the processor rounds: an infinite half in any case. */
HA_AVX2_INLINE_ __m128 ha_round_to_odd_avx2(__m256i x) {
    const __m256i dropped = _mm256_set1_epi64x(0x1fffffff);
    const __m256i carry = _mm256_add_epi64(_mm256_and_si256(x, dropped), dropped);
    const __m256i odd = _mm256_andnot_si256(dropped, _mm256_or_si256(x, carry));
    return _mm256_cvtpd_ps(_mm256_castsi256_pd(odd));
}

HA_AVX2_INLINE_ __m256 ha_load_doubles_avx2(const char *from, size_t i) {
    const __m128 low = ha_round_to_odd_avx2(ha_load_avx2(from, 2 * i));
    return _mm256_set_m128(ha_round_to_odd_avx2(ha_load_avx2(from, 2 * i + 1)), low);
}

HA_AVX2_INLINE_ void ha_step_double_to_half_avx2(char *to, const char *from, int past) {
    for (size_t i = 0; i < 2; i++)
        ha_store_half_avx2(to, i,
                           _mm256_cvtps_ph(ha_load_doubles_avx2(from, i),
                                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                           past);
}

/* ---- bfloat16 ------------------------------------------------------------------------------ */

/* All ones where a float is a NaN. */
HA_AVX2_INLINE_ __m256i ha_nan_avx2(__m256i x) {
    const __m256 floats = _mm256_castsi256_ps(x);
    return _mm256_castps_si256(_mm256_cmp_ps(floats, floats, _CMP_UNORD_Q));
}

HA_AVX2_INLINE_ __m256i ha_widen_bfloat16_avx2(__m128i b) {
    const __m256i x = _mm256_slli_epi32(_mm256_cvtepu16_epi32(b), 16);
    return _mm256_or_si256(x, _mm256_and_si256(ha_nan_avx2(x), _mm256_set1_epi32(0x400000)));
}

HA_AVX2_INLINE_ void ha_step_bfloat16_to_float_avx2(char *to, const char *from, int past) {
    for (size_t i = 0; i < 2; i++)
        ha_store_avx2(to, i, ha_widen_bfloat16_avx2(ha_load_half_avx2(from, i)), past);
}

/* Nonzero when one of sixteen is subnormal: the processor may take it for zero as a float. */
HA_AVX2_INLINE_ int ha_any_subnormal_avx2(__m256i b) {
    const __m256i magnitude = _mm256_and_si256(b, _mm256_set1_epi16(0x7fff));
    const __m256i small = _mm256_cmpgt_epi16(_mm256_set1_epi16(0x80), magnitude);
    const __m256i some = _mm256_cmpgt_epi16(magnitude, _mm256_setzero_si256());
    return !_mm256_testz_si256(small, some);
}

HA_AVX2_INLINE_ void ha_step_bfloat16_to_double_avx2(char *to, const char *from, int past) {
    if (__builtin_expect(ha_any_subnormal_avx2(ha_load_avx2(from, 0)), 0)) {
        ha_bfloat16_to_double_portable(to, from, HA_AVX2_WIDTH);
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        const __m256i x = ha_widen_bfloat16_avx2(ha_load_half_avx2(from, i));
        ha_store_doubles_avx2(to, i, _mm256_castsi256_ps(x), past);
    }
}

/* Eight floats; each result is in 32 bits. */
HA_AVX2_INLINE_ __m256i ha_round_bfloat16_avx2(__m256i x) {
    const __m256i upper = _mm256_srli_epi32(x, 16);
    const __m256i last = _mm256_and_si256(upper, _mm256_set1_epi32(1));
    const __m256i half = _mm256_add_epi32(_mm256_set1_epi32(0x7fff), last);
    const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(x, half), 16);
    const __m256i quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
    return _mm256_blendv_epi8(rounded, quiet, ha_nan_avx2(x));
}

HA_AVX2_INLINE_ void ha_store_bfloat16_avx2(char *to, __m256i low, __m256i high, int past) {
    const __m256i both = _mm256_packus_epi32(ha_round_bfloat16_avx2(low),
                                             ha_round_bfloat16_avx2(high));
    ha_store_avx2(to, 0, _mm256_permute4x64_epi64(both, 0xd8), past);
}

HA_AVX2_INLINE_ void ha_step_float_to_bfloat16_avx2(char *to, const char *from, int past) {
    ha_store_bfloat16_avx2(to, ha_load_avx2(from, 0), ha_load_avx2(from, 1), past);
}

/* Nonzero when one of sixteen doubles is not zero, but less than the normal floats. */
HA_AVX2_INLINE_ int ha_any_tiny_avx2(const char *from) {
    const __m256d zero = _mm256_setzero_pd(), sign = _mm256_set1_pd(-0.0);
    __m256d any = zero;
    for (size_t i = 0; i < 4; i++) {
        const __m256d x = _mm256_andnot_pd(sign, _mm256_castsi256_pd(ha_load_avx2(from, i)));
        const __m256d less = _mm256_cmp_pd(x, _mm256_set1_pd(0x1p-126), _CMP_LT_OQ);
        any = _mm256_or_pd(any, _mm256_and_pd(less, _mm256_cmp_pd(x, zero, _CMP_GT_OQ)));
    }
    return _mm256_movemask_pd(any);
}

HA_AVX2_INLINE_ void ha_step_double_to_bfloat16_avx2(char *to, const char *from, int past) {
    if (__builtin_expect(ha_any_tiny_avx2(from), 0)) {
        ha_double_to_bfloat16_portable(to, from, HA_AVX2_WIDTH);
        return;
    }
    ha_store_bfloat16_avx2(to, _mm256_castps_si256(ha_load_doubles_avx2(from, 0)),
                           _mm256_castps_si256(ha_load_doubles_avx2(from, 1)), past);
}

/* ---- whole arrays -------------------------------------------------------------------------- */

/* From so many bytes on, read and written together, results go past the caches, as memcpy's do: it does
 * not pay to have the old values of a line that is overwritten come from memory first. */
#ifndef HA_PAST_CACHES_ /* tests have less */
#define HA_PAST_CACHES_ (32 << 20)
#endif

/* The steps of `width` numbers, which fill whole vectors of 2 * width bytes. For what goes past the
 * caches these must be aligned: up to the first such place it goes into them. */
#define HA_CONVERT_X86_(target, name, step, width, From, To)                                       \
    HA_CONVERT_STEPS_(target, name##_cached, step, width, From, To)                                \
    target HA_IN_ void name(void *to, const void *from, size_t n) {                                \
        const char *f = (const char *)from;                                                        \
        char *t = (char *)to;                                                                      \
        const size_t ahead = (0 - (uintptr_t)to) % (2 * width);                                    \
        if (n < HA_PAST_CACHES_ / (sizeof(From) + sizeof(To)) || ahead % sizeof(To)) {             \
            name##_cached(to, from, n);                                                            \
            return;                                                                                \
        }                                                                                          \
        size_t i = ahead / sizeof(To);                                                             \
        name##_cached(t, f, i);                                                                    \
        for (; n - i >= width; i += width) step(t + i * sizeof(To), f + i * sizeof(From), 1);      \
        _mm_sfence();                                                                              \
        name##_cached(t + i * sizeof(To), f + i * sizeof(From), n - i);                            \
    }

#define HA_CONVERT_AVX2_(name, From, To)                                                           \
    HA_CONVERT_X86_(HA_AVX2_, ha_##name##_avx2, ha_step_##name##_avx2, HA_AVX2_WIDTH, From, To)
HA_CONVERT_AVX2_(half_to_float, uint16_t, float)
HA_CONVERT_AVX2_(half_to_double, uint16_t, double)
HA_CONVERT_AVX2_(float_to_half, float, uint16_t)
HA_CONVERT_AVX2_(double_to_half, double, uint16_t)
HA_CONVERT_AVX2_(bfloat16_to_float, uint16_t, float)
HA_CONVERT_AVX2_(bfloat16_to_double, uint16_t, double)
HA_CONVERT_AVX2_(float_to_bfloat16, float, uint16_t)
HA_CONVERT_AVX2_(double_to_bfloat16, double, uint16_t)

static const ha_conversions ha_conversions_avx2 = HA_CONVERSIONS_(avx2);
#endif

#endif
