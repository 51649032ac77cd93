/* Calls that take memory. Between taking a block and listing it (resident.h) nobody sees whose it is: so they are
 * counted, and who finds a memory full can tell that there is more to wait for, and is woken when such a call has ended
 * (access/turns.h). */
#ifndef HARRAY_IMPL_MEMORY_TAKING_H
#define HARRAY_IMPL_MEMORY_TAKING_H

#include "attempt.h"

HA_STATE_ struct {
    uint32_t calls;   /* of all threads, but for those that wait in turn; atomic */
    uint32_t watched; /* whether somebody waits until one of these ends; atomic */
} ha_taking;

/* So many calls begin, or end (negative), in which blocks are taken, listed or given back. */
HA_IN_ void ha_taking_add(int by) {
    __atomic_fetch_add(&ha_taking.calls, (uint32_t)by, __ATOMIC_SEQ_CST);
    if (by < 0 && __atomic_load_n(&ha_taking.watched, __ATOMIC_SEQ_CST) &&
        __atomic_exchange_n(&ha_taking.watched, 0, __ATOMIC_SEQ_CST))
        ha_for_room.changed();
}

HA_IN_ int ha_taking_begin(void) {
    ha_self.taking++;
    ha_taking_add(1);
    return 1;
}

HA_IN_ void ha_taking_end(void) {
    ha_self.taking--;
    ha_taking_add(-1);
}

static inline void ha_taking_leave(const int *begun) {
    if (*begun) ha_taking_end();
}

/* Until the end of the block. */
#define HA_TAKES_MEMORY_IF_(it_does)                                                               \
    int ha_takes_                                                                                  \
        __attribute__((cleanup(ha_taking_leave), unused)) = (it_does) ? ha_taking_begin() : 0
#define HA_TAKES_MEMORY_ HA_TAKES_MEMORY_IF_(1)

/* From now on this thread is told when one of them has ended, by ha_for_room.changed. */
HA_IN_ void ha_taking_watch(void) { __atomic_store_n(&ha_taking.watched, 1, __ATOMIC_SEQ_CST); }

/* Whether others do, besides so many calls of this thread. */
HA_IN_ int ha_others_take(uint32_t own) {
    return __atomic_load_n(&ha_taking.calls, __ATOMIC_SEQ_CST) != own;
}

#endif
