/* Kernels on a device that does not compute with double, as HARRAY_OPENCL=double=no says: what needs it is
 * refused, and nothing else. Where there is no OpenCL it is only looked at. */
#define HARRAY_IMPLEMENTATION
#include "../../harray_kernels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct star {
    float x;
    double mass;
} star;
#define star_FIELDS (float, x), (double, mass)
HA_RECORD(star)
HA_VIEW(sky, star, 1, HA_ANY)
HA_RECORDS(stars, sky);
HARRAY(star);

HA_KERNEL(all_float, ((value, float, a), (in, float, x), (out, float, y)), i, {
    const int e = 0x1e + 1;
    y[i] = a * sqrtf(x[i]) + 0.5f + 1e1f +
           (float)e; /* 0.5, double and sqrt(x) are no matter here */
});
HA_KERNEL(by_type, ((in, double, x), (out, float, y)), i, { y[i] = (float)x[i]; });
HA_KERNEL(by_view, ((in, array_double_2, u), (out, float, y)), i,
          { y[i] = (float)HA_AT(u, i, i); });
HA_KERNEL(by_value, ((value, double, a), (out, float, y)), i, { y[i] = (float)a; });
HA_KERNEL(by_literal, ((out, float, y)), i, { y[i] = (float)(0.5 * (float)i); });
HA_KERNEL(by_exponent, ((out, float, y)), i, { y[i] = (float)(1e-3 * (float)i); });
HA_KERNEL(by_function, ((in, float, x), (out, float, y)), i, { y[i] = (float)sqrt(x[i]); });
HA_KERNEL(by_variable, ((in, float, x), (out, float, y)), i, {
    double z = x[i];
    y[i] = (float)z;
});
HA_DEVICE_CODE(
    half_of, HA_FN float half_of(float x) { return (float)((double)x / 2); });
HA_KERNEL(by_helper, ((uses, half_of), (in, float, x), (out, float, y)), i,
          { y[i] = half_of(x[i]); });
HA_KERNEL(by_record, ((in, star, s), (out, float, y)), i, { y[i] = s[i].x; });
HA_KERNEL_EACH(by_field, (stars, p, "write x"), (), at, { *sky_x(p, at) = 1; });

static ha_context *gpu;

static void expect_need(const ha_kernel *k, const char *what) {
    ha_double_need need;
    const int64_t n = 1;
    ha_error e;
    ha_mapping *m = ha_mapping_parse(&star_record, "aos", 1, &n, &e);
    const ha_kernel_variant v = {.kernel = k, .mapping = {m}, .records = k->each};
    assert_int_equal(ha_kernel_needs_double(&v, &need), what != NULL);
    if (what) assert_string_equal(need.text, what);
    ha_mapping_free(m);
}

static void what_is_found(void **state) {
    (void)state;
    expect_need(&all_float_kernel, NULL);
    expect_need(&by_type_kernel, "x");
    expect_need(&by_view_kernel, "u");
    expect_need(&by_value_kernel, "a");
    expect_need(&by_literal_kernel, "0.5");
    expect_need(&by_exponent_kernel, "1e-3");
    expect_need(&by_function_kernel, "sqrt");
    expect_need(&by_variable_kernel, "double");
    expect_need(&by_helper_kernel, "double");
    expect_need(&by_record_kernel, "mass");
    expect_need(&by_field_kernel, "mass");
}

static void lacks(ha_status status, const char *kernel, const char *what) {
    const ha_error e = ha_take_error();
    char expected[100];
    snprintf(expected, sizeof expected, "%s: opencl:0 does not compute with double, which %s needs",
             kernel, what);
    assert_int_equal(status, HA_ERR_UNSUPPORTED);
    assert_int_equal(e.status, HA_ERR_UNSUPPORTED);
    if (!strstr(e.text, expected)) fail_msg("'%s' lacks '%s'", e.text, expected);
}

static void what_is_refused(void **state) {
    (void)state;
    if (!gpu) skip();
    harray_float x = harray_float_filled(4, 4), y = harray_float_zeros(4);
    harray_double d = harray_double_zeros(4);
    array_double_2 u = array_double_2_zeros(HA_DIM(4, 4), NULL);
    harray_star s = harray_star_zeros(4);
    stars r = stars_new(4);
    HA_CHECK(all_float(gpu, HA_ALL_LANES, 2, x, y));
    HA_READING(v, y, ha_host()) for (int i = 0; i < 4; i++) assert_true(v.data[i] == 45.5f);
    lacks(by_type(gpu, HA_ALL_LANES, d, y), "by_type", "x");
    lacks(by_view(gpu, 4, u, y), "by_view", "u");
    lacks(by_value(gpu, 4, 1, y), "by_value", "a");
    lacks(by_literal(gpu, 4, y), "by_literal", "0.5");
    lacks(by_exponent(gpu, 4, y), "by_exponent", "1e-3");
    lacks(by_function(gpu, 4, x, y), "by_function", "sqrt");
    lacks(by_variable(gpu, 4, x, y), "by_variable", "double");
    lacks(by_helper(gpu, 4, x, y), "by_helper", "double");
    lacks(by_record(gpu, 4, s, y), "by_record", "mass");
    lacks(by_field(gpu, r), "by_field", "mass");
    HA_READING(v, y, ha_host()) for (int i = 0; i < 4; i++) assert_true(v.data[i] == 45.5f);
    HA_CHECK(by_function(ha_host(), 4, x, y));
    HA_READING(v, y, ha_host()) assert_true(v.data[3] == 2);
    HA_CHECK(harray_float_free(&x));
    HA_CHECK(harray_float_free(&y));
    HA_CHECK(harray_double_free(&d));
    HA_CHECK(array_double_2_free(&u));
    HA_CHECK(harray_star_free(&s));
    HA_CHECK(stars_free(&r));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_found),
                                       cmocka_unit_test(what_is_refused)};
    if (setenv("HARRAY_OPENCL", "double=no", 1)) return 1;
    gpu = ha_context_find("opencl:0");
    if (!gpu) (void)ha_take_error();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? failed : ha_shutdown() != HA_OK;
}
