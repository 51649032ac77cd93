/* The memory of CUDA devices: blocks, pinned blocks, what reaches what, what a pointer is. */
#ifndef HARRAY_BACKENDS_CUDA_MEMORY_H
#define HARRAY_BACKENDS_CUDA_MEMORY_H

#include "slab.h"

HA_IN_ ha_status ha_cuda_allocate(void *memory, size_t bytes, void **block) {
    ha_cuda_device *device = (ha_cuda_device *)memory;
    return ha_cuda_take(device, &device->memory, bytes, block);
}

HA_IN_ void ha_cuda_release(void *memory, void *block, size_t bytes) {
    ha_cuda_device *device = (ha_cuda_device *)memory;
    ha_cuda_give(device, &device->memory, block, bytes);
}

HA_IN_ ha_status ha_cuda_pinned_allocate(void *memory, size_t bytes, void **block) {
    ha_cuda_device *device = (ha_cuda_device *)memory;
    return ha_cuda_take(device, &device->pinned, bytes, block);
}

HA_IN_ void ha_cuda_pinned_release(void *memory, void *block, size_t bytes) {
    ha_cuda_device *device = (ha_cuda_device *)memory;
    ha_cuda_give(device, &device->pinned, block, bytes);
}

HA_IN_ ha_status ha_cuda_managed_allocate(void *memory, size_t bytes, void **block) {
    ha_cuda_device *device = (ha_cuda_device *)memory;
    if (device->managed) return ha_cuda_take(device, &device->shared, bytes, block);
    ha_backend_report(0, "cuda: the device has no managed memory");
    return HA_ERR_UNSUPPORTED;
}

HA_IN_ void ha_cuda_managed_release(void *memory, void *block, size_t bytes) {
    ha_cuda_device *device = (ha_cuda_device *)memory;
    ha_cuda_give(device, &device->shared, block, bytes);
}

/* ---- paths to others ---- */

/* Lets queues of `device` use the memory of `peer`. */
HA_IN_ int ha_cuda_enable_peer(ha_cuda_device *device, ha_cuda_device *peer) {
    int can = 0, pushed;
    ha_cu_result code;
    if (ha_cu.DeviceCanAccessPeer(&can, device->handle, peer->handle) != HA_CU_SUCCESS || !can)
        return 0;
    ha_cuda_enter_quietly(device, &pushed);
    code = ha_cu.CtxEnablePeerAccess(peer->context, 0);
    ha_cuda_leave(pushed);
    return code == HA_CU_SUCCESS || code == HA_CU_PEER_ACCESS_ALREADY_ENABLED;
}

/* Both ways, so that it does not matter whose queue copies. Asked once; what the device's default
 * pool gives is not shared by this. */
HA_IN_ int ha_cuda_reaches_peer(ha_cuda_device *device, ha_cuda_device *peer) {
    int reached;
    if (device->settings.memory == HA_CUDA_ASYNC) return 0;
    pthread_mutex_lock(&ha_cuda_shared.lock);
    reached = device->peer[peer->number];
    if (reached == 0) {
        reached = ha_cuda_enable_peer(device, peer) && ha_cuda_enable_peer(peer, device) ? 1 : -1;
        device->peer[peer->number] = peer->peer[device->number] = (signed char)reached;
    }
    pthread_mutex_unlock(&ha_cuda_shared.lock);
    return reached > 0;
}

HA_IN_ int ha_cuda_reaches(void *memory, const ha_place *other) {
    const char *kind = other->backend->kind;
    if (strcmp(kind, "cuda") == 0)
        return ha_cuda_reaches_peer((ha_cuda_device *)memory, (ha_cuda_device *)other->memory);
    return strcmp(kind, "host") == 0;
}

/* Nanoseconds for 1 MiB, roughly: NVLink, PCI Express between devices (the driver ranks links, the
 * best is 0), PCI Express to the host, the memory that an integrated device shares with it. What
 * ha_context_measure() finds is better. */
HA_IN_ uint64_t ha_cuda_cost(void *memory, const ha_place *other) {
    enum { BEST = 5000, RANK = 15000, LAST = 2, HOST = 50000, INTEGRATED = 20000 };
    const ha_cuda_device *device = (const ha_cuda_device *)memory;
    int rank = LAST;
    if (strcmp(other->backend->kind, "cuda") != 0) return device->integrated ? INTEGRATED : HOST;
    if (ha_cu.DeviceGetP2PAttribute(&rank, HA_CU_P2P_PERFORMANCE_RANK, device->handle,
                                    ((const ha_cuda_device *)other->memory)->handle) !=
            HA_CU_SUCCESS ||
        rank < 0 || rank > LAST)
        rank = LAST;
    return (uint64_t)(BEST + rank * RANK);
}

/* ---- pointers ---- */

typedef struct ha_cuda_pointer {
    ha_memory_kind kind; /* HA_MEMORY_HOST: the driver does not know it, it is pageable */
    int number;          /* of its device */
} ha_cuda_pointer;

/* In any context. Pointers that the driver does not know are no error. */
HA_IN_ ha_cu_result ha_cuda_look(const void *pointer, ha_cuda_pointer *found) {
    ha_cu_pointer_attribute asked[] = {HA_CU_POINTER_MEMORY_TYPE, HA_CU_POINTER_IS_MANAGED,
                                       HA_CU_POINTER_DEVICE_ORDINAL};
    unsigned type = 0, managed = 0;
    int number = -1;
    void *answers[] = {&type, &managed, &number};
    ha_cu_result code = ha_cu.PointerGetAttributes(3, asked, answers, (uintptr_t)pointer);
    *found = (ha_cuda_pointer){HA_MEMORY_HOST, -1};
    if (code != HA_CU_SUCCESS) return code;
    if (managed)
        found->kind = HA_MEMORY_MANAGED;
    else if (type == HA_CU_MEMORY_DEVICE)
        found->kind = HA_MEMORY_DEVICE;
    else if (type == HA_CU_MEMORY_HOST)
        found->kind = HA_MEMORY_PINNED;
    found->number = number;
    return code;
}

/* For what cannot fail: so it is tried again. */
HA_IN_ ha_cuda_pointer ha_cuda_look_from(ha_cuda_device *device, const void *pointer) {
    int pushed;
    ha_cuda_pointer found;
    ha_cuda_enter_quietly(device, &pushed);
    if (ha_cuda_look(pointer, &found) != HA_CU_SUCCESS) (void)ha_cuda_look(pointer, &found);
    ha_cuda_leave(pushed);
    return found;
}

HA_IN_ int ha_cuda_knows(void *memory, const void *pointer, ha_memory_kind *kind) {
    ha_cuda_device *device = (ha_cuda_device *)memory;
    ha_cuda_pointer found = ha_cuda_look_from(device, pointer);
    if (found.kind == HA_MEMORY_HOST || found.number != device->number) return 0;
    *kind = found.kind;
    return 1;
}

/* ---- working on host memory in place ---- */

HA_IN_ int ha_cuda_zero_copy(void *handle) {
    const ha_cuda_device *device = (const ha_cuda_device *)handle;
    if (!device->maps_host || !device->unified) return 0;
    return device->integrated ? 2 : 1;
}

/* Kernels have to find it by the same address: some pinned memory of others' they do not. */
HA_IN_ int ha_cuda_maps(void *handle, const void *pointer) {
    ha_cuda_device *device = (ha_cuda_device *)handle;
    ha_cu_pointer_attribute asked[] = {HA_CU_POINTER_DEVICE_POINTER};
    ha_cu_pointer there = 0;
    void *answers[] = {&there};
    int pushed;
    ha_cu_result code;
    if (device->pageable) return 1;
    ha_cuda_enter_quietly(device, &pushed);
    code = ha_cu.PointerGetAttributes(1, asked, answers, (uintptr_t)pointer);
    if (code != HA_CU_SUCCESS)
        code = ha_cu.PointerGetAttributes(1, asked, answers, (uintptr_t)pointer);
    ha_cuda_leave(pushed);
    return code == HA_CU_SUCCESS && there == (uintptr_t)pointer;
}

/* What is unused is not known where the driver has no answer: also while it has failed. */
HA_IN_ ha_status ha_cuda_capacity(void *memory, uint64_t *total, uint64_t *unused) {
    const ha_cuda_device *device = (const ha_cuda_device *)memory;
    size_t now = 0, all;
    const char *name;
    int before;
    *total = device->total;
    *unused = UINT64_MAX;
    if (!ha_cu.MemGetInfo || ha_cuda_push(device, &before, &name) != HA_CU_SUCCESS) return HA_OK;
    if (ha_cu.MemGetInfo(&now, &all) == HA_CU_SUCCESS) *unused = now;
    ha_cuda_leave(before);
    return HA_OK;
}

static const ha_memory_ops ha_cuda_memory_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = ha_cuda_allocate,
    .release = ha_cuda_release,
    .reaches = ha_cuda_reaches,
    .cost = ha_cuda_cost,
    .knows = ha_cuda_knows,
    .capacity = ha_cuda_capacity,
};

static const ha_memory_ops ha_cuda_pinned_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = ha_cuda_pinned_allocate,
    .release = ha_cuda_pinned_release,
};

static const ha_memory_ops ha_cuda_managed_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = ha_cuda_managed_allocate,
    .release = ha_cuda_managed_release,
};

#endif
