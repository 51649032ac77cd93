/* The extension: its functions, and what it says of itself. */
#include "binding.h"

#include <stdlib.h>

static PyObject *count_devices(PyObject *module, PyObject *kind) {
    (void)module;
    const char *text = PyUnicode_AsUTF8AndSize(kind, NULL);
    int count;
    if (!text) return NULL;
    UNLOCKED(count = ha_context_count(text));
    return PyLong_FromLong(count);
}

_Thread_local int blocks_without_transfers;

static PyObject *no_transfers(PyObject *module, PyObject *flag) {
    (void)module;
    int scope = 1;
    if (PyObject_IsTrue(flag)) {
        ha_no_transfers_begin_();
        blocks_without_transfers++;
    } else {
        ha_no_transfers_end_(&scope);
        blocks_without_transfers--;
    }
    Py_RETURN_NONE;
}

static PyObject *set_verbose(PyObject *module, PyObject *args) {
    (void)module;
    int on = 1;
    if (!PyArg_ParseTuple(args, "|p", &on)) return NULL;
    ha_set_verbose(on);
    Py_RETURN_NONE;
}

static PyObject *trace(PyObject *module, PyObject *path) {
    (void)module;
    const char *text = path == Py_None ? NULL : PyUnicode_AsUTF8AndSize(path, NULL);
    ha_status status = HA_OK;
    if (PyErr_Occurred()) return NULL;
    if (text)
        UNLOCKED(status = ha_trace_begin(text));
    else
        UNLOCKED(status = ha_trace_end());
    if (status) return raise_status(status);
    Py_RETURN_NONE;
}

/* From now on None is this context on this thread; what it was before. */
static PyObject *set_current(PyObject *module, PyObject *where) {
    (void)module;
    ha_context *context = NULL, *before = ha_context_current();
    if (where != Py_None && context_from(where, &context)) return NULL;
    ha_scope_ scope = {.outer = context};
    ha_on_end_(&scope);
    return before ? context_object(before) : Py_NewRef(Py_None);
}

/* The report as a text of JSON. */
static PyObject *report(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    if (!file) return PyErr_NoMemory();
    UNLOCKED(ha_report_json(file));
    if (fclose(file)) return free(text), PyErr_NoMemory();
    PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)bytes, "replace");
    free(text);
    return result;
}

#define METHOD(f) ((PyCFunction)(void (*)(void))f)
static PyMethodDef functions[] = {
    {"empty", METHOD(make_empty), METH_VARARGS | METH_KEYWORDS,
     "empty(shape, dtype='float64', *, order='C', name=None, ctx=None): without values yet."},
    {"zeros", METHOD(make_zeros), METH_VARARGS | METH_KEYWORDS,
     "zeros(shape, dtype='float64', *, order='C', name=None, ctx=None)"},
    {"full", METHOD(make_full), METH_VARARGS | METH_KEYWORDS,
     "full(shape, value, dtype=None, *, order='C', name=None, ctx=None)"},
    {"array", METHOD(make_array), METH_VARARGS | METH_KEYWORDS,
     "array(obj, dtype=None, *, copy=True, name=None, ctx=None): of lists, or of what has memory."},
    {"wrap", METHOD(wrap), METH_VARARGS | METH_KEYWORDS,
     "wrap(obj, *, ctx=None, name=None, dtype=None, shape=None): the memory of another package "
     "as an array, without a copy. Type and shape are for a Memory."},
    {"pointer_kind", METHOD(pointer_kind), METH_VARARGS | METH_KEYWORDS,
     "pointer_kind(address, context=None): \"device\", \"shared\", \"host\", or \"unknown\", also "
     "if "
     "it is of another context."},
    {"from_dlpack", METHOD(from_dlpack), METH_VARARGS | METH_KEYWORDS,
     "from_dlpack(x, *, device=None, copy=None)"},
    {"load", METHOD(load_npy), METH_VARARGS | METH_KEYWORDS,
     "load(path, *, ctx=None, name=None): a .npy file."},
    {"save", save_npy, METH_VARARGS, "save(path, x): a .npy file."},
    {"by_id", array_by_id, METH_O,
     "The array with this id, in one dimension; None where it has gone."},
    {"context", find_context, METH_O, "The context of a name: \"sim:0\"."},
    {"best", best_context, METH_NOARGS,
     "What HARRAY_DEVICE names, else the first GPU, else the host."},
    {"adopt", adopt_stream, METH_VARARGS,
     "adopt(ctx, stream) or adopt(queue of dpctl's): another package's stream as a context."},
    {"exports", list_exports, METH_NOARGS, "What is exported now, and where it was taken."},
    {"set_budget", set_budget, METH_VARARGS, "set_budget(ctx, bytes): \"10GiB\"; 0: all there is."},
    {"set_tier", set_tier, METH_VARARGS,
     "set_tier(ctx, next): where values go; None: as at first."},
    {"set_watermark", set_watermark, METH_VARARGS,
     "set_watermark(ctx, part): written back ahead above that."},
    {"make_room", make_room, METH_VARARGS,
     "make_room(ctx, bytes): arrays give way; how many bytes went back."},
    {"trim", trim_memory, METH_VARARGS, "trim(ctx, keep): cached blocks go back; how many bytes."},
    {"enqueue", enqueue, METH_VARARGS,
     "enqueue(ctx, f): f() on the context's queue, behind what was enqueued there before."},
    {"configure_file", METHOD(configure_file), METH_VARARGS | METH_KEYWORDS,
     "configure_file(directory, capacity=None, *, buffered=False): file:0, in that directory."},
    {"Tier", METHOD(make_tier), METH_VARARGS | METH_KEYWORDS,
     "Tier(put, get, delete, *, capacity=None, piece=None): the context of a store of the "
     "program's: "
     "put(key, memoryview), get(key, memoryview), delete(key)."},
    {"set_verbose", set_verbose, METH_VARARGS,
     "set_verbose(on=True): errors, and waits for other threads that last longer than a second, "
     "are "
     "printed to stderr, as HARRAY_VERBOSE=1 says at first."},
    {"_set_patience", set_patience, METH_O, NULL},
    {"_kernel", make_kernel, METH_VARARGS, NULL},
    {"_exported", exported_kernel, METH_VARARGS, NULL},
    {"_launch", launch_kernel, METH_VARARGS, NULL},
    {"_kernel_log", kernel_log, METH_VARARGS, NULL},
    {"_open_many", open_many, METH_VARARGS, NULL},
    {"_set_controller", set_controller, METH_VARARGS, NULL},
    {"_count_devices", count_devices, METH_O, NULL},
    {"_no_transfers", no_transfers, METH_O, NULL},
    {"_set_current", set_current, METH_O, NULL},
    {"_trace", trace, METH_O, NULL},
    {"_report", report, METH_NOARGS, NULL},
    {"_set_package", set_package, METH_O, NULL},
    {"_end", life_end, METH_NOARGS, NULL},
    {0}};
/* Also when the module is made a second time, as by who has taken it out of sys.modules: types stay. */
static int begin(PyObject *module) {
    verify_begin();
    return life_begin(module) || errors_begin(module) || context_begin(module) ||
                   array_begin(module) || access_begin(module) || raw_begin(module) ||
                   PyModule_AddFunctions(module, operation_functions) ||
                   PyModule_AddStringConstant(module, "__version__", ha_version()) ||
                   PyModule_AddIntConstant(module, "KEEP", HA_KEEP)
               ? -1
               : 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, begin}, {0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "harray._harray", NULL, 0, functions, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__harray(void) { return PyModuleDef_Init(&definition); }
