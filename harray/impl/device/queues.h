/* Further queues of a device: forked, and adopted from the caller.
 *
 * A fork that is given back keeps its queue, for the next one. An adopted queue has to be the
 * caller's alone again, while arrays still name its context in their operations: so the context
 * stays, everything on it counts as passed, and only the queue goes, once its pins (timeline.h) have
 * left. The next queue that is adopted at the device may have the context. */
#ifndef HARRAY_IMPL_DEVICE_QUEUES_H
#define HARRAY_IMPL_DEVICE_QUEUES_H

#include "registry.h"
#include "timeline.h"

/* ---- forking ------------------------------------------------------------------------------- */

ha_context *ha_context_fork(ha_context *c) {
    ha_failure failure = {HA_OK, NULL};
    c = ha_resolve(c);
    if (ha_enter("ha_context_fork")) return NULL;
    if (ha_is_host(c)) return c;
    pthread_mutex_lock(&ha_registry.lock);
    ha_context *primary = c->primary;
    while (primary->unused && ha_has_failed(primary->unused))
        primary->unused = primary->unused->unused;
    ha_context *fork = primary->unused;
    ha_context like = ha_context_like(primary);
    snprintf(like.name, sizeof like.name, "%.30s/%d", primary->name, primary->forks + 1);
    if (fork) {
        primary->unused = fork->unused;
        fork->given_back = 0;
    } else if ((fork = ha_context_add(like, &failure))) {
        primary->forks++;
        __atomic_store_n(&fork->memory->dead, 0, __ATOMIC_RELEASE); /* if all others have failed */
    }
    pthread_mutex_unlock(&ha_registry.lock);
    if (!fork) ha_fail(failure.status, "ha_context_fork", "%s: %s", c->name, failure.why);
    return fork;
}

/* ---- what comes to a memory when others are short ------------------------------------------- */

enum { HA_ARRIVALS_FAIL = 8 }; /* queues; then nothing more goes there */

/* A hidden queue of the device: given back, and nobody's to fork. */
HA_IN_ ha_context *ha_arrivals_make(const ha_context *primary) HA_REQUIRES_(ha_registry.lock) {
    ha_failure failure;
    ha_context like = ha_context_like(primary);
    snprintf(like.name, sizeof like.name, "%.30s/tier", primary->name);
    like.given_back = 1;
    return ha_context_add(like, &failure);
}

/* Why it has failed. */
HA_IN_ void ha_arrivals_failed(ha_memory *m, const ha_context *c) HA_REQUIRES_(ha_registry.lock) {
    const ha_note note = ha_backend_note;
    ha_event none;
    ha_forget_note();
    (void)c->ops->record(c->queue, &none);
    __atomic_store_n(&m->arrivals_error, ha_backend_note.code, __ATOMIC_RELAXED);
    __atomic_fetch_add(&m->arrivals_failed, 1, __ATOMIC_RELAXED);
    ha_backend_note = note;
}

/* By which queue values come to a memory that have given way elsewhere; NULL: they cannot. It has one for that alone,
 * so that a disk that takes no more loses nothing that is there already: a queue that fails is the end of what it
 * was to write, and the next one begins anew. */
HA_IN_ ha_context *ha_arrivals_queue(ha_memory *m) {
    ha_context *c = __atomic_load_n(&m->arrivals, __ATOMIC_ACQUIRE);
    if (!m->primary) return &ha_host_context;
    if (c && !ha_has_failed(c)) return c;
    pthread_mutex_lock(&ha_registry.lock);
    c = m->arrivals;
    if (c && ha_has_failed(c)) {
        ha_arrivals_failed(m, c);
        c = NULL;
    }
    if (!c && m->arrivals_failed < HA_ARRIVALS_FAIL) c = ha_arrivals_make(m->primary);
    __atomic_store_n(&m->arrivals, c, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&ha_registry.lock);
    return c;
}

/* ---- adopting ------------------------------------------------------------------------------ */

/* The context that has a queue of the caller's already; NULL: none. Devices may have queues of
 * the same name each, as default streams have. */
HA_IN_ const ha_context *ha_native_find(const ha_context *primary, const void *native)
    HA_REQUIRES_(ha_registry.lock) {
    const ha_backend *b = primary->backend;
    for (const ha_context *c = ha_registry.contexts; c; c = c->next) {
        if (c->backend != b) continue;
        if (c->adopted && !c->given_back && c->native == native && c->primary == primary) return c;
        if (!c->adopted && HA_HAS_(c->ops, ha_queue_ops, native) &&
            c->ops->native(c->queue) == native)
            return c;
    }
    return NULL;
}

/* A context of the device whose adopted queue has gone; NULL: none. */
HA_IN_ ha_context *ha_ended_find(const ha_context *primary) HA_REQUIRES_(ha_registry.lock) {
    ha_context *c = ha_registry.contexts;
    while (c && !(c->primary == primary && !c->queue && !ha_has_failed(c))) c = c->next;
    return c;
}

/* The context has a queue again. */
HA_IN_ ha_status ha_ended_reuse(ha_context *c, void *native) HA_REQUIRES_(ha_registry.lock) {
    c->native = native;
    ha_status s = ha_context_queue(c);
    if (s) return s;
    pthread_mutex_lock(&c->lock);
    c->ended = 0;
    __atomic_fetch_add(&c->issued, 1, __ATOMIC_ACQ_REL); /* what comes now has not happened */
    pthread_mutex_unlock(&c->lock);
    __atomic_store_n(&c->easy, ha_easy_memory(c), __ATOMIC_RELAXED);
    c->given_back = 0;
    return HA_OK;
}

HA_IN_ ha_context *ha_adopt(ha_context *primary, void *native, ha_failure *failure)
    HA_REQUIRES_(ha_registry.lock) {
    ha_context *c = ha_ended_find(primary);
    if (c) {
        *failure = (ha_failure){ha_ended_reuse(c, native), "cannot adopt the queue"};
        return failure->status ? NULL : c;
    }
    ha_context like = ha_context_like(primary);
    snprintf(like.name, sizeof like.name, "%.30s/a%d", primary->name, primary->adoptions + 1);
    like.adopted = 1;
    like.native = native;
    if ((c = ha_context_add(like, failure))) primary->adoptions++;
    return c;
}

ha_context *ha_context_adopt(ha_context *device, void *stream) {
    static const char operation[] = "ha_context_adopt";
    ha_failure failure = {HA_OK, NULL};
    ha_context *c = NULL;
    if (ha_enter(operation)) return NULL;
    device = ha_resolve(device);
    if (ha_is_host(device) || !HA_HAS_(device->ops, ha_queue_ops, adopt)) {
        ha_fail(HA_ERR_UNSUPPORTED, operation, "%s has no queues but harray's", device->name);
        return NULL;
    }
    pthread_mutex_lock(&ha_registry.lock);
    const ha_context *same = ha_native_find(device->primary, stream);
    if (!same) c = ha_adopt(device->primary, stream, &failure);
    pthread_mutex_unlock(&ha_registry.lock);
    if (same)
        ha_fail(HA_ERR_STATE, operation, "%s: %p is the queue of %s already", device->name, stream,
                same->name);
    else if (!c)
        ha_fail(failure.status, operation, "%s: %s", device->name, failure.why);
    return c;
}

/* ---- giving back --------------------------------------------------------------------------- */

/* No more pins from now on. */
HA_IN_ void ha_adopted_close(ha_context *c) {
    __atomic_store_n(&c->easy, NULL, __ATOMIC_RELAXED);
    pthread_mutex_lock(&c->lock);
    c->ended = 1;
    pthread_mutex_unlock(&c->lock);
}

/* The last pin may have recorded one more event: so they go when all pins have left. */
HA_IN_ void ha_adopted_forget(ha_context *c) {
    pthread_mutex_lock(&c->lock);
    ha_fence *watched = c->watched, *latest = c->latest;
    c->watched = c->latest = NULL;
    pthread_mutex_unlock(&c->lock);
    ha_fence_release(c, watched);
    ha_fence_release(c, latest);
    ha_fence_done(c, ha_sequence_of(c));
}

HA_IN_ int ha_pins(ha_context *c) {
    pthread_mutex_lock(&c->lock);
    int pins = c->pins;
    pthread_mutex_unlock(&c->lock);
    return pins;
}

/* Nobody enqueues on it any more. When this returns, nothing uses the caller's queue. */
HA_IN_ void ha_adopted_end(ha_context *c) {
    ha_drain((ha_timepoint){c, ha_sequence_of(c)});
    ha_fence_done(c, ha_sequence_of(c));
    ha_adopted_close(c);
    while (ha_pins(c)) sched_yield(); /* who wait for nobody: everything has happened */
    ha_adopted_forget(c);
    pthread_mutex_lock(&ha_registry.lock);
    c->ops->destroy(c->queue);
    c->queue = NULL;
    pthread_mutex_unlock(&ha_registry.lock);
}

/* 1: it is given back by this call. */
HA_IN_ int ha_give_back(ha_context *c) {
    pthread_mutex_lock(&ha_registry.lock);
    int first = !c->given_back;
    c->given_back = 1;
    if (first && !c->adopted) {
        c->unused = c->primary->unused;
        c->primary->unused = c;
    }
    pthread_mutex_unlock(&ha_registry.lock);
    return first;
}

ha_status ha_context_unfork(ha_context *c) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter("ha_context_unfork");
    if (s) return s;
    if (c && ha_is_host(c)) return HA_OK; /* it is its own fork */
    if (!c || c->primary == c)
        return ha_fail(HA_ERR_ARGUMENT, "ha_context_unfork", "%s is no fork of a context",
                       c ? c->name : "NULL");
    if (!ha_give_back(c))
        return ha_fail(HA_ERR_STATE, "ha_context_unfork", "%s was given back already", c->name);
    if (c->adopted) ha_adopted_end(c);
    return HA_OK;
}

#endif
