/* Element types: a name for messages, and a size. */
#ifndef HARRAY_TYPE_H
#define HARRAY_TYPE_H

#include "status.h"
#include "half.h"
#include "bfloat16.h"
#include "complex.h"

typedef struct ha_type {
    const char *name; /* must outlive every array of the type; a string literal does */
    size_t size;      /* bytes of one element, at least 1 */
} ha_type;

static inline HA_UNUSED ha_type ha_type_of_(const char *name, size_t size) {
    ha_type type;
    type.name = name;
    type.size = size;
    return type;
}

/* The types whose typed arrays come ready-made: X(name, C type). Typed arrays are harray_name. */
#define HA_PREMADE_TYPES(X)                                                                        \
    X(float, float)                                                                                \
    X(double, double)                                                                              \
    X(half, ha_half)                                                                               \
    X(bfloat16, ha_bfloat16)                                                                       \
    X(int, int)                                                                                    \
    X(int8_t, int8_t)                                                                              \
    X(int16_t, int16_t)                                                                            \
    X(int32_t, int32_t)                                                                            \
    X(int64_t, int64_t)                                                                            \
    X(uint8_t, uint8_t)                                                                            \
    X(uint16_t, uint16_t)                                                                          \
    X(uint32_t, uint32_t)                                                                          \
    X(uint64_t, uint64_t)                                                                          \
    X(c64, ha_c64)                                                                                 \
    X(c128, ha_c128)

#endif
