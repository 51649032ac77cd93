/* Parts of a record array that travel between two memories without the host: copied by the queue,
 * or by it and the device, which puts them into place. */
#ifndef HARRAY_IMPL_RECORDS_BY_QUEUE_H
#define HARRAY_IMPL_RECORDS_BY_QUEUE_H

#include "method.h"

/* ---- by the queue ---------------------------------------------------------------------------- */

/* The other way round; `from` is not only the caller's to read. */
HA_IN_ ha_strided_copy ha_strided_turn(const ha_strided_copy *copy) {
    ha_strided_copy turned = *copy;
    turned.to = (void *)copy->from;
    turned.from = copy->to;
    memcpy(turned.to_step, copy->from_step, sizeof turned.to_step);
    memcpy(turned.from_step, copy->to_step, sizeof turned.from_step);
    return turned;
}

/* Enqueues n merged copies; chunk NULL: between the two memories. here_is_to: to where they were
 * merged. *some: set when any were enqueued, also when it fails. */
HA_IN_ ha_status ha_records_transfer_some(ha_records_transfer *c, ha_context *queue,
                                          const ha_merged_copy *b, int64_t n, char *chunk,
                                          int here_is_to, int *some) {
    ha_status s = HA_OK;
    ha_transfer_begins(queue);
    for (; n > 0 && !s; n--, b++) {
        ha_strided_copy copy = b->copy;
        int moved = 0;
        if (chunk) copy.from = chunk + b->packed;
        if (!here_is_to) copy = ha_strided_turn(&copy);
        s = ha_move_pieces(queue, &copy, &moved, c->attempt);
        *some |= moved;
    }
    return s;
}

HA_IN_ ha_status ha_records_transfer_merged(ha_records_transfer *c, ha_context *queue, char *chunk,
                                            int *some) {
    return ha_records_transfer_some(c, queue, c->merged_copy, c->merged_copies, chunk,
                                    c->here_is_to, some);
}

/* The queue of the transfer; NULL: its device has failed, and the attempt has to begin again. */
HA_IN_ ha_context *ha_records_transfer_queue(ha_records_transfer *c, ha_range r) {
    ha_context *queue = ha_transfer_queue(c->array, c->from, c->to, r, c->context);
    const ha_memory *dead = ha_is_dead(c->from->memory) ? c->from->memory : c->to->memory;
    if (!queue) c->attempt->point = (ha_timepoint){ha_memory_context(dead), 0};
    return queue;
}

/* What of a part was asked for: the rest was moved for its bytes only. */
HA_IN_ ha_range ha_records_transfer_asked(const ha_records_transfer *c, ha_range r) {
    return ha_is_empty(c->asked) ? r : ha_intersect(c->array->grid, c->asked, r);
}

HA_IN_ ha_status ha_records_transfer_reserve(ha_records_transfer *c, ha_range r) {
    return ha_transfer_reserve(c->array, c->from, c->to, ha_records_transfer_asked(c, r),
                               c->brought);
}

HA_IN_ void ha_records_transfer_arrived(ha_records_transfer *c, ha_context *queue, ha_range r) {
    r = ha_records_transfer_asked(c, r);
    if (ha_is_empty(r)) return;
    ha_transfer_note(c->array, c->to, r);
    ha_transferred(c->array, c->from->memory, c->to->memory, queue, r, c->attempt->site);
    if (c->brought) ha_set_add(c->brought, r);
}

HA_IN_ ha_status ha_records_transfer_plain(ha_records_transfer *c, ha_range r) {
    ha_array *a = c->array;
    ha_context *queue = ha_records_transfer_queue(c, r);
    int some = 0;
    if (!queue) return HA_RETRY_;
    ha_status s = ha_records_transfer_reserve(c, r);
    if (!s) s = ha_come_after(a, c->from, r, 0, queue, c->attempt);
    if (!s) s = ha_come_after(a, c->to, r, 1, queue, c->attempt);
    if (!s) s = ha_records_transfer_merged(c, queue, NULL, &some);
    if (some) ha_transfer_outstanding(a, c->from, c->to, queue, r, c->attempt->site);
    if (!s) ha_records_transfer_arrived(c, queue, r);
    return s;
}

/* ---- put into place by the device ------------------------------------------------------------- */

/* Enqueues both ways through a chunk of the device. HA_ERR_UNSUPPORTED: the device cannot, for now. */
HA_IN_ ha_status ha_records_transfer_through(ha_records_transfer *c, ha_context *queue, char *chunk,
                                             int *some) {
    const int out = !c->here_is_to;
    ha_device_scatter *x = &c->scatter;
    ha_status s = HA_OK;
    if (!out)
        s = ha_records_transfer_some(c, queue, x->merged_copy, x->merged_copies, chunk, 0, some);
    if (s) return s;
    s = ha_device_scatter_enqueue(x, queue, chunk, out);
    *some |= !s;
    if (s == HA_ERR_LOST) c->attempt->point = (ha_timepoint){queue, 0};
    if (s == HA_ERR_LOST || s == HA_ERR_UNSUPPORTED || s == HA_ERR_MEMORY) ha_forget_note();
    if (s) return s == HA_ERR_LOST ? HA_RETRY_ : s == HA_ERR_MEMORY ? HA_ERR_UNSUPPORTED : s;
    return out ? ha_records_transfer_some(c, queue, x->merged_copy, x->merged_copies, chunk, 1,
                                          some)
               : s;
}

/* The same with a chunk that queues used before. */
HA_IN_ ha_status ha_records_transfer_in_chunk(ha_records_transfer *c, ha_context *queue,
                                              ha_chunk *chunk, ha_range r) {
    const ha_timepoint last = chunk->last;
    ha_status s = HA_OK;
    int some = 0;
    if (last.queue && last.queue != queue && !ha_passed(last.queue, last.seq))
        s = ha_come_after_timepoint(queue, last, c->attempt);
    if (!s) s = ha_records_transfer_through(c, queue, (char *)chunk->block->data, &some);
    if (!some) return s;
    ha_transfer_outstanding(c->array, c->from, c->to, queue, r, c->attempt->site);
    ha_chunk_use(chunk, (ha_timepoint){queue, ha_sequence_of(queue)});
    return s;
}

/* HA_ERR_UNSUPPORTED: nothing has changed; there is no chunk, or the device cannot. */
HA_IN_ ha_status ha_records_transfer_scatter(ha_records_transfer *c, ha_range r) {
    ha_array *a = c->array;
    ha_memory *near = c->here_is_to ? c->to->memory : c->from->memory;
    ha_context *queue = ha_records_transfer_queue(c, r);
    if (!queue) return HA_RETRY_;
    ha_status s = ha_records_transfer_reserve(c, r);
    if (!s) s = ha_come_after(a, c->from, r, 0, queue, c->attempt);
    if (!s) s = ha_come_after(a, c->to, r, 1, queue, c->attempt);
    if (s) return s;
    ha_chunk *chunk = queue->memory == near
                          ? ha_device_staging_take(near, c->bytes, c->attempt->site)
                          : NULL;
    if (!chunk) return HA_ERR_UNSUPPORTED;
    s = ha_records_transfer_in_chunk(c, queue, chunk, r);
    ha_chunk_give(chunk);
    if (!s) ha_records_transfer_arrived(c, queue, r);
    return s;
}

#endif
