/* Errors inside functions that run on queues: where they are kept until somebody asks.
 *
 * A function runs when nobody looks, on a thread that is nobody's: what fails in it would be told to
 * no one. So the first error in each function is kept at its context, with the epoch at which the
 * function was enqueued. ha_context_finish tells it; and so does the next opening of what the
 * function may have written: an access that was open when it was enqueued leaves, when it is closed,
 * an operation that began before that epoch and ended at it or later (memory/block.h).
 *
 * Errors are only added, and read without a lock; what ha_context_finish is to tell is read under one. */
#ifndef HARRAY_IMPL_DEVICE_QUEUE_ERRORS_H
#define HARRAY_IMPL_DEVICE_QUEUE_ERRORS_H

#include "timeline.h"

/* The epoch for a function that is about to be enqueued: what is noted with a lower number was enqueued
 * before. */
HA_IN_ uint64_t ha_function_epoch(ha_context *c) {
    const uint64_t epoch = __atomic_add_fetch(&c->issued, 1, __ATOMIC_ACQ_REL);
    uint64_t called = __atomic_load_n(&c->called, __ATOMIC_RELAXED);
    while (called < epoch && !__atomic_compare_exchange_n(&c->called, &called, epoch, 1,
                                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
    return epoch;
}

/* From any thread; what was enqueued at `epoch` has just run. */
HA_IN_ void ha_queue_error_add(ha_context *c, uint64_t epoch, const char *site,
                               const ha_error *error) {
    const ha_queue_error fresh = {epoch, epoch, site, *error};
    pthread_mutex_lock(&c->lock);
    const uint32_t n = c->errors;
    if (!c->untold++) c->first_untold = fresh;
    if (n < HA_QUEUE_ERRORS) {
        c->error[n] = fresh;
        __atomic_store_n(&c->errors, n + 1, __ATOMIC_RELEASE);
    } else
        __atomic_store_n(&c->error[n - 1].last, epoch, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&c->lock);
    __atomic_store_n(&c->easy, NULL, __ATOMIC_RELAXED); /* from now on every opening looks */
}

/* One of a function that was enqueued behind epoch `since` and up to `seq`; NULL: none. */
HA_IN_ const ha_queue_error *ha_queue_error_between(const ha_context *c, uint64_t since,
                                                    uint64_t seq) {
    const uint32_t n = __atomic_load_n(&c->errors, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n; i++) {
        const ha_queue_error *e = &c->error[i];
        if (e->first <= seq && __atomic_load_n(&e->last, __ATOMIC_ACQUIRE) > since) return e;
    }
    return NULL;
}

/* The operation that fails when a function goes where it may not (window.h); its text says all. */
static const char ha_touchable_operation[] = "ha_enqueue";

/* "in a function on sim:0 that was enqueued at …, ha_open failed: …" */
typedef struct ha_queue_error_label {
    char text[320];
} ha_queue_error_label;

HA_IN_ ha_queue_error_label ha_queue_error_label_of(const ha_queue_error *e, const char *where) {
    ha_queue_error_label l;
    const ha_error *error = &e->error;
    ha_text t = ha_text_into(l.text, sizeof l.text);
    if (error->operation != ha_touchable_operation)
        ha_print(&t, "in a function on %s that was enqueued at %s, %s failed: ", where, e->site,
                 error->operation);
    ha_print(&t, "%s", error->text);
    return l;
}

/* Tells those that it has not told yet, as one. */
HA_IN_ ha_status ha_queue_errors_tell(ha_context *c, const char *operation) {
    pthread_mutex_lock(&c->lock);
    const ha_queue_error first = c->first_untold;
    const uint64_t n = c->untold;
    c->untold = 0;
    pthread_mutex_unlock(&c->lock);
    if (!n) return HA_OK;
    return ha_fail(first.error.status, operation, "%s%s",
                   ha_queue_error_label_of(&first, c->name).text, n > 1 ? "; and in others" : "");
}

HA_IN_ ha_status ha_finish_at(ha_timepoint p, const char *operation) {
    const ha_status s = ha_wait_at(p, ha_from(operation));
    if (s == HA_ERR_LOST)
        return ha_fail(s, operation,
                       "%s has failed, and what it was to do is lost; ha_shutdown ends that",
                       p.queue->name);
    if (s) return ha_fail(s, operation, "%s: waiting for its work failed", p.queue->name);
    return ha_queue_errors_tell(p.queue, operation);
}

ha_status ha_context_finish(ha_context *c) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter("ha_context_finish");
    if (s) return s;
    c = ha_resolve(c);
    return ha_is_host(c) ? HA_OK
                         : ha_finish_at((ha_timepoint){c, ha_sequence_of(c)}, "ha_context_finish");
}

/* Looks again and again. 0: it has not happened so far, and nothing speaks against it. */
HA_IN_ int ha_happens_until(ha_timepoint p, uint64_t end) {
    ha_context *c = p.queue;
    ha_fence *fence;
    int done = 1;
    if (ha_passed(c, p.seq) || !ha_context_pin(c)) return done;
    if (!ha_cover(c, p.seq, &fence)) {
        while (!(done = c->ops->done(&fence->event)) && ha_now() < end) sched_yield();
        if (done > 0) ha_fence_done(c, fence->covers);
        ha_fence_release(c, fence);
    } /* else whoever waits finds out why */
    ha_forget_note();
    ha_context_unpin(c);
    return done;
}

ha_status ha_context_finish_within(ha_context *c, double seconds) {
    static const char operation[] = "ha_context_finish_within";
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter(operation);
    if (s) return s;
    c = ha_resolve(c);
    if (ha_is_host(c)) return HA_OK;
    const double most = 1e9, within = seconds > 0 ? (seconds < most ? seconds : most) : 0;
    const ha_timepoint p = {c, ha_sequence_of(c)};
    if (!ha_happens_until(p, ha_now() + (uint64_t)(within * 1e9))) return HA_ERR_BUSY;
    return ha_finish_at(p, operation);
}

#endif
