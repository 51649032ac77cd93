/* What a backend's queues must do with functions of the host. */
#ifndef HARRAY_TESTS_BACKENDS_BACKEND_FUNCTIONS_H
#define HARRAY_TESTS_BACKENDS_BACKEND_FUNCTIONS_H

#include "backend_subject.h"

typedef struct large_argument {
    char text[5000];
    max_align_t aligned;
} large_argument;

/* What the function was given; whether that was aligned, and ha_queue_run() ran it. No pointer of the
 * argument is followed: it may be a wrong one. */
static large_argument given;
static int given_aligned, given_running;

static void take_argument(HA_UNUSED const ha_queue *here, void *argument) {
    given_aligned = (uintptr_t)argument % _Alignof(max_align_t) == 0;
    given_running = running;
    memcpy(&given, argument, sizeof given);
}

static pthread_t tester;
static atomic_int overwritten; /* the argument, by the caller */

/* Keeps the queue busy, unless that keeps the caller from going on: then only for a second. */
static void wait_for_overwriting(HA_UNUSED const ha_queue *here, HA_UNUSED void *argument) {
    const struct timespec pause = {0, 1000000};
    if (pthread_equal(pthread_self(), tester)) return;
    for (int i = 0; i < 1000 && !atomic_load(&overwritten); i++) nanosleep(&pause, NULL);
}

TEST(arguments_are_copied_when_enqueued) {
    static large_argument large;
    given_running = given_aligned = 0;
    tester = pthread_self();
    atomic_store(&overwritten, 0);
    memset(&given, 0, sizeof given);
    memset(&large, 'x', sizeof large);
    SUCCEEDS(ops->call(queue, wait_for_overwriting, NULL, 0));
    SUCCEEDS(ops->call(queue, take_argument, &large, sizeof large));
    memset(&large, 'y', sizeof large);
    atomic_store(&overwritten, 1);
    finish(queue);
    for (size_t i = 0; i < sizeof given.text; i++) assert_int_equal(given.text[i], 'x');
    assert_true(given_aligned);
    assert_int_equal(given_running, 1);
}

typedef struct numbers {
    int *data;
    size_t size;
    int factor, term;
} numbers;

static void change(const ha_queue *here, void *argument) {
    const numbers *n = (const numbers *)argument;
    int *data = HA_HERE(here, int, n->data);
    for (size_t i = 0; i < n->size; i++) data[i] = n->factor * data[i] + n->term;
}

/* Rounds of copies and functions on the same two blocks, without a wait in between. */
TEST(commands_happen_in_order) {
    enum { ROUNDS = 20, SIZE = 300 };
    static int source[ROUNDS][SIZE], result[ROUNDS][SIZE];
    size_t bytes = sizeof source[0];
    void *a = take(bytes), *b = take(bytes);
    for (int r = 0; r < ROUNDS; r++) {
        numbers add = {(int *)a, SIZE, 1, 5}, twice = {(int *)b, SIZE, 2, 0};
        for (int i = 0; i < SIZE; i++) source[r][i] = 1000 * r + i;
        SUCCEEDS(ops->copy(queue, a, source[r], bytes));
        SUCCEEDS(ops->call(queue, change, &add, sizeof add));
        SUCCEEDS(ops->copy(queue, b, a, bytes));
        SUCCEEDS(ops->call(queue, change, &twice, sizeof twice));
        SUCCEEDS(ops->copy(queue, result[r], b, bytes));
    }
    finish(queue);
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < SIZE; i++) assert_int_equal(result[r][i], 2 * (1000 * r + i + 5));
    give(a, bytes);
    give(b, bytes);
}

static int calls; /* on a queue, or after it was drained */

/* Enqueued without an argument, it has none. */
static void count_call(HA_UNUSED const ha_queue *here, void *argument) {
    calls += argument == NULL;
}

TEST(functions_without_argument) {
    calls = 0;
    for (int i = 0; i < 3; i++) SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    ops->drain(queue);
    assert_int_equal(calls, 3);
}

/* The addresses of the memory under test are translated from the first to the last, and no
 * others.*/
TEST(functions_find_the_data) {
    size_t bytes = 4096;
    numbers last = {NULL, 1, 0, 77};
    int on_host = 0, back = 0;
    void *block = take(bytes);
    last.data = (int *)at(block, bytes - sizeof(int));
    SUCCEEDS(ops->copy(queue, last.data, &on_host, sizeof on_host));
    SUCCEEDS(ops->call(queue, change, &last, sizeof last));
    SUCCEEDS(ops->copy(queue, &back, last.data, sizeof back));
    last.data = &on_host;
    SUCCEEDS(ops->call(queue, change, &last, sizeof last));
    ops->drain(queue);
    assert_int_equal(back, 77);
    assert_int_equal(on_host, 77);
    give(block, bytes);
}

#endif
