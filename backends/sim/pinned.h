/* The simulated device's pinned host memory, and, of a unified device, its managed memory: ordinary memory of the
 * process, in one range of addresses each, so that its pointers are known again. As large as the device's own
 * memory, and made when it is first asked for. Copies from and to it are as fast as any. */
#ifndef HARRAY_BACKENDS_SIM_PINNED_H
#define HARRAY_BACKENDS_SIM_PINNED_H

#include "device.h"

/* The range is there when this returns HA_OK. */
HA_IN_ ha_status ha_sim_range_make(ha_sim_range *range, size_t capacity) {
    size_t bytes = ha_round_up(capacity, HA_SIM_HUGE_PAGE_) + HA_SIM_HUGE_PAGE_;
    void *mapping;
    ha_status status = HA_OK;
    if (range->mapping != NULL) return status;
    mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (mapping == MAP_FAILED) return HA_ERR_MEMORY;
    status = ha_arena_create(&range->arena, capacity, HA_SIM_ALIGN_);
    if (status != HA_OK) {
        munmap(mapping, bytes);
        return status;
    }
#ifdef MADV_HUGEPAGE
    (void)madvise(mapping, bytes, MADV_HUGEPAGE);
#endif
    range->mapping = mapping;
    range->mapped = bytes;
    range->first = ha_round_up((uintptr_t)mapping, HA_SIM_HUGE_PAGE_);
    return status;
}

HA_IN_ ha_status ha_sim_range_take(const ha_sim_device *device, ha_sim_range *range, size_t bytes,
                                   void **block) {
    size_t first;
    ha_status status;
    pthread_mutex_lock(&ha_sim_shared.lock);
    status = ha_sim_range_make(range, device->options.capacity);
    pthread_mutex_unlock(&ha_sim_shared.lock);
    if (status == HA_OK) status = ha_arena_take(&range->arena, bytes, &first);
    if (status == HA_OK) *block = (void *)(range->first + first);
    return status;
}

HA_IN_ void ha_sim_range_give(ha_sim_range *range, void *block, size_t bytes) {
    if (bytes >= HA_SIM_LARGE_) ha_sim_empty_pages((uintptr_t)block, bytes);
    ha_arena_give(&range->arena, (uintptr_t)block - range->first, bytes);
}

HA_IN_ int ha_sim_range_has(const ha_sim_range *range, const void *pointer) {
    int has;
    pthread_mutex_lock(&ha_sim_shared.lock);
    has = range->mapping != NULL && (uintptr_t)pointer - range->first < range->arena.capacity;
    pthread_mutex_unlock(&ha_sim_shared.lock);
    return has;
}

HA_IN_ ha_status ha_sim_pinned_allocate(void *memory, size_t bytes, void **block) {
    ha_sim_device *device = (ha_sim_device *)memory;
    ha_status status = ha_sim_range_take(device, &device->pinned, bytes, block);
    if (status != HA_OK) ha_backend_report(0, "sim: no room in pinned memory");
    return status;
}

HA_IN_ void ha_sim_pinned_release(void *memory, void *block, size_t bytes) {
    ha_sim_range_give(&((ha_sim_device *)memory)->pinned, block, bytes);
}

/* Of a unified device. */
HA_IN_ ha_status ha_sim_managed_allocate(void *memory, size_t bytes, void **block) {
    ha_sim_device *device = (ha_sim_device *)memory;
    ha_status status = HA_ERR_UNSUPPORTED;
    if (device->options.unified) status = ha_sim_range_take(device, &device->managed, bytes, block);
    if (status == HA_ERR_UNSUPPORTED)
        ha_backend_report(0, "sim: HARRAY_SIM=unified=1 makes devices that have it");
    else if (status != HA_OK)
        ha_backend_report(0, "sim: no room in managed memory");
    return status;
}

HA_IN_ void ha_sim_managed_release(void *memory, void *block, size_t bytes) {
    ha_sim_range_give(&((ha_sim_device *)memory)->managed, block, bytes);
}

/* The users' half of the device's memory, its pinned and its managed memory. */
HA_IN_ int ha_sim_knows(void *memory, const void *pointer, ha_memory_kind *kind) {
    const ha_sim_device *device = (const ha_sim_device *)memory;
    if ((uintptr_t)pointer - device->here.first < device->here.bytes)
        *kind = HA_MEMORY_DEVICE;
    else if (ha_sim_range_has(&device->pinned, pointer))
        *kind = HA_MEMORY_PINNED;
    else if (ha_sim_range_has(&device->managed, pointer))
        *kind = HA_MEMORY_MANAGED;
    else
        return 0;
    return 1;
}

#ifdef HARRAY_DEBUG
enum { HA_SIM_ALWAYS_STRICT = 1 };
#else
enum { HA_SIM_ALWAYS_STRICT = 0 };
#endif

HA_IN_ int ha_sim_strict(void *device) {
    return ((ha_sim_device *)device)->options.strict ? 2 : HA_SIM_ALWAYS_STRICT;
}

/* A unified device works on host memory best. */
HA_IN_ int ha_sim_zero_copy(void *device) {
    return ((ha_sim_device *)device)->options.unified ? 2 : 0;
}

HA_IN_ ha_status ha_sim_capacity(void *memory, uint64_t *total, uint64_t *unused) {
    ha_sim_device *device = (ha_sim_device *)memory;
    *total = device->arena.capacity;
    *unused = *total - ha_arena_used(&device->arena);
    return HA_OK;
}

static const ha_memory_ops ha_sim_memory_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = ha_sim_allocate,
    .release = ha_sim_release,
    .reaches = ha_sim_reaches,
    .cost = ha_sim_cost,
    .knows = ha_sim_knows,
    .capacity = ha_sim_capacity,
};

static const ha_memory_ops ha_sim_pinned_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = ha_sim_pinned_allocate,
    .release = ha_sim_pinned_release,
};

static const ha_memory_ops ha_sim_managed_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = ha_sim_managed_allocate,
    .release = ha_sim_managed_release,
};

#endif
