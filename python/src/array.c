/* harray.Array: what it is, and what it is asked. */
#define _GNU_SOURCE /* dladdr */
#include "binding.h"

#include <dlfcn.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

PyTypeObject *array_type;

int is_array(PyObject *object) { return PyObject_TypeCheck(object, array_type); }

const char *array_called(darray x, char *text, size_t bytes) {
    const char *name = ha_array_name(x.array);
    snprintf(text, bytes, name && name[0] ? "'%s'" : "an array", name);
    return text;
}

/* Indices are counted from 0 in Python. */
static darray from_zero(darray x) {
    static const int64_t zeros[HA_MOST_RANK];
    darray y = darray_with_origin_(x, zeros, NULL);
    return y;
}

void array_drop(darray x) { UNLOCKED(HA_IGNORE(darray_free(&x))); }

PyObject *array_own(darray x) {
    if (!x.array) return raise_status(HA_OK);
    darray based = from_zero(x);
    array_object *object = based.array ? (array_object *)PyType_GenericAlloc(array_type, 0) : NULL;
    if (object) return object->x = based, (PyObject *)object;
    array_drop(x);
    return raise_status(HA_OK);
}

PyObject *array_view(darray view) {
    if (!view.array) return raise_status(HA_OK);
    return array_own(darray_share(view));
}

/* ---- asking ----------------------------------------------------------------------------------- */

static PyObject *get_shape(PyObject *self, void *unused) {
    (void)unused;
    return tuple_of(ARRAY(self).extent, ARRAY(self).rank);
}

static PyObject *get_strides(PyObject *self, void *unused) {
    (void)unused;
    return tuple_of_scaled(ARRAY(self).stride, ARRAY(self).rank,
                           (int64_t)dtype_size(ARRAY(self).type));
}

static PyObject *get_dtype(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(dtype_name(ARRAY(self).type));
}

static PyObject *get_number(PyObject *self, void *which) {
    const darray x = ARRAY(self);
    switch (*(const char *)which) {
    case 'd':
        return PyLong_FromLong(x.rank);
    case 's':
        return PyLong_FromLongLong(darray_size(x));
    case 'b':
        return PyLong_FromLongLong(darray_size(x) * (int64_t)dtype_size(x.type));
    case 'i':
        return PyLong_FromSize_t(dtype_size(x.type));
    case 'o':
        return PyLong_FromLongLong(x.offset);
    case 'S':
        return PyLong_FromSize_t(ha_array_size(x.array) * dtype_size(x.type));
    case 'n':
        return PyLong_FromUnsignedLongLong(ha_array_id(x.array));
    default:
        return PyLong_FromUnsignedLongLong(ha_array_version(x.array));
    }
}

static PyObject *get_order(PyObject *self, void *unused) {
    (void)unused;
    if (darray_is_contiguous(ARRAY(self), HA_ROW_MAJOR)) return PyUnicode_FromString("C");
    if (darray_is_contiguous(ARRAY(self), HA_COLUMN_MAJOR)) return PyUnicode_FromString("F");
    Py_RETURN_NONE;
}

static PyObject *get_name(PyObject *self, void *unused) {
    (void)unused;
    return text_from(ha_array_name(ARRAY(self).array));
}

static int set_name(PyObject *self, PyObject *value, void *unused) {
    (void)unused;
    if (!value || (value != Py_None && !PyUnicode_Check(value))) {
        PyErr_SetString(PyExc_TypeError, "the name of an array is a str");
        return -1;
    }
    const char *text = value == Py_None ? "" : PyUnicode_AsUTF8AndSize(value, NULL);
    if (text) ha_array_set_name(ARRAY(self).array, text);
    return text ? 0 : -1;
}

static PyObject *get_statistics(PyObject *self, void *unused) {
    (void)unused;
    const ha_statistics s = ha_array_statistics(ARRAY(self).array);
    return Py_BuildValue("{s:K,s:K}", "transfers", (unsigned long long)s.transfers, "bytes",
                         (unsigned long long)s.bytes);
}

/* A capsule with the darray, for extensions that use the same library; it owns the array. */
static const char capsule_name[] = "harray.darray";
static void free_capsule(PyObject *capsule) {
    darray *x = PyCapsule_GetPointer(capsule, capsule_name);
    if (!x) return;
    if (is_forked) return;
    UNLOCKED({
        HA_IGNORE(darray_free(x));
        (void)ha_take_error();
    });
    free(x);
}

/* The engine is known by where its functions are: two copies of it do not know each other's arrays. */
static void *engine(void) { return (void *)(uintptr_t)ha_host; }

/* The library or program that has the function. */
static const char *file_of(const void *function) {
    Dl_info info;
    return function && dladdr(function, &info) && info.dli_fname ? info.dli_fname
                                                                 : "of which nothing is known";
}

static PyObject *get_address(PyObject *self, void *unused) {
    (void)unused;
    darray *x = malloc(sizeof *x);
    if (!x) return PyErr_NoMemory();
    *x = darray_share(ARRAY(self));
    if (!x->array) return free(x), raise_status(HA_OK);
    PyObject *capsule = PyCapsule_New(x, capsule_name, free_capsule);
    if (!capsule) {
        array_drop(*x);
        free(x);
    }
    if (capsule && PyCapsule_SetContext(capsule, engine())) Py_CLEAR(capsule);
    return capsule;
}

static PyObject *from_address(PyObject *type, PyObject *capsule) {
    (void)type;
    if (!PyCapsule_IsValid(capsule, capsule_name))
        return PyErr_Format(PyExc_TypeError, "%R is no capsule of harray", capsule);
    void *other = PyCapsule_GetContext(capsule);
    if (other != engine()) {
        PyErr_Format(PyExc_BufferError,
                     "the array is of another copy of harray in this process, %s; this is %s: link "
                     "the extension with harray.get_library()",
                     file_of(other), file_of(engine()));
        return NULL;
    }
    return array_view(*(darray *)PyCapsule_GetPointer(capsule, capsule_name));
}

/* A copy in NumPy's own memory: nothing stays open. */
static PyObject *numpy_copy(PyObject *self, PyObject *unused) {
    (void)unused;
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *view = numpy ? PyMemoryView_FromObject(self) : NULL;
    PyObject *copy = view ? PyObject_CallMethod(numpy, "array", "O", view) : NULL;
    Py_XDECREF(view);
    Py_XDECREF(numpy);
    return copy;
}

/* NumPy asks here where the buffer was refused, so that it says why. */
static PyObject *numpy_array(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO", names, &dtype, &copy) ||
        raise_interruption())
        return NULL;
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *view = numpy ? PyMemoryView_FromObject(self) : NULL;
    PyObject *make = view ? PyObject_GetAttrString(numpy, copy == Py_None ? "asarray" : "array")
                          : NULL;
    PyObject *how = Py_BuildValue(copy == Py_None ? "{s:O}" : "{s:O,s:O}", "dtype", dtype, "copy",
                                  copy);
    PyObject *only = view ? PyTuple_Pack(1, view) : NULL;
    PyObject *result = make && how && only ? PyObject_Call(make, only, how) : NULL;
    Py_XDECREF(only);
    Py_XDECREF(how);
    Py_XDECREF(make);
    Py_XDECREF(view);
    Py_XDECREF(numpy);
    return result;
}

/* JAX asks here for what jax.numpy.asarray takes. */
static PyObject *jax_array(PyObject *self, PyObject *unused) {
    (void)unused;
    PyObject *module = PyImport_ImportModule("harray._jax");
    PyObject *result = module ? PyObject_CallMethod(module, "copy_of", "O", self) : NULL;
    Py_XDECREF(module);
    return result;
}

static PyObject *repr(PyObject *self) {
    char name[64], shape[200];
    darray_print_shape(ARRAY(self), shape, sizeof shape);
    PyObject *residency = array_residency(self, NULL);
    PyObject *tuple = get_shape(self, NULL);
    PyObject *text = NULL;
    array_called(ARRAY(self), name, sizeof name);
    if (residency && tuple)
        text = PyUnicode_FromFormat("<harray.Array %s %s %R %R>", name[0] == '\'' ? name : "",
                                    dtype_name(ARRAY(self).type), tuple, residency);
    Py_XDECREF(tuple);
    Py_XDECREF(residency);
    return text;
}

static PyObject *text(PyObject *self) {
    PyObject *list = PyObject_CallMethod(self, "tolist", NULL);
    PyObject *result = list ? PyObject_Str(list) : NULL;
    Py_XDECREF(list);
    return result;
}

static Py_ssize_t length(PyObject *self) {
    if (ARRAY(self).rank) return (Py_ssize_t)ARRAY(self).extent[0];
    PyErr_SetString(PyExc_TypeError, "len() of an array without dimensions");
    return -1;
}

/* ---- new arrays of the same values ------------------------------------------------------------ */

static PyObject *copy_of(PyObject *self, PyObject *unused) {
    (void)unused;
    darray y = {.array = NULL};
    const char *site = here();
    if (wait_at_home(ARRAY(self), HA_READ)) return NULL;
    UNLOCKED(HA_FROM(site) y = darray_contiguous_(ARRAY(self), HA_ROW_MAJOR,
                                                  ha_array_valid_context(ARRAY(self).array), NULL));
    return y.array ? array_own(y) : raise_about(HA_OK, {ARRAY(self).array, HA_READ});
}

static PyObject *shallow_copy(PyObject *self, PyObject *unused) {
    (void)unused;
    return array_view(ARRAY(self));
}

static PyObject *as_type(PyObject *self, PyObject *dtype) {
    ha_dtype type;
    darray y = {.array = NULL};
    const char *site = here();
    if (dtype_from(dtype, &type) || wait_at_home(ARRAY(self), HA_READ)) return NULL;
    UNLOCKED(HA_FROM(site) y = darray_convert_(ARRAY(self), type,
                                               ha_array_valid_context(ARRAY(self).array), NULL));
    return y.array ? array_own(y) : raise_about(HA_OK, {ARRAY(self).array, HA_READ});
}

static PyObject *reduce(PyObject *self, PyObject *protocol) {
    PyObject *module = PyImport_ImportModule("harray._pickle");
    PyObject *result = module ? PyObject_CallMethod(module, "reduce", "OO", self, protocol) : NULL;
    Py_XDECREF(module);
    return result;
}

static PyObject *sync_array(PyObject *self, PyObject *unused) {
    (void)unused;
    ha_status status = HA_OK;
    const char *site = here();
    if (wait_at_home(ARRAY(self), HA_READ)) return NULL;
    UNLOCKED(status = ha_sync_(ARRAY(self).array, site));
    if (status) return raise_about(status, {ARRAY(self).array, HA_READ});
    Py_RETURN_NONE;
}

/* Lists of lists of numbers, as NumPy's. */
static PyObject *list_part(darray x, int64_t *index, int depth, const char *site) {
    if (depth == x.rank) {
        ha_dvalue value;
        ha_status status = HA_OK;
        UNLOCKED(HA_FROM(site) status = darray_get_(x, x.rank, index, &value, NULL));
        return status ? raise_about(status, {x.array, HA_READ}) : number_from(value);
    }
    PyObject *list = PyList_New(0);
    for (index[depth] = 0; list && index[depth] < x.extent[depth]; index[depth]++) {
        PyObject *item = list_part(x, index, depth + 1, site);
        if (!item || PyList_Append(list, item)) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *to_list(PyObject *self, PyObject *unused) {
    (void)unused;
    int64_t index[HA_MOST_RANK + 1];
    return list_part(ARRAY(self), index, 0, here());
}

static PyObject *item(PyObject *self, PyObject *unused) {
    (void)unused;
    static const int64_t first[HA_MOST_RANK];
    ha_dvalue value;
    ha_status status = HA_OK;
    if (darray_size(ARRAY(self)) != 1)
        return PyErr_Format(PyExc_ValueError, "only an array of one element is a number");
    const char *site = here();
    UNLOCKED(HA_FROM(site)
                 status = darray_get_(ARRAY(self), ARRAY(self).rank, first, &value, NULL));
    return status ? raise_about(status, {ARRAY(self).array, HA_READ}) : number_from(value);
}

/* ---- no arithmetic ---------------------------------------------------------------------------- */

static PyObject *refuse_binary(PyObject *a, PyObject *b) {
    if (!is_array(a) && !is_array(b)) Py_RETURN_NOTIMPLEMENTED;
    PyErr_SetString(
        PyExc_TypeError,
        "harray.Array has no arithmetic: numpy.asarray(x) on the host, CuPy on x.read(gpu), or "
        "harray.ops anywhere");
    return NULL;
}

static PyObject *refuse_unary(PyObject *a) { return refuse_binary(a, a); }

static PyObject *refuse_power(PyObject *a, PyObject *b, PyObject *c) {
    (void)c;
    return refuse_binary(a, b);
}

/* An array is true as NumPy's: one element is, of several nobody can say. */
static int truth(PyObject *self) {
    PyObject *number = item(self, NULL);
    const int result = number ? PyObject_IsTrue(number) : -1;
    Py_XDECREF(number);
    return result;
}

/* And a number as NumPy's; without these Python would read the bytes of one as text. */
static PyObject *whole_number(PyObject *self) {
    PyObject *number = item(self, NULL);
    PyObject *whole = number ? PyNumber_Long(number) : NULL;
    Py_XDECREF(number);
    return whole;
}

static PyObject *real_number(PyObject *self) {
    PyObject *number = item(self, NULL);
    PyObject *real = number ? PyNumber_Float(number) : NULL;
    Py_XDECREF(number);
    return real;
}

/* ---- the type --------------------------------------------------------------------------------- */

static void dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject *error, *value, *trace;
    darray x = ARRAY(self);
    if (((array_object *)self)->weak) PyObject_ClearWeakRefs(self);
    PyErr_Fetch(&error, &value, &trace);
    ha_status status = HA_OK;
    if (x.array && !is_forked && is_on_queue)
        end_later(NULL, x);
    else if (x.array && !is_forked)
        UNLOCKED(status = darray_free(&x));
    if (status) {
        raise_status(status);
        PyErr_WriteUnraisable(NULL);
    }
    PyErr_Restore(error, value, trace);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

#define METHOD(f) ((PyCFunction)(void (*)(void))f)
static PyMethodDef methods[] = {
    {"read", METHOD(array_read), METH_FASTCALL | METH_KEYWORDS,
     "read(ctx=None, *, wait=True): an access to read."},
    {"write", METHOD(array_write), METH_FASTCALL | METH_KEYWORDS,
     "write(ctx=None, *, wait=True): an access to change, read, or both."},
    {"overwrite", METHOD(array_overwrite), METH_FASTCALL | METH_KEYWORDS,
     "overwrite(ctx=None, *, wait=True): an access to write all; nothing is moved."},
    {"numpy", numpy_copy, METH_NOARGS, "A copy as a numpy.ndarray: nothing stays open."},
    {"__array__", METHOD(numpy_array), METH_VARARGS | METH_KEYWORDS, NULL},
    {"__jax_array__", jax_array, METH_NOARGS, NULL},
    {"__dlpack__", METHOD(array_dlpack), METH_VARARGS | METH_KEYWORDS, NULL},
    {"__dlpack_device__", array_dlpack_device, METH_NOARGS, NULL},
    {"__reduce_ex__", reduce, METH_O, NULL},
    {"__copy__", shallow_copy, METH_NOARGS, NULL},
    {"__deepcopy__", copy_of, METH_O, NULL},
    {"copy", copy_of, METH_NOARGS, "A new array with the same values."},
    {"astype", as_type, METH_O, "A new array with the values as another type."},
    {"tolist", to_list, METH_NOARGS, "Lists of lists of numbers."},
    {"item", item, METH_NOARGS, "The number of an array of one element."},
    {"sync", sync_array, METH_NOARGS, "Brings memory that was wrapped up to date."},
    {"transpose", view_transpose, METH_VARARGS, "A view with the dimensions in another order."},
    {"reshape", METHOD(view_reshape), METH_VARARGS | METH_KEYWORDS,
     "A view of another shape; never a copy."},
    {"broadcast_to", view_broadcast, METH_O, "A view that repeats elements, to read."},
    {"flip", view_flip, METH_O, "A view backwards in one dimension."},
    {"diagonal", METHOD(view_diagonal), METH_VARARGS | METH_KEYWORDS, "A view of a diagonal."},
    {"retrieve", array_prefetch, METH_O, "Starts moving the values to a context."},
    {"defer", array_evict, METH_VARARGS, "Gives memory back now: values go to the next tier."},
    {"done", array_done, METH_VARARGS, "A hint: not needed there for now."},
    {"set_priority", array_set_priority_, METH_O, "-2 to 2, or harray.KEEP."},
    {"from_address", from_address, METH_O | METH_CLASS, "The array of a capsule, as x.address."},
    {0}};
static PyGetSetDef members[] = {
    {"shape", get_shape, NULL, "The extents.", NULL},
    {"strides", get_strides, NULL, "In bytes.", NULL},
    {"dtype", get_dtype, NULL, "\"float64\" and the like.", NULL},
    {"ndim", get_number, NULL, "How many dimensions.", "d"},
    {"size", get_number, NULL, "How many elements.", "s"},
    {"nbytes", get_number, NULL, "Bytes of the elements.", "b"},
    {"itemsize", get_number, NULL, "Bytes of one element.", "i"},
    {"offset", get_number, NULL, "Of the first element in the storage, in elements.", "o"},
    {"_storage_nbytes", get_number, NULL, NULL, "S"},
    {"id", get_number, NULL, "A number that no other array gets; of views the same.", "n"},
    {"version", get_number, NULL, "Raised by every write.", "v"},
    {"order", get_order, NULL, "\"C\", \"F\", or None where there are gaps.", NULL},
    {"name", get_name, set_name, "For messages.", NULL},
    {"residency", array_residency, NULL, "Where it has memory: {\"cuda:0\": \"clean\", ...}.",
     NULL},
    {"statistics", get_statistics, NULL, "Transfers that it has caused.", NULL},
    {"address", get_address, NULL, "A capsule, for extensions in C.", NULL},
    {"T", view_transposed, NULL, "The dimensions in the opposite order.", NULL},
    {0}};
static PyMemberDef slots_of_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(array_object, weak), READONLY, NULL}, {0}};
static PyType_Slot slots[] = {{Py_tp_doc, "An array that is coherent on the host and on devices."},
                              {Py_tp_dealloc, dealloc},
                              {Py_tp_repr, repr},
                              {Py_tp_str, text},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, members},
                              {Py_tp_members, slots_of_members},
                              {Py_mp_length, length},
                              {Py_mp_subscript, array_subscript},
                              {Py_mp_ass_subscript, array_assign},
                              {Py_nb_add, refuse_binary},
                              {Py_nb_subtract, refuse_binary},
                              {Py_nb_multiply, refuse_binary},
                              {Py_nb_true_divide, refuse_binary},
                              {Py_nb_floor_divide, refuse_binary},
                              {Py_nb_remainder, refuse_binary},
                              {Py_nb_matrix_multiply, refuse_binary},
                              {Py_nb_power, refuse_power},
                              {Py_nb_negative, refuse_unary},
                              {Py_nb_bool, truth},
                              {Py_nb_int, whole_number},
                              {Py_nb_float, real_number},
                              {Py_bf_getbuffer, array_buffer},
                              {Py_bf_releasebuffer, release_buffer},
                              {0, NULL}};
static PyType_Spec spec = {"harray.Array", sizeof(array_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int array_begin(PyObject *module) {
    if (!array_type) array_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!array_type) return -1;
    Py_INCREF((PyObject *)array_type);
    return PyModule_AddObject(module, "Array", (PyObject *)array_type);
}
