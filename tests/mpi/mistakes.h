/* What is wrong is told, on the ranks that need to know, and nobody waits for ever. */
#ifndef HARRAY_TESTS_MPI_MISTAKES_H
#define HARRAY_TESTS_MPI_MISTAKES_H

#include "moved.h"
#include <pthread.h>

/* ---- on one rank ------------------------------------------------------------------------------ */

static void without_mpi(const char *when) {
    array_double_1 x = array_double_1_zeros(HA_DIM(3), ha_host());
    ha_mpi_request request = {NULL};
    FAILS(HA_ERR_STATE, "MPI is not there", ha_mpi_send(x, 0, 0, WORLD));
    FAILS(HA_ERR_STATE, "MPI is not there", ha_mpi_irecv(&request, x, 0, 0, WORLD));
    FAILS(HA_ERR_STATE, "MPI is not there", ha_mpi_allreduce(x, MPI_SUM, WORLD));
    IS_TRUE(!request.message);
    SUCCEEDS(ha_mpi_wait(&request)); /* there is none */
    SUCCEEDS(array_double_1_free(&x));
    if (failures) fprintf(stderr, "# %s\n", when);
}

static void *call_elsewhere(void *argument) {
    FAILS(HA_ERR_STATE, "main thread only", ha_mpi_send(*(darray *)argument, me, 0, WORLD));
    return NULL;
}

static void wrong_arguments(void) {
    array_double_2 x = array_double_2_zeros(HA_DIM(3, 4), places[1]);
    array_double_2 empty = array_double_2_new(HA_DIM(3, 4), ha_host());
    darray any = HA_DARRAY(x),
           repeated = darray_broadcast(darray_fix(any, 0, 0), 2, (int64_t[]){3, 4});
    ha_mpi_request request = {NULL};
    FAILS(HA_ERR_ARGUMENT, "MPI_COMM_NULL", ha_mpi_send(x, 0, 0, MPI_COMM_NULL));
    FAILS(HA_ERR_ARGUMENT, "no rank 99", ha_mpi_send(x, 99, 0, WORLD));
    FAILS(HA_ERR_ARGUMENT, "no rank", ha_mpi_send(x, MPI_ANY_SOURCE, 0, WORLD));
    FAILS(HA_ERR_ARGUMENT, "-5 is no tag", ha_mpi_recv(x, 0, -5, WORLD));
    FAILS(HA_ERR_ARGUMENT, "repeats elements", ha_mpi_recv(repeated, 0, 0, WORLD));
    FAILS(HA_ERR_ARGUMENT, "repeats elements", ha_mpi_allreduce(repeated, MPI_SUM, WORLD));
    FAILS(HA_ERR_ARGUMENT, "no request", ha_mpi_irecv((ha_mpi_request *)NULL, x, 0, 0, WORLD));
    FAILS(HA_ERR_STATE, "never written", ha_mpi_send(empty, 0, 0, WORLD));
    FAILS(HA_ERR_STATE, "never written", ha_mpi_send(array_double_2_transpose(empty), 0, 0, WORLD));
    FAILS(HA_ERR_ARGUMENT, "no rank 7",
          ha_mpi_reduce(x, MPI_SUM, 7 + ranks - ranks, MPI_COMM_SELF));
    FAILS(HA_ERR_ARGUMENT, "no rank -1", ha_mpi_bcast(x, -1, WORLD));
    SUCCEEDS(ha_mpi_isend(&request, x, MPI_PROC_NULL, 0, WORLD));
    FAILS(HA_ERR_STATE, "in use", ha_mpi_isend(&request, x, MPI_PROC_NULL, 0, WORLD));
    SUCCEEDS(ha_mpi_wait(&request));
    SUCCEEDS(ha_mpi_recv(empty, MPI_PROC_NULL, 0, WORLD)); /* nothing happens */
    FAILS(HA_ERR_STATE, "never written", ha_mpi_send(empty, me, 0, WORLD));
    pthread_t thread;
    IS_TRUE(!pthread_create(&thread, NULL, call_elsewhere, &any));
    IS_TRUE(!pthread_join(thread, NULL));
    SUCCEEDS(array_double_2_free(&x));
    FAILS(HA_ERR_ARGUMENT, "no array", ha_mpi_send(x, 0, 0, WORLD));
    SUCCEEDS(array_double_2_free(&empty));
    end_case("arguments that make no sense");
}

static void wrong_fields(void) {
    particles r = particles_new(HA_DIM(3, 4));
    FAILS(HA_ERR_ARGUMENT, "no field 'speed'",
          ha_mpi_send(HA_MPI_FIELDS(r.records, "pos+speed", ha_box2(0, 3, 0, 4)), 0, 0, WORLD));
    FAILS(HA_ERR_ARGUMENT, "no field ''",
          ha_mpi_send(HA_MPI_FIELDS(r.records, "pos+", ha_box2(0, 3, 0, 4)), 0, 0, WORLD));
    FAILS(HA_ERR_ARGUMENT, "[0, 5) of dimension 1",
          ha_mpi_recv(HA_MPI_FIELDS(r.records, NULL, ha_box2(0, 3, 0, 5)), 0, 0, WORLD));
    FAILS(HA_ERR_STATE, "never written",
          ha_mpi_send(HA_MPI_FIELDS(r.records, "kind", ha_box2(0, 3, 0, 4)), 0, 0, WORLD));
    FAILS(HA_ERR_ARGUMENT, "cannot be reduced",
          ha_mpi_allreduce(HA_MPI_FIELDS(r.records, "kind", ha_box2(0, 3, 0, 4)), MPI_SUM,
                           MPI_COMM_SELF));
    particles_free(&r);
    end_case("fields that make no sense");
}

/* With itself. */
static void wrong_shares(void) {
    const MPI_Comm self = MPI_COMM_SELF;
    const int64_t negative[] = {-1}, more[] = {7}, less[] = {4};
    array_double_1 all = array_double_1_zeros(HA_DIM(5), ha_host());
    array_double_1 part = array_double_1_zeros(HA_DIM(5), ha_host());
    array_double_1 some = array_double_1_slice(part, 0, 0, 4, 1);
    array_double_1 many = array_double_1_zeros(HA_DIM(2000), ha_host());
    array_half_1 halves = array_half_1_zeros(HA_DIM(5), ha_host());
    darray floats = darray_zeros(HA_DTYPE_float, 1, (int64_t[]){5}, ha_host());
    darray longs = darray_zeros(HA_DTYPE_int64_t, 1, (int64_t[]){5}, ha_host());
    FAILS(HA_ERR_ARGUMENT, "the counts", ha_mpi_gather(all, part, negative, 0, self));
    FAILS(HA_ERR_ARGUMENT, "the counts", ha_mpi_gather(all, part, more, 0, self));
    FAILS(HA_ERR_ARGUMENT, "the counts of 1 ranks", ha_mpi_gather(all, part, less, 0, self));
    FAILS(HA_ERR_ARGUMENT, "of float, the whole", ha_mpi_gather(all, floats, NULL, 0, self));
    FAILS(HA_ERR_ARGUMENT, "of int64_t, the whole", ha_mpi_allgather(all, longs, NULL, self));
    FAILS(HA_ERR_ARGUMENT, "another share", ha_mpi_scatter(some, all, NULL, 0, self));
    FAILS(HA_ERR_UNSUPPORTED, "counts in ints", ha_mpi_gather(many, part, NULL, 0, self));
    FAILS(HA_ERR_UNSUPPORTED, "counts in ints", ha_mpi_gather(all, many, NULL, 0, self));
    FAILS(HA_ERR_ARGUMENT, "cannot become", ha_mpi_alltoall(floats, part, self));
    FAILS(HA_ERR_ARGUMENT, "cannot become", ha_mpi_alltoall(longs, part, self));
    FAILS(HA_ERR_ARGUMENT, "cannot become", ha_mpi_alltoall(all, some, self));
    FAILS(HA_ERR_ARGUMENT, "cannot become", ha_mpi_alltoall(many, many, self));
    FAILS(HA_ERR_ARGUMENT, "MPI_SUM, MPI_PROD", ha_mpi_allreduce(halves, MPI_LAND, self));
    SUCCEEDS(darray_free(&floats));
    SUCCEEDS(darray_free(&longs));
    SUCCEEDS(array_half_1_free(&halves));
    SUCCEEDS(array_double_1_free(&all));
    SUCCEEDS(array_double_1_free(&part));
    SUCCEEDS(array_double_1_free(&many));
    end_case("shares that make no sense");
}

/* What is under way is open. */
static void arrays_in_use(void) {
    const int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
    array_double_2 x = array_double_2_zeros(HA_DIM(4, 5), ha_host());
    array_double_2 low = array_double_2_slice(x, 0, 0, 2, 1);
    array_double_2 column = array_double_2_slice(x, 1, 0, 1, 1);
    ha_mpi_request out = {NULL}, in = {NULL};
    ha_write_double_2 v;
    SUCCEEDS(ha_mpi_isend(&out, low, right, 1, WORLD)); /* in place */
    FAILS(HA_ERR_CONFLICT, "", ha_open_view(&v, low, ha_host(), HA_WRITE));
    FAILS(HA_ERR_CONFLICT, "", ha_mpi_irecv(&in, low, left, 1, WORLD));
    IS_TRUE(!in.message);
    SUCCEEDS(ha_mpi_irecv(&in, array_double_2_slice(x, 0, 2, 4, 1), left, 1, WORLD));
    SUCCEEDS(ha_mpi_wait(&out));
    SUCCEEDS(ha_mpi_wait(&in));
    FAILS(HA_ERR_CONFLICT, "", ha_mpi_exchange(low, right, low, left, 1, WORLD));
    SUCCEEDS(ha_mpi_isend(&out, column, right, 2, WORLD)); /* packed: it is free at once */
    SUCCEEDS(ha_mpi_exchange(column, right, column, left, 3, WORLD));
    SUCCEEDS(ha_mpi_recv(column, left, 2, WORLD));
    SUCCEEDS(ha_mpi_wait(&out));
    SUCCEEDS(array_double_2_free(&x));
    end_case("arrays in use");
}

/* A request keeps what it will be unpacked into, and a plan its fields, and those in their places. */
static void arrays_that_were_freed(void) {
    int size[1] = {1}, is_periodic[1] = {0};
    MPI_Comm alone;
    ha_mpi_request in = {NULL};
    array_double_2 x = array_double_2_zeros(HA_DIM(4, 5), ha_host());
    SUCCEEDS(ha_mpi_irecv(&in, array_double_2_fix(x, 1, 2), me, 1, MPI_COMM_WORLD));
    SUCCEEDS(array_double_2_free(&x));
    x = array_double_2_filled(HA_DIM(4, 5), 3, ha_host()); /* where the other one was */
    SUCCEEDS(ha_mpi_send(array_double_2_fix(x, 1, 1), me, 1, MPI_COMM_WORLD));
    SUCCEEDS(ha_mpi_wait(&in));
    for (is_periodic[0] = 0; is_periodic[0] < 2; is_periodic[0]++) {
        MPI_Cart_create(MPI_COMM_SELF, 1, size, is_periodic, 0, &alone);
        array_double_1 y = array_double_1_filled(HA_DIM(6), 1, ha_host());
        array_double_1 z = array_double_1_filled(HA_DIM(6), 2, ha_host());
        const darray first = HA_DARRAY(y), second = HA_DARRAY(z);
        ha_mpi_halo *halo = ha_mpi_halo_new(alone, NULL, 1, &first, 1, HA_MPI_FACES);
        SUCCEEDS(array_double_1_free(&y));
        SUCCEEDS(ha_mpi_halo_rebind(halo, &second, 1));
        SUCCEEDS(array_double_1_free(&z));
        y = array_double_1_zeros(HA_DIM(3), ha_host());
        SUCCEEDS(ha_mpi_halo_start(halo));
        SUCCEEDS(ha_mpi_halo_finish(halo));
        ha_mpi_halo_free(halo);
        SUCCEEDS(array_double_1_free(&y));
        MPI_Comm_free(&alone);
    }
    SUCCEEDS(array_double_2_free(&x));
    end_case("arrays that were freed");
}

/* ---- messages that do not fit ------------------------------------------------------------------ */

/* The last two ranks have nothing to do with it, where there are more. */
static void messages_that_do_not_fit(void) {
    array_float_1 x = array_float_1_filled(HA_DIM(40), 7, ha_host());
    array_float_1 some = array_float_1_slice(x, 0, 0, 20, 1),
                  spaced = array_float_1_slice(x, 0, 0, 40, 2);
    MPI_Errhandler usual;
    MPI_Comm_get_errhandler(WORLD, &usual);
    if (!is_checked) MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    const char *const shorter = is_checked ? "rank 0 has sent 10 of float"
                                           : "40 bytes have come from rank 0";
    const char *const longer = is_checked ? "rank 0 has sent 40 of float" : "receiving failed";
    if (me == 0) {
        SUCCEEDS(ha_mpi_send(array_float_1_slice(x, 0, 0, 10, 1), 1, 3, WORLD));
        SUCCEEDS(ha_mpi_send(array_float_1_slice(x, 0, 0, 10, 1), 1, 3, WORLD));
        SUCCEEDS(ha_mpi_send(x, 1, 4, WORLD));
    } else if (me == 1) {
        FAILS(HA_ERR_ARGUMENT, shorter, ha_mpi_recv(some, 0, 3, WORLD));
        SUCCEEDS(array_float_1_fill(x, 8, ha_host()));
        FAILS(HA_ERR_ARGUMENT, shorter, ha_mpi_recv(spaced, 0, 3, WORLD));
        FAILS(HA_ERR_ARGUMENT, longer, ha_mpi_recv(spaced, 0, 4, WORLD));
        float value = 0;
        SUCCEEDS(array_float_1_get(x, HA_DIM(2), &value));
        IS_TRUE(value == 8); /* it was not received in place */
    }
    MPI_Comm_set_errhandler(WORLD, usual);
    MPI_Errhandler_free(&usual);
    SUCCEEDS(array_float_1_free(&x));
    end_case("messages that do not fit");
}

/* ---- with HARRAY_MPI_CHECK --------------------------------------------------------------------- */

static void types_that_differ(void) {
    array_double_2 x = array_double_2_zeros(HA_DIM(3, 4), ha_host());
    array_double_2 turned = array_double_2_zeros(HA_DIM(4, 3), ha_host());
    darray longs = darray_zeros(HA_DTYPE_int64_t, 2, (int64_t[]){3, 4}, ha_host());
    if (me == 0) {
        SUCCEEDS(ha_mpi_send(x, 1, 1, WORLD));
        SUCCEEDS(ha_mpi_send(x, 1, 1, WORLD));
        SUCCEEDS(ha_mpi_send(array_double_2_fix(x, 0, 1), 1, 1, WORLD)); /* another rank is fine */
        const double plain = 1;
        MPI_Send(&plain, 1, MPI_DOUBLE, 1, 1, WORLD);
    } else if (me == 1) {
        FAILS(HA_ERR_ARGUMENT, "12 of double (3, 4) with tag 1", ha_mpi_recv(longs, 0, 1, WORLD));
        FAILS(HA_ERR_ARGUMENT, "12 of double (4, 3) was to be", ha_mpi_recv(turned, 0, 1, WORLD));
        SUCCEEDS(ha_mpi_recv(array_double_2_slice(x, 0, 0, 1, 1), 0, 1, WORLD));
        FAILS(HA_ERR_ARGUMENT, "not sent by harray",
              ha_mpi_recv(array_double_2_slice(x, 0, 0, 1, 1), 0, 1, WORLD));
    }
    SUCCEEDS(darray_free(&longs));
    SUCCEEDS(array_double_2_free(&x));
    SUCCEEDS(array_double_2_free(&turned));
    end_case("types that differ");
}

/* As many bytes, of another type. */
static void fields_that_differ(void) {
    const ha_region box = ha_box2(0, 3, 0, 4);
    particles r = some_particles(3, 4, me, ha_host(), "aos");
    ha_mpi_request out = {NULL};
    SUCCEEDS(ha_mpi_isend(&out, HA_MPI_FIELDS(r.records, "kind", box), me, 1, WORLD));
    FAILS(HA_ERR_ARGUMENT, "of fields",
          ha_mpi_recv(HA_MPI_FIELDS(r.records, "mass", box), me, 1, WORLD));
    SUCCEEDS(ha_mpi_wait(&out));
    particles_free(&r);
    end_case("fields that differ");
}

/* Rank 1 does something else in a collective: all are told. */
static void collectives_that_differ(void) {
    const int odd_one = me == 1;
    array_double_2 x = array_double_2_filled(HA_DIM(3, 4), 1, places[1]);
    array_double_2 turned = array_double_2_transpose(x);
    array_double_2 all = array_double_2_zeros(HA_DIM(3 * ranks, 4), ha_host());
    darray longs = darray_zeros(HA_DTYPE_int64_t, 2, (int64_t[]){3, 4}, ha_host());
    FAILS(HA_ERR_ARGUMENT, "does not fit", ha_mpi_bcast(x, odd_one, WORLD));
    FAILS(HA_ERR_ARGUMENT, "does not fit", ha_mpi_bcast(odd_one ? turned : x, 0, WORLD));
    FAILS(HA_ERR_ARGUMENT, "does not fit", ha_mpi_bcast(odd_one ? longs : HA_DARRAY(x), 0, WORLD));
    FAILS(HA_ERR_ARGUMENT, "does not fit", ha_mpi_allreduce(x, odd_one ? MPI_MAX : MPI_SUM, WORLD));
    FAILS(HA_ERR_ARGUMENT, "",
          odd_one ? ha_mpi_bcast(x, 0, WORLD) : ha_mpi_allreduce(x, MPI_SUM, WORLD));
    FAILS(HA_ERR_ARGUMENT, "does not fit",
          ha_mpi_gather(all, odd_one ? array_double_2_slice(x, 0, 0, 2, 1) : x, NULL, 0, WORLD));
    FAILS(HA_ERR_ARGUMENT, "",
          ha_mpi_bcast(odd_one ? array_double_2_broadcast(
                                     HA_DARRAY(array_double_2_slice(x, 0, 0, 1, 1)), HA_DIM(3, 4))
                               : x,
                       0, WORLD));                 /* it is refused on rank 1 */
    SUCCEEDS(ha_mpi_allreduce(x, MPI_SUM, WORLD)); /* nothing was moved, and all are together */
    double value = 0;
    SUCCEEDS(array_double_2_get(x, HA_DIM(2, 3), &value));
    IS_TRUE(value == (double)ranks);
    SUCCEEDS(darray_free(&longs));
    SUCCEEDS(array_double_2_free(&x));
    SUCCEEDS(array_double_2_free(&all));
    end_case("collectives that differ");
}

/* The part of the others in what ha_mpi_bcast compares, so that it comes to an end. */
static void come_too_late(void) {
    const int bytes = (int)sizeof(ha_mpi_signature);
    ha_mpi_signature *all = calloc((size_t)ranks + 1, sizeof *all);
    MPI_Request request;
    MPI_Iallgather(&all[ranks], bytes, MPI_BYTE, all, bytes, MPI_BYTE, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(all);
}

/* With HARRAY_MPI_CHECK=1: nobody sends, and nobody comes. */
static void waiting_for_nobody(void) {
    array_double_1 x = array_double_1_filled(HA_DIM(3), me ? 4 : 0, ha_host());
    ha_mpi_request request = {NULL};
    double first;
    if (me == 0) {
        FAILS(HA_ERR_STATE, "from rank 1, tag 9", ha_mpi_recv(x, 1, 9, WORLD));
        SUCCEEDS(ha_mpi_irecv(&request, x, 1, 8, WORLD));
        FAILS(HA_ERR_STATE, "has been waited for", ha_mpi_wait(&request));
        IS_TRUE(request.message);
        MPI_Barrier(WORLD);
        while (request.message && ha_mpi_wait(&request)) continue; /* comes after all, some time */
        SUCCEEDS(array_double_1_get(x, HA_DIM(0), &first));
        IS_TRUE(first == 4);
        SUCCEEDS(array_double_1_fill(x, 1, ha_host()));
        FAILS(HA_ERR_STATE, "not all ranks have come", ha_mpi_bcast(x, 0, WORLD));
        for (int r = 1; r < ranks; r++) MPI_Send(NULL, 0, MPI_BYTE, r, 1, WORLD);
    } else {
        MPI_Barrier(WORLD);
        if (me == 1) SUCCEEDS(ha_mpi_send(x, 0, 8, WORLD));
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, WORLD, MPI_STATUS_IGNORE);
        come_too_late();
    }
    SUCCEEDS(array_double_1_free(&x));
    end_case("waiting for nobody");
}

/* ---- halos ------------------------------------------------------------------------------------- */

static void halos_that_do_not_fit(void) {
    int size[1] = {ranks}, is_periodic[1] = {1};
    const int odd_one = me == ranks - 1;
    MPI_Comm ring;
    MPI_Cart_create(WORLD, 1, size, is_periodic, 0, &ring);
    darray x = darray_zeros(HA_DTYPE_double, 2, (int64_t[]){6, 5}, ha_host());
    darray wide = darray_zeros(HA_DTYPE_double, 2, (int64_t[]){6, 6}, ha_host());
    darray floats = darray_zeros(HA_DTYPE_float, 2, (int64_t[]){6, 5}, ha_host());
    darray both[] = {x, floats};
    IS_TRUE(!ha_mpi_halo_new(WORLD, NULL, 1, &x, 1, HA_MPI_FACES));
    FAILS(HA_ERR_ARGUMENT, "MPI_Cart_create", HA_ERR_ARGUMENT);
    IS_TRUE(!ha_mpi_halo_new(ring, NULL, odd_one ? 3 : 1, &x, 1, HA_MPI_FACES));
    FAILS(HA_ERR_ARGUMENT, "", HA_ERR_ARGUMENT);
    IS_TRUE(!ha_mpi_halo_new(ring, NULL, 1, both, odd_one ? 1 : 2, HA_MPI_FACES));
    FAILS(HA_ERR_ARGUMENT, "ranks differ: 1 to 2 fields", HA_ERR_ARGUMENT);
    IS_TRUE(!ha_mpi_halo_new(ring, NULL, 1, odd_one ? &wide : &x, 1, HA_MPI_FACES));
    FAILS(HA_ERR_ARGUMENT, "", HA_ERR_ARGUMENT);
    IS_TRUE(!ha_mpi_halo_new(ring, NULL, 1, odd_one ? &floats : &x, 1, HA_MPI_FACES));
    FAILS(HA_ERR_ARGUMENT, "", HA_ERR_ARGUMENT);
    IS_TRUE(!ha_mpi_halo_new(ring, NULL, 1, &x, 1, odd_one ? 17 : HA_MPI_FACES));
    FAILS(HA_ERR_ARGUMENT, "", HA_ERR_ARGUMENT);
    IS_TRUE(!ha_mpi_halo_new(ring, NULL, 1, &x, SIZE_MAX / 4, HA_MPI_FACES));
    FAILS(HA_ERR_MEMORY, "no memory for a plan", HA_ERR_MEMORY);
    ha_mpi_halo *halo = ha_mpi_halo_new(ring, NULL, 2, &x, 1, HA_MPI_FACES);
    FAILS(HA_ERR_STATE, "not started", ha_mpi_halo_finish(halo));
    FAILS(HA_ERR_ARGUMENT, "field 0", ha_mpi_halo_rebind(halo, &wide, 1));
    FAILS(HA_ERR_ARGUMENT, "2 fields in the places of 1", ha_mpi_halo_rebind(halo, both, 2));
    SUCCEEDS(ha_mpi_halo_start(halo));
    FAILS(HA_ERR_STATE, "was started", ha_mpi_halo_start(halo));
    FAILS(HA_ERR_STATE, "was started", ha_mpi_halo_rebind(halo, &x, 1));
    SUCCEEDS(ha_mpi_halo_finish(halo));
    SUCCEEDS(ha_mpi_halo_start(halo));
    ha_mpi_halo_free(halo); /* finishes it */
    ha_mpi_halo_free(NULL);
    FAILS(HA_ERR_ARGUMENT, "no plan", ha_mpi_halo_start(NULL));
    SUCCEEDS(darray_free(&x));
    SUCCEEDS(darray_free(&wide));
    SUCCEEDS(darray_free(&floats));
    MPI_Comm_free(&ring);
    end_case("halos that do not fit");
}

/* On all ranks alike. */
static void refused_halo(MPI_Comm cart, darray x, int64_t width, int kind, const char *words) {
    IS_TRUE(!ha_mpi_halo_new(cart, NULL, width, &x, 1, kind));
    FAILS(HA_ERR_ARGUMENT, words, HA_ERR_ARGUMENT);
}

static void fields_that_do_not_fit(void) {
    int size[2] = {ranks, 1}, is_periodic[2] = {1, 1};
    MPI_Comm grid;
    MPI_Cart_create(WORLD, 2, size, is_periodic, 0, &grid);
    array_double_2 x = array_double_2_zeros(HA_DIM(6, 5), ha_host());
    array_double_2 longer = array_double_2_zeros(HA_DIM(8, 5), ha_host());
    array_double_2 turned = array_double_2_zeros(HA_DIM(5, 6), ha_host());
    darray floats = darray_zeros(HA_DTYPE_float, 2, (int64_t[]){6, 5}, ha_host());
    const darray line = HA_DARRAY(array_double_2_fix(x, 0, 0));
    refused_halo(grid, line, 1, HA_MPI_FACES, "field 0 has 1 dimensions, the communicator 2");
    refused_halo(grid, darray_broadcast(line, 2, (int64_t[]){6, 5}), 1, HA_MPI_FACES,
                 "repeats elements");
    refused_halo(grid, HA_DARRAY(x), 0, HA_MPI_FACES, "make no sense");
    refused_halo(grid, HA_DARRAY(x), 1, HA_MPI_CORNERS - 1, "make no sense");
    ha_mpi_halo *halo = ha_mpi_halo_new(grid, NULL, 1, &x, 1, HA_MPI_AT_ONCE);
    const darray wrong[] = {line, floats, HA_DARRAY(array_double_2_slice(longer, 0, 0, 6, 1)),
                            HA_DARRAY(array_double_2_slice(longer, 0, 1, 7, 1)),
                            HA_DARRAY(array_double_2_transpose(turned))};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        FAILS(HA_ERR_ARGUMENT, "field 0 has not the type,", ha_mpi_halo_rebind(halo, &wrong[i], 1));
    FAILS(HA_ERR_ARGUMENT, "fields in the places", ha_mpi_halo_rebind(halo, (darray *)NULL, 1));
    ha_mpi_halo_free(halo);
    halo = ha_mpi_halo_new(grid, NULL, 1, &x, 0, HA_MPI_CORNERS); /* of nothing */
    SUCCEEDS(ha_mpi_halo_rebind(halo, &x, 0));
    SUCCEEDS(ha_mpi_halo_start(halo));
    SUCCEEDS(ha_mpi_halo_finish(halo));
    ha_mpi_halo_free(halo);
    SUCCEEDS(darray_free(&floats));
    SUCCEEDS(array_double_2_free(&x));
    SUCCEEDS(array_double_2_free(&longer));
    SUCCEEDS(array_double_2_free(&turned));
    MPI_Comm_free(&grid);
    end_case("fields that do not fit");
}

/* A rank cannot read its cells: the neighbours are told, and nobody waits. */
static void a_rank_that_fails(void) {
    int size[1] = {ranks}, is_periodic[1] = {1};
    MPI_Comm ring;
    MPI_Cart_create(WORLD, 1, size, is_periodic, 0, &ring);
    darray x = darray_zeros(HA_DTYPE_double, 2, (int64_t[]){6, 5}, places[1]);
    ha_mpi_halo *halo = ha_mpi_halo_new(ring, places[1], 1, &x, 1, HA_MPI_FACES);
    const int neighbours = me == 1 || (me + 1) % ranks == 1 || (me + ranks - 1) % ranks == 1;
    if (me == 1) SUCCEEDS(ha_array_clear(x.array)); /* it has no values any more */
    SUCCEEDS(ha_mpi_halo_start(halo));
    if (me == 1)
        FAILS(HA_ERR_STATE, "never written", ha_mpi_halo_finish(halo));
    else if (neighbours)
        FAILS(HA_ERR_LOST, "rank 1 has failed", ha_mpi_halo_finish(halo));
    else
        SUCCEEDS(ha_mpi_halo_finish(halo));
    (void)ha_take_error();
    SUCCEEDS(darray_fill(x, ha_dvalue_of_double(1), places[1]));
    SUCCEEDS(ha_mpi_halo_start(halo)); /* all is well again */
    SUCCEEDS(ha_mpi_halo_finish(halo));
    ha_mpi_halo_free(halo);
    SUCCEEDS(darray_free(&x));
    MPI_Comm_free(&ring);
    end_case("a rank that fails");
}

#endif
