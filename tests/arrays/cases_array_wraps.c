/* Arrays of n dimensions in the caller's own memory, with its strides; and accesses as C's own arrays. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"
#include "numbers_of_arrays.h"

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
