/* Calls that must wait for a stream of the fake driver: it is held until whoever calls sleeps, or has
 * returned too early. To be included behind cuda_alone.h. */
#ifndef HARRAY_TESTS_SUPPORT_CUDA_WAITS_H
#define HARRAY_TESTS_SUPPORT_CUDA_WAITS_H

#include "quiet.h"

static struct {
    ha_cu_stream stream;
    pthread_t thread;
    atomic_int returned;
    int waited;
} held_call;

static void *let_go_when_quiet(HA_UNUSED void *argument) {
    until_quiet();
    held_call.waited = !atomic_load(&held_call.returned);
    fake->step(held_call.stream, -1);
    return NULL;
}

/* The next call is to wait for what it enqueues there. */
static void begin_waiting_for(ha_cu_stream stream) {
    held_call.stream = stream;
    atomic_store(&held_call.returned, 0);
    fake->hold(stream);
    assert_int_equal(pthread_create(&held_call.thread, NULL, let_go_when_quiet, NULL), 0);
}

static void end_waiting(void) {
    atomic_store(&held_call.returned, 1);
    assert_int_equal(pthread_join(held_call.thread, NULL), 0);
    assert_true(held_call.waited);
}

#endif
