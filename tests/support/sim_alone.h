/* The simulated device without the engine: a device, two queues, and calls of the system that fail
 * on demand. After each test everything must have been given back, to the last record. */
#ifndef HARRAY_TESTS_SUPPORT_SIM_ALONE_H
#define HARRAY_TESTS_SUPPORT_SIM_ALONE_H

#include "faulty_backend.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

/* Calls of the system that fail on demand: the first mmap() is number 0. */
static int refused_mmap = -1, refused_thread;
#define mmap(...) (refused_mmap-- == 0 ? (errno = ENOMEM, MAP_FAILED) : mmap(__VA_ARGS__))
#define pthread_create(...) (refused_thread != 0 ? refused_thread : pthread_create(__VA_ARGS__))

#include "../../backends/host/host.h"
#include "../../backends/sim/sim.h"
#include "backend_alone.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const ha_memory_ops *const memory_ops = &ha_sim_memory_ops;
static const ha_queue_ops *const ops = &ha_sim_queue_ops;
static void *device, *memory, *queue, *queue2;
static sigset_t usual_signals; /* blocked in the main thread */

static inline int open_with(const ha_sim_options *options) {
    return ha_sim_set_options(options) != HA_OK || ha_sim_open(0, &device, &memory) != HA_OK ||
           ops->create(device, &queue) != HA_OK || ops->create(device, &queue2) != HA_OK;
}

static inline int open_usual(HA_UNUSED void **state) { return open_with(NULL); }

static inline int open_small(HA_UNUSED void **state) {
    const ha_sim_options options = {.capacity = 16 << 10};
    return open_with(&options);
}

static inline int open_peers(HA_UNUSED void **state) {
    const ha_sim_options options = {.peers = 1};
    return open_with(&options);
}

static inline int close_all(HA_UNUSED void **state) {
    ops->destroy(queue);
    ops->destroy(queue2);
    ha_sim_close(device);
    return faulty_records() != 0;
}

static inline int expect_nothing_left(HA_UNUSED void **state) { return faulty_records() != 0; }

static int calls; /* on a queue, or when it was waited for */

static inline void count_call(HA_UNUSED const ha_queue *here, HA_UNUSED void *argument) { calls++; }

#define USUAL(test) cmocka_unit_test_setup_teardown(test, open_usual, close_all)
#define SMALL(test) cmocka_unit_test_setup_teardown(test, open_small, close_all)
#define PEERS(test) cmocka_unit_test_setup_teardown(test, open_peers, close_all)
#define CLOSED(test) cmocka_unit_test_setup_teardown(test, NULL, expect_nothing_left)

#endif
