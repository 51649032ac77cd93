/* Messages with HARRAY_MPI_CHECK: each begins with what its sender says of it, so that the receiver can tell what is
 * wrong with it before its elements are anywhere. MPI is asked only for what has come (MPI_Iprobe), so it never has
 * too short a buffer; and nobody waits for ever.
 *
 * What is to be received is on a list, in the order of the calls, and whoever waits for anything looks for all of it: so
 * messages find the same receives as without checking. */
#ifndef HARRAY_IMPL_MPI_CHECKED_H
#define HARRAY_IMPL_MPI_CHECKED_H

#include "message.h"

HA_STATE_ struct {
    pthread_mutex_t mutex;
    ha_mpi_message *first;
} ha_mpi_expected = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- the list --------------------------------------------------------------------------------- */

HA_IN_ void ha_mpi_expect(ha_mpi_message *m) {
    pthread_mutex_lock(&ha_mpi_expected.mutex);
    ha_mpi_message **end = &ha_mpi_expected.first;
    while (*end) end = &(*end)->next;
    *end = m;
    pthread_mutex_unlock(&ha_mpi_expected.mutex);
}

/* It need not be there. */
HA_IN_ void ha_mpi_expect_no_more(ha_mpi_message *m) {
    pthread_mutex_lock(&ha_mpi_expected.mutex);
    ha_mpi_message **at = &ha_mpi_expected.first;
    while (*at && *at != m) at = &(*at)->next;
    if (*at) *at = m->next;
    m->next = NULL;
    pthread_mutex_unlock(&ha_mpi_expected.mutex);
}

/* Whether a message could be for both. */
HA_IN_ int ha_mpi_compete(const ha_mpi_message *x, const ha_mpi_message *y) {
    return x->call.comm == y->call.comm &&
           (x->peer == y->peer || x->peer == MPI_ANY_SOURCE || y->peer == MPI_ANY_SOURCE) &&
           (x->tag == y->tag || x->tag == MPI_ANY_TAG || y->tag == MPI_ANY_TAG);
}

/* Whether nobody on the list before it could want the same. */
HA_IN_ int ha_mpi_is_next(const ha_mpi_message *m) {
    const ha_mpi_message *other = ha_mpi_expected.first;
    while (other != m && (other->whole || other->trouble || !ha_mpi_compete(other, m)))
        other = other->next;
    return other == m;
}

/* ---- receiving -------------------------------------------------------------------------------- */

/* Takes its message, if that has come: m->whole is it then. Without memory for it, it is left there for the next time. */
HA_IN_ int ha_mpi_take(ha_mpi_message *m) {
    MPI_Status status;
    MPI_Count bytes = 0;
    ha_mpi_count count;
    int found = 0, code = MPI_Iprobe(m->peer, m->tag, m->call.comm, &found, &status);
    if (code || !found) return code;
    (void)MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    char *whole = (char *)HARRAY_MALLOC((size_t)bytes + 1);
    if (!whole) return MPI_SUCCESS;
    code = ha_mpi_count_plainly(&count, (int64_t)bytes, MPI_BYTE);
    if (!code)
        code = MPI_Recv(whole, count.number, count.type, status.MPI_SOURCE, status.MPI_TAG,
                        m->call.comm, &status);
    ha_mpi_count_end(&count);
    if (code) {
        HARRAY_FREE(whole);
        return code;
    }
    m->whole = whole;
    m->arrived = (size_t)bytes;
    m->peer = status.MPI_SOURCE;
    m->tag = status.MPI_TAG;
    return MPI_SUCCESS;
}

/* Everything that has come. What goes wrong concerns the message that it was. */
HA_IN_ void ha_mpi_take_all(void) {
    pthread_mutex_lock(&ha_mpi_expected.mutex);
    for (ha_mpi_message *m = ha_mpi_expected.first; m; m = m->next)
        if (!m->whole && !m->trouble && ha_mpi_is_next(m)) m->trouble = ha_mpi_take(m);
    pthread_mutex_unlock(&ha_mpi_expected.mutex);
}

HA_IN_ ha_status ha_mpi_unlike(const ha_mpi_message *m, const ha_mpi_signature *theirs,
                               const ha_mpi_signature *ours) {
    return ha_mpi_fail(HA_ERR_ARGUMENT, &m->call,
                       "rank %d has sent %s with tag %d (%.60s), where %s was to be received",
                       m->peer, ha_mpi_show(theirs).text, m->tag, theirs->site,
                       ha_mpi_show(ours).text);
}

/* What has arrived becomes the elements, if it is what was expected. */
HA_IN_ ha_status ha_mpi_accept(ha_mpi_message *m) {
    ha_mpi_signature theirs, ours;
    ha_mpi_sign(&ours, &m->side, &m->call);
    if (m->arrived < sizeof theirs ||
        memcmp(m->whole, ha_mpi_magic,
               sizeof ha_mpi_magic)) /* MPI_Send, or a rank that does not check */
        return ha_mpi_fail(HA_ERR_ARGUMENT, &m->call,
                           "what has come from rank %d with tag %d was not sent by harray with "
                           "HARRAY_MPI_CHECK",
                           m->peer, m->tag);
    memcpy(&theirs, m->whole, sizeof theirs);
    ha_mpi_make_sound(&theirs);
    if (!ha_mpi_shapes_agree(&theirs, &ours) || m->arrived - sizeof theirs != (size_t)m->side.size)
        return ha_mpi_unlike(m, &theirs, &ours);
    if (m->side.size) memcpy(m->side.data, m->whole + sizeof theirs, m->arrived - sizeof theirs);
    return HA_OK;
}

/* ---- beginning and waiting -------------------------------------------------------------------- */

HA_IN_ ha_status ha_mpi_begin_checked(ha_mpi_message *m) {
    const int64_t bytes = (int64_t)sizeof(ha_mpi_signature) + m->side.size;
    ha_mpi_signature sign;
    if (ha_mpi_is_none(m)) return HA_OK;
    if (!m->sends) {
        ha_mpi_expect(m);
        return HA_OK;
    }
    ha_mpi_sign(&sign, &m->side, &m->call);
    m->whole = (char *)HARRAY_MALLOC((size_t)bytes);
    if (!m->whole) return ha_mpi_fail(HA_ERR_MEMORY, &m->call, "no memory for a message");
    memcpy(m->whole, &sign, sizeof sign);
    if (m->side.size) memcpy(m->whole + sizeof sign, m->side.data, (size_t)m->side.size);
    ha_status s = ha_mpi_count_of(&m->count, bytes, MPI_BYTE, &m->call);
    if (s) return s;
    return ha_mpi_told(&m->call,
                       MPI_Isend(m->whole, m->count.number, m->count.type, m->peer, m->tag,
                                 m->call.comm, &m->request),
                       "sending");
}

/* *done = whether it has been sent, or has come. The code is MPI's. */
HA_IN_ int ha_mpi_look(ha_mpi_message *m, int *done) {
    ha_mpi_take_all();
    *done = ha_mpi_is_none(m) || m->whole || m->trouble;
    if (!m->sends || ha_mpi_is_none(m)) return m->trouble;
    *done = 0;
    return MPI_Test(&m->request, done, MPI_STATUS_IGNORE);
}

/* It has. */
HA_IN_ ha_status ha_mpi_end_checked(ha_mpi_message *m, int code) {
    ha_status s = ha_mpi_told(&m->call, code, m->sends ? "sending" : "receiving");
    if (!m->sends) ha_mpi_expect_no_more(m);
    if (!s && !m->sends && !ha_mpi_is_none(m)) s = ha_mpi_accept(m);
    return ha_mpi_end(m, s);
}

/* A rank or a tag, or any. */
typedef struct ha_mpi_number {
    char text[16];
} ha_mpi_number;
HA_IN_ ha_mpi_number ha_mpi_number_of(int number, int any) {
    ha_mpi_number n;
    if (number == any)
        snprintf(n.text, sizeof n.text, "any");
    else
        snprintf(n.text, sizeof n.text, "%d", number);
    return n;
}

HA_IN_ ha_status ha_mpi_too_long(const ha_mpi_message *m) {
    ha_mpi_signature ours;
    ha_mpi_sign(&ours, &m->side, &m->call);
    return ha_mpi_fail(HA_ERR_STATE, &m->call,
                       "%s, %s rank %s, tag %s, has been waited for longer than the %d s of "
                       "HARRAY_MPI_CHECK",
                       ha_mpi_show(&ours).text, m->sends ? "to" : "from",
                       ha_mpi_number_of(m->peer, MPI_ANY_SOURCE).text,
                       ha_mpi_number_of(m->tag, MPI_ANY_TAG).text, ha_mpi_seconds());
}

/* HA_ERR_STATE, and *waits: it has taken too long, and goes on. */
HA_IN_ ha_status ha_mpi_wait_checked(ha_mpi_message *m, int *waits) {
    const double until = MPI_Wtime() + ha_mpi_seconds();
    int done = 0, code = ha_mpi_look(m, &done);
    *waits = 0;
    while (!code && !done && MPI_Wtime() < until) {
        sched_yield();
        code = ha_mpi_look(m, &done);
    }
    if (code || done) return ha_mpi_end_checked(m, code);
    *waits = 1;
    return ha_mpi_too_long(m);
}

/* Nobody waits for it any more. What is sent stays where it is, as MPI may still read it. */
HA_IN_ ha_status ha_mpi_abandon(ha_mpi_message *m, ha_status s) {
    if (m->sends && m->request != MPI_REQUEST_NULL) {
        (void)MPI_Request_free(&m->request);
        m->whole = NULL;
    }
    if (!m->sends) ha_mpi_expect_no_more(m);
    return ha_mpi_end(m, s);
}

#endif
