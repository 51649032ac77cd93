/* What work on an incarnation comes after: the operations that are outstanding on it, of all
 * queues. Room for one is reserved before it is enqueued, so that noting it cannot fail. */
#ifndef HARRAY_IMPL_STATE_DEPENDENCIES_H
#define HARRAY_IMPL_STATE_DEPENDENCIES_H

#include "array_state.h"

/* Room for one more operation on an incarnation, keeping promises. Busy; takes memory unlocked. */
HA_IN_ ha_status ha_ops_reserve(ha_array *a, ha_ops *o, uint32_t more) {
    ha_lock(a);
    if (!ha_ops_has_room(o, more)) ha_ops_prune(o, 1);
    if (!ha_ops_has_room(o, more) && o->n > HA_MERGE_ABOVE) ha_ops_merge(o);
    int enough = ha_ops_has_room(o, more);
    uint32_t capacity = 2 * (o->n + o->promised + more);
    ha_unlock(a);
    if (enough) return HA_OK;
    /* While busy, closing accesses use up promises and may note, but never need more than this. */
    ha_operation *heap = (ha_operation *)HARRAY_MALLOC(capacity * sizeof *heap), *old;
    if (!heap) return HA_ERR_MEMORY;
    ha_lock(a);
    memcpy(heap, ha_ops_list(o), o->n * sizeof *heap);
    old = o->heap;
    o->heap = heap;
    o->capacity = capacity;
    ha_unlock(a);
    HARRAY_FREE(old);
    return HA_OK;
}

/* Notes an operation of `queue`; the host's are over when they are noted. Lock held. */
HA_IN_ void ha_note_operation(ha_ops *o, ha_context *queue, ha_range r, int write,
                              const char *site) {
    if (!queue->ops) return;
    ha_ops_note(o, (ha_timepoint){queue, ha_sequence_of(queue)}, r.first, r.last, write, site);
}

/* Notes what an access on a device was, now that it ends. */
HA_IN_ void ha_note_closed(ha_ops *o, const ha_holder *h, uint64_t seq) {
    const uint64_t called = __atomic_load_n(&h->context->called, __ATOMIC_ACQUIRE);
    uint64_t since = called > h->since ? h->since : HA_NO_ACCESS_;
    if (h->writes && !h->overwrites) since = ha_ops_since(o, h->context, h->range, since);
    ha_ops_note(o, (ha_timepoint){h->context, seq}, h->range.first, h->range.last, h->writes,
                h->site);
    ha_ops_list(o)[o->n - 1].since = since;
}

/* The next queue, in order of address behind p->queue, with an operation that an access to r has to
 * come after; *p is the last of these. 0 when there is none. Not by index: while the lock is
 * dropped between two calls, others may note operations and so move the entries of the list. */
HA_IN_ int ha_next_conflict(ha_array *a, ha_incarnation *in, ha_range r, int write,
                            const ha_context *queue, ha_timepoint *p) {
    ha_timepoint best = {NULL, 0};
    ha_lock(a);
    const ha_operation *list = ha_ops_list(&in->ops);
    for (uint32_t i = 0; i < in->ops.n; i++) {
        const ha_operation *o = &list[i];
        uintptr_t at = (uintptr_t)o->at.queue;
        if (o->at.queue == queue || at <= (uintptr_t)p->queue ||
            !ha_conflicts(a->grid, o, r, write) ||
            (ha_passed(o->at.queue, o->at.seq) && !ha_lost_write(o)))
            continue;
        if (!best.queue || at < (uintptr_t)best.queue)
            best = o->at;
        else if (o->at.queue == best.queue && o->at.seq > best.seq)
            best.seq = o->at.seq;
    }
    ha_unlock(a);
    *p = best;
    return best.queue != NULL;
}

/* Work enqueued on `queue` (or, for the host, done by this thread) from now on comes after p.
 * HA_RETRY_ when the host would have to wait, or when a queue turns out to have failed: then what
 * there is has to be looked at again. */
HA_IN_ ha_status ha_come_after_timepoint(ha_context *queue, ha_timepoint p, ha_attempt *attempt) {
    ha_poll(p.queue);
    if (ha_passed(p.queue, p.seq) && !ha_is_lost(p)) return HA_OK;
    ha_status s = ha_can_await(queue, p.queue) && !ha_is_lost(p) ? ha_await(queue, p) : HA_RETRY_;
    if (s == HA_ERR_LOST) s = HA_RETRY_;
    if (s == HA_RETRY_) attempt->point = p;
    return s;
}

/* Work on `queue` from now on comes after every conflicting operation on `in`. */
HA_IN_ ha_status ha_come_after(ha_array *a, ha_incarnation *in, ha_range r, int write,
                               ha_context *queue, ha_attempt *attempt) {
    ha_timepoint p = {NULL, 0};
    ha_status s = HA_OK;
    while (!s && ha_next_conflict(a, in, r, write, queue, &p))
        s = ha_come_after_timepoint(queue, p, attempt);
    return s;
}

#endif
