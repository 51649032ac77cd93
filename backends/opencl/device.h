/* OpenCL devices: what each is, and errors. Every device has a context of its own. */
#ifndef HARRAY_BACKENDS_OPENCL_DEVICE_H
#define HARRAY_BACKENDS_OPENCL_DEVICE_H

#include "../common/arena.h"
#include "load.h"

/* What is asked of the driver at once: a buffer, and the addresses that stand for it. */
typedef struct ha_opencl_chunk {
    uintptr_t first;
    size_t bytes;
    ha_cl_mem memory; /* NULL: `first` is the driver's own address */
    int managed;      /* USM shared: the host reaches it, too */
    int shared;       /* by several blocks: */
    ha_arena arena;   /* of those */
} ha_opencl_chunk;

/* What a chunk is for: one block, several, or one that the host reaches, too. */
typedef enum ha_opencl_use { HA_OPENCL_BLOCK, HA_OPENCL_BLOCKS, HA_OPENCL_MANAGED } ha_opencl_use;

typedef struct ha_opencl_device {
    struct ha_opencl_device *next; /* of those that are open */
    int number;
    ha_opencl_found found;
    ha_opencl_settings settings;
    ha_cl_context context;
    ha_cl_queue queue;       /* of allocations */
    size_t total;            /* bytes of memory */
    size_t largest;          /* bytes of a buffer */
    ha_cl_usm_functions usm; /* where HARRAY_OPENCL asks for it */
    int compiles;            /* programs from their text */
    int native;              /* functions for the host run on its queues, and reach its memory */
    void *mapping;           /* addresses */
    size_t mapped;
    ha_queue here;      /* the users' addresses; native: and the way to the bytes */
    ha_arena addresses; /* of chunks, from here.first on */
    pthread_mutex_t lock;
    ha_opencl_chunk **chunk; /* ascending, by address */
    size_t chunks, room;
} ha_opencl_device;

/* ---- errors ----------------------------------------------------------------------------------- */

HA_IN_ void ha_opencl_tell(const ha_opencl_device *device, ha_cl_code code, const char *function) {
    const char *name = ha_cl_name(code);
    char text[160];
    snprintf(text, sizeof text, "opencl:%d: cl%s: %s%s (%d)", device->number, function,
             name != NULL ? "CL_" : "error", name != NULL ? name : "", (int)code);
    ha_backend_report(code, text);
}

HA_IN_ int ha_opencl_is_full(ha_cl_code code) {
    return code == HA_CL_MEM_OBJECT_ALLOCATION_FAILURE || code == HA_CL_OUT_OF_HOST_MEMORY ||
           code == HA_CL_OUT_OF_RESOURCES || code == HA_CL_INVALID_BUFFER_SIZE;
}

/* The status of a call; tells what failed. */
HA_IN_ ha_status ha_opencl_check(const ha_opencl_device *device, ha_cl_code code,
                                 const char *function) {
    if (code == HA_CL_SUCCESS) return HA_OK;
    ha_opencl_tell(device, code, function);
    return ha_opencl_is_full(code) ? HA_ERR_MEMORY : HA_ERR_BACKEND;
}

/* Calls a function: HA_OPENCL_TRY_(device, Flush, queue). */
#define HA_OPENCL_TRY_(device, field, ...) ha_opencl_check(device, ha_cl.field(__VA_ARGS__), #field)

/* What a device tells of itself. */
HA_IN_ ha_status ha_opencl_learn(const ha_opencl_device *device, uint32_t what, uint64_t *number) {
    return ha_opencl_check(device, ha_opencl_device_number(device->found.device, what, number),
                           "GetDeviceInfo");
}

/* Whether it has an extension. */
HA_IN_ ha_status ha_opencl_has(const ha_opencl_device *device, const char *extension, int *has) {
    size_t bytes = 0;
    char *names = NULL;
    ha_status status = HA_OPENCL_TRY_(device, GetDeviceInfo, device->found.device,
                                      HA_CL_DEVICE_EXTENSIONS, 0, NULL, &bytes);
    if (status != HA_OK) return status;
    names = (char *)HARRAY_MALLOC(bytes + 1);
    if (names == NULL) return HA_ERR_MEMORY;
    status = HA_OPENCL_TRY_(device, GetDeviceInfo, device->found.device, HA_CL_DEVICE_EXTENSIONS,
                            bytes, names, NULL);
    names[bytes] = '\0';
    *has = status == HA_OK && strstr(names, extension) != NULL;
    HARRAY_FREE(names);
    return status;
}

#endif
