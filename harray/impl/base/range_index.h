/* The ranges of a set: a sorted table when they are few, as usual. When they are many, the table is in no
 * order, and each of them is also in a tree, by where it begins: so one is put in or taken out without moving
 * the others. Boxes are in no order in the table; in the tree they are in Z-order, and each branch knows the
 * smallest box around all of its boxes, so that those which overlap with another one are found among any
 * number. */
#ifndef HARRAY_IMPL_BASE_RANGE_INDEX_H
#define HARRAY_IMPL_BASE_RANGE_INDEX_H

#include "box.h"
#include "steps.h"
#include <stdlib.h>
#include <string.h>
#include "../../../backends/backend.h"

#ifndef HA_FEW_RANGES_
#define HA_FEW_RANGES_ 64 /* more than that are indexed; until they are half as many */
#endif

typedef struct ha_set {
    ha_range one;   /* the range, when heap is NULL */
    ha_range *heap; /* more than one range, or room for it */
    uint32_t n, capacity;
    const ha_grid *grid;    /* of the array; NULL: none */
    uint32_t indexed, root; /* 1: by the tree whose nodes are behind the table, unless n is 0 */
} ha_set;

/* Places count from 1; 0: none. */
typedef struct ha_range_node {
    uint32_t left, right;
    ha_range around; /* all of this branch */
} ha_range_node;

static inline const ha_range *ha_set_ranges(const ha_set *s) { return s->heap ? s->heap : &s->one; }

static inline ha_range *ha_set_edit(ha_set *s) { return s->heap ? s->heap : &s->one; }

/* Bytes of a table, with nodes if there can be many. */
HA_IN_ size_t ha_set_bytes(size_t capacity) {
    return capacity * (sizeof(ha_range) + (capacity > HA_FEW_RANGES_ ? sizeof(ha_range_node) : 0));
}

/* ---- the tree: a treap ---------------------------------------------------------------------- */

static inline ha_range_node *ha_range_node_at(const ha_set *s, uint32_t place) {
    return (ha_range_node *)(void *)(s->heap + s->capacity) + place - 1;
}

static inline size_t ha_range_begin(const ha_set *s, uint32_t place) {
    return s->heap[place - 1].first;
}

/* As good as random, and what is larger is further up. */
HA_IN_ uint64_t ha_range_height(const ha_set *s, uint32_t place) {
    uint64_t x = ha_range_begin(s, place) + 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* Whether what begins at x comes before what begins at y. */
HA_IN_ int ha_range_precedes(const ha_set *s, size_t x, size_t y) {
    return s->grid ? ha_grid_precedes(s->grid, x, y) : x < y;
}

/* What is below it has changed. Gives the place back. */
HA_IN_ uint32_t ha_range_update(const ha_set *s, uint32_t place) {
    ha_range_node *n = ha_range_node_at(s, place);
    n->around = s->heap[place - 1];
    if (n->left) n->around = ha_around(s->grid, n->around, ha_range_node_at(s, n->left)->around);
    if (n->right) n->around = ha_around(s->grid, n->around, ha_range_node_at(s, n->right)->around);
    return place;
}

/* One tree of two; all of x precedes all of y. */
HA_IN_ uint32_t ha_range_join(const ha_set *s, uint32_t x, uint32_t y) {
    HA_COUNT_STEP_();
    if (!x || !y) return x ? x : y;
    ha_range_node *p = ha_range_node_at(s, x), *q = ha_range_node_at(s, y);
    const int high = ha_range_height(s, x) > ha_range_height(s, y);
    if (high)
        p->right = ha_range_join(s, p->right, y);
    else
        q->left = ha_range_join(s, x, q->left);
    return ha_range_update(s, high ? x : y);
}

/* Two trees of one: what precedes `first`, and the rest. */
HA_IN_ void ha_range_cut(const ha_set *s, uint32_t tree, size_t first, uint32_t *low,
                         uint32_t *high) {
    HA_COUNT_STEP_();
    *low = *high = 0;
    if (!tree) return;
    ha_range_node *n = ha_range_node_at(s, tree);
    if (ha_range_precedes(s, ha_range_begin(s, tree), first)) {
        *low = tree;
        ha_range_cut(s, n->right, first, &n->right, high);
    } else {
        *high = tree;
        ha_range_cut(s, n->left, first, low, &n->left);
    }
    ha_range_update(s, tree);
}

HA_IN_ uint32_t *ha_range_branch(const ha_set *s, uint32_t tree, size_t first) {
    ha_range_node *n = ha_range_node_at(s, tree);
    HA_COUNT_STEP_();
    return ha_range_precedes(s, first, ha_range_begin(s, tree)) ? &n->left : &n->right;
}

/* The tree with a place in it. */
HA_IN_ uint32_t ha_range_add(const ha_set *s, uint32_t tree, uint32_t place) {
    const size_t first = ha_range_begin(s, place);
    if (!tree || ha_range_height(s, place) > ha_range_height(s, tree)) {
        ha_range_node *n = ha_range_node_at(s, place);
        ha_range_cut(s, tree, first, &n->left, &n->right);
        return ha_range_update(s, place);
    }
    uint32_t *branch = ha_range_branch(s, tree, first);
    *branch = ha_range_add(s, *branch, place);
    return ha_range_update(s, tree);
}

/* The tree without a place that is in it. */
HA_IN_ uint32_t ha_range_leave(const ha_set *s, uint32_t tree, uint32_t place) {
    const ha_range_node *n = ha_range_node_at(s, tree);
    if (tree == place) return ha_range_join(s, n->left, n->right);
    uint32_t *branch = ha_range_branch(s, tree, ha_range_begin(s, place));
    *branch = ha_range_leave(s, *branch, place);
    return ha_range_update(s, tree);
}

HA_IN_ uint32_t *ha_range_link(ha_set *s, uint32_t place) {
    uint32_t *at = &s->root;
    while (*at != place) at = ha_range_branch(s, *at, ha_range_begin(s, place));
    return at;
}

/* The first place of a branch, behind `after` (0: of all), that overlaps with r; 0: none. */
HA_IN_ uint32_t ha_range_across(const ha_set *s, uint32_t tree, ha_range r, uint32_t after) {
    if (!tree) return 0;
    const ha_range_node *n = ha_range_node_at(s, tree);
    HA_COUNT_STEP_();
    if (!ha_overlap(s->grid, n->around, r)) return 0;
    if (!after || ha_range_precedes(s, ha_range_begin(s, after), ha_range_begin(s, tree))) {
        const uint32_t found = ha_range_across(s, n->left, r, after);
        if (found) return found;
        if (ha_overlap(s->grid, s->heap[tree - 1], r)) return tree;
    }
    return ha_range_across(s, n->right, r, after);
}

/* ---- the index ------------------------------------------------------------------------------ */

/* Of all ranges, in place of the one there is. */
HA_IN_ void ha_set_index(ha_set *s) {
    s->root = 0;
    s->indexed = 1;
    for (uint32_t place = 1; place <= s->n; place++) s->root = ha_range_add(s, s->root, place);
}

HA_IN_ int ha_ranges_compare(const void *x, const void *y) {
    const size_t a = ((const ha_range *)x)->first, b = ((const ha_range *)y)->first;
    return a < b ? -1 : a > b;
}

HA_IN_ void ha_ranges_sort(ha_set *s) {
    if (s->n) qsort(ha_set_edit(s), s->n, sizeof *s->heap, ha_ranges_compare);
    s->indexed = 0;
}

/* After editing, and before it, as others may have emptied the table: whether there is an index. */
HA_IN_ int ha_set_is_indexed(ha_set *s) {
    if (!s->indexed && s->n > HA_FEW_RANGES_) ha_set_index(s);
    if (s->indexed && s->n <= HA_FEW_RANGES_ / 2) ha_ranges_sort(s);
    return s->indexed != 0;
}

/* The first range that ends behind `index`: n when there is none. */
HA_IN_ uint32_t ha_index_find(const ha_set *s, size_t index) {
    uint32_t found = s->n;
    for (uint32_t place = s->n ? s->root : 0; place;) {
        const ha_range_node *n = ha_range_node_at(s, place);
        const int behind = s->heap[place - 1].last > index;
        HA_COUNT_STEP_();
        if (behind) found = place - 1;
        place = behind ? n->left : n->right;
    }
    return found;
}

/* In some order, the first one that overlaps with r, or the one behind range i; n: no more. */
HA_IN_ uint32_t ha_index_across(const ha_set *s, ha_range r, uint32_t i) {
    const uint32_t place = ha_range_across(s, s->n ? s->root : 0, r, i < s->n ? i + 1 : 0);
    return place ? place - 1 : s->n;
}

HA_IN_ void ha_index_put(ha_set *s, ha_range r) {
    s->heap[s->n++] = r;
    s->root = ha_range_add(s, s->root, s->n);
}

/* The last one takes its place. */
HA_IN_ void ha_index_take(ha_set *s, uint32_t i) {
    const uint32_t place = i + 1, last = s->n;
    s->root = ha_range_leave(s, s->root, place);
    if (place != last) {
        *ha_range_link(s, last) = place;
        *ha_range_node_at(s, place) = *ha_range_node_at(s, last);
        s->heap[i] = s->heap[last - 1];
    }
    s->n--;
}

#endif
