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

/* ---- on an OpenCL device, by its own calls ------------------------------------------------------- */

/* Each velocity has a buffer of its own, as in the layout soa. The step is that of lattice.h. */
static const char text_there[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "#define FROM(k) __global const float *restrict now##k\n"
    "#define TO(k) __global float *restrict later##k\n"
    "#define ALL(X) X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7), X(8)\n"
    "#define COPY(k) later##k[at] = now##k[at]\n"
    "__kernel void copy_sites(ALL(FROM), ALL(TO)) {\n"
    "    const size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);\n"
    "    ALL(COPY);\n"
    "}\n"
    "__kernel void step_sites(ALL(FROM), ALL(TO), __global const uchar *restrict is_solid, const "
    "int "
    "row,\n"
    "                   const float even, const float odd) {\n"
    "    const int j = get_global_id(1) + 1, i = get_global_id(0) + 1, at = j * row + i;\n"
    "    const float f0 = now0[at];\n"
    "    const float f1 = now1[at - 1];\n"
    "    const float f2 = now2[at + 1];\n"
    "    const float f3 = now3[at + row];\n"
    "    const float f4 = now4[at - row];\n"
    "    const float f5 = now5[at + row - 1];\n"
    "    const float f6 = now6[at - row + 1];\n"
    "    const float f7 = now7[at + row + 1];\n"
    "    const float f8 = now8[at - row - 1];\n"
    "    const float density = f0 + ((f1 + f2) + (f3 + f4)) + ((f5 + f6) + (f7 + f8));\n"
    "    const float inverse = 1 / density;\n"
    "    const float x = ((f1 - f2) + (f5 - f6) + (f8 - f7)) * inverse;\n"
    "    const float y = ((f3 - f4) + (f5 - f6) + (f7 - f8)) * inverse;\n"
    "    const float still = 1 - 1.5f * (x * x + y * y), p = x + y, q = y - x;\n"
    "    const float along = density * (2.f / 9), across = density * (2.f / 36);\n"
    "    const float more1 = even * ((f1 + f2) - along * (still + 4.5f * (x * x)));\n"
    "    const float more3 = even * ((f3 + f4) - along * (still + 4.5f * (y * y)));\n"
    "    const float more5 = even * ((f5 + f6) - across * (still + 4.5f * (p * p)));\n"
    "    const float more7 = even * ((f7 + f8) - across * (still + 4.5f * (q * q)));\n"
    "    const float apart1 = odd * ((f1 - f2) - 3 * along * x);\n"
    "    const float apart3 = odd * ((f3 - f4) - 3 * along * y);\n"
    "    const float apart5 = odd * ((f5 - f6) - 3 * across * p);\n"
    "    const float apart7 = odd * ((f7 - f8) - 3 * across * q);\n"
    "    const bool solid = is_solid[at] != 0;\n"
    "    later0[at] = solid ? f0 : f0 - 2 * even * (f0 - 2 * along * still);\n"
    "    later1[at] = solid ? f2 : f1 - more1 - apart1;\n"
    "    later2[at] = solid ? f1 : f2 - more1 + apart1;\n"
    "    later3[at] = solid ? f4 : f3 - more3 - apart3;\n"
    "    later4[at] = solid ? f3 : f4 - more3 + apart3;\n"
    "    later5[at] = solid ? f6 : f5 - more5 - apart5;\n"
    "    later6[at] = solid ? f5 : f6 - more5 + apart5;\n"
    "    later7[at] = solid ? f8 : f7 - more7 - apart7;\n"
    "    later8[at] = solid ? f7 : f8 - more7 + apart7;\n"
    "}\n";

static struct { void *copy, *step, *solid, *buffer[2][VELOCITIES]; } there;

static void *kernel_there(const char *name) {
    int32_t error = 0;
    void *kernel = cl.kernel(program, name, &error);
    bench_require(error == 0, "OpenCL's own kernel");
    return kernel;
}

/* A fluid at rest: what a step leaves as it is. */
static void begin_there(const work *w) {
    const size_t sites = (size_t)(w->rows * w->columns);
    void *device;
    load();
    open_device(&device);
    build(device, text_there, "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt");
    there.copy = kernel_there("copy_sites");
    there.step = kernel_there("step_sites");
    for (int k = 0; k < VELOCITIES; k++) {
        for (size_t i = 0; i < sites; i++)
            w->now[i] = k == 0 ? 4.f / 9 : k < 5 ? 1.f / 9 : 1.f / 36;
        for (int n = 0; n < 2; n++) there.buffer[n][k] = new_buffer(sites * sizeof(float), w->now);
    }
    there.solid = new_buffer(sites, memset(w->now, 0, sites));
}

static int give_buffers(void *kernel, int from) {
    int failed = 0;
    for (uint32_t k = 0; k < VELOCITIES; k++) {
        failed |= cl.argument(kernel, k, sizeof(void *), &there.buffer[from][k]);
        failed |= cl.argument(kernel, VELOCITIES + k, sizeof(void *), &there.buffer[!from][k]);
    }
    return failed;
}

/* A team copies a part of a row. */
static void copy_there(const work *w, int from) {
    const size_t lanes[] = {(size_t)w->columns, (size_t)w->rows}, team[] = {64, 1};
    const int failed = give_buffers(there.copy, from) ||
                       cl.run(queue, there.copy, 2, NULL, lanes, team, 0, NULL, NULL);
    bench_require(!failed, "a launch by OpenCL's own calls");
}

/* Exactly as many lanes as there are sites, in teams as OpenCL chooses them. */
static void step_there(const work *w, int from) {
    const size_t lanes[] = {(size_t)w->columns - 2, (size_t)w->rows - 2};
    const int32_t row = (int32_t)w->columns;
    const float even = 0.9f, odd = 0.5f;
    const int failed = give_buffers(there.step, from) ||
                       cl.argument(there.step, 18, sizeof(void *), &there.solid) ||
                       cl.argument(there.step, 19, sizeof row, &row) ||
                       cl.argument(there.step, 20, sizeof even, &even) ||
                       cl.argument(there.step, 21, sizeof odd, &odd) ||
                       cl.run(queue, there.step, 2, NULL, lanes, NULL, 0, NULL, NULL);
    bench_require(!failed, "a launch by OpenCL's own calls");
}

/* Twice each, as a pair of steps goes; then a site that they have written is looked at, which waits for them. */
#define TIME_THERE(name)                                                                           \
    static double time_##name(void *data, size_t count) {                                          \
        const work *w = (const work *)data;                                                        \
        const size_t site = (size_t)w->columns + 1;                                                \
        const double start = bench_now();                                                          \
        for (size_t k = 0; k < 2 * count; k++) name(w, (int)(k % 2));                              \
        read_back(there.buffer[0][0], (site + 1) * sizeof(float), w->later);                       \
        bench_require(w->later[site] > 0.444f && w->later[site] < 0.445f, "a fluid at rest");      \
        return bench_now() - start;                                                                \
    }
TIME_THERE(copy_there)
TIME_THERE(step_there)

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

/* Copying there is what bounds it; the step by hand tells what of that the device's compiler takes; and copying on the
 * host how the two compare. */
static void on_opencl(int64_t rows) {
    ha_context *opencl = ha_context_find("opencl");
    if (!opencl) (void)ha_take_error(); /* there is none */
    if (!opencl) return;
    work w = work_of(opencl, rows, 2 * rows);
    begin_there(&w);
    figure("lbm on OpenCL, from DRAM", &w, "copying there", time_copy_there, 1.25);
    figure("lbm on OpenCL, by hand", &w, "OpenCL's calls", time_step_there, 1.05);
    figure("lbm on OpenCL, beside the host", &w, "copying", time_copies, 1.25);
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
