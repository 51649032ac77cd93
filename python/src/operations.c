/* Operations on arrays, by their numbers in harray_ops.h; harray.ops gives them names. */
#include "binding.h"

/* What an argument is for; it may be a number or None. */
static used reads(PyObject *x) { return (used){is_array(x) ? ARRAY(x).array : NULL, HA_READ}; }
static used writes(PyObject *x) { return (used){ARRAY(x).array, HA_WRITE}; }

static PyObject *map(PyObject *module, PyObject *args) {
    (void)module;
    int op;
    PyObject *y, *x, *where;
    ha_context *context;
    ha_status status = HA_OK;
    if (!PyArg_ParseTuple(args, "iO!O!O", &op, array_type, &y, array_type, &x, &where) ||
        context_from(where, &context))
        return NULL;
    const char *site = here();
    UNLOCKED(status = ha_map_((ha_map_operation)op, ARRAY(y), ARRAY(x), context, site));
    if (status) return raise_about(status, writes(y), reads(x));
    Py_RETURN_NONE;
}

/* The second argument is an array or a number. */
static PyObject *combine(PyObject *module, PyObject *args) {
    (void)module;
    int op;
    PyObject *z, *x, *y, *where;
    ha_context *context;
    ha_dvalue number = {0};
    ha_status status = HA_OK;
    if (!PyArg_ParseTuple(args, "iO!O!OO", &op, array_type, &z, array_type, &x, &y, &where) ||
        context_from(where, &context) || (!is_array(y) && number_to(y, &number)))
        return NULL;
    const char *site = here();
    if (is_array(y))
        UNLOCKED(status = ha_combine_(op, ARRAY(z), ARRAY(x), ARRAY(y), context, site));
    else
        UNLOCKED(status = ha_combine_number_(op, ARRAY(z), ARRAY(x), number, context, site));
    if (status) return raise_about(status, writes(z), reads(x), reads(y));
    Py_RETURN_NONE;
}

static PyObject *axpby(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *z, *x, *y, *a, *b, *where;
    ha_dvalue first, second;
    ha_context *context;
    ha_status status = HA_OK;
    if (!PyArg_ParseTuple(args, "O!OO!OO!O", array_type, &z, &a, array_type, &x, &b, array_type, &y,
                          &where) ||
        number_to(a, &first) || number_to(b, &second) || context_from(where, &context))
        return NULL;
    const char *site = here();
    UNLOCKED(status = ha_axpby_(ARRAY(z), first, ARRAY(x), second, ARRAY(y), context, site));
    if (status) return raise_about(status, writes(z), reads(x), reads(y));
    Py_RETURN_NONE;
}

static PyObject *clip(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *y, *x, *low, *high, *where;
    ha_dvalue least, most;
    ha_context *context;
    ha_status status = HA_OK;
    if (!PyArg_ParseTuple(args, "O!O!OOO", array_type, &y, array_type, &x, &low, &high, &where) ||
        number_to(low, &least) || number_to(high, &most) || context_from(where, &context))
        return NULL;
    const char *site = here();
    UNLOCKED(status = ha_clip_(ARRAY(y), ARRAY(x), least, most, context, site));
    if (status) return raise_about(status, writes(y), reads(x));
    Py_RETURN_NONE;
}

static PyObject *where(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *z, *mask, *x, *y, *at;
    ha_context *context;
    ha_status status = HA_OK;
    if (!PyArg_ParseTuple(args, "O!O!O!O!O", array_type, &z, array_type, &mask, array_type, &x,
                          array_type, &y, &at) ||
        context_from(at, &context))
        return NULL;
    const char *site = here();
    UNLOCKED(status = ha_where_(ARRAY(z), ARRAY(mask), ARRAY(x), ARRAY(y), context, site));
    if (status) return raise_about(status, writes(z), reads(mask), reads(x), reads(y));
    Py_RETURN_NONE;
}

static PyObject *sequence(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *x, *first, *step, *at;
    ha_dvalue from, by;
    ha_context *context;
    ha_status status = HA_OK;
    if (!PyArg_ParseTuple(args, "O!OOO", array_type, &x, &first, &step, &at) ||
        number_to(first, &from) || number_to(step, &by) || context_from(at, &context))
        return NULL;
    const char *site = here();
    UNLOCKED(status = ha_sequence_(ARRAY(x), from, by, context, site));
    if (status) return raise_about(status, writes(x));
    Py_RETURN_NONE;
}

static PyObject *random_numbers(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *x, *at;
    unsigned long long seed;
    int is_normal;
    ha_context *context;
    ha_status status = HA_OK;
    if (!PyArg_ParseTuple(args, "O!KpO", array_type, &x, &seed, &is_normal, &at) ||
        context_from(at, &context))
        return NULL;
    const char *site = here();
    if (is_normal)
        UNLOCKED(status = ha_random_normal_(ARRAY(x), seed, context, site));
    else
        UNLOCKED(status = ha_random_(ARRAY(x), seed, context, site));
    if (status) return raise_about(status, writes(x));
    Py_RETURN_NONE;
}

/* ---- to a number ------------------------------------------------------------------------------ */

/* Of what type the result of a reduction is. */
static ha_dtype widest(ha_dtype type) {
    if (type == HA_DTYPE_c64 || type == HA_DTYPE_c128) return HA_DTYPE_c128;
    if (type >= HA_DTYPE_half) return HA_DTYPE_double;
    return type >= HA_DTYPE_uint8_t && type <= HA_DTYPE_uint64_t ? HA_DTYPE_uint64_t
                                                                 : HA_DTYPE_int64_t;
}

static PyObject *number_of(ha_dtype type, const void *value) {
    return number_from(ha_dvalue_load(type, value));
}

static PyObject *reduce(PyObject *module, PyObject *args) {
    (void)module;
    int op;
    PyObject *x, *at;
    ha_context *context;
    ha_c128 value;
    ha_status status = HA_OK;
    if (!PyArg_ParseTuple(args, "iO!O", &op, array_type, &x, &at) || context_from(at, &context))
        return NULL;
    const ha_dtype type = op >= HA_MIN_AT ? HA_DTYPE_int64_t : widest(ARRAY(x).type);
    const char *site = here();
    UNLOCKED(status = ha_reduce_((ha_reduction)op, ARRAY(x), type, &value, context, site));
    if (status) return raise_about(status, reads(x));
    return number_of(type, &value);
}

static PyObject *count(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *x, *at;
    ha_context *context;
    int64_t value;
    ha_status status = HA_OK;
    if (!PyArg_ParseTuple(args, "O!O", array_type, &x, &at) || context_from(at, &context))
        return NULL;
    const char *site = here();
    UNLOCKED(status = ha_count_elements_(ARRAY(x), HA_DTYPE_int64_t, &value, context, site));
    if (status) return raise_about(status, reads(x));
    return number_of(HA_DTYPE_int64_t, &value);
}

static PyObject *dot(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *x, *y, *at;
    ha_context *context;
    ha_c128 value;
    ha_status status = HA_OK;
    if (!PyArg_ParseTuple(args, "O!O!O", array_type, &x, array_type, &y, &at) ||
        context_from(at, &context))
        return NULL;
    const ha_dtype type = widest(ARRAY(x).type);
    const char *site = here();
    UNLOCKED(status = ha_dot_(ARRAY(x), ARRAY(y), type, &value, context, site));
    if (status) return raise_about(status, reads(x), reads(y));
    return number_of(type, &value);
}

/* The norm of x, or of its difference from y where that is no None. */
static PyObject *norm(PyObject *module, PyObject *args) {
    (void)module;
    int kind;
    PyObject *x, *y, *at;
    ha_context *context;
    double value;
    ha_status status = HA_OK;
    if (!PyArg_ParseTuple(args, "iO!OO", &kind, array_type, &x, &y, &at) ||
        context_from(at, &context))
        return NULL;
    if (y != Py_None && !is_array(y))
        return PyErr_Format(PyExc_TypeError, "%R is no harray.Array", y);
    const ha_norm_kind which = (ha_norm_kind)kind;
    const char *site = here();
    if (y == Py_None)
        UNLOCKED(status = ha_norm_(which, ARRAY(x), HA_DTYPE_double, &value, context, site));
    else
        UNLOCKED(status = ha_difference_(which, ARRAY(x), ARRAY(y), HA_DTYPE_double, &value,
                                         context, site));
    if (status) return raise_about(status, reads(x), reads(y));
    return number_of(HA_DTYPE_double, &value);
}

static PyObject *equal(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *x, *y;
    int is_equal = 0;
    ha_status status = HA_OK;
    if (!PyArg_ParseTuple(args, "O!O!", array_type, &x, array_type, &y)) return NULL;
    const char *site = here();
    UNLOCKED(status = darray_equal_(ARRAY(x), ARRAY(y), &is_equal, site));
    return status ? raise_about(status, reads(x), reads(y)) : PyBool_FromLong(is_equal);
}

PyMethodDef operation_functions[] = {
    {"_map", map, METH_VARARGS, NULL},
    {"_combine", combine, METH_VARARGS, NULL},
    {"_axpby", axpby, METH_VARARGS, NULL},
    {"_clip", clip, METH_VARARGS, NULL},
    {"_where", where, METH_VARARGS, NULL},
    {"_sequence", sequence, METH_VARARGS, NULL},
    {"_random", random_numbers, METH_VARARGS, NULL},
    {"_reduce", reduce, METH_VARARGS, NULL},
    {"_count", count, METH_VARARGS, NULL},
    {"_dot", dot, METH_VARARGS, NULL},
    {"_norm", norm, METH_VARARGS, NULL},
    {"equal", equal, METH_VARARGS,
     "equal(x, y): whether shapes and all elements are the same, by value."},
    {0}};
