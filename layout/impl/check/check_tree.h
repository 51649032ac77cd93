/* Are rows of trees what the functors make of the record? Then no two values of a tree overlap:
 * each node is divided among its copies and children, and indices stay different. */
#ifndef HARRAY_LAYOUT_IMPL_CHECK_CHECK_TREE_H
#define HARRAY_LAYOUT_IMPL_CHECK_CHECK_TREE_H

#include "../tree/all.h"

/* Where a tree lies. */
typedef struct ha_checked_tree {
    int64_t start, bytes;
} ha_checked_tree;

HA_IN_ const char *ha_tree_row_mistake(const ha_mapping *m, const ha_row *row) {
    const int32_t number = -1 - row->linearizer;
    if (number < 0 || number >= m->branches) return "a row is of a branch that does not exist";
    if (m->branch[number].tree < 0 || m->branch[number].tree >= m->trees)
        return "a branch is of a tree that does not exist";
    return NULL;
}

HA_IN_ const char *ha_tree_mistake(const ha_mapping *m, const ha_tree *tree) {
    int seen = 0;
    if (!tree->functors) return "a tree has no functors, not even an empty text";
    for (int d = 0; d < m->rank; d++) {
        if (tree->dimension[d] < 0 || tree->dimension[d] >= m->rank) return "no such dimension";
        seen |= 1 << tree->dimension[d];
    }
    return seen != (1 << m->rank) - 1 ? "a dimension of a tree is there twice" : NULL;
}

HA_IN_ int ha_same_branch(const ha_mapping *m, const ha_branch *said, const ha_tree_maker *w,
                          const ha_branch *made) {
    int same = said->nodes == made->nodes && said->steps == made->steps;
    for (int k = 0; same && k < made->nodes - 1; k++) same = said->stride[k] == made->stride[k];
    for (int k = 0; same && k < made->steps; k++) {
        const ha_tree_step *x = &m->tree_step[said->first_step + k];
        const ha_tree_step *y = &w->step[made->first_step + k];
        same = x->from == y->from && x->to == y->to && x->every == y->every &&
               x->copies == y->copies;
    }
    return same;
}

HA_IN_ ha_status ha_check_grown(const ha_mapping *m, const ha_tree_maker *w,
                                ha_checked_tree *found) {
    int32_t blob = -1;
    found->bytes = w->t.bytes;
    for (int64_t k = 0; k < w->t.nodes; k++) {
        const ha_node *n = &w->t.node[k];
        const ha_row *row;
        if (n->leaf < 0) continue;
        row = ha_row_of_tree(m, n->leaf);
        if (blob < 0) {
            blob = row->blob;
            found->start = row->base - ha_node_offset(&w->t, k);
        }
        if (row->blob != blob || row->base - found->start != ha_node_offset(&w->t, k) ||
            !ha_same_branch(m, &m->branch[-1 - row->linearizer], w,
                            &w->branch[w->t.node[n->parent].branch]))
            return ha_refuse(w->asked, HA_ERR_ARGUMENT, 0, "a row is not where the tree has it");
    }
    return HA_OK;
}

HA_IN_ ha_status ha_check_tree(const ha_mapping *m, int32_t number, const ha_asked *asked,
                               ha_checked_tree *found) {
    ha_tree_maker w;
    const char *mistake = ha_tree_mistake(m, &m->tree[number]);
    ha_status s;
    *found = (ha_checked_tree){0};
    if (mistake) return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "%s", mistake);
    s = ha_tree_of(m, number, 1, &w, asked);
    if (!s) s = ha_check_grown(m, &w, found);
    HA_LAYOUT_FREE_(w.t.node);
    return s;
}

#endif
