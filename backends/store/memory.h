/* A store as a memory: blocks, which are ranges of addresses with the objects that they have got. */
#ifndef HARRAY_BACKENDS_STORE_MEMORY_H
#define HARRAY_BACKENDS_STORE_MEMORY_H

#include "objects.h"

HA_IN_ int ha_store_list(ha_store_device *device, ha_store_block *block)
    HA_REQUIRES_(ha_store_shared.lock) {
    if (device->blocks == device->room) {
        const size_t room = 2 * device->room + 16;
        ha_store_block **list = (ha_store_block **)HARRAY_REALLOC(device->block,
                                                                  room * sizeof *list);
        if (list == NULL) return 0;
        device->block = list;
        device->room = room;
    }
    const size_t rank = ha_store_rank(device, block->first);
    memmove(&device->block[rank + 1], &device->block[rank],
            (device->blocks++ - rank) * sizeof *device->block);
    device->block[rank] = block;
    return 1;
}

HA_IN_ ha_store_block *ha_store_block_make(const ha_store_device *device, size_t first,
                                           size_t bytes) {
    const size_t pieces = (bytes - 1) / device->store.piece + 1;
    ha_store_block *block;
    block = (ha_store_block *)HARRAY_MALLOC(sizeof *block + pieces * sizeof *block->piece);
    if (block == NULL) return NULL;
    memset(block, 0, sizeof *block + pieces * sizeof *block->piece);
    block->end.run = ha_store_run_end;
    block->first = first;
    block->bytes = bytes;
    block->pieces = pieces;
    return block;
}

HA_IN_ ha_status ha_store_no_room(ha_store_device *device, size_t bytes) {
    char text[160];
    snprintf(text, sizeof text, "store:%d: no room for %zu bytes, %zu of %zu are in use",
             device->number, bytes, ha_arena_used(&device->arena), device->arena.capacity);
    ha_backend_report(0, text);
    return HA_ERR_MEMORY;
}

HA_IN_ ha_status ha_store_allocate(void *memory, size_t bytes, void **made) {
    ha_store_device *device = (ha_store_device *)memory;
    ha_store_block *block;
    size_t first;
    int listed = 0;
    if (ha_arena_take(&device->arena, bytes, &first) != HA_OK)
        return ha_store_no_room(device, bytes);
    block = ha_store_block_make(device, first, bytes);
    if (block != NULL) {
        pthread_mutex_lock(&ha_store_shared.lock);
        listed = ha_store_list(device, block);
        pthread_mutex_unlock(&ha_store_shared.lock);
    }
    if (listed) {
        *made = (void *)(device->first + first);
        return HA_OK;
    }
    HARRAY_FREE(block);
    ha_arena_give(&device->arena, first, bytes);
    return HA_ERR_MEMORY;
}

/* Its objects are removed when all that was enqueued before has been done. */
HA_IN_ void ha_store_release(void *memory, void *pointer, size_t bytes) {
    ha_store_device *device = (ha_store_device *)memory;
    const size_t first = (uintptr_t)pointer - device->first;
    ha_store_block **place;
    pthread_mutex_lock(&ha_store_shared.lock);
    place = &device->block[ha_store_rank(device, first) - 1];
    ha_store_append(device, &(*place)->end);
    device->blocks--;
    memmove(place, place + 1, (size_t)(&device->block[device->blocks] - place) * sizeof *place);
    pthread_mutex_unlock(&ha_store_shared.lock);
    ha_arena_give(&device->arena, first, bytes);
}

HA_IN_ int ha_store_reaches(void *memory, const ha_place *other) {
    (void)memory;
    return strcmp(other->backend->kind, "host") == 0;
}

/* Nanoseconds for 1 MiB: behind the file, until it is measured. */
HA_IN_ uint64_t ha_store_cost(void *memory, const ha_place *other) {
    (void)memory, (void)other;
    return 100000000;
}

HA_IN_ int ha_store_knows(void *memory, const void *pointer, ha_memory_kind *kind) {
    if (!ha_store_has((const ha_store_device *)memory, pointer)) return 0;
    *kind = HA_MEMORY_DEVICE;
    return 1;
}

HA_IN_ ha_status ha_store_capacity(void *memory, uint64_t *total, uint64_t *unused) {
    ha_store_device *device = (ha_store_device *)memory;
    *total = device->arena.capacity;
    *unused = *total - ha_arena_used(&device->arena);
    return HA_OK;
}

static const ha_memory_ops ha_store_memory_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = ha_store_allocate,
    .release = ha_store_release,
    .reaches = ha_store_reaches,
    .cost = ha_store_cost,
    .knows = ha_store_knows,
    .capacity = ha_store_capacity,
};

#endif
