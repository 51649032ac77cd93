/* SYCL's devices for the tests of arrays, kind "usm": all is backends/sycl's, over a library that HARRAY_SYCL names; and its queues
 * run functions, too. The usual one stands in for dpctl's (backends/fake_sycl.c), and its queues do. Over dpctl's own,
 * which HARRAY_TEST_SYCL names in its place, whoever enqueues a function waits for what is before it, and runs it: the
 * device is to be a processor, which has its memory where the host's is.
 *
 * To be included behind harray.h with HARRAY_IMPLEMENTATION. */
#ifndef HARRAY_TESTS_SUPPORT_USM_BACKEND_H
#define HARRAY_TESTS_SUPPORT_USM_BACKEND_H

#include "../../backends/sycl/sycl.h"

typedef struct usm_function {
    ha_function call;
    size_t bytes;
    _Alignas(max_align_t) char argument[];
} usm_function;

static void (*usm_enqueue)(void *queue, void (*function)(void *), void *argument);

static inline void usm_run(void *enqueued) {
    static const ha_queue here = {0, 0, 0}; /* the device's memory is the host's */
    usm_function *f = (usm_function *)enqueued;
    ha_queue_run(f->call, &here, f->bytes ? f->argument : NULL);
    free(f);
}

static inline ha_status usm_call(void *queue, ha_function call, const void *argument,
                                 size_t bytes) {
    usm_function *f = (usm_function *)malloc(sizeof *f + bytes);
    if (f == NULL) return HA_ERR_MEMORY;
    f->call = call;
    f->bytes = bytes;
    if (bytes) memcpy(f->argument, argument, bytes);
    if (usm_enqueue != NULL)
        usm_enqueue(((ha_sycl_queue *)queue)->queue, usm_run, f);
    else {
        ha_sycl_drain(queue);
        usm_run(f);
    }
    return HA_OK;
}

static ha_queue_ops usm_queue_ops;
static ha_backend usm_backend;

/* Whether there is such a library. One that is asked for has to be there. */
static inline int usm_is_there(void) {
    const char *own = getenv("HARRAY_TEST_SYCL");
    if (own != NULL) {
        setenv("HARRAY_SYCL", own, 1);
        if (ha_sycl_count() < 1) ha_check_failed_(HA_ERR_NOT_FOUND, HA_SITE, own);
    }
    if (getenv("HARRAY_SYCL") == NULL || ha_sycl_count() < 1) return 0;
    *(void **)&usm_enqueue = dlsym(ha_sycl.library, "fake_sycl_call");
    return usm_enqueue != NULL || own != NULL;
}

/* The tables are made at the first call; to be registered. */
static inline const ha_backend *usm_backend_make(void) {
    usm_queue_ops = ha_sycl_queue_ops;
    usm_queue_ops.call = usm_call;
    usm_backend = ha_backend_sycl;
    usm_backend.kind = "usm";
    usm_backend.queue = &usm_queue_ops;
    return &usm_backend;
}

#endif
