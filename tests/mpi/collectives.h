/* Collectives of random views, against known elements. All ranks draw the same shapes, and views of their own. */
#ifndef HARRAY_TESTS_MPI_COLLECTIVES_H
#define HARRAY_TESTS_MPI_COLLECTIVES_H

#include "ranks.h"

/* A view of a shape with the known elements, on a rank. */
static sample own_sample(const shape_of *shape, uint64_t salt) {
    random_state += (uint64_t)me;
    sample s = some_sample(shape);
    model_becomes(&s, salt);
    model_is_written(&s, places[draw(PLACES)]);
    return s;
}

/* The same numbers are drawn from here on. */
static void draw_together(void) { MPI_Bcast(&random_state, 1, MPI_UINT64_T, 0, WORLD); }

static void end_sample(sample *s) {
    is_as_modelled(s);
    free_sample(s);
    draw_together();
}

static void broadcasts(int rounds) {
    for (int r = 0; r < rounds; r++) {
        const shape_of shape = some_shape(40);
        const int root = (int)draw(ranks);
        sample s = own_sample(&shape, me == root ? (uint64_t)r : 1000);
        SUCCEEDS(ha_mpi_bcast(s.view, root, WORLD));
        model_becomes(&s, (uint64_t)r);
        end_sample(&s);
    }
    end_case("broadcasts");
}

/* ---- sharing ---------------------------------------------------------------------------------- */

/* Rank r has the elements from first[r] on of a message of all. */
static void known_part(sample *s, uint64_t salt, int64_t first) {
    int64_t index[4] = {0}, k = first;
    for (int d = 0; d >= 0;) {
        known_element((unsigned char *)model_at(s, index), s->element, s->is_bool, salt, k++);
        for (d = s->view.rank - 1; d >= 0 && ++index[d] == s->view.extent[d]; d--) index[d] = 0;
    }
}

typedef struct shares {
    int64_t count[64], first[64], total;
    shape_of all, mine;
    int equal;
} shares;

static shares some_shares(void) {
    shares x = {.equal = draw(2) == 0};
    const int64_t same = 1 + draw(6), columns = 1 + draw(3);
    int64_t rows = 0;
    for (int r = 0; r < ranks; r++) {
        const int64_t n = x.equal ? same : 1 + draw(6);
        x.first[r] = x.total;
        x.count[r] = n * columns;
        if (r == me) x.mine = (shape_of){.rank = 2, .extent = {columns, n}};
        x.total += x.count[r];
        rows += n;
    }
    x.mine.type = (int)draw(NUMBER_TYPES + 1);
    x.all = (shape_of){.type = x.mine.type, .rank = 2, .extent = {rows, columns}};
    return x;
}

static void gathers(int rounds) {
    for (int r = 0; r < rounds; r++) {
        const shares x = some_shares();
        const int to_all = draw(2) == 0, root = (int)draw(ranks);
        const int64_t *counts = x.equal ? NULL : x.count;
        sample part = own_sample(&x.mine, 0), all = own_sample(&x.all, 5);
        known_part(&part, (uint64_t)r, x.first[me]);
        model_is_written(&part, places[draw(PLACES)]);
        if (to_all)
            SUCCEEDS(ha_mpi_allgather(all.view, part.view, counts, WORLD));
        else
            SUCCEEDS(ha_mpi_gather(all.view, part.view, counts, root, WORLD));
        if (to_all || me == root) model_becomes(&all, (uint64_t)r);
        end_sample(&part);
        end_sample(&all);
    }
    end_case("gathering");
}

static void scatters(int rounds) {
    for (int r = 0; r < rounds; r++) {
        const shares x = some_shares();
        const int root = (int)draw(ranks);
        const int64_t *counts = x.equal ? NULL : x.count;
        sample part = own_sample(&x.mine, 3), all = own_sample(&x.all, (uint64_t)r);
        SUCCEEDS(ha_mpi_scatter(part.view, all.view, counts, root, WORLD));
        known_part(&part, (uint64_t)r, x.first[me]);
        end_sample(&part);
        end_sample(&all);
    }
    end_case("scattering");
}

/* Element k of what rank a gives to rank b is number k of the message a * ranks + b. */
static void everything_to_everybody(int rounds) {
    for (int r = 0; r < rounds; r++) {
        const shape_of shape = {
            .type = (int)draw(NUMBER_TYPES + 1), .rank = 2, .extent = {ranks, 1 + draw(20)}};
        sample from = own_sample(&shape, 0), to = own_sample(&shape, 1);
        for (int64_t a = 0; a < ranks; a++)
            for (int64_t k = 0; k < shape.extent[1]; k++)
                known_element((unsigned char *)model_at(&from, (int64_t[]){a, k}), from.element,
                              from.is_bool, (uint64_t)(me * ranks + a), k);
        model_is_written(&from, places[draw(PLACES)]);
        SUCCEEDS(ha_mpi_alltoall(to.view, from.view, WORLD));
        for (int64_t a = 0; a < ranks; a++)
            for (int64_t k = 0; k < shape.extent[1]; k++)
                known_element((unsigned char *)model_at(&to, (int64_t[]){a, k}), to.element,
                              to.is_bool, (uint64_t)(a * ranks + me), k);
        end_sample(&from);
        end_sample(&to);
    }
    end_case("everything to everybody");
}

/* ---- reductions ------------------------------------------------------------------------------- */

/* Small whole numbers, which all types have, and whose sums and products are exact. */
static double number_of(int rank, int64_t k) { return (double)((rank + k) % 3 + (rank == k % 2)); }

static double reduced(MPI_Op op, int64_t k) {
    double x = number_of(0, k);
    for (int r = 1; r < ranks; r++) {
        const double y = number_of(r, k);
        x = op == MPI_SUM    ? x + y
            : op == MPI_PROD ? x * y
            : op == MPI_MIN  ? (x < y ? x : y)
            : x > y          ? x
                             : y;
    }
    return x;
}

static void set_number(sample *s, ha_dtype type, const int64_t *index, double number) {
    ha_dvalue value;
    SUCCEEDS(ha_dvalue_convert(ha_dvalue_of_double(number), type, &value));
    SUCCEEDS(ha_dvalue_store(value, type, model_at(s, index)));
}

/* op NULL: before. */
static void set_numbers(sample *s, ha_dtype type, const MPI_Op *op) {
    int64_t index[4] = {0}, k = 0;
    for (int d = 0; d >= 0; k++) {
        set_number(s, type, index, op ? reduced(*op, k) : number_of(me, k));
        for (d = s->view.rank - 1; d >= 0 && ++index[d] == s->view.extent[d]; d--) index[d] = 0;
    }
}

static void reductions(int rounds) {
    static const ha_dtype types[] = {HA_DTYPE_double,   HA_DTYPE_int32_t, HA_DTYPE_half,
                                     HA_DTYPE_bfloat16, HA_DTYPE_uint8_t, HA_DTYPE_float};
    const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
    for (int r = 0; r < rounds; r++) {
        shape_of shape = {.rank = 2, .extent = {1 + draw(40), 1 + draw(40)}};
        const ha_dtype type = types[r % 6];
        const MPI_Op op = ops[draw(4)];
        const int to_all = draw(2) == 0, root = (int)draw(ranks);
        random_state += (uint64_t)me;
        sample s = numbered_sample(type, &shape);
        set_numbers(&s, type, NULL);
        model_is_written(&s, places[draw(PLACES)]);
        if (to_all)
            SUCCEEDS(ha_mpi_allreduce(s.view, op, WORLD));
        else
            SUCCEEDS(ha_mpi_reduce(s.view, op, root, WORLD));
        if (to_all || me == root) set_numbers(&s, type, &op);
        end_sample(&s);
    }
    end_case("reductions");
}

#endif
