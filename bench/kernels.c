/* Kernels against the same loops written by hand, in the same memory: y += a x and x = a y + z in cache and
 * from DRAM, stencils on the interior, sums; and what a launch costs: on the host, on a simulated device, and on the
 * first OpenCL device beside OpenCL's own calls, if there is one.
 *
 * Compiled with OpenMP all loops are shared by two threads. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray_kernels.h"

#include "../tests/support/opencl_device.h"
#include "bench.h"

#define LOOP __attribute__((noinline, aligned(64))) static
#ifdef _OPENMP
#define SHARED _Pragma("omp parallel for")
#define SHARED_SUMS _Pragma("omp parallel for reduction(+ : sum[:SUMS])")
#define THREADS ", 2 threads"
enum { HAS_DEVICES = 0 };
#else
#define SHARED
#define SHARED_SUMS
#define THREADS ""
enum { HAS_DEVICES = 1 };
#endif

enum {
    IN_CACHE = 16384,
    FROM_DRAM = 1 << 23,
    SIDE = 192,     /* of a square grid in cache */
    EDGE = 32,      /* of a cube in cache */
    AT_ONCE = 64,   /* launches before the queue is waited for */
    THERE = 1 << 22 /* elements on a device */
};

/* ---- the kernels, and the loops by hand --------------------------------------------------------- */

HA_KERNEL(axpy, ((value, double, a), (in, double, x), (inout, double, y)), i,
          { y[i] += a * x[i]; });

HA_KERNEL(triad, ((value, double, a), (in, double, y), (in, double, z), (out, double, x)), i,
          { x[i] = a * y[i] + z[i]; });

HA_KERNEL(five, ((in, array_double_2, u), (out, array_double_2, w)), (j, i), {
    HA_AT(w, j, i) = HA_AT(u, j - 1, i) + HA_AT(u, j + 1, i) + HA_AT(u, j, i - 1) +
                     HA_AT(u, j, i + 1) - 4 * HA_AT(u, j, i);
});

HA_KERNEL(seven, ((in, array_double_3, u), (out, array_double_3, w)), (k, j, i), {
    HA_AT(w, k, j, i) = HA_AT(u, k - 1, j, i) + HA_AT(u, k + 1, j, i) + HA_AT(u, k, j - 1, i) +
                        HA_AT(u, k, j + 1, i) + HA_AT(u, k, j, i - 1) + HA_AT(u, k, j, i + 1) -
                        6 * HA_AT(u, k, j, i);
});

LOOP void axpy_by_hand(int64_t n, double a, const double *restrict x, double *restrict y) {
    SHARED for (int64_t i = 0; i < n; i++) y[i] += a * x[i];
}

LOOP void triad_by_hand(int64_t n, double a, const double *restrict y, const double *restrict z,
                        double *restrict x) {
    SHARED for (int64_t i = 0; i < n; i++) x[i] = a * y[i] + z[i];
}

LOOP void five_by_hand(int64_t n, const double *restrict u, double *restrict w) {
    SHARED for (int64_t j = 1; j < n - 1; j++) for (int64_t i = 1; i < n - 1; i++) {
        const double *at = &u[j * n + i];
        w[j * n + i] = at[-n] + at[n] + at[-1] + at[1] - 4 * *at;
    }
}

LOOP void seven_by_hand(int64_t n, const double *restrict u, double *restrict w) {
    SHARED for (int64_t k = 1; k < n - 1; k++) for (int64_t j = 1; j < n - 1;
                                                    j++) for (int64_t i = 1; i < n - 1; i++) {
        const int64_t m = (k * n + j) * n + i;
        w[m] = u[m - n * n] + u[m + n * n] + u[m - n] + u[m + n] + u[m - 1] + u[m + 1] - 6 * u[m];
    }
}

HA_REDUCE(sum, ((in, double, x)), i, double, HA_SUM, x[i]);
HA_REDUCE(dot, ((in, double, x), (in, double, y)), i, double, HA_SUM, x[i] * y[i]);

/* 16 sums at once, as the kernels have them. */
enum { SUMS = 16 };
#define SUM_BY_HAND(name, ...)                                                                     \
    LOOP double name(int64_t n, const double *restrict x, const double *restrict y) {              \
        double sum[SUMS] = {0};                                                                    \
        SHARED_SUMS for (int64_t i = 0; i <= n - SUMS; i += SUMS) for (int l = 0; l < SUMS; l++)   \
            sum[l] += __VA_ARGS__;                                                                 \
        for (int d = SUMS / 2; d > 0; d /= 2)                                                      \
            for (int l = 0; l < d; l++) sum[l] += sum[l + d];                                      \
        return (void)y, sum[0];                                                                    \
    }
SUM_BY_HAND(sum_by_hand, x[i + l])
SUM_BY_HAND(dot_by_hand, x[i + l] * y[i + l])

/* ---- timing ------------------------------------------------------------------------------------- */

/* Arrays, and where they are on the host; of grids the number of points in a row. */
typedef struct work {
    ha_context *where;
    harray_double x, y, z;
    double *px, *py, *pz;
    int64_t n;
    array_double_2 u2, w2;
    array_double_3 u3, w3;
    double *pu2, *pw2, *pu3, *pw3;
    int64_t n2, n3;
} work;

BENCH_TIME(axpy, HA_CHECK(axpy(w->where, w->n, 1e-9, w->x, w->y)))
BENCH_TIME(axpy_by_hand, axpy_by_hand(w->n, 1e-9, w->px, w->py))
BENCH_TIME(triad, HA_CHECK(triad(w->where, w->n, 0.5, w->y, w->z, w->x)))
BENCH_TIME(triad_by_hand, triad_by_hand(w->n, 0.5, w->py, w->pz, w->px))
BENCH_TIME(five, HA_CHECK(five_in(w->where, ha_box2(1, w->n2 - 1, 1, w->n2 - 1), w->u2, w->w2)))
BENCH_TIME(five_by_hand, five_by_hand(w->n2, w->pu2, w->pw2))
BENCH_TIME(seven, HA_CHECK(seven_in(w->where, ha_box3(1, w->n3 - 1, 1, w->n3 - 1, 1, w->n3 - 1),
                                    w->u3, w->w3)))
BENCH_TIME(seven_by_hand, seven_by_hand(w->n3, w->pu3, w->pw3))

static volatile double result;
BENCH_TIME(sum, {
    double s;
    HA_CHECK(sum(w->where, w->n, w->x, &s));
    result = s;
})
BENCH_TIME(sum_by_hand, result = sum_by_hand(w->n, w->px, w->py))
BENCH_TIME(dot, {
    double s;
    HA_CHECK(dot(w->where, w->n, w->x, w->y, &s));
    result = s;
})
BENCH_TIME(dot_by_hand, result = dot_by_hand(w->n, w->px, w->py))

BENCH_TIME(no_lanes, HA_CHECK(axpy(w->where, 0, 1e-9, w->x, w->y)))
BENCH_TIME(no_lanes_of_views, HA_CHECK(five(w->where, HA_DIM(0, 0), w->u2, w->w2)))
BENCH_TIME(two_accesses, {
    ha_read_double r;
    ha_write_double v;
    HA_CHECK(ha_open(&r, w->x.array, w->where, HA_READ, 0, HA_END));
    HA_CHECK(ha_open(&v, w->y.array, w->where, HA_WRITE, 0, HA_END));
    HA_CHECK(ha_close(&v));
    HA_CHECK(ha_close(&r));
})

/* What enqueuing takes; that it is done is waited for, and not timed. */
#define TIME_QUEUE(name, call, finish)                                                             \
    static double time_##name(void *data, size_t count) {                                          \
        work *w = (work *)data;                                                                    \
        double ns = 0;                                                                             \
        for (size_t done = 0; done < count; done += AT_ONCE) {                                     \
            const double start = bench_now();                                                      \
            for (size_t k = done; k < count && k < done + AT_ONCE; k++) call;                      \
            ns += bench_now() - start;                                                             \
            finish;                                                                                \
        }                                                                                          \
        return ns;                                                                                 \
    }

static void nothing(const ha_queue *q, void *argument) { (void)q, (void)argument; }

TIME_QUEUE(one_lane, HA_CHECK(axpy(w->where, 1, 1e-9, w->x, w->y)),
           HA_CHECK(ha_context_finish(w->where)))
TIME_QUEUE(enqueue, HA_CHECK(ha_enqueue(w->where, nothing, NULL, 0)),
           HA_CHECK(ha_context_finish(w->where)))

/* ---- OpenCL by its own calls -------------------------------------------------------------------- */

static void *raw_kernel, *raw_x, *raw_y;

static void raw_axpy(size_t lanes) {
    const double a = 1e-9;
    const int failed = cl.argument(raw_kernel, 0, sizeof a, &a) ||
                       cl.argument(raw_kernel, 1, sizeof raw_x, &raw_x) ||
                       cl.argument(raw_kernel, 2, sizeof raw_y, &raw_y) ||
                       cl.run(queue, raw_kernel, 1, NULL, &lanes, NULL, 0, NULL, NULL);
    bench_require(!failed, "a launch by OpenCL's own calls");
}

static void raw_finish(void) {
    double last;
    read_back(raw_y, sizeof last, &last);
}

static void raw_begin(void) {
    void *device;
    int32_t error = 0;
    load();
    open_device(&device);
    build(device,
          "#pragma OPENCL FP_CONTRACT OFF\n"
          "__kernel void axpy(double a, __global const double *x, __global double *y) {\n"
          "    const size_t i = get_global_id(0);\n"
          "    y[i] += a * x[i];\n"
          "}\n",
          "");
    raw_kernel = cl.kernel(program, "axpy", &error);
    bench_require(error == 0, "OpenCL's own kernel");
    double *ones = (double *)malloc(THERE * sizeof *ones);
    bench_require(ones != NULL, "memory");
    for (int i = 0; i < THERE; i++) ones[i] = 1;
    raw_x = new_buffer(THERE * sizeof *ones, ones);
    raw_y = new_buffer(THERE * sizeof *ones, ones);
    free(ones);
}

TIME_QUEUE(raw_one_lane, ((void)w, raw_axpy(1)), raw_finish())
BENCH_TIME(axpy_there, (HA_CHECK(axpy(w->where, w->n, 1e-9, w->x, w->y)),
                        HA_CHECK(ha_context_finish(w->where))))
BENCH_TIME(raw_axpy_there, (raw_axpy((size_t)w->n), raw_finish()))

/* ---- figures ------------------------------------------------------------------------------------ */

static void figure(const char *name, bench_function *function, work *w, const char *reference_name,
                   bench_function *reference, double bound, double bound_ns, size_t bytes) {
    bench_run(
        &(bench_figure){name, function, w, reference_name, reference, w, bound, bound_ns, bytes});
}

static work work_at(ha_context *where, int64_t n) {
    const size_t size = (size_t)n;
    work w = {.where = where, .n = n};
    w.x = harray_double_filled(size, 1);
    w.y = harray_double_filled(size, 1);
    w.z = harray_double_filled(size, 1);
    HA_WRITING(v, w.x, ha_host()) w.px = v.data;
    HA_WRITING(v, w.y, ha_host()) w.py = v.data;
    HA_WRITING(v, w.z, ha_host()) w.pz = v.data;
    return w;
}

static void free_work(work *w) {
    HA_CHECK(harray_double_free(&w->x));
    HA_CHECK(harray_double_free(&w->y));
    HA_CHECK(harray_double_free(&w->z));
}

static void loops(const char *axpy_name, const char *triad_name, int64_t n) {
    work w = work_at(ha_host(), n);
    const size_t bytes = (size_t)n * 3 * sizeof(double);
    figure(axpy_name, time_axpy, &w, "by hand", time_axpy_by_hand, 1.02, 0, bytes);
    figure(triad_name, time_triad, &w, "by hand", time_triad_by_hand, 1.02, 0, bytes);
    free_work(&w);
}

static void sums(const char *sum_name, const char *dot_name, int64_t n, double bound) {
    work w = work_at(ha_host(), n);
    const size_t bytes = (size_t)n * sizeof(double);
    figure(sum_name, time_sum, &w, "by hand", time_sum_by_hand, bound, 0, bytes);
    figure(dot_name, time_dot, &w, "by hand", time_dot_by_hand, bound, 0, 2 * bytes);
    free_work(&w);
}

static work grids_of(int64_t n2, int64_t n3) {
    work w = work_at(ha_host(), 1000);
    w.n2 = n2, w.n3 = n3;
    w.u2 = array_double_2_filled(HA_DIM(n2, n2), 1, NULL);
    w.w2 = array_double_2_filled(HA_DIM(n2, n2), 1, NULL);
    w.u3 = array_double_3_filled(HA_DIM(n3, n3, n3), 1, NULL);
    w.w3 = array_double_3_filled(HA_DIM(n3, n3, n3), 1, NULL);
    HA_WRITING(v, w.u2, ha_host()) w.pu2 = v.span.data;
    HA_WRITING(v, w.w2, ha_host()) w.pw2 = v.span.data;
    HA_WRITING(v, w.u3, ha_host()) w.pu3 = v.span.data;
    HA_WRITING(v, w.w3, ha_host()) w.pw3 = v.span.data;
    return w;
}

static void grids(void) {
    work w = grids_of(SIDE, EDGE);
    figure("5 points" THREADS, time_five, &w, "by hand", time_five_by_hand, 1.03, 0, 0);
    figure("7 points" THREADS, time_seven, &w, "by hand", time_seven_by_hand, 1.03, 0, 0);
    figure("launch of two arrays, no lanes" THREADS, time_no_lanes, &w, "two accesses",
           time_two_accesses, 0, 100, 0);
    figure("launch of two views, no lanes" THREADS, time_no_lanes_of_views, &w, "two accesses",
           time_two_accesses, 0, 250, 0);
    HA_CHECK(array_double_2_free(&w.u2));
    HA_CHECK(array_double_2_free(&w.w2));
    HA_CHECK(array_double_3_free(&w.u3));
    HA_CHECK(array_double_3_free(&w.w3));
    free_work(&w);
}

static void on_devices(void) {
    work w = work_at(ha_context_find("sim"), 1000);
    figure("launch on sim", time_one_lane, &w, "ha_enqueue", time_enqueue, 0, 0, 0);
    free_work(&w);
    ha_context *opencl = ha_context_find("opencl");
    (void)ha_take_error();
    if (!opencl) return;
    raw_begin();
    w = work_at(opencl, THERE);
    figure("launch on OpenCL", time_one_lane, &w, "OpenCL's calls", time_raw_one_lane, 0, 0, 0);
    figure("axpy on OpenCL", time_axpy_there, &w, "OpenCL's calls", time_raw_axpy_there, 1.05, 0,
           THERE * 3 * sizeof(double));
    free_work(&w);
}

int main(int argc, char **argv) {
#ifdef _OPENMP
    omp_set_num_threads(2);
    bench_begin(argc, argv, "OpenMP");
#else
    bench_begin(argc, argv, "plain");
#endif
    loops("axpy, in cache" THREADS, "triad, in cache" THREADS, IN_CACHE);
    loops("axpy, from DRAM" THREADS, "triad, from DRAM" THREADS, FROM_DRAM);
    grids();
    sums("sum, in cache" THREADS, "dot, in cache" THREADS, IN_CACHE, 1.15);
    sums("sum, from DRAM" THREADS, "dot, from DRAM" THREADS, FROM_DRAM, 1.05);
    if (HAS_DEVICES) on_devices();
    return 0;
}
