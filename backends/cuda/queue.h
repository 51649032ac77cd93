/* Queues of CUDA devices are streams: harray's own, which do not wait for the legacy default stream,
 * or the caller's. Making and ending them; events; draining.
 *
 * A device fails as a whole: after an error that is final all of its queues are lost. The driver tells
 * such an error when the device has stopped, so nothing of it touches memory any more; there is no
 * call to wait for that. One queue alone fails when the driver cannot say that its stream is idle, and
 * is lost when it waited for another device that failed (peers.h). Its own device goes on then,
 * with what another thread enqueues that has found the queue usable just before. So who enqueues is
 * counted, from before it looks; and draining waits until those have left before it looks what runs. */
#ifndef HARRAY_BACKENDS_CUDA_QUEUE_H
#define HARRAY_BACKENDS_CUDA_QUEUE_H

#include "event.h"
#include "slab.h"
#include "task.h"

#include <sched.h>

typedef struct ha_cuda_queue {
    ha_cuda_device *device;
    ha_cu_stream stream;
    int adopted;
    _Atomic int failed;
    _Atomic int inside;         /* threads between ha_cuda_begin and ha_cuda_end */
    struct ha_cuda_queue *next; /* of those that are kept */
    ha_cuda_tasks tasks;
    ha_cuda_foreign foreign;
    struct { /* pageable.h */
        pthread_mutex_t lock;
        void *chunk[2]; /* pinned; NULL: not made yet */
        size_t bytes;   /* of each */
        ha_cu_stream side;
        ha_cu_event behind, joined;
    } lanes;
} ha_cuda_queue;

HA_STATE_ ha_cuda_queue *ha_cuda_kept; /* shared.lock */

HA_IN_ void ha_cuda_keep(ha_cuda_queue *queue) {
    pthread_mutex_lock(&ha_cuda_shared.lock);
    queue->next = ha_cuda_kept;
    ha_cuda_kept = queue;
    pthread_mutex_unlock(&ha_cuda_shared.lock);
}

/* Whether anything can be enqueued. */
HA_IN_ ha_status ha_cuda_usable(ha_cuda_queue *queue) {
    ha_status status = ha_cuda_alive(queue->device);
    if (status == HA_OK) status = ha_cuda_foreign_lost(&queue->foreign);
    if (status != HA_OK || !atomic_load(&queue->failed)) return status;
    ha_backend_report(0, "cuda: the queue could not be drained earlier");
    return HA_ERR_LOST;
}

/* The beginning of every slot that enqueues: what it needs is there until ha_cuda_end, which is not
 * needed after a failure. Who counts itself after the queue was lost sees that it was. */
HA_IN_ ha_status ha_cuda_begin(ha_cuda_queue *queue, int *pushed) {
    ha_status status;
    atomic_fetch_add(&queue->inside, 1);
    status = ha_cuda_usable(queue);
    if (status == HA_OK) status = ha_cuda_enter(queue->device, pushed);
    if (status != HA_OK) atomic_fetch_sub(&queue->inside, 1);
    return status;
}

HA_IN_ void ha_cuda_end(ha_cuda_queue *queue, int pushed) {
    ha_cuda_leave(pushed);
    atomic_fetch_sub(&queue->inside, 1);
}

/* ---- making and ending ---- */

HA_IN_ ha_cuda_queue *ha_cuda_queue_make(ha_cuda_device *device) {
    ha_cuda_queue *queue = (ha_cuda_queue *)HARRAY_MALLOC(sizeof *queue);
    if (queue == NULL) return NULL;
    memset(queue, 0, sizeof *queue);
    queue->device = device;
    atomic_init(&queue->failed, 0);
    atomic_init(&queue->inside, 0);
    ha_cuda_tasks_create(&queue->tasks);
    ha_cuda_foreign_create(&queue->foreign);
    pthread_mutex_init(&queue->lanes.lock, NULL);
    return queue;
}

HA_IN_ void ha_cuda_queue_free(ha_cuda_queue *queue) {
    pthread_mutex_destroy(&queue->lanes.lock);
    pthread_mutex_destroy(&queue->foreign.lock);
    ha_cuda_tasks_destroy(&queue->tasks);
    HARRAY_FREE(queue);
}

HA_IN_ ha_status ha_cuda_create(void *handle, void **made) {
    ha_cuda_device *device = (ha_cuda_device *)handle;
    ha_cuda_queue *queue = ha_cuda_queue_make(device);
    int pushed;
    ha_status status;
    if (queue == NULL) return HA_ERR_MEMORY;
    status = ha_cuda_begin(queue, &pushed);
    if (status == HA_OK) {
        status = HA_CUDA_TRY_(device, StreamCreate, &queue->stream, HA_CU_STREAM_NON_BLOCKING);
        ha_cuda_end(queue, pushed);
    }
    if (status == HA_OK)
        *made = queue;
    else
        ha_cuda_queue_free(queue);
    return ha_cuda_not_lost(status);
}

/* Whether a stream of the caller's is one of this device, in the context that harray uses. */
HA_IN_ ha_status ha_cuda_check_stream(ha_cuda_device *device, ha_cu_stream stream) {
    ha_cu_context context = NULL;
    ha_cu_result code;
    if (stream == HA_CU_STREAM_LEGACY_) return HA_OK; /* every device has its own */
    if (stream == HA_CU_STREAM_PER_THREAD_) {
        ha_backend_report(0, "cuda: the per-thread default stream is another one in each thread");
        return HA_ERR_ARGUMENT;
    }
    code = ha_cu.StreamGetCtx(stream, &context);
    if (code != HA_CU_SUCCESS)
        ha_cuda_tell(device, code, ha_cuda_names.StreamGetCtx);
    else if (context != device->context)
        ha_backend_report(0, "cuda: the stream is of another device, or not of the device's "
                             "primary context");
    return code == HA_CU_SUCCESS && context == device->context ? HA_OK : HA_ERR_ARGUMENT;
}

HA_IN_ ha_status ha_cuda_adopt(void *handle, void *native, void **made) {
    ha_cuda_device *device = (ha_cuda_device *)handle;
    ha_cu_stream stream = native != NULL ? (ha_cu_stream)native : HA_CU_STREAM_LEGACY_;
    ha_cuda_queue *queue;
    int pushed;
    ha_status status = ha_cuda_alive(device);
    if (status == HA_OK) status = ha_cuda_enter(device, &pushed);
    if (status != HA_OK) return ha_cuda_not_lost(status);
    status = ha_cuda_check_stream(device, stream);
    ha_cuda_leave(pushed);
    if (status != HA_OK) return status;
    queue = ha_cuda_queue_make(device);
    if (queue == NULL) return HA_ERR_MEMORY;
    queue->stream = stream;
    queue->adopted = 1;
    *made = queue;
    return HA_OK;
}

/* Nonzero: the stream is idle. Tries again, unless the device has failed. */
HA_IN_ int ha_cuda_synchronize(ha_cuda_device *device, ha_cu_stream stream) {
    ha_cu_result code = ha_cu.StreamSynchronize(stream);
    if (code != HA_CU_SUCCESS && !ha_cuda_has_failed(device, code))
        code = ha_cu.StreamSynchronize(stream);
    return code == HA_CU_SUCCESS;
}

/* Nonzero: nothing of the queue is under way any more. In the device's context. */
HA_IN_ int ha_cuda_is_over(ha_cuda_queue *queue) {
    ha_cu_stream side = __atomic_load_n(&queue->lanes.side, __ATOMIC_ACQUIRE);
    int idle = side == NULL || ha_cuda_synchronize(queue->device, side);
    return idle & ha_cuda_synchronize(queue->device, queue->stream);
}

HA_IN_ void ha_cuda_lanes_free(ha_cuda_queue *queue) {
    ha_cuda_device *device = queue->device;
    for (int i = 0; i < 2; i++)
        if (queue->lanes.chunk[i] != NULL)
            ha_cuda_give(device, &device->pinned, queue->lanes.chunk[i], queue->lanes.bytes);
    if (queue->lanes.behind != NULL) (void)ha_cu.EventDestroy(queue->lanes.behind);
    if (queue->lanes.joined != NULL) (void)ha_cu.EventDestroy(queue->lanes.joined);
    if (queue->lanes.side != NULL) (void)ha_cu.StreamDestroy(queue->lanes.side);
}

/* The driver may still run tasks of a queue that could not be drained, and use its chunks, unless all
 * of the device has failed: then it is kept, for ever. */
HA_IN_ void ha_cuda_destroy(void *handle) {
    ha_cuda_queue *queue = (ha_cuda_queue *)handle;
    int pushed, over = 1;
    ha_cuda_enter_quietly(queue->device, &pushed);
    if (atomic_load(&queue->failed) && !atomic_load(&queue->device->lost))
        over = ha_cuda_is_over(queue) || atomic_load(&queue->device->lost);
    if (!queue->adopted) (void)ha_cu.StreamDestroy(queue->stream);
    if (over) ha_cuda_lanes_free(queue);
    ha_cuda_leave(pushed);
    if (over)
        ha_cuda_queue_free(queue);
    else
        ha_cuda_keep(queue);
}

/* A default stream by the name that means the same in every file, however that was compiled. */
HA_IN_ void *ha_cuda_native(void *queue) { return ((ha_cuda_queue *)queue)->stream; }

/* ---- draining ---- */

/* What is enqueued now; also for who is inside itself. */
HA_IN_ void ha_cuda_drain_now(ha_cuda_queue *queue) {
    int pushed, over;
    ha_cuda_enter_quietly(queue->device, &pushed);
    over = ha_cuda_is_over(queue);
    ha_cuda_leave(pushed);
    if (over) return;
    atomic_store(&queue->failed, 1);
    ha_cuda_tasks_close(&queue->tasks);
}

/* No more is enqueued on a queue that is lost, once those have left who found that it was not. */
HA_IN_ void ha_cuda_drain(void *handle) {
    ha_cuda_queue *queue = (ha_cuda_queue *)handle;
    if (atomic_load(&queue->foreign.lost) || atomic_load(&queue->failed))
        while (atomic_load(&queue->inside) > 0) sched_yield();
    ha_cuda_drain_now(queue);
}

/* ---- events ---- */

HA_IN_ ha_status ha_cuda_record(void *handle, ha_event *recorded) {
    ha_cuda_queue *queue = (ha_cuda_queue *)handle;
    ha_cuda_event *event = NULL;
    int pushed;
    ha_status status = ha_cuda_begin(queue, &pushed);
    if (status != HA_OK) return status;
    status = ha_cuda_event_take(queue->device, &event);
    if (status == HA_OK) {
        event->foreign = &queue->foreign;
        event->waits = ha_cuda_foreign_waits(&queue->foreign);
        status = HA_CUDA_TRY_(queue->device, EventRecord, event->handle, queue->stream);
        if (status != HA_OK) ha_cuda_event_give(event);
    }
    ha_cuda_end(queue, pushed);
    if (status == HA_OK) *recorded = (ha_event){event, 0};
    return status;
}

/* The devices that a queue comes after when it waits for an event, but its own. */
HA_IN_ uint64_t ha_cuda_devices_behind(const ha_cuda_queue *queue, const ha_cuda_event *event) {
    uint64_t devices = event->foreign != NULL ? atomic_load(&event->foreign->devices) : 0;
    devices |= UINT64_C(1) << event->device->number;
    return devices & ~(UINT64_C(1) << queue->device->number);
}

/* In the device's context. */
HA_IN_ ha_status ha_cuda_await_others(ha_cuda_queue *queue, const ha_cuda_event *event,
                                      uint64_t devices) {
    const ha_cuda_foreign_wait wait = ha_cuda_foreign_begin(&queue->foreign, devices);
    ha_status status = HA_CUDA_TRY_(queue->device, StreamWaitEvent, queue->stream, event->handle,
                                    0);
    if (status == HA_OK)
        ha_cuda_foreign_end(&queue->foreign);
    else
        ha_cuda_foreign_fail(&queue->foreign, wait);
    return status;
}

/* An event of a device that has failed never happens; a queue that is told so is not lost for that, one
 * that waits already is (peers.h). */
HA_IN_ ha_status ha_cuda_await(void *handle, const ha_event *awaited) {
    ha_cuda_queue *queue = (ha_cuda_queue *)handle;
    const ha_cuda_event *event = (const ha_cuda_event *)awaited->object;
    int pushed;
    const uint64_t devices = ha_cuda_devices_behind(queue, event);
    ha_status status = ha_cuda_begin(queue, &pushed);
    if (status != HA_OK) return status;
    if (event->device != queue->device && ha_cuda_alive(event->device) != HA_OK)
        status = HA_ERR_BACKEND;
    else if (devices != 0)
        status = ha_cuda_await_others(queue, event, devices);
    else
        status = HA_CUDA_TRY_(queue->device, StreamWaitEvent, queue->stream, event->handle, 0);
    ha_cuda_end(queue, pushed);
    return status;
}

HA_IN_ ha_cu_result ha_cuda_ask_event(const ha_cuda_device *device, ha_cu_event event) {
    const char *name;
    int pushed;
    ha_cu_result code = ha_cuda_push(device, &pushed, &name);
    if (event == NULL) code = HA_CU_INVALID_HANDLE;
    if (code == HA_CU_SUCCESS) code = ha_cu.EventQuery(event);
    ha_cuda_leave(pushed);
    return code;
}

HA_IN_ ha_status ha_cuda_adopt_event(void *handle, void *native, ha_event *adopted) {
    ha_cuda_queue *queue = (ha_cuda_queue *)handle;
    ha_cuda_event *event;
    ha_cu_result code = ha_cuda_ask_event(queue->device, (ha_cu_event)native);
    if (code != HA_CU_SUCCESS && code != HA_CU_NOT_READY) {
        ha_cuda_tell(queue->device, code, ha_cuda_names.EventQuery);
        return ha_cuda_is_final(code) ? HA_ERR_BACKEND : HA_ERR_ARGUMENT;
    }
    event = (ha_cuda_event *)HARRAY_MALLOC(sizeof *event);
    if (event == NULL) return HA_ERR_MEMORY;
    *event = (ha_cuda_event){.device = queue->device, .handle = (ha_cu_event)native, .callers = 1};
    *adopted = (ha_event){event, 0};
    return HA_OK;
}

#endif
