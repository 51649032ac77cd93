/* What is enqueued: copies, fills, functions for the host. */
#ifndef HARRAY_BACKENDS_OPENCL_COMMANDS_H
#define HARRAY_BACKENDS_OPENCL_COMMANDS_H

#include "../common/strided.h"
#include "program.h"

/* ---- copies ----------------------------------------------------------------------------------- */

/* One end of a copy. */
typedef struct ha_opencl_end {
    ha_cl_mem memory; /* NULL: the host's */
    size_t offset;    /* in that */
} ha_opencl_end;

HA_IN_ ha_opencl_end ha_opencl_end_of(ha_opencl_device *device, const void *pointer) {
    ha_opencl_end end = {NULL, 0};
    if (!ha_opencl_locate(device, pointer, &end.memory, &end.offset)) end.offset = 0;
    return end;
}

HA_IN_ ha_status ha_opencl_copy_usm(ha_opencl_queue *queue, void *to, const void *from,
                                    size_t bytes) {
    const ha_status status = ha_opencl_alive(queue);
    if (status != HA_OK) return status;
    return ha_opencl_enqueued(
        queue,
        queue->device->usm.EnqueueMemcpyINTEL(queue->queue, 0, to, from, bytes, 0, NULL, NULL),
        "EnqueueMemcpyINTEL");
}

HA_IN_ ha_status ha_opencl_copy_buffer(void *handle, void *to, const void *from, size_t bytes) {
    ha_opencl_queue *queue = (ha_opencl_queue *)handle;
    const ha_opencl_end t = ha_opencl_end_of(queue->device, to),
                        f = ha_opencl_end_of(queue->device, from);
    ha_cl_queue q = queue->queue;
    const ha_status status = ha_opencl_alive(queue);
    if (status != HA_OK) return status;
    if (t.memory != NULL && f.memory != NULL)
        return ha_opencl_enqueued(queue,
                                  ha_cl.EnqueueCopyBuffer(q, f.memory, t.memory, f.offset, t.offset,
                                                          bytes, 0, NULL, NULL),
                                  "EnqueueCopyBuffer");
    if (t.memory != NULL)
        return ha_opencl_enqueued(
            queue, ha_cl.EnqueueWriteBuffer(q, t.memory, 0, t.offset, bytes, from, 0, NULL, NULL),
            "EnqueueWriteBuffer");
    return ha_opencl_enqueued(
        queue, ha_cl.EnqueueReadBuffer(q, f.memory, 0, f.offset, bytes, to, 0, NULL, NULL),
        "EnqueueReadBuffer");
}

HA_IN_ ha_status ha_opencl_copy(void *handle, void *to, const void *from, size_t bytes) {
    ha_opencl_queue *queue = (ha_opencl_queue *)handle;
    return queue->device->settings.usm ? ha_opencl_copy_usm(queue, to, from, bytes)
                                       : ha_opencl_copy_buffer(queue, to, from, bytes);
}

/* Rows and planes on one side, as OpenCL has them: where the first byte is, in bytes, rows and planes. */
typedef struct ha_opencl_rect {
    ha_opencl_end end;
    size_t origin[3], row, plane;
} ha_opencl_rect;

HA_IN_ ha_opencl_rect ha_opencl_rect_of(ha_opencl_device *device, const void *pointer,
                                        const ha_strided_copy *s, const size_t *step) {
    ha_opencl_rect r = {.end = ha_opencl_end_of(device, pointer), .row = step[0]};
    size_t offset = r.end.offset;
    if (s->levels > 1) {
        r.plane = step[1];
        r.origin[2] = offset / r.plane;
        offset %= r.plane;
    }
    r.origin[1] = offset / r.row;
    r.origin[0] = offset % r.row;
    return r;
}

HA_IN_ ha_status ha_opencl_copy_rect(ha_opencl_queue *queue, const ha_strided_copy *s) {
    const size_t region[3] = {s->bytes, s->count[0], s->levels > 1 ? s->count[1] : 1};
    const ha_opencl_rect t = ha_opencl_rect_of(queue->device, s->to, s, s->to_step);
    const ha_opencl_rect f = ha_opencl_rect_of(queue->device, s->from, s, s->from_step);
    ha_cl_queue q = queue->queue;
    ha_cl_code code;
    if (t.end.memory != NULL && t.end.memory == f.end.memory &&
        (t.row != f.row || t.plane != f.plane))
        return HA_ERR_UNSUPPORTED; /* within a buffer both have to be spaced alike */
    if (t.end.memory != NULL && f.end.memory != NULL) {
        code = ha_cl.EnqueueCopyBufferRect(q, f.end.memory, t.end.memory, f.origin, t.origin,
                                           region, f.row, f.plane, t.row, t.plane, 0, NULL, NULL);
        if (code == HA_CL_MEM_COPY_OVERLAP) return HA_ERR_UNSUPPORTED; /* of rows, not of pieces */
        return ha_opencl_enqueued(queue, code, "EnqueueCopyBufferRect");
    }
    if (t.end.memory != NULL)
        return ha_opencl_enqueued(
            queue,
            ha_cl.EnqueueWriteBufferRect(q, t.end.memory, 0, t.origin, f.origin, region, t.row,
                                         t.plane, f.row, f.plane, s->from, 0, NULL, NULL),
            "EnqueueWriteBufferRect");
    return ha_opencl_enqueued(queue,
                              ha_cl.EnqueueReadBufferRect(q, f.end.memory, 0, f.origin, t.origin,
                                                          region, f.row, f.plane, t.row, t.plane,
                                                          s->to, 0, NULL, NULL),
                              "EnqueueReadBufferRect");
}

HA_IN_ ha_status ha_opencl_copy_strided(void *handle, const ha_strided_copy *copies, size_t n) {
    ha_opencl_queue *queue = (ha_opencl_queue *)handle;
    ha_strided_copy s;
    ha_status status;
    if (n != 1) return HA_ERR_UNSUPPORTED;
    s = ha_strided_fold(copies);
    if (s.levels == 0) return ha_opencl_copy(handle, s.to, s.from, s.bytes);
    if (queue->device->settings.usm || !ha_strided_is_pitched(&s)) return HA_ERR_UNSUPPORTED;
    status = ha_opencl_alive(queue);
    return status == HA_OK ? ha_opencl_copy_rect(queue, &s) : status;
}

/* OpenCL fills with values of 1, 2, 4, … 128 bytes, at multiples of these. */
HA_IN_ ha_status ha_opencl_fill(void *handle, void *to, const void *value, size_t bytes,
                                size_t count) {
    ha_opencl_queue *queue = (ha_opencl_queue *)handle;
    const ha_opencl_end end = ha_opencl_end_of(queue->device, to);
    const ha_status status = ha_opencl_alive(queue);
    if (status != HA_OK) return status;
    if (bytes > 128 || (bytes & (bytes - 1)) != 0 || end.offset % bytes != 0)
        return HA_ERR_UNSUPPORTED;
    if (queue->device->settings.usm)
        return ha_opencl_enqueued(queue,
                                  queue->device->usm.EnqueueMemFillINTEL(
                                      queue->queue, to, value, bytes, bytes * count, 0, NULL, NULL),
                                  "EnqueueMemFillINTEL");
    return ha_opencl_enqueued(queue,
                              ha_cl.EnqueueFillBuffer(queue->queue, end.memory, value, bytes,
                                                      end.offset, bytes * count, 0, NULL, NULL),
                              "EnqueueFillBuffer");
}

/* ---- functions -------------------------------------------------------------------------------- */

/* In front of a function's argument. */
typedef struct ha_opencl_task {
    ha_function f;
    const ha_queue *here;
    size_t bytes;
    _Alignas(16) unsigned char argument[];
} ha_opencl_task;

static void ha_opencl_run_task(void *copied) {
    ha_opencl_task *task = (ha_opencl_task *)copied;
    ha_queue_run(task->f, task->here, task->bytes > 0 ? task->argument : NULL);
}

HA_IN_ ha_status ha_opencl_runs_no_function(const ha_opencl_queue *queue) {
    char text[120];
    snprintf(text, sizeof text,
             "opencl:%d: its queues do not run functions of the host on the device's memory",
             queue->device->number);
    ha_backend_report(0, text);
    return HA_ERR_UNSUPPORTED;
}

HA_IN_ ha_status ha_opencl_call(void *handle, ha_function f, const void *argument, size_t bytes) {
    ha_opencl_queue *queue = (ha_opencl_queue *)handle;
    ha_opencl_task *task;
    ha_status status;
    if (!queue->device->native) return ha_opencl_runs_no_function(queue);
    status = ha_opencl_alive(queue);
    if (status != HA_OK) return status;
    task = (ha_opencl_task *)HARRAY_MALLOC(sizeof *task + bytes);
    if (task == NULL) return HA_ERR_MEMORY;
    task->f = f;
    task->here = &queue->device->here;
    task->bytes = bytes;
    if (bytes > 0) memcpy(task->argument, argument, bytes);
    status = ha_opencl_enqueued(queue,
                                ha_cl.EnqueueNativeKernel(queue->queue, ha_opencl_run_task, task,
                                                          sizeof *task + bytes, 0, NULL, NULL, 0,
                                                          NULL, NULL),
                                "EnqueueNativeKernel");
    HARRAY_FREE(task);
    return status;
}

static const ha_queue_ops ha_opencl_queue_ops = {
    .bytes = sizeof(ha_queue_ops),
    .version = HA_BACKEND_VERSION,
    .create = ha_opencl_create,
    .destroy = ha_opencl_destroy,
    .copy = ha_opencl_copy,
    .call = ha_opencl_call,
    .record = ha_opencl_record,
    .await = ha_opencl_await,
    .finish = ha_opencl_finish,
    .done = ha_opencl_done,
    .drain = ha_opencl_drain,
    .fill = ha_opencl_fill,
    .forget = ha_opencl_forget,
    .native = ha_opencl_native,
    .adopt = ha_opencl_adopt,
    .adopt_event = ha_opencl_adopt_event,
    .copy_strided = ha_opencl_copy_strided,
    .stamp = ha_opencl_stamp_at,
    .launch = ha_opencl_launch,
};

#endif
