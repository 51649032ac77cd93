/* SYCL devices, by dpctl's C interface: contexts "sycl:0", "sycl:1", … where the implementation is compiled with
 * HARRAY_WITH_SYCL, as in the library of the Python package; docs/devices.md has more. Memory is USM of the kind "device" in
 * the context of SYCL's that dpctl's own queues use, and pointers of accesses are addresses of the device. */
#ifndef HARRAY_SYCL_H
#define HARRAY_SYCL_H

#include "context.h"

/* A queue of the caller's (a DPCTLSyclQueueRef), in order, of any context of SYCL's, as a context, like ha_context_adopt. Memory of
 * another context than that of dpctl's own queues is another memory: then its device is one more, behind those that there
 * are ("sycl:2"), until ha_shutdown, and arrays move to it as to any other. The queue stays the caller's; what it refers to is
 * kept until ha_context_unfork, but its reference has to be there until then, as queues are told apart by these. From
 * any thread. NULL + HA_ERR_ARGUMENT: no queue, or out of order; HA_ERR_UNSUPPORTED: compiled without SYCL, or the device
 * has no memory of its own; HA_ERR_NOT_FOUND: there is no library; HA_ERR_STATE: it is a context already; HA_ERR_MEMORY,
 * HA_ERR_BACKEND. */
HA_API ha_context *ha_sycl_adopt(void *queue);

#endif
