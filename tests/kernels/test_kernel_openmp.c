/* Kernels in a file with OpenMP: who runs which lanes on the host. */
#define HARRAY_IMPLEMENTATION
#include "../../harray_kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#ifdef _OPENMP
typedef struct star {
    int thread;
    float x;
} star;
#define star_FIELDS (int, thread), (float, x)
HA_RECORD(star)
HA_VIEW(sky, star, 2, HA_ANY)
HA_RECORDS(stars, sky);
HA_ARRAY(int, 1);
HA_ARRAY(int, 2);

HA_KERNEL(who, ((out, int, t)), i, { t[i] = omp_get_thread_num(); });
HA_KERNEL(who_in_rows, ((option, grain, 100), (out, array_int_2, t)), (j, i),
          { HA_AT(t, j, i) = omp_get_thread_num(); });
HA_KERNEL_EACH(who_of_records, (stars, p, "write thread"), (), at,
               { *sky_thread(p, at) = omp_get_thread_num(); });

HA_REDUCE(greatest_thread, ((in, double, x)), i, int32_t, HA_MAX,
          omp_get_thread_num() + 0 * (int32_t)x[i]);
HA_REDUCE(sum, ((in, double, x)), i, double, HA_SUM, x[i]);
HA_REDUCE(sum_of_rows, ((in, array_double_2, u)), (j, i), double, HA_SUM, HA_AT(u, j, i));

/* clang's libomp loses some memory of its own when the number of threads changes. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libomp.so"; }

static int threads; /* that a region has here */

/* In order, each as many as the others, or one more. */
static void expect_shares(const int *t, int n, int stride) {
    int counts[64] = {0};
    for (int i = 0; i < n; i++) {
        assert_in_range(t[i * stride], i ? t[(i - 1) * stride] : 0, threads - 1);
        counts[t[i * stride]]++;
    }
    for (int k = 0; k < threads; k++) assert_in_range(counts[k], n / threads, n / threads + 1);
}

static void expect_one(const int *t, int n) {
    for (int i = 0; i < n; i++) assert_int_equal(t[i], 0);
}

static void many_lanes(void **state) {
    harray_int t = harray_int_filled(10001, -1);
    (void)state;
    HA_CHECK(who(ha_host(), HA_ALL_LANES, t));
    HA_READING(v, t, ha_host()) expect_shares(v.data, 10001, 1);
    HA_CHECK(who(ha_host(), 8191, t));
    HA_READING(v, t, ha_host()) expect_one(v.data, 8191);
    HA_CHECK(who(ha_host(), 8192, t));
    HA_READING(v, t, ha_host()) expect_shares(v.data, 8192, 1);
    HA_CHECK(who_in(ha_host(), ha_box1(1000, 9500), t));
    HA_READING(v, t, ha_host()) expect_shares(v.data + 1000, 8500, 1);
    HA_CHECK(harray_int_free(&t));
}

static void inside_of_a_region(void **state) {
    harray_int t = harray_int_filled(10001, -1);
    (void)state;
#pragma omp parallel
#pragma omp single
    HA_CHECK(who(ha_host(), HA_ALL_LANES, t));
    HA_READING(v, t, ha_host()) for (int i = 1; i < 10001; i++) {
        assert_int_equal(v.data[i], v.data[0]);
    }
    HA_CHECK(harray_int_free(&t));
}

static void lanes_that_are_work(void **state) {
    array_int_2 t = array_int_2_filled(HA_DIM(9, 10), -1, NULL);
    (void)state;
    HA_CHECK(who_in_rows(ha_host(), HA_DIM(9, 10), t));
    HA_READING(v, t, ha_host()) expect_shares(v.data, 9, 10);
    HA_CHECK(who_in_rows(ha_host(), HA_DIM(8, 10), t));
    HA_READING(v, t, ha_host()) expect_one(v.data, 80);
    HA_CHECK(array_int_2_free(&t));
}

static void records_by_rows_and_columns(void **state) {
    static const char *const layouts[] = {"soa", "soa@col", "aosoa(16,rows)"};
    (void)state;
    for (int l = 0; l < 3; l++) {
        stars r = stars_new(HA_DIM(100, 200));
        const int columns = l == 1, n = columns ? 200 : 100;
        int of[200];
        HA_CHECK(ha_records_layout(r.records, ha_host(), layouts[l]));
        HA_CHECK(who_of_records(ha_host(), r));
        HA_USING(v, r, ha_host(), "read thread") {
            HA_EACH(sky, v, at) {
                const int outermost = (int)ha_coordinate(at, columns);
                if (!ha_coordinate(at, !columns)) of[outermost] = *sky_thread(v, at);
                assert_int_equal(*sky_thread(v, at), of[outermost]);
            }
        }
        expect_shares(of, n, 1);
        HA_CHECK(stars_free(&r));
    }
}

static void parts_of_a_reduction(void **state) {
    int32_t of_some, of_many;
    harray_double x = harray_double_zeros(1 << 20);
    (void)state;
    HA_CHECK(greatest_thread(ha_host(), 4096, x, &of_some));
    HA_CHECK(greatest_thread(ha_host(), HA_ALL_LANES, x, &of_many));
    assert_int_equal(of_some, 0);
    assert_int_equal(of_many, threads - 1);
    HA_CHECK(harray_double_free(&x));
}

/* Regions are not opened in the parts of ha_set_parallel. */
static void in_one_piece_and_two(void *user, ha_run_part run, void *launch) {
    int *calls = user;
    ++*calls;
    run(launch, 1, 2);
    run(launch, 0, 2);
}

static void threads_of_the_program(void **state) {
    harray_int t = harray_int_filled(40000, -1);
    harray_double x = harray_double_zeros(1 << 20);
    int calls = 0;
    int32_t greatest;
    (void)state;
    ha_set_parallel(in_one_piece_and_two, &calls);
    HA_CHECK(who(ha_host(), HA_ALL_LANES, t));
    HA_READING(v, t, ha_host()) expect_one(v.data, 40000);
    HA_CHECK(greatest_thread(ha_host(), HA_ALL_LANES, x, &greatest));
    assert_int_equal(greatest, 0);
    assert_int_equal(calls, 2);
    ha_set_parallel(NULL, NULL);
    HA_CHECK(who(ha_host(), HA_ALL_LANES, t));
    HA_READING(v, t, ha_host()) expect_shares(v.data, 40000, 1);
    HA_CHECK(harray_int_free(&t));
    HA_CHECK(harray_double_free(&x));
}

/* In a region nothing is shared. */
static double sum_of_one_thread(harray_double x, int64_t n) {
    double sum_of_all = 0;
#pragma omp parallel
#pragma omp single
    HA_CHECK(sum(ha_host(), n, x, &sum_of_all));
    return sum_of_all;
}

static double sum_of_rows_of_one_thread(array_double_2 u) {
    double sum_of_all = 0;
#pragma omp parallel
#pragma omp single
    HA_CHECK(sum_of_rows(ha_host(), HA_DIM(301, 257), u, &sum_of_all));
    return sum_of_all;
}

static void fill(double *x, size_t n) {
    uint64_t random = 1;
    for (size_t i = 0; i < n; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        x[i] = (double)(random >> 40) / 3 - 1e6;
    }
}

static void same_bits_for_any_number_of_threads(void **state) {
    static const int64_t lanes[] = {1, 8191, 8192, 10001, 1 << 20, (1 << 20) + 1, 2500001};
    harray_double x = harray_double_zeros(2500001);
    array_double_2 u = array_double_2_zeros(HA_DIM(301, 257), NULL);
    (void)state;
    HA_WRITING(v, x, ha_host()) fill(v.data, v.size);
    HA_WRITING(v, u, ha_host()) fill(v.data, 301 * 257);
    for (int count = 1; count <= 7; count += 2) {
        double here;
        omp_set_num_threads(count);
        for (size_t k = 0; k < sizeof lanes / sizeof *lanes; k++) {
            HA_CHECK(sum(ha_host(), lanes[k], x, &here));
            assert_true(here == sum_of_one_thread(x, lanes[k]));
        }
        HA_CHECK(sum_of_rows(ha_host(), HA_DIM(301, 257), u, &here));
        assert_true(here == sum_of_rows_of_one_thread(u));
    }
    omp_set_num_threads(4);
    HA_CHECK(harray_double_free(&x));
    HA_CHECK(array_double_2_free(&u));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_lanes),
        cmocka_unit_test(inside_of_a_region),
        cmocka_unit_test(lanes_that_are_work),
        cmocka_unit_test(records_by_rows_and_columns),
        cmocka_unit_test(parts_of_a_reduction),
        cmocka_unit_test(threads_of_the_program),
        cmocka_unit_test(same_bits_for_any_number_of_threads),
    };
    omp_set_num_threads(4);
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? failed : ha_shutdown() != HA_OK;
}
#else
int main(void) { return 77; }
#endif
