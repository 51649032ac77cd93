/* What users' own OpenCL kernels need: the buffers that stand behind pointers. */
#ifndef HARRAY_IMPL_CONTROL_OPENCL_H
#define HARRAY_IMPL_CONTROL_OPENCL_H

#include "../device/all.h"

struct _cl_mem *ha_opencl_buffer(const void *pointer, size_t *offset) {
    static const char operation[] = "ha_opencl_buffer";
    struct _cl_mem *found = NULL;
    ha_status s = ha_enter(operation);
    if (s) return found;
#ifdef HARRAY_NO_OPENCL
    (void)pointer, (void)offset;
    (void)ha_fail(HA_ERR_UNSUPPORTED, operation, "compiled with HARRAY_NO_OPENCL");
#else
    size_t place = 0;
    s = ha_opencl_find(pointer, &found, &place);
    if (s)
        (void)ha_fail(s, operation, "there is no buffer");
    else if (offset)
        *offset = place;
#endif
    return found;
}

ha_status ha_opencl_argument(struct _cl_kernel *kernel, uint32_t index, const void *pointer) {
    static const char operation[] = "ha_opencl_argument";
    ha_status s = ha_enter(operation);
    if (s) return s;
#ifdef HARRAY_NO_OPENCL
    (void)kernel, (void)index, (void)pointer;
    return ha_fail(HA_ERR_UNSUPPORTED, operation, "compiled with HARRAY_NO_OPENCL");
#else
    s = ha_opencl_set_users_argument(kernel, index, pointer);
    return s ? ha_fail(s, operation, "the parameter cannot be set") : HA_OK;
#endif
}

#endif
