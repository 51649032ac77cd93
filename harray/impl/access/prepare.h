/* Preparing what an opening needs, while the array is busy: a block, the values in it, room for
 * what will be noted, and an order behind what is outstanding. What would make the host wait
 * returns HA_RETRY_. */
#ifndef HARRAY_IMPL_ACCESS_PREPARE_H
#define HARRAY_IMPL_ACCESS_PREPARE_H

#include "target.h"

/* Whether another access uses the block; those that are opened together with this one have
 * no pointer yet. */
HA_IN_ int ha_opening_is_shared(const ha_array *a, const ha_opening *o) HA_REQUIRES_(a->lock) {
    int shared = 0;
    for (uint32_t i = 0; i < a->holders; i++) {
        const ha_holder *h = &a->holder[i];
        int peer = h->ticket - o->group <= o->peers;
        shared |= !peer && h->context->memory == o->in->memory && !ha_is_empty(h->range);
    }
    return shared;
}

HA_IN_ int ha_opening_is_mapped(const ha_opening *o) {
    const ha_array *a = o->array;
    if (a->ops && o->in->wrapped) return a->ops->maps(a, o->in, o->context);
    return ha_maps(o->context, o->in->block);
}

/* A zero-copy context may be unable to work on the block there is: then it is exchanged. */
HA_IN_ ha_status ha_opening_map(ha_opening *o, ha_attempt *attempt) {
    ha_array *a = o->array;
    ha_incarnation *in = o->in;
    if (!in->block || o->replacement || ha_opening_is_mapped(o)) return HA_OK;
    o->widens = 0;
    o->trouble = "the device cannot work on the caller's memory in place: pin it (for CUDA with "
                 "cuMemHostRegister or cudaHostRegister), or let the context copy: "
                 "ha_context_set_zero_copy(context, 0)";
    if (in->wrapped) return HA_ERR_UNSUPPORTED;
    o->trouble = "the device cannot work on its memory in place, and has no pinned memory";
    if (!o->context->home->pinned) return HA_ERR_UNSUPPORTED;
    o->trouble = "no pinned memory for it";
    if (o->sets_size)
        return ha_incarnation_take(a, in, o->context, o->size, &o->replacement, attempt);
    ha_lock(a);
    int shared = ha_opening_is_shared(a, o);
    ha_unlock(a);
    if (shared) o->moved = in->block;
    return shared ? HA_RETRY_ALONE_
                  : ha_incarnation_renew(a, in, o->context, in->capacity, attempt);
}

/* A block for the whole array. One that is too short since the array has grown serves what lies inside of it
 * where there is no memory for a longer one; as long as it does, it does not move. */
HA_IN_ ha_status ha_opening_block(ha_opening *o, ha_attempt *attempt) {
    ha_array *a = o->array;
    ha_incarnation *in = o->in;
    if (o->size <= in->capacity || o->replacement) return HA_OK;
    const int inside = ha_is_empty(o->need) || o->need.last <= in->capacity;
    const int serves = in->block && inside && !o->sets_size;
    if (ha_is_short_in_use(a, in)) {
        if (serves) return HA_OK;
        o->moved = in->block;
        o->widens = 1;
        return HA_RETRY_ALONE_;
    }
    /* Of what gets another size the old values have to stay until nothing can fail any more. What is opened
     * together has one block. */
    ha_status s = o->sets_size && !o->peers
                      ? ha_incarnation_take(a, in, o->context, o->size, &o->replacement, attempt)
                      : ha_incarnation_renew(a, in, o->context, o->size, attempt);
    if (s != HA_ERR_MEMORY || !serves) return s;
    ha_forget_note();
    return HA_OK;
}

HA_IN_ ha_status ha_opening_room(ha_opening *o, ha_attempt *attempt) {
    ha_array *a = o->array;
    o->trouble = "no memory there";
    if (!o->in) {
        o->in = ha_incarnation_add(a, o->context->memory);
        if (!o->in) return HA_ERR_MEMORY;
        const ha_incarnation *host = ha_incarnation_find(a, &ha_host_memory);
        o->fresh = !o->in->block;
        o->host_fresh = !host || !host->block;
    }
    /* A range without elements locks nothing: the block may be in use, and must not move. */
    if (ha_is_empty(o->range)) return HA_OK;
    ha_status s = ha_opening_block(o, attempt);
    return s || !ha_asks(o->context) ? s : ha_opening_map(o, attempt);
}

/* Whether any of the elements that are meant is in a part of what is opened. */
HA_IN_ int ha_opening_means(const ha_opening *o, ha_range r) {
    const darray flat = {
        .rank = 1, .offset = (int64_t)o->at, .extent = {(int64_t)o->count}, .stride = {1}};
    if (ha_is_empty(r)) return 0;
    if (!ha_is_empty(o->meant)) return ha_overlap(o->array->grid, o->meant, r);
    if (!o->view && !o->is_flat) return 1;
    return ha_view_hits(o->array->grid, o->view ? o->view : &flat, r);
}

/* Whether a part matters: not when it lies between the elements to be read. */
HA_IN_ int ha_opening_uses(const ha_opening *o, ha_range r) {
    return !ha_is_empty(r) && (o->mode != HA_READ || ha_opening_means(o, r));
}

/* The first part of r that is lost and matters; empty: none. */
HA_IN_ ha_range ha_opening_lost(const ha_opening *o, ha_range r) {
    const ha_set *lost = &o->array->lost;
    if (ha_is_empty(r)) return r;
    for (uint32_t i = ha_set_find_in(lost, r); i < lost->n; i = ha_set_next_in(lost, r, i)) {
        const ha_range x = ha_intersect(lost->grid, ha_set_ranges(lost)[i], r);
        if (ha_opening_uses(o, x)) return x;
    }
    return (ha_range){0, 0};
}

/* What the caller must not find missing: lost elements; and to compute with them, those never written. */
HA_IN_ ha_status ha_opening_check(ha_opening *o, const ha_plan *plan) {
    const ha_range *missing = ha_set_ranges(&plan->missing);
    for (uint32_t i = 0; i < plan->missing.n; i++) {
        o->never = ha_opening_lost(o, missing[i]);
        if (!ha_is_empty(o->never)) return HA_ERR_LOST;
    }
    if (plan->missing.n && ha_is_dead(o->in->memory)) { /* nothing reaches it */
        o->trouble = "its queue has failed; ha_shutdown ends that";
        return HA_ERR_BACKEND;
    }
    const int computes = o->mode == HA_READ || o->updates;
    for (uint32_t i = 0; i < plan->missing.n && computes; i++) {
        if (!ha_opening_means(o, missing[i])) continue;
        o->never = missing[i];
        return HA_ERR_STATE;
    }
    if (!plan->n || !ha_self.no_transfers) return HA_OK;
    o->never = plan->pieces[0].range;
    o->source = ha_memory_context(plan->pieces[0].from->memory)->name;
    return HA_ERR_TRANSFER;
}

/* A device may have failed since this attempt has looked: then what only it had would pass for never
 * written. */
HA_IN_ int ha_opening_overlooked(const ha_opening *o, ha_attempt *attempt) {
    for (const ha_incarnation *in = &o->array->first; in; in = in->next) {
        if (!in->valid.n || !ha_is_dead(in->memory)) continue;
        attempt->point = (ha_timepoint){in->memory->primary, ha_sequence_of(in->memory->primary)};
        return 1;
    }
    return 0;
}

/* What had given way comes back. */
HA_IN_ void ha_opening_restores(const ha_opening *o, const ha_plan *plan) {
    ha_memory *m = o->in->memory;
    uint64_t bytes = 0;
    for (size_t i = 0; i < plan->n; i++) bytes += ha_value_bytes(o->array, plan->pieces[i].range);
    o->in->has_left = 0;
    __atomic_fetch_add(&m->restored, bytes, __ATOMIC_RELAXED);
    ha_on_evicted(HA_EVENT_RESTORE, o->array, m, bytes, 0);
}

/* Makes valid what is missing. all: what is valid nowhere is looked at, too. */
HA_IN_ ha_status ha_opening_bring(ha_opening *o, int all, ha_attempt *attempt) {
    ha_array *a = o->array;
    ha_plan plan;
    o->trouble = "moving its data there failed";
    ha_status s = ha_plan_make(a, o->in, o->need, &plan);
    if (!s && plan.missing.n && ha_opening_overlooked(o, attempt)) s = HA_RETRY_;
    if (!all) plan.missing.n = 0;
    if (!s) s = ha_opening_check(o, &plan);
    /* Room to take back each piece, too. */
    size_t cuts = a->grid ? 2 * (size_t)a->grid->rank : 2;
    if (!s && plan.n) s = ha_set_reserve(a, &o->in->valid, o->in->valid.n + cuts * plan.n + 1);
    if (!s && plan.n && o->in->has_left) ha_opening_restores(o, &plan);
    if (!s) s = ha_plan_execute(a, &plan, o->in, o->context, &o->brought, attempt);
    ha_plan_free(&plan);
    return s;
}

/* Room for what commit changes in a set. Each commit may add one range to it; with a grid, see
 * ndarray/open_many.h. */
HA_IN_ ha_status ha_opening_grow(const ha_opening *o, ha_set *set, int adding) {
    size_t more = set->grid ? ha_set_growth(set, o->need, adding) : (size_t)o->peers + 1;
    return ha_set_reserve(o->array, set, more);
}

/* Room for everything that commit and close will note. */
HA_IN_ ha_status ha_opening_reserve(ha_opening *o) {
    ha_array *a = o->array;
    o->trouble = "no memory for its records";
    if (ha_debug_reserve(o->in, o->replacement ? o->replacement : o->in->block))
        return HA_ERR_MEMORY;
    if (ha_opening_grow(o, &o->in->valid, 1)) return HA_ERR_MEMORY;
    if (ha_opening_writes(o)) {
        if (a->lost.n && ha_opening_grow(o, &a->lost, 0)) return HA_ERR_MEMORY;
        for (ha_incarnation *in = &a->first; in; in = in->next)
            if (in != o->in && ha_opening_grow(o, &in->valid, 0)) return HA_ERR_MEMORY;
    }
    /* Closing an empty range notes nothing. */
    if (ha_is_host(o->context) || o->promised || ha_is_empty(o->range)) return HA_OK;
    if (ha_ops_reserve(a, &o->in->ops, ha_poisons(o->context) ? 2 : 1)) return HA_ERR_MEMORY;
    ha_lock(a);
    o->in->ops.promised++;
    ha_unlock(a);
    o->promised = 1;
    return HA_OK;
}

/* What failed since the last attempt is taken into account; a queue that failed is of no use. */
HA_IN_ ha_status ha_opening_look(ha_opening *o) {
    ha_strict_list(o->array);
    ha_status s = ha_settle(o->array);
    o->trouble = "the context was given back";
    if (o->context->ended) return HA_ERR_STATE;
    o->trouble = "no memory to note what was lost";
    if (s || !ha_has_failed(o->context)) return s;
    if (o->mode != HA_OVERWRITE) {
        o->never = ha_opening_lost(o, o->need);
        if (!ha_is_empty(o->never)) return HA_ERR_LOST;
    }
    o->trouble = "its queue has failed; ha_shutdown ends that";
    return HA_ERR_BACKEND;
}

/* Whether a function has failed that may have written what is opened. At last, when what the host
 * waits for has run. */
HA_IN_ ha_status ha_opening_trust(ha_opening *o) {
    if (o->mode == HA_OVERWRITE || ha_is_empty(o->need)) return HA_OK;
    o->error = ha_write_error_take(o->array, o->need);
    return o->error.what ? o->error.what->error.status : HA_OK;
}

HA_IN_ ha_status ha_opening_prepare(ha_opening *o, ha_attempt *attempt) {
    ha_status s = ha_opening_look(o);
    if (!s) s = ha_opening_room(o, attempt);
    if (!s && o->mode != HA_OVERWRITE) s = ha_opening_bring(o, 1, attempt);
    if (!s) s = ha_opening_reserve(o);
    if (s || o->replacement) return s; /* nobody uses a new block */
    o->trouble = "waiting for work that uses it failed";
    /* Behind the whole locked range, as that is what closing notes: also behind what is left of
     * times when the array was longer. */
    s = ha_come_after(o->array, o->in, o->range, ha_opening_writes(o), o->context, attempt);
    return s ? s : ha_opening_trust(o);
}

/* What a prefetch does instead: moves what there is, and waits for nobody. */
HA_IN_ ha_status ha_opening_fetch(ha_opening *o, ha_attempt *attempt) {
    if (ha_is_empty(o->need)) return HA_OK;
    ha_status s = ha_opening_look(o);
    if (!s) s = ha_opening_room(o, attempt);
    if (s == HA_RETRY_ALONE_ && !o->widens) s = HA_OK; /* who opens it there exchanges the block */
    return s ? s : ha_opening_bring(o, 0, attempt);
}

#endif
