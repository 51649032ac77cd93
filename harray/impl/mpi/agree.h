/* Collectives with HARRAY_MPI_CHECK: before anything is moved, all ranks say what they have been asked to do, and
 * all are told when that does not fit together. */
#ifndef HARRAY_IMPL_MPI_AGREE_H
#define HARRAY_IMPL_MPI_AGREE_H

#include "small_floats.h"

typedef struct ha_mpi_council {
    const ha_mpi_call *call;
    const ha_mpi_signature *mine;
    ha_mpi_signature *all; /* of every rank */
    const int64_t *counts; /* how many elements each rank has, where the caller says so */
    int ranks;
} ha_mpi_council;

/* Waits for all others, but not longer than is allowed. The table stays behind then, as MPI may still write it. */
HA_IN_ ha_status ha_mpi_hear_all(ha_mpi_council *council) {
    const ha_mpi_call *call = council->call;
    const double until = MPI_Wtime() + ha_mpi_seconds();
    const int bytes = (int)sizeof(ha_mpi_signature);
    MPI_Request request;
    int done = 0, code = MPI_Iallgather(council->mine, bytes, MPI_BYTE, council->all, bytes,
                                        MPI_BYTE, call->comm, &request);
    while (!code && !done && MPI_Wtime() < until) {
        code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        ha_mpi_take_all();
        sched_yield();
    }
    if (done && !code) return HA_OK;
    council->all =
        NULL; /* the request of a collective cannot be freed, so MPI may still write there */
    if (code) return ha_mpi_told(call, code, "comparing");
    return ha_mpi_fail(HA_ERR_STATE, call,
                       "not all ranks have come to it for longer than the %d s of HARRAY_MPI_CHECK",
                       ha_mpi_seconds());
}

/* What rank r has been asked to do is not what this rank has; NULL: it is. */
HA_IN_ const char *ha_mpi_objection(const ha_mpi_council *council, int r) {
    const ha_mpi_signature *theirs = &council->all[r], *mine = council->mine;
    const int64_t share = theirs->root >= 0 ? council->all[theirs->root].share : mine->share;
    if (theirs->status) return "it has failed";
    if (strcmp(theirs->operation, mine->operation)) return "it calls something else";
    if (theirs->root != mine->root) return "it has another root";
    if (strcmp(theirs->detail, mine->detail)) return "it has another operation";
    if (!ha_mpi_types_agree(theirs, mine)) return "it has another type";
    if (theirs->rank != mine->rank || memcmp(theirs->extent, mine->extent, sizeof mine->extent))
        return "it has other extents";
    if (council->counts && theirs->count != council->counts[r]) return "it has another count";
    if (!council->counts && share >= 0 && theirs->count != share) return "it has another count";
    return NULL;
}

HA_IN_ ha_status ha_mpi_object(const ha_mpi_council *council, int r, const char *objection) {
    const ha_mpi_signature *theirs = &council->all[r];
    return ha_mpi_fail(HA_ERR_ARGUMENT, council->call,
                       "rank %d does not fit: %s: %s of %s (%.60s); here it is %s", r, objection,
                       theirs->operation, ha_mpi_show(theirs).text, theirs->site,
                       ha_mpi_show(council->mine).text);
}

/* The same answer on all ranks, some of which may know more. */
HA_IN_ ha_status ha_mpi_vote(const ha_mpi_council *council, int against) {
    int first = 0;
    ha_status s = ha_mpi_told(
        council->call, MPI_Allreduce(&against, &first, 1, MPI_INT, MPI_MAX, council->call->comm),
        "comparing");
    if (s || !first) return s;
    if (against && council->mine->status) return (ha_status)council->mine->status;
    if (against) return ha_mpi_object(council, against - 1, ha_mpi_objection(council, against - 1));
    return ha_mpi_fail(HA_ERR_ARGUMENT, council->call,
                       "another rank says that rank %d does not fit", first - 1);
}

HA_IN_ ha_status ha_mpi_hold_council(ha_mpi_council *council) {
    int against = 0;
    ha_status s = ha_mpi_hear_all(council);
    for (int r = 0; r < council->ranks && !s && !against; r++)
        if (ha_mpi_objection(council, r)) against = r + 1;
    return s ? s : ha_mpi_vote(council, against);
}

/* s: whether this rank's part is sound, of which the others are told, too. Without checking it is returned. counts: NULL
 * where nobody says any. */
HA_IN_ ha_status ha_mpi_agree(const ha_mpi_call *call, const ha_mpi_signature *mine,
                              const int64_t *counts, ha_status s) {
    ha_mpi_council council = {.call = call, .counts = counts};
    if (!ha_mpi_seconds()) return s;
    (void)MPI_Comm_size(call->comm, &council.ranks);
    /* MPI reads it as long as it reads the table */
    ha_mpi_signature *table = (ha_mpi_signature *)HARRAY_MALLOC(((size_t)council.ranks + 1) *
                                                                sizeof *table);
    if (!table) return ha_mpi_fail(HA_ERR_MEMORY, call, "no memory to compare ranks");
    table[0] = *mine;
    table[0].status = (int32_t)s;
    council.mine = table;
    council.all = table + 1;
    ha_status agreed = ha_mpi_hold_council(&council);
    if (council.all) HARRAY_FREE(table);
    return s ? s : agreed;
}

/* The same once more when views have been opened: s. */
HA_IN_ ha_status ha_mpi_agree_on_opened(const ha_mpi_call *call, ha_status s) {
    int rank = 0, against, first = 0;
    if (!ha_mpi_seconds()) return s;
    (void)MPI_Comm_rank(call->comm, &rank);
    against = s ? rank + 1 : 0;
    ha_status told = ha_mpi_told(
        call, MPI_Allreduce(&against, &first, 1, MPI_INT, MPI_MAX, call->comm), "comparing");
    if (s || told || !first) return s ? s : told;
    return ha_mpi_fail(HA_ERR_ARGUMENT, call, "rank %d has failed to open its view", first - 1);
}

#endif
