/* SYCL devices and their memory, USM in the context that dpctl's own queues use, so that dpctl takes it as memory of its
 * own: of the kind "device"; its pinned memory is of the kind "host", managed memory of the kind "shared". */
#ifndef HARRAY_BACKENDS_SYCL_DEVICE_H
#define HARRAY_BACKENDS_SYCL_DEVICE_H

#include "find.h"

typedef struct ha_sycl_device {
    int number;
    uint64_t total; /* bytes of memory */
    void *device, *context;
    void *queue; /* of allocations */
} ha_sycl_device;

HA_IN_ ha_status ha_sycl_fail(const ha_sycl_device *device, const char *function) {
    char text[160];
    snprintf(text, sizeof text,
             "sycl:%d: DPCTL%s failed; DPCTL_VERBOSITY=warning has the library write why to stderr",
             device->number, function);
    ha_backend_report(0, text);
    return HA_ERR_BACKEND;
}

/* By one of the library's functions, which needs an aspect of the device. */
HA_IN_ ha_status ha_sycl_take(const ha_sycl_device *device, int aspect,
                              void *(*get)(size_t alignment, size_t bytes, void *queue),
                              size_t bytes, void **block) {
    if (!ha_sycl.Device_HasAspect(device->device, aspect)) {
        ha_backend_report(0, "sycl: the device has no such memory");
        return HA_ERR_UNSUPPORTED;
    }
    if (bytes > device->total) return HA_ERR_MEMORY;
    void *made = get(64, bytes, device->queue);
    if (made == NULL) return HA_ERR_MEMORY;
    *block = made;
    return HA_OK;
}

HA_IN_ ha_status ha_sycl_allocate(void *memory, size_t bytes, void **block) {
    return ha_sycl_take((const ha_sycl_device *)memory, HA_SYCL_USM_DEVICE_ALLOCATIONS,
                        ha_sycl.aligned_alloc_device, bytes, block);
}

HA_IN_ ha_status ha_sycl_pinned_allocate(void *memory, size_t bytes, void **block) {
    return ha_sycl_take((const ha_sycl_device *)memory, HA_SYCL_USM_HOST_ALLOCATIONS,
                        ha_sycl.aligned_alloc_host, bytes, block);
}

HA_IN_ ha_status ha_sycl_managed_allocate(void *memory, size_t bytes, void **block) {
    return ha_sycl_take((const ha_sycl_device *)memory, HA_SYCL_USM_SHARED_ALLOCATIONS,
                        ha_sycl.aligned_alloc_shared, bytes, block);
}

HA_IN_ void ha_sycl_release(void *memory, void *block, size_t bytes) {
    (void)bytes;
    ha_sycl.free_with_queue(block, ((const ha_sycl_device *)memory)->queue);
}

HA_IN_ int ha_sycl_reaches(void *memory, const ha_place *other) {
    (void)memory;
    return strcmp(other->backend->kind, "host") == 0;
}

/* Several devices may be in one context; what is the host's memory is of no device. */
HA_IN_ int ha_sycl_is_of(const ha_sycl_device *device, const void *pointer) {
    void *of = ha_sycl.USM_GetPointerDevice(pointer, device->context);
    const int is = of != NULL && ha_sycl.Device_AreEq(of, device->device);
    if (of != NULL) ha_sycl.Device_Delete(of);
    return is;
}

HA_IN_ int ha_sycl_knows(void *memory, const void *pointer, ha_memory_kind *kind) {
    static const ha_memory_kind kinds[] = {[HA_SYCL_KIND_DEVICE] = HA_MEMORY_DEVICE,
                                           [HA_SYCL_KIND_SHARED] = HA_MEMORY_MANAGED,
                                           [HA_SYCL_KIND_HOST] = HA_MEMORY_PINNED};
    const ha_sycl_device *device = (const ha_sycl_device *)memory;
    const int found = pointer ? ha_sycl.USM_GetPointerType(pointer, device->context) : 0;
    if (found < HA_SYCL_KIND_DEVICE || found > HA_SYCL_KIND_HOST) return 0;
    if (found != HA_SYCL_KIND_HOST && !ha_sycl_is_of(device, pointer)) return 0;
    *kind = kinds[found];
    return 1;
}

HA_IN_ ha_status ha_sycl_capacity(void *memory, uint64_t *total, uint64_t *unused) {
    *total = ((const ha_sycl_device *)memory)->total;
    *unused = UINT64_MAX;
    return HA_OK;
}

static const ha_memory_ops ha_sycl_memory_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = ha_sycl_allocate,
    .release = ha_sycl_release,
    .reaches = ha_sycl_reaches,
    .knows = ha_sycl_knows,
    .capacity = ha_sycl_capacity,
};

static const ha_memory_ops ha_sycl_pinned_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = ha_sycl_pinned_allocate,
    .release = ha_sycl_release,
};

static const ha_memory_ops ha_sycl_managed_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = ha_sycl_managed_allocate,
    .release = ha_sycl_release,
};

/* ---- opening and closing ---------------------------------------------------------------------- */

HA_IN_ void ha_sycl_end(ha_sycl_device *device) {
    const ha_sycl_place place = {device->device, device->context};
    if (device->queue != NULL) ha_sycl.Queue_Delete(device->queue);
    ha_sycl_place_end(&place);
    HARRAY_FREE(device);
}

/* A context of the caller's goes with its device. */
HA_IN_ void ha_sycl_close(void *handle) {
    ha_sycl_device *device = (ha_sycl_device *)handle;
    ha_sycl_take_away(device->number);
    ha_sycl_end(device);
}

HA_IN_ ha_status ha_sycl_open(int number, void **opened, void **memory) {
    const ha_sycl_place place = ha_sycl_place_at(number);
    ha_sycl_device *device = (ha_sycl_device *)HARRAY_MALLOC(sizeof *device);
    if (device == NULL) {
        ha_sycl_place_end(&place);
        return HA_ERR_MEMORY;
    }
    *device = (ha_sycl_device){.number = number, .device = place.device, .context = place.context};
    if (device->context != NULL)
        device->queue = ha_sycl.Queue_Create(device->context, device->device, NULL,
                                             HA_SYCL_IN_ORDER);
    if (device->queue == NULL) {
        const ha_status status = ha_sycl_fail(device, "Queue_Create");
        ha_sycl_end(device);
        return status;
    }
    device->total = ha_sycl.Device_GetGlobalMemSize(device->device);
    *opened = *memory = device;
    return HA_OK;
}

HA_IN_ void ha_sycl_describe(void *device, char *text, size_t bytes) {
    const char *name = ha_sycl.Device_GetName(((const ha_sycl_device *)device)->device);
    snprintf(text, bytes, "%s", name != NULL ? name : "");
    if (name != NULL) ha_sycl.CString_Delete(name);
}

#endif
