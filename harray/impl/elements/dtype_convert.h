/* Conversions of many numbers from any element type to any other, as ha_dvalue_convert does it with one:
 * those of layout/impl/convert/scalars.h, by the engine's names of types. */
#ifndef HARRAY_IMPL_ELEMENTS_DTYPE_CONVERT_H
#define HARRAY_IMPL_ELEMENTS_DTYPE_CONVERT_H

#include "../../../layout/impl/convert/all.h"
#include "../../dtype.h"

static ha_scalar ha_dtype_scalar(ha_dtype type) {
    static const ha_scalar scalars[] = {
        [HA_DTYPE_half] = HA_F16,     [HA_DTYPE_bfloat16] = HA_BF16, [HA_DTYPE_float] = HA_F32,
        [HA_DTYPE_double] = HA_F64,   [HA_DTYPE_int8_t] = HA_I8,     [HA_DTYPE_int16_t] = HA_I16,
        [HA_DTYPE_int32_t] = HA_I32,  [HA_DTYPE_int64_t] = HA_I64,   [HA_DTYPE_uint8_t] = HA_U8,
        [HA_DTYPE_uint16_t] = HA_U16, [HA_DTYPE_uint32_t] = HA_U32,  [HA_DTYPE_uint64_t] = HA_U64,
        [HA_DTYPE_c64] = HA_C64,      [HA_DTYPE_c128] = HA_C128,     [HA_DTYPE_bool] = HA_BOOL,
    };
    return scalars[type];
}

static int ha_is_integer(ha_dtype type) { return ha_is_integer_scalar(ha_dtype_scalar(type)); }

static int ha_is_wide_integer(ha_dtype type) {
    return ha_is_integer(type) && ha_dtype_size(type) == 8;
}

static int ha_is_integer_or_bool(ha_dtype type) {
    return ha_is_integer(type) || type == HA_DTYPE_bool;
}

/* Whether there are values that the other type has no place for. */
static int ha_conversion_may_fail(ha_dtype from, ha_dtype to) {
    return ha_scalars_may_misfit(ha_dtype_scalar(from), ha_dtype_scalar(to));
}

/* n numbers, at aligned addresses. Returns whether all fit; some may be converted when one does not. */
static int ha_convert_many(void *to, ha_dtype to_type, const void *from, ha_dtype from_type,
                           size_t n) {
    return ha_convert_scalars(to, ha_dtype_scalar(to_type), from, ha_dtype_scalar(from_type), n);
}

/* Whether all fit, of types of which some may not: without writing anything. */
static int ha_all_fit(ha_dtype to_type, const void *from, ha_dtype from_type, size_t n) {
    return ha_scalars_fit(ha_dtype_scalar(to_type), from, ha_dtype_scalar(from_type), n);
}

/* Without a way through something else; returns whether there is such. */
static int ha_convert_directly(void *to, ha_dtype to_type, const void *from, ha_dtype from_type,
                               size_t n) {
    return ha_convert_scalars_directly(to, ha_dtype_scalar(to_type), from,
                                       ha_dtype_scalar(from_type), n);
}

/* What the doubles are for is to be looked at. */
static int ha_to_doubles(double *to, const void *from, ha_dtype type, size_t n) {
    return ha_scalars_to_doubles(to, from, ha_dtype_scalar(type), n, HA_HUB_NEAREST);
}

/* Integers and truth values; returns whether all fit. */
static int ha_to_int64s(int64_t *to, const void *from, ha_dtype type, size_t n) {
    if (type != HA_DTYPE_bool) return ha_to_integers(to, HA_I64, from, ha_dtype_scalar(type), n);
    ha_bool_to_int64_(to, from, n);
    return 1;
}

#endif
