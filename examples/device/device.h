/* A device in one file, to be copied and changed; docs/adding-a-device.md goes through it step by step.
 *
 * Kind "example": two devices, each with a memory of its own, of which the host's memory is really a
 * part. For users a block has its real address plus a constant, which makes it an address that no
 * machine has: who touches it on the host crashes, as with the memory of a GPU. A queue has no thread:
 * it stores its commands, and they run when somebody waits for them, in the waiting thread. So all that
 * is enqueued happens as late as it can and in the same order every time, and a program that forgets to
 * wait is wrong every time, too.
 *
 * Everything is required by the manual in backends/backend.h but for `close`. */
#ifndef EXAMPLE_DEVICE_H
#define EXAMPLE_DEVICE_H

#include "../../backends/backend.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { EXAMPLE_DEVICES = 2 };
#define EXAMPLE_CAPACITY ((size_t)1 << 30)    /* bytes that a device can hold */
#define EXAMPLE_DISTANCE ((uintptr_t)1 << 52) /* device k adds k + 1 times this to an address */

typedef struct example_device {
    ha_queue here; /* which addresses its blocks have for users, and where they really are */
    size_t used;   /* bytes */
} example_device;

typedef struct example_queue example_queue;

/* A function, a wait for another queue or a copy. */
typedef struct example_command {
    struct example_command *next;
    ha_function f;        /* a function, when there is one */
    example_queue *other; /* else a wait for `position` of this queue, when there is one */
    uint64_t position;
    void *to; /* else a copy; addresses as users have them */
    const void *from;
    size_t bytes; /* of the copy, or of the function's argument */
    _Alignas(max_align_t) unsigned char argument[];
} example_command;

struct example_queue {
    example_device *device;
    example_command *first, **last; /* what has not run yet */
    uint64_t enqueued, executed;    /* commands, from the beginning */
    int owners;                     /* its creator, and commands of other queues that wait for it */
};

static pthread_mutex_t example_lock = PTHREAD_MUTEX_INITIALIZER; /* of everything here */
static example_device example_devices[EXAMPLE_DEVICES];

/* ---- memory -------------------------------------------------------------------------------- */

/* A block is aligned to 64 bytes at least. A full memory is no other error than HA_ERR_MEMORY: the
 * engine then gives cached blocks back, and tries again. */
static ha_status example_allocate(void *memory, size_t bytes, void **block) {
    example_device *device = (example_device *)memory;
    ha_status status = HA_ERR_MEMORY;
    pthread_mutex_lock(&example_lock);
    if (bytes <= EXAMPLE_CAPACITY - device->used) {
        void *real = aligned_alloc(64, (bytes + 63) / 64 * 64);
        if (real != NULL) {
            *block = (void *)((uintptr_t)real - device->here.shift);
            device->used += bytes;
            status = HA_OK;
        }
    }
    pthread_mutex_unlock(&example_lock);
    return status;
}

/* Cannot fail, and need not wait: the engine has seen to it that no queue uses the block. */
static void example_release(void *memory, void *block, size_t bytes) {
    example_device *device = (example_device *)memory;
    pthread_mutex_lock(&example_lock);
    device->used -= bytes;
    pthread_mutex_unlock(&example_lock);
    free(ha_here_(&device->here, block));
}

/* What lies elsewhere passes through the host, so that at least has to be reached. */
static int example_reaches(void *memory, const ha_place *other) {
    (void)memory;
    return strcmp(other->backend->kind, "host") == 0;
}

/* ---- running what is stored, with the lock held ---------------------------------------------- */

static void example_run_until(example_queue *queue, uint64_t position);

static void example_disown(example_queue *queue) {
    if (--queue->owners == 0) HARRAY_FREE(queue);
}

/* Runs the first command of a queue. A wait runs the other queue as far as it must; what that one
 * waits for in turn was enqueued earlier, so this ends. */
static void example_run_one(example_queue *queue) {
    example_command *command = queue->first;
    const ha_queue *here = &queue->device->here;
    queue->first = command->next;
    if (queue->first == NULL) queue->last = &queue->first;
    if (command->f != NULL) {
        ha_queue_run(command->f, here, command->bytes > 0 ? command->argument : NULL);
    } else if (command->other != NULL) {
        example_run_until(command->other, command->position);
        example_disown(command->other);
    } else {
        memcpy(ha_here_(here, command->to), ha_here_(here, command->from), command->bytes);
    }
    HARRAY_FREE(command);
    queue->executed++;
}

static void example_run_until(example_queue *queue, uint64_t position) {
    while (queue->executed < position) example_run_one(queue);
}

/* ---- queues -------------------------------------------------------------------------------- */

static ha_status example_create(void *device, void **made) {
    example_queue *queue = (example_queue *)HARRAY_MALLOC(sizeof *queue);
    if (queue == NULL) return HA_ERR_MEMORY;
    *queue = (example_queue){.device = (example_device *)device, .owners = 1};
    queue->last = &queue->first;
    *made = queue;
    return HA_OK;
}

/* The queue is empty, but a command of another queue may still wait for what it has done. */
static void example_destroy(void *queue) {
    pthread_mutex_lock(&example_lock);
    example_disown((example_queue *)queue);
    pthread_mutex_unlock(&example_lock);
}

/* Appends a command, with a copy of the argument. */
static ha_status example_enqueue(void *handle, const example_command *model, const void *argument,
                                 size_t bytes) {
    example_queue *queue = (example_queue *)handle;
    example_command *command = (example_command *)HARRAY_MALLOC(sizeof *command + bytes);
    if (command == NULL) return HA_ERR_MEMORY;
    *command = *model;
    if (bytes > 0) memcpy(command->argument, argument, bytes);
    pthread_mutex_lock(&example_lock);
    if (command->other != NULL) command->other->owners++;
    *queue->last = command;
    queue->last = &command->next;
    queue->enqueued++;
    pthread_mutex_unlock(&example_lock);
    return HA_OK;
}

/* Returns at once: the bytes move when the queue comes to it. Either end may be on the host. */
static ha_status example_copy(void *queue, void *to, const void *from, size_t bytes) {
    const example_command copy = {.to = to, .from = from, .bytes = bytes};
    return example_enqueue(queue, &copy, NULL, 0);
}

/* The argument is the caller's again when this returns. A device that cannot run functions of the host
 * on its data returns HA_ERR_UNSUPPORTED, always. */
static ha_status example_call(void *queue, ha_function f, const void *argument, size_t bytes) {
    const example_command call = {.f = f, .bytes = bytes};
    return example_enqueue(queue, &call, argument, bytes);
}

/* ---- events: a queue, and how many commands were enqueued before ----------------------------- */

/* The two words of an event hold whatever a backend needs to find the position again. */
static ha_status example_record(void *handle, ha_event *event) {
    example_queue *queue = (example_queue *)handle;
    pthread_mutex_lock(&example_lock);
    *event = (ha_event){queue, queue->enqueued};
    pthread_mutex_unlock(&example_lock);
    return HA_OK;
}

/* Does not wait: the queue will. */
static ha_status example_await(void *queue, const ha_event *event) {
    const example_command await = {.other = (example_queue *)event->object,
                                   .position = event->value};
    return example_enqueue(queue, &await, NULL, 0);
}

/* The calling thread waits. */
static ha_status example_finish(const ha_event *event) {
    pthread_mutex_lock(&example_lock);
    example_run_until((example_queue *)event->object, event->value);
    pthread_mutex_unlock(&example_lock);
    return HA_OK;
}

/* Does not wait: it says how it is at this moment, and then runs one command, so that who asks often
 * enough gets a yes, as on a device that works by itself. */
static int example_done(const ha_event *event) {
    example_queue *queue = (example_queue *)event->object;
    pthread_mutex_lock(&example_lock);
    const int done = queue->executed >= event->value;
    if (!done) example_run_one(queue);
    pthread_mutex_unlock(&example_lock);
    return done;
}

/* Cannot fail, and allocates nothing: it is what the engine does when `record` has failed. */
static void example_drain(void *handle) {
    example_queue *queue = (example_queue *)handle;
    pthread_mutex_lock(&example_lock);
    example_run_until(queue, queue->enqueued);
    pthread_mutex_unlock(&example_lock);
}

/* ---- the devices --------------------------------------------------------------------------- */

static int example_count(void) { return EXAMPLE_DEVICES; }

/* What users add to an address of device `number` to get the real one, modulo 2^64. */
static ha_queue example_addresses(int number) {
    const uintptr_t distance = (uintptr_t)(number + 1) * EXAMPLE_DISTANCE;
    return (ha_queue){distance, EXAMPLE_DISTANCE, (uintptr_t)0 - distance};
}

/* The device and its memory are handed to the functions above as they are set here. */
static ha_status example_open(int number, void **device, void **memory) {
    example_device *opened = &example_devices[number];
    opened->here = example_addresses(number);
    *device = *memory = opened;
    return HA_OK;
}

static void example_close(void *device) { *(example_device *)device = (example_device){.used = 0}; }

/* ---- the tables ------------------------------------------------------------------------------ */

static const ha_memory_ops example_memory_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = example_allocate,
    .release = example_release,
    .reaches = example_reaches,
};

static const ha_queue_ops example_queue_ops = {
    .bytes = sizeof(ha_queue_ops),
    .version = HA_BACKEND_VERSION,
    .create = example_create,
    .destroy = example_destroy,
    .copy = example_copy,
    .call = example_call,
    .record = example_record,
    .await = example_await,
    .finish = example_finish,
    .done = example_done,
    .drain = example_drain,
};

static const ha_backend example_backend HA_UNUSED = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "example",
    .count = example_count,
    .open = example_open,
    .close = example_close,
    .memory = &example_memory_ops,
    .queue = &example_queue_ops,
};

#endif
