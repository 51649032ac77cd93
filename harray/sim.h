/* The simulated device: contexts "sim:0", "sim:1", … for debugging and testing without a GPU.
 *
 * It behaves like a discrete GPU where that matters. Its memory is its own: touching it from the
 * host faults, and a system call on it gets EFAULT. Its queues run on threads of their own. With a
 * delay set, each command starts after a random pause, so that a missing wait shows as a wrong
 * value. Functions given to ha_enqueue run there, and reach the data through HA_HERE. */
#ifndef HARRAY_SIM_H
#define HARRAY_SIM_H

#include "context.h"

/* Zero in a field means its default. */
typedef struct ha_sim_options {
    int devices;         /* how many; default 2 */
    size_t capacity;     /* bytes of memory of each device; default 1 GiB, of address space
                            only until it is used */
    uint64_t bandwidth;  /* bytes per second of a copy from or to the device; default: as
                            fast as this machine copies */
    uint64_t latency_ns; /* before each command */
    uint64_t delay_ns;   /* a random pause of up to this long before each command */
    uint64_t seed;       /* of these pauses; default 1 */
    int peers;           /* nonzero: devices copy to each other directly, not by the host */
    int unified;         /* nonzero: the devices work on host memory, and their contexts are
                            zero-copy unless that is switched off */
    int strides; /* nonzero: the devices put values of record arrays into their places, as GPUs
                            do; else the host converts them */
    int strict; /* nonzero: functions reach only what the accesses cover that are open when they are
                            enqueued, and are given no address of an array on the host
                            (docs/debugging.md). The former always with HARRAY_DEBUG */
} ha_sim_options;

/* Sets the options for sim devices opened later; NULL sets the defaults. Without a call they come
 * from the environment: HARRAY_SIM="devices=4,capacity=256M,bandwidth=12G,latency=5us,
 * delay=100us,seed=7,peers=1,unified=0,strides=0,strict=0"; K, M and G are powers of 1024, times need a unit
 * (ns, us, ms, s); what is wrong in it is told when a device is opened. HA_ERR_STATE when a sim
 * device is open already (ha_shutdown closes them), HA_ERR_ARGUMENT when there are more than 64
 * devices, 1 TiB or an hour. */
HA_API HA_MUST_CHECK ha_status ha_sim_configure(const ha_sim_options *options);

/* Stops the queue of a sim context before its next command: copies, functions, waits for other
 * queues. Enqueueing goes on as usual; nothing of it happens until ha_sim_step. Whoever waits for a
 * held queue waits until somebody steps it: ha_shutdown, too. */
HA_API HA_MUST_CHECK ha_status ha_sim_hold(ha_context *context);

/* Lets a held queue run `commands` more commands and returns at once; negative: run freely again;
 * 0: nothing changes.
 * HA_ERR_ARGUMENT for both when the context is not a sim context. */
HA_API HA_MUST_CHECK ha_status ha_sim_step(ha_context *context, int64_t commands);

/* Makes the queue fail late, as a GPU does: no command that it has not started yet will happen, nor
 * any that is enqueued later. Whoever waits for one gets HA_ERR_LOST; so does every queue that is
 * ordered behind one. What they would have written is lost. It stays like that until ha_shutdown.
 * HA_ERR_ARGUMENT when the context is not a sim context. */
HA_API HA_MUST_CHECK ha_status ha_sim_fail(ha_context *context);

#endif
