/* Extents and strides, to Python's tuples and from them. */
#include "binding.h"

PyObject *tuple_of_scaled(const int64_t *numbers, int count, int64_t scale) {
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; tuple && i < count; i++) {
        PyObject *number = PyLong_FromLongLong(numbers[i] * scale);
        if (!number || PyTuple_SetItem(tuple, i, number)) Py_CLEAR(tuple);
    }
    return tuple;
}

PyObject *tuple_of(const int64_t *numbers, int count) { return tuple_of_scaled(numbers, count, 1); }

static int number_at(PyObject *object, int64_t *number) {
    PyObject *index = PyNumber_Index(object);
    *number = index ? PyLong_AsLongLong(index) : -1;
    Py_XDECREF(index);
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "shape: %R does not fit 64 bits", object);
    }
    return PyErr_Occurred() ? -1 : 0;
}

static int numbers_of(PyObject *sequence, int64_t *extent) {
    const Py_ssize_t rank = PySequence_Size(sequence);
    if (rank > HA_MOST_RANK) {
        PyErr_Format(PyExc_ValueError, "%zd dimensions: an array has at most %d", rank,
                     HA_MOST_RANK);
        return -1;
    }
    for (Py_ssize_t d = 0; d < rank; d++) {
        PyObject *item = PySequence_GetItem(sequence, d);
        const int status = item ? number_at(item, &extent[d]) : -1;
        Py_XDECREF(item);
        if (status) return -1;
    }
    return (int)rank;
}

int shape_from(PyObject *object, int64_t *extent) {
    if (PyIndex_Check(object)) return number_at(object, extent) ? -1 : 1;
    if (PySequence_Check(object) && !PyUnicode_Check(object)) return numbers_of(object, extent);
    PyErr_Format(PyExc_TypeError, "shape: %R is neither a number nor a sequence of numbers",
                 object);
    return -1;
}
