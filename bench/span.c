/* Loops over the elements of spans, through HA_AT, against the same loops written by hand with
 * pointers: with any strides as a span has them ("strided"), and with rows whose elements follow
 * each other, which the compiler then knows ("rows"). Everything stays in the first cache.
 *
 * Each loop is a function that is not inlined, so that valgrind --tool=callgrind counts what it
 * does: with --smoke all are called as often. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray.h"

#include "bench.h"

#define LOOP __attribute__((noinline, aligned(64))) static

enum { LENGTH = 2048, ROWS = 32, COLUMNS = 64, PLANES = 8, LINES = 16, DEPTH = 16 };

typedef struct work {
    span_double_1 x1, y1;
    span_double_2 x2, y2;
    span_double_3 x3, y3;
} work;

/* ---- y += a x ------------------------------------------------------------------------------- */

LOOP void span_axpy_1(double a, cspan_double_1 x, span_double_1 y) {
    for (int64_t i = 0; i < y.extent[0]; i++) HA_AT(y, i) += a * HA_AT(x, i);
}

LOOP void strided_axpy_1(double a, int64_t n, const double *x, int64_t dx, double *y, int64_t dy) {
    for (int64_t i = 0; i < n; i++) y[i * dy] += a * x[i * dx];
}

LOOP void span_axpy_2(double a, cspan_double_2 x, span_double_2 y) {
    for (int64_t i = 0; i < y.extent[0]; i++)
        for (int64_t j = 0; j < y.extent[1]; j++) HA_AT(y, i, j) += a * HA_AT(x, i, j);
}

LOOP void strided_axpy_2(double a, const int64_t *n, const double *x, const int64_t *dx, double *y,
                         const int64_t *dy) {
    const int64_t n0 = n[0], n1 = n[1], x0 = dx[0], x1 = dx[1], y0 = dy[0], y1 = dy[1];
    for (int64_t i = 0; i < n0; i++)
        for (int64_t j = 0; j < n1; j++) y[i * y0 + j * y1] += a * x[i * x0 + j * x1];
}

LOOP void span_axpy_3(double a, cspan_double_3 x, span_double_3 y) {
    for (int64_t i = 0; i < y.extent[0]; i++)
        for (int64_t j = 0; j < y.extent[1]; j++)
            for (int64_t k = 0; k < y.extent[2]; k++) HA_AT(y, i, j, k) += a * HA_AT(x, i, j, k);
}

LOOP void strided_axpy_3(double a, const int64_t *n, const double *x, const int64_t *dx, double *y,
                         const int64_t *dy) {
    const int64_t n0 = n[0], n1 = n[1], n2 = n[2];
    const int64_t x0 = dx[0], x1 = dx[1], x2 = dx[2], y0 = dy[0], y1 = dy[1], y2 = dy[2];
    for (int64_t i = 0; i < n0; i++)
        for (int64_t j = 0; j < n1; j++)
            for (int64_t k = 0; k < n2; k++)
                y[i * y0 + j * y1 + k * y2] += a * x[i * x0 + j * x1 + k * x2];
}

/* ---- five points ---------------------------------------------------------------------------- */

LOOP void span_stencil(cspan_double_2 x, span_double_2 y) {
    for (int64_t i = 1; i < y.extent[0] - 1; i++)
        for (int64_t j = 1; j < y.extent[1] - 1; j++)
            HA_AT(y, i, j) = HA_AT(x, i - 1, j) + HA_AT(x, i + 1, j) + HA_AT(x, i, j - 1) +
                             HA_AT(x, i, j + 1) - 4 * HA_AT(x, i, j);
}

LOOP void strided_stencil(const int64_t *n, const double *x, const int64_t *dx, double *y,
                          const int64_t *dy) {
    const int64_t n0 = n[0], n1 = n[1], x0 = dx[0], x1 = dx[1], y0 = dy[0], y1 = dy[1];
    for (int64_t i = 1; i < n0 - 1; i++)
        for (int64_t j = 1; j < n1 - 1; j++)
            y[i * y0 + j * y1] = x[(i - 1) * x0 + j * x1] + x[(i + 1) * x0 + j * x1] +
                                 x[i * x0 + (j - 1) * x1] + x[i * x0 + (j + 1) * x1] -
                                 4 * x[i * x0 + j * x1];
}

/* ---- rows ----------------------------------------------------------------------------------- */

LOOP void rows_axpy_2(double a, int64_t n, int64_t m, const double *x, double *y) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) y[i * m + j] += a * x[i * m + j];
}

LOOP void rows_stencil(int64_t n, int64_t m, const double *x, double *y) {
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < m - 1; j++)
            y[i * m + j] = x[(i - 1) * m + j] + x[(i + 1) * m + j] + x[i * m + j - 1] +
                           x[i * m + j + 1] - 4 * x[i * m + j];
}

LOOP void native_axpy_2(double a, int64_t n, int64_t m, const double (*x)[m], double (*y)[m]) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) y[i][j] += a * x[i][j];
}

LOOP void native_stencil(int64_t n, int64_t m, const double (*x)[m], double (*y)[m]) {
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < m - 1; j++)
            y[i][j] = x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1] - 4 * x[i][j];
}

/* ---- timing --------------------------------------------------------------------------------- */

#define TIME(name, call)                                                                           \
    static double time_##name(void *data, size_t count) {                                          \
        const work *w = (const work *)data;                                                        \
        const double start = bench_now();                                                          \
        for (size_t k = 0; k < count; k++) {                                                       \
            call;                                                                                  \
            bench_barrier();                                                                       \
        }                                                                                          \
        return bench_now() - start;                                                                \
    }
#define CONST(D, x) span_double_##D##_const(x)
#define ROW_TYPE(x) double(*)[w->x.stride[0]]

TIME(span_axpy_1, span_axpy_1(0.5, CONST(1, w->x1), w->y1))
TIME(span_axpy_2, span_axpy_2(0.5, CONST(2, w->x2), w->y2))
TIME(span_axpy_3, span_axpy_3(0.5, CONST(3, w->x3), w->y3))
TIME(span_stencil, span_stencil(CONST(2, w->x2), w->y2))
TIME(strided_axpy_1,
     strided_axpy_1(0.5, w->y1.extent[0], w->x1.data, w->x1.stride[0], w->y1.data, w->y1.stride[0]))
TIME(strided_axpy_2,
     strided_axpy_2(0.5, w->y2.extent, w->x2.data, w->x2.stride, w->y2.data, w->y2.stride))
TIME(strided_axpy_3,
     strided_axpy_3(0.5, w->y3.extent, w->x3.data, w->x3.stride, w->y3.data, w->y3.stride))
TIME(strided_stencil,
     strided_stencil(w->y2.extent, w->x2.data, w->x2.stride, w->y2.data, w->y2.stride))
TIME(rows_axpy_2, rows_axpy_2(0.5, w->y2.extent[0], w->y2.extent[1], w->x2.data, w->y2.data))
TIME(rows_stencil, rows_stencil(w->y2.extent[0], w->y2.extent[1], w->x2.data, w->y2.data))
TIME(native_axpy_2, native_axpy_2(0.5, w->y2.extent[0], w->y2.stride[0],
                                  (const ROW_TYPE(x2))w->x2.data, (ROW_TYPE(y2))w->y2.data))
TIME(native_stencil, native_stencil(w->y2.extent[0], w->y2.stride[0],
                                    (const ROW_TYPE(x2))w->x2.data, (ROW_TYPE(y2))w->y2.data))

static void run(work *w, const char *name, bench_function *function, const char *reference_name,
                bench_function *reference, double bound) {
    bench_run(&(bench_figure){name, function, w, reference_name, reference, w, .bound = bound});
}

int main(int argc, char **argv) {
    array_double_1 x1 = array_double_1_filled(HA_DIM(LENGTH), 1e-9, NULL);
    array_double_1 y1 = array_double_1_filled(HA_DIM(LENGTH), 1, NULL);
    array_double_2 x2 = array_double_2_filled(HA_DIM(ROWS, COLUMNS), 1e-9, NULL);
    array_double_2 y2 = array_double_2_filled(HA_DIM(ROWS, COLUMNS), 1, NULL);
    array_double_3 x3 = array_double_3_filled(HA_DIM(PLANES, LINES, DEPTH), 1e-9, NULL);
    array_double_3 y3 = array_double_3_filled(HA_DIM(PLANES, LINES, DEPTH), 1, NULL);
    work w;
    memset(&w, 0, sizeof w);
    bench_begin(argc, argv, "included");
    HA_WRITING(a, x1, NULL)
    HA_WRITING(b, y1, NULL)
    HA_WRITING(c, x2, NULL)
    HA_WRITING(d, y2, NULL)
    HA_WRITING(e, x3, NULL)
    HA_WRITING(f, y3, NULL) w = (work){a.span, b.span, c.span, d.span, e.span, f.span};
    bench_require(ha_take_error().status == HA_OK, "arrays");
    run(&w, "axpy, rank 1", time_span_axpy_1, "strided", time_strided_axpy_1, 1.02);
    run(&w, "axpy, rank 2", time_span_axpy_2, "strided", time_strided_axpy_2, 1.02);
    run(&w, "axpy, rank 3", time_span_axpy_3, "strided", time_strided_axpy_3, 1.02);
    run(&w, "stencil", time_span_stencil, "strided", time_strided_stencil, 1.02);
    run(&w, "axpy, rank 2", time_span_axpy_2, "rows", time_rows_axpy_2, 0);
    run(&w, "stencil", time_span_stencil, "rows", time_rows_stencil, 0);
    run(&w, "native axpy, rank 2", time_native_axpy_2, "rows", time_rows_axpy_2, 1.08);
    run(&w, "native stencil", time_native_stencil, "rows", time_rows_stencil, 1.08);
    HA_CHECK(array_double_1_free(&x1));
    HA_CHECK(array_double_1_free(&y1));
    HA_CHECK(array_double_2_free(&x2));
    HA_CHECK(array_double_2_free(&y2));
    HA_CHECK(array_double_3_free(&x3));
    HA_CHECK(array_double_3_free(&y3));
    return 0;
}
