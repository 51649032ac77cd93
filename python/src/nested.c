/* Lists of lists of numbers as arrays. */
#include "binding.h"

#include <stdlib.h>

static int is_list(PyObject *object) { return PyList_Check(object) || PyTuple_Check(object); }

typedef struct {
    int rank;
    int64_t extent[HA_MOST_RANK];
    ha_dtype type; /* the widest kind of number that was seen */
    ha_dtype store;
    char *next; /* where the next element goes; NULL while they are only looked at */
} nest;

/* As many as the first ones have, which all others must have, too. */
static int measure(PyObject *object, nest *n) {
    PyObject *at = object;
    for (n->rank = 0; is_list(at); n->rank++) {
        if (n->rank == HA_MOST_RANK)
            return PyErr_Format(PyExc_ValueError, "an array has at most %d dimensions",
                                HA_MOST_RANK),
                   -1;
        n->extent[n->rank] = PySequence_Size(at);
        if (!n->extent[n->rank]) return n->rank++, 0;
        at = PyList_Check(at) ? PyList_GetItem(at, 0) : PyTuple_GetItem(at, 0);
    }
    return 0;
}

/* bool, then int64, uint64, double, c128. */
static void widen(nest *n, ha_dtype type) {
    if (!n->type || type > n->type || n->type == HA_DTYPE_bool)
        n->type = type > n->type ? type : n->type;
}

static int take_number(PyObject *object, nest *n) {
    ha_dvalue value;
    if (is_list(object))
        return PyErr_SetString(PyExc_ValueError, "the lists are not of one length"), -1;
    if (number_to(object, &value)) return -1;
    widen(n, value.type);
    if (!n->next) return 0;
    const ha_status status = ha_dvalue_store(value, n->store, n->next);
    n->next += dtype_size(n->store);
    return status ? (raise_status(status), -1) : 0;
}

static int walk(PyObject *object, nest *n, int depth) {
    if (depth == n->rank) return take_number(object, n);
    if (!is_list(object) || PySequence_Size(object) != n->extent[depth])
        return PyErr_SetString(PyExc_ValueError, "the lists are not of one length"), -1;
    for (int64_t i = 0; i < n->extent[depth]; i++) {
        PyObject *item = PySequence_GetItem(object, (Py_ssize_t)i);
        const int status = item ? walk(item, n, depth + 1) : -1;
        Py_XDECREF(item);
        if (status) return -1;
    }
    return 0;
}

static int64_t count_of(const nest *n) {
    int64_t count = 1;
    for (int d = 0; d < n->rank; d++) count *= n->extent[d];
    return count;
}

PyObject *array_of_nested(PyObject *object, ha_dtype type, ha_context *context) {
    nest n = {0};
    darray x = {.array = NULL};
    if (measure(object, &n) || (count_of(&n) && walk(object, &n, 0))) return NULL;
    n.store = type ? type : n.type ? n.type : HA_DTYPE_double;
    char *values = malloc((size_t)count_of(&n) * dtype_size(n.store) + 1);
    if (!values) return PyErr_NoMemory();
    n.next = values;
    const int status = count_of(&n) ? walk(object, &n, 0) : 0;
    PyObject *array = NULL;
    if (!status) {
        UNLOCKED(x = darray_of(n.store, n.rank, n.extent, values, context));
        array = array_own(x);
    }
    free(values);
    return array;
}
