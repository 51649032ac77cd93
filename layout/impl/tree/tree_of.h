/* The trees of a mapping, grown again from what it says of them: as text, and to be checked. */
#ifndef HARRAY_LAYOUT_IMPL_TREE_TREE_OF_H
#define HARRAY_LAYOUT_IMPL_TREE_TREE_OF_H

#include "branches.h"
#include "../record/all.h"

/* A row of a tree: number of the record's leaf, or, from m->rows on, of one of its bytes. */
HA_IN_ const ha_row *ha_row_of_tree(const ha_mapping *m, int64_t number) {
    return number < m->rows ? &m->row[number] : &m->byte_row[number - m->rows];
}

HA_IN_ int ha_is_of_tree(const ha_mapping *m, const ha_row *row, int32_t tree) {
    return row->blob >= 0 && row->linearizer < 0 && m->branch[-1 - row->linearizer].tree == tree;
}

/* Goes through the leaves of a tree and grows them; without nodes, gives how many these may be. */
HA_IN_ int64_t ha_grow_again(const ha_mapping *m, int32_t tree, ha_grown_tree *t) {
    const ha_record *record = m->record;
    int64_t nodes = HA_MAPPING_RANK, number = 0;
    for (int64_t f = 0; f < record->fields; f++) {
        const int64_t leaves = ha_field_leaves(&record->field[f]);
        for (int64_t k = 0; k < leaves; k++, number++) {
            const ha_coding *coding = ha_row_coding(m, &m->row[number]);
            const int64_t bytes = coding ? coding->bytes : 0;
            ha_leaf leaf;
            if (!ha_is_of_tree(m, &m->row[number], tree)) continue;
            ha_leaf_of_field(record, f, k, &leaf);
            for (int64_t b = 0; b < (bytes > 0 ? bytes : 1); b++) {
                const int64_t row = bytes > 0 ? m->rows + coding->byte_row + b : number;
                nodes += ha_path_steps(record, &leaf);
                if (t->node)
                    ha_grow_leaf(t, record, &leaf, row, ha_row_of_tree(m, row)->lane_stride,
                                 bytes > 0 ? b : -1);
            }
        }
    }
    return nodes;
}

/* What is grown is freed by HA_LAYOUT_FREE_(w->t.node), whatever the status is. With branches there
 * are also these. */
HA_IN_ ha_status ha_tree_of(const ha_mapping *m, int32_t number, int with_branches,
                            ha_tree_maker *w, const ha_asked *asked) {
    const ha_tree *tree = &m->tree[number];
    *w = (ha_tree_maker){.asked = asked, .tree = number, .room = ha_tree_room(tree->functors)};
    const size_t nodes = (size_t)ha_grow_again(m, number, &w->t);
    const size_t branches = with_branches ? nodes : 0;
    const size_t bytes = nodes * sizeof(ha_node) + branches * sizeof(ha_branch) +
                         branches * (size_t)w->room * sizeof(ha_tree_step);
    w->t.node = (ha_node *)HA_LAYOUT_MALLOC_(bytes);
    if (!w->t.node) return ha_no_memory(asked, bytes);
    if (with_branches) {
        w->branch = (ha_branch *)(void *)(w->t.node + nodes);
        w->step = (ha_tree_step *)(void *)(w->branch + branches);
    }
    ha_grow_dimensions(&w->t, m, tree->dimension);
    (void)ha_grow_again(m, number, &w->t);
    return ha_make_branches(w, NULL, tree->functors);
}

/* ---- as text ----------------------------------------------------------------------------------- */

/* Goes down to a child, on to a sibling, or up until there is one. -1: that was the last. */
HA_IN_ int64_t ha_next_node(const ha_grown_tree *t, int64_t node, ha_text *w) {
    if (t->node[node].first >= 0) {
        ha_print(w, "[");
        return t->node[node].first;
    }
    while (node >= 0 && t->node[node].next < 0) {
        node = t->node[node].parent;
        if (node >= 0) ha_print(w, "]");
    }
    if (node < 0) return -1;
    ha_print(w, ", ");
    return t->node[node].next;
}

HA_IN_ ha_status ha_put_tree(ha_text *w, const ha_mapping *m, int32_t number) {
    const ha_asked nobody = {0};
    ha_tree_maker made;
    const ha_status s = ha_tree_of(m, number, 0, &made, &nobody);
    for (int64_t k = 0; !s && k >= 0; k = ha_next_node(&made.t, k, w)) {
        const ha_node *n = &made.t.node[k];
        ha_print(w, "%lld", (long long)n->copies);
        if (n->name) ha_print(w, " %.*s", (int)n->length, n->name);
    }
    HA_LAYOUT_FREE_(made.t.node);
    return s;
}

HA_API int64_t ha_mapping_tree_text(const ha_mapping *mapping, int32_t number, char *buffer,
                                    size_t size) {
    ha_text w = ha_text_into(buffer, size);
    if (!mapping || number < 0 || number >= mapping->trees) return -1;
    return ha_put_tree(&w, mapping, number) ? -1 : (int64_t)w.length;
}

#endif
