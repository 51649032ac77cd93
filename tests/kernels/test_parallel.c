/* Loops of kernels by a program's own threads: ha_set_parallel. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <cmocka.h>

#define TEST(name) static void name(HA_UNUSED void **state)

typedef struct star {
    int part, count;
} star;
#define star_FIELDS (int, part), (int, count)
HA_RECORD(star)
HA_VIEW(sky, star, 2, HA_ANY)
HA_RECORDS(stars, sky);
HA_ARRAY(int, 1);
HA_ARRAY(int, 2);

static _Thread_local int me; /* the part that the thread runs */

HA_KERNEL(who, ((out, int, part), (inout, int, count)), i, {
    part[i] = me;
    count[i]++;
});
HA_KERNEL(who_in_rows,
          ((option, grain, 100), (out, array_int_2, part), (inout, array_int_2, count)), (j, i), {
              HA_AT(part, j, i) = me;
              HA_AT(count, j, i)++;
          });
HA_KERNEL_EACH(who_of_records, (stars, p, "write part+count"), (), at, {
    *sky_part(p, at) = me;
    ++*sky_count(p, at);
});
HA_TEAM_KERNEL(who_of_teams, 64, g, ((out, int, part), (inout, int, count)), {
    HA_LANES_ALONE(l) {
        part[g * HA_TEAM + l] = me;
        count[g * HA_TEAM + l]++;
}
});
HA_REDUCE(sum, ((in, double, x)), i, double, HA_SUM, x[i]);
HA_REDUCE(sum_of_rows, ((in, array_double_2, u)), (j, i), double, HA_SUM, HA_AT(u, j, i));
HA_REDUCE(greatest_part, ((in, double, x)), i, int32_t, HA_MAX, me + 0 * (int32_t)x[i]);
HA_REDUCE(heavy, ((option, grain, 1000), (in, double, x)), i, int32_t, HA_MAX,
          me + 0 * (int32_t)x[i]);

/* ---- threads ------------------------------------------------------------------------------------- */

enum { MOST = 7, MANY = 10001 };
static struct {
    int parts;
    atomic_int calls, wrong;
} team;

typedef struct piece {
    ha_run_part run;
    void *launch;
    int part, parts;
} piece;

static void *run_piece(void *argument) {
    const piece *p = argument;
    me = p->part;
    p->run(p->launch, p->part, p->parts);
    return NULL;
}

static void by_threads(void *user, ha_run_part run, void *launch) {
    pthread_t thread[MOST];
    piece all[MOST];
    team.calls++;
    team.wrong += user != &team;
    for (int k = 0; k < team.parts; k++) {
        all[k] = (piece){run, launch, k, team.parts};
        if (pthread_create(&thread[k], NULL, run_piece, &all[k])) abort();
    }
    for (int k = 0; k < team.parts; k++) pthread_join(thread[k], NULL);
}

static void backwards(HA_UNUSED void *user, ha_run_part run, void *launch) {
    team.calls++;
    for (int k = team.parts; k-- > 0;) {
        me = k;
        run(launch, k, team.parts);
    }
    me = 0;
}

/* What nobody should do. */
static void nothing(HA_UNUSED void *user, HA_UNUSED ha_run_part run, HA_UNUSED void *launch) {
    team.calls++;
}
static void some(HA_UNUSED void *user, ha_run_part run, void *launch) {
    team.calls++;
    for (int k = 1; k < team.parts; k += 2) run(launch, k, team.parts);
}
static void twice(HA_UNUSED void *user, ha_run_part run, void *launch) {
    team.calls++;
    for (int k = 0; k < 2 * team.parts; k++) run(launch, k / 2, team.parts);
}
static void of_other_numbers(HA_UNUSED void *user, ha_run_part run, void *launch) {
    team.calls++;
    run(launch, 0, 0);
    run(launch, 0, 1025);
    run(launch, -1, team.parts);
    run(launch, team.parts, team.parts);
    run(launch, 0, team.parts);
    run(launch, 0, team.parts + 1);
    run(launch, team.parts, team.parts + 1);
}
static void very_many(HA_UNUSED void *user, ha_run_part run, void *launch) {
    team.calls++;
    for (int k = 0; k < 1024; k++) run(launch, k, 1024);
}

static int end_test(HA_UNUSED void **state) {
    ha_set_parallel(NULL, NULL);
    return team.wrong || ha_take_error().status;
}

static void begin(ha_parallel function, int parts) {
    team.parts = parts;
    team.calls = 0;
    me = 0;
    ha_set_parallel(function, &team);
}

/* ---- who runs which lanes ------------------------------------------------------------------------ */

/* In order, each as many as the others, or one more. */
static void expect_parts(const int *part, int n, int stride) {
    int counts[MOST] = {0};
    for (int i = 0; i < n; i++) {
        assert_in_range(part[i * stride], i ? part[(i - 1) * stride] : 0, team.parts - 1);
        counts[part[i * stride]]++;
    }
    for (int k = 0; k < team.parts; k++)
        assert_in_range(counts[k], n / team.parts, n / team.parts + 1);
}

static void expect_all(const int *number, int n, int value) {
    for (int i = 0; i < n; i++) assert_int_equal(number[i], value);
}

static void run_lanes(int calls) {
    harray_int part = harray_int_filled(MANY, -1), count = harray_int_zeros(MANY);
    HA_CHECK(who(ha_host(), HA_ALL_LANES, part, count));
    assert_int_equal(team.calls, calls);
    HA_READING(v, count, ha_host()) expect_all(v.data, MANY, 1);
    HA_READING(v, part, ha_host()) expect_parts(v.data, MANY, 1);
    HA_CHECK(who_in(ha_host(), ha_box1(1000, 9500), part, count));
    assert_int_equal(team.calls, 2 * calls);
    HA_READING(v, count, ha_host()) {
        expect_all(v.data, 1000, 1);
        expect_all(v.data + 1000, 8500, 2);
        expect_all(v.data + 9500, MANY - 9500, 1);
    }
    HA_READING(v, part, ha_host()) expect_parts(v.data + 1000, 8500, 1);
    HA_CHECK(harray_int_free(&part));
    HA_CHECK(harray_int_free(&count));
}

static void run_rows(void) {
    array_int_2 part = array_int_2_filled(HA_DIM(9, 10), -1, NULL);
    array_int_2 count = array_int_2_zeros(HA_DIM(9, 10), NULL);
    HA_CHECK(who_in_rows(ha_host(), HA_DIM(9, 10), part, count));
    HA_READING(v, count, ha_host()) expect_all(v.data, 90, 1);
    HA_READING(v, part, ha_host()) expect_parts(v.data, 9, 10);
    HA_CHECK(array_int_2_free(&part));
    HA_CHECK(array_int_2_free(&count));
}

static void run_teams(void) {
    harray_int part = harray_int_filled(200 * 64, -1), count = harray_int_zeros(200 * 64);
    HA_CHECK(who_of_teams(ha_host(), 200, part, count));
    HA_READING(v, count, ha_host()) expect_all(v.data, 200 * 64, 1);
    HA_READING(v, part, ha_host()) expect_parts(v.data, 200, 64);
    HA_CHECK(harray_int_free(&part));
    HA_CHECK(harray_int_free(&count));
}

static void run_records(const char *layout, int columns) {
    stars r = stars_new(HA_DIM(100, 200));
    int of[200];
    HA_CHECK(ha_records_layout(r.records, ha_host(), layout));
    HA_USING(v, r, ha_host(), "overwrite")
    HA_EACH(sky, v, at) * sky_part(v, at) = *sky_count(v, at) = 0;
    HA_CHECK(who_of_records(ha_host(), r));
    HA_USING(v, r, ha_host(), "read") {
        HA_EACH(sky, v, at) {
            const int outermost = (int)ha_coordinate(at, columns);
            assert_int_equal(*sky_count(v, at), 1);
            if (!ha_coordinate(at, !columns)) of[outermost] = *sky_part(v, at);
            assert_int_equal(*sky_part(v, at), of[outermost]);
        }
    }
    expect_parts(of, columns ? 200 : 100, 1);
    HA_CHECK(stars_free(&r));
}

TEST(each_lane_once) {
    for (int parts = 1; parts <= MOST; parts++) {
        begin(by_threads, parts);
        run_lanes(1);
        run_rows();
        run_teams();
        run_records("soa", 0);
        run_records("soa@col", 1);
        run_records("aosoa(16,rows)", 0);
        assert_int_equal(team.calls, 7);
    }
}

TEST(in_any_order) {
    begin(backwards, 5);
    run_lanes(1);
    run_rows();
    run_teams();
    run_records("soa@col", 1);
}

static void run_anyhow(ha_parallel function, int parts) {
    array_int_2 part = array_int_2_filled(HA_DIM(9, 10), -1, NULL);
    array_int_2 count = array_int_2_zeros(HA_DIM(9, 10), NULL);
    begin(function, parts);
    HA_CHECK(who_in_rows(ha_host(), HA_DIM(9, 10), part, count));
    assert_int_equal(team.calls, 1);
    HA_READING(v, count, ha_host()) expect_all(v.data, 90, 1);
    HA_CHECK(array_int_2_free(&part));
    HA_CHECK(array_int_2_free(&count));
}

/* Not even a function that does what it should not leaves out a lane, or has one run twice. */
TEST(whatever_the_function_does) {
    run_anyhow(nothing, 4);
    run_anyhow(some, 5);
    run_anyhow(twice, 3);
    run_anyhow(of_other_numbers, 4);
    run_anyhow(very_many, 1024);
}

/* ---- when ---------------------------------------------------------------------------------------- */

TEST(small_launches_stay_here) {
    harray_int part = harray_int_filled(MANY, -1), count = harray_int_zeros(MANY);
    harray_double x = harray_double_zeros(MANY);
    int32_t greatest;
    begin(by_threads, 2);
    HA_CHECK(who(ha_host(), 8191, part, count));
    HA_CHECK(who_of_teams(ha_host(), 127, part, count));
    HA_CHECK(greatest_part(ha_host(), 8191, x, &greatest));
    HA_CHECK(heavy(ha_host(), 8, x, &greatest));
    assert_int_equal(team.calls, 0);
    HA_CHECK(who(ha_host(), 8192, part, count));
    HA_CHECK(who_of_teams(ha_host(), 128, part, count));
    HA_CHECK(greatest_part(ha_host(), 8192, x, &greatest));
    assert_int_equal(greatest, 1);
    HA_CHECK(heavy(ha_host(), 1025, x, &greatest));
    assert_int_equal(greatest, 1);
    assert_int_equal(team.calls, 4);
    HA_CHECK(harray_int_free(&part));
    HA_CHECK(harray_int_free(&count));
    HA_CHECK(harray_double_free(&x));
}

TEST(no_threads_any_more) {
    begin(by_threads, 2);
    run_lanes(1);
    ha_set_parallel(NULL, NULL);
    team.parts = 1;
    team.calls = 0;
    run_lanes(0);
}

/* A queue has a thread of its own. */
TEST(loops_on_a_queue) {
    harray_int part = harray_int_filled(MANY, -1), count = harray_int_zeros(MANY);
    begin(by_threads, 2);
    HA_CHECK(who(ha_context_find("sim:0"), HA_ALL_LANES, part, count));
    HA_READING(v, count, ha_host()) expect_all(v.data, MANY, 1);
    assert_int_equal(team.calls, 0);
    HA_CHECK(harray_int_free(&part));
    HA_CHECK(harray_int_free(&count));
}

TEST(operations) {
    harray_double x = harray_double_filled(MANY, 2), y = harray_double_filled(MANY, 1);
    begin(by_threads, 3);
    HA_CHECK(ha_axpy(y, 3.0, x, ha_host()));
    assert_int_equal(team.calls, 1);
    HA_READING(v, y, ha_host()) for (size_t i = 0; i < MANY; i++) assert_true(v.data[i] == 7);
    HA_CHECK(harray_double_free(&x));
    HA_CHECK(harray_double_free(&y));
}

/* ---- within each other --------------------------------------------------------------------------- */

static struct { harray_int part, count; } inner;

/* Launches in the function, and in a thread while that runs a part of its own. */
static void launching(void *user, ha_run_part run, void *launch) {
    HA_CHECK(who(ha_host(), HA_ALL_LANES, inner.part, inner.count));
    by_threads(user, run, launch);
}

TEST(launches_of_the_function) {
    inner.part = harray_int_filled(MANY, -1);
    inner.count = harray_int_zeros(MANY);
    begin(launching, 3);
    run_lanes(1);
    HA_READING(v, inner.part, ha_host()) expect_all(v.data, MANY, 0);
    HA_READING(v, inner.count, ha_host()) expect_all(v.data, MANY, 2);
    HA_CHECK(harray_int_free(&inner.part));
    HA_CHECK(harray_int_free(&inner.count));
}

static void *launch_often(HA_UNUSED void *argument) {
    harray_int part = harray_int_filled(MANY, -1), count = harray_int_zeros(MANY);
    for (int k = 1; k <= 10; k++) {
        HA_CHECK(who(ha_host(), HA_ALL_LANES, part, count));
        HA_READING(v, count, ha_host()) for (int i = 0; i < MANY; i++) team.wrong += v.data[i] != k;
    }
    HA_CHECK(harray_int_free(&part));
    HA_CHECK(harray_int_free(&count));
    return NULL;
}

/* While another one says that there are threads, and that there are none. */
TEST(launches_of_several_threads) {
    pthread_t thread[3];
    begin(by_threads, 2);
    for (int k = 0; k < 3; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, launch_often, NULL), 0);
    for (int k = 0; k < 50; k++) ha_set_parallel(k % 2 ? by_threads : NULL, k % 2 ? &team : NULL);
    for (int k = 0; k < 3; k++) pthread_join(thread[k], NULL);
}

/* ---- reductions ---------------------------------------------------------------------------------- */

static void fill(double *x, size_t n) {
    uint64_t random = 1;
    for (size_t i = 0; i < n; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        x[i] = (double)(random >> 40) / 3 - 1e6;
    }
}

TEST(the_same_bits_for_any_number_of_parts) {
    static const int64_t lanes[] = {8191, 8192, 10001, (1 << 20) + 1};
    harray_double x = harray_double_zeros((1 << 20) + 1);
    array_double_2 u = array_double_2_zeros(HA_DIM(101, 257), NULL);
    double alone[4], rows_alone, now;
    HA_WRITING(v, x, ha_host()) fill(v.data, v.size);
    HA_WRITING(v, u, ha_host()) fill(v.data, 101 * 257);
    for (int k = 0; k < 4; k++) HA_CHECK(sum(ha_host(), lanes[k], x, &alone[k]));
    HA_CHECK(sum_of_rows(ha_host(), HA_DIM(101, 257), u, &rows_alone));
    for (int parts = 1; parts <= MOST; parts++) {
        begin(parts % 2 ? by_threads : backwards, parts);
        for (int k = 0; k < 4; k++) {
            HA_CHECK(sum(ha_host(), lanes[k], x, &now));
            assert_memory_equal(&now, &alone[k], sizeof now);
        }
        assert_int_equal(team.calls, 3); /* 8191 lanes, and the last one behind 2^20, are too few */
        HA_CHECK(sum_of_rows(ha_host(), HA_DIM(101, 257), u, &now));
        assert_memory_equal(&now, &rows_alone, sizeof now);
    }
    HA_CHECK(harray_double_free(&x));
    HA_CHECK(array_double_2_free(&u));
}

#define IN_PARTS(name) cmocka_unit_test_teardown(name, end_test)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        IN_PARTS(each_lane_once),
        IN_PARTS(in_any_order),
        IN_PARTS(whatever_the_function_does),
        IN_PARTS(small_launches_stay_here),
        IN_PARTS(no_threads_any_more),
        IN_PARTS(loops_on_a_queue),
        IN_PARTS(operations),
        IN_PARTS(launches_of_the_function),
        IN_PARTS(launches_of_several_threads),
        IN_PARTS(the_same_bits_for_any_number_of_parts),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? failed : ha_shutdown() != HA_OK;
}
