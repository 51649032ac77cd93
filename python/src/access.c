/* harray.Access: an array that is open somewhere, as a context manager and as what exports its elements. */
#include "binding.h"

PyTypeObject *access_type;
#define ACCESS(self) ((access_object *)(self))

PyObject *access_new(PyObject *array, held *h) {
    access_object *access = (access_object *)PyType_GenericAlloc(access_type, 0);
    if (!access) return held_drop(h), NULL;
    access->array = Py_NewRef(array);
    access->h = h;
    return (PyObject *)access;
}

held *access_held(PyObject *self) {
    char name[64];
    if (!ACCESS(self)->h)
        PyErr_Format(PyExc_ValueError, "the access to %s was closed at %s",
                     array_called(ARRAY(ACCESS(self)->array), name, sizeof name),
                     ACCESS(self)->closed);
    return ACCESS(self)->h;
}

/* ---- opening ---------------------------------------------------------------------------------- */

/* ctx=None, *, wait=True. 0, or -1. */
static int keyword(PyObject *name, PyObject *value, PyObject **where, int *waits) {
    if (!PyUnicode_CompareWithASCIIString(name, "wait"))
        return (*waits = PyObject_IsTrue(value)) < 0 ? -1 : 0;
    if (!*where && !PyUnicode_CompareWithASCIIString(name, "ctx")) return *where = value, 0;
    PyErr_Format(PyExc_TypeError, "%R: a context (ctx) comes once, wait=True or False behind it",
                 name);
    return -1;
}

static PyObject *open_array(PyObject *self, PyObject *const *args, Py_ssize_t count,
                            PyObject *names, unsigned how) {
    PyObject *where = count ? args[0] : NULL;
    const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    int waits = 1;
    ha_context *context;
    if (count > 1)
        return PyErr_Format(PyExc_TypeError, "one context, not %zd: wait= is a keyword", count);
    for (Py_ssize_t i = 0; i < named; i++)
        if (keyword(PyTuple_GetItem(names, i), args[count + i], &where, &waits)) return NULL;
    if (context_from(where, &context)) return NULL;
    held *h = held_open(ARRAY(self), context, how, waits);
    return h ? access_new(self, h) : NULL;
}

PyObject *array_read(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    return open_array(self, args, count, names, HA_READ);
}
PyObject *array_write(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    return open_array(self, args, count, names, HA_WRITE);
}
PyObject *array_overwrite(PyObject *self, PyObject *const *args, Py_ssize_t count,
                          PyObject *names) {
    return open_array(self, args, count, names, HA_OVERWRITE);
}

/* ---- closing ---------------------------------------------------------------------------------- */

/* Closes what is open. 0; -1: it is closed, and an exception says what was done with it that must not be. */
static int let_go(PyObject *self) {
    held *h = ACCESS(self)->h;
    ACCESS(self)->h = NULL;
    ACCESS(self)->closed = here();
    const int status = verify_raise(&h->shown, h);
    held_drop(h);
    return status;
}

/* The same where something else is on its way to be told. */
static void let_go_quietly(PyObject *self) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (let_go(self)) PyErr_WriteUnraisable(self);
    PyErr_Restore(type, value, trace);
}

/* Who keeps it open: an exception that says so. */
static void tell_exports(PyObject *self, const char *then) {
    char name[64], who[200];
    exports_of(ACCESS(self)->h, who, sizeof who);
    PyErr_Format(PyExc_BufferError, "the access to %s is still exported: %s; %s",
                 array_called(ARRAY(ACCESS(self)->array), name, sizeof name), who, then);
}

static PyObject *close_access(PyObject *self, PyObject *unused) {
    (void)unused;
    if (ACCESS(self)->h && held_is_exported(ACCESS(self)->h)) {
        tell_exports(self, "it stays open");
        return NULL;
    }
    if (ACCESS(self)->h && let_go(self)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *enter(PyObject *self, PyObject *unused) {
    (void)unused;
    return access_held(self) ? Py_NewRef(self) : NULL;
}

/* What is still exported keeps the array open, and is told unless something else went wrong. */
static PyObject *leave(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    if (count != 3)
        return PyErr_Format(PyExc_TypeError, "__exit__ takes type, value and traceback");
    const int told = ACCESS(self)->h && held_is_exported(ACCESS(self)->h) && args[0] == Py_None;
    if (told) tell_exports(self, "it is closed when that has gone");
    int status = told ? -1 : 0;
    if (ACCESS(self)->h && (told || args[0] != Py_None))
        let_go_quietly(self);
    else if (ACCESS(self)->h)
        status = let_go(self);
    if (status) return NULL;
    Py_RETURN_NONE;
}

static void dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    if (ACCESS(self)->h) {
        verify_tell(&ACCESS(self)->h->shown, ACCESS(self)->h);
        held_drop(ACCESS(self)->h);
    }
    Py_XDECREF(ACCESS(self)->array);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- asking ----------------------------------------------------------------------------------- */

static PyObject *get_array(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(ACCESS(self)->array);
}

static PyObject *get_of_array(PyObject *self, void *name) {
    return PyObject_GetAttrString(ACCESS(self)->array, name);
}

static PyObject *get_context(PyObject *self, void *unused) {
    (void)unused;
    const held *h = access_held(self);
    return h ? context_object(h->context) : NULL;
}

static PyObject *get_mode(PyObject *self, void *unused) {
    (void)unused;
    const held *h = access_held(self);
    return h ? PyUnicode_FromString(how_name(h->how)) : NULL;
}

static PyObject *get_closed(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(!ACCESS(self)->h);
}

static PyObject *get_pointer(PyObject *self, void *unused) {
    (void)unused;
    held *h = access_held(self);
    if (!h || held_show(h, "its address")) return NULL;
    h = access_held(self); // unless it was closed meanwhile
    return h ? PyLong_FromVoidPtr(h->data) : NULL;
}

static PyObject *get_stream(PyObject *self, void *unused) {
    (void)unused;
    const held *h = access_held(self);
    return h ? PyLong_FromVoidPtr(ha_context_stream(h->context)) : NULL;
}

static PyObject *repr(PyObject *self) {
    char name[64];
    const held *h = ACCESS(self)->h;
    array_called(ARRAY(ACCESS(self)->array), name, sizeof name);
    if (!h)
        return PyUnicode_FromFormat("<harray.Access to %s, closed at %s>", name,
                                    ACCESS(self)->closed);
    return PyUnicode_FromFormat("<harray.Access to %s, %s at %s, opened at %s>", name,
                                how_name(h->how), ha_context_name(h->context), h->site);
}

#define METHOD(f) ((PyCFunction)(void (*)(void))f)
static PyMethodDef methods[] = {
    {"close", close_access, METH_NOARGS, "Ends it; BufferError while something is exported."},
    {"__enter__", enter, METH_NOARGS, NULL},
    {"__exit__", METHOD(leave), METH_FASTCALL, NULL},
    {"__dlpack__", METHOD(access_dlpack), METH_VARARGS | METH_KEYWORDS, NULL},
    {"__dlpack_device__", access_dlpack_device, METH_NOARGS, NULL},
    {0}};
static PyGetSetDef members[] = {
    {"array", get_array, NULL, "The array.", NULL},
    {"shape", get_of_array, NULL, "Of the array.", "shape"},
    {"dtype", get_of_array, NULL, "Of the array.", "dtype"},
    {"strides", get_of_array, NULL, "Of the array, in bytes.", "strides"},
    {"ndim", get_of_array, NULL, "Of the array.", "ndim"},
    {"context", get_context, NULL, "Where it is open.", NULL},
    {"mode", get_mode, NULL, "\"read\", \"write\" or \"overwrite\".", NULL},
    {"closed", get_closed, NULL, "Was it closed?", NULL},
    {"pointer", get_pointer, NULL, "The address of the first element there.", NULL},
    {"stream", get_stream, NULL, "The context's stream as a number.", NULL},
    {"__array_interface__", access_interface, NULL, NULL, NULL},
    {"__cuda_array_interface__", access_cuda_interface, NULL, NULL, NULL},
    {"__sycl_usm_array_interface__", access_sycl_interface, NULL, "Its record, for dpctl.", NULL},
    {0}};
static PyType_Slot slots[] = {{Py_tp_doc, "An array that is open at a context."},
                              {Py_tp_dealloc, dealloc},
                              {Py_tp_repr, repr},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, members},
                              {Py_bf_getbuffer, access_buffer},
                              {Py_bf_releasebuffer, release_buffer},
                              {0, NULL}};
static PyType_Spec spec = {"harray.Access", sizeof(access_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int access_begin(PyObject *module) {
    if (!access_type) access_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!access_type) return -1;
    Py_INCREF((PyObject *)access_type);
    return PyModule_AddObject(module, "Access", (PyObject *)access_type);
}
