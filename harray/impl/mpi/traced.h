/* Messages and collectives as events (instruments.h): which rank has sent what to which, and how long it took. */
#ifndef HARRAY_IMPL_MPI_TRACED_H
#define HARRAY_IMPL_MPI_TRACED_H

#include "library.h"

/* Now; 0: nobody listens. */
HA_IN_ uint64_t ha_mpi_moment(void) { return ha_is_listening() ? ha_now() : 0; }

/* What a rank of a communicator is called in MPI_COMM_WORLD; the same where it has no other name there. Of an
 * intercommunicator ranks are those of the other side. */
HA_IN_ int ha_mpi_rank_in_world(MPI_Comm comm, int rank) {
    MPI_Group group, world;
    int is_inter = 0, found = MPI_UNDEFINED;
    (void)MPI_Comm_test_inter(comm, &is_inter);
    if (is_inter ? MPI_Comm_remote_group(comm, &group) : MPI_Comm_group(comm, &group)) return rank;
    if (MPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        (void)MPI_Group_translate_ranks(group, 1, &rank, world, &found);
        (void)MPI_Group_free(&world);
    }
    (void)MPI_Group_free(&group);
    return found == MPI_UNDEFINED ? rank : found;
}

/* start 0: nobody has listened then. NULL: nobody listens. */
HA_IN_ ha_event_record *ha_mpi_event(const ha_mpi_call *call, const char *name, const char *at,
                                     int64_t bytes, uint64_t start) {
    ha_event_record *r = ha_record_add(HA_EVENT_MESSAGE, call->site, at);
    if (!r) return NULL;
    ha_text_copy(r->name, sizeof r->name, name);
    r->info.bytes = (uint64_t)bytes;
    if (start) r->info.start = start;
    return r;
}

/* One has been sent, or has come. */
HA_IN_ void ha_mpi_note_message(const ha_mpi_call *call, int sends, int peer, int64_t bytes,
                                uint64_t start) {
    int self = 0;
    char own[32], other[32];
    if (!ha_is_listening()) return;
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &self);
    snprintf(own, sizeof own, "rank %d", self);
    snprintf(other, sizeof other, "rank %d", ha_mpi_rank_in_world(call->comm, peer));
    ha_event_record *r = ha_mpi_event(call, sends ? "send" : "receive", sends ? other : own, bytes,
                                      start);
    if (r) ha_text_copy(r->from, sizeof r->from, sends ? own : other);
}

/* A collective is over: "ha_mpi_bcast" is a "bcast". */
HA_IN_ void ha_mpi_note_collective(const ha_mpi_call *call, int64_t bytes, uint64_t start) {
    (void)ha_mpi_event(call, call->operation + strlen("ha_mpi_"), "", bytes, start);
}

#endif
