/* What a pointer is. */
#ifndef HARRAY_IMPL_DEVICE_POINTER_KIND_H
#define HARRAY_IMPL_DEVICE_POINTER_KIND_H

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

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
    case HA_MEMORY_UNKNOWN:
        return "unknown";
    }
    return "unknown memory";
}

/* What the open devices say; what none of them knows would be the host's. */
HA_IN_ ha_memory_kind ha_pointer_owner(const void *pointer, ha_context **owner) {
    ha_memory_kind kind = HA_MEMORY_HOST;
    const ha_memory *m = __atomic_load_n(&ha_registry.memories, __ATOMIC_ACQUIRE);
    *owner = ha_host();
    for (; m; m = m->next) {
        const ha_memory_ops *ops = m->backend->memory;
        if (!m->primary) continue; /* a pinned one: its device's own knows it, too */
        if (!HA_HAS_(ops, ha_memory_ops, knows)) continue;
        if (!ops->knows(m->handle, pointer, &kind)) continue;
        *owner = m->primary;
        break;
    }
    return kind;
}

/* Whether the process has a page there. */
HA_IN_ int ha_is_mapped(const void *pointer) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = (uintptr_t)pointer / page * page;
    const int before = errno;
    unsigned char resident;
    const int mapped = !mincore((void *)first, page, &resident) || errno != ENOMEM;
    errno = before;
    return mapped;
}

ha_memory_kind ha_pointer_kind(const void *pointer, ha_context **context) {
    ha_context *owner = ha_host();
    ha_memory_kind kind = HA_MEMORY_HOST;
    if (!ha_enter("ha_pointer_kind")) kind = ha_pointer_owner(pointer, &owner);
    if (kind == HA_MEMORY_HOST && !ha_is_mapped(pointer)) {
        kind = HA_MEMORY_UNKNOWN;
        owner = NULL;
    }
    if (context) *context = owner;
    return kind;
}

#endif
