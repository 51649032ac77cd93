/* Kernels that go wrong, on every context: what is told, and that nothing has changed. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_kernels.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"

#include <stdbool.h>

/* Known here, and not to devices: nobody has said that the kernel uses it. */
HA_FN double twice(double x) { return x + x; }
HA_KERNEL(forgetful, ((in, double, x), (inout, double, y)), i, { y[i] += twice(x[i]); });

typedef struct point {
    double x;
} point;
HARRAY(point);
HA_KERNEL(unknown_struct, ((in, point, p), (out, double, y)), i, { y[i] = p[i].x; });

HA_ARRAY(int64_t, 1);
HA_ARRAY(int64_t, 2);
HA_ARRAY(int64_t, 3);
HA_BUNDLE(many, (in, array_int64_t_3, a), (in, array_int64_t_3, b), (in, array_int64_t_3, c),
          (in, array_int64_t_3, d), (in, array_int64_t_3, e), (in, array_int64_t_3, f),
          (in, array_int64_t_3, g), (in, array_int64_t_3, h), (in, array_int64_t_3, i),
          (in, array_int64_t_3, j), (in, array_int64_t_3, k));
HA_KERNEL(sum_of_many, ((bundle, many, m), (out, array_int64_t_3, w)), (z, y, x),
          { HA_AT(w, z, y, x) = HA_AT(m.a, z, y, x) + HA_AT(m.k, z, y, x); });

HA_KERNEL(add_one, ((in, array_double_2, u), (inout, array_double_2, w)), (j, i),
          { HA_AT(w, j, i) = HA_AT(u, j, i) + 1; });

HA_KERNEL(split, ((in, double, x), (out, double, y), (out, double, z)), i, {
    y[i] = x[i];
    z[i] = -x[i];
});

HARRAY(bool);
HA_KERNEL(negate, ((value, bool, really), (value, size_t, from), (in, bool, x), (out, bool, y)), i,
          { y[i] = (size_t)i >= from ? x[i] != really : x[i]; });

KNOWN_KERNEL(add_one)
KNOWN_KERNEL(negate)
KNOWN_KERNEL(split)

static int begin_kernels(void **state) {
    know_kernel(&add_one_known);
    know_kernel(&negate_known);
    know_kernel(&split_known);
    return begin_case(state);
}
#define KERNELS(name) cmocka_unit_test_setup_teardown(name, begin_kernels, end_case)

static int compiles(const ha_kernel *k) {
    char text[300];
    (void)ha_kernel_place(k, C, text, sizeof text);
    return strstr(text, "compiled for it") != NULL;
}

static void refused(ha_status status, ha_status got, const char *part, const char *other) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, status);
    assert_int_equal(e.status, status);
    if (!strstr(e.text, part) || !strstr(e.text, other) ||
        !strstr(e.text, "cases_kernel_errors.c:"))
        fail_msg("'%s' lacks '%s' or '%s'", e.text, part, other);
}

TEST(what_devices_do_not_know) {
    harray_double x = keep(harray_double_filled(10, 3)), y = keep(harray_double_filled(10, 1));
    harray_point p = harray_point_zeros(10);
    keep_array(p.array);
    const int there = compiles(&forgetful_kernel);
    const uint64_t version = ha_array_version(y.array);
    for (int n = 0; n < 2; n++) {
        const ha_status s = forgetful(C, HA_ALL_LANES, x, y);
        if (there) {
            refused(HA_ERR_COMPILE, s, "refuses forgetful: ", "twice");
            assert_int_equal(ha_array_version(y.array), version);
        } else {
            SUCCEEDS(s);
        }
    }
    if (there)
        refused(HA_ERR_COMPILE, unknown_struct(C, HA_ALL_LANES, p, y),
                "refuses unknown_struct: ", "point");
    HA_READING(v, y, H) for (int i = 0; i < 10; i++) assert_true(v.data[i] == (there ? 1 : 13));
    drop(x), drop(y), drop_array(p.array);
}

TEST(more_arguments_than_devices_take) {
    array_int64_t_3 a = array_int64_t_3_zeros(HA_DIM(2, 2, 2), C);
    array_int64_t_3 w = array_int64_t_3_zeros(HA_DIM(2, 2, 2), C);
    const many m = {a, a, a, a, a, a, a, a, a, a, a};
    keep_array(a.array), keep_array(w.array);
    if (compiles(&sum_of_many_kernel))
        refused(HA_ERR_ARGUMENT, sum_of_many(C, HA_DIM(2, 2, 2), m, w), "too many arguments",
                "1200 bytes, and at most 1000");
    else
        SUCCEEDS(sum_of_many(C, HA_DIM(2, 2, 2), m, w));
    drop_array(a.array), drop_array(w.array);
}

TEST(views_that_are_refused) {
    array_double_2 u = array_double_2_zeros(HA_DIM(3, 4), C);
    array_double_2 w = array_double_2_filled(HA_DIM(3, 4), 2, C);
    keep_array(u.array), keep_array(w.array);
    const array_double_2 rows = array_double_2_broadcast(
        array_double_1_to_darray(array_double_2_fix(u, 0, 1)), HA_DIM(3, 4));
    SUCCEEDS(add_one(C, HA_DIM(3, 4), rows, w));
    HA_READING(v, w, H) assert_true(HA_AT(v.span, 2, 3) == 1);
    refused(HA_ERR_ARGUMENT, add_one(C, HA_DIM(3, 4), u, rows), ": w: ", "repeat");
    const array_double_2 none = array_double_2_slice(w, 5, 0, 1, 1);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    refused(HA_ERR_ARGUMENT, add_one(C, HA_DIM(3, 4), none, w), ": u: no array", "");
    drop_array(u.array), drop_array(w.array);
}

/* By another handle. */
TEST(arrays_that_were_freed) {
    array_double_2 u = array_double_2_zeros(HA_DIM(3, 4), C);
    array_double_2 w = array_double_2_zeros(HA_DIM(3, 4), C);
    harray_double x = keep(harray_double_filled(10, 3)), y = keep(harray_double_filled(10, 1));
    const array_double_2 gone = u;
    const harray_double gone_too = x;
    keep_array(w.array);
    array_double_2_set_name(u, "pressure");
    SUCCEEDS(array_double_2_free(&u));
    drop(x);
    refused(HA_ERR_STATE, add_one(C, HA_DIM(3, 4), gone, w), ": u: ", "'pressure'");
    refused(HA_ERR_STATE, split(C, HA_ALL_LANES, gone_too, y, y), ": x: ", "was freed");
    drop_array(w.array), drop(y);
}

/* Conflicts, what was never written, and what may not be moved: the argument and its array. */
TEST(told_with_argument_and_array) {
    array_double_2 u = array_double_2_new(HA_DIM(3, 4), C);
    array_double_2 w = array_double_2_filled(HA_DIM(3, 4), 2, M1);
    keep_array(u.array), keep_array(w.array);
    array_double_2_set_name(u, "pressure");
    array_double_2_set_name(w, "velocity");
    refused(HA_ERR_STATE, add_one(C, HA_DIM(3, 4), u, w), ": u: ", "pressure");
    SUCCEEDS(array_double_2_fill(u, 1, C));
    HA_WRITING(v, w, M2)
    refused(HA_ERR_CONFLICT, add_one(C, HA_DIM(3, 4), u, w), ": w: ", "velocity");
    HA_NO_TRANSFERS {
        if (!same_memory(C, M2))
            refused(HA_ERR_TRANSFER, add_one(C, HA_DIM(3, 4), u, w), ": w: ", "velocity");
    }
    drop_array(u.array), drop_array(w.array);
}

/* The same array for two that are written is refused; for one that is read beside one, not. */
TEST(one_array_for_two_arguments) {
    harray_double x = keep(harray_double_filled(10, 3)), y = keep(harray_double_filled(10, 1));
    const uint64_t version = ha_array_version(y.array);
    refused(HA_ERR_CONFLICT, split(C, HA_ALL_LANES, x, y, y), ": z: ", "double[10]");
    assert_int_equal(ha_array_version(y.array), version);
    SUCCEEDS(split(C, HA_ALL_LANES, x, y, x));
    HA_READING(v, y, H) for (int i = 0; i < 10; i++) assert_true(v.data[i] == 3);
    HA_READING(v, x, H) for (int i = 0; i < 10; i++) assert_true(v.data[i] == -3);
    drop(x), drop(y);
}

/* What is written has a new version, once; and nothing stays open. */
TEST(versions_of_what_is_written) {
    array_double_2 u = array_double_2_zeros(HA_DIM(3, 4), C);
    array_double_2 w = array_double_2_filled(HA_DIM(3, 4), 2, C);
    keep_array(u.array), keep_array(w.array);
    for (int n = 0; n < 3; n++) {
        const uint64_t read = ha_array_version(u.array), written = ha_array_version(w.array);
        SUCCEEDS(add_one(C, HA_DIM(3, 4), u, w));
        assert_int_equal(ha_array_version(u.array), read);
        assert_int_equal(ha_array_version(w.array), written + 1);
        SUCCEEDS(add_one(C, HA_DIM(3, 4), w, w)); /* the same elements, each by one lane */
        assert_int_equal(ha_array_version(w.array), written + 2);
        HA_WRITING(v, w, C) {
            refused(HA_ERR_CONFLICT, add_one(C, HA_DIM(3, 4), u, w), ": w: ", "array");
            refused(HA_ERR_CONFLICT, add_one(C, HA_DIM(3, 4), w, u), ": u: ", "array");
        }
        assert_int_equal(ha_array_version(u.array), read);
        SUCCEEDS(array_double_2_fill(u, 0, M1));
        SUCCEEDS(array_double_2_fill(w, 0, C));
    }
    drop_array(u.array), drop_array(w.array);
}

TEST(types_that_languages_call_otherwise) {
    harray_bool x = harray_bool_new(10), y = harray_bool_new(10);
    keep_array(x.array), keep_array(y.array);
    HA_WRITING(v, x, H) for (int i = 0; i < 10; i++) v.data[i] = i % 3 == 0;
    SUCCEEDS(negate(C, HA_ALL_LANES, 5, 4, x, y)); /* converted, as C does */
    HA_READING(v, y, H) for (int i = 0; i < 10; i++) {
        assert_int_equal(v.data[i], (i % 3 == 0) != (i >= 4));
    }
    drop_array(x.array), drop_array(y.array);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        KERNELS(what_devices_do_not_know),     KERNELS(more_arguments_than_devices_take),
        KERNELS(views_that_are_refused),       KERNELS(arrays_that_were_freed),
        KERNELS(told_with_argument_and_array), KERNELS(one_array_for_two_arguments),
        KERNELS(versions_of_what_is_written),  KERNELS(types_that_languages_call_otherwise),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
