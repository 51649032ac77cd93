/* Giving back an array's memory in one place, without losing a value: what only that place has is
 * brought to the next tier first and waited for, then the block goes. */
#ifndef HARRAY_IMPL_ARRAY_EVICT_H
#define HARRAY_IMPL_ARRAY_EVICT_H

#include "array.h"

/* One try, behind others that had values brought away first (sent). HA_RETRY_: *only is to be brought elsewhere
 * first; empty: it is on its way to the next tier, or where there is none anywhere, until *point. HA_ERR_STATE: the
 * array was freed meanwhile, or the memory there is the caller's. */
HA_IN_ ha_status ha_evict_try(ha_array *a, const ha_context *c, int sent, ha_range *only,
                              ha_timepoint *point, ha_holder *other) {
    if (ha_busy_begin(a, 0, NULL)) return HA_ERR_STATE;
    ha_incarnation *in = ha_incarnation_find(a, c->memory);
    ha_lock(a);
    const ha_holder *held = ha_held_there(a, c->memory);
    if (held) *other = *held;
    ha_unlock(a);
    ha_status s = held ? HA_ERR_CONFLICT : HA_OK;
    if (!s && in && in->wrapped) s = HA_ERR_STATE;
    if (!s && in && in->block && !(s = ha_settle(a))) {
        *only = ha_only_there(a, in);
        if (!ha_is_empty(*only)) {
            s = HA_RETRY_;
            if (ha_goes_elsewhere(a, in, ha_memory_tier(c->memory), *only, point))
                *only = (ha_range){0, 0};
        } else {
            ha_victim_drop(a, in, sent);
        }
    }
    ha_busy_end(a);
    return s;
}

/* What an opening has brought away from a memory. The block there may have given way already: then whoever took it has
 * counted that. Busy. */
HA_IN_ void ha_evict_count(const ha_opening *o, const ha_memory *from) {
    const ha_incarnation *in = ha_incarnation_find(o->array, from);
    if (!in || !in->block) return;
    __atomic_fetch_add(&in->block->memory->written_back, ha_set_value_bytes(o->array, &o->brought),
                       __ATOMIC_RELAXED);
}

/* Reads a range in the next tier; a try then waits until it is there. */
HA_IN_ ha_status ha_bring_away(ha_array *a, const ha_context *from, ha_range r, const char *site) {
    ha_access x;
    ha_memory *to = ha_memory_tier(from->memory);
    ha_context *queue = to ? ha_arrivals_queue(to) : NULL;
    if (!queue)
        return ha_fail(HA_ERR_STATE, "ha_array_evict",
                       "%s: array %s at %s: elements %s are valid nowhere else%s%s", site,
                       ha_label_of(a).text, from->name, ha_part_label_of(a, r).text,
                       to ? ", and cannot go to " : "", to ? ha_memory_label(to).text : "");
    ha_opening o = {.array = a,
                    .context = queue,
                    .operation = "ha_array_evict",
                    .site = site,
                    .mode = HA_READ,
                    .range = r};
    ha_status s = ha_opening_begin(&o, 0);
    if (s) return s;
    ha_evict_count(&o, from->memory);
    ha_opening_commit(&o, &x);
    return ha_close_(&x);
}

/* What a try has to wait for. */
HA_IN_ ha_status ha_evict_wait(ha_array *a, const ha_context *c, ha_range only, ha_timepoint point,
                               const char *site) {
    if (!ha_is_empty(only)) return ha_bring_away(a, c, only, site);
    const ha_status s = point.queue ? ha_wait_past(point, site) : HA_OK;
    return s ? ha_fail(s, "ha_array_evict", "%s: array %s at %s: waiting for its values failed",
                       site, ha_label_of(a).text, c->name)
             : HA_OK;
}

ha_status ha_array_evict_(ha_array *a, ha_context *c, const char *site) {
    HA_TELLS_EVENTS_;
    HA_CALLED_FROM_(site);
    static const char *const operation = "ha_array_evict";
    ha_holder other = {0};
    ha_range only = {0, 0};
    ha_timepoint point;
    int sent = 0;
    ha_status s = a ? ha_enter(operation) : ha_fail(HA_ERR_ARGUMENT, operation, "no array");
    if (s) return s;
    if (ha_was_freed(a, operation)) return HA_ERR_STATE;
    c = ha_resolve(c);
    for (; (s = ha_evict_try(a, c, sent, &only, &point, &other)) == HA_RETRY_; sent = 1)
        if ((s = ha_evict_wait(a, c, only, point, site))) return s;
    if (s == HA_ERR_CONFLICT)
        return ha_fail(s, operation, "%s: array %s at %s: there is an open access, %s at %s", site,
                       ha_label_of(a).text, c->name, ha_came_by(&other), other.site);
    if (s == HA_ERR_STATE && ha_was_freed(a, operation)) return s;
    if (s == HA_ERR_STATE)
        return ha_fail(s, operation, "%s: array %s at %s: its memory there is the caller's", site,
                       ha_label_of(a).text, c->name);
    return s ? ha_fail(s, operation, "%s: array %s at %s: no memory to note what was lost", site,
                       ha_label_of(a).text, c->name)
             : HA_OK;
}

/* ---- hints ----------------------------------------------------------------------------------- */

/* A stamp of 0 is older than any. */
void ha_array_done(ha_array *a, ha_context *c) {
    if (!ha_may_look_at(a, "ha_array_done") || ha_busy_begin(a, 0, NULL)) return;
    ha_incarnation *in = ha_incarnation_find(a, ha_resolve(c)->memory);
    if (in && in->block) {
        ha_lock(a);
        in->stamp = 0;
        in->used = in->is_ahead = 0;
        ha_unlock(a);
        ha_resident_first(in->block);
    }
    ha_busy_end(a);
}

ha_status ha_array_set_priority(ha_array *a, int priority) {
    static const char *const operation = "ha_array_set_priority";
    ha_status s = a ? ha_enter_briefly(operation) : ha_fail(HA_ERR_ARGUMENT, operation, "no array");
    if (s) return s;
    if (ha_was_freed(a, operation)) return HA_ERR_STATE;
    if (priority != HA_KEEP && (priority < -2 || priority > 2))
        return ha_fail(HA_ERR_ARGUMENT, operation,
                       "array %s: no priority: %d; they are -2 to 2, and HA_KEEP",
                       ha_label_of(a).text, priority);
    ha_lock(a);
    a->priority = priority;
    ha_unlock(a);
    return HA_OK;
}

#endif
