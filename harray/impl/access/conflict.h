/* Who may open what: judging, and refusing to wait for ever. Waiting itself is in admit.h.
 *
 * Waiting threads are listed, each with what it requests. Before a thread sleeps, it follows from
 * itself: I wait for these holders; those of them that sleep wait for those holders; … If that
 * leads back, it is refused. As all this happens under one mutex, of several threads that would
 * deadlock exactly the last one is refused. Sleeping itself goes through hashed buckets.
 * Order of locks: slow, bucket, array. */
#ifndef HARRAY_IMPL_ACCESS_CONFLICT_H
#define HARRAY_IMPL_ACCESS_CONFLICT_H

#include "../state/all.h"

typedef struct ha_waiter { /* on the sleeper's stack */
    struct ha_waiter *next;
    uint64_t thread, number; /* numbers grow in the order of listing */
    ha_array *array;
    const struct ha_lock_request *requests;
    int trying; /* is there for busy only: it never waits for an access */
    int reached;
} ha_waiter;

typedef struct ha_bucket {
    pthread_mutex_t lock;
    pthread_cond_t change;
} ha_bucket;

enum { HA_BUCKETS = 64 };
static struct {
    pthread_mutex_t lock;
    ha_waiter *first;
    uint64_t listed; /* so far */
    uint64_t sleeps; /* how often a thread went to sleep: tests wait for it */
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

/* *other: the access that is in the way. */
HA_IN_ ha_grant ha_judge(ha_array *a, const ha_lock_request *request, ha_holder *other)
    HA_REQUIRES_(a->lock) {
    ha_grant grant = HA_GRANTED;
    int changes = (request->sets_size && request->new_size != a->size) || ha_moves(a, request);
    for (uint32_t i = 0; i < a->holders; i++) {
        const ha_holder *h = &a->holder[i];
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

/* A reader lets a writer go first that waits already when it comes; not one that comes later, or it
 * would never have its turn. And only if it holds nothing: then nobody waits for it, and no deadlock
 * runs through the queue. number: the reader's own, UINT64_MAX before it is listed. ha_slow.lock
 * held. */
HA_IN_ int ha_queues_behind(const ha_array *a, const ha_lock_request *request, uint64_t number) {
    if (request->writes || ha_self.held) return 0;
    for (const ha_waiter *o = ha_slow.first; o; o = o->next)
        for (const ha_lock_request *its = o->requests; its && o->array == a; its = its->next)
            if ((its->writes || its->moves) && o->number < number &&
                ha_overlap(a->grid, its->range, request->range))
                return 1;
    return 0;
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
    else if (request->moves && !other->writes)
        advice = "; open it at the device first, or create it there: its memory is then pinned";
    else if (other->writes && !request->writes && !request->alone)
        advice = "; open the read before the write";
    return ha_fail(HA_ERR_CONFLICT, operation, "%s: %s%s at %s: %s, %s at %s on %s%s",
                   request->site, ha_subject_of(a).text, ha_lock_request_label(a, request).text,
                   request->context->name, why, ha_came_by(other), other->site,
                   other->context->name, advice);
}

/* ---- deadlocks ------------------------------------------------------------------------------- */

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

/* Whether somebody that w waits for is thread `me`; reaches the others. A token is nobody's: any
 * thread may end it. */
HA_IN_ int ha_follow(ha_waiter *w, uint64_t me) HA_REQUIRES_(ha_slow.lock) {
    int deadlock = 0;
    ha_array *a = w->array;
    ha_lock(a);
    for (uint32_t i = 0; i < a->holders; i++) {
        const ha_holder *h = &a->holder[i];
        if (!ha_waits_for(a, w, h)) continue;
        deadlock |= h->thread == me;
        ha_reach(h->thread);
    }
    ha_unlock(a);
    return deadlock;
}

/* `mine` is listed. Would waiting come back to this thread? */
HA_IN_ int ha_would_deadlock(ha_waiter *mine) HA_REQUIRES_(ha_slow.lock) {
    int again = 1, deadlock = 0;
    for (ha_waiter *w = ha_slow.first; w; w = w->next) w->reached = w == mine;
    while (again && !deadlock) {
        again = 0;
        for (ha_waiter *w = ha_slow.first; w && !deadlock; w = w->next) {
            if (w->reached != 1) continue;
            w->reached = 2; /* followed */
            again = 1;
            deadlock = ha_follow(w, mine->thread);
        }
    }
    return deadlock;
}

#endif
