/* harray.Memory: what its files share. */
#ifndef HARRAY_PYTHON_RAW_H
#define HARRAY_PYTHON_RAW_H

#include "binding.h"

typedef enum { RAW_DEVICE, RAW_SHARED, RAW_HOST } raw_kind;

typedef struct raw_object {
    PyObject_HEAD char *data;
    size_t bytes;
    raw_kind kind;
    ha_context *context;
    ha_context *from; /* whose memory the block is: the context, or the host */
    void *block;      /* its own; NULL: the owner has it */
    PyObject *owner;  /* another Memory, or whatever gave the memory; NULL: itself */
    atomic_long arrays,
        buffers; /* made of it, alive; of one that shares them: not counted here, but there */
} raw_object;

extern PyTypeObject *raw_type;
#define RAW(self) ((raw_object *)(self))

/* The one that counts what was made of the memory. */
raw_object *raw_root(PyObject *self);

/* Where its bytes are to be copied and opened: the context, or the host. */
ha_context *raw_place(const raw_object *m);

/* "1024 bytes of Memory (device, sim:0)": for messages. */
const char *raw_called(const raw_object *m, char *text, size_t bytes);

const char *raw_kind_name(raw_kind kind);
raw_kind raw_kind_of(ha_memory_kind kind, int *known); /* of a pointer; *known 0: it is of none */

/* The bytes of an object that has __sycl_usm_array_interface__, which it keeps; NULL without an exception where it has
 * none. */
PyObject *raw_of_record(PyObject *object);

PyObject *raw_cuda_interface(PyObject *self, void *unused); /* interfaces.c */

/* raw_copies.c */
PyObject *raw_copy_to_host(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *raw_copy_from_host(PyObject *self, PyObject *object);
PyObject *raw_copy_from_device(PyObject *self, PyObject *object);
PyObject *raw_memset(PyObject *self, PyObject *args, PyObject *keywords);
int raw_copy(raw_object *to, const raw_object *from, size_t bytes);

/* ---- sycl.c ---------------------------------------------------------------------------------- */

/* Takes shape and strides over, which may be NULL with an exception. */
PyObject *sycl_record(ha_context *context, const void *data, int read_only, const char *typestr,
                      PyObject *shape, PyObject *strides);
PyObject *raw_sycl_interface(PyObject *self, void *unused);

/* Whose memory a record's pointer is in. What was enqueued on the queue that syclobj is has happened then. */
typedef struct {
    ha_context *context;
    raw_kind kind;
} sycl_owner;
int sycl_owner_of(const void *data, PyObject *syclobj, sycl_owner *owner);

/* The first GPU or accelerator of SYCL's where dpctl has been imported; NULL, without an exception: there is none. */
ha_context *sycl_best(void);

#endif
