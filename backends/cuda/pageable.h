/* Copies between pageable host memory and a CUDA device.
 *
 * The driver would read a small source when the copy is enqueued, not when its turn comes, and
 * would let the caller wait for a large one, or for any target. So such copies pass through pinned
 * chunks of the queue: a task (task.h) copies between pageable memory and a chunk, of large copies
 * with a team (copy_threads.h), the driver between the chunk and the device. In a chunk, pieces of
 * memory lie behind each other. There are two lanes, each with a chunk: the queue's own stream, and
 * one beside it, which begins behind the queue's position and which the queue then waits for.
 * Batches (pieces.h) take them in turn, so that the task of one runs while the other's bytes move.
 * Whatever uses a chunk is in the queue's order, so it is never used twice at once.
 *
 * Where chunks cannot be had, smaller ones are tried, and then the copy fails with HA_ERR_MEMORY:
 * everything else would make the caller wait. When it fails after its first batch, the queue is
 * drained before that is told; some bytes of the target may have changed then. */
#ifndef HARRAY_BACKENDS_CUDA_PAGEABLE_H
#define HARRAY_BACKENDS_CUDA_PAGEABLE_H

#include "pieces.h"
#include "queue.h"

#define HA_CUDA_CHUNK_ ((size_t)4 << 20)
#define HA_CUDA_TEAM_CHUNK_ ((size_t)8 << 20) /* where a team copies; reckoned, not measured */
#define HA_CUDA_LEAST_CHUNK_ ((size_t)64 << 10)
#define HA_CUDA_SMALL_ ((size_t)64 << 10) /* what the driver reads at once, when it is enqueued */

/* Copies are divided by this, so that little of them does not overlap; but what a batch costs by
 * itself should not show. */
enum { HA_CUDA_BATCHES = 8 };
#define HA_CUDA_LEAST_BATCH_ ((size_t)512 << 10)
#define HA_CUDA_TEAM_BATCH_ ((size_t)1 << 20) /* at least, for a team */

/* ---- chunks and lanes: with their lock held, in the device's context ---- */

/* Both chunks, or none. */
HA_IN_ ha_cu_result ha_cuda_chunks_take(ha_cuda_queue *queue, size_t bytes, const char **name) {
    ha_cuda_device *device = queue->device;
    void *chunk[2] = {NULL, NULL};
    ha_cu_result code = ha_cuda_try_take(device, &device->pinned, bytes, &chunk[0], name);
    if (code != HA_CU_SUCCESS) return code;
    code = ha_cuda_try_take(device, &device->pinned, bytes, &chunk[1], name);
    if (code != HA_CU_SUCCESS) {
        ha_cuda_give(device, &device->pinned, chunk[0], bytes);
        return code;
    }
    queue->lanes.chunk[0] = chunk[0];
    queue->lanes.chunk[1] = chunk[1];
    queue->lanes.bytes = bytes;
    return code;
}

HA_IN_ ha_status ha_cuda_chunks_make(ha_cuda_queue *queue) {
    const char *name = NULL;
    ha_cu_result code = HA_CU_OUT_OF_MEMORY;
    const size_t most = queue->device->team.size > 1 ? HA_CUDA_TEAM_CHUNK_ : HA_CUDA_CHUNK_;
    if (queue->lanes.bytes > 0) return HA_OK;
    for (size_t bytes = most; bytes >= HA_CUDA_LEAST_CHUNK_ && code == HA_CU_OUT_OF_MEMORY;
         bytes /= 2)
        code = ha_cuda_chunks_take(queue, bytes, &name);
    return ha_cuda_check(queue->device, code, name);
}

/* The second lane. What is made stays, also when the rest fails. */
HA_IN_ ha_status ha_cuda_side_make(ha_cuda_queue *queue) {
    ha_cuda_device *device = queue->device;
    ha_cu_stream side = NULL;
    ha_status status = HA_OK;
    if (queue->lanes.behind == NULL)
        status = HA_CUDA_TRY_(device, EventCreate, &queue->lanes.behind, HA_CU_EVENT_NO_TIMING);
    if (status == HA_OK && queue->lanes.joined == NULL)
        status = HA_CUDA_TRY_(device, EventCreate, &queue->lanes.joined, HA_CU_EVENT_NO_TIMING);
    if (status != HA_OK || queue->lanes.side != NULL) return status;
    status = HA_CUDA_TRY_(device, StreamCreate, &side, HA_CU_STREAM_NON_BLOCKING);
    if (status == HA_OK) __atomic_store_n(&queue->lanes.side, side, __ATOMIC_RELEASE);
    return status;
}

/* `waiter` goes on behind what `stream` has now. */
HA_IN_ ha_status ha_cuda_follow(ha_cuda_device *device, ha_cu_stream waiter, ha_cu_stream stream,
                                ha_cu_event event) {
    ha_status status = HA_CUDA_TRY_(device, EventRecord, event, stream);
    return status != HA_OK ? status : HA_CUDA_TRY_(device, StreamWaitEvent, waiter, event, 0);
}

/* ---- tasks for all batches, before anything is enqueued ---- */

typedef struct ha_cuda_transfer {
    ha_strided_copy box;
    int up;      /* to the device */
    int at_once; /* the caller itself fills the chunk; one batch */
    ha_cuda_cut cut;
    size_t batches;
    ha_cuda_team *team;  /* NULL: a thread of the driver copies alone */
    ha_cuda_task *tasks; /* one for each batch that has none yet */
    int begun;           /* something of it is enqueued */
} ha_cuda_transfer;

HA_IN_ void ha_cuda_transfer_free(ha_cuda_transfer *transfer) {
    while (transfer->tasks != NULL) {
        ha_cuda_task *task = transfer->tasks;
        transfer->tasks = task->next;
        HARRAY_FREE(task);
    }
}

/* `least`, `most`: bytes of a batch, of a chunk. */
HA_IN_ size_t ha_cuda_step_of(size_t bytes, size_t least, size_t most) {
    size_t step = ha_round_up(bytes / HA_CUDA_BATCHES, HA_CUDA_LEAST_CHUNK_);
    if (step < least) step = least;
    return step < most ? step : most;
}

/* Into what fits in a chunk, and what the driver takes in one go; the host's rows do not matter. */
HA_IN_ void ha_cuda_transfer_cut(ha_cuda_transfer *transfer, size_t chunk) {
    const ha_strided_copy *box = &transfer->box;
    const size_t least = transfer->team ? HA_CUDA_TEAM_BATCH_ : HA_CUDA_LEAST_BATCH_;
    transfer->cut = ha_cuda_cut_of(box, ha_cuda_step_of(ha_strided_total(box), least, chunk));
    if (ha_cuda_is_far(transfer->up ? box->to_step : box->from_step))
        transfer->cut.rows = transfer->cut.planes = 1;
    transfer->batches = ha_cuda_batches(box, &transfer->cut);
}

HA_IN_ ha_status ha_cuda_transfer_reserve(ha_cuda_transfer *transfer) {
    for (size_t i = 0; i < transfer->batches && !transfer->at_once; i++) {
        ha_cuda_task *task = ha_cuda_task_make(ha_cuda_run_copy, 0);
        if (task == NULL) {
            ha_cuda_transfer_free(transfer);
            return HA_ERR_MEMORY;
        }
        task->next = transfer->tasks;
        transfer->tasks = task;
    }
    return HA_OK;
}

/* ---- the batches ---- */

/* Between pageable memory and a chunk. */
HA_IN_ ha_status ha_cuda_batch_task(ha_cuda_queue *queue, ha_cuda_transfer *transfer,
                                    ha_cu_stream stream, const ha_strided_copy *box) {
    ha_cuda_task *task = transfer->tasks, *others = task->next;
    ha_status status;
    task->copy = ha_strided_fold(box);
    task->team = transfer->team;
    transfer->tasks = others;
    status = ha_cuda_task_launch(queue->device, &queue->tasks, stream, task);
    if (status == HA_OK) {
        transfer->begun = 1;
        return status;
    }
    task->next = others;
    transfer->tasks = task;
    return status;
}

/* Between a chunk and the device. */
HA_IN_ ha_status ha_cuda_batch_send(ha_cuda_device *device, ha_cu_stream stream,
                                    const ha_strided_copy *batch, int up) {
    const ha_strided_copy box = ha_cuda_box_of(batch);
    ha_cu_copy3d copy;
    if (ha_cuda_is_one(&box)) {
        if (up)
            return HA_CUDA_TRY_(device, MemcpyHtoDAsync, (uintptr_t)box.to, box.from, box.bytes,
                                stream);
        return HA_CUDA_TRY_(device, MemcpyDtoHAsync, box.to, (uintptr_t)box.from, box.bytes,
                            stream);
    }
    copy = ha_cuda_copy3d_of(&box);
    return HA_CUDA_TRY_(device, Memcpy3DAsync, &copy, stream);
}

HA_IN_ ha_status ha_cuda_batch(ha_cuda_queue *queue, ha_cuda_transfer *transfer, size_t number) {
    const ha_strided_copy box = ha_cuda_batch_of(&transfer->box, &transfer->cut, number);
    int odd = number % 2;
    ha_cu_stream stream = odd ? queue->lanes.side : queue->stream;
    void *chunk = queue->lanes.chunk[odd];
    const ha_strided_copy in = ha_cuda_box_to(box, chunk), out = ha_cuda_box_from(box, chunk);
    ha_status status;
    if (transfer->up) {
        if (transfer->at_once)
            ha_strided_copy_all(&in, 1);
        else if ((status = ha_cuda_batch_task(queue, transfer, stream, &in)) != HA_OK)
            return status;
        return ha_cuda_batch_send(queue->device, stream, &out, 1);
    }
    status = ha_cuda_batch_send(queue->device, stream, &in, 0);
    if (status != HA_OK) return status;
    transfer->begun = 1;
    return ha_cuda_batch_task(queue, transfer, stream, &out);
}

HA_IN_ ha_status ha_cuda_all_batches(ha_cuda_queue *queue, ha_cuda_transfer *transfer) {
    int two = transfer->batches > 1;
    ha_status status = HA_OK;
    if (two)
        status = ha_cuda_follow(queue->device, queue->lanes.side, queue->stream,
                                queue->lanes.behind);
    for (size_t i = 0; i < transfer->batches && status == HA_OK; i++)
        status = ha_cuda_batch(queue, transfer, i);
    if (two && status == HA_OK)
        status = ha_cuda_follow(queue->device, queue->stream, queue->lanes.side,
                                queue->lanes.joined);
    return status;
}

/* Nothing of a copy that failed is under way any more. Nobody else is waited for, who may wait for the
 * lanes, which this thread has. */
HA_IN_ ha_status ha_cuda_copy_end(ha_cuda_queue *queue, int begun, ha_status status) {
    if (status == HA_OK || !begun) return status;
    ha_cuda_drain_now(queue);
    return atomic_load(&queue->failed) ? HA_ERR_LOST : status;
}

/* Where nothing is in front of a copy, it does not matter that its source is read now. */
HA_IN_ ha_status ha_cuda_is_idle(ha_cuda_queue *queue, int *idle) {
    ha_cu_result code = ha_cu.StreamQuery(queue->stream);
    *idle = code != HA_CU_NOT_READY;
    return *idle ? ha_cuda_check(queue->device, code, ha_cuda_names.StreamQuery) : HA_OK;
}

/* Of one batch: nobody uses the chunk of an idle queue. With the lanes' lock held. */
HA_IN_ ha_status ha_cuda_transfer_now(ha_cuda_queue *queue, ha_cuda_transfer *transfer) {
    const ha_strided_copy *box = &transfer->box;
    if (!transfer->up || ha_cuda_is_one(box) || transfer->batches > 1) return HA_OK;
    if (ha_strided_total(box) > HA_CUDA_SMALL_) return HA_OK;
    return ha_cuda_is_idle(queue, &transfer->at_once);
}

HA_IN_ ha_status ha_cuda_copy_in_batches(ha_cuda_queue *queue, ha_cuda_transfer *transfer) {
    const size_t total = ha_strided_total(&transfer->box);
    ha_status status;
    pthread_mutex_lock(&queue->lanes.lock);
    status = ha_cuda_chunks_make(queue);
    if (status == HA_OK) {
        transfer->team = ha_cuda_team_for(&queue->device->team, total);
        ha_cuda_transfer_cut(transfer, queue->lanes.bytes);
        status = ha_cuda_transfer_now(queue, transfer);
    }
    if (status == HA_OK && transfer->batches > 1) status = ha_cuda_side_make(queue);
    if (status == HA_OK) status = ha_cuda_transfer_reserve(transfer);
    if (status == HA_OK) {
        status = ha_cuda_all_batches(queue, transfer);
        status = ha_cuda_copy_end(queue, transfer->begun, status);
    }
    ha_cuda_transfer_free(transfer);
    pthread_mutex_unlock(&queue->lanes.lock);
    return status;
}

/* By the driver, which reads the source now. */
HA_IN_ ha_status ha_cuda_copy_small_up(ha_cuda_queue *queue, const ha_strided_copy *box,
                                       int *done) {
    ha_cu_result code;
    ha_status status = ha_cuda_is_idle(queue, done);
    if (status != HA_OK || !*done) return status;
    code = ha_cu.MemcpyHtoDAsync((uintptr_t)box->to, box->from, box->bytes, queue->stream);
    *done = code != HA_CU_INVALID_VALUE; /* it takes nothing of which parts are pinned */
    return *done ? ha_cuda_check(queue->device, code, ha_cuda_names.MemcpyHtoDAsync) : HA_OK;
}

/* ---- copies that touch pageable memory ---- */

HA_IN_ ha_status ha_cuda_copy_pageable(ha_cuda_queue *queue, const ha_strided_copy *box, int up) {
    ha_cuda_transfer transfer = {.box = *box, .up = up};
    ha_status status;
    int done = 0;
    if (up && ha_cuda_is_one(box) && box->bytes <= HA_CUDA_SMALL_) {
        status = ha_cuda_copy_small_up(queue, box, &done);
        if (done) return status;
    }
    return ha_cuda_copy_in_batches(queue, &transfer);
}

/* Between host memories the driver would copy while the caller waits, also pinned ones: a task. */
HA_IN_ ha_status ha_cuda_copy_on_host(ha_cuda_queue *queue, const ha_strided_copy *box) {
    ha_cuda_task *task = ha_cuda_task_make(ha_cuda_run_copy, 0);
    ha_status status;
    if (task == NULL) return HA_ERR_MEMORY;
    task->copy = ha_strided_fold(box);
    status = ha_cuda_task_launch(queue->device, &queue->tasks, queue->stream, task);
    if (status != HA_OK) HARRAY_FREE(task);
    return status;
}

#endif
