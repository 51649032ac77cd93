/* Copying, taking and swapping arrays, access objects; names, owners and versions.
 * On the contexts of support/matrix.h. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"

enum { N = 20 };

/* ---- G. copies ------------------------------------------------------------------------------ */

TEST(copy_is_independent) {
    harray_double x = list_at(C);
    touch(x, H);
    harray_double y = keep(harray_double_copy(x));
    assert_true(VALID(y, H) && VALID(y, C));
    add_at(x, C, 1);
    VALUES(y, 5, 6, 2, 3, -5);
    VALUES(x, 6, 7, 3, 4, -4);

    SUCCEEDS(ha_array_clear(x.array));
    harray_double empty = keep(harray_double_copy(x));
    assert_int_equal(harray_double_size(empty), 0);
    drop(x);
    drop(y);
    drop(empty);
}

TEST(copy_of_a_part) {
    harray_double x = keep(harray_double_new_at(8, C));
    HA_OVERWRITING_RANGE(v, x, C, 2, 5) fill(&v, 3);
    else fail();
    HA_OVERWRITING_RANGE(v, x, M1, 6, 7) fill(&v, 4);
    else fail();
    harray_double y = keep(harray_double_copy(x));
    assert_int_equal(harray_double_size(y), 8);
    VALID_RANGES(y, C, {2, 5});
    VALID_RANGES(y, M1, {6, 7});
    assert_true(sum_range(y, H, 2, 5) == 9);
    assert_true(sum_range(y, H, 6, 7) == 4);
    drop(x);
    drop(y);
}

TEST(assigning_takes_size_and_values) {
    harray_double x = list_at(C), y = ramp(N);
    const uint64_t version = ha_array_version(y.array);
    touch(y, M2);
    SUCCEEDS(harray_double_assign(y, x));
    assert_int_equal(harray_double_size(y), 5);
    assert_int_equal(VALID(y, H), VALID(x, H));
    assert_int_equal(VALID(y, C), VALID(x, C));
    assert_false(VALID(y, M2));
    assert_true(ha_array_version(y.array) > version);
    VALUES(y, 5, 6, 2, 3, -5);
    SUCCEEDS(harray_double_assign(y, y));
    VALUES(y, 5, 6, 2, 3, -5);
    add_at(y, C, 1);
    VALUES(x, 5, 6, 2, 3, -5);
    drop(x);
    drop(y);
}

TEST(assigning_at_a_context) {
    harray_double x = ramp(3), y = keep(harray_double_filled_at(N, 1, M2));
    SUCCEEDS(ha_array_assign_at(y.array, x.array, C));
    assert_int_equal(harray_double_size(y), 3);
    VALID_RANGES(y, C, {0, 3});
    VALID_RANGES(x, C, {0, 3});
    assert_false(VALID(y, M1) || VALID(y, M2));
    if (!shares_memory(C)) assert_false(VALID(y, H));
    VALUES(y, 0, 1, 2);

    harray_double z = ramp(3);
    SUCCEEDS(ha_array_assign_at(z.array, z.array, C));
    assert_true(VALID(z, C) && VALID(z, H));
    VALUES(z, 0, 1, 2);

    harray_double part = keep(harray_double_new(3));
    SUCCEEDS(harray_double_set(part, 1, 1));
    REFUSED(HA_ERR_STATE, ha_array_assign_at(y.array, part.array, C));
    VALUES(y, 0, 1, 2);
    drop(x);
    drop(y);
    drop(z);
    drop(part);
}

/* The memory of the target is used again. */
TEST(assigning_uses_memory_again) {
    const void *before = NULL, *after = NULL;
    harray_double x = ramp(3), y = keep(harray_double_filled_at(N, 1, C));
    HA_READING(v, y, C) before = v.data;
    else fail();
    SUCCEEDS(ha_array_assign_at(y.array, x.array, C));
    HA_READING(v, y, C) after = v.data;
    else fail();
    assert_ptr_equal(before, after);
    assert_int_equal(CAPACITY(y, C), N);
    drop(x);
    drop(y);
}

TEST(taking_hands_memory_over) {
    const void *before = NULL, *after = NULL;
    harray_double x = list_at(C), y = keep(harray_double_filled_at(N, 1, M1));
    harray_double z = keep(harray_double_from(ha_array_like(x.array)));
    HA_READING(v, x, C) before = v.data;
    else fail();
    const uint64_t versions[] = {ha_array_version(x.array), ha_array_version(z.array)};
    SUCCEEDS(ha_array_take(z.array, x.array)); /* into an empty one */
    HA_READING(v, z, C) after = v.data;
    else fail();
    assert_ptr_equal(before, after);
    assert_int_equal(harray_double_size(x), 0);
    assert_int_equal(CAPACITY(x, C), 0);
    assert_false(VALID(x, C));
    assert_true(ha_array_version(x.array) > versions[0]);
    assert_true(ha_array_version(z.array) > versions[1]);

    SUCCEEDS(ha_array_take(y.array, z.array)); /* into one with memory, which is freed */
    HA_READING(v, y, C) after = v.data;
    else fail();
    assert_ptr_equal(before, after);
    assert_int_equal(CAPACITY(y, M1), 0);
    assert_int_equal(harray_double_size(z), 0);
    VALUES(y, 5, 6, 2, 3, -5);

    add_at(x, C, 1); /* an emptied array is an array */
    drop(x);
    drop(y);
    drop(z);
}

TEST(swapping_exchanges_memory) {
    const void *before[2] = {NULL, NULL}, *after[2] = {NULL, NULL};
    harray_double x = list_at(C), y = keep(harray_double_filled_at(2, 1, C));
    harray_double_set_name(x, "x");
    HA_READING(v, x, C) before[0] = v.data;
    HA_READING(v, y, C) before[1] = v.data;
    const uint64_t versions[] = {ha_array_version(x.array), ha_array_version(y.array)};
    SUCCEEDS(harray_double_swap(x, y));
    HA_READING(v, x, C) after[0] = v.data;
    HA_READING(v, y, C) after[1] = v.data;
    assert_ptr_equal(after[0], before[1]);
    assert_ptr_equal(after[1], before[0]);
    assert_true(ha_array_version(x.array) > versions[0]);
    assert_true(ha_array_version(y.array) > versions[1]);
    assert_string_equal(ha_array_name(x.array), "x");
    assert_string_equal(ha_array_name(y.array), "");
    VALUES(x, 1, 1);
    VALUES(y, 5, 6, 2, 3, -5);
    SUCCEEDS(harray_double_swap(x, x));
    VALUES(x, 1, 1);
    drop(x);
    drop(y);
}

/* Element sizes decide, not names. */
TEST(element_sizes_decide) {
    harray_double x = list_at(C);
    harray_float y = harray_float_from(keep_array(harray_float_zeros_at(2, C).array));
    harray_int64_t z = harray_int64_t_from(keep_array(harray_int64_t_zeros_at(2, C).array));
    REFUSED(HA_ERR_ARGUMENT, ha_array_swap(x.array, y.array));
    REFUSED(HA_ERR_ARGUMENT, ha_array_assign(x.array, y.array));
    REFUSED(HA_ERR_ARGUMENT, ha_array_assign_at(x.array, y.array, C));
    REFUSED(HA_ERR_ARGUMENT, ha_array_take(x.array, y.array));
    VALUES(x, 5, 6, 2, 3, -5);
    assert_int_equal(harray_float_size(y), 2);
    SUCCEEDS(ha_array_swap(x.array, z.array));
    VALUES(x, 0, 0);
    drop(x);
    drop_array(y.array);
    drop_array(z.array);
}

TEST(types_by_name) {
    ha_dtype dtype = HA_DTYPE_NONE;
    SUCCEEDS(ha_dtype_find("float", &dtype));
    const ha_type type = ha_dtype_to_type(dtype);
    assert_string_equal(type.name, "float");
    assert_int_equal(type.size, sizeof(float));
    ha_array *x = keep_array(ha_array_new(type, 0, C));
    assert_int_equal(ha_array_size(x), 0);
    assert_string_equal(ha_array_type(x).name, "float");

    REFUSED(HA_ERR_NOT_FOUND, ha_dtype_find("floaty", &dtype));
    REFUSED(HA_ERR_NOT_FOUND, ha_dtype_find("", &dtype));
    assert_int_equal(dtype, HA_DTYPE_float);
    drop_array(x);
}

TEST(like_another_array) {
    harray_double x = list_at(C);
    ha_array *like = keep_array(ha_array_like(x.array));
    assert_int_equal(ha_array_size(like), 0);
    assert_string_equal(ha_array_type(like).name, "double");
    assert_int_equal(ha_array_type(like).size, sizeof(double));
    assert_ptr_equal(ha_array_valid_context(like), C);
    harray_double copy = keep(harray_double_copy(x));
    assert_string_equal(ha_array_type(copy.array).name, "double");
    VALUES(copy, 5, 6, 2, 3, -5);
    drop(x);
    drop(copy);
    drop_array(like);
}

/* ---- I. access objects ---------------------------------------------------------------------- */

static void expect_move(harray_double x, unsigned how, size_t first, size_t last) {
    ha_access a, b;
    SUCCEEDS(ha_open(&a, x.array, C, how, first, last));
    const ha_access before = a;
    SUCCEEDS(ha_move(&b, &a));
    assert_ptr_equal(b.data, before.data);
    assert_int_equal(b.size, before.size);
    assert_int_equal(b.first, before.first);
    assert_ptr_equal(b.array, before.array);
    assert_ptr_equal(b.context, C);
    assert_null(a.data);
    assert_null(a.array);
    REFUSED(HA_ERR_STATE, ha_close(&a));
    REFUSED(HA_ERR_STATE, ha_move(&b, &a));
    REFUSED(HA_ERR_ARGUMENT, ha_move(&b, &b));
    REFUSED(HA_ERR_CONFLICT, ha_array_clear(x.array)); /* still locked */
    SUCCEEDS(ha_close(&b));
    REFUSED(HA_ERR_STATE, ha_close(&b));
}

TEST(accesses_can_be_moved) {
    harray_double x = list_at(C);
    const unsigned hows[] = {HA_READ, HA_WRITE, HA_OVERWRITE};
    for (size_t i = 0; i < 3; i++) {
        expect_move(x, hows[i], 0, HA_END);
        expect_move(x, hows[i], 1, 3);
    }
    drop(x);
}

TEST(reading_values_on_the_host) {
    const double values[] = {2, 3, -5, 1};
    harray_double x = keep(harray_double_of(4, values));
    HA_READING(v, x, H) {
        assert_int_equal(v.size, 4);
        for (size_t i = 0; i < 4; i++) assert_true(v.data[i] == values[i]);
    }
    else fail();
    HA_READING(v, x, C) {
        assert_int_equal(v.size, 4);
        assert_int_equal(v.first, 0);
        assert_ptr_equal(v.context, C);
        assert_ptr_equal(v.array, x.array);
    }
    else fail();
    drop(x);
}

TEST(overwriting_values_on_the_host) {
    harray_double x = keep(harray_double_filled_at(4, 1, C));
    HA_OVERWRITING(v, x, H, 3) {
        v.data[0] = 4;
        v.data[1] = 6;
        v.data[2] = -3;
    }
    else fail();
    VALUES(x, 4, 6, -3);
    drop(x);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The data of a host access is an ordinary C array. */
TEST(host_data_is_a_c_array) {
    const double values[] = {5, 3, 1, 2};
    double copy[4];
    harray_double x = keep(harray_double_of_at(4, values, C));
    HA_READING(v, x, H) {
        memcpy(copy, v.data, sizeof copy);
        assert_memory_equal(copy, values, sizeof copy);
        const double *end = v.data + v.size, *p = v.data;
        for (size_t i = 0; p != end; p++, i++) assert_true(*p == values[i]);
    }
    else fail();
    HA_WRITING(v, x, H) qsort(v.data, v.size, sizeof *v.data, ascending);
    else fail();
    VALUES(x, 1, 2, 3, 5);

    HA_OVERWRITING(v, x, H, 3) memcpy(v.data, values, 3 * sizeof *values);
    else fail();
    VALUES(x, 5, 3, 1);
    drop(x);
}

TEST(closing_twice) {
    harray_double x = list_at(C);
    ha_access a, stale;
    SUCCEEDS(ha_open(&a, x.array, C, HA_WRITE, 0, HA_END));
    stale = a;
    SUCCEEDS(ha_close(&a));
    assert_null(a.data);
    assert_null(a.array);
    REFUSED(HA_ERR_STATE, ha_close(&a));

    SUCCEEDS(ha_open(&a, x.array, C, HA_WRITE, 0, HA_END));
    REFUSED(HA_ERR_STATE, ha_close(&stale)); /* does not unlock another access */
    REFUSED(HA_ERR_CONFLICT, ha_array_clear(x.array));
    SUCCEEDS(ha_close(&a));

    ha_read_double never = {0};
    REFUSED(HA_ERR_STATE, ha_close(&never));
    assert_int_equal(ha_access_capacity(&never), 0);
    drop(x);
}

TEST(access_resize) {
    harray_double x = list_at(C);
    HA_WRITING(v, x, C) {
        SUCCEEDS(ha_access_resize(&v, 10));
        assert_int_equal(v.size, 10);
        assert_int_equal(harray_double_size(x), 10);
        assert_int_equal(ha_access_capacity(&v), 10);
        add(&v, 0); /* may be written everywhere */
        SUCCEEDS(ha_access_resize(&v, 2));
        assert_int_equal(v.size, 2);
        assert_int_equal(ha_access_capacity(&v), 10);
        SUCCEEDS(ha_access_resize(&v, 0));
        assert_null(v.data);
        SUCCEEDS(ha_access_resize(&v, 3));
        assert_non_null(v.data);
        fill(&v, 8);
    }
    else fail();
    VALUES(x, 8, 8, 8);
    drop(x);
}

TEST(access_resize_refused) {
    harray_double x = list_at(C);
    ha_write_double closed = {0};
    REFUSED(HA_ERR_STATE, ha_access_resize(&closed, 9));
    REFUSED(HA_ERR_STATE, ha_access_reserve(&closed, 9));
    HA_READING(v, x, C) {
        REFUSED(HA_ERR_ARGUMENT, ha_access_resize(&v, 9));
        REFUSED(HA_ERR_ARGUMENT, ha_access_reserve(&v, 9));
    }
    else fail();
    HA_WRITING_RANGE(v, x, C, 1, 3) {
        REFUSED(HA_ERR_ARGUMENT, ha_access_resize(&v, 9));
        REFUSED(HA_ERR_ARGUMENT, ha_access_reserve(&v, 9));
        assert_int_equal(v.size, 2);
    }
    else fail();
    VALUES(x, 5, 6, 2, 3, -5);
    drop(x);
}

/* ---- names, owners, versions ---------------------------------------------------------------- */

TEST(names) {
    const char digits[] = "0123456789012345678901234567890123456789012345678901234567890";
    harray_double x = list_at(C);
    assert_string_equal(ha_array_name(x.array), "");
    harray_double_set_name(x, "density");
    assert_string_equal(ha_array_name(x.array), "density");
    harray_double_set_name(x, digits);
    assert_int_equal(strlen(ha_array_name(x.array)), 47);
    assert_memory_equal(ha_array_name(x.array), digits, 47);
    harray_double_set_name(x, "");
    assert_string_equal(ha_array_name(x.array), "");
    drop(x);
}

TEST(owners) {
    harray_double x = list_at(C);
    harray_double y = harray_double_retain(x);
    assert_ptr_equal(x.array, y.array);
    HA_READING(v, x, C) {
        assert_int_equal(harray_double_free(&y), HA_OK); /* not the last owner */
        assert_null(y.array);
        y = x;
        REFUSED(HA_ERR_CONFLICT, harray_double_free(&y));
        assert_ptr_equal(y.array, x.array); /* it stays */
    }
    else fail();
    VALUES(x, 5, 6, 2, 3, -5);
    assert_int_equal(ha_array_free(NULL), HA_OK);
    drop(x);
}

TEST(versions) {
    harray_double x = list_at(C);
    uint64_t version = ha_array_version(x.array), next;
    double element;
    touch(x, H);
    touch(x, M1);
    SUCCEEDS(ha_array_prefetch(x.array, M2, 0, HA_END));
    SUCCEEDS(harray_double_get(x, 1, &element));
    assert_int_equal(ha_array_version(x.array), version);
    HA_WRITING_RANGE(v, x, H, 9, 10) fail();
    else REFUSED(HA_ERR_ARGUMENT, v.status);
    assert_int_equal(ha_array_version(x.array), version);

#define RAISES(statement)                                                                          \
    do {                                                                                           \
        statement;                                                                                 \
        next = ha_array_version(x.array);                                                          \
        assert_true(next > version);                                                               \
        version = next;                                                                            \
    } while (0)
    RAISES(add_at(x, C, 1));
    RAISES(HA_WRITING_RANGE(v, x, H, 1, 2) v.data[0] = 1);
    RAISES(HA_OVERWRITING(v, x, C, 5) fill(&v, 1));
    RAISES(HA_OVERWRITING_RANGE(v, x, C, 1, 2) fill(&v, 1));
    RAISES(SUCCEEDS(harray_double_set(x, 1, 3)));
    RAISES(SUCCEEDS(harray_double_resize(x, 9)));
    RAISES(HA_WRITING(v, x, C) SUCCEEDS(ha_access_resize(&v, 3)));
    RAISES(SUCCEEDS(ha_array_clear(x.array)));
    drop(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(copy_is_independent),
        CASE(copy_of_a_part),
        CASE(assigning_takes_size_and_values),
        CASE(assigning_at_a_context),
        CASE(assigning_uses_memory_again),
        CASE(taking_hands_memory_over),
        CASE(swapping_exchanges_memory),
        CASE(element_sizes_decide),
        CASE(types_by_name),
        CASE(like_another_array),
        CASE(accesses_can_be_moved),
        CASE(reading_values_on_the_host),
        CASE(overwriting_values_on_the_host),
        CASE(host_data_is_a_c_array),
        CASE(closing_twice),
        CASE(access_resize),
        CASE(access_resize_refused),
        CASE(names),
        CASE(owners),
        CASE(versions),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
