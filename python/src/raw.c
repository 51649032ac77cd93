/* harray.Memory: bytes of one kind, where an array's memory is the library's matter. */
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>

PyTypeObject *raw_type;
int is_raw(PyObject *object) { return PyObject_TypeCheck(object, raw_type); }

enum { LEAST_ALIGNMENT = 64, MOST_ALIGNMENT = 4096 };
static const char *const kind_names[] = {"device", "shared", "host"};
const char *raw_kind_name(raw_kind kind) { return kind_names[kind]; }

raw_object *raw_root(PyObject *self) {
    while (RAW(self)->owner && is_raw(RAW(self)->owner)) self = RAW(self)->owner;
    return RAW(self);
}

ha_context *raw_place(const raw_object *m) { return m->kind == RAW_HOST ? ha_host() : m->context; }

const char *raw_called(const raw_object *m, char *text, size_t bytes) {
    snprintf(text, bytes, "Memory of %zu bytes (%s, %s)", m->bytes, raw_kind_name(m->kind),
             ha_context_name(m->context));
    return text;
}

static int host_reaches(const raw_object *m) {
    return m->kind != RAW_DEVICE || m->context == ha_host() || ha_context_is_zero_copy(m->context);
}

/* ---- what is asked for ------------------------------------------------------------------------ */

static int kind_from(PyObject *object, raw_kind *kind) {
    for (int k = RAW_DEVICE; PyUnicode_Check(object) && k <= RAW_HOST; k++)
        if (!PyUnicode_CompareWithASCIIString(object, kind_names[k])) return *kind = (raw_kind)k, 0;
    PyErr_Format(PyUnicode_Check(object) ? PyExc_ValueError : PyExc_TypeError,
                 "kind %R: \"device\", \"shared\" or \"host\"", object);
    return -1;
}

/* More than there can be is so many that there is no memory for them. */
static int size_from(PyObject *object, size_t *bytes) {
    PyObject *number = PyNumber_Index(object);
    if (!number) return -1;
    int overflow;
    const long long n = PyLong_AsLongLongAndOverflow(number, &overflow);
    Py_DECREF(number);
    if (overflow > 0) return PyErr_Format(PyExc_MemoryError, "Memory of %R bytes", object), -1;
    if (overflow < 0 || n <= 0)
        return PyErr_Format(PyExc_ValueError, "Memory of %R bytes: at least 1", object), -1;
    *bytes = (size_t)n;
    return 0;
}

static int check_alignment(Py_ssize_t alignment) {
    if (alignment >= 0 && alignment <= MOST_ALIGNMENT && !(alignment & (alignment - 1))) return 0;
    PyErr_Format(PyExc_ValueError, "alignment %zd: a power of two of at most %d, or 0", alignment,
                 MOST_ALIGNMENT);
    return -1;
}

/* ---- allocating ------------------------------------------------------------------------------- */

/* A device without pinned memory of its own has the host's. Without the GIL; *error: why it is NULL. */
static void *take(raw_object *m, size_t bytes, ha_error *error) {
    static const ha_memory_kind kinds[] = {HA_MEMORY_DEVICE, HA_MEMORY_MANAGED, HA_MEMORY_PINNED};
    m->from = m->context;
    void *block = ha_memory_allocate_kind(m->from, bytes, kinds[m->kind]);
    *error = ha_take_error();
    if (block || m->kind != RAW_HOST || error->status != HA_ERR_UNSUPPORTED) return block;
    m->from = ha_host();
    block = ha_memory_allocate(m->from, bytes);
    *error = ha_take_error();
    return block;
}

static int allocate(raw_object *m, size_t alignment) {
    const size_t more = alignment > LEAST_ALIGNMENT ? alignment - LEAST_ALIGNMENT : 0;
    ha_error error;
    UNLOCKED(m->block = take(m, m->bytes + more, &error));
    if (!m->block) return raise_error(error.status, &error, ""), -1;
    const uintptr_t mask = alignment > LEAST_ALIGNMENT ? alignment - 1 : 0;
    m->data = (char *)m->block + (-(uintptr_t)m->block & mask);
    return 0;
}

static raw_object *make(raw_kind kind, ha_context *context, size_t bytes) {
    raw_object *m = (raw_object *)PyType_GenericAlloc(raw_type, 0);
    if (!m) return NULL;
    m->kind = kind;
    m->context = context;
    m->bytes = bytes;
    return m;
}

static PyObject *make_allocated(raw_kind kind, ha_context *context, size_t bytes,
                                Py_ssize_t alignment) {
    raw_object *m = check_alignment(alignment) ? NULL : make(kind, context, bytes);
    if (m && allocate(m, (size_t)alignment)) Py_CLEAR(m);
    return (PyObject *)m;
}

/* ---- of another one --------------------------------------------------------------------------- */

/* The same bytes. */
static PyObject *share(PyObject *other) {
    const raw_object *o = RAW(other);
    raw_object *m = make(o->kind, o->context, o->bytes);
    if (!m) return NULL;
    m->data = o->data;
    m->owner = Py_NewRef(other);
    return (PyObject *)m;
}

static PyObject *copy_of(const raw_object *o, raw_kind kind, ha_context *context,
                         Py_ssize_t alignment) {
    PyObject *made = make_allocated(kind, context, o->bytes, alignment);
    if (made && raw_copy(RAW(made), o, o->bytes)) Py_CLEAR(made);
    return made;
}

static PyObject *of_other(PyObject *other, raw_kind kind, ha_context *context, int copies,
                          Py_ssize_t alignment) {
    char text[120];
    const raw_object *o = RAW(other);
    if (copies) return copy_of(o, kind, context, alignment);
    if (alignment && (check_alignment(alignment) || (uintptr_t)o->data % (size_t)alignment))
        return PyErr_Occurred()
                   ? NULL
                   : PyErr_Format(PyExc_ValueError,
                                  "%s is not aligned to %zd: copy=True makes one that is",
                                  raw_called(o, text, sizeof text), alignment);
    if (kind == o->kind && context == o->context) return share(other);
    return PyErr_Format(PyExc_ValueError, "%s is of another %s than %s: copy=True makes one",
                        raw_called(o, text, sizeof text), kind != o->kind ? "kind" : "context",
                        kind != o->kind ? raw_kind_name(kind) : ha_context_name(context));
}

PyObject *raw_of_record(PyObject *object) {
    sycl_owner owner;
    void *data;
    size_t bytes;
    PyObject *record = PyObject_GetAttrString(object, "__sycl_usm_array_interface__");
    if (!record && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    if (!record) return NULL;
    PyObject *syclobj = NULL;
    raw_object *m = NULL;
    if (!bytes_of_record(record, &data, &bytes)) {
        syclobj = PyDict_GetItemString(record, "syclobj");
        if (!sycl_owner_of(data, syclobj, &owner)) m = make(owner.kind, owner.context, bytes);
    }
    if (m) {
        m->data = data;
        m->owner = Py_NewRef(object);
    }
    Py_DECREF(record);
    return (PyObject *)m;
}

/* A Memory as it is, or of another object's record; a new reference, or NULL: it is a number of bytes, unless an exception is set. */
static PyObject *other_from(PyObject *object) {
    if (is_raw(object)) return Py_NewRef(object);
    return PyIndex_Check(object) ? NULL : raw_of_record(object);
}

static PyObject *make_raw(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    (void)type;
    static char *names[] = {"nbytes", "kind", "context", "alignment", "copy", NULL};
    PyObject *what, *kind_object = NULL, *where = Py_None;
    Py_ssize_t alignment = 0;
    int copies = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OOn$p", names, &what, &kind_object, &where,
                                     &alignment, &copies))
        return NULL;
    PyObject *made = NULL, *other = other_from(what);
    raw_kind kind = other ? RAW(other)->kind : RAW_DEVICE;
    ha_context *context = other ? RAW(other)->context : NULL;
    size_t bytes;
    if (!PyErr_Occurred() && !(kind_object && kind_from(kind_object, &kind)) &&
        !((!other || where != Py_None) && context_from(where, &context))) {
        if (other)
            made = of_other(other, kind, context, copies, alignment);
        else if (!size_from(what, &bytes))
            made = make_allocated(kind, context, bytes, alignment);
    }
    Py_XDECREF(other);
    return made;
}

static void dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    raw_object *m = RAW(self);
    PyObject *error, *value, *trace;
    PyErr_Fetch(&error, &value, &trace);
    if (m->block && !is_forked) {
        UNLOCKED(HA_IGNORE(ha_memory_release(m->from, m->block)));
        (void)ha_take_error();
    }
    Py_XDECREF(m->owner);
    PyErr_Restore(error, value, trace);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- buffers and arrays ----------------------------------------------------------------------- */

/* Whoever makes one of them counts it first, and looks for the other then: so of two threads not both succeed. */
static int hand_out(PyObject *self, Py_buffer *view, int flags) {
    char text[120];
    const raw_object *m = RAW(self);
    ha_status status;
    if (atomic_load(&raw_root(self)->arrays)) {
        PyErr_Format(PyExc_BufferError,
                     "%s is an array's: open that one, or let it go; then the bytes are here",
                     raw_called(m, text, sizeof text));
        return -1;
    }
    UNLOCKED(status = ha_context_finish(m->context));
    if (status) return raise_status(status), -1;
    return PyBuffer_FillInfo(view, self, m->data, (Py_ssize_t)m->bytes, 0, flags);
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
    char text[120];
    atomic_long *buffers = &raw_root(self)->buffers;
    view->obj = NULL;
    if (!host_reaches(RAW(self))) {
        PyErr_Format(PyExc_BufferError, "%s: the host cannot reach it; copy_to_host() gives a copy",
                     raw_called(RAW(self), text, sizeof text));
        return -1;
    }
    atomic_fetch_add(buffers, 1);
    const int status = hand_out(self, view, flags);
    if (status) atomic_fetch_sub(buffers, 1);
    return status;
}

static void release_view(PyObject *self, Py_buffer *view) {
    (void)view;
    atomic_fetch_sub(&raw_root(self)->buffers, 1);
}

/* What an array keeps of it. */
static void array_gone(void *user) {
    if (is_ending || is_forked) return; // there is nobody left to give it to
    const callback c = callback_begin();
    atomic_fetch_sub(&raw_root((PyObject *)user)->arrays, 1);
    Py_DECREF((PyObject *)user);
    callback_end(c);
}

/* The array owns a reference, which it gives back with the count. */
static PyObject *keep_memory(PyObject *self, darray x) {
    ha_status status = HA_OK;
    if (x.array) status = ha_array_set_release(x.array, array_gone, self);
    if (x.array && !status) return Py_INCREF(self), array_own(x);
    if (x.array) array_drop(x);
    atomic_fetch_sub(&raw_root(self)->arrays, 1);
    return raise_status(status);
}

/* As many of the type as there is room for, or the shape that is asked for. */
static int elements(const raw_object *m, PyObject *shape, ha_dtype type, int64_t *extent) {
    char text[120];
    const int64_t most = (int64_t)(m->bytes / dtype_size(type));
    int64_t n = 1;
    extent[0] = most;
    const int rank = shape && shape != Py_None ? shape_from(shape, extent) : 1;
    for (int d = 0; d < rank; d++)
        if (extent[d] < 0 || __builtin_mul_overflow(n, extent[d], &n)) n = INT64_MAX, d = rank;
    if (rank < 0 || n <= most) return rank;
    PyErr_Format(PyExc_ValueError, "%s has room for %lld elements of %s, less than this shape's",
                 raw_called(m, text, sizeof text), (long long)most, dtype_name(type));
    return -1;
}

PyObject *wrap_raw(PyObject *self, PyObject *dtype, PyObject *shape) {
    char text[120];
    const raw_object *m = RAW(self);
    ha_dtype type = HA_DTYPE_uint8_t;
    int64_t extent[HA_MOST_RANK] = {0}, stride[HA_MOST_RANK] = {0};
    if (dtype && dtype != Py_None && dtype_from(dtype, &type)) return NULL;
    const int rank = elements(m, shape, type, extent);
    if (rank < 0) return NULL;
    atomic_fetch_add(&raw_root(self)->arrays, 1);
    if (atomic_load(&raw_root(self)->buffers)) {
        atomic_fetch_sub(&raw_root(self)->arrays, 1);
        return PyErr_Format(PyExc_BufferError,
                            "%s is exported as a buffer, which would not see what an array does",
                            raw_called(m, text, sizeof text));
    }
    int64_t step = 1;
    for (int d = rank - 1; d >= 0; step *= extent[d--]) stride[d] = step;
    const char *site = here();
    darray x;
    UNLOCKED(HA_FROM(site) x = darray_wrap(type, rank, extent, stride, m->data, raw_place(m), 0));
    return keep_memory(self, x);
}

/* ---- what a pointer is ------------------------------------------------------------------------ */

raw_kind raw_kind_of(ha_memory_kind kind, int *known) {
    *known = kind != HA_MEMORY_UNKNOWN;
    if (kind == HA_MEMORY_DEVICE) return RAW_DEVICE;
    return kind == HA_MEMORY_MANAGED ? RAW_SHARED : RAW_HOST;
}

static int is_of(ha_context *owner, ha_context *context) {
    return !strcmp(ha_context_kind(owner), ha_context_kind(context)) &&
           ha_context_number(owner) == ha_context_number(context);
}

/* pointer_kind(address, context=None) */
PyObject *pointer_kind(PyObject *module, PyObject *args, PyObject *keywords) {
    (void)module;
    static char *names[] = {"address", "context", NULL};
    PyObject *address, *where = Py_None;
    ha_context *context = NULL, *owner;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O", names, &address, &where) ||
        (where != Py_None && context_from(where, &context)))
        return NULL;
    const void *pointer = PyLong_AsVoidPtr(address);
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return NULL;
        PyErr_Clear();
        return PyErr_Format(PyExc_ValueError, "%R is no address", address);
    }
    ha_memory_kind found;
    int known;
    UNLOCKED(found = ha_pointer_kind(pointer, &owner));
    const raw_kind kind = raw_kind_of(found, &known);
    if (known && context && !is_of(owner, context) && !(kind == RAW_HOST && context == ha_host()))
        known = 0;
    return PyUnicode_FromString(known ? raw_kind_name(kind) : "unknown");
}

/* ---- methods ---------------------------------------------------------------------------------- */

static PyObject *get_bytes(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromSize_t(RAW(self)->bytes);
}

static PyObject *get_kind(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(raw_kind_name(RAW(self)->kind));
}

static PyObject *get_context(PyObject *self, void *unused) {
    (void)unused;
    return context_object(RAW(self)->context);
}

static PyObject *get_pointer(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromVoidPtr(RAW(self)->data);
}

static Py_ssize_t length(PyObject *self) { return (Py_ssize_t)RAW(self)->bytes; }

static PyObject *repr(PyObject *self) {
    const raw_object *m = RAW(self);
    return PyUnicode_FromFormat("<harray.Memory of %zu bytes, %s, %s, at %p>", m->bytes,
                                raw_kind_name(m->kind), ha_context_name(m->context), m->data);
}

static PyObject *reduce(PyObject *self, PyObject *protocol) {
    (void)protocol;
    PyObject *module = PyImport_ImportModule("harray._pickle");
    PyObject *result = module ? PyObject_CallMethod(module, "reduce_memory", "O", self) : NULL;
    Py_XDECREF(module);
    return result;
}

static PyObject *refuse_sharing(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    PyErr_SetString(PyExc_NotImplementedError,
                    "memory is not shared between processes: send copy_to_host(), or wrap what "
                    "multiprocessing.shared_memory has");
    return NULL;
}

#define METHOD(f) ((PyCFunction)(void (*)(void))f)
static PyMethodDef methods[] = {
    {"copy_to_host", METHOD(raw_copy_to_host), METH_VARARGS | METH_KEYWORDS,
     "copy_to_host(obj=None): into a buffer, of which the rest stays as it is; else a bytearray."},
    {"copy_from_host", raw_copy_from_host, METH_O,
     "copy_from_host(obj): a buffer's bytes, of which there may be fewer."},
    {"copy_from_device", raw_copy_from_device, METH_O,
     "copy_from_device(obj): another Memory's bytes, of which there may be fewer."},
    {"memset", METHOD(raw_memset), METH_VARARGS | METH_KEYWORDS,
     "memset(value=0): each byte becomes that."},
    {"get_ipc_handle", refuse_sharing, METH_NOARGS, "NotImplementedError."},
    {"open_ipc_handle", refuse_sharing, METH_O | METH_CLASS, "NotImplementedError."},
    {"__reduce_ex__", reduce, METH_O, NULL},
    {0}};
static PyGetSetDef members[] = {
    {"nbytes", get_bytes, NULL, "How many bytes.", NULL},
    {"size", get_bytes, NULL, "The same.", NULL},
    {"kind", get_kind, NULL, "\"device\", \"shared\" or \"host\"", NULL},
    {"context", get_context, NULL, "Whose memory it is.", NULL},
    {"pointer", get_pointer, NULL, "The address of the first byte.", NULL},
    {"__cuda_array_interface__", raw_cuda_interface, NULL, "Its bytes, for CuPy.", NULL},
    {"__sycl_usm_array_interface__", raw_sycl_interface, NULL, "Its record, for dpctl.", NULL},
    {0}};
static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Memory(nbytes, kind='device', context=None, alignment=0, *, copy=False)\n--\n\n"
     "Bytes of one kind: \"device\"; \"shared\", for device and host; \"host\". Of another "
     "Memory: the same bytes, or with copy a copy of them."},
    {Py_tp_new, make_raw},
    {Py_tp_dealloc, dealloc},
    {Py_tp_repr, repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {Py_sq_length, length},
    {Py_bf_getbuffer, get_buffer},
    {Py_bf_releasebuffer, release_view},
    {0, NULL}};
static PyType_Spec spec = {"harray.Memory", sizeof(raw_object), 0, Py_TPFLAGS_DEFAULT, slots};

int raw_begin(PyObject *module) {
    if (!raw_type) raw_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!raw_type) return -1;
    Py_INCREF((PyObject *)raw_type);
    return PyModule_AddObject(module, "Memory", (PyObject *)raw_type);
}
