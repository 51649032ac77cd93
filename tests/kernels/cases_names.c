/* Names in bodies: C's mean what they mean in C, the user's own are his, on every context. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_kernels.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"

#include <float.h>
#include <limits.h>
#include <math.h>

enum { N = 40 };

/* OpenCL's abs gives an unsigned number, which is never below zero; CUDA's may be of floating point. */
HA_KERNEL(signs, ((in, int, x), (out, int, y), (out, int64_t, z)), i, {
    y[i] = abs(x[i]) - 10 < 0 ? 1 : 2;
    z[i] = llabs(x[i] * INT64_C(3000000000)) - labs(x[i]) - 7;
});

/* Of a float C computes it in double; both languages do not. */
HA_KERNEL(scaled, ((in, float, x), (out, double, y), (out, float, z)), i, {
    y[i] = ldexp(x[i], 200);
    z[i] = ldexpf(x[i], -3);
});

HA_KERNEL(constants, ((out, double, y), (out, int64_t, n), (out, float, z)), i, {
    const double reals[] = {HUGE_VAL, DBL_MAX, DBL_MIN, DBL_EPSILON, M_PI, M_SQRT1_2, INFINITY};
    const int64_t numbers[] = {INT8_MIN,  INT8_MAX,  UINT8_MAX,  INT16_MIN, INT16_MAX, UINT16_MAX,
                               INT32_MIN, INT32_MAX, UINT32_MAX, INT64_MIN, INT64_MAX, INT_MIN,
                               INT_MAX,   UINT_MAX,  LONG_MIN,   LONG_MAX,  CHAR_BIT,  UINT8_C(7)};
    const uint64_t largest = UINT64_MAX - UINT64_C(3);
    y[i] = reals[i % 7];
    n[i] = i == 18 ? (int64_t)(largest / 3) : i == 19 ? (SIZE_MAX == UINT64_MAX) : numbers[i % 18];
    z[i] = i % 3 == 0 ? FLT_MAX : i % 3 == 1 ? FLT_EPSILON : -INFINITY;
});

/* Functions that OpenCL or CUDA has as well, which do something else. */
HA_DEVICE_CODE(
    helpers,
    HA_FN float clamp(float x, float most) {
        return x > most ? most : x;
    } HA_FN int max(int a, int b) { return a > b ? a + 100 : b + 100; } HA_FN double mix(double x) {
        return x + 2;
    });
HA_KERNEL(with_helpers, ((uses, helpers), (in, float, x), (out, float, y)), i,
          { y[i] = clamp(x[i], 3) + (float)max((int)i, 7) + (float)mix(x[i]); });

/* Words of OpenCL C and of C++; members of a struct are among them. */
typedef struct way {
    int length, all;
} way;
#define way_FIELDS (int, length), (int, all)
HA_RECORD(way)
HARRAY(way);
HA_KERNEL(with_words, ((value, int, local), (value, int, kernel), (in, way, global), (out, int, y)),
          i, {
              const int class = local * 2, select = global[i].length;
              int new = class + kernel;
              y[i] = new + select + global[i].all;
          });

static float sign(float x); /* here alone, and another one in OpenCL */
static float sign(float x) { return x < 0 ? -5.f : 5.f; }
HA_KERNEL(not_told, ((in, float, x), (out, float, y)), i, { y[i] = sign(x[i]); });

KNOWN_KERNEL(signs)
KNOWN_KERNEL(scaled)
KNOWN_KERNEL(constants)
KNOWN_KERNEL(with_helpers)
KNOWN_KERNEL(with_words)
KNOWN_KERNEL(not_told)
static const known_kernel *const known[] = {&signs_known,      &scaled_known,
                                            &constants_known,  &with_helpers_known,
                                            &with_words_known, &not_told_known};

static int begin_names(void **state) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) know_kernel(known[i]);
    return begin_case(state);
}
#define NAMES(name) cmocka_unit_test_setup_teardown(name, begin_names, end_case)

static harray_int numbers(void) {
    harray_int x = harray_int_new(N);
    keep_array(x.array);
    HA_OVERWRITING(v, x, H, N) for (int i = 0; i < N; i++) v.data[i] = i - N / 2;
    return x;
}
static harray_float reals(void) {
    harray_float x = harray_float_new(N);
    keep_array(x.array);
    HA_OVERWRITING(v, x, H, N) for (int i = 0; i < N; i++) v.data[i] = 1.5f * (float)(i - N / 2);
    return x;
}

TEST(integers_without_their_sign) {
    harray_int x = numbers(), y = harray_int_new(N);
    harray_int64_t z = harray_int64_t_new(N);
    keep_array(y.array), keep_array(z.array);
    SUCCEEDS(signs(C, HA_ALL_LANES, x, y, z));
    HA_READING(v, y, H) HA_READING(w, z, H) {
        for (int i = 0; i < N; i++) {
            const int64_t a = i < N / 2 ? N / 2 - i : i - N / 2;
            assert_int_equal(v.data[i], a < 10 ? 1 : 2);
            assert_int_equal(w.data[i], a * 3000000000 - a - 7);
        }
    }
    drop_array(x.array), drop_array(y.array), drop_array(z.array);
}

TEST(powers_of_two) {
    harray_float x = reals(), z = harray_float_new(N);
    harray_double y = harray_double_new(N);
    keep_array(y.array), keep_array(z.array);
    SUCCEEDS(scaled(C, HA_ALL_LANES, x, y, z));
    HA_READING(a, x, H) HA_READING(v, y, H) HA_READING(w, z, H) {
        for (int i = 0; i < N; i++) {
            assert_true(v.data[i] == (double)a.data[i] * 0x1p200);
            assert_true(w.data[i] == a.data[i] / 8);
        }
    }
    drop_array(x.array), drop_array(y.array), drop_array(z.array);
}

TEST(constants_of_C) {
    harray_double y[2];
    harray_int64_t n[2];
    harray_float z[2];
    for (int k = 0; k < 2; k++) {
        y[k] = harray_double_new(N), n[k] = harray_int64_t_new(N), z[k] = harray_float_new(N);
        keep_array(y[k].array), keep_array(n[k].array), keep_array(z[k].array);
        SUCCEEDS(constants(k ? C : H, HA_ALL_LANES, y[k], n[k], z[k]));
    }
    HA_READING(a, y[0], H)
    HA_READING(b, y[1], H) assert_memory_equal(a.data, b.data, N * sizeof *a.data);
    HA_READING(a, n[0], H) HA_READING(b, n[1], H) {
        assert_memory_equal(a.data, b.data, N * sizeof *a.data);
        assert_true(b.data[9] == INT64_MIN && b.data[8] == 4294967295 && b.data[19] == 1);
    }
    HA_READING(a, z[0], H)
    HA_READING(b, z[1], H) assert_memory_equal(a.data, b.data, N * sizeof *a.data);
    for (int k = 0; k < 2; k++)
        drop_array(y[k].array), drop_array(n[k].array), drop_array(z[k].array);
}

TEST(helpers_are_the_users_own) {
    harray_float x = reals(), y = harray_float_new(N);
    keep_array(y.array);
    SUCCEEDS(with_helpers(C, HA_ALL_LANES, x, y));
    HA_READING(a, x, H) HA_READING(v, y, H) {
        for (int i = 0; i < N; i++) {
            const float f = a.data[i];
            assert_true(v.data[i] == (f > 3 ? 3 : f) + (float)(i > 7 ? i + 100 : 107) + (f + 2));
        }
    }
    drop_array(x.array), drop_array(y.array);
}

TEST(words_are_the_users_own) {
    const way one = {5, 9};
    harray_way x = harray_way_filled(N, one);
    harray_int y = harray_int_new(N);
    keep_array(x.array), keep_array(y.array);
    SUCCEEDS(with_words(C, HA_ALL_LANES, 10, 1000, x, y));
    HA_READING(v, y, H) assert_int_equal(v.data[N - 1], 20 + 1000 + 5 + 9);
    else fail();
    drop_array(x.array), drop_array(y.array);
}

/* What a device has not been told is refused there: the language's own function is not taken for it. */
TEST(what_a_device_was_not_told) {
    char text[300];
    harray_float x = reals(), y = harray_float_new(N);
    keep_array(y.array);
    (void)ha_kernel_place(&not_told_kernel, C, text, sizeof text);
    const int is_compiled = strstr(text, ": compiled for it") != NULL;
    const ha_status s = not_told(C, HA_ALL_LANES, x, y);
    const ha_error e = ha_take_error();
    assert_int_equal(s, is_compiled ? HA_ERR_COMPILE : HA_OK);
    if (s && !strstr(e.text, "sign")) fail_msg("%s", e.text);
    if (!s) HA_READING(v, y, H) assert_true(v.data[0] < -4.f && v.data[N - 1] > 4.f);
    drop_array(x.array), drop_array(y.array);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        NAMES(integers_without_their_sign),
        NAMES(powers_of_two),
        NAMES(constants_of_C),
        NAMES(helpers_are_the_users_own),
        NAMES(words_are_the_users_own),
        NAMES(what_a_device_was_not_told),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
