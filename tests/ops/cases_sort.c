/* Sorting and searching, on every context: against insertion into a sorted list, over views of all kinds; and what is refused,
 * which changes nothing. */
#include "sparing.h"
#include "some_views.h"
#include "known_operations.h"
#include "many_keys.h"

HA_OPS(double);

static values of_x, of_y, of_at;

/* ---- naively ------------------------------------------------------------------------------------- */

static int is_less(ha_dvalue x, ha_dvalue y) {
    if (is_nan(x) || is_nan(y)) return !is_nan(x) && is_nan(y);
    return ha_dtype_kind(x.type) == HA_KIND_REAL ? real_of(x) < real_of(y)
                                                 : wide_of(x) < wide_of(y);
}

static int comes_before(ha_dvalue x, ha_dvalue y, ha_sort_order order) {
    if (is_nan(x) || is_nan(y) || order == HA_ASCENDING) return is_less(x, y);
    return is_less(y, x);
}

/* places[k]: which element of v comes k-th. */
static void sort_naively(const values *v, ha_sort_order order, int *places) {
    for (int i = 0; i < v->n; i++) {
        int k = i;
        for (; k > 0 && comes_before(v->at[i], v->at[places[k - 1]], order); k--)
            places[k] = places[k - 1];
        places[k] = i;
    }
}

/* With the same bits. */
static void expect_bits(darray x, const values *from, const int *places, int per_place,
                        const char *what) {
    static values now;
    read_values(x, &now);
    for (int i = 0; i < now.n; i++) {
        const ha_dvalue *expected = &from->at[places[i / per_place] * per_place + i % per_place];
        if (memcmp(now.at[i].bytes, expected->bytes, ha_dtype_size(x.type)) != 0)
            fail_msg("%s of %s: element %d of %d is another one", what, ha_dtype_name(x.type), i,
                     now.n);
    }
}

/* ---- random views -------------------------------------------------------------------------------- */

static int64_t some_length(void) { return draw(6) ? (int64_t)draw(60) : (int64_t)draw(3); }

static void sort_some(ha_dtype type, ha_sort_order order) {
    const int64_t n = some_length();
    int places[MOST_VALUES];
    const darray x = some_view(type, 1, &n, 0);
    read_values(x, &of_x);
    sort_naively(&of_x, order, places);
    SUCCEEDS(ha_sort(x, order, C));
    expect_bits(x, &of_x, places, 1, "ha_sort");
    drop_array(x.array);
}

static void number_some(ha_dtype type, ha_sort_order order, ha_dtype index) {
    const int64_t n = some_length();
    int places[MOST_VALUES], all[MOST_VALUES];
    const darray x = some_view(type, 1, &n, 1);
    const darray at = some_view(index, 1, &n, 0);
    read_values(x, &of_x);
    sort_naively(&of_x, order, places);
    SUCCEEDS(ha_sorting(at, x, order, C));
    of_at.n = (int)n;
    for (int i = 0; i < (int)n; i++) of_at.at[i] = wrapped(index, places[i]), all[i] = i;
    expect_bits(at, &of_at, all, 1, "ha_sorting");
    expect_bits(x, &of_x, all, 1, "what was to stay");
    drop_array(x.array), drop_array(at.array);
}

static void sort_some_by_key(ha_dtype type, ha_sort_order order, ha_dtype other) {
    const int64_t n = some_length(), both[] = {n, 1 + (int64_t)draw(4)};
    const int rank = 1 + (int)draw(2), width = rank == 2 ? (int)both[1] : 1;
    int places[MOST_VALUES];
    const darray x = some_view(type, 1, &n, 0), y = some_view(other, rank, both, 0);
    read_values(x, &of_x);
    read_values(y, &of_y);
    sort_naively(&of_x, order, places);
    SUCCEEDS(ha_sort_by_key(x, y, order, C));
    expect_bits(x, &of_x, places, 1, "keys");
    expect_bits(y, &of_y, places, width, "values");
    drop_array(x.array), drop_array(y.array);
}

TEST(sorted) {
    const int rounds = share_of(12);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < SORTED_TYPES; t++) {
            const ha_sort_order order = draw(2) ? HA_ASCENDING : HA_DESCENDING;
            if (!is_turn_here(round, t, round, 4)) continue;
            sort_some(sorted_types[t], order);
            number_some(sorted_types[t], order, index_types[draw(4)]);
            sort_some_by_key(sorted_types[t], order, types[draw(TYPES)]);
        }
}

/* Each type in each order, numbered by each type. */
TEST(every_loop_of_sorting) {
    for (int t = 0; t < SORTED_TYPES && C == H; t++)
        for (int i = 0; i < 40; i++) {
            sort_some(sorted_types[t], i % 2 ? HA_ASCENDING : HA_DESCENDING);
            number_some(sorted_types[t], i % 2 ? HA_ASCENDING : HA_DESCENDING,
                        index_types[i / 2 % 4]);
        }
}

/* ---- so many that digits are counted -------------------------------------------------------------- */

/* A third of all, if that: each type has each length, order and kind. */
TEST(many) {
    static const int64_t lengths[] = {65, 1000, MANY};
    for (int t = 0; t < SORTED_TYPES && C == H; t++)
        for (int i = 0; i < 2 * 3 * 3; i++)
            if ((t + i / 2 + i / 6) % stride_up_to(3) == 0)
                sort_many(sorted_types[t], i % 2 ? HA_ASCENDING : HA_DESCENDING, lengths[i / 2 % 3],
                          i / 6);
}

static void bound_some(ha_dtype type, ha_dtype index, int upper) {
    int64_t extent[HA_MOST_RANK];
    const int64_t n = some_length();
    const int rank = some_extents(extent);
    const darray x = some_view(type, 1, &n, 0), v = some_view(type, rank, extent, 1);
    const darray at = some_view(index, rank, extent, 0);
    SUCCEEDS(ha_sort(x, HA_ASCENDING, C));
    SUCCEEDS(ha_bound_(at, x, v, upper, C, HA_SITE));
    read_values(x, &of_x);
    read_values(v, &of_y);
    read_values(at, &of_at);
    for (int i = 0; i < of_y.n; i++) {
        int below = 0;
        for (int k = 0; k < of_x.n; k++)
            below += upper ? !is_less(of_y.at[i], of_x.at[k]) : is_less(of_x.at[k], of_y.at[i]);
        assert_true(wide_of(of_at.at[i]) == below);
    }
    drop_array(x.array), drop_array(v.array), drop_array(at.array);
}

TEST(bounds) {
    const int rounds = share_of(8);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < SORTED_TYPES; t++)
            if (is_turn_here(round, t, round, 3))
                bound_some(sorted_types[t], index_types[draw(4)], (int)draw(2));
}

/* More than lanes have. */
TEST(eight_dimensions) {
    const darray v = eight_dimensions_of(HA_DTYPE_int16_t);
    const darray at = eight_dimensions_of(HA_DTYPE_uint32_t);
    harray_int16_t x = harray_int16_t_new(5);
    const int64_t index[HA_MOST_RANK] = {1, 0, 1, 0, 0, 1, 1, 1};
    ha_dvalue place;
    keep_array(x.array);
    HA_OVERWRITING(w, x, H, 5) for (int i = 0; i < 5; i++) w.data[i] = (int16_t)(i - 3);
    SUCCEEDS(darray_set(v, 8, index, ha_dvalue_of_int16_t(-1)));
    SUCCEEDS(ha_lower_bound(at, x, v, C));
    SUCCEEDS(darray_get(at, 8, index, &place));
    assert_true(wide_of(place) == 2);
    SUCCEEDS(darray_get(at, 8, (const int64_t[8]){0}, &place));
    assert_true(wide_of(place) == 3);
    drop_array(v.array), drop_array(at.array), drop_array(x.array);
}

/* Of random views of few different numbers, in any order: each that differs from the one before it, NaN among them. */
static void unique_some(ha_dtype type) {
    static const int few[] = {0, 1, 1, 2};
    const int64_t n = draw(4) ? some_length()
                              : 300 + (int64_t)draw(300); /* blocks of a mask, too */
    const int64_t room = n + (int64_t)draw(3);
    const darray x = some_view(type, 1, &n, 1), y = some_view(type, 1, &room, 0);
    for (int64_t i = 0; i < n && !darray_repeats(x); i++)
        if (draw(4)) SUCCEEDS(darray_set(x, 1, &i, ha_dvalue_of_int32_t(few[draw(4)])));
    read_values(x, &of_x);
    read_values(y, &of_y);
    int count = -1, expected = 0;
    SUCCEEDS(ha_unique(y, x, &count, C));
    for (int i = 0; i < of_x.n; i++) {
        const ha_dvalue none = some_number(type);
        if (!i || naive(HA_IS_NOT_EQUAL, of_x.at[i], of_x.at[i - 1], none, none).bytes[0])
            of_y.at[expected++] = of_x.at[i];
    }
    assert_int_equal(count, expected);
    expect_elements(y, &of_y, EXACT, "ha_unique", 0);
    drop_array(x.array), drop_array(y.array);
}

TEST(some_once) {
    const int rounds = share_of(8);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++)
            if (is_turn_here(round, t, round, 3)) unique_some(types[t]);
}

TEST(each_once) {
    enum { N = 40 };
    harray_float x = harray_float_new(N), y = harray_float_filled(N, -1);
    int16_t count = 0;
    keep_array(x.array), keep_array(y.array);
    HA_OVERWRITING(v, x, H, N)
    for (int i = 0; i < N; i++) v.data[i] = i < 38 ? (float)(i / 3) : (float)NAN;
    SUCCEEDS(ha_unique(y, x, &count, C));
    assert_int_equal(count, 13 + 2);
    HA_READING(v, y, H)
    for (int i = 0; i < N; i++)
        assert_true(i < 13 ? v.data[i] == (float)i : i < 15 ? isnan(v.data[i]) : v.data[i] == -1);
    const darray all = HA_DARRAY(x), first = darray_slice(HA_DARRAY(y), 0, 0, 1, 1);
    SUCCEEDS(ha_unique(first, darray_slice(all, 0, 3, 4, 1), &count, C));
    assert_int_equal(count, 1);
    HA_READING(v, y, H) assert_true(v.data[0] == 1);
    SUCCEEDS(ha_unique(first, darray_slice(all, 0, 3, 3, 1), &count, C));
    assert_int_equal(count, 0);
    drop_array(x.array), drop_array(y.array);
}

/* As functions of one type. */
TEST(typed_forms) {
    static const double some[] = {3, 1, 2, 3, 1};
    static const int32_t order[] = {1, 4, 2, 0, 3}, below[] = {0, 0, 2, 3, 3};
    harray_double x = harray_double_of(5, some), y = harray_double_filled(5, 7),
                  fewer = harray_double_filled(4, 0);
    harray_int32_t at = harray_int32_t_filled(5, 9), counts = harray_int32_t_filled(2, 9);
    harray_uint8_t mask = harray_uint8_t_filled(5, 9);
    int64_t count = -1;
    keep_array(x.array), keep_array(y.array), keep_array(fewer.array), keep_array(at.array);
    keep_array(counts.array), keep_array(mask.array);
    SUCCEEDS(harray_double_sorting(at, x, HA_ASCENDING, C));
    HA_READING(v, at, H) assert_memory_equal(v.data, order, sizeof order);
    SUCCEEDS(harray_double_compare_number(HA_IS_LESS, mask, x, 3, C));
    SUCCEEDS(harray_double_compact(y, x, mask, &count, C)); /* 1, 2, 1 */
    HA_READING(v, y, H)
    assert_true(count == 3 && v.data[0] == 1 && v.data[2] == 1 && v.data[3] == 7);
    SUCCEEDS(harray_double_scan(HA_SUM, y, x, HA_EXCLUSIVE, C)); /* 0, 3, 4, 6, 9 */
    SUCCEEDS(harray_double_compare(HA_IS_EQUAL, mask, x, y, C));
    HA_READING(v, mask, H) for (int i = 0; i < 5; i++) assert_int_equal(v.data[i], 0);
    SUCCEEDS(harray_double_differences(fewer, y, C)); /* x, but for the last one */
    HA_READING(v, fewer, H) assert_memory_equal(v.data, some, sizeof(double[4]));
    SUCCEEDS(harray_double_histogram(counts, x, 1, 3, &count, C));
    HA_READING(v, counts, H) assert_true(v.data[0] == 2 && v.data[1] == 1 && count == 2);
    SUCCEEDS(harray_double_sort(x, HA_ASCENDING, C)); /* 1, 1, 2, 3, 3 */
    SUCCEEDS(harray_double_lower_bound(at, x, x, C));
    HA_READING(v, at, H) assert_memory_equal(v.data, below, sizeof below);
    SUCCEEDS(harray_double_upper_bound(at, x, x, C));
    HA_READING(v, at, H) assert_true(v.data[0] == 2 && v.data[4] == 5);
    SUCCEEDS(harray_double_unique(y, x, &count, C));
    HA_READING(v, y, H)
    assert_true(count == 3 && v.data[1] == 2 && v.data[2] == 3 && v.data[3] == 6);
    drop_array(mask.array), drop_array(counts.array), drop_array(at.array);
    drop_array(fewer.array), drop_array(y.array), drop_array(x.array);
}

/* Several blocks on devices; digits that all have, at the ends and between. */
TEST(long_ones) {
    enum { N = 10000 };
    static const uint32_t masks[] = {UINT32_MAX, 0xff, 0xff000000, 0x00ff0000, 0xff0000ff, 0};
    harray_uint32_t x = harray_uint32_t_new(N);
    harray_int32_t at = harray_int32_t_new(N);
    keep_array(x.array), keep_array(at.array);
    for (size_t k = 0; k < sizeof masks / sizeof *masks; k++) {
        static uint32_t before[N];
        HA_OVERWRITING(v, x, H, N)
        for (int i = 0; i < N; i++)
            v.data[i] = before[i] = (draw(1u << 31) * 2 + draw(2)) & masks[k];
        SUCCEEDS(ha_sorting(at, x, HA_ASCENDING, C));
        SUCCEEDS(ha_sort(x, HA_ASCENDING, C));
        HA_READING(v, x, H)
        HA_READING(w, at, H)
        for (int i = 0; i < N; i++) {
            assert_int_equal(v.data[i], before[w.data[i]]);
            if (i == 0) continue;
            assert_true(v.data[i - 1] <= v.data[i]);
            assert_true(v.data[i - 1] < v.data[i] || w.data[i - 1] < w.data[i]);
        }
    }
    drop_array(x.array), drop_array(at.array);
}

/* bool has an order, too: that of its bytes. */
TEST(sorted_bools) {
    enum { N = 7, TRUE = 3 };
    const int64_t n = N;
    const darray x = darray_new(HA_DTYPE_bool, 1, &n, C), y = darray_new(HA_DTYPE_bool, 1, &n, C);
    harray_int32_t at = harray_int32_t_new(N);
    const darray all = HA_DARRAY(at), first = darray_slice(all, 0, 0, 2, 1);
    int count;
    ha_dvalue v;
    keep_array(x.array), keep_array(y.array), keep_array(at.array);
    for (int64_t i = 0; i < N; i++) {
        SUCCEEDS(ha_dvalue_convert(ha_dvalue_of_int32_t(i % 3 == 0), HA_DTYPE_bool, &v));
        SUCCEEDS(darray_set(x, 1, &i, v));
    }
    SUCCEEDS(ha_sorting(at, x, HA_DESCENDING, C));
    HA_READING(w, at, H)
    for (int i = 0; i < N; i++)
        assert_int_equal(w.data[i], ((const int[N]){0, 3, 6, 1, 2, 4, 5})[i]);
    SUCCEEDS(ha_sort(x, HA_ASCENDING, C));
    for (int64_t i = 0; i < N; i++) {
        SUCCEEDS(darray_get(x, 1, &i, &v));
        assert_int_equal(v.bytes[0], i >= N - TRUE);
    }
    SUCCEEDS(ha_unique(y, x, &count, C));
    assert_int_equal(count, 2);
    SUCCEEDS(ha_upper_bound(first, x, darray_slice(y, 0, 0, 2, 1), C));
    HA_READING(w, at, H) assert_true(w.data[0] == N - TRUE && w.data[1] == N);
    drop_array(x.array), drop_array(y.array), drop_array(at.array);
}

/* What is read and what is written may be columns of one array. */
TEST(columns_of_one_array) {
    enum { N = 5 };
    static const int32_t given[2 * N] = {8, 0, 3, 1, 9, 2, 3, 3, 1, 4};
    static const int32_t order[N] = {4, 1, 3, 0, 2};
    const int64_t extent[] = {N, 2};
    const darray x = darray_of(HA_DTYPE_int32_t, 2, extent, given, C);
    const darray keys = darray_fix(x, 1, 0), other = darray_fix(x, 1, 1);
    ha_dvalue v;
    keep_array(x.array);
    SUCCEEDS(ha_sorting(other, keys, HA_ASCENDING, C));
    for (int64_t i = 0; i < N; i++) {
        SUCCEEDS(darray_get(other, 1, &i, &v));
        assert_int_equal(v.as_int32_t, order[i]);
        SUCCEEDS(darray_set(other, 1, &i, ha_dvalue_of_int32_t((int32_t)i)));
    }
    SUCCEEDS(ha_sort_by_key(keys, other, HA_ASCENDING, C));
    for (int64_t i = 0; i < N; i++) {
        SUCCEEDS(darray_get(keys, 1, &i, &v));
        assert_int_equal(v.as_int32_t, given[2 * order[i]]);
        SUCCEEDS(darray_get(other, 1, &i, &v));
        assert_int_equal(v.as_int32_t, order[i]);
    }
    drop_array(x.array);
}

/* Blocks of devices that are full, and one element more. */
TEST(full_blocks) {
    static const int64_t lengths[] = {1, HA_SORT_BLOCK - 1, HA_SORT_BLOCK, HA_SORT_BLOCK + 1,
                                      2 * HA_SORT_BLOCK};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        const int64_t n = lengths[k];
        harray_int16_t x = harray_int16_t_new((size_t)n);
        int64_t sum = 0;
        keep_array(x.array);
        HA_OVERWRITING(v, x, H, (size_t)n)
        for (int64_t i = 0; i < n; i++)
            sum += v.data[i] = (int16_t)((int)draw(UINT16_MAX) - INT16_MAX);
        SUCCEEDS(ha_sort(x, HA_DESCENDING, C));
        HA_READING(v, x, H)
        for (int64_t i = 0; i < n; i++) {
            sum -= v.data[i];
            assert_true(!i || v.data[i - 1] >= v.data[i]);
        }
        assert_true(sum == 0);
        drop_array(x.array);
    }
}

/* What is longer would be cut off. */
TEST(texts_have_room) {
    static ha_op_kernel k;
    for (int t = 0; t < SORTED_TYPES && C == H; t++)
        for (int upper = 0; upper < 2; upper++) {
            const ha_op_key key = {.type = ha_op_type_of(sorted_types[t]),
                                   .rank = HA_INDEX_RANK,
                                   .make = ha_bound_make,
                                   .of = {sizeof(uint64_t), upper}};
            ha_op_make(&k, &key);
            assert_true(strlen(k.text) < HA_OP_TEXT - 1 && strlen(k.name) < HA_OP_NAME - 1);
            assert_true(k.text[strlen(k.text) - 1] == '}');
        }
}

/* ---- what is refused ----------------------------------------------------------------------------- */

static void refused(ha_status expected, ha_status got, const char *part, const char *second) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, expected);
    if (!strstr(e.text, part) || !strstr(e.text, second))
        fail_msg("\"%s\" does not say \"%s\", \"%s\"", e.text, part, second);
}
#define ARGUMENT(call, part, second) refused(HA_ERR_ARGUMENT, call, part, second)

TEST(refused_arguments) {
    harray_double x = keep(harray_double_filled(10, 1)), y = keep(harray_double_filled(6, 2));
    harray_c64 c = harray_c64_filled(10, (ha_c64){1, 0});
    harray_int32_t at = harray_int32_t_filled(10, 3), keys = harray_int32_t_filled(6, 5);
    int count = 7;
    keep_array(c.array), keep_array(at.array), keep_array(keys.array);
    ha_array_set_name(at.array, "places");
    const darray grid = darray_reshape(HA_DARRAY(x), 2, (int64_t[]){2, 5});
    const darray same = darray_broadcast(darray_slice(HA_DARRAY(x), 0, 0, 1, 1), 1, (int64_t[]){9});
    const darray numbers = darray_broadcast(darray_slice(HA_DARRAY(at), 0, 0, 1, 1), 1,
                                            (int64_t[]){10});
    ARGUMENT(ha_sort(c, HA_ASCENDING, C), "no order", "c64");
    ARGUMENT(ha_sort(grid, HA_ASCENDING, C), "one dimension", "double");
    ARGUMENT(ha_sort(same, HA_ASCENDING, C), "repeats elements", "double");
    ARGUMENT(ha_sorting(at, y, HA_ASCENDING, C), "the extents are not the same", "places");
    ARGUMENT(ha_sorting(x, x, HA_ASCENDING, C), "an index is of", "double");
    ARGUMENT(ha_sorting(at, at, HA_ASCENDING, C), "elements of an argument", "and x, int32_t (10)");
    ARGUMENT(ha_sorting(numbers, x, HA_ASCENDING, C), "repeats elements", "places");
    ARGUMENT(ha_sorting(at, c, HA_ASCENDING, C), "no order", "c64");
    ARGUMENT(ha_sort_by_key(keys, x, HA_ASCENDING, C), "not as many values as keys", "int32_t");
    ARGUMENT(ha_sort_by_key(at, at, HA_ASCENDING, C), "elements of an argument",
             "and values, int32_t (10)");
    ARGUMENT(ha_sort_by_key(same, x, HA_ASCENDING, C), "repeats elements", "double");
    ARGUMENT(ha_sort_by_key(at, same, HA_ASCENDING, C), "repeats elements", "double");
    const darray goods = darray_new(HA_DTYPE_int32_t, 1, (int64_t[]){6}, C);
    keep_array(goods.array);
    ha_array_set_name(goods.array, "goods");
    if (!is_fake(C)) /* which sorts the keys first */
        refused(HA_ERR_STATE, ha_sort_by_key(keys, goods, HA_ASCENDING, C), ": x: array 'goods'",
                "were never written");
    ARGUMENT(ha_unique(x, c, &count, C), "types are not the same",
             "y, double (10), and x, c64 (10)");
    ARGUMENT(ha_unique(x, x, &count, C), "elements of an argument", "double");
    ARGUMENT(ha_unique(y, grid, &count, C), "one dimension", "double");
    ARGUMENT(ha_lower_bound(at, y, c, C), "types are not the same", "c64");
    ARGUMENT(ha_lower_bound(keys, y, x, C), "the extents are not the same", "int32_t");
    ARGUMENT(ha_lower_bound(at, grid, x, C), "one dimension", "double");
    ARGUMENT(ha_upper_bound(at, at, at, C), "elements of an argument", "and values, int32_t (10)");
    ARGUMENT(ha_lower_bound(numbers, y, x, C), "repeats elements", "places");
    ARGUMENT(ha_lower_bound(x, y, x, C), "an index is of", "double");
    ARGUMENT(ha_lower_bound(at, c, c, C), "no order", "c64");
    ARGUMENT(ha_unique(same, y, &count, C), "repeats elements", "double");
    ARGUMENT(ha_unique(grid, y, &count, C), "one dimension", "double");
    ARGUMENT(ha_unique(y, x, (int *)NULL, C), "the pointer to the count is NULL", "");
    /* More elements than numbers of the type count, all of which are one. */
    const darray all = HA_DARRAY(x), one = darray_slice(all, 0, 0, 1, 1);
    const darray most = darray_broadcast(one, 1, (int64_t[]){(int64_t)INT32_MAX + 1});
    const darray more = darray_broadcast(one, 1, (int64_t[]){(int64_t)UINT32_MAX + 1});
    harray_uint32_t unfit = harray_uint32_t_filled(10, 3);
    keep_array(unfit.array);
    ARGUMENT(ha_lower_bound(at, most, x, C), "the numbers of 2147483648 elements", "places");
    ARGUMENT(ha_lower_bound(unfit, more, x, C), "the numbers of 4294967296 elements", "uint32_t");
    drop_array(unfit.array);
    assert_int_equal(count, 7);
    HA_READING(v, at, H) for (int i = 0; i < 10; i++) assert_int_equal(v.data[i], 3);
    /* One of two that cannot be opened: neither is changed. */
    HA_WRITING(v, keys, H) for (int i = 0; i < 6; i++) v.data[i] = 6 - i;
    HA_READING(v, y, H) {
        if (C != H) {
            const ha_status s = ha_sort_by_key(keys, y, HA_ASCENDING, C);
            assert_int_equal(s, HA_ERR_CONFLICT);
            assert_string_equal(ha_take_error().operation, "ha_sort_by_key");
        }
    }
    HA_READING(v, keys, H) for (int i = 0; i < 6; i++) assert_int_equal(v.data[i], 6 - i);
    drop(x), drop(y);
    drop_array(c.array), drop_array(at.array), drop_array(keys.array);
    drop_array(goods.array);
}

/* The error that is kept is an older one: it stays as it is, and the status is not its. */
TEST(older_errors) {
    harray_double x = keep(harray_double_filled(4, 1)), y = keep(harray_double_filled(4, 2));
    int count = 7;
    for (int call = 0; call < 3 && C == H; call++) {
        assert_int_equal(ha_sort(x, (ha_sort_order)call, C), HA_ERR_ARGUMENT);
        ha_op_kernels_end();
        until_failure = 0;
        const ha_status s = call == 0   ? ha_sort(x, HA_ASCENDING, C)
                            : call == 1 ? ha_sort_by_key(x, y, HA_ASCENDING, C)
                                        : ha_unique(y, x, &count, C);
        until_failure = -1;
        assert_int_equal(s, HA_ERR_MEMORY);
        const ha_error e = ha_take_error();
        assert_int_equal(e.status, HA_ERR_ARGUMENT);
        assert_string_equal(e.operation, "ha_sort");
    }
    assert_int_equal(count, 7);
    drop(x), drop(y);
}

/* Each allocation in turn; afterwards all is as it was, and the same call succeeds. So many that they need room, too. */
static int failures_of(int call, int64_t length) {
    enum { MOST = 20000 };
    static int16_t keys[MOST];
    int failures = 0, count = 0;
    const size_t n = (size_t)length;
    for (size_t i = 0; i < n; i++) keys[i] = (int16_t)((int)draw(UINT16_MAX) - INT16_MAX);
    for (int until = 0;; until++) {
        harray_int16_t x = harray_int16_t_of(n, keys), y = harray_int16_t_filled(n, 4);
        harray_int32_t at = harray_int32_t_filled(n, 9);
        ha_op_kernels_end(); /* they are made again */
        until_failure = until;
        const ha_status s = call == 0   ? ha_sort(x, HA_ASCENDING, C)
                            : call == 1 ? ha_sorting(at, x, HA_ASCENDING, C)
                            : call == 2 ? ha_sort_by_key(x, at, HA_ASCENDING, C)
                            : call == 3 ? ha_sort_by_key(x, y, HA_ASCENDING, C)
                            : call == 4 ? ha_unique(y, x, &count, C)
                                        : ha_lower_bound(at, x, x, C);
        const int all = until_failure >= 0;
        until_failure = -1;
        failures += s != HA_OK;
        if (s) {
            assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
            HA_READING(v, x, H) assert_memory_equal(v.data, keys, n * sizeof *keys);
            HA_READING(v, at, H) for (size_t i = 0; i < n; i++) assert_int_equal(v.data[i], 9);
        }
        SUCCEEDS(harray_int16_t_free(&x));
        SUCCEEDS(harray_int16_t_free(&y));
        SUCCEEDS(harray_int32_t_free(&at));
        if (!s && all) return failures;
    }
}

TEST(without_memory) {
    static const int64_t lengths[] = {6, 20000};
    for (int call = 0; call < 6 && C == H; call++)
        for (int i = 0; i < 2; i++) assert_true(failures_of(call, lengths[i]) > 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        OPERATIONS(sorted),          OPERATIONS(every_loop_of_sorting), OPERATIONS(many),
        OPERATIONS(bounds),          OPERATIONS(eight_dimensions),      OPERATIONS(some_once),
        OPERATIONS(each_once),       OPERATIONS(typed_forms),           OPERATIONS(long_ones),
        OPERATIONS(sorted_bools),    OPERATIONS(columns_of_one_array),  OPERATIONS(full_blocks),
        OPERATIONS(texts_have_room), OPERATIONS(refused_arguments),     OPERATIONS(older_errors),
        OPERATIONS(without_memory),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
