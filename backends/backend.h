/* How to write a backend: everything harray needs to know about a kind of device.
 *
 * A backend is one file that fills three small tables of functions: ha_memory_ops (one address
 * space), ha_queue_ops (one in-order queue of work) and ha_backend (the devices of a kind). It
 * includes this header and nothing of impl/. host/host.h is the smallest one, sim/sim.h a complete
 * one, and examples/device/device.h one made by a user. Hand it in with ha_backend_register(), or
 * add it to backends/list.h; then "kind:0" is a context.
 *
 * What holds for every function:
 *  - It may be called from any thread, also for one queue from several threads at once. The engine
 *    holds none of its locks; only count, open, close, zero_copy, strict, create, adopt and destroy are
 *    called one at a time. It must not call back into harray, except ha_backend_report and
 *    ha_queue_run.
 *  - A failing call has done nothing: nothing enqueued, nothing allocated, outputs untouched. It
 *    returns HA_ERR_MEMORY when something is full, HA_ERR_UNSUPPORTED, else HA_ERR_BACKEND, and
 *    may say more with ha_backend_report() just before.
 *  - A queue function returns HA_ERR_LOST when the queue has failed for good: what was enqueued
 *    before and has not happened never will, and nothing more can be enqueued. The engine then
 *    drains the queue, and does not use it again until ha_shutdown.
 *  - "void *memory", "void *device", "void *queue" are the backend's own: the engine does not look.
 *  - Each table starts with its own size and the version it was written for: a later engine knows
 *    which slots are there. Slots marked optional may be NULL.
 *  - Calls for one queue from several threads take effect one after the other: what was enqueued
 *    before a record is in front of its event, and who enqueues behind a record sees what its
 *    caller did before (as any lock, or the driver's own, gives).
 *
 * What the engine guarantees in return: a block is released when no queue uses it any more; `copy`
 * is only asked for between memories for which `reaches` said yes; a queue is destroyed when it is
 * drained; open is called once a device until close. */
#ifndef HARRAY_BACKEND_H
#define HARRAY_BACKEND_H

#include "../harray/memory.h"

#if defined HARRAY_MALLOC && !(defined HARRAY_REALLOC && defined HARRAY_FREE)
#error "define HARRAY_MALLOC, HARRAY_REALLOC and HARRAY_FREE, or none of them"
#endif
#ifndef HARRAY_MALLOC /* for a backend's own records, too */
#include <stdlib.h>
#define HARRAY_MALLOC malloc
#define HARRAY_REALLOC realloc
#define HARRAY_FREE free
#endif

#define HA_BACKEND_VERSION 2u

struct ha_backend;

/* A memory, as seen by another one. */
typedef struct ha_place {
    const struct ha_backend *backend;
    void *memory; /* of that backend; what it is, only that backend knows */
} ha_place;

/* ---- kernels: programs as text, and launching them ------------------------------------------------ */

/* What a device's compiler takes. Both get the same kernels, for every array as two parameters: a pointer
 * to the beginning of a buffer, and where in it the array begins, in bytes (a 64-bit number). */
typedef enum ha_language {
    HA_LANGUAGE_NONE = 0,
    HA_LANGUAGE_OPENCL_C, /* 1.2 */
    HA_LANGUAGE_CUDA      /* C++, as NVRTC takes it */
} ha_language;

/* A program to be made, from its text or from what an earlier build gave. */
typedef struct ha_program_source {
    const char *text; /* ends with '\0'; NULL: from the binary */
    const void *binary;
    size_t binary_bytes;
    const char
        *options; /* of the compiler, separated by spaces; part of what a binary is made of */
    char *log;    /* gets what the compiler said, at most log_bytes bytes with the '\0' */
    size_t log_bytes;
} ha_program_source;

/* What a build gave: bytes that are the caller's to free, by HARRAY_FREE. */
typedef struct ha_binary {
    void *data;
    size_t bytes;
} ha_binary;

typedef struct ha_kernel_limits {
    size_t lanes;       /* of a team, at most */
    size_t multiple;    /* that a team's lanes had better be one of; 1: a CPU runs them in turns */
    size_t local_bytes; /* that the device has for a team, less what the kernel itself takes */
} ha_kernel_limits;

/* A parameter of a kernel: a number or struct of so many bytes; with 0 bytes, where an array begins. */
typedef struct ha_kernel_argument {
    size_t bytes;
    const void *
        value; /* the number; or a place in the device's memory, or NULL for an array of no elements */
} ha_kernel_argument;

typedef struct ha_launch {
    void *kernel;
    size_t teams[3], lanes[3]; /* 1 where there are fewer dimensions; the innermost is the first */
    const ha_kernel_argument *argument;
    size_t arguments;
    size_t local_bytes; /* that a team gets besides what the kernel itself declares */
} ha_launch;

/* A position in a queue. What the two words mean is up to the backend. */
typedef struct ha_event {
    void *object;
    uint64_t value;
} ha_event;

/* One address space. */
typedef struct ha_memory_ops {
    size_t bytes; /* sizeof(ha_memory_ops) */
    uint32_t version;

    /* *block = `bytes` (> 0) fresh bytes, aligned to at least 64; their values do not matter. Must
     * not wait for queues. HA_ERR_MEMORY when there is no room. */
    ha_status (*allocate)(void *memory, size_t bytes, void **block);

    /* Gives a block of `allocate` back, with the same size. Cannot fail. */
    void (*release)(void *memory, void *block, size_t bytes);

    /* Nonzero: queues of this memory's device can copy from it to `other` and back. Memory on the
     * host is other->backend->kind "host". Not asked for the memory itself: within a memory,
     * queues of its device can always copy. */
    int (*reaches)(void *memory, const ha_place *other);

    /* Optional: nanoseconds to copy 1 MiB from `other` to this memory, where reaches() holds. The
     * cheapest valid source is taken. Missing: 100,000. */
    uint64_t (*cost)(void *memory, const ha_place *other);

    /* Optional: nonzero when the pointer belongs to this memory's device, wherever it points: then
     * *kind says what it is. Must not fail for any pointer. */
    int (*knows)(void *memory, const void *pointer, ha_memory_kind *kind);

    /* Optional: bytes that the memory has, and how many of them nobody has taken; *unused = UINT64_MAX where
     * that is not known. */
    ha_status (*capacity)(void *memory, uint64_t *total, uint64_t *unused);
} ha_memory_ops;

/* A copy of equally spaced pieces of `bytes` bytes: count[0] of them, to_step[0] bytes apart at the
 * target and from_step[0] bytes apart at the source; that count[1] times, to_step[1] and
 * from_step[1] bytes apart, and so on, on `levels` levels, the innermost first. Without levels it
 * is one piece. All counts are at least 1; nothing is aligned. No two pieces meet at the target,
 * nor do target and source; at the source they may. What lies between the pieces is not touched. */
enum {
    HA_STRIDED_LEVELS = 8, /* at most */
    HA_SCATTER_LEVELS = 4, /* at most, where several copies are asked for at once; */
    HA_SCATTER_BYTES = 16  /* and of a piece there */
};
typedef struct ha_strided_copy {
    void *to;
    const void *from;
    size_t bytes;
    int levels;
    size_t count[HA_STRIDED_LEVELS], to_step[HA_STRIDED_LEVELS], from_step[HA_STRIDED_LEVELS];
} ha_strided_copy;

/* One in-order queue: what is enqueued first happens first. */
typedef struct ha_queue_ops {
    size_t bytes; /* sizeof(ha_queue_ops) */
    uint32_t version;

    ha_status (*create)(void *device, void **queue);

    /* The queue is drained and will not be used again. */
    void (*destroy)(void *queue);

    /* Enqueues a copy of `bytes` (> 0) bytes; returns without waiting for it, unless that is the only way to
     * tell that this copy alone has failed. Host memory may be pageable; it stays as it is until the copy has
     * happened. */
    ha_status (*copy)(void *queue, void *to, const void *from, size_t bytes);

    /* Enqueues f(here, argument), `bytes` bytes of argument copied now; with 0 bytes f gets
     * NULL. Run it by ha_queue_run(). *here is the backend's, and stays until f has returned: f adds
     * here->shift, modulo 2^64, to an address of [here->first, here->first + here->bytes), which has
     * to hold all blocks of the device's memory and no host memory, and uses all others as they are.
     * {0, 0, 0} where blocks have the addresses that a host function can use.
     * HA_ERR_UNSUPPORTED where a host function cannot reach the device's data. */
    ha_status (*call)(void *queue, ha_function f, const void *argument, size_t bytes);

    /* *event = the position behind everything enqueued so far, from any thread. */
    ha_status (*record)(void *queue, ha_event *event);

    /* Work enqueued on `queue` later waits for `event`, of another queue of the same backend. The
     * event may be forgotten as soon as this has returned. When it never happens, `queue` fails,
     * too: nothing behind the wait counts as having happened. */
    ha_status (*await)(void *queue, const ha_event *event);

    /* Blocks the calling thread until the event has happened. HA_ERR_LOST: it never will, the
     * device failed; another failure says nothing about the event. */
    ha_status (*finish)(const ha_event *event);

    /* 1: happened, 0: not yet, negative: it never will, the device failed. Does not block. */
    int (*done)(const ha_event *event);

    /* Blocks until nothing enqueued earlier touches memory any more, also after the device was
     * lost. After HA_ERR_LOST "earlier" is all: a command that another thread was about to enqueue
     * is refused, or waited for. Allocates nothing and cannot fail: it is what remains when record
     * fails. */
    void (*drain)(void *queue);

    /* Optional: enqueues `count` copies, one behind the other, of the `bytes` bytes at `value`
     * (on the host, copied now) to `to`. Missing, or HA_ERR_UNSUPPORTED for this value: the engine
     * copies a filled host block. */
    ha_status (*fill)(void *queue, void *to, const void *value, size_t bytes, size_t count);

    /* Optional: the event's object is not needed any more; nobody uses it at this moment. */
    void (*forget)(ha_event *event);

    /* Optional: the driver's own object of this queue, for ha_context_stream(). */
    void *(*native)(void *queue);

    /* Optional: *queue = a queue around the caller's own `native` one, for ha_context_adopt().
     * destroy ends it and leaves the native one alone. HA_ERR_ARGUMENT when it is of another
     * device. */
    ha_status (*adopt)(void *device, void *native, void **queue);

    /* Optional: *event = the caller's own driver event, for ha_token_end_after(). The event is
     * awaited before this returns to the caller, then forgotten. */
    ha_status (*adopt_event)(void *queue, void *native, ha_event *event);

    /* Optional: enqueues n copies of equally spaced pieces. The table is copied now.
     *   n = 1: by the same rules and between the same places as `copy`. HA_ERR_UNSUPPORTED: not this
     *     one in one call; the engine asks again for each of its parts on one level less, and in the
     *     end has `copy` make one piece after the other. So a backend takes what its device does
     *     well. DMA engines take rows, and planes of rows: ha_strided_is_pitched() of
     *     common/strided.h says which copies those are. A kernel takes small pieces within the
     *     device's memory.
     *   n > 1: pieces of at most HA_SCATTER_BYTES bytes on at most HA_SCATTER_LEVELS levels, all
     *     within this device's memory. In any order among each other: what one copy writes, no other
     *     one touches.
     *   n = 0: nothing is enqueued. HA_OK: the device brings small values of its memory to their
     *     places faster than the host does; then it is asked to, with a table of copies.
     *     HA_ERR_UNSUPPORTED: the host does that. */
    ha_status (*copy_strided)(void *queue, const ha_strided_copy *copies, size_t n);

    /* Optional, for traces: enqueues that *ns becomes the time (CLOCK_MONOTONIC, nanoseconds) at
     * which everything enqueued before has happened. *ns is host memory and 0 until then; it is set
     * by one atomic store, and stays until that, or until the queue is drained. */
    ha_status (*stamp)(void *queue, uint64_t *ns);

    /* Optional: enqueues a kernel; the arguments are copied now. HA_ERR_ARGUMENT: a team is larger than
     * the kernel's limits. */
    ha_status (*launch)(void *queue, const ha_launch *launch);

    /* Optional: as launch, of the caller's own kernel: `kernel` is the driver's object (a CUfunction), and
     * the arguments are all numbers or structs. */
    ha_status (*launch_native)(void *queue, const ha_launch *launch);
} ha_queue_ops;

/* The devices of one kind. */
typedef struct ha_backend {
    size_t bytes; /* sizeof(ha_backend) */
    uint32_t version;

    /* The first part of context names: letters, digits, '_'. Unique. Lives as long as the
     * backend. */
    const char *kind;

    /* Nonzero: ha_context_best() does not take it unless it is named. */
    int only_if_named;

    /* Devices that are there now. 0 when there are none, or no driver: not an error. Negative: there
     * are none because the user's options are wrong; then ha_context_best() takes no other kind, but
     * fails. */
    int (*count)(void);

    /* Opens a device: *device for create, *memory for the memory table. */
    ha_status (*open)(int number, void **device, void **memory);

    /* Optional: closes it (ha_shutdown). Its queues are destroyed, its blocks released. */
    void (*close)(void *device);

    const ha_memory_ops *memory;
    const ha_queue_ops *queue; /* NULL for the host alone: it has no queue, is never opened, and
                                  its memory object is NULL */

    /* Optional: host memory that this device's queues copy fastest from and to (pinned); `memory`
     * is what open gave. Host incarnations of arrays that are first touched at the device, and
     * staging chunks, are taken from it. Missing, or full: pageable memory. `reaches` and `cost`
     * are not asked. */
    const ha_memory_ops *pinned;

    /* Optional: whether the device's queues can work on host memory in place. 0: no, 1: when asked
     * for, 2: that is the best way to use it (unified memory). Missing: 0. */
    int (*zero_copy)(void *device);

    /* Optional, for zero-copy: nonzero when the device's queues can work in place on the host memory
     * at `pointer`; blocks of `pinned` are not asked about, of others the first and the last byte are,
     * each time an access is opened. Where they cannot, the engine exchanges the block for one of
     * `pinned`, and refuses the caller's own memory. Missing: they can work on all of it. */
    int (*maps)(void *device, const void *pointer);

    /* Optional: why count() gives none, for messages; "" when that needs no reason. The text stays
     * until the next call. */
    const char *(*missing)(void);

    /* Optional, for finding mistakes: nonzero when functions on the device's queues are to reach only
     * what the accesses cover that are open when they are enqueued. Then the engine runs them with
     * another ha_queue than the one that ha_queue_run is given, whose addresses are its own; so this
     * is for devices whose functions find their data by `shift`, and run one at a time on a queue.
     * 2: nor may their arguments hold the address of an array on the host. Missing: 0. */
    int (*strict)(void *device);

    /* Optional: the number of the device that ha_context_best() takes; negative: none. Asked only where
     * count() found devices. Missing: 0. */
    int (*best)(void);

    /* Optional: what a device is called by its maker, as snprintf writes it. */
    void (*describe)(void *device, char *text, size_t bytes);

    /* Optional, for kernels: what `build` takes. HA_LANGUAGE_NONE: there is no compiler, for the reason that
     * is reported. The other slots for kernels, and `launch` of the queues, are there where this one is. */
    ha_language (*language)(void *device);

    /* For kernels: what a binary depends on beside the program's text and options, as snprintf writes it:
     * the device's architecture, the versions of compiler and driver. */
    void (*target)(void *device, char *text, size_t bytes);

    /* For kernels: makes a program; may be called from several threads at once. *made, unless NULL, gets the
     * binary, or no bytes where the device gives none. HA_ERR_COMPILE: the compiler refuses the text, and
     * its log says why; HA_ERR_BACKEND: the binary is not for this device. */
    ha_status (*build)(void *device, const ha_program_source *build, void **program,
                       ha_binary *made);

    /* For kernels: no queue uses the program any more. Its kernels go with it. */
    void (*discard)(void *device, void *program);

    /* For kernels: finds one by its name. HA_ERR_NOT_FOUND: there is none. */
    ha_status (*kernel)(void *program, const char *name, ha_kernel_limits *limits, void **kernel);

    /* Optional, for kernels: whether the device computes with double. Missing: it does. */
    int (*has_double)(void *device);

    /* Optional, for kernels: those of the device, for any kernel. Missing: what a kernel takes is found out when it
     * is compiled or launched. */
    ha_status (*limits)(void *device, ha_kernel_limits *limits);

    /* Optional, for kernels that are compiled before there is a device: what is compiled for devices of a
     * name that the backend knows, such as "sm_90"; *target is what `target` says of such a device.
     * HA_LANGUAGE_NONE: there is no such name, or, for the reason that is reported, no compiler. */
    ha_language (*compiles_for)(const char *name, char *target, size_t bytes);

    /* Where compiles_for is: compiles the text for such devices, as build does, but loads nothing. */
    ha_status (*compile)(const char *name, const ha_program_source *source, ha_binary *made);

    /* Optional, for kernels: whether the device has atomics of 64 bits. Missing: it does. */
    int (*has_long_atomics)(void *device);

    /* Optional: memory that the host and the device's queues reach by the same addresses, its pages where
     * they are used (managed, or shared), for ha_memory_allocate_kind; no array lives there. `memory` is what
     * open gave, whose `knows` knows it. HA_ERR_UNSUPPORTED where this device has none. */
    const ha_memory_ops *managed;
} ha_backend;

/* Makes a kind known. The backend must stay until ha_shutdown() or the end of the process.
 * HA_ERR_ARGUMENT: a required slot is missing, the version is unknown, the kind is no name or is
 * taken; HA_ERR_MEMORY. Registering the same backend again does nothing. */
HA_API HA_MUST_CHECK ha_status ha_backend_register(const ha_backend *backend);

/* Called by a backend before it returns a failure: the driver's error number and its text (copied)
 * go into the ha_error. */
HA_API void ha_backend_report(int64_t code, const char *text);

/* Calls f(here, argument) in the way a queue must: so that accesses opened inside are refused
 * instead of deadlocking. */
HA_API void ha_queue_run(ha_function f, const ha_queue *here, void *argument);

#endif
