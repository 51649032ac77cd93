/* Values that are written back ahead, and what gives way beside what a device computes. On the contexts of
 * support/matrix.h, each with a memory that nobody has used. */
#define _GNU_SOURCE 1
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "pressure.h"

/* What such tests change besides. */
static void drop_all_of_watermark(void) {
    SUCCEEDS(ha_memory_set_watermark(C, 1));
    drop_all_of_budget();
}

static void expect(uint64_t evictions, uint64_t written_back, uint64_t written_ahead) {
    const ha_pressure p = ha_memory_pressure(C);
    assert_int_equal(p.evictions, evictions);
    assert_int_equal(p.written_back, written_back * BYTES);
    assert_int_equal(p.written_ahead, written_ahead * BYTES);
}

/* What would go next is on the host, too, before its room is needed; then it goes for nothing. */
TEST(above_the_watermark) {
    budget_for(4);
    SUCCEEDS(ha_memory_set_watermark(C, 0.5));
    harray_double x[5];
    for (int i = 0; i < 2; i++) x[i] = filled_at(i + 1, C);
    expect(0, 0, 0);
    x[2] = filled_at(3, C); /* three of four and a half */
    expect(0, 1, 1);
    assert_true(is_there(x[0]) && VALID(x[0], C) && VALID(x[0], H) && !VALID(x[1], H));
    x[3] = filled_at(4, C);
    expect(0, 2, 2);
    x[4] = filled_at(5, C);
    expect(1, 3, 3);
    assert_true(!is_there(x[0]) && is_there(x[1]));
    for (int i = 0; i < 5; i++) assert_true(sum_at(x[i], i % 2 ? C : H) == (i + 1.) * N);
    drop_all_of_watermark();
}

/* It is as good as the values on the host. */
TEST(the_host_may_give_way) {
    budget_for(2);
    SUCCEEDS(ha_memory_set_watermark(C, 0));
    harray_double x = filled_at(1, C);
    (void)filled_at(2, C);
    assert_true(VALID(x, H) && VALID(x, C));
    SUCCEEDS(ha_array_evict(x.array, H));
    assert_true(VALID(x, C) && sum_at(x, C) == 1. * N);
    drop_all_of_watermark();
}

/* Written anew it is nowhere else any more, and goes once more. */
TEST(written_anew) {
    budget_for(2);
    SUCCEEDS(ha_memory_set_watermark(C, 0));
    harray_double x = filled_at(1, C), y = filled_at(2, C);
    expect(0, 1, 1);
    add_at(x, C, 10);
    assert_false(VALID(x, H));
    expect(0, 2, 2); /* y went when x was opened */
    harray_double z = filled_at(3, C);
    assert_true(is_there(x) != is_there(y));
    assert_true(sum_at(x, H) == 11. * N && sum_at(y, H) == 2. * N && sum_at(z, H) == 3. * N);
    drop_all_of_watermark();
}

/* Below it, and without one, nothing is. */
TEST(below_the_watermark) {
    budget_for(4);
    SUCCEEDS(ha_memory_set_watermark(C, 0.9));
    for (int i = 0; i < 4; i++) (void)filled_at(i, C);
    expect(0, 0, 0);
    SUCCEEDS(ha_memory_set_watermark(C, 1));
    (void)filled_at(4, C);
    expect(1, 1, 0);
    drop_all_of_watermark();
}

/* What is open, kept or on its way already is left alone. */
TEST(what_is_in_use_is_left_alone) {
    budget_for(3);
    harray_double x = filled_at(1, C), y = filled_at(2, C);
    SUCCEEDS(ha_array_set_priority(y.array, HA_KEEP));
    SUCCEEDS(ha_memory_set_watermark(C, 0));
    HA_READING(v, x, C) {
        (void)filled_at(3, C);
        expect(0, 0, 0);
    }
    else fail();
    harray_double z = filled_at(4, C); /* the one before goes for it, or is on its way */
    assert_false(VALID(y, H));
    assert_true(sum_at(x, H) == 1. * N && sum_at(y, H) == 2. * N && sum_at(z, H) == 4. * N);
    drop_all_of_watermark();
}

/* A tier without room: nobody waits, and nobody is told. */
TEST(nowhere_to_write_to) {
    if (C->home->pinned) skip(); /* the host's blocks come from there */
    budget_for(3);
    SUCCEEDS(ha_memory_set_watermark(C, 0));
    (void)ha_memory_trim(H, 0);
    SUCCEEDS(ha_memory_set_budget(H, 1));
    harray_double x = filled_at(1, C), y = filled_at(2, C);
    expect(0, 0, 0);
    SUCCEEDS(ha_memory_set_budget(H, 0));
    assert_int_equal(ha_take_error().status, HA_OK);
    add_at(y, C, 1);
    (void)filled_at(5, C);
    assert_true(ha_memory_pressure(C).written_ahead > 0);
    assert_true(sum_at(x, H) == 1. * N && sum_at(y, H) == 3. * N);
    drop_all_of_watermark();
}

TEST(no_watermark) {
    static const double parts[] = {-0.01, 1.01, NAN, INFINITY};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        assert_int_equal(ha_memory_set_watermark(C, parts[i]), HA_ERR_ARGUMENT);
        assert_non_null(strstr(ha_take_error().text, "a part is 0 to 1"));
    }
}

/* What gives way does not stand behind what the device still computes. Else this would never end. */
TEST(beside_what_is_computed) {
    if (strcmp(ha_context_kind(C), "sim")) skip();
    budget_for(2);
    harray_double x = filled_at(1, C), y = filled_at(2, C);
    double sum = 0;
    SUCCEEDS(ha_context_finish(C));
    SUCCEEDS(ha_sim_hold(C));
    HA_READING(v, y, C) start_sum(&v, &sum);
    else fail();
    harray_double z = filled_at(3, C);
    assert_true(!is_there(x) && is_there(y));
    assert_true(sum == 0);
    SUCCEEDS(ha_sim_step(C, -1));
    assert_true(sum_at(x, H) == 1. * N && sum_at(z, H) == 3. * N);
    assert_true(sum == 2. * N);
    drop_all_of_watermark();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        FRESH(above_the_watermark),
        FRESH(written_anew),
        FRESH(the_host_may_give_way),
        FRESH(below_the_watermark),
        FRESH(what_is_in_use_is_left_alone),
        FRESH(nowhere_to_write_to),
        FRESH(no_watermark),
        FRESH(beside_what_is_computed),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_FRESH_ON_MATRIX(failed, tests)
    return failed;
}
