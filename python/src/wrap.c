/* Memory of other packages as arrays, without a copy. Whatever gave it is kept until the last view has gone. */
#include "binding.h"

#include <stdlib.h>

typedef struct {
    PyObject *object; /* NULL: the buffer keeps it */
    Py_buffer view;
} kept;

static void release(void *user) {
    kept *k = user;
    if (is_ending || is_forked) return; // there is nobody left to give it to
    const callback c = callback_begin();
    if (k->object)
        Py_DECREF(k->object);
    else
        PyBuffer_Release(&k->view);
    callback_end(c);
    free(k);
}

static kept *kept_of(PyObject *object, Py_buffer *view) {
    kept *k = calloc(1, sizeof *k);
    if (!k) return NULL;
    if (view)
        k->view = *view;
    else
        k->object = Py_NewRef(object);
    return k;
}

PyObject *keep_until_gone(darray x, PyObject *object, Py_buffer *view) {
    if (!x.array) {
        raise_status(HA_OK);
        if (view) PyBuffer_Release(view);
        return NULL;
    }
    kept *k = kept_of(object, view);
    ha_status status = k ? ha_array_set_release(x.array, release, k) : HA_ERR_MEMORY;
    if (!status) return array_own(x);
    array_drop(x);
    if (k)
        release(k);
    else if (view)
        PyBuffer_Release(view);
    return raise_status(status);
}

/* ---- buffers ---------------------------------------------------------------------------------- */

/* To write if that may be, else to read. */
static int get_buffer(PyObject *object, Py_buffer *view) {
    if (!PyObject_GetBuffer(object, view, PyBUF_FULL)) return 0;
    PyErr_Clear();
    return PyObject_GetBuffer(object, view, PyBUF_FULL_RO);
}

static int geometry(const Py_buffer *view, int64_t *extent, int64_t *stride) {
    if (view->suboffsets) return PyErr_SetString(PyExc_ValueError, "a buffer with suboffsets"), -1;
    if (view->ndim > HA_MOST_RANK)
        return PyErr_Format(PyExc_ValueError, "%d dimensions: an array has at most %d", view->ndim,
                            HA_MOST_RANK),
               -1;
    for (int d = 0; d < view->ndim; d++) {
        extent[d] = view->shape[d];
        stride[d] = view->strides[d] / view->itemsize;
        if (view->strides[d] % view->itemsize)
            return PyErr_Format(PyExc_ValueError, "a stride of %zd bytes, where elements have %zd",
                                view->strides[d], view->itemsize),
                   -1;
    }
    return 0;
}

static PyObject *wrap_buffer(PyObject *object) {
    Py_buffer view;
    ha_dtype type;
    int64_t extent[HA_MOST_RANK] = {0}, stride[HA_MOST_RANK] = {0};
    darray x = {.array = NULL};
    if (get_buffer(object, &view)) return NULL;
    if (dtype_of_format(view.format, view.itemsize, &type) || geometry(&view, extent, stride))
        return PyBuffer_Release(&view), NULL;
    const char *site = here();
    const unsigned flags = view.readonly ? HA_WRAP_CONST : 0;
    UNLOCKED(HA_FROM(site)
                 x = darray_wrap(type, view.ndim, extent, stride, view.buf, ha_host(), flags));
    return keep_until_gone(x, NULL, &view);
}

/* The elements of a buffer, in C's order, into memory of an array. */
static int copy_in(darray x, const Py_buffer *view) {
    held *h = held_open(x, ha_host(), HA_OVERWRITE, 1);
    if (!h) return -1;
    const int status = view->len ? PyBuffer_ToContiguous(h->data, view, view->len, 'C') : 0;
    held_drop(h);
    return status;
}

PyObject *copy_buffer(PyObject *object) {
    Py_buffer view;
    ha_dtype type;
    int64_t extent[HA_MOST_RANK] = {0}, stride[HA_MOST_RANK] = {0};
    darray x = {.array = NULL};
    if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO)) return NULL;
    PyObject *array = NULL;
    if (!dtype_of_format(view.format, view.itemsize, &type) && !geometry(&view, extent, stride)) {
        UNLOCKED(x = darray_new(type, view.ndim, extent, ha_host()));
        array = array_own(x);
        if (array && copy_in(ARRAY(array), &view)) replace(&array, NULL);
    }
    PyBuffer_Release(&view);
    return array;
}

/* ---- whatever it is --------------------------------------------------------------------------- */

static PyObject *wrap_interfaces(PyObject *object, PyObject *context) {
    PyObject *array = NULL, *found = attribute(object, "__array_interface__");
    if (found)
        array = take_interface(found, object);
    else if (!PyErr_Occurred() && (found = attribute(object, "__cuda_array_interface__")))
        array = take_cuda_interface(found, object, context);
    else if (!PyErr_Occurred() && (found = attribute(object, "__dlpack__")))
        array = take_dlpack(object, NULL);
    else if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError,
                     "an object of %R has no memory to wrap: no buffer, __array_interface__, "
                     "__cuda_array_interface__, __sycl_usm_array_interface__ or __dlpack__",
                     (PyObject *)Py_TYPE(object));
    Py_XDECREF(found);
    return array;
}

/* What is SYCL's is, if the host reaches it, a buffer as well: that is what remains where its context is none of ours. */
static PyObject *wrap_sycl(PyObject *object) {
    PyObject *record = attribute(object, "__sycl_usm_array_interface__");
    PyObject *array = record ? take_sycl_interface(record, object) : NULL;
    Py_XDECREF(record);
    if (!array && PyObject_CheckBuffer(object)) PyErr_Clear();
    return array;
}

int has_other_way(PyObject *object) {
    PyObject *type, *value, *trace;
    if (!PyErr_ExceptionMatches(PyExc_BufferError)) return 0;
    PyErr_Fetch(&type, &value, &trace);
    const int has = !PyObject_TypeCheck(object, access_type) &&
                    PyObject_HasAttrString(object, "__dlpack__");
    PyErr_Restore(type, value, trace);
    if (has) PyErr_Clear();
    return has;
}

/* In this order. */
PyObject *wrap_object(PyObject *object, PyObject *context) {
    if (is_array(object)) return array_view(ARRAY(object));
    if (is_raw(object)) return wrap_raw(object, NULL, NULL);
    PyObject *array = wrap_sycl(object);
    if (array || PyErr_Occurred()) return array;
    if (PyObject_CheckBuffer(object)) {
        array = wrap_buffer(object);
        if (array || !has_other_way(object)) return array;
    }
    return wrap_interfaces(object, context);
}

PyObject *wrap(PyObject *module, PyObject *args, PyObject *keywords) {
    (void)module;
    static char *names[] = {"obj", "ctx", "name", "dtype", "shape", NULL};
    PyObject *object, *context = NULL, *name = NULL, *dtype = NULL, *shape = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OOOO", names, &object, &context, &name,
                                     &dtype, &shape))
        return NULL;
    if (((dtype && dtype != Py_None) || (shape && shape != Py_None)) && !is_raw(object))
        return PyErr_Format(PyExc_TypeError, "wrap: dtype and shape are for a Memory; %R has them",
                            (PyObject *)Py_TYPE(object));
    PyObject *array = is_raw(object) ? wrap_raw(object, dtype, shape)
                                     : wrap_object(object, context);
    if (array && name && PyObject_SetAttrString(array, "name", name)) Py_CLEAR(array);
    return array;
}
