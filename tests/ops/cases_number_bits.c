/* The bits of sums, dot products and norms, on every context: those of the order in which reductions join (reduce.h), with each
 * product and each sum rounded once; of random numbers, as many as make several parts, in rows, columns and views of any steps. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"
#include "../support/share.h"
#include "some_views.h"
#include "known_operations.h"

enum { MOST = 5000 };
static double of_x[2][MOST], of_y[2][MOST], lanes[MOST]; /* real parts, and imaginary ones */

/* ---- the order ----------------------------------------------------------------------------------- */

/* As a number of the type in which is computed; of a sum or product of two floats in double that is rounding it once. */
static double rounded(ha_dtype type, double x) {
    const volatile float small = (float)x;
    return type == HA_DTYPE_double || type == HA_DTYPE_c128 ? x : (double)small;
}

static double sum_of_part(ha_dtype type, const double *v, int n) {
    double sum[16] = {0};
    for (int i = 0; i < n; i++) sum[i % 16] = i < 16 ? v[i] : rounded(type, sum[i % 16] + v[i]);
    for (int half = 8; half > 0; half /= 2)
        for (int l = 0; l < half && l + half < n; l++)
            sum[l] = rounded(type, sum[l] + sum[l + half]);
    return sum[0];
}

/* Of the numbers of `lanes`, which are parts afterwards, and so on. */
static double sum_of_lanes(ha_dtype type, int n) {
    int parts = n;
    do {
        const int before = parts;
        parts = (before + 1023) / 1024;
        for (int p = 0; p < parts; p++)
            lanes[p] = sum_of_part(type, lanes + 1024 * p,
                                   before - 1024 * p < 1024 ? before - 1024 * p : 1024);
    } while (parts > 1);
    return lanes[0];
}

/* Part of conj(x) y: the real one, or the imaginary one. */
static double naive_dot(ha_dtype type, int n, int part) {
    for (int i = 0; i < n; i++) {
        const double a = rounded(type, of_x[0][i] * of_y[part][i]);
        const double b = rounded(type, of_x[1][i] * of_y[!part][i]);
        lanes[i] = ha_dtype_kind(type) != HA_KIND_COMPLEX ? a : rounded(type, part ? a - b : a + b);
    }
    return sum_of_lanes(type, n);
}

/* Of real numbers; difference: of x - y. */
static double naive_norm(ha_norm_kind kind, ha_dtype type, int n, int difference) {
    double greatest = 0;
    for (int i = 0; i < n; i++) {
        const double u = difference ? rounded(type, of_x[0][i] - of_y[0][i]) : of_x[0][i];
        if (fabs(u) > greatest) greatest = fabs(u);
        lanes[i] = kind == HA_NORM_2 ? rounded(type, u * u) : fabs(u);
    }
    if (kind == HA_NORM_MAX) return greatest;
    const double sum = sum_of_lanes(type, n);
    return kind == HA_NORM_2 ? sqrt(sum) : sum;
}

/* ---- arrays -------------------------------------------------------------------------------------- */

/* A row, with gaps, backwards; or columns of a matrix that is wider than they are many. */
static darray some_long_view(ha_dtype type, int64_t n) {
    const int64_t row[] = {n, 1 + (int64_t)draw(2)}, columns[] = {n / 5 + 1, 6};
    const int as_columns = n % 5 == 0 && draw(2);
    darray x = darray_zeros(type, 2, as_columns ? columns : row, draw(2) ? C : H);
    keep_array(x.array);
    if (as_columns) {
        x = darray_slice(darray_slice(x, 0, 0, n / 5, 1), 1, 0, 5, 1);
        return draw(2) ? darray_transpose(x) : x;
    }
    x = darray_fix(x, 1, 0);
    return draw(3) ? x : darray_flip(x, 0);
}

/* Numbers of all bits of the type, in its view and here. */
static void fill_numbers(darray x, double of[2][MOST]) {
    const int parts = ha_dtype_kind(x.type) == HA_KIND_COMPLEX ? 2 : 1;
    const int64_t width = x.rank == 2 ? x.extent[1] : 1;
    const size_t bytes = ha_dtype_size(x.type);
    ha_access v;
    SUCCEEDS(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    for (int64_t i = 0; i < darray_size(x); i++) {
        ha_dvalue number;
        double part[2] = {0, 0};
        for (int p = 0; p < parts; p++)
            part[p] = ldexp((double)draw(1u << 31) - (1u << 30), (int)draw(9) - 33) / 3;
        SUCCEEDS(ha_dvalue_convert(parts == 2 ? ha_dvalue_of_c128(ha_c128_make(part[0], part[1]))
                                              : ha_dvalue_of_double(part[0]),
                                   x.type, &number));
        const int64_t place = x.offset + i / width * x.stride[0] +
                              (x.rank == 2 ? i % width * x.stride[1] : 0);
        memcpy((char *)(uintptr_t)v.data + place * (int64_t)bytes, number.bytes, bytes);
        of[0][i] = parts == 2 ? creal(complex_of(number)) : real_of(number);
        of[1][i] = parts == 2 ? cimag(complex_of(number)) : 0;
    }
    SUCCEEDS(ha_close(&v));
}

static void expect_bits(const char *what, darray x, double got, double expected) {
    char shape[80];
    darray_print_shape(x, shape, sizeof shape);
    if (memcmp(&got, &expected, sizeof got) != 0)
        fail_msg("%s of %s: %a instead of %a", what, shape, got, expected);
}

/* ---- what is computed ---------------------------------------------------------------------------- */

static void check_sums(darray x, darray y, int n) {
    ha_c128 dot, sum;
    const double re = naive_dot(x.type, n, 0), im = naive_dot(x.type, n, 1);
    SUCCEEDS(ha_dot(x, y, &dot, C));
    expect_bits("dot", x, dot.re, re);
    if (ha_dtype_kind(x.type) == HA_KIND_COMPLEX) expect_bits("dot, imaginary", x, dot.im, im);
    memcpy(lanes, of_x[0], sizeof lanes);
    SUCCEEDS(ha_reduce(HA_SUM, x, &sum, C));
    expect_bits("sum", x, sum.re, sum_of_lanes(x.type, n));
}

static void check_norms(darray x, darray y, int n) {
    double norm;
    for (int kind = HA_NORM_1; kind <= HA_NORM_MAX; kind++) {
        SUCCEEDS(ha_norm((ha_norm_kind)kind, x, &norm, C));
        expect_bits("norm", x, norm, naive_norm((ha_norm_kind)kind, x.type, n, 0));
        SUCCEEDS(ha_difference((ha_norm_kind)kind, x, y, &norm, C));
        expect_bits("difference", x, norm, naive_norm((ha_norm_kind)kind, x.type, n, 1));
    }
}

static void check_some(ha_dtype type, int n) {
    const darray x = some_long_view(type, n);
    darray y = some_long_view(type, n);
    while (y.rank != x.rank || y.extent[0] != x.extent[0]) {
        drop_array(y.array);
        y = some_long_view(type, n);
    }
    fill_numbers(x, of_x), fill_numbers(y, of_y);
    check_sums(x, y, n);
    if (ha_dtype_kind(type) == HA_KIND_REAL && !is_of_opencl()) check_norms(x, y, n);
    drop_array(x.array), drop_array(y.array);
}

TEST(bits) {
    static const ha_dtype computed[] = {HA_DTYPE_double, HA_DTYPE_float, HA_DTYPE_c64,
                                        HA_DTYPE_c128,   HA_DTYPE_half,  HA_DTYPE_bfloat16};
    static const int lengths[] = {1, 2, 7, 15, 16, 17, 31, 40, 1000, 1023, 1024, 1025, 2060, MOST};
    enum { COUNT = sizeof computed / sizeof *computed, LENGTHS = sizeof lengths / sizeof *lengths };
    if (!computes_as_the_host(C)) return;
    for (int t = 0; t < COUNT; t++)
        for (int i = 0; i < LENGTHS; i++)
            if (compiles() && !getenv("HARRAY_TEST_LONG") ? t == is_fake(C) && i == LENGTHS - 2
                                                          : (t + i) % stride_up_to(3) == 0)
                check_some(computed[t], lengths[i]);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {OPERATIONS(bits)};
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
