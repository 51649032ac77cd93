/* The loops of operations on the host, one by one: all forms of a row give the same bits, as do lanes of reductions that are
 * taken one after the other, side by side, and several at a time. What the numbers are other tests compare. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

enum {
    LANES = 1024,
    STEPS = 3,
    BYTES = 16
}; /* at most: of a part; from one element to the next; of an element */

static const ha_dtype types[] = {HA_DTYPE_int32_t,  HA_DTYPE_int64_t, HA_DTYPE_uint32_t,
                                 HA_DTYPE_uint64_t, HA_DTYPE_float,   HA_DTYPE_double,
                                 HA_DTYPE_c64,      HA_DTYPE_c128,    HA_DTYPE_int8_t,
                                 HA_DTYPE_int16_t,  HA_DTYPE_uint8_t, HA_DTYPE_uint16_t};
enum { TYPES = sizeof types / sizeof *types };

/* ---- numbers ------------------------------------------------------------------------------------- */

static uint64_t random_numbers = 1;
static uint32_t draw(uint32_t n) {
    random_numbers = random_numbers * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_numbers >> 32) % n);
}

static uint32_t usual =
    4; /* of so many numbers one is 0, infinite, NaN, or at the end of its type */

static double some_real(void) {
    static const double others[] = {0.0, -0.0, 1, -1, 1e30, (double)INFINITY, (double)NAN};
    return draw(usual) ? (draw(2000) - 1000.0) / 7 : others[draw(7)];
}

/* Also those at the ends of a type. */
static void put_some(ha_dtype type, char *to) {
    static const int64_t ends[] = {0, 1, -1, INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX};
    const size_t bytes = ha_dtype_size(type);
    const ha_number_kind kind = ha_dtype_kind(type);
    double reals[2] = {some_real(), some_real()};
    const float floats[2] = {(float)reals[0], (float)reals[1]};
    const int64_t integer = draw(usual) ? (int64_t)draw(250) - 125 : ends[draw(7)];
    if (kind == HA_KIND_SIGNED || kind == HA_KIND_UNSIGNED)
        memcpy(to, &integer, bytes);
    else if (type == HA_DTYPE_float || type == HA_DTYPE_c64)
        memcpy(to, floats, bytes);
    else
        memcpy(to, reals, bytes);
}

static int same_real(double a, double b) {
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* NaN is NaN, whatever its bits are. */
static int same_number(ha_dtype type, const char *a, const char *b) {
    const size_t bytes = ha_dtype_size(type);
    const ha_number_kind kind = ha_dtype_kind(type);
    double x[2] = {0, 0}, y[2] = {0, 0};
    float u[2] = {0, 0}, v[2] = {0, 0};
    if (kind == HA_KIND_SIGNED || kind == HA_KIND_UNSIGNED) return !memcmp(a, b, bytes);
    if (type == HA_DTYPE_float || type == HA_DTYPE_c64) {
        memcpy(u, a, bytes), memcpy(v, b, bytes);
        for (int k = 0; k < 2; k++) x[k] = (double)u[k], y[k] = (double)v[k];
    } else
        memcpy(x, a, bytes), memcpy(y, b, bytes);
    return same_real(x[0], y[0]) && same_real(x[1], y[1]);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

enum { N = 37 };
typedef struct array {
    _Alignas(16) char bytes[N * STEPS * BYTES];
} array;

static void fill(array *a, ha_dtype type) {
    for (int i = 0; i < N; i++) put_some(type, a->bytes + (size_t)i * ha_dtype_size(type));
}

/* The same elements, so many apart. */
static void spread(array *to, const array *from, size_t bytes, int step) {
    memset(to, 0x5a, sizeof *to);
    for (int i = 0; i < N; i++)
        memcpy(to->bytes + (size_t)(i * step) * bytes, from->bytes + (size_t)i * bytes, bytes);
}

/* A line of the table, with what it is computed from. */
typedef struct trial {
    const ha_op_type *type;
    const ha_op_line *line;
    ha_op_rows rows;
    ha_dtype of[HA_OP_ARRAYS]; /* types of the result and of the arguments */
    array argument[HA_OP_ARRAYS];
    _Alignas(16) char number[2][BYTES];
    int has_numbers;
} trial;

/* Runs it with arrays of these steps, of which 0 makes the first element a number, and reads the result. */
static void run(const trial *t, const int *step, array *result) {
    static array placed[HA_OP_ARRAYS];
    ha_op_row row = {.n = N, .at = 7, .at_step = 2, .y_is_number = !step[2]};
    memset(&placed[0], 0x5a, sizeof placed[0]);
    for (int k = 0; k < HA_OP_ARRAYS; k++) {
        if (k) spread(&placed[k], &t->argument[k], ha_dtype_size(t->of[k]), step[k] ? step[k] : 1);
        row.of[k] = placed[k].bytes;
        row.step[k] = step[k];
    }
    if (t->line->arguments == 1) row.of[2] = row.of[1], row.step[2] = row.step[1];
    for (int k = 0; k < 2; k++) row.number[k] = t->has_numbers ? t->number[k] : NULL;
    t->rows(&row);
    const size_t bytes = ha_dtype_size(t->of[0]);
    for (int i = 0; i < N; i++)
        memcpy(result->bytes + (size_t)i * bytes, placed[0].bytes + (size_t)(i * step[0]) * bytes,
               bytes);
    row.n = 0; /* it would crash if it wrote then; a number it reads */
    for (int k = 0; k < HA_OP_ARRAYS; k++) row.of[k] = NULL;
    if (step[2]) t->rows(&row);
}

static void expect_same(const trial *t, const array *a, const array *b, const char *form) {
    const size_t bytes = ha_dtype_size(t->of[0]);
    for (int i = 0; i < N; i++)
        if (!same_number(t->of[0], a->bytes + (size_t)i * bytes, b->bytes + (size_t)i * bytes))
            fail_msg("%s of %s: element %d differs with %s", t->line->word, t->type->computed, i,
                     form);
}

static void try_forms(trial *t) {
    /* Steps of the result and of the arguments. Lanes are written without gaps. */
    static const int forms[][HA_OP_ARRAYS] = {{1, 2, 1, 1}, {1, 1, 3, 1}, {1, 1, 1, 2},
                                              {1, 3, 2, 3}, {2, 1, 1, 1}, {3, 1, 2, 2},
                                              {3, 3, 3, 3}};
    static array plain, other, by_number;
    run(t, (const int[]){1, 1, 1, 1}, &plain);
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        if (t->line->kind == HA_OP_LANES && forms[f][0] != 1) continue;
        run(t, forms[f], &other);
        expect_same(t, &plain, &other, "steps");
    }
    if (t->line->arguments != 2) return;
    const size_t bytes = ha_dtype_size(t->of[2]);
    for (int i = 1; i < N; i++)
        memcpy(t->argument[2].bytes + (size_t)i * bytes, t->argument[2].bytes, bytes);
    run(t, (const int[]){1, 1, 1, 1}, &plain);
    run(t, (const int[]){1, 1, 0, 1}, &by_number);
    expect_same(t, &plain, &by_number, "a number");
    run(t, (const int[]){t->line->kind == HA_OP_LANES ? 1 : 2, 2, 0, 1}, &by_number);
    expect_same(t, &plain, &by_number, "a number and steps");
}

static void try_line(const ha_op_type *type, const ha_op_line *line) {
    static trial t;
    static array without, with;
    const int is_choice = line->kind == HA_OP_CHOICE, is_lanes = line->kind == HA_OP_LANES;
    t = (trial){.type = type, .line = line, .has_numbers = line->numbers > 0};
    t.rows = line->rows;
    for (int k = 0; k < HA_OP_ARRAYS; k++) t.of[k] = type->number;
    if (line->kind == HA_OP_MASK) t.of[0] = HA_DTYPE_uint8_t;
    if (line->gives != HA_DTYPE_NONE) t.of[0] = line->gives;
    if (is_choice) t.of[1] = HA_DTYPE_uint8_t;
    for (int k = 1; k < HA_OP_ARRAYS; k++) fill(&t.argument[k], t.of[k]);
    for (int k = 0; k < 2; k++) put_some(type->number, t.number[k]);
    if (line->kind == HA_OP_RANDOM) memset(t.number, 0x77, sizeof t.number);
    if (is_lanes) { /* a scale, of which 1 changes nothing */
        memset(t.number, 0, sizeof t.number);
        if (ha_op_scale(type) == HA_DTYPE_float)
            memcpy(t.number, &(const float){1}, sizeof(float));
        else
            memcpy(t.number, &(const double){1}, sizeof(double));
        run(&t, (const int[]){1, 1, 1, 1}, &without);
        t.has_numbers = 1;
        run(&t, (const int[]){1, 1, 1, 1}, &with);
        expect_same(&t, &without, &with, "a scale of 1");
    }
    try_forms(&t);
}

/* How many lines it has of a type. */
static int try_table(const ha_op_type *type, const ha_op_table *table) {
    int lines = 0;
    for (int n = table->first; n < table->first + table->of_type; n++) {
        const ha_op_line *line = ha_op_line_of(table, type, n);
        if (!line->text) continue;
        try_line(type, line);
        lines++;
    }
    return lines;
}

static void forms_of_rows(HA_UNUSED void **state) {
    static const ha_op_table *const tables[] = {&ha_op_maps,
                                                &ha_op_combines,
                                                &ha_op_joins,
                                                &ha_op_subtract,
                                                &ha_op_axpby,
                                                &ha_op_clip,
                                                &ha_op_fill,
                                                &ha_op_sequence,
                                                &ha_op_random,
                                                &ha_op_normal,
                                                &ha_op_lanes_of_value,
                                                &ha_op_lanes_of_size,
                                                &ha_op_lanes_of_is_there,
                                                &ha_op_lanes_of_product,
                                                &ha_op_lanes_of_difference};
    int lines = 0;
    for (int t = 0; t < TYPES; t++)
        for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
            lines += try_table(ha_op_type_of(types[t]), tables[k]);
    for (int t = 0; t < TYPES; t++) {
        const ha_op_type *type = ha_op_type_of(types[t]);
        try_line(type, ha_op_line_of(&ha_op_choice, type, ha_op_choice_of(type->number)));
    }
    assert_true(lines > 300);
}

/* ---- reductions ---------------------------------------------------------------------------------- */

enum { COLUMNS = 5, PARTS = 40, FIRST = 3 * LANES };
static const ha_dtype reduced[] = {HA_DTYPE_int64_t, HA_DTYPE_uint64_t, HA_DTYPE_float,
                                   HA_DTYPE_double,  HA_DTYPE_c64,      HA_DTYPE_c128};

typedef struct partial {
    _Alignas(16) char bytes[HA_PARTIAL_BYTES_];
} partial;

static _Alignas(16) char lanes[LANES * COLUMNS * BYTES]; /* a row of columns for each */

/* What two parts come to, ends of type `type`, the same. */
static void expect_same_end(const ha_op_tree *tree, ha_dtype type, const partial *a,
                            const partial *b, int64_t n, const char *form) {
    _Alignas(16) char x[2 * BYTES] = {0}, y[2 * BYTES] = {0};
    const int gives_place = tree->reduction.operation >= HA_MIN_AT;
    tree->reduction.end(a->bytes, x);
    tree->reduction.end(b->bytes, y);
    const int same = same_number(type, x, y) &&
                     (!gives_place || !memcmp(x + sizeof(int64_t), y + sizeof(int64_t), 8));
    if (!same)
        fail_msg("%sof %s, %d lanes: other bits %s", tree->word, ha_dtype_name(type), (int)n, form);
}

/* Lanes [0, n) of all columns, `most` abreast, in the order of ops/along.h. */
static void go_across(const ha_op_across *across, int64_t n, int most, char *sums) {
    const size_t bytes = ha_dtype_size(across->type);
    int abreast = 1;
    for (int64_t first = 0; first < n; first += abreast * HA_SUMS_) {
        abreast = first && first + most * HA_SUMS_ <= n ? most : 1;
        for (int64_t at = first; at < HA_LESS(first + HA_SUMS_, n); at++) {
            const void *values[HA_ABREAST_];
            for (int k = 0; k < abreast; k++)
                values[k] = lanes + (size_t)((at + k * HA_SUMS_) * COLUMNS) * bytes;
            across->across(sums, values, abreast, COLUMNS, FIRST, FIRST + at);
        }
    }
}

static void join_column(const ha_op_tree *tree, const char *sums, int64_t n, int column,
                        partial *to) {
    _Alignas(16) char own[HA_SUMS_ * HA_PARTIAL_BYTES_];
    const size_t part = tree->reduction.partial_bytes;
    for (int64_t l = 0; l < HA_LESS(n, HA_SUMS_); l++)
        memcpy(own + (size_t)l * part, sums + (size_t)(l * COLUMNS + column) * part, part);
    tree->reduction.join(own, n, to->bytes);
}

static void try_lanes(const ha_op_tree *tree, ha_dtype type, int64_t n) {
    const size_t bytes = ha_dtype_size(type);
    static _Alignas(16) char one[HA_SUMS_ * COLUMNS * HA_PARTIAL_BYTES_], column[LANES * BYTES];
    static _Alignas(16) char several[HA_SUMS_ * COLUMNS * HA_PARTIAL_BYTES_];
    for (int64_t i = 0; i < n * COLUMNS; i++) put_some(type, lanes + (size_t)i * bytes);
    go_across(ha_op_across_of(type, tree), n, 1, one);
    go_across(ha_op_across_of(type, tree), n, HA_ABREAST_, several);
    for (int c = 0; c < COLUMNS; c++) {
        partial in_part, side_by_side, abreast;
        for (int64_t l = 0; l < n; l++)
            memcpy(column + (size_t)l * bytes, lanes + (size_t)(l * COLUMNS + c) * bytes, bytes);
        tree->part(column, n, FIRST, in_part.bytes);
        join_column(tree, one, n, c, &side_by_side);
        join_column(tree, several, n, c, &abreast);
        expect_same_end(tree, type, &in_part, &side_by_side, n, "side by side");
        expect_same_end(tree, type, &in_part, &abreast, n, "several at a time");
    }
}

/* Parts as they come: each is added to every 16th one before it, and these are joined. */
static void try_parts(const ha_op_tree *tree, ha_dtype type) {
    const size_t part = tree->reduction.partial_bytes;
    static _Alignas(16) char sums[HA_SUMS_ * HA_PARTIAL_BYTES_],
        joined[HA_SUMS_ * HA_PARTIAL_BYTES_];
    static partial own[PARTS];
    partial added, expected;
    for (int p = 0; p < PARTS; p++) {
        for (int i = 0; i < 3; i++) put_some(type, lanes + (size_t)i * ha_dtype_size(type));
        tree->part(lanes, 3, (int64_t)p * LANES, own[p].bytes);
        tree->reduction.add(sums, p, own[p].bytes);
    }
    tree->reduction.join(sums, PARTS, added.bytes);
    for (int l = 0; l < HA_SUMS_; l++) {
        _Alignas(16) char pair[2 * HA_PARTIAL_BYTES_];
        partial sum = own[l];
        for (int p = l + HA_SUMS_; p < PARTS; p += HA_SUMS_) {
            memcpy(pair, sum.bytes, part);
            memcpy(pair + part, own[p].bytes, part);
            tree->reduction.join(pair, 2, sum.bytes);
        }
        memcpy(joined + (size_t)l * part, sum.bytes, part);
    }
    tree->reduction.join(joined, HA_SUMS_, expected.bytes);
    expect_same_end(tree, type, &expected, &added, PARTS, "of parts that are added");
}

/* Of no lanes: what changes nothing; of the least and the greatest, which are refused before, 0. */
static void try_none(const ha_op_tree *tree, ha_dtype type) {
    _Alignas(16) char result[2 * BYTES], none[BYTES] = {0};
    const int64_t all_bits = -1;
    memset(result, 0x5a, sizeof result);
    tree->reduction.end(NULL, result);
    if (tree->reduction.operation == HA_AND) memcpy(none, &all_bits, sizeof all_bits);
    if (tree->reduction.operation == HA_PRODUCT) {
        const double one = 1;
        const float single = 1;
        const int64_t integer = 1;
        if (type == HA_DTYPE_float || type == HA_DTYPE_c64)
            memcpy(none, &single, sizeof single);
        else if (type == HA_DTYPE_double || type == HA_DTYPE_c128)
            memcpy(none, &one, sizeof one);
        else
            memcpy(none, &integer, sizeof integer);
    }
    assert_true(same_number(type, result, none));
}

static void orders_of_lanes(HA_UNUSED void **state) {
    static const int64_t counts[] = {1, 7, 16, 17, 33, 64, 79, 80, 81, 150, 200, LANES};
    int trees = 0;
    for (size_t t = 0; t < sizeof reduced / sizeof *reduced; t++)
        for (int op = HA_SUM; op <= HA_MAX_AT; op++) {
            const ha_op_tree *tree = ha_op_tree_of(reduced[t], (ha_reduction)op);
            if (!tree) continue;
            for (size_t n = 0; n < sizeof counts / sizeof *counts; n++)
                for (usual = 4; usual < 100000; usual *= 20) try_lanes(tree, reduced[t], counts[n]);
            for (usual = 4; usual < 100000; usual *= 20) try_parts(tree, reduced[t]);
            try_none(tree, reduced[t]);
            trees++;
        }
    assert_true(trees > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_of_rows),
        cmocka_unit_test(orders_of_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
