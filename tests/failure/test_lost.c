/* Queues that fail late: what is lost, what is not, and what is said about it. Each test has
 * devices of its own, as a queue that has failed stays so until ha_shutdown. Contexts as in
 * support/held.h. */
#define _GNU_SOURCE 1
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int fail_in;          /* n > 0: the n-th allocation from now on fails */
static void (*on_allocation)(void); /* called once, in front of the next one */

static void *failing_realloc(void *memory, size_t bytes) {
    void (*call)(void) = on_allocation;
    on_allocation = NULL;
    if (call) call();
    if (atomic_load(&fail_in) > 0 && atomic_fetch_sub(&fail_in, 1) == 1) return NULL;
    return realloc(memory, bytes);
}

#define HARRAY_MALLOC(bytes) failing_realloc(NULL, bytes)
#define HARRAY_REALLOC failing_realloc
#define HARRAY_FREE free
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../support/own_memory.h"
#include "../../harray.h"
#include "../support/held.h"
#include <pthread.h>

/* Whatever is enqueued on the context from now on is lost. */
static void break_down(ha_context *context) { SUCCEEDS(ha_sim_fail(context)); }

/* What was to be added at the context never happens, and nothing that comes there later. */
static void lose_work(harray_double x, ha_context *context) {
    hold(context);
    add_at(x, context, 1);
    break_down(context);
}

/* The same for a part of it. */
static void lose_range(harray_double x, ha_context *context, size_t first, size_t last) {
    hold(context);
    HA_WRITING_RANGE(v, x, context, first, last) add(&v, 1);
    else fail();
    break_down(context);
}

/* Takes the error: its text must name these. */
static void expect_text(ha_status status, const char *one, const char *two) {
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, status);
    assert_non_null(strstr(e.text, one));
    assert_non_null(strstr(e.text, two));
}

static void expect_lost(harray_double x, ha_context *context, size_t first, size_t last) {
    ha_access v;
    REFUSED(HA_ERR_LOST, ha_open(&v, x.array, context, HA_READ, first, last));
    REFUSED(HA_ERR_LOST, ha_open(&v, x.array, context, HA_WRITE, first, last));
}

/* ---- transfers ------------------------------------------------------------------------------ */

/* What was only on its way is not lost: its source stays valid. */
TEST(transfer_to_a_device) {
    harray_double x = ramp(N);
    ha_access v;
    hold(C);
    SUCCEEDS(ha_array_prefetch(x.array, C, 0, HA_END));
    assert_true(VALID(x, C));
    break_down(C);
    REFUSED(HA_ERR_LOST, ha_context_finish(C));
    REFUSED(HA_ERR_BACKEND, ha_open(&v, x.array, C, HA_READ, 0, HA_END));
    assert_true(sum_at(x, H) == RAMP_SUM);
    assert_false(VALID(x, C));
    assert_true(sum_at(x, M1) == RAMP_SUM); /* by way of the host */
    drop(x);
}

/* The host's copy is what was lost; the device's is still there, by another of its queues. */
TEST(transfer_from_a_device) {
    harray_double x = ramp(N);
    add_at(x, C, 1);
    SUCCEEDS(ha_context_finish(C));
    hold(C);
    SUCCEEDS(ha_array_prefetch(x.array, H, 0, HA_END));
    assert_true(VALID(x, H));
    break_down(C);
    assert_true(sum_at(x, H) == RAMP_SUM + N);
    assert_true(sum_at(x, F) == RAMP_SUM + N);
    drop(x);
}

/* One of two sources breaks down while it is copied from: the other one is taken. */
TEST(another_source) {
    harray_double x = ramp(N);
    add_at(x, C, 1);
    touch(x, M2); /* valid at C, M2 and on the host between them */
    SUCCEEDS(ha_context_finish(M2));
    HA_OVERWRITING_RANGE(v, x, H, 0, 1) v.data[0] = 1; /* of this one the host has the only copy */
    else fail();
    HA_OVERWRITING_RANGE(v, x, M2, 5, 6) fill(&v, 6); /* of this one M2 */
    else fail();
    hold(C);
    begin_sum(x, C, &(double){0});
    break_down(C);
    assert_true(sum_at(x, H) == RAMP_SUM + N);
    drop(x);
}

/* ---- writes --------------------------------------------------------------------------------- */

TEST(write_on_a_device) {
    harray_double x = ramp(N);
    ha_array_set_name(x.array, "pressure");
    touch(x, C);
    lose_range(x, C, 10, 20);
    assert_int_equal(ha_context_finish(C), HA_ERR_LOST);
    expect_text(HA_ERR_LOST, "sim:0", "ha_shutdown");
    expect_lost(x, H, 0, HA_END);
    expect_lost(x, M1, 19, 20);
    ha_access v;
    assert_int_equal(ha_open(&v, x.array, H, HA_READ, 12, 15), HA_ERR_LOST);
    expect_text(HA_ERR_LOST, "'pressure' (double[1000])", "[12, 15)");
    assert_int_equal(ha_open(&v, x.array, F, HA_READ, 0, HA_END), HA_ERR_LOST);
    expect_text(HA_ERR_LOST, "sim:0 failed before", "test_lost.c:");
    assert_true(sum_range(x, H, 0, 10) == 45);
    assert_true(sum_range(x, M1, 20, 30) == 245);
    drop(x);
}

/* Overwriting is the way out; also in parts, by single elements, and on another device. */
TEST(overwriting_what_was_lost) {
    harray_double x = ramp(30);
    lose_work(x, C);
    expect_lost(x, H, 0, HA_END);
    HA_OVERWRITING_RANGE(v, x, H, 0, 10) for (size_t i = 0; i < 10; i++) v.data[i] = 1;
    else fail();
    HA_OVERWRITING_RANGE(v, x, M1, 11, 30) fill(&v, 1);
    else fail();
    expect_lost(x, H, 0, HA_END);
    expect_lost(x, H, 10, 11);
    assert_true(sum_range(x, H, 0, 10) == 10);
    SUCCEEDS(harray_double_set(x, 10, 5));
    assert_true(sum_at(x, H) == 34);
    assert_true(sum_at(x, F) == 34);
    drop(keep(harray_double_copy(x)));
    drop(x);
}

/* Whole sizes, clearing and exchanging take it along. */
TEST(lost_arrays_as_a_whole) {
    harray_double x = ramp(30), y = ramp(4);
    lose_range(x, C, 20, 30);
    expect_lost(x, H, 0, HA_END);
    REFUSED_NULL(HA_ERR_LOST, harray_double_copy(x).array);
    REFUSED(HA_ERR_LOST, harray_double_assign(y, x));
    SUCCEEDS(harray_double_swap(x, y));
    assert_true(sum_at(x, H) == 6);
    expect_lost(y, H, 25, 26);
    SUCCEEDS(harray_double_resize(y, 21));
    expect_lost(y, H, 0, HA_END);
    SUCCEEDS(harray_double_resize(y, 20));
    assert_true(sum_at(y, H) == 190);
    SUCCEEDS(harray_double_resize(y, 22)); /* never written now, not lost any more */
    ha_access v;
    REFUSED(HA_ERR_STATE, ha_open(&v, y.array, H, HA_READ, 0, HA_END));
    HA_OVERWRITING(w, y, H, 3) w.data[0] = w.data[1] = w.data[2] = 2;
    else fail();
    assert_true(sum_at(y, M1) == 6);
    drop(x);
    drop(y);
}

/* Lost and cleared: an empty array is as good as new. */
TEST(clearing_what_was_lost) {
    harray_double x = ramp(30);
    lose_work(x, C);
    expect_lost(x, H, 0, HA_END);
    SUCCEEDS(ha_array_clear(x.array));
    SUCCEEDS(harray_double_resize(x, 3));
    ha_access v;
    REFUSED(HA_ERR_STATE, ha_open(&v, x.array, H, HA_READ, 0, HA_END));
    drop(x);
}

/* Reads all of x without the n-th of the allocations that it takes. */
static ha_status read_without(harray_double x, int n) {
    ha_access v;
    atomic_store(&fail_in, n);
    const ha_status status = ha_open(&v, x.array, H, HA_READ, 0, HA_END);
    atomic_store(&fail_in, 0);
    assert_int_equal(ha_take_error().status, status);
    return status;
}

/* What is lost is told also when there was no memory to note it at first, and nothing else is. */
TEST(losing_without_memory) {
    harray_double x = ramp(10);
    touch(x, C);
    SUCCEEDS(ha_context_finish(C));
    hold(C);
    HA_WRITING_RANGE(v, x, C, 0, 9) add(&v, 1);
    else fail();
    for (size_t i = 2; i < 8; i += 2) HA_OVERWRITING_RANGE(v, x, H, i, i + 1) v.data[0] = 5;
    break_down(C);
    REFUSED(HA_ERR_LOST, ha_context_finish(C));
    int n = 1;
    while (read_without(x, n) == HA_ERR_MEMORY) n++;
    assert_true(n > 3);
    for (size_t i = 0; i < 9; i++)
        if (i % 2 || i < 2 || i > 6)
            expect_lost(x, H, i, i + 1);
        else
            assert_true(sum_range(x, H, i, i + 1) == 5);
    assert_true(sum_range(x, M1, 9, 10) == 9);
    drop(x);
}

/* ---- queues --------------------------------------------------------------------------------- */

/* Whoever comes after what was lost is lost, too: a queue that waits for it fails as well. */
TEST(failure_spreads_along_the_order) {
    harray_double x = ramp(N);
    touch(x, C);
    SUCCEEDS(ha_context_finish(C));
    hold(C);
    HA_WRITING(v, x, C) add(&v, 1);
    else fail();
    HA_WRITING(v, x, F) add(&v, 1);
    else fail();
    break_down(C);
    expect_lost(x, H, 0, HA_END);
    expect_lost(x, M1, 0, 1);
    drop(x);
}

/* All queues of a device are gone: so is what only it had. */
TEST(no_queue_left) {
    harray_double x = ramp(N), y = ramp(N);
    double element = -1;
    add_at(x, C, 1);
    touch(y, C);
    SUCCEEDS(ha_context_finish(C));
    break_down(C);
    break_down(F);
    REFUSED(HA_ERR_LOST, ha_enqueue(C, add_job, NULL, 0));
    REFUSED(HA_ERR_LOST, ha_enqueue(F, add_job, NULL, 0));
    expect_lost(x, H, 0, HA_END);
    REFUSED(HA_ERR_LOST, harray_double_get(x, 7, &element));
    assert_true(element == -1);
    assert_true(sum_at(y, H) == RAMP_SUM);
    SUCCEEDS(harray_double_get(y, 7, &element));
    assert_true(element == 7);
    drop(x);
    drop(y);
}

/* One queue is gone, another one of the device still reaches what is there. */
TEST(one_queue_left) {
    harray_double x = ramp(N);
    double element = 0;
    add_at(x, C, 1);
    SUCCEEDS(ha_context_finish(C));
    break_down(C);
    REFUSED(HA_ERR_LOST, ha_enqueue(C, add_job, NULL, 0));
    SUCCEEDS(harray_double_get(x, 7, &element));
    assert_true(element == 8);
    assert_true(sum_at(x, M2) == RAMP_SUM + N);
    assert_true(sum_at(x, H) == RAMP_SUM + N);
    drop(x);
}

/* Room is made by the queue that is asked to, as accesses are opened. */
TEST(reserving_at_a_failed_queue) {
    harray_double x = ramp(N);
    add_at(x, C, 1);
    SUCCEEDS(ha_context_finish(C));
    break_down(C);
    REFUSED(HA_ERR_LOST, ha_enqueue(C, add_job, NULL, 0));
    assert_int_equal(ha_array_reserve(x.array, C, 2 * N), HA_ERR_BACKEND);
    expect_text(HA_ERR_BACKEND, "sim:0", "its queue has failed");
    SUCCEEDS(ha_array_reserve(x.array, F, 2 * N));
    assert_true(sum_at(x, F) == RAMP_SUM + N);
    drop(x);
}

/* F fails when C already works behind what F has done: then C's access has the values, also when it
 * is resized, and all that is done with them later is fine. */
TEST(resizing_behind_a_queue_that_fails) {
    harray_double x = ramp(N);
    add_at(x, F, 1);
    HA_WRITING(v, x, C) {
        SUCCEEDS(ha_context_finish(C));
        break_down(F);
        REFUSED(HA_ERR_LOST, ha_enqueue(F, add_job, NULL, 0));
        SUCCEEDS(ha_access_resize(&v, 3 * N));
        SUCCEEDS(ha_access_resize(&v, N));
    }
    else fail();
    harray_double y = keep(harray_double_copy(x));
    assert_true(sum_at(x, H) == RAMP_SUM + N);
    assert_true(sum_at(y, H) == RAMP_SUM + N);
    drop(x);
    drop(y);
}

/* C fails when F already overwrites what C has written. Whoever looks at the array then may not
 * take that away: F came after C, and has not failed. */
TEST(overwriting_when_it_fails) {
    harray_double x = everywhere();
    HA_WRITING_RANGE(v, x, C, 10, 20) add(&v, 1);
    else fail();
    HA_OVERWRITING_RANGE(v, x, F, 12, 15) {
        SUCCEEDS(ha_context_finish(F));
        break_down(C);
        REFUSED(HA_ERR_LOST, ha_enqueue(C, add_job, NULL, 0));
        SUCCEEDS(ha_array_prefetch(x.array, F, 30, 40));
        SUCCEEDS(ha_wait(&v));
        fill(&v, 5);
    }
    else fail();
    assert_true(sum_range(x, H, 12, 15) == 15);
    expect_lost(x, H, 10, 12);
    expect_lost(x, H, 15, 20);
    assert_true(sum_range(x, H, 0, 10) == 45);
    drop(x);
}

/* The same when that is noticed while it is being opened. */
static void all_queues_fail(void) {
    ha_context *const queues[] = {C, F};
    for (size_t i = 0; i < 2; i++) {
        HA_IGNORE(ha_sim_fail(queues[i]));
        HA_IGNORE(ha_enqueue(queues[i], add_job, NULL, 0)); /* notices it */
        (void)ha_take_error();
    }
}

TEST(writing_when_it_has_just_failed) {
    harray_double x = keep(harray_double_zeros_at(N, C));
    ha_access v;
    SUCCEEDS(ha_context_finish(C));
    on_allocation = all_queues_fail; /* for the block on the host */
    REFUSED(HA_ERR_LOST, ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    assert_null(on_allocation);
    drop(x);
}

/* What is there, and does not reach the device any more, was written all the same. */
static void open_when_it_has_just_failed(unsigned how) {
    if (in_unified_row) skip(); /* it is there already */
    harray_double x = ramp(N);
    ha_access v;
    on_allocation = all_queues_fail; /* for the block on the device */
    assert_int_equal(ha_open(&v, x.array, C, how, 0, HA_END), HA_ERR_BACKEND);
    expect_text(HA_ERR_BACKEND, "sim:0", "its queue has failed");
    assert_null(on_allocation);
    assert_true(sum_at(x, H) == RAMP_SUM);
    drop(x);
}

TEST(reading_at_a_device_that_has_just_failed) { open_when_it_has_just_failed(HA_READ); }

TEST(writing_at_a_device_that_has_just_failed) { open_when_it_has_just_failed(HA_WRITE); }

static int until_failure; /* allocations */

static void fail_in_time(void) {
    if (--until_failure > 0)
        on_allocation = fail_in_time;
    else
        all_queues_fail();
}

/* Nonzero: they failed on the way of x to another device, by way of the host. */
static int fail_on_the_way(int allocations) {
    harray_double x = keep(harray_double_zeros_at(N, C));
    ha_access v;
    SUCCEEDS(ha_context_finish(C));
    until_failure = allocations;
    on_allocation = fail_in_time;
    ha_status s = ha_open(&v, x.array, M1, HA_WRITE, 0, HA_END);
    const int failed = !on_allocation;
    on_allocation = NULL;
    if (s)
        REFUSED(HA_ERR_LOST, s);
    else
        SUCCEEDS(ha_close(&v));
    drop(x);
    return failed;
}

/* The host never reaches for what is on a device that has failed meanwhile. The library is called from
 * the allocator here, which programs must not do: it may hold locks then, in an order that
 * ThreadSanitizer rightly does not like. */
#ifdef __has_feature
#define SANITIZES_THREADS __has_feature(thread_sanitizer)
#elif defined __SANITIZE_THREAD__
#define SANITIZES_THREADS 1
#else
#define SANITIZES_THREADS 0
#endif

TEST(failing_anywhere_on_the_way) {
    void *none = NULL;
    if (in_unified_row || SANITIZES_THREADS) skip();
    for (int n = 1; fail_on_the_way(n); n++) {
        assert_int_equal(end_lost(&none), 0);
        assert_int_equal(begin_lost(&none), 0);
    }
}

/* Gives memory of C. When it gives the second block, all queues there fail. */
static ha_status give_and_fail(void *user, size_t bytes, void **block) {
    const ha_memory *m = C->memory;
    int *blocks = (int *)user;
    if (++*blocks == 2) all_queues_fail();
    return ha_memory_table(m)->allocate(m->handle, bytes, block);
}

static void take_back(HA_UNUSED void *user, void *block, size_t bytes) {
    const ha_memory *m = C->memory;
    ha_memory_table(m)->release(m->handle, block, bytes);
}

/* When an opening fails, what it has brought may be the only copy there is. */
TEST(brought_from_what_has_failed) {
    int blocks = 0;
    const ha_allocator failing = {give_and_fail, take_back, &blocks};
    if (in_unified_row) skip(); /* the host has no copy of its own */
    harray_double a = ramp(N), b = ramp(N);
    const int in_order = (uintptr_t)a.array < (uintptr_t)b.array; /* so they are opened */
    harray_double x = in_order ? a : b, y = in_order ? b : a;
    ha_access v, w;
    ha_request both[] = {
        {.access = &v, .array = x.array, .context = H, .how = HA_READ, .last = HA_END},
        {.access = &w, .array = y.array, .context = C, .how = HA_OVERWRITE, .last = HA_END}};
    SUCCEEDS(ha_memory_set_allocator(C, &failing));
    add_at(x, C, 1);
    SUCCEEDS(ha_context_finish(C));
    REFUSED(HA_ERR_BACKEND, ha_open_many(both, 2));
    assert_true(VALID(x, H));
    assert_true(sum_at(x, H) == RAMP_SUM + N);
    add_at(x, M1, 1);
    assert_true(sum_at(x, H) == RAMP_SUM + 2 * N);
    drop(x);
    drop(y);
}

/* An access that writes needs what was there, and is told when that is lost. */
TEST(writing_when_it_fails) {
    harray_double x = everywhere();
    hold(C);
    HA_WRITING_RANGE(v, x, C, 10, 20) add(&v, 1);
    else fail();
    HA_WRITING_RANGE(v, x, F, 12, 15) {
        break_down(C);
        REFUSED(HA_ERR_LOST, ha_enqueue(C, add_job, NULL, 0));
        SUCCEEDS(ha_array_prefetch(x.array, M1, 30, 40));
        REFUSED(HA_ERR_LOST, ha_wait(&v));
    }
    else fail();
    expect_lost(x, H, 10, 20);
    drop(x);
}

/* Blocks of a queue that failed go back, when it is off them. */
TEST(memory_comes_back) {
    harray_double x = ramp(N);
    hold(C);
    touch(x, C);
    SUCCEEDS(ha_array_purge(x.array));
    break_down(C);
    REFUSED(HA_ERR_LOST, ha_context_finish(C));
    touch(ramp(1), H);
    drop(x);
    drop_arrays();
}

/* What holds a queue up until somebody waits for the queue to be drained, which is noted: so the
 * drain that is missing is missed, not only late. */
static struct drain_seen {
    const ha_queue_ops *ops; /* the queue's own */
    ha_queue_ops watched;
    void (*go_on)(void);
    int seen;
} drain;

static void watched_drain(void *queue) {
    if (!drain.seen) drain.go_on();
    drain.seen = 1;
    drain.ops->drain(queue);
}

static void watch_drain(ha_context *context, void (*go_on)(void)) {
    drain = (struct drain_seen){context->ops, *context->ops, go_on, 0};
    drain.watched.drain = watched_drain;
    context->ops = &drain.watched;
}

static void unwatch_drain(ha_context *context) {
    context->ops = drain.ops;
    if (!drain.seen) drain.go_on();
    assert_true(drain.seen);
}

/* The command that was running when the queue failed is still at its memory. */
static atomic_int started, may_end, ended;

static void wait_job(HA_UNUSED const ha_queue *queue, HA_UNUSED void *argument) {
    atomic_store(&started, 1);
    await_flag(&may_end);
    atomic_store(&ended, 1);
}

static void begin_waiting_job(ha_context *context) {
    atomic_store(&started, 0);
    atomic_store(&may_end, 0);
    atomic_store(&ended, 0);
    SUCCEEDS(ha_enqueue(context, wait_job, NULL, 0));
    while (!atomic_load(&started)) sched_yield();
}

static void let_job_end(void) { raise_flag(&may_end); }

TEST(memory_in_use_when_it_fails) {
    watch_drain(C, let_job_end);
    begin_waiting_job(C);
    break_down(C);
    REFUSED(HA_ERR_LOST, ha_context_finish(C));
    const int at_rest = atomic_load(&ended);
    unwatch_drain(C);
    assert_true(at_rest);
}

static void let_f_go(void) { let_go(F); }

/* What a lost write has replaced in the list is not done because that is lost. */
TEST(replaced_by_what_is_lost) {
    ha_context *third = ha_context_fork(C);
    double result = 0;
    harray_double x = ramp(N);
    touch(x, C);
    SUCCEEDS(ha_context_finish(C));
    hold(F);
    HA_WRITING(v, x, F) add(&v, 1);
    else fail();
    HA_WRITING(v, x, C) add(&v, 1);
    else fail();
    break_down(C);
    watch_drain(F, let_f_go);
    REFUSED(HA_ERR_LOST, ha_context_finish(C));
    unwatch_drain(F);
    HA_OVERWRITING_ALL(v, x, third) fill(&v, 5);
    else fail();
    begin_sum(x, third, &result);
    SUCCEEDS(ha_context_finish(third));
    assert_true(result == 5 * N);
    assert_true(sum_at(x, H) == 5 * N);
    drop(x);
    SUCCEEDS(ha_context_unfork(third));
}

/* An access that is open when its queue fails: closing works, and what it wrote is lost. */
TEST(open_when_it_fails) {
    harray_double x = ramp(N);
    ha_write_double v;
    SUCCEEDS(ha_open(&v, x.array, C, HA_WRITE, 0, HA_END));
    break_down(C);
    REFUSED(HA_ERR_LOST, ha_context_finish(C));
    REFUSED(HA_ERR_BACKEND, ha_access_resize(&v, 2 * N));
    assert_int_equal(v.size, N);
    SUCCEEDS(ha_close(&v));
    expect_lost(x, H, 0, HA_END);
    drop(x);
}

/* ---- at random ------------------------------------------------------------------------------ */

enum { PIECES = 24, ROUNDS = 300 };

typedef struct oracle {
    double value[PIECES];
    int at_risk[PIECES]; /* its last writer was a device */
} oracle;

static uint64_t random_state;

static size_t some(size_t n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state % n);
}

static void random_write(harray_double x, oracle *o, ha_context *context) {
    const size_t first = some(PIECES), last = first + 1 + some(PIECES - first);
    const double value = (double)some(1000);
    const unsigned how = some(2) ? HA_WRITE : HA_OVERWRITE;
    ha_write_double v;
    if (ha_open(&v, x.array, context, how, first, last) != HA_OK) {
        const ha_status status = ha_take_error().status;
        assert_true(status == HA_ERR_LOST || status == HA_ERR_BACKEND);
        return;
    }
    const job j = {v.data, v.size, value};
    if (ha_enqueue(context, fill_job, &j, sizeof j) != HA_OK)
        assert_int_equal(ha_take_error().status, HA_ERR_LOST);
    for (size_t i = first; i < last; i++) {
        o->value[i] = value;
        o->at_risk[i] = context != H;
    }
    SUCCEEDS(ha_close(&v));
}

/* What can be read is right; what the host wrote last can be read. */
static void random_read(harray_double x, const oracle *o) {
    const size_t i = some(PIECES);
    double value = -1;
    HA_READING_RANGE(v, x, H, i, i + 1) { value = v.data[0]; }
    else {
        assert_int_equal(ha_take_error().status, HA_ERR_LOST);
        assert_true(o->at_risk[i]);
        return;
    }
    assert_true(value == o->value[i]);
}

static void random_round(uint64_t seed) {
    oracle o = {{0}, {0}};
    ha_context *places[] = {H, C, F, M1};
    harray_double x = ramp(PIECES);
    for (size_t i = 0; i < PIECES; i++) o.value[i] = (double)i;
    random_state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    const size_t fatal = 5 + some(20), victim = 1 + some(3);
    for (size_t n = 0; n < 40; n++) {
        if (n == fatal) break_down(places[victim]);
        switch (some(4)) {
        case 0:
            random_read(x, &o);
            break;
        case 1:
            if (ha_array_prefetch(x.array, places[some(4)], 0, HA_END) != HA_OK)
                (void)ha_take_error();
            break;
        default:
            random_write(x, &o, places[some(4)]);
        }
        step();
    }
    for (size_t i = 0; i < PIECES; i++) random_read(x, &o);
    drop(x);
}

TEST(never_a_wrong_value) {
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        random_round(seed);
        assert_int_equal(ha_shutdown(), HA_OK);
        HA_CHECK(ha_sim_configure(&(ha_sim_options){.delay_ns = 3000, .seed = seed}));
        enter();
    }
    assert_int_equal(ha_shutdown(), HA_OK);
    HA_CHECK(ha_sim_configure(NULL));
    enter();
}

/* ---- while it fails ------------------------------------------------------------------------- */

/* Whether an operation of C stands in the array's list there, after settling. */
static int is_outstanding(harray_double x) {
    assert_int_equal(ha_busy_begin(x.array, 0, NULL), HA_OK);
    assert_int_equal(ha_settle(x.array), HA_OK);
    const uint32_t n = ha_incarnation_find(x.array, C->memory)->ops.n;
    ha_busy_end(x.array);
    return n > 0;
}

static void *find_out(void *argument) {
    const int lost = ha_context_finish(C) == HA_ERR_LOST;
    return lost && ha_take_error().status == HA_ERR_LOST ? NULL : argument;
}

/* The command that runs when a queue fails still ends, and uses the block until then: so its array
 * is not settled before. */
TEST(settling_waits_for_what_runs) {
    harray_double x = ramp(N);
    pthread_t other;
    void *wrong;
    break_down(M1);
    REFUSED(HA_ERR_LOST, ha_context_finish(M1)); /* from here on, arrays are looked at */
    HA_WRITING(v, x, C) {
        begin_waiting_job(C);
        add(&v, 1);
    }
    else fail();
    break_down(C);
    assert_int_equal(pthread_create(&other, NULL, find_out, &x), 0);
    while (!ha_has_failed(C)) sched_yield();
    const int stays = is_outstanding(x);
    let_job_end();
    assert_int_equal(pthread_join(other, &wrong), 0);
    assert_null(wrong);
    assert_true(stays);
    assert_false(is_outstanding(x));
    expect_lost(x, H, 0, HA_END);
    drop(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LOST(transfer_to_a_device),
        LOST(transfer_from_a_device),
        LOST(another_source),
        LOST(write_on_a_device),
        LOST(overwriting_what_was_lost),
        LOST(lost_arrays_as_a_whole),
        LOST(clearing_what_was_lost),
        LOST(losing_without_memory),
        LOST(failure_spreads_along_the_order),
        LOST(no_queue_left),
        LOST(one_queue_left),
        LOST(reserving_at_a_failed_queue),
        LOST(resizing_behind_a_queue_that_fails),
        LOST(overwriting_when_it_fails),
        LOST(writing_when_it_fails),
        LOST(writing_when_it_has_just_failed),
        LOST(reading_at_a_device_that_has_just_failed),
        LOST(writing_at_a_device_that_has_just_failed),
        LOST(failing_anywhere_on_the_way),
        LOST(brought_from_what_has_failed),
        LOST(memory_comes_back),
        LOST(memory_in_use_when_it_fails),
        LOST(replaced_by_what_is_lost),
        LOST(open_when_it_fails),
        LOST(settling_waits_for_what_runs),
        LOST(never_a_wrong_value),
    };
    return cmocka_run_group_tests_name("late failures", tests, NULL, NULL);
}
