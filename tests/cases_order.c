/* Order without waiting: queues are held with ha_sim_hold and stepped, so that what must wait can
 * be told from what must not. Calls that would block on a held queue would hang these tests.
 *
 *      C        F                      M1       M2
 *      sim:0    a fork of sim:0        sim:1    private:0                                        */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../harray.h"
#include "matrix.h"
#include "threads.h"

enum { N = 1000 };
static const double RAMP_SUM = N * (N - 1) / 2;

static ha_context *F;

static void hold(ha_context *context) { SUCCEEDS(ha_sim_hold(context)); }
static void let_go(ha_context *context) { SUCCEEDS(ha_sim_step(context, -1)); }

/* A test that failed may have left its queues held. */
static int end_order(void **state) {
    ha_context *queues[] = {C, F, M1};
    for (size_t i = 0; i < 3; i++) HA_CHECK(ha_sim_step(queues[i], -1));
    return end_case(state);
}
#define ORDER(name) cmocka_unit_test_setup_teardown(name, begin_case, end_order)

/* Lets other threads run for a while: whatever has not happened then is taken to be waiting. A
 * correct engine passes whatever the machine does; a wrong one is caught nearly always. */
static void give_others_a_chance(void) {
    for (int i = 0; i < 2000; i++) sched_yield();
}

/* An array that is valid on C and on the host, and queues that are idle. */
static harray_double everywhere(void) {
    harray_double x = ramp(N);
    touch(x, C);
    SUCCEEDS(ha_context_finish(C));
    return x;
}

static void begin_sum(harray_double x, ha_context *context, double *result) {
    HA_READING(v, x, context) start_sum(&v, result);
    else fail();
    step();
}

/* A function that notes that it has run. */
static void note_job(HA_UNUSED const ha_queue *queue, void *argument) {
    atomic_fetch_add(*(atomic_int **)argument, 1);
}

static void enqueue_note(ha_context *context, atomic_int *count) {
    SUCCEEDS(ha_enqueue(context, note_job, &count, sizeof count));
}

/* ---- hold and step -------------------------------------------------------------------------- */

TEST(stepping) {
    atomic_int ran = 0;
    hold(C);
    for (int i = 0; i < 3; i++) enqueue_note(C, &ran);
    give_others_a_chance();
    assert_int_equal(atomic_load(&ran), 0);
    for (int i = 1; i <= 2; i++) {
        SUCCEEDS(ha_sim_step(C, 1));
        while (atomic_load(&ran) < i) sched_yield();
        give_others_a_chance();
        assert_int_equal(atomic_load(&ran), i);
    }
    let_go(C);
    SUCCEEDS(ha_context_finish(C));
    assert_int_equal(atomic_load(&ran), 3);
    REFUSED(HA_ERR_ARGUMENT, ha_sim_hold(H));
    REFUSED(HA_ERR_ARGUMENT, ha_sim_step(M2, 1));
}

/* A context and its fork are two queues on one memory. */
TEST(forks_have_queues) {
    atomic_int ran = 0;
    hold(C);
    enqueue_note(C, &ran);
    enqueue_note(F, &ran);
    SUCCEEDS(ha_context_finish(F));
    assert_int_equal(atomic_load(&ran), 1);
    let_go(C);
    SUCCEEDS(ha_context_finish(C));
    assert_int_equal(atomic_load(&ran), 2);

    harray_double x = everywhere();
    const ha_statistics before = ha_array_statistics(x.array);
    HA_READING(v, x, C) {
        HA_READING(w, x, F) assert_ptr_equal(v.data, w.data);
        else fail();
    }
    else fail();
    MOVED(x, before.transfers, before.bytes);
    drop(x);
}

/* ---- reads and writes of several queues ----------------------------------------------------- */

/* Three writers take turns on two queues while the first queue is held. */
TEST(writers_on_two_queues) {
    double sum = -1;
    harray_double x = everywhere();
    hold(C);
    add_at(x, C, 1);
    add_at(x, F, 1);
    add_at(x, C, 1);
    add_at(x, F, 1);
    begin_sum(x, F, &sum);
    give_others_a_chance();
    assert_true(sum == -1);
    let_go(C);
    SUCCEEDS(ha_context_finish(F));
    assert_true(sum == RAMP_SUM + 4 * N);
    assert_true(sum_at(x, H) == RAMP_SUM + 4 * N);
    drop(x);
}

TEST(write_then_write) {
    harray_double x = everywhere();
    hold(C);
    HA_OVERWRITING(v, x, C, N) fill(&v, 1);
    else fail();
    HA_OVERWRITING(v, x, F, N) fill(&v, 2);
    else fail();
    give_others_a_chance();
    let_go(C);
    assert_true(sum_at(x, H) == 2 * N);
    drop(x);
}

TEST(read_then_write) {
    double sum = -1;
    harray_double x = everywhere();
    hold(C);
    begin_sum(x, C, &sum);
    add_at(x, F, 1); /* waits for the reader */
    give_others_a_chance();
    let_go(C);
    SUCCEEDS(ha_context_finish(C));
    assert_true(sum == RAMP_SUM);
    assert_true(sum_at(x, H) == RAMP_SUM + N);
    drop(x);
}

/* Of two readers on two queues, none is forgotten. */
TEST(two_readers_then_write) {
    double sums[2] = {-1, -1};
    harray_double x = everywhere();
    hold(C);
    begin_sum(x, C, &sums[0]);
    begin_sum(x, F, &sums[1]);
    add_at(x, F, 1);
    give_others_a_chance();
    let_go(C);
    SUCCEEDS(ha_context_finish(C));
    SUCCEEDS(ha_context_finish(F));
    assert_true(sums[0] == RAMP_SUM && sums[1] == RAMP_SUM);
    drop(x);
}

TEST(reads_do_not_wait) {
    double sums[2] = {-1, -1};
    harray_double x = everywhere();
    hold(C);
    begin_sum(x, C, &sums[0]);
    begin_sum(x, F, &sums[1]);
    SUCCEEDS(ha_context_finish(F));
    assert_true(sums[1] == RAMP_SUM);
    assert_true(sum_at(x, H) == RAMP_SUM);
    let_go(C);
    SUCCEEDS(ha_context_finish(C));
    assert_true(sums[0] == RAMP_SUM);
    drop(x);
}

TEST(other_elements_do_not_wait) {
    harray_double x = everywhere();
    hold(C);
    HA_WRITING_RANGE(v, x, C, 0, 10) add(&v, 1);
    else fail();
    HA_WRITING_RANGE(v, x, F, 10, 20) add(&v, 2);
    else fail();
    SUCCEEDS(ha_context_finish(F));
    HA_WRITING_RANGE(v, x, H, 20, 30) for (size_t i = 0; i < v.size; i++) v.data[i] += 3;
    else fail();
    HA_READING_RANGE(v, x, H, 30, HA_END) assert_true(v.data[0] == 30);
    else fail();
    let_go(C);
    assert_true(sum_at(x, H) == RAMP_SUM + 10 + 20 + 30);
    drop(x);
}

/* ---- the host ------------------------------------------------------------------------------- */

/* A thread that reads on the host what a held queue is about to write. */
TEST(host_read_waits) {
    opener o;
    harray_double x = everywhere();
    hold(C);
    HA_OVERWRITING(v, x, C, N) fill(&v, 7);
    else fail();
    start_open(&o, x.array, H, HA_READ, 0, HA_END);
    give_others_a_chance();
    assert_false(has_opened(&o));
    let_go(C);
    assert_int_equal(wait_opened(&o), HA_OK);
    assert_true(o.seen == 7);
    finish(&o);
    drop(x);
}

/* Waiting for data is no reason to be refused, and holds up nobody who wants other elements. */
TEST(trying_waits_for_data) {
    opener o;
    harray_double x = everywhere();
    hold(C);
    HA_OVERWRITING_RANGE(v, x, C, 0, 10) fill(&v, 7);
    else fail();
    start_open(&o, x.array, H, HA_READ | HA_TRY, 0, 10);
    while (ha_array_statistics(x.array).transfers < 2) sched_yield(); /* it has been admitted */
    give_others_a_chance();
    assert_false(has_opened(&o));
    assert_int_equal(open_elsewhere(x.array, H, HA_READ | HA_TRY, 10, 20), HA_OK);
    assert_int_equal(open_elsewhere(x.array, H, HA_WRITE | HA_TRY, 20, 30), HA_OK);
    assert_int_equal(open_elsewhere(x.array, C, HA_WRITE | HA_TRY, 30, 40), HA_OK);
    REFUSED(HA_ERR_BUSY, open_elsewhere(x.array, H, HA_WRITE | HA_TRY, 5, 6));
    assert_false(has_opened(&o));
    let_go(C);
    assert_int_equal(wait_opened(&o), HA_OK);
    assert_true(o.seen == 7);
    finish(&o);
    drop(x);
}

/* A transfer to a device is a read of the host's block: the host may not write into it yet. */
TEST(host_write_waits_for_a_transfer) {
    double sum = -1;
    opener o;
    harray_double x = ramp(N);
    hold(C);
    begin_sum(x, C, &sum);
    HA_READING(v, x, H) assert_true(v.data[1] == 1); /* two readers */
    else fail();
    start_open(&o, x.array, H, HA_OVERWRITE, 0, HA_END);
    give_others_a_chance();
    assert_false(has_opened(&o));
    let_go(C);
    assert_int_equal(wait_opened(&o), HA_OK);
    SUCCEEDS(ha_context_finish(C));
    assert_true(sum == RAMP_SUM);
    finish(&o);
    drop(x);
}

/* The element comes when the queue has written it. */
static void *get_main(void *argument) {
    opener *o = (opener *)argument;
    o->status = ha_array_get(o->array, 3, &o->seen);
    atomic_store(&o->opened, 1);
    return NULL;
}

TEST(elements_wait) {
    opener o;
    harray_double x = everywhere();
    hold(C);
    add_at(x, C, 1);
    memset(&o, 0, sizeof o);
    o.array = x.array;
    assert_int_equal(pthread_create(&o.thread, NULL, get_main, &o), 0);
    give_others_a_chance();
    assert_false(has_opened(&o));
    let_go(C);
    assert_int_equal(pthread_join(o.thread, NULL), 0);
    assert_int_equal(o.status, HA_OK);
    assert_true(o.seen == 4);
    drop(x);
}

static void *finish_main(void *argument) {
    opener *o = (opener *)argument;
    o->status = ha_context_finish(o->context);
    atomic_store(&o->opened, 1);
    return NULL;
}

TEST(finish_waits_for_everything) {
    opener o;
    atomic_int ran = 0;
    memset(&o, 0, sizeof o);
    o.context = C;
    hold(C);
    for (int i = 0; i < 3; i++) enqueue_note(C, &ran);
    assert_int_equal(pthread_create(&o.thread, NULL, finish_main, &o), 0);
    SUCCEEDS(ha_sim_step(C, 2));
    while (atomic_load(&ran) < 2) sched_yield();
    give_others_a_chance();
    assert_false(has_opened(&o));
    let_go(C);
    assert_int_equal(pthread_join(o.thread, NULL), 0);
    assert_int_equal(o.status, HA_OK);
    assert_int_equal(atomic_load(&ran), 3);
}

/* ---- transfers ------------------------------------------------------------------------------ */

TEST(prefetch_returns) {
    harray_double x = ramp(N);
    hold(C);
    SUCCEEDS(ha_array_prefetch(x.array, C, 0, HA_END));
    assert_true(VALID(x, C)); /* on its way */
    MOVED(x, 1, N * sizeof(double));
    let_go(C);
    assert_true(sum_at(x, C) == RAMP_SUM);
    MOVED(x, 1, N * sizeof(double));
    drop(x);
}

/* Several transfers of one array are in flight: of parts, to two devices. */
TEST(transfers_in_flight) {
    double sums[3] = {-1, -1, -1};
    harray_double x = ramp(N);
    hold(C);
    hold(F);
    hold(M1);
    SUCCEEDS(ha_array_prefetch(x.array, C, 0, 100));
    SUCCEEDS(ha_array_prefetch(x.array, F, 100, 200));
    SUCCEEDS(ha_array_prefetch(x.array, M1, 0, HA_END));
    SUCCEEDS(ha_array_prefetch(x.array, C, 200, HA_END));
    MOVED(x, 4, 2 * N * sizeof(double));
    begin_sum(x, C, &sums[0]);
    begin_sum(x, F, &sums[1]);
    begin_sum(x, M1, &sums[2]);
    let_go(M1);
    SUCCEEDS(ha_context_finish(M1));
    assert_true(sums[2] == RAMP_SUM);
    let_go(C);
    give_others_a_chance();
    assert_true(sums[0] == -1 && sums[1] == -1); /* F's part is missing, on both queues */
    let_go(F);
    SUCCEEDS(ha_context_finish(C));
    SUCCEEDS(ha_context_finish(F));
    assert_true(sums[0] == RAMP_SUM && sums[1] == RAMP_SUM);
    MOVED(x, 4, 2 * N * sizeof(double));
    drop(x);
}

/* Through the host, from a queue that is held: the second hop waits for the first. */
TEST(staging_waits) {
    double sum = -1;
    harray_double x = everywhere();
    hold(C);
    add_at(x, C, 1);
    begin_sum(x, M1, &sum); /* returns, all the same */
    assert_true(VALID(x, M1));
    give_others_a_chance();
    assert_true(sum == -1);
    let_go(C);
    SUCCEEDS(ha_context_finish(M1));
    assert_true(sum == RAMP_SUM + N);
    drop(x);
}

/* The host's block is in use as the stage until both hops are done. */
TEST(staging_holds_the_stage) {
    double sum = -1;
    opener o;
    harray_double x = keep(harray_double_filled_at(N, 2, C));
    SUCCEEDS(ha_context_finish(C));
    hold(M1);
    begin_sum(x, M1, &sum); /* C to the host is done soon, the host to M1 is not */
    assert_true(VALID(x, H));
    start_open(&o, x.array, H, HA_OVERWRITE, 0, HA_END);
    give_others_a_chance();
    assert_false(has_opened(&o));
    let_go(M1);
    assert_int_equal(wait_opened(&o), HA_OK);
    SUCCEEDS(ha_context_finish(M1));
    assert_true(sum == 2 * N);
    finish(&o);
    drop(x);
}

/* New values may not come into a block whose old ones are still to be read. */
TEST(transfer_waits_for_readers) {
    double sum = -1;
    harray_double x = everywhere();
    hold(C);
    begin_sum(x, C, &sum);
    HA_OVERWRITING(v, x, H, N) for (size_t i = 0; i < N; i++) v.data[i] = 4;
    else fail();
    SUCCEEDS(ha_array_prefetch(x.array, F, 0, HA_END));
    give_others_a_chance();
    let_go(C);
    SUCCEEDS(ha_context_finish(C));
    assert_true(sum == RAMP_SUM);
    assert_true(sum_at(x, F) == 4 * N);
    drop(x);
}

/* The block from which a device is filled stays until it is. */
TEST(fill_keeps_its_source) {
    ha_context *places[] = {M2, C};
    for (size_t i = 0; i < 2; i++) {
        harray_double x = keep(harray_double_filled_at(N, 3, places[i]));
        harray_double y = keep(harray_double_filled(N, 4)); /* may not get that block */
        assert_true(sum_at(x, places[i]) == 3 * N);
        drop(x);
        drop(y);
    }
}

/* What is transferred away from a block may not be written there before it has left. */
TEST(write_waits_for_a_transfer_away) {
    double sum = -1;
    harray_double x = keep(harray_double_filled_at(N, 2, C));
    touch(x, H);
    HA_OVERWRITING(v, x, C, N) fill(&v, 3);
    else fail();
    SUCCEEDS(ha_context_finish(C));
    hold(M1);
    begin_sum(x, M1, &sum);
    add_at(x, C, 1); /* another queue than that of the second hop */
    SUCCEEDS(ha_context_finish(C));
    let_go(M1);
    SUCCEEDS(ha_context_finish(M1));
    assert_true(sum == 3 * N);
    assert_true(sum_at(x, H) == 4 * N);
    drop(x);
}

/* Queues of different backends. */
TEST(across_backends) {
    harray_double x = everywhere();
    for (int i = 0; i < 5; i++) {
        add_at(x, C, 1);
        add_at(x, M2, 1);
        add_at(x, F, 1);
        add_at(x, M1, 1);
    }
    assert_true(sum_at(x, H) == RAMP_SUM + 20 * N);
    drop(x);
}

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
    give_others_a_chance();
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

/* An access that shrinks to nothing and grows again: what was enqueued before is still to happen.
 */
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
    give_others_a_chance();
    let_go(C);
    SUCCEEDS(ha_context_finish(C));
    assert_true(sum_at(y, F) == 5 * N);
    assert_true(sum_at(x, H) == 2 * 3 * N);
    drop(x);
    drop(y);
}

TEST(reserve_under_work) {
    harray_double x = everywhere();
    hold(C);
    add_at(x, C, 1);
    SUCCEEDS(ha_array_reserve(x.array, C, 3 * N));
    add_at(x, F, 1);
    give_others_a_chance();
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
    give_others_a_chance();
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
    give_others_a_chance();
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
    give_others_a_chance();
    let_go(C);
    SUCCEEDS(ha_context_finish(C));
    assert_true(sum == N);
    assert_true(sum_at(y, H) == RAMP_SUM);
    drop(x);
    drop(y);
}

/* ---- closing -------------------------------------------------------------------------------- */

/* Closing unlocks at once, whatever is still to happen. */
TEST(close_never_blocks) {
    harray_double x = everywhere();
    hold(C);
    hold(F);
    for (int i = 0; i < 10; i++) {
        ha_access a;
        SUCCEEDS(ha_open(&a, x.array, i % 2 ? C : F, HA_WRITE, 0, HA_END));
        SUCCEEDS(ha_close(&a));
        assert_int_equal(open_elsewhere(x.array, C, HA_WRITE | HA_TRY, 0, HA_END), HA_OK);
    }
    let_go(C);
    let_go(F);
    assert_true(sum_at(x, H) == RAMP_SUM);
    drop(x);
}

static void enter(void) {
    const matrix_row row = {"sim:0", "sim:1", "private:0"};
    enter_row(&row);
    F = ha_context_fork(C);
    if (!F) ha_check_failed_(HA_SITE, "fork");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ORDER(stepping),
        ORDER(forks_have_queues),
        ORDER(writers_on_two_queues),
        ORDER(write_then_write),
        ORDER(read_then_write),
        ORDER(two_readers_then_write),
        ORDER(reads_do_not_wait),
        ORDER(other_elements_do_not_wait),
        ORDER(host_read_waits),
        ORDER(trying_waits_for_data),
        ORDER(host_write_waits_for_a_transfer),
        ORDER(elements_wait),
        ORDER(finish_waits_for_everything),
        ORDER(prefetch_returns),
        ORDER(transfers_in_flight),
        ORDER(staging_waits),
        ORDER(staging_holds_the_stage),
        ORDER(transfer_waits_for_readers),
        ORDER(fill_keeps_its_source),
        ORDER(write_waits_for_a_transfer_away),
        ORDER(across_backends),
        ORDER(growth_under_work),
        ORDER(growth_keeps_the_old_block),
        ORDER(growth_on_the_host_keeps_the_old_block),
        ORDER(regrowth_under_work),
        ORDER(reserve_under_work),
        ORDER(free_under_work),
        ORDER(purge_under_work),
        ORDER(take_under_work),
        ORDER(swap_and_copy_under_work),
        ORDER(assign_under_work),
        ORDER(close_never_blocks),
    };
    const ha_sim_options delayed = {.delay_ns = 20000, .seed = 3};
    int failed = 0;
    enter();
    failed += cmocka_run_group_tests_name("sim:0", tests, NULL, NULL);
    failed += leave_row();
    if (failed) return failed; /* devices may be open still */

    HA_CHECK(ha_sim_configure(&delayed));
    enter();
    failed += cmocka_run_group_tests_name("sim:0 with delays", tests, NULL, NULL);
    return failed + leave_row();
}
