/* The holders of an array: its accesses that are open, or being opened, in a table in no order.
 *
 * Usually there are few, and whoever looks for one looks at all. When there are many, each is also in a
 * tree, by the beginning of its range, in which each branch knows how far its ranges reach; and in a
 * chain, by its ticket. So what is in the way of a range is found among any number. The array has no
 * fast path then, whose budget has no room for that. */
#ifndef HARRAY_IMPL_STATE_HOLDERS_H
#define HARRAY_IMPL_STATE_HOLDERS_H

#include "array_state.h"

/* Behind the table, one for each place in it, if there can be many. Places in nodes count from 1, and 0 is
 * none. */
typedef struct ha_holder_node {
    uint32_t left, right;
    uint32_t chained;     /* the next one whose ticket belongs to the same chain */
    size_t last, written; /* the largest end of a range in this branch; of one that is written */
} ha_holder_node;

/* Bytes of a table. Behind the nodes: where chains begin, one for each place. */
HA_IN_ size_t ha_holder_bytes(size_t capacity) {
    const size_t indexed = capacity > HA_FEW_HOLDERS;
    return capacity * (sizeof(ha_holder) + indexed * (sizeof(ha_holder_node) + sizeof(uint32_t)));
}

static inline ha_holder_node *ha_place_node(const ha_array *a, uint32_t place)
    HA_REQUIRES_(a->lock) {
    return (ha_holder_node *)(void *)(a->holder + a->holder_capacity) + place - 1;
}

static inline const ha_holder *ha_place_holder(const ha_array *a, uint32_t place)
    HA_REQUIRES_(a->lock) {
    return a->holder + place - 1;
}

static inline uint32_t *ha_holder_chain(const ha_array *a, uint64_t ticket) HA_REQUIRES_(a->lock) {
    uint32_t *chain = (uint32_t *)(void *)(ha_place_node(a, 1) + a->holder_capacity);
    return chain + (ticket & (a->holder_capacity - 1)); /* a power of two */
}

static inline int ha_is_indexed(const ha_array *a) HA_REQUIRES_(a->lock) {
    return (a->waiters & HA_INDEXED) != 0;
}

/* ---- the tree: a treap ---------------------------------------------------------------------- */

HA_IN_ int ha_place_precedes(const ha_array *a, uint32_t x, uint32_t y) HA_REQUIRES_(a->lock) {
    const ha_holder *p = ha_place_holder(a, x), *q = ha_place_holder(a, y);
    return p->range.first != q->range.first ? p->range.first < q->range.first
                                            : p->ticket < q->ticket;
}

/* As good as random, and what is larger is further up. */
HA_IN_ uint64_t ha_place_height(const ha_array *a, uint32_t place) HA_REQUIRES_(a->lock) {
    return (ha_place_holder(a, place)->ticket * 0x9E3779B97F4A7C15u) ^ (uint64_t)1 << 63;
}

HA_IN_ void ha_place_reach(ha_holder_node *n, const ha_holder_node *below) {
    if (below->last > n->last) n->last = below->last;
    if (below->written > n->written) n->written = below->written;
}

/* What is below it has changed. Gives the place back. */
HA_IN_ uint32_t ha_place_update(const ha_array *a, uint32_t place) HA_REQUIRES_(a->lock) {
    ha_holder_node *n = ha_place_node(a, place);
    const ha_holder *h = ha_place_holder(a, place);
    n->last = h->range.last;
    n->written = h->writes ? h->range.last : 0;
    if (n->left) ha_place_reach(n, ha_place_node(a, n->left));
    if (n->right) ha_place_reach(n, ha_place_node(a, n->right));
    return place;
}

/* One tree of two; all of x precedes all of y. */
HA_IN_ uint32_t ha_places_join(const ha_array *a, uint32_t x, uint32_t y) HA_REQUIRES_(a->lock) {
    HA_COUNT_STEP_();
    if (!x || !y) return x ? x : y;
    const int high = ha_place_height(a, x) > ha_place_height(a, y);
    if (high)
        ha_place_node(a, x)->right = ha_places_join(a, ha_place_node(a, x)->right, y);
    else
        ha_place_node(a, y)->left = ha_places_join(a, x, ha_place_node(a, y)->left);
    return ha_place_update(a, high ? x : y);
}

/* Two trees of one: what precedes a place, and the rest. */
HA_IN_ void ha_places_cut(const ha_array *a, uint32_t tree, uint32_t place, uint32_t *low,
                          uint32_t *high) HA_REQUIRES_(a->lock) {
    HA_COUNT_STEP_();
    *low = *high = 0;
    if (!tree) return;
    if (ha_place_precedes(a, tree, place)) {
        *low = tree;
        ha_places_cut(a, ha_place_node(a, tree)->right, place, &ha_place_node(a, tree)->right,
                      high);
    } else {
        *high = tree;
        ha_places_cut(a, ha_place_node(a, tree)->left, place, low, &ha_place_node(a, tree)->left);
    }
    ha_place_update(a, tree);
}

HA_IN_ uint32_t ha_places_add(const ha_array *a, uint32_t tree, uint32_t place)
    HA_REQUIRES_(a->lock) {
    HA_COUNT_STEP_();
    if (!tree || ha_place_height(a, place) > ha_place_height(a, tree)) {
        ha_holder_node *n = ha_place_node(a, place);
        ha_places_cut(a, tree, place, &n->left, &n->right);
        return ha_place_update(a, place);
    }
    ha_holder_node *t = ha_place_node(a, tree);
    uint32_t *branch = ha_place_precedes(a, place, tree) ? &t->left : &t->right;
    *branch = ha_places_add(a, *branch, place);
    return ha_place_update(a, tree);
}

HA_IN_ uint32_t ha_places_remove(const ha_array *a, uint32_t tree, uint32_t place)
    HA_REQUIRES_(a->lock) {
    ha_holder_node *t = ha_place_node(a, tree);
    HA_COUNT_STEP_();
    if (tree == place) return ha_places_join(a, t->left, t->right);
    uint32_t *branch = ha_place_precedes(a, place, tree) ? &t->left : &t->right;
    *branch = ha_places_remove(a, *branch, place);
    return ha_place_update(a, tree);
}

/* The first place behind `after` (0: of all) whose range lies across r, and that is written, if only those
 * matter; 0: none. */
HA_IN_ uint32_t ha_places_across(const ha_array *a, uint32_t tree, ha_range r, int written,
                                 uint32_t after) HA_REQUIRES_(a->lock) {
    if (!tree) return 0;
    const ha_holder_node *t = ha_place_node(a, tree);
    const ha_holder *h = ha_place_holder(a, tree);
    HA_COUNT_STEP_();
    if ((written ? t->written : t->last) <= r.first) return 0;
    if (!after || ha_place_precedes(a, after, tree)) {
        const uint32_t found = ha_places_across(a, t->left, r, written, after);
        if (found) return found;
        if (h->range.last > r.first && h->range.first < r.last && (h->writes || !written))
            return tree;
    }
    return h->range.first < r.last ? ha_places_across(a, t->right, r, written, after) : 0;
}

/* ---- the index ------------------------------------------------------------------------------ */

HA_IN_ void ha_index_add(ha_array *a, uint32_t place) HA_REQUIRES_(a->lock) {
    uint32_t *chain = ha_holder_chain(a, ha_place_holder(a, place)->ticket);
    ha_place_node(a, place)->chained = *chain;
    *chain = place;
    a->holder_tree = ha_places_add(a, a->holder_tree, place);
}

HA_IN_ void ha_index_remove(ha_array *a, uint32_t place) HA_REQUIRES_(a->lock) {
    uint32_t *chain = ha_holder_chain(a, ha_place_holder(a, place)->ticket);
    while (*chain != place) chain = &ha_place_node(a, *chain)->chained;
    *chain = ha_place_node(a, place)->chained;
    a->holder_tree = ha_places_remove(a, a->holder_tree, place);
}

/* Of all holders, in place of the one there is. */
HA_IN_ void ha_index_make(ha_array *a) HA_REQUIRES_(a->lock) {
    memset(ha_holder_chain(a, 0), 0, a->holder_capacity * sizeof(uint32_t));
    a->holder_tree = 0;
    a->waiters |= HA_INDEXED;
    for (uint32_t place = 1; place <= a->holders; place++) ha_index_add(a, place);
}

/* ---- holders -------------------------------------------------------------------------------- */

/* There is room. */
HA_IN_ void ha_holder_add(ha_array *a, const ha_holder *holder) HA_REQUIRES_(a->lock) {
    a->holder[a->holders++] = *holder;
    if (ha_is_indexed(a))
        ha_index_add(a, a->holders);
    else if (a->holders > HA_FEW_HOLDERS)
        ha_index_make(a);
}

/* The last one takes its place. */
HA_IN_ void ha_holder_take_out(ha_array *a, ha_holder *h) HA_REQUIRES_(a->lock) {
    const uint32_t place = (uint32_t)(h - a->holder) + 1, last = a->holders;
    const int indexed = ha_is_indexed(a);
    if (indexed) ha_index_remove(a, place);
    if (indexed && place != last) ha_index_remove(a, last);
    *h = a->holder[--a->holders];
    if (indexed && place != last) ha_index_add(a, place);
    if (a->holders <= HA_FEW_HOLDERS / 2) a->waiters &= ~(uint32_t)HA_INDEXED;
}

/* The table that has more room takes the place of the one there is. */
HA_IN_ void ha_holder_exchange(ha_array *a, ha_holder *table, uint32_t capacity)
    HA_REQUIRES_(a->lock) {
    memcpy(table, a->holder, a->holders * sizeof *table);
    a->holder = table;
    a->holder_capacity = capacity;
    a->holders_easy = capacity < HA_FEW_HOLDERS ? capacity : HA_FEW_HOLDERS;
    if (ha_is_indexed(a)) ha_index_make(a);
}

HA_IN_ ha_holder *ha_holder_lookup(const ha_array *a, uint64_t ticket) HA_REQUIRES_(a->lock) {
    uint32_t place = *ha_holder_chain(a, ticket);
    while (place && ha_place_holder(a, place)->ticket != ticket)
        place = ha_place_node(a, place)->chained;
    return place ? a->holder + place - 1 : NULL;
}

/* The holder of an access: NULL when it is closed. Usually the last one. */
static inline ha_holder *ha_holder_find(const ha_array *a, uint64_t ticket) HA_REQUIRES_(a->lock) {
    uint32_t i = a->holders;
    if (i && a->holder[i - 1].ticket == ticket) return &a->holder[i - 1];
    if (ha_is_indexed(a)) return ha_holder_lookup(a, ticket);
    while (i-- > 0)
        if (a->holder[i].ticket == ticket) return &a->holder[i];
    return NULL;
}

/* One after the other (at first: NULL), the holders that may be in the way of an access to r, and perhaps
 * others; NULL: no more. writes: that access; else only those that write may be. */
HA_IN_ const ha_holder *ha_holder_across(const ha_array *a, ha_range r, int writes,
                                         const ha_holder *before) HA_REQUIRES_(a->lock) {
    uint32_t place = before ? (uint32_t)(before - a->holder) + 1 : 0;
    if (!ha_is_indexed(a))
        place = place < a->holders ? place + 1 : 0;
    else if (ha_is_empty(r))
        place = 0;
    else
        place = ha_places_across(a, a->holder_tree, r, !writes, place);
    HA_COUNT_STEP_();
    return place ? a->holder + place - 1 : NULL;
}

#endif
