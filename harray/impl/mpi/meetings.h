/* Collectives from their beginning to their end, which is that of the call, or of waiting for its request. */
#ifndef HARRAY_IMPL_MPI_MEETINGS_H
#define HARRAY_IMPL_MPI_MEETINGS_H

#include "collective.h"

/* What a request points at. */
typedef struct ha_mpi_pending {
    ha_mpi_message message;
    ha_mpi_meeting meeting;
} ha_mpi_pending;

/* ---- ending ----------------------------------------------------------------------------------- */

/* Nothing is open any more. */
HA_IN_ void ha_mpi_leave(ha_mpi_meeting *meeting) {
    if (meeting->op_is_made) (void)MPI_Op_free(&meeting->op);
    for (int i = 0; i < 2; i++)
        if (meeting->kept[i]) HA_IGNORE(ha_array_free(meeting->kept[i]));
    HARRAY_FREE(meeting->number);
    HARRAY_FREE(meeting->result);
    HARRAY_FREE(meeting->request);
}

/* It is over: s is how it went. */
HA_IN_ ha_status ha_mpi_adjourn(ha_mpi_meeting *meeting, ha_status s) {
    ha_mpi_side *part = &meeting->part;
    if (!s && meeting->requests && meeting->result)
        memcpy(part->data, meeting->result, (size_t)part->size);
    const ha_status one = ha_mpi_side_close(part, !s, &meeting->call);
    if (!s) s = one;
    if (meeting->has_all) {
        const ha_status all = ha_mpi_side_close(&meeting->all, !s, &meeting->call);
        if (!s) s = all;
    }
    if (!s) ha_mpi_note_collective(&meeting->call, meeting->bytes, meeting->begun);
    ha_mpi_leave(meeting);
    return s;
}

/* ---- at once ---------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_mpi_hold_meeting(const ha_mpi_collective *kind, const ha_mpi_call *call,
                                     int root, const ha_mpi_agenda *agenda) {
    ha_mpi_meeting meeting;
    ha_status s = ha_mpi_meet(&meeting, call, root, 1);
    if (!s) s = kind->open(&meeting, agenda);
    if (s) {
        ha_mpi_leave(&meeting);
        return s;
    }
    return ha_mpi_adjourn(&meeting, ha_mpi_told(call, kind->run(&meeting), kind->what));
}

/* ---- by requests ------------------------------------------------------------------------------ */

/* What is opened when it is over may be freed before. */
HA_IN_ ha_array *ha_mpi_keep(const ha_mpi_side *side) {
    const int is_unpacked = side->buffer.array && side->how != HA_READ;
    return is_unpacked ? ha_array_retain(side->part.view.array) : NULL;
}

/* Until all have come to their end. Returns the first code that is an error. */
HA_IN_ int ha_mpi_await_requests(ha_mpi_meeting *meeting) {
    int first = MPI_SUCCESS;
    for (int i = 0; i < meeting->requests; i++) {
        const int code = MPI_Wait(&meeting->request[i], MPI_STATUS_IGNORE);
        if (!first) first = code;
    }
    return first;
}

/* It is open. What MPI has begun before it fails comes to its end. */
HA_IN_ ha_status ha_mpi_run_on(const ha_mpi_collective *kind, ha_mpi_meeting *meeting) {
    meeting->kept[0] = ha_mpi_keep(&meeting->part);
    if (meeting->has_all) meeting->kept[1] = ha_mpi_keep(&meeting->all);
    ha_status s = ha_mpi_told(&meeting->call, kind->run(meeting), kind->what);
    if (!s) return HA_OK;
    (void)ha_mpi_await_requests(meeting);
    return ha_mpi_adjourn(meeting, s);
}

HA_IN_ ha_status ha_mpi_begin_meeting(ha_mpi_request *request, const ha_mpi_collective *kind,
                                      const ha_mpi_call *call, int root,
                                      const ha_mpi_agenda *agenda) {
    ha_status s = ha_mpi_check_request(request, call);
    if (s) return s;
    ha_mpi_pending *p = (ha_mpi_pending *)HARRAY_MALLOC(sizeof *p);
    if (!p) return ha_mpi_fail(HA_ERR_MEMORY, call, "no memory for a request");
    s = ha_mpi_meet(&p->meeting, call, root, 0);
    if (!s) s = kind->open(&p->meeting, agenda);
    if (s)
        ha_mpi_leave(&p->meeting);
    else
        s = ha_mpi_run_on(kind, &p->meeting);
    if (s) {
        HARRAY_FREE(p);
        return s;
    }
    p->message.call = *call;
    p->message.meeting = &p->meeting;
    request->message = &p->message;
    return HA_OK;
}

HA_IN_ ha_status ha_mpi_collect(ha_mpi_request *request, int waits, const ha_mpi_collective *kind,
                                const ha_mpi_call *call, int root, const ha_mpi_agenda *agenda) {
    ha_status s = HA_OK;
    HA_FROM(call->site)
    s = waits ? ha_mpi_hold_meeting(kind, call, root, agenda)
              : ha_mpi_begin_meeting(request, kind, call, root, agenda);
    return s;
}

/* The name of a call: `waits` tells which of both. */
#define HA_MPI_CALLED_(waits, name) ((waits) ? "ha_mpi_" name : "ha_mpi_i" name)

ha_status ha_mpi_bcast_(ha_mpi_request *request, int waits, ha_mpi_part x, int root, MPI_Comm comm,
                        const char *site) {
    HA_TELLS_EVENTS_;
    const ha_mpi_call call = {HA_MPI_CALLED_(waits, "bcast"), ha_from(site), comm};
    const ha_mpi_agenda agenda = {.part = &x};
    return ha_mpi_collect(request, waits, &ha_mpi_broadcast, &call, root, &agenda);
}

ha_status ha_mpi_reduce_(ha_mpi_request *request, int waits, ha_mpi_part x, MPI_Op op, int root,
                         MPI_Comm comm, const char *site) {
    HA_TELLS_EVENTS_;
    const char *name = root == HA_MPI_NO_ROOT_ ? HA_MPI_CALLED_(waits, "allreduce")
                                               : HA_MPI_CALLED_(waits, "reduce");
    const ha_mpi_call call = {name, ha_from(site), comm};
    const ha_mpi_agenda agenda = {.part = &x, .op = op};
    return ha_mpi_collect(request, waits, &ha_mpi_reduction, &call, root, &agenda);
}

ha_status ha_mpi_gather_(ha_mpi_request *request, int waits, ha_mpi_part all, ha_mpi_part part,
                         const int64_t *counts, int root, MPI_Comm comm, const char *site) {
    HA_TELLS_EVENTS_;
    const char *name = root == HA_MPI_NO_ROOT_ ? HA_MPI_CALLED_(waits, "allgather")
                                               : HA_MPI_CALLED_(waits, "gather");
    const ha_mpi_call call = {name, ha_from(site), comm};
    const ha_mpi_agenda agenda = {
        .part = &part, .all = &all, .how = HA_OVERWRITE, .counts = counts};
    return ha_mpi_collect(request, waits, &ha_mpi_gathering, &call, root, &agenda);
}

ha_status ha_mpi_scatter_(ha_mpi_request *request, int waits, ha_mpi_part part, ha_mpi_part all,
                          const int64_t *counts, int root, MPI_Comm comm, const char *site) {
    HA_TELLS_EVENTS_;
    const ha_mpi_call call = {HA_MPI_CALLED_(waits, "scatter"), ha_from(site), comm};
    const ha_mpi_agenda agenda = {.part = &part, .all = &all, .how = HA_READ, .counts = counts};
    return ha_mpi_collect(request, waits, &ha_mpi_scattering, &call, root, &agenda);
}

ha_status ha_mpi_alltoall_(ha_mpi_request *request, int waits, ha_mpi_part to, ha_mpi_part from,
                           MPI_Comm comm, const char *site) {
    HA_TELLS_EVENTS_;
    const ha_mpi_call call = {HA_MPI_CALLED_(waits, "alltoall"), ha_from(site), comm};
    const ha_mpi_agenda agenda = {.part = &from, .all = &to};
    return ha_mpi_collect(request, waits, &ha_mpi_exchanging, &call, HA_MPI_NO_ROOT_, &agenda);
}

#endif
