/* Blocks that outlive their use, and where new ones come from.
 *
 * Freeing never waits. A block whose operations have not all happened is retired: it stays on its
 * memory's list until they have, and is given back by whoever next allocates or frees there.
 *
 * Each retired block is also in a heap of the queue that it waits for, by the number of the operation
 * there; when that has happened and others have not, in that of the next queue. So whoever sweeps looks
 * at blocks that can go, and at one more of each queue, however many there are. */
#ifndef HARRAY_IMPL_MEMORY_RETIRE_H
#define HARRAY_IMPL_MEMORY_RETIRE_H

#include "attempt.h"
#include "pool.h"

/* ---- what is due first --------------------------------------------------------------------- */

/* What a retired block waits for. */
static inline ha_timepoint ha_block_due(ha_block *b) { return ha_ops_list(&b->ops)[0].at; }

static inline int ha_heap_depth(const ha_block *b) { return b ? b->depth : 0; }

/* Leftist heaps: on the way to the right there are no more than the logarithm of all. */
HA_IN_ ha_block *ha_heap_join(ha_block *x, ha_block *y) {
    HA_COUNT_STEP_();
    if (!x || !y) return x ? x : y;
    ha_block *first = ha_block_due(y).seq < ha_block_due(x).seq ? y : x;
    ha_block *left = first->left, *right = ha_heap_join(first->right, first == x ? y : x);
    const int deeper = ha_heap_depth(left) < right->depth;
    first->left = deeper ? right : left;
    first->right = deeper ? left : right;
    first->depth = ha_heap_depth(first->right) + 1;
    return first;
}

HA_IN_ void ha_due_add(ha_memory *m, ha_block *b) HA_REQUIRES_(m->lock) {
    ha_block **at = &m->due;
    b->left = b->right = b->next_due = NULL;
    b->depth = 1;
    while (*at && ha_block_due(*at).queue != ha_block_due(b).queue) at = &(*at)->next_due;
    ha_block *next = *at ? (*at)->next_due : NULL;
    *at = ha_heap_join(*at, b);
    (*at)->next_due = next;
}

/* The next one in the heap at `at` takes its place. */
HA_IN_ void ha_due_remove(ha_block **at) {
    ha_block *b = *at, *rest = ha_heap_join(b->left, b->right);
    if (rest) rest->next_due = b->next_due;
    *at = rest ? rest : b->next_due;
}

/* What is due and has happened, as a list by next_due. */
HA_IN_ ha_block *ha_due_passed(ha_memory *m) HA_REQUIRES_(m->lock) {
    ha_block *passed = NULL;
    for (ha_block **at = &m->due; *at;) {
        ha_block *b = *at;
        HA_COUNT_STEP_();
        if (!ha_passed(ha_block_due(b).queue, ha_block_due(b).seq)) {
            at = &b->next_due;
            continue;
        }
        ha_due_remove(at);
        b->next_due = passed;
        passed = b;
    }
    return passed;
}

HA_IN_ void ha_retired_remove(ha_memory *m, ha_block *b) HA_REQUIRES_(m->lock) {
    *(b->previous ? &b->previous->next : &m->retired) = b->next;
    *(b->next ? &b->next->previous : &m->youngest) = b->previous;
}

/* Takes off the list what no queue uses any more. */
HA_IN_ ha_block *ha_take_passed(ha_memory *m) {
    ha_block *unused = NULL;
    pthread_mutex_lock(&m->lock);
    for (ha_block *b = ha_due_passed(m), *next; b; b = next) {
        next = b->next_due;
        ha_ops_prune(&b->ops, 0);
        if (b->ops.n) {
            ha_due_add(m, b);
            continue;
        }
        ha_retired_remove(m, b);
        b->next = unused;
        unused = b;
    }
    pthread_mutex_unlock(&m->lock);
    return unused;
}

/* ---- giving back ---------------------------------------------------------------------------- */

/* Gives back what no queue uses any more, without blocking. Returns whether that was anything;
 * *released: the bytes that went to the backend, not to the cache. Meanwhile these blocks are
 * neither retired nor cached: so it counts as returning them. */
HA_IN_ int ha_memory_collect(ha_memory *m, uint64_t *released) {
    *released = 0;
    if (!ha_pool_bytes(m, HA_RETIRED)) return 0;
    ha_poll_all();
    ha_pool_return(m, 1);
    ha_block *passed = ha_take_passed(m);
    for (ha_block *b = passed, *next; b; b = next) {
        next = b->next;
        ha_ops_free(&b->ops);
        *released += ha_block_give(b, NULL);
    }
    ha_pool_return(m, -1);
    return passed != NULL;
}

HA_IN_ int ha_memory_sweep(ha_memory *m) {
    uint64_t released;
    return ha_memory_collect(m, &released);
}

/* The oldest operation that keeps a retired block, if that was there at the first attempt. */
HA_IN_ int ha_memory_pending(ha_memory *m, ha_attempt *attempt) {
    if (!attempt->retired)
        attempt->retired = __atomic_load_n(&ha_retirements, __ATOMIC_ACQUIRE) + 1;
    pthread_mutex_lock(&m->lock);
    ha_block *b = m->retired;
    int pending = b && b->number < attempt->retired;
    if (pending) attempt->point = ha_ops_list(&b->ops)[0].at;
    pthread_mutex_unlock(&m->lock);
    return pending;
}

enum { HA_ATTEMPTS = 1000 }; /* with other threads giving blocks back in between */

/* How many blocks came back so far; waits for those that other threads are just giving back, which
 * waits for nobody. */
HA_IN_ uint64_t ha_memory_returned(ha_memory *m, uint64_t seen) {
    for (;;) {
        ha_spin_lock(&m->pool.lock);
        uint64_t returned = m->pool.returned;
        uint32_t returning = m->pool.returning;
        ha_spin_unlock(&m->pool.lock);
        if (!returning || returned != seen) return returned;
        sched_yield();
    }
}

/* Has what is kept for staging in a memory given back to it. */
HA_IN_ void ha_memory_reclaim(ha_memory *m) {
    void (*reclaim)(ha_memory *) = __atomic_load_n(&m->reclaim, __ATOMIC_ACQUIRE);
    if (reclaim) reclaim(m);
}

/* Gets b->data from the backend: `bytes` bytes at least, more when that is to be cached. A memory
 * that is full is asked again when something came back, from the cache first of all. */
HA_IN_ ha_status ha_block_obtain(ha_block *b, size_t bytes, ha_attempt *attempt) {
    ha_memory *m = b->memory;
    for (int i = 0;; i++) {
        uint64_t seen = ha_memory_returned(m, UINT64_MAX);
        ha_status s = ha_block_ask(b);
        if (s != HA_ERR_MEMORY || i == HA_ATTEMPTS) return s;
        int again = b->bytes != bytes;
        b->bytes = bytes;
        if (b->use != HA_STAGING) ha_memory_reclaim(m);
        (void)ha_memory_shrink(m, 0);
        again |= ha_memory_returned(m, seen) != seen;
        if (!again && ha_memory_pending(m, attempt)) {
            ha_forget_note();
            return HA_RETRY_;
        }
        if (!again && ha_memory_returned(m, seen) == seen) return s;
        ha_forget_note();
    }
}

/* A block that is not from the cache. */
HA_IN_ ha_status ha_block_new(ha_memory *m, size_t bytes, ha_purpose use, ha_block **out,
                              ha_attempt *attempt) {
    ha_block *b = (ha_block *)HARRAY_MALLOC(sizeof *b);
    if (!b) return HA_ERR_MEMORY;
    memset(b, 0, sizeof *b);
    b->memory = m;
    b->use = use;
    b->bytes = ha_pool_caches(m) ? ha_size_rounded(bytes) : bytes;
    ha_status s = ha_block_obtain(b, bytes, attempt);
    if (s) {
        HARRAY_FREE(b);
        return s;
    }
    ha_block_poison(b, bytes);
    *out = b;
    return HA_OK;
}

/* A block of so many bytes. HA_RETRY_ when there may be room once attempt->point has passed. What comes back
 * to the cache before it is counted makes way when the backend has no room. */
HA_IN_ ha_status ha_block_take_for(ha_purpose use, ha_memory *m, size_t bytes, ha_block **out,
                                   ha_attempt *attempt) {
    if ((*out = ha_block_reuse(m, bytes, use))) return HA_OK;
    if (ha_memory_sweep(m) && (*out = ha_block_reuse(m, bytes, use))) return HA_OK;
    attempt->returned = ha_pool_returned(m);
    return ha_block_new(m, bytes, use, out, attempt);
}

HA_IN_ int ha_bytes_of(size_t n, size_t element, size_t *bytes) {
    return !__builtin_mul_overflow(n, element, bytes) && *bytes <= PTRDIFF_MAX;
}

/* Makes sure that it will be known when these operations have happened. Waits for a queue that
 * cannot record an event. */
HA_IN_ void ha_ops_cover(ha_ops *o) {
    ha_note note = ha_backend_note; /* what failed before is still to be told */
    ha_operation *list = ha_ops_list(o);
    for (uint32_t i = 0; i < o->n; i++) {
        ha_timepoint p = list[i].at;
        ha_fence *fence;
        if (ha_passed(p.queue, p.seq) || !ha_context_pin(p.queue)) continue;
        if (ha_cover(p.queue, p.seq, &fence) == HA_OK) {
            ha_fence_release(p.queue, fence);
        } else {
            ha_drain(p);
            list[i].at.seq = 0; /* has passed, as far as this block goes */
        }
        ha_context_unpin(p.queue);
    }
    ha_backend_note = note;
    ha_ops_prune(o, 0);
}

/* Puts it on the list of its memory. */
HA_IN_ void ha_block_wait(ha_block *b) {
    ha_memory *m = b->memory;
    pthread_mutex_lock(&m->lock);
    b->next = NULL;
    b->previous = m->youngest;
    b->number = __atomic_fetch_add(&ha_retirements, 1, __ATOMIC_ACQ_REL);
    *(m->youngest ? &m->youngest->next : &m->retired) = b;
    m->youngest = b;
    ha_due_add(m, b);
    ha_pool_retire(b);
    pthread_mutex_unlock(&m->lock);
    (void)ha_memory_sweep(m);
}

/* Gives a block back once `ops` have happened; takes them over. Does not wait, except for a queue
 * that cannot record an event. Cannot fail. */
HA_IN_ void ha_block_retire(ha_block *b, ha_ops *ops) {
    if (ops->n) ha_ops_cover(ops);
    if (!ops->n) {
        ha_ops_free(ops);
        (void)ha_block_give(b, NULL);
        return;
    }
    b->ops = *ops;
    b->ops.promised = 0;
    b->ops.grid = NULL;
    memset(ops, 0, sizeof *ops);
    ha_block_wait(b);
}

#endif
