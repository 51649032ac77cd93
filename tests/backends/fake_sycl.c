/* A library with the functions of dpctl's C interface that backends/sycl and the Python package use, for machines without SYCL: two devices on the
 * host's memory, and one without memory of its own, which is not to be listed. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "fake_sycl_kernels.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FAKE __attribute__((visibility("default")))
enum {
    DEVICES = 3,
    WITHOUT_MEMORY = 1,
    GPU = 2,
    CAPACITY = 1 << 30,
    IN_ORDER = 2,
    COMPLETE = 3,
    OPENCL = 1 << 18
};

/* What was enqueued on a queue and its copies, in order. It happens when somebody waits for it, and no sooner: who
 * forgets to wait sees old values. Once a function was enqueued there, which may wait itself, a thread does it. */
typedef struct command {
    struct command *next;
    void *to;
    const void *from;
    size_t bytes;
    struct object *awaited;   /* an event */
    cl_launch *launch;        /* a kernel; else a copy, or nothing at all */
    void (*function)(void *); /* of the test; `to` is its argument */
} command;
typedef struct work {
    command *first, **end;
    long enqueued, done;
    int owners, is_running, has_thread, closing, frees_itself;
    pthread_t thread;
} work;

/* Everything that is given out is one of these, so that what is given to the wrong function is seen. */
typedef struct object {
    char kind; /* 'v'ector, 'd'evice, 'c'ontext, 'q'ueue, 'e'vent, 's'elector, 'b'undle, 'k'ernel,
                  or 'r'aw argument */
    int device, properties, context; /* the context: 0 that of dpctl's own queues */
    work *work;                      /* of queues and events */
    long number;                     /* of an event: when so many have been done */
    void *program;                   /* of bundles and kernels; the bytes of an argument */
    char *name;                      /* of a kernel */
    size_t bytes;                    /* of an argument */
} object;

typedef struct block {
    struct block *next;
    unsigned char *first;
    size_t bytes;
    int device, context, kind; /* kind: 1 device, 2 shared, 3 host */
} block;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block *blocks;
static size_t used[DEVICES];

static object *make(char kind, int device, int properties) {
    object *o = malloc(sizeof *o);
    if (o) *o = (object){.kind = kind, .device = device, .properties = properties};
    return o;
}

static object *in_context(object *o, int context) {
    if (o) o->context = context;
    return o;
}

static object *as(char kind, void *pointer) {
    object *o = pointer;
    if (!o || o->kind != kind) abort();
    return o;
}

static void delete (char kind, void *pointer) {
    as(kind, pointer)->kind = '-';
    free(pointer);
}

/* ---- what is enqueued: under a lock of its own ------------------------------------------------------ */

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
/* Of anything, for threads and those who wait for them. */
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static _Thread_local int is_thread_of_queue;

static void run(work *w, long until);

/* Its thread does what is left first. A queue's thread waits for none to end, as that might wait for itself: there the
 * queue of the last owner is freed by its own thread. */
static void leave(work *w) {
    if (w->owners > 1) {
        w->owners--;
        return;
    }
    if (!w->has_thread) run(w, w->enqueued);
    w->closing = 1;
    pthread_cond_broadcast(&change);
    if (w->has_thread && is_thread_of_queue) {
        w->frees_itself = 1;
        pthread_detach(w->thread);
        return;
    }
    if (w->has_thread) {
        pthread_mutex_unlock(&order);
        pthread_join(w->thread, NULL);
        pthread_mutex_lock(&order);
    }
    free(w);
}

static void forget(object *event) {
    leave(event->work);
    delete ('e', event);
}

/* The lock is left while a function runs, and while others do what is awaited. */
static void run_next(work *w) {
    command *c = w->first;
    object *const awaited = c->awaited;
    w->first = c->next;
    if (!w->first) w->end = &w->first;
    w->is_running = 1;
    if (awaited) run(awaited->work, awaited->number);
    if (c->bytes) memmove(c->to, c->from, c->bytes);
    if (c->launch) cl_run(c->launch);
    if (c->function) {
        pthread_mutex_unlock(&order);
        c->function(c->to);
        pthread_mutex_lock(&order);
    }
    w->is_running = 0;
    free(c);
    w->done++;
    pthread_cond_broadcast(&change);
    if (awaited) forget(awaited);
}

static void run(work *w, long until) {
    while (w->done < until)
        if (w->has_thread || w->is_running)
            pthread_cond_wait(&change, &order);
        else
            run_next(w);
}

static void *run_all(void *queue) {
    work *w = queue;
    is_thread_of_queue = 1;
    pthread_mutex_lock(&order);
    while (!w->closing || w->first || w->is_running)
        if (w->first && !w->is_running)
            run_next(w);
        else
            pthread_cond_wait(&change, &order);
    const int frees_itself = w->frees_itself;
    pthread_mutex_unlock(&order);
    if (frees_itself) free(w);
    return NULL;
}

static object *with_work(object *o, work *w, long number) {
    if (!o || !w) abort();
    w->owners++;
    o->work = w;
    o->number = number;
    return o;
}

static object *enqueue(object *queue, command what) {
    work *w = queue->work;
    command *c = malloc(sizeof *c);
    if (!c) abort();
    *c = what;
    *w->end = c;
    w->end = &c->next;
    if (w->has_thread) pthread_cond_broadcast(&change);
    return with_work(make('e', queue->device, 0), w, ++w->enqueued);
}

/* ---- devices ---------------------------------------------------------------------------------------- */

FAKE void *DPCTLDeviceMgr_GetDevices(int kinds) { return kinds ? make('v', 0, 0) : NULL; }
FAKE void *DPCTLDeviceMgr_GetCachedContext(void *d) { return make('c', as('d', d)->device, 0); }
FAKE size_t DPCTLDeviceVector_Size(void *v) { return as('v', v) ? DEVICES : 0; }
FAKE void *DPCTLDeviceVector_GetAt(void *v, size_t i) {
    return as('v', v) && i < DEVICES ? make('d', (int)i, 0) : NULL;
}
FAKE void DPCTLDeviceVector_Delete(void *v) { delete ('v', v); }
FAKE bool DPCTLDevice_HasAspect(void *d, int aspect) {
    const int device = as('d', d)->device;
    if (aspect == 6 || aspect == 7 || aspect == 9) return has_cl(); /* fp64, atomic64, a compiler */
    return device != WITHOUT_MEMORY && aspect >= 12 && aspect <= 14;
}
FAKE bool DPCTLDevice_IsGPU(void *d) { return as('d', d)->device == GPU; }
FAKE bool DPCTLDevice_IsAccelerator(void *d) { return as('d', d)->device < 0; }
FAKE int DPCTLDevice_GetBackend(void *d) { return as('d', d) ? OPENCL : 0; }
FAKE size_t DPCTLDevice_GetMaxWorkGroupSize(void *d) {
    return as('d', d) ? cl_number(CL_LANES) : 0;
}
FAKE uint64_t DPCTLDevice_GetLocalMemSize(void *d) {
    return as('d', d) ? cl_number(CL_LOCAL_BYTES) : 0;
}
FAKE const char *DPCTLDevice_GetDriverVersion(void *d) {
    return as('d', d) ? cl_text(CL_DRIVER, "none") : NULL;
}
FAKE uint64_t DPCTLDevice_GetGlobalMemSize(void *d) { return as('d', d) ? CAPACITY : 0; }
FAKE const char *DPCTLDevice_GetName(void *d) {
    return as('d', d) ? cl_text(CL_NAME, "a fake") : NULL;
}
FAKE void DPCTLDevice_Delete(void *d) { delete ('d', d); }
FAKE void DPCTLCString_Delete(const char *text) { free((void *)(uintptr_t)text); }
/* HARRAY_FAKE_SYCL=shared: the devices' own contexts are one, as those of several GPUs of one platform are. */
static bool is_shared(void) {
    const char *how = getenv("HARRAY_FAKE_SYCL");
    return how && !strcmp(how, "shared");
}
static bool is_same_context(const object *a, int device, int context) {
    return a->context == context && (a->device == device || (!context && is_shared()));
}
FAKE bool DPCTLContext_AreEq(void *a, void *b) {
    return is_same_context(as('c', a), as('c', b)->device, as('c', b)->context);
}
static atomic_int contexts;
FAKE void *DPCTLContext_Create(void *d, void (*failed)(int), int properties) {
    if (failed || properties) abort();
    return in_context(make('c', as('d', d)->device, 0), ++contexts);
}
FAKE void *DPCTLContext_Copy(void *c) {
    return in_context(make('c', as('c', c)->device, 0), as('c', c)->context);
}
FAKE void *DPCTLDevice_Copy(void *d) { return make('d', as('d', d)->device, 0); }
FAKE void DPCTLContext_Delete(void *c) { delete ('c', c); }
FAKE bool DPCTLDevice_AreEq(void *a, void *b) { return as('d', a)->device == as('d', b)->device; }

/* "fake:2": the third one. */
FAKE void *DPCTLFilterSelector_Create(const char *filter) {
    const int is_one = !strncmp(filter, "fake:", 5) && filter[5] >= '0' &&
                       filter[5] < '0' + DEVICES && !filter[6];
    return is_one ? make('s', filter[5] - '0', 0) : NULL;
}
FAKE void *DPCTLDevice_CreateFromSelector(void *s) { return make('d', as('s', s)->device, 0); }
FAKE void DPCTLDeviceSelector_Delete(void *s) { delete ('s', s); }

/* ---- queues and events ------------------------------------------------------------------------------ */

FAKE void *DPCTLQueue_Create(void *c, void *d, void (*failed)(int), int properties) {
    (void)failed;
    if (!is_same_context(as('c', c), as('d', d)->device, as('c', c)->context)) return NULL;
    work *w = calloc(1, sizeof *w);
    if (!w) abort();
    w->end = &w->first;
    return with_work(in_context(make('q', as('d', d)->device, properties), as('c', c)->context), w,
                     0);
}
FAKE void *DPCTLQueue_Copy(void *q) {
    const object *queue = as('q', q);
    pthread_mutex_lock(&order);
    object *copy = with_work(
        in_context(make('q', queue->device, queue->properties), queue->context), queue->work, 0);
    pthread_mutex_unlock(&order);
    return copy;
}
FAKE void DPCTLQueue_Delete(void *q) {
    pthread_mutex_lock(&order);
    leave(as('q', q)->work);
    pthread_mutex_unlock(&order);
    delete ('q', q);
}
FAKE void *DPCTLQueue_GetContext(void *q) {
    return in_context(make('c', as('q', q)->device, 0), as('q', q)->context);
}
FAKE void *DPCTLQueue_GetDevice(void *q) { return make('d', as('q', q)->device, 0); }
FAKE bool DPCTLQueue_IsInOrder(void *q) { return as('q', q)->properties & IN_ORDER; }
FAKE void DPCTLQueue_Wait(void *q) {
    work *w = as('q', q)->work;
    pthread_mutex_lock(&order);
    run(w, w->enqueued);
    pthread_mutex_unlock(&order);
}
FAKE void *DPCTLQueue_Memcpy(void *q, void *to, const void *from, size_t bytes) {
    pthread_mutex_lock(&order);
    object *made = enqueue(as('q', q), (command){.to = to, .from = from, .bytes = bytes});
    pthread_mutex_unlock(&order);
    return made;
}
FAKE void *DPCTLQueue_SubmitBarrier(void *q) {
    pthread_mutex_lock(&order);
    object *made = enqueue(as('q', q), (command){.bytes = 0});
    pthread_mutex_unlock(&order);
    return made;
}
FAKE void *DPCTLQueue_SubmitBarrierForEvents(void *q, void *const *events, size_t count) {
    if (count != 1) abort();
    pthread_mutex_lock(&order);
    const object *e = as('e', events[0]);
    object *awaited = with_work(make('e', e->device, 0), e->work, e->number);
    object *made = enqueue(as('q', q), (command){.awaited = awaited});
    pthread_mutex_unlock(&order);
    return made;
}
FAKE void DPCTLEvent_Wait(void *e) {
    const object *event = as('e', e);
    pthread_mutex_lock(&order);
    run(event->work, event->number);
    pthread_mutex_unlock(&order);
}
/* No function of dpctl's: enqueues one of the test. */
FAKE void fake_sycl_call(void *q, void (*function)(void *), void *argument) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_mutex_lock(&order);
    work *w = as('q', q)->work;
    if (!w->has_thread) {
        pthread_sigmask(SIG_SETMASK, &all, &before);
        if (pthread_create(&w->thread, NULL, run_all, w)) abort();
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        w->has_thread = 1;
    }
    forget(enqueue(q, (command){.function = function, .to = argument}));
    pthread_mutex_unlock(&order);
}
/* Does the next thing on a queue, or on the one that it waits for, if that takes no waiting. */
static void try_next(work *w) {
    while (w->first && w->first->awaited &&
           w->first->awaited->work->done < w->first->awaited->number) {
        if (w->has_thread || w->is_running) return;
        w = w->first->awaited->work;
    }
    if (w->first && !w->has_thread && !w->is_running) run_next(w);
}

/* Who asks again and again gets there. */
FAKE int DPCTLEvent_GetCommandExecutionStatus(void *e) {
    const object *event = as('e', e);
    pthread_mutex_lock(&order);
    const bool is_done = event->work->done >= event->number;
    if (!is_done) try_next(event->work);
    pthread_mutex_unlock(&order);
    return is_done ? COMPLETE : 0;
}
FAKE void DPCTLEvent_Delete(void *e) {
    pthread_mutex_lock(&order);
    forget(as('e', e));
    pthread_mutex_unlock(&order);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

static void *allocate(size_t alignment, size_t bytes, void *q, int kind) {
    const int device = as('q', q)->device, context = as('q', q)->context;
    pthread_mutex_lock(&lock);
    block *b = bytes <= CAPACITY - used[device] ? malloc(sizeof *b) : NULL;
    void *first = b ? aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                    : NULL;
    if (first) {
        *b = (block){blocks, first, bytes, device, context, kind};
        blocks = b;
        used[device] += bytes;
    } else {
        free(b);
    }
    pthread_mutex_unlock(&lock);
    return first;
}

FAKE void *DPCTLaligned_alloc_device(size_t alignment, size_t bytes, void *q) {
    return allocate(alignment, bytes, q, 1);
}
FAKE void *DPCTLaligned_alloc_shared(size_t alignment, size_t bytes, void *q) {
    return allocate(alignment, bytes, q, 2);
}
FAKE void *DPCTLaligned_alloc_host(size_t alignment, size_t bytes, void *q) {
    return allocate(alignment, bytes, q, 3);
}

FAKE void DPCTLfree_with_queue(void *first, void *q) {
    pthread_mutex_lock(&lock);
    block **link = &blocks;
    while (*link && (*link)->first != first) link = &(*link)->next;
    block *b = *link;
    if (!b || b->device != as('q', q)->device || b->context != as('q', q)->context) abort();
    *link = b->next;
    used[b->device] -= b->bytes;
    pthread_mutex_unlock(&lock);
    free(b);
    free(first);
}

/* The block of memory of a context that a pointer is in. */
static block block_of(const void *pointer, const object *c) {
    const uintptr_t at = (uintptr_t)pointer;
    block none = {0};
    pthread_mutex_lock(&lock);
    const block *b = blocks;
    while (b &&
           (!is_same_context(c, b->device, b->context) || at - (uintptr_t)b->first >= b->bytes))
        b = b->next;
    if (b) none = *b;
    pthread_mutex_unlock(&lock);
    return none;
}
FAKE int DPCTLUSM_GetPointerType(const void *pointer, void *c) {
    return block_of(pointer, as('c', c)).kind;
}
FAKE void *DPCTLUSM_GetPointerDevice(const void *pointer, void *c) {
    const block b = block_of(pointer, as('c', c));
    return b.kind ? make('d', b.device, 0) : NULL;
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

static object *with_program(object *o, void *program) {
    if (!o) abort();
    o->program = program;
    return o;
}

FAKE void *DPCTLKernelBundle_CreateFromOCLSource(void *c, void *d, const char *text,
                                                 const char *options) {
    if (as('c', c)->device != as('d', d)->device) abort();
    void *program = has_cl() ? cl_compile(text, options) : NULL;
    return program ? with_program(in_context(make('b', as('d', d)->device, 0), as('c', c)->context),
                                  program)
                   : NULL;
}
FAKE void DPCTLKernelBundle_Delete(void *b) {
    cl.ReleaseProgram(as('b', b)->program);
    delete ('b', b);
}
FAKE void *DPCTLKernelBundle_GetKernel(void *b, const char *name) {
    int code = 0;
    void *program = as('b', b)->program, *kernel = cl.CreateKernel(program, name, &code);
    if (!kernel) return NULL;
    cl.ReleaseKernel(kernel);
    cl.RetainProgram(program);
    object *made = with_program(in_context(make('k', as('b', b)->device, 0), as('b', b)->context),
                                program);
    made->name = strdup(name);
    return made;
}
FAKE void DPCTLKernel_Delete(void *k) {
    cl.ReleaseProgram(as('k', k)->program);
    free(as('k', k)->name);
    delete ('k', k);
}

static void *kernel_of(const object *k) {
    int code = 0;
    void *kernel = cl.CreateKernel(k->program, k->name, &code);
    if (!kernel) abort();
    return kernel;
}

static size_t number_of(void *k, unsigned what) {
    void *kernel = kernel_of(as('k', k));
    const size_t number = cl_kernel_number(kernel, what);
    cl.ReleaseKernel(kernel);
    return number;
}
FAKE size_t DPCTLKernel_GetWorkGroupSize(void *k) { return number_of(k, CL_KERNEL_LANES); }
FAKE size_t DPCTLKernel_GetPreferredWorkGroupSizeMultiple(void *k) {
    return number_of(k, CL_KERNEL_MULTIPLE);
}

FAKE void *DPCTLRawKernelArg_Create(void *bytes, size_t count) {
    object *made = make('r', 0, 0);
    if (!made) abort();
    made->program = malloc(count);
    if (!made->program) abort();
    memcpy(made->program, bytes, count);
    made->bytes = count;
    return made;
}
FAKE void DPCTLRawKernelArg_Delete(void *r) {
    free(as('r', r)->program);
    delete ('r', r);
}

/* Whether a place is in the memory of a kernel's device and context, or at the end of a block there. */
static int is_place(const void *place, const object *k) {
    pthread_mutex_lock(&lock);
    const block *b = blocks;
    while (b && (b->device != k->device || b->context != k->context ||
                 (uintptr_t)place - (uintptr_t)b->first > b->bytes))
        b = b->next;
    pthread_mutex_unlock(&lock);
    return b != NULL;
}

/* Nonzero: the kernel has no such parameter. */
static int set_place(void *kernel, unsigned i, const void *place, const object *k) {
    if (!place) return cl.SetKernelArg(kernel, i, sizeof place, NULL);
    if (!is_place(place, k)) abort();
    return cl.SetKernelArgSVMPointer(kernel, i, place);
}

static int set_parameter(void *kernel, unsigned i, void *value, int kind, const object *k) {
    static const size_t bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    if (kind >= 0 && kind < 10) return cl.SetKernelArg(kernel, i, bytes[kind], value);
    if (kind == 10) return set_place(kernel, i, value, k);
    if (kind != 13) abort();
    return cl.SetKernelArg(kernel, i, as('r', value)->bytes, as('r', value)->program);
}

/* NULL: not all of its parameters, or a team of another size than it can have. Of SYCL's dimensions the last one is the
 * innermost. */
static cl_launch *launch_of(const object *k, void **values, const int *kinds, size_t n,
                            const size_t *all, const size_t *lanes) {
    cl_launch *launch = malloc(sizeof *launch);
    unsigned parameters = 0;
    if (!launch) abort();
    *launch = (cl_launch){kernel_of(k), {all[2], all[1], all[0]}, {lanes[2], lanes[1], lanes[0]}};
    if (cl.GetKernelInfo(launch->kernel, CL_NUMBER_OF_PARAMETERS, sizeof parameters, &parameters,
                         NULL))
        abort();
    int wrong = n != parameters ||
                lanes[0] * lanes[1] * lanes[2] > cl_kernel_number(launch->kernel, CL_KERNEL_LANES);
    for (int d = 0; d < 3; d++) wrong |= all[d] % lanes[d] != 0;
    for (unsigned i = 0; i < n && !wrong; i++)
        wrong = set_parameter(launch->kernel, i, values[i], kinds[i], k);
    if (!wrong) return launch;
    cl.ReleaseKernel(launch->kernel);
    free(launch);
    return NULL;
}

FAKE void *DPCTLQueue_SubmitNDRange(void *k, void *q, void **values, const int *kinds, size_t n,
                                    const size_t *all, const size_t *lanes, size_t dimensions,
                                    void *const *events, size_t count) {
    if (dimensions != 3 || events || count || as('k', k)->device != as('q', q)->device ||
        as('k', k)->context != as('q', q)->context)
        abort();
    cl_launch *launch = launch_of(k, values, kinds, n, all, lanes);
    if (!launch) return NULL;
    pthread_mutex_lock(&order);
    object *made = enqueue(q, (command){.launch = launch});
    pthread_mutex_unlock(&order);
    return made;
}
