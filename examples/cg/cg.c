/* cg: solves A x = b by conjugate gradients, A being a matrix from a Matrix Market file.
 *
 *     cg [--time] [--solution OUT.mtx] [--device CTX] [--report] MATRIX.mtx
 *
 * This is cg_plain.c, brought to all devices by harray: docs/porting.md shows the difference. What
 * to look at: the product of matrix and vector is a kernel, whose body is that of the loop that it
 * was; all else that the solver does are operations on arrays. What calls the solver stays as it
 * was: it judges the solution by the loops of the plain program. */
#include "harray_ops.h"

#include "matrix_market.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- loops ---------------------------------------------------------------------------------- */

/* y = A x */
static void multiply(const matrix *a, const double *x, double *y) {
    for (size_t i = 0; i < a->n; i++) {
        double sum = 0;
        for (int k = a->start[i]; k < a->start[i + 1]; k++) sum += a->value[k] * x[a->column[k]];
        y[i] = sum;
    }
}

static double dot(size_t n, const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* y = x + a y */
static void xpay(size_t n, double a, const double *x, double *y) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] + a * y[i];
}

/* ---- the solver ----------------------------------------------------------------------------- */

/* The rows of a matrix: NULL is the context that main() has chosen, here and below. */
HA_BUNDLE(rows, (in, int, start), (in, int, column), (in, double, value));

/* y = A x */
HA_KERNEL(multiply_rows, ((bundle, rows, a), (in, double, x), (out, double, y)), i, {
    double sum = 0;
    for (int k = a.start[i]; k < a.start[i + 1]; k++) sum += a.value[k] * x[a.column[k]];
    y[i] = sum;
});

static double *vector(size_t n) {
    double *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64); /* whole cache lines */
    if (x) return x;
    (void)fputs("cg: there is no memory\n", stderr);
    exit(1);
}

static harray_double named(const char *name, harray_double x) {
    harray_double_set_name(x, name); /* for messages, traces and the report */
    return x;
}

static double inner_product(harray_double x, harray_double y) {
    double sum = NAN; /* that it stays when this fails, which ends the iteration */
    HA_IGNORE(ha_dot(x, y, &sum, NULL));
    return sum;
}

/* Improves x until the residual b - A x has come down to `tolerance` times b, in at most `most`
 * iterations. Returns their number. */
static int iterate(rows a, harray_double b, harray_double x, double tolerance, int most) {
    const size_t n = harray_double_size(x);
    harray_double r = named("r", harray_double_new(n)); /* the residual */
    harray_double p = named("p", harray_double_new(n)); /* the direction */
    harray_double q = named("q", harray_double_new(n)); /* A p */
    int k = 0;
    HA_IGNORE(multiply_rows(NULL, HA_ALL_LANES, a, x, q));
    HA_IGNORE(ha_axpby(r, 1, b, -1, q, NULL));
    HA_IGNORE(ha_array_assign_at(p.array, r.array, NULL));
    const double goal = tolerance * tolerance * inner_product(b, b);
    double rr = inner_product(r, r);
    for (; k < most && rr > goal; k++) {
        HA_IGNORE(multiply_rows(NULL, HA_ALL_LANES, a, p, q));
        const double alpha = rr / inner_product(p, q), before = rr;
        HA_IGNORE(ha_axpy(x, alpha, p, NULL));
        HA_IGNORE(ha_axpy(r, -alpha, q, NULL));
        rr = inner_product(r, r);
        HA_IGNORE(ha_axpby(p, 1, r, rr / before, p, NULL));
    }
    harray_double_free(&r);
    harray_double_free(&p);
    harray_double_free(&q);
    return k;
}

/* As before; while this runs, the caller's memory belongs to the arrays. */
int solve(const matrix *m, const double *rhs, double *solution, double tolerance, int most) {
    const size_t entries = (size_t)m->start[m->n];
    rows a = {harray_int_wrap_const(m->start, m->n + 1), harray_int_wrap_const(m->column, entries),
              named("A", harray_double_wrap_const(m->value, entries))};
    harray_double b = named("b", harray_double_wrap_const(rhs, m->n));
    harray_double x = named("x", harray_double_wrap(solution, m->n));
    const int iterations = iterate(a, b, x, tolerance, most);
    HA_IGNORE(harray_int_unwrap(&a.start));
    HA_IGNORE(harray_int_unwrap(&a.column));
    HA_IGNORE(harray_double_unwrap(&a.value));
    HA_IGNORE(harray_double_unwrap(&b));
    HA_IGNORE(harray_double_unwrap(&x));
    return iterations;
}

/* ---- the program ---------------------------------------------------------------------------- */

typedef struct options {
    const char *matrix, *solution, *device;
    bool time, report;
} options;

static bool read_options(options *o, int argc, char **argv) {
    *o = (options){.device = "host"};
    for (int i = 1; i < argc; i++) {
        const bool is_last = i == argc - 1;
        if (is_last && *argv[i] != '-') {
            o->matrix = argv[i];
        } else if (strcmp(argv[i], "--time") == 0) {
            o->time = true;
        } else if (strcmp(argv[i], "--solution") == 0 && !is_last) {
            o->solution = argv[++i];
        } else if (strcmp(argv[i], "--device") == 0 && !is_last) {
            o->device = argv[++i];
        } else if (strcmp(argv[i], "--report") == 0) {
            o->report = true;
        } else {
            break;
        }
    }
    if (o->matrix) return true;
    (void)fputs("usage: cg [--time] [--solution OUT.mtx] [--device CTX] [--report] MATRIX.mtx\n",
                stderr);
    return false;
}

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The right-hand side for the known solution, and a first guess. */
static void prepare(const matrix *a, double *exact, double *b, double *x) {
    for (size_t i = 0; i < a->n; i++) {
        exact[i] = (double)(i % 10) - 4.5;
        x[i] = 0;
    }
    multiply(a, exact, b);
}

/* Is it good? Prints how good. */
static bool judge(const matrix *a, const double *b, const double *x, const double *exact, int k) {
    double *r = vector(a->n);
    double error = 0;
    multiply(a, x, r);
    xpay(a->n, -1, b, r);
    const double residual = sqrt(dot(a->n, r, r) / dot(a->n, b, b));
    for (size_t i = 0; i < a->n; i++) error = fmax(error, fabs(x[i] - exact[i]));
    free(r);
    (void)printf("%d iterations, relative residual %.1e, largest error %.1e\n", k, residual, error);
    if (residual <= 1e-9) return true;
    (void)fputs("cg: no convergence: is the matrix symmetric and positive definite?\n", stderr);
    return false;
}

/* harray keeps the first error, so that a run of calls can be checked once, at its end. */
static bool all_went_well(void) {
    const ha_error error = ha_take_error();
    if (error.status != HA_OK) (void)fprintf(stderr, "cg: %s\n", error.text);
    return error.status == HA_OK;
}

/* The matrix and two vectors went there, one vector came back: however many the iterations. */
static void show_moved(ha_context *device) {
    const ha_memory_usage m = ha_context_memory(device);
    (void)printf("moved to %s: %" PRIu64 " bytes in %" PRIu64 " copies; back: %" PRIu64
                 " bytes in %" PRIu64 " copies\n",
                 ha_context_name(device), m.bytes_in, m.transfers_in, m.bytes_out, m.transfers_out);
}

static bool run(const matrix *a, const options *o) {
    double *exact = vector(a->n), *b = vector(a->n), *x = vector(a->n);
    prepare(a, exact, b, x);
    ha_context *device = ha_context_find(o->device);
    const double start = now();
    int k = 0;
    HA_ON(device) k = solve(a, b, x, 1e-10, 10000);
    const double seconds = now() - start;
    bool good = all_went_well() && judge(a, b, x, exact, k);
    if (good) show_moved(device);
    if (o->report) ha_report(stdout);
    if (o->time) (void)printf("%.3g microseconds each\n", 1e6 * seconds / fmax(k, 1));
    if (o->solution && !vector_write(x, a->n, o->solution)) {
        perror(o->solution);
        good = false;
    }
    free(exact);
    free(b);
    free(x);
    return good;
}

int main(int argc, char **argv) {
    options o;
    matrix a;
    char error[MATRIX_ERROR_BYTES];
    if (!read_options(&o, argc, argv)) return 2;
    if (!matrix_read(&a, o.matrix, error)) {
        (void)fprintf(stderr, "cg: %s: %s\n", o.matrix, error);
        return 1;
    }
    (void)printf("%zu rows, %d entries\n", a.n, a.start[a.n]);
    const bool good = run(&a, &o);
    matrix_free(&a);
    return good ? 0 : 1;
}
