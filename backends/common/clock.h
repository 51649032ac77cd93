/* The clock of stamps (backend.h), which is that of traces. */
#ifndef HARRAY_BACKENDS_COMMON_CLOCK_H
#define HARRAY_BACKENDS_COMMON_CLOCK_H

#include "../backend.h"

#include <time.h>

/* In nanoseconds. */
HA_IN_ uint64_t ha_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Writes a stamp. OpenCL alone writes its own way. */
HA_UNUSED HA_IN_ void ha_clock_stamp(uint64_t *ns) {
    __atomic_store_n(ns, ha_clock_ns(), __ATOMIC_RELEASE);
}

#endif
