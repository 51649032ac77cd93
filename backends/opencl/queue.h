/* Queues of OpenCL devices, in order: making, ending, ordering, draining. Whatever is enqueued is flushed, as
 * some drivers do nothing before. */
#ifndef HARRAY_BACKENDS_OPENCL_QUEUE_H
#define HARRAY_BACKENDS_OPENCL_QUEUE_H

#include "../common/clock.h"
#include "memory.h"

#include <stdatomic.h>
#include <time.h>

typedef struct ha_opencl_queue {
    ha_opencl_device *device;
    ha_cl_queue queue;
    _Atomic int failed;             /* for good */
    struct ha_opencl_stamp *stamps; /* that are not written yet */
    pthread_cond_t written;         /* the last one is */
} ha_opencl_queue;

/* Guards the stamps of all queues: one may be written when its queue is gone. */
HA_STATE_ struct { pthread_mutex_t lock; } ha_opencl_stamps = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- errors ----------------------------------------------------------------------------------- */

/* Waits for all that was enqueued. One failure says nothing: a queue that has failed does so again. */
HA_IN_ void ha_opencl_settle(ha_opencl_queue *queue) {
    if (ha_cl.Finish(queue->queue) != HA_CL_SUCCESS && ha_cl.Finish(queue->queue) != HA_CL_SUCCESS)
        atomic_store(&queue->failed, 1);
}

/* What is wrong with the call alone: codes from -30 on say what of its arguments, but for one. Those of drivers' own
 * begin at -1000. */
HA_IN_ int ha_opencl_is_of_call(ha_cl_code code) {
    if (code == HA_CL_OUT_OF_HOST_MEMORY || code > -1) return 1;
    return code <= -30 && code > -1000 && code != HA_CL_INVALID_COMMAND_QUEUE;
}

/* Whether the queue does nothing any more. When a kernel has failed some drivers say that a resource is missing,
 * and then that the queue is none; it cannot be finished either. */
HA_IN_ int ha_opencl_has_failed(ha_opencl_queue *queue, ha_cl_code code) {
    if (ha_opencl_is_of_call(code)) return 0;
    ha_opencl_settle(queue);
    return atomic_load(&queue->failed);
}

/* What was enqueued cannot be taken back, so this must not fail alone: finishing flushes, too. */
HA_IN_ ha_status ha_opencl_flush(ha_opencl_queue *queue) {
    const ha_cl_code code = ha_cl.Flush(queue->queue);
    if (code == HA_CL_SUCCESS || ha_cl.Flush(queue->queue) == HA_CL_SUCCESS) return HA_OK;
    ha_opencl_settle(queue);
    if (!atomic_load(&queue->failed)) return HA_OK;
    ha_opencl_tell(queue->device, code, "Flush");
    return HA_ERR_LOST;
}

/* The status of a call that enqueues; tells what failed. */
HA_IN_ ha_status ha_opencl_enqueued(ha_opencl_queue *queue, ha_cl_code code, const char *function) {
    if (code == HA_CL_SUCCESS) return ha_opencl_flush(queue);
    ha_opencl_tell(queue->device, code, function);
    if (ha_opencl_has_failed(queue, code)) return HA_ERR_LOST;
    return ha_opencl_is_full(code) ? HA_ERR_MEMORY : HA_ERR_BACKEND;
}

/* HA_ERR_LOST when the queue has failed before. */
HA_IN_ ha_status ha_opencl_alive(const ha_opencl_queue *queue) {
    char text[80];
    if (!atomic_load(&queue->failed)) return HA_OK;
    snprintf(text, sizeof text, "opencl:%d: the queue failed earlier", queue->device->number);
    ha_backend_report(0, text);
    return HA_ERR_LOST;
}

/* ---- making and ending ------------------------------------------------------------------------ */

HA_IN_ ha_opencl_queue *ha_opencl_queue_make(ha_opencl_device *device, ha_cl_queue native) {
    ha_opencl_queue *queue = (ha_opencl_queue *)HARRAY_MALLOC(sizeof *queue);
    if (queue == NULL) return NULL;
    memset(queue, 0, sizeof *queue);
    queue->device = device;
    queue->queue = native;
    atomic_init(&queue->failed, 0);
    pthread_cond_init(&queue->written, NULL);
    return queue;
}

HA_IN_ ha_status ha_opencl_create(void *handle, void **made) {
    ha_opencl_device *device = (ha_opencl_device *)handle;
    ha_cl_code code;
    ha_cl_queue native = ha_cl.CreateCommandQueue(device->context, device->found.device, 0, &code);
    ha_status status = ha_opencl_check(device, code, "CreateCommandQueue");
    if (status != HA_OK) return status;
    *made = ha_opencl_queue_make(device, native);
    if (*made == NULL) (void)ha_cl.ReleaseCommandQueue(native);
    return *made != NULL ? HA_OK : HA_ERR_MEMORY;
}

/* A queue of the caller's, in order, and in the context of this device's own queues. */
HA_IN_ ha_status ha_opencl_adopt(void *handle, void *native, void **made) {
    ha_opencl_device *device = (ha_opencl_device *)handle;
    ha_cl_queue queue = (ha_cl_queue)native;
    ha_cl_context context = NULL;
    uint64_t properties = 0;
    const char *why = NULL;
    ha_status status;
    if (ha_cl.GetCommandQueueInfo(queue, HA_CL_QUEUE_CONTEXT, sizeof context, &context, NULL) !=
            HA_CL_SUCCESS ||
        ha_cl.GetCommandQueueInfo(queue, HA_CL_QUEUE_PROPERTIES, sizeof properties, &properties,
                                  NULL) != HA_CL_SUCCESS)
        why = "opencl: this is no command queue";
    else if (context != device->context)
        why = "opencl: the queue is of another context than the device's own queues";
    else if (properties & HA_CL_QUEUE_OUT_OF_ORDER)
        why = "opencl: the queue is out of order";
    if (why != NULL) {
        ha_backend_report(0, why);
        return HA_ERR_ARGUMENT;
    }
    status = HA_OPENCL_TRY_(device, RetainCommandQueue, queue);
    if (status != HA_OK) return status;
    *made = ha_opencl_queue_make(device, queue);
    if (*made != NULL) return HA_OK;
    (void)ha_cl.ReleaseCommandQueue(queue);
    return HA_ERR_MEMORY;
}

HA_IN_ void ha_opencl_destroy(void *handle) {
    ha_opencl_queue *queue = (ha_opencl_queue *)handle;
    (void)ha_cl.ReleaseCommandQueue(queue->queue);
    pthread_cond_destroy(&queue->written);
    HARRAY_FREE(queue);
}

HA_IN_ void *ha_opencl_native(void *queue) { return ((ha_opencl_queue *)queue)->queue; }

/* A time that is to be written. */
typedef struct ha_opencl_stamp {
    struct ha_opencl_stamp *next;
    ha_opencl_queue *queue; /* NULL: it is not wanted any more */
    uint64_t *ns;
} ha_opencl_stamp;

/* Also until no callback uses the host's memory any more. Of a queue that has failed none need ever come: those that
 * do find that nobody wants them. */
HA_IN_ void ha_opencl_drain(void *handle) {
    ha_opencl_queue *queue = (ha_opencl_queue *)handle;
    ha_opencl_settle(queue);
    pthread_mutex_lock(&ha_opencl_stamps.lock);
    for (; atomic_load(&queue->failed) && queue->stamps; queue->stamps = queue->stamps->next)
        queue->stamps->queue = NULL;
    while (queue->stamps) pthread_cond_wait(&queue->written, &ha_opencl_stamps.lock);
    pthread_mutex_unlock(&ha_opencl_stamps.lock);
}

/* ---- events ----------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_opencl_record(void *handle, ha_event *recorded) {
    ha_opencl_queue *queue = (ha_opencl_queue *)handle;
    ha_cl_event event = NULL;
    ha_status status = ha_opencl_alive(queue);
    if (status != HA_OK) return status;
    status = ha_opencl_enqueued(queue,
                                ha_cl.EnqueueMarkerWithWaitList(queue->queue, 0, NULL, &event),
                                "EnqueueMarkerWithWaitList");
    if (status == HA_OK)
        *recorded = (ha_event){event, 0};
    else if (event != NULL)
        (void)ha_cl.ReleaseEvent(event);
    return status;
}

HA_IN_ void ha_opencl_forget(ha_event *event) {
    (void)ha_cl.ReleaseEvent((ha_cl_event)event->object);
}

/* Negative: the command has failed, or will never be run. So has one of which the driver cannot say anything, asked
 * twice, as that of a device that is gone cannot; else whoever waits for it would do so for ever. */
HA_IN_ ha_cl_code ha_opencl_state(ha_cl_event event) {
    ha_cl_code state = HA_CL_QUEUED, code = HA_CL_SUCCESS;
    for (int tries = 0; tries < 2; tries++) {
        code = ha_cl.GetEventInfo(event, HA_CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state,
                                  NULL);
        if (code == HA_CL_SUCCESS) return state;
    }
    return code == HA_CL_OUT_OF_HOST_MEMORY || code > 0 ? HA_CL_QUEUED : code;
}

HA_IN_ int ha_opencl_done(const ha_event *event) {
    const ha_cl_code state = ha_opencl_state((ha_cl_event)event->object);
    return state < 0 ? -1 : state == HA_CL_COMPLETE;
}

HA_IN_ ha_status ha_opencl_finish(const ha_event *handle) {
    ha_cl_event event = (ha_cl_event)handle->object;
    const ha_cl_code code = ha_cl.WaitForEvents(1, &event), state = ha_opencl_state(event);
    const ha_cl_code told = state < 0 ? state : code;
    char text[100];
    if (told == HA_CL_SUCCESS || state == HA_CL_COMPLETE) return HA_OK;
    snprintf(text, sizeof text, "opencl: %s: %s (%d)",
             state < 0 ? "a command failed" : "clWaitForEvents",
             ha_cl_name(told) != NULL ? ha_cl_name(told) : "error", (int)told);
    ha_backend_report(told, text);
    return state < 0 ? HA_ERR_LOST : HA_ERR_BACKEND;
}

/* ---- waiting for other queues ----------------------------------------------------------------- */

/* What happened to an event of one context happens to one of another. Who waits would do so for ever if this
 * failed: so it is tried again. */
static void ha_opencl_pass_on(ha_cl_event event, ha_cl_code state, void *argument) {
    ha_cl_event other = (ha_cl_event)argument;
    if (state > HA_CL_COMPLETE) state = HA_CL_COMPLETE;
    (void)event;
    if (ha_cl.SetUserEventStatus(other, state) != HA_CL_SUCCESS)
        (void)ha_cl.SetUserEventStatus(other, state);
    (void)ha_cl.ReleaseEvent(other);
}

/* *made: an event of the queue's context that happens when another one has; to be released. */
HA_IN_ ha_status ha_opencl_import(const ha_opencl_queue *queue, ha_cl_event event,
                                  ha_cl_event *made) {
    ha_cl_code code;
    ha_cl_event other = ha_cl.CreateUserEvent(queue->device->context, &code);
    ha_status status = ha_opencl_check(queue->device, code, "CreateUserEvent");
    if (status != HA_OK) return status;
    status = HA_OPENCL_TRY_(queue->device, RetainEvent, other); /* for the callback */
    if (status == HA_OK) {
        status = HA_OPENCL_TRY_(queue->device, SetEventCallback, event, HA_CL_COMPLETE,
                                ha_opencl_pass_on, other);
        if (status != HA_OK) (void)ha_cl.ReleaseEvent(other);
    }
    if (status == HA_OK)
        *made = other;
    else
        (void)ha_cl.ReleaseEvent(other);
    return status;
}

HA_IN_ ha_status ha_opencl_wait(ha_opencl_queue *queue, ha_cl_event event) {
    return ha_opencl_enqueued(queue,
                              ha_cl.EnqueueBarrierWithWaitList(queue->queue, 1, &event, NULL),
                              "EnqueueBarrierWithWaitList");
}

HA_IN_ ha_status ha_opencl_await(void *handle, const ha_event *awaited) {
    ha_opencl_queue *queue = (ha_opencl_queue *)handle;
    ha_cl_event event = (ha_cl_event)awaited->object, own = NULL;
    ha_cl_context context = NULL;
    ha_status status = ha_opencl_alive(queue);
    if (status == HA_OK)
        status = HA_OPENCL_TRY_(queue->device, GetEventInfo, event, HA_CL_EVENT_CONTEXT,
                                sizeof context, &context, NULL);
    if (status != HA_OK) return status;
    if (context == queue->device->context) return ha_opencl_wait(queue, event);
    status = ha_opencl_import(queue, event, &own);
    if (status != HA_OK) return status;
    status = ha_opencl_wait(queue, own);
    (void)ha_cl.ReleaseEvent(own);
    return status;
}

/* An event of the caller's, in whatever context. */
HA_IN_ ha_status ha_opencl_adopt_event(void *handle, void *native, ha_event *adopted) {
    const ha_opencl_queue *queue = (const ha_opencl_queue *)handle;
    ha_cl_context context = NULL;
    ha_status status;
    if (ha_cl.GetEventInfo((ha_cl_event)native, HA_CL_EVENT_CONTEXT, sizeof context, &context,
                           NULL) != HA_CL_SUCCESS) {
        ha_backend_report(0, "opencl: this is no event");
        return HA_ERR_ARGUMENT;
    }
    status = HA_OPENCL_TRY_(queue->device, RetainEvent, (ha_cl_event)native);
    if (status == HA_OK) *adopted = (ha_event){native, 0};
    return status;
}

/* ---- times ------------------------------------------------------------------------------------ */

HA_IN_ void ha_opencl_stamp_add(ha_opencl_stamp *stamp) {
    pthread_mutex_lock(&ha_opencl_stamps.lock);
    stamp->next = stamp->queue->stamps;
    stamp->queue->stamps = stamp;
    pthread_mutex_unlock(&ha_opencl_stamps.lock);
}

/* ns: the time that is written; 0: none. */
HA_IN_ void ha_opencl_stamp_end(ha_opencl_stamp *stamp, uint64_t ns) {
    pthread_mutex_lock(&ha_opencl_stamps.lock);
    ha_opencl_queue *const queue = stamp->queue;
    if (queue) {
        ha_opencl_stamp **link = &queue->stamps;
        while (*link != stamp) link = &(*link)->next;
        *link = stamp->next;
        if (ns) __atomic_store_n(stamp->ns, ns, __ATOMIC_RELEASE);
        if (!queue->stamps) pthread_cond_broadcast(&queue->written);
    }
    pthread_mutex_unlock(&ha_opencl_stamps.lock);
    HARRAY_FREE(stamp);
}

static void ha_opencl_write_stamp(ha_cl_event event, ha_cl_code state, void *argument) {
    (void)event;
    ha_opencl_stamp_end((ha_opencl_stamp *)argument, state == HA_CL_COMPLETE ? ha_clock_ns() : 0);
}

HA_IN_ ha_status ha_opencl_stamp_at(void *handle, uint64_t *ns) {
    ha_opencl_queue *queue = (ha_opencl_queue *)handle;
    ha_event marker;
    ha_opencl_stamp *stamp = (ha_opencl_stamp *)HARRAY_MALLOC(sizeof *stamp);
    ha_status status = stamp != NULL ? ha_opencl_record(queue, &marker) : HA_ERR_MEMORY;
    if (status != HA_OK) {
        HARRAY_FREE(stamp);
        return status;
    }
    *stamp = (ha_opencl_stamp){NULL, queue, ns};
    ha_opencl_stamp_add(stamp);
    status = HA_OPENCL_TRY_(queue->device, SetEventCallback, (ha_cl_event)marker.object,
                            HA_CL_COMPLETE, ha_opencl_write_stamp, stamp);
    if (status != HA_OK) ha_opencl_stamp_end(stamp, 0);
    ha_opencl_forget(&marker);
    return status;
}

#endif
