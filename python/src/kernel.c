/* Kernels whose text comes from Python: what HA_KERNEL would make of it, described at run time, for the compilers of devices.
 * There are no loops of C, so it runs where a device has a compiler only; for the host that is PoCL, where it is there.
 * harray._kernels reads the parameters. And kernels of C that a library exports, which run everywhere. */
#include "binding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kernel is known by its address to the devices that have compiled it, so it stays. */
typedef struct {
    const ha_kernel *kernel;
    int count;                      /* of arguments, the parameters that are given something */
    int place[HA_MOST_PARAMETERS_]; /* of each argument among the parameters */
    ha_dtype type[HA_MOST_PARAMETERS_];
    ha_kernel own; /* whose text comes from Python */
    ha_kernel_parameter_ parameter[HA_MOST_PARAMETERS_ + 1];
} made;
static const char capsule_name[] = "harray.kernel";

/* What a launch gives for a parameter: a value, the handle of an array, or an array_T_D. */
typedef union {
    unsigned char value[16];
    ha_array *array;
    int64_t typed[2 + 3 * HA_MOST_RANK];
} given;

/* Launches ask before whether the device compiles kernels. */
static void no_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                     const ha_kernel_slot_ *slot) {
    (void)kernel, (void)box, (void)apart, (void)slot;
}

/* (mode, rank, dtype, type, name) */
static int row_from(PyObject *row, made *m, int i, const char *site) {
    int mode, rank;
    PyObject *dtype;
    const char *type, *name;
    if (!PyArg_ParseTuple(row, "iiOss", &mode, &rank, &dtype, &type, &name) ||
        dtype_from(dtype, &m->type[i]))
        return -1;
    static const ha_kernel_mode_ modes[] = {HA_KERNEL_VALUE_, HA_KERNEL_CONSTANT_, HA_KERNEL_IN_,
                                            HA_KERNEL_INOUT_, HA_KERNEL_OUT_};
    m->parameter[i] = (ha_kernel_parameter_){.mode = modes[mode],
                                             .rank = rank,
                                             .bytes = dtype_size(m->type[i]),
                                             .type = strdup(type),
                                             .name = strdup(name),
                                             .site = site};
    m->place[i] = i;
    return m->parameter[i].type && m->parameter[i].name ? 0 : (PyErr_NoMemory(), -1);
}

/* Functions in front of the kernel, as HA_DEVICE_CODE keeps them: their place, and their text. */
static int add_uses(made *m, const char *uses, const char *site) {
    const size_t bytes = strlen(site) + strlen(uses) + 2;
    char *text = malloc(bytes);
    if (!text) return PyErr_NoMemory(), -1;
    snprintf(text, bytes, "%s\n%s", site, uses);
    m->parameter[m->count] = (ha_kernel_parameter_){
        .mode = HA_KERNEL_USES_, .type = text, .name = "uses", .site = site};
    return 0;
}

static int add_texts(made *m, const char *name, const char *text, const char *indices) {
    m->own.name = strdup(name);
    m->own.text = strdup(text);
    m->own.indices = strdup(indices);
    return m->own.name && m->own.text && m->own.indices ? 0 : (PyErr_NoMemory(), -1);
}

static void release(const char *text) { free((void *)(uintptr_t)text); }

/* Of one that no device has seen. */
static PyObject *give_up(made *m) {
    for (int i = 0; i <= m->count; i++) release(m->parameter[i].type);
    for (int i = 0; i < m->count; i++) release(m->parameter[i].name);
    release(m->own.name);
    release(m->own.text);
    release(m->own.indices);
    free(m);
    return NULL;
}

/* _kernel(name, rank, indices, text, uses, rows): a capsule. */
PyObject *make_kernel(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *indices, *text, *uses, *site = here();
    int rank, status = 0;
    PyObject *rows;
    if (!PyArg_ParseTuple(args, "sisszO!", &name, &rank, &indices, &text, &uses, &PyTuple_Type,
                          &rows))
        return NULL;
    if (PyTuple_Size(rows) > HA_MOST_PARAMETERS_)
        return PyErr_Format(PyExc_ValueError, "%s: more than %d parameters", name,
                            HA_MOST_PARAMETERS_);
    made *m = calloc(1, sizeof *m);
    if (!m) return PyErr_NoMemory();
    m->count = (int)PyTuple_Size(rows);
    for (int i = 0; i < m->count && !status; i++)
        status = row_from(PyTuple_GetItem(rows, i), m, i, site);
    if (!status && uses) status = add_uses(m, uses, site);
    m->own = (ha_kernel){.site = site,
                         .rank = rank,
                         .parameters = m->count + (uses != NULL),
                         .parameter = m->parameter,
                         .loops = no_loops};
    m->kernel = &m->own;
    if (status || add_texts(m, name, text, indices)) return give_up(m);
    PyObject *capsule = PyCapsule_New(m, capsule_name, NULL);
    return capsule ? capsule : give_up(m);
}

/* ---- exported by C ---------------------------------------------------------------------------- */

/* A type of elements, as it stands in a kernel: T, or array_T_D. */
static ha_dtype type_from(const ha_kernel_parameter_ *p) {
    char text[64];
    const char *const front = p->rank ? "array_" : "";
    snprintf(text, sizeof text, "%s", p->type + strlen(front));
    char *const end = strrchr(text, '_');
    if (p->rank && end) *end = '\0';
    ha_dtype type = HA_DTYPE_NONE;
    if (!strcmp(text, "int")) type = HA_DTYPE_int32_t;
    if (!type && ha_dtype_find(text, &type)) (void)ha_take_error();
    return type && dtype_size(type) == p->bytes ? type : HA_DTYPE_NONE;
}

/* Its arguments; what Python has no values for is refused. */
static int arguments_of(made *m) {
    for (int i = 0; i < m->kernel->parameters; i++) {
        const ha_kernel_parameter_ *p = &m->kernel->parameter[i];
        if (p->mode == HA_KERNEL_USES_ || p->mode == HA_KERNEL_OPTION_) continue;
        const int is_number = p->mode >= HA_KERNEL_VALUE_ && p->mode <= HA_KERNEL_OUT_;
        const ha_dtype type = is_number ? type_from(p) : HA_DTYPE_NONE;
        if (!type) {
            PyErr_Format(
                PyExc_NotImplementedError,
                "%s: '%s': kernels with records, bundles, structs or results are called from C",
                m->kernel->name, p->name);
            return -1;
        }
        m->place[m->count] = i;
        m->type[m->count++] = type;
    }
    if (!m->kernel->team) return 0;
    PyErr_Format(PyExc_NotImplementedError, "%s: kernels of teams are called from C",
                 m->kernel->name);
    return -1;
}

/* _exported(address): of what HA_KERNEL_EXPORT exports, a capsule, its name, and its rank. */
PyObject *exported_kernel(PyObject *module, PyObject *args) {
    (void)module;
    unsigned long long address;
    if (!PyArg_ParseTuple(args, "K", &address)) return NULL;
    const ha_kernel_exported_ *found = (const ha_kernel_exported_ *)(uintptr_t)address;
    if (strcmp(found->version, HARRAY_VERSION) != 0)
        return PyErr_Format(PyExc_ImportError, "it was compiled with harray %s, and this is %s",
                            found->version, HARRAY_VERSION);
    if (found->launch != ha_kernel_launch_)
        return PyErr_Format(PyExc_ImportError, "it has another harray inside; it has to be linked "
                                               "with that of harray.get_library()");
    made *m = calloc(1, sizeof *m);
    if (!m) return PyErr_NoMemory();
    m->kernel = found->kernel;
    PyObject *capsule = arguments_of(m) ? NULL : PyCapsule_New(m, capsule_name, NULL);
    if (!capsule) return free(m), NULL;
    return Py_BuildValue("(Nsi)", capsule, m->kernel->name, m->kernel->rank);
}

/* ---- launching -------------------------------------------------------------------------------- */

static const ha_kernel_parameter_ *parameter_of(const made *m, int i) {
    return &m->kernel->parameter[m->place[i]];
}

static int refuse(const made *m, int i, const char *why) {
    PyErr_Format(PyExc_TypeError, "%s: '%s' %s", m->kernel->name, parameter_of(m, i)->name, why);
    return -1;
}

static int give_value(const made *m, int i, PyObject *object, given *g) {
    ha_dvalue value;
    char more[200];
    if (is_array(object)) return refuse(m, i, "is a number, not an array");
    if (number_to(object, &value)) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
        return PyErr_Clear(), refuse(m, i, "is a number");
    }
    const ha_status status = ha_dvalue_store(value, m->type[i], g->value);
    if (!status) return 0;
    snprintf(more, sizeof more, "; it is parameter '%s' of %s", parameter_of(m, i)->name,
             m->kernel->name);
    return raise_with(status, more), -1;
}

/* An array as a parameter T takes it is all of what has one dimension. */
static int is_plain(darray x) {
    return x.rank == 1 && !x.offset && darray_is_contiguous(x, HA_ROW_MAJOR) &&
           darray_size(x) == (int64_t)ha_array_size(x.array);
}

static int give_array(const made *m, int i, PyObject *object, given *g) {
    const ha_kernel_parameter_ *p = parameter_of(m, i);
    char why[160];
    if (!is_array(object)) return refuse(m, i, "is an array");
    const darray x = ARRAY(object);
    snprintf(why, sizeof why, "has elements of %s, not %s", dtype_name(m->type[i]),
             dtype_name(x.type));
    if (x.type != m->type[i]) return refuse(m, i, why);
    snprintf(why, sizeof why, "has %d dimensions, not %d", p->rank, x.rank);
    if (p->rank && x.rank != p->rank) return refuse(m, i, why);
    if (p->rank)
        darray_to_typed_(x, ha_dtype_to_type(x.type), x.type, x.rank, g->typed);
    else if (is_plain(x))
        g->array = x.array;
    else
        return refuse(m, i, "is a whole array of one dimension; views are for array_T_1");
    return 0;
}

static int give_all(const made *m, PyObject *arguments, given *g, const void **address) {
    if (PyTuple_Size(arguments) != m->count) {
        PyErr_Format(PyExc_TypeError, "%s takes %d arguments behind the lanes, not %zd",
                     m->kernel->name, m->count, PyTuple_Size(arguments));
        return -1;
    }
    for (int i = 0; i < m->count; i++) {
        PyObject *object = PyTuple_GetItem(arguments, i);
        const int is_value = parameter_of(m, i)->mode == HA_KERNEL_VALUE_;
        address[m->place[i]] = &g[i];
        if (is_value ? give_value(m, i, object, &g[i]) : give_array(m, i, object, &g[i])) return -1;
    }
    return 0;
}

/* Whether OpenCL's device computes on the host's processor: PoCL calls those by how it runs them. */
static int is_pocl(ha_context *c, const void *kernel) {
    char place[300];
    if (!ha_kernel_place(kernel, c, place, sizeof place)) return 0;
    const char *device = strstr(place, "Portable Computing Language: ");
    return device && (strstr(device, ": pthread") || strstr(device, ": cpu"));
}

/* Without loops of C the device has to compile it. *runs: where it is compiled for. */
static int can_run(const made *m, ha_context *context, ha_context **runs) {
    char place[300];
    size_t length;
    *runs = context;
    if (m->kernel != &m->own) return 1;
    if (context == ha_host()) UNLOCKED(*runs = first_context("opencl", is_pocl, m->kernel));
    if (!*runs) {
        PyErr_Format(PyExc_NotImplementedError,
                     "%s: on the host kernels from Python are compiled by PoCL, a driver of "
                     "OpenCL, and it is not here; "
                     "devices that compile them are such as opencl:0 and cuda:0",
                     m->kernel->name);
        return 0;
    }
    if (*runs != context && blocks_without_transfers) {
        PyErr_Format(PyExc_RuntimeError,
                     "%s: on the host it is PoCL's %s that runs it, and transfers are refused here",
                     m->kernel->name, ha_context_name(*runs));
        return 0;
    }
    UNLOCKED(length = ha_kernel_place(m->kernel, *runs, place, sizeof place));
    if (!length) return raise_status(HA_OK), 0;
    if (strstr(place, ": compiled for it")) return 1;
    PyErr_Format(
        PyExc_NotImplementedError,
        "%s: kernels from Python run on devices that compile them, such as opencl:0 and cuda:0; %s",
        m->kernel->name, place);
    return 0;
}

/* What was computed for the host is to be there, as after its own loops: memory that was wrapped has the values, too. When
 * that fails, they are where they were computed, and the next opening tries again. */
static ha_status bring_to_host(const made *m, PyObject *arguments, const char *site) {
    ha_status status = HA_OK;
    for (int i = 0; i < m->count && !status; i++) {
        const ha_kernel_mode_ mode = parameter_of(m, i)->mode;
        if (mode != HA_KERNEL_INOUT_ && mode != HA_KERNEL_OUT_) continue;
        const darray x = ARRAY(PyTuple_GetItem(arguments, i));
        ha_access access;
        UNLOCKED({
            status = ha_open_any_(&access, sizeof access, &x, sizeof x, ha_host(), HA_READ | HA_TRY,
                                  site);
            if (!status) status = ha_close(&access);
        });
        if (status == HA_ERR_BUSY) status = HA_OK; // another thread writes there by now
    }
    return status;
}

/* Dimensions that the kernel does not have are of one lane. */
static int box_from(PyObject *low, PyObject *high, ha_region *box) {
    int64_t first[HA_MOST_RANK] = {0}, last[HA_MOST_RANK] = {0};
    const int rank = shape_from(low, first);
    if (rank < 0 || shape_from(high, last) != rank || rank > 3) return -1;
    *box = ha_box4(0, 1, 0, 1, 0, 1, 0, 1);
    for (int d = 0; d < rank; d++) box->first[d] = first[d], box->last[d] = last[d];
    return 0;
}

static PyObject *refuse_launch(ha_status status, const made *m, PyObject *arguments) {
    used arrays[HA_MOST_PARAMETERS_] = {{NULL, HA_READ}};
    for (int i = 0; i < m->count; i++) {
        PyObject *object = PyTuple_GetItem(arguments, i);
        const ha_kernel_mode_ mode = parameter_of(m, i)->mode;
        const int is_read = mode == HA_KERNEL_IN_ || mode == HA_KERNEL_CONSTANT_;
        if (is_array(object)) arrays[i] = (used){ARRAY(object).array, is_read ? HA_READ : HA_WRITE};
    }
    return raise_about_(status, arrays, (size_t)m->count);
}

/* _launch(kernel, context, low, high, arguments); low and high: tuples of numbers, the box of lanes. */
PyObject *launch_kernel(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *capsule, *where, *low, *high, *arguments;
    ha_context *context, *runs;
    ha_region box;
    given g[HA_MOST_PARAMETERS_];
    const void *address[HA_MOST_PARAMETERS_ + 1] = {NULL};
    ha_status status = HA_OK;
    if (!PyArg_ParseTuple(args, "OOOOO!", &capsule, &where, &low, &high, &PyTuple_Type, &arguments))
        return NULL;
    const made *m = PyCapsule_GetPointer(capsule, capsule_name);
    if (!m || context_from(where, &context) || box_from(low, high, &box)) return NULL;
    if (give_all(m, arguments, g, address)) return NULL;
    if (!can_run(m, context, &runs)) return NULL;
    const char *site = here();
    UNLOCKED(HA_FROM(site) status = ha_kernel_launch_(m->kernel, runs, &box, address));
    if (status) return refuse_launch(status, m, arguments);
    if (runs != context) status = bring_to_host(m, arguments, site);
    if (status) return raise_status(status);
    Py_RETURN_NONE;
}

/* _kernel_log(kernel, context): all that the compiler said. */
PyObject *kernel_log(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *capsule, *where;
    ha_context *context;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &where) || context_from(where, &context))
        return NULL;
    const made *m = PyCapsule_GetPointer(capsule, capsule_name);
    if (!m) return NULL;
    ha_context *pocl = NULL;
    if (context == ha_host() && m->kernel == &m->own)
        UNLOCKED(pocl = first_context("opencl", is_pocl, m->kernel));
    if (pocl) context = pocl;
    const size_t bytes = ha_kernel_log(m->kernel, context, NULL, 0);
    char *text = malloc(bytes + 1);
    if (!text) return PyErr_NoMemory();
    text[0] = '\0';
    ha_kernel_log(m->kernel, context, text, bytes + 1);
    PyObject *result = text_from(text);
    free(text);
    return result;
}
