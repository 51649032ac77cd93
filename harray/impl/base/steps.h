/* Steps: what grows with how much there is, counted for tests. Elsewhere it is nothing. */
#ifndef HARRAY_IMPL_BASE_STEPS_H
#define HARRAY_IMPL_BASE_STEPS_H

#include <stdint.h>

#ifdef HARRAY_TESTING
HA_STATE_ uint64_t ha_steps_;
#define HA_COUNT_STEPS_(n) ((void)__atomic_fetch_add(&ha_steps_, n, __ATOMIC_RELAXED))
#else
#define HA_COUNT_STEPS_(n) ((void)0)
#endif
#define HA_COUNT_STEP_() HA_COUNT_STEPS_(1)

#endif
