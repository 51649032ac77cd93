/* Operations element by element, on every context: against what is computed one element at a time, over views of all
 * kinds, and what is refused. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"
#include "../support/share.h"

#include "some_views.h"
#include "known_keys.h"

HA_ARRAY(double, 2);
HA_OPS(double);
HA_OPS(int);

/* ---- comparing ----------------------------------------------------------------------------------- */

/* Functions of mathematical libraries differ in their last bits, where they are not those of this program. */
static int is_exact(ha_dtype type, const ha_op_table *table, int op) {
    const int is_map = table == &ha_op_maps;
    const ha_number_kind kind = ha_dtype_kind(type);
    if (kind == HA_KIND_COMPLEX)
        return is_map ? op <= HA_CONJUGATE && op != HA_ABS : op == HA_ADD || op == HA_SUBTRACT;
    if (kind != HA_KIND_REAL || !is_of_opencl()) return 1;
    if (is_map) return op <= HA_SQRT || op >= HA_FLOOR;
    return op < HA_MODULO || op == HA_COPYSIGN || op == HA_COMPLEX || table != &ha_op_combines;
}

/* ---- the operations ------------------------------------------------------------------------------ */

static values of_x, of_y, of_z;

static int has_map(ha_dtype type, int op) {
    return type != HA_DTYPE_bool &&
           ha_op_line_of(&ha_op_maps, ha_op_type_of(type), op)->text != NULL;
}

static ha_dtype mask_type(void) { return draw(2) ? HA_DTYPE_uint8_t : HA_DTYPE_bool; }

/* Also of the result itself. */
static void map_some(ha_dtype type, ha_map_operation op) {
    int64_t extent[HA_MOST_RANK];
    const ha_dtype result = is_test((int)op) ? mask_type() : type_of_map(type, (int)op);
    const int rank = some_extents(extent), in_place = !only_rows && result == type && draw(4) == 0;
    const darray y = some_view(result, rank, extent, 0);
    const darray x = in_place ? y : some_view(type, rank, extent, 1);
    read_values(x, &of_x);
    of_z.n = of_x.n;
    for (int i = 0; i < of_x.n; i++) of_z.at[i] = naive_map(op, of_x.at[i]);
    know_operation(type, &ha_op_maps, (int)op, 0);
    put_there(x);
    SUCCEEDS(ha_map(op, y, x, C));
    expect_there(x);
    expect_elements(y, &of_z, is_exact(type, &ha_op_maps, (int)op), "map", (int)op);
    if (!in_place) {
        expect_elements(x, &of_x, 1, "argument of map", (int)op);
        drop_array(x.array);
    }
    drop_array(y.array);
}

TEST(of_one_argument) {
    const int rounds = share_of(6);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++)
            for (int op = HA_NEGATE; op < HA_MAPS_; op++)
                if (has_map(types[t], op) && is_tried_here(round, t, op))
                    map_some(types[t], (ha_map_operation)op);
}

typedef enum kind { BY_ARRAY, BY_NUMBER, AXPY, AXPBY, CLIP } kind; /* AXPY: z is y */

static ha_status call(kind how, int op, darray z, darray x, darray y, ha_dvalue a, ha_dvalue b) {
    switch (how) {
    case BY_ARRAY:
        return ha_combine(op, z, x, y, C);
    case BY_NUMBER:
        return ha_combine_number_(op, z, x, a, C, HA_SITE);
    case AXPY:
        return ha_axpy_(z, a, x, C, HA_SITE);
    case AXPBY:
        return ha_axpby_(z, a, x, b, y, C, HA_SITE);
    default:
        return ha_clip_(z, x, a, b, C, HA_SITE);
    }
}

static void combine_some(ha_dtype type, kind how, int op) {
    int64_t extent[HA_MOST_RANK];
    const int rank = some_extents(extent);
    const ha_op_table *const table = how == AXPY    ? &ha_op_axpy
                                     : how == AXPBY ? &ha_op_axpby
                                     : how == CLIP  ? &ha_op_clip
                                                    : &ha_op_combines;
    const int n = table == &ha_op_combines ? op : 0;
    const int compares = how <= BY_NUMBER && op >= HA_IS_EQUAL;
    const int makes_complex = how <= BY_NUMBER && op == HA_COMPLEX;
    const int is_other = compares || makes_complex, own = only_rows || is_other || draw(4);
    const ha_dtype complex_type = type == HA_DTYPE_double ? HA_DTYPE_c128 : HA_DTYPE_c64;
    const darray z = some_view(compares        ? mask_type()
                               : makes_complex ? complex_type
                                               : type,
                               rank, extent, 0);
    const darray x = own ? some_view(type, rank, extent, 1) : z;
    const darray y = how == AXPY                 ? z
                     : only_rows                 ? some_view(type, rank, extent, 1)
                     : !is_other && draw(4) == 0 ? z
                     : draw(4) == 0              ? x
                                                 : some_view(type, rank, extent, 1);
    ha_dvalue a = some_number(type), b = some_number(type);
    if (how == AXPY) SUCCEEDS(ha_dvalue_convert(ha_dvalue_of_int32_t(1), type, &b));
    if (how == CLIP && ha_dvalue_compare(a, b) == HA_GREATER) {
        const ha_dvalue lower = b;
        b = a;
        a = lower;
    }
    if (how == CLIP && ha_dvalue_compare(a, b) == HA_UNORDERED) a = b = wrapped(type, 0);
    read_values(x, &of_x);
    read_values(y, &of_y);
    of_z.n = of_x.n;
    for (int i = 0; i < of_x.n; i++)
        of_z.at[i] = naive(how == AXPY || how == AXPBY ? NAIVE_AXPBY
                           : how == CLIP               ? NAIVE_CLIP
                                                       : op,
                           of_x.at[i], how == BY_NUMBER ? a : of_y.at[i], a, b);
    know_operation(type, table, n, how == BY_NUMBER);
    put_there(x);
    SUCCEEDS(call(how, op, z, x, y, a, b));
    expect_there(x);
    const int either = how == CLIP || op == HA_MINIMUM || op == HA_MAXIMUM;
    const int is_rough = op == HA_POWER && ha_dtype_kind(type) == HA_KIND_COMPLEX;
    const int exact = is_rough && how <= BY_NUMBER             ? ROUGH
                      : !compares && !is_exact(type, table, n) ? 0
                      : either                                 ? EITHER_ZERO
                                                               : EXACT;
    expect_elements(z, &of_z, exact, "combine", op + 100 * (int)how);
    if (y.array != z.array && y.array != x.array) drop_array(y.array);
    if (x.array != z.array) drop_array(x.array);
    drop_array(z.array);
}

static void combine_all(kind how, int rounds) {
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++)
            for (int op = 1; op < HA_COMBINES_; op++)
                if (has_combine(types[t], op) && is_tried_here(round, t, op))
                    combine_some(types[t], how, op);
}

TEST(of_two_arguments) { combine_all(BY_ARRAY, share_of(6)); }
TEST(with_a_number) { combine_all(BY_NUMBER, share_of(6)); }

TEST(with_two_numbers) {
    const int rounds = share_of(40);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < COMPUTED; t++) {
            if (is_turn_here(round / 8, t, round, 0)) combine_some(types[t], AXPBY, 0);
            if (is_turn_here(round / 8, t, round, 4)) combine_some(types[t], AXPY, 0);
            if (ha_dtype_kind(types[t]) != HA_KIND_COMPLEX && is_turn_here(round / 8, t, round, 2))
                combine_some(types[t], CLIP, 0);
        }
}

static void where_some(ha_dtype type) {
    int64_t extent[HA_MOST_RANK];
    static values of_mask;
    const int rank = some_extents(extent), in_place = !only_rows && draw(4) == 0;
    const darray z = some_view(type, rank, extent, 0);
    const darray mask = some_view(mask_type(), rank, extent, 1);
    const darray x = some_view(type, rank, extent, 1);
    const darray y = in_place ? z : some_view(type, rank, extent, 1);
    read_values(mask, &of_mask), read_values(x, &of_x), read_values(y, &of_y);
    of_z.n = of_x.n;
    for (int i = 0; i < of_x.n; i++)
        of_z.at[i] = of_mask.at[i].as_uint8_t ? of_x.at[i] : of_y.at[i];
    know_operation(type, &ha_op_choice, ha_op_choice_of(type), 0);
    SUCCEEDS(ha_where(z, mask, x, y, C));
    expect_elements(z, &of_z, 1, "where", 0);
    if (!in_place) drop_array(y.array);
    drop_array(x.array), drop_array(mask.array), drop_array(z.array);
}

TEST(chosen_by_a_mask) {
    const int rounds = share_of(40);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++)
            if (is_turn_here(round / 8, t, round, 6)) where_some(types[t]);
}

/* Elements by their numbers in views whose memory is in another order. */
static void sequence_some(ha_dtype type) {
    int64_t extent[HA_MOST_RANK];
    const int rank = some_extents(extent);
    const darray x = some_view(type, rank, extent, 0);
    const ha_dvalue a = some_number(type), b = some_number(type);
    of_z.n = (int)darray_size(x);
    for (int i = 0; i < of_z.n; i++) of_z.at[i] = naive_in_sequence(a, b, i);
    know_operation(type, &ha_op_sequence, 0, 0);
    SUCCEEDS(ha_sequence_(x, a, b, C, HA_SITE));
    expect_elements(x, &of_z, ha_dtype_kind(type) != HA_KIND_COMPLEX, "sequence", 0);
    drop_array(x.array);
}

static void random_some(ha_dtype type) {
    int64_t extent[HA_MOST_RANK];
    const int rank = some_extents(extent);
    const uint64_t seed = (uint64_t)draw(1u << 31) << 33 | draw(1u << 31);
    const darray x = some_view(type, rank, extent, 0);
    of_z.n = (int)darray_size(x);
    for (int i = 0; i < of_z.n; i++) of_z.at[i] = naive_random(type, i, seed);
    const int is_small = type == HA_DTYPE_half || type == HA_DTYPE_bfloat16;
    know_operation(type, &ha_op_random, is_small ? HA_RANDOM_SMALL_ : HA_RANDOM_PLAIN_, 0);
    SUCCEEDS(ha_random(x, seed, C));
    expect_elements(x, &of_z, 1, "random", 0);
    drop_array(x.array);
}

/* A cosine near 0 has few right digits of an angle that is rounded. */
static void expect_normal(darray x, const values *expected) {
    static values now;
    const double allowed = x.type == HA_DTYPE_bfloat16                            ? 4e-2
                           : x.type == HA_DTYPE_half                              ? 4e-3
                           : x.type == HA_DTYPE_double || x.type == HA_DTYPE_c128 ? 1e-13
                                                                                  : 1e-5;
    read_values(x, &now);
    for (int i = 0; i < now.n; i++) {
        double a[2], b[2];
        part_of(now.at[i], a), part_of(expected->at[i], b);
        for (int k = 0; k < 2; k++)
            if (!(fabs(a[k] - b[k]) <= allowed))
                fail_msg("normal number %d of %s: %g instead of %g", i, ha_dtype_name(x.type), a[k],
                         b[k]);
    }
}

static void random_normal_some(ha_dtype type) {
    int64_t extent[HA_MOST_RANK];
    const int rank = some_extents(extent);
    const uint64_t seed = (uint64_t)draw(1u << 31) << 33 | draw(1u << 31);
    const darray x = some_view(type, rank, extent, 0);
    of_z.n = (int)darray_size(x);
    for (int i = 0; i < of_z.n; i++) of_z.at[i] = naive_normal(type, i, seed);
    know_operation(type, &ha_op_normal, 0, 0);
    SUCCEEDS(ha_random_normal(x, seed, C));
    expect_normal(x, &of_z);
    drop_array(x.array);
}

TEST(by_their_places) {
    const int rounds = share_of(40);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++) {
            const ha_number_kind of = ha_dtype_kind(types[t]);
            if ((of == HA_KIND_REAL || of == HA_KIND_COMPLEX) &&
                is_turn_here(round / 8, t, round, 4))
                random_normal_some(types[t]);
            if (types[t] == HA_DTYPE_bool) continue;
            if (is_turn_here(round / 8, t, round, 3)) sequence_some(types[t]);
            if (is_turn_here(round / 8, t, round, 5)) random_some(types[t]);
        }
}

/* What Random123 (Salmon et al.) states of philox4x32-10. */
TEST(random_numbers_known_elsewhere) {
    const uint32_t nothing[4] = {0}, first[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    const uint32_t ends[] = {~0u, ~0u, ~0u, ~0u};
    const uint32_t last[] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
    uint32_t out[4];
    naive_philox(nothing, nothing, out);
    assert_memory_equal(out, first, sizeof out);
    naive_philox(ends, ends, out);
    assert_memory_equal(out, last, sizeof out);
}

/* All operations of a type, of rows of which those of these places have gaps. */
static void run_all_loops(int t, unsigned gaps) {
    for (int op = HA_NEGATE; op < HA_MAPS_; op++) {
        rows_with_gaps = gaps;
        if (has_map(types[t], op)) map_some(types[t], (ha_map_operation)op);
    }
    for (int op = 1; op < HA_COMBINES_; op++) {
        if (!has_combine(types[t], op)) continue;
        rows_with_gaps = gaps, combine_some(types[t], BY_ARRAY, op);
        rows_with_gaps = gaps, combine_some(types[t], BY_NUMBER, op);
    }
    if (t < COMPUTED) rows_with_gaps = gaps, combine_some(types[t], AXPY, 0);
    if (t < COMPUTED) rows_with_gaps = gaps, combine_some(types[t], AXPBY, 0);
    if (t < COMPUTED && ha_dtype_kind(types[t]) != HA_KIND_COMPLEX)
        rows_with_gaps = gaps, combine_some(types[t], CLIP, 0);
    rows_with_gaps = gaps, where_some(types[t]);
    if (types[t] == HA_DTYPE_bool) return;
    rows_with_gaps = gaps, sequence_some(types[t]);
    rows_with_gaps = gaps, random_some(types[t]);
    const ha_number_kind of = ha_dtype_kind(types[t]);
    if (of == HA_KIND_REAL || of == HA_KIND_COMPLEX)
        rows_with_gaps = gaps, random_normal_some(types[t]);
}

/* Mean 0, and the second and fourth moments of a normal distribution, 1 and 3. */
TEST(normal_numbers_are_normal) {
    harray_double x = harray_double_new(1 << 18);
    double sum = 0, squares = 0, fourths = 0;
    keep_array(x.array);
    know_operation(HA_DTYPE_double, &ha_op_normal, 0, 0);
    SUCCEEDS(ha_random_normal(x, 7, C));
    HA_READING(v, x, H) for (size_t i = 0; i < v.size; i++) {
        const double square = v.data[i] * v.data[i];
        sum += v.data[i], squares += square, fourths += square * square;
    }
    assert_true(fabs(sum / (1 << 18)) < 0.01);
    assert_true(fabs(squares / (1 << 18) - 1) < 0.02);
    assert_true(fabs(fourths / (1 << 18) - 3) < 0.1);
    drop_array(x.array);
}

/* Over elements one after the other, all with gaps, and one of the arrays with gaps. */
TEST(every_loop_of_the_host) {
    static const unsigned gaps[] = {0, ~0u, 1, 2, 4, 8};
    if (C != H) return;
    only_rows = 1;
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        for (int t = 0; t < TYPES; t++) run_all_loops(t, gaps[i]);
    only_rows = 0;
    rows_with_gaps = 0;
}

static void negate_every_second(darray of, int dimension) {
    const darray even = darray_slice(of, dimension, 0, of.extent[dimension] / 2 * 2, 2);
    const darray odd = darray_slice(of, dimension, 1, of.extent[dimension], 2);
    read_values(odd, &of_x);
    know_operation(HA_DTYPE_int32_t, &ha_op_maps, HA_NEGATE, 0);
    SUCCEEDS(ha_map(HA_NEGATE, even, odd, C));
    for (int i = 0; i < of_x.n; i++) of_x.at[i].as_int32_t *= -1;
    expect_elements(even, &of_x, EXACT, "negated", 0);
}

/* Even elements of odd ones; rows, and columns, whose strides an odd extent makes have nothing in common. */
TEST(views_that_take_turns) {
    harray_int32_t x = harray_int32_t_new(70);
    keep_array(x.array);
    HA_WRITING(v, x, H) for (int i = 0; i < 70; i++) v.data[i] = i + 1;
    const darray row = HA_DARRAY(x), grid = darray_reshape(row, 2, (int64_t[]){10, 7});
    negate_every_second(row, 0);
    negate_every_second(grid, 0);
    negate_every_second(grid, 1);
    negate_every_second(darray_transpose(grid), 1);
    drop_array(x.array);
}

/* Where each element of a view is. */
static int mark(darray x, char *marks) {
    const int64_t n = darray_size(x);
    for (int64_t k = 0; k < n; k++) {
        int64_t at = x.offset, left = k;
        for (int d = x.rank; d-- > 0; left /= x.extent[d]) at += left % x.extent[d] * x.stride[d];
        if (marks[at]++) return 1;
    }
    return 0;
}

/* Two views of an array: what is not refused has no element in common, and what goes on in the same strides is refused only then. */
TEST(views_that_meet) {
    enum { ALL = 120 };
    harray_int32_t storage = harray_int32_t_filled(ALL, 1);
    keep_array(storage.array);
    int refusals = 0, accepted = 0;
    for (int round = 0; round < 3000 && C == H; round++) {
        char marks[ALL] = {0};
        darray v[2];
        const int rank = 1 + (int)draw(3), is_alike = (int)draw(2);
        int64_t extent[3];
        for (int d = 0; d < rank; d++) extent[d] = 1 + draw(rank == 3 ? 3 : 4);
        for (int side = 0; side < 2; side++) {
            v[side] = (darray){.array = storage.array, .type = HA_DTYPE_int32_t, .rank = rank};
            int64_t reach = 0;
            for (int d = rank; d-- > 0;) {
                v[side].extent[d] = extent[d];
                v[side].stride[d] = side && is_alike ? v[0].stride[d]
                                                     : reach + 1 + (int64_t)draw(3);
                reach += (extent[d] - 1) * v[side].stride[d];
            }
            assert_true(reach < ALL);
            v[side].offset = draw((uint32_t)(ALL - reach));
        }
        if (v[0].offset == v[1].offset) continue; /* may be the same */
        (void)mark(v[0], marks);
        const int meet = mark(v[1], marks);
        const ha_status s = ha_map(HA_NEGATE, v[0], v[1], C);
        if (s) (void)ha_take_error();
        if (s ? is_alike && !meet : meet)
            fail_msg("round %d: %s, though they %s", round, s ? "refused" : "not refused",
                     meet ? "meet" : "do not meet");
        refusals += s != HA_OK;
        accepted += s == HA_OK;
    }
    if (C == H && (refusals < 200 || accepted < 200)) fail_msg("%d, %d", refusals, accepted);
    drop_array(storage.array);
}

/* y is added, and not multiplied by 1 before: infinite parts stay. */
TEST(axpy_of_infinite_numbers) {
    harray_c128 x = harray_c128_filled(3, ha_c128_make(2, 0)),
                y = harray_c128_filled(3, ha_c128_make(INFINITY, 1));
    keep_array(x.array), keep_array(y.array);
    know_operation(HA_DTYPE_c128, &ha_op_axpy, 0, 0);
    SUCCEEDS(ha_axpy(y, 2, x, C));
    HA_READING(v, y, H) assert_true(isinf(v.data[2].re) && v.data[2].im == 1);
    drop_array(x.array), drop_array(y.array);
}

/* Typed arrays, numbers of C, and whole arrays that are long enough for every kind of loop. */
TEST(typed_arrays) {
    harray_float x = harray_float_filled(5000, 3), y = harray_float_filled(5000, 1);
    array_double_2 u = array_double_2_filled(HA_DIM(30, 40), 2, NULL);
    keep_array(x.array);
    keep_array(y.array);
    keep_array(u.array);
    const int one = 1;
    know_operation(HA_DTYPE_float, &ha_op_axpy, 0, 0);
    SUCCEEDS(ha_axpy(y, 2.0, x, C));
    know_operation(HA_DTYPE_float, &ha_op_combines, HA_ADD, 1);
    SUCCEEDS(ha_combine_number(HA_ADD, y, y, one, C));
    HA_READING(v, y, H) for (int i = 0; i < 5000; i++) assert_true(v.data[i] == 8);
    know_operation(HA_DTYPE_double, &ha_op_maps, HA_SQRT, 0);
    SUCCEEDS(ha_map(HA_SQRT, array_double_2_part(u, HA_DIM(1, 1), HA_DIM(29, 39)),
                    array_double_2_part(u, HA_DIM(1, 1), HA_DIM(29, 39)), C));
    HA_READING(v, u, H) for (int i = 0; i < 1200; i++) {
        const int inside = i / 40 > 0 && i / 40 < 29 && i % 40 > 0 && i % 40 < 39;
        assert_true(v.data[i] == (inside ? sqrt(2.0) : 2.0));
    }
    drop_array(u.array);
    drop_array(y.array);
    drop_array(x.array);
}

/* ---- what is refused ----------------------------------------------------------------------------- */

static void refused(ha_status expected, ha_status got, const char *part, const char *second,
                    const char *third) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, expected);
    assert_int_equal(e.status, expected);
    if (!strstr(e.text, part) || !strstr(e.text, second) || !strstr(e.text, third))
        fail_msg("\"%s\" does not say \"%s\", \"%s\", \"%s\"", e.text, part, second, third);
}

TEST(refused_arrays) {
    harray_double x = harray_double_filled(10, 1), y = harray_double_filled(10, 1);
    harray_float f = harray_float_filled(10, 1);
    harray_uint8_t small = harray_uint8_t_filled(10, 1);
    harray_double longer = harray_double_filled(11, 1), none = {0};
    keep_array(x.array), keep_array(y.array), keep_array(f.array), keep_array(small.array);
    keep_array(longer.array);
    ha_array_set_name(x.array, "density");
    ha_array_set_name(y.array, "speed");
    const uint64_t version = ha_array_version(x.array);
    refused(HA_ERR_ARGUMENT, ha_map(HA_SQRT, x, f, C), "density", "float (10)",
            "types are not the same");
    refused(HA_ERR_ARGUMENT, ha_map(HA_SQRT, x, longer, C), "density", "double (11)",
            "extents are not the same");
    refused(HA_ERR_ARGUMENT, ha_map(HA_SQRT, x, none, C), "ha_map", "no array", "");
    refused(HA_ERR_ARGUMENT, ha_map(HA_CONJUGATE, x, y, C), "speed",
            "there is no HA_CONJUGATE of double", "");
    refused(HA_ERR_ARGUMENT, ha_map(HA_NEGATE, small, small, C), "uint8_t (10)",
            "there is no HA_NEGATE of uint8_t", "");
    refused(HA_ERR_ARGUMENT, ha_combine(HA_IS_LESS, x, x, y, C), "density", "a mask is of", "");
    refused(HA_ERR_ARGUMENT, ha_map(HA_IS_NAN, x, y, C), "density", "a mask is of", "");
    refused(HA_ERR_ARGUMENT, ha_combine(HA_COMPLEX, x, x, y, C), "density", "result is of c128",
            "");
    refused(HA_ERR_ARGUMENT, ha_random_normal(small, 1, C), "uint8_t (10)",
            "ha_random_normal is not of uint8_t", "");
    refused(HA_ERR_ARGUMENT, ha_combine(HA_IS_LESS, small, x, longer, C), "double (11)",
            "extents are not the same", "");
    refused(HA_ERR_ARGUMENT, ha_where(x, f, x, y, C), "float (10)", "a mask is of", "");
    refused(HA_ERR_ARGUMENT, ha_where(x, small, x, f, C), "float (10)", "types are not the same",
            "");
    ha_array_set_name(small.array, "levels");
    refused(HA_ERR_ARGUMENT, ha_sequence(small, 1, 256, C), "'levels'",
            "256 (int32_t) as uint8_t: does not fit", "");
    refused(HA_ERR_ARGUMENT, ha_fill(small, 300, C), "'levels'",
            "300 (int32_t) as uint8_t: does not fit", "");
    refused(HA_ERR_ARGUMENT, ha_combine_number(HA_IS_LESS, small, small, -1, C), "'levels'",
            "-1 (int32_t) as uint8_t: does not fit", "");
    refused(HA_ERR_ARGUMENT, ha_axpy(x, ha_c128_make(1, 2), y, C), "'density'",
            "(c128) as double: has an imaginary part", "");
    refused(HA_ERR_ARGUMENT, ha_combine_number(HA_ADD, x, y, ha_c64_make(1, 2), C), "'speed'",
            "(c64) as double: has an imaginary part", "");
    refused(HA_ERR_ARGUMENT, ha_map(HA_MAPS_, x, y, C), "operation 543 is none of ha_map's",
            "HA_NEGATE to HA_IS_FINITE", "");
    refused(HA_ERR_ARGUMENT, ha_combine(HA_ASSIGN, x, y, y, C), "HA_ASSIGN is none of ha_combine's",
            "HA_ADD to", "");
    refused(HA_ERR_ARGUMENT, ha_clip(x, y, 2, 1, C), "'density'", "low, 2, is greater than high, 1",
            "");
    darray part = darray_slice(HA_DARRAY(x), 0, 0, 9, 1),
           next = darray_slice(HA_DARRAY(x), 0, 1, 10, 1);
    refused(HA_ERR_ARGUMENT, ha_map(HA_SQRT, next, part, C),
            "y, double (9) of array 'density', and x, double (9) of array 'density': ",
            "in other places", "");
    refused(HA_ERR_ARGUMENT, ha_combine(HA_ADD, longer, x, y, C),
            "cases_elementwise.c:", ": z, double (11), and x, double (10) of array 'density': ",
            "extents are not the same");
    const int64_t three[] = {3, 10};
    darray repeated = darray_broadcast(HA_DARRAY(x), 2, three);
    refused(HA_ERR_ARGUMENT, ha_map(HA_SQRT, repeated, repeated, C), "density", "repeats elements",
            "");
    assert_int_equal(ha_array_version(x.array), version);
    drop_array(longer.array), drop_array(small.array), drop_array(f.array), drop_array(y.array);
    drop_array(x.array);
}

/* Functions of one type do what the words do, and tell their names. */
TEST(functions_of_a_type) {
    harray_double x = harray_double_new(40), y = harray_double_new(40), z = harray_double_new(40);
    harray_uint8_t mask = harray_uint8_t_filled(40, 0);
    harray_int n = harray_int_new(9), longer = harray_int_filled(10, 1);
    keep_array(x.array), keep_array(y.array), keep_array(z.array), keep_array(mask.array);
    keep_array(n.array), keep_array(longer.array);
    HA_WRITING(v, mask, H) v.data[7] = 1;
    know_operation(HA_DTYPE_double, &ha_op_sequence, 0, 0);
    SUCCEEDS(harray_double_sequence(x, 1, 2, C)); /* 1, 3, 5, … */
    SUCCEEDS(harray_double_fill(y, 4, C));
    know_operation(HA_DTYPE_double, &ha_op_maps, HA_SQRT, 0);
    SUCCEEDS(harray_double_map(HA_SQRT, z, y, C)); /* 2 */
    know_operation(HA_DTYPE_double, &ha_op_axpy, 0, 0);
    SUCCEEDS(harray_double_axpy(y, 2, x, C)); /* 6 + 4 i */
    know_operation(HA_DTYPE_double, &ha_op_axpby, 0, 0);
    SUCCEEDS(harray_double_axpby(z, 3, z, -1, y, C)); /* -4 i */
    HA_READING(v, z, H) for (int i = 0; i < 40; i++) assert_true(v.data[i] == -4 * i);
    know_operation(HA_DTYPE_double, &ha_op_combines, HA_SUBTRACT, 0);
    SUCCEEDS(harray_double_combine(HA_SUBTRACT, z, x, z, C)); /* 1 + 6 i */
    know_operation(HA_DTYPE_double, &ha_op_combines, HA_DIVIDE, 1);
    SUCCEEDS(harray_double_combine_number(HA_DIVIDE, y, z, 2, C)); /* 0.5 + 3 i */
    know_operation(HA_DTYPE_double, &ha_op_clip, 0, 0);
    SUCCEEDS(harray_double_clip(x, y, 9, 21, C));
    know_operation(HA_DTYPE_double, &ha_op_choice, ha_op_choice_of(HA_DTYPE_double), 0);
    SUCCEEDS(harray_double_where(z, mask, y, x, C));
    HA_READING(v, z, H)
    for (int i = 0; i < 40; i++)
        assert_true(v.data[i] == (i == 7 || (i > 2 && i < 7) ? 0.5 + 3 * i : i < 7 ? 9 : 21));
    for (int normal = 0; normal < 2; normal++) {
        know_operation(HA_DTYPE_double, normal ? &ha_op_normal : &ha_op_random, 0, 0);
        SUCCEEDS(normal ? harray_double_random_normal(x, 5, C) : harray_double_random(x, 5, C));
        SUCCEEDS(normal ? ha_random_normal(y, 5, C) : ha_random(y, 5, C));
        HA_READING(v, x, H)
        HA_READING(w, y, H) for (int i = 0; i < 40; i++) assert_true(v.data[i] == w.data[i]);
    }
    know_operation(HA_DTYPE_int32_t, &ha_op_sequence, 0, 0);
    SUCCEEDS(harray_int_sequence(n, 7, -1, C));
    HA_READING(v, n, H) for (int i = 0; i < 9; i++) assert_int_equal(v.data[i], 7 - i);
    refused(HA_ERR_ARGUMENT, harray_int_axpy(n, 2, longer, C), "harray_int_axpy",
            "y, int32_t (9), and x, int32_t (10): ", "extents are not the same");
    HA_READING(v, n, H) assert_int_equal(v.data[8], -1);
    drop_array(longer.array), drop_array(n.array), drop_array(mask.array);
    drop_array(z.array), drop_array(y.array), drop_array(x.array);
}

TEST(numbers_that_do_not_fit) {
    harray_int32_t x = harray_int32_t_filled(10, 1);
    keep_array(x.array);
    const uint64_t version = ha_array_version(x.array);
    refused(HA_ERR_ARGUMENT, ha_combine_number(HA_ADD, x, x, 3e9, C), "3e+09", "int32_t", "");
    refused(HA_ERR_ARGUMENT, ha_axpby(x, 1, x, NAN, x, C), "nan", "int32_t", "");
    assert_int_equal(ha_array_version(x.array), version);
    drop_array(x.array);
}

/* What would be cut off is refused by every word that takes a number. */
TEST(numbers_with_a_fraction) {
    harray_int32_t x = harray_int32_t_filled(10, 3);
    harray_uint8_t mask = harray_uint8_t_filled(10, 7);
    keep_array(x.array), keep_array(mask.array);
    ha_array_set_name(x.array, "levels");
    ha_array_set_name(mask.array, "steps");
    const uint64_t version = ha_array_version(x.array), before = ha_array_version(mask.array);
    refused(HA_ERR_ARGUMENT, ha_combine_number(HA_IS_LESS, mask, x, 2.5, C), "'levels'",
            "2.5 is no int32_t", "cases_elementwise.c:");
    refused(HA_ERR_ARGUMENT, ha_combine_number(HA_MULTIPLY, x, x, 0.5f, C), "'levels'",
            "0.5 is no int32_t", "");
    refused(HA_ERR_ARGUMENT, ha_combine_number(HA_DIVIDE, x, x, -0.5, C), "'levels'",
            "-0.5 is no int32_t", "");
    refused(HA_ERR_ARGUMENT, ha_combine_number(HA_ADD, x, x, ha_c64_make(1.5f, 0), C), "'levels'",
            "is no int32_t", "");
    refused(HA_ERR_ARGUMENT, ha_axpby(x, 1, x, 0.5, x, C), "'levels'", "0.5 is no int32_t", "");
    refused(HA_ERR_ARGUMENT, ha_clip(x, x, 0.5, 3, C), "'levels'", "0.5 is no int32_t", "");
    refused(HA_ERR_ARGUMENT, ha_sequence(mask, 0, 0.5, C), "'steps'", "0.5 is no uint8_t", "");
    assert_int_equal(ha_array_version(x.array), version);
    assert_int_equal(ha_array_version(mask.array), before);
    know_operation(HA_DTYPE_int32_t, &ha_op_combines, HA_MULTIPLY, 1);
    HA_CHECK(ha_combine_number(HA_MULTIPLY, x, x, -2.0, C)); /* whole, of whatever type */
    HA_READING(v, x, H) assert_int_equal(v.data[9], -6);
    drop_array(mask.array), drop_array(x.array);
}

/* What would become infinite is refused, but not what is infinite. */
TEST(numbers_beyond_all_others) {
    harray_float x = harray_float_filled(10, 1);
    harray_half h = harray_half_filled(10, ha_half_of_float(1));
    harray_c64 z = harray_c64_filled(10, ha_c64_make(1, 0));
    keep_array(x.array), keep_array(h.array), keep_array(z.array);
    ha_array_set_name(x.array, "density");
    const uint64_t version = ha_array_version(x.array), before = ha_array_version(h.array);
    refused(HA_ERR_ARGUMENT, ha_combine_number(HA_ADD, x, x, 1e300, C), "'density'",
            "1e+300 (double) as float: does not fit", "cases_elementwise.c:");
    refused(HA_ERR_ARGUMENT, ha_clip(x, x, 1e300, 1e301, C), "'density'", "1e+300", "");
    refused(HA_ERR_ARGUMENT, ha_combine_number(HA_ADD, h, h, 1e6, C), "half (10)",
            "(double) as half: does not fit", "");
    refused(HA_ERR_ARGUMENT, ha_combine_number(HA_ADD, h, h, 1000000, C), "half (10)",
            "1000000 (int32_t) as half: does not fit", "");
    refused(HA_ERR_ARGUMENT, ha_combine_number(HA_ADD, z, z, ha_c128_make(0, 1e300), C), "c64 (10)",
            "(c128) as c64: does not fit", "");
    assert_int_equal(ha_array_version(x.array), version);
    assert_int_equal(ha_array_version(h.array), before);
    know_operation(HA_DTYPE_float, &ha_op_clip, 0, 0);
    HA_CHECK(ha_clip(x, x, 2, INFINITY, C));
    HA_READING(v, x, H) assert_true(v.data[9] == 2);
    know_operation(HA_DTYPE_float, &ha_op_combines, HA_ADD, 1);
    HA_CHECK(ha_combine_number(HA_ADD, x, x, -INFINITY, C));
    HA_READING(v, x, H) assert_true(v.data[9] == -INFINITY);
    drop_array(z.array), drop_array(h.array), drop_array(x.array);
}

/* Arrays have the names that they have in ops.h. */
TEST(names_of_arguments) {
    harray_double x = harray_double_filled(10, 1), y = harray_double_new(10);
    harray_uint8_t mask = harray_uint8_t_new(10), set = harray_uint8_t_filled(10, 1);
    ha_access v;
    keep_array(x.array), keep_array(y.array), keep_array(mask.array), keep_array(set.array);
    know_operation(HA_DTYPE_double, &ha_op_choice, ha_op_choice_of(HA_DTYPE_double), 0);
    know_operation(HA_DTYPE_double, &ha_op_combines, HA_ADD, 1);
    know_operation(HA_DTYPE_double, &ha_op_maps, HA_SQRT, 0);
    know_operation(HA_DTYPE_double, &ha_op_clip, 0, 0);
    know_operation(HA_DTYPE_double, &ha_op_sequence, 0, 0);
    know_operation(HA_DTYPE_double, &ha_op_random, 0, 0);
    refused(HA_ERR_STATE, ha_where(x, mask, x, x, C), ": mask: array", "", "");
    refused(HA_ERR_STATE, ha_where(x, set, y, x, C), ": x: array", "", "");
    refused(HA_ERR_STATE, ha_where(x, set, x, y, C), ": y: array", "", "");
    ha_context *there = C == H ? M1 : C;
    SUCCEEDS(ha_open(&v, y.array, H, HA_OVERWRITE, 0, HA_END));
    refused(HA_ERR_CONFLICT, ha_where(y, set, x, x, there), ": z: array", "", "");
    refused(HA_ERR_CONFLICT, ha_combine_number(HA_ADD, y, x, 1, there), ": z: array", "", "");
    refused(HA_ERR_CONFLICT, ha_map(HA_SQRT, y, x, there), ": y: array", "", "");
    refused(HA_ERR_CONFLICT, ha_clip(y, x, 0, 1, there), ": y: array", "", "");
    refused(HA_ERR_CONFLICT, ha_sequence(y, 0, 1, there), ": x: array", "", "");
    refused(HA_ERR_CONFLICT, ha_random(y, 1, there), ": x: array", "", "");
    SUCCEEDS(ha_close(&v));
    drop_array(set.array), drop_array(mask.array), drop_array(y.array), drop_array(x.array);
}

/* Refused as every access: the caller's line in front. */
TEST(conflicts_and_what_was_never_written) {
    harray_double x = harray_double_filled(10, 1), y = harray_double_new(10);
    ha_access v;
    keep_array(x.array), keep_array(y.array);
    know_operation(HA_DTYPE_double, &ha_op_maps, HA_SQRT, 0);
    SUCCEEDS(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    refused(HA_ERR_CONFLICT, ha_map(HA_SQRT, y, x, C == H ? M1 : C), "cases_elementwise.c:", "",
            "");
    SUCCEEDS(ha_close(&v));
    refused(HA_ERR_STATE, ha_map(HA_SQRT, x, y, C), "cases_elementwise.c:", "", "");
    drop_array(y.array), drop_array(x.array);
}

/* ---- more dimensions than lanes have ------------------------------------------------------------- */

static int has_bits_of(ha_dvalue a, ha_dvalue b) {
    return !memcmp(a.bytes, b.bytes, ha_dtype_size(a.type));
}

static void know_by_number(int place, const ha_op_table *table, int n) {
    const ha_op_type *of = ha_op_type_of(HA_DTYPE_int32_t);
    if (is_fake(C))
        know_key(place,
                 &(const ha_op_key){.type = of, .line = ha_op_line_of(table, of, n), .rank = 8});
}

TEST(eight_dimensions) {
    const darray x = eight_dimensions_of(HA_DTYPE_int32_t),
                 y = eight_dimensions_of(HA_DTYPE_int32_t);
    static values random;
    know_by_number(0, &ha_op_sequence, 0);
    know_by_number(1, &ha_op_combines, HA_SUBTRACT);
    know_by_number(2, &ha_op_random, 0);
    SUCCEEDS(ha_sequence(x, 5, 3, C));
    SUCCEEDS(ha_random(y, 7, C));
    read_values(y, &random);
    SUCCEEDS(ha_combine(HA_SUBTRACT, darray_flip(y, 3), x, darray_flip(y, 3), C));
    read_values(x, &of_x);
    read_values(darray_flip(y, 3), &of_z);
    assert_int_equal(of_x.n, 256);
    for (int i = 0; i < 256; i++) {
        const int flipped = i ^ 16; /* of the dimension before the last four */
        assert_int_equal(of_x.at[i].as_int32_t, 5 + 3 * i);
        assert_true(has_bits_of(random.at[i], naive_random(HA_DTYPE_int32_t, i, 7)));
        assert_true(has_bits_of(of_z.at[i], naive(HA_SUBTRACT, of_x.at[i], random.at[flipped],
                                                  of_x.at[i], of_x.at[i])));
    }
    drop_array(x.array), drop_array(y.array);
}

/* A number is an element first: of what computes with more bits, too. */
TEST(numbers_are_elements) {
    static const ha_dtype small[] = {HA_DTYPE_half, HA_DTYPE_bfloat16};
    const int64_t n = 20;
    if (is_fake(C)) return; /* knows no such kernel */
    for (size_t i = 0; i < 2; i++) {
        const double tenth = 0.1;
        const darray x = darray_new(small[i], 1, &n, H), y = darray_zeros(small[i], 1, &n, H);
        const darray mask = darray_zeros(HA_DTYPE_uint8_t, 1, &n, H);
        int same = 0;
        keep_array(x.array), keep_array(y.array), keep_array(mask.array);
        SUCCEEDS(darray_fill(x, ha_dvalue_of_double(tenth), H));
        SUCCEEDS(ha_combine_number(HA_IS_EQUAL, mask, x, tenth, C));
        SUCCEEDS(ha_combine_number(HA_ADD, y, y, tenth, C));
        SUCCEEDS(darray_equal(x, y, &same));
        assert_true(same);
        SUCCEEDS(ha_sequence(y, tenth, 0, C));
        SUCCEEDS(darray_equal(x, y, &same));
        assert_true(same);
        HA_READING(v, (harray_uint8_t){.array = mask.array}, H)
        for (int k = 0; k < n; k++) assert_int_equal(v.data[k], 1);
        drop_array(x.array), drop_array(y.array), drop_array(mask.array);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        CASE(eight_dimensions),
        CASE(of_one_argument),
        CASE(of_two_arguments),
        CASE(with_a_number),
        CASE(with_two_numbers),
        CASE(chosen_by_a_mask),
        CASE(by_their_places),
        CASE(every_loop_of_the_host),
        CASE(random_numbers_known_elsewhere),
        CASE(normal_numbers_are_normal),
        CASE(typed_arrays),
        CASE(views_that_take_turns),
        CASE(views_that_meet),
        CASE(axpy_of_infinite_numbers),
        CASE(refused_arrays),
        CASE(functions_of_a_type),
        CASE(numbers_that_do_not_fit),
        CASE(numbers_with_a_fraction),
        CASE(names_of_arguments),
        CASE(numbers_beyond_all_others),
        CASE(conflicts_and_what_was_never_written),
        CASE(numbers_are_elements),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
