/* Contexts: harray.Context. Two objects for one context are equal. */
#include "raw.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    PyObject_HEAD ha_context *context;
} context_body;

static PyTypeObject *context_type;
#define CONTEXT(self) (((context_body *)(self))->context)

/* The context of an object; NULL and RuntimeError at the end of the interpreter, when devices have been given back. */
static ha_context *alive(PyObject *self) {
    if (!is_shut_down || CONTEXT(self) == ha_host()) return CONTEXT(self);
    PyErr_SetString(PyExc_RuntimeError, "the interpreter ends: devices have been given back");
    return NULL;
}

PyObject *context_object(ha_context *context) {
    if (!context) return raise_status(HA_OK);
    context_body *object = (context_body *)PyType_GenericAlloc(context_type, 0);
    if (object) object->context = context;
    return (PyObject *)object;
}

/* Who computes with dpctl gets its devices, unless HARRAY_DEVICE names one. NULL: an error of the library's. */
static ha_context *find_best(void) {
    const char *wanted = getenv("HARRAY_DEVICE");
    const int is_named = wanted && *wanted && strcmp(wanted, "best") != 0;
    ha_context *context = is_named ? NULL : sycl_best();
    if (!context) UNLOCKED(context = ha_context_best());
    return context;
}

static int find(PyObject *name, ha_context **context) {
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text) return -1;
    if (!strcmp(text, "best"))
        *context = find_best();
    else
        UNLOCKED(*context = ha_context_find(text));
    return *context ? 0 : (raise_status(HA_OK), -1);
}

int context_from(PyObject *object, ha_context **context) {
    *context = ha_host();
    if (!object || object == Py_None) {
        ha_context *current = ha_context_current();
        if (current) *context = current;
        return 0;
    }
    if (PyUnicode_Check(object)) return find(object, context);
    if (!PyObject_TypeCheck(object, context_type)) {
        PyErr_Format(PyExc_TypeError,
                     "%R is no context: harray.Context, or a name such as \"cuda:0\"", object);
        return -1;
    }
    *context = alive(object);
    return *context ? 0 : -1;
}

PyObject *find_context(PyObject *module, PyObject *name) {
    (void)module;
    ha_context *context;
    return context_from(name, &context) ? NULL : context_object(context);
}

PyObject *best_context(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return context_object(find_best());
}

ha_context *first_context(const char *kind, int (*is)(ha_context *c, const void *of),
                          const void *of) {
    char name[32];
    ha_context *found = NULL;
    const int count = ha_context_count(kind);
    for (int i = 0; i < count && !found; i++) {
        snprintf(name, sizeof name, "%s:%d", kind, i);
        ha_context *c = ha_context_find(name);
        if (c && is(c, of)) found = c;
    }
    (void)ha_take_error(); // of those that cannot be opened
    return found;
}

/* A number, or the reference of a queue of dpctl's. */
static int stream_from(PyObject *object, void **stream) {
    PyObject *number = PyIndex_Check(object) ? PyNumber_Index(object)
                                             : PyObject_CallMethod(object, "addressof_ref", NULL);
    if (!number && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Format(PyExc_TypeError, "%R is neither a number nor a queue of dpctl's", object);
    if (!number) return -1;
    *stream = (void *)(uintptr_t)PyLong_AsUnsignedLongLongMask(number);
    Py_DECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

/* adopt(device, stream): the stream of another package as a context. adopt(queue): of dpctl's, whose device it says. */
PyObject *adopt_stream(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *first, *second = NULL;
    ha_context *context;
    void *stream;
    if (!PyArg_ParseTuple(args, "O|O", &first, &second)) return NULL;
    if (second && context_from(first, &context)) return NULL;
    if (!second && PyIndex_Check(first))
        return PyErr_Format(PyExc_TypeError, "%R is no queue of dpctl's", first);
    if (second && !PyIndex_Check(second) && strcmp(ha_context_kind(context), "sycl") != 0)
        return PyErr_Format(PyExc_TypeError, "%R is not a number, as streams of %s are", second,
                            ha_context_name(context));
    if (stream_from(second ? second : first, &stream)) return NULL;
    UNLOCKED(context = second ? ha_context_adopt(context, stream) : ha_sycl_adopt(stream));
    return context_object(context);
}

/* ---- methods ---------------------------------------------------------------------------------- */

static PyObject *finish(PyObject *self, PyObject *unused) {
    (void)unused;
    ha_context *own = alive(self);
    if (!own) return NULL;
    return finish_patiently(own) ? NULL : Py_NewRef(Py_None);
}

static PyObject *fork_context(PyObject *self, PyObject *unused) {
    (void)unused;
    ha_context *own = alive(self);
    if (!own) return NULL;
    ha_context *context;
    UNLOCKED(context = ha_context_fork(own));
    return context_object(context);
}

static PyObject *unfork(PyObject *self, PyObject *unused) {
    (void)unused;
    ha_context *own = alive(self);
    if (!own) return NULL;
    ha_status status = HA_OK;
    UNLOCKED(status = ha_context_unfork(own));
    if (status) return raise_status(status);
    Py_RETURN_NONE;
}

static PyObject *get_name(PyObject *self, void *unused) {
    (void)unused;
    const ha_context *own = alive(self);
    return own ? PyUnicode_FromString(ha_context_name(own)) : NULL;
}

static PyObject *get_kind(PyObject *self, void *unused) {
    (void)unused;
    const ha_context *own = alive(self);
    return own ? PyUnicode_FromString(ha_context_kind(own)) : NULL;
}

static PyObject *get_number(PyObject *self, void *unused) {
    (void)unused;
    const ha_context *own = alive(self);
    return own ? PyLong_FromLong(ha_context_number(own)) : NULL;
}

static PyObject *get_stream(PyObject *self, void *unused) {
    (void)unused;
    const ha_context *own = alive(self);
    return own ? PyLong_FromVoidPtr(ha_context_stream(own)) : NULL;
}

static PyObject *repr(PyObject *self) {
    const ha_context *own = alive(self);
    return own ? PyUnicode_FromFormat("<harray.Context %s>", ha_context_name(own)) : NULL;
}

static PyObject *text(PyObject *self) { return get_name(self, NULL); }

static Py_hash_t hash(PyObject *self) { return (Py_hash_t)((uintptr_t)CONTEXT(self) >> 4); }

static PyObject *compare(PyObject *self, PyObject *other, int how) {
    if ((how != Py_EQ && how != Py_NE) || !PyObject_TypeCheck(other, context_type))
        Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong((CONTEXT(self) == CONTEXT(other)) == (how == Py_EQ));
}

static void dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"finish", finish, METH_NOARGS, "Waits until all that was enqueued there has happened."},
    {"fork", fork_context, METH_NOARGS, "Another queue on the same device."},
    {"unfork", unfork, METH_NOARGS, "Gives a fork, or a stream that was adopted, back."},
    {0}};
static PyGetSetDef members[] = {
    {"name", get_name, NULL, "\"sim:0\"", NULL},
    {"kind", get_kind, NULL, "\"sim\"", NULL},
    {"number", get_number, NULL, "0", NULL},
    {"stream", get_stream, NULL, "The driver's queue as a number; 0 where there is none.", NULL},
    {"memory", context_memory, NULL, "The account of its memory, in bytes.", NULL},
    {"pressure", context_pressure, NULL, "What became of its memory when that was full.", NULL},
    {0}};
static PyType_Slot slots[] = {{Py_tp_doc, "Where work happens: the host, or a queue of a device."},
                              {Py_tp_dealloc, dealloc},
                              {Py_tp_repr, repr},
                              {Py_tp_str, text},
                              {Py_tp_hash, hash},
                              {Py_tp_richcompare, compare},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, members},
                              {0, NULL}};
static PyType_Spec spec = {"harray.Context", sizeof(context_body), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int context_begin(PyObject *module) {
    if (!context_type) context_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!context_type) return -1;
    Py_INCREF((PyObject *)context_type);
    PyObject *host = context_object(ha_host());
    return PyModule_AddObject(module, "Context", (PyObject *)context_type) ||
                   PyModule_AddObject(module, "host", host)
               ? -1
               : 0;
}
