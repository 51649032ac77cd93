/* Coherence, of arrays and of ranges: what moves, from where, and what is valid then.
 * On the contexts of support/matrix.h, and some tests on two sim devices that copy to each other:
 *
 *      C           M1          M2
 *      sim:0       sim:1       private:0 */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"

enum { N = 100, BYTES = N * sizeof(double) };

static uint64_t if_device(uint64_t number) { return shares_memory(C) ? 0 : number; }

/* ---- C. coherence --------------------------------------------------------------------------- */

TEST(reading_moves_once) {
    const void *before = NULL;
    harray_double x = ramp(N);
    HA_READING(v, x, C) before = v.data;
    else fail();
    assert_true(VALID(x, H) && VALID(x, C));
    assert_int_equal(CAPACITY(x, C), N);
    MOVED(x, if_device(1), if_device(BYTES));
    assert_true(sum_at(x, C) == N * (N - 1) / 2);

    HA_READING(v, x, C) assert_ptr_equal(v.data, before);
    else fail();
    MOVED(x, if_device(1), if_device(BYTES));
    drop(x);
}

TEST(writing_is_valid_when_it_opens) {
    harray_double x = ramp(N);
    HA_WRITING(v, x, C) {
        assert_true(VALID(x, C)); /* when it opens, not when it closes */
        assert_int_equal(VALID(x, H), shares_memory(C));
        step();
        add(&v, 1);
    }
    else fail();
    assert_true(VALID(x, C));
    assert_int_equal(VALID(x, H), shares_memory(C));
    MOVED(x, if_device(1), if_device(BYTES));
    assert_true(sum_at(x, H) == N * (N + 1) / 2);
    drop(x);
}

TEST(overwriting_moves_nothing) {
    harray_double x = ramp(N);
    touch(x, M1);
    const ha_statistics before = ha_array_statistics(x.array);
    HA_OVERWRITING(v, x, C, N) {
        assert_true(VALID(x, C));
        assert_int_equal(VALID(x, H), shares_memory(C));
        assert_false(VALID(x, M1));
        fill(&v, 3);
    }
    else fail();
    MOVED(x, before.transfers, before.bytes);
    assert_true(sum_at(x, H) == 3 * N);
    drop(x);
}

TEST(written_here_and_there) {
    harray_double x = keep(harray_double_filled(N, 5));
    add_at(x, M1, 0);
    add_at(x, C, 0);
    assert_false(VALID(x, M1));
    assert_true(sum_at(x, M1) == 5 * N);
    add_at(x, M1, 1);
    add_at(x, C, 1);
    add_at(x, M2, 1);
    assert_true(sum_at(x, M1) == 8 * N);
    drop(x);
}

TEST(from_device_to_device) {
    harray_double x = keep(harray_double_filled_at(N, 2, M1));
    add_at(x, M1, 1);
    const ha_statistics before = ha_array_statistics(x.array);
    touch(x, M2);
    assert_true(VALID(x, H) && VALID(x, M1) && VALID(x, M2));
    MOVED(x, before.transfers + 2, before.bytes + 2 * BYTES);
    assert_true(sum_at(x, M2) == 3 * N);
    assert_true(sum_at(x, H) == 3 * N);
    MOVED(x, before.transfers + 2, before.bytes + 2 * BYTES);
    drop(x);
}

/* The cheapest source, not the first touched: M1 would need two copies. */
TEST(cheapest_source) {
    harray_double x = keep(harray_double_filled_at(N, 2, M1));
    touch(x, M1);
    touch(x, H);
    const ha_statistics before = ha_array_statistics(x.array);
    touch(x, M2);
    MOVED(x, before.transfers + 1, before.bytes + BYTES);
    touch(x, C);
    MOVED(x, before.transfers + 1 + if_device(1), before.bytes + BYTES + if_device(BYTES));
    assert_true(sum_at(x, M2) == 2 * N);
    drop(x);
}

TEST(overwritten_without_writing) {
    harray_double x = ramp(N);
    HA_OVERWRITING(v, x, M1, N) {}
    else fail();
    VALID_NOWHERE(x, H);
    VALID_RANGES(x, M1, {0, N});
    MOVED(x, 0, 0);
    HA_READING(v, x, M1) {}
    else fail();
    MOVED(x, 0, 0);
    drop(x);
}

/* ---- F. prefetch ---------------------------------------------------------------------------- */

TEST(prefetch_moves_once) {
    harray_double x = ramp(N);
    SUCCEEDS(ha_array_prefetch(x.array, C, 0, HA_END));
    assert_true(VALID(x, C) && VALID(x, H));
    MOVED(x, if_device(1), if_device(BYTES));
    assert_true(sum_at(x, C) == N * (N - 1) / 2);
    MOVED(x, if_device(1), if_device(BYTES));
    SUCCEEDS(ha_array_prefetch(x.array, C, 0, HA_END));
    MOVED(x, if_device(1), if_device(BYTES));
    add_at(x, C, 1);
    SUCCEEDS(ha_array_prefetch(x.array, H, 0, HA_END));
    assert_true(sum_at(x, H) == N * (N + 1) / 2);
    drop(x);
}

TEST(prefetch_by_range) {
    harray_double x = keep(harray_double_filled_at(N, 1, M1));
    SUCCEEDS(ha_array_prefetch(x.array, M2, 10, 20));
    SUCCEEDS(ha_array_prefetch(x.array, M2, 15, 30));
    SUCCEEDS(ha_array_prefetch(x.array, M2, 90, HA_END));
    VALID_RANGES(x, M2, {10, 30}, {90, N});
    assert_true(sum_range(x, M2, 10, 30) == 20);
    REFUSED(HA_ERR_ARGUMENT, ha_array_prefetch(x.array, M2, 20, 10));
    REFUSED(HA_ERR_ARGUMENT, ha_array_prefetch(x.array, M2, 0, N + 1));
    VALID_RANGES(x, M2, {10, 30}, {90, N});
    drop(x);
}

/* Nothing to move is no error; never-written elements are left out. */
TEST(prefetch_of_nothing) {
    harray_double x = keep(harray_double_new_at(N, C));
    SUCCEEDS(ha_array_prefetch(x.array, M1, 0, HA_END));
    VALID_NOWHERE(x, M1);
    harray_double empty = keep(harray_double_new_at(0, C));
    SUCCEEDS(ha_array_prefetch(empty.array, M1, 0, HA_END));
    MOVED(x, 0, 0);

    HA_OVERWRITING_RANGE(v, x, H, 3, 6) v.data[0] = v.data[1] = v.data[2] = 1;
    else fail();
    SUCCEEDS(ha_array_prefetch(x.array, M1, 0, HA_END));
    VALID_RANGES(x, M1, {3, 6});
    MOVED(x, 1, 3 * sizeof(double));
    drop(x);
    drop(empty);
}

TEST(prefetch_under_an_access) {
    harray_double x = ramp(N);
    HA_WRITING_RANGE(v, x, H, 10, 20) {
        REFUSED(HA_ERR_CONFLICT, ha_array_prefetch(x.array, M1, 0, HA_END));
        REFUSED(HA_ERR_CONFLICT, ha_array_prefetch(x.array, M1, 19, 21));
        VALID_NOWHERE(x, M1);
        SUCCEEDS(ha_array_prefetch(x.array, M1, 20, 30)); /* does not overlap */
        v.data[0] = -1;
    }
    else fail();
    HA_READING(v, x, H) SUCCEEDS(ha_array_prefetch(x.array, M1, 0, HA_END));
    else fail();
    assert_true(sum_at(x, M1) == N * (N - 1) / 2 - 11);
    drop(x);
}

/* ---- ranges --------------------------------------------------------------------------------- */

TEST(only_missing_ranges_move) {
    const uint64_t e = sizeof(double);
    harray_double x = ramp(N);
    assert_true(sum_range(x, M1, 10, 20) == 145);
    VALID_RANGES(x, M1, {10, 20});
    MOVED(x, 1, 10 * e);
    assert_true(sum_range(x, M1, 15, 30) == 330);
    VALID_RANGES(x, M1, {10, 30});
    MOVED(x, 2, 20 * e);
    assert_true(sum_range(x, M1, 12, 25) == 234); /* all there */
    MOVED(x, 2, 20 * e);
    assert_true(sum_range(x, M1, 40, 50) == 445);
    VALID_RANGES(x, M1, {10, 30}, {40, 50});
    assert_true(sum_at(x, M1) == N * (N - 1) / 2); /* [0,10), [30,40), [50,100) */
    VALID_RANGES(x, M1, {0, N});
    MOVED(x, 6, BYTES);
    assert_int_equal(CAPACITY(x, M1), N);
    drop(x);
}

/* A range allocates the whole array. */
TEST(range_members) {
    harray_double x = ramp(N);
    HA_WRITING_RANGE(v, x, M1, 30, 40) {
        assert_int_equal(v.size, 10);
        assert_int_equal(v.first, 30);
        assert_int_equal(ha_access_capacity(&v), N);
        fill(&v, -1);
    }
    else fail();
    assert_int_equal(CAPACITY(x, M1), N);
    VALID_RANGES(x, M1, {30, 40});
    VALID_RANGES(x, H, {0, 30}, {40, N});
    assert_true(ha_array_valid(x.array, M1, 30, 40));
    assert_true(ha_array_valid(x.array, M1, 32, 33));
    assert_false(ha_array_valid(x.array, M1, 29, 40));
    assert_false(ha_array_valid(x.array, M1, 30, 41));
    HA_READING(v, x, H) {
        assert_true(v.data[29] == 29 && v.data[30] == -1 && v.data[39] == -1 && v.data[40] == 40);
    }
    else fail();
    HA_READING_RANGE(v, x, H, 40, HA_END) {
        assert_int_equal(v.size, N - 40);
        assert_int_equal(v.first, 40);
        assert_true(v.data[0] == 40 && v.data[59] == 99);
    }
    else fail();
    drop(x);
}

TEST(write_range_invalidates_that_range) {
    harray_double x = ramp(N);
    touch(x, M1);
    const ha_statistics before = ha_array_statistics(x.array);
    HA_WRITING_RANGE(v, x, M1, 30, 40) {
        VALID_RANGES(x, H, {0, 30}, {40, N});
        add(&v, 1);
    }
    else fail();
    VALID_RANGES(x, M1, {0, N});
    MOVED(x, before.transfers, before.bytes);
    HA_WRITING_RANGE(v, x, H, 0, 35) v.data[0] = -1; /* [30,35) comes back */
    else fail();
    VALID_RANGES(x, H, {0, 35}, {40, N});
    VALID_RANGES(x, M1, {35, N});
    MOVED(x, before.transfers + 1, before.bytes + 5 * sizeof(double));
    assert_true(sum_at(x, M1) == N * (N - 1) / 2 + 10 - 1);
    drop(x);
}

TEST(overwrite_range_moves_nothing) {
    harray_double x = ramp(N);
    HA_OVERWRITING_RANGE(v, x, M1, 90, HA_END) {
        assert_int_equal(v.size, 10);
        fill(&v, 0);
    }
    else fail();
    assert_int_equal(harray_double_size(x), N);
    VALID_RANGES(x, M1, {90, N});
    VALID_RANGES(x, H, {0, 90});
    MOVED(x, 0, 0);
    assert_true(sum_at(x, H) == 90 * 89 / 2);
    HA_OVERWRITING_ALL(v, x, M1) {
        assert_int_equal(v.size, N);
        fill(&v, 2);
    }
    else fail();
    MOVED(x, 1, 10 * sizeof(double));
    assert_true(sum_at(x, H) == 2 * N);
    drop(x);
}

TEST(partially_written) {
    harray_double x = keep(harray_double_new(10));
    HA_WRITING_RANGE(v, x, M1, 2, 5) fill(&v, 1);
    else fail();
    MOVED(x, 0, 0);
    assert_true(sum_range(x, H, 2, 5) == 3);
    HA_READING(v, x, H) fail();
    else REFUSED(HA_ERR_STATE, v.status);
    HA_READING_RANGE(v, x, M1, 4, 6) fail();
    else REFUSED(HA_ERR_STATE, v.status);
    VALID_RANGES(x, H, {2, 5});
    VALID_RANGES(x, M1, {2, 5});

    const ha_statistics before = ha_array_statistics(x.array);
    HA_WRITING(v, x, M2) add(&v, 0); /* what was written is moved, and everything is valid */
    else fail();
    MOVED(x, before.transfers + 1, before.bytes + 3 * sizeof(double));
    VALID_RANGES(x, M2, {0, 10});
    VALID_NOWHERE(x, H);
    assert_true(sum_range(x, H, 2, 5) == 3);
    drop(x);
}

/* Disjoint parts are written on three memories at once. */
TEST(parts_on_several_contexts) {
    harray_double x = keep(harray_double_zeros_at(N, C));
    HA_WRITING_RANGE(a, x, C, 0, 30) {
        HA_OVERWRITING_RANGE(b, x, M1, 30, 60) {
            HA_WRITING_RANGE(c, x, M2, 60, HA_END) {
                step();
                add(&c, 3);
                add(&a, 1);
                fill(&b, 2);
            }
            else fail();
        }
        else fail();
    }
    else fail();
    VALID_RANGES(x, M1, {30, 60});
    VALID_RANGES(x, M2, {60, N});
    assert_true(sum_at(x, H) == 30 * 1 + 30 * 2 + 40 * 3);
    drop(x);
}

/* Each part comes from where it is valid. */
TEST(several_sources) {
    const uint64_t e = sizeof(double);
    harray_double x = keep(harray_double_new(10));
    HA_OVERWRITING_RANGE(v, x, M1, 0, 5) fill(&v, 1);
    else fail();
    HA_OVERWRITING_RANGE(v, x, H, 5, 10) for (size_t i = 0; i < 5; i++) v.data[i] = 2;
    else fail();
    touch(x, M2);
    VALID_RANGES(x, M2, {0, 10});
    assert_int_equal(ha_array_statistics(x.array).bytes, 5 * e + 10 * e); /* 5 to H, all to M2 */
    assert_true(sum_at(x, M2) == 15);
    drop(x);
}

TEST(bad_ranges) {
    const size_t bad[][2] = {{3, 2},
                             {0, 6},
                             {6, 6},
                             {6, HA_END},
                             {5, 6},
                             {HA_END, 0},
                             {SIZE_MAX - 1, SIZE_MAX - 1},
                             {2, SIZE_MAX - 1},
                             {HA_END, HA_END}};
    const unsigned hows[] = {HA_READ, HA_WRITE, HA_OVERWRITE, HA_READ | HA_TRY};
    harray_double x = list_at(C);
    const uint64_t version = ha_array_version(x.array);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        for (size_t k = 0; k < sizeof hows / sizeof *hows; k++) {
            ha_access a;
            REFUSED(HA_ERR_ARGUMENT, ha_open(&a, x.array, C, hows[k], bad[i][0], bad[i][1]));
            assert_int_equal(a.status, HA_ERR_ARGUMENT);
            assert_null(a.array);
        }
    }
    assert_int_equal(ha_array_version(x.array), version);
    SUCCEEDS(ha_array_clear(x.array)); /* nothing is open */
    drop(x);
}

TEST(empty_ranges) {
    harray_double x = list_at(C);
    const size_t places[][2] = {{0, 0}, {3, 3}, {5, 5}, {5, HA_END}};
    for (size_t i = 0; i < 4; i++) {
        HA_WRITING_RANGE(v, x, M1, places[i][0], places[i][1]) {
            assert_int_equal(v.size, 0);
            assert_int_equal(v.first, places[i][0]);
            assert_null(v.data);
        }
        else fail();
    }
    VALID_NOWHERE(x, M1);
    VALUES(x, 5, 6, 2, 3, -5);
    drop(x);
}

TEST(valid_ranges_are_counted) {
    harray_double x = ramp(N);
    ha_range ranges[2] = {{7, 7}, {7, 7}};
    for (size_t i = 0; i < 5; i++)
        assert_true(sum_range(x, M1, 10 * i, 10 * i + 1) == 10.0 * (double)i);
    assert_int_equal(ha_array_valid_ranges(x.array, M1, NULL, 0), 5);
    assert_int_equal(ha_array_valid_ranges(x.array, M1, ranges, 1), 5);
    assert_int_equal(ranges[0].first, 0);
    assert_int_equal(ranges[0].last, 1);
    assert_int_equal(ranges[1].first, 7); /* only one was asked for */
    for (size_t i = 0; i < 4; i++) (void)sum_range(x, M1, 10 * i + 1, 10 * i + 10);
    VALID_RANGES(x, M1, {0, 41}); /* touching ranges are one */
    drop(x);
}

/* No element is valid nowhere. */
TEST(valid_of_nothing) {
    harray_double x = keep(harray_double_new(0)), y = ramp(5);
    touch(x, C);
    assert_false(VALID(x, C));
    assert_false(ha_array_valid(y.array, H, 2, 2));
    assert_false(ha_array_valid(y.array, H, 3, 2));
    assert_false(ha_array_valid(y.array, H, 5, HA_END));
    assert_false(ha_array_valid(y.array, H, 4, 6));
    assert_true(ha_array_valid(y.array, H, 4, HA_END));
    drop(x);
    drop(y);
}

TEST(many_ranges) {
    harray_double x = ramp(N);
    for (size_t i = 0; i < N; i += 2) {
        HA_WRITING_RANGE(v, x, M1, i, i + 1) add(&v, 1);
        else fail();
    }
    assert_int_equal(ha_array_valid_ranges(x.array, M1, NULL, 0), N / 2);
    assert_int_equal(ha_array_valid_ranges(x.array, H, NULL, 0), N / 2);
    assert_true(sum_at(x, M2) == N * (N - 1) / 2 + N / 2);
    assert_true(sum_at(x, H) == N * (N - 1) / 2 + N / 2);
    drop(x);
}

/* ---- devices that copy to each other -------------------------------------------------------- */

TEST(direct_between_devices) {
    harray_double x = keep(harray_double_filled_at(N, 2, C));
    add_at(x, C, 1);
    const ha_statistics before = ha_array_statistics(x.array);
    touch(x, M1);
    MOVED(x, before.transfers + 1, before.bytes + BYTES);
    assert_false(VALID(x, H));
    assert_true(sum_at(x, M1) == 3 * N);
    touch(x, M2); /* not reached: by the host */
    MOVED(x, before.transfers + 3, before.bytes + 3 * BYTES);
    assert_true(VALID(x, H));
    assert_true(sum_at(x, M2) == 3 * N);
    drop(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(reading_moves_once),
        CASE(writing_is_valid_when_it_opens),
        CASE(overwriting_moves_nothing),
        CASE(written_here_and_there),
        CASE(from_device_to_device),
        CASE(cheapest_source),
        CASE(overwritten_without_writing),
        CASE(prefetch_moves_once),
        CASE(prefetch_by_range),
        CASE(prefetch_of_nothing),
        CASE(prefetch_under_an_access),
        CASE(only_missing_ranges_move),
        CASE(range_members),
        CASE(write_range_invalidates_that_range),
        CASE(overwrite_range_moves_nothing),
        CASE(partially_written),
        CASE(parts_on_several_contexts),
        CASE(several_sources),
        CASE(bad_ranges),
        CASE(empty_ranges),
        CASE(valid_ranges_are_counted),
        CASE(valid_of_nothing),
        CASE(many_ranges),
    };
    const struct CMUnitTest direct[] = {CASE(direct_between_devices), CASE(written_here_and_there),
                                        CASE(many_ranges)};
    const matrix_row peers = {"sim:0", "sim:1", "private:0"};
    const ha_sim_options options = {.peers = 1};
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    if (failed) return failed; /* devices may be open still */

    HA_CHECK(ha_sim_configure(&options));
    enter_row(&peers);
    failed += cmocka_run_group_tests_name("sim:0 with peers", direct, NULL, NULL);
    return failed + leave_row();
}
