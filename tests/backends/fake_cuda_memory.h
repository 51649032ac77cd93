/* The fake driver's memory.
 *
 * A device's is one reservation in two halves: users get addresses in the first one, where nothing can
 * be touched; the bytes are at the same place of the second one. Blocks are kept in order of their
 * addresses, and the first gap that is large enough is taken. */
#ifndef HARRAY_TESTS_BACKENDS_FAKE_CUDA_MEMORY_H
#define HARRAY_TESTS_BACKENDS_FAKE_CUDA_MEMORY_H

#include "fake_cuda_stream.h"

#include <sys/mman.h>

enum {
    FAKE_ALIGNMENT = 256,
    FAKE_DIRT = 0xA5,
    FAKE_DIRTY = 65536,
    FAKE_PAGE = 4096,
    FAKE_LARGE = 1 << 20
};

static size_t fake_round_up(size_t value, size_t unit) {
    return value > SIZE_MAX - unit ? SIZE_MAX - SIZE_MAX % unit : (value + unit - 1) / unit * unit;
}

/* ---- the devices' address spaces ---- */

static void fake_map_device(fake_device *device) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    const size_t half = fake_round_up((size_t)fake.options.capacity, (size_t)2 << 20);
    void *mapping = mmap(NULL, 2 * half, PROT_NONE, flags, -1, 0);
    if (mapping == MAP_FAILED) fake_misuse("no address space for a device");
    if (mmap((char *)mapping + half, half, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, 0) ==
        MAP_FAILED)
        fake_misuse("no memory for a device");
    device->mapping = mapping;
    device->mapped = 2 * half;
    device->here = (ha_queue){.first = (uintptr_t)mapping, .bytes = half, .shift = half};
}

static fake_device *fake_device_of(uintptr_t address) {
    for (int i = 0; i < FAKE_CUDA_MOST_DEVICES; i++)
        if (address - fake.devices[i].here.first < fake.devices[i].here.bytes)
            return &fake.devices[i];
    return NULL;
}

/* Where the bytes are. */
static void *fake_bytes_at(uintptr_t address) {
    const fake_device *device = fake_device_of(address);
    return (void *)(device ? address + device->here.shift : address);
}

/* ---- blocks ---- */

static int fake_is_on_host(const fake_block *block) {
    return block->kind == FAKE_PINNED || block->kind == FAKE_MANAGED;
}

/* The block that has this address; NULL: none has. Addresses in it alone: its end is not. */
static fake_block *fake_find_block(uintptr_t address) {
    fake_device *device = fake_device_of(address);
    for (fake_block *block = device ? device->blocks : fake.host; block; block = block->next)
        if (address - block->first < block->taken && !block->dead) return block;
    return NULL;
}

/* Memory of the caller's of which only a part is pinned. */
static int fake_is_pinned_in_part(uintptr_t first, size_t bytes) {
    for (const fake_block *block = fake.host; block; block = block->next)
        if (block->callers && block->first < first + bytes && first < block->first + block->bytes &&
            (first < block->first || first + bytes > block->first + block->bytes))
            return 1;
    return 0;
}

/* The block of a range that a command is about to use; NULL: pageable memory of the host. */
static fake_block *fake_use_block(uintptr_t address, size_t bytes) {
    fake_block *block = fake_find_block(address);
    if (block == NULL) {
        if (fake_device_of(address))
            fake_misuse("%#zx is device memory that is not allocated", (size_t)address);
        return NULL;
    }
    if (address - block->first > block->bytes ||
        bytes > block->bytes - (size_t)(address - block->first))
        fake_misuse("%zu bytes at %#zx are beyond the %zu at %#zx", bytes, (size_t)address,
                    block->bytes, (size_t)block->first);
    if (block->freeing) fake_misuse("%#zx was given to cuMemFreeAsync", (size_t)address);
    return block;
}

static size_t *fake_count_of(const fake_block *block) {
    if (block->kind == FAKE_PINNED) return &fake.statistics.pinned;
    if (block->kind == FAKE_MANAGED) return &fake.statistics.managed;
    return &fake.statistics.blocks;
}

/* It is not there any more for the user. */
static void fake_uncount(const fake_block *block) {
    --*fake_count_of(block);
    if (!fake_is_on_host(block)) fake.statistics.bytes -= block->bytes;
}

static fake_block **fake_place_of(const fake_block *block) {
    fake_block **place = &fake.host;
    if (!fake_is_on_host(block)) place = &fake.devices[block->context->device].blocks;
    while (*place != block) place = &(*place)->next;
    return place;
}

/* Host memory: large blocks, as slabs are, from the system, for malloc may fill what it gives. */
static void *fake_host_take(size_t bytes) {
    void *memory = NULL;
    if (bytes > PTRDIFF_MAX - FAKE_PAGE) return NULL;
    if (bytes < FAKE_LARGE) return posix_memalign(&memory, FAKE_PAGE, bytes) ? NULL : memory;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void fake_host_give(uintptr_t first, size_t bytes) {
    if (bytes < FAKE_LARGE)
        free((void *)first);
    else
        munmap((void *)first, bytes);
}

static void fake_free_now(fake_block *block) {
    *fake_place_of(block) = block->next;
    if (!block->dead) fake_uncount(block);
    if (fake_is_on_host(block) && !block->callers) fake_host_give(block->first, block->taken);
    if (!fake_is_on_host(block)) fake.devices[block->context->device].used -= block->taken;
    free(block);
}

static fake_block *fake_new_block(ha_cu_context context, fake_kind kind, size_t bytes) {
    fake_block *block = (fake_block *)fake_make(sizeof *block);
    block->kind = kind;
    block->context = context;
    block->bytes = bytes;
    ++*fake_count_of(block);
    if (!fake_is_on_host(block)) fake.statistics.bytes += bytes;
    return block;
}

/* The link behind which a gap of so many bytes is, and its offset; NULL: there is none. */
static fake_block **fake_find_gap(fake_device *device, size_t taken, size_t *offset) {
    fake_block **place = &device->blocks;
    size_t end = 0;
    for (; *place; place = &(*place)->next) {
        const size_t first = (*place)->first - device->here.first;
        if (first - end >= taken) break;
        end = first + (*place)->taken;
    }
    *offset = end;
    return fake.options.capacity - end >= taken ? place : NULL;
}

/* Fresh memory has bytes that nobody expects, at least in front. */
static ha_cu_result fake_take(ha_cu_context context, fake_kind kind, size_t bytes,
                              fake_block **block) {
    fake_device *device = &fake.devices[context->device];
    const size_t taken = fake_round_up(bytes, FAKE_ALIGNMENT);
    size_t offset;
    fake_block **place = fake_find_gap(device, taken, &offset);
    if (place == NULL) return HA_CU_OUT_OF_MEMORY;
    *block = fake_new_block(context, kind, bytes);
    (*block)->first = device->here.first + offset;
    (*block)->taken = taken;
    (*block)->next = *place;
    *place = *block;
    device->used += taken;
    memset(fake_bytes_at((*block)->first), FAKE_DIRT, bytes < FAKE_DIRTY ? bytes : FAKE_DIRTY);
    return HA_CU_SUCCESS;
}

/* Pinned and managed memory: the host's, which devices reach by the same address. */
static ha_cu_result fake_take_host(fake_kind kind, size_t bytes, uintptr_t *first) {
    fake_block *block;
    void *memory = fake_host_take(bytes);
    if (memory == NULL) return HA_CU_OUT_OF_MEMORY;
    block = fake_new_block(fake_current(), kind, bytes);
    block->first = (uintptr_t)memory;
    block->taken = bytes;
    block->next = fake.host;
    fake.host = block;
    *first = block->first;
    return HA_CU_SUCCESS;
}

/* What cuMemFree and cuMemFreeHost do. The real ones wait for the device; harray promises that there
 * is nothing to wait for. After a failure the memory stays until the context ends. */
static ha_cu_result fake_free_block(fake_block *block) {
    if (block->freeing) fake_misuse("%#zx is freed twice", (size_t)block->first);
    if (block->uses > 0) fake_misuse("queued commands still use %#zx", (size_t)block->first);
    if (block->context->failure == HA_CU_SUCCESS) {
        fake_free_now(block);
        return HA_CU_SUCCESS;
    }
    fake_uncount(block);
    block->dead = 1;
    return fake_failure(block->context);
}

/* A context ends: what it still has is leaked, unless it failed. */
static void fake_free_all(ha_cu_context context) {
    fake_block *block, *next;
    for (block = fake.devices[context->device].blocks; block; block = next) {
        next = block->next;
        fake.statistics.leaked += !block->dead && !context->failure;
        fake_free_now(block);
    }
    for (block = fake.host; block; block = next) {
        next = block->next;
        if (block->context != context) continue;
        fake.statistics.leaked += !block->dead && !context->failure;
        fake_free_now(block);
    }
}

/* ---- the driver's functions ---- */

ha_cu_result cuMemGetInfo_v2(size_t *unused, size_t *total) {
    FAKE_BEGIN(MemGetInfo, NULL, FAKE_SOUND);
    *total = (size_t)fake.options.capacity;
    *unused = *total - fake.devices[fake_current()->device].used;
    return fake_end(HA_CU_SUCCESS);
}

ha_cu_result cuMemAlloc_v2(ha_cu_pointer *pointer, size_t bytes) {
    fake_block *block;
    ha_cu_result result = HA_CU_INVALID_VALUE;
    FAKE_BEGIN(MemAlloc, NULL, FAKE_SOUND);
    if (pointer != NULL && bytes > 0)
        result = fake_take(fake_current(), FAKE_DEVICE, bytes, &block);
    if (result == HA_CU_SUCCESS) *pointer = block->first;
    return fake_end(result);
}

/* cuMemFree also frees what cuMemAllocManaged and cuMemAllocAsync gave. */
ha_cu_result cuMemFree_v2(ha_cu_pointer pointer) {
    fake_block *block;
    FAKE_BEGIN(MemFree, NULL, FAKE_CURRENT);
    if (pointer == 0) return fake_end(HA_CU_SUCCESS);
    block = fake_find_block((uintptr_t)pointer);
    if (block == NULL || block->first != pointer || block->kind == FAKE_PINNED)
        fake_misuse("%#llx is not the beginning of a block", pointer);
    return fake_end(fake_free_block(block));
}

ha_cu_result cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    ha_cu_result result = HA_CU_INVALID_VALUE;
    uintptr_t first = 0;
    FAKE_BEGIN(MemHostAlloc, NULL, FAKE_SOUND);
    if (pointer != NULL && bytes > 0 && flags < 8)
        result = fake_take_host(FAKE_PINNED, bytes, &first);
    if (result == HA_CU_SUCCESS && (flags & HA_CU_HOST_WRITE_COMBINED))
        fake_find_block(first)->elsewhere = 1;
    if (result == HA_CU_SUCCESS) *pointer = (void *)first;
    return fake_end(result);
}

ha_cu_result cuMemFreeHost(void *pointer) {
    fake_block *block;
    FAKE_BEGIN(MemFreeHost, NULL, FAKE_CURRENT);
    block = fake_find_block((uintptr_t)pointer);
    if (block == NULL || block->first != (uintptr_t)pointer || block->kind != FAKE_PINNED)
        fake_misuse("%p is not the beginning of a pinned block", pointer);
    return fake_end(fake_free_block(block));
}

ha_cu_result cuMemAllocManaged(ha_cu_pointer *pointer, size_t bytes, unsigned flags) {
    ha_cu_result result = HA_CU_INVALID_VALUE;
    uintptr_t first = 0;
    FAKE_BEGIN(MemAllocManaged, NULL, FAKE_SOUND);
    if (pointer != NULL && bytes > 0 && (flags == HA_CU_MANAGED_GLOBAL || flags == 2))
        result = fake_take_host(FAKE_MANAGED, bytes, &first);
    if (result == HA_CU_SUCCESS) *pointer = first;
    return fake_end(result);
}

/* ---- in a stream's order ---- */

/* The first stream here that will free something, if a block can be had by waiting for it. */
static int fake_frees_something(ha_cu_stream stream) {
    if (stream->running && stream->running->kind == FAKE_FREE) return 1;
    for (const fake_command *command = stream->head; command; command = command->next)
        if (command->kind == FAKE_FREE) return 1;
    return 0;
}

ha_cu_result cuMemAllocAsync(ha_cu_pointer *pointer, size_t bytes, ha_cu_stream handle) {
    fake_command *command;
    fake_block *block;
    ha_cu_stream stream;
    ha_cu_result result;
    FAKE_BEGIN(MemAllocAsync, handle, FAKE_SOUND);
    if (!fake.options.pools) return fake_end(HA_CU_NOT_SUPPORTED);
    if (pointer == NULL || bytes == 0) return fake_end(HA_CU_INVALID_VALUE);
    if (handle == HA_CU_STREAM_PER_THREAD_) return fake_end(HA_CU_NOT_SUPPORTED);
    stream = fake_find_stream(handle);
    if (stream->failure) return fake_end(fake_failure(stream->context));
    result = fake_take(stream->context, FAKE_POOL, bytes, &block);
    if (result == HA_CU_OUT_OF_MEMORY && fake_frees_something(stream)) {
        result = fake_wait_for((fake_position){stream, stream->enqueued});
        if (result == HA_CU_SUCCESS) result = fake_take(stream->context, FAKE_POOL, bytes, &block);
    }
    if (result != HA_CU_SUCCESS) return fake_end(result);
    block->unborn = 1;
    command = fake_new_command(FAKE_ALLOCATE);
    fake_add_use(command, block);
    fake_enqueue(stream, command);
    *pointer = block->first;
    return fake_end(HA_CU_SUCCESS);
}

ha_cu_result cuMemFreeAsync(ha_cu_pointer pointer, ha_cu_stream handle) {
    fake_command *command;
    fake_block *block;
    ha_cu_stream stream;
    FAKE_BEGIN(MemFreeAsync, handle, FAKE_SOUND);
    if (handle == HA_CU_STREAM_PER_THREAD_) return fake_end(HA_CU_NOT_SUPPORTED);
    stream = fake_find_stream(handle);
    if (stream->failure) return fake_end(fake_failure(stream->context));
    block = fake_use_block((uintptr_t)pointer, 0);
    if (block == NULL || block->kind != FAKE_POOL) return fake_end(HA_CU_INVALID_VALUE);
    if (block->first != pointer) fake_misuse("%#llx is not the beginning of a block", pointer);
    block->freeing = 1;
    command = fake_new_command(FAKE_FREE);
    fake_add_use(command, block);
    fake_enqueue(stream, command);
    return fake_end(HA_CU_SUCCESS);
}

ha_cu_result cuDeviceGetDefaultMemPool(ha_cu_pool *pool, ha_cu_device device) {
    FAKE_BEGIN(DeviceGetDefaultMemPool, NULL, FAKE_INITIALISED);
    if (device < 0 || (uint64_t)device >= fake.options.devices)
        return fake_end(HA_CU_INVALID_DEVICE);
    if (!fake.options.pools) return fake_end(HA_CU_NOT_SUPPORTED);
    *pool = &fake.devices[device].context.pool;
    return fake_end(HA_CU_SUCCESS);
}

ha_cu_result cuMemPoolSetAttribute(ha_cu_pool pool, ha_cu_pool_attribute attribute, void *value) {
    FAKE_BEGIN(MemPoolSetAttribute, NULL, FAKE_INITIALISED);
    if (pool == NULL || value == NULL || attribute != HA_CU_POOL_RELEASE_THRESHOLD)
        return fake_end(HA_CU_INVALID_VALUE);
    memcpy(&pool->threshold, value, sizeof pool->threshold);
    return fake_end(HA_CU_SUCCESS);
}

/* ---- what a pointer is ---- */

/* Where kernels of the current context find an address; 0: nowhere. */
static ha_cu_pointer fake_seen_at(const fake_block *block, ha_cu_pointer pointer) {
    const ha_cu_context current = fake_current();
    if (block->elsewhere) return pointer + (UINT64_C(1) << 46);
    if (!fake_is_on_host(block) && block->context != current &&
        !current->may_reach[block->context->device])
        return 0;
    return pointer;
}

static int fake_describe(ha_cu_pointer_attribute attribute, const fake_block *block,
                         ha_cu_pointer pointer, void *value) {
    const ha_cu_pointer seen = block->bytes ? fake_seen_at(block, pointer) : 0;
    const unsigned type = block->kind == FAKE_PINNED ? HA_CU_MEMORY_HOST : HA_CU_MEMORY_DEVICE;
    switch ((int)attribute) {
    case HA_CU_POINTER_MEMORY_TYPE:
        memcpy(value, &type, sizeof type);
        return 1;
    case HA_CU_POINTER_DEVICE_POINTER:
        memcpy(value, &seen, sizeof seen);
        return 1;
    case HA_CU_POINTER_IS_MANAGED: /* the driver writes a bool */
        *(unsigned char *)value = block->kind == FAKE_MANAGED;
        return 1;
    case HA_CU_POINTER_DEVICE_ORDINAL:
        memcpy(value, &block->context->device, sizeof(int));
        return 1;
    default:
        return 0;
    }
}

/* Of memory that the driver does not know, everything is zero. */
ha_cu_result cuPointerGetAttributes(unsigned count, ha_cu_pointer_attribute *attributes,
                                    void **values, ha_cu_pointer pointer) {
    static const struct CUctx_st nowhere;
    fake_block unknown = {.kind = FAKE_DEVICE, .context = (ha_cu_context)(uintptr_t)&nowhere};
    const fake_block *block;
    unsigned i;
    FAKE_BEGIN(PointerGetAttributes, NULL, FAKE_CURRENT);
    block = fake_find_block((uintptr_t)pointer);
    for (i = 0; i < count; i++) {
        if (!fake_describe(attributes[i], block ? block : &unknown, pointer, values[i]))
            return fake_end(HA_CU_INVALID_VALUE);
        if (!block && attributes[i] == HA_CU_POINTER_MEMORY_TYPE)
            memset(values[i], 0, sizeof(unsigned));
    }
    return fake_end(HA_CU_SUCCESS);
}

#endif
