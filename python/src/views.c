/* Views of other shapes. They copy nothing, or are refused. */
#include "binding.h"

PyObject *view_transposed(PyObject *self, void *unused) {
    (void)unused;
    return array_view(darray_transpose_(ARRAY(self), NULL));
}

/* The arguments themselves, or the one sequence among them. */
static PyObject *flattened(PyObject *args) {
    if (PyTuple_Size(args) != 1) return args;
    PyObject *only = PyTuple_GetItem(args, 0);
    return PyIndex_Check(only) ? args : only;
}

static int axis_of(int64_t axis, int rank, int64_t *result) {
    *result = axis < 0 ? axis + rank : axis;
    if (*result >= 0 && *result < rank) return 0;
    PyErr_Format(PyExc_ValueError, "axis %lld of an array of %d dimensions", (long long)axis, rank);
    return -1;
}

PyObject *view_transpose(PyObject *self, PyObject *args) {
    int64_t order[HA_MOST_RANK];
    const darray x = ARRAY(self);
    if (!PyTuple_Size(args)) return view_transposed(self, NULL);
    const int count = shape_from(flattened(args), order);
    if (count < 0) return NULL;
    if (count != x.rank)
        return PyErr_Format(PyExc_ValueError, "%d axes of an array of %d dimensions", count,
                            x.rank);
    for (int d = 0; d < count; d++)
        if (axis_of(order[d], x.rank, &order[d])) return NULL;
    return array_view(darray_permute_(x, order, NULL));
}

/* One extent may be -1: what is left. */
static int complete(int64_t size, int rank, int64_t *extent) {
    int64_t known = 1;
    int open = -1, is_huge = 0;
    for (int d = 0; d < rank; d++)
        if (extent[d] != -1)
            is_huge |= __builtin_mul_overflow(known, extent[d], &known);
        else if (open >= 0)
            return PyErr_SetString(PyExc_ValueError, "more than one extent of -1"), -1;
        else
            open = d;
    if (open < 0) return 0;
    if (is_huge || known <= 0 || size % known)
        return PyErr_Format(PyExc_ValueError, "%lld elements cannot be reshaped so",
                            (long long)size),
               -1;
    extent[open] = size / known;
    return 0;
}

PyObject *view_reshape(PyObject *self, PyObject *args, PyObject *keywords) {
    int64_t extent[HA_MOST_RANK];
    ha_order order = HA_ROW_MAJOR;
    PyObject *name = keywords ? PyDict_GetItemString(keywords, "order") : NULL;
    if (name && PyUnicode_Check(name) && !PyUnicode_CompareWithASCIIString(name, "F"))
        order = HA_COLUMN_MAJOR;
    else if (keywords && PyDict_Size(keywords) &&
             (!name || !PyUnicode_Check(name) || PyUnicode_CompareWithASCIIString(name, "C")))
        return PyErr_Format(PyExc_TypeError, "reshape(*shape, order=\"C\" or \"F\")");
    const int rank = shape_from(flattened(args), extent);
    if (rank < 0 || complete(darray_size(ARRAY(self)), rank, extent)) return NULL;
    return array_view(darray_reshape_in_(order, ARRAY(self), rank, extent, NULL));
}

PyObject *view_broadcast(PyObject *self, PyObject *shape) {
    int64_t extent[HA_MOST_RANK];
    const int rank = shape_from(shape, extent);
    return rank < 0 ? NULL : array_view(darray_broadcast_(ARRAY(self), rank, extent, NULL));
}

PyObject *view_flip(PyObject *self, PyObject *axis) {
    PyObject *number = PyNumber_Index(axis);
    int64_t dimension = number ? PyLong_AsLongLong(number) : 0;
    Py_XDECREF(number);
    if (PyErr_Occurred() || axis_of(dimension, ARRAY(self).rank, &dimension)) return NULL;
    return array_view(darray_flip_(ARRAY(self), (int)dimension, NULL));
}

PyObject *view_diagonal(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"offset", "axis1", "axis2", NULL};
    long long offset = 0, first = 0, second = 1;
    int64_t a, b;
    const int rank = ARRAY(self).rank;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|LLL", names, &offset, &first, &second) ||
        axis_of(first, rank, &a) || axis_of(second, rank, &b))
        return NULL;
    return array_view(darray_diagonal_(ARRAY(self), (int)a, (int)b, offset, NULL));
}
