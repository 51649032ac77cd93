/* Copies of rows, and planes of them, as tests write them down. */
#ifndef HARRAY_TESTS_SUPPORT_PITCHED_H
#define HARRAY_TESTS_SUPPORT_PITCHED_H

#include "../../backends/common/strided.h"

#define PITCHED(size, rows, planes, to_row, to_plane, from_row, from_plane)                        \
    {                                                                                              \
        .bytes = (size), .levels = 2, .count = {rows, planes}, .to_step = {to_row, to_plane},      \
        .from_step = {                                                                             \
            from_row,                                                                              \
            from_plane                                                                             \
        }                                                                                          \
    }

/* In one call if the queue takes it, else in parts on one level less, as the engine does. */
static HA_UNUSED ha_status copy_in_parts(const ha_queue_ops *by, void *on,
                                         const ha_strided_copy *s) {
    const int k = s->levels - 1;
    ha_strided_copy part = *s;
    ha_status status = by->copy_strided(on, s, 1);
    if (status != HA_ERR_UNSUPPORTED) return status;
    if (k < 0) return by->copy(on, s->to, s->from, s->bytes);
    status = HA_OK;
    part.levels = k;
    for (size_t i = 0; i < s->count[k] && status == HA_OK; i++) {
        part.to = (char *)s->to + i * s->to_step[k];
        part.from = (const char *)s->from + i * s->from_step[k];
        status = copy_in_parts(by, on, &part);
    }
    return status;
}

static HA_UNUSED ha_status copy_pitched(const ha_queue_ops *by, void *on, void *to,
                                        const void *from, const ha_strided_copy *shape) {
    ha_strided_copy copy = *shape;
    copy.to = to;
    copy.from = from;
    return copy_in_parts(by, on, &copy);
}

/* The other way round. */
static HA_UNUSED ha_strided_copy pitched_turned(const ha_strided_copy *s) {
    return (ha_strided_copy)PITCHED(s->bytes, s->count[0], s->count[1], s->from_step[0],
                                    s->from_step[1], s->to_step[0], s->to_step[1]);
}

#endif
