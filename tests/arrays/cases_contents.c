/* Contents: making arrays, sizes and capacities, elements. On the contexts of support/matrix.h. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"

enum { N = 20 };

/* ---- A. making arrays ----------------------------------------------------------------------- */

TEST(empty_then_resized) {
    harray_double x = keep(harray_double_new_at(0, C));
    assert_int_equal(harray_double_size(x), 0);
    assert_false(VALID(x, C));

    SUCCEEDS(harray_double_resize(x, 100));
    assert_int_equal(harray_double_size(x), 100);
    assert_int_equal(CAPACITY(x, C), 0);
    assert_false(VALID(x, C));

    HA_WRITING(v, x, C) assert_int_equal(v.size, 100);
    else fail();
    assert_true(VALID(x, C));
    assert_int_equal(CAPACITY(x, C), 100);
    MOVED(x, 0, 0);
    drop(x);
}

TEST(new_on_the_host) {
    harray_double x = keep(harray_double_new(N));
    assert_int_equal(harray_double_size(x), N);
    assert_int_equal(CAPACITY(x, H), N);
    assert_false(VALID(x, H));
    VALID_NOWHERE(x, H);
    drop(x);
}

TEST(filled_and_zeroed) {
    harray_double x = keep(harray_double_filled(N, 5));
    harray_double y = keep(harray_double_filled_at(N, 5, C));
    harray_double z = keep(harray_double_zeros_at(N, C));
    assert_int_equal(CAPACITY(x, H), N);
    assert_true(VALID(x, H));
    assert_int_equal(CAPACITY(y, C), N);
    assert_true(VALID(y, C) && VALID(z, C));
    assert_true(sum_at(x, H) == 5 * N);
    assert_true(sum_at(y, H) == 5 * N);
    assert_true(sum_at(y, C) == 5 * N);
    assert_true(sum_at(z, H) == 0);
    drop(x);
    drop(y);
    drop(z);
}

TEST(made_of_a_list) {
    harray_double x = list_at(C);
    assert_int_equal(harray_double_size(x), 5);
    assert_int_equal(CAPACITY(x, C), 5);
    VALUES(x, 5, 6, 2, 3, -5);

    harray_double y = keep(harray_double_of_at(0, NULL, C));
    assert_int_equal(harray_double_size(y), 0);
    assert_int_equal(CAPACITY(y, C), 0);
    drop(x);
    drop(y);
}

/* What was never written has no value. */
TEST(reading_what_was_never_written) {
    ha_context *places[] = {H, C, M1};
    harray_double x = keep(harray_double_new_at(3, C));
    for (size_t i = 0; i < 3; i++) {
        HA_READING(v, x, places[i]) fail();
        else REFUSED(HA_ERR_STATE, v.status);
        assert_false(VALID(x, places[i]));
    }
    double element;
    REFUSED(HA_ERR_STATE, harray_double_get(x, 0, &element));
    drop(x);
}

TEST(reading_no_elements) {
    ha_context *places[] = {H, C, M1};
    harray_double x = keep(harray_double_new_at(0, C));
    for (size_t i = 0; i < 3; i++) {
        HA_READING(v, x, places[i]) {
            assert_int_equal(v.size, 0);
            assert_null(v.data);
        }
        else fail();
    }
    MOVED(x, 0, 0);
    drop(x);
}

TEST(context_that_is_valid) {
    harray_double x = keep(harray_double_new(3));
    harray_double y = keep(harray_double_new_at(3, C));
    assert_ptr_equal(ha_array_valid_context(x.array), H);
    assert_ptr_equal(ha_array_valid_context(y.array), C);
    HA_OVERWRITING(v, y, M1, 3) fill(&v, 1);
    else fail();
    assert_ptr_equal(ha_array_valid_context(y.array), M1);
    drop(x);
    drop(y);
}

TEST(copy_of_raw_memory) {
    double raw[N];
    for (size_t i = 0; i < N; i++) raw[i] = 1.5 * (double)i;
    harray_double x = keep(harray_double_of_at(N, raw, C));
    memset(raw, 0xff, sizeof raw); /* the caller's again */
    assert_true(VALID(x, C));
    assert_int_equal(harray_double_size(x), N);
    for (size_t i = 0; i < N; i++) raw[i] = 1.5 * (double)i;
    expect_values(x, N, raw);
    drop(x);
}

TEST(overwriting_with_fewer) {
    harray_double x = keep(harray_double_filled_at(N, 1, C));
    HA_OVERWRITING(v, x, C, N / 2) fill(&v, 2);
    else fail();
    assert_int_equal(harray_double_size(x), N / 2);
    assert_true(sum_at(x, H) == 2 * (N / 2));
    drop(x);
}

/* ---- B. elements, capacities, sizes --------------------------------------------------------- */

TEST(getting_and_setting_elements) {
    double element = 0;
    harray_double x = list_at(C), y = keep(harray_double_zeros_at(5, C));
    SUCCEEDS(harray_double_get(x, 3, &element));
    assert_true(element == 3);

    SUCCEEDS(harray_double_set(y, 3, 2));
    VALUES(y, 0, 0, 0, 2, 0);

    element = 7;
    REFUSED(HA_ERR_ARGUMENT, harray_double_get(x, 5, &element));
    REFUSED(HA_ERR_ARGUMENT, harray_double_get(x, SIZE_MAX, &element));
    assert_true(element == 7);
    REFUSED(HA_ERR_ARGUMENT, harray_double_set(x, 5, 1));
    VALUES(x, 5, 6, 2, 3, -5);
    drop(x);
    drop(y);
}

/* get and set move one element at most, from or to wherever it is. */
TEST(elements_move_alone) {
    double element = 0;
    harray_double x = list_at(C);
    for (size_t i = 0; i < 5; i++) SUCCEEDS(harray_double_get(x, i, &element));
    assert_true(element == -5);
    assert_true(ha_array_statistics(x.array).bytes <= 5 * sizeof(double));

    SUCCEEDS(harray_double_set(x, 0, 9));
    assert_true(ha_array_statistics(x.array).bytes <= 6 * sizeof(double));
    VALUES(x, 9, 6, 2, 3, -5);

    harray_double y = keep(harray_double_new_at(3, C));
    SUCCEEDS(harray_double_set(y, 1, 4)); /* the first value it gets */
    SUCCEEDS(harray_double_get(y, 1, &element));
    assert_true(element == 4);
    REFUSED(HA_ERR_STATE, harray_double_get(y, 0, &element));
    drop(x);
    drop(y);
}

TEST(reserving_and_resizing) {
    harray_double x = keep(harray_double_new_at(0, C));
    SUCCEEDS(ha_array_reserve(x.array, C, N));
    assert_int_equal(harray_double_size(x), 0);
    assert_int_equal(CAPACITY(x, C), N);

    HA_WRITING(v, x, C) {
        assert_int_equal(ha_access_capacity(&v), N);
        SUCCEEDS(ha_access_reserve(&v, 2 * N));
        assert_int_equal(ha_access_capacity(&v), 2 * N);
    }
    else fail();
    assert_int_equal(CAPACITY(x, C), 2 * N);
    assert_int_equal(harray_double_size(x), 0);

    SUCCEEDS(ha_array_clear(x.array));
    assert_int_equal(harray_double_size(x), 0);
    assert_int_equal(CAPACITY(x, C), 2 * N);

    SUCCEEDS(ha_array_purge(x.array));
    assert_int_equal(harray_double_size(x), 0);
    assert_int_equal(CAPACITY(x, C), 0);
    assert_int_equal(CAPACITY(x, H), 0);

    HA_OVERWRITING(v, x, H, N) for (size_t i = 0; i < N; i++) v.data[i] = 1;
    else fail();
    assert_int_equal(harray_double_size(x), N);
    assert_int_equal(CAPACITY(x, H), N);
    add_at(x, C, 1);
    assert_int_equal(CAPACITY(x, C), N);
    assert_true(sum_at(x, H) == 2 * N);
    drop(x);
}

TEST(resizing_from_empty_while_writing) {
    harray_double x = keep(harray_double_new_at(0, C));
    HA_WRITING(v, x, C) {
        SUCCEEDS(ha_access_resize(&v, N));
        fill(&v, 3);
    }
    else fail();
    SUCCEEDS(ha_array_purge(x.array));
    HA_WRITING(v, x, C) {
        assert_int_equal(v.size, 0);
        SUCCEEDS(ha_access_resize(&v, N));
        fill(&v, 4);
    }
    else fail();
    assert_true(sum_at(x, H) == 4 * N);
    drop(x);
}

TEST(overwriting_from_none_to_many) {
    harray_double x = keep(harray_double_new_at(0, C));
    HA_OVERWRITING(v, x, C, 0) assert_int_equal(v.size, 0);
    else fail();
    HA_OVERWRITING(v, x, C, N) assert_int_equal(v.size, N);
    else fail();
    assert_int_equal(harray_double_size(x), N);
    assert_int_equal(CAPACITY(x, C), N);
    drop(x);
}

TEST(shrinking_keeps_capacity) {
    harray_double x = list_at(C);
    touch(x, H);
    SUCCEEDS(harray_double_resize(x, 2));
    assert_int_equal(harray_double_size(x), 2);
    assert_int_equal(CAPACITY(x, C), 5);
    assert_int_equal(CAPACITY(x, H), 5);
    VALUES(x, 5, 6);
    drop(x);
}

/* Growing keeps values; what is added was never written. */
TEST(resize_grows_at_the_next_open) {
    harray_double x = list_at(C);
    SUCCEEDS(harray_double_resize(x, 8));
    assert_int_equal(CAPACITY(x, C), 5);
    VALID_RANGES(x, C, {0, 5});
    assert_true(sum_range(x, C, 0, 5) == 11);
    assert_int_equal(CAPACITY(x, C), 8);
    HA_READING(v, x, C) fail();
    else REFUSED(HA_ERR_STATE, v.status);
    HA_OVERWRITING_RANGE(v, x, C, 5, 8) fill(&v, 1);
    else fail();
    VALUES(x, 5, 6, 2, 3, -5, 1, 1, 1);

    SUCCEEDS(harray_double_resize(x, 2));
    SUCCEEDS(harray_double_resize(x, 4)); /* elements 2 and 3 have no value any more */
    VALID_RANGES(x, C, {0, 2});
    HA_READING(v, x, C) fail();
    else REFUSED(HA_ERR_STATE, v.status);
    drop(x);
}

/* Whatever is opened beside it, and wherever the staging goes. */
TEST(a_block_with_an_access_stays) {
    harray_double x = keep(harray_double_filled(5, 2));
    touch(x, C);
    touch(x, M1);
    SUCCEEDS(harray_double_resize(x, 5000));
    HA_READING_RANGE(h, x, H, 0, 5) {
        HA_READING_RANGE(v, x, C, 0, 5) {
            const void *block = v.data;
            HA_WRITING_RANGE(w, x, C, 5, 5000) fill(&w, 1);
            else fail();
            HA_WRITING_RANGE(w, x, M1, 100, 200) add(&w, 1);
            else fail();
            HA_READING_RANGE(w, x, M2, 50, 4000) step();
            else fail();
            HA_READING_RANGE(w, x, C, 0, 5) assert_ptr_equal(w.data, block);
            else fail();
        }
        else fail();
        for (size_t i = 0; i < 5; i++) assert_true(h.data[i] == 2);
    }
    else fail();
    assert_true(sum_at(x, H) == 5 * 2 + 4995 + 100);
    drop(x);
}

/* Refused while an access is open, and nothing has changed. */
static void refuse_changes(harray_double x, harray_double other) {
    const snapshot before = snapshot_of(x);
    REFUSED(HA_ERR_CONFLICT, harray_double_resize(x, 50));
    REFUSED(HA_ERR_CONFLICT, harray_double_resize(x, 1));
    REFUSED(HA_ERR_CONFLICT, ha_array_reserve(x.array, C, 50));
    REFUSED(HA_ERR_CONFLICT, ha_array_clear(x.array));
    REFUSED(HA_ERR_CONFLICT, ha_array_purge(x.array));
    REFUSED(HA_ERR_CONFLICT, ha_array_swap(x.array, other.array));
    REFUSED(HA_ERR_CONFLICT, ha_array_swap(other.array, x.array));
    REFUSED(HA_ERR_CONFLICT, ha_array_assign(x.array, other.array));
    REFUSED(HA_ERR_CONFLICT, ha_array_assign_at(x.array, other.array, C));
    REFUSED(HA_ERR_CONFLICT, ha_array_take(x.array, other.array));
    REFUSED(HA_ERR_CONFLICT, ha_array_take(other.array, x.array));
    REFUSED(HA_ERR_CONFLICT, ha_array_free(x.array));
    expect_unchanged(x, &before);
}

TEST(no_changes_under_an_access) {
    harray_double x = list_at(C), other = ramp(3);
    HA_READING(v, x, C) refuse_changes(x, other);
    else fail();
    HA_READING_RANGE(v, x, H, 1, 2) refuse_changes(x, other);
    else fail();
    HA_WRITING(v, x, C) refuse_changes(x, other);
    else fail();
    HA_OVERWRITING_RANGE(v, x, C, 1, 2) refuse_changes(x, other);
    else fail();
    HA_READING_RANGE(v, x, C, 2, 2) { /* of no elements, but open */
        REFUSED(HA_ERR_CONFLICT, harray_double_resize(x, 50));
        REFUSED(HA_ERR_CONFLICT, ha_array_free(x.array));
    }
    else fail();
    VALUES(other, 0, 1, 2);
    drop(x);
    drop(other);
}

/* An array that is read may still be copied from. */
TEST(copying_from_what_is_read) {
    harray_double x = list_at(C), y = keep(harray_double_new(0));
    HA_READING(v, x, C) {
        SUCCEEDS(harray_double_assign(y, x));
        SUCCEEDS(ha_array_assign_at(y.array, x.array, C));
        harray_double copy = keep(harray_double_copy(x));
        VALUES(copy, 5, 6, 2, 3, -5);
        drop(copy);
    }
    else fail();
    HA_WRITING(v, x, C) {
        REFUSED(HA_ERR_CONFLICT, harray_double_assign(y, x));
        REFUSED(HA_ERR_CONFLICT, ha_array_assign_at(y.array, x.array, C));
        REFUSED_NULL(HA_ERR_CONFLICT, ha_array_copy(x.array));
    }
    else fail();
    VALUES(y, 5, 6, 2, 3, -5);
    drop(x);
    drop(y);
}

TEST(more_than_two_gigabytes) {
    const size_t n = ((size_t)1 << 31) / sizeof(double) + 1;
    harray_double x = keep(harray_double_new_at(0, C));
    const ha_status status = ha_array_reserve(x.array, C, n);
    if (status == HA_OK) {
        assert_int_equal(CAPACITY(x, C), n);
    } else {
        REFUSED(HA_ERR_MEMORY, status);
        assert_int_equal(CAPACITY(x, C), 0);
    }
    assert_int_equal(harray_double_size(x), 0);
    drop(x);
}

TEST(reserve_keeps_values) {
    harray_double x = list_at(C);
    const uint64_t version = ha_array_version(x.array);
    SUCCEEDS(ha_array_reserve(x.array, C, 50));
    SUCCEEDS(ha_array_reserve(x.array, M1, 7));
    SUCCEEDS(ha_array_reserve(x.array, C, 3)); /* there is room already */
    assert_int_equal(CAPACITY(x, C), 50);
    assert_int_equal(CAPACITY(x, M1), 7);
    assert_false(VALID(x, M1));
    assert_int_equal(ha_array_version(x.array), version);
    VALUES(x, 5, 6, 2, 3, -5);
    SUCCEEDS(harray_double_resize(x, 40));
    HA_WRITING(v, x, C) assert_int_equal(ha_access_capacity(&v), 50);
    else fail();
    drop(x);
}

TEST(clear_forgets_values) {
    harray_double x = list_at(C);
    touch(x, M1);
    SUCCEEDS(ha_array_clear(x.array));
    assert_int_equal(harray_double_size(x), 0);
    VALID_NOWHERE(x, C);
    VALID_NOWHERE(x, M1);
    SUCCEEDS(harray_double_resize(x, 5));
    HA_READING(v, x, C) fail();
    else REFUSED(HA_ERR_STATE, v.status);
    SUCCEEDS(ha_array_purge(x.array));
    assert_int_equal(CAPACITY(x, C) + CAPACITY(x, M1) + CAPACITY(x, H), 0);
    drop(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(empty_then_resized),
        CASE(new_on_the_host),
        CASE(filled_and_zeroed),
        CASE(made_of_a_list),
        CASE(reading_what_was_never_written),
        CASE(reading_no_elements),
        CASE(context_that_is_valid),
        CASE(copy_of_raw_memory),
        CASE(overwriting_with_fewer),
        CASE(getting_and_setting_elements),
        CASE(elements_move_alone),
        CASE(reserving_and_resizing),
        CASE(resizing_from_empty_while_writing),
        CASE(overwriting_from_none_to_many),
        CASE(shrinking_keeps_capacity),
        CASE(resize_grows_at_the_next_open),
        CASE(a_block_with_an_access_stays),
        CASE(no_changes_under_an_access),
        CASE(copying_from_what_is_read),
        CASE(more_than_two_gigabytes),
        CASE(reserve_keeps_values),
        CASE(clear_forgets_values),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
