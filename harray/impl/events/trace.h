/* The trace: what happened, in the Trace Event Format, for Perfetto and chrome://tracing.
 *
 * It is written as it goes, through stdio: what is there when the program ends opens without the
 * closing bracket. Only whole records are handed to the system, so that this also holds after a
 * crash. A transfer whose times the device has yet to write is pending, and looked at again
 * whenever something is traced. */
#ifndef HARRAY_IMPL_EVENTS_TRACE_H
#define HARRAY_IMPL_EVENTS_TRACE_H

#include "trace_format.h"
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

/* ---- times on the device ------------------------------------------------------------------- */

HA_IN_ void ha_stamps_free(ha_stamps *s) {
    HARRAY_FREE(s->record);
    HARRAY_FREE(s);
}

HA_IN_ void ha_stamps_keep(ha_stamps *s) {
    s->next = NULL;
    if (ha_trace.pending)
        ha_trace.youngest->next = s;
    else
        ha_trace.pending = s;
    ha_trace.youngest = s;
}

/* The device writes them. */
HA_IN_ int ha_stamps_are_known(const ha_stamps *s) {
    if (!__atomic_load_n(&s->begin, __ATOMIC_ACQUIRE)) return 0;
    return !s->ends || __atomic_load_n(&s->end, __ATOMIC_ACQUIRE);
}

/* Writes those that are known by now. most: gives up after so many that are not. */
HA_IN_ void ha_trace_look(size_t most) HA_REQUIRES_(ha_trace.lock) {
    ha_stamps **at = &ha_trace.pending, *s, *last = NULL;
    while ((s = *at)) {
        if (ha_stamps_are_known(s)) {
            *at = s->next;
            if (ha_trace.youngest == s) ha_trace.youngest = last;
            if (s->work && s->ends) ha_work_add(s->work, 0, s->end - s->begin);
            if (s->record && ha_trace.file) ha_trace_queued(s->record, 1);
            ha_stamps_free(s);
            continue;
        }
        if (!most--) break;
        last = s;
        at = &s->next;
    }
}

/* Writes what is still pending, as far as it is known. */
HA_IN_ void ha_trace_give_up(void) HA_REQUIRES_(ha_trace.lock) {
    ha_trace_look(SIZE_MAX);
    for (ha_stamps *s = ha_trace.pending; s; s = s->next) {
        if (s->record && ha_trace.file) ha_trace_queued(s->record, 0);
        HARRAY_FREE(s->record);
        s->record = NULL;
    }
}

/* Kept for the device's sake, and for the time that it takes where somebody asks for that. */
HA_IN_ void ha_stamps_leave(ha_stamps *s) {
    pthread_mutex_lock(&ha_trace.lock);
    ha_stamps_keep(s);
    ha_trace_look(8);
    pthread_mutex_unlock(&ha_trace.lock);
}

/* What it is about came to nothing. */
HA_IN_ void ha_stamps_abandon(ha_stamps *s) {
    if (!s) return;
    s->work = NULL;
    ha_stamps_leave(s);
}

/* ---- taking events ------------------------------------------------------------------------- */

HA_IN_ void ha_trace_record(const ha_event_record *r) HA_REQUIRES_(ha_trace.lock) {
    switch (r->info.kind) {
    case HA_EVENT_ALLOCATE:
    case HA_EVENT_FREE:
        ha_trace_block(r);
        break;
    case HA_EVENT_TRANSFER:
    case HA_EVENT_LAUNCH:
        ha_trace_queued(r, 0);
        break;
    case HA_EVENT_COMPILE:
        ha_trace_compile(&r->info);
        break;
    case HA_EVENT_WAIT:
        ha_trace_wait(&r->info);
        break;
    case HA_EVENT_CONFLICT:
        ha_trace_conflict(&r->info);
        break;
    case HA_EVENT_PRESSURE:
        ha_trace_pressure(&r->info);
        break;
    case HA_EVENT_EVICT:
    case HA_EVENT_RESTORE:
        ha_trace_evicted(&r->info);
        break;
    case HA_EVENT_OPEN:
        ha_trace_opened(r);
        break;
    case HA_EVENT_CLOSE:
        ha_trace_closed(r);
        break;
    case HA_EVENT_MESSAGE:
        ha_trace_message(&r->info);
        break;
    case HA_EVENT_NEW:
    case HA_EVENT_GONE:
    case HA_EVENT_KINDS:
        break;
    }
}

/* What is older than a while is there after a crash. Between records that belong together nothing
 * is flushed. */
HA_IN_ void ha_trace_flush(void) {
    uint64_t now = ha_now();
    if (!ha_trace.file || now - ha_trace.flushed < HA_TRACE_PATIENCE) return;
    ha_trace.flushed = now;
    ha_trace.failed |= fflush(ha_trace.file) != 0;
    ha_trace.used = 0;
}

/* Writes it, while there is a trace; the record is its own from then. What was noted for a trace may come
 * later than its end. */
HA_IN_ void ha_trace_take(ha_event_record *r) {
    ha_stamps *s = r->stamps;
    int tracing = (__atomic_load_n(&ha_listeners, __ATOMIC_RELAXED) & HA_TRACE_LISTENS) != 0;
    if (!tracing && !s) {
        HARRAY_FREE(r);
        return;
    }
    pthread_mutex_lock(&ha_trace.lock);
    if (s) ha_stamps_keep(s);
    if (s && ha_trace.file) {
        s->record = r;
        r = NULL;
    } else if (ha_trace.file)
        ha_trace_record(r);
    ha_trace_look(8);
    ha_trace_flush();
    pthread_mutex_unlock(&ha_trace.lock);
    HARRAY_FREE(r);
}

/* ---- beginning and ending ------------------------------------------------------------------ */

/* Every queue is drained: no time is written any more. */
HA_IN_ void ha_trace_drained(void) {
    pthread_mutex_lock(&ha_trace.lock);
    ha_trace_give_up();
    while (ha_trace.pending) {
        ha_stamps *s = ha_trace.pending;
        ha_trace.pending = s->next;
        ha_stamps_free(s);
    }
    if (ha_trace.file) ha_trace.failed |= fflush(ha_trace.file) != 0;
    ha_trace.used = 0;
    pthread_mutex_unlock(&ha_trace.lock);
}

HA_IN_ ha_status ha_trace_open_file(const char *path) {
    char *buffer = (char *)HARRAY_MALLOC(HA_TRACE_BUFFER);
    if (!buffer) return HA_ERR_MEMORY;
    FILE *file = fopen(path, "we"); /* e: not inherited by programs that are started */
    if (!file) {
        HARRAY_FREE(buffer);
        return HA_ERR_ARGUMENT;
    }
    setvbuf(file, buffer, _IOFBF, HA_TRACE_BUFFER);
    ha_trace.file = file;
    ha_trace.descriptor = fileno(file);
    ha_trace.buffer = buffer;
    ha_trace.used = 0;
    ha_trace.failed = 0;
    ha_trace.records = 0;
    ha_trace.number++;
    return HA_OK;
}

/* In a child of fork(): what is in the buffer is the parent's to write. */
HA_IN_ void ha_trace_forked(void) {
    if (!ha_trace.file) return;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    (void)dup2(nowhere, ha_trace.descriptor);
    (void)close(nowhere);
}

HA_IN_ void ha_trace_atfork(void) { pthread_atfork(NULL, NULL, ha_trace_forked); }

HA_STATE_ pthread_once_t ha_trace_atfork_once = PTHREAD_ONCE_INIT;

/* The process's number among those of MPI, as its launcher tells it; -1: none has started it. */
HA_IN_ int ha_trace_rank(void) {
    static const char *const names[] = {"PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK",
                                        "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        char *end = NULL;
        const long rank = text ? strtol(text, &end, 10) : -1;
        if (text && end != text && !*end && rank >= 0 && rank < INT_MAX) return (int)rank;
    }
    return -1;
}

/* Which clock the times are of: that of all processes on a machine since it was started, and how far the clock of
 * the day is ahead of it, by which machines can be compared. */
HA_IN_ void ha_trace_clock(void) HA_REQUIRES_(ha_trace.lock) {
    char host[128] = "", boot[64] = "";
    struct timespec day;
    ha_trace_line l;
    (void)gethostname(host, sizeof host - 1);
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!file || fscanf(file, "%63s", boot) != 1) ha_text_copy(boot, sizeof boot, host);
    if (file) (void)fclose(file);
    clock_gettime(CLOCK_REALTIME, &day);
    const uint64_t ahead = (uint64_t)day.tv_sec * 1000000000u + (uint64_t)day.tv_nsec - ha_now();
    ha_line_head(&l, "clock", "M", HA_TRACE_THREADS, 0);
    ha_json_open(&l.json, "args", '{');
    ha_json_string(&l.json, "host", host);
    ha_json_string(&l.json, "boot", boot);
    ha_json_unsigned(&l.json, "ahead_ns", ahead);
    ha_line_end(&l);
}

HA_IN_ void ha_trace_name_processes(void) HA_REQUIRES_(ha_trace.lock) {
    char name[32];
    if (ha_trace.rank < 0) {
        ha_trace_name("process_name", HA_TRACE_THREADS, 0, "threads");
        ha_trace_name("process_name", HA_TRACE_QUEUES, 0, "queues");
        ha_trace_name("process_name", HA_TRACE_MEMORIES, 0, "memory handed out");
        return;
    }
    snprintf(name, sizeof name, "rank %d", ha_trace.rank);
    ha_trace_name("process_name", HA_TRACE_THREADS, 0, name);
    ha_trace_clock();
}

HA_IN_ ha_status ha_trace_start(const char *path) {
    pthread_once(&ha_trace_atfork_once, ha_trace_atfork);
    pthread_mutex_lock(&ha_trace.lock);
    ha_status s = ha_trace.file ? HA_ERR_STATE : ha_trace_open_file(path);
    if (!s) {
        ha_trace_write("[\n", 2);
        ha_trace.rank = ha_trace_rank();
        ha_trace_name_processes();
        ha_listen(HA_TRACE_LISTENS, 1);
    }
    pthread_mutex_unlock(&ha_trace.lock);
    return s;
}

/* ---- HARRAY_TRACE -------------------------------------------------------------------------- */

/* A path in which %p is the number of the process, and %r its rank, which is 0 without MPI: programs of several
 * processes need one of them. */
HA_IN_ void ha_trace_path(char *path, size_t bytes, const char *wanted) {
    ha_text t = {path, bytes, 0};
    for (const char *c = wanted; *c; c++)
        if (c[0] == '%' && (c[1] == 'p' || c[1] == 'r')) {
            const int rank = ha_trace_rank();
            ha_print(&t, "%ld", c[1] == 'p' ? (long)getpid() : rank < 0 ? 0 : (long)rank);
            c++;
        } else
            ha_print(&t, "%c", *c);
}

HA_IN_ void ha_trace_from_environment(void) {
    char path[4096] = "";
    const char *wanted = getenv("HARRAY_TRACE");
    if (!wanted || !*wanted) return;
    ha_trace_path(path, sizeof path, wanted);
    if (ha_trace_start(path))
        fprintf(stderr, "harray: HARRAY_TRACE: no file '%s' can be made\n", path);
}

HA_STATE_ pthread_once_t ha_trace_once = PTHREAD_ONCE_INIT;

/* HARRAY_TRACE is read where watching begins: at the first call that may cause events; not in a child of
 * fork() whose parent has called before: the file is the parent's. */
HA_IN_ void ha_trace_ask(void) {
    if (ha_forked || !(__atomic_load_n(&ha_listeners, __ATOMIC_RELAXED) & HA_TRACE_UNASKED)) return;
    pthread_once(&ha_trace_once, ha_trace_from_environment);
    __atomic_fetch_and(&ha_listeners, ~(unsigned)HA_TRACE_UNASKED, __ATOMIC_RELEASE);
}

/* ---- by call ------------------------------------------------------------------------------- */

ha_status ha_trace_begin(const char *path) {
    ha_status s = ha_enter("ha_trace_begin");
    if (s) return s;
    ha_trace_ask();
    s = path ? ha_trace_start(path) : HA_ERR_ARGUMENT;
    if (s == HA_ERR_STATE) return ha_fail(s, "ha_trace_begin", "a trace is being written already");
    if (s) return ha_fail(s, "ha_trace_begin", "no file '%.200s' can be made", path ? path : "");
    return HA_OK;
}

HA_IN_ void ha_trace_forget(void) {
    while (ha_trace.track) {
        ha_track *t = ha_trace.track;
        ha_trace.track = t->next;
        HARRAY_FREE(t);
    }
    while (ha_trace.access) {
        ha_trace_access *a = ha_trace.access;
        ha_trace.access = a->next;
        HARRAY_FREE(a);
    }
    ha_trace.tracks = ha_trace.crossings = 0;
}

ha_status ha_trace_end(void) {
    ha_status s = ha_enter("ha_trace_end");
    if (s) return s;
    ha_trace_ask();
    pthread_mutex_lock(&ha_trace.lock);
    int traced = ha_trace.file != NULL, failed = 0;
    if (traced) {
        ha_listen(HA_TRACE_LISTENS, 0);
        ha_trace_give_up();
        ha_trace_write("\n]\n", 3);
        failed = (fclose(ha_trace.file) != 0) | ha_trace.failed;
        ha_trace.file = NULL;
        HARRAY_FREE(ha_trace.buffer);
        ha_trace_forget();
    }
    pthread_mutex_unlock(&ha_trace.lock);
    if (!traced) return ha_fail(HA_ERR_STATE, "ha_trace_end", "no trace is being written");
    return failed ? ha_fail(HA_ERR_BACKEND, "ha_trace_end", "the trace could not be written")
                  : HA_OK;
}

#endif
