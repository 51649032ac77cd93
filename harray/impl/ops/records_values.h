/* Operations with values of any two types as text for devices: what layout/arithmetic.h says of them, in the same bits.
 * x is the value on the left, of the type `left`, and y the one on the right. */
#ifndef HARRAY_IMPL_OPS_RECORDS_VALUES_H
#define HARRAY_IMPL_OPS_RECORDS_VALUES_H

#include "kernels.h"
#include "../kernels/all.h"
#include "../../../layout/impl/arithmetic/all.h"

/* ---- what devices lack --------------------------------------------------------------------------- */

/* The nearest integer of so many bits, of two equally near ones the even one; 0 of NaN. */
HA_DEVICE_CODE(
    ha_nearest_,
    HA_FN int64_t ha_nearest_integer_(double x, int bits) {
        const int64_t most = (int64_t)(~(uint64_t)0 >> (65 - bits));
        const double r = rint(x);
        const double end = -(double)(-most - 1);
        if (x != x) return 0;
        return r >= end ? most : r <= -end ? -most - 1 : (int64_t)r;
    } HA_FN uint64_t ha_nearest_natural_(double x, int bits) {
        const uint64_t most = ~(uint64_t)0 >> (64 - bits);
        const double r = rint(x);
        const double end = 2 * (double)(most / 2 + 1);
        if (x != x || r <= 0) return 0;
        return r >= end ? most : (uint64_t)r;
    });

/* Integers with integers: quotients, cut off towards 0, and 0 of what is divided by 0; the nearest integer of so many
 * bits; and numbers that are rounded as the integer would be, though they have less bits (rounding to odd). */
HA_DEVICE_CODE(
    ha_whole_,
    HA_FN uint64_t ha_whole_quotient_(uint64_t x, int x_has_sign, uint64_t y, int y_has_sign) {
        const int x_negative = x_has_sign && (int64_t)x < 0;
        const int y_negative = y_has_sign && (int64_t)y < 0;
        if (y == 0) return 0;
        const uint64_t q = (x_negative ? 0 - x : x) / (y_negative ? 0 - y : y);
        return x_negative != y_negative ? 0 - q : q;
    } HA_FN int64_t ha_whole_integer_(int64_t x, int bits) {
        const int64_t most = (int64_t)(~(uint64_t)0 >> (65 - bits));
        return x > most ? most : x < -most - 1 ? -most - 1 : x;
    } HA_FN uint64_t ha_whole_natural_(uint64_t x, int bits) {
        const uint64_t most = ~(uint64_t)0 >> (64 - bits);
        return x > most ? most : x;
    } HA_FN uint64_t ha_whole_odd_(uint64_t x) {
        return x >> 53 ? (x >> 11 | ((x & 2047) != 0)) << 11 : x;
    });

/* C's product of complex numbers: where both parts are NaN and a factor or a partial product is infinite, so is it. */
HA_DEVICE_CODE(
    ha_product_,
    HA_FN double ha_product_unit_(double x) {
        return copysign(fabs(x) > 1.7976931348623157e308 ? 1.0 : 0.0, x);
    } HA_FN int ha_product_is_infinite_(double x, double y) {
        return fabs(x) > 1.7976931348623157e308 || fabs(y) > 1.7976931348623157e308;
    } HA_FN double ha_product_number_(double x) {
        return x != x ? copysign(0.0, x) : x;
    } HA_FN ha_c128 ha_product_again_(ha_c128 x, ha_c128 y, int partial) {
        const int x_is = ha_product_is_infinite_(x.re, x.im);
        const int y_is = ha_product_is_infinite_(y.re, y.im);
        double infinite = 1.7976931348623157e308;
        const double a = x_is ? ha_product_unit_(x.re) : ha_product_number_(x.re);
        const double b = x_is ? ha_product_unit_(x.im) : ha_product_number_(x.im);
        const double c = y_is ? ha_product_unit_(y.re) : ha_product_number_(y.re);
        const double d = y_is ? ha_product_unit_(y.im) : ha_product_number_(y.im);
        if (!x_is && !y_is && !partial) return ha_c128_mul(x, y);
        infinite *= 2;
        return ha_c128_make(infinite * (a * c - b * d), infinite * (a * d + b * c));
    } HA_FN ha_c128 ha_product_(ha_c128 x, ha_c128 y) {
        const ha_c128 z = ha_c128_mul(x, y);
        const int partial = ha_product_is_infinite_(x.re * y.re, x.im * y.im) ||
                            ha_product_is_infinite_(x.re * y.im, x.im * y.re);
        return z.re != z.re && z.im != z.im ? ha_product_again_(x, y, partial) : z;
    });

/* ---- types --------------------------------------------------------------------------------------- */

HA_IN_ int ha_is_whole_number(ha_dtype type) {
    const ha_number_kind kind = ha_dtype_kind(type);
    return kind == HA_KIND_SIGNED || kind == HA_KIND_UNSIGNED;
}

HA_IN_ int ha_value_has_sign(ha_dtype type) { return ha_dtype_kind(type) == HA_KIND_SIGNED; }

HA_IN_ int ha_value_is_real(ha_dtype type) {
    return type == HA_DTYPE_half || type == HA_DTYPE_bfloat16 || type == HA_DTYPE_float ||
           type == HA_DTYPE_double;
}

/* Is float enough to compute with, so that what is rounded twice is what is rounded once? */
HA_IN_ int ha_value_in_float(ha_dtype left, ha_dtype right) {
    if (left == HA_DTYPE_half) return right == HA_DTYPE_half;
    return left == HA_DTYPE_float && ha_value_is_real(right) && right != HA_DTYPE_double;
}

/* Complex numbers are divided by the host alone: its compiler's library says how. */
HA_IN_ int ha_value_has_text(ha_operator operation, ha_dtype left, ha_dtype right) {
    return operation != HA_DIVIDE || ha_dtype_kind(left) != HA_KIND_COMPLEX ||
           ha_dtype_kind(right) != HA_KIND_COMPLEX;
}

/* ---- text ---------------------------------------------------------------------------------------- */

/* Where the other device code is that a text calls. */
typedef struct ha_value_needs {
    int nearest, whole, product;
} ha_value_needs;

/* "half", "bfloat16"; NULL of what languages have. */
HA_IN_ const char *ha_value_small(ha_dtype type) {
    return type == HA_DTYPE_half ? "half" : type == HA_DTYPE_bfloat16 ? "bfloat16" : NULL;
}

/* The value of the name as another type of C's, "(double)x". */
HA_IN_ void ha_value_put_as(ha_text *t, const char *as, ha_dtype type, const char *name) {
    const char *small = ha_value_small(type);
    if (small)
        ha_print(t, "(%s)ha_%s_to_float(%s)", as, small, name);
    else
        ha_print(t, "(%s)%s", as, name);
}

/* In front of, and behind, a number that is rounded to a type; it is of float or double. */
HA_IN_ void ha_value_put_rounded(ha_text *t, ha_dtype to, int in_float, ha_value_needs *needs) {
    const char *small = ha_value_small(to);
    if (small)
        ha_print(t, "ha_%s_of_%s(", small, in_float ? "float" : "double");
    else if (ha_is_whole_number(to))
        ha_print(t, "(%s)ha_nearest_%s_(", ha_device_word(to),
                 ha_value_has_sign(to) ? "integer" : "natural");
    else
        ha_print(t, "(%s)(", ha_device_word(to));
    needs->nearest |= ha_is_whole_number(to);
}
HA_IN_ void ha_value_put_end(ha_text *t, ha_dtype to) {
    if (ha_is_whole_number(to))
        ha_print(t, ", %d)", 8 * (int)ha_dtype_size(to));
    else
        ha_print(t, ")");
}

/* An integer as the nearest one of another type. */
HA_IN_ void ha_value_put_whole(ha_text *t, ha_dtype to, ha_dtype from, const char *y) {
    const int bits = 8 * (int)ha_dtype_size(to), to_sign = ha_value_has_sign(to);
    const int from_sign = ha_value_has_sign(from);
    ha_print(t, "(%s)", ha_device_word(to));
    if (to_sign && from_sign)
        ha_print(t, "ha_whole_integer_(%s, %d)", y, bits);
    else if (from_sign)
        ha_print(t, "ha_whole_natural_(%s < 0 ? 0 : (uint64_t)%s, %d)", y, y, bits);
    else
        ha_print(t, "ha_whole_natural_((uint64_t)%s, %d)", y, bits - to_sign);
}

/* An integer of 64 bits, that is to be rounded to few bits, once. */
HA_IN_ void ha_value_put_odd(ha_text *t, ha_dtype from, const char *y) {
    if (ha_value_has_sign(from))
        ha_print(t,
                 "(%s < 0 ? -(double)ha_whole_odd_(0 - (uint64_t)%s) : "
                 "(double)ha_whole_odd_((uint64_t)%s))",
                 y, y, y);
    else
        ha_print(t, "(double)ha_whole_odd_(%s)", y);
}

/* y as the type of the left side, neither of them complex. */
HA_IN_ void ha_value_put_assigned(ha_text *t, ha_dtype left, ha_dtype right, const char *y,
                                  ha_value_needs *needs) {
    const int is_whole = !ha_value_is_real(right);
    const int in_float = !is_whole && right != HA_DTYPE_double;
    if (left == right) {
        ha_print(t, "%s", y);
    } else if (left == HA_DTYPE_bool) {
        ha_value_put_as(t, is_whole ? "int64_t" : in_float ? "float" : "double", right, y);
        ha_print(t, " != 0");
    } else if (is_whole && ha_is_whole_number(left)) {
        ha_value_put_whole(t, left, right, y);
        needs->whole = 1;
    } else if (is_whole && (left == HA_DTYPE_float || left == HA_DTYPE_double)) {
        ha_print(t, "(%s)%s", ha_device_word(left), y);
    } else {
        const int as_float = in_float && !ha_is_whole_number(left);
        ha_value_put_rounded(t, left, as_float, needs);
        if (is_whole && ha_dtype_size(right) == 8 && (needs->whole = 1))
            ha_value_put_odd(t, right, y);
        else
            ha_value_put_as(t, as_float ? "float" : "double", right, y);
        ha_value_put_end(t, left);
    }
}

/* x op y as the type of the left side, neither of them complex. */
HA_IN_ void ha_value_put_operated(ha_text *t, ha_operator operation, ha_dtype left, ha_dtype right,
                                  const char *x, const char *y, ha_value_needs *needs) {
    static const char *const sign[] = {"", "+", "-", "*", "/"};
    const int are_whole = ha_is_whole_number(left) && !ha_value_is_real(right);
    const int in_float = ha_value_in_float(left, right);
    const char *as = are_whole ? "uint64_t" : in_float ? "float" : "double";
    if (operation == HA_ASSIGN) {
        ha_value_put_assigned(t, left, right, y, needs);
    } else if (are_whole && operation == HA_DIVIDE) {
        ha_print(t, "(%s)ha_whole_quotient_((uint64_t)%s, %d, (uint64_t)%s, %d)",
                 ha_device_word(left), x, ha_value_has_sign(left), y, ha_value_has_sign(right));
        needs->whole = 1;
    } else if (are_whole) {
        ha_print(t, "(%s)((uint64_t)%s %s (uint64_t)%s)", ha_device_word(left), x, sign[operation],
                 y);
    } else {
        ha_value_put_rounded(t, left, in_float, needs);
        ha_value_put_as(t, as, left, x);
        ha_print(t, " %s ", sign[operation]);
        ha_value_put_as(t, as, right, y);
        ha_value_put_end(t, left);
    }
}

/* The parts of a complex x. */
HA_IN_ void ha_value_put_parts(ha_text *t, ha_operator operation, ha_dtype left, ha_dtype right,
                               ha_value_needs *needs) {
    const int both = ha_dtype_kind(right) == HA_KIND_COMPLEX;
    const ha_dtype to = ha_type_of_part(left), from = ha_type_of_part(right);
    const char *word = ha_device_word(to);
    if (both && operation == HA_MULTIPLY) {
        ha_print(t, "const ha_c128 xy = ha_product_(ha_c128_make(x.re, x.im), "
                    "ha_c128_make(y.re, y.im)); ");
        ha_print(t, "x.re = (%s)xy.re; x.im = (%s)xy.im; ", word, word);
        needs->product = 1;
        return;
    }
    ha_print(t, "x.re = ");
    ha_value_put_operated(t, operation, to, from, "x.re", both ? "y.re" : "y", needs);
    ha_print(t, "; ");
    if (!both && operation == HA_ASSIGN) ha_print(t, "x.im = 0; ");
    if (!both && operation < HA_MULTIPLY) return;
    ha_print(t, "x.im = ");
    ha_value_put_operated(t, operation, to, from, "x.im", both ? "y.im" : "y", needs);
    ha_print(t, "; ");
}

#endif
