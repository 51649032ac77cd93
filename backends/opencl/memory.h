/* Blocks of an OpenCL device. Its memory is buffers, which have no addresses. So a range of addresses is
 * reserved, where nothing can be touched, and every buffer stands for a part of it: what users have are
 * addresses there, and queues look up which buffer is meant, and where in it.
 *
 * A device whose queues run functions of the host (OpenCL calls them native kernels) works on the host's
 * memory. There the range has a second half, as that of the simulated devices: buffers lie in it, at the same
 * distance from all addresses.
 *
 * With memory=usm the driver gives memory that has addresses, where it can; then these are the users'.
 *
 * A buffer is made large, for asking the driver takes long; blocks of up to an eighth of it are carved from
 * one. Buffers without blocks are kept if it is one; before an allocation fails all of them go. */
#ifndef HARRAY_BACKENDS_OPENCL_MEMORY_H
#define HARRAY_BACKENDS_OPENCL_MEMORY_H

#include "device.h"

#include <errno.h>
#include <sys/mman.h>

#define HA_OPENCL_ALIGN_ ((size_t)256)    /* of blocks */
#define HA_OPENCL_PAGE_ ((size_t)4096)    /* of chunks */
#define HA_OPENCL_HUGE_ ((size_t)2 << 20) /* of the range */

/* ---- addresses ------------------------------------------------------------------------------- */

/* Twice as many as there are bytes of memory, so that no gap between chunks matters. */
HA_IN_ ha_status ha_opencl_reserve(ha_opencl_device *device) {
    if (device->settings.usm) return HA_OK;
    const size_t range = 2 * ha_round_up(device->total, HA_OPENCL_HUGE_);
    const size_t bytes = range * (device->native ? 2 : 1) + HA_OPENCL_HUGE_;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *mapping = mmap(NULL, bytes, PROT_NONE, flags, -1, 0);
    uintptr_t first;
    if (mapping == MAP_FAILED) {
        ha_backend_report(errno, "opencl: cannot reserve address space");
        return HA_ERR_MEMORY;
    }
    device->mapping = mapping;
    device->mapped = bytes;
    first = ha_round_up((uintptr_t)mapping, HA_OPENCL_HUGE_);
    device->here = (ha_queue){.first = first, .bytes = range, .shift = device->native ? range : 0};
    if (device->native && mmap((void *)(first + range), range, PROT_READ | PROT_WRITE,
                               flags | MAP_FIXED, -1, 0) == MAP_FAILED) {
        ha_backend_report(errno, "opencl: cannot make memory accessible");
        return HA_ERR_MEMORY;
    }
#ifdef MADV_HUGEPAGE
    if (device->native) (void)madvise((void *)(first + range), range, MADV_HUGEPAGE);
#endif
    return ha_arena_create(&device->addresses, range, HA_OPENCL_PAGE_);
}

HA_IN_ int ha_opencl_is_address(const ha_opencl_device *device, const void *pointer) {
    return (uintptr_t)pointer - device->here.first < device->here.bytes;
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* Finishes the queue of allocations; one failure says nothing. */
HA_IN_ ha_status ha_opencl_finish_own(const ha_opencl_device *device) {
    if (ha_cl.Finish(device->queue) == HA_CL_SUCCESS) return HA_OK;
    return HA_OPENCL_TRY_(device, Finish, device->queue);
}

/* Drivers take memory when a buffer is first used: so it is used here, and a full device says so now. */
HA_IN_ ha_status ha_opencl_buffer_touch(const ha_opencl_device *device, ha_cl_mem memory) {
    ha_status status = HA_OPENCL_TRY_(device, EnqueueMigrateMemObjects, device->queue, 1, &memory,
                                      HA_CL_MIGRATE_CONTENT_UNDEFINED, 0, NULL, NULL);
    return status == HA_OK ? ha_opencl_finish_own(device) : status;
}

HA_IN_ ha_status ha_opencl_buffer_make(const ha_opencl_device *device, uintptr_t first,
                                       size_t bytes, ha_cl_mem *made) {
    void *data = device->native ? (void *)(first + device->here.shift) : NULL;
    const uint64_t flags = HA_CL_MEM_READ_WRITE | (data != NULL ? HA_CL_MEM_USE_HOST_PTR : 0);
    ha_cl_code code;
    ha_cl_mem memory = ha_cl.CreateBuffer(device->context, flags, bytes, data, &code);
    ha_status status = ha_opencl_check(device, code, "CreateBuffer");
    if (status != HA_OK) return status;
    if (data == NULL) status = ha_opencl_buffer_touch(device, memory);
    if (status == HA_OK)
        *made = memory;
    else
        (void)ha_cl.ReleaseMemObject(memory);
    return status;
}

/* ---- memory with addresses of its own -------------------------------------------------------------- */

/* Functions of the host reach what is shared with it. */
HA_IN_ ha_status ha_opencl_usm_make(const ha_opencl_device *device, size_t bytes, int managed,
                                    uintptr_t *first) {
    ha_cl_code code = HA_CL_SUCCESS;
    const int shared = device->native || managed;
    void *made = shared ? device->usm.SharedMemAllocINTEL(device->context, device->found.device,
                                                          NULL, bytes, HA_OPENCL_ALIGN_, &code)
                        : device->usm.DeviceMemAllocINTEL(device->context, device->found.device,
                                                          NULL, bytes, HA_OPENCL_ALIGN_, &code);
    *first = (uintptr_t)made;
    return ha_opencl_check(device,
                           made == NULL && code == HA_CL_SUCCESS ? HA_CL_OUT_OF_RESOURCES : code,
                           shared ? "SharedMemAllocINTEL" : "DeviceMemAllocINTEL");
}

/* ---- chunks ---------------------------------------------------------------------------------- */

HA_IN_ void ha_opencl_chunk_free(ha_opencl_device *device, ha_opencl_chunk *chunk) {
    if (chunk->memory == NULL) {
        (void)device->usm.MemFreeINTEL(device->context, (void *)chunk->first);
    } else {
        (void)ha_cl.ReleaseMemObject(chunk->memory);
        if (device->native)
            (void)madvise((void *)(chunk->first + device->here.shift), chunk->bytes, MADV_DONTNEED);
        ha_arena_give(&device->addresses, chunk->first - device->here.first, chunk->bytes);
    }
    if (chunk->shared) ha_arena_destroy(&chunk->arena);
    HARRAY_FREE(chunk);
}

/* A chunk has whole pages of addresses, of which the last one may be more than a buffer can have. */
HA_IN_ size_t ha_opencl_buffer_bytes(const ha_opencl_device *device, const ha_opencl_chunk *chunk) {
    return chunk->bytes < device->largest ? chunk->bytes : device->largest;
}

HA_IN_ ha_status ha_opencl_chunk_buffer(ha_opencl_device *device, ha_opencl_chunk *chunk) {
    size_t place;
    ha_status status = ha_arena_take(&device->addresses, chunk->bytes, &place);
    if (status != HA_OK) return status;
    chunk->first = device->here.first + place;
    status = ha_opencl_buffer_make(device, chunk->first, ha_opencl_buffer_bytes(device, chunk),
                                   &chunk->memory);
    if (status != HA_OK) ha_arena_give(&device->addresses, place, chunk->bytes);
    return status;
}

HA_IN_ ha_status ha_opencl_chunk_fill(ha_opencl_device *device, ha_opencl_chunk *chunk) {
    ha_status status = HA_OK;
    if (chunk->shared) status = ha_arena_create(&chunk->arena, chunk->bytes, HA_OPENCL_ALIGN_);
    if (status != HA_OK) return status;
    status = device->settings.usm
                 ? ha_opencl_usm_make(device, ha_opencl_buffer_bytes(device, chunk), chunk->managed,
                                      &chunk->first)
                 : ha_opencl_chunk_buffer(device, chunk);
    if (status != HA_OK && chunk->shared) ha_arena_destroy(&chunk->arena);
    return status;
}

HA_IN_ ha_status ha_opencl_chunk_make(ha_opencl_device *device, size_t bytes, ha_opencl_use use,
                                      ha_opencl_chunk **made) {
    ha_status status;
    ha_opencl_chunk *chunk = (ha_opencl_chunk *)HARRAY_MALLOC(sizeof *chunk);
    if (chunk == NULL) return HA_ERR_MEMORY;
    *chunk = (ha_opencl_chunk){.bytes = ha_round_up(bytes, HA_OPENCL_PAGE_),
                               .managed = use == HA_OPENCL_MANAGED,
                               .shared = use == HA_OPENCL_BLOCKS};
    status = ha_opencl_chunk_fill(device, chunk);
    if (status == HA_OK)
        *made = chunk;
    else
        HARRAY_FREE(chunk);
    return status;
}

/* The first chunk that begins behind an address. Lock held. */
HA_IN_ size_t ha_opencl_behind(const ha_opencl_device *device, uintptr_t address) {
    size_t low = 0, high = device->chunks;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (device->chunk[middle]->first > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The chunk of an address; NULL: none. Lock held. */
HA_IN_ ha_opencl_chunk *ha_opencl_chunk_of(const ha_opencl_device *device, const void *pointer) {
    const uintptr_t address = (uintptr_t)pointer;
    const size_t behind = ha_opencl_behind(device, address);
    ha_opencl_chunk *chunk = behind > 0 ? device->chunk[behind - 1] : NULL;
    return chunk != NULL && address - chunk->first < chunk->bytes ? chunk : NULL;
}

/* Lock held. */
HA_IN_ ha_status ha_opencl_chunk_list(ha_opencl_device *device, ha_opencl_chunk *chunk) {
    const size_t at = ha_opencl_behind(device, chunk->first);
    if (device->chunks == device->room) {
        const size_t room = 2 * device->room + 16;
        ha_opencl_chunk **grown = (ha_opencl_chunk **)HARRAY_REALLOC(device->chunk,
                                                                     room * sizeof *device->chunk);
        if (grown == NULL) return HA_ERR_MEMORY;
        device->chunk = grown;
        device->room = room;
    }
    memmove(device->chunk + at + 1, device->chunk + at,
            (device->chunks++ - at) * sizeof *device->chunk);
    device->chunk[at] = chunk;
    return HA_OK;
}

/* Lock held. */
HA_IN_ void ha_opencl_chunk_unlist(ha_opencl_device *device, size_t at) {
    memmove(device->chunk + at, device->chunk + at + 1,
            (--device->chunks - at) * sizeof *device->chunk);
}

/* Drops shared chunks without blocks, but `keep` of them. Returns how many. Lock held. */
HA_IN_ int ha_opencl_chunks_drop(ha_opencl_device *device, int keep) {
    int dropped = 0;
    for (size_t i = 0; i < device->chunks;) {
        ha_opencl_chunk *chunk = device->chunk[i];
        if (!chunk->shared || chunk->arena.blocks > 0 || keep-- > 0) {
            i++;
        } else {
            ha_opencl_chunk_unlist(device, i);
            ha_opencl_chunk_free(device, chunk);
            dropped++;
        }
    }
    return dropped;
}

/* A new chunk on the list. The driver is asked without the lock, as that takes long. */
HA_IN_ ha_status ha_opencl_chunk_add(ha_opencl_device *device, size_t bytes, ha_opencl_use use,
                                     ha_opencl_chunk **added) {
    ha_status status = ha_opencl_chunk_make(device, bytes, use, added);
    if (status == HA_ERR_MEMORY) {
        int dropped;
        pthread_mutex_lock(&device->lock);
        dropped = ha_opencl_chunks_drop(device, 0);
        pthread_mutex_unlock(&device->lock);
        if (dropped > 0) status = ha_opencl_chunk_make(device, bytes, use, added);
    }
    if (status != HA_OK) return status;
    pthread_mutex_lock(&device->lock);
    status = ha_opencl_chunk_list(device, *added);
    pthread_mutex_unlock(&device->lock);
    if (status != HA_OK) ha_opencl_chunk_free(device, *added);
    return status;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* From a shared chunk that has room. */
HA_IN_ ha_status ha_opencl_take_part(ha_opencl_device *device, size_t bytes, void **block) {
    ha_status status = HA_ERR_MEMORY;
    size_t place;
    pthread_mutex_lock(&device->lock);
    for (size_t i = 0; i < device->chunks && status != HA_OK; i++) {
        ha_opencl_chunk *chunk = device->chunk[i];
        if (!chunk->shared) continue;
        status = ha_arena_take(&chunk->arena, bytes, &place);
        if (status == HA_OK) *block = (void *)(chunk->first + place);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

HA_IN_ ha_status ha_opencl_too_large(const ha_opencl_device *device, size_t bytes) {
    char text[160];
    snprintf(text, sizeof text,
             "opencl:%d: %zu bytes are more than a buffer there can have "
             "(CL_DEVICE_MAX_MEM_ALLOC_SIZE: %zu)",
             device->number, bytes, device->largest);
    ha_backend_report(HA_CL_INVALID_BUFFER_SIZE, text);
    return HA_ERR_MEMORY;
}

HA_IN_ ha_status ha_opencl_allocate(void *memory, size_t bytes, void **block) {
    ha_opencl_device *device = (ha_opencl_device *)memory;
    ha_opencl_chunk *chunk;
    ha_status status;
    if (bytes > device->largest) return ha_opencl_too_large(device, bytes);
    if (bytes <= device->settings.slab / 8) {
        if (ha_opencl_take_part(device, bytes, block) == HA_OK) return HA_OK;
        /* Another thread may have filled the new one before this one takes its part. */
        while (ha_opencl_chunk_add(device, device->settings.slab, HA_OPENCL_BLOCKS, &chunk) ==
               HA_OK)
            if (ha_opencl_take_part(device, bytes, block) == HA_OK) return HA_OK;
    }
    status = ha_opencl_chunk_add(device, bytes, HA_OPENCL_BLOCK,
                                 &chunk); /* the exact size may fit */
    if (status != HA_OK) return status;
    *block = (void *)chunk->first;
    ha_backend_report(0, ""); /* nothing of what failed before */
    return status;
}

HA_IN_ void ha_opencl_release(void *memory, void *block, size_t bytes) {
    ha_opencl_device *device = (ha_opencl_device *)memory;
    ha_opencl_chunk *chunk;
    pthread_mutex_lock(&device->lock);
    chunk = ha_opencl_chunk_of(device, block);
    if (chunk->shared) {
        ha_arena_give(&chunk->arena, (uintptr_t)block - chunk->first, bytes);
        if (chunk->arena.blocks == 0) (void)ha_opencl_chunks_drop(device, 1);
        chunk = NULL;
    } else {
        ha_opencl_chunk_unlist(device, ha_opencl_behind(device, chunk->first) - 1);
    }
    pthread_mutex_unlock(&device->lock);
    if (chunk != NULL) ha_opencl_chunk_free(device, chunk);
}

HA_IN_ ha_status ha_opencl_managed_allocate(void *memory, size_t bytes, void **block) {
    ha_opencl_device *device = (ha_opencl_device *)memory;
    ha_opencl_chunk *chunk;
    ha_status status;
    if (!device->settings.usm) {
        ha_backend_report(0, "opencl: HARRAY_OPENCL=memory=usm has it, where the driver does");
        return HA_ERR_UNSUPPORTED;
    }
    if (bytes > device->largest) return ha_opencl_too_large(device, bytes);
    status = ha_opencl_chunk_add(device, bytes, HA_OPENCL_MANAGED, &chunk);
    if (status == HA_OK) *block = (void *)chunk->first;
    return status;
}

/* Whether an address is in the device's memory: in *memory, NULL for an address of its own, *offset bytes
 * behind the beginning. Who asks for it uses the block, so that stays. */
HA_IN_ int ha_opencl_locate(ha_opencl_device *device, const void *pointer, ha_cl_mem *memory,
                            size_t *offset) {
    ha_opencl_chunk *chunk;
    *memory = NULL;
    if (!device->settings.usm && !ha_opencl_is_address(device, pointer)) return 0;
    pthread_mutex_lock(&device->lock);
    chunk = ha_opencl_chunk_of(device, pointer);
    if (chunk != NULL) {
        *memory = chunk->memory;
        *offset = (uintptr_t)pointer - chunk->first;
    }
    pthread_mutex_unlock(&device->lock);
    return chunk != NULL;
}

/* ---- what others want to know ---------------------------------------------------------------- */

HA_IN_ int ha_opencl_reaches(void *memory, const ha_place *other) {
    (void)memory;
    return strcmp(other->backend->kind, "host") == 0;
}

HA_IN_ int ha_opencl_knows(void *memory, const void *pointer, ha_memory_kind *kind) {
    ha_opencl_device *device = (ha_opencl_device *)memory;
    const ha_opencl_chunk *chunk;
    int managed = 0, known = ha_opencl_is_address(device, pointer);
    if (device->settings.usm) {
        pthread_mutex_lock(&device->lock);
        chunk = ha_opencl_chunk_of(device, pointer);
        known = chunk != NULL;
        managed = known && chunk->managed;
        pthread_mutex_unlock(&device->lock);
    }
    if (known) *kind = managed ? HA_MEMORY_MANAGED : HA_MEMORY_DEVICE;
    return known;
}

/* OpenCL does not say what others have taken. */
HA_IN_ ha_status ha_opencl_capacity(void *memory, uint64_t *total, uint64_t *unused) {
    *total = ((const ha_opencl_device *)memory)->total;
    *unused = UINT64_MAX;
    return HA_OK;
}

static const ha_memory_ops ha_opencl_memory_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = ha_opencl_allocate,
    .release = ha_opencl_release,
    .reaches = ha_opencl_reaches,
    .knows = ha_opencl_knows,
    .capacity = ha_opencl_capacity,
};

static const ha_memory_ops ha_opencl_managed_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = ha_opencl_managed_allocate,
    .release = ha_opencl_release,
};

#endif
