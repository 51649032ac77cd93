/* What a backend's events must do, and a queue that threads share. */
#ifndef HARRAY_TESTS_BACKENDS_BACKEND_EVENTS_H
#define HARRAY_TESTS_BACKENDS_BACKEND_EVENTS_H

#include "backend_functions.h"

/* ---- events --------------------------------------------------------------------------------- */

TEST(an_event_happens_with_what_was_before_it) {
    calls = 0;
    ha_event none, first, second;
    SUCCEEDS(ops->record(queue, &none));
    SUCCEEDS(ops->finish(&none));
    assert_int_equal(ops->done(&none), 1);
    SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    SUCCEEDS(ops->record(queue, &first));
    SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    SUCCEEDS(ops->record(queue, &second));
    SUCCEEDS(ops->finish(&second));
    assert_int_equal(calls, 2);
    assert_int_equal(ops->done(&first), 1);
    assert_int_equal(ops->done(&second), 1);
    SUCCEEDS(ops->finish(&first));
    ha_event *events[] = {&none, &first, &second};
    for (int i = 0; i < 3; i++)
        if (ops->forget != NULL) ops->forget(events[i]);
}

/* Nobody waits: asking is enough. */
TEST(an_event_is_done_after_a_while) {
    calls = 0;
    ha_event event;
    for (int i = 0; i < 3; i++) SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    SUCCEEDS(ops->record(queue, &event));
    while (ops->done(&event) == 0) sched_yield();
    assert_int_equal(ops->done(&event), 1);
    if (ops->forget != NULL) ops->forget(&event);
    assert_int_equal(calls, 3);
}

typedef struct entry {
    int *log, *length, value;
} entry;

static void append(HA_UNUSED const ha_queue *here, void *argument) {
    const entry *e = (const entry *)argument;
    e->log[(*e->length)++] = e->value;
}

static void append_behind(void *on, void *behind, entry e) {
    ha_event event;
    SUCCEEDS(ops->record(behind, &event));
    SUCCEEDS(ops->await(on, &event));
    if (ops->forget != NULL) ops->forget(&event);
    SUCCEEDS(ops->call(on, append, &e, sizeof e));
}

/* Two queues take turns, and nothing but await keeps them in order. */
TEST(await_orders_queues) {
    enum { TURNS = 200 };
    int log[2 * TURNS], length = 0;
    for (int i = 0; i < TURNS; i++) {
        append_behind(queue, queue2, (entry){log, &length, 2 * i});
        append_behind(queue2, queue, (entry){log, &length, 2 * i + 1});
    }
    finish(queue2);
    assert_int_equal(length, 2 * TURNS);
    for (int i = 0; i < 2 * TURNS; i++) assert_int_equal(log[i], i);
}

TEST(await_orders_devices) {
    void *device2, *memory2, *there;
    int log[40], length = 0;
    SUCCEEDS(open_device(1, &device2, &memory2));
    SUCCEEDS(ops->create(device2, &there));
    for (int i = 0; i < 20; i++) {
        append_behind(queue, there, (entry){log, &length, 2 * i});
        append_behind(there, queue, (entry){log, &length, 2 * i + 1});
    }
    ops->drain(there);
    for (int i = 0; i < 40; i++) assert_int_equal(log[i], i);
    ops->drain(queue);
    ops->destroy(there);
    close_device(device2);
}

/* What is waited for may be destroyed before the wait comes to its turn. */
TEST(await_survives_the_other_queue) {
    calls = 0;
    void *third;
    ha_event event;
    SUCCEEDS(ops->create(device, &third));
    for (int i = 0; i < 50; i++) SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    SUCCEEDS(ops->record(third, &event));
    SUCCEEDS(ops->await(queue, &event));
    if (ops->forget != NULL) ops->forget(&event);
    ops->drain(third);
    ops->destroy(third);
    finish(queue);
    assert_int_equal(calls, 50);
}

TEST(drain_waits_for_everything) {
    calls = 0;
    ops->drain(queue);
    for (int i = 0; i < 100; i++) SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    ops->drain(queue);
    assert_int_equal(calls, 100);
}

/* ---- threads -------------------------------------------------------------------------------- */

typedef struct producer {
    pthread_t thread;
    int number, failed;
    int *log, *length;
} producer;

static atomic_int inside, not_alone; /* functions of the queue that threads share */

static void append_alone(const ha_queue *here, void *argument) {
    if (atomic_fetch_add(&inside, 1) != 0) atomic_store(&not_alone, 1);
    append(here, argument);
    sched_yield(); /* for others to come in between, if they can */
    atomic_fetch_sub(&inside, 1);
}

/* Every now and then it waits for what it has enqueued so far. */
static void *produce(void *argument) {
    producer *p = (producer *)argument;
    for (int i = 0; i < EACH; i++) {
        entry e = {p->log, p->length, p->number * EACH + i};
        ha_event event;
        if (ops->call(queue, append_alone, &e, sizeof e) != HA_OK) p->failed = 1;
        if (i % 100 != 0) continue;
        if (ops->record(queue, &event) != HA_OK || ops->finish(&event) != HA_OK) p->failed = 1;
        if (ops->done(&event) != 1) p->failed = 1;
        if (ops->forget != NULL) ops->forget(&event);
    }
    return NULL;
}

/* The functions themselves take no lock: the queue runs one at a time. */
TEST(threads_share_a_queue) {
    static int log[MANY * EACH];
    int length = 0, next[MANY] = {0};
    atomic_store(&not_alone, 0);
    producer producers[MANY] = {{.number = 0}};
    for (int i = 0; i < MANY; i++) {
        producers[i] = (producer){.number = i, .log = log, .length = &length};
        assert_int_equal(pthread_create(&producers[i].thread, NULL, produce, &producers[i]), 0);
    }
    for (int i = 0; i < MANY; i++) {
        pthread_join(producers[i].thread, NULL);
        assert_false(producers[i].failed);
    }
    ops->drain(queue);
    assert_false(atomic_load(&not_alone));
    assert_int_equal(length, MANY * EACH);
    for (int i = 0; i < MANY * EACH; i++) /* each thread's own work is in its order */
        assert_int_equal(log[i] % EACH, next[log[i] / EACH]++);
}

#endif
