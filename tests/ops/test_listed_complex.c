/* Operations compiled for complex numbers of floats alone: their sizes are floats, whose arithmetic is not there. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define HARRAY_OPS_TYPES c64, int8_t
#include "../../harray_ops.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#define SUCCEEDS(call) assert_int_equal(call, HA_OK)
enum { N = 300 };

static void complex_numbers(void **state) {
    harray_c64 z = harray_c64_filled(N, ha_c64_make(3, 4)),
               w = harray_c64_filled(N, ha_c64_make(3, 3));
    ha_c64 sum;
    double norm = 0;
    (void)state;
    for (int kind = HA_NORM_1; kind <= HA_NORM_MAX; kind++) {
        const double times = kind == HA_NORM_1 ? N : kind == HA_NORM_2 ? sqrt(N) : 1;
        SUCCEEDS(ha_norm((ha_norm_kind)kind, z, &norm, NULL));
        assert_true(fabs(norm - 5 * times) < 1e-3);
        SUCCEEDS(ha_difference((ha_norm_kind)kind, z, w, &norm, NULL));
        assert_true(fabs(norm - times) < 1e-3);
    }
    SUCCEEDS(ha_reduce(HA_SUM, z, &sum, NULL));
    assert_true(sum.re == 3 * N && sum.im == 4 * N);
    SUCCEEDS(ha_map(HA_SQRT, z, z, NULL)); /* 2 + i */
    SUCCEEDS(ha_scan(HA_SUM, w, z, HA_INCLUSIVE, NULL));
    HA_READING(v, w, ha_host()) assert_true(v.data[N - 1].re == 2 * N && v.data[N - 1].im == N);
    SUCCEEDS(harray_c64_free(&z));
    SUCCEEDS(harray_c64_free(&w));
}

static void no_floats(void **state) {
    harray_float f = harray_float_filled(N, 1);
    double norm = 0;
    (void)state;
    assert_int_equal(ha_norm(HA_NORM_1, f, &norm, NULL), HA_ERR_UNSUPPORTED);
    const ha_error e = ha_take_error();
    assert_non_null(strstr(e.text, "float is not among HARRAY_OPS_TYPES"));
    SUCCEEDS(harray_float_free(&f));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(complex_numbers),
                                       cmocka_unit_test(no_floats)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
