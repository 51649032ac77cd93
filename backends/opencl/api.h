/* OpenCL as harray uses it: one list of functions, from which the table, its loader and the check against
 * the Khronos headers are made. No header of OpenCL is needed; when CL/cl.h has been included before, its
 * types are used, so that the compiler compares them.
 *
 * The names and numbers are those of "The OpenCL Specification", version 3.0, and of the extension
 * cl_intel_unified_shared_memory, revision 1.0.0, both by the Khronos Group. */
#ifndef HARRAY_BACKENDS_OPENCL_API_H
#define HARRAY_BACKENDS_OPENCL_API_H

#include "../backend.h"

/* ---- types: those of CL/cl.h, by other names ------------------------------------------------- */

typedef struct _cl_platform_id *ha_cl_platform;
typedef struct _cl_device_id *ha_cl_device;
typedef struct _cl_context *ha_cl_context;
typedef struct _cl_command_queue *ha_cl_queue;
typedef struct _cl_mem *ha_cl_mem;
typedef struct _cl_event *ha_cl_event;
typedef struct _cl_program *ha_cl_program;
typedef struct _cl_kernel *ha_cl_kernel;
typedef void *ha_cl_address;
typedef int32_t ha_cl_code; /* 0 or an error; in the same way the state of an event */

/* What CL/cl.h calls CL_…. */
enum {
    HA_CL_SUCCESS = 0,
    HA_CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    HA_CL_OUT_OF_RESOURCES = -5,
    HA_CL_OUT_OF_HOST_MEMORY = -6,
    HA_CL_MEM_COPY_OVERLAP = -8,
    HA_CL_BUILD_PROGRAM_FAILURE = -11,
    HA_CL_INVALID_VALUE = -30,
    HA_CL_INVALID_COMMAND_QUEUE = -36,
    HA_CL_INVALID_KERNEL_NAME = -46,
    HA_CL_INVALID_WORK_GROUP_SIZE = -54,
    HA_CL_INVALID_WORK_ITEM_SIZE = -55,
    HA_CL_INVALID_OPERATION = -59,
    HA_CL_INVALID_BUFFER_SIZE = -61,
    HA_CL_PLATFORM_NOT_FOUND = -1001, /* cl_khr_icd */

    HA_CL_PLATFORM_NAME = 0x0902,
    HA_CL_DEVICE_TYPE = 0x1000,
    HA_CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    HA_CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    HA_CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    HA_CL_DEVICE_AVAILABLE = 0x1027,
    HA_CL_DEVICE_EXECUTION_CAPABILITIES = 0x1029,
    HA_CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    HA_CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    HA_CL_DEVICE_NAME = 0x102B,
    HA_CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    HA_CL_DRIVER_VERSION = 0x102D,
    HA_CL_DEVICE_VERSION = 0x102F,
    HA_CL_DEVICE_EXTENSIONS = 0x1030,
    HA_CL_PLATFORM_VERSION = 0x0901,
    HA_CL_PROGRAM_BINARY_SIZES = 0x1165,
    HA_CL_PROGRAM_BINARIES = 0x1166,
    HA_CL_PROGRAM_BUILD_LOG = 0x1183,
    HA_CL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
    HA_CL_KERNEL_LOCAL_MEM_SIZE = 0x11B2,
    HA_CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 0x11B3,
    HA_CL_QUEUE_CONTEXT = 0x1090,
    HA_CL_QUEUE_DEVICE = 0x1091,
    HA_CL_QUEUE_PROPERTIES = 0x1093,
    HA_CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3,
    HA_CL_EVENT_CONTEXT = 0x11D4,
    HA_CL_COMPLETE = 0,
    HA_CL_QUEUED = 3
};
#define HA_CL_DEVICE_TYPE_CPU ((uint64_t)1 << 1)
#define HA_CL_DEVICE_TYPE_GPU ((uint64_t)1 << 2)
#define HA_CL_DEVICE_TYPE_ACCELERATOR ((uint64_t)1 << 3)
#define HA_CL_DEVICE_TYPE_ALL ((uint64_t)0xFFFFFFFF)
#define HA_CL_EXEC_NATIVE_KERNEL ((uint64_t)1 << 1)
#define HA_CL_QUEUE_OUT_OF_ORDER ((uint64_t)1 << 0)
#define HA_CL_MEM_READ_WRITE ((uint64_t)1 << 0)
#define HA_CL_MEM_USE_HOST_PTR ((uint64_t)1 << 3)
#define HA_CL_MIGRATE_CONTENT_UNDEFINED ((uint64_t)1 << 1)

/* ---- the functions --------------------------------------------------------------------------- */

/* X(field, result, parameters): the function is called cl and the field's name. All are of OpenCL 1.2. */
#define HA_CL_FUNCTIONS_(X)                                                                        \
    X(GetPlatformIDs, ha_cl_code, (uint32_t, ha_cl_platform *, uint32_t *))                        \
    X(GetPlatformInfo, ha_cl_code, (ha_cl_platform, uint32_t, size_t, void *, size_t *))           \
    X(GetDeviceIDs, ha_cl_code, (ha_cl_platform, uint64_t, uint32_t, ha_cl_device *, uint32_t *))  \
    X(GetDeviceInfo, ha_cl_code, (ha_cl_device, uint32_t, size_t, void *, size_t *))               \
    X(GetExtensionFunctionAddressForPlatform, ha_cl_address, (ha_cl_platform, const char *))       \
    X(CreateContext, ha_cl_context,                                                                \
      (const intptr_t *, uint32_t, const ha_cl_device *,                                           \
       void (*)(const char *, const void *, size_t, void *), void *, ha_cl_code *))                \
    X(ReleaseContext, ha_cl_code, (ha_cl_context))                                                 \
    X(CreateCommandQueue, ha_cl_queue, (ha_cl_context, ha_cl_device, uint64_t, ha_cl_code *))      \
    X(RetainCommandQueue, ha_cl_code, (ha_cl_queue))                                               \
    X(ReleaseCommandQueue, ha_cl_code, (ha_cl_queue))                                              \
    X(GetCommandQueueInfo, ha_cl_code, (ha_cl_queue, uint32_t, size_t, void *, size_t *))          \
    X(CreateBuffer, ha_cl_mem, (ha_cl_context, uint64_t, size_t, void *, ha_cl_code *))            \
    X(ReleaseMemObject, ha_cl_code, (ha_cl_mem))                                                   \
    X(EnqueueMigrateMemObjects, ha_cl_code,                                                        \
      (ha_cl_queue, uint32_t, const ha_cl_mem *, uint64_t, uint32_t, const ha_cl_event *,          \
       ha_cl_event *))                                                                             \
    X(EnqueueReadBuffer, ha_cl_code,                                                               \
      (ha_cl_queue, ha_cl_mem, uint32_t, size_t, size_t, void *, uint32_t, const ha_cl_event *,    \
       ha_cl_event *))                                                                             \
    X(EnqueueWriteBuffer, ha_cl_code,                                                              \
      (ha_cl_queue, ha_cl_mem, uint32_t, size_t, size_t, const void *, uint32_t,                   \
       const ha_cl_event *, ha_cl_event *))                                                        \
    X(EnqueueCopyBuffer, ha_cl_code,                                                               \
      (ha_cl_queue, ha_cl_mem, ha_cl_mem, size_t, size_t, size_t, uint32_t, const ha_cl_event *,   \
       ha_cl_event *))                                                                             \
    X(EnqueueReadBufferRect, ha_cl_code,                                                           \
      (ha_cl_queue, ha_cl_mem, uint32_t, const size_t *, const size_t *, const size_t *, size_t,   \
       size_t, size_t, size_t, void *, uint32_t, const ha_cl_event *, ha_cl_event *))              \
    X(EnqueueWriteBufferRect, ha_cl_code,                                                          \
      (ha_cl_queue, ha_cl_mem, uint32_t, const size_t *, const size_t *, const size_t *, size_t,   \
       size_t, size_t, size_t, const void *, uint32_t, const ha_cl_event *, ha_cl_event *))        \
    X(EnqueueCopyBufferRect, ha_cl_code,                                                           \
      (ha_cl_queue, ha_cl_mem, ha_cl_mem, const size_t *, const size_t *, const size_t *, size_t,  \
       size_t, size_t, size_t, uint32_t, const ha_cl_event *, ha_cl_event *))                      \
    X(EnqueueFillBuffer, ha_cl_code,                                                               \
      (ha_cl_queue, ha_cl_mem, const void *, size_t, size_t, size_t, uint32_t,                     \
       const ha_cl_event *, ha_cl_event *))                                                        \
    X(EnqueueNativeKernel, ha_cl_code,                                                             \
      (ha_cl_queue, void (*)(void *), void *, size_t, uint32_t, const ha_cl_mem *, const void **,  \
       uint32_t, const ha_cl_event *, ha_cl_event *))                                              \
    X(EnqueueMarkerWithWaitList, ha_cl_code,                                                       \
      (ha_cl_queue, uint32_t, const ha_cl_event *, ha_cl_event *))                                 \
    X(EnqueueBarrierWithWaitList, ha_cl_code,                                                      \
      (ha_cl_queue, uint32_t, const ha_cl_event *, ha_cl_event *))                                 \
    X(Flush, ha_cl_code, (ha_cl_queue))                                                            \
    X(Finish, ha_cl_code, (ha_cl_queue))                                                           \
    X(WaitForEvents, ha_cl_code, (uint32_t, const ha_cl_event *))                                  \
    X(GetEventInfo, ha_cl_code, (ha_cl_event, uint32_t, size_t, void *, size_t *))                 \
    X(CreateUserEvent, ha_cl_event, (ha_cl_context, ha_cl_code *))                                 \
    X(SetUserEventStatus, ha_cl_code, (ha_cl_event, ha_cl_code))                                   \
    X(SetEventCallback, ha_cl_code,                                                                \
      (ha_cl_event, ha_cl_code, void (*)(ha_cl_event, ha_cl_code, void *), void *))                \
    X(RetainEvent, ha_cl_code, (ha_cl_event))                                                      \
    X(ReleaseEvent, ha_cl_code, (ha_cl_event))                                                     \
    X(CreateProgramWithSource, ha_cl_program,                                                      \
      (ha_cl_context, uint32_t, const char **, const size_t *, ha_cl_code *))                      \
    X(CreateProgramWithBinary, ha_cl_program,                                                      \
      (ha_cl_context, uint32_t, const ha_cl_device *, const size_t *, const unsigned char **,      \
       ha_cl_code *, ha_cl_code *))                                                                \
    X(BuildProgram, ha_cl_code,                                                                    \
      (ha_cl_program, uint32_t, const ha_cl_device *, const char *,                                \
       void (*)(ha_cl_program, void *), void *))                                                   \
    X(GetProgramInfo, ha_cl_code, (ha_cl_program, uint32_t, size_t, void *, size_t *))             \
    X(GetProgramBuildInfo, ha_cl_code,                                                             \
      (ha_cl_program, ha_cl_device, uint32_t, size_t, void *, size_t *))                           \
    X(ReleaseProgram, ha_cl_code, (ha_cl_program))                                                 \
    X(CreateKernel, ha_cl_kernel, (ha_cl_program, const char *, ha_cl_code *))                     \
    X(ReleaseKernel, ha_cl_code, (ha_cl_kernel))                                                   \
    X(GetKernelWorkGroupInfo, ha_cl_code,                                                          \
      (ha_cl_kernel, ha_cl_device, uint32_t, size_t, void *, size_t *))                            \
    X(SetKernelArg, ha_cl_code, (ha_cl_kernel, uint32_t, size_t, const void *))                    \
    X(EnqueueNDRangeKernel, ha_cl_code,                                                            \
      (ha_cl_queue, ha_cl_kernel, uint32_t, const size_t *, const size_t *, const size_t *,        \
       uint32_t, const ha_cl_event *, ha_cl_event *))

/* Those of cl_intel_unified_shared_memory, which a platform tells the addresses of. */
#define HA_CL_USM_FUNCTIONS_(X)                                                                    \
    X(DeviceMemAllocINTEL, ha_cl_address,                                                          \
      (ha_cl_context, ha_cl_device, const uint64_t *, size_t, uint32_t, ha_cl_code *))             \
    X(SharedMemAllocINTEL, ha_cl_address,                                                          \
      (ha_cl_context, ha_cl_device, const uint64_t *, size_t, uint32_t, ha_cl_code *))             \
    X(MemFreeINTEL, ha_cl_code, (ha_cl_context, void *))                                           \
    X(SetKernelArgMemPointerINTEL, ha_cl_code, (ha_cl_kernel, uint32_t, const void *))             \
    X(EnqueueMemcpyINTEL, ha_cl_code,                                                              \
      (ha_cl_queue, uint32_t, void *, const void *, size_t, uint32_t, const ha_cl_event *,         \
       ha_cl_event *))                                                                             \
    X(EnqueueMemFillINTEL, ha_cl_code,                                                             \
      (ha_cl_queue, void *, const void *, size_t, size_t, uint32_t, const ha_cl_event *,           \
       ha_cl_event *))

typedef struct ha_cl_usm_functions {
#define HA_CL_FIELD_(field, result, parameters) result(*field) parameters;
    HA_CL_USM_FUNCTIONS_(HA_CL_FIELD_)
#undef HA_CL_FIELD_
} ha_cl_usm_functions;

typedef struct ha_cl_functions {
#define HA_CL_FIELD_(field, result, parameters) result(*field) parameters;
    HA_CL_FUNCTIONS_(HA_CL_FIELD_)
#undef HA_CL_FIELD_
} ha_cl_functions;

/* ---- errors ---------------------------------------------------------------------------------- */

/* The name without CL_; NULL: none that is known. */
HA_IN_ const char *ha_cl_name(ha_cl_code code) {
    static const char *const runtime[] = {
        "SUCCESS",
        "DEVICE_NOT_FOUND",
        "DEVICE_NOT_AVAILABLE",
        "COMPILER_NOT_AVAILABLE",
        "MEM_OBJECT_ALLOCATION_FAILURE",
        "OUT_OF_RESOURCES",
        "OUT_OF_HOST_MEMORY",
        "PROFILING_INFO_NOT_AVAILABLE",
        "MEM_COPY_OVERLAP",
        "IMAGE_FORMAT_MISMATCH",
        "IMAGE_FORMAT_NOT_SUPPORTED",
        "BUILD_PROGRAM_FAILURE",
        "MAP_FAILURE",
        "MISALIGNED_SUB_BUFFER_OFFSET",
        "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
    };
    static const char *const calls[] = {
        "INVALID_VALUE",           "INVALID_DEVICE_TYPE",
        "INVALID_PLATFORM",        "INVALID_DEVICE",
        "INVALID_CONTEXT",         "INVALID_QUEUE_PROPERTIES",
        "INVALID_COMMAND_QUEUE",   "INVALID_HOST_PTR",
        "INVALID_MEM_OBJECT",      "INVALID_IMAGE_FORMAT_DESCRIPTOR",
        "INVALID_IMAGE_SIZE",      "INVALID_SAMPLER",
        "INVALID_BINARY",          "INVALID_BUILD_OPTIONS",
        "INVALID_PROGRAM",         "INVALID_PROGRAM_EXECUTABLE",
        "INVALID_KERNEL_NAME",     "INVALID_KERNEL_DEFINITION",
        "INVALID_KERNEL",          "INVALID_ARG_INDEX",
        "INVALID_ARG_VALUE",       "INVALID_ARG_SIZE",
        "INVALID_KERNEL_ARGS",     "INVALID_WORK_DIMENSION",
        "INVALID_WORK_GROUP_SIZE", "INVALID_WORK_ITEM_SIZE",
        "INVALID_GLOBAL_OFFSET",   "INVALID_EVENT_WAIT_LIST",
        "INVALID_EVENT",           "INVALID_OPERATION",
        "INVALID_GL_OBJECT",       "INVALID_BUFFER_SIZE",
    };
    enum { RUNTIME = sizeof runtime / sizeof *runtime, CALLS = sizeof calls / sizeof *calls };
    if (code == HA_CL_PLATFORM_NOT_FOUND) return "PLATFORM_NOT_FOUND_KHR";
    if (code <= 0 && code > -RUNTIME) return runtime[-code];
    return code <= -30 && code > -30 - CALLS ? calls[-30 - code] : NULL;
}

#endif
