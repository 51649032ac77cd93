/* Opening many arrays at once: all or none.
 *
 *     begin    the arrays in order of their addresses, each with all that is asked of it at once:
 *              admit, and prepare as for one opening. Busy is dropped, the holders stay.
 *     prepare  busy of all arrays, in the same order; then each is prepared again: others may have
 *              used the array meanwhile. Usually that is quick. Who would have to wait drops all.
 *     commit   all of them; cannot fail.
 *
 * Opening a write cannot be taken back: it has made copies invalid. So all are prepared before the
 * first is committed. No deadlock comes of that: whoever has several arrays busy waits for nothing
 * but busy of a later one, and of those that open several at once, each waits only for an array
 * behind those that it holds.
 *
 * Before that, all are tried in turn on the fast path, which waits for nobody. Where it does not open one
 * of them, those before it are given back, and all begins as above. */
#ifndef HARRAY_IMPL_NDARRAY_OPEN_MANY_H
#define HARRAY_IMPL_NDARRAY_OPEN_MANY_H

#include "open_view.h"
#include "view.h"
#include "../array/all.h"

typedef struct ha_open_part {
    ha_opening opening;
    ha_lock_request request;
    ha_attempt attempt;
    ha_ops displaced;
    ha_access *access;
    size_t place; /* in the list of requests */
    int lacks;    /* values that are nowhere */
} ha_open_part;

typedef struct ha_open_set ha_open_set;
struct ha_open_set {
    const char *operation;
    ha_open_part *part; /* sorted: by array, reads first */
    size_t count;
    size_t admitted;  /* these have a holder */
    ha_open_part *at; /* the one that is worked on: when it fails, that is the one */
    /* What else has to succeed, or all is taken back: enqueues at most one thing. HA_ERR_UNSUPPORTED
     * is not told. NULL: nothing. */
    ha_status (*work)(ha_open_set *t, void *argument);
    void *argument;
    int views_checked; /* by whoever made the requests */
    int for_user;      /* the accesses are; else something is done with them here */
};

/* Requests for records: of another layer, which defines this if it is there. */
struct ha_using;
typedef struct ha_records_hooks {
    ha_status (*open)(ha_request *requests, size_t count, const char *site);
    ha_status (*close)(struct ha_records_access *access);
    ha_status (*run_with)(const struct ha_using *u); /* opens, runs, and closes */
} ha_records_hooks;
static const ha_records_hooks ha_for_records;

/* ---- the requests -------------------------------------------------------------------------- */

HA_IN_ const char *ha_request_site(const ha_request *r, const char *site) {
    return r->site_ ? r->site_ : site;
}

HA_IN_ ha_array *ha_request_array(const ha_request *r) {
    return r->view ? r->view->array : r->array;
}

HA_IN_ ha_status ha_request_refuse(const ha_open_set *t, const ha_request *r, const char *site) {
    const char *const operation = t->operation;
    site = ha_request_site(r, site);
    ha_status s = ha_open_refuse(ha_request_array(r), r->how, operation, site);
    if (!s && r->view && !t->views_checked)
        s = ha_view_check_opened(r->view, r->how, operation, site);
    int whole = !r->view && r->first == 0 && (r->last == 0 || r->last == HA_END);
    if (s || !r->sets_size || ((r->how & ~(unsigned)HA_TRY) == HA_OVERWRITE && whole)) return s;
    return ha_fail(HA_ERR_ARGUMENT, operation,
                   "%s: array %s: only overwriting the whole can set its size", site,
                   ha_label_of(ha_request_array(r)).text);
}

/* Zeroes the accesses; refuses lists where one is missing or stands twice: each leaves its number
 * in its access, and has to find it there. */
HA_IN_ ha_status ha_requests_clear(const ha_request *r, size_t count, const char *operation,
                                   const char *site) {
    size_t lost = 0;
    for (size_t i = 0; i < count; i++)
        if (!r[i].access) return ha_fail(HA_ERR_ARGUMENT, operation, "%s: no access", site);
    for (size_t i = 0; i < count; i++) {
        memset(r[i].access, 0, sizeof *r[i].access);
        r[i].access->status = HA_ERR_STATE;
        r[i].access->ticket = i;
    }
    for (size_t i = 0; i < count; i++) lost += r[i].access->ticket != i;
    for (size_t i = 0; i < count; i++) r[i].access->ticket = 0;
    if (!lost) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, operation, "%s: an access is in the list twice", site);
}

HA_IN_ ha_open_part ha_part_of(const ha_request *r, size_t place, const char *operation,
                               const char *site) {
    site = ha_request_site(r, site);
    ha_opening o = {.array = ha_request_array(r),
                    .context = ha_resolve(r->context),
                    .operation = operation,
                    .site = site,
                    .mode = r->how & ~(unsigned)HA_TRY,
                    .updates = r->updates_,
                    .range = {r->first, r->last}};
    if (r->view) ha_opening_view(&o, r->view);
    if (r->sets_size) {
        o.range = HA_WHOLE_;
        o.sets_size = 1;
        o.size = r->n;
    }
    return (ha_open_part){
        .opening = o, .attempt = {.site = site}, .access = r->access, .place = place};
}

HA_IN_ int ha_part_compare(const void *first, const void *second) {
    const ha_open_part *x = (const ha_open_part *)first, *y = (const ha_open_part *)second;
    uintptr_t a = (uintptr_t)x->opening.array, b = (uintptr_t)y->opening.array;
    int reads = ha_opening_writes(&x->opening), writes = ha_opening_writes(&y->opening);
    if (a != b) return a < b ? -1 : 1;
    if (reads != writes) return reads - writes;
    return x->place < y->place ? -1 : 1;
}

/* t->part, to be freed in any case. */
HA_IN_ ha_status ha_open_many_make(ha_open_set *t, const ha_request *r, size_t count,
                                   const char *site) {
    size_t bytes;
    if (!__builtin_mul_overflow(count, sizeof *t->part, &bytes) && bytes <= PTRDIFF_MAX)
        t->part = (ha_open_part *)HARRAY_MALLOC(bytes);
    if (!t->part)
        return ha_fail(HA_ERR_MEMORY, t->operation, "%s: no memory to open %zu arrays, %s first",
                       site, count, ha_label_of(ha_request_array(&r[0])).text);
    for (size_t i = 0; i < count; i++) t->part[i] = ha_part_of(&r[i], i, t->operation, site);
    qsort(t->part, count, sizeof *t->part, ha_part_compare);
    t->count = count;
    return HA_OK;
}

/* ---- begin --------------------------------------------------------------------------------- */

/* Behind the last part of the same array. */
HA_IN_ size_t ha_group_end(const ha_open_set *t, size_t first) {
    size_t end = first + 1;
    while (end < t->count && t->part[end].opening.array == t->part[first].opening.array) end++;
    return end;
}

/* All that is asked of one array is admitted at once: two threads that both want to read it and
 * then to write it would else wait for each other. */
HA_IN_ ha_status ha_group_admit(ha_open_set *t, size_t first, size_t end, int trying) {
    ha_open_part *part = t->part;
    const ha_lock_request *refused = NULL;
    ha_lock_request moves = {.moves = NULL};
    uint64_t ticket = 0; /* none, where that was refused */
    for (size_t i = end; i-- > first;) {
        part[i].request = ha_opening_lock_request(&part[i].opening);
        part[i].request.next = i + 1 < end ? &part[i + 1].request : NULL;
        part[i].opening.peers = (uint32_t)(end - first - 1);
        /* Judged before its peers are in place, which may stay. */
        if (part[i].request.moves) moves = part[i].request;
        part[i].request.moves = i == first ? moves.moves : NULL;
        part[i].request.moved = moves.moved;
        part[i].request.widens = moves.widens;
    }
    ha_status s = ha_admit_all(part[first].opening.array, &part[first].request, trying,
                               t->operation, &ticket, &refused);
    for (size_t i = first; i < end; i++) {
        if (&part[i].request == refused) t->at = &part[i];
        part[i].opening.ticket = ticket + i - first;
        part[i].opening.group = ticket;
    }
    return s;
}

/* Told at once, with what the backend said about it; the handler hears of it when all is undone. */
HA_IN_ ha_status ha_open_many_fail(const ha_open_set *t, ha_status s) {
    return s == HA_RETRY_ALONE_ || s == HA_RETRY_ROOM_ ? s : ha_opening_fail(&t->at->opening, s);
}

/* Busy. Whether a part of a record array asks for what is valid nowhere. No memory to find out:
 * then not. */
HA_IN_ int ha_part_lacks(const ha_open_part *part) {
    const ha_opening *o = &part->opening;
    const ha_array *a = o->array;
    ha_set missing = {.grid = a->grid};
    if (!a->ops || !a->grid || o->mode == HA_OVERWRITE || ha_is_empty(o->range)) return 0;
    ha_status s = ha_set_put(&missing, o->range);
    for (const ha_incarnation *in = &a->first; in; in = in->next) {
        const ha_set *valid = &in->valid;
        for (uint32_t i = ha_set_find_in(valid, o->range); i < valid->n && !s;
             i = ha_set_next_in(valid, o->range, i))
            s = ha_set_drop(&missing, ha_set_ranges(valid)[i]);
    }
    const int lacks = !s && missing.n;
    ha_set_free(&missing);
    return lacks;
}

/* Admitted. Parts of record arrays that may be refused for what was never written are the first, so
 * that nothing has moved then. */
HA_IN_ ha_status ha_group_prepare(ha_open_set *t, size_t first, size_t end) {
    ha_status s = HA_OK;
    for (size_t i = first; i < end; i++)
        t->part[i].lacks = end - first > 1 && ha_part_lacks(&t->part[i]);
    for (int lacks = 1; lacks >= 0; lacks--)
        for (size_t i = first; i < end && !s; i++) {
            if (t->part[i].lacks != lacks) continue;
            t->at = &t->part[i];
            s = ha_opening_work(&t->part[i].opening, ha_opening_prepare);
        }
    return s;
}

HA_IN_ ha_status ha_group_begin(ha_open_set *t, size_t first, size_t end, int trying) {
    ha_status s = ha_group_admit(t, first, end, trying);
    if (s) return s;
    t->admitted = end;
    ha_self.held += end - first; /* it must not queue behind a writer that waits for these */
    s = ha_group_prepare(t, first, end);
    ha_busy_end(t->part[first].opening.array);
    return s ? ha_open_many_fail(t, s) : HA_OK;
}

HA_IN_ ha_status ha_open_many_begin(ha_open_set *t, int trying) {
    ha_status s = HA_OK;
    for (size_t first = 0, end; first < t->count && !s; first = end) {
        end = ha_group_end(t, first);
        s = ha_group_begin(t, first, end, trying);
    }
    ha_self.held -= t->admitted;
    return s;
}

/* ---- boxes ---------------------------------------------------------------------------------- */

/* Whether a set is another one when a part is committed. */
HA_IN_ int ha_part_changes(const ha_open_part *part, const ha_set *set) {
    const ha_opening *o = &part->opening;
    if (!ha_opening_writes(o)) return 0;
    return set == &o->in->valid ? ha_set_growth(set, o->need, 1) > 0
                                : ha_set_overlaps(set, o->need);
}

/* How many ranges a set may have while these parts are committed, one after the other. A copy of the set
 * shows it; mostly none of them changes it. */
HA_IN_ ha_status ha_group_rehearse(const ha_open_part *part, size_t n, ha_set *set, size_t *most) {
    ha_set trial = {0};
    size_t i = 0;
    *most = set->n;
    while (i < n && !ha_part_changes(&part[i], set)) i++;
    if (i == n) return HA_OK;
    ha_status s = ha_set_copy(&trial, set);
    for (; i < n && !s; i++) {
        const ha_opening *o = &part[i].opening;
        const int adding = set == &o->in->valid;
        if (!ha_opening_writes(o)) continue;
        const size_t peak = trial.n + ha_set_growth(&trial, o->need, adding);
        if (peak > *most) *most = peak;
        s = adding ? ha_set_put(&trial, o->need) : ha_set_drop(&trial, o->need);
    }
    ha_set_free(&trial);
    return s;
}

HA_IN_ ha_status ha_group_reserve_set(ha_open_part *part, size_t n, ha_set *set) {
    size_t most;
    ha_status s = ha_group_rehearse(part, n, set, &most);
    return s ? s : ha_set_reserve(part->opening.array, set, most - set->n);
}

/* Several writes to one array cut its boxes one after the other: so the room that all of them need
 * is more than what each has reserved for itself. All are prepared. */
HA_IN_ ha_status ha_group_reserve(ha_open_set *t, size_t first, size_t end) {
    ha_array *a = t->part[first].opening.array;
    t->at = &t->part[first];
    t->at->opening.trouble = "no memory for its records";
    ha_status s = ha_group_reserve_set(&t->part[first], end - first, &a->lost);
    for (ha_incarnation *in = &a->first; in && !s; in = in->next)
        s = ha_group_reserve_set(&t->part[first], end - first, &in->valid);
    return s;
}

HA_IN_ ha_status ha_open_many_reserve(ha_open_set *t) {
    ha_status s = HA_OK;
    for (size_t first = 0, end; first < t->count && !s; first = end) {
        end = ha_group_end(t, first);
        if (t->part[first].opening.array->grid && end - first > 1)
            s = ha_group_reserve(t, first, end);
    }
    return s;
}

/* ---- prepare, commit, abort ---------------------------------------------------------------- */

HA_IN_ void ha_open_many_busy(const ha_open_set *t) {
    for (size_t i = 0; i < t->count; i = ha_group_end(t, i))
        (void)ha_busy_begin(t->part[i].opening.array, 0, NULL);
}

HA_IN_ void ha_open_many_idle(const ha_open_set *t) {
    for (size_t i = 0; i < t->count; i = ha_group_end(t, i)) ha_busy_end(t->part[i].opening.array);
}

/* Waits for what one part has to wait for. The others keep no chunks: two threads might each wait
 * for those of the other one. */
HA_IN_ ha_status ha_open_many_wait(ha_open_set *t) {
    for (size_t i = 0; i < t->count; i++)
        if (&t->part[i] != t->at) ha_attempt_end(&t->part[i].attempt);
    return ha_attempt_wait(&t->at->attempt);
}

/* HA_OK: nothing more to wait for, and all are busy. */
HA_IN_ ha_status ha_open_many_prepare(ha_open_set *t) {
    ha_status s;
    do {
        s = HA_OK;
        ha_open_many_busy(t);
        for (size_t i = 0; i < t->count && !s; i++) {
            t->at = &t->part[i];
            s = ha_opening_prepare(&t->part[i].opening, &t->part[i].attempt);
        }
        if (!s) s = ha_open_many_reserve(t);
        if (!s) return HA_OK;
        ha_open_many_idle(t);
    } while (s == HA_RETRY_ && !(s = ha_open_many_wait(t)));
    if (ha_attempt_awaits(&t->at->attempt, s, &t->at->opening.short_of)) s = HA_RETRY_ROOM_;
    return ha_open_many_fail(t, s);
}

HA_IN_ void ha_open_many_commit(ha_open_set *t) {
    for (size_t i = 0; i < t->count; i++) t->part[i].opening.for_user = t->for_user;
    for (size_t i = 0; i < t->count; i++)
        ha_opening_grant(&t->part[i].opening, t->part[i].access, &t->part[i].displaced);
    ha_open_many_idle(t);
    for (size_t i = 0; i < t->count; i++)
        ha_opening_settle(&t->part[i].opening, &t->part[i].displaced);
}

/* The last first, as each may stand on what the ones before it have brought. */
HA_IN_ void ha_open_many_abort(ha_open_set *t) {
    while (t->admitted) {
        ha_array *a = t->part[t->admitted - 1].opening.array;
        (void)ha_busy_begin(a, 0, NULL);
        for (; t->admitted && t->part[t->admitted - 1].opening.array == a; t->admitted--) {
            ha_opening *o = &t->part[t->admitted - 1].opening;
            ha_opening_undo(o);
            ha_holder_remove(a, o->ticket);
        }
        ha_busy_end(a);
    }
}

/* All are prepared, and busy. */
HA_IN_ ha_status ha_open_many_work(ha_open_set *t) {
    ha_status s = t->work ? t->work(t, t->argument) : HA_OK;
    if (!s) return HA_OK;
    ha_open_many_idle(t);
    return s == HA_ERR_UNSUPPORTED ? s : ha_open_many_fail(t, s);
}

HA_IN_ ha_status ha_open_many_try(ha_open_set *t, int trying) {
    ha_status s = ha_open_many_begin(t, trying);
    HA_TAKES_MEMORY_;
    if (!s) s = ha_open_many_prepare(t);
    if (!s) s = ha_open_many_work(t);
    if (s)
        ha_open_many_abort(t);
    else
        ha_open_many_commit(t);
    for (size_t i = 0; i < t->count; i++) ha_attempt_end(&t->part[i].attempt);
    return s;
}

/* Aborted, for memory, or for a block that has to be exchanged and was in use. What was to be exchanged in this array
 * before that has gone. */
HA_IN_ void ha_open_many_renew(ha_open_set *t) {
    for (size_t i = 0; i < t->count; i++) {
        ha_opening *o = &t->part[i].opening;
        if (o != &t->at->opening && o->array == t->at->opening.array) o->moved = NULL;
        t->part[i].attempt = (ha_attempt){.site = o->site, .may_wait = o->may_wait};
        ha_opening_renew(&t->part[i].opening);
    }
}

HA_IN_ ha_status ha_open_many_target(ha_open_set *t) {
    ha_status s = HA_OK;
    for (size_t i = 0; i < t->count && !s; i++) {
        t->at = &t->part[i];
        s = ha_opening_target(&t->part[i].opening);
    }
    return s ? ha_open_many_fail(t, s) : HA_OK;
}

/* The bytes of the block that a part needs; 0: another one before it needs the same, it is the caller's, or that is not
 * known. */
HA_IN_ size_t ha_part_bytes(const ha_open_set *t, size_t at) {
    const ha_opening *o = &t->part[at].opening;
    const ha_memory *m = o->context->memory;
    ha_array *a = o->array;
    size_t bytes = 0;
    for (size_t i = at; i > 0 && t->part[i - 1].opening.array == a; i--)
        if (t->part[i - 1].opening.context->memory == m) return 0;
    ha_lock(a);
    const ha_incarnation *in = ha_incarnation_find(a, m);
    const int wrapped = in && in->wrapped;
    const size_t size = o->sets_size ? o->size : a->size;
    ha_unlock(a);
    if (wrapped) return 0;
    if (a->ops) return a->ops->block_bytes(a, o->context->memory, &bytes) ? 0 : bytes;
    return ha_block_bytes(a, size, &bytes) ? bytes : 0;
}

/* Whether all that is to be opened at part `at`'s memory fits there at once: what never does is refused before anything
 * has given way. */
HA_IN_ ha_status ha_open_many_fits_at(ha_open_set *t, size_t at) {
    ha_memory *m = t->part[at].opening.context->memory;
    const uint64_t most = m->primary ? ha_memory_most(m)
                                     : UINT64_MAX; /* the host has pinned memory, too */
    uint64_t sum = 0;
    size_t arrays = 0, largest = at;
    for (size_t i = 0; i < t->count && most < UINT64_MAX; i++) {
        if (t->part[i].opening.context->memory != m) continue;
        const size_t bytes = ha_part_bytes(t, i);
        if (bytes > ha_part_bytes(t, largest)) largest = i;
        arrays += bytes > 0;
        if (__builtin_add_overflow(sum, bytes, &sum)) sum = UINT64_MAX;
    }
    if (sum <= most) return HA_OK;
    t->at = &t->part[largest];
    return ha_fail(
        HA_ERR_MEMORY, t->operation,
        "%s: these %zu arrays need %s at %s, which has %s: %s alone needs %s", t->at->opening.site,
        arrays, ha_human_bytes(sum).text, t->at->opening.context->name, ha_human_bytes(most).text,
        ha_label_of(t->at->opening.array).text, ha_human_bytes(ha_part_bytes(t, largest)).text);
}

HA_IN_ ha_status ha_open_many_fits(ha_open_set *t) {
    ha_status s = HA_OK;
    for (size_t i = 0; i < t->count && !s; i++) {
        const ha_memory *m = t->part[i].opening.context->memory;
        size_t before = 0;
        while (before < i && t->part[before].opening.context->memory != m) before++;
        if (before == i) s = ha_open_many_fits_at(t, i);
    }
    return s;
}

/* No error is told while anything is held. */
HA_IN_ ha_status ha_open_many_open(ha_open_set *t, int trying) {
    HA_UNCANCELLED_;
    ha_turn turn = {.memory = NULL};
    ha_tell_later();
    ha_status s = ha_open_many_target(t);
    if (!s) s = ha_open_many_fits(t);
    for (size_t i = 0; i < t->count; i++)
        t->part[i].opening.may_wait = t->part[i].attempt.may_wait = !trying && !ha_held();
    while (!s && (s = ha_open_many_try(t, trying))) {
        const ha_opening *o = &t->at->opening;
        const ha_status why = ha_turn_decide(&turn, s, o->short_of, o->site);
        const int over = s == HA_RETRY_ROOM_ && why;
        s = over ? ha_open_many_fail(t, why) : why;
        if (s) break;
        ha_open_many_renew(t);
    }
    ha_turn_end(&turn, s, t->count ? t->at->opening.site : "");
    if (s) t->at->access->status = s;
    ha_tell_now();
    return s;
}

HA_IN_ ha_status ha_open_all(ha_open_set *t, ha_request *requests, size_t count, const char *site) {
    ha_status s = ha_enter(t->operation);
    if (s || !count) return s;
    if (!requests) return ha_fail(HA_ERR_ARGUMENT, t->operation, "%s: no requests", site);
    if ((s = ha_requests_clear(requests, count, t->operation, site))) return s;
    for (size_t i = 0; i < count; i++)
        if ((s = ha_request_refuse(t, &requests[i], site))) return requests[i].access->status = s;
    s = ha_open_many_make(t, requests, count, site);
    if (!s) s = ha_open_many_open(t, (requests[0].how & HA_TRY) != 0);
    HARRAY_FREE(t->part);
    return s;
}

/* ---- where nobody is in the way -------------------------------------------------------------- */

/* Each access gets the number of its request: of one that stands twice in the list, only one is right. */
HA_IN_ int ha_requests_number(const ha_request *r, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!r[i].access || r[i].opened) return 0;
        r[i].access->ticket = i;
    }
    return 1;
}

HA_IN_ int ha_request_writes(const ha_request *r) {
    return (r->how & ~(unsigned)HA_TRY) != HA_READ;
}

HA_IN_ int ha_request_is_whole(const ha_request *r) {
    return !r->view && !r->first && (r->last == HA_END || (r->sets_size && !r->last));
}

/* Opens one of them, but for the version and what the thread holds. 0: not on the fast path. */
HA_IN_ int ha_request_hold(const ha_request *r, const char *site) {
    const int write = ha_request_writes(r), whole = ha_request_is_whole(r);
    const ha_range range = {r->first, whole ? HA_END : r->last};
    ha_context *c = ha_resolve(r->context);
    site = ha_request_site(r, site);
    if ((r->how & ~(unsigned)HA_TRY) > HA_OVERWRITE) return 0;
    if (r->view)
        return !r->sets_size && ha_hold_view_fast(r->access, r->view, 0, c, write, 0, site);
    if (!r->array) return 0;
    if (!r->sets_size)
        return ha_hold_fast(r->access, r->array, c, write, range, whole, HA_END, 0, site);
    return whole && r->n != HA_END && (r->how & HA_OVERWRITE) &&
           ha_hold_fast(r->access, r->array, c, write, range, whole, r->n, 0, site);
}

/* What others have asked for meanwhile they can have now. */
HA_IN_ void ha_let_go(const ha_access *x) {
    ha_array *a = x->array;
    ha_lock(a);
    const uint32_t waiters = a->waiters & HA_WAITING;
    if (x->context->ops) ha_incarnation_find(a, x->context->memory)->ops.promised--;
    ha_holder_take_out(a, ha_holder_find(a, x->ticket));
    ha_unlock(a);
    if (waiters) ha_wake(a);
}

/* The array is held for writing. Others may be, too, and count: also beside one who writes all of it, when
 * what they have is empty. */
HA_IN_ void ha_count_version(ha_array *a) {
    ha_lock(a);
    a->version++;
    ha_unlock(a);
}

/* All are held: what is written has a new version, which an opening that fails must not leave behind. */
HA_IN_ void ha_requests_count(const ha_request *r, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (ha_request_writes(&r[i])) ha_count_version(r[i].access->array);
    ha_self.held += count;
}

HA_IN_ void ha_requests_let_go(const ha_request *r, size_t count) {
    while (count > 0) ha_let_go(r[--count].access);
}

/* All but their version and what the thread holds. 0: nothing has changed but the accesses; whatever is
 * wrong has not been told. */
HA_IN_ int ha_open_many_hold(const ha_request *r, size_t count, const char *site) {
    size_t n = 0;
    HA_MAY_WAIT_();
    if (!r || !ha_self.id || HA_DEBUGGING_ || !ha_requests_number(r, count)) return 0;
    while (n < count && r[n].access->ticket == n && ha_request_hold(&r[n], site)) n++;
    if (n == count) return 1;
    ha_requests_let_go(r, n);
    return 0;
}

HA_IN_ int ha_open_many_fast(const ha_request *r, size_t count, const char *site) {
    const int held = ha_open_many_hold(r, count, site);
    if (held) ha_requests_count(r, count);
    return held;
}

/* ---- with work on a queue, or not at all ------------------------------------------------------- */

/* Enqueues something that uses the accesses, or does nothing, and has told why. */
typedef struct ha_open_work {
    ha_status (*work)(void *argument);
    void *argument;
    ha_status status;
} ha_open_work;

/* All are prepared, and busy: nothing is overwritten yet. The accesses are what they will be. */
HA_IN_ void ha_open_many_show(ha_open_set *t) {
    for (size_t i = 0; i < t->count; i++) {
        ha_opening *o = &t->part[i].opening;
        ha_access *x = t->part[i].access;
        x->data = o->count ? ha_opening_data(o) : NULL;
        x->size = o->count;
        x->first = o->at;
        x->array = o->array;
        x->context = o->context;
        o->since = ha_sequence_of(o->context);
    }
}

HA_IN_ ha_status ha_open_work_do(ha_open_work *use) {
    use->status = use->work(use->argument);
    return use->status ? HA_ERR_UNSUPPORTED : HA_OK; /* not told again */
}

HA_IN_ ha_status ha_open_many_use(ha_open_set *t, void *argument) {
    ha_open_many_show(t);
    return ha_open_work_do((ha_open_work *)argument);
}

HA_NOINLINE_ HA_IN_ ha_status ha_open_to_use_slowly(ha_request *requests, size_t count,
                                                    const char *operation, ha_open_work *use,
                                                    const char *site) {
    HA_TELLS_EVENTS_;
    ha_open_set t = {
        .operation = operation, .work = ha_open_many_use, .argument = use, .for_user = 1};
    const ha_status s = ha_open_all(&t, requests, count, ha_from(site));
    return use->status ? use->status : s;
}

/* All are held. No error is told as long as they are. */
HA_IN_ ha_status ha_use_held(ha_request *requests, size_t count, ha_open_work *use) {
    ha_tell_later();
    use->status = use->work(use->argument);
    if (use->status)
        ha_requests_let_go(requests, count);
    else
        ha_requests_count(requests, count);
    ha_tell_now();
    return use->status;
}

/* Functions on watched devices are enqueued when their accesses are open. What was overwritten is lost when they
 * cannot be. */
HA_IN_ ha_status ha_use_now(ha_request *requests, size_t count, ha_open_work *use) {
    ha_tell_later();
    use->status = use->work(use->argument);
    if (use->status) (void)ha_close_many(requests, count);
    ha_tell_now();
    return use->status;
}

HA_IN_ ha_status ha_use_opened(ha_request *requests, size_t count, ha_open_work *use,
                               const char *site) {
    const ha_status s = ha_open_many_(requests, count, site);
    return s ? s : ha_use_now(requests, count, use);
}

/* Opens all on a device and does the work, or changes nothing. */
HA_IN_ ha_status ha_open_to_use(ha_request *requests, size_t count, const char *operation,
                                ha_open_work *use, const ha_context *c, const char *site) {
    if (!count) return use->work(use->argument);
    if (HA_DEBUGGING_ || c->strict) return ha_use_opened(requests, count, use, site);
    if (ha_open_many_hold(requests, count, site)) return ha_use_held(requests, count, use);
    return ha_open_to_use_slowly(requests, count, operation, use, site);
}

/* ---- the calls ------------------------------------------------------------------------------- */

HA_NOINLINE_ HA_IN_ ha_status ha_open_many_slow(ha_request *requests, size_t count,
                                                const char *site) {
    HA_TELLS_EVENTS_;
    ha_open_set t = {.operation = "ha_open_many", .for_user = 1};
    site = ha_from(site);
    for (size_t i = 0; requests && ha_for_records.open && i < count; i++)
        if (requests[i].opened) return ha_for_records.open(requests, count, site);
    return ha_open_all(&t, requests, count, site);
}

ha_status ha_open_many_(ha_request *requests, size_t count, const char *site) {
    return ha_open_many_fast(requests, count, site) ? HA_OK
                                                    : ha_open_many_slow(requests, count, site);
}

ha_status ha_close_many(const ha_request *requests, size_t count) {
    ha_status first = HA_OK;
    if (!requests && count)
        return ha_fail(HA_ERR_ARGUMENT, "ha_close_many", "ha_close_many: no requests");
    while (count-- > 0) { /* the last first, as it is easily found among those of its array */
        const ha_request *r = &requests[count];
        const ha_status s = r->opened && ha_for_records.close ? ha_for_records.close(r->opened)
                                                              : ha_close_(r->access);
        if (!first) first = s;
    }
    return first;
}

#endif
