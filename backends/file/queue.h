/* A queue of file:0: a list of commands, and a thread that works it off in order.
 *
 * An event is the queue and the number of commands that were enqueued before it; it has happened when that
 * many are finished. The first command that fails is the end of its queue: `limit` says how many it will
 * ever have finished, and all others are dropped. */
#ifndef HARRAY_BACKENDS_FILE_QUEUE_H
#define HARRAY_BACKENDS_FILE_QUEUE_H

#include "../backend.h"
#include "../common/clock.h"
#include "../common/strided_copy.h"
#include "../common/worker_thread.h"
#include "../../harray/detail/locks.h"
#include "device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

typedef struct ha_file_queue ha_file_queue;
typedef struct ha_file_command ha_file_command;

struct ha_file_command {
    ha_file_command *next;
    /* In the queue's thread. 0, or the system's error number; ECANCELED: what it waits for never happens. */
    int (*run)(ha_file_queue *queue, ha_file_command *command);
    ha_strided_copy copy;
    char *to;            /* of a fill */
    size_t bytes, count; /* bytes of data; how often they are written */
    ha_event event;      /* of a wait; its queue is owned until then. Without an object: no wait */
    uint64_t *ns;        /* of a stamp */
    ha_function f;       /* of tests (tests/support/disk_backend.h) */
    _Alignas(max_align_t) unsigned char data[];
};

struct ha_file_queue {
    ha_file_device *device;
    pthread_t thread;
    void *memory;                /* of the page, */
    char *page;                  /* HA_FILE_PIECE_ bytes, aligned; the thread's own */
    atomic_uint_fast32_t owners; /* its creator, and commands elsewhere that wait for it */
    _Atomic uint64_t finished;   /* commands; written under the lock */
    _Atomic uint64_t limit;      /* of `finished`, for ever; UINT64_MAX: the queue has not failed */
    int error;                   /* why it has; set before the limit */
    pthread_mutex_t lock;        /* of everything below */
    pthread_cond_t work;         /* for the thread: there may be something to do */
    pthread_cond_t progress;     /* for waiters */
    ha_file_command *head, **tail, *running;
    uint64_t enqueued;
    int closing;
};

/* ---- waiting ---- */

HA_IN_ int ha_file_has_happened(const ha_event *event) {
    ha_file_queue *queue = (ha_file_queue *)event->object;
    return atomic_load_explicit(&queue->finished, memory_order_acquire) >= event->value;
}

HA_IN_ int ha_file_never_happens(const ha_event *event) {
    ha_file_queue *queue = (ha_file_queue *)event->object;
    return atomic_load_explicit(&queue->limit, memory_order_acquire) < event->value;
}

HA_IN_ int ha_file_has_failed(ha_file_queue *queue) {
    return atomic_load_explicit(&queue->limit, memory_order_acquire) != UINT64_MAX;
}

/* Reports why a queue has failed. */
HA_IN_ ha_status ha_file_lost(const ha_file_queue *queue) {
    if (queue->error == ECANCELED)
        ha_backend_report(0, "file:0: what the queue has waited for never happens");
    else
        ha_file_report(queue->error, "file:0: the queue has failed");
    return HA_ERR_LOST;
}

/* 1: it has happened, 0: it never will. */
HA_IN_ int ha_file_wait(const ha_event *event) {
    ha_file_queue *queue = (ha_file_queue *)event->object;
    if (ha_file_has_happened(event)) return 1;
    pthread_mutex_lock(&queue->lock);
    while (!ha_file_has_happened(event) && !ha_file_never_happens(event))
        pthread_cond_wait(&queue->progress, &queue->lock);
    pthread_mutex_unlock(&queue->lock);
    return ha_file_has_happened(event);
}

HA_IN_ void ha_file_disown(ha_file_queue *queue) {
    if (atomic_fetch_sub_explicit(&queue->owners, 1, memory_order_acq_rel) != 1) return;
    pthread_cond_destroy(&queue->progress);
    pthread_cond_destroy(&queue->work);
    pthread_mutex_destroy(&queue->lock);
    HARRAY_FREE(queue->memory);
    HARRAY_FREE(queue);
}

HA_IN_ void ha_file_discard(ha_file_command *command) {
    if (command->event.object != NULL) ha_file_disown((ha_file_queue *)command->event.object);
    HARRAY_FREE(command);
}

/* ---- what commands do ---- */

/* The bytes from `first` to before `last` of a copy, one of whose sides is in the file, between there and
 * the page, where they lie behind each other. Pieces that touch in the file are moved together. */
HA_IN_ int ha_file_move_pieces(ha_file_queue *queue, const ha_strided_copy *copy, int writing,
                               size_t first, size_t last) {
    const ha_file_device *device = queue->device;
    ha_file_storage *storage = &queue->device->storage;
    ha_strided_cursor c = ha_strided_seek(copy, first / copy->bytes);
    size_t at = first % copy->bytes, gathered = 0;
    uint64_t begin = 0;
    char *page = queue->page;
    while (first < last) {
        const uintptr_t address = (uintptr_t)(writing ? (const char *)c.to : c.from) + at;
        const uint64_t offset = address - device->first;
        size_t bytes = copy->bytes - at;
        if (bytes > last - first) bytes = last - first;
        if (gathered > 0 && offset != begin + gathered) {
            const int error = ha_file_transfer(storage, writing, page, begin, gathered);
            if (error) return error;
            page += gathered;
            gathered = 0;
        }
        if (gathered == 0) begin = offset;
        gathered += bytes;
        first += bytes;
        at = 0;
        ha_strided_advance(&c, 1);
    }
    return ha_file_transfer(storage, writing, page, begin, gathered);
}

/* The same between the host and the page. */
HA_IN_ void ha_file_pack_pieces(ha_file_queue *queue, const ha_strided_copy *copy, int unpacking,
                                size_t first, size_t last) {
    ha_strided_copy packed = *copy;
    size_t *step = unpacking ? packed.from_step : packed.to_step, extent = packed.bytes;
    void *start = (void *)((uintptr_t)queue->page - first); /* where byte 0 would be */
    if (unpacking)
        packed.from = start;
    else
        packed.to = start;
    for (int k = 0; k < packed.levels; k++) {
        step[k] = extent;
        extent *= packed.count[k];
    }
    ha_strided_copy_part(&packed, first, last);
}

/* Any copy, by the page. */
HA_IN_ int ha_file_copy_by_page(ha_file_queue *queue, const ha_strided_copy *copy) {
    const size_t total = ha_strided_total(copy);
    const int reads = ha_file_has(queue->device, copy->from);
    const int writes = ha_file_has(queue->device, copy->to);
    for (size_t first = 0, last; first < total; first = last) {
        int error = 0;
        last = total - first < HA_FILE_PIECE_ ? total : first + HA_FILE_PIECE_;
        if (reads)
            error = ha_file_move_pieces(queue, copy, 0, first, last);
        else
            ha_file_pack_pieces(queue, copy, 0, first, last);
        if (error) return error;
        if (writes)
            error = ha_file_move_pieces(queue, copy, 1, first, last);
        else
            ha_file_pack_pieces(queue, copy, 1, first, last);
        if (error) return error;
    }
    return 0;
}

/* Whether a copy between file and host goes past the system's cache only by the page: the caller's memory, and small
 * blocks of the host, begin anywhere. */
HA_IN_ int ha_file_needs_page(const ha_file_device *device, const ha_strided_copy *copy) {
    const uintptr_t apart = (uintptr_t)copy->to - (uintptr_t)copy->from;
    return atomic_load_explicit(&device->storage.direct, memory_order_relaxed) >= 0 &&
           copy->bytes >= HA_FILE_DIRECT_ &&
           apart % atomic_load_explicit(&device->storage.sector, memory_order_relaxed) != 0;
}

HA_IN_ int ha_file_run_copy(ha_file_queue *queue, ha_file_command *command) {
    ha_file_device *device = queue->device;
    const ha_strided_copy *copy = &command->copy;
    const int writes = ha_file_has(device, copy->to);
    if (copy->levels > 0 || writes == ha_file_has(device, copy->from) ||
        ha_file_needs_page(device, copy))
        return ha_file_copy_by_page(queue, copy);
    if (writes)
        return ha_file_transfer(&device->storage, 1, (char *)(uintptr_t)copy->from,
                                (uintptr_t)copy->to - device->first, copy->bytes);
    return ha_file_transfer(&device->storage, 0, (char *)copy->to,
                            (uintptr_t)copy->from - device->first, copy->bytes);
}

/* The page is filled with as many values as it has room for. */
HA_IN_ int ha_file_run_fill(ha_file_queue *queue, ha_file_command *command) {
    ha_file_device *device = queue->device;
    const size_t total = command->bytes * command->count;
    const size_t room = HA_FILE_PIECE_ - HA_FILE_PIECE_ % command->bytes;
    const size_t filled = total < room ? total : room;
    uint64_t offset = (uintptr_t)command->to - device->first;
    int error = 0;
    memcpy(queue->page, command->data, command->bytes);
    for (size_t n = command->bytes; n < filled;) {
        const size_t more = n < filled - n ? n : filled - n;
        memcpy(queue->page + n, queue->page, more);
        n += more;
    }
    for (size_t left = total; left > 0 && !error;) {
        const size_t bytes = left < filled ? left : filled;
        error = ha_file_transfer(&device->storage, 1, queue->page, offset, bytes);
        offset += bytes;
        left -= bytes;
    }
    return error;
}

HA_IN_ int ha_file_run_await(ha_file_queue *queue, ha_file_command *command) {
    (void)queue;
    return ha_file_wait(&command->event) ? 0 : ECANCELED;
}

HA_IN_ int ha_file_run_stamp(ha_file_queue *queue, ha_file_command *command) {
    (void)queue;
    ha_clock_stamp(command->ns);
    return 0;
}

/* ---- the thread ---- */

/* Nothing that is enqueued will happen. */
HA_IN_ void ha_file_break(ha_file_queue *queue, int error) HA_REQUIRES_(queue->lock) {
    queue->error = error;
    atomic_store_explicit(&queue->limit,
                          atomic_load_explicit(&queue->finished, memory_order_relaxed),
                          memory_order_release);
    while (queue->head != NULL) {
        ha_file_command *command = queue->head;
        queue->head = command->next;
        ha_file_discard(command);
    }
    queue->tail = &queue->head;
}

/* The next command; NULL when the queue is closed. */
HA_IN_ ha_file_command *ha_file_take(ha_file_queue *queue) HA_REQUIRES_(queue->lock) {
    while (queue->head == NULL && !queue->closing) pthread_cond_wait(&queue->work, &queue->lock);
    ha_file_command *command = queue->head;
    if (command == NULL) return NULL;
    queue->head = command->next;
    queue->running = command; /* in a forked child nobody else has it */
    if (queue->head == NULL) queue->tail = &queue->head;
    return command;
}

HA_IN_ void *ha_file_thread(void *handle) {
    ha_file_queue *queue = (ha_file_queue *)handle;
    ha_file_command *command;
    pthread_mutex_lock(&queue->lock);
    while ((command = ha_file_take(queue)) != NULL) {
        pthread_mutex_unlock(&queue->lock);
        const int error = command->run(queue, command);
        ha_file_discard(command);
        pthread_mutex_lock(&queue->lock);
        queue->running = NULL;
        if (error)
            ha_file_break(queue, error);
        else
            atomic_fetch_add_explicit(&queue->finished, 1, memory_order_release);
        pthread_cond_broadcast(&queue->progress);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* ---- making a queue and ending it ---- */

enum { HA_FILE_STACK = 1 << 20 }; /* bytes */

HA_IN_ ha_file_queue *ha_file_queue_make(ha_file_device *device) {
    ha_file_queue *queue = (ha_file_queue *)HARRAY_MALLOC(sizeof *queue);
    if (queue == NULL) return NULL;
    memset(queue, 0, sizeof *queue);
    queue->memory = HARRAY_MALLOC(HA_FILE_PIECE_ + HA_FILE_UNIT_);
    if (queue->memory == NULL) {
        HARRAY_FREE(queue);
        return NULL;
    }
    queue->page = (char *)ha_round_up((uintptr_t)queue->memory, HA_FILE_UNIT_);
    queue->device = device;
    queue->tail = &queue->head;
    atomic_init(&queue->owners, 1);
    atomic_init(&queue->finished, 0);
    atomic_init(&queue->limit, UINT64_MAX);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->work, NULL);
    pthread_cond_init(&queue->progress, NULL);
    return queue;
}

HA_IN_ ha_status ha_file_create(void *device, void **made) {
    ha_file_queue *queue = ha_file_queue_make((ha_file_device *)device);
    int error;
    if (queue == NULL) return HA_ERR_MEMORY;
    error = ha_quiet_thread(&queue->thread, HA_FILE_STACK, ha_file_thread, queue);
    if (error) {
        ha_file_report(error, "file: cannot start a thread for the queue");
        ha_file_disown(queue);
        return HA_ERR_BACKEND;
    }
    *made = queue;
    return HA_OK;
}

HA_IN_ void ha_file_destroy(void *handle) {
    ha_file_queue *queue = (ha_file_queue *)handle;
    pthread_mutex_lock(&queue->lock);
    queue->closing = 1;
    pthread_cond_signal(&queue->work);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    ha_file_disown(queue);
}

/* ---- enqueueing ---- */

/* Appends a command with a copy of the `bytes` bytes at `data`. */
HA_IN_ ha_status ha_file_enqueue(ha_file_queue *queue, const ha_file_command *model,
                                 const void *data, size_t bytes) {
    ha_file_command *command;
    int failed;
    if (bytes > SIZE_MAX - sizeof *command) return HA_ERR_MEMORY;
    command = (ha_file_command *)HARRAY_MALLOC(sizeof *command + bytes);
    if (command == NULL) return HA_ERR_MEMORY;
    *command = *model;
    command->bytes = bytes;
    if (bytes > 0) memcpy(command->data, data, bytes);
    if (command->event.object != NULL) {
        ha_file_queue *other = (ha_file_queue *)command->event.object;
        atomic_fetch_add_explicit(&other->owners, 1, memory_order_relaxed);
    }
    pthread_mutex_lock(&queue->lock);
    failed = ha_file_has_failed(queue);
    if (!failed) {
        *queue->tail = command;
        queue->tail = &command->next;
        queue->enqueued++;
        pthread_cond_signal(&queue->work);
    }
    pthread_mutex_unlock(&queue->lock);
    if (!failed) return HA_OK;
    ha_file_discard(command);
    return ha_file_lost(queue);
}

HA_IN_ ha_status ha_file_copy(void *queue, void *to, const void *from, size_t bytes) {
    const ha_file_command command = {.run = ha_file_run_copy,
                                     .copy = {.to = to, .from = from, .bytes = bytes}};
    return ha_file_enqueue((ha_file_queue *)queue, &command, NULL, 0);
}

/* Rows, and planes of rows. Small values of record arrays are put into place by the host. */
HA_IN_ ha_status ha_file_copy_strided(void *queue, const ha_strided_copy *copies, size_t n) {
    if (n != 1 || !ha_strided_is_pitched(copies)) return HA_ERR_UNSUPPORTED;
    const ha_file_command command = {.run = ha_file_run_copy, .copy = *copies};
    return ha_file_enqueue((ha_file_queue *)queue, &command, NULL, 0);
}

HA_IN_ ha_status ha_file_fill(void *queue, void *to, const void *value, size_t bytes,
                              size_t count) {
    const ha_file_command command = {.run = ha_file_run_fill, .to = (char *)to, .count = count};
    if (bytes > HA_FILE_PIECE_) return HA_ERR_UNSUPPORTED;
    return ha_file_enqueue((ha_file_queue *)queue, &command, value, bytes);
}

HA_IN_ ha_status ha_file_call(void *queue, ha_function f, const void *argument, size_t bytes) {
    (void)queue, (void)f, (void)argument, (void)bytes;
    ha_backend_report(0, "file:0 has no processor");
    return HA_ERR_UNSUPPORTED;
}

HA_IN_ ha_status ha_file_await(void *queue, const ha_event *event) {
    const ha_file_command command = {.run = ha_file_run_await, .event = *event};
    return ha_file_enqueue((ha_file_queue *)queue, &command, NULL, 0);
}

HA_IN_ ha_status ha_file_stamp(void *queue, uint64_t *ns) {
    const ha_file_command command = {.run = ha_file_run_stamp, .ns = ns};
    return ha_file_enqueue((ha_file_queue *)queue, &command, NULL, 0);
}

/* ---- events ---- */

HA_IN_ ha_status ha_file_record(void *handle, ha_event *event) {
    ha_file_queue *queue = (ha_file_queue *)handle;
    if (ha_file_has_failed(queue)) return ha_file_lost(queue);
    pthread_mutex_lock(&queue->lock);
    *event = (ha_event){queue, queue->enqueued};
    pthread_mutex_unlock(&queue->lock);
    return HA_OK;
}

HA_IN_ ha_status ha_file_finish(const ha_event *event) {
    return ha_file_wait(event) ? HA_OK : ha_file_lost((ha_file_queue *)event->object);
}

HA_IN_ int ha_file_done(const ha_event *event) {
    if (ha_file_has_happened(event)) return 1;
    return ha_file_never_happens(event) ? -1 : 0;
}

/* A command that fails has ended when the limit is set. */
HA_IN_ void ha_file_drain(void *handle) {
    ha_file_queue *queue = (ha_file_queue *)handle;
    ha_event end = {queue, 0};
    pthread_mutex_lock(&queue->lock);
    end.value = queue->enqueued;
    pthread_mutex_unlock(&queue->lock);
    (void)ha_file_wait(&end);
}

static const ha_queue_ops ha_file_queue_ops = {
    .bytes = sizeof(ha_queue_ops),
    .version = HA_BACKEND_VERSION,
    .create = ha_file_create,
    .destroy = ha_file_destroy,
    .copy = ha_file_copy,
    .call = ha_file_call,
    .record = ha_file_record,
    .await = ha_file_await,
    .finish = ha_file_finish,
    .done = ha_file_done,
    .drain = ha_file_drain,
    .fill = ha_file_fill,
    .copy_strided = ha_file_copy_strided,
    .stamp = ha_file_stamp,
};

#endif
