/* Links between memories: which device copies, and what that costs, declared or measured. */
#ifndef HARRAY_IMPL_TRANSFER_LINKS_H
#define HARRAY_IMPL_TRANSFER_LINKS_H

#include "reclaim.h"

/* What copies between a device's memory and another one were measured to cost: ns for 1 MiB. */
typedef struct ha_link {
    struct ha_link *next;
    const ha_memory *other;
    uint64_t in, out;
} ha_link;

enum { HA_DEFAULT_COST = 100000 }; /* ns for 1 MiB, about 10 GB/s: backend.h says so */

HA_IN_ int ha_device_reaches(const ha_memory *device, const ha_memory *other) {
    ha_place place = {other->backend, other->handle};
    if (!device->primary || ha_is_dead(device) || ha_is_dead(other)) return 0;
    return ha_memory_table(device)->reaches(device->handle, &place);
}

/* Whether a queue can copy from and to the host. */
HA_IN_ int ha_queue_reaches_host(const ha_context *c) {
    return c->memory == &ha_host_memory || ha_device_reaches(c->memory, &ha_host_memory);
}

/* The memory whose device can copy from -> to; NULL when there is none. */
HA_IN_ const ha_memory *ha_link_device(const ha_memory *from, const ha_memory *to) {
    if (ha_device_reaches(to, from)) return to;
    return ha_device_reaches(from, to) ? from : NULL;
}

HA_IN_ ha_link *ha_link_find(const ha_memory *device, const ha_memory *other) {
    ha_link *l = __atomic_load_n(&device->links, __ATOMIC_ACQUIRE);
    while (l && l->other != other) l = l->next;
    return l;
}

/* What the backend says. */
HA_IN_ uint64_t ha_declared_cost(const ha_memory *device, const ha_memory *other) {
    const ha_memory_ops *ops = ha_memory_table(device);
    ha_place place = {other->backend, other->handle};
    uint64_t cost = HA_HAS_(ops, ha_memory_ops, cost) ? ops->cost(device->handle, &place)
                                                      : (uint64_t)HA_DEFAULT_COST;
    return cost ? cost : 1;
}

/* 0: no direct path. */
HA_IN_ uint64_t ha_direct_cost(const ha_memory *from, const ha_memory *to) {
    const ha_memory *device = ha_link_device(from, to);
    if (!device) return 0;
    const ha_memory *other = device == to ? from : to;
    const ha_link *l = ha_link_find(device, other);
    if (!l) return ha_declared_cost(device, other);
    return __atomic_load_n(device == to ? &l->in : &l->out, __ATOMIC_RELAXED);
}

uint64_t ha_link_cost(const ha_context *from, const ha_context *to) {
    const ha_memory *source = ha_resolve_const(from)->memory;
    const ha_memory *target = ha_resolve_const(to)->memory;
    return source == target ? 0 : ha_direct_cost(source, target);
}

/* ---- measuring ----------------------------------------------------------------------------- */

enum { HA_MEASURED_BYTES = 1 << 20, HA_MEASURED_COPIES = 8, HA_MEASURED_ROUNDS = 3 };

/* One round of copies in a row, from an empty queue to an empty queue. */
HA_IN_ ha_status ha_measure_round(ha_context *c, void *to, const void *from, uint64_t *ns) {
    ha_status s = ha_wait_for((ha_timepoint){c, ha_sequence_of(c)});
    uint64_t start = ha_now();
    for (int i = 0; i < HA_MEASURED_COPIES && !s; i++)
        s = ha_queue_status(c, c->ops->copy(c->queue, to, from, HA_MEASURED_BYTES));
    ha_status waited = ha_wait_for((ha_timepoint){c, ha_sequence_of(c)});
    *ns = (ha_now() - start) / HA_MEASURED_COPIES;
    return s ? s : waited;
}

/* The best of some rounds; the first one touches the memory. */
HA_IN_ ha_status ha_measure_copies(ha_context *c, void *to, const void *from, uint64_t *ns) {
    ha_status s = ha_measure_round(c, to, from, ns);
    *ns = UINT64_MAX;
    for (int i = 0; i < HA_MEASURED_ROUNDS && !s; i++) {
        uint64_t round;
        s = ha_measure_round(c, to, from, &round);
        if (round < *ns) *ns = round;
    }
    if (!*ns) *ns = 1;
    return s;
}

/* Both directions of one link. */
HA_IN_ ha_status ha_measure_link(ha_context *c, ha_memory *other, uint64_t *in, uint64_t *out) {
    ha_block *here, *there;
    ha_ops none = {0};
    ha_status s = ha_block_get(c->memory, HA_MEASURED_BYTES, &here);
    if (s) return s;
    s = ha_block_get(other, HA_MEASURED_BYTES, &there);
    if (!s) {
        if (!other->primary) memset(there->data, 0, HA_MEASURED_BYTES);
        s = ha_measure_copies(c, here->data, there->data, in);
        if (!s) s = ha_measure_copies(c, there->data, here->data, out);
        if (s) ha_drain((ha_timepoint){c, ha_sequence_of(c)});
        ha_block_retire(there, &none);
    }
    none = (ha_ops){0};
    ha_block_retire(here, &none);
    return s;
}

/* Stores what was measured. The list only grows, under the registry's lock. */
HA_IN_ ha_status ha_link_set(ha_memory *device, const ha_memory *other, uint64_t in, uint64_t out) {
    ha_link *fresh = (ha_link *)HARRAY_MALLOC(sizeof *fresh);
    if (!fresh) return HA_ERR_MEMORY;
    *fresh = (ha_link){NULL, other, in, out};
    pthread_mutex_lock(&ha_registry.lock);
    ha_link *l = ha_link_find(device, other);
    if (l) {
        __atomic_store_n(&l->in, in, __ATOMIC_RELAXED);
        __atomic_store_n(&l->out, out, __ATOMIC_RELAXED);
    } else {
        fresh->next = device->links;
        __atomic_store_n(&device->links, fresh, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&ha_registry.lock);
    if (l) HARRAY_FREE(fresh);
    return HA_OK;
}

HA_IN_ ha_status ha_measure_with(ha_context *c, ha_memory *other) {
    uint64_t in, out;
    if (other == c->memory || !ha_device_reaches(c->memory, other)) return HA_OK;
    ha_status s = ha_measure_link(c, other, &in, &out);
    return s ? s : ha_link_set(c->memory, other, in, out);
}

ha_status ha_context_measure(ha_context *c) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter("ha_context_measure");
    if (s) return s;
    c = ha_resolve(c);
    if (ha_is_host(c) || !c->memory->primary) return HA_OK; /* nothing is copied to or from it */
    s = ha_measure_with(c, &ha_host_memory);
    ha_memory *m = __atomic_load_n(&ha_registry.memories, __ATOMIC_ACQUIRE);
    for (; m && !s; m = m->next)
        if (m->primary) s = ha_measure_with(c, m); /* pinned memory is the host's */
    if (!s) return HA_OK;
    return ha_fail(s == HA_ERR_LOST ? HA_ERR_BACKEND : s, "ha_context_measure",
                   "%s: measuring its links failed", c->name);
}

#endif
