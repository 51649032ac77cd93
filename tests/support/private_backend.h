/* The device of examples/device/, with what tests want besides: it looks after its caller, its memory
 * can be made small, and the caller can have queues there by other means than harray.
 *
 * Kind "private": two devices. A copy that leaves its block, or a block that is released while a stored
 * command still uses it, ends the program with a message.
 *
 * Kind "mapping": one more such device. It works on host memory, but only where that is its own
 * pinned memory or was mapped by private_map(), as GPUs do. */
#ifndef HARRAY_TESTS_SUPPORT_PRIVATE_BACKEND_H
#define HARRAY_TESTS_SUPPORT_PRIVATE_BACKEND_H

#include "../../examples/device/device.h"

#include <stdio.h>

#define PRIVATE_DEVICES EXAMPLE_DEVICES

typedef struct private_block {
    struct private_block *next;
    void *address; /* as users have it */
    void *real;    /* where it is: what looks for leaks would find no pointer to it otherwise */
    size_t bytes;
} private_block;

/* What is known of a queue. Who only enqueues looks at the queue itself. */
typedef struct private_note {
    struct private_note *next; /* of the device */
    example_queue *queue;
    int callers; /* it was made by private_own_queue(): */
    int adopted; /* and is lent to the engine */
} private_note;

typedef struct private_device {
    example_device device; /* first: a handle points to both */
    private_block *blocks;
    private_note *notes;
    int is_open;
    size_t by_hand; /* bytes that a test took without the library */
} private_device;

#define PRIVATE_MAPPING PRIVATE_DEVICES /* the index of the one that maps */
static private_device private_devices[PRIVATE_DEVICES + 1];
static pthread_mutex_t private_lock = PTHREAD_MUTEX_INITIALIZER; /* of everything here */

/* How much a device can hold, and how much memory it can pin; tests may lower them. */
static size_t private_capacity = EXAMPLE_CAPACITY;
static size_t private_pinned_capacity = EXAMPLE_CAPACITY;

static _Noreturn void private_misused(const char *what, const void *address, size_t bytes) {
    fprintf(stderr, "private backend: %s: %zu bytes at %p\n", what, bytes, address);
    abort();
}

/* ---- blocks, with the lock held -------------------------------------------------------------- */

static void private_note_block(private_block **blocks, void *address, void *real, size_t bytes) {
    private_block *block = (private_block *)malloc(sizeof *block);
    if (block == NULL) private_misused("no memory for the note", address, bytes);
    *block = (private_block){*blocks, address, real, bytes};
    *blocks = block;
}

static void private_forget_block(private_block **blocks, const void *address, size_t bytes) {
    while (*blocks != NULL && (*blocks)->address != address) blocks = &(*blocks)->next;
    private_block *block = *blocks;
    if (block == NULL) private_misused("released, but no block", address, bytes);
    if (block->bytes != bytes) private_misused("released with another size", address, bytes);
    *blocks = block->next;
    free(block);
}

/* Whether all of the bytes lie in one living block. */
static int private_is_within(const private_block *block, const void *address, size_t bytes) {
    for (; block != NULL; block = block->next) {
        const uintptr_t offset = (uintptr_t)address - (uintptr_t)block->address;
        if (offset < block->bytes && bytes <= block->bytes - offset) return 1;
    }
    return 0;
}

/* ---- memory -------------------------------------------------------------------------------- */

/* What nobody wrote is no 0 by chance. */
static ha_status private_allocate(void *memory, size_t bytes, void **address) {
    private_device *device = (private_device *)memory;
    ha_status status = HA_ERR_MEMORY;
    pthread_mutex_lock(&private_lock);
    const size_t used = device->device.used;
    if (bytes <= private_capacity && used <= private_capacity - bytes)
        status = example_allocate(memory, bytes, address);
    if (status == HA_OK) {
        void *real = ha_here_(&device->device.here, *address);
        memset(real, 0xA5, bytes);
        private_note_block(&device->blocks, *address, real, bytes);
    }
    pthread_mutex_unlock(&private_lock);
    return status;
}

/* Nothing that is stored may still use the block: it would run too late. */
static void private_expect_unused(const private_device *device, const void *address, size_t bytes) {
    const uintptr_t first = (uintptr_t)address;
    pthread_mutex_lock(&example_lock);
    for (const private_note *note = device->notes; note != NULL; note = note->next) {
        for (const example_command *c = note->queue->first; c != NULL; c = c->next) {
            if (c->f != NULL || c->other != NULL) continue;
            if ((uintptr_t)c->to - first < bytes || (uintptr_t)c->from - first < bytes)
                private_misused("released while a queue uses it", address, bytes);
        }
    }
    pthread_mutex_unlock(&example_lock);
}

static void private_release(void *memory, void *address, size_t bytes) {
    private_device *device = (private_device *)memory;
    pthread_mutex_lock(&private_lock);
    private_expect_unused(device, address, bytes);
    private_forget_block(&device->blocks, address, bytes);
    example_release(memory, address, bytes);
    pthread_mutex_unlock(&private_lock);
}

/* ---- queues -------------------------------------------------------------------------------- */

static ha_status private_note_queue(void *device, int callers, void **queue) {
    private_device *of = (private_device *)device;
    private_note *note;
    ha_status status = example_create(device, queue);
    if (status != HA_OK) return status;
    note = (private_note *)malloc(sizeof *note);
    if (note == NULL) private_misused("no memory for the note", *queue, 0);
    pthread_mutex_lock(&private_lock);
    *note = (private_note){of->notes, (example_queue *)*queue, callers, 0};
    of->notes = note;
    pthread_mutex_unlock(&private_lock);
    return HA_OK;
}

static ha_status private_create(void *device, void **queue) {
    return private_note_queue(device, 0, queue);
}

/* Of a queue: with the lock held. */
static private_note **private_note_of(private_device *device, const void *queue) {
    private_note **link = &device->notes;
    while (*link != NULL && (*link)->queue != queue) link = &(*link)->next;
    return link;
}

/* An adopted queue is the caller's alone again, who ends it by this, too. */
static void private_destroy(void *handle) {
    example_queue *queue = (example_queue *)handle;
    pthread_mutex_lock(&private_lock);
    private_note **link = private_note_of((private_device *)queue->device, queue), *note = *link;
    pthread_mutex_lock(&example_lock);
    if (queue->first != NULL) private_misused("a queue destroyed with work in it", queue, 0);
    pthread_mutex_unlock(&example_lock);
    if (note->adopted) {
        note->adopted = 0;
    } else {
        *link = note->next;
        free(note);
        example_destroy(queue);
    }
    pthread_mutex_unlock(&private_lock);
}

/* A copy touches its device's own memory, in one living block, and the host. */
static void private_expect_block(const private_device *device, const void *address, size_t bytes) {
    if (ha_here_(&device->device.here, address) == address) return;
    if (!private_is_within(device->blocks, address, bytes))
        private_misused("a copy outside of any block", address, bytes);
}

static ha_status private_copy(void *handle, void *to, const void *from, size_t bytes) {
    const private_device *device = (private_device *)((example_queue *)handle)->device;
    pthread_mutex_lock(&private_lock);
    private_expect_block(device, to, bytes);
    private_expect_block(device, from, bytes);
    pthread_mutex_unlock(&private_lock);
    return example_copy(handle, to, from, bytes);
}

/* ---- the caller's own queues and events ----------------------------------------------------- */

/* A queue as a program makes it that uses the device by other means, too; private_destroy ends it.
 * It is its own native object. */
static HA_UNUSED void *private_own_queue(int device) {
    void *queue = NULL;
    return private_note_queue(&private_devices[device], 1, &queue) == HA_OK ? queue : NULL;
}

static HA_UNUSED int private_is_adopted(example_queue *queue) {
    pthread_mutex_lock(&private_lock);
    const int adopted = (*private_note_of((private_device *)queue->device, queue))->adopted;
    pthread_mutex_unlock(&private_lock);
    return adopted;
}

static void *private_native(void *queue) { return queue; }

static ha_status private_adopt(void *device, void *native, void **queue) {
    pthread_mutex_lock(&private_lock);
    private_note *note = *private_note_of((private_device *)device, native);
    const int is_own = note != NULL && note->callers;
    if (is_own) note->adopted = 1;
    pthread_mutex_unlock(&private_lock);
    if (!is_own) {
        ha_backend_report(0, "no queue of this device");
        return HA_ERR_ARGUMENT;
    }
    *queue = native;
    return HA_OK;
}

/* An event of the user's own is an ha_event that example_record has filled. */
static ha_status private_adopt_event(HA_UNUSED void *queue, void *native, ha_event *event) {
    *event = *(const ha_event *)native;
    return HA_OK;
}

/* ---- the devices --------------------------------------------------------------------------- */

static ha_status private_open(int number, void **device, void **memory) {
    private_device *opened = &private_devices[number];
    if (opened->is_open) private_misused("a device opened twice", opened, 0);
    opened->is_open = 1;
    opened->device.here = example_addresses(number);
    *device = *memory = opened;
    return HA_OK;
}

static void private_close(void *device) {
    private_device *closed = (private_device *)device;
    const private_note *note = closed->notes;
    while (note != NULL && note->callers && !note->adopted) note = note->next;
    if (closed->blocks != NULL || note != NULL)
        private_misused("a device closed before its blocks and queues", device,
                        closed->device.used);
    closed->is_open = 0;
    example_close(device);
}

/* A function may touch host memory, too: nobody prefers that, but it can be asked for. */
static int private_zero_copy(void *device) {
    (void)device;
    return 1;
}

/* ---- the device that works on some of the host's memory -------------------------------------- */

static struct {
    private_block *blocks; /* pinned */
    size_t used;           /* bytes in them */
    uintptr_t mapped;      /* what a test has mapped, and */
    size_t bytes;          /* how much that is */
    size_t asked;          /* how often maps was called */
} private_pinned;

static ha_status private_pin(void *memory, size_t bytes, void **address) {
    void *data = NULL;
    (void)memory;
    pthread_mutex_lock(&private_lock);
    if (bytes <= private_pinned_capacity && private_pinned.used <= private_pinned_capacity - bytes)
        data = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (data != NULL) {
        private_note_block(&private_pinned.blocks, data, data, bytes);
        private_pinned.used += bytes;
        *address = data;
    }
    pthread_mutex_unlock(&private_lock);
    return data != NULL ? HA_OK : HA_ERR_MEMORY;
}

static void private_unpin(void *memory, void *address, size_t bytes) {
    pthread_mutex_lock(&private_lock);
    private_expect_unused((private_device *)memory, address, bytes);
    private_forget_block(&private_pinned.blocks, address, bytes);
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
    pthread_mutex_lock(&private_lock);
    const int pinned = private_is_within(private_pinned.blocks, address, 0);
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
    .reaches = example_reaches,
};

static const ha_queue_ops private_queue_ops = {
    .bytes = sizeof(ha_queue_ops),
    .version = HA_BACKEND_VERSION,
    .create = private_create,
    .destroy = private_destroy,
    .copy = private_copy,
    .call = example_call,
    .record = example_record,
    .await = example_await,
    .finish = example_finish,
    .done = example_done,
    .drain = example_drain,
    .native = private_native,
    .adopt = private_adopt,
    .adopt_event = private_adopt_event,
};

static const ha_backend private_backend HA_UNUSED = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "private",
    .count = example_count,
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
