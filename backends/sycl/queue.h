/* Queues of SYCL devices, in order, and their events. The library tells nothing of a command that fails on the device but
 * by a text on stderr; what was enqueued behind it is done all the same. */
#ifndef HARRAY_BACKENDS_SYCL_QUEUE_H
#define HARRAY_BACKENDS_SYCL_QUEUE_H

#include "device.h"

typedef struct ha_sycl_queue {
    ha_sycl_device *device;
    void *queue;
} ha_sycl_queue;

/* Takes the library's queue over. */
HA_IN_ ha_status ha_sycl_queue_of(ha_sycl_device *device, void *native, void **made) {
    ha_sycl_queue *queue = (ha_sycl_queue *)HARRAY_MALLOC(sizeof *queue);
    if (queue == NULL) {
        ha_sycl.Queue_Delete(native);
        return HA_ERR_MEMORY;
    }
    *queue = (ha_sycl_queue){device, native};
    *made = queue;
    return HA_OK;
}

HA_IN_ ha_status ha_sycl_create(void *handle, void **made) {
    ha_sycl_device *device = (ha_sycl_device *)handle;
    void *native = ha_sycl.Queue_Create(device->context, device->device, NULL, HA_SYCL_IN_ORDER);
    return native != NULL ? ha_sycl_queue_of(device, native, made)
                          : ha_sycl_fail(device, "Queue_Create");
}

HA_IN_ int ha_sycl_is_queue_of(const ha_sycl_device *device, void *native) {
    void *context = ha_sycl.Queue_GetContext(native), *own = ha_sycl.Queue_GetDevice(native);
    const int is = context != NULL && own != NULL &&
                   ha_sycl.Context_AreEq(context, device->context) &&
                   ha_sycl.Device_AreEq(own, device->device);
    if (context != NULL) ha_sycl.Context_Delete(context);
    if (own != NULL) ha_sycl.Device_Delete(own);
    return is;
}

/* A queue of the caller's, in order, of this device, and in the context of its memory. */
HA_IN_ ha_status ha_sycl_adopt_queue(void *handle, void *native, void **made) {
    ha_sycl_device *device = (ha_sycl_device *)handle;
    const int is_here = ha_sycl_is_queue_of(device, native);
    if (!is_here)
        ha_backend_report(0, "sycl: the queue is of another device or context than the device's "
                             "own queues; ha_sycl_adopt takes it");
    if (!is_here || !ha_sycl_is_in_order(native)) return HA_ERR_ARGUMENT;
    void *copy = ha_sycl.Queue_Copy(native);
    return copy != NULL ? ha_sycl_queue_of(device, copy, made) : ha_sycl_fail(device, "Queue_Copy");
}

HA_IN_ void ha_sycl_destroy(void *handle) {
    ha_sycl_queue *queue = (ha_sycl_queue *)handle;
    ha_sycl.Queue_Delete(queue->queue);
    HARRAY_FREE(queue);
}

HA_IN_ void *ha_sycl_native(void *queue) { return ((ha_sycl_queue *)queue)->queue; }

HA_IN_ void ha_sycl_drain(void *queue) { ha_sycl.Queue_Wait(((ha_sycl_queue *)queue)->queue); }

/* What a call that enqueues gave is not kept. */
HA_IN_ ha_status ha_sycl_enqueued(const ha_sycl_queue *queue, void *event, const char *function) {
    if (event == NULL) return ha_sycl_fail(queue->device, function);
    ha_sycl.Event_Delete(event);
    return HA_OK;
}

HA_IN_ ha_status ha_sycl_copy(void *handle, void *to, const void *from, size_t bytes) {
    const ha_sycl_queue *queue = (const ha_sycl_queue *)handle;
    return ha_sycl_enqueued(queue, ha_sycl.Queue_Memcpy(queue->queue, to, from, bytes),
                            "Queue_Memcpy");
}

/* Functions of the host do not reach the device's memory. */
HA_IN_ ha_status ha_sycl_call(void *queue, ha_function f, const void *argument, size_t bytes) {
    (void)queue, (void)f, (void)argument, (void)bytes;
    return HA_ERR_UNSUPPORTED;
}

HA_IN_ ha_status ha_sycl_record(void *handle, ha_event *event) {
    const ha_sycl_queue *queue = (const ha_sycl_queue *)handle;
    void *made = ha_sycl.Queue_SubmitBarrier(queue->queue);
    if (made == NULL) return ha_sycl_fail(queue->device, "Queue_SubmitBarrier");
    *event = (ha_event){made, 0};
    return HA_OK;
}

HA_IN_ ha_status ha_sycl_await(void *handle, const ha_event *event) {
    const ha_sycl_queue *queue = (const ha_sycl_queue *)handle;
    void *awaited = event->object;
    return ha_sycl_enqueued(queue, ha_sycl.Queue_SubmitBarrierForEvents(queue->queue, &awaited, 1),
                            "Queue_SubmitBarrierForEvents");
}

HA_IN_ int ha_sycl_done(const ha_event *event) {
    return ha_sycl.Event_GetCommandExecutionStatus(event->object) == HA_SYCL_COMPLETE;
}

HA_IN_ ha_status ha_sycl_finish(const ha_event *event) {
    ha_sycl.Event_Wait(event->object);
    return HA_OK;
}

HA_IN_ void ha_sycl_forget(ha_event *event) { ha_sycl.Event_Delete(event->object); }

#endif
