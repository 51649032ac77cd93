/* x[...]: views by numbers, slices, None and ...; single elements; and writing both. */
#include "binding.h"

/* Where one is while an index is gone through. */
typedef struct {
    darray x;
    int dimension; /* of x, the next one */
    int64_t at[HA_MOST_RANK];
    int numbers, others; /* how many entries were numbers, and how many were not */
} walk;

static int refuse(PyObject *entry) {
    PyErr_Format(
        PyExc_TypeError,
        "index %R: numbers, slices, None and ... make views; numpy.asarray(x)[...] does the rest",
        entry);
    return -1;
}

static int fix(walk *w, PyObject *entry, int64_t extent) {
    Py_ssize_t i = PyNumber_AsSsize_t(entry, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred()) return -1;
    if (i < -extent || i >= extent)
        return PyErr_Format(PyExc_IndexError, "index %zd of a dimension of %lld", i,
                            (long long)extent),
               -1;
    if (i < 0) i += (Py_ssize_t)extent;
    if (w->numbers < HA_MOST_RANK) w->at[w->numbers++] = i;
    w->x = darray_fix_(w->x, w->dimension, i, NULL);
    return 0;
}

static int cut(walk *w, PyObject *entry, int64_t extent) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(entry, &start, &stop, &step)) return -1;
    const Py_ssize_t count = PySlice_AdjustIndices((Py_ssize_t)extent, &start, &stop, step);
    if (!count) start = stop = 0, step = 1;
    w->x = darray_slice_(w->x, w->dimension++, start, stop, step, NULL);
    w->others++;
    return 0;
}

static int step(walk *w, PyObject *entry, int left_out) {
    if (entry == Py_Ellipsis) return w->dimension += left_out, w->others++, 0;
    if (entry == Py_None) return w->x = darray_expand_(w->x, w->dimension++, NULL), w->others++, 0;
    if (PyBool_Check(entry) || (!PySlice_Check(entry) && !PyIndex_Check(entry)))
        return refuse(entry);
    const int64_t extent = w->x.extent[w->dimension];
    return PySlice_Check(entry) ? cut(w, entry, extent) : fix(w, entry, extent);
}

/* How many dimensions the index leaves out, at its ... or its end. -1: it has too many. */
static int count_left_out(PyObject *index, darray x) {
    int used = 0, dots = 0;
    for (Py_ssize_t i = 0; i < PyTuple_Size(index); i++) {
        PyObject *entry = PyTuple_GetItem(index, i);
        dots += entry == Py_Ellipsis;
        used += entry != Py_Ellipsis && entry != Py_None;
    }
    if (dots > 1) return PyErr_SetString(PyExc_IndexError, "an index has at most one ..."), -1;
    if (used <= x.rank) return x.rank - used;
    return PyErr_Format(PyExc_IndexError, "%d indices of an array of %d dimensions", used, x.rank),
           -1;
}

static int follow(PyObject *self, PyObject *index, walk *w) {
    *w = (walk){.x = ARRAY(self)};
    PyObject *tuple = PyTuple_Check(index) ? Py_NewRef(index) : PyTuple_Pack(1, index);
    if (!tuple) return -1;
    const int left_out = count_left_out(tuple, w->x);
    int status = left_out < 0 ? -1 : 0;
    for (Py_ssize_t i = 0; !status && w->x.array && i < PyTuple_Size(tuple); i++)
        status = step(w, PyTuple_GetItem(tuple, i), left_out);
    Py_DECREF(tuple);
    if (!status && !w->x.array) return raise_status(HA_OK), -1;
    return status;
}

static int is_element(const walk *w, PyObject *self) {
    return w->numbers == ARRAY(self).rank && !w->others;
}

PyObject *array_subscript(PyObject *self, PyObject *index) {
    walk w;
    ha_dvalue value;
    ha_status status = HA_OK;
    if (follow(self, index, &w)) return NULL;
    if (!is_element(&w, self)) return array_view(w.x);
    const char *site = here();
    UNLOCKED(HA_FROM(site) status = darray_get_(ARRAY(self), w.numbers, w.at, &value, NULL));
    return status ? raise_about(status, {w.x.array, HA_READ}) : number_from(value);
}

/* ---- writing ---------------------------------------------------------------------------------- */

static int is_number(PyObject *value) {
    return PyFloat_Check(value) || PyLong_Check(value) || PyComplex_Check(value);
}

static int fill(const walk *w, PyObject *self, PyObject *number) {
    ha_dvalue value;
    ha_status status = HA_OK;
    const char *site = here();
    if (number_to(number, &value)) return -1;
    UNLOCKED(HA_FROM(site) {
        if (is_element(w, self))
            status = darray_set_(ARRAY(self), w->numbers, w->at, value, NULL);
        else
            status = darray_fill_(w->x, value, ha_array_valid_context(w->x.array), site);
    });
    return status ? (raise_about(status, {w->x.array, HA_WRITE}), -1) : 0;
}

static int copy(const walk *w, PyObject *from) {
    ha_status status = HA_OK;
    const char *site = here();
    if (wait_at_home(ARRAY(from), HA_READ) || wait_at_home(w->x, HA_WRITE)) return -1;
    UNLOCKED(HA_FROM(site) {
        const darray wide = darray_broadcast_(ARRAY(from), w->x.rank, w->x.extent, NULL);
        if (wide.array)
            status = darray_copy_(w->x, wide, ha_array_valid_context(w->x.array), site);
        else
            status = HA_ERR_ARGUMENT;
    });
    return status ? (raise_about(status, {w->x.array, HA_WRITE}, {ARRAY(from).array, HA_READ}), -1)
                  : 0;
}

int array_assign(PyObject *self, PyObject *index, PyObject *value) {
    walk w;
    if (!value)
        return PyErr_SetString(PyExc_TypeError, "elements of an array cannot be deleted"), -1;
    if (follow(self, index, &w)) return -1;
    if (is_number(value)) return fill(&w, self, value);
    if (is_array(value)) return copy(&w, value);
    PyObject *arguments = PyTuple_Pack(1, value);
    PyObject *from = arguments ? make_array(NULL, arguments, NULL) : NULL;
    Py_XDECREF(arguments);
    const int status = from ? copy(&w, from) : -1;
    Py_XDECREF(from);
    return status;
}
