/* NVIDIA GPUs: contexts "cuda:0", "cuda:1", … The driver is looked for when the program runs, so the
 * same binary works without one; nothing of the CUDA toolkit is needed to compile or to link.
 *
 *     ha_context *gpu = ha_context_find("cuda:0"); // check it: NULL would be the host, and its
 *     if (!gpu) …                                  // HA_STREAM the default stream
 *     HA_WRITING(v, x, gpu) scale<<<grid, block, 0, HA_STREAM(v)>>>(v.data, v.size, 2.0);
 *
 * Kernels, cuBLAS, CuPy and PyTorch can use the pointers: harray works in the device's primary
 * context, as the CUDA runtime does, and never resets it. Device numbers are the driver's, which
 * CUDA_VISIBLE_DEVICES chooses. With several GPUs, the device of the stream has to be the current
 * one where a kernel is launched (cudaSetDevice(ha_context_number(v.context))), and harray enables
 * peer access between them, which is not to be disabled (enabling it again gives
 * cudaErrorPeerAccessAlreadyEnabled).
 *
 * Streams. Each context has a stream of its own, which does not wait for the legacy default stream,
 * nor that one for it (CU_STREAM_NON_BLOCKING). So work launched without a stream (k<<<g, b>>>, or
 * a library that was not told one) is not ordered with accesses on "cuda:0": launch it on HA_STREAM,
 * or make the default stream a context: ha_context_adopt(gpu, NULL). (NULL and cudaStreamLegacy are
 * the same stream, however the file was compiled. The per-thread default stream is another one in
 * each thread, so it is refused.)
 *
 * Functions for the host (ha_enqueue) cannot touch device memory: HA_ERR_UNSUPPORTED, except with
 * managed memory, where they run on a thread of the driver, one after the other. They must not call
 * CUDA, nor wait for what another function does, nor for a lock that is held in a call of harray or
 * CUDA: that may be waiting for them.
 *
 * Graphs. All threads may use harray while a stream of yours is captured. What is captured on
 * HA_STREAM is captured between open and close, while nobody else uses that context; the graph has
 * the addresses of those accesses, and is launched while accesses with the same are open.
 *
 * cudaDeviceReset (cuDevicePrimaryCtxReset) takes harray's memory and streams away, too: after
 * ha_shutdown only. */
#ifndef HARRAY_CUDA_H
#define HARRAY_CUDA_H

#include "access.h"

/* Where the memory of CUDA contexts comes from. */
typedef enum ha_cuda_memory {
    HA_CUDA_DEVICE = 0, /* cuMemAlloc: works with everything, IPC and GPU-aware MPI, too */
    HA_CUDA_MANAGED,    /* cuMemAllocManaged: host functions and debuggers reach it, too; the driver
                           moves its pages. No block is larger than the device's memory */
    HA_CUDA_ASYNC       /* cuMemAllocAsync, from the device's default pool: shared with others in
                           this process that use it. Not for IPC. Driver 11.2 or later */
} ha_cuda_memory;

/* Zero in a field means its default. */
typedef struct ha_cuda_options {
    ha_cuda_memory memory;
    size_t slab;         /* bytes that are asked of the driver at once for small blocks (those up to
                            an eighth of it share slabs); default 32 MiB */
    const char *library; /* the driver; default "libcuda.so.1". Copied; up to 200 characters */
    const char *nvrtc; /* the compiler for kernels; default libnvrtc.so.13, .12 or .11.2, the first
                            that there is. Copied; up to 200 characters */
    int copy_threads;  /* that may share a copy between a device and memory that is not pinned: 2
                            to 64, with the driver's own, so that one fewer is made; 1: none is.
                            Default: half of the processors that the thread which opens the device
                            may use, 8 at most. Made for each device when the first such copy of
                            4 MiB or more is enqueued, never before; they sleep when there is none,
                            and ha_shutdown ends them. Each stream that copies such memory keeps 16
                            MiB of pinned memory, 8 MiB where there are no threads */
} ha_cuda_options;

/* Sets the options for CUDA devices opened later; NULL sets the defaults. Without a call they come
 * from the environment: HARRAY_CUDA="memory=managed,slab=64M,library=/opt/lib/libcuda.so.1" (keys
 * are named as the fields); K, M and G are powers of 1024; what is wrong in it is told when a device
 * is looked for, also by ha_context_best, and there are no devices. HA_ERR_STATE when a CUDA device
 * is open already (ha_shutdown closes them), HA_ERR_ARGUMENT when a field is out of range: slabs have
 * 1 MiB to 16 GiB. */
HA_API HA_MUST_CHECK ha_status ha_cuda_configure(const ha_cuda_options *options);

/* As ha_run_with (access.h), for a kernel of yours: `function` is a CUfunction of the device's primary context (of a
 * __global__ function, cudaGetFuncBySymbol gives it), whose only parameter is the struct, by value. It gets the
 * device's own pointers. Zero in a field of the grid is 1, but for shared_bytes.
 *
 *     ha_cuda_grid grid = {.blocks = {(n + 255) / 256}, .threads = {256}};
 *     HA_CHECK(ha_cuda_launch_with(gpu, triad_kernel, &grid, t, HA_USE(x, x, HA_OVERWRITE), …));
 *
 * HA_ERR_UNSUPPORTED when the context is of no CUDA device; HA_ERR_BACKEND and HA_ERR_MEMORY when the driver does
 * not take the launch: then nothing has been changed. */
typedef struct ha_cuda_grid {
    unsigned blocks[3], threads[3]; /* x, y, z */
    unsigned shared_bytes;          /* dynamic shared memory of a block */
} ha_cuda_grid;

struct CUfunc_st;
#define ha_cuda_launch_with(context, function, grid, argument, ...)                                \
    __extension__({                                                                                \
        __typeof__(argument) *const ha_given_ = &(argument);                                       \
        const ha_use ha_use_[] = {__VA_ARGS__};                                                    \
        ha_cuda_launch_with_(context, function, grid, ha_given_, sizeof *ha_given_, ha_use_,       \
                             sizeof ha_use_ / sizeof *ha_use_, #function, HA_SITE);                \
    })
HA_API ha_status ha_cuda_launch_with_(ha_context *context, struct CUfunc_st *function,
                                      const ha_cuda_grid *grid, const void *argument, size_t bytes,
                                      const ha_use *uses, size_t count, const char *name,
                                      const char *site);

/* The stream of an access, for launches: a cudaStream_t or CUstream. */
#define HA_STREAM(access) HA_CAST_(struct CUstream_st *, ha_context_stream((access).context))

#endif
