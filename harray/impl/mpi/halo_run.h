/* Halos: one exchange. Whatever fails, each message that another rank expects is sent: without elements, where these
 * cannot be had. */
#ifndef HARRAY_IMPL_MPI_HALO_RUN_H
#define HARRAY_IMPL_MPI_HALO_RUN_H

#include "halo_new.h"
#include "records.h"

HA_IN_ void ha_mpi_halo_note(ha_mpi_halo *halo, ha_status s) {
    if (!halo->failed) halo->failed = s;
}

/* A buffer where MPI gets it, as long as MPI has it. NULL: it cannot be had. MPI knows nothing of queues: a device has
 * done then what comes before. */
HA_IN_ void *ha_mpi_hold(ha_mpi_halo *halo, ha_token *token, const darray *buffer, unsigned how) {
    ha_access v;
    memset(&v, 0, sizeof v);
    ha_status s = ha_open_view(&v, *buffer, halo->memory, how);
    void *const data = v.data;
    if (!s) {
        if (!ha_is_host(halo->memory)) s = ha_wait(&v);
        if (!s) s = ha_detach(token, &v);
        if (s) HA_IGNORE(ha_close(&v));
    }
    ha_mpi_halo_note(halo, s);
    return s ? NULL : data;
}

HA_IN_ void ha_mpi_let_go(ha_mpi_halo *halo, ha_token *token) {
    if (token->array) ha_mpi_halo_note(halo, ha_token_finish(token));
}

/* ---- putting together ------------------------------------------------------------------------- */

/* Where what is received begins, behind what is sent. */
HA_IN_ char *ha_mpi_joined_in(const ha_mpi_ghosts *g) { return g->joined + g->bytes; }

/* Whose memory the buffers of a message are sent from. */
HA_IN_ ha_context *ha_mpi_memory_of(const ha_mpi_halo *halo, const ha_mpi_ghosts *g) {
    return g->joined ? ha_host() : halo->memory;
}

/* A buffer's elements become bytes of the message, or the other way round. */
HA_IN_ ha_status ha_mpi_copy_buffer(const darray *buffer, char *bytes, size_t n, unsigned how) {
    ha_access v;
    memset(&v, 0, sizeof v);
    ha_status s = ha_open_view(&v, *buffer, ha_host(), how);
    if (s) return s;
    if (how == HA_READ)
        memcpy(bytes, v.data, n);
    else
        memcpy(v.data, bytes, n);
    return ha_close(&v);
}

/* All buffers of a message that has several. */
HA_IN_ void ha_mpi_copy_buffers(ha_mpi_halo *halo, const ha_mpi_ghosts *g, unsigned how) {
    char *const bytes = how == HA_READ ? g->joined : ha_mpi_joined_in(g);
    for (size_t k = 0; k < halo->segments && !halo->failed; k++) {
        const ha_mpi_segment *x = &g->segment[k];
        const darray *buffer = how == HA_READ ? &x->out : &x->in;
        ha_mpi_halo_note(halo, ha_mpi_copy_buffer(buffer, bytes + x->at, (size_t)x->bytes, how));
    }
}

/* Of all records of a message the cells that are sent go to their buffers; or their ghost cells come from there. */
HA_IN_ void ha_mpi_move_all_records(ha_mpi_halo *halo, const ha_mpi_ghosts *g, int gathers) {
    for (size_t k = 0; k < halo->segments && !halo->failed; k++) {
        const ha_mpi_segment *x = &g->segment[k];
        const ha_mpi_field *field = &halo->field[x->like];
        if (!field->part.records) continue;
        const ha_mpi_block cells = ha_mpi_field_cells(&halo->grid, field, &g->offset, !gathers);
        const ha_mpi_part part = ha_mpi_records_of_cells(field, &cells);
        const uint64_t before = ha_records_statistics(part.records).bytes;
        ha_mpi_halo_note(halo, ha_mpi_records_move(&part, gathers ? &x->out : &x->in, halo->context,
                                                   gathers, &halo->call));
        HA_MPI_MOVED_(staged_bytes, ha_records_statistics(part.records).bytes - before);
    }
}

/* ---- waiting for no more than is needed ------------------------------------------------------- */

/* A queue makes an event only when somebody waits, and it then comes behind all that has been enqueued by that time, as
 * the kernels are that compute meanwhile. So start and finish make one each behind what they enqueue. Without memory
 * for it there is none, and one waits for more. */
HA_IN_ void ha_mpi_halo_mark(ha_mpi_halo *halo, ha_fence **fence) {
    ha_context *c = halo->context;
    ha_fence_release(c, *fence);
    *fence = NULL;
    if (!c->ops || halo->failed || !ha_context_pin(c)) return;
    const ha_note note = ha_backend_note;
    if (ha_cover(c, ha_sequence_of(c), fence)) {
        *fence = NULL;
        ha_backend_note = note; /* whoever opens what is there finds out, too */
    }
    ha_context_unpin(c);
}

HA_IN_ void ha_mpi_halo_reach(ha_mpi_halo *halo, const ha_fence *fence) {
    ha_context *c = halo->context;
    if (!fence || ha_passed(c, fence->covers) || !ha_context_pin(c)) return;
    const ha_note note = ha_backend_note;
    if (ha_fence_wait(c, fence, halo->call.site)) ha_backend_note = note;
    ha_context_unpin(c);
}

/* ---- sending ---------------------------------------------------------------------------------- */

/* data NULL: no elements. Returns whether MPI has taken it. */
HA_IN_ int ha_mpi_give_ghosts(ha_mpi_halo *halo, ha_mpi_ghosts *g, const void *data) {
    g->sent = data ? ha_mpi_moment() : 0;
    const int code = MPI_Isend(data, data ? g->count.number : 0, g->count.type, g->peer, g->tag_out,
                               halo->call.comm, &g->sending);
    ha_mpi_halo_note(halo, ha_mpi_told(&halo->call, code, "sending"));
    if (code) g->sending = MPI_REQUEST_NULL;
    return !code;
}

/* The elements where MPI gets them; NULL: they cannot be had. */
HA_IN_ const void *ha_mpi_data_sent(ha_mpi_halo *halo, ha_mpi_ghosts *g) {
    if (halo->failed) return NULL;
    if (!g->joined) return ha_mpi_hold(halo, &g->out_token, &g->segment->out, HA_READ);
    ha_mpi_copy_buffers(halo, g, HA_READ);
    return halo->failed ? NULL : g->joined;
}

HA_IN_ void ha_mpi_send_ghosts(ha_mpi_halo *halo, ha_mpi_ghosts *g) {
    const void *data = ha_mpi_data_sent(halo, g);
    if (!ha_mpi_give_ghosts(halo, g, data)) {
        if (data) (void)ha_mpi_give_ghosts(halo, g, NULL);
        return;
    }
    if (!data) return;
    HA_MPI_MOVED_(messages_sent, 1);
    HA_MPI_MOVED_(bytes_sent, g->bytes);
}

/* To or from the buffers of all messages of a round. */
HA_IN_ void ha_mpi_copy_round(ha_mpi_halo *halo, const ha_mpi_round *round,
                              const ha_copy_plan *plan) {
    if (halo->failed || round->first == round->end) return;
    ha_mpi_halo_note(halo,
                     ha_copy_plan_run_on_(plan, halo->of, halo->by, halo->arrays, halo->call.site));
}

/* Moves the buffers of a message to a context; what has come for records is moved by whoever unpacks it. */
HA_IN_ void ha_mpi_prefetch_buffers(ha_mpi_halo *halo, const ha_mpi_ghosts *g, int are_received,
                                    ha_context *c) {
    for (size_t k = 0; k < halo->segments && !halo->failed; k++) {
        const ha_mpi_segment *x = &g->segment[k];
        if (are_received && halo->field[x->like].part.records) continue;
        ha_mpi_halo_note(halo, darray_prefetch(are_received ? x->in : x->out, c));
    }
}

/* The cells are in the buffers then, and on their way to where MPI gets them. */
HA_IN_ void ha_mpi_pack_round(ha_mpi_halo *halo, const ha_mpi_round *round) {
    ha_mpi_copy_round(halo, round, round->pack);
    for (size_t i = round->first; i < round->end; i++)
        ha_mpi_move_all_records(halo, &halo->ghosts[i], 1);
    for (size_t i = round->first; i < round->end && !halo->failed; i++) {
        const ha_mpi_ghosts *g = &halo->ghosts[i];
        ha_context *const memory = ha_mpi_memory_of(halo, g);
        HA_MPI_MOVED_(packed_bytes, g->bytes);
        if (memory != halo->context) ha_mpi_prefetch_buffers(halo, g, 0, memory);
    }
}

HA_IN_ void ha_mpi_send_round(ha_mpi_halo *halo, const ha_mpi_round *round) {
    for (size_t i = round->first; i < round->end; i++) ha_mpi_send_ghosts(halo, &halo->ghosts[i]);
}

/* ---- receiving -------------------------------------------------------------------------------- */

HA_IN_ void ha_mpi_expect_ghosts(ha_mpi_halo *halo, ha_mpi_ghosts *g) {
    void *data = g->joined ? ha_mpi_joined_in(g)
                           : ha_mpi_hold(halo, &g->in_token, &g->segment->in, HA_OVERWRITE);
    g->is_expected = 0;
    g->expected = ha_mpi_moment();
    if (!data) return;
    const int code = MPI_Irecv(data, g->count.number, g->count.type, g->peer, g->tag_in,
                               halo->call.comm, &g->receiving);
    ha_mpi_halo_note(halo, ha_mpi_told(&halo->call, code, "receiving"));
    g->is_expected = !code;
}

HA_IN_ void ha_mpi_check_ghosts(ha_mpi_halo *halo, const ha_mpi_ghosts *g,
                                const MPI_Status *status) {
    MPI_Count bytes = 0;
    (void)MPI_Get_elements_x(status, MPI_BYTE, &bytes);
    if ((int64_t)bytes == g->bytes) {
        HA_MPI_MOVED_(messages_received, 1);
        HA_MPI_MOVED_(bytes_received, g->bytes);
        ha_mpi_note_message(&halo->call, 0, g->peer, g->bytes, g->expected);
        return;
    }
    ha_mpi_halo_note(halo,
                     ha_mpi_fail(HA_ERR_LOST, &halo->call,
                                 "rank %d has failed to send its cells for this halo", g->peer));
}

/* Into the buffer, or where nobody looks. */
HA_IN_ void ha_mpi_receive_ghosts(ha_mpi_halo *halo, ha_mpi_ghosts *g) {
    MPI_Status status;
    int code;
    if (g->is_expected)
        code = MPI_Wait(&g->receiving, &status);
    else
        code = MPI_Recv(halo->spare, g->count.number, g->count.type, g->peer, g->tag_in,
                        halo->call.comm, &status);
    ha_mpi_halo_note(halo, ha_mpi_told(&halo->call, code, "receiving"));
    ha_mpi_let_go(halo, &g->in_token);
    if (!code) ha_mpi_check_ghosts(halo, g, &status);
}

HA_IN_ void ha_mpi_receive_round(ha_mpi_halo *halo, const ha_mpi_round *round) {
    for (size_t i = round->first; i < round->end; i++) {
        ha_mpi_ghosts *g = &halo->ghosts[i];
        ha_mpi_receive_ghosts(halo, g);
        if (g->sending == MPI_REQUEST_NULL) continue;
        const int code = MPI_Wait(&g->sending, MPI_STATUS_IGNORE);
        ha_mpi_halo_note(halo, ha_mpi_told(&halo->call, code, "sending"));
        if (!code && g->sent) ha_mpi_note_message(&halo->call, 1, g->peer, g->bytes, g->sent);
    }
    for (size_t i = round->first; i < round->end; i++)
        ha_mpi_let_go(halo, &halo->ghosts[i].out_token);
}

HA_IN_ void ha_mpi_unpack_round(ha_mpi_halo *halo, const ha_mpi_round *round) {
    for (size_t i = round->first; i < round->end && !halo->failed; i++) {
        const ha_mpi_ghosts *g = &halo->ghosts[i];
        HA_MPI_MOVED_(packed_bytes, g->bytes);
        if (g->joined) ha_mpi_copy_buffers(halo, g, HA_OVERWRITE);
        if (ha_mpi_memory_of(halo, g) != halo->context)
            ha_mpi_prefetch_buffers(halo, g, 1, halo->context);
    }
    ha_mpi_copy_round(halo, round, round->unpack);
    for (size_t i = round->first; i < round->end; i++)
        ha_mpi_move_all_records(halo, &halo->ghosts[i], 0);
}

/* ---- an exchange ------------------------------------------------------------------------------ */

/* What the buffers of a message have moved so far. */
HA_IN_ uint64_t ha_mpi_bytes_of_buffers(const ha_mpi_halo *halo, const ha_mpi_ghosts *g) {
    uint64_t bytes = 0;
    for (size_t k = 0; k < halo->segments; k++)
        bytes += ha_mpi_bytes_of(&g->segment[k].out) + ha_mpi_bytes_of(&g->segment[k].in);
    return bytes;
}

HA_IN_ void ha_mpi_halo_count(ha_mpi_halo *halo) {
    for (size_t i = 0; i < halo->messages; i++) {
        ha_mpi_ghosts *g = &halo->ghosts[i];
        const uint64_t moved = ha_mpi_bytes_of_buffers(halo, g);
        HA_MPI_MOVED_(staged_bytes, moved - g->moved);
        g->moved = moved;
    }
}

HA_IN_ void ha_mpi_halo_begin(ha_mpi_halo *halo) {
    halo->failed = HA_OK;
    halo->is_started = 1;
    ha_mpi_halo_reach(halo, halo->unpacked); /* the buffers are free then */
    for (size_t i = 0; i < halo->messages; i++) ha_mpi_expect_ghosts(halo, &halo->ghosts[i]);
    ha_mpi_pack_round(halo, &halo->round[0]);
    ha_mpi_halo_mark(halo, &halo->packed);
    if (!halo->context->ops) ha_mpi_send_round(halo, &halo->round[0]);
}

HA_IN_ ha_status ha_mpi_halo_end(ha_mpi_halo *halo) {
    ha_mpi_halo_reach(halo, halo->packed);
    for (int r = 0; r < ha_mpi_rounds(&halo->grid); r++) {
        ha_mpi_round *round = &halo->round[r];
        if (r) ha_mpi_pack_round(halo, round);
        if (r || halo->context->ops) ha_mpi_send_round(halo, round);
        ha_mpi_receive_round(halo, round);
        ha_mpi_unpack_round(halo, round);
    }
    ha_mpi_halo_mark(halo, &halo->unpacked);
    ha_mpi_halo_count(halo);
    halo->is_started = 0;
    return halo->failed;
}

/* HA_OK: the plan is there, MPI is, and it was started, or was not. */
HA_IN_ ha_status ha_mpi_halo_enter(ha_mpi_halo *halo, const char *operation, const char *site,
                                   int is_started) {
    if (!halo) return ha_fail(HA_ERR_ARGUMENT, operation, "%s: no plan", site);
    const ha_mpi_call call = {operation, site, halo->call.comm};
    ha_status s = ha_mpi_enter(&call);
    if (s) return s;
    if (halo->is_started != is_started)
        return ha_mpi_fail(HA_ERR_STATE, &call,
                           is_started ? "it was not started" : "it was started, and not finished");
    halo->call = call;
    return HA_OK;
}

ha_status ha_mpi_halo_start_(ha_mpi_halo *halo, const char *site) {
    HA_TELLS_EVENTS_;
    site = ha_from(site);
    ha_status s = ha_mpi_halo_enter(halo, "ha_mpi_halo_start", site, 0);
    HA_FROM(site) if (!s) ha_mpi_halo_begin(halo);
    return s;
}

ha_status ha_mpi_halo_finish_(ha_mpi_halo *halo, const char *site) {
    HA_TELLS_EVENTS_;
    site = ha_from(site);
    ha_status s = ha_mpi_halo_enter(halo, "ha_mpi_halo_finish", site, 1);
    HA_FROM(site) if (!s) s = ha_mpi_halo_end(halo);
    return s;
}

/* ---- other fields, and the end ---------------------------------------------------------------- */

/* Field i of the list may take the place of the one there. */
HA_IN_ ha_status ha_mpi_check_place(const ha_mpi_halo *halo, const ha_mpi_list *list, size_t i) {
    const ha_mpi_part part = ha_mpi_listed(list, i);
    const ha_mpi_field *before = &halo->field[i];
    ha_mpi_field field;
    size_t k = 0;
    ha_status s = ha_mpi_field_of(&field, &part, &halo->call);
    if (s) return s;
    int fits = ha_mpi_is_in_place_of(&field, before);
    if (fits && !part.records) {
        while (halo->field[k].part.records || halo->array_of[k] != halo->array_of[i]) k++;
        fits = ha_mpi_listed(list, k).view.array == part.view.array; /* k: the first of its array */
    }
    if (fits) return HA_OK;
    return ha_mpi_fail(HA_ERR_ARGUMENT, &halo->call,
                       before->part.records
                           ? "field %zu has not the types and extents of the one in whose place it "
                             "would be"
                           : "field %zu has not the type, shape and storage of the one in whose "
                             "place it would be",
                       i);
}

HA_IN_ void ha_mpi_replace(ha_mpi_halo *halo, const ha_mpi_part *part, size_t i) {
    if (part->records) {
        halo->field[i].part = *part;
        return;
    }
    ha_array **place = &halo->by[halo->array_of[i]], *before = *place;
    if (before == part->view.array) return;
    *place = ha_array_retain(part->view.array);
    HA_IGNORE(ha_array_free(before));
}

HA_IN_ ha_status ha_mpi_rebind(ha_mpi_halo *halo, const ha_mpi_list *list) {
    ha_status s = HA_OK;
    if (list->count != halo->fields || (list->count && !list->first))
        return ha_mpi_fail(HA_ERR_ARGUMENT, &halo->call, "%zu fields in the places of %zu",
                           list->count, halo->fields);
    for (size_t i = 0; i < list->count && !s; i++) s = ha_mpi_check_place(halo, list, i);
    for (size_t i = 0; i < list->count && !s; i++) {
        const ha_mpi_part part = ha_mpi_listed(list, i);
        ha_mpi_replace(halo, &part, i);
    }
    return s;
}

ha_status ha_mpi_halo_rebind_(ha_mpi_halo *halo, const void *fields, size_t each, size_t count,
                              const char *site) {
    HA_TELLS_EVENTS_;
    const ha_mpi_list list = {fields, each, count};
    site = ha_from(site);
    ha_status s = ha_mpi_halo_enter(halo, "ha_mpi_halo_rebind", site, 0);
    return s ? s : ha_mpi_rebind(halo, &list);
}

void ha_mpi_halo_free(ha_mpi_halo *halo) {
    HA_TELLS_EVENTS_;
    if (!halo) return;
    if (halo->is_started && ha_mpi_is_there() && ha_mpi_may_call())
        HA_IGNORE(ha_mpi_halo_end(halo));
    ha_mpi_halo_dispose(halo);
}

#endif
