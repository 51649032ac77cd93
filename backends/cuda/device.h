/* CUDA devices: what all of them share, what each is, and how the driver is called for one.
 *
 * Everything happens in the device's primary context, which the CUDA runtime uses, too. It is made
 * current for the time of a call, when another one is, and never reset. */
#ifndef HARRAY_BACKENDS_CUDA_DEVICE_H
#define HARRAY_BACKENDS_CUDA_DEVICE_H

#include "../common/arena.h"
#include "load.h"
#include "options.h"
#include "copy_threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define HA_CUDA_MOST_DEVICES_ 64

typedef struct ha_cuda_device ha_cuda_device;
struct ha_cuda_slab;
struct ha_cuda_event;

/* What blocks are made of. */
typedef enum ha_cuda_kind {
    HA_CUDA_KIND_DEVICE = HA_CUDA_DEVICE,
    HA_CUDA_KIND_MANAGED = HA_CUDA_MANAGED,
    HA_CUDA_KIND_ASYNC = HA_CUDA_ASYNC,
    HA_CUDA_KIND_PINNED
} ha_cuda_kind;

/* Blocks of one kind: slab.h. */
typedef struct ha_cuda_slabs {
    ha_cuda_kind kind;
    pthread_mutex_t lock;
    struct ha_cuda_slab *first;
} ha_cuda_slabs;

struct ha_cuda_device {
    int number;
    ha_cu_device handle;
    ha_cu_context context;
    ha_cuda_settings settings;
    size_t total;     /* bytes of memory */
    int architecture; /* 90: compute capability 9.0 */
    int integrated, maps_host, unified, pageable, concurrent, managed, pools; /* attributes */
    ha_cuda_slabs memory, pinned, shared; /* shared: managed, beside `memory` */
    ha_cu_stream stream;                  /* of allocations; NULL: they need none */
    struct {
        pthread_mutex_t lock;
        struct ha_cuda_event *free;
    } events; /* event.h */
    struct {
        pthread_mutex_t lock;
        ha_cu_module module;                 /* NULL: not loaded yet */
        ha_cu_function kernel;               /* of that */
        int refused;                         /* the driver does not take it */
    } strides;                               /* strides.h */
    signed char peer[HA_CUDA_MOST_DEVICES_]; /* 1: reached, -1: not, 0: not known; shared.lock */
    ha_cuda_team team;                       /* for copies of pageable memory */
    _Atomic int lost;                        /* the error after which nothing works any more; 0 */
};

HA_STATE_ struct {
    pthread_mutex_t lock;
    int known; /* the options were set, or read from the environment */
    ha_cuda_settings settings;
    ha_option_text wrong; /* with HARRAY_CUDA */
    int tried, loaded;    /* to load the driver that is named there */
    ha_cuda_text why;     /* there are no devices */
    ha_cuda_device *open[HA_CUDA_MOST_DEVICES_];
    int opened;
} ha_cuda_shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- options, and whether there are devices ---- */

/* Lock held. Reads HARRAY_CUDA unless options are known. */
HA_IN_ void ha_cuda_know_options(void) {
    if (ha_cuda_shared.known) return;
    ha_cuda_shared.wrong.text[0] = '\0';
    if (!ha_cuda_settings_from(getenv("HARRAY_CUDA"), &ha_cuda_shared.settings,
                               &ha_cuda_shared.wrong))
        (void)ha_cuda_settings_from(NULL, &ha_cuda_shared.settings, NULL);
    ha_cuda_shared.known = 1;
}

/* Lock held. */
HA_IN_ void ha_cuda_use_settings(const ha_cuda_settings *settings) {
    if (!ha_cuda_shared.known || strcmp(settings->library, ha_cuda_shared.settings.library) != 0)
        ha_cuda_shared.tried = ha_cuda_shared.loaded = 0;
    ha_cuda_shared.settings = *settings;
    ha_cuda_shared.wrong.text[0] = '\0';
    ha_cuda_shared.known = 1;
}

/* What ha_cuda_configure() does. */
HA_IN_ HA_UNUSED ha_status ha_cuda_set_options(const ha_cuda_options *options) {
    static const ha_cuda_options defaults;
    ha_cuda_settings settings;
    ha_option_text wrong;
    int open;
    if (!ha_cuda_settings_of(options != NULL ? options : &defaults, &settings, &wrong)) {
        ha_backend_report(0, wrong.text);
        return HA_ERR_ARGUMENT;
    }
    pthread_mutex_lock(&ha_cuda_shared.lock);
    open = ha_cuda_shared.opened > 0;
    if (!open) ha_cuda_use_settings(&settings);
    pthread_mutex_unlock(&ha_cuda_shared.lock);
    if (!open) return HA_OK;
    ha_backend_report(0, "cuda: a CUDA device is open already");
    return HA_ERR_STATE;
}

/* Lock held. Nonzero when there is a driver; looks for it once. */
HA_IN_ int ha_cuda_is_loaded(void) {
    ha_cuda_know_options();
    if (ha_cuda_shared.wrong.text[0] != '\0') {
        snprintf(ha_cuda_shared.why.text, sizeof ha_cuda_shared.why.text, "%s",
                 ha_cuda_shared.wrong.text);
        return 0;
    }
    if (!ha_cuda_shared.tried)
        ha_cuda_shared.loaded = ha_cuda_load(ha_cuda_shared.settings.library, &ha_cuda_shared.why);
    ha_cuda_shared.tried = 1;
    return ha_cuda_shared.loaded;
}

/* Lock held. -1: the options are wrong. */
HA_IN_ int ha_cuda_devices(void) {
    int count = 0;
    ha_cu_result code;
    if (!ha_cuda_is_loaded()) return ha_cuda_shared.wrong.text[0] != '\0' ? -1 : 0;
    code = ha_cu.DeviceGetCount(&count);
    if (code != HA_CU_SUCCESS)
        snprintf(ha_cuda_shared.why.text, sizeof ha_cuda_shared.why.text, "%s: %.200s",
                 ha_cuda_names.DeviceGetCount, ha_cuda_describe(&ha_cu, code).text);
    else
        snprintf(ha_cuda_shared.why.text, sizeof ha_cuda_shared.why.text, "%s",
                 count > 0 ? "" : "the driver sees no device");
    if (code != HA_CU_SUCCESS) return 0;
    return count < HA_CUDA_MOST_DEVICES_ ? count : HA_CUDA_MOST_DEVICES_;
}

HA_IN_ int ha_cuda_count(void) {
    int count;
    pthread_mutex_lock(&ha_cuda_shared.lock);
    count = ha_cuda_devices();
    pthread_mutex_unlock(&ha_cuda_shared.lock);
    return count;
}

/* Of the last count. */
HA_IN_ const char *ha_cuda_missing(void) { return ha_cuda_shared.why.text; }

/* ---- errors ---- */

/* Errors after which a context does nothing any more. */
HA_IN_ int ha_cuda_is_final(ha_cu_result code) {
    switch ((int)code) {
    case HA_CU_DEINITIALIZED:
    case HA_CU_INVALID_CONTEXT: /* somebody has reset the device */
    case HA_CU_ECC_UNCORRECTABLE:
    case HA_CU_NVLINK_UNCORRECTABLE:
    case HA_CU_CONTAINED:
    case HA_CU_ILLEGAL_ADDRESS:
    case HA_CU_LAUNCH_TIMEOUT:
    case HA_CU_CONTEXT_IS_DESTROYED:
    case HA_CU_ASSERT:
    case HA_CU_TENSOR_MEMORY_LEAK:
    case HA_CU_MPS_CLIENT_TERMINATED:
    case HA_CU_EXTERNAL_DEVICE:
    case HA_CU_UNKNOWN:
        return 1;
    }
    return (int)code >= HA_CU_HARDWARE_STACK_ERROR && (int)code <= HA_CU_LAUNCH_FAILED;
}

HA_IN_ void ha_cuda_tell(const ha_cuda_device *device, ha_cu_result code, const char *function) {
    char text[240];
    snprintf(text, sizeof text, "cuda:%d: %s: %.180s", device->number, function,
             ha_cuda_describe(&ha_cu, code).text);
    ha_backend_report((int64_t)code, text);
}

/* ---- the context ---- */

/* *pushed: it was another one. */
HA_IN_ ha_cu_result ha_cuda_push_context(const ha_cuda_device *device, int *pushed,
                                         const char **name) {
    ha_cu_context current = NULL;
    ha_cu_result code = ha_cu.CtxGetCurrent(&current);
    *pushed = 0;
    *name = ha_cuda_names.CtxGetCurrent;
    if (code != HA_CU_SUCCESS || current == device->context) return code;
    code = ha_cu.CtxPushCurrent(device->context);
    *name = ha_cuda_names.CtxPushCurrent;
    *pushed = code == HA_CU_SUCCESS;
    return code;
}

HA_IN_ void ha_cuda_pop_context(int pushed) {
    ha_cu_context popped;
    if (pushed) (void)ha_cu.CtxPopCurrent(&popped);
}

/* What the thread had before: its context, its mode for captures. 0: nothing has changed. */
enum { HA_CUDA_PUSHED = 1, HA_CUDA_RELAXED = 2, HA_CUDA_MODE = 4 /* times the mode */ };

HA_IN_ void ha_cuda_leave(int before) {
    ha_cu_capture_mode mode = (ha_cu_capture_mode)(before / HA_CUDA_MODE);
    ha_cuda_pop_context(before & HA_CUDA_PUSHED);
    if (before & HA_CUDA_RELAXED) (void)ha_cu.ThreadExchangeStreamCaptureMode(&mode);
}

/* Makes the device's context current, until ha_cuda_leave(*before), which is not needed after a
 * failure. Tells nothing; *name: the driver's function that failed.
 *
 * While any thread captures a stream, for a graph, allocations and queries would fail, and break what
 * is captured, as that may depend on them. On harray's it never does: so the mode is relaxed. */
HA_IN_ ha_cu_result ha_cuda_push(const ha_cuda_device *device, int *before, const char **name) {
    ha_cu_capture_mode mode = (ha_cu_capture_mode)HA_CU_CAPTURE_RELAXED;
    ha_cu_result code = ha_cu.ThreadExchangeStreamCaptureMode(&mode);
    int pushed;
    *before = 0;
    *name = ha_cuda_names.ThreadExchangeStreamCaptureMode;
    if (code != HA_CU_SUCCESS) return code;
    code = ha_cuda_push_context(device, &pushed, name);
    *before = pushed + HA_CUDA_RELAXED + HA_CUDA_MODE * (int)mode;
    if (code == HA_CU_SUCCESS) return code;
    ha_cuda_leave(*before);
    *before = 0;
    return code;
}

/* For what cannot fail: so it is tried again. */
HA_IN_ void ha_cuda_enter_quietly(const ha_cuda_device *device, int *pushed) {
    const char *name;
    if (ha_cuda_push(device, pushed, &name) != HA_CU_SUCCESS)
        (void)ha_cuda_push(device, pushed, &name);
}

/* ---- the status of calls ---- */

/* Whether an error means that the device has failed for good. It may be another device that has,
 * whose memory or event was used; so this one is asked, too. */
HA_IN_ int ha_cuda_has_failed(ha_cuda_device *device, ha_cu_result code) {
    const char *name;
    int pushed;
    ha_cu_result own;
    if (!ha_cuda_is_final(code)) return 0;
    own = ha_cuda_push(device, &pushed, &name);
    if (own == HA_CU_SUCCESS) own = ha_cu.StreamQuery(HA_CU_STREAM_LEGACY_);
    ha_cuda_leave(pushed);
    if (!ha_cuda_is_final(own)) return 0;
    atomic_store(&device->lost, (int)own);
    return 1;
}

/* The status of a driver's call for a queue; tells what failed. */
HA_IN_ ha_status ha_cuda_check(ha_cuda_device *device, ha_cu_result code, const char *function) {
    if (code == HA_CU_SUCCESS) return HA_OK;
    ha_cuda_tell(device, code, function);
    if (ha_cuda_has_failed(device, code)) return HA_ERR_LOST;
    if (code == HA_CU_OUT_OF_MEMORY) return HA_ERR_MEMORY;
    return code == HA_CU_NOT_SUPPORTED ? HA_ERR_UNSUPPORTED : HA_ERR_BACKEND;
}

/* Calls a function of the driver: HA_CUDA_TRY_(device, MemFree, pointer). */
#define HA_CUDA_TRY_(device, field, ...)                                                           \
    ha_cuda_check(device, ha_cu.field(__VA_ARGS__), ha_cuda_names.field)

/* Only queues are lost. */
HA_IN_ ha_status ha_cuda_not_lost(ha_status status) {
    return status == HA_ERR_LOST ? HA_ERR_BACKEND : status;
}

/* HA_ERR_LOST when the device has failed before. */
HA_IN_ ha_status ha_cuda_alive(ha_cuda_device *device) {
    int code = atomic_load(&device->lost);
    if (code == 0) return HA_OK;
    ha_cuda_tell(device, (ha_cu_result)code, "the device failed earlier");
    return HA_ERR_LOST;
}

/* The beginning of what needs the context, and can fail. */
HA_IN_ ha_status ha_cuda_enter(ha_cuda_device *device, int *pushed) {
    const char *name;
    ha_cu_result code = ha_cuda_push(device, pushed, &name);
    return ha_cuda_check(device, code, name);
}

#endif
