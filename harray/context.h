/* Contexts: where work happens. A context is a device and an in-order queue of work on it.
 *
 *     ha_context *device = ha_context_find("sim:0");
 *     HA_WRITING(v, x, device) HA_RUN(twice, v);       // enqueues twice() there, returns at once
 *
 * Contexts are opened when first asked for, are the same object for everyone in the process, and
 * live until ha_shutdown(). All functions here may be called from any thread unless they say
 * otherwise. Wherever a context is an argument, NULL means: the one of the innermost HA_ON scope
 * of this thread, else the host. A look-up that failed is NULL, too: the work is then done on the
 * host, with the right result, and the error stands in ha_take_error(). Check it, or use HA_ON …
 * else. */
#ifndef HARRAY_CONTEXT_H
#define HARRAY_CONTEXT_H

#include "status.h"

typedef struct ha_context ha_context;

/* The host: always there, never NULL. Work on it is done at once, in the calling thread. */
HA_API ha_context *ha_host(void);

/* By text: "host", "sim" (= "sim:0"), "sim:1", "cuda:0", a kind of a registered backend, "best".
 * NULL + HA_ERR_NOT_FOUND when there is no such device, HA_ERR_ARGUMENT when the text is no
 * context name, HA_ERR_BACKEND or HA_ERR_MEMORY when the device cannot be opened. */
HA_API ha_context *ha_context_find(const char *text);

/* By kind ("sim") and number; errors as ha_context_find. */
HA_API ha_context *ha_context_get(const char *kind, int number);

/* What the environment variable HARRAY_DEVICE names; without it the first real device, else the
 * host. A simulated device is only taken when it is named. NULL + error when HARRAY_DEVICE names
 * what cannot be had, and when HARRAY_CUDA has a mistake. */
HA_API ha_context *ha_context_best(void);

/* Devices of a kind that are there now; 0 for a kind that nobody knows. Not an error. */
HA_API int ha_context_count(const char *kind);

/* Another queue on the same device and memory. The host's queue is the calling thread, so
 * fork(host) is host. NULL + error when the device refuses. */
HA_API ha_context *ha_context_fork(ha_context *context);

/* Gives a fork back: the next ha_context_fork of its device may return it again. The caller has no
 * further use for it; work enqueued on it still happens. An adopted context is waited for instead,
 * and its stream is the caller's alone again: no access on it may be open. The host, which is its own
 * fork, stays as it is. HA_ERR_ARGUMENT when it is no fork and not adopted, HA_ERR_STATE when it was
 * given back already. */
HA_API HA_MUST_CHECK ha_status ha_context_unfork(ha_context *context);

/* The caller's own queue of a device (a CUstream, …) as a context: work that the caller enqueues
 * there by other means is ordered with accesses on it. `device`: any context of that device. The
 * stream stays the caller's, and must live until ha_context_unfork, after which the context must
 * not be used. NULL + HA_ERR_UNSUPPORTED where there are no such queues, HA_ERR_ARGUMENT for one of
 * another device, HA_ERR_STATE when it is a context already. */
HA_API ha_context *ha_context_adopt(ha_context *device, void *stream);

/* Zero-copy: the device works on host memory directly, so that the host and it share one
 * incarnation and nothing is moved between them. Chosen by itself when the device is opened, where
 * its memory is the host's (unified memory); HARRAY_ZERO_COPY=0 or 1 in the environment, for all
 * devices that can, and this call override it. HA_ERR_UNSUPPORTED when the device cannot (nothing
 * changes), HA_ERR_STATE while an array or memory of ha_memory_allocate is alive, or the device has
 * several contexts. Not to be called while another thread uses the device. */
HA_API HA_MUST_CHECK ha_status ha_context_set_zero_copy(ha_context *context, int on);
HA_API int ha_context_is_zero_copy(const ha_context *context);

/* Measures what copies from and to this device's memory cost, on each link it has, and uses that
 * instead of what the backend declares when the cheapest source is chosen. Takes some
 * milliseconds; moves scratch memory only. HA_ERR_MEMORY, HA_ERR_BACKEND. */
HA_API HA_MUST_CHECK ha_status ha_context_measure(ha_context *context);

/* Nanoseconds to copy 1 MiB from one context's memory to another's, as it is used now: measured,
 * declared or 100,000. 0: there is no direct link, or they share memory. */
HA_API uint64_t ha_link_cost(const ha_context *from, const ha_context *to);

HA_API const char *ha_context_name(const ha_context *context); /* "sim:0", a fork "sim:0/1" */
HA_API const char *ha_context_kind(const ha_context *context); /* "sim" */
HA_API int ha_context_number(const ha_context *context);       /* 0 */

/* The driver's own queue object (a CUstream, …), to launch kernels on; NULL where there is none. */
HA_API void *ha_context_stream(const ha_context *context);

/* Blocks until everything enqueued so far has happened. HA_ERR_LOST when the device failed before
 * it had: what it had not written yet is lost, and the context cannot be used until ha_shutdown.
 * HA_ERR_BACKEND when waiting itself failed. When a call of harray has failed inside a function that
 * has run there, its error, once: the text says where the function was enqueued. */
HA_API HA_MUST_CHECK ha_status ha_context_finish(ha_context *context);

/* The same, but HA_ERR_BUSY when it has not happened after so many seconds (0: now), which is no error. Looks again and
 * again all the time, without sleeping: for what is expected soon. */
HA_API HA_MUST_CHECK ha_status ha_context_finish_within(ha_context *context, double seconds);

/* Gives back every device, queue and cached block: for leak checkers, and before dlclose. Refused
 * (HA_ERR_STATE, nothing done) while any array or block of ha_memory_allocate lives. All contexts
 * but the host are dangling afterwards; a new look-up opens afresh. No other call may run at the
 * same time. Nobody needs to call this at exit. */
HA_API HA_MUST_CHECK ha_status ha_shutdown(void);

/* ---- functions on a queue ---------------------------------------------------------------- */

/* What a function that runs on a queue is told, for HA_HERE: where the data is. The backend fills it in.
 * {0, 0, 0}: at the addresses that users have. Public so that HA_HERE is inline. */
typedef struct ha_queue {
    uintptr_t first,
        bytes;       /* the addresses that this device's arrays have for users: from `first` on */
    uintptr_t shift; /* what to add to them, modulo 2^64, where the function runs */
} ha_queue;

/* A function to be run on a queue. It may touch the data of the accesses that were open when it was
 * enqueued, through HA_HERE; it may not open accesses itself (refused: HA_ERR_STATE), and it must
 * return (no longjmp, no exception out of it). */
typedef void (*ha_function)(const ha_queue *queue, void *argument);

/* ha_enqueue(context, f, argument, bytes) enqueues f(queue, argument) behind everything enqueued
 * before; `bytes` bytes of *argument are copied now, and aligned as malloc does; with 0 bytes f gets
 * NULL. On the host f has returned when this returns. HA_ERR_UNSUPPORTED where the device cannot run
 * host functions (a GPU, unless cuda.h's managed memory is chosen), HA_ERR_MEMORY, HA_ERR_BACKEND:
 * then f is never run.
 *
 * A call of harray that fails inside f, because it is refused there, or for another reason, makes f
 * one that has failed, unless f itself takes the error (ha_take_error). On the host the error is then
 * the calling thread's. On a device it is told twice, once it has happened: by ha_context_finish, and
 * by the next opening of elements that were open for writing there when f was enqueued: that opening
 * fails with the error's status and a text that says where f was enqueued. An opening on the host
 * always waits for f; one on a device does not, and may come too early to know. Elements are then as
 * f left them, and open as usual the next time. What is overwritten is opened at once. (More may be told
 * than was wrong: other functions of that time may have written these elements, and later ones over them.) */
#define ha_enqueue(...) ha_enqueue_(__VA_ARGS__, HA_TEXT_OF_2_(__VA_ARGS__, ~), HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_enqueue_(ha_context *context, ha_function f, const void *argument,
                                           size_t bytes, const char *name, const char *site);
/* The text of the first or second argument, for traces. */
#define HA_TEXT_OF_1_(f, ...) #f
#define HA_TEXT_OF_2_(c, ...) HA_TEXT_OF_1_(__VA_ARGS__)

static inline HA_UNUSED void *ha_here_(const ha_queue *queue, const void *pointer) {
    uintptr_t p = HA_NUMBER_(pointer);
    p += p - queue->first < queue->bytes ? queue->shift : 0;
    return HA_ADDRESS_(p);
}

/* The pointer to use inside a queued function for the data pointer of an access. */
#define HA_HERE(queue, T, pointer) HA_CAST_(T *, ha_here_((queue), (pointer)))

/* ---- the current context ----------------------------------------------------------------- */

/* The context of this thread's innermost HA_ON scope; NULL outside any. */
HA_API ha_context *ha_context_current(void);

/* HA_ON(ctx) { … } else { … }: inside the block, NULL as a context means ctx. Per thread; nests;
 * left by any way out of the block (`break` leaves the block). The else branch runs instead when
 * ctx is NULL, so HA_ON(ha_context_find("cuda:0")) does not fall back to the host in silence. */
#define HA_ON(ctx) HA_ON_(ctx, HA_JOIN_(ha_on_, __COUNTER__))
#define HA_ON_(ctx, s)                                                                             \
    for (ha_scope_ s __attribute__((__cleanup__(ha_on_end_))) = ha_on_begin_(ctx); s.once;         \
         s.once = 0)                                                                               \
        if (s.entered)

typedef struct ha_scope_ {
    ha_context *outer;
    int once, entered;
} ha_scope_;
/* For languages whose users interrupt programs: while this thread waits for other threads' accesses, or for memory that they
 * use, `asked` is called about each tenth of a second, with nothing locked. It may call harray, for which what the call that
 * waits has opened so far is this thread's. Nonzero ends the wait: the call fails with HA_ERR_BUSY (for memory HA_ERR_MEMORY),
 * and has changed nothing. Who is to use an array while another thread moves its values waits for that without being
 * asked. NULL: nobody is asked. */
HA_API void ha_ask_while_waiting_(int (*asked)(void));

/* For tests of such languages, whose threads must not wait with the interpreter's lock. Only where HARRAY_TELLS_WAITS_ is
 * defined, in the implementation and in its user: from then on `told` is called by every call that may wait for another
 * thread or for a device, allocate a device's memory, or call the program back, on whatever thread that is: as the call
 * begins, also when it has to wait for nobody, and before each wait inside of it. NULL: nobody is told. */
#ifdef HARRAY_TELLS_WAITS_
HA_API void ha_tell_before_waiting_(void (*told)(void));
#endif

HA_API ha_scope_ ha_on_begin_(ha_context *context);
HA_API void ha_on_end_(ha_scope_ *scope);

#endif
