/* Backends for tests of order: kinds "order" (two devices) and "order2" (one). Everything that is
 * enqueued, and the host's blocks too, goes through happens_before.h: a wait that is missing is
 * found in the run in which it is missing, whatever the timing. Only with a single thread.
 *
 *     #include "order_backend.h"
 *     #define HARRAY_HOST_BACKEND order_host
 *     #define HARRAY_IMPLEMENTATION
 *     #include "../../harray.h"
 *
 * Devices reach the host, and with order_peers those of the same kind reach each other. Between
 * "order" and "order2" the host has to wait. "order2" can fill, "order" cannot;
 * "order" copies pieces in one go, "order2" does not.
 *
 * A queue stores its commands. They run when somebody waits for them or calls order_advance(): as
 * late as they can, so that values, too, show what was not waited for. A device's address is the
 * real one plus a constant, so that the host cannot touch it.
 *
 * What a function touches is not known from outside: the argument of each one that is enqueued
 * begins with an order_touches that says it, behind order_head bytes of the engine's. */
#ifndef HARRAY_TESTS_SUPPORT_ORDER_BACKEND_H
#define HARRAY_TESTS_SUPPORT_ORDER_BACKEND_H

#ifdef HARRAY_BACKEND_H
#error "include order_backend.h before harray's headers"
#endif
#ifndef _GNU_SOURCE
#ifdef _FEATURES_H
#error "include order_backend.h before any system header"
#endif
#define _GNU_SOURCE 1 /* as harray.h, which comes later, needs it */
#endif

#include "../../backends/host/host.h"
#include "../../backends/common/strided_copy.h"
#include "happens_before.h"

enum { ORDER_DEVICES = 3, ORDER_OF_ONE_KIND = 2, ORDER_TOUCHES = 2 };
#define ORDER_DISTANCE ((uintptr_t)1 << 52) /* device k adds k + 1 times this to an address */

typedef struct order_touches {
    uint32_t n;
    struct {
        const void *data;
        size_t bytes;
        int write;
        hb_pieces pieces; /* of 0 bytes: all of `bytes` in one; else `bytes` does not matter */
    } touch[ORDER_TOUCHES];
} order_touches;

static size_t order_head; /* 0: functions are not enqueued by the engine */

typedef enum { ORDER_COPY, ORDER_PIECES, ORDER_FILL, ORDER_CALL, ORDER_AWAIT } order_kind;

typedef struct order_queue order_queue;

typedef struct order_command {
    struct order_command *next;
    order_kind kind;
    void *to; /* addresses as users have them */
    const void *from;
    size_t bytes, count;
    ha_function f;
    order_queue *other;
    uint64_t position;
    _Alignas(max_align_t) unsigned char data[]; /* call: the argument; fill: the value; pieces */
} order_command;

typedef struct order_device {
    ha_queue here;
    const char *name;
    int blocks; /* living ones */
    int number;
} order_device;

struct order_queue {
    order_device *device;
    order_queue *next; /* of all */
    uint32_t agent;
    order_command *first, **last;
    uint64_t enqueued, executed;
    int held; /* order_advance() does nothing */
};

typedef struct order_event {
    order_queue *queue;
    uint64_t position;
    hb_clock clock;
} order_event;

static order_device order_devices[ORDER_DEVICES] = {
    {.name = "order:0"}, {.name = "order:1"}, {.name = "order2:0"}};
static order_queue *order_queues;
static int order_queue_count;
static int order_host_blocks, order_events; /* living ones */

/* ---- what tests may set -------------------------------------------------------------------- */

static int order_shared;        /* bit n: device n works on the host's memory */
static int order_peers;         /* order:0 and order:1 reach each other; 2: the first the other */
static int order_capacity;      /* blocks, on the host and on each device */
static size_t order_least_host; /* the host has no room for smaller blocks */
static int order_records_fail;  /* no queue can record an event */
static int order_full;          /* no memory hands out a block */
static int order_fail_in;       /* n > 0: the n-th call from now on that can fail does */
/* Called in the middle of calls, with the name of the slot: another thread comes between. */
static void (*order_disturb)(const char *slot);

static void order_between(const char *slot) {
    if (order_disturb != NULL) order_disturb(slot);
}

static int order_fails(void) { return order_fail_in > 0 && --order_fail_in == 0; }

/* ---- memory -------------------------------------------------------------------------------- */

static int order_is_on(const order_device *device, const void *address) {
    return (uintptr_t)address - device->here.first < device->here.bytes;
}

/* The device an address is on; NULL: the host. */
static order_device *order_device_of(const void *address) {
    for (int i = 0; i < ORDER_DEVICES; i++)
        if (order_is_on(&order_devices[i], address)) return &order_devices[i];
    return NULL;
}

/* Where the bytes of an address really are. */
static void *order_real(const void *address) {
    const order_device *device = order_device_of(address);
    return device != NULL ? ha_here_(&device->here, address) : (void *)(uintptr_t)address;
}

static ha_status order_take(int *blocks, size_t bytes, const char *memory, uintptr_t distance,
                            void **address) {
    void *real = NULL;
    if (order_full || *blocks >= order_capacity || order_fails()) return HA_ERR_MEMORY;
    if (posix_memalign(&real, 64, bytes) != 0) return HA_ERR_MEMORY;
    memset(real, 0xA5, bytes); /* so that a value nobody wrote is not right by chance */
    *address = (void *)((uintptr_t)real + distance);
    if (!hb_block_add(*address, bytes, memory)) {
        free(real);
        return HA_ERR_MEMORY;
    }
    ++*blocks;
    return HA_OK;
}

/* Giving a block back is a write of all of it. After a race it is not really freed, for the loser
 * would write to it. */
static void order_give(int *blocks, size_t bytes, void *address) {
    hb_block *block = hb_block_find(address);
    if (block == NULL || block->first != (uintptr_t)address || block->bytes != bytes) {
        hb_complain("step %u: %zu bytes released that were not allocated", hb.step, bytes);
        return;
    }
    hb_touch(HB_HOST, address, bytes, 1, "release");
    hb_block_forget(address);
    --*blocks;
    if (!*hb.complaint) free(order_real(address));
}

static ha_status order_allocate(void *memory, size_t bytes, void **address) {
    order_device *device = (order_device *)memory;
    order_between("allocate");
    return order_take(&device->blocks, bytes, device->name, device->here.first, address);
}

static void order_release(void *memory, void *address, size_t bytes) {
    order_give(&((order_device *)memory)->blocks, bytes, address);
}

static ha_status order_host_allocate(void *memory, size_t bytes, void **address) {
    (void)memory;
    order_between("allocate");
    if (bytes < order_least_host) return HA_ERR_MEMORY;
    return order_take(&order_host_blocks, bytes, "host", 0, address);
}

static void order_host_release(void *memory, void *address, size_t bytes) {
    (void)memory;
    order_give(&order_host_blocks, bytes, address);
}

static int order_same_kind(const order_device *a, const order_device *b) {
    return (a->number < ORDER_OF_ONE_KIND) == (b->number < ORDER_OF_ONE_KIND);
}

static int order_device_reaches(const order_device *a, const order_device *b) {
    return order_same_kind(a, b) && (order_peers == 1 || (order_peers == 2 && a->number == 0));
}

static int order_reaches(void *memory, const ha_place *other) {
    if (strncmp(other->backend->kind, "order", 5) != 0)
        return strcmp(other->backend->kind, "host") == 0;
    return order_device_reaches((order_device *)memory, (const order_device *)other->memory);
}

/* Peers are nearer than the host. */
static uint64_t order_cost(void *memory, const ha_place *other) {
    (void)memory;
    return strcmp(other->backend->kind, "host") == 0 ? 100000 : 30000;
}

/* ---- running what is stored ---------------------------------------------------------------- */

static void order_run_until(order_queue *queue, uint64_t position);

static void order_move_pieces(const ha_strided_copy *given) {
    ha_strided_copy copy = *given;
    copy.to = order_real(given->to);
    copy.from = order_real(given->from);
    ha_strided_copy_all(&copy, 1);
}

static void order_run(const order_queue *queue, order_command *command) {
    char *to = command->to != NULL ? (char *)order_real(command->to) : NULL;
    switch (command->kind) {
    case ORDER_COPY:
        memcpy(to, order_real(command->from), command->bytes);
        break;
    case ORDER_PIECES:
        order_move_pieces((const ha_strided_copy *)(const void *)command->data);
        break;
    case ORDER_FILL:
        for (size_t i = 0; i < command->count; i++)
            memcpy(to + i * command->bytes, command->data, command->bytes);
        break;
    case ORDER_CALL:
        ha_queue_run(command->f, &queue->device->here, command->data);
        break;
    case ORDER_AWAIT:
        order_run_until(command->other, command->position);
        break;
    }
}

/* Runs the first command. A wait runs the other queue as far as it must; what that one waits for
 * in turn was enqueued earlier, so this ends. */
static void order_run_one(order_queue *queue) {
    order_command *command = queue->first;
    queue->first = command->next;
    if (queue->first == NULL) queue->last = &queue->first;
    order_run(queue, command);
    HARRAY_FREE(command);
    queue->executed++;
}

static void order_run_until(order_queue *queue, uint64_t position) {
    while (queue->executed < position) order_run_one(queue);
}

/* Runs one command, if there is one that can run now. */
static HA_UNUSED void order_advance(order_queue *queue) {
    const order_command *next = queue->first;
    if (queue->held || next == NULL) return;
    if (next->kind == ORDER_AWAIT && next->other->executed < next->position) return;
    order_run_one(queue);
}

/* Everything that is stored has run, and nobody was told. */
static HA_UNUSED void order_run_all(void) {
    for (order_queue *queue = order_queues; queue != NULL; queue = queue->next)
        order_run_until(queue, queue->enqueued);
}

/* ---- queues -------------------------------------------------------------------------------- */

static ha_status order_create(void *device, void **made) {
    order_queue *queue = (order_queue *)HARRAY_MALLOC(sizeof *queue);
    if (queue == NULL || order_queue_count + 1 >= HB_AGENTS) {
        HARRAY_FREE(queue);
        return HA_ERR_MEMORY;
    }
    memset(queue, 0, sizeof *queue);
    queue->device = (order_device *)device;
    queue->last = &queue->first;
    queue->agent = (uint32_t)++order_queue_count;
    queue->next = order_queues;
    order_queues = queue;
    snprintf(hb.name[queue->agent], sizeof hb.name[0], "queue %u (%s)", queue->agent,
             queue->device->name);
    *made = queue;
    return HA_OK;
}

static void order_destroy(void *handle) {
    order_queue *queue = (order_queue *)handle, **link = &order_queues;
    if (queue->first != NULL) hb_complain("a queue of %s destroyed with work", queue->device->name);
    while (*link != queue) link = &(*link)->next;
    *link = queue->next;
    order_queue_count--;
    HARRAY_FREE(queue);
}

/* Appends a command with a copy of `bytes` bytes of data. It happens after what the host knows. */
static ha_status order_enqueue(order_queue *queue, const order_command *model, const void *data,
                               size_t bytes) {
    order_command *command = (order_command *)HARRAY_MALLOC(sizeof *command + bytes);
    if (command == NULL) return HA_ERR_MEMORY;
    if (order_fails()) {
        HARRAY_FREE(command);
        return HA_ERR_BACKEND;
    }
    *command = *model;
    if (bytes > 0) memcpy(command->data, data, bytes);
    *queue->last = command;
    queue->last = &command->next;
    queue->enqueued++;
    hb_join(&hb.clock[queue->agent], &hb.clock[HB_HOST]);
    return HA_OK;
}

/* A queue may touch its device, the host, and what its device reaches. */
static void order_touch_pieces(const order_queue *queue, const void *address, const hb_pieces *p,
                               int write, const char *what) {
    const order_device *device = order_device_of(address);
    const int may = device == NULL || device == queue->device ||
                    order_device_reaches(queue->device, device);
    if (!may)
        hb_complain("step %u: %s by %s at %s, which it does not reach", hb.step, what,
                    queue->device->name, device->name);
    if (device != NULL && hb_block_find(address) == NULL)
        hb_complain("step %u: %s by %s outside of any block", hb.step, what, queue->device->name);
    hb_touch_pieces(queue->agent, address, p, write, what);
}

static void order_touch(const order_queue *queue, const void *address, size_t bytes, int write,
                        const char *what) {
    order_touch_pieces(queue, address, &(hb_pieces){bytes, 1, 1, 0, 0}, write, what);
}

static int order_shares(const order_device *device) { return order_shared >> device->number & 1; }

static void order_expect_near(const order_queue *queue, const void *to, const void *from) {
    const int inside = order_shares(queue->device) && !order_device_of(to) &&
                       !order_device_of(from);
    if (!inside && !order_is_on(queue->device, to) && !order_is_on(queue->device, from))
        hb_complain("step %u: a copy by %s between other memories", hb.step, queue->device->name);
}

static ha_status order_copy(void *handle, void *to, const void *from, size_t bytes) {
    order_queue *queue = (order_queue *)handle;
    const order_command copy = {.kind = ORDER_COPY, .to = to, .from = from, .bytes = bytes};
    order_between("copy");
    ha_status status = order_enqueue(queue, &copy, NULL, 0);
    if (status != HA_OK) return status;
    order_expect_near(queue, to, from);
    order_touch(queue, from, bytes, 0, "copy from");
    order_touch(queue, to, bytes, 1, "copy to");
    order_between("copy");
    return HA_OK;
}

/* One side of a copy. */
static hb_pieces order_pieces_of(const ha_strided_copy *s, const size_t *step) {
    hb_pieces p = {s->bytes, 1, 1, 0, 0};
    if (s->levels > 0) p.rows = s->count[0];
    if (s->levels > 0) p.row = step[0];
    if (s->levels > 1) p.planes = s->count[1];
    if (s->levels > 1) p.plane = step[1];
    return p;
}

static ha_status order_copy_strided(void *handle, const ha_strided_copy *s, size_t n) {
    order_queue *queue = (order_queue *)handle;
    const order_command copy = {.kind = ORDER_PIECES};
    if (n != 1 || !ha_strided_is_pitched(s)) return HA_ERR_UNSUPPORTED;
    const hb_pieces read = order_pieces_of(s, s->from_step);
    const hb_pieces written = order_pieces_of(s, s->to_step);
    order_between("copy");
    ha_status status = order_enqueue(queue, &copy, s, sizeof *s);
    if (status != HA_OK) return status;
    order_expect_near(queue, s->to, s->from);
    order_touch_pieces(queue, s->from, &read, 0, "copy from pieces");
    order_touch_pieces(queue, s->to, &written, 1, "copy to pieces");
    order_between("copy");
    return HA_OK;
}

static ha_status order_fill(void *handle, void *to, const void *value, size_t bytes, size_t count) {
    order_queue *queue = (order_queue *)handle;
    const order_command fill = {.kind = ORDER_FILL, .to = to, .bytes = bytes, .count = count};
    order_between("fill");
    ha_status status = order_enqueue(queue, &fill, value, bytes);
    if (status == HA_OK) order_touch(queue, to, bytes * count, 1, "fill");
    order_between("fill");
    return status;
}

static ha_status order_call(void *handle, ha_function f, const void *argument, size_t bytes) {
    order_queue *queue = (order_queue *)handle;
    const char *its = (const char *)argument + order_head;
    const order_touches *touches = (const order_touches *)(const void *)its;
    const order_command call = {.kind = ORDER_CALL, .f = f};
    ha_status status = order_enqueue(queue, &call, argument, bytes);
    for (uint32_t i = 0; status == HA_OK && i < touches->n; i++) {
        const hb_pieces all = {touches->touch[i].bytes, 1, 1, 0, 0}, *p = &touches->touch[i].pieces;
        order_touch_pieces(queue, touches->touch[i].data, p->bytes > 0 ? p : &all,
                           touches->touch[i].write,
                           touches->touch[i].write ? "function's write" : "function's read");
    }
    return status;
}

/* ---- events -------------------------------------------------------------------------------- */

/* Somebody comes between when the position is taken already: what he enqueues is behind it. */
static ha_status order_record(void *handle, ha_event *event) {
    order_queue *queue = (order_queue *)handle;
    if (order_records_fail || order_fails()) return HA_ERR_BACKEND;
    order_event *made = (order_event *)HARRAY_MALLOC(sizeof *made);
    if (made == NULL) return HA_ERR_MEMORY;
    *made = (order_event){queue, queue->enqueued, hb.clock[queue->agent]};
    order_events++;
    order_between("record");
    *event = (ha_event){made, 0};
    return HA_OK;
}

static void order_forget(ha_event *event) {
    HARRAY_FREE(event->object);
    event->object = NULL;
    order_events--;
}

static ha_status order_await(void *handle, const ha_event *event) {
    order_queue *queue = (order_queue *)handle;
    const order_event *point = (const order_event *)event->object;
    const order_command await = {
        .kind = ORDER_AWAIT, .other = point->queue, .position = point->position};
    if (!order_same_kind(queue->device, point->queue->device))
        hb_complain("step %u: %s awaits an event of %s, which is of another kind", hb.step,
                    queue->device->name, point->queue->device->name);
    order_between("await");
    ha_status status = order_enqueue(queue, &await, NULL, 0);
    if (status == HA_OK) hb_join(&hb.clock[queue->agent], &point->clock);
    order_between("await");
    return status;
}

static ha_status order_finish(const ha_event *event) {
    const order_event *point = (const order_event *)event->object;
    if (order_fails()) return HA_ERR_BACKEND;
    order_between("finish");
    order_run_until(point->queue, point->position);
    hb_join(&hb.clock[HB_HOST], &point->clock);
    order_between("finish");
    return HA_OK;
}

static int order_done(const ha_event *event) {
    const order_event *point = (const order_event *)event->object;
    if (point->queue->executed < point->position) return 0;
    hb_join(&hb.clock[HB_HOST], &point->clock);
    return 1;
}

static void order_drain(void *handle) {
    order_queue *queue = (order_queue *)handle;
    const uint64_t end = queue->enqueued;
    const hb_clock clock = hb.clock[queue->agent];
    order_between("drain");
    order_run_until(queue, end);
    hb_join(&hb.clock[HB_HOST], &clock);
}

/* ---- the tables ---------------------------------------------------------------------------- */

static ha_status order_open_device(int index, void **device, void **memory) {
    order_device *opened = &order_devices[index];
    const uintptr_t distance = (uintptr_t)(index + 1) * ORDER_DISTANCE;
    opened->here = (ha_queue){distance, ORDER_DISTANCE, 0 - distance};
    opened->number = index;
    *device = *memory = opened;
    return HA_OK;
}

static int order_zero_copy(void *device) {
    return order_shares((const order_device *)device) ? 2 : 0;
}

static int order_count(void) { return ORDER_OF_ONE_KIND; }
static int order2_count(void) { return ORDER_DEVICES - ORDER_OF_ONE_KIND; }

static ha_status order_open(int number, void **device, void **memory) {
    return order_open_device(number, device, memory);
}

static ha_status order2_open(int number, void **device, void **memory) {
    return order_open_device(ORDER_OF_ONE_KIND + number, device, memory);
}

static const ha_memory_ops order_memory_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = order_allocate,
    .release = order_release,
    .reaches = order_reaches,
    .cost = order_cost,
};

static const ha_memory_ops order_host_memory_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = order_host_allocate,
    .release = order_host_release,
    .reaches = ha_host_reaches,
};

#define ORDER_QUEUE_OPS(fill_slot, pieces_slot)                                                    \
    {                                                                                              \
        .bytes = sizeof(ha_queue_ops), .version = HA_BACKEND_VERSION, .create = order_create,      \
        .destroy = order_destroy, .copy = order_copy, .call = order_call, .record = order_record,  \
        .await = order_await, .finish = order_finish, .done = order_done, .drain = order_drain,    \
        .fill = (fill_slot), .forget = order_forget, .copy_strided = (pieces_slot)                 \
    }
static const ha_queue_ops order_queue_ops = ORDER_QUEUE_OPS(NULL, order_copy_strided);
static const ha_queue_ops order2_queue_ops = ORDER_QUEUE_OPS(order_fill, NULL);

static const ha_backend order_backend = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "order",
    .count = order_count,
    .open = order_open,
    .memory = &order_memory_ops,
    .queue = &order_queue_ops,
    .zero_copy = order_zero_copy,
};

static const ha_backend order2_backend = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "order2",
    .count = order2_count,
    .open = order2_open,
    .memory = &order_memory_ops,
    .queue = &order2_queue_ops,
    .zero_copy = order_zero_copy,
};

static const ha_backend order_host = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "host",
    .count = ha_host_count,
    .memory = &order_host_memory_ops,
};

static HA_UNUSED int order_blocks(void) {
    int blocks = order_host_blocks;
    for (int i = 0; i < ORDER_DEVICES; i++) blocks += order_devices[i].blocks;
    return blocks;
}

/* Before each run: as new. Nothing may live. */
static void order_reset(void) {
    memset(&hb, 0, sizeof hb);
    snprintf(hb.name[HB_HOST], sizeof hb.name[HB_HOST], "the host");
    order_peers = order_shared = order_records_fail = order_full = order_fail_in = 0;
    order_least_host = 0;
    order_disturb = NULL;
    order_capacity = 1000;
}

#endif
