/* Elements that have no value when an access is opened: those that are overwritten, and those that were
 * never written. With HARRAY_DEBUG, and on strict contexts, they are poisoned, so that whoever adds to
 * them gets what is no number. That is a help: what cannot be poisoned is left as it is. */
#ifndef HARRAY_IMPL_ACCESS_UNWRITTEN_H
#define HARRAY_IMPL_ACCESS_UNWRITTEN_H

#include "target.h"

typedef struct ha_poisoner {
    ha_context *context;
    const ha_touchable *touchable;
} ha_poisoner;

HA_IN_ void ha_poison_runs(const ha_poisoner *p, int levels, uintptr_t at) {
    const ha_strided_copy *pieces = &p->touchable->pieces;
    for (size_t i = 0; levels && i < pieces->count[levels - 1]; i++)
        ha_poison_runs(p, levels - 1, at + i * pieces->from_step[levels - 1]);
    if (levels) return;
    if (p->context->ops)
        ha_poison_enqueue(p->context, p->touchable->poison, (void *)at, pieces->bytes);
    else
        ha_poison_fill(p->touchable->poison, at, (void *)at, pieces->bytes);
}

enum { HA_POISON_RUNS = 1 << 16 }; /* at most: each is a command of the queue */

HA_IN_ void ha_poison_touchable(void *context, const ha_touchable *touchable) {
    const ha_poisoner p = {(ha_context *)context, touchable};
    size_t runs = 1;
    if (touchable->shares) return;
    for (int k = 0; k < touchable->pieces.levels; k++) runs *= touchable->pieces.count[k];
    if (p.context->ops && runs > HA_POISON_RUNS) return;
    ha_poison_runs(&p, touchable->pieces.levels, (uintptr_t)touchable->pieces.from);
}

/* Elements of a block; the context's queue comes after all that uses them. Busy. */
HA_IN_ void ha_poison_elements(ha_array *a, const ha_incarnation *in, ha_context *c, ha_range r) {
    ha_touchable touchable = {.poison = ha_poison_of(a->type, a->element)};
    if (ha_is_empty(r) || !in->block) return;
    if (a->ops) {
        (void)a->ops->reach(a, in, r, &touchable, c, ha_poison_touchable);
        return;
    }
    touchable.pieces = ha_box_copy(a->grid, r, a->element, NULL, NULL);
    touchable.pieces.from = in->data + r.first * a->element;
    ha_poison_touchable(c, &touchable);
}

/* Whether another access, or one that is being opened, uses r in this memory. */
HA_IN_ int ha_used_by_others(const ha_array *a, const ha_opening *o, const ha_incarnation *in,
                             ha_range r) HA_REQUIRES_(a->lock) {
    int used = 0;
    for (uint32_t i = 0; i < a->holders; i++) {
        const ha_holder *h = &a->holder[i];
        used |= h->ticket != o->ticket && h->context->memory == in->memory &&
                ha_overlap(a->grid, h->range, r);
    }
    return used;
}

/* Whether all that is outstanding on a block is work of one queue: so its next work comes behind. */
HA_IN_ int ha_ops_are_of(ha_ops *ops, const ha_context *queue) {
    const ha_operation *list = ha_ops_list(ops);
    int are = 1;
    for (uint32_t i = 0; i < ops->n; i++)
        are &= list[i].at.queue == queue || ha_passed(list[i].at.queue, list[i].at.seq);
    return are;
}

/* Whether something may be poisoned now; `beyond`: others may use some of it. On a device that is work of its queue, which
 * has to be noted, as that of accesses is only when they end; there may be no room for it. Busy: what room there is
 * stays, as those that end have their own. */
HA_IN_ int ha_may_poison(ha_array *a, ha_incarnation *in, const ha_context *c, int beyond) {
    ha_lock(a);
    const int may = (!beyond || ha_ops_are_of(&in->ops, c)) &&
                    (!c->ops || ha_ops_has_room(&in->ops, 1));
    ha_unlock(a);
    return may;
}

/* Notes it, when all is enqueued: what was noted before would count as done with an event that another thread makes
 * in front of it. It comes behind nothing that another queue has been given meanwhile, as by an access that was closed, and
 * does not take its place, as ha_ops_note would have it. */
HA_IN_ void ha_poisoned(ha_array *a, ha_incarnation *in, ha_context *c, ha_range r,
                        const char *site) {
    if (!c->ops) return;
    ha_lock(a);
    const ha_timepoint at = {c, ha_sequence_of(c)};
    ha_ops_list(&in->ops)[in->ops.n++] = (ha_operation){at, r, 1, site, HA_NO_ACCESS_};
    ha_unlock(a);
}

/* What has no value of what is opened; of a block that is new, everywhere. *locked: what is noted; empty: nothing may be
 * poisoned. */
HA_IN_ ha_status ha_opening_bare(const ha_opening *o, ha_set *bare, ha_range *locked) {
    const ha_range all = {0, o->array->grid ? o->array->grid->size : o->size};
    bare->grid = o->array->grid;
    *locked = HA_WHOLE_;
    if (o->fresh && !o->sets_size && ha_may_poison(o->array, o->in, o->context, 1))
        return ha_set_missing(&o->in->valid, all, bare);
    *locked = (ha_range){0, 0};
    if (o->mode == HA_READ || ha_is_empty(o->need)) return HA_OK;
    const ha_status s = o->mode == HA_OVERWRITE ? ha_set_put(bare, o->need)
                                                : ha_set_missing(&o->in->valid, o->need, bare);
    if (!s && bare->n && ha_may_poison(o->array, o->in, o->context, 0))
        *locked = o->need;
    else
        bare->n = 0;
    return s;
}

/* Of an access that is about to be committed; what is read or opened by others meanwhile stays. */
HA_IN_ void ha_opening_poison(const ha_opening *o) {
    ha_array *a = o->array;
    ha_set bare = {0};
    ha_range locked;
    ha_status s = ha_opening_bare(o, &bare, &locked);
    for (uint32_t i = 0; i < bare.n && !s; i++) {
        const ha_range r = ha_set_ranges(&bare)[i];
        ha_lock(a);
        const int used = ha_used_by_others(a, o, o->in, r);
        ha_unlock(a);
        if (!used) ha_poison_elements(a, o->in, o->context, r);
    }
    if (!ha_is_empty(locked)) ha_poisoned(a, o->in, o->context, locked, o->site);
    ha_set_free(&bare);
}

#endif
