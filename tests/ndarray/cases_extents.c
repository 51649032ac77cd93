/* Extents, strides and indices: literal numbers, rank 0, and the ends of 64 bits.
 * test_extents.c has random ones. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/refusals.h"

HARRAY_NAMED(dim2, ha_dim2);

#define EQUALS(d, ...)                                                                             \
    do {                                                                                           \
        const int64_t expected_[] = {__VA_ARGS__};                                                 \
        assert_memory_equal((d).at, expected_, sizeof expected_);                                  \
        assert_int_equal(sizeof(d).at, sizeof expected_);                                          \
    } while (0)

static const ha_order orders[] = {HA_ROW_MAJOR, HA_COLUMN_MAJOR};

/* ---- fixed rank ----------------------------------------------------------------------------- */

TEST(making_extents) {
    ha_dim2 d = ha_dim2_of(3, 4);
    assert_true(d.at[0] == 3 && d.at[1] == 4);
    EQUALS(ha_dim1_of(7), 7);
    EQUALS(ha_dim3_of(1, 2, 3), 1, 2, 3);
    EQUALS(ha_dim4_of(1, 2, 3, 4), 1, 2, 3, 4);
}

static void write_dim(const ha_queue *queue, void *argument) {
    ha_write_dim2 v = *(const ha_write_dim2 *)argument;
    ha_dim2 *d = HA_HERE(queue, ha_dim2, v.data);
    d[0] = ha_dim2_of(5, 6);
    d[1] = ha_dim2_all(d[0].at[1]); /* case 7: read by index on the device */
}

/* Written on a device, and read back. */
TEST(extents_as_elements) {
    harray_dim2 x = harray_dim2_zeros(2);
    HA_OVERWRITING_ALL(v, x, ha_context_find("sim")) HA_RUN(write_dim, v);
    else fail();
    HA_READING(v, x, ha_host()) {
        EQUALS(v.data[0], 5, 6);
        EQUALS(v.data[1], 6, 6);
    }
    else fail();
    FINE(harray_dim2_free(&x));
}

TEST(offset_of_an_index) {
    int64_t offset = 0;
    assert_int_equal(ha_dim2_offset(ha_dim2_of(5, 6), ha_dim2_of(7, 8)), 83);
    FINE(ha_dim2_offset_checked(ha_dim2_of(5, 6), ha_dim2_of(6, 7), ha_dim2_of(7, 8), &offset));
    assert_int_equal(offset, 83);
    REFUSED(HA_ERR_ARGUMENT,
            ha_dim2_offset_checked(ha_dim2_of(5, 6), ha_dim2_of(6, 6), ha_dim2_of(7, 8), &offset));
    assert_int_equal(offset, 83);
}

TEST(product_of_extents) {
    int64_t count = 0;
    FINE(ha_dim2_product(ha_dim2_of(5, 6), &count));
    assert_int_equal(count, 30);
}

TEST(setting_a_dimension) {
    ha_dim2 d = ha_dim2_of(7, 8);
    int64_t value = 0;
    d.at[1] = 10;
    EQUALS(d, 7, 10);
    FINE(ha_dim2_set(&d, 0, 8));
    FINE(ha_dim2_set(&d, 1, 11));
    EQUALS(d, 8, 11);
    FINE(ha_dim2_get(d, 0, &value));
    assert_int_equal(value, 8);
    FINE(ha_dim2_get(d, 1, &value));
    assert_int_equal(value, 11);
}

/* The strides of elements without gaps, in both orders. */
static void strides_are(ha_dim3 extent, ha_dim3 rows, ha_dim3 columns) {
    ha_dim3 stride = ha_dim3_all(-1);
    FINE(ha_dim3_strides(extent, HA_ROW_MAJOR, &stride));
    assert_true(ha_dim3_equal(stride, rows));
    assert_true(ha_dim3_contiguous(extent, stride, HA_ROW_MAJOR));
    FINE(ha_dim3_strides(extent, HA_COLUMN_MAJOR, &stride));
    assert_true(ha_dim3_equal(stride, columns));
    assert_true(ha_dim3_contiguous(extent, stride, HA_COLUMN_MAJOR));
}

TEST(strides_of_extents) {
    strides_are(ha_dim3_of(3, 4, 5), ha_dim3_of(20, 5, 1), ha_dim3_of(1, 3, 12));
}

/* An extent of 1 has the stride that a longer one would have. */
TEST(strides_of_a_single_middle) {
    strides_are(ha_dim3_of(10, 1, 10), ha_dim3_of(10, 10, 1), ha_dim3_of(1, 10, 10));
}

TEST(strides_of_a_single_end) {
    strides_are(ha_dim3_of(10, 10, 1), ha_dim3_of(10, 1, 1), ha_dim3_of(1, 10, 100));
}

TEST(strides_of_other_extents) {
    strides_are(ha_dim3_of(2, 3, 4), ha_dim3_of(12, 4, 1), ha_dim3_of(1, 2, 6));
}

TEST(strides_of_ones_and_of_nothing) {
    ha_dim1 one = ha_dim1_of(0);
    strides_are(ha_dim3_all(1), ha_dim3_all(1), ha_dim3_all(1));
    strides_are(ha_dim3_of(2, 1, 3), ha_dim3_of(3, 3, 1), ha_dim3_of(1, 2, 2));
    for (int64_t n = 1; n <= 5; n += 4) {
        FINE(ha_dim1_strides(ha_dim1_of(n), HA_ROW_MAJOR, &one));
        EQUALS(one, 1);
    }
    strides_are(ha_dim3_of(2, 0, 3), ha_dim3_of(3, 3, 1), ha_dim3_of(1, 2, 2));
}

TEST(linear_and_back) {
    ha_dim3 index = ha_dim3_all(-1), extent = ha_dim3_of(4, 5, 2);
    int64_t linear = 0;
    FINE(ha_dim3_of_linear(14, extent, HA_COLUMN_MAJOR, &index));
    EQUALS(index, 2, 3, 0);
    FINE(ha_dim3_linear(index, extent, HA_COLUMN_MAJOR, &linear));
    assert_int_equal(linear, 14);
    FINE(ha_dim3_of_linear(14, extent, HA_ROW_MAJOR, &index));
    EQUALS(index, 1, 2, 0);
    FINE(ha_dim3_linear(index, extent, HA_ROW_MAJOR, &linear));
    assert_int_equal(linear, 14);
}

/* Always checked. */
TEST(linear_index_beyond_the_end) {
    ha_dim3 index = ha_dim3_all(-1), extent = ha_dim3_of(4, 5, 2);
    for (int i = 0; i < 2; i++) {
        int64_t linear = 7;
        FINE(ha_dim3_of_linear(39, extent, orders[i], &index));
        EQUALS(index, 3, 4, 1);
        assert_int_equal(ha_dim3_of_linear(40, extent, orders[i], &index), HA_ERR_ARGUMENT);
        ha_error error = ha_take_error();
        assert_string_equal(error.operation, "ha_index_of_linear");
        assert_string_equal(error.text, "there is no element 40, the extents are (4, 5, 2)");
        REFUSED(HA_ERR_ARGUMENT, ha_dim3_of_linear(-1, extent, orders[i], &index));
        EQUALS(index, 3, 4, 1);
        assert_int_equal(ha_dim3_linear(ha_dim3_of(0, 5, 0), extent, orders[i], &linear),
                         HA_ERR_ARGUMENT);
        assert_string_equal(ha_take_error().text,
                            "there is no index (0, 5, 0), the extents are (4, 5, 2)");
        assert_int_equal(linear, 7);
    }
}

TEST(contained_in_extents) {
    assert_true(ha_dim2_contained(ha_dim2_of(3, 4), ha_dim2_of(5, 6)));
    assert_false(ha_dim2_contained(ha_dim2_of(5, 6), ha_dim2_of(3, 4)));
    assert_false(ha_dim2_contained(ha_dim2_of(0, 6), ha_dim2_of(5, 6)));
    assert_false(ha_dim2_contained(ha_dim2_of(-1, 0), ha_dim2_of(5, 6)));
    assert_true(ha_contained(0, NULL, NULL));
}

TEST(equal_extents) {
    ha_dim2 x = ha_dim2_of(3, 4);
    assert_true(ha_dim2_equal(x, ha_dim2_of(3, 4)));
    assert_false(ha_dim2_equal(x, ha_dim2_of(5, 6)));
    assert_false(ha_dim2_equal(x, ha_dim2_of(3, 5)));
    assert_true(ha_dim2_equal(x, x));
}

TEST(contiguous_by_order) {
    ha_dim3 extent = ha_dim3_of(4, 5, 2);
    assert_true(ha_dim3_contiguous(extent, ha_dim3_of(1, 4, 20), HA_COLUMN_MAJOR));
    assert_false(ha_dim3_contiguous(extent, ha_dim3_of(1, 4, 20), HA_ROW_MAJOR));
    assert_true(ha_dim3_contiguous(extent, ha_dim3_of(10, 2, 1), HA_ROW_MAJOR));
    assert_false(ha_dim3_contiguous(extent, ha_dim3_of(2, 8, 40), HA_COLUMN_MAJOR));
    assert_false(ha_dim3_contiguous(extent, ha_dim3_of(20, 4, 2), HA_ROW_MAJOR));
    assert_false(ha_dim3_contiguous(extent, ha_dim3_of(1, 4, 40), HA_COLUMN_MAJOR));
    assert_false(ha_dim3_contiguous(extent, ha_dim3_of(20, 2, 1), HA_ROW_MAJOR));
}

/* Strides of extents of 1 never decide. */
TEST(strides_of_single_elements_do_not_matter) {
    for (int i = 0; i < 2; i++)
        for (int64_t any = -3; any < 9; any++)
            assert_true(ha_dim2_contiguous(ha_dim2_of(3, 1), ha_dim2_of(1, any), orders[i]));
}

/* What is empty is contiguous. */
TEST(empty_is_contiguous) {
    for (int i = 0; i < 2; i++) {
        assert_true(ha_dim2_contiguous(ha_dim2_of(0, 7), ha_dim2_of(99, 99), orders[i]));
        assert_true(ha_dim2_contiguous(ha_dim2_of(7, 0), ha_dim2_of(0, -1), orders[i]));
    }
}

TEST(contiguous_in_one_order) {
    assert_false(ha_dim2_contiguous(ha_dim2_of(2, 3), ha_dim2_of(3, 1), HA_COLUMN_MAJOR));
    assert_true(ha_dim2_contiguous(ha_dim2_of(2, 3), ha_dim2_of(3, 1), HA_ROW_MAJOR));
}

TEST(printing_extents) {
    char text[8] = "???????";
    assert_int_equal(ha_dim2_print(ha_dim2_of(2, 3), text, sizeof text), 4);
    assert_string_equal(text, "2, 3");
    assert_int_equal(ha_dim1_print(ha_dim1_of(8), text, sizeof text), 1);
    assert_string_equal(text, "8");
    assert_int_equal(ha_dim3_print(ha_dim3_of(-10, 20, 30), text, sizeof text), 11);
    assert_string_equal(text, "-10, 20");
    assert_int_equal(ha_dim2_print(ha_dim2_of(2, 3), NULL, 0), 4);
    assert_int_equal(ha_extents_print(0, NULL, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(ha_extents_print(HA_MOST_RANK + 1, (int64_t[9]){1}, text, sizeof text), 0);
}

TEST(dimension_that_is_not_there) {
    ha_dim2 d = ha_dim2_of(3, 4);
    int64_t value = 7;
    REFUSED(HA_ERR_ARGUMENT, ha_dim2_get(d, -1, &value));
    REFUSED(HA_ERR_ARGUMENT, ha_dim2_set(&d, -1, 9));
    assert_int_equal(ha_dim2_get(d, 2, &value), HA_ERR_ARGUMENT);
    assert_string_equal(ha_take_error().text, "there is no dimension 2, the rank is 2");
    REFUSED(HA_ERR_ARGUMENT, ha_dim2_set(&d, 2, 9));
    assert_int_equal(value, 7);
    EQUALS(d, 3, 4);
}

TEST(sums_and_products_of_extents) {
    ha_dim2 d = ha_dim2_of(3, 4);
    FINE(ha_dim2_add(d, ha_dim2_of(5, -6), &d));
    EQUALS(d, 8, -2);
    FINE(ha_dim2_multiply(d, ha_dim2_of(2, 3), &d));
    EQUALS(d, 16, -6);
}

TEST(all_extents_the_same) {
    EQUALS(ha_dim1_all(3), 3);
    EQUALS(ha_dim2_all(4), 4, 4);
    EQUALS(ha_dim3_all(5), 5, 5, 5);
    EQUALS(ha_dim4_all(-6), -6, -6, -6, -6);
}

/* ---- any rank ------------------------------------------------------------------------------- */

TEST(setting_a_dimension_by_rank) {
    int64_t d[] = {9, 1, 5}, value = 0;
    d[1] = 2;
    FINE(ha_extents_set(3, d, 0, 6));
    FINE(ha_extents_get(3, d, 0, &value));
    assert_int_equal(value, 6);
    FINE(ha_extents_get(3, d, 1, &value));
    assert_int_equal(value, 2);
}

/* A fixed rank is an array: to any rank by pointer. */
TEST(fixed_rank_is_an_array) {
    ha_dim3 d = ha_dim3_of(3, 2, 1);
    const int64_t other[] = {3, 2, 1};
    assert_true(ha_extents_equal(3, d.at, 3, other));
}

TEST(sums_and_products_by_rank) {
    const int64_t a[] = {6, 2, 5}, b[] = {9, 1, 5};
    int64_t c[3];
    FINE(ha_extents_add(3, a, b, c));
    assert_true(ha_extents_equal(3, c, 3, (int64_t[]){15, 3, 10}));
    FINE(ha_extents_multiply(3, a, b, c));
    assert_true(ha_extents_equal(3, c, 3, (int64_t[]){54, 2, 25}));
}

TEST(product_by_rank) {
    int64_t count = 0;
    FINE(ha_extents_product(3, (int64_t[]){9, 1, 5}, &count));
    assert_int_equal(count, 45);
    FINE(ha_extents_product(4, (int64_t[]){3, 2, 5, 3}, &count));
    assert_int_equal(count, 90);
    FINE(ha_extents_product(0, NULL, &count));
    assert_int_equal(count, 1);
}

TEST(printing_by_rank) {
    char text[20];
    assert_int_equal(ha_extents_print(3, (int64_t[]){2, 3, 4}, text, sizeof text), 7);
    assert_string_equal(text, "2, 3, 4");
}

/* Every function, with an argument that makes no sense: refused, and nothing is written. */
static void all_refused(int rank, const int64_t *n, ha_order order) {
    int64_t out[HA_MOST_RANK + 1] = {7}, more = 7;
    REFUSED(HA_ERR_ARGUMENT, ha_extents_strides(rank, n, order, out));
    REFUSED(HA_ERR_ARGUMENT, ha_linear_of_index(rank, n, n, order, out));
    REFUSED(HA_ERR_ARGUMENT, ha_index_of_linear(rank, 0, n, order, out));
    assert_false(ha_extents_contiguous(rank, n, n, order));
    if (order == HA_ROW_MAJOR) {
        REFUSED(HA_ERR_ARGUMENT, ha_extents_product(rank, n, out));
        REFUSED(HA_ERR_ARGUMENT, ha_extents_reach(rank, n, n, out, &more));
        REFUSED(HA_ERR_ARGUMENT, ha_extents_inside(rank, n, n, 0, 1));
        REFUSED(HA_ERR_ARGUMENT, ha_offset_checked(rank, n, n, n, out));
    }
    if (order == HA_ROW_MAJOR && (!n || rank < 0 || rank > HA_MOST_RANK)) {
        REFUSED(HA_ERR_ARGUMENT, ha_extents_add(rank, n, n, out));
        REFUSED(HA_ERR_ARGUMENT, ha_extents_multiply(rank, n, n, out));
        REFUSED(HA_ERR_ARGUMENT, ha_extents_get(rank, n, 0, out));
        assert_false(ha_extents_equal(rank, n, rank, n));
    }
    assert_true(out[0] == 7 && more == 7);
}

static int64_t *volatile none; /* so that no compiler knows, and warns */

TEST(ranks_and_extents_that_are_none) {
    const int64_t nines[9] = {9, 9, 9, 9, 9, 9, 9, 9, 9}, negative[] = {2, -1, 0};
    int64_t out[2] = {7, 7};
    all_refused(-1, nines, HA_ROW_MAJOR);
    all_refused(HA_MOST_RANK + 1, nines, HA_ROW_MAJOR);
    all_refused(1, none, HA_ROW_MAJOR);
    all_refused(3, negative, HA_ROW_MAJOR);
    all_refused(2, nines, (ha_order)2);
    REFUSED(HA_ERR_ARGUMENT, ha_extents_set(-1, out, 0, 1));
    REFUSED(HA_ERR_ARGUMENT, ha_extents_set(2, none, 0, 1));
    REFUSED(HA_ERR_ARGUMENT, ha_extents_get(2, nines, 0, none));
    REFUSED(HA_ERR_ARGUMENT, ha_extents_product(0, none, none));
    REFUSED(HA_ERR_ARGUMENT, ha_extents_strides(2, nines, HA_ROW_MAJOR, none));
    REFUSED(HA_ERR_ARGUMENT, ha_extents_reach(2, nines, none, out, out + 1));
    REFUSED(HA_ERR_ARGUMENT, ha_extents_reach(2, nines, nines, none, out));
    REFUSED(HA_ERR_ARGUMENT, ha_extents_reach(2, nines, nines, out, none));
    REFUSED(HA_ERR_ARGUMENT, ha_extents_inside(2, nines, none, 0, 1));
    REFUSED(HA_ERR_ARGUMENT, ha_extents_add(2, nines, nines, none));
    REFUSED(HA_ERR_ARGUMENT, ha_extents_multiply(2, nines, none, out));
    REFUSED(HA_ERR_ARGUMENT, ha_linear_of_index(2, none, nines, HA_ROW_MAJOR, out));
    REFUSED(HA_ERR_ARGUMENT, ha_linear_of_index(2, out, nines, HA_ROW_MAJOR, none));
    REFUSED(HA_ERR_ARGUMENT, ha_index_of_linear(2, 0, nines, HA_ROW_MAJOR, none));
    REFUSED(HA_ERR_ARGUMENT, ha_offset_checked(2, none, nines, nines, out));
    REFUSED(HA_ERR_ARGUMENT, ha_offset_checked(2, out, nines, none, out));
    REFUSED(HA_ERR_ARGUMENT, ha_offset_checked(2, out, nines, nines, none));
    assert_false(ha_extents_contiguous(2, nines, none, HA_ROW_MAJOR));
    assert_true(out[0] == 7 && out[1] == 7);
}

TEST(equal_by_rank) {
    const int64_t d[] = {2, 3, 1};
    assert_false(ha_extents_equal(3, d, 2, d));
    assert_true(ha_extents_equal(3, d, 3, (int64_t[]){2, 3, 1}));
    assert_false(ha_extents_equal(3, d, 3, (int64_t[]){2, 3, 2}));
    assert_true(ha_extents_equal(0, NULL, 0, d));
}

/* ---- rank 0, and the ends of 64 bits -------------------------------------------------------- */

TEST(rank_0) {
    int64_t lowest = 7, highest = 7, linear = 7;
    for (int i = 0; i < 2; i++) {
        FINE(ha_extents_strides(0, NULL, orders[i], NULL));
        assert_true(ha_extents_contiguous(0, NULL, NULL, orders[i]));
        FINE(ha_linear_of_index(0, NULL, NULL, orders[i], &linear));
        assert_int_equal(linear, 0);
        FINE(ha_index_of_linear(0, 0, NULL, orders[i], NULL));
        REFUSED(HA_ERR_ARGUMENT, ha_index_of_linear(0, 1, NULL, orders[i], NULL));
    }
    FINE(ha_extents_reach(0, NULL, NULL, &lowest, &highest));
    assert_true(lowest == 0 && highest == 0);
    FINE(ha_extents_inside(0, NULL, NULL, 4, 5));
    REFUSED(HA_ERR_ARGUMENT, ha_extents_inside(0, NULL, NULL, 5, 5));
    FINE(ha_extents_add(0, NULL, NULL, NULL));
    FINE(ha_extents_multiply(0, NULL, NULL, NULL));
    linear = 7;
    FINE(ha_offset_checked(0, NULL, NULL, NULL, &linear));
    assert_int_equal(linear, 0);
    REFUSED(HA_ERR_ARGUMENT, ha_extents_get(0, NULL, 0, &linear));
}

TEST(overflow) {
    const int64_t large = INT64_C(1) << 40;
    ha_dim3 d = ha_dim3_all(7);
    int64_t count = 7;
    FINE(ha_dim3_product(ha_dim3_of(large, large, 0), &count));
    assert_int_equal(count, 0);
    FINE(ha_dim3_product(ha_dim3_of(1, INT64_MAX, 1), &count));
    assert_true(count == INT64_MAX);
    assert_int_equal(ha_dim3_product(ha_dim3_of(large, 1, large), &count), HA_ERR_MEMORY);
    assert_string_equal(
        ha_take_error().text,
        "the number of elements of (1099511627776, 1, 1099511627776) overflows 64 bits");
    REFUSED(HA_ERR_MEMORY, ha_dim3_strides(ha_dim3_of(large, large, 0), HA_ROW_MAJOR, &d));
    REFUSED(HA_ERR_MEMORY, ha_dim3_linear(d, ha_dim3_all(large), HA_ROW_MAJOR, &count));
    REFUSED(HA_ERR_MEMORY, ha_dim3_of_linear(1, ha_dim3_all(large), HA_ROW_MAJOR, &d));
    REFUSED(HA_ERR_MEMORY, ha_dim3_add(d, ha_dim3_of(0, 0, INT64_MAX), &d));
    REFUSED(HA_ERR_MEMORY, ha_dim3_multiply(d, ha_dim3_of(0, INT64_MIN, 0), &d));
    REFUSED(HA_ERR_MEMORY, ha_dim3_offset_checked(ha_dim3_of(1, 1, 0), ha_dim3_all(2),
                                                  ha_dim3_all(INT64_MAX), &count));
    EQUALS(d, 7, 7, 7);
    assert_true(count == INT64_MAX);
    assert_false(ha_dim3_contiguous(ha_dim3_all(large), ha_dim3_of(0, large, 1), HA_ROW_MAJOR));
}

/* Views that go backwards, and what they need of their storage. */
TEST(inside) {
    ha_dim2 extent = ha_dim2_of(3, 4), stride = ha_dim2_of(4, -1);
    int64_t lowest = 7, highest = 7;
    FINE(ha_dim2_reach(extent, stride, &lowest, &highest));
    assert_true(lowest == -3 && highest == 8);
    FINE(ha_dim2_inside(extent, stride, 3, 12));
    assert_int_equal(ha_dim2_inside(extent, stride, 2, 12), HA_ERR_ARGUMENT);
    assert_string_equal(
        ha_take_error().text,
        "elements -1 to 10 are not all in a storage of 12: (3, 4), strides (4, -1)");
    REFUSED(HA_ERR_ARGUMENT, ha_dim2_inside(extent, stride, 4, 12));
    REFUSED(HA_ERR_MEMORY, ha_dim2_inside(extent, stride, INT64_MAX, INT64_MAX));
    REFUSED(HA_ERR_MEMORY, ha_dim2_inside(extent, stride, INT64_MIN, INT64_MAX));
    FINE(ha_dim2_inside(ha_dim2_of(3, 0), stride, 99, 0)); /* nothing is always inside */
    FINE(ha_dim2_reach(ha_dim2_of(0, INT64_MAX), ha_dim2_all(INT64_MIN), &lowest, &highest));
    assert_true(lowest == 0 && highest == -1);
    FINE(ha_dim2_reach(ha_dim2_of(2, 2), ha_dim2_of(INT64_MIN, INT64_MAX), &lowest, &highest));
    assert_true(lowest == INT64_MIN && highest == INT64_MAX);
    REFUSED(HA_ERR_MEMORY,
            ha_dim2_reach(ha_dim2_of(2, 2), ha_dim2_of(INT64_MIN, -1), &lowest, &highest));
    assert_true(lowest == INT64_MIN && highest == INT64_MAX);
}

#define T(name) cmocka_unit_test(name)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(making_extents),
        T(extents_as_elements),
        T(offset_of_an_index),
        T(product_of_extents),
        T(setting_a_dimension),
        T(strides_of_extents),
        T(strides_of_a_single_middle),
        T(strides_of_a_single_end),
        T(strides_of_other_extents),
        T(strides_of_ones_and_of_nothing),
        T(linear_and_back),
        T(linear_index_beyond_the_end),
        T(contained_in_extents),
        T(equal_extents),
        T(contiguous_by_order),
        T(strides_of_single_elements_do_not_matter),
        T(empty_is_contiguous),
        T(contiguous_in_one_order),
        T(printing_extents),
        T(dimension_that_is_not_there),
        T(sums_and_products_of_extents),
        T(all_extents_the_same),
        T(setting_a_dimension_by_rank),
        T(fixed_rank_is_an_array),
        T(sums_and_products_by_rank),
        T(product_by_rank),
        T(printing_by_rank),
        T(ranks_and_extents_that_are_none),
        T(equal_by_rank),
        T(rank_0),
        T(overflow),
        T(inside),
    };
    int failed = cmocka_run_group_tests_name("extents", tests, NULL, NULL);
    return failed + (ha_shutdown() != HA_OK);
}
