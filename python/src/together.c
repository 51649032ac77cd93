/* Several arrays opened at once: all or none, without deadlock. */
#include "binding.h"

#include <stdlib.h>

enum { MOST_AT_ONCE = 64 };
typedef struct {
    Py_ssize_t count;
    PyObject *array[MOST_AT_ONCE];
    held h[MOST_AT_ONCE];
    ha_access access[MOST_AT_ONCE];
    ha_request request[MOST_AT_ONCE];
} opening;

static int request_from(PyObject *pair, opening *o, Py_ssize_t i) {
    PyObject *how;
    if (!PyTuple_Check(pair) || !PyArg_ParseTuple(pair, "OO", &o->array[i], &how) ||
        !is_array(o->array[i])) {
        PyErr_Format(PyExc_TypeError,
                     "%R: a pair of an array and \"read\", \"write\" or \"overwrite\"", pair);
        return -1;
    }
    return how_from(how, &o->h[i].how);
}

static int requests_from(PyObject *pairs, ha_context *context, opening *o) {
    o->count = PyTuple_Size(pairs);
    if (o->count > MOST_AT_ONCE) {
        PyErr_Format(PyExc_ValueError, "at most %d arrays at once", MOST_AT_ONCE);
        return -1;
    }
    for (Py_ssize_t i = 0; i < o->count; i++) {
        if (request_from(PyTuple_GetItem(pairs, i), o, i)) return -1;
        o->h[i].context = context;
        o->h[i].x = ARRAY(o->array[i]);
        o->h[i].site = here();
    }
    return 0;
}

/* ---- opening ---------------------------------------------------------------------------------- */

static ha_status open_all(opening *o, unsigned tries) {
    const char *site = here();
    ha_status status = HA_OK;
    for (Py_ssize_t i = 0; i < o->count; i++)
        o->request[i] = (ha_request){.access = &o->access[i],
                                     .context = o->h[i].context,
                                     .how = o->h[i].how | (i ? 0 : tries),
                                     .view = &o->h[i].x};
    UNLOCKED(status = ha_open_many_(o->request, (size_t)o->count, site));
    return status;
}

/* Until nobody else has the array that was in use, holding none meanwhile: Ctrl-C ends that. 0, or -1. What cannot
 * be opened for other reasons is told when all are tried again. */
static int wait_for_one(const opening *o) {
    Py_ssize_t i = 0;
    while (i + 1 < o->count && o->access[i].status != HA_ERR_BUSY) i++;
    return wait_for_others(o->h[i].x, o->h[i].context, o->h[i].how == HA_READ ? HA_READ : HA_WRITE);
}

/* The accesses' arrays as "'x' (800 bytes), an array (80 bytes)". NULL: an exception is set. */
static PyObject *names_of(const opening *o) {
    PyObject *text = PyUnicode_FromString("");
    for (Py_ssize_t i = 0; text && i < o->count; i++) {
        char name[64];
        const size_t elements = ha_array_size(o->h[i].x.array); // of a view all is opened
        const long long bytes = (long long)(elements * dtype_size(o->h[i].x.type));
        replace(&text, PyUnicode_FromFormat("%U%s%s (%lld bytes)", text, i ? ", " : "",
                                            array_called(o->h[i].x, name, sizeof name), bytes));
    }
    return text;
}

/* Memory has to do for all of them: they are named. */
static void raise_no_memory(const opening *o, ha_status status) {
    const ha_error error = ha_take_error();
    PyObject *names = names_of(o);
    PyObject *more = names ? PyUnicode_FromFormat("; asked for together at %s: %U",
                                                  ha_context_name(o->h[0].context), names)
                           : NULL;
    const char *text = more ? PyUnicode_AsUTF8AndSize(more, NULL) : NULL;
    if (text) raise_error(status, &error, text);
    Py_XDECREF(more);
    Py_XDECREF(names);
}

/* Of a conflict what was exported of the array of which it is told. -1. */
static int refuse(const opening *o, ha_status status) {
    Py_ssize_t i = 0;
    while (i + 1 < o->count && o->access[i].status != status) i++;
    if (PyErr_Occurred())
        (void)ha_take_error(); // a signal's
    else if (status == HA_ERR_MEMORY)
        raise_no_memory(o, status);
    else
        raise_about(status, {o->h[i].x.array, o->h[i].how});
    return -1;
}

/* What is in use is waited for by itself; memory that others use is waited for with all of them. */
static int open_patiently_all(opening *o, int waits) {
    ha_status status = open_all(o, HA_TRY);
    while (waits && status == HA_ERR_BUSY && !PyErr_Occurred()) {
        (void)ha_take_error();
        if (wait_for_one(o)) return -1;
        status = open_all(o, HA_TRY);
    }
    if (waits && status == HA_ERR_MEMORY && !PyErr_Occurred()) {
        (void)ha_take_error();
        status = open_all(o, 0);
    }
    return status ? refuse(o, status) : 0;
}

/* ---- what was opened -------------------------------------------------------------------------- */

/* From an open access of this thread to one that any may end. NULL: no memory. */
static held *detached(const held *like, ha_access *access) {
    held *h = malloc(sizeof *h);
    if (!h) return NULL;
    *h = *like;
    h->owners = 1;
    h->x = darray_share(like->x);
    h->data = access->data;
    if (!ha_detach_(&h->token, access, h->site)) return h;
    array_drop(h->x);
    free(h);
    return NULL;
}

static PyObject *detach_all(opening *o) {
    PyObject *result = PyTuple_New(o->count);
    for (Py_ssize_t i = 0; i < o->count; i++) {
        held *h = result ? detached(&o->h[i], &o->access[i]) : NULL;
        PyObject *access = h ? access_new(o->array[i], h) : NULL;
        if (access && !PyTuple_SetItem(result, i, access)) continue;
        if (!PyErr_Occurred()) raise_status(HA_ERR_MEMORY);
        if (o->access[i].array) UNLOCKED(HA_IGNORE(ha_close(&o->access[i])));
        Py_CLEAR(result);
    }
    return result;
}

PyObject *open_many(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *pairs, *where, *result = NULL;
    int waits;
    ha_context *context;
    if (!PyArg_ParseTuple(args, "O!Op", &PyTuple_Type, &pairs, &where, &waits) ||
        context_from(where, &context))
        return NULL;
    opening *o = PyMem_Calloc(1, sizeof *o);
    if (!o) return PyErr_NoMemory();
    if (!requests_from(pairs, context, o) && !open_patiently_all(o, waits)) result = detach_all(o);
    PyMem_Free(o);
    return result;
}
