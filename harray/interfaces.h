/* The array interfaces of Python, as plain structs: for those who speak to Python themselves, and
 * put the fields into a dictionary or take them out of one.
 *
 *     __array_interface__            NumPy and whoever shares host memory with it
 *     __cuda_array_interface__       Numba, CuPy, PyTorch: memory of CUDA devices
 *     __sycl_usm_array_interface__   dpctl, dpnp: USM allocations
 *
 *     HA_READING(v, x, ha_host()) {                  // the memory is good while the access is open
 *         ha_array_interface i;
 *         HA_CHECK(darray_to_array_interface(x, &v, &i));
 *         …
 *     }
 *
 * They say nothing of who owns the memory, nor when its user has done with it: harray/dlpack.h does.
 * Mind the units: strides are in bytes in the first two, in elements in the third. */
#ifndef HARRAY_INTERFACES_H
#define HARRAY_INTERFACES_H

#include "darray.h"

enum {
    HA_ARRAY_INTERFACE_VERSION = 3,
    HA_CUDA_ARRAY_INTERFACE_VERSION = 3,
    HA_SYCL_USM_ARRAY_INTERFACE_VERSION = 1
};

typedef struct ha_array_interface {
    char typestr[8]; /* "<f8", "|b1", …: the order of bytes, the kind, the bytes */
    int version;     /* 3 */
    int rank;        /* of the tuple "shape" */
    int64_t shape[HA_MOST_RANK];
    int has_strides;               /* 0: None, row-major without gaps */
    int64_t strides[HA_MOST_RANK]; /* in BYTES */
    void *data;                    /* of the first element: data[0] as a number (not 0, also where
                                      there is no element); data[1]: */
    int read_only;
} ha_array_interface;

typedef struct ha_cuda_array_interface {
    char typestr[8];
    int version; /* 3 */
    int rank;
    int64_t shape[HA_MOST_RANK];
    int has_strides;
    int64_t strides[HA_MOST_RANK]; /* in BYTES */
    void *data;                    /* NULL, which is 0, when there is no element */
    int read_only;
    int has_stream;   /* 0: None, the consumer need not wait for anything */
    uintptr_t stream; /* never 0; 1: the legacy default stream, 2: the per-thread one, else a
                         CUstream: the values are there for what is enqueued on it */
} ha_cuda_array_interface;

typedef struct ha_sycl_usm_array_interface {
    char typestr[8];
    int version; /* 1 */
    int rank;
    int64_t shape[HA_MOST_RANK];
    int has_strides;
    int64_t strides[HA_MOST_RANK]; /* in ELEMENTS */
    void *data;                    /* the first element is `offset` elements behind it */
    int read_only;
    int64_t offset;      /* in ELEMENTS */
    const char *syclobj; /* what "syclobj" is to be made from: the name of the context */
} ha_sycl_usm_array_interface;

/* ---- of an open access ---------------------------------------------------------------------- */

/* What x looks like through an access on all of it that is open, for reading (then read_only) or
 * writing, by this thread or another. The pointers are good as long as that. Origins are not handed
 * out: the first index is 0. The access on a GPU: `stream` is its context's (1 for the default one),
 * and what the consumer does comes before whoever opens x next if it stays on that stream.
 *   HA_ERR_ARGUMENT     the access is not one of x, or its context is of another kind than the
 *                       interface is for (host; CUDA; any)
 *   HA_ERR_STATE        it is not open
 *   HA_ERR_UNSUPPORTED  elements of a user's type, or bfloat16, for which there is no typestr
 *   HA_ERR_MEMORY       strides that do not fit 64 bits in bytes */
#define darray_to_array_interface(x, access, out)                                                  \
    darray_to_array_interface_(x, HA_ACCESS_(access), out)
HA_API HA_MUST_CHECK ha_status darray_to_array_interface_(darray x, const ha_access *access,
                                                          ha_array_interface *out);
#define darray_to_cuda_array_interface(x, access, out)                                             \
    darray_to_cuda_array_interface_(x, HA_ACCESS_(access), out)
HA_API HA_MUST_CHECK ha_status darray_to_cuda_array_interface_(darray x, const ha_access *access,
                                                               ha_cuda_array_interface *out);
#define darray_to_sycl_usm_array_interface(x, access, out)                                         \
    darray_to_sycl_usm_array_interface_(x, HA_ACCESS_(access), out)
HA_API HA_MUST_CHECK ha_status darray_to_sycl_usm_array_interface_(
    darray x, const ha_access *access, ha_sycl_usm_array_interface *out);

/* ---- memory of others ----------------------------------------------------------------------- */

/* The memory as an array: all that wrap.h says of the caller's memory holds for it. Whoever owns it
 * has to keep it until the array has been freed: ha_array_set_release tells when. The array is NULL
 * on failure:
 *   HA_ERR_UNSUPPORTED  a version that is not known; a typestr that ha_dtype does not have, or whose
 *                       bytes are in the other order; the per-thread default stream, of which nobody
 *                       can tell whose thread is meant: synchronize it, and give none
 *   HA_ERR_ARGUMENT     a rank outside 0 … 8, negative extents; strides that are no multiples of
 *                       the element's size; stream 0, or of another device; NULL or misaligned data
 *   and all of ha_array_wrap */
HA_API darray darray_from_array_interface(const ha_array_interface *in);

/* `device`: a context of the device whose memory it is. What is enqueued on the stream now comes
 * before all uses of the array; the stream need not live longer than this call. */
HA_API darray darray_from_cuda_array_interface(const ha_cuda_array_interface *in,
                                               ha_context *device);

/* `context`: whose memory it is; `syclobj` is not looked at. The values have to be there. */
HA_API darray darray_from_sycl_usm_array_interface(const ha_sycl_usm_array_interface *in,
                                                   ha_context *context);

#endif
