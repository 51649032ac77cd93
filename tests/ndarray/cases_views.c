/* Contents of views: copies between any two, plans, filling, comparing, single elements. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"

#define LIST(...) ((const int64_t[HA_MOST_RANK]){__VA_ARGS__})

/* The next index from the origin, last dimension fastest; 0 behind the last. */
static int next_index(const darray *x, int64_t *index) {
    for (int d = x->rank; d-- > 0; index[d] = x->origin[d])
        if (++index[d] < x->origin[d] + x->extent[d]) return 1;
    return 0;
}

static darray kept(darray x) {
    keep_array(x.array);
    return x;
}

/* 0, 1, 2, … in C's order, first at a context. */
static darray counting_in(ha_order order, ha_dtype type, int rank, const int64_t *extent,
                          ha_context *c) {
    darray x = kept(darray_new_in(order, type, rank, extent, c));
    int64_t index[HA_MOST_RANK] = {0}, i = 0;
    ha_write_darray v;
    memset(&v, 0, sizeof v);
    SUCCEEDS(ha_open(&v, x.array, H, HA_OVERWRITE, 0, HA_END));
    do {
        assert_int_equal(ha_dvalue_store(ha_dvalue_of_int64_t(i++), type,
                                         (char *)v.data + ha_offset(rank, index, x.stride) *
                                                              (int64_t)ha_dtype_size(type)),
                         HA_OK);
    } while (next_index(&x, index));
    ha_close(&v);
    SUCCEEDS(ha_array_prefetch(x.array, c, 0, HA_END));
    return x;
}

static darray counting(ha_dtype type, int rank, const int64_t *extent, ha_context *c) {
    return counting_in(HA_ROW_MAJOR, type, rank, extent, c);
}

static double number_at(darray x, const int64_t *index) {
    ha_dvalue v;
    assert_int_equal(darray_get(x, x.rank, index, &v), HA_OK);
    assert_int_equal(v.type, x.type);
    assert_int_equal(ha_dvalue_convert(v, HA_DTYPE_double, &v), HA_OK);
    return v.as_double;
}

#define NUMBERS(x, ...)                                                                            \
    expect_numbers(x, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

static void expect_numbers(darray x, size_t count, const double *expected) {
    int64_t index[HA_MOST_RANK];
    size_t i = 0;
    memcpy(index, x.origin, sizeof index);
    assert_int_equal(darray_size(x), count);
    do {
        const double number = number_at(x, index);
        if (number != expected[i]) print_error("element %zu is %g\n", i, number);
        assert_true(number == expected[i++]);
    } while (next_index(&x, index));
}

static int equal(darray a, darray b) {
    int result = -1;
    SUCCEEDS(darray_equal(a, b, &result));
    return result;
}

/* It fails with ARGUMENT, and says all of these. */
static void is_told(ha_status s, const char *operation, const char *one, const char *two) {
    const ha_error e = ha_take_error();
    assert_int_equal(s, HA_ERR_ARGUMENT);
    assert_int_equal(e.status, HA_ERR_ARGUMENT);
    if (strcmp(e.operation, operation) || !strstr(e.text, one) || !strstr(e.text, two)) {
        print_error("not said: '%s' '%s' '%s' in: %s: %s\n", operation, one, two, e.operation,
                    e.text);
        fail();
    }
    step();
}

static int valid_at(darray x, const ha_context *c) { return ha_array_valid(x.array, c, 0, HA_END); }

/* ---- copies --------------------------------------------------------------------------------- */

/* From every context, to every context, with the work asked for at every one. */
TEST(copies_between_contexts) {
    ha_context *const contexts[] = {H, C, M1, M2};
    for (size_t i = 0; i < 64; i++) {
        ha_context *a = contexts[i % 4], *b = contexts[i / 4 % 4], *c = contexts[i / 16];
        darray x = counting(HA_DTYPE_double, 2, LIST(3, 4), a);
        darray y = counting(HA_DTYPE_double, 2, LIST(5, 6), b);
        darray inner = darray_part(y, LIST(1, 1), LIST(4, 5));
        SUCCEEDS(darray_copy(inner, x, c));
        assert_true(equal(inner, x));
        NUMBERS(darray_fix(y, 0, 0), 0, 1, 2, 3, 4, 5);
        NUMBERS(darray_fix(y, 0, 2), 12, 4, 5, 6, 7, 17);
        NUMBERS(darray_fix(y, 1, 5), 5, 11, 17, 23, 29);
        drop_array(x.array);
        drop_array(y.array);
    }
}

TEST(orders_and_directions) {
    darray x = counting(HA_DTYPE_float, 3, LIST(2, 3, 4), C);
    darray y = kept(darray_new_in(HA_COLUMN_MAJOR, HA_DTYPE_float, 3, LIST(2, 3, 4), M1));
    SUCCEEDS(darray_copy(y, x, C));
    assert_true(equal(x, y));
    NUMBERS(darray_fix(darray_fix(y, 0, 1), 0, 2), 20, 21, 22, 23);
    SUCCEEDS(darray_copy(darray_flip(y, 1), x, C));
    NUMBERS(darray_fix(darray_fix(y, 0, 1), 1, 0), 20, 16, 12);
    SUCCEEDS(darray_copy(darray_slice(darray_fix(y, 0, 0), 1, 0, HA_ALL, 2),
                         darray_slice(darray_fix(x, 0, 1), 1, 1, HA_ALL, 2), C));
    NUMBERS(darray_fix(y, 0, 0), 13, 9, 15, 11, 17, 5, 19, 7, 21, 1, 23, 3);
    drop_array(x.array);
    drop_array(y.array);
}

/* What one command can do stays where it is. */
TEST(a_device_copies_what_it_has) {
    if (C == H || !HA_HAS_(C->ops, ha_queue_ops, copy_strided)) return;
    darray x = counting(HA_DTYPE_double, 3, LIST(4, 5, 6), C);
    darray y = kept(darray_new(HA_DTYPE_double, 3, LIST(4, 5, 6), C));
    HA_OVERWRITING_ALL(v, harray_double_from(x.array), C) {}
    SUCCEEDS(darray_fill(x, ha_dvalue_of_double(2), C));
    SUCCEEDS(darray_fill(y, ha_dvalue_of_double(1), C));
    HA_NO_TRANSFERS {
        assert_int_equal(darray_copy(darray_part(y, LIST(1, 1, 1), LIST(3, 3, 3)),
                                     darray_part(x, LIST(0, 2, 3), LIST(2, 4, 5)), C),
                         HA_OK);
        assert_int_equal(darray_copy(darray_fix(y, 2, 0), darray_fix(x, 2, 1), C), HA_OK);
    }
    assert_true(valid_at(y, C));
    step();
    NUMBERS(darray_fix(darray_fix(y, 0, 1), 0, 1), 2, 2, 2, 1, 1, 1);
    NUMBERS(darray_fix(darray_fix(y, 0, 3), 0, 4), 2, 1, 1, 1, 1, 1);
    drop_array(x.array);
    drop_array(y.array);
}

TEST(types_are_converted) {
    darray x = counting(HA_DTYPE_int32_t, 2, LIST(3, 4), C);
    static const ha_dtype types[] = {
#define TYPE(name, T, kind, text) HA_DTYPE_##name,
        HA_NUMBER_DTYPES(TYPE)
#undef TYPE
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        darray y = kept(darray_new(types[i], 2, LIST(3, 4), M1));
        SUCCEEDS(darray_copy(y, x, C));
        assert_true(equal(y, x));
        NUMBERS(darray_fix(y, 0, 2), 8, 9, 10, 11);
        darray z = kept(darray_convert(y, HA_DTYPE_double, C));
        assert_true(equal(z, x));
        drop_array(y.array);
        drop_array(z.array);
    }
    drop_array(x.array);
}

/* What has no place in the other type is found before anything is written. */
TEST(conversions_that_fail) {
    darray x = counting(HA_DTYPE_double, 2, LIST(3, 4), C);
    darray y = counting(HA_DTYPE_int8_t, 2, LIST(3, 4), M1);
    darray shifted = darray_with_origin(x, LIST(-1, 10));
    ha_array_set_name(x.array, "wide");
    SUCCEEDS(darray_set(x, x.rank, LIST(1, 2), ha_dvalue_of_double(__builtin_nan(""))));
    SUCCEEDS(darray_fill(y, ha_dvalue_of_int64_t(7), C));
    is_told(darray_copy(y, shifted, C), "darray_copy", "double (3, 4) of array 'wide'",
            "nan at index (0, 12) as int8_t: does not fit; nothing was written");
    SUCCEEDS(darray_set(x, x.rank, LIST(1, 2), ha_dvalue_of_double(1e6)));
    is_told(darray_copy(y, x, C), "darray_copy", "1e+06 at index (1, 2)", "int8_t");
    NUMBERS(y, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7);
    assert_null(darray_convert(x, HA_DTYPE_int8_t, C).array);
    is_told(HA_ERR_ARGUMENT, "darray_convert", "1e+06", "int8_t");
    SUCCEEDS(darray_set(x, x.rank, LIST(1, 2), ha_dvalue_of_double(-0.5)));
    SUCCEEDS(darray_copy(y, x, C));
    NUMBERS(darray_fix(y, 0, 1), 4, 5, 0, 7);
    drop_array(x.array);
    drop_array(y.array);
}

/* As if all were read before the first is written. */
TEST(views_of_one_storage) {
    darray x = counting(HA_DTYPE_double, 1, LIST(8), C);
    SUCCEEDS(darray_copy(darray_slice(x, 0, 2, 8, 1), darray_slice(x, 0, 0, 6, 1), C));
    NUMBERS(x, 0, 1, 0, 1, 2, 3, 4, 5);
    SUCCEEDS(darray_copy(x, darray_flip(x, 0), C));
    NUMBERS(x, 5, 4, 3, 2, 1, 0, 1, 0);
    SUCCEEDS(darray_copy(darray_slice(x, 0, 0, 8, 2), darray_slice(x, 0, 1, 8, 2), C));
    NUMBERS(x, 4, 4, 2, 2, 0, 0, 0, 0);
    SUCCEEDS(darray_copy(darray_slice(x, 0, 0, 2, 1), darray_slice(x, 0, 4, 6, 1), C));
    NUMBERS(x, 0, 0, 2, 2, 0, 0, 0, 0);
    drop_array(x.array);
    darray square = counting(HA_DTYPE_float, 2, LIST(3, 3), C);
    SUCCEEDS(darray_copy(square, darray_transpose(square), C));
    NUMBERS(square, 0, 3, 6, 1, 4, 7, 2, 5, 8);
    drop_array(square.array);
}

TEST(copies_that_are_refused) {
    darray x = counting(HA_DTYPE_double, 2, LIST(3, 4), C);
    darray y = counting(HA_DTYPE_float, 2, LIST(4, 3), C), none = {.rank = 0};
    darray fresh = kept(darray_new(HA_DTYPE_double, 2, LIST(3, 4), C));
    darray own = kept(
        darray_make_of((ha_type){"pair", 8}, &(ha_shape){.rank = 2, .extent = {3, 4}}, C));
    is_told(darray_copy(x, y, C), "darray_copy", "double (3, 4)", "float (4, 3)");
    is_told(darray_copy(x, darray_fix(x, 0, 0), C), "darray_copy", "double (4)",
            "extents are not the same");
    is_told(darray_copy(darray_broadcast(darray_fix(x, 0, 0), 2, LIST(3, 4)), x, C), "darray_copy",
            "repeats", "(strides 0, 1)");
    is_told(darray_copy(x, own, C), "darray_copy", "pair (3, 4)", "cannot be converted");
    is_told(darray_copy(none, x, C), "darray_copy", "no array", "");
    is_told(darray_copy(x, none, C), "darray_copy", "no array", "");
    REFUSED(HA_ERR_STATE, darray_copy(x, fresh, C));
    REFUSED(HA_ERR_STATE, darray_copy(darray_transpose(y), fresh, C));
    NUMBERS(darray_fix(x, 0, 2), 8, 9, 10, 11);
    NUMBERS(darray_fix(y, 0, 3), 9, 10, 11);
    REFUSED_NULL(HA_ERR_ARGUMENT, darray_contiguous(none, HA_ROW_MAJOR, C).array);
    REFUSED_NULL(HA_ERR_ARGUMENT, darray_contiguous(x, (ha_order)7, C).array);
    REFUSED_NULL(HA_ERR_ARGUMENT, darray_convert(none, HA_DTYPE_float, C).array);
    REFUSED_NULL(HA_ERR_ARGUMENT, darray_convert(own, HA_DTYPE_float, C).array);
    REFUSED_NULL(HA_ERR_ARGUMENT, darray_convert(x, HA_DTYPE_NONE, C).array);
    REFUSED_NULL(HA_ERR_STATE, darray_contiguous(fresh, HA_ROW_MAJOR, C).array);
    drop_array(x.array);
    drop_array(y.array);
    drop_array(own.array);
    drop_array(fresh.array);
}

TEST(broadcast_sources) {
    darray x = counting(HA_DTYPE_float, 1, LIST(3), C);
    darray y = kept(darray_new(HA_DTYPE_float, 2, LIST(2, 3), M1));
    SUCCEEDS(darray_copy(y, darray_broadcast(x, 2, LIST(2, 3)), C));
    NUMBERS(y, 0, 1, 2, 0, 1, 2);
    drop_array(x.array);
    drop_array(y.array);
}

TEST(without_elements) {
    darray x = kept(darray_new(HA_DTYPE_double, 2, LIST(0, 4), C));
    darray y = kept(darray_new(HA_DTYPE_int8_t, 2, LIST(0, 4), C));
    SUCCEEDS(darray_copy(y, x, C));
    SUCCEEDS(darray_fill(x, ha_dvalue_of_double(1), C));
    assert_true(equal(x, y));
    assert_false(equal(x, darray_transpose(y)));
    darray z = kept(darray_contiguous(x, HA_COLUMN_MAJOR, C));
    assert_int_equal(z.extent[1], 4);
    drop_array(x.array);
    drop_array(y.array);
    drop_array(z.array);
}

TEST(converting_a_view) { /* to_newtype: new, contiguous, the same extents */
    darray x = darray_with_origin(counting(HA_DTYPE_float, 2, LIST(3, 4), C), LIST(-1, 5));
    darray view = darray_transpose(x);
    darray y = kept(darray_convert(view, HA_DTYPE_int16_t, C));
    assert_int_equal(y.type, HA_DTYPE_int16_t);
    assert_true(darray_is_contiguous(y, HA_ROW_MAJOR));
    assert_int_equal(y.origin[0], 5);
    assert_int_equal(y.origin[1], -1);
    assert_true(equal(view, y));
    darray z = kept(darray_contiguous(view, HA_COLUMN_MAJOR, M1));
    assert_true(darray_is_contiguous(z, HA_COLUMN_MAJOR));
    assert_int_equal(z.type, HA_DTYPE_float);
    assert_true(equal(view, z));
    drop_array(x.array);
    drop_array(y.array);
    drop_array(z.array);
}

/* ---- filling, single elements, comparing ---------------------------------------------------- */

/* What a view says of its elements is said of its copies, too: nothing, here. */
TEST(copies_of_what_is_no_number) {
    const double values[] = {1, 2, 3, 4};
    darray x = darray_of(HA_DTYPE_double, 2, (const int64_t[]){2, 2}, values, C), bytes = x;
    keep_array(x.array);
    bytes.type = HA_DTYPE_NONE;
    darray copy = darray_contiguous(bytes, HA_COLUMN_MAJOR, C);
    keep_array(copy.array);
    assert_int_equal(copy.type, HA_DTYPE_NONE);
    copy.type = HA_DTYPE_double;
    int equal = 0;
    SUCCEEDS(darray_equal(copy, x, &equal));
    assert_true(equal);
    REFUSED_NULL(HA_ERR_ARGUMENT, darray_convert(bytes, HA_DTYPE_float, C).array);
    drop_array(copy.array);
    drop_array(x.array);
}

TEST(fills) {
    darray x = counting(HA_DTYPE_int16_t, 2, LIST(3, 4), C);
    SUCCEEDS(darray_fill(darray_part(x, LIST(1, 1), LIST(3, 3)), ha_dvalue_of_double(2.5), C));
    NUMBERS(x, 0, 1, 2, 3, 4, 2, 2, 7, 8, 2, 2, 11);
    SUCCEEDS(darray_fill(darray_fix(x, 0, 0), ha_dvalue_of_double(-1), C));
    NUMBERS(x, -1, -1, -1, -1, 4, 2, 2, 7, 8, 2, 2, 11);
    SUCCEEDS(darray_fill(darray_flip(darray_transpose(x), 0), ha_dvalue_of_double(9), M1));
    assert_true(shares_memory(M1) || valid_at(x, M1));
    NUMBERS(x, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9);
    is_told(darray_fill(x, ha_dvalue_of_double(1e9), C), "darray_fill", "1e+09", "does not fit");
    is_told(darray_fill(darray_broadcast(x, 3, LIST(2, 3, 4)), ha_dvalue_of_double(1), C),
            "darray_fill", "repeats", "(strides 0, 4, 1)");
    is_told(darray_fill((darray){.rank = 0}, ha_dvalue_of_double(1), C), "darray_fill", "no array",
            "");
    NUMBERS(darray_fix(x, 0, 0), 9, 9, 9, 9);
    drop_array(x.array);
}

TEST(
    setting_elements_of_views) { /* elements of device arrays from the host; 60, 73, 74: converted */
    darray x = kept(darray_filled(HA_DTYPE_float, 2, LIST(2, 3), ha_dvalue_of_int64_t(0), C));
    SUCCEEDS(darray_set(x, x.rank, LIST(1, 1), ha_dvalue_of_int64_t(3)));
    SUCCEEDS(darray_set(darray_transpose(x), 2, LIST(2, 1), ha_dvalue_of_double(3.5)));
    NUMBERS(x, 0, 0, 0, 0, 3, 3.5);
    darray shifted = darray_with_origin(x, LIST(-1, 10));
    SUCCEEDS(darray_set(shifted, shifted.rank, LIST(-1, 12), ha_dvalue_of_double(8)));
    assert_true(number_at(x, LIST(0, 2)) == 8);
    assert_true(shares_memory(C) || ha_array_valid(x.array, C, 0, 6));
    drop_array(x.array);
}

TEST(elements_outside_of_views) { /* elements that are not there, and what else is refused */
    darray x = counting(HA_DTYPE_int8_t, 2, LIST(2, 3), C);
    darray own = kept(
        darray_make_of((ha_type){"pair", 8}, &(ha_shape){.rank = 1, .extent = {4}}, C));
    ha_dvalue v = ha_dvalue_of_double(5);
    ha_array_set_name(x.array, "small");
    is_told(darray_get(x, x.rank, LIST(2, 0), &v), "darray_get", "int8_t (2, 3) of array 'small'",
            "no element (2, 0): indices of dimension 0 are 0 to 1");
    is_told(darray_get(x, x.rank, LIST(0, -1), &v), "darray_get", "(0, -1)",
            "dimension 1 are 0 to 2");
    is_told(darray_set(x, x.rank, LIST(0, 3), v), "darray_set", "(0, 3)", "0 to 2");
    is_told(darray_set(x, x.rank, LIST(0, 0), ha_dvalue_of_double(1e5)), "darray_set", "100000",
            "does not fit");
    is_told(darray_set(darray_broadcast(x, 3, LIST(2, 2, 3)), 3, LIST(0, 0, 0), v), "darray_set",
            "repeats", "");
    is_told(darray_get(x, x.rank, NULL, &v), "darray_get", "NULL", "");
    is_told(darray_get(x, x.rank, LIST(0, 0), NULL), "darray_get", "NULL", "");
    is_told(darray_get(x, 1, LIST(0), &v), "darray_get", "int8_t (2, 3) of array 'small'",
            "an index of 1 numbers, not of 2");
    is_told(darray_set(x, 3, LIST(0, 0, 0), v), "darray_set", "an index of 3 numbers, not of 2",
            "");
    is_told(darray_get(own, own.rank, LIST(0), &v), "darray_get", "pair (4)", "no numbers");
    is_told(darray_set(own, own.rank, LIST(0), v), "darray_set", "pair (4)", "no numbers");
    is_told(darray_get((darray){.rank = 0}, 0, LIST(0), &v), "darray_get", "no array", "");
    assert_true(v.type == HA_DTYPE_double && v.as_double == 5);
    NUMBERS(x, 0, 1, 2, 3, 4, 5);
    drop_array(x.array);
    drop_array(own.array);
}

TEST(equality) {
    const double values[] = {0.0, 1, 9007199254740992.0};
    darray x = kept(darray_of(HA_DTYPE_double, 1, LIST(3), values, C));
    darray y = kept(
        darray_of(HA_DTYPE_int64_t, 1, LIST(3), (const int64_t[]){0, 1, 9007199254740993}, M1));
    darray own = kept(
        darray_make_of((ha_type){"pair", 8}, &(ha_shape){.rank = 1, .extent = {3}}, C));
    int result = 5;
    assert_false(equal(x, y));
    SUCCEEDS(darray_set(y, y.rank, LIST(2), ha_dvalue_of_int64_t(9007199254740992)));
    assert_true(equal(x, y));
    assert_true(equal(y, x));
    SUCCEEDS(darray_set(x, x.rank, LIST(0), ha_dvalue_of_double(-0.0)));
    assert_true(equal(x, y));
    assert_true(equal(x, x));
    assert_false(equal(x, darray_flip(x, 0)));
    SUCCEEDS(darray_set(x, x.rank, LIST(0), ha_dvalue_of_double(__builtin_nan(""))));
    assert_false(equal(x, x));
    is_told(darray_equal(x, own, &result), "darray_equal", "pair (3)", "cannot be compared");
    is_told(darray_equal(x, x, NULL), "darray_equal", "NULL", "");
    REFUSED(HA_ERR_STATE, darray_equal(own, own, &result));
    assert_int_equal(result, 5);
    SUCCEEDS(darray_copy(x, y, C));
    drop_array(x.array);
    drop_array(y.array);
    drop_array(own.array);
}

TEST(typed) {
    array_double_2 x = array_double_2_filled(ha_dim2_of(2, 3), 1, C);
    array_double_2 y = array_double_2_zeros(ha_dim2_of(3, 2), M1);
    double value = 0;
    int same = 1;
    keep_array(x.array);
    keep_array(y.array);
    SUCCEEDS(array_double_2_set(x, ha_dim2_of(1, 2), 7));
    SUCCEEDS(array_double_2_copy(array_double_2_transpose(y), x, C));
    SUCCEEDS(array_double_2_get(y, ha_dim2_of(2, 1), &value));
    assert_true(value == 7);
    SUCCEEDS(array_double_2_equal(x, array_double_2_transpose(y), &same));
    assert_true(same);
    SUCCEEDS(array_double_2_fill(y, 4, C));
    SUCCEEDS(array_double_2_equal(x, array_double_2_transpose(y), &same));
    assert_false(same);
    array_double_2 z = array_double_2_contiguous(array_double_2_transpose(y), HA_ROW_MAJOR, C);
    keep_array(z.array);
    NUMBERS(array_double_2_to_darray(z), 4, 4, 4, 4, 4, 4);
    is_told(array_double_2_get(x, ha_dim2_of(2, 0), &value), "darray_get", "double (2, 3)",
            "(2, 0)");
    drop_array(x.array);
    drop_array(y.array);
    drop_array(z.array);
}

/* ---- plans ---------------------------------------------------------------------------------- */

/* Two blocks side by side, each with a ghost column for the other's. */
TEST(plans) {
    const ha_shape shape = {.rank = 2, .extent = {4, 3}, .ghost_low = {0, 1}, .ghost_high = {0, 1}};
    darray a = kept(darray_make(HA_DTYPE_double, &shape, C));
    darray b = kept(darray_make(HA_DTYPE_double, &shape, M1));
    SUCCEEDS(darray_fill(a, ha_dvalue_of_double(1), C));
    SUCCEEDS(darray_fill(b, ha_dvalue_of_double(2), M1));
    const ha_copy_pair pairs[] = {
        {darray_fix(b, 1, -1), darray_fix(a, 1, 2), M1},
        {darray_fix(a, 1, 3), darray_fix(b, 1, 0), C},
        {darray_fix(a, 1, -1), darray_fix(a, 1, 0), C},
    };
    ha_copy_plan *plan = ha_copy_plan_new(pairs, 3);
    assert_non_null(plan);
    for (int i = 3; i < 6; i++) {
        SUCCEEDS(darray_fill(darray_fix(a, 1, 2), ha_dvalue_of_int64_t(10 * i), C));
        SUCCEEDS(darray_fill(darray_fix(b, 1, 0), ha_dvalue_of_int64_t(-i), M1));
        SUCCEEDS(darray_fill(darray_fix(a, 1, 0), ha_dvalue_of_int64_t(i), C));
        SUCCEEDS(ha_copy_plan_run(plan));
        NUMBERS(darray_fix(a, 0, 3), i, i, 1, 10 * i, -i);
        NUMBERS(darray_fix(b, 0, 0), 10 * i, -i, 2, 2, 2);
    }
    ha_copy_plan_free(plan);
    drop_array(a.array);
    drop_array(b.array);
}

/* A plan is one more owner; all are opened or none. */
TEST(plans_open_all_or_nothing) {
    darray a = counting(HA_DTYPE_float, 1, LIST(4), C), b = counting(HA_DTYPE_float, 1, LIST(4), C);
    darray fresh = kept(darray_new(HA_DTYPE_float, 1, LIST(4), C));
    const ha_copy_pair pairs[] = {{darray_slice(a, 0, 0, 2, 1), darray_slice(a, 0, 2, 4, 1), C},
                                  {b, fresh, C}};
    ha_copy_plan *plan = ha_copy_plan_new(pairs, 2), *empty = ha_copy_plan_new(NULL, 0);
    REFUSED(HA_ERR_STATE, ha_copy_plan_run(plan));
    NUMBERS(a, 0, 1, 2, 3);
    NUMBERS(b, 0, 1, 2, 3);
    SUCCEEDS(darray_fill(fresh, ha_dvalue_of_double(8), C));
    SUCCEEDS(ha_copy_plan_run(plan));
    NUMBERS(a, 2, 3, 2, 3);
    NUMBERS(b, 8, 8, 8, 8);
    SUCCEEDS(ha_copy_plan_run(empty));
    REFUSED(HA_ERR_ARGUMENT, ha_copy_plan_run(NULL));
    ha_copy_plan_free(empty);
    ha_copy_plan_free(NULL);
    darray_share(fresh);
    drop_array(fresh.array);
    ha_copy_plan_free(plan);
    NUMBERS(fresh, 8, 8, 8, 8);
    HA_CHECK(ha_array_free(fresh.array));
    drop_array(a.array);
    drop_array(b.array);
}

TEST(plans_that_are_refused) {
    darray x = counting(HA_DTYPE_double, 1, LIST(6), C),
           y = counting(HA_DTYPE_double, 1, LIST(6), C);
    darray i = counting(HA_DTYPE_int8_t, 1, LIST(6), C);
    const ha_copy_pair shapes[] = {{x, darray_slice(y, 0, 0, 3, 1), C}};
    const ha_copy_pair types[] = {{i, x, C}};
    const ha_copy_pair targets[] = {
        {darray_slice(x, 0, 0, 3, 1), darray_slice(y, 0, 0, 3, 1), C},
        {darray_slice(x, 0, 2, 5, 1), darray_slice(y, 0, 0, 3, 1), C},
    };
    const ha_copy_pair itself[] = {{darray_slice(x, 0, 0, 3, 1), darray_slice(x, 0, 2, 5, 1), C}};
    const char *const name = "ha_copy_plan";
    assert_null(ha_copy_plan_new(shapes, 1));
    is_told(HA_ERR_ARGUMENT, name, "pair 0", "extents are not the same");
    assert_null(ha_copy_plan_new(types, 1));
    is_told(HA_ERR_ARGUMENT, name, "pair 0", "for darray_copy");
    assert_null(ha_copy_plan_new(targets, 2));
    is_told(HA_ERR_ARGUMENT, name, "target of pair 0", "target of pair 1");
    assert_null(ha_copy_plan_new(itself, 1));
    is_told(HA_ERR_ARGUMENT, name, "target of pair 0", "source of pair 0");
    assert_null(ha_copy_plan_new(NULL, 1));
    is_told(HA_ERR_ARGUMENT, name, "no pairs", "");
    drop_array(x.array);
    drop_array(y.array);
    drop_array(i.array);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(copies_between_contexts),
        CASE(orders_and_directions),
        CASE(a_device_copies_what_it_has),
        CASE(types_are_converted),
        CASE(conversions_that_fail),
        CASE(views_of_one_storage),
        CASE(copies_that_are_refused),
        CASE(broadcast_sources),
        CASE(without_elements),
        CASE(converting_a_view),
        CASE(copies_of_what_is_no_number),
        CASE(fills),
        CASE(setting_elements_of_views),
        CASE(elements_outside_of_views),
        CASE(equality),
        CASE(typed),
        CASE(plans),
        CASE(plans_open_all_or_nothing),
        CASE(plans_that_are_refused),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
