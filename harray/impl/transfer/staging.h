/* Staging: transfers without a direct path, through the host.
 *
 * They pass through the array's host incarnation if it has one or there is room for it; it is one
 * more valid copy then. Otherwise through chunks: a few blocks of the host that all arrays share,
 * so that what is under way never takes more than HA_CHUNKS times HA_CHUNK_BYTES. Either way in
 * pieces, so that the second hop of one overlaps with the first hop of the next; and in queues of
 * one backend nothing of it makes the host wait, for a chunk is used again behind its last use. */
#ifndef HARRAY_IMPL_TRANSFER_STAGING_H
#define HARRAY_IMPL_TRANSFER_STAGING_H

#include "chunks.h"
#include "plan.h"
#include "transfer.h"

/* ---- one piece, through a chunk ------------------------------------------------------------ */

/* Whether the attempt before this one brought r into the chunk that it still holds. */
HA_IN_ int ha_is_staged(const ha_attempt *attempt, const ha_incarnation *from, ha_range r) {
    return attempt->chunk && attempt->staged_from == from && attempt->staged.first == r.first &&
           attempt->staged.last == r.last && !ha_is_lost(attempt->chunk->last);
}

/* The first hop: from the incarnation to a chunk, which the attempt then holds. */
HA_IN_ ha_status ha_stage_in(ha_array *a, ha_incarnation *from, ha_range r, ha_attempt *attempt) {
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
        ha_chunk_use(chunk, (ha_timepoint){queue, ha_sequence_of(queue)});
    }
    if (s) {
        ha_chunk_give(chunk);
        return s;
    }
    ha_lock(a);
    ha_count_transfer(a, bytes);
    ha_unlock(a);
    ha_transferred(a, from->memory, &ha_host_memory, queue, r, attempt->site);
    attempt->chunk = chunk;
    attempt->staged = r;
    attempt->staged_from = from;
    return HA_OK;
}

/* The second hop: from the chunk to where it is to be. */
HA_IN_ ha_status ha_stage_out(ha_array *a, ha_incarnation *to, ha_range r, ha_context *queue,
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
        ha_chunk_use(chunk, (ha_timepoint){queue, ha_sequence_of(queue)});
    }
    if (!s) ha_attempt_end(attempt);
    return s;
}

HA_IN_ ha_status ha_transfer_chunk(ha_array *a, ha_incarnation *from, ha_incarnation *to,
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
HA_IN_ ha_status ha_staging_host(ha_array *a, ha_context *c, ha_incarnation **host,
                                 ha_attempt *attempt) {
    *host = ha_incarnation_add(a, &ha_host_memory);
    if (!*host) return HA_ERR_MEMORY;
    ha_status s = ha_is_short_in_use(a, *host) ? HA_ERR_MEMORY
                                               : ha_incarnation_room(a, *host, c, a->size, attempt);
    if (s != HA_ERR_MEMORY) return s;
    ha_forget_note();
    *host = NULL;
    return HA_OK;
}

/* In pieces, where no queue has to wait by way of the host. */
HA_IN_ size_t ha_staging_step(const ha_array *a, const ha_incarnation *from,
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

HA_IN_ ha_status ha_transfer_part(ha_array *a, const ha_via_host *via, ha_range r,
                                  ha_attempt *attempt) {
    ha_context *c = via->context;
    if (!via->host) return ha_transfer_chunk(a, via->from, via->to, r, c, via->brought, attempt);
    ha_status s = ha_transfer(a, via->from, via->host, r, c, NULL, attempt);
    return s ? s : ha_transfer(a, via->host, via->to, r, c, via->brought, attempt);
}

/* A range in steps, a box in halves, until its parts are small enough. */
HA_IN_ ha_status ha_transfer_parts(ha_array *a, const ha_via_host *via, ha_range r,
                                   ha_attempt *attempt) {
    ha_range parts[2];
    ha_status s = HA_OK;
    if (a->grid && ha_elements(a->grid, r) > via->step) {
        ha_box_halve(a->grid, r, parts);
        s = ha_transfer_parts(a, via, parts[0], attempt);
        return s ? s : ha_transfer_parts(a, via, parts[1], attempt);
    }
    while (r.first < r.last && !s) {
        size_t left = r.last - r.first, step = left < via->step || a->grid ? left : via->step;
        s = ha_transfer_part(a, via, (ha_range){r.first, r.first + step}, attempt);
        r.first += step;
    }
    return s;
}

/* A piece that has no direct path. */
HA_IN_ ha_status ha_transfer_staged(ha_array *a, const ha_piece *piece, ha_incarnation *to,
                                    ha_context *c, ha_set *brought, ha_attempt *attempt) {
    ha_via_host via = {.from = piece->from, .to = to, .context = c, .brought = brought};
    ha_status s = ha_staging_host(a, c, &via.host, attempt);
    via.step = ha_staging_step(a, via.from, to, via.host);
    return s ? s : ha_transfer_parts(a, &via, piece->range, attempt);
}

/* Enqueues every piece of the plan. */
HA_IN_ ha_status ha_plan_execute(ha_array *a, const ha_plan *plan, ha_incarnation *to,
                                 ha_context *c, ha_set *brought, ha_attempt *attempt) {
    ha_status s = HA_OK;
    for (size_t i = 0; i < plan->n && !s; i++) {
        const ha_piece *piece = &plan->pieces[i];
        if (a->ops)
            s = a->ops->move(a, piece->from, to, piece->range, c, brought, attempt);
        else if (piece->staged)
            s = ha_transfer_staged(a, piece, to, c, brought, attempt);
        else
            s = ha_transfer(a, piece->from, to, piece->range, c, brought, attempt);
    }
    return s;
}

#endif
