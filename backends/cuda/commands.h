/* What CUDA queues do: copies, fills, functions, stamps. */
#ifndef HARRAY_BACKENDS_CUDA_COMMANDS_H
#define HARRAY_BACKENDS_CUDA_COMMANDS_H

#include "memory.h"
#include "program.h"
#include "strides.h"

/* ---- copies ---- */

/* What memory is, for the driver. That of which only the beginning is pinned counts as pageable. */
HA_IN_ ha_status ha_cuda_look_at(ha_cuda_device *device, const void *pointer, size_t bytes,
                                 ha_cuda_pointer *found) {
    ha_cu_result code = ha_cuda_look(pointer, found);
    if (code == HA_CU_SUCCESS && found->kind == HA_MEMORY_PINNED)
        code = ha_cuda_look((const char *)pointer + bytes - 1, found);
    return ha_cuda_check(device, code, ha_cuda_names.PointerGetAttributes);
}

HA_IN_ int ha_cuda_is_on_host(const ha_cuda_pointer *p) {
    return p->kind == HA_MEMORY_HOST || p->kind == HA_MEMORY_PINNED;
}

HA_IN_ int ha_cuda_is_own(const ha_cuda_device *device, const ha_cuda_pointer *p) {
    return !ha_cuda_is_on_host(p) && p->number == device->number;
}

HA_IN_ ha_cu_result ha_cuda_copy_one(const ha_strided_copy *box, ha_cu_stream stream,
                                     const char **name) {
    ha_cu_copy3d copy;
    *name = ha_cuda_names.MemcpyAsync;
    if (ha_cuda_is_one(box))
        return ha_cu.MemcpyAsync((uintptr_t)box->to, (uintptr_t)box->from, box->bytes, stream);
    *name = ha_cuda_names.Memcpy3DAsync;
    copy = ha_cuda_copy3d_of(box);
    return ha_cu.Memcpy3DAsync(&copy, stream);
}

/* By the driver. *refused: it takes no memory of the host of which only parts are pinned. */
HA_IN_ ha_status ha_cuda_copy_directly(ha_cuda_queue *queue, const ha_strided_copy *box,
                                       int on_host, int *refused) {
    ha_cuda_cut cut = {box->bytes, box->count[HA_CUDA_ROWS], box->count[HA_CUDA_PLANES]};
    ha_cu_result code = HA_CU_SUCCESS;
    const char *name = NULL;
    size_t batches, done = 0;
    if (ha_cuda_is_far(box->to_step) || ha_cuda_is_far(box->from_step)) cut.rows = cut.planes = 1;
    batches = ha_cuda_batches(box, &cut);
    while (done < batches && code == HA_CU_SUCCESS) {
        const ha_strided_copy batch = ha_cuda_batch_of(box, &cut, done);
        code = ha_cuda_copy_one(&batch, queue->stream, &name);
        done += code == HA_CU_SUCCESS;
    }
    *refused = code == HA_CU_INVALID_VALUE && on_host;
    if (*refused) return HA_OK;
    return ha_cuda_copy_end(queue, done > 0, ha_cuda_check(queue->device, code, name));
}

/* Rows and planes of them, by the driver or through chunks. */
HA_IN_ ha_status ha_cuda_copy_pitched(ha_cuda_queue *queue, const ha_strided_copy *copy,
                                      const ha_cuda_pointer *to, const ha_cuda_pointer *from) {
    const ha_strided_copy box = ha_cuda_box_of(copy);
    const int down = ha_cuda_is_on_host(to), up = ha_cuda_is_on_host(from);
    ha_status status = HA_OK;
    int refused = 1;
    if (up && down) return ha_cuda_copy_on_host(queue, &box);
    if (to->kind != HA_MEMORY_HOST && from->kind != HA_MEMORY_HOST)
        status = ha_cuda_copy_directly(queue, &box, up || down, &refused);
    return refused ? ha_cuda_copy_pageable(queue, &box, up) : status;
}

/* Small pieces within the device by the kernel, unless that cannot. In the device's context. */
HA_IN_ ha_status ha_cuda_copy_by_kind(ha_cuda_queue *queue, const ha_strided_copy *copy) {
    ha_cuda_device *device = queue->device;
    const size_t to_bytes = ha_cuda_extent(copy, copy->to_step);
    const size_t from_bytes = ha_cuda_extent(copy, copy->from_step);
    ha_cuda_pointer to, from;
    ha_status status = ha_cuda_look_at(device, copy->to, to_bytes, &to);
    if (status == HA_OK) status = ha_cuda_look_at(device, copy->from, from_bytes, &from);
    if (status != HA_OK) return status;
    if (ha_cuda_is_own(device, &to) && ha_cuda_is_own(device, &from) &&
        ha_cuda_strides_takes(copy)) {
        status = ha_cuda_strides_ready(device);
        if (status == HA_OK) return ha_cuda_strides_enqueue(queue, copy, 1);
        if (status == HA_ERR_LOST) return status;
    }
    if (!ha_strided_is_pitched(copy)) return HA_ERR_UNSUPPORTED;
    return ha_cuda_copy_pitched(queue, copy, &to, &from);
}

HA_IN_ ha_status ha_cuda_copy_strided(void *handle, const ha_strided_copy *copies, size_t n) {
    ha_cuda_queue *queue = (ha_cuda_queue *)handle;
    ha_strided_copy one = {.levels = 0};
    ha_status status;
    int pushed;
    if (n == 1) {
        one = ha_strided_fold(copies);
        if (!ha_strided_is_pitched(&one) && !ha_strided_is_scatter(&one)) return HA_ERR_UNSUPPORTED;
    }
    status = ha_cuda_begin(queue, &pushed);
    if (status != HA_OK) return status;
    status = n == 1 ? ha_cuda_copy_by_kind(queue, &one) : ha_cuda_strides_enqueue(queue, copies, n);
    ha_cuda_end(queue, pushed);
    return status;
}

HA_IN_ ha_status ha_cuda_copy(void *queue, void *to, const void *from, size_t bytes) {
    return ha_cuda_copy_strided(queue, &(ha_strided_copy){.to = to, .from = from, .bytes = bytes},
                                1);
}

/* ---- fills ---- */

/* The length of the shortest unit of 1, 2 or 4 bytes that a value is made of, and that `to` is aligned
 * to; 0: none. */
HA_IN_ size_t ha_cuda_unit_of(const void *to, const unsigned char *value, size_t bytes) {
    for (size_t unit = 1; unit <= 4; unit *= 2) {
        if (bytes % unit != 0 || (uintptr_t)to % unit != 0) continue;
        if (memcmp(value, value + unit, bytes - unit) == 0) return unit;
    }
    return 0;
}

/* In the device's context. */
HA_IN_ ha_status ha_cuda_fill_units(ha_cuda_queue *queue, void *to, const void *value, size_t unit,
                                    size_t count) {
    ha_cuda_device *device = queue->device;
    uint16_t two;
    uint32_t four;
    if (unit == 1)
        return HA_CUDA_TRY_(device, MemsetD8Async, (uintptr_t)to, *(const unsigned char *)value,
                            count, queue->stream);
    if (unit == 2) {
        memcpy(&two, value, sizeof two);
        return HA_CUDA_TRY_(device, MemsetD16Async, (uintptr_t)to, two, count, queue->stream);
    }
    memcpy(&four, value, sizeof four);
    return HA_CUDA_TRY_(device, MemsetD32Async, (uintptr_t)to, four, count, queue->stream);
}

/* HA_ERR_UNSUPPORTED: a value that is wider, or a target that only the host knows. */
HA_IN_ ha_status ha_cuda_fill(void *handle, void *to, const void *value, size_t bytes,
                              size_t count) {
    ha_cuda_queue *queue = (ha_cuda_queue *)handle;
    size_t unit = ha_cuda_unit_of(to, (const unsigned char *)value, bytes);
    ha_cuda_pointer target;
    int pushed;
    ha_status status = ha_cuda_begin(queue, &pushed);
    if (status != HA_OK) return status;
    status = ha_cuda_look_at(queue->device, to, bytes * count, &target);
    if (status == HA_OK && (unit == 0 || target.kind == HA_MEMORY_HOST))
        status = HA_ERR_UNSUPPORTED;
    if (status == HA_OK) status = ha_cuda_fill_units(queue, to, value, unit, bytes / unit * count);
    ha_cuda_end(queue, pushed);
    return status;
}

/* ---- functions on the host ---- */

HA_IN_ ha_status ha_cuda_launch(ha_cuda_queue *queue, ha_cuda_task *task) {
    int pushed;
    ha_status status = ha_cuda_begin(queue, &pushed);
    if (status == HA_OK) {
        status = ha_cuda_task_launch(queue->device, &queue->tasks, queue->stream, task);
        ha_cuda_end(queue, pushed);
    }
    if (status != HA_OK) HARRAY_FREE(task);
    return status;
}

/* Only where the host may touch the device's memory while the device works. */
HA_IN_ ha_status ha_cuda_call(void *handle, ha_function f, const void *argument, size_t bytes) {
    ha_cuda_queue *queue = (ha_cuda_queue *)handle;
    ha_cuda_task *task;
    if (queue->device->settings.memory != HA_CUDA_MANAGED || !queue->device->concurrent) {
        ha_backend_report(0, "cuda: functions for the host cannot touch device memory; launch a "
                             "kernel on HA_STREAM, or use HARRAY_CUDA=memory=managed");
        return HA_ERR_UNSUPPORTED;
    }
    task = ha_cuda_task_make(ha_cuda_run_call, bytes);
    if (task == NULL) return HA_ERR_MEMORY;
    task->f = f;
    if (bytes > 0) memcpy(task->argument, argument, bytes);
    return ha_cuda_launch(queue, task);
}

HA_IN_ ha_status ha_cuda_stamp(void *queue, uint64_t *ns) {
    ha_cuda_task *task = ha_cuda_task_make(ha_cuda_run_stamp, 0);
    if (task == NULL) return HA_ERR_MEMORY;
    task->ns = ns;
    return ha_cuda_launch((ha_cuda_queue *)queue, task);
}

static const ha_queue_ops ha_cuda_queue_ops = {
    .bytes = sizeof(ha_queue_ops),
    .version = HA_BACKEND_VERSION,
    .create = ha_cuda_create,
    .destroy = ha_cuda_destroy,
    .copy = ha_cuda_copy,
    .call = ha_cuda_call,
    .record = ha_cuda_record,
    .await = ha_cuda_await,
    .finish = ha_cuda_finish,
    .done = ha_cuda_done,
    .drain = ha_cuda_drain,
    .fill = ha_cuda_fill,
    .forget = ha_cuda_forget,
    .native = ha_cuda_native,
    .adopt = ha_cuda_adopt,
    .adopt_event = ha_cuda_adopt_event,
    .copy_strided = ha_cuda_copy_strided,
    .stamp = ha_cuda_stamp,
    .launch = ha_cuda_launch_kernel,
    .launch_native = ha_cuda_launch_kernel,
};

#endif
