/* What it costs on the host that a solver uses harray: examples/cg/cg.c against
 * examples/cg/cg_plain.c, the same conjugate gradients without it. Both are compiled for this with
 * other names for main() and solve(). */
#define _GNU_SOURCE
#include "../examples/cg/matrix_market.h"

#include "bench.h"

#include <math.h>

int cg_solve(const matrix *a, const double *b, double *x, double tolerance, int most);
int cg_plain_solve(const matrix *a, const double *b, double *x, double tolerance, int most);

typedef struct problem {
    int (*solve)(const matrix *a, const double *b, double *x, double tolerance, int most);
    const matrix *a;
    const double *b;
    double *x;
    int iterations;
} problem;

static double time_solve(void *data, size_t count) {
    const problem *p = data;
    double ns = 0;
    for (size_t i = 0; i < count; i++) {
        memset(p->x, 0, p->a->n * sizeof *p->x);
        const double start = bench_now();
        const int k = p->solve(p->a, p->b, p->x, 0, p->iterations);
        ns += bench_now() - start;
        bench_require(k == p->iterations, "iterations");
    }
    return ns;
}

/* The greatest difference, beside the greatest element. The two add up inner products in other orders. */
static double apart(size_t n, const double *x, const double *y) {
    double difference = 0, greatest = 0;
    for (size_t i = 0; i < n; i++) {
        difference = fmax(difference, fabs(x[i] - y[i]));
        greatest = fmax(greatest, fabs(y[i]));
    }
    return difference / greatest;
}

static void compare(const char *name, const matrix *a, int iterations) {
    double *b = malloc(a->n * sizeof *b), *x = malloc(2 * a->n * sizeof *x);
    bench_require(b && x, "memory");
    for (size_t i = 0; i < a->n; i++) b[i] = (double)(i % 10) - 4.5;
    problem ours = {cg_solve, a, b, x, iterations};
    problem plain = {cg_plain_solve, a, b, x + a->n, iterations};
    bench_run(&(bench_figure){name, time_solve, &ours, "the plain program", time_solve, &plain,
                              .bound = 1.02});
    bench_require(apart(a->n, x, x + a->n) < 1e-4 || !strstr(name, bench_settings.only),
                  "the same solution");
    free(b);
    free(x);
}

/* The five-point Laplacian on a grid of m by m points. */
static matrix laplacian(int m) {
    const size_t n = (size_t)m * (size_t)m;
    matrix a = {n, malloc((n + 1) * sizeof(int)), malloc(5 * n * sizeof(int)),
                malloc(5 * n * sizeof(double))};
    bench_require(a.start && a.column && a.value, "memory");
    int k = 0;
    for (int i = 0; i < m * m; i++) {
        const int near[] = {i - m, i - 1, i, i + 1, i + m};
        a.start[i] = k;
        for (int j = 0; j < 5; j++) {
            const int leaves_row = near[j] / m != i / m && (j == 1 || j == 3);
            if (near[j] < 0 || near[j] >= m * m || leaves_row) continue;
            a.column[k] = near[j];
            a.value[k++] = j == 2 ? 4 : -1;
        }
    }
    a.start[n] = k;
    return a;
}

int main(int argc, char **argv) {
    char error[MATRIX_ERROR_BYTES];
    matrix wathen, large = laplacian(300);
    bench_begin(argc, argv, "included");
    bench_require(matrix_read(&wathen, CG_MATRIX, error), error);
    compare("conjugate gradients on the host, 2417 rows, 100 iterations", &wathen, 100);
    compare("conjugate gradients on the host, 90000 rows, 10 iterations", &large, 10);
    matrix_free(&wathen);
    matrix_free(&large);
    return 0;
}
