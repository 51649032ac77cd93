/* Values of one type as values of another, as code for devices: as values/coding.h has them, bit
 * for bit, but by their bits alone. So no device needs double for values that are stored as that,
 * and none is asked how it rounds, or what it makes of small numbers and of NaN. */
#ifndef HARRAY_LAYOUT_IMPL_CODEGEN_VALUES_H
#define HARRAY_LAYOUT_IMPL_CODEGEN_VALUES_H

#include "code.h"
#include "../values/all.h"

HA_IN_ int ha_bits_of_exponent(ha_dtype type) { return ha_own_exponent(type); }
HA_IN_ int ha_bits_of_mantissa(ha_dtype type) {
    return type == HA_DTYPE_half       ? 10
           : type == HA_DTYPE_bfloat16 ? 7
           : type == HA_DTYPE_float    ? 23
                                       : 52;
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Numbers of E bits for the exponent and M for the mantissa, as their bits; those of doubles are
 * between all others. */
HA_IN_ void ha_put_float_functions(ha_device_writer *w) {
    ha_put_code(w,
                "typedef union $_value {\n    unsigned char bytes[16];\n    unsigned char i1[2];\n"
                "    unsigned short i2[2];\n    unsigned int i4[2];\n    $_unsigned i8[2];\n"
                "    float f4[2];\n%s} $_value;\n",
                ha_uses(w->mapping->record, HA_DTYPE_double) ||
                        ha_uses(w->mapping->record, HA_DTYPE_c128)
                    ? "    double f8[2];\n"
                    : "");
    /* without the lowest bits: to the nearest, of two equally near ones to the even */
    ha_put_code(
        w,
        "$_FN $_unsigned $_near($_unsigned x, int bits) {\n"
        "    if (bits == 0) return x;\n"
        "    if (bits > 63) return 0;\n"
        "    const $_unsigned middle = ($_unsigned)1 << (bits - 1), rest = x & (2 * middle - 1);\n"
        "    return (x >> bits) + (rest + (x >> bits & 1) > middle);\n}\n");
    /* a natural number, or what is negative */
    ha_put_code(w, "$_FN $_unsigned $_of_integer($_unsigned x, int negative, int E, int M) {\n"
                   "    const $_unsigned infinite = ((($_unsigned)1 << E) - 1) << M;\n"
                   "    $_unsigned r;\n    int top = 0;\n"
                   "    if (negative) x = 0 - x;\n"
                   "    if (x == 0) return 0;\n"
                   "    for (int s = 32; s > 0; s /= 2)\n"
                   "        if (x >> top >> s != 0) top += s;\n");
    ha_put_code(w,
                "    r = top > M ? $_near(x, top - M) : x << (M - top);\n"
                "    r += ($_unsigned)(top + (1 << (E - 1)) - 2) << M;\n"
                "    return (r < infinite ? r : infinite) | ($_unsigned)negative << (E + M);\n}\n");
    ha_put_code(w, "$_FN $_unsigned $_widened($_unsigned x, int E, int M) {\n"
                   "    const $_unsigned infinite = ((($_unsigned)1 << E) - 1) << M;\n"
                   "    const $_unsigned size = x & (($_unsigned)1 << (E + M)) - 1;\n"
                   "    const int less = 1024 - (1 << (E - 1));\n"
                   "    $_unsigned r = (size << (52 - M)) + (($_unsigned)less << 52);\n");
    ha_put_code(
        w, "    if (size >> M == 0) r = $_of_integer(size, 0, 11, 52);\n"
           "    if (size >> M == 0 && size != 0) r -= ($_unsigned)(1022 + M - less) << 52;\n"
           "    if (size >= infinite) r = ($_unsigned)2047 << 52 | (size - infinite) << (52 - M);\n"
           "    if (size > infinite) r |= ($_unsigned)1 << 51;\n"
           "    return r | (x >> (E + M) & 1) << 63;\n}\n");
    ha_put_code(w, "$_FN $_unsigned $_narrowed($_unsigned x, int E, int M) {\n"
                   "    const $_unsigned infinite = ((($_unsigned)1 << E) - 1) << M, one = "
                   "($_unsigned)1 << 52;\n"
                   "    const $_unsigned size = x << 1 >> 1, digits = size & (one - 1);\n"
                   "    const int exponent = (int)(size >> 52) - (1024 - (1 << (E - 1)));\n"
                   "    $_unsigned r;\n");
    ha_put_code(w, "    if (exponent > 0)\n"
                   "        r = $_near(digits | ($_unsigned)exponent << 52, 52 - M);\n"
                   "    else\n"
                   "        r = $_near(digits | (size >= one ? one : 0), 53 - M - exponent);\n"
                   "    if (r > infinite) r = infinite;\n"
                   "    if (size > ($_unsigned)2047 << 52)\n"
                   "        r = infinite | ($_unsigned)1 << (M - 1) | digits >> (52 - M);\n"
                   "    return r | x >> 63 << (E + M);\n}\n");
}

/* To integers: x as far as it is there, at most `below` below 0 and `above` above. */
HA_IN_ void ha_put_integer_functions(ha_device_writer *w) {
    ha_put_code(w,
                "$_FN $_unsigned $_kept($_unsigned x, int negative, $_unsigned below, $_unsigned "
                "above) {\n"
                "    if (!negative) return x < above ? x : above;\n"
                "    return 0 - (0 - x < below ? 0 - x : below);\n}\n");
    ha_put_code(w, "$_FN $_unsigned $_whole($_unsigned x, $_unsigned below, $_unsigned above) {\n"
                   "    const $_unsigned one = ($_unsigned)1 << 52, size = x << 1 >> 1;\n"
                   "    const int exponent = (int)(size >> 52) - 1075, negative = (int)(x >> 63);\n"
                   "    $_unsigned r = (size & (one - 1)) | (size >= one ? one : 0);\n");
    ha_put_code(w, "    if (size > ($_unsigned)2047 << 52) return 0;\n"
                   "    if (exponent > 11) return negative ? 0 - below : above;\n"
                   "    r = exponent > 0 ? r << exponent : $_near(r, -exponent);\n"
                   "    if (negative) return 0 - (r < below ? r : below);\n"
                   "    return r < above ? r : above;\n}\n");
}

/* To e bits for the exponent and m for the mantissa, cut off, and back (values/bit_values.h). */
HA_IN_ void ha_put_bit_functions(ha_device_writer *w) {
    ha_put_code(w, "$_FN $_unsigned $_cut($_unsigned x, int E, int M, int e, int m) {\n"
                   "    const int digits = m < M ? m : M;\n"
                   "    const $_unsigned one = ($_unsigned)1 << M, infinite = ((($_unsigned)1 << "
                   "E) - 1) << M;\n"
                   "    const $_unsigned shift = ((($_unsigned)1 << (E - 1)) - (($_unsigned)1 << "
                   "(e - 1))) << M;\n");
    ha_put_code(w, "    const $_unsigned infinity = ((($_unsigned)1 << e) - 1) << digits;\n"
                   "    const $_unsigned size = x & (infinite | (one - 1));\n"
                   "    $_unsigned r = (size - shift) >> (M - digits);\n"
                   "    if (size < (e == E ? 0 : shift + one)) r = 0;\n"
                   "    if (size >= shift + (((($_unsigned)1 << e) - 1) << M)) r = infinity;\n");
    ha_put_code(w, "    if (size > infinite)\n"
                   "        r = infinity | (digits > 0 ? ($_unsigned)1 << (digits - 1) : 0) |\n"
                   "            (size & (one - 1)) >> (M - digits);\n"
                   "    return (r | (x >> (E + M) & 1) << (e + digits)) << (m - digits);\n}\n");
    ha_put_code(w, "$_FN $_unsigned $_uncut($_unsigned x, int E, int M, int e, int m) {\n"
                   "    const int digits = m < M ? m : M;\n"
                   "    const $_unsigned one = ($_unsigned)1 << M, infinite = ((($_unsigned)1 << "
                   "E) - 1) << M;\n"
                   "    const $_unsigned shift = ((($_unsigned)1 << (E - 1)) - (($_unsigned)1 << "
                   "(e - 1))) << M;\n");
    ha_put_code(
        w,
        "    const $_unsigned infinity = ((($_unsigned)1 << e) - 1) << digits;\n"
        "    const $_unsigned all = x >> (m - digits);\n"
        "    const $_unsigned size = all & (infinity | ((($_unsigned)1 << digits) - 1));\n"
        "    const $_unsigned large = size << (M - digits);\n"
        "    $_unsigned r = size < (e == E ? 0 : ($_unsigned)1 << digits) ? 0 : large + shift;\n");
    ha_put_code(w, "    if (size >= infinity) r = infinite | (large & (one - 1));\n"
                   "    if (size > infinity) r |= one >> 1;\n"
                   "    return r | (all >> (e + digits) & 1) << (E + M);\n}\n");
}

HA_IN_ void ha_put_value_functions(ha_device_writer *w) {
    ha_put_float_functions(w);
    ha_put_integer_functions(w);
    ha_put_bit_functions(w);
}

/* ---- values ---------------------------------------------------------------------------------- */

HA_IN_ int ha_has_sign(ha_dtype type) {
    return type >= HA_DTYPE_int8_t && type <= HA_DTYPE_int64_t;
}

/* Completes x, whose lowest bits a number of this type is; the others are 0. */
HA_IN_ void ha_put_extended(ha_device_writer *w, ha_dtype type) {
    const int rest = 64 - 8 * (int)ha_dtype_size(type);
    if (ha_has_sign(type) && rest > 0)
        ha_put_code(w, "        x = ($_unsigned)(($_int)(x << %d) >> %d);\n", rest, rest);
}

/* The numbers that are asked for of integers of this type. */
HA_IN_ void ha_put_limits(ha_device_writer *w, ha_dtype type) {
    const int bits = 8 * (int)ha_dtype_size(type), sign = ha_has_sign(type);
    if (sign)
        ha_put_code(w, "($_unsigned)1 << %d", bits - 1);
    else
        ha_put_code(w, "0");
    ha_put_code(w, ", ~($_unsigned)0 >> %d);\n", 64 - bits + sign);
}

/* x, completed, as the bits of another type; none of the two is complex. */
HA_IN_ void ha_put_change(ha_device_writer *w, ha_dtype from, ha_dtype to) {
    const char *negative = ha_has_sign(from) ? "(int)(x >> 63)" : "0";
    const int real = ha_is_floating(to);
    if (from == to) return;
    if (from == HA_DTYPE_bool) ha_put_code(w, "        x = x != 0;\n");
    if (ha_is_floating(from) && from != HA_DTYPE_double)
        ha_put_code(w, "        x = $_widened(x, %d, %d);\n", ha_bits_of_exponent(from),
                    ha_bits_of_mantissa(from));
    if (to == HA_DTYPE_bool)
        ha_put_code(w,
                    ha_is_floating(from) ? "        x = x << 1 != 0;\n" : "        x = x != 0;\n");
    else if (!ha_is_floating(from) && real)
        ha_put_code(w, "        x = $_of_integer(x, %s, %d, %d);\n", negative,
                    ha_bits_of_exponent(to), ha_bits_of_mantissa(to));
    else if (real && to != HA_DTYPE_double)
        ha_put_code(w, "        x = $_narrowed(x, %d, %d);\n", ha_bits_of_exponent(to),
                    ha_bits_of_mantissa(to));
    if (to == HA_DTYPE_bool || real) return;
    if (ha_is_floating(from))
        ha_put_code(w, "        x = $_whole(x, ");
    else
        ha_put_code(w, "        x = $_kept(x, %s, ", negative);
    ha_put_limits(w, to);
}

/* x, completed, as the bits that are stored of it, and back, of floats by way of a type that is
 * wide enough. */
HA_IN_ void ha_put_cut(ha_device_writer *w, const ha_coding *c) {
    const int sign = (int)c->bits - 1;
    if (c->exponent > 0) {
        const ha_dtype by = ha_bits_by(c);
        ha_put_change(w, c->stored, by);
        ha_put_code(w, "        x = $_cut(x, %d, %d, %d, %d);\n", ha_bits_of_exponent(by),
                    ha_bits_of_mantissa(by), (int)c->exponent, (int)c->mantissa);
    } else if (ha_has_sign(c->stored)) {
        ha_put_code(w, "        x = (x & ((($_unsigned)1 << %d) - 1)) | x >> 63 << %d;\n", sign,
                    sign);
    } else {
        ha_put_code(w, "        x = x << %d >> %d;\n", 63 - sign, 63 - sign);
    }
}

HA_IN_ void ha_put_uncut(ha_device_writer *w, const ha_coding *c) {
    const int size = 8 * (int)ha_dtype_size(c->stored); /* of integers of more bits, the lowest */
    const int is_cut = c->exponent == 0 && c->stored != HA_DTYPE_bool && c->bits > size;
    const int rest = 64 - (is_cut ? size : (int)c->bits);
    ha_put_code(w, "        x = x << %d >> %d;\n", rest, rest);
    if (c->exponent > 0) {
        const ha_dtype by = ha_bits_by(c);
        ha_put_code(w, "        x = $_uncut(x, %d, %d, %d, %d);\n", ha_bits_of_exponent(by),
                    ha_bits_of_mantissa(by), (int)c->exponent, (int)c->mantissa);
        ha_put_change(w, by, c->stored);
    } else if (ha_has_sign(c->stored)) {
        ha_put_code(w, "        x = ($_unsigned)(($_int)(x << %d) >> %d);\n", rest, rest);
    } else if (c->stored == HA_DTYPE_bool) {
        ha_put_code(w, "        x = x != 0;\n");
    }
}

#endif
