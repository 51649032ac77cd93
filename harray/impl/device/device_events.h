/* What memories and queues have to tell: blocks that come and go, and when a transfer began and ended. */
#ifndef HARRAY_IMPL_DEVICE_DEVICE_EVENTS_H
#define HARRAY_IMPL_DEVICE_DEVICE_EVENTS_H

#include "context.h"
#include "../events/all.h"

typedef struct ha_memory_text {
    char text[48];
} ha_memory_text;

/* "host", "sim:0", "sim:0 pinned", "sim:0 managed" */
HA_IN_ ha_memory_text ha_memory_label(const ha_memory *m) {
    ha_memory_text l = {"host"};
    const ha_memory *device = m->primary ? m : NULL;
    if (!m->primary) device = __atomic_load_n(&ha_registry.memories, __ATOMIC_ACQUIRE);
    while (device && device != m && device->pinned != m && device->managed != m)
        device = device->next;
    if (device)
        snprintf(l.text, sizeof l.text, "%.38s%s", device->primary->name,
                 device == m           ? ""
                 : device->pinned == m ? " pinned"
                                       : " managed");
    return l;
}

/* The backend (or the allocator) gave a block, or got it back. */
HA_IN_ void ha_on_block(ha_event_kind kind, const ha_memory *m, uint64_t bytes, uint64_t balance) {
    ha_event_record *r = ha_record_add(kind, "", ha_memory_label(m).text);
    if (!r) return;
    r->info.bytes = bytes;
    r->balance = balance;
}

/* Something is about to be enqueued: when does it begin? A device that cannot say is no reason to
 * fail, nor to tell anything. */
HA_IN_ void ha_stamps_begin(ha_context *queue) {
    ha_stamps_abandon(ha_pending_events.stamps); /* of a transfer that failed */
    ha_pending_events.stamps = NULL;
    if (!queue->ops || !HA_HAS_(queue->ops, ha_queue_ops, stamp)) return;
    ha_stamps *s = (ha_stamps *)HARRAY_MALLOC(sizeof *s);
    if (!s) return;
    memset(s, 0, sizeof *s);
    ha_note note = ha_backend_note;
    if (queue->ops->stamp(queue->queue, &s->begin) == HA_OK)
        ha_pending_events.stamps = s;
    else
        HARRAY_FREE(s);
    ha_backend_note = note;
}

/* It was enqueued. NULL: its times are not known. */
HA_IN_ ha_stamps *ha_stamps_end(ha_context *queue) {
    ha_stamps *s = ha_pending_events.stamps;
    if (!s) return NULL;
    ha_pending_events.stamps = NULL;
    ha_note note = ha_backend_note;
    s->ends = queue->ops->stamp(queue->queue, &s->end) == HA_OK;
    ha_backend_note = note;
    if (s->ends) return s;
    ha_stamps_abandon(s);
    return NULL;
}

#endif
