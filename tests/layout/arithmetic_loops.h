/* The loops that arithmetic with whole views goes by (layout/impl/arithmetic/kernels.h), each by itself. */
#ifndef HARRAY_TESTS_LAYOUT_ARITHMETIC_LOOPS_H
#define HARRAY_TESTS_LAYOUT_ARITHMETIC_LOOPS_H

#include "arithmetic_model.h"

/* ---- the loops ------------------------------------------------------------------------------- */

enum { SPAN_RUNS = 3, SPAN_MOST = 600, SPAN_APART = 5, SPAN_VALUES = SPAN_RUNS * 2 * SPAN_MOST };

typedef struct span_test {
    const ha_span_kernel *kernel;
    ha_operator op;
    ha_dtype left, right; /* types */
} span_test;

/* NaN is NaN, of whatever sign. */
static void same_nan(ha_dtype type, char *expected, const char *made) {
    double a = 0, b = 0;
    float c = 0, d = 0;
    if (type == HA_DTYPE_double) memcpy(&a, expected, sizeof a), memcpy(&b, made, sizeof b);
    if (type == HA_DTYPE_float) memcpy(&c, expected, sizeof c), memcpy(&d, made, sizeof d);
    if (isnan(a) && isnan(b)) memcpy(expected, made, sizeof a);
    if (isnan(c) && isnan(d)) memcpy(expected, made, sizeof c);
}

/* Runs of n values, some steps of their size apart, of which the right side's may all be the same
 * one (0), or come again after a period. */
static void check_span(const span_test *t, int64_t n, int64_t left, int64_t right, int64_t runs,
                       int64_t period, int in_order) {
    static char is[SPAN_VALUES * 8 + 8], expected[SPAN_VALUES * 8 + 8];
    static char other[SPAN_VALUES * 8 + HA_SPLAT];
    const int64_t size = (int64_t)ha_dtype_size(t->left),
                  right_size = (int64_t)ha_dtype_size(t->right);
    const int64_t lefts = n * left * runs + runs * SPAN_APART + 1;
    const int64_t rights = n * right * runs + runs * SPAN_APART;
    const size_t bytes = (size_t)(lefts * size) + 8; /* 8 behind all must stay, too */
    memset(is, 0x11, bytes);
    for (int64_t k = 0; k < lefts; k++) any_value(t->left, is + k * size);
    for (int64_t k = 0; k < rights; k++) any_value(t->right, other + k * right_size);
    const int64_t least = period % (2 * t->kernel->lanes) == 0 ? period / 2 : period;
    if (period && least < period)
        memcpy(other + least * right_size, other, (size_t)(least * right_size));
    if (!right)
        for (int64_t k = 1; k < HA_SPLAT / right_size; k++)
            memcpy(other + k * right_size, other, (size_t)right_size);
    memcpy(expected, is, bytes);
    const ha_span span = {.left = is + size, /* where no vector begins */
                          .right = other,
                          .n = n,
                          .left_step = left * size,
                          .right_step = right * right_size,
                          .runs = runs,
                          .left_apart = (left * n + SPAN_APART) * size,
                          .right_apart = right ? (right * n + SPAN_APART) * right_size : 0,
                          .period = period,
                          .least = least,
                          .in_order = in_order,
                          .is_splat = right == 0};
    ha_apply_kernel(t->kernel, &span);
    for (int64_t r = 0; r < runs; r++)
        for (int64_t k = 0; k < n; k++) {
            char *one = expected + size + r * span.left_apart + k * span.left_step;
            const int64_t at = period ? k % period : k;
            model_value(t->op, t->left, one, t->right,
                        other + r * span.right_apart + at * span.right_step);
            same_nan(t->left, one, is + (one - expected));
        }
    if (memcmp(is, expected, bytes))
        fail_msg("types %d and %d, operation %d: %d runs of %d, steps %d and %d", t->left, t->right,
                 t->op, (int)runs, (int)n, (int)left, (int)right);
}

static void check_spans(const ha_span_kernel *kernel, ha_operator op, ha_dtype type,
                        ha_dtype right) {
    static const int64_t counts[] = {0, 1, 2, 3, 4, 7, 16, 31, 62};
    const span_test t = {kernel, op, type, right};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int64_t left_step = 1; left_step <= 2; left_step++)
            for (int64_t right_step = 0; right_step <= 2; right_step++) {
                check_span(&t, counts[k], left_step, right_step, 1, 0, 0);
                check_span(&t, counts[k], left_step, right_step, SPAN_RUNS, 0, 0);
            }
    check_span(&t, SPAN_MOST - 3, 1, 1, 1, 0, 0);
    check_span(&t, SPAN_MOST - 3, 1, 0, 1, 0, 0);
    check_span(&t, SPAN_MOST - SPAN_APART, 1, 1, SPAN_RUNS, 0, 0);
    for (int in_order = 0; in_order < 2; in_order++) {
        check_span(&t, SPAN_MOST - 3, 1, 1, 1, 2 * kernel->lanes, in_order);
        check_span(&t, SPAN_MOST - 3, 1, 1, 1, 8 * kernel->lanes, in_order);
        check_span(&t, SPAN_MOST - 3, 1, 1, 1, 7 * kernel->lanes, in_order);
    }
}

/* Natural numbers, too, on machines that have their lowest byte first. */
static double real_at(ha_dtype type, const char *at) {
    float single = 0;
    double x = 0;
    uint64_t natural = 0;
    memcpy(&single, at, type == HA_DTYPE_float ? sizeof single : 0);
    memcpy(&x, at, type == HA_DTYPE_double ? sizeof x : 0);
    memcpy(&natural, at, type <= HA_DTYPE_uint64_t ? ha_dtype_size(type) : 0);
    return type == HA_DTYPE_double ? x : type == HA_DTYPE_float ? (double)single : (double)natural;
}

static void set_real(ha_dtype type, char *at, double x) {
    const float single = (float)x;
    const uint64_t natural = type <= HA_DTYPE_uint64_t ? (uint64_t)x : 0;
    memcpy(at, &natural, type <= HA_DTYPE_uint64_t ? ha_dtype_size(type) : 0);
    memcpy(at, &single, type == HA_DTYPE_float ? sizeof single : 0);
    memcpy(at, &x, type == HA_DTYPE_double ? sizeof x : 0);
}

/* Pieces of one form, with a value between them that stays; two rounds of them, as far apart. On
 * the right is the same for all of a round (right 0), or a piece for each (1). */
static void check_form(const span_test *t, ha_apply_form form, int64_t n, int right) {
    enum { PIECES = 10, MOST = PIECES * 4 * 32 + PIECES * 8 };
    const ha_span_kernel *kernel = t->kernel;
    const int64_t values = form < HA_FORM_VECTOR ? (int64_t)form
                                                 : (form - HA_FORM_VECTOR + 1) * kernel->lanes;
    char of_left[2 * MOST], expected[2 * MOST], of_right[4 * MOST];
    const int natural = t->left <= HA_DTYPE_uint64_t;
    for (int64_t k = 0; k < 2 * MOST / kernel->size; k++)
        set_real(t->left, of_left + k * kernel->size,
                 natural ? (double)(20 + k % 5) : 0.5 * (double)(k + 1));
    for (int64_t k = 0; k < 4 * MOST / kernel->right_size; k++)
        set_real(t->right, of_right + k * kernel->right_size,
                 natural ? (double)(1 + k % 3) : 3 - 0.25 * (double)(k % 7));
    memcpy(expected, of_left, sizeof expected);
    const int64_t left_apart = (values + 1) * kernel->size;
    const int64_t right_apart = right == 0 ? 0 : values * kernel->right_size;
    const ha_apply_pieces pieces = {.left = of_left,
                                    .right = of_right,
                                    .n = n,
                                    .left_apart = left_apart,
                                    .right_apart = right_apart,
                                    .rounds = 2,
                                    .left_round = n * left_apart,
                                    .right_round = values * kernel->right_size};
    for (int64_t k = 0; k < 2 * n * values; k++) {
        const int64_t piece = k / values, round = piece / n, value = k % values;
        char *at = expected + piece * left_apart + value * kernel->size;
        const char *y = of_right + round * pieces.right_round + piece % n * right_apart +
                        value * kernel->right_size;
        const double assigned = real_at(t->right, y);
        set_real(t->left, at,
                 t->op == HA_ASSIGN ? assigned
                                    : real_result(t->op, real_at(t->left, at), assigned));
    }
    (form < HA_FORM_VECTOR ? kernel->few : kernel->wide)(&pieces, form);
    assert_memory_equal(of_left, expected, sizeof expected);
}

/* All that a kernel has. */
static void check_forms(const ha_span_kernel *kernel, ha_operator op, ha_dtype left,
                        ha_dtype right) {
    const span_test t = {kernel, op, left, right};
    for (int form = HA_FORM_SINGLE; form <= HA_FORM_FOUR_VECTORS; form++) {
        const int64_t vectors = form - HA_FORM_VECTOR + 1;
        if (vectors < 1 ? form > kernel->most
                        : !kernel->wide || (vectors < 4 && vectors > kernel->vectors))
            continue;
        for (int64_t n = 0; n < 5; n++)
            for (int same = 0; same < 2; same++) check_form(&t, (ha_apply_form)form, n, same);
    }
}

static void test_forms(void **state) {
    (void)state;
    for (int k = HA_ASSIGN; k <= HA_DIVIDE; k++) {
        const ha_operator op = (ha_operator)k;
        for (ha_dtype type = HA_DTYPE_uint8_t; type <= HA_DTYPE_uint64_t;
             type = (ha_dtype)(type + 1))
            if (op != HA_DIVIDE) check_forms(ha_kernel_of(op, type, type), op, type, type);
        for (int way = 0; way <= ha_has_wider_kernels() && op != HA_ASSIGN; way++) {
            check_forms(ha_real_kernel(op, HA_DTYPE_float, HA_DTYPE_float, way), op, HA_DTYPE_float,
                        HA_DTYPE_float);
            check_forms(ha_real_kernel(op, HA_DTYPE_double, HA_DTYPE_double, way), op,
                        HA_DTYPE_double, HA_DTYPE_double);
        }
        check_forms(ha_kernel_of(op, HA_DTYPE_float, HA_DTYPE_double), op, HA_DTYPE_float,
                    HA_DTYPE_double);
        check_forms(ha_kernel_of(op, HA_DTYPE_double, HA_DTYPE_float), op, HA_DTYPE_double,
                    HA_DTYPE_float);
    }
}

/* Also those that another processor would choose. */
static void test_kernels(void **state) {
    (void)state;
    for (int k = HA_ASSIGN; k <= HA_DIVIDE; k++) {
        const ha_operator op = (ha_operator)k;
        for (int way = 0; way <= ha_has_wider_kernels() && op != HA_ASSIGN; way++) {
            check_spans(ha_real_kernel(op, HA_DTYPE_float, HA_DTYPE_float, way), op, HA_DTYPE_float,
                        HA_DTYPE_float);
            check_spans(ha_real_kernel(op, HA_DTYPE_double, HA_DTYPE_double, way), op,
                        HA_DTYPE_double, HA_DTYPE_double);
        }
        check_spans(ha_kernel_of(op, HA_DTYPE_float, HA_DTYPE_double), op, HA_DTYPE_float,
                    HA_DTYPE_double);
        check_spans(ha_kernel_of(op, HA_DTYPE_double, HA_DTYPE_float), op, HA_DTYPE_double,
                    HA_DTYPE_float);
        for (ha_dtype type = HA_DTYPE_int8_t; type <= HA_DTYPE_uint64_t; type++)
            check_spans(ha_kernel_of(op, type, type), op, type, type);
    }
    assert_null(ha_kernel_of(HA_ADD, HA_DTYPE_bool, HA_DTYPE_bool));
    assert_null(ha_kernel_of(HA_ADD, HA_DTYPE_half, HA_DTYPE_half));
    assert_null(ha_kernel_of(HA_ADD, HA_DTYPE_float, HA_DTYPE_int32_t));
    assert_null(ha_kernel_of(HA_ASSIGN, HA_DTYPE_float, HA_DTYPE_half));
}

#endif
