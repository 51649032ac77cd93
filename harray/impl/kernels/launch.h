/* Launching a kernel: it is compiled, if the device does that; then all that it is given is opened, or
 * nothing; its lanes run, or are enqueued; then all is closed. Nothing waits in between. */
#ifndef HARRAY_IMPL_KERNELS_LAUNCH_H
#define HARRAY_IMPL_KERNELS_LAUNCH_H

#include "on_device.h"
#include "on_host.h"
#include "place.h"

HA_IN_ int ha_box_is_empty(const ha_launching *l) {
    for (int d = 0; d < l->kernel->rank; d++)
        if (l->box.first[d] == l->box.last[d]) return 1;
    return 0;
}

/* On the host where the device cannot, unless that is forbidden. */
HA_IN_ ha_status ha_launch_elsewhere(ha_launching *l, ha_kernel_way way) {
    const ha_kernel *k = l->kernel;
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

/* Where a launch on a device runs; compiles it there. */
HA_IN_ ha_status ha_launch_place(ha_launching *l, const ha_compiled **compiled) {
    const ha_status s = ha_kernel_settings_check(l->kernel->name, l->kernel->site);
    if (s) return s;
    const ha_kernel_way way = ha_way_of(l->context);
    if (way != HA_WAY_COMPILED) return ha_launch_elsewhere(l, way);
    return ha_compiled_of(l->kernel, ha_launch_is_apart(l), l->context, compiled);
}

/* On a device: nothing has been overwritten when it does not take the kernel. */
HA_IN_ ha_status ha_launch_enqueue(void *launching) {
    ha_launching *l = (ha_launching *)launching;
    ha_launch_point(l);
    if (ha_box_is_empty(l)) return HA_OK;
    const ha_status s = l->compiled ? ha_launch_on_device(l, l->compiled) : ha_launch_queued(l);
    if (!s) return HA_OK;
    return ha_fail(s, l->kernel->name, "%s: %s did not take the kernel", l->kernel->site,
                   l->context->name);
}

HA_IN_ ha_status ha_launch_open(ha_launching *l) {
    ha_open_work use = {ha_launch_enqueue, l, HA_OK};
    if (!ha_is_host(l->context))
        return ha_open_to_use(l->request, l->requests, "ha_open_many", &use, l->context,
                              l->kernel->site);
    const ha_status s = ha_open_many_(l->request, l->requests, l->kernel->site);
    if (s) return s;
    ha_launch_point(l);
    if (!ha_box_is_empty(l)) ha_launch_here(l);
    return HA_OK;
}

ha_status ha_kernel_launch_(const ha_kernel *k, ha_context *context, const ha_region *box,
                            const void *const *given) {
    HA_TELLS_EVENTS_;
    ha_launching l;
    l.kernel = k;
    l.context = ha_resolve(context);
    l.compiled = NULL;
    l.given = given;
    l.requests = 0;
    ha_status s = ha_launch_take_all(&l);
    if (!s && box) l.box = *box;
    if (!s && !box) s = ha_lanes_from_sizes(&l);
    if (!s) s = ha_box_check(&l);
    if (s) return s;
    ha_launch_request(&l);
    if (!ha_is_host(l.context)) s = ha_launch_place(&l, &l.compiled);
    if (!s) s = ha_launch_open(&l);
    return s ? s : ha_close_many(l.request, l.requests);
}

#endif
