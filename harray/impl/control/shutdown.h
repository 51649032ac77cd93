/* Giving everything back: devices, queues, retired blocks. */
#ifndef HARRAY_IMPL_CONTROL_SHUTDOWN_H
#define HARRAY_IMPL_CONTROL_SHUTDOWN_H

#include "report.h"

HA_IN_ void ha_context_close(ha_context *c) {
    ha_fence_release(c, c->watched);
    ha_fence_release(c, c->latest);
    ha_marks_end(c);
    if (!c->ended) c->ops->destroy(c->queue);
    pthread_mutex_destroy(&c->lock);
}

HA_IN_ void ha_memory_empty(ha_memory *m) {
    (void)ha_memory_sweep(m);
    (void)ha_memory_shrink(m, 0);
}

/* Every queue is drained, so every retired block may go. */
HA_IN_ void ha_contexts_close(void) {
    for (ha_context *c = ha_registry.contexts; c; c = c->next) {
        if (!c->ended) c->ops->drain(c->queue);
        ha_fence_done(c, ha_sequence_of(c));
    }
    ha_staging_empty();
    for (ha_memory *m = ha_registry.memories; m; m = m->next) ha_device_staging_end(m);
    ha_trace_drained();
    ha_memory_empty(&ha_host_memory);
    for (ha_memory *m = ha_registry.memories; m; m = m->next) ha_memory_empty(m);
    for (ha_context *c = ha_registry.contexts; c; c = c->next) ha_context_close(c);
}

typedef struct ha_living_text {
    char text[320];
} ha_living_text;

/* ": 'u' (double[100]), …": some of the arrays of a memory, from number *n on. */
HA_IN_ void ha_name_living(ha_memory *m, ha_text *t, int *n) {
    ha_spin_lock(&m->pool.lock);
    for (ha_alive *a = m->pool.alive; a && *n < 4; a = a->next, ++*n)
        ha_print(t, "%s%s", *n == 0 ? ": " : ", ",
                 *n < 3 ? ha_label_of(ha_array_of_alive(a)).text : "...");
    ha_spin_unlock(&m->pool.lock);
}

HA_IN_ ha_living_text ha_some_living(void) {
    ha_living_text l = {""};
    ha_text t = {l.text, sizeof l.text, 0};
    int n = 0;
    for (ha_memory *m = NULL; (m = ha_next_memory(m));) ha_name_living(m, &t, &n);
    return l;
}

HA_IN_ uint64_t ha_living_arrays(void) {
    uint64_t arrays = 0;
    for (ha_memory *m = NULL; (m = ha_next_memory(m));) arrays += m->pool.arrays;
    return arrays;
}

ha_status ha_shutdown(void) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter("ha_shutdown");
    if (s) return s;
    uint64_t arrays = ha_living_arrays(), loose = ha_loose_blocks();
    if (arrays || loose)
        return ha_fail(HA_ERR_STATE, "ha_shutdown",
                       "%llu arrays are still alive, and %llu blocks of ha_memory_allocate: free "
                       "them first%s",
                       (unsigned long long)arrays, (unsigned long long)loose,
                       ha_some_living().text);
    pthread_mutex_lock(&ha_registry.lock);
    ha_contexts_close();
    while (ha_registry.memories) {
        ha_memory *m = ha_registry.memories;
        ha_registry.memories = m->next;
        while (m->links) {
            struct ha_link *l = m->links;
            m->links = l->next;
            HARRAY_FREE(l);
        }
        if (m->primary && m->primary->programs_end) m->primary->programs_end(m->primary);
        if (m->primary && m->backend->close) m->backend->close(m->primary->device);
        pthread_mutex_destroy(&m->lock);
        HARRAY_FREE(m);
    }
    while (ha_registry.contexts) {
        ha_context *c = ha_registry.contexts;
        ha_registry.contexts = c->next;
        HARRAY_FREE(c);
    }
    if (ha_registry.operations_end) ha_registry.operations_end();
    ha_failures = 0;
    while (ha_registry.kinds) {
        ha_kind *k = ha_registry.kinds;
        ha_registry.kinds = k->next;
        HARRAY_FREE(k);
    }
    ha_sites_clear();
    ha_works_clear();
    pthread_mutex_unlock(&ha_registry.lock);
    ha_host_memory.pool = (ha_pool){.most = HA_HOST_CACHE_};
    ha_host_options_known = 0;
    ha_host_memory.tier = NULL;
    ha_host_memory.allocator = (ha_allocator){0};
    ha_memory_forget_transfers(&ha_host_memory);
    ha_freed_end();
    ha_fault_signals_end();
    ha_windows_end();
    ha_strict_contexts = 0;
    ha_debug_end();
    return HA_OK;
}

#endif
