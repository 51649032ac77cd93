/* The simulated device's queue: a list of commands, and a thread that works it off in order.
 *
 * An event is the queue and the number of commands that were enqueued before it, so recording one
 * takes no memory; it has happened when that many commands are finished.
 *
 * A queue that fails gets a limit, the number of commands that it will ever have finished. The one
 * that is running still ends, except for a wait; all others are dropped. */
#ifndef HARRAY_BACKENDS_SIM_QUEUE_H
#define HARRAY_BACKENDS_SIM_QUEUE_H

#include "../backend.h"
#include "../common/worker_thread.h"
#include "../../harray/detail/locks.h"
#include "device.h"
#include "pace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

typedef enum ha_sim_kind {
    HA_SIM_COPY,
    HA_SIM_CALL,
    HA_SIM_FILL,
    HA_SIM_AWAIT,
    HA_SIM_STAMP /* takes no time, and also happens on a held queue */
} ha_sim_kind;

typedef struct ha_sim_queue ha_sim_queue;

typedef struct ha_sim_command {
    struct ha_sim_command *next;
    ha_sim_kind kind;
    char *to;       /* fill: where the bytes are */
    size_t bytes;   /* call: of the argument; fill: of the value */
    size_t count;   /* copies; fill: values */
    int slow;       /* a copy over the link, whose bandwidth is limited */
    ha_function f;  /* call */
    ha_event event; /* await; its queue is owned until then */
    uint64_t *ns;   /* stamp */
    int kept;       /* has room for HA_SIM_LARGE bytes, and is used again */
    _Alignas(max_align_t) unsigned char data[]; /* the argument, the value, or the copies */
} ha_sim_command;

/* Commands with more than a small and no more than a large argument are kept for the next ones: malloc
 * gives memory of that size back to the system and takes it from there again, page by page, which takes ten
 * times as long as copying the argument. */
enum { HA_SIM_SMALL = 1000, HA_SIM_LARGE = 8 << 10, HA_SIM_SPARES = 64 };

struct ha_sim_queue {
    ha_sim_device *device;
    pthread_t thread;
    uint64_t random;             /* state of the delays; the thread's own */
    atomic_uint_fast32_t owners; /* its creator, and commands elsewhere that wait for it */
    _Atomic uint64_t finished;   /* commands; written under the lock */
    _Atomic uint64_t limit;      /* of `finished`, for ever; UINT64_MAX: the queue has not failed */
    pthread_mutex_t lock;        /* of everything below */
    pthread_cond_t work;         /* for the thread: there may be something to do */
    pthread_cond_t progress;     /* for waiters: `finished` has reached `wanted` */
    ha_sim_command *head, **tail, *running;
    ha_sim_command *spare; /* kept; NULL: none */
    int spares;            /* how many */
    uint64_t enqueued;
    uint64_t wanted; /* the first position that somebody waits for; UINT64_MAX: nobody does */
    int64_t credit;  /* commands that may start; negative: any number */
    int idle;        /* the thread waits for work */
    int closing;
};

/* ---- waiting ---- */

HA_IN_ int ha_sim_has_happened(const ha_event *event) {
    ha_sim_queue *queue = (ha_sim_queue *)event->object;
    return atomic_load_explicit(&queue->finished, memory_order_acquire) >= event->value;
}

HA_IN_ int ha_sim_never_happens(const ha_event *event) {
    ha_sim_queue *queue = (ha_sim_queue *)event->object;
    return atomic_load_explicit(&queue->limit, memory_order_acquire) < event->value;
}

HA_IN_ int ha_sim_has_failed(ha_sim_queue *queue) {
    return atomic_load_explicit(&queue->limit, memory_order_acquire) != UINT64_MAX;
}

/* Until the queue gets as far as `position`, or fails. */
HA_IN_ void ha_sim_wait_progress(ha_sim_queue *queue, uint64_t position) HA_REQUIRES_(queue->lock) {
    if (queue->wanted > position) queue->wanted = position;
    pthread_cond_wait(&queue->progress, &queue->lock);
}

/* waiter: the queue that waits, NULL: none does. HA_ERR_LOST: that queue has failed, or the event's
 * has, and it never happens. */
HA_IN_ ha_status ha_sim_wait(const ha_event *event, ha_sim_queue *waiter) {
    ha_sim_queue *queue = (ha_sim_queue *)event->object;
    ha_status status = HA_OK;
    if (ha_sim_has_happened(event)) return status;
    pthread_mutex_lock(&queue->lock);
    while (!ha_sim_has_happened(event) && status == HA_OK) {
        if (ha_sim_never_happens(event) || (waiter != NULL && ha_sim_has_failed(waiter))) {
            status = HA_ERR_LOST;
        } else {
            ha_sim_wait_progress(queue, event->value);
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return status;
}

/* ---- failing ---- */

HA_IN_ void ha_sim_disown(ha_sim_queue *queue) {
    if (atomic_fetch_sub_explicit(&queue->owners, 1, memory_order_acq_rel) != 1) return;
    for (ha_sim_command *next, *spare = queue->spare; spare != NULL; spare = next) {
        next = spare->next;
        HARRAY_FREE(spare);
    }
    pthread_cond_destroy(&queue->progress);
    pthread_cond_destroy(&queue->work);
    pthread_mutex_destroy(&queue->lock);
    HARRAY_FREE(queue);
}

HA_IN_ void ha_sim_discard(ha_sim_queue *queue, ha_sim_command *command) HA_REQUIRES_(queue->lock) {
    if (command->kind == HA_SIM_AWAIT) ha_sim_disown((ha_sim_queue *)command->event.object);
    if (!command->kept || queue->spares == HA_SIM_SPARES) {
        HARRAY_FREE(command);
        return;
    }
    command->next = queue->spare;
    queue->spare = command;
    queue->spares++;
}

/* Nothing that has not started will happen, nor a wait that is running. */
HA_IN_ void ha_sim_break(ha_sim_queue *queue) HA_REQUIRES_(queue->lock) {
    uint64_t limit = atomic_load_explicit(&queue->finished, memory_order_relaxed);
    if (ha_sim_has_failed(queue)) return;
    if (queue->running != NULL && queue->running->kind != HA_SIM_AWAIT) limit++;
    atomic_store_explicit(&queue->limit, limit, memory_order_release);
    while (queue->head != NULL) {
        ha_sim_command *command = queue->head;
        queue->head = command->next;
        ha_sim_discard(queue, command);
    }
    queue->tail = &queue->head;
    pthread_cond_broadcast(&queue->progress);
}

/* What ha_sim_fail() does. A wait that is running is told by the queue that it waits for. */
HA_IN_ HA_UNUSED void ha_sim_fail_queue(void *handle) {
    ha_sim_queue *queue = (ha_sim_queue *)handle, *awaited = NULL;
    pthread_mutex_lock(&queue->lock);
    ha_sim_break(queue);
    if (queue->running != NULL && queue->running->kind == HA_SIM_AWAIT) {
        awaited = (ha_sim_queue *)queue->running->event.object;
        atomic_fetch_add_explicit(&awaited->owners, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&queue->lock);
    if (awaited == NULL) return;
    pthread_mutex_lock(&awaited->lock);
    pthread_cond_broadcast(&awaited->progress);
    pthread_mutex_unlock(&awaited->lock);
    ha_sim_disown(awaited);
}

/* ---- the thread ---- */

HA_IN_ void ha_sim_pause(ha_sim_queue *queue) {
    const ha_sim_options *options = &queue->device->options;
    uint64_t pause = options->latency_ns;
    if (options->delay_ns > 0) pause += ha_sim_random(&queue->random) % (options->delay_ns + 1);
    if (pause > 0) ha_sim_sleep_until(ha_clock_ns() + pause);
}

HA_IN_ void ha_sim_move(const ha_sim_command *command, const ha_sim_device *device) {
    const ha_strided_copy *copies = (const ha_strided_copy *)(const void *)command->data;
    if (command->slow)
        ha_sim_copy_slowly(copies, device->options.bandwidth);
    else
        ha_strided_copy_all(copies, command->count);
}

/* HA_ERR_LOST: a wait for what never happens. */
HA_IN_ ha_status ha_sim_execute(ha_sim_queue *queue, ha_sim_command *command) {
    const ha_sim_device *device = queue->device;
    if (command->kind != HA_SIM_STAMP) ha_sim_pause(queue);
    switch (command->kind) {
    case HA_SIM_COPY:
        ha_sim_move(command, device);
        break;
    case HA_SIM_CALL:
        ha_queue_run(command->f, &device->here, command->bytes ? command->data : NULL);
        break;
    case HA_SIM_FILL:
        ha_sim_fill_bytes(command->to, command->data, command->bytes, command->count);
        break;
    case HA_SIM_AWAIT:
        return ha_sim_wait(&command->event, queue);
    case HA_SIM_STAMP:
        ha_clock_stamp(command->ns);
        break;
    }
    return HA_OK;
}

/* The command that was running has ended. */
HA_IN_ void ha_sim_command_ended(ha_sim_queue *queue, ha_status status) HA_REQUIRES_(queue->lock) {
    uint64_t finished = atomic_load_explicit(&queue->finished, memory_order_relaxed) + 1;
    if (status != HA_OK) ha_sim_break(queue);
    ha_sim_discard(queue, queue->running);
    queue->running = NULL;
    if (finished > atomic_load_explicit(&queue->limit, memory_order_relaxed)) return;
    atomic_store_explicit(&queue->finished, finished, memory_order_release);
    if (finished < queue->wanted) return;
    queue->wanted = UINT64_MAX;
    pthread_cond_broadcast(&queue->progress);
}

HA_IN_ int ha_sim_may_start(const ha_sim_queue *queue) {
    const ha_sim_command *next = queue->head;
    return next != NULL && (queue->credit != 0 || next->kind == HA_SIM_STAMP);
}

/* The next command that may start; NULL when the queue is closed. */
HA_IN_ ha_sim_command *ha_sim_next(ha_sim_queue *queue) HA_REQUIRES_(queue->lock) {
    ha_sim_command *command;
    while (!ha_sim_may_start(queue) && !queue->closing) {
        queue->idle = 1;
        pthread_cond_wait(&queue->work, &queue->lock);
        queue->idle = 0;
    }
    queue->running = command = queue->head;
    if (command == NULL) return NULL;
    queue->head = command->next;
    if (queue->head == NULL) queue->tail = &queue->head;
    if (queue->credit > 0 && command->kind != HA_SIM_STAMP) queue->credit--;
    return command;
}

HA_IN_ void *ha_sim_thread(void *handle) {
    ha_sim_queue *queue = (ha_sim_queue *)handle;
    ha_sim_command *command;
    ha_sim_be_punctual();
    pthread_mutex_lock(&queue->lock);
    while ((command = ha_sim_next(queue)) != NULL) {
        pthread_mutex_unlock(&queue->lock);
        ha_status status = ha_sim_execute(queue, command);
        pthread_mutex_lock(&queue->lock);
        ha_sim_command_ended(queue, status);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* ---- making a queue and ending it ---- */

enum { HA_SIM_STACK = 8 << 20 }; /* bytes; musl would give 128 KiB */

/* Different for every queue of every device, and never 0. */
HA_IN_ uint64_t ha_sim_seed(ha_sim_device *device) {
    uint64_t queue;
    pthread_mutex_lock(&ha_sim_shared.lock);
    queue = device->queues++;
    pthread_mutex_unlock(&ha_sim_shared.lock);
    queue = queue * HA_SIM_MOST_DEVICES_ + (uint64_t)device->number + 1;
    queue = device->options.seed ^ queue * UINT64_C(0x9E3779B97F4A7C15);
    return queue != 0 ? queue : 1;
}

HA_IN_ ha_status ha_sim_create(void *device, void **made) {
    ha_sim_queue *queue = (ha_sim_queue *)HARRAY_MALLOC(sizeof *queue);
    int error;
    if (queue == NULL) return HA_ERR_MEMORY;
    memset(queue, 0, sizeof *queue);
    queue->device = (ha_sim_device *)device;
    queue->random = ha_sim_seed(queue->device);
    queue->tail = &queue->head;
    queue->wanted = UINT64_MAX;
    queue->credit = -1;
    atomic_init(&queue->owners, 1);
    atomic_init(&queue->finished, 0);
    atomic_init(&queue->limit, UINT64_MAX);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->work, NULL);
    pthread_cond_init(&queue->progress, NULL);
    error = ha_quiet_thread(&queue->thread, HA_SIM_STACK, ha_sim_thread, queue);
    if (error != 0) {
        ha_backend_report(error, "sim: cannot start a thread for the queue");
        ha_sim_disown(queue);
        return HA_ERR_BACKEND;
    }
    *made = queue;
    return HA_OK;
}

HA_IN_ void ha_sim_destroy(void *handle) {
    ha_sim_queue *queue = (ha_sim_queue *)handle;
    pthread_mutex_lock(&queue->lock);
    queue->closing = 1;
    pthread_cond_signal(&queue->work);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    ha_sim_disown(queue);
}

/* ---- enqueueing ---- */

HA_IN_ ha_status ha_sim_lost(void) {
    ha_backend_report(0, "sim: the queue has failed");
    return HA_ERR_LOST;
}

HA_IN_ ha_sim_command *ha_sim_take_spare(ha_sim_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    ha_sim_command *spare = queue->spare;
    if (spare != NULL) {
        queue->spare = spare->next;
        queue->spares--;
    }
    pthread_mutex_unlock(&queue->lock);
    return spare;
}

/* A copy of a command, with room for so many bytes; NULL: no memory. */
HA_IN_ ha_sim_command *ha_sim_command_like(ha_sim_queue *queue, const ha_sim_command *model,
                                           size_t bytes) {
    const int kept = bytes > HA_SIM_SMALL && bytes <= HA_SIM_LARGE;
    ha_sim_command *command = kept ? ha_sim_take_spare(queue) : NULL;
    if (bytes > SIZE_MAX - sizeof *command) return NULL;
    if (command == NULL)
        command = (ha_sim_command *)HARRAY_MALLOC(sizeof *command + (kept ? HA_SIM_LARGE : bytes));
    if (command == NULL) return NULL;
    *command = *model;
    command->next = NULL;
    command->kept = kept;
    return command;
}

/* Appends a command with a copy of the `bytes` bytes at `data`. */
HA_IN_ ha_status ha_sim_enqueue(ha_sim_queue *queue, const ha_sim_command *model, const void *data,
                                size_t bytes) {
    ha_sim_command *command = ha_sim_command_like(queue, model, bytes);
    int wake, failed;
    if (command == NULL) return HA_ERR_MEMORY;
    if (bytes > 0) memcpy(command->data, data, bytes);
    if (command->kind == HA_SIM_AWAIT) {
        ha_sim_queue *other = (ha_sim_queue *)command->event.object;
        atomic_fetch_add_explicit(&other->owners, 1, memory_order_relaxed);
    }
    pthread_mutex_lock(&queue->lock);
    failed = ha_sim_has_failed(queue);
    if (!failed) {
        *queue->tail = command;
        queue->tail = &command->next;
        queue->enqueued++;
    } else
        ha_sim_discard(queue, command);
    wake = queue->idle && ha_sim_may_start(queue);
    pthread_mutex_unlock(&queue->lock);
    if (failed) return ha_sim_lost();
    if (wake) pthread_cond_signal(&queue->work);
    return HA_OK;
}

/* Where the bytes of a pointer are. Peers also see each other's memory. */
HA_IN_ void *ha_sim_locate(const ha_sim_device *device, const void *pointer) {
    void *located = ha_here_(&device->here, pointer);
    if (located != pointer || !device->options.peers) return located;
    pthread_mutex_lock(&ha_sim_shared.lock);
    for (int i = 0; i < HA_SIM_MOST_DEVICES_ && located == pointer; i++) {
        const ha_sim_device *peer = ha_sim_shared.open[i];
        if (peer != NULL) located = ha_here_(&peer->here, pointer);
    }
    pthread_mutex_unlock(&ha_sim_shared.lock);
    return located;
}

/* Whether a copy leaves the device, or comes from outside. */
HA_IN_ int ha_sim_crosses_link(const ha_sim_device *device, const void *to, const void *from) {
    return (ha_here_(&device->here, to) != to) != (ha_here_(&device->here, from) != from);
}

/* With the places of the bytes. */
HA_IN_ ha_strided_copy ha_sim_located(const ha_sim_device *device, const ha_strided_copy *given) {
    ha_strided_copy copy = *given;
    copy.to = ha_sim_locate(device, given->to);
    copy.from = ha_sim_locate(device, given->from);
    return copy;
}

HA_IN_ ha_status ha_sim_enqueue_copy(ha_sim_queue *queue, const ha_strided_copy *given) {
    const ha_sim_device *device = queue->device;
    const ha_strided_copy copy = ha_sim_located(device, given);
    const ha_sim_command command = {
        .kind = HA_SIM_COPY,
        .count = 1,
        .slow = device->options.bandwidth > 0 &&
                ha_sim_crosses_link(device, given->to, given->from),
    };
    return ha_sim_enqueue(queue, &command, &copy, sizeof copy);
}

HA_IN_ ha_status ha_sim_copy(void *queue, void *to, const void *from, size_t bytes) {
    const ha_strided_copy copy = {.to = to, .from = from, .bytes = bytes};
    return ha_sim_enqueue_copy((ha_sim_queue *)queue, &copy);
}

/* Several, as one command. */
HA_IN_ ha_status ha_sim_scatter(ha_sim_queue *queue, const ha_strided_copy *copies, size_t n) {
    const ha_sim_command command = {.kind = HA_SIM_COPY, .count = n};
    ha_strided_copy *located;
    ha_status status;
    if (!queue->device->options.strides) return HA_ERR_UNSUPPORTED;
    if (n == 0) return ha_sim_has_failed(queue) ? ha_sim_lost() : HA_OK;
    if (n > SIZE_MAX / sizeof *copies) return HA_ERR_MEMORY;
    located = (ha_strided_copy *)HARRAY_MALLOC(n * sizeof *located);
    if (located == NULL) return HA_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) located[i] = ha_sim_located(queue->device, &copies[i]);
    status = ha_sim_enqueue(queue, &command, located, n * sizeof *located);
    HARRAY_FREE(located);
    return status;
}

/* One copy of what a GPU takes: rows and planes anywhere, and small pieces within the device. */
HA_IN_ ha_status ha_sim_copy_strided(void *handle, const ha_strided_copy *copies, size_t n) {
    ha_sim_queue *queue = (ha_sim_queue *)handle;
    if (n != 1) return ha_sim_scatter(queue, copies, n);
    if (ha_strided_is_pitched(copies)) return ha_sim_enqueue_copy(queue, copies);
    if (!ha_strided_is_scatter(copies)) return HA_ERR_UNSUPPORTED;
    if (ha_sim_crosses_link(queue->device, copies->to, copies->from)) return HA_ERR_UNSUPPORTED;
    return ha_sim_scatter(queue, copies, n);
}

HA_IN_ ha_status ha_sim_call(void *queue, ha_function f, const void *argument, size_t bytes) {
    ha_sim_command call = {.kind = HA_SIM_CALL, .bytes = bytes, .f = f};
    return ha_sim_enqueue((ha_sim_queue *)queue, &call, argument, bytes);
}

HA_IN_ ha_status ha_sim_fill(void *handle, void *to, const void *value, size_t bytes,
                             size_t count) {
    ha_sim_queue *queue = (ha_sim_queue *)handle;
    ha_sim_command fill = {
        .kind = HA_SIM_FILL,
        .to = (char *)ha_sim_locate(queue->device, to),
        .bytes = bytes,
        .count = count,
    };
    return ha_sim_enqueue(queue, &fill, value, bytes);
}

HA_IN_ ha_status ha_sim_await(void *queue, const ha_event *event) {
    ha_sim_command await = {.kind = HA_SIM_AWAIT, .event = *event};
    return ha_sim_enqueue((ha_sim_queue *)queue, &await, NULL, 0);
}

HA_IN_ ha_status ha_sim_stamp(void *queue, uint64_t *ns) {
    ha_sim_command stamp = {.kind = HA_SIM_STAMP, .ns = ns};
    return ha_sim_enqueue((ha_sim_queue *)queue, &stamp, NULL, 0);
}

/* ---- events ---- */

HA_IN_ ha_status ha_sim_record(void *handle, ha_event *event) {
    ha_sim_queue *queue = (ha_sim_queue *)handle;
    if (ha_sim_has_failed(queue)) return ha_sim_lost();
    pthread_mutex_lock(&queue->lock);
    *event = (ha_event){queue, queue->enqueued};
    pthread_mutex_unlock(&queue->lock);
    return HA_OK;
}

HA_IN_ ha_status ha_sim_finish(const ha_event *event) {
    return ha_sim_wait(event, NULL) == HA_OK ? HA_OK : ha_sim_lost();
}

HA_IN_ int ha_sim_done(const ha_event *event) {
    if (ha_sim_has_happened(event)) return 1;
    return ha_sim_never_happens(event) ? -1 : 0;
}

/* Not by an event: of a queue that fails meanwhile, the command that runs is waited for. */
HA_IN_ void ha_sim_drain(void *handle) {
    ha_sim_queue *queue = (ha_sim_queue *)handle;
    pthread_mutex_lock(&queue->lock);
    for (uint64_t end = queue->enqueued;;) {
        uint64_t limit = atomic_load_explicit(&queue->limit, memory_order_relaxed);
        if (end > limit) end = limit;
        if (atomic_load_explicit(&queue->finished, memory_order_relaxed) >= end) break;
        ha_sim_wait_progress(queue, end);
    }
    pthread_mutex_unlock(&queue->lock);
}

/* ---- holding ---- */

/* What ha_sim_hold() and ha_sim_step() do: 0 stops the queue before its next command; a positive
 * number lets a stopped one run that many more; a negative one lets it run freely. */
HA_IN_ HA_UNUSED ha_status ha_sim_set_credit(void *handle, int64_t commands) {
    ha_sim_queue *queue = (ha_sim_queue *)handle;
    pthread_mutex_lock(&queue->lock);
    if (commands <= 0) {
        queue->credit = commands;
    } else if (queue->credit >= 0) {
        int64_t room = INT64_MAX - queue->credit;
        queue->credit += commands < room ? commands : room;
    }
    if (queue->credit != 0) pthread_cond_signal(&queue->work);
    pthread_mutex_unlock(&queue->lock);
    return HA_OK;
}

static const ha_queue_ops ha_sim_queue_ops = {
    .bytes = sizeof(ha_queue_ops),
    .version = HA_BACKEND_VERSION,
    .create = ha_sim_create,
    .destroy = ha_sim_destroy,
    .copy = ha_sim_copy,
    .call = ha_sim_call,
    .record = ha_sim_record,
    .await = ha_sim_await,
    .finish = ha_sim_finish,
    .done = ha_sim_done,
    .drain = ha_sim_drain,
    .fill = ha_sim_fill,
    .copy_strided = ha_sim_copy_strided,
    .stamp = ha_sim_stamp,
};

#endif
