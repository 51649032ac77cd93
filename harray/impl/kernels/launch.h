/* Launching a kernel: it is compiled, if the device does that; then all that it is given is opened, or
 * nothing; its lanes run, or are enqueued; then all is closed. Nothing waits in between. */
#ifndef HARRAY_IMPL_KERNELS_LAUNCH_H
#define HARRAY_IMPL_KERNELS_LAUNCH_H

#include "on_device.h"
#include "on_host.h"
#include "place.h"
#include "reduce.h"

HA_IN_ int ha_box_is_empty(const ha_launching *l) {
    for (int d = 0; d < l->kernel->rank; d++)
        if (l->box.first[d] == l->box.last[d]) return 1;
    return 0;
}

HA_IN_ ha_status ha_launch_run(ha_launching *l, const ha_compiled *compiled) {
    if (ha_box_is_empty(l) && !l->kernel->reduction) return HA_OK;
    if (compiled && l->kernel->reduction) return ha_reduce_on_device(l, compiled);
    if (compiled) return ha_launch_on_device(l, compiled);
    if (!ha_is_host(l->context)) return ha_launch_queued(l);
    ha_launch_here(l);
    return HA_OK;
}

/* On the host where the device cannot, unless that is forbidden. */
HA_IN_ ha_status ha_launch_elsewhere(ha_launching *l, ha_kernel_way way) {
    const ha_kernel *k = l->kernel;
    if (ha_is_host(l->context)) return HA_OK;
    if (way == HA_WAY_UNKNOWN) return ha_fail(HA_ERR_MEMORY, k->name, "%s: no memory", k->site);
    if (ha_kernel_settings_get()->strict)
        return ha_fail(HA_ERR_UNSUPPORTED, k->name,
                       "%s: %s does not compile kernels, and HARRAY_KERNELS=strict: %s", k->site,
                       l->context->name, l->context->primary->programs->why);
    if (way == HA_WAY_FUNCTION) return HA_OK;
    l->context = ha_host();
    for (size_t i = 0; i < l->requests; i++) l->request[i].context = l->context;
    return HA_OK;
}

/* All that has to be right before anything is opened. */
HA_IN_ ha_status ha_launch_prepare(ha_launching *l, const ha_region *box,
                                   const ha_compiled **compiled) {
    const ha_kernel *k = l->kernel;
    ha_status s = k->team ? ha_team_check(k) : HA_OK;
    if (!s) s = ha_launch_take_all(l);
    if (!s && box) l->box = *box;
    if (!s && !box) s = ha_lanes_from_sizes(l);
    if (!s) s = ha_box_check(l);
    if (!s && k->reduction) s = ha_reduce_check(l);
    if (s) return s;
    ha_launch_request(l);
    const ha_kernel_way way = ha_way_of(l->context);
    if (way != HA_WAY_COMPILED) return ha_launch_elsewhere(l, way);
    s = ha_compiled_of(k, ha_launch_is_apart(l), l->context, compiled);
    return s || !k->reduction ? s : ha_reduce_room(l);
}

HA_IN_ ha_status ha_launch_kernel(const ha_kernel *k, ha_context *context, const ha_region *box,
                                  const void *const *given) {
    const ha_compiled *compiled = NULL;
    ha_launching l;
    l.kernel = k;
    l.context = context;
    l.given = given;
    l.requests = 0;
    l.room = NULL;
    ha_status s = ha_launch_prepare(&l, box, &compiled);
    if (!s) s = ha_launch_open(&l);
    if (!s) {
        s = ha_launch_run(&l, compiled);
        const ha_status closed = ha_close_many(l.request, l.requests);
        s = s ? ha_fail(s, k->name, "%s: %s did not take the kernel", k->site, l.context->name)
              : closed;
    }
    if (l.room && ha_memory_release(l.context, l.room) && !s) s = HA_ERR_BACKEND;
    return s;
}

/* A reduction whose result is wanted on the host: by way of an array of one element, unless it runs there. */
HA_IN_ ha_status ha_launch_for_value(const ha_kernel *k, ha_context *context, const ha_region *box,
                                     const void *const *given, const ha_kernel_result_ *result) {
    const void *list[HA_MOST_PARAMETERS_];
    const ha_type type = {k->reduction->type, k->reduction->result_bytes};
    ha_kernel_result_ there = {ha_array_new(type, 1, context), 0, NULL};
    if (!there.array) return HA_ERR_MEMORY;
    for (int i = 0; i < k->parameters; i++) list[i] = given[i];
    list[k->parameters - 1] = &there;
    ha_status s = ha_launch_kernel(k, context, box, list);
    if (!s) s = ha_array_get(there.array, 0, result->value);
    const ha_status freed = ha_array_free(there.array);
    return s ? s : freed;
}

ha_status ha_kernel_launch_(const ha_kernel *k, ha_context *context, const ha_region *box,
                            const void *const *given) {
    ha_context *const c = ha_resolve(context);
    if (k->reduction) {
        const ha_kernel_result_ *r = (const ha_kernel_result_ *)given[k->parameters - 1];
        if (r->value && ha_way_of(c) != HA_WAY_HOST)
            return ha_launch_for_value(k, c, box, given, r);
    }
    return ha_launch_kernel(k, c, box, given);
}

#endif
