/* OpenCL devices: contexts "opencl:0", "opencl:1", … over all platforms, in the order of the loader. OpenCL
 * (libOpenCL.so.1) is looked for when the program runs, so the same binary works without it; no header of
 * OpenCL is needed to compile, nothing to link.
 *
 * Kernels of your own take an array as two parameters: its buffer, and where in that it begins, in bytes
 *
 *     __kernel void scale(__global char *buffer, long begin, double factor) {
 *         __global double *x = (__global double *)(buffer + begin);
 *         x[get_global_id(0)] *= factor;
 *     }
 *
 * and are enqueued on the queue of the access, in programs of the context that this queue has:
 *
 *     ha_context *device = ha_context_find("opencl:0"); // check it: NULL would be the host
 *     cl_context context;
 *     clGetCommandQueueInfo(ha_context_stream(device), CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
 *     cl_program program = clCreateProgramWithSource(context, …
 *     …
 *     HA_WRITING(v, x, device) {
 *         HA_CHECK(ha_opencl_argument(scale, 0, v.data)); // parameters 0 and 1
 *         clSetKernelArg(scale, 2, sizeof factor, &factor);
 *         clEnqueueNDRangeKernel(HA_CL_QUEUE(v), scale, 1, NULL, &v.size, NULL, 0, NULL, NULL);
 *     }
 *
 * No flush is needed, and no wait. Memory of OpenCL has no addresses: v.data is one that only harray
 * understands, out of a range that is reserved for the device and where nothing can be touched.
 * Arithmetic on it is as ever. With HARRAY_OPENCL="memory=usm" it is the driver's own address, where the
 * device has the extension cl_intel_unified_shared_memory; copies of rows and planes are then made row by
 * row.
 *
 * Queues. ha_context_adopt(device, queue) makes a context of a cl_command_queue of yours: in order, and of
 * the cl_context above. It is retained until ha_context_unfork. ha_token_end_after takes a cl_event.
 *
 * Functions for the host (ha_enqueue) run where the device takes native kernels and works on the host's
 * memory, as PoCL does; elsewhere they give HA_ERR_UNSUPPORTED.
 *
 * HARRAY_OPENCL="platform=NVIDIA,type=gpu" chooses devices; docs/devices.md has all options. What is wrong
 * in it, or with the installation, ha_take_error() says after looking up a device that there is not. */
#ifndef HARRAY_OPENCL_H
#define HARRAY_OPENCL_H

#include "context.h"

struct _cl_command_queue; /* of CL/cl.h */
struct _cl_mem;
struct _cl_kernel;

/* The queue of an access, for launches: a cl_command_queue. */
#define HA_CL_QUEUE(access)                                                                        \
    HA_CAST_(struct _cl_command_queue *, ha_context_stream((access).context))

/* The buffer (cl_mem) in which a pointer of an open access at an OpenCL device lies, and *offset (unless
 * NULL), how many bytes behind its beginning. The buffer is harray's, and others may have parts of it: only the access's
 * part may be touched, on queues, as long as it is open. From any thread. NULL + HA_ERR_ARGUMENT: it is no
 * such pointer; HA_ERR_UNSUPPORTED: with memory=usm, where pointers are in no buffer. */
HA_API struct _cl_mem *ha_opencl_buffer(const void *pointer, size_t *offset);

/* Sets the parameters index and index + 1 of a kernel (a cl_kernel) of yours: the buffer of such a pointer,
 * and the offset in bytes, as a 64-bit integer; with memory=usm the pointer itself, and 0. NULL, which arrays without elements may have: no buffer,
 * and 0. As clSetKernelArg, not from two threads for one kernel. HA_ERR_ARGUMENT: there is no kernel, or it
 * is no such pointer; HA_ERR_BACKEND: OpenCL refuses it. */
HA_API HA_MUST_CHECK ha_status ha_opencl_argument(struct _cl_kernel *kernel, uint32_t index,
                                                  const void *pointer);

#endif
