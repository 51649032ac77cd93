/* What the functors of a tree do to the index of each leaf, as steps. */
#ifndef HARRAY_LAYOUT_IMPL_TREE_BRANCHES_H
#define HARRAY_LAYOUT_IMPL_TREE_BRANCHES_H

#include "tree.h"

/* A tree while its functors are applied. All of its branches have room for the same number of steps. */
typedef struct ha_tree_maker {
    ha_grown_tree t;
    ha_reader reader; /* of the functors */
    const ha_asked *asked;
    int32_t tree;      /* its number */
    int32_t branches;  /* numbers of branches used up */
    ha_branch *branch; /* NULL: nobody wants to know */
    ha_tree_step *step;
    int64_t room;
} ha_tree_maker;

/* How many steps a branch may have, by the text of a list of functors. */
HA_IN_ int64_t ha_tree_room(const char *functors) {
    const char *p = functors ? functors : "";
    int64_t room = 0;
    if (strstr(p, "leafonly")) room = HA_TREE_NODES;
    for (; *p && room < HA_TREE_NODES + HA_TREE_FUNCTORS; p++) room += *p == ';';
    return room;
}

/* ---- steps ------------------------------------------------------------------------------------- */

/* Which of its branch's indices is that of a node. */
HA_IN_ int32_t ha_node_slot(const ha_grown_tree *t, const ha_node *n) {
    if (n->depth < t->rank) return t->dimension[n->depth];
    return (int32_t)ha_smaller(n->depth, t->deepest + 1);
}

HA_IN_ void ha_add_step(const ha_tree_maker *w, int32_t branch, ha_tree_step step) {
    ha_branch *b = &w->branch[branch];
    w->step[b->first_step + b->steps++] = step;
}

/* The children of a node take what is left of its index. */
HA_IN_ void ha_move_step(const ha_tree_maker *w, int64_t node, int64_t child, int64_t every,
                         int32_t branch) {
    const ha_grown_tree *t = &w->t;
    if (t->is_leaf_only) return; /* the index of each node is 0 */
    const ha_tree_step step = {ha_node_slot(t, &t->node[node]), ha_node_slot(t, &t->node[child]),
                               every, t->node[child].copies};
    ha_add_step(w, branch, step);
}

/* For each branch at or below a node; nothing has been moved down yet. */
HA_IN_ void ha_move_steps(const ha_tree_maker *w, int64_t node, int64_t every) {
    const ha_grown_tree *t = &w->t;
    for (int64_t k = node; k < t->nodes; k++) {
        const int32_t branch = t->node[k].branch;
        int64_t above = k, child = t->node[k].first;
        if (branch < 0) continue;
        while (above > node) { /* a child of k is a leaf, and has as many copies as the others */
            child = above;
            above = t->node[above].parent;
        }
        if (above != node) continue;
        if (node == k)
            while (t->node[child].leaf < 0) child = t->node[child].next;
        ha_move_step(w, node, child, every, branch);
    }
}

/* All indices from this node upwards go to the leaves below it: first to the nodes between, from
 * the root on. Nodes farther down than the deepest one are there once, and have the index 0. */
HA_IN_ void ha_fold_steps(const ha_tree_maker *w, int64_t node) {
    const ha_grown_tree *t = &w->t;
    int64_t to = t->node[node].first, above[HA_TREE_NODES];
    int n = 0;
    while (t->node[to].leaf < 0) to = t->node[to].next;
    for (int64_t k = node; k >= 0; k = t->node[k].parent)
        if (t->node[k].depth <= t->deepest) above[n++] = k;
    while (n-- > 0) {
        const ha_node *below = &t->node[n > 0 ? above[n - 1] : to];
        ha_add_step(w, t->node[node].branch,
                    (ha_tree_step){.from = ha_node_slot(t, &t->node[above[n]]),
                                   .to = ha_node_slot(t, below),
                                   .every = INT64_MAX, /* all of it */
                                   .copies = below->copies});
    }
}

/* ---- functors ---------------------------------------------------------------------------------- */

/* Finds how far down indices go. */
HA_IN_ ha_status ha_look_at_functor(void *maker, const ha_functor *f) {
    ha_tree_maker *w = (ha_tree_maker *)maker;
    int wrong;
    int64_t node;
    if (f->kind != HA_MOVE_DOWN_) return HA_OK;
    node = ha_named_node(&w->t, f, &wrong);
    if (node < 0) return ha_refuse_at(&w->reader, f->at[wrong], "there is no such child");
    if (w->t.node[node].leaf >= 0)
        return ha_refuse_at(&w->reader, f->start, "this is a value: nothing is below it");
    w->t.deepest = ha_larger(w->t.deepest, f->children + 1);
    for (; node >= 0; node = w->t.node[node].parent) w->t.node[node].is_named = 1;
    return HA_OK;
}

HA_IN_ ha_status ha_apply_functor(void *maker, const ha_functor *f) {
    ha_tree_maker *w = (ha_tree_maker *)maker;
    ha_grown_tree *t = &w->t;
    int good = 1, wrong;
    if (f->kind == HA_MOVE_DOWN_) {
        const int64_t node = ha_named_node(t, f, &wrong);
        if (w->branch) ha_move_steps(w, node, f->every);
        good = ha_move_down(t, node, f->every);
    } else if (f->kind == HA_LEAF_ONLY_) {
        for (int64_t k = 0; w->branch && !t->is_leaf_only && k < t->nodes; k++)
            if (t->node[k].branch >= 0) ha_fold_steps(w, k);
        good = ha_leaf_only(t);
    }
    return good ? HA_OK : ha_too_large(w->asked);
}

/* ---- branches ---------------------------------------------------------------------------------- */

/* A branch for each node above leaves. */
HA_IN_ void ha_begin_branches(ha_tree_maker *w) {
    ha_grown_tree *t = &w->t;
    for (int64_t k = 0; k < t->nodes; k++) {
        ha_node *above = t->node[k].leaf >= 0 ? &t->node[t->node[k].parent] : NULL;
        if (!above || above->branch >= 0) continue;
        above->branch = w->branches++;
        w->branch[above->branch] = (ha_branch){.tree = w->tree,
                                               .nodes = ha_node_slot(t, &t->node[k]) + 1,
                                               .first_step = above->branch * w->room};
    }
}

/* When all nodes are measured. */
HA_IN_ void ha_end_branches(const ha_tree_maker *w) {
    const ha_grown_tree *t = &w->t;
    for (int64_t k = 0; k < t->nodes; k++) {
        const int32_t branch = t->node[k].branch;
        for (int64_t n = branch < 0 ? -1 : k; n >= 0; n = t->node[n].parent)
            if (t->node[n].depth <= t->deepest)
                w->branch[branch].stride[ha_node_slot(t, &t->node[n])] = t->node[n].bytes;
    }
}

/* From a tree that has grown: applies the functors that `reader` is at, and measures. `origin` is what
 * positions count from. */
HA_IN_ ha_status ha_make_branches(ha_tree_maker *w, const char *origin, const char *functors) {
    const ha_reader start = {.text = origin ? origin : functors, .at = functors, .asked = w->asked};
    ha_status s;
    w->reader = start;
    s = ha_each_functor(&w->reader, ha_look_at_functor, w);
    if (s) return s;
    if (!ha_functors_end(&w->reader)) return ha_expected(&w->reader, "',' or the end");
    if (w->branch) ha_begin_branches(w);
    w->reader = start;
    s = ha_each_functor(&w->reader, ha_apply_functor, w);
    if (s) return s;
    if (!ha_measure(&w->t)) return ha_too_large(w->asked);
    if (w->branch) ha_end_branches(w);
    return HA_OK;
}

#endif
