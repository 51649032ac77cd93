/* Sending and receiving, at once or by a request, which is waited for in waiting.h. */
#ifndef HARRAY_IMPL_MPI_REQUESTS_H
#define HARRAY_IMPL_MPI_REQUESTS_H

#include "checked.h"

/* ---- waiting ---------------------------------------------------------------------------------- */

/* *waits: it goes on, and is kept. */
HA_IN_ ha_status ha_mpi_await(ha_mpi_message *m, int *waits) {
    MPI_Status status;
    *waits = 0;
    if (ha_mpi_seconds()) return ha_mpi_wait_checked(m, waits);
    if (ha_mpi_is_none(m)) return ha_mpi_end(m, HA_OK);
    return ha_mpi_completed(m, MPI_Wait(&m->request, &status), &status);
}

/* The same of one that nobody keeps. */
HA_IN_ ha_status ha_mpi_finish(ha_mpi_message *m) {
    int waits;
    ha_status s = ha_mpi_await(m, &waits);
    return waits ? ha_mpi_abandon(m, s) : s;
}

HA_IN_ ha_status ha_mpi_begin_any(ha_mpi_message *m) {
    return ha_mpi_seconds() ? ha_mpi_begin_checked(m) : ha_mpi_begin(m, 0, NULL);
}

/* ---- at once ---------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_mpi_run(const ha_mpi_call *call, const ha_mpi_part *part, int sends, int peer,
                            int tag) {
    ha_mpi_message m;
    MPI_Status status;
    ha_status s = ha_mpi_message_of(&m, call, part, sends, peer, tag, 1);
    if (s) return s;
    const int checked = ha_mpi_seconds() != 0;
    s = checked ? ha_mpi_begin_checked(&m) : ha_mpi_begin(&m, 1, &status);
    if (s) return ha_mpi_end(&m, s);
    return checked ? ha_mpi_finish(&m) : ha_mpi_completed(&m, MPI_SUCCESS, &status);
}

ha_status ha_mpi_send_(ha_mpi_part x, int to, int tag, MPI_Comm comm, const char *site) {
    HA_TELLS_EVENTS_;
    const ha_mpi_call call = {"ha_mpi_send", ha_from(site), comm};
    ha_status s = HA_OK;
    HA_FROM(call.site) s = ha_mpi_run(&call, &x, 1, to, tag);
    return s;
}

ha_status ha_mpi_recv_(ha_mpi_part x, int from, int tag, MPI_Comm comm, const char *site) {
    HA_TELLS_EVENTS_;
    const ha_mpi_call call = {"ha_mpi_recv", ha_from(site), comm};
    ha_status s = HA_OK;
    HA_FROM(call.site) s = ha_mpi_run(&call, &x, 0, from, tag);
    return s;
}

/* ---- by requests ------------------------------------------------------------------------------ */

/* It may be used. */
HA_IN_ ha_status ha_mpi_check_request(const ha_mpi_request *request, const ha_mpi_call *call) {
    if (request && !request->message) return HA_OK;
    return ha_mpi_fail(request ? HA_ERR_STATE : HA_ERR_ARGUMENT, call,
                       request ? "the request is in use: it has not been waited for"
                               : "no request");
}

HA_IN_ ha_status ha_mpi_start(ha_mpi_request *request, const ha_mpi_call *call,
                              const ha_mpi_part *part, int sends, int peer, int tag) {
    ha_status s = ha_mpi_check_request(request, call);
    if (s) return s;
    ha_mpi_message *m = (ha_mpi_message *)HARRAY_MALLOC(sizeof *m);
    if (!m) return ha_mpi_fail(HA_ERR_MEMORY, call, "no memory for a request");
    m->meeting = NULL;
    s = ha_mpi_message_of(m, call, part, sends, peer, tag, 0);
    if (!s) {
        if (!sends && m->side.buffer.array) m->kept = ha_array_retain(part->view.array);
        s = ha_mpi_begin_any(m);
        if (s) HA_IGNORE(ha_mpi_end(m, s));
    }
    if (s)
        HARRAY_FREE(m);
    else
        request->message = m;
    return s;
}

ha_status ha_mpi_isend_(ha_mpi_request *request, ha_mpi_part x, int to, int tag, MPI_Comm comm,
                        const char *site) {
    HA_TELLS_EVENTS_;
    const ha_mpi_call call = {"ha_mpi_isend", ha_from(site), comm};
    ha_status s = HA_OK;
    HA_FROM(call.site) s = ha_mpi_start(request, &call, &x, 1, to, tag);
    return s;
}

ha_status ha_mpi_irecv_(ha_mpi_request *request, ha_mpi_part x, int from, int tag, MPI_Comm comm,
                        const char *site) {
    HA_TELLS_EVENTS_;
    const ha_mpi_call call = {"ha_mpi_irecv", ha_from(site), comm};
    ha_status s = HA_OK;
    HA_FROM(call.site) s = ha_mpi_start(request, &call, &x, 0, from, tag);
    return s;
}

/* ---- both ------------------------------------------------------------------------------------- */

/* Both are open. What is sent is received by its rank, whatever happens here. */
HA_IN_ ha_status ha_mpi_cross_opened(ha_mpi_message *sent, ha_mpi_message *received) {
    ha_status in, out = ha_mpi_begin_any(sent);
    if (out) {
        HA_IGNORE(ha_mpi_end(received, out));
        return ha_mpi_end(sent, out);
    }
    in = ha_mpi_begin_any(received);
    out = ha_mpi_finish(sent);
    in = in ? ha_mpi_end(received, in) : ha_mpi_finish(received);
    return out ? out : in;
}

HA_IN_ ha_status ha_mpi_cross(const ha_mpi_call *call, const ha_mpi_part *out, int to,
                              const ha_mpi_part *in, int from, int tag) {
    ha_mpi_message sent, received;
    ha_status s = ha_mpi_message_of(&sent, call, out, 1, to, tag, 0);
    if (s) return s;
    s = ha_mpi_message_of(&received, call, in, 0, from, tag, 0);
    return s ? ha_mpi_end(&sent, s) : ha_mpi_cross_opened(&sent, &received);
}

ha_status ha_mpi_exchange_(ha_mpi_part out, int to, ha_mpi_part in, int from, int tag,
                           MPI_Comm comm, const char *site) {
    HA_TELLS_EVENTS_;
    const ha_mpi_call call = {"ha_mpi_exchange", ha_from(site), comm};
    ha_status s = HA_OK;
    HA_FROM(call.site) s = ha_mpi_cross(&call, &out, to, &in, from, tag);
    return s;
}

#endif
