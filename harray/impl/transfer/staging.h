/* Staging: transfers without a direct path, through the host.
 *
 * They pass through the array's host incarnation if it has one or there is room for it; it is one
 * more valid copy then. Otherwise through chunks: a few blocks of the host that all arrays share,
 * so that what is under way never takes more than HA_CHUNKS times HA_CHUNK_BYTES. Either way in
 * pieces, so that the second hop of one overlaps with the first hop of the next; and in queues of
 * one backend nothing of it makes the host wait, for a chunk is used again behind its last use. */
#ifndef HARRAY_IMPL_TRANSFER_STAGING_H
#define HARRAY_IMPL_TRANSFER_STAGING_H

#include "plan.h"
#include "transfer.h"

enum { HA_CHUNKS = 4, HA_CHUNK_BYTES = 4 << 20 };

/* Used by one thread at a time, while it enqueues; then by queues, up to `last`. */
struct ha_chunk {
    ha_block *block;   /* NULL: not taken yet */
    ha_timepoint last; /* queue NULL: nobody uses it */
    ha_fence *mark;    /* an event behind that; NULL: none was made */
    int taken;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t change; /* a chunk was given back */
    ha_chunk chunk[HA_CHUNKS];
} ha_staging = {.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};

/* ---- chunks -------------------------------------------------------------------------------- */

static void ha_chunk_give(ha_chunk *chunk) {
    pthread_mutex_lock(&ha_staging.lock);
    chunk->taken = 0;
    pthread_cond_broadcast(&ha_staging.change);
    pthread_mutex_unlock(&ha_staging.lock);
}

/* The best one that is free: with a block that nobody uses, else without a block (unless no_new),
 * else one that is still in use; of one queue, the one that is free first. Lock held. */
static ha_chunk *ha_chunk_best(size_t bytes, int no_new) {
    ha_chunk *best = NULL;
    int best_grade = 0;
    for (int i = 0; i < HA_CHUNKS; i++) {
        ha_chunk *chunk = &ha_staging.chunk[i];
        if (chunk->taken) continue; /* then its block is another thread's to look at */
        int large = chunk->block && chunk->block->bytes >= bytes;
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

/* Lock held. How many other threads have. */
static int ha_chunks_taken(void) {
    int n = 0;
    for (int i = 0; i < HA_CHUNKS; i++) n += ha_staging.chunk[i].taken;
    return n;
}

/* A chunk for this thread. HA_RETRY_: when one is given back. Not waited for here, for the array is
 * busy, and whoever has the chunk may need it. HA_ERR_MEMORY: none will ever be that large. */
static ha_status ha_chunk_choose(size_t bytes, int no_new, ha_attempt *attempt, ha_chunk **out) {
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

/* For an event that is known: what was enqueued behind it is not waited for. */
static ha_status ha_attempt_wait_fence(ha_attempt *attempt) {
    ha_context *c = attempt->point.queue;
    ha_fence *m = attempt->mark;
    attempt->mark = NULL;
    const int stays = ha_context_pin(c);
    ha_status s = stays ? ha_fence_wait(c, m, attempt->site) : HA_OK;
    ha_fence_release(c, m);
    if (stays) ha_context_unpin(c);
    if (s == HA_ERR_LOST) ha_forget_note();
    return s == HA_ERR_LOST ? HA_OK : s;
}

/* What an attempt that returned HA_RETRY_ has to wait for. Nothing is held, but perhaps a chunk. */
static ha_status ha_attempt_wait(ha_attempt *attempt) {
    if (attempt->mark) return ha_attempt_wait_fence(attempt);
    if (!attempt->for_chunk) return ha_wait_past(attempt->point, attempt->site);
    attempt->for_chunk = 0;
    pthread_mutex_lock(&ha_staging.lock);
    while (ha_chunks_taken() == HA_CHUNKS) pthread_cond_wait(&ha_staging.change, &ha_staging.lock);
    pthread_mutex_unlock(&ha_staging.lock);
    return HA_OK;
}

/* The chunk is used up to there. */
static void ha_chunk_use(ha_chunk *chunk, ha_timepoint last) {
    if (chunk->mark) ha_fence_release(chunk->last.queue, chunk->mark);
    chunk->mark = NULL;
    chunk->last = last;
}

/* Gives a chunk's block back, when its last use has happened. */
static void ha_chunk_empty(ha_chunk *chunk) {
    ha_ops ops = {0};
    if (!chunk->block) return;
    if (chunk->last.queue) ha_ops_note(&ops, chunk->last, 0, SIZE_MAX, 1, NULL);
    ha_block_retire(chunk->block, &ops);
    chunk->block = NULL;
    ha_chunk_use(chunk, (ha_timepoint){NULL, 0});
}

/* *out = a chunk of at least `bytes` bytes, for this thread. pinned: where it best comes from. */
static ha_status ha_chunk_take(ha_memory *pinned, size_t bytes, ha_attempt *attempt,
                               ha_chunk **out) {
    ha_status s = ha_chunk_choose(bytes, 0, attempt, out);
    if (s || ((*out)->block && (*out)->block->bytes >= bytes)) return s;
    ha_chunk_empty(*out);
    s = ha_host_block_take(HA_STAGING, pinned, bytes < HA_CHUNK_BYTES ? HA_CHUNK_BYTES : bytes,
                           &(*out)->block, attempt);
    if (!s) return HA_OK;
    (*out)->block = NULL;
    ha_chunk_give(*out);
    if (s != HA_ERR_MEMORY) return s;
    ha_forget_note();
    return ha_chunk_choose(bytes, 1, attempt, out); /* one that is still in use, then */
}

/* A chunk with a block of m that nobody uses, taken; NULL: none. */
static ha_chunk *ha_chunk_idle(const ha_memory *m) {
    ha_chunk *idle = NULL;
    pthread_mutex_lock(&ha_staging.lock);
    for (int i = 0; i < HA_CHUNKS && !idle; i++) {
        ha_chunk *chunk = &ha_staging.chunk[i];
        if (chunk->taken || !chunk->block || chunk->block->memory != m) continue;
        if (!chunk->last.queue || ha_passed(chunk->last.queue, chunk->last.seq)) idle = chunk;
    }
    if (idle) idle->taken = 1;
    pthread_mutex_unlock(&ha_staging.lock);
    return idle;
}

/* Puts the blocks of chunks that nobody uses into the cache of their memory. */
static void ha_staging_trim(const ha_memory *m) {
    for (ha_chunk *chunk; (chunk = ha_chunk_idle(m));) {
        ha_chunk_empty(chunk);
        ha_chunk_give(chunk);
    }
}

/* For ha_shutdown: every queue is drained. */
static void ha_staging_empty(void) {
    for (int i = 0; i < HA_CHUNKS; i++) ha_chunk_empty(&ha_staging.chunk[i]);
}

/* ---- one piece, through a chunk ------------------------------------------------------------ */

/* Whether the attempt before this one brought r into the chunk that it still holds. */
static int ha_is_staged(const ha_attempt *attempt, const ha_incarnation *from, ha_range r) {
    return attempt->chunk && attempt->staged_from == from && attempt->staged.first == r.first &&
           attempt->staged.last == r.last && !ha_is_lost(attempt->chunk->last);
}

/* Ends what an attempt may hold from one try to the next. */
static void ha_attempt_end(ha_attempt *attempt) {
    if (attempt->chunk) ha_chunk_give(attempt->chunk);
    attempt->chunk = NULL;
    for (int i = 0; i < HA_AHEAD; i++) {
        if (attempt->ahead[i].chunk) ha_chunk_give(attempt->ahead[i].chunk);
        attempt->ahead[i].chunk = NULL;
    }
}

/* The first hop: from the incarnation to a chunk, which the attempt then holds. */
static ha_status ha_stage_in(ha_array *a, ha_incarnation *from, ha_range r, ha_attempt *attempt) {
    ha_context *queue = ha_writer_queue(a, from, r);
    ha_strided_copy copy = ha_box_copy(a->grid, r, a->element, NULL,
                                       from->data + r.first * a->element);
    size_t bytes = ha_elements(a->grid, r) * a->element;
    ha_chunk *chunk;
    int some = 0;
    ha_strided_pack(&copy, copy.to_step);
    ha_attempt_end(attempt);
    ha_status s = ha_come_after(a, from, r, 0, queue, attempt);
    if (s || (s = ha_chunk_take(queue->home->pinned, bytes, attempt, &chunk))) return s;
    copy.to = chunk->block->data;
    ha_timepoint last = chunk->last;
    if (last.queue && last.queue != queue && !ha_passed(last.queue, last.seq))
        s = ha_come_after_timepoint(queue, last, attempt);
    if (!s) ha_transfer_begins(queue);
    if (!s) s = ha_move_pieces(queue, &copy, &some, attempt);
    if (some) {
        ha_lock(a);
        ha_note_operation(&from->ops, queue, r, 0, attempt->site);
        ha_unlock(a);
        ha_chunk_use(chunk, (ha_timepoint){queue, ha_sequence(queue)});
    }
    if (s) {
        ha_chunk_give(chunk);
        return s;
    }
    ha_lock(a);
    a->statistics.transfers++;
    a->statistics.bytes += bytes;
    ha_unlock(a);
    ha_transferred(a, from->memory, &ha_host_memory, queue, r, attempt->site);
    attempt->chunk = chunk;
    attempt->staged = r;
    attempt->staged_from = from;
    return HA_OK;
}

/* The second hop: from the chunk to where it is to be. */
static ha_status ha_stage_out(ha_array *a, ha_incarnation *to, ha_range r, ha_context *queue,
                              ha_attempt *attempt) {
    ha_chunk *chunk = attempt->chunk;
    ha_strided_copy copy = ha_box_copy(a->grid, r, a->element, to->data + r.first * a->element,
                                       chunk->block->data);
    ha_status s = HA_OK;
    int some = 0;
    ha_strided_pack(&copy, copy.from_step);
    if (chunk->last.queue != queue) s = ha_come_after_timepoint(queue, chunk->last, attempt);
    if (!s) s = ha_come_after(a, to, r, 1, queue, attempt);
    if (!s) ha_transfer_begins(queue);
    if (!s) s = ha_move_pieces(queue, &copy, &some, attempt);
    if (some) {
        ha_lock(a);
        ha_note_operation(&to->ops, queue, r, 1, attempt->site);
        ha_unlock(a);
        ha_chunk_use(chunk, (ha_timepoint){queue, ha_sequence(queue)});
    }
    if (!s) ha_attempt_end(attempt);
    return s;
}

static ha_status ha_transfer_chunk(ha_array *a, ha_incarnation *from, ha_incarnation *to,
                                   ha_range r, ha_context *c, ha_set *brought,
                                   ha_attempt *attempt) {
    ha_context *queue = c->memory == to->memory ? c : ha_memory_queue(to->memory);
    ha_status s = ha_transfer_reserve(a, from, to, r, brought);
    if (!s && !ha_is_staged(attempt, from, r)) s = ha_stage_in(a, from, r, attempt);
    if (!s) s = ha_stage_out(a, to, r, queue, attempt);
    if (s) return s;
    ha_transfer_note(a, to, r);
    ha_transferred(a, &ha_host_memory, to->memory, queue, r, attempt->site);
    if (brought) ha_set_add(brought, r);
    return HA_OK;
}

/* ---- a whole transfer ---------------------------------------------------------------------- */

/* The host incarnation to pass through; NULL when there is no room for it. */
static ha_status ha_staging_host(ha_array *a, ha_context *c, ha_incarnation **host,
                                 ha_attempt *attempt) {
    *host = ha_incarnation_add(a, &ha_host_memory);
    if (!*host) return HA_ERR_MEMORY;
    ha_status s = ha_incarnation_room(a, *host, c, a->size, attempt);
    if (s != HA_ERR_MEMORY) return s;
    ha_forget_note();
    *host = NULL;
    return HA_OK;
}

/* In pieces, where no queue has to wait by way of the host. */
static size_t ha_staging_step(const ha_array *a, const ha_incarnation *from,
                              const ha_incarnation *to, const ha_incarnation *host) {
    size_t step = HA_CHUNK_BYTES / a->element;
    if (host && from->memory->backend != to->memory->backend) return SIZE_MAX;
    return step ? step : 1;
}

/* The way of a transfer without a direct path. */
typedef struct ha_via_host {
    ha_incarnation *from, *host, *to; /* host NULL: through chunks */
    ha_context *context;
    size_t step; /* elements of a part, at most */
    ha_set *brought;
} ha_via_host;

static ha_status ha_transfer_part(ha_array *a, const ha_via_host *way, ha_range r,
                                  ha_attempt *attempt) {
    ha_context *c = way->context;
    if (!way->host) return ha_transfer_chunk(a, way->from, way->to, r, c, way->brought, attempt);
    ha_status s = ha_transfer(a, way->from, way->host, r, c, NULL, attempt);
    return s ? s : ha_transfer(a, way->host, way->to, r, c, way->brought, attempt);
}

/* A range in steps, a box in halves, until its parts are small enough. */
static ha_status ha_transfer_parts(ha_array *a, const ha_via_host *way, ha_range r,
                                   ha_attempt *attempt) {
    ha_range parts[2];
    ha_status s = HA_OK;
    if (a->grid && ha_elements(a->grid, r) > way->step) {
        ha_box_halve(a->grid, r, parts);
        s = ha_transfer_parts(a, way, parts[0], attempt);
        return s ? s : ha_transfer_parts(a, way, parts[1], attempt);
    }
    while (r.first < r.last && !s) {
        size_t left = r.last - r.first, step = left < way->step || a->grid ? left : way->step;
        s = ha_transfer_part(a, way, (ha_range){r.first, r.first + step}, attempt);
        r.first += step;
    }
    return s;
}

/* A piece that has no direct path. */
static ha_status ha_transfer_staged(ha_array *a, const ha_piece *piece, ha_incarnation *to,
                                    ha_context *c, ha_set *brought, ha_attempt *attempt) {
    ha_via_host way = {.from = piece->from, .to = to, .context = c, .brought = brought};
    ha_status s = ha_staging_host(a, c, &way.host, attempt);
    way.step = ha_staging_step(a, way.from, to, way.host);
    return s ? s : ha_transfer_parts(a, &way, piece->range, attempt);
}

/* Enqueues every piece of the plan. */
static ha_status ha_plan_carry_out(ha_array *a, const ha_plan *plan, ha_incarnation *to,
                                   ha_context *c, ha_set *brought, ha_attempt *attempt) {
    ha_status s = HA_OK;
    for (size_t i = 0; i < plan->n && !s; i++) {
        const ha_piece *piece = &plan->pieces[i];
        if (a->form)
            s = a->form->ops->move(a, piece->from, to, piece->range, c, brought, attempt);
        else if (piece->staged)
            s = ha_transfer_staged(a, piece, to, c, brought, attempt);
        else
            s = ha_transfer(a, piece->from, to, piece->range, c, brought, attempt);
    }
    return s;
}

#endif
