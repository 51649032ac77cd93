/* NVIDIA GPUs, as harray/cuda.h promises them, by the driver alone.
 *
 *     driver.h          the driver's functions
 *     options.h         defaults, limits, HARRAY_CUDA
 *     load.h            finding the driver
 *     device.h          what devices share, errors, the primary context
 *     slab.h            blocks, from slabs
 *     memory.h          memories, paths between them, pointers
 *     peers.h           what a queue waits for on other devices
 *     event.h           events, from a pool
 *     copy_threads.h    threads that share large copies on the host
 *     task.h            functions that the driver runs on the host
 *     queue.h           streams: making, ending, ordering, draining
 *     pieces.h          pitched copies, as the driver takes them; batches
 *     pageable.h        copies from and to memory that the driver does not know
 *     strides.h         copies of small pieces, by a kernel: strides_kernel.h, strides_ptx.h
 *     nvrtc.h           finding the compiler
 *     program.h         compiling kernels, and launching them
 *     commands.h        what is enqueued
 *     open.h            opening and closing
 *
 * It installs nothing global; once loaded, the driver stays. */
#ifndef HARRAY_BACKENDS_CUDA_CUDA_H
#define HARRAY_BACKENDS_CUDA_CUDA_H

/* Of programs that only see it, all warnings have been given where it was compiled (tests/support/linked.h). */
#ifdef HA_INSIDE_IS_LINKED_
#pragma GCC system_header
#endif

#include "../backend.h"
#include "commands.h"
#include "memory.h"
#include "open.h"

HA_STATE_ const ha_backend ha_backend_cuda HA_UNUSED = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "cuda",
    .count = ha_cuda_count,
    .open = ha_cuda_open,
    .close = ha_cuda_close,
    .memory = &ha_cuda_memory_ops,
    .queue = &ha_cuda_queue_ops,
    .pinned = &ha_cuda_pinned_ops,
    .managed = &ha_cuda_managed_ops,
    .zero_copy = ha_cuda_zero_copy,
    .maps = ha_cuda_maps,
    .missing = ha_cuda_missing,
    .describe = ha_cuda_describe_device,
    .language = ha_cuda_language,
    .target = ha_cuda_target,
    .build = ha_cuda_build,
    .discard = ha_cuda_discard,
    .kernel = ha_cuda_find_kernel,
    .limits = ha_cuda_limits,
    .compiles_for = ha_cuda_compiles_for,
    .compile = ha_cuda_compile,
};

#endif
