/* Copying a box: as few equally spaced pieces as it can be seen as, and as few calls of the queue.
 *
 * The pieces of a box lie on some levels: rows, planes of rows, and so on. What lies without gaps is
 * one piece. As many levels go in one call as the backend takes (copy_strided). */
#ifndef HARRAY_IMPL_DEVICE_QUEUE_COPY_H
#define HARRAY_IMPL_DEVICE_QUEUE_COPY_H

#include "timeline.h"
#include "../../../backends/common/strided.h"

_Static_assert((int)HA_MOST_RANK <= (int)HA_STRIDED_LEVELS, "a box is one strided copy");

/* Of r, not empty, between memories that have the array's grid; `to` and `from` are where it begins. */
HA_IN_ ha_strided_copy ha_box_copy(const ha_grid *g, ha_range r, size_t element, void *to,
                                   const void *from) {
    ha_strided_copy copy = {.to = to, .from = from, .bytes = element};
    ha_box box;
    if (!g) {
        copy.bytes = (r.last - r.first) * element;
        return copy;
    }
    ha_box_of(g, r, &box);
    for (int d = g->rank; d-- > 0;) {
        const size_t step = g->pitch[d] * element;
        ha_strided_repeat(&copy, box.last[d] - box.first[d], step, step);
    }
    return copy;
}

/* The distances of the same pieces, one behind the other. */
HA_IN_ void ha_strided_pack(const ha_strided_copy *copy, size_t *step) {
    size_t bytes = copy->bytes;
    for (int k = 0; k < copy->levels; k++) {
        step[k] = bytes;
        bytes *= copy->count[k];
    }
}

/* A copy that is being enqueued. */
typedef struct ha_mover {
    ha_context *queue;
    int some;   /* has been enqueued */
    int levels; /* more were refused in one call */
} ha_mover;

HA_IN_ ha_status ha_mover_check(ha_mover *m, ha_status s) {
    s = ha_queue_status(m->queue, s);
    m->some |= !s;
    return s;
}

HA_IN_ ha_status ha_move_piece(ha_mover *m, void *to, const void *from, size_t bytes) {
    if (m->queue->ops)
        return ha_mover_check(m, m->queue->ops->copy(m->queue->queue, to, from, bytes));
    memcpy(to, from, bytes);
    return HA_OK;
}

/* Whether some level goes backwards on one side, as in records of the caller's that lie behind each
 * other the other way round. Backends know no such copies. */
HA_IN_ int ha_strided_is_backwards(const ha_strided_copy *copy) {
    for (int k = 0; k < copy->levels; k++)
        if (copy->to_step[k] > PTRDIFF_MAX || copy->from_step[k] > PTRDIFF_MAX) return 1;
    return 0;
}

/* HA_ERR_UNSUPPORTED: not in one call. */
HA_IN_ ha_status ha_move_at_once(ha_mover *m, const ha_strided_copy *copy) {
    const ha_context *queue = m->queue;
    ha_status s = HA_ERR_UNSUPPORTED;
    if (copy->levels > m->levels || ha_strided_is_backwards(copy)) return s;
    if (queue->ops && HA_HAS_(queue->ops, ha_queue_ops, copy_strided)) {
        s = ha_mover_check(m, queue->ops->copy_strided(queue->queue, copy, 1));
        if (s == HA_ERR_UNSUPPORTED) ha_forget_note();
    }
    if (s == HA_ERR_UNSUPPORTED) m->levels = copy->levels - 1;
    return s;
}

/* At once, or part by part of the outermost level, down to pieces. */
HA_IN_ ha_status ha_move_levels(ha_mover *m, const ha_strided_copy *copy) {
    if (!copy->levels) return ha_move_piece(m, copy->to, copy->from, copy->bytes);
    ha_status s = ha_move_at_once(m, copy);
    if (s != HA_ERR_UNSUPPORTED) return s;
    ha_strided_copy part = *copy;
    const int k = --part.levels;
    s = HA_OK;
    for (size_t i = 0; i < copy->count[k] && !s; i++) {
        part.to = (char *)copy->to + (ptrdiff_t)i * (ptrdiff_t)copy->to_step[k];
        part.from = (const char *)copy->from + (ptrdiff_t)i * (ptrdiff_t)copy->from_step[k];
        s = ha_move_levels(m, &part);
    }
    return s;
}

/* Enqueues the pieces on `queue`; on the host (no queue) copies them now. HA_ERR_LOST: the queue has
 * failed. *some: also when it fails, whether any were enqueued. */
HA_IN_ ha_status ha_move_copy(ha_context *queue, const ha_strided_copy *copy, int *some) {
    ha_mover m = {queue, 0, HA_STRIDED_LEVELS};
    ha_status s = ha_move_levels(&m, copy);
    *some = m.some;
    return s;
}

#endif
