/* What happens to arrays: told to whoever listens, and counted. Watched arrays. */
#ifndef HARRAY_IMPL_STATE_ARRAY_EVENTS_H
#define HARRAY_IMPL_STATE_ARRAY_EVENTS_H

#include "holders.h"
#include "ids.h"

/* What an event says of an array. */
typedef struct ha_array_snapshot {
    char name[48], type[40];
    size_t size, element;
    uint64_t id;
    uint64_t accessed; /* bytes of the access in question */
} ha_array_snapshot;

HA_IN_ void ha_array_snapshot_take(const ha_array *a, ha_array_snapshot *snapshot)
    HA_REQUIRES_(a->lock) {
    memcpy(snapshot->name, a->name, sizeof snapshot->name);
    ha_text_copy(snapshot->type, sizeof snapshot->type, a->type);
    snapshot->size = a->size;
    snapshot->id = ha_id_known(a);
    snapshot->element = a->element;
}

/* The same, with an access to r. */
HA_IN_ void ha_array_snapshot_access(const ha_array *a, ha_array_snapshot *snapshot, ha_range r)
    HA_REQUIRES_(a->lock) {
    ha_array_snapshot_take(a, snapshot);
    if (r.last > snapshot->size) r.last = snapshot->size;
    snapshot->accessed = ha_value_bytes(a, r);
}

HA_IN_ void ha_record_snapshot(ha_event_record *r, const ha_array_snapshot *snapshot,
                               ha_range range) {
    memcpy(r->array, snapshot->name, sizeof r->array);
    memcpy(r->type, snapshot->type, sizeof r->type);
    r->info.id = snapshot->id;
    if (range.last > snapshot->size)
        range.last = snapshot->size; /* a whole access locks more than there is */
    if (range.first > range.last) range.first = range.last;
    r->info.range = range;
}

HA_IN_ void ha_record_array(ha_event_record *r, ha_array *a, ha_range range) {
    ha_array_snapshot snapshot;
    ha_lock(a);
    ha_array_snapshot_take(a, &snapshot);
    ha_unlock(a);
    ha_record_snapshot(r, &snapshot, range);
}

/* ---- arrays as a whole ---------------------------------------------------------------------- */

/* A handler, but not the trace, hears of each array that is made, and of the end of those that have a number. */
HA_IN_ void ha_on_array(ha_event_kind kind, ha_array *a) {
    if (!(__atomic_load_n(&ha_listeners, __ATOMIC_RELAXED) & HA_HANDLER_LISTENS)) return;
    if (ha_pending_events.telling || (kind == HA_EVENT_NEW ? !ha_id_of(a) : !ha_id_known(a)))
        return;
    ha_event_record *r = ha_record_add(kind, "", ha_memory_label(a->first_touch->memory).text);
    if (!r) return;
    ha_record_array(r, a, HA_WHOLE_);
    r->info.bytes = a->size * a->element;
}

/* ---- transfers ----------------------------------------------------------------------------- */

/* A copy between memories is about to be enqueued on `queue`. */
static inline void ha_transfer_begins(ha_context *queue) {
    const unsigned listeners = __atomic_load_n(&ha_listeners, __ATOMIC_RELAXED);
    if ((listeners & HA_TRACE_LISTENS) && ha_will_tell()) ha_stamps_begin(queue);
}

HA_IN_ void ha_transfer_count(ha_memory *from, ha_memory *to, uint64_t bytes, const char *site) {
    __atomic_fetch_add(&from->transfers_out, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&from->bytes_out, bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->transfers_in, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->bytes_in, bytes, __ATOMIC_RELAXED);
    ha_site_add(site, &(ha_site_statistics){.transfers = 1, .bytes = bytes});
}

/* A copy of r from one memory to another was enqueued on `queue` (the host's: it has happened). The
 * array is busy, nothing is locked. */
HA_IN_ void ha_transferred(ha_array *a, ha_memory *from, ha_memory *to, ha_context *queue,
                           ha_range r, const char *site) {
    uint64_t bytes = ha_value_bytes(a, r);
    ha_transfer_count(from, to, bytes, site);
    if (!ha_is_listening()) return;
    ha_stamps *stamps = ha_stamps_end(queue);
    ha_event_record *e = ha_record_add(HA_EVENT_TRANSFER, site, ha_memory_label(to).text);
    if (!e) {
        ha_stamps_abandon(stamps);
        return;
    }
    ha_record_array(e, a, r);
    ha_text_copy(e->from, sizeof e->from, ha_memory_label(from).text);
    ha_text_copy(e->track, sizeof e->track, queue->name);
    e->info.bytes = bytes;
    e->by_queue = queue->ops != NULL;
    e->stamps = stamps;
}

/* ---- giving way ---------------------------------------------------------------------------- */

/* An array has given way at a memory, or gets back what had. sent: it was brought away for that. */
HA_IN_ void ha_on_evicted(ha_event_kind kind, ha_array *a, const ha_memory *m, uint64_t bytes,
                          int sent) {
    ha_event_record *r = ha_record_add(kind, "", ha_memory_label(m).text);
    if (!r) return;
    ha_record_array(r, a, HA_WHOLE_);
    r->info.bytes = bytes;
    r->info.writes = sent;
}

/* ---- accesses ------------------------------------------------------------------------------ */

/* Arrays that are watched, for the report. They never take the fast path. */
typedef struct ha_watched {
    struct ha_watched *next, **link;
    ha_array *array;
    uint64_t accesses; /* under the array's lock */
} ha_watched;

HA_STATE_ struct {
    pthread_mutex_t lock; /* taken before an array's */
    ha_watched *first;
} ha_watch_list = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A new array, before anybody else knows it. Without memory for that it is not watched. */
static inline void ha_watch_begin(ha_array *a) {
    if (ha_is_listening()) ha_on_array(HA_EVENT_NEW, a);
    if (!ha_is_watching()) return;
    ha_watched *w = (ha_watched *)HARRAY_MALLOC(sizeof *w);
    if (!w) return;
    *w = (ha_watched){.array = a, .link = &ha_watch_list.first};
    a->watched = w;
    a->waiters |= HA_WATCHED;
    pthread_mutex_lock(&ha_watch_list.lock);
    if ((w->next = ha_watch_list.first)) w->next->link = &w->next;
    ha_watch_list.first = w;
    pthread_mutex_unlock(&ha_watch_list.lock);
}

HA_IN_ void ha_watch_end(ha_array *a) {
    ha_watched *w = a->watched;
    if (!w) return;
    pthread_mutex_lock(&ha_watch_list.lock);
    *w->link = w->next;
    if (w->next) w->next->link = w->link;
    pthread_mutex_unlock(&ha_watch_list.lock);
    a->watched = NULL;
    a->waiters &= ~(uint32_t)HA_WATCHED;
    HARRAY_FREE(w);
}

/* Nothing locked. The array itself may be gone when an access was closed. */
HA_IN_ void ha_on_access(ha_event_kind kind, const ha_array *a, const ha_array_snapshot *snapshot,
                         const ha_holder *h) {
    ha_event_record *r = ha_record_add(kind, h->site, h->context->name);
    if (!r) return;
    ha_record_snapshot(r, snapshot, h->range);
    r->info.bytes = snapshot->accessed;
    r->info.start = h->opened;
    if (kind == HA_EVENT_OPEN) r->info.end = h->opened;
    r->info.writes = h->writes;
    r->subject = a;
    r->ticket = h->ticket;
}

/* A thread has just opened an access to a watched array: nobody else takes that away. */
HA_IN_ void ha_watch_opened(ha_array *a, uint64_t ticket) {
    ha_array_snapshot snapshot;
    uint64_t now = ha_now();
    ha_lock(a);
    ha_holder *h = ha_holder_find(a, ticket);
    h->opened = now;
    a->watched->accesses++;
    ha_holder opened = *h;
    ha_array_snapshot_access(a, &snapshot, h->range);
    ha_unlock(a);
    ha_site_add(opened.site, &(ha_site_statistics){.accesses = 1});
    ha_on_access(HA_EVENT_OPEN, a, &snapshot, &opened);
}

/* ---- conflicts ----------------------------------------------------------------------------- */

/* A thread waited for another one's access since `start`, or was refused: `other` is that access,
 * thread 0 when it waited behind a writer. */
HA_IN_ void ha_on_conflict(ha_array *a, ha_range range, const char *site, const char *at,
                           const ha_holder *other, uint64_t start, ha_status s) {
    ha_event_record *r = ha_record_add(HA_EVENT_CONFLICT, site, at);
    if (!r) return;
    ha_record_array(r, a, range);
    if (other->site) r->info.from = other->site;
    r->info.start = start ? start : r->info.end;
    r->info.status = s;
}

#endif
