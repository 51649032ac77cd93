/* A backend as a user would write one, in one file, from the manual in backends/backend.h.
 *
 * Kind "private": two devices, each with a memory of its own that only the host can be copied to
 * and from. A block's address for users is its real one plus a constant that makes it an address
 * which no machine has, so touching it on the host crashes. A queue has no thread: it stores its
 * commands, and they run when somebody waits for them, in the waiting thread. Everything happens as
 * late as it can and in a fixed order, so a wait that is missing shows every time.
 *
 * It also looks after its caller: a copy that leaves its block, or a block that is released while a
 * stored command still uses it, ends the program with a message. */
#ifndef PRIVATE_BACKEND_H
#define PRIVATE_BACKEND_H

#include "../backends/backend.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRIVATE_DEVICES 2
#define PRIVATE_DISTANCE ((uintptr_t)1 << 52) /* device k adds k + 1 times this to an address */

typedef struct private_block {
    struct private_block *next;
    uintptr_t address; /* the real one */
    size_t bytes;
} private_block;

typedef struct private_queue private_queue;

typedef struct private_device {
    ha_queue here;
    private_block *blocks;
    private_queue *queues;
    size_t used; /* bytes */
} private_device;

typedef struct private_command {
    struct private_command *next;
    ha_function f;        /* a call, when there is one */
    private_queue *other; /* else a wait for `position` of this queue, when there is one */
    uint64_t position;
    void *to; /* else a copy; addresses as users have them */
    const void *from;
    size_t bytes;
    _Alignas(max_align_t) unsigned char argument[];
} private_command;

struct private_queue {
    private_queue *next; /* of the device */
    private_device *device;
    private_command *first, **last;
    uint64_t enqueued, executed;
    int owners; /* its creator, and commands of other queues that wait for it */
};

static pthread_mutex_t private_lock = PTHREAD_MUTEX_INITIALIZER; /* of everything here */
static private_device private_devices[PRIVATE_DEVICES];

/* How much a device can hold; tests may lower it. */
static size_t private_capacity = (size_t)1 << 30;

static _Noreturn void private_misused(const char *what, const void *address, size_t bytes) {
    fprintf(stderr, "private backend: %s: %zu bytes at %p\n", what, bytes, address);
    abort();
}

/* ---- memory -------------------------------------------------------------------------------- */

/* Where bytes really are. On a device, they must lie in one living block. */
static void *private_locate(const private_device *device, const void *address, size_t bytes) {
    void *here = ha_here_(&device->here, address);
    uintptr_t first = (uintptr_t)here;
    if (here == address) return here;
    for (const private_block *block = device->blocks; block != NULL; block = block->next) {
        if (first >= block->address && first - block->address < block->bytes &&
            bytes <= block->bytes - (first - block->address)) {
            return here;
        }
    }
    private_misused("a copy outside of any block", address, bytes);
}

static ha_status private_allocate(void *memory, size_t bytes, void **address) {
    private_device *device = (private_device *)memory;
    ha_status status = HA_ERR_MEMORY;
    private_block *block = NULL;
    void *real = NULL;
    pthread_mutex_lock(&private_lock);
    if (bytes <= private_capacity && device->used <= private_capacity - bytes) {
        block = (private_block *)HARRAY_MALLOC(sizeof *block);
        real = block != NULL ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
    }
    if (real != NULL) {
        memset(real, 0xA5, bytes); /* so that a value nobody wrote is not 0 by chance */
        *block = (private_block){device->blocks, (uintptr_t)real, bytes};
        device->blocks = block;
        device->used += bytes;
        *address = (void *)((uintptr_t)real - device->here.shift);
        status = HA_OK;
    } else {
        HARRAY_FREE(block);
    }
    pthread_mutex_unlock(&private_lock);
    return status;
}

/* Nothing that is stored may still use the block: it would run too late. */
static void private_expect_unused(const private_device *device, const void *address, size_t bytes) {
    uintptr_t first = (uintptr_t)address;
    for (const private_queue *queue = device->queues; queue != NULL; queue = queue->next) {
        for (const private_command *c = queue->first; c != NULL; c = c->next) {
            if (c->f != NULL || c->other != NULL) continue;
            if ((uintptr_t)c->to - first < bytes || (uintptr_t)c->from - first < bytes)
                private_misused("released while a queue uses it", address, bytes);
        }
    }
}

static void private_release(void *memory, void *address, size_t bytes) {
    private_device *device = (private_device *)memory;
    uintptr_t real = (uintptr_t)ha_here_(&device->here, address);
    pthread_mutex_lock(&private_lock);
    private_expect_unused(device, address, bytes);
    for (private_block **link = &device->blocks;; link = &(*link)->next) {
        private_block *block = *link;
        if (block == NULL) private_misused("released, but no block", address, bytes);
        if (block->address != real) continue;
        if (block->bytes != bytes) private_misused("released with another size", address, bytes);
        *link = block->next;
        HARRAY_FREE(block);
        break;
    }
    device->used -= bytes;
    pthread_mutex_unlock(&private_lock);
    free((void *)real);
}

static int private_reaches(void *memory, const ha_place *other) {
    (void)memory;
    return strcmp(other->backend->kind, "host") == 0;
}

/* ---- running what is stored ---------------------------------------------------------------- */

static void private_disown(private_queue *queue) {
    if (--queue->owners == 0) HARRAY_FREE(queue);
}

static void private_run_until(private_queue *queue, uint64_t position);

/* Runs the first command of a queue. A wait runs the other queue as far as it must; what that one
 * waits for in turn was enqueued earlier, so this ends. */
static void private_run_one(private_queue *queue) {
    private_command *command = queue->first;
    const private_device *device = queue->device;
    queue->first = command->next;
    if (queue->first == NULL) queue->last = &queue->first;
    if (command->f != NULL) {
        ha_queue_run(command->f, &device->here, command->bytes ? command->argument : NULL);
    } else if (command->other != NULL) {
        private_run_until(command->other, command->position);
        private_disown(command->other);
    } else {
        memcpy(private_locate(device, command->to, command->bytes),
               private_locate(device, command->from, command->bytes), command->bytes);
    }
    HARRAY_FREE(command);
    queue->executed++;
}

static void private_run_until(private_queue *queue, uint64_t position) {
    while (queue->executed < position) private_run_one(queue);
}

/* ---- queues -------------------------------------------------------------------------------- */

static ha_status private_create(void *device, void **made) {
    private_queue *queue = (private_queue *)HARRAY_MALLOC(sizeof *queue);
    if (queue == NULL) return HA_ERR_MEMORY;
    memset(queue, 0, sizeof *queue);
    queue->device = (private_device *)device;
    queue->last = &queue->first;
    queue->owners = 1;
    pthread_mutex_lock(&private_lock);
    queue->next = queue->device->queues;
    queue->device->queues = queue;
    pthread_mutex_unlock(&private_lock);
    *made = queue;
    return HA_OK;
}

static void private_destroy(void *handle) {
    private_queue *queue = (private_queue *)handle;
    private_queue **link = &queue->device->queues;
    pthread_mutex_lock(&private_lock);
    if (queue->first != NULL) private_misused("a queue destroyed with work in it", queue, 0);
    while (*link != queue) link = &(*link)->next;
    *link = queue->next;
    private_disown(queue);
    pthread_mutex_unlock(&private_lock);
}

/* Appends a command with a copy of the argument. */
static ha_status private_enqueue(private_queue *queue, const private_command *model,
                                 const void *argument, size_t bytes) {
    private_command *command = (private_command *)HARRAY_MALLOC(sizeof *command + bytes);
    if (command == NULL) return HA_ERR_MEMORY;
    *command = *model;
    if (bytes > 0) memcpy(command->argument, argument, bytes);
    pthread_mutex_lock(&private_lock);
    if (command->other != NULL) command->other->owners++;
    *queue->last = command;
    queue->last = &command->next;
    queue->enqueued++;
    pthread_mutex_unlock(&private_lock);
    return HA_OK;
}

static ha_status private_copy(void *handle, void *to, const void *from, size_t bytes) {
    private_queue *queue = (private_queue *)handle;
    private_command copy = {.to = to, .from = from, .bytes = bytes};
    return private_enqueue(queue, &copy, NULL, 0);
}

static ha_status private_call(void *queue, ha_function f, const void *argument, size_t bytes) {
    private_command call = {.f = f, .bytes = bytes};
    return private_enqueue((private_queue *)queue, &call, argument, bytes);
}

/* ---- events: a queue, and how many commands were enqueued before -------------------------- */

static ha_status private_record(void *handle, ha_event *event) {
    private_queue *queue = (private_queue *)handle;
    pthread_mutex_lock(&private_lock);
    *event = (ha_event){queue, queue->enqueued};
    pthread_mutex_unlock(&private_lock);
    return HA_OK;
}

static ha_status private_await(void *queue, const ha_event *event) {
    private_command await = {.other = (private_queue *)event->object, .position = event->value};
    return private_enqueue((private_queue *)queue, &await, NULL, 0);
}

static ha_status private_finish(const ha_event *event) {
    pthread_mutex_lock(&private_lock);
    private_run_until((private_queue *)event->object, event->value);
    pthread_mutex_unlock(&private_lock);
    return HA_OK;
}

/* Answers for the moment of the question, then runs one command: who asks often enough gets a yes,
 * as on a device that works by itself. */
static int private_done(const ha_event *event) {
    private_queue *queue = (private_queue *)event->object;
    int done;
    pthread_mutex_lock(&private_lock);
    done = queue->executed >= event->value;
    if (!done) private_run_one(queue);
    pthread_mutex_unlock(&private_lock);
    return done;
}

static void private_drain(void *handle) {
    private_queue *queue = (private_queue *)handle;
    pthread_mutex_lock(&private_lock);
    private_run_until(queue, queue->enqueued);
    pthread_mutex_unlock(&private_lock);
}

/* ---- the devices --------------------------------------------------------------------------- */

static int private_count(void) { return PRIVATE_DEVICES; }

static ha_status private_open(int number, void **device, void **memory) {
    private_device *opened = &private_devices[number];
    uintptr_t distance = (uintptr_t)(number + 1) * PRIVATE_DISTANCE;
    if (opened->here.bytes != 0) private_misused("a device opened twice", opened, 0);
    opened->here = (ha_queue){distance, PRIVATE_DISTANCE, (uintptr_t)0 - distance};
    *device = *memory = opened;
    return HA_OK;
}

static void private_close(void *device) {
    private_device *closed = (private_device *)device;
    if (closed->blocks != NULL || closed->queues != NULL)
        private_misused("a device closed before its blocks and queues", device, closed->used);
    closed->here.bytes = 0;
}

static const ha_memory_ops private_memory_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = private_allocate,
    .release = private_release,
    .reaches = private_reaches,
};

static const ha_queue_ops private_queue_ops = {
    .bytes = sizeof(ha_queue_ops),
    .version = HA_BACKEND_VERSION,
    .create = private_create,
    .destroy = private_destroy,
    .copy = private_copy,
    .call = private_call,
    .record = private_record,
    .await = private_await,
    .finish = private_finish,
    .done = private_done,
    .drain = private_drain,
};

static const ha_backend private_backend HA_UNUSED = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "private",
    .count = private_count,
    .open = private_open,
    .close = private_close,
    .memory = &private_memory_ops,
    .queue = &private_queue_ops,
};

#endif
