/* Asking, while a thread waits for others, whether the wait is to end. */
#ifndef HARRAY_IMPL_BASE_ASKED_H
#define HARRAY_IMPL_BASE_ASKED_H

#include "error.h"
#include "may_wait.h"

#include <time.h>

enum { HA_ASKS_EVERY_NS_ = 100000000 };

void ha_ask_while_waiting_(int (*asked)(void)) { ha_self.asked = asked; }

/* Nothing is locked. What is asked may call harray: errors of its own are told at once. */
HA_IN_ int ha_is_asked_to_end(void) {
    HA_MAY_WAIT_();
    const ha_thread self = ha_self;
    const __typeof__(ha_later_error) later = ha_later_error;
    ha_self.from = ha_self.checked = NULL;
    ha_later_error.on = 0;
    ha_later_error.error.status = HA_OK;
    const int ends = ha_self.asked();
    ha_later_error = later;
    ha_self.from = self.from;
    ha_self.checked = self.checked;
    return ends;
}

/* A time in so many nanoseconds, as timed waits for conditions take it. */
HA_IN_ struct timespec ha_time_in(uint64_t ns) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    ns += (uint64_t)at.tv_nsec;
    at.tv_sec += (time_t)(ns / 1000000000);
    at.tv_nsec = (long)(ns % 1000000000);
    return at;
}

#endif
