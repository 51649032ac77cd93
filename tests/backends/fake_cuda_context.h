/* The fake driver's devices and contexts. */
#ifndef HARRAY_TESTS_BACKENDS_FAKE_CUDA_CONTEXT_H
#define HARRAY_TESTS_BACKENDS_FAKE_CUDA_CONTEXT_H

#include "fake_cuda_memory.h"

/* ---- initialisation ---- */

static int fake_is_device(ha_cu_device device) {
    return device >= 0 && (uint64_t)device < fake.options.devices;
}

/* Forgets the devices; their contexts have ended. */
static void fake_unmake_devices(void) {
    for (int i = 0; i < FAKE_CUDA_MOST_DEVICES; i++)
        if (fake.devices[i].mapping) munmap(fake.devices[i].mapping, fake.devices[i].mapped);
    memset(fake.devices, 0, sizeof fake.devices);
    fake.generation++;
    fake.phase = FAKE_UNKNOWN;
}

ha_cu_result cuInit(unsigned flags) {
    FAKE_BEGIN(Init, NULL, FAKE_TO_BE_FIRST);
    if (flags != 0) return fake_end(HA_CU_INVALID_VALUE);
    if (fake.options.devices == 0) return fake_end(HA_CU_NO_DEVICE);
    if (fake.phase == FAKE_READY) return fake_end(HA_CU_SUCCESS);
    for (int i = 0; (uint64_t)i < fake.options.devices; i++) {
        fake.devices[i].context.device = i;
        fake_map_device(&fake.devices[i]);
    }
    atomic_store(&fake.process, getpid());
    fake.phase = FAKE_READY;
    return fake_end(HA_CU_SUCCESS);
}

ha_cu_result cuDriverGetVersion(int *version) {
    FAKE_BEGIN(DriverGetVersion, NULL, FAKE_NOTHING);
    *version = (int)fake.options.version;
    return fake_end(HA_CU_SUCCESS);
}

static const struct {
    int code;
    const char *name, *text;
} fake_errors[] = {
    {HA_CU_SUCCESS, "CUDA_SUCCESS", "no error"},
    {HA_CU_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {HA_CU_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {HA_CU_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {HA_CU_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {HA_CU_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {HA_CU_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {HA_CU_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {HA_CU_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {HA_CU_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error"},
    {FAKE_PEER_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported"},
    {HA_CU_NVLINK_UNCORRECTABLE, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "uncorrectable NVLink error"},
    {HA_CU_CONTAINED, "CUDA_ERROR_CONTAINED", "a contained error"},
    {HA_CU_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {HA_CU_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {HA_CU_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {HA_CU_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {HA_CU_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {HA_CU_PEER_ACCESS_ALREADY_ENABLED, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
     "peer access is already enabled"},
    {HA_CU_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {HA_CU_ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {HA_CU_HARDWARE_STACK_ERROR, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"},
    {HA_CU_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {HA_CU_TENSOR_MEMORY_LEAK, "CUDA_ERROR_TENSOR_MEMORY_LEAK", "tensor memory was not freed"},
    {HA_CU_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {HA_CU_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {HA_CU_MPS_CLIENT_TERMINATED, "CUDA_ERROR_MPS_CLIENT_TERMINATED", "MPS client terminated"},
    {HA_CU_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {HA_CU_EXTERNAL_DEVICE, "CUDA_ERROR_EXTERNAL_DEVICE", "an external device failed"},
    {HA_CU_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

/* NULL: there is no such error. */
static const char *fake_error_text(int error, int name) {
    for (size_t i = 0; i < sizeof fake_errors / sizeof *fake_errors; i++)
        if (fake_errors[i].code == error) return name ? fake_errors[i].name : fake_errors[i].text;
    return NULL;
}

ha_cu_result cuGetErrorName(ha_cu_result error, const char **text) {
    FAKE_BEGIN(GetErrorName, NULL, FAKE_NOTHING);
    *text = fake_error_text((int)error, 1);
    return fake_end(*text ? HA_CU_SUCCESS : HA_CU_INVALID_VALUE);
}

ha_cu_result cuGetErrorString(ha_cu_result error, const char **text) {
    FAKE_BEGIN(GetErrorString, NULL, FAKE_NOTHING);
    *text = fake_error_text((int)error, 0);
    return fake_end(*text ? HA_CU_SUCCESS : HA_CU_INVALID_VALUE);
}

/* ---- devices ---- */

ha_cu_result cuDeviceGetCount(int *count) {
    FAKE_BEGIN(DeviceGetCount, NULL, FAKE_INITIALISED);
    *count = (int)fake.options.devices;
    return fake_end(HA_CU_SUCCESS);
}

ha_cu_result cuDeviceGet(ha_cu_device *device, int ordinal) {
    FAKE_BEGIN(DeviceGet, NULL, FAKE_INITIALISED);
    if (!fake_is_device(ordinal)) return fake_end(HA_CU_INVALID_DEVICE);
    *device = ordinal;
    return fake_end(HA_CU_SUCCESS);
}

ha_cu_result cuDeviceGetName(char *name, int length, ha_cu_device device) {
    FAKE_BEGIN(DeviceGetName, NULL, FAKE_INITIALISED);
    if (!fake_is_device(device)) return fake_end(HA_CU_INVALID_DEVICE);
    if (length <= 0) return fake_end(HA_CU_INVALID_VALUE);
    snprintf(name, (size_t)length, "Fake GPU %d", device);
    return fake_end(HA_CU_SUCCESS);
}

/* -1: there is no such attribute. */
static int fake_attribute(int attribute) {
    switch (attribute) {
    case HA_CU_ATTRIBUTE_INTEGRATED:
        return (int)fake.options.integrated;
    case HA_CU_ATTRIBUTE_MEMORY_POOLS:
        return (int)fake.options.pools;
    case HA_CU_ATTRIBUTE_COMPUTE_MAJOR:
    case HA_CU_ATTRIBUTE_COMPUTE_MINOR: /* 9.9, which there is not: compilers give PTX for it */
        return 9;
    case HA_CU_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
        return 0;
    case HA_CU_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case HA_CU_ATTRIBUTE_UNIFIED_ADDRESSING:
    case HA_CU_ATTRIBUTE_MANAGED_MEMORY:
    case HA_CU_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
        return 1;
    default:
        return -1;
    }
}

ha_cu_result cuDeviceGetAttribute(int *value, ha_cu_attribute attribute, ha_cu_device device) {
    const int number = (int)attribute;
    int answer;
    FAKE_BEGIN(DeviceGetAttribute, NULL, FAKE_INITIALISED);
    if (!fake_is_device(device)) return fake_end(HA_CU_INVALID_DEVICE);
    answer = fake_attribute(number);
    if (number > 0 && number < FAKE_ATTRIBUTES && fake.devices[device].overridden[number])
        answer = fake.devices[device].attributes[number];
    if (answer < 0) return fake_end(HA_CU_INVALID_VALUE);
    *value = answer;
    return fake_end(HA_CU_SUCCESS);
}

ha_cu_result cuDeviceTotalMem_v2(size_t *bytes, ha_cu_device device) {
    FAKE_BEGIN(DeviceTotalMem, NULL, FAKE_INITIALISED);
    if (!fake_is_device(device)) return fake_end(HA_CU_INVALID_DEVICE);
    *bytes = (size_t)fake.options.capacity;
    return fake_end(HA_CU_SUCCESS);
}

ha_cu_result cuDeviceCanAccessPeer(int *can, ha_cu_device device, ha_cu_device peer) {
    FAKE_BEGIN(DeviceCanAccessPeer, NULL, FAKE_INITIALISED);
    if (!fake_is_device(device) || !fake_is_device(peer)) return fake_end(HA_CU_INVALID_DEVICE);
    *can = fake.options.peers && device != peer;
    return fake_end(HA_CU_SUCCESS);
}

/* The rank is the only one that harray asks for: 0, as good as it gets. */
ha_cu_result cuDeviceGetP2PAttribute(int *value, ha_cu_p2p_attribute attribute, ha_cu_device from,
                                     ha_cu_device to) {
    FAKE_BEGIN(DeviceGetP2PAttribute, NULL, FAKE_INITIALISED);
    if (!fake_is_device(from) || !fake_is_device(to) || from == to)
        return fake_end(HA_CU_INVALID_DEVICE);
    if (attribute != HA_CU_P2P_PERFORMANCE_RANK) return fake_end(HA_CU_INVALID_VALUE);
    *value = 0;
    return fake_end(HA_CU_SUCCESS);
}

/* ---- contexts ---- */

static void fake_end_events(ha_cu_context context) {
    ha_cu_event *place = &fake.events;
    while (*place) {
        ha_cu_event event = *place;
        if (event->context != context) {
            place = &event->next;
            continue;
        }
        *place = event->next;
        if (event->recorded.stream) fake_let_go(event->recorded.stream);
        free(event);
        fake.statistics.events--;
        fake.statistics.leaked += !context->failure;
    }
}

static void fake_free_module(ha_cu_module module); /* fake_cuda_kernel.h */

static void fake_end_modules(ha_cu_context context) {
    ha_cu_module *place = &fake.modules;
    while (*place) {
        ha_cu_module module = *place;
        if (module->context != context) {
            place = &module->next;
            continue;
        }
        *place = module->next;
        fake_free_module(module);
        fake.statistics.leaked += !context->failure;
    }
}

/* Everything in it ends, what was queued after it has happened. */
static void fake_end_context(ha_cu_context context) {
    const int device = context->device;
    for (ha_cu_stream stream = fake.streams; stream; stream = stream->next)
        if (stream->context == context && !stream->legacy && !stream->destroyed) {
            stream->destroyed = 1;
            fake.statistics.streams--;
            fake.statistics.leaked += !context->failure;
        }
    fake_end_streams(context);
    fake_end_events(context);
    fake_end_modules(context);
    fake_free_all(context);
    memset(context, 0, sizeof *context);
    context->device = device;
    for (int i = 0; i < FAKE_CUDA_MOST_DEVICES; i++) fake.devices[i].context.may_reach[device] = 0;
}

ha_cu_result cuDevicePrimaryCtxRetain(ha_cu_context *context, ha_cu_device device) {
    FAKE_BEGIN(DevicePrimaryCtxRetain, NULL, FAKE_INITIALISED);
    if (!fake_is_device(device)) return fake_end(HA_CU_INVALID_DEVICE);
    *context = &fake.devices[device].context;
    (*context)->retained++;
    fake.statistics.contexts++;
    return fake_end(HA_CU_SUCCESS);
}

ha_cu_result cuDevicePrimaryCtxRelease_v2(ha_cu_device device) {
    ha_cu_context context;
    FAKE_BEGIN(DevicePrimaryCtxRelease, NULL, FAKE_INITIALISED);
    if (!fake_is_device(device)) return fake_end(HA_CU_INVALID_DEVICE);
    context = &fake.devices[device].context;
    if (context->retained == 0) return fake_end(HA_CU_INVALID_CONTEXT);
    fake.statistics.contexts--;
    if (--context->retained == 0) fake_end_context(context);
    return fake_end(HA_CU_SUCCESS);
}

ha_cu_result cuCtxGetCurrent(ha_cu_context *context) {
    FAKE_BEGIN(CtxGetCurrent, NULL, FAKE_INITIALISED);
    *context = fake_current();
    return fake_end(HA_CU_SUCCESS);
}

static int fake_is_context(ha_cu_context context) {
    for (int i = 0; i < FAKE_CUDA_MOST_DEVICES; i++)
        if (context == &fake.devices[i].context && context->retained > 0) return 1;
    return 0;
}

ha_cu_result cuCtxPushCurrent_v2(ha_cu_context context) {
    FAKE_BEGIN(CtxPushCurrent, NULL, FAKE_INITIALISED);
    if (!fake_is_context(context)) return fake_end(HA_CU_INVALID_CONTEXT);
    (void)fake_current(); /* empties an old stack */
    if (fake_thread.depth == FAKE_STACK) fake_misuse("%d contexts are pushed", FAKE_STACK);
    fake_thread.stack[fake_thread.depth++] = context;
    return fake_end(HA_CU_SUCCESS);
}

ha_cu_result cuCtxPopCurrent_v2(ha_cu_context *context) {
    FAKE_BEGIN(CtxPopCurrent, NULL, FAKE_INITIALISED);
    if (fake_current() == NULL) return fake_end(HA_CU_INVALID_CONTEXT);
    if (context) *context = fake_current();
    fake_thread.depth--;
    return fake_end(HA_CU_SUCCESS);
}

ha_cu_result cuCtxEnablePeerAccess(ha_cu_context peer, unsigned flags) {
    ha_cu_context current;
    FAKE_BEGIN(CtxEnablePeerAccess, NULL, FAKE_SOUND);
    current = fake_current();
    if (!fake_is_context(peer)) return fake_end(HA_CU_INVALID_CONTEXT);
    if (flags != 0) return fake_end(HA_CU_INVALID_VALUE);
    if (peer == current) return fake_end(HA_CU_INVALID_DEVICE);
    if (!fake.options.peers) return fake_end(FAKE_PEER_UNSUPPORTED);
    if (current->may_reach[peer->device]) return fake_end(HA_CU_PEER_ACCESS_ALREADY_ENABLED);
    current->may_reach[peer->device] = 1;
    return fake_end(HA_CU_SUCCESS);
}

#endif
