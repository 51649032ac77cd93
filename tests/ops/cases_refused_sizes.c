/* What operations refuse because arrays do not belong together, on every context: sizes and types that differ, results without room
 * for all, counts that are too great for the number that they go to; or because one of them does not do. The message names
 * the arrays, and what the call names them, and nothing is changed. Of no elements nothing is refused but what has no result. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"
#include "../support/share.h"
#include "some_views.h"
#include "known_operations.h"

enum { LONG = 6, MANY = 200 }; /* more than int8_t counts */

/* By the name that an array has, and what the other one is. */
static void refused(ha_status got, const char *operation, const char *array, const char *part) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, HA_ERR_ARGUMENT);
    assert_string_equal(e.operation, operation);
    if (!strstr(e.text, " of array '")) fail_msg("%s: \"%s\" names none", operation, e.text);
    if (!strstr(e.text, array) || !strstr(e.text, part))
        fail_msg("%s: \"%s\" does not say \"%s\", \"%s\"", operation, e.text, array, part);
}
#define REFUSED_AS(operation, array, part, ...) refused(__VA_ARGS__, operation, array, part)

/* Of one dimension, and all the same number; messages show its name. */
static darray named(const char *name, ha_dtype type, int64_t n, int number) {
    const darray x = darray_new(type, 1, &n, C);
    keep_array(x.array);
    SUCCEEDS(ha_fill(x, number, C));
    ha_array_set_name(x.array, name);
    return x;
}

static void expect_all(darray x, int number) {
    static values now;
    read_values(x, &now);
    for (int i = 0; i < now.n; i++) assert_true(real_of(now.at[i]) == number);
}

/* Both are told, by their names in the call and their own. */
#define DIFFER(operation, both, ...) REFUSED_AS(operation, both, "extents are not", __VA_ARGS__)
#define OF(parameter, shape, name) parameter ", " shape " of array '" name "'"
#define AND ", and "
#define LONGER(parameter) OF(parameter, "double (7)", "longer")
#define X(parameter) OF(parameter, "double (6)", "x")
#define Z(parameter) OF(parameter, "double (6)", "z")
#define AT(parameter) OF(parameter, "int32_t (6)", "at")
TEST(sizes_that_differ) {
    const darray x = named("x", HA_DTYPE_double, LONG, 1), z = named("z", HA_DTYPE_double, LONG, 2);
    const darray longer = named("longer", HA_DTYPE_double, LONG + 1, 3);
    const darray mask = named("mask", HA_DTYPE_uint8_t, LONG, 1);
    const darray at = named("at", HA_DTYPE_int32_t, LONG, 0);
    int count = 7;
    double number = 7;
    DIFFER("ha_map", Z("y") AND LONGER("x"), ha_map(HA_NEGATE, z, longer, C));
    DIFFER("ha_combine", X("x") AND LONGER("y"), ha_combine(HA_ADD, z, x, longer, C));
    DIFFER("ha_combine", Z("z") AND LONGER("x"), ha_combine(HA_ADD, z, longer, x, C));
    DIFFER("ha_combine", X("x") AND LONGER("y"), ha_combine(HA_IS_LESS, mask, x, longer, C));
    DIFFER("ha_combine_number", Z("z") AND LONGER("x"), ha_combine_number(HA_ADD, z, longer, 1, C));
    DIFFER("ha_axpy", Z("y") AND LONGER("x"), ha_axpy(z, 2, longer, C));
    DIFFER("ha_axpby", Z("z") AND LONGER("y"), ha_axpby(z, 2, x, 3, longer, C));
    DIFFER("ha_clip", Z("y") AND LONGER("x"), ha_clip(z, longer, 0, 1, C));
    DIFFER("ha_where", Z("z") AND LONGER("y"), ha_where(z, mask, x, longer, C));
    DIFFER("ha_where", LONGER("z") AND OF("mask", "uint8_t (6)", "mask"),
           ha_where(longer, mask, longer, longer, C));
    DIFFER("ha_dot", X("x") AND LONGER("y"), ha_dot(x, longer, &number, C));
    DIFFER("ha_difference", X("x") AND LONGER("y"),
           ha_difference(HA_NORM_2, x, longer, &number, C));
    DIFFER("ha_gather", LONGER("y") ", " AT("at") AND X("x"), ha_gather(longer, x, at, C));
    DIFFER("ha_scatter", LONGER("x") ", " AT("at") AND Z("y"),
           ha_scatter(HA_ADD, z, at, longer, C));
    DIFFER("ha_scatter", LONGER("x") ", " AT("at") AND Z("y"),
           ha_scatter(HA_ASSIGN, z, at, longer, C));
    DIFFER("ha_compact", LONGER("x") AND OF("mask", "uint8_t (6)", "mask"),
           ha_compact(z, longer, mask, &count, C));
    DIFFER("ha_scan", Z("y") AND LONGER("x"), ha_scan(HA_SUM, z, longer, HA_INCLUSIVE, C));
    DIFFER("ha_scan_along", Z("y") AND LONGER("x"),
           ha_scan_along(HA_SUM, z, longer, 0, HA_INCLUSIVE, C));
    DIFFER("ha_sorting", AT("at") AND LONGER("x"), ha_sorting(at, longer, HA_ASCENDING, C));
    DIFFER("ha_lower_bound", AT("at") AND LONGER("values"), ha_lower_bound(at, x, longer, C));
    DIFFER("ha_upper_bound", AT("at") AND LONGER("values"), ha_upper_bound(at, x, longer, C));
    REFUSED_AS("ha_sort_by_key", AT("keys") AND LONGER("values"), "not as many values",
               ha_sort_by_key(at, longer, HA_ASCENDING, C));
    REFUSED_AS("ha_differences", LONGER("y") AND X("x"), "one less",
               ha_differences(longer, x, 0, C));
    REFUSED_AS("ha_sparse_combine", AT("x_at") AND LONGER("x"), "not as many values",
               ha_sparse_combine(HA_ADD, at, z, at, longer, at, x, &count, C));
    assert_true(count == 7 && number == 7);
    expect_all(z, 2), expect_all(longer, 3), expect_all(mask, 1), expect_all(at, 0);
    drop_arrays();
}

#define OTHERS(operation, first, second, ...)                                                      \
    REFUSED_AS(operation, first AND OF(second, "float (6)", "other"), "types are not the same",    \
               __VA_ARGS__)
TEST(types_that_differ) {
    const darray x = named("x", HA_DTYPE_double, LONG, 1), z = named("z", HA_DTYPE_double, LONG, 2);
    const darray other = named("other", HA_DTYPE_float, LONG, 3);
    const darray mask = named("mask", HA_DTYPE_uint8_t, LONG, 1);
    const darray at = named("at", HA_DTYPE_int32_t, LONG, 0);
    int count = 7;
    double number = 7;
    OTHERS("ha_map", Z("y"), "x", ha_map(HA_NEGATE, z, other, C));
    OTHERS("ha_combine", X("x"), "y", ha_combine(HA_ADD, z, x, other, C));
    OTHERS("ha_combine_number", Z("z"), "x", ha_combine_number(HA_ADD, z, other, 1, C));
    OTHERS("ha_axpy", Z("y"), "x", ha_axpy(z, 2, other, C));
    OTHERS("ha_axpby", Z("z"), "y", ha_axpby(z, 2, x, 3, other, C));
    OTHERS("ha_clip", Z("y"), "x", ha_clip(z, other, 0, 1, C));
    OTHERS("ha_where", Z("z"), "y", ha_where(z, mask, x, other, C));
    OTHERS("ha_dot", X("x"), "y", ha_dot(x, other, &number, C));
    OTHERS("ha_difference", X("x"), "y", ha_difference(HA_NORM_1, x, other, &number, C));
    OTHERS("ha_gather", Z("y"), "x", ha_gather(z, other, at, C));
    OTHERS("ha_scatter", Z("y"), "x", ha_scatter(HA_ADD, z, at, other, C));
    OTHERS("ha_compact", Z("y"), "x", ha_compact(z, other, mask, &count, C));
    OTHERS("ha_scan", Z("y"), "x", ha_scan(HA_SUM, z, other, HA_INCLUSIVE, C));
    REFUSED_AS("ha_differences", "y, double (5) of array 'z', and a part of x, float (5) of array",
               "types are not the same",
               ha_differences(darray_slice(z, 0, 1, LONG, 1), other, 0, C));
    OTHERS("ha_unique", Z("y"), "x", ha_unique(z, other, &count, C));
    OTHERS("ha_lower_bound", X("x"), "values", ha_lower_bound(at, x, other, C));
    assert_true(count == 7 && number == 7);
    expect_all(z, 2), expect_all(other, 3), expect_all(mask, 1), expect_all(at, 0);
    drop_arrays();
}

/* The results are one element too short. */
TEST(no_room_for_all) {
    const darray x = named("x", HA_DTYPE_double, LONG, 0);
    const darray mask = named("mask", HA_DTYPE_uint8_t, LONG, 1);
    const darray at = named("places", HA_DTYPE_int32_t, LONG - 1, 5);
    const darray few = named("few", HA_DTYPE_double, LONG - 1, 5);
    int count = 7;
    SUCCEEDS(ha_sequence(x, 0, 1, C));
    REFUSED_AS("ha_find", OF("at", "int32_t (5)", "places"), "no room for 6",
               ha_find(at, mask, &count, C));
    REFUSED_AS("ha_compact", OF("y", "double (5)", "few"), "no room for 6",
               ha_compact(few, x, mask, &count, C));
    REFUSED_AS("ha_unique", OF("y", "double (5)", "few"), "no room for 6",
               ha_unique(few, x, &count, C));
    assert_int_equal(count, 7);
    expect_all(at, 5), expect_all(few, 5);
    drop_arrays();
}

TEST(counts_that_do_not_fit) {
    const darray x = named("x", HA_DTYPE_double, MANY, 0), y = named("y", HA_DTYPE_double, MANY, 5);
    const darray mask = named("mask", HA_DTYPE_uint8_t, MANY, 1);
    const darray at = named("at", HA_DTYPE_int32_t, MANY, 0);
    const darray to = named("to", HA_DTYPE_int32_t, MANY, 5);
    int8_t count = 7;
    SUCCEEDS(ha_sequence(x, 0, 1, C));
    SUCCEEDS(ha_sequence(at, 0, 1, C));
    REFUSED_AS("ha_count", OF("x", "uint8_t (200)", "mask"), "200, as int8_t: does not fit",
               ha_count(mask, &count, C));
    REFUSED_AS("ha_find", OF("at", "int32_t (200)", "to"), "200, as int8_t: does not fit",
               ha_find(to, mask, &count, C));
    REFUSED_AS("ha_compact", OF("y", "double (200)", "y"), "200, as int8_t: does not fit",
               ha_compact(y, x, mask, &count, C));
    REFUSED_AS("ha_unique", OF("y", "double (200)", "y"), "200, as int8_t: does not fit",
               ha_unique(y, x, &count, C));
    REFUSED_AS("ha_sparse_combine", OF("z_at", "int32_t (200)", "to"),
               "200, as int8_t: does not fit",
               ha_sparse_combine(HA_ADD, to, y, at, x, at, x, &count, C));
    assert_int_equal(count, 7);
    expect_all(to, 5), expect_all(y, 5);
    drop_arrays();
}

/* Of arrays of the same type, extents and name, of which one does not do, the one. */
#define ONE_OF(parameter) OF(parameter, "int32_t (6)", "same")
#define BAD_INDEX "there is 6, which is no index of an extent of 6"
#define NOT_GREATER "the index at (1) is not greater than the one before it"
TEST(arguments_told_apart) {
    const darray ones = named("same", HA_DTYPE_int32_t, LONG, 1);
    const darray sixes = named("same", HA_DTYPE_int32_t, LONG, 6);
    const darray below_0 = named("same", HA_DTYPE_int32_t, LONG - 1, -1);
    const darray up = named("same", HA_DTYPE_int32_t, LONG, 0);
    const darray to = named("same", HA_DTYPE_int32_t, LONG, 5);
    const darray z = named("same", HA_DTYPE_int32_t, LONG, 5);
    int64_t count = 7;
    SUCCEEDS(ha_sequence(up, 0, 1, C));
    REFUSED_AS("ha_where", ONE_OF("mask"), "a mask is of", ha_where(to, ones, ones, ones, C));
    REFUSED_AS("ha_combine", ONE_OF("z"), "a mask is of", ha_combine(HA_IS_LESS, to, up, up, C));
    REFUSED_AS("ha_find", ONE_OF("mask"), "a mask is of", ha_find(to, ones, &count, C));
    REFUSED_AS("ha_compact", ONE_OF("mask"), "a mask is of", ha_compact(to, up, up, &count, C));
    REFUSED_AS("ha_map", ONE_OF("x"), "no HA_SQRT of int32_t", ha_map(HA_SQRT, to, up, C));
    REFUSED_AS("ha_clip", ONE_OF("y"), "0.5 is no int32_t", ha_clip(to, up, 0.5, 1, C));
    REFUSED_AS("ha_gather", ONE_OF("at"), BAD_INDEX, ha_gather(to, ones, sixes, C));
    REFUSED_AS("ha_scatter", ONE_OF("at"), BAD_INDEX, ha_scatter(HA_ADD, to, sixes, ones, C));
    REFUSED_AS("ha_inverse", ONE_OF("permutation"), BAD_INDEX, ha_inverse(to, sixes, C));
    REFUSED_AS("ha_inverse", ONE_OF("permutation"), "1 is at (0) and at (1)",
               ha_inverse(to, ones, C));
    REFUSED_AS("ha_sparse_combine", ONE_OF("x_at"), NOT_GREATER,
               ha_sparse_combine(HA_ADD, to, z, ones, up, up, up, &count, C));
    REFUSED_AS("ha_sparse_combine", ONE_OF("y_at"), NOT_GREATER,
               ha_sparse_combine(HA_ADD, to, z, up, up, ones, up, &count, C));
    REFUSED_AS("ha_scan_offsets", OF("counts", "int32_t (5)", "same"),
               "at (0) there is -1: a count is not below zero", ha_scan_offsets(to, below_0, C));
    REFUSED_AS("ha_scan_along", ONE_OF("x"), "it has no dimension 1",
               ha_scan_along(HA_SUM, to, up, 1, HA_INCLUSIVE, C));
    REFUSED_AS("ha_histogram", ONE_OF("x"), "there are no 6 parts",
               ha_histogram(to, up, 1, 0, &count, C));
    assert_int_equal(count, 7);
    expect_all(ones, 1), expect_all(sixes, 6), expect_all(below_0, -1), expect_all(to, 5);
    expect_all(z, 5);
    drop_arrays();
}

static void expect_missing(ha_status got, const char *operation, const char *expected) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, HA_ERR_ARGUMENT);
    assert_string_equal(e.operation, operation);
    if (!strstr(e.text, expected)) fail_msg("\"%s\" does not say \"%s\"", e.text, expected);
}
TEST(arguments_that_are_none) {
    const darray x = named("x", HA_DTYPE_double, LONG, 2), none = {.rank = 0};
    const darray at = named("at", HA_DTYPE_int32_t, LONG, 0);
    expect_missing(ha_combine(HA_ADD, x, x, none, C), "ha_combine", "ha_combine: y: no array: ");
    expect_missing(ha_where(x, none, x, x, C), "ha_where", "ha_where: mask: no array: ");
    expect_missing(ha_gather(x, x, none, C), "ha_gather", "ha_gather: at: no array: ");
    expect_missing(ha_sorting(at, none, HA_ASCENDING, C), "ha_sorting", "ha_sorting: x: no array:");
    expect_all(x, 2);
    drop_arrays();
}

TEST(of_nothing) {
    const darray none = named("none", HA_DTYPE_double, 0, 0), x = named("x", HA_DTYPE_double, 1, 2);
    const darray at = named("at", HA_DTYPE_int32_t, 0, 0), to = named("to", HA_DTYPE_int32_t, 0, 0);
    const darray offsets = named("offsets", HA_DTYPE_int32_t, 1, 9);
    int count = 7;
    double number = 7;
    SUCCEEDS(ha_map(HA_SQRT, none, none, C));
    SUCCEEDS(ha_axpy(none, 2, none, C));
    SUCCEEDS(ha_sequence(none, 0, 1, C));
    SUCCEEDS(ha_random(none, 1, C));
    SUCCEEDS(ha_sort(none, HA_ASCENDING, C));
    SUCCEEDS(ha_sorting(at, none, HA_DESCENDING, C));
    SUCCEEDS(ha_sort_by_key(at, none, HA_ASCENDING, C));
    SUCCEEDS(ha_lower_bound(at, x, none, C));
    SUCCEEDS(ha_differences(none, x, 0, C));
    SUCCEEDS(ha_scan_offsets(offsets, at, C));
    expect_all(offsets, 0);
    SUCCEEDS(ha_unique(x, none, &count, C));
    assert_int_equal(count, 0);
    SUCCEEDS(ha_sparse_combine(HA_ADD, to, none, at, none, at, none, &count, C));
    SUCCEEDS(ha_count(none, &count, C));
    assert_int_equal(count, 0);
    SUCCEEDS(ha_dot(none, none, &number, C));
    assert_true(number == 0);
    number = 7;
    for (int least = 0; least < 2; least++) {
        const ha_reduction value = least ? HA_MIN : HA_MAX, place = least ? HA_MIN_AT : HA_MAX_AT;
        REFUSED_AS("ha_reduce", "'none'", "no elements", ha_reduce(value, none, &number, C));
        REFUSED_AS("ha_reduce", "'none'", "no elements", ha_reduce(place, none, &count, C));
    }
    assert_true(number == 7 && count == 0);
    expect_all(x, 2);
    drop_arrays();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        OPERATIONS(sizes_that_differ),    OPERATIONS(types_that_differ),
        OPERATIONS(no_room_for_all),      OPERATIONS(counts_that_do_not_fit),
        OPERATIONS(arguments_told_apart), OPERATIONS(arguments_that_are_none),
        OPERATIONS(of_nothing),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
