/* Who may open what: judging, waiting, and refusing to wait for ever.
 *
 * Waiting threads are listed, each with what it wants. Before a thread sleeps, it follows from
 * itself: I wait for these holders; those of them that sleep wait for those holders; … If that
 * leads back, it is refused. As all this happens under one mutex, of several threads that would
 * wait in a circle exactly the last one is refused. Sleeping itself goes through hashed buckets.
 * Order of locks: slow, bucket, array. */
#ifndef HA_IMPL_CONFLICT_H
#define HA_IMPL_CONFLICT_H

#include "copy.h"

typedef struct ha_waiter { /* on the sleeper's stack */
    struct ha_waiter *next;
    uint64_t thread, number; /* numbers grow in the order of listing */
    ha_array *array;
    ha_range range;
    int writes;
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

static void ha_slow_start(void) {
    for (int i = 0; i < HA_BUCKETS; i++) {
        pthread_mutex_init(&ha_slow.bucket[i].lock, NULL);
        pthread_cond_init(&ha_slow.bucket[i].change, NULL);
    }
}

static ha_bucket *ha_bucket_of(const ha_array *a) {
    pthread_once(&ha_slow.once, ha_slow_start);
    return &ha_slow.bucket[((uintptr_t)a >> 6) * 0x9E3779B97F4A7C15u >> 58];
}

/* Something changed that waiters of the array look at. Only needed when it has waiters. */
static void ha_wake(const ha_array *a) {
    ha_bucket *b = ha_bucket_of(a);
    pthread_mutex_lock(&b->lock);
    pthread_cond_broadcast(&b->change);
    pthread_mutex_unlock(&b->lock);
}

/* ---- judging ------------------------------------------------------------------------------- */

/* What a thread wants. */
typedef struct ha_wish {
    ha_context *context;
    ha_range range;
    int writes;
    int sets_size; /* the size becomes new_size */
    size_t new_size;
    int alone; /* refused while any access is open */
    const char *site;
} ha_wish;

typedef enum ha_verdict { HA_GO, HA_MUST_WAIT, HA_REFUSED } ha_verdict;

/* Lock held. *other: the access that is in the way. */
static ha_verdict ha_judge(const ha_array *a, const ha_wish *w, ha_holder *other) {
    ha_verdict verdict = HA_GO;
    int resizes = w->sets_size && w->new_size != a->size;
    for (uint32_t i = 0; i < a->holders; i++) {
        const ha_holder *h = &a->holder[i];
        int overlap = ha_overlap(h->range, w->range) && (h->writes | w->writes);
        if (!overlap && !w->alone) continue;
        int mine = h->thread == ha_self.id;
        int aliases = mine && !h->writes && h->context == w->context; /* y = f(y) */
        if (aliases && !resizes && !w->alone) continue;
        *other = *h;
        if (mine || w->alone) return HA_REFUSED;
        verdict = HA_MUST_WAIT;
    }
    return verdict;
}

/* A reader lets a writer go first that waits already when it comes; not one that comes later, or it
 * would never have its turn. And only if it holds nothing: then nobody waits for it, and no circle
 * runs through the queue. number: the reader's own, UINT64_MAX before it is listed. ha_slow.lock
 * held. */
static int ha_queues_behind(const ha_array *a, const ha_wish *w, uint64_t number) {
    if (w->writes || ha_self.held) return 0;
    for (const ha_waiter *o = ha_slow.first; o; o = o->next)
        if (o->array == a && o->writes && o->number < number && ha_overlap(o->range, w->range))
            return 1;
    return 0;
}

static ha_status ha_fail_conflict(ha_array *a, const ha_wish *w, const ha_holder *other,
                                  const char *operation) {
    const char *why, *advice = "";
    if (w->alone)
        why = "it has an open access";
    else if (other->writes)
        why = "this thread already writes it";
    else if (other->context != w->context)
        why = "this thread reads it at another context";
    else
        why = "this thread reads it, and its block would have to change";
    if (other->writes && !w->writes && !w->alone) advice = "; open the read before the write";
    return ha_fail(HA_ERR_CONFLICT, operation, "%s: array %s at %s: %s, opened at %s on %s%s",
                   w->site, ha_label_of(a).text, w->context->name, why, other->site,
                   other->context->name, advice);
}

/* ---- circles ------------------------------------------------------------------------------- */

/* ha_slow.lock held. Marks the waiters that thread `t` is, as reached. */
static void ha_reach(uint64_t t) {
    for (ha_waiter *w = ha_slow.first; w; w = w->next)
        if (w->thread == t && !w->reached && !w->trying) w->reached = 1;
}

/* Whether somebody that w waits for is thread `me`; reaches the others. */
static int ha_follow(ha_waiter *w, uint64_t me) {
    int circle = 0;
    ha_array *a = w->array;
    ha_lock(a);
    for (uint32_t i = 0; i < a->holders; i++) {
        const ha_holder *h = &a->holder[i];
        if (h->thread == w->thread || !(h->writes | w->writes) || !ha_overlap(h->range, w->range))
            continue;
        circle |= h->thread == me;
        ha_reach(h->thread);
    }
    ha_unlock(a);
    return circle;
}

/* ha_slow.lock held, and `mine` is listed. Would waiting come back to this thread? */
static int ha_in_circle(ha_waiter *mine) {
    int again = 1, circle = 0;
    for (ha_waiter *w = ha_slow.first; w; w = w->next) w->reached = w == mine;
    while (again && !circle) {
        again = 0;
        for (ha_waiter *w = ha_slow.first; w && !circle; w = w->next) {
            if (w->reached != 1) continue;
            w->reached = 2; /* followed */
            again = 1;
            circle = ha_follow(w, mine->thread);
        }
    }
    return circle;
}

/* ---- admission ----------------------------------------------------------------------------- */

/* Lock held. */
static void ha_holder_place(ha_array *a, const ha_wish *w, uint64_t *ticket) {
    *ticket = ++a->tickets;
    a->holder[a->holders++] = (ha_holder){ha_self.id, *ticket, w->range,
                                          w->context, w->site, w->writes};
    a->busy = 1;
}

/* More room for holders. No lock held; another thread may do the same. */
static ha_status ha_holder_grow(ha_array *a) {
    ha_lock(a);
    uint32_t capacity = a->holder_capacity;
    ha_unlock(a);
    ha_holder *more = (ha_holder *)HARRAY_MALLOC(2 * capacity * sizeof *more), *old = NULL;
    if (!more) return HA_ERR_MEMORY;
    ha_lock(a);
    if (a->holder_capacity == capacity) {
        memcpy(more, a->holder, a->holders * sizeof *more);
        old = a->holder == a->first_holders ? NULL : a->holder;
        a->holder = more;
        a->holder_capacity = 2 * capacity;
    } else
        old = more; /* somebody was faster */
    ha_unlock(a);
    HARRAY_FREE(old);
    return HA_OK;
}

/* One attempt: HA_OK: in place, busy is ours. HA_LATER: has to wait; *other says for whom, thread 0
 * when just for busy or behind a writer. HA_ERR_MEMORY: the table of holders is full. */
static ha_status ha_try_admit(ha_array *a, const ha_wish *w, const ha_waiter *slow,
                              uint64_t *ticket, ha_holder *other) {
    ha_status s = HA_OK;
    *other = (ha_holder){0};
    ha_lock(a);
    ha_verdict v = ha_judge(a, w, other);
    if (v == HA_REFUSED)
        s = HA_ERR_CONFLICT;
    else if (v == HA_MUST_WAIT || a->busy ||
             (a->waiters && (!slow || ha_queues_behind(a, w, slow->number))))
        s = HA_LATER;
    else if (a->holders == a->holder_capacity)
        s = HA_ERR_MEMORY;
    else
        ha_holder_place(a, w, ticket);
    ha_unlock(a);
    return s;
}

/* ha_slow.lock and the bucket's held on entry; on return the former. */
static void ha_sleep(ha_bucket *b) {
    ha_slow.sleeps++;
    pthread_mutex_unlock(&ha_slow.lock);
    pthread_cond_wait(&b->change, &b->lock);
    pthread_mutex_unlock(&b->lock);
    pthread_mutex_lock(&ha_slow.lock);
}

/* While waiters is raised, whoever changes something wakes the bucket, and no fast path passes. */
static void ha_waiters_add(ha_array *a, uint32_t by) {
    ha_lock(a);
    a->waiters += by;
    ha_unlock(a);
}

static void ha_waiter_list(ha_waiter *w) {
    w->next = ha_slow.first;
    w->number = ha_slow.listed++;
    ha_slow.first = w;
}

static void ha_waiter_unlist(ha_waiter *w) {
    ha_waiter **at = &ha_slow.first;
    while (*at != w) at = &(*at)->next;
    *at = w->next;
}

/* Waits until the wish can be granted: HA_OK, HA_ERR_CONFLICT, HA_ERR_DEADLOCK, HA_ERR_BUSY (when
 * `trying`), HA_ERR_MEMORY (the table of holders is full). */
static ha_status ha_wait_admit(ha_array *a, const ha_wish *w, int trying, uint64_t *ticket,
                               ha_holder *other) {
    ha_bucket *b = ha_bucket_of(a);
    ha_waiter me = {.thread = ha_self.id,
                    .number = UINT64_MAX,
                    .array = a,
                    .range = w->range,
                    .writes = w->writes,
                    .trying = trying};
    ha_status s;
    int listed = 0;
    ha_waiters_add(a, 1);
    pthread_mutex_lock(&ha_slow.lock);
    for (;;) {
        pthread_mutex_lock(&b->lock);
        s = ha_try_admit(a, w, &me, ticket, other);
        if (s != HA_LATER) break;
        if (!listed) ha_waiter_list(&me);
        listed = 1;
        if (trying && (other->thread || ha_queues_behind(a, w, me.number)))
            s = HA_ERR_BUSY;
        else if (other->thread && ha_in_circle(&me))
            s = HA_ERR_DEADLOCK;
        if (s != HA_LATER) break;
        ha_sleep(b);
    }
    ha_waiters_add(a, (uint32_t)-1);
    if (listed) {
        ha_waiter_unlist(&me);
        pthread_cond_broadcast(&b->change); /* readers may have queued behind us */
    }
    pthread_mutex_unlock(&b->lock);
    pthread_mutex_unlock(&ha_slow.lock);
    return s;
}

/* Admits a wish: on HA_OK its holder is in place, and the array is busy for this thread. */
static ha_status ha_admit(ha_array *a, const ha_wish *w, int trying, const char *operation,
                          uint64_t *ticket) {
    ha_holder other;
    ha_status s;
    for (;;) {
        s = ha_try_admit(a, w, NULL, ticket, &other);
        if (s == HA_LATER) s = ha_wait_admit(a, w, trying, ticket, &other);
        if (s != HA_ERR_MEMORY) break;
        if (ha_holder_grow(a))
            return ha_fail(s, operation, "%s: array %s: no memory for one more open access",
                           w->site, ha_label_of(a).text);
    }
    if (s == HA_ERR_CONFLICT) return ha_fail_conflict(a, w, &other, operation);
    if (s == HA_ERR_DEADLOCK)
        return ha_fail(s, operation,
                       "%s: array %s at %s: this thread would wait for itself: thread %llu, which "
                       "opened it at %s on %s, waits for what this thread holds",
                       w->site, ha_label_of(a).text, w->context->name,
                       (unsigned long long)other.thread, other.site, other.context->name);
    return s;
}

/* Lock held. The holder of an access: NULL when it is closed. Usually the last one. */
static inline ha_holder *ha_holder_find(ha_array *a, uint64_t ticket) {
    for (uint32_t i = a->holders; i > 0; i--)
        if (a->holder[i - 1].ticket == ticket) return &a->holder[i - 1];
    return NULL;
}

/* ---- busy ---------------------------------------------------------------------------------- */

static void ha_busy_end(ha_array *a) {
    ha_lock(a);
    a->busy = 0;
    uint32_t waiters = a->waiters;
    ha_unlock(a);
    if (waiters) ha_wake(a);
}

/* Ends what ha_admit began, without an access. */
static void ha_admit_end(ha_array *a, uint64_t ticket) {
    ha_lock(a);
    ha_holder *h = ha_holder_find(a, ticket);
    *h = a->holder[--a->holders];
    ha_unlock(a);
    ha_busy_end(a);
}

/* Takes busy; waits for it, which is short. exclusive: refuses while accesses are open. */
static ha_status ha_busy_begin(ha_array *a, int exclusive, ha_holder *other) {
    ha_bucket *b = ha_bucket_of(a);
    ha_status s = HA_LATER;
    pthread_mutex_lock(&b->lock);
    while (s == HA_LATER) {
        ha_lock(a);
        if (a->busy)
            a->waiters++;
        else if (exclusive && a->holders) {
            *other = a->holder[0];
            s = HA_ERR_CONFLICT;
        } else {
            a->busy = 1;
            s = HA_OK;
        }
        ha_unlock(a);
        if (s != HA_LATER) break;
        pthread_cond_wait(&b->change, &b->lock);
        ha_waiters_add(a, (uint32_t)-1);
    }
    pthread_mutex_unlock(&b->lock);
    return s;
}

/* The array for this thread alone, for an operation on it as a whole; ended by ha_busy_end. */
static ha_status ha_claim(ha_array *a, const char *operation) {
    ha_holder other;
    ha_status s = a ? ha_enter(operation) : ha_fail(HA_ERR_ARGUMENT, operation, "no array");
    if (s) return s;
    s = ha_busy_begin(a, 1, &other);
    if (s)
        ha_fail(s, operation, "array %s has open accesses, one opened at %s on %s",
                ha_label_of(a).text, other.site, other.context->name);
    return s;
}

#ifdef HARRAY_TESTING
/* How often a thread went to sleep on an array. */
static HA_UNUSED uint64_t ha_test_sleeps_(void) {
    pthread_mutex_lock(&ha_slow.lock);
    uint64_t n = ha_slow.sleeps;
    pthread_mutex_unlock(&ha_slow.lock);
    return n;
}
#endif

#endif
