/* What operations refuse because of where their result goes, on every context: arrays that repeat elements, by steps of 0 and by steps
 * that come to the same place twice; and more places than their type counts. Nothing is changed then, and messages say why. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"
#include "../support/share.h"
#include "some_views.h"
#include "known_operations.h"

enum { LONG = 6, SIDE = 3 };

static void refused(ha_status got, const char *operation, const char *part) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, HA_ERR_ARGUMENT);
    assert_string_equal(e.operation, operation);
    if (!strstr(e.text, part)) fail_msg("%s: \"%s\" does not say \"%s\"", operation, e.text, part);
}
#define REPEATS(operation, ...) refused(__VA_ARGS__, operation, "repeats elements")

static darray kept(darray x) {
    keep_array(x.array);
    return x;
}

/* Zeros of so many dimensions, of LONG elements or SIDE of each. */
static darray plain(ha_dtype type, int rank) {
    static const int64_t row[] = {LONG}, square[] = {SIDE, SIDE};
    return kept(darray_zeros(type, rank, rank == 1 ? row : square, C));
}

/* The same elements: one of them again and again; or those of the diagonals, each of which is one. */
static darray repeated(darray x, int by_diagonals) {
    if (!by_diagonals) {
        const darray one = x.rank == 1 ? darray_slice(x, 0, 0, 1, 1) : darray_slice(x, 1, 0, 1, 1);
        return darray_broadcast(one, x.rank, x.extent);
    }
    for (int d = 0; d < x.rank; d++) x.stride[d] = 1;
    return x;
}

static void expect_zeros(darray x) {
    static values now;
    read_values(x, &now);
    for (int i = 0; i < now.n; i++) assert_true(real_of(now.at[i]) == 0);
}

TEST(rows) {
    const darray x = plain(HA_DTYPE_double, 1), at = plain(HA_DTYPE_int32_t, 1);
    const darray number = plain(HA_DTYPE_int32_t, 1), mask = plain(HA_DTYPE_uint8_t, 1);
    const darray y = plain(HA_DTYPE_double, 1), same = repeated(y, 0);
    const darray numbers = repeated(number, 0);
    int64_t count = 7;
    SUCCEEDS(ha_sequence(at, 0, 1, C));
    SUCCEEDS(ha_fill(mask, 1, C));
    REPEATS("ha_gather", ha_gather(same, x, at, C));
    REPEATS("ha_scatter", ha_scatter(HA_ADD, same, at, x, C));
    REPEATS("ha_scatter", ha_scatter(HA_ASSIGN, same, at, x, C));
    REPEATS("ha_compact", ha_compact(same, x, mask, &count, C));
    REPEATS("ha_find", ha_find(numbers, mask, &count, C));
    REPEATS("ha_inverse", ha_inverse(numbers, at, C));
    REPEATS("ha_sort", ha_sort(same, HA_ASCENDING, C));
    REPEATS("ha_sorting", ha_sorting(numbers, x, HA_ASCENDING, C));
    REPEATS("ha_sort_by_key", ha_sort_by_key(at, same, HA_ASCENDING, C));
    REPEATS("ha_unique", ha_unique(same, x, &count, C));
    REPEATS("ha_lower_bound", ha_lower_bound(numbers, x, x, C));
    REPEATS("ha_upper_bound", ha_upper_bound(numbers, x, x, C));
    REPEATS("ha_scan_offsets", ha_scan_offsets(numbers, darray_slice(at, 0, 0, LONG - 1, 1), C));
    REPEATS("ha_histogram", ha_histogram(numbers, x, 0, 1, &count, C));
    REPEATS("ha_differences", ha_differences(darray_slice(same, 0, 0, LONG - 1, 1), x, 0, C));
    assert_int_equal(count, 7);
    expect_zeros(y), expect_zeros(number), expect_zeros(x);
    drop_arrays();
}

static void refuse_squares(int by_diagonals) {
    const darray x = plain(HA_DTYPE_double, 2), y = plain(HA_DTYPE_double, 2);
    const darray mask = plain(HA_DTYPE_uint8_t, 2), masks = repeated(mask, by_diagonals);
    const darray same = repeated(y, by_diagonals),
                 at = darray_slice(plain(HA_DTYPE_int32_t, 1), 0, 0, SIDE, 1);
    REPEATS("ha_map", ha_map(HA_NEGATE, same, x, C));
    REPEATS("ha_combine", ha_combine(HA_ADD, same, x, x, C));
    REPEATS("ha_combine", ha_combine(HA_IS_LESS, masks, x, x, C));
    REPEATS("ha_combine_number", ha_combine_number(HA_ADD, same, x, 1, C));
    REPEATS("ha_axpby", ha_axpby(same, 1, x, 1, x, C));
    REPEATS("ha_axpy", ha_axpy(same, 1, x, C));
    REPEATS("ha_clip", ha_clip(same, x, 1, 2, C));
    REPEATS("ha_where", ha_where(same, mask, x, x, C));
    REPEATS("ha_sequence", ha_sequence(same, 1, 1, C));
    REPEATS("ha_random", ha_random(same, 1, C));
    REPEATS("ha_random_normal", ha_random_normal(same, 1, C));
    REPEATS("ha_gather", ha_gather(same, x, at, C));
    REPEATS("ha_scatter", ha_scatter(HA_ADD, same, at, x, C));
    REPEATS("ha_scan", ha_scan(HA_SUM, same, x, HA_INCLUSIVE, C));
    REPEATS("ha_scan_along", ha_scan_along(HA_SUM, same, x, 0, HA_INCLUSIVE, C));
    expect_zeros(y), expect_zeros(mask), expect_zeros(x);
    drop_arrays();
}

TEST(squares) {
    refuse_squares(0);
    refuse_squares(1);
}

/* Of more elements than their type counts, which are few in memory. */
TEST(places_that_do_not_fit) {
    static const int64_t too_many[] = {(int64_t)INT32_MAX + 2, (int64_t)UINT32_MAX + 2};
    static const ha_dtype small[] = {HA_DTYPE_int32_t, HA_DTYPE_uint32_t};
    const darray large = plain(HA_DTYPE_int64_t, 1);
    for (int i = 0; i < 2; i++) {
        const darray at = plain(small[i], 1), one = darray_slice(at, 0, 0, 1, 1);
        const darray p = darray_broadcast(darray_slice(large, 0, 0, 1, 1), 1, &too_many[i]);
        char part[80];
        refused(ha_inverse(darray_broadcast(one, 1, &too_many[i]), p, C), "ha_inverse",
                "its places do not fit its type");
        /* Looking for one element among so many takes long: so what is asked when it has been found. */
        const ha_finding f = {.operation = "ha_find", .y = at, .all = too_many[i], .count = 1};
        snprintf(part, sizeof part, "the numbers of a mask of %lld elements do not fit its type",
                 (long long)too_many[i]);
        refused(ha_find_check_room(&f), "ha_find", part);
        ha_finding fits = f;
        fits.all--;
        SUCCEEDS(ha_find_check_room(&fits));
        expect_zeros(at);
    }
    drop_arrays();
}

/* Both are told. NaN is no bound; the same number twice is one. */
TEST(bounds_that_are_none) {
    const darray x = plain(HA_DTYPE_double, 1), y = plain(HA_DTYPE_double, 1);
    SUCCEEDS(ha_fill(x, 3, C));
    refused(ha_clip(y, x, (double)NAN, 1, C), "ha_clip", "low, nan, and high, 1, have no order");
    refused(ha_clip(y, x, 1, (double)NAN, C), "ha_clip", "low, 1, and high, nan, have no order");
    refused(ha_clip(y, x, (float)NAN, (double)NAN, C), "ha_clip", "low, nan, and high, nan, have");
    refused(ha_clip(y, x, 2, 1, C), "ha_clip", "low, 2, is greater than high, 1");
    refused(ha_clip(y, x, 0, -0.5f, C), "ha_clip", "low, 0, is greater than high, -0.5");
    expect_zeros(y);
    SUCCEEDS(ha_clip(y, x, 0, (double)INFINITY, C)); /* which is one */
    SUCCEEDS(ha_clip(y, y, 3, 3, C));
    drop_arrays();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        OPERATIONS(rows),
        OPERATIONS(squares),
        OPERATIONS(places_that_do_not_fit),
        OPERATIONS(bounds_that_are_none),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
