/* Who may open what: judging, and refusing to wait for ever. Waiting itself is in admit.h.
 *
 * Waiting threads are listed, each with what it requests. Before a thread sleeps, it follows from
 * itself: I wait for these holders; those of them that sleep wait for those holders; … If that
 * leads back, it is refused. As all this happens under one mutex, of several threads that would
 * deadlock exactly the last one is refused. Who holds nothing lets others go first that came before.
 * Sleeping itself goes through hashed buckets.
 * Order of locks: slow, bucket, array. */
#ifndef HARRAY_IMPL_ACCESS_CONFLICT_H
#define HARRAY_IMPL_ACCESS_CONFLICT_H

#include "turns.h"

typedef struct ha_waiter { /* on the sleeper's stack */
    struct ha_waiter *next;
    uint64_t thread, number; /* numbers grow in the order of listing */
    ha_array *array;
    const struct ha_lock_request *requests;
    const struct ha_lock_request *behind; /* which of them queues; NULL: none */
    int trying;                           /* is there for busy only: it never waits for an access */
    int reached;
} ha_waiter;

typedef struct ha_bucket {
    pthread_mutex_t lock;
    pthread_cond_t change;
} ha_bucket;

enum { HA_BUCKETS = 64 };
HA_STATE_ struct {
    pthread_mutex_t lock;
    ha_waiter *first;
    uint64_t listed; /* so far */
    uint64_t sleeps; /* how often a thread went to sleep: tests wait for it */
    uint64_t tokens; /* that have not ended, of all arrays; atomic */
    pthread_once_t once;
    ha_bucket bucket[HA_BUCKETS];
} ha_slow = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

HA_IN_ void ha_slow_start(void) {
    for (int i = 0; i < HA_BUCKETS; i++) {
        pthread_mutex_init(&ha_slow.bucket[i].lock, NULL);
        pthread_cond_init(&ha_slow.bucket[i].change, NULL);
    }
}

HA_IN_ ha_bucket *ha_bucket_of(const ha_array *a) {
    pthread_once(&ha_slow.once, ha_slow_start);
    return &ha_slow.bucket[((uintptr_t)a >> 6) * 0x9E3779B97F4A7C15u >> 58];
}

/* Something changed that waiters of the array look at. Only needed when it has waiters. */
HA_IN_ void ha_wake(const ha_array *a) {
    ha_bucket *b = ha_bucket_of(a);
    pthread_mutex_lock(&b->lock);
    pthread_cond_broadcast(&b->change);
    pthread_mutex_unlock(&b->lock);
    ha_turns_wake();
}

/* ---- judging ------------------------------------------------------------------------------- */

/* What a thread asks to have locked. */
typedef struct ha_lock_request {
    const struct ha_lock_request
        *next; /* of the same array, to be granted together with this one */
    ha_context *context;
    ha_range range;
    int writes;
    int sets_size; /* the size becomes new_size */
    size_t new_size;
    int alone;              /* refused while any access is open */
    const ha_memory *moves; /* the block there will be exchanged: every access to it is in the way;
                               NULL: none will */
    const ha_block *moved;  /* that block; once it has gone, nothing is in the way any more */
    int widens;             /* it is exchanged for a longer one */
    const char *site;
} ha_lock_request;

/* What keeps one from being granted. */
typedef struct ha_blocker {
    const ha_lock_request *request; /* which one of several */
    ha_holder holder;               /* thread 0: no access; the array is busy, or a writer waits */
} ha_blocker;

typedef enum ha_grant { HA_GRANTED, HA_MUST_WAIT, HA_REFUSED } ha_grant;

/* Whether it still has to; another thread may have done it meanwhile. Then who waits need
 * wait no more, and what its own thread has there is no hindrance. */
static inline int ha_moves(ha_array *a, const ha_lock_request *request) HA_REQUIRES_(a->lock) {
    return request->moves && ha_incarnation_find(a, request->moves)->block == request->moved;
}

/* Whether an access and a request cannot both be: one of them writes what the other uses, or
 * moves it. */
static inline int ha_collide(ha_array *a, const ha_holder *h, const ha_lock_request *request)
    HA_REQUIRES_(a->lock) {
    if (request->moves == h->context->memory && !ha_is_empty(h->range) && ha_moves(a, request))
        return 1;
    return (h->writes | request->writes) && ha_overlap(a->grid, h->range, request->range);
}

/* The holders that may be in the way, one after the other, and perhaps others. */
HA_IN_ const ha_holder *ha_next_to_judge(const ha_array *a, const ha_lock_request *request,
                                         const ha_holder *before) HA_REQUIRES_(a->lock) {
    const int all = request->alone || request->moves;
    if (!all) return ha_holder_across(a, request->range, request->writes, before);
    const ha_holder *next = before ? before + 1 : a->holder;
    return next < a->holder + a->holders ? next : NULL;
}

/* *other: the access that is in the way. */
HA_IN_ ha_grant ha_judge(ha_array *a, const ha_lock_request *request, ha_holder *other)
    HA_REQUIRES_(a->lock) {
    ha_grant grant = HA_GRANTED;
    int changes = (request->sets_size && request->new_size != a->size) || ha_moves(a, request);
    for (const ha_holder *h = NULL; (h = ha_next_to_judge(a, request, h));) {
        if (!ha_collide(a, h, request) && !request->alone) continue;
        int mine = (h->thread & ~HA_TOKEN_) == ha_self.id;
        int aliases = mine && !h->writes && h->context == request->context; /* y = f(y) */
        if (aliases && !(h->thread & HA_TOKEN_) && !changes && !request->alone) continue;
        *other = *h;
        if (mine || request->alone) return HA_REFUSED;
        grant = HA_MUST_WAIT;
    }
    return grant;
}

/* How an access that is in the way came there. */
HA_IN_ const char *ha_came_by(const ha_holder *h) {
    return h->thread & HA_TOKEN_ ? "detached into a token" : "opened";
}

/* " vel.x[0, 7)" of a record array; "" of others, whose ranges say less than where it was opened. */
HA_IN_ ha_part_label ha_lock_request_label(const ha_array *a, const ha_lock_request *request) {
    ha_part_label l = {""};
    if (!a->ops || !a->grid) return l;
    const ha_part_label part = ha_part_label_of(a, request->range);
    snprintf(l.text, sizeof l.text, " %.110s", part.text);
    return l;
}

HA_IN_ ha_status ha_fail_conflict(ha_array *a, const ha_blocker *blocker, const char *operation) {
    const ha_lock_request *request = blocker->request;
    const ha_holder *other = &blocker->holder;
    const char *why, *advice = "";
    if (request->alone)
        why = "it has an open access";
    else if (request->widens)
        why = "its block there has no room for all elements since it has grown, and does not move "
              "while this thread uses a part of it";
    else if (other->thread & HA_TOKEN_)
        why = "this thread keeps it locked";
    else if (other->writes)
        why = "this thread already writes it";
    else if (other->context != request->context && !request->moves)
        why = "this thread reads it at another context";
    else
        why = "this thread reads it, and its block would have to change";
    if (other->thread & HA_TOKEN_)
        advice = "; end the token first";
    else if (request->widens)
        advice = "; close that first, or open all of it before";
    else if (request->moves && !other->writes)
        advice = "; open it at the device first, or create it there: its memory is then pinned";
    else if (other->writes && other->context != request->context && !request->alone)
        advice = "; close that one first";
    else if (other->writes && !request->writes && !request->alone)
        advice = "; open the read before the write";
    return ha_fail(HA_ERR_CONFLICT, operation, "%s: %s%s at %s: %s, %s at %s on %s%s",
                   request->site, ha_subject_of(a).text, ha_lock_request_label(a, request).text,
                   request->context->name, why, ha_came_by(other), other->site,
                   other->context->name, advice);
}

/* ---- who waits for whom --------------------------------------------------------------------- */

/* The waiters that thread `t` is are reached. */
HA_IN_ void ha_reach(uint64_t t) HA_REQUIRES_(ha_slow.lock) {
    for (ha_waiter *w = ha_slow.first; w; w = w->next)
        if (w->thread == t && !w->reached && !w->trying) w->reached = 1;
}

HA_IN_ int ha_waits_for(ha_array *a, const ha_waiter *w, const ha_holder *h) HA_REQUIRES_(a->lock) {
    for (const ha_lock_request *its = w->requests; its && h->thread != w->thread; its = its->next)
        if (ha_collide(a, h, its)) return 1;
    return 0;
}

/* Whether somebody that w waits for is `whom`: a thread, or HA_TOKEN_ for any token; reaches the
 * others. A token is nobody's: any thread may end it. */
HA_IN_ int ha_follow(ha_waiter *w, uint64_t whom) HA_REQUIRES_(ha_slow.lock) {
    int found = 0;
    ha_array *a = w->array;
    ha_lock(a);
    for (uint32_t i = 0; i < a->holders; i++) {
        const ha_holder *h = &a->holder[i];
        if (!ha_waits_for(a, w, h)) continue;
        found |= h->thread == whom || (h->thread & whom & HA_TOKEN_);
        ha_reach(h->thread);
    }
    ha_unlock(a);
    return found;
}

/* `from` is listed. Does it wait for `whom`, or for a thread that does, or … ? */
HA_IN_ int ha_leads_to(const ha_waiter *from, uint64_t whom) HA_REQUIRES_(ha_slow.lock) {
    int again = 1, found = 0;
    for (ha_waiter *w = ha_slow.first; w; w = w->next) w->reached = w == from;
    while (again && !found) {
        again = 0;
        for (ha_waiter *w = ha_slow.first; w && !found; w = w->next) {
            if (w->reached != 1) continue;
            w->reached = 2; /* followed */
            again = 1;
            found = ha_follow(w, whom);
        }
    }
    return found;
}

/* `mine` is listed. Would waiting come back to this thread? */
HA_IN_ int ha_would_deadlock(const ha_waiter *mine) HA_REQUIRES_(ha_slow.lock) {
    return ha_leads_to(mine, mine->thread);
}

/* ---- turns ----------------------------------------------------------------------------------- */

HA_IN_ int ha_excludes(const ha_lock_request *request) { return request->writes || request->moves; }

/* Whether a waiter came before, and may be let go first: a writer by readers, and a reader by
 * writers. Not one that comes later, or nobody would ever have a turn. */
HA_IN_ int ha_comes_first(const ha_waiter *o, const ha_waiter *mine,
                          const ha_lock_request *request) {
    if (o->array != mine->array || o->number >= mine->number || o->trying) return 0;
    for (const ha_lock_request *its = o->requests; its; its = its->next)
        if (ha_excludes(its) != ha_excludes(request) &&
            (its->moves == request->context->memory ||
             ha_overlap(mine->array->grid, its->range, request->range)))
            return 1;
    return 0;
}

HA_IN_ int ha_wait_needs_token(const ha_waiter *w) HA_REQUIRES_(ha_slow.lock) {
    return __atomic_load_n(&ha_slow.tokens, __ATOMIC_ACQUIRE) && ha_leads_to(w, HA_TOKEN_);
}

HA_IN_ int ha_is_held_up(const ha_waiter *w) HA_REQUIRES_(ha_slow.lock) {
    ha_array *a = w->array;
    int held_up = 0;
    ha_lock(a);
    for (uint32_t i = 0; i < a->holders && !held_up; i++)
        held_up = ha_waits_for(a, w, &a->holder[i]);
    ha_unlock(a);
    return held_up;
}

/* Whether a reader that waits is about to have its turn: no access is in its way any more, nor in
 * that of a writer that it lets go first. */
HA_IN_ int ha_is_next(const ha_waiter *reader) HA_REQUIRES_(ha_slow.lock) {
    if (ha_is_held_up(reader)) return 0;
    for (const ha_lock_request *its = reader->requests; its; its = its->next)
        for (const ha_waiter *o = ha_slow.first; o; o = o->next)
            if (ha_comes_first(o, reader, its) && ha_is_held_up(o)) return 0;
    return 1;
}

/* Readers queue behind a writer until it has had its turn; but not behind one that waits for a token
 * in the end, which this thread may be the one to end. Writers only let go whom nothing holds up: or
 * those who write parts of an array would wait for each other when somebody wants to read all. */
HA_IN_ int ha_queues(const ha_waiter *mine, const ha_lock_request *request)
    HA_REQUIRES_(ha_slow.lock) {
    for (const ha_waiter *o = ha_slow.first; o; o = o->next) {
        if (!ha_comes_first(o, mine, request)) continue;
        if (ha_excludes(request) ? ha_is_next(o) : !ha_wait_needs_token(o)) return 1;
    }
    return 0;
}

/* Notes which request of a waiter queues behind others. None, when its thread holds anything: so
 * nobody waits for a thread that queues, and no circle runs through the queue. */
HA_IN_ void ha_queue_up(ha_waiter *mine) HA_REQUIRES_(ha_slow.lock) {
    mine->behind = NULL;
    if (ha_held()) return;
    for (const ha_lock_request *its = mine->requests; its && !mine->behind; its = its->next)
        if (ha_queues(mine, its)) mine->behind = its;
}

/* Somebody waits for a token now, perhaps by way of others: who queues behind that looks again. */
HA_IN_ void ha_wake_queued(void) HA_REQUIRES_(ha_slow.lock) {
    for (const ha_waiter *o = ha_slow.first; o; o = o->next)
        if (o->behind) ha_wake(o->array);
}

#endif
