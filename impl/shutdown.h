/* Giving everything back: devices, queues, retired blocks. */
#ifndef HA_IMPL_SHUTDOWN_H
#define HA_IMPL_SHUTDOWN_H

#include "describe.h"

static void ha_context_close(ha_context *c) {
    ha_mark_release(c, c->watched);
    ha_mark_release(c, c->latest);
    c->ops->destroy(c->queue);
    pthread_mutex_destroy(&c->lock);
}

/* Every queue is drained, so every retired block may go. */
static void ha_contexts_close(void) {
    for (ha_context *c = ha_registry.contexts; c; c = c->next) {
        c->ops->drain(c->queue);
        ha_mark_done(c, ha_sequence(c));
    }
    ha_memory_sweep(&ha_host_memory);
    for (ha_memory *m = ha_registry.memories; m; m = m->next) ha_memory_sweep(m);
    for (ha_context *c = ha_registry.contexts; c; c = c->next) ha_context_close(c);
}

ha_status ha_shutdown(void) {
    ha_status s = ha_enter("ha_shutdown");
    if (s) return s;
    uint64_t arrays = __atomic_load_n(&ha_registry.arrays, __ATOMIC_ACQUIRE);
    if (arrays)
        return ha_fail(HA_ERR_STATE, "ha_shutdown", "%llu arrays are still alive: free them first",
                       (unsigned long long)arrays);
    pthread_mutex_lock(&ha_registry.lock);
    ha_contexts_close();
    while (ha_registry.memories) {
        ha_memory *m = ha_registry.memories;
        ha_registry.memories = m->next;
        if (HA_HAS(m->backend, ha_backend, close)) m->backend->close(m->primary->device);
        pthread_mutex_destroy(&m->lock);
        HARRAY_FREE(m);
    }
    while (ha_registry.contexts) {
        ha_context *c = ha_registry.contexts;
        ha_registry.contexts = c->next;
        HARRAY_FREE(c);
    }
    while (ha_registry.kinds) {
        ha_kind *k = ha_registry.kinds;
        ha_registry.kinds = k->next;
        HARRAY_FREE(k);
    }
    pthread_mutex_unlock(&ha_registry.lock);
    return HA_OK;
}

#endif
