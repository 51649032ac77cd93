/* Moving bytes: blocks that grow, and transfers between incarnations. Called by the thread that has
 * the array busy, without the lock. Anything that would make the host wait returns HA_LATER. */
#ifndef HA_IMPL_COPY_H
#define HA_IMPL_COPY_H

#include "plan.h"

/* Enqueues to <- from on `queue`; on the host (no queue) does it now. */
static ha_status ha_move_bytes(ha_context *queue, void *to, const void *from, size_t bytes) {
    if (queue->ops) return queue->ops->copy(queue->queue, to, from, bytes);
    memcpy(to, from, bytes);
    return HA_OK;
}

/* Notes an operation of `queue`; the host's are over when they are noted. Lock held. */
static void ha_note_operation(ha_ops *o, ha_context *queue, ha_range r, int write) {
    if (!queue->ops) return;
    ha_ops_note(o, (ha_operation){{queue, ha_sequence(queue)}, r, write});
}

static ha_context *ha_memory_context(const ha_memory *m) {
    return m->primary ? m->primary : &ha_host_context;
}

/* The queue for work inside one memory: c, when it is there. */
static ha_context *ha_local_queue(const ha_incarnation *in, ha_context *c) {
    return c->memory == in->memory ? c : ha_memory_context(in->memory);
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* Puts a block in the place of the incarnation's, and the operations on it. Returns the old ones.
 */
static ha_block *ha_block_exchange(ha_array *a, ha_incarnation *in, ha_block *block, size_t n,
                                   ha_ops *ops) {
    ha_lock(a);
    ha_block *old = in->block;
    ha_ops old_ops = in->ops;
    in->block = block;
    in->data = block ? (char *)block->data : NULL;
    in->capacity = n;
    in->ops = *ops;
    in->ops.promised = old_ops.promised;
    ha_unlock(a);
    *ops = old_ops;
    return old;
}

/* Takes the block away; it goes back when its operations have happened. Cannot fail. */
static void ha_incarnation_drop(ha_array *a, ha_incarnation *in) {
    ha_ops ops = {0};
    ha_block *old = ha_block_exchange(a, in, NULL, 0, &ops);
    if (old)
        ha_block_retire(old, &ops);
    else
        ha_ops_free(&ops);
}

/* Enqueues the valid ranges from the old block to the new one; notes on `ops`, of the new one, what
 * was enqueued also when it fails half-way. */
static ha_status ha_copy_values(ha_array *a, ha_incarnation *in, ha_block *to, ha_context *queue,
                                ha_ops *ops) {
    ha_status s = HA_OK;
    const ha_range *v = ha_set_ranges(&in->valid);
    for (uint32_t i = 0; i < in->valid.n && !s; i++) {
        ha_range until_here = {v[0].first, v[i].last}; /* one entry for all */
        size_t at = v[i].first * a->element, bytes = (v[i].last - v[i].first) * a->element;
        s = ha_move_bytes(queue, (char *)to->data + at, in->data + at, bytes);
        if (s) break;
        ha_note_operation(ops, queue, HA_WHOLE, 1);
        ha_lock(a);
        ha_note_operation(&in->ops, queue, until_here, 0);
        ha_unlock(a);
    }
    return s;
}

/* A new block for n elements, with the valid ones enqueued into it; *ops: what works on it. */
static ha_status ha_block_with_values(ha_array *a, ha_incarnation *in, size_t n, ha_context *queue,
                                      ha_block **block, ha_ops *ops, ha_later *later) {
    ha_status s = ha_ops_reserve(a, &in->ops, 1);
    if (!s && in->valid.n) s = ha_come_after(a, in, HA_WHOLE, 0, queue, later);
    if (!s) s = ha_block_take(in->memory, n, a->element, block, later);
    if (s) return s;
    s = ha_copy_values(a, in, *block, queue, ops);
    if (s) ha_block_retire(*block, ops);
    return s;
}

/* Makes room for n elements, keeping the valid ones. c: whose queue may copy them. */
static ha_status ha_incarnation_room(ha_array *a, ha_incarnation *in, ha_context *c, size_t n,
                                     ha_later *later) {
    ha_block *block;
    ha_ops ops = {0};
    if (n <= in->capacity) return HA_OK;
    ha_status s = ha_block_with_values(a, in, n, ha_local_queue(in, c), &block, &ops, later);
    if (s) return s;
    ha_block *old = ha_block_exchange(a, in, block, n, &ops);
    if (old)
        ha_block_retire(old, &ops);
    else
        ha_ops_free(&ops);
    return HA_OK;
}

/* ---- transfers ----------------------------------------------------------------------------- */

/* The queue whose work last wrote r on a device: following it there needs no event. The primary one
 * when there are several or none. */
static ha_context *ha_writer_queue(ha_array *a, ha_incarnation *in, ha_range r) {
    ha_context *queue = NULL;
    int several = 0;
    ha_lock(a);
    const ha_operation *list = ha_ops_list(&in->ops);
    for (uint32_t i = 0; i < in->ops.n; i++) {
        if (!list[i].write || !ha_overlap(list[i].range, r)) continue;
        several |= queue && queue != list[i].at.queue;
        queue = list[i].at.queue;
    }
    ha_unlock(a);
    return queue && !several && queue->memory == in->memory ? queue : in->memory->primary;
}

static ha_context *ha_transfer_queue(ha_array *a, ha_incarnation *from, const ha_incarnation *to,
                                     ha_range r, ha_context *c) {
    if (ha_link_device(from->memory, to->memory) == from->memory)
        return ha_writer_queue(a, from, r);
    return c->memory == to->memory ? c : to->memory->primary;
}

/* Enqueues the copy of r; from then on it is valid at `to`. Adds it to *brought, if that is given.
 */
static ha_status ha_transfer(ha_array *a, ha_incarnation *from, ha_incarnation *to, ha_range r,
                             ha_context *c, ha_set *brought, ha_later *later) {
    ha_context *queue = ha_transfer_queue(a, from, to, r, c);
    size_t at = r.first * a->element, bytes = (r.last - r.first) * a->element;
    if (ha_ops_reserve(a, &from->ops, 1) || ha_ops_reserve(a, &to->ops, 1) ||
        ha_set_reserve(a, &to->valid, 1) || (brought && ha_set_room(brought, 1)))
        return HA_ERR_MEMORY;
    ha_status s = ha_come_after(a, from, r, 0, queue, later);
    if (!s) s = ha_come_after(a, to, r, 1, queue, later);
    if (!s) s = ha_move_bytes(queue, to->data + at, from->data + at, bytes);
    if (s) return s;
    ha_lock(a);
    ha_note_operation(&from->ops, queue, r, 0);
    ha_note_operation(&to->ops, queue, r, 1);
    ha_set_add(&to->valid, r);
    a->statistics.transfers++;
    a->statistics.bytes += bytes;
    ha_unlock(a);
    if (brought) ha_set_add(brought, r);
    return HA_OK;
}

/* A piece that has no direct path: to the host, where it stays as one more valid copy, and on. */
static ha_status ha_transfer_staged(ha_array *a, const ha_piece *piece, ha_incarnation *to,
                                    ha_context *c, ha_set *brought, ha_later *later) {
    ha_incarnation *host = ha_incarnation_add(a, &ha_host_memory);
    if (!host) return HA_ERR_MEMORY;
    ha_status s = ha_incarnation_room(a, host, c, a->size, later);
    if (!s) s = ha_transfer(a, piece->from, host, piece->range, c, NULL, later);
    if (!s) s = ha_transfer(a, host, to, piece->range, c, brought, later);
    return s;
}

/* Enqueues every piece of the plan. */
static ha_status ha_plan_carry_out(ha_array *a, const ha_plan *plan, ha_incarnation *to,
                                   ha_context *c, ha_set *brought, ha_later *later) {
    ha_status s = HA_OK;
    for (size_t i = 0; i < plan->n && !s; i++) {
        const ha_piece *piece = &plan->pieces[i];
        if (piece->staged)
            s = ha_transfer_staged(a, piece, to, c, brought, later);
        else
            s = ha_transfer(a, piece->from, to, piece->range, c, brought, later);
    }
    return s;
}

#endif
