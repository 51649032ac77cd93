/* What the memories and contexts of the process are, and where they are listed. The lists only
 * grow, until ha_shutdown, so that they can be walked unlocked (registry.h). */
#ifndef HARRAY_IMPL_DEVICE_CONTEXT_H
#define HARRAY_IMPL_DEVICE_CONTEXT_H

#include "faults.h"
#include "../../../backends/host/host.h"
#include "../base/all.h"

#ifndef HARRAY_HOST_BACKEND /* tests put a fault injecting one in its place */
#define HARRAY_HOST_BACKEND ha_backend_host
#endif

#define HA_HOST_CACHE_ ((uint64_t)(HA_DEBUGGING_ ? 0 : 256) << 20) /* bytes kept cached at first */

struct ha_block;
struct ha_fence;

/* What the bytes of a memory are handed out for. */
typedef enum ha_purpose { HA_LIVE, HA_CACHED, HA_RETIRED, HA_STAGING, HA_USES } ha_purpose;

enum { HA_SIZE_CLASSES = 8 * (64 - 6) }; /* memory/pool.h: eight a doubling, from 64 bytes on */

/* The cache of a memory, and the account of what the backend has handed out: the sum of `bytes`. */
/* The beginning of an array: its place in the list of a pool. */
typedef struct ha_alive {
    struct ha_alive *next, **link; /* link: what points here */
} ha_alive;

/* A thread on its way along such a list, with the pool's lock dropped from time to time. */
typedef struct ha_walk {
    ha_alive *at; /* comes next; NULL: the end */
    struct ha_walk *next;
} ha_walk;

typedef struct ha_pool {
    uint32_t lock;      /* a spin lock, of all of this */
    uint32_t returning; /* threads that are just giving blocks back */
    uint64_t returned;  /* blocks that came back so far, to the cache or to the backend */
    uint64_t expected;  /* bytes that the backend is just being asked for */
    uint64_t beyond;    /* bytes of the one block that may be beyond the budget, or 0 */
    uint64_t bytes[HA_USES];
    uint64_t most;   /* bytes to keep cached */
    uint64_t budget; /* bytes to be handed out at most; 0: as many as there are */
    uint64_t high_water, allocations, releases, reused;
    uint64_t released;                  /* bytes that the backend has got back so far */
    uint64_t arrays;                    /* living ones, that were first touched here */
    struct ha_alive *alive;             /* the same, as a list: the youngest first */
    struct ha_walk *walks;              /* those who go along it */
    ha_piece_node *tree;                /* what the backend has handed out, by address */
    struct ha_block *oldest, *youngest; /* of the cached ones */
    struct ha_block *resident, *latest; /* memory/resident.h: listed, oldest first */
    struct ha_block *done;              /* there, the last of those that hints have put first */
    uint64_t residents;                 /* how many these are */
    uint32_t awaited;                   /* access/turns.h: a thread waits for memory there */
    uint32_t ready; /* access/write_back.h: of 2^16 parts so many are to be free or clean; atomic */
    struct ha_block *cached[HA_SIZE_CLASSES]; /* of each class, the youngest first */
} ha_pool;

/* Where bytes live. */
typedef struct ha_memory {
    struct ha_memory *next;
    const ha_backend *backend;
    const ha_memory_ops *ops; /* NULL: the backend's */
    void *handle;             /* the backend's own object */
    ha_context *primary;      /* the queue for transfers that have no other; NULL on the host */
    struct ha_link *links;    /* transfer/links.h: measured ones */
    struct ha_memory
        *tier; /* tier.h: where its values go when it is short; NULL: as usual; atomic */
    ha_context
        *arrivals; /* queues.h: writes what comes from there; NULL: nothing came yet; atomic */
    int arrivals_failed;    /* such queues, so far; atomic */
    int64_t arrivals_error; /* the code of why; atomic */
    int dead; /* every queue of its device has failed: what is there cannot be had any more */
    struct ha_memory *pinned;  /* host memory that belongs to this device; NULL: none. Never an
                                 incarnation's memory: blocks of host incarnations come from it */
    struct ha_memory *managed; /* memory of this device's that the host reaches, too; NULL: none. No
                                 array's: for ha_memory_allocate_kind */
    ha_allocator allocator;    /* of the user: takes the table's place; no functions: none */
    ha_pool pool;
    pthread_mutex_t lock; /* guards those below */
    /* transfer/device_staging.h; NULL: never needed. Under the lock of transfer/chunks.h */
    struct ha_chunk *device_staging;
    void (*reclaim)(struct ha_memory *); /* gives back what is kept for staging; NULL: nothing is */
    struct ha_block *retired, *youngest; /* freed, but a queue may still use them; oldest first */
    struct ha_block *due;                /* of these, what is due first, of each queue */
    uint64_t transfers_in, bytes_in, transfers_out, bytes_out; /* state/array_events.h: atomic */
    uint64_t epoch; /* ticks with each opening on the slow way; atomic */
    /* Memory pressure; atomic. Blocks that gave way, their bytes, and bytes of values that were brought away for
     * that, and came back; threads that waited for others, and how long; requests that failed. */
    uint64_t evictions, evicted, written_back, written_ahead, restored, turns, turns_ns, refusals;
} ha_memory;

/* Functions of a queue inside which a call of harray failed (queue_errors.h). */
typedef struct ha_queue_error {
    uint64_t first, last; /* the epochs that they were enqueued at; usually it is one function */
    const char *site;     /* of the call that enqueued the first of them */
    ha_error error;       /* the first one in there */
} ha_queue_error;

enum {
    HA_QUEUE_ERRORS = 4
}; /* told one by one to openings, of each queue; the last stands for all that follow */

struct ha_context {
    struct ha_context *next;
    const ha_queue_ops *ops; /* NULL: the host */
    void *queue, *device;
    ha_memory *memory; /* that it works on */
    ha_memory *home;   /* of its device */
    const ha_memory
        *easy; /* the memory, for the fast path; NULL: the queue, or a function on it, has failed,
                  or it asks, or is strict */
    const ha_backend *backend;
    struct ha_context *primary; /* the context that this one was forked from, or itself */
    int number, forks, adoptions;
    struct ha_context *unused; /* given back: the next one; of a primary: the first one */
    int given_back;
    int adopted;  /* queues.h: around a queue of the caller's, */
    void *native; /* which is this one */
    int strict; /* functions reach only what accesses cover that are open when they are enqueued; 2:
                   and are given no address of an array on the host */
    struct ha_window
        *window;          /* window.h; NULL: no function needed it yet. Of the function that runs */
    int ended;            /* adopted, and given back: there is no queue any more */
    int pins;             /* threads that are about to use the queue, while it is adopted */
    int for_events;       /* access/token.h: a queue that only waits for events of the caller … */
    uint64_t waits_until; /* … and is free again when it has passed this; registry's lock */
    struct ha_marks *marks;       /* mark.h; NULL: there was none */
    struct ha_programs *programs; /* kernels/programs.h; of a primary context: what was compiled */
    void (*programs_end)(ha_context *primary); /* gives it back; NULL: there is none */
    char name[48];
    uint64_t issued;     /* timeline.h: the number of the next event */
    uint64_t done;       /* timeline.h: everything up to this number has happened */
    int failed;          /* state/lost.h: nothing more will happen */
    uint64_t lost_after; /* state/lost.h: what has a higher number never happened */
    uint64_t called;     /* queue_errors.h: the epoch of the latest function */
    uint32_t errors;     /* queue_errors.h: how many there are; they never change but for `last` */
    ha_queue_error error[HA_QUEUE_ERRORS];
    uint64_t untold; /* queue_errors.h: how many ha_context_finish has not told yet, … */
    ha_queue_error first_untold; /* … and the first of these */
    pthread_mutex_t
        lock; /* guards the two above and below, `ended`, `pins`, and the errors' growth */
    struct ha_fence *latest,
        *watched; /* timeline.h: the newest event; an older one that is polled */
};

typedef struct ha_kind {
    struct ha_kind *next;
    const ha_backend *backend;
} ha_kind;

HA_STATE_ struct {
    pthread_mutex_t lock;
    ha_kind *kinds; /* registered by users */
    ha_memory *memories;
    ha_context *contexts;
    void (*operations_end)(void); /* gives back the kernels of operations; NULL: there are none */
} ha_registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The host is not opened: its memory object is NULL, and it has no queue. */
HA_STATE_ ha_context ha_host_context;
HA_STATE_ ha_memory ha_host_memory = {.backend = &HARRAY_HOST_BACKEND,
                                      .pool = {.most = HA_HOST_CACHE_},
                                      .lock = PTHREAD_MUTEX_INITIALIZER};
HA_STATE_ ha_context ha_host_context = {.name = "host",
                                        .memory = &ha_host_memory,
                                        .easy = &ha_host_memory,
                                        .home = &ha_host_memory,
                                        .backend = &HARRAY_HOST_BACKEND,
                                        .primary = &ha_host_context,
                                        .lock = PTHREAD_MUTEX_INITIALIZER};
HA_STATE_ int ha_strict_contexts; /* so far: nonzero from the first one on */

/* Whether an optional slot of a versioned table is there. */
#define HA_HAS_(table, type, slot)                                                                 \
    ((table)->bytes >= offsetof(type, slot) + sizeof((table)->slot) && (table)->slot)

static inline const ha_memory_ops *ha_memory_table(const ha_memory *m) {
    return m->ops ? m->ops : m->backend->memory;
}

static inline int ha_is_host(const ha_context *c) { return c->ops == NULL; }

/* Zero-copy, and there is host memory that its queue cannot work on: each block is asked about
 * (access/prepare.h). */
static inline int ha_asks(const ha_context *c) {
    return c->ops && c->memory == &ha_host_memory && HA_HAS_(c->backend, ha_backend, maps);
}

static inline const ha_memory *ha_easy_memory(const ha_context *c) {
    return ha_asks(c) || c->errors || c->strict ? NULL : c->memory;
}

/* NULL means the current context, else the host. */
static inline ha_context *ha_resolve(ha_context *c) {
    if (c) return c;
    return ha_self.current ? ha_self.current : &ha_host_context;
}

static inline const ha_context *ha_resolve_const(const ha_context *c) {
    if (c) return c;
    return ha_self.current ? ha_self.current : &ha_host_context;
}

#endif
