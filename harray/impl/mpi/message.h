/* A message from one rank to another: what is begun, and what has to be done when it has arrived. */
#ifndef HARRAY_IMPL_MPI_MESSAGE_H
#define HARRAY_IMPL_MPI_MESSAGE_H

#include "signature.h"
#include "traced.h"

typedef struct ha_mpi_message_ {
    ha_mpi_call call;
    ha_mpi_side side;
    int sends, peer, tag;
    uint64_t begun; /* when MPI got it; 0: nobody listens */
    MPI_Request request;
    ha_mpi_count count;
    /* Of a view that is opened when it has arrived: the request is one more owner. */
    ha_array *kept;
    /* with HARRAY_MPI_CHECK: */
    char *whole; /* signature and elements, as they are sent, or as they have arrived */
    size_t arrived;
    int trouble;                  /* MPI's code */
    struct ha_mpi_message_ *next; /* of those that are to be received, in order */
    /* Of the request of a collective, and nothing else here but the call is used; NULL: it is none. */
    struct ha_mpi_meeting *meeting;
} ha_mpi_message;

/* Whether it goes to or comes from nobody. */
HA_IN_ int ha_mpi_is_none(const ha_mpi_message *m) { return m->peer == MPI_PROC_NULL; }

/* is_brief: as of a side. On failure nothing is open, and there is nothing to end. */
HA_IN_ ha_status ha_mpi_message_of(ha_mpi_message *m, const ha_mpi_call *call,
                                   const ha_mpi_part *part, int sends, int peer, int tag,
                                   int is_brief) {
    m->call = *call;
    m->sends = sends;
    m->peer = peer;
    m->tag = tag;
    m->request = MPI_REQUEST_NULL;
    m->count = (ha_mpi_count){.type = MPI_BYTE};
    m->kept = NULL;
    m->whole = NULL;
    m->arrived = 0;
    m->trouble = 0;
    m->next = NULL;
    ha_status s = ha_mpi_enter(call);
    if (!s) s = ha_mpi_check_rank(call, peer, !sends);
    if (!s) s = ha_mpi_check_tag(call, tag, !sends);
    if (!s) s = ha_mpi_side_of(&m->side, part, sends ? HA_READ : HA_OVERWRITE, call);
    m->side.is_brief = is_brief;
    if (!s && !ha_mpi_is_none(m)) s = ha_mpi_side_open(&m->side, call);
    m->begun = ha_mpi_moment();
    return s;
}

/* ---- without checking ------------------------------------------------------------------------- */

/* at_once: MPI_Send or MPI_Recv, which have done it when they return; only then *status is set. */
HA_IN_ int ha_mpi_give(ha_mpi_message *m, int at_once, MPI_Status *status) {
    char *const data = m->side.data;
    const ha_mpi_count *n = &m->count;
    if (m->sends && at_once)
        return MPI_Send(data, n->number, n->type, m->peer, m->tag, m->call.comm);
    if (m->sends)
        return MPI_Isend(data, n->number, n->type, m->peer, m->tag, m->call.comm, &m->request);
    if (at_once) return MPI_Recv(data, n->number, n->type, m->peer, m->tag, m->call.comm, status);
    return MPI_Irecv(data, n->number, n->type, m->peer, m->tag, m->call.comm, &m->request);
}

HA_IN_ ha_status ha_mpi_message_count(ha_mpi_message *m) {
    const ha_mpi_side *side = &m->side;
    if (!side->is_in_rows) return ha_mpi_count_of(&m->count, side->units, side->base, &m->call);
    const int wrong = ha_mpi_count_rows(&m->count, &side->part.view, (int64_t)side->type.size,
                                        side->units / side->count, side->base);
    return ha_mpi_told(&m->call, wrong, "making a type");
}

HA_IN_ ha_status ha_mpi_begin(ha_mpi_message *m, int at_once, MPI_Status *status) {
    if (ha_mpi_is_none(m)) return HA_OK;
    ha_status s = ha_mpi_message_count(m);
    if (s) return s;
    return ha_mpi_told(&m->call, ha_mpi_give(m, at_once, status),
                       m->sends ? "sending" : "receiving");
}

/* Whether as many bytes have arrived as the view has. */
HA_IN_ ha_status ha_mpi_check_arrived(const ha_mpi_message *m, const MPI_Status *status) {
    MPI_Count bytes = 0;
    (void)MPI_Get_elements_x(status, MPI_BYTE, &bytes);
    if ((int64_t)bytes == m->side.size) return HA_OK;
    return ha_mpi_fail(
        HA_ERR_ARGUMENT, &m->call,
        "%lld bytes have come from rank %d with tag %d, where %lld elements of %s, %lld "
        "bytes, were to be received",
        (long long)bytes, status->MPI_SOURCE, status->MPI_TAG, (long long)m->side.count,
        m->side.type.name, (long long)m->side.size);
}

HA_IN_ void ha_mpi_count_message(const ha_mpi_message *m) {
    if (m->sends) {
        HA_MPI_MOVED_(messages_sent, 1);
        HA_MPI_MOVED_(bytes_sent, m->side.size);
    } else {
        HA_MPI_MOVED_(messages_received, 1);
        HA_MPI_MOVED_(bytes_received, m->side.size);
    }
    ha_mpi_note_message(&m->call, m->sends, m->peer, m->side.size, m->begun);
}

/* s: how it went so far. */
HA_IN_ ha_status ha_mpi_end(ha_mpi_message *m, ha_status s) {
    ha_status closed = ha_mpi_side_close(&m->side, !s && !ha_mpi_is_none(m), &m->call);
    ha_mpi_count_end(&m->count);
    if (!s && !ha_mpi_is_none(m)) ha_mpi_count_message(m);
    HARRAY_FREE(m->whole);
    m->whole = NULL;
    if (m->kept) HA_IGNORE(ha_array_free(m->kept));
    m->kept = NULL;
    return s ? s : closed;
}

/* MPI has returned `code`. */
HA_IN_ ha_status ha_mpi_completed(ha_mpi_message *m, int code, const MPI_Status *status) {
    ha_status s = ha_mpi_told(&m->call, code, m->sends ? "sending" : "receiving");
    if (!s && !m->sends && !ha_mpi_is_none(m)) {
        m->peer = status->MPI_SOURCE; /* it may have been any */
        s = ha_mpi_check_arrived(m, status);
    }
    return ha_mpi_end(m, s);
}

#endif
