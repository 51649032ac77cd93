/* The array interfaces of an access: dictionaries, which say nothing of who keeps the memory. What they point to is
 * good until the access is closed. */
#include "raw.h"

#include <string.h>

/* Of an open access whose elements have a typestr, at this kind of context; else an AttributeError, so that
 * consumers look for another interface. */
static held *exportable(PyObject *self, const char *kind, const char *name) {
    char called[64];
    held *h = access_held(self);
    if (!h) return NULL;
    array_called(h->x, called, sizeof called);
    if (strcmp(ha_context_kind(h->context), kind) != 0)
        return PyErr_Format(PyExc_AttributeError, "%s: %s is open at %s", name, called,
                            ha_context_name(h->context)),
               NULL;
    if (!dtype_typestr(h->x.type))
        return PyErr_Format(PyExc_AttributeError, "%s: %s is of %s, for which there is no typestr",
                            name, called, dtype_name(h->x.type)),
               NULL;
    return held_show(h, name) ? NULL : access_held(self); // unless it was closed meanwhile
}

/* In bytes; None where there are no gaps. */
static PyObject *strides_of(darray x) {
    if (darray_is_contiguous(x, HA_ROW_MAJOR)) return Py_NewRef(Py_None);
    return tuple_of_scaled(x.stride, x.rank, (int64_t)dtype_size(x.type));
}

static PyObject *dictionary(const held *h, int version) {
    PyObject *shape = tuple_of(h->x.extent, h->x.rank), *strides = strides_of(h->x);
    if (!shape || !strides) return Py_XDECREF(shape), Py_XDECREF(strides), NULL;
    return Py_BuildValue("{s:N,s:s,s:(NO),s:N,s:i}", "shape", shape, "typestr",
                         dtype_typestr(h->x.type), "data", PyLong_FromVoidPtr(h->data),
                         h->how == HA_READ ? Py_True : Py_False, "strides", strides, "version",
                         version);
}

/* Takes the value over. */
static PyObject *with(PyObject *dictionary, const char *key, PyObject *value) {
    if (dictionary && (!value || PyDict_SetItemString(dictionary, key, value)))
        Py_CLEAR(dictionary);
    Py_XDECREF(value);
    return dictionary;
}

PyObject *access_interface(PyObject *self, void *unused) {
    (void)unused;
    const held *h = exportable(self, "host", "__array_interface__");
    return h ? dictionary(h, HA_ARRAY_INTERFACE_VERSION) : NULL;
}

/* 1 is the legacy default stream, which is NULL. */
static PyObject *stream_of(ha_context *context) {
    void *stream = ha_context_stream(context);
    return stream ? PyLong_FromVoidPtr(stream) : PyLong_FromLong(1);
}

PyObject *access_cuda_interface(PyObject *self, void *unused) {
    (void)unused;
    const held *h = exportable(self, "cuda", "__cuda_array_interface__");
    if (!h) return NULL;
    return with(dictionary(h, HA_CUDA_ARRAY_INTERFACE_VERSION), "stream", stream_of(h->context));
}

/* Of a Memory: its bytes, which may be written to. */
PyObject *raw_cuda_interface(PyObject *self, void *unused) {
    (void)unused;
    const raw_object *m = RAW(self);
    if (strcmp(ha_context_kind(m->context), "cuda") != 0)
        return PyErr_Format(PyExc_AttributeError, "__cuda_array_interface__: memory of %s",
                            ha_context_name(m->context));
    return Py_BuildValue("{s:(n),s:s,s:(NO),s:O,s:N,s:i}", "shape", (Py_ssize_t)m->bytes, "typestr",
                         "|u1", "data", PyLong_FromVoidPtr(m->data), Py_False, "strides", Py_None,
                         "stream", stream_of(m->context), "version",
                         HA_CUDA_ARRAY_INTERFACE_VERSION);
}

/* Strides in elements. */
PyObject *access_sycl_interface(PyObject *self, void *unused) {
    (void)unused;
    const held *h = exportable(self, "sycl", "__sycl_usm_array_interface__");
    if (!h) return NULL;
    PyObject *strides = darray_is_contiguous(h->x, HA_ROW_MAJOR) ? Py_NewRef(Py_None)
                                                                 : tuple_of(h->x.stride, h->x.rank);
    return sycl_record(h->context, h->data, h->how == HA_READ, dtype_typestr(h->x.type),
                       tuple_of(h->x.extent, h->x.rank), strides);
}
