/* Instruments: seeing what happens, and forbidding what should not.
 *
 *     HARRAY_VERBOSE=1         in the environment: errors on stderr when they happen, and waits for
 *                              other threads that last longer than a second; ha_set_verbose()
 *     HARRAY_TRACE=file.json   writes a trace for Perfetto or chrome://tracing; %p in the name is
 *                              the number of the process, %r its rank among those of MPI
 *     ha_report(stdout)        where bytes went: by memory, by call site, by array
 *     HA_NO_TRANSFERS { … }    any copy between memories in there is an error
 *     ha_set_event_handler()   a callback for what happens
 *
 * Transfers are counted always. What is counted or traced for each single access costs: it is off
 * until asked for (HA_WATCH_ACCESSES), and then applies to arrays made from then on. */
#ifndef HARRAY_INSTRUMENTS_H
#define HARRAY_INSTRUMENTS_H

#include "array.h"
#include "memory.h"
#include <stdio.h>

/* ---- forbidding --------------------------------------------------------------------------- */

/* HA_NO_TRANSFERS { … }: inside the block, for this thread, whatever would have to copy between
 * memories fails instead with HA_ERR_TRANSFER, naming the array, both memories and the size, and
 * changes nothing: opening, ha_array_get/set, prefetch, sync. Copies inside one memory are allowed,
 * and giving a new array its values. Nests; any way out of the block leaves it. */
#define HA_NO_TRANSFERS HA_NO_TRANSFERS_(HA_JOIN_(ha_no_transfers_, __COUNTER__))
#define HA_NO_TRANSFERS_(s)                                                                        \
    for (int s __attribute__((__cleanup__(ha_no_transfers_end_))) = ha_no_transfers_begin_(); s;   \
         s = 0)
HA_API int ha_no_transfers_begin_(void); /* 1 */
HA_API void ha_no_transfers_end_(int *scope);

/* ---- what happens ------------------------------------------------------------------------- */

typedef enum ha_event_kind {
    HA_EVENT_ALLOCATE, /* a block from the backend, not from the cache */
    HA_EVENT_FREE,     /* a block to the backend */
    HA_EVENT_TRANSFER, /* a copy between memories was enqueued */
    HA_EVENT_WAIT,     /* the host waited for a device */
    HA_EVENT_CONFLICT, /* a thread waited for another one's access, or was refused */
    HA_EVENT_OPEN,     /* an access was opened (only with HA_WATCH_ACCESSES) */
    HA_EVENT_CLOSE,    /* one was closed; `start` is when it was opened (HA_WATCH_ACCESSES) */
    HA_EVENT_COMPILE, /* a kernel was made for a device, from its text or from what was kept of that */
    HA_EVENT_LAUNCH, /* a kernel or a function was enqueued, or has run on the host (only with
                          HA_WATCH_ACCESSES) */
    HA_EVENT_EVICT, /* an array's block has given way; `writes`: its values had to be brought away first */
    HA_EVENT_RESTORE,  /* an array gets back, by transfers, what had given way */
    HA_EVENT_PRESSURE, /* a thread waited for memory that others used */
    HA_EVENT_NEW,      /* an array was made; traces have none of these two */
    HA_EVENT_GONE,     /* an array that has an id was freed */
    HA_EVENT_MESSAGE, /* elements were sent to a rank of MPI, or came from one; or a collective (mpi.h) */
    HA_EVENT_KINDS
} ha_event_kind;

HA_API const char *ha_event_kind_name(ha_event_kind kind); /* "transfer", … */

/* What is unknown or makes no sense for a kind is 0. Texts live until the handler returns; sites
 * as long as the program. */
typedef struct ha_event_info {
    ha_event_kind kind;
    const char *array; /* its name; "" when it has none, or no array is meant */
    uint64_t
        id; /* of the array, as ha_array_id; 0: it has none, as it was made before a handler was set, and
                          nobody has asked for it */
    const char *type; /* of its elements: "double" */
    const char *site; /* "file.c:12", the call in the caller's source, or the function's name
                            where that is not known; "" when neither is */
    const char *from; /* transfer: the memory copied from; wait: the queue waited for;
                            conflict: where the access in the way was opened; message: "rank 0", as
                            it is called in MPI_COMM_WORLD; a collective: "" */
    const char *at; /* the context or memory where it happened; message: the rank that it went to */
    const char *name; /* compile, launch: of the kernel or function, as it stands in the source;
                            message: "send", "receive", "allreduce", … */
    ha_range range;   /* elements: transfer, access, conflict */
    uint64_t bytes;   /* allocate, free, transfer, access, evict, restore, new, gone, message */
    uint64_t start,
        end; /* ns of CLOCK_MONOTONIC; equal where nothing took time; message: from when MPI got
                            it until it was waited for */
    uint64_t thread; /* number of the thread */
    int writes;      /* access: opened for writing */
    int cached;      /* compile: there was a binary of it */
    ha_status
        status; /* conflict: HA_OK when it was waited for, else how it was refused; compile: of the
                            compiler */
} ha_event_info;

/* Calls `handler` for each event, on the thread that caused it, before the causing call returns and
 * with nothing locked or half done: it may call harray (what that causes is not reported again).
 * An array that the call has freed or unwrapped is gone by then.
 * NULL removes it. Set it before other threads use the library. Events of a call are delivered
 * together, in order, when the call is about to return; with them those of what an error handler
 * did meanwhile. A call that found no memory to note an event does not fail: the event is dropped,
 * and the report says how many were. HA_ERR_BUSY is no event. */
typedef void (*ha_event_handler)(const ha_event_info *event, void *user);
HA_API void ha_set_event_handler(ha_event_handler handler, void *user);

/* HA_WATCH_ACCESSES: arrays made from now on count, trace and report each access; opening them
 * costs more (bench/results says how much). Kernels and functions are timed from now on: a queue gets two more
 * commands for each. 0: not any more. Tracing switches it on. */
enum ha_watch { HA_WATCH_ACCESSES = 1 };
HA_API void ha_watch(unsigned what);

/* ---- the trace ---------------------------------------------------------------------------- */

/* Writes a trace to a file from now on, as HARRAY_TRACE=file does from the first array or device
 * on: Trace Event Format (JSON array), opens in ui.perfetto.dev and chrome://tracing. Tracks:
 * threads (accesses, waits, compiling) and queues (transfers, kernels and functions, from start to end where the
 * device can tell: "timed"); and what each memory has handed out. A queue gets two more commands for each of
 * these. Where a launcher of MPI has started the process (the environment says so), all of it is one process of
 * the trace, which is called by its rank, and messages of mpi.h are in it, too; tools/merge-traces makes one file of
 * those of all ranks.
 * HA_ERR_STATE when one is being written, HA_ERR_ARGUMENT when the file cannot be made,
 * HA_ERR_MEMORY. */
HA_API HA_MUST_CHECK ha_status ha_trace_begin(const char *path);

/* Ends the file, without waiting: a transfer that has not happened yet stands there with the time
 * at which it was enqueued, and "timed": false. HA_ERR_STATE when there is none, HA_ERR_BACKEND
 * when it could not be written. Not needed at exit: viewers open a file that was not ended as well
 * (a parser of JSON wants the end), without the last transfers if nothing was traced after they had
 * happened. After a crash what was traced in the last 50 ms or so may be missing. */
HA_API HA_MUST_CHECK ha_status ha_trace_end(void);

/* ---- stopping the time ---------------------------------------------------------------------- */

/* When everything has happened that was enqueued on a context so far; on the host: now. Enqueues, and does not
 * wait, unless the moment 256 before is still to come. Of each context the latest 256 are known, until
 * ha_shutdown. .context is NULL on failure:
 * HA_ERR_UNSUPPORTED where the device cannot tell the time, HA_ERR_MEMORY, HA_ERR_BACKEND.
 *
 *     ha_moment before = ha_mark(gpu);
 *     HA_CHECK(axpy(gpu, HA_ALL_LANES, 0.5, x, y));
 *     HA_CHECK(ha_elapsed(before, ha_mark(gpu), &seconds)); */
typedef struct ha_moment {
    ha_context *context; /* NULL: none */
    uint64_t number;
} ha_moment;
HA_API ha_moment ha_mark(ha_context *context);

/* *seconds = from one to the other, which may be of two contexts, by CLOCK_MONOTONIC. Waits until both have
 * happened. HA_ERR_ARGUMENT when there is no such moment, or it is no longer known; HA_ERR_LOST when the device
 * failed before, HA_ERR_BACKEND. */
HA_API HA_MUST_CHECK ha_status ha_elapsed(ha_moment from, ha_moment to, double *seconds);

/* ---- the report --------------------------------------------------------------------------- */

/* Writes a table: memories, call sites by bytes transferred, watched arrays, kernels and functions by time. */
HA_API void ha_report(FILE *file);

/* The same as one JSON object; keys are the names of the members of ha_memory_usage and of
 * ha_site_statistics; "accesses" of a site is there if it has any. */
HA_API void ha_report_json(FILE *file);

/* What the transfers of one call site came to. */
typedef struct ha_site_statistics {
    const char *site;          /* lives until ha_shutdown */
    uint64_t transfers, bytes; /* as ha_statistics */
    uint64_t waits, wait_ns;   /* of the host for devices */
    uint64_t accesses;         /* of arrays with HA_WATCH_ACCESSES; of others nobody counts them */
} ha_site_statistics;

/* The sites, by bytes, most first: writes at most `most` of them and returns how many there are. */
HA_API size_t ha_sites(ha_site_statistics *sites, size_t most);

/* What a kernel or a function came to, while there was HA_WATCH_ACCESSES or a trace. */
typedef struct ha_work_statistics {
    const char *name, *site;   /* as in events; live until ha_shutdown */
    uint64_t calls, timed, ns; /* of so many calls the time is known by now: so long together */
    uint64_t transfers,
        bytes; /* that its site has caused, from the beginning on: what was moved for it */
} ha_work_statistics;

/* Those of all that were called, by time, most first: writes at most `most` of them and returns how many there
 * are. */
HA_API size_t ha_works(ha_work_statistics *works, size_t most);

/* Sets the statistics of sites, kernels and functions and the transfer counts of memories to 0. */
HA_API void ha_report_reset(void);

#endif
