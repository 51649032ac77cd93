/* Waiting for requests: of messages, and of collectives. */
#ifndef HARRAY_IMPL_MPI_WAITING_H
#define HARRAY_IMPL_MPI_WAITING_H

#include "meetings.h"

/* MPI has returned `code`. */
HA_IN_ ha_status ha_mpi_meeting_is_over(ha_mpi_meeting *meeting, int code) {
    return ha_mpi_adjourn(meeting, ha_mpi_told(&meeting->call, code, "waiting"));
}

/* All ranks have come to it, so with HARRAY_MPI_CHECK, too, it comes to its end. */
HA_IN_ ha_status ha_mpi_await_meeting(ha_mpi_meeting *meeting) {
    return ha_mpi_meeting_is_over(meeting, ha_mpi_await_requests(meeting));
}

HA_IN_ ha_status ha_mpi_try_meeting(ha_mpi_meeting *meeting, int *done) {
    int code = MPI_SUCCESS;
    *done = 1;
    for (int i = 0; i < meeting->requests && *done && !code; i++) /* those that are over are none */
        code = MPI_Test(&meeting->request[i], done, MPI_STATUS_IGNORE);
    if (code) (void)ha_mpi_await_requests(meeting);
    *done |= code != MPI_SUCCESS;
    return *done ? ha_mpi_meeting_is_over(meeting, code) : HA_OK;
}

/* ---- waiting ---------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_mpi_wait_one(ha_mpi_request *request, const ha_mpi_call *call) {
    ha_mpi_message *m = request->message;
    int waits = 0;
    ha_status s = HA_OK;
    if (!m) return HA_OK;
    s = ha_mpi_enter(call);
    if (s) return s;
    HA_FROM(m->call.site)
    s = m->meeting ? ha_mpi_await_meeting(m->meeting) : ha_mpi_await(m, &waits);
    if (waits) return s;
    request->message = NULL;
    HARRAY_FREE(m);
    return s;
}

ha_status ha_mpi_wait_all_(ha_mpi_request *requests, size_t count, const char *site) {
    HA_TELLS_EVENTS_;
    const ha_mpi_call call = {"ha_mpi_wait", ha_from(site), MPI_COMM_SELF};
    ha_status first = HA_OK;
    if (!requests && count) return ha_mpi_fail(HA_ERR_ARGUMENT, &call, "no requests");
    for (size_t i = 0; i < count; i++) {
        ha_status s = ha_mpi_wait_one(&requests[i], &call);
        if (!first) first = s;
    }
    return first;
}

/* ---- asking ----------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_mpi_try(ha_mpi_message *m, int *done) {
    MPI_Status status;
    if (m->meeting) return ha_mpi_try_meeting(m->meeting, done);
    if (ha_mpi_seconds()) {
        const int code = ha_mpi_look(m, done);
        *done |= code != MPI_SUCCESS;
        return *done ? ha_mpi_end_checked(m, code) : HA_OK;
    }
    if (ha_mpi_is_none(m)) {
        *done = 1;
        return ha_mpi_end(m, HA_OK);
    }
    const int code = MPI_Test(&m->request, done, &status);
    *done |= code != MPI_SUCCESS;
    return *done ? ha_mpi_completed(m, code, &status) : HA_OK;
}

ha_status ha_mpi_test_(ha_mpi_request *request, int *done, const char *site) {
    HA_TELLS_EVENTS_;
    const ha_mpi_call call = {"ha_mpi_test", ha_from(site), MPI_COMM_SELF};
    if (!request || !done)
        return ha_mpi_fail(HA_ERR_ARGUMENT, &call,
                           request ? "no place for the answer" : "no request");
    *done = !request->message;
    if (*done) return HA_OK;
    ha_status s = ha_mpi_enter(&call);
    if (s) return s;
    HA_FROM(request->message->call.site) s = ha_mpi_try(request->message, done);
    if (!*done) return s;
    HARRAY_FREE(request->message);
    request->message = NULL;
    return s;
}

#endif
