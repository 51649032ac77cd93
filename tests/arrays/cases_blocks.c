/* Blocks that are replaced, given back or taken over while queues still work on them.
 * On the contexts of support/held.h. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/held.h"

/* ---- blocks --------------------------------------------------------------------------------- */

/* Growing while the old block is still in use. */
TEST(growth_under_work) {
    harray_double x = everywhere();
    hold(C);
    add_at(x, C, 1);
    SUCCEEDS(harray_double_resize(x, 2 * N));
    HA_WRITING_RANGE(v, x, F, N, 2 * N) fill(&v, 1);
    else fail();
    assert_int_equal(CAPACITY(x, C), 2 * N);
    add_at(x, C, 1);
    HA_WRITING(v, x, C) {
        SUCCEEDS(ha_access_resize(&v, 4 * N)); /* once more, with everything pending */
        SUCCEEDS(ha_access_resize(&v, 2 * N));
        add(&v, 1);
    }
    else fail();
    add_at(x, F, 1);
    until_quiet();
    let_go(C);
    assert_true(sum_at(x, H) == RAMP_SUM + 4 * N + (1 + 3) * N);
    drop(x);
}

/* A block that is replaced stays until what was read from it has been read: here by the copy to the
 * new block. */
TEST(growth_keeps_the_old_block) {
    double sum = -1;
    harray_double x = everywhere();
    hold(F);
    SUCCEEDS(harray_double_resize(x, 2 * N));
    HA_WRITING_RANGE(v, x, F, N, 2 * N) fill(&v, 1);
    else fail();
    harray_double y = keep(harray_double_filled_at(N, 5, C)); /* may not get that block */
    SUCCEEDS(ha_context_finish(C));
    let_go(F);
    begin_sum(x, F, &sum);
    SUCCEEDS(ha_context_finish(F));
    assert_true(sum == RAMP_SUM + N);
    assert_true(sum_at(y, C) == 5 * N);
    drop(x);
    drop(y);
}

/* The same on the host, where a transfer to the device has still to read it. */
TEST(growth_on_the_host_keeps_the_old_block) {
    harray_double x = ramp(N);
    hold(C);
    SUCCEEDS(ha_array_prefetch(x.array, C, 0, HA_END));
    SUCCEEDS(harray_double_resize(x, 2 * N));
    HA_OVERWRITING_RANGE(v, x, H, N, 2 * N) for (size_t i = 0; i < v.size; i++) v.data[i] = 1;
    else fail();
    harray_double y = keep(harray_double_filled(N, 5));
    let_go(C);
    assert_true(sum_range(x, C, 0, N) == RAMP_SUM);
    assert_true(sum_at(y, H) == 5 * N);
    drop(x);
    drop(y);
}

/* An access that shrinks to nothing and grows again: what was enqueued before is still to
 * happen. */
TEST(regrowth_under_work) {
    harray_double x = everywhere(), y = keep(harray_double_new_at(0, F));
    hold(C);
    HA_WRITING(v, x, C) {
        add(&v, 1);
        SUCCEEDS(ha_access_resize(&v, 0));
        SUCCEEDS(ha_access_resize(&v, 3 * N)); /* gives the old block back */
        fill(&v, 2);
    }
    else fail();
    HA_OVERWRITING(v, y, F, N) fill(&v, 5);
    else fail();
    until_quiet();
    let_go(C);
    SUCCEEDS(ha_context_finish(C));
    assert_true(sum_at(y, F) == 5 * N);
    assert_true(sum_at(x, H) == 2 * 3 * N);
    drop(x);
    drop(y);
}

/* What lies behind the end after shrinking is still written by a queue that nobody has waited for;
 * growing again may not forget it. */
TEST(shrinking_forgets_no_work) {
    harray_double x = everywhere();
    hold(F);
    HA_WRITING_RANGE(v, x, F, N / 2, N) fill(&v, 9);
    else fail();
    SUCCEEDS(harray_double_resize(x, N / 2));
    add_at(x, C, 0); /* of what is left */
    SUCCEEDS(harray_double_resize(x, N));
    HA_OVERWRITING_RANGE(v, x, C, N / 2, N) fill(&v, 3);
    else fail();
    until_quiet();
    let_go(F);
    SUCCEEDS(ha_context_finish(F));
    assert_true(sum_range(x, C, N / 2, N) == 3 * N / 2);
    drop(x);
}

TEST(shrinking_keeps_the_block) {
    harray_double x = everywhere();
    hold(F);
    HA_WRITING_RANGE(v, x, F, N / 2, N) fill(&v, 9);
    else fail();
    SUCCEEDS(harray_double_resize(x, N / 2));
    add_at(x, C, 0);
    SUCCEEDS(ha_array_purge(x.array));
    ha_context *third = ha_context_fork(C); /* waits for neither F nor C */
    assert_non_null(third);
    harray_double y = keep(harray_double_filled_at(N, 3, third)); /* may not get that block */
    until_quiet();
    let_go(F);
    SUCCEEDS(ha_context_finish(F));
    assert_true(sum_at(y, third) == 3 * N);
    drop(x);
    drop(y);
}

TEST(reserve_under_work) {
    harray_double x = everywhere();
    hold(C);
    add_at(x, C, 1);
    SUCCEEDS(ha_array_reserve(x.array, C, 3 * N));
    add_at(x, F, 1);
    until_quiet();
    let_go(C);
    assert_true(sum_at(x, H) == RAMP_SUM + 2 * N);
    drop(x);
}

/* Runs `end` on an array with work enqueued on the held C, then uses new memory on F: the old work
 * must not fall into it. */
static void expect_no_early_reuse(void (*end)(harray_double x)) {
    double sum = -1;
    harray_double x = everywhere();
    hold(C);
    add_at(x, C, 1);
    end(x);
    harray_double y = keep(harray_double_new_at(0, F));
    HA_OVERWRITING(v, y, F, N) fill(&v, 5);
    else fail();
    until_quiet();
    let_go(C);
    SUCCEEDS(ha_context_finish(C));
    begin_sum(y, F, &sum);
    SUCCEEDS(ha_context_finish(F));
    assert_true(sum == 5 * N);
    drop(y);
}

static void end_by_free(harray_double x) { drop(x); }

TEST(free_under_work) { expect_no_early_reuse(end_by_free); }

static harray_double survivor;

static void end_by_purge(harray_double x) {
    SUCCEEDS(ha_array_purge(x.array));
    assert_int_equal(CAPACITY(x, C), 0);
    survivor = x;
}

TEST(purge_under_work) {
    expect_no_early_reuse(end_by_purge);
    add_at(survivor, C, 1);
    drop(survivor);
}

/* The taker's old memory is freed under work, the taken memory goes on being used. */
static void end_by_take(harray_double x) {
    survivor = keep(harray_double_filled(2, 9));
    SUCCEEDS(ha_array_take(x.array, survivor.array));
    drop(x);
}

TEST(take_under_work) {
    expect_no_early_reuse(end_by_take);
    assert_int_equal(harray_double_size(survivor), 0);
    drop(survivor);
}

TEST(swap_and_copy_under_work) {
    harray_double x = everywhere(), y = keep(harray_double_filled_at(3, 1, C));
    SUCCEEDS(ha_context_finish(C));
    hold(C);
    add_at(x, C, 1);
    add_at(y, C, 1);
    SUCCEEDS(harray_double_swap(x, y));
    harray_double z = keep(harray_double_copy(y));
    add_at(y, F, 1);
    until_quiet();
    let_go(C);
    VALUES(x, 2, 2, 2);
    assert_true(sum_at(y, H) == RAMP_SUM + 2 * N);
    assert_true(sum_at(z, H) == RAMP_SUM + N);
    drop(x);
    drop(y);
    drop(z);
}

/* Assigning while the old values are still being read. */
TEST(assign_under_work) {
    double sum = -1;
    harray_double x = everywhere(), y = keep(harray_double_filled_at(N, 1, C));
    SUCCEEDS(ha_context_finish(C));
    hold(C);
    begin_sum(y, C, &sum);
    SUCCEEDS(ha_array_assign_at(y.array, x.array, F));
    until_quiet();
    let_go(C);
    SUCCEEDS(ha_context_finish(C));
    assert_true(sum == N);
    assert_true(sum_at(y, H) == RAMP_SUM);
    drop(x);
    drop(y);
}

/* ---- the cache ------------------------------------------------------------------------------ */

/* A block that a queue still uses is not in the cache: nobody gets it, nobody trims it. */
TEST(retired_is_not_cached) {
    harray_double x = everywhere();
    const ha_memory_usage before = ha_context_memory(C);
    const ha_allocator other = {0};
    hold(C);
    add_at(x, C, 1);
    drop(x);
    const ha_memory_usage held = ha_context_memory(C);
    assert_true(held.retired >= N * sizeof(double));
    assert_int_equal(held.live + held.retired, before.live + before.retired);
    assert_int_equal(held.cached, before.cached);
    (void)ha_memory_trim(C, 0);
    assert_int_equal(ha_context_memory(C).retired, held.retired);
    REFUSED(HA_ERR_ARGUMENT, ha_memory_set_allocator(C, &other));
    REFUSED(HA_ERR_STATE, ha_memory_set_allocator(C, NULL));
    harray_double y = keep(harray_double_new_at(N, F));
    assert_int_equal(ha_context_memory(C).reused, before.reused);
    let_go(C);
    SUCCEEDS(ha_context_finish(C));
    (void)ha_memory_trim(C, UINT64_MAX);
    assert_int_equal(ha_context_memory(C).retired, 0);
    assert_true(ha_context_memory(C).cached >= N * sizeof(double));
    drop(keep(harray_double_new_at(N, F)));
    assert_int_equal(ha_context_memory(C).reused, before.reused + 1);
    drop(y);
}

/* Without a cache it goes to the backend at once; trimming tells so. */
TEST(retired_is_trimmed) {
    harray_double x = everywhere();
    SUCCEEDS(ha_memory_set_cache(C, 0));
    const uint64_t before = ha_context_memory(C).handed_out;
    hold(C);
    add_at(x, C, 1);
    drop(x);
    assert_int_equal(ha_memory_trim(C, 0), 0);
    let_go(C);
    SUCCEEDS(ha_context_finish(C));
    assert_true(ha_memory_trim(C, 0) >= N * sizeof(double));
    assert_true(ha_context_memory(C).handed_out <= before - N * sizeof(double));
    SUCCEEDS(ha_memory_set_cache(C, UINT64_MAX));
}

/* What was left by one queue is used by another one in the right order, again and again. */
TEST(reused_in_order) {
    for (int i = 0; i < 20; i++) {
        double sum = -1;
        ha_context *one = i % 2 ? C : F, *other = i % 2 ? F : C;
        harray_double x = keep(harray_double_filled_at(N, i, one));
        add_at(x, other, 1);
        drop(x);
        harray_double y = keep(harray_double_filled_at(N, 2 * i, other));
        begin_sum(y, one, &sum);
        SUCCEEDS(ha_context_finish(one));
        assert_true(sum == 2.0 * i * N);
        drop(y);
    }
    assert_true(ha_context_memory(C).reused > 0);
}

/* Releasing memory does not wait for what was enqueued before, and nobody gets it until then. */
TEST(memory_released_under_work) {
    double *old = (double *)ha_memory_allocate(C, N * sizeof *old), sum = -1;
    const job nines = {old, N, 9};
    assert_non_null(old);
    hold(C);
    SUCCEEDS(ha_enqueue(C, fill_job, &nines, sizeof nines));
    SUCCEEDS(ha_memory_release(C, old));
    REFUSED(HA_ERR_ARGUMENT, ha_memory_release(C, old));
    assert_true(ha_context_memory(C).retired >= N * sizeof *old);
    double *fresh = (double *)ha_memory_allocate(C, N * sizeof *fresh);
    const job fives = {fresh, N, 5};
    SUCCEEDS(ha_enqueue(F, fill_job, &fives, sizeof fives));
    until_quiet();
    let_go(C);
    SUCCEEDS(ha_context_finish(C));
    const sum_of add_up = {fresh, N, &sum};
    SUCCEEDS(ha_enqueue(F, sum_job, &add_up, sizeof add_up));
    SUCCEEDS(ha_context_finish(F));
    assert_true(sum == 5 * N);
    SUCCEEDS(ha_memory_release(F, fresh));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ORDER(growth_under_work),
        ORDER(growth_keeps_the_old_block),
        ORDER(growth_on_the_host_keeps_the_old_block),
        ORDER(regrowth_under_work),
        ORDER(shrinking_forgets_no_work),
        ORDER(shrinking_keeps_the_block),
        ORDER(reserve_under_work),
        ORDER(free_under_work),
        ORDER(purge_under_work),
        ORDER(take_under_work),
        ORDER(swap_and_copy_under_work),
        ORDER(assign_under_work),
        ORDER(retired_is_not_cached),
        ORDER(retired_is_trimmed),
        ORDER(reused_in_order),
        ORDER(memory_released_under_work),
    };
    int failed = 0;
    RUN_WITH_AND_WITHOUT_DELAYS(failed, tests);
    return failed;
}
