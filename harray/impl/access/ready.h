/* Accesses for libraries that know nothing of queues: waiting, reading anywhere. */
#ifndef HARRAY_IMPL_ACCESS_READY_H
#define HARRAY_IMPL_ACCESS_READY_H

#include "open.h"

/* Whether all is valid at `in` that has a value. Between the elements of a view there may
 * be some that never had one. */
HA_IN_ int ha_is_all_there(ha_array *a, const ha_incarnation *in, ha_range r)
    HA_REQUIRES_(a->lock) {
    int all = !ha_set_overlaps(&a->lost, r);
    for (const ha_incarnation *other = &a->first; other && all; other = other->next) {
        const ha_set *set = &other->valid;
        const ha_range *v = ha_set_ranges(set);
        for (uint32_t i = ha_set_find_in(set, r); i < set->n && other != in;
             i = ha_set_next_in(set, r, i))
            all &= ha_set_contains(&in->valid, ha_intersect(a->grid, v[i], r));
    }
    return all;
}

/* Whether what an open access covers is there, now that nothing of it is outstanding. Not when a
 * queue has failed that was to write it, whoever found that out first (state/lost.h). */
HA_IN_ int ha_is_there(ha_array *a, ha_incarnation *in, ha_range r, int writes) {
    int there = !ha_is_dead(in->memory);
    ha_lock(a);
    if (r.last > a->size) r.last = a->size;
    there &= ha_set_contains(&in->valid, r) || (!writes && ha_is_all_there(a, in, r));
    const ha_operation *list = ha_ops_list(&in->ops);
    for (uint32_t i = 0; i < in->ops.n; i++)
        there &= !ha_lost_write(&list[i]) || !ha_overlap(a->grid, list[i].range, r);
    ha_unlock(a);
    return there;
}

/* Until everything has happened that an access to r at `in` comes after; what its own queue has
 * still to do, too. While it is open, nobody adds to that. */
HA_IN_ ha_status ha_wait_ready(ha_array *a, ha_incarnation *in, ha_range r, int writes,
                               const char *site) {
    ha_timepoint p = {NULL, 0};
    ha_status s = HA_OK;
    while (!s && ha_next_conflict(a, in, r, writes, NULL, &p)) s = ha_wait_past(p, site);
    return s || ha_is_there(a, in, r, writes) ? s : HA_ERR_LOST;
}

HA_IN_ ha_status ha_fail_waiting(ha_status s, const char *operation, ha_array *a,
                                 const ha_context *c, const char *site) {
    return ha_fail(s, operation, "%s: array %s at %s: %s", site, ha_label_of(a).text, c->name,
                   s == HA_ERR_LOST ? "a queue has failed before it had written the elements"
                                    : "waiting for work on it failed");
}

ha_status ha_wait_(ha_access *x, const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter("ha_wait");
    if (s) return s;
    if (!x) return ha_no_access("ha_wait");
    ha_array *a = x->array;
    if (!a) return ha_fail_closed("ha_wait", a, 0);
    ha_lock(a);
    const ha_holder *h = ha_access_find(a, x->ticket);
    ha_holder open = h ? *h : (ha_holder){0};
    ha_incarnation *in = h ? ha_incarnation_find(a, open.context->memory) : NULL;
    ha_unlock(a);
    if (!h) return ha_fail_closed("ha_wait", a, 0);
    s = ha_wait_ready(a, in, open.range, open.writes, site);
    if (s) return ha_fail_waiting(s, "ha_wait", a, open.context, site);
    const ha_write_error error = ha_write_error_take(a, open.range);
    return error.what ? ha_write_error_fail(a, &error, "ha_wait", site) : HA_OK;
}

/* ---- reading anywhere ---------------------------------------------------------------------- */

/* Where r is valid as a whole: the host, else the memory whose bytes reach it most cheaply; NULL:
 * nowhere. Busy. */
HA_IN_ ha_context *ha_valid_place(ha_array *a, ha_range r) {
    const ha_incarnation *best = NULL;
    uint64_t best_cost = 0;
    int staged;
    if (ha_is_empty(r)) return ha_host();
    for (const ha_incarnation *in = &a->first; in; in = in->next) {
        if (!ha_set_contains(&in->valid, r)) continue;
        uint64_t cost = ha_route_cost(in->memory, &ha_host_memory, &staged);
        if (in->memory == &ha_host_memory) return ha_host();
        if (!cost) cost = UINT64_MAX; /* no path: for whoever can use it there */
        if (best && best_cost <= cost) continue;
        best = in;
        best_cost = cost;
    }
    return best ? ha_memory_queue(best->memory) : NULL;
}

/* Prepares, at first at the place that is best now. The holder is in place already, so the range
 * stays valid there: nobody writes it, and nobody takes back a copy that somebody holds there. */
HA_IN_ ha_status ha_opening_anywhere(ha_opening *o, ha_attempt *attempt) {
    ha_array *a = o->array;
    ha_status s = ha_settle(a);
    o->trouble = "no memory to note what was lost";
    if (s) return s;
    ha_context *place = o->in ? o->context : ha_valid_place(a, o->need);
    if (place && place != o->context) {
        ha_lock(a);
        ha_holder_find(a, o->ticket)->context = o->context = place;
        ha_unlock(a);
    }
    return ha_opening_prepare(o, attempt);
}

HA_IN_ ha_status ha_open_anywhere(ha_access *x, ha_opening *o) {
    ha_status s = ha_opening_start(o, 0, ha_opening_anywhere);
    if (s) return x->status = s;
    ha_opening_commit(o, x);
    s = ha_wait_ready(o->array, o->in, o->range, 0, o->site);
    if (!s) s = ha_opening_trust(o);
    if (!s) return HA_OK;
    HA_IGNORE_(ha_close_(x));
    memset(x, 0, sizeof *x);
    if (o->error.what)
        return x->status = ha_write_error_fail(o->array, &o->error, o->operation, o->site);
    return x->status = ha_fail_waiting(s, o->operation, o->array, o->context, o->site);
}

ha_status ha_read_anywhere_(ha_access *x, ha_array *a, ha_context *otherwise, unsigned how,
                            size_t first, size_t last, const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    ha_opening o = {.array = a,
                    .context = ha_resolve(otherwise),
                    .operation = "ha_read_anywhere",
                    .site = site,
                    .mode = HA_READ,
                    .range = {first, last}};
    if (!x) return ha_no_access(o.operation);
    memset(x, 0, sizeof *x);
    ha_status s = ha_open_refuse(a, how, o.operation, site);
    return s ? (x->status = s) : ha_open_anywhere(x, &o);
}

#endif
