/* Opening CUDA devices and closing them. */
#ifndef HARRAY_BACKENDS_CUDA_OPEN_H
#define HARRAY_BACKENDS_CUDA_OPEN_H

#include "event.h"
#include "slab.h"

/* 0 when the driver does not know the attribute. What else fails must not look like a lesser device. */
HA_IN_ ha_status ha_cuda_read_attribute(ha_cuda_device *device, ha_cu_attribute attribute,
                                        int *value) {
    ha_cu_result code = ha_cu.DeviceGetAttribute(value, attribute, device->handle);
    if (code != HA_CU_SUCCESS) *value = 0;
    if (code == HA_CU_INVALID_VALUE) return HA_OK;
    return ha_cuda_check(device, code, ha_cuda_names.DeviceGetAttribute);
}

HA_IN_ ha_status ha_cuda_read_attributes(ha_cuda_device *device) {
    int major = 0, minor = 0;
    const struct {
        int attribute, *value;
    } all[] = {
        {HA_CU_ATTRIBUTE_INTEGRATED, &device->integrated},
        {HA_CU_ATTRIBUTE_CAN_MAP_HOST_MEMORY, &device->maps_host},
        {HA_CU_ATTRIBUTE_UNIFIED_ADDRESSING, &device->unified},
        {HA_CU_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, &device->pageable},
        {HA_CU_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, &device->concurrent},
        {HA_CU_ATTRIBUTE_MANAGED_MEMORY, &device->managed},
        {HA_CU_ATTRIBUTE_MEMORY_POOLS, &device->pools},
        {HA_CU_ATTRIBUTE_COMPUTE_MAJOR, &major},
        {HA_CU_ATTRIBUTE_COMPUTE_MINOR, &minor},
    };
    ha_status status = HA_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && status == HA_OK; i++)
        status = ha_cuda_read_attribute(device, (ha_cu_attribute)all[i].attribute, all[i].value);
    device->architecture = 10 * major + minor;
    return status;
}

/* Whether the device has the kind of memory that was asked for. */
HA_IN_ ha_status ha_cuda_check_kind(const ha_cuda_device *device) {
    const char *why = NULL;
    if (device->settings.memory == HA_CUDA_MANAGED && !device->managed)
        why = "cuda: memory=managed: the device has no managed memory";
    if (device->settings.memory == HA_CUDA_ASYNC) {
        if (ha_cu.MemAllocAsync == NULL || ha_cu.MemFreeAsync == NULL)
            why = "cuda: memory=async needs a driver for CUDA 11.2 or later";
        else if (!device->pools)
            why = "cuda: memory=async: the device has no memory pools";
    }
    if (why == NULL) return HA_OK;
    ha_backend_report(0, why);
    return HA_ERR_UNSUPPORTED;
}

HA_IN_ void ha_cuda_slabs_create(ha_cuda_slabs *slabs, ha_cuda_kind kind) {
    *slabs = (ha_cuda_slabs){.kind = kind};
    pthread_mutex_init(&slabs->lock, NULL);
}

HA_IN_ ha_cuda_device *ha_cuda_device_make(int number) {
    ha_cuda_device *device = (ha_cuda_device *)HARRAY_MALLOC(sizeof *device);
    if (device == NULL) return NULL;
    memset(device, 0, sizeof *device);
    device->number = number;
    device->settings = ha_cuda_shared.settings;
    atomic_init(&device->lost, 0);
    ha_cuda_slabs_create(&device->memory, (ha_cuda_kind)device->settings.memory);
    ha_cuda_slabs_create(&device->pinned, HA_CUDA_KIND_PINNED);
    ha_cuda_slabs_create(&device->shared, HA_CUDA_KIND_MANAGED);
    pthread_mutex_init(&device->events.lock, NULL);
    pthread_mutex_init(&device->strides.lock, NULL);
    ha_cuda_team_create(&device->team, device->settings.copy_threads);
    return device;
}

HA_IN_ void ha_cuda_device_free(ha_cuda_device *device) {
    ha_cuda_team_destroy(&device->team);
    pthread_mutex_destroy(&device->strides.lock);
    pthread_mutex_destroy(&device->events.lock);
    pthread_mutex_destroy(&device->shared.lock);
    pthread_mutex_destroy(&device->pinned.lock);
    pthread_mutex_destroy(&device->memory.lock);
    HARRAY_FREE(device);
}

/* What lives in the context, when that is retained. */
HA_IN_ ha_status ha_cuda_device_furnish(ha_cuda_device *device) {
    int pushed;
    ha_status status = HA_OK;
    if (device->settings.memory != HA_CUDA_ASYNC) return status;
    status = ha_cuda_enter(device, &pushed);
    if (status != HA_OK) return status;
    status = HA_CUDA_TRY_(device, StreamCreate, &device->stream, HA_CU_STREAM_NON_BLOCKING);
    ha_cuda_leave(pushed);
    return status;
}

HA_IN_ ha_status ha_cuda_device_start(ha_cuda_device *device) {
    ha_status status = HA_CUDA_TRY_(device, DeviceGet, &device->handle, device->number);
    if (status == HA_OK) status = ha_cuda_read_attributes(device);
    if (status == HA_OK)
        status = HA_CUDA_TRY_(device, DeviceTotalMem, &device->total, device->handle);
    if (status == HA_OK) status = ha_cuda_check_kind(device);
    if (status == HA_OK)
        status = HA_CUDA_TRY_(device, DevicePrimaryCtxRetain, &device->context, device->handle);
    if (status != HA_OK) return status;
    status = ha_cuda_device_furnish(device);
    if (status != HA_OK) (void)ha_cu.DevicePrimaryCtxRelease(device->handle);
    return status;
}

/* Lock held. */
HA_IN_ ha_status ha_cuda_device_open(int number, ha_cuda_device **opened) {
    ha_cuda_device *device;
    ha_status status;
    if (number >= ha_cuda_devices()) {
        ha_backend_report(0, ha_cuda_shared.why.text);
        return HA_ERR_BACKEND;
    }
    device = ha_cuda_device_make(number);
    if (device == NULL) return HA_ERR_MEMORY;
    status = ha_cuda_device_start(device);
    if (status != HA_OK) {
        ha_cuda_device_free(device);
        return ha_cuda_not_lost(status);
    }
    ha_cuda_shared.open[number] = *opened = device;
    ha_cuda_shared.opened++;
    return status;
}

HA_IN_ ha_status ha_cuda_open(int number, void **device, void **memory) {
    ha_cuda_device *opened = NULL;
    ha_status status;
    pthread_mutex_lock(&ha_cuda_shared.lock);
    status = ha_cuda_device_open(number, &opened);
    pthread_mutex_unlock(&ha_cuda_shared.lock);
    if (status == HA_OK) *device = *memory = opened;
    return status;
}

/* Nobody has peer access to it any more when it is opened again. */
HA_IN_ void ha_cuda_unlist(const ha_cuda_device *device) {
    pthread_mutex_lock(&ha_cuda_shared.lock);
    ha_cuda_shared.open[device->number] = NULL;
    ha_cuda_shared.opened--;
    for (int i = 0; i < HA_CUDA_MOST_DEVICES_; i++)
        if (ha_cuda_shared.open[i] != NULL) ha_cuda_shared.open[i]->peer[device->number] = 0;
    pthread_mutex_unlock(&ha_cuda_shared.lock);
}

/* Whatever the driver says: it may be gone already. */
HA_IN_ void ha_cuda_close(void *handle) {
    ha_cuda_device *device = (ha_cuda_device *)handle;
    int pushed;
    ha_cuda_unlist(device);
    ha_cuda_enter_quietly(device, &pushed);
    (void)ha_cuda_slabs_drop(device, &device->memory, 0);
    (void)ha_cuda_slabs_drop(device, &device->pinned, 0);
    (void)ha_cuda_slabs_drop(device, &device->shared, 0);
    ha_cuda_events_destroy(device);
    if (device->strides.module != NULL) (void)ha_cu.ModuleUnload(device->strides.module);
    if (device->stream != NULL) {
        (void)ha_cu.StreamSynchronize(device->stream);
        (void)ha_cu.StreamDestroy(device->stream);
    }
    ha_cuda_leave(pushed);
    (void)ha_cu.DevicePrimaryCtxRelease(device->handle);
    ha_cuda_device_free(device);
}

#endif
