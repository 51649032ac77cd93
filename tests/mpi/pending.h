/* Collectives by requests: several at once, of random views, which each rank waits for in an order of its own. */
#ifndef HARRAY_TESTS_MPI_PENDING_H
#define HARRAY_TESTS_MPI_PENDING_H

#include "failures.h"
#include "some_messages.h"

enum { PENDING = 4 };

typedef struct pending {
    int kind, root, to_all;
    uint64_t salt;
    ha_dtype type; /* of a reduction */
    MPI_Op op;
    shares x; /* of gathering and scattering */
    sample part, all;
    ha_mpi_request request;
} pending;

/* ---- each kind: its beginning, and what it comes to ------------------------------------------- */

static void begin_broadcast(pending *p) {
    const shape_of shape = some_shape(60);
    p->part = own_sample(&shape, me == p->root ? p->salt : p->salt + 1000);
    SUCCEEDS(ha_mpi_ibcast(&p->request, p->part.view, p->root, WORLD));
}

static void begin_reduction(pending *p) {
    static const ha_dtype types[] = {HA_DTYPE_double, HA_DTYPE_int32_t, HA_DTYPE_half};
    const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
    const shape_of shape = {.rank = 2, .extent = {1 + draw(60), 1 + draw(60)}};
    p->type = types[draw(3)];
    p->op = ops[draw(4)];
    random_state += (uint64_t)me;
    p->part = numbered_sample(p->type, &shape);
    set_numbers(&p->part, p->type, NULL);
    model_is_written(&p->part, places[draw(PLACES)]);
    if (p->to_all)
        SUCCEEDS(ha_mpi_iallreduce(&p->request, p->part.view, p->op, WORLD));
    else
        SUCCEEDS(ha_mpi_ireduce(&p->request, p->part.view, p->op, p->root, WORLD));
}

static void begin_gathering(pending *p) {
    p->x = some_shares();
    int64_t *counts = p->x.equal ? NULL : p->x.count;
    p->part = own_sample(&p->x.mine, 0);
    p->all = own_sample(&p->x.all, 5);
    known_part(&p->part, p->salt, p->x.first[me]);
    model_is_written(&p->part, places[draw(PLACES)]);
    if (p->to_all)
        SUCCEEDS(ha_mpi_iallgather(&p->request, p->all.view, p->part.view, counts, WORLD));
    else
        SUCCEEDS(ha_mpi_igather(&p->request, p->all.view, p->part.view, counts, p->root, WORLD));
    if (counts) memset(counts, 0, sizeof p->x.count); /* they have been read */
}

static void begin_scattering(pending *p) {
    p->x = some_shares();
    p->part = own_sample(&p->x.mine, 3);
    p->all = own_sample(&p->x.all, p->salt);
    SUCCEEDS(ha_mpi_iscatter(&p->request, p->part.view, p->all.view, p->x.equal ? NULL : p->x.count,
                             p->root, WORLD));
}

/* Element k of what rank a gives to rank b is number k of a message. */
static void know_exchanged(sample *s, uint64_t salt, int received) {
    for (int64_t a = 0; a < ranks; a++)
        for (int64_t k = 0; k < s->view.extent[1]; k++)
            known_element((unsigned char *)model_at(s, (int64_t[]){a, k}), s->element, s->is_bool,
                          salt + (uint64_t)(received ? a * ranks + me : me * ranks + a), k);
}

static void begin_exchange(pending *p) {
    const shape_of shape = {
        .type = (int)draw(NUMBER_TYPES + 1), .rank = 2, .extent = {ranks, 1 + draw(20)}};
    p->part = own_sample(&shape, 0);
    p->all = own_sample(&shape, 1);
    know_exchanged(&p->part, p->salt, 0);
    model_is_written(&p->part, places[draw(PLACES)]);
    SUCCEEDS(ha_mpi_ialltoall(&p->request, p->all.view, p->part.view, WORLD));
}

static void (*const beginnings[])(pending *) = {begin_broadcast, begin_reduction, begin_gathering,
                                                begin_scattering, begin_exchange};

static pending begin_pending(uint64_t salt) {
    pending p = {.kind = (int)draw(5), .root = (int)draw(ranks), .to_all = (int)draw(2)};
    p.salt = 100 * salt;
    beginnings[p.kind](&p);
    IS_TRUE(p.request.message);
    draw_together();
    return p;
}

static void end_pending(pending *p) {
    const int has_all = p->to_all || me == p->root;
    wait_for(&p->request, draw(2) == 0);
    if (p->kind == 0) model_becomes(&p->part, p->salt);
    if (p->kind == 1 && has_all) set_numbers(&p->part, p->type, &p->op);
    if (p->kind == 2 && has_all) model_becomes(&p->all, p->salt);
    if (p->kind == 3) known_part(&p->part, p->salt, p->x.first[me]);
    if (p->kind == 4) know_exchanged(&p->all, p->salt, 1);
    is_as_modelled(&p->part);
    free_sample(&p->part);
    if (p->kind < 2) return;
    is_as_modelled(&p->all);
    free_sample(&p->all);
}

static void pending_collectives(int rounds) {
    static pending p[PENDING];
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < PENDING; i++) p[i] = begin_pending((uint64_t)(PENDING * r + i));
        random_state += (uint64_t)me;
        for (int i = PENDING; i > 0; i--) {
            const int which = (int)draw(i);
            end_pending(&p[which]);
            p[which] = p[i - 1];
        }
        draw_together();
    }
    end_case("collectives by requests");
}

/* ---- what is open meanwhile -------------------------------------------------------------------- */

static void arrays_of_pending_collectives(void) {
    array_double_2 x = array_double_2_filled(HA_DIM(4, 5), me + 1, ha_host());
    array_double_2 column = array_double_2_slice(x, 1, 0, 1, 1);
    ha_mpi_request request = {NULL}, other = {NULL};
    ha_write_double_2 v;
    ha_read_double_2 r;
    SUCCEEDS(ha_mpi_iallreduce(&request, x, MPI_SUM, WORLD)); /* in place */
    FAILS(HA_ERR_CONFLICT, "", ha_open_view(&r, x, ha_host(), HA_READ));
    FAILS(HA_ERR_STATE, "in use", ha_mpi_ibcast(&request, x, 0, WORLD));
    SUCCEEDS(ha_mpi_wait(&request));
    SUCCEEDS(array_double_2_fill(x, me + 1, ha_host()));
    SUCCEEDS(ha_mpi_ibcast(&request, x, 0, WORLD));
    FAILS(HA_ERR_CONFLICT, "", ha_open_view(&v, x, ha_host(), HA_WRITE));
    SUCCEEDS(ha_mpi_wait(&request));
    SUCCEEDS(array_double_2_fill(x, me + 1, ha_host()));
    SUCCEEDS(ha_mpi_ibcast(&request, column, 0, WORLD)); /* packed: it is free */
    SUCCEEDS(ha_mpi_iallreduce(&other, column, MPI_SUM, WORLD));
    SUCCEEDS(array_double_2_free(&x)); /* the requests keep it */
    x = array_double_2_filled(HA_DIM(4, 5), 3, ha_host());
    SUCCEEDS(ha_mpi_wait(&other));
    SUCCEEDS(ha_mpi_wait(&request));
    FAILS(HA_ERR_ARGUMENT, "no rank 99", ha_mpi_ibcast(&request, x, 99, WORLD));
    FAILS(HA_ERR_ARGUMENT, "no request", ha_mpi_ibcast((ha_mpi_request *)NULL, x, 0, WORLD));
    FAILS(HA_ERR_ARGUMENT, "no operation",
          ha_mpi_iallreduce(&request, x, MPI_OP_NULL, MPI_COMM_SELF));
    IS_TRUE(!request.message);
    SUCCEEDS(array_double_2_free(&x));
    end_case("arrays of collectives by requests");
}

/* ---- each allocation, and each call of MPI ----------------------------------------------------- */

/* One of a kind with itself: how its beginning, or waiting for it, went. */
static ha_status collected(int which, int by_test, array_double_2 x, array_half_1 z,
                           array_double_1 part, array_double_1 all) {
    const MPI_Comm self = MPI_COMM_SELF;
    ha_mpi_request request = {NULL};
    ha_status s = HA_OK;
    int done = 0;
    if (which == 0) s = ha_mpi_ibcast(&request, array_double_2_transpose(x), 0, self);
    if (which == 1) s = ha_mpi_iallreduce(&request, x, MPI_SUM, self);
    if (which == 2) s = ha_mpi_ireduce(&request, array_double_2_transpose(x), MPI_SUM, 0, self);
    if (which == 3) s = ha_mpi_iallreduce(&request, z, MPI_SUM, self);
    if (which == 4) s = ha_mpi_igather(&request, all, part, NULL, 0, self);
    if (which == 5) s = ha_mpi_iscatter(&request, part, all, NULL, 0, self);
    if (which == 6) s = ha_mpi_ialltoall(&request, all, part, self);
    if (which == 7) s = ha_mpi_iallgather(&request, all, part, NULL, self);
    IS_TRUE(!s == (request.message != NULL));
    if (!by_test && !s) s = ha_mpi_wait(&request);
    while (by_test && !s && !done) s = ha_mpi_test(&request, &done);
    IS_TRUE(!request.message);
    return s;
}

static void pending_with_failures(int of_mpi) {
    const int64_t n = 2000; /* more than one number counts here */
    array_double_2 x = array_double_2_filled(HA_DIM(2, n), 1, places[1]);
    array_half_1 z = array_half_1_zeros(HA_DIM(3), ha_host());
    array_double_1 part = array_double_1_zeros(HA_DIM(5), places[1]);
    array_double_1 all = array_double_1_zeros(HA_DIM(5), ha_host());
    for (int i = 0; i < 16; i++)
        for (int after = 0, hit = 1; hit; after++) {
            double value = 0;
            if (of_mpi)
                mpi_arm(after);
            else
                arm(after);
            const ha_status s = collected(i / 2, i % 2, x, z, part, all);
            if (of_mpi)
                is_told_of_mpi(s);
            else
                disarm(s);
            hit = of_mpi ? mpi_has_failed : was_hit;
            SUCCEEDS(array_double_2_get(x, HA_DIM(1, n - 1), &value));
            IS_TRUE(value == 1 || s);                       /* with itself nothing changes */
            SUCCEEDS(array_double_2_fill(x, 1, places[1])); /* nothing is locked */
            SUCCEEDS(array_half_1_fill(z, ha_half_of_float(1), ha_host()));
            SUCCEEDS(array_double_1_fill(part, 1, ha_host()));
            SUCCEEDS(array_double_1_fill(all, 1, places[1]));
        }
    SUCCEEDS(array_double_2_free(&x));
    SUCCEEDS(array_half_1_free(&z));
    SUCCEEDS(array_double_1_free(&part));
    SUCCEEDS(array_double_1_free(&all));
    end_case(of_mpi ? "collectives by requests without MPI"
                    : "collectives by requests without memory");
}

/* ---- with HARRAY_MPI_CHECK --------------------------------------------------------------------- */

/* Rank 1 does something else: all are told, and nothing has begun. */
static void pending_collectives_that_differ(void) {
    array_double_2 x = array_double_2_filled(HA_DIM(3, 4), 1, places[1]);
    ha_mpi_request request = {NULL};
    FAILS(HA_ERR_ARGUMENT, "does not fit", ha_mpi_ibcast(&request, x, me == 1, WORLD));
    FAILS(HA_ERR_ARGUMENT, "",
          me == 1 ? ha_mpi_bcast(x, 0, WORLD) : ha_mpi_ibcast(&request, x, 0, WORLD));
    IS_TRUE(!request.message);
    SUCCEEDS(ha_mpi_iallreduce(&request, x, MPI_SUM, WORLD));
    SUCCEEDS(ha_mpi_wait(&request));
    double value = 0;
    SUCCEEDS(array_double_2_get(x, HA_DIM(2, 3), &value));
    IS_TRUE(value == (double)ranks);
    SUCCEEDS(array_double_2_free(&x));
    end_case("collectives by requests that differ");
}

#endif
