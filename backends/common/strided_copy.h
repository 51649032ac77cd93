/* Strided copies of values (ha_stride_copy) by the host, for backends that do them themselves. */
#ifndef HARRAY_BACKENDS_COMMON_STRIDED_COPY_H
#define HARRAY_BACKENDS_COMMON_STRIDED_COPY_H

#include "../backend.h"

#include <string.h>

#define HA_STRIDES_OF_(constant)                                                                   \
    for (size_t i = 0; i < n; i++)                                                                 \
    memcpy(to + i * s->to_step[0], from + i * s->from_step[0], constant)

/* The innermost level: values of the usual sizes without a call for each. */
static void ha_strides_row(char *to, const char *from, const ha_stride_copy *s) {
    const size_t n = s->levels > 0 ? s->count[0] : 1;
    switch (s->bytes) {
    case 1:
        HA_STRIDES_OF_(1);
        break;
    case 2:
        HA_STRIDES_OF_(2);
        break;
    case 4:
        HA_STRIDES_OF_(4);
        break;
    case 8:
        HA_STRIDES_OF_(8);
        break;
    default:
        HA_STRIDES_OF_(s->bytes);
        break;
    }
}
#undef HA_STRIDES_OF_

/* The levels below `levels`. */
static void ha_strides_levels(char *to, const char *from, const ha_stride_copy *s, int levels) {
    const int k = levels - 1;
    if (levels <= 1) {
        ha_strides_row(to, from, s);
        return;
    }
    for (size_t i = 0; i < s->count[k]; i++)
        ha_strides_levels(to + i * s->to_step[k], from + i * s->from_step[k], s, k);
}

static HA_UNUSED void ha_strides_copy(const ha_stride_copy *table, size_t n) {
    for (size_t i = 0; i < n; i++)
        ha_strides_levels((char *)table[i].to, (const char *)table[i].from, &table[i],
                          table[i].levels);
}

#endif
