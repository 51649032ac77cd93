/* The types whose arithmetic is compiled: those of HARRAY_OPS_TYPES (harray_ops.h), or all. half and bfloat16 are computed
 * with as float. */
#ifndef HARRAY_IMPL_OPS_TYPES_H
#define HARRAY_IMPL_OPS_TYPES_H

#include "../kernels/all.h"
#include "../../ops.h"

/* HA_IS_LISTED_(T): how often T is among the listed types, also by another name of it. */
#ifdef HARRAY_OPS_TYPES
#define HA_IS_LISTED_(T) HA_OPS_LISTED_(T, HARRAY_OPS_TYPES, , , , , , , , , , , , , , , , , , , )
#define HA_OPS_LISTED_(...) HA_OPS_LISTED_OF_(__VA_ARGS__)
#define HA_OPS_LISTED_OF_(T, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ...)                  \
    (HA_OPS_SAME_(T, a) + HA_OPS_SAME_(T, b) + HA_OPS_SAME_(T, c) + HA_OPS_SAME_(T, d) +           \
     HA_OPS_SAME_(T, e) + HA_OPS_SAME_(T, f) + HA_OPS_SAME_(T, g) + HA_OPS_SAME_(T, h) +           \
     HA_OPS_SAME_(T, i) + HA_OPS_SAME_(T, j) + HA_OPS_SAME_(T, k) + HA_OPS_SAME_(T, l) +           \
     HA_OPS_SAME_(T, m) + HA_OPS_SAME_(T, n) + HA_OPS_SAME_(T, o) + HA_OPS_SAME_(T, p))
#define HA_OPS_SAME_(T, other) HA_SECOND_(HA_OPS_SAME_##T##_##other, 0)
#define HA_OPS_SAME_float_float ~, 1
#define HA_OPS_SAME_float_half ~, 1
#define HA_OPS_SAME_float_bfloat16 ~, 1
#define HA_OPS_SAME_double_double ~, 1
#define HA_OPS_SAME_c64_c64 ~, 1
#define HA_OPS_SAME_c128_c128 ~, 1
#define HA_OPS_SAME_int32_t_int32_t ~, 1
#define HA_OPS_SAME_int32_t_int ~, 1
#define HA_OPS_SAME_int64_t_int64_t ~, 1
#define HA_OPS_SAME_uint32_t_uint32_t ~, 1
#define HA_OPS_SAME_uint64_t_uint64_t ~, 1
#define HA_OPS_SAME_int8_t_int8_t ~, 1
#define HA_OPS_SAME_int16_t_int16_t ~, 1
#define HA_OPS_SAME_uint8_t_uint8_t ~, 1
#define HA_OPS_SAME_uint8_t_bool ~, 1
#define HA_OPS_SAME_uint8_t__Bool ~, 1
#define HA_OPS_SAME_uint16_t_uint16_t ~, 1
HA_STATIC_ASSERT_(HA_COUNT_OF_(HARRAY_OPS_TYPES) ==
                      HA_IS_LISTED_(float) + HA_IS_LISTED_(double) + HA_IS_LISTED_(c64) +
                          HA_IS_LISTED_(c128) + HA_IS_LISTED_(int32_t) + HA_IS_LISTED_(int64_t) +
                          HA_IS_LISTED_(uint32_t) + HA_IS_LISTED_(uint64_t) +
                          HA_IS_LISTED_(int8_t) + HA_IS_LISTED_(int16_t) + HA_IS_LISTED_(uint8_t) +
                          HA_IS_LISTED_(uint16_t),
                  "HARRAY_OPS_TYPES: a name in it is no type of numbers that operations know");
#else
#define HA_IS_LISTED_(T) 1
#endif

/* HA_IF_T_(…): what is compiled of a listed type only. HA_IF_NOT_T_(…): of another one. */
#if HA_IS_LISTED_(float)
#define HA_IF_float_(...) __VA_ARGS__
#else
#define HA_IF_float_(...)
#endif
#if HA_IS_LISTED_(float) || HA_IS_LISTED_(c64) /* whose norms are joined as float */
#define HA_IF_size_of_c64_(...) __VA_ARGS__
#else
#define HA_IF_size_of_c64_(...)
#endif
#if HA_IS_LISTED_(double)
#define HA_IF_double_(...) __VA_ARGS__
#else
#define HA_IF_double_(...)
#endif
#if HA_IS_LISTED_(c64)
#define HA_IF_ha_c64_(...) __VA_ARGS__
#else
#define HA_IF_ha_c64_(...)
#endif
#if HA_IS_LISTED_(c128)
#define HA_IF_ha_c128_(...) __VA_ARGS__
#define HA_IF_NOT_ha_c128_(...)
#else
#define HA_IF_ha_c128_(...)
#define HA_IF_NOT_ha_c128_(...) __VA_ARGS__
#endif
#if HA_IS_LISTED_(int32_t)
#define HA_IF_int32_t_(...) __VA_ARGS__
#define HA_IF_NOT_int32_t_(...)
#else
#define HA_IF_int32_t_(...)
#define HA_IF_NOT_int32_t_(...) __VA_ARGS__
#endif
#if HA_IS_LISTED_(int64_t)
#define HA_IF_int64_t_(...) __VA_ARGS__
#define HA_IF_NOT_int64_t_(...)
#else
#define HA_IF_int64_t_(...)
#define HA_IF_NOT_int64_t_(...) __VA_ARGS__
#endif
#if HA_IS_LISTED_(uint32_t)
#define HA_IF_uint32_t_(...) __VA_ARGS__
#define HA_IF_NOT_uint32_t_(...)
#else
#define HA_IF_uint32_t_(...)
#define HA_IF_NOT_uint32_t_(...) __VA_ARGS__
#endif
#if HA_IS_LISTED_(uint64_t)
#define HA_IF_uint64_t_(...) __VA_ARGS__
#define HA_IF_NOT_uint64_t_(...)
#else
#define HA_IF_uint64_t_(...)
#define HA_IF_NOT_uint64_t_(...) __VA_ARGS__
#endif

/* Of types of 32 bits and more: is its arithmetic there? */
HA_IN_ int ha_op_is_listed(ha_dtype type) {
    switch (type) {
    case HA_DTYPE_float:
    case HA_DTYPE_half:
    case HA_DTYPE_bfloat16:
        return HA_IS_LISTED_(float) != 0;
    case HA_DTYPE_double:
        return HA_IS_LISTED_(double) != 0;
    case HA_DTYPE_c64:
        return HA_IS_LISTED_(c64) != 0;
    case HA_DTYPE_c128:
        return HA_IS_LISTED_(c128) != 0;
    case HA_DTYPE_int32_t:
        return HA_IS_LISTED_(int32_t) != 0;
    case HA_DTYPE_int64_t:
        return HA_IS_LISTED_(int64_t) != 0;
    case HA_DTYPE_uint32_t:
        return HA_IS_LISTED_(uint32_t) != 0;
    case HA_DTYPE_uint64_t:
        return HA_IS_LISTED_(uint64_t) != 0;
    default:
        return 1;
    }
}

#endif
