/* Memories as users see them: kinds of pointers, the account, allocators. */
#ifndef HARRAY_IMPL_CONTROL_MEMORY_H
#define HARRAY_IMPL_CONTROL_MEMORY_H

#include "../access/all.h"

/* ---- the account --------------------------------------------------------------------------- */

HA_IN_ ha_memory_usage ha_memory_usage_of(ha_memory *m) {
    ha_pool *p = &m->pool;
    ha_memory_usage u = {0};
    if (ha_forked) return u;
    ha_spin_lock(&p->lock);
    u.handed_out = ha_pool_handed_out(p);
    u.live = p->bytes[HA_LIVE];
    u.cached = p->bytes[HA_CACHED];
    u.retired = p->bytes[HA_RETIRED];
    u.staging = p->bytes[HA_STAGING];
    u.high_water = p->high_water;
    u.allocations = p->allocations;
    u.releases = p->releases;
    u.reused = p->reused;
    ha_spin_unlock(&p->lock);
    u.transfers_in = __atomic_load_n(&m->transfers_in, __ATOMIC_RELAXED);
    u.bytes_in = __atomic_load_n(&m->bytes_in, __ATOMIC_RELAXED);
    u.transfers_out = __atomic_load_n(&m->transfers_out, __ATOMIC_RELAXED);
    u.bytes_out = __atomic_load_n(&m->bytes_out, __ATOMIC_RELAXED);
    return u;
}

HA_IN_ ha_pressure ha_pressure_of(ha_memory *m) {
    ha_pressure p = {0};
    if (ha_forked) return p;
    ha_spin_lock(&m->pool.lock);
    p.budget = m->pool.budget;
    p.resident = m->pool.residents;
    ha_spin_unlock(&m->pool.lock);
    const ha_memory *tier = ha_memory_tier(m->primary ? m : &ha_host_memory);
    p.tier = tier ? ha_memory_context(tier) : NULL;
    p.evictions = __atomic_load_n(&m->evictions, __ATOMIC_RELAXED);
    p.evicted = __atomic_load_n(&m->evicted, __ATOMIC_RELAXED);
    p.written_back = __atomic_load_n(&m->written_back, __ATOMIC_RELAXED);
    p.written_ahead = __atomic_load_n(&m->written_ahead, __ATOMIC_RELAXED);
    p.restored = __atomic_load_n(&m->restored, __ATOMIC_RELAXED);
    p.turns = __atomic_load_n(&m->turns, __ATOMIC_RELAXED);
    p.wait_ns = __atomic_load_n(&m->turns_ns, __ATOMIC_RELAXED);
    p.refusals = __atomic_load_n(&m->refusals, __ATOMIC_RELAXED);
    return p;
}

ha_pressure ha_memory_pressure(const ha_context *c) {
    return ha_pressure_of(ha_resolve_const(c)->memory);
}

ha_memory_usage ha_context_memory(const ha_context *c) {
    return ha_memory_usage_of(ha_resolve_const(c)->memory);
}

ha_memory_usage ha_context_pinned_memory(const ha_context *c) {
    ha_memory *m = ha_resolve_const(c)->home->pinned;
    return m ? ha_memory_usage_of(m) : (ha_memory_usage){0};
}

HA_IN_ uint64_t ha_memory_trim_one(ha_memory *m, uint64_t keep) {
    uint64_t released;
    ha_staging_trim(m);
    ha_device_staging_trim(m);
    (void)ha_memory_collect(m, &released);
    return released + ha_memory_shrink(m, keep);
}

uint64_t ha_memory_trim(ha_context *c, uint64_t keep) {
    HA_TELLS_EVENTS_;
    if (ha_enter("ha_memory_trim")) return 0;
    const ha_memory *home = ha_resolve(c)->home;
    uint64_t bytes = ha_memory_trim_one(ha_resolve(c)->memory, keep);
    if (home->pinned) bytes += ha_memory_trim_one(home->pinned, keep);
    if (home->managed) bytes += ha_memory_trim_one(home->managed, keep);
    return bytes;
}

HA_IN_ void ha_memory_limit(ha_memory *m, uint64_t most) {
    ha_spin_lock(&m->pool.lock);
    m->pool.most = most;
    ha_block *picked = ha_pool_pick(&m->pool, most);
    ha_spin_unlock(&m->pool.lock);
    (void)ha_blocks_release(m, picked);
}

ha_status ha_memory_set_cache(ha_context *c, uint64_t most) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter("ha_memory_set_cache");
    if (s) return s;
    const ha_memory *home = ha_resolve(c)->home;
    ha_memory_limit(ha_resolve(c)->memory, most);
    if (home->pinned) ha_memory_limit(home->pinned, most);
    if (home->managed) ha_memory_limit(home->managed, most);
    return HA_OK;
}

/* ---- allocators ---------------------------------------------------------------------------- */

ha_status ha_memory_set_allocator(ha_context *c, const ha_allocator *allocator) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter("ha_memory_set_allocator");
    if (s) return s;
    c = ha_resolve(c);
    if (allocator && (!allocator->allocate || !allocator->release))
        return ha_fail(HA_ERR_ARGUMENT, "ha_memory_set_allocator",
                       "%s: the allocator has no function to %s", c->name,
                       allocator->allocate ? "release" : "allocate");
    ha_memory *m = c->memory;
    ha_pool *p = &m->pool;
    ha_staging_trim(m);
    ha_device_staging_trim(m);
    (void)ha_memory_sweep(m);
    (void)ha_memory_shrink(m, 0);
    ha_spin_lock(&p->lock);
    uint64_t out = ha_pool_handed_out(p) + p->expected;
    int quiet = !out && !p->returning;
    if (quiet) m->allocator = allocator ? *allocator : (ha_allocator){0};
    ha_spin_unlock(&p->lock);
    if (quiet) return HA_OK;
    return ha_fail(HA_ERR_STATE, "ha_memory_set_allocator",
                   "%s: %llu bytes of its memory are still handed out", c->name,
                   (unsigned long long)out);
}

/* ---- without an array ---------------------------------------------------------------------- */

/* Where a device works on host memory, it reaches its pinned memory best. */
HA_IN_ ha_status ha_loose_get(ha_context *c, size_t bytes, ha_block **b) {
    if (bytes > PTRDIFF_MAX) return HA_ERR_MEMORY;
    if (c->ops && !c->memory->primary) return ha_shared_block_get(c, bytes, b);
    return ha_block_get_in_turn(c->memory, bytes, b, "ha_memory_allocate");
}

/* No error is told. */
HA_IN_ ha_status ha_loose_allocate(ha_context *c, size_t bytes, void **data) {
    ha_block *b = NULL;
    const ha_status s = ha_loose_get(c, bytes, &b);
    if (s) return s;
    ha_loose_add(b);
    *data = b->data;
    return HA_OK;
}

void *ha_memory_allocate(ha_context *c, size_t bytes) {
    void *data = NULL;
    HA_TELLS_EVENTS_;
    if (ha_enter("ha_memory_allocate") || !bytes) return NULL;
    c = ha_resolve(c);
    const ha_status s = ha_loose_allocate(c, bytes, &data);
    if (s) ha_fail(s, "ha_memory_allocate", "%s: no memory for %zu bytes", c->name, bytes);
    return data;
}

/* HA_ERR_UNSUPPORTED: the device has no such memory. */
HA_IN_ ha_status ha_loose_get_kind(ha_context *c, size_t bytes, ha_memory_kind kind, ha_block **b) {
    ha_memory *m = NULL;
    if (kind == HA_MEMORY_DEVICE || ha_is_host(c)) return ha_loose_get(c, bytes, b);
    if (kind == HA_MEMORY_PINNED) m = c->home->pinned;
    if (kind == HA_MEMORY_MANAGED) m = c->home->managed;
    if (m && bytes <= PTRDIFF_MAX)
        return ha_block_get_in_turn(m, bytes, b, "ha_memory_allocate_kind");
    if (m) return HA_ERR_MEMORY;
    if (kind == HA_MEMORY_MANAGED && ha_context_is_zero_copy(c)) return ha_loose_get(c, bytes, b);
    return HA_ERR_UNSUPPORTED;
}

void *ha_memory_allocate_kind(ha_context *c, size_t bytes, ha_memory_kind kind) {
    static const char operation[] = "ha_memory_allocate_kind";
    ha_block *b = NULL;
    HA_TELLS_EVENTS_;
    if (ha_enter(operation) || !bytes) return NULL;
    c = ha_resolve(c);
    ha_status s = HA_ERR_ARGUMENT;
    if ((unsigned)kind < HA_MEMORY_UNKNOWN) s = ha_loose_get_kind(c, bytes, kind, &b);
    if (!s) return ha_loose_add(b), b->data;
    const char *name = ha_memory_kind_name(kind);
    if (s == HA_ERR_ARGUMENT)
        ha_fail(s, operation, "%s: %s is no kind of memory to ask for", c->name, name);
    else if (s == HA_ERR_UNSUPPORTED)
        ha_fail(s, operation, "%s has no memory of the kind %s", c->name, name);
    else
        ha_fail(s, operation, "%s: no %s memory for %zu bytes", c->name, name, bytes);
    return NULL;
}

ha_status ha_memory_release(ha_context *c, void *block) {
    HA_TELLS_EVENTS_;
    ha_ops ops = {0};
    ha_status s = ha_enter("ha_memory_release");
    if (s || !block) return s;
    c = ha_resolve(c);
    ha_block *b = ha_loose_take(c, block);
    if (!b)
        return ha_fail(HA_ERR_ARGUMENT, "ha_memory_release",
                       "%s: %p is no block of ha_memory_allocate there, or was released before",
                       c->name, block);
    __atomic_store_n(&b->loose, 0, __ATOMIC_RELAXED); /* as ha_loose_add */
    ha_note_operation(&ops, c, HA_WHOLE_, 1, "ha_memory_release");
    ha_block_retire(b, &ops);
    return HA_OK;
}

#endif
