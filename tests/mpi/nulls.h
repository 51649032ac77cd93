/* Every function of harray/mpi.h that takes a pointer, with NULL (tests/checks/test_null.py knows which there are). */
#ifndef HARRAY_TESTS_MPI_NULLS_H
#define HARRAY_TESTS_MPI_NULLS_H

#include "failures.h"

static void nothing_at_all(void) {
    const ha_mpi_part none = ha_mpi_fields_(NULL, NULL, ha_box1(0, 1));
    const int ring_size[1] = {ranks}, ring_period[1] = {1};
    ha_mpi_request request = {NULL};
    MPI_Comm ring;
    int done = 0;
    FAILS(HA_ERR_ARGUMENT, "no array", ha_mpi_send_(none, 0, 0, WORLD, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "no array", ha_mpi_recv_(none, 0, 0, WORLD, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "no array", ha_mpi_exchange_(none, 0, none, 0, 0, WORLD, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "no request", ha_mpi_isend_(NULL, none, 0, 0, WORLD, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "no request", ha_mpi_irecv_(NULL, none, 0, 0, WORLD, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "no requests", ha_mpi_wait_all_(NULL, 2, HA_SITE));
    SUCCEEDS(ha_mpi_wait_all_(NULL, 0, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "no request", ha_mpi_test_(NULL, &done, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "no place", ha_mpi_test_(&request, NULL, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "no array", ha_mpi_bcast_(NULL, 1, none, 0, WORLD, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "no array", ha_mpi_reduce_(NULL, 1, none, MPI_SUM, 0, WORLD, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "no array",
          ha_mpi_gather_(NULL, 1, none, none, NULL, 0, WORLD, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "no array",
          ha_mpi_scatter_(NULL, 1, none, none, NULL, 0, WORLD, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "no array", ha_mpi_alltoall_(NULL, 1, none, none, WORLD, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "no request", ha_mpi_bcast_(NULL, 0, none, 0, WORLD, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "path is NULL", ha_mpi_save_(none, NULL, NULL, WORLD, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "path is NULL", ha_mpi_load_(none, NULL, NULL, WORLD, HA_SITE));
    MPI_Cart_create(WORLD, 1, ring_size, ring_period, 0, &ring);
    IS_TRUE(!ha_mpi_halo_new_(ring, NULL, 1, NULL, sizeof none, 1, HA_MPI_FACES, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "no fields", HA_ERR_ARGUMENT);
    MPI_Comm_free(&ring);
    FAILS(HA_ERR_ARGUMENT, "no plan", ha_mpi_halo_start_(NULL, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "no plan", ha_mpi_halo_finish_(NULL, HA_SITE));
    FAILS(HA_ERR_ARGUMENT, "no plan", ha_mpi_halo_rebind_(NULL, NULL, sizeof none, 1, HA_SITE));
    ha_mpi_halo_free(NULL);
    IS_TRUE(strstr(ha_mpi_describe(NULL), "it is the host"));
    end_case("nothing at all");
}

#endif
