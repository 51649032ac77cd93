/* The next tier of a memory: where values go that it has no room for. Of a device that is the host, and of the host
 * nothing, unless somebody says otherwise. It never leads back: what the host goes on to is the last one. */
#ifndef HARRAY_IMPL_DEVICE_TIER_H
#define HARRAY_IMPL_DEVICE_TIER_H

#include "context.h"

/* What somebody has said. */
static inline ha_memory *ha_tier_set(const ha_memory *m) {
    return __atomic_load_n(&m->tier, __ATOMIC_ACQUIRE);
}

/* Whether what goes on from a memory comes to m; m itself counts. */
HA_IN_ int ha_tier_leads(const ha_memory *from, const ha_memory *m) {
    while (from && from != m) from = ha_tier_set(from);
    return from != NULL;
}

/* NULL: it is the last one. */
HA_IN_ ha_memory *ha_memory_tier(const ha_memory *m) {
    ha_memory *next = ha_tier_set(m);
    if (next) return next;
    return ha_tier_leads(&ha_host_memory, m) ? NULL : &ha_host_memory;
}

#endif
