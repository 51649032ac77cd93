/* A step of examples/lbm, a lattice Boltzmann method, against what it cannot be faster than: copying as many numbers as it reads
 * and writes, in as many streams, by the threads of the host; there, and on the first OpenCL device if there is one. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../examples/lbm/flow.h"

#include "bench.h"

enum { VELOCITIES = 9 };

typedef struct work {
    int64_t rows, columns;
    ha_context *where;
    flow *flow;
    float *now, *later; /* of all velocities, one after the other */
} work;

/* On a device they are enqueued, one behind the other. */
static double time_steps(void *data, size_t count) {
    const work *w = (const work *)data;
    const double start = bench_now();
    if (!flow_steps(w->flow, (int64_t)count)) abort();
    HA_CHECK(ha_context_finish(w->where));
    return bench_now() - start;
}

/* Row by row, as a step goes. */
__attribute__((noinline)) static void copy(const work *w, const float *now, float *restrict later) {
    const int64_t sites = w->rows * w->columns;
#pragma omp parallel for
    for (int64_t j = 0; j < w->rows; j++)
        for (int k = 0; k < VELOCITIES; k++) {
            const int64_t first = k * sites + j * w->columns;
            for (int64_t i = first; i < first + w->columns; i++) later[i] = now[i];
        }
}
BENCH_TIME(copies, copy(w, w->now, w->later); copy(w, w->later, w->now))

static work work_of(ha_context *where, int64_t rows, int64_t columns) {
    work w = {.rows = rows, .columns = columns, .where = where};
    const size_t sites = (size_t)(rows * columns);
    const int64_t middle = rows / 2, size = rows / 16;
    shape s = {rows, columns, ha_box2(middle, middle + size, 4 * size, 5 * size), calloc(sites, 1),
               NULL};
    if (!s.mask) abort();
    for (int64_t j = s.box.first[0]; j < s.box.last[0]; j++)
        memset(s.mask + j * columns + s.box.first[1], 1, (size_t)size);
    const setting how = {where, "soa", 0.02, false, 1};
    w.flow = flow_new(&s, &how);
    free(s.mask);
    w.now = malloc(sites * VELOCITIES * sizeof(float));
    w.later = malloc(sites * VELOCITIES * sizeof(float));
    if (!w.flow || !w.now || !w.later) abort();
    (void)time_steps(&w, 1); /* values have been moved there, and the kernel is compiled */
    copy(&w, memset(w.now, 0, sites * VELOCITIES * sizeof(float)), w.later);
    return w;
}

static void figure(const char *name, ha_context *where, int64_t rows, int64_t columns,
                   double bound) {
    work w = work_of(where, rows, columns);
    /* two steps, each of which reads and writes all */
    const size_t bytes = (size_t)(rows * columns) * 4 * VELOCITIES * sizeof(float);
    bench_run(&(bench_figure){name, time_steps, &w, "copying", time_copies, &w, bound, 0, bytes});
    flow_free(w.flow);
    free(w.now), free(w.later);
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, "openmp");
    figure("lbm, in cache", ha_host(), 64, 128, 0);
    const int64_t large = bench_settings.least_ns > 0 ? 1024 : 64; /* a smoke test times nothing */
    figure("lbm, from DRAM", ha_host(), large, 2 * large, 1.25);
    ha_context *opencl = ha_context_find("opencl");
    if (opencl)
        figure("lbm on OpenCL, from DRAM", opencl, large, 2 * large, 0);
    else
        (void)ha_take_error(); /* there is none */
    return 0;
}
