/* What the files of the extension share. Each file is an idea; here is what the others see of it.
 *
 * Everything is of the limited API of CPython 3.11, so one binary serves all later versions. Functions that
 * return an object or a negative number on failure have set Python's exception then. */
#ifndef HARRAY_PYTHON_BINDING_H
#define HARRAY_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>
#include <structmember.h>

#include "harray_ops.h"

#include <stdatomic.h>
#include <string.h>

/* UNLOCKED runs a statement without the GIL: every call of harray that may wait, allocate or call back. A thread
 * that waited with the GIL would wait for ever for one that needs it. MAY_WAIT is for what waits here itself. */
#ifdef HARRAY_TELLS_WAITS_
#include "gil_checks.h"
#else
#define UNLOCKED(...)                                                                              \
    do {                                                                                           \
        PyThreadState *unlocked_ = PyEval_SaveThread();                                            \
        __VA_ARGS__;                                                                               \
        PyEval_RestoreThread(unlocked_);                                                           \
    } while (0)
#define MAY_WAIT() ((void)0)
#define CHECKS_BEGIN() ((void)0)
#define CHECKS_END() ((void)0)
#endif

/* Puts another reference in the place of one; takes it over. */
static inline void replace(PyObject **place, PyObject *by) {
    PyObject *old = *place;
    *place = by;
    Py_XDECREF(old);
}

/* A new reference; NULL, without an exception where there is no such attribute. */
static inline PyObject *attribute(PyObject *object, const char *name) {
    PyObject *value = PyObject_GetAttrString(object, name);
    if (!value && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    return value;
}

/* A str of C's text, which may be cut in the middle of a letter, as long names are. */
static inline PyObject *text_from(const char *text) {
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

/* A callback takes the GIL, and puts the exception aside that the thread may have on its way; the end gives both back. */
typedef struct {
    PyGILState_STATE state;
    PyObject *type, *value, *trace;
    int was_on_queue;
} callback;

extern _Thread_local int is_on_queue; /* later.c: the thread runs a function of a queue */

static inline callback callback_begin(void) {
    MAY_WAIT();
    callback c = {.state = PyGILState_Ensure(), .was_on_queue = is_on_queue};
    PyErr_Fetch(&c.type, &c.value, &c.trace);
    return c;
}

/* Of a function that runs on a queue: calls of harray are refused there. */
static inline callback callback_begin_on_queue(void) {
    const callback c = callback_begin();
    is_on_queue = 1;
    return c;
}

static inline void callback_end(callback c) {
    if (PyErr_Occurred()) PyErr_WriteUnraisable(NULL);
    PyErr_Restore(c.type, c.value, c.trace);
    is_on_queue = c.was_on_queue;
    PyGILState_Release(c.state);
}

/* ---- gil.c ----------------------------------------------------------------------------------- */

void gil_begin(void);
int has_gil(void); /* whether this thread has it: also of one that is not Python's */

/* ---- life.c: the process and the interpreter ------------------------------------------------- */

extern atomic_int is_forked; /* 1 in the child of a fork, which cannot use harray */
extern atomic_int is_ending; /* 1 from the interpreter's atexit on */
extern atomic_int
    is_shut_down; /* 1 when devices have been given back then: their contexts are dangling */
int life_begin(PyObject *module);
int is_main_thread(void);
PyObject *life_end(PyObject *module, PyObject *unused);

/* ---- errors.c -------------------------------------------------------------------------------- */

extern PyObject *device_error;
int errors_begin(PyObject *module);

/* Raises what a status stands for, with the text of this thread's ha_take_error(). NULL. */
PyObject *raise_status(ha_status status);
/* The same with words behind it. */
PyObject *raise_with(ha_status status, const char *more);
PyObject *raise_error(ha_status status, const ha_error *error, const char *more);
/* An array that could not be used, and what for; NULL is none. */
typedef struct {
    ha_array *array;
    unsigned how; /* HA_READ or HA_WRITE */
} used;

/* The same of arrays: of a conflict it says what was exported of them that was in the way, and where. In held.c. */
PyObject *raise_about_(ha_status status, const used *arrays, size_t count);
#define raise_about(status, ...)                                                                   \
    raise_about_(status, (const used[]){__VA_ARGS__},                                              \
                 sizeof((const used[]){__VA_ARGS__}) / sizeof(used))

/* ---- sites.c --------------------------------------------------------------------------------- */

/* "file.py:12": the nearest place in Python's source outside of this package. The text stays. Never fails. */
const char *here(void);
PyObject *set_package(PyObject *module, PyObject *folder);

/* ---- dtypes.c -------------------------------------------------------------------------------- */

int dtype_from(PyObject *object, ha_dtype *type); /* 0, or -1 */
const char *dtype_name(ha_dtype type);            /* "float64" */
const char *dtype_format(ha_dtype type);          /* of the buffer protocol; NULL: it has none */
const char *dtype_typestr(ha_dtype type);         /* of the array interfaces: "<f8"; NULL: none */
int dtype_of_format(const char *format, Py_ssize_t size, ha_dtype *type);
size_t dtype_size(ha_dtype type);

/* ---- numbers.c ------------------------------------------------------------------------------- */

PyObject *number_from(ha_dvalue value);
int number_to(PyObject *object, ha_dvalue *value); /* 0, or -1 */

/* ---- context.c ------------------------------------------------------------------------------- */

int context_begin(PyObject *module);
PyObject *context_object(ha_context *context);
/* Of a Context, a name, or NULL and None, which are the host. 0, or -1. */
int context_from(PyObject *object, ha_context **context);

/* The first context of a kind of which `is` says so, asked with `of`; NULL: there is none. Without the GIL. */
ha_context *first_context(const char *kind, int (*is)(ha_context *c, const void *of),
                          const void *of);
PyObject *find_context(PyObject *module, PyObject *name);
PyObject *best_context(PyObject *module, PyObject *unused);
PyObject *adopt_stream(PyObject *module, PyObject *args);

/* ---- array.c --------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD darray x; /* one owner of the storage */
    PyObject *weak;
} array_object;

extern PyTypeObject *array_type;
int array_begin(PyObject *module);
/* An object that owns x; x.array NULL: raises the error. */
PyObject *array_own(darray x);
/* One owner less, whatever comes of it. */
void array_drop(darray x);
/* An object for a view of what somebody else owns. */
PyObject *array_view(darray view);
int is_array(PyObject *object);
#define ARRAY(object) (((array_object *)(object))->x)
/* "'field'", or "an array" without a name: for messages. */
const char *array_called(darray x, char *text, size_t bytes);

/* ---- verify.c: HARRAY_VERIFY_READS ------------------------------------------------------------- */

extern int verifies_reads; /* 0: nothing is compared */

/* What was exported for reading, as it was then. */
typedef struct {
    const char *kind, *site; /* kind NULL: nothing */
    uint64_t sum;
} proof;

struct held;
void verify_begin(void);
/* Keeps what an access has, if it is one for reading. 0, or -1. */
int verify_export(proof *p, const struct held *h, const char *kind, const char *site);
/* Whether it has that still: 0, or -1 with the exception that says who has written. */
int verify_raise(const proof *p, const struct held *h);
/* The same where nobody can be raised at: sys.unraisablehook gets it. With the GIL, and without. */
void verify_tell(const proof *p, const struct held *h);
void verify_tell_unlocked(const proof *p, const struct held *h);

/* ---- held.c: open accesses ------------------------------------------------------------------- */

/* An open access, in C's memory alone: what was exported keeps it without Python. */
typedef struct held {
    atomic_long owners; /* the Access, and each export */
    darray x;           /* one owner of the storage */
    ha_token token;
    ha_context *context;
    void *data;       /* the first element */
    unsigned how;     /* HA_READ, HA_WRITE or HA_OVERWRITE */
    const char *site; /* where it was opened */
    proof shown;      /* by a dictionary or a number, which end with the access */
} held;

/* One thing that was exported of it. */
typedef struct export {
    held *of;
    const char *kind, *site; /* "buffer", and where it was taken */
    proof as_it_was;
    struct export *next, **link;
}
export;

held *held_open(darray x, ha_context *context, unsigned how, int waits);
/* One owner less; the last one ends the access. With the GIL, and without. */
void held_drop(held *h);
void held_drop_unlocked(held *h);
int held_is_exported(const held *h);
void held_end(held *h); /* of which there is no owner any more; without the GIL */

/* Makes an export, one more owner of the access: 0, or -1. Ends it, with the GIL, and without. */
int export_begin(export *e, held *of, const char *kind, const char *site);
void export_end(export *e);
void export_end_unlocked(export *e);
/* "buffer at plot.py:12, 2 of them": those of one access. */
void exports_of(const held *h, char *text, size_t bytes);
/* What an access has is given away without an export, until it is closed. 0, or -1. */
int held_show(held *h, const char *kind);
PyObject *list_exports(PyObject *module, PyObject *unused);
const char *how_name(unsigned how);
int how_from(PyObject *object, unsigned *how);

/* ---- later.c ---------------------------------------------------------------------------------- */

/* An access without an owner, or with NULL an array, is ended by the main thread. Needs no GIL. */
void end_later(held *h, darray x);
void end_what_is_late(void);

/* ---- patience.c ------------------------------------------------------------------------------ */

/* Opens h->x without the GIL, waiting for other threads; on the main thread Ctrl-C ends the wait, with
 * KeyboardInterrupt set: *interrupted is 1. */
ha_status open_patiently(held *h, int *interrupted);
ha_status open_at_once(held *h, unsigned how);
/* Until no other thread has open what would be in the way: Ctrl-C ends that, -1. What else is wrong is not told: it is when
 * the array is used. */
int wait_for_others(darray x, ha_context *context, unsigned how);
/* The same where all of it is valid, so that nothing moves; at once where there is no such place. */
int wait_at_home(darray x, unsigned how);
/* Until all has happened that was enqueued there, or Ctrl-C: -1. */
int finish_patiently(ha_context *context);
int is_waited_for(void); /* by a thread that was left so */

/* ---- access.c -------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD PyObject *array;
    held *h; /* NULL: closed */
    const char *closed;
} access_object;

extern PyTypeObject *access_type;
int access_begin(PyObject *module);
PyObject *access_new(PyObject *array, held *h); /* takes h over, also on failure */
PyObject *array_read(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *array_write(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *array_overwrite(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
/* The access's, or NULL and ValueError where it was closed. */
held *access_held(PyObject *self);

/* ---- together.c ------------------------------------------------------------------------------ */

PyObject *open_many(PyObject *module, PyObject *args);

/* ---- buffer.c -------------------------------------------------------------------------------- */

int array_buffer(PyObject *self, Py_buffer *view, int flags);
int access_buffer(PyObject *self, Py_buffer *view, int flags);
void release_buffer(PyObject *self, Py_buffer *view);
/* -1: what ended the wait of the buffer that was asked for here just before. */
int raise_interruption(void);

/* ---- interfaces.c ---------------------------------------------------------------------------- */

PyObject *access_interface(PyObject *self, void *unused);
PyObject *access_cuda_interface(PyObject *self, void *unused);
PyObject *access_sycl_interface(PyObject *self, void *unused);

/* ---- dlpack.c and from_dlpack.c -------------------------------------------------------------- */

PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_dlpack_device(PyObject *self, PyObject *unused);
PyObject *access_dlpack(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *access_dlpack_device(PyObject *self, PyObject *unused);
PyObject *from_dlpack(PyObject *module, PyObject *args, PyObject *keywords);
/* The array of another package's object that has __dlpack__. */
PyObject *take_dlpack(PyObject *object, ha_context *context);
/* What could not be taken, as the exception says, of a copy that its package makes: where an array has the memory
 * already. NULL: the exception stays. */
PyObject *take_producers_copy(PyObject *object);

/* ---- wrap.c and from_interfaces.c ------------------------------------------------------------ */

PyObject *wrap(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *wrap_object(PyObject *object, PyObject *context);
/* A new array on the host with the values of a buffer, whoever has its memory. */
PyObject *copy_buffer(PyObject *object);
/* A package refused a buffer, as JAX does of bfloat16 and on GPUs, and has DLPack as well: clears the exception, 1. */
int has_other_way(PyObject *object);
/* Keeps an object until the array has gone: takes the array over, also on failure. */
PyObject *keep_until_gone(darray x, PyObject *object, Py_buffer *view);
PyObject *take_interface(PyObject *dictionary, PyObject *owner);
PyObject *take_cuda_interface(PyObject *dictionary, PyObject *owner, PyObject *context);
PyObject *take_sycl_interface(PyObject *dictionary, PyObject *owner);
/* Of a record of SYCL's: where its bytes are, which have to be without gaps. 0, or -1. */
int bytes_of_record(PyObject *dictionary, void **data, size_t *bytes);

/* ---- shapes.c -------------------------------------------------------------------------------- */

/* A number or a sequence of numbers: the rank, or -1. */
int shape_from(PyObject *object, int64_t *extent);
PyObject *tuple_of(const int64_t *numbers, int count);
PyObject *tuple_of_scaled(const int64_t *numbers, int count, int64_t scale);

/* ---- making.c and nested.c ------------------------------------------------------------------- */

PyObject *make_empty(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *make_zeros(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *make_full(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *make_array(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *load_npy(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *save_npy(PyObject *module, PyObject *args);
PyObject *array_by_id(PyObject *module, PyObject *id);
/* Lists of lists of numbers. `type`: HA_DTYPE_NONE is what the numbers are. */
PyObject *array_of_nested(PyObject *object, ha_dtype type, ha_context *context);

/* ---- index.c and views.c --------------------------------------------------------------------- */

PyObject *array_subscript(PyObject *self, PyObject *index);
int array_assign(PyObject *self, PyObject *index, PyObject *value);
PyObject *view_transposed(PyObject *self, void *unused);
PyObject *view_transpose(PyObject *self, PyObject *axes);
PyObject *view_reshape(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *view_broadcast(PyObject *self, PyObject *shape);
PyObject *view_flip(PyObject *self, PyObject *axis);
PyObject *view_diagonal(PyObject *self, PyObject *args, PyObject *keywords);

/* ---- memory.c -------------------------------------------------------------------------------- */

PyObject *array_residency(PyObject *self, void *unused);
PyObject *array_prefetch(PyObject *self, PyObject *context);
PyObject *array_evict(PyObject *self, PyObject *args);
PyObject *array_done(PyObject *self, PyObject *args);
PyObject *array_set_priority_(PyObject *self, PyObject *priority);
PyObject *set_budget(PyObject *module, PyObject *args);
PyObject *set_tier(PyObject *module, PyObject *args);
PyObject *set_watermark(PyObject *module, PyObject *args);
PyObject *make_room(PyObject *module, PyObject *args);
PyObject *trim_memory(PyObject *module, PyObject *args);
PyObject *context_memory(PyObject *self, void *unused);
PyObject *context_pressure(PyObject *self, void *unused);
PyObject *configure_file(PyObject *module, PyObject *args, PyObject *keywords);

int bytes_from(PyObject *object, uint64_t *bytes); /* "10GiB", or a number. 0, or -1 */

/* ---- tier.c ---------------------------------------------------------------------------------- */

PyObject *make_tier(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *set_patience(PyObject *module, PyObject *seconds);
int tiers_end(void); /* their functions are called no more: 0. -1: one has not returned */

/* ---- raw.c ----------------------------------------------------------------------------------- */

int raw_begin(PyObject *module);
int is_raw(PyObject *object); /* a Memory */
/* An array on it, of bytes, unless dtype or shape (which may be NULL) say something else. */
PyObject *wrap_raw(PyObject *memory, PyObject *dtype, PyObject *shape);
PyObject *pointer_kind(PyObject *module, PyObject *args, PyObject *keywords);

/* ---- controller.c ---------------------------------------------------------------------------- */

PyObject *set_controller(PyObject *module, PyObject *args);
void controller_end(void);

/* ---- enqueue.c -------------------------------------------------------------------------------- */

PyObject *enqueue(PyObject *module, PyObject *args);
void enqueue_end(void); /* all of them have run */

/* ---- kernel.c --------------------------------------------------------------------------------- */

PyObject *make_kernel(PyObject *module, PyObject *args);
PyObject *exported_kernel(PyObject *module, PyObject *args);
PyObject *launch_kernel(PyObject *module, PyObject *args);
/* How many blocks of no_transfers() this thread is in. */
extern _Thread_local int blocks_without_transfers;
PyObject *kernel_log(PyObject *module, PyObject *args);

/* ---- operations.c ---------------------------------------------------------------------------- */

extern PyMethodDef operation_functions[];

#endif
