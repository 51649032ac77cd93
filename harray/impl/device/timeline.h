/* Order between queues, without waiting where that is possible.
 *
 * An operation on a queue is known by (queue, sequence number); the sequence number is the queue's
 * epoch, `issued`: the number that its next event will get. Noting an operation is one load. Who
 * has to come after it makes an event that covers its number: raises the epoch, then records. Work
 * enqueued before the epoch was read is in front of that event, since raising comes first: had the
 * record come before that work in the queue, the load behind the work would have seen the raised
 * epoch. So events are made only when somebody waits, and closing an access stays cheap. */
#ifndef HARRAY_IMPL_DEVICE_TIMELINE_H
#define HARRAY_IMPL_DEVICE_TIMELINE_H

#include "context.h"
#include "../events/all.h"

/* An event, shared by those who wait for it. Freed by the last of them once a newer one is
 * there. */
typedef struct ha_fence {
    ha_event event;
    uint64_t covers; /* operations with a sequence number up to this */
    uint32_t users;  /* under the context's lock; the context itself is one */
} ha_fence;

/* A point in a queue. */
typedef struct ha_timepoint {
    ha_context *queue;
    uint64_t seq;
} ha_timepoint;

/* The sequence number for what was enqueued on c until now. */
static inline uint64_t ha_sequence_of(const ha_context *c) {
    return __atomic_load_n(&c->issued, __ATOMIC_ACQUIRE);
}

static inline int ha_passed(const ha_context *c, uint64_t seq) {
    return __atomic_load_n(&c->done, __ATOMIC_ACQUIRE) >= seq;
}

HA_IN_ void ha_fence_done(ha_context *c, uint64_t covers) {
    uint64_t done = __atomic_load_n(&c->done, __ATOMIC_RELAXED);
    while (done < covers && !__atomic_compare_exchange_n(&c->done, &done, covers, 1,
                                                         __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
}

HA_STATE_ int ha_failures; /* queues that have failed; 0: nothing is lost anywhere */

/* Whether the engine may use a queue for a memory. Not an adopted one, which is for accesses on it
 * alone: the caller may take it back. */
static inline int ha_serves(const ha_context *c, const ha_memory *m) {
    return c->memory == m && !c->adopted && !c->for_events &&
           !__atomic_load_n(&c->failed, __ATOMIC_ACQUIRE);
}

/* Whether another queue can still get at a memory. Its device's contexts are never taken off the
 * list. */
HA_IN_ int ha_has_queue(const ha_memory *m) {
    const ha_context *c = __atomic_load_n(&ha_registry.contexts, __ATOMIC_ACQUIRE);
    while (c && !ha_serves(c, m)) c = c->next;
    return c != NULL;
}

/* Under the lock under which a fork revives it. */
HA_IN_ void ha_memory_look_dead(ha_memory *m) {
    if (!m->primary) return;
    pthread_mutex_lock(&ha_registry.lock);
    if (!ha_has_queue(m)) __atomic_store_n(&m->dead, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&ha_registry.lock);
}

/* An adopted queue goes while operations still name its context (queues.h). So whoever uses it for
 * one of them pins it for that time. 0: it has gone, and everything there has happened. */
HA_IN_ int ha_context_pin(ha_context *c) {
    if (!c->adopted) return 1;
    pthread_mutex_lock(&c->lock);
    int stays = !c->ended;
    c->pins += stays;
    const uint64_t gone = ha_sequence_of(c); /* later there may be another queue, and its numbers */
    pthread_mutex_unlock(&c->lock);
    if (!stays) ha_fence_done(c, gone);
    return stays;
}

HA_IN_ void ha_context_unpin(ha_context *c) {
    if (!c->adopted) return;
    pthread_mutex_lock(&c->lock);
    c->pins--;
    pthread_mutex_unlock(&c->lock);
}

/* The queue that fails kept others in order: what a write of it has replaced in a list (memory/block.h)
 * may still run on a queue that it came after. So all that it could come after is drained. */
HA_IN_ void ha_drain_all_like(const ha_context *c) {
    HA_UNCANCELLED_;
    ha_context *other = __atomic_load_n(&ha_registry.contexts, __ATOMIC_ACQUIRE);
    for (; other; other = other->next) {
        if (other->backend != c->backend || !ha_context_pin(other)) continue;
        other->ops->drain(other->queue);
        ha_context_unpin(other);
    }
}

/* The device said that the queue has failed for good: what has not happened never will (state/lost.h
 * finds what that was). When the queue no longer touches memory, all of it counts as passed, so
 * nobody waits for it again. Does not fail; from any thread, as often as it is found out. */
HA_IN_ void ha_context_fail(ha_context *c) {
    pthread_mutex_lock(&c->lock);
    if (!c->failed) c->lost_after = __atomic_load_n(&c->done, __ATOMIC_ACQUIRE);
    __atomic_store_n(&c->failed, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&c->lock);
    __atomic_store_n(&c->easy, NULL, __ATOMIC_RELAXED);
    ha_memory_look_dead(c->memory);
    ha_drain_all_like(c);
    __atomic_store_n(&ha_failures, 1, __ATOMIC_RELEASE);
    ha_fence_done(c, UINT64_MAX);
}

static inline int ha_has_failed(const ha_context *c) {
    return __atomic_load_n(&c->failed, __ATOMIC_ACQUIRE);
}

/* Notices from the status of a queue's own function that it has failed. */
HA_IN_ ha_status ha_queue_status(ha_context *c, ha_status s) {
    if (s == HA_ERR_LOST) ha_context_fail(c);
    return s;
}

/* The oldest known event that covers `seq`, to be released; NULL when there is none. */
HA_IN_ ha_fence *ha_fence_find(ha_context *c, uint64_t seq) {
    pthread_mutex_lock(&c->lock);
    ha_fence *fence = c->watched && c->watched->covers >= seq ? c->watched : c->latest;
    if (fence && fence->covers >= seq)
        fence->users++;
    else
        fence = NULL;
    pthread_mutex_unlock(&c->lock);
    return fence;
}

HA_IN_ void ha_fence_release(ha_context *c, ha_fence *fence) {
    if (!fence) return;
    pthread_mutex_lock(&c->lock);
    int last = --fence->users == 0;
    pthread_mutex_unlock(&c->lock);
    if (!last) return;
    if (HA_HAS_(c->ops, ha_queue_ops, forget)) c->ops->forget(&fence->event);
    HARRAY_FREE(fence);
}

/* Makes m the context's newest event, if it is. The context becomes one more user. */
HA_IN_ void ha_fence_publish(ha_context *c, ha_fence *fence) {
    ha_fence *old = NULL;
    pthread_mutex_lock(&c->lock);
    if (!c->latest || c->latest->covers < fence->covers) {
        old = c->latest;
        c->latest = fence;
        fence->users++;
    }
    pthread_mutex_unlock(&c->lock);
    ha_fence_release(c, old);
}

/* *out = an event behind operation `seq` of c; to be released. */
HA_IN_ ha_status ha_cover(ha_context *c, uint64_t seq, ha_fence **out) {
    if ((*out = ha_fence_find(c, seq))) return HA_OK;
    ha_fence *fence = (ha_fence *)HARRAY_MALLOC(sizeof *fence);
    if (!fence) return HA_ERR_MEMORY;
    *fence = (ha_fence){.users = 1};
    fence->covers = __atomic_fetch_add(&c->issued, 1, __ATOMIC_ACQ_REL);
    ha_status s = ha_queue_status(c, c->ops->record(c->queue, &fence->event));
    if (s) {
        HARRAY_FREE(fence);
        return s;
    }
    ha_fence_publish(c, fence);
    *out = fence;
    return HA_OK;
}

/* Whether p was lost: passed, but never happened. */
static inline int ha_is_lost(ha_timepoint p) {
    return ha_has_failed(p.queue) && p.seq > p.queue->lost_after;
}

/* Blocks until an event has happened. */
HA_IN_ ha_status ha_fence_wait(ha_context *c, const ha_fence *fence, const char *site) {
    uint64_t start = ha_now();
    HA_UNCANCELLED_;
    HA_MAY_WAIT_();
    ha_status s = ha_queue_status(c, c->ops->finish(&fence->event));
    ha_on_wait(c->name, site, start);
    if (!s) ha_fence_done(c, fence->covers);
    return s;
}

HA_IN_ ha_status ha_wait_for_event(ha_timepoint p, const char *site) {
    ha_fence *fence;
    ha_status s = ha_cover(p.queue, p.seq, &fence);
    if (s) return s;
    s = ha_fence_wait(p.queue, fence, site);
    ha_fence_release(p.queue, fence);
    return s;
}

/* Blocks the calling thread until operation p has happened. HA_ERR_LOST when it never will. site:
 * of the call that waits. */
HA_IN_ ha_status ha_wait_at(ha_timepoint p, const char *site) {
    if (ha_passed(p.queue, p.seq) || !ha_context_pin(p.queue))
        return ha_is_lost(p) ? HA_ERR_LOST : HA_OK;
    ha_status s = ha_wait_for_event(p, site);
    ha_context_unpin(p.queue);
    return s;
}

HA_IN_ ha_status ha_wait_for(ha_timepoint p) { return ha_wait_at(p, ""); }

/* The same for those who then look again at what there is: lost is over, too. */
HA_IN_ ha_status ha_wait_past(ha_timepoint p, const char *site) {
    ha_note note = ha_backend_note;
    ha_status s = ha_wait_at(p, site);
    if (s != HA_ERR_LOST) return s;
    ha_backend_note = note;
    return HA_OK;
}

/* Whether `waiter` can come after work of `queue` without the host waiting. */
static inline int ha_can_await(const ha_context *waiter, const ha_context *queue) {
    return waiter->ops && waiter->backend == queue->backend;
}

/* What is enqueued on `waiter` from now on happens after p. */
HA_IN_ ha_status ha_await(ha_context *waiter, ha_timepoint p) {
    ha_fence *fence;
    if (waiter == p.queue || ha_passed(p.queue, p.seq) || !ha_context_pin(p.queue)) return HA_OK;
    ha_status s = ha_cover(p.queue, p.seq, &fence);
    if (!s) {
        s = ha_queue_status(waiter, waiter->ops->await(waiter->queue, &fence->event));
        ha_fence_release(p.queue, fence);
    }
    ha_context_unpin(p.queue);
    return s;
}

/* The event to ask about. It stays the same until it has happened: where work never ends, the
 * newest event never has. To be released. */
HA_IN_ ha_fence *ha_fence_watch(ha_context *c) {
    pthread_mutex_lock(&c->lock);
    if (!c->watched && c->latest && !ha_passed(c, c->latest->covers)) {
        c->watched = c->latest;
        c->watched->users++;
    }
    ha_fence *fence = c->watched;
    if (fence) fence->users++;
    pthread_mutex_unlock(&c->lock);
    return fence;
}

HA_IN_ void ha_fence_unwatch(ha_context *c, ha_fence *fence) {
    pthread_mutex_lock(&c->lock);
    int watched = c->watched == fence;
    if (watched) c->watched = NULL;
    pthread_mutex_unlock(&c->lock);
    if (watched) ha_fence_release(c, fence);
}

/* Learns, without blocking, how far a queue has come. */
HA_IN_ void ha_poll(ha_context *c) {
    ha_note note = ha_backend_note;
    if (!ha_context_pin(c)) return;
    for (ha_fence *fence; (fence = ha_fence_watch(c));) {
        int done = ha_passed(c, fence->covers) ? 1 : c->ops->done(&fence->event);
        int passed = done == 1;
        if (done < 0) ha_context_fail(c);
        if (passed) {
            ha_fence_done(c, fence->covers);
            ha_fence_unwatch(c, fence);
        }
        ha_fence_release(c, fence);
        if (!passed) break;
    }
    ha_context_unpin(c);
    ha_backend_note = note;
}

HA_IN_ void ha_poll_all(void) {
    ha_context *c = __atomic_load_n(&ha_registry.contexts, __ATOMIC_ACQUIRE);
    for (; c; c = c->next) ha_poll(c);
}

/* Waits until p touches memory no more, whatever it takes: for freeing. Cannot fail. It may not
 * have happened, if the device failed; so nobody else learns from this that it has. */
HA_IN_ void ha_drain(ha_timepoint p) {
    HA_UNCANCELLED_;
    HA_MAY_WAIT_();
    ha_note note = ha_backend_note; /* of what failed before */
    if (ha_wait_past(p, "") == HA_OK) return;
    ha_backend_note = note;
    if (!ha_context_pin(p.queue)) return;
    p.queue->ops->drain(p.queue->queue);
    ha_context_unpin(p.queue);
}

#endif
