/* Victims: incarnations that may give way when a memory is full, and what is known of their values.
 *
 * What somebody has open there is none, nor what is busy or the caller's: so nobody's block goes under an access,
 * and a thread that makes room never meets the arrays that it is just opening. Who may be one is
 * looked at with the pool's lock and each array's in turn; what was chosen is looked at once more when it is busy. */
#ifndef HARRAY_IMPL_ACCESS_VICTIMS_H
#define HARRAY_IMPL_ACCESS_VICTIMS_H

#include "admit.h"

/* ---- values ---------------------------------------------------------------------------------- */

/* Whether a write to a range is outstanding. While the array is busy others may close accesses, which notes operations. */
HA_IN_ int ha_has_outstanding_write(ha_array *a, ha_incarnation *in, ha_range r) {
    int has = 0;
    ha_lock(a);
    const ha_operation *list = ha_ops_list(&in->ops);
    for (uint32_t i = 0; i < in->ops.n && !has; i++)
        has = list[i].write && ha_overlap(in->ops.grid, list[i].range, r) &&
              (ha_lost_write(&list[i]) || !ha_passed(list[i].at.queue, list[i].at.seq));
    ha_unlock(a);
    return has;
}

/* Whether a range has arrived in another memory: valid there, and no write to it outstanding. Busy. */
HA_IN_ int ha_has_arrived(ha_array *a, ha_incarnation *in, ha_range r) {
    return !ha_is_dead(in->memory) && ha_set_contains(&in->valid, r) &&
           !ha_has_outstanding_write(a, in, r);
}

/* What is just giving way elsewhere will not be there: two threads that count on what the other one takes away would
 * bring the same values to and fro. */
HA_IN_ int ha_has_arrived_elsewhere(ha_array *a, const ha_incarnation *there, ha_range r) {
    ha_incarnation *in = &a->first;
    while (in && (in == there || in->leaving || !ha_has_arrived(a, in, r))) in = in->next;
    return in != NULL;
}

/* The first valid range of an incarnation that has not arrived anywhere else; empty: none. Busy. */
HA_IN_ ha_range ha_only_there(ha_array *a, const ha_incarnation *there) {
    for (uint32_t i = 0; i < there->valid.n; i++) {
        const ha_range r = ha_set_ranges(&there->valid)[i];
        if (!ha_has_arrived_elsewhere(a, there, r)) return r;
    }
    return (ha_range){0, 0};
}

/* An open access there; NULL: none. */
HA_IN_ const ha_holder *ha_held_there(const ha_array *a, const ha_memory *m) HA_REQUIRES_(a->lock) {
    for (uint32_t i = a->read_only; i < a->holders; i++)
        if (a->holder[i].context->memory == m) return &a->holder[i];
    return NULL;
}

/* ---- choosing -------------------------------------------------------------------------------- */

typedef struct ha_victim {
    ha_array *array;
    const void *data; /* of its block, which may be gone until the array is busy */
    uint64_t bytes, stamp;
    int priority;
    int is_ahead; /* it was prefetched, and not used since */
    int fits;     /* its block serves the request, and is less than twice as large */
} ha_victim;

enum { HA_VICTIMS = 16, HA_VICTIM_LOOKS = 64 /* at once: meanwhile nobody gets memory there */ };

typedef struct ha_victims {
    ha_victim list[HA_VICTIMS]; /* the best one first */
    size_t n;
    uint64_t left; /* how many are still to be looked at, in all */
    int is_chosen; /* the first one, by the controller */
    int busy;      /* others are being opened or evicted elsewhere: soon they may be victims */
} ha_victims;

HA_IN_ ha_incarnation *ha_incarnation_with(ha_array *a, const ha_block *b) HA_REQUIRES_(a->lock) {
    ha_incarnation *in = &a->first;
    while (in && in->block != b) in = in->next;
    return in;
}

/* Whether nobody keeps it there, or would miss an error of it. */
HA_IN_ int ha_may_give_way(const ha_array *a, ha_incarnation *in) HA_REQUIRES_(a->lock) {
    if (a->priority == HA_KEEP || in->wrapped || in->ops.promised || ha_held_there(a, in->memory))
        return 0;
    for (uint32_t i = 0; i < in->ops.n; i++)
        if (ha_error_in(&ha_ops_list(&in->ops)[i])) return 0;
    return 1;
}

/* Whether only their age makes a difference, and whether they are clean. A stamp of 0: ha_array_done. */
HA_IN_ int ha_victims_are_alike(const ha_victim *x, const ha_victim *y) {
    return !x->stamp == !y->stamp && x->priority == y->priority && x->is_ahead == y->is_ahead;
}

/* What comes first, gives way first. */
HA_IN_ int ha_victim_is_before(const ha_victim *x, const ha_victim *y) {
    if (!x->stamp != !y->stamp) return !x->stamp;
    if (x->priority != y->priority) return x->priority < y->priority;
    if (x->is_ahead != y->is_ahead) return y->is_ahead;
    if (x->fits != y->fits) return x->fits;
    return x->stamp < y->stamp;
}

HA_IN_ void ha_victims_add(ha_victims *v, const ha_victim *x) {
    size_t at = v->n;
    while (at > 0 && ha_victim_is_before(x, &v->list[at - 1])) at--;
    if (at == HA_VICTIMS) return;
    if (v->n < HA_VICTIMS) v->n++;
    for (size_t i = v->n - 1; i > at; i--) v->list[i] = v->list[i - 1];
    v->list[at] = *x;
}

/* Where a block of the memory is an incarnation's. */
HA_IN_ const ha_memory *ha_incarnations_memory(const ha_memory *m) {
    return m->primary ? m : &ha_host_memory; /* pinned memory is the host's */
}

HA_IN_ void ha_resident_move(ha_pool *p, ha_block *b, uint64_t stamp) HA_REQUIRES_(p->lock) {
    ha_array *a = b->resident;
    ha_resident_take(p, b);
    ha_resident_put(p, b, a, stamp);
}

/* Whether a listed block may give way. One that may not, or was used since it has its place in the list, gets a new
 * one at the end. Of a busy array others may just be changing more than the lock guards. */
HA_IN_ int ha_victim_look(ha_memory *m, ha_block *b, uint64_t need, ha_victim *x, int *busy)
    HA_REQUIRES_(m->pool.lock) {
    ha_array *a = b->resident;
    int may = 0;
    *x = (ha_victim){.array = a, .data = b->data, .bytes = b->bytes, .stamp = b->stamp};
    x->fits = need <= b->bytes && b->bytes / 2 <= need;
    ha_lock(a);
    ha_incarnation *in = a->busy ? NULL : ha_incarnation_with(a, b);
    if (a->busy && !ha_held_there(a, ha_incarnations_memory(m))) *busy = 1;
    if (in) may = ha_may_give_way(a, in);
    if (in && in->used) in->stamp = ha_memory_tick(in->memory);
    if (in && in->used) in->is_ahead = 0;
    if (in) in->used = 0;
    if (in) x->stamp = in->stamp;
    if (in) x->is_ahead = in->is_ahead;
    x->priority = a->priority;
    ha_unlock(a);
    if (may && x->stamp == b->stamp) return 1;
    ha_resident_move(&m->pool, b, x->stamp);
    return 0;
}

/* Those among the oldest ones that may give way. */
HA_IN_ void ha_victims_find(ha_memory *m, uint64_t need, ha_victims *v) {
    v->n = 0;
    v->is_chosen = 0;
    ha_spin_lock(&m->pool.lock);
    ha_block *b = m->pool.resident, *next;
    if (!b) v->left = 0;
    for (int i = 0; b && i < HA_VICTIM_LOOKS && v->left; i++, b = next) {
        ha_victim x;
        next = b->younger;
        v->left--;
        if (ha_victim_look(m, b, need, &x, &v->busy)) ha_victims_add(v, &x);
    }
    ha_spin_unlock(&m->pool.lock);
}

/* Its block, if it still is one of the array's; then the array is known, and not being freed. */
HA_IN_ ha_block *ha_victim_block(ha_memory *m, const ha_victim *v) HA_REQUIRES_(m->pool.lock) {
    ha_piece_node *node = ha_tree_find(m->pool.tree, (uintptr_t)v->data);
    if (!node) return NULL;
    ha_block *b = (ha_block *)(void *)((char *)node - offsetof(ha_block, address));
    return b->data == v->data && b->resident == v->array ? b : NULL;
}

/* The array busy for this thread, with the incarnation; NULL: it is no victim any more. */
HA_IN_ ha_incarnation *ha_victim_begin(ha_memory *m, const ha_victim *v) {
    ha_array *a = v->array;
    ha_incarnation *in = NULL;
    ha_spin_lock(&m->pool.lock);
    const ha_block *b = ha_victim_block(m, v);
    if (b) {
        ha_lock(a);
        if (!a->busy) in = ha_incarnation_with(a, b);
        if (in && !ha_may_give_way(a, in)) in = NULL;
        if (in) a->busy = 1;
        ha_unlock(a);
    }
    ha_spin_unlock(&m->pool.lock);
    if (in) ha_debug_busy(a);
    return in;
}

/* It cannot give way now: it has its turn last. */
HA_IN_ void ha_victim_pass_over(ha_memory *m, const ha_victim *v) {
    ha_spin_lock(&m->pool.lock);
    ha_block *b = ha_victim_block(m, v);
    if (b) ha_resident_move(&m->pool, b, v->stamp);
    ha_spin_unlock(&m->pool.lock);
}

#endif
