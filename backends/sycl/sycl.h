/* SYCL devices, by the C interface of dpctl: contexts "sycl:0", "sycl:1", … of those that have USM of their own, in
 * dpctl's order, and behind these of contexts that callers' queues are in. They are taken only if they are named.
 *
 *     load.h       the functions, and finding the library
 *     find.h       which devices there are
 *     device.h     devices and their memory
 *     queue.h      queues and events
 *     log.h        what the compiler says
 *     program.h    programs and their kernels
 *
 * Built in where HARRAY_WITH_SYCL is defined, as in the library of the Python package. */
#ifndef HARRAY_BACKENDS_SYCL_SYCL_H
#define HARRAY_BACKENDS_SYCL_SYCL_H

/* Of programs that only see it, all warnings have been given where it was compiled (tests/support/linked.h). */
#ifdef HA_INSIDE_IS_LINKED_
#pragma GCC system_header
#endif

#include "program.h"

static const ha_queue_ops ha_sycl_queue_ops = {
    .bytes = sizeof(ha_queue_ops),
    .version = HA_BACKEND_VERSION,
    .create = ha_sycl_create,
    .destroy = ha_sycl_destroy,
    .copy = ha_sycl_copy,
    .call = ha_sycl_call,
    .record = ha_sycl_record,
    .await = ha_sycl_await,
    .finish = ha_sycl_finish,
    .done = ha_sycl_done,
    .drain = ha_sycl_drain,
    .forget = ha_sycl_forget,
    .native = ha_sycl_native,
    .adopt = ha_sycl_adopt_queue,
    .launch = ha_sycl_launch,
};

HA_STATE_ const ha_backend ha_backend_sycl HA_UNUSED = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "sycl",
    .only_if_named = 1,
    .count = ha_sycl_count,
    .open = ha_sycl_open,
    .close = ha_sycl_close,
    .memory = &ha_sycl_memory_ops,
    .queue = &ha_sycl_queue_ops,
    .pinned = &ha_sycl_pinned_ops,
    .managed = &ha_sycl_managed_ops,
    .missing = ha_sycl_missing,
    .describe = ha_sycl_describe,
    .language = ha_sycl_language,
    .target = ha_sycl_target,
    .build = ha_sycl_build,
    .discard = ha_sycl_discard,
    .kernel = ha_sycl_find_kernel,
    .has_double = ha_sycl_has_double,
    .limits = ha_sycl_limits,
    .has_long_atomics = ha_sycl_has_long_atomics,
};

#endif
