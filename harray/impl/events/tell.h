/* Telling what a call has noted, when it returns. */
#ifndef HARRAY_IMPL_EVENTS_TELL_H
#define HARRAY_IMPL_EVENTS_TELL_H

#include "trace.h"

HA_IN_ void ha_record_tell(ha_event_record *r) {
    if (ha_listener.call) ha_listener.call(&r->info, ha_listener.user);
    ha_trace_take(r);
}

HA_IN_ void ha_call_leave(void) {
    HA_UNCANCELLED_; /* the trace is locked while it is written */
    if (--ha_pending_events.depth || ha_pending_events.telling) return;
    ha_stamps_abandon(ha_pending_events.stamps);
    ha_pending_events.stamps = NULL;
    ha_event_record *r = ha_pending_events.first;
    ha_pending_events.first = NULL;
    ha_pending_events.telling = 1;
    for (ha_event_record *next; r; r = next) {
        next = r->next;
        ha_record_tell(r);
    }
    ha_pending_events.telling = 0;
}

HA_IN_ int ha_call_count(void) {
    ha_trace_ask();
    if (!ha_is_listening()) return 0;
    ha_pending_events.depth++;
    return 1;
}

/* What is known by now of how long kernels and functions took. */
size_t ha_works(ha_work_statistics *works, size_t most) {
    if (ha_enter("ha_works")) return 0;
    pthread_mutex_lock(&ha_trace.lock);
    ha_trace_look(SIZE_MAX);
    pthread_mutex_unlock(&ha_trace.lock);
    return ha_works_copy(works, most);
}

static inline int ha_call_begin(void) {
    return __atomic_load_n(&ha_listeners, __ATOMIC_RELAXED) ? ha_call_count() : 0;
}

static inline void ha_call_end(const int *counted) {
    if (*counted) ha_call_leave();
}

/* At the top of every public function that may cause events: tells them when it returns. */
#define HA_TELLS_EVENTS_                                                                           \
    int ha_tells_ __attribute__((cleanup(ha_call_end), unused)) = ha_call_begin()

#endif
