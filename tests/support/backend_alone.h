/* Backends without the engine: the two functions that a backend may call, and what tests of
 * backends share. Include behind the backends. */
#ifndef HARRAY_TESTS_SUPPORT_BACKEND_ALONE_H
#define HARRAY_TESTS_SUPPORT_BACKEND_ALONE_H

#include "../../backends/backend.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define TEST(name) static void name(HA_UNUSED void **state)
#define SUCCEEDS(expr) assert_int_equal(expr, HA_OK)

/* What a backend reported last on this thread. */
static _Thread_local struct {
    int64_t code;
    char text[240];
} reported;

void ha_backend_report(int64_t code, const char *text) {
    reported.code = code;
    snprintf(reported.text, sizeof reported.text, "%s", text);
}

/* Functions of a queue that are running on this thread. */
static _Thread_local int running;

void ha_queue_run(ha_function f, const ha_queue *here, void *argument) {
    running++;
    f(here, argument);
    running--;
}

/* Numbers that are the same in every run. */
static inline uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

#endif
