/* Room in a memory that is full: blocks of arrays in which nothing is valid there, because it was written
 * elsewhere since, or cleared. Called by a thread that has another array busy, and holds no lock. */
#ifndef HARRAY_IMPL_TRANSFER_RECLAIM_H
#define HARRAY_IMPL_TRANSFER_RECLAIM_H

#include "../state/all.h"

/* Whether the block can be taken away at once, as nobody works on it or would miss an error of it. */
HA_IN_ int ha_is_unused(const ha_array *a, ha_incarnation *in) HA_REQUIRES_(a->lock) {
    if (!in->block || in->wrapped || in->valid.n || in->ops.promised) return 0;
    for (uint32_t i = a->read_only; i < a->holders; i++)
        if (a->holder[i].context->memory == in->memory) return 0;
    for (uint32_t i = 0; i < in->ops.n; i++) {
        const ha_operation *o = &ha_ops_list(&in->ops)[i];
        if (ha_lost_write(o) || ha_error_in(o)) return 0;
    }
    return 1;
}

/* Takes the block away, with the operations on it. */
HA_IN_ ha_block *ha_unused_take(ha_incarnation *in) {
    ha_block *b = in->block;
    b->ops = in->ops;
    in->ops = (ha_ops){.grid = in->ops.grid};
    in->block = NULL;
    in->data = NULL;
    in->capacity = 0;
    return b;
}

/* Whether somebody may just be working on its blocks: it is being made as long as it has no version, and then
 * nobody locks it. What was asked for ahead is kept so, too. */
HA_IN_ int ha_keeps_blocks(const ha_array *a) HA_REQUIRES_(a->lock) {
    return a->busy || !__atomic_load_n(&a->version, __ATOMIC_RELAXED);
}

/* The array's unused blocks of a memory, in front of `list`. */
HA_IN_ ha_block *ha_unused_of(ha_array *a, const ha_memory *m, ha_block *list) {
    ha_lock(a);
    for (ha_incarnation *in = &a->first; in && !ha_keeps_blocks(a); in = in->next) {
        if (!in->block || in->block->memory != m || !ha_is_unused(a, in)) continue;
        ha_block *b = ha_unused_take(in);
        b->next = list;
        list = b;
    }
    ha_unlock(a);
    return list;
}

enum { HA_WALKED_AT_ONCE = 64 }; /* arrays: meanwhile nobody else gets or frees anything there */

/* Those of the next arrays on a walk, as a list; *more: there are further ones. */
HA_IN_ ha_block *ha_unused_of_some(ha_memory *first, ha_walk *w, const ha_memory *m, int *more) {
    ha_block *list = NULL;
    ha_spin_lock(&first->pool.lock);
    for (int i = 0; w->at && i < HA_WALKED_AT_ONCE; i++, w->at = w->at->next)
        list = ha_unused_of(ha_array_of_alive(w->at), m, list);
    *more = w->at != NULL;
    ha_spin_unlock(&first->pool.lock);
    return list;
}

HA_IN_ int ha_unused_retire(ha_block *list) {
    const int some = list != NULL;
    for (ha_block *next; list; list = next) {
        ha_ops ops = list->ops;
        next = list->next;
        memset(&list->ops, 0, sizeof list->ops);
        ha_block_retire(list, &ops);
    }
    return some;
}

/* Gives back the unused blocks of m in all arrays that were first touched in a memory. Returns whether there
 * were any. Those that were just taken are on nobody's list, which counts as returning them: who finds the
 * memory full waits for these. Others have their turn between. */
HA_IN_ int ha_unused_return(ha_memory *first, ha_memory *m) {
    ha_walk w;
    int some = 0, more = 1;
    ha_walk_begin(&first->pool, &w);
    while (more) {
        ha_pool_return(m, 1);
        some |= ha_unused_retire(ha_unused_of_some(first, &w, m, &more));
        ha_pool_return(m, -1);
        if (more) sched_yield();
    }
    ha_walk_end(&first->pool, &w);
    return some;
}

/* Gives back the blocks of a memory that no array has a value in. Returns whether there were any; the
 * attempt then waits for the operations on them, too. */
HA_IN_ int ha_memory_reclaim_unused(ha_memory *m, ha_attempt *attempt) {
    int some = 0;
    for (ha_memory *first = NULL; (first = ha_next_memory(first));)
        some |= ha_unused_return(first, m);
    if (some) attempt->retired = 0;
    return some;
}

/* Whether arrays may give way, now or when others have listed theirs: then that is for the attempt to wait for. */
HA_IN_ int ha_memory_is_short(ha_memory *m, size_t bytes, ha_attempt *attempt) {
    if (ha_attempt_is_full(attempt, m)) return 0;
    if (!ha_residents(m) && !ha_others_take(ha_self.taking)) return 0;
    attempt->short_of = m;
    attempt->need = bytes;
    return 1;
}

/* A block of so many bytes. A memory that is full is asked again without what is unused there, and when other
 * threads gave something back meanwhile. HA_RETRY_ when there may be room once attempt->point has passed, or
 * arrays have given way. */
HA_IN_ ha_status ha_block_take(ha_purpose use, ha_memory *m, size_t bytes, ha_block **block,
                               ha_attempt *attempt) {
    for (;; ha_forget_note()) {
        ha_status s = ha_block_take_for(use, m, bytes, block, attempt);
        const uint64_t seen = attempt->returned;
        if (s != HA_ERR_MEMORY || attempt->reclaims == HA_ATTEMPTS) return s;
        if (ha_memory_is_short(m, bytes, attempt)) {
            ha_forget_note();
            return HA_RETRY_;
        }
        attempt->reclaims++;
        if (ha_memory_reclaim_unused(m, attempt) || ha_memory_returned(m, seen) != seen) continue;
        ha_note_full(m);
        return s;
    }
}

/* The same, waiting for retired blocks if need be, and for what makes room. */
HA_IN_ ha_status ha_block_attempt(ha_memory *m, size_t bytes, ha_block **out, ha_attempt *attempt) {
    ha_status s;
    while ((s = ha_block_take(HA_LIVE, m, bytes, out, attempt)) == HA_RETRY_)
        if ((s = ha_attempt_pass(attempt))) return s;
    return s;
}

HA_IN_ ha_status ha_block_get(ha_memory *m, size_t bytes, ha_block **out) {
    ha_attempt attempt = {0};
    return ha_block_attempt(m, bytes, out, &attempt);
}

#endif
