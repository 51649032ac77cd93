/* The records of the trace file: each event as a line of JSON, or some.
 *
 *     "process" 1     a track for each thread: its accesses, its waits, what it compiles
 *     "process" 2     a track for each queue: transfers, kernels and functions, at the times that the device tells
 *     "process" 3     a counter for each memory: bytes handed out
 *
 * Of a rank of MPI all of these are tracks of one process, whose number is the rank and 1: viewers take process 0 for
 * the system's. So the records of all ranks can stand in one file. */
#ifndef HARRAY_IMPL_EVENTS_TRACE_FORMAT_H
#define HARRAY_IMPL_EVENTS_TRACE_FORMAT_H

#include "event_queue.h"
#include "works.h"

/* Two times on a queue. The device may still write to them after the trace has ended. */
typedef struct ha_stamps {
    struct ha_stamps *next;
    uint64_t begin, end;     /* 0: not yet */
    int ends;                /* `end` was enqueued, too */
    ha_event_record *record; /* to be written when they are known; NULL: nothing */
    ha_work_entry *work;     /* whose time it is; NULL: nobody's */
} ha_stamps;

/* A queue's. Times on a track never overlap. */
typedef struct ha_track {
    struct ha_track *next;
    uint64_t number, until;
    char name[48];
} ha_track;

/* An access that is open, to know when it is closed whether a later one of its thread still is. */
typedef struct ha_trace_access {
    struct ha_trace_access *next; /* an earlier one */
    const void *subject;
    uint64_t thread, ticket;
} ha_trace_access;

enum { HA_TRACE_THREADS = 1, HA_TRACE_QUEUES, HA_TRACE_MEMORIES };
enum { HA_TRACE_FIRST_QUEUE = 1000000 }; /* of a rank: behind its threads */
enum { HA_TRACE_PATIENCE = 50000000 };   /* ns */
enum { HA_TRACE_BUFFER = 1 << 16, HA_TRACE_LONGEST = 8192 };

HA_STATE_ struct {
    pthread_mutex_t lock;
    FILE *file; /* NULL: no trace */
    int descriptor;
    char *buffer;
    size_t used;      /* bytes in it */
    uint64_t flushed; /* when, in ns */
    int failed;       /* something could not be written */
    int rank;         /* -1: no launcher of MPI has started the process */
    uint64_t records; /* so far */
    uint64_t number;  /* traces so far */
    uint64_t tracks, crossings;
    ha_track *track;
    ha_trace_access *access;
    ha_stamps *pending, *youngest;
} ha_trace = {.lock = PTHREAD_MUTEX_INITIALIZER};

HA_STATE_ _Thread_local uint64_t ha_named_in; /* the trace that knows this thread's name */

/* ---- writing ------------------------------------------------------------------------------- */

/* What is written up to here is in the file, unless so many bytes
 * more still fit the buffer. */
HA_IN_ void ha_trace_room(size_t bytes) HA_REQUIRES_(ha_trace.lock) {
    if (ha_trace.used + bytes <= HA_TRACE_BUFFER - 64) return; /* stdio may want some for itself */
    ha_trace.failed |= fflush(ha_trace.file) != 0;
    ha_trace.used = 0;
}

HA_IN_ void ha_trace_write(const char *text, size_t bytes) HA_REQUIRES_(ha_trace.lock) {
    ha_trace_room(bytes);
    ha_trace.failed |= fwrite(text, 1, bytes, ha_trace.file) != bytes;
    ha_trace.used += bytes;
}

typedef struct ha_trace_line {
    ha_json json;
    char buffer[HA_TRACE_LONGEST];
} ha_trace_line;

/* Ends the arguments and the record. */
HA_IN_ void ha_line_end(ha_trace_line *l) HA_REQUIRES_(ha_trace.lock) {
    ha_json_close(&l->json, '}');
    ha_json_close(&l->json, '}');
    if (l->json.text.length >= sizeof l->buffer) {
        __atomic_fetch_add(&ha_dropped, 1, __ATOMIC_RELAXED);
        return;
    }
    ha_trace_write(l->buffer, l->json.text.length);
    ha_trace.records++;
}

/* Microseconds. */
HA_IN_ void ha_line_time(ha_trace_line *l, const char *key, uint64_t ns) {
    ha_json_key(&l->json, key);
    ha_print(&l->json.text, "%llu.%03u", (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

HA_IN_ void ha_line_head(ha_trace_line *l, const char *name, const char *phase, uint64_t process,
                         uint64_t track) HA_REQUIRES_(ha_trace.lock) {
    if (ha_trace.rank >= 0) {
        track += process == HA_TRACE_QUEUES ? HA_TRACE_FIRST_QUEUE : 0;
        process = (uint64_t)ha_trace.rank + 1;
    }
    l->json = ha_json_into(l->buffer, sizeof l->buffer);
    ha_print(&l->json.text, "%s", ha_trace.records ? ",\n" : "");
    ha_json_open(&l->json, NULL, '{');
    ha_json_string(&l->json, "name", name);
    ha_json_string(&l->json, "ph", phase);
    ha_json_unsigned(&l->json, "pid", process);
    ha_json_unsigned(&l->json, "tid", track);
}

/* Names a process, or a track of it. */
HA_IN_ void ha_trace_name(const char *what, uint64_t process, uint64_t track, const char *name)
    HA_REQUIRES_(ha_trace.lock) {
    ha_trace_line l;
    ha_line_head(&l, what, "M", process, track);
    ha_json_open(&l.json, "args", '{');
    ha_json_string(&l.json, "name", name);
    ha_line_end(&l);
}

HA_IN_ void ha_trace_know_thread(uint64_t thread) HA_REQUIRES_(ha_trace.lock) {
    char name[32];
    if (ha_named_in == ha_trace.number) return;
    ha_named_in = ha_trace.number;
    snprintf(name, sizeof name, "thread %llu", (unsigned long long)thread);
    ha_trace_name("thread_name", HA_TRACE_THREADS, thread, name);
}

/* NULL: no memory for one more. */
HA_IN_ ha_track *ha_trace_track(const char *name) HA_REQUIRES_(ha_trace.lock) {
    ha_track *t = ha_trace.track;
    while (t && strcmp(t->name, name) != 0) t = t->next;
    if (t) return t;
    t = (ha_track *)HARRAY_MALLOC(sizeof *t);
    if (!t) return NULL;
    *t = (ha_track){.next = ha_trace.track, .number = ++ha_trace.tracks};
    ha_text_copy(t->name, sizeof t->name, name);
    ha_trace.track = t;
    ha_trace_name("thread_name", HA_TRACE_QUEUES, t->number, name);
    return t;
}

/* ---- records ------------------------------------------------------------------------------- */

/* Everything up to the arguments. */
HA_IN_ void ha_line_slice(ha_trace_line *l, const char *name, const ha_event_info *e,
                          uint64_t process, uint64_t track) HA_REQUIRES_(ha_trace.lock) {
    ha_line_head(l, name, "X", process, track);
    ha_json_string(&l->json, "cat",
                   e->kind == HA_EVENT_CLOSE ? "access" : ha_event_kind_name(e->kind));
    ha_line_time(l, "ts", e->start);
    ha_line_time(l, "dur", e->end - e->start);
    ha_json_open(&l->json, "args", '{');
}

HA_IN_ void ha_line_array(ha_trace_line *l, const ha_event_info *e) {
    ha_json_string(&l->json, "array", e->array);
    ha_json_string(&l->json, "type", e->type);
    ha_json_string(&l->json, "site", e->site);
    ha_json_unsigned(&l->json, "first", e->range.first);
    ha_json_unsigned(&l->json, "last", e->range.last);
}

/* The array's name, or what it is made of. */
HA_IN_ const char *ha_event_subject(const ha_event_info *e) {
    return *e->array ? e->array : *e->type ? e->type : "array";
}

/* On the track of its thread. */
HA_IN_ void ha_line_of_thread(ha_trace_line *l, const char *name, const ha_event_info *e)
    HA_REQUIRES_(ha_trace.lock) {
    ha_trace_know_thread(e->thread);
    ha_line_slice(l, name, e, HA_TRACE_THREADS, e->thread);
}

/* On the track of its queue, or of its thread. 0: there is no memory for the track. */
HA_IN_ int ha_line_begin(ha_trace_line *l, const char *name, const ha_event_record *r, int timed)
    HA_REQUIRES_(ha_trace.lock) {
    if (!r->by_queue) {
        ha_line_of_thread(l, name, &r->info);
        return 1;
    }
    ha_track *t = ha_trace_track(r->track);
    if (!t) return 0;
    ha_event_info shown = r->info;
    if (timed) { /* what two threads enqueue at once may be stamped crosswise */
        shown.start = r->stamps->begin > t->until ? r->stamps->begin : t->until;
        shown.end = r->stamps->end > shown.start ? r->stamps->end : shown.start;
        t->until = shown.end;
    }
    ha_line_slice(l, name, &shown, HA_TRACE_QUEUES, t->number);
    return 1;
}

/* The end of what a queue does. */
HA_IN_ void ha_line_timed(ha_trace_line *l, const ha_event_record *r, int timed)
    HA_REQUIRES_(ha_trace.lock) {
    ha_json_unsigned(&l->json, "thread", r->info.thread);
    ha_json_word(&l->json, "timed", timed || !r->by_queue ? "true" : "false");
    ha_line_end(l);
}

HA_IN_ void ha_trace_launch(const ha_event_record *r, int timed) HA_REQUIRES_(ha_trace.lock) {
    ha_trace_line l;
    if (!ha_line_begin(&l, r->info.name, r, timed)) return;
    ha_json_string(&l.json, "site", r->info.site);
    ha_line_timed(&l, r, timed);
}

HA_IN_ void ha_trace_compile(const ha_event_info *e) HA_REQUIRES_(ha_trace.lock) {
    ha_trace_line l;
    char name[64];
    snprintf(name, sizeof name, "compile %s", e->name);
    ha_line_of_thread(&l, name, e);
    ha_json_string(&l.json, "site", e->site);
    ha_json_string(&l.json, "at", e->at);
    ha_json_string(&l.json, "status", ha_status_name(e->status));
    ha_json_word(&l.json, "cached", e->cached ? "true" : "false");
    ha_line_end(&l);
}

HA_IN_ void ha_trace_transfer(const ha_event_record *r, int timed) HA_REQUIRES_(ha_trace.lock) {
    const ha_event_info *e = &r->info;
    ha_trace_line l;
    if (!ha_line_begin(&l, ha_event_subject(e), r, timed)) return;
    ha_line_array(&l, e);
    ha_json_string(&l.json, "from", e->from);
    ha_json_string(&l.json, "to", e->at);
    ha_json_unsigned(&l.json, "bytes", e->bytes);
    ha_line_timed(&l, r, timed);
}

/* What a queue has done, or is to do. */
HA_IN_ void ha_trace_queued(const ha_event_record *r, int timed) HA_REQUIRES_(ha_trace.lock) {
    if (r->info.kind == HA_EVENT_LAUNCH)
        ha_trace_launch(r, timed);
    else
        ha_trace_transfer(r, timed);
}

HA_IN_ void ha_trace_wait(const ha_event_info *e) HA_REQUIRES_(ha_trace.lock) {
    ha_trace_line l;
    char name[64];
    snprintf(name, sizeof name, "wait for %s", e->from);
    ha_line_of_thread(&l, name, e);
    ha_json_string(&l.json, "site", e->site);
    ha_line_end(&l);
}

HA_IN_ void ha_trace_conflict(const ha_event_info *e) HA_REQUIRES_(ha_trace.lock) {
    ha_trace_line l;
    ha_line_of_thread(&l, e->status ? "refused" : "wait for another access", e);
    ha_line_array(&l, e);
    ha_json_string(&l.json, "opened at", e->from);
    ha_json_string(&l.json, "status", ha_status_name(e->status));
    ha_line_end(&l);
}

HA_IN_ void ha_trace_pressure(const ha_event_info *e) HA_REQUIRES_(ha_trace.lock) {
    ha_trace_line l;
    ha_line_of_thread(&l, "wait for memory", e);
    ha_json_string(&l.json, "memory", e->at);
    ha_json_string(&l.json, "status", ha_status_name(e->status));
    ha_line_end(&l);
}

HA_IN_ void ha_trace_evicted(const ha_event_info *e) HA_REQUIRES_(ha_trace.lock) {
    ha_trace_line l;
    ha_line_of_thread(&l, e->kind == HA_EVENT_EVICT ? "gives way" : "comes back", e);
    ha_line_array(&l, e);
    ha_json_string(&l.json, "memory", e->at);
    ha_json_unsigned(&l.json, "bytes", e->bytes);
    ha_line_end(&l);
}

HA_IN_ void ha_trace_block(const ha_event_record *r) HA_REQUIRES_(ha_trace.lock) {
    ha_trace_line l;
    ha_line_head(&l, r->info.at, "C", HA_TRACE_MEMORIES, 0);
    ha_line_time(&l, "ts", r->info.start);
    ha_json_open(&l.json, "args", '{');
    ha_json_unsigned(&l.json, "bytes", r->balance);
    ha_line_end(&l);
}

/* ---- accesses ------------------------------------------------------------------------------ */

HA_IN_ void ha_trace_opened(const ha_event_record *r) {
    ha_trace_access *a = (ha_trace_access *)HARRAY_MALLOC(sizeof *a);
    if (!a) return;
    *a = (ha_trace_access){ha_trace.access, r->subject, r->info.thread, r->ticket};
    ha_trace.access = a;
}

/* Forgets it. Whether all that its thread opened later is closed: slices on a track must nest. */
HA_IN_ int ha_trace_nests(const ha_event_record *r) {
    int later = 0;
    for (ha_trace_access **at = &ha_trace.access; *at; at = &(*at)->next) {
        ha_trace_access *a = *at;
        if (a->subject == r->subject && a->ticket == r->ticket) {
            int nests = !later && a->thread == r->info.thread;
            *at = a->next;
            HARRAY_FREE(a);
            return nests;
        }
        later |= a->thread == r->info.thread;
    }
    return 0;
}

HA_IN_ void ha_line_access(ha_trace_line *l, const ha_event_info *e) HA_REQUIRES_(ha_trace.lock) {
    ha_line_array(l, e);
    ha_json_string(&l->json, "at", e->at);
    ha_json_string(&l->json, "mode", e->writes ? "write" : "read");
    ha_json_unsigned(&l->json, "bytes", e->bytes);
    ha_line_end(l);
}

/* The beginning ("b") or the end ("e") of what needs a track of its own, up to the arguments. */
HA_IN_ void ha_line_crossing(ha_trace_line *l, const char *name, const char *category,
                             const ha_event_info *e, const char *phase)
    HA_REQUIRES_(ha_trace.lock) {
    const uint64_t rank = ha_trace.rank < 0 ? 0 : (uint64_t)ha_trace.rank;
    ha_line_head(l, name, phase, HA_TRACE_THREADS, e->thread);
    ha_json_string(&l->json, "cat", category);
    ha_json_unsigned(&l->json, "id", ha_trace.crossings | rank << 32); /* other ranks have others */
    ha_line_time(l, "ts", *phase == 'b' ? e->start : e->end);
    ha_json_open(&l->json, "args", '{');
}

HA_IN_ void ha_trace_crossing(const ha_event_info *e, const char *phase)
    HA_REQUIRES_(ha_trace.lock) {
    ha_trace_line l;
    ha_line_crossing(&l, ha_event_subject(e), "access", e, phase);
    ha_line_access(&l, e);
}

HA_IN_ void ha_trace_closed(const ha_event_record *r) HA_REQUIRES_(ha_trace.lock) {
    const ha_event_info *e = &r->info;
    ha_trace_line l;
    ha_trace_know_thread(e->thread);
    if (ha_trace_nests(r)) {
        ha_line_slice(&l, ha_event_subject(e), e, HA_TRACE_THREADS, e->thread);
        ha_line_access(&l, e);
        return;
    }
    ha_trace.crossings++;
    ha_trace_room((size_t)2 * HA_TRACE_LONGEST); /* a crash leaves both, or none */
    ha_trace_crossing(e, "b");
    ha_trace_crossing(e, "e");
}

/* ---- messages ------------------------------------------------------------------------------ */

HA_IN_ void ha_line_message(ha_trace_line *l, const ha_event_info *e) HA_REQUIRES_(ha_trace.lock) {
    ha_json_string(&l->json, "site", e->site);
    ha_json_string(&l->json, "from", e->from);
    ha_json_string(&l->json, "to", e->at);
    ha_json_unsigned(&l->json, "bytes", e->bytes);
    ha_line_end(l);
}

HA_IN_ void ha_trace_message_phase(const ha_event_info *e, const char *phase)
    HA_REQUIRES_(ha_trace.lock) {
    const int sends = strcmp(e->name, "send") == 0;
    ha_trace_line l;
    char name[64];
    snprintf(name, sizeof name, "%s %s", sends ? "send to" : "receive from",
             sends ? e->at : e->from);
    ha_line_crossing(&l, name, "message", e, phase);
    ha_line_message(&l, e);
}

/* Between its beginning and its end a thread does other things; but not during a collective. */
HA_IN_ void ha_trace_message(const ha_event_info *e) HA_REQUIRES_(ha_trace.lock) {
    ha_trace_line l;
    if (!*e->from) {
        ha_line_of_thread(&l, e->name, e);
        ha_line_message(&l, e);
        return;
    }
    ha_trace_know_thread(e->thread);
    ha_trace.crossings++;
    ha_trace_room((size_t)2 * HA_TRACE_LONGEST); /* as above */
    ha_trace_message_phase(e, "b");
    ha_trace_message_phase(e, "e");
}

#endif
