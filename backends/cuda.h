/* NVIDIA GPUs, as harray/cuda.h promises them, by the driver alone.
 *
 *     cuda_driver.h     the driver's functions
 *     cuda_options.h    defaults, limits, HARRAY_CUDA
 *     cuda_load.h       finding the driver
 *     cuda_device.h     what devices share, errors, the primary context
 *     cuda_slab.h       blocks, from slabs
 *     cuda_memory.h     memories, paths between them, pointers
 *     cuda_foreign.h    what a queue waits for on other devices
 *     cuda_event.h      events, from a pool
 *     cuda_team.h       threads that share large copies on the host
 *     cuda_task.h       functions that the driver runs on the host
 *     cuda_queue.h      streams: making, ending, ordering, draining
 *     cuda_pieces.h     equally spaced pieces, as the driver takes them; batches
 *     cuda_pageable.h   copies from and to memory that the driver does not know
 *     cuda_strides.h    strided copies, by a kernel: cuda_strides_kernel.h, cuda_strides_ptx.h
 *     cuda_commands.h   what is enqueued
 *     cuda_open.h       opening and closing
 *
 * It installs nothing global; once loaded, the driver stays. */
#ifndef HARRAY_BACKEND_CUDA_H
#define HARRAY_BACKEND_CUDA_H

#include "backend.h"
#include "cuda_commands.h"
#include "cuda_memory.h"
#include "cuda_open.h"

static const ha_backend ha_backend_cuda HA_UNUSED = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "cuda",
    .count = ha_cuda_count,
    .open = ha_cuda_open,
    .close = ha_cuda_close,
    .memory = &ha_cuda_memory_ops,
    .queue = &ha_cuda_queue_ops,
    .pinned = &ha_cuda_pinned_ops,
    .zero_copy = ha_cuda_zero_copy,
    .maps = ha_cuda_maps,
    .missing = ha_cuda_missing,
};

#endif
