/* The layout "tree" as rows of a mapping. */
#ifndef HARRAY_LAYOUT_IMPL_MAPPING_TREE_BUILD_H
#define HARRAY_LAYOUT_IMPL_MAPPING_TREE_BUILD_H

#include "builder.h"

/* ---- room -------------------------------------------------------------------------------------- */

/* How many trees are in a layout, and how many steps a branch of them may have. */
HA_IN_ void ha_find_trees(ha_builder *b, const ha_layout *layout) {
    if (layout->kind == HA_LAYOUT_TREE) {
        b->trees++;
        b->tree_room = ha_larger(b->tree_room, ha_tree_room(layout->functors));
    }
    if (layout->first) ha_find_trees(b, layout->first);
    if (layout->second) ha_find_trees(b, layout->second);
}

/* All of these numbers are small. */
HA_IN_ size_t ha_tree_bytes(const ha_builder *b) {
    const size_t branches = b->trees > 0 ? (size_t)b->room : 0;
    return (size_t)b->trees * sizeof(ha_tree) +
           branches * (sizeof(ha_branch) + (size_t)b->tree_room * sizeof(ha_tree_step));
}

/* Memory of that many bytes. */
HA_IN_ void ha_give_trees(ha_builder *b, void *memory) {
    b->tree = (ha_tree *)memory;
    b->branch = (ha_branch *)(void *)(b->tree + b->trees);
    b->tree_step = (ha_tree_step *)(void *)(b->branch + (b->trees > 0 ? b->room : 0));
}

/* Where in the text of the whole mapping the functors of each tree stand. */
HA_IN_ void ha_point_at_functors(const ha_mapping *m) {
    ha_tree *tree = (ha_tree *)m->tree;
    const char *at = m->text;
    for (int32_t k = 0; k < m->trees; k++) { /* no path is followed by "(" */
        at = strstr(at, "tree(") + strlen("tree(");
        tree[k].functors = at;
    }
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* Is a place in the tree, whatever the indices, a multiple of this? Its leaves' own strides aside. */
HA_IN_ int ha_branch_is_aligned(const ha_branch *branch, int64_t alignment) {
    int64_t all = 0;
    for (int k = 0; k < branch->nodes - 1; k++) all |= branch->stride[k];
    return all % alignment == 0;
}

HA_IN_ void ha_add_tree_rows(ha_builder *b, const ha_tree_maker *w, const ha_layout_part *part) {
    ha_add_section(b, -1 - w->tree, 0, w->t.bytes, 1);
    for (int64_t k = 0; k < w->t.nodes; k++) {
        const ha_node *n = &w->t.node[k];
        if (n->leaf < 0) continue;
        const int32_t leaf = part->leaf[n->leaf];
        ha_add_row(b, leaf, ha_node_offset(&w->t, k), n->bytes);
        b->row[leaf].linearizer = -1 - w->t.node[n->parent].branch;
    }
}

/* Which byte of its leaf this one is, when leaves are split into bytes; else -1. These are neighbours. */
HA_IN_ int64_t ha_byte_of_leaf(const ha_builder *b, const ha_layout_part *part, int64_t k) {
    const int32_t number = part->leaf[k];
    if (!part->bytes || number < b->mapping->rows) return -1;
    for (int64_t first = k; first > 0; first--) {
        const ha_leaf *leaf = &b->leaf[part->leaf[k]], *before = &b->leaf[part->leaf[first - 1]];
        if (part->leaf[first - 1] < b->mapping->rows || leaf->field != before->field ||
            memcmp(leaf->subscript, before->subscript, sizeof leaf->subscript) != 0)
            return k - first;
    }
    return k;
}

HA_IN_ ha_status ha_build_grown(ha_builder *b, ha_tree_maker *w, const ha_layout *layout,
                                const ha_layout_part *part) {
    ha_mapping *m = b->mapping;
    ha_status s;
    ha_grow_dimensions(&w->t, m, part->dimension);
    for (int64_t k = 0; k < part->leaves; k++) {
        const ha_leaf *leaf = &b->leaf[part->leaf[k]];
        ha_grow_leaf(&w->t, m->record, leaf, k, (int64_t)ha_dtype_size(leaf->type),
                     ha_byte_of_leaf(b, part, k));
    }
    s = ha_make_branches(w, b->origin, layout->functors ? layout->functors : "");
    if (!s && *w->reader.at) s = ha_expected(&w->reader, "',' or the end");
    if (s) return s;
    ha_add_tree_rows(b, w, part);
    for (int d = 0; d < HA_MAPPING_RANK; d++) b->tree[w->tree].dimension[d] = part->dimension[d];
    m->branches = w->branches;
    m->trees++;
    return HA_OK;
}

HA_IN_ ha_status ha_build_tree(ha_builder *b, const ha_layout *layout, const ha_layout_part *part) {
    const ha_mapping *m = b->mapping;
    int64_t nodes = HA_MAPPING_RANK;
    size_t bytes;
    ha_tree_maker w = {.asked = b->asked,
                       .tree = m->trees,
                       .branches = m->branches,
                       .branch = b->branch,
                       .step = b->tree_step,
                       .room = b->tree_room};
    ha_status s;
    for (int64_t k = 0; k < part->leaves; k++)
        nodes += ha_path_steps(m->record, &b->leaf[part->leaf[k]]);
    bytes = (size_t)nodes * sizeof(ha_node);
    w.t.node = (ha_node *)HA_LAYOUT_MALLOC_(bytes);
    if (!w.t.node) return ha_no_memory(b->asked, bytes);
    s = ha_build_grown(b, &w, layout, part);
    HA_LAYOUT_FREE_(w.t.node);
    return s;
}

#endif
