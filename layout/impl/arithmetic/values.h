/* Operations with values of any two types: through whole numbers of 64 bits, or doubles. */
#ifndef HARRAY_LAYOUT_IMPL_ARITHMETIC_VALUES_H
#define HARRAY_LAYOUT_IMPL_ARITHMETIC_VALUES_H

#include "spans.h"
#include "../values/all.h"

/* Up to HA_PORTION values of both sides. */
typedef struct ha_operands {
    ha_midway left, right;
    char left_values[HA_PORTION * 16], right_values[HA_PORTION * 16]; /* as they are */
    ha_dtype left_type, right_type;
} ha_operands;

/* ---- integers -------------------------------------------------------------------------------- */

/* A quotient of numbers that have a sign, or none, cut off towards 0. */
HA_IN_ uint64_t ha_quotient(uint64_t x, int x_has_sign, uint64_t y, int y_has_sign) {
    const int x_negative = x_has_sign && (int64_t)x < 0, y_negative = y_has_sign && (int64_t)y < 0;
    if (y == 0) return 0;
    const uint64_t q = (x_negative ? 0 - x : x) / (y_negative ? 0 - y : y);
    return x_negative != y_negative ? 0 - q : q;
}

HA_IN_ void ha_operate_integers(ha_operator operation, uint64_t *x, int x_has_sign,
                                const uint64_t *y, int y_has_sign, int64_t n) {
    const ha_span span = {.left = (char *)x,
                          .right = (const char *)y,
                          .n = n,
                          .left_step = 8,
                          .right_step = 8,
                          .runs = 1};
    if (operation != HA_DIVIDE)
        ha_apply_kernel(ha_kernel_of(operation, HA_DTYPE_uint64_t, HA_DTYPE_uint64_t), &span);
    else
        for (int64_t k = 0; k < n; k++) x[k] = ha_quotient(x[k], x_has_sign, y[k], y_has_sign);
}

/* The lowest bits of each. */
HA_IN_ void ha_store_lowest(char *to, ha_dtype type, const uint64_t *from, int64_t n) {
    const int64_t size = (int64_t)ha_dtype_size(type);
    for (int64_t k = 0; k < n; k++) {
        const uint8_t one = (uint8_t)from[k];
        const uint16_t two = (uint16_t)from[k];
        const uint32_t four = (uint32_t)from[k];
        memcpy(to + k * size,
               size == 1   ? (const void *)&one
               : size == 2 ? (const void *)&two
               : size == 4 ? (const void *)&four
                           : (const void *)&from[k],
               (size_t)size);
    }
}

/* ---- complex numbers ------------------------------------------------------------------------- */

HA_IN_ void ha_operate_complex(ha_operator operation, double *x, const double *y, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        double _Complex a, b;
        memcpy(&a, x + 2 * k, sizeof a);
        memcpy(&b, y + 2 * k, sizeof b);
        a = operation == HA_MULTIPLY ? a * b : a / b;
        memcpy(x + 2 * k, &a, sizeof a);
    }
}

/* With real numbers, of which there are half as many. */
HA_IN_ void ha_operate_parts(ha_operator operation, double *x, const double *y, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        if (operation == HA_ADD) x[2 * k] += y[k];
        if (operation == HA_SUBTRACT) x[2 * k] -= y[k];
        for (int part = 0; part < 2; part++)
            if (operation == HA_MULTIPLY)
                x[2 * k + part] *= y[k];
            else if (operation == HA_DIVIDE)
                x[2 * k + part] /= y[k];
    }
}

/* ---- any ------------------------------------------------------------------------------------- */

HA_IN_ void ha_operate_reals(ha_operator operation, ha_operands *o, int64_t n) {
    const int is_complex = ha_is_complex(o->left_type), both = ha_is_complex(o->right_type);
    const ha_span span = {.left = (char *)o->left.real,
                          .right = (const char *)o->right.real,
                          .n = is_complex ? 2 * n : n,
                          .left_step = 8,
                          .right_step = 8,
                          .runs = 1};
    if (is_complex && !both)
        ha_operate_parts(operation, o->left.real, o->right.real, n);
    else if (is_complex && operation >= HA_MULTIPLY)
        ha_operate_complex(operation, o->left.real, o->right.real, n);
    else
        ha_apply_kernel(ha_kernel_of(operation, HA_DTYPE_double, HA_DTYPE_double), &span);
}

/* The values on the right as those of the left's type, in left_values. */
HA_IN_ void ha_assign_values(ha_operands *o, int64_t n) {
    const ha_dtype left = ha_type_of_part(o->left_type), right = ha_type_of_part(o->right_type);
    const int64_t size = (int64_t)ha_dtype_size(left);
    const int both = ha_is_complex(o->right_type);
    const int64_t parts = both ? 2 * n : n;
    if (left == right) {
        memcpy(o->left_values, o->right_values, (size_t)(parts * size));
    } else {
        const ha_dtype is = ha_load_midway(&o->right, right, o->right_values, parts);
        ha_store_midway(o->left_values, left, &o->right, is, parts);
    }
    if (both || !ha_is_complex(o->left_type)) return;
    for (int64_t k = n; k-- > 0;) { /* from the last one on, as there is twice the room */
        memmove(o->left_values + 2 * k * size, o->left_values + k * size, (size_t)size);
        memset(o->left_values + (2 * k + 1) * size, 0, (size_t)size);
    }
}

/* left_values op= right_values, n of each. */
HA_IN_ void ha_operate(ha_operator operation, ha_operands *o, int64_t n) {
    const ha_dtype left = ha_type_of_part(o->left_type), right = ha_type_of_part(o->right_type);
    const int64_t lefts = ha_is_complex(o->left_type) ? 2 * n : n;
    const int64_t rights = ha_is_complex(o->right_type) ? 2 * n : n;
    if (operation == HA_ASSIGN) {
        ha_assign_values(o, n);
        return;
    }
    const ha_dtype is = ha_load_midway(&o->left, left, o->left_values, lefts);
    const ha_dtype are = ha_load_midway(&o->right, right, o->right_values, rights);
    if (is != HA_DTYPE_double && are != HA_DTYPE_double) {
        ha_operate_integers(operation, o->left.natural, is == HA_DTYPE_int64_t, o->right.natural,
                            are == HA_DTYPE_int64_t, n);
        ha_store_lowest(o->left_values, left, o->left.natural, n);
        return;
    }
    ha_midway_reals(&o->left, is, HA_DTYPE_double, lefts);
    ha_midway_reals(&o->right, are, HA_DTYPE_double, rights);
    ha_operate_reals(operation, o, n);
    ha_store_midway(o->left_values, left, &o->left, HA_DTYPE_double, lefts);
}

/* ---- one value on the right ------------------------------------------------------------------ */

/* A number that is the same for all records. */
typedef struct ha_constant {
    ha_dtype type;
    _Alignas(16) char value[16];
} ha_constant;

/* Of two integers midway: are they the same number? The same bits are not when one has a sign. */
HA_IN_ int ha_same_integer(uint64_t x, int x_has_sign, uint64_t y, int y_has_sign) {
    return x == y && (x_has_sign == y_has_sign || (int64_t)x >= 0);
}

/* As a number of type `to`, neither of them complex: 0, and as it was, when an operation with that
 * would give something else than with the number itself. */
HA_IN_ int ha_constant_as(ha_constant *c, ha_operator operation, ha_dtype to) {
    ha_midway v, back;
    char value[16];
    const ha_dtype is = ha_load_midway(&v, c->type, c->value, 1);
    const uint64_t number = v.natural[0];
    if (is != HA_DTYPE_double && !ha_is_floating(to) && operation != HA_ASSIGN) {
        ha_store_lowest(value, to, v.natural, 1);
        const ha_dtype now = ha_load_midway(&back, to, value, 1);
        if (operation == HA_DIVIDE && !ha_same_integer(number, is == HA_DTYPE_int64_t,
                                                       back.natural[0], now == HA_DTYPE_int64_t))
            return 0;
    } else {
        if (operation != HA_ASSIGN && !ha_is_floating(to)) return 0;
        ha_store_midway(value, to, &v, is, 1);
        (void)ha_load_midway(&back, to, value, 1);
        v.natural[0] = number;
        ha_midway_reals(&v, is, HA_DTYPE_double, 1);
        if (operation != HA_ASSIGN && !(v.real[0] == back.real[0])) return 0;
    }
    memcpy(c->value, value, ha_dtype_size(to));
    c->type = to;
    return 1;
}

HA_IN_ int ha_constant_is_zero(const ha_constant *c) {
    ha_midway v;
    const ha_dtype is = ha_load_midway(&v, ha_type_of_part(c->type), c->value, 1);
    return is == HA_DTYPE_double ? v.real[0] == 0 : v.natural[0] == 0;
}

#endif
