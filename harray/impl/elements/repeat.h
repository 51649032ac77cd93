/* One value many times: what fills arrays and their views on the host. */
#ifndef HARRAY_IMPL_ELEMENTS_REPEAT_H
#define HARRAY_IMPL_ELEMENTS_REPEAT_H

#include "../../../layout/detail/number.h" /* HA_CHECKED_BUILD_ */
#include "../../../layout/status.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { HA_REPEATED_LINE = 64, HA_WORTH_REP = 1024 };

/* The line as often as it has room, and the first part of it in the rest. From some hundred bytes on x86-64 stores words one
 * after the other faster than a loop does, and about as fast as memset (Intel 64 and IA-32 Architectures Optimization Reference
 * Manual, on REP STOS); sanitizers do not see it. */
HA_IN_ void ha_repeat_line(char *to, const char *line, size_t bytes, int is_of_words) {
    char own[HA_REPEATED_LINE]; /* stays in registers */
    size_t done = 0;
    memcpy(own, line, sizeof own);
#if defined __x86_64__ && !defined HA_CHECKED_BUILD_
    if (is_of_words && bytes >= HA_WORTH_REP) {
        uint64_t at = (uintptr_t)to, word, words = bytes / sizeof word;
        done = words * sizeof word;
        memcpy(&word, line, sizeof word);
        __asm__ volatile("rep stosq" : "+D"(at), "+c"(words) : "a"(word) : "memory");
    }
#else
    (void)is_of_words;
#endif
    for (; done + sizeof own <= bytes; done += sizeof own) memcpy(to + done, own, sizeof own);
    memcpy(to + done, own, bytes - done);
}

/* Twice as many of them each time, until these are enough to be copied to all that follows. */
HA_IN_ void ha_repeat_copies(char *to, const char *value, size_t bytes, size_t all) {
    enum { ENOUGH = 4096 }; /* stays in the first cache */
    memcpy(to, value, bytes);
    for (size_t done = bytes, unit = bytes; done < all; done += unit) {
        if (done < ENOUGH) unit = done;
        if (unit > all - done) unit = all - done;
        memcpy(to + done, to, unit);
    }
}

/* `count` times the `bytes` bytes at `value`, which are not among them; NULL: zeros. */
HA_IN_ void ha_repeat(char *to, const void *value, size_t bytes, size_t count) {
    const size_t all = bytes * count;
    char line[HA_REPEATED_LINE];
    if (!all) return;
    if (!value || bytes == 1) {
        memset(to, value ? *(const char *)value : 0, all);
        return;
    }
    if (sizeof line % bytes) {
        ha_repeat_copies(to, (const char *)value, bytes, all);
        return;
    }
    if (bytes == sizeof(uint64_t)) /* without a call for each */
        for (size_t i = 0; i < sizeof line; i += sizeof(uint64_t))
            memcpy(line + i, value, sizeof(uint64_t));
    else
        for (size_t i = 0; i < sizeof line; i += bytes) memcpy(line + i, value, bytes);
    ha_repeat_line(to, line, all, sizeof(uint64_t) % bytes == 0);
}

#endif
