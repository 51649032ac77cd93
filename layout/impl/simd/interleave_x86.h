/* Between records and rows (interleave.h) with AVX2 and AVX-512: blocks of 16 bytes of the records
 * as before, but two or four of them side by side in a vector, so that fewer and longer pieces of
 * the rows are read and written. */
#ifndef HARRAY_LAYOUT_IMPL_SIMD_INTERLEAVE_X86_H
#define HARRAY_LAYOUT_IMPL_SIMD_INTERLEAVE_X86_H

#include "interleave.h"

#if defined __x86_64__ && !defined HARRAY_NO_SIMD
#include <immintrin.h>

#define HA_INTERLEAVE_AVX2_ __attribute__((target("avx2")))
#define HA_INTERLEAVE_AVX512_ __attribute__((target("avx512f,avx2")))

/* Behind wide vectors, before anything else: what is left in their upper halves makes all SSE
 * instructions of the program wait for them from there on (four times as long for a loop over
 * structs). gcc 12 does not see to it where a function ends with a call. */
#define HA_END_OF_WIDE_() _mm256_zeroupper()

/* ---- vectors of several blocks --------------------------------------------------------------- */

/* 16 bytes here, and `apart` behind them, and … */
HA_INTERLEAVE_AVX2_ __attribute__((always_inline)) static inline __m256i ha_load_blocks_avx2(
    const char *from, int64_t apart) {
    const __m128i first = _mm_loadu_si128((const __m128i *)(const void *)from);
    const __m128i second = _mm_loadu_si128((const __m128i *)(const void *)(from + apart));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}
HA_INTERLEAVE_AVX2_ __attribute__((always_inline)) static inline void ha_store_blocks_avx2(
    char *to, int64_t apart, __m256i x) {
    _mm_storeu_si128((__m128i *)(void *)to, _mm256_castsi256_si128(x));
    _mm_storeu_si128((__m128i *)(void *)(to + apart), _mm256_extracti128_si256(x, 1));
}
HA_INTERLEAVE_AVX2_ __attribute__((always_inline)) static inline __m256i ha_load_row_avx2(
    const char *from) {
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}
HA_INTERLEAVE_AVX2_ __attribute__((always_inline)) static inline void ha_store_row_avx2(char *to,
                                                                                        __m256i x) {
    _mm256_storeu_si256((__m256i *)(void *)to, x);
}

HA_INTERLEAVE_AVX2_ __attribute__((always_inline)) static inline void ha_store_past_avx2(
    char *to, __m256i x) {
    _mm256_stream_si256((__m256i *)(void *)to, x);
}

HA_INTERLEAVE_AVX512_ __attribute__((always_inline)) static inline __m512i ha_load_blocks_avx512(
    const char *from, int64_t apart) {
    const __m512i low = _mm512_castsi256_si512(ha_load_blocks_avx2(from, apart));
    return _mm512_inserti64x4(low, ha_load_blocks_avx2(from + 2 * apart, apart), 1);
}
HA_INTERLEAVE_AVX512_ __attribute__((always_inline)) static inline void ha_store_blocks_avx512(
    char *to, int64_t apart, __m512i x) {
    ha_store_blocks_avx2(to, apart, _mm512_castsi512_si256(x));
    ha_store_blocks_avx2(to + 2 * apart, apart, _mm512_extracti64x4_epi64(x, 1));
}
HA_INTERLEAVE_AVX512_ __attribute__((always_inline)) static inline __m512i ha_load_row_avx512(
    const char *from) {
    return _mm512_loadu_si512(from);
}
HA_INTERLEAVE_AVX512_ __attribute__((always_inline)) static inline void ha_store_row_avx512(
    char *to, __m512i x) {
    _mm512_storeu_si512(to, x);
}

HA_INTERLEAVE_AVX512_ __attribute__((always_inline)) static inline void ha_store_past_avx512(
    char *to, __m512i x) {
    _mm512_stream_si512((__m512i *)(void *)to, x);
}

/* ---- interleaving ---------------------------------------------------------------------------- */

/* As ha_transpose_lanes_BYTES, in each block of 16 bytes. */
#define HA_TRANSPOSE_BYTES_WIDE_(target, isa, V, mm)                                               \
    target __attribute__((always_inline)) static inline void ha_transpose_lanes_4_##isa(V *x) {    \
        const V a = mm##_unpacklo_epi32(x[0], x[2]), b = mm##_unpackhi_epi32(x[0], x[2]);          \
        const V c = mm##_unpacklo_epi32(x[1], x[3]), d = mm##_unpackhi_epi32(x[1], x[3]);          \
        x[0] = mm##_unpacklo_epi32(a, c), x[1] = mm##_unpackhi_epi32(a, c);                        \
        x[2] = mm##_unpacklo_epi32(b, d), x[3] = mm##_unpackhi_epi32(b, d);                        \
    }                                                                                              \
    target __attribute__((always_inline)) static inline void ha_transpose_lanes_8_##isa(V *x) {    \
        const V a = mm##_unpacklo_epi64(x[0], x[1]);                                               \
        x[1] = mm##_unpackhi_epi64(x[0], x[1]);                                                    \
        x[0] = a;                                                                                  \
    }
HA_TRANSPOSE_BYTES_WIDE_(HA_INTERLEAVE_AVX2_, avx2, __m256i, _mm256)
HA_TRANSPOSE_BYTES_WIDE_(HA_INTERLEAVE_AVX512_, avx512, __m512i, _mm512)

/* What is in the last block and in the one before it is stored once. */
#define HA_GATHER_WIDE_(target, isa, V, width, bytes, name, store, others)                         \
    target HA_IN_ void name(const ha_interleave *w) {                                              \
        enum { n = 16 / bytes, lanes = width / bytes };                                            \
        if (w->lanes < lanes || w->leaves < n) {                                                   \
            ha_gather_##bytes##others(w);                                                          \
            return;                                                                                \
        }                                                                                          \
        const int64_t whole = w->lanes - w->lanes % lanes;                                         \
        for (int64_t i = 0; i < whole; i += lanes) {                                               \
            const char *from = w->record + i * w->step;                                            \
            if (w->ahead)                                                                          \
                for (int k = 0; k < lanes; k++)                                                    \
                    ha_interleave_ahead(from + k * w->step + w->ahead, w->leaves * bytes);         \
            for (int64_t f = 0; f < w->leaves; f += n) {                                           \
                int done = 0;                                                                      \
                V x[n];                                                                            \
                if (f > w->leaves - n) {                                                           \
                    done = (int)(f - (w->leaves - n));                                             \
                    f = w->leaves - n;                                                             \
                }                                                                                  \
                HA_UNROLL_ for (int k = 0; k < n; k++)                                             \
                    x[k] = ha_load_blocks_##isa(from + k * w->step + f * bytes, n * w->step);      \
                ha_transpose_lanes_##bytes##_##isa(x);                                             \
                HA_UNROLL_ for (int k = 0; k < n; k++) if (k >= done)                              \
                    store(w->row[f + k] + w->at + i * bytes, x[k]);                                \
            }                                                                                      \
        }                                                                                          \
        HA_END_OF_WIDE_();                                                                         \
        if (whole == w->lanes) return;                                                             \
        const ha_interleave rest = ha_interleave_rest(w, whole, bytes);                            \
        ha_gather_##bytes##others(&rest);                                                          \
    }
#define HA_INTERLEAVE_WIDE_(target, isa, V, width, bytes, others)                                  \
    HA_GATHER_WIDE_(target, isa, V, width, bytes, ha_gather_##bytes##_##isa, ha_store_row_##isa,   \
                    others)                                                                        \
    HA_GATHER_WIDE_(target, isa, V, width, bytes, ha_gather_##bytes##_past_##isa,                  \
                    ha_store_past_##isa, others)                                                   \
    target HA_IN_ void ha_scatter_##bytes##_##isa(const ha_interleave *w) {                        \
        enum { n = 16 / bytes, lanes = width / bytes };                                            \
        if (w->lanes < lanes || w->leaves < n) {                                                   \
            ha_scatter_##bytes##others(w);                                                         \
            return;                                                                                \
        }                                                                                          \
        const int64_t whole = w->lanes - w->lanes % lanes;                                         \
        for (int64_t i = 0; i < whole; i += lanes) {                                               \
            char *to = w->record + i * w->step;                                                    \
            if (w->ahead && i * bytes % 64 == 0)                                                   \
                for (int64_t f = 0; f < w->leaves; f++)                                            \
                    ha_interleave_ahead(w->row[f] + w->at + i * bytes + w->ahead, 1);              \
            for (int64_t f = 0; f < w->leaves; f += n) {                                           \
                if (f > w->leaves - n) f = w->leaves - n;                                          \
                V x[n];                                                                            \
                HA_UNROLL_ for (int k = 0; k < n; k++)                                             \
                    x[k] = ha_load_row_##isa(w->row[f + k] + w->at + i * bytes);                   \
                ha_transpose_lanes_##bytes##_##isa(x);                                             \
                HA_UNROLL_ for (int k = 0; k < n; k++)                                             \
                    ha_store_blocks_##isa(to + k * w->step + f * bytes, n * w->step, x[k]);        \
            }                                                                                      \
        }                                                                                          \
        HA_END_OF_WIDE_();                                                                         \
        if (whole == w->lanes) return;                                                             \
        const ha_interleave rest = ha_interleave_rest(w, whole, bytes);                            \
        ha_scatter_##bytes##others(&rest);                                                         \
    }
/* What is left behind whole vectors goes by shorter ones. */
HA_INTERLEAVE_WIDE_(HA_INTERLEAVE_AVX2_, avx2, __m256i, 32, 4, )
HA_INTERLEAVE_WIDE_(HA_INTERLEAVE_AVX2_, avx2, __m256i, 32, 8, )
HA_INTERLEAVE_WIDE_(HA_INTERLEAVE_AVX512_, avx512, __m512i, 64, 4, _avx2)
HA_INTERLEAVE_WIDE_(HA_INTERLEAVE_AVX512_, avx512, __m512i, 64, 8, _avx2)

/* ---- leaves of one byte ---------------------------------------------------------------------- */

/* 16 bytes as four by four: rows become columns. */
HA_INTERLEAVE_AVX2_ __attribute__((always_inline)) static inline __m256i ha_transpose_lanes_bytes(
    __m256i x) {
    return _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(_mm_setr_epi8(
                                      0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)));
}

/* Fewer than 16 leaves, four at a time, of eight lanes: what blocks of eight lanes have. */
HA_INTERLEAVE_AVX2_ HA_IN_ void ha_gather_few_1_avx2(const ha_interleave *w) {
    const int64_t whole = w->leaves < 4 ? 0 : w->lanes - w->lanes % 8, step = w->step;
    for (int64_t i = 0; i < whole; i += 8)
        for (int64_t f = 0; f < w->leaves; f += 4) {
            if (f > w->leaves - 4) f = w->leaves - 4;
            const char *from = w->record + i * step + f;
            ha_vector_4 half[2];
            uint64_t rows[4];
            __m256i x;
            HA_UNROLL_ for (int k = 0; k < 2; k++) half[k] = (ha_vector_4){
                ha_load_four(from + 4 * k * step), ha_load_four(from + (4 * k + 1) * step),
                ha_load_four(from + (4 * k + 2) * step), ha_load_four(from + (4 * k + 3) * step)};
            x = _mm256_inserti128_si256(_mm256_castsi128_si256((__m128i)half[0]), (__m128i)half[1],
                                        1);
            x = _mm256_permutevar8x32_epi32(ha_transpose_lanes_bytes(x),
                                            _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
            rows[0] = (uint64_t)_mm256_extract_epi64(x, 0);
            rows[1] = (uint64_t)_mm256_extract_epi64(x, 1);
            rows[2] = (uint64_t)_mm256_extract_epi64(x, 2);
            rows[3] = (uint64_t)_mm256_extract_epi64(x, 3);
            HA_UNROLL_ for (int k = 0; k < 4; k++) memcpy(w->row[f + k] + w->at + i, &rows[k], 8);
        }
    HA_END_OF_WIDE_();
    if (whole == w->lanes) return;
    const ha_interleave rest = ha_interleave_rest(w, whole, 1);
    ha_gather_each_1(&rest);
}
HA_INTERLEAVE_AVX2_ HA_IN_ void ha_scatter_few_1_avx2(const ha_interleave *w) {
    const int64_t whole = w->leaves < 4 ? 0 : w->lanes - w->lanes % 8;
    for (int64_t i = 0; i < whole; i += 8)
        for (int64_t f = 0; f < w->leaves; f += 4) {
            if (f > w->leaves - 4) f = w->leaves - 4;
            char *to = w->record + i * w->step + f;
            int64_t rows[4];
            ha_vector_4 half[2];
            HA_UNROLL_ for (int k = 0; k < 4; k++) memcpy(&rows[k], w->row[f + k] + w->at + i, 8);
            const __m256i x = ha_transpose_lanes_bytes(
                _mm256_permutevar8x32_epi32(_mm256_setr_epi64x(rows[0], rows[1], rows[2], rows[3]),
                                            _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7)));
            half[0] = (ha_vector_4)_mm256_castsi256_si128(x);
            half[1] = (ha_vector_4)_mm256_extracti128_si256(x, 1);
            HA_UNROLL_ for (int k = 0; k < 8; k++) {
                const uint32_t four = half[k / 4][k % 4];
                memcpy(to + k * w->step, &four, 4);
            }
        }
    HA_END_OF_WIDE_();
    if (whole == w->lanes) return;
    const ha_interleave rest = ha_interleave_rest(w, whole, 1);
    ha_scatter_each_1(&rest);
}

HA_INTERLEAVE_AVX2_ HA_IN_ void ha_gather_1_avx2(const ha_interleave *w) {
    if (w->leaves < 16 && w->lanes < 16)
        ha_gather_few_1_avx2(w);
    else
        ha_gather_bytes(w);
}
HA_INTERLEAVE_AVX2_ HA_IN_ void ha_scatter_1_avx2(const ha_interleave *w) {
    if (w->leaves < 16 && w->lanes < 16)
        ha_scatter_few_1_avx2(w);
    else
        ha_scatter_bytes(w);
}

/* ---- past the caches ------------------------------------------------------------------------- */

HA_INTERLEAVE_AVX2_ HA_IN_ void ha_lines_past_avx2(char *to, const char *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 32)
        _mm256_stream_si256((__m256i *)(void *)(to + i), ha_load_row_avx2(from + i));
}
HA_INTERLEAVE_AVX512_ HA_IN_ void ha_lines_past_avx512(char *to, const char *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 64)
        _mm512_stream_si512((__m512i *)(void *)(to + i), ha_load_row_avx512(from + i));
}

#define HA_INTERLEAVERS_(isa)                                                                      \
    {                                                                                              \
#isa, {ha_gather_1_avx2, ha_gather_2, ha_gather_4_##isa, ha_gather_8_##isa,                \
               ha_gather_each_16 },                                                                \
               {ha_scatter_1_avx2, ha_scatter_2, ha_scatter_4_##isa, ha_scatter_8_##isa,           \
                ha_scatter_each_16 },                                                              \
                {NULL, NULL, ha_gather_4_past_##isa, ha_gather_8_past_##isa, NULL },               \
                 ha_lines_past_##isa                                                               \
    }
static const ha_interleavers ha_interleavers_avx2 = HA_INTERLEAVERS_(avx2);
static const ha_interleavers ha_interleavers_avx512 = HA_INTERLEAVERS_(avx512);

HA_IN_ int ha_interleave_avx2(void) { return __builtin_cpu_supports("avx2") != 0; }
HA_IN_ int ha_interleave_avx512(void) {
    return ha_interleave_avx2() && __builtin_cpu_supports("avx512f") != 0;
}

HA_IN_ const ha_interleavers *ha_find_interleavers(void) {
    __builtin_cpu_init(); /* a constructor may copy before libgcc's own has run */
    return ha_interleave_avx512() ? &ha_interleavers_avx512
           : ha_interleave_avx2() ? &ha_interleavers_avx2
                                  : &ha_interleavers_portable;
}
#else
HA_IN_ const ha_interleavers *ha_find_interleavers(void) { return &ha_interleavers_portable; }
#endif

#endif
