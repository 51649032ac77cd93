/* What an exchange of ghost cells costs by a plan of copies: eight boxes of n x n x n doubles with one
 * ghost cell all around, two in each dimension, periodic; each face goes to the neighbour's ghosts. Against
 * the loops over the faces that one would write for that, over memory of one's own. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray.h"

#include "bench.h"

enum { BOXES = 8, FACES = 6, MOST = 32 };
static const double BOUND = 1.5;

/* Row by row, padded by the ghost cells. */
typedef double *box;

typedef struct subject {
    int n;
    array_double_3 array[2][BOXES]; /* taken in turn, where the plan runs on others, too */
    ha_copy_plan *plan;
    box loops[BOXES];
} subject;

/* ---- by hand -------------------------------------------------------------------------------- */

/* Where a face begins, and its extents. */
typedef struct face {
    int i, j, k, extent[3];
} face;

static face face_of(int n, int d, int first) {
    face f = {1, 1, 1, {n, n, n}};
    int *const begin[] = {&f.i, &f.j, &f.k};
    *begin[d] = first;
    f.extent[d] = 1;
    return f;
}

static void copy_face(int n, box to, face there, box from, face here) {
    const int row = n + 2, plane = row * row;
    for (int i = 0; i < here.extent[0]; i++)
        for (int j = 0; j < here.extent[1]; j++)
            for (int k = 0; k < here.extent[2]; k++)
                to[(there.i + i) * plane + (there.j + j) * row + there.k + k] =
                    from[(here.i + i) * plane + (here.j + j) * row + here.k + k];
}

static double time_loops(void *data, size_t count) {
    const subject *s = data;
    const int n = s->n;
    const double start = bench_now();
    for (size_t c = 0; c < count; c++) {
        for (int b = 0; b < BOXES; b++)
            for (int d = 0; d < 3; d++) {
                box neighbour = s->loops[b ^ (4 >> d)];
                copy_face(n, neighbour, face_of(n, d, 0), s->loops[b], face_of(n, d, n));
                copy_face(n, neighbour, face_of(n, d, n + 1), s->loops[b], face_of(n, d, 1));
            }
        bench_barrier();
    }
    return bench_now() - start;
}

/* ---- by a plan ------------------------------------------------------------------------------ */

static double time_plan(void *data, size_t count) {
    const subject *s = data;
    const double start = bench_now();
    for (size_t c = 0; c < count; c++) {
        HA_CHECK(ha_copy_plan_run(s->plan));
        bench_barrier();
    }
    return bench_now() - start;
}

static double time_plan_on_others(void *data, size_t count) {
    const subject *s = data;
    ha_array *of[BOXES], *by[BOXES];
    for (int b = 0; b < BOXES; b++) {
        of[b] = s->array[0][b].array;
        by[b] = s->array[1][b].array;
    }
    const double start = bench_now();
    for (size_t c = 0; c < count; c++) {
        HA_CHECK(ha_copy_plan_run_on(s->plan, of, by, BOXES));
        bench_barrier();
    }
    return bench_now() - start;
}

/* Of dimension d the indices [first, first + 1), of the others the interior. */
static darray layer(array_double_3 x, int d, int first) {
    const int64_t n = x.extent[0] - 2;
    int64_t low[3] = {0, 0, 0}, high[3] = {n, n, n};
    low[d] = first;
    high[d] = first + 1;
    return darray_part(array_double_3_to_darray(x), low, high);
}

static void make(subject *s, int n) {
    ha_copy_pair pairs[BOXES * FACES];
    size_t count = 0;
    s->n = n;
    for (int k = 0; k < 2 * BOXES; k++)
        s->array[k / BOXES][k % BOXES] = array_double_3_make(
            &(ha_shape){
                .rank = 3, .extent = {n, n, n}, .ghost_low = {1, 1, 1}, .ghost_high = {1, 1, 1}},
            ha_host());
    for (int k = 0; k < 2 * BOXES; k++)
        HA_CHECK(array_double_3_fill(s->array[k / BOXES][k % BOXES], k, ha_host()));
    for (int b = 0; b < BOXES; b++) {
        s->loops[b] = calloc((size_t)((n + 2) * (n + 2) * (n + 2)), sizeof(double));
        bench_require(s->loops[b] != NULL, "memory");
        for (int d = 0; d < 3; d++) {
            const array_double_3 x = s->array[0][b], neighbour = s->array[0][b ^ (4 >> d)];
            pairs[count++] = (ha_copy_pair){layer(neighbour, d, -1), layer(x, d, n - 1), ha_host()};
            pairs[count++] = (ha_copy_pair){layer(neighbour, d, n), layer(x, d, 0), ha_host()};
        }
    }
    s->plan = ha_copy_plan_new(pairs, count);
    bench_require(s->plan != NULL, "plan");
    HA_CHECK(ha_copy_plan_run(s->plan));
}

static void end(subject *s) {
    ha_copy_plan_free(s->plan);
    for (int k = 0; k < 2 * BOXES; k++)
        HA_CHECK(array_double_3_free(&s->array[k / BOXES][k % BOXES]));
    for (int b = 0; b < BOXES; b++) free(s->loops[b]);
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, "included");
    for (int n = 8; n <= MOST; n *= 2) {
        char name[2][80];
        subject s;
        make(&s, n);
        (void)snprintf(name[0], sizeof name[0], "eight boxes of %d^3, a plan", n);
        (void)snprintf(name[1], sizeof name[1], "eight boxes of %d^3, a plan on other arrays", n);
        bench_run(&(bench_figure){name[0], time_plan, &s, "loops", time_loops, &s, .bound = BOUND});
        bench_run(&(bench_figure){name[1], time_plan_on_others, &s, "loops", time_loops, &s,
                                  .bound = BOUND});
        end(&s);
    }
    HA_CHECK(ha_shutdown());
    return 0;
}
