/* Admission: a holder is placed when the conflict rules allow it, after waiting if need be; and
 * busy, for which a thread waits in the same way. */
#ifndef HARRAY_IMPL_ACCESS_ADMIT_H
#define HARRAY_IMPL_ACCESS_ADMIT_H

#include "conflict.h"

/* ---- admission ----------------------------------------------------------------------------- */

HA_IN_ void ha_holder_place(ha_array *a, const ha_lock_request *request) HA_REQUIRES_(a->lock) {
    const ha_holder holder = {.thread = ha_self.id,
                              .ticket = ++a->tickets,
                              .range = request->range,
                              .context = request->context,
                              .site = request->site,
                              .writes = request->writes};
    ha_holder_add(a, &holder);
}

/* More room for holders. No lock held; another thread may do the same, or free the array: then there is no
 * room, and none is made. */
HA_IN_ ha_status ha_holder_grow(ha_array *a) {
    ha_lock(a);
    uint32_t capacity = a->holder_capacity;
    ha_unlock(a);
    if (!capacity) return HA_OK;
    ha_holder *more = (ha_holder *)HARRAY_MALLOC(ha_holder_bytes(2 * (size_t)capacity)),
              *old = NULL;
    if (!more) return HA_ERR_MEMORY;
    ha_lock(a);
    if (a->holder_capacity == capacity) {
        old = a->holder == a->first_holders ? NULL : a->holder;
        ha_holder_exchange(a, more, 2 * capacity);
    } else
        old = more; /* somebody was faster, or has freed the array */
    ha_unlock(a);
    HARRAY_FREE(old);
    return HA_OK;
}

/* One request: HA_OK: its holder is in place. HA_ERR_STATE: the array was freed. */
HA_IN_ ha_status ha_try_lock_request(ha_array *a, const ha_lock_request *request,
                                     const ha_waiter *slow, ha_holder *other)
    HA_REQUIRES_(a->lock) {
    if (ha_is_freed(a)) return HA_ERR_STATE;
    ha_grant grant = ha_judge(a, request, other);
    if (grant == HA_REFUSED) return HA_ERR_CONFLICT;
    if (grant == HA_MUST_WAIT || a->busy ||
        ((a->waiters & HA_WAITING) && (!slow || slow->behind == request)))
        return HA_RETRY_;
    if (a->holders == a->holder_capacity) return HA_ERR_MEMORY;
    ha_holder_place(a, request);
    return HA_OK;
}

/* One attempt at all of the requests: HA_OK: in place, busy is ours; *ticket: of the first, the
 * others follow. Else none is. HA_RETRY_: has to wait; *blocker says for whom. HA_ERR_MEMORY: the
 * table of holders is full. HA_ERR_STATE: while this thread waited, the array was freed. */
HA_IN_ ha_status ha_try_admit(ha_array *a, const ha_lock_request *request, const ha_waiter *slow,
                              uint64_t *ticket, ha_blocker *blocker) {
    ha_status s = HA_OK;
    ha_lock(a);
    uint32_t before = a->holders;
    *ticket = a->tickets + 1;
    for (; request && !s; request = request->next) {
        *blocker = (ha_blocker){.request = request};
        s = ha_try_lock_request(a, request, slow, &blocker->holder);
    }
    while (s && a->holders > before) ha_holder_take_out(a, &a->holder[a->holders - 1]);
    if (!s) a->busy = 1;
    ha_unlock(a);
    if (!s) ha_debug_busy(a);
    return s;
}

/* The first time that a thread went to sleep because of another one's access. */
typedef struct ha_blocked {
    uint64_t since; /* 0: it did not */
    ha_blocker blocker;
    uint64_t asks; /* when it is asked whether the wait is to end; 0: not known yet */
    int verbose;   /* somebody is to be told when it has been long */
} ha_blocked;

HA_IN_ void ha_note_blocked(ha_blocked *blocked, const ha_blocker *blocker) {
    if (blocked->since) return;
    blocked->blocker = *blocker;
    blocked->since = ha_now();
    blocked->verbose = ha_verbose();
}

HA_IN_ void ha_say_late(ha_array *a, ha_blocked *blocked) {
    const ha_lock_request *request = blocked->blocker.request;
    const ha_holder *h = &blocked->blocker.holder;
    blocked->verbose = 0;
    fprintf(stderr, "harray: %s: %s at %s: still waiting for %s", request->site,
            ha_subject_of(a).text, request->context->name,
            h->thread ? "the access " : "another thread's turn");
    if (h->thread) fprintf(stderr, "%s at %s on %s", ha_came_by(h), h->site, h->context->name);
    fprintf(stderr, "\n");
}

/* When the thread is to wake up at the latest, by ha_now(). */
HA_IN_ uint64_t ha_sleeps_until(ha_blocked *blocked) {
    const uint64_t late = blocked->verbose ? blocked->since + HA_LONG_WAIT_NS_ : UINT64_MAX;
    if (ha_self.asked && !blocked->asks) blocked->asks = ha_now() + HA_ASKS_EVERY_NS_;
    return ha_self.asked && blocked->asks < late ? blocked->asks : late;
}

/* What is due: others are told of a long wait; nonzero: the wait is to end (ha_ask_while_waiting_). */
HA_IN_ int ha_do_what_is_due(ha_array *a, ha_blocked *blocked) {
    const uint64_t now = blocked->verbose || ha_self.asked ? ha_now() : 0;
    if (blocked->verbose && now >= blocked->since + HA_LONG_WAIT_NS_) ha_say_late(a, blocked);
    if (!ha_self.asked || now < blocked->asks) return 0;
    blocked->asks = now + HA_ASKS_EVERY_NS_;
    return ha_is_asked_to_end();
}

/* Until something changes that waiters of the array look at. Nonzero: the wait is to end. */
HA_IN_ int ha_sleep(ha_bucket *b, ha_array *a, ha_blocked *blocked) HA_REQUIRES_(ha_slow.lock)
    HA_RELEASE_(b->lock) {
    ha_slow.sleeps++;
    pthread_mutex_unlock(&ha_slow.lock);
    HA_MAY_WAIT_();
    const uint64_t until = ha_sleeps_until(blocked), now = until < UINT64_MAX ? ha_now() : 0;
    if (until < UINT64_MAX) {
        const struct timespec at = ha_time_in(until > now ? until - now : 0);
        (void)pthread_cond_timedwait(&b->change, &b->lock, &at);
    } else
        pthread_cond_wait(&b->change, &b->lock);
    pthread_mutex_unlock(&b->lock);
    const int ends = ha_do_what_is_due(a, blocked);
    pthread_mutex_lock(&ha_slow.lock);
    return ends;
}

/* While waiters is raised, whoever changes something wakes the bucket, and no fast path passes. */
HA_IN_ void ha_waiters_add(ha_array *a, uint32_t by) {
    ha_lock(a);
    a->waiters += by;
    ha_unlock(a);
}

HA_IN_ void ha_waiter_list(ha_waiter *w) HA_REQUIRES_(ha_slow.lock) {
    w->next = ha_slow.first;
    w->number = ha_slow.listed++;
    ha_slow.first = w;
}

HA_IN_ void ha_waiter_unlist(ha_waiter *w) HA_REQUIRES_(ha_slow.lock) {
    ha_waiter **at = &ha_slow.first;
    while (*at != w) at = &(*at)->next;
    *at = w->next;
}

/* Waits until the requests can be granted: HA_OK, HA_ERR_CONFLICT, HA_ERR_DEADLOCK, HA_ERR_BUSY (when
 * `trying`, or asked to end), HA_ERR_MEMORY (the table of holders is full), HA_ERR_STATE (the array was freed). */
HA_IN_ ha_status ha_wait_admit(ha_array *a, const ha_lock_request *request, int trying,
                               uint64_t *ticket, ha_blocker *blocker, ha_blocked *blocked) {
    ha_bucket *b = ha_bucket_of(a);
    ha_waiter me = {.thread = ha_self.id,
                    .number = UINT64_MAX,
                    .array = a,
                    .requests = request,
                    .trying = trying};
    const ha_holder *other = &blocker->holder;
    ha_status s;
    int listed = 0;
    ha_waiters_add(a, 1);
    pthread_mutex_lock(&ha_slow.lock);
    for (;;) {
        pthread_mutex_lock(&b->lock);
        ha_queue_up(&me);
        s = ha_try_admit(a, request, &me, ticket, blocker);
        if (s != HA_RETRY_) break;
        if (!listed) {
            listed = 1;
            ha_waiter_list(&me);
            pthread_mutex_unlock(&b->lock); /* no two of them at once */
            if (ha_wait_needs_token(&me)) ha_wake_queued();
            continue;
        }
        int by_another = other->thread || me.behind == blocker->request;
        if (trying && by_another)
            s = HA_ERR_BUSY;
        else if (other->thread && ha_would_deadlock(&me))
            s = HA_ERR_DEADLOCK;
        if (s != HA_RETRY_) break;
        if (by_another) ha_note_blocked(blocked, blocker);
        if (!ha_sleep(b, a, blocked)) continue;
        s = HA_ERR_BUSY;
        pthread_mutex_lock(&b->lock);
        break;
    }
    ha_waiters_add(a, (uint32_t)-1);
    if (listed) {
        ha_waiter_unlist(&me);
        pthread_cond_broadcast(&b->change); /* others may have queued behind us */
    }
    pthread_mutex_unlock(&b->lock);
    pthread_mutex_unlock(&ha_slow.lock);
    return s;
}

/* What no waiting would change: of an array in the caller's memory. */
HA_IN_ ha_status ha_refuse_lock_requests(ha_array *a, const ha_lock_request *request,
                                         const char *operation, const ha_lock_request **refused) {
    ha_status s = HA_OK;
    for (; request && !s; request = request->next) {
        *refused = request;
        if (request->writes) s = ha_refuse_change(a, operation, request->site);
        if (!s && request->sets_size)
            s = ha_refuse_growth(a, request->new_size, operation, request->site);
    }
    return s;
}

/* Waiting for others, and being refused, are events. */
HA_IN_ void ha_tell_conflict(ha_array *a, const ha_blocker *blocker, const ha_blocked *blocked,
                             ha_status s) {
    int refused = s == HA_ERR_CONFLICT || s == HA_ERR_DEADLOCK;
    if (!refused && !blocked->since) return;
    const ha_blocker *told = refused ? blocker : &blocked->blocker;
    const ha_lock_request *request = told->request;
    ha_on_conflict(a, request->range, request->site, request->context->name, &told->holder,
                   blocked->since, refused ? s : HA_OK);
}

/* Admits a request with all that follow it: on HA_OK their holders are in place, and the array is busy
 * for this thread. *ticket: of the first, the others follow. Else *refused is the one that is not
 * granted. */
HA_IN_ ha_status ha_admit_all(ha_array *a, const ha_lock_request *request, int trying,
                              const char *operation, uint64_t *ticket,
                              const ha_lock_request **refused) {
    ha_blocker blocker;
    ha_blocked blocked = {.since = 0};
    const ha_holder *other = &blocker.holder;
    ha_status s = ha_refuse_lock_requests(a, request, operation, refused);
    if (s) return s;
    for (;;) {
        s = ha_try_admit(a, request, NULL, ticket, &blocker);
        if (s == HA_RETRY_) s = ha_wait_admit(a, request, trying, ticket, &blocker, &blocked);
        *refused = blocker.request;
        if (s != HA_ERR_MEMORY) break;
        if (ha_holder_grow(a))
            return ha_fail(s, operation, "%s: %s: no memory for one more open access",
                           request->site, ha_subject_of(a).text);
    }
    if (s == HA_ERR_STATE) return ha_fail_freed(a, operation, NULL);
    ha_tell_conflict(a, &blocker, &blocked, s);
    if (s == HA_ERR_CONFLICT) return ha_fail_conflict(a, &blocker, operation);
    request = blocker.request;
    if (s == HA_ERR_BUSY && !trying)
        return ha_fail(s, operation, "%s: %s%s at %s: the wait for another thread was ended",
                       request->site, ha_subject_of(a).text, ha_lock_request_label(a, request).text,
                       request->context->name);
    if (s == HA_ERR_DEADLOCK)
        return ha_fail(s, operation,
                       "%s: %s%s at %s: this thread would wait for itself: thread %llu, which "
                       "opened it at %s on %s, waits for what this thread holds",
                       request->site, ha_subject_of(a).text, ha_lock_request_label(a, request).text,
                       request->context->name, (unsigned long long)other->thread, other->site,
                       other->context->name);
    return s;
}

HA_IN_ ha_status ha_admit(ha_array *a, const ha_lock_request *request, int trying,
                          const char *operation, uint64_t *ticket) {
    const ha_lock_request *refused;
    return ha_admit_all(a, request, trying, operation, ticket, &refused);
}

/* ---- busy ---------------------------------------------------------------------------------- */

HA_IN_ void ha_busy_end(ha_array *a) {
    ha_debug_idle(a);
    ha_lock(a);
    a->busy = 0;
    ha_unmark(a);
    uint32_t waiters = a->waiters & HA_WAITING;
    ha_unlock(a);
    if (waiters) ha_wake(a);
}

HA_IN_ void ha_holder_remove(ha_array *a, uint64_t ticket) {
    ha_lock(a);
    ha_holder_take_out(a, ha_holder_find(a, ticket));
    ha_unlock(a);
}

/* Ends what ha_admit began, without an access. */
HA_IN_ void ha_admit_end(ha_array *a, uint64_t ticket) {
    ha_holder_remove(a, ticket);
    ha_busy_end(a);
}

/* HA_RETRY_: another thread has it. `waits`: is woken then. HA_ERR_STATE: the array was freed. */
HA_IN_ ha_status ha_busy_try(ha_array *a, int exclusive, int waits, ha_holder *other) {
    ha_status s = HA_OK;
    ha_lock(a);
    if (ha_is_freed(a)) {
        s = HA_ERR_STATE;
    } else if (a->busy) {
        a->waiters += (uint32_t)waits;
        s = HA_RETRY_;
    } else if (exclusive && a->holders > a->read_only) {
        *other = a->holder[a->read_only];
        s = HA_ERR_CONFLICT;
    } else
        a->busy = 1;
    ha_unlock(a);
    if (!s) ha_debug_busy(a);
    return s;
}

/* Takes busy; waits for it, which is short. exclusive: refuses while accesses are open. */
HA_IN_ ha_status ha_busy_begin(ha_array *a, int exclusive, ha_holder *other) {
    HA_MAY_WAIT_();
    ha_status s = ha_busy_try(a, exclusive, 0, other);
    if (s != HA_RETRY_) return s;
    ha_bucket *b = ha_bucket_of(a);
    HA_UNCANCELLED_;
    pthread_mutex_lock(&b->lock);
    while ((s = ha_busy_try(a, exclusive, 1, other)) == HA_RETRY_) {
        pthread_cond_wait(&b->change, &b->lock);
        ha_waiters_add(a, (uint32_t)-1);
    }
    pthread_mutex_unlock(&b->lock);
    return s;
}

/* The array for this thread alone, for an operation on it as a whole; ended by ha_busy_end. */
HA_IN_ ha_status ha_claim(ha_array *a, const char *operation) {
    ha_holder other;
    ha_status s = a ? ha_enter(operation)
                    : ha_fail(HA_ERR_ARGUMENT, operation, "%s: no array", operation);
    if (s) return s;
    s = ha_busy_begin(a, 1, &other);
    if (!s) return HA_OK;
    if (s == HA_ERR_STATE) return ha_fail_freed(a, operation, NULL);
    ha_on_conflict(a, HA_WHOLE_, operation, "", &other, 0, s);
    return ha_fail(s, operation, "%s: there are open accesses, one %s at %s on %s",
                   ha_subject_of(a).text, ha_came_by(&other), other.site, other.context->name);
}

/* The same for an operation that takes the memory away from the array: not the caller's. */
HA_IN_ ha_status ha_claim_own(ha_array *a, const char *operation) {
    ha_status s = a ? ha_enter(operation) : HA_OK;
    if (!s && a) s = ha_refuse_parting(a, operation);
    return s ? s : ha_claim(a, operation);
}

#ifdef HARRAY_TESTING
/* How often a thread went to sleep on an array. */
HA_IN_ HA_UNUSED uint64_t ha_test_sleeps_(void) {
    pthread_mutex_lock(&ha_slow.lock);
    uint64_t n = ha_slow.sleeps;
    pthread_mutex_unlock(&ha_slow.lock);
    return n;
}
#endif

#endif
