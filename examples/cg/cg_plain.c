/* cg_plain: solves A x = b by conjugate gradients, A being a matrix from a Matrix Market file.
 *
 *     cg_plain [--time] [--solution OUT.mtx] MATRIX.mtx
 *
 * The method is that of Hestenes and Stiefel, Methods of conjugate gradients for solving linear
 * systems, J. Res. Nat. Bur. Standards 49, 409-436, 1952; as algorithm 6.18 in Saad, Iterative
 * methods for sparse linear systems, 2003. A must be symmetric and positive definite. b is made
 * from a solution that is known: x[i] = i % 10 - 4.5.
 *
 * This is a program as there are many. What it takes to bring it to other devices by harray is in
 * cg.c; docs/porting.md shows the difference. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include "matrix_market.h"

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

/* y = y + a x */
static void axpy(size_t n, double a, const double *x, double *y) {
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

/* y = x + a y */
static void xpay(size_t n, double a, const double *x, double *y) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] + a * y[i];
}

/* ---- the solver ----------------------------------------------------------------------------- */

static double *vector(size_t n) {
    double *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64); /* whole cache lines */
    if (x) return x;
    (void)fputs("cg: there is no memory\n", stderr);
    exit(1);
}

/* Improves x until the residual b - A x has come down to `tolerance` times b, in at most `most`
 * iterations. Returns their number. */
int solve(const matrix *a, const double *b, double *x, double tolerance, int most) {
    const size_t n = a->n;
    double *r = vector(n); /* the residual */
    double *p = vector(n); /* the direction */
    double *q = vector(n); /* A p */
    int k = 0;
    multiply(a, x, q);
    memcpy(r, b, n * sizeof *r);
    axpy(n, -1, q, r);
    memcpy(p, r, n * sizeof *p);
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
    free(r);
    free(p);
    free(q);
    return k;
}

/* ---- the program ---------------------------------------------------------------------------- */

typedef struct options {
    const char *matrix, *solution;
    bool time;
} options;

static bool read_options(options *o, int argc, char **argv) {
    *o = (options){0};
    for (int i = 1; i < argc; i++) {
        const bool is_last = i == argc - 1;
        if (is_last && *argv[i] != '-') {
            o->matrix = argv[i];
        } else if (strcmp(argv[i], "--time") == 0) {
            o->time = true;
        } else if (strcmp(argv[i], "--solution") == 0 && !is_last) {
            o->solution = argv[++i];
        } else {
            break;
        }
    }
    if (o->matrix) return true;
    (void)fputs("usage: cg [--time] [--solution OUT.mtx] MATRIX.mtx\n", stderr);
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

static bool run(const matrix *a, const options *o) {
    double *exact = vector(a->n), *b = vector(a->n), *x = vector(a->n);
    prepare(a, exact, b, x);
    const double start = now();
    const int k = solve(a, b, x, 1e-10, 10000);
    const double seconds = now() - start;
    bool good = judge(a, b, x, exact, k);
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
