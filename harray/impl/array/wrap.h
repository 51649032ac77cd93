/* The caller's memory as an array: taking it, keeping it up to date, handing it back.
 * state/owners.h has what is refused in between. */
#ifndef HARRAY_IMPL_ARRAY_WRAP_H
#define HARRAY_IMPL_ARRAY_WRAP_H

#include "array.h"
#include "../elements/all.h"

/* The next incarnation in the caller's memory behind `in`; NULL: the first one. */
HA_IN_ ha_incarnation *ha_next_wrapped(ha_array *a, ha_incarnation *in) {
    ha_lock(a);
    in = in ? in->next : &a->first;
    while (in && !in->wrapped) in = in->next;
    ha_unlock(a);
    return in;
}

/* ---- handing back -------------------------------------------------------------------------- */

/* Nobody else uses the array any more: the memory is the caller's again. */
HA_IN_ void ha_wrap_leave(ha_array *a) {
    for (ha_incarnation *in = NULL; (in = ha_next_wrapped(a, in));) {
        ha_ops ops = {0};
        ha_block *block = ha_block_exchange(a, in, NULL, 0, &ops);
        if (a->ops)
            a->ops->disown(a, in);
        else if (in->wrapped & HA_WRAP_COPIED_)
            ha_owners_remove_source(a);
        else
            ha_owners_remove((uintptr_t)block->data);
        in->valid.n = 0;
        in->wrapped = 0;
        ha_ops_free(&ops);
        ha_debug_unwrap(block);
        HARRAY_FREE(block);
    }
}

/* ---- taking -------------------------------------------------------------------------------- */

/* What drivers know better. A device's memory is its own also while it shares the host's. */
HA_IN_ const char *ha_wrap_misplaced(const ha_wrapped *p) {
    const ha_memory *m = ha_resolve(p->context)->memory;
    ha_context *owner;
    const ha_memory_kind kind = ha_pointer_owner(p->data, &owner);
    if (kind == HA_MEMORY_DEVICE && m != owner->home)
        return "a piece is memory of another device than its context's";
    if (kind == HA_MEMORY_HOST && m->primary && HA_HAS_(m->backend->memory, ha_memory_ops, knows))
        return "a piece is memory of the host, and its context's device needs its own";
    return NULL;
}

HA_IN_ const char *ha_wrap_objection(ha_type type, size_t n, const ha_wrapped *pieces,
                                     size_t count) {
    const unsigned const_unwritten = HA_WRAP_CONST | HA_WRAP_UNWRITTEN;
    const ha_dtype known = ha_dtype_quietly(type);
    if (!type.size) return "its elements have no size";
    if (!pieces || !count) return "no piece of memory";
    for (size_t i = 0; i < count; i++) {
        const ha_wrapped *p = &pieces[i];
        const ha_memory *m = ha_resolve(p->context)->memory;
        if (n && !p->data) return "a piece of memory at NULL";
        if (n && known && (uintptr_t)p->data % ha_dtype_alignment(known))
            return "a piece of memory is not aligned for its type";
        if (p->flags & ~(const_unwritten | HA_WRAP_EXPORTED_ | HA_WRAP_COPIED_))
            return "unknown flags";
        if ((p->flags & const_unwritten) == const_unwritten)
            return "const memory that has no values never gets any";
        for (size_t j = 0; j < i; j++)
            if (ha_resolve(pieces[j].context)->memory == m) return "two pieces in one memory";
        const char *misplaced = n ? ha_wrap_misplaced(p) : NULL;
        if (misplaced) return misplaced;
    }
    return NULL;
}

/* What cannot be told from the array: it does not exist yet. */
HA_IN_ ha_status ha_wrap_fail(ha_status s, ha_type type, size_t n, const char *why) {
    return ha_fail(s, "ha_array_wrap", "%zu elements of type %.32s (%zu bytes each): %s", n,
                   type.name ? type.name : "?", type.size, why);
}

/* The bytes become the array's alone. */
HA_IN_ ha_status ha_wrap_own(ha_array *a, const ha_wrapped *piece, size_t bytes) {
    const uintptr_t first = (uintptr_t)piece->data;
    const ha_type type = {a->type, a->element};
    const ha_array *other = NULL;
    ha_label label;
    if (bytes > UINTPTR_MAX - first)
        return ha_wrap_fail(HA_ERR_ARGUMENT, type, a->size, "they go beyond the last address");
    ha_memory *m = piece->flags & HA_WRAP_EXPORTED_ ? NULL : ha_resolve(piece->context)->memory;
    const int copied = (piece->flags & HA_WRAP_COPIED_) != 0;
    ha_status s = ha_owners_add(a, m, first, first + bytes, copied, &other, &label);
    if (s == HA_ERR_MEMORY) return ha_wrap_fail(s, type, a->size, "no memory for its records");
    if (!s) return HA_OK;
    if (other == a) return ha_wrap_fail(HA_ERR_ARGUMENT, type, a->size, "two pieces overlap");
    return ha_fail(s, "ha_array_wrap",
                   "%s owns some of the %zu elements of %zu bytes at %p: unwrap or free it first",
                   label.text, a->size, a->element, piece->data);
}

/* One more incarnation of an array that nobody knows yet. */
HA_IN_ ha_status ha_wrap_add(ha_array *a, const ha_wrapped *piece) {
    ha_memory *m = ha_resolve(piece->context)->memory;
    const size_t bytes = a->size * a->element;
    ha_incarnation *in = ha_incarnation_add(a, m);
    ha_block *block = in ? (ha_block *)HARRAY_MALLOC(sizeof *block) : NULL;
    if (!block)
        return ha_wrap_fail(HA_ERR_MEMORY, (ha_type){a->type, a->element}, a->size,
                            "no memory for its records");
    ha_status s = ha_wrap_own(a, piece, bytes);
    if (s) {
        HARRAY_FREE(block);
        return s;
    }
    *block = (ha_block){.memory = m, .data = piece->data, .bytes = bytes};
    __atomic_store_n(&in->block, block, __ATOMIC_RELEASE); /* state/owners.h may look at it */
    in->data = (char *)piece->data;
    in->capacity = a->size;
    in->wrapped = HA_CALLERS | (piece->flags & (HA_WRAP_CONST | HA_WRAP_COPIED_));
    if (!(piece->flags & HA_WRAP_UNWRITTEN)) ha_set_add(&in->valid, (ha_range){0, a->size});
    ha_debug_wrap(a, in);
    return HA_OK;
}

/* Readers pass, writers meet this. */
HA_IN_ void ha_wrap_read_only(ha_array *a, ha_incarnation *in) {
    if (a->read_only || !ha_is_const(in)) return;
    ha_lock(a); /* who finds a memory full looks who uses it (state/keepers.h) */
    a->holder[a->holders++] = (ha_holder){.ticket = ++a->tickets,
                                          .range = HA_WHOLE_,
                                          .context = ha_memory_context(in->memory),
                                          .site = ha_from("ha_array_wrap")};
    a->read_only = 1;
    ha_unlock(a);
}

HA_IN_ ha_status ha_wrap_make(ha_type type, size_t n, const ha_wrapped *pieces, size_t count,
                              ha_array **out) {
    size_t bytes;
    ha_status s = ha_enter("ha_array_wrap");
    if (s) return s;
    const char *objection = ha_wrap_objection(type, n, pieces, count);
    if (objection) return ha_wrap_fail(HA_ERR_ARGUMENT, type, n, objection);
    if (__builtin_mul_overflow(n, type.size, &bytes) || bytes > PTRDIFF_MAX)
        return ha_wrap_fail(HA_ERR_MEMORY, type, n, "their bytes overflow");
    ha_array *a = ha_array_make(type, ha_resolve(pieces[0].context));
    if (!a) return ha_wrap_fail(HA_ERR_MEMORY, type, n, "no memory for one more array");
    ha_lock(a); /* a report may look at it: it may be watched */
    a->wrapped = n;
    ha_set_size(a, n);
    ha_unlock(a);
    for (size_t i = 0; i < count && n && !s; i++) s = ha_wrap_add(a, &pieces[i]);
    for (ha_incarnation *in = NULL; !s && (in = ha_next_wrapped(a, in));) ha_wrap_read_only(a, in);
    *out = a;
    if (!s) return HA_OK;
    ha_wrap_leave(a);
    ha_array_destroy(a);
    return s;
}

ha_array *ha_array_wrap(ha_type type, size_t n, const ha_wrapped *pieces, size_t count) {
    HA_TELLS_EVENTS_;
    ha_array *a;
    return ha_wrap_make(type, n, pieces, count, &a) ? NULL : a;
}

ha_status ha_array_set_release(ha_array *a, void (*release)(void *user), void *user) {
    static const char operation[] = "ha_array_set_release";
    ha_status s = ha_enter_briefly(operation);
    if (s) return s;
    if (!a || !release)
        return ha_fail(HA_ERR_ARGUMENT, operation, "%s: no array, or no function", operation);
    if (ha_was_freed(a, operation)) return HA_ERR_STATE;
    ha_lock(a);
    int first = !a->release;
    if (first) {
        a->release = release;
        a->release_user = user;
    }
    ha_unlock(a);
    if (first) return HA_OK;
    return ha_fail(HA_ERR_STATE, operation, "array %s has one already", ha_label_of(a).text);
}

/* ---- syncing ------------------------------------------------------------------------------- */

/* What an opening does for a sync: moves what there is to the caller's memory, and waits until it
 * has arrived, also on a device. */
HA_IN_ ha_status ha_opening_sync(ha_opening *o, ha_attempt *attempt) {
    ha_status s = ha_opening_fetch(o, attempt);
    if (s || !o->in) return s;
    o->never = ha_set_first_in(&o->array->lost, o->need);
    if (!ha_is_empty(o->never)) return HA_ERR_LOST;
    o->trouble = "waiting for work that writes it failed";
    s = ha_come_after(o->array, o->in, o->need, 0, ha_host(), attempt);
    return s ? s : ha_opening_trust(o);
}

/* As a read that is open while it moves and waits. */
HA_IN_ ha_status ha_wrap_sync(ha_array *a, const char *operation, const char *site) {
    ha_status s = HA_OK;
    for (ha_incarnation *in = NULL; !s && (in = ha_next_wrapped(a, in));) {
        ha_opening o = {.array = a,
                        .context = ha_memory_queue(in->memory),
                        .operation = operation,
                        .site = site,
                        .mode = HA_READ,
                        .range = HA_WHOLE_};
        if (ha_is_const(in) || (s = ha_opening_start(&o, 0, ha_opening_sync))) continue;
        ha_set_free(&o.brought);
        ha_admit_end(a, o.ticket);
        ha_taking_end();
    }
    return s;
}

ha_status ha_sync_(ha_array *a, const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    ha_status s = ha_open_refuse(a, HA_READ, "ha_sync", site);
    if (!s) s = ha_wrap_sync(a, "ha_sync", site);
    if (!s) ha_debug_synced(a, 1);
    return s;
}

/* ---- the end ------------------------------------------------------------------------------- */

/* Claimed. Whether a piece has every value that there is, and nothing more is on its way there.
 * What is lost is for the sync to tell. */
HA_IN_ int ha_wrap_is_synced(ha_array *a, ha_incarnation *in) {
    ha_range all = {0, a->size};
    ha_timepoint p = {NULL, 0};
    int synced = !ha_set_overlaps(&a->lost, all);
    for (const ha_incarnation *other = &a->first; other; other = other->next)
        for (uint32_t i = 0; i < other->valid.n; i++)
            synced &= ha_set_contains(&in->valid, ha_set_ranges(&other->valid)[i]);
    return synced && !ha_next_conflict(a, in, all, 0, NULL, &p);
}

/* Claimed. Whether a queue still works with a piece, also behind the end: up to *p at least. */
HA_IN_ int ha_wrap_is_used(ha_array *a, ha_incarnation *in, ha_timepoint *p) {
    *p = (ha_timepoint){NULL, 0};
    while (ha_next_conflict(a, in, HA_WHOLE_, 1, NULL, p))
        if (!ha_passed(p->queue, p->seq)) return 1;
    return 0;
}

typedef enum ha_wrap_state { HA_WRAP_STALE, HA_WRAP_USED, HA_WRAP_FREE } ha_wrap_state;

/* Claimed. USED: up to *p at least. wanted: the values are. */
HA_IN_ ha_wrap_state ha_wrap_look(ha_array *a, int wanted, ha_timepoint *p) {
    ha_wrap_state state = HA_WRAP_FREE;
    for (ha_incarnation *in = NULL; (in = ha_next_wrapped(a, in));) {
        if (wanted && !ha_is_const(in) && !ha_wrap_is_synced(a, in)) return HA_WRAP_STALE;
        if (state == HA_WRAP_FREE && ha_wrap_is_used(a, in, p)) state = HA_WRAP_USED;
    }
    return state;
}

/* Waits, whatever it takes. */
HA_IN_ void ha_wrap_drain(ha_array *a) {
    for (ha_incarnation *in = NULL; (in = ha_next_wrapped(a, in));)
        for (ha_timepoint p = {NULL, 0}; ha_next_conflict(a, in, HA_WHOLE_, 1, NULL, &p);)
            ha_drain(p);
}

/* The array for its only owner. Who still waits for it would wait for nothing. */
HA_IN_ ha_status ha_wrap_claim(ha_array *a, const char *operation, const char *site) {
    ha_status s = ha_claim(a, operation);
    if (s) return s;
    uint64_t owners = __atomic_load_n(&a->references, __ATOMIC_ACQUIRE);
    ha_lock(a);
    uint32_t waiters = a->waiters & HA_WAITING;
    ha_unlock(a);
    if (owners == 1 && !waiters) return HA_OK;
    ha_busy_end(a);
    if (waiters)
        return ha_fail(HA_ERR_CONFLICT, operation, "%s: %s: another thread is about to use it",
                       site, ha_subject_of(a).text);
    return ha_fail(HA_ERR_STATE, operation, "%s: array %s has %llu owners: it is not freed yet",
                   site, ha_label_of(a).text, (unsigned long long)owners);
}

/* Syncs, if the values are wanted, and claims the array for its end: no queue uses it any more. In between
 * nothing is held while the host waits. A queue that cannot tell how far it is is drained. */
HA_IN_ ha_status ha_wrap_claim_end(ha_array *a, int wanted, const char *operation,
                                   const char *site) {
    ha_timepoint p;
    int can_tell = 1;
    for (;;) {
        ha_status s = ha_wrap_claim(a, operation, site);
        if (s) return s;
        ha_wrap_state state = ha_wrap_look(a, wanted, &p);
        if (state == HA_WRAP_FREE || (state == HA_WRAP_USED && !can_tell)) break;
        ha_busy_end(a);
        if (state == HA_WRAP_STALE && (s = ha_wrap_sync(a, operation, site))) return s;
        if (state == HA_WRAP_USED) can_tell = ha_wait_past(p, site) == HA_OK;
        if (!can_tell) ha_forget_note();
    }
    ha_wrap_drain(a);
    return HA_OK;
}

/* The array is claimed for its end, and ends. What is the caller's of its memory is theirs alone again. */
HA_IN_ void ha_wrap_hand_back(ha_array *a) {
    ha_wrap_leave(a);
    ha_array_end(a);
}

HA_IN_ ha_status ha_wrap_end(ha_array *a, int wanted, const char *operation, const char *site) {
    ha_status s = ha_wrap_claim_end(a, wanted, operation, site);
    if (!s) ha_wrap_hand_back(a);
    return s;
}

ha_status ha_unwrap_(ha_array *a, const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    ha_status s = a ? ha_enter("ha_unwrap") : HA_OK;
    if (s || !a) return s;
    if (ha_was_freed(a, "ha_unwrap")) return HA_ERR_STATE;
    if (a->wrapped || !ha_array_size(a)) {
        (void)ha_id_hide(a); /* where there are other owners it does not end */
        if ((s = ha_wrap_end(a, 1, "ha_unwrap", site))) ha_id_show(a);
        return s;
    }
    return ha_fail(HA_ERR_STATE, "ha_unwrap",
                   "%s: array %s wraps nothing: its values would be lost; ha_array_free frees it",
                   site, ha_label_of(a).text);
}

#endif
