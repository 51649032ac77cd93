/* Conversions of many numbers from any element type to any other, as harray/dtype.h says of one:
 * rounded once, and none that does not fit. What is not converted directly goes through int64_t, or
 * through double, which holds all but 64-bit integers exactly. */
#ifndef HARRAY_LAYOUT_IMPL_CONVERT_SCALARS_H
#define HARRAY_LAYOUT_IMPL_CONVERT_SCALARS_H

#include "blocks.h"
#include "dispatch.h"

enum { HA_HUB = 256 }; /* numbers that are on their way at once */

/* ---- to double ------------------------------------------------------------------------------ */

#define HA_NOT_ZERO_(x) ((x) != 0)
HA_CONVERT_BLOCKS_(ha_float_to_double_plainly, (double), float, double)
HA_CONVERT_BLOCKS_(ha_double_to_float_plainly, (float), double, float)
HA_CONVERT_BLOCKS_(ha_int8_t_to_double_, (double), int8_t, double)
HA_CONVERT_BLOCKS_(ha_int16_t_to_double_, (double), int16_t, double)
HA_CONVERT_BLOCKS_(ha_int32_t_to_double_, (double), int32_t, double)
HA_CONVERT_BLOCKS_(ha_int64_t_to_double_, (double), int64_t, double)
HA_CONVERT_BLOCKS_(ha_uint8_t_to_double_, (double), uint8_t, double)
HA_CONVERT_BLOCKS_(ha_uint16_t_to_double_, (double), uint16_t, double)
HA_CONVERT_BLOCKS_(ha_uint32_t_to_double_, (double), uint32_t, double)
HA_CONVERT_BLOCKS_(ha_uint64_t_to_double_, (double), uint64_t, double)
HA_CONVERT_BLOCKS_(ha_bool_to_double_, HA_NOT_ZERO_, uint8_t, double)

/* Between floats and doubles by the longest vectors, as that is what most conversions are. */
#if defined __x86_64__ && !defined HARRAY_NO_SIMD
HA_CONVERT_BLOCKS_BY_(HA_AVX2_, 16, ha_float_to_double_avx2, (double), float, double)
HA_CONVERT_BLOCKS_BY_(HA_AVX2_, 16, ha_double_to_float_avx2, (float), double, float)
#else
#define ha_float_to_double_avx2 ha_float_to_double_plainly
#define ha_double_to_float_avx2 ha_double_to_float_plainly
#endif

HA_IN_ void ha_float_to_double_(void *to, const void *from, size_t n) {
    const int has_more = ha_best_conversions() != &ha_conversions_portable;
    (has_more ? ha_float_to_double_avx2 : ha_float_to_double_plainly)(to, from, n);
}
HA_IN_ void ha_double_to_float_(void *to, const void *from, size_t n) {
    const int has_more = ha_best_conversions() != &ha_conversions_portable;
    (has_more ? ha_double_to_float_avx2 : ha_double_to_float_plainly)(to, from, n);
}

/* Rounded to odd: the last of the 53 bits is set when something is cut off. Rounding that to a type of
 * at most 51 bits is rounding once. */
HA_IN_ double ha_odd_of_uint64(uint64_t x) {
    const uint64_t cut = x >> 53 ? x & 2047 : 0;
    return (double)((x - cut) | (uint64_t)(cut != 0) << 11);
}
HA_IN_ double ha_odd_of_int64(int64_t x) {
    return x < 0 ? -ha_odd_of_uint64(0 - (uint64_t)x) : ha_odd_of_uint64((uint64_t)x);
}
HA_CONVERT_EACH_(ha_int64_t_to_odd_, ha_odd_of_int64, int64_t, double)
HA_CONVERT_EACH_(ha_uint64_t_to_odd_, ha_odd_of_uint64, uint64_t, double)

/* What the doubles are for. */
typedef enum ha_hub_use { HA_HUB_NEAREST, HA_HUB_ROUNDED_LATER, HA_HUB_TRUTH } ha_hub_use;

/* Returns whether all could be: a number with an imaginary part cannot, except as a truth value. */
HA_IN_ int ha_complex_to_doubles(double *to, const void *from, ha_dtype type, size_t n,
                                 ha_hub_use use) {
    int imaginary = 0;
    for (size_t i = 0; i < n; i++) {
        double x[2];
        if (type == HA_DTYPE_c128)
            memcpy(x, (const char *)from + i * sizeof x, sizeof x);
        else
            ha_float_to_double_(x, (const char *)from + i * sizeof(ha_c64), 2);
        imaginary |= !(x[1] == 0);
        to[i] = use == HA_HUB_TRUTH ? !(x[0] == 0 && x[1] == 0) : x[0];
    }
    return use == HA_HUB_TRUTH || !imaginary;
}

HA_IN_ int ha_scalars_to_doubles(double *to, const void *from, ha_dtype type, size_t n,
                                 ha_hub_use use) {
    static ha_conversion *const conversions[] = {
        [HA_DTYPE_float] = ha_float_to_double_,       [HA_DTYPE_int8_t] = ha_int8_t_to_double_,
        [HA_DTYPE_int16_t] = ha_int16_t_to_double_,   [HA_DTYPE_int32_t] = ha_int32_t_to_double_,
        [HA_DTYPE_int64_t] = ha_int64_t_to_double_,   [HA_DTYPE_uint8_t] = ha_uint8_t_to_double_,
        [HA_DTYPE_uint16_t] = ha_uint16_t_to_double_, [HA_DTYPE_uint32_t] = ha_uint32_t_to_double_,
        [HA_DTYPE_uint64_t] = ha_uint64_t_to_double_, [HA_DTYPE_bool] = ha_bool_to_double_,
    };
    if (ha_dtype_kind(type) == HA_KIND_COMPLEX)
        return ha_complex_to_doubles(to, from, type, n, use);
    if (type == HA_DTYPE_half)
        ha_best_conversions()->half_to_double(to, (const ha_half *)from, n);
    else if (type == HA_DTYPE_bfloat16)
        ha_best_conversions()->bfloat16_to_double(to, (const ha_bfloat16 *)from, n);
    else if (type == HA_DTYPE_double)
        memcpy(to, from, n * sizeof *to);
    else if (type == HA_DTYPE_int64_t && use == HA_HUB_ROUNDED_LATER)
        ha_int64_t_to_odd_(to, from, n);
    else if (type == HA_DTYPE_uint64_t && use == HA_HUB_ROUNDED_LATER)
        ha_uint64_t_to_odd_(to, from, n);
    else
        conversions[type](to, from, n);
    return 1;
}

/* ---- from double ---------------------------------------------------------------------------- */

HA_IN_ void ha_doubles_to_complex(void *to, const double *from, ha_dtype type, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const ha_c128 x = {from[i], 0};
        const ha_c64 y = {(float)from[i], 0};
        if (type == HA_DTYPE_c128)
            memcpy((char *)to + i * sizeof x, &x, sizeof x);
        else
            memcpy((char *)to + i * sizeof y, &y, sizeof y);
    }
}

HA_CONVERT_BLOCKS_(ha_double_to_bool_, HA_NOT_ZERO_, double, uint8_t)

HA_IN_ int ha_scalars_from_doubles(void *to, ha_dtype type, const double *from, size_t n) {
    const ha_number_kind kind = ha_dtype_kind(type);
    if (ha_is_integer(type)) return ha_doubles_to_integers(to, type, from, n);
    if (kind == HA_KIND_COMPLEX)
        ha_doubles_to_complex(to, from, type, n);
    else if (kind == HA_KIND_BOOL)
        ha_double_to_bool_(to, from, n);
    else if (type == HA_DTYPE_half)
        ha_best_conversions()->double_to_half((ha_half *)to, from, n);
    else if (type == HA_DTYPE_bfloat16)
        ha_best_conversions()->double_to_bfloat16((ha_bfloat16 *)to, from, n);
    else if (type == HA_DTYPE_float)
        ha_double_to_float_(to, from, n);
    else
        memcpy(to, from, n * sizeof *from);
    return 1;
}

/* ---- integers ------------------------------------------------------------------------------- */

HA_CONVERT_BLOCKS_(ha_bool_to_int64_, HA_NOT_ZERO_, uint8_t, int64_t)

/* Returns whether all fit; if not, nothing was written. */
HA_IN_ int ha_to_integers(void *to, ha_dtype to_type, const void *from, ha_dtype from_type,
                          size_t n) {
    if (!ha_integers_fit(to_type, from, from_type, n)) return 0;
    ha_integers_to_integers(to, to_type, from, from_type, n);
    return 1;
}

/* ---- any ------------------------------------------------------------------------------------ */

/* Whether there are values that the other type has no place for. */
HA_IN_ int ha_scalars_may_misfit(ha_dtype from, ha_dtype to) {
    const ha_number_kind source = ha_dtype_kind(from), target = ha_dtype_kind(to);
    if (from == to || source == HA_KIND_BOOL) return 0;
    if (target == HA_KIND_REAL) return source == HA_KIND_COMPLEX;
    if (!ha_is_integer(to)) return 0;
    if (source == HA_KIND_UNSIGNED)
        return ha_dtype_size(from) + (target == HA_KIND_SIGNED) > ha_dtype_size(to);
    return source != HA_KIND_SIGNED || target != HA_KIND_SIGNED ||
           ha_dtype_size(from) > ha_dtype_size(to);
}

/* Without a way through something else; returns whether there is such. */
HA_IN_ int ha_convert_scalars_directly(void *to, ha_dtype to_type, const void *from,
                                       ha_dtype from_type, size_t n) {
    const ha_dtype f = from_type, t = to_type;
    if (f == t)
        memcpy(to, from, n * ha_dtype_size(t));
    else if (f == HA_DTYPE_float && t == HA_DTYPE_half)
        ha_best_conversions()->float_to_half((ha_half *)to, (const float *)from, n);
    else if (f == HA_DTYPE_float && t == HA_DTYPE_bfloat16)
        ha_best_conversions()->float_to_bfloat16((ha_bfloat16 *)to, (const float *)from, n);
    else if (f == HA_DTYPE_half && t == HA_DTYPE_float)
        ha_best_conversions()->half_to_float((float *)to, (const ha_half *)from, n);
    else if (f == HA_DTYPE_bfloat16 && t == HA_DTYPE_float)
        ha_best_conversions()->bfloat16_to_float((float *)to, (const ha_bfloat16 *)from, n);
    else if (f == HA_DTYPE_c64 && t == HA_DTYPE_c128)
        ha_float_to_double_(to, from, 2 * n);
    else if (f == HA_DTYPE_c128 && t == HA_DTYPE_c64)
        ha_double_to_float_(to, from, 2 * n);
    else if (t == HA_DTYPE_double && ha_dtype_kind(f) != HA_KIND_COMPLEX)
        (void)ha_scalars_to_doubles((double *)to, from, f, n, HA_HUB_NEAREST);
    else if (f == HA_DTYPE_double && !ha_is_integer(t))
        (void)ha_scalars_from_doubles(to, t, (const double *)from, n);
    else
        return 0;
    return 1;
}

/* Up to HA_HUB numbers. Returns whether all fit. */
HA_IN_ int ha_convert_scalars_through(void *to, ha_dtype to_type, const void *from,
                                      ha_dtype from_type, size_t n) {
    int64_t integers[HA_HUB];
    double doubles[HA_HUB];
    if (from_type == HA_DTYPE_bool && ha_is_integer(to_type)) {
        ha_bool_to_int64_(integers, from, n);
        ha_integers_to_integers(to, to_type, integers, HA_DTYPE_int64_t, n);
        return 1;
    }
    ha_hub_use use = to_type == HA_DTYPE_bool   ? HA_HUB_TRUTH
                     : to_type == HA_DTYPE_c128 ? HA_HUB_NEAREST
                                                : HA_HUB_ROUNDED_LATER;
    return ha_scalars_to_doubles(doubles, from, from_type, n, use) &&
           ha_scalars_from_doubles(to, to_type, doubles, n);
}

/* n numbers, at aligned addresses. Returns whether all fit; some may be converted when one does not. */
HA_IN_ int ha_convert_scalars(void *to, ha_dtype to_type, const void *from, ha_dtype from_type,
                              size_t n) {
    const size_t from_size = ha_dtype_size(from_type), to_size = ha_dtype_size(to_type);
    if (ha_convert_scalars_directly(to, to_type, from, from_type, n)) return 1;
    if (ha_is_integer(from_type) && ha_is_integer(to_type))
        return ha_to_integers(to, to_type, from, from_type, n);
    if (from_type == HA_DTYPE_double && ha_is_integer(to_type))
        return ha_doubles_to_integers(to, to_type, (const double *)from, n);
    for (size_t i = 0, piece; i < n; i += piece) {
        piece = n - i < HA_HUB ? n - i : HA_HUB;
        if (!ha_convert_scalars_through((char *)to + i * to_size, to_type,
                                        (const char *)from + i * from_size, from_type, piece))
            return 0;
    }
    return 1;
}

/* Whether all fit, of types of which some may not: without writing anything. */
HA_IN_ int ha_scalars_fit(ha_dtype to_type, const void *from, ha_dtype from_type, size_t n) {
    const size_t from_size = ha_dtype_size(from_type);
    double doubles[HA_HUB];
    if (ha_is_integer(from_type)) return ha_integers_fit(to_type, from, from_type, n);
    if (from_type == HA_DTYPE_double) return ha_doubles_fit(to_type, (const double *)from, n);
    for (size_t i = 0, piece; i < n; i += piece) {
        piece = n - i < HA_HUB ? n - i : HA_HUB;
        if (!ha_scalars_to_doubles(doubles, (const char *)from + i * from_size, from_type, piece,
                                   HA_HUB_NEAREST))
            return 0;
        if (ha_is_integer(to_type) && !ha_doubles_fit(to_type, doubles, piece)) return 0;
    }
    return 1;
}

#endif
