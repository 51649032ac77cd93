/* A library with the functions of dpctl's C interface that backends/sycl uses, for machines without SYCL: two devices on the
 * host's memory, and one without memory of its own, which is not to be listed. What is enqueued happens at once. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FAKE __attribute__((visibility("default")))
enum { DEVICES = 3, WITHOUT_MEMORY = 1, CAPACITY = 1 << 30, IN_ORDER = 2, COMPLETE = 3 };

/* Everything that is given out is one of these, so that what is given to the wrong function is seen. */
typedef struct object {
    char kind; /* 'v'ector, 'd'evice, 'c'ontext, 'q'ueue, 'e'vent */
    int device, properties;
} object;

typedef struct block {
    struct block *next;
    unsigned char *first;
    size_t bytes;
    int device;
} block;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block *blocks;
static size_t used[DEVICES];

static object *make(char kind, int device, int properties) {
    object *o = malloc(sizeof *o);
    if (o) *o = (object){kind, device, properties};
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

FAKE void *DPCTLDeviceMgr_GetDevices(int kinds) { return kinds ? make('v', 0, 0) : NULL; }
FAKE void *DPCTLDeviceMgr_GetCachedContext(void *d) { return make('c', as('d', d)->device, 0); }
FAKE size_t DPCTLDeviceVector_Size(void *v) { return as('v', v) ? DEVICES : 0; }
FAKE void *DPCTLDeviceVector_GetAt(void *v, size_t i) {
    return as('v', v) && i < DEVICES ? make('d', (int)i, 0) : NULL;
}
FAKE void DPCTLDeviceVector_Delete(void *v) { delete ('v', v); }
FAKE bool DPCTLDevice_HasAspect(void *d, int aspect) {
    return as('d', d)->device != WITHOUT_MEMORY && aspect == 12;
}
FAKE uint64_t DPCTLDevice_GetGlobalMemSize(void *d) { return as('d', d) ? CAPACITY : 0; }
FAKE const char *DPCTLDevice_GetName(void *d) { return as('d', d) ? strdup("a fake") : NULL; }
FAKE void DPCTLDevice_Delete(void *d) { delete ('d', d); }
FAKE void DPCTLCString_Delete(const char *text) { free((void *)(uintptr_t)text); }
FAKE bool DPCTLContext_AreEq(void *a, void *b) { return as('c', a)->device == as('c', b)->device; }
FAKE void DPCTLContext_Delete(void *c) { delete ('c', c); }

FAKE void *DPCTLQueue_Create(void *c, void *d, void (*failed)(int), int properties) {
    (void)failed;
    return as('c', c)->device == as('d', d)->device ? make('q', as('d', d)->device, properties)
                                                    : NULL;
}
FAKE void *DPCTLQueue_Copy(void *q) {
    return make('q', as('q', q)->device, as('q', q)->properties);
}
FAKE void DPCTLQueue_Delete(void *q) { delete ('q', q); }
FAKE void *DPCTLQueue_GetContext(void *q) { return make('c', as('q', q)->device, 0); }
FAKE bool DPCTLQueue_IsInOrder(void *q) { return as('q', q)->properties & IN_ORDER; }
FAKE void DPCTLQueue_Wait(void *q) { (void)as('q', q); }
FAKE void *DPCTLQueue_Memcpy(void *q, void *to, const void *from, size_t bytes) {
    static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&order);
    memmove(to, from, bytes);
    pthread_mutex_unlock(&order);
    return make('e', as('q', q)->device, 0);
}
FAKE void *DPCTLQueue_SubmitBarrier(void *q) { return make('e', as('q', q)->device, 0); }
FAKE void *DPCTLQueue_SubmitBarrierForEvents(void *q, void *const *events, size_t count) {
    for (size_t i = 0; i < count; i++) (void)as('e', events[i]);
    return make('e', as('q', q)->device, 0);
}
FAKE void DPCTLEvent_Wait(void *e) { (void)as('e', e); }
FAKE int DPCTLEvent_GetCommandExecutionStatus(void *e) { return as('e', e) ? COMPLETE : 0; }
FAKE void DPCTLEvent_Delete(void *e) { delete ('e', e); }

FAKE void *DPCTLaligned_alloc_device(size_t alignment, size_t bytes, void *q) {
    const int device = as('q', q)->device;
    pthread_mutex_lock(&lock);
    block *b = bytes <= CAPACITY - used[device] ? malloc(sizeof *b) : NULL;
    void *first = b ? aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                    : NULL;
    if (first) {
        *b = (block){blocks, first, bytes, device};
        blocks = b;
        used[device] += bytes;
    } else {
        free(b);
    }
    pthread_mutex_unlock(&lock);
    return first;
}

FAKE void DPCTLfree_with_queue(void *first, void *q) {
    pthread_mutex_lock(&lock);
    block **link = &blocks;
    while (*link && (*link)->first != first) link = &(*link)->next;
    block *b = *link;
    if (!b || b->device != as('q', q)->device) abort();
    *link = b->next;
    used[b->device] -= b->bytes;
    pthread_mutex_unlock(&lock);
    free(b);
    free(first);
}

FAKE int DPCTLUSM_GetPointerType(const void *pointer, void *c) {
    const uintptr_t at = (uintptr_t)pointer;
    const int device = as('c', c)->device;
    pthread_mutex_lock(&lock);
    const block *b = blocks;
    while (b && (b->device != device || at - (uintptr_t)b->first >= b->bytes)) b = b->next;
    pthread_mutex_unlock(&lock);
    return b ? 1 : 0;
}
