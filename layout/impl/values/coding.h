/* Values of one type as values of another: what computed layouts store in place of them. Rounded once, to
 * the nearest, of two equally near ones to the even; what no integer is becomes the nearest that is. */
#ifndef HARRAY_LAYOUT_IMPL_VALUES_CODING_H
#define HARRAY_LAYOUT_IMPL_VALUES_CODING_H

#include "../convert/all.h"
#include "../mapping/all.h"

enum {
    HA_PORTION = 256, /* values that are on their way at once */
    HA_GROUP = 32     /* a length that compilers know makes vectors of loops */
};

/* A loop over n values, each of which is loaded, and what is made of it stored. */
#define HA_EACH_OF_(n, body)                                                                       \
    do {                                                                                           \
        int64_t i = 0;                                                                             \
        for (; i + HA_GROUP <= (n); i += HA_GROUP)                                                 \
            for (int64_t j = i; j < i + HA_GROUP; j++) body(j);                                    \
        for (; i < (n); i++) body(i);                                                              \
    } while (0)

/* Values on their way from one type to another: the parts of complex ones, others as they are. */
typedef union ha_midway {
    int64_t integer[2 * HA_PORTION];
    uint64_t natural[2 * HA_PORTION];
    double real[2 * HA_PORTION];
} ha_midway;

/* ---- single numbers -------------------------------------------------------------------------- */

HA_IN_ int64_t ha_near_integer(double x) {
    int64_t below;
    double rest;
    if (!(x > -0x1p63)) return x <= -0x1p63 ? INT64_MIN : 0; /* or NaN */
    if (x >= 0x1p63) return INT64_MAX;
    below = (int64_t)x; /* towards 0 */
    rest = x - (double)below;
    below += (rest > 0.5) | ((rest == 0.5) & (int)(below & 1));
    return below - ((rest < -0.5) | ((rest == -0.5) & (int)(below & 1)));
}

/* From 2^63 on these are integers. */
HA_IN_ uint64_t ha_near_natural(double x) {
    if (x >= 0x1p64) return UINT64_MAX;
    if (x >= 0x1p63) return (uint64_t)x;
    const int64_t integer = ha_near_integer(x);
    return integer < 0 ? 0 : (uint64_t)integer;
}

HA_IN_ int64_t ha_clamped(int64_t x, int64_t least, int64_t most) {
    return x < least ? least : x > most ? most : x;
}

/* ---- to what is midway ----------------------------------------------------------------------- */

HA_IN_ ha_dtype ha_type_of_part(ha_dtype scalar) {
    return scalar == HA_DTYPE_c64    ? HA_DTYPE_float
           : scalar == HA_DTYPE_c128 ? HA_DTYPE_double
                                     : scalar;
}

#define HA_LOADED_(j)                                                                              \
    do {                                                                                           \
        T x;                                                                                       \
        memcpy(&x, from + (j) * (int64_t)sizeof x, sizeof x);                                      \
        to[j] = HA_MADE_(x);                                                                       \
    } while (0)
#define HA_LOADER_(name, Type, Midway)                                                             \
    HA_IN_ void ha_load_##name(Midway *to, const char *from, int64_t n) {                          \
        typedef Type T;                                                                            \
        HA_EACH_OF_(n, HA_LOADED_);                                                                \
    }
#define HA_MADE_(x) (x)
HA_LOADER_(i8, int8_t, int64_t)
HA_LOADER_(i16, int16_t, int64_t)
HA_LOADER_(i32, int32_t, int64_t)
HA_LOADER_(u8, uint8_t, int64_t)
HA_LOADER_(u16, uint16_t, int64_t)
HA_LOADER_(u32, uint32_t, int64_t)
HA_LOADER_(f32, float, double)
#undef HA_MADE_
#define HA_MADE_(x) ((x) != 0)
HA_LOADER_(bool, uint8_t, int64_t)
#undef HA_MADE_
#define HA_MADE_(x) ha_half_to_double(x)
HA_LOADER_(f16, ha_half, double)
#undef HA_MADE_
#define HA_MADE_(x) ha_bfloat16_to_double(x)
HA_LOADER_(bf16, ha_bfloat16, double)
#undef HA_MADE_

/* Numbers that are not complex; which member of `to` they are in. */
HA_IN_ ha_dtype ha_load_midway(ha_midway *to, ha_dtype type, const char *from, int64_t n) {
    switch (type) {
    case HA_DTYPE_double:
    case HA_DTYPE_int64_t:
    case HA_DTYPE_uint64_t:
        memcpy(to, from, (size_t)n * 8);
        return type;
    case HA_DTYPE_float:
        ha_load_f32(to->real, from, n);
        return HA_DTYPE_double;
    case HA_DTYPE_half:
        ha_load_f16(to->real, from, n);
        return HA_DTYPE_double;
    case HA_DTYPE_bfloat16:
        ha_load_bf16(to->real, from, n);
        return HA_DTYPE_double;
    case HA_DTYPE_int8_t:
        ha_load_i8(to->integer, from, n);
        return HA_DTYPE_int64_t;
    case HA_DTYPE_int16_t:
        ha_load_i16(to->integer, from, n);
        return HA_DTYPE_int64_t;
    case HA_DTYPE_int32_t:
        ha_load_i32(to->integer, from, n);
        return HA_DTYPE_int64_t;
    case HA_DTYPE_uint8_t:
        ha_load_u8(to->integer, from, n);
        return HA_DTYPE_int64_t;
    case HA_DTYPE_uint16_t:
        ha_load_u16(to->integer, from, n);
        return HA_DTYPE_int64_t;
    case HA_DTYPE_uint32_t:
        ha_load_u32(to->integer, from, n);
        return HA_DTYPE_int64_t;
    default:
        ha_load_bool(to->integer, from, n);
        return HA_DTYPE_int64_t;
    }
}

/* ---- from what is midway --------------------------------------------------------------------- */

#define HA_STORED_(j)                                                                              \
    do {                                                                                           \
        const T x = HA_MADE_(from[j]);                                                             \
        memcpy(to + (j) * (int64_t)sizeof x, &x, sizeof x);                                        \
    } while (0)
#define HA_STORER_(name, Type, Midway)                                                             \
    HA_IN_ void ha_store_##name(char *to, const Midway *from, int64_t n) {                         \
        typedef Type T;                                                                            \
        HA_EACH_OF_(n, HA_STORED_);                                                                \
    }
#define HA_MADE_(x) (T)(x)
HA_STORER_(double_f32, float, double)
#undef HA_MADE_
#define HA_MADE_(x) ha_half_of_double(x)
HA_STORER_(double_f16, ha_half, double)
#undef HA_MADE_
#define HA_MADE_(x) ha_bfloat16_of_double(x)
HA_STORER_(double_bf16, ha_bfloat16, double)
#undef HA_MADE_
#define HA_MADE_(x) ((x) != 0)
HA_STORER_(double_bool, uint8_t, double)
HA_STORER_(integer_bool, uint8_t, int64_t)
#undef HA_MADE_
#define HA_MADE_(x) ((x) < 0 ? 0 : (uint64_t)(x))
HA_STORER_(integer_u64, uint64_t, int64_t)
#undef HA_MADE_
#define HA_MADE_(x) ((x) > INT64_MAX ? INT64_MAX : (int64_t)(x))
HA_STORER_(natural_i64, int64_t, uint64_t)
#undef HA_MADE_
#define HA_MADE_(x) (int8_t) ha_clamped(x, INT8_MIN, INT8_MAX)
HA_STORER_(integer_i8, int8_t, int64_t)
#undef HA_MADE_
#define HA_MADE_(x) (int16_t) ha_clamped(x, INT16_MIN, INT16_MAX)
HA_STORER_(integer_i16, int16_t, int64_t)
#undef HA_MADE_
#define HA_MADE_(x) (int32_t) ha_clamped(x, INT32_MIN, INT32_MAX)
HA_STORER_(integer_i32, int32_t, int64_t)
#undef HA_MADE_
#define HA_MADE_(x) (uint8_t) ha_clamped(x, 0, UINT8_MAX)
HA_STORER_(integer_u8, uint8_t, int64_t)
#undef HA_MADE_
#define HA_MADE_(x) (uint16_t) ha_clamped(x, 0, UINT16_MAX)
HA_STORER_(integer_u16, uint16_t, int64_t)
#undef HA_MADE_
#define HA_MADE_(x) (uint32_t) ha_clamped(x, 0, UINT32_MAX)
HA_STORER_(integer_u32, uint32_t, int64_t)
#undef HA_MADE_

HA_IN_ void ha_store_reals(char *to, ha_dtype type, const double *from, int64_t n) {
    if (type == HA_DTYPE_float)
        ha_store_double_f32(to, from, n);
    else if (type == HA_DTYPE_half)
        ha_store_double_f16(to, from, n);
    else if (type == HA_DTYPE_bfloat16)
        ha_store_double_bf16(to, from, n);
    else
        memcpy(to, from, (size_t)n * sizeof *from);
}

HA_IN_ void ha_store_integers(char *to, ha_dtype type, const int64_t *from, int64_t n) {
    switch (type) {
    case HA_DTYPE_int8_t:
        ha_store_integer_i8(to, from, n);
        break;
    case HA_DTYPE_int16_t:
        ha_store_integer_i16(to, from, n);
        break;
    case HA_DTYPE_int32_t:
        ha_store_integer_i32(to, from, n);
        break;
    case HA_DTYPE_int64_t:
        memcpy(to, from, (size_t)n * sizeof *from);
        break;
    case HA_DTYPE_uint8_t:
        ha_store_integer_u8(to, from, n);
        break;
    case HA_DTYPE_uint16_t:
        ha_store_integer_u16(to, from, n);
        break;
    case HA_DTYPE_uint32_t:
        ha_store_integer_u32(to, from, n);
        break;
    case HA_DTYPE_uint64_t:
        ha_store_integer_u64(to, from, n);
        break;
    default:
        ha_store_integer_bool(to, from, n);
        break;
    }
}

/* What is midway as integers, if it is not. */
HA_IN_ void ha_midway_integers(ha_midway *v, ha_dtype is, int64_t n) {
    if (is == HA_DTYPE_double)
        for (int64_t k = 0; k < n; k++) v->integer[k] = ha_near_integer(v->real[k]);
    if (is == HA_DTYPE_uint64_t) ha_store_natural_i64((char *)v->integer, v->natural, n);
}

/* … as numbers whose rounding to this type is rounding once. */
HA_IN_ void ha_midway_reals(ha_midway *v, ha_dtype is, ha_dtype to, int64_t n) {
    for (int64_t k = 0; k < n && is == HA_DTYPE_int64_t; k++)
        v->real[k] = to == HA_DTYPE_double ? (double)v->integer[k] : ha_odd_of_int64(v->integer[k]);
    for (int64_t k = 0; k < n && is == HA_DTYPE_uint64_t; k++)
        v->real[k] = to == HA_DTYPE_double ? (double)v->natural[k]
                                           : ha_odd_of_uint64(v->natural[k]);
}

HA_IN_ void ha_store_midway(char *to, ha_dtype type, ha_midway *v, ha_dtype is, int64_t n) {
    if (ha_is_floating(type)) {
        ha_midway_reals(v, is, type, n);
        ha_store_reals(to, type, v->real, n);
    } else if (type == HA_DTYPE_bool && is == HA_DTYPE_double) {
        ha_store_double_bool(to, v->real, n);
    } else if (type == HA_DTYPE_uint64_t && is == HA_DTYPE_double) {
        for (int64_t k = 0; k < n; k++) v->natural[k] = ha_near_natural(v->real[k]);
        memcpy(to, v->natural, (size_t)n * sizeof *v->natural);
    } else if (type == HA_DTYPE_uint64_t && is == HA_DTYPE_uint64_t) {
        memcpy(to, v->natural, (size_t)n * sizeof *v->natural);
    } else {
        ha_midway_integers(v, is, n);
        ha_store_integers(to, type, v->integer, n);
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Up to HA_PORTION values, dense and perhaps misaligned, as those of another type; both are complex, or
 * none is. */
HA_IN_ void ha_change_values(void *to, ha_dtype to_type, const void *from, ha_dtype from_type,
                             int64_t n) {
    ha_midway v;
    if (to_type == from_type) {
        memcpy(to, from, (size_t)(n * (int64_t)ha_dtype_size(to_type)));
        return;
    }
    if (ha_is_complex(to_type)) n *= 2;
    const ha_dtype f = ha_type_of_part(from_type), t = ha_type_of_part(to_type);
    if (ha_is_floating(f) && ha_is_floating(t) &&
        ha_convert_scalars_directly(to, t, from, f, (size_t)n))
        return;
    const ha_dtype is = ha_load_midway(&v, f, (const char *)from, n);
    ha_store_midway((char *)to, t, &v, is, n);
}

#define HA_SWAPPED_(j)                                                                             \
    do {                                                                                           \
        T x;                                                                                       \
        memcpy(&x, at + (j) * (int64_t)sizeof x, sizeof x);                                        \
        x = HA_MADE_(x);                                                                           \
        memcpy(at + (j) * (int64_t)sizeof x, &x, sizeof x);                                        \
    } while (0)
#define HA_SWAPPER_(name, Type)                                                                    \
    HA_IN_ void ha_swap_##name(char *at, int64_t n) {                                              \
        typedef Type T;                                                                            \
        HA_EACH_OF_(n, HA_SWAPPED_);                                                               \
    }
#define HA_MADE_(x) __builtin_bswap16(x)
HA_SWAPPER_(2, uint16_t)
#undef HA_MADE_
#define HA_MADE_(x) __builtin_bswap32(x)
HA_SWAPPER_(4, uint32_t)
#undef HA_MADE_
#define HA_MADE_(x) __builtin_bswap64(x)
HA_SWAPPER_(8, uint64_t)
#undef HA_MADE_

/* The other byte order, of dense values of more than a byte. */
HA_IN_ void ha_swap_values(void *at, ha_dtype type, int64_t n) {
    const int64_t size = ha_part_size(type);
    if (ha_is_complex(type)) n *= 2;
    if (size == 2)
        ha_swap_2((char *)at, n);
    else if (size == 4)
        ha_swap_4((char *)at, n);
    else
        ha_swap_8((char *)at, n);
}

#endif
