/* New arrays. */
#include "binding.h"

/* What all that make arrays are told. */
typedef struct {
    PyObject *dtype, *order, *name, *where;
    ha_dtype type;
    ha_order in;
    ha_context *context;
    int rank;
    int64_t extent[HA_MOST_RANK];
} plan;

static int order_from(PyObject *object, ha_order *order) {
    *order = HA_ROW_MAJOR;
    if (!object || (PyUnicode_Check(object) && !PyUnicode_CompareWithASCIIString(object, "C")))
        return 0;
    *order = HA_COLUMN_MAJOR;
    if (PyUnicode_Check(object) && !PyUnicode_CompareWithASCIIString(object, "F")) return 0;
    PyErr_Format(PyExc_ValueError, "order %R: \"C\" or \"F\"", object);
    return -1;
}

static int plan_from(PyObject *shape, plan *p) {
    if (!p->type) p->type = HA_DTYPE_double;
    p->rank = shape_from(shape, p->extent);
    if (p->rank < 0 || (p->dtype && p->dtype != Py_None && dtype_from(p->dtype, &p->type)))
        return -1;
    int64_t bytes = (int64_t)dtype_size(p->type);
    for (int d = 0; d < p->rank; d++)
        if (p->extent[d] > 0 && __builtin_mul_overflow(bytes, p->extent[d], &bytes))
            return PyErr_Format(PyExc_ValueError, "shape: %R is more than 63 bits count in bytes",
                                shape),
                   -1;
    return order_from(p->order, &p->in) || context_from(p->where, &p->context) ? -1 : 0;
}

static PyObject *named(PyObject *array, PyObject *name) {
    if (array && name && PyObject_SetAttrString(array, "name", name)) Py_CLEAR(array);
    return array;
}

/* value: NULL for none. */
static PyObject *make(const plan *p, const ha_dvalue *value) {
    darray x = {.array = NULL};
    ha_status status = HA_OK;
    const char *site = here();
    UNLOCKED(HA_FROM(site) {
        x = darray_new_in(p->in, p->type, p->rank, p->extent, p->context);
        if (x.array && value) status = darray_fill_(x, *value, p->context, site);
        if (status) HA_IGNORE(darray_free(&x));
    });
    return status ? raise_status(status) : named(array_own(x), p->name);
}

static char *const names[] = {"shape", "dtype", "order", "name", "ctx", NULL};
static PyObject *make_plain(PyObject *args, PyObject *keywords, const ha_dvalue *value) {
    plan p = {0};
    PyObject *shape;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O$OOO", (char **)(uintptr_t)names, &shape,
                                     &p.dtype, &p.order, &p.name, &p.where) ||
        plan_from(shape, &p))
        return NULL;
    return make(&p, value);
}

PyObject *make_empty(PyObject *module, PyObject *args, PyObject *keywords) {
    (void)module;
    return make_plain(args, keywords, NULL);
}

PyObject *make_zeros(PyObject *module, PyObject *args, PyObject *keywords) {
    (void)module;
    const ha_dvalue zero = ha_dvalue_of_bool(0);
    return make_plain(args, keywords, &zero);
}

PyObject *make_full(PyObject *module, PyObject *args, PyObject *keywords) {
    (void)module;
    static char *full_names[] = {"shape", "value", "dtype", "order", "name", "ctx", NULL};
    plan p = {0};
    PyObject *shape, *number;
    ha_dvalue value;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|O$OOO", full_names, &shape, &number,
                                     &p.dtype, &p.order, &p.name, &p.where) ||
        number_to(number, &value))
        return NULL;
    p.type = value.type;
    return plan_from(shape, &p) ? NULL : make(&p, &value);
}

/* ---- of what there is ------------------------------------------------------------------------- */

static int has_memory(PyObject *object) {
    return is_array(object) || PyObject_CheckBuffer(object) ||
           PyObject_HasAttrString(object, "__array_interface__") ||
           PyObject_HasAttrString(object, "__cuda_array_interface__") ||
           PyObject_HasAttrString(object, "__sycl_usm_array_interface__") ||
           PyObject_HasAttrString(object, "__dlpack__");
}

static PyObject *copy_of(PyObject *array, const plan *p) {
    darray y = {.array = NULL};
    const char *site = here();
    UNLOCKED(HA_FROM(site) {
        if (p->type)
            y = darray_convert_(ARRAY(array), p->type, p->context, NULL);
        else
            y = darray_contiguous_(ARRAY(array), HA_ROW_MAJOR, p->context, NULL);
    });
    return array_own(y);
}

/* The array itself, or its values as the plan wants them; takes it over. */
static PyObject *planned(PyObject *array, int copies, const plan *p) {
    if (!array || (!copies && (!p->type || p->type == ARRAY(array).type))) return array;
    PyObject *copy = copy_of(array, p);
    Py_DECREF(array);
    return copy;
}

static PyObject *array_without_copy(PyObject *object, const plan *p) {
    PyObject *array = has_memory(object) ? wrap_object(object, NULL) : NULL;
    const int differs = array && p->type && p->type != ARRAY(array).type;
    if (array && !differs) return array;
    if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "%R: this needs a copy", object);
    Py_XDECREF(array);
    return NULL;
}

/* copy: True copies; None where it must; False never. */
static PyObject *array_of(PyObject *object, PyObject *copy, const plan *p) {
    if (copy == Py_False) return array_without_copy(object, p);
    if (!has_memory(object)) return array_of_nested(object, p->type, p->context);
    if (copy == Py_True && !is_array(object) && PyObject_CheckBuffer(object)) {
        PyObject *array = copy_buffer(object);
        if (array || !has_other_way(object)) return planned(array, p->context != ha_host(), p);
    }
    PyObject *array = wrap_object(object, NULL);
    if (!array && copy == Py_True) array = take_producers_copy(object);
    return planned(array, copy == Py_True, p);
}

PyObject *make_array(PyObject *module, PyObject *args, PyObject *keywords) {
    (void)module;
    static char *array_names[] = {"obj", "dtype", "copy", "name", "ctx", NULL};
    plan p = {0};
    PyObject *object, *copy = Py_True;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O$OOO", array_names, &object, &p.dtype,
                                     &copy, &p.name, &p.where) ||
        (p.dtype && p.dtype != Py_None && dtype_from(p.dtype, &p.type)) ||
        context_from(p.where, &p.context))
        return NULL;
    return named(array_of(object, copy, &p), p.name);
}

PyObject *array_by_id(PyObject *module, PyObject *id) {
    (void)module;
    const unsigned long long number = PyLong_AsUnsignedLongLong(id);
    if (PyErr_Occurred()) return NULL;
    ha_array *array = ha_array_by_id(number);
    if (!array) Py_RETURN_NONE;
    const int64_t size = (int64_t)ha_array_size(array);
    const darray flat = darray_from(array, 1, &size);
    UNLOCKED(HA_IGNORE(ha_array_free(array)));
    return array_own(flat);
}

/* ---- NumPy's files ---------------------------------------------------------------------------- */

PyObject *load_npy(PyObject *module, PyObject *args, PyObject *keywords) {
    (void)module;
    static char *load_names[] = {"path", "ctx", "name", NULL};
    PyObject *path = NULL, *where = NULL, *name = NULL;
    ha_context *context;
    darray x = {.array = NULL};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|$OO", load_names, PyUnicode_FSConverter,
                                     &path, &where, &name))
        return NULL;
    PyObject *array = NULL;
    if (!context_from(where, &context)) {
        const char *site = here(), *file = PyBytes_AsString(path);
        UNLOCKED(HA_FROM(site) x = darray_load_npy(file, context));
        array = named(array_own(x), name);
    }
    Py_DECREF(path);
    return array;
}

PyObject *save_npy(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *path, *array;
    ha_status status = HA_OK;
    if (!PyArg_ParseTuple(args, "O&O!", PyUnicode_FSConverter, &path, array_type, &array))
        return NULL;
    const char *site = here(), *file = PyBytes_AsString(path);
    UNLOCKED(HA_FROM(site) status = darray_save_npy(ARRAY(array), file));
    Py_DECREF(path);
    if (status) return raise_status(status);
    Py_RETURN_NONE;
}
