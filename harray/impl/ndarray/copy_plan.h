/* Many copies between views at once. What depends on nothing but the views is checked when the plan is
 * made; where each copy runs is decided when it runs. */
#ifndef HARRAY_IMPL_NDARRAY_COPY_PLAN_H
#define HARRAY_IMPL_NDARRAY_COPY_PLAN_H

#include "darray_copy.h"

struct ha_copy_plan {
    size_t count;
    ha_copy_pair pair[];
};

static const char ha_plan_name[] = "ha_copy_plan";

/* ---- making --------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_pair_check(const ha_copy_pair *pair, size_t i) {
    char site[40];
    snprintf(site, sizeof site, "pair %zu", i);
    ha_status s = ha_copy_check(&pair->to, &pair->from, ha_plan_name, site);
    if (s || !ha_scalars_may_misfit(pair->from.type, pair->to.type)) return s;
    return ha_views_refuse(&pair->to, &pair->from,
                           "some values cannot be converted: that is for darray_copy", ha_plan_name,
                           site);
}

/* No two targets meet, nor a target and a source. */
HA_IN_ ha_status ha_pairs_check(const ha_copy_pair *pair, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            const int from = ha_views_meet(&pair[i].to, &pair[k].from);
            if (!from && (i == k || !ha_views_meet(&pair[i].to, &pair[k].to))) continue;
            return ha_view_fail(HA_ERR_ARGUMENT, ha_plan_name, &pair[i].to,
                                "the target of pair %zu overlaps the %s of pair %zu", i,
                                from ? "source" : "target", k);
        }
    return HA_OK;
}

ha_copy_plan *ha_copy_plan_new(const ha_copy_pair *pairs, size_t count) {
    ha_copy_plan *plan = NULL;
    size_t bytes;
    ha_status s = ha_enter(ha_plan_name);
    if (!s && count && !pairs) s = ha_fail(HA_ERR_ARGUMENT, ha_plan_name, "no pairs");
    for (size_t i = 0; i < count && !s; i++) s = ha_pair_check(&pairs[i], i);
    if (s || ha_pairs_check(pairs, count)) return NULL;
    if (!__builtin_mul_overflow(count, sizeof *pairs, &bytes) && bytes <= PTRDIFF_MAX / 2)
        plan = (ha_copy_plan *)HARRAY_MALLOC(sizeof *plan + bytes);
    if (!plan) {
        ha_fail(HA_ERR_MEMORY, ha_plan_name, "no memory for %zu pairs", count);
        return NULL;
    }
    plan->count = count;
    for (size_t i = 0; i < count; i++) {
        plan->pair[i] = pairs[i];
        plan->pair[i].context = ha_resolve(pairs[i].context);
        (void)ha_array_retain(pairs[i].to.array);
        (void)ha_array_retain(pairs[i].from.array);
    }
    return plan;
}

void ha_copy_plan_free(ha_copy_plan *plan) {
    for (size_t i = 0; plan && i < plan->count; i++) {
        HA_IGNORE(ha_array_free(plan->pair[i].to.array));
        HA_IGNORE(ha_array_free(plan->pair[i].from.array));
    }
    HARRAY_FREE(plan);
}

/* ---- carrying out --------------------------------------------------------------------------- */

/* A pair that is being copied. */
typedef struct ha_pair_run {
    ha_access read, write;
} ha_pair_run;

HA_IN_ ha_status ha_pair_copy(const ha_copy_pair *pair, const ha_pair_run *run) {
    ha_context *c = run->write.context;
    ha_misfit misfit;
    ha_strided_copy copy;
    int some;
    if (!run->write.size) return HA_OK;
    if (ha_is_host(c))
        return ha_copy_opened(&pair->to, run->write.data, &pair->from, run->read.data, &misfit);
    (void)ha_pieces_between(&pair->to, (char *)run->write.data, &pair->from,
                            (const char *)run->read.data, &copy);
    return ha_move_copy(c, &copy, &some);
}

/* The devices first: they work while the host copies. */
HA_IN_ ha_status ha_plan_copy(const ha_copy_plan *plan, const ha_pair_run *run, const char *site) {
    for (int on_host = 0; on_host < 2; on_host++)
        for (size_t i = 0; i < plan->count; i++) {
            if (ha_is_host(run[i].write.context) != on_host) continue;
            ha_status s = ha_pair_copy(&plan->pair[i], &run[i]);
            if (s)
                return ha_view_fail(s, ha_plan_name, &plan->pair[i].to,
                                    "%s: copying pair %zu at %s failed", site, i,
                                    run[i].write.context->name);
        }
    return HA_OK;
}

HA_IN_ void ha_plan_requests(const ha_copy_plan *plan, ha_pair_run *run, ha_request *requests) {
    memset(requests, 0, 2 * plan->count * sizeof *requests);
    for (size_t i = 0; i < plan->count; i++, requests += 2) {
        const ha_copy_pair *pair = &plan->pair[i];
        const int there = ha_copy_fits_device(&pair->to, &pair->from, pair->context);
        ha_context *c = there ? pair->context : ha_host();
        requests[0] = (ha_request){
            .access = &run[i].read, .context = c, .how = HA_READ, .view = &pair->from};
        requests[1] = (ha_request){
            .access = &run[i].write, .context = c, .how = HA_OVERWRITE, .view = &pair->to};
    }
}

ha_status ha_copy_plan_run_(const ha_copy_plan *plan, const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    ha_open_set t = {.operation = ha_plan_name, .views_checked = 1};
    ha_status s = ha_enter(ha_plan_name);
    if (s) return s;
    if (!plan) return ha_fail(HA_ERR_ARGUMENT, ha_plan_name, "%s: no plan", site);
    if (!plan->count) return HA_OK;
    const size_t bytes = plan->count * (sizeof(ha_pair_run) + 2 * sizeof(ha_request));
    ha_pair_run *run = (ha_pair_run *)HARRAY_MALLOC(bytes);
    if (!run)
        return ha_fail(HA_ERR_MEMORY, ha_plan_name, "%s: no memory to open %zu pairs", site,
                       plan->count);
    ha_request *requests = (ha_request *)(void *)(run + plan->count);
    ha_plan_requests(plan, run, requests);
    s = ha_open_all(&t, requests, 2 * plan->count, site);
    if (!s) {
        ha_tell_later();
        s = ha_plan_copy(plan, run, site);
        for (size_t i = 0; i < plan->count; i++) {
            HA_IGNORE(ha_close_(&run[i].read));
            HA_IGNORE(ha_close_(&run[i].write));
        }
        ha_tell_now();
    }
    HARRAY_FREE(run);
    return s;
}

#endif
