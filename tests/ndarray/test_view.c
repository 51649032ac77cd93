/* Views: each function with literal numbers, and each refusal with what it says.
 * test_view_chains.c has chains of them at random, arrays/cases_array_accesses.c accesses to them. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/refusals.h"

#define LIST(...) ((const int64_t[HA_MOST_RANK]){__VA_ARGS__})

static void numbers_are(int rank, const int64_t *actual, const int64_t *expected) {
    for (int d = 0; d < HA_MOST_RANK; d++) assert_int_equal(actual[d], d < rank ? expected[d] : 0);
}

static void view_is(darray x, int rank, int64_t offset, const int64_t *extent,
                    const int64_t *stride, const int64_t *origin) {
    const ha_error e = ha_take_error();
    if (e.status) print_error("%s: %s\n", e.operation, e.text);
    assert_non_null(x.array);
    assert_int_equal(x.rank, rank);
    assert_int_equal(x.offset, offset);
    numbers_are(rank, x.extent, extent);
    numbers_are(rank, x.stride, stride);
    numbers_are(rank, x.origin, origin);
    assert_int_equal(e.status, HA_OK);
}

/* The call gives none, and says all of these. */
static void is_refused(darray x, ha_status status, const char *operation, const char *one,
                       const char *other) {
    const ha_error e = ha_take_error();
    const darray none = {.rank = 0};
    assert_memory_equal(&x, &none, sizeof x);
    assert_int_equal(e.status, status);
    assert_string_equal(e.operation, operation);
    if (!strstr(e.text, one) || !strstr(e.text, other)) {
        print_error("not said: '%s' '%s' in: %s\n", one, other, e.text);
        fail();
    }
}

#define NO_VIEW(operation, one, other, x) is_refused(x, HA_ERR_ARGUMENT, operation, one, other)

static void is_no(const void *array, const char *one, const char *two) {
    const ha_error e = ha_take_error();
    assert_null(array);
    assert_int_equal(e.status, HA_ERR_ARGUMENT);
    assert_non_null(strstr(e.text, one));
    assert_non_null(strstr(e.text, two));
}

/* The arrays of most tests: 3 x 4, and 2 x 3 x 4 with ghost cells around it (4 x 5 x 6). */
static darray flat, ghosts;

static int make_arrays(void **state) {
    const ha_shape shape = {
        .rank = 3, .extent = {2, 3, 4}, .ghost_low = {1, 1, 1}, .ghost_high = {1, 1, 1}};
    (void)state;
    flat = darray_new(HA_DTYPE_double, 2, LIST(3, 4), NULL);
    ghosts = darray_make(HA_DTYPE_float, &shape, NULL);
    ha_array_set_name(flat.array, "flat");
    return !flat.array || !ghosts.array;
}

static int free_arrays(void **state) {
    (void)state;
    return darray_free(&flat) != HA_OK || darray_free(&ghosts) != HA_OK ||
           ha_take_error().status != HA_OK;
}

/* ---- one dimension -------------------------------------------------------------------------- */

TEST(slice) {
    const int64_t all = HA_ALL;
    view_is(flat, 2, 0, LIST(3, 4), LIST(4, 1), LIST(0, 0));
    view_is(darray_slice(flat, 1, 1, 3, 1), 2, 1, LIST(3, 2), LIST(4, 1), LIST(0, 0));
    view_is(darray_slice(flat, 1, 0, 4, 2), 2, 0, LIST(3, 2), LIST(4, 2), LIST(0, 0));
    view_is(darray_slice(flat, 1, 0, 3, 2), 2, 0, LIST(3, 2), LIST(4, 2), LIST(0, 0));
    view_is(darray_slice(flat, 1, 1, all, 2), 2, 1, LIST(3, 2), LIST(4, 2), LIST(0, 0));
    view_is(darray_slice(flat, 1, all, all, 3), 2, 0, LIST(3, 2), LIST(4, 3), LIST(0, 0));
    view_is(darray_slice(flat, 1, all, all, -1), 2, 3, LIST(3, 4), LIST(4, -1), LIST(0, 0));
    view_is(darray_slice(flat, 1, all, all, -2), 2, 3, LIST(3, 2), LIST(4, -2), LIST(0, 0));
    view_is(darray_slice(flat, 1, 2, all, -1), 2, 2, LIST(3, 3), LIST(4, -1), LIST(0, 0));
    view_is(darray_slice(flat, 1, 2, -1, -1), 2, 2, LIST(3, 3), LIST(4, -1), LIST(0, 0));
    view_is(darray_slice(flat, 1, 3, 1, -1), 2, 3, LIST(3, 2), LIST(4, -1), LIST(0, 0));
    view_is(darray_slice(flat, 0, 2, 0, -2), 2, 8, LIST(1, 4), LIST(4, 1), LIST(0, 0));
}

TEST(steps_longer_than_what_there_is) {
    view_is(darray_slice(flat, 0, 1, HA_ALL, INT64_MAX), 2, 4, LIST(1, 4), LIST(4, 1), LIST(0, 0));
    view_is(darray_slice(flat, 0, 1, HA_ALL, INT64_MIN), 2, 4, LIST(1, 4), LIST(4, 1), LIST(0, 0));
    view_is(darray_slice(flat, 1, 0, 4, 3), 2, 0, LIST(3, 2), LIST(4, 3), LIST(0, 0));
    view_is(darray_slice(flat, 1, 0, 4, 4), 2, 0, LIST(3, 1), LIST(4, 1), LIST(0, 0));
}

TEST(slices_without_elements) {
    view_is(darray_slice(flat, 1, 2, 2, 1), 2, 0, LIST(3, 0), LIST(4, 1), LIST(0, 0));
    view_is(darray_slice(flat, 1, 4, HA_ALL, 1), 2, 0, LIST(3, 0), LIST(4, 1), LIST(0, 0));
    view_is(darray_slice(flat, 1, -1, -1, -1), 2, 0, LIST(3, 0), LIST(4, 1), LIST(0, 0));
    view_is(darray_slice(flat, 1, 3, 3, -5), 2, 0, LIST(3, 0), LIST(4, 1), LIST(0, 0));
    darray none = darray_slice(flat, 1, 2, 2, 1);
    view_is(darray_slice(none, 1, HA_ALL, HA_ALL, -1), 2, 0, LIST(3, 0), LIST(4, 1), LIST(0, 0));
    assert_int_equal(darray_size(none), 0);
    NO_VIEW("darray_fix", "0 in dimension 1", "0 to -1", darray_fix(none, 1, 0));
}

TEST(slices_that_are_refused) {
    const char *const name = "darray_slice";
    NO_VIEW(name, "double (3, 4) of array 'flat'", "steps of 0", darray_slice(flat, 1, 0, 4, 0));
    NO_VIEW(name, "0 to before 5 of dimension 1", "0 to 3", darray_slice(flat, 1, 0, 5, 1));
    NO_VIEW(name, "-1 to before 4 of dimension 1", "0 to 3", darray_slice(flat, 1, -1, 4, 1));
    NO_VIEW(name, "-1 to before 4", "0 to 3", darray_slice(flat, 1, -1, HA_ALL, 1));
    NO_VIEW(name, "4 to before 0 of dimension 1", "0 to 3", darray_slice(flat, 1, 4, 0, -1));
    NO_VIEW(name, "3 to before -2 of dimension 1", "0 to 3", darray_slice(flat, 1, 3, -2, -1));
    NO_VIEW(name, "from 2 to 1", "no step of 1", darray_slice(flat, 1, 2, 1, 1));
    NO_VIEW(name, "from 1 to 2", "no step of -1", darray_slice(flat, 1, 1, 2, -1));
    NO_VIEW(name, "0 to before 9223372036854775807", "", darray_slice(flat, 1, 0, INT64_MAX, 1));
    NO_VIEW(name, "no dimension 2", "flat", darray_slice(flat, 2, 0, 1, 1));
    NO_VIEW(name, "no dimension -1", "flat", darray_slice(flat, -1, 0, 1, 1));
}

TEST(indices_from_the_last) {
    const int64_t all = HA_ALL, last = HA_LAST;
    ha_dvalue value;
    view_is(darray_slice(flat, 1, 1, last, 1), 2, 1, LIST(3, 2), LIST(4, 1), LIST(0, 0));
    view_is(darray_slice(flat, 1, last - 1, last + 1, 1), 2, 2, LIST(3, 2), LIST(4, 1), LIST(0, 0));
    view_is(darray_slice(flat, 1, last, all, -1), 2, 3, LIST(3, 4), LIST(4, -1), LIST(0, 0));
    view_is(darray_slice(flat, 1, last, last - 2, -1), 2, 3, LIST(3, 2), LIST(4, -1), LIST(0, 0));
    view_is(darray_fix(flat, 0, last - 2), 1, 0, LIST(4), LIST(1), LIST(0));
    view_is(darray_fix(ghosts, 1, last), 2, 24, LIST(4, 6), LIST(30, 1), LIST(-1, -1));
    view_is(darray_part(ghosts, LIST(0, 0, last), LIST(last, last, last + 1)), 3, 41, LIST(2, 3, 1),
            LIST(30, 6, 1), LIST(0, 0, 0));
    NO_VIEW("darray_fix", "-1 in dimension 0", "0 to 2", darray_fix(flat, 0, last - 3));
    NO_VIEW("darray_slice", "0 to before 5 of dimension 1", "",
            darray_slice(flat, 1, 0, last + 2, 1));
    NO_VIEW("darray_fix", "in dimension 0", "0 to 2", darray_fix(flat, 0, last - last / 2));
    NO_VIEW("darray_fix", "in dimension 0", "0 to 2", darray_fix(flat, 0, last + last / 2));
    assert_int_equal(darray_set(ghosts, 3, LIST(last, last - 1, -1), ha_dvalue_of_float(7)), HA_OK);
    assert_int_equal(darray_get(ghosts, 3, LIST(2, 2, last - 5), &value), HA_OK);
    assert_true(value.as_float == 7);
    assert_int_equal(darray_get(ghosts, 3, LIST(2, 2, last - 6), &value), HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "indices of dimension 2 are -1 to 4"));
}

TEST(indices_of_dimensions_that_go_that_far) {
    darray x = darray_broadcast(darray_fix(darray_fix(flat, 0, 0), 0, 3), 1, LIST(HA_LAST / 2 + 2));
    view_is(darray_fix(x, 0, HA_LAST / 2 + 1), 0, 3, LIST(0), LIST(0), LIST(0));
    NO_VIEW("darray_fix", "in dimension 0", "", darray_fix(x, 0, HA_LAST));
    x.extent[0]--;
    view_is(darray_fix(x, 0, HA_LAST / 2), 0, 3, LIST(0), LIST(0), LIST(0));
    NO_VIEW("darray_fix", "in dimension 0", "", darray_fix(x, 0, HA_LAST));
    x.extent[0]--;
    view_is(darray_fix(x, 0, HA_LAST), 0, 3, LIST(0), LIST(0), LIST(0));
    NO_VIEW("darray_fix", "in dimension 0", "", darray_fix(x, 0, HA_LAST + 1));
}

TEST(shell) {
    darray side[6], column = darray_broadcast(darray_fix(flat, 1, 0), 2, LIST(4, 3));
    const int64_t all = HA_ALL, last = HA_LAST;
    assert_int_equal(darray_shell(ghosts, LIST(0, 0, 0), LIST(last, last, last), side), HA_OK);
    view_is(side[0], 3, 0, LIST(1, 5, 6), LIST(30, 6, 1), LIST(-1, -1, -1));
    view_is(side[1], 3, 90, LIST(1, 5, 6), LIST(30, 6, 1), LIST(2, -1, -1));
    view_is(side[2], 3, 30, LIST(2, 1, 6), LIST(30, 6, 1), LIST(0, -1, -1));
    view_is(side[3], 3, 54, LIST(2, 1, 6), LIST(30, 6, 1), LIST(0, 3, -1));
    view_is(side[4], 3, 36, LIST(2, 3, 1), LIST(30, 6, 1), LIST(0, 0, -1));
    view_is(side[5], 3, 41, LIST(2, 3, 1), LIST(30, 6, 1), LIST(0, 0, 4));
    assert_int_equal(darray_shell(flat, LIST(1, all), LIST(3, all), side), HA_OK);
    view_is(side[0], 2, 0, LIST(1, 4), LIST(4, 1), LIST(0, 0));
    for (int i = 1; i < 4; i++) assert_int_equal(darray_size(side[i]), 0);
    assert_int_equal(darray_shell(column, LIST(1, 1), LIST(4, 2), side), HA_OK);
    view_is(side[2], 2, 0, LIST(3, 1), LIST(0, 4), LIST(1, 0));
    view_is(side[3], 2, 8, LIST(3, 1), LIST(0, 4), LIST(1, 2));
    assert_int_equal(darray_shell(flat, LIST(2, 1), LIST(2, 1), side), HA_OK); /* around nothing */
    assert_int_equal(darray_size(side[0]) + darray_size(side[1]), 12);
}

static void no_shell(darray x, const int64_t *low, const int64_t *high, const char *text) {
    darray side[6];
    memset(side, 1, sizeof side);
    assert_int_equal(darray_shell(x, low, high, side), HA_ERR_ARGUMENT);
    const ha_error e = ha_take_error();
    assert_string_equal(e.operation, "darray_shell");
    if (!strstr(e.text, text)) fail_msg("%s", e.text);
    if (x.rank == 2)
        for (int i = 0; i < 4; i++) assert_null(side[i].array);
}

TEST(shells_that_are_refused) {
    darray forged = flat, none = {.rank = 2};
    no_shell(flat, LIST(0, 0), LIST(3, 5), "0 to before 5 of dimension 1");
    no_shell(flat, LIST(2, 0), LIST(1, 4), "no step of 1 leads from 2 to 1 in dimension 0");
    no_shell(flat, NULL, LIST(1, 4), "NULL");
    no_shell(none, LIST(0, 0), LIST(1, 4), "no array");
    forged.rank = 99;
    no_shell(forged, LIST(0, 0), LIST(1, 4), "rank of 99");
    assert_int_equal(darray_shell(flat, LIST(0, 0), LIST(1, 1), NULL), HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "no place for the sides"));
}

TEST(part) {
    view_is(darray_part(flat, LIST(1, 2), LIST(3, 4)), 2, 6, LIST(2, 2), LIST(4, 1), LIST(0, 0));
    view_is(darray_part(flat, LIST(1, HA_ALL), LIST(3, 2)), 2, 4, LIST(2, 2), LIST(4, 1),
            LIST(0, 0));
    view_is(darray_part(ghosts, LIST(0, HA_ALL, 3), LIST(HA_ALL, HA_ALL, 5)), 3, 34, LIST(3, 5, 2),
            LIST(30, 6, 1), LIST(0, -1, 0));
    view_is(darray_part(flat, LIST(1, 1), LIST(1, 4)), 2, 0, LIST(0, 3), LIST(4, 1), LIST(0, 0));
    NO_VIEW("darray_part", "1 to before 4 of dimension 0", "0 to 2",
            darray_part(flat, LIST(1, 0), LIST(4, 4)));
    NO_VIEW("darray_part", "no step of 1 leads from 2 to 1", "in dimension 1",
            darray_part(flat, LIST(0, 2), LIST(3, 1)));
    NO_VIEW("darray_part", "NULL", "flat", darray_part(flat, NULL, LIST(3, 1)));
    NO_VIEW("darray_part", "NULL", "flat", darray_part(flat, LIST(3, 1), NULL));
}

TEST(fix) {
    view_is(darray_fix(flat, 0, 2), 1, 8, LIST(4), LIST(1), LIST(0));
    view_is(darray_fix(flat, 1, 3), 1, 3, LIST(3), LIST(4), LIST(0));
    view_is(darray_fix(darray_fix(flat, 1, 3), 0, 1), 0, 7, LIST(0), LIST(0), LIST(0));
    view_is(darray_fix(ghosts, 0, -1), 2, 0, LIST(5, 6), LIST(6, 1), LIST(-1, -1));
    view_is(darray_fix(ghosts, 1, 3), 2, 24, LIST(4, 6), LIST(30, 1), LIST(-1, -1));
    NO_VIEW("darray_fix", "3 in dimension 0", "0 to 2", darray_fix(flat, 0, 3));
    NO_VIEW("darray_fix", "-1 in dimension 0", "0 to 2", darray_fix(flat, 0, -1));
    NO_VIEW("darray_fix", "4 in dimension 1", "-1 to 3", darray_fix(ghosts, 1, 4));
    NO_VIEW("darray_fix", "no dimension 2", "flat", darray_fix(flat, 2, 0));
}

TEST(flip) {
    view_is(darray_flip(flat, 0), 2, 8, LIST(3, 4), LIST(-4, 1), LIST(0, 0));
    view_is(darray_flip(darray_flip(flat, 0), 1), 2, 11, LIST(3, 4), LIST(-4, -1), LIST(0, 0));
    view_is(darray_flip(darray_flip(flat, 0), 0), 2, 0, LIST(3, 4), LIST(4, 1), LIST(0, 0));
    view_is(darray_flip(ghosts, 1), 3, 24, LIST(4, 5, 6), LIST(30, -6, 1), LIST(-1, 0, -1));
    NO_VIEW("darray_flip", "no dimension 2", "flat", darray_flip(flat, 2));
}

TEST(expand) {
    const darray line = darray_fix(flat, 0, 1);
    view_is(darray_expand(line, 0), 2, 4, LIST(1, 4), LIST(4, 1), LIST(0, 0));
    view_is(darray_expand(line, 1), 2, 4, LIST(4, 1), LIST(1, 1), LIST(0, 0));
    view_is(darray_expand(flat, 1), 3, 0, LIST(3, 1, 4), LIST(4, 4, 1), LIST(0, 0, 0));
    view_is(darray_expand(ghosts, 3), 4, 0, LIST(4, 5, 6, 1), LIST(30, 6, 1, 1),
            LIST(-1, -1, -1, 0));
    assert_true(darray_is_contiguous(darray_expand(flat, 1), HA_ROW_MAJOR));
    NO_VIEW("darray_expand", "no place 3", "flat", darray_expand(flat, 3));
    NO_VIEW("darray_expand", "no place -1", "flat", darray_expand(flat, -1));
    darray many = flat;
    while (many.rank < HA_MOST_RANK) many = darray_expand(many, 0);
    NO_VIEW("darray_expand", "8 dimensions", "the most", darray_expand(many, 0));
}

/* ---- several dimensions --------------------------------------------------------------------- */

TEST(permute) {
    view_is(darray_transpose(flat), 2, 0, LIST(4, 3), LIST(1, 4), LIST(0, 0));
    view_is(darray_permute(ghosts, LIST(2, 0, 1)), 3, 0, LIST(6, 4, 5), LIST(1, 30, 6),
            LIST(-1, -1, -1));
    view_is(darray_permute(darray_with_origin(flat, LIST(5, 6)), LIST(1, 0)), 2, 0, LIST(4, 3),
            LIST(1, 4), LIST(6, 5));
    NO_VIEW("darray_permute", "(0, 0)", "no order", darray_permute(flat, LIST(0, 0)));
    NO_VIEW("darray_permute", "(0, 2)", "no order", darray_permute(flat, LIST(0, 2)));
    NO_VIEW("darray_permute", "(-1, 1)", "no order", darray_permute(flat, LIST(-1, 1)));
    NO_VIEW("darray_permute", "NULL", "flat", darray_permute(flat, NULL));
}

TEST(diagonal) {
    view_is(darray_diagonal(flat, 0, 1, 0), 1, 0, LIST(3), LIST(5), LIST(0));
    view_is(darray_diagonal(flat, 0, 1, 1), 1, 1, LIST(3), LIST(5), LIST(0));
    view_is(darray_diagonal(flat, 0, 1, 2), 1, 2, LIST(2), LIST(5), LIST(0));
    view_is(darray_diagonal(flat, 0, 1, 3), 1, 3, LIST(1), LIST(4), LIST(0));
    view_is(darray_diagonal(flat, 0, 1, 4), 1, 0, LIST(0), LIST(4), LIST(0));
    view_is(darray_diagonal(flat, 0, 1, -1), 1, 4, LIST(2), LIST(5), LIST(0));
    view_is(darray_diagonal(flat, 0, 1, -3), 1, 0, LIST(0), LIST(4), LIST(0));
    view_is(darray_diagonal(flat, 1, 0, 1), 1, 4, LIST(2), LIST(5), LIST(0));
    view_is(darray_diagonal(ghosts, 0, 2, 0), 2, 0, LIST(5, 4), LIST(6, 31), LIST(-1, 0));
    view_is(darray_diagonal(darray_flip(flat, 1), 0, 1, 0), 1, 3, LIST(3), LIST(3), LIST(0));
    NO_VIEW("darray_diagonal", "no diagonal 5", "0 and 1", darray_diagonal(flat, 0, 1, 5));
    NO_VIEW("darray_diagonal", "no diagonal -4", "0 and 1", darray_diagonal(flat, 0, 1, -4));
    NO_VIEW("darray_diagonal", "two dimensions", "flat", darray_diagonal(flat, 1, 1, 0));
    NO_VIEW("darray_diagonal", "no dimension 2", "flat", darray_diagonal(flat, 0, 2, 0));
    NO_VIEW("darray_diagonal", "no dimension -1", "flat", darray_diagonal(flat, -1, 0, 0));
}

TEST(origins) {
    view_is(darray_with_origin(flat, LIST(-3, 7)), 2, 0, LIST(3, 4), LIST(4, 1), LIST(-3, 7));
    view_is(darray_fix(darray_with_origin(flat, LIST(-3, 7)), 1, 9), 1, 2, LIST(3), LIST(4),
            LIST(-3));
    view_is(darray_slice(darray_with_origin(flat, LIST(-3, 7)), 1, 8, 10, 1), 2, 1, LIST(3, 2),
            LIST(4, 1), LIST(-3, 0));
    const int64_t far = INT64_MAX / 64; /* 4 elements of 8 bytes from one to the next */
    view_is(darray_with_origin(flat, LIST(-far, far)), 2, 0, LIST(3, 4), LIST(4, 1),
            LIST(-far, far));
    NO_VIEW("darray_with_origin", "too far from 0 for strides (4, 1)", "flat",
            darray_with_origin(flat, LIST(2 * far, 0)));
    NO_VIEW("darray_with_origin", "too far from 0", "flat",
            darray_with_origin(flat, LIST(0, -16 * far)));
    NO_VIEW("darray_with_origin", "too far from 0", "flat",
            darray_with_origin(flat, LIST(HA_ALL + 1, INT64_MAX - 4)));
    NO_VIEW("darray_with_origin", "does not fit", "", darray_with_origin(flat, LIST(0, HA_ALL)));
    NO_VIEW("darray_with_origin", "does not fit", "",
            darray_with_origin(flat, LIST(INT64_MAX - 2, 0)));
    NO_VIEW("darray_with_origin", "NULL", "flat", darray_with_origin(flat, NULL));
}

/* Whatever it is; what was refused stays so. */
TEST(any_array_as_a_darray) {
    array_double_2 a = array_double_2_zeros(HA_DIM(3, 4), ha_host()), none = {.offset = 0};
    harray_float flat_one = harray_float_zeros(5);
    darray d = HA_DARRAY(array_double_2_transpose(a));
    assert_ptr_equal(d.array, a.array);
    assert_int_equal(d.type, HA_DTYPE_double);
    view_is(d, 2, 0, LIST(4, 3), LIST(1, 4), LIST(0, 0));
    view_is(HA_DARRAY(d), 2, 0, LIST(4, 3), LIST(1, 4), LIST(0, 0));
    d = HA_DARRAY(flat_one);
    assert_int_equal(d.type, HA_DTYPE_float);
    view_is(d, 1, 0, LIST(5), LIST(1), LIST(0));
    assert_null(HA_DARRAY(none).array);
    assert_int_equal(array_double_2_free(&a), HA_OK);
    assert_int_equal(harray_float_free(&flat_one), HA_OK);
}

TEST(interior) {
    view_is(darray_interior(ghosts), 3, 37, LIST(2, 3, 4), LIST(30, 6, 1), LIST(0, 0, 0));
    view_is(darray_interior(flat), 2, 0, LIST(3, 4), LIST(4, 1), LIST(0, 0));
    view_is(darray_interior(darray_with_origin(flat, LIST(2, -2))), 2, 0, LIST(3, 0), LIST(4, 1),
            LIST(2, 0));
    const ha_shape uneven = {2, {4, 4}, .ghost_low = {1, 0}, .ghost_high = {1, 2}};
    darray more_behind = darray_make(HA_DTYPE_float, &uneven, ha_host());
    NO_VIEW("darray_interior", "not as many at both ends", "darray_part",
            darray_interior(more_behind));
    darray copied = more_behind; /* of its storage, and so the same elements */
    copied.array = ha_array_copy(more_behind.array);
    NO_VIEW("darray_interior", "not as many at both ends", "darray_part", darray_interior(copied));
    assert_int_equal(darray_free(&copied), HA_OK);
    assert_int_equal(darray_free(&more_behind), HA_OK);
    const ha_shape line = {1, {5}, .ghost_low = {1}, .ghost_high = {2}}; /* without a grid, too */
    more_behind = darray_make(HA_DTYPE_float, &line, ha_host());
    NO_VIEW("darray_interior", "not as many at both ends", "darray_part",
            darray_interior(more_behind));
    assert_int_equal(darray_free(&more_behind), HA_OK);
    const ha_shape even = {1, {5}, .ghost_low = {2}, .ghost_high = {2}};
    darray as_many = darray_make(HA_DTYPE_float, &even, ha_host());
    view_is(darray_interior(as_many), 1, 2, LIST(5), LIST(1), LIST(0));
    assert_int_equal(darray_free(&as_many), HA_OK);
    NO_VIEW("darray_interior", "dimension 1", "twice 3",
            darray_interior(darray_with_origin(flat, LIST(0, -3))));
}

/* ---- reshaping ------------------------------------------------------------------------------ */

TEST(reshape) {
    view_is(darray_reshape(flat, 1, LIST(12)), 1, 0, LIST(12), LIST(1), LIST(0));
    view_is(darray_reshape(flat, 3, LIST(2, 3, 2)), 3, 0, LIST(2, 3, 2), LIST(6, 2, 1),
            LIST(0, 0, 0));
    view_is(darray_reshape(flat, 4, LIST(1, 6, 1, 2)), 4, 0, LIST(1, 6, 1, 2), LIST(12, 2, 2, 1),
            LIST(0, 0, 0, 0));
    view_is(darray_flatten(ghosts), 1, 0, LIST(120), LIST(1), LIST(0));
    view_is(darray_reshape(darray_fix(darray_fix(flat, 0, 1), 0, 2), 2, LIST(1, 1)), 2, 6,
            LIST(1, 1), LIST(1, 1), LIST(0, 0));
    view_is(darray_reshape(darray_part(flat, LIST(1, 1), LIST(2, 2)), 0, NULL), 0, 5, LIST(0),
            LIST(0), LIST(0));
}

TEST(reshape_of_what_is_not_contiguous) {
    const darray columns = darray_slice(flat, 1, 0, 4, 2); /* 3 x 2, strides 4, 2: one run */
    const darray left = darray_slice(flat, 1, 0, 3, 1);    /* 3 x 3, strides 4, 1 */
    view_is(darray_reshape(columns, 1, LIST(6)), 1, 0, LIST(6), LIST(2), LIST(0));
    view_is(darray_reshape(columns, 2, LIST(2, 3)), 2, 0, LIST(2, 3), LIST(6, 2), LIST(0, 0));
    view_is(darray_reshape(left, 3, LIST(3, 1, 3)), 3, 0, LIST(3, 1, 3), LIST(4, 3, 1),
            LIST(0, 0, 0));
    view_is(darray_reshape(darray_slice(ghosts, 2, 0, 3, 1), 3, LIST(2, 10, 3)), 3, 1,
            LIST(2, 10, 3), LIST(60, 6, 1), LIST(0, 0, 0));
    view_is(darray_reshape(darray_flip(darray_flip(flat, 0), 1), 1, LIST(12)), 1, 11, LIST(12),
            LIST(-1), LIST(0));
    view_is(darray_reshape(darray_transpose(flat), 3, LIST(2, 2, 3)), 3, 0, LIST(2, 2, 3),
            LIST(2, 1, 4), LIST(0, 0, 0));
    view_is(
        darray_reshape(darray_broadcast(darray_fix(flat, 0, 1), 3, LIST(2, 3, 4)), 2, LIST(6, 4)),
        2, 4, LIST(6, 4), LIST(0, 1), LIST(0, 0));
    NO_VIEW("darray_reshape", "strides (4, 1)", "(9) in this order without a copy",
            darray_reshape(left, 1, LIST(9)));
    NO_VIEW("darray_reshape", "double (3, 3) of array 'flat'", "make a contiguous one",
            darray_flatten(left));
    NO_VIEW("darray_reshape", "strides (1, 4)", "(6, 2)",
            darray_reshape(darray_transpose(flat), 2, LIST(6, 2)));
    NO_VIEW("darray_reshape", "strides (4, -1)", "(2, 6)",
            darray_reshape(darray_flip(flat, 1), 2, LIST(2, 6)));
}

TEST(reshape_in_the_other_order) {
    const darray columns = darray_new_in(HA_COLUMN_MAJOR, HA_DTYPE_double, 2, LIST(3, 4), NULL);
    darray x = columns;
    view_is(x, 2, 0, LIST(3, 4), LIST(1, 3), LIST(0, 0));
    view_is(darray_flatten_in(HA_COLUMN_MAJOR, x), 1, 0, LIST(12), LIST(1), LIST(0));
    view_is(darray_reshape_in(HA_COLUMN_MAJOR, x, 3, LIST(2, 3, 2)), 3, 0, LIST(2, 3, 2),
            LIST(1, 2, 6), LIST(0, 0, 0));
    NO_VIEW("darray_reshape", "(1, 3)", "(12)", darray_flatten(x));
    NO_VIEW("darray_reshape", "neither row- nor column-major", "7",
            darray_flatten_in((ha_order)7, x));
    FINE(darray_free(&x));
}

TEST(reshapes_that_are_refused) {
    const char *const name = "darray_reshape";
    NO_VIEW(name, "(3, 5) has 15 elements", "this 12", darray_reshape(flat, 2, LIST(3, 5)));
    NO_VIEW(name, "(0) has 0 elements", "this 12", darray_reshape(flat, 1, LIST(0)));
    NO_VIEW(name, "negative", "(-3, -4)", darray_reshape(flat, 2, LIST(-3, -4)));
    NO_VIEW(name, "rank of 9", "", darray_reshape(flat, 9, LIST(12)));
    NO_VIEW(name, "rank of -1", "", darray_reshape(flat, -1, LIST(12)));
    NO_VIEW(name, "NULL", "rank 1", darray_reshape(flat, 1, NULL));
    is_refused(darray_reshape(flat, 2, LIST(INT64_MAX, 3)), HA_ERR_MEMORY, name, "overflows", "");
}

TEST(reshape_without_elements) {
    const darray none = darray_slice(flat, 1, 2, 2, 1);
    view_is(darray_reshape(none, 3, LIST(5, 0, 7)), 3, 0, LIST(5, 0, 7), LIST(7, 7, 1),
            LIST(0, 0, 0));
    view_is(darray_flatten(none), 1, 0, LIST(0), LIST(1), LIST(0));
}

/* ---- broadcasting --------------------------------------------------------------------------- */

TEST(broadcast) {
    const darray line = darray_fix(flat, 0, 1), column = darray_expand(darray_fix(flat, 1, 2), 1);
    view_is(darray_broadcast(line, 3, LIST(2, 3, 4)), 3, 4, LIST(2, 3, 4), LIST(0, 0, 1),
            LIST(0, 0, 0));
    view_is(darray_broadcast(column, 2, LIST(3, 5)), 2, 2, LIST(3, 5), LIST(4, 0), LIST(0, 0));
    view_is(darray_broadcast(darray_fix(line, 0, 0), 2, LIST(2, 2)), 2, 4, LIST(2, 2), LIST(0, 0),
            LIST(0, 0));
    view_is(darray_broadcast(flat, 2, LIST(3, 4)), 2, 0, LIST(3, 4), LIST(4, 1), LIST(0, 0));
    view_is(darray_broadcast(column, 2, LIST(3, 0)), 2, 0, LIST(3, 0), LIST(4, 0), LIST(0, 0));
    view_is(darray_broadcast(darray_with_origin(flat, LIST(-1, 2)), 3, LIST(1, 3, 4)), 3, 0,
            LIST(1, 3, 4), LIST(0, 4, 1), LIST(0, -1, 2));
    NO_VIEW("darray_broadcast", "to (3, 5)", "the same", darray_broadcast(flat, 2, LIST(3, 5)));
    NO_VIEW("darray_broadcast", "to (4)", "fewer dimensions", darray_broadcast(flat, 1, LIST(4)));
    NO_VIEW("darray_broadcast", "negative", "", darray_broadcast(flat, 3, LIST(-1, 3, 4)));
    is_refused(darray_broadcast(flat, 3, LIST(INT64_MAX, 3, 4)), HA_ERR_MEMORY, "darray_broadcast",
               "overflows", "");
}

TEST(repeating) {
    const darray line = darray_fix(flat, 0, 1);
    assert_false(darray_repeats(flat));
    assert_false(darray_repeats(darray_flip(darray_transpose(flat), 0)));
    assert_false(darray_repeats(darray_diagonal(flat, 0, 1, 0)));
    assert_true(darray_repeats(darray_broadcast(line, 2, LIST(2, 4))));
    assert_false(darray_repeats(darray_broadcast(line, 2, LIST(1, 4))));
    assert_false(darray_repeats(darray_broadcast(line, 2, LIST(0, 4))));
    darray x = flat; /* 3 x 4 with strides 3, 1: the last of each row is the next one's first */
    x.stride[0] = 3;
    assert_true(darray_repeats(x));
    x.stride[0] = -4;
    assert_false(darray_repeats(x));
    x.array = NULL;
    x.stride[0] = 3;
    assert_false(darray_repeats(x));
}

/* ---- what is no view ------------------------------------------------------------------------ */

TEST(numbers_that_were_changed) {
    darray x = flat;
    x.offset = 1;
    NO_VIEW("darray_permute", "elements 1 to 12", "which has 12", darray_transpose(x));
    x.offset = -1;
    NO_VIEW("darray_permute", "elements -1 to 10", "which has 12", darray_transpose(x));
    x = flat;
    x.stride[0] = INT64_MAX;
    NO_VIEW("darray_permute", "beyond 64 bits", "flat", darray_transpose(x));
    x = flat;
    x.extent[1] = -4;
    NO_VIEW("darray_permute", "negative", "flat", darray_transpose(x));
    x = flat;
    x.rank = 9;
    NO_VIEW("darray_slice", "rank of 9", "", darray_slice(x, 0, 0, 1, 1));
    x = flat;
    x.stride[0] = x.stride[1] = 0;
    x.extent[0] = x.extent[1] = INT64_MAX;
    NO_VIEW("darray_slice", "beyond 64 bits", "", darray_slice(x, 0, 0, 1, 1));
}

/* The first error is the one that tells. */
/* Elements that are repeated are near each other; those of a copy are not. */
TEST(copies_whose_indices_would_be_too_far_away) {
    const int64_t far = INT64_MAX / 16;
    const darray line = darray_broadcast(darray_fix(flat, 0, 1), 2, LIST(2, 4));
    FINE(darray_fill(flat, ha_dvalue_of_double(1), NULL));
    NO_VIEW("darray_contiguous", "too far from 0", "(2, 4)",
            darray_contiguous(darray_with_origin(line, LIST(far, 0)), HA_ROW_MAJOR, NULL));
    darray near = darray_contiguous(darray_with_origin(line, LIST(-9, 8)), HA_ROW_MAJOR, NULL);
    view_is(near, 2, 0, LIST(2, 4), LIST(4, 1), LIST(-9, 8));
    FINE(darray_free(&near));
}

/* Opening looks at all numbers at once, and tells what is wrong with them only if something is. */
TEST(sound_is_what_nothing_is_wrong_with) {
    static const int64_t numbers[] = {
        0, 1, 2, 3, 4, 5, 12, -1, -4, -12, 11, INT64_MAX, INT64_MAX / 2, INT64_MIN, INT64_MIN + 1};
    enum { count = sizeof numbers / sizeof *numbers };
    uint32_t bits = 1;
    int sound = 0;
    for (int i = 0; i < 20000; i++) {
        int64_t pick[7];
        for (int k = 0; k < 7; k++) {
            bits = bits * 1664525 + 1013904223;
            const uint32_t most = bits >> 8 & 3 ? 6 : count; /* mostly small ones */
            pick[k] = numbers[(bits >> 12) % most];
        }
        darray x = flat;
        x.rank = (int)(bits >> 28) % 3;
        x.offset = pick[0];
        memcpy(x.extent, pick + 1, 2 * sizeof *pick);
        memcpy(x.stride, pick + 3, 2 * sizeof *pick);
        memcpy(x.origin, pick + 5, 2 * sizeof *pick);
        const int well = ha_named_view_numbers((ha_named_view){"x", &x}, "a test") == HA_OK;
        (void)ha_take_error();
        const int empty = well && ha_view_is_empty(&x);
        assert_int_equal(ha_view_is_sound(&x), well && !empty);
        sound += well && !empty;
    }
    assert_in_range(sound, 1000, 19000);
}

/* Whatever a function does with elements: nothing is touched. */
static void no_function_takes(darray x, const char *why) {
    char text[400];
    ha_access v;
    ha_dvalue value;
    int equal;
    ha_dl_managed_tensor_versioned *tensor;
    ha_array_interface interface;
    const ha_copy_pair pair = {x, x, NULL};
    ha_request request = {.access = &v, .how = HA_READ, .view = &x};
    FILE *file = fopen("/dev/null", "w");
    assert_non_null(file);
#define REFUSES(call)                                                                              \
    do {                                                                                           \
        assert_false(call);                                                                        \
        const ha_error refused_ = ha_take_error();                                                 \
        assert_int_equal(refused_.status, HA_ERR_ARGUMENT);                                        \
        if (!strstr(refused_.text, why)) fail_msg("%s", refused_.text);                            \
    } while (0)
    REFUSES(darray_print(x, text, sizeof text));
    REFUSES(!darray_fprint(x, file));
    REFUSES(!darray_write_npy(x, file));
    REFUSES(!darray_to_dlpack(x, NULL, HA_READ, NULL, &tensor));
    REFUSES(!ha_open_many(&request, 1));
    assert_int_equal(v.status, HA_ERR_ARGUMENT);
    REFUSES(!darray_get(x, x.rank, LIST(0), &value));
    REFUSES(!darray_set(x, x.rank, LIST(0), ha_dvalue_of_double(1)));
    REFUSES(!darray_fill(x, ha_dvalue_of_double(1), NULL));
    REFUSES(!darray_equal(x, x, &equal));
    REFUSES(!darray_copy(x, x, NULL));
    REFUSES(!darray_prefetch(x, NULL));
    REFUSES(ha_copy_plan_new(&pair, 1));
    REFUSES(darray_transpose(x).array);
    REFUSES(darray_contiguous(x, HA_ROW_MAJOR, NULL).array);
    HA_READING(r, harray_double_from(x.array), NULL)
    REFUSES(!darray_to_array_interface(x, &r, &interface));
    HA_READING(r, x, NULL) fail();
    else REFUSES(!r.status);
#undef REFUSES
    assert_int_equal(fclose(file), 0);
    (void)darray_describe(x, text, sizeof text);
    (void)darray_repeats(x);
    assert_int_equal(ha_take_error().status, HA_OK);
}

TEST(numbers_that_are_made_up) {
    FINE(darray_fill(flat, ha_dvalue_of_double(1), NULL));
    const int ranks[] = {-1, 9, 1000, INT_MIN, INT_MAX};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        darray x = flat;
        x.rank = ranks[i];
        no_function_takes(x, "rank");
    }
    const int64_t strides[] = {INT64_MIN, INT64_MAX, INT64_MIN / 4, 5};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        darray x = flat;
        x.stride[0] = strides[i];
        no_function_takes(x, i < 2 ? "64 bits" : "which has 12");
        x.stride[1] = i ? INT64_MAX / 3 : 1;
        (void)darray_repeats(x);
    }
    darray x = flat;
    x.offset = INT64_MAX - 11;
    no_function_takes(x, "which has 12");
    x = flat;
    x.extent[1] = INT64_MIN;
    no_function_takes(x, "negative");
    x = flat;
    x.type = HA_DTYPE_c128;
    no_function_takes(x, "elements of 8 bytes");
}

/* The stride of an extent of 1 does not matter, whatever it is. */
TEST(strides_that_do_not_matter) {
    double values[3] = {1, 2, 3};
    char text[40];
    FILE *file = fopen("/dev/null", "w");
    assert_non_null(file);
    darray x = darray_wrap(HA_DTYPE_double, 2, LIST(1, 3), LIST(INT64_MIN, 1), values, NULL, 0);
    view_is(x, 2, 0, LIST(1, 3), LIST(INT64_MIN, 1), LIST(0, 0));
    FINE(darray_write_npy(x, file));
    FINE(darray_fill(x, ha_dvalue_of_double(4), ha_context_find("sim:0")));
    assert_true(darray_print(x, text, sizeof text) < sizeof text);
    assert_string_equal(text, "[[4 4 4]]\n");
    FINE(darray_free(&x));
    assert_int_equal(fclose(file), 0);
}

TEST(views_of_none) {
    const darray none = {.rank = 0};
    NO_VIEW("darray_slice", "no array", "earlier error", darray_slice(none, 0, 0, 1, 1));
    NO_VIEW("darray_fix", "7 in dimension 0", "flat",
            darray_flatten(darray_expand(darray_flip(darray_fix(flat, 0, 7), 0), 0)));
    NO_VIEW("darray_slice", "no array", "", darray_slice(none, 0, 0, 1, 1));
    NO_VIEW("darray_part", "no array", "", darray_part(none, LIST(0), LIST(0)));
    NO_VIEW("darray_fix", "no array", "", darray_fix(none, 0, 0));
    NO_VIEW("darray_flip", "no array", "", darray_flip(none, 0));
    NO_VIEW("darray_expand", "no array", "", darray_expand(none, 0));
    NO_VIEW("darray_permute", "no array", "", darray_permute(none, LIST(0)));
    NO_VIEW("darray_diagonal", "no array", "", darray_diagonal(none, 0, 1, 0));
    NO_VIEW("darray_with_origin", "no array", "", darray_with_origin(none, LIST(0)));
    NO_VIEW("darray_interior", "no array", "", darray_interior(none));
    NO_VIEW("darray_reshape", "no array", "", darray_reshape(none, 1, LIST(1)));
    NO_VIEW("darray_broadcast", "no array", "", darray_broadcast(none, 1, LIST(1)));
    assert_int_equal(darray_size(none), 0);
    assert_false(darray_is_contiguous(none, HA_ROW_MAJOR));
}

TEST(storage_that_got_smaller) {
    harray_double x = harray_double_zeros(12);
    array_double_2 a = array_double_2_from(x, ha_dim2_of(3, 4));
    FINE(harray_double_resize(x, 11));
    NO_VIEW("darray_permute", "elements 0 to 11", "which has 11",
            darray_transpose(array_double_2_to_darray(a)));
    is_no(array_double_2_transpose(a).array, "elements 0 to 11", "which has 11");
    HA_READING(v, a, NULL) fail();
    else assert_int_equal(v.status, HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "which has 11"));
    FINE(array_double_2_free(&a));
    FINE(harray_double_free(&x));
}

TEST(asking) {
    char text[40];
    assert_int_equal(darray_size(flat), 12);
    assert_int_equal(darray_size(ghosts), 120);
    assert_int_equal(darray_size(darray_fix(darray_fix(flat, 0, 0), 0, 0)), 1);
    assert_true(darray_is_contiguous(flat, HA_ROW_MAJOR));
    assert_false(darray_is_contiguous(flat, HA_COLUMN_MAJOR));
    assert_true(darray_is_contiguous(darray_transpose(flat), HA_COLUMN_MAJOR));
    assert_int_equal(darray_print_shape(flat, text, sizeof text), strlen("double (3, 4)"));
    assert_string_equal(text, "double (3, 4)");
    assert_int_equal(darray_print_shape(flat, text, 5), strlen("double (3, 4)"));
    assert_string_equal(text, "doub");
}

/* ---- typed ---------------------------------------------------------------------------------- */

typedef struct point {
    double x, y;
} point;
HARRAY(point);
HA_ARRAY(point, 1);
HA_ARRAY(point, 2);
typedef struct other {
    double x, y;
} other;
HARRAY(other);
HA_ARRAY(other, 1);
HA_ARRAY(other, 2);
HA_ARRAY(double, 2);
HA_ARRAY(int, 1);
HA_ARRAY(int, 2);
HA_ARRAY(double, 5);
HA_ARRAY(double, 6);
HA_ARRAY(double, 7);
HA_ARRAY(double, 8);

#define TYPED(D, x) array_double_##D##_to_darray(x)

TEST(the_same_elements) {
    const darray row = darray_fix(flat, 0, 1), none = {.rank = 0};
    darray one_more = darray_new(HA_DTYPE_double, 2, LIST(3, 4), NULL), forged = flat;
    array_double_2 a = array_double_2_from_darray(flat);
    assert_true(darray_is_same(flat, darray_transpose(darray_transpose(flat))));
    assert_true(darray_is_same(flat, HA_DARRAY(a)));
    assert_true(darray_is_same(flat, darray_with_origin(flat, LIST(-1, 5))));
    assert_true(darray_is_same(row, darray_flip(darray_slice(row, 0, HA_LAST, HA_ALL, -1), 0)));
    assert_true(darray_is_same(darray_expand(row, 0), darray_part(flat, LIST(1, 0), LIST(2, 4))));
    assert_false(darray_is_same(flat, one_more));
    assert_false(darray_is_same(flat, darray_flip(flat, 1)));
    assert_false(darray_is_same(row, darray_fix(flat, 0, 2)));
    assert_false(darray_is_same(row, darray_slice(row, 0, 0, 3, 1)));
    assert_false(darray_is_same(flat, darray_flatten(flat)));
    assert_false(
        darray_is_same(darray_fix(flat, 1, 0), darray_slice(darray_fix(flat, 0, 0), 0, 0, 3, 1)));
    assert_true(darray_is_same(darray_slice(row, 0, 1, 1, 1), darray_slice(row, 0, 4, 4, 1)));
    assert_false(darray_is_same(none, none));
    forged.rank = 99;
    assert_false(darray_is_same(forged, forged));
    assert_int_equal(darray_free(&one_more), HA_OK);
}

TEST(typed_views) {
    array_double_2 a = array_double_2_from_darray(flat);
    array_double_2 side[4];
    array_double_3 b = array_double_3_expand(a, 0);
    assert_int_equal(array_double_2_shell(a, HA_DIM(1, 1), HA_DIM(HA_LAST, HA_LAST), side), HA_OK);
    view_is(TYPED(2, side[1]), 2, 8, LIST(1, 4), LIST(4, 1), LIST(2, 0));
    view_is(TYPED(2, side[3]), 2, 7, LIST(1, 1), LIST(4, 1), LIST(1, 3));
    assert_int_equal(array_double_2_shell(a, HA_DIM(1, 1), HA_DIM(4, 4), side), HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "1 to before 4 of dimension 0"));
    for (int i = 0; i < 4; i++) assert_null(side[i].array);
    assert_int_equal(array_double_2_shell(a, HA_DIM(1, 1), HA_DIM(2, 2), NULL), HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "no place for the sides"));
    view_is(TYPED(2, a), 2, 0, LIST(3, 4), LIST(4, 1), LIST(0, 0));
    view_is(TYPED(2, array_double_2_slice(a, 1, 3, 0, -1)), 2, 3, LIST(3, 3), LIST(4, -1),
            LIST(0, 0));
    view_is(TYPED(2, array_double_2_part(a, HA_DIM(1, 1), HA_DIM(2, 3))), 2, 5, LIST(1, 2),
            LIST(4, 1), LIST(0, 0));
    view_is(TYPED(1, array_double_2_fix(a, 1, 2)), 1, 2, LIST(3), LIST(4), LIST(0));
    view_is(TYPED(2, array_double_2_permute(a, HA_DIM(1, 0))), 2, 0, LIST(4, 3), LIST(1, 4),
            LIST(0, 0));
    view_is(TYPED(2, array_double_2_transpose(a)), 2, 0, LIST(4, 3), LIST(1, 4), LIST(0, 0));
    view_is(TYPED(2, array_double_2_flip(a, 0)), 2, 8, LIST(3, 4), LIST(-4, 1), LIST(0, 0));
    view_is(TYPED(1, array_double_2_flatten(a)), 1, 0, LIST(12), LIST(1), LIST(0));
    view_is(TYPED(4, array_double_4_reshape(flat, HA_DIM(3, 2, 1, 2))), 4, 0, LIST(3, 2, 1, 2),
            LIST(4, 2, 2, 1), LIST(0, 0, 0, 0));
    view_is(TYPED(3, array_double_3_broadcast(flat, HA_DIM(2, 3, 4))), 3, 0, LIST(2, 3, 4),
            LIST(0, 4, 1), LIST(0, 0, 0));
    view_is(TYPED(1, array_double_2_diagonal(a, 0, 1, 1)), 1, 1, LIST(3), LIST(5), LIST(0));
    view_is(TYPED(3, b), 3, 0, LIST(1, 3, 4), LIST(12, 4, 1), LIST(0, 0, 0));
    view_is(TYPED(2, array_double_2_with_origin(a, HA_DIM(-1, -1))), 2, 0, LIST(3, 4), LIST(4, 1),
            LIST(-1, -1));
    view_is(TYPED(2, array_double_2_interior(array_double_2_with_origin(a, HA_DIM(-1, -1)))), 2, 5,
            LIST(1, 2), LIST(4, 1), LIST(0, 0));
}

/* Whichever way it is opened: elements 0 1 2 and 1 2 3. */
TEST(numbers_that_repeat_are_for_reading) {
    array_double_2 s = array_double_2_zeros(HA_DIM(3, 4), NULL), whole = s;
    ha_dl_managed_tensor_versioned *tensor = NULL;
    ha_access v;
    s.extent[0] = 2;
    s.extent[1] = 3;
    s.stride[0] = s.stride[1] = 1;
    const darray x = HA_DARRAY(s);
    ha_request request = {.access = &v, .how = HA_READ, .view = &x};
    HA_READING(r, s, NULL) assert_int_equal(r.size, 6);
    else fail();
    FINE(ha_open_many(&request, 1));
    FINE(ha_close(&v));
    HA_WRITING(w, s, NULL) fail();
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    HA_OVERWRITING_ALL(w, x, NULL) fail();
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    request.how = HA_WRITE;
    REFUSED(HA_ERR_ARGUMENT, ha_open_many(&request, 1));
    REFUSED(HA_ERR_ARGUMENT, darray_to_dlpack(x, NULL, HA_WRITE, HA_DL_STREAM_NONE, &tensor));

    /* All dimensions of the storage, and one more in which they are repeated. */
    array_double_3 more = array_double_3_reshape(HA_DARRAY(whole), HA_DIM(3, 4, 1));
    more.extent[2] = 2;
    more.stride[2] = 0;
    HA_READING(r, more, NULL) assert_int_equal(r.size, 24);
    else fail();
    HA_WRITING(w, more, NULL) fail();
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    FINE(array_double_2_free(&whole));
}

TEST(high_ranks) {
    array_double_8 a = array_double_8_new(HA_DIM(2, 1, 2, 1, 2, 1, 2, 3), NULL);
    view_is(TYPED(8, a), 8, 0, LIST(2, 1, 2, 1, 2, 1, 2, 3), LIST(24, 24, 12, 12, 6, 6, 3, 1),
            LIST(0, 0, 0, 0, 0, 0, 0, 0));
    array_double_5 b = array_double_6_fix(array_double_7_fix(array_double_8_fix(a, 1, 0), 0, 1), 1,
                                          0);
    view_is(TYPED(5, b), 5, 24, LIST(2, 2, 1, 2, 3), LIST(12, 6, 6, 3, 1), LIST(0, 0, 0, 0, 0));
    FINE(array_double_8_free(&a));
    assert_null(a.array);
}

TEST(exact_conversions) {
    const darray none = {.rank = 0};
    is_no(array_float_2_from_darray(flat).array, "double (3, 4) of array 'flat'",
          "float of rank 2");
    is_no(array_double_1_from_darray(flat).array, "double (3, 4) of array 'flat'",
          "double of rank 1");
    assert_null(array_double_2_from_darray(none).array); /* what made it has said why */
    assert_int_equal(ha_take_error().status, HA_OK);
    darray ints = darray_zeros(HA_DTYPE_int32_t, 1, LIST(3), NULL);
    assert_non_null(array_int_1_from_darray(ints).array);
    FINE(darray_free(&ints));
    array_int_2 more = array_int_2_zeros(HA_DIM(2, 2), NULL);
    assert_int_equal(array_int_2_to_darray(more).type, HA_DTYPE_int32_t);
    assert_string_equal(ha_array_type(more.array).name, "int");
    FINE(array_int_2_free(&more));
}

TEST(types_of_ones_own) {
    const point p = {1, 2};
    array_point_2 a = array_point_2_filled(HA_DIM(2, 3), p, NULL);
    const darray d = array_point_2_to_darray(a);
    assert_int_equal(d.type, HA_DTYPE_NONE);
    view_is(d, 2, 0, LIST(2, 3), LIST(3, 1), LIST(0, 0));
    assert_non_null(array_point_2_from_darray(d).array);
    is_no(array_other_2_from_darray(d).array, "point (2, 3)", "other of rank 2");
    is_no(array_point_1_from_darray(d).array, "point (2, 3)", "point of rank 1");
    is_no(array_point_2_fix(a, 0, 2).array, "2 in dimension 0", "point (2, 3)");
    FINE(array_point_2_free(&a));
}

/* ---- spans in functions on a queue ------------------------------------------------------------ */

typedef struct lines {
    cspan_float_2 from;
    span_float_2 to;
} lines;

static void add_one(const ha_queue *queue, void *argument) {
    const lines *l = argument;
    const cspan_float_2 from = cspan_float_2_here(queue, l->from);
    const span_float_2 to = span_float_2_here(queue, l->to);
    for (int64_t i = to.origin[0]; i < to.origin[0] + to.extent[0]; i++)
        for (int64_t j = to.origin[1]; j < to.origin[1] + to.extent[1]; j++)
            HA_AT(to, i, j) = HA_AT(from, i, j) + 1;
}

/* The elements are on the device, and index 0, 0 would be anywhere: before or behind all memory that
 * it has, among it, or on the host. */
TEST(spans_on_a_queue) {
    const int64_t origins[] = {0, -2, 3, INT64_C(1) << 40, -(INT64_C(1) << 40)};
    ha_context *const places[] = {ha_host(), ha_context_find("sim:0")};
    for (int i = 0; i < 10; i++) {
        ha_context *where = places[i / 5];
        const ha_dim2 origin = HA_DIM(origins[i % 5], -origins[i % 5] / 3);
        array_float_2 a = array_float_2_filled(HA_DIM(3, 4), 1.5f, where);
        array_float_2 b = array_float_2_filled(HA_DIM(3, 4), 0, where);
        const array_float_2 backwards = array_float_2_slice(b, 0, HA_ALL, HA_ALL, -2);
        HA_READING(from, array_float_2_with_origin(a, origin), where)
        HA_OVERWRITING_ALL(to, array_float_2_with_origin(backwards, origin), where) {
            const lines l = {from.span, to.span};
            assert_int_equal(ha_enqueue(where, add_one, &l, sizeof l), HA_OK);
        }
        HA_READING(v, b, ha_host())
        for (int64_t k = 0; k < 12; k++) assert_true(v.data[k] == (k / 4 == 1 ? 0 : 2.5f));
        FINE(array_float_2_free(&a));
        FINE(array_float_2_free(&b));
    }
}

#define T(name) cmocka_unit_test(name)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(slice),
        T(steps_longer_than_what_there_is),
        T(slices_without_elements),
        T(slices_that_are_refused),
        T(indices_from_the_last),
        T(indices_of_dimensions_that_go_that_far),
        T(shell),
        T(shells_that_are_refused),
        T(part),
        T(fix),
        T(flip),
        T(expand),
        T(permute),
        T(diagonal),
        T(origins),
        T(any_array_as_a_darray),
        T(interior),
        T(reshape),
        T(reshape_of_what_is_not_contiguous),
        T(reshape_in_the_other_order),
        T(reshapes_that_are_refused),
        T(reshape_without_elements),
        T(broadcast),
        T(repeating),
        T(numbers_that_were_changed),
        T(copies_whose_indices_would_be_too_far_away),
        T(sound_is_what_nothing_is_wrong_with),
        T(numbers_that_are_made_up),
        T(strides_that_do_not_matter),
        T(views_of_none),
        T(storage_that_got_smaller),
        T(asking),
        T(the_same_elements),
        T(typed_views),
        T(high_ranks),
        T(numbers_that_repeat_are_for_reading),
        T(exact_conversions),
        T(types_of_ones_own),
        T(spans_on_a_queue),
    };
    int failed = cmocka_run_group_tests_name("views", tests, make_arrays, free_arrays);
    return failed + (ha_shutdown() != HA_OK);
}
