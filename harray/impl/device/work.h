/* Kernels and functions, as they are enqueued: how long they take, where that is watched. */
#ifndef HARRAY_IMPL_DEVICE_WORK_H
#define HARRAY_IMPL_DEVICE_WORK_H

#include "device_events.h"

typedef struct ha_work {
    const char *name, *site; /* NULL: it has no name, and is not watched */
    uint64_t start;          /* 0: it is not watched */
} ha_work;

/* It is about to be enqueued; on the host to run. */
static inline void ha_work_begin(ha_work *w, ha_context *c) {
    w->start = 0;
    if (!w->name || !ha_is_watching() || ha_pending_events.telling) return;
    w->start = ha_now();
    ha_stamps_begin(c);
}

HA_IN_ void ha_work_tell(const ha_work *w, const ha_context *c, uint64_t end, ha_stamps *stamps) {
    ha_event_record *r = ha_record_add(HA_EVENT_LAUNCH, w->site, c->name);
    if (!r) {
        if (stamps) ha_stamps_leave(stamps);
        return;
    }
    ha_text_copy(r->name, sizeof r->name, w->name);
    ha_text_copy(r->track, sizeof r->track, c->name);
    r->by_queue = c->ops != NULL;
    r->stamps = stamps;
    r->info.start = c->ops ? end : w->start; /* on a device it takes no time to enqueue it */
    r->info.end = end;
}

HA_IN_ void ha_work_ended(const ha_work *w, ha_context *c, ha_status s) {
    const uint64_t end = ha_now();
    ha_stamps *stamps = ha_stamps_end(c);
    ha_work_entry *e = s ? NULL : ha_work_find(w->name, w->site);
    if (e) ha_work_add(e, 1, 0);
    if (e && !c->ops) ha_work_add(e, 0, end - w->start);
    if (stamps) stamps->work = e;
    if (!s)
        ha_work_tell(w, c, end, stamps);
    else
        ha_stamps_abandon(stamps);
}

/* It was enqueued, or refused. */
static inline void ha_work_end(const ha_work *w, ha_context *c, ha_status s) {
    if (w->start) ha_work_ended(w, c, s);
}

#endif
