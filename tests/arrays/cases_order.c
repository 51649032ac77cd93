/* Order without waiting: what reads and writes on several queues wait for, and what not.
 * On the contexts of support/held.h. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/held.h"
#include "../support/threads.h"

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
    until_quiet();
    assert_int_equal(atomic_load(&ran), 0);
    for (int i = 1; i <= 2; i++) {
        SUCCEEDS(ha_sim_step(C, 1));
        while (atomic_load(&ran) < i) sched_yield();
        until_quiet();
        assert_int_equal(atomic_load(&ran), i);
    }
    let_go(C);
    SUCCEEDS(ha_context_finish(C));
    assert_int_equal(atomic_load(&ran), 3);
    REFUSED(HA_ERR_ARGUMENT, ha_sim_hold(H));
    REFUSED(HA_ERR_ARGUMENT, ha_sim_fail(H));
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
    until_quiet();
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
    until_quiet();
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
    until_quiet();
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
    until_quiet();
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
    until_quiet();
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
    until_quiet();
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
    until_quiet();
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
    until_quiet();
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
    until_quiet();
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
    until_quiet();
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
    until_quiet();
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
    until_quiet();
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
    until_quiet();
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

/* Waits no longer than it is told to. */
TEST(finishing_within_a_time) {
    double sum = 0;
    harray_double x = everywhere();
    hold(C);
    HA_READING(v, x, C) {
        const sum_of s = {v.data, v.size, &sum};
        SUCCEEDS(ha_enqueue(C, sum_job, &s, sizeof s));
    }
    else fail();
    REFUSED(HA_ERR_BUSY, ha_context_finish_within(C, 0));
    REFUSED(HA_ERR_BUSY, ha_context_finish_within(C, -1));
    REFUSED(HA_ERR_BUSY, ha_context_finish_within(C, 1e-4));
    assert_true(sum == 0);
    let_go(C);
    SUCCEEDS(ha_context_finish_within(C, 1e300));
    assert_true(sum == RAMP_SUM);
    SUCCEEDS(ha_context_finish_within(C, 0)); /* nothing is left to be waited for */
    SUCCEEDS(ha_context_finish_within(H, 0));
    drop(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ORDER(finishing_within_a_time),
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
        ORDER(close_never_blocks),
    };
    int failed = 0;
    RUN_WITH_AND_WITHOUT_DELAYS(failed, tests);
    return failed;
}
