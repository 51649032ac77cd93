/* Making room in a memory that is full: what is in use by nobody gives way, what was used longest ago first.
 *
 * What is valid elsewhere, and has arrived there, goes for nothing. What is valid only there is brought to the next
 * tier first (device/tier.h): all that the request needs is enqueued, then waited for, the oldest first; only then it
 * goes. Until then it is valid there, too: so a copy that fails, a reader that comes between or a tier without memory
 * lose nothing, and nothing has to be taken back. The victim is just none.
 *
 * A tier that is short itself makes room like any other memory, with an attempt of its own, while nothing here is
 * busy. One that has none is passed over for the one behind it. That ends at the last tier, which has only clean
 * victims.
 *
 * Called with nothing busy or locked, by whoever then tries again. */
#ifndef HARRAY_IMPL_ACCESS_MAKE_ROOM_H
#define HARRAY_IMPL_ACCESS_MAKE_ROOM_H

#include "controller.h"

typedef enum ha_eviction {
    HA_EVICTED, /* the block is given back, or will be once no queue uses it */
    HA_LEAVING, /* what only it has is on its way */
    HA_STAYS    /* it is no victim any more, or has values that cannot be brought away */
} ha_eviction;

/* ---- one victim, busy ------------------------------------------------------------------------ */

/* What gives way above is as old in the next tier as if it had been used there just now. Busy. */
HA_IN_ void ha_victim_is_young_below(ha_array *a, const ha_incarnation *in) {
    ha_incarnation *below = ha_incarnation_find(a, ha_memory_tier(in->memory));
    ha_lock(a);
    if (below && below->valid.n) ha_incarnation_stamp(below);
    ha_unlock(a);
}

/* Busy. It has no value that has not arrived elsewhere. */
HA_IN_ void ha_victim_drop(ha_array *a, ha_incarnation *in, int sent) {
    ha_memory *m = in->block->memory;
    __atomic_fetch_add(&m->evictions, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&m->evicted, in->block->bytes, __ATOMIC_RELAXED);
    ha_on_evicted(HA_EVENT_EVICT, a, m, in->block->bytes, sent);
    ha_victim_is_young_below(a, in);
    ha_lock(a);
    in->has_left = in->valid.n > 0;
    in->valid.n = 0;
    ha_unlock(a);
    ha_incarnation_drop(a, in);
}

/* Whether r is on its way to another memory; to: this one, NULL: any. *point: when it will have arrived. */
HA_IN_ int ha_is_on_its_way(ha_array *a, const ha_incarnation *from, const ha_memory *to,
                            ha_range r, ha_timepoint *point) {
    for (ha_incarnation *in = &a->first; in; in = in->next) {
        if (in == from || in->leaving || (to && in->memory != to) || ha_is_dead(in->memory) ||
            !ha_set_contains(&in->valid, r))
            continue;
        *point = (ha_timepoint){NULL, 0};
        if (ha_next_conflict(a, in, r, 0, NULL, point)) return 1;
    }
    return 0;
}

/* Whether r is in another memory, or will be. *point: when, as with ha_is_on_its_way; no queue: it has arrived. */
HA_IN_ int ha_goes_elsewhere(ha_array *a, const ha_incarnation *from, const ha_memory *to,
                             ha_range r, ha_timepoint *point) {
    *point = (ha_timepoint){NULL, 0};
    return ha_has_arrived_elsewhere(a, from, r) || ha_is_on_its_way(a, from, to, r, point) ||
           ha_has_arrived_elsewhere(a, from, r); /* just now */
}

/* The bytes of the values in a set of ranges. */
HA_IN_ uint64_t ha_set_value_bytes(const ha_array *a, const ha_set *set) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < set->n; i++) bytes += ha_value_bytes(a, ha_set_ranges(set)[i]);
    return bytes;
}

/* Brings what is missing of r to a memory. *bytes: how many that were, also when it fails on the way. HA_ERR_MEMORY
 * also where the memory cannot be had any more, or the array is giving way there, too. */
HA_IN_ ha_status ha_victim_send_to(ha_array *a, ha_memory *to, ha_range r, uint64_t *bytes,
                                   ha_attempt *attempt) {
    ha_context *queue = ha_arrivals_queue(to);
    ha_incarnation *in = queue ? ha_incarnation_add(a, to) : NULL;
    ha_set brought = {.grid = a->grid};
    ha_plan plan;
    if (!in || in->leaving || ha_is_short_in_use(a, in)) return HA_ERR_MEMORY;
    ha_lock(a);
    in->stamp = ha_memory_tick(to);
    ha_unlock(a);
    ha_status s = ha_incarnation_room(a, in, queue, a->size, attempt);
    if (s) return s;
    s = ha_plan_make(a, in, r, &plan);
    if (!s) s = ha_plan_execute(a, &plan, in, queue, &brought, attempt);
    *bytes += ha_set_value_bytes(a, &brought);
    ha_plan_free(&plan);
    ha_set_free(&brought);
    return s || ha_set_contains(&in->valid, r) ? s : HA_ERR_MEMORY;
}

/* Whether the try before has begun to send it: where it passes it is valid then, but that is not where it is to be. */
HA_IN_ int ha_is_being_sent(const ha_attempt *attempt, ha_range r) {
    return attempt->to && attempt->sent.first == r.first && attempt->sent.last == r.last;
}

/* Brings it to the next tier that can take it; what is on its way there goes on. HA_ERR_MEMORY: none can. */
HA_IN_ ha_status ha_victim_send(ha_array *a, ha_incarnation *in, ha_range r, ha_attempt *attempt) {
    ha_memory *to = ha_is_being_sent(attempt, r) ? attempt->to : ha_memory_tier(in->memory);
    ha_status s = HA_ERR_MEMORY;
    uint64_t bytes = 0;
    ha_lock(a);
    in->leaving = 1;
    ha_unlock(a);
    for (attempt->to = NULL; to && s && !attempt->to; to = ha_memory_tier(to)) {
        s = ha_victim_send_to(a, to, r, &bytes, attempt);
        if (s == HA_RETRY_) attempt->to = to;
    }
    attempt->sent = r;
    __atomic_fetch_add(&in->block->memory->written_back, bytes, __ATOMIC_RELAXED);
    if (attempt->is_ahead)
        __atomic_fetch_add(&in->block->memory->written_ahead, bytes, __ATOMIC_RELAXED);
    return s;
}

/* Enqueues what is on its way nowhere. *point: when the first of all will have arrived. */
HA_IN_ ha_status ha_victim_send_all(ha_array *a, ha_incarnation *in, ha_timepoint *point,
                                    ha_attempt *attempt) {
    point->queue = NULL;
    for (uint32_t i = 0; i < in->valid.n; i++) {
        const ha_range r = ha_set_ranges(&in->valid)[i];
        ha_timepoint p;
        if (ha_is_being_sent(attempt, r) || !ha_goes_elsewhere(a, in, NULL, r, &p)) {
            ha_status s = ha_victim_send(a, in, r, attempt);
            if (s) return s;
            (void)ha_goes_elsewhere(a, in, NULL, r, &p);
        }
        if (!point->queue) *point = p;
    }
    return HA_OK;
}

/* Whether others may count on it again, or it is gone; not while somebody has the array busy, who may be ending it. */
HA_IN_ int ha_victim_may_stay(ha_memory *m, const ha_victim *v) {
    int may = 1;
    ha_spin_lock(&m->pool.lock);
    ha_block *b = ha_victim_block(m, v);
    if (b) {
        ha_lock(v->array);
        may = !v->array->busy;
        ha_incarnation *in = may ? ha_incarnation_with(v->array, b) : NULL;
        if (in) in->leaving = 0;
        ha_unlock(v->array);
    }
    ha_spin_unlock(&m->pool.lock);
    return may;
}

/* It stays for now. */
HA_IN_ ha_eviction ha_victim_stays(ha_memory *m, const ha_victim *v) {
    while (!ha_victim_may_stay(m, v)) sched_yield(); /* that is short */
    return HA_STAYS;
}

/* One try. sends: what only it has is brought away, else it stays. */
HA_IN_ ha_status ha_victim_try(ha_memory *m, const ha_victim *v, int sends, ha_timepoint *point,
                               ha_eviction *became, ha_attempt *attempt) {
    ha_array *a = v->array;
    ha_incarnation *in = ha_victim_begin(m, v);
    *became = HA_STAYS;
    if (!in) return HA_OK;
    ha_status s = ha_settle(a);
    if (!s && sends) s = ha_victim_send_all(a, in, point, attempt);
    if (!s && ha_is_empty(ha_only_there(a, in))) {
        ha_victim_drop(a, in, sends);
        *became = HA_EVICTED;
    } else if (!s && sends)
        *became = HA_LEAVING;
    ha_busy_end(a);
    return s;
}

/* An attempt of its own. It makes no room where that is just being made for it. by: for whose sake. */
HA_IN_ ha_attempt ha_victim_attempt(ha_memory *m, const ha_attempt *by) {
    ha_attempt attempt = {.site = by->site, .fulls = by->fulls};
    memcpy(attempt.full, by->full, sizeof attempt.full);
    if (!ha_attempt_is_full(by, m)) attempt.full[attempt.fulls++] = m;
    return attempt;
}

/* Until it is evicted, or all that only it has is on its way. */
HA_IN_ ha_eviction ha_victim_evict(ha_memory *m, const ha_victim *v, int sends, ha_timepoint *point,
                                   const ha_attempt *by) {
    ha_attempt attempt = ha_victim_attempt(m, by);
    ha_eviction became;
    ha_status s;
    while ((s = ha_victim_try(m, v, sends, point, &became, &attempt)) == HA_RETRY_)
        if ((s = ha_attempt_wait(&attempt))) break;
    ha_attempt_end(&attempt);
    if (s) ha_forget_note(); /* nothing is lost: it just stays */
    return s || became == HA_STAYS ? ha_victim_stays(m, v) : became;
}

/* Waits for what is on its way, then it goes. */
HA_IN_ ha_eviction ha_victim_finish(ha_memory *m, const ha_victim *v, ha_timepoint *point,
                                    const ha_attempt *by) {
    ha_eviction became = HA_LEAVING;
    while (became == HA_LEAVING) {
        if (point->queue && ha_wait_past(*point, by->site)) {
            ha_forget_note();
            return ha_victim_stays(m, v);
        }
        became = ha_victim_evict(m, v, 1, point, by);
    }
    return became;
}

/* ---- as many as are needed ------------------------------------------------------------------- */

/* Some victims on their way out. */
typedef struct ha_leaving {
    ha_memory *memory;
    const ha_victims *victims;
    uint64_t need, freed,
        coming; /* bytes of blocks: wanted, given back, and still to be waited for */
    const ha_attempt *by;
    ha_timepoint point[HA_VICTIMS];
    ha_eviction became[HA_VICTIMS];
} ha_leaving;

HA_IN_ void ha_leave(ha_leaving *l, size_t i, int sends) {
    const ha_victim *v = &l->victims->list[i];
    l->became[i] = ha_victim_evict(l->memory, v, sends, &l->point[i], l->by);
    if (l->became[i] == HA_EVICTED) l->freed += v->bytes;
    if (l->became[i] == HA_LEAVING) l->coming += v->bytes;
    if (l->became[i] == HA_STAYS && sends) ha_victim_pass_over(l->memory, v);
}

/* Of those that are alike, [first, end), what is clean goes first. For what is to come ahead nothing goes that did. */
HA_IN_ void ha_leave_alike(ha_leaving *l, size_t first, size_t end) {
    for (size_t i = first; i < end && l->freed + l->coming < l->need; i++)
        if (!l->by->only_clean || !l->victims->list[i].is_ahead) ha_leave(l, i, 0);
    for (size_t i = first; i < end && l->freed + l->coming < l->need; i++) {
        if (l->became[i] == HA_EVICTED) continue;
        if (l->by->only_clean)
            ha_victim_pass_over(l->memory, &l->victims->list[i]);
        else
            ha_leave(l, i, 1);
    }
}

/* The end of those that are alike, from the first one on. What was chosen is like no other. */
HA_IN_ size_t ha_victims_alike(const ha_victims *v, size_t first) {
    size_t end = first + 1;
    if (v->is_chosen && first == 0) return end;
    while (end < v->n && ha_victims_are_alike(&v->list[first], &v->list[end])) end++;
    return end;
}

/* Evicts some of these: all that is to be brought away is enqueued before the first is waited for. Returns how many bytes
 * of blocks that were. */
HA_IN_ uint64_t ha_victims_evict(ha_memory *m, const ha_victims *v, uint64_t need,
                                 const ha_attempt *by) {
    ha_leaving l = {.memory = m, .victims = v, .need = need, .by = by};
    for (size_t i = 0; i < v->n; i++) l.became[i] = HA_STAYS;
    for (size_t first = 0, end = 0; first < v->n; first = end) {
        end = ha_victims_alike(v, first);
        ha_leave_alike(&l, first, end);
    }
    for (size_t i = 0; i < v->n; i++) {
        if (l.became[i] != HA_LEAVING) continue;
        if (ha_victim_finish(m, &v->list[i], &l.point[i], by) == HA_EVICTED)
            l.freed += v->list[i].bytes;
        else
            ha_victim_pass_over(m, &v->list[i]);
    }
    return l.freed;
}

/* Some bytes of blocks, as near to `need` as the oldest victims have; 0: there are none. */
HA_IN_ uint64_t ha_memory_evict(ha_memory *m, uint64_t need, const ha_attempt *by) {
    for (int tries = 0; tries < HA_ATTEMPTS; tries++) {
        ha_victims v = {.left = 2 * ha_residents(m) + HA_VICTIM_LOOKS};
        while (v.left) {
            ha_victims_find(m, need, &v);
            if (!by->only_clean) ha_controller_choose(m, &v, need);
            const uint64_t freed = v.n ? ha_victims_evict(m, &v, need, by) : 0;
            if (freed) return freed;
        }
        if (!v.busy) return 0;
        sched_yield(); /* somebody has them for a short time */
    }
    return 0;
}

/* As much as the memory can ever have at once, as far as is known. */
HA_IN_ uint64_t ha_memory_most(ha_memory *m) {
    const ha_memory_ops *table = ha_memory_table(m);
    uint64_t most = UINT64_MAX, unused;
    ha_spin_lock(&m->pool.lock);
    const uint64_t budget = m->pool.budget;
    ha_spin_unlock(&m->pool.lock);
    if (!m->allocator.allocate && HA_HAS_(table, ha_memory_ops, capacity) &&
        table->capacity(m->handle, &most, &unused)) {
        most = UINT64_MAX;
        ha_forget_note();
    }
    return budget && budget < most ? budget : most;
}

HA_IN_ void ha_attempt_fill(ha_attempt *attempt, ha_memory *m) {
    attempt->full[attempt->fulls++] = m;
    __atomic_fetch_add(&m->refusals, 1, __ATOMIC_RELAXED);
}

/* Waits for what an attempt is short of: arrays give way. Where none can, the attempt fails when it is made again. */
HA_IN_ ha_status ha_make_room(ha_attempt *attempt) {
    ha_memory *m = attempt->short_of;
    attempt->short_of = NULL;
    ha_attempt_end(attempt); /* bringing them away may need chunks */
    attempt->never |= attempt->need > ha_memory_most(m);
    if (!attempt->never && !attempt->only_clean &&
        ha_controller_frees(m, attempt->need, attempt->asked++)) {
        attempt->retired = 0;
        return HA_OK;
    }
    if (attempt->never || (attempt->may_wait && ha_turn_is_anothers(m)) ||
        !ha_memory_evict(m, attempt->need, attempt))
        ha_attempt_fill(attempt, m);
    attempt->retired = 0; /* the blocks of those that gave way are waited for, too */
    return HA_OK;
}

static const ha_room_hooks ha_for_room = {ha_make_room, ha_turns_wake};

#endif
