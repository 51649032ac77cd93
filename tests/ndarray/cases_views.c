/* Contents of views: copies between any two, filling, comparing, single elements. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"
#include "numbers_of_views.h"

static int equal(darray a, darray b) {
    int result = -1;
    SUCCEEDS(darray_equal(a, b, &result));
    return result;
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
    is_told(darray_fill(x, ha_dvalue_of_double(1e9), C), "darray_fill", "int16_t (3, 4) of array",
            "1e+09 (double) as int16_t: does not fit");
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
    is_told(darray_set(x, x.rank, LIST(0, 0), ha_dvalue_of_double(1e5)), "darray_set", "'small'",
            "100000 (double) as int8_t: does not fit");
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
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
