/* Kernels on every context: one body, the same results everywhere. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_kernels.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"

#include <math.h>

HA_ARRAY(int64_t, 1);
HA_ARRAY(int64_t, 2);
HA_ARRAY(int64_t, 3);

HA_KERNEL(axpy, ((value, double, a), (in, double, x), (inout, double, y)), i,
          { y[i] += a * x[i]; });

HA_KERNEL(relax, ((value, float, k), (in, array_float_2, u), (out, array_float_2, w)), (j, i), {
    HA_AT(w, j, i) = HA_AT(u, j, i) +
                     k * (HA_AT(u, j - 1, i) + HA_AT(u, j + 1, i) + HA_AT(u, j, i - 1) +
                          HA_AT(u, j, i + 1) - 4 * HA_AT(u, j, i));
});

HA_KERNEL(number, ((out, array_int64_t_3, w)), (k, j, i),
          { HA_AT(w, k, j, i) = 10000 * k + 100 * j + i; });

HA_KERNEL(fill_some, ((value, int, every), (out, int, x)), i, {
    if (i % every == 0) x[i] = (int)i;
});

HA_KERNEL(raise_by, ((value, int64_t, by), (inout, array_int64_t_1, x)), i, { HA_AT(x, i) += by; });
HA_KERNEL(sums_of_two, ((in, array_int64_t_2, x), (out, array_int64_t_1, y)), i,
          { HA_AT(y, i) = HA_AT(x, i, 0) + HA_AT(x, i, 1); });

HA_KERNEL(square, ((inout, double, x)), i, { x[i] *= x[i]; });
HA_KERNEL(exchange, ((inout, double, x), (inout, double, y)), i, {
    const double other = x[i];
    x[i] = y[i];
    y[i] = other;
});

/* Commas, comments, strings and nested brackets go through the macro. */
HA_KERNEL(awkward, ((in, int, x), (out, int, y)), i, {
    int table[] = {1, 2, 3}, sum = 0; /* a comment, with ) and } and HA_AT( */
    for (int k = 0; k < 3; k++) sum += table[k] * (k == 1 ? '(' : ',');
    switch (x[i] % 3) {
    case 0:
        sum++;
        break;
    case 1:
        sum += 7;
        break;
    default:
        break;
    }
    y[i] = sum;
    if (i % 2) return;
    y[i] = -sum;
});

#define THIRD (1.0 / 3)
HA_DEVICE_CONST(third, THIRD);
HA_DEVICE_TABLE(weights, double, weight, {0.25, 0.5, 0.25});
HA_DEVICE_CODE(
    pairs, typedef struct pair { double a, b; } pair;
    HA_FN double length(pair p) { return sqrt(p.a * p.a + p.b * p.b); });
HA_KERNEL(smooth,
          ((uses, third), (uses, weights), (uses, pairs), (in, double, x), (out, double, y)), i, {
              pair p = {0, THIRD};
              for (int k = 0; k < 3; k++) p.a += weight[k] * x[(i + k) % HA_SIZE(x)];
              y[i] = length(p);
          });

HA_KERNEL(to_half, ((in, float, x), (out, half, y)), i, { y[i] = ha_half_of_float(x[i]); });
HA_KERNEL(squares, ((in, c64, x), (out, c64, y)), i, { y[i] = ha_c64_mul(x[i], x[i]); });

/* sqrt and sin of a float are computed in double, as C does; sinf in float. */
HA_KERNEL(roots, ((in, float, x), (out, double, y), (out, float, z)), i, {
    y[i] = sqrt(x[i]) / (1 + fabs(x[i] - 3));
    z[i] = sqrtf(x[i]) * fmaxf(x[i], 2);
});

KNOWN_KERNEL(axpy)
KNOWN_KERNEL(relax)
KNOWN_KERNEL(number)
KNOWN_KERNEL(fill_some)
KNOWN_KERNEL(square)
KNOWN_KERNEL(exchange)
KNOWN_KERNEL(awkward)
KNOWN_KERNEL(smooth)
KNOWN_KERNEL(to_half)
KNOWN_KERNEL(squares)
KNOWN_KERNEL(roots)
KNOWN_KERNEL(raise_by)
KNOWN_KERNEL(sums_of_two)
static const known_kernel *const known[] = {
    &axpy_known,     &relax_known,    &number_known,     &fill_some_known, &square_known,
    &exchange_known, &awkward_known,  &smooth_known,     &to_half_known,   &squares_known,
    &roots_known,    &raise_by_known, &sums_of_two_known};

static int begin_kernels(void **state) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) know_kernel(known[i]);
    return begin_case(state);
}
#define KERNELS(name) cmocka_unit_test_setup_teardown(name, begin_kernels, end_case)

/* ---- one dimension ------------------------------------------------------------------------------ */

static void expect_doubles(harray_double y, double (*expected)(size_t)) {
    HA_READING(v, y, H) {
        for (size_t i = 0; i < v.size; i++)
            if (v.data[i] != expected(i))
                fail_msg("element %zu is %.17g, not %.17g", i, v.data[i], expected(i));
    }
    else fail();
}

static double summed(size_t i) { return 0.1 * (double)i + 0.3 * (1 / (1 + (double)i)); }

TEST(of_any_number_of_lanes) {
    static const size_t sizes[] = {0, 1, 2, 63, 64, 65, 255, 256, 257, 1000, 4097};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        harray_double x = keep(harray_double_new(sizes[k])), y = keep(harray_double_new(sizes[k]));
        HA_WRITING(v, x, H) for (size_t i = 0; i < v.size; i++) v.data[i] = 1 / (1 + (double)i);
        HA_WRITING(v, y, H) for (size_t i = 0; i < v.size; i++) v.data[i] = 0.1 * (double)i;
        SUCCEEDS(axpy(C, HA_ALL_LANES, 0.3, x, y));
        expect_doubles(y, summed);
        drop(x);
        drop(y);
    }
}

/* What no lane writes keeps its value; what all lanes write is not moved. */
TEST(elements_that_no_lane_writes) {
    harray_int x = harray_int_filled(100, -1);
    keep_array(x.array);
    HA_READING(v, x, H) {}
    SUCCEEDS(fill_some(C, 50, 5, x));
    HA_READING(v, x, H) {
        for (int i = 0; i < 100; i++) assert_int_equal(v.data[i], i < 50 && i % 5 == 0 ? i : -1);
    }
    else fail();
    const uint64_t moved = ha_array_statistics(x.array).bytes;
    SUCCEEDS(fill_some(C, HA_ALL_LANES, 1, x));
    assert_int_equal(ha_array_statistics(x.array).bytes, moved);
    HA_READING(v, x, H) {
        for (int i = 0; i < 100; i++) assert_int_equal(v.data[i], i);
    }
    else fail();
    drop_array(x.array);
}

/* The last lane may be the last but one of its team: what is behind it belongs to nobody. Teams have up to 1,024
 * lanes; a smaller one is not whole either where the count is one less than a multiple of 1,024. */
TEST(one_lane_less_than_whole_teams) {
    static const int64_t lanes[] = {1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 2047};
    for (size_t k = 0; k < sizeof lanes / sizeof *lanes; k++) {
        const int64_t n = lanes[k];
        harray_int x = harray_int_filled((size_t)n + 1, -1);
        keep_array(x.array);
        SUCCEEDS(fill_some(C, n, 1, x));
        HA_READING(v, x, H) {
            for (int64_t i = 0; i < n; i++) assert_int_equal(v.data[i], i);
            assert_int_equal(v.data[n], -1);
        }
        else fail();
        drop_array(x.array);
    }
}

static double squared(size_t i) { return 0.25 * (double)(i * i); }

TEST(one_array_alone_and_twice) {
    harray_double x = keep(harray_double_new(20));
    HA_WRITING(v, x, H) for (size_t i = 0; i < 20; i++) v.data[i] = 0.5 * (double)i;
    SUCCEEDS(square(C, HA_ALL_LANES, x));
    expect_doubles(x, squared);
    HA_WRITING(v, x, H) for (size_t i = 0; i < 20; i++) v.data[i] = 2;
    SUCCEEDS(
        axpy(C, HA_ALL_LANES, 0.5, x, x)); /* each lane reads its own element, then writes it */
    HA_READING(v, x, H) for (size_t i = 0; i < 20; i++) assert_true(v.data[i] == 3);
    drop(x);
}

/* Of one array an argument is written. */
TEST(two_that_write_the_same) {
    harray_double x = keep(harray_double_filled(20, 2));
    const uint64_t version = ha_array_version(x.array);
    assert_int_equal(exchange(C, HA_ALL_LANES, x, x), HA_ERR_CONFLICT);
    assert_int_equal(ha_take_error().status, HA_ERR_CONFLICT);
    assert_int_equal(ha_array_version(x.array), version);
    HA_READING(v, x, H) for (size_t i = 0; i < 20; i++) assert_true(v.data[i] == 2);
    drop(x);
}

TEST(launches_one_after_the_other) {
    harray_double x = keep(harray_double_filled(1000, 1)), y = keep(harray_double_zeros(1000));
    for (int i = 0; i < 50; i++) SUCCEEDS(axpy(i % 3 ? C : i % 2 ? H : M1, HA_ALL_LANES, 2, x, y));
    HA_READING(v, y, H) for (size_t i = 0; i < v.size; i++) assert_true(v.data[i] == 100);
    drop(x);
    drop(y);
}

/* ---- views --------------------------------------------------------------------------------------- */

TEST(a_stencil_in_a_box) {
    array_float_2 u = array_float_2_zeros(HA_DIM(9, 12), C),
                  w = array_float_2_filled(HA_DIM(9, 12), 5, C);
    keep_array(u.array), keep_array(w.array);
    HA_WRITING(v, u, H) HA_AT(v.span, 4, 6) = 1;
    SUCCEEDS(relax_in(C, ha_box2(1, 8, 1, 11), 0.25f, u, w));
    HA_READING(v, w, H) {
        for (int j = 0; j < 9; j++)
            for (int i = 0; i < 12; i++) {
                const int edge = j == 0 || j == 8 || i == 0 || i == 11;
                const int near = abs(j - 4) + abs(i - 6) == 1;
                assert_true(HA_AT(v.span, j, i) == (edge ? 5.0f : near ? 0.25f : 0.0f));
            }
    }
    else fail();
    drop_array(u.array), drop_array(w.array);
}

/* Ghosts, transposed views, steps and parts: by index, whatever the strides. */
TEST(views_of_all_kinds) {
    array_int64_t_3 x = array_int64_t_3_make(
        &(ha_shape){
            .rank = 3, .extent = {6, 7, 8}, .ghost_low = {1, 1, 1}, .ghost_high = {1, 1, 1}},
        C);
    assert_non_null(x.array);
    keep_array(x.array);
    SUCCEEDS(array_int64_t_3_fill(x, -1, H));
    const array_int64_t_3 views[] = {
        array_int64_t_3_interior(x),
        array_int64_t_3_slice(array_int64_t_3_interior(x), 2, 0, HA_ALL, 3),
        array_int64_t_3_flip(array_int64_t_3_interior(x), 1),
        array_int64_t_3_permute(array_int64_t_3_interior(x), HA_DIM(2, 0, 1)),
        /* a single index that is not 0, with a stride that is not 1 */
        array_int64_t_3_with_origin(
            array_int64_t_3_permute(
                array_int64_t_3_part(array_int64_t_3_interior(x), HA_DIM(3, 0, 0), HA_DIM(4, 7, 8)),
                HA_DIM(1, 2, 0)),
            HA_DIM(0, 0, 1)),
    };
    for (size_t n = 0; n < sizeof views / sizeof *views; n++) {
        const array_int64_t_3 w = views[n];
        SUCCEEDS(
            number_in(C,
                      ha_box3(w.origin[0], w.origin[0] + w.extent[0], w.origin[1],
                              w.origin[1] + w.extent[1], w.origin[2], w.origin[2] + w.extent[2]),
                      w));
        HA_READING(v, w, H) {
            for (int64_t k = w.origin[0]; k < w.origin[0] + w.extent[0]; k++)
                for (int64_t j = w.origin[1]; j < w.origin[1] + w.extent[1]; j++)
                    for (int64_t i = w.origin[2]; i < w.origin[2] + w.extent[2]; i++)
                        assert_int_equal(HA_AT(v.span, k, j, i), 10000 * k + 100 * j + i);
        }
        else fail();
    }
    HA_READING(v, x, H) assert_int_equal(v.data[0], -1); /* a ghost */
    drop_array(x.array);
}

/* ---- bodies -------------------------------------------------------------------------------------- */

static array_int64_t_1 view_of(darray x) { return array_int64_t_1_from_darray(x); }

/* numbers 0 … 23, but for every third from 1 on, backwards, which is raised by 100 for each time. */
static void expect_raised(harray_int64_t x, int64_t n, int64_t times) {
    HA_READING(v, x, H) for (int64_t i = 0; i < n; i++) {
        assert_int_equal(v.data[i], i % 3 == 1 ? i + 100 * times : i);
    }
    else fail();
}

/* They have no grid: what a view covers is all from its first element to its last one. */
TEST(views_of_arrays_that_may_be_resized) {
    harray_int64_t x = harray_int64_t_new(24), y = harray_int64_t_filled(12, -1);
    keep_array(x.array), keep_array(y.array);
    HA_WRITING(v, x, H) for (int64_t i = 0; i < 24; i++) v.data[i] = i;
    array_int64_t_1 all = array_int64_t_1_from(x, ha_dim1_of(24));
    array_int64_t_1 sums = array_int64_t_1_from(y, ha_dim1_of(12));
    keep_array(all.array), keep_array(sums.array);
    const darray third = darray_slice(HA_DARRAY(all), 0, 1, 24, 3);
    SUCCEEDS(raise_by(C, 8, 100, view_of(third)));
    expect_raised(x, 24, 1);
    SUCCEEDS(raise_by(C, 8, 100, view_of(darray_flip(third, 0))));
    expect_raised(x, 24, 2);
    const int64_t origin[] = {-3};
    SUCCEEDS(raise_by(C, 5, 100, view_of(darray_with_origin(third, origin)))); /* from index 0 on */
    SUCCEEDS(raise_by(C, 3, 100, view_of(darray_slice(third, 0, 0, 3, 1))));
    expect_raised(x, 24, 3);
    const int64_t rows[] = {12, 2}; /* the first two elements, twelve times */
    const darray same = darray_broadcast(darray_slice(HA_DARRAY(all), 0, 0, 2, 1), 2, rows);
    SUCCEEDS(sums_of_two(C, 12, array_int64_t_2_from_darray(same), sums));
    HA_READING(v, y, H) for (int i = 0; i < 12; i++) assert_int_equal(v.data[i], 0 + 301);
    /* Numbers that no function makes: to the end of all addresses, and more elements than there are numbers. */
    array_int64_t_2 wrong = {.array = x.array, .extent = {3, 2}, .stride = {INT64_MAX, 0}};
    REFUSED(HA_ERR_ARGUMENT, sums_of_two(C, 3, wrong, sums));
    wrong = (array_int64_t_2){.array = x.array, .extent = {INT64_C(1) << 61, 4}};
    REFUSED(HA_ERR_ARGUMENT, sums_of_two(C, 3, wrong, sums));
    const int64_t one[] = {5};
    REFUSED(HA_ERR_ARGUMENT,
            raise_by(C, 5, 100,
                     view_of(darray_broadcast(darray_slice(HA_DARRAY(all), 0, 4, 5, 1), 1, one))));
    expect_raised(x, 24, 3);
    SUCCEEDS(harray_int64_t_resize(x, 20));
    REFUSED(HA_ERR_ARGUMENT, raise_by(C, 24, 1, all)); /* has less now */
    expect_raised(x, 20, 3);
    SUCCEEDS(raise_by(C, 3, 100, view_of(darray_slice(HA_DARRAY(x), 0, 1, 10, 3)))); /* 1, 4, 7 */
    HA_READING(v, x, H) for (int i = 1; i < 20; i += 3) {
        assert_int_equal(v.data[i], i + (i < 8 ? 400 : 300));
    }
    drop_array(sums.array), drop_array(all.array);
    drop_array(y.array), drop_array(x.array);
}

TEST(text_that_is_not_simple) {
    harray_int x = harray_int_new(100), y = harray_int_new(100);
    keep_array(x.array), keep_array(y.array);
    HA_WRITING(v, x, H) for (int i = 0; i < 100; i++) v.data[i] = i;
    SUCCEEDS(awkward(C, HA_ALL_LANES, x, y));
    HA_READING(v, y, H) {
        for (int i = 0; i < 100; i++) {
            const int sum = ',' + 2 * '(' + 3 * ',' + (i % 3 == 0 ? 1 : i % 3 == 1 ? 7 : 0);
            assert_int_equal(v.data[i], i % 2 ? sum : -sum);
        }
    }
    else fail();
    drop_array(x.array), drop_array(y.array);
}

TEST(helpers_constants_and_tables) {
    harray_double x = keep(harray_double_new(30)), y = keep(harray_double_new(30));
    HA_WRITING(v, x, H) for (size_t i = 0; i < 30; i++) v.data[i] = (double)(i * i % 7);
    SUCCEEDS(smooth(C, HA_ALL_LANES, x, y));
    HA_READING(a, x, H) HA_READING(v, y, H) {
        for (size_t i = 0; i < 30; i++) {
            double sum = 0;
            for (size_t k = 0; k < 3; k++) sum += weight[k] * a.data[(i + k) % 30];
            assert_true(v.data[i] == sqrt(sum * sum + THIRD * THIRD));
        }
    }
    drop(x), drop(y);
}

TEST(numbers_that_C_lacks) {
    harray_float x = harray_float_new(1000);
    harray_half y = harray_half_new(1000);
    harray_c64 z = harray_c64_filled(1000, ha_c64_make(1, 2)), w = harray_c64_new(1000);
    keep_array(x.array), keep_array(y.array), keep_array(z.array), keep_array(w.array);
    HA_WRITING(v, x, H) for (size_t i = 0; i < 1000; i++) v.data[i] = 0.37f * (float)i;
    SUCCEEDS(to_half(C, HA_ALL_LANES, x, y));
    SUCCEEDS(squares(C, HA_ALL_LANES, z, w));
    HA_READING(v, y, H) {
        for (size_t i = 0; i < 1000; i++)
            assert_int_equal(v.data[i].bits, ha_half_of_float(0.37f * (float)i).bits);
    }
    else fail();
    HA_READING(v, w, H) assert_true(v.data[999].re == -3 && v.data[999].im == 4);
    drop_array(x.array), drop_array(y.array), drop_array(z.array), drop_array(w.array);
}

TEST(the_same_bits_as_in_C) {
    harray_float x = harray_float_new(1000), z = harray_float_new(1000);
    harray_double y = keep(harray_double_new(1000));
    keep_array(x.array), keep_array(z.array);
    HA_WRITING(v, x, H) for (size_t i = 0; i < 1000; i++) v.data[i] = 0.0137f * (float)i;
    SUCCEEDS(roots(C, HA_ALL_LANES, x, y, z));
    HA_READING(a, x, H) HA_READING(v, y, H) HA_READING(w, z, H) {
        for (size_t i = 0; i < 1000; i++) {
            const float f = a.data[i];
            assert_true(v.data[i] == sqrt((double)f) / (1 + fabs((double)(f - 3))));
            const float product = sqrtf(f) * fmaxf(f, 2);
            assert_true(w.data[i] == product);
        }
    }
    drop_array(x.array), drop_array(z.array), drop(y);
}

/* ---- what is wrong -------------------------------------------------------------------------------- */

static void refused(ha_status status, ha_status got, const char *part, const char *other) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, status);
    assert_int_equal(e.status, status);
    if (!strstr(e.text, part) || !strstr(e.text, other) || !strstr(e.text, "cases_kernels.c:"))
        fail_msg("'%s' lacks '%s' or '%s'", e.text, part, other);
}

/* A library's word that launches a kernel passes the line of its own caller on with HA_FROM. */
TEST(refused_with_the_line_that_was_handed_on) {
    harray_double x = keep(harray_double_filled(10, 1)), y = keep(harray_double_filled(11, 1));
    ha_status got = HA_OK;
    HA_FROM("caller.c:7") got = axpy(C, HA_ALL_LANES, 1, x, y);
    assert_int_equal(got, HA_ERR_ARGUMENT);
    const ha_error e = ha_take_error();
    if (strncmp(e.text, "caller.c:7: HA_ALL_LANES: x has 10 elements", 43) != 0)
        fail_msg("'%s' does not begin with the caller's line", e.text);
    drop(x), drop(y);
}

/* A check around the call knows where that is. */
static void is_told_at(int line, const char *what) {
    const ha_error e = ha_take_error();
    char begin[200];
    snprintf(begin, sizeof begin, "%s:%d: ", __FILE__, line);
    assert_int_not_equal(e.status, HA_OK);
    if (strncmp(e.text, begin, strlen(begin)) != 0 || !strstr(e.text, what))
        fail_msg("'%s' does not begin with '%s', or lacks '%s'", e.text, begin, what);
}

TEST(refused_with_the_line_of_the_call) {
    harray_double x = keep(harray_double_filled(10, 1)), y = keep(harray_double_filled(11, 1));
    const harray_double gone = keep(harray_double_filled(10, 1));
    ha_array_set_name(x.array, "pressure");
    drop_array(gone.array);
    HA_IGNORE(axpy(C, HA_ALL_LANES, 1, x, y));
    is_told_at(__LINE__ - 1, "HA_ALL_LANES: x, array 'pressure', has 10 elements, and y has 11");
    HA_IGNORE(axpy(C, 10, 1, (harray_double){NULL}, y));
    is_told_at(__LINE__ - 1, "x: no array");
    HA_IGNORE(axpy(C, 10, 1, gone, y));
    is_told_at(__LINE__ - 1, "x: array (double[10]) was freed");
    const ha_status s = axpy(C, HA_ALL_LANES, 1, x, y); /* no check */
    refused(HA_ERR_ARGUMENT, s, "x, array 'pressure', has 10 elements", "and y has 11");
    drop(x), drop(y);
}

TEST(refused_with_the_name_of_the_argument) {
    harray_double x = keep(harray_double_filled(10, 1)), y = keep(harray_double_filled(11, 1));
    array_float_2 none = {{NULL}, 0, {0}, {0}, {0}};
    refused(HA_ERR_ARGUMENT, axpy(C, 10, 1, (harray_double){NULL}, y), "x: no array", "");
    refused(HA_ERR_ARGUMENT, relax(C, HA_DIM(1, 1), 1, none, none), "u: no array", "");
    refused(HA_ERR_ARGUMENT, axpy(C, HA_ALL_LANES, 1, x, y), "x has 10 elements", "y has 11");
    refused(HA_ERR_ARGUMENT, axpy(C, -2, 1, x, x), "lanes below zero", "[0, -2)");
    refused(HA_ERR_ARGUMENT,
            number_in(C, ha_box3(0, INT64_MAX, 0, INT64_MAX, 0, 2),
                      (array_int64_t_3){{x.array}, 0, {0}, {0}, {0}}),
            "more lanes than can be counted", "");
    SUCCEEDS(axpy(C, 0, 1, x, y)); /* nothing to do */
    array_int64_t_3 w = array_int64_t_3_zeros(HA_DIM(1, 1, 1), H);
    keep_array(w.array);
    SUCCEEDS(number(C, HA_DIM(INT64_C(1) << 40, 0, 1), w)); /* nor of many rows without lanes */
    drop_array(w.array);
    HA_READING(v, y, H) for (size_t i = 0; i < 11; i++) assert_true(v.data[i] == 1);
    drop(x), drop(y);
}

TEST(conflicts_and_what_was_never_written) {
    harray_double x = keep(harray_double_new(10)), y = keep(harray_double_filled(10, 1));
    const uint64_t version = ha_array_version(y.array);
    refused(HA_ERR_STATE, axpy(C, 10, 1, x, y), "never written", "");
    assert_int_equal(ha_array_version(y.array), version);
    HA_WRITING(v, x, H) {
        for (size_t i = 0; i < 10; i++) v.data[i] = 1;
        refused(HA_ERR_CONFLICT, axpy(C, 10, 1, x, y), "double[10]", "");
    }
    SUCCEEDS(axpy(C, 10, 1, x, y));
    drop(x), drop(y);
}

#define ONLY_HERE 3
enum { BEFORE_REFUSED = __LINE__ };
HA_KERNEL(not_for_devices, ((inout, int, x)), i, {
    x[i] += ONLY_HERE; /* no HA_DEVICE_CONST says it */
});

static int is_compiled_for_it(void) {
    char text[300];
    (void)ha_kernel_place(&axpy_kernel, C, text, sizeof text);
    return strstr(text, ": compiled for it") != NULL;
}

/* By the user's line; elsewhere it runs. */
TEST(refused_by_the_compiler) {
    harray_int x = harray_int_filled(10, 1);
    char clang[100], nvcc[100], log[2000] = "";
    keep_array(x.array);
    snprintf(clang, sizeof clang, "cases_kernels.c:%d:", BEFORE_REFUSED + 2);
    snprintf(nvcc, sizeof nvcc, "cases_kernels.c(%d)", BEFORE_REFUSED + 2);
    const uint64_t version = ha_array_version(x.array);
    const ha_status s = not_for_devices(C, HA_ALL_LANES, x);
    const ha_error e = ha_take_error();
    (void)ha_kernel_log(&not_for_devices_kernel, C, log, sizeof log);
    assert_int_equal(s, is_compiled_for_it() ? HA_ERR_COMPILE : HA_OK);
    assert_int_equal(ha_array_version(x.array), s ? version : version + 1);
    HA_READING(v, x, H) assert_int_equal(v.data[9], s ? 1 : 4);
    if (s && (!(strstr(e.text, clang) || strstr(e.text, nvcc)) || !strstr(e.text, "ONLY_HERE")))
        fail_msg("%s", e.text);
    if (s && !(strstr(log, clang) || strstr(log, nvcc))) fail_msg("%s", log);
    if (!s) assert_string_equal(log, "");
    drop_array(x.array);
}

HA_KERNEL(loaded_late, ((inout, int, x)), i, { x[i] += 1; });
KNOWN_KERNEL(loaded_late)

/* The driver's number and text; nothing has changed, and the next launch succeeds. */
TEST(refused_by_the_driver) {
    static const struct {
        const char *function;
        int code;
        ha_status status;
        const char *text;
    } failures[] = {
        {"cuModuleLoadData", 209, HA_ERR_BACKEND, "cannot be compiled for"},
        {"cuModuleLoadData", HA_CU_OUT_OF_MEMORY, HA_ERR_MEMORY, "cannot be compiled for"},
        {"cuModuleGetFunction", 201, HA_ERR_BACKEND, "does not find it"},
        {"cuLaunchKernel", 701, HA_ERR_BACKEND, "did not take the kernel"},
        {"cuLaunchKernel", HA_CU_OUT_OF_MEMORY, HA_ERR_MEMORY, "did not take the kernel"},
    };
    if (!cuda_fake() || !is_compiled_for_it() ||
        (strcmp(ha_context_kind(C), "cuda") != 0 && strcmp(ha_context_kind(C), "launch") != 0))
        return;
    /* What an earlier run has kept would be loaded first, and compiled when that fails. */
    char *const cache = ha_kernels_set.settings.cache, first = *cache;
    *cache = '\0';
    know_kernel(&loaded_late_known);
    harray_int x = harray_int_filled(10, 1);
    keep_array(x.array);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        const uint64_t version = ha_array_version(x.array);
        cuda_fake()->fail_call(failures[i].function, 1, failures[i].code, 0);
        refused(failures[i].status, loaded_late(C, HA_ALL_LANES, x), failures[i].text,
                failures[i].function + strlen("cu"));
        cuda_fake()->fail_never();
        assert_int_equal(ha_array_version(x.array), version);
    }
    SUCCEEDS(loaded_late(C, HA_ALL_LANES, x));
    HA_READING(v, x, H) assert_int_equal(v.data[9], 2);
    else fail();
    drop_array(x.array);
    *cache = first;
}

/* The fake driver knows no kernel of harray's own. */
/* Other drivers of OpenCL than PoCL, which is behind the stand-in for dpctl's library, too, may compute otherwise; then
 * ha_context_is_exact has to notice: cases_kernel_records. */
TEST(the_bits_of_the_host) {
    char text[300];
    (void)ha_kernel_place(&axpy_kernel, C, text, sizeof text);
    const int is_pocl = !strcmp(ha_context_kind(C), "usm")
                            ? usm_enqueue != NULL
                            : strstr(text, "Portable Computing Language") != NULL;
    if (!is_of_opencl() || is_pocl) assert_true(computes_as_the_host(C));
    assert_int_equal(ha_take_error().status, HA_OK);
}

/* The place, and the reason where it is not the device's own compiler. */
TEST(where_it_runs) {
    char text[300];
    const size_t length = ha_kernel_place(&axpy_kernel, C, text, sizeof text);
    const char *kind = ha_context_kind(C);
    assert_int_equal(length, strlen(text));
    assert_int_equal(ha_kernel_place(&axpy_kernel, C, NULL, 0), length);
    if (C == H) assert_string_equal(text, "host: as loops compiled here");
    if (!strcmp(kind, "sim") || !strcmp(kind, "private")) {
        assert_non_null(strstr(text, "on its queue, as loops compiled here: "));
        assert_non_null(strstr(text, "its backend has no compiler"));
    }
    if (!strcmp(kind, "opencl")) assert_non_null(strstr(text, "opencl:0: compiled for it: "));
    if (!strcmp(kind, "usm") && !strstr(text, "usm:0: compiled for it: "))
        assert_non_null(strstr(text, "sycl:0: the device has no compiler"));
    REFUSED(HA_ERR_ARGUMENT, ha_kernel_place(NULL, C, text, sizeof text) ? HA_OK : HA_ERR_ARGUMENT);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        KERNELS(of_any_number_of_lanes),
        KERNELS(elements_that_no_lane_writes),
        KERNELS(one_lane_less_than_whole_teams),
        KERNELS(one_array_alone_and_twice),
        KERNELS(two_that_write_the_same),
        KERNELS(launches_one_after_the_other),
        KERNELS(a_stencil_in_a_box),
        KERNELS(views_of_all_kinds),
        KERNELS(views_of_arrays_that_may_be_resized),
        KERNELS(text_that_is_not_simple),
        KERNELS(helpers_constants_and_tables),
        KERNELS(numbers_that_C_lacks),
        KERNELS(the_same_bits_as_in_C),
        KERNELS(refused_with_the_line_that_was_handed_on),
        KERNELS(refused_with_the_line_of_the_call),
        KERNELS(refused_with_the_name_of_the_argument),
        KERNELS(refused_by_the_compiler),
        KERNELS(refused_by_the_driver),
        KERNELS(where_it_runs),
        KERNELS(the_bits_of_the_host),
        KERNELS(conflicts_and_what_was_never_written),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
