/* The C interface of dpctl, libDPCTLSyclInterface.so: its functions, and finding it. HARRAY_SYCL names it:
 * "library=PATH". Without that it is found where the loader looks, and in a process that has loaded it already,
 * as Python has behind "import dpctl". */
#ifndef HARRAY_BACKENDS_SYCL_LOAD_H
#define HARRAY_BACKENDS_SYCL_LOAD_H

#include "../common/library.h"
#include "../common/options.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { HA_SYCL_ALL_DEVICES = 31 << 16 | 63, HA_SYCL_OPENCL = 1 << 18 /* SYCL's own backend */ };
enum { /* aspects of a device: what it computes with, and what it allocates */
       HA_SYCL_FP64 = 6,
       HA_SYCL_ATOMIC64 = 7,
       HA_SYCL_ONLINE_COMPILER = 9,
       HA_SYCL_USM_DEVICE_ALLOCATIONS = 12,
       HA_SYCL_USM_HOST_ALLOCATIONS = 13,
       HA_SYCL_USM_SHARED_ALLOCATIONS = 14
};
enum { HA_SYCL_IN_ORDER = 2, HA_SYCL_COMPLETE = 3, HA_SYCL_PATH_BYTES = 1001 };
enum { HA_SYCL_KIND_UNKNOWN, HA_SYCL_KIND_DEVICE, HA_SYCL_KIND_SHARED, HA_SYCL_KIND_HOST };
enum { /* parameters of kernels */
       HA_SYCL_UINT8 = 1,
       HA_SYCL_UINT16 = 3,
       HA_SYCL_UINT32 = 5,
       HA_SYCL_UINT64 = 7,
       HA_SYCL_POINTER = 10,
       HA_SYCL_RAW = 13 /* bytes of any number */
};

/* Objects are pointers to what only the library knows. X(result, name, parameters) */
#define HA_SYCL_FUNCTIONS_(X)                                                                      \
    X(void *, DeviceMgr_GetDevices, (int kinds))                                                   \
    X(void *, DeviceMgr_GetCachedContext, (void *device))                                          \
    X(size_t, DeviceVector_Size, (void *devices))                                                  \
    X(void *, DeviceVector_GetAt, (void *devices, size_t index))                                   \
    X(void, DeviceVector_Delete, (void *devices))                                                  \
    X(bool, Device_HasAspect, (void *device, int aspect))                                          \
    X(uint64_t, Device_GetGlobalMemSize, (void *device))                                           \
    X(const char *, Device_GetName, (void *device))                                                \
    X(void *, Device_Copy, (void *device))                                                         \
    X(bool, Device_AreEq, (void *a, void *b))                                                      \
    X(void, Device_Delete, (void *device))                                                         \
    X(void, CString_Delete, (const char *text))                                                    \
    X(bool, Context_AreEq, (void *a, void *b))                                                     \
    X(void *, Context_Copy, (void *context))                                                       \
    X(void, Context_Delete, (void *context))                                                       \
    X(void *, Queue_Create, (void *context, void *device, void (*failed)(int), int properties))    \
    X(void *, Queue_Copy, (void *queue))                                                           \
    X(void, Queue_Delete, (void *queue))                                                           \
    X(void *, Queue_GetContext, (void *queue))                                                     \
    X(void *, Queue_GetDevice, (void *queue))                                                      \
    X(bool, Queue_IsInOrder, (void *queue))                                                        \
    X(void, Queue_Wait, (void *queue))                                                             \
    X(void *, Queue_Memcpy, (void *queue, void *to, const void *from, size_t bytes))               \
    X(void *, Queue_SubmitBarrier, (void *queue))                                                  \
    X(void *, Queue_SubmitBarrierForEvents, (void *queue, void *const *events, size_t count))      \
    X(void, Event_Wait, (void *event))                                                             \
    X(int, Event_GetCommandExecutionStatus, (void *event))                                         \
    X(void, Event_Delete, (void *event))                                                           \
    X(void *, aligned_alloc_device, (size_t alignment, size_t bytes, void *queue))                 \
    X(void *, aligned_alloc_host, (size_t alignment, size_t bytes, void *queue))                   \
    X(void *, aligned_alloc_shared, (size_t alignment, size_t bytes, void *queue))                 \
    X(void, free_with_queue, (void *block, void *queue))                                           \
    X(int, USM_GetPointerType, (const void *pointer, void *context))                               \
    X(void *, USM_GetPointerDevice, (const void *pointer, void *context))

/* Those of kernels: older libraries, which lack some, have memory all the same. */
#define HA_SYCL_KERNEL_FUNCTIONS_(X)                                                               \
    X(int, Device_GetBackend, (void *device))                                                      \
    X(const char *, Device_GetDriverVersion, (void *device))                                       \
    X(uint64_t, Device_GetLocalMemSize, (void *device))                                            \
    X(size_t, Device_GetMaxWorkGroupSize, (void *device))                                          \
    X(void *, KernelBundle_CreateFromOCLSource,                                                    \
      (void *context, void *device, const char *text, const char *options))                        \
    X(void *, KernelBundle_GetKernel, (void *bundle, const char *name))                            \
    X(void, KernelBundle_Delete, (void *bundle))                                                   \
    X(size_t, Kernel_GetWorkGroupSize, (void *kernel))                                             \
    X(size_t, Kernel_GetPreferredWorkGroupSizeMultiple, (void *kernel))                            \
    X(void, Kernel_Delete, (void *kernel))                                                         \
    X(void *, RawKernelArg_Create, (void *bytes, size_t count))                                    \
    X(void, RawKernelArg_Delete, (void *argument))                                                 \
    X(void *, Queue_SubmitNDRange,                                                                 \
      (void *kernel, void *queue, void **values, const int *kinds, size_t parameters,              \
       const size_t *items, const size_t *team, size_t dimensions, void *const *events,            \
       size_t count))

#define HA_SYCL_MEMBER_(result, name, parameters) result(*name) parameters;
HA_STATE_ struct {
    int looked;
    void *library;
    HA_SYCL_FUNCTIONS_(HA_SYCL_MEMBER_)
    HA_SYCL_KERNEL_FUNCTIONS_(HA_SYCL_MEMBER_)
    const char *no_kernels; /* that one of these is missing; NULL: none is */
} ha_sycl = {.looked = 0};
HA_STATE_ struct { char text[400]; } ha_sycl_why = {.text = ""};

static const ha_option_key ha_sycl_keys[1] = {
    {"library", NULL, NULL, 1, HA_SYCL_PATH_BYTES - 1, "a path of up to 1000 characters"}};
static const ha_option_keys ha_sycl_option_keys = {"HARRAY_SYCL", "sycl", ha_sycl_keys, 1};

/* Whether all functions are there, but for those of kernels. */
HA_IN_ int ha_sycl_find_functions(void) {
#define HA_SYCL_FIND_(result, name, parameters)                                                    \
    *(void **)&ha_sycl.name = HARRAY_DLSYM(ha_sycl.library, "DPCTL" #name);                        \
    if (ha_sycl.name == NULL) {                                                                    \
        snprintf(ha_sycl_why.text, sizeof ha_sycl_why.text, "dpctl's library has no DPCTL%s",      \
                 #name);                                                                           \
        return 0;                                                                                  \
    }
    HA_SYCL_FUNCTIONS_(HA_SYCL_FIND_)
#undef HA_SYCL_FIND_
#define HA_SYCL_FIND_(result, name, parameters)                                                    \
    *(void **)&ha_sycl.name = HARRAY_DLSYM(ha_sycl.library, "DPCTL" #name);                        \
    if (ha_sycl.name == NULL) ha_sycl.no_kernels = "dpctl's library has no DPCTL" #name;
    ha_sycl.no_kernels = NULL;
    HA_SYCL_KERNEL_FUNCTIONS_(HA_SYCL_FIND_)
#undef HA_SYCL_FIND_
    return 1;
}

/* 1: the library is there; 0: it is not; negative: HARRAY_SYCL is wrong. */
HA_IN_ int ha_sycl_load(void) {
    const char *text = getenv("HARRAY_SYCL");
    char path[HA_SYCL_PATH_BYTES] = "libDPCTLSyclInterface.so";
    ha_option_value value[1] = {{0, NULL, 0}};
    ha_option_text wrong;
    if (ha_sycl.looked && ha_sycl.library != NULL) return 1;
    if (text != NULL && !ha_options_parse(&ha_sycl_option_keys, text, value, &wrong)) {
        snprintf(ha_sycl_why.text, sizeof ha_sycl_why.text,
                 "HARRAY_SYCL=%.200s is wrong: library=PATH", text);
        return -1;
    }
    if (value[0].text != NULL) {
        memcpy(path, value[0].text, value[0].length);
        path[value[0].length] = '\0';
    }
    ha_sycl.looked = 1;
    ha_sycl.library = ha_library_load(path, ha_sycl_why.text, sizeof ha_sycl_why.text);
    if (ha_sycl.library != NULL && !ha_sycl_find_functions()) ha_sycl.library = NULL;
    return ha_sycl.library != NULL;
}

#endif
