/* Tier: a store in Python as a context. Its functions are called by a thread of the library's, which takes the GIL for that
 * alone. What they raise goes to sys.unraisablehook, and is a failure of that call. */
#include "binding.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

typedef struct tier {
    PyObject *put, *get, *delete;
    PyObject *keys; /* a set of those that are there */
    struct tier *next;
} tier;

/* Tiers stay, as their contexts do. */
static tier *tiers;
static double patience = 60; /* seconds, at the end of the interpreter */

/* At the end nothing is called any more. Who calls is counted first, and looks then. */
static atomic_int is_ended, calls;

/* What Python knows of the thread stays with it: making that for each call takes longer, and may not fail. */
static void be_known(void) {
    static _Thread_local int is_known;
    if (is_known) return;
    (void)PyGILState_Ensure();
    (void)PyEval_SaveThread();
    is_known = 1;
}

static int call_begin(callback *c) {
    atomic_fetch_add(&calls, 1);
    if (!atomic_load(&is_ended)) {
        be_known();
        *c = callback_begin_on_queue();
        return 1;
    }
    atomic_fetch_sub(&calls, 1);
    return 0;
}

static void call_end(callback c) {
    callback_end(c);
    atomic_fetch_sub(&calls, 1);
}

/* ---- memory that is lent ------------------------------------------------------------------------- */

/* What memoryviews of it are of: it counts who has the memory, as a memoryview does not know of those made of it. */
typedef struct {
    PyObject_HEAD void *data;
    size_t bytes;
    int is_read_only;
    Py_ssize_t views;
} lent_body;

static PyTypeObject *lent_type;
#define LENT(self) ((lent_body *)(self))

static int lend(PyObject *self, Py_buffer *view, int flags) {
    const lent_body *l = LENT(self);
    if (PyBuffer_FillInfo(view, self, l->data, (Py_ssize_t)l->bytes, l->is_read_only, flags))
        return -1;
    LENT(self)->views++;
    return 0;
}

static void take_back(PyObject *self, Py_buffer *view) {
    (void)view;
    LENT(self)->views--;
}

static void dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyType_Slot lent_slots[] = {
    {Py_tp_dealloc, dealloc}, {Py_bf_getbuffer, lend}, {Py_bf_releasebuffer, take_back}, {0, NULL}};
static PyType_Spec lent_spec = {"harray._Lent", sizeof(lent_body), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, lent_slots};

/* Calls it with the key and a memoryview. */
static PyObject *call_with_view(PyObject *function, uint64_t key, PyObject *lent) {
    PyObject *view = PyMemoryView_FromObject(lent);
    if (!view) return NULL;
    PyObject *result = PyObject_CallFunction(function, "KO", (unsigned long long)key, view);
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *released = PyObject_CallMethod(view, "release", NULL);
    Py_DECREF(view);
    if (!released) Py_CLEAR(result);
    Py_XDECREF(released);
    if (type) PyErr_Restore(type, value, trace); // which comes first
    return result;
}

/* The memory is there until it returns: one that keeps it has failed. */
static PyObject *call_with(PyObject *function, uint64_t key, void *data, size_t bytes,
                           int is_read_only) {
    PyObject *lent = PyType_GenericAlloc(lent_type, 0);
    if (!lent) return NULL;
    LENT(lent)->data = data;
    LENT(lent)->bytes = bytes;
    LENT(lent)->is_read_only = is_read_only;
    PyObject *result = call_with_view(function, key, lent);
    if (result && LENT(lent)->views) {
        PyErr_Format(PyExc_BufferError, "%R keeps memory of key %llu, which is gone now", function,
                     (unsigned long long)key);
        Py_CLEAR(result);
    }
    LENT(lent)->bytes = 0;
    Py_DECREF(lent);
    return result;
}

/* ---- what a store is called for ---------------------------------------------------------------------- */

static int put(void *user, uint64_t key, const void *from, size_t bytes) {
    tier *t = user;
    callback c;
    if (!call_begin(&c)) return ECANCELED;
    PyObject *number = PyLong_FromUnsignedLongLong(key), *result = NULL;
    if (number && !PySet_Add(t->keys, number))
        result = call_with(t->put, key, (void *)(uintptr_t)from, bytes, 1);
    if (!result) PyErr_WriteUnraisable(t->put);
    const int error = result ? 0 : EIO;
    Py_XDECREF(result);
    Py_XDECREF(number);
    call_end(c);
    return error;
}

/* None is all of it. */
static ptrdiff_t count_of(PyObject *result, size_t bytes) {
    if (!result) return -1;
    if (result == Py_None) return (ptrdiff_t)bytes;
    const Py_ssize_t count = PyLong_AsSsize_t(result);
    if (count < 0 && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "get gives how many bytes there were, not %zd", count);
    return count;
}

static ptrdiff_t get(void *user, uint64_t key, void *to, size_t bytes) {
    tier *t = user;
    callback c;
    if (!call_begin(&c)) return -ECANCELED;
    PyObject *result = call_with(t->get, key, to, bytes, 0);
    ptrdiff_t count = count_of(result, bytes);
    if (PyErr_Occurred()) {
        PyErr_WriteUnraisable(t->get);
        count = -EIO;
    }
    Py_XDECREF(result);
    call_end(c);
    return count;
}

static void delete_now(tier *t, PyObject *number) {
    PyObject *result = PySet_Discard(t->keys, number) < 0
                           ? NULL
                           : PyObject_CallFunctionObjArgs(t->delete, number, NULL);
    if (!result) PyErr_WriteUnraisable(t->delete);
    Py_XDECREF(result);
}

static void delete (void *user, uint64_t key) {
    callback c;
    if (!call_begin(&c)) return;
    PyObject *number = PyLong_FromUnsignedLongLong(key);
    if (number)
        delete_now(user, number);
    else
        PyErr_WriteUnraisable(((tier *)user)->delete);
    Py_XDECREF(number);
    call_end(c);
}

/* ---- making one --------------------------------------------------------------------------------- */

static void free_tier(tier *t) {
    Py_XDECREF(t->put);
    Py_XDECREF(t->get);
    Py_XDECREF(t->delete);
    Py_XDECREF(t->keys);
    free(t);
}

static tier *new_tier(PyObject *put_, PyObject *get_, PyObject *delete_) {
    if (!lent_type) lent_type = (PyTypeObject *)PyType_FromSpec(&lent_spec);
    if (!lent_type) return NULL;
    tier *t = malloc(sizeof *t);
    if (!t) return PyErr_NoMemory(), NULL;
    *t = (tier){Py_NewRef(put_), Py_NewRef(get_), Py_NewRef(delete_), PySet_New(NULL), NULL};
    if (t->keys) return t;
    free_tier(t);
    return NULL;
}

/* Tier(put, get, delete, *, capacity=None, piece=None) */
PyObject *make_tier(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"put", "get", "delete", "capacity", "piece", NULL};
    PyObject *functions[3], *capacity = Py_None, *piece = Py_None;
    uint64_t capacity_bytes = 0, piece_bytes = 0;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO|$OO:Tier", names, &functions[0],
                                     &functions[1], &functions[2], &capacity, &piece))
        return NULL;
    for (int i = 0; i < 3; i++)
        if (!PyCallable_Check(functions[i]))
            return PyErr_Format(PyExc_TypeError, "Tier: %s: %R cannot be called", names[i],
                                functions[i]);
    if ((capacity != Py_None && bytes_from(capacity, &capacity_bytes)) ||
        (piece != Py_None && bytes_from(piece, &piece_bytes)))
        return NULL;
    tier *t = new_tier(functions[0], functions[1], functions[2]);
    if (!t) return NULL;
    const ha_store store = {put, get, delete, t, capacity_bytes, (size_t)piece_bytes};
    ha_context *context;
    UNLOCKED(context = ha_store_open(&store));
    PyObject *result = context_object(context);
    if (!context) return free_tier(t), NULL;
    t->next = tiers;
    tiers = t;
    return result;
}

/* ---- the end ------------------------------------------------------------------------------------- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void sleep_for_a_moment(void) {
    const struct timespec moment = {0, 1000000};
    MAY_WAIT();
    nanosleep(&moment, NULL);
}

/* Until no call runs any more: 0. -1: it takes too long, or Ctrl-C. */
static int wait_for_calls(double until) {
    while (atomic_load(&calls)) {
        if (now() > until) return -1;
        UNLOCKED(sleep_for_a_moment());
        if (PyErr_CheckSignals()) return PyErr_WriteUnraisable(NULL), -1;
    }
    return 0;
}

/* What is left there is of no use to anybody. */
static Py_ssize_t delete_all(tier *t, double until) {
    PyObject *keys = PySequence_List(t->keys);
    for (Py_ssize_t i = 0; keys && i < PyList_Size(keys) && now() <= until; i++)
        delete_now(t, PyList_GetItem(keys, i));
    if (!keys) PyErr_WriteUnraisable(NULL);
    Py_XDECREF(keys);
    return PySet_Size(t->keys);
}

int tiers_end(void) {
    const double until = now() + patience;
    atomic_store(&is_ended, 1);
    if (wait_for_calls(until)) {
        PySys_WriteStderr("harray: a function of a tier has not returned in %d s, and is left\n",
                          (int)patience);
        return -1;
    }
    for (tier *t = tiers; t; t = t->next) {
        const Py_ssize_t left = delete_all(t, until);
        if (left > 0)
            PySys_WriteStderr("harray: %zd keys are left in a tier: deleting took %d s\n", left,
                              (int)patience);
    }
    return 0;
}

/* _set_patience(seconds): for tests. */
PyObject *set_patience(PyObject *module, PyObject *seconds) {
    (void)module;
    const double value = PyFloat_AsDouble(seconds);
    if (PyErr_Occurred()) return NULL;
    patience = value;
    Py_RETURN_NONE;
}
