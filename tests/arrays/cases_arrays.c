/* Arrays of n dimensions on the contexts of support/matrix.h: making them, and accesses to views.
 * ndarray/test_view.c has the views themselves. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"

typedef struct point {
    double x, y;
} point;
HARRAY(point);
HA_ARRAY(point, 1);
HA_ARRAY(point, 2);
HA_ARRAY(int, 1);

static array_double_2 keep_2(array_double_2 x) {
    keep_array(x.array);
    return x;
}

static darray keep_darray(darray x) {
    keep_array(x.array);
    return x;
}

/* The call gives no array, and says this. */
static void expect_none(const ha_array *array, ha_status status, const char *text) {
    const ha_error e = ha_take_error();
    assert_null(array);
    assert_int_equal(e.status, status);
    if (!strstr(e.text, text)) fail_msg("not said: '%s' in: %s", text, e.text);
    step();
}

/* Each element of a view becomes 100 i + j + what is added, on the access's context. */
static void number_job(const ha_queue *queue, void *argument) {
    const ha_write_double_2 *v = (const ha_write_double_2 *)argument;
    span_double_2 s = v->span;
    double *data = HA_HERE(queue, double, v->data); /* the element at the origin */
    s.data = data - s.origin[0] * s.stride[0] - s.origin[1] * s.stride[1];
    for (int64_t i = s.origin[0]; i < s.origin[0] + s.extent[0]; i++)
        for (int64_t j = s.origin[1]; j < s.origin[1] + s.extent[1]; j++)
            HA_AT(s, i, j) = 100.0 * (double)i + (double)j;
}

static void add_1000_job(const ha_queue *queue, void *argument) {
    const ha_write_double_2 *v = (const ha_write_double_2 *)argument;
    span_double_2 s = v->span;
    s.data = HA_HERE(queue, double, v->data) - s.origin[0] * s.stride[0] -
             s.origin[1] * s.stride[1];
    for (int64_t i = s.origin[0]; i < s.origin[0] + s.extent[0]; i++)
        for (int64_t j = s.origin[1]; j < s.origin[1] + s.extent[1]; j++) HA_AT(s, i, j) += 1000;
}

static array_double_2 numbered(int64_t n, int64_t m, ha_context *context) {
    array_double_2 x = keep_2(array_double_2_new(ha_dim2_of(n, m), context));
    HA_OVERWRITING_ALL(v, x, context) SUCCEEDS(HA_RUN(number_job, v));
    else fail();
    return x;
}

static void add_1000(array_double_2 x, ha_context *context) {
    HA_WRITING(v, x, context) SUCCEEDS(HA_RUN(add_1000_job, v));
    else fail();
    step();
}

/* Row by row, read on the host. */
static void expect_numbers(array_double_2 x, size_t n, const double *expected) {
    int ran = 0;
    HA_READING(v, x, H) {
        size_t at = 0;
        ran = 1;
        assert_int_equal(v.size, n);
        for (int64_t i = 0; i < v.span.extent[0]; i++)
            for (int64_t j = 0; j < v.span.extent[1]; j++)
                assert_true(HA_AT(v.span, i + v.span.origin[0], j + v.span.origin[1]) ==
                            expected[at++]);
    }
    assert_true(ran);
    step();
}
#define NUMBERS(x, ...)                                                                            \
    expect_numbers(x, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

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

/* ---- accesses to views ---------------------------------------------------------------------- */

TEST(views_are_written_where_they_are) {
    array_double_2 x = numbered(3, 4, C);
    add_1000(array_double_2_slice(x, 1, HA_ALL, HA_ALL, -2), M1);
    NUMBERS(x, 0, 1001, 2, 1003, 100, 1101, 102, 1103, 200, 1201, 202, 1203);
    HA_OVERWRITING_ALL(v, array_double_2_transpose(array_double_2_slice(x, 0, 1, 2, 1)), M1)
    SUCCEEDS(HA_RUN(number_job, v));
    else fail();
    NUMBERS(x, 0, 1001, 2, 1003, 0, 100, 200, 300, 200, 1201, 202, 1203);
    add_1000(array_double_2_flip(array_double_2_part(x, HA_DIM(0, 0), HA_DIM(1, 2)), 1), C);
    NUMBERS(x, 1000, 2001, 2, 1003, 0, 100, 200, 300, 200, 1201, 202, 1203);
    drop_array(x.array);
}

TEST(a_box_moves_and_nothing_else) {
    array_double_2 x = numbered(6, 8, H);
    array_double_2 box = array_double_2_part(x, HA_DIM(1, 2), HA_DIM(4, 7));
    HA_READING(v, box, C) assert_int_equal(v.size, 15);
    else fail();
    assert_int_equal(ha_array_statistics(x.array).bytes, same_memory(H, C) ? 0 : 15 * 8);
    HA_OVERWRITING_ALL(v, array_double_2_slice(x, 0, 5, 6, 1), C) SUCCEEDS(HA_RUN(number_job, v));
    else fail();
    assert_int_equal(ha_array_statistics(x.array).bytes, same_memory(H, C) ? 0 : 15 * 8);
    HA_READING(v, array_double_2_fix(x, 0, 5), H) assert_true(HA_AT(v.span, 7) == 7);
    else fail();
    assert_int_equal(ha_array_statistics(x.array).bytes, same_memory(H, C) ? 0 : (15 + 8) * 8);
    drop_array(x.array);
}

/* Boxes beside each other, by one thread at two places; boxes that overlap, not. */
TEST(boxes_lock_what_they_cover) {
    array_double_2 x = numbered(4, 4, H);
    HA_WRITING(v, array_double_2_slice(x, 1, 0, 2, 1), H) {
        HA_WRITING(w, array_double_2_slice(x, 1, 2, 4, 1), C) step();
        else fail();
        HA_TRY_WRITING(w, array_double_2_slice(x, 1, 1, 3, 1), C) fail();
        else assert_int_equal(w.status, HA_ERR_CONFLICT);
        assert_int_equal(ha_take_error().status, HA_ERR_CONFLICT);
    }
    else fail();
    drop_array(x.array);
}

TEST(repeated_elements_are_for_reading) {
    const double values[] = {1, 2, 3};
    array_double_1 x = array_double_1_of(HA_DIM(3), values, C);
    const darray d = keep_darray(array_double_1_to_darray(x));
    const array_double_2 wide = array_double_2_broadcast(d, HA_DIM(2, 3));
    NUMBERS(wide, 1, 2, 3, 1, 2, 3);
    HA_WRITING(v, wide, C) fail();
    else {
        const ha_error e = ha_take_error();
        const ha_write_double_2 closed = {.status = HA_ERR_ARGUMENT};
        assert_int_equal(v.status, HA_ERR_ARGUMENT);
        assert_null(v.array);
        assert_null(v.span.data);
        assert_int_equal(v.span.extent[0], closed.span.extent[0]);
        assert_non_null(strstr(e.text, "can only be read"));
        assert_non_null(strstr(e.text, "double (2, 3)"));
        assert_non_null(strstr(e.text, "cases_arrays.c:"));
    }
    HA_OVERWRITING_ALL(v, darray_broadcast(d, 1, (int64_t[]){3}), H) assert_int_equal(v.size, 3);
    else fail();
    HA_TRY_OVERWRITING_ALL(v, wide, H) fail();
    else assert_int_equal(v.status, HA_ERR_ARGUMENT);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    drop_array(x.array);
}

TEST(ghost_cells) {
    const ha_shape shape = {
        .rank = 2, .extent = {2, 2}, .ghost_low = {1, 1}, .ghost_high = {1, 1}, .padding = {1, 3}};
    array_double_2 x = keep_2(array_double_2_make(&shape, C));
    HA_OVERWRITING_ALL(v, x, C) SUCCEEDS(HA_RUN(number_job, v));
    else fail();
    NUMBERS(x, -101, -100, -99, -98, -1, 0, 1, 2, 99, 100, 101, 102, 199, 200, 201, 202);
    NUMBERS(array_double_2_interior(x), 0, 1, 100, 101);
    add_1000(array_double_2_interior(x), M1);
    NUMBERS(x, -101, -100, -99, -98, -1, 1000, 1001, 2, 99, 1100, 1101, 102, 199, 200, 201, 202);
    HA_READING(v, array_double_2_fix(x, 1, -1), H) {
        assert_int_equal(v.span.origin[0], -1);
        assert_true(HA_AT(v.span, -1) == -101 && HA_AT(v.span, 2) == 199 && v.data[0] == -101);
    }
    else fail();
    drop_array(x.array);
}

TEST(every_way_to_open) {
    array_double_2 x = numbered(2, 3, H);
    const darray d = array_double_2_to_darray(x);
    HA_TRY_READING(v, array_double_2_fix(x, 1, 1), C) assert_int_equal(v.size, 2);
    else fail();
    HA_TRY_WRITING(v, array_double_2_fix(x, 1, 1), C) assert_int_equal(v.size, 2);
    else fail();
    HA_READING_ANYWHERE(v, array_double_2_transpose(x)) {
        assert_int_equal(v.size, 6);
        assert_int_equal(v.span.extent[0], 3);
    }
    else fail();
    HA_READING_ANYWHERE(v, (array_double_2_slice(x, 0, 0, 9, 1))) fail();
    else assert_int_equal(v.status, HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "0 to before 9"));
    {
        HA_SCOPED_READ(v, darray_fix(d, 0, 1), C);
        assert_int_equal(v.status, HA_OK);
        assert_int_equal(v.span.type, HA_DTYPE_double);
        assert_int_equal(v.span.rank, 1);
        assert_int_equal(v.first, 3);
    }
    {
        HA_SCOPED_OVERWRITE_ALL(v, d, C);
        HA_SCOPED_WRITE(w, d, C);
        assert_int_equal(v.status, HA_OK);
        assert_int_equal(w.status, HA_ERR_CONFLICT);
        assert_int_equal(ha_take_error().status, HA_ERR_CONFLICT);
    }
    HA_WRITING(v, (array_double_2_fix(x, 0, 5)), C) fail();
    else assert_int_equal(v.status, HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "5 in dimension 0"));
    drop_array(x.array);
}

TEST(opened_together) {
    array_double_2 x = numbered(2, 3, H), y = numbered(2, 3, H), part;
    ha_read_double_2 v = {.status = HA_OK};
    ha_write_double_2 w = {.status = HA_OK};
    const darray a = array_double_2_to_darray(x);
    part = array_double_2_slice(y, 1, 1, 3, 1);
    const darray b = array_double_2_to_darray(part);
    ha_request requests[] = {{.access = HA_ACCESS(&v), .context = C, .how = HA_READ, .view = &a},
                             {.access = HA_ACCESS(&w), .context = C, .how = HA_WRITE, .view = &b}};
    SUCCEEDS(ha_open_many(requests, 2));
    SUCCEEDS(ha_span_of(&v, x));
    SUCCEEDS(ha_span_of(&w, part));
    assert_ptr_equal(w.span.data, w.data);
    assert_int_equal(w.span.stride[0], 3);
    REFUSED(HA_ERR_ARGUMENT, ha_span_of(&w, x));
    REFUSED(HA_ERR_ARGUMENT, ha_span_of(&v, y));
    part = array_double_2_slice(y, 1, 0, 2, 1);
    REFUSED(HA_ERR_ARGUMENT, ha_span_of(&w, part));
    SUCCEEDS(ha_close(&v));
    SUCCEEDS(ha_close(&w));
    REFUSED(HA_ERR_ARGUMENT, ha_span_of(&v, x));
    drop_array(x.array);
    drop_array(y.array);
}

/* Its numbers are those of another view, with as many elements from the same one on. */
TEST(no_span_beyond_the_storage) {
    array_double_2 x = numbered(2, 3, H),
                   corner = array_double_2_part(x, HA_DIM(1, 1), HA_DIM(2, 3));
    ha_read_double_2 v = {.status = HA_OK};
    const darray view = array_double_2_to_darray(corner);
    ha_request request = {.access = HA_ACCESS(&v), .context = C, .how = HA_READ, .view = &view};
    SUCCEEDS(ha_open_many(&request, 1));
    SUCCEEDS(ha_span_of(&v, corner));
    corner.extent[0] = 2;
    corner.extent[1] = 1;
    REFUSED(HA_ERR_ARGUMENT, ha_span_of(&v, corner));
    assert_int_equal(v.span.extent[1], 2);
    SUCCEEDS(ha_close(&v));
    drop_array(x.array);
}

TEST(prefetched) {
    array_double_2 x = numbered(4, 4, H);
    const darray part = darray_slice(array_double_2_to_darray(x), 1, 1, 3, 1);
    SUCCEEDS(darray_prefetch(part, C));
    const uint64_t bytes = ha_array_statistics(x.array).bytes;
    assert_int_equal(bytes, same_memory(H, C) ? 0 : 64);
    HA_READING(v, part, C) assert_int_equal(ha_array_statistics(x.array).bytes, bytes);
    else fail();
    REFUSED(HA_ERR_ARGUMENT, darray_prefetch((darray){.rank = 0}, C));
    drop_array(x.array);
}

TEST(of_ones_own_type) {
    const point p = {1, 2};
    array_point_2 x = array_point_2_filled(HA_DIM(2, 2), p, C);
    keep_array(x.array);
    HA_WRITING(v, array_point_2_fix(x, 1, 0), H) HA_AT(v.span, 1).y = 5;
    else fail();
    HA_READING(v, x, H) assert_true(HA_AT(v.span, 1, 0).y == 5 && HA_AT(v.span, 1, 1).y == 2);
    else fail();
    HA_READING(v, array_point_2_to_darray(x), H) {
        assert_int_equal(v.span.type, HA_DTYPE_NONE);
        assert_true(((const point *)v.data)[2].y == 5);
    }
    else fail();
    drop_array(x.array);
}

/* ---- accesses without a scope ---------------------------------------------------------------- */

TEST(opened_without_a_scope) {
    array_double_2 x = keep_2(array_double_2_zeros(HA_DIM(3, 4), H));
    const array_double_2 part = array_double_2_part(x, HA_DIM(1, 1), HA_DIM(3, 3));
    const harray_double list = array_double_2_array(x);
    ha_write_double_2 w, moved;
    ha_read_darray r;
    ha_read_double all;
    SUCCEEDS(ha_open_view(&w, part, H, HA_WRITE));
    HA_AT(w.span, 1, 1) = 7;
    SUCCEEDS(ha_move(&moved, &w)); /* with its span */
    assert_null(w.span.data);
    HA_AT(moved.span, 0, 1) = 6;
    assert_int_equal(moved.span.extent[1], 2);
    REFUSED(HA_ERR_CONFLICT, ha_open_view(&r, array_double_2_to_darray(x), H, HA_READ));
    SUCCEEDS(ha_close(&moved));
    SUCCEEDS(ha_open_view(&r, array_double_2_to_darray(part), H, HA_READ));
    assert_int_equal(r.span.rank, 2);
    assert_int_equal(r.span.stride[0], 4);
    SUCCEEDS(ha_close(&r));
    SUCCEEDS(ha_open_view(&all, list, H, HA_READ));
    assert_int_equal(all.size, 12);
    assert_true(all.data[6] == 6 && all.data[10] == 7);
    SUCCEEDS(ha_close(&all));
    REFUSED(HA_ERR_ARGUMENT, ha_open_view(&w, array_double_2_flip(x, 2), H, HA_WRITE));
    drop_array(x.array);
}

/* The text of the error of the read that failed, and nothing has values now. */
static void is_missing(darray x, const char *part) {
    ha_read_darray v;
    char expected[80];
    snprintf(expected, sizeof expected, "elements %s were never written", part);
    assert_int_equal(ha_open_view(&v, x, C, HA_READ), HA_ERR_STATE);
    const ha_error e = ha_take_error();
    if (!strstr(e.text, expected)) fail_msg("%s: %s", expected, e.text);
}

/* By the indices of what was opened: a ghost's are below 0. */
TEST(missing_elements_by_their_indices) {
    const ha_shape shape = {
        .rank = 2, .extent = {2, 3}, .ghost_low = {1, 1}, .ghost_high = {1, 1}, .alignment = 64};
    darray x = darray_make(HA_DTYPE_double, &shape, H), flat;
    keep_array(x.array);
    HA_OVERWRITING_ALL(v, darray_slice(x, 0, 0, 3, 1), C) {} /* all but row -1 */
    is_missing(x, "[-1, 0) x [-1, 4)");
    is_missing(darray_transpose(x), "[-1, 4) x [-1, 0)");
    is_missing(darray_flip(x, 0), "[3, 4) x [-1, 4)");
    is_missing(darray_flip(x, 1), "[-1, 0) x [0, 5)");
    is_missing(darray_fix(x, 0, -1), "[-1, 4)");
    is_missing(darray_with_origin(x, (const int64_t[]){10, 20}), "[10, 11) x [20, 25)");
    is_missing(darray_slice(darray_fix(x, 1, 2), 0, -1, 2, 1), "[0, 1)");
    drop_array(x.array);
    harray_double list = harray_double_new(6);
    keep_array(list.array);
    flat = darray_from(list.array, 1, (const int64_t[]){6});
    HA_OVERWRITING_RANGE(v, list, H, 0, 4) {}
    is_missing(flat, "[4, 6)");
    is_missing(darray_flip(flat, 0), "[0, 2)");
    is_missing(darray_slice(flat, 0, 2, 6, 1), "[2, 4)");
    SUCCEEDS(darray_free(&flat));
    drop_array(list.array);
}

/* Nothing behind an access is written, whatever it is opened for. */
#define BEHIND(access)                                                                             \
    struct {                                                                                       \
        access v;                                                                                  \
        unsigned char behind[256];                                                                 \
    }
static void is_untouched(const unsigned char *behind) {
    for (int i = 0; i < 256; i++) assert_int_equal(behind[i], 0xA5);
}

TEST(opened_without_a_span) {
    array_double_2 x = keep_2(array_double_2_zeros(HA_DIM(3, 4), H));
    BEHIND(ha_access) plain;
    memset(&plain, 0xA5, sizeof plain);
    SUCCEEDS(ha_open_view(&plain.v, x, H, HA_WRITE));
    assert_int_equal(plain.v.size, 12);
    REFUSED(HA_ERR_ARGUMENT, ha_span_of_(&plain.v, sizeof plain.v, &x, sizeof x));
    assert_int_equal(plain.v.size, 12); /* still open */
    SUCCEEDS(ha_close(&plain.v));
    SUCCEEDS(ha_open_view(&plain.v, array_double_2_to_darray(x), C, HA_READ));
    SUCCEEDS(ha_close(&plain.v));
    SUCCEEDS(ha_open_view(&plain.v, array_double_2_array(x), C, HA_READ));
    SUCCEEDS(ha_close(&plain.v));
    is_untouched(plain.behind);
    drop_array(x.array);
}

/* The compiler refuses them (test_access_errors), unless a pointer was cast. */
TEST(opened_by_another_type) {
    array_double_2 x = keep_2(array_double_2_zeros(HA_DIM(3, 4), H));
    const darray d = array_double_2_to_darray(x);
    BEHIND(ha_write_double_1) small;
    BEHIND(ha_write_double_2) fitting;
    memset(&small, 0xA5, sizeof small);
    REFUSED(HA_ERR_ARGUMENT,
            ha_open_any_(HA_ACCESS(&small.v), sizeof small.v, &x, sizeof x, H, HA_READ, "here"));
    assert_null(small.v.array);
    assert_int_equal(small.v.status, HA_ERR_ARGUMENT);
    REFUSED(HA_ERR_ARGUMENT,
            ha_open_any_(HA_ACCESS(&small.v), sizeof small.v, &d, sizeof d, H, HA_READ, "here"));
    REFUSED(HA_ERR_ARGUMENT,
            ha_read_anywhere_any_(HA_ACCESS(&small.v), sizeof small.v, &x, sizeof x, "here"));
    is_untouched(small.behind);
    memset(&fitting, 0xA5, sizeof fitting);
    SUCCEEDS(ha_open_view(&fitting.v, x, H, HA_WRITE)); /* nobody else has it */
    REFUSED(HA_ERR_ARGUMENT, ha_span_of_(HA_ACCESS(&fitting.v), sizeof fitting.v, &d, sizeof d));
    SUCCEEDS(ha_close(&fitting.v));
    is_untouched(fitting.behind);
    drop_array(x.array);
}

/* Also where the compiler does not know what it is opened for. */
TEST(opened_to_read_for_writing) {
    array_double_2 x = keep_2(array_double_2_zeros(HA_DIM(3, 4), H));
    const harray_double list = array_double_2_array(x);
    static volatile unsigned write = HA_WRITE, overwrite_at_once = HA_OVERWRITE | HA_TRY;
    ha_read_double_2 v;
    ha_read_double of_list;
    const uint64_t version = ha_array_version(x.array);
    REFUSED(HA_ERR_ARGUMENT, ha_open_view(&v, x, H, write));
    REFUSED(HA_ERR_ARGUMENT, ha_open_view(&v, x, H, overwrite_at_once));
    assert_null(v.array);
    assert_int_equal(ha_open_view(&of_list, list, H, write), HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "of a type to read"));
    assert_true(ha_array_version(x.array) == version);
    write = HA_READ | HA_TRY;
    SUCCEEDS(ha_open_view(&v, x, H, write));
    SUCCEEDS(ha_close(&v));
    write = HA_WRITE;
    drop_array(x.array);
}

TEST(moved_without_its_span) {
    array_double_2 x = keep_2(array_double_2_zeros(HA_DIM(3, 4), H));
    ha_access plain;
    ha_write_double_2 v, w;
    SUCCEEDS(ha_open_view(&v, x, H, HA_WRITE));
    SUCCEEDS(ha_move(&plain, &v)); /* there is no room for it */
    assert_null(v.span.data);
    w.span.data = plain.data;
    SUCCEEDS(ha_move(&w, &plain));
    assert_null(w.span.data); /* not what was there before */
    SUCCEEDS(ha_span_of(&w, x));
    assert_ptr_equal(w.span.data, w.data);
    SUCCEEDS(ha_close(&w));
    drop_array(x.array);
}

/* What a typed function does is told under its name: it has no line of its own. */
TEST(names_of_typed_functions) {
    array_double_2 x = keep_2(array_double_2_zeros(HA_DIM(3, 4), H));
    int equal;
    array_double_2_set_name(x, "x");
    assert_string_equal(ha_array_name(x.array), "x");
    HA_WRITING(v, x, H) {
        (void)v;
        assert_int_equal(array_double_2_copy(x, x, H), HA_ERR_CONFLICT);
        assert_non_null(strstr(ha_take_error().text, "array_double_2_copy: array 'x'"));
        assert_int_equal(array_double_2_fill(x, 1, H), HA_ERR_CONFLICT);
        assert_non_null(strstr(ha_take_error().text, "array_double_2_fill: array 'x'"));
        assert_int_equal(array_double_2_equal(x, x, &equal), HA_ERR_CONFLICT);
        assert_non_null(strstr(ha_take_error().text, "array_double_2_equal: array 'x'"));
    }
    else fail();
    drop_array(x.array);
}

TEST(wrapped_and_handed_back) {
    double memory[6] = {1, 2, 3, 4, 5, 6};
    array_double_2 x = array_double_2_wrap(memory, HA_DIM(2, 3), H);
    add_1000(x, C);
    SUCCEEDS(array_double_2_sync(x));
    assert_true(memory[5] == 1006);
    add_1000(x, C);
    HA_READING(v, x, H) {
        (void)v;
        assert_int_equal(array_double_2_unwrap(&x), HA_ERR_CONFLICT);
        assert_int_equal(ha_take_error().status, HA_ERR_CONFLICT);
    }
    else fail();
    assert_non_null(x.array);
    SUCCEEDS(array_double_2_unwrap(&x));
    assert_null(x.array);
    assert_true(memory[0] == 2001);
    HA_READING(v, x, H) fail();
    else assert_int_equal(v.status, HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "no array: it was freed, or refused"));
}

/* ---- wrapping with strides ------------------------------------------------------------------ */

/* What lies between is not touched, wherever the elements are written. */
static void wrap_check(ha_dim2 extent, ha_dim2 stride, int first) {
    double memory[40];
    for (int i = 0; i < 40; i++) memory[i] = -i;
    array_double_2 x = keep_2(array_double_2_wrap_strided(&memory[first], extent, stride, H));
    add_1000(x, C);
    for (int i = 0; i < 40 && !shares_memory(C); i++) assert_true(memory[i] <= 0);
    drop_array(x.array);
    for (int i = 0; i < 40; i++) {
        int inside = 0;
        for (int64_t j = 0; j < extent.at[0]; j++)
            for (int64_t k = 0; k < extent.at[1]; k++)
                inside |= i == first + j * stride.at[0] + k * stride.at[1];
        assert_true(memory[i] == (inside ? 1000 - i : -i));
    }
}

TEST(wrapped_with_strides) {
    wrap_check(HA_DIM(3, 4), HA_DIM(4, 1), 2);
    wrap_check(HA_DIM(3, 4), HA_DIM(1, 3), 2); /* column-major */
    wrap_check(HA_DIM(3, 4), HA_DIM(6, 1), 2); /* rows with space behind */
    wrap_check(HA_DIM(3, 3), HA_DIM(5, 2), 1); /* every other one of an odd number */
    wrap_check(HA_DIM(3, 3), HA_DIM(-8, 2), 20);
    wrap_check(HA_DIM(2, 3), HA_DIM(10, -3), 9);
    wrap_check(HA_DIM(1, 3), HA_DIM(0, 7), 4); /* the stride of one index does not matter */
    wrap_check(HA_DIM(1, 1), HA_DIM(0, 0), 4);
}

TEST(wrapped_and_refused) {
    double memory[12];
    array_double_2 x;
    expect_none(array_double_2_wrap_strided(memory, HA_DIM(3, 4), HA_DIM(3, 1), H).array,
                HA_ERR_ARGUMENT, "overlap");
    expect_none(array_double_2_wrap_strided(memory, HA_DIM(3, 4), HA_DIM(0, 1), H).array,
                HA_ERR_ARGUMENT, "overlap");
    expect_none(array_double_2_wrap_strided(memory, HA_DIM(3, 2), HA_DIM(2, 3), H).array,
                HA_ERR_ARGUMENT, "lie on no grid");
    expect_none(array_double_2_wrap_strided(memory, HA_DIM(3, 2), HA_DIM(INT64_MAX, 1), H).array,
                HA_ERR_MEMORY, "overflow");
    expect_none(array_double_2_wrap_strided(memory, HA_DIM(2, 2), HA_DIM(INT64_MIN, 1), H).array,
                HA_ERR_MEMORY, "overflow");
    expect_none(array_double_2_wrap(NULL, HA_DIM(2, 2), H).array, HA_ERR_ARGUMENT, "no memory");
    x = keep_2(array_double_2_wrap(memory, HA_DIM(2, 3), H));
    expect_none(array_double_2_wrap(memory + 5, HA_DIM(2, 3), H).array, HA_ERR_STATE, "owns some");
    drop_array(x.array);
    x = array_double_2_wrap(NULL, HA_DIM(0, 3), H);
    assert_int_equal(x.extent[1], 3);
    SUCCEEDS(array_double_2_free(&x));
}

TEST(wrapped_const) {
    double memory[4] = {1, 2, 3, 4};
    const int64_t extent[] = {2, 2}, stride[] = {1, 2};
    darray x = darray_wrap(HA_DTYPE_double, 2, extent, stride, memory, H, HA_WRAP_CONST);
    keep_darray(x);
    NUMBERS(array_double_2_from_darray(x), 1, 3, 2, 4);
    HA_WRITING(v, x, C) fail();
    else assert_int_equal(v.status, HA_ERR_STATE);
    assert_int_equal(ha_take_error().status, HA_ERR_STATE);
    drop_array(x.array);
}

TEST(typed_wrapped_const) {
    static const double memory[4] = {1, 2, 3, 4};
    array_double_2 x = keep_2(array_double_2_wrap_const(memory, HA_DIM(2, 2), H));
    NUMBERS(x, 1, 2, 3, 4);
    REFUSED(HA_ERR_STATE, array_double_2_set(x, HA_DIM(0, 0), 5));
    REFUSED(HA_ERR_STATE, array_double_2_fill(x, 5, C));
    drop_array(x.array);
}

/* ---- native indexing ------------------------------------------------------------------------ */

TEST(native_2) {
    array_double_2 x = numbered(3, 4, C);
    array_double_2 columns = array_double_2_new_in(HA_COLUMN_MAJOR, HA_DIM(3, 4), H);
    HA_WRITING(v, x, H) {
        HA_NATIVE_2(a, v);
        assert_non_null(a);
        assert_int_equal(sizeof *a, 4 * sizeof(double));
        assert_true(a[2][3] == 203);
        a[1][0] = 5;
    }
    HA_READING(v, array_double_2_part(x, HA_DIM(1, 0), HA_DIM(3, 2)), H) {
        HA_NATIVE_2(a, v);
        assert_true(a && a[0][0] == 5 && a[1][1] == 201);
    }
    HA_READING(v, array_double_2_slice(x, 0, HA_ALL, HA_ALL, 2), H) {
        HA_NATIVE_2(a, v);
        assert_true(a && a[1][3] == 203);
    }
    HA_READING(v, array_double_2_slice(x, 1, HA_ALL, HA_ALL, 2), H) {
        HA_NATIVE_2(a, v);
        assert_null(a);
    }
    HA_READING(v, array_double_2_flip(x, 0), H) {
        HA_NATIVE_2(a, v);
        assert_null(a);
    }
    HA_OVERWRITING_ALL(v, columns, H) {
        HA_NATIVE_2(a, v);
        assert_null(a);
    }
    /* Of one column the stride does not matter, if that is column 0. */
    const array_double_2 row = array_double_2_transpose(
        array_double_2_part(x, HA_DIM(1, 0), HA_DIM(2, 4)));
    HA_READING(v, row, H) {
        HA_NATIVE_2(a, v);
        assert_true(a && a[3][0] == 103);
    }
    HA_READING(v, array_double_2_with_origin(row, HA_DIM(0, 1)), H) {
        HA_NATIVE_2(a, v);
        assert_true(!a && HA_AT(v.span, 3, 1) == 103);
    }
    HA_READING(v, x, C) {
        HA_NATIVE_2(a, v);
        assert_int_equal(a != NULL, C == H);
    }
    ha_read_double_2 closed = {.status = HA_OK};
    HA_NATIVE_2(none, closed);
    assert_null(none);
    drop_array(x.array);
    SUCCEEDS(array_double_2_free(&columns));
}

TEST(native_3_and_4) {
    double values[24];
    for (int i = 0; i < 24; i++) values[i] = i;
    array_double_3 x = array_double_3_of(HA_DIM(2, 3, 4), values, H);
    keep_array(x.array);
    array_double_4 y = array_double_4_reshape(array_double_3_to_darray(x), HA_DIM(2, 3, 2, 2));
    HA_READING(v, x, H) {
        HA_NATIVE_3(a, v);
        assert_true(a && a[1][2][3] == 23 && a[0][1][0] == 4);
    }
    HA_READING(v, array_double_3_part(x, HA_DIM(0, 1, 1), HA_DIM(2, 3, 3)), H) {
        HA_NATIVE_3(a, v);
        assert_true(a && a[1][1][1] == 22 && a[0][0][0] == 5);
    }
    HA_READING(v, y, H) {
        HA_NATIVE_4(a, v);
        assert_true(a && a[1][2][1][1] == 23 && a[0][1][0][1] == 5);
    }
    HA_READING(v, array_double_3_permute(x, HA_DIM(1, 0, 2)), H) {
        HA_NATIVE_3(a, v);
        assert_null(a);
    }
    drop_array(x.array);
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
        CASE(views_are_written_where_they_are),
        CASE(a_box_moves_and_nothing_else),
        CASE(boxes_lock_what_they_cover),
        CASE(repeated_elements_are_for_reading),
        CASE(ghost_cells),
        CASE(every_way_to_open),
        CASE(opened_together),
        CASE(no_span_beyond_the_storage),
        CASE(prefetched),
        CASE(of_ones_own_type),
        CASE(opened_without_a_scope),
        CASE(missing_elements_by_their_indices),
        CASE(opened_without_a_span),
        CASE(opened_by_another_type),
        CASE(opened_to_read_for_writing),
        CASE(moved_without_its_span),
        CASE(names_of_typed_functions),
        CASE(wrapped_and_handed_back),
        CASE(wrapped_with_strides),
        CASE(wrapped_and_refused),
        CASE(wrapped_const),
        CASE(typed_wrapped_const),
        CASE(native_2),
        CASE(native_3_and_4),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
