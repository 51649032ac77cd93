/* Random numbers: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, SC11), and
 * what is made of its bits.
 *
 * The block of a counter has 128 bits, of which come n numbers of 128/n: number k is of the block k/n. An element of so
 * many parts has as many of them, one after the other. So each element is made of its place and the seed alone, and
 * no bits are thrown away but by types that have no use for them. */
#ifndef HARRAY_IMPL_OPS_RANDOM_H
#define HARRAY_IMPL_OPS_RANDOM_H

#include "../kernels/all.h"
#include "types.h"

#include <math.h>

/* Bits of number k, the lowest ones: what is above them has no meaning. n is 2, 4, 8 or 16. */
HA_DEVICE_CODE(
    ha_random_bits, HA_FN uint64_t ha_random_bits_(uint64_t k, int n, uint64_t seed) {
        const uint64_t block = k / (uint64_t)n;
        const int place = (int)(k % (uint64_t)n), of_word = n / 2;
        uint32_t c0 = (uint32_t)block, c1 = (uint32_t)(block >> 32), c2 = 0, c3 = 0;
        uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
        for (int round = 0; round < 10; round++) {
            const uint64_t p = (uint64_t)c0 * 0xD2511F53u, q = (uint64_t)c2 * 0xCD9E8D57u;
            c0 = (uint32_t)(q >> 32) ^ c1 ^ k0;
            c1 = (uint32_t)q;
            c2 = (uint32_t)(p >> 32) ^ c3 ^ k1;
            c3 = (uint32_t)p;
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        return (place < of_word ? c0 | (uint64_t)c1 << 32 : c2 | (uint64_t)c3 << 32) >>
               (place % of_word * (128 / n));
    });

/* Blocks that follow each other, by the same rounds: side by side in vectors of 16 bytes, whose lanes have 64 bits for a word of 32.
 * What is above a word has no meaning until the end: products take words alone, and of these the half above is moved down. */
enum { HA_RANDOM_BLOCKS_ = 8, HA_RANDOM_VECTORS_ = HA_RANDOM_BLOCKS_ / 2 };
typedef uint64_t ha_random_vector __attribute__((vector_size(16)));

/* Gcc does not see that a product of words is one instruction. */
#if defined __SSE2__ && !defined __clang__
typedef int ha_random_words __attribute__((vector_size(16)));
#define HA_RANDOM_PRODUCT_(x, factor)                                                              \
    ((ha_random_vector)__builtin_ia32_pmuludq128(                                                  \
        (ha_random_words)(x), (ha_random_words)(ha_random_vector){factor, factor}))
#else
#define HA_RANDOM_PRODUCT_(x, factor) (((x)&UINT32_MAX) * (uint64_t)(factor))
#endif

/* A lane is a block. */
typedef struct ha_random_state {
    ha_random_vector c[4];
} ha_random_state;

HA_FAST_ ha_random_state ha_random_round(ha_random_state s, uint32_t k0, uint32_t k1) {
    const ha_random_vector p = HA_RANDOM_PRODUCT_(s.c[0], 0xD2511F53u),
                           q = HA_RANDOM_PRODUCT_(s.c[2], 0xCD9E8D57u);
    return (ha_random_state){{q >> 32 ^ s.c[1] ^ k0, q, p >> 32 ^ s.c[3] ^ k1, p}};
}

HA_IN_ void ha_random_blocks(uint64_t *words, uint64_t first, uint64_t seed) {
    ha_random_state s[HA_RANDOM_VECTORS_];
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    HA_UNROLL_ for (int v = 0; v < HA_RANDOM_VECTORS_; v++) {
        const ha_random_vector counter = {first + (uint64_t)(2 * v), first + (uint64_t)(2 * v + 1)};
        s[v] = (ha_random_state){{counter, counter >> 32, {0}, {0}}};
    }
    for (int round = 0; round < 10; round++) {
        HA_UNROLL_ for (int v = 0; v < HA_RANDOM_VECTORS_; v++)
            s[v] = ha_random_round(s[v], k0, k1);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    HA_UNROLL_ for (int v = 0; v < HA_RANDOM_VECTORS_; v++) {
        const ha_random_vector low = (s[v].c[0] & UINT32_MAX) | s[v].c[1] << 32,
                               high = (s[v].c[2] & UINT32_MAX) | s[v].c[3] << 32;
        HA_UNROLL_ for (int lane = 0; lane < 2; lane++) {
            words[4 * v + 2 * lane] = low[lane];
            words[4 * v + 2 * lane + 1] = high[lane];
        }
    }
}

/* Number k of these blocks: in each word of 64 bits the lowest bits are those of the first one. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define HA_RANDOM_PLACE_(k, n) ((k) ^ (unsigned)((n) / 2 - 1))
#else
#define HA_RANDOM_PLACE_(k, n) (k)
#endif
#define HA_RANDOM_NUMBER_(bits, n)                                                                 \
    HA_IN_ uint##bits##_t ha_random_number_##n(const uint64_t *words, unsigned k) {                \
        uint##bits##_t number;                                                                     \
        memcpy(&number, (const char *)words + HA_RANDOM_PLACE_(k, n) * sizeof number,              \
               sizeof number);                                                                     \
        return number;                                                                             \
    }
HA_RANDOM_NUMBER_(64, 2)
HA_RANDOM_NUMBER_(32, 4)
HA_RANDOM_NUMBER_(16, 8)
HA_RANDOM_NUMBER_(8, 16)

/* X(T, n, parts, expression) of BITS(n, parts, p), the bits of part p of the element. */
#define HA_RANDOM_OF_INTEGERS_(X, BITS, T, n) X(T, n, 1, (T)BITS(n, 1, 0))
#define HA_RANDOM_OF_float_(bits) (float)((uint32_t)(bits) >> 8) * 0x1p-24f
#define HA_RANDOM_OF_double_(bits) (double)((bits) >> 11) * 0x1p-53
#define HA_RANDOM_OF_TYPES_(X, BITS)                                                               \
    HA_RANDOM_OF_INTEGERS_(X, BITS, int8_t, 16)                                                    \
    HA_RANDOM_OF_INTEGERS_(X, BITS, int16_t, 8)                                                    \
    HA_RANDOM_OF_INTEGERS_(X, BITS, int32_t, 4)                                                    \
    HA_RANDOM_OF_INTEGERS_(X, BITS, int64_t, 2)                                                    \
    HA_RANDOM_OF_INTEGERS_(X, BITS, uint8_t, 16)                                                   \
    HA_RANDOM_OF_INTEGERS_(X, BITS, uint16_t, 8)                                                   \
    HA_RANDOM_OF_INTEGERS_(X, BITS, uint32_t, 4)                                                   \
    HA_RANDOM_OF_INTEGERS_(X, BITS, uint64_t, 2)                                                   \
    HA_IF_float_(X(float, 4, 1, HA_RANDOM_OF_float_(BITS(4, 1, 0))))                               \
        HA_IF_double_(X(double, 2, 1, HA_RANDOM_OF_double_(BITS(2, 1, 0)))) HA_IF_ha_c64_(X(       \
            ha_c64, 4, 2,                                                                          \
            ha_c64_make(HA_RANDOM_OF_float_(BITS(4, 2, 0)), HA_RANDOM_OF_float_(BITS(4, 2, 1)))))  \
            HA_IF_ha_c128_(X(ha_c128, 2, 2,                                                        \
                             ha_c128_make(HA_RANDOM_OF_double_(BITS(2, 2, 0)),                     \
                                          HA_RANDOM_OF_double_(BITS(2, 2, 1)))))

/* Of half and bfloat16, as float: so many bits are `kept` of 16 that nothing is rounded up to 1. */
#define HA_RANDOM_OF_SMALL_(X, BITS)                                                               \
    HA_IF_float_(X(float, 8, 1, (float)((uint32_t)BITS(8, 1, 0) & kept) * 0x1p-16f))

/* Box and Muller: of two numbers, the first of which is not 0, by the distance from 0 and the angle. */
#define HA_DISTANCE_OF_float_(bits)                                                                \
    sqrtf(-2 * logf((float)(((uint32_t)(bits) >> 8) + 1) * 0x1p-24f))
#define HA_ANGLE_OF_float_(bits) (float)((uint32_t)(bits) >> 8) * 0x1.921fb6p-22f
#define HA_DISTANCE_OF_double_(bits) sqrt(-2 * log((double)(((bits) >> 11) + 1) * 0x1p-53))
#define HA_ANGLE_OF_double_(bits) (double)((bits) >> 11) * 0x1.921fb54442d18p-51
#define HA_NORMAL_PART_(T, f, n, BITS)                                                             \
    HA_DISTANCE_OF_##T##_(BITS(n, 2, 0)) * f(HA_ANGLE_OF_##T##_(BITS(n, 2, 1)))
#define HA_NORMAL_OF_TYPES_(X, BITS)                                                               \
    HA_IF_float_(X(float, 4, 2, HA_NORMAL_PART_(float, cosf, 4, BITS)))                            \
        HA_IF_double_(X(double, 2, 2, HA_NORMAL_PART_(double, cos, 2, BITS)))                      \
            HA_IF_ha_c64_(X(ha_c64, 4, 2,                                                          \
                            ha_c64_make(HA_NORMAL_PART_(float, cosf, 4, BITS),                     \
                                        HA_NORMAL_PART_(float, sinf, 4, BITS))))                   \
                HA_IF_ha_c128_(X(ha_c128, 2, 2,                                                    \
                                 ha_c128_make(HA_NORMAL_PART_(double, cos, 2, BITS),               \
                                              HA_NORMAL_PART_(double, sin, 2, BITS))))

/* The bits of the element at place `at`. */
#define HA_RANDOM_BITS_AT_(n, parts, p) ha_random_bits_((uint64_t)at *parts + p, n, seed)

#endif
