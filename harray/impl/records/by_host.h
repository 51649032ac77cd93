/* Parts of a record array that the host converts, by way of staging chunks. A chunk is not waited
 * for while another one is held. */
#ifndef HARRAY_IMPL_RECORDS_BY_HOST_H
#define HARRAY_IMPL_RECORDS_BY_HOST_H

#include "by_queue.h"
#include "../../../layout/copy.h"

/* From so many bytes on, the host's records are more than its caches keep. */
#ifndef HA_RECORDS_LARGE_ /* tests have less */
#define HA_RECORDS_LARGE_ (16 << 20)
#endif

/* Whether what a whole part writes on the host is written past the caches: the next parts would displace
 * it anyway, and nothing is read for it then. */
HA_IN_ int ha_records_transfer_is_past_caches(const ha_records_transfer *c) {
    return !c->here_is_to && 2 * c->bytes > HA_RECORDS_PART_BYTES_ &&
           c->to->block->bytes >= HA_RECORDS_LARGE_;
}

/* Copies between a chunk and the host's records. */
HA_IN_ ha_status ha_records_transfer_convert(ha_records_transfer *c, ha_chunk *chunk,
                                             const ha_field_box *b) {
    const ha_records_state *state = ha_records_state_of(c->array);
    const ha_copying how = {
        .first = b->first, .last = b->last, .past_caches_ = ha_records_transfer_is_past_caches(c)};
    void *const blob = chunk->block->data;
    if (c->here_is_to && c->shared && c->shared->group[b->leaf].end)
        memset(blob, 0, c->bytes); /* bits that belong to no value */
    ha_tables_take(&c->host, c->there.mapping, b->leaf, b->end);
    ha_chunk_map(&c->chunk, c->bytes, c->column, c->columns, c->merged_copy, c->here.mapping, b);
    const ha_mapped staged = {&c->chunk.mapping, &blob};
    const ha_mapped host = {state->leaves == b->end - b->leaf && !c->there.mapping->counts
                                ? c->there.mapping
                                : &c->host.mapping,
                            c->there.blob};
    return ha_mapped_copy(c->here_is_to ? &staged : &host, c->here_is_to ? &host : &staged, &how,
                          NULL);
}

/* Whether the queue is done with a chunk. If not, the attempt knows what to wait for. */
HA_IN_ int ha_chunk_is_idle(ha_chunk *chunk, ha_attempt *attempt) {
    ha_context *c = chunk->last.queue;
    if (!c || ha_passed(c, chunk->last.seq)) return 1;
    if (chunk->fence && ha_context_pin(c)) {
        const int done = c->ops->done(&chunk->fence->event);
        ha_context_unpin(c);
        if (done < 0) ha_context_fail(c);
        if (done == 1) ha_fence_done(c, chunk->fence->covers);
        if (done) return 1;
    }
    attempt->point = chunk->last;
    if (chunk->fence) {
        pthread_mutex_lock(&c->lock);
        chunk->fence->users++;
        pthread_mutex_unlock(&c->lock);
        attempt->fence = chunk->fence;
    }
    return 0;
}

/* What was enqueued with a chunk is followed by an event, so that its end is known before that of what
 * comes later. Without one it is found out by what comes later. The caller's queue may go before the
 * chunk is used again, and its events with it. */
HA_IN_ void ha_chunk_follow(ha_chunk *chunk, ha_context *queue) {
    const ha_note note = ha_backend_note;
    ha_chunk_use(chunk, (ha_timepoint){queue, ha_sequence_of(queue)});
    if (queue->adopted) return;
    if (ha_cover(queue, chunk->last.seq, &chunk->fence)) {
        chunk->fence = NULL;
        ha_backend_note = note;
    }
}

/* The queue works on a part of the device's memory, and on a chunk. */
HA_IN_ void ha_records_transfer_follow(ha_records_transfer *c, ha_chunk *chunk, ha_context *queue,
                                       ha_range r) {
    ha_incarnation *device = c->here_is_to ? c->to : c->from;
    ha_lock(c->array);
    ha_note_operation(&device->ops, queue, r, c->here_is_to, c->attempt->site);
    ha_unlock(c->array);
    ha_chunk_follow(chunk, queue);
}

/* ---- to a device ----------------------------------------------------------------------------- */

/* A chunk for the host to write. */
HA_IN_ ha_status ha_records_transfer_idle_chunk(ha_records_transfer *c, ha_context *queue,
                                                ha_chunk **chunk) {
    ha_status s = ha_chunk_take(queue->home->pinned, c->bytes, c->attempt, chunk);
    if (s == HA_RETRY_ && c->attempt->for_chunk) ha_attempt_end(c->attempt);
    if (s || ha_chunk_is_idle(*chunk, c->attempt)) return s;
    ha_chunk_give(*chunk);
    return HA_RETRY_;
}

HA_IN_ ha_status ha_records_transfer_up(ha_records_transfer *c, const ha_field_box *b, ha_range r) {
    ha_array *a = c->array;
    ha_context *queue = ha_records_transfer_queue(c, r);
    ha_chunk *chunk;
    int some = 0;
    if (!queue) return HA_RETRY_;
    ha_status s = ha_records_transfer_reserve(c, r);
    if (!s) s = ha_come_after(a, c->from, r, 0, ha_host(), c->attempt);
    if (!s) s = ha_come_after(a, c->to, r, 1, queue, c->attempt);
    if (!s) s = ha_records_transfer_idle_chunk(c, queue, &chunk);
    if (s) return s;
    s = ha_records_transfer_convert(c, chunk, b);
    if (!s) s = ha_records_transfer_merged(c, queue, (char *)chunk->block->data, &some);
    if (some) ha_records_transfer_follow(c, chunk, queue, r);
    ha_chunk_give(chunk);
    if (!s) ha_records_transfer_arrived(c, queue, r);
    return s;
}

/* ---- from a device --------------------------------------------------------------------------- */

/* They stay in the order in which they were fetched. */
HA_IN_ void ha_in_flight_end(ha_attempt *attempt, struct ha_in_flight *at) {
    ha_chunk_give(at->chunk);
    for (; at + 1 < attempt->in_flight + HA_IN_FLIGHT; at++) at[0] = at[1];
    at->chunk = NULL;
}

/* Enqueues what is in `here` on its way into a chunk. */
HA_IN_ ha_status ha_records_transfer_fetch(ha_records_transfer *c, struct ha_in_flight *at,
                                           ha_range r) {
    ha_array *a = c->array;
    ha_context *queue = ha_records_transfer_queue(c, r);
    ha_chunk *chunk;
    int some = 0;
    if (!queue) return HA_RETRY_;
    ha_status s = ha_ops_reserve(a, &c->from->ops, 1);
    if (!s) s = ha_come_after(a, c->from, r, 0, queue, c->attempt);
    if (!s) s = ha_chunk_take(queue->home->pinned, c->bytes, c->attempt, &chunk);
    if (s) return s;
    const ha_timepoint last = chunk->last;
    if (last.queue && last.queue != queue && !ha_passed(last.queue, last.seq))
        s = ha_come_after_timepoint(queue, last, c->attempt);
    if (!s) s = ha_records_transfer_merged(c, queue, (char *)chunk->block->data, &some);
    if (some) ha_records_transfer_follow(c, chunk, queue, r);
    if (s) {
        ha_chunk_give(chunk);
        return s;
    }
    ha_lock(a);
    ha_count_transfer(a, ha_value_bytes(a, r));
    ha_unlock(a);
    ha_transferred(a, c->from->memory, c->to->memory, queue, r, c->attempt->site);
    *at = (struct ha_in_flight){chunk, c->from, r};
    return HA_OK;
}

/* While a part comes, the next one is enqueued, if that needs no waiting. What fails here is found out
 * when that part is asked for. */
HA_IN_ void ha_records_transfer_fetch_more(ha_records_transfer *c) {
    ha_field_box b[HA_IN_FLIGHT];
    int n = 0, more = 1;
    while (more && n < HA_IN_FLIGHT && ha_records_transfer_next(c, &b[n])) {
        const ha_range r = ha_field_box_range(c->array, &b[n++]);
        struct ha_in_flight *at = ha_records_transfer_place(c, NULL);
        if (c->method != HA_BY_HOST || ha_records_transfer_place(c, &r)) continue;
        more = at && ha_records_transfer_fetch(c, at, r) == HA_OK;
    }
    ha_forget_note();
    c->attempt->for_chunk = 0;
    while (n) c->pending[c->n++] = b[--n]; /* to be asked for one after the other */
}

/* Fetches a part that is not on its way. Others that are, from elsewhere, make room; nobody waits for a
 * chunk while holding one. */
HA_IN_ ha_status ha_records_transfer_begin(ha_records_transfer *c, struct ha_in_flight **at,
                                           ha_range r) {
    while (!(*at = ha_records_transfer_place(c, NULL)))
        ha_in_flight_end(c->attempt, c->attempt->in_flight);
    ha_status s = ha_records_transfer_fetch(c, *at, r);
    if (s == HA_RETRY_ && c->attempt->for_chunk) ha_attempt_end(c->attempt);
    return s;
}

HA_IN_ ha_status ha_records_transfer_down(ha_records_transfer *c, const ha_field_box *b,
                                          ha_range r) {
    ha_array *a = c->array;
    struct ha_in_flight *at = ha_records_transfer_place(c, &r);
    ha_status s = ha_records_transfer_reserve(c, r);
    if (!s) s = ha_come_after(a, c->to, r, 1, ha_host(), c->attempt);
    if (!s && !at) s = ha_records_transfer_begin(c, &at, r);
    if (s) return s;
    ha_records_transfer_fetch_more(c);
    if (!ha_chunk_is_idle(at->chunk, c->attempt)) return HA_RETRY_;
    if (ha_is_lost(at->chunk->last)) {
        c->attempt->point = at->chunk->last;
        ha_in_flight_end(c->attempt, at);
        return HA_RETRY_;
    }
    (void)ha_records_transfer_is_coming(c, b); /* of this part again */
    if ((s = ha_records_transfer_convert(c, at->chunk, b))) return s;
    ha_in_flight_end(c->attempt, at);
    ha_lock(a);
    ha_set_add(&c->to->valid, r);
    ha_unlock(a);
    if (c->brought) ha_set_add(c->brought, r);
    return HA_OK;
}

#endif
