/* Queues of the simulated device: holding them, and failing late. */
#include "../support/sim_alone.h"
#include "../support/pitched.h"
#include "../support/quiet.h"

static ha_event record_on(void *of) {
    ha_event event = {NULL, 0};
    SUCCEEDS(ops->record(of, &event));
    return event;
}

/* ---- holding -------------------------------------------------------------------------------- */

TEST(held_queues_run_what_they_are_let) {
    enum { COMMANDS = 5 };
    ha_event events[COMMANDS], other = {0};
    char number = 1, result = 0;
    void *block;
    SUCCEEDS(memory_ops->allocate(memory, 64, &block));
    SUCCEEDS(ops->record(queue2, &other));
    SUCCEEDS(ha_sim_set_credit(queue, 0));
    SUCCEEDS(ops->copy(queue, block, &number, 1));
    SUCCEEDS(ops->record(queue, &events[0]));
    SUCCEEDS(ops->copy(queue, &result, block, 1));
    SUCCEEDS(ops->record(queue, &events[1]));
    SUCCEEDS(ops->fill(queue, block, "x", 1, 64));
    SUCCEEDS(ops->record(queue, &events[2]));
    SUCCEEDS(ops->await(queue, &other)); /* counts, although it has happened */
    SUCCEEDS(ops->record(queue, &events[3]));
    SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    SUCCEEDS(ops->record(queue, &events[4]));
    for (int i = 0; i < COMMANDS; i++) {
        until_quiet();
        assert_int_equal(result, i >= 2);
        for (int j = 0; j < COMMANDS; j++) assert_int_equal(ops->done(&events[j]), j < i);
        if (i == COMMANDS - 1) calls = 0;
        SUCCEEDS(ha_sim_set_credit(queue, 1));
        SUCCEEDS(ops->finish(&events[i]));
    }
    assert_int_equal(calls, 1);
    memory_ops->release(memory, block, 64);
}

/* However many they are, and however slow. */
TEST(pieces_are_one_command) {
    const ha_strided_copy up = PITCHED(1, 6, 5, 2, 12, 1, 6), down = PITCHED(1, 6, 5, 1, 6, 2, 12);
    char text[30] = "twenty-nine characters of text", back[30] = "";
    void *block;
    SUCCEEDS(memory_ops->allocate(memory, 64, &block));
    SUCCEEDS(ha_sim_set_credit(queue, 0));
    SUCCEEDS(copy_pitched(ops, queue, block, text, &up));
    ha_event first = record_on(queue);
    SUCCEEDS(copy_pitched(ops, queue, back, block, &down));
    ha_event second = record_on(queue);
    SUCCEEDS(ha_sim_set_credit(queue, 1));
    SUCCEEDS(ops->finish(&first));
    until_quiet();
    assert_int_equal(ops->done(&second), 0);
    assert_int_equal(back[0], 0);
    SUCCEEDS(ha_sim_set_credit(queue, 1));
    SUCCEEDS(ops->finish(&second));
    assert_memory_equal(back, text, sizeof text);
    memory_ops->release(memory, block, 64);
}

/* What GPUs do: a copy engine takes rows and planes anywhere; a kernel takes small pieces, of the
 * device's own memory. */
TEST(what_a_device_takes) {
    char text[64] = "0123456789abcdef", back[64] = "", *block;
    void *made;
    SUCCEEDS(memory_ops->allocate(memory, 128, &made));
    block = (char *)made;
    ha_strided_copy s = {.to = block + 64,
                         .from = block,
                         .bytes = 1,
                         .levels = 3,
                         .count = {2, 2, 2},
                         .to_step = {4, 2, 1},
                         .from_step = {1, 2, 4}};
    assert_int_equal(ops->copy_strided(queue, &s, 1), HA_ERR_UNSUPPORTED);
    memory_ops->release(memory, block, 128);
    SUCCEEDS(close_all(NULL));
    SUCCEEDS(open_with(&(ha_sim_options){.strides = 1}));
    SUCCEEDS(memory_ops->allocate(memory, 128, &made));
    block = (char *)made;
    s.to = block + 64;
    s.from = block;
    SUCCEEDS(ops->copy(queue, block, text, sizeof text));
    SUCCEEDS(ops->copy_strided(queue, &s, 1));
    SUCCEEDS(ops->copy(queue, back, block + 64, 8));
    ops->drain(queue);
    assert_string_equal(back, "04261537");
    s.from = text;
    assert_int_equal(ops->copy_strided(queue, &s, 1), HA_ERR_UNSUPPORTED);
    s.from = block;
    s.bytes = HA_SCATTER_BYTES + 1;
    assert_int_equal(ops->copy_strided(queue, &s, 1), HA_ERR_UNSUPPORTED);
    memory_ops->release(memory, block, 128);
}

/* At this pace, a copy of what lies between would not end. */
TEST(gaps_take_no_time) {
    enum { ROWS = 40, APART = 1 << 20 };
    const ha_sim_options slow = {.bandwidth = 1 << 10};
    const ha_strided_copy p = PITCHED(1, ROWS, 1, APART, APART * ROWS, 1, ROWS);
    char text[ROWS + 1] = "every character of this is a row by its", back[ROWS] = "";
    const ha_strided_copy q = PITCHED(1, ROWS, 1, 1, ROWS, APART, APART * ROWS);
    void *block;
    SUCCEEDS(close_all(NULL));
    SUCCEEDS(open_with(&slow));
    SUCCEEDS(memory_ops->allocate(memory, (size_t)ROWS * APART, &block));
    SUCCEEDS(copy_pitched(ops, queue, block, text, &p));
    SUCCEEDS(copy_pitched(ops, queue, back, block, &q));
    ops->drain(queue);
    assert_memory_equal(back, text, ROWS);
    memory_ops->release(memory, block, (size_t)ROWS * APART);
}

TEST(steps_add_up) {
    ha_event event = {0};
    calls = 0;
    SUCCEEDS(ha_sim_set_credit(queue, 0));
    SUCCEEDS(ha_sim_set_credit(queue, 2)); /* before there is anything to run */
    SUCCEEDS(ha_sim_set_credit(queue, 3));
    for (int i = 0; i < 5; i++) SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    ops->drain(queue);
    assert_int_equal(calls, 5);
    SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    SUCCEEDS(ops->record(queue, &event));
    until_quiet();
    assert_int_equal(ops->done(&event), 0);
    SUCCEEDS(ha_sim_set_credit(queue, INT64_MAX));
    SUCCEEDS(ha_sim_set_credit(queue, INT64_MAX));
    SUCCEEDS(ops->finish(&event));
}

static char wanted_argument[HA_SIM_LARGE + 1];
static size_t right_arguments;

static void compare_argument(HA_UNUSED const ha_queue *here, void *argument) {
    right_arguments += !memcmp(argument, wanted_argument, HA_SIM_LARGE / 2);
}

/* Memory of large arguments is used again, up to so much, and freed with the queue. */
TEST(large_arguments_are_kept) {
    enum { COMMANDS = HA_SIM_SPARES + 10 };
    ha_sim_queue *q = (ha_sim_queue *)queue;
    memset(wanted_argument, 7, sizeof wanted_argument);
    right_arguments = 0;
    for (int round = 0; round < 3; round++) {
        SUCCEEDS(ops->call(queue, compare_argument, wanted_argument, HA_SIM_LARGE / 2));
        SUCCEEDS(ops->call(queue, count_call, wanted_argument, HA_SIM_LARGE + 1));
        ha_event end = record_on(queue);
        SUCCEEDS(ops->finish(&end));
        assert_int_equal(q->spares, 1);
    }
    SUCCEEDS(ha_sim_set_credit(queue, 0));
    for (int i = 0; i < COMMANDS; i++)
        SUCCEEDS(ops->call(queue, compare_argument, wanted_argument, HA_SIM_LARGE / 2));
    assert_int_equal(q->spares, 0);
    SUCCEEDS(ha_sim_set_credit(queue, -1));
    ha_event end = record_on(queue);
    SUCCEEDS(ops->finish(&end));
    assert_int_equal(q->spares, HA_SIM_SPARES);
    assert_int_equal(right_arguments, 3 + COMMANDS);
}

TEST(letting_go_runs_all) {
    calls = 0;
    SUCCEEDS(ha_sim_set_credit(queue, 0));
    for (int i = 0; i < 10; i++) SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    SUCCEEDS(ha_sim_set_credit(queue, -1));
    ops->drain(queue);
    assert_int_equal(calls, 10);
    SUCCEEDS(ha_sim_set_credit(queue, 1)); /* not held: it is not stopped by this */
    for (int i = 0; i < 10; i++) SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    ops->drain(queue);
    assert_int_equal(calls, 20);
}

TEST(a_held_queue_can_be_destroyed) {
    void *third;
    SUCCEEDS(ops->create(device, &third));
    SUCCEEDS(ha_sim_set_credit(third, 0));
    ops->destroy(third);
}

TEST(a_queue_waits_for_a_held_one) {
    char number = 7, result = 0;
    void *block;
    ha_event written = {0}, read = {0};
    SUCCEEDS(memory_ops->allocate(memory, 64, &block));
    SUCCEEDS(ha_sim_set_credit(queue, 0));
    SUCCEEDS(ops->copy(queue, block, &number, 1));
    SUCCEEDS(ops->record(queue, &written));
    SUCCEEDS(ops->await(queue2, &written));
    SUCCEEDS(ops->copy(queue2, &result, block, 1));
    SUCCEEDS(ops->record(queue2, &read));
    assert_int_equal(ops->done(&read), 0);
    SUCCEEDS(ha_sim_set_credit(queue, 1));
    SUCCEEDS(ops->finish(&read));
    assert_int_equal(result, 7);
    memory_ops->release(memory, block, 64);
}

/* Waiters of different events of one queue: each gets its own. */
static void *finish_event(void *event) {
    return ops->finish((const ha_event *)event) == HA_OK ? event : NULL;
}

TEST(many_wait_for_one_queue) {
    enum { WAITERS = 4 };
    ha_event events[WAITERS];
    pthread_t threads[WAITERS];
    SUCCEEDS(ha_sim_set_credit(queue, 0));
    for (int i = 0; i < WAITERS; i++) {
        SUCCEEDS(ops->call(queue, count_call, NULL, 0));
        SUCCEEDS(ops->record(queue, &events[i]));
    }
    for (int i = WAITERS - 1; i >= 0; i--)
        assert_int_equal(pthread_create(&threads[i], NULL, finish_event, &events[i]), 0);
    for (int i = 0; i < WAITERS; i++) {
        void *result = NULL;
        SUCCEEDS(ha_sim_set_credit(queue, 1));
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, &events[i]);
    }
}

/* ---- a queue that fails late ----------------------------------------------------------------- */

/* A function that says that it runs, and runs until it may end. */
typedef struct gate {
    atomic_int runs, may_end;
} gate;

static void pass_gate(HA_UNUSED const ha_queue *here, void *argument) {
    gate *g = *(gate **)argument;
    atomic_store(&g->runs, 1);
    await_flag(&g->may_end);
}

/* The function runs when this returns. */
static void start_gate(gate *g) {
    SUCCEEDS(ops->call(queue, pass_gate, &g, sizeof g));
    while (!atomic_load(&g->runs)) sched_yield();
}

static int runs_a_command(void *of) {
    ha_sim_queue *q = (ha_sim_queue *)of;
    pthread_mutex_lock(&q->lock);
    int runs = q->running != NULL;
    pthread_mutex_unlock(&q->lock);
    return runs;
}

static void expect_failed(void *failed) {
    ha_event event = {NULL, 17};
    char byte = 0;
    while (runs_a_command(failed)) sched_yield(); /* its record goes when it ends */
    long records = faulty_records();
    assert_int_equal(ops->call(failed, count_call, NULL, 0), HA_ERR_LOST);
    assert_string_equal(reported.text, "sim: the queue has failed");
    assert_int_equal(ops->copy(failed, &byte, "x", 1), HA_ERR_LOST);
    assert_int_equal(ops->await(failed, &(ha_event){queue2, 1}), HA_ERR_LOST);
    assert_int_equal(ops->record(failed, &event), HA_ERR_LOST);
    assert_int_equal(event.value, 17);
    assert_int_equal(faulty_records(), records);
    ops->drain(failed);
    assert_int_equal(byte, 0);
}

TEST(what_has_not_started_never_happens) {
    long records = faulty_records();
    calls = 0;
    SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    ha_event before = record_on(queue);
    SUCCEEDS(ops->finish(&before));
    SUCCEEDS(ha_sim_set_credit(queue, 0));
    SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    ha_event behind = record_on(queue);
    assert_int_equal(ops->done(&behind), 0);
    ha_sim_fail_queue(queue);
    ha_sim_fail_queue(queue); /* it stays like that */
    assert_int_equal(ops->done(&before), 1);
    SUCCEEDS(ops->finish(&before));
    assert_true(ops->done(&behind) < 0);
    assert_int_equal(ops->finish(&behind), HA_ERR_LOST);
    assert_int_equal(faulty_records(), records);
    SUCCEEDS(ha_sim_set_credit(queue, -1));
    expect_failed(queue);
    assert_int_equal(calls, 1);
}

TEST(what_runs_still_ends) {
    gate g = {0};
    start_gate(&g);
    ha_event inside = record_on(queue);
    SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    ha_event behind = record_on(queue);
    ha_sim_fail_queue(queue);
    assert_int_equal(ops->done(&inside), 0);
    assert_true(ops->done(&behind) < 0);
    raise_flag(&g.may_end);
    ops->drain(queue); /* it uses memory until then */
    assert_int_equal(ops->done(&inside), 1);
    SUCCEEDS(ops->finish(&inside));
    expect_failed(queue);
}

/* A drain that has begun before. */
static void *drain_queue(void *done) {
    ops->drain(queue);
    atomic_store((atomic_int *)done, 1);
    return NULL;
}

TEST(draining_waits_for_what_runs_while_it_fails) {
    gate g = {0};
    atomic_int drained = 0;
    pthread_t thread = {0};
    start_gate(&g);
    SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    assert_int_equal(pthread_create(&thread, NULL, drain_queue, &drained), 0);
    until_quiet();
    ha_sim_fail_queue(queue);
    until_quiet();
    assert_false(atomic_load(&drained));
    raise_flag(&g.may_end);
    pthread_join(thread, NULL);
    assert_true(atomic_load(&drained));
}

TEST(waiters_are_told) {
    pthread_t thread;
    void *result = &thread;
    SUCCEEDS(ha_sim_set_credit(queue, 0));
    SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    ha_event event = record_on(queue);
    assert_int_equal(pthread_create(&thread, NULL, finish_event, &event), 0);
    until_quiet();
    ha_sim_fail_queue(queue);
    pthread_join(thread, &result);
    assert_null(result);
}

TEST(failing_goes_on_to_queues_behind) {
    SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    ha_event before = record_on(queue);
    SUCCEEDS(ops->finish(&before));
    SUCCEEDS(ha_sim_set_credit(queue, 0));
    SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    ha_event behind = record_on(queue);
    calls = 0;
    SUCCEEDS(ops->await(queue2, &before));
    SUCCEEDS(ops->call(queue2, count_call, NULL, 0));
    ha_event fine = record_on(queue2);
    SUCCEEDS(ops->await(queue2, &behind));
    SUCCEEDS(ops->call(queue2, count_call, NULL, 0));
    ha_event lost = record_on(queue2);
    ha_sim_fail_queue(queue);
    SUCCEEDS(ops->finish(&fine));
    assert_int_equal(ops->finish(&lost), HA_ERR_LOST);
    assert_true(ops->done(&lost) < 0);
    assert_int_equal(ops->done(&fine), 1);
    assert_int_equal(calls, 1);
    expect_failed(queue2);
}

static int is_waited_for(void *of) {
    ha_sim_queue *q = (ha_sim_queue *)of;
    pthread_mutex_lock(&q->lock);
    int waited = q->wanted != UINT64_MAX;
    pthread_mutex_unlock(&q->lock);
    return waited;
}

/* It waits for a queue that stands still; nothing else would end that. */
TEST(a_wait_of_a_failed_queue_ends) {
    SUCCEEDS(ha_sim_set_credit(queue2, 0));
    SUCCEEDS(ops->call(queue2, count_call, NULL, 0));
    ha_event never = record_on(queue2);
    SUCCEEDS(ops->await(queue, &never));
    ha_event event = record_on(queue);
    while (!is_waited_for(queue2)) sched_yield();
    ha_sim_fail_queue(queue);
    assert_int_equal(ops->finish(&event), HA_ERR_LOST);
    expect_failed(queue);
    assert_int_equal(ops->done(&never), 0); /* that one has not failed */
    SUCCEEDS(ha_sim_set_credit(queue2, -1));
    SUCCEEDS(ops->finish(&never));
}

/* Dropped waits own the queue that they were for. */
TEST(a_failed_queue_is_destroyed_before_what_it_waited_for) {
    void *third;
    long records = faulty_records();
    SUCCEEDS(ops->create(device, &third));
    SUCCEEDS(ha_sim_set_credit(queue, 0));
    ha_event event = record_on(queue);
    event.value++;
    SUCCEEDS(ops->await(third, &event));
    SUCCEEDS(ops->await(third, &event));
    SUCCEEDS(ops->call(third, count_call, NULL, 0));
    ha_sim_fail_queue(third);
    ops->drain(third);
    ops->destroy(third);
    assert_int_equal(faulty_records(), records);
}

/* ---- the thread ----------------------------------------------------------------------------- */

static void ask_for_signals(HA_UNUSED const ha_queue *here, void *argument) {
    pthread_sigmask(SIG_SETMASK, NULL, *(sigset_t **)argument);
}

TEST(signals_are_left_to_the_program) {
    sigset_t there, *set = &there, here;
    SUCCEEDS(ops->call(queue, ask_for_signals, &set, sizeof set));
    ops->drain(queue);
    pthread_sigmask(SIG_SETMASK, NULL, &here);
    assert_true(sigismember(&there, SIGINT) && sigismember(&there, SIGTERM));
    assert_true(sigismember(&there, SIGCHLD) && sigismember(&there, SIGUSR1));
    assert_false(sigismember(&there, SIGSEGV) || sigismember(&there, SIGFPE));
    for (int i = 1; i < 32; i++)
        assert_int_equal(sigismember(&here, i), sigismember(&usual_signals, i));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        USUAL(held_queues_run_what_they_are_let),
        USUAL(pieces_are_one_command),
        USUAL(what_a_device_takes),
        USUAL(gaps_take_no_time),
        USUAL(steps_add_up),
        USUAL(large_arguments_are_kept),
        USUAL(letting_go_runs_all),
        USUAL(a_held_queue_can_be_destroyed),
        USUAL(a_queue_waits_for_a_held_one),
        USUAL(many_wait_for_one_queue),
        USUAL(what_has_not_started_never_happens),
        USUAL(what_runs_still_ends),
        USUAL(draining_waits_for_what_runs_while_it_fails),
        USUAL(waiters_are_told),
        USUAL(failing_goes_on_to_queues_behind),
        USUAL(a_wait_of_a_failed_queue_ends),
        USUAL(a_failed_queue_is_destroyed_before_what_it_waited_for),
        USUAL(signals_are_left_to_the_program),
    };
    pthread_sigmask(SIG_SETMASK, NULL, &usual_signals);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
