/* Chunks: a few blocks of the host that all arrays share for staging. One thread at a time enqueues
 * with one; who finds all of them taken waits, with nothing held, until one is given back. */
#ifndef HARRAY_IMPL_TRANSFER_CHUNKS_H
#define HARRAY_IMPL_TRANSFER_CHUNKS_H

#include "incarnation.h"

enum { HA_CHUNKS = 4, HA_CHUNK_BYTES = 4 << 20 };

/* Used by one thread at a time, while it enqueues; then by queues, up to `last`. */
struct ha_chunk {
    ha_block *block;   /* NULL: not taken yet */
    ha_timepoint last; /* queue NULL: nobody uses it */
    ha_fence *fence;   /* an event behind that; NULL: none was made */
    int taken;
};

HA_STATE_ struct {
    pthread_mutex_t lock;
    pthread_cond_t change; /* a chunk was given back */
    ha_chunk chunk[HA_CHUNKS];
} ha_staging = {.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};

HA_IN_ void ha_chunk_give(ha_chunk *chunk) {
    pthread_mutex_lock(&ha_staging.lock);
    chunk->taken = 0;
    pthread_cond_broadcast(&ha_staging.change);
    pthread_mutex_unlock(&ha_staging.lock);
}

static inline int ha_chunk_has(const ha_chunk *chunk, size_t bytes) {
    return chunk->block && chunk->block->bytes >= bytes;
}

/* The best one that is free: with a block that nobody uses, else without a block (unless no_new),
 * else one that is still in use; of one queue, the one that is free first. */
HA_IN_ ha_chunk *ha_chunk_best(size_t bytes, int no_new) HA_REQUIRES_(ha_staging.lock) {
    ha_chunk *best = NULL;
    int best_grade = 0;
    for (int i = 0; i < HA_CHUNKS; i++) {
        ha_chunk *chunk = &ha_staging.chunk[i];
        if (chunk->taken) continue; /* then its block is another thread's to look at */
        int large = ha_chunk_has(chunk, bytes);
        if (no_new && !large) continue;
        int idle = !chunk->last.queue || ha_passed(chunk->last.queue, chunk->last.seq);
        int grade = !large ? 2 : idle ? 3 : 1;
        int sooner = grade == 1 && best && chunk->last.queue == best->last.queue &&
                     chunk->last.seq < best->last.seq;
        if (grade > best_grade || (grade == best_grade && sooner)) best = chunk;
        if (grade > best_grade) best_grade = grade;
    }
    return best;
}

/* How many other threads have. */
HA_IN_ int ha_chunks_taken(void) HA_REQUIRES_(ha_staging.lock) {
    int n = 0;
    for (int i = 0; i < HA_CHUNKS; i++) n += ha_staging.chunk[i].taken;
    return n;
}

/* A chunk for this thread. HA_RETRY_: when one is given back. Not waited for here, for the array is
 * busy, and whoever has the chunk may need it. HA_ERR_MEMORY: none will ever be that large. */
HA_IN_ ha_status ha_chunk_choose(size_t bytes, int no_new, ha_attempt *attempt, ha_chunk **out) {
    ha_status s = HA_OK;
    pthread_mutex_lock(&ha_staging.lock);
    *out = ha_chunk_best(bytes, no_new);
    if (*out)
        (*out)->taken = 1;
    else
        s = ha_chunks_taken() ? HA_RETRY_ : HA_ERR_MEMORY;
    pthread_mutex_unlock(&ha_staging.lock);
    attempt->for_chunk = s == HA_RETRY_;
    return s;
}

/* The chunk is used up to there. */
HA_IN_ void ha_chunk_use(ha_chunk *chunk, ha_timepoint last) {
    if (chunk->fence) ha_fence_release(chunk->last.queue, chunk->fence);
    chunk->fence = NULL;
    chunk->last = last;
}

/* Gives a chunk's block back, when its last use has happened. */
HA_IN_ void ha_chunk_empty(ha_chunk *chunk) {
    ha_ops ops = {0};
    if (!chunk->block) return;
    if (chunk->last.queue) ha_ops_note(&ops, chunk->last, 0, SIZE_MAX, 1, NULL);
    ha_block_retire(chunk->block, &ops);
    chunk->block = NULL;
    ha_chunk_use(chunk, (ha_timepoint){NULL, 0});
}

/* A chunk with a block of m, taken; NULL: there is none, or other threads have them. beyond: also the one beyond the
 * budget. */
HA_IN_ ha_chunk *ha_chunk_with_block(const ha_memory *m, int beyond) {
    ha_chunk *found = NULL;
    pthread_mutex_lock(&ha_staging.lock);
    for (int i = 0; i < HA_CHUNKS && !found; i++) {
        ha_chunk *chunk = &ha_staging.chunk[i];
        if (chunk->taken || !chunk->block || chunk->block->memory != m) continue;
        if (beyond || !chunk->block->is_beyond) found = chunk;
    }
    if (found) found->taken = 1;
    pthread_mutex_unlock(&ha_staging.lock);
    return found;
}

HA_IN_ void ha_staging_give(const ha_memory *m, int beyond) {
    for (ha_chunk *chunk; (chunk = ha_chunk_with_block(m, beyond));) {
        ha_chunk_empty(chunk);
        ha_chunk_give(chunk);
    }
}

/* Gives back the blocks of chunks that no thread enqueues with, once no queue uses them. */
HA_IN_ void ha_staging_trim(const ha_memory *m) { ha_staging_give(m, 1); }

/* The same for a memory whose budget is taken: what is beyond that takes room from nobody. Where it is the backend that has
 * no more they stay, as there would be none to pass through. */
HA_IN_ void ha_staging_reclaim(ha_memory *m) {
    ha_spin_lock(&m->pool.lock);
    const uint64_t budget = m->pool.budget;
    ha_spin_unlock(&m->pool.lock);
    if (budget) ha_staging_give(m, 0);
}

/* A block of at least `bytes` bytes for a chunk, which is given back where there is none. */
HA_IN_ ha_status ha_chunk_fill(ha_chunk *chunk, ha_memory *pinned, size_t bytes,
                               ha_attempt *attempt) {
    if (ha_chunk_has(chunk, bytes)) return HA_OK;
    ha_chunk_empty(chunk);
    const ha_status s = ha_host_block_take(HA_STAGING, pinned,
                                           bytes < HA_CHUNK_BYTES ? HA_CHUNK_BYTES : bytes,
                                           &chunk->block, attempt);
    if (!s) {
        __atomic_store_n(&chunk->block->memory->reclaim, ha_staging_reclaim, __ATOMIC_RELEASE);
        return HA_OK;
    }
    chunk->block = NULL;
    ha_chunk_give(chunk);
    return s;
}

/* *out = a chunk of at least `bytes` bytes, for this thread. pinned: where it best comes from. */
HA_IN_ ha_status ha_chunk_take(ha_memory *pinned, size_t bytes, ha_attempt *attempt,
                               ha_chunk **out) {
    ha_status s = ha_chunk_choose(bytes, 0, attempt, out);
    if (!s) s = ha_chunk_fill(*out, pinned, bytes, attempt);
    if (s != HA_ERR_MEMORY) return s;
    ha_forget_note();
    s = ha_chunk_choose(bytes, 1, attempt, out); /* one that is still in use, then */
    if (s != HA_ERR_MEMORY) return s;
    ha_staging_trim(&ha_host_memory); /* one that is too small may be beyond the budget */
    s = ha_chunk_choose(bytes, 0, attempt, out);
    return s ? s : ha_chunk_fill(*out, pinned, bytes, attempt);
}

/* For ha_shutdown: every queue is drained. */
HA_IN_ void ha_staging_empty(void) {
    for (int i = 0; i < HA_CHUNKS; i++) ha_chunk_empty(&ha_staging.chunk[i]);
}

/* ---- attempts ------------------------------------------------------------------------------ */

/* For an event that is known: what was enqueued behind it is not waited for. */
HA_IN_ ha_status ha_attempt_wait_fence(ha_attempt *attempt) {
    ha_context *c = attempt->point.queue;
    ha_fence *fence = attempt->fence;
    attempt->fence = NULL;
    const int stays = ha_context_pin(c);
    ha_status s = stays ? ha_fence_wait(c, fence, attempt->site) : HA_OK;
    ha_fence_release(c, fence);
    if (stays) ha_context_unpin(c);
    if (s == HA_ERR_LOST) ha_forget_note();
    return s == HA_ERR_LOST ? HA_OK : s;
}

/* What an attempt that returned HA_RETRY_ has to wait for. Nothing is held, but perhaps a chunk. */
HA_IN_ ha_status ha_attempt_wait(ha_attempt *attempt) {
    if (attempt->fence) return ha_attempt_wait_fence(attempt);
    if (!attempt->for_chunk) return ha_attempt_pass(attempt);
    attempt->for_chunk = 0;
    HA_UNCANCELLED_;
    HA_MAY_WAIT_();
    pthread_mutex_lock(&ha_staging.lock);
    while (ha_chunks_taken() == HA_CHUNKS) pthread_cond_wait(&ha_staging.change, &ha_staging.lock);
    pthread_mutex_unlock(&ha_staging.lock);
    return HA_OK;
}

/* Ends what an attempt may hold from one try to the next. */
HA_IN_ void ha_attempt_end(ha_attempt *attempt) {
    if (attempt->chunk) ha_chunk_give(attempt->chunk);
    attempt->chunk = NULL;
    for (int i = 0; i < HA_IN_FLIGHT; i++) {
        if (attempt->in_flight[i].chunk) ha_chunk_give(attempt->in_flight[i].chunk);
        attempt->in_flight[i].chunk = NULL;
    }
}

#endif
