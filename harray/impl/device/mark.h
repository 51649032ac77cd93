/* Moments on queues, that the queues stamp with the time. Each context has room for so many: a new one takes the
 * place of the oldest, when that has been stamped. */
#ifndef HARRAY_IMPL_DEVICE_MARK_H
#define HARRAY_IMPL_DEVICE_MARK_H

#include "timeline.h"

#include <sched.h>

enum { HA_MARKS = 256 };

typedef struct ha_stamped {
    uint64_t number; /* 0: none */
    uint64_t seq;    /* the epoch at which it was enqueued */
    uint64_t ns;     /* the queue writes it; 0: not yet */
} ha_stamped;

typedef struct ha_marks {
    pthread_mutex_t lock;
    uint64_t marks; /* so far */
    ha_stamped at[HA_MARKS];
} ha_marks;

/* NULL: there is no memory. */
HA_IN_ ha_marks *ha_marks_of(ha_context *c) {
    ha_marks *m = __atomic_load_n(&c->marks, __ATOMIC_ACQUIRE), *none = NULL;
    if (m) return m;
    m = (ha_marks *)HARRAY_MALLOC(sizeof *m);
    if (!m) return NULL;
    memset(m, 0, sizeof *m);
    pthread_mutex_init(&m->lock, NULL);
    if (__atomic_compare_exchange_n(&c->marks, &none, m, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return m;
    pthread_mutex_destroy(&m->lock);
    HARRAY_FREE(m);
    return none; /* another thread's */
}

/* The queue is drained. */
HA_IN_ void ha_marks_end(ha_context *c) {
    if (!c->marks) return;
    pthread_mutex_destroy(&c->marks->lock);
    HARRAY_FREE(c->marks);
    c->marks = NULL;
}

/* What there is of a moment, or in its place. */
HA_IN_ ha_stamped ha_stamped_look(ha_marks *m, uint64_t number) {
    pthread_mutex_lock(&m->lock);
    ha_stamped *s = &m->at[(number - 1) % HA_MARKS];
    const ha_stamped seen = {s->number, s->seq, __atomic_load_n(&s->ns, __ATOMIC_ACQUIRE)};
    pthread_mutex_unlock(&m->lock);
    return seen;
}

HA_IN_ int ha_stamped_is_coming(const ha_stamped *s, uint64_t number) {
    return s->number == number && !s->ns;
}

/* Waits until the queue has written it; some do so a little after what comes next has happened. Others may
 * mark meanwhile, so afterwards it may be no longer known. *seen = what there is then. */
HA_IN_ ha_status ha_stamped_wait(ha_context *c, ha_marks *m, uint64_t number, ha_stamped *seen,
                                 const char *site) {
    ha_status status = HA_OK;
    *seen = ha_stamped_look(m, number);
    while (!status && ha_stamped_is_coming(seen, number)) {
        status = ha_wait_at((ha_timepoint){c, seen->seq}, site);
        const int failed = ha_has_failed(c);
        *seen = ha_stamped_look(m, number);
        if (!status && failed && ha_stamped_is_coming(seen, number)) status = HA_ERR_LOST;
        if (!status) sched_yield();
    }
    return status;
}

/* Drops the lock while it waits for the place of the oldest. One whose queue has failed is never written any
 * more. */
HA_IN_ ha_status ha_mark_room(ha_context *c, ha_marks *m) HA_REQUIRES_(m->lock) {
    ha_status status = HA_OK;
    for (;;) {
        const ha_stamped *oldest = &m->at[m->marks % HA_MARKS];
        const uint64_t number = oldest->number;
        ha_stamped seen;
        if (!number || __atomic_load_n(&oldest->ns, __ATOMIC_ACQUIRE)) return HA_OK;
        if (status) return status == HA_ERR_LOST ? HA_OK : status;
        pthread_mutex_unlock(&m->lock);
        status = ha_stamped_wait(c, m, number, &seen, "ha_mark");
        pthread_mutex_lock(&m->lock);
    }
}

HA_IN_ ha_status ha_mark_on(ha_context *c, ha_marks *m, uint64_t *number) HA_REQUIRES_(m->lock) {
    ha_status status = ha_mark_room(c, m);
    if (status) return status;
    ha_stamped *s = &m->at[m->marks % HA_MARKS];
    s->number = 0;
    __atomic_store_n(&s->ns, 0, __ATOMIC_RELEASE);
    status = ha_queue_status(c, c->ops->stamp(c->queue, &s->ns));
    if (status) return status;
    s->seq = ha_sequence_of(c);
    s->number = *number = ++m->marks;
    return HA_OK;
}

HA_IN_ ha_status ha_mark_fail(const ha_context *c, ha_status s) {
    return ha_fail(s, "ha_mark", "%s cannot tell the time", c->name);
}

ha_moment ha_mark(ha_context *c) {
    const ha_moment none = {NULL, 0};
    uint64_t number = 0;
    HA_TELLS_EVENTS_;
    if (ha_enter("ha_mark")) return none;
    c = ha_resolve(c);
    if (ha_is_host(c)) return (ha_moment){c, ha_now()};
    ha_marks *m = HA_HAS_(c->ops, ha_queue_ops, stamp) ? ha_marks_of(c) : NULL;
    if (!m) {
        HA_IGNORE_(ha_mark_fail(c, HA_HAS_(c->ops, ha_queue_ops, stamp) ? HA_ERR_MEMORY
                                                                        : HA_ERR_UNSUPPORTED));
        return none;
    }
    pthread_mutex_lock(&m->lock);
    const ha_status s = ha_mark_on(c, m, &number);
    pthread_mutex_unlock(&m->lock);
    if (s) HA_IGNORE_(ha_mark_fail(c, s));
    return s ? none : (ha_moment){c, number};
}

HA_IN_ ha_status ha_moment_unknown(void) {
    return ha_fail(HA_ERR_ARGUMENT, "ha_elapsed", "there is no such moment, or it was long ago");
}

/* *ns = the time of a moment, when it has come. */
HA_IN_ ha_status ha_moment_wait(ha_moment m, uint64_t *ns) {
    if (!m.context) return ha_moment_unknown();
    *ns = m.number;
    if (ha_is_host(m.context)) return HA_OK;
    ha_marks *marks = __atomic_load_n(&m.context->marks, __ATOMIC_ACQUIRE);
    if (!marks || !m.number) return ha_moment_unknown();
    ha_stamped seen;
    const ha_status status = ha_stamped_wait(m.context, marks, m.number, &seen, "ha_elapsed");
    const int known = seen.number == m.number;
    *ns = seen.ns;
    if (!known) return ha_moment_unknown();
    return status ? ha_fail(status, "ha_elapsed", "%s has not come so far", m.context->name)
                  : HA_OK;
}

ha_status ha_elapsed(ha_moment from, ha_moment to, double *seconds) {
    uint64_t first, last;
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter("ha_elapsed");
    if (s) return s;
    if (!seconds) return ha_fail(HA_ERR_ARGUMENT, "ha_elapsed", "nowhere to write to");
    s = ha_moment_wait(from, &first);
    if (!s) s = ha_moment_wait(to, &last);
    if (!s) *seconds = 1e-9 * (double)(int64_t)(last - first);
    return s;
}

#endif
