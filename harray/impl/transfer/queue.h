/* By which queue: one of the memory's device that works, and where it can be the one that need not
 * wait for another. */
#ifndef HARRAY_IMPL_TRANSFER_QUEUE_H
#define HARRAY_IMPL_TRANSFER_QUEUE_H

#include "links.h"

/* Enqueues the pieces on `queue`; on the host (no queue) does it now. HA_RETRY_ when the
 * queue turns out to have failed. *some: whether any were enqueued, also when it fails. */
HA_IN_ ha_status ha_move_pieces(ha_context *queue, const ha_strided_copy *copy, int *some,
                                ha_attempt *attempt) {
    ha_status s = ha_move_copy(queue, copy, some);
    if (s != HA_ERR_LOST) return s;
    ha_forget_note();
    attempt->point = (ha_timepoint){queue, 0};
    return HA_RETRY_;
}

HA_IN_ ha_context *ha_memory_context(const ha_memory *m) {
    return m->primary ? m->primary : &ha_host_context;
}

/* A queue of the memory's device that works: the primary one, unless that has failed. */
HA_IN_ ha_context *ha_memory_queue(const ha_memory *m) {
    ha_context *c = ha_memory_context(m);
    if (!ha_has_failed(c)) return c;
    ha_context *other = __atomic_load_n(&ha_registry.contexts, __ATOMIC_ACQUIRE);
    while (other && !ha_serves(other, m)) other = other->next;
    return other ? other : c;
}

/* For those who have no other way to try: a queue that has failed is a backend's failure. */
HA_IN_ ha_status ha_or_backend(ha_context *c, ha_status s) {
    return ha_queue_status(c, s) == HA_ERR_LOST ? HA_ERR_BACKEND : s;
}

/* The queue for work inside one memory: c, when it is there. */
HA_IN_ ha_context *ha_local_queue(const ha_incarnation *in, ha_context *c) {
    return c->memory == in->memory ? c : ha_memory_queue(in->memory);
}

/* The queue whose work last wrote r on a device: following it there needs no event. The primary one
 * when there are several or none. */
HA_IN_ ha_context *ha_writer_queue(ha_array *a, ha_incarnation *in, ha_range r) {
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
HA_IN_ ha_context *ha_transfer_queue(ha_array *a, ha_incarnation *from, const ha_incarnation *to,
                                     ha_range r, ha_context *c) {
    const ha_memory *device = ha_link_device(from->memory, to->memory);
    if (!device) return NULL;
    if (device == from->memory) {
        /* What gives way goes beside what the device computes. */
        ha_context *beside = from->leaving ? ha_arrivals_queue(from->memory) : NULL;
        if (beside) return beside;
        if (from->leaving) ha_forget_note(); /* it goes without one */
        return ha_writer_queue(a, from, r);
    }
    return c->memory == to->memory ? c : ha_memory_queue(to->memory);
}

#endif
