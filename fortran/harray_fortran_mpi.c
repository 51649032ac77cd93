/* The C side of harray_mpi.f90, and of harray.f90: with HARRAY_IMPLEMENTATION it is the program's one file that has the
 * implementation, too. */
#include "harray_fortran_mpi.h"

#include "harray_fortran.c"

_Static_assert(HA_MPI_CORNERS == 0 && HA_MPI_FACES == 1 && HA_MPI_AT_ONCE == 2,
               "module harray_mpi: kinds of halos");

/* Of a handle that is none yet, before MPI_Init, what is called says so. */
static MPI_Comm comm_of(MPI_Fint comm) {
    int is_there = 0;
    (void)MPI_Initialized(&is_there);
    return is_there ? MPI_Comm_f2c(comm) : MPI_COMM_NULL;
}

/* The elements in Fortran's order. There is an array. */
static ha_mpi_part in_order(const ha_fortran_array *x) {
    const darray turned = darray_transpose_(x->x, NULL);
    return HA_MPI_PART_(turned);
}

/* ---- messages and collectives --------------------------------------------------------------------- */

int ha_fortran_mpi_send(const ha_fortran_array *x, int to, int tag, MPI_Fint comm) {
    if (is_none(x)) return HA_ERR_STATE;
    return told(ha_mpi_send_(in_order(x), to, tag, comm_of(comm), "send in Fortran"));
}

int ha_fortran_mpi_recv(const ha_fortran_array *x, int from, int tag, MPI_Fint comm) {
    if (is_none(x)) return HA_ERR_STATE;
    return told(ha_mpi_recv_(in_order(x), from, tag, comm_of(comm), "recv in Fortran"));
}

int ha_fortran_mpi_exchange(const ha_fortran_array *out, int to, const ha_fortran_array *in,
                            int from, int tag, MPI_Fint comm) {
    if (is_none(out) || is_none(in)) return HA_ERR_STATE;
    return told(ha_mpi_exchange_(in_order(out), to, in_order(in), from, tag, comm_of(comm),
                                 "exchange in Fortran"));
}

int ha_fortran_mpi_bcast(const ha_fortran_array *x, int root, MPI_Fint comm) {
    if (is_none(x)) return HA_ERR_STATE;
    return told(ha_mpi_bcast_(NULL, 1, in_order(x), root, comm_of(comm), "bcast in Fortran"));
}

int ha_fortran_mpi_allreduce(const ha_fortran_array *x, MPI_Fint op, MPI_Fint comm) {
    if (is_none(x)) return HA_ERR_STATE;
    return told(ha_mpi_reduce_(NULL, 1, in_order(x), MPI_Op_f2c(op), HA_MPI_NO_ROOT_, comm_of(comm),
                               "allreduce in Fortran"));
}

/* ---- halos ---------------------------------------------------------------------------------------- */

/* The arrays of the fields, to be freed; NULL: there is no memory. What is no array is refused by all ranks. */
static darray *list_of(const ha_fortran_array *fields, int64_t count) {
    darray *list = (darray *)malloc(((size_t)count + 1) * sizeof *list);
    for (int64_t i = 0; i < count && list; i++) list[i] = fields[i].x;
    return list;
}

int ha_fortran_mpi_halo_new(ha_mpi_halo **halo, MPI_Fint comm, ha_context *at, int64_t width,
                            const ha_fortran_array *fields, int64_t count, int kind) {
    if (*halo)
        return refused(HA_ERR_STATE, NULL, "this variable has a plan already: free it first");
    darray *list = list_of(fields, count);
    *halo = ha_mpi_halo_new_(comm_of(comm), at, width, list, sizeof *list, (size_t)count, kind,
                             "halo in Fortran");
    free(list);
    return *halo ? HA_OK : failed();
}

int ha_fortran_mpi_halo_rebind(ha_mpi_halo *halo, const ha_fortran_array *fields, int64_t count) {
    darray *list = list_of(fields, count);
    const ha_status status = ha_mpi_halo_rebind_(halo, list, sizeof *list, (size_t)count,
                                                 "halo in Fortran");
    free(list);
    return told(status);
}

int ha_fortran_mpi_halo_start(ha_mpi_halo *halo) {
    return told(ha_mpi_halo_start_(halo, "halo in Fortran"));
}

int ha_fortran_mpi_halo_finish(ha_mpi_halo *halo) {
    return told(ha_mpi_halo_finish_(halo, "halo in Fortran"));
}

void ha_fortran_mpi_halo_free(ha_mpi_halo *halo) { ha_mpi_halo_free(halo); }
