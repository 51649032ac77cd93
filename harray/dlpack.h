/* DLPack: arrays handed to NumPy, PyTorch, CuPy, JAX, … and taken from them, without a copy.
 *
 *     ha_dl_managed_tensor_versioned *t;                        // to a library that takes DLPack
 *     HA_CHECK(darray_to_dlpack(x, gpu, HA_READ, NULL, &t));    // x is locked for reading at gpu
 *     use((DLManagedTensorVersioned *)t);                       // … until it calls t->deleter(t)
 *
 *     darray y = darray_from_dlpack(tensor, NULL);              // from one that gives DLPack
 *     HA_WRITING(v, y, gpu) …
 *     darray_free(&y);                                          // brings the values back, and calls
 *                                                               // tensor->deleter(tensor)
 *
 * The structs here are those of the DLPack specification, version 1
 * (https://dmlc.github.io/dlpack), under names of our own, so that dlpack/dlpack.h can be included,
 * too: the layout is the same, and a pointer to one may be cast to a pointer to the other. In
 * Python a tensor travels in a capsule called "dltensor_versioned", or "dltensor" for the older
 * kind; tests/exchange/exchange.py shows how. */
#ifndef HARRAY_DLPACK_H
#define HARRAY_DLPACK_H

#include "darray.h"

/* ---- the specification's structs ----------------------------------------------------------- */

enum { HA_DL_MAJOR = 1, HA_DL_MINOR = 0 }; /* what exports say they are */

/* Of the specification's, those that harray can name. */
enum ha_dl_device_type {
    HA_DL_CPU = 1,
    HA_DL_CUDA = 2,
    HA_DL_CUDA_HOST = 3, /* pinned */
    HA_DL_OPENCL = 4,
    HA_DL_VULKAN = 7,
    HA_DL_METAL = 8,
    HA_DL_VPI = 9,
    HA_DL_ROCM = 10,
    HA_DL_ROCM_HOST = 11,
    HA_DL_EXTENSION = 12,
    HA_DL_CUDA_MANAGED = 13,
    HA_DL_ONE_API = 14,
    HA_DL_WEBGPU = 15,
    HA_DL_HEXAGON = 16,
    HA_DL_MAIA = 17
};

enum ha_dl_type_code {
    HA_DL_INT = 0,
    HA_DL_UINT = 1,
    HA_DL_FLOAT = 2,
    HA_DL_OPAQUE_HANDLE = 3,
    HA_DL_BFLOAT = 4,
    HA_DL_COMPLEX = 5,
    HA_DL_BOOL = 6 /* and beyond: floating point of 8, 6 and 4 bits */
};

enum ha_dl_flags {
    HA_DL_READ_ONLY = 1,             /* must not be written */
    HA_DL_IS_COPIED = 2,             /* the producer made a copy for this */
    HA_DL_IS_SUBBYTE_TYPE_PADDED = 4 /* types below 8 bits take whole bytes */
};

typedef struct ha_dl_version { /* DLPackVersion */
    uint32_t major, minor;
} ha_dl_version;

typedef struct ha_dl_device { /* DLDevice */
    int32_t device_type;      /* enum ha_dl_device_type, or one that came later */
    int32_t device_id;
} ha_dl_device;

typedef struct ha_dl_data_type { /* DLDataType */
    uint8_t code;                /* enum ha_dl_type_code, or one that came later */
    uint8_t bits;                /* of a number; of a complex one: of both parts together */
    uint16_t lanes;              /* numbers in an element */
} ha_dl_data_type;

typedef struct ha_dl_tensor { /* DLTensor */
    void *data;
    ha_dl_device device;
    int32_t ndim;
    ha_dl_data_type dtype;
    int64_t *shape;
    int64_t *strides;     /* in elements; NULL: row-major without gaps */
    uint64_t byte_offset; /* from data to the first element */
} ha_dl_tensor;

typedef struct ha_dl_managed_tensor { /* DLManagedTensor: before version 1 */
    ha_dl_tensor dl_tensor;
    void *manager_ctx; /* the producer's own */
    void (*deleter)(struct ha_dl_managed_tensor *self);
} ha_dl_managed_tensor;

typedef struct ha_dl_managed_tensor_versioned { /* DLManagedTensorVersioned */
    ha_dl_version version;
    void *manager_ctx;                                            /* the producer's own */
    void (*deleter)(struct ha_dl_managed_tensor_versioned *self); /* NULL: nothing is to be done */
    uint64_t flags;                                               /* enum ha_dl_flags */
    ha_dl_tensor dl_tensor;
} ha_dl_managed_tensor_versioned;

/* ---- handing out ---------------------------------------------------------------------------- */

/* The consumer's stream, as Python's __dlpack__(stream=…) numbers it. */
#define HA_DL_STREAM_NONE HA_NULL_                       /* none: wait until the values are there */
#define HA_DL_STREAM_LEGACY HA_ADDRESS_(UINT64_C(1))     /* CUDA's default stream */
#define HA_DL_STREAM_PER_THREAD HA_ADDRESS_(UINT64_C(2)) /* as none: it cannot be made to wait */
#define HA_DL_STREAM_UNORDERED HA_ADDRESS_(UINTPTR_MAX)  /* -1: the caller sees to the order */

/* Opens x on a context and hands the open access out as *out. HA_READ: marked read-only; HA_WRITE
 * or HA_OVERWRITE; | HA_TRY as in ha_open. Until the consumer calls (*out)->deleter(*out), once, on
 * any thread,
 *   - x is locked, as by an open access that was detached (token.h): this thread is refused what
 *     conflicts with it, other threads wait
 *   - its memory stays where it is, and lives: the tensor is one more owner of the storage. If the
 *     deleter turns out to be the last one, it frees it, also memory of a caller's (wrap.h)
 * The deleter must not be called from a function that runs on a queue (ha_enqueue), nor in a forked
 * process: it does nothing there. What goes wrong in it is in that thread's ha_take_error.
 *
 * On a GPU, `stream` is the consumer's, or one of those above. A stream is made to wait for the
 * values, and nothing waits here; with none the call returns when they are there. (On the host they
 * are there, whatever it is.) What the consumer has enqueued, and is not done when it calls the
 * deleter, is waited for by whoever opens x next, if `stream` is
 *   - that of a context, and still is: ha_context_stream(…) of any, also adopted ones
 *   - HA_DL_STREAM_LEGACY: with it, and all streams that wait for it
 *   - none: HA_DL_STREAM_LEGACY is taken to be where the consumer works
 * Other streams may be gone by then: their work has to be done when the deleter is called.
 *
 * Strides are always given, the offset is in the data pointer, which is NULL when there is no
 * element. Origins are not handed out: the first index is 0. On failure *out is NULL:
 *   HA_ERR_ARGUMENT     no array, `how` is none, a stream that the device does not know
 *   HA_ERR_UNSUPPORTED  elements of a user's type; a context that DLPack has no name for (sim)
 *   and all of ha_open and ha_wait */
#define darray_to_dlpack(x, context, how, stream, out)                                             \
    darray_to_dlpack_(x, context, how, stream, out, HA_SITE)
HA_API HA_MUST_CHECK ha_status darray_to_dlpack_(darray x, ha_context *context, unsigned how,
                                                 const void *stream,
                                                 ha_dl_managed_tensor_versioned **out,
                                                 const char *site);

/* The same for consumers from before version 1. They cannot be told that something is read-only:
 * HA_READ is HA_ERR_UNSUPPORTED. */
#define darray_to_dlpack_legacy(x, context, how, stream, out)                                      \
    darray_to_dlpack_legacy_(x, context, how, stream, out, HA_SITE)
HA_API HA_MUST_CHECK ha_status darray_to_dlpack_legacy_(darray x, ha_context *context, unsigned how,
                                                        const void *stream,
                                                        ha_dl_managed_tensor **out,
                                                        const char *site);

/* For tensors that a program makes of accesses which it has open itself, as the Python package does: what
 * darray_to_dlpack does about the consumer's stream. Before: the stream comes after all that was enqueued on the
 * context, or, if there is none, this waits. Errors as ha_wait, and HA_ERR_ARGUMENT for a stream that the device
 * does not know. After, in the deleter: what is enqueued on the context from now on comes after the consumer's
 * work, where that is waited for at all. Any thread. On the host nothing happens. */
HA_API HA_MUST_CHECK ha_status ha_dl_before_(ha_context *context, const void *stream);
HA_API void ha_dl_after_(ha_context *context, const void *stream);

/* What a tensor of x on a context says of its device, for Python's __dlpack_device__: device_type
 * is 0 and HA_ERR_UNSUPPORTED in ha_take_error() where DLPack has no name for it. */
HA_API ha_dl_device ha_context_dl_device(ha_context *context);

/* ---- taking --------------------------------------------------------------------------------- */

/* The tensor's memory as an array: all that wrap.h says of the caller's memory holds for it. It
 * keeps the tensor, whose deleter is called when the last owner has freed the array: its values are
 * in the memory then, no queue uses it any more, and nothing is locked; on the thread that frees.
 * Read-only tensors make arrays that can only be read.
 *
 * `context`: where the producer has put the values in order. It was given the stream of this
 * context (ha_context_stream), and what is enqueued there now comes before all uses of the array.
 * ha_host(), or NULL as usual: the values are there.
 *
 * Whatever happens, the tensor is no longer the caller's: on failure its deleter has been called
 * when this returns, and the array is NULL:
 *   HA_ERR_UNSUPPORTED  a major version other than 1; elements that ha_dtype does not have, or of
 *                       several lanes; more than 8 dimensions; a kind of device that harray does
 *                       not have
 *   HA_ERR_NOT_FOUND    there is no such device
 *   HA_ERR_ARGUMENT     no tensor, NULL or misaligned data, negative extents; the context is of
 *                       another device; and as ha_array_wrap
 *   HA_ERR_STATE        another array owns some of the memory: it was imported already, say
 *   HA_ERR_MEMORY       also when extents or strides overflow */
HA_API darray darray_from_dlpack(ha_dl_managed_tensor_versioned *tensor, ha_context *context);

/* The same for tensors from before version 1, which are never read-only. */
HA_API darray darray_from_dlpack_legacy(ha_dl_managed_tensor *tensor, ha_context *context);

#endif
