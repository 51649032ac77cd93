/* A backend as a user would write one, in one file, from the manual in backends/backend.h.
 *
 * Kind "private": two devices, each with a memory of its own that only the host can be copied to
 * and from. A block's address for users is its real one plus a constant that makes it an address
 * which no machine has, so touching it on the host crashes. A queue has no thread: it stores its
 * commands, and they run when somebody waits for them, in the waiting thread. Everything happens as
 * late as it can and in a fixed order, so a wait that is missing shows every time.
 *
 * It also looks after its caller: a copy that leaves its block, or a block that is released while a
 * stored command still uses it, ends the program with a message.
 *
 * Kind "mapping": one more such device. It works on host memory, but only where that is its own
 * pinned memory or was mapped by private_map(), as GPUs do. */
#ifndef HARRAY_EXAMPLES_DEVICE_DEVICE_H
#define HARRAY_EXAMPLES_DEVICE_DEVICE_H

#include "../../backends/backend.h"

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
    size_t used;    /* bytes */
    size_t by_hand; /* of these: what a test took without the library */
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
    int owners;  /* its creator, and commands of other queues that wait for it */
    int callers; /* it was made by private_own_queue(): */
    int adopted; /* and is lent to the engine */
};

static pthread_mutex_t private_lock = PTHREAD_MUTEX_INITIALIZER; /* of everything here */
static private_device private_devices[PRIVATE_DEVICES + 1]; /* the last one is the mapping one */

/* How much a device can hold, and how much memory it can pin; tests may lower them. */
static size_t private_capacity = (size_t)1 << 30;
static size_t private_pinned_capacity = (size_t)1 << 30;

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
    if (queue->adopted) {
        queue->adopted = 0;
    } else {
        while (*link != queue) link = &(*link)->next;
        *link = queue->next;
        private_disown(queue);
    }
    pthread_mutex_unlock(&private_lock);
}

/* A queue as a program makes it that uses the device by other means, too; private_destroy ends it.
 * It is its own native object. */
static HA_UNUSED void *private_own_queue(int device) {
    void *queue = NULL;
    if (private_create(&private_devices[device], &queue) != HA_OK) return NULL;
    ((private_queue *)queue)->callers = 1;
    return queue;
}

static void *private_native(void *queue) { return queue; }

static ha_status private_adopt(void *device, void *native, void **queue) {
    private_queue *own = ((private_device *)device)->queues;
    pthread_mutex_lock(&private_lock);
    while (own != NULL && !(own == native && own->callers)) own = own->next;
    if (own != NULL) own->adopted = 1;
    pthread_mutex_unlock(&private_lock);
    if (own == NULL) {
        ha_backend_report(0, "no queue of this device");
        return HA_ERR_ARGUMENT;
    }
    *queue = native;
    return HA_OK;
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

/* An event of the user's own is an ha_event that private_record has filled. */
static ha_status private_adopt_event(HA_UNUSED void *queue, void *native, ha_event *event) {
    *event = *(const ha_event *)native;
    return HA_OK;
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
    const private_queue *queue = closed->queues;
    while (queue != NULL && queue->callers && !queue->adopted) queue = queue->next;
    if (closed->blocks != NULL || queue != NULL)
        private_misused("a device closed before its blocks and queues", device, closed->used);
    closed->here.bytes = 0;
}

/* A function may touch host memory, too: nobody prefers that, but it can be asked for. */
static int private_zero_copy(void *device) {
    (void)device;
    return 1;
}

/* ---- the device that works on some of the host's memory -------------------------------------- */

#define PRIVATE_MAPPING PRIVATE_DEVICES /* its index */

static struct {
    private_block *blocks; /* pinned */
    size_t used;           /* bytes in them */
    uintptr_t mapped;      /* what a test has mapped, and */
    size_t bytes;          /* how much that is */
    size_t asked;          /* how often maps was called */
} private_pinned;

static ha_status private_pin(void *memory, size_t bytes, void **address) {
    private_block *block = (private_block *)HARRAY_MALLOC(sizeof *block);
    void *data = NULL;
    (void)memory;
    pthread_mutex_lock(&private_lock);
    if (block != NULL && bytes <= private_pinned_capacity &&
        private_pinned.used <= private_pinned_capacity - bytes)
        data = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (data != NULL) {
        *block = (private_block){private_pinned.blocks, (uintptr_t)data, bytes};
        private_pinned.blocks = block;
        private_pinned.used += bytes;
        *address = data;
    } else {
        HARRAY_FREE(block);
    }
    pthread_mutex_unlock(&private_lock);
    return data != NULL ? HA_OK : HA_ERR_MEMORY;
}

static void private_unpin(void *memory, void *address, size_t bytes) {
    pthread_mutex_lock(&private_lock);
    private_expect_unused((private_device *)memory, address, bytes);
    for (private_block **link = &private_pinned.blocks;; link = &(*link)->next) {
        private_block *block = *link;
        if (block == NULL) private_misused("unpinned, but no block", address, bytes);
        if (block->address != (uintptr_t)address) continue;
        if (block->bytes != bytes) private_misused("unpinned with another size", address, bytes);
        *link = block->next;
        HARRAY_FREE(block);
        break;
    }
    private_pinned.used -= bytes;
    pthread_mutex_unlock(&private_lock);
    free(address);
}

/* As cudaHostRegister; what was mapped before is no longer. */
static HA_UNUSED void private_map(const void *address, size_t bytes) {
    pthread_mutex_lock(&private_lock);
    private_pinned.mapped = (uintptr_t)address;
    private_pinned.bytes = bytes;
    pthread_mutex_unlock(&private_lock);
}

static HA_UNUSED int private_is_pinned(const void *address) {
    int pinned = 0;
    pthread_mutex_lock(&private_lock);
    for (const private_block *b = private_pinned.blocks; b != NULL; b = b->next)
        pinned |= (uintptr_t)address - b->address < b->bytes;
    pthread_mutex_unlock(&private_lock);
    return pinned;
}

static int private_maps(void *device, const void *address) {
    int mapped;
    if (private_is_pinned(address)) private_misused("asked about pinned memory", device, 0);
    pthread_mutex_lock(&private_lock);
    mapped = (uintptr_t)address - private_pinned.mapped < private_pinned.bytes;
    private_pinned.asked++;
    pthread_mutex_unlock(&private_lock);
    return mapped;
}

static int private_one(void) { return 1; }

static ha_status private_mapping_open(int number, void **device, void **memory) {
    return private_open(PRIVATE_MAPPING + number, device, memory);
}

static int private_prefers_host(void *device) {
    (void)device;
    return 2;
}

/* ---- the tables ------------------------------------------------------------------------------ */

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
    .native = private_native,
    .adopt = private_adopt,
    .adopt_event = private_adopt_event,
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
    .zero_copy = private_zero_copy,
};

static const ha_memory_ops private_pinned_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = private_pin,
    .release = private_unpin,
};

static const ha_backend private_mapping_backend HA_UNUSED = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "mapping",
    .only_if_named = 1,
    .count = private_one,
    .open = private_mapping_open,
    .close = private_close,
    .memory = &private_memory_ops,
    .queue = &private_queue_ops,
    .pinned = &private_pinned_ops,
    .zero_copy = private_prefers_host,
    .maps = private_maps,
};

#endif
