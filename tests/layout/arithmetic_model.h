/* What arithmetic with whole views should do: values that operations say something with, and a
 * model that goes value by value, and computes in C. */
#ifndef HARRAY_TESTS_LAYOUT_ARITHMETIC_MODEL_H
#define HARRAY_TESTS_LAYOUT_ARITHMETIC_MODEL_H

#include "../support/layout_particle.h"

#include "../support/layout_blobs.h"

#include <math.h>
#include <stdio.h>

static const char *const layouts[] = {"aos",
                                      "aos(packed)@col",
                                      "aos@morton",
                                      "soa",
                                      "soa(single)@col",
                                      "aosoa(2)",
                                      "aosoa(8)",
                                      "aosoa(32)@col",
                                      "aosoa(4,rows)",
                                      "aosoa(8,aligned)",
                                      "permute(1,0,aos)",
                                      "split(separate; a: aosoa(4), soa)",
                                      "byteswap(aos)",
                                      "bytesplit(soa)",
                                      "split(b: null, aosoa(8))",
                                      "tree(idem)"};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static const char *const records[] = {
    "a:f32 b:f32 c.x:f32 c.y:f32 c.z:f32 d:f32 e:f32", /* one type */
    "a:f32 b:u8 c.x:i32 c.y:i32 c.z:f64 d:c64 e:c128", /* many */
    "a:c64 b:c64 c.x:u16 c.y:u16 c.z:i64 d:i64 e:f16",
};

/* ---- records in memory ----------------------------------------------------------------------- */

static uint64_t seed = 1;

static uint32_t any_number(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

/* A value that operations say something with: small numbers, the ends of types, halves. */
static void any_value(ha_dtype type, void *value) {
    const uint64_t bits = (uint64_t)any_number() << 40 ^ (uint64_t)any_number() << 20 ^
                          any_number();
    const double reals[] = {0, -0.0, 1, -1, 0.5, 2.5, -3, 1e30, 1.0 / 3, 70000, 3e-5, 255};
    const double x[2] = {reals[any_number() % 12] * (any_number() % 5), reals[any_number() % 12]};
    const float y[2] = {(float)x[0], (float)x[1]};
    const ha_half h = ha_half_of_double(x[0]);
    const ha_bfloat16 b = ha_bfloat16_of_double(x[0]);
    const uint64_t integer = any_number() % 3 == 0 ? bits
                             : any_number() % 4    ? any_number() % 7 - (uint64_t)3
                                                   : (uint64_t)1 << (any_number() % 64);
    const bool truth = bits % 2 != 0;
    switch (type) {
    case HA_DTYPE_bool:
        memcpy(value, &truth, 1);
        break;
    case HA_DTYPE_half:
        memcpy(value, &h, 2);
        break;
    case HA_DTYPE_bfloat16:
        memcpy(value, &b, 2);
        break;
    case HA_DTYPE_float:
        memcpy(value, y, 4);
        break;
    case HA_DTYPE_double:
        memcpy(value, x, 8);
        break;
    case HA_DTYPE_c64:
        memcpy(value, y, 8);
        break;
    case HA_DTYPE_c128:
        memcpy(value, x, 16);
        break;
    default:
        memcpy(value, &integer, ha_dtype_size(type));
        break; /* little end first */
    }
}

static ha_dtype type_of(const ha_mapping *m, int64_t leaf) { return (ha_dtype)m->row[leaf].type; }

static void fill(memory *m) {
    const int64_t zeros[4] = {0};
    int64_t i[4] = {0}, count = 1;
    char value[16];
    for (int d = 0; d < m->mapping->rank; d++) count *= m->mapping->extent[d];
    if (count == 0) return;
    do
        for (int64_t k = 0; k < m->mapping->rows; k++) {
            any_value(type_of(m->mapping, k), value);
            ha_mapped_set(&m->mapped, k, i, value);
        }
    while (next_index(zeros, m->mapping->extent, m->mapping->rank, i));
}

static void make_memory(memory *m, const ha_record *r, const char *layout, int rank,
                        const int64_t *extent) {
    new_memory(m, r, layout, rank, extent, 0, 0x5a);
    fill(m);
}

/* ---- the model ------------------------------------------------------------------------------- */

__extension__ typedef __int128 integer128;
__extension__ typedef unsigned __int128 natural128;

typedef struct number {
    enum { INTEGER, REAL, COMPLEX } sort;
    bool single; /* no more precise than float */
    integer128 integer;
    double re, im;
} number;

static number number_of(ha_dtype type, const void *value) {
    number n = {.sort = INTEGER};
    double x[2] = {0};
    float y[2] = {0};
    uint64_t bits = 0;
    ha_half h = {0};
    ha_bfloat16 b = {0};
    memcpy(&bits, value, type <= HA_DTYPE_uint64_t ? ha_dtype_size(type) : 0);
    memcpy(x, value, type == HA_DTYPE_double ? 8 : type == HA_DTYPE_c128 ? 16 : 0);
    memcpy(y, value, type == HA_DTYPE_float ? 4 : type == HA_DTYPE_c64 ? 8 : 0);
    memcpy(&h, value, type == HA_DTYPE_half ? 2 : 0);
    memcpy(&b, value, type == HA_DTYPE_bfloat16 ? 2 : 0);
    const int shift = type <= HA_DTYPE_uint64_t ? 64 - 8 * (int)ha_dtype_size(type) : 0;
    n.integer = bits;
    if (type >= HA_DTYPE_int8_t && type <= HA_DTYPE_int64_t)
        n.integer = (int64_t)(bits << shift) >> shift;
    if (type >= HA_DTYPE_half) n.sort = type >= HA_DTYPE_c64 ? COMPLEX : REAL;
    n.single = type == HA_DTYPE_half || type == HA_DTYPE_bfloat16 || type == HA_DTYPE_float;
    n.re = type == HA_DTYPE_half                            ? ha_half_to_double(h)
           : type == HA_DTYPE_bfloat16                      ? ha_bfloat16_to_double(b)
           : type == HA_DTYPE_float || type == HA_DTYPE_c64 ? (double)y[0]
                                                            : x[0];
    n.im = type == HA_DTYPE_c64 ? (double)y[1] : x[1];
    if (n.sort == INTEGER) n.re = (double)n.integer;
    return n;
}

/* As mapped.h says. */
static double clamped(double x, double least, double most) {
    if (isnan(x)) return 0;
    return x < least ? least : x > most ? most : nearbyint(x);
}

static void store_number(ha_dtype type, void *value, number n, bool wrap) {
    const double x[2] = {n.re, n.im};
    const float y[2] = {(float)n.re, (float)n.im};
    const ha_half h = ha_half_of_double(n.re);
    const ha_bfloat16 b = ha_bfloat16_of_double(n.re);
    const size_t size = ha_dtype_size(type);
    const int bits = type <= HA_DTYPE_uint64_t ? (int)size * 8 : 64;
    const bool has_sign = type >= HA_DTYPE_int8_t && type <= HA_DTYPE_int64_t;
    const integer128 most = ((integer128)1 << (has_sign ? bits - 1 : bits)) - 1;
    const integer128 least = has_sign ? -most - 1 : 0;
    if (type == HA_DTYPE_bool) {
        const bool truth = n.sort == INTEGER ? n.integer != 0 : n.re != 0;
        memcpy(value, &truth, 1);
    } else if (type <= HA_DTYPE_uint64_t) {
        integer128 i = n.integer;
        if (n.sort == REAL) {
            const double edge = ldexp(1, has_sign ? bits - 1 : bits);
            const double near = clamped(n.re, has_sign ? -edge : 0, edge);
            i = near >= edge ? most : (integer128)near;
        } else if (!wrap) {
            i = i < least ? least : i > most ? most : i;
        }
        memcpy(value, &i, size);
    } else if (type == HA_DTYPE_half) {
        memcpy(value, &h, 2);
    } else if (type == HA_DTYPE_bfloat16) {
        memcpy(value, &b, 2);
    } else {
        memcpy(value,
               type == HA_DTYPE_float || type == HA_DTYPE_c64 ? (const void *)y : (const void *)x,
               size);
    }
}

static double real_result(ha_operator op, double x, double y) {
    return op == HA_ADD ? x + y : op == HA_SUBTRACT ? x - y : op == HA_MULTIPLY ? x * y : x / y;
}

static number integer_result(ha_operator op, number x, number y) {
    const natural128 a = (natural128)x.integer, b = (natural128)y.integer;
    number z = {.sort = INTEGER};
    z.integer = (integer128)(op == HA_ADD        ? a + b
                             : op == HA_SUBTRACT ? a - b
                             : op == HA_MULTIPLY ? a * b
                                                 : 0);
    if (op == HA_DIVIDE && y.integer != 0) z.integer = x.integer / y.integer;
    return z;
}

static number complex_result(ha_operator op, number x, number y) {
    double _Complex a, b, c;
    memcpy(&a, (double[2]){x.re, x.im}, sizeof a);
    memcpy(&b, (double[2]){y.re, y.im}, sizeof b);
    c = op == HA_ADD ? a + b : op == HA_SUBTRACT ? a - b : op == HA_MULTIPLY ? a * b : a / b;
    number z = {.sort = COMPLEX};
    memcpy(&z.re, &c, 8);
    memcpy(&z.im, (char *)&c + 8, 8);
    return z;
}

static void model_value(ha_operator op, ha_dtype left, void *value, ha_dtype right,
                        const void *other) {
    number x = number_of(left, value);
    const number y = number_of(right, other);
    if (op == HA_ASSIGN) {
        x = y;
        if (left >= HA_DTYPE_c64 && right < HA_DTYPE_c64) x.im = 0;
        if (left > HA_DTYPE_uint64_t && left != HA_DTYPE_double &&
            right == HA_DTYPE_int64_t) { /* rounded once */
            x.re = left == HA_DTYPE_float || left == HA_DTYPE_c64
                       ? (double)(float)(int64_t)y.integer
                       : x.re;
        }
        if ((left == HA_DTYPE_float || left == HA_DTYPE_c64) && right == HA_DTYPE_uint64_t)
            x.re = (double)(float)(uint64_t)y.integer;
    } else if (x.sort == INTEGER && y.sort == INTEGER) {
        x = integer_result(op, x, y);
    } else if (x.sort == COMPLEX && y.sort == COMPLEX) {
        x = complex_result(op, x, y);
    } else if (x.sort == COMPLEX) {
        x.re = real_result(op, x.re, y.re);
        if (op >= HA_MULTIPLY) x.im = real_result(op, x.im, y.re);
    } else {
        const float a = (float)x.re, b = (float)y.re; /* two floats: C's arithmetic in float */
        x.re = y.single && (left == HA_DTYPE_float || (x.single && left == right))
                   ? (double)(op == HA_ADD        ? a + b
                              : op == HA_SUBTRACT ? a - b
                              : op == HA_MULTIPLY ? a * b
                                                  : a / b)
                   : real_result(op, x.re, y.re);
        x.sort = REAL;
    }
    store_number(left, value, x, op != HA_ASSIGN);
}

/* The right side of the model: a view, or values for the leaves of the left one. */
typedef struct model_right {
    const memory *view;
    const int64_t *leaf;  /* of the view, for each of the left one's; -1: none. NULL: the same */
    const ha_dtype *type; /* of the values */
    const char (*value)[16];
} model_right;

static void model(memory *left, ha_operator op, const model_right *right, const int64_t *first,
                  const int64_t *last, const int64_t *shift, const bool *chosen) {
    int64_t i[4] = {0}, j[4] = {0};
    char value[16], other[16];
    const ha_mapping *m = left->mapping;
    memcpy(i, first, (size_t)m->rank * sizeof *i);
    for (int d = 0; d < m->rank; d++)
        if (first[d] >= last[d]) return;
    do {
        bool inside = true;
        for (int d = 0; d < m->rank; d++) {
            j[d] = i[d] + (shift ? shift[d] : 0);
            inside = inside && i[d] >= 0 && i[d] < m->extent[d];
            if (right->view) inside = inside && j[d] >= 0 && j[d] < right->view->mapping->extent[d];
        }
        for (int64_t k = 0; k < m->rows && inside; k++) {
            const int64_t from = right->leaf ? right->leaf[k] : k;
            if (from < 0 || (chosen && !chosen[k])) continue;
            ha_mapped_get(&left->mapped, k, i, value);
            if (right->view) ha_mapped_get(&right->view->mapped, from, j, other);
            model_value(op, type_of(m, k), value,
                        right->view ? type_of(right->view->mapping, from) : right->type[k],
                        right->view ? (const void *)other : right->value[k]);
            ha_mapped_set(&left->mapped, k, i, value);
        }
    } while (next_index(first, last, m->rank, i));
}

/* NaN is NaN, whatever its other bits. */
static void forget_nan(memory *m, int64_t leaf, const int64_t *index) {
    const ha_dtype type = type_of(m->mapping, leaf);
    char value[16];
    ha_mapped_get(&m->mapped, leaf, index, value);
    const number n = number_of(type, value);
    const char zeros[16] = {0};
    if (n.sort != INTEGER && (isnan(n.re) || (n.sort == COMPLEX && isnan(n.im))))
        ha_mapped_set(&m->mapped, leaf, index, zeros);
}

static void check_equal(memory *m, memory *expected, const char *what) {
    const int64_t zeros[4] = {0};
    const ha_mapping *map = m->mapping;
    int64_t i[4] = {0};
    bool empty = false;
    for (int d = 0; d < map->rank; d++) empty = empty || map->extent[d] == 0;
    if (!empty) do
            for (int64_t k = 0; k < map->rows; k++) {
                char x[16] = {0}, y[16] = {0};
                forget_nan(m, k, i);
                forget_nan(expected, k, i);
                ha_mapped_get(&m->mapped, k, i, x);
                ha_mapped_get(&expected->mapped, k, i, y);
                if (memcmp(x, y, 16) != 0)
                    fail_msg("%s: %s, leaf %d (%s) at %d %d: %g, not %g (%lld, not %lld)", what,
                             map->text, (int)k, ha_dtype_short_name(type_of(map, k)), (int)i[0],
                             (int)i[1], number_of(type_of(map, k), x).re,
                             number_of(type_of(map, k), y).re,
                             (long long)number_of(type_of(map, k), x).integer,
                             (long long)number_of(type_of(map, k), y).integer);
            }
        while (next_index(zeros, map->extent, map->rank, i));
    for (int b = 0; b < map->blobs; b++)
        assert_memory_equal(m->blob[b], expected->blob[b], (size_t)map->blob[b].bytes);
}

static ha_record *record_of(const char *text) {
    ha_error error;
    ha_record *r = ha_record_parse(text, &error);
    if (!r) fail_msg("%s: %s", text, error.text);
    return r;
}

static void expect(ha_status s, const ha_error *error, const char *what) {
    if (s != HA_OK) fail_msg("%s: %s", what, error->text);
}

#endif
