/* Opening OpenCL devices and closing them. */
#ifndef HARRAY_BACKENDS_OPENCL_OPEN_H
#define HARRAY_BACKENDS_OPENCL_OPEN_H

#include "commands.h"

/* ---- whether functions of the host reach the device's memory ---------------------------------- */

typedef struct ha_opencl_probe {
    const void *expected;
    int *same;
    void *buffer; /* OpenCL puts the buffer's address here */
} ha_opencl_probe;

static void ha_opencl_compare_places(void *copied) {
    const ha_opencl_probe *probe = (const ha_opencl_probe *)copied;
    *probe->same = probe->buffer == probe->expected;
}

/* Runs a native kernel that is given the address of a buffer which lies in the host's memory. Some devices
 * say that they run such kernels, and do not. */
HA_IN_ ha_status ha_opencl_try_function(ha_opencl_device *device, ha_cl_mem memory,
                                        const void *bytes) {
    int same = 0;
    ha_opencl_probe probe = {bytes, &same, NULL};
    const void *place = &probe.buffer;
    const ha_cl_code code = ha_cl.EnqueueNativeKernel(device->queue, ha_opencl_compare_places,
                                                      &probe, sizeof probe, 1, &memory, &place, 0,
                                                      NULL, NULL);
    ha_status status;
    if (code == HA_CL_INVALID_OPERATION) return HA_OK;
    status = ha_opencl_check(device, code, "EnqueueNativeKernel");
    if (status == HA_OK) status = ha_opencl_finish_own(device);
    device->native = same;
    return status;
}

HA_IN_ ha_status ha_opencl_learn_functions(ha_opencl_device *device) {
    static _Alignas(4096) unsigned char bytes[4096];
    uint64_t can = 0;
    ha_cl_code code;
    ha_cl_mem memory;
    ha_status status = ha_opencl_learn(device, HA_CL_DEVICE_EXECUTION_CAPABILITIES, &can);
    if (status != HA_OK || !(can & HA_CL_EXEC_NATIVE_KERNEL)) return status;
    memory = ha_cl.CreateBuffer(device->context, HA_CL_MEM_READ_WRITE | HA_CL_MEM_USE_HOST_PTR,
                                sizeof bytes, bytes, &code);
    status = ha_opencl_check(device, code, "CreateBuffer");
    if (status != HA_OK) return status;
    status = ha_opencl_try_function(device, memory, bytes);
    (void)ha_cl.ReleaseMemObject(memory);
    return status;
}

/* ---- memory with addresses of its own ---------------------------------------------------------- */

HA_IN_ ha_status ha_opencl_has_usm(const ha_opencl_device *device, int *has) {
    return ha_opencl_has(device, "cl_intel_unified_shared_memory", has);
}

HA_IN_ ha_status ha_opencl_learn_usm(ha_opencl_device *device) {
    int has = 0;
    void *found;
    char text[120];
    ha_status status = device->settings.usm ? ha_opencl_has_usm(device, &has) : HA_OK;
    if (status != HA_OK || !device->settings.usm) return status;
#define HA_CL_FIND_(field, result, parameters)                                                     \
    found = ha_cl.GetExtensionFunctionAddressForPlatform(device->found.platform, "cl" #field);     \
    memcpy(&device->usm.field, &found, sizeof found);                                              \
    if (found == NULL) has = 0;
    HA_CL_USM_FUNCTIONS_(HA_CL_FIND_)
#undef HA_CL_FIND_
    if (has) return HA_OK;
    snprintf(text, sizeof text,
             "opencl:%d: memory=usm: the device has no cl_intel_unified_shared_memory",
             device->number);
    ha_backend_report(0, text);
    return HA_ERR_UNSUPPORTED;
}

/* ---- opening and closing ---------------------------------------------------------------------- */

HA_IN_ void ha_opencl_device_end(ha_opencl_device *device) {
    if (device->addresses.holes != NULL) ha_arena_destroy(&device->addresses);
    if (device->mapping != NULL) munmap(device->mapping, device->mapped);
    if (device->queue != NULL) (void)ha_cl.ReleaseCommandQueue(device->queue);
    if (device->context != NULL) (void)ha_cl.ReleaseContext(device->context);
    pthread_mutex_destroy(&device->lock);
    HARRAY_FREE(device->chunk);
    HARRAY_FREE(device);
}

HA_IN_ ha_status ha_opencl_device_start(ha_opencl_device *device) {
    uint64_t total = 0, largest = 0, compiles = 0;
    ha_cl_code code;
    ha_status status;
    device->context = ha_cl.CreateContext(NULL, 1, &device->found.device, NULL, NULL, &code);
    status = ha_opencl_check(device, code, "CreateContext");
    if (status != HA_OK) return status;
    device->queue = ha_cl.CreateCommandQueue(device->context, device->found.device, 0, &code);
    status = ha_opencl_check(device, code, "CreateCommandQueue");
    if (status == HA_OK) status = ha_opencl_learn_functions(device);
    if (status == HA_OK) status = ha_opencl_learn_usm(device);
    if (status == HA_OK) status = ha_opencl_learn(device, HA_CL_DEVICE_GLOBAL_MEM_SIZE, &total);
    if (status == HA_OK)
        status = ha_opencl_learn(device, HA_CL_DEVICE_MAX_MEM_ALLOC_SIZE, &largest);
    if (status == HA_OK)
        status = ha_opencl_learn(device, HA_CL_DEVICE_COMPILER_AVAILABLE, &compiles);
    if (status != HA_OK) return status;
    device->total = (size_t)total;
    device->largest = (size_t)largest;
    device->compiles = (uint32_t)compiles != 0;
    if (device->settings.slab > device->largest) /* in whole pages, as chunks are */
        device->settings.slab = device->largest / HA_OPENCL_PAGE_ * HA_OPENCL_PAGE_;
    return ha_opencl_reserve(device);
}

/* Lock held. */
HA_IN_ ha_status ha_opencl_device_make(int number, ha_opencl_device **made) {
    ha_status status;
    ha_opencl_device *device = (ha_opencl_device *)HARRAY_MALLOC(sizeof *device);
    if (device == NULL) return HA_ERR_MEMORY;
    memset(device, 0, sizeof *device);
    device->number = number;
    device->found = ha_opencl_shared.found[number];
    device->settings = ha_opencl_shared.settings;
    pthread_mutex_init(&device->lock, NULL);
    status = ha_opencl_device_start(device);
    if (status == HA_OK)
        *made = device;
    else
        ha_opencl_device_end(device);
    return status;
}

HA_IN_ ha_status ha_opencl_open(int number, void **device, void **memory) {
    ha_opencl_device *made = NULL;
    ha_status status = HA_ERR_BACKEND;
    pthread_mutex_lock(&ha_opencl_shared.lock);
    ha_opencl_look();
    if (number < ha_opencl_shared.count) status = ha_opencl_device_make(number, &made);
    if (status == HA_OK) {
        made->next = ha_opencl_shared.open;
        ha_opencl_shared.open = made;
        *device = *memory = made;
    }
    pthread_mutex_unlock(&ha_opencl_shared.lock);
    return status;
}

HA_IN_ void ha_opencl_close(void *handle) {
    ha_opencl_device *device = (ha_opencl_device *)handle, **link = &ha_opencl_shared.open;
    pthread_mutex_lock(&ha_opencl_shared.lock);
    while (*link != device) link = &(*link)->next;
    *link = device->next;
    pthread_mutex_unlock(&ha_opencl_shared.lock);
    pthread_mutex_lock(&device->lock);
    (void)ha_opencl_chunks_drop(device, 0);
    pthread_mutex_unlock(&device->lock);
    ha_opencl_device_end(device);
}

#endif
