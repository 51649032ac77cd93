/* Who listens to what happens, and the events of a call on their way to them.
 *
 * Events are noted where they happen: an array may be busy then, or an access half open. So each
 * thread keeps a list, and tells it when its outermost call into the library is about to return:
 * nothing is locked, busy or half done then, and a handler may call whatever it likes.
 *
 * When nobody listens, noting is one load and a branch, and none of it is on the fast path. */
#ifndef HARRAY_IMPL_EVENTS_EVENT_QUEUE_H
#define HARRAY_IMPL_EVENTS_EVENT_QUEUE_H

#include "call_sites.h"

enum ha_listener { HA_HANDLER_LISTENS = 1, HA_TRACE_LISTENS = 2, HA_LISTENERS = 3 };
enum { HA_TRACE_UNASKED = 4 }; /* HARRAY_TRACE was not read yet */

HA_STATE_ unsigned ha_listeners = HA_TRACE_UNASKED; /* who of them does */
HA_STATE_ unsigned ha_watching;                     /* enum ha_watch */
HA_STATE_ pthread_once_t ha_listen_once = PTHREAD_ONCE_INIT;

/* An event, with what it says: the array or the context may be gone when it is told. */
typedef struct ha_event_record {
    struct ha_event_record *next;
    ha_event_info info;
    char array[48], type[40], from[48], at[48], name[48];
    const void *subject; /* access: of which array; only to tell arrays apart */
    uint64_t ticket;     /* access: of that array */
    uint64_t balance;    /* allocate, free: bytes handed out afterwards */
    int by_queue; /* transfer, launch: on the track of queue `track`, else by the thread itself */
    char track[48];
    struct ha_stamps
        *stamps; /* transfer, launch: when it begins and ends on the device; NULL: unknown */
} ha_event_record;

HA_STATE_ _Thread_local struct {
    ha_event_record *first, **last;
    unsigned depth;           /* calls into the library, one inside the other */
    int telling;              /* a handler runs: what it causes is not told again */
    struct ha_stamps *stamps; /* of the transfer or launch that is being enqueued */
} ha_pending_events;

HA_STATE_ uint64_t ha_dropped; /* events that there was no memory for */
HA_STATE_ struct {
    ha_event_handler call;
    void *user;
} ha_listener;

static inline int ha_is_listening(void) {
    return (__atomic_load_n(&ha_listeners, __ATOMIC_RELAXED) & HA_LISTENERS) != 0;
}

void ha_watch(unsigned what) { __atomic_store_n(&ha_watching, what, __ATOMIC_RELAXED); }

/* Is each access and each launch watched? */
static inline int ha_is_watching(void) {
    return (__atomic_load_n(&ha_watching, __ATOMIC_RELAXED) & HA_WATCH_ACCESSES) ||
           (__atomic_load_n(&ha_listeners, __ATOMIC_RELAXED) & HA_TRACE_LISTENS);
}

/* In a child of fork() nobody listens, as nothing may be called there; unless its parent has only set a
 * handler, and made no call. */
HA_IN_ void ha_listen_forked(void) {
    if (__atomic_load_n(&ha_threads, __ATOMIC_RELAXED))
        __atomic_store_n(&ha_listeners, 0, __ATOMIC_RELAXED);
}

HA_IN_ void ha_listen_atfork(void) { pthread_atfork(NULL, NULL, ha_listen_forked); }

HA_IN_ void ha_listen(unsigned who, int on) {
    pthread_once(&ha_listen_once, ha_listen_atfork);
    if (on)
        __atomic_fetch_or(&ha_listeners, who, __ATOMIC_RELEASE);
    else
        __atomic_fetch_and(&ha_listeners, ~who, __ATOMIC_RELEASE);
}

/* ---- noting -------------------------------------------------------------------------------- */

HA_IN_ void ha_text_copy(char *to, size_t bytes, const char *from) {
    size_t n = 0;
    for (; from && n + 1 < bytes && from[n]; n++) to[n] = from[n];
    to[n] = 0;
}

/* Whether this call tells what it notes: not when nobody listened as it began, nor inside a handler, nor where the public
 * function does not begin with HA_TELLS_EVENTS_ (tell.h), without which its events are lost. */
static inline int ha_will_tell(void) {
    return ha_pending_events.depth && !ha_pending_events.telling;
}

/* One more event of this call, to be filled in. NULL: nobody listens, or there is no memory. */
HA_IN_ ha_event_record *ha_record_add(ha_event_kind kind, const char *site, const char *at) {
    if (!ha_is_listening() || !ha_will_tell()) return NULL;
    ha_event_record *r = (ha_event_record *)HARRAY_MALLOC(sizeof *r);
    if (!r) {
        __atomic_fetch_add(&ha_dropped, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    memset(r, 0, sizeof *r);
    ha_text_copy(r->at, sizeof r->at, at);
    r->info = (ha_event_info){.kind = kind,
                              .array = r->array,
                              .type = r->type,
                              .site = site ? site : "",
                              .from = r->from,
                              .at = r->at,
                              .name = r->name,
                              .thread = ha_self.id};
    r->info.start = r->info.end = ha_now();
    if (!ha_pending_events.first) ha_pending_events.last = &ha_pending_events.first;
    *ha_pending_events.last = r;
    ha_pending_events.last = &r->next;
    return r;
}

/* The host waited for a queue since `start`. */
HA_IN_ void ha_on_wait(const char *queue, const char *site, uint64_t start) {
    uint64_t end = ha_now();
    ha_site_add(site, &(ha_site_statistics){.waits = 1, .wait_ns = end - start});
    ha_event_record *r = ha_record_add(HA_EVENT_WAIT, site, "host");
    if (!r) return;
    ha_text_copy(r->from, sizeof r->from, queue);
    r->info.start = start;
    r->info.end = end;
}

void ha_set_event_handler(ha_event_handler handler, void *user) {
    ha_listener.user = user;
    ha_listener.call = handler;
    ha_listen(HA_HANDLER_LISTENS, handler != NULL);
}

const char *ha_event_kind_name(ha_event_kind kind) {
    static const char *const names[] = {"allocate", "free",     "transfer", "wait",   "conflict",
                                        "open",     "close",    "compile",  "launch", "evict",
                                        "restore",  "pressure", "new",      "gone",   "message"};
    return (unsigned)kind < HA_EVENT_KINDS ? names[kind] : "unknown event";
}

#endif
