/* An opening: everything between asking for an access and having it.
 *
 *     begin    admit (admit.h), then prepare (prepare.h): block, transfers, order. The array is busy.
 *     commit   sizes, validity and version change together; cannot fail. Busy ends.
 *     abort    what was prepared is taken back. Busy ends.
 *
 * Whoever has more to enqueue before the access counts (filling, copying) does it between begin and
 * commit. When the host has to wait for a device, busy is dropped for that time, and preparing
 * starts again with what then is there; the holder stays in place, so nobody can touch the
 * range. */
#ifndef HARRAY_IMPL_ACCESS_OPENING_H
#define HARRAY_IMPL_ACCESS_OPENING_H

#include "admit.h"
#include "prepare.h"
#include "write_back.h"
#include "unwritten.h"

/* Gives back a block that this opening took and that came to no use. */
HA_IN_ void ha_opening_drop(const ha_opening *o, ha_incarnation *in) {
    ha_array *a = o->array;
    ha_lock(a);
    int useless = in->block && !in->valid.n && !ha_used_by_others(a, o, in, HA_WHOLE_);
    ha_unlock(a);
    if (useless) ha_incarnation_drop(a, in);
}

/* Takes back what was made valid of r. Where its source has failed since, this is the only copy, and
 * stays; as it does (as one more copy) where there is no memory to note less. */
HA_IN_ void ha_opening_take_back(const ha_opening *o, ha_range r) {
    ha_array *a = o->array;
    ha_set *valid = &o->in->valid;
    for (const ha_incarnation *other = &a->first; other; other = other->next) {
        const ha_set *set = &other->valid;
        for (uint32_t i = ha_set_find_in(set, r); i < set->n && other != o->in;
             i = ha_set_next_in(set, r, i)) {
            const ha_range x = ha_intersect(valid->grid, ha_set_ranges(set)[i], r);
            if (ha_set_reserve(a, valid, ha_set_growth(valid, x, 0))) return;
            ha_lock(a);
            if (!ha_used_by_others(a, o, o->in, r)) ha_set_remove(valid, x);
            ha_unlock(a);
        }
    }
}

/* Takes back what was made valid, so that a failed opening leaves no trace. It stays (as one more
 * valid copy) where others came to use it while the host waited. */
HA_IN_ void ha_opening_undo(ha_opening *o) {
    ha_array *a = o->array;
    ha_incarnation *in = o->in;
    if (!in) return;
    for (uint32_t i = 0; i < o->brought.n; i++)
        ha_opening_take_back(o, ha_set_ranges(&o->brought)[i]);
    ha_lock(a);
    in->ops.promised -= (uint32_t)o->promised;
    ha_unlock(a);
    if (o->fresh) ha_opening_drop(o, in);
    ha_incarnation *host = ha_incarnation_find(a, &ha_host_memory);
    if (o->host_fresh && host && host != in) ha_opening_drop(o, host);
    ha_ops none = {0};
    if (o->replacement) ha_block_retire(o->replacement, &none);
    ha_set_free(&o->brought);
}

/* Takes back what was prepared, and all that ha_opening_start began. */
HA_IN_ void ha_opening_abort(ha_opening *o) {
    ha_opening_undo(o);
    ha_admit_end(o->array, o->ticket);
    ha_taking_end();
}

/* A part of what is opened as the user's indices say it: "[-1, 0) x [0, 3)" of a view. Where it has no
 * shape that a view's indices have, or has been opened otherwise, as those of the storage do. */
HA_IN_ ha_part_label ha_opening_label(const ha_opening *o, ha_range r) {
    int64_t low[HA_MOST_RANK], high[HA_MOST_RANK];
    const ha_array *a = o->array;
    const darray *v = o->seen_by;
    if (a->ops || !v || ha_is_empty(r) || !(a->grid || v->rank == 1) ||
        !ha_view_index(v, r.first, low) || !ha_view_index(v, r.last - 1, high))
        return ha_part_label_of(a, r);
    ha_part_label l = {""};
    ha_text t = {l.text, sizeof l.text, 0};
    for (int d = 0; d < v->rank; d++) {
        const int down = v->stride[d] < 0;
        ha_print(&t, "%s[%lld, %lld)", d ? " x " : "", (long long)(down ? high : low)[d],
                 (long long)(down ? low : high)[d] + 1);
    }
    return l;
}

/* Tells why; after abort, so that the handler may use the array. Of record arrays a part says it
 * all: they have no elements of one size. */
HA_IN_ ha_status ha_opening_fail(const ha_opening *o, ha_status s) {
    ha_array *a = o->array;
    const ha_label label = ha_subject_of(a);
    const ha_part_label part = ha_part_label_of(a, o->never);
    const char *name = o->context->name, *elements = a->ops ? "" : "elements ";
    char each[64] = "", all[80] = "";
    if (!a->ops) {
        (void)snprintf(each, sizeof each, " (%zu bytes each)", a->element);
        (void)snprintf(all, sizeof all, " (%zu elements of %zu bytes)", o->size, a->element);
    }
    if (o->error.what) return ha_write_error_fail(a, &o->error, o->operation, o->site);
    if (s == HA_ERR_LOST)
        return ha_fail(s, o->operation, "%s: %s at %s: %s%s were lost: %s; overwrite them first",
                       o->site, label.text, name, elements, part.text, ha_lost_label_of(a).text);
    if (s == HA_ERR_TRANSFER)
        return ha_fail(s, o->operation,
                       "%s: %s at %s: %s%s%s would have to be copied from %s, inside "
                       "HA_NO_TRANSFERS",
                       o->site, label.text, name, elements, part.text, each, o->source);
    if (s == HA_ERR_STATE && !ha_is_empty(o->never))
        return ha_fail(s, o->operation, "%s: %s at %s: %s%s were never written", o->site,
                       label.text, name, elements, ha_opening_label(o, o->never).text);
    if (s == HA_ERR_ARGUMENT && o->off_grid)
        return ha_fail(s, o->operation,
                       "%s: %s at %s: the view has elements between the rows of its storage",
                       o->site, label.text, name);
    if (s == HA_ERR_ARGUMENT)
        return ha_fail(s, o->operation, "%s: %s at %s: no range [%zu, %zu) in %zu elements",
                       o->site, label.text, name, o->range.first, o->range.last, o->size);
    return ha_fail(s, o->operation, "%s: %s at %s: %s%s", o->site, label.text, name, o->trouble,
                   all);
}

HA_IN_ ha_lock_request ha_opening_lock_request(const ha_opening *o) {
    return (ha_lock_request){.context = o->context,
                             .range = o->range,
                             .writes = ha_opening_writes(o),
                             .sets_size = o->sets_size,
                             .new_size = o->size,
                             .alone = o->alone,
                             .moves = o->moved ? o->context->memory : NULL,
                             .moved = o->moved,
                             .widens = o->moved && o->widens,
                             .site = o->site};
}

typedef ha_status ha_preparation(ha_opening *o, ha_attempt *attempt);

/* Admitted. Prepares until there is nothing more to wait for. */
HA_IN_ ha_status ha_opening_work(ha_opening *o, ha_preparation *prepare) {
    ha_attempt attempt = {.site = o->site, .may_wait = o->may_wait, .only_clean = o->is_hint};
    ha_status s = ha_opening_range(o);
    while (!s && (s = prepare(o, &attempt)) == HA_RETRY_) {
        ha_busy_end(o->array);
        s = ha_attempt_wait(&attempt);
        (void)ha_busy_begin(o->array, 0, NULL);
    }
    ha_attempt_end(&attempt);
    if (s == HA_ERR_MEMORY && o->is_hint && attempt.fulls) return HA_RETRY_ROOM_;
    return ha_attempt_awaits(&attempt, s, &o->short_of) ? HA_RETRY_ROOM_ : s;
}

/* Aborted, to be begun again. */
HA_IN_ void ha_opening_renew(ha_opening *o) {
    o->in = NULL;
    o->replacement = NULL;
    o->fresh = o->host_fresh = o->promised = 0;
    memset(&o->brought, 0, sizeof o->brought);
}

/* HA_OK: it is busy, and counts as taking memory, until it is committed or aborted. */
HA_IN_ ha_status ha_opening_start(ha_opening *o, int trying, ha_preparation *prepare) {
    HA_UNCANCELLED_;
    ha_turn turn = {.memory = NULL};
    ha_status s = ha_opening_target(o);
    if (s) return ha_opening_fail(o, s);
    o->may_wait = !trying && !ha_held();
    for (;;) {
        ha_lock_request request = ha_opening_lock_request(o);
        s = ha_admit(o->array, &request, trying, o->operation, &o->ticket);
        if (s) break;
        ha_taking_begin();
        o->group = o->ticket;
        if (!(s = ha_opening_work(o, prepare))) break;
        ha_opening_abort(o);
        if (s == HA_RETRY_ROOM_ && o->is_hint) break;
        s = ha_turn_decide(&turn, s, o->short_of, o->site);
        if (s) {
            s = ha_opening_fail(o, s);
            break;
        }
        ha_opening_renew(o);
    }
    ha_turn_end(&turn, s, o->site);
    return s;
}

HA_IN_ ha_status ha_opening_begin(ha_opening *o, int trying) {
    return ha_opening_start(o, trying, ha_opening_prepare);
}

/* What comes ahead is used soon: it counts as used now, and nothing else that comes ahead takes its place. */
HA_IN_ void ha_opening_stamp(const ha_opening *o) {
    ha_lock(o->array);
    ha_incarnation_stamp(o->in);
    o->in->is_ahead = 1;
    ha_unlock(o->array);
    ha_resident_enter(o->array, o->in);
}

/* Moves what is missing, and ends: no access comes of it. */
HA_IN_ ha_status ha_opening_prefetch(ha_opening *o) {
    o->is_hint = 1;
    ha_status s = ha_opening_start(o, 1, ha_opening_fetch);
    if (s == HA_RETRY_ROOM_) ha_forget_note();
    if (s) return s == HA_RETRY_ROOM_ ? HA_OK : s;
    ha_set_free(&o->brought);
    if (o->in) ha_opening_stamp(o);
    ha_admit_end(o->array, o->ticket);
    ha_taking_end();
    return HA_OK;
}

/* Nothing here can fail. */
HA_IN_ void ha_opening_apply(ha_array *a, ha_opening *o) HA_REQUIRES_(a->lock) {
    if (o->sets_size) ha_set_size(a, o->size);
    if (ha_opening_writes(o)) {
        a->version++;
        if (o->sets_size)
            a->lost.n = 0;
        else
            ha_set_remove(&a->lost, o->need);
        for (ha_incarnation *in = &a->first; in; in = in->next)
            if (o->sets_size)
                in->valid.n = 0;
            else if (in != o->in)
                ha_set_remove(&in->valid, o->need);
        ha_set_add(&o->in->valid, o->need);
        ha_holder_find(a, o->ticket)->overwrites = o->mode == HA_OVERWRITE;
        if (o->mode == HA_OVERWRITE) ha_write_errors_end(a, o->in, o->need);
    }
    if (o->size > o->in->capacity && !ha_is_empty(o->range))
        ha_holder_find(a, o->ticket)->on_short = 1;
    if (o->context->ops)
        ha_holder_find(a, o->ticket)->since = o->since ? o->since : ha_sequence_of(o->context);
    ha_incarnation_stamp(o->in);
    o->in->is_ahead = 0;
    ha_ops_prune(&o->in->ops, 1); /* so that the next opening may take the fast path */
    a->recent = o->in;
}

/* Commits, and stays busy. What it displaces is in o->replacement and *ops. */
HA_IN_ void ha_opening_grant(ha_opening *o, ha_access *x, ha_ops *ops) {
    ha_array *a = o->array;
    ha_incarnation *in = o->in;
    if (o->replacement) o->replacement = ha_block_exchange(a, in, o->replacement, o->size, ops);
    if (o->for_user && ha_poisons(o->context)) ha_opening_poison(o);
    ha_lock(a);
    ha_opening_apply(a, o);
    x->size = o->count;
    x->data = x->size ? in->data + o->at * a->element : NULL;
    x->first = o->at;
    x->array = a;
    x->context = o->context;
    x->ticket = o->ticket;
    x->status = HA_OK;
    ha_unlock(a);
    ha_debug_open(a, in, x, o->need, ha_opening_writes(o), o->site);
    ha_self.held++;
    if (a->watched) ha_watch_opened(a, o->ticket);
    ha_resident_enter(a, in);
    ha_set_free(&o->brought);
}

/* No longer busy: gives back what was displaced, and sees to it that others find room. */
HA_IN_ void ha_opening_settle(const ha_opening *o, ha_ops *ops) {
    if (o->replacement)
        ha_block_retire(o->replacement, ops);
    else
        ha_ops_free(ops);
    ha_write_back_ahead(o->context->memory, o->site);
}

HA_IN_ void ha_opening_commit(ha_opening *o, ha_access *x) {
    ha_ops ops = {0};
    ha_opening_grant(o, x, &ops);
    ha_busy_end(o->array);
    ha_opening_settle(o, &ops);
    ha_taking_end();
}

#endif
