/* Arrays whose type and rank are known at run time: row-major, filled, converted with one
 * rounding. Printing is in test_darray_print.c. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"

#define EXTENT(...)                                                                                \
    (const int64_t[]) { __VA_ARGS__ }

static darray kept(darray x) {
    keep_array(x.array);
    return x;
}

/* 2 x 3 of these floats, first at C. */
static darray two_by_three(void) {
    const float values[] = {0, 1, 2, 3, 4, 5};
    return kept(darray_of(HA_DTYPE_float, 2, EXTENT(2, 3), values, C));
}

#define PRINTS(x, expected)                                                                        \
    do {                                                                                           \
        char text_[400];                                                                           \
        darray_print(x, text_, sizeof text_);                                                      \
        assert_string_equal(text_, expected);                                                      \
    } while (0)

/* ---- the array ------------------------------------------------------------------------------ */

TEST(filled_with_a_number) { /* made with a value: every element has it, converted */
    darray x = kept(darray_filled(HA_DTYPE_half, 2, EXTENT(2, 3), ha_dvalue_of_double(2.5), C));
    PRINTS(x, "[[2.5 2.5 2.5]\n"
              " [2.5 2.5 2.5]]\n");
    REFUSED_NULL(HA_ERR_ARGUMENT,
                 darray_filled(HA_DTYPE_int8_t, 1, EXTENT(2), ha_dvalue_of_double(300), C).array);
    drop_array(x.array);
}

TEST(no_array_at_all) { /* what is zeroed is no array, and is refused everywhere */
    darray none;
    char text[10];
    memset(&none, 0, sizeof none);
    assert_int_equal(darray_size(none), 0);
    SUCCEEDS(darray_free(&none));
    HA_READING(v, none, C) fail();
    else assert_int_equal(v.status, HA_ERR_ARGUMENT);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    REFUSED_NULL(HA_ERR_ARGUMENT, darray_transpose(none).array);
    assert_int_equal(darray_print(none, text, sizeof text), 0);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
}

TEST(types_of_arrays_and_views) { /* the type is there to be compared */
    darray x = two_by_three();
    darray y = kept(darray_zeros(HA_DTYPE_double, 2, EXTENT(2, 3), C));
    assert_int_equal(x.type, HA_DTYPE_float);
    assert_int_equal(darray_fix(x, 0, 1).type, x.type);
    assert_int_not_equal(x.type, y.type);
    drop_array(x.array);
    drop_array(y.array);
}

TEST(description_of_an_array) { /* extents, strides, size, storage, place */
    darray x = two_by_three();
    assert_int_equal(x.rank, 2);
    assert_true(ha_extents_equal(2, x.extent, 2, EXTENT(2, 3)));
    assert_true(ha_extents_equal(2, x.stride, 2, EXTENT(3, 1)));
    assert_int_equal(darray_size(x), 6);
    assert_int_equal(ha_array_size(x.array), 6);
    assert_true(ha_array_first_touch(x.array) == C);
    assert_true(darray_is_contiguous(x, HA_ROW_MAJOR));
    assert_false(darray_is_contiguous(x, HA_COLUMN_MAJOR));
    darray columns = kept(darray_new_in(HA_COLUMN_MAJOR, HA_DTYPE_float, 2, EXTENT(2, 3), C));
    assert_true(ha_extents_equal(2, columns.stride, 2, EXTENT(1, 2)));
    assert_true(darray_is_contiguous(columns, HA_COLUMN_MAJOR));
    drop_array(columns.array);
    drop_array(x.array);
}

TEST(conversion_of_values) { /* a value as another type, which is known at run time */
    ha_dvalue v;
    SUCCEEDS(ha_dvalue_convert(ha_dvalue_of_float(3.7f), HA_DTYPE_double, &v));
    assert_true(v.type == HA_DTYPE_double && v.as_double == (double)3.7f);
    SUCCEEDS(ha_dvalue_convert(ha_dvalue_of_half(ha_half_of_float(1.5f)), HA_DTYPE_float, &v));
    assert_true(v.as_float == 1.5f);
}

TEST(names_and_sizes_of_types) { /* names and sizes of types */
    static const struct {
        ha_dtype type;
        const char *name;
        size_t size;
    } cases[] = {
        {HA_DTYPE_half, "half", 2}, {HA_DTYPE_float, "float", 4}, {HA_DTYPE_double, "double", 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(ha_dtype_name(cases[i].type), cases[i].name);
        assert_int_equal(ha_dtype_size(cases[i].type), cases[i].size);
    }
}

/* ---- elements ------------------------------------------------------------------------------- */

static ha_dvalue element(darray x, int64_t i, int64_t j) {
    ha_dvalue v;
    SUCCEEDS(darray_get(x, x.rank, EXTENT(i, j), &v));
    return v;
}

static const char *printed(ha_dvalue v) {
    static char text[40];
    ha_dvalue_print(v, text, sizeof text);
    return text;
}

TEST(setting_and_getting_an_element) {
    darray x = two_by_three();
    SUCCEEDS(darray_set(x, x.rank, EXTENT(1, 1), ha_dvalue_of_float(120)));
    assert_true(element(x, 1, 1).type == HA_DTYPE_float && element(x, 1, 1).as_float == 120);
    drop_array(x.array);
}

TEST(setting_converts) { /* a double becomes what the array has */
    darray x = two_by_three();
    SUCCEEDS(darray_set(x, x.rank, EXTENT(1, 2), ha_dvalue_of_double(3)));
    assert_true(element(x, 1, 2).as_float == 3);
    drop_array(x.array);
}

TEST(printing_an_element) { /* elements print as they are */
    darray x = two_by_three();
    SUCCEEDS(darray_set(x, x.rank, EXTENT(1, 2), ha_dvalue_of_double(3)));
    SUCCEEDS(darray_set(x, x.rank, EXTENT(1, 1), ha_dvalue_of_float(120)));
    assert_string_equal(printed(element(x, 1, 2)), "3");
    assert_string_equal(printed(element(x, 1, 1)), "120");
    drop_array(x.array);
}

TEST(setting_where_it_is_valid) { /* the same where the only valid values are elsewhere */
    darray x = two_by_three();
    HA_WRITING(v, x, M1) {}
    SUCCEEDS(darray_set(x, x.rank, EXTENT(0, 1), ha_dvalue_of_float(56)));
    assert_true(ha_dvalue_equal(element(x, 0, 1), ha_dvalue_of_float(56)));
    assert_true(ha_array_valid(x.array, M1, 1, 2));
    drop_array(x.array);
}

TEST(element_that_is_not_there) { /* what is no element is told with type, extents and index */
    darray x = two_by_three();
    ha_dvalue v;
    assert_int_equal(darray_get(x, x.rank, EXTENT(1, 3), &v), HA_ERR_ARGUMENT);
    const ha_error e = ha_take_error();
    assert_non_null(strstr(e.text, "float"));
    assert_non_null(strstr(e.text, "2, 3"));
    assert_non_null(strstr(e.text, "1, 3"));
    drop_array(x.array);
}

/* ---- storage -------------------------------------------------------------------------------- */

TEST(rank_and_extents) {
    darray x = kept(darray_zeros(HA_DTYPE_float, 3, EXTENT(2, 3, 4), C));
    assert_int_equal(x.rank, 3);
    assert_true(ha_extents_equal(3, x.extent, 3, EXTENT(2, 3, 4)));
    drop_array(x.array);
}

TEST(reading_what_was_never_written) { /* no values yet: reading says so, with the array */
    darray x = kept(darray_new(HA_DTYPE_double, 2, EXTENT(2, 3), C));
    ha_array_set_name(x.array, "u");
    HA_READING(v, x, C) fail();
    else assert_int_equal(v.status, HA_ERR_STATE);
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, HA_ERR_STATE);
    assert_non_null(strstr(e.text, "'u'"));
    drop_array(x.array);
}

static void *place_of(darray x) {
    HA_OVERWRITING_ALL(v, x, C) return v.data;
    return NULL;
}

TEST(views_have_the_same_place) { /* opened again, the block is the same */
    darray x = kept(darray_new(HA_DTYPE_double, 3, EXTENT(1, 2, 3), C));
    void *place = place_of(x);
    assert_non_null(place);
    assert_ptr_equal(place_of(darray_reshape(x, 3, EXTENT(2, 3, 1))), place);
    assert_ptr_equal(place_of(darray_slice(x, 1, 0, 1, 1)), place);
    drop_array(x.array);
}

TEST(shared_array_lives_on) { /* who shares the storage sees the same values, and keeps them */
    darray x = two_by_three(), y = darray_share(x);
    HA_WRITING(v, x, ha_host()) * (float *)v.data = 9;
    else fail();
    SUCCEEDS(darray_free(&x));
    assert_null(x.array);
    PRINTS(y, "[[9 1 2]\n"
              " [3 4 5]]\n");
    drop_array(y.array);
}

TEST(slice_of_rows) { /* a slice of rows begins at its first one */
    darray x = kept(darray_zeros(HA_DTYPE_double, 2, EXTENT(6, 9), C));
    darray rows = darray_slice(x, 0, 2, 6, 1);
    assert_true(ha_extents_equal(2, rows.extent, 2, EXTENT(4, 9)));
    char *all = NULL, *part = NULL;
    HA_WRITING(v, x, C) all = (char *)v.data;
    HA_WRITING(v, rows, C) part = (char *)v.data;
    assert_int_equal(part - all, 9 * 2 * sizeof(double));
    drop_array(x.array);
}

TEST(reshaped_to_a_matrix) { /* as a matrix: the first two dimensions are its rows */
    darray x = kept(darray_zeros(HA_DTYPE_float, 4, EXTENT(2, 3, 4, 9), C));
    darray rows = darray_reshape(x, 2, EXTENT(6, 36));
    assert_ptr_equal(rows.array, x.array);
    assert_true(ha_extents_equal(2, rows.extent, 2, EXTENT(6, 36)));
    assert_true(ha_extents_equal(2, rows.stride, 2, EXTENT(36, 1)));
    drop_array(x.array);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(setting_and_getting_an_element),
        CASE(setting_converts),
        CASE(printing_an_element),
        CASE(setting_where_it_is_valid),
        CASE(element_that_is_not_there),
        CASE(filled_with_a_number),
        CASE(no_array_at_all),
        CASE(types_of_arrays_and_views),
        CASE(description_of_an_array),
        CASE(conversion_of_values),
        CASE(names_and_sizes_of_types),
        CASE(rank_and_extents),
        CASE(reading_what_was_never_written),
        CASE(views_have_the_same_place),
        CASE(shared_array_lives_on),
        CASE(slice_of_rows),
        CASE(reshaped_to_a_matrix),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
