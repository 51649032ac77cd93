/* Stores of the program's as contexts. */
#ifndef HARRAY_IMPL_CONTROL_STORE_H
#define HARRAY_IMPL_CONTROL_STORE_H

#include "memory.h"

/* A store that cannot be opened is none. */
HA_IN_ ha_context *ha_store_start(const ha_store *store, ha_failure *failure)
    HA_REQUIRES_(ha_registry.lock) {
    int number;
    *failure = (ha_failure){ha_store_add(store, &number), "it cannot be opened"};
    if (failure->status) return NULL;
    ha_context *c = ha_device_open(&ha_backend_store, number, failure);
    if (!c) ha_store_drop(number);
    return c;
}

ha_context *ha_store_open(const ha_store *store) {
    ha_failure failure;
    HA_TELLS_EVENTS_;
    if (ha_enter("ha_store_open")) return NULL;
    pthread_mutex_lock(&ha_registry.lock);
    ha_context *c = ha_store_start(store, &failure);
    pthread_mutex_unlock(&ha_registry.lock);
    if (c)
        ha_memory_limit(c->memory, 0); /* nothing is kept there for nobody */
    else
        ha_fail(failure.status, "ha_store_open", "a store: %s", failure.why);
    return c;
}

#endif
