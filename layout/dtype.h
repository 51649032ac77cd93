/* The types of elements and fields, in one table. A field whose type is another struct has its parts as
 * fields of their own; pointers and the like are no fields. */
#ifndef HARRAY_LAYOUT_DTYPE_H
#define HARRAY_LAYOUT_DTYPE_H

#include "detail/base.h"
#include "status.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum ha_number_kind {
    HA_KIND_NONE = 0,
    HA_KIND_BOOL,
    HA_KIND_SIGNED,
    HA_KIND_UNSIGNED,
    HA_KIND_REAL,
    HA_KIND_COMPLEX
} ha_number_kind;

/* X(name, C type, kind, name in texts of records and layouts): all but bool. */
#define HA_NUMBER_DTYPES(X)                                                                        \
    X(int8_t, int8_t, HA_KIND_SIGNED, "i8")                                                        \
    X(int16_t, int16_t, HA_KIND_SIGNED, "i16")                                                     \
    X(int32_t, int32_t, HA_KIND_SIGNED, "i32")                                                     \
    X(int64_t, int64_t, HA_KIND_SIGNED, "i64")                                                     \
    X(uint8_t, uint8_t, HA_KIND_UNSIGNED, "u8")                                                    \
    X(uint16_t, uint16_t, HA_KIND_UNSIGNED, "u16")                                                 \
    X(uint32_t, uint32_t, HA_KIND_UNSIGNED, "u32")                                                 \
    X(uint64_t, uint64_t, HA_KIND_UNSIGNED, "u64")                                                 \
    X(half, ha_half, HA_KIND_REAL, "f16")                                                          \
    X(bfloat16, ha_bfloat16, HA_KIND_REAL, "bf16")                                                 \
    X(float, float, HA_KIND_REAL, "f32")                                                           \
    X(double, double, HA_KIND_REAL, "f64")                                                         \
    X(c64, ha_c64, HA_KIND_COMPLEX, "c64")                                                         \
    X(c128, ha_c128, HA_KIND_COMPLEX, "c128")

/* The same, and bool as the byte that it is: 0 or 1. */
#define HA_DTYPES(X) X(bool, uint8_t, HA_KIND_BOOL, "bool") HA_NUMBER_DTYPES(X)

/* HA_DTYPE_bool, HA_DTYPE_int8_t, … */
typedef enum ha_dtype {
#define HA_DTYPE_ENUMERATOR_(name, T, kind, text) , HA_DTYPE_##name
    HA_DTYPE_NONE = 0 HA_DTYPES(HA_DTYPE_ENUMERATOR_)
#undef HA_DTYPE_ENUMERATOR_
} ha_dtype;

/* ---- of a C type ---------------------------------------------------------------------------- */

/* X(C type, ENUMERATOR): every C type that is one of them, each once on every platform. */
#define HA_DTYPES_OF_C_(X)                                                                         \
    X(bool, HA_DTYPE_bool)                                                                         \
    X(char, HA_DTYPE_OF_CHAR_)                                                                     \
    X(signed char, HA_DTYPE_int8_t)                                                                \
    X(short, HA_DTYPE_int16_t)                                                                     \
    X(int, HA_DTYPE_int32_t)                                                                       \
    X(long, HA_DTYPE_int64_t)                                                                      \
    X(long long, HA_DTYPE_int64_t)                                                                 \
    X(unsigned char, HA_DTYPE_uint8_t)                                                             \
    X(unsigned short, HA_DTYPE_uint16_t)                                                           \
    X(unsigned int, HA_DTYPE_uint32_t)                                                             \
    X(unsigned long, HA_DTYPE_uint64_t)                                                            \
    X(unsigned long long, HA_DTYPE_uint64_t)                                                       \
    X(ha_half, HA_DTYPE_half)                                                                      \
    X(ha_bfloat16, HA_DTYPE_bfloat16)                                                              \
    X(float, HA_DTYPE_float)                                                                       \
    X(double, HA_DTYPE_double)                                                                     \
    X(ha_c64, HA_DTYPE_c64)                                                                        \
    X(ha_c128, HA_DTYPE_c128)
#if CHAR_MIN < 0
#define HA_DTYPE_OF_CHAR_ HA_DTYPE_int8_t
#else
#define HA_DTYPE_OF_CHAR_ HA_DTYPE_uint8_t
#endif

/* The enumerator of a C type, a constant; HA_DTYPE_NONE for every other type. That of an enum is that of
 * its integers. */
#ifdef __cplusplus
extern "C++" {
template <typename T, bool is_enum = __is_enum(T)> struct ha_dtype_of_ {
    static constexpr ha_dtype value = HA_DTYPE_NONE;
};
template <typename T> struct ha_dtype_of_<T, true> {
    static constexpr ha_dtype value = ha_dtype_of_<__underlying_type(T)>::value;
};
#define HA_DTYPE_TRAIT_(T, name)                                                                   \
    template <> struct ha_dtype_of_<T> { static constexpr ha_dtype value = name; };
HA_DTYPES_OF_C_(HA_DTYPE_TRAIT_)
#undef HA_DTYPE_TRAIT_
}
#define HA_DTYPE_OF(T) (ha_dtype_of_<T>::value)
#else
#define HA_DTYPE_CHOICE_(T, name) T * : name,
/* clang-format off */
#define HA_DTYPE_OF(T) _Generic((T *)0, HA_DTYPES_OF_C_(HA_DTYPE_CHOICE_) default : HA_DTYPE_NONE)
/* clang-format on */
#endif

/* ---- asking --------------------------------------------------------------------------------- */

typedef struct ha_dtype_facts_ {
    const char *name, *short_name;
    unsigned char size, alignment;
    ha_number_kind kind;
} ha_dtype_facts_;

HA_HOST_FN_ ha_dtype_facts_ ha_dtype_facts_of_(ha_dtype type) {
    static const ha_dtype_facts_ facts[] = {{"no type", "", 0, 0, HA_KIND_NONE},
#define HA_DTYPE_FACTS_(name, T, kind, text) {#name, text, sizeof(T), HA_ALIGNOF_(T), kind},
                                            HA_DTYPES(HA_DTYPE_FACTS_)
#undef HA_DTYPE_FACTS_
    };
    const size_t i = HA_TO_(size_t, type);
    return facts[i < sizeof facts / sizeof *facts ? i : 0];
}

/* "half", "int8_t", …; "no type" for HA_DTYPE_NONE and what is none. */
HA_HOST_FN_ const char *ha_dtype_name(ha_dtype type) { return ha_dtype_facts_of_(type).name; }

/* As texts of records and layouts call it: "f16", "i8", …; "" for no type. */
HA_HOST_FN_ const char *ha_dtype_short_name(ha_dtype type) {
    return ha_dtype_facts_of_(type).short_name;
}

/* Bytes of an element, and what its address is a multiple of; 0 for no type. */
HA_HOST_FN_ size_t ha_dtype_size(ha_dtype type) { return ha_dtype_facts_of_(type).size; }
HA_HOST_FN_ size_t ha_dtype_alignment(ha_dtype type) { return ha_dtype_facts_of_(type).alignment; }

/* HA_KIND_NONE for no type. */
HA_HOST_FN_ ha_number_kind ha_dtype_kind(ha_dtype type) { return ha_dtype_facts_of_(type).kind; }

#endif
