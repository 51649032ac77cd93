/* Conversions of many numbers from any element type to any other, as ha_dvalue_convert does it with one:
 * rounded once, and none that does not fit. What is not converted directly goes through int64_t, or
 * through double, which holds all but 64-bit integers exactly. */
#ifndef HA_IMPL_CONVERT_ANY_H
#define HA_IMPL_CONVERT_ANY_H

#include "convert.h"
#include "dtype.h"

enum { HA_HUB = 256 }; /* numbers that are on their way at once */

/* ---- to double ------------------------------------------------------------------------------ */

#define HA_NOT_ZERO_(x) ((x) != 0)
HA_CONVERT_EACH_(ha_float_to_double_, (double), float, double)
HA_CONVERT_EACH_(ha_double_to_float_, (float), double, float)
HA_CONVERT_EACH_(ha_int8_t_to_double_, (double), int8_t, double)
HA_CONVERT_EACH_(ha_int16_t_to_double_, (double), int16_t, double)
HA_CONVERT_EACH_(ha_int32_t_to_double_, (double), int32_t, double)
HA_CONVERT_EACH_(ha_int64_t_to_double_, (double), int64_t, double)
HA_CONVERT_EACH_(ha_uint8_t_to_double_, (double), uint8_t, double)
HA_CONVERT_EACH_(ha_uint16_t_to_double_, (double), uint16_t, double)
HA_CONVERT_EACH_(ha_uint32_t_to_double_, (double), uint32_t, double)
HA_CONVERT_EACH_(ha_uint64_t_to_double_, (double), uint64_t, double)
HA_CONVERT_EACH_(ha_bool_to_double_, HA_NOT_ZERO_, uint8_t, double)

/* Rounded to odd: the last of the 53 bits is set when something is cut off. Rounding that to a type of
 * at most 51 bits is rounding once. */
static double ha_odd_of_uint64(uint64_t x) {
    const uint64_t cut = x >> 53 ? x & 2047 : 0;
    return (double)((x - cut) | (uint64_t)(cut != 0) << 11);
}
static double ha_odd_of_int64(int64_t x) {
    return x < 0 ? -ha_odd_of_uint64(0 - (uint64_t)x) : ha_odd_of_uint64((uint64_t)x);
}
HA_CONVERT_EACH_(ha_int64_t_to_odd_, ha_odd_of_int64, int64_t, double)
HA_CONVERT_EACH_(ha_uint64_t_to_odd_, ha_odd_of_uint64, uint64_t, double)

/* What the doubles are for. */
typedef enum ha_hub_use { HA_HUB_NEAREST, HA_HUB_ROUNDED_LATER, HA_HUB_TRUTH } ha_hub_use;

/* Returns whether all could be: a number with an imaginary part cannot, except as a truth value. */
static int ha_complex_to_doubles(double *to, const void *from, ha_dtype type, size_t n,
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

static int ha_to_doubles(double *to, const void *from, ha_dtype type, size_t n, ha_hub_use use) {
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
        ha_convert_half_to_double(to, (const ha_half *)from, n);
    else if (type == HA_DTYPE_bfloat16)
        ha_convert_bfloat16_to_double(to, (const ha_bfloat16 *)from, n);
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

/* Of -2^63 <= x < 2^63: to the nearest, of two equally near ones to the even. */
static int64_t ha_nearest_int64(double x) {
    const int64_t below = (int64_t)x; /* towards 0 */
    const double rest = x - (double)below;
    const int is_odd = (int)(below & 1);
    return below + (rest > 0.5 || (rest == 0.5 && is_odd)) -
           (rest < -0.5 || (rest == -0.5 && is_odd));
}

/* What processors are told to do, and hardly ever told otherwise. */
static int ha_rounds_to_nearest(void) {
    const volatile double large = 0x1p53, one = 1, three = 3;
    return large + one == 0x1p53 && large + three == 0x1p53 + 4 && -large - one == -0x1p53;
}

/* Of |x| < 2^51, when the processor rounds to nearest: the sum has no place for a fraction, and its
 * lower bits are those of the integer. */
static inline uint64_t ha_nearest_by_sum(double x) {
    const double sum = x + 0x1.8p52;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return bits;
}

/* Each returns whether all fit: halves of what is even are rounded to that, those of what is odd are
 * not. */
#define HA_FROM_DOUBLES_(T, least, most)                                                           \
    static int ha_double_to_##T##_(void *to, const double *from, size_t n) {                       \
        int misfit = 0;                                                                            \
        for (size_t i = 0; i < n; i++)                                                             \
            misfit |= !((from[i] >= (double)least - 0.5) & (from[i] < (double)most + 0.5));        \
        if (misfit) return 0;                                                                      \
        const int quickly = ha_rounds_to_nearest();                                                \
        for (size_t i = 0; quickly && i < n; i++) {                                                \
            const T y = (T)ha_nearest_by_sum(from[i]);                                             \
            memcpy((char *)to + i * sizeof y, &y, sizeof y);                                       \
        }                                                                                          \
        for (size_t i = 0; !quickly && i < n; i++) {                                               \
            const T y = (T)ha_nearest_int64(from[i]);                                              \
            memcpy((char *)to + i * sizeof y, &y, sizeof y);                                       \
        }                                                                                          \
        return 1;                                                                                  \
    }
HA_FROM_DOUBLES_(int8_t, INT8_MIN, INT8_MAX)
HA_FROM_DOUBLES_(int16_t, INT16_MIN, INT16_MAX)
HA_FROM_DOUBLES_(int32_t, INT32_MIN, INT32_MAX)
HA_FROM_DOUBLES_(uint8_t, 0, UINT8_MAX)
HA_FROM_DOUBLES_(uint16_t, 0, UINT16_MAX)
HA_FROM_DOUBLES_(uint32_t, 0, UINT32_MAX)

static int ha_double_to_int64_t_(void *to, const double *from, size_t n) {
    int misfit = 0;
    for (size_t i = 0; i < n; i++) {
        const int inside = from[i] >= -0x1p63 && from[i] < 0x1p63;
        const int64_t x = ha_nearest_int64(inside ? from[i] : 0);
        misfit |= !inside;
        memcpy((char *)to + i * sizeof x, &x, sizeof x);
    }
    return !misfit;
}

static int ha_double_to_uint64_t_(void *to, const double *from, size_t n) {
    int misfit = 0;
    for (size_t i = 0; i < n; i++) {
        const int upper = from[i] >= 0x1p63 && from[i] < 0x1p64; /* these are integers */
        const int lower = from[i] >= -1 && from[i] < 0x1p63;
        const int64_t x = ha_nearest_int64(lower ? from[i] : 0);
        const uint64_t y = upper ? (uint64_t)from[i] : (uint64_t)x;
        misfit |= (!upper && !lower) || x < 0;
        memcpy((char *)to + i * sizeof y, &y, sizeof y);
    }
    return !misfit;
}

static void ha_doubles_to_complex(void *to, const double *from, ha_dtype type, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const ha_c128 x = ha_c128_make(from[i], 0);
        const ha_c64 y = ha_c64_make((float)from[i], 0);
        if (type == HA_DTYPE_c128)
            memcpy((char *)to + i * sizeof x, &x, sizeof x);
        else
            memcpy((char *)to + i * sizeof y, &y, sizeof y);
    }
}

HA_CONVERT_EACH_(ha_double_to_bool_, HA_NOT_ZERO_, double, uint8_t)

static int ha_from_doubles(void *to, ha_dtype type, const double *from, size_t n) {
    static int (*const integers[])(void *, const double *, size_t) = {
        [HA_DTYPE_int8_t] = ha_double_to_int8_t_,     [HA_DTYPE_int16_t] = ha_double_to_int16_t_,
        [HA_DTYPE_int32_t] = ha_double_to_int32_t_,   [HA_DTYPE_int64_t] = ha_double_to_int64_t_,
        [HA_DTYPE_uint8_t] = ha_double_to_uint8_t_,   [HA_DTYPE_uint16_t] = ha_double_to_uint16_t_,
        [HA_DTYPE_uint32_t] = ha_double_to_uint32_t_, [HA_DTYPE_uint64_t] = ha_double_to_uint64_t_,
    };
    const ha_number_kind kind = ha_dtype_kind(type);
    if (kind == HA_KIND_SIGNED || kind == HA_KIND_UNSIGNED) return integers[type](to, from, n);
    if (kind == HA_KIND_COMPLEX)
        ha_doubles_to_complex(to, from, type, n);
    else if (kind == HA_KIND_BOOL)
        ha_double_to_bool_(to, from, n);
    else if (type == HA_DTYPE_half)
        ha_convert_double_to_half((ha_half *)to, from, n);
    else if (type == HA_DTYPE_bfloat16)
        ha_convert_double_to_bfloat16((ha_bfloat16 *)to, from, n);
    else if (type == HA_DTYPE_float)
        ha_double_to_float_(to, from, n);
    else
        memcpy(to, from, n * sizeof *from);
    return 1;
}

/* ---- integers ------------------------------------------------------------------------------- */

HA_CONVERT_EACH_(ha_int8_t_to_int64_, (int64_t), int8_t, int64_t)
HA_CONVERT_EACH_(ha_int16_t_to_int64_, (int64_t), int16_t, int64_t)
HA_CONVERT_EACH_(ha_int32_t_to_int64_, (int64_t), int32_t, int64_t)
HA_CONVERT_EACH_(ha_int64_t_to_int64_, (int64_t), int64_t, int64_t)
HA_CONVERT_EACH_(ha_uint8_t_to_int64_, (int64_t), uint8_t, int64_t)
HA_CONVERT_EACH_(ha_uint16_t_to_int64_, (int64_t), uint16_t, int64_t)
HA_CONVERT_EACH_(ha_uint32_t_to_int64_, (int64_t), uint32_t, int64_t)
HA_CONVERT_EACH_(ha_uint64_t_to_int64_, (int64_t), uint64_t, int64_t)
HA_CONVERT_EACH_(ha_bool_to_int64_, HA_NOT_ZERO_, uint8_t, int64_t)

/* Returns whether all fit. */
static int ha_to_int64s(int64_t *to, const void *from, ha_dtype type, size_t n) {
    static ha_conversion *const conversions[] = {
        [HA_DTYPE_int8_t] = ha_int8_t_to_int64_,     [HA_DTYPE_int16_t] = ha_int16_t_to_int64_,
        [HA_DTYPE_int32_t] = ha_int32_t_to_int64_,   [HA_DTYPE_int64_t] = ha_int64_t_to_int64_,
        [HA_DTYPE_uint8_t] = ha_uint8_t_to_int64_,   [HA_DTYPE_uint16_t] = ha_uint16_t_to_int64_,
        [HA_DTYPE_uint32_t] = ha_uint32_t_to_int64_, [HA_DTYPE_uint64_t] = ha_uint64_t_to_int64_,
        [HA_DTYPE_bool] = ha_bool_to_int64_,
    };
    int64_t negative = 0;
    conversions[type](to, from, n);
    if (type != HA_DTYPE_uint64_t) return 1;
    for (size_t i = 0; i < n; i++) negative |= to[i];
    return negative >= 0;
}

#define HA_FROM_INT64S_(T, least, most)                                                            \
    static int ha_int64_to_##T##_(void *to, const int64_t *from, size_t n) {                       \
        int misfit = 0;                                                                            \
        for (size_t i = 0; i < n; i++) {                                                           \
            const T y = (T)from[i];                                                                \
            misfit |= from[i] < least || from[i] > most;                                           \
            memcpy((char *)to + i * sizeof y, &y, sizeof y);                                       \
        }                                                                                          \
        return !misfit;                                                                            \
    }
HA_FROM_INT64S_(int8_t, INT8_MIN, INT8_MAX)
HA_FROM_INT64S_(int16_t, INT16_MIN, INT16_MAX)
HA_FROM_INT64S_(int32_t, INT32_MIN, INT32_MAX)
HA_FROM_INT64S_(int64_t, INT64_MIN, INT64_MAX)
HA_FROM_INT64S_(uint8_t, 0, UINT8_MAX)
HA_FROM_INT64S_(uint16_t, 0, UINT16_MAX)
HA_FROM_INT64S_(uint32_t, 0, (int64_t)UINT32_MAX)
HA_FROM_INT64S_(uint64_t, 0, INT64_MAX)

static int ha_from_int64s(void *to, ha_dtype type, const int64_t *from, size_t n) {
    static int (*const conversions[])(void *, const int64_t *, size_t) = {
        [HA_DTYPE_int8_t] = ha_int64_to_int8_t_,     [HA_DTYPE_int16_t] = ha_int64_to_int16_t_,
        [HA_DTYPE_int32_t] = ha_int64_to_int32_t_,   [HA_DTYPE_int64_t] = ha_int64_to_int64_t_,
        [HA_DTYPE_uint8_t] = ha_int64_to_uint8_t_,   [HA_DTYPE_uint16_t] = ha_int64_to_uint16_t_,
        [HA_DTYPE_uint32_t] = ha_int64_to_uint32_t_, [HA_DTYPE_uint64_t] = ha_int64_to_uint64_t_,
    };
    return conversions[type](to, from, n);
}

/* ---- any ------------------------------------------------------------------------------------ */

static int ha_is_integer(ha_dtype type) {
    const ha_number_kind kind = ha_dtype_kind(type);
    return kind == HA_KIND_SIGNED || kind == HA_KIND_UNSIGNED;
}

static int ha_is_wide_integer(ha_dtype type) {
    return ha_is_integer(type) && ha_dtype_size(type) == 8;
}

static int ha_is_integer_or_bool(ha_dtype type) {
    return ha_is_integer(type) || type == HA_DTYPE_bool;
}

/* Whether there are values that the other type has no place for. */
static int ha_conversion_may_fail(ha_dtype from, ha_dtype to) {
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
static int ha_convert_directly(void *to, ha_dtype to_type, const void *from, ha_dtype from_type,
                               size_t n) {
    const ha_dtype f = from_type, t = to_type;
    if (f == t)
        memcpy(to, from, n * ha_dtype_size(t));
    else if (f == HA_DTYPE_float && t == HA_DTYPE_half)
        ha_convert_float_to_half((ha_half *)to, (const float *)from, n);
    else if (f == HA_DTYPE_float && t == HA_DTYPE_bfloat16)
        ha_convert_float_to_bfloat16((ha_bfloat16 *)to, (const float *)from, n);
    else if (f == HA_DTYPE_half && t == HA_DTYPE_float)
        ha_convert_half_to_float((float *)to, (const ha_half *)from, n);
    else if (f == HA_DTYPE_bfloat16 && t == HA_DTYPE_float)
        ha_convert_bfloat16_to_float((float *)to, (const ha_bfloat16 *)from, n);
    else if (f == HA_DTYPE_c64 && t == HA_DTYPE_c128)
        ha_float_to_double_(to, from, 2 * n);
    else if (f == HA_DTYPE_c128 && t == HA_DTYPE_c64)
        ha_double_to_float_(to, from, 2 * n);
    else if (t == HA_DTYPE_double && ha_dtype_kind(f) != HA_KIND_COMPLEX)
        (void)ha_to_doubles((double *)to, from, f, n, HA_HUB_NEAREST);
    else if (f == HA_DTYPE_double && !ha_is_integer(t))
        (void)ha_from_doubles(to, t, (const double *)from, n);
    else
        return 0;
    return 1;
}

/* Up to HA_HUB numbers. Returns whether all fit. */
static int ha_convert_through(void *to, ha_dtype to_type, const void *from, ha_dtype from_type,
                              size_t n) {
    int64_t integers[HA_HUB];
    double doubles[HA_HUB];
    if (ha_is_integer_or_bool(from_type) && ha_is_integer(to_type))
        return ha_to_int64s(integers, from, from_type, n) &&
               ha_from_int64s(to, to_type, integers, n);
    ha_hub_use use = to_type == HA_DTYPE_bool   ? HA_HUB_TRUTH
                     : to_type == HA_DTYPE_c128 ? HA_HUB_NEAREST
                                                : HA_HUB_ROUNDED_LATER;
    return ha_to_doubles(doubles, from, from_type, n, use) &&
           ha_from_doubles(to, to_type, doubles, n);
}

/* n numbers, at aligned addresses. Returns whether all fit; some may be converted when one does not. */
static int ha_convert_many(void *to, ha_dtype to_type, const void *from, ha_dtype from_type,
                           size_t n) {
    const size_t from_size = ha_dtype_size(from_type), to_size = ha_dtype_size(to_type);
    if (ha_convert_directly(to, to_type, from, from_type, n)) return 1;
    for (size_t i = 0, piece; i < n; i += piece) {
        piece = n - i < HA_HUB ? n - i : HA_HUB;
        if (!ha_convert_through((char *)to + i * to_size, to_type,
                                (const char *)from + i * from_size, from_type, piece))
            return 0;
    }
    return 1;
}

#endif
