/* Where a kernel runs for a context, and why there: the first of these that is possible.
 *
 *     the host's own loops        on the host
 *     the device's compiler       where the backend has one
 *     the loops on the queue      where the queue runs functions that reach the device's data
 *     the host                    with accesses there: the result is right, and the reason is kept */
#ifndef HARRAY_IMPL_KERNELS_PLACE_H
#define HARRAY_IMPL_KERNELS_PLACE_H

#include "programs.h"

HA_IN_ void ha_do_nothing(const ha_queue *queue, void *argument) { (void)queue, (void)argument; }

/* Does the queue run functions of the host? Asked once a device. */
HA_IN_ int ha_runs_functions(ha_context *c, ha_programs *all) {
    int known = __atomic_load_n(&all->runs_functions, __ATOMIC_RELAXED);
    if (!known) {
        const ha_status s = ha_enqueue_quietly(c, ha_do_nothing, NULL, 0, NULL, "ha_kernel_place");
        known = s == HA_ERR_UNSUPPORTED ? -1 : s == HA_OK ? 1 : 0;
        ha_forget_note();
        if (known) __atomic_store_n(&all->runs_functions, known, __ATOMIC_RELAXED);
    }
    return known >= 0; /* what else went wrong is told by the launch */
}

HA_IN_ ha_kernel_way ha_way_find(ha_context *c, ha_programs *all) {
    ha_forget_note(); /* of something else that failed */
    if (ha_language_of(c)) return HA_WAY_COMPILED;
    if (!all->why[0]) /* others may read what it says already */
        snprintf(all->why, sizeof all->why, "%s",
                 *ha_backend_note.text ? ha_backend_note.text : "its backend has no compiler");
    ha_forget_note();
    return ha_runs_functions(c, all) ? HA_WAY_FUNCTION : HA_WAY_HOST;
}

/* Whether a queue runs functions may be not known so far: then it is asked again by the next launch. */
HA_IN_ int ha_way_is_sure(const ha_programs *all, ha_kernel_way way) {
    return way != HA_WAY_FUNCTION || __atomic_load_n(&all->runs_functions, __ATOMIC_RELAXED);
}

/* HA_WAY_UNKNOWN: there is no memory to remember it. */
HA_IN_ ha_kernel_way ha_way_of(ha_context *c) {
    if (ha_is_host(c)) return HA_WAY_HOST;
    ha_programs *all = ha_programs_of(c->primary);
    if (!all) return HA_WAY_UNKNOWN;
    ha_kernel_way way = (ha_kernel_way)__atomic_load_n(&all->way, __ATOMIC_ACQUIRE);
    if (way != HA_WAY_UNKNOWN) return way;
    HA_UNCANCELLED_;
    pthread_mutex_lock(&all->compiling);
    way = (ha_kernel_way)all->way;
    if (way == HA_WAY_UNKNOWN) {
        way = ha_way_find(c, all);
        if (ha_way_is_sure(all, way)) __atomic_store_n(&all->way, (int)way, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&all->compiling);
    return way;
}

size_t ha_kernel_place(const ha_kernel *k, ha_context *context, char *text, size_t bytes) {
    ha_text t = ha_text_into(text, bytes);
    char device[200] = "";
    if (ha_enter("ha_kernel_place")) return 0;
    ha_context *c = ha_resolve(context);
    if (!k) {
        ha_fail(HA_ERR_ARGUMENT, "ha_kernel_place", "no kernel");
        return 0;
    }
    switch (ha_way_of(c)) {
    case HA_WAY_COMPILED:
        if (HA_HAS_(c->backend, ha_backend, describe))
            c->backend->describe(c->device, device, sizeof device);
        ha_print(&t, "%s: compiled for it: %s", c->name, device);
        break;
    case HA_WAY_FUNCTION:
        ha_print(&t, "%s: on its queue, as loops compiled here: %s", c->name,
                 c->primary->programs->why);
        break;
    case HA_WAY_HOST:
        if (ha_is_host(c))
            ha_print(&t, "host: as loops compiled here");
        else
            ha_print(&t, "%s: on the host: %s", c->name, c->primary->programs->why);
        break;
    default:
        ha_fail(HA_ERR_MEMORY, "ha_kernel_place", "no memory");
    }
    return t.length;
}

#endif
