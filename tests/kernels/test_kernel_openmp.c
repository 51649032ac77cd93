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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_lanes),
        cmocka_unit_test(inside_of_a_region),
        cmocka_unit_test(lanes_that_are_work),
        cmocka_unit_test(records_by_rows_and_columns),
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
