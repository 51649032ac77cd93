/* The buffer protocol: of an array (reading on the host, or writing for who asks to), and of an access. */
#include "binding.h"

#include <stdlib.h>

/* What a buffer keeps until it is released. */
typedef struct {
    export taken;
    Py_ssize_t shape[HA_MOST_RANK + 1], strides[HA_MOST_RANK + 1];
    double nothing; /* where a buffer without elements points */
} buffer;

static int refuse(Py_buffer *view, darray x, const char *why) {
    char name[64];
    view->obj = NULL;
    PyErr_Format(PyExc_BufferError, "%s: %s", array_called(x, name, sizeof name), why);
    return -1;
}

static int is_c(const darray *x) { return darray_is_contiguous(*x, HA_ROW_MAJOR); }
static int is_f(const darray *x) { return darray_is_contiguous(*x, HA_COLUMN_MAJOR); }
static int has(int flags, int all) { return (flags & all) == all; }

/* What the consumer cannot cope with. NULL: nothing. */
static const char *mismatch(const darray *x, int flags) {
    if (!dtype_format(x->type)) return "the buffer protocol has no bfloat16; x.astype('float32')";
    if (has(flags, PyBUF_C_CONTIGUOUS) && !is_c(x)) return "not without gaps in C's order";
    if (has(flags, PyBUF_F_CONTIGUOUS) && !is_f(x)) return "not without gaps in Fortran's order";
    if (has(flags, PyBUF_ANY_CONTIGUOUS) && !is_c(x) && !is_f(x)) return "not without gaps";
    if (!has(flags, PyBUF_STRIDES) && !is_c(x))
        return "not without gaps in C's order, and the consumer knows no strides";
    return NULL;
}

static void fill(Py_buffer *view, buffer *b, const held *h, int flags) {
    const darray *x = &h->x;
    const Py_ssize_t size = (Py_ssize_t)dtype_size(x->type);
    Py_ssize_t elements = 1;
    for (int d = 0; d < x->rank; d++) {
        b->shape[d] = (Py_ssize_t)x->extent[d];
        b->strides[d] = (Py_ssize_t)x->stride[d] * size;
        elements *= b->shape[d];
    }
    view->buf = h->data ? h->data : &b->nothing;
    view->len = elements * size;
    view->itemsize = size;
    view->readonly = h->how == HA_READ;
    view->ndim = x->rank;
    view->format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)dtype_format(x->type) : NULL;
    view->shape = flags & PyBUF_ND ? b->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? b->strides : NULL;
    view->suboffsets = NULL;
    view->internal = b;
}

static int hand_out(PyObject *self, held *h, Py_buffer *view, int flags, const char *site) {
    buffer *b = malloc(sizeof *b);
    view->obj = NULL;
    if (!b) return PyErr_NoMemory(), -1;
    if (export_begin(&b->taken, h, "buffer", site)) return free(b), -1;
    fill(view, b, h, flags);
    view->obj = Py_NewRef(self);
    return 0;
}

/* ---- Ctrl-C, which NumPy takes for a refusal ------------------------------------------------- */

/* What ended the wait of the last buffer that was asked for, and where: NumPy forgets the exception, and asks __array__
 * next, which raises it again. With the GIL. */
static PyObject *interruption;
static const char *interrupted_at;

static void remember_interruption(void) {
    PyObject *type, *value, *trace;
    if (PyErr_ExceptionMatches(PyExc_Exception)) return;
    PyErr_Fetch(&type, &value, &trace);
    replace(&interruption, Py_XNewRef(type));
    PyErr_Restore(type, value, trace);
    interrupted_at = here();
}

int raise_interruption(void) {
    PyObject *type = interruption;
    interruption = NULL;
    if (type && here() == interrupted_at) PyErr_SetNone(type);
    Py_XDECREF(type);
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- the buffers ------------------------------------------------------------------------------ */

int array_buffer(PyObject *self, Py_buffer *view, int flags) {
    if (interruption) Py_CLEAR(interruption);
    const char *why = mismatch(&ARRAY(self), flags);
    if (why) return refuse(view, ARRAY(self), why);
    held *h = held_open(ARRAY(self), ha_host(), flags & PyBUF_WRITABLE ? HA_WRITE : HA_READ, 1);
    if (!h) return remember_interruption(), view->obj = NULL, -1;
    const int status = hand_out(self, h, view, flags, h->site);
    held_drop(h); // what was handed out keeps it
    return status;
}

int access_buffer(PyObject *self, Py_buffer *view, int flags) {
    const char *site = here(); // first: to find the place may collect garbage, which may close it
    held *h = access_held(self);
    view->obj = NULL;
    if (!h) return -1;
    const char *why = mismatch(&h->x, flags);
    if (why) return refuse(view, h->x, why);
    if (h->context != ha_host() && !ha_context_is_zero_copy(h->context))
        return refuse(view, h->x,
                      "open on a device, where the host cannot reach it: open it on harray.host");
    if (flags & PyBUF_WRITABLE && h->how == HA_READ)
        return refuse(view, h->x, "open for reading only");
    return hand_out(self, h, view, flags, site);
}

void release_buffer(PyObject *self, Py_buffer *view) {
    (void)self;
    buffer *b = view->internal;
    export_end(&b->taken);
    if (!is_forked) free(b); // the parent's list has it
}
