/* The simulated device, as harray/sim.h promises it: a discrete device without a GPU.
 *
 *     options.h         defaults, limits, HARRAY_SIM
 *     common/arena.h    the allocator: which parts of a device's memory are free
 *     device.h          the memory that faults when the host touches it; opening and closing
 *     pinned.h          host memory that belongs to a device; what a pointer is
 *     pace.h            pauses and slow copies
 *     queue.h           commands and the threads that run them; events; holding; failing
 *
 * It installs nothing global: no signal handler, nothing at fork or exit. */
#ifndef HARRAY_BACKENDS_SIM_SIM_H
#define HARRAY_BACKENDS_SIM_SIM_H

/* Of programs that only see it, all warnings have been given where it was compiled (tests/support/linked.h). */
#ifdef HA_INSIDE_IS_LINKED_
#pragma GCC system_header
#endif

#include "../backend.h"
#include "device.h"
#include "pinned.h"
#include "queue.h"

HA_STATE_ const ha_backend ha_backend_sim HA_UNUSED = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "sim",
    .only_if_named = 1,
    .count = ha_sim_count,
    .open = ha_sim_open,
    .close = ha_sim_close,
    .memory = &ha_sim_memory_ops,
    .queue = &ha_sim_queue_ops,
    .pinned = &ha_sim_pinned_ops,
    .managed = &ha_sim_managed_ops,
    .zero_copy = ha_sim_zero_copy,
    .strict = ha_sim_strict,
};

#endif
