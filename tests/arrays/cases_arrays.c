/* Arrays of n dimensions on the contexts of support/matrix.h: making them. ndarray/test_view.c has views of them,
 * cases_array_accesses.c accesses to these. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"
#include "numbers_of_arrays.h"

HA_ARRAY(int, 1);

/* ---- contexts and memory -------------------------------------------------------------------- */

TEST(contexts_are_found_by_name) {
    assert_ptr_equal(ha_host(), ha_host());
    assert_ptr_equal(ha_context_find("sim:0"), ha_context_find("sim:0"));
    assert_ptr_not_equal(ha_context_find("sim:0"), ha_context_find("sim:1"));
    assert_string_equal(ha_context_name(ha_host()), "host");
    assert_string_equal(ha_context_name(ha_context_find("sim:1")), "sim:1");
}

/* The current context is the host, or that of the scope around. */
TEST(first_touch_is_the_current_context) {
    ha_context *const sim = ha_context_find("sim:0");
    assert_string_equal(ha_context_kind(sim), ha_context_kind(ha_context_find("sim:1")));
    assert_true(strcmp(ha_context_kind(sim), ha_context_kind(H)) != 0);
    array_double_1 x = array_double_1_zeros(HA_DIM(2), NULL), y = {{NULL}, 0, {0}, {0}, {0}};
    assert_ptr_equal(ha_array_first_touch(x.array), H);
    HA_ON(C) y = array_double_1_zeros(HA_DIM(2), NULL);
    else fail();
    assert_ptr_equal(ha_array_first_touch(y.array), C);
    SUCCEEDS(array_double_1_free(&x));
    SUCCEEDS(array_double_1_free(&y));
}

TEST(bytes_on_a_context) {
    const int64_t hundred = 100;
    darray x = keep_darray(darray_new(HA_DTYPE_uint8_t, 1, &hundred, C));
    assert_int_equal(ha_array_size(x.array), 100);
    assert_true(ha_array_capacity(x.array, C) >= 100);
    assert_ptr_equal(ha_array_first_touch(x.array), C);
    drop_array(x.array);
}

TEST(access_to_no_elements) {
    array_double_2 x = keep_2(array_double_2_new(HA_DIM(0, 7), C));
    assert_int_equal(ha_array_capacity(x.array, C), 0);
    HA_WRITING(v, x, C) {
        assert_null(v.data);
        assert_null(v.span.data);
        assert_int_equal(v.size, 0);
        assert_int_equal(v.span.extent[1], 7);
    }
    else fail();
    HA_READING(v, array_double_2_flip(x, 1), H) assert_null(v.data);
    else fail();
    drop_array(x.array);
}

TEST(wrapped_memory_in_two_dimensions) { /* wrapped memory is not freed, and has the values then */
    double memory[6] = {1, 2, 3, 4, 5, 6};
    array_double_2 x = keep_2(array_double_2_wrap(memory, HA_DIM(2, 3), H));
    NUMBERS(x, 1, 2, 3, 4, 5, 6);
    HA_READING(v, x, H) assert_ptr_equal(v.data, memory); /* where it is */
    else fail();
    add_1000(array_double_2_part(x, HA_DIM(1, 0), HA_DIM(2, 2)), C);
    drop_array(x.array);
    assert_true(memory[0] == 1 && memory[2] == 3 && memory[5] == 6);
    assert_true(memory[3] == 1004 && memory[4] == 1005);
}

TEST(sizes_that_nobody_has) {
    const int64_t large = (int64_t)1 << 40, larger = (int64_t)1 << 62;
    expect_none(array_double_2_new(HA_DIM(large, 1 << 14), C).array, HA_ERR_MEMORY, "no memory");
    expect_none(array_double_2_new(HA_DIM(large, large), C).array, HA_ERR_MEMORY, "overflow");
    expect_none(array_double_1_new(HA_DIM(larger), C).array, HA_ERR_MEMORY, "");
}

TEST(shared_arrays_live_on) { /* shared by counting owners */
    array_double_2 x = keep_2(array_double_2_filled(HA_DIM(2, 2), 3, C));
    array_double_2 y = array_double_2_share(x);
    array_double_1 row = array_double_2_fix(x, 0, 1);
    assert_int_equal(array_double_2_free(&x), HA_OK);
    assert_null(x.array);
    HA_WRITING(v, row, H) HA_AT(v.span, 0) = HA_AT(v.span, 1) + 1; /* the value is copied */
    NUMBERS(y, 3, 3, 4, 3);
    drop_array(y.array);
}

TEST(alignment_and_ghosts) { /* the first interior element of each row is aligned, in any memory */
    for (size_t alignment = 8; alignment <= 64; alignment *= 2)
        for (int64_t ghosts = 0; ghosts < 4; ghosts++) {
            const ha_shape shape = {.rank = 2,
                                    .extent = {3, 5},
                                    .ghost_low = {ghosts, ghosts},
                                    .ghost_high = {0, 1},
                                    .alignment = alignment};
            array_double_2 x = keep_2(array_double_2_make(&shape, C));
            HA_OVERWRITING_ALL(v, x, C) {
                SUCCEEDS(HA_RUN(number_job, v));
                for (int64_t i = 0; i < 3; i++)
                    assert_int_equal((uintptr_t)&HA_AT(v.span, i, 0) % alignment, 0);
            }
            else fail();
            array_double_1 corner = array_double_2_fix(x, 0, -ghosts);
            HA_READING(v, corner, H) assert_true(v.data[0] == (double)(-101 * ghosts));
            else fail();
            drop_array(x.array);
        }
}

/* ---- arrays --------------------------------------------------------------------------------- */

TEST(one_element_of_a_part) {
    array_float_2 x = array_float_2_zeros(HA_DIM(2, 3), C);
    keep_array(x.array);
    HA_WRITING(v, array_float_2_part(x, HA_DIM(1, 1), HA_DIM(2, 2)), H) HA_AT(v.span, 0, 0) = 3;
    else fail();
    HA_READING(v, x, C) SUCCEEDS(ha_wait(&v));
    HA_READING(v, x, H) assert_true(HA_AT(v.span, 1, 1) == 3 && HA_AT(v.span, 1, 2) == 0);
    drop_array(x.array);
}

TEST(single_elements) {
    array_float_2 x = array_float_2_zeros(HA_DIM(2, 3), H);
    keep_array(x.array);
    HA_WRITING(v, x, H) {
        HA_AT(v.span, 1, 1) = 2;
        HA_AT(v.span, 0, 0) = 5;
        HA_AT(v.span, 1, 2) = 2;
        HA_AT(v.span, 0, 1) = 3;
    }
    HA_READING(v, x, H) {
        assert_true(HA_AT(v.span, 1, 1) == 2 && HA_AT(v.span, 0, 0) == 5);
        assert_true(HA_AT(v.span, 1, 2) == 2 && HA_AT(v.span, 0, 1) == 3);
    }
    drop_array(x.array);
}

TEST(flattened_it_is_the_same_memory) {
    array_double_2 x = numbered(2, 3, C);
    array_double_1 line = array_double_2_flatten(x);
    assert_ptr_equal(line.array, x.array);
    assert_int_equal(line.extent[0], 6);
    HA_WRITING(v, line, H) HA_AT(v.span, 4) = -1;
    NUMBERS(x, 0, 1, 2, 100, -1, 102);
    drop_array(x.array);
}

TEST(made_of_values_on_the_host) {
    const int values[] = {1, 0, -20, 29, 2};
    array_int_1 x = array_int_1_of(HA_DIM(5), values, NULL);
    keep_array(x.array);
    assert_ptr_equal(ha_array_first_touch(x.array), H);
    assert_true(ha_array_valid(x.array, H, 0, HA_END));
    HA_READING(v, x, H) for (int i = 0; i < 5; i++) assert_int_equal(HA_AT(v.span, i), values[i]);
    else fail();
    drop_array(x.array);
}

TEST(made_of_values_on_a_context) {
    const float values[] = {1, 2, 3, 4, 5, 6};
    array_float_1 x = array_float_1_of(HA_DIM(6), values, C);
    keep_array(x.array);
    assert_int_equal(darray_size(array_float_1_to_darray(x)), 6);
    assert_true(ha_array_valid(x.array, C, 0, HA_END));
    assert_int_equal(ha_array_valid(x.array, H, 0, HA_END), same_memory(C, H));
    drop_array(x.array);
}

TEST(row_and_column_major) { /* where elements lie */
    array_double_2 rows = array_double_2_new(HA_DIM(2, 3), C);
    array_double_2 columns = array_double_2_new_in(HA_COLUMN_MAJOR, HA_DIM(2, 3), C);
    assert_int_equal(rows.stride[0] + 2 * rows.stride[1], 5);
    assert_int_equal(rows.stride[0] + rows.stride[1], 4);
    assert_int_equal(columns.stride[0] + 2 * columns.stride[1], 5);
    assert_int_equal(columns.stride[0] + columns.stride[1], 3);
    SUCCEEDS(array_double_2_free(&rows));
    SUCCEEDS(array_double_2_free(&columns));
}

TEST(typed_and_untyped_are_the_same_array) {
    const double values[] = {1, 2, 3, 4, 5, 6};
    array_double_1 x = array_double_1_of(HA_DIM(6), values, C);
    const darray d = keep_darray(array_double_1_to_darray(x));
    array_double_2 y = array_double_2_reshape(d, HA_DIM(3, 2));
    assert_ptr_equal(y.array, x.array);
    assert_int_equal(y.stride[0], 2);
    add_1000(array_double_2_part(y, HA_DIM(1, 1), HA_DIM(2, 2)), C);
    NUMBERS(y, 1, 2, 3, 1004, 5, 6);
    expect_none(array_double_2_reshape(d, HA_DIM(3, 3)).array, HA_ERR_ARGUMENT, "has 9 elements");
    expect_none(darray_flatten(darray_transpose(array_double_2_to_darray(y))).array,
                HA_ERR_ARGUMENT, "without a copy");
    drop_array(x.array);
}

TEST(offset_beyond_the_memory) { /* no view is outside */
    array_double_2 x = keep_2(array_double_2_zeros(HA_DIM(2, 3), C));
    x.offset = 1;
    expect_none(array_double_2_flip(x, 0).array, HA_ERR_ARGUMENT, "elements 1 to 6");
    HA_READING(v, x, C) fail();
    else assert_int_equal(v.status, HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "elements 1 to 6"));
    x.offset = 0;
    drop_array(x.array);
}

TEST(numbers_by_index) { /* a function on the device writes through a span that it gets by value */
    array_double_2 x = numbered(2, 3, C);
    NUMBERS(x, 0, 1, 2, 100, 101, 102);
    drop_array(x.array);
}

TEST(filled_with_a_half) { /* filled means filled; the value is converted */
    const int64_t extent[] = {2, 2};
    darray x = darray_filled(HA_DTYPE_half, 2, extent, ha_dvalue_of_int8_t(3), C);
    keep_darray(x);
    HA_READING(v, x, H) {
        const ha_half *h = (const ha_half *)v.data;
        for (int i = 0; i < 4; i++) assert_int_equal(h[i].bits, 0x4200);
    }
    else fail();
    expect_none(darray_filled(HA_DTYPE_int8_t, 2, extent, ha_dvalue_of_double(1000), C).array,
                HA_ERR_ARGUMENT, "");
    drop_array(x.array);
}

TEST(size_of_halves) {
    array_half_2 x = array_half_2_zeros(HA_DIM(2, 3), C);
    assert_int_equal(ha_array_size(x.array) * ha_array_type(x.array).size, 2 * 3 * 2);
    SUCCEEDS(array_half_2_free(&x));
}

TEST(reading_what_is_not_there) { /* no memory, no access */
    const array_double_2 none = {{NULL}, 0, {0}, {0}, {0}};
    HA_READING(v, none, C) fail();
    else assert_int_equal(v.status, HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "no array"));
    array_double_2 unwritten = keep_2(array_double_2_new(HA_DIM(2, 3), C));
    HA_READING(v, unwritten, C) fail();
    else assert_int_equal(v.status, HA_ERR_STATE);
    assert_int_equal(ha_take_error().status, HA_ERR_STATE);
    drop_array(unwritten.array);
}

TEST(slices_and_matrices) {
    array_double_2 x = array_double_2_new(HA_DIM(6, 9), C);
    const array_double_2 rows = array_double_2_slice(x, 0, 2, 6, 1);
    assert_true(rows.extent[0] == 4 && rows.extent[1] == 9 && rows.offset == 9 * 2);
    SUCCEEDS(array_double_2_free(&x));
    array_double_4 y = array_double_4_new(HA_DIM(2, 3, 4, 9), C);
    array_double_2 matrix_of = array_double_2_reshape(array_double_4_to_darray(y),
                                                      HA_DIM(2 * 3, 4 * 9));
    assert_true(matrix_of.extent[0] == 6 && matrix_of.extent[1] == 36);
    SUCCEEDS(array_double_4_free(&y));
}

/* Wherever the first touch of C puts it. */
static uint64_t live_bytes(void) {
    return ha_context_memory(C).live + ha_context_memory(H).live + ha_context_pinned_memory(C).live;
}

TEST(live_bytes_of_any_size) { /* of any size up to 4 MiB: aligned, counted, and given back */
    const uint64_t before = live_bytes();
    for (int64_t bytes = 0; bytes <= 4 << 20; bytes = 5 * bytes + 3) {
        darray x = keep_darray(darray_new(HA_DTYPE_uint8_t, 1, &bytes, C));
        const uint64_t live = live_bytes() - before;
        assert_true(live >= (uint64_t)bytes && (bytes || !live));
        HA_OVERWRITING_ALL(v, x, C) assert_int_equal((uintptr_t)v.data % 4, 0);
        else fail();
        drop_array(x.array);
        assert_int_equal(live_bytes(), before);
    }
}

TEST(from_a_coherent_array) {
    harray_double x = ramp(6);
    array_double_2 a = array_double_2_from(x, HA_DIM(2, 3));
    assert_ptr_equal(array_double_2_array(a).array, x.array);
    add_1000(array_double_2_slice(a, 1, 1, 2, 1), C);
    VALUES(x, 0, 1001, 2, 3, 1004, 5);
    expect_none(array_double_2_from(x, HA_DIM(2, 4)).array, HA_ERR_ARGUMENT, "has 6 elements");
    SUCCEEDS(array_double_2_free(&a));
    drop(x);
    expect_none(darray_from(NULL, 0, NULL).array, HA_ERR_ARGUMENT, "no array");
}

TEST(rank_0) {
    const double seven = 7;
    darray x = keep_darray(darray_of(HA_DTYPE_double, 0, NULL, &seven, C));
    HA_WRITING(v, x, H) {
        assert_int_equal(v.size, 1);
        assert_true(*(double *)v.span.data == 7);
        *(double *)v.data = 8;
    }
    else fail();
    HA_READING(v, array_double_2_broadcast(x, HA_DIM(2, 2)), H)
    assert_true(HA_AT(v.span, 1, 1) == 8);
    else fail();
    drop_array(x.array);
}

/* Opens it at a context and back at the host, where each row of the interior has such an address. */
static void rows_are_aligned(array_double_2 x, ha_context *c, size_t alignment) {
    HA_WRITING(v, x, c) assert_int_equal((uintptr_t)&HA_AT(v.span, 0, 0) % alignment, 0);
    else fail();
    HA_READING(v, x, H)
    for (int64_t i = x.origin[0]; i < x.origin[0] + x.extent[0]; i++)
        assert_int_equal((uintptr_t)&HA_AT(v.span, i, 0) % alignment, 0);
    else fail();
}

/* Nothing is added to rows that follow each other at a good distance by themselves. */
TEST(aligned_rows_are_rounded_alone) {
    const ha_shape shape = {
        .extent = {3, 32}, .ghost_low = {2, 2}, .ghost_high = {2, 2}, .alignment = 32};
    array_double_2 x = keep_2(array_double_2_make(&shape, C)), y = x, z;
    assert_true(x.stride[0] == 36 && x.offset == 0);
    assert_int_equal(ha_array_size(x.array), 7 * 36);
    HA_OVERWRITING_ALL(v, x, C) SUCCEEDS(HA_RUN(number_job, v));
    else fail();
    rows_are_aligned(x, C, 32);
    rows_are_aligned(x, M1, 32);
    y.array = ha_array_copy(x.array); /* its blocks begin as those of x */
    keep_array(y.array);
    rows_are_aligned(y, M2, 32);
    int same = 0;
    SUCCEEDS(array_double_2_equal(x, y, &same));
    assert_true(same);
    SUCCEEDS(ha_array_purge(x.array));
    SUCCEEDS(array_double_2_fill(x, 3, C));
    rows_are_aligned(x, M2, 32);
    SUCCEEDS(ha_array_swap(x.array, y.array));
    rows_are_aligned(x, C, 32);
    rows_are_aligned(y, C, 32);
    HA_READING(v, x, H) assert_true(HA_AT(v.span, 2, 3) == 2 * 100 + 3);
    else fail();
    z = keep_2(array_double_2_make(
        &(ha_shape){.extent = {3, 32}, .ghost_low = {2, 2}, .ghost_high = {2, 2}}, C));
    REFUSED(HA_ERR_ARGUMENT, ha_array_swap(x.array, z.array)); /* it is not aligned */
    drop_array(x.array);
    drop_array(y.array);
    drop_array(z.array);
}

TEST(strides_of_ones_own) {
    const int64_t strides[][2] = {{8, 1}, {1, 7}, {2, 11}, {16, 3}};
    for (int i = 0; i < 4; i++) {
        const ha_shape shape = {.extent = {3, 4},
                                .ghost_low = {1, 1},
                                .stride = {strides[i][0], strides[i][1]},
                                .order = i % 2 ? HA_COLUMN_MAJOR : HA_ROW_MAJOR};
        array_double_2 x = keep_2(array_double_2_make(&shape, C));
        assert_true(x.stride[0] == strides[i][0] && x.stride[1] == strides[i][1]);
        assert_true((int64_t)ha_array_size(x.array) == 3 * strides[i][0] + 4 * strides[i][1] + 1);
        HA_OVERWRITING_ALL(v, x, C) SUCCEEDS(HA_RUN(number_job, v));
        else fail();
        HA_READING(v, x, H) assert_true(HA_AT(v.span, 2, 3) == 203 && HA_AT(v.span, -1, 3) == -97);
        else fail();
        drop_array(x.array);
    }
    array_double_2 y = keep_2(array_double_2_make(
        &(ha_shape){.extent = {3, 5}, .ghost_low = {0, 1}, .stride = {16, 1}, .alignment = 64}, C));
    SUCCEEDS(array_double_2_fill(y, 1, C));
    rows_are_aligned(y, C, 64);
    drop_array(y.array);
}

static void expect_no_strides(int64_t first, int64_t second, size_t alignment, ha_status status,
                              const char *text) {
    const ha_shape shape = {
        .rank = 2, .extent = {3, 5}, .stride = {first, second}, .alignment = alignment};
    expect_none(darray_make(HA_DTYPE_double, &shape, C).array, status, text);
}

TEST(strides_that_cannot_be) {
    ha_shape shape = {.rank = 2, .extent = {3, 5}, .stride = {8, 1}, .padding = {0, 3}};
    expect_none(darray_make(HA_DTYPE_double, &shape, C).array, HA_ERR_ARGUMENT,
                "(8, 1) leave nothing for padding");
    expect_no_strides(4, 1, 0, HA_ERR_ARGUMENT, "(4, 1) let elements overlap");
    expect_no_strides(3, 2, 0, HA_ERR_ARGUMENT, "(3, 2) let elements overlap, or lie on no grid");
    expect_no_strides(8, 0, 0, HA_ERR_ARGUMENT, "(8, 0) are not all above 0");
    expect_no_strides(8, -1, 0, HA_ERR_ARGUMENT, "(8, -1) are not all above 0");
    expect_no_strides(12, 1, 64, HA_ERR_ARGUMENT, "(12, 1) lead to rows without this alignment");
    expect_no_strides(INT64_MAX, 1, 0, HA_ERR_MEMORY, "overflows 64 bits");
    expect_no_strides(INT64_MAX / 2, 1, 0, HA_ERR_MEMORY, "overflows 64 bits");
    expect_no_strides(INT64_MAX / 4, 1, 0, HA_ERR_MEMORY, "no memory");
}

TEST(what_is_not_made) {
    const int64_t extent[] = {2, -1}, good[] = {2, 3};
    ha_shape shape = {.rank = 2, .extent = {2, 3}, .alignment = 48};
    expect_none(darray_new(HA_DTYPE_double, 2, extent, C).array, HA_ERR_ARGUMENT, "negative");
    expect_none(darray_new(HA_DTYPE_double, 9, good, C).array, HA_ERR_ARGUMENT, "rank of 9");
    expect_none(darray_new(HA_DTYPE_double, 2, NULL, C).array, HA_ERR_ARGUMENT, "NULL");
    expect_none(darray_new(HA_DTYPE_NONE, 2, good, C).array, HA_ERR_ARGUMENT, "no size");
    expect_none(darray_new_in((ha_order)2, HA_DTYPE_double, 2, good, C).array, HA_ERR_ARGUMENT,
                "column-major");
    expect_none(darray_of(HA_DTYPE_double, 2, good, NULL, C).array, HA_ERR_ARGUMENT, "");
    expect_none(darray_make(HA_DTYPE_double, &shape, C).array, HA_ERR_ARGUMENT, "48 bytes");
    shape.alignment = 128;
    expect_none(darray_make(HA_DTYPE_double, &shape, C).array, HA_ERR_ARGUMENT, "128 bytes");
    shape.alignment = 0;
    shape.ghost_high[1] = -1;
    expect_none(darray_make(HA_DTYPE_double, &shape, C).array, HA_ERR_ARGUMENT, "ghost cells");
    shape.ghost_high[1] = INT64_MAX;
    expect_none(darray_make(HA_DTYPE_double, &shape, C).array, HA_ERR_MEMORY, "overflow");
    shape.ghost_high[1] = 0;
    shape.padding[1] = INT64_MAX;
    expect_none(darray_make(HA_DTYPE_double, &shape, C).array, HA_ERR_MEMORY, "overflow");
    shape.padding[1] = 0;
    expect_none(array_double_3_make(&shape, C).array, HA_ERR_ARGUMENT, "another rank: 2, not 3");
    expect_none(darray_make(HA_DTYPE_double, NULL, C).array, HA_ERR_ARGUMENT, "no shape");
    shape.rank = 0; /* not given */
    array_double_2 x = array_double_2_make(&shape, C);
    assert_int_equal(x.extent[1], 3);
    SUCCEEDS(array_double_2_free(&x));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(contexts_are_found_by_name),
        CASE(first_touch_is_the_current_context),
        CASE(bytes_on_a_context),
        CASE(access_to_no_elements),
        CASE(wrapped_memory_in_two_dimensions),
        CASE(sizes_that_nobody_has),
        CASE(shared_arrays_live_on),
        CASE(alignment_and_ghosts),
        CASE(aligned_rows_are_rounded_alone),
        CASE(strides_of_ones_own),
        CASE(strides_that_cannot_be),
        CASE(one_element_of_a_part),
        CASE(single_elements),
        CASE(flattened_it_is_the_same_memory),
        CASE(made_of_values_on_the_host),
        CASE(made_of_values_on_a_context),
        CASE(row_and_column_major),
        CASE(typed_and_untyped_are_the_same_array),
        CASE(offset_beyond_the_memory),
        CASE(numbers_by_index),
        CASE(filled_with_a_half),
        CASE(size_of_halves),
        CASE(reading_what_is_not_there),
        CASE(slices_and_matrices),
        CASE(live_bytes_of_any_size),
        CASE(from_a_coherent_array),
        CASE(rank_0),
        CASE(what_is_not_made),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
