/* Blocks: bytes of one memory, and the operations outstanding on them. */
#ifndef HARRAY_IMPL_MEMORY_BLOCK_H
#define HARRAY_IMPL_MEMORY_BLOCK_H

#include "../device/all.h"

/* An operation that was enqueued and may not have happened yet. */
typedef struct ha_operation {
    ha_timepoint at;
    ha_range range;
    int write;
    const char *site; /* the call in the user's source that it was enqueued for */
    uint64_t
        since; /* functions of a later epoch may be a part of it; HA_NO_ACCESS_: there are none */
} ha_operation;

#define HA_NO_ACCESS_ UINT64_MAX

/* The outstanding operations on a block. n + promised <= capacity always: an open access on a
 * device has been promised the entry that closing it needs, so that closing cannot fail. */
typedef struct ha_ops {
    ha_operation two[2];
    ha_operation *heap; /* NULL: in `two` */
    uint32_t n, capacity, promised;
    const ha_grid *grid; /* of the array; NULL: none, or the block is no array's */
} ha_ops;

typedef struct ha_block {
    struct ha_block *next;            /* retired: the next younger one; cached: of its class */
    struct ha_block *previous;        /* retired: the next older one; cached: of its class */
    struct ha_block *older, *younger; /* cached; or resident */
    ha_piece_node address;            /* in the pool's tree */
    uint64_t number;                  /* retired: how many were before it */
    struct ha_block *left, *right;    /* retired: of the same queue, and later (retire.h) */
    struct ha_block *next_due;        /* retired, the first of its queue: that of the next one */
    int depth;                        /* retired: how many there are on the way to the right */
    ha_memory *memory;
    void *data;
    size_t bytes;
    ha_purpose use;
    int is_beyond;             /* for staging, beyond the budget */
    struct ha_array *resident; /* resident.h: whose it is; NULL: it is not listed */
    uint64_t stamp;            /* resident: of the incarnation, when it got its place in the list */
    int loose;                 /* the user's own, from ha_memory_allocate: no array's */
    ha_ops ops;                /* retired; else empty */
    HA_DEBUG_(ha_known *known;) /* NULL: nobody opened it yet */
} ha_block;

HA_STATE_ uint64_t ha_retirements; /* so far, in all memories */

enum { HA_MERGE_ABOVE = 16 }; /* operations kept apart before those of one queue are merged */

static inline ha_operation *ha_ops_list(ha_ops *o) { return o->heap ? o->heap : o->two; }

static inline uint32_t ha_ops_capacity(const ha_ops *o) { return o->heap ? o->capacity : 2; }

static inline int ha_ops_has_room(const ha_ops *o, uint32_t more) {
    return o->n + o->promised + more <= ha_ops_capacity(o);
}

static inline int ha_conflicts(const ha_grid *g, const ha_operation *o, ha_range r, int write) {
    return (o->write | write) && ha_overlap(g, o->range, r);
}

/* A write that was lost: it is over, but not forgotten before state/lost.h has seen it. */
static inline int ha_lost_write(const ha_operation *o) { return o->write && ha_is_lost(o->at); }

/* An error in a function that may have been a part of a write; NULL: none that is known. */
static inline const ha_queue_error *ha_error_in(const ha_operation *o) {
    if (!o->write || o->since >= o->at.seq) return NULL;
    return ha_queue_error_between(o->at.queue, o->since, o->at.seq);
}

/* Drops what has happened, as far as is known. keep_lost: but for writes that are lost, or had an
 * error; of a block that nobody will read it only counts that queues are off it. */
HA_IN_ void ha_ops_prune(ha_ops *o, int keep_lost) {
    ha_operation *list = ha_ops_list(o);
    uint32_t k = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        int passed = ha_passed(list[i].at.queue, list[i].at.seq);
        int stays = keep_lost && (ha_lost_write(&list[i]) || ha_error_in(&list[i]));
        if (!passed || stays) list[k++] = list[i];
    }
    o->n = k;
}

/* Widens *into to cover o as well: more is waited for than need be, never less. */
HA_IN_ void ha_operation_merge(const ha_grid *g, ha_operation *into, const ha_operation *o) {
    into->range = ha_around(g, into->range, o->range);
    if (o->at.seq > into->at.seq) into->at.seq = o->at.seq;
    if (o->write && (!into->write || o->since < into->since)) into->since = o->since;
    into->write |= o->write;
}

/* One entry a queue. */
HA_IN_ void ha_ops_merge(ha_ops *o) {
    ha_operation *list = ha_ops_list(o);
    uint32_t k = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        uint32_t j = 0;
        while (j < k && list[j].at.queue != list[i].at.queue) j++;
        if (j < k)
            ha_operation_merge(o->grid, &list[j], &list[i]);
        else
            list[k++] = list[i];
    }
    o->n = k;
}

/* Notes an operation. Needs room for one (or its promise). A write replaces what it covers: it was
 * ordered behind that, so whoever comes after it comes after that too. A read replaces earlier ones
 * of its queue; not later ones, for a token is waited for before its position is noted here, and
 * meanwhile others read. (Its parts, not an ha_operation, so that they come in registers: gcc would
 * store an ha_operation in words and load it in pairs of words, which takes 10 ns of closing an
 * access.) */
HA_IN_ void ha_ops_note(ha_ops *o, ha_timepoint at, size_t first, size_t last, int write,
                        const char *site) {
    ha_operation *list = ha_ops_list(o);
    uint32_t k = 0;
    if (first >= last) return;
    for (uint32_t i = 0; i < o->n; i++) {
        const ha_operation *old = &list[i];
        int earlier = !old->write && old->at.queue == at.queue && old->at.seq <= at.seq;
        int replaces = write || earlier;
        if (replaces && ha_covers(o->grid, (ha_range){first, last}, old->range)) continue;
        if (k < i) list[k] = *old;
        k++;
    }
    list[k].at = at;
    list[k].range.first = first;
    list[k].range.last = last;
    list[k].write = write;
    list[k].site = site;
    list[k].since = HA_NO_ACCESS_;
    o->n = k + 1;
}

/* The earliest epoch whose functions may have a part in what a write of the queue over r leaves: it takes
 * the place of earlier ones, and keeps what they wrote. */
HA_IN_ uint64_t ha_ops_since(ha_ops *o, const ha_context *queue, ha_range r, uint64_t since) {
    const ha_operation *list = ha_ops_list(o);
    for (uint32_t i = 0; i < o->n; i++)
        if (list[i].write && list[i].at.queue == queue && list[i].since < since &&
            ha_overlap(o->grid, list[i].range, r))
            since = list[i].since;
    return since;
}

HA_IN_ void ha_ops_free(ha_ops *o) {
    if (o->heap) HARRAY_FREE(o->heap);
    o->heap = NULL;
    o->n = o->capacity = o->promised = 0;
}

#endif
