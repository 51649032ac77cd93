/* DLPack, handing out: an access, or what an array is where its values are. Tensors are of C's memory alone, so
 * whoever calls a deleter needs no GIL. */
#include "binding.h"

#include <stdlib.h>

static const char versioned_name[] = "dltensor_versioned", legacy_name[] = "dltensor";

/* A tensor over an open access, of either kind. */
typedef struct {
    union {
        ha_dl_managed_tensor_versioned versioned;
        ha_dl_managed_tensor legacy;
    };
    export taken;
    const void *stream; /* the consumer's */
    int64_t shape[HA_MOST_RANK], strides[HA_MOST_RANK];
} tensor;

/* What the consumer asked for. */
typedef struct {
    PyObject *max_version, *device, *copy;
    const void *stream;
    int is_versioned, type, number; /* type 0: any device */
} wanted;

static void end_tensor(tensor *t) {
    ha_dl_after_(t->taken.of->context, t->stream);
    export_end_unlocked(&t->taken);
    free(t);
}

/* Consumers call it with the GIL, as NumPy does, and without. What it was exported of may go with it, which waits for
 * devices. */
static void delete_tensor(tensor *t) {
    if (is_forked) return;
    if (has_gil() && !is_ending)
        UNLOCKED(end_tensor(t));
    else
        end_tensor(t);
}
static void delete_versioned(ha_dl_managed_tensor_versioned *t) { delete_tensor(t->manager_ctx); }
static void delete_legacy(ha_dl_managed_tensor *t) { delete_tensor(t->manager_ctx); }

/* Of a capsule that nobody has taken the tensor from. */
static void free_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, versioned_name)) {
        ha_dl_managed_tensor_versioned *t = PyCapsule_GetPointer(capsule, versioned_name);
        if (t->deleter) t->deleter(t);
    } else if (PyCapsule_IsValid(capsule, legacy_name)) {
        ha_dl_managed_tensor *t = PyCapsule_GetPointer(capsule, legacy_name);
        if (t->deleter) t->deleter(t);
    }
}

static ha_dl_data_type type_of(ha_dtype type) {
    const uint8_t bits = (uint8_t)(8 * dtype_size(type));
    uint8_t code = HA_DL_COMPLEX;
    if (type == HA_DTYPE_bool)
        code = HA_DL_BOOL;
    else if (type <= HA_DTYPE_int64_t)
        code = HA_DL_INT;
    else if (type <= HA_DTYPE_uint64_t)
        code = HA_DL_UINT;
    else if (type == HA_DTYPE_bfloat16)
        code = HA_DL_BFLOAT;
    else if (type <= HA_DTYPE_double)
        code = HA_DL_FLOAT;
    return (ha_dl_data_type){code, bits, 1};
}

static ha_dl_tensor describe(tensor *t, const held *h) {
    const darray x = h->x;
    for (int d = 0; d < x.rank; d++) t->shape[d] = x.extent[d], t->strides[d] = x.stride[d];
    return (ha_dl_tensor){.data = darray_size(x) ? h->data : NULL,
                          .device = ha_context_dl_device(h->context),
                          .ndim = x.rank,
                          .dtype = type_of(x.type),
                          .shape = t->shape,
                          .strides = t->strides};
}

static PyObject *capsule_of(void *t, int is_versioned) {
    return PyCapsule_New(t, is_versioned ? versioned_name : legacy_name, free_capsule);
}

/* 0 may be CUDA's legacy default stream or the per-thread one: DLPack does not have it there. */
static int is_ambiguous(const held *h, const void *stream) {
    return !stream && ha_context_dl_device(h->context).device_type == HA_DL_CUDA;
}

/* The consumer's stream comes behind what there is to wait for. */
static PyObject *tensor_of(held *h, const wanted *w, uint64_t flags) {
    ha_status status = HA_OK;
    if (is_ambiguous(h, w->stream))
        return PyErr_Format(PyExc_ValueError,
                            "__dlpack__: stream 0 is ambiguous on CUDA, and DLPack "
                            "disallows it: 1 is the legacy default stream, 2 the "
                            "per-thread one");
    UNLOCKED(status = ha_dl_before_(h->context, w->stream));
    if (status) return raise_status(status);
    tensor *t = calloc(1, sizeof *t);
    if (!t) return PyErr_NoMemory();
    t->stream = w->stream;
    if (export_begin(&t->taken, h, "DLPack", here())) return free(t), NULL;
    const ha_dl_tensor plain = describe(t, h);
    if (h->how == HA_READ) flags |= HA_DL_READ_ONLY;
    if (w->is_versioned)
        t->versioned = (ha_dl_managed_tensor_versioned){
            {HA_DL_MAJOR, HA_DL_MINOR}, t, delete_versioned, flags, plain};
    else
        t->legacy = (ha_dl_managed_tensor){plain, t, delete_legacy};
    PyObject *capsule = capsule_of(t, w->is_versioned);
    if (!capsule) delete_tensor(t);
    return capsule;
}

/* None leaves the numbers as they are. */
static int pair_from(PyObject *pair, const char *name, int *first, int *second) {
    if (pair == Py_None) return 0;
    if (PyTuple_Check(pair)) return PyArg_ParseTuple(pair, "ii", first, second) ? 0 : -1;
    return PyErr_Format(PyExc_TypeError, "%s: %R is no pair of numbers", name, pair), -1;
}

/* A stream as its number in __dlpack__: None is as a device's legacy default one. */
static int stream_from(PyObject *object, const void **stream) {
    *stream = HA_DL_STREAM_LEGACY;
    if (object == Py_None) return 0;
    *stream = (const void *)(intptr_t)PyLong_AsLongLong(object);
    return PyErr_Occurred() ? -1 : 0;
}

static int wanted_from(PyObject *args, PyObject *keywords, wanted *w) {
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    *w = (wanted){Py_None, Py_None, Py_None, NULL, 0, 0, 0};
    PyObject *stream = Py_None;
    int major = 0, minor = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO", names, &stream, &w->max_version,
                                     &w->device, &w->copy))
        return -1;
    if (pair_from(w->max_version, "max_version", &major, &minor) ||
        pair_from(w->device, "dl_device", &w->type, &w->number) || stream_from(stream, &w->stream))
        return -1;
    w->is_versioned = major >= 1;
    return 0;
}

static int refuse(darray x, const char *why) {
    char name[64];
    PyErr_Format(PyExc_BufferError, "%s: %s", array_called(x, name, sizeof name), why);
    return -1;
}

/* A consumer that cannot be told that it may only read gets nothing to read. */
static int can_be_told(darray x, const wanted *w, unsigned how) {
    if (w->is_versioned || how != HA_READ) return 1;
    refuse(x, "this consumer of DLPack cannot be told that it may only read (it gave no "
              "max_version): give it x.write(ctx), or a copy, x.copy().write(ctx)");
    return 0;
}

/* Values of its own for the consumer, at a context. */
static PyObject *copied(darray x, ha_context *context, const wanted *w) {
    darray y = {.array = NULL};
    const char *site = here();
    UNLOCKED(HA_FROM(site) y = darray_contiguous_(x, HA_ROW_MAJOR, context, NULL));
    if (!y.array) return raise_status(HA_OK);
    held *h = held_open(y, context, HA_WRITE, 1);
    array_drop(y);
    PyObject *capsule = h ? tensor_of(h, w, HA_DL_IS_COPIED) : NULL;
    if (h) held_drop(h);
    return capsule;
}

/* ---- of an access ----------------------------------------------------------------------------- */

/* 0: where the access is; 1: on the host, as a copy; -1: refused. */
static int place(const held *h, const wanted *w) {
    const ha_dl_device own = ha_context_dl_device(h->context);
    if (!own.device_type) return raise_status(HA_OK), -1;
    if (!w->type || (w->type == own.device_type && w->number == own.device_id)) return 0;
    if (w->type == HA_DL_CPU && w->copy != Py_False) return 1;
    return refuse(h->x, "it is open on another device than the one that is asked for");
}

static PyObject *export_access(held *h, const wanted *w) {
    const int to_host = place(h, w);
    if (to_host < 0) return NULL;
    if (to_host || w->copy == Py_True) {
        if (h->how == HA_READ) return copied(h->x, to_host ? ha_host() : h->context, w);
        return refuse(h->x, "a copy is made of what is open for reading"), NULL;
    }
    if (!can_be_told(h->x, w, h->how)) return NULL;
    return tensor_of(h, w, 0);
}

/* Another thread may close the access while this one waits. */
PyObject *access_dlpack(PyObject *self, PyObject *args, PyObject *keywords) {
    wanted w;
    if (wanted_from(args, keywords, &w)) return NULL;
    held *h = access_held(self);
    if (!h) return NULL;
    atomic_fetch_add(&h->owners, 1);
    PyObject *capsule = export_access(h, &w);
    held_drop(h);
    return capsule;
}

static PyObject *device_tuple(ha_context *context) {
    const ha_dl_device device = ha_context_dl_device(context);
    if (!device.device_type) return raise_status(HA_OK);
    return Py_BuildValue("(ii)", device.device_type, device.device_id);
}

PyObject *access_dlpack_device(PyObject *self, PyObject *unused) {
    (void)unused;
    const held *h = access_held(self);
    return h ? device_tuple(h->context) : NULL;
}

/* ---- of an array ------------------------------------------------------------------------------ */

/* Where it is valid, if DLPack has a name for that; else the host. */
static ha_context *home(darray x) {
    if (ha_array_valid(x.array, ha_host(), 0, HA_END)) return ha_host();
    ha_context *context = ha_array_valid_context(x.array);
    const int has_name = ha_context_dl_device(context).device_type != 0;
    if (!has_name) (void)ha_take_error();
    return has_name ? context : ha_host();
}

PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *keywords) {
    wanted w;
    const darray x = ARRAY(self);
    if (wanted_from(args, keywords, &w)) return NULL;
    ha_context *context = home(x);
    const ha_dl_device own = ha_context_dl_device(context);
    if (w.type == HA_DL_CPU)
        context = ha_host();
    else if (w.type && (w.type != own.device_type || w.number != own.device_id))
        return refuse(x, "its values are not on the device that is asked for: x.read(ctx) brings "
                         "them there"),
               NULL;
    if (w.copy == Py_True) return copied(x, context, &w);
    if (!can_be_told(x, &w, HA_READ)) return NULL;
    held *h = held_open(x, context, HA_READ, 1);
    PyObject *capsule = h ? tensor_of(h, &w, 0) : NULL;
    if (h) held_drop(h);
    return capsule;
}

PyObject *array_dlpack_device(PyObject *self, PyObject *unused) {
    (void)unused;
    return device_tuple(home(ARRAY(self)));
}
