/* The types that a field of a record can have, in one table. A field whose type is another struct
 * has its parts as fields of their own; pointers and the like are no fields. */
#ifndef HARRAY_LAYOUT_SCALAR_H
#define HARRAY_LAYOUT_SCALAR_H

#include "detail/number.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* X(ENUMERATOR, name in texts, C type, bytes, alignment) */
#define HA_SCALARS(X)                                                                              \
    X(HA_BOOL, "bool", bool, 1, 1)                                                                 \
    X(HA_I8, "i8", int8_t, 1, 1)                                                                   \
    X(HA_I16, "i16", int16_t, 2, 2)                                                                \
    X(HA_I32, "i32", int32_t, 4, 4)                                                                \
    X(HA_I64, "i64", int64_t, 8, 8)                                                                \
    X(HA_U8, "u8", uint8_t, 1, 1)                                                                  \
    X(HA_U16, "u16", uint16_t, 2, 2)                                                               \
    X(HA_U32, "u32", uint32_t, 4, 4)                                                               \
    X(HA_U64, "u64", uint64_t, 8, 8)                                                               \
    X(HA_F16, "f16", ha_half, 2, 2)                                                                \
    X(HA_BF16, "bf16", ha_bfloat16, 2, 2)                                                          \
    X(HA_F32, "f32", float, 4, 4)                                                                  \
    X(HA_F64, "f64", double, 8, 8)                                                                 \
    X(HA_C64, "c64", ha_c64, 8, 4)                                                                 \
    X(HA_C128, "c128", ha_c128, 16, 8)

typedef enum ha_scalar {
    HA_NO_SCALAR = 0
#define HA_SCALAR_ENUMERATOR_(name, text, T, size, alignment) , name
    HA_SCALARS(HA_SCALAR_ENUMERATOR_)
#undef HA_SCALAR_ENUMERATOR_
} ha_scalar;

/* X(C type, ENUMERATOR): every C type that is a scalar, each once on every platform. */
#define HA_SCALAR_TYPES(X)                                                                         \
    X(bool, HA_BOOL)                                                                               \
    X(char, HA_SCALAR_OF_CHAR_)                                                                    \
    X(signed char, HA_I8)                                                                          \
    X(short, HA_I16)                                                                               \
    X(int, HA_I32)                                                                                 \
    X(long, HA_I64)                                                                                \
    X(long long, HA_I64)                                                                           \
    X(unsigned char, HA_U8)                                                                        \
    X(unsigned short, HA_U16)                                                                      \
    X(unsigned int, HA_U32)                                                                        \
    X(unsigned long, HA_U64)                                                                       \
    X(unsigned long long, HA_U64)                                                                  \
    X(ha_half, HA_F16)                                                                             \
    X(ha_bfloat16, HA_BF16)                                                                        \
    X(float, HA_F32)                                                                               \
    X(double, HA_F64)                                                                              \
    X(ha_c64, HA_C64)                                                                              \
    X(ha_c128, HA_C128)
#if CHAR_MIN < 0
#define HA_SCALAR_OF_CHAR_ HA_I8
#else
#define HA_SCALAR_OF_CHAR_ HA_U8
#endif

/* HA_SCALAR_OF(T): the enumerator of a C type, a constant; HA_NO_SCALAR for every other type. */
#ifdef __cplusplus
template <typename T> struct ha_scalar_of_ { static constexpr ha_scalar value = HA_NO_SCALAR; };
#define HA_SCALAR_TRAIT_(T, name)                                                                  \
    template <> struct ha_scalar_of_<T> { static constexpr ha_scalar value = name; };
HA_SCALAR_TYPES(HA_SCALAR_TRAIT_)
#undef HA_SCALAR_TRAIT_
#define HA_SCALAR_OF(T) (ha_scalar_of_<T>::value)
#else
#define HA_SCALAR_CHOICE_(T, name) T * : name,
/* clang-format off */
#define HA_SCALAR_OF(T) _Generic((T *)0, HA_SCALAR_TYPES(HA_SCALAR_CHOICE_) default : HA_NO_SCALAR)
/* clang-format on */
#endif

/* "f32" and the like; "" for what is no scalar. */
HA_FN const char *ha_scalar_name(ha_scalar scalar) {
#define HA_SCALAR_CASE_(name, text, T, size, alignment)                                            \
    if (scalar == name) return text;
    HA_SCALARS(HA_SCALAR_CASE_)
#undef HA_SCALAR_CASE_
    return "";
}

/* Bytes of a value, and what its address is a multiple of; 0 for what is no scalar. */
HA_FN int64_t ha_scalar_size(ha_scalar scalar) {
#define HA_SCALAR_CASE_(name, text, T, size, alignment)                                            \
    if (scalar == name) return size;
    HA_SCALARS(HA_SCALAR_CASE_)
#undef HA_SCALAR_CASE_
    return 0;
}
HA_FN int64_t ha_scalar_alignment(ha_scalar scalar) {
#define HA_SCALAR_CASE_(name, text, T, size, alignment)                                            \
    if (scalar == name) return alignment;
    HA_SCALARS(HA_SCALAR_CASE_)
#undef HA_SCALAR_CASE_
    return 0;
}

#endif
