/* Programs of SYCL devices: bundles that dpctl's library makes of OpenCL C, for devices of SYCL's backend "opencl" alone.
 * It gives no binaries. */
#ifndef HARRAY_BACKENDS_SYCL_PROGRAM_H
#define HARRAY_BACKENDS_SYCL_PROGRAM_H

#include "log.h"

#include <pthread.h>

typedef struct ha_sycl_kernel {
    struct ha_sycl_kernel *next; /* of the program */
    void *kernel;
    ha_kernel_limits limits;
} ha_sycl_kernel;

typedef struct ha_sycl_program {
    ha_sycl_device *device;
    void *bundle;
    pthread_mutex_t lock; /* guards the list */
    ha_sycl_kernel *first;
} ha_sycl_program;

/* ---- what the device is ------------------------------------------------------------------------ */

HA_IN_ ha_language ha_sycl_language(void *handle) {
    const ha_sycl_device *device = (const ha_sycl_device *)handle;
    const char *why = NULL;
    char text[160];
    if (ha_sycl.no_kernels != NULL)
        why = ha_sycl.no_kernels;
    else if (ha_sycl.Device_GetBackend(device->device) != HA_SYCL_OPENCL)
        why = "dpctl makes kernels of OpenCL C for devices of SYCL's backend \"opencl\" alone";
    else if (!ha_sycl.Device_HasAspect(device->device, HA_SYCL_ONLINE_COMPILER))
        why = "the device has no compiler";
    if (why == NULL) return HA_LANGUAGE_OPENCL_C;
    snprintf(text, sizeof text, "sycl:%d: %s", device->number, why);
    ha_backend_report(0, text);
    return HA_LANGUAGE_NONE;
}

HA_IN_ void ha_sycl_target(void *handle, char *text, size_t bytes) {
    char name[HA_SYCL_TEXT_BYTES], version[HA_SYCL_TEXT_BYTES];
    ha_sycl_name((const ha_sycl_device *)handle, name, version);
    snprintf(text, bytes, "SYCL: %s; driver %s", name, version);
}

HA_IN_ int ha_sycl_has_double(void *device) {
    return ha_sycl.Device_HasAspect(((const ha_sycl_device *)device)->device, HA_SYCL_FP64);
}

HA_IN_ int ha_sycl_has_long_atomics(void *device) {
    return ha_sycl.Device_HasAspect(((const ha_sycl_device *)device)->device, HA_SYCL_ATOMIC64);
}

HA_IN_ ha_status ha_sycl_limits(void *handle, ha_kernel_limits *limits) {
    void *device = ((const ha_sycl_device *)handle)->device;
    *limits = (ha_kernel_limits){ha_sycl.Device_GetMaxWorkGroupSize(device), 1,
                                 (size_t)ha_sycl.Device_GetLocalMemSize(device)};
    return HA_OK;
}

/* ---- compiling --------------------------------------------------------------------------------- */

HA_IN_ void ha_sycl_discard(void *device, void *handle) {
    ha_sycl_program *program = (ha_sycl_program *)handle;
    (void)device;
    for (ha_sycl_kernel *kernel = program->first, *next; kernel != NULL; kernel = next) {
        next = kernel->next;
        ha_sycl.Kernel_Delete(kernel->kernel);
        HARRAY_FREE(kernel);
    }
    if (program->bundle != NULL) ha_sycl.KernelBundle_Delete(program->bundle);
    pthread_mutex_destroy(&program->lock);
    HARRAY_FREE(program);
}

/* All that the library tells of a text which it has made nothing of is that it has not. */
HA_IN_ ha_status ha_sycl_build(void *handle, const ha_program_source *build, void **made,
                               ha_binary *binary) {
    ha_sycl_device *device = (ha_sycl_device *)handle;
    if (build->text == NULL) return ha_sycl_fail(device, "KernelBundle_CreateFromOCLSource");
    ha_sycl_program *program = (ha_sycl_program *)HARRAY_MALLOC(sizeof *program);
    if (program == NULL) return HA_ERR_MEMORY;
    *program = (ha_sycl_program){.device = device};
    pthread_mutex_init(&program->lock, NULL);
    program->bundle = ha_sycl.KernelBundle_CreateFromOCLSource(device->context, device->device,
                                                               build->text, build->options);
    if (program->bundle == NULL) {
        ha_sycl_discard(device, program);
        (void)ha_sycl_fail(device, "KernelBundle_CreateFromOCLSource");
        ha_sycl_read_log(device, build);
        return HA_ERR_COMPILE;
    }
    *made = program;
    if (binary != NULL) *binary = (ha_binary){NULL, 0};
    return HA_OK;
}

/* ---- kernels ----------------------------------------------------------------------------------- */

/* What a kernel takes of the local memory, the library does not tell. */
HA_IN_ ha_status ha_sycl_find_kernel(void *handle, const char *name, ha_kernel_limits *limits,
                                     void **found) {
    ha_sycl_program *program = (ha_sycl_program *)handle;
    void *native = ha_sycl.KernelBundle_GetKernel(program->bundle, name);
    if (native == NULL) return HA_ERR_NOT_FOUND;
    ha_sycl_kernel *kernel = (ha_sycl_kernel *)HARRAY_MALLOC(sizeof *kernel);
    if (kernel == NULL) {
        ha_sycl.Kernel_Delete(native);
        return HA_ERR_MEMORY;
    }
    *kernel = (ha_sycl_kernel){.kernel = native};
    (void)ha_sycl_limits(program->device, &kernel->limits);
    kernel->limits.lanes = ha_sycl.Kernel_GetWorkGroupSize(native);
    kernel->limits.multiple = ha_sycl.Kernel_GetPreferredWorkGroupSizeMultiple(native);
    pthread_mutex_lock(&program->lock);
    kernel->next = program->first;
    program->first = kernel;
    pthread_mutex_unlock(&program->lock);
    *limits = kernel->limits;
    *found = kernel;
    return HA_OK;
}

/* ---- launching --------------------------------------------------------------------------------- */

/* The parameters of a kernel, as the library takes them: numbers by their address, places in the device's memory as
 * they are, and of numbers that have none of its sizes a copy of its own. */
typedef struct ha_sycl_parameters {
    size_t n;
    void **value;
    int *kind; /* behind the values */
} ha_sycl_parameters;

/* 0: there is none of this size. Of signs and fractions the library wants to know nothing else than how many bytes. */
HA_IN_ int ha_sycl_kind_of(size_t bytes) {
    switch (bytes) {
    case 1:
        return HA_SYCL_UINT8;
    case 2:
        return HA_SYCL_UINT16;
    case 4:
        return HA_SYCL_UINT32;
    case 8:
        return HA_SYCL_UINT64;
    default:
        return HA_SYCL_RAW;
    }
}

HA_IN_ void ha_sycl_give(ha_sycl_parameters *p, int kind, const void *value) {
    p->value[p->n] = (void *)(uintptr_t)value;
    p->kind[p->n++] = kind;
}

/* An array is two parameters: where it begins, and 0 bytes behind that. */
HA_IN_ ha_status ha_sycl_give_all(ha_sycl_parameters *p, const ha_launch *launch) {
    static const int64_t none = 0;
    for (size_t i = 0; i < launch->arguments; i++) {
        const ha_kernel_argument *a = &launch->argument[i];
        const int kind = a->bytes == 0 ? HA_SYCL_POINTER : ha_sycl_kind_of(a->bytes);
        const void *value = a->value;
        if (kind == HA_SYCL_RAW) {
            value = ha_sycl.RawKernelArg_Create((void *)(uintptr_t)a->value, a->bytes);
            if (value == NULL) return HA_ERR_MEMORY;
        }
        ha_sycl_give(p, kind, value);
        if (a->bytes == 0) ha_sycl_give(p, HA_SYCL_UINT64, &none);
    }
    return HA_OK;
}

HA_IN_ ha_status ha_sycl_parameters_make(ha_sycl_parameters *p, const ha_launch *launch) {
    const size_t most = 2 * launch->arguments + 1; /* of none, too, there is an address */
    void *room = HARRAY_MALLOC(most * (sizeof *p->value + sizeof *p->kind));
    if (room == NULL) return HA_ERR_MEMORY;
    *p = (ha_sycl_parameters){0, (void **)room, (int *)(void *)((void **)room + most)};
    return ha_sycl_give_all(p, launch);
}

HA_IN_ void ha_sycl_parameters_end(const ha_sycl_parameters *p) {
    for (size_t i = 0; i < p->n; i++)
        if (p->kind[i] == HA_SYCL_RAW) ha_sycl.RawKernelArg_Delete(p->value[i]);
    HARRAY_FREE(p->value);
}

/* Of SYCL's dimensions the last one is the innermost. */
HA_IN_ void *ha_sycl_submit(const ha_sycl_queue *queue, const ha_launch *launch,
                            const ha_sycl_parameters *p) {
    const ha_sycl_kernel *kernel = (const ha_sycl_kernel *)launch->kernel;
    size_t all[3], lanes[3];
    for (int d = 0; d < 3; d++) {
        lanes[2 - d] = launch->lanes[d];
        all[2 - d] = launch->teams[d] * launch->lanes[d];
    }
    return ha_sycl.Queue_SubmitNDRange(kernel->kernel, queue->queue, p->value, p->kind, p->n, all,
                                       lanes, 3, NULL, 0);
}

HA_IN_ ha_status ha_sycl_launch(void *handle, const ha_launch *launch) {
    const ha_sycl_queue *queue = (const ha_sycl_queue *)handle;
    const ha_sycl_kernel *kernel = (const ha_sycl_kernel *)launch->kernel;
    ha_sycl_parameters p = {0, NULL, NULL};
    if (launch->lanes[0] * launch->lanes[1] * launch->lanes[2] > kernel->limits.lanes)
        return HA_ERR_ARGUMENT;
    ha_status status = ha_sycl_parameters_make(&p, launch);
    if (status == HA_OK)
        status = ha_sycl_enqueued(queue, ha_sycl_submit(queue, launch, &p), "Queue_SubmitNDRange");
    ha_sycl_parameters_end(&p);
    return status;
}

#endif
