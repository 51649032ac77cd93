/* A store of the program's as a memory, as harray/store.h promises it.
 *
 *     device.h          which stores there are; addresses, and the list of what is to be done
 *     objects.h         pieces of blocks as objects: calling the program; copies
 *     memory.h          blocks
 *     queue.h           commands and the thread that runs them; events; failing
 *
 * It installs nothing global: no signal handler, nothing at fork or exit. */
#ifndef HARRAY_BACKENDS_STORE_STORE_H
#define HARRAY_BACKENDS_STORE_STORE_H

/* Of programs that only see it, all warnings have been given where it was compiled (tests/support/linked.h). */
#ifdef HA_INSIDE_IS_LINKED_
#pragma GCC system_header
#endif

#include "queue.h"

/* ---- opening and closing ---- */

HA_IN_ void ha_store_free(ha_store_device *device) {
    if (device->bytes > 0) munmap((void *)device->first, device->bytes);
    if (device->arena.holes != NULL) ha_arena_destroy(&device->arena);
    pthread_cond_destroy(&device->work);
    HARRAY_FREE(device->block);
    HARRAY_FREE(device->read.data);
    HARRAY_FREE(device->changed.data);
    HARRAY_FREE(device);
}

HA_IN_ ha_status ha_store_failed(int error, const char *what) {
    char text[200];
    snprintf(text, sizeof text, "%s: %s", what, strerror(error));
    ha_backend_report(error, text);
    return error == ENOMEM ? HA_ERR_MEMORY : HA_ERR_BACKEND;
}

HA_IN_ ha_status ha_store_reserve_addresses(ha_store_device *device) {
    const size_t bytes = ha_round_up((size_t)device->store.capacity, HA_STORE_UNIT);
    void *mapping = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                         0);
    if (mapping == MAP_FAILED) return ha_store_failed(errno, "a store needs address space");
    device->first = (uintptr_t)mapping;
    device->bytes = bytes;
    return HA_OK;
}

HA_IN_ ha_status ha_store_device_fill(ha_store_device *device) {
    int error;
    device->tail = &device->head;
    pthread_cond_init(&device->work, NULL);
    device->read.data = (char *)HARRAY_MALLOC(device->store.piece);
    device->changed.data = (char *)HARRAY_MALLOC(device->store.piece);
    if (device->read.data == NULL || device->changed.data == NULL) return HA_ERR_MEMORY;
    ha_status status = ha_store_reserve_addresses(device);
    if (status == HA_OK) status = ha_arena_create(&device->arena, device->bytes, HA_STORE_UNIT);
    if (status != HA_OK) return status;
    error = ha_quiet_thread(&device->thread, HA_STORE_STACK, ha_store_thread, device);
    return error ? ha_store_failed(error, "a store's thread cannot be started") : HA_OK;
}

/* Stores have the numbers from 0 on: all are closed at once. */
HA_IN_ ha_status ha_store_open_device(int number, void **opened, void **memory) {
    ha_store_device *device = (ha_store_device *)HARRAY_MALLOC(sizeof *device);
    if (device == NULL) return HA_ERR_MEMORY;
    memset(device, 0, sizeof *device);
    device->number = number;
    pthread_mutex_lock(&ha_store_shared.lock);
    device->store = *ha_store_shared.store[number];
    pthread_mutex_unlock(&ha_store_shared.lock);
    const ha_status status = ha_store_device_fill(device);
    if (status == HA_OK)
        *opened = *memory = device;
    else
        ha_store_free(device);
    return status;
}

HA_IN_ void ha_store_close(void *handle) {
    ha_store_device *device = (ha_store_device *)handle;
    pthread_mutex_lock(&ha_store_shared.lock);
    device->closing = 1;
    pthread_cond_signal(&device->work);
    pthread_mutex_unlock(&ha_store_shared.lock);
    pthread_join(device->thread, NULL);
    ha_store_drop(device->number);
    ha_store_free(device);
}

HA_STATE_ const ha_backend ha_backend_store HA_UNUSED = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "store",
    .only_if_named = 1,
    .count = ha_store_count,
    .open = ha_store_open_device,
    .close = ha_store_close,
    .memory = &ha_store_memory_ops,
    .queue = &ha_store_queue_ops,
    .missing = ha_store_missing,
    .describe = ha_store_describe,
};

#endif
