/* Operations compiled for some types only (HARRAY_OPS_TYPES): those are there, as is what moves elements of any type, or uses
 * indices; all else is refused by name. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define HARRAY_OPS_TYPES double, bfloat16
#include "../../harray_ops.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#define SUCCEEDS(call) assert_int_equal(call, HA_OK)
enum { N = 1000 };

static void unsupported(ha_status got, const char *type) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, HA_ERR_UNSUPPORTED);
    assert_non_null(strstr(e.text, "HARRAY_OPS_TYPES"));
    assert_non_null(strstr(e.text, type));
}

static void listed_types(void **state) {
    harray_double x = harray_double_new(N), y = harray_double_filled(N, 2);
    harray_bfloat16 b = harray_bfloat16_filled(4, ha_bfloat16_of_float(3));
    double sum = 0, norm = 0;
    (void)state;
    SUCCEEDS(ha_sequence(x, 1, 1, NULL));
    SUCCEEDS(ha_axpy(y, 2, x, NULL));
    SUCCEEDS(ha_reduce(HA_SUM, y, &sum, NULL));
    assert_true(sum == 2 * N + 2.0 * N * (N + 1) / 2);
    SUCCEEDS(ha_scan(HA_SUM, y, x, HA_INCLUSIVE, NULL));
    HA_READING(v, y, ha_host()) assert_true(v.data[N - 1] == N * (N + 1) / 2);
    SUCCEEDS(ha_norm(HA_NORM_MAX, x, &norm, NULL));
    assert_true(norm == N);
    SUCCEEDS(ha_random(x, 1, NULL));
    SUCCEEDS(ha_map(HA_SQUARE, b, b, NULL));
    SUCCEEDS(ha_reduce(HA_SUM, b, &sum, NULL));
    assert_true(sum == 36);
    SUCCEEDS(harray_double_free(&x));
    SUCCEEDS(harray_double_free(&y));
    SUCCEEDS(harray_bfloat16_free(&b));
}

/* Of all types: integers of 32 and 64 bits in all roles, and elements of any size. */
static void other_types_are_moved(void **state) {
    harray_int32_t counts = harray_int32_t_filled(N, 3), offsets = harray_int32_t_new(N + 1);
    harray_int64_t keys = harray_int64_t_new(N), at = harray_int64_t_new(N);
    harray_float f = harray_float_filled(N, 1), g = harray_float_filled(N, 2);
    harray_c128 z = harray_c128_filled(N, ha_c128_make(1, 2));
    harray_uint8_t mask = harray_uint8_t_new(N);
    harray_int64_t keys_of_2 = harray_int64_t_filled(N, 2), both_at = harray_int64_t_new(N);
    harray_double x = harray_double_filled(N, 1), both = harray_double_new(N);
    int64_t count = 0;
    (void)state;
    SUCCEEDS(ha_scan_offsets(offsets, counts, NULL));
    HA_READING(v, offsets, ha_host()) assert_int_equal(v.data[N], 3 * N);
    SUCCEEDS(ha_scan_offsets(offsets, keys_of_2, NULL));
    HA_READING(v, offsets, ha_host()) assert_int_equal(v.data[N], 2 * N);
    SUCCEEDS(ha_sequence(at, 0, 1, NULL));
    SUCCEEDS(ha_sparse_combine(HA_ADD, both_at, both, at, x, at, x, &count, NULL));
    assert_int_equal(count, N);
    HA_READING(v, both, ha_host()) assert_true(v.data[N - 1] == 2);
    SUCCEEDS(ha_sequence(keys, N, -1, NULL));
    SUCCEEDS(ha_sorting(at, keys, HA_ASCENDING, NULL));
    SUCCEEDS(ha_sort_by_key(keys, f, HA_ASCENDING, NULL));
    SUCCEEDS(ha_combine_number(HA_IS_GREATER, mask, keys, 10, NULL));
    SUCCEEDS(ha_count(mask, &count, NULL));
    assert_int_equal(count, N - 10);
    SUCCEEDS(ha_where(f, mask, g, f, NULL));
    SUCCEEDS(ha_gather(g, f, at, NULL));
    SUCCEEDS(ha_find(at, mask, &count, NULL));
    SUCCEEDS(ha_unique(at, keys, &count, NULL));
    assert_int_equal(count, N);
    SUCCEEDS(ha_lower_bound(at, keys, keys, NULL));
    SUCCEEDS(darray_fill(darray_slice(HA_DARRAY(z), 0, 0, N / 2, 2), HA_DVALUE(ha_c128_make(3, 4)),
                         NULL));
    HA_READING(v, z, ha_host()) assert_true(v.data[2].im == 4 && v.data[1].im == 2);
    HA_READING(v, g, ha_host()) assert_true(v.data[0] == 2 && v.data[N - 1] == 1);
    SUCCEEDS(harray_int64_t_free(&keys_of_2));
    SUCCEEDS(harray_int64_t_free(&both_at));
    SUCCEEDS(harray_double_free(&x));
    SUCCEEDS(harray_double_free(&both));
    SUCCEEDS(harray_int32_t_free(&counts));
    SUCCEEDS(harray_int32_t_free(&offsets));
    SUCCEEDS(harray_int64_t_free(&keys));
    SUCCEEDS(harray_int64_t_free(&at));
    SUCCEEDS(harray_float_free(&f));
    SUCCEEDS(harray_float_free(&g));
    SUCCEEDS(harray_c128_free(&z));
    SUCCEEDS(harray_uint8_t_free(&mask));
}

/* bfloat16 brings the arithmetic of float, and so that of half. */
static void others_are_refused(void **state) {
    harray_float f = harray_float_filled(4, 2);
    harray_half h = harray_half_filled(4, ha_half_of_float(2));
    harray_c64 z = harray_c64_filled(4, ha_c64_make(1, 1));
    harray_uint32_t u = harray_uint32_t_filled(4, 7);
    double sum = 0;
    (void)state;
    SUCCEEDS(ha_map(HA_SQUARE, h, h, NULL));
    SUCCEEDS(ha_map(HA_SQUARE, f, f, NULL));
    HA_READING(v, h, ha_host()) assert_true(ha_half_to_float(v.data[3]) == 4);
    unsupported(ha_axpy(z, 2, z, NULL), "c64");
    unsupported(ha_map(HA_NEGATE, z, z, NULL), "c64");
    unsupported(ha_scan(HA_SUM, z, z, HA_INCLUSIVE, NULL), "c64");
    unsupported(ha_norm(HA_NORM_2, z, &sum, NULL), "c64");
    unsupported(ha_random(z, 1, NULL), "c64");
    unsupported(ha_combine(HA_MULTIPLY, u, u, u, NULL), "uint32_t");
    unsupported(ha_norm(HA_NORM_2, u, &sum, NULL), "uint32_t");
    HA_READING(v, u, ha_host()) assert_true(v.data[0] == 7);
    HA_READING(v, z, ha_host()) assert_true(v.data[0].im == 1);
    SUCCEEDS(harray_float_free(&f));
    SUCCEEDS(harray_half_free(&h));
    SUCCEEDS(harray_c64_free(&z));
    SUCCEEDS(harray_uint32_t_free(&u));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(listed_types),
                                       cmocka_unit_test(other_types_are_moved),
                                       cmocka_unit_test(others_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
