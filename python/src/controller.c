/* A controller in Python: its functions are called by the thread that needs memory, with the GIL and one at a time.
 * What it raises goes to sys.unraisablehook, and counts as "no". The object is harray._controller's, which
 * makes of numbers what users get. */
#include "binding.h"

static PyObject *controller;

/* What it hears of: functions, of which those that nobody has are NULL, so that the GIL is not taken for them. */
enum { NEW, GONE, EVICT, RESTORE, KINDS };
static PyObject *heard[KINDS];
static PyObject *info_type; /* harray.ArrayInfo, a tuple */

/* The answer as a number; `otherwise` where there is none. Takes the reference over. */
static long long answer(PyObject *result, long long otherwise) {
    long long number = otherwise;
    if (result && result != Py_None) number = PyLong_AsLongLong(result);
    if (PyErr_Occurred()) {
        PyErr_WriteUnraisable(controller);
        number = otherwise;
    }
    Py_XDECREF(result);
    return number;
}

static int pressure(void *user, ha_context *at, uint64_t need, int attempt) {
    (void)user;
    const callback c = callback_begin();
    PyObject *where = context_object(at);
    PyObject *result = where ? PyObject_CallMethod(controller, "pressure", "OKi", where,
                                                   (unsigned long long)need, attempt)
                             : NULL;
    Py_XDECREF(where);
    const int freed = answer(result, 0) != 0;
    callback_end(c);
    return freed;
}

static PyObject *list_of(const ha_candidate *list, size_t n) {
    PyObject *result = PyList_New(0);
    for (size_t i = 0; result && i < n; i++) {
        PyObject *item = Py_BuildValue("(KNKii)", (unsigned long long)list[i].id,
                                       text_from(list[i].name), (unsigned long long)list[i].bytes,
                                       list[i].priority, list[i].is_done);
        if (!item || PyList_Append(result, item)) Py_CLEAR(result);
        Py_XDECREF(item);
    }
    return result;
}

static ptrdiff_t choose(void *user, ha_context *at, const ha_candidate *list, size_t n,
                        uint64_t need) {
    (void)user;
    const callback c = callback_begin();
    PyObject *where = context_object(at), *candidates = where ? list_of(list, n) : NULL;
    PyObject *result = candidates ? PyObject_CallMethod(controller, "choose", "OOK", where,
                                                        candidates, (unsigned long long)need)
                                  : NULL;
    Py_XDECREF(candidates);
    Py_XDECREF(where);
    const ptrdiff_t index = (ptrdiff_t)answer(result, -1);
    callback_end(c);
    return index;
}

static PyObject *listener(const ha_event_info *e) {
    switch (e->kind) {
    case HA_EVENT_NEW:
        return heard[NEW];
    case HA_EVENT_GONE:
        return heard[GONE];
    case HA_EVENT_EVICT:
        return heard[EVICT];
    case HA_EVENT_RESTORE:
        return heard[RESTORE];
    default:
        return NULL;
    }
}

/* Takes the references over, of which some may be NULL, with an exception. */
static PyObject *tuple_from(PyObject *first, PyObject *second, PyObject *third) {
    PyObject *tuple = first && second && third ? PyTuple_Pack(3, first, second, third) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(second);
    Py_XDECREF(third);
    return tuple;
}

/* An ArrayInfo: made as tuple.__new__ does it, without a function of Python's, for there is one for each array. */
static PyObject *info_of(const ha_event_info *e) {
    const newfunc make = (newfunc)PyType_GetSlot(&PyTuple_Type, Py_tp_new);
    PyObject *values = tuple_from(PyLong_FromUnsignedLongLong(e->id),
                                  text_from(e->array ? e->array : ""),
                                  PyLong_FromUnsignedLongLong(e->bytes));
    PyObject *only = values ? PyTuple_Pack(1, values) : NULL;
    PyObject *type = Py_NewRef(info_type);
    PyObject *info = only ? make((PyTypeObject *)type, only, NULL) : NULL;
    Py_DECREF(type);
    Py_XDECREF(only);
    Py_XDECREF(values);
    return info;
}

/* Where it gave way, or came back to; of others that is not told. */
static PyObject *tell(PyObject *function, const ha_event_info *e) {
    const int has_place = e->kind == HA_EVENT_EVICT || e->kind == HA_EVENT_RESTORE;
    PyObject *info = info_of(e), *place = info && has_place ? text_from(e->at ? e->at : "") : NULL;
    PyObject *result = NULL;
    if (info && (place || !has_place))
        result = PyObject_CallFunctionObjArgs(function, info, place, NULL);
    Py_XDECREF(place);
    Py_XDECREF(info);
    return result;
}

static void hear(const ha_event_info *e, void *user) {
    (void)user;
    if (!listener(e)) return;
    const callback c = callback_begin();
    PyObject *function = Py_XNewRef(listener(e));         // which may take the controller off
    PyObject *told = function ? tell(function, e) : NULL; // whatever it returns is for nobody
    if (function && !told) PyErr_WriteUnraisable(function);
    Py_XDECREF(told);
    Py_XDECREF(function);
    callback_end(c);
}

/* Before anything of it changes nobody calls it any more. `functions`: KINDS of them, NULL without an object. */
static void install(PyObject *object, PyObject *functions) {
    ha_set_controller(NULL);
    ha_set_event_handler(NULL, NULL);
    replace(&controller, Py_XNewRef(object));
    int hears = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        PyObject *function = functions ? PyTuple_GetItem(functions, kind) : Py_None;
        replace(&heard[kind], function == Py_None ? NULL : Py_NewRef(function));
        hears |= heard[kind] != NULL;
    }
    if (object) ha_set_controller(&(ha_controller){pressure, choose, NULL});
    if (hears) ha_set_event_handler(hear, NULL);
}

/* _set_controller(object, (new, gone, evict, restore), ArrayInfo): the first two get an ArrayInfo, the others also a name. */
PyObject *set_controller(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *object, *functions, *info;
    if (!PyArg_ParseTuple(args, "OO!O!", &object, &PyTuple_Type, &functions, &PyType_Type, &info))
        return NULL;
    if (PyTuple_Size(functions) != KINDS || !PyType_IsSubtype((PyTypeObject *)info, &PyTuple_Type))
        return PyErr_Format(PyExc_ValueError, "%d functions and a tuple", KINDS);
    replace(&info_type, Py_NewRef(info));
    install(object == Py_None ? NULL : object, functions);
    Py_RETURN_NONE;
}

void controller_end(void) { install(NULL, NULL); }
