/* Copies between harray.Memory and others, and filling: each comes after what was enqueued on its context, and is
 * complete when it returns. */
#include "raw.h"

#include <stdlib.h>

/* Memory of the host may still be in use by its device's queue. Without the GIL. */
static ha_status copy(char *to, ha_context *to_context, const char *from, ha_context *from_context,
                      size_t bytes, ha_context *behind, const char *site) {
    const ha_status status = ha_context_finish(behind);
    return status || to == from ? status
                                : ha_copy_(to, to_context, from, from_context, bytes, site);
}

int raw_copy(raw_object *to, const raw_object *from, size_t bytes) {
    const char *site = here();
    ha_status status;
    UNLOCKED({
        status = ha_context_finish(from->context);
        if (!status)
            status = copy(to->data, raw_place(to), from->data, raw_place(from), bytes, to->context,
                          site);
    });
    return status ? raise_status(status), -1 : 0;
}

static ha_status copy_host_once(const raw_object *m, char *host, size_t bytes, int out,
                                const char *site) {
    if (out) return copy(host, ha_host(), m->data, raw_place(m), bytes, m->context, site);
    return copy(m->data, raw_place(m), host, ha_host(), bytes, m->context, site);
}

/* To or from a buffer of the host. One whose bytes are an array's of this library has an access of its own, and is
 * copied beside the engine, which refuses other copies of an array's memory. Without the GIL. */
static ha_status copy_host(const raw_object *m, char *host, size_t bytes, int out,
                           const char *site) {
    const ha_status status = copy_host_once(m, host, bytes, out, site);
    if (status != HA_ERR_STATE) return status;
    char *between = malloc(bytes);
    if (!between) return status;
    (void)ha_take_error();
    if (!out) memcpy(between, host, bytes);
    const ha_status again = copy_host_once(m, between, bytes, out, site);
    if (out && !again) memcpy(host, between, bytes);
    free(between);
    return again;
}

/* Of a buffer without gaps. */
static int copy_buffer_to(const raw_object *m, Py_buffer *view) {
    const char *site = here();
    ha_status status;
    UNLOCKED(status = copy_host(m, view->buf, m->bytes, 1, site));
    return status ? raise_status(status), -1 : 0;
}

static PyObject *copy_to(const raw_object *m, PyObject *object) {
    char text[120];
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)) return NULL;
    int status = -1;
    if ((size_t)view.len >= m->bytes)
        status = copy_buffer_to(m, &view);
    else
        PyErr_Format(PyExc_ValueError, "copy_to_host: %zd bytes, too few for %s", view.len,
                     raw_called(m, text, sizeof text));
    PyBuffer_Release(&view);
    return status ? NULL : Py_NewRef(object);
}

PyObject *raw_copy_to_host(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"obj", NULL};
    PyObject *object = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O", names, &object)) return NULL;
    if (object != Py_None) return copy_to(RAW(self), object);
    PyObject *made = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)RAW(self)->bytes);
    PyObject *filled = made ? copy_to(RAW(self), made) : NULL;
    Py_XDECREF(made);
    return filled;
}

static PyObject *too_large(const raw_object *m, const char *operation, size_t bytes) {
    char text[120];
    return PyErr_Format(PyExc_ValueError, "%s: %zu bytes, too many for %s", operation, bytes,
                        raw_called(m, text, sizeof text));
}

static int copy_buffer_from(raw_object *m, const Py_buffer *view) {
    const char *site = here();
    ha_status status = HA_OK;
    if ((size_t)view->len > m->bytes) return too_large(m, "copy_from_host", (size_t)view->len), -1;
    if (view->len) UNLOCKED(status = copy_host(m, view->buf, (size_t)view->len, 0, site));
    return status ? raise_status(status), -1 : 0;
}

PyObject *raw_copy_from_host(PyObject *self, PyObject *object) {
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_C_CONTIGUOUS)) return NULL;
    const int status = copy_buffer_from(RAW(self), &view);
    PyBuffer_Release(&view);
    return status ? NULL : Py_NewRef(Py_None);
}

PyObject *raw_copy_from_device(PyObject *self, PyObject *object) {
    PyObject *from = is_raw(object) ? Py_NewRef(object) : raw_of_record(object);
    if (!from && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "copy_from_device: %R has no memory of a device", object);
    int status = from ? 0 : -1;
    if (from && RAW(from)->bytes > RAW(self)->bytes)
        status = (too_large(RAW(self), "copy_from_device", RAW(from)->bytes), -1);
    if (!status) status = raw_copy(RAW(self), RAW(from), RAW(from)->bytes);
    Py_XDECREF(from);
    return status ? NULL : Py_NewRef(Py_None);
}

/* ---- filling ---------------------------------------------------------------------------------- */

/* As an array of bytes for the moment. Without the GIL; of what fails the error is there to take. */
static void fill(const raw_object *m, uint8_t byte, const char *site) {
    const int64_t extent = (int64_t)m->bytes, stride = 1;
    ha_context *place = raw_place(m);
    if (ha_context_finish(m->context)) return;
    darray x = darray_wrap(HA_DTYPE_uint8_t, 1, &extent, &stride, m->data, place,
                           HA_WRAP_UNWRITTEN);
    if (!x.array) return;
    ha_status status = darray_fill_(x, ha_dvalue_of_uint8_t(byte), place, site);
    if (!status) status = ha_unwrap_(x.array, site);
    if (status) HA_IGNORE(ha_discard_(&x.array, site));
}

PyObject *raw_memset(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"value", NULL};
    Py_ssize_t value = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|n", names, &value)) return NULL;
    if (value < 0 || value > 255)
        return PyErr_Format(PyExc_ValueError, "memset: %zd is no byte: 0 to 255", value);
    const char *site = here();
    ha_error error;
    UNLOCKED({
        fill(RAW(self), (uint8_t)value, site);
        error = ha_take_error();
    });
    if (error.status) return raise_error(error.status, &error, "");
    Py_RETURN_NONE;
}
