/* Conversions between integers, and from doubles to integers, of many numbers: whether all fit is found
 * out first, for all at once, and then nothing has to be looked at.
 *
 * What is done to each number is the same and has no branch, and loops have a length that compilers
 * know: so gcc makes vectors of them at -O2, too. */
#ifndef HARRAY_LAYOUT_IMPL_CONVERT_BLOCKS_H
#define HARRAY_LAYOUT_IMPL_CONVERT_BLOCKS_H

#include "portable.h"
#include "../../dtype.h"

enum { HA_BLOCK = 64 };

/* ---- types ---------------------------------------------------------------------------------- */

HA_IN_ int ha_is_integer(ha_dtype scalar) {
    const ha_number_kind sort = ha_dtype_kind(scalar);
    return sort == HA_KIND_SIGNED || sort == HA_KIND_UNSIGNED;
}

/* ---- loops ---------------------------------------------------------------------------------- */

/* As HA_CONVERT_EACH_, of what is simple enough for vectors. */
#define HA_CONVERT_ONE_(function, From, To, i)                                                     \
    do {                                                                                           \
        From x_;                                                                                   \
        memcpy(&x_, f + (i) * sizeof x_, sizeof x_);                                               \
        const To y_ = (To)function(x_);                                                            \
        memcpy(t + (i) * sizeof y_, &y_, sizeof y_);                                               \
    } while (0)
#define HA_CONVERT_BLOCKS_(...) HA_CONVERT_BLOCKS_BY_(, HA_BLOCK, __VA_ARGS__)
#define HA_CONVERT_BLOCKS_BY_(target, block, name, function, From, To)                             \
    target HA_IN_ void name(void *__restrict to, const void *__restrict from, size_t n) {          \
        const char *__restrict f = (const char *)from;                                             \
        char *__restrict t = (char *)to;                                                           \
        for (; n >= block; n -= block) {                                                           \
            for (size_t i = 0; i < block; i++) HA_CONVERT_ONE_(function, From, To, i);             \
            f += block * sizeof(From);                                                             \
            t += block * sizeof(To);                                                               \
        }                                                                                          \
        for (size_t i = 0; i < n; i++) HA_CONVERT_ONE_(function, From, To, i);                     \
    }

/* ---- integers to integers ------------------------------------------------------------------- */

/* (All numbers + bias) with a bit set in any of them from `bits` on. */
#define HA_ANY_BEYOND_(T)                                                                          \
    HA_IN_ int ha_any_beyond_##T(const void *from, size_t n, uint64_t bias, int bits) {            \
        const char *f = (const char *)from;                                                        \
        const T more = (T)bias;                                                                    \
        T x, seen = 0;                                                                             \
        for (; n >= HA_BLOCK; n -= HA_BLOCK, f += HA_BLOCK * sizeof x)                             \
            for (size_t i = 0; i < HA_BLOCK; i++) {                                                \
                memcpy(&x, f + i * sizeof x, sizeof x);                                            \
                seen = (T)(seen | (T)(x + more));                                                  \
            }                                                                                      \
        for (size_t i = 0; i < n; i++) {                                                           \
            memcpy(&x, f + i * sizeof x, sizeof x);                                                \
            seen = (T)(seen | (T)(x + more));                                                      \
        }                                                                                          \
        return seen >> bits != 0;                                                                  \
    }
HA_ANY_BEYOND_(uint8_t)
HA_ANY_BEYOND_(uint16_t)
HA_ANY_BEYOND_(uint32_t)
HA_ANY_BEYOND_(uint64_t)

/* Whether all integers of a type can be of another one. Those of `width` bits that are signed fit less
 * signed ones when they are, moved by half of those, below all of them. */
HA_IN_ int ha_integers_fit(ha_dtype to_type, const void *from, ha_dtype from_type, size_t n) {
    const int width = (int)(8 * ha_dtype_size(from_type)),
              to_width = (int)(8 * ha_dtype_size(to_type));
    const int is_signed = ha_dtype_kind(from_type) == HA_KIND_SIGNED;
    const int to_signed = ha_dtype_kind(to_type) == HA_KIND_SIGNED;
    int bits = to_width - (to_signed && !is_signed);
    if (is_signed && !to_signed && bits > width - 1) bits = width - 1; /* not negative */
    if (bits >= width) return 1;
    const uint64_t bias = is_signed && to_signed ? (uint64_t)1 << (to_width - 1) : 0;
    switch (width) {
    case 8:
        return !ha_any_beyond_uint8_t(from, n, bias, bits);
    case 16:
        return !ha_any_beyond_uint16_t(from, n, bias, bits);
    case 32:
        return !ha_any_beyond_uint32_t(from, n, bias, bits);
    default:
        return !ha_any_beyond_uint64_t(from, n, bias, bits);
    }
}

/* Integers that fit keep their lower bytes, whatever their signs; further ones are those of their sign. */
HA_CONVERT_BLOCKS_(ha_narrow_2_1, , uint16_t, uint8_t)
HA_CONVERT_BLOCKS_(ha_narrow_4_1, , uint32_t, uint8_t)
HA_CONVERT_BLOCKS_(ha_narrow_8_1, , uint64_t, uint8_t)
HA_CONVERT_BLOCKS_(ha_narrow_4_2, , uint32_t, uint16_t)
HA_CONVERT_BLOCKS_(ha_narrow_8_2, , uint64_t, uint16_t)
HA_CONVERT_BLOCKS_(ha_narrow_8_4, , uint64_t, uint32_t)
HA_CONVERT_BLOCKS_(ha_widen_1_2, , uint8_t, uint16_t)
HA_CONVERT_BLOCKS_(ha_widen_1_4, , uint8_t, uint32_t)
HA_CONVERT_BLOCKS_(ha_widen_1_8, , uint8_t, uint64_t)
HA_CONVERT_BLOCKS_(ha_widen_2_4, , uint16_t, uint32_t)
HA_CONVERT_BLOCKS_(ha_widen_2_8, , uint16_t, uint64_t)
HA_CONVERT_BLOCKS_(ha_widen_4_8, , uint32_t, uint64_t)
HA_CONVERT_BLOCKS_(ha_widen_signed_1_2, , int8_t, int16_t)
HA_CONVERT_BLOCKS_(ha_widen_signed_1_4, , int8_t, int32_t)
HA_CONVERT_BLOCKS_(ha_widen_signed_1_8, , int8_t, int64_t)
HA_CONVERT_BLOCKS_(ha_widen_signed_2_4, , int16_t, int32_t)
HA_CONVERT_BLOCKS_(ha_widen_signed_2_8, , int16_t, int64_t)
HA_CONVERT_BLOCKS_(ha_widen_signed_4_8, , int32_t, int64_t)

/* Of integers that fit. */
HA_IN_ void ha_integers_to_integers(void *to, ha_dtype to_type, const void *from,
                                    ha_dtype from_type, size_t n) {
    /* by the binary logarithms of the sizes, from and to */
    static ha_conversion *const without_sign[4][4] = {
        {NULL, ha_widen_1_2, ha_widen_1_4, ha_widen_1_8},
        {ha_narrow_2_1, NULL, ha_widen_2_4, ha_widen_2_8},
        {ha_narrow_4_1, ha_narrow_4_2, NULL, ha_widen_4_8},
        {ha_narrow_8_1, ha_narrow_8_2, ha_narrow_8_4, NULL}};
    static ha_conversion *const with_sign[4][4] = {
        {NULL, ha_widen_signed_1_2, ha_widen_signed_1_4, ha_widen_signed_1_8},
        {ha_narrow_2_1, NULL, ha_widen_signed_2_4, ha_widen_signed_2_8},
        {ha_narrow_4_1, ha_narrow_4_2, NULL, ha_widen_signed_4_8},
        {ha_narrow_8_1, ha_narrow_8_2, ha_narrow_8_4, NULL}};
    const int f = __builtin_ctzll(ha_dtype_size(from_type));
    const int t = __builtin_ctzll(ha_dtype_size(to_type));
    const int is_signed = ha_dtype_kind(from_type) == HA_KIND_SIGNED;
    if (f == t)
        memcpy(to, from, n * ha_dtype_size(to_type));
    else
        (is_signed ? with_sign : without_sign)[f][t](to, from, n);
}

/* ---- doubles to integers -------------------------------------------------------------------- */

/* Of -2^63 <= x < 2^63: to the nearest, of two equally near ones to the even. */
HA_IN_ int64_t ha_nearest_int64(double x) {
    const int64_t below = (int64_t)x; /* towards 0 */
    const double rest = x - (double)below;
    const int is_odd = (int)(below & 1);
    return below + (rest > 0.5 || (rest == 0.5 && is_odd)) -
           (rest < -0.5 || (rest == -0.5 && is_odd));
}

/* Of -0.5 <= x < 2^64. From 2^63 on these are integers. */
HA_IN_ uint64_t ha_nearest_uint64(double x) {
    return x < 0x1p63 ? (uint64_t)ha_nearest_int64(x) : (uint64_t)x;
}

/* What processors are told to do, and hardly ever told otherwise. */
HA_IN_ int ha_rounds_to_nearest(void) {
    const volatile double large = 0x1p53, one = 1, three = 3;
    return large + one == 0x1p53 && large + three == 0x1p53 + 4 && -large - one == -0x1p53;
}

/* Of |x| < 2^51, when the processor rounds to nearest: the sum has no place for a fraction, and its
 * lower bits are those of the integer, above which there are always the same. */
static inline uint64_t ha_nearest_by_sum(double x) {
    const double sum = x + 0x1.8p52;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return bits - 0x4338000000000000u;
}

typedef double ha_two_doubles __attribute__((vector_size(16)));
typedef uint64_t ha_two_counts __attribute__((vector_size(16)));

/* Whether all are in [least, end); none that is no number is. (In vectors by hand, for gcc makes none of
 * this; and it counts, for of masks that are gathered by and gcc makes numbers one by one.) */
HA_IN_ int ha_doubles_between(const double *x, size_t n, double least, double end) {
    const ha_two_doubles low = {least, least}, high = {end, end};
    ha_two_counts holding = {0, 0}; /* what holds counts as -1 */
    const size_t pairs = n / 2;
    for (size_t i = 0; i < pairs; i++) {
        ha_two_doubles two;
        memcpy(&two, x + 2 * i, sizeof two);
        holding += (ha_two_counts)(two >= low);
        holding += (ha_two_counts)(two < high);
    }
    if (holding[0] + holding[1] + 4 * pairs != 0) return 0;
    return n % 2 == 0 || (x[n - 1] >= least && x[n - 1] < end);
}

/* Whether all, rounded, are integers of the type. Halves of what is even are rounded to that, those of
 * what is odd are not: the least of each type is even, the greatest odd. */
HA_IN_ int ha_doubles_fit(ha_dtype type, const double *x, size_t n) {
    const int width = (int)(8 * ha_dtype_size(type));
    const int is_signed = ha_dtype_kind(type) == HA_KIND_SIGNED;
    const double end = (double)((uint64_t)1 << (width - 1)) * (is_signed ? 1 : 2);
    if (width == 64) return ha_doubles_between(x, n, is_signed ? -end : -0.5, end);
    return ha_doubles_between(x, n, (is_signed ? -end : 0) - 0.5, end - 0.5);
}

/* Of doubles that fit. */
#define HA_FROM_DOUBLES_(T, nearest)                                                               \
    HA_CONVERT_BLOCKS_(ha_double_to_##T##_by_sum, ha_nearest_by_sum, double, T)                    \
    HA_CONVERT_BLOCKS_(ha_double_to_##T##_slowly, nearest, double, T)
HA_FROM_DOUBLES_(int8_t, ha_nearest_int64)
HA_FROM_DOUBLES_(int16_t, ha_nearest_int64)
HA_FROM_DOUBLES_(int32_t, ha_nearest_int64)
HA_FROM_DOUBLES_(int64_t, ha_nearest_int64)
HA_CONVERT_BLOCKS_(ha_double_to_uint64_t_slowly, ha_nearest_uint64, double, uint64_t)

/* Up to 32 bits. Signed or not, the lower bytes are the same. */
HA_IN_ void ha_doubles_to_narrow(void *to, size_t size, const double *from, size_t n) {
    static ha_conversion *const conversions[2][3] = {
        {ha_double_to_int8_t_slowly, ha_double_to_int16_t_slowly, ha_double_to_int32_t_slowly},
        {ha_double_to_int8_t_by_sum, ha_double_to_int16_t_by_sum, ha_double_to_int32_t_by_sum}};
    conversions[ha_rounds_to_nearest()][__builtin_ctzll(size)](to, from, n);
}

/* Of 64 bits: those of a block that are not all small go the long way. */
HA_IN_ void ha_doubles_to_wide(void *to, int is_signed, const double *from, size_t n) {
    const int quickly = ha_rounds_to_nearest();
    char *t = (char *)to;
    for (size_t piece; n; n -= piece, from += piece, t += piece * sizeof(uint64_t)) {
        piece = n < HA_BLOCK ? n : HA_BLOCK;
        if (quickly && ha_doubles_between(from, piece, -0x1p51, 0x1p51))
            ha_double_to_int64_t_by_sum(t, from, piece);
        else if (is_signed)
            ha_double_to_int64_t_slowly(t, from, piece);
        else
            ha_double_to_uint64_t_slowly(t, from, piece);
    }
}

/* Returns whether all fit; if not, nothing was written. */
HA_IN_ int ha_doubles_to_integers(void *to, ha_dtype type, const double *from, size_t n) {
    if (!ha_doubles_fit(type, from, n)) return 0;
    if (ha_dtype_size(type) == 8)
        ha_doubles_to_wide(to, ha_dtype_kind(type) == HA_KIND_SIGNED, from, n);
    else
        ha_doubles_to_narrow(to, ha_dtype_size(type), from, n);
    return 1;
}

#endif
