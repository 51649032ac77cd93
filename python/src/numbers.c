/* Single values, to Python's numbers and from them. */
#include "binding.h"

PyObject *number_from(ha_dvalue v) {
    ha_dvalue wide;
    if (v.type == HA_DTYPE_bool) return PyBool_FromLong(v.as_bool);
    if (v.type == HA_DTYPE_uint64_t) return PyLong_FromUnsignedLongLong(v.as_uint64_t);
    if (v.type == HA_DTYPE_c64 || v.type == HA_DTYPE_c128) {
        if (ha_dvalue_convert(v, HA_DTYPE_c128, &wide)) return raise_status(HA_OK);
        return PyComplex_FromDoubles(wide.as_c128.re, wide.as_c128.im);
    }
    if (v.type >= HA_DTYPE_half) {
        if (ha_dvalue_convert(v, HA_DTYPE_double, &wide)) return raise_status(HA_OK);
        return PyFloat_FromDouble(wide.as_double);
    }
    if (ha_dvalue_convert(v, HA_DTYPE_int64_t, &wide)) return raise_status(HA_OK);
    return PyLong_FromLongLong(wide.as_int64_t);
}

static int integer_to(PyObject *object, ha_dvalue *value) {
    PyObject *number = PyNumber_Index(object);
    if (!number) return -1;
    int overflow;
    const long long i = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (!overflow)
        *value = ha_dvalue_of_int64_t(i);
    else
        *value = ha_dvalue_of_uint64_t(PyLong_AsUnsignedLongLong(number));
    Py_DECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

static int complex_to(PyObject *object, ha_dvalue *value) {
    const ha_c128 z = {PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)};
    *value = ha_dvalue_of_c128(z);
    return PyErr_Occurred() ? -1 : 0;
}

/* NumPy's scalars: its complex ones have parts, others are numbers by __index__ or __float__. What these raise
 * stays, unless it says that there is no number. */
static int other_to(PyObject *object, ha_dvalue *value) {
    PyObject *number = PyObject_CallFunctionObjArgs((PyObject *)&PyComplex_Type, object, NULL);
    if (!number) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%R is no number", object);
        return -1;
    }
    const int status = complex_to(number, value);
    if (!status && value->as_c128.im == 0) *value = ha_dvalue_of_double(value->as_c128.re);
    Py_DECREF(number);
    return status;
}

int number_to(PyObject *object, ha_dvalue *value) {
    if (PyBool_Check(object)) return *value = ha_dvalue_of_bool(object == Py_True), 0;
    if (PyFloat_Check(object)) {
        *value = ha_dvalue_of_double(PyFloat_AsDouble(object));
        return PyErr_Occurred() ? -1 : 0;
    }
    if (PyComplex_Check(object)) return complex_to(object, value);
    if (PyUnicode_Check(object))
        return PyErr_Format(PyExc_TypeError, "%R is no number", object), -1;
    if (PyIndex_Check(object)) { // so has an array of NumPy, whose number may be another one
        if (!integer_to(object, value)) return 0;
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
        PyErr_Clear();
    }
    return other_to(object, value);
}
