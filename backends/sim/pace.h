/* How long things take on the simulated device: pauses before commands, and slow copies. */
#ifndef HARRAY_BACKENDS_SIM_PACE_H
#define HARRAY_BACKENDS_SIM_PACE_H

#include "../backend.h"
#include "../common/clock.h"
#include "../common/strided_copy.h"

#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define HA_SIM_SECOND_ 1000000000u
#define HA_SIM_PIECE_ ((size_t)256 << 10) /* of a slow copy */

/* Sleeps of this thread end on time: without it the kernel may add 50 us to each. */
HA_IN_ void ha_sim_be_punctual(void) { (void)prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul); }

HA_IN_ void ha_sim_sleep_until(uint64_t time) {
    struct timespec until;
    if (time <= ha_clock_ns()) return;
    until.tv_sec = (time_t)(time / HA_SIM_SECOND_);
    until.tv_nsec = (long)(time % HA_SIM_SECOND_);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {}
}

/* Numbers that look random and are the same for the same seed: xorshift64*. */
HA_IN_ uint64_t ha_sim_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

/* A copy at `bandwidth` bytes per second; gaps between pieces take no time. Each part is moved when its
 * time is over, so that what was not waited for is not there. */
HA_IN_ void ha_sim_copy_slowly(const ha_strided_copy *copy, uint64_t bandwidth) {
    const size_t total = ha_strided_total(copy);
    uint64_t start = ha_clock_ns();
    for (size_t done = 0; done < total;) {
        size_t end = total - done < HA_SIM_PIECE_ ? total : done + HA_SIM_PIECE_;
        double seconds = (double)end / (double)bandwidth;
        ha_sim_sleep_until(start + (uint64_t)(seconds * HA_SIM_SECOND_));
        ha_strided_copy_part(copy, done, end);
        done = end;
    }
}

/* `count` copies of a value. What was filled first serves as the source, and stays in the cache. */
HA_IN_ void ha_sim_fill_bytes(char *to, const void *value, size_t bytes, size_t count) {
    size_t total = bytes * count, filled = bytes, piece = bytes;
    memcpy(to, value, bytes);
    while (filled < total) {
        if (piece < HA_SIM_PIECE_ / 8) piece = filled;
        if (piece > total - filled) piece = total - filled;
        memcpy(to + filled, to, piece);
        filled += piece;
    }
}

#endif
