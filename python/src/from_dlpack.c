/* DLPack, taking: tensors of other packages, whose deleters are called with the GIL, or not at all when the
 * interpreter has ended. */
#include "binding.h"

#include <stdlib.h>

/* A tensor of theirs in one of ours, which is what the engine keeps. */
typedef struct {
    ha_dl_managed_tensor_versioned ours;
    void *theirs;
    int is_versioned;
} taken;

static void delete_theirs(const taken *t) {
    ha_dl_managed_tensor_versioned *versioned = t->theirs;
    ha_dl_managed_tensor *legacy = t->theirs;
    if (t->is_versioned && versioned->deleter) versioned->deleter(versioned);
    if (!t->is_versioned && legacy->deleter) legacy->deleter(legacy);
}

static void release(ha_dl_managed_tensor_versioned *ours) {
    taken *t = ours->manager_ctx;
    if (is_ending || is_forked) return;
    const callback c = callback_begin();
    delete_theirs(t);
    callback_end(c);
    free(t);
}

static taken *take_versioned(PyObject *capsule) {
    taken *t = malloc(sizeof *t);
    ha_dl_managed_tensor_versioned *theirs = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (!t || PyCapsule_SetName(capsule, "used_dltensor_versioned")) return free(t), NULL;
    *t = (taken){*theirs, theirs, 1};
    return t;
}

static taken *take_legacy(PyObject *capsule) {
    taken *t = malloc(sizeof *t);
    ha_dl_managed_tensor *theirs = PyCapsule_GetPointer(capsule, "dltensor");
    if (!t || PyCapsule_SetName(capsule, "used_dltensor")) return free(t), NULL;
    *t = (taken){
        {.version = {HA_DL_MAJOR, HA_DL_MINOR}, .dl_tensor = theirs->dl_tensor}, theirs, 0};
    return t;
}

static PyObject *array_of(PyObject *capsule, ha_context *context) {
    taken *t = NULL;
    darray x = {.array = NULL};
    if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
        t = take_versioned(capsule);
    else if (PyCapsule_IsValid(capsule, "dltensor"))
        t = take_legacy(capsule);
    else
        return PyErr_Format(PyExc_TypeError, "__dlpack__ gave %R, which is no capsule of DLPack",
                            capsule);
    if (!t) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    t->ours.manager_ctx = t;
    t->ours.deleter = release;
    UNLOCKED(x = darray_from_dlpack(&t->ours, context));
    return array_own(x);
}

/* With the versions that harray knows; as before there were any, for packages that do not know the argument. */
static PyObject *ask(PyObject *object, PyObject *stream, int copies) {
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
    if (!method) return NULL;
    PyObject *none = PyTuple_New(0);
    PyObject *newer = Py_BuildValue(copies ? "{s:O,s:(ii),s:O}" : "{s:O,s:(ii)}", "stream", stream,
                                    "max_version", HA_DL_MAJOR, HA_DL_MINOR, "copy", Py_True);
    PyObject *older = stream == Py_None ? PyDict_New() : Py_BuildValue("{s:O}", "stream", stream);
    PyObject *capsule = none && newer && older ? PyObject_Call(method, none, newer) : NULL;
    if (!capsule && older && !copies && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = PyObject_Call(method, none, older);
    }
    Py_XDECREF(older);
    Py_XDECREF(newer);
    Py_XDECREF(none);
    Py_DECREF(method);
    return capsule;
}

/* The context where the producer has its values. */
static int context_of(PyObject *object, ha_context **context) {
    int type, number;
    PyObject *device = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    if (!device) return -1;
    const int is_pair = PyTuple_Check(device) && PyArg_ParseTuple(device, "ii", &type, &number);
    if (!is_pair && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "__dlpack_device__ gave %R, which is no pair of numbers",
                     device);
    Py_DECREF(device);
    if (!is_pair) return -1;
    *context = ha_host();
    if (type == HA_DL_CPU || type == HA_DL_CUDA_HOST) return 0;
    if (type != HA_DL_CUDA && type != HA_DL_CUDA_MANAGED)
        return PyErr_Format(PyExc_NotImplementedError,
                            "DLPack's device type %d: harray has no such devices", type),
               -1;
    UNLOCKED(*context = ha_context_get("cuda", number));
    return *context ? 0 : (raise_status(HA_OK), -1);
}

/* What the producer is told: the number of the context's stream. */
static PyObject *stream_of(ha_context *context) {
    void *stream = ha_context_stream(context);
    if (context == ha_host()) return Py_NewRef(Py_None);
    return stream ? PyLong_FromVoidPtr(stream) : PyLong_FromLong(1);
}

static PyObject *take(PyObject *object, ha_context *context, int copies) {
    if (!context && context_of(object, &context)) return NULL;
    PyObject *stream = stream_of(context);
    PyObject *capsule = stream ? ask(object, stream, copies) : NULL;
    PyObject *array = capsule ? array_of(capsule, context) : NULL;
    Py_XDECREF(capsule);
    Py_XDECREF(stream);
    return array;
}

PyObject *take_dlpack(PyObject *object, ha_context *context) { return take(object, context, 0); }

PyObject *take_producers_copy(PyObject *object) {
    PyObject *type, *value, *trace, *array = NULL;
    if (!PyErr_ExceptionMatches(PyExc_RuntimeError)) return NULL;
    PyErr_Fetch(&type, &value, &trace);
    if (PyObject_HasAttrString(object, "__dlpack__")) array = take(object, NULL, 1);
    PyErr_Restore(type, value, trace);
    if (array) PyErr_Clear();
    return array;
}

/* A copy at a context; takes the array over. */
static PyObject *copied(PyObject *array, ha_context *context) {
    darray y = {.array = NULL};
    if (!array) return NULL;
    const char *site = here();
    UNLOCKED({
        HA_FROM(site) y = darray_contiguous_(ARRAY(array), HA_ROW_MAJOR, context, NULL);
        if (y.array) HA_IGNORE(darray_prefetch_(y, context, site));
    });
    Py_DECREF(array);
    return array_own(y);
}

PyObject *from_dlpack(PyObject *module, PyObject *args, PyObject *keywords) {
    (void)module;
    static char *names[] = {"x", "device", "copy", NULL};
    PyObject *object, *device = Py_None, *copy = Py_None;
    ha_context *source, *target;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OO", names, &object, &device, &copy) ||
        context_of(object, &source) || context_from(device, &target))
        return NULL;
    if (device == Py_None) target = source;
    if (target != source && copy == Py_False)
        return PyErr_Format(PyExc_ValueError, "the values are at %s: at %s they are a copy",
                            ha_context_name(source), ha_context_name(target));
    PyObject *array = take_dlpack(object, source);
    if (target == source && copy != Py_True) return array;
    return copied(array ? array : take_producers_copy(object), target);
}
