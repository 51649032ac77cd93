/* Reductions on every context: in the order of the contract, so with the same bits. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_kernels.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"

#include <math.h>

HA_ARRAY(int32_t, 1);
HA_ARRAY(int32_t, 2);
HA_ARRAY(int32_t, 3);

/* ---- reductions ----------------------------------------------------------------------------------- */

HA_REDUCE(dot, ((in, double, x), (in, double, y)), i, double, HA_SUM, x[i] * y[i]);
HA_REDUCE(sum, ((in, float, x)), i, float, HA_SUM, x[i]);
HA_REDUCE(count, ((value, int32_t, from), (in, int32_t, x)), i, int64_t, HA_SUM,
          x[i] >= from ? 1 : 0);
HA_REDUCE(product, ((in, double, x)), i, double, HA_PRODUCT, x[i]);
HA_REDUCE(least, ((in, int32_t, x)), i, int32_t, HA_MIN, x[i]);
HA_REDUCE(greatest, ((in, double, x)), i, double, HA_MAX, x[i]);
HA_REDUCE(all_of, ((in, uint32_t, x)), i, uint32_t, HA_AND, x[i]);
HA_REDUCE(any_of, ((in, uint64_t, x)), i, uint64_t, HA_OR, x[i]);
HA_REDUCE(parity, ((in, uint64_t, x)), i, uint64_t, HA_XOR, x[i]);
HA_REDUCE(exact, ((in, double, x)), i, double, HA_SUM_EXACT, x[i]);
HA_REDUCE(least_at, ((in, double, x)), i, double, HA_MIN_AT, x[i]);
HA_REDUCE(greatest_at, ((in, int32_t, x)), i, int32_t, HA_MAX_AT, x[i]);
HA_REDUCE(sum_2, ((in, array_float_2, x)), (j, i), float, HA_SUM,
          HA_AT(x, j, i) * (float)(2 * j + i));
HA_REDUCE(sum_3, ((in, array_int32_t_3, x)), (k, j, i), int64_t, HA_SUM, HA_AT(x, k, j, i));
HA_REDUCE(greatest_at_2, ((in, array_int32_t_2, x)), (j, i), int32_t, HA_MAX_AT, HA_AT(x, j, i));

/* Of records, as a line and as a plane. */
typedef struct point {
    double x;
    int32_t id;
    float y;
} point;
#define point_FIELDS (double, x), (int32_t, id), (float, y)
HA_RECORD(point)
HA_VIEW(line, point, 1, HA_ANY)
HA_RECORDS(points, line);
HA_VIEW(plane, point, 2, HA_ANY)
HA_RECORDS(planes, plane);
HA_KERNEL_EACH(set_line, (points, p, "overwrite"), ((in, double, x)), at, {
    point q;
    q.x = x[ha_index(at)];
    q.id = (int32_t)ha_index(at) % 91;
    q.y = 2;
    line_store(p, at, q);
});
HA_KERNEL_EACH(set_plane, (planes, p, "overwrite"), ((in, double, x)), at, {
    point q;
    q.x = x[ha_index(at)];
    q.id = (int32_t)ha_index(at) % 91;
    q.y = 2;
    plane_store(p, at, q);
});
HA_REDUCE(sum_of_line, ((use, points, p, "read x+y"), (in, double, z)), i, double, HA_SUM,
          *line_x(p, line_at(p, i)) * (double)*line_y(p, line_at(p, i)) + z[i]);
HA_REDUCE(last_of_line, ((use, points, p, "read id")), i, int32_t, HA_MAX_AT,
          *line_id(p, line_at(p, i)));
HA_REDUCE(sum_of_plane, ((use, planes, p, "read x+y")), (j, i), double, HA_SUM,
          *plane_x(p, plane_at(p, j, i)) * (double)*plane_y(p, plane_at(p, j, i)));

#define SCALE 0.5
HA_DEVICE_CONST(scale, SCALE);
HA_DEVICE_CODE(
    helper, HA_FN double scaled(double x, double by) { return x * by; });
HA_REDUCE(with_helper, ((uses, scale), (uses, helper), (in, double, x)), i, double, HA_SUM,
          scaled(x[i], SCALE));

KNOWN_KERNEL(dot)
KNOWN_KERNEL(sum)
KNOWN_KERNEL(count)
KNOWN_KERNEL(product)
KNOWN_KERNEL(least)
KNOWN_KERNEL(greatest)
KNOWN_KERNEL(all_of)
KNOWN_KERNEL(any_of)
KNOWN_KERNEL(parity)
KNOWN_KERNEL(exact)
KNOWN_KERNEL(least_at)
KNOWN_KERNEL(greatest_at)
KNOWN_KERNEL(sum_2)
KNOWN_KERNEL(sum_3)
KNOWN_KERNEL(greatest_at_2)
KNOWN_KERNEL(with_helper)
KNOWN_KERNEL(set_line)
KNOWN_KERNEL(set_plane)
KNOWN_KERNEL(sum_of_line)
KNOWN_KERNEL(last_of_line)
KNOWN_KERNEL(sum_of_plane)
static const known_kernel *const known[] = {
    &dot_known,    &sum_known,      &count_known,         &product_known,
    &least_known,  &greatest_known, &all_of_known,        &any_of_known,
    &parity_known, &exact_known,    &least_at_known,      &greatest_at_known,
    &sum_2_known,  &sum_3_known,    &greatest_at_2_known, &with_helper_known};

static int begin_reductions(void **state) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) know_kernel(known[i]);
    return begin_case(state);
}
#define REDUCTIONS(name) cmocka_unit_test_setup_teardown(name, begin_reductions, end_case)

/* ---- the order, in plain words -------------------------------------------------------------------- */

/* Sums n values as the contract says; they are overwritten. */
#define IN_ORDER(T)                                                                                \
    static T part_of_##T(const T *v, size_t n) {                                                   \
        T s[16] = {0};                                                                             \
        for (size_t i = 0; i < n; i++) s[i % 16] = i < 16 ? v[i] : s[i % 16] + v[i];               \
        for (size_t d = 8; d > 0; d /= 2)                                                          \
            for (size_t l = 0; l < d; l++)                                                         \
                if (l + d < n) s[l] += s[l + d];                                                   \
        return s[0];                                                                               \
    }                                                                                              \
    static T in_order_of_##T(T *v, size_t n) {                                                     \
        while (n > 1) {                                                                            \
            const size_t parts = (n + 1023) / 1024;                                                \
            for (size_t p = 0; p < parts; p++)                                                     \
                v[p] = part_of_##T(v + 1024 * p, n - 1024 * p < 1024 ? n - 1024 * p : 1024);       \
            n = parts;                                                                             \
        }                                                                                          \
        return n ? v[0] : 0;                                                                       \
    }
IN_ORDER(float)
IN_ORDER(double)

/* 0 … 1000 and more: parts, and parts of parts, that are full, have one, or all but one. (Of the
 * largest the sum is another one where 1,024 parts are not joined for themselves.) */
static const size_t sizes[] = {0,    1,    2,    3,    7,    8,    9,     15,     16,
                               17,   18,   31,   32,   33,   63,   64,    65,     100,
                               127,  255,  511,  777,  999,  1000, 1023,  1024,   1025,
                               1039, 1040, 1041, 2047, 2048, 2049, 20000, 1049851};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 1049851 };
static double xs[MOST], ys[MOST];
static float fs[MOST];

static double value_of(size_t i) {
    return (double)(i * 7919 % 1009) / 31 + 1e-7 * (double)(i % 13);
}

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

TEST(in_the_order_of_the_contract) {
    for (int k = 0; k < SIZES; k++) {
        const size_t n = sizes[k];
        for (size_t i = 0; i < n; i++)
            xs[i] = value_of(i), ys[i] = value_of(i + 5) - 10, fs[i] = (float)xs[i];
        harray_double x = keep(harray_double_of(n, xs)), y = keep(harray_double_of(n, ys));
        harray_float f = harray_float_of(n, fs);
        keep_array(f.array);
        double got = -1;
        float single = -1;
        SUCCEEDS(dot(C, HA_ALL_LANES, x, y, &got));
        SUCCEEDS(sum(C, HA_ALL_LANES, f, &single));
        for (size_t i = 0; i < n; i++) xs[i] *= ys[i];
        const double expected = in_order_of_double(xs, n);
        if (bits_of(got) != bits_of(expected))
            fail_msg("of %zu lanes: %.17g, not %.17g", n, got, expected);
        assert_true(single == in_order_of_float(fs, n));
        drop(x), drop(y), drop_array(f.array);
    }
}

/* The lanes of a box begin the order anew. */
TEST(of_some_lanes) {
    enum { N = 5000 };
    for (size_t i = 0; i < N; i++) xs[i] = value_of(i), ys[i] = 1;
    harray_double x = keep(harray_double_of(N, xs)), y = keep(harray_double_of(N, ys));
    static const size_t boxes[][2] = {{0, 5000},   {1, 5000},    {17, 18},
                                      {100, 3000}, {4999, 5000}, {33, 33}};
    for (size_t k = 0; k < sizeof boxes / sizeof *boxes; k++) {
        const size_t first = boxes[k][0], last = boxes[k][1];
        double got = -1, own[N];
        SUCCEEDS(dot_in(C, ha_box1((ptrdiff_t)first, (ptrdiff_t)last), x, y, &got));
        memcpy(own, xs + first, (last - first) * sizeof *own);
        assert_true(bits_of(got) == bits_of(in_order_of_double(own, last - first)));
    }
    double got = -1;
    SUCCEEDS(dot(C, 3, x, y, &got));
    assert_true(got == xs[0] + xs[2] + xs[1]);
    drop(x), drop(y);
}

TEST(of_ones) {
    harray_float x = harray_float_filled(1024, 1);
    harray_int32_t ones = harray_int32_t_filled(20000, 1);
    keep_array(x.array), keep_array(ones.array);
    const uint64_t version = ha_array_version(x.array);
    float total = 0;
    int64_t counted = 0;
    SUCCEEDS(sum(C, HA_ALL_LANES, x, &total));
    assert_true(total == 1024);
    SUCCEEDS(count(C, HA_ALL_LANES, 1, ones, &counted));
    assert_int_equal(counted, 20000);
    SUCCEEDS(count(C, HA_ALL_LANES, 2, ones, &counted));
    assert_int_equal(counted, 0);
    assert_int_equal(ha_array_version(x.array), version); /* what is read stays as it was */
    HA_READING(v, x, H) for (int i = 0; i < 1024; i++) assert_true(v.data[i] == 1);
    drop_array(x.array), drop_array(ones.array);
}

/* ---- of records ------------------------------------------------------------------------------------ */

static const char *const layouts[] = {"aos", "soa", "soa(single,aligned)", "aosoa(8)",
                                      "split(id: soa, aos)"};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* Sizes of which nothing is left over, and of which something is, in each layout. */
TEST(of_records) {
    static const size_t lanes[] = {1, 15, 16, 17, 1000, 1024, 2061};
    for (size_t k = 0; k < sizeof lanes / sizeof *lanes; k++) {
        const size_t n = lanes[k];
        points p = points_new((ptrdiff_t)n);
        for (size_t i = 0; i < n; i++) xs[i] = value_of(i), ys[i] = value_of(i + 3);
        harray_double x = keep(harray_double_of(n, xs)), z = keep(harray_double_of(n, ys));
        for (int l = 0; l < LAYOUTS; l++) {
            if (!is_compiled_here(l)) continue;
            double total = -1, own[2061];
            last_of_line_result last = {-1, -1};
            SUCCEEDS(ha_records_layout(p.records, C, layouts[l]));
            know_records(&set_line_known, C, p.records);
            know_records(&sum_of_line_known, C, p.records);
            know_records(&last_of_line_known, C, p.records);
            SUCCEEDS(set_line(C, p, x));
            SUCCEEDS(sum_of_line(C, (int64_t)n, p, z, &total));
            SUCCEEDS(last_of_line(C, (int64_t)n, p, &last));
            for (size_t i = 0; i < n; i++) own[i] = xs[i] * 2 + ys[i];
            assert_true(bits_of(total) == bits_of(in_order_of_double(own, n)));
            assert_int_equal(last.value, n < 91 ? n - 1 : 90);
            assert_int_equal(last.at, n < 91 ? n - 1 : 90);
        }
        drop(x), drop(z);
        points_free(&p);
    }
}

/* Rows that are shorter than 16 sums, as long, and longer; and the lanes of a box. */
TEST(of_records_with_two_indices) {
    static const ptrdiff_t shapes[][2] = {{1, 1}, {70, 7}, {9, 16}, {40, 53}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const ptrdiff_t rows = shapes[k][0], row = shapes[k][1];
        const size_t n = (size_t)(rows * row);
        planes p = planes_new(HA_DIM(rows, row));
        for (size_t i = 0; i < n; i++) xs[i] = value_of(i);
        harray_double x = keep(harray_double_of(n, xs));
        for (int l = 0; l < LAYOUTS; l++) {
            if (!is_compiled_here(l)) continue;
            double total = -1, own[40 * 53];
            size_t some = 0;
            SUCCEEDS(ha_records_layout(p.records, C, layouts[l]));
            know_records(&set_plane_known, C, p.records);
            know_records(&sum_of_plane_known, C, p.records);
            SUCCEEDS(set_plane(C, p, x));
            SUCCEEDS(sum_of_plane(C, HA_DIM(rows, row), p, &total));
            for (size_t i = 0; i < n; i++) own[i] = xs[i] * 2;
            assert_true(bits_of(total) == bits_of(in_order_of_double(own, n)));
            SUCCEEDS(sum_of_plane_in(C, ha_box2(rows / 3, rows, row / 2, row), p, &total));
            for (ptrdiff_t j = rows / 3; j < rows; j++)
                for (ptrdiff_t i = row / 2; i < row; i++) own[some++] = xs[j * row + i] * 2;
            assert_true(bits_of(total) == bits_of(in_order_of_double(own, some)));
        }
        drop(x);
        planes_free(&p);
    }
}

/* ---- operations ----------------------------------------------------------------------------------- */

TEST(operations) {
    enum { N = 3000 };
    static int32_t ints[N];
    static uint32_t words[N];
    static uint64_t longs[N];
    static double reals[N];
    uint64_t some = 0, odd = 0;
    uint32_t all = ~UINT32_C(0);
    for (int i = 0; i < N; i++) {
        ints[i] = i * 7919 % 3001 - 1000;
        words[i] = ~(UINT32_C(1) << (i % 20 + 3));
        longs[i] = UINT64_C(1) << (i * i % 50);
        reals[i] = 1 + (i % 3 - 1) * 0.125;
        all &= words[i], some |= longs[i], odd ^= longs[i];
    }
    harray_int32_t x = harray_int32_t_of(N, ints);
    harray_uint32_t w = harray_uint32_t_of(N, words);
    harray_uint64_t l = harray_uint64_t_of(N, longs);
    harray_double r = keep(harray_double_of(N, reals));
    keep_array(x.array), keep_array(w.array), keep_array(l.array);
    int32_t low;
    uint32_t bits;
    uint64_t more;
    double real;
    SUCCEEDS(least(C, HA_ALL_LANES, x, &low));
    int lowest = ints[0];
    for (int i = 0; i < N; i++) lowest = ints[i] < lowest ? ints[i] : lowest;
    assert_int_equal(low, lowest);
    SUCCEEDS(all_of(C, HA_ALL_LANES, w, &bits));
    assert_int_equal(bits, all);
    SUCCEEDS(any_of(C, HA_ALL_LANES, l, &more));
    assert_int_equal(more, some);
    SUCCEEDS(parity(C, HA_ALL_LANES, l, &more));
    assert_int_equal(more, odd);
    SUCCEEDS(greatest(C, HA_ALL_LANES, r, &real));
    assert_true(real == 1.125);
    SUCCEEDS(product(C, 3, r, &real));
    assert_true(real == 0.875 * 1.125);
    SUCCEEDS(with_helper(C, HA_ALL_LANES, r, &real));
    assert_true(real == 1500);
    drop_array(x.array), drop_array(w.array), drop_array(l.array), drop(r);
}

TEST(values_and_their_first_place) {
    enum { N = 4000 };
    static double reals[N];
    static int32_t ints[N];
    for (int i = 0; i < N; i++) reals[i] = 10 + (i * 31 % 97), ints[i] = -i % 5;
    reals[2500] = reals[1111] = reals[3999] = -1;
    harray_double x = keep(harray_double_of(N, reals));
    harray_int32_t y = harray_int32_t_of(N, ints);
    keep_array(y.array);
    least_at_result low;
    greatest_at_result high;
    SUCCEEDS(least_at(C, HA_ALL_LANES, x, &low));
    assert_true(low.value == -1 && low.at == 1111);
    SUCCEEDS(least_at_in(C, ha_box1(1112, N), x, &low));
    assert_true(low.value == -1 && low.at == 2500);
    SUCCEEDS(greatest_at(C, HA_ALL_LANES, y, &high));
    assert_true(high.value == 0 && high.at == 0);
    SUCCEEDS(greatest_at_in(C, ha_box1(7, 1500), y, &high));
    assert_true(high.value == 0 && high.at == 10);
    harray_least_at_result kept = harray_least_at_result_new(3);
    keep_array(kept.array);
    SUCCEEDS(least_at_into(C, HA_ALL_LANES, x, kept, 2));
    SUCCEEDS(harray_least_at_result_get(kept, 2, &low));
    assert_true(low.value == -1 && low.at == 1111);
    drop(x), drop_array(y.array), drop_array(kept.array);
}

/* Much is added to little and taken away again: plain sums lose the little. */
TEST(sums_that_lose_nothing) {
    enum { N = 100000 };
    static const double pattern[] = {0.125, 1e16, -1e16, 0};
    for (size_t i = 0; i < N; i++) xs[i] = pattern[i % 4];
    harray_double x = keep(harray_double_of(N, xs));
    double got;
    SUCCEEDS(exact(C, HA_ALL_LANES, x, &got));
    assert_true(got == N / 4 * 0.125);
    assert_true(in_order_of_double(xs, N) != got);
    HA_WRITING(v, x, H) v.data[77] = INFINITY;
    SUCCEEDS(exact(C, HA_ALL_LANES, x, &got));
    assert_true(isinf(got) && got > 0);
    drop(x);
}

/* ---- several indices ------------------------------------------------------------------------------ */

TEST(of_views) {
    enum { NY = 37, NX = 61 };
    float v[NY * NX], own[NY * NX];
    for (int i = 0; i < NY * NX; i++) v[i] = (float)(i * 17 % 101) / 7;
    array_float_2 x = array_float_2_of(HA_DIM(NY, NX), v, C);
    keep_array(x.array);
    float got = -1;
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) own[j * NX + i] = v[j * NX + i] * (float)(2 * j + i);
    SUCCEEDS(sum_2(C, HA_DIM(NY, NX), x, &got));
    assert_true(got == in_order_of_float(own, NY * NX));
    size_t n = 0;
    for (int j = 3; j < 30; j++)
        for (int i = 5; i < 45; i++) own[n++] = v[j * NX + i] * (float)(2 * j + i);
    SUCCEEDS(sum_2_in(C, ha_box2(3, 30, 5, 45), x, &got));
    assert_true(got == in_order_of_float(own, n));
    const array_float_2 turned = array_float_2_transpose(x); /* whose last stride is not 1 */
    for (int j = 0; j < NX; j++)
        for (int i = 0; i < NY; i++) own[j * NY + i] = v[i * NX + j] * (float)(2 * j + i);
    SUCCEEDS(sum_2(C, HA_DIM(NX, NY), turned, &got));
    assert_true(got == in_order_of_float(own, NY * NX));
    SUCCEEDS(sum_2(C, HA_DIM(0, NX), x, &got));
    assert_true(got == 0);
    drop_array(x.array);
}

TEST(of_three_indices_and_the_number_of_a_lane) {
    array_int32_t_3 x = array_int32_t_3_new(HA_DIM(7, 8, 9), C);
    array_int32_t_2 y = array_int32_t_2_zeros(HA_DIM(50, 60), C);
    keep_array(x.array), keep_array(y.array);
    int64_t expected = 0, got = -1;
    HA_OVERWRITING_ALL(v, x, H) {
        for (int k = 0; k < 7; k++)
            for (int j = 0; j < 8; j++)
                for (int i = 0; i < 9; i++) {
                    HA_AT(v.span, k, j, i) = 10000 * k + 100 * j + i;
                    if (k > 0 && j > 1 && i > 2) expected += 10000 * k + 100 * j + i;
                }
    }
    SUCCEEDS(sum_3_in(C, ha_box3(1, 7, 2, 8, 3, 9), x, &got));
    assert_int_equal(got, expected);
    HA_WRITING(v, y, H) HA_AT(v.span, 20, 30) = HA_AT(v.span, 40, 50) = 5;
    greatest_at_2_result high;
    SUCCEEDS(greatest_at_2(C, HA_DIM(50, 60), y, &high));
    assert_true(high.value == 5 && high.at == 20 * 60 + 30);
    drop_array(x.array), drop_array(y.array);
}

/* ---- results in arrays ---------------------------------------------------------------------------- */

TEST(into_elements_of_arrays) {
    harray_double x = keep(harray_double_filled(3000, 2)),
                  y = keep(harray_double_filled(3000, 0.5)),
                  r = keep(
                      harray_double_new(4)); /* never written: so one element needs no other one */
    SUCCEEDS(dot_into(C, HA_ALL_LANES, x, y, r, 1));
    SUCCEEDS(dot_in_into(C, ha_box1(10, 20), x, y, r, 3));
    SUCCEEDS(dot_into(M1, 7, x, y, r, 0));
    SUCCEEDS(dot_into(C, 0, x, y, r, 2));
    HA_READING(v, r, H)
    assert_true(v.data[0] == 7 && v.data[1] == 3000 && v.data[2] == 0 && v.data[3] == 10);
    else fail();
    SUCCEEDS(dot_into(C, HA_ALL_LANES, x, y, x, 5)); /* into what is read */
    HA_READING(v, x, H) assert_true(v.data[4] == 2 && v.data[5] == 3000 && v.data[6] == 2);
    else fail();
    drop(x), drop(y), drop(r);
}

/* ---- what is wrong -------------------------------------------------------------------------------- */

static void refused(ha_status status, ha_status got, const char *part, const char *other) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, status);
    assert_int_equal(e.status, status);
    if (!strstr(e.text, part) || !strstr(e.text, other) || !strstr(e.text, "cases_reductions.c:"))
        fail_msg("'%s' lacks '%s' or '%s'", e.text, part, other);
}

TEST(neutral_elements_and_none) {
    harray_double x = keep(harray_double_filled(5, 1));
    harray_int32_t y = harray_int32_t_filled(5, 1);
    harray_uint32_t w = harray_uint32_t_new(0);
    keep_array(y.array), keep_array(w.array);
    double real = -1;
    int32_t low = 3;
    uint32_t bits = 3;
    greatest_at_result high = {3, 3};
    SUCCEEDS(product(C, 0, x, &real));
    assert_true(real == 1);
    SUCCEEDS(exact(C, 0, x, &real));
    assert_true(real == 0);
    SUCCEEDS(all_of(C, HA_ALL_LANES, w, &bits));
    assert_int_equal(bits, ~UINT32_C(0));
    refused(HA_ERR_ARGUMENT, least(C, 0, y, &low), "HA_MIN of no lanes", "");
    refused(HA_ERR_ARGUMENT, greatest(C, 0, x, &real), "HA_MAX of no lanes", "");
    refused(HA_ERR_ARGUMENT, greatest_at(C, 0, y, &high), "HA_MAX_AT of no lanes", "");
    assert_true(low == 3 && real == 0 && high.at == 3);
    drop(x), drop_array(y.array), drop_array(w.array);
}

TEST(refused_with_what_is_wrong) {
    harray_double x = keep(harray_double_filled(5, 1)), y = keep(harray_double_filled(6, 1)),
                  z = keep(harray_double_new(6));
    double d = 7;
    const uint64_t version = ha_array_version(z.array);
    refused(HA_ERR_ARGUMENT, dot(C, HA_ALL_LANES, x, y, &d), "x has 5 elements", "y has 6");
    refused(HA_ERR_ARGUMENT, dot(C, 5, x, (harray_double){NULL}, &d), "y: no array", "");
    refused(HA_ERR_ARGUMENT, dot(C, 5, x, y, NULL), "no place for the result", "");
    refused(HA_ERR_ARGUMENT, dot(C, -5, x, y, &d), "lanes below zero", "");
    refused(HA_ERR_ARGUMENT, dot_into(C, 5, x, y, (harray_double){NULL}, 0),
            "no place for the result", "");
    refused(HA_ERR_ARGUMENT, dot_into(C, 5, x, y, z, 6), "element 6 of an array of 6", "");
    refused(HA_ERR_STATE, dot_into(C, 5, z, y, z, 0), "never written", "");
    refused(HA_ERR_STATE, dot(C, 5, z, y, &d), "never written", "");
    assert_true(d == 7);
    assert_int_equal(ha_array_version(z.array), version);
    drop(x), drop(y), drop(z);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        REDUCTIONS(in_the_order_of_the_contract),
        REDUCTIONS(of_some_lanes),
        REDUCTIONS(of_ones),
        REDUCTIONS(of_records),
        REDUCTIONS(of_records_with_two_indices),
        REDUCTIONS(operations),
        REDUCTIONS(values_and_their_first_place),
        REDUCTIONS(sums_that_lose_nothing),
        REDUCTIONS(of_views),
        REDUCTIONS(of_three_indices_and_the_number_of_a_lane),
        REDUCTIONS(into_elements_of_arrays),
        REDUCTIONS(neutral_elements_and_none),
        REDUCTIONS(refused_with_what_is_wrong),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
