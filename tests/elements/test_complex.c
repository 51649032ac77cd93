/* complex.h: sums and products against C's own, quotients against exact ones of numbers that are hard
 * to divide, and of random ones. */
#include "../../harray/complex.h"
#include "../../harray/status.h"
#include "../support/numbers.h"

#include <complex.h>
#include <float.h>

/* The parts with exponents in ±most. */
static double random_double(int most) {
    const uint64_t r = random_bits();
    return ldexp((double)(int64_t)(r << 11) * 0x1p-63, (int)(r >> 53) % (2 * most + 1) - most);
}
static ha_c128 random_c128(int most) {
    const double re = random_double(most);
    return ha_c128_make(re, random_double(most));
}
static ha_c64 random_c64(int most) {
    const double re = random_double(most);
    return ha_c64_make((float)re, (float)random_double(most));
}

/* As C's, which has the same layout. (Clang 14 has no CMPLX.) */
static double complex native(ha_c128 z) {
    double complex native;
    memcpy(&native, &z, sizeof native);
    return native;
}
static float complex native_float(ha_c64 z) {
    float complex native;
    memcpy(&native, &z, sizeof native);
    return native;
}

/* The difference is less than this, in units of the last place of the greater part. */
static void expect_near(double complex got, double complex exact, double unit, double most) {
    const double greater = fmax(fabs(creal(exact)), fabs(cimag(exact)));
    const double error = fmax(fabs(creal(got) - creal(exact)), fabs(cimag(got) - cimag(exact)));
    if (!(error <= most * unit * greater))
        fail_msg("%a %a, not %a %a", creal(got), cimag(got), creal(exact), cimag(exact));
}

TEST(layout) {
    assert_int_equal(sizeof(ha_c64), sizeof(float complex));
    assert_int_equal(sizeof(ha_c128), sizeof(double complex));
    assert_true(creal(native(ha_c128_make(1, 2))) == 1 && cimag(native(ha_c128_make(1, 2))) == 2);
    assert_true(crealf(native_float(ha_c64_make(5, 6))) == 5);
}

/* Literal results; those with parts that cancel are exact, too. */
TEST(small_numbers) {
    const ha_c128 x = ha_c128_make(1, 2), y = ha_c128_make(3, -4);
    assert_true(ha_c128_equal(ha_c128_add(x, y), ha_c128_make(4, -2)));
    assert_true(ha_c128_equal(ha_c128_sub(x, y), ha_c128_make(-2, 6)));
    assert_true(ha_c128_equal(ha_c128_mul(x, y), ha_c128_make(11, 2)));
    assert_true(ha_c128_equal(ha_c128_div(ha_c128_make(11, 2), y), x));
    assert_true(ha_c128_equal(ha_c128_conj(y), ha_c128_make(3, 4)));
    assert_true(ha_c128_equal(ha_c128_negate(y), ha_c128_make(-3, 4)));
    assert_true(ha_c128_equal(ha_c128_scale(y, 0.5), ha_c128_make(1.5, -2)));
    assert_true(ha_c128_abs(y) == 5 && ha_c128_abs2(y) == 25);
    const ha_c64 v = ha_c64_make(1, 2), w = ha_c64_make(3, -4);
    assert_true(ha_c64_equal(ha_c64_add(v, w), ha_c64_make(4, -2)));
    assert_true(ha_c64_equal(ha_c64_sub(v, w), ha_c64_make(-2, 6)));
    assert_true(ha_c64_equal(ha_c64_mul(v, w), ha_c64_make(11, 2)));
    assert_true(ha_c64_equal(ha_c64_div(ha_c64_make(11, 2), w), v));
    assert_true(ha_c64_equal(ha_c64_conj(w), ha_c64_make(3, 4)));
    assert_true(ha_c64_equal(ha_c64_negate(w), ha_c64_make(-3, 4)));
    assert_true(ha_c64_equal(ha_c64_scale(w, 0.5f), ha_c64_make(1.5f, -2)));
    assert_true(ha_c64_abs(w) == 5 && ha_c64_abs2(w) == 25);
}

TEST(equal) {
    assert_true(ha_c128_equal(ha_c128_make(0, -0.0), ha_c128_make(-0.0, 0)));
    assert_false(ha_c128_equal(ha_c128_make(1, 2), ha_c128_make(1, 3)));
    assert_false(ha_c128_equal(ha_c128_make(1, 2), ha_c128_make(2, 2)));
    assert_false(ha_c128_equal(ha_c128_make(NAN, 0), ha_c128_make(NAN, 0)));
    assert_true(ha_c64_equal(ha_c64_make(0, -0.0f), ha_c64_make(-0.0f, 0)));
    assert_false(ha_c64_equal(ha_c64_make(1, 2), ha_c64_make(1, 3)));
    assert_false(ha_c64_equal(ha_c64_make(1, 2), ha_c64_make(2, 2)));
    assert_false(ha_c64_equal(ha_c64_make(0, NAN), ha_c64_make(0, NAN)));
}

/* Conjugates keep the signs of zeros; so do opposites. */
TEST(signs_of_zeros) {
    const ha_c128 z = ha_c128_conj(ha_c128_make(-0.0, 0)),
                  w = ha_c128_negate(ha_c128_make(0, -0.0));
    assert_true(signbit(z.re) && signbit(z.im));
    assert_true(signbit(w.re) && !signbit(w.im));
}

/* A compiler may fuse a product and a sum here but not in C's own, so it is near, not the same. */
TEST(as_c) {
    for (int i = 0; i < 100000; i++) {
        const ha_c128 x = random_c128(200), y = random_c128(200);
        const ha_c64 v = random_c64(15), w = random_c64(15);
        expect_near(native(ha_c128_add(x, y)), native(x) + native(y), DBL_EPSILON, 0);
        expect_near(native(ha_c128_sub(x, y)), native(x) - native(y), DBL_EPSILON, 0);
        expect_near(native(ha_c128_mul(x, y)), native(x) * native(y), DBL_EPSILON, 4);
        expect_near(native(ha_c128_div(x, y)), native(x) / native(y), DBL_EPSILON, 8);
        assert_true(fabs(ha_c128_abs(x) - cabs(native(x))) <= 2 * DBL_EPSILON * cabs(native(x)));
        assert_true(fabs(ha_c128_abs2(x) - ha_c128_mul(x, ha_c128_conj(x)).re) <=
                    4 * DBL_EPSILON * ha_c128_abs2(x));
        const double complex dv = native_float(v), dw = native_float(w);
        expect_near(native_float(ha_c64_add(v, w)), dv + dw, FLT_EPSILON, 1);
        expect_near(native_float(ha_c64_sub(v, w)), dv - dw, FLT_EPSILON, 1);
        expect_near(native_float(ha_c64_mul(v, w)), dv * dw, FLT_EPSILON, 4);
        expect_near(native_float(ha_c64_div(v, w)), dv / dw, FLT_EPSILON, 8);
        assert_true(fabs((double)ha_c64_abs(v) - cabs(dv)) <= (double)FLT_EPSILON * cabs(dv));
    }
}

/* ---- quotients that are hard to get -------------------------------------------------------- */

/* Near the limits of the format: the ten of Baudin and Smith's article. Quotients rounded from
 * rational arithmetic. */
static const struct {
    double x[2], y[2], quotient[2];
} hard[] = {
    {{1, 1}, {1, 0x1p1023}, {0x0.8p-1022, -0x0.8p-1022}},
    {{1, 1}, {0x1p-1023, 0x1p-1023}, {0x1p1023, 0}},
    {{0x1p1023, 0x1p-1023}, {0x1p677, 0x1p-677}, {0x1p346, -0x1p-1008}},
    {{0x1p1023, 0x1p1023}, {1, 1}, {0x1p1023, 0}},
    {{0x1p1020, 0x1p-844}, {0x1p656, 0x1p-780}, {0x1p364, -0x0.0000000000004p-1022}},
    {{0x1p-71, 0x1p1021}, {0x1p1001, 0x1p-323}, {0x0.0000000000004p-1022, 0x1p20}},
    {{0x1p-347, 0x1p-54}, {0x1p-1037, 0x1p-1058}, {0x1.ffffffffff8p961, 0x1.ffffffffff8p982}},
    {{0x1p-1074, 0x1p-1074}, {0x1p-1073, 0x1p-1074}, {0x1.3333333333333p-1, 0x1.999999999999ap-3}},
    {{0x1p1015, 0x1p-989}, {0x1p1023, 0x1p1023}, {0x1p-9, -0x1p-9}},
    {{0x1p-622, 0x1p-1071}, {0x1p-343, 0x1p-798}, {0x1p-279, 0x1.f8p-729}},
};

TEST(hard_quotients) {
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        const ha_c128 x = ha_c128_make(hard[i].x[0], hard[i].x[1]);
        const ha_c128 y = ha_c128_make(hard[i].y[0], hard[i].y[1]), q = ha_c128_div(x, y);
        const double *exact = hard[i].quotient;
        assert_true(fabs(q.re - exact[0]) <= 4 * DBL_EPSILON * fabs(exact[0]));
        assert_true(fabs(q.im - exact[1]) <= 4 * DBL_EPSILON * fabs(exact[1]));
        const ha_c128 turned = ha_c128_div(x, ha_c128_make(-y.im, y.re)); /* by i y: -i x/y */
        assert_true(fabs(turned.re - exact[1]) <= 4 * DBL_EPSILON * fabs(exact[1]));
        assert_true(fabs(turned.im + exact[0]) <= 4 * DBL_EPSILON * fabs(exact[0]));
    }
}

/* Floats of all sizes, against doubles, which have room for all that happens on the way. */
TEST(float_quotients_of_all_sizes) {
    for (int i = 0; i < 200000; i++) {
        const ha_c64 x = random_c64(128), y = random_c64(128), q = ha_c64_div(x, y);
        const double c = (double)y.re, d = (double)y.im, n = c * c + d * d;
        const double re = ((double)x.re * c + (double)x.im * d) / n;
        const double im = ((double)x.im * c - (double)x.re * d) / n;
        const double greater = fmax(fabs(re), fabs(im));
        if (n > 0 && greater < (double)FLT_MAX && greater > (double)FLT_MIN)
            expect_near(native_float(q), native(ha_c128_make(re, im)), FLT_EPSILON, 8);
    }
}

TEST(quotients_by_zero_and_infinity) {
    ha_c128 q = ha_c128_div(ha_c128_make(1, -2), ha_c128_make(0, 0));
    assert_true(isinf(q.re) && q.re > 0 && isinf(q.im) && q.im < 0);
    q = ha_c128_div(ha_c128_make(1, 0), ha_c128_make(-0.0, 0));
    assert_true(isinf(q.re) && q.re < 0 && isnan(q.im));
    q = ha_c128_div(ha_c128_make(1, 2), ha_c128_make(INFINITY, 3));
    assert_true(q.re == 0 && q.im == 0);
    q = ha_c128_div(ha_c128_make(0, 0), ha_c128_make(2, 3));
    assert_true(q.re == 0 && q.im == 0);
    const ha_c64 p = ha_c64_div(ha_c64_make(1, -2), ha_c64_make(0, 0));
    assert_true(isinf(p.re) && p.re > 0 && isinf(p.im) && p.im < 0);
}

TEST(absolute_values_of_all_sizes) {
    assert_true(ha_c128_abs(ha_c128_make(0x1p1022, 0)) == 0x1p1022);
    assert_true(ha_c128_abs(ha_c128_make(3 * 0x1p1000, 4 * 0x1p1000)) == 5 * 0x1p1000);
    assert_true(ha_c128_abs(ha_c128_make(3 * 0x1p-1060, 4 * 0x1p-1060)) == 5 * 0x1p-1060);
    assert_true(ha_c64_abs(ha_c64_make(3 * 0x1p120f, 4 * 0x1p120f)) == 5 * 0x1p120f);
    assert_true(isinf(ha_c64_abs(ha_c64_make(-INFINITY, NAN))));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout),
        cmocka_unit_test(small_numbers),
        cmocka_unit_test(equal),
        cmocka_unit_test(signs_of_zeros),
        cmocka_unit_test(as_c),
        cmocka_unit_test(hard_quotients),
        cmocka_unit_test(float_quotients_of_all_sizes),
        cmocka_unit_test(quotients_by_zero_and_infinity),
        cmocka_unit_test(absolute_values_of_all_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
