/* Operations on arrays against the same loops by hand, in the same memory: in cache, from DRAM, on the interior of a
 * grid; against copies of as many bytes; and what the call of one costs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray_ops.h"

#include "bench.h"
#include <math.h>
#include <string.h>

HA_OPS(double);

#define LOOP __attribute__((noinline, aligned(64))) static
enum { IN_CACHE = 16384, FROM_DRAM = 1 << 23, SIDE = 192, FEW = 8 };

LOOP void fill_by_hand(int64_t n, double value, double *x) {
    for (int64_t i = 0; i < n; i++) x[i] = value;
}
LOOP void abs_by_hand(int64_t n, const double *x, double *y) {
    for (int64_t i = 0; i < n; i++) y[i] = fabs(x[i]);
}
LOOP void axpby_by_hand(int64_t n, double a, const double *x, double b, const double *y,
                        double *restrict z) {
    for (int64_t i = 0; i < n; i++) z[i] = a * x[i] + b * y[i];
}
LOOP void interior_by_hand(int64_t n, double a, double *u) {
    for (int64_t j = 1; j < n - 1; j++)
        for (int64_t i = 1; i < n - 1; i++) u[j * n + i] *= a;
}

/* 16 sums: of one, each sum would wait for the one before. */
LOOP double dot_by_hand(int64_t n, const double *x, const double *y) {
    double sum[16] = {0}, all = 0;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (int l = 0; l < 16; l++) sum[l] += x[i + l] * y[i + l];
    for (; i < n; i++) all += x[i] * y[i];
    for (int l = 0; l < 16; l++) all += sum[l];
    return all;
}
LOOP void where_by_hand(int64_t n, const uint8_t *mask, const double *x, const double *y,
                        double *restrict z) {
    for (int64_t i = 0; i < n; i++) z[i] = mask[i] ? x[i] : y[i];
}

LOOP void convert_by_hand(int64_t n, const double *x, float *restrict y) {
    for (int64_t i = 0; i < n; i++) y[i] = (float)x[i];
}

typedef struct work {
    int64_t n;
    double sum;
    harray_uint8_t mask;
    uint8_t *pmask;
    harray_double x, y, z;
    double *px, *py, *pz;
    harray_float f;
    harray_int32_t at;
    float *pf;
    array_double_2 grid, interior;
    double *pgrid;
    char *from, *to; /* of memcpy */
    size_t copied;
} work;

BENCH_TIME(fill, HA_CHECK(darray_fill(HA_DARRAY(w->z), HA_DVALUE(0.5), NULL)))
BENCH_TIME(memcpy, memcpy(w->to, w->from, w->copied))
BENCH_TIME(memset, memset(w->pz, 1, (size_t)w->n * sizeof *w->pz))
BENCH_TIME(convert, HA_CHECK(darray_copy(HA_DARRAY(w->f), HA_DARRAY(w->x), NULL)))
BENCH_TIME(convert_by_hand, convert_by_hand(w->n, w->px, w->pf))
BENCH_TIME(abs, HA_CHECK(ha_map(HA_ABS, w->y, w->x, NULL)))
BENCH_TIME(abs_by_hand, abs_by_hand(w->n, w->px, w->py))
BENCH_TIME(copy, HA_CHECK(darray_copy(HA_DARRAY(w->y), HA_DARRAY(w->x), NULL)))
BENCH_TIME(gather, HA_CHECK(ha_gather(w->y, w->x, w->at, NULL)))
BENCH_TIME(axpby, HA_CHECK(ha_axpby(w->z, 0.5, w->x, 0.25, w->y, NULL)))
BENCH_TIME(axpy, HA_CHECK(ha_axpy(w->z, 1e-9, w->x, NULL)))
BENCH_TIME(axpby_by_hand, axpby_by_hand(w->n, 0.5, w->px, 0.25, w->py, w->pz))
BENCH_TIME(dot, HA_CHECK(ha_dot(w->x, w->y, &w->sum, NULL)))
BENCH_TIME(dot_by_hand, w->sum = dot_by_hand(w->n, w->px, w->py))
BENCH_TIME(where, HA_CHECK(ha_where(w->z, w->mask, w->x, w->y, NULL)))
BENCH_TIME(where_by_hand, where_by_hand(w->n, w->pmask, w->px, w->py, w->pz))
BENCH_TIME(interior,
           HA_CHECK(ha_combine_number(HA_MULTIPLY, w->interior, w->interior, 0.999, NULL)))
BENCH_TIME(interior_by_hand, interior_by_hand(SIDE, 0.999, w->pgrid))

/* As functions of one type, and the same by hand: loops within accesses. */
BENCH_TIME(typed_fill, HA_CHECK(harray_double_fill(w->z, 0.5, NULL)))
BENCH_TIME(typed_abs, HA_CHECK(harray_double_map(HA_ABS, w->y, w->x, NULL)))
BENCH_TIME(typed_axpby, HA_CHECK(harray_double_axpby(w->z, 0.5, w->x, 0.25, w->y, NULL)))
BENCH_TIME(typed_dot, HA_CHECK(harray_double_dot(w->x, w->y, &w->sum, NULL)))
BENCH_TIME(open_fill, HA_WRITING(z, w->z, ha_host()) fill_by_hand((int64_t)z.size, 0.5, z.data))
BENCH_TIME(open_abs, HA_WRITING(y, w->y, ha_host()) HA_READING(x, w->x, ha_host())
                         abs_by_hand((int64_t)y.size, x.data, y.data))
BENCH_TIME(open_axpby, HA_WRITING(z, w->z, ha_host()) HA_READING(x, w->x, ha_host())
                           HA_READING(y, w->y, ha_host())
                               axpby_by_hand((int64_t)z.size, 0.5, x.data, 0.25, y.data, z.data))
BENCH_TIME(open_dot, HA_READING(x, w->x, ha_host()) HA_READING(y, w->y, ha_host())
                         w->sum = dot_by_hand((int64_t)x.size, x.data, y.data))
BENCH_TIME(open_copy, HA_WRITING(y, w->y, ha_host()) HA_READING(x, w->x, ha_host())
                          memcpy(y.data, x.data, y.size * sizeof *y.data))
BENCH_TIME(open_gather, HA_WRITING(y, w->y, ha_host()) HA_READING(x, w->x, ha_host())
                            HA_READING(at, w->at, ha_host()) for (size_t i = 0; i < at.size; i++)
                                y.data[i] = x.data[at.data[i]])

static work work_of(int64_t n) {
    work w = {.n = n};
    w.x = harray_double_filled((size_t)n, -1);
    w.y = harray_double_filled((size_t)n, 1);
    w.z = harray_double_filled((size_t)n, 1);
    HA_WRITING(v, w.x, ha_host()) w.px = v.data;
    HA_WRITING(v, w.y, ha_host()) w.py = v.data;
    HA_WRITING(v, w.z, ha_host()) w.pz = v.data;
    w.f = harray_float_filled((size_t)n, 1);
    HA_WRITING(v, w.f, ha_host()) w.pf = v.data;
    w.at = harray_int32_t_new((size_t)n);
    HA_CHECK(ha_sequence(w.at, 0, 1, NULL));
    w.mask = harray_uint8_t_new((size_t)n);
    HA_CHECK(ha_random(w.mask, 1, NULL));
    HA_CHECK(ha_combine_number(HA_IS_LESS, w.mask, w.mask, 128, NULL));
    HA_WRITING(v, w.mask, ha_host()) w.pmask = v.data;
    w.grid = array_double_2_filled(HA_DIM(SIDE, SIDE), 1, NULL);
    HA_WRITING(v, w.grid, ha_host()) w.pgrid = v.data;
    w.interior = array_double_2_part(w.grid, HA_DIM(1, 1), HA_DIM(SIDE - 1, SIDE - 1));
    return w;
}

static void free_work(work *w) {
    HA_CHECK(harray_double_free(&w->x));
    HA_CHECK(harray_double_free(&w->y));
    HA_CHECK(harray_double_free(&w->z));
    HA_CHECK(harray_float_free(&w->f));
    HA_CHECK(harray_int32_t_free(&w->at));
    HA_CHECK(harray_uint8_t_free(&w->mask));
    HA_CHECK(array_double_2_free(&w->grid));
}

static void figure(const char *name, bench_function *function, work *w, const char *reference_name,
                   bench_function *reference, double bound, double bound_ns, size_t bytes) {
    bench_run(
        &(bench_figure){name, function, w, reference_name, reference, w, bound, bound_ns, bytes});
}

static void loops(const char *fill_name, const char *convert_name, const char *abs_name,
                  const char *axpby_name, const char *dot_name, const char *where_name, int64_t n) {
    work w = work_of(n);
    const size_t bytes = (size_t)n * sizeof(double);
    figure(fill_name, time_fill, &w, "memset", time_memset, 1.053, 0, bytes);
    figure(convert_name, time_convert, &w, "by hand", time_convert_by_hand, 1.1, 0,
           bytes + bytes / 2);
    figure(abs_name, time_abs, &w, "by hand", time_abs_by_hand, 1.1, 0, 2 * bytes);
    figure(axpby_name, time_axpby, &w, "by hand", time_axpby_by_hand, 1.1, 0, 3 * bytes);
    figure(dot_name, time_dot, &w, "by hand", time_dot_by_hand, n == IN_CACHE ? 1.3 : 1.05, 0,
           2 * bytes);
    figure(where_name, time_where, &w, "by hand", time_where_by_hand, 1.1, 0,
           3 * bytes + (size_t)n);
    free_work(&w);
}

/* Against a memcpy that reads and writes as many bytes together. */
static void beside_copying(const char *name, bench_function *function, work *w, size_t bytes) {
    w->copied = bytes / 2;
    figure(name, function, w, "memcpy", time_memcpy, 1.11, 0, bytes);
}

/* What is copied lies in memory of arrays, too, which is in huge pages where there are any. */
static void bytes_from_dram(int64_t n) {
    work w = work_of(n);
    const size_t bytes = (size_t)n * sizeof(double);
    harray_double from = harray_double_filled(2 * (size_t)n, 1),
                  to = harray_double_filled(2 * (size_t)n, 2);
    HA_WRITING(v, from, ha_host()) w.from = (char *)v.data;
    HA_WRITING(v, to, ha_host()) w.to = (char *)v.data;
    beside_copying("convert, bytes", time_convert, &w, bytes + bytes / 2);
    beside_copying("abs, bytes", time_abs, &w, 2 * bytes);
    beside_copying("a x + b y, bytes", time_axpby, &w, 3 * bytes);
    beside_copying("y += a x, bytes", time_axpy, &w, 3 * bytes);
    beside_copying("where, bytes", time_where, &w, 3 * bytes + (size_t)n);
    HA_CHECK(harray_double_free(&from));
    HA_CHECK(harray_double_free(&to));
    free_work(&w);
}

/* What is around the loop. */
static void call(const char *name, bench_function *function, work *w, bench_function *by_hand) {
    figure(name, function, w, "open, loop, close", by_hand, 5, 300, 0);
}

static void calls(work *w) {
    call("fill of 8 elements", time_fill, w, time_open_fill);
    call("fill of 8 elements, typed", time_typed_fill, w, time_open_fill);
    call("abs of 8 elements", time_abs, w, time_open_abs);
    call("abs of 8 elements, typed", time_typed_abs, w, time_open_abs);
    call("a x + b y of 8 elements", time_axpby, w, time_open_axpby);
    call("a x + b y of 8 elements, typed", time_typed_axpby, w, time_open_axpby);
    call("dot of 8 elements", time_dot, w, time_open_dot);
    call("dot of 8 elements, typed", time_typed_dot, w, time_open_dot);
    call("copy of 8 elements", time_copy, w, time_open_copy);
    call("gather of 8 elements", time_gather, w, time_open_gather);
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, "plain");
    loops("fill, in cache", "convert, in cache", "abs, in cache", "a x + b y, in cache",
          "dot, in cache", "where, in cache", IN_CACHE);
    loops("fill, from DRAM", "convert, from DRAM", "abs, from DRAM", "a x + b y, from DRAM",
          "dot, from DRAM", "where, from DRAM", FROM_DRAM);
    bytes_from_dram(FROM_DRAM);
    work w = work_of(FEW);
    figure("a u on the interior", time_interior, &w, "by hand", time_interior_by_hand, 1.1, 0, 0);
    calls(&w);
    free_work(&w);
    return 0;
}
