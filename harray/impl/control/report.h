/* The report: memories, call sites, watched arrays, kernels and functions; as a table and as JSON. Both print copies that
 * were taken under the locks. */
#ifndef HARRAY_IMPL_CONTROL_REPORT_H
#define HARRAY_IMPL_CONTROL_REPORT_H

#include "memory.h"

/* What the report says of a watched array. */
typedef struct ha_report_row {
    ha_array_snapshot array;
    ha_statistics moved;
    uint64_t accesses;
} ha_report_row;

/* ---- looking ------------------------------------------------------------------------------- */

/* ha_look_at_what() makes copies of all rows that copy(list, most) writes; it returns how many there are.
 * complete: 0 when there was no memory for them. */
#define HA_LOOK_AT_(what, row, copy)                                                               \
    typedef struct ha_##what##_seen {                                                              \
        row *list;                                                                                 \
        size_t n;                                                                                  \
        int complete;                                                                              \
    } ha_##what##_seen;                                                                            \
    HA_IN_ ha_##what##_seen ha_look_at_##what(void) {                                              \
        ha_##what##_seen seen = {NULL, copy(NULL, 0), 1};                                          \
        if (!seen.n) return seen;                                                                  \
        seen.list = (row *)HARRAY_MALLOC(seen.n * sizeof *seen.list);                              \
        if (!seen.list) return (ha_##what##_seen){NULL, 0, 0};                                     \
        size_t now = copy(seen.list, seen.n); /* others may go on counting */                      \
        if (now < seen.n) seen.n = now;                                                            \
        return seen;                                                                               \
    }

HA_LOOK_AT_(sites, ha_site_statistics, ha_sites)
HA_LOOK_AT_(works, ha_work_statistics, ha_works)

HA_IN_ int ha_report_row_compare(const void *first, const void *second) {
    const ha_report_row *a = (const ha_report_row *)first, *b = (const ha_report_row *)second;
    if (a->moved.bytes != b->moved.bytes) return a->moved.bytes > b->moved.bytes ? -1 : 1;
    if (a->accesses != b->accesses) return a->accesses > b->accesses ? -1 : 1;
    return strcmp(a->array.name, b->array.name);
}

/* Writes at most `most` of the watched arrays; returns how many there are. */
HA_IN_ size_t ha_copy_watched(ha_report_row *list, size_t most) {
    size_t n = 0;
    pthread_mutex_lock(&ha_watch_list.lock);
    for (const ha_watched *w = ha_watch_list.first; w; w = w->next, n++) {
        if (n >= most) continue;
        ha_lock(w->array);
        ha_array_snapshot_take(w->array, &list[n].array);
        list[n].moved = w->array->statistics;
        list[n].accesses = w->accesses;
        ha_unlock(w->array);
    }
    pthread_mutex_unlock(&ha_watch_list.lock);
    return n;
}

HA_LOOK_AT_(watched, ha_report_row, ha_copy_watched)
#undef HA_LOOK_AT_

/* By bytes moved, most first. */
HA_IN_ ha_watched_seen ha_look_at_arrays(void) {
    ha_watched_seen seen = ha_look_at_watched();
    if (seen.n) qsort(seen.list, seen.n, sizeof *seen.list, ha_report_row_compare);
    return seen;
}

/* ---- the table ----------------------------------------------------------------------------- */

enum { HA_REPORT_ROWS = 20 };

/* "1.5 MiB in 3" */
HA_IN_ ha_short ha_human_copies(uint64_t bytes, uint64_t copies) {
    ha_short s;
    snprintf(s.text, sizeof s.text, "%.10s in %llu", ha_human_bytes(bytes).text,
             (unsigned long long)copies);
    return s;
}

HA_IN_ void ha_report_memories(FILE *file) {
    fprintf(file, "%-20s %10s %10s %10s %10s %10s %12s %12s %10s %22s %22s\n", "memory", "live",
            "cached", "retired", "staging", "high water", "allocations", "releases", "reused",
            "copied in", "copied out");
    for (ha_memory *m = NULL; (m = ha_next_memory(m));) {
        ha_memory_usage u = ha_memory_usage_of(m);
        if (!u.high_water && !u.transfers_in && !u.transfers_out && m != &ha_host_memory) continue;
        fprintf(file, "%-20s %10s %10s %10s %10s %10s %12llu %12llu %10llu",
                ha_memory_label(m).text, ha_human_bytes(u.live).text, ha_human_bytes(u.cached).text,
                ha_human_bytes(u.retired).text, ha_human_bytes(u.staging).text,
                ha_human_bytes(u.high_water).text, (unsigned long long)u.allocations,
                (unsigned long long)u.releases, (unsigned long long)u.reused);
        fprintf(file, " %22s %22s\n", ha_human_copies(u.bytes_in, u.transfers_in).text,
                ha_human_copies(u.bytes_out, u.transfers_out).text);
    }
}

/* Of memories that have a budget, or were full. */
HA_IN_ void ha_report_pressure(FILE *file) {
    int rows = 0;
    for (ha_memory *m = NULL; (m = ha_next_memory(m));) {
        const ha_pressure p = ha_pressure_of(m);
        if (!p.budget && !p.evictions && !p.turns && !p.refusals) continue;
        if (!rows++)
            fprintf(file, "\n%-20s %10s %20s %14s %10s %20s %10s\n", "memory", "budget", "gave way",
                    "written back", "came back", "waited", "refused");
        fprintf(file, "%-20s %10s %20s %14s %10s", ha_memory_label(m).text,
                p.budget ? ha_human_bytes(p.budget).text : "-",
                ha_human_copies(p.evicted, p.evictions).text, ha_human_bytes(p.written_back).text,
                ha_human_bytes(p.restored).text);
        fprintf(file, " %10s in %6llu %10llu\n", ha_human_time(p.wait_ns).text,
                (unsigned long long)p.turns, (unsigned long long)p.refusals);
    }
}

HA_IN_ void ha_report_more(FILE *file, size_t n, int complete) {
    if (n > HA_REPORT_ROWS) fprintf(file, "and %zu more\n", n - HA_REPORT_ROWS);
    if (!complete) fprintf(file, "(no memory to list them)\n");
}

/* Those of watched arrays only are counted: "-" where there were none of these. */
HA_IN_ ha_short ha_counted_accesses(const ha_site_statistics *s) {
    ha_short text = {"-"};
    if (s->accesses) snprintf(text.text, sizeof text.text, "%llu", (unsigned long long)s->accesses);
    return text;
}

HA_IN_ void ha_report_sites(FILE *file) {
    ha_sites_seen seen = ha_look_at_sites();
    fprintf(file, "\n%10s %10s %10s %10s %10s  %s\n", "transfers", "bytes", "waits", "waited",
            "accesses", "call site");
    for (size_t i = 0; i < seen.n && i < HA_REPORT_ROWS; i++) {
        const ha_site_statistics *s = &seen.list[i];
        fprintf(file, "%10llu %10s %10llu %10s %10s  %s\n", (unsigned long long)s->transfers,
                ha_human_bytes(s->bytes).text, (unsigned long long)s->waits,
                ha_human_time(s->wait_ns).text, ha_counted_accesses(s).text,
                *s->site ? s->site : "(unknown)");
    }
    ha_report_more(file, seen.n, seen.complete);
    HARRAY_FREE(seen.list);
}

/* A name on one line of a table. */
HA_IN_ void ha_make_plain(char *name) {
    for (; *name; name++)
        if ((unsigned char)*name < 0x20) *name = '?';
}

HA_IN_ void ha_report_arrays(FILE *file) {
    ha_watched_seen seen = ha_look_at_arrays();
    if (seen.n || !seen.complete)
        fprintf(file, "\n%10s %10s %10s  %s\n", "transfers", "bytes", "accesses", "watched array");
    for (size_t i = 0; i < seen.n && i < HA_REPORT_ROWS; i++) {
        ha_report_row *s = &seen.list[i];
        ha_make_plain(s->array.name);
        fprintf(file, "%10llu %10s %10llu  %s%s%s[%zu]\n", (unsigned long long)s->moved.transfers,
                ha_human_bytes(s->moved.bytes).text, (unsigned long long)s->accesses, s->array.name,
                *s->array.name ? " " : "", s->array.type, s->array.size);
    }
    ha_report_more(file, seen.n, seen.complete);
    HARRAY_FREE(seen.list);
}

HA_IN_ void ha_report_works(FILE *file) {
    ha_works_seen seen = ha_look_at_works();
    if (seen.n || !seen.complete)
        fprintf(file, "\n%10s %10s %10s %22s  %s\n", "calls", "timed", "time", "moved for it",
                "kernel or function");
    for (size_t i = 0; i < seen.n && i < HA_REPORT_ROWS; i++) {
        const ha_work_statistics *w = &seen.list[i];
        fprintf(file, "%10llu %10llu %10s %22s  %s, %s\n", (unsigned long long)w->calls,
                (unsigned long long)w->timed, ha_human_time(w->ns).text,
                ha_human_copies(w->bytes, w->transfers).text, w->name, w->site);
    }
    ha_report_more(file, seen.n, seen.complete);
    HARRAY_FREE(seen.list);
}

void ha_report(FILE *file) {
    if (ha_enter("ha_report")) return;
    if (!file) {
        ha_fail(HA_ERR_ARGUMENT, "ha_report", "no file");
        return;
    }
    ha_report_memories(file);
    ha_report_pressure(file);
    ha_report_sites(file);
    ha_report_arrays(file);
    ha_report_works(file);
    uint64_t dropped = __atomic_load_n(&ha_dropped, __ATOMIC_RELAXED);
    if (dropped)
        fprintf(file, "\n%llu events were dropped: no memory\n", (unsigned long long)dropped);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

typedef struct ha_member {
    const char *key;
    uint64_t value;
} ha_member;

typedef struct ha_report_object {
    ha_json json;
    char buffer[8192];
} ha_report_object;

/* {"first": "text", "key": 1, … */
HA_IN_ void ha_object_begin(ha_report_object *o, const char *first, const char *text,
                            const ha_member *members, size_t n) {
    o->json = ha_json_into(o->buffer, sizeof o->buffer);
    ha_json_open(&o->json, NULL, '{');
    ha_json_string(&o->json, first, text);
    for (size_t i = 0; i < n; i++) ha_json_unsigned(&o->json, members[i].key, members[i].value);
}

/* Writes it, behind a comma unless it is the first one of its list. */
HA_IN_ void ha_object_end(ha_report_object *o, FILE *file, size_t place) {
    ha_json_close(&o->json, '}');
    fprintf(file, "%s%s", place ? ", " : "", o->buffer);
}

#define HA_MEMBER(u, name)                                                                         \
    { #name, (u).name }

HA_IN_ void ha_json_memories(FILE *file) {
    size_t place = 0;
    for (ha_memory *m = NULL; (m = ha_next_memory(m)); place++) {
        const ha_memory_usage u = ha_memory_usage_of(m);
        const ha_pressure p = ha_pressure_of(m);
        const ha_member members[] = {
            HA_MEMBER(u, handed_out),   HA_MEMBER(u, live),         HA_MEMBER(u, cached),
            HA_MEMBER(u, retired),      HA_MEMBER(u, staging),      HA_MEMBER(u, high_water),
            HA_MEMBER(u, allocations),  HA_MEMBER(u, releases),     HA_MEMBER(u, reused),
            HA_MEMBER(u, transfers_in), HA_MEMBER(u, bytes_in),     HA_MEMBER(u, transfers_out),
            HA_MEMBER(u, bytes_out),    HA_MEMBER(p, budget),       HA_MEMBER(p, evictions),
            HA_MEMBER(p, evicted),      HA_MEMBER(p, written_back), HA_MEMBER(p, written_ahead),
            HA_MEMBER(p, restored),     HA_MEMBER(p, turns),        HA_MEMBER(p, wait_ns),
            HA_MEMBER(p, refusals),
        };
        ha_report_object o;
        ha_object_begin(&o, "memory", ha_memory_label(m).text, members,
                        sizeof members / sizeof *members);
        ha_object_end(&o, file, place);
    }
}

HA_IN_ void ha_json_sites(FILE *file) {
    ha_sites_seen seen = ha_look_at_sites();
    for (size_t i = 0; i < seen.n; i++) {
        const ha_site_statistics *s = &seen.list[i];
        const ha_member members[] = {HA_MEMBER(*s, transfers), HA_MEMBER(*s, bytes),
                                     HA_MEMBER(*s, waits), HA_MEMBER(*s, wait_ns),
                                     HA_MEMBER(*s, accesses)};
        ha_report_object o;
        const size_t n = sizeof members / sizeof *members;
        ha_object_begin(&o, "site", s->site, members, s->accesses ? n : n - 1); /* the last one */
        ha_object_end(&o, file, i);
    }
    HARRAY_FREE(seen.list);
}

HA_IN_ void ha_json_arrays(FILE *file) {
    ha_watched_seen seen = ha_look_at_arrays();
    for (size_t i = 0; i < seen.n; i++) {
        const ha_report_row *s = &seen.list[i];
        const ha_member members[] = {HA_MEMBER(s->array, size), HA_MEMBER(s->moved, transfers),
                                     HA_MEMBER(s->moved, bytes), HA_MEMBER(*s, accesses)};
        ha_report_object o;
        ha_object_begin(&o, "array", s->array.name, members, sizeof members / sizeof *members);
        ha_json_string(&o.json, "type", s->array.type);
        ha_object_end(&o, file, i);
    }
    HARRAY_FREE(seen.list);
}

HA_IN_ void ha_json_works(FILE *file) {
    ha_works_seen seen = ha_look_at_works();
    for (size_t i = 0; i < seen.n; i++) {
        const ha_work_statistics *w = &seen.list[i];
        const ha_member members[] = {HA_MEMBER(*w, calls), HA_MEMBER(*w, timed), HA_MEMBER(*w, ns),
                                     HA_MEMBER(*w, transfers), HA_MEMBER(*w, bytes)};
        ha_report_object o;
        ha_object_begin(&o, "name", w->name, members, sizeof members / sizeof *members);
        ha_json_string(&o.json, "site", w->site);
        ha_object_end(&o, file, i);
    }
    HARRAY_FREE(seen.list);
}

#undef HA_MEMBER

/* One object, whatever happens. */
void ha_report_json(FILE *file) {
    ha_status s = ha_enter("ha_report_json");
    if (!file) {
        if (!s) ha_fail(HA_ERR_ARGUMENT, "ha_report_json", "no file");
        return;
    }
    fprintf(file, "{\"memories\": [");
    if (!s) ha_json_memories(file);
    fprintf(file, "], \"sites\": [");
    if (!s) ha_json_sites(file);
    fprintf(file, "], \"arrays\": [");
    if (!s) ha_json_arrays(file);
    fprintf(file, "], \"kernels\": [");
    if (!s) ha_json_works(file);
    fprintf(file, "], \"dropped_events\": %llu}\n",
            (unsigned long long)__atomic_load_n(&ha_dropped, __ATOMIC_RELAXED));
}

/* ---- resetting ----------------------------------------------------------------------------- */

HA_IN_ void ha_memory_forget_transfers(ha_memory *m) {
    __atomic_store_n(&m->transfers_in, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&m->bytes_in, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&m->transfers_out, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&m->bytes_out, 0, __ATOMIC_RELAXED);
    uint64_t *const counters[] = {&m->evictions, &m->evicted, &m->written_back, &m->written_ahead,
                                  &m->restored,  &m->turns,   &m->turns_ns,     &m->refusals};
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        __atomic_store_n(counters[i], 0, __ATOMIC_RELAXED);
}

void ha_report_reset(void) {
    if (ha_enter("ha_report_reset")) return;
    ha_sites_reset();
    ha_works_reset();
    for (ha_memory *m = NULL; (m = ha_next_memory(m));) ha_memory_forget_transfers(m);
}

#endif
