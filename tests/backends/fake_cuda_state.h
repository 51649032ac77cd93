/* The fake driver: its state, and what every call begins with. There is one lock for everything, so
 * that calls from several threads take effect one after the other, as the driver's do. */
#ifndef HARRAY_TESTS_BACKENDS_FAKE_CUDA_STATE_H
#define HARRAY_TESTS_BACKENDS_FAKE_CUDA_STATE_H

#include "fake_libcuda.h"
#include "fake_cuda_options.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FAKE_LOG = 65536,
    FAKE_STACK = 64,             /* of current contexts */
    FAKE_PEER_UNSUPPORTED = 217, /* CUDA_ERROR_PEER_ACCESS_UNSUPPORTED */
    FAKE_ATTRIBUTES = 160
};

#define FAKE_EXPORT __attribute__((visibility("default")))

/* The prototypes: a definition with another signature does not compile. */
#define FAKE_PROTOTYPE(field, symbol, parameters, required, since, hip)                            \
    FAKE_EXPORT ha_cu_result symbol parameters;
HA_CUDA_FUNCTIONS_(FAKE_PROTOTYPE)
#undef FAKE_PROTOTYPE

enum {
#define FAKE_NUMBER(field, symbol, parameters, required, since, hip) FAKE_##field,
    HA_CUDA_FUNCTIONS_(FAKE_NUMBER)
#undef FAKE_NUMBER
        FAKE_FUNCTIONS
};

static const char *const fake_names[] = {
#define FAKE_NAME(field, symbol, parameters, required, since, hip) #symbol,
    HA_CUDA_FUNCTIONS_(FAKE_NAME)
#undef FAKE_NAME
};

/* ---- what there is ---- */

typedef enum fake_kind { FAKE_DEVICE, FAKE_POOL, FAKE_PINNED, FAKE_MANAGED } fake_kind;

typedef struct fake_block {
    struct fake_block *next; /* on the device by address; otherwise in any order */
    fake_kind kind;
    ha_cu_context context;
    uintptr_t first;
    size_t bytes, taken; /* as asked for; as rounded up */
    size_t uses;         /* by commands that have not ended */
    int unborn;          /* its cuMemAllocAsync has not happened yet */
    int freeing;         /* its cuMemFreeAsync was called */
    int callers;         /* pinned memory that is not the driver's */
    int elsewhere;       /* it has another address on the device */
    int dead;            /* freed after its context failed: nobody gets it again until that ended */
} fake_block;

struct CUmemPoolHandle_st {
    uint64_t threshold;
};

/* A primary context; there is one for each device. */
struct CUctx_st {
    int device;
    unsigned retained;
    ha_cu_result failure;                  /* of everything in it, once something failed late */
    int may_reach[FAKE_CUDA_MOST_DEVICES]; /* cuCtxEnablePeerAccess */
    ha_cu_stream legacy;                   /* its default stream; NULL: not used yet */
    struct CUmemPoolHandle_st pool;
};

struct CUmod_st {
    ha_cu_module next;
    ha_cu_context context;
    ha_cu_function functions;
    int has_strides; /* its image names harray's kernel */
    char *text;      /* PTX with kernels of users; NULL: none */
};

typedef struct fake_device {
    struct CUctx_st context;
    void *mapping;
    size_t mapped;
    ha_queue here; /* the half that users see, and the way to the bytes */
    fake_block *blocks;
    size_t used;
    int overridden[FAKE_ATTRIBUTES], attributes[FAKE_ATTRIBUTES];
} fake_device;

struct fake_command;

typedef struct fake_kernel {
    struct fake_kernel *next;
    char *name;
    fake_cuda_body body;
    void (*check)(struct fake_command *command, ha_cu_stream stream, void **parameters,
                  const fake_cuda_launch *launch); /* NULL: nothing is known of its parameters */
    size_t count, *sizes;
} fake_kernel;

typedef enum fake_phase { FAKE_UNKNOWN, FAKE_READY, FAKE_GONE } fake_phase;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t progress; /* a command has ended, or a context has failed */
    _Atomic pid_t process;   /* that called cuInit; 0: none has */
    fake_phase phase;
    int known; /* the options are */
    fake_options options;
    uint64_t generation; /* of everything: thread-local stacks of an older one are empty */
    fake_device devices[FAKE_CUDA_MOST_DEVICES];
    fake_block *host; /* pinned and managed blocks */
    ha_cu_stream streams;
    ha_cu_event events;
    ha_cu_module modules;
    fake_kernel *kernels;
    fake_cuda_finder *find; /* those that are not among them */
    uint64_t streams_made;  /* for the seeds of their delays */
    int capturing, broken;  /* another thread captures a stream; that was ended by a call */
    fake_cuda_statistics statistics;

    uint64_t counts[FAKE_FUNCTIONS + 1]; /* the last one: of all */
    fake_cuda_call log[FAKE_LOG];
    struct {
        int function, code, forever; /* FAKE_FUNCTIONS: any; code 0: nothing fails */
        uint64_t left;
    } fault;
    int (*asked)(void *user, const char *function, int device);
    void *asked_user;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .progress = PTHREAD_COND_INITIALIZER};

static _Thread_local struct {
    uint64_t generation;
    int depth;
    ha_cu_context stack[FAKE_STACK];
    int in_host_function;
    ha_cu_capture_mode capture_mode;
    const char *function; /* the last one that was called, for messages */
} fake_thread;

/* ---- misuse ---- */

__attribute__((format(printf, 1, 2))) _Noreturn static void fake_misuse(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "fake CUDA: %s: ", fake_thread.function ? fake_thread.function : "control");
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

static void *fake_make(size_t bytes) {
    void *made = calloc(1, bytes);
    if (made == NULL) fake_misuse("no memory left for the fake itself");
    return made;
}

/* ---- the beginning and the end of a call ---- */

/* Options are read once, and again after fake_configure(). */
static void fake_know_options(void) {
    const char *text = getenv("FAKE_CUDA"), *wrong;
    if (fake.known) return;
    fake.options = fake_default_options;
    wrong = fake_read_options(text ? text : "", &fake.options);
    if (wrong) fake_misuse("what is \"%s\" in FAKE_CUDA?", wrong);
    fake.known = 1;
}

static void fake_note_call(int function, ha_cu_stream stream) {
    uint64_t number = fake.counts[FAKE_FUNCTIONS]++;
    fake.counts[function]++;
    fake.log[number % FAKE_LOG] = (fake_cuda_call){fake_names[function], stream};
}

/* The code that was ordered for this call; 0: it may go on. */
static ha_cu_result fake_injected(int function) {
    if (fake.fault.code == 0) return HA_CU_SUCCESS;
    if (fake.fault.function != FAKE_FUNCTIONS && fake.fault.function != function)
        return HA_CU_SUCCESS;
    if (fake.fault.left > 1) {
        fake.fault.left--;
        return HA_CU_SUCCESS;
    }
    const ha_cu_result code = fake.fault.code;
    if (!fake.fault.forever) fake.fault.code = 0;
    return code;
}

/* The context that is current to the calling thread; NULL: none is. */
static ha_cu_context fake_current(void) {
    if (fake_thread.generation != fake.generation) {
        fake_thread.generation = fake.generation;
        fake_thread.depth = 0;
        fake_thread.capture_mode = (ha_cu_capture_mode)0;
    }
    return fake_thread.depth ? fake_thread.stack[fake_thread.depth - 1] : NULL;
}

/* fake_cuda_stream.h */
static void fake_stop_context(ha_cu_context context, ha_cu_result failure);
static ha_cu_result fake_failure(ha_cu_context context);

/* What the test that is asked says. */
static ha_cu_result fake_asked(int function) {
    const ha_cu_context current = fake_current();
    int code = 0;
    if (fake.asked != NULL)
        code = fake.asked(fake.asked_user, fake_names[function], current ? current->device : -1);
    if (code == HA_CU_ILLEGAL_ADDRESS && current != NULL)
        fake_stop_context(current, (ha_cu_result)code);
    return (ha_cu_result)code;
}

/* What a call cannot do without. */
typedef enum fake_need {
    FAKE_NOTHING,     /* works before cuInit, and in functions on the host */
    FAKE_TO_BE_FIRST, /* cuInit */
    FAKE_INITIALISED,
    FAKE_CURRENT, /* a context, which may have failed */
    FAKE_SOUND    /* a context that has not failed */
} fake_need;

static ha_cu_result fake_admit(fake_need need) {
    if (fake.phase == FAKE_GONE) return HA_CU_DEINITIALIZED;
    if (fake.options.stub) return HA_CU_STUB_LIBRARY;
    if (need == FAKE_NOTHING) return HA_CU_SUCCESS;
    if (fake_thread.in_host_function) return HA_CU_NOT_PERMITTED;
    if (need == FAKE_TO_BE_FIRST) return HA_CU_SUCCESS;
    if (fake.phase != FAKE_READY) return HA_CU_NOT_INITIALIZED;
    if (need == FAKE_INITIALISED) return HA_CU_SUCCESS;
    if (fake_current() == NULL) return HA_CU_INVALID_CONTEXT;
    if (fake_current()->retained == 0) return HA_CU_CONTEXT_IS_DESTROYED;
    return need == FAKE_SOUND ? fake_failure(fake_current()) : HA_CU_SUCCESS;
}

/* What a capture cannot see: it might depend on that. */
static int fake_is_unsafe(int function) {
    switch (function) {
    case FAKE_MemAlloc:
    case FAKE_MemFree:
    case FAKE_MemHostAlloc:
    case FAKE_MemFreeHost:
    case FAKE_MemAllocManaged:
    case FAKE_StreamQuery:
    case FAKE_StreamSynchronize:
    case FAKE_EventQuery:
    case FAKE_EventSynchronize:
        return 1;
    default:
        return 0;
    }
}

/* Only the threads that say so may do it while any thread captures a stream. */
static ha_cu_result fake_keep_capture(int function) {
    (void)fake_current(); /* forgets an old mode */
    if (!fake.capturing || fake_thread.capture_mode != 0 || !fake_is_unsafe(function))
        return HA_CU_SUCCESS;
    fake.broken = 1;
    return HA_CU_STREAM_CAPTURE_UNSUPPORTED;
}

/* The lock is held when this has succeeded. A child of fork has no driver, and perhaps a lock that
 * nobody will ever let go. */
static ha_cu_result fake_begin(int function, ha_cu_stream stream, fake_need need) {
    const pid_t process = atomic_load(&fake.process);
    ha_cu_result result;
    fake_thread.function = fake_names[function];
    if (process != 0 && process != getpid()) return HA_CU_NOT_INITIALIZED;
    pthread_mutex_lock(&fake.lock);
    fake_know_options();
    fake_note_call(function, stream);
    result = fake_injected(function);
    if (result == HA_CU_SUCCESS) result = fake_asked(function);
    if (result == HA_CU_SUCCESS) result = fake_admit(need);
    if (result == HA_CU_SUCCESS) result = fake_keep_capture(function);
    if (result != HA_CU_SUCCESS) pthread_mutex_unlock(&fake.lock);
    return result;
}

#define FAKE_BEGIN(field, stream, need)                                                            \
    do {                                                                                           \
        const ha_cu_result begun_ = fake_begin(FAKE_##field, stream, need);                        \
        if (begun_ != HA_CU_SUCCESS) return begun_;                                                \
    } while (0)

static ha_cu_result fake_end(ha_cu_result result) {
    pthread_mutex_unlock(&fake.lock);
    return result;
}

#endif
