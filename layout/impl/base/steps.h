/* Steps: what grows with how much there is, counted for tests. Elsewhere it is nothing. */
#ifndef HARRAY_LAYOUT_IMPL_BASE_STEPS_H
#define HARRAY_LAYOUT_IMPL_BASE_STEPS_H

#include <stdint.h>

#ifdef HA_LAYOUT_TESTING
HA_STATE_ uint64_t ha_layout_steps_;
#define HA_LAYOUT_STEP_() ((void)__atomic_fetch_add(&ha_layout_steps_, 1, __ATOMIC_RELAXED))
#else
#define HA_LAYOUT_STEP_() ((void)0)
#endif

#endif
