/* Values as the bits that bitint and bitfloat store of them, and back. */
#ifndef HARRAY_LAYOUT_IMPL_VALUES_BIT_VALUES_H
#define HARRAY_LAYOUT_IMPL_VALUES_BIT_VALUES_H

#include "bits.h"
#include "coding.h"

/* ---- integers -------------------------------------------------------------------------------- */

/* Signed ones: the sign, and the lowest of the other bits. */
#define HA_SIGNED_BITS_(j)                                                                         \
    do {                                                                                           \
        T x;                                                                                       \
        memcpy(&x, values + (j) * (int64_t)sizeof x, sizeof x);                                    \
        code[j] = ((uint64_t)(int64_t)x & low) | (x < 0 ? sign : 0);                               \
    } while (0)
#define HA_SIGNED_VALUE_(j)                                                                        \
    do {                                                                                           \
        const T x = (T)((int64_t)(code[j] << left) >> left);                                       \
        memcpy(values + (j) * (int64_t)sizeof x, &x, sizeof x);                                    \
    } while (0)
#define HA_UNSIGNED_BITS_(j)                                                                       \
    do {                                                                                           \
        T x;                                                                                       \
        memcpy(&x, values + (j) * (int64_t)sizeof x, sizeof x);                                    \
        code[j] = x & mask;                                                                        \
    } while (0)
#define HA_UNSIGNED_VALUE_(j)                                                                      \
    do {                                                                                           \
        const T x = (T)code[j];                                                                    \
        memcpy(values + (j) * (int64_t)sizeof x, &x, sizeof x);                                    \
    } while (0)

#define HA_SIGNED_CODES_(Type)                                                                     \
    HA_IN_ void ha_##Type##_to_bits(uint64_t *code, const char *values, int64_t n, int bits) {     \
        typedef Type T;                                                                            \
        const uint64_t sign = (uint64_t)1 << (bits - 1), low = sign - 1;                           \
        HA_EACH_OF_(n, HA_SIGNED_BITS_);                                                           \
    }                                                                                              \
    HA_IN_ void ha_##Type##_of_bits(char *values, const uint64_t *code, int64_t n, int bits) {     \
        typedef Type T;                                                                            \
        const int left = 64 - bits;                                                                \
        HA_EACH_OF_(n, HA_SIGNED_VALUE_);                                                          \
    }
#define HA_UNSIGNED_CODES_(Type)                                                                   \
    HA_IN_ void ha_##Type##_to_bits(uint64_t *code, const char *values, int64_t n, int bits) {     \
        typedef Type T;                                                                            \
        const uint64_t mask = ha_bit_mask(bits);                                                   \
        HA_EACH_OF_(n, HA_UNSIGNED_BITS_);                                                         \
    }                                                                                              \
    HA_IN_ void ha_##Type##_of_bits(char *values, const uint64_t *code, int64_t n, int bits) {     \
        typedef Type T;                                                                            \
        (void)bits;                                                                                \
        HA_EACH_OF_(n, HA_UNSIGNED_VALUE_);                                                        \
    }
HA_SIGNED_CODES_(int8_t)
HA_SIGNED_CODES_(int16_t)
HA_SIGNED_CODES_(int32_t)
HA_SIGNED_CODES_(int64_t)
HA_UNSIGNED_CODES_(uint8_t)
HA_UNSIGNED_CODES_(uint16_t)
HA_UNSIGNED_CODES_(uint32_t)
HA_UNSIGNED_CODES_(uint64_t)

/* Only the lowest bit is ever set, but memory may have others. */
HA_IN_ void ha_bool_of_bits(char *values, const uint64_t *code, int64_t n, int bits) {
    (void)bits;
    for (int64_t k = 0; k < n; k++) values[k] = code[k] != 0;
}

typedef struct ha_integer_bits {
    void (*to)(uint64_t *code, const char *values, int64_t n, int bits);
    void (*of)(char *values, const uint64_t *code, int64_t n, int bits);
} ha_integer_bits;

/* By type, of which these are the first. */
static const ha_integer_bits ha_bits_of_integers[] = {
    [HA_DTYPE_bool] = {ha_uint8_t_to_bits, ha_bool_of_bits},
    [HA_DTYPE_int8_t] = {ha_int8_t_to_bits, ha_int8_t_of_bits},
    [HA_DTYPE_int16_t] = {ha_int16_t_to_bits, ha_int16_t_of_bits},
    [HA_DTYPE_int32_t] = {ha_int32_t_to_bits, ha_int32_t_of_bits},
    [HA_DTYPE_int64_t] = {ha_int64_t_to_bits, ha_int64_t_of_bits},
    [HA_DTYPE_uint8_t] = {ha_uint8_t_to_bits, ha_uint8_t_of_bits},
    [HA_DTYPE_uint16_t] = {ha_uint16_t_to_bits, ha_uint16_t_of_bits},
    [HA_DTYPE_uint32_t] = {ha_uint32_t_to_bits, ha_uint32_t_of_bits},
    [HA_DTYPE_uint64_t] = {ha_uint64_t_to_bits, ha_uint64_t_of_bits},
};

/* ---- floats ---------------------------------------------------------------------------------- */

/* A number with EXPONENT and MANTISSA bits, as Raw in memory, to one of fewer bits for the exponent,
 * unless that has as many, and back. Exponents are moved by `shift`; bits of mantissas that both have
 * are `digits`. */
#define HA_FLOAT_FORMAT_(EXPONENT, MANTISSA)                                                       \
    const U one = (U)1 << (MANTISSA), infinite = (((U)1 << (EXPONENT)) - 1) << (MANTISSA);         \
    const int same = exponent == (EXPONENT);                                                       \
    const int digits = mantissa < (MANTISSA) ? mantissa : (MANTISSA);                              \
    const int cut = (MANTISSA)-digits, more = mantissa - digits;                                   \
    const U shift = (((U)1 << ((EXPONENT)-1)) - ((U)1 << (exponent - 1))) << (MANTISSA);           \
    const U quiet = digits > 0 ? (U)1 << (digits - 1) : 0;                                         \
    const U infinity = (((U)1 << exponent) - 1) << digits

/* All magnitudes are less than half of what U holds: compared as signed numbers, which processors can. */
#define HA_FLOAT_BITS_(j)                                                                          \
    do {                                                                                           \
        Raw raw;                                                                                   \
        memcpy(&raw, values + (j) * (int64_t)sizeof raw, sizeof raw);                              \
        const U x = raw, size = x & (infinite | (one - 1));                                        \
        U y = (U)(size - shift) >> cut;                                                            \
        y = (S)size < (S)least ? 0 : y;                                                            \
        y = (S)size >= (S)most ? infinity : y;                                                     \
        y = (S)size > (S)infinite ? infinity | quiet | (size & (one - 1)) >> cut : y;              \
        code[j] = (uint64_t)(y | (x & (infinite + one)) >> place) << more;                         \
    } while (0)
#define HA_FLOAT_VALUE_(j)                                                                         \
    do {                                                                                           \
        const U x = (U)(code[j] >> more), size = x & (infinity | (((U)1 << digits) - 1));          \
        U y = (size << cut) + shift;                                                               \
        y = (S)size < (S)least ? 0 : y;                                                            \
        y = (S)size >= (S)infinity ? infinite | ((size << cut) & (one - 1)) : y;                   \
        y = (S)size > (S)infinity ? y | one >> 1 : y;                                              \
        const Raw raw = (Raw)(y | (x & (U)1 << (exponent + digits)) << place);                     \
        memcpy(values + (j) * (int64_t)sizeof raw, &raw, sizeof raw);                              \
    } while (0)

#define HA_FLOAT_CODES_(name, RawType, Unsigned, Signed, EXPONENT, MANTISSA)                       \
    HA_IN_ void ha_##name##_to_bits(uint64_t *code, const char *values, int64_t n, int exponent,   \
                                    int mantissa) {                                                \
        typedef RawType Raw;                                                                       \
        typedef Unsigned U;                                                                        \
        typedef Signed S;                                                                          \
        HA_FLOAT_FORMAT_(EXPONENT, MANTISSA);                                                      \
        const int place = (EXPONENT)-exponent + cut;                                               \
        const U least = same ? 0 : shift + one;                                                    \
        const U most = shift + ((((U)1 << exponent) - 1) << (MANTISSA));                           \
        HA_EACH_OF_(n, HA_FLOAT_BITS_);                                                            \
    }                                                                                              \
    HA_IN_ void ha_##name##_of_bits(char *values, const uint64_t *code, int64_t n, int exponent,   \
                                    int mantissa) {                                                \
        typedef RawType Raw;                                                                       \
        typedef Unsigned U;                                                                        \
        typedef Signed S;                                                                          \
        HA_FLOAT_FORMAT_(EXPONENT, MANTISSA);                                                      \
        const int place = (EXPONENT)-exponent + cut;                                               \
        const U least = same ? 0 : (U)1 << digits;                                                 \
        (void)quiet;                                                                               \
        HA_EACH_OF_(n, HA_FLOAT_VALUE_);                                                           \
    }
HA_FLOAT_CODES_(f16, uint16_t, uint32_t, int32_t, 5, 10)
HA_FLOAT_CODES_(bf16, uint16_t, uint32_t, int32_t, 8, 7)
HA_FLOAT_CODES_(f32, uint32_t, uint32_t, int32_t, 8, 23)
HA_FLOAT_CODES_(f64, uint64_t, uint64_t, int64_t, 11, 52)

HA_IN_ int ha_own_exponent(ha_dtype type) {
    return type == HA_DTYPE_half ? 5 : type == HA_DTYPE_double ? 11 : 8;
}

/* The type by way of which values get their bits: their own, or one whose exponents are as wide. */
HA_IN_ ha_dtype ha_bits_by(const ha_coding *c) {
    return c->exponent > ha_own_exponent(c->stored) ? HA_DTYPE_double : c->stored;
}

typedef struct ha_float_bits {
    void (*to)(uint64_t *code, const char *values, int64_t n, int exponent, int mantissa);
    void (*of)(char *values, const uint64_t *code, int64_t n, int exponent, int mantissa);
} ha_float_bits;

static const ha_float_bits ha_bits_of_floats[] = {
    [HA_DTYPE_half] = {ha_f16_to_bits, ha_f16_of_bits},
    [HA_DTYPE_bfloat16] = {ha_bf16_to_bits, ha_bf16_of_bits},
    [HA_DTYPE_float] = {ha_f32_to_bits, ha_f32_of_bits},
    [HA_DTYPE_double] = {ha_f64_to_bits, ha_f64_of_bits},
};

/* ---- both ------------------------------------------------------------------------------------ */

/* Up to HA_PORTION values of the type that is stored. */
HA_IN_ void ha_values_to_bits(uint64_t *code, const void *values, const ha_coding *c, int64_t n) {
    double wide[HA_PORTION];
    if (c->exponent == 0) {
        ha_bits_of_integers[c->stored].to(code, (const char *)values, n, c->bits);
        return;
    }
    const ha_dtype by = ha_bits_by(c);
    if (by != c->stored) ha_change_values(wide, by, values, c->stored, n);
    ha_bits_of_floats[by].to(code, (const char *)(by == c->stored ? values : wide), n, c->exponent,
                             c->mantissa);
}

HA_IN_ void ha_values_of_bits(void *values, const uint64_t *code, const ha_coding *c, int64_t n) {
    double wide[HA_PORTION];
    if (c->exponent == 0) {
        ha_bits_of_integers[c->stored].of((char *)values, code, n, c->bits);
        return;
    }
    const ha_dtype by = ha_bits_by(c);
    ha_bits_of_floats[by].of((char *)(by == c->stored ? values : wide), code, n, c->exponent,
                             c->mantissa);
    if (by != c->stored) ha_change_values(values, c->stored, wide, by, n);
}

#endif
