/* The state of an array, its lock, and the small questions about it. */
#ifndef HA_IMPL_STATE_H
#define HA_IMPL_STATE_H

#include "blocks.h"
#include <sched.h>

#if defined __x86_64__ || defined __i386__
#define HA_PAUSE() __builtin_ia32_pause()
#elif defined __aarch64__
#define HA_PAUSE() __asm__ volatile("yield")
#else
#define HA_PAUSE() ((void)0)
#endif

_Static_assert(sizeof(size_t) == 8, "harray counts elements in 64 bits");

/* The array's bytes in one memory. Made at first use, lives as long as the array. */
typedef struct ha_incarnation {
    ha_memory *memory;
    char *data;      /* of the block; NULL: no block */
    size_t capacity; /* elements */
    ha_set valid;    /* within the array's size */
    ha_ops ops;      /* outstanding on the block */
    ha_block *block; /* NULL: none */
    struct ha_incarnation *next;
} ha_incarnation;

/* An open access, or one that is being opened. */
typedef struct ha_holder {
    uint64_t thread, ticket;
    ha_range range; /* locked: a whole access locks [0, SIZE_MAX), also at size 0 */
    ha_context *context;
    const char *site;
    int writes;
} ha_holder;

struct ha_array {
    uint32_t lock;    /* 1: taken. Held for a few instructions, never across a call that may wait */
    uint32_t busy;    /* a thread prepares or changes the array with the lock dropped */
    uint32_t waiters; /* threads that wait for a change here, or queue for it */
    uint32_t holders, holder_capacity;
    ha_holder *holder;
    ha_incarnation *recent; /* where the last access went */
    size_t size;
    size_t element; /* bytes */
    uint64_t tickets, version;
    ha_holder first_holders[2];
    ha_incarnation first; /* where it was first touched; the others follow by `next` */
    ha_context *first_touch;
    const char *type;
    uint64_t references;
    ha_statistics statistics;
    char name[48];
};

#define HA_WHOLE ((ha_range){0, SIZE_MAX})

static inline void ha_lock(ha_array *a) {
    uint32_t unlocked = 0;
    for (int spins = 0; !__atomic_compare_exchange_n(&a->lock, &unlocked, 1, 0, __ATOMIC_ACQUIRE,
                                                     __ATOMIC_RELAXED);
         unlocked = 0) {
        if (++spins % 64)
            HA_PAUSE();
        else
            sched_yield();
    }
}

static inline void ha_unlock(ha_array *a) { __atomic_store_n(&a->lock, 0, __ATOMIC_RELEASE); }

/* The lock is needed for looking, too; it is not part of what an array says. */
static inline ha_array *ha_lock_const(const ha_array *a) {
    ha_array *mutable_array = (ha_array *)(uintptr_t)a;
    ha_lock(mutable_array);
    return mutable_array;
}

static inline ha_incarnation *ha_incarnation_find(ha_array *a, const ha_memory *m) {
    ha_incarnation *in = &a->first;
    while (in && in->memory != m) in = in->next;
    return in;
}

/* The incarnation of a memory, made if need be; NULL when there is no memory for it. Busy. */
static ha_incarnation *ha_incarnation_add(ha_array *a, ha_memory *m) {
    ha_incarnation *in = ha_incarnation_find(a, m);
    if (in) return in;
    in = (ha_incarnation *)HARRAY_MALLOC(sizeof *in);
    if (!in) return NULL;
    memset(in, 0, sizeof *in);
    in->memory = m;
    ha_incarnation *last = &a->first;
    while (last->next) last = last->next;
    ha_lock(a);
    last->next = in;
    ha_unlock(a);
    return in;
}

/* "'u' (double[1000])" for messages. */
typedef struct ha_label {
    char text[112];
} ha_label;

static ha_label ha_label_of(ha_array *a) {
    ha_label l;
    char name[sizeof a->name];
    ha_lock(a);
    size_t size = a->size;
    memcpy(name, a->name, sizeof name);
    ha_unlock(a);
    if (*name)
        snprintf(l.text, sizeof l.text, "'%s' (%.32s[%zu])", name, a->type, size);
    else
        snprintf(l.text, sizeof l.text, "(%.32s[%zu])", a->type, size);
    return l;
}

/* Room for one more operation on an incarnation, keeping promises. Busy; takes memory unlocked. */
static ha_status ha_ops_reserve(ha_array *a, ha_ops *o, uint32_t more) {
    ha_lock(a);
    if (!ha_ops_has_room(o, more)) ha_ops_prune(o);
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

/* Room for `more` further ranges in a set of an incarnation. Sets change only under busy and lock
 * together, and are looked at under the lock: so the new memory is put in under the lock. */
static ha_status ha_set_reserve(ha_array *a, ha_set *set, size_t more) {
    ha_set grown = {.one = set->one, .n = set->n};
    if (set->n + more <= (set->heap ? set->capacity : 1)) return HA_OK;
    if (ha_set_room(&grown, set->capacity + more)) return HA_ERR_MEMORY;
    memcpy(grown.heap, ha_set_ranges(set), set->n * sizeof *grown.heap);
    ha_lock(a);
    ha_range *old = set->heap;
    *set = grown;
    ha_unlock(a);
    HARRAY_FREE(old);
    return HA_OK;
}

/* The next queue, in order of address behind p->queue, with an operation that an access to r has to
 * come after; *p is the last of these. 0 when there is none. Not by index: while the lock is
 * dropped between two calls, others may note operations and so move the entries of the list. */
static int ha_next_conflict(ha_array *a, ha_incarnation *in, ha_range r, int write,
                            const ha_context *queue, ha_point *p) {
    ha_point best = {NULL, 0};
    ha_lock(a);
    const ha_operation *list = ha_ops_list(&in->ops);
    for (uint32_t i = 0; i < in->ops.n; i++) {
        const ha_operation *o = &list[i];
        uintptr_t at = (uintptr_t)o->at.queue;
        if (o->at.queue == queue || at <= (uintptr_t)p->queue || !ha_conflicts(o, r, write) ||
            ha_passed(o->at.queue, o->at.seq))
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

/* Work enqueued on `queue` (or, for the host, done by this thread) from now on comes after every
 * conflicting operation on `in`. HA_LATER when the host would have to wait: for *later. */
static ha_status ha_come_after(ha_array *a, ha_incarnation *in, ha_range r, int write,
                               ha_context *queue, ha_later *later) {
    ha_point p = {NULL, 0};
    ha_status s = HA_OK;
    while (!s && ha_next_conflict(a, in, r, write, queue, &p)) {
        ha_poll(p.queue);
        if (ha_passed(p.queue, p.seq)) continue;
        if (ha_can_await(queue, p.queue))
            s = ha_await(queue, p);
        else {
            later->point = p;
            s = HA_LATER;
        }
    }
    return s;
}

#endif
