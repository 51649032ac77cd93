/* The state of an array, its lock, and the small questions about it. */
#ifndef HARRAY_IMPL_STATE_ARRAY_STATE_H
#define HARRAY_IMPL_STATE_ARRAY_STATE_H

#include "array_ops.h"
#include "../memory/all.h"

_Static_assert(sizeof(size_t) == 8, "harray counts elements in 64 bits");

/* The array's bytes in one memory. Made at first use, lives as long as the array. */
typedef struct ha_incarnation {
    ha_memory *memory;
    char *data;      /* of the block; NULL: no block */
    size_t capacity; /* elements */
    ha_set valid;    /* within the array's size */
    ha_ops ops;      /* outstanding on the block */
    ha_block *block; /* NULL: none */
    uint64_t
        stamp; /* the memory's epoch when it was last known to be in use there; 0: ha_array_done */
    int used;  /* on the fast path since then */
    int is_ahead; /* it was prefetched, and not used on the slow way since */
    int has_left; /* its values have given way, and not come back since */
    int leaving;  /* they are giving way: others do not count on them */
    unsigned
        wrapped; /* owners.h: 0, or HA_CALLERS: the block is the caller's; | flags of the piece */
    struct ha_incarnation *next;
} ha_incarnation;

/* In ha_holder.thread: the access was detached into a token. So it is no thread's own; the other
 * bits say who detached it. */
#define HA_TOKEN_ ((uint64_t)1 << 63)

/* An open access, or one that is being opened. */
typedef struct ha_holder {
    uint64_t thread, ticket;
    ha_range range; /* locked: a whole access locks [0, SIZE_MAX), also at size 0 */
    ha_context *context;
    const char *site;
    int writes;
    uint16_t
        overwrites;    /* open, and began with no values: none that it has can be lost by others */
    uint16_t on_short; /* open, on a block that is shorter than the array */
    uint64_t since;    /* open on a device: its epoch then */
    uint64_t opened;   /* when, if the array is watched; else undefined */
} ha_holder;

/* Of the values that an array had at a version: n of them, `step` apart, are indices up to `greatest` (ops/indices.h). */
typedef struct ha_known_indices {
    uint64_t version; /* plus 1; 0: nothing is known */
    uint64_t greatest;
    int64_t offset, n, step;
} ha_known_indices;

struct ha_array {
    uint32_t lock;    /* 1: taken. Held for a few instructions, never across a call that may wait */
    uint32_t busy;    /* a thread prepares or changes the array with the lock dropped */
    uint32_t waiters; /* threads that wait for a change here, or queue for it; and flags: while it
                         is not 0, opening and closing take the slow way */
    uint32_t holders, holders_easy; /* up to so many have a fast path */
    ha_holder *holder;
    ha_incarnation *recent; /* where the last access went */
    size_t size;            /* set by ha_set_size, under the lock */
    size_t element;         /* bytes; 0: of record arrays */
    ha_grid *grid;          /* on which its elements lie; NULL: one behind the other */
    uint64_t tickets, version;
    ha_incarnation first; /* where it was first touched; the others follow by `next` */
    ha_context *first_touch;
    const char *type;
    uint64_t references; /* owners; 0: it was freed */
    size_t wrapped;      /* owners.h: elements of the caller's memory; 0: it has none of that */
    uint32_t read_only; /* owners.h: 1: the first holder is nobody's access and keeps writers out */
    int priority;       /* access/victims.h: HA_KEEP: it does not give way */
    uint32_t uneven;    /* 1: not as many ghost cells behind as before the interior, somewhere */
    ha_statistics statistics;   /* but for records, its bytes are also read without the lock */
    ha_set lost;                /* lost.h: written once, and valid nowhere any more */
    const char *lost_where;     /* the context whose failure that was */
    const char *lost_site;      /* what it was to write them for; NULL: unknown */
    struct ha_watched *watched; /* array_events.h; NULL: it is not */
    size_t lead;                /* bytes of each block before the first element, to align others */
    ha_context *pinned_for;     /* whose device pins the host's block; NULL: as first_touch says */
    const ha_array_ops *ops;    /* of a record array: the head of its state; NULL: none */
    struct ha_array *strict_next, **strict_link; /* strict.h; link NULL: it is not listed */
    void (*release)(void *user); /* to be called when it is gone; NULL: nothing is */
    void *release_user;
    ha_status (*arrive)(struct ha_array *a,
                        const char *site); /* ends it with its token, a copy of bytes; or NULL */
    ha_alive alive; /* in the list of the memory where it was first touched */
    uint32_t holder_capacity, holder_tree; /* holders.h */
    uint64_t id;                           /* ids.h; 0: nobody has asked for it; atomic */
    uint32_t hidden;                       /* ids.h: its last owner is just ending it */
    uint32_t known_dtype; /* open_any.h: that of its type; 0: nobody has asked; atomic */
    ha_known_indices indices;
    ha_kept kept; /* freed.h: with others that were freed */
    char name[48];
    ha_holder first_holders[2]; /* from here on nothing is zeroed in a new array */
    ha_piece_node by_id;        /* ids.h: only with an id */
};

/* In `waiters`: flags, and the threads. */
enum {
    HA_WATCHED = 1 << 30,
    HA_INDEXED = 1 << 29,
    HA_PRESSED = 1 << 28, /* access/turns.h: a thread waits for memory where the array has some */
    HA_WAITING = HA_PRESSED | ((1 << 24) - 1) /* somebody is to be woken */
};

enum { HA_FEW_HOLDERS = 64 }; /* more than that are indexed (holders.h) */

static inline void ha_lock(ha_array *a) HA_ACQUIRE_(a->lock) { ha_spin_lock(&a->lock); }

static inline void ha_unlock(ha_array *a) HA_RELEASE_(a->lock) { ha_spin_unlock(&a->lock); }

static inline ha_array *ha_array_of_alive(ha_alive *alive) {
    return (ha_array *)(void *)((char *)alive - offsetof(ha_array, alive));
}

/* The lock is needed for looking, too; it is not part of what an array says. */
static inline ha_array *ha_lockable(const ha_array *a) { return (ha_array *)(uintptr_t)a; }

/* Of an array that others may know: who asks for nothing but the size takes no lock. */
static inline void ha_set_size(ha_array *a, size_t n) {
    __atomic_store_n(&a->size, n, __ATOMIC_RELAXED);
}

/* A transfer has moved so many bytes. Locked. */
static inline void ha_count_transfer(ha_array *a, uint64_t bytes) {
    a->statistics.transfers++;
    __atomic_store_n(&a->statistics.bytes, a->statistics.bytes + bytes, __ATOMIC_RELAXED);
}

static inline ha_incarnation *ha_incarnation_find(ha_array *a, const ha_memory *m) {
    ha_incarnation *in = &a->first;
    while (in && in->memory != m) in = in->next;
    return in;
}

/* The incarnation of a memory, made if need be; NULL when there is no memory for it. Busy. */
HA_IN_ ha_incarnation *ha_incarnation_add(ha_array *a, ha_memory *m) {
    ha_incarnation *in = ha_incarnation_find(a, m);
    if (in) return in;
    in = (ha_incarnation *)HARRAY_MALLOC(sizeof *in);
    if (!in) return NULL;
    memset(in, 0, sizeof *in);
    in->memory = m;
    in->valid.grid = in->ops.grid = a->grid;
    ha_incarnation *last = &a->first;
    while (last->next) last = last->next;
    ha_lock(a);
    last->next = in;
    ha_unlock(a);
    return in;
}

/* The next epoch. */
static inline uint64_t ha_memory_tick(ha_memory *m) {
    return __atomic_add_fetch(&m->epoch, 1, __ATOMIC_RELAXED);
}

/* It was used just now. */
static inline void ha_incarnation_stamp(ha_incarnation *in) {
    in->stamp = ha_memory_tick(in->memory);
    in->leaving = 0;
}

/* A block of the array was listed in a memory where somebody waits: he is to look again, and the array gets the mark
 * that tells him of its closing. The block may have given way since. */
HA_IN_ void ha_resident_press(ha_array *a, ha_memory *m) {
    ha_for_room.changed();
    ha_lock(a);
    const int awaited = __atomic_load_n(&m->pool.awaited, __ATOMIC_ACQUIRE) != 0;
    if (awaited) a->waiters |= HA_PRESSED; /* else the marks have just been taken away */
    ha_unlock(a);
}

/* It has a block, which may give way to others from now on. This thread has the array busy, or has just made it, with
 * this one incarnation: so who waits for memory there meets it with the mark. */
HA_IN_ void ha_resident_enter(ha_array *a, const ha_incarnation *in) {
    if (!in->block || in->wrapped) return;
    ha_memory *const m = in->block->memory; /* pinned or not */
    if (ha_resident_list(a, in->block, in->stamp)) ha_resident_press(a, m);
}

/* The same of all. Busy. */
HA_IN_ void ha_residents_enter(ha_array *a) {
    for (const ha_incarnation *in = &a->first; in; in = in->next) ha_resident_enter(a, in);
}

/* The bytes of the values in r. */
HA_IN_ uint64_t ha_value_bytes(const ha_array *a, ha_range r) {
    if (a->ops) return a->ops->value_bytes(a, r);
    return ha_elements(a->grid, r) * a->element;
}

/* The bytes of a block for n elements. Returns whether they fit. */
HA_IN_ int ha_block_bytes(const ha_array *a, size_t n, size_t *bytes) {
    return ha_bytes_of(n, a->element, bytes) && !__builtin_add_overflow(*bytes, a->lead, bytes);
}

/* Room for `more` further ranges in a set of an incarnation. Sets change only under busy and lock
 * together, and are looked at under the lock: so the new memory is put in under the lock. */
HA_IN_ ha_status ha_set_reserve(ha_array *a, ha_set *set, size_t more) {
    ha_set grown = {.one = set->one, .n = set->n, .grid = set->grid};
    if (set->n + more <= (set->heap ? set->capacity : 1)) return HA_OK;
    if (ha_set_room(&grown, set->capacity + more)) return HA_ERR_MEMORY;
    memcpy(grown.heap, ha_set_ranges(set), set->n * sizeof *grown.heap);
    if (set->indexed) ha_set_index(&grown);
    ha_lock(a);
    ha_range *old = set->heap;
    *set = grown;
    ha_unlock(a);
    HARRAY_FREE(old);
    return HA_OK;
}

#endif
