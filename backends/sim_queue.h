/* The simulated device's queue: a list of commands, and a thread that works it off in order.
 *
 * An event is the queue and the number of commands that were enqueued before it, so recording one
 * takes no memory; it has happened when that many commands are finished. */
#ifndef HARRAY_BACKEND_SIM_QUEUE_H
#define HARRAY_BACKEND_SIM_QUEUE_H

#include "backend.h"
#include "sim_device.h"
#include "sim_pace.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

typedef enum ha_sim_kind { HA_SIM_COPY, HA_SIM_CALL, HA_SIM_FILL, HA_SIM_AWAIT } ha_sim_kind;

typedef struct ha_sim_queue ha_sim_queue;

typedef struct ha_sim_command {
    struct ha_sim_command *next;
    ha_sim_kind kind;
    char *to;         /* copy, fill: where the bytes are */
    const char *from; /* copy */
    size_t bytes;     /* copy; fill: of the value */
    size_t count;     /* fill */
    int slow;         /* copy: it goes over the link, whose bandwidth is limited */
    ha_function f;    /* call */
    ha_event event;   /* await; its queue is owned until then */
    _Alignas(max_align_t) unsigned char data[]; /* call: the argument; fill: the value */
} ha_sim_command;

struct ha_sim_queue {
    ha_sim_device *device;
    pthread_t thread;
    uint64_t random;             /* state of the delays; the thread's own */
    atomic_uint_fast32_t owners; /* its creator, and commands elsewhere that wait for it */
    _Atomic uint64_t finished;   /* commands; written under the lock */
    pthread_mutex_t lock;        /* of everything below */
    pthread_cond_t work;         /* for the thread: there may be something to do */
    pthread_cond_t progress;     /* for waiters: `finished` has reached `wanted` */
    ha_sim_command *head, **tail;
    uint64_t enqueued;
    uint64_t wanted; /* the first position that somebody waits for; UINT64_MAX: nobody does */
    int64_t credit;  /* commands that may start; negative: any number */
    int idle;        /* the thread waits for work */
    int closing;
};

/* ---- waiting ---- */

static int ha_sim_has_happened(const ha_event *event) {
    ha_sim_queue *queue = (ha_sim_queue *)event->object;
    return atomic_load_explicit(&queue->finished, memory_order_acquire) >= event->value;
}

static void ha_sim_wait(const ha_event *event) {
    ha_sim_queue *queue = (ha_sim_queue *)event->object;
    if (ha_sim_has_happened(event)) return;
    pthread_mutex_lock(&queue->lock);
    while (!ha_sim_has_happened(event)) {
        if (queue->wanted > event->value) queue->wanted = event->value;
        pthread_cond_wait(&queue->progress, &queue->lock);
    }
    pthread_mutex_unlock(&queue->lock);
}

/* ---- the thread ---- */

static void ha_sim_disown(ha_sim_queue *queue) {
    if (atomic_fetch_sub_explicit(&queue->owners, 1, memory_order_acq_rel) != 1) return;
    pthread_cond_destroy(&queue->progress);
    pthread_cond_destroy(&queue->work);
    pthread_mutex_destroy(&queue->lock);
    HARRAY_FREE(queue);
}

static void ha_sim_pause(ha_sim_queue *queue) {
    const ha_sim_options *options = &queue->device->options;
    uint64_t pause = options->latency_ns;
    if (options->delay_ns > 0) pause += ha_sim_random(&queue->random) % (options->delay_ns + 1);
    if (pause > 0) ha_sim_sleep_until(ha_sim_now() + pause);
}

static void ha_sim_execute(ha_sim_queue *queue, ha_sim_command *command) {
    const ha_sim_device *device = queue->device;
    ha_sim_pause(queue);
    switch (command->kind) {
    case HA_SIM_COPY:
        if (command->slow) {
            ha_sim_copy_slowly(command->to, command->from, command->bytes,
                               device->options.bandwidth);
        } else {
            memcpy(command->to, command->from, command->bytes);
        }
        break;
    case HA_SIM_CALL:
        ha_queue_run(command->f, &device->here, command->bytes ? command->data : NULL);
        break;
    case HA_SIM_FILL:
        ha_sim_fill_bytes(command->to, command->data, command->bytes, command->count);
        break;
    case HA_SIM_AWAIT:
        ha_sim_wait(&command->event);
        ha_sim_disown((ha_sim_queue *)command->event.object);
        break;
    }
    HARRAY_FREE(command);
}

/* The next command that may start; NULL when the queue is closed. Called with the lock held. */
static ha_sim_command *ha_sim_next(ha_sim_queue *queue) {
    ha_sim_command *command;
    while ((queue->head == NULL || queue->credit == 0) && !queue->closing) {
        queue->idle = 1;
        pthread_cond_wait(&queue->work, &queue->lock);
        queue->idle = 0;
    }
    command = queue->head;
    if (command == NULL) return NULL;
    queue->head = command->next;
    if (queue->head == NULL) queue->tail = &queue->head;
    if (queue->credit > 0) queue->credit--;
    return command;
}

static void *ha_sim_thread(void *handle) {
    ha_sim_queue *queue = (ha_sim_queue *)handle;
    ha_sim_command *command;
    ha_sim_be_punctual();
    pthread_mutex_lock(&queue->lock);
    while ((command = ha_sim_next(queue)) != NULL) {
        uint64_t finished = atomic_load_explicit(&queue->finished, memory_order_relaxed) + 1;
        pthread_mutex_unlock(&queue->lock);
        ha_sim_execute(queue, command);
        pthread_mutex_lock(&queue->lock);
        atomic_store_explicit(&queue->finished, finished, memory_order_release);
        if (finished >= queue->wanted) {
            queue->wanted = UINT64_MAX;
            pthread_cond_broadcast(&queue->progress);
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* ---- making a queue and ending it ---- */

/* Signals are for the program's own threads. Those that a crash raises stay: a function that
 * crashes here is reported as it would be anywhere else. */
enum { HA_SIM_STACK = 8 << 20 }; /* bytes; musl would give 128 KiB */

static int ha_sim_start(ha_sim_queue *queue) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t blocked, before;
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error) return error;
    pthread_attr_setstacksize(&attributes, HA_SIM_STACK);
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    error = pthread_create(&queue->thread, &attributes, ha_sim_thread, queue);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

/* Different for every queue of every device, and never 0. */
static uint64_t ha_sim_seed(ha_sim_device *device) {
    uint64_t queue;
    pthread_mutex_lock(&ha_sim_shared.lock);
    queue = device->queues++;
    pthread_mutex_unlock(&ha_sim_shared.lock);
    queue = queue * HA_SIM_MOST_DEVICES + (uint64_t)device->number + 1;
    queue = device->options.seed ^ queue * UINT64_C(0x9E3779B97F4A7C15);
    return queue != 0 ? queue : 1;
}

static ha_status ha_sim_create(void *device, void **made) {
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
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->work, NULL);
    pthread_cond_init(&queue->progress, NULL);
    error = ha_sim_start(queue);
    if (error != 0) {
        ha_backend_report(error, "sim: cannot start a thread for the queue");
        ha_sim_disown(queue);
        return HA_ERR_BACKEND;
    }
    *made = queue;
    return HA_OK;
}

static void ha_sim_destroy(void *handle) {
    ha_sim_queue *queue = (ha_sim_queue *)handle;
    pthread_mutex_lock(&queue->lock);
    queue->closing = 1;
    pthread_cond_signal(&queue->work);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    ha_sim_disown(queue);
}

/* ---- enqueueing ---- */

/* Appends a command with a copy of the `bytes` bytes at `data`. */
static ha_status ha_sim_enqueue(ha_sim_queue *queue, const ha_sim_command *model, const void *data,
                                size_t bytes) {
    ha_sim_command *command;
    int wake;
    if (bytes > SIZE_MAX - sizeof *command) return HA_ERR_MEMORY;
    command = (ha_sim_command *)HARRAY_MALLOC(sizeof *command + bytes);
    if (command == NULL) return HA_ERR_MEMORY;
    *command = *model;
    command->next = NULL;
    if (bytes > 0) memcpy(command->data, data, bytes);
    if (command->kind == HA_SIM_AWAIT) {
        ha_sim_queue *other = (ha_sim_queue *)command->event.object;
        atomic_fetch_add_explicit(&other->owners, 1, memory_order_relaxed);
    }
    pthread_mutex_lock(&queue->lock);
    *queue->tail = command;
    queue->tail = &command->next;
    queue->enqueued++;
    wake = queue->idle && queue->credit != 0;
    pthread_mutex_unlock(&queue->lock);
    if (wake) pthread_cond_signal(&queue->work);
    return HA_OK;
}

/* Where the bytes of a pointer are. Peers also see each other's memory. */
static void *ha_sim_locate(const ha_sim_device *device, const void *pointer) {
    void *located = ha_here_(&device->here, pointer);
    if (located != pointer || !device->options.peers) return located;
    pthread_mutex_lock(&ha_sim_shared.lock);
    for (int i = 0; i < HA_SIM_MOST_DEVICES && located == pointer; i++) {
        const ha_sim_device *peer = ha_sim_shared.open[i];
        if (peer != NULL) located = ha_here_(&peer->here, pointer);
    }
    pthread_mutex_unlock(&ha_sim_shared.lock);
    return located;
}

static int ha_sim_is_own(const ha_sim_device *device, const void *pointer) {
    return ha_here_(&device->here, pointer) != pointer;
}

static ha_status ha_sim_copy(void *handle, void *to, const void *from, size_t bytes) {
    ha_sim_queue *queue = (ha_sim_queue *)handle;
    const ha_sim_device *device = queue->device;
    int inside = ha_sim_is_own(device, to) && ha_sim_is_own(device, from);
    ha_sim_command copy = {
        .kind = HA_SIM_COPY,
        .to = (char *)ha_sim_locate(device, to),
        .from = (const char *)ha_sim_locate(device, from),
        .bytes = bytes,
        .slow = device->options.bandwidth > 0 && !inside,
    };
    return ha_sim_enqueue(queue, &copy, NULL, 0);
}

static ha_status ha_sim_call(void *queue, ha_function f, const void *argument, size_t bytes) {
    ha_sim_command call = {.kind = HA_SIM_CALL, .bytes = bytes, .f = f};
    return ha_sim_enqueue((ha_sim_queue *)queue, &call, argument, bytes);
}

static ha_status ha_sim_fill(void *handle, void *to, const void *value, size_t bytes,
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

static ha_status ha_sim_await(void *queue, const ha_event *event) {
    ha_sim_command await = {.kind = HA_SIM_AWAIT, .event = *event};
    return ha_sim_enqueue((ha_sim_queue *)queue, &await, NULL, 0);
}

/* ---- events ---- */

static ha_status ha_sim_record(void *handle, ha_event *event) {
    ha_sim_queue *queue = (ha_sim_queue *)handle;
    pthread_mutex_lock(&queue->lock);
    *event = (ha_event){queue, queue->enqueued};
    pthread_mutex_unlock(&queue->lock);
    return HA_OK;
}

static ha_status ha_sim_finish(const ha_event *event) {
    ha_sim_wait(event);
    return HA_OK;
}

static int ha_sim_done(const ha_event *event) { return ha_sim_has_happened(event); }

static void ha_sim_drain(void *queue) {
    ha_event end;
    if (ha_sim_record(queue, &end) == HA_OK) ha_sim_wait(&end);
}

/* ---- holding ---- */

/* What ha_sim_hold() and ha_sim_step() do: 0 stops the queue before its next command; a positive
 * number lets a stopped one run that many more; a negative one lets it run freely. */
static HA_UNUSED ha_status ha_sim_set_credit(void *handle, int64_t commands) {
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
};

#endif
