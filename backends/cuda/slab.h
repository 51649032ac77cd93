/* Blocks of a CUDA device, by kind of memory. Asking the driver takes long and may wait for the whole
 * device, so it is asked for slabs, and blocks of up to an eighth of one are carved from them.
 *
 * A slab without blocks is kept if it is the only one; the others go back to the driver. Before an
 * allocation fails they all do. Larger blocks are asked for, and given back, without a lock, as the
 * driver may wait then.
 *
 * Memory "async" comes from the device's default pool, on a stream of its own that is synchronised,
 * as queues do not know of it; the pool's attributes are the process's and stay as they are. */
#ifndef HARRAY_BACKENDS_CUDA_SLAB_H
#define HARRAY_BACKENDS_CUDA_SLAB_H

#include "device.h"

#define HA_CUDA_ALIGN_ ((size_t)256) /* of every block */

typedef struct ha_cuda_slab {
    struct ha_cuda_slab *next;
    uintptr_t first;
    ha_arena arena;
} ha_cuda_slab;

/* ---- the driver's memory ---- */

HA_IN_ void ha_cuda_raw_put(ha_cuda_device *device, ha_cuda_kind kind, uintptr_t first) {
    if (kind == HA_CUDA_KIND_PINNED)
        (void)ha_cu.MemFreeHost((void *)first);
    else if (kind == HA_CUDA_KIND_ASYNC)
        (void)ha_cu.MemFreeAsync(first, device->stream);
    else
        (void)ha_cu.MemFree(first);
}

/* *name: the function that was called last. */
HA_IN_ ha_cu_result ha_cuda_raw_async(ha_cuda_device *device, ha_cu_pointer *pointer, size_t bytes,
                                      const char **name) {
    ha_cu_result code = ha_cu.MemAllocAsync(pointer, bytes, device->stream);
    *name = ha_cuda_names.MemAllocAsync;
    if (code != HA_CU_SUCCESS) return code;
    *name = ha_cuda_names.StreamSynchronize;
    code = ha_cu.StreamSynchronize(device->stream);
    if (code != HA_CU_SUCCESS) (void)ha_cu.MemFreeAsync(*pointer, device->stream);
    return code;
}

/* *name: as above. */
HA_IN_ ha_cu_result ha_cuda_raw_get(ha_cuda_device *device, ha_cuda_kind kind, size_t bytes,
                                    uintptr_t *first, const char **name) {
    ha_cu_pointer pointer = 0;
    ha_cu_result code = HA_CU_INVALID_VALUE;
    void *host = NULL;
    switch (kind) {
    case HA_CUDA_KIND_DEVICE:
        *name = ha_cuda_names.MemAlloc;
        code = ha_cu.MemAlloc(&pointer, bytes);
        break;
    case HA_CUDA_KIND_MANAGED:
        *name = ha_cuda_names.MemAllocManaged;
        code = HA_CU_OUT_OF_MEMORY; /* some drivers would go on for ever, moving pages */
        if (bytes <= device->total)
            code = ha_cu.MemAllocManaged(&pointer, bytes, HA_CU_MANAGED_GLOBAL);
        break;
    case HA_CUDA_KIND_ASYNC:
        code = ha_cuda_raw_async(device, &pointer, bytes, name);
        break;
    case HA_CUDA_KIND_PINNED:
        *name = ha_cuda_names.MemHostAlloc;
        code = ha_cu.MemHostAlloc(&host, bytes, HA_CU_HOST_PORTABLE | HA_CU_HOST_MAPPED);
        break;
    }
    *first = kind == HA_CUDA_KIND_PINNED ? (uintptr_t)host : (uintptr_t)pointer;
    return code;
}

/* ---- slabs: with the lock held, in the device's context ---- */

/* Takes a slab off the list and gives it back to the driver. */
HA_IN_ void ha_cuda_slab_drop(ha_cuda_device *device, ha_cuda_slabs *slabs, ha_cuda_slab **link) {
    ha_cuda_slab *slab = *link;
    *link = slab->next;
    ha_cuda_raw_put(device, slabs->kind, slab->first);
    ha_arena_destroy(&slab->arena);
    HARRAY_FREE(slab);
}

/* Drops slabs without blocks, but `keep` of them. Returns how many. */
HA_IN_ int ha_cuda_slabs_drop(ha_cuda_device *device, ha_cuda_slabs *slabs, int keep) {
    ha_cuda_slab **link = &slabs->first;
    int dropped = 0;
    while (*link != NULL) {
        if ((*link)->arena.blocks > 0 || keep-- > 0) {
            link = &(*link)->next;
        } else {
            ha_cuda_slab_drop(device, slabs, link);
            dropped++;
        }
    }
    return dropped;
}

/* One more slab, in front. */
HA_IN_ ha_status ha_cuda_slab_add(ha_cuda_device *device, ha_cuda_slabs *slabs) {
    size_t bytes = ha_round_up(device->settings.slab, HA_CUDA_ALIGN_);
    const char *name;
    ha_cuda_slab *slab = (ha_cuda_slab *)HARRAY_MALLOC(sizeof *slab);
    if (slab == NULL) return HA_ERR_MEMORY;
    if (ha_arena_create(&slab->arena, bytes, HA_CUDA_ALIGN_) == HA_OK) {
        if (ha_cuda_raw_get(device, slabs->kind, bytes, &slab->first, &name) == HA_CU_SUCCESS) {
            slab->next = slabs->first;
            slabs->first = slab;
            return HA_OK;
        }
        ha_arena_destroy(&slab->arena);
    }
    HARRAY_FREE(slab);
    return HA_ERR_MEMORY;
}

/* From a slab that has room, else from a new one. Fails silently: the exact size may fit. */
HA_IN_ ha_status ha_cuda_take_part(ha_cuda_device *device, ha_cuda_slabs *slabs, size_t bytes,
                                   uintptr_t *first) {
    ha_cuda_slab *slab = slabs->first;
    size_t place;
    while (slab != NULL && ha_arena_take(&slab->arena, bytes, &place) != HA_OK) slab = slab->next;
    if (slab == NULL) {
        if (ha_cuda_slab_add(device, slabs) != HA_OK) return HA_ERR_MEMORY;
        slab = slabs->first;
        if (ha_arena_take(&slab->arena, bytes, &place) != HA_OK) return HA_ERR_MEMORY;
    }
    *first = slab->first + place;
    return HA_OK;
}

/* Of the driver alone. Without the lock. */
HA_IN_ ha_cu_result ha_cuda_take_whole(ha_cuda_device *device, ha_cuda_slabs *slabs, size_t bytes,
                                       uintptr_t *first, const char **name) {
    ha_cu_result code = ha_cuda_raw_get(device, slabs->kind, bytes, first, name);
    int dropped;
    if (code != HA_CU_OUT_OF_MEMORY) return code;
    pthread_mutex_lock(&slabs->lock);
    dropped = ha_cuda_slabs_drop(device, slabs, 0);
    pthread_mutex_unlock(&slabs->lock);
    return dropped > 0 ? ha_cuda_raw_get(device, slabs->kind, bytes, first, name) : code;
}

/* ---- blocks ---- */

/* Tells nothing. *name: the driver's function that failed. */
HA_IN_ ha_cu_result ha_cuda_try_take(ha_cuda_device *device, ha_cuda_slabs *slabs, size_t bytes,
                                     void **block, const char **name) {
    uintptr_t first = 0;
    int pushed;
    ha_status part = HA_ERR_MEMORY;
    ha_cu_result code = ha_cuda_push(device, &pushed, name);
    if (code != HA_CU_SUCCESS) return code;
    if (bytes <= device->settings.slab / 8) {
        pthread_mutex_lock(&slabs->lock);
        part = ha_cuda_take_part(device, slabs, bytes, &first);
        pthread_mutex_unlock(&slabs->lock);
    }
    if (part != HA_OK) code = ha_cuda_take_whole(device, slabs, bytes, &first, name);
    ha_cuda_leave(pushed);
    if (code == HA_CU_SUCCESS) *block = (void *)first;
    return code;
}

HA_IN_ ha_status ha_cuda_take(ha_cuda_device *device, ha_cuda_slabs *slabs, size_t bytes,
                              void **block) {
    const char *name;
    ha_cu_result code;
    if (bytes > PTRDIFF_MAX) return HA_ERR_MEMORY;
    code = ha_cuda_try_take(device, slabs, bytes, block, &name);
    return ha_cuda_not_lost(ha_cuda_check(device, code, name));
}

HA_IN_ void ha_cuda_give(ha_cuda_device *device, ha_cuda_slabs *slabs, void *block, size_t bytes) {
    uintptr_t first = (uintptr_t)block;
    ha_cuda_slab *slab;
    int pushed;
    /* In a context that has failed, nothing is given back. */
    ha_cuda_enter_quietly(device, &pushed);
    pthread_mutex_lock(&slabs->lock);
    slab = slabs->first;
    while (slab != NULL && first - slab->first >= slab->arena.capacity) slab = slab->next;
    if (slab != NULL) {
        ha_arena_give(&slab->arena, first - slab->first, bytes);
        if (slab->arena.blocks == 0) (void)ha_cuda_slabs_drop(device, slabs, 1);
    }
    pthread_mutex_unlock(&slabs->lock);
    if (slab == NULL) ha_cuda_raw_put(device, slabs->kind, first);
    ha_cuda_leave(pushed);
}

#endif
