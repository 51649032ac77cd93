/* The layout "tree" as rows of a mapping. */
#ifndef HARRAY_LAYOUT_IMPL_TREE_BUILD_H
#define HARRAY_LAYOUT_IMPL_TREE_BUILD_H

#include "branches.h"
#include "build.h"

/* ---- room -------------------------------------------------------------------------------------- */

/* How many trees are in a layout, and how many steps a branch of them may have at most. */
typedef struct ha_tree_needs {
    int64_t trees, room;
} ha_tree_needs;

static void ha_find_tree_needs(const ha_layout *layout, ha_tree_needs *needs) {
    if (layout->kind == HA_LAYOUT_TREE) {
        needs->trees++;
        needs->room = ha_larger(needs->room, ha_tree_room(layout->functors));
    }
    if (layout->first) ha_find_tree_needs(layout->first, needs);
    if (layout->second) ha_find_tree_needs(layout->second, needs);
}

/* For n leaves. All of these numbers are small. */
static size_t ha_tree_bytes(ha_tree_needs needs, int64_t n) {
    if (needs.trees == 0) return 0;
    return (size_t)needs.trees * sizeof(ha_tree) + (size_t)n * sizeof(ha_branch) +
           (size_t)(n * needs.room) * sizeof(ha_tree_step);
}

/* Gives out memory of that many bytes; returns what is behind it. */
static char *ha_give_trees(ha_builder *b, ha_tree_needs needs, int64_t n, char *memory) {
    ha_mapping *m = b->mapping;
    if (needs.trees == 0) return memory;
    b->branch = (ha_branch *)(void *)memory;
    b->tree_step = (ha_tree_step *)(void *)(b->branch + n);
    b->tree = (ha_tree *)(void *)(b->tree_step + n * needs.room);
    b->tree_room = needs.room;
    m->branch = b->branch;
    m->tree_step = b->tree_step;
    m->tree = b->tree;
    return (char *)(b->tree + needs.trees);
}

/* Where in the text of the whole mapping the functors of each tree stand. */
static void ha_point_at_functors(const ha_builder *b) {
    const char *at = b->mapping->text;
    for (int32_t k = 0; k < b->mapping->trees; k++) { /* no path is followed by "(" */
        at = strstr(at, "tree(") + strlen("tree(");
        b->tree[k].functors = at;
    }
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* Is a place in the tree, whatever the indices, a multiple of this? */
static int ha_branch_is_aligned(const ha_branch *branch, const ha_row *row, int64_t alignment) {
    int64_t all = row->lane_stride;
    for (int k = 0; k < branch->nodes - 1; k++) all |= branch->stride[k];
    return all % alignment == 0;
}

static void ha_add_tree_rows(ha_builder *b, const ha_tree_maker *w, const ha_layout_part *part) {
    const ha_node *root = w->t.node;
    const int64_t bytes = root->copies * root->bytes;
    ha_add_section(b, -1 - w->tree, 0, bytes, 1);
    for (int64_t k = 0; k < w->t.nodes; k++) {
        const ha_node *n = &w->t.node[k];
        if (n->leaf < 0) continue;
        const int32_t leaf = part->leaf[n->leaf];
        ha_add_row(b, leaf, ha_node_offset(&w->t, k), n->bytes);
        b->row[leaf].linearizer = -1 - w->t.node[n->parent].branch;
    }
}

static ha_status ha_build_grown(ha_builder *b, ha_tree_maker *w, const ha_layout *layout,
                                const ha_layout_part *part) {
    ha_mapping *m = b->mapping;
    const ha_node *root = w->t.node;
    const char *functors = layout->functors ? layout->functors : "";
    int64_t bytes;
    ha_status s;
    ha_grow_dimensions(&w->t, m, part->dimension);
    for (int64_t k = 0; k < part->leaves; k++) {
        const ha_leaf *leaf = &b->leaf[part->leaf[k]];
        ha_grow_leaf(&w->t, m->record, leaf, k, ha_scalar_size(leaf->scalar));
    }
    s = ha_make_branches(w, b->origin, functors);
    if (s) return s;
    if (!ha_product(root->copies, root->bytes, &bytes)) return ha_too_large(b);
    ha_add_tree_rows(b, w, part);
    for (int d = 0; d < HA_MAPPING_RANK; d++) b->tree[w->tree].dimension[d] = part->dimension[d];
    m->branches = w->branches;
    m->trees++;
    return HA_OK;
}

static ha_status ha_build_tree(ha_builder *b, const ha_layout *layout,
                               const ha_layout_part *part) {
    const ha_mapping *m = b->mapping;
    const size_t bytes = (size_t)ha_most_nodes(m->record) * sizeof(ha_node);
    ha_tree_maker w = {.asked = b->asked,
                       .tree = m->trees,
                       .branches = m->branches,
                       .branch = b->branch,
                       .step = b->tree_step,
                       .room = b->tree_room};
    ha_status s;
    w.t.node = (ha_node *)HA_LAYOUT_MALLOC_(bytes);
    if (!w.t.node) return ha_no_memory(b->asked, bytes);
    s = ha_build_grown(b, &w, layout, part);
    HA_LAYOUT_FREE_(w.t.node);
    return s;
}

#endif
