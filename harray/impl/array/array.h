/* Arrays as a whole: making, freeing, asking, resizing, exchanging. */
#ifndef HARRAY_IMPL_ARRAY_ARRAY_H
#define HARRAY_IMPL_ARRAY_ARRAY_H

#include "../access/all.h"

/* ---- making and freeing -------------------------------------------------------------------- */

HA_IN_ ha_array *ha_array_fresh(void) {
    ha_array *a = (ha_array *)HARRAY_MALLOC(sizeof *a);
    if (a) *a = (ha_array){.lock = 0};
    return a;
}

/* No elements, no memory, not counted yet. The lock of a record that is used again may just be somebody's who
 * comes too late. */
HA_IN_ ha_array *ha_array_record(ha_type type, ha_context *c) {
    const size_t kept = offsetof(ha_array, busy);
    size_t zeroed = offsetof(ha_array, first_holders) - kept;
    ha_array *a = ha_array_again();
    if (!a && !(a = ha_array_fresh())) return NULL;
    const uint64_t tickets = a->tickets;
    __asm__("" : "+r"(zeroed)); /* where gcc knows the size, it zeroes 10 ns more slowly */
    memset((char *)a + kept, 0, zeroed);
    a->holder = a->first_holders;
    a->holder_capacity = a->holders_easy = sizeof a->first_holders / sizeof *a->first_holders;
    a->first.memory = c->memory;
    a->recent = &a->first;
    a->first_touch = c->adopted ? c->primary : c; /* that may be gone before the array */
    a->type = type.name ? type.name : "?";
    a->element = type.size;
    a->tickets = tickets;
    a->references = 1;
    return a;
}

/* No elements, no memory yet. */
HA_IN_ ha_array *ha_array_make(ha_type type, ha_context *c) {
    ha_array *a = ha_array_record(type, c);
    if (!a) return NULL;
    ha_memory_begin(c->memory, &a->alive);
    ha_watch_begin(a);
    return a;
}

HA_IN_ void ha_incarnation_end(ha_incarnation *in) {
    if (in->block)
        ha_block_retire(in->block, &in->ops);
    else
        ha_ops_free(&in->ops);
    ha_set_free(&in->valid);
}

/* With nobody using it: so nothing is locked. */
HA_IN_ void ha_array_destroy(ha_array *a) {
    ha_memory *home = a->first_touch->memory; /* where it is counted */
    ha_block *block = a->first.block;
    ha_strict_unlist(a);
    if (block && block->memory == home && !a->first.ops.n) { /* the usual case: one lock for both */
        (void)ha_block_give(block, &a->alive);
        a->first.block = NULL;
    } else
        ha_memory_end(home, &a->alive);
    while (a->first.next) { /* nobody finds it any more */
        ha_incarnation *in = a->first.next;
        a->first.next = in->next;
        ha_incarnation_end(in);
        HARRAY_FREE(in);
    }
    ha_incarnation_end(&a->first);
    ha_set_free(&a->lost);
    if (a->ops) a->ops->end(a);
    if (a->grid) ha_kept_add(&ha_freed_grids, &a->grid->kept);
    ha_watch_end(a);
    ha_on_array(HA_EVENT_GONE, a);
    if (ha_array_keep(a)) ha_wake(a);
}

/* The same for one that others have known. */
HA_IN_ void ha_array_end(ha_array *a) {
    void (*release)(void *) = a->release;
    void *user = a->release_user;
    ha_array_destroy(a);
    if (release) release(user);
}

/* Whether nobody uses it or waits for it, and all that it has is its block, on which no queue works. Who has it
 * busy changes the rest without the lock. */
HA_IN_ int ha_array_is_plain(const ha_array *a) HA_REQUIRES_(a->lock) {
    const ha_incarnation *in = &a->first;
    if (__atomic_load_n(&a->references, __ATOMIC_RELAXED) != 1 || a->busy) return 0;
    if (a->holders || a->waiters || a->holder != a->first_holders) return 0;
    if (!in->block || in->block->memory != a->first_touch->memory || in->next) return 0;
    if (in->wrapped || in->ops.n || in->ops.heap || in->valid.heap || a->lost.heap) return 0;
    return !a->grid && !a->ops && !a->release && !ha_id_known(a) && !ha_strict_is_listed(a);
}

/* Ends such an array, its lock being taken once. 0: it is none, and nothing was done. */
HA_IN_ int ha_array_end_plain(ha_array *a) {
    ha_lock(a);
    ha_block *const block = ha_array_is_plain(a) ? a->first.block : NULL;
    if (block) ha_array_forget_all(a);
    ha_unlock(a);
    if (!block) return 0;
    (void)ha_block_give(block, &a->alive);
    ha_kept_add(&ha_freed_arrays, &a->kept);
    return 1;
}

/* Its first block, of n elements. */
static inline void ha_array_set_first(ha_array *a, ha_block *block, size_t n) {
    a->first.data = (char *)block->data + a->lead;
    a->first.capacity = a->size = n;
    __atomic_store_n(&a->first.block, block, __ATOMIC_RELEASE); /* state/owners.h may look at it */
}

/* The same with a cached block, the pool's lock being taken once; 0: there is none. gives_way: others find the array as
 * soon as that lock is dropped, and may take its block: nothing of it is written after that without its own lock. */
static inline int ha_array_begin_cached(ha_array *a, size_t n, size_t bytes, int gives_way) {
    ha_memory *m = a->first.memory;
    ha_pool *p = &m->pool;
    uint32_t awaited = 0;
    ha_spin_lock(&p->lock);
    ha_block *block = ha_pool_take(p, bytes, HA_LIVE);
    if (block) {
        ha_pool_begin(p, &a->alive);
        ha_array_set_first(a, block, n);
        if (gives_way && block->bytes >= ha_resident_least) {
            ha_resident_put(p, block, a, a->first.stamp);
            awaited = p->awaited;
        }
    }
    ha_spin_unlock(&p->lock);
    if (awaited) ha_resident_press(a, m);
    return block != NULL;
}

/* The memory of n elements; the array is counted from here on. gives_way: it may do so at once. */
HA_IN_ ha_status ha_array_first_block(ha_array *a, size_t n, int gives_way) {
    ha_memory *m = a->first.memory;
    ha_block *block = NULL;
    ha_status s = HA_OK;
    size_t bytes;
    int plain = m->primary || ha_is_host(a->first_touch); /* nothing pinned to look for */
    if (n && !ha_block_bytes(a, n, &bytes)) return HA_ERR_MEMORY;
    if (n && plain && ha_array_begin_cached(a, n, bytes, gives_way)) return HA_OK;
    HA_TAKES_MEMORY_;
    if (n)
        s = plain ? ha_block_get_in_turn(m, bytes, &block, "ha_array_new")
                  : ha_shared_block_get(a->first_touch, bytes, &block);
    if (s) return s;
    ha_memory_begin(m, &a->alive);
    if (!n) return HA_OK;
    ha_array_set_first(a, block, n);
    if (gives_way) ha_resident_enter(a, &a->first);
    return HA_OK;
}

/* Its memory begins `lead` bytes before its first element, wherever it has some. gives_way: it may do so at once; else
 * when ha_resident_enter says so. Who watches it, or is told of it, knows it before that. */
HA_IN_ ha_array *ha_array_new_behind(ha_type type, size_t n, size_t lead, ha_context *c,
                                     int gives_way) {
    HA_TELLS_EVENTS_;
    if (ha_enter("ha_array_new")) return NULL;
    c = ha_resolve(c);
    if (!type.size) {
        ha_fail(HA_ERR_ARGUMENT, "ha_array_new", "elements of type %.32s have no size",
                type.name ? type.name : "?");
        return NULL;
    }
    ha_array *a = ha_array_record(type, c);
    if (a) a->lead = lead;
    const int is_seen = ha_is_listening() || ha_is_watching();
    HA_TAKES_MEMORY_IF_(is_seen);
    ha_status s = a ? ha_array_first_block(a, n, gives_way && !is_seen) : HA_ERR_MEMORY;
    if (!s && is_seen) {
        ha_watch_begin(a);
        if (gives_way) ha_resident_enter(a, &a->first);
    }
    if (!s) return a;
    if (a) (void)ha_array_keep(a); /* old handles may lead to its record */
    ha_fail(s, "ha_array_new", "no memory at %s for %zu elements of type %.32s (%zu bytes each)",
            c->name, n, type.name ? type.name : "?", type.size);
    return NULL;
}

ha_array *ha_array_new(ha_type type, size_t n, ha_context *c) {
    return ha_array_new_behind(type, n, 0, c, 1);
}

ha_array *ha_array_like(const ha_array *a) {
    ha_array *like = NULL;
    HA_TELLS_EVENTS_;
    if (ha_enter("ha_array_like")) return NULL;
    if (!a)
        ha_fail(HA_ERR_ARGUMENT, "ha_array_like", "ha_array_like: no array");
    else if (!ha_was_freed(a, "ha_array_like") &&
             !(like = ha_array_make((ha_type){a->type, a->element}, a->first_touch)))
        ha_fail(HA_ERR_MEMORY, "ha_array_like", "no memory for one more array like %s",
                ha_label_of((ha_array *)(uintptr_t)a).text);
    return like;
}

/* ---- asking -------------------------------------------------------------------------------- */

ha_type ha_array_type(const ha_array *a) {
    return a ? (ha_type){a->type, a->element} : (ha_type){"?", 0};
}

/* Whether looking at an array makes sense: there is one, and this process may. */
HA_IN_ int ha_may_look_at(const ha_array *a, const char *operation) {
    return a && !ha_forked && !ha_was_freed(a, operation);
}

#define ha_may_look_(a) ha_may_look_at(a, __func__)

size_t ha_array_size(const ha_array *a) {
    if (!ha_may_look_(a)) return 0;
    return __atomic_load_n(&a->size, __ATOMIC_RELAXED);
}

uint64_t ha_array_version(const ha_array *a) {
    if (!ha_may_look_(a)) return 0;
    ha_array *m = ha_lockable(a);
    ha_lock(m);
    uint64_t n = __atomic_load_n(&m->version, __ATOMIC_RELAXED); /* open_many.h */
    ha_unlock(m);
    return n;
}

ha_statistics ha_array_statistics(const ha_array *a) {
    ha_statistics s = {0, 0};
    if (!ha_may_look_(a)) return s;
    ha_array *m = ha_lockable(a);
    ha_lock(m);
    s = m->statistics;
    ha_unlock(m);
    return s;
}

void ha_array_set_name(ha_array *a, const char *name) {
    if (!ha_may_look_(a)) return;
    ha_lock(a);
    size_t n = name ? strnlen(name, sizeof a->name - 1) : 0;
    memcpy(a->name, name ? name : "", n);
    memset(a->name + n, 0, sizeof a->name - n);
    ha_unlock(a);
}

const char *ha_array_name(const ha_array *a) { return a ? a->name : ""; }

size_t ha_array_capacity(const ha_array *a, const ha_context *c) {
    if (!ha_may_look_(a)) return 0;
    ha_array *m = ha_lockable(a);
    ha_lock(m);
    const ha_incarnation *in = ha_incarnation_find(m, ha_resolve_const(c)->memory);
    size_t n = in ? in->capacity : 0;
    ha_unlock(m);
    return n;
}

/* Lock held. r: elements, in the order in which they are in memory. */
HA_IN_ int ha_all_there(const ha_set *valid, ha_range r) {
    const ha_grid *g = valid->grid;
    if (!g) return ha_set_contains(valid, r);
    if (ha_is_on_grid(g, r.first) && ha_is_on_grid(g, r.last - 1) &&
        ha_set_contains(valid, ha_grid_around(g, r.first, r.last - 1)))
        return 1;
    for (size_t i = r.first; i < r.last; i++)
        if (ha_is_on_grid(g, i) && !ha_set_contains(valid, (ha_range){i, i + 1})) return 0;
    return 1;
}

int ha_array_valid(const ha_array *a, const ha_context *c, size_t first, size_t last) {
    if (!ha_may_look_(a)) return 0;
    ha_array *m = ha_lockable(a);
    ha_lock(m);
    const ha_incarnation *in = ha_incarnation_find(m, ha_resolve_const(c)->memory);
    ha_range r = {first, last == HA_END ? m->size : last};
    int valid = in && !ha_is_empty(r) && r.last <= m->size && ha_all_there(&in->valid, r);
    ha_unlock(m);
    return valid;
}

size_t ha_array_valid_ranges(const ha_array *a, const ha_context *c, ha_range *ranges,
                             size_t most) {
    if (!ha_may_look_(a)) return 0;
    ha_array *m = ha_lockable(a);
    ha_lock(m);
    const ha_incarnation *in = ha_incarnation_find(m, ha_resolve_const(c)->memory);
    size_t n = in ? in->valid.n : 0;
    uint32_t place = in ? ha_set_first(&in->valid) : 0;
    for (size_t i = 0; ranges && i < n && i < most; i++) {
        ranges[i] = ha_set_ranges(&in->valid)[place];
        place = ha_set_next(&in->valid, place);
    }
    ha_unlock(m);
    return n;
}

ha_context *ha_array_first_touch(const ha_array *a) { return a ? a->first_touch : ha_host(); }

ha_context *ha_array_valid_context(const ha_array *a) {
    if (!a) return ha_host();
    if (!ha_may_look_(a)) return a->first_touch;
    ha_array *m = ha_lockable(a);
    ha_lock(m);
    ha_context *c = a->first_touch;
    const ha_incarnation *in = &m->first;
    while (in && !in->valid.n) in = in->next;
    if (in && in->memory != c->memory) c = ha_memory_context(in->memory);
    ha_unlock(m);
    return c;
}

/* ---- resizing ------------------------------------------------------------------------------ */

/* Whether this only gives up what is lost: that writes nothing, and const memory of the caller's
 * can be handed back then. */
HA_IN_ int ha_gives_up(ha_array *a, size_t n) {
    ha_lock(a);
    int lost = a->lost.n > 0;
    ha_unlock(a);
    return lost && !n;
}

/* What clearing is where the size stays: the values go. */
HA_IN_ ha_status ha_array_forget(ha_array *a) {
    ha_status s = ha_claim(a, "ha_array_clear");
    if (s) return s;
    ha_lock(a);
    for (ha_incarnation *in = &a->first; in; in = in->next) in->valid.n = 0;
    a->lost.n = 0;
    a->version++;
    ha_unlock(a);
    ha_busy_end(a);
    return HA_OK;
}

ha_status ha_array_resize(ha_array *a, size_t n) {
    HA_TELLS_EVENTS_;
    size_t bytes;
    ha_status s = ha_enter("ha_array_resize");
    if (s) return s;
    if (ha_was_freed(a, "ha_array_resize")) return HA_ERR_STATE;
    if (a && !ha_bytes_of(n, a->element, &bytes))
        return ha_fail(HA_ERR_MEMORY, "ha_array_resize",
                       "array %s: %zu elements of %zu bytes overflow", ha_label_of(a).text, n,
                       a->element);
    if (a && !ha_gives_up(a, n) && (s = ha_refuse_change(a, "ha_array_resize", NULL))) return s;
    if (a && a->grid && !n) return ha_array_forget(a);
    if (a && (s = ha_refuse_growth(a, n, "ha_array_resize", NULL))) return s;
    if ((s = ha_claim(a, "ha_array_resize"))) return s;
    ha_lock(a);
    for (ha_incarnation *in = &a->first; in; in = in->next)
        ha_set_remove(&in->valid, (ha_range){n, SIZE_MAX});
    ha_set_remove(&a->lost, (ha_range){n, SIZE_MAX});
    if (n != a->size) a->version++;
    ha_set_size(a, n);
    ha_unlock(a);
    ha_busy_end(a);
    return HA_OK;
}

ha_status ha_array_clear(ha_array *a) { return ha_array_resize(a, 0); }

ha_status ha_array_reserve(ha_array *a, ha_context *c, size_t n) {
    HA_TELLS_EVENTS_;
    HA_TAKES_MEMORY_;
    ha_attempt attempt = {.site = ha_from("ha_array_reserve")};
    const char *why;
    ha_status s = ha_enter("ha_array_reserve");
    if (!s && a)
        s = ha_refuse_growth(a, a->grid && n < a->size ? a->size : n, "ha_array_reserve", NULL);
    if (s || (s = ha_claim(a, "ha_array_reserve"))) return s;
    c = ha_resolve(c);
    for (;;) {
        /* Anew each time: while this waits, the array may be exchanged with another. */
        ha_incarnation *in = ha_incarnation_add(a, c->memory);
        s = in ? ha_settle(a) : HA_ERR_MEMORY;
        why = ha_has_failed(c) ? "its queue has failed; ha_shutdown ends that" : "no room there";
        if (!s && ha_has_failed(c)) s = HA_ERR_BACKEND;
        if (!s) s = ha_incarnation_room(a, in, c, n, &attempt);
        ha_busy_end(a);
        if (s != HA_RETRY_ || (s = ha_attempt_pass(&attempt))) break;
        if ((s = ha_claim(a, "ha_array_reserve"))) return s;
    }
    if (!s) return HA_OK;
    return ha_fail(s, "ha_array_reserve", "array %s at %s: %s (%zu elements of %zu bytes)",
                   ha_label_of(a).text, c->name, why, n, a->element);
}

/* Claimed. Without pinned memory there is nothing to do. */
HA_IN_ ha_status ha_pin_claimed(ha_array *a, ha_context *c, ha_attempt *attempt) {
    ha_incarnation *in = ha_incarnation_find(a, &ha_host_memory);
    ha_context *before = a->pinned_for;
    if (!c->home->pinned) return HA_OK;
    ha_status s = ha_settle(a);
    if (s) return s;
    a->pinned_for = c->adopted ? c->primary : c;
    if (in && in->block && in->block->memory != c->home->pinned)
        s = ha_incarnation_renew(a, in, ha_host(), in->capacity, attempt);
    if (s) a->pinned_for = before;
    return s;
}

ha_status ha_array_pin(ha_array *a, ha_context *c) {
    HA_TELLS_EVENTS_;
    HA_TAKES_MEMORY_;
    const char *const operation = "ha_array_pin";
    ha_attempt attempt = {.site = ha_from(operation)};
    ha_status s;
    c = ha_resolve(c);
    do {
        if ((s = ha_claim_own(a, operation))) return s;
        s = ha_pin_claimed(a, c, &attempt);
        ha_busy_end(a);
    } while (s == HA_RETRY_ && !(s = ha_attempt_pass(&attempt)));
    if (!s) return HA_OK;
    return ha_fail(s, operation, "array %s could not be pinned for %s", ha_label_of(a).text,
                   c->name);
}

/* Claimed. Memory goes back, also where work is still enqueued: when that is done. */
HA_IN_ void ha_array_empty(ha_array *a) {
    for (ha_incarnation *in = &a->first; in; in = in->next) {
        ha_lock(a);
        in->valid.n = 0;
        ha_unlock(a);
        ha_incarnation_drop(a, in);
    }
    ha_lock(a);
    a->lost.n = 0;
    if (!a->grid) ha_set_size(a, 0);
    a->version++;
    ha_unlock(a);
}

ha_status ha_array_purge(ha_array *a) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_claim_own(a, "ha_array_purge");
    if (s) return s;
    ha_array_empty(a);
    ha_busy_end(a);
    return HA_OK;
}

/* ---- exchanging ---------------------------------------------------------------------------- */

HA_IN_ ha_status ha_check_two(ha_array *a, ha_array *b, const char *operation) {
    ha_status s = ha_enter(operation);
    if (s) return s;
    if (!a || !b) return ha_fail(HA_ERR_ARGUMENT, operation, "%s: no array", operation);
    if (ha_was_freed(a, operation) || ha_was_freed(b, operation)) return HA_ERR_STATE;
    if (!ha_grids_equal(a->grid, b->grid) || a->lead != b->lead)
        return ha_fail(HA_ERR_ARGUMENT, operation, "arrays %s and %s have different shapes",
                       ha_label_of(a).text, ha_label_of(b).text);
    if (a->element == b->element) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, operation,
                   "arrays %s and %s have elements of %zu and %zu bytes", ha_label_of(a).text,
                   ha_label_of(b).text, a->element, b->element);
}

/* Claims two arrays, always in order of their addresses. */
HA_IN_ ha_status ha_claim_two(ha_array *a, ha_array *b, const char *operation) {
    int swapped = (uintptr_t)a > (uintptr_t)b;
    ha_array *low = swapped ? b : a, *high = swapped ? a : b;
    ha_status s = ha_check_two(a, b, operation);
    if (s || (s = ha_claim_own(low, operation))) return s;
    ha_tell_later();
    if ((s = ha_claim_own(high, operation))) ha_busy_end(low);
    ha_tell_now();
    return s;
}

/* Its sets come from an array with an equal grid. Its own one stays, for it is looked at
 * without the lock. */
HA_IN_ void ha_array_own_grid(ha_array *a) HA_REQUIRES_(a->lock) {
    a->lost.grid = a->grid;
    for (ha_incarnation *in = &a->first; in; in = in->next) in->valid.grid = in->ops.grid = a->grid;
}

/* Both claimed. The locks are for those who look; no other place takes two. */
HA_IN_ void ha_array_exchange(ha_array *a, ha_array *b) HA_UNCHECKED_ {
    int swapped = (uintptr_t)a > (uintptr_t)b;
    ha_array *low = swapped ? b : a, *high = swapped ? a : b;
    ha_lock(low);
    ha_lock(high);
    ha_incarnation first = a->first;
    a->first = b->first;
    b->first = first;
    ha_set lost = a->lost;
    a->lost = b->lost;
    b->lost = lost;
    const char *where = a->lost_where, *site = a->lost_site;
    a->lost_where = b->lost_where;
    a->lost_site = b->lost_site;
    b->lost_where = where;
    b->lost_site = site;
    ha_array_own_grid(a);
    ha_array_own_grid(b);
    size_t size = a->size;
    ha_set_size(a, b->size);
    ha_set_size(b, size);
    a->recent = &a->first;
    b->recent = &b->first;
    a->version++;
    b->version++;
    ha_unlock(high);
    ha_unlock(low);
    ha_residents_enter(a);
    ha_residents_enter(b);
}

ha_status ha_array_swap(ha_array *a, ha_array *b) {
    HA_TELLS_EVENTS_;
    if (a && a == b) return HA_OK;
    ha_status s = ha_claim_two(a, b, "ha_array_swap");
    if (s) return s;
    ha_array_exchange(a, b);
    ha_busy_end(a);
    ha_busy_end(b);
    return HA_OK;
}

ha_status ha_array_take(ha_array *to, ha_array *from) {
    HA_TELLS_EVENTS_;
    if (to && to == from) return HA_OK;
    ha_status s = ha_claim_two(to, from, "ha_array_take");
    if (s) return s;
    ha_array_exchange(to, from);
    ha_array_empty(from);
    ha_busy_end(to);
    ha_busy_end(from);
    return HA_OK;
}

#endif
