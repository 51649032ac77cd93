/* What handlers of events are told of messages and collectives: who, whom, how much and when. */
#ifndef HARRAY_TESTS_MPI_TOLD_H
#define HARRAY_TESTS_MPI_TOLD_H

#include "ranks.h"

typedef struct told_message {
    char name[16], from[16], at[16];
    uint64_t bytes, start, end;
} told_message;
static told_message told[8];
static int told_messages;

static void hear(const ha_event_info *e, void *user) {
    (void)user;
    if (e->kind != HA_EVENT_MESSAGE || told_messages == 8) return;
    told_message *m = &told[told_messages++];
    snprintf(m->name, sizeof m->name, "%s", e->name);
    snprintf(m->from, sizeof m->from, "%s", e->from);
    snprintf(m->at, sizeof m->at, "%s", e->at);
    m->bytes = e->bytes;
    m->start = e->start;
    m->end = e->end;
    IS_TRUE(strstr(e->site, "told.h:"));
}

/* from, to: ranks of the world; -1: a collective. It lies between two times. */
static void is_told(int i, const char *name, int from, int to, uint64_t bytes, uint64_t begin,
                    uint64_t end) {
    char from_text[16] = "", to_text[16] = "";
    const told_message *m = &told[i];
    if (from >= 0) snprintf(from_text, sizeof from_text, "rank %d", from);
    if (to >= 0) snprintf(to_text, sizeof to_text, "rank %d", to);
    if (i >= told_messages || strcmp(m->name, name) || strcmp(m->from, from_text) ||
        strcmp(m->at, to_text) || m->bytes != bytes)
        complain(__LINE__, "%s from %s to %s was not told, but %s from %s to %s, %llu bytes", name,
                 from_text, to_text, m->name, m->from, m->at, (unsigned long long)m->bytes);
    IS_TRUE(begin <= m->start && m->start <= m->end && m->end <= end);
}

/* In a communicator in which ranks are called otherwise, and from any of them. */
static void told_of_messages(void) {
    enum { N = 10, BYTES = N * (int)sizeof(double) };
    const int next = (me + ranks - 1) % ranks, before = (me + 1) % ranks; /* in the world */
    array_double_1 x = array_double_1_filled(HA_DIM(N), me, places[1]);
    array_double_1 y = array_double_1_zeros(HA_DIM(N), places[1]);
    ha_mpi_request request = {NULL};
    MPI_Comm backwards;
    int rank = 0;
    MPI_Comm_split(WORLD, 0, -me, &backwards);
    MPI_Comm_rank(backwards, &rank);
    told_messages = 0;
    ha_set_event_handler(hear, NULL);
    const uint64_t begin = ha_now();
    SUCCEEDS(ha_mpi_isend(&request, x, (rank + 1) % ranks, 1, backwards));
    SUCCEEDS(ha_mpi_recv(y, MPI_ANY_SOURCE, 1, backwards));
    SUCCEEDS(ha_mpi_wait(&request));
    SUCCEEDS(ha_mpi_recv(y, MPI_PROC_NULL, 1, backwards)); /* is none */
    SUCCEEDS(ha_mpi_bcast(x, 0, backwards));
    SUCCEEDS(ha_mpi_allreduce(x, MPI_SUM, backwards));
    SUCCEEDS(ha_mpi_ibcast(&request, x, 0, backwards));
    SUCCEEDS(ha_mpi_wait(&request));
    const uint64_t end = ha_now();
    ha_set_event_handler(NULL, NULL);
    IS_TRUE(told_messages == 5);
    is_told(0, "receive", before, me, BYTES, begin, end);
    is_told(1, "send", me, next, BYTES, begin, end);
    is_told(2, "bcast", -1, -1, BYTES, begin, end);
    is_told(3, "allreduce", -1, -1, BYTES, begin, end);
    is_told(4, "ibcast", -1, -1, BYTES, begin, end);
    IS_TRUE(told[1].start <= told[0].end && told[2].start >= told[1].end);
    MPI_Comm_free(&backwards);
    SUCCEEDS(array_double_1_free(&x));
    SUCCEEDS(array_double_1_free(&y));
    end_case("what handlers of events are told");
}

#endif
