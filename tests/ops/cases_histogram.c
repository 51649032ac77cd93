/* Histograms, on every context: against what is counted one element at a time, over views of all kinds and types; and what is
 * refused, which changes nothing. */
#include "sparing.h"
#include "some_views.h"
#include "known_keys.h"

static values of_x, of_y;

static const ha_dtype count_types[] = {HA_DTYPE_int32_t,  HA_DTYPE_uint32_t, HA_DTYPE_int64_t,
                                       HA_DTYPE_uint64_t, HA_DTYPE_int16_t,  HA_DTYPE_uint8_t};

static void know_histogram(ha_dtype counts, ha_dtype x, int64_t parts, int64_t all) {
    const int own = parts < 256 ? 256 : parts < 4096 ? 4096 : 0;
    const int is_wide = ha_dtype_size(counts) == 8 && all <= INT64_MAX;
    if (!is_fake(C)) return;
    SUCCEEDS(ha_context_finish(C));
    for (int rank = 1; rank <= HA_MOST_RANK; rank++)
        know_key(rank, &(const ha_op_key){.type = ha_op_type_of(x),
                                          .rank = rank,
                                          .make = ha_histogram_make,
                                          .of = {is_wide ? 8 : 4, own}});
    const ha_op_line *line = ha_op_line_of(&ha_op_lanes_of_value, ha_op_type_of(HA_DTYPE_uint32_t),
                                           HA_LANE_VALUE_);
    for (int rank = 0; rank < 2; rank++) /* the greatest count */
        know_key(10 + rank, &(const ha_op_key){.type = ha_op_type_of(HA_DTYPE_uint32_t),
                                               .line = line,
                                               .rank = rank,
                                               .tree = ha_op_tree_of(line->gives, HA_MAX),
                                               .make = ha_op_make_reduction});
    const ha_dtype bytes = ha_index_moved(ha_dtype_size(counts))->type;
    know_key(12, &(const ha_op_key){.line = &ha_op_copy_line,
                                    .rank = 1,
                                    .make = ha_op_make_copy,
                                    .of = {(int)bytes, (int)bytes}});
}

/* -1: outside. */
static int64_t part_by_hand(ha_dvalue x, double low, double high, int64_t parts) {
    const ha_number_kind kind = ha_dtype_kind(x.type);
    const int is_real = kind == HA_KIND_REAL;
    const double v = is_real ? real_of(x) : (double)wide_of(x);
    if (is_real && x.type != HA_DTYPE_double) { /* in float */
        const volatile float from = (float)low, to = (float)high, u = (float)v;
        const volatile float scale = (float)parts / (to - from), moved = u - from;
        const volatile float part = moved * scale;
        if (!(u >= from && u < to)) return -1;
        return HA_LESS((int64_t)part, parts - 1);
    }
    if (!(v >= low && v < high)) return -1;
    const volatile double scale = (double)parts / (high - low), moved = v - low;
    const volatile double part = moved * scale;
    return HA_LESS((int64_t)part, parts - 1);
}

static void count_some(ha_dtype type, ha_dtype counts, int64_t parts) {
    static const double bounds[][2] = {{-10, 10}, {0, 5}, {-0.75, 3.5}, {-100, 100}, {1, 2}};
    const double *bound = bounds[draw(5)];
    int64_t extent[HA_MOST_RANK], outside = -1, expected = 0;
    const int rank = some_extents(extent);
    if (rank == 2) extent[draw(2)] += draw(2) ? 60 : 0;
    const darray x = some_view(type, rank, extent, 1);
    read_values(x, &of_x);
    if (ha_dtype_size(counts) == 1 && of_x.n > UINT8_MAX) counts = HA_DTYPE_int16_t;
    const darray y = some_view(counts, 1, &parts, 0);
    for (int64_t p = 0; p < parts; p++) of_y.at[p] = wrapped(counts, 0);
    of_y.n = (int)parts;
    know_histogram(counts, type, parts, of_x.n);
    for (int i = 0; i < of_x.n; i++) {
        const int64_t p = part_by_hand(of_x.at[i], bound[0], bound[1], parts);
        if (p < 0)
            expected++;
        else
            of_y.at[p] = wrapped(counts, wide_of(of_y.at[p]) + 1);
    }
    SUCCEEDS(ha_histogram(y, x, bound[0], bound[1], &outside, C));
    if (is_fake(C) || ha_context_is_exact(C)) {
        assert_true(outside == expected);
        expect_elements(y, &of_y, 1, "histogram", (int)parts);
    }
    drop_array(x.array), drop_array(y.array);
}

TEST(counted) {
    static const int64_t parts[] = {1, 5, 10, 255, 256, 1000};
    const int rounds = share_of(12);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++)
            if (ha_dtype_kind(types[t]) != HA_KIND_COMPLEX && is_turn_here(round, t, round, 4))
                count_some(types[t], count_types[draw(6)], parts[draw(6)]);
}

/* Bins of integers: several teams, more parts than these have memory for, and halves of the range. */
TEST(many_parts) {
    enum { N = 100000 };
    static const int parts[] = {10, 300, 4095, 4096, 20000};
    harray_uint32_t x = harray_uint32_t_new(N);
    keep_array(x.array);
    HA_WRITING(v, x, H) for (uint32_t i = 0; i < N; i++) v.data[i] = i * 2654435761u % 20011;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        int32_t *expected = calloc((size_t)parts[k], sizeof *expected);
        harray_int32_t counts = harray_int32_t_filled((size_t)parts[k], 7);
        uint32_t outside, wanted = 0;
        keep_array(counts.array);
        assert_non_null(expected);
        HA_READING(v, x, H) for (int i = 0; i < N; i++) {
            const int is_inside = v.data[i] < (uint32_t)parts[k];
            if (is_inside) expected[v.data[i]]++;
            wanted += !is_inside;
        }
        know_histogram(HA_DTYPE_int32_t, HA_DTYPE_uint32_t, parts[k], N);
        SUCCEEDS(ha_histogram(counts, x, 0, parts[k], &outside, C));
        assert_int_equal(outside, wanted);
        HA_READING(v, counts, H)
        assert_memory_equal(v.data, expected, (size_t)parts[k] * sizeof *expected);
        free(expected);
        drop_array(counts.array);
    }
    drop_array(x.array);
}

/* Sums that rounding would put behind the last part. */
TEST(the_last_part) {
    const float high = 19 * 0.1f; /* times 3 parts by what is below it: 3 in float */
    harray_float x = harray_float_filled(3, nextafterf(high, 0));
    harray_int32_t counts = harray_int32_t_filled(3, 0);
    keep_array(x.array), keep_array(counts.array);
    int outside = 0;
    HA_WRITING(v, x, H) v.data[1] = high, v.data[2] = NAN;
    know_histogram(HA_DTYPE_int32_t, HA_DTYPE_float, 3, 3);
    SUCCEEDS(ha_histogram(counts, x, 0, (double)high, &outside, C));
    assert_int_equal(outside, 2);
    HA_READING(v, counts, H) assert_int_equal(v.data[2], 1);
    drop_array(x.array), drop_array(counts.array);
}

/* Upper ends just above k, for which the part of k would be behind the last one by rounding. */
static double rounded_up(int *k, int64_t *parts) {
    for (*parts = 3; *parts < 50; ++*parts)
        for (*k = 1; *k < 100; ++*k) {
            const volatile double high = nextafter(*k, 200), scale = (double)*parts / high;
            const volatile double part = *k * scale;
            if (part >= (double)*parts) return high;
        }
    fail_msg("%s", "no such number");
    return 0;
}

/* Each of the host's loops for itself; devices have this arithmetic once, for all types. */
TEST(the_last_part_of_each_type) {
    int64_t parts, n = 5, outside = -1;
    int k;
    const double high = rounded_up(&k, &parts);
    for (int t = 0; t < TYPES && !strcmp(ha_context_kind(C), "host"); t++)
        for (int is_wide = 0; is_wide < 2; is_wide++) {
            if (ha_dtype_kind(types[t]) == HA_KIND_COMPLEX || types[t] == HA_DTYPE_float) continue;
            if (types[t] == HA_DTYPE_half || types[t] == HA_DTYPE_bfloat16) continue;
            if (types[t] == HA_DTYPE_bool) continue; /* whose parts are those of 0 and 1 */
            darray x = darray_new(types[t], 1, &n, C);
            darray y = darray_new(is_wide ? HA_DTYPE_int64_t : HA_DTYPE_int32_t, 1, &parts, C);
            keep_array(x.array), keep_array(y.array);
            SUCCEEDS(darray_fill(x, ha_dvalue_of_double(k), C));
            SUCCEEDS(ha_histogram(y, x, 0, high, &outside, C));
            assert_true(outside == 0);
            read_values(y, &of_y);
            for (int p = 0; p < (int)parts; p++)
                assert_int_equal(wide_of(of_y.at[p]), p == (int)parts - 1 ? n : 0);
            drop_array(x.array), drop_array(y.array);
        }
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
    harray_double x = keep(harray_double_filled(300, 1));
    harray_int32_t counts = harray_int32_t_filled(4, 5), none = harray_int32_t_new(0);
    harray_uint8_t small = harray_uint8_t_filled(4, 5);
    harray_c64 z = harray_c64_filled(4, ha_c64_make(1, 2));
    keep_array(counts.array), keep_array(none.array), keep_array(small.array), keep_array(z.array);
    ha_array_set_name(counts.array, "bins");
    int outside = 77, *nowhere = NULL;
    int8_t little = 5;
    ARGUMENT(ha_histogram(counts, x, 1, 1, &outside, C), "there are no 4 parts", "double (300)");
    ARGUMENT(ha_histogram(counts, x, 2, 1, &outside, C), "there are no 4 parts", "from 2 to 1");
    ARGUMENT(ha_histogram(counts, x, 0, (double)INFINITY, &outside, C), "no 4 parts", "");
    ARGUMENT(ha_histogram(counts, x, (double)NAN, 1, &outside, C), "no 4 parts", "");
    ARGUMENT(ha_histogram(counts, x, 0, 1e-320, &outside, C), "no 4 parts", "");
    ARGUMENT(ha_histogram(none, x, 0, 1, &outside, C), "there are no parts", "int32_t (0)");
    ARGUMENT(ha_histogram(x, x, 0, 1, &outside, C), "a count is an integer", "double (300)");
    ARGUMENT(ha_histogram(counts, z, 0, 1, &outside, C), "no histogram of these", "c64");
    ARGUMENT(ha_histogram(counts, counts, 0, 1, &outside, C), "elements of an argument",
             "counts, int32_t (4) of array 'bins', and x, int32_t (4) of array 'bins'");
    ARGUMENT(ha_histogram(counts, x, 0, 1, nowhere, C), "the pointer to what is outside is NULL",
             "");
    ARGUMENT(ha_histogram((darray){0}, x, 0, 1, &outside, C), "", "");
    ARGUMENT(ha_histogram(counts, (darray){0}, 0, 1, &outside, C), "", "");
    const darray grid = darray_reshape(HA_DARRAY(counts), 2, (int64_t[]){2, 2});
    ARGUMENT(ha_histogram(grid, x, 0, 1, &outside, C), "one dimension", "bins");
    const darray same = darray_broadcast(darray_slice(HA_DARRAY(counts), 0, 0, 1, 1), 1,
                                         (int64_t[]){4});
    ARGUMENT(ha_histogram(same, x, 0, 1, &outside, C), "repeats elements", "bins");
    know_histogram(HA_DTYPE_int32_t, HA_DTYPE_double, 4, 300);
    ARGUMENT(ha_histogram(counts, x, 0, 1, &little, C), "as int8_t", "300");
    know_histogram(HA_DTYPE_uint8_t, HA_DTYPE_double, 4, 300);
    ARGUMENT(ha_histogram(small, x, 0, 2, &outside, C), "a count of 300 does not fit", "uint8_t");
    assert_true(outside == 77 && little == 5);
    HA_READING(v, counts, H) for (int i = 0; i < 4; i++) assert_int_equal(v.data[i], 5);
    HA_READING(v, small, H) for (int i = 0; i < 4; i++) assert_int_equal(v.data[i], 5);
    drop(x), drop_array(counts.array), drop_array(none.array), drop_array(small.array);
    drop_array(z.array);
}

TEST(of_nothing) {
    harray_double none = keep(harray_double_new(0));
    harray_int64_t counts = harray_int64_t_filled(3, 4);
    keep_array(counts.array);
    int outside = 4;
    SUCCEEDS(ha_histogram(counts, none, 0, 1, &outside, C));
    assert_int_equal(outside, 0);
    HA_READING(v, counts, H) for (int i = 0; i < 3; i++) assert_int_equal(v.data[i], 0);
    drop(none), drop_array(counts.array);
}

/* Each allocation in turn. */
TEST(without_memory) {
    harray_double x = keep(harray_double_filled(20, 1));
    harray_int32_t counts = harray_int32_t_filled(4, 5);
    keep_array(counts.array);
    int failures = 0, outside = 8;
    for (int n = 0; C == H; n++) {
        ha_op_kernels_end();
        until_failure = n;
        const ha_status s = ha_histogram(counts, x, 0, 1, &outside, C);
        const int all = until_failure >= 0;
        until_failure = -1;
        if (!s && all) break;
        failures += s != HA_OK;
        if (!s) continue;
        assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
        assert_int_equal(outside, 8);
        HA_READING(v, counts, H) assert_int_equal(v.data[0], 5);
    }
    assert_true(C != H || (failures > 0 && outside == 20)); /* how often depends on what was kept */
    drop_array(counts.array), drop(x);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        CASE(counted),           CASE(many_parts),
        CASE(the_last_part),     CASE(the_last_part_of_each_type),
        CASE(refused_arguments), CASE(of_nothing),
        CASE(without_memory),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
