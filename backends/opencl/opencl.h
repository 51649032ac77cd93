/* OpenCL devices: contexts "opencl:0", "opencl:1", … over all platforms, in the order of the loader.
 *
 *     api.h        the functions and numbers of OpenCL
 *     options.h    HARRAY_OPENCL
 *     load.h       finding OpenCL, its platforms and devices
 *     device.h     what a device is, errors
 *     memory.h     blocks, and the addresses that stand for them
 *     queue.h      queues: making, ending, ordering, draining
 *     program.h    programs and their kernels
 *     commands.h   what is enqueued
 *     open.h       opening and closing
 *     users.h      the buffers behind pointers, for users' own kernels
 *
 * It installs nothing global; once loaded, the drivers stay. */
#ifndef HARRAY_BACKENDS_OPENCL_OPENCL_H
#define HARRAY_BACKENDS_OPENCL_OPENCL_H

/* Of programs that only see it, all warnings have been given where it was compiled (tests/support/linked.h). */
#ifdef HA_INSIDE_IS_LINKED_
#pragma GCC system_header
#endif

#include "users.h"

HA_STATE_ const ha_backend ha_backend_opencl HA_UNUSED = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "opencl",
    .count = ha_opencl_count,
    .open = ha_opencl_open,
    .close = ha_opencl_close,
    .memory = &ha_opencl_memory_ops,
    .queue = &ha_opencl_queue_ops,
    .managed = &ha_opencl_managed_ops,
    .missing = ha_opencl_missing,
    .best = ha_opencl_best,
    .describe = ha_opencl_describe,
    .language = ha_opencl_language,
    .target = ha_opencl_target,
    .build = ha_opencl_build,
    .discard = ha_opencl_discard,
    .kernel = ha_opencl_find_kernel,
    .has_double = ha_opencl_has_double,
    .limits = ha_opencl_limits,
    .has_long_atomics = ha_opencl_has_long_atomics,
};

#endif
