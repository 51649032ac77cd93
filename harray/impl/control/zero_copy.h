/* Zero-copy: a context whose queue works on host memory, so that the host and it share one
 * incarnation. Nothing else in the engine knows of it: context->memory is the host's, while the
 * queue is a device's, so what it does there is outstanding like anywhere else. Except that there
 * may be host memory that the device cannot work on: then its contexts ask (ha_asks), and opening
 * an access there exchanges the block for a pinned one. */
#ifndef HARRAY_IMPL_CONTROL_ZERO_COPY_H
#define HARRAY_IMPL_CONTROL_ZERO_COPY_H

#include "shutdown.h"

int ha_context_is_zero_copy(const ha_context *c) {
    c = ha_resolve_const(c);
    return !ha_is_host(c) && c->memory == &ha_host_memory;
}

/* Forks and adopted contexts of a device that are in use. */
HA_IN_ int ha_device_has_more(const ha_context *primary) HA_REQUIRES_(ha_registry.lock) {
    for (const ha_context *c = ha_registry.contexts; c; c = c->next)
        if (c->primary == primary && c != primary && !c->given_back && !c->for_events) return 1;
    return 0;
}

/* Also of the contexts that were given back: they may be used again. */
HA_IN_ void ha_device_work_on(const ha_context *primary, ha_memory *m)
    HA_REQUIRES_(ha_registry.lock) {
    for (ha_context *c = ha_registry.contexts; c; c = c->next) {
        if (c->primary != primary) continue;
        c->memory = m;
        if (!ha_has_failed(c)) c->easy = ha_easy_memory(c);
    }
}

/* *why: what is in the way. */
HA_IN_ ha_status ha_zero_copy_set(ha_context *c, int on, const char **why)
    HA_REQUIRES_(ha_registry.lock) {
    const ha_backend *b = c->backend;
    ha_memory *wanted = on ? &ha_host_memory : c->home;
    *why = "the device cannot work on host memory";
    if (on && (ha_is_host(c) || !HA_HAS_(b, ha_backend, zero_copy) || !b->zero_copy(c->device)))
        return HA_ERR_UNSUPPORTED;
    if (c->memory == wanted) return HA_OK;
    *why = "an array is alive";
    if (ha_living_arrays()) return HA_ERR_STATE;
    *why = "memory of ha_memory_allocate was not given back";
    if (ha_loose_blocks()) return HA_ERR_STATE;
    *why = "the device has another context, a fork or an adopted one";
    if (ha_device_has_more(c->primary)) return HA_ERR_STATE;
    ha_device_work_on(c->primary, wanted);
    return HA_OK;
}

ha_status ha_context_set_zero_copy(ha_context *c, int on) {
    const char *why;
    ha_status s = ha_enter("ha_context_set_zero_copy");
    if (s) return s;
    c = ha_resolve(c);
    pthread_mutex_lock(&ha_registry.lock);
    s = ha_zero_copy_set(c, on, &why);
    pthread_mutex_unlock(&ha_registry.lock);
    return s ? ha_fail(s, "ha_context_set_zero_copy", "%s: %s", c->name, why) : s;
}

#endif
