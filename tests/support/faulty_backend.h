/* Fault injection: a wrapper around any backend whose calls fail on demand, and a malloc that does.
 *
 * Include it before everything else, in this order:
 *
 *     #include "faulty_backend.h"      // defines HARRAY_MALLOC and so on; no system header before
 *     #include "../../backends/host/host.h"    // the backends to wrap, which use that malloc
 *     #include "../../backends/sim/sim.h"
 *     #include "private_backend.h"
 *     FAULTY_HOST(faulty_host, ha_backend_host)
 *     FAULTY_BACKEND(faulty_sim, ha_backend_sim, "faulty_sim", faulty_sim_fill,
 *                    &faulty_sim_pinned_ops)
 *     FAULTY_BACKEND(faulty_private, private_backend, "faulty_private", NULL, NULL)
 *     #define HARRAY_HOST_BACKEND faulty_host
 *     #define HARRAY_IMPLEMENTATION
 *     #include "../../harray.h"           // last
 *
 * Register &faulty_sim and &faulty_private; the host is in place. Handles of memories, devices and
 * queues pass through unchanged, so ha_sim_set_credit() takes a queue of faulty_sim. A device is
 * opened through the wrapper or directly, not both ways at a time.
 *
 * Every call of a wrapped slot that returns a status, and every HARRAY_MALLOC and HARRAY_REALLOC,
 * is a fault point. Points are counted from faulty_arm() or faulty_disarm() on, over all threads:
 *
 *     for (long n = 0;; n++) {
 *         faulty_arm(n, 0);               // point n fails; faulty_arm(n, 1): and all behind it
 *         ...                             // the calls to test
 *         if (faulty_disarm() == 0) break; // nothing has failed: there is no point n
 *     }
 *
 * A failing point has done nothing: `allocate` gives HA_ERR_MEMORY, the others HA_ERR_BACKEND, with
 * FAULTY_CODE and the name of the slot in the ha_error. `done` never fails: it would have to say
 * that the device has stopped, while it has not.
 *
 * The wrapper also keeps a ledger, to be compared with the engine's:
 * faulty_held(&faulty_sim_ledger). What is released must be what was allocated, or the program ends
 * with a message. */
#ifndef HARRAY_TESTS_SUPPORT_FAULTY_BACKEND_H
#define HARRAY_TESTS_SUPPORT_FAULTY_BACKEND_H

#ifdef HARRAY_BACKEND_H
#error "include faulty_backend.h before harray's headers: it defines HARRAY_MALLOC"
#endif
#ifndef _GNU_SOURCE
#ifdef _FEATURES_H
#error "include faulty_backend.h before any system header"
#endif
#define _GNU_SOURCE 1 /* as harray.h, which comes later, needs it */
#endif

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *faulty_malloc(size_t bytes);
static void *faulty_realloc(void *pointer, size_t bytes);
static void faulty_free(void *pointer);
#define HARRAY_MALLOC faulty_malloc
#define HARRAY_REALLOC faulty_realloc
#define HARRAY_FREE faulty_free
#include "own_memory.h"

#include "../../backends/backend.h"

#define FAULTY_CODE 4711 /* the code of the ha_error of an injected failure */

/* ---- fault points -------------------------------------------------------------------------- */

static struct {
    atomic_long points;       /* passed since the last arm or disarm */
    atomic_long failed;       /* of these */
    atomic_long first;        /* the number of the point that fails; -1: none does */
    atomic_int sticky;        /* all points behind it fail, too */
    atomic_int elsewhere;     /* points are what the test says, not those of this header */
    atomic_long records;      /* living blocks of HARRAY_MALLOC */
    const char *_Atomic last; /* the slot that failed last */
} faulty = {.first = -1};

/* Lets point n from now on fail: 0 is the next one. Sticky: and all behind it. */
static HA_UNUSED void faulty_arm(long n, int sticky) {
    atomic_store(&faulty.first, -1);
    atomic_store(&faulty.points, 0);
    atomic_store(&faulty.failed, 0);
    atomic_store(&faulty.sticky, sticky);
    atomic_store(&faulty.first, n);
}

/* Nothing fails any more. Returns how many points have failed since faulty_arm(). */
static HA_UNUSED long faulty_disarm(void) {
    long failed = atomic_load(&faulty.failed);
    faulty_arm(-1, 0);
    return failed;
}

/* Between these two nothing fails, and no points are counted; for one thread alone. */
static HA_UNUSED long faulty_pause(void) { return atomic_exchange(&faulty.first, -1); }
static HA_UNUSED void faulty_resume(long first, long points) {
    atomic_store(&faulty.points, points);
    atomic_store(&faulty.first, first);
}

/* Points passed since faulty_arm() or faulty_disarm(). */
static HA_UNUSED long faulty_points(void) { return atomic_load(&faulty.points); }

/* The slot that failed last, as "faulty_sim.copy" or "malloc"; NULL when none ever did. */
static HA_UNUSED const char *faulty_last(void) { return atomic_load(&faulty.last); }

/* Living blocks of HARRAY_MALLOC and HARRAY_REALLOC. */
static HA_UNUSED long faulty_records(void) { return atomic_load(&faulty.records); }

/* Passes a point; nonzero when it is to fail. */
static int faulty_pass(const char *slot) {
    long point = atomic_fetch_add(&faulty.points, 1), first = atomic_load(&faulty.first);
    if (first < 0 || point < first || (point > first && !atomic_load(&faulty.sticky))) return 0;
    atomic_fetch_add(&faulty.failed, 1);
    atomic_store(&faulty.last, slot);
    return 1;
}

static int faulty_point(const char *slot) {
    return !atomic_load(&faulty.elsewhere) && faulty_pass(slot);
}

static ha_status faulty_call(const char *slot) {
    if (!faulty_point(slot)) return HA_OK;
    ha_backend_report(FAULTY_CODE, slot);
    return HA_ERR_BACKEND;
}

/* ---- records ------------------------------------------------------------------------------- */

static void *faulty_malloc(size_t bytes) {
    void *fresh = faulty_point("malloc") ? NULL : malloc(bytes);
    if (fresh != NULL) atomic_fetch_add(&faulty.records, 1);
    return fresh;
}

static HA_UNUSED void *faulty_realloc(void *pointer, size_t bytes) {
    void *fresh = faulty_point("realloc") ? NULL : realloc(pointer, bytes);
    if (fresh != NULL && pointer == NULL) atomic_fetch_add(&faulty.records, 1);
    return fresh;
}

static void faulty_free(void *pointer) {
    if (pointer != NULL) atomic_fetch_sub(&faulty.records, 1);
    free(pointer);
}

/* ---- the ledger ---------------------------------------------------------------------------- */

typedef struct faulty_block {
    struct faulty_block *next;
    void *memory, *address;
    size_t bytes;
} faulty_block;

/* What a wrapped backend has handed out. */
typedef struct faulty_holdings {
    size_t blocks, bytes, queues, devices;
} faulty_holdings;

typedef struct faulty_ledger {
    const ha_backend *inner, *outer;
    pthread_mutex_t lock; /* of what follows */
    faulty_holdings held;
    faulty_block *blocks;
} faulty_ledger;

static _Noreturn void faulty_misused(const ha_backend *outer, const char *what, const void *address,
                                     size_t bytes) {
    fprintf(stderr, "faulty backend '%s': %s: %zu bytes at %p\n", outer->kind, what, bytes,
            address);
    abort();
}

static void faulty_note_block(faulty_ledger *ledger, void *memory, void *address, size_t bytes) {
    faulty_block *block = (faulty_block *)malloc(sizeof *block);
    if (block == NULL) faulty_misused(ledger->outer, "no memory for the ledger", address, bytes);
    pthread_mutex_lock(&ledger->lock);
    *block = (faulty_block){ledger->blocks, memory, address, bytes};
    ledger->blocks = block;
    ledger->held.blocks++;
    ledger->held.bytes += bytes;
    pthread_mutex_unlock(&ledger->lock);
}

static void faulty_forget_block(faulty_ledger *ledger, void *memory, void *address, size_t bytes) {
    faulty_block **link = &ledger->blocks, *block;
    pthread_mutex_lock(&ledger->lock);
    while (*link != NULL && ((*link)->address != address || (*link)->memory != memory))
        link = &(*link)->next;
    block = *link;
    if (block == NULL)
        faulty_misused(ledger->outer, "released, but no block of that memory", address, bytes);
    if (block->bytes != bytes)
        faulty_misused(ledger->outer, "released with another size", address, bytes);
    *link = block->next;
    ledger->held.blocks--;
    ledger->held.bytes -= bytes;
    pthread_mutex_unlock(&ledger->lock);
    free(block);
}

static void faulty_count_change(faulty_ledger *ledger, size_t *count, int by) {
    pthread_mutex_lock(&ledger->lock);
    *count += (size_t)by;
    pthread_mutex_unlock(&ledger->lock);
}

static HA_UNUSED faulty_holdings faulty_held(faulty_ledger *ledger) {
    faulty_holdings held;
    pthread_mutex_lock(&ledger->lock);
    held = ledger->held;
    pthread_mutex_unlock(&ledger->lock);
    return held;
}

/* ---- slots that do more than pass a point and call ----------------------------------------- */

static HA_UNUSED ha_status faulty_allocate(faulty_ledger *ledger, const ha_memory_ops *table,
                                           const char *slot, void *memory, size_t bytes,
                                           void **address) {
    ha_status status = faulty_call(slot) != HA_OK ? HA_ERR_MEMORY
                                                  : table->allocate(memory, bytes, address);
    if (status == HA_OK) faulty_note_block(ledger, memory, *address, bytes);
    return status;
}

static HA_UNUSED void faulty_release(faulty_ledger *ledger, const ha_memory_ops *table,
                                     void *memory, void *address, size_t bytes) {
    faulty_forget_block(ledger, memory, address, bytes);
    table->release(memory, address, bytes);
}

/* Where the backend inside cannot tell what a pointer is, the ledger can. */
static HA_UNUSED int faulty_knows(faulty_ledger *ledger, void *memory, const void *pointer,
                                  ha_memory_kind *kind) {
    int known = 0;
    if (ledger->inner->memory->knows != NULL)
        return ledger->inner->memory->knows(memory, pointer, kind);
    pthread_mutex_lock(&ledger->lock);
    for (const faulty_block *block = ledger->blocks; block != NULL; block = block->next)
        known |= block->memory == memory &&
                 (uintptr_t)pointer - (uintptr_t)block->address < block->bytes;
    pthread_mutex_unlock(&ledger->lock);
    if (known) *kind = HA_MEMORY_DEVICE;
    return known;
}

/* The inner backend knows its own memories as its own, not as the wrapper's. */
static ha_place faulty_place(const faulty_ledger *ledger, const ha_place *place) {
    ha_place inside = *place;
    if (inside.backend == ledger->outer) inside.backend = ledger->inner;
    return inside;
}

static HA_UNUSED uint64_t faulty_cost(const faulty_ledger *ledger, void *memory,
                                      const ha_place *other) {
    ha_place place = faulty_place(ledger, other);
    if (ledger->inner->memory->cost == NULL) return 100000; /* as backend.h says */
    return ledger->inner->memory->cost(memory, &place);
}

static HA_UNUSED ha_status faulty_create(faulty_ledger *ledger, const char *slot, void *device,
                                         void **queue) {
    ha_status status = faulty_call(slot);
    if (status == HA_OK) status = ledger->inner->queue->create(device, queue);
    if (status == HA_OK) faulty_count_change(ledger, &ledger->held.queues, 1);
    return status;
}

static HA_UNUSED ha_status faulty_adopt(faulty_ledger *ledger, const char *slot, void *device,
                                        void *native, void **queue) {
    ha_status status = faulty_call(slot);
    if (status == HA_OK && ledger->inner->queue->adopt == NULL) status = HA_ERR_UNSUPPORTED;
    if (status == HA_OK) status = ledger->inner->queue->adopt(device, native, queue);
    if (status == HA_OK) faulty_count_change(ledger, &ledger->held.queues, 1);
    return status;
}

static HA_UNUSED void faulty_destroy(faulty_ledger *ledger, void *queue) {
    ledger->inner->queue->destroy(queue);
    faulty_count_change(ledger, &ledger->held.queues, -1);
}

static HA_UNUSED ha_status faulty_open(faulty_ledger *ledger, const char *slot, int number,
                                       void **device, void **memory) {
    ha_status status = faulty_call(slot);
    if (status == HA_OK) status = ledger->inner->open(number, device, memory);
    if (status == HA_OK) faulty_count_change(ledger, &ledger->held.devices, 1);
    return status;
}

static HA_UNUSED void faulty_close(faulty_ledger *ledger, void *device) {
    if (ledger->inner->close != NULL) ledger->inner->close(device);
    faulty_count_change(ledger, &ledger->held.devices, -1);
}

/* ---- the tables ---------------------------------------------------------------------------- */

/* Wraps the host: a memory and no queue. */
#define FAULTY_HOST(name, inside)                                                                  \
    FAULTY_MEMORY_(name, inside, "host")                                                           \
    static const ha_backend name = {                                                               \
        .bytes = sizeof(ha_backend),                                                               \
        .version = HA_BACKEND_VERSION,                                                             \
        .kind = "host",                                                                            \
        .count = name##_count,                                                                     \
        .memory = &name##_memory_ops,                                                              \
    };

/* Wraps a device. `fill_slot`: name_fill, or NULL when the backend inside has none; `pinned_table`:
 * &name_pinned_ops or NULL. */
#define FAULTY_BACKEND(name, inside, kind_name, fill_slot, pinned_table)                           \
    FAULTY_MEMORY_(name, inside, kind_name)                                                        \
    FAULTY_PINNED_(name, inside, kind_name)                                                        \
    FAULTY_QUEUE_(name, inside, kind_name, fill_slot)                                              \
    static ha_status name##_open(int number, void **device, void **memory) {                       \
        return faulty_open(&name##_ledger, kind_name ".open", number, device, memory);             \
    }                                                                                              \
    static void name##_close(void *device) { faulty_close(&name##_ledger, device); }               \
    static int name##_zero_copy(void *device) {                                                    \
        return (inside).zero_copy != NULL ? (inside).zero_copy(device) : 0;                        \
    }                                                                                              \
    static const ha_backend name = {                                                               \
        .bytes = sizeof(ha_backend),                                                               \
        .version = HA_BACKEND_VERSION,                                                             \
        .kind = kind_name,                                                                         \
        .only_if_named = 1,                                                                        \
        .count = name##_count,                                                                     \
        .open = name##_open,                                                                       \
        .close = name##_close,                                                                     \
        .memory = &name##_memory_ops,                                                              \
        .queue = &name##_queue_ops,                                                                \
        .pinned = pinned_table,                                                                    \
        .zero_copy = name##_zero_copy,                                                             \
    };

#define FAULTY_MEMORY_(name, inside, kind_name)                                                    \
    static const ha_backend name;                                                                  \
    static faulty_ledger name##_ledger = {                                                         \
        .inner = &(inside), .outer = &name, .lock = PTHREAD_MUTEX_INITIALIZER};                    \
    static int name##_count(void) { return (inside).count(); }                                     \
    static ha_status name##_allocate(void *memory, size_t bytes, void **address) {                 \
        return faulty_allocate(&name##_ledger, (inside).memory, kind_name ".allocate", memory,     \
                               bytes, address);                                                    \
    }                                                                                              \
    static void name##_release(void *memory, void *address, size_t bytes) {                        \
        faulty_release(&name##_ledger, (inside).memory, memory, address, bytes);                   \
    }                                                                                              \
    static int name##_reaches(void *memory, const ha_place *other) {                               \
        ha_place place = faulty_place(&name##_ledger, other);                                      \
        return (inside).memory->reaches(memory, &place);                                           \
    }                                                                                              \
    static uint64_t name##_cost(void *memory, const ha_place *other) {                             \
        return faulty_cost(&name##_ledger, memory, other);                                         \
    }                                                                                              \
    static int name##_knows(void *memory, const void *pointer, ha_memory_kind *kind) {             \
        return faulty_knows(&name##_ledger, memory, pointer, kind);                                \
    }                                                                                              \
    static const ha_memory_ops name##_memory_ops = {                                               \
        .bytes = sizeof(ha_memory_ops),                                                            \
        .version = HA_BACKEND_VERSION,                                                             \
        .allocate = name##_allocate,                                                               \
        .release = name##_release,                                                                 \
        .reaches = name##_reaches,                                                                 \
        .cost = name##_cost,                                                                       \
        .knows = name##_knows,                                                                     \
    };

/* Pinned memory, for a backend that has some. */
#define FAULTY_PINNED_(name, inside, kind_name)                                                    \
    static HA_UNUSED ha_status name##_pin(void *memory, size_t bytes, void **address) {            \
        return faulty_allocate(&name##_ledger, (inside).pinned, kind_name ".pin", memory, bytes,   \
                               address);                                                           \
    }                                                                                              \
    static HA_UNUSED void name##_unpin(void *memory, void *address, size_t bytes) {                \
        faulty_release(&name##_ledger, (inside).pinned, memory, address, bytes);                   \
    }                                                                                              \
    static HA_UNUSED const ha_memory_ops name##_pinned_ops = {                                     \
        .bytes = sizeof(ha_memory_ops),                                                            \
        .version = HA_BACKEND_VERSION,                                                             \
        .allocate = name##_pin,                                                                    \
        .release = name##_unpin,                                                                   \
        .reaches = name##_reaches,                                                                 \
    };

/* Passes a point; then the call. */
#define FAULTY_THEN_(slot, ...)                                                                    \
    ha_status status = faulty_call(slot);                                                          \
    return status != HA_OK ? status : (__VA_ARGS__)

#define FAULTY_QUEUE_(name, inside, kind_name, fill_slot)                                          \
    static ha_status name##_create(void *device, void **queue) {                                   \
        return faulty_create(&name##_ledger, kind_name ".create", device, queue);                  \
    }                                                                                              \
    static void name##_destroy(void *queue) { faulty_destroy(&name##_ledger, queue); }             \
    static ha_status name##_adopt_event(void *queue, void *native, ha_event *event) {              \
        if ((inside).queue->adopt_event == NULL) return HA_ERR_UNSUPPORTED;                        \
        FAULTY_THEN_(kind_name ".adopt_event", (inside).queue->adopt_event(queue, native, event)); \
    }                                                                                              \
    static ha_status name##_adopt(void *device, void *native, void **queue) {                      \
        return faulty_adopt(&name##_ledger, kind_name ".adopt", device, native, queue);            \
    }                                                                                              \
    static ha_status name##_copy(void *queue, void *to, const void *from, size_t bytes) {          \
        FAULTY_THEN_(kind_name ".copy", (inside).queue->copy(queue, to, from, bytes));             \
    }                                                                                              \
    static ha_status name##_call(void *queue, ha_function f, const void *argument, size_t bytes) { \
        FAULTY_THEN_(kind_name ".call", (inside).queue->call(queue, f, argument, bytes));          \
    }                                                                                              \
    static HA_UNUSED ha_status name##_fill(void *queue, void *to, const void *value, size_t bytes, \
                                           size_t count) {                                         \
        FAULTY_THEN_(kind_name ".fill", (inside).queue->fill(queue, to, value, bytes, count));     \
    }                                                                                              \
    static ha_status name##_copy_strided(void *queue, const ha_strided_copy *copies, size_t n) {   \
        if ((inside).queue->copy_strided == NULL) return HA_ERR_UNSUPPORTED;                       \
        FAULTY_THEN_(kind_name ".copy_strided", (inside).queue->copy_strided(queue, copies, n));   \
    }                                                                                              \
    static ha_status name##_stamp(void *queue, uint64_t *ns) {                                     \
        if ((inside).queue->stamp == NULL) return HA_ERR_UNSUPPORTED;                              \
        FAULTY_THEN_(kind_name ".stamp", (inside).queue->stamp(queue, ns));                        \
    }                                                                                              \
    static ha_status name##_record(void *queue, ha_event *event) {                                 \
        FAULTY_THEN_(kind_name ".record", (inside).queue->record(queue, event));                   \
    }                                                                                              \
    static ha_status name##_await(void *queue, const ha_event *event) {                            \
        FAULTY_THEN_(kind_name ".await", (inside).queue->await(queue, event));                     \
    }                                                                                              \
    static ha_status name##_finish(const ha_event *event) {                                        \
        FAULTY_THEN_(kind_name ".finish", (inside).queue->finish(event));                          \
    }                                                                                              \
    static int name##_done(const ha_event *event) { return (inside).queue->done(event); }          \
    static void name##_drain(void *queue) { (inside).queue->drain(queue); }                        \
    static void name##_forget(ha_event *event) {                                                   \
        if ((inside).queue->forget != NULL) (inside).queue->forget(event);                         \
    }                                                                                              \
    static void *name##_native(void *queue) {                                                      \
        return (inside).queue->native != NULL ? (inside).queue->native(queue) : NULL;              \
    }                                                                                              \
    static const ha_queue_ops name##_queue_ops = {                                                 \
        .bytes = sizeof(ha_queue_ops),                                                             \
        .version = HA_BACKEND_VERSION,                                                             \
        .create = name##_create,                                                                   \
        .destroy = name##_destroy,                                                                 \
        .copy = name##_copy,                                                                       \
        .call = name##_call,                                                                       \
        .record = name##_record,                                                                   \
        .await = name##_await,                                                                     \
        .finish = name##_finish,                                                                   \
        .done = name##_done,                                                                       \
        .drain = name##_drain,                                                                     \
        .fill = fill_slot,                                                                         \
        .forget = name##_forget,                                                                   \
        .native = name##_native,                                                                   \
        .adopt = name##_adopt,                                                                     \
        .adopt_event = name##_adopt_event,                                                         \
        .copy_strided = name##_copy_strided,                                                       \
        .stamp = name##_stamp,                                                                     \
    };

#endif
