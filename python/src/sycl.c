/* __sycl_usm_array_interface__, giving and taking. "syclobj" is a queue of dpctl's in a capsule, or what such a queue or
 * its context can be got from: the functions for that are those of dpctl's C interface, which the library has loaded
 * when there is a context "sycl:0". */
#include "raw.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTIONS(X)                                                                               \
    X(void *, Queue_Copy, (void *queue))                                                           \
    X(void, Queue_Delete, (void *queue))                                                           \
    X(void, Queue_Wait, (void *queue))                                                             \
    X(void *, Queue_GetContext, (void *queue))                                                     \
    X(void *, Queue_GetDevice, (void *queue))                                                      \
    X(bool, Context_AreEq, (void *a, void *b))                                                     \
    X(void *, Context_Copy, (void *context))                                                       \
    X(void, Context_Delete, (void *context))                                                       \
    X(void *, FilterSelector_Create, (const char *filter))                                         \
    X(void *, Device_CreateFromSelector, (void *selector))                                         \
    X(void, DeviceSelector_Delete, (void *selector))                                               \
    X(void *, DeviceMgr_GetCachedContext, (void *device))                                          \
    X(bool, Device_AreEq, (void *a, void *b))                                                      \
    X(bool, Device_IsGPU, (void *device))                                                          \
    X(bool, Device_IsAccelerator, (void *device))                                                  \
    X(void, Device_Delete, (void *device))                                                         \
    X(int, USM_GetPointerType, (const void *pointer, void *context))                               \
    X(void *, USM_GetPointerDevice, (const void *pointer, void *context))
#define MEMBER(result, name, parameters) result(*name) parameters;
static struct {
    void *library;
    FUNCTIONS(MEMBER)
} sycl;

/* The library that HARRAY_SYCL names, or that the loader knows: it is in the process already. */
static void *find_library(void) {
    const char *text = getenv("HARRAY_SYCL");
    const char *path = text && !strncmp(text, "library=", 8) ? text + 8
                                                             : "libDPCTLSyclInterface.so";
    return dlopen(path, RTLD_NOW | RTLD_NOLOAD);
}

static int find_functions(void *library) {
#define FIND(result, name, parameters)                                                             \
    *(void **)&sycl.name = dlsym(library, "DPCTL" #name);                                          \
    if (!sycl.name)                                                                                \
        return PyErr_SetString(PyExc_NotImplementedError, "dpctl's library has no DPCTL" #name), -1;
    FUNCTIONS(FIND)
    return 0;
}

/* 0, or -1: there are no SYCL devices. */
static int load(void) {
    if (sycl.library) return 0;
    int count;
    UNLOCKED({
        count = ha_context_count("sycl");
        if (count <= 0) (void)ha_context_find("sycl:0"); // which says why there is none
    });
    if (count <= 0) return raise_status(HA_OK), -1;
    void *library = find_library();
    if (!library)
        return PyErr_SetString(PyExc_NotImplementedError, "dpctl's library is not to be found"), -1;
    if (find_functions(library)) return -1;
    sycl.library = library;
    return 0;
}

/* Of a queue, without the GIL: the runtime of SYCL may wait there. */
static void *copy_queue(void *queue) {
    MAY_WAIT();
    return sycl.Queue_Copy(queue);
}

static void delete_queue(void *queue) {
    MAY_WAIT();
    sycl.Queue_Delete(queue);
}

static void drop_queue(void *queue) { UNLOCKED(delete_queue(queue)); }

/* ---- the best one -------------------------------------------------------------------------------- */

/* Processors are no better than the host. */
static int is_better(ha_context *c, const void *nothing) {
    (void)nothing;
    void *device = sycl.Queue_GetDevice(ha_context_stream(c));
    const int is = device && (sycl.Device_IsGPU(device) || sycl.Device_IsAccelerator(device));
    if (device) sycl.Device_Delete(device);
    return is;
}

ha_context *sycl_best(void) {
    ha_context *found = NULL;
    PyObject *modules = PyImport_GetModuleDict(); /* None where an import is forbidden */
    PyObject *dpctl = modules ? PyDict_GetItemString(modules, "dpctl") : NULL;
    if (!dpctl || dpctl == Py_None) return NULL;
    if (load())
        PyErr_Clear();
    else
        UNLOCKED(found = first_context("sycl", is_better, NULL));
    return found;
}

/* ---- giving ----------------------------------------------------------------------------------- */

/* Whoever takes a queue from a capsule copies it, and renames the capsule. */
static void drop_queue_of(PyObject *capsule) {
    const char *name = PyCapsule_GetName(capsule);
    void *queue = PyCapsule_GetPointer(capsule, name);
    if (queue && !is_forked && !is_ending) drop_queue(queue);
}

static PyObject *queue_capsule(ha_context *context) {
    void *queue = NULL, *native = ha_context_stream(context);
    if (load()) return NULL;
    if (native) UNLOCKED(queue = copy_queue(native));
    if (!queue)
        return PyErr_Format(PyExc_RuntimeError, "%s: its queue cannot be shared",
                            ha_context_name(context));
    PyObject *capsule = PyCapsule_New(queue, "SyclQueueRef", drop_queue_of);
    if (!capsule) drop_queue(queue);
    return capsule;
}

PyObject *sycl_record(ha_context *context, const void *data, int read_only, const char *typestr,
                      PyObject *shape, PyObject *strides) {
    PyObject *queue = shape && strides ? queue_capsule(context) : NULL;
    if (!queue) return Py_XDECREF(shape), Py_XDECREF(strides), NULL;
    return Py_BuildValue("{s:N,s:s,s:(NO),s:N,s:i,s:i,s:N}", "shape", shape, "typestr", typestr,
                         "data", PyLong_FromVoidPtr((void *)(uintptr_t)data),
                         read_only ? Py_True : Py_False, "strides", strides, "offset", 0, "version",
                         HA_SYCL_USM_ARRAY_INTERFACE_VERSION, "syclobj", queue);
}

PyObject *raw_sycl_interface(PyObject *self, void *unused) {
    (void)unused;
    const raw_object *m = RAW(self);
    const int64_t extent = (int64_t)m->bytes;
    if (strcmp(ha_context_kind(m->context), "sycl") != 0)
        return PyErr_Format(PyExc_AttributeError, "__sycl_usm_array_interface__: memory of %s",
                            ha_context_name(m->context));
    return sycl_record(m->context, m->data, 0, "|u1", tuple_of(&extent, 1), Py_NewRef(Py_None));
}

/* ---- whose memory it is ----------------------------------------------------------------------- */

/* A reference to a context of SYCL's, and to the queue if one was given, to be waited for. */
typedef struct {
    void *context, *queue;
} sycl_place;

static void leave_place(sycl_place p) {
    if (p.context) sycl.Context_Delete(p.context);
    if (p.queue) drop_queue(p.queue);
}

static int refuse(const char *what) {
    PyErr_Format(PyExc_ValueError, "__sycl_usm_array_interface__: %s", what);
    return -1;
}

static int place_of_capsule(PyObject *capsule, sycl_place *p) {
    if (PyCapsule_IsValid(capsule, "SyclQueueRef")) {
        void *const queue = PyCapsule_GetPointer(capsule, "SyclQueueRef");
        UNLOCKED(p->queue = copy_queue(queue));
        if (p->queue) p->context = sycl.Queue_GetContext(p->queue);
    } else if (PyCapsule_IsValid(capsule, "SyclContextRef")) {
        p->context = sycl.Context_Copy(PyCapsule_GetPointer(capsule, "SyclContextRef"));
    }
    return p->context ? 0
                      : refuse("'syclobj': a capsule that is neither of a queue nor of a context");
}

static int place_of_filter(PyObject *object, sycl_place *p) {
    const char *filter = PyUnicode_AsUTF8AndSize(object, NULL);
    if (!filter) return -1;
    void *selector = sycl.FilterSelector_Create(filter);
    void *device = selector ? sycl.Device_CreateFromSelector(selector) : NULL;
    if (device) p->context = sycl.DeviceMgr_GetCachedContext(device);
    if (device) sycl.Device_Delete(device);
    if (selector) sycl.DeviceSelector_Delete(selector);
    if (p->context) return 0;
    PyErr_Format(PyExc_ValueError, "__sycl_usm_array_interface__: 'syclobj': no device %R", object);
    return -1;
}

/* A queue or a context, or their capsules, or what gives one by _get_capsule, or a filter string. */
static int place_from(PyObject *object, sycl_place *p) {
    if (!object) return refuse("'syclobj': it is missing");
    if (PyCapsule_CheckExact(object)) return place_of_capsule(object, p);
    if (PyUnicode_Check(object)) return place_of_filter(object, p);
    PyObject *capsule = PyObject_CallMethod(object, "_get_capsule", NULL);
    if (!capsule && !PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear();
    const int status = capsule && PyCapsule_CheckExact(capsule)
                           ? place_of_capsule(capsule, p)
                           : refuse("'syclobj': no queue, context, capsule or filter string");
    Py_XDECREF(capsule);
    return status;
}

/* The SYCL context and device of a pointer. */
typedef struct {
    void *context, *device;
} where_it_is;

/* Whether a context's device is that of a pointer, in the same context of SYCL's. */
static int is_at(ha_context *c, const void *place) {
    const where_it_is *p = place;
    void *queue = ha_context_stream(c);
    void *own = sycl.Queue_GetContext(queue), *own_device = sycl.Queue_GetDevice(queue);
    const int is = own && own_device && sycl.Context_AreEq(own, p->context) &&
                   sycl.Device_AreEq(own_device, p->device);
    if (own) sycl.Context_Delete(own);
    if (own_device) sycl.Device_Delete(own_device);
    return is;
}

/* What the library says of a pointer in the context of its record. */
static int owner_of(const void *data, sycl_place p, sycl_owner *owner) {
    static const raw_kind kinds[] = {RAW_DEVICE, RAW_DEVICE, RAW_SHARED, RAW_HOST};
    const int type = sycl.USM_GetPointerType(data, p.context);
    void *device = type >= 1 && type <= 3 ? sycl.USM_GetPointerDevice(data, p.context) : NULL;
    if (!device) {
        PyErr_Format(
            PyExc_ValueError,
            "__sycl_usm_array_interface__: 'data': %p is no memory of the context of 'syclobj'",
            data);
        return -1;
    }
    owner->kind = kinds[type];
    UNLOCKED({
        owner->context = first_context("sycl", is_at, &(where_it_is){p.context, device});
        sycl.Device_Delete(device);
        if (p.queue) sycl.Queue_Wait(p.queue); // what is enqueued there gives the values
    });
    return owner->context
               ? 0
               : refuse("'syclobj': its context is none of sycl:N, which are those of dpctl's own "
                        "queues, and of queues that ha.adopt(queue) has taken");
}

int sycl_owner_of(const void *data, PyObject *syclobj, sycl_owner *owner) {
    sycl_place p = {0};
    if (load()) return -1;
    int status = place_from(syclobj, &p);
    if (!status) status = owner_of(data, p, owner);
    leave_place(p);
    return status;
}
