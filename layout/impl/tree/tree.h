/* Trees of counted nodes: from dimensions and leaves, changed by functors, measured. See layout/tree.h
 * for the rules. */
#ifndef HARRAY_LAYOUT_IMPL_TREE_TREE_H
#define HARRAY_LAYOUT_IMPL_TREE_TREE_H

#include "functors.h"
#include "../../mapping.h"

/* A node; every node comes behind its parent. */
typedef struct ha_node {
    int64_t parent, depth;     /* -1, 0: the root */
    int64_t first, last, next; /* its first and last child, its next sibling; -1: none */
    int64_t leaf;              /* which leaf it is; -1: it has children */
    const char *name;          /* of `length` letters; NULL: a dimension, or a subscript */
    int64_t length, subscript;
    int64_t copies;
    int64_t bytes;    /* of one copy of it: of all copies of all its children, or of the value */
    int64_t before;   /* bytes of all copies of the siblings before it */
    int64_t inside;   /* bytes of one copy, were each node below there once */
    int32_t branch;   /* of the leaves among its children; -1: none of them is one */
    int32_t is_named; /* a functor names it, or a node below it; or it is a dimension */
} ha_node;

typedef struct ha_grown_tree {
    ha_node *node;
    int64_t nodes;
    int rank;
    int32_t dimension[HA_MAPPING_RANK];
    int64_t deepest;  /* of the nodes whose index may be other than 0, but for leaves */
    int is_leaf_only; /* a functor has been */
    int64_t bytes;    /* of all copies of the root */
} ha_grown_tree;

/* ---- from paths ------------------------------------------------------------------------------ */

/* The next name or subscript of a leaf's path; 0 at its end. */
HA_IN_ int ha_path_step(const ha_leaf *leaf, const char **path, int *subscripts, ha_node *step) {
    const char *p = *path;
    step->name = NULL;
    if (*p == '.') p++;
    if (!*p) return 0;
    if (*p == '[') {
        step->subscript = leaf->subscript[(*subscripts)++];
        while (*p++ != ']') continue;
    } else {
        step->name = p;
        while (ha_in_name(*p)) p++;
        step->length = p - step->name;
    }
    *path = p;
    return 1;
}

/* At most this many nodes a leaf adds to a tree, with one for it as one of the bytes of a value. */
HA_IN_ int64_t ha_path_steps(const ha_record *record, const ha_leaf *leaf) {
    int64_t steps = 2;
    for (const char *p = record->field[leaf->field].path; *p; p++) steps += *p == '.' || *p == '[';
    return steps;
}

HA_IN_ int ha_same_step(const ha_node *a, const ha_node *b) {
    if (!a->name || !b->name) return !a->name && !b->name && a->subscript == b->subscript;
    return a->length == b->length && memcmp(a->name, b->name, (size_t)a->length) == 0;
}

/* The child that `step` describes, a new one if there is none. */
HA_IN_ int64_t ha_node_below(ha_grown_tree *t, int64_t parent, const ha_node *step) {
    ha_node *above = parent < 0 ? NULL : &t->node[parent], *node = &t->node[t->nodes];
    if (above && above->last >= 0 && ha_same_step(&t->node[above->last], step)) return above->last;
    for (int64_t k = above ? above->first : -1; k >= 0; k = t->node[k].next)
        if (ha_same_step(&t->node[k], step)) return k;
    *node = (ha_node){.parent = parent,
                      .depth = above ? above->depth + 1 : 0,
                      .first = -1,
                      .last = -1,
                      .next = -1,
                      .leaf = -1,
                      .name = step->name,
                      .length = step->length,
                      .subscript = step->subscript,
                      .copies = 1,
                      .branch = -1};
    if (above && above->last >= 0) t->node[above->last].next = t->nodes;
    if (above && above->first < 0) above->first = t->nodes;
    if (above) above->last = t->nodes;
    return t->nodes++;
}

/* The nodes of the dimensions; without records each is there 0 times, as then extents may be anything. */
HA_IN_ void ha_grow_dimensions(ha_grown_tree *t, const ha_mapping *m, const int32_t *dimension) {
    int empty = 0;
    t->rank = m->rank;
    t->deepest = m->rank - 1;
    for (int d = 0; d < t->rank; d++) empty |= m->extent[d] == 0;
    for (int d = 0; d < t->rank; d++) {
        const ha_node step = {0};
        const int64_t k = ha_node_below(t, d - 1, &step);
        t->dimension[d] = dimension[d];
        t->node[k].copies = empty ? 0 : m->extent[dimension[d]];
        t->node[k].is_named = 1;
    }
}

/* A leaf of so many bytes. byte >= 0: it is that byte of a value, which is then a node above it. */
HA_IN_ void ha_grow_leaf(ha_grown_tree *t, const ha_record *record, const ha_leaf *leaf,
                         int64_t number, int64_t bytes, int64_t byte) {
    const char *path = record->field[leaf->field].path;
    int64_t node = t->rank - 1;
    int subscripts = 0;
    ha_node step = {0};
    while (ha_path_step(leaf, &path, &subscripts, &step)) node = ha_node_below(t, node, &step);
    step = (ha_node){.subscript = byte};
    if (byte >= 0) node = ha_node_below(t, node, &step);
    t->node[node].leaf = number;
    t->node[node].bytes = bytes;
}

/* ---- functors ---------------------------------------------------------------------------------- */

/* The node that a functor names; -1, *wrong: which number of the path there is no child for. */
HA_IN_ int64_t ha_named_node(const ha_grown_tree *t, const ha_functor *f, int *wrong) {
    int64_t node = 0;
    for (*wrong = 0; *wrong < f->children; ++*wrong) {
        node = t->node[node].first;
        for (int64_t k = f->child[*wrong]; k > 0 && node >= 0; k--) node = t->node[node].next;
        if (node < 0) return -1;
    }
    return node;
}

/* *number *= by; 0: too large. */
HA_IN_ int ha_times(int64_t *number, int64_t by) { return ha_product(*number, by, number); }

/* Of a node with children. 0: too large. */
HA_IN_ int ha_move_down(ha_grown_tree *t, int64_t node, int64_t every) {
    ha_node *n = &t->node[node];
    n->copies = n->copies / every + (n->copies % every != 0);
    for (int64_t k = n->first; k >= 0; k = t->node[k].next)
        if (!ha_times(&t->node[k].copies, every)) return 0;
    return 1;
}

HA_IN_ int ha_leaf_only(ha_grown_tree *t) {
    for (int64_t k = 0; k < t->nodes; k++) {
        ha_node *n = &t->node[k];
        for (int64_t c = n->first; c >= 0; c = t->node[c].next)
            if (!ha_times(&t->node[c].copies, n->copies)) return 0;
        if (n->leaf < 0) n->copies = 1;
    }
    t->is_leaf_only = 1;
    return 1;
}

/* ---- sizes ------------------------------------------------------------------------------------- */

/* When all functors have been: how long each node is, and where in its parent. 0: too large. */
HA_IN_ int ha_measure(ha_grown_tree *t) {
    for (int64_t k = t->nodes; k-- > 0;) {
        ha_node *n = &t->node[k];
        if (n->leaf < 0) n->bytes = 0;
        for (int64_t c = n->first; c >= 0; c = t->node[c].next) {
            int64_t all;
            t->node[c].before = n->bytes;
            if (!ha_product(t->node[c].copies, t->node[c].bytes, &all) ||
                !ha_sum(n->bytes, all, &n->bytes))
                return 0;
        }
    }
    return ha_product(t->node->copies, t->node->bytes, &t->bytes);
}

/* From the beginning of the tree to a node's first copy. Less than all bytes of the tree. */
HA_IN_ int64_t ha_node_offset(const ha_grown_tree *t, int64_t node) {
    int64_t offset = 0;
    for (; node >= 0; node = t->node[node].parent) offset += t->node[node].before;
    return offset;
}

#endif
