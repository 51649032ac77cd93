/* Arrays as a whole: making, freeing, asking, resizing, exchanging. */
#ifndef HA_IMPL_ARRAY_H
#define HA_IMPL_ARRAY_H

#include "open.h"

/* ---- making and freeing -------------------------------------------------------------------- */

ha_status ha_type_find(const char *name, ha_type *type) {
    static const ha_type types[] = {
#define HA_TYPE_ENTRY(name, T) {#name, sizeof(T)},
        HA_PREMADE_TYPES(HA_TYPE_ENTRY)
#undef HA_TYPE_ENTRY
    };
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, name)) {
            *type = types[i];
            return HA_OK;
        }
    return ha_fail(HA_ERR_NOT_FOUND, "ha_type_find", "no ready-made type is called '%.40s'",
                   name ? name : "(null)");
}

/* No elements, no memory yet. */
static ha_array *ha_array_make(ha_type type, ha_context *c) {
    ha_array *a = (ha_array *)HARRAY_MALLOC(sizeof *a);
    if (!a) return NULL;
    memset(a, 0, sizeof *a);
    a->holder = a->first_holders;
    a->holder_capacity = sizeof a->first_holders / sizeof *a->first_holders;
    a->first.memory = c->memory;
    a->recent = &a->first;
    a->first_touch = c;
    a->type = type.name ? type.name : "?";
    a->element = type.size;
    a->references = 1;
    __atomic_fetch_add(&ha_registry.arrays, 1, __ATOMIC_RELAXED);
    return a;
}

/* With nobody using it. */
static void ha_array_destroy(ha_array *a) {
    for (ha_incarnation *in = &a->first; in; in = in->next) {
        ha_incarnation_drop(a, in);
        ha_set_free(&in->valid);
    }
    while (a->first.next) {
        ha_incarnation *in = a->first.next;
        a->first.next = in->next;
        HARRAY_FREE(in);
    }
    if (a->holder != a->first_holders) HARRAY_FREE(a->holder);
    HARRAY_FREE(a);
    __atomic_fetch_sub(&ha_registry.arrays, 1, __ATOMIC_RELAXED);
}

static ha_status ha_array_first_block(ha_array *a, size_t n) {
    ha_block *block;
    if (!n) return HA_OK;
    ha_status s = ha_block_get(a->first.memory, n, a->element, &block);
    if (s) return s;
    a->first.block = block;
    a->first.data = (char *)block->data;
    a->first.capacity = a->size = n;
    return HA_OK;
}

ha_array *ha_array_new(ha_type type, size_t n, ha_context *c) {
    if (ha_enter("ha_array_new")) return NULL;
    c = ha_resolve(c);
    if (!type.size) {
        ha_fail(HA_ERR_ARGUMENT, "ha_array_new", "elements of type %.32s have no size",
                type.name ? type.name : "?");
        return NULL;
    }
    ha_array *a = ha_array_make(type, c);
    ha_status s = a ? ha_array_first_block(a, n) : HA_ERR_MEMORY;
    if (!s) return a;
    if (a) ha_array_destroy(a);
    ha_fail(s, "ha_array_new", "no memory at %s for %zu elements of type %.32s (%zu bytes each)",
            c->name, n, type.name ? type.name : "?", type.size);
    return NULL;
}

ha_array *ha_array_like(const ha_array *a) {
    ha_array *like = NULL;
    if (ha_enter("ha_array_like")) return NULL;
    if (!a)
        ha_fail(HA_ERR_ARGUMENT, "ha_array_like", "no array");
    else if (!(like = ha_array_make((ha_type){a->type, a->element}, a->first_touch)))
        ha_fail(HA_ERR_MEMORY, "ha_array_like", "no memory for one more array like %s",
                ha_label_of((ha_array *)(uintptr_t)a).text);
    return like;
}

ha_array *ha_array_retain(ha_array *a) {
    if (a) __atomic_fetch_add(&a->references, 1, __ATOMIC_RELAXED);
    return a;
}

ha_status ha_array_free(ha_array *a) {
    if (!a) return HA_OK;
    ha_status s = ha_enter("ha_array_free");
    if (s) return s;
    uint64_t n = __atomic_load_n(&a->references, __ATOMIC_ACQUIRE);
    while (n > 1)
        if (__atomic_compare_exchange_n(&a->references, &n, n - 1, 1, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return HA_OK;
    if ((s = ha_claim(a, "ha_array_free"))) return s;
    ha_array_destroy(a);
    return HA_OK;
}

/* ---- asking -------------------------------------------------------------------------------- */

ha_type ha_array_type(const ha_array *a) {
    return a ? (ha_type){a->type, a->element} : (ha_type){"?", 0};
}

/* Whether looking at an array makes sense: there is one, and this process may. */
static int ha_may_look(const ha_array *a) { return a && !ha_forked; }

size_t ha_array_size(const ha_array *a) {
    if (!ha_may_look(a)) return 0;
    ha_array *m = ha_lock_const(a);
    size_t n = m->size;
    ha_unlock(m);
    return n;
}

uint64_t ha_array_version(const ha_array *a) {
    if (!ha_may_look(a)) return 0;
    ha_array *m = ha_lock_const(a);
    uint64_t n = m->version;
    ha_unlock(m);
    return n;
}

ha_statistics ha_array_statistics(const ha_array *a) {
    ha_statistics s = {0, 0};
    if (!ha_may_look(a)) return s;
    ha_array *m = ha_lock_const(a);
    s = m->statistics;
    ha_unlock(m);
    return s;
}

void ha_array_set_name(ha_array *a, const char *name) {
    if (!ha_may_look(a)) return;
    ha_lock(a);
    size_t n = name ? strnlen(name, sizeof a->name - 1) : 0;
    memcpy(a->name, name ? name : "", n);
    memset(a->name + n, 0, sizeof a->name - n);
    ha_unlock(a);
}

const char *ha_array_name(const ha_array *a) { return a ? a->name : ""; }

size_t ha_array_capacity(const ha_array *a, const ha_context *c) {
    if (!ha_may_look(a)) return 0;
    ha_array *m = ha_lock_const(a);
    const ha_incarnation *in = ha_incarnation_find(m, ha_resolve_const(c)->memory);
    size_t n = in ? in->capacity : 0;
    ha_unlock(m);
    return n;
}

int ha_array_valid(const ha_array *a, const ha_context *c, size_t first, size_t last) {
    if (!ha_may_look(a)) return 0;
    ha_array *m = ha_lock_const(a);
    const ha_incarnation *in = ha_incarnation_find(m, ha_resolve_const(c)->memory);
    ha_range r = {first, last == HA_END ? m->size : last};
    int valid = in && !ha_is_empty(r) && ha_set_contains(&in->valid, r);
    ha_unlock(m);
    return valid;
}

size_t ha_array_valid_ranges(const ha_array *a, const ha_context *c, ha_range *ranges,
                             size_t most) {
    if (!ha_may_look(a)) return 0;
    ha_array *m = ha_lock_const(a);
    const ha_incarnation *in = ha_incarnation_find(m, ha_resolve_const(c)->memory);
    size_t n = in ? in->valid.n : 0;
    for (size_t i = 0; i < n && i < most; i++) ranges[i] = ha_set_ranges(&in->valid)[i];
    ha_unlock(m);
    return n;
}

ha_context *ha_array_first_touch(const ha_array *a) { return a ? a->first_touch : ha_host(); }

ha_context *ha_array_valid_context(const ha_array *a) {
    if (!a) return ha_host();
    if (!ha_may_look(a)) return a->first_touch;
    ha_array *m = ha_lock_const(a);
    ha_context *c = a->first_touch;
    const ha_incarnation *in = &m->first;
    while (in && !in->valid.n) in = in->next;
    if (in && in->memory != c->memory) c = ha_memory_context(in->memory);
    ha_unlock(m);
    return c;
}

/* ---- resizing ------------------------------------------------------------------------------ */

ha_status ha_array_resize(ha_array *a, size_t n) {
    size_t bytes;
    ha_status s = ha_enter("ha_array_resize");
    if (s) return s;
    if (a && (__builtin_mul_overflow(n, a->element, &bytes) || bytes > PTRDIFF_MAX))
        return ha_fail(HA_ERR_MEMORY, "ha_array_resize",
                       "array %s: %zu elements of %zu bytes overflow", ha_label_of(a).text, n,
                       a->element);
    if ((s = ha_claim(a, "ha_array_resize"))) return s;
    ha_lock(a);
    for (ha_incarnation *in = &a->first; in; in = in->next)
        ha_set_remove(&in->valid, (ha_range){n, SIZE_MAX});
    if (n != a->size) a->version++;
    a->size = n;
    ha_unlock(a);
    ha_busy_end(a);
    return HA_OK;
}

ha_status ha_array_clear(ha_array *a) { return ha_array_resize(a, 0); }

ha_status ha_array_reserve(ha_array *a, ha_context *c, size_t n) {
    ha_later later = {0};
    ha_status s = ha_claim(a, "ha_array_reserve");
    if (s) return s;
    c = ha_resolve(c);
    for (;;) {
        /* Anew each time: while this waits, the array may be exchanged with another. */
        ha_incarnation *in = ha_incarnation_add(a, c->memory);
        s = in ? ha_incarnation_room(a, in, c, n, &later) : HA_ERR_MEMORY;
        ha_busy_end(a);
        if (s != HA_LATER || (s = ha_wait_for(later.point))) break;
        if ((s = ha_claim(a, "ha_array_reserve"))) return s;
    }
    if (!s) return HA_OK;
    return ha_fail(s, "ha_array_reserve",
                   "array %s at %s: no room for %zu elements of %zu bytes there",
                   ha_label_of(a).text, c->name, n, a->element);
}

/* Claimed. Memory goes back, also where work is still enqueued: when that is done. */
static void ha_array_empty(ha_array *a) {
    for (ha_incarnation *in = &a->first; in; in = in->next) {
        ha_lock(a);
        in->valid.n = 0;
        ha_unlock(a);
        ha_incarnation_drop(a, in);
    }
    ha_lock(a);
    a->size = 0;
    a->version++;
    ha_unlock(a);
}

ha_status ha_array_purge(ha_array *a) {
    ha_status s = ha_claim(a, "ha_array_purge");
    if (s) return s;
    ha_array_empty(a);
    ha_busy_end(a);
    return HA_OK;
}

/* ---- exchanging ---------------------------------------------------------------------------- */

static ha_status ha_check_two(ha_array *a, ha_array *b, const char *operation) {
    ha_status s = ha_enter(operation);
    if (s) return s;
    if (!a || !b) return ha_fail(HA_ERR_ARGUMENT, operation, "no array");
    if (a->element == b->element) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, operation,
                   "arrays %s and %s have elements of %zu and %zu bytes", ha_label_of(a).text,
                   ha_label_of(b).text, a->element, b->element);
}

/* Claims two arrays, always in order of their addresses. */
static ha_status ha_claim_two(ha_array *a, ha_array *b, const char *operation) {
    int swapped = (uintptr_t)a > (uintptr_t)b;
    ha_array *low = swapped ? b : a, *high = swapped ? a : b;
    ha_status s = ha_check_two(a, b, operation);
    if (s || (s = ha_claim(low, operation))) return s;
    ha_tell_later();
    if ((s = ha_claim(high, operation))) ha_busy_end(low);
    ha_tell_now();
    return s;
}

/* Both claimed. The locks are for those who look; no other place takes two. */
static void ha_array_exchange(ha_array *a, ha_array *b) {
    int swapped = (uintptr_t)a > (uintptr_t)b;
    ha_array *low = swapped ? b : a, *high = swapped ? a : b;
    ha_lock(low);
    ha_lock(high);
    ha_incarnation first = a->first;
    a->first = b->first;
    b->first = first;
    size_t size = a->size;
    a->size = b->size;
    b->size = size;
    a->recent = &a->first;
    b->recent = &b->first;
    a->version++;
    b->version++;
    ha_unlock(high);
    ha_unlock(low);
}

ha_status ha_array_swap(ha_array *a, ha_array *b) {
    if (a && a == b) return HA_OK;
    ha_status s = ha_claim_two(a, b, "ha_array_swap");
    if (s) return s;
    ha_array_exchange(a, b);
    ha_busy_end(a);
    ha_busy_end(b);
    return HA_OK;
}

ha_status ha_array_take(ha_array *to, ha_array *from) {
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
