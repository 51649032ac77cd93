/* Waiting: that it ends, that what other threads do meanwhile is seen, that nobody who cannot wait
 * counts as waiting, and that memory comes back.
 *
 * The device "late" does nothing by itself: its commands run when somebody waits for them. Then the
 * test is told first, and does on another thread what would otherwise need luck to happen at that
 * moment. Blocks of LARGE elements fit into its memory one at a time. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/threads.h"

enum { SMALL = 10, LARGE = 10000 };

/* ---- the device ----------------------------------------------------------------------------- */

static void (*on_finish)(void);  /* called before somebody waits for a queue */
static void (*on_release)(void); /* called before a block is given back */
static int finishes;
static atomic_int failed_allocations;

static ha_status late_finish(const ha_event *event) {
    finishes++;
    if (on_finish) on_finish();
    return example_finish(event);
}

static int late_done(const ha_event *event) {
    const example_queue *queue = (example_queue *)event->object;
    pthread_mutex_lock(&example_lock);
    const int done = queue->executed >= event->value;
    pthread_mutex_unlock(&example_lock);
    return done;
}

static ha_status late_allocate(void *memory, size_t bytes, void **address) {
    const ha_status status = private_allocate(memory, bytes, address);
    if (status) atomic_fetch_add(&failed_allocations, 1);
    return status;
}

static void late_release(void *memory, void *address, size_t bytes) {
    if (on_release) on_release();
    private_release(memory, address, bytes);
}

static void enter_late(void) {
    static ha_memory_ops memory;
    static ha_queue_ops queue;
    static ha_backend late;
    memory = private_memory_ops;
    memory.allocate = late_allocate;
    memory.release = late_release;
    queue = private_queue_ops;
    queue.finish = late_finish;
    queue.done = late_done;
    late = private_backend;
    late.kind = "late";
    late.memory = &memory;
    late.queue = &queue;
    HA_CHECK(ha_backend_register(&late));
    H = ha_host();
    C = require_context("late:0");
    M1 = require_context("late:1");
    M2 = require_context("sim:0");
    private_capacity = (LARGE + LARGE / 2) * sizeof(double);
}

static int begin_late(void **state) {
    on_finish = on_release = NULL;
    finishes = 0;
    atomic_store(&failed_allocations, 0);
    return begin_case(state);
}

/* A test that failed may have left its functions behind. */
static int end_late(void **state) {
    on_finish = on_release = NULL;
    example_drain(C->queue);
    return end_case(state);
}
#define LATE(name) cmocka_unit_test_setup_teardown(name, begin_late, end_late)

/* Runs all but the last n commands. */
static void run_all_but(const ha_context *context, uint64_t n) {
    example_queue *queue = (example_queue *)context->queue;
    pthread_mutex_lock(&example_lock);
    while (queue->enqueued - queue->executed > n) example_run_one(queue);
    pthread_mutex_unlock(&example_lock);
}

/* The memory of C is full, and will have room when its queue has come further. */
static void fill_memory(void) {
    harray_double large = keep(harray_double_zeros_at(LARGE, C));
    drop(large);
    assert_true(bytes_retired(C->memory) >= LARGE * sizeof(double));
}

/* ---- on another thread ---------------------------------------------------------------------- */

typedef struct errand {
    void (*run)(void);
} errand;

static void *errand_main(void *argument) {
    ((const errand *)argument)->run();
    return NULL;
}

/* Runs a function on another thread, and waits for its end. */
static void elsewhere(void (*run)(void)) {
    pthread_t thread;
    errand e = {run};
    if (pthread_create(&thread, NULL, errand_main, &e) || pthread_join(thread, NULL)) abort();
}

static harray_double a, b;

/* ---- an array that is exchanged while it is reserved ---------------------------------------- */

static void exchange(void) { HA_CHECK(harray_double_swap(a, b)); }

static void exchange_and_free(void) {
    exchange();
    HA_CHECK(harray_double_free(&b));
}

static void exchange_elsewhere(void) { elsewhere(exchange); }
static void exchange_and_free_elsewhere(void) { elsewhere(exchange_and_free); }

/* What was to grow is another array's then, and with that it is gone. */
TEST(exchanged_and_freed_while_reserving) {
    a = keep(harray_double_zeros(SMALL));
    b = harray_double_zeros(2 * SMALL);
    touch(a, C);
    fill_memory();
    on_finish = exchange_and_free_elsewhere;
    SUCCEEDS(ha_array_reserve(a.array, C, LARGE));
    assert_int_equal(finishes, 1);
    assert_int_equal(harray_double_size(a), 2 * SMALL);
    assert_int_equal(CAPACITY(a, H), 2 * SMALL);
    assert_int_equal(CAPACITY(a, C), LARGE);
    on_finish = NULL;
    drop(a);
}

/* What was to grow belongs to another memory then. */
TEST(exchanged_while_reserving) {
    a = keep(harray_double_zeros_at(SMALL, C));
    b = keep(harray_double_zeros(2 * SMALL));
    fill_memory();
    on_finish = exchange_elsewhere;
    SUCCEEDS(ha_array_reserve(a.array, C, LARGE));
    assert_int_equal(finishes, 1);
    assert_int_equal(CAPACITY(a, H), 2 * SMALL);
    assert_int_equal(CAPACITY(a, C), LARGE);
    assert_int_equal(CAPACITY(b, C), SMALL);
    on_finish = NULL;
    drop(a);
    drop(b);
}

/* An access that is opened while it waits refuses it, as it would have before. */
static ha_write_double opened;

static void open_for_writing(void) {
    HA_CHECK(ha_open(&opened, a.array, ha_host(), HA_WRITE, 0, HA_END));
}

static void open_for_writing_elsewhere(void) { elsewhere(open_for_writing); }

TEST(opened_while_reserving) {
    a = keep(harray_double_zeros(SMALL));
    fill_memory();
    on_finish = open_for_writing_elsewhere;
    REFUSED(HA_ERR_CONFLICT, ha_array_reserve(a.array, C, LARGE));
    on_finish = NULL;
    ha_write_double mine;
    SUCCEEDS(ha_move(&mine, &opened));
    SUCCEEDS(ha_close(&mine));
    assert_int_equal(CAPACITY(a, C), 0);
    drop(a);
}

/* ---- an opening of no elements -------------------------------------------------------------- */

static void overwrite(void) { HA_CHECK(ha_overwrite(&opened, a.array, C, SMALL / 2, HA_WAIT)); }
static void overwrite_elsewhere(void) { elsewhere(overwrite); }

/* It excludes nobody, so it may not touch the block, which somebody may have open by then. */
static void open_nothing(unsigned how) {
    a = keep(harray_double_zeros_at(SMALL, C));
    fill_memory();
    SUCCEEDS(harray_double_resize(a, LARGE)); /* the block would grow at the next open */
    on_finish = overwrite_elsewhere;
    ha_access nothing;
    SUCCEEDS(ha_open(&nothing, a.array, C, how, 0, 0));
    on_finish = NULL;
    assert_int_equal(finishes, 0);
    assert_int_equal(CAPACITY(a, C), SMALL);
    elsewhere(overwrite);
    const void *data = opened.data;
    SUCCEEDS(ha_close(&nothing));
    SUCCEEDS(ha_open(&nothing, a.array, C, how, 0, 0));
    SUCCEEDS(ha_array_prefetch(a.array, C, 0, 0));
    SUCCEEDS(ha_close(&nothing));
    assert_ptr_equal(ha_incarnation_find(a.array, C->memory)->data, data);
    ha_write_double mine;
    SUCCEEDS(ha_move(&mine, &opened));
    SUCCEEDS(ha_close(&mine));
    drop(a);
}

TEST(reading_nothing_moves_no_block) { open_nothing(HA_READ); }
TEST(writing_nothing_moves_no_block) { open_nothing(HA_WRITE); }
TEST(overwriting_nothing_moves_no_block) { open_nothing(HA_OVERWRITE); }

/* ---- resizing inside an access -------------------------------------------------------------- */

static int was_busy;
static ha_status cleared;

/* Others are refused at once. Asking an array that stays busy would wait for ever. */
static void clear_unless_busy(void) {
    ha_lock(a.array);
    was_busy = a.array->busy != 0;
    ha_unlock(a.array);
    if (!was_busy) cleared = ha_array_clear(a.array);
}

static void clear_elsewhere(void) { elsewhere(clear_unless_busy); }

typedef ha_status (*grower)(ha_access *x, size_t n, const char *site);

static void grow_in_access(grower grow) {
    a = keep(harray_double_zeros_at(SMALL, C));
    was_busy = 1;
    cleared = HA_OK;
    ha_access x;
    SUCCEEDS(ha_open(&x, a.array, C, HA_WRITE, 0, HA_END));
    fill_memory();
    on_finish = clear_elsewhere;
    SUCCEEDS(grow(&x, LARGE, HA_SITE));
    on_finish = NULL;
    assert_int_equal(finishes, 1);
    assert_false(was_busy);
    assert_int_equal(cleared, HA_ERR_CONFLICT);
    assert_int_equal(ha_access_capacity(&x), LARGE);
    SUCCEEDS(ha_close(&x));
    drop(a);
}

TEST(not_busy_while_an_access_is_resized) { grow_in_access(ha_access_resize_); }
TEST(not_busy_while_an_access_reserves) { grow_in_access(ha_access_reserve_); }

/* A second access that comes meanwhile is in the way, also one to no elements. */
static void open_empty(void) { HA_CHECK(ha_open(&opened, a.array, C, HA_WRITE, 0, 0)); }
static void open_empty_elsewhere(void) { elsewhere(open_empty); }

TEST(opened_while_an_access_reserves) {
    a = keep(harray_double_zeros_at(SMALL, C));
    ha_access x;
    SUCCEEDS(ha_open(&x, a.array, C, HA_WRITE, 0, HA_END));
    fill_memory();
    on_finish = open_empty_elsewhere;
    REFUSED(HA_ERR_CONFLICT, ha_access_reserve(&x, LARGE));
    on_finish = NULL;
    assert_int_equal(CAPACITY(a, C), SMALL);
    ha_write_double mine;
    SUCCEEDS(ha_move(&mine, &opened));
    SUCCEEDS(ha_close(&mine));
    SUCCEEDS(ha_access_reserve(&x, LARGE));
    SUCCEEDS(ha_close(&x));
    drop(a);
}

/* ---- memory comes back ---------------------------------------------------------------------- */

static void do_nothing(HA_UNUSED const ha_queue *queue, HA_UNUSED void *argument) {}

/* A queue that is never idle, but always a few commands behind. */
TEST(swept_under_steady_load) {
    enum { ROUNDS = 200, BEHIND = 6, MOST = 10 };
    const uint64_t block = SMALL * sizeof(double);
    uint64_t host = 0, device = 0;
    for (int i = 0; i < ROUNDS; i++) {
        harray_double x = harray_double_zeros(SMALL);
        HA_READING(v, x, C) HA_RUN(do_nothing, v);
        assert_int_equal(harray_double_free(&x), HA_OK);
        run_all_but(C, BEHIND);
        if (bytes_retired(&ha_host_memory) > host) host = bytes_retired(&ha_host_memory);
        if (bytes_retired(C->memory) > device) device = bytes_retired(C->memory);
    }
    assert_true(host > 0 && host <= MOST * block);
    assert_true(device > 0 && device <= MOST * block);
    assert_int_equal(finishes, 0);
}

/* A request that no memory meets is refused, whatever others make and free meanwhile. */
static void make_and_free(void) {
    harray_double x = harray_double_zeros_at(SMALL, C);
    HA_CHECK(harray_double_free(&x));
}

static void make_and_free_elsewhere(void) {
    if (finishes < 100) elsewhere(make_and_free);
}

TEST(too_large_while_others_free) {
    fill_memory();
    on_finish = make_and_free_elsewhere;
    REFUSED_NULL(HA_ERR_MEMORY, ha_array_new(harray_double_type(), 2 * LARGE, C));
    assert_int_equal(finishes, 1);
}

/* What was freed before is waited for, one block after the other, whatever others free
 * meanwhile. */
TEST(all_that_was_retired) {
    enum { PART = LARGE * 2 / 3, MORE = LARGE * 6 / 5 };
    ha_context *fork = ha_context_fork(C);
    drop(keep(harray_double_zeros_at(PART, C)));
    drop(keep(harray_double_zeros_at(PART, fork)));
    on_finish = make_and_free_elsewhere;
    harray_double x = keep(harray_double_new_at(MORE, C));
    on_finish = NULL;
    assert_int_equal(finishes, 2);
    drop(x);
    SUCCEEDS(ha_context_unfork(fork));
}

/* A block that is just being given back is as good as free. */
static pthread_t other;
static atomic_int other_has_ended;

static void *make_large(void *argument) {
    *(harray_double *)argument = harray_double_new_at(LARGE, C);
    atomic_store(&other_has_ended, 1);
    return NULL;
}

/* The other one has time, then, to give up, which it must not. */
static void until_allocation_failed(void) {
    on_release = NULL;
    b = harray_double_from(NULL);
    atomic_store(&other_has_ended, 0);
    if (pthread_create(&other, NULL, make_large, &b)) abort();
    while (!atomic_load(&failed_allocations) && !atomic_load(&other_has_ended)) sched_yield();
    for (int i = 0; i < 1000 && !atomic_load(&other_has_ended); i++) sched_yield();
}

static void require_large_of_other(void) {
    assert_int_equal(pthread_join(other, NULL), 0);
    SUCCEEDS(ha_memory_set_cache(C, UINT64_MAX));
    assert_non_null(b.array);
    assert_true(atomic_load(&failed_allocations) > 0);
    assert_int_equal(finishes, 0);
    drop(keep(b));
}

/* By the thread that needs room. */
TEST(memory_on_its_way_back) {
    SUCCEEDS(ha_memory_set_cache(C, 0));
    fill_memory();
    run_all_but(C, 0);
    on_release = until_allocation_failed;
    harray_double small = keep(harray_double_new_at(SMALL, C));
    require_large_of_other();
    drop(small);
}

/* By the thread that frees an array. */
TEST(memory_on_its_way_back_from_an_array) {
    SUCCEEDS(ha_memory_set_cache(C, 0));
    a = keep(harray_double_new_at(LARGE, C));
    on_release = until_allocation_failed;
    drop(a);
    require_large_of_other();
}

/* Frees n arrays while a queue is behind, which comes on by one command each time; gives the steps. */
static uint64_t steps_of_freeing(size_t n) {
    harray_double *x = (harray_double *)calloc(n, sizeof *x);
    assert_non_null(x);
    ha_context *fork = ha_context_fork(C);
    for (size_t i = 0; i < n; i++) {
        x[i] = harray_double_new_at(SMALL, C);
        HA_CHECK(ha_enqueue(C, do_nothing, NULL, 0));
        HA_OVERWRITING_ALL(v, x[i], i % 3 ? C : fork) fill(&v, 1);
        else fail();
    }
    const uint64_t before = ha_steps_;
    for (size_t i = 0; i < n; i++) {
        HA_CHECK(harray_double_free(&x[i * 7919 % n])); /* in some other order */
        run_all_but(C, 2 * (n - i));
    }
    const uint64_t steps = ha_steps_ - before;
    run_all_but(C, 0);
    run_all_but(fork, 0);
    ha_memory_sweep(C->memory);
    assert_null(C->memory->retired);
    assert_null(C->memory->due);
    SUCCEEDS(ha_context_unfork(fork));
    free(x);
    return steps;
}

/* However many blocks wait already. */
TEST(freeing_behind_a_queue_does_not_grow) {
    const uint64_t few = steps_of_freeing(200), many = steps_of_freeing(800);
    assert_true(few > 200);
    assert_true(many < 4 * few * 3 / 2);
}

/* ---- many ranges ---------------------------------------------------------------------------- */

/* Overwrites every other one of 2 n elements in some order, at one place and then at another; gives the
 * steps. */
static uint64_t steps_of_overwriting(size_t n) {
    harray_double x = keep(harray_double_zeros(2 * n));
    const uint64_t before = ha_steps_;
    for (int round = 0; round < 2; round++)
        for (size_t k = 0; k < n; k++) {
            const size_t i = k * 7919 % n;
            ha_access access;
            HA_CHECK(ha_open(&access, x.array, round ? H : C, HA_OVERWRITE, 2 * i, 2 * i + 1));
            HA_CHECK(ha_close(&access));
            if (k % 64 == 0) run_all_but(C, 0);
        }
    const uint64_t steps = ha_steps_ - before;
    drop(x);
    return steps;
}

/* However many ranges there are already. */
TEST(overwriting_ranges_in_any_order_does_not_grow) {
    enum { FEW = 500, MANY = 4000 };
    const uint64_t few = steps_of_overwriting(FEW), many = steps_of_overwriting(MANY);
    assert_true(few > FEW);
    assert_true(many < MANY / FEW * few * 2); /* n log n is less, n^2 8 times as much */
}

/* ---- many accesses at once ------------------------------------------------------------------ */

/* Opens so many at once, of their own elements or all of the same, and closes them in some other order;
 * gives the steps. */
static uint64_t steps_of_opening(harray_double x, size_t n, unsigned how) {
    ha_access *open = (ha_access *)calloc(n, sizeof *open);
    assert_non_null(open);
    const uint64_t before = ha_steps_;
    for (size_t k = 0; k < n; k++) {
        const size_t i = k * 7919 % n;
        if (how == HA_READ)
            HA_CHECK(ha_open(&open[i], x.array, H, HA_READ, 0, HA_END));
        else
            HA_CHECK(ha_open(&open[i], x.array, H, how, 2 * i, 2 * i + 2));
    }
    for (size_t k = 0; k < n; k++) HA_CHECK(ha_close(&open[k * 104729 % n]));
    free(open);
    return ha_steps_ - before;
}

/* However many are open already. */
TEST(opening_among_many_does_not_grow) {
    enum { FEW = 500, MANY = 4000 };
    harray_double x = ramp(2 * MANY);
    for (unsigned how = HA_READ; how <= HA_OVERWRITE; how++) {
        const uint64_t few = steps_of_opening(x, FEW, how);
        const uint64_t many = steps_of_opening(x, MANY, how);
        assert_true(few > FEW);
        assert_true(many < MANY / FEW * few * 2); /* n log n is less, n^2 8 times as much */
    }
    assert_false(ha_is_indexed(x.array));
    drop(x);
}

/* Conflicts are those that there are among few. */
TEST(conflicts_among_many) {
    enum { MANY = 200, ELEMENTS = 1000 };
    harray_double x = ramp(ELEMENTS);
    ha_access open[MANY] = {{0}};
    size_t first[MANY], last[MANY];
    unsigned how[MANY] = {0}, refused = 0, granted = 0;
    uint32_t random = 1;
    for (int turn = 0; turn < 20000; turn++) {
        const size_t i = (random = random * 1664525 + 1013904223) >> 16;
        ha_access *it = &open[i % MANY];
        if (it->array) {
            HA_CHECK(ha_close(it));
            continue;
        }
        random = random * 1664525 + 1013904223;
        const size_t from = (random >> 8) % (ELEMENTS - 10), to = from + 1 + (random >> 4) % 9;
        const unsigned mode = (random >> 20) % 4 ? HA_READ : HA_WRITE;
        ha_status expected = HA_OK;
        for (size_t k = 0; k < MANY; k++) {
            const int overlap = open[k].array && from < last[k] && first[k] < to;
            if (overlap && how[k] == HA_WRITE) expected = HA_ERR_CONFLICT;
        }
        assert_int_equal(ha_open(it, x.array, H, mode, from, to), expected);
        first[i % MANY] = from;
        last[i % MANY] = to;
        how[i % MANY] = mode;
        granted += expected == HA_OK;
        refused += expected != HA_OK;
        (void)ha_take_error();
        if (turn % 500 == 0) step();
    }
    assert_true(granted > 1000 && refused > 1000);
    for (size_t k = 0; k < MANY; k++)
        if (open[k].array) HA_CHECK(ha_close(&open[k]));
    drop(x);
}

/* Growing copies range by range; the block that goes needs one entry for that. */
TEST(growth_notes_one_read) {
    enum { RANGES = 12 };
    harray_double x = keep(harray_double_new_at(2 * RANGES, C));
    for (size_t i = 0; i < RANGES; i++)
        HA_OVERWRITING_RANGE(v, x, C, 2 * i, 2 * i + 1) fill(&v, (double)i);
    else fail();
    SUCCEEDS(ha_context_finish(C));
    SUCCEEDS(ha_array_reserve(x.array, C, 4 * RANGES));
    ha_block *old = C->memory->retired;
    assert_non_null(old);
    const ha_operation *noted = ha_ops_list(&old->ops);
    assert_int_equal(old->ops.n, 1);
    assert_false(noted->write);
    assert_int_equal(noted->range.first, 0);
    assert_int_equal(noted->range.last, 2 * RANGES - 1);
    for (size_t i = 0; i < RANGES; i++) assert_true(sum_range(x, H, 2 * i, 2 * i + 1) == (double)i);
    drop(x);
}

/* ---- who waits for whom --------------------------------------------------------------------- */

static int has_two_accesses(ha_array *array) {
    ha_lock(array);
    const int two = array->holders == 2;
    ha_unlock(array);
    return two;
}

/* A reader waits for writers that came before it only. The writer that comes later waits for more
 * than the reader does: for an access to the array's second half. */
TEST(readers_pass_later_writers) {
    harray_double x = ramp(SMALL);
    ha_access first, second;
    opener reader, writer;
    SUCCEEDS(ha_open(&first, x.array, H, HA_WRITE, 0, SMALL / 2));
    SUCCEEDS(ha_open(&second, x.array, H, HA_READ, SMALL / 2, SMALL));
    const uint64_t before = ha_test_sleeps_();
    start_open(&reader, x.array, H, HA_READ, 0, SMALL / 2);
    until_asleep(before + 1);
    start_open(&writer, x.array, H, HA_WRITE, 0, SMALL);
    until_asleep(before + 2);
    SUCCEEDS(ha_close(&first));
    /* Both wake. Either the reader goes, or both sleep again. */
    while (!has_two_accesses(x.array) && ha_test_sleeps_() < before + 4) sched_yield();
    assert_true(has_two_accesses(x.array));
    assert_int_equal(wait_opened(&reader), HA_OK);
    assert_false(has_opened(&writer));
    finish(&reader);
    SUCCEEDS(ha_close(&second));
    assert_int_equal(wait_opened(&writer), HA_OK);
    finish(&writer);
    drop(x);
}

/* Another thread holds x. Its request for an access to y, which this thread holds, would
 * deadlock when it waits for that; not when it only tries, and sleeps because y is busy. */
TEST(who_tries_does_not_wait) {
    const uint64_t thread = UINT64_MAX & ~HA_TOKEN_; /* nobody's */
    const ha_lock_request request = {.range = HA_WHOLE_, .writes = 1};
    harray_double x = ramp(SMALL), y = ramp(SMALL);
    ha_access mine;
    SUCCEEDS(ha_open(&mine, y.array, H, HA_WRITE, 0, HA_END));
    ha_waiter its = {.thread = thread, .array = y.array, .requests = &request};
    ha_waiter me = {.thread = ha_self.id, .array = x.array, .requests = &request};
    x.array->holder[0] = (ha_holder){thread, ++x.array->tickets, HA_WHOLE_, H, HA_SITE, 1, 0, 0, 0,
                                     0};
    x.array->holders = 1;
    pthread_mutex_lock(&ha_slow.lock);
    ha_waiter_list(&its);
    ha_waiter_list(&me);
    const int deadlock = ha_would_deadlock(&me);
    its.trying = 1;
    const int deadlock_when_trying = ha_would_deadlock(&me);
    ha_waiter_unlist(&me);
    ha_waiter_unlist(&its);
    pthread_mutex_unlock(&ha_slow.lock);
    x.array->holders = 0;
    assert_true(deadlock);
    assert_false(deadlock_when_trying);
    SUCCEEDS(ha_close(&mine));
    drop(x);
    drop(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LATE(exchanged_and_freed_while_reserving),
        LATE(exchanged_while_reserving),
        LATE(opened_while_reserving),
        LATE(reading_nothing_moves_no_block),
        LATE(writing_nothing_moves_no_block),
        LATE(overwriting_nothing_moves_no_block),
        LATE(not_busy_while_an_access_is_resized),
        LATE(not_busy_while_an_access_reserves),
        LATE(opened_while_an_access_reserves),
        LATE(swept_under_steady_load),
        LATE(too_large_while_others_free),
        LATE(all_that_was_retired),
        LATE(memory_on_its_way_back),
        LATE(memory_on_its_way_back_from_an_array),
        LATE(freeing_behind_a_queue_does_not_grow),
        LATE(overwriting_ranges_in_any_order_does_not_grow),
        LATE(opening_among_many_does_not_grow),
        LATE(conflicts_among_many),
        LATE(growth_notes_one_read),
        LATE(readers_pass_later_writers),
        LATE(who_tries_does_not_wait),
    };
    enter_late();
    int failed = cmocka_run_group_tests_name("late", tests, NULL, NULL);
    return failed + leave_row();
}
