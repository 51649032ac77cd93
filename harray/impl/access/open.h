/* Opening and closing: the fast path, and the way to the slow one.
 *
 * The budget of the fast path is 7 times a bare lock and unlock for open and close together, 10 on
 * a device. It takes two locks, so what stands here is all it may do: anything else (statistics,
 * traces, checks for debugging) belongs into opening.h, behind a condition that is already
 * there. */
#ifndef HARRAY_IMPL_ACCESS_OPEN_H
#define HARRAY_IMPL_ACCESS_OPEN_H

#include "opening.h"
#include "run.h"

/* gcc would call them: with two callers they look big. */
#define HA_FAST_ __attribute__((always_inline)) static inline

/* Takes numbers instead of a range: that compilers would put together also where this is not called. */
HA_NOINLINE_ HA_IN_ int ha_set_has(const ha_set *set, size_t first, size_t last) {
    return ha_set_contains(set, (ha_range){first, last});
}

static inline int ha_all_valid(const ha_set *valid, ha_range r) {
    if (valid->n == 1) {
        return ha_covers(valid->grid, *ha_set_ranges(valid), r);
    }
    return valid->n && ha_set_has(valid, r.first, r.last);
}

/* Whether an access would have to wait for an operation of another queue. */
static inline int ha_has_conflict(ha_ops *ops, ha_range r, int write, const ha_context *c) {
    const ha_operation *list = ha_ops_list(ops);
    for (uint32_t i = 0; i < ops->n; i++)
        if (list[i].at.queue != c && ha_conflicts(ops->grid, &list[i], r, write)) return 1;
    return 0;
}

/* Whether another access is in the way. This thread's own reads at this context are not. */
static inline int ha_is_held(const ha_array *a, const ha_context *c, ha_range locked, int write)
    HA_REQUIRES_(a->lock) {
    for (uint32_t i = 0; i < a->holders; i++) {
        const ha_holder *h = &a->holder[i];
        if (!(h->writes | write) || !ha_overlap(a->grid, h->range, locked)) continue;
        if (h->writes || h->context != c || h->thread != ha_self.id) return 1;
    }
    return 0;
}

/* Whether r is valid in another incarnation, too. */
static inline int ha_is_elsewhere(const ha_array *a, const ha_incarnation *in, ha_range r)
    HA_REQUIRES_(a->lock) {
    for (const ha_incarnation *other = &a->first; other; other = other->next)
        if (other != in && other->valid.n && ha_set_overlaps(&other->valid, r)) return 1;
    return 0;
}

/* Whether anybody or anything is in the way of an access that starts from there. On its own, as mostly there is nothing
 * to look at. */
HA_NOINLINE_ HA_IN_ int ha_is_in_the_way(const ha_array *a, ha_incarnation *in, const ha_context *c,
                                         size_t first, size_t last, int write)
    HA_REQUIRES_(a->lock) {
    const ha_range locked = {first, last}, r = {first, last == HA_END ? a->size : last};
    if (ha_has_conflict(&in->ops, locked, write, c)) return 1;
    if (ha_is_held(a, c, locked, write)) return 1;
    return write && ha_is_elsewhere(a, in, r);
}

/* Nothing to move, nobody to wait for, nothing to allocate? *in: the incarnation. boxed:
 * with a grid, the ranges are boxes of it. */
HA_FAST_ int ha_is_easy(ha_array *a, const ha_context *c, ha_range locked, ha_range r, int write,
                        int boxed, ha_incarnation **found) HA_REQUIRES_(a->lock) {
    ha_incarnation *in = a->recent;
    if (HA_DEBUGGING_ || (!boxed && a->grid)) return 0;
    if (a->busy | a->waiters) return 0;
    const ha_memory *memory = __atomic_load_n(&c->easy, __ATOMIC_RELAXED);
    if (in->memory != memory && !(in = ha_incarnation_find(a, memory))) return 0;
    *found = in;
    if (r.first >= r.last || !ha_all_valid(&in->valid, r)) return 0;
    /* A block that is still to grow after a resize grows first, if there is memory for that. */
    if (a->size > in->capacity || a->holders == a->holders_easy) return 0;
    if (c->ops && !ha_ops_has_room(&in->ops, 1)) return 0;
    if (!(in->ops.n | a->holders) && !(write && a->first.next)) return 1;
    return !ha_is_in_the_way(a, in, c, locked.first, locked.last, write);
}

/* It is easy. What the thread and the version are told, comes later. */
HA_FAST_ void ha_hold_easily(ha_access *x, ha_array *a, ha_incarnation *in, ha_context *c,
                             int write, ha_range locked, ha_range r, const char *site)
    HA_REQUIRES_(a->lock) {
    uint64_t ticket = ++a->tickets;
    char *data = in->data + r.first * a->element;
    ha_holder *h = &a->holder[a->holders++];
    h->thread = ha_self.id;
    h->ticket = ticket;
    h->range = locked;
    h->context = c;
    h->site = ha_from(site);
    h->writes = write;
    h->overwrites = 0; /* not behind other queues */
    h->on_short = 0;
    in->used = 1;
    if (c->ops) {
        in->ops.promised++;
        h->since = ha_sequence_of(c);
    }
    *x = (ha_access){data, r.last - r.first, r.first, a, c, ticket, HA_OK};
}

/* Where everything is valid, overwriting is writing. n: the size to have; HA_END: any. The thread does
 * not count it as held yet. written: by how much the version grows. */
HA_FAST_ int ha_hold_fast(ha_access *x, ha_array *a, ha_context *c, int write, ha_range locked,
                          int boxed, size_t n, uint64_t written, const char *site) {
    ha_incarnation *in;
    ha_lock(a);
    ha_range r = {locked.first, locked.last == HA_END ? a->size : locked.last};
    if ((n != HA_END && n != a->size) || !ha_is_easy(a, c, locked, r, write, boxed, &in)) {
        ha_unlock(a);
        return 0;
    }
    ha_hold_easily(x, a, in, c, write, locked, r, site);
    a->recent = in;
    a->version += written;
    ha_unlock(a);
    return 1;
}

HA_FAST_ int ha_open_fast(ha_access *x, ha_array *a, ha_context *c, int write, ha_range locked,
                          int boxed, size_t n, const char *site) {
    const int held = ha_hold_fast(x, a, c, write, locked, boxed, n, (uint64_t)write, site);
    ha_self.held += (uint64_t)held;
    return held;
}

HA_IN_ ha_status ha_no_access(const char *operation) {
    return ha_fail(HA_ERR_ARGUMENT, operation, "%s: no access: the pointer to it is NULL",
                   operation);
}

enum { HA_LOW_HOW_ = (1 << HA_BYTES_SHIFT_) - 1 };

/* Are the elements that the access points to as long as the array's? */
HA_FAST_ int ha_bytes_fit(const ha_array *a, unsigned how) {
    return how >> HA_BYTES_SHIFT_ == 0 || how >> HA_BYTES_SHIFT_ == a->element;
}

/* No array, a forked process, a queued function: what can be said before looking at the array. */
HA_IN_ ha_status ha_open_refuse(const ha_array *a, unsigned how, const char *operation,
                                const char *site) {
    ha_status s = ha_enter(operation);
    if (s) return s;
    if (!a) return ha_fail(HA_ERR_ARGUMENT, operation, "%s: %s: no array", site, operation);
    ha_array *const array = ha_lockable(a);
    if (ha_is_freed(a)) return ha_fail_freed(array, operation, site);
    if (!ha_bytes_fit(a, how))
        return ha_fail(HA_ERR_ARGUMENT, operation,
                       "%s: array %s: its elements have %zu bytes, those of the access %u", site,
                       ha_label_of(array).text, a->element, how >> HA_BYTES_SHIFT_);
    how &= HA_LOW_HOW_;
    if (how & HA_READS_ONLY_)
        return ha_fail(
            HA_ERR_ARGUMENT, operation,
            "%s: array %s: the access is of a type to read (ha_read_...), or the array is "
            "one (harray_T_const), and was to be opened for writing",
            site, ha_label_of(array).text);
    if ((how & ~(unsigned)HA_TRY) > HA_OVERWRITE)
        return ha_fail(HA_ERR_ARGUMENT, operation, "%s: no way to open: %u", site, how);
    return HA_OK;
}

/* On its own, so that the fast path needs no room for an opening. */
HA_NOINLINE_ HA_IN_ ha_status ha_open_slow(ha_access *x, ha_array *a, ha_context *c, unsigned how,
                                           ha_range range, size_t n, const char *site) {
    site = ha_from(site);
    ha_opening o = {.array = a,
                    .context = c,
                    .operation = n == HA_END ? "ha_open" : "ha_overwrite",
                    .site = site,
                    .mode = how & HA_LOW_HOW_ & ~(unsigned)HA_TRY,
                    .range = range,
                    .sets_size = n != HA_END,
                    .size = n,
                    .for_user = 1};
    HA_TELLS_EVENTS_;
    if (!x) return ha_no_access(o.operation);
    memset(x, 0, sizeof *x);
    ha_status s = ha_open_refuse(a, how, o.operation, site);
    if (!s) s = ha_opening_begin(&o, (how & HA_TRY) != 0);
    if (s) return x->status = s;
    ha_opening_commit(&o, x);
    return HA_OK;
}

ha_status ha_open_(ha_access *x, ha_array *a, ha_context *c, unsigned how, size_t first,
                   size_t last, const char *site) {
    HA_MAY_WAIT_();
    unsigned mode = how & HA_LOW_HOW_ & ~(unsigned)HA_TRY;
    ha_range range = {first, last};
    c = ha_resolve(c);
    if (a && x && ha_self.id && mode <= HA_OVERWRITE && ha_bytes_fit(a, how) &&
        ha_open_fast(x, a, c, mode != HA_READ, range, ha_is_whole(range), HA_END, site))
        return HA_OK;
    return ha_open_slow(x, a, c, how, range, HA_END, site);
}

ha_status ha_overwrite_(ha_access *x, ha_array *a, ha_context *c, size_t n, unsigned how,
                        const char *site) {
    HA_MAY_WAIT_();
    c = ha_resolve(c);
    if (n == HA_END) n--; /* never fits; HA_END itself means: keep the size */
    if (a && x && ha_self.id && !(how & HA_LOW_HOW_ & ~(unsigned)HA_TRY) && ha_bytes_fit(a, how) &&
        ha_open_fast(x, a, c, 1, HA_WHOLE_, 1, n, site))
        return HA_OK;
    return ha_open_slow(x, a, c, how | HA_OVERWRITE, HA_WHOLE_, n, site);
}

/* ---- closing ------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_fail_closed(const char *operation, ha_array *a, int foreign) {
    if (!a) return ha_fail(HA_ERR_STATE, operation, "%s: the access is not open", operation);
    return ha_fail(HA_ERR_STATE, operation, "array %s: %s", ha_label_of(a).text,
                   foreign ? "another thread holds the access; ha_move it to this one first"
                           : "the access was closed, moved or detached before");
}

/* The holder of an access; NULL when it was closed or detached. */
HA_IN_ ha_holder *ha_access_find(ha_array *a, uint64_t ticket) HA_REQUIRES_(a->lock) {
    ha_holder *h = ha_holder_find(a, ticket);
    return h && h->thread & HA_TOKEN_ ? NULL : h;
}

/* The device may still work on what the access covered: on all that it ever covered, for
 * it may have been resized. */
HA_NOINLINE_ HA_IN_ void ha_note_access(ha_array *a, const ha_holder *h) HA_REQUIRES_(a->lock) {
    ha_incarnation *in = a->recent;
    if (ha_is_empty(h->range)) return;
    if (in->memory != h->context->memory) in = ha_incarnation_find(a, h->context->memory);
    in->ops.promised--;
    ha_note_closed(&in->ops, h, ha_sequence_of(h->context));
}

static inline ha_status ha_close_end(ha_access *x) {
    ha_self.held -= ha_self.held > 0;
    x->data = NULL;
    x->size = 0;
    x->array = NULL;
    return HA_OK;
}

/* Drops the lock. Takes a holder away, where somebody may wait, or watch. The array may be
 * gone when it is unlocked. */
HA_IN_ void ha_holder_end(ha_array *a, ha_holder *h) HA_RELEASE_(a->lock) {
    uint32_t waiters = a->waiters & HA_WAITING;
    int watched = a->watched != NULL;
    ha_holder closed = *h;
    ha_array_snapshot snapshot;
    ha_holder_take_out(a, h);
    ha_array_snapshot_access(a, &snapshot, closed.range);
    ha_unlock(a);
    if (waiters) ha_wake(a);
    if (watched) ha_on_access(HA_EVENT_CLOSE, a, &snapshot, &closed);
}

HA_NOINLINE_ HA_IN_ ha_status ha_close_slow(ha_access *x, ha_array *a, ha_holder *h)
    HA_RELEASE_(a->lock) {
    HA_TELLS_EVENTS_;
    ha_holder_end(a, h);
    return ha_close_end(x);
}

/* Why it is no access of this thread. */
HA_NOINLINE_ HA_IN_ ha_status ha_close_refuse(ha_access *x) {
    const ha_status s = ha_enter("ha_close");
    if (s) return s;
    if (!x) return ha_no_access("ha_close");
    ha_array *a = x->array;
    if (!a) return ha_fail_closed("ha_close", a, 0);
    ha_lock(a);
    const int foreign = ha_access_find(a, x->ticket) != NULL;
    ha_unlock(a);
    return ha_fail_closed("ha_close", a, foreign);
}

ha_status ha_close_(ha_access *x) {
    HA_MAY_WAIT_();
    ha_array *a = x ? x->array : NULL;
    if (!a || !ha_self.id) return ha_close_refuse(x);
    ha_debug_close(a, x->ticket, ha_self.id, (ha_timepoint){NULL, 0});
    ha_lock(a);
    ha_holder *h = ha_holder_find(a, x->ticket);
    if (!h || h->thread != ha_self.id) {
        ha_unlock(a);
        return ha_close_refuse(x);
    }
    if (h->context->ops) ha_note_access(a, h);
    if (a->waiters) return ha_close_slow(x, a, h);
    const ha_holder *last = &a->holder[--a->holders];
    if (h != last) *h = *last; /* usually it is: then copying it onto itself would cost */
    ha_unlock(a);
    return ha_close_end(x);
}

void ha_close_scope_(void *access) {
    ha_access *x = (ha_access *)access;
    if (x->array) (void)ha_close_(x);
}

/* Whether an access of another thread must not become this one's: that has more open on the same
 * elements, and one of both writes them. *beside: what that is. */
HA_IN_ int ha_stays_beside(const ha_array *a, const ha_holder *h, ha_holder *beside)
    HA_REQUIRES_(a->lock) {
    for (const ha_holder *o = NULL; (o = ha_holder_across(a, h->range, h->writes, o));) {
        if (o == h || (o->thread & ~HA_TOKEN_) == ha_self.id || !(o->writes | h->writes)) continue;
        if (!ha_overlap(a->grid, o->range, h->range)) continue;
        *beside = *o;
        return 1;
    }
    return 0;
}

HA_IN_ ha_status ha_fail_move(ha_array *a, const ha_holder *beside) {
    return ha_fail(HA_ERR_CONFLICT, "ha_move",
                   "%s: its thread also %s the same elements, %s at %s on %s: two threads would "
                   "use them at once; close one of both first",
                   ha_subject_of(a).text, beside->writes ? "writes" : "reads", ha_came_by(beside),
                   beside->site, beside->context->name);
}

ha_status ha_move_(ha_access *to, size_t to_bytes, ha_access *from, size_t from_bytes) {
    ha_status s = ha_enter("ha_move");
    if (s) return s;
    if (!to || !from) return ha_no_access("ha_move");
    ha_array *a = from->array;
    if (to == from) return ha_fail(HA_ERR_ARGUMENT, "ha_move", "an access moved to itself");
    if (!a) return ha_fail_closed("ha_move", a, 0);
    ha_lock(a);
    ha_holder *h = ha_access_find(a, from->ticket), beside = {0};
    const uint64_t before = h ? h->thread : 0;
    if (h && before != ha_self.id && !ha_stays_beside(a, h, &beside)) h->thread = ha_self.id;
    ha_unlock(a);
    if (!h) return ha_fail_closed("ha_move", a, 0);
    if (beside.site) return ha_fail_move(a, &beside);
    if (before != ha_self.id) {
        ha_self.held++;
        ha_held_less(before);
    }
    memset(to, 0, to_bytes);
    memcpy(to, from, to_bytes == from_bytes ? to_bytes : sizeof *to); /* behind it: the span */
    memset(from, 0, from_bytes);
    from->status = HA_ERR_STATE;
    return HA_OK;
}

ha_status ha_run_(ha_function f, ha_access *x, size_t bytes, const char *name, const char *site) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter("HA_RUN");
    if (!x) return s ? s : ha_no_access("HA_RUN");
    if (!s && !x->array) s = ha_fail_closed("HA_RUN", NULL, 0);
    if (s) return x->status = s;
    s = f ? ha_enqueue_quietly(x->context, f, x, bytes, name, site) : HA_ERR_ARGUMENT;
    if (!s) return HA_OK;
    return x->status = ha_fail(s, "HA_RUN", "array %s at %s: %s", ha_label_of(x->array).text,
                               x->context->name,
                               f ? "the context did not take the function" : "no function");
}

#endif
