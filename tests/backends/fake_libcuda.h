/* A CUDA driver for tests without a GPU: what tests can tell it, and ask it.
 *
 * fake_libcuda.so has the functions of backends/cuda/driver.h. It behaves as the driver does where a
 * program could get that wrong: device memory faults when the host touches it, streams run on threads
 * of their own, pageable memory is copied when the driver copies it. Where the driver's behaviour is
 * undefined, it says what was done wrong, and aborts.
 *
 * Options are read by cuInit from FAKE_CUDA="devices=2,capacity=1G,delay=100us,seed=7,peers=0,
 * version=13000,stub=0,integrated=0,pools=1"; those are the defaults but for delay (0), seed (1) and
 * peers (1). Tests get the control interface by dlopen(path, RTLD_NOLOAD) and
 * dlsym(…, "fake_cuda_control"). It never fails: what it is not asked for properly is misuse, too. */
#ifndef HARRAY_TESTS_BACKENDS_FAKE_LIBCUDA_H
#define HARRAY_TESTS_BACKENDS_FAKE_LIBCUDA_H

#include "../../backends/cuda/driver.h"

enum { FAKE_CUDA_MOST_DEVICES = 8 };

/* What a kernel sees. The bytes of a device pointer are at fake_cuda_here(launch, pointer). */
typedef struct fake_cuda_launch {
    ha_queue own, peers[FAKE_CUDA_MOST_DEVICES]; /* memories that it reaches; others: bytes = 0 */
    unsigned grid[3], block[3], shared_bytes;
    const char *name; /* of the kernel; until the driver is reset */
} fake_cuda_launch;

typedef void (*fake_cuda_body)(void **parameters, const fake_cuda_launch *launch);

/* Says of a kernel what its body is, and the sizes of its parameters, for which there is room; returns how many it has, or -1:
 * there is none of this name. It must not call the fake, which is locked. */
enum { FAKE_CUDA_MOST_SIZES = 500 };
typedef int fake_cuda_finder(const char *name, fake_cuda_body *body, size_t *sizes);

static inline void *fake_cuda_here(const fake_cuda_launch *launch, const void *pointer) {
    const uintptr_t at = (uintptr_t)pointer;
    if (at - launch->own.first < launch->own.bytes) return (void *)(at + launch->own.shift);
    for (int i = 0; i < FAKE_CUDA_MOST_DEVICES; i++) {
        const ha_queue *peer = &launch->peers[i];
        if (at - peer->first < peer->bytes) return (void *)(at + peer->shift);
    }
    return (void *)at; /* the host's, pinned or managed */
}

/* What is there now. */
typedef struct fake_cuda_statistics {
    size_t contexts;                       /* primary contexts, each as often as it is retained */
    size_t blocks, bytes, pinned, managed; /* of device memory; blocks of host memory */
    size_t streams, events, modules;
    size_t leaked; /* of all these: those that were there when their context ended */

    /* Copies between devices so far: those that went directly, and those that the driver had to
     * send through the host. */
    uint64_t peer_copies, staged_copies;
} fake_cuda_statistics;

typedef struct fake_cuda_call {
    const char *function; /* "cuMemAlloc_v2"; NULL: there was no such call, or it is forgotten */
    ha_cu_stream stream;  /* its argument; NULL where it has none */
} fake_cuda_call;

typedef struct fake_cuda {
    size_t bytes; /* sizeof(fake_cuda) */

    /* Options for the next cuInit, as in the environment; NULL: those from there. Nothing is
     * initialised until then. Misuse while a context is retained. */
    void (*configure)(const char *options);

    /* Ends everything, held streams included, as if the library had just been loaded. Nobody may be
     * inside a call. */
    void (*reset)(void);

    /* From now on every call gives CUDA_ERROR_DEINITIALIZED, as when the driver's exit handler ran. */
    void (*deinitialize)(void);

    /* What cuDeviceGetAttribute says from now on, until the next initialisation. */
    void (*set_attribute)(int device, int attribute, int value);

    /* Makes a kernel known to cuModuleGetFunction, with the sizes of its parameters. */
    void (*register_kernel)(const char *name, fake_cuda_body body, size_t count,
                            const size_t *sizes);

    /* The nth call from now (1: the next one) of a function, "cuMemAlloc_v2", or of any (NULL), does
     * nothing and gives the code; nonzero `forever`: those behind it, too. There is one such order at
     * a time; fail_never() takes it back. */
    void (*fail_call)(const char *function, uint64_t nth, int code, int forever);
    void (*fail_never)(void);

    /* From now on somebody is asked at each call, with the device whose context is current, or -1. What
     * is not 0 is the code that the call gives, having done nothing; 700 fails that context as
     * fail_stream() does. It must not call the fake, which is locked. NULL: nobody. */
    void (*ask)(int (*asked)(void *user, const char *function, int device), void *user);

    /* Late failure: what the stream's context has not started yet never happens, and calls give 700
     * (CUDA_ERROR_ILLEGAL_ADDRESS) until that context has ended; each when what ran there has ended. */
    void (*fail_stream)(ha_cu_stream stream);

    /* Stops a stream before its next command (copies, memsets, kernels, functions, waits for events;
     * records happen on a held stream, too), and lets so many more run; negative: all. NULL is the
     * legacy stream of the current context, or of device 0. */
    void (*hold)(ha_cu_stream stream);
    void (*step)(ha_cu_stream stream, int64_t commands);

    /* How often a function was called (NULL: all of them), failing calls included; and the call with
     * this number (0: the first). The last 65,536 are remembered. */
    uint64_t (*calls)(const char *function);
    fake_cuda_call (*call)(uint64_t number);

    fake_cuda_statistics (*statistics)(void);

    /* Where the bytes of a pointer into device memory are; other pointers as they are. */
    void *(*look)(const void *pointer);

    /* Nonzero: from now on another thread captures a stream, in the global mode. 0: it does not any
     * more; nonzero when no call has broken that. */
    int (*capture)(int begins);

    /* Memory of the caller's is pinned by device 0, as by cuMemHostRegister; 0 bytes: not any more. */
    void (*pin)(void *memory, size_t bytes);

    /* From now on, until reset, somebody is asked for those kernels that are not known: once each. NULL: nobody. */
    void (*find_kernels)(fake_cuda_finder *find);
} fake_cuda;

/* The library's only function besides the driver's. */
typedef const fake_cuda *fake_cuda_get_control(void);

#endif
