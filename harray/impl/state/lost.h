/* What is lost when a queue fails: found out, taken out of the valid sets, told.
 *
 * A transfer or a write is valid from the moment it is enqueued; the outstanding operation is what
 * makes that true. When its queue fails (device/timeline.h), the operation stays in its list as a
 * lost one, and whoever next prepares the array settles: what lost operations were to write is not
 * valid there. What of it is valid nowhere else is lost, until it is overwritten. When all queues
 * of a device have failed, nothing can be had from its memory, so all of that counts as lost there.
 *
 * What an open access overwrites is not taken from it: there is nothing in it of what was lost.
 *
 * Entries of one queue may have been merged (memory/block.h): then more is taken for lost than was,
 * never less. */
#ifndef HARRAY_IMPL_STATE_LOST_H
#define HARRAY_IMPL_STATE_LOST_H

#include "array_state.h"

static inline int ha_is_dead(const ha_memory *m) {
    return __atomic_load_n(&m->dead, __ATOMIC_ACQUIRE);
}

/* The first lost write on an incarnation; the whole of one whose memory is dead, by no queue. Not
 * one whose queue is still being drained: it may touch the block until then, so it stays in the
 * list. */
HA_IN_ int ha_lost_find(ha_array *a, ha_incarnation *in, ha_operation *lost) {
    int found = 0;
    ha_lock(a);
    const ha_operation *list = ha_ops_list(&in->ops);
    for (uint32_t i = 0; i < in->ops.n && !found; i++)
        if ((found = ha_passed(list[i].at.queue, list[i].at.seq) && ha_lost_write(&list[i])))
            *lost = list[i];
    if (!found && in->valid.n && ha_is_dead(in->memory)) {
        *lost = (ha_operation){.range = HA_WHOLE_};
        found = 1;
    }
    ha_unlock(a);
    return found;
}

/* Lock held. Whether what an access has outlives `lost`: it overwrites, so nothing of that is in
 * it, and its queue came after that, so it would have failed, too, had that not happened. */
HA_IN_ int ha_outlives(const ha_holder *h, const ha_incarnation *in, const ha_operation *lost) {
    return h->overwrites && lost->at.queue && h->context->memory == in->memory &&
           !ha_has_failed(h->context);
}

/* *spared = the ranges of the accesses that outlive `lost`, to be freed; *n of them. Busy, so that
 * accesses are closed meanwhile, not opened. */
HA_IN_ ha_status ha_lost_spared(ha_array *a, const ha_incarnation *in, const ha_operation *lost,
                                ha_range **spared, uint32_t *n) {
    ha_lock(a);
    uint32_t most = a->holders;
    ha_unlock(a);
    *n = 0;
    *spared = most ? (ha_range *)HARRAY_MALLOC(most * sizeof **spared) : NULL;
    if (most && !*spared) return HA_ERR_MEMORY;
    ha_lock(a);
    for (uint32_t i = 0; i < a->holders; i++)
        if (ha_outlives(&a->holder[i], in, lost)) (*spared)[(*n)++] = a->holder[i].range;
    ha_unlock(a);
    return HA_OK;
}

/* *taken = what `lost` takes from `in`. */
HA_IN_ ha_status ha_lost_range(ha_array *a, const ha_incarnation *in, const ha_operation *lost,
                               ha_set *taken) {
    const ha_range *v = ha_set_ranges(&in->valid);
    ha_range *spared;
    uint32_t n;
    ha_status s = ha_lost_spared(a, in, lost, &spared, &n);
    taken->grid = a->grid;
    for (uint32_t i = 0; i < in->valid.n && !s; i++)
        s = ha_set_put(taken, ha_intersect(a->grid, v[i], lost->range));
    for (uint32_t i = 0; i < n && !s; i++) s = ha_set_drop(taken, spared[i]);
    HARRAY_FREE(spared);
    return s;
}

/* *gone = what of *taken is valid nowhere but at `in`. */
HA_IN_ ha_status ha_lost_values(ha_array *a, const ha_incarnation *in, const ha_set *taken,
                                ha_set *gone) {
    if (ha_set_copy(gone, taken)) return HA_ERR_MEMORY;
    for (const ha_incarnation *other = &a->first; other; other = other->next)
        for (uint32_t i = 0; i < other->valid.n && other != in; i++)
            if (ha_set_drop(gone, ha_set_ranges(&other->valid)[i])) return HA_ERR_MEMORY;
    return HA_OK;
}

/* *result = set without, or with, the ranges of another one. */
HA_IN_ ha_status ha_set_edited(const ha_set *set, const ha_set *by, int adding, ha_set *result) {
    ha_status s = ha_set_copy(result, set);
    for (uint32_t i = 0; i < by->n && !s; i++) {
        const ha_range r = ha_set_ranges(by)[i];
        s = adding ? ha_set_put(result, r) : ha_set_drop(result, r);
    }
    return s;
}

/* Takes entries of a lost operation off the list. Lock held. */
HA_IN_ void ha_lost_forget(ha_ops *o, const ha_operation *lost) {
    ha_operation *list = ha_ops_list(o);
    uint32_t k = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        int same = list[i].at.queue == lost->at.queue && list[i].at.seq == lost->at.seq &&
                   list[i].range.first == lost->range.first &&
                   list[i].range.last == lost->range.last;
        if (!same) list[k++] = list[i];
    }
    o->n = k;
}

/* Busy. One lost operation. Nothing has changed when it fails. */
HA_IN_ ha_status ha_lose(ha_array *a, ha_incarnation *in, const ha_operation *lost) {
    ha_set taken = {0}, gone = {0}, valid = {0}, all_lost = {0};
    ha_status s = ha_lost_range(a, in, lost, &taken);
    if (!s) s = ha_lost_values(a, in, &taken, &gone);
    if (!s) s = ha_set_edited(&in->valid, &taken, 0, &valid);
    if (!s) s = ha_set_edited(&a->lost, &gone, 1, &all_lost);
    if (!s) {
        ha_lock(a);
        ha_set_exchange(&in->valid, &valid);
        ha_set_exchange(&a->lost, &all_lost);
        if (gone.n) {
            a->lost_where = lost->at.queue ? lost->at.queue->name : in->memory->primary->name;
            a->lost_site = lost->site;
        }
        ha_lost_forget(&in->ops, lost);
        ha_unlock(a);
    }
    ha_set_free(&taken);
    ha_set_free(&gone);
    ha_set_free(&valid);
    ha_set_free(&all_lost);
    return s;
}

/* Busy. After this no operation in any list is lost, and the valid sets are right; but for queues
 * that are still being drained: whoever meets one of their operations waits for that, and looks
 * again. */
HA_IN_ ha_status ha_settle(ha_array *a) {
    ha_operation lost = {0};
    ha_status s = HA_OK;
    if (!__atomic_load_n(&ha_failures, __ATOMIC_ACQUIRE)) return HA_OK;
    for (ha_incarnation *in = &a->first; in && !s; in = in->next)
        while (!s && ha_lost_find(a, in, &lost)) s = ha_lose(a, in, &lost);
    return s;
}

/* "…, which sim:0 was to write (solver.c:88) before it failed" for messages. Busy. */
typedef struct ha_lost_label {
    char text[160];
} ha_lost_label;

HA_IN_ ha_lost_label ha_lost_label_of(ha_array *a) {
    ha_lost_label l;
    ha_lock(a);
    const char *where = a->lost_where, *site = a->lost_site;
    ha_unlock(a);
    snprintf(l.text, sizeof l.text, "%s failed before it had written them%s%.80s%s",
             where ? where : "a device", site ? " (for " : "", site ? site : "", site ? ")" : "");
    return l;
}

#endif
