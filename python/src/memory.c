/* Memory that is short: where arrays have some, what gives way, budgets and tiers. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_MEMORIES = 80 };

/* "dirty": values that are nowhere else; "clean": all of them, which are elsewhere, too; "part": some; "stale":
 * memory without values. */
static const char *state_of(const ha_residency *list, size_t n, size_t i, size_t size) {
    size_t elsewhere = 0;
    for (size_t k = 0; k < n; k++)
        if (k != i && list[k].valid > elsewhere) elsewhere = list[k].valid;
    if (!list[i].valid) return "stale";
    if (elsewhere == size) return list[i].valid == size ? "clean" : "part";
    return list[i].valid == size || !elsewhere ? "dirty" : "part";
}

PyObject *array_residency(PyObject *self, void *unused) {
    (void)unused;
    ha_residency list[MOST_MEMORIES];
    const size_t size = ha_array_size(ARRAY(self).array);
    size_t n = ha_array_residency(ARRAY(self).array, list, MOST_MEMORIES);
    if (n > MOST_MEMORIES) n = MOST_MEMORIES;
    PyObject *result = PyDict_New();
    for (size_t i = 0; result && i < n; i++) {
        PyObject *state = PyUnicode_FromString(state_of(list, n, i, size));
        if (!state || PyDict_SetItemString(result, ha_context_name(list[i].context), state))
            Py_CLEAR(result);
        Py_XDECREF(state);
    }
    return result;
}

PyObject *array_prefetch(PyObject *self, PyObject *where) {
    ha_context *context;
    ha_status status = HA_OK;
    const char *site = here();
    if (context_from(where, &context) || wait_at_home(ARRAY(self), HA_READ)) return NULL;
    UNLOCKED(status = darray_prefetch_(ARRAY(self), context, site));
    if (status) return raise_about(status, {ARRAY(self).array, HA_READ});
    Py_RETURN_NONE;
}

/* The context that is named, else the device where the values are. */
static int context_or_home(PyObject *self, PyObject *args, ha_context **context) {
    PyObject *where = NULL;
    if (!PyArg_ParseTuple(args, "|O", &where)) return -1;
    *context = ha_array_valid_context(ARRAY(self).array);
    return where && where != Py_None ? context_from(where, context) : 0;
}

PyObject *array_evict(PyObject *self, PyObject *args) {
    ha_context *context;
    ha_status status = HA_OK;
    const char *site = here();
    if (context_or_home(self, args, &context)) return NULL;
    UNLOCKED(status = ha_array_evict_(ARRAY(self).array, context, site));
    if (status) return raise_about(status, {ARRAY(self).array, HA_WRITE});
    Py_RETURN_NONE;
}

PyObject *array_done(PyObject *self, PyObject *args) {
    ha_context *context;
    if (context_or_home(self, args, &context)) return NULL;
    UNLOCKED(ha_array_done(ARRAY(self).array, context));
    Py_RETURN_NONE;
}

PyObject *array_set_priority_(PyObject *self, PyObject *priority) {
    const long number = PyLong_AsLong(priority);
    if (PyErr_Occurred()) return NULL;
    const ha_status status = ha_array_set_priority(
        ARRAY(self).array, number > 1000 || number < -1000 ? 1000 : (int)number);
    if (status) return raise_status(status);
    Py_RETURN_NONE;
}

/* ---- budgets ---------------------------------------------------------------------------------- */

/* "10GiB", "10G", "512 MiB", "64k", "1e9", or a number. */
static int bytes_of_text(const char *text, uint64_t *bytes) {
    static const char units[] = "KMGT";
    char *end;
    double number = strtod(text, &end);
    while (*end == ' ') end++;
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    if (unit) end++;
    for (int i = 0; unit && i <= unit - units; i++) number *= 1024;
    if (unit && *end == 'i') end++;
    if (*end == 'B') end++;
    if (end == text || *end || !(number >= 0 && number < 9e18)) return -1;
    *bytes = (uint64_t)number;
    return 0;
}

/* Any whole number, as those of NumPy. */
static int bytes_of_number(PyObject *object, uint64_t *bytes) {
    PyObject *number = PyNumber_Index(object);
    if (!number) return -1;
    *bytes = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    if (!PyErr_Occurred()) return 0;
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_ValueError, "%R bytes: not less than 0, and at most 64 bits", object);
    return -1;
}

int bytes_from(PyObject *object, uint64_t *bytes) {
    if (!PyUnicode_Check(object)) return bytes_of_number(object, bytes);
    const char *text = PyUnicode_AsUTF8AndSize(object, NULL);
    if (text && !bytes_of_text(text, bytes)) return 0;
    if (text)
        PyErr_Format(PyExc_ValueError, "%R: bytes as a number, or with K, M, G or T: \"10GiB\"",
                     object);
    return -1;
}

/* A context and a number of bytes. */
static int pair_from(PyObject *args, ha_context **context, uint64_t *bytes) {
    PyObject *where, *amount;
    return !PyArg_ParseTuple(args, "OO", &where, &amount) || context_from(where, context) ||
                   bytes_from(amount, bytes)
               ? -1
               : 0;
}

PyObject *set_budget(PyObject *module, PyObject *args) {
    (void)module;
    ha_context *context;
    uint64_t bytes;
    ha_status status = HA_OK;
    if (pair_from(args, &context, &bytes)) return NULL;
    UNLOCKED(status = ha_memory_set_budget(context, bytes));
    if (status) return raise_status(status);
    Py_RETURN_NONE;
}

PyObject *make_room(PyObject *module, PyObject *args) {
    (void)module;
    ha_context *context;
    uint64_t bytes;
    if (pair_from(args, &context, &bytes)) return NULL;
    UNLOCKED(bytes = ha_memory_make_room(context, bytes));
    return PyLong_FromUnsignedLongLong(bytes);
}

PyObject *trim_memory(PyObject *module, PyObject *args) {
    (void)module;
    ha_context *context;
    uint64_t bytes;
    if (pair_from(args, &context, &bytes)) return NULL;
    UNLOCKED(bytes = ha_memory_trim(context, bytes));
    return PyLong_FromUnsignedLongLong(bytes);
}

PyObject *set_watermark(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *where;
    double part;
    ha_context *context;
    if (!PyArg_ParseTuple(args, "Od", &where, &part) || context_from(where, &context)) return NULL;
    ha_status status = HA_OK;
    UNLOCKED(status = ha_memory_set_watermark(context, part));
    if (status) return raise_status(status);
    Py_RETURN_NONE;
}

PyObject *set_tier(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *where, *next;
    ha_context *context, *tier = NULL;
    ha_status status = HA_OK;
    if (!PyArg_ParseTuple(args, "OO", &where, &next) || context_from(where, &context) ||
        (next != Py_None && context_from(next, &tier)))
        return NULL;
    UNLOCKED(status = ha_memory_set_tier(context, tier));
    if (status) return raise_status(status);
    Py_RETURN_NONE;
}

PyObject *configure_file(PyObject *module, PyObject *args, PyObject *keywords) {
    (void)module;
    static char *names[] = {"directory", "capacity", "buffered", NULL};
    PyObject *path = NULL, *capacity = NULL;
    ha_file_options options = {0};
    ha_status status = HA_OK;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|O$p", names, PyUnicode_FSConverter, &path,
                                     &capacity, &options.buffered))
        return NULL;
    options.directory = PyBytes_AsString(path);
    if (capacity && capacity != Py_None && bytes_from(capacity, &options.capacity))
        return Py_DECREF(path), NULL;
    UNLOCKED(status = ha_file_configure(&options));
    Py_DECREF(path);
    if (status) return raise_status(status);
    Py_RETURN_NONE;
}

/* ---- accounts --------------------------------------------------------------------------------- */

PyObject *context_memory(PyObject *self, void *unused) {
    (void)unused;
    ha_context *context;
    if (context_from(self, &context)) return NULL;
    const ha_memory_usage u = ha_context_memory(context);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K}", "handed_out",
                         (unsigned long long)u.handed_out, "live", (unsigned long long)u.live,
                         "cached", (unsigned long long)u.cached, "retired",
                         (unsigned long long)u.retired, "staging", (unsigned long long)u.staging,
                         "high_water", (unsigned long long)u.high_water);
}

PyObject *context_pressure(PyObject *self, void *unused) {
    (void)unused;
    ha_context *context;
    if (context_from(self, &context)) return NULL;
    const ha_pressure p = ha_memory_pressure(context);
    return Py_BuildValue(
        "{s:K,s:z,s:K,s:K,s:K,s:K,s:K,s:K}", "budget", (unsigned long long)p.budget, "tier",
        p.tier ? ha_context_name(p.tier) : NULL, "evictions", (unsigned long long)p.evictions,
        "evicted", (unsigned long long)p.evicted, "written_back",
        (unsigned long long)p.written_back, "restored", (unsigned long long)p.restored, "turns",
        (unsigned long long)p.turns, "refusals", (unsigned long long)p.refusals);
}
