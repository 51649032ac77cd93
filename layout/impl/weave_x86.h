/* Between records and rows (weave.h) with AVX2 and AVX-512: blocks of 16 bytes of the records as before,
 * but two or four of them side by side in a vector, so that fewer and longer pieces of the rows are read
 * and written. */
#ifndef HARRAY_LAYOUT_IMPL_WEAVE_X86_H
#define HARRAY_LAYOUT_IMPL_WEAVE_X86_H

#include "weave.h"

#if defined __x86_64__ && !defined HARRAY_NO_SIMD
#include <immintrin.h>

#define HA_WEAVE_AVX2 __attribute__((target("avx2")))
#define HA_WEAVE_AVX512 __attribute__((target("avx512f,avx2")))

/* ---- vectors of several blocks --------------------------------------------------------------- */

/* 16 bytes here, and `apart` behind them, and … */
HA_WEAVE_AVX2 __attribute__((always_inline)) static inline __m256i ha_load_blocks_avx2(
    const char *from, int64_t apart) {
    const __m128i first = _mm_loadu_si128((const __m128i *)(const void *)from);
    const __m128i second = _mm_loadu_si128((const __m128i *)(const void *)(from + apart));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}
HA_WEAVE_AVX2 __attribute__((always_inline)) static inline void ha_store_blocks_avx2(char *to,
                                                                                     int64_t apart,
                                                                                     __m256i x) {
    _mm_storeu_si128((__m128i *)(void *)to, _mm256_castsi256_si128(x));
    _mm_storeu_si128((__m128i *)(void *)(to + apart), _mm256_extracti128_si256(x, 1));
}
HA_WEAVE_AVX2 __attribute__((always_inline)) static inline __m256i ha_load_row_avx2(
    const char *from) {
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}
HA_WEAVE_AVX2 __attribute__((always_inline)) static inline void ha_store_row_avx2(char *to,
                                                                                  __m256i x) {
    _mm256_storeu_si256((__m256i *)(void *)to, x);
}

HA_WEAVE_AVX2 __attribute__((always_inline)) static inline void ha_store_past_avx2(char *to,
                                                                                   __m256i x) {
    _mm256_stream_si256((__m256i *)(void *)to, x);
}

HA_WEAVE_AVX512 __attribute__((always_inline)) static inline __m512i ha_load_blocks_avx512(
    const char *from, int64_t apart) {
    const __m512i low = _mm512_castsi256_si512(ha_load_blocks_avx2(from, apart));
    return _mm512_inserti64x4(low, ha_load_blocks_avx2(from + 2 * apart, apart), 1);
}
HA_WEAVE_AVX512 __attribute__((always_inline)) static inline void ha_store_blocks_avx512(
    char *to, int64_t apart, __m512i x) {
    ha_store_blocks_avx2(to, apart, _mm512_castsi512_si256(x));
    ha_store_blocks_avx2(to + 2 * apart, apart, _mm512_extracti64x4_epi64(x, 1));
}
HA_WEAVE_AVX512 __attribute__((always_inline)) static inline __m512i ha_load_row_avx512(
    const char *from) {
    return _mm512_loadu_si512(from);
}
HA_WEAVE_AVX512 __attribute__((always_inline)) static inline void ha_store_row_avx512(char *to,
                                                                                      __m512i x) {
    _mm512_storeu_si512(to, x);
}

HA_WEAVE_AVX512 __attribute__((always_inline)) static inline void ha_store_past_avx512(char *to,
                                                                                       __m512i x) {
    _mm512_stream_si512((__m512i *)(void *)to, x);
}

/* ---- weaving --------------------------------------------------------------------------------- */

/* As ha_turn_BYTES, in each block of 16 bytes. */
#define HA_TURN_WIDE(target, isa, V, mm)                                                           \
    target __attribute__((always_inline)) static inline void ha_turn_4_##isa(V *x) {               \
        const V a = mm##_unpacklo_epi32(x[0], x[2]), b = mm##_unpackhi_epi32(x[0], x[2]);          \
        const V c = mm##_unpacklo_epi32(x[1], x[3]), d = mm##_unpackhi_epi32(x[1], x[3]);          \
        x[0] = mm##_unpacklo_epi32(a, c), x[1] = mm##_unpackhi_epi32(a, c);                        \
        x[2] = mm##_unpacklo_epi32(b, d), x[3] = mm##_unpackhi_epi32(b, d);                        \
    }                                                                                              \
    target __attribute__((always_inline)) static inline void ha_turn_8_##isa(V *x) {               \
        const V a = mm##_unpacklo_epi64(x[0], x[1]);                                               \
        x[1] = mm##_unpackhi_epi64(x[0], x[1]);                                                    \
        x[0] = a;                                                                                  \
    }
HA_TURN_WIDE(HA_WEAVE_AVX2, avx2, __m256i, _mm256)
HA_TURN_WIDE(HA_WEAVE_AVX512, avx512, __m512i, _mm512)

/* What is in the last block and in the one before it is stored once. */
#define HA_GATHER_WIDE(target, isa, V, width, bytes, name, store)                                  \
    target static void name(const ha_weave *w) {                                                   \
        enum { n = 16 / bytes, lanes = width / bytes };                                            \
        const int64_t whole = w->leaves < n ? 0 : w->lanes - w->lanes % lanes;                     \
        for (int64_t i = 0; i < whole; i += lanes) {                                               \
            const char *from = w->record + i * w->step;                                            \
            if (w->ahead)                                                                          \
                for (int k = 0; k < lanes; k++)                                                    \
                    ha_weave_ahead(from + k * w->step + w->ahead, w->leaves * bytes);              \
            for (int64_t f = 0; f < w->leaves; f += n) {                                           \
                int done = 0;                                                                      \
                V x[n];                                                                            \
                if (f > w->leaves - n) {                                                           \
                    done = (int)(f - (w->leaves - n));                                             \
                    f = w->leaves - n;                                                             \
                }                                                                                  \
                HA_UNROLL for (int k = 0; k < n; k++)                                              \
                    x[k] = ha_load_blocks_##isa(from + k * w->step + f * bytes, n * w->step);      \
                ha_turn_##bytes##_##isa(x);                                                        \
                HA_UNROLL for (int k = 0; k < n; k++) if (k >= done)                               \
                    store(w->row[f + k] + w->at + i * bytes, x[k]);                                \
            }                                                                                      \
        }                                                                                          \
        const ha_weave rest = ha_weave_rest(w, whole, bytes);                                      \
        ha_gather_##bytes(&rest);                                                                  \
    }
#define HA_WEAVE_WIDE(target, isa, V, width, bytes)                                                \
    HA_GATHER_WIDE(target, isa, V, width, bytes, ha_gather_##bytes##_##isa, ha_store_row_##isa)    \
    HA_GATHER_WIDE(target, isa, V, width, bytes, ha_gather_##bytes##_past_##isa,                   \
                   ha_store_past_##isa)                                                            \
    target static void ha_scatter_##bytes##_##isa(const ha_weave *w) {                             \
        enum { n = 16 / bytes, lanes = width / bytes };                                            \
        const int64_t whole = w->leaves < n ? 0 : w->lanes - w->lanes % lanes;                     \
        for (int64_t i = 0; i < whole; i += lanes) {                                               \
            char *to = w->record + i * w->step;                                                    \
            if (w->ahead && i * bytes % 64 == 0)                                                   \
                for (int64_t f = 0; f < w->leaves; f++)                                            \
                    ha_weave_ahead(w->row[f] + w->at + i * bytes + w->ahead, 1);                   \
            for (int64_t f = 0; f < w->leaves; f += n) {                                           \
                if (f > w->leaves - n) f = w->leaves - n;                                          \
                V x[n];                                                                            \
                HA_UNROLL for (int k = 0; k < n; k++)                                              \
                    x[k] = ha_load_row_##isa(w->row[f + k] + w->at + i * bytes);                   \
                ha_turn_##bytes##_##isa(x);                                                        \
                HA_UNROLL for (int k = 0; k < n; k++)                                              \
                    ha_store_blocks_##isa(to + k * w->step + f * bytes, n * w->step, x[k]);        \
            }                                                                                      \
        }                                                                                          \
        const ha_weave rest = ha_weave_rest(w, whole, bytes);                                      \
        ha_scatter_##bytes(&rest);                                                                 \
    }
HA_WEAVE_WIDE(HA_WEAVE_AVX2, avx2, __m256i, 32, 4)
HA_WEAVE_WIDE(HA_WEAVE_AVX2, avx2, __m256i, 32, 8)
HA_WEAVE_WIDE(HA_WEAVE_AVX512, avx512, __m512i, 64, 4)
HA_WEAVE_WIDE(HA_WEAVE_AVX512, avx512, __m512i, 64, 8)

/* ---- past the caches ------------------------------------------------------------------------- */

HA_WEAVE_AVX2 static void ha_lines_past_avx2(char *to, const char *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 32)
        _mm256_stream_si256((__m256i *)(void *)(to + i), ha_load_row_avx2(from + i));
}
HA_WEAVE_AVX512 static void ha_lines_past_avx512(char *to, const char *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 64)
        _mm512_stream_si512((__m512i *)(void *)(to + i), ha_load_row_avx512(from + i));
}

#define HA_WEAVERS(isa)                                                                            \
    {                                                                                              \
#isa, {ha_gather_bytes, ha_gather_2, ha_gather_4_##isa, ha_gather_8_##isa,                 \
               ha_gather_each_16 },                                                                \
               {ha_scatter_bytes, ha_scatter_2, ha_scatter_4_##isa, ha_scatter_8_##isa,            \
                ha_scatter_each_16 },                                                              \
                {NULL, NULL, ha_gather_4_past_##isa, ha_gather_8_past_##isa, NULL },               \
                 ha_lines_past_##isa                                                               \
    }
static const ha_weavers ha_weavers_avx2 = HA_WEAVERS(avx2);
static const ha_weavers ha_weavers_avx512 = HA_WEAVERS(avx512);

static int ha_weaves_avx2(void) { return __builtin_cpu_supports("avx2") != 0; }
static int ha_weaves_avx512(void) {
    return ha_weaves_avx2() && __builtin_cpu_supports("avx512f") != 0;
}

static const ha_weavers *ha_find_weavers(void) {
    __builtin_cpu_init(); /* a constructor may copy before libgcc's own has run */
    return ha_weaves_avx512() ? &ha_weavers_avx512
           : ha_weaves_avx2() ? &ha_weavers_avx2
                              : &ha_weavers_portable;
}
#else
static const ha_weavers *ha_find_weavers(void) { return &ha_weavers_portable; }
#endif

#endif
