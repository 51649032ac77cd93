/* Operations leave values where they are: on a device that compiles kernels none moves an argument or a result to the host; nor what
 * it makes in between, but for numbers that are counted or given. What they compute is tested elsewhere. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include "../support/matrix.h"
#include "some_views.h"
#include "known_operations.h"

/* So many elements that digits are counted in sorts, indices are sorted for a scatter, and scans have several blocks. */
enum { N = 3000, ROWS = 30, COLUMNS = 100, PARTS = 10 };
enum { MOST_SITES = 200 };

/* All that was moved so far, also for arrays that operations have made and given back. */
static uint64_t all_moved(void) {
    static ha_site_statistics sites[MOST_SITES];
    const size_t n = ha_sites(sites, MOST_SITES);
    uint64_t bytes = 0;
    assert_true(n <= MOST_SITES);
    for (size_t i = 0; i < n; i++) bytes += sites[i].bytes;
    return bytes;
}

/* What was moved for the arrays of the test; and none has values at the host. */
static uint64_t moved_here(const char *call) {
    uint64_t bytes = 0;
    ha_range at_host;
    for (int i = 0; i < MOST_ARRAYS; i++) {
        if (!arrays[i]) continue;
        if (ha_array_valid_ranges(arrays[i], H, &at_host, 1))
            fail_msg("%s: array %d has values at the host", call, i);
        bytes += ha_array_statistics(arrays[i]).bytes;
    }
    return bytes;
}

static uint64_t all_before;

static void expect_no_move(const char *call, ha_status s, uint64_t most) {
    const uint64_t moved = all_moved() - all_before;
    if (s) fail_msg("%s: %s", call, ha_take_error().text);
    if (moved > most) fail_msg("%s has moved %llu bytes", call, (unsigned long long)moved);
    if (moved_here(call)) fail_msg("%s has moved values of its arrays", call);
    step();
}

/* The call succeeds, and moves fewer bytes than the smallest arguments have: one an element. */
#define STAYS(call) (all_before = all_moved(), expect_no_move(#call, call, N - 1))

/* The host joins the counts that blocks have of each of 256 digits, which it gets in each of eight passes and gives back. */
enum { BLOCKS = (N + HA_SORT_BLOCK - 1) / HA_SORT_BLOCK, COUNTS = 2 * 8 * 256 * 8 * BLOCKS };
#define STAYS_BUT_COUNTS(call) (all_before = all_moved(), expect_no_move(#call, call, COUNTS))

/* Elsewhere operations run on the host's memory. */
static int has_kernels(void) { return compiles() && !shares_memory(C); }

static harray_double random_there(uint64_t seed) {
    const harray_double x = keep(harray_double_new(N));
    STAYS(ha_random(x, seed, C));
    return x;
}

static harray_int32_t numbers_there(size_t n, int32_t step) {
    const harray_int32_t x = harray_int32_t_new(n);
    keep_array(x.array);
    STAYS(ha_sequence(x, 0, step, C));
    return x;
}

/* Every second element, more or less at random. */
static harray_uint8_t mask_there(harray_double x) {
    const harray_uint8_t mask = harray_uint8_t_new(N);
    keep_array(mask.array);
    STAYS(ha_combine_number(HA_IS_LESS, mask, x, 0.5, C));
    return mask;
}

TEST(elements) {
    if (!has_kernels()) skip();
    const harray_double x = random_there(1), y = random_there(2), z = random_there(3);
    const harray_uint8_t mask = mask_there(x);
    STAYS(ha_clip(z, x, 0.25, 0.75, C));
    STAYS(ha_where(z, mask, x, y, C));
    drop_arrays();
}

TEST(numbers) {
    if (!has_kernels()) skip();
    const harray_double x = random_there(1);
    const harray_uint8_t mask = mask_there(x);
    double sum;
    int64_t count;
    STAYS(ha_reduce(HA_SUM, x, &sum, C));
    STAYS(ha_count(mask, &count, C));
    drop_arrays();
}

TEST(sorts) {
    if (!has_kernels()) skip();
    const harray_double x = random_there(1), y = random_there(2), z = random_there(3);
    const harray_int32_t at = numbers_there(N, 1);
    int64_t count;
    STAYS_BUT_COUNTS(ha_sorting(at, x, HA_ASCENDING, C));
    STAYS_BUT_COUNTS(ha_sort_by_key(x, at, HA_ASCENDING, C));
    STAYS_BUT_COUNTS(ha_sort(y, HA_ASCENDING, C));
    STAYS(ha_unique(z, y, &count, C));
    STAYS(ha_lower_bound(at, y, x, C));
    drop_arrays();
}

/* Of elements indices are sorted; of rows there are as many lanes as columns. */
TEST(places) {
    if (!has_kernels()) skip();
    const harray_double x = random_there(1), y = random_there(2);
    const harray_int32_t at = numbers_there(N, 1), back = numbers_there(N, 1);
    const harray_int32_t rows = numbers_there(ROWS, 1);
    const harray_uint8_t mask = mask_there(x);
    const int64_t extent[] = {ROWS, COLUMNS};
    int64_t count;
    STAYS(ha_gather(y, x, at, C));
    STAYS_BUT_COUNTS(ha_scatter(HA_ADD, y, at, x, C));
    STAYS(ha_scatter(HA_ADD, darray_reshape(HA_DARRAY(y), 2, extent), rows,
                     darray_reshape(HA_DARRAY(x), 2, extent), C));
    STAYS(ha_inverse(back, at, C));
    STAYS(ha_find(back, mask, &count, C));
    STAYS(ha_compact(y, x, mask, &count, C));
    drop_arrays();
}

TEST(rows_and_columns) {
    if (!has_kernels()) skip();
    const harray_double x = random_there(1), y = random_there(2);
    const harray_int32_t counts = numbers_there(PARTS, 1);
    const int64_t extent[] = {ROWS, COLUMNS};
    const darray grid = darray_reshape(HA_DARRAY(x), 2, extent);
    const darray rows = darray_slice(HA_DARRAY(y), 0, 0, ROWS, 1);
    int64_t outside;
    STAYS(ha_reduce_along(HA_SUM, rows, grid, 1, C));
    STAYS(ha_histogram(counts, x, 0, 1, &outside, C));
    STAYS(ha_scan(HA_SUM, y, x, HA_INCLUSIVE, C));
    drop_arrays();
}

/* Even numbers, and multiples of three. */
TEST(sparse_vectors) {
    if (!has_kernels()) skip();
    const harray_double x = random_there(1), y = random_there(2);
    const harray_int32_t x_at = numbers_there(N, 2), y_at = numbers_there(N, 3);
    const harray_int32_t z_at = numbers_there(2 * N, 1);
    const harray_double z = keep(harray_double_new(2 * N));
    int64_t count;
    STAYS(ha_fill(z, 0, C));
    STAYS(ha_sparse_combine(HA_ADD, z_at, z, x_at, x, y_at, y, &count, C));
    assert_int_equal(count, 2 * N - N / 3);
    drop_arrays();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        OPERATIONS(elements), OPERATIONS(numbers),          OPERATIONS(sorts),
        OPERATIONS(places),   OPERATIONS(rows_and_columns), OPERATIONS(sparse_vectors),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
