/* Kernels' parameters beyond values and arrays, on every context: constants, options, bundles. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_kernels.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"

#include <math.h>

HA_KERNEL(polynomial, ((constant, double, c), (in, double, x), (out, double, y)), i, {
    double sum = 0;
    for (int k = (int)HA_SIZE(c) - 1; k >= 0; k--) sum = sum * x[i] + c[k];
    y[i] = sum;
});

HA_KERNEL(in_teams, ((option, block, 48), (value, int, step), (inout, int, x)), i,
          { x[i] += step; });

/* Without HARRAY_DEBUG, and on devices, there is nothing of what is traced. */
HA_DEVICE_CODE(
    tracing, HA_FN int traced_once(int x) {
        ha_trace_value(x);
        return x + 1;
    });
HA_KERNEL(traced, ((uses, tracing), (inout, int, x)), i, {
    ha_trace_value(x[i]++);
    if (i == 7) ha_trace_value(1.0 * x[i]);
    x[i] = traced_once(x[i]);
});

/* The product has twice as many digits as a number: what is left of it shows whether it was rounded. */
HA_KERNEL(rest, ((in, double, x), (out, double, y)), i, { y[i] = x[i] * x[i] - 1.0; });
HA_KERNEL(rest_as_it_comes, ((option, contract, 1), (in, double, x), (out, double, y)), i,
          { y[i] = x[i] * x[i] - 1.0; });

/* Modes of all kinds in a bundle, and a second one of the same type. */
HA_BUNDLE(cross_sections, (value, int, materials), (in, double, energy), (constant, int, first),
          (in, array_double_2, total), (inout, int64_t, found));
HA_DEVICE_CODE(
    search, HA_FN int search_energy(ha_seen_cross_sections d, double e) {
        int low = 0, high = (int)HA_SIZE(d.energy);
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            if (d.energy[middle] > e)
                high = middle;
            else
                low = middle;
        }
        return low;
    });
HA_KERNEL(look_up, ((uses, search), (in, double, e), (bundle, cross_sections, d), (out, double, y)),
          i, {
              const int at = search_energy(d, e[i]), m = (int)(i % d.materials);
              y[i] = HA_AT(d.total, m, at) + d.first[m];
              d.found[i] = at;
          });
HA_KERNEL(between,
          ((bundle, cross_sections, low), (bundle, cross_sections, high), (out, double, y)), i,
          { y[i] = high.energy[i] - low.energy[i] + low.materials - high.materials; });

/* Six arrays that are read, and more: one parameter. */
HA_BUNDLE(six, (in, int, a), (in, int, b), (in, int, c), (in, int, d), (in, int, e), (in, int, f));
HA_KERNEL(sum_of_six, ((bundle, six, s), (out, int, y)), i,
          { y[i] = s.a[i] + s.b[i] + s.c[i] + s.d[i] + s.e[i] + s.f[i]; });

/* Three of twenty members: as many as there may be bytes of arguments on a device. */
HA_BUNDLE(twenty, (in, int, a0), (in, int, a1), (in, int, a2), (in, int, a3), (in, int, a4),
          (in, int, a5), (in, int, a6), (in, int, a7), (in, int, a8), (in, int, a9), (in, int, a10),
          (in, int, a11), (value, int, v0), (value, int, v1), (value, int, v2), (value, int, v3),
          (value, int, v4), (value, int, v5), (value, int, v6), (value, int, v7));
HA_DEVICE_CODE(
    weigh, HA_FN int weight_of(ha_seen_twenty s, ptrdiff_t i) {
        return 1 * s.a0[i] + 2 * s.a1[i] + 3 * s.a2[i] + 4 * s.a3[i] + 5 * s.a4[i] + 6 * s.a5[i] +
               7 * s.a6[i] + 8 * s.a7[i] + 9 * s.a8[i] + 10 * s.a9[i] + 11 * s.a10[i] +
               12 * s.a11[i] + 13 * s.v0 + 14 * s.v1 + 15 * s.v2 + 16 * s.v3 + 17 * s.v4 +
               18 * s.v5 + 19 * s.v6 + 20 * s.v7;
    });
HA_KERNEL(sum_of_sixty,
          ((uses, weigh), (bundle, twenty, s), (bundle, twenty, t), (bundle, twenty, u),
           (out, int, y)),
          i, { y[i] = weight_of(s, i) + 1000 * weight_of(t, i) + 1000000 * weight_of(u, i); });

KNOWN_KERNEL(polynomial)
KNOWN_KERNEL(in_teams)
KNOWN_KERNEL(traced)
KNOWN_KERNEL(rest)
KNOWN_KERNEL(rest_as_it_comes)
KNOWN_KERNEL(look_up)
KNOWN_KERNEL(between)
KNOWN_KERNEL(sum_of_six)
KNOWN_KERNEL(sum_of_sixty)
static const known_kernel *const known[] = {
    &polynomial_known, &traced_known,           &in_teams_known,
    &rest_known,       &rest_as_it_comes_known, &look_up_known,
    &between_known,    &sum_of_six_known,       &sum_of_sixty_known};

static int begin_kernels(void **state) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) know_kernel(known[i]);
    return begin_case(state);
}
#define KERNELS(name) cmocka_unit_test_setup_teardown(name, begin_kernels, end_case)

static void refused(ha_status got, const char *part, const char *other) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, HA_ERR_ARGUMENT);
    assert_int_equal(e.status, HA_ERR_ARGUMENT);
    if (!strstr(e.text, part) || !strstr(e.text, other) || !strstr(e.text, "cases_modes.c:"))
        fail_msg("'%s' lacks '%s' or '%s'", e.text, part, other);
}

/* ---- constants ----------------------------------------------------------------------------------- */

TEST(a_table_of_constants) {
    harray_double c = keep(harray_double_of(3, (double[]){1, -2, 0.5}));
    harray_double x = keep(harray_double_new(200)), y = keep(harray_double_new(200));
    HA_WRITING(v, x, H) for (size_t i = 0; i < 200; i++) v.data[i] = 0.25 * (double)i;
    SUCCEEDS(polynomial(C, HA_ALL_LANES, c, x, y)); /* as many lanes as there are x */
    HA_READING(v, y, H) {
        for (size_t i = 0; i < 200; i++) {
            const double at = 0.25 * (double)i;
            assert_true(v.data[i] == (0.5 * at + -2) * at + 1);
        }
    }
    else fail();
    drop(c), drop(x), drop(y);
}

TEST(constants_that_are_too_large) {
    harray_double c = keep(harray_double_zeros(8193)), x = keep(harray_double_filled(4, 2));
    harray_double y = keep(harray_double_filled(4, 7));
    refused(polynomial(C, HA_ALL_LANES, c, x, y), "c: a constant of 65544 bytes", "at most 65536");
    refused(polynomial(C, HA_ALL_LANES, y, x, y), "c: a constant", "the same array as y");
    HA_READING(v, y, H) for (size_t i = 0; i < 4; i++) assert_true(v.data[i] == 7);
    SUCCEEDS(harray_double_resize(c, 8192));
    SUCCEEDS(polynomial(C, HA_ALL_LANES, c, x, y));
    HA_READING(v, y, H) for (size_t i = 0; i < 4; i++) assert_true(v.data[i] == 0);
    drop(c), drop(x), drop(y);
}

/* ---- options ------------------------------------------------------------------------------------- */

TEST(teams_of_other_sizes) {
    harray_int x = harray_int_filled(1001, 3);
    keep_array(x.array);
    SUCCEEDS(in_teams(C, HA_ALL_LANES, 4, x));
    HA_READING(v, x, H) for (int i = 0; i < 1001; i++) assert_int_equal(v.data[i], 7);
    drop_array(x.array);
}

TEST(values_that_are_traced) {
    harray_int x = harray_int_filled(10, 3);
    keep_array(x.array);
    SUCCEEDS(traced(C, HA_ALL_LANES, x));
    HA_READING(v, x, H) for (int i = 0; i < 10; i++) assert_int_equal(v.data[i], 4);
    drop_array(x.array);
}

TEST(products_that_are_rounded) {
    const double eps = ldexp(1, -30), exact = 2 * eps + eps * eps;
    harray_double x = keep(harray_double_filled(100, 1 + eps)), y = keep(harray_double_new(100));
    SUCCEEDS(rest(C, HA_ALL_LANES, x, y));
    HA_READING(v, y, H) for (int i = 0; i < 100; i++) assert_true(v.data[i] == 2 * eps);
    SUCCEEDS(rest_as_it_comes(C, HA_ALL_LANES, x, y));
    HA_READING(v, y, H) {
        for (int i = 0; i < 100; i++) assert_true(v.data[i] == 2 * eps || v.data[i] == exact);
    }
    else fail();
    drop(x), drop(y);
}

/* What compilers are told, where none here fuses. */
TEST(what_compilers_are_told_of_products) {
    int unfit;
    char *apart = ha_kernel_text(&(ha_kernel_variant){.kernel = &rest_kernel}, HA_LANGUAGE_OPENCL_C,
                                 0, &unfit);
    char *fused = ha_kernel_text(&(ha_kernel_variant){.kernel = &rest_as_it_comes_kernel},
                                 HA_LANGUAGE_OPENCL_C, 0, &unfit);
    assert_non_null(strstr(apart, "FP_CONTRACT OFF"));
    assert_non_null(strstr(fused, "FP_CONTRACT ON"));
    assert_string_equal(ha_compiler_options(&rest_kernel, HA_LANGUAGE_CUDA), "--fmad=false");
    assert_string_equal(ha_compiler_options(&rest_as_it_comes_kernel, HA_LANGUAGE_CUDA),
                        "--fmad=true");
    HARRAY_FREE(apart);
    HARRAY_FREE(fused);
}

/* ---- bundles ------------------------------------------------------------------------------------- */

static cross_sections made_cross_sections(void) {
    cross_sections d = {.materials = 3,
                        .energy = harray_double_new(40),
                        .first = harray_int_of(3, (int[]){100, 200, 300}),
                        .total = array_double_2_zeros(HA_DIM(3, 40), C),
                        .found = harray_int64_t_filled(60, -1)};
    keep_array(d.energy.array), keep_array(d.first.array), keep_array(d.total.array);
    keep_array(d.found.array);
    HA_WRITING(v, d.energy, H) for (size_t i = 0; i < 40; i++) v.data[i] = (double)i;
    HA_WRITING(v, d.total, H) {
        for (int m = 0; m < 3; m++)
            for (int i = 0; i < 40; i++) HA_AT(v.span, m, i) = 1000 * m + i;
    }
    return d;
}

static void drop_cross_sections(cross_sections d) {
    drop_array(d.energy.array), drop_array(d.first.array), drop_array(d.total.array);
    drop_array(d.found.array);
}

TEST(several_arguments_as_one) {
    cross_sections d = made_cross_sections();
    harray_double e = keep(harray_double_new(50)), y = keep(harray_double_new(50));
    HA_WRITING(v, e, H) for (size_t i = 0; i < 50; i++) v.data[i] = 0.75 * (double)i;
    SUCCEEDS(look_up(C, HA_ALL_LANES, e, d, y));
    HA_READING(v, y, H) {
        for (int i = 0; i < 50; i++)
            assert_true(v.data[i] == 1000 * (i % 3) + 3 * i / 4 + 100 * (i % 3 + 1));
    }
    else fail();
    HA_READING(v, d.found, H) {
        for (int i = 0; i < 60; i++) assert_int_equal(v.data[i], i < 50 ? 3 * i / 4 : -1);
    }
    else fail();
    drop_cross_sections(d);
    drop(e), drop(y);
}

TEST(two_bundles_of_one_type) {
    cross_sections low = made_cross_sections(), high = low;
    harray_double y = keep(harray_double_new(40));
    high.energy = keep(harray_double_filled(40, 50));
    high.found = harray_int64_t_new(1);
    keep_array(high.found.array);
    high.materials = 1;
    SUCCEEDS(between(C, HA_ALL_LANES, low, high, y));
    HA_READING(v, y, H) for (int i = 0; i < 40; i++) assert_true(v.data[i] == 52 - i);
    drop(high.energy), drop_array(high.found.array);
    drop_cross_sections(low);
    drop(y);
}

TEST(six_arrays_and_more) {
    six s;
    harray_int *const all[] = {&s.a, &s.b, &s.c, &s.d, &s.e, &s.f};
    harray_int y = harray_int_new(30);
    keep_array(y.array);
    for (int k = 0; k < 6; k++) {
        *all[k] = harray_int_filled(30, 1 << k);
        keep_array(all[k]->array);
    }
    SUCCEEDS(sum_of_six(C, HA_ALL_LANES, s, y));
    HA_READING(v, y, H) for (int i = 0; i < 30; i++) assert_int_equal(v.data[i], 63);
    for (int k = 0; k < 6; k++) drop_array(all[k]->array);
    drop_array(y.array);
}

/* The k-th member, from 1 on, is once `first` and else 0, so that its weight shows. */
static twenty twenty_of(harray_int ones, harray_int none, int k) {
    const harray_int a[12] = {none, none, none, none, none, none,
                              none, none, none, none, none, none};
    twenty s = {a[0],  a[1],  a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9],
                a[10], a[11], 0,    0,    0,    0,    0,    0,    0,    0};
    harray_int *const array[12] = {&s.a0, &s.a1, &s.a2, &s.a3, &s.a4,  &s.a5,
                                   &s.a6, &s.a7, &s.a8, &s.a9, &s.a10, &s.a11};
    int *const value[8] = {&s.v0, &s.v1, &s.v2, &s.v3, &s.v4, &s.v5, &s.v6, &s.v7};
    if (k > 12)
        *value[k - 13] = 1;
    else
        *array[k - 1] = ones;
    return s;
}

TEST(sixty_arguments) {
    harray_int ones = harray_int_filled(30, 1), none = harray_int_zeros(30),
               y = harray_int_zeros(30);
    keep_array(ones.array), keep_array(none.array), keep_array(y.array);
    for (int k = 1; k <= 20; k++) {
        const twenty s = twenty_of(ones, none, k), t = twenty_of(ones, none, k % 20 + 1),
                     u = twenty_of(ones, none, 21 - k);
        SUCCEEDS(sum_of_sixty(C, HA_ALL_LANES, s, t, u, y));
        HA_READING(v, y, H)
        assert_int_equal(v.data[29], k + 1000 * (k % 20 + 1) + 1000000 * (21 - k));
        else fail();
    }
    drop_array(ones.array), drop_array(none.array), drop_array(y.array);
}

TEST(refused_with_the_name_of_the_member) {
    cross_sections d = made_cross_sections(), lacking = d;
    harray_double e = keep(harray_double_filled(50, 1)), y = keep(harray_double_filled(50, 7));
    lacking.energy = (harray_double){NULL};
    refused(look_up(C, HA_ALL_LANES, e, lacking, y), "d.energy: no array", "");
    lacking = d;
    lacking.first = harray_int_zeros(1 << 15);
    keep_array(lacking.first.array);
    refused(look_up(C, HA_ALL_LANES, e, lacking, y), "d.first: a constant of 131072 bytes",
            "65536");
    HA_READING(v, y, H) for (int i = 0; i < 50; i++) assert_true(v.data[i] == 7);
    drop_array(lacking.first.array);
    drop_cross_sections(d);
    drop(e), drop(y);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        KERNELS(a_table_of_constants),
        KERNELS(constants_that_are_too_large),
        KERNELS(teams_of_other_sizes),
        KERNELS(values_that_are_traced),
        KERNELS(products_that_are_rounded),
        KERNELS(what_compilers_are_told_of_products),
        KERNELS(several_arguments_as_one),
        KERNELS(two_bundles_of_one_type),
        KERNELS(six_arrays_and_more),
        KERNELS(sixty_arguments),
        KERNELS(refused_with_the_name_of_the_member),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
