/* Where a thread may wait, said to whoever has a lock of its own that no thread may wait with (ha_tell_before_waiting_). In
 * usual builds there is nothing of this. */
#ifndef HARRAY_IMPL_BASE_MAY_WAIT_H
#define HARRAY_IMPL_BASE_MAY_WAIT_H

#include "../../context.h"

#ifdef HARRAY_TELLS_WAITS_
HA_STATE_ void (*ha_told_before_waiting)(void);

void ha_tell_before_waiting_(void (*told)(void)) {
    __atomic_store_n(&ha_told_before_waiting, told, __ATOMIC_RELEASE);
}

/* At the beginning of what may wait, whether it has to or not: else a test of that would depend on luck. */
HA_IN_ void HA_MAY_WAIT_(void) {
    void (*const told)(void) = __atomic_load_n(&ha_told_before_waiting, __ATOMIC_ACQUIRE);
    if (told) told();
}
#else
#define HA_MAY_WAIT_() ((void)0)
#endif

#endif
