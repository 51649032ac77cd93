/* The blocks of incarnations: where they come from, and how one grows or moves with its values.
 * Called by the thread that has the array busy, without the lock. What would make the host wait
 * returns HA_RETRY_. */
#ifndef HARRAY_IMPL_TRANSFER_INCARNATION_H
#define HARRAY_IMPL_TRANSFER_INCARNATION_H

#include "queue.h"
#include "reclaim.h"

/* ---- new blocks ---------------------------------------------------------------------------- */

/* Host memory, pinned if there is any: a lack of that is no reason to fail, nor to wait. */
HA_IN_ ha_status ha_host_block_take(ha_purpose use, ha_memory *pinned, size_t bytes,
                                    ha_block **block, ha_attempt *attempt) {
    ha_attempt once = {.site = attempt->site};
    if (HA_DEBUGGING_ && use == HA_LIVE) pinned = NULL; /* only pageable memory is protected */
    if (pinned && !ha_block_take_for(use, pinned, bytes, block, &once)) return HA_OK;
    if (pinned) ha_forget_note();
    return ha_block_take(use, &ha_host_memory, bytes, block, attempt);
}

/* The same for the host, waiting for retired blocks if need be. */
HA_IN_ ha_status ha_host_block_get(ha_memory *pinned, size_t bytes, ha_block **block) {
    ha_attempt attempt = {0};
    ha_status s;
    while ((s = ha_host_block_take(HA_LIVE, pinned, bytes, block, &attempt)) == HA_RETRY_)
        if ((s = ha_attempt_pass(&attempt))) return s;
    return s;
}

/* The same for a zero-copy context's work. Where that asks, pinned memory alone is sure to do. */
HA_IN_ ha_status ha_shared_block_get(const ha_context *c, size_t bytes, ha_block **block) {
    ha_memory *pinned = c->home->pinned;
    if (pinned && ha_asks(c)) return ha_block_get(pinned, bytes, block);
    return ha_host_block_get(pinned, bytes, block);
}

/* Whether the queue of a context that asks can work on a block. */
HA_IN_ int ha_maps(const ha_context *c, const ha_block *b) {
    const ha_backend *backend = c->backend;
    const char *data = (const char *)b->data;
    if (b->memory == c->home->pinned) return 1;
    return backend->maps(c->device, data) && backend->maps(c->device, data + b->bytes - 1);
}

/* A block for an incarnation. On the host it is pinned by the device whose queue c works there, else by
 * the one that it was to be pinned for, else by the one that touched the array first. */
HA_IN_ ha_status ha_incarnation_take_bytes(const ha_array *a, const ha_incarnation *in,
                                           const ha_context *c, size_t bytes, ha_block **block,
                                           ha_attempt *attempt) {
    if (in->memory != &ha_host_memory)
        return ha_block_take(HA_LIVE, in->memory, bytes, block, attempt);
    if (!c->ops || c->memory != in->memory) c = a->pinned_for ? a->pinned_for : a->first_touch;
    if (c->home->pinned && ha_asks(c))
        return ha_block_take(HA_LIVE, c->home->pinned, bytes, block, attempt);
    return ha_host_block_take(HA_LIVE, c->home->pinned, bytes, block, attempt);
}

/* For n elements. */
HA_IN_ ha_status ha_incarnation_take(ha_array *a, const ha_incarnation *in, const ha_context *c,
                                     size_t n, ha_block **block, ha_attempt *attempt) {
    size_t bytes;
    if (a->ops) {
        ha_status s = a->ops->block_bytes(a, in->memory, &bytes);
        if (s) return s;
    } else if (!ha_block_bytes(a, n, &bytes))
        return HA_ERR_MEMORY;
    return ha_incarnation_take_bytes(a, in, c, bytes, block, attempt);
}

/* ---- in the place of others ---------------------------------------------------------------- */

/* Puts a block in the place of the incarnation's, and the operations on it. Returns the old
 * ones. */
HA_IN_ ha_block *ha_block_exchange(ha_array *a, ha_incarnation *in, ha_block *block, size_t n,
                                   ha_ops *ops) {
    ha_lock(a);
    ha_block *old = in->block;
    ha_ops old_ops = in->ops;
    in->block = block;
    in->data = block ? (char *)block->data + a->lead : NULL;
    in->capacity = n;
    in->leaving = 0;
    in->ops = *ops;
    in->ops.promised = old_ops.promised;
    in->ops.grid = a->grid;
    ha_unlock(a);
    *ops = old_ops;
    if (block && __atomic_load_n(&a->version, __ATOMIC_RELAXED)) ha_resident_enter(a, in);
    return old;
}

/* Takes the block away; it goes back when its operations have happened. Cannot fail. */
HA_IN_ void ha_incarnation_drop(ha_array *a, ha_incarnation *in) {
    ha_ops ops = {0};
    ha_block *old = ha_block_exchange(a, in, NULL, 0, &ops);
    if (old)
        ha_block_retire(old, &ops);
    else
        ha_ops_free(&ops);
}

/* The same of a record array: all of the block, for nobody else uses it. */
HA_IN_ ha_status ha_copy_block(ha_array *a, ha_incarnation *in, ha_block *to, ha_context *queue,
                               ha_ops *ops, ha_attempt *attempt) {
    ha_strided_copy copy = {.to = to->data, .from = in->data};
    int some;
    ha_status s = a->ops->block_bytes(a, in->memory, &copy.bytes);
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
HA_IN_ ha_status ha_copy_values(ha_array *a, ha_incarnation *in, ha_block *to, ha_context *queue,
                                ha_ops *ops, ha_attempt *attempt) {
    ha_status s = HA_OK;
    const ha_range *v = ha_set_ranges(&in->valid);
    ha_range so_far = v[0]; /* one entry for all */
    if (a->ops) return in->valid.n ? ha_copy_block(a, in, to, queue, ops, attempt) : HA_OK;
    for (uint32_t i = 0; i < in->valid.n && !s; i++) {
        const size_t at = v[i].first * a->element;
        const ha_strided_copy copy = ha_box_copy(a->grid, v[i], a->element,
                                                 (char *)to->data + a->lead + at, in->data + at);
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
HA_IN_ ha_status ha_block_with_values(ha_array *a, ha_incarnation *in, size_t n, ha_context *queue,
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
HA_IN_ ha_status ha_incarnation_renew(ha_array *a, ha_incarnation *in, ha_context *c, size_t n,
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

/* Whether accesses are open on a block that is too short for the array, so that it must not move. */
HA_IN_ int ha_is_short_in_use(ha_array *a, const ha_incarnation *in) {
    int in_use = 0;
    ha_lock(a);
    for (uint32_t i = 0; i < a->holders; i++)
        in_use |= a->holder[i].on_short && a->holder[i].context->memory == in->memory;
    ha_unlock(a);
    return in_use;
}

HA_IN_ ha_status ha_incarnation_room(ha_array *a, ha_incarnation *in, ha_context *c, size_t n,
                                     ha_attempt *attempt) {
    return n <= in->capacity ? HA_OK : ha_incarnation_renew(a, in, c, n, attempt);
}

#endif
