/* What operations that change an array in place refuse because of its elements, on every context: those that were never written
 * have no value to compute with; others may only be read. It does not depend on values, nothing is changed then, and
 * messages name the call and the array. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"
#include "../support/share.h"
#include "some_views.h"
#include "known_operations.h"

enum { LONG = 6, HALF = LONG / 2, MANY = 2 * HA_SCATTER_LEAST };
static const int changing[] = {HA_ADD, HA_MULTIPLY, HA_MINIMUM, HA_MAXIMUM};
enum { CHANGING = sizeof changing / sizeof *changing };

static void refused(ha_status expected, ha_status got, const char *operation, const char *part) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, expected);
    assert_string_equal(e.operation, operation);
    if (!strstr(e.text, part)) fail_msg("%s: \"%s\" does not say \"%s\"", operation, e.text, part);
    if (!strstr(e.text, "'changed'")) fail_msg("\"%s\" does not name the array", e.text);
}
#define UNWRITTEN(operation, ...)                                                                  \
    refused(HA_ERR_STATE, __VA_ARGS__, operation, "were never written")
#define READ_ONLY(operation, ...) refused(HA_ERR_STATE, __VA_ARGS__, operation, "can only be read")
#define READ_NOW(operation, ...)                                                                   \
    refused(HA_ERR_CONFLICT, __VA_ARGS__, operation, "this thread reads it")

static darray row(ha_dtype type, int64_t n) {
    const darray x = darray_new(type, 1, &n, C);
    keep_array(x.array);
    return x;
}

/* n, n - 1, …, 1 */
static darray down(ha_dtype type, int64_t n) {
    const darray x = row(type, n);
    SUCCEEDS(ha_sequence(x, n, -1, C));
    return x;
}

static darray changed(darray x) {
    ha_array_set_name(x.array, "changed");
    return x;
}

static void expect_unwritten(darray x) {
    ha_access v;
    REFUSED(HA_ERR_STATE, ha_open(&v, x.array, H, HA_READ, 0, HA_END));
}

static void expect_row(darray x, const double *expected) {
    static values now;
    read_values(x, &now);
    for (int i = 0; i < now.n; i++) assert_true(real_of(now.at[i]) == expected[i]);
}
static const double falling[] = {6, 5, 4, 3, 2, 1};

TEST(scattered_to_no_values) {
    const darray at = row(HA_DTYPE_int32_t, LONG), x = down(HA_DTYPE_double, LONG);
    const darray y = changed(row(HA_DTYPE_double, LONG));
    SUCCEEDS(ha_sequence(at, 0, 1, C));
    for (int i = 0; i < CHANGING; i++)
        UNWRITTEN("ha_scatter", ha_scatter(changing[i], y, at, x, C));
    expect_unwritten(y);
    SUCCEEDS(ha_scatter(HA_ASSIGN, y, at, x, C)); /* which computes with nothing */
    expect_row(y, falling);
    drop_arrays();
}

/* So many that where kernels are compiled the indices are sorted first. */
TEST(many_scattered_to_no_values) {
    const darray at = row(HA_DTYPE_int32_t, MANY), x = down(HA_DTYPE_double, MANY);
    const darray y = changed(row(HA_DTYPE_double, LONG));
    SUCCEEDS(ha_fill(at, LONG - 1, C));
    UNWRITTEN("ha_scatter", ha_scatter(HA_ADD, y, at, x, C));
    expect_unwritten(y);
    drop_arrays();
}

TEST(sorted_without_values) {
    const int64_t extent[] = {LONG, 2};
    const darray known = down(HA_DTYPE_int32_t, LONG), never = changed(row(HA_DTYPE_float, LONG));
    const darray pairs = changed(darray_new(HA_DTYPE_float, 2, extent, C));
    keep_array(pairs.array);
    UNWRITTEN("ha_sort", ha_sort(never, HA_ASCENDING, C));
    UNWRITTEN("ha_sort", ha_sort(never, HA_DESCENDING, C));
    UNWRITTEN("ha_sort_by_key", ha_sort_by_key(never, known, HA_ASCENDING, C));
    UNWRITTEN("ha_sort_by_key", ha_sort_by_key(known, never, HA_ASCENDING, C));
    UNWRITTEN("ha_sort_by_key", ha_sort_by_key(known, pairs, HA_ASCENDING, C)); /* gathered */
    expect_unwritten(never), expect_unwritten(pairs);
    expect_row(known, falling);
    drop_arrays();
}

/* Every second element is written, from the first one on; and after them all of the second half. */
static darray written_in_parts(void) {
    const darray x = changed(row(HA_DTYPE_double, 2 * LONG));
    ha_access v;
    for (size_t i = 0; i < LONG; i++) {
        const size_t at = i < HALF ? 2 * i : LONG + i;
        SUCCEEDS(ha_open(&v, x.array, C, HA_WRITE, at, at + 1));
        SUCCEEDS(ha_close(&v));
        SUCCEEDS(darray_fill(darray_slice(x, 0, (int64_t)at, (int64_t)at + 1, 1),
                             HA_DVALUE(LONG - (double)i), C));
    }
    return x;
}

/* Only elements that the view has matter. */
TEST(views_of_what_is_written) {
    const darray at = row(HA_DTYPE_int32_t, HALF), one = row(HA_DTYPE_double, HALF);
    SUCCEEDS(ha_sequence(at, 0, 1, C));
    SUCCEEDS(ha_fill(one, 1, C));
    for (int sorts = 0; sorts < 2; sorts++) {
        const darray x = written_in_parts(), end = darray_slice(x, 0, LONG + HALF, 2 * LONG, 1);
        const darray holes = darray_slice(x, 0, 0, LONG, 1), rest = darray_slice(x, 0, 1, LONG, 2);
        const darray every_second = darray_slice(x, 0, 0, LONG, 2);
        const darray views[] = {end, every_second};
        if (sorts) {
            UNWRITTEN("ha_sort", ha_sort(holes, HA_ASCENDING, C));
            UNWRITTEN("ha_sort", ha_sort(rest, HA_ASCENDING, C));
            UNWRITTEN("ha_sort_by_key", ha_sort_by_key(at, rest, HA_ASCENDING, C));
        }
        UNWRITTEN("ha_scatter", ha_scatter(HA_ADD, holes, at, one, C));
        UNWRITTEN("ha_scatter", ha_scatter(HA_ADD, rest, at, one, C));
        for (int i = 0; i < 2; i++) {
            const double first = i ? LONG : HALF, by = sorts ? 0 : 1;
            if (sorts)
                SUCCEEDS(ha_sort(views[i], HA_DESCENDING, C));
            else
                SUCCEEDS(ha_scatter(HA_ADD, views[i], at, one, C));
            expect_row(views[i], (double[]){first + by, first - 1 + by, first - 2 + by});
        }
    }
    drop_arrays();
}

/* Whether digits differ or not. */
static void refuse_to_sort(darray x, int is_read) {
    const darray known = down(HA_DTYPE_int32_t, LONG);
    if (is_read) {
        READ_NOW("ha_sort", ha_sort(x, HA_ASCENDING, C));
        READ_NOW("ha_sort_by_key", ha_sort_by_key(x, known, HA_ASCENDING, C));
        READ_NOW("ha_sort_by_key", ha_sort_by_key(known, x, HA_ASCENDING, C));
    } else {
        READ_ONLY("ha_sort", ha_sort(x, HA_ASCENDING, C));
        READ_ONLY("ha_sort_by_key", ha_sort_by_key(x, known, HA_ASCENDING, C));
        READ_ONLY("ha_sort_by_key", ha_sort_by_key(known, x, HA_ASCENDING, C));
    }
    expect_row(known, falling);
}

TEST(sorted_where_it_can_only_be_read) {
    static const double kept[2][LONG] = {{6, 5, 4, 3, 2, 1}, {7, 7, 7, 7, 7, 7}};
    const int64_t n = LONG;
    for (int equal = 0; equal < 2; equal++) {
        darray x = darray_wrap(HA_DTYPE_double, 1, &n, NULL, (void *)(uintptr_t)kept[equal], H,
                               HA_WRAP_CONST);
        keep_array(x.array);
        refuse_to_sort(changed(x), 0);
        expect_row(x, kept[equal]);
    }
    drop_arrays();
}

TEST(sorted_while_it_is_read) {
    for (int equal = 0; equal < 2; equal++) {
        const darray x = changed(down(HA_DTYPE_double, LONG));
        ha_access v;
        if (equal) SUCCEEDS(ha_fill(x, 7, C));
        SUCCEEDS(ha_open(&v, x.array, M1, HA_READ, 0, HA_END));
        refuse_to_sort(x, 1);
        SUCCEEDS(ha_close(&v));
        expect_row(x, equal ? (double[]){7, 7, 7, 7, 7, 7} : falling);
    }
    drop_arrays();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        OPERATIONS(scattered_to_no_values),
        OPERATIONS(many_scattered_to_no_values),
        OPERATIONS(sorted_without_values),
        OPERATIONS(views_of_what_is_written),
        OPERATIONS(sorted_where_it_can_only_be_read),
        OPERATIONS(sorted_while_it_is_read),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
