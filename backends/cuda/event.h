/* Events of CUDA queues: a pool for each device, for making one takes much longer than recording it.
 * An ha_event's object is one of these; its value is not used. */
#ifndef HARRAY_BACKENDS_CUDA_EVENT_H
#define HARRAY_BACKENDS_CUDA_EVENT_H

#include "peers.h"

typedef struct ha_cuda_event {
    ha_cuda_device *device;
    ha_cu_event handle;
    int callers;              /* the caller's own: never put into the pool, nor destroyed */
    ha_cuda_foreign *foreign; /* its queue's; NULL: not known */
    uint64_t waits;           /* of that, in front of it */
    struct ha_cuda_event *next;
} ha_cuda_event;

/* In the device's context. */
HA_IN_ ha_status ha_cuda_event_make(ha_cuda_device *device, ha_cuda_event **made) {
    ha_status status;
    ha_cuda_event *event = (ha_cuda_event *)HARRAY_MALLOC(sizeof *event);
    if (event == NULL) return HA_ERR_MEMORY;
    *event = (ha_cuda_event){.device = device};
    status = HA_CUDA_TRY_(device, EventCreate, &event->handle, HA_CU_EVENT_NO_TIMING);
    if (status == HA_OK)
        *made = event;
    else
        HARRAY_FREE(event);
    return status;
}

/* NULL: there is none. */
HA_IN_ ha_cuda_event *ha_cuda_event_from_pool(ha_cuda_device *device) {
    ha_cuda_event *event;
    pthread_mutex_lock(&device->events.lock);
    event = device->events.free;
    if (event != NULL) device->events.free = event->next;
    pthread_mutex_unlock(&device->events.lock);
    return event;
}

/* In the device's context. */
HA_IN_ ha_status ha_cuda_event_take(ha_cuda_device *device, ha_cuda_event **taken) {
    ha_cuda_event *event = ha_cuda_event_from_pool(device);
    if (event == NULL) return ha_cuda_event_make(device, taken);
    *taken = event;
    return HA_OK;
}

HA_IN_ void ha_cuda_event_give(ha_cuda_event *event) {
    ha_cuda_device *device = event->device;
    if (event->callers) {
        HARRAY_FREE(event);
        return;
    }
    pthread_mutex_lock(&device->events.lock);
    event->next = device->events.free;
    device->events.free = event;
    pthread_mutex_unlock(&device->events.lock);
}

/* For closing the device, in its context. */
HA_IN_ void ha_cuda_events_destroy(ha_cuda_device *device) {
    while (device->events.free != NULL) {
        ha_cuda_event *event = device->events.free;
        device->events.free = event->next;
        (void)ha_cu.EventDestroy(event->handle);
        HARRAY_FREE(event);
    }
}

/* ---- other devices ---- */

/* Asks the device itself, and tells nothing. By an event, for the legacy stream may be in the way of
 * captures. */
HA_IN_ int ha_cuda_still_works(ha_cuda_device *device) {
    ha_cuda_event *event = ha_cuda_event_from_pool(device);
    ha_cu_event made = NULL;
    ha_cu_result code;
    int pushed;
    ha_cuda_enter_quietly(device, &pushed);
    if (event != NULL) {
        code = ha_cu.EventQuery(event->handle);
        ha_cuda_event_give(event);
    } else {
        code = ha_cu.EventCreate(&made, HA_CU_EVENT_NO_TIMING);
        if (code == HA_CU_SUCCESS) (void)ha_cu.EventDestroy(made);
    }
    ha_cuda_leave(pushed);
    return atomic_load(&device->lost) == 0 && !ha_cuda_has_failed(device, code);
}

/* For an event that has happened. HA_ERR_LOST: it may only seem so. */
HA_IN_ ha_status ha_cuda_trust(const ha_cuda_event *event) {
    ha_cuda_foreign *foreign = event->foreign;
    uint64_t devices = foreign != NULL ? atomic_load(&foreign->devices) : 0;
    if (devices == 0) return HA_OK;
    for (int i = 0; i < HA_CUDA_MOST_DEVICES_; i++) {
        ha_cuda_device *device = devices >> i & 1 ? ha_cuda_foreign_device(i) : NULL;
        if (device != NULL && !ha_cuda_still_works(device)) atomic_store(&foreign->lost, 1);
    }
    if (!atomic_load(&foreign->lost)) ha_cuda_foreign_forget(foreign, event->waits);
    return ha_cuda_foreign_lost(foreign);
}

/* ---- slots ---- */

HA_IN_ void ha_cuda_forget(ha_event *event) { ha_cuda_event_give((ha_cuda_event *)event->object); }

HA_IN_ ha_status ha_cuda_finish(const ha_event *handle) {
    const ha_cuda_event *event = (const ha_cuda_event *)handle->object;
    int pushed;
    ha_status status = ha_cuda_enter(event->device, &pushed);
    if (status != HA_OK) return status;
    status = HA_CUDA_TRY_(event->device, EventSynchronize, event->handle);
    ha_cuda_leave(pushed);
    return status != HA_OK ? status : ha_cuda_trust(event);
}

/* Of an error that is not final it is not known what it means for the event. */
HA_IN_ int ha_cuda_done(const ha_event *handle) {
    const ha_cuda_event *event = (const ha_cuda_event *)handle->object;
    int pushed;
    ha_cuda_enter_quietly(event->device, &pushed); /* older drivers ask for one */
    ha_cu_result code = ha_cu.EventQuery(event->handle);
    ha_cuda_leave(pushed);
    if (code == HA_CU_SUCCESS) return ha_cuda_trust(event) == HA_OK ? 1 : -1;
    return ha_cuda_has_failed(event->device, code) ? -1 : 0;
}

#endif
