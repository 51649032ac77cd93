/* The CUDA driver as harray uses it: one list of functions, from which the table, its loader, the
 * check against cuda.h and the fake driver of the tests are made. No CUDA header is needed; when
 * cuda.h has been included before, its types are used, so that the compiler compares them.
 *
 * The names and numbers are the interface of NVIDIA's driver ("CUDA Driver API", version 13.0). */
#ifndef HARRAY_BACKENDS_CUDA_DRIVER_H
#define HARRAY_BACKENDS_CUDA_DRIVER_H

#include "../backend.h"

/* ---- types: those of cuda.h, by other names ------------------------------------------------ */

#ifdef CUDA_VERSION
typedef CUresult ha_cu_result;
typedef CUdevice_attribute ha_cu_attribute;
typedef CUdevice_P2PAttribute ha_cu_p2p_attribute;
typedef CUpointer_attribute ha_cu_pointer_attribute;
typedef CUmemPool_attribute ha_cu_pool_attribute;
typedef CUstreamCaptureMode ha_cu_capture_mode;
typedef CUDA_MEMCPY3D ha_cu_copy3d;
typedef CUdeviceptr ha_cu_pointer;
#else
typedef int ha_cu_result; /* the driver's are enums, which are passed as int is */
typedef int ha_cu_attribute;
typedef int ha_cu_p2p_attribute;
typedef int ha_cu_pointer_attribute;
typedef int ha_cu_pool_attribute;
typedef int ha_cu_capture_mode;
typedef unsigned long long ha_cu_pointer;

typedef struct ha_cu_copy3d { /* lengths and pitches in bytes; heights and depths in rows, planes */
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    int srcMemoryType;
    const void *srcHost;
    ha_cu_pointer srcDevice;
    void *srcArray, *reserved0;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    int dstMemoryType;
    void *dstHost;
    ha_cu_pointer dstDevice;
    void *dstArray, *reserved1;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} ha_cu_copy3d;
#endif
typedef int ha_cu_device;
typedef struct CUctx_st *ha_cu_context;
typedef struct CUstream_st *ha_cu_stream;
typedef struct CUevent_st *ha_cu_event;
typedef struct CUmod_st *ha_cu_module;
typedef struct CUfunc_st *ha_cu_function;
typedef struct CUmemPoolHandle_st *ha_cu_pool;

/* What cuda.h calls CUDA_ERROR_…, CU_DEVICE_ATTRIBUTE_… and so on. */
enum {
    HA_CU_SUCCESS = 0,
    HA_CU_INVALID_VALUE = 1,
    HA_CU_OUT_OF_MEMORY = 2,
    HA_CU_NOT_INITIALIZED = 3,
    HA_CU_DEINITIALIZED = 4,
    HA_CU_STUB_LIBRARY = 34,
    HA_CU_NO_DEVICE = 100,
    HA_CU_INVALID_DEVICE = 101,
    HA_CU_INVALID_CONTEXT = 201,
    HA_CU_ECC_UNCORRECTABLE = 214,
    HA_CU_NVLINK_UNCORRECTABLE = 220,
    HA_CU_CONTAINED = 226,
    HA_CU_INVALID_HANDLE = 400,
    HA_CU_NOT_FOUND = 500,
    HA_CU_NOT_READY = 600,
    HA_CU_ILLEGAL_ADDRESS = 700,
    HA_CU_LAUNCH_TIMEOUT = 702,
    HA_CU_PEER_ACCESS_ALREADY_ENABLED = 704,
    HA_CU_CONTEXT_IS_DESTROYED = 709,
    HA_CU_ASSERT = 710,
    HA_CU_HARDWARE_STACK_ERROR = 714, /* 714 to 719: a kernel did what it must not */
    HA_CU_LAUNCH_FAILED = 719,
    HA_CU_TENSOR_MEMORY_LEAK = 721,
    HA_CU_NOT_PERMITTED = 800,
    HA_CU_NOT_SUPPORTED = 801,
    HA_CU_MPS_CLIENT_TERMINATED = 810,
    HA_CU_STREAM_CAPTURE_UNSUPPORTED = 900,
    HA_CU_EXTERNAL_DEVICE = 911,
    HA_CU_UNKNOWN = 999,

    HA_CU_ATTRIBUTE_INTEGRATED = 18,
    HA_CU_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19,
    HA_CU_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    HA_CU_ATTRIBUTE_COMPUTE_MAJOR = 75,
    HA_CU_ATTRIBUTE_COMPUTE_MINOR = 76,
    HA_CU_ATTRIBUTE_MANAGED_MEMORY = 83,
    HA_CU_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
    HA_CU_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
    HA_CU_ATTRIBUTE_MEMORY_POOLS = 115,
    HA_CU_P2P_PERFORMANCE_RANK = 1,

    HA_CU_POINTER_MEMORY_TYPE = 2,
    HA_CU_POINTER_DEVICE_POINTER = 3,
    HA_CU_POINTER_IS_MANAGED = 8,
    HA_CU_POINTER_DEVICE_ORDINAL = 9,
    HA_CU_MEMORY_HOST = 1,
    HA_CU_MEMORY_DEVICE = 2,
    HA_CU_MEMORY_UNIFIED = 4,
    HA_CU_POOL_RELEASE_THRESHOLD = 4,

    HA_CU_HOST_PORTABLE = 1,
    HA_CU_HOST_MAPPED = 2,
    HA_CU_HOST_WRITE_COMBINED = 4,
    HA_CU_MANAGED_GLOBAL = 1,
    HA_CU_STREAM_NON_BLOCKING = 1,
    HA_CU_CAPTURE_RELAXED = 2,
    HA_CU_EVENT_NO_TIMING = 2
};

/* The handles of the default streams: the one that waits for every blocking stream, and the one
 * that each thread has for itself. */
#define HA_CU_STREAM_LEGACY_ ((ha_cu_stream)0x1)
#define HA_CU_STREAM_PER_THREAD_ ((ha_cu_stream)0x2)

/* ---- the list ------------------------------------------------------------------------------ */

/* X(field, symbol, parameters, required, since, hip): the table's field; the driver's exact,
 * versioned symbol; its parameters (it returns ha_cu_result); 1: harray does not work without it;
 * the first driver version that has it (1000 * major + 10 * minor); the symbol of AMD's HIP, where
 * harray knows it ("": not yet). */
#define HA_CUDA_FUNCTIONS_(X)                                                                      \
    X(Init, cuInit, (unsigned flags), 1, 2000, "")                                                 \
    X(DriverGetVersion, cuDriverGetVersion, (int *version), 1, 2020, "")                           \
    X(GetErrorName, cuGetErrorName, (ha_cu_result error, const char **text), 1, 6000, "")          \
    X(GetErrorString, cuGetErrorString, (ha_cu_result error, const char **text), 1, 6000, "")      \
    X(DeviceGetCount, cuDeviceGetCount, (int *count), 1, 2000, "")                                 \
    X(DeviceGet, cuDeviceGet, (ha_cu_device * device, int ordinal), 1, 2000, "")                   \
    X(DeviceGetName, cuDeviceGetName, (char *name, int length, ha_cu_device device), 1, 2000, "")  \
    X(DeviceGetAttribute, cuDeviceGetAttribute,                                                    \
      (int *value, ha_cu_attribute attribute, ha_cu_device device), 1, 2000, "")                   \
    X(DeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, ha_cu_device device), 1, 3020, "")     \
    X(DeviceCanAccessPeer, cuDeviceCanAccessPeer,                                                  \
      (int *can, ha_cu_device device, ha_cu_device peer), 1, 4000, "")                             \
    X(DeviceGetP2PAttribute, cuDeviceGetP2PAttribute,                                              \
      (int *value, ha_cu_p2p_attribute attribute, ha_cu_device from, ha_cu_device to), 1, 8000,    \
      "")                                                                                          \
    X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain,                                            \
      (ha_cu_context * context, ha_cu_device device), 1, 7000, "")                                 \
    X(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (ha_cu_device device), 1, 11000, "")  \
    X(CtxGetCurrent, cuCtxGetCurrent, (ha_cu_context * context), 1, 4000, "")                      \
    X(CtxPushCurrent, cuCtxPushCurrent_v2, (ha_cu_context context), 1, 4000, "")                   \
    X(CtxPopCurrent, cuCtxPopCurrent_v2, (ha_cu_context * context), 1, 4000, "")                   \
    X(CtxEnablePeerAccess, cuCtxEnablePeerAccess, (ha_cu_context peer, unsigned flags), 1, 4000,   \
      "")                                                                                          \
    X(MemGetInfo, cuMemGetInfo_v2, (size_t * unused, size_t * total), 0, 3020, "")                 \
    X(MemAlloc, cuMemAlloc_v2, (ha_cu_pointer * pointer, size_t bytes), 1, 3020, "")               \
    X(MemFree, cuMemFree_v2, (ha_cu_pointer pointer), 1, 3020, "")                                 \
    X(MemHostAlloc, cuMemHostAlloc, (void **pointer, size_t bytes, unsigned flags), 1, 2020, "")   \
    X(MemFreeHost, cuMemFreeHost, (void *pointer), 1, 2000, "")                                    \
    X(MemAllocManaged, cuMemAllocManaged, (ha_cu_pointer * pointer, size_t bytes, unsigned flags), \
      1, 6000, "")                                                                                 \
    X(MemAllocAsync, cuMemAllocAsync,                                                              \
      (ha_cu_pointer * pointer, size_t bytes, ha_cu_stream stream), 0, 11020, "")                  \
    X(MemFreeAsync, cuMemFreeAsync, (ha_cu_pointer pointer, ha_cu_stream stream), 0, 11020, "")    \
    X(DeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool,                                          \
      (ha_cu_pool * pool, ha_cu_device device), 0, 11020, "")                                      \
    X(MemPoolSetAttribute, cuMemPoolSetAttribute,                                                  \
      (ha_cu_pool pool, ha_cu_pool_attribute attribute, void *value), 0, 11020, "")                \
    X(PointerGetAttributes, cuPointerGetAttributes,                                                \
      (unsigned count, ha_cu_pointer_attribute *attributes, void **values, ha_cu_pointer pointer), \
      1, 7000, "")                                                                                 \
    X(MemcpyAsync, cuMemcpyAsync,                                                                  \
      (ha_cu_pointer to, ha_cu_pointer from, size_t bytes, ha_cu_stream stream), 1, 4000, "")      \
    X(MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                       \
      (ha_cu_pointer to, const void *from, size_t bytes, ha_cu_stream stream), 1, 3020, "")        \
    X(MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                                       \
      (void *to, ha_cu_pointer from, size_t bytes, ha_cu_stream stream), 1, 3020, "")              \
    X(Memcpy3DAsync, cuMemcpy3DAsync_v2, (const ha_cu_copy3d *copy, ha_cu_stream stream), 1, 3020, \
      "")                                                                                          \
    X(MemsetD8Async, cuMemsetD8Async,                                                              \
      (ha_cu_pointer to, unsigned char value, size_t count, ha_cu_stream stream), 1, 3020, "")     \
    X(MemsetD16Async, cuMemsetD16Async,                                                            \
      (ha_cu_pointer to, unsigned short value, size_t count, ha_cu_stream stream), 1, 3020, "")    \
    X(MemsetD32Async, cuMemsetD32Async,                                                            \
      (ha_cu_pointer to, unsigned value, size_t count, ha_cu_stream stream), 1, 3020, "")          \
    X(StreamCreate, cuStreamCreate, (ha_cu_stream * stream, unsigned flags), 1, 2000, "")          \
    X(StreamDestroy, cuStreamDestroy_v2, (ha_cu_stream stream), 1, 4000, "")                       \
    X(StreamGetCtx, cuStreamGetCtx, (ha_cu_stream stream, ha_cu_context * context), 1, 9020, "")   \
    X(StreamQuery, cuStreamQuery, (ha_cu_stream stream), 1, 2000, "")                              \
    X(StreamSynchronize, cuStreamSynchronize, (ha_cu_stream stream), 1, 2000, "")                  \
    X(StreamWaitEvent, cuStreamWaitEvent,                                                          \
      (ha_cu_stream stream, ha_cu_event event, unsigned flags), 1, 3020, "")                       \
    X(ThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode,                          \
      (ha_cu_capture_mode * mode), 1, 10010, "")                                                   \
    X(LaunchHostFunc, cuLaunchHostFunc,                                                            \
      (ha_cu_stream stream, void (*function)(void *argument), void *argument), 1, 10000, "")       \
    X(EventCreate, cuEventCreate, (ha_cu_event * event, unsigned flags), 1, 2000, "")              \
    X(EventDestroy, cuEventDestroy_v2, (ha_cu_event event), 1, 4000, "")                           \
    X(EventRecord, cuEventRecord, (ha_cu_event event, ha_cu_stream stream), 1, 2000, "")           \
    X(EventQuery, cuEventQuery, (ha_cu_event event), 1, 2000, "")                                  \
    X(EventSynchronize, cuEventSynchronize, (ha_cu_event event), 1, 2000, "")                      \
    X(ModuleLoadData, cuModuleLoadData, (ha_cu_module * module, const void *image), 1, 2000, "")   \
    X(ModuleUnload, cuModuleUnload, (ha_cu_module module), 1, 2000, "")                            \
    X(ModuleGetFunction, cuModuleGetFunction,                                                      \
      (ha_cu_function * function, ha_cu_module module, const char *name), 1, 2000, "")             \
    X(LaunchKernel, cuLaunchKernel,                                                                \
      (ha_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,                 \
       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,                \
       ha_cu_stream stream, void **parameters, void **extra),                                      \
      1, 4000, "")

enum { HA_CUDA_LEAST_VERSION = 11000 }; /* of the driver; the newest of the required functions */

typedef struct ha_cuda_driver {
#define HA_CUDA_FIELD_(field, symbol, parameters, required, since, hip)                            \
    ha_cu_result(*field) parameters;
    HA_CUDA_FUNCTIONS_(HA_CUDA_FIELD_)
#undef HA_CUDA_FIELD_
    int version;
} ha_cuda_driver;

#endif
