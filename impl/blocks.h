/* Blocks: bytes of one memory, the operations outstanding on them, and their way back.
 *
 * Freeing never waits. A block whose operations have not all happened is retired: it stays on its
 * memory's list until they have, and is given back by whoever next allocates or frees there. */
#ifndef HA_IMPL_BLOCKS_H
#define HA_IMPL_BLOCKS_H

#include "order.h"
#include "ranges.h"
#include <sched.h>

/* An operation that was enqueued and may not have happened yet. */
typedef struct ha_operation {
    ha_point at;
    ha_range range;
    int write;
} ha_operation;

/* The outstanding operations on a block. n + promised <= capacity always: an open access on a
 * device has been promised the entry that closing it needs, so that closing cannot fail. */
typedef struct ha_ops {
    ha_operation two[2];
    ha_operation *heap; /* NULL: in `two` */
    uint32_t n, capacity, promised;
} ha_ops;

typedef struct ha_block {
    struct ha_block *next; /* when retired: the next younger one */
    uint64_t number;       /* when retired: how many were before it */
    ha_memory *memory;
    void *data;
    size_t bytes;
    ha_ops ops; /* when retired */
} ha_block;

/* What an attempt that returned HA_LATER has to wait for before the next one. */
typedef struct ha_later {
    ha_point point;
    uint64_t retired; /* blocks retired until the first attempt, plus 1: the only ones waited for,
                         or a request that never fits could wait for ever; 0: first attempt */
} ha_later;

static uint64_t ha_retirements; /* so far, in all memories */

enum { HA_MERGE_ABOVE = 16 }; /* operations kept apart before those of one queue are merged */

static inline ha_operation *ha_ops_list(ha_ops *o) { return o->heap ? o->heap : o->two; }

static inline uint32_t ha_ops_capacity(const ha_ops *o) { return o->heap ? o->capacity : 2; }

static inline int ha_ops_has_room(const ha_ops *o, uint32_t more) {
    return o->n + o->promised + more <= ha_ops_capacity(o);
}

static inline int ha_conflicts(const ha_operation *o, ha_range r, int write) {
    return (o->write | write) && ha_overlap(o->range, r);
}

/* Drops what has happened, as far as is known. */
static void ha_ops_prune(ha_ops *o) {
    ha_operation *list = ha_ops_list(o);
    uint32_t k = 0;
    for (uint32_t i = 0; i < o->n; i++)
        if (!ha_passed(list[i].at.queue, list[i].at.seq)) list[k++] = list[i];
    o->n = k;
}

/* Widens *into to cover o as well: more is waited for than need be, never less. */
static void ha_operation_merge(ha_operation *into, const ha_operation *o) {
    if (o->range.first < into->range.first) into->range.first = o->range.first;
    if (o->range.last > into->range.last) into->range.last = o->range.last;
    if (o->at.seq > into->at.seq) into->at.seq = o->at.seq;
    into->write |= o->write;
}

/* One entry a queue. */
static void ha_ops_merge(ha_ops *o) {
    ha_operation *list = ha_ops_list(o);
    uint32_t k = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        uint32_t j = 0;
        while (j < k && list[j].at.queue != list[i].at.queue) j++;
        if (j < k)
            ha_operation_merge(&list[j], &list[i]);
        else
            list[k++] = list[i];
    }
    o->n = k;
}

/* Notes an operation. Needs room for one (or its promise). A write replaces what it covers: it was
 * ordered behind that, so whoever comes after it comes after that too. */
static void ha_ops_note(ha_ops *o, ha_operation op) {
    ha_operation *list = ha_ops_list(o);
    uint32_t k = 0;
    if (ha_is_empty(op.range)) return;
    for (uint32_t i = 0; i < o->n; i++) {
        const ha_operation *old = &list[i];
        int covered = op.range.first <= old->range.first && old->range.last <= op.range.last;
        int replaced = covered && (op.write || (!old->write && old->at.queue == op.at.queue));
        if (!replaced) list[k++] = *old;
    }
    list[k] = op;
    o->n = k + 1;
}

static void ha_ops_free(ha_ops *o) {
    HARRAY_FREE(o->heap);
    memset(o, 0, sizeof *o);
}

/* ---- memory -------------------------------------------------------------------------------- */

static void ha_block_release(ha_block *b) {
    b->memory->backend->memory->release(b->memory->handle, b->data, b->bytes);
    __atomic_fetch_sub(&b->memory->handed_out, b->bytes, __ATOMIC_RELAXED);
    ha_ops_free(&b->ops);
    HARRAY_FREE(b);
}

/* Takes off the list what no queue uses any more. */
static ha_block *ha_take_passed(ha_memory *m) {
    ha_block *passed = NULL;
    pthread_mutex_lock(&m->lock);
    m->youngest = NULL;
    for (ha_block **at = &m->retired; *at;) {
        ha_block *b = *at;
        ha_ops_prune(&b->ops);
        if (b->ops.n) {
            m->youngest = b;
            at = &b->next;
            continue;
        }
        *at = b->next;
        __atomic_fetch_sub(&m->retired_bytes, b->bytes, __ATOMIC_RELAXED);
        b->next = passed;
        passed = b;
    }
    pthread_mutex_unlock(&m->lock);
    return passed;
}

/* Gives back what no queue uses any more, without blocking. */
static void ha_memory_sweep(ha_memory *m) {
    if (!__atomic_load_n(&m->retired_bytes, __ATOMIC_RELAXED)) return;
    ha_poll_all();
    __atomic_fetch_add(&m->sweeping, 1, __ATOMIC_ACQ_REL);
    for (ha_block *b = ha_take_passed(m), *next; b; b = next) {
        next = b->next;
        ha_block_release(b);
    }
    __atomic_fetch_add(&m->swept, 1, __ATOMIC_ACQ_REL);
    __atomic_fetch_sub(&m->sweeping, 1, __ATOMIC_ACQ_REL);
}

/* The oldest operation that keeps a retired block, if that was there at the first attempt. */
static int ha_memory_pending(ha_memory *m, ha_later *later) {
    if (!later->retired) later->retired = __atomic_load_n(&ha_retirements, __ATOMIC_ACQUIRE) + 1;
    pthread_mutex_lock(&m->lock);
    ha_block *b = m->retired;
    int pending = b && b->number < later->retired;
    if (pending) later->point = ha_ops_list(&b->ops)[0].at;
    pthread_mutex_unlock(&m->lock);
    return pending;
}

/* Not a status for users: try again after waiting for a point, with nothing held. */
#define HA_LATER ((ha_status)-1)

enum { HA_ATTEMPTS = 1000 }; /* with other threads giving blocks back in between */

/* Blocks that another thread's sweep is just giving back are neither free nor retired: an
 * allocation that failed meanwhile says nothing, and is tried again when that sweep has ended. */
static ha_status ha_memory_allocate(ha_memory *m, size_t bytes, void **data) {
    for (int i = 0;; i++) {
        uint64_t swept = __atomic_load_n(&m->swept, __ATOMIC_ACQUIRE), now = swept;
        ha_status s = m->backend->memory->allocate(m->handle, bytes, data);
        if (s != HA_ERR_MEMORY || i == HA_ATTEMPTS) return s;
        while (now == swept && __atomic_load_n(&m->sweeping, __ATOMIC_ACQUIRE)) {
            sched_yield(); /* giving back waits for nobody */
            now = __atomic_load_n(&m->swept, __ATOMIC_ACQUIRE);
        }
        if (now == swept && swept == __atomic_load_n(&m->swept, __ATOMIC_ACQUIRE)) return s;
        ha_forget_note();
    }
}

/* A block of n elements. HA_LATER when there may be room once later->point has happened. */
static ha_status ha_block_take(ha_memory *m, size_t n, size_t element, ha_block **out,
                               ha_later *later) {
    size_t bytes;
    if (__builtin_mul_overflow(n, element, &bytes) || bytes > PTRDIFF_MAX) return HA_ERR_MEMORY;
    ha_memory_sweep(m);
    ha_block *b = (ha_block *)HARRAY_MALLOC(sizeof *b);
    if (!b) return HA_ERR_MEMORY;
    b->next = NULL;
    b->memory = m;
    b->bytes = bytes;
    memset(&b->ops, 0, sizeof b->ops);
    ha_status s = ha_memory_allocate(m, bytes, &b->data);
    if (s) {
        HARRAY_FREE(b);
        if (s != HA_ERR_MEMORY || !ha_memory_pending(m, later)) return s;
        ha_forget_note();
        return HA_LATER;
    }
    __atomic_fetch_add(&m->handed_out, bytes, __ATOMIC_RELAXED);
    *out = b;
    return HA_OK;
}

/* The same, waiting for retired blocks if need be. */
static ha_status ha_block_get(ha_memory *m, size_t n, size_t element, ha_block **out) {
    ha_later later = {0};
    ha_status s;
    while ((s = ha_block_take(m, n, element, out, &later)) == HA_LATER)
        if ((s = ha_wait_for(later.point))) return s;
    return s;
}

/* Gives a block back once `ops` have happened; takes them over. Does not wait, except for a queue
 * that cannot record an event. Cannot fail. */
static void ha_block_retire(ha_block *b, ha_ops *ops) {
    ha_memory *m = b->memory;
    ha_note note = ha_backend_note; /* what failed before is still to be told */
    b->ops = *ops;
    memset(ops, 0, sizeof *ops);
    b->ops.promised = 0;
    ha_operation *list = ha_ops_list(&b->ops);
    for (uint32_t i = 0; i < b->ops.n; i++) {
        ha_point p = list[i].at;
        ha_mark *mark;
        if (ha_passed(p.queue, p.seq)) continue;
        if (ha_cover(p.queue, p.seq, &mark) == HA_OK) {
            ha_mark_release(p.queue, mark);
        } else {
            ha_drain(p);
            list[i].at.seq = 0; /* has passed, as far as this block goes */
        }
    }
    ha_backend_note = note;
    ha_ops_prune(&b->ops);
    if (!b->ops.n) {
        ha_block_release(b);
        return;
    }
    pthread_mutex_lock(&m->lock);
    b->number = __atomic_fetch_add(&ha_retirements, 1, __ATOMIC_ACQ_REL);
    if (m->youngest)
        m->youngest->next = b;
    else
        m->retired = b;
    m->youngest = b;
    __atomic_fetch_add(&m->retired_bytes, b->bytes, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&m->lock);
    ha_memory_sweep(m);
}

#endif
