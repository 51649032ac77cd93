/* Each allocation fails once, in messages, in collectives and in halos: nobody waits for ever, nothing stays locked, and
 * what is done next is right. And MPI fails. */
#ifndef HARRAY_TESTS_MPI_FAILURES_H
#define HARRAY_TESTS_MPI_FAILURES_H

#include "mistakes.h"

/* ---- MPI -------------------------------------------------------------------------------------- */

static void mpi_that_fails(void) {
    array_double_1 x = array_double_1_zeros(HA_DIM(3), ha_host());
    ha_mpi_request request = {NULL};
    mpi_arm(0);
    FAILS(HA_ERR_BACKEND, "sending failed", ha_mpi_send(x, me, 1, WORLD));
    mpi_arm(0);
    FAILS(HA_ERR_BACKEND, "sending failed", ha_mpi_isend(&request, x, me, 1, WORLD));
    mpi_arm(0);
    FAILS(HA_ERR_BACKEND, "failed", ha_mpi_allreduce(x, MPI_SUM, MPI_COMM_SELF));
    mpi_arm(-1);
    IS_TRUE(!request.message);
    HA_OVERWRITING_ALL(v, x, ha_host())
    v.data[0] = v.data[1] = v.data[2] = 1; /* it is not locked */
    SUCCEEDS(array_double_1_free(&x));
    end_case("MPI fails");
}

/* What a call of harray has come to, when one of MPI's in it may have failed. */
static void is_told_of_mpi(ha_status s) {
    const ha_error e = ha_take_error();
    mpi_fails_at = -1;
    if (s && !(mpi_has_failed && s == HA_ERR_BACKEND))
        complain(__LINE__, "%s: %s", ha_status_name(s), e.text);
    if (!s && mpi_has_failed) complain(__LINE__, "nobody has told that MPI failed");
}

/* Each call of MPI in collectives fails once: it is told, and nothing stays open. */
static void collectives_without_mpi(void) {
    const MPI_Comm self = MPI_COMM_SELF;
    const int64_t n = 2000; /* more than one number counts here */
    array_double_2 x = array_double_2_filled(HA_DIM(2, n), 1, places[1]);
    array_double_2 y = array_double_2_zeros(HA_DIM(n, 2), ha_host());
    array_half_1 z = array_half_1_zeros(HA_DIM(3), ha_host());
    array_double_1 part = array_double_1_zeros(HA_DIM(5), places[1]);
    array_double_1 all = array_double_1_zeros(HA_DIM(5), ha_host());
    for (int which = 0; which < 7; which++)
        for (int after = 0, hit = 1; hit; after++) {
            ha_status s = HA_OK;
            mpi_arm(after);
            if (which == 0) s = ha_mpi_bcast(array_double_2_transpose(x), 0, self);
            if (which == 1) s = ha_mpi_allreduce(x, MPI_SUM, self);
            if (which == 2) s = ha_mpi_reduce(y, MPI_SUM, 0, self);
            if (which == 3) s = ha_mpi_allreduce(z, MPI_SUM, self);
            if (which == 4) s = ha_mpi_gather(all, part, NULL, 0, self);
            if (which == 5) s = ha_mpi_scatter(part, all, NULL, 0, self);
            if (which == 6) s = ha_mpi_alltoall(all, part, self);
            is_told_of_mpi(s);
            hit = mpi_has_failed;
            SUCCEEDS(array_double_2_fill(x, 1, places[1])); /* nothing is locked */
            SUCCEEDS(array_double_2_fill(y, 1, ha_host()));
            SUCCEEDS(array_double_1_fill(part, 1, ha_host()));
            SUCCEEDS(array_double_1_fill(all, 1, places[1]));
        }
    SUCCEEDS(array_double_2_free(&x));
    SUCCEEDS(array_double_2_free(&y));
    SUCCEEDS(array_half_1_free(&z));
    SUCCEEDS(array_double_1_free(&part));
    SUCCEEDS(array_double_1_free(&all));
    end_case("collectives without MPI");
}

/* The same of halos, on rank 1 alone: what fails once does not keep the others waiting, and the next exchange is
 * right. */
static void halos_without_mpi(ha_context *c) {
    int size[1] = {ranks}, is_periodic[1] = {1}, hit = 1;
    MPI_Comm ring;
    MPI_Cart_create(WORLD, 1, size, is_periodic, 0, &ring);
    darray x = darray_zeros(HA_DTYPE_double, 1, (int64_t[]){6}, c);
    ha_mpi_halo *halo = ha_mpi_halo_new(ring, c, 1, &x, 1, HA_MPI_CORNERS);
    for (int after = 0; hit; after++) {
        ha_dvalue low, high;
        mpi_arm(me == 1 ? after : -1);
        ha_status s = ha_mpi_halo_start(halo);
        IS_TRUE(!s);
        s = ha_mpi_halo_finish(halo);
        mpi_fails_at = -1;
        IS_TRUE(!s || s == HA_ERR_LOST || (me == 1 && s == HA_ERR_BACKEND));
        IS_TRUE(me != 1 || !s == !mpi_has_failed);
        (void)ha_take_error();
        int mine = me == 1 && mpi_has_failed;
        MPI_Allreduce(&mine, &hit, 1, MPI_INT, MPI_MAX, WORLD);
        SUCCEEDS(darray_fill(x, ha_dvalue_of_double(10 * me + after), c));
        SUCCEEDS(ha_mpi_halo_start(halo));
        SUCCEEDS(ha_mpi_halo_finish(halo));
        SUCCEEDS(darray_get(x, 1, (int64_t[]){0}, &low));
        SUCCEEDS(darray_get(x, 1, (int64_t[]){5}, &high));
        IS_TRUE(low.as_double == 10 * ((me + ranks - 1) % ranks) + after);
        IS_TRUE(high.as_double == 10 * ((me + 1) % ranks) + after);
    }
    ha_mpi_halo_free(halo);
    SUCCEEDS(darray_free(&x));
    MPI_Comm_free(&ring);
    end_case("halos without MPI");
}

/* ---- memory ------------------------------------------------------------------------------------ */

/* How many allocations are to succeed before one fails; -1: all. */
static int arm_at = -1, was_hit;

static void *sparing_malloc(size_t bytes) {
    if (arm_at >= 0 && arm_at-- == 0) {
        was_hit = 1;
        return NULL;
    }
    return malloc(bytes);
}

static void *sparing_realloc(void *memory, size_t bytes) {
    if (arm_at >= 0 && arm_at-- == 0) {
        was_hit = 1;
        return NULL;
    }
    return realloc(memory, bytes);
}

static void arm(int after) {
    was_hit = 0;
    arm_at = after;
}

/* HA_OK, or for want of memory. */
static void disarm(ha_status s) {
    arm_at = -1;
    const ha_error e = ha_take_error();
    if (s && !was_hit) complain(__LINE__, "%s: %s", ha_status_name(s), e.text);
    if (s && s != HA_ERR_MEMORY) complain(__LINE__, "%s: %s", ha_status_name(s), e.text);
}

/* To itself, of random views: what is received in place may be undefined then, anything else is unchanged. */
static void messages_without_memory(int rounds) {
    for (int r = 0; r < rounds; r++)
        for (int after = 0, hit = 1; hit; after++) {
            const shape_of shape = some_shape(20);
            sample sent = some_sample(&shape), received = some_sample(&shape);
            model_becomes(&sent, (uint64_t)after);
            model_is_written(&sent, places[draw(PLACES)]);
            model_is_written(&received, places[draw(PLACES)]);
            arm(after);
            ha_status s = ha_mpi_exchange(sent.view, 0, received.view, 0, 1, MPI_COMM_SELF);
            disarm(s);
            hit = was_hit;
            is_as_modelled(&sent);
            if (s && !darray_is_contiguous(received.view, HA_ROW_MAJOR)) is_as_modelled(&received);
            SUCCEEDS(ha_mpi_exchange(sent.view, 0, received.view, 0, 1, MPI_COMM_SELF));
            model_becomes(&received, (uint64_t)after);
            is_as_modelled(&received);
            free_sample(&sent);
            free_sample(&received);
        }
    draw_together();
    end_case("messages without memory");
}

static void collectives_without_memory(int rounds) {
    for (int r = 0; r < rounds; r++)
        for (int after = 0, hit = 1; hit; after++) {
            const shape_of shape = {.rank = 2, .extent = {4, 5}};
            sample s = numbered_sample(HA_DTYPE_double, &shape),
                   all = numbered_sample(HA_DTYPE_double, &shape);
            set_numbers(&s, HA_DTYPE_double, NULL);
            model_is_written(&s, places[draw(PLACES)]);
            model_is_written(&all, places[draw(PLACES)]);
            arm(after);
            ha_status done = ha_mpi_reduce(s.view, MPI_SUM, 0, MPI_COMM_SELF);
            if (!done) done = ha_mpi_gather(all.view, s.view, NULL, 0, MPI_COMM_SELF);
            disarm(done);
            hit = was_hit;
            is_as_modelled(&s); /* of one rank the sum is the same */
            SUCCEEDS(ha_mpi_allgather(all.view, s.view, NULL, MPI_COMM_SELF));
            set_numbers(&all, HA_DTYPE_double, NULL);
            is_as_modelled(&all);
            free_sample(&s);
            free_sample(&all);
        }
    draw_together();
    end_case("collectives without memory");
}

/* On rank 1 alone. Its neighbours may miss values. */
/* Of a plan that was made with a failure armed: all ranks have it, or none does. Returns whether the failure was met. */
static int all_or_none(ha_mpi_halo *halo) {
    int there = halo != NULL, all = 0, hit = 0;
    arm_at = -1;
    MPI_Allreduce(&there, &all, 1, MPI_INT, MPI_SUM, WORLD);
    IS_TRUE(all == 0 || all == ranks);
    IS_TRUE(there || ha_take_error().status);
    (void)ha_take_error();
    ha_mpi_halo_free(halo);
    MPI_Allreduce(&was_hit, &hit, 1, MPI_INT, MPI_MAX, WORLD);
    return hit;
}

static void halos_without_memory(ha_context *c, int kind) {
    int size[2] = {0, 0}, is_periodic[2] = {1, 1}, hit = 1;
    halo_case h = {.dimensions = 2, .kind = kind, .width = 1, .fields = 1, .interior = {3, 4}};
    MPI_Dims_create(ranks, 2, size);
    MPI_Cart_create(WORLD, 2, size, is_periodic, 0, &h.cart);
    MPI_Cart_get(h.cart, 2, h.size, h.is_periodic, h.at);
    h.type[0] = HA_DTYPE_double;
    const ha_shape shape = {.rank = 2, .extent = {3, 4}, .ghost_low = {1, 1}, .ghost_high = {1, 1}};
    h.field[0] = darray_make(HA_DTYPE_double, &shape, c);
    for (int after = 0; hit; after++) { /* making */
        arm(me == 1 ? after : -1);
        hit = all_or_none(ha_mpi_halo_new(h.cart, c, 1, h.field, 1, kind));
    }
    ha_mpi_halo *halo = ha_mpi_halo_new(h.cart, c, 1, h.field, 1, kind);
    hit = 1;
    for (int after = 0; hit; after++) { /* running */
        write_cells(&h, 0, after);
        arm(me == 1 ? after : -1);
        ha_status s = ha_mpi_halo_start(halo);
        IS_TRUE(!s);
        s = ha_mpi_halo_finish(halo);
        arm_at = -1;
        IS_TRUE(!s || s == HA_ERR_LOST || (me == 1 && s == HA_ERR_MEMORY));
        (void)ha_take_error();
        MPI_Allreduce(&was_hit, &hit, 1, MPI_INT, MPI_MAX, WORLD);
        write_cells(&h, 0, after);
        SUCCEEDS(ha_mpi_halo_start(halo));
        SUCCEEDS(ha_mpi_halo_finish(halo));
        compare_cells(&h, 0, after);
    }
    ha_mpi_halo_free(halo);
    SUCCEEDS(darray_free(&h.field[0]));
    MPI_Comm_free(&h.cart);
    end_case(c == ha_host() ? "halos without memory on the host"
                            : "halos without memory on a device");
}

#endif
