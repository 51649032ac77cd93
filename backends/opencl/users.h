/* Users' own kernels: the buffers that stand behind pointers. */
#ifndef HARRAY_BACKENDS_OPENCL_USERS_H
#define HARRAY_BACKENDS_OPENCL_USERS_H

#include "open.h"

/* *memory, *offset: of whichever device is open. HA_ERR_ARGUMENT: of none. */
HA_IN_ ha_status ha_opencl_find(const void *pointer, ha_cl_mem *memory, size_t *offset) {
    ha_cl_mem found = NULL;
    char text[100];
    pthread_mutex_lock(&ha_opencl_shared.lock);
    for (ha_opencl_device *d = ha_opencl_shared.open; d != NULL && found == NULL; d = d->next)
        found = ha_opencl_locate(d, pointer, offset);
    pthread_mutex_unlock(&ha_opencl_shared.lock);
    *memory = found;
    if (found != NULL) return HA_OK;
    snprintf(text, sizeof text, "%p is in no buffer of an OpenCL device that is open", pointer);
    ha_backend_report(0, text);
    return HA_ERR_ARGUMENT;
}

HA_UNUSED HA_IN_ ha_status ha_opencl_set_users_argument(ha_cl_kernel kernel, uint32_t index,
                                                        const void *pointer) {
    ha_cl_mem memory = NULL;
    size_t offset = 0;
    ha_cl_code code;
    char text[100];
    ha_status status = pointer != NULL ? ha_opencl_find(pointer, &memory, &offset) : HA_OK;
    if (status != HA_OK) return status;
    if (kernel == NULL || index == UINT32_MAX || ha_cl.SetKernelArg == NULL) {
        ha_backend_report(0, "there is no such kernel, or no such parameter");
        return HA_ERR_ARGUMENT;
    }
    code = ha_opencl_set_buffer(kernel, index, memory, offset);
    if (code == HA_CL_SUCCESS) return HA_OK;
    snprintf(text, sizeof text, "clSetKernelArg: %s (%d), for parameters %u and %u",
             ha_cl_name(code) != NULL ? ha_cl_name(code) : "error", (int)code, index, index + 1);
    ha_backend_report(code, text);
    return HA_ERR_BACKEND;
}

#endif
