/* An opening: everything between asking for an access and having it.
 *
 *     begin    admit (conflict.h), then prepare: block, transfers, order. The array is busy.
 *     commit   sizes, validity and version change together; cannot fail. Busy ends.
 *     abort    what was prepared is taken back. Busy ends.
 *
 * Whoever has more to enqueue before the access counts (filling, copying) does it between begin and
 * commit. When the host has to wait for a device, busy is dropped for that time, and preparing
 * starts again with what then is there; the holder stays in place, so nobody can touch the range.
 */
#ifndef HA_IMPL_OPENING_H
#define HA_IMPL_OPENING_H

#include "conflict.h"

typedef struct ha_opening {
    ha_array *array;
    ha_context *context;
    const char *operation, *site;
    unsigned mode;  /* HA_READ, HA_WRITE, HA_OVERWRITE */
    ha_range range; /* as asked for */
    int sets_size;  /* overwrite with a new size: nothing of the old values is kept */
    size_t size;    /* of the array when it is open */
    int alone;      /* refused while any access is open */
    ha_range need;  /* within the size */
    uint64_t ticket;
    ha_incarnation *in;
    int fresh;             /* the incarnation had no block */
    int host_fresh;        /* the one on the host had none: staging may make it */
    int promised;          /* in->ops keeps an entry for closing */
    ha_set brought;        /* what was made valid at `in` on the way */
    ha_block *replacement; /* takes the place of the block at commit */
    ha_range never;        /* what was never written, when that is the failure */
    const char *trouble;   /* what was going on when it failed */
} ha_opening;

static int ha_opening_writes(const ha_opening *o) { return o->mode != HA_READ; }

/* ---- preparing ----------------------------------------------------------------------------- */

/* The elements that are meant, now that the size stands still. */
static ha_status ha_opening_range(ha_opening *o) {
    if (!o->sets_size) o->size = o->array->size;
    o->need = o->range;
    if (o->need.last == HA_END) o->need.last = o->size;
    o->trouble = "the range is not inside the array";
    return o->need.first > o->need.last || o->need.last > o->size ? HA_ERR_ARGUMENT : HA_OK;
}

static ha_status ha_opening_room(ha_opening *o, ha_later *later) {
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
    if (!o->sets_size) return ha_incarnation_room(a, o->in, o->context, o->size, later);
    /* The old values have to stay until nothing can fail any more. */
    if (o->size <= o->in->capacity || o->replacement) return HA_OK;
    return ha_block_take(o->in->memory, o->size, a->element, &o->replacement, later);
}

/* Makes valid what is missing. all: elements that were never written are an error. */
static ha_status ha_opening_bring(ha_opening *o, int all, ha_later *later) {
    ha_array *a = o->array;
    ha_plan plan;
    o->trouble = "moving its data there failed";
    ha_status s = ha_plan_make(a, o->in, o->need, &plan);
    if (!s && plan.missing.n && all) {
        o->never = ha_set_ranges(&plan.missing)[0];
        s = HA_ERR_STATE;
    }
    /* Room to take back each piece, too. */
    if (!s && plan.n) s = ha_set_reserve(a, &o->in->valid, o->in->valid.n + 2 * plan.n + 1);
    if (!s) s = ha_plan_carry_out(a, &plan, o->in, o->context, &o->brought, later);
    ha_plan_free(&plan);
    return s;
}

/* Room for everything that commit and close will note. */
static ha_status ha_opening_reserve(ha_opening *o) {
    ha_array *a = o->array;
    o->trouble = "no memory for its records";
    if (ha_set_reserve(a, &o->in->valid, 1)) return HA_ERR_MEMORY;
    if (ha_opening_writes(o))
        for (ha_incarnation *in = &a->first; in; in = in->next)
            if (ha_set_reserve(a, &in->valid, 1)) return HA_ERR_MEMORY;
    /* Closing an empty range notes nothing. */
    if (ha_is_host(o->context) || o->promised || ha_is_empty(o->range)) return HA_OK;
    if (ha_ops_reserve(a, &o->in->ops, 1)) return HA_ERR_MEMORY;
    ha_lock(a);
    o->in->ops.promised++;
    ha_unlock(a);
    o->promised = 1;
    return HA_OK;
}

static ha_status ha_opening_prepare(ha_opening *o, ha_later *later) {
    ha_status s = ha_opening_room(o, later);
    if (!s && o->mode != HA_OVERWRITE) s = ha_opening_bring(o, o->mode == HA_READ, later);
    if (!s) s = ha_opening_reserve(o);
    if (s || o->replacement) return s; /* nobody uses a new block */
    o->trouble = "waiting for work that uses it failed";
    /* Behind the whole locked range, as that is what closing notes: also behind what is left of
     * times when the array was longer. */
    return ha_come_after(o->array, o->in, o->range, ha_opening_writes(o), o->context, later);
}

/* What a prefetch does instead: moves what there is, and waits for nobody. */
static ha_status ha_opening_fetch(ha_opening *o, ha_later *later) {
    if (ha_is_empty(o->need)) return HA_OK;
    ha_status s = ha_opening_room(o, later);
    return s ? s : ha_opening_bring(o, 0, later);
}

/* ---- the three steps ----------------------------------------------------------------------- */

/* Lock held. Whether another access, or one that is being opened, uses r in this memory. */
static int ha_used_by_others(const ha_opening *o, const ha_incarnation *in, ha_range r) {
    const ha_array *a = o->array;
    int used = 0;
    for (uint32_t i = 0; i < a->holders; i++) {
        const ha_holder *h = &a->holder[i];
        used |= h->ticket != o->ticket && h->context->memory == in->memory &&
                ha_overlap(h->range, r);
    }
    return used;
}

/* Gives back a block that this opening took and that came to no use. */
static void ha_opening_drop(const ha_opening *o, ha_incarnation *in) {
    ha_array *a = o->array;
    ha_lock(a);
    int useless = in->block && !in->valid.n && !ha_used_by_others(o, in, HA_WHOLE);
    ha_unlock(a);
    if (useless) ha_incarnation_drop(a, in);
}

/* Takes back what was made valid, so that a failed opening leaves no trace. It stays (as one more
 * valid copy) where others came to use it while the host waited. */
static void ha_opening_undo(ha_opening *o) {
    ha_array *a = o->array;
    ha_incarnation *in = o->in;
    if (!in) return;
    ha_lock(a);
    uint32_t room = in->valid.heap ? in->valid.capacity : 1;
    for (uint32_t i = 0; i < o->brought.n && in->valid.n < room; i++) {
        ha_range r = ha_set_ranges(&o->brought)[i];
        if (!ha_used_by_others(o, in, r)) ha_set_remove(&in->valid, r);
    }
    in->ops.promised -= (uint32_t)o->promised;
    ha_unlock(a);
    if (o->fresh) ha_opening_drop(o, in);
    ha_incarnation *host = ha_incarnation_find(a, &ha_host_memory);
    if (o->host_fresh && host && host != in) ha_opening_drop(o, host);
    ha_ops none = {0};
    if (o->replacement) ha_block_retire(o->replacement, &none);
}

static void ha_opening_abort(ha_opening *o) {
    ha_opening_undo(o);
    ha_set_free(&o->brought);
    ha_admit_end(o->array, o->ticket);
}

/* Tells why; after abort, so that the handler may use the array. */
static ha_status ha_opening_fail(const ha_opening *o, ha_status s) {
    ha_label label = ha_label_of(o->array);
    const char *name = o->context->name;
    if (s == HA_ERR_STATE && !ha_is_empty(o->never))
        return ha_fail(s, o->operation,
                       "%s: array %s at %s: elements [%zu, %zu) were never written", o->site,
                       label.text, name, o->never.first, o->never.last);
    if (s == HA_ERR_ARGUMENT)
        return ha_fail(s, o->operation, "%s: array %s at %s: no range [%zu, %zu) in %zu elements",
                       o->site, label.text, name, o->range.first, o->range.last, o->size);
    return ha_fail(s, o->operation, "%s: array %s at %s: %s (%zu elements of %zu bytes)", o->site,
                   label.text, name, o->trouble, o->size, o->array->element);
}

/* Admits, and prepares until there is nothing more to wait for. */
static ha_status ha_opening_start(ha_opening *o, int trying,
                                  ha_status (*prepare)(ha_opening *, ha_later *)) {
    ha_array *a = o->array;
    ha_later later = {0};
    ha_wish wish = {.context = o->context,
                    .range = o->range,
                    .writes = ha_opening_writes(o),
                    .sets_size = o->sets_size,
                    .new_size = o->size,
                    .alone = o->alone,
                    .site = o->site};
    ha_status s = ha_admit(a, &wish, trying, o->operation, &o->ticket);
    if (s) return s;
    s = ha_opening_range(o);
    while (!s && (s = prepare(o, &later)) == HA_LATER) {
        ha_busy_end(a);
        s = ha_wait_for(later.point);
        (void)ha_busy_begin(a, 0, NULL);
    }
    if (!s) return HA_OK;
    ha_opening_abort(o);
    return ha_opening_fail(o, s);
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
        for (ha_incarnation *in = &a->first; in; in = in->next)
            if (o->sets_size)
                in->valid.n = 0;
            else if (in != o->in)
                ha_set_remove(&in->valid, o->need);
        ha_set_add(&o->in->valid, o->need);
    }
    ha_ops_prune(&o->in->ops); /* so that the next opening may take the fast path */
    a->recent = o->in;
}

static void ha_opening_commit(ha_opening *o, ha_access *x) {
    ha_array *a = o->array;
    ha_incarnation *in = o->in;
    ha_ops ops = {0};
    ha_block *old = NULL;
    if (o->replacement) old = ha_block_exchange(a, in, o->replacement, o->size, &ops);
    ha_lock(a);
    ha_opening_apply(o);
    x->size = o->need.last - o->need.first;
    x->data = x->size ? in->data + o->need.first * a->element : NULL;
    x->first = o->need.first;
    x->array = a;
    x->context = o->context;
    x->ticket = o->ticket;
    x->status = HA_OK;
    ha_unlock(a);
    ha_self.held++;
    ha_set_free(&o->brought);
    ha_busy_end(a);
    if (old)
        ha_block_retire(old, &ops);
    else
        ha_ops_free(&ops);
}

#endif
