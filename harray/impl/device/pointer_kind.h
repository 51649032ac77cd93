/* What a pointer is. */
#ifndef HARRAY_IMPL_DEVICE_POINTER_KIND_H
#define HARRAY_IMPL_DEVICE_POINTER_KIND_H

#include "context.h"

const char *ha_memory_kind_name(ha_memory_kind kind) {
    switch (kind) {
    case HA_MEMORY_HOST:
        return "host";
    case HA_MEMORY_PINNED:
        return "pinned";
    case HA_MEMORY_DEVICE:
        return "device";
    case HA_MEMORY_MANAGED:
        return "managed";
    }
    return "unknown memory";
}

ha_memory_kind ha_pointer_kind(const void *pointer, ha_context **context) {
    ha_memory_kind kind = HA_MEMORY_HOST;
    ha_context *owner = ha_host();
    const ha_memory *m = NULL;
    if (!ha_enter("ha_pointer_kind")) m = __atomic_load_n(&ha_registry.memories, __ATOMIC_ACQUIRE);
    for (; m; m = m->next) {
        const ha_memory_ops *ops = m->backend->memory;
        if (!m->primary) continue; /* a pinned one: its device's own knows it, too */
        if (!HA_HAS_(ops, ha_memory_ops, knows)) continue;
        if (!ops->knows(m->handle, pointer, &kind)) continue;
        owner = m->primary;
        break;
    }
    if (context) *context = owner;
    return kind;
}

#endif
