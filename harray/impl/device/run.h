/* Functions on a queue. */
#ifndef HARRAY_IMPL_DEVICE_RUN_H
#define HARRAY_IMPL_DEVICE_RUN_H

#include "timeline.h"

/* On the host: at once, with a copy of the argument as everywhere. */
HA_IN_ ha_status ha_call_here(ha_function f, const void *argument, size_t bytes) {
    static const ha_queue nowhere = {0, 0, 0};
    _Alignas(max_align_t) char small[256];
    void *copy = small;
    if (bytes > sizeof small && !(copy = HARRAY_MALLOC(bytes))) return HA_ERR_MEMORY;
    if (bytes) memcpy(copy, argument, bytes);
    ha_queue_run(f, &nowhere, bytes ? copy : NULL);
    if (copy != small) HARRAY_FREE(copy);
    return HA_OK;
}

/* Tells nothing: the caller knows more. */
HA_IN_ ha_status ha_enqueue_quietly(ha_context *c, ha_function f, const void *argument,
                                    size_t bytes) {
    if (ha_is_host(c)) return ha_call_here(f, argument, bytes);
    return ha_queue_status(c, c->ops->call(c->queue, f, argument, bytes));
}

ha_status ha_enqueue(ha_context *c, ha_function f, const void *argument, size_t bytes) {
    ha_status s = ha_enter("ha_enqueue");
    if (s) return s;
    c = ha_resolve(c);
    if (!f || (bytes && !argument))
        return ha_fail(HA_ERR_ARGUMENT, "ha_enqueue", "%s: no %s", c->name,
                       f ? "argument" : "function");
    if ((s = ha_enqueue_quietly(c, f, argument, bytes)))
        return ha_fail(s, "ha_enqueue", "%s did not take a function with %zu bytes of argument",
                       c->name, bytes);
    return HA_OK;
}

#endif
