/* Vectors of 16 bytes, for every processor that has some: turning blocks of values around, and writing
 * past the caches. */
#ifndef HARRAY_LAYOUT_IMPL_SIMD_VECTORS_H
#define HARRAY_LAYOUT_IMPL_SIMD_VECTORS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../../status.h"

/* ---- past the caches ------------------------------------------------------------------------ */

typedef uint64_t ha_vector __attribute__((vector_size(16)));

HA_UNUSED static inline ha_vector ha_vector_load(const char *from) {
    ha_vector v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* No immintrin.h, which takes long to compile. */
#if defined __x86_64__ && !defined __clang__
typedef long long ha_streamed __attribute__((vector_size(16)));
#define HA_STORE_PAST_(to, v) __builtin_ia32_movntdq((ha_streamed *)(void *)(to), (ha_streamed)(v))
#define HA_STORE_PAST_END_() __builtin_ia32_sfence()
#elif defined __x86_64__
#define HA_STORE_PAST_(to, v) __builtin_nontemporal_store(v, (ha_vector *)(void *)(to))
#define HA_STORE_PAST_END_() __builtin_ia32_sfence()
#endif

/* Copies whole lines to the address of one, past the caches. */
HA_UNUSED static inline void ha_lines_past(char *to, const char *from, size_t bytes) {
#ifdef HA_STORE_PAST_
    for (; bytes; to += 64, from += 64, bytes -= 64)
        for (size_t i = 0; i < 64; i += 16) HA_STORE_PAST_(to + i, ha_vector_load(from + i));
#else
    memcpy(to, from, bytes);
#endif
}

HA_UNUSED HA_IN_ void ha_rows_past_end(void) {
#ifdef HA_STORE_PAST_
    HA_STORE_PAST_END_();
#endif
}

/* ---- blocks of vectors ---------------------------------------------------------------------- */

#ifdef __clang__
#define HA_SHUFFLE_(V, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define HA_UNROLL_ _Pragma("clang loop unroll(full)")
#else
#define HA_SHUFFLE_(V, a, b, ...) __builtin_shuffle(a, b, (V){__VA_ARGS__})
#define HA_UNROLL_ _Pragma("GCC unroll 16")
#endif

/* ha_transpose_lanes_BYTES: as many vectors as one has lanes, rows become columns. Each round pairs
 * row i with the one half of all further down, and lays their elements out in turns: after
 * log2(lanes) rounds each element is where it belongs. */
#define HA_TRANSPOSE_BYTES_(bytes, T, low, high)                                                   \
    typedef T ha_vector_##bytes __attribute__((vector_size(16)));                                  \
    HA_UNUSED                                                                                      \
    __attribute__((always_inline)) static inline void ha_transpose_lanes_##bytes(                  \
        ha_vector_##bytes *x) {                                                                    \
        enum { lanes = 16 / bytes };                                                               \
        ha_vector_##bytes y[lanes];                                                                \
        HA_UNROLL_ for (int round = 1; round < lanes; round *= 2) {                                \
            HA_UNROLL_ for (int i = 0; i < lanes / 2; i++) {                                       \
                y[2 * i] = HA_SHUFFLE_(ha_vector_##bytes, x[i], x[i + lanes / 2], HA_BARE_ low);   \
                y[2 * i + 1] = HA_SHUFFLE_(ha_vector_##bytes, x[i], x[i + lanes / 2],              \
                                           HA_BARE_ high);                                         \
            }                                                                                      \
            HA_UNROLL_ for (int i = 0; i < lanes; i++) x[i] = y[i];                                \
        }                                                                                          \
    }
#define HA_BARE_(...) __VA_ARGS__
HA_TRANSPOSE_BYTES_(1, uint8_t, (0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
                    (8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31))
HA_TRANSPOSE_BYTES_(2, uint16_t, (0, 8, 1, 9, 2, 10, 3, 11), (4, 12, 5, 13, 6, 14, 7, 15))
HA_TRANSPOSE_BYTES_(4, uint32_t, (0, 4, 1, 5), (2, 6, 3, 7))
HA_TRANSPOSE_BYTES_(8, uint64_t, (0, 2), (1, 3))

#endif
