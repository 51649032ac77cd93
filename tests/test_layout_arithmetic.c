/* Arithmetic with whole views, against a model that goes value by value through ha_mapped_get and
 * ha_mapped_set, and computes in C: every byte of the left side is as it has to be, and the right one is as
 * it was. */
#include "layout_memory.h"
#include "layout_particle.h"

#include "layout_blobs.h"

#include <math.h>
#include <stdio.h>

/* ---- records in memory ----------------------------------------------------------------------- */

static uint64_t seed = 1;

static uint32_t any_number(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

/* A value that operations say something with: small numbers, the ends of types, halves. */
static void any_value(ha_scalar type, void *value) {
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
    case HA_BOOL:
        memcpy(value, &truth, 1);
        break;
    case HA_F16:
        memcpy(value, &h, 2);
        break;
    case HA_BF16:
        memcpy(value, &b, 2);
        break;
    case HA_F32:
        memcpy(value, y, 4);
        break;
    case HA_F64:
        memcpy(value, x, 8);
        break;
    case HA_C64:
        memcpy(value, y, 8);
        break;
    case HA_C128:
        memcpy(value, x, 16);
        break;
    default:
        memcpy(value, &integer, (size_t)ha_scalar_size(type));
        break; /* little end first */
    }
}

static ha_scalar type_of(const ha_mapping *m, int64_t leaf) {
    return (ha_scalar)m->row[leaf].scalar;
}

static void fill(memory *m) {
    const int64_t zeros[4] = {0};
    int64_t i[4] = {0}, records = 1;
    char value[16];
    for (int d = 0; d < m->mapping->rank; d++) records *= m->mapping->extent[d];
    if (records == 0) return;
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

static number number_of(ha_scalar type, const void *value) {
    number n = {.sort = INTEGER};
    double x[2] = {0};
    float y[2] = {0};
    uint64_t bits = 0;
    ha_half h = {0};
    ha_bfloat16 b = {0};
    memcpy(&bits, value, type <= HA_U64 ? (size_t)ha_scalar_size(type) : 0);
    memcpy(x, value, type == HA_F64 ? 8 : type == HA_C128 ? 16 : 0);
    memcpy(y, value, type == HA_F32 ? 4 : type == HA_C64 ? 8 : 0);
    memcpy(&h, value, type == HA_F16 ? 2 : 0);
    memcpy(&b, value, type == HA_BF16 ? 2 : 0);
    const int shift = type <= HA_U64 ? 64 - 8 * (int)ha_scalar_size(type) : 0;
    n.integer = bits;
    if (type >= HA_I8 && type <= HA_I64) n.integer = (int64_t)(bits << shift) >> shift;
    if (type >= HA_F16) n.sort = type >= HA_C64 ? COMPLEX : REAL;
    n.single = type == HA_F16 || type == HA_BF16 || type == HA_F32;
    n.re = type == HA_F16                     ? ha_half_to_double(h)
           : type == HA_BF16                  ? ha_bfloat16_to_double(b)
           : type == HA_F32 || type == HA_C64 ? (double)y[0]
                                              : x[0];
    n.im = type == HA_C64 ? (double)y[1] : x[1];
    if (n.sort == INTEGER) n.re = (double)n.integer;
    return n;
}

/* As mapped.h says. */
static double clamped(double x, double least, double most) {
    if (isnan(x)) return 0;
    return x < least ? least : x > most ? most : nearbyint(x);
}

static void store_number(ha_scalar type, void *value, number n, bool wrap) {
    const double x[2] = {n.re, n.im};
    const float y[2] = {(float)n.re, (float)n.im};
    const ha_half h = ha_half_of_double(n.re);
    const ha_bfloat16 b = ha_bfloat16_of_double(n.re);
    const size_t size = (size_t)ha_scalar_size(type);
    const int bits = type <= HA_U64 ? (int)size * 8 : 64;
    const bool has_sign = type >= HA_I8 && type <= HA_I64;
    const integer128 most = ((integer128)1 << (has_sign ? bits - 1 : bits)) - 1;
    const integer128 least = has_sign ? -most - 1 : 0;
    if (type == HA_BOOL) {
        const bool truth = n.sort == INTEGER ? n.integer != 0 : n.re != 0;
        memcpy(value, &truth, 1);
    } else if (type <= HA_U64) {
        integer128 i = n.integer;
        if (n.sort == REAL) {
            const double edge = ldexp(1, has_sign ? bits - 1 : bits);
            const double near = clamped(n.re, has_sign ? -edge : 0, edge);
            i = near >= edge ? most : (integer128)near;
        } else if (!wrap) {
            i = i < least ? least : i > most ? most : i;
        }
        memcpy(value, &i, size);
    } else if (type == HA_F16) {
        memcpy(value, &h, 2);
    } else if (type == HA_BF16) {
        memcpy(value, &b, 2);
    } else {
        memcpy(value, type == HA_F32 || type == HA_C64 ? (const void *)y : (const void *)x, size);
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

static void model_value(ha_operator op, ha_scalar left, void *value, ha_scalar right,
                        const void *other) {
    number x = number_of(left, value);
    const number y = number_of(right, other);
    if (op == HA_ASSIGN) {
        x = y;
        if (left >= HA_C64 && right < HA_C64) x.im = 0;
        if (left > HA_U64 && left != HA_F64 && right == HA_I64) { /* rounded once */
            x.re = left == HA_F32 || left == HA_C64 ? (double)(float)(int64_t)y.integer : x.re;
        }
        if ((left == HA_F32 || left == HA_C64) && right == HA_U64)
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
        x.re = y.single && (left == HA_F32 || (x.single && left == right))
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
    const int64_t *leaf;   /* of the view, for each of the left one's; -1: none. NULL: the same */
    const ha_scalar *type; /* of the values */
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
    const ha_scalar type = type_of(m->mapping, leaf);
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
                             map->text, (int)k, ha_scalar_name(type_of(map, k)), (int)i[0],
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

/* ---- all types ------------------------------------------------------------------------------- */

static const char *const types[] = {"",    "bool", "i8",  "i16",  "i32", "i64", "u8",  "u16",
                                    "u32", "u64",  "f16", "bf16", "f32", "f64", "c64", "c128"};

static bool is_refused(ha_operator op, ha_scalar left, ha_scalar right) {
    return (left == HA_BOOL && op != HA_ASSIGN) || (right >= HA_C64 && left < HA_C64);
}

static void check_view(ha_operator op, const char *layout, const ha_record *l, const ha_record *r,
                       const char *what) {
    const int64_t n[] = {300};
    const ha_scalar left_type = l->field[0].scalar, right_type = r->field[0].scalar;
    memory left, right, expected, kept;
    ha_error error;
    make_memory(&left, l, layout, 1, n);
    make_memory(&right, r, layout, 1, n);
    copy_memory(&expected, &left, 0);
    copy_memory(&kept, &right, 0);
    const ha_status s = ha_mapped_apply_view(&left.mapped, op, &right.mapped, NULL, &error);
    if (is_refused(op, left_type, right_type)) {
        assert_int_equal(s, HA_ERR_ARGUMENT);
    } else {
        expect(s, &error, what);
        model(&expected, op, &(model_right){.view = &right}, (int64_t[]){0}, n, NULL, NULL);
    }
    check_equal(&left, &expected, what);
    check_equal(&right, &kept, what);
    free_blobs(&expected);
    free_blobs(&kept);
    free_memory(&left);
    free_memory(&right);
}

static void check_scalar(ha_operator op, const char *layout, const ha_record *l, ha_scalar type,
                         const char *what) {
    const int64_t n[] = {77};
    const ha_scalar left_type = l->field[0].scalar;
    char value[1][16];
    memory left, expected;
    ha_error error;
    any_value(type, value[0]);
    make_memory(&left, l, layout, 1, n);
    copy_memory(&expected, &left, 0);
    const number y = number_of(type, value[0]);
    const bool is_zero = op == HA_DIVIDE && left_type <= HA_U64 && type <= HA_U64 && y.integer == 0;
    const ha_status s = ha_mapped_apply_scalar(&left.mapped, op, type, value[0], NULL, &error);
    if (is_refused(op, left_type, type) || is_zero) {
        assert_int_equal(s, HA_ERR_ARGUMENT);
        assert_true(!is_zero || strstr(error.text, "divided by 0") || left_type == HA_BOOL);
    } else {
        expect(s, &error, what);
        const model_right right = {.type = &type, .value = (const char(*)[16])value};
        model(&expected, op, &right, (int64_t[]){0}, n, NULL, NULL);
    }
    check_equal(&left, &expected, what);
    free_blobs(&expected);
    free_memory(&left);
}

static void test_types(void **state) {
    (void)state;
    for (int l = 1; l < 16; l++)
        for (int r = 1; r < 16; r++) {
            char texts[2][16], what[40];
            snprintf(texts[0], sizeof texts[0], "a:%s", types[l]);
            snprintf(texts[1], sizeof texts[1], "a:%s", types[r]);
            ha_record *left = record_of(texts[0]), *right = record_of(texts[1]);
            for (int op = 0; op < 5; op++) {
                snprintf(what, sizeof what, "%s %c= %s", types[l], " +-*/"[op], types[r]);
                check_view((ha_operator)op, op % 2 ? "soa" : "aosoa(16)", left, right, what);
                for (int k = 0; k < 4; k++)
                    check_scalar((ha_operator)op, "soa", left, (ha_scalar)r, what);
            }
            ha_record_free(left);
            ha_record_free(right);
        }
}

/* ---- all layouts ----------------------------------------------------------------------------- */

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

static const int64_t extents[][2] = {{1, 70}, {37, 9}, {5, 1}};

static void check_layouts(const ha_record *r, const char *left_text, const char *right_text,
                          ha_operator op, const int64_t *n) {
    memory left, right, expected;
    ha_error error;
    char what[100];
    snprintf(what, sizeof what, "%d: %s by %s", op, left_text, right_text);
    make_memory(&left, r, left_text, 2, n);
    make_memory(&right, r, right_text, 2, n);
    copy_memory(&expected, &left, 0);
    expect(ha_mapped_apply_view(&left.mapped, op, &right.mapped, NULL, &error), &error, what);
    model(&expected, op, &(model_right){.view = &right}, (int64_t[]){0, 0}, n, NULL, NULL);
    check_equal(&left, &expected, what);
    free_blobs(&expected);
    free_memory(&left);
    free_memory(&right);
}

static void test_layouts(void **state) {
    (void)state;
    unsigned turn = 0;
    for (int k = 0; k < 3; k++) {
        ha_record *r = record_of(records[k]);
        for (int a = 0; a < LAYOUTS; a++)
            for (int b = 0; b < LAYOUTS; b++, turn++)
                check_layouts(r, layouts[a], layouts[b], (ha_operator)(turn % 5),
                              extents[turn / 5 % 3]);
        ha_record_free(r);
    }
}

/* Values of a record, in all of them, then in some fields of a part of them. */
static void check_record(const ha_record *r, const char *text, ha_operator op, const int64_t *n,
                         bool uniform) {
    const int64_t first[] = {1, 3}, last[] = {n[0] - 1, n[1] - 2};
    const bool chosen[] = {false, true, true, true, true, false, false};
    const ha_applying how = {.paths = " c + b", .first = first, .last = last, .threads = 2};
    ha_scalar type[7];
    char value[7][16] = {{0}}, bytes[100] = {0};
    memory left, expected;
    ha_error error;
    make_memory(&left, r, text, 2, n);
    copy_memory(&expected, &left, 0);
    for (int64_t k = 0; k < 7; k++) {
        type[k] = type_of(left.mapping, k);
        do any_value(type[k], value[k]);
        while (number_of(type[k], value[k]).re == 0);
        if (uniform && k > 0 && type[k] == type[0]) memcpy(value[k], value[0], 16);
        memcpy(bytes + r->field[k].offset, value[k], (size_t)ha_scalar_size(type[k]));
    }
    const model_right right = {.type = type, .value = (const char(*)[16])value};
    expect(ha_mapped_apply_record(&left.mapped, op, r, bytes, NULL, &error), &error, text);
    model(&expected, op, &right, (int64_t[]){0, 0}, n, NULL, NULL);
    check_equal(&left, &expected, "a record");
    expect(ha_mapped_apply_record(&left.mapped, op, r, bytes, &how, &error), &error, text);
    model(&expected, op, &right, first, last, NULL, chosen);
    check_equal(&left, &expected, "a record, in part");
    free_blobs(&expected);
    free_memory(&left);
}

static void test_records(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        ha_record *r = record_of(records[k]);
        for (int a = 0; a < LAYOUTS; a++)
            for (int op = 0; op < 5; op++)
                check_record(r, layouts[a], (ha_operator)op, extents[(a + op) % 3], op == 1);
        ha_record_free(r);
    }
}

/* ---- neighbours ------------------------------------------------------------------------------ */

enum { MOST_NEIGHBOURS = 70 };

/* So many fields of one type that follow each other, all of a record or behind another one: with values, with
 * the same layout, and with arrays. */
static void check_neighbours(const char *type_name, int fields, bool all, const char *text,
                             ha_operator op) {
    const int64_t n[] = {83}, zero[] = {0};
    char description[MOST_NEIGHBOURS * 12], what[100], bytes[MOST_NEIGHBOURS * 8] = {0};
    char value[MOST_NEIGHBOURS][16] = {{0}};
    bool chosen[MOST_NEIGHBOURS];
    ha_scalar type[MOST_NEIGHBOURS];
    memory left, right[2], expected;
    ha_error error;
    const ha_applying how = {.paths = "a"};
    int at = all ? 0 : snprintf(description, sizeof description, "first:%s ", type_name);
    for (int k = 0; k < fields; k++)
        at += snprintf(description + at, sizeof description - (size_t)at, "a.f%d:%s ", k,
                       type_name);
    ha_record *r = record_of(description);
    snprintf(what, sizeof what, "%d x %s in %s, %d", fields, type_name, text, (int)op);
    make_memory(&left, r, text, 1, n);
    make_memory(&right[0], r, text, 1, n);
    make_memory(&right[1], r, "soa", 1, n);
    copy_memory(&expected, &left, 0);
    for (int64_t k = 0; k < left.mapping->rows; k++) {
        type[k] = type_of(left.mapping, k);
        chosen[k] = all || k > 0;
        do any_value(type[k], value[k]);
        while (number_of(type[k], value[k]).re == 0);
        memcpy(bytes + r->field[k].offset, value[k], (size_t)ha_scalar_size(type[k]));
    }
    expect(ha_mapped_apply_record(&left.mapped, op, r, bytes, &how, &error), &error, what);
    model(&expected, op, &(model_right){.type = type, .value = (const char(*)[16])value}, zero, n,
          NULL, chosen);
    check_equal(&left, &expected, what);
    for (int k = 0; k < 2; k++) {
        expect(ha_mapped_apply_view(&left.mapped, op, &right[k].mapped, &how, &error), &error,
               what);
        model(&expected, op, &(model_right){.view = &right[k]}, zero, n, NULL, chosen);
        check_equal(&left, &expected, what);
        free_memory(&right[k]);
    }
    free_blobs(&expected);
    free_memory(&left);
    ha_record_free(r);
}

static void test_neighbours(void **state) {
    (void)state;
    static const char *const of_type[] = {"u8", "i16", "i32", "u64", "f32", "f64"};
    unsigned turn = 0;
    for (int t = 0; t < 6; t++) {
        for (int fields = 2; fields < 10; fields++)
            for (int all = 0; all < 2; all++, turn++) {
                check_neighbours(of_type[t], fields, all, "aos", (ha_operator)(turn % 5));
                check_neighbours(of_type[t], fields, all, turn % 3 ? "aosoa(8)" : "aosoa(32)",
                                 (ha_operator)(turn / 2 % 5));
            }
        /* so many that columns are more than are woven, and values more than come again */
        check_neighbours(of_type[t], 67, true, "aos", HA_SUBTRACT);
        check_neighbours(of_type[t], 67, false, "aos", HA_ADD);
    }
}

/* Enough for several threads and tiles. */
static void test_threads(void **state) {
    (void)state;
    const char *const some[] = {"aos",         "soa",
                                "aosoa(8)",    "aos@morton",
                                "aosoa(4096)", "split(b: bitint(20; aos), byteswap(aos))"};
    const int64_t n[] = {150, 401}, zeros[] = {0, 0};
    ha_record *r = record_of("a:f32 b:i32 c:f32");
    for (int a = 0; a < 6; a++) {
        memory left, right, expected;
        ha_error error;
        make_memory(&left, r, some[a], 2, n);
        make_memory(&right, r, some[(a + 1) % 6], 2, n);
        copy_memory(&expected, &left, 0);
        const ha_applying how = {.threads = 3};
        expect(ha_mapped_apply_view(&left.mapped, HA_SUBTRACT, &right.mapped, &how, &error), &error,
               some[a]);
        model(&expected, HA_SUBTRACT, &(model_right){.view = &right}, zeros, n, NULL, NULL);
        check_equal(&left, &expected, "threads");
        free_blobs(&expected);
        free_memory(&left);
        free_memory(&right);
    }
    ha_record_free(r);
}

/* ---- other records, windows ------------------------------------------------------------------ */

static void test_matched_by_path(void **state) {
    (void)state;
    ha_record *l = record_of("pos.x:f32 pos.y:f32 mass:f64 n:i32 hue[2]:u8");
    ha_record *r = record_of("hue[3]:f32 n:f64 pos.z:f32 pos.y:f64 mass:f32");
    const int64_t n[] = {50}, from[] = {-1, 5, 6, 3, 0, 1};
    const bool chosen[] = {false, false, true, false, true, true};
    for (int op = 0; op < 5; op++)
        for (int part = 0; part < 2; part++) {
            memory left, right, expected;
            ha_error error;
            make_memory(&left, l, "aosoa(8)", 1, n);
            make_memory(&right, r, "aos", 1, n);
            copy_memory(&expected, &left, 0);
            const ha_applying how = {.paths = part ? "mass+hue" : NULL};
            expect(ha_mapped_apply_view(&left.mapped, (ha_operator)op, &right.mapped, &how, &error),
                   &error, "by path");
            model(&expected, (ha_operator)op, &(model_right){.view = &right, .leaf = from},
                  (int64_t[]){0}, n, NULL, part ? chosen : NULL);
            check_equal(&left, &expected, "by path");
            free_blobs(&expected);
            free_memory(&left);
            free_memory(&right);
        }
    ha_record_free(l);
    ha_record_free(r);
}

/* One image over another, in steps from far outside on one side to far outside on the other. */
static void test_windows(void **state) {
    (void)state;
    ha_record *r = record_of(records[0]);
    const int64_t n[] = {9, 21}, sprite[] = {4, 11};
    const int64_t first[] = {-3, 2}, last[] = {7, 1000};
    const int64_t far[] = {INT64_MIN, INT64_MIN + 1, -30, -11, -10, -4, -1, 0, 3, 9, 20, INT64_MAX};
    const char *const texts[] = {"aos",           "soa@col",    "aosoa(8)",
                                 "aosoa(4,rows)", "aos@morton", "bytesplit(soa)"};
    for (int turn = 0; turn < 12 * 12 * 2; turn++) {
        const int64_t shift[] = {far[turn % 12], far[turn / 12 % 12]};
        const ha_applying how = {
            .first = turn % 3 ? first : NULL, .last = turn % 4 ? last : NULL, .shift = shift};
        const int64_t begin[] = {turn % 3 ? 0 : 0, turn % 3 ? 2 : 0};
        const int64_t end[] = {turn % 4 ? 7 : 9, 21};
        const bool outside = shift[0] <= -100 || shift[1] <= -100 || shift[0] > 100 ||
                             shift[1] > 100;
        memory left, right, expected;
        ha_error error;
        make_memory(&left, r, texts[turn % 6], 2, n);
        make_memory(&right, r, texts[turn / 6 % 6], 2, sprite);
        copy_memory(&expected, &left, 0);
        expect(ha_mapped_apply_view(&left.mapped, HA_ADD, &right.mapped, &how, &error), &error,
               "window");
        if (!outside)
            model(&expected, HA_ADD, &(model_right){.view = &right}, begin, end, shift, NULL);
        check_equal(&left, &expected, "window");
        free_blobs(&expected);
        free_memory(&left);
        free_memory(&right);
    }
    ha_record_free(r);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void test_numbers(void **state) {
    (void)state;
    ha_record *r = record_of("a:u8 b:f32 c:c64 d:f16 e:i64");
    const double numbers[] = {0.5, 0.1, 2, -3, 1e300, 1.0 / 0.0, -0x1p63};
    const int64_t n[] = {40}, zeros[] = {0};
    for (int k = 0; k < 7; k++)
        for (int op = 0; op < 5; op++) {
            const double x = numbers[k];
            const bool whole = x == 2 || x == -3 || x == -0x1p63;
            const int64_t integer = whole ? (int64_t)x : 0;
            const float f = (float)x;
            const ha_half h = ha_half_of_double(x);
            const ha_scalar type[] = {whole ? HA_I64 : HA_F64, HA_F32, HA_F32, HA_F16,
                                      whole ? HA_I64 : HA_F64};
            char value[5][16] = {{0}};
            memory left, expected;
            ha_error error;
            make_memory(&left, r, "aos", 1, n);
            copy_memory(&expected, &left, 0);
            for (int l = 0; l < 5; l++)
                memcpy(value[l],
                       type[l] == HA_I64   ? (const void *)&integer
                       : type[l] == HA_F64 ? (const void *)&x
                       : type[l] == HA_F32 ? (const void *)&f
                                           : (const void *)&h,
                       (size_t)ha_scalar_size(type[l]));
            expect(ha_mapped_apply_number(&left.mapped, (ha_operator)op, x, NULL, &error), &error,
                   "a number");
            model(&expected, (ha_operator)op,
                  &(model_right){.type = type, .value = (const char(*)[16])value}, zeros, n, NULL,
                  NULL);
            check_equal(&left, &expected, "a number");
            free_blobs(&expected);
            free_memory(&left);
        }
    ha_record_free(r);
}

/* ---- memory in common ------------------------------------------------------------------------ */

HA_VIEW(any_sky, particle, 1, HA_ANY)
HA_VIEW(sky, particle, 1, HA_AOSOA(8))

static void test_itself(void **state) {
    (void)state;
    ha_record *r = record_of(records[0]);
    const int64_t n[] = {100}, shift[] = {1}, zeros[] = {0};
    for (int k = 0; k < LAYOUTS; k++) {
        memory left, expected;
        ha_error error;
        if (strstr(layouts[k], "permute")) continue;
        make_memory(&left, r, layouts[k], 1, n);
        copy_memory(&expected, &left, 0);
        expect(ha_mapped_apply_view(&left.mapped, HA_ADD, &left.mapped, NULL, &error), &error,
               "itself");
        model(&expected, HA_ADD, &(model_right){.view = &expected}, zeros, n, NULL, NULL);
        check_equal(&left, &expected, "itself");
        assert_int_equal(ha_mapped_apply_view(&left.mapped, HA_ADD, &left.mapped,
                                              &(ha_applying){.shift = shift}, &error),
                         HA_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, "overlap"));
        check_equal(&left, &expected, "itself, shifted");
        free_blobs(&expected);
        free_memory(&left);
    }
    ha_record_free(r);
}

/* The same mapping twice, each byte of a value in a blob of its own: all of these have to be the same. */
static void test_overlap_of_bytes(const ha_record *r) {
    const int64_t n[] = {4};
    char byte[4][4] = {{1, 2, 3}, {4}, {0}, {0x3f, 0x40, 0x41}};
    void *blob[] = {byte[0], byte[1], byte[2], byte[3]};
    void *turned[] = {byte[0], byte[2], byte[1], byte[3]};
    ha_error error;
    ha_mapping *m = ha_mapping_parse(r, "bytesplit(soa)", 1, n, NULL);
    const ha_mapped a = {m, blob}, b = {m, turned};
    expect(ha_mapped_apply_view(&a, HA_ASSIGN, &a, NULL, &error), &error, "the same bytes");
    assert_int_equal(ha_mapped_apply_view(&a, HA_ASSIGN, &b, NULL, &error), HA_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "overlap"));
    ha_mapping_free(m);
}

/* The same memory as two views; fields of one record that lie where other ones of the other do. */
/* Other layouts in the same memory: the first field of both begins at one place. */
static void test_overlap_of_layouts(void) {
    static const char *const layouts_of[] = {"soa(single)",   "aosoa(4)",        "aosoa(8)", "aos",
                                             "aosoa(8,rows)", "soa(single)@col", "one"};
    const int64_t n[] = {4, 8};
    char room[400] = {0};
    void *blob[] = {room};
    ha_error error;
    ha_record *r = record_of("a:f32 b:f32");
    for (int k = 0; k < 7; k++)
        for (int j = 0; j < 7; j++) {
            ha_mapping *m = ha_mapping_parse(r, layouts_of[k], 2, n, NULL);
            ha_mapping *other = ha_mapping_parse(r, layouts_of[j], 2, n, NULL);
            const bool same = k == j || (k == 2 && j == 4) || (k == 4 && j == 2);
            const ha_status s = ha_mapped_apply_view(&(ha_mapped){m, blob}, HA_ADD,
                                                     &(ha_mapped){other, blob}, NULL, &error);
            assert_int_equal(s, same && k < 6 ? HA_OK : HA_ERR_ARGUMENT);
            ha_mapping_free(m);
            ha_mapping_free(other);
        }
    ha_record_free(r);
}

/* More records than numbers count, of which nothing is stored. */
static void test_no_end(void **state) {
    (void)state;
    static const int64_t far[] = {INT64_MAX / 4, 1 << 20}, shift[] = {1, 1};
    ha_error error;
    ha_record *r = record_of("a:f32");
    ha_mapping *m = ha_mapping_parse(r, "null", 2, far, NULL);
    assert_non_null(m);
    const ha_mapped nothing = {m, NULL};
    expect(ha_mapped_apply_number(&nothing, HA_ADD, 1, &(ha_applying){.shift = shift}, &error),
           &error, "null");
    expect(ha_mapped_apply_view(&nothing, HA_ADD, &nothing, &(ha_applying){.shift = shift}, &error),
           &error, "null");
    ha_mapping_free(m);
    ha_record_free(r);
}

/* Several orders in one view, and fields that are not side by side. */
static void test_orders(void **state) {
    (void)state;
    static const char *const all[] = {"split(separate; pos: aos@col, aos)",
                                      "split(pos: soa(single)@col, aosoa(4))",
                                      "split(separate; mass: soa, aos(packed))", "aosoa(8,aligned)",
                                      "split(separate; mass: aos@morton, aosoa(4))"};
    const int64_t n[] = {11, 13}, zeros[] = {0, 0};
    ha_record *r = record_of("pos.x:f32 mass:f64 pos.y:f32 pos.z:f32 a:f64 b:f32 c:i32");
    for (int k = 0; k < 25; k++)
        for (int op = HA_ASSIGN; op < HA_DIVIDE; op++) {
            memory left, right, expected;
            ha_error error;
            make_memory(&left, r, all[k / 5], 2, n);
            make_memory(&right, r, all[k % 5], 2, n);
            copy_memory(&expected, &left, 0);
            expect(ha_mapped_apply_view(&left.mapped, (ha_operator)op, &right.mapped, NULL, &error),
                   &error, "orders");
            model(&expected, (ha_operator)op, &(model_right){.view = &right}, zeros, n, NULL, NULL);
            check_equal(&left, &expected, "orders");
            free_blobs(&expected);
            free_memory(&left);
            free_memory(&right);
        }
    ha_record_free(r);
}

static void test_overlap(void **state) {
    (void)state;
    const int64_t n[] = {8};
    ha_error error;
    float array[16] = {1, 2, 3, 4, 5, 6, 7, 8};
    void *blob[] = {array}, *behind[] = {array + 8};
    ha_record *r = record_of("x:f32"), *s = record_of("y:f32 x:f32");
    ha_mapping *m = ha_mapping_parse(r, "aos", 1, n, NULL);
    ha_mapping *again = ha_mapping_parse(r, "soa", 1, n, NULL);
    ha_mapping *other = ha_mapping_parse(s, "aos", 1, n, NULL);
    const ha_mapped a = {m, blob}, b = {again, blob}, c = {other, blob}, d = {m, behind};
    expect(ha_mapped_apply_view(&a, HA_ADD, &b, NULL, &error), &error, "the same memory");
    assert_true(array[0] == 2 && array[7] == 16);
    assert_int_equal(ha_mapped_apply_view(&a, HA_ADD, &c, NULL, &error), HA_ERR_ARGUMENT);
    assert_string_equal(error.text,
                        "blob 0 of the left side and blob 0 of the right one overlap, and "
                        "not every field meets itself");
    expect(ha_mapped_apply_view(&d, HA_ADD, &a, NULL, &error), &error, "side by side");
    assert_true(array[8] == 2 && array[15] == 16);
    test_overlap_of_bytes(r);
    test_overlap_of_layouts();
    ha_mapping_free(m);
    ha_mapping_free(again);
    ha_mapping_free(other);
    ha_record_free(r);
    ha_record_free(s);
}

/* ---- views ----------------------------------------------------------------------------------- */

static void test_views(void **state) {
    (void)state;
    ha_error error;
    sky v = sky_new(20);
    particle array[20];
    memset(array, 0, sizeof array);
    HA_EACH(sky, v, at) sky_store(v, at, particle_of((uint64_t)HA_I(at)));
    ha_mapped *mapped = sky_mapped(v, &error);
    const particle half = {.pos = {.x = 0.5, .y = 2, .z = 0}, .mass = 3};
    expect(ha_mapped_apply_record(mapped, HA_MULTIPLY, &particle_record, &half,
                                  &(ha_applying){.paths = "pos + mass"}, &error),
           &error, "a struct");
    for (int64_t i = 0; i < 20; i++) {
        const particle p = sky_load(v, sky_at(v, i)), q = particle_of((uint64_t)i);
        assert_true(p.pos.x == q.pos.x * 0.5 && p.pos.y == q.pos.y * 2 && p.pos.z == 0);
        assert_true(p.mass == q.mass * 3 && p.vel.x == q.vel.x && p.flags[2] == q.flags[2]);
    }
    ha_mapped_free(mapped);
    sky_free(v);
}

/* ---- the loops ------------------------------------------------------------------------------- */

enum { SPAN_RUNS = 3, SPAN_MOST = 600, SPAN_APART = 5, SPAN_VALUES = SPAN_RUNS * 2 * SPAN_MOST };

typedef struct span_test {
    const ha_kernel *kernel;
    ha_operator op;
    ha_scalar left, right; /* types */
} span_test;

/* NaN is NaN, of whatever sign. */
static void same_nan(ha_scalar type, char *expected, const char *made) {
    double a = 0, b = 0;
    float c = 0, d = 0;
    if (type == HA_F64) memcpy(&a, expected, sizeof a), memcpy(&b, made, sizeof b);
    if (type == HA_F32) memcpy(&c, expected, sizeof c), memcpy(&d, made, sizeof d);
    if (isnan(a) && isnan(b)) memcpy(expected, made, sizeof a);
    if (isnan(c) && isnan(d)) memcpy(expected, made, sizeof c);
}

/* Runs of n values, some steps of their size apart, of which the right side's may all be the same one (0), or
 * come again after a period. */
static void check_span(const span_test *t, int64_t n, int64_t left, int64_t right, int64_t runs,
                       int64_t period) {
    static char is[SPAN_VALUES * 8 + 8], expected[SPAN_VALUES * 8 + 8];
    static char other[SPAN_VALUES * 8 + HA_SPLAT];
    const int64_t size = ha_scalar_size(t->left), right_size = ha_scalar_size(t->right);
    const int64_t lefts = n * left * runs + runs * SPAN_APART;
    const int64_t rights = n * right * runs + runs * SPAN_APART;
    const size_t bytes = (size_t)(lefts * size) + 8; /* 8 behind all must stay, too */
    memset(is, 0x11, bytes);
    for (int64_t k = 0; k < lefts; k++) any_value(t->left, is + k * size);
    for (int64_t k = 0; k < rights; k++) any_value(t->right, other + k * right_size);
    if (!right)
        for (int64_t k = 1; k < HA_SPLAT / right_size; k++)
            memcpy(other + k * right_size, other, (size_t)right_size);
    memcpy(expected, is, bytes);
    const ha_span span = {.left = is,
                          .right = other,
                          .n = n,
                          .left_step = left * size,
                          .right_step = right * right_size,
                          .runs = runs,
                          .left_apart = (left * n + SPAN_APART) * size,
                          .right_apart = right ? (right * n + SPAN_APART) * right_size : 0,
                          .period = period,
                          .is_splat = right == 0};
    ha_apply_kernel(t->kernel, &span);
    for (int64_t r = 0; r < runs; r++)
        for (int64_t k = 0; k < n; k++) {
            char *one = expected + r * span.left_apart + k * span.left_step;
            const int64_t at = period ? k % period : k;
            model_value(t->op, t->left, one, t->right,
                        other + r * span.right_apart + at * span.right_step);
            same_nan(t->left, one, is + (one - expected));
        }
    if (memcmp(is, expected, bytes))
        fail_msg("types %d and %d, operation %d: %d runs of %d, steps %d and %d", t->left, t->right,
                 t->op, (int)runs, (int)n, (int)left, (int)right);
}

static void check_spans(const ha_kernel *kernel, ha_operator op, ha_scalar type, ha_scalar right) {
    static const int64_t counts[] = {0, 1, 2, 3, 4, 7, 16, 31, 62};
    const span_test t = {kernel, op, type, right};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int64_t left_step = 1; left_step <= 2; left_step++)
            for (int64_t right_step = 0; right_step <= 2; right_step++) {
                check_span(&t, counts[k], left_step, right_step, 1, 0);
                check_span(&t, counts[k], left_step, right_step, SPAN_RUNS, 0);
            }
    check_span(&t, SPAN_MOST - 3, 1, 1, 1, 0);
    check_span(&t, SPAN_MOST - 3, 1, 0, 1, 0);
    check_span(&t, SPAN_MOST - SPAN_APART, 1, 1, SPAN_RUNS, 0);
    check_span(&t, SPAN_MOST - 3, 1, 1, 1, 2 * kernel->lanes);
    check_span(&t, SPAN_MOST - 3, 1, 1, 1, 7 * kernel->lanes);
}

/* Natural numbers, too, on machines that have their lowest byte first. */
static double real_at(ha_scalar type, const char *at) {
    float single = 0;
    double x = 0;
    uint64_t natural = 0;
    memcpy(&single, at, type == HA_F32 ? sizeof single : 0);
    memcpy(&x, at, type == HA_F64 ? sizeof x : 0);
    memcpy(&natural, at, type <= HA_U64 ? (size_t)ha_scalar_size(type) : 0);
    return type == HA_F64 ? x : type == HA_F32 ? (double)single : (double)natural;
}

static void set_real(ha_scalar type, char *at, double x) {
    const float single = (float)x;
    const uint64_t natural = type <= HA_U64 ? (uint64_t)x : 0;
    memcpy(at, &natural, type <= HA_U64 ? (size_t)ha_scalar_size(type) : 0);
    memcpy(at, &single, type == HA_F32 ? sizeof single : 0);
    memcpy(at, &x, type == HA_F64 ? sizeof x : 0);
}

/* Pieces of one form, with a value between them that stays; two rounds of them, as far apart. On the right is
 * the same for all of a round (right 0), or a piece for each (1). */
static void check_form(const span_test *t, ha_apply_form form, int64_t n, int right) {
    enum { PIECES = 10, MOST = PIECES * 4 * 32 + PIECES * 8 };
    const ha_kernel *kernel = t->kernel;
    const int64_t values = form < HA_FORM_VECTOR ? (int64_t)form
                                                 : (form - HA_FORM_VECTOR + 1) * kernel->lanes;
    char of_left[2 * MOST], expected[2 * MOST], of_right[4 * MOST];
    const int natural = t->left <= HA_U64;
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
static void check_forms(const ha_kernel *kernel, ha_operator op, ha_scalar left, ha_scalar right) {
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
        for (ha_scalar type = HA_U8; type <= HA_U64; type = (ha_scalar)(type + 1))
            if (op != HA_DIVIDE) check_forms(ha_kernel_of(op, type, type), op, type, type);
        for (int way = 0; way <= ha_has_wider_kernels() && op != HA_ASSIGN; way++) {
            check_forms(ha_real_kernel(op, HA_F32, HA_F32, way), op, HA_F32, HA_F32);
            check_forms(ha_real_kernel(op, HA_F64, HA_F64, way), op, HA_F64, HA_F64);
        }
        check_forms(ha_kernel_of(op, HA_F32, HA_F64), op, HA_F32, HA_F64);
        check_forms(ha_kernel_of(op, HA_F64, HA_F32), op, HA_F64, HA_F32);
    }
}

/* Also those that another processor would choose. */
static void test_kernels(void **state) {
    (void)state;
    for (int k = HA_ASSIGN; k <= HA_DIVIDE; k++) {
        const ha_operator op = (ha_operator)k;
        for (int way = 0; way <= ha_has_wider_kernels() && op != HA_ASSIGN; way++) {
            check_spans(ha_real_kernel(op, HA_F32, HA_F32, way), op, HA_F32, HA_F32);
            check_spans(ha_real_kernel(op, HA_F64, HA_F64, way), op, HA_F64, HA_F64);
        }
        check_spans(ha_kernel_of(op, HA_F32, HA_F64), op, HA_F32, HA_F64);
        check_spans(ha_kernel_of(op, HA_F64, HA_F32), op, HA_F64, HA_F32);
        for (ha_scalar type = HA_I8; type <= HA_U64; type++)
            check_spans(ha_kernel_of(op, type, type), op, type, type);
    }
    assert_null(ha_kernel_of(HA_ADD, HA_BOOL, HA_BOOL));
    assert_null(ha_kernel_of(HA_ADD, HA_F16, HA_F16));
    assert_null(ha_kernel_of(HA_ADD, HA_F32, HA_I32));
    assert_null(ha_kernel_of(HA_ASSIGN, HA_F32, HA_F16));
}

static void refused(ha_status s, const ha_error *error, const char *why) {
    assert_int_equal(s, HA_ERR_ARGUMENT);
    if (!strstr(error->text, why)) fail_msg("%s, not %s", error->text, why);
}

static void test_refused(void **state) {
    (void)state;
    const int64_t n[] = {4, 3};
    ha_error e;
    memory a, b, one, flat;
    ha_record *r = record_of("a:i32 b:bool c:f32 z:c64"), *s = record_of("q:f32 a:i32");
    ha_record *t = record_of("q:f32");
    make_memory(&a, r, "aos", 2, n);
    make_memory(&b, s, "soa", 2, n);
    make_memory(&one, s, "one", 2, n);
    make_memory(&flat, s, "soa", 1, n);
    const char zeros[32] = {0};
    const float complex_one[2] = {1, 0};
    refused(ha_mapped_apply_number(&a.mapped, HA_ADD, 1, NULL, &e), &e,
            "b: a bool can be assigned");
    refused(ha_mapped_apply_number(&a.mapped, (ha_operator)5, 1, NULL, &e), &e, "no operation 5");
    refused(ha_mapped_apply_number(&a.mapped, (ha_operator)-1, 1, NULL, &e), &e, "no operation -1");
    refused(ha_mapped_apply_number(&a.mapped, HA_DIVIDE, 0, &(ha_applying){.paths = "a"}, &e), &e,
            "a: an integer cannot be divided by 0");
    refused(
        ha_mapped_apply_record(&a.mapped, HA_DIVIDE, r, zeros, &(ha_applying){.paths = "c+a"}, &e),
        &e, "a: an integer cannot be divided by 0");
    refused(ha_mapped_apply_number(&a.mapped, HA_ADD, 1, &(ha_applying){.paths = "a+w"}, &e), &e,
            "paths: at character 2: there is no field \"w\" in the record");
    refused(ha_mapped_apply_view(&a.mapped, HA_ADD, &b.mapped, &(ha_applying){.paths = "c"}, &e),
            &e, "paths: at character 0: there is no field \"c\" in both records");
    refused(ha_mapped_apply_scalar(&a.mapped, HA_ADD, HA_C64, complex_one,
                                   &(ha_applying){.paths = "c"}, &e),
            &e, "c: a complex number makes no real one");
    refused(ha_mapped_apply_scalar(&a.mapped, HA_ADD, HA_NO_SCALAR, zeros, NULL, &e), &e, "none");
    refused(ha_mapped_apply_view(&a.mapped, HA_ADD, &flat.mapped, NULL, &e), &e, "rank 2");
    refused(ha_mapped_apply_record(&a.mapped, HA_ADD, t, zeros, NULL, &e), &e,
            "no field in common");
    refused(ha_mapped_apply_view(&one.mapped, HA_ADD, &b.mapped, NULL, &e), &e,
            "q: the left side has one place");
    refused(ha_mapped_apply_record(&a.mapped, HA_ADD, &(ha_record){0}, zeros, NULL, &e), &e,
            "no fields");
    void *none[2] = {NULL, NULL};
    const ha_mapped nothing = {a.mapping, none}, nowhere = {b.mapping, none};
    refused(ha_mapped_apply_number(&nothing, HA_ADD, 1, &(ha_applying){.paths = "a"}, &e), &e,
            "a: its blob on the left side is NULL");
    refused(ha_mapped_apply_view(&a.mapped, HA_ADD, &nowhere, NULL, &e), &e,
            "a: its blob on the right side is NULL");
    const int64_t no_records[] = {0, 0}; /* which need no memory */
    expect(ha_mapped_apply_number(&nothing, HA_ADD, 1,
                                  &(ha_applying){.paths = "a", .last = no_records}, &e),
           &e, "no records");
    assert_int_equal(ha_mapped_apply_number(&a.mapped, HA_ADD, 1, NULL, NULL), HA_ERR_ARGUMENT);
    /* one place for all is no matter on the right, nor where there is one record */
    expect(ha_mapped_apply_view(&b.mapped, HA_ADD, &one.mapped, NULL, &e), &e, "one");
    const int64_t last[] = {1, 1};
    expect(ha_mapped_apply_view(&one.mapped, HA_ADD, &b.mapped, &(ha_applying){.last = last}, &e),
           &e, "one record");
    free_memory(&a);
    free_memory(&b);
    free_memory(&one);
    free_memory(&flat);
    ha_record_free(r);
    ha_record_free(s);
    ha_record_free(t);
}

static void test_no_memory(void **state) {
    (void)state;
    const int64_t n[] = {9};
    ha_error error;
    memory left, expected;
    ha_record *r = record_of(records[0]);
    const float values[] = {1, 2, 3, 4, 5, 6, 7};
    make_memory(&left, r, "aos", 1, n);
    copy_memory(&expected, &left, 0);
    for (long steps = 0;; steps++) {
        const long before = allocated;
        until_failure = steps;
        const ha_status s = ha_mapped_apply_record(&left.mapped, HA_ADD, r, values, NULL, &error);
        until_failure = -1;
        assert_int_equal(allocated, before);
        if (s == HA_OK) {
            assert_int_equal(steps, 3);
            break;
        }
        assert_int_equal(s, HA_ERR_MEMORY);
        check_equal(&left, &expected, "no memory");
    }
    free_blobs(&expected);
    free_memory(&left);
    ha_record_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),      cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_records),    cmocka_unit_test(test_threads),
        cmocka_unit_test(test_windows),    cmocka_unit_test(test_matched_by_path),
        cmocka_unit_test(test_numbers),    cmocka_unit_test(test_itself),
        cmocka_unit_test(test_overlap),    cmocka_unit_test(test_views),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_neighbours), cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_forms),      cmocka_unit_test(test_orders),
        cmocka_unit_test(test_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
