/* Reductions along a dimension, on every context: the bits that ha_reduce gives for each row, and what a loop over the elements
 * gives, over views of all kinds; and what is refused, which changes nothing. */
#include "sparing.h"

HA_ARRAY(double, 2);
HA_ARRAY(float, 2);

#include "some_views.h"
#include "known_keys.h"

static values of_x;

/* Whatever the other dimensions come to. */
static void know_along(ha_dtype y, ha_dtype x, int lane, ha_reduction op) {
    if (!is_fake(C)) return;
    SUCCEEDS(ha_context_finish(C));
    for (int rank = 1; rank < HA_MOST_RANK; rank++)
        know_key(rank, &(const ha_op_key){.type = ha_op_type_of(x),
                                          .line = line_of(x, lane),
                                          .tree = ha_op_tree_of(line_of(x, lane)->gives, op),
                                          .rank = rank,
                                          .make = ha_along_make,
                                          .of = {(int)y}});
}

/* ---- against ha_reduce, row by row --------------------------------------------------------------- */

static int has_same_bits(ha_dvalue a, ha_dvalue b) {
    double x[2], y[2];
    if (a.type == b.type && !memcmp(a.bytes, b.bytes, ha_dtype_size(a.type))) return 1;
    if (ha_dtype_kind(a.type) != HA_KIND_REAL && ha_dtype_kind(a.type) != HA_KIND_COMPLEX) return 0;
    part_of(a, x), part_of(b, y);
    return (isnan(x[0]) && isnan(y[0])) || (isnan(x[1]) && isnan(y[1]));
}

/* What a row is reduced to on the host, as an element of type y. */
static ha_dvalue reduced(ha_reduction op, darray row, ha_dtype y) {
    const ha_dtype gives = op >= HA_MIN_AT ? HA_DTYPE_int64_t
                                           : line_of(row.type, HA_LANE_VALUE_)->gives;
    _Alignas(16) char result[16] = {0};
    assert_int_equal(ha_reduce_(op, row, gives, result, H, HA_SITE), HA_OK);
    const ha_dvalue number = ha_dvalue_load(gives, result);
    if (y == gives) return number;
    return gives == HA_DTYPE_float ? of_float(y, number.as_float) : wrapped(y, wide_of(number));
}

static void expect_reduced(ha_reduction op, darray y, darray x, int dimension) {
    int64_t index[HA_MOST_RANK] = {0};
    if (!darray_size(y)) return;
    for (;;) {
        ha_dvalue got, expected;
        darray row = x;
        for (int d = x.rank - 1; d >= 0;
             d--) /* the last ones first: the others keep their numbers */
            if (d != dimension) row = darray_fix(row, d, index[d < dimension ? d : d - 1]);
        assert_int_equal(darray_get(y, y.rank, index, &got), HA_OK);
        expected = reduced(op, row, y.type);
        if (!has_same_bits(got, expected)) {
            char here[100], there[100];
            ha_dvalue_print(got, here, sizeof here);
            ha_dvalue_print(expected, there, sizeof there);
            fail_msg("reduction %d of %s along %d to %s: %s instead of %s", (int)op,
                     ha_dtype_name(x.type), dimension, ha_dtype_name(y.type), here, there);
        }
        int d = y.rank - 1;
        while (d >= 0 && ++index[d] == y.extent[d]) index[d--] = 0;
        if (d < 0) return;
    }
}

static ha_dtype some_result_type(ha_dtype x, ha_reduction op) {
    static const ha_dtype places[] = {HA_DTYPE_int32_t, HA_DTYPE_uint32_t, HA_DTYPE_int64_t,
                                      HA_DTYPE_uint64_t};
    if (op >= HA_MIN_AT) return places[draw(4)];
    const ha_dtype own = x == HA_DTYPE_bool ? HA_DTYPE_uint8_t : x;
    return draw(2) ? own : line_of(x, HA_LANE_VALUE_)->gives;
}

/* The result, with an extent of 1 in the dimension, or without it. */
static darray some_result(ha_dtype type, int rank, const int64_t *extent, int dimension) {
    int64_t rest[HA_MOST_RANK];
    const int stays = (int)draw(2);
    int n = 0;
    for (int d = 0; d < rank; d++)
        if (d != dimension || stays) rest[n++] = d == dimension ? 1 : extent[d];
    return some_view(type, n, rest, 0);
}

static void along_some(ha_dtype type, ha_reduction op) {
    int64_t extent[HA_MOST_RANK];
    const int rank = some_extents(extent), dimension = (int)draw((uint32_t)rank);
    if (rank == 2 && draw(2)) extent[draw(2)] += 60;
    const ha_dtype result = some_result_type(type, op);
    const darray x = some_view(type, rank, extent, 1);
    const darray y = some_result(result, rank, extent, dimension);
    const int none = !extent[dimension] && darray_size(y) &&
                     (op == HA_MIN || op == HA_MAX || op >= HA_MIN_AT);
    know_along(result, type, HA_LANE_VALUE_, op);
    if (none) {
        assert_int_equal(ha_reduce_along(op, y, x, dimension, C), HA_ERR_ARGUMENT);
        assert_non_null(strstr(ha_take_error().text, "no elements"));
    } else {
        SUCCEEDS(ha_reduce_along(op, y, x, dimension, C));
        expect_reduced(op, y.rank == rank ? darray_fix(y, dimension, 0) : y, x, dimension);
    }
    drop_array(x.array), drop_array(y.array);
}

TEST(along) {
    const int rounds = share_of(8);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++)
            for (int op = HA_SUM; op <= HA_MAX_AT; op++)
                if (ha_op_tree_of(line_of(types[t], HA_LANE_VALUE_)->gives, (ha_reduction)op) &&
                    is_tried_here(round, t, op))
                    along_some(types[t], (ha_reduction)op);
}

/* ---- against loops ------------------------------------------------------------------------------- */

TEST(sums_by_hand) {
    enum { N = 70, M = 45 };
    array_double_2 x = array_double_2_new(HA_DIM(N, M), H);
    harray_double columns = keep(harray_double_new(M)), rows = keep(harray_double_new(N));
    harray_int32_t greatest = harray_int32_t_new(M);
    keep_array(x.array), keep_array(greatest.array);
    HA_WRITING(v, x, H)
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) HA_AT(v.span, j, i) = (double)((j * 37 + i * 11) % 101);
    know_along(HA_DTYPE_double, HA_DTYPE_double, HA_LANE_VALUE_, HA_SUM);
    SUCCEEDS(ha_reduce_along(HA_SUM, columns, x, 0, C));
    SUCCEEDS(ha_reduce_along(HA_SUM, rows, x, 1, C));
    know_along(HA_DTYPE_int32_t, HA_DTYPE_double, HA_LANE_VALUE_, HA_MAX_AT);
    SUCCEEDS(ha_reduce_along(HA_MAX_AT, greatest, x, 0, C));
    HA_READING(v, x, H)
    HA_READING(c, columns, H)
    HA_READING(r, rows, H)
    HA_READING(g, greatest, H) {
        for (int i = 0; i < M; i++) {
            double sum = 0;
            int at = 0;
            for (int j = 0; j < N; j++) {
                sum += HA_AT(v.span, j, i);
                if (HA_AT(v.span, j, i) > HA_AT(v.span, at, i)) at = j;
            }
            assert_true(c.data[i] == sum);
            assert_int_equal(g.data[i], at);
        }
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int i = 0; i < M; i++) sum += HA_AT(v.span, j, i);
            assert_true(r.data[j] == sum);
        }
    }
    drop_array(greatest.array), drop(rows), drop(columns), drop_array(x.array);
}

static void count_some(ha_dtype type) {
    int64_t extent[HA_MOST_RANK];
    const int rank = some_extents(extent), d = (int)draw((uint32_t)rank);
    const darray x = some_view(type, rank, extent, 1);
    const darray y = some_result(HA_DTYPE_int32_t, rank, extent, d);
    know_along(HA_DTYPE_int32_t, type, HA_LANE_IS_THERE_, HA_SUM);
    SUCCEEDS(ha_count_along(y, x, d, C));
    read_values(x, &of_x);
    static values of_y;
    read_values(y, &of_y);
    int64_t behind = 1;
    for (int e = d + 1; e < rank; e++) behind *= extent[e];
    for (int k = 0; k < of_y.n; k++) {
        int64_t count = 0, first = k / behind * behind * extent[d] + k % behind;
        for (int64_t i = 0; i < extent[d]; i++) {
            double parts[2] = {0, 0};
            const ha_dvalue u = of_x.at[first + i * behind];
            const ha_number_kind kind = ha_dtype_kind(type);
            if (kind == HA_KIND_SIGNED || kind == HA_KIND_UNSIGNED)
                parts[0] = wide_of(u) != 0;
            else
                part_of(u, parts);
            count += parts[0] != 0 || parts[1] != 0;
        }
        assert_true(wide_of(of_y.at[k]) == count);
    }
    drop_array(x.array), drop_array(y.array);
}

TEST(counts) {
    const int rounds = share_of(10);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++)
            if (is_turn_here(round, t, round, 6)) count_some(types[t]);
}

/* ---- long ones, of all ranks --------------------------------------------------------------------- */

static void fill_numbers(darray x) {
    ha_access v;
    SUCCEEDS(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    for (size_t i = 0; i < v.size; i++)
        ((float *)(uintptr_t)v.data)[i] = (float)((i * 2654435761u) % 1000) * 0.001f - 0.4f;
    SUCCEEDS(ha_close(&v));
}

/* Of several parts, and of parts of parts; not all shapes on each device unless there is time. */
TEST(long_rows) {
    static const int64_t shapes[][2] = {
        {3001, 70}, {70, 3001}, {1052673, 3}, {2, 1052673}, {1024, 65}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int d = 0; d < 2; d++) {
            if (C != H && k % (size_t)stride_up_to(2)) continue;
            const darray x = darray_new(HA_DTYPE_float, 2, shapes[k], C);
            const darray y = darray_new(HA_DTYPE_float, 1, &shapes[k][1 - d], C);
            keep_array(x.array), keep_array(y.array);
            fill_numbers(x);
            know_along(HA_DTYPE_float, HA_DTYPE_float, HA_LANE_VALUE_, HA_SUM);
            SUCCEEDS(ha_reduce_along(HA_SUM, y, x, d, C));
            const darray part = darray_slice(y, 0, 0, HA_LESS(y.extent[0], 70), 1);
            expect_reduced(HA_SUM, part, darray_slice(x, 1 - d, 0, part.extent[0], 1), d);
            drop_array(x.array), drop_array(y.array);
        }
}

/* Dimensions of which no two follow each other. */
TEST(eight_dimensions) {
    const int64_t room[] = {3, 3, 3, 3, 3, 3, 3, 3};
    darray x = darray_new(HA_DTYPE_float, 8, room, C);
    keep_array(x.array);
    fill_numbers(x);
    for (int d = 0; d < 8; d++) x = darray_slice(x, d, 0, 2, 1);
    for (int d = 0; d < 8; d += 7) {
        const darray y = darray_new(HA_DTYPE_float, 7, x.extent, C);
        keep_array(y.array);
        know_along(HA_DTYPE_float, HA_DTYPE_float, HA_LANE_VALUE_, HA_SUM);
        SUCCEEDS(ha_reduce_along(HA_SUM, y, x, d, C));
        expect_reduced(HA_SUM, y, x, d);
        drop_array(y.array);
    }
    drop_array(x.array);
}

/* ---- what is refused ----------------------------------------------------------------------------- */

static void refused(ha_status expected, ha_status got, const char *part, const char *second) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, expected);
    assert_int_equal(e.status, expected);
    if (!strstr(e.text, part) || !strstr(e.text, second))
        fail_msg("\"%s\" does not say \"%s\", \"%s\"", e.text, part, second);
}
#define ARGUMENT(call, part, second) refused(HA_ERR_ARGUMENT, call, part, second)

TEST(refused_arguments) {
    array_float_2 x = array_float_2_filled(HA_DIM(4, 6), 1, H);
    harray_float y = harray_float_filled(6, 5), longer = harray_float_filled(7, 5);
    harray_int32_t at = harray_int32_t_filled(6, 5);
    keep_array(x.array), keep_array(y.array), keep_array(longer.array), keep_array(at.array);
    ha_array_set_name(y.array, "sums");
    ARGUMENT(ha_reduce_along(HA_SUM, y, x, 2, C), "no dimension 2", "float (4, 6)");
    ARGUMENT(ha_reduce_along(HA_SUM, y, x, -1, C), "no dimension -1", "float (4, 6)");
    ARGUMENT(ha_reduce_along(HA_SUM, y, x, 1, C), "the extents are not those",
             "y, float (6) of array 'sums', and x, float (4, 6)");
    ARGUMENT(ha_reduce_along(HA_SUM, longer, x, 0, C), "the extents are not those", "float (7)");
    ARGUMENT(ha_reduce_along(HA_SUM, at, x, 0, C), "neither type", "y, int32_t (6), and x, float");
    ARGUMENT(ha_reduce_along(HA_MIN_AT, y, x, 0, C), "an index is of", "sums");
    ARGUMENT(ha_count_along(y, x, 0, C), "an index is of", "sums");
    ARGUMENT(ha_reduce_along(HA_XOR, y, x, 0, C), "there is no HA_XOR of float", "float (4, 6)");
    ARGUMENT(ha_reduce_along(HA_SUM, (darray){0}, x, 0, C), "", "");
    ARGUMENT(ha_reduce_along(HA_SUM, y, (darray){0}, 0, C), "", "");
    const darray first = darray_fix(HA_DARRAY(x), 0, 0);
    ARGUMENT(ha_reduce_along(HA_SUM, first, x, 0, C), "elements of an argument",
             "y, float (6), and x, float (4, 6)");
    const darray same = darray_broadcast(darray_slice(HA_DARRAY(y), 0, 0, 1, 1), 1, (int64_t[]){6});
    ARGUMENT(ha_reduce_along(HA_SUM, same, x, 0, C), "repeats elements", "sums");
    const int64_t far[] = {3000000000, 6};
    const darray tall = darray_broadcast(darray_slice(HA_DARRAY(x), 0, 0, 1, 1), 2, far);
    ARGUMENT(ha_reduce_along(HA_MAX_AT, at, tall, 0, C), "do not fit its type", "3000000000");
    const darray none = darray_slice(HA_DARRAY(x), 0, 0, 0, 1);
    ARGUMENT(ha_reduce_along(HA_MIN, y, none, 0, C), "no elements", "float (0, 6)");
    HA_READING(v, y, H) for (int i = 0; i < 6; i++) assert_true(v.data[i] == 5);
    SUCCEEDS(ha_reduce_along(HA_PRODUCT, y, none, 0, C));
    HA_READING(v, y, H) for (int i = 0; i < 6; i++) assert_true(v.data[i] == 1);
    drop_array(x.array), drop_array(y.array), drop_array(longer.array), drop_array(at.array);
}

/* Each allocation in turn. */
TEST(without_memory) {
    array_double_2 x = array_double_2_filled(HA_DIM(4, 6), 1, H);
    harray_double y = keep(harray_double_filled(6, 5));
    keep_array(x.array);
    int failures = 0;
    for (int n = 0; C == H; n++) {
        ha_op_kernels_end();
        until_failure = n;
        const ha_status s = ha_reduce_along(HA_SUM, y, x, 0, C);
        const int all = until_failure >= 0;
        until_failure = -1;
        if (!s && all) break;
        failures += s != HA_OK;
        if (s) assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
        if (s) HA_READING(v, y, H) assert_true(v.data[0] == 5);
    }
    assert_true(C != H || failures > 0);
    drop(y), drop_array(x.array);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        CASE(along),          CASE(sums_by_hand),     CASE(counts),
        CASE(long_rows),      CASE(eight_dimensions), CASE(refused_arguments),
        CASE(without_memory),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
