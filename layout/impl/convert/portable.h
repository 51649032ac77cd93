/* Conversions of whole arrays by the functions of half.h and bfloat16.h, one number after the other;
 * and what all conversions by one set of instructions are. */
#ifndef HARRAY_LAYOUT_IMPL_CONVERT_PORTABLE_H
#define HARRAY_LAYOUT_IMPL_CONVERT_PORTABLE_H

#include <string.h>

#include "../../bfloat16.h"
#include "../../half.h"
#include "../../status.h"

/* n numbers of any alignment. */
typedef void ha_conversion(void *to, const void *from, size_t n);

typedef struct ha_conversions {
    const char *name;
    ha_conversion *half_to_float, *half_to_double, *float_to_half, *double_to_half;
    ha_conversion *bfloat16_to_float, *bfloat16_to_double, *float_to_bfloat16, *double_to_bfloat16;
} ha_conversions;

/* All conversions by one set of instructions: their names end in its name. */
#define HA_CONVERSIONS_(set)                                                                       \
    {                                                                                              \
#set, ha_half_to_float_##set, ha_half_to_double_##set, ha_float_to_half_##set,             \
            ha_double_to_half_##set, ha_bfloat16_to_float_##set, ha_bfloat16_to_double_##set,      \
            ha_float_to_bfloat16_##set, ha_double_to_bfloat16_##set                                \
    }

#define HA_CONVERT_EACH_(name, function, From, To)                                                 \
    HA_IN_ void name(void *to, const void *from, size_t n) {                                       \
        for (size_t i = 0; i < n; i++) {                                                           \
            From x;                                                                                \
            memcpy(&x, (const char *)from + i * sizeof x, sizeof x);                               \
            const To y = function(x);                                                              \
            memcpy((char *)to + i * sizeof y, &y, sizeof y);                                       \
        }                                                                                          \
    }
HA_CONVERT_EACH_(ha_half_to_float_portable, ha_half_to_float, ha_half, float)
HA_CONVERT_EACH_(ha_half_to_double_portable, ha_half_to_double, ha_half, double)
HA_CONVERT_EACH_(ha_float_to_half_portable, ha_half_of_float, float, ha_half)
HA_CONVERT_EACH_(ha_double_to_half_portable, ha_half_of_double, double, ha_half)
HA_CONVERT_EACH_(ha_bfloat16_to_float_portable, ha_bfloat16_to_float, ha_bfloat16, float)
HA_CONVERT_EACH_(ha_bfloat16_to_double_portable, ha_bfloat16_to_double, ha_bfloat16, double)
HA_CONVERT_EACH_(ha_float_to_bfloat16_portable, ha_bfloat16_of_float, float, ha_bfloat16)
HA_CONVERT_EACH_(ha_double_to_bfloat16_portable, ha_bfloat16_of_double, double, ha_bfloat16)

static const ha_conversions ha_conversions_portable HA_UNUSED = HA_CONVERSIONS_(portable);

/* A conversion that takes steps of `width` numbers. What is left over at the end goes through a buffer,
 * behind zeros. */
#define HA_CONVERT_STEPS_(target, name, step, width, From, To)                                     \
    target HA_IN_ void name(void *to, const void *from, size_t n) {                                \
        const char *f = (const char *)from;                                                        \
        char *t = (char *)to;                                                                      \
        From rest[width] = {0};                                                                    \
        To converted[width];                                                                       \
        for (; n >= width; n -= width, f += sizeof rest, t += sizeof converted) step(t, f, 0);     \
        if (n == 0) return;                                                                        \
        memcpy(rest, f, n * sizeof *rest);                                                         \
        step((char *)converted, (const char *)rest, 0);                                            \
        memcpy(t, converted, n * sizeof *converted);                                               \
    }

#endif
