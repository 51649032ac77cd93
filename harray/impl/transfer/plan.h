/* The plan of an opening: which pieces come from which incarnation. Pure: it looks at sets and
 * costs, and moves nothing.
 *
 * Each missing element is taken from the cheapest incarnation where it is valid. A source without a
 * direct path goes through the host: two links. What is valid nowhere is left over: never
 * written. */
#ifndef HARRAY_IMPL_TRANSFER_PLAN_H
#define HARRAY_IMPL_TRANSFER_PLAN_H

#include "links.h"

typedef struct ha_piece {
    ha_incarnation *from;
    ha_range range;
    int staged; /* by the host */
} ha_piece;

typedef struct ha_plan {
    ha_piece *pieces;
    size_t n;
    ha_set missing; /* in the end: what no incarnation has */
} ha_plan;

/* 0: no path at all. */
HA_IN_ uint64_t ha_route_cost(const ha_memory *from, const ha_memory *to, int *staged) {
    uint64_t cost = ha_direct_cost(from, to), up, down;
    *staged = !cost;
    if (cost) return cost;
    up = ha_direct_cost(from, &ha_host_memory);
    down = ha_direct_cost(&ha_host_memory, to);
    return up && down ? up + down : 0;
}

/* The next cheapest source behind (*cost, *source); NULL when all were looked at. Equal costs go by
 * the order of the incarnations. */
HA_IN_ ha_incarnation *ha_next_source(ha_array *a, const ha_incarnation *to, uint64_t *cost,
                                      const ha_incarnation *last, int *staged) {
    ha_incarnation *best = NULL;
    uint64_t best_cost = 0;
    int behind = last == NULL; /* the walk has passed `last` */
    for (ha_incarnation *in = &a->first; in; in = in->next) {
        int via_host = 0;
        if (in == last) behind = 1;
        if (in == to || in == last || !in->valid.n) continue;
        uint64_t c = ha_route_cost(in->memory, to->memory, &via_host);
        if (!c || c < *cost || (c == *cost && !behind)) continue;
        if (best && c >= best_cost) continue;
        best = in;
        best_cost = c;
        *staged = via_host;
    }
    *cost = best_cost;
    return best;
}

/* Nothing beside r is missing. */
HA_IN_ ha_status ha_plan_take(ha_plan *p, ha_incarnation *from, ha_range r, int staged) {
    const ha_set *valid = &from->valid;
    const ha_range *v = ha_set_ranges(valid);
    for (uint32_t i = ha_set_find_in(valid, r); i < valid->n; i = ha_set_next_in(valid, r, i)) {
        HA_COUNT_STEP_();
        for (ha_range x; x = ha_set_first_in(&p->missing, v[i]), !ha_is_empty(x);) {
            ha_piece *pieces = (ha_piece *)HARRAY_REALLOC(p->pieces, (p->n + 1) * sizeof *pieces);
            if (!pieces) return HA_ERR_MEMORY;
            p->pieces = pieces;
            if (ha_set_drop(&p->missing, x)) return HA_ERR_MEMORY;
            p->pieces[p->n++] = (ha_piece){from, x, staged};
        }
    }
    return HA_OK;
}

HA_IN_ void ha_plan_free(ha_plan *p) {
    HARRAY_FREE(p->pieces);
    ha_set_free(&p->missing);
}

/* What is missing of r at `to`, and where to take it. Busy, so that the sets stand still. *plan is
 * to be freed in any case. */
HA_IN_ ha_status ha_plan_make(ha_array *a, const ha_incarnation *to, ha_range r, ha_plan *plan) {
    uint64_t cost = 0;
    int staged = 0;
    memset(plan, 0, sizeof *plan);
    ha_status s = ha_set_missing(&to->valid, r, &plan->missing);
    ha_incarnation *source = NULL;
    while (!s && plan->missing.n && (source = ha_next_source(a, to, &cost, source, &staged)))
        s = ha_plan_take(plan, source, r, staged);
    return s;
}

#endif
