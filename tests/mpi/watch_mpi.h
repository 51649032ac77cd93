/* MPI as the tests see it, by its profiling interface: one call may fail, and it takes pointers of simulated devices where
 * HARRAY_MPI_GPU says so. Their memory cannot be touched at the addresses that users have: so MPI itself would crash,
 * and whoever gives such a pointer to an MPI that does not take it does crash. What the device has not done yet is not
 * waited for: with a delay (HARRAY_SIM) MPI would send what was there before. */
#ifndef HARRAY_TESTS_MPI_WATCH_MPI_H
#define HARRAY_TESTS_MPI_WATCH_MPI_H

#include <stdint.h>

/* How many calls are to succeed before one fails; -1: all. */
static int mpi_fails_at = -1, mpi_has_failed;
static int is_aware;                   /* HARRAY_MPI_GPU=yes */
static int is_checked;                 /* HARRAY_MPI_CHECK is set */
static unsigned long given_of_devices; /* how many pointers MPI got */

/* Nonzero once. */
static int mpi_fails_now(void) {
    if (mpi_fails_at < 0 || mpi_fails_at-- > 0) return 0;
    mpi_has_failed = 1;
    return 1;
}

static void mpi_arm(int after) {
    mpi_has_failed = 0;
    mpi_fails_at = after;
}

/* Where the bytes are. */
static void *reached(const void *data) {
    for (int i = 0; is_aware && i < ha_sim_shared.opened; i++) {
        const ha_queue *here = &ha_sim_shared.open[i]->here;
        if ((uintptr_t)data - here->first >= here->bytes) continue;
        given_of_devices++;
        return (void *)((uintptr_t)data + here->shift);
    }
    return (void *)(uintptr_t)data;
}

/* What fails has done nothing. */
#define WATCHED(name, parameters, arguments)                                                       \
    int MPI_##name parameters { return mpi_fails_now() ? MPI_ERR_OTHER : PMPI_##name arguments; }
/* But for what ends a message, which has arrived all the same. */
#define WATCHED_END(name, parameters, arguments)                                                   \
    int MPI_##name parameters {                                                                    \
        const int code = PMPI_##name arguments;                                                    \
        return mpi_fails_now() ? MPI_ERR_OTHER : code;                                             \
    }

WATCHED(Send, (const void *x, int n, MPI_Datatype t, int to, int tag, MPI_Comm comm),
        (reached(x), n, t, to, tag, comm))
WATCHED(Isend,
        (const void *x, int n, MPI_Datatype t, int to, int tag, MPI_Comm comm, MPI_Request *r),
        (reached(x), n, t, to, tag, comm, r))
WATCHED(Irecv, (void *x, int n, MPI_Datatype t, int from, int tag, MPI_Comm comm, MPI_Request *r),
        (reached(x), n, t, from, tag, comm, r))
WATCHED_END(Recv,
            (void *x, int n, MPI_Datatype t, int from, int tag, MPI_Comm comm, MPI_Status *status),
            (reached(x), n, t, from, tag, comm, status))
WATCHED_END(Wait, (MPI_Request * r, MPI_Status *status), (r, status))
/* It fails with what has come, too. */
int MPI_Test(MPI_Request *r, int *done, MPI_Status *status) {
    const int code = PMPI_Test(r, done, status);
    return !code && *done && mpi_fails_now() ? MPI_ERR_OTHER : code;
}
WATCHED(Bcast, (void *x, int n, MPI_Datatype t, int root, MPI_Comm comm),
        (reached(x), n, t, root, comm))
WATCHED(Allreduce, (const void *x, void *y, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),
        (x, y, n, t, op, comm))
WATCHED(Reduce, (const void *x, void *y, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm comm),
        (x, y, n, t, op, root, comm))
WATCHED(Gatherv,
        (const void *x, int n, MPI_Datatype t, void *y, const int *ns, const int *at,
         MPI_Datatype u, int root, MPI_Comm comm),
        (reached(x), n, t, reached(y), ns, at, u, root, comm))
WATCHED(Allgatherv,
        (const void *x, int n, MPI_Datatype t, void *y, const int *ns, const int *at,
         MPI_Datatype u, MPI_Comm comm),
        (reached(x), n, t, reached(y), ns, at, u, comm))
WATCHED(Scatterv,
        (const void *x, const int *ns, const int *at, MPI_Datatype t, void *y, int n,
         MPI_Datatype u, int root, MPI_Comm comm),
        (reached(x), ns, at, t, reached(y), n, u, root, comm))
WATCHED(Alltoall,
        (const void *x, int n, MPI_Datatype t, void *y, int k, MPI_Datatype u, MPI_Comm comm),
        (reached(x), n, t, reached(y), k, u, comm))
WATCHED(Ibcast, (void *x, int n, MPI_Datatype t, int root, MPI_Comm comm, MPI_Request *r),
        (reached(x), n, t, root, comm, r))
WATCHED(Iallreduce,
        (const void *x, void *y, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm, MPI_Request *r),
        (x, y, n, t, op, comm, r))
WATCHED(Ireduce,
        (const void *x, void *y, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm comm,
         MPI_Request *r),
        (x, y, n, t, op, root, comm, r))
WATCHED(Igatherv,
        (const void *x, int n, MPI_Datatype t, void *y, const int *ns, const int *at,
         MPI_Datatype u, int root, MPI_Comm comm, MPI_Request *r),
        (reached(x), n, t, reached(y), ns, at, u, root, comm, r))
WATCHED(Iallgatherv,
        (const void *x, int n, MPI_Datatype t, void *y, const int *ns, const int *at,
         MPI_Datatype u, MPI_Comm comm, MPI_Request *r),
        (reached(x), n, t, reached(y), ns, at, u, comm, r))
WATCHED(Iscatterv,
        (const void *x, const int *ns, const int *at, MPI_Datatype t, void *y, int n,
         MPI_Datatype u, int root, MPI_Comm comm, MPI_Request *r),
        (reached(x), ns, at, t, reached(y), n, u, root, comm, r))
WATCHED(Ialltoall,
        (const void *x, int n, MPI_Datatype t, void *y, int k, MPI_Datatype u, MPI_Comm comm,
         MPI_Request *r),
        (reached(x), n, t, reached(y), k, u, comm, r))
/* All ranks have come to a transfer: it is made, and then fails, or has moved nothing. */
static int mpi_transfer_fails, mpi_transfers_less;
static int collective_transfers; /* how many were made */
static int transferred(int code, MPI_Status *status) {
    if (mpi_transfers_less) MPI_Status_set_elements(status, MPI_BYTE, 0);
    return mpi_transfer_fails || mpi_fails_now() ? MPI_ERR_OTHER : code;
}
int MPI_File_write_all(MPI_File file, const void *x, int n, MPI_Datatype t, MPI_Status *status) {
    collective_transfers++;
    return transferred(PMPI_File_write_all(file, x, n, t, status), status);
}
int MPI_File_read_all(MPI_File file, void *x, int n, MPI_Datatype t, MPI_Status *status) {
    collective_transfers++;
    return transferred(PMPI_File_read_all(file, x, n, t, status), status);
}
int MPI_File_write_at(MPI_File file, MPI_Offset at, const void *x, int n, MPI_Datatype t,
                      MPI_Status *status) {
    return transferred(PMPI_File_write_at(file, at, x, n, t, status), status);
}
int MPI_File_read_at(MPI_File file, MPI_Offset at, void *x, int n, MPI_Datatype t,
                     MPI_Status *status) {
    return transferred(PMPI_File_read_at(file, at, x, n, t, status), status);
}
WATCHED(File_open, (MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file),
        (comm, path, mode, info, file))
WATCHED(File_set_view,
        (MPI_File file, MPI_Offset at, MPI_Datatype t, MPI_Datatype u, const char *how,
         MPI_Info info),
        (file, at, t, u, how, info))
WATCHED_END(File_close, (MPI_File * file), (file))
WATCHED(Allgather,
        (const void *x, int n, MPI_Datatype t, void *y, int k, MPI_Datatype u, MPI_Comm comm),
        (x, n, t, y, k, u, comm))
WATCHED(Type_create_subarray,
        (int n, const int *all, const int *part, const int *at, int order, MPI_Datatype t,
         MPI_Datatype *made),
        (n, all, part, at, order, t, made))
WATCHED(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
WATCHED(Cart_get, (MPI_Comm comm, int n, int *size, int *is_periodic, int *at),
        (comm, n, size, is_periodic, at))
WATCHED(Type_contiguous, (int n, MPI_Datatype t, MPI_Datatype *made), (n, t, made))
int MPI_Type_create_hvector(int n, int length, MPI_Aint step, MPI_Datatype t, MPI_Datatype *made) {
    if (mpi_fails_now()) return MPI_ERR_OTHER;
    rows_types++;
    return PMPI_Type_create_hvector(n, length, step, t, made);
}
int MPI_Type_free(MPI_Datatype *t) {
    int integers, addresses, types, how;
    PMPI_Type_get_envelope(*t, &integers, &addresses, &types, &how);
    rows_types -= how == MPI_COMBINER_HVECTOR;
    return PMPI_Type_free(t);
}
WATCHED(Type_commit, (MPI_Datatype * made), (made))
WATCHED(Type_create_struct,
        (int n, const int *ns, const MPI_Aint *at, const MPI_Datatype *t, MPI_Datatype *made),
        (n, ns, at, t, made))
WATCHED(Op_create, (MPI_User_function * f, int commutes, MPI_Op *made), (f, commutes, made))

#endif
