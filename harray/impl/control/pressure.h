/* Budgets as users see them, and memory that is given back on demand. */
#ifndef HARRAY_IMPL_CONTROL_PRESSURE_H
#define HARRAY_IMPL_CONTROL_PRESSURE_H

#include "memory.h"
#include "../access/all.h"

/* ---- giving back ----------------------------------------------------------------------------- */

/* How many bytes the backend has got back so far. */
HA_IN_ uint64_t ha_pool_released(ha_memory *m) {
    ha_spin_lock(&m->pool.lock);
    const uint64_t released = m->pool.released;
    ha_spin_unlock(&m->pool.lock);
    return released;
}

/* Gives some bytes back to the backend, cached ones first; as many as were wanted, or fewer: to be called again.
 * 0: nothing can be given back, also not by arrays that give way. */
HA_IN_ uint64_t ha_memory_give_some(ha_memory *m, uint64_t wanted, const char *site) {
    ha_attempt attempt = {.site = site};
    const uint64_t before = ha_pool_released(m);
    for (;;) {
        ha_staging_trim(m);
        ha_device_staging_trim(m);
        (void)ha_memory_sweep(m);
        const uint64_t cached = ha_pool_bytes(m, HA_CACHED);
        (void)ha_memory_shrink(m, cached > wanted ? cached - wanted : 0);
        const uint64_t given = ha_pool_released(m) - before;
        if (given) return given;
        if (ha_memory_pending(m, &attempt)) {
            if (ha_wait_past(attempt.point, site)) return 0;
        } else if (ha_memory_evict(m, wanted, &attempt))
            attempt.retired = 0;
        else
            return ha_pool_released(m) - before;
    }
}

uint64_t ha_memory_make_room(ha_context *c, uint64_t bytes) {
    HA_TELLS_EVENTS_;
    static const char *const operation = "ha_memory_make_room";
    if (ha_enter(operation)) return 0;
    uint64_t given = 0, some = 1;
    ha_memory *m = ha_resolve(c)->memory;
    while (given < bytes && some) {
        some = ha_memory_give_some(m, bytes - given, ha_from(operation));
        given += some;
    }
    ha_forget_note();
    return given;
}

/* ---- budgets --------------------------------------------------------------------------------- */

HA_IN_ uint64_t ha_pool_budget(ha_memory *m, const uint64_t *change) {
    ha_spin_lock(&m->pool.lock);
    const uint64_t before = m->pool.budget;
    if (change) m->pool.budget = *change;
    ha_spin_unlock(&m->pool.lock);
    return before;
}

/* By how much more is handed out than the budget allows. */
HA_IN_ uint64_t ha_pool_excess(ha_memory *m) {
    ha_pool *p = &m->pool;
    ha_spin_lock(&p->lock);
    const uint64_t budget = p->budget, out = ha_pool_handed_out(p) + p->expected - p->beyond;
    ha_spin_unlock(&p->lock);
    return budget && out > budget ? out - budget : 0;
}

ha_status ha_memory_set_budget(ha_context *c, uint64_t bytes) {
    HA_TELLS_EVENTS_;
    static const char *const operation = "ha_memory_set_budget";
    ha_status s = ha_enter(operation);
    if (s) return s;
    c = ha_resolve(c);
    ha_memory *m = c->memory;
    if (m == &ha_host_memory && (s = ha_host_options_read()))
        return ha_fail(s, operation, "%s: no budget", c->name);
    const uint64_t before = ha_pool_budget(m, &bytes);
    for (uint64_t excess; (excess = ha_pool_excess(m));) {
        if (ha_memory_give_some(m, excess, ha_from(operation))) continue;
        (void)ha_pool_budget(m, &before);
        ha_note_full(m);
        return ha_fail(HA_ERR_MEMORY, operation, "%s: %s more than %llu bytes are in use", c->name,
                       ha_human_bytes(excess).text, (unsigned long long)bytes);
    }
    ha_forget_note();
    return HA_OK;
}

uint64_t ha_memory_budget(const ha_context *c) {
    ha_memory *m = ha_resolve_const(c)->memory;
    if (ha_enter("ha_memory_budget")) return 0;
    if (m == &ha_host_memory && ha_host_options_read()) ha_forget_note();
    return ha_pool_budget(m, NULL);
}

ha_status ha_memory_set_watermark(ha_context *c, double part) {
    static const char *const operation = "ha_memory_set_watermark";
    ha_status s = ha_enter(operation);
    if (s) return s;
    c = ha_resolve(c);
    if (!(part >= 0 && part <= 1))
        return ha_fail(HA_ERR_ARGUMENT, operation, "%s: a part is 0 to 1, not %g", c->name, part);
    __atomic_store_n(&c->memory->pool.ready, (uint32_t)((1 - part) * (int)HA_READY_PARTS),
                     __ATOMIC_RELAXED);
    return HA_OK;
}

/* ---- tiers ----------------------------------------------------------------------------------- */

/* *why: what is in the way. */
HA_IN_ ha_status ha_tier_choose(ha_memory *m, ha_memory *next, const char **why)
    HA_REQUIRES_(ha_registry.lock) {
    int staged;
    *why = "values would come back from there";
    if (next && ha_tier_leads(next, m)) return HA_ERR_ARGUMENT;
    *why = "nothing can be copied there";
    if (next && !ha_route_cost(m, next, &staged)) return HA_ERR_ARGUMENT;
    __atomic_store_n(&m->tier, next, __ATOMIC_RELEASE);
    return HA_OK;
}

ha_status ha_memory_set_tier(ha_context *c, ha_context *next) {
    static const char *const operation = "ha_memory_set_tier";
    const char *why;
    ha_status s = ha_enter(operation);
    if (s) return s;
    c = ha_resolve(c);
    if ((s = ha_host_options_read())) return ha_fail(s, operation, "%s: no tier", c->name);
    pthread_mutex_lock(&ha_registry.lock);
    s = ha_tier_choose(c->memory, next ? next->memory : NULL, &why);
    pthread_mutex_unlock(&ha_registry.lock);
    return s ? ha_fail(s, operation, "%s: its next tier cannot be %s: %s", c->name, next->name, why)
             : HA_OK;
}

size_t ha_memory_holders(const ha_context *c, ha_memory_holder *list, size_t most) {
    if (ha_enter("ha_memory_holders")) return 0;
    return ha_keepers_of(ha_resolve_const(c)->memory, list, list ? most : 0);
}

#endif
