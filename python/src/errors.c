/* Statuses of harray as exceptions of Python. */
#include "binding.h"

PyObject *device_error;

int errors_begin(PyObject *module) {
    static const char doc[] = "A device failed, or refused. status: \"HA_ERR_LOST\" and the like; "
                              "operation: the function of C; code: the driver's number.";
    if (!device_error)
        device_error = PyErr_NewExceptionWithDoc("harray.DeviceError", doc, PyExc_RuntimeError,
                                                 NULL);
    if (!device_error) return -1;
    Py_INCREF(device_error);
    return PyModule_AddObject(module, "DeviceError", device_error);
}

static PyObject *class_of(ha_status status) {
    switch (status) {
    case HA_ERR_MEMORY:
        return PyExc_MemoryError;
    case HA_ERR_CONFLICT:
    case HA_ERR_DEADLOCK:
        return PyExc_BufferError;
    case HA_ERR_BUSY:
        return PyExc_BlockingIOError;
    case HA_ERR_ARGUMENT:
        return PyExc_ValueError;
    case HA_ERR_NOT_FOUND:
        return PyExc_LookupError;
    case HA_ERR_UNSUPPORTED:
        return PyExc_NotImplementedError;
    case HA_ERR_LOST:
    case HA_ERR_BACKEND:
    case HA_ERR_COMPILE:
        return device_error;
    default:
        return PyExc_RuntimeError; // HA_ERR_STATE, HA_ERR_TRANSFER
    }
}

static void set_attribute(PyObject *exception, const char *name, PyObject *value) {
    if (value) PyObject_SetAttrString(exception, name, value);
    Py_XDECREF(value);
}

static void raise_device_error(PyObject *text, ha_status status, const ha_error *error) {
    PyObject *exception = PyObject_CallFunctionObjArgs(device_error, text, NULL);
    if (!exception) return;
    set_attribute(exception, "status", PyUnicode_FromString(ha_status_name(status)));
    set_attribute(exception, "operation",
                  PyUnicode_FromString(error->operation ? error->operation : ""));
    set_attribute(exception, "code", PyLong_FromLongLong(error->code));
    if (!PyErr_Occurred()) PyErr_SetObject(device_error, exception);
    Py_DECREF(exception);
}

static const char *text_of(ha_status status, const ha_error *error) {
    if (error->status != HA_OK && error->text[0]) return error->text;
    if (status == HA_ERR_BUSY) return "another thread uses it";
    return ha_status_name(status);
}

PyObject *raise_error(ha_status status, const ha_error *error, const char *more) {
    if (PyErr_Occurred()) return NULL;
    const int says_fork = is_forked && status == HA_ERR_STATE;
    const char *fork = says_fork ? " (start method spawn or forkserver)" : "";
    PyObject *text = PyUnicode_FromFormat("%s%s%s", text_of(status, error), more, fork);
    PyObject *type = class_of(status);
    if (!text) return NULL;
    if (type == device_error)
        raise_device_error(text, status, error);
    else
        PyErr_SetObject(type, text);
    Py_DECREF(text);
    return NULL;
}

PyObject *raise_with(ha_status status, const char *more) {
    const ha_error error = ha_take_error();
    return raise_error(status, &error, more);
}

PyObject *raise_status(ha_status status) {
    const ha_error error = ha_take_error();
    return raise_error(status ? status : error.status, &error, "");
}
