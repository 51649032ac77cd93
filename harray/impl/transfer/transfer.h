/* Moving bytes: blocks that grow, and transfers between incarnations. Called by the thread that has
 * the array busy, without the lock. Anything that would make the host wait returns HA_RETRY_. */
#ifndef HARRAY_IMPL_TRANSFER_TRANSFER_H
#define HARRAY_IMPL_TRANSFER_TRANSFER_H

#include "links.h"

/* Enqueues the pieces on `queue`; on the host (no queue) does it now. HA_RETRY_ when the
 * queue turns out to have failed. *some: whether any were enqueued, also when it fails. */
static ha_status ha_move_pieces(ha_context *queue, const ha_strided_copy *copy, int *some,
                                ha_attempt *attempt) {
    ha_status s = ha_move_copy(queue, copy, some);
    if (s != HA_ERR_LOST) return s;
    ha_forget_note();
    attempt->point = (ha_timepoint){queue, 0};
    return HA_RETRY_;
}

/* Notes an operation of `queue`; the host's are over when they are noted. Lock held. */
static void ha_note_operation(ha_ops *o, ha_context *queue, ha_range r, int write,
                              const char *site) {
    if (!queue->ops) return;
    ha_ops_note(o, (ha_timepoint){queue, ha_sequence(queue)}, r.first, r.last, write, site);
}

static ha_context *ha_memory_context(const ha_memory *m) {
    return m->primary ? m->primary : &ha_host_context;
}

/* A queue of the memory's device that works: the primary one, unless that has failed. */
static ha_context *ha_memory_queue(const ha_memory *m) {
    ha_context *c = ha_memory_context(m);
    if (!ha_has_failed(c)) return c;
    ha_context *other = __atomic_load_n(&ha_registry.contexts, __ATOMIC_ACQUIRE);
    while (other && !ha_serves(other, m)) other = other->next;
    return other ? other : c;
}

/* For those who have no other way to try: a queue that has failed is a backend's failure. */
static ha_status ha_or_backend(ha_context *c, ha_status s) {
    return ha_queue_status(c, s) == HA_ERR_LOST ? HA_ERR_BACKEND : s;
}

/* The queue for work inside one memory: c, when it is there. */
static ha_context *ha_local_queue(const ha_incarnation *in, ha_context *c) {
    return c->memory == in->memory ? c : ha_memory_queue(in->memory);
}

/* ---- blocks for incarnations ----------------------------------------------------------------- */

/* Host memory, pinned if there is any: a lack of that is no reason to fail, nor to wait. */
static ha_status ha_host_block_take(ha_use use, ha_memory *pinned, size_t bytes, ha_block **block,
                                    ha_attempt *attempt) {
    ha_attempt once = {.site = attempt->site};
    if (HA_DEBUGGING_ && use == HA_LIVE) pinned = NULL; /* only pageable memory is protected */
    if (pinned && !ha_block_take_for(use, pinned, bytes, block, &once)) return HA_OK;
    if (pinned) ha_forget_note();
    return ha_block_take_for(use, &ha_host_memory, bytes, block, attempt);
}

/* The same for the host, waiting for retired blocks if need be. */
static ha_status ha_host_block_get(ha_memory *pinned, size_t bytes, ha_block **block) {
    ha_attempt attempt = {0};
    ha_status s;
    while ((s = ha_host_block_take(HA_LIVE, pinned, bytes, block, &attempt)) == HA_RETRY_)
        if ((s = ha_wait_past(attempt.point, attempt.site))) return s;
    return s;
}

/* The same for a zero-copy context's work. Where that asks, pinned memory alone is sure to do. */
static ha_status ha_shared_block_get(const ha_context *c, size_t bytes, ha_block **block) {
    ha_memory *pinned = c->home->pinned;
    if (pinned && ha_asks(c)) return ha_block_get(pinned, bytes, block);
    return ha_host_block_get(pinned, bytes, block);
}

/* Whether the queue of a context that asks can work on a block. */
static int ha_maps(const ha_context *c, const ha_block *b) {
    const ha_backend *backend = c->backend;
    const char *data = (const char *)b->data;
    if (b->memory == c->home->pinned) return 1;
    return backend->maps(c->device, data) && backend->maps(c->device, data + b->bytes - 1);
}

/* A block for an incarnation. On the host it is pinned by the device whose queue c works there, else by
 * the one that touched the array first. */
static ha_status ha_incarnation_take_bytes(const ha_array *a, const ha_incarnation *in,
                                           const ha_context *c, size_t bytes, ha_block **block,
                                           ha_attempt *attempt) {
    if (in->memory != &ha_host_memory)
        return ha_block_take_for(HA_LIVE, in->memory, bytes, block, attempt);
    if (!c->ops || c->memory != in->memory) c = a->first_touch;
    if (c->home->pinned && ha_asks(c))
        return ha_block_take_for(HA_LIVE, c->home->pinned, bytes, block, attempt);
    return ha_host_block_take(HA_LIVE, c->home->pinned, bytes, block, attempt);
}

/* For n elements. */
static ha_status ha_incarnation_take(ha_array *a, const ha_incarnation *in, const ha_context *c,
                                     size_t n, ha_block **block, ha_attempt *attempt) {
    size_t bytes;
    if (a->form) {
        ha_status s = a->form->ops->block_bytes(a, in->memory, &bytes);
        if (s) return s;
    } else if (!ha_bytes_of(n, a->element, &bytes))
        return HA_ERR_MEMORY;
    return ha_incarnation_take_bytes(a, in, c, bytes, block, attempt);
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
    in->ops.grid = a->grid;
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

/* The same of an array with a form: all of the block, for nobody else uses it. */
static ha_status ha_copy_block(ha_array *a, ha_incarnation *in, ha_block *to, ha_context *queue,
                               ha_ops *ops, ha_attempt *attempt) {
    ha_strided_copy copy = {.to = to->data, .from = in->data};
    int some;
    ha_status s = a->form->ops->block_bytes(a, in->memory, &copy.bytes);
    if (!s) s = ha_move_pieces(queue, &copy, &some, attempt);
    if (s) return s;
    ha_note_operation(ops, queue, HA_WHOLE_, 1, attempt->site);
    ha_lock(a);
    ha_note_operation(&in->ops, queue, HA_WHOLE_, 0, attempt->site);
    ha_unlock(a);
    return HA_OK;
}

/* Enqueues the valid ranges from the old block to the new one; notes on `ops`, of the new one, what
 * was enqueued also when it fails half-way. */
static ha_status ha_copy_values(ha_array *a, ha_incarnation *in, ha_block *to, ha_context *queue,
                                ha_ops *ops, ha_attempt *attempt) {
    ha_status s = HA_OK;
    const ha_range *v = ha_set_ranges(&in->valid);
    ha_range so_far = v[0]; /* one entry for all */
    if (a->form) return in->valid.n ? ha_copy_block(a, in, to, queue, ops, attempt) : HA_OK;
    for (uint32_t i = 0; i < in->valid.n && !s; i++) {
        const size_t at = v[i].first * a->element;
        const ha_strided_copy copy = ha_box_copy(a->grid, v[i], a->element, (char *)to->data + at,
                                                 in->data + at);
        int some;
        s = ha_move_pieces(queue, &copy, &some, attempt);
        if (!some) continue;
        so_far = ha_around(a->grid, so_far, v[i]);
        ha_note_operation(ops, queue, HA_WHOLE_, 1, attempt->site);
        ha_lock(a);
        ha_note_operation(&in->ops, queue, so_far, 0, attempt->site);
        ha_unlock(a);
    }
    return s;
}

/* A new block for n elements, with the valid ones enqueued into it; *ops: what works on it. */
static ha_status ha_block_with_values(ha_array *a, ha_incarnation *in, size_t n, ha_context *queue,
                                      ha_block **block, ha_ops *ops, ha_attempt *attempt) {
    ha_status s = ha_ops_reserve(a, &in->ops, 1);
    if (!s && in->valid.n) s = ha_come_after(a, in, HA_WHOLE_, 0, queue, attempt);
    if (!s) s = ha_incarnation_take(a, in, queue, n, block, attempt);
    if (s) return s;
    s = ha_copy_values(a, in, *block, queue, ops, attempt);
    if (s) ha_block_retire(*block, ops);
    return s;
}

/* A new block for n elements, keeping the valid ones. c: whose queue may copy them. */
static ha_status ha_incarnation_renew(ha_array *a, ha_incarnation *in, ha_context *c, size_t n,
                                      ha_attempt *attempt) {
    ha_block *block;
    ha_ops ops = {0};
    ha_status s = ha_block_with_values(a, in, n, ha_local_queue(in, c), &block, &ops, attempt);
    if (s) return s;
    ha_block *old = ha_block_exchange(a, in, block, n, &ops);
    if (old)
        ha_block_retire(old, &ops);
    else
        ha_ops_free(&ops);
    return HA_OK;
}

static ha_status ha_incarnation_room(ha_array *a, ha_incarnation *in, ha_context *c, size_t n,
                                     ha_attempt *attempt) {
    return n <= in->capacity ? HA_OK : ha_incarnation_renew(a, in, c, n, attempt);
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
        if (!list[i].write || !ha_overlap(a->grid, list[i].range, r)) continue;
        several |= queue && queue != list[i].at.queue;
        queue = list[i].at.queue;
    }
    ha_unlock(a);
    int usable = queue && !several && ha_serves(queue, in->memory);
    return usable ? queue : ha_memory_queue(in->memory);
}

/* NULL: one of the devices has failed since the transfer was planned, and no path is left. */
static ha_context *ha_transfer_queue(ha_array *a, ha_incarnation *from, const ha_incarnation *to,
                                     ha_range r, ha_context *c) {
    const ha_memory *device = ha_link_device(from->memory, to->memory);
    if (!device) return NULL;
    if (device == from->memory) return ha_writer_queue(a, from, r);
    return c->memory == to->memory ? c : ha_memory_queue(to->memory);
}

/* Room for what a transfer of r will note. What was brought before may have been lost since, and so
 * come once more, in other pieces. */
static ha_status ha_transfer_reserve(ha_array *a, ha_incarnation *from, ha_incarnation *to,
                                     ha_range r, ha_set *brought) {
    if (ha_ops_reserve(a, &from->ops, 1) || ha_ops_reserve(a, &to->ops, 1) ||
        ha_set_reserve(a, &to->valid, ha_set_growth(&to->valid, r, 1)) ||
        (brought && ha_set_room(brought, ha_set_growth(brought, r, 1))))
        return HA_ERR_MEMORY;
    return HA_OK;
}

/* What was enqueued is valid from now on, and counted. */
static void ha_transfer_note(ha_array *a, ha_incarnation *to, ha_range r) {
    ha_lock(a);
    ha_set_add(&to->valid, r);
    a->statistics.transfers++;
    a->statistics.bytes += ha_value_bytes(a, r);
    ha_unlock(a);
}

/* Reads and writes of a queue are under way. There is room. */
static void ha_transfer_outstanding(ha_array *a, ha_incarnation *from, ha_incarnation *to,
                                    ha_context *queue, ha_range r, const char *site) {
    ha_lock(a);
    ha_note_operation(&from->ops, queue, r, 0, site);
    ha_note_operation(&to->ops, queue, r, 1, site);
    ha_unlock(a);
}

/* Enqueues the copy of r; from then on it is valid at `to`. Adds it to *brought, if that is given.
 */
static ha_status ha_transfer(ha_array *a, ha_incarnation *from, ha_incarnation *to, ha_range r,
                             ha_context *c, ha_set *brought, ha_attempt *attempt) {
    ha_context *queue = ha_transfer_queue(a, from, to, r, c);
    const size_t at = r.first * a->element;
    const ha_strided_copy copy = ha_box_copy(a->grid, r, a->element, to->data + at,
                                             from->data + at);
    int some = 0;
    if (!queue) {
        const ha_memory *dead = ha_is_dead(from->memory) ? from->memory : to->memory;
        attempt->point = (ha_timepoint){ha_memory_context(dead), 0};
        return HA_RETRY_;
    }
    ha_status s = ha_transfer_reserve(a, from, to, r, brought);
    if (!s) s = ha_come_after(a, from, r, 0, queue, attempt);
    if (!s) s = ha_come_after(a, to, r, 1, queue, attempt);
    if (!s) ha_transfer_begins(queue);
    if (!s) s = ha_move_pieces(queue, &copy, &some, attempt);
    if (some) ha_transfer_outstanding(a, from, to, queue, r, attempt->site);
    if (s) return s;
    ha_transfer_note(a, to, r);
    ha_transferred(a, from->memory, to->memory, queue, r, attempt->site);
    if (brought) ha_set_add(brought, r);
    return HA_OK;
}

#endif
