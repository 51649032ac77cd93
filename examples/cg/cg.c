/* cg: solves A x = b by conjugate gradients, A being a matrix from a Matrix Market file.
 *
 *     cg [--time] [--solution OUT.mtx] [--device CTX] [--report] MATRIX.mtx
 *
 * This is cg_plain.c, brought to all devices by harray: docs/porting.md shows the difference. What
 * to look at: the loops are the same, and so is what the solver says step by step. Between them
 * there is one short function for each loop, which says what it reads and writes. */
#include "harray.h"

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
static void multiply_loop(const matrix *a, const double *x, double *y) {
    for (size_t i = 0; i < a->n; i++) {
        double sum = 0;
        for (int k = a->start[i]; k < a->start[i + 1]; k++) sum += a->value[k] * x[a->column[k]];
        y[i] = sum;
    }
}

static double dot_loop(size_t n, const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* y = y + a x */
static void axpy_loop(size_t n, double a, const double *x, double *y) {
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

/* y = x + a y */
static void xpay_loop(size_t n, double a, const double *x, double *y) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] + a * y[i];
}

/* ---- the loops where they are wanted -------------------------------------------------------- */

/* What a loop is given; each takes its part of it. */
typedef struct work {
    const int *start, *column;
    const double *value, *x, *y;
    double *to, factor;
    size_t n;
} work;

/* The same, with vectors as the loop can use them where it runs. */
static work here(const ha_queue *queue, const void *argument) {
    work w = *(const work *)argument;
    w.x = HA_HERE(queue, const double, w.x);
    w.y = HA_HERE(queue, const double, w.y);
    w.to = HA_HERE(queue, double, w.to);
    return w;
}

static void multiply_there(const ha_queue *queue, void *argument) {
    const work w = here(queue, argument);
    const matrix a = {w.n, HA_HERE(queue, int, w.start), HA_HERE(queue, int, w.column),
                      HA_HERE(queue, double, w.value)};
    multiply_loop(&a, w.x, w.to);
}

static void dot_there(const ha_queue *queue, void *argument) {
    const work w = here(queue, argument);
    *w.to = dot_loop(w.n, w.x, w.y);
}

static void axpy_there(const ha_queue *queue, void *argument) {
    const work w = here(queue, argument);
    axpy_loop(w.n, w.factor, w.x, w.to);
}

static void xpay_there(const ha_queue *queue, void *argument) {
    const work w = here(queue, argument);
    xpay_loop(w.n, w.factor, w.x, w.to);
}

/* ---- what they read and write; NULL is the context that main() has chosen -------------------- */

typedef struct wrapped_matrix {
    size_t n;
    harray_int start, column;
    harray_double value;
} wrapped_matrix;

static void multiply(const wrapped_matrix *a, harray_double x, harray_double y) {
    HA_READING(start, a->start, NULL)
    HA_READING(column, a->column, NULL)
    HA_READING(value, a->value, NULL)
    HA_READING(vx, x, NULL)
    HA_OVERWRITING_ALL(vy, y, NULL) {
        const work w = {start.data, column.data, value.data, vx.data, NULL, vy.data, 0, a->n};
        HA_IGNORE(ha_enqueue(NULL, multiply_there, &w, sizeof w));
    }
}

/* The number in an array of one, which is freed: all that comes back while iterating. */
static double taken(harray_double one) {
    double value = NAN;
    HA_IGNORE(harray_double_get(one, 0, &value));
    harray_double_free(&one);
    return value;
}

static double dot(size_t n, harray_double x, harray_double y) {
    harray_double sum = harray_double_new(1);
    HA_READING(vx, x, NULL) HA_READING(vy, y, NULL) HA_OVERWRITING_ALL(to, sum, NULL) {
        const work w = {.x = vx.data, .y = vy.data, .to = to.data, .n = n};
        HA_IGNORE(ha_enqueue(NULL, dot_there, &w, sizeof w));
    }
    return taken(sum);
}

static void combine(ha_function f, size_t n, double factor, harray_double x, harray_double y) {
    HA_READING(vx, x, NULL) HA_WRITING(vy, y, NULL) {
        const work w = {.x = vx.data, .to = vy.data, .factor = factor, .n = n};
        HA_IGNORE(ha_enqueue(NULL, f, &w, sizeof w));
    }
}

static void axpy(size_t n, double a, harray_double x, harray_double y) {
    combine(axpy_there, n, a, x, y);
}

static void xpay(size_t n, double a, harray_double x, harray_double y) {
    combine(xpay_there, n, a, x, y);
}

/* ---- the solver ----------------------------------------------------------------------------- */

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

static wrapped_matrix wrap_matrix(const matrix *m) {
    const size_t entries = (size_t)m->start[m->n];
    return (wrapped_matrix){m->n, harray_int_wrap_const(m->start, m->n + 1),
                            harray_int_wrap_const(m->column, entries),
                            named("A", harray_double_wrap_const(m->value, entries))};
}

static void unwrap_matrix(wrapped_matrix *a) {
    HA_IGNORE(harray_int_unwrap(&a->start));
    HA_IGNORE(harray_int_unwrap(&a->column));
    HA_IGNORE(harray_double_unwrap(&a->value));
}

/* Improves x until the residual b - A x has come down to `tolerance` times b, in at most `most`
 * iterations. Returns their number. */
static int iterate(const wrapped_matrix *a, harray_double b, harray_double x, double tolerance,
                   int most) {
    const size_t n = a->n;
    harray_double r = named("r", harray_double_new(n)); /* the residual */
    harray_double p = named("p", harray_double_new(n)); /* the direction */
    harray_double q = named("q", harray_double_new(n)); /* A p */
    int k = 0;
    multiply(a, x, q);
    HA_IGNORE(ha_array_assign_at(r.array, b.array, NULL));
    axpy(n, -1, q, r);
    HA_IGNORE(ha_array_assign_at(p.array, r.array, NULL));
    const double goal = tolerance * tolerance * dot(n, b, b);
    double rr = dot(n, r, r);
    for (; k < most && rr > goal; k++) {
        multiply(a, p, q);
        const double alpha = rr / dot(n, p, q), before = rr;
        axpy(n, alpha, p, x);
        axpy(n, -alpha, q, r);
        rr = dot(n, r, r);
        xpay(n, rr / before, r, p);
    }
    harray_double_free(&r);
    harray_double_free(&p);
    harray_double_free(&q);
    return k;
}

/* As before; while this runs, the caller's memory belongs to the arrays. */
int solve(const matrix *m, const double *rhs, double *solution, double tolerance, int most) {
    wrapped_matrix a = wrap_matrix(m);
    harray_double b = named("b", harray_double_wrap_const(rhs, m->n));
    harray_double x = named("x", harray_double_wrap(solution, m->n));
    const int iterations = iterate(&a, b, x, tolerance, most);
    unwrap_matrix(&a);
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
    multiply_loop(a, exact, b);
}

/* Is it good? Prints how good. */
static bool judge(const matrix *a, const double *b, const double *x, const double *exact, int k) {
    double *r = vector(a->n);
    double error = 0;
    multiply_loop(a, x, r);
    xpay_loop(a->n, -1, b, r);
    const double residual = sqrt(dot_loop(a->n, r, r) / dot_loop(a->n, b, b));
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
