/* Users' own kernels: the buffers that stand behind pointers. */
#ifndef HARRAY_BACKENDS_OPENCL_USERS_H
#define HARRAY_BACKENDS_OPENCL_USERS_H

#include "open.h"

/* The open device in whose memory a pointer is, and where, as ha_opencl_locate says; NULL: in none's. */
HA_IN_ ha_opencl_device *ha_opencl_device_of(const void *pointer, ha_cl_mem *memory,
                                             size_t *offset) {
    ha_opencl_device *found;
    char text[100];
    pthread_mutex_lock(&ha_opencl_shared.lock);
    found = ha_opencl_shared.open;
    while (found != NULL && !ha_opencl_locate(found, pointer, memory, offset)) found = found->next;
    pthread_mutex_unlock(&ha_opencl_shared.lock);
    if (found != NULL) return found;
    snprintf(text, sizeof text, "%p is in no buffer of an OpenCL device that is open", pointer);
    ha_backend_report(0, text);
    return NULL;
}

HA_UNUSED HA_IN_ ha_status ha_opencl_find(const void *pointer, ha_cl_mem *memory, size_t *offset) {
    if (ha_opencl_device_of(pointer, memory, offset) == NULL) return HA_ERR_ARGUMENT;
    if (*memory != NULL) return HA_OK;
    ha_backend_report(0, "with memory=usm pointers are in no buffer");
    return HA_ERR_UNSUPPORTED;
}

HA_UNUSED HA_IN_ ha_status ha_opencl_set_users_argument(ha_cl_kernel kernel, uint32_t index,
                                                        const void *pointer) {
    ha_opencl_device *device = NULL;
    ha_cl_mem memory;
    size_t offset;
    int64_t behind;
    ha_cl_code code;
    char text[100];
    if (pointer != NULL) device = ha_opencl_device_of(pointer, &memory, &offset);
    if (pointer != NULL && device == NULL) return HA_ERR_ARGUMENT;
    if (kernel == NULL || index == UINT32_MAX || ha_cl.SetKernelArg == NULL) {
        ha_backend_report(0, "there is no such kernel, or no such parameter");
        return HA_ERR_ARGUMENT;
    }
    code = ha_opencl_set_array(device, kernel, index, pointer, &behind);
    if (code == HA_CL_SUCCESS) code = ha_cl.SetKernelArg(kernel, index + 1, sizeof behind, &behind);
    if (code == HA_CL_SUCCESS) return HA_OK;
    snprintf(text, sizeof text, "clSetKernelArg: %s (%d), for parameters %u and %u",
             ha_cl_name(code) != NULL ? ha_cl_name(code) : "error", (int)code, index, index + 1);
    ha_backend_report(code, text);
    return HA_ERR_BACKEND;
}

#endif
