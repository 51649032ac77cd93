/* The array interfaces, taking: dictionaries of other packages, each entry looked at. */
#include "raw.h"

#include <string.h>

/* A borrowed entry; NULL without an exception where there is none. */
static PyObject *entry(PyObject *dictionary, const char *key) {
    return PyDict_GetItemString(dictionary, key);
}

static int refuse(const char *key, const char *what) {
    PyErr_Format(PyExc_ValueError, "array interface: '%s': %s", key, what);
    return -1;
}

static int64_t number_of(PyObject *object, const char *key) {
    const int64_t number = object ? PyLong_AsLongLong(object) : 0;
    if (!object)
        refuse(key, "it is missing");
    else if (PyErr_Occurred())
        PyErr_Clear(), refuse(key, "it is no whole number of 64 bits");
    return number;
}

static int numbers_from(PyObject *object, const char *key, int64_t *numbers, int *count) {
    if (!object) return refuse(key, "it is missing");
    if (!PyTuple_Check(object) && !PyList_Check(object)) return refuse(key, "it is no tuple");
    if (PySequence_Size(object) > HA_MOST_RANK) return refuse(key, "it has more than 8 numbers");
    *count = (int)PySequence_Size(object);
    for (int i = 0; i < *count; i++) {
        PyObject *item = PySequence_GetItem(object, i);
        numbers[i] = number_of(item, key);
        Py_XDECREF(item);
        if (PyErr_Occurred()) return -1;
    }
    return 0;
}

static int strides_from(PyObject *dictionary, int rank, int *has_strides, int64_t *strides) {
    PyObject *object = entry(dictionary, "strides");
    int count = rank;
    *has_strides = object && object != Py_None;
    if (*has_strides && numbers_from(object, "strides", strides, &count)) return -1;
    return count == rank ? 0 : refuse("strides", "they are not as many as there are dimensions");
}

static int typestr_from(PyObject *dictionary, char typestr[8]) {
    PyObject *object = entry(dictionary, "typestr");
    if (!object) return refuse("typestr", "it is missing");
    const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    if (!text || strlen(text) > 7) return PyErr_Clear(), refuse("typestr", "it is no short str");
    strcpy(typestr, text);
    return 0;
}

static int data_from(PyObject *dictionary, void **data, int *read_only) {
    PyObject *pair = entry(dictionary, "data");
    if (!pair) return refuse("data", "it is missing");
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2)
        return refuse("data", "it is no pair of an address and whether it is read-only");
    const unsigned long long address = PyLong_AsUnsignedLongLong(PyTuple_GetItem(pair, 0));
    *read_only = PyObject_IsTrue(PyTuple_GetItem(pair, 1));
    if (PyErr_Occurred()) return PyErr_Clear(), refuse("data", "its first entry is no address");
    *data = (void *)(uintptr_t)address;
    return 0;
}

/* Of an element; 0: no such type is known. */
static size_t bytes_of_type(const char *typestr) {
    PyObject *text = PyUnicode_FromString(typestr);
    ha_dtype type;
    const int status = text ? dtype_from(text, &type) : -1;
    Py_XDECREF(text);
    if (status) PyErr_Clear();
    return status ? 0 : dtype_size(type);
}

static int shape_is_sound(const ha_array_interface *in) {
    const int64_t known = (int64_t)bytes_of_type(in->typestr);
    int64_t bytes = known ? known : 1;
    for (int d = 0; d < in->rank; d++) {
        if (in->shape[d] < 0) return refuse("shape", "it has a negative number"), 0;
        if (in->shape[d] && __builtin_mul_overflow(bytes, in->shape[d], &bytes))
            return refuse("shape", "it has more elements than there can be"), 0;
    }
    return 1;
}

/* What both interfaces have; their structs begin in the same way. */
static int common_from(PyObject *dictionary, ha_array_interface *in) {
    if (!PyDict_Check(dictionary))
        return PyErr_SetString(PyExc_TypeError, "an array interface is a dict"), -1;
    in->version = (int)number_of(entry(dictionary, "version"), "version");
    if (PyErr_Occurred() || numbers_from(entry(dictionary, "shape"), "shape", in->shape, &in->rank))
        return -1;
    return strides_from(dictionary, in->rank, &in->has_strides, in->strides) ||
                   typestr_from(dictionary, in->typestr) || !shape_is_sound(in) ||
                   data_from(dictionary, &in->data, &in->read_only)
               ? -1
               : 0;
}

/* An entry that the library refuses, as all that is wrong with one: its text names it. */
static PyObject *keep_or_refuse(darray x, PyObject *owner) {
    if (x.array) return keep_until_gone(x, owner, NULL);
    const ha_error error = ha_take_error();
    const int is_entry = error.status == HA_ERR_UNSUPPORTED || error.status == HA_ERR_ARGUMENT;
    if (!is_entry) return raise_error(error.status, &error, "");
    return PyErr_Format(PyExc_ValueError, "array interface: %s", error.text);
}

PyObject *take_interface(PyObject *dictionary, PyObject *owner) {
    ha_array_interface in = {0};
    darray x = {.array = NULL};
    if (common_from(dictionary, &in)) return NULL;
    UNLOCKED(x = darray_from_array_interface(&in));
    return keep_or_refuse(x, owner);
}

static int stream_from(PyObject *dictionary, ha_cuda_array_interface *in) {
    PyObject *stream = entry(dictionary, "stream");
    in->has_stream = stream && stream != Py_None;
    if (in->has_stream) in->stream = (uintptr_t)number_of(stream, "stream");
    return PyErr_Occurred() ? -1 : 0;
}

static ha_cuda_array_interface cuda_of(const ha_array_interface *plain) {
    ha_cuda_array_interface in = {
        .version = plain->version == 2 ? 3 : plain->version, // without streams they are the same
        .rank = plain->rank,
        .has_strides = plain->has_strides,
        .data = plain->data,
        .read_only = plain->read_only};
    memcpy(in.typestr, plain->typestr, sizeof in.typestr);
    memcpy(in.shape, plain->shape, sizeof in.shape);
    memcpy(in.strides, plain->strides, sizeof in.strides);
    return in;
}

/* The device that the memory belongs to: what was asked for, else what the driver says of the address. */
static int device_of(const void *data, PyObject *where, ha_context **context) {
    if (where && where != Py_None) return context_from(where, context);
    UNLOCKED(*context = ha_context_find("cuda:0"));
    if (!*context) return raise_status(HA_OK), -1;
    ha_context *owner = NULL;
    ha_memory_kind kind;
    UNLOCKED(kind = ha_pointer_kind(data, &owner));
    if (kind == HA_MEMORY_DEVICE && owner) *context = owner;
    return 0;
}

PyObject *take_cuda_interface(PyObject *dictionary, PyObject *owner, PyObject *where) {
    ha_array_interface plain = {0};
    ha_context *context;
    darray x = {.array = NULL};
    if (common_from(dictionary, &plain)) return NULL;
    ha_cuda_array_interface in = cuda_of(&plain);
    if (stream_from(dictionary, &in) || device_of(in.data, where, &context)) return NULL;
    UNLOCKED(x = darray_from_cuda_array_interface(&in, context));
    return keep_or_refuse(x, owner);
}

/* ---- SYCL ------------------------------------------------------------------------------------- */

/* Strides are in elements. The flag beside the address says True both of what may be written to, by dpctl, and of
 * what may not, by the text that describes it: it says nothing. */
static int sycl_from(PyObject *dictionary, ha_sycl_usm_array_interface *in) {
    ha_array_interface plain = {0};
    PyObject *offset;
    if (common_from(dictionary, &plain)) return -1;
    *in = (ha_sycl_usm_array_interface){.version = plain.version,
                                        .rank = plain.rank,
                                        .has_strides = plain.has_strides,
                                        .data = plain.data};
    memcpy(in->typestr, plain.typestr, sizeof in->typestr);
    memcpy(in->shape, plain.shape, sizeof in->shape);
    memcpy(in->strides, plain.strides, sizeof in->strides);
    if (in->version != HA_SYCL_USM_ARRAY_INTERFACE_VERSION) return refuse("version", "it is not 1");
    const size_t size = bytes_of_type(in->typestr);
    if (!size) return refuse("typestr", "there is no such type here");
    // dpnp's arrays have "|f8": there is no order but that of the host
    if (in->typestr[0] == '|' && size > 1) in->typestr[0] = dtype_typestr(HA_DTYPE_double)[0];
    offset = entry(dictionary, "offset");
    in->offset = offset && offset != Py_None ? number_of(offset, "offset") : 0;
    return PyErr_Occurred() ? -1 : 0;
}

static int64_t elements_of(const ha_sycl_usm_array_interface *in) {
    int64_t n = 1;
    for (int d = 0; d < in->rank; d++)
        if (__builtin_mul_overflow(n, in->shape[d], &n))
            return refuse("shape", "it has more elements than there can be");
    return n;
}

PyObject *take_sycl_interface(PyObject *dictionary, PyObject *owner) {
    ha_sycl_usm_array_interface in;
    sycl_owner found;
    darray x = {.array = NULL};
    if (sycl_from(dictionary, &in) || sycl_owner_of(in.data, entry(dictionary, "syclobj"), &found))
        return NULL;
    ha_context *place = found.kind == RAW_HOST ? ha_host() : found.context;
    UNLOCKED(x = darray_from_sycl_usm_array_interface(&in, place));
    return keep_until_gone(x, owner, NULL);
}

static int has_gaps(const ha_sycl_usm_array_interface *in) {
    int64_t step = 1;
    for (int d = in->rank - 1; in->has_strides && d >= 0; step *= in->shape[d--])
        if (in->shape[d] > 1 && in->strides[d] != step) return 1;
    return 0;
}

int bytes_of_record(PyObject *dictionary, void **data, size_t *bytes) {
    ha_sycl_usm_array_interface in;
    if (sycl_from(dictionary, &in)) return -1;
    const size_t size = bytes_of_type(in.typestr);
    const int64_t n = elements_of(&in);
    if (n < 0) return -1;
    if (!n || has_gaps(&in)) return refuse("shape", "no bytes, or with gaps between them");
    if (__builtin_mul_overflow((size_t)n, size, bytes))
        return refuse("shape", "it has more bytes than there can be");
    *data = (char *)in.data + in.offset * (int64_t)size;
    return 0;
}
