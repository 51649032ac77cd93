/* An opening: everything between asking for an access and having it.
 *
 *     begin    admit (admit.h), then prepare: block, transfers, order. The array is busy.
 *     commit   sizes, validity and version change together; cannot fail. Busy ends.
 *     abort    what was prepared is taken back. Busy ends.
 *
 * Whoever has more to enqueue before the access counts (filling, copying) does it between begin and
 * commit. When the host has to wait for a device, busy is dropped for that time, and preparing
 * starts again with what then is there; the holder stays in place, so nobody can touch the range.
 */
#ifndef HARRAY_IMPL_ACCESS_OPENING_H
#define HARRAY_IMPL_ACCESS_OPENING_H

#include "admit.h"
#include "grid.h"
#include "../transfer/all.h"

typedef struct ha_opening {
    ha_array *array;
    ha_context *context;
    const char *operation, *site;
    unsigned mode;         /* HA_READ, HA_WRITE, HA_OVERWRITE */
    ha_range range;        /* to be locked */
    const darray *view;    /* for whose elements; NULL: for all of the range */
    int has_target;        /* `at` and `count` are set */
    int off_grid;          /* they are not all on the array's grid */
    int line;              /* the elements are those one behind the other from there */
    size_t at, count;      /* the first element that is meant, and how many */
    int sets_size;         /* overwrite with a new size: nothing of the old values is kept */
    size_t size;           /* of the array when it is open */
    int alone;             /* refused while any access is open */
    const ha_block *moved; /* has to be exchanged: no other access to it may be open; NULL: none */
    ha_range need;         /* within the size */
    uint64_t ticket;
    uint64_t group; /* the first ticket of those that are opened together */
    ha_incarnation *in;
    int fresh;             /* the incarnation had no block */
    int host_fresh;        /* the one on the host had none: staging may make it */
    int promised;          /* in->ops keeps an entry for closing */
    uint32_t peers;        /* openings of this array that are committed together with this one */
    ha_set brought;        /* what was made valid at `in` on the way */
    ha_block *replacement; /* takes the place of the block at commit */
    ha_range never;        /* what is not there, when that is the failure */
    const char *source;    /* where it would have come from, when copying was forbidden */
    const char *trouble;   /* what was going on when it failed */
} ha_opening;

static int ha_opening_writes(const ha_opening *o) { return o->mode != HA_READ; }

/* ---- preparing ----------------------------------------------------------------------------- */

/* The elements that are meant, now that the size stands still. */
static ha_status ha_opening_range(ha_opening *o) {
    if (!o->sets_size) o->size = o->array->size;
    o->need = o->range;
    o->brought.grid = o->array->grid;
    if (o->need.last == HA_END) o->need.last = o->size;
    o->trouble = "the range is not inside the array";
    if (o->need.first > o->need.last || o->need.last > o->size) return HA_ERR_ARGUMENT;
    if (o->has_target) return HA_OK;
    o->at = o->need.first;
    o->count = o->need.last - o->need.first;
    return HA_OK;
}

/* Of an array with a grid, a range of elements is opened as the smallest box around it. What lies
 * between is kept, so that is no overwriting. */
static ha_status ha_opening_line(ha_opening *o) {
    const ha_grid *g = o->array->grid;
    size_t first = o->range.first, last = o->range.last < g->size ? o->range.last : g->size;
    o->need = o->range;
    o->size = g->size;
    if (first > last || (o->range.last > last && o->range.last != HA_END)) return HA_ERR_ARGUMENT;
    o->at = first;
    o->count = last - first;
    o->has_target = o->line = 1;
    o->range = (ha_range){first, last};
    if (!o->count) return HA_OK;
    if (!ha_is_on_grid(g, first) || !ha_is_on_grid(g, last - 1)) return HA_ERR_ARGUMENT;
    o->range = ha_grid_around(g, first, last - 1);
    const int exact = o->range.first == first && o->range.last == last; /* from corner to corner */
    if (!exact && o->mode == HA_OVERWRITE) o->mode = HA_WRITE;
    return HA_OK;
}

/* The access is to what a view covers. When that is more than the view, overwriting it keeps the
 * rest: so it is writing. */
static void ha_opening_view(ha_opening *o, const darray *view) {
    const int exact = ha_view_cover(o->array->grid, view, &o->range);
    if (!exact && o->mode == HA_OVERWRITE) o->mode = HA_WRITE;
    if (!exact) o->view = view;
    o->at = (size_t)view->offset;
    o->count = ha_view_size(view);
    o->has_target = 1;
    o->off_grid = !ha_cover_is_box(o->array->grid, o->range);
}

/* Before it is admitted. */
static ha_status ha_opening_aim(ha_opening *o) {
    o->trouble = "the range is not inside the array";
    if (o->off_grid) return HA_ERR_ARGUMENT;
    return o->array->grid && !o->has_target && !ha_is_whole(o->range) ? ha_opening_line(o) : HA_OK;
}

/* Lock held. Whether another access uses the block; those that are opened together with this one have
 * no pointer yet. */
static int ha_opening_is_shared(const ha_opening *o) {
    const ha_array *a = o->array;
    int shared = 0;
    for (uint32_t i = 0; i < a->holders; i++) {
        const ha_holder *h = &a->holder[i];
        int peer = h->ticket - o->group <= o->peers;
        shared |= !peer && h->context->memory == o->in->memory && !ha_is_empty(h->range);
    }
    return shared;
}

static int ha_opening_is_mapped(const ha_opening *o) {
    const ha_array *a = o->array;
    if (a->form && o->in->wrapped) return a->form->ops->maps(a, o->in, o->context);
    return ha_maps(o->context, o->in->block);
}

/* A zero-copy context may be unable to work on the block there is: then it is exchanged. */
static ha_status ha_opening_map(ha_opening *o, ha_attempt *attempt) {
    ha_array *a = o->array;
    ha_incarnation *in = o->in;
    const size_t n = o->size > in->capacity ? o->size : in->capacity;
    if (!in->block || o->replacement || ha_opening_is_mapped(o)) return HA_OK;
    o->trouble = "the device cannot work on the caller's memory in place: pin it (for CUDA with "
                 "cuMemHostRegister or cudaHostRegister), or let the context copy: "
                 "ha_context_set_zero_copy(context, 0)";
    if (in->wrapped) return HA_ERR_UNSUPPORTED;
    o->trouble = "the device cannot work on its memory in place, and has no pinned memory";
    if (!o->context->home->pinned) return HA_ERR_UNSUPPORTED;
    o->trouble = "no pinned memory for it";
    if (o->sets_size)
        return ha_incarnation_take(a, in, o->context, o->size, &o->replacement, attempt);
    ha_lock(a);
    int shared = ha_opening_is_shared(o);
    ha_unlock(a);
    if (shared) o->moved = in->block;
    return shared ? HA_RETRY_ALONE_ : ha_incarnation_renew(a, in, o->context, n, attempt);
}

static ha_status ha_opening_block(ha_opening *o, ha_attempt *attempt) {
    ha_array *a = o->array;
    if (!o->sets_size) return ha_incarnation_room(a, o->in, o->context, o->size, attempt);
    /* The old values have to stay until nothing can fail any more. */
    if (o->size <= o->in->capacity || o->replacement) return HA_OK;
    return ha_incarnation_take(a, o->in, o->context, o->size, &o->replacement, attempt);
}

static ha_status ha_opening_room(ha_opening *o, ha_attempt *attempt) {
    ha_array *a = o->array;
    o->trouble = "no memory there";
    if (!o->in) {
        o->in = ha_incarnation_add(a, o->context->memory);
        if (!o->in) return HA_ERR_MEMORY;
        const ha_incarnation *host = ha_incarnation_find(a, &ha_host_memory);
        o->fresh = !o->in->block;
        o->host_fresh = !host || !host->block;
    }
    /* A range without elements locks nothing: the block may be in use, and must not move. */
    if (ha_is_empty(o->range)) return HA_OK;
    ha_status s = ha_opening_block(o, attempt);
    return s || !ha_asks(o->context) ? s : ha_opening_map(o, attempt);
}

/* Whether a part of what is opened matters: not when it lies between the elements to be read. */
static int ha_opening_uses(const ha_opening *o, ha_range r) {
    const darray line = {
        .rank = 1, .offset = (int64_t)o->at, .extent = {(int64_t)o->count}, .stride = {1}};
    if (ha_is_empty(r)) return 0;
    if (o->mode != HA_READ || (!o->view && !o->line)) return 1;
    return ha_view_hits(o->array->grid, o->view ? o->view : &line, r);
}

/* The first part of r that is lost and matters; empty: none. */
static ha_range ha_opening_lost(const ha_opening *o, ha_range r) {
    const ha_set *lost = &o->array->lost;
    for (uint32_t i = 0; i < lost->n; i++) {
        const ha_range x = ha_intersect(lost->grid, ha_set_ranges(lost)[i], r);
        if (ha_opening_uses(o, x)) return x;
    }
    return (ha_range){0, 0};
}

/* What the caller must not find missing: lost elements; and to read, those never written. */
static ha_status ha_opening_check(ha_opening *o, const ha_plan *plan) {
    const ha_range *missing = ha_set_ranges(&plan->missing);
    for (uint32_t i = 0; i < plan->missing.n; i++) {
        o->never = ha_opening_lost(o, missing[i]);
        if (!ha_is_empty(o->never)) return HA_ERR_LOST;
    }
    if (plan->missing.n && ha_is_dead(o->in->memory)) { /* nothing reaches it */
        o->trouble = "its queue has failed; ha_shutdown ends that";
        return HA_ERR_BACKEND;
    }
    for (uint32_t i = 0; i < plan->missing.n && o->mode == HA_READ; i++) {
        if (!ha_opening_uses(o, missing[i])) continue;
        o->never = missing[i];
        return HA_ERR_STATE;
    }
    if (!plan->n || !ha_self.no_transfers) return HA_OK;
    o->never = plan->pieces[0].range;
    o->source = ha_memory_context(plan->pieces[0].from->memory)->name;
    return HA_ERR_TRANSFER;
}

/* A device may have failed since this attempt has looked: then what only it had would pass for never
 * written. */
static int ha_opening_overlooked(const ha_opening *o, ha_attempt *attempt) {
    for (const ha_incarnation *in = &o->array->first; in; in = in->next) {
        if (!in->valid.n || !ha_is_dead(in->memory)) continue;
        attempt->point = (ha_timepoint){in->memory->primary, ha_sequence(in->memory->primary)};
        return 1;
    }
    return 0;
}

/* Makes valid what is missing. all: what is valid nowhere is looked at, too. */
static ha_status ha_opening_bring(ha_opening *o, int all, ha_attempt *attempt) {
    ha_array *a = o->array;
    ha_plan plan;
    o->trouble = "moving its data there failed";
    ha_status s = ha_plan_make(a, o->in, o->need, &plan);
    if (!s && plan.missing.n && ha_opening_overlooked(o, attempt)) s = HA_RETRY_;
    if (!all) plan.missing.n = 0;
    if (!s) s = ha_opening_check(o, &plan);
    /* Room to take back each piece, too. */
    size_t cuts = a->grid ? 2 * (size_t)a->grid->rank : 2;
    if (!s && plan.n) s = ha_set_reserve(a, &o->in->valid, o->in->valid.n + cuts * plan.n + 1);
    if (!s) s = ha_plan_carry_out(a, &plan, o->in, o->context, &o->brought, attempt);
    ha_plan_free(&plan);
    return s;
}

/* Room for what commit changes in a set. Each commit may add one range to it; with a grid, see
 * ndarray/open_many.h. */
static ha_status ha_opening_grow(const ha_opening *o, ha_set *set, int adding) {
    size_t more = set->grid ? ha_set_growth(set, o->need, adding) : (size_t)o->peers + 1;
    return ha_set_reserve(o->array, set, more);
}

/* Room for everything that commit and close will note. */
static ha_status ha_opening_reserve(ha_opening *o) {
    ha_array *a = o->array;
    o->trouble = "no memory for its records";
    if (ha_debug_reserve(o->in, o->replacement ? o->replacement : o->in->block))
        return HA_ERR_MEMORY;
    if (ha_opening_grow(o, &o->in->valid, 1)) return HA_ERR_MEMORY;
    if (ha_opening_writes(o)) {
        if (a->lost.n && ha_opening_grow(o, &a->lost, 0)) return HA_ERR_MEMORY;
        for (ha_incarnation *in = &a->first; in; in = in->next)
            if (in != o->in && ha_opening_grow(o, &in->valid, 0)) return HA_ERR_MEMORY;
    }
    /* Closing an empty range notes nothing. */
    if (ha_is_host(o->context) || o->promised || ha_is_empty(o->range)) return HA_OK;
    if (ha_ops_reserve(a, &o->in->ops, 1)) return HA_ERR_MEMORY;
    ha_lock(a);
    o->in->ops.promised++;
    ha_unlock(a);
    o->promised = 1;
    return HA_OK;
}

/* What failed since the last attempt is taken into account; a queue that failed is of no use. */
static ha_status ha_opening_look(ha_opening *o) {
    ha_status s = ha_settle(o->array);
    o->trouble = "the context was given back";
    if (o->context->ended) return HA_ERR_STATE;
    o->trouble = "no memory to note what was lost";
    if (s || !ha_has_failed(o->context)) return s;
    if (o->mode != HA_OVERWRITE) {
        o->never = ha_opening_lost(o, o->need);
        if (!ha_is_empty(o->never)) return HA_ERR_LOST;
    }
    o->trouble = "its queue has failed; ha_shutdown ends that";
    return HA_ERR_BACKEND;
}

static ha_status ha_opening_prepare(ha_opening *o, ha_attempt *attempt) {
    ha_status s = ha_opening_look(o);
    if (!s) s = ha_opening_room(o, attempt);
    if (!s && o->mode != HA_OVERWRITE) s = ha_opening_bring(o, 1, attempt);
    if (!s) s = ha_opening_reserve(o);
    if (s || o->replacement) return s; /* nobody uses a new block */
    o->trouble = "waiting for work that uses it failed";
    /* Behind the whole locked range, as that is what closing notes: also behind what is left of
     * times when the array was longer. */
    return ha_come_after(o->array, o->in, o->range, ha_opening_writes(o), o->context, attempt);
}

/* What a prefetch does instead: moves what there is, and waits for nobody. */
static ha_status ha_opening_fetch(ha_opening *o, ha_attempt *attempt) {
    if (ha_is_empty(o->need)) return HA_OK;
    ha_status s = ha_opening_look(o);
    if (!s) s = ha_opening_room(o, attempt);
    if (s == HA_RETRY_ALONE_) s = HA_OK; /* whoever opens it there will exchange the block */
    return s ? s : ha_opening_bring(o, 0, attempt);
}

/* ---- the three steps ----------------------------------------------------------------------- */

/* Lock held. Whether another access, or one that is being opened, uses r in this memory. */
static int ha_used_by_others(const ha_opening *o, const ha_incarnation *in, ha_range r) {
    const ha_array *a = o->array;
    int used = 0;
    for (uint32_t i = 0; i < a->holders; i++) {
        const ha_holder *h = &a->holder[i];
        used |= h->ticket != o->ticket && h->context->memory == in->memory &&
                ha_overlap(a->grid, h->range, r);
    }
    return used;
}

/* Gives back a block that this opening took and that came to no use. */
static void ha_opening_drop(const ha_opening *o, ha_incarnation *in) {
    ha_array *a = o->array;
    ha_lock(a);
    int useless = in->block && !in->valid.n && !ha_used_by_others(o, in, HA_WHOLE_);
    ha_unlock(a);
    if (useless) ha_incarnation_drop(a, in);
}

/* Takes back what was made valid of r. Where its source has failed since, this is the only copy, and
 * stays; as it does (as one more copy) where there is no memory to note less. */
static void ha_opening_take_back(const ha_opening *o, ha_range r) {
    ha_array *a = o->array;
    ha_set *valid = &o->in->valid;
    for (const ha_incarnation *other = &a->first; other; other = other->next)
        for (uint32_t i = 0; i < other->valid.n && other != o->in; i++) {
            const ha_range x = ha_intersect(valid->grid, ha_set_ranges(&other->valid)[i], r);
            if (ha_is_empty(x)) continue;
            if (ha_set_reserve(a, valid, ha_set_growth(valid, x, 0))) return;
            ha_lock(a);
            if (!ha_used_by_others(o, o->in, r)) ha_set_remove(valid, x);
            ha_unlock(a);
        }
}

/* Takes back what was made valid, so that a failed opening leaves no trace. It stays (as one more
 * valid copy) where others came to use it while the host waited. */
static void ha_opening_undo(ha_opening *o) {
    ha_array *a = o->array;
    ha_incarnation *in = o->in;
    if (!in) return;
    for (uint32_t i = 0; i < o->brought.n; i++)
        ha_opening_take_back(o, ha_set_ranges(&o->brought)[i]);
    ha_lock(a);
    in->ops.promised -= (uint32_t)o->promised;
    ha_unlock(a);
    if (o->fresh) ha_opening_drop(o, in);
    ha_incarnation *host = ha_incarnation_find(a, &ha_host_memory);
    if (o->host_fresh && host && host != in) ha_opening_drop(o, host);
    ha_ops none = {0};
    if (o->replacement) ha_block_retire(o->replacement, &none);
    ha_set_free(&o->brought);
}

static void ha_opening_abort(ha_opening *o) {
    ha_opening_undo(o);
    ha_admit_end(o->array, o->ticket);
}

/* Tells why; after abort, so that the handler may use the array. Of record arrays a part says it all: they
 * have no elements of one size. */
static ha_status ha_opening_fail(const ha_opening *o, ha_status s) {
    ha_array *a = o->array;
    const ha_label label = ha_subject_of(a);
    const ha_part_label part = ha_part_label_of(a, o->never);
    const char *name = o->context->name, *elements = a->form ? "" : "elements ";
    char each[64] = "", all[80] = "";
    if (!a->form) {
        (void)snprintf(each, sizeof each, " (%zu bytes each)", a->element);
        (void)snprintf(all, sizeof all, " (%zu elements of %zu bytes)", o->size, a->element);
    }
    if (s == HA_ERR_LOST)
        return ha_fail(s, o->operation, "%s: %s at %s: %s%s were lost: %s; overwrite them first",
                       o->site, label.text, name, elements, part.text, ha_lost_label_of(a).text);
    if (s == HA_ERR_TRANSFER)
        return ha_fail(s, o->operation,
                       "%s: %s at %s: %s%s%s would have to be copied from %s, inside "
                       "HA_NO_TRANSFERS",
                       o->site, label.text, name, elements, part.text, each, o->source);
    if (s == HA_ERR_STATE && !ha_is_empty(o->never))
        return ha_fail(s, o->operation, "%s: %s at %s: %s%s were never written", o->site,
                       label.text, name, elements, part.text);
    if (s == HA_ERR_ARGUMENT && o->off_grid)
        return ha_fail(s, o->operation,
                       "%s: %s at %s: the view has elements between the rows of its storage",
                       o->site, label.text, name);
    if (s == HA_ERR_ARGUMENT)
        return ha_fail(s, o->operation, "%s: %s at %s: no range [%zu, %zu) in %zu elements",
                       o->site, label.text, name, o->range.first, o->range.last, o->size);
    return ha_fail(s, o->operation, "%s: %s at %s: %s%s", o->site, label.text, name, o->trouble,
                   all);
}

static ha_lock_request ha_opening_lock_request(const ha_opening *o) {
    return (ha_lock_request){.context = o->context,
                             .range = o->range,
                             .writes = ha_opening_writes(o),
                             .sets_size = o->sets_size,
                             .new_size = o->size,
                             .alone = o->alone,
                             .moves = o->moved ? o->context->memory : NULL,
                             .moved = o->moved,
                             .site = o->site};
}

typedef ha_status ha_preparation(ha_opening *o, ha_attempt *attempt);

/* Admitted. Prepares until there is nothing more to wait for. */
static ha_status ha_opening_work(ha_opening *o, ha_preparation *prepare) {
    ha_attempt attempt = {.site = o->site};
    ha_status s = ha_opening_range(o);
    while (!s && (s = prepare(o, &attempt)) == HA_RETRY_) {
        ha_busy_end(o->array);
        s = ha_attempt_wait(&attempt);
        (void)ha_busy_begin(o->array, 0, NULL);
    }
    ha_attempt_end(&attempt);
    return s;
}

/* Aborted, to be begun again. */
static void ha_opening_renew(ha_opening *o) {
    o->in = NULL;
    o->replacement = NULL;
    o->fresh = o->host_fresh = o->promised = 0;
    memset(&o->brought, 0, sizeof o->brought);
}

static ha_status ha_opening_start(ha_opening *o, int trying, ha_preparation *prepare) {
    ha_status aim = ha_opening_aim(o);
    if (aim) return ha_opening_fail(o, aim);
    for (;;) {
        ha_lock_request wish = ha_opening_lock_request(o);
        ha_status s = ha_admit(o->array, &wish, trying, o->operation, &o->ticket);
        if (s) return s;
        o->group = o->ticket;
        if (!(s = ha_opening_work(o, prepare))) return HA_OK;
        ha_opening_abort(o);
        if (s != HA_RETRY_ALONE_) return ha_opening_fail(o, s);
        ha_opening_renew(o);
    }
}

static ha_status ha_opening_begin(ha_opening *o, int trying) {
    return ha_opening_start(o, trying, ha_opening_prepare);
}

/* Moves what is missing, and ends: no access comes of it. */
static ha_status ha_opening_prefetch(ha_opening *o) {
    ha_status s = ha_opening_start(o, 1, ha_opening_fetch);
    if (s) return s;
    ha_set_free(&o->brought);
    ha_admit_end(o->array, o->ticket);
    return HA_OK;
}

/* Lock held: nothing here can fail. */
static void ha_opening_apply(ha_opening *o) {
    ha_array *a = o->array;
    if (o->sets_size) a->size = o->size;
    if (ha_opening_writes(o)) {
        a->version++;
        if (o->sets_size)
            a->lost.n = 0;
        else
            ha_set_remove(&a->lost, o->need);
        for (ha_incarnation *in = &a->first; in; in = in->next)
            if (o->sets_size)
                in->valid.n = 0;
            else if (in != o->in)
                ha_set_remove(&in->valid, o->need);
        ha_set_add(&o->in->valid, o->need);
        ha_holder_find(a, o->ticket)->overwrites = o->mode == HA_OVERWRITE;
    }
    ha_ops_prune(&o->in->ops, 1); /* so that the next opening may take the fast path */
    a->recent = o->in;
}

/* Commits, and stays busy. What it displaces is in o->replacement and *ops. */
static void ha_opening_grant(ha_opening *o, ha_access *x, ha_ops *ops) {
    ha_array *a = o->array;
    ha_incarnation *in = o->in;
    if (o->replacement) o->replacement = ha_block_exchange(a, in, o->replacement, o->size, ops);
    ha_lock(a);
    ha_opening_apply(o);
    x->size = o->count;
    x->data = x->size ? in->data + o->at * a->element : NULL;
    x->first = o->at;
    x->array = a;
    x->context = o->context;
    x->ticket = o->ticket;
    x->status = HA_OK;
    ha_unlock(a);
    ha_debug_open(a, in, x, o->need, ha_opening_writes(o), o->site);
    ha_self.held++;
    if (a->watched) ha_watch_opened(a, o->ticket);
    ha_set_free(&o->brought);
}

/* No longer busy: gives back what was displaced. */
static void ha_opening_settle(const ha_opening *o, ha_ops *ops) {
    if (o->replacement)
        ha_block_retire(o->replacement, ops);
    else
        ha_ops_free(ops);
}

static void ha_opening_commit(ha_opening *o, ha_access *x) {
    ha_ops ops = {0};
    ha_opening_grant(o, x, &ops);
    ha_busy_end(o->array);
    ha_opening_settle(o, &ops);
}

#endif
