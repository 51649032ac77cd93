/* A step of examples/lbm, a lattice Boltzmann method, against what it cannot be faster than: copying as many numbers as it reads
 * and writes, in as many streams; by the threads of the host, and on the first OpenCL device, if there is one, by OpenCL's own
 * calls. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../examples/lbm/flow.h"

#include "../tests/support/opencl_device.h"
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

/* ---- copying on an OpenCL device ---------------------------------------------------------------- */

static void *copy_kernel, *buffers[2][VELOCITIES];

/* Each velocity has a buffer of its own, as in the layout soa. */
static void begin_copies_there(const work *w) {
    const size_t bytes = (size_t)(w->rows * w->columns) * sizeof(float);
    void *device;
    int32_t error = 0;
    load();
    open_device(&device);
    build(device,
          "#define FROM(k) __global const float *now##k\n"
          "#define TO(k) __global float *later##k\n"
          "#define COPY(k) later##k[at] = now##k[at]\n"
          "__kernel void copy(FROM(0), FROM(1), FROM(2), FROM(3), FROM(4), FROM(5), FROM(6),\n"
          "    FROM(7), FROM(8), TO(0), TO(1), TO(2), TO(3), TO(4), TO(5), TO(6), TO(7), TO(8)) {\n"
          "    const size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);\n"
          "    COPY(0); COPY(1); COPY(2); COPY(3); COPY(4); COPY(5); COPY(6); COPY(7); COPY(8);\n"
          "}\n",
          "");
    copy_kernel = cl.kernel(program, "copy", &error);
    bench_require(error == 0, "OpenCL's own kernel");
    for (int k = 0; k < 2 * VELOCITIES; k++)
        buffers[k / VELOCITIES][k % VELOCITIES] = new_buffer(bytes, w->now);
}

/* A team copies a part of a row. */
static void copy_there(const work *w, int from) {
    const size_t lanes[] = {(size_t)w->columns, (size_t)w->rows}, team[] = {64, 1};
    int failed = 0;
    for (uint32_t k = 0; k < VELOCITIES; k++) {
        failed |= cl.argument(copy_kernel, k, sizeof(void *), &buffers[from][k]);
        failed |= cl.argument(copy_kernel, VELOCITIES + k, sizeof(void *), &buffers[!from][k]);
    }
    failed |= cl.run(queue, copy_kernel, 2, NULL, lanes, team, 0, NULL, NULL);
    bench_require(!failed, "a launch by OpenCL's own calls");
}

static double time_copies_there(void *data, size_t count) {
    const work *w = (const work *)data;
    const double start = bench_now();
    float last;
    for (size_t k = 0; k < count; k++) {
        copy_there(w, 0);
        copy_there(w, 1);
    }
    read_back(buffers[0][0], sizeof last, &last);
    return bench_now() - start;
}

/* ---- figures ------------------------------------------------------------------------------------ */

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

static void work_free(work *w) {
    flow_free(w->flow);
    free(w->now), free(w->later);
}

static void figure(const char *name, work *w, const char *reference_name, bench_function *reference,
                   double bound) {
    /* two steps, each of which reads and writes all */
    const size_t bytes = (size_t)(w->rows * w->columns) * 4 * VELOCITIES * sizeof(float);
    bench_run(&(bench_figure){name, time_steps, w, reference_name, reference, w, bound, 0, bytes});
}

static void on_host(const char *name, int64_t rows, double bound) {
    work w = work_of(ha_host(), rows, 2 * rows);
    figure(name, &w, "copying", time_copies, bound);
    work_free(&w);
}

/* Copying there is what bounds it; copying on the host tells how the two compare. */
static void on_opencl(int64_t rows) {
    ha_context *opencl = ha_context_find("opencl");
    if (!opencl) (void)ha_take_error(); /* there is none */
    if (!opencl) return;
    work w = work_of(opencl, rows, 2 * rows);
    begin_copies_there(&w);
    figure("lbm on OpenCL, from DRAM", &w, "copying there", time_copies_there, 1.25);
    figure("lbm on OpenCL, beside the host", &w, "copying", time_copies, 0);
    work_free(&w);
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, "openmp");
    const int64_t large = bench_settings.least_ns > 0 ? 1024 : 64; /* a smoke test times nothing */
    on_host("lbm, in cache", 64, 0);
    on_host("lbm, from DRAM", large, 1.25);
    on_opencl(large);
    return 0;
}
