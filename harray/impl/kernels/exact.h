/* Whether a device computes as the host does: a small kernel of everything that kernel.h promises is compared, bit for
 * bit, with what the host gets. It is no kernel of the program, so it is in no list. */
#ifndef HARRAY_IMPL_KERNELS_EXACT_H
#define HARRAY_IMPL_KERNELS_EXACT_H

#include "launch.h"

#include <float.h>

/* So many lanes that vectors of lanes leave some over: compilers make other loops of those. */
enum { HA_EXACT_LANES = 67, HA_EXACT_RESULTS = 5, HA_EXACT_ROOTS = 8 };

/* Numbers, behind them a tiny one, and numbers whose square roots are known. */
enum {
    HA_EXACT_TINY = HA_EXACT_LANES,
    HA_EXACT_SQUARES,
    HA_EXACT_GIVEN = HA_EXACT_SQUARES + HA_EXACT_ROOTS
};
static const double ha_exact_squares[HA_EXACT_ROOTS] = {2, 3, 5, 6, 7, 10, 11, 13};
static const double ha_exact_roots[HA_EXACT_ROOTS] = {
    1.4142135623730951, 1.7320508075688772, 2.23606797749979, 2.449489742783178,
    2.6457513110645907, 3.1622776601683795, 3.3166247903554,  3.605551275463989};

/* A sum of quotients, a difference of which most digits are gone, a quotient, a product that is denormal, a root. */
#define HA_EXACT_TEXT_(T, root)                                                                    \
    "{ const int n = 67; " #T " sum = 0;"                                                          \
    " for (int k = 0; k < n; k++) { const " #T " d = x[k] - x[i];"                                 \
    "  sum += x[k] * d / (d * d + x[1]); }"                                                        \
    " y[5 * i] = sum;"                                                                             \
    " y[5 * i + 1] = x[i] * x[i] - x[(i + 1) % n] * x[(i + 2) % n];"                               \
    " y[5 * i + 2] = x[i] / x[(i + 5) % n];"                                                       \
    " y[5 * i + 3] = x[i] * x[n];"                                                                 \
    " y[5 * i + 4] = " #root "(x[n + 1 + i % 8]); }"

/* The same here. What is stored in a variable that is volatile has been rounded. */
#define HA_EXACT_HERE_(T, tiny)                                                                    \
    HA_IN_ void ha_exact_given_##T(T *x) {                                                         \
        for (int k = 0; k < HA_EXACT_LANES; k++) x[k] = (T)(k % 3 ? 1 : -1) / (T)(k + 3);          \
        x[HA_EXACT_TINY] = tiny;                                                                   \
        for (int k = 0; k < HA_EXACT_ROOTS; k++) x[HA_EXACT_SQUARES + k] = (T)ha_exact_squares[k]; \
    }                                                                                              \
    HA_IN_ void ha_exact_expected_##T(const T *x, int i, T *y) {                                   \
        volatile T sum = 0, product, square, other;                                                \
        for (int k = 0; k < HA_EXACT_LANES; k++) {                                                 \
            other = x[k] - x[i];                                                                   \
            square = other * other;                                                                \
            product = x[k] * other;                                                                \
            other = square + x[1];                                                                 \
            product = product / other;                                                             \
            sum = sum + product;                                                                   \
        }                                                                                          \
        product = x[i] * x[i];                                                                     \
        other = x[(i + 1) % HA_EXACT_LANES] * x[(i + 2) % HA_EXACT_LANES];                         \
        y[0] = sum;                                                                                \
        y[1] = product - other;                                                                    \
        y[2] = x[i] / x[(i + 5) % HA_EXACT_LANES];                                                 \
        y[3] = x[i] * x[HA_EXACT_TINY];                                                            \
        y[4] = (T)ha_exact_roots[i % HA_EXACT_ROOTS];                                              \
    }                                                                                              \
    HA_IN_ int ha_exact_##T(ha_context *c, const ha_kernel *k) {                                   \
        T given[HA_EXACT_GIVEN], found[HA_EXACT_RESULTS * HA_EXACT_LANES];                         \
        T expected[HA_EXACT_RESULTS];                                                              \
        ha_exact_given_##T(given);                                                                 \
        if (!ha_exact_run(c, k, given, found)) return 0;                                           \
        for (int i = 0; i < HA_EXACT_LANES; i++) {                                                 \
            ha_exact_expected_##T(given, i, expected);                                             \
            if (memcmp(expected, found + HA_EXACT_RESULTS * i, sizeof expected) != 0) return 0;    \
        }                                                                                          \
        return 1;                                                                                  \
    }

/* Runs it, on arrays of the type of its parameters. 0: that failed, and has been told. */
HA_IN_ int ha_exact_run(ha_context *c, const ha_kernel *k, const void *given, void *found) {
    const ha_type type = {k->parameter->type, k->parameter->bytes};
    const ha_region box = ha_box1(0, HA_EXACT_LANES);
    ha_array *x = ha_array_of(type, HA_EXACT_GIVEN, given, c);
    ha_array *y = x ? ha_array_new(type, HA_EXACT_RESULTS * HA_EXACT_LANES, c) : NULL;
    const void *const arguments[] = {&x, &y};
    ha_access v;
    int done = y && !ha_kernel_launch_(k, c, &box, arguments) &&
               !ha_open_(&v, y, ha_host(), HA_READ, 0, HA_END, k->name);
    if (done) {
        memcpy(found, v.data, v.size * type.size);
        done = !ha_close_(&v);
    }
    if (y && ha_array_free(y)) done = 0;
    if (x && ha_array_free(x)) done = 0;
    return done;
}

HA_EXACT_HERE_(float, FLT_MIN)
HA_EXACT_HERE_(double, DBL_MIN)

#define HA_EXACT_PARAMETER_(mode, T, name)                                                         \
    { mode, 0, sizeof(T), #T, name, "ha_context_is_exact: " name, 0, NULL, NULL, NULL, NULL, 0 }
#define HA_EXACT_KERNEL_(T, root)                                                                  \
    static const ha_kernel_parameter_ ha_exact_parameters_##T[] = {                                \
        HA_EXACT_PARAMETER_(HA_KERNEL_IN_, T, "x"), HA_EXACT_PARAMETER_(HA_KERNEL_OUT_, T, "y")};  \
    static const ha_kernel ha_exact_kernel_##T = {.name = "ha_exact_" #T,                          \
                                                  .text = HA_EXACT_TEXT_(T, root),                 \
                                                  .indices = "i",                                  \
                                                  .site = "ha_context_is_exact:0",                 \
                                                  .rank = 1,                                       \
                                                  .parameters = 2,                                 \
                                                  .parameter = ha_exact_parameters_##T};
HA_EXACT_KERNEL_(float, sqrtf)
HA_EXACT_KERNEL_(double, sqrt)

int ha_context_is_exact(ha_context *c) {
    if (ha_enter("ha_context_is_exact")) return 0;
    c = ha_resolve(c);
    const ha_kernel_way way = ha_way_of(c);
    if (way == HA_WAY_UNKNOWN) ha_fail(HA_ERR_MEMORY, "ha_context_is_exact", "no memory");
    if (way != HA_WAY_COMPILED) return way != HA_WAY_UNKNOWN;
    if (!ha_exact_float(c, &ha_exact_kernel_float)) return 0;
    if (HA_HAS_(c->backend, ha_backend, has_double) && !c->backend->has_double(c->device)) return 1;
    return ha_exact_double(c, &ha_exact_kernel_double);
}

#endif
