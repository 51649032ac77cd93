/* What harray_mpi.f90 calls, over harray_mpi.h: a Fortran program whose ranks exchange arrays is linked with
 * harray_fortran_mpi.c instead of harray_fortran.c. Communicators and operations are those of Fortran: integers of
 * `use mpi`, or the component MPI_VAL of `use mpi_f08`. Elements travel in Fortran's order, the first index fastest: so the
 * other side may be MPI_Recv of a plain array. All functions return a status, as those of harray_fortran.h. */
#ifndef HARRAY_FORTRAN_MPI_H
#define HARRAY_FORTRAN_MPI_H

#include "harray_mpi.h"

#include "harray_fortran.h"

#ifdef __cplusplus
extern "C" {
#endif

int ha_fortran_mpi_send(const ha_fortran_array *x, int to, int tag, MPI_Fint comm);
int ha_fortran_mpi_recv(const ha_fortran_array *x, int from, int tag, MPI_Fint comm);
int ha_fortran_mpi_exchange(const ha_fortran_array *out, int to, const ha_fortran_array *in,
                            int from, int tag, MPI_Fint comm);
int ha_fortran_mpi_bcast(const ha_fortran_array *x, int root, MPI_Fint comm);
int ha_fortran_mpi_allreduce(const ha_fortran_array *x, MPI_Fint op, MPI_Fint comm);

/* *halo is NULL when it is refused. Dimension 1 of the fields is the first one of the communicator. */
int ha_fortran_mpi_halo_new(ha_mpi_halo **halo, MPI_Fint comm, ha_context *at, int64_t width,
                            const ha_fortran_array *fields, int64_t count, int kind);
int ha_fortran_mpi_halo_rebind(ha_mpi_halo *halo, const ha_fortran_array *fields, int64_t count);
int ha_fortran_mpi_halo_start(ha_mpi_halo *halo);
int ha_fortran_mpi_halo_finish(ha_mpi_halo *halo);
void ha_fortran_mpi_halo_free(ha_mpi_halo *halo);

#ifdef __cplusplus
}
#endif
#endif
