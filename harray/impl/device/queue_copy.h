/* Copying a box: as few equally spaced pieces as it can be seen as, and as few calls of the queue.
 *
 * The pieces of a box lie on some levels: rows, planes of rows, and so on. What lies without gaps is
 * one piece. Two levels go in one call, where the backend has one for that (copy3d). */
#ifndef HARRAY_IMPL_DEVICE_QUEUE_COPY_H
#define HARRAY_IMPL_DEVICE_QUEUE_COPY_H

#include "timeline.h"

/* The innermost level first; distances in bytes. */
typedef struct ha_rows {
    size_t bytes; /* of a piece */
    int levels;
    size_t count[HA_MOST_RANK], to[HA_MOST_RANK], from[HA_MOST_RANK];
} ha_rows;

/* r, not empty, in memory that has the array's grid. */
static ha_rows ha_rows_of(const ha_grid *g, ha_range r, size_t element) {
    ha_rows rows = {.bytes = element};
    ha_box box;
    if (!g) {
        rows.bytes = (r.last - r.first) * element;
        return rows;
    }
    ha_box_of(g, r, &box);
    for (int d = g->rank; d-- > 0;) {
        const size_t n = box.last[d] - box.first[d], step = g->pitch[d] * element;
        const int k = rows.levels - 1;
        if (n == 1) continue;
        if (k < 0 && step == rows.bytes)
            rows.bytes *= n;
        else if (k >= 0 && step == rows.count[k] * rows.to[k])
            rows.count[k] *= n;
        else {
            rows.count[rows.levels] = n;
            rows.to[rows.levels] = rows.from[rows.levels] = step;
            rows.levels++;
        }
    }
    return rows;
}

/* The distances of the same pieces, one behind the other. */
static void ha_rows_pack(const ha_rows *rows, size_t *distance) {
    size_t step = rows->bytes;
    for (int k = 0; k < rows->levels; k++) {
        distance[k] = step;
        step *= rows->count[k];
    }
}

/* A copy that is being enqueued. */
typedef struct ha_mover {
    ha_context *queue;
    int some; /* has been enqueued */
} ha_mover;

static ha_status ha_mover_check(ha_mover *m, ha_status s) {
    s = ha_queue_status(m->queue, s);
    m->some |= !s;
    return s;
}

static ha_status ha_move_piece(ha_mover *m, void *to, const void *from, size_t bytes) {
    if (m->queue->ops)
        return ha_mover_check(m, m->queue->ops->copy(m->queue->queue, to, from, bytes));
    memcpy(to, from, bytes);
    return HA_OK;
}

/* The innermost level or two. HA_ERR_UNSUPPORTED: not in one call. */
static ha_status ha_move_at_once(ha_mover *m, char *to, const char *from, const ha_rows *rows,
                                 int levels) {
    const ha_context *queue = m->queue;
    const int two = levels > 1;
    const ha_pieces p = {.bytes = rows->bytes,
                         .rows = rows->count[0],
                         .planes = two ? rows->count[1] : 1,
                         .to_row = rows->to[0],
                         .from_row = rows->from[0],
                         .to_plane = two ? rows->to[1] : rows->count[0] * rows->to[0],
                         .from_plane = two ? rows->from[1] : rows->count[0] * rows->from[0]};
    if (!queue->ops || !HA_HAS_(queue->ops, ha_queue_ops, copy3d)) return HA_ERR_UNSUPPORTED;
    if (p.to_plane % p.to_row || p.from_plane % p.from_row) return HA_ERR_UNSUPPORTED;
    ha_status s = ha_mover_check(m, queue->ops->copy3d(queue->queue, to, from, &p));
    if (s == HA_ERR_UNSUPPORTED) ha_forget_note();
    return s;
}

/* Level by level from the outermost, down to calls of the queue. */
static ha_status ha_move_levels(ha_mover *m, char *to, const char *from, const ha_rows *rows,
                                int levels) {
    ha_status s = HA_ERR_UNSUPPORTED;
    if (!levels) return ha_move_piece(m, to, from, rows->bytes);
    if (levels <= 2) s = ha_move_at_once(m, to, from, rows, levels);
    if (s != HA_ERR_UNSUPPORTED) return s;
    const int k = levels - 1;
    s = HA_OK;
    for (size_t i = 0; i < rows->count[k] && !s; i++)
        s = ha_move_levels(m, to + i * rows->to[k], from + i * rows->from[k], rows, k);
    return s;
}

/* Enqueues the pieces to <- from on `queue`; on the host (no queue) copies them now. HA_ERR_LOST:
 * the queue has failed. *some: also when it fails, whether any were enqueued. */
static ha_status ha_move_rows(ha_context *queue, void *to, const void *from, const ha_rows *rows,
                              int *some) {
    ha_mover m = {queue, 0};
    ha_status s = ha_move_levels(&m, (char *)to, (const char *)from, rows, rows->levels);
    *some = m.some;
    return s;
}

#endif
