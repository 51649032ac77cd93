/* What comparing numbers asks of the conversions of many, which are those of
 * layout/impl/convert/scalars.h: as ha_dvalue_convert does it with one. */
#ifndef HARRAY_IMPL_ELEMENTS_DTYPE_CONVERT_H
#define HARRAY_IMPL_ELEMENTS_DTYPE_CONVERT_H

#include "../../../layout/impl/convert/all.h"
#include "../../dtype.h"

HA_IN_ int ha_is_wide_integer(ha_dtype type) {
    return ha_is_integer(type) && ha_dtype_size(type) == 8;
}

HA_IN_ int ha_is_integer_or_bool(ha_dtype type) {
    return ha_is_integer(type) || type == HA_DTYPE_bool;
}

/* What the doubles are for is to be looked at. */
HA_IN_ int ha_to_doubles(double *to, const void *from, ha_dtype type, size_t n) {
    return ha_scalars_to_doubles(to, from, type, n, HA_HUB_NEAREST);
}

/* Integers and truth values; returns whether all fit. */
HA_IN_ int ha_to_int64s(int64_t *to, const void *from, ha_dtype type, size_t n) {
    if (type != HA_DTYPE_bool) return ha_to_integers(to, HA_DTYPE_int64_t, from, type, n);
    ha_bool_to_int64_(to, from, n);
    return 1;
}

#endif
