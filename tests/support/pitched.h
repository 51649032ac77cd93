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

static HA_UNUSED ha_status copy_pitched(const ha_queue_ops *by, void *on, void *to,
                                        const void *from, const ha_strided_copy *shape) {
    ha_strided_copy copy = *shape;
    copy.to = to;
    copy.from = from;
    return by->copy_strided(on, &copy, 1);
}

/* The other way round. */
static HA_UNUSED ha_strided_copy pitched_turned(const ha_strided_copy *s) {
    return (ha_strided_copy)PITCHED(s->bytes, s->count[0], s->count[1], s->from_step[0],
                                    s->from_step[1], s->to_step[0], s->to_step[1]);
}

#endif
