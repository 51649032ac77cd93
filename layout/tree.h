/* The mapping "tree": array and record as one tree, whose nodes are there some number of times, and
 * functors that move these numbers from node to node.
 *
 *     tree()                      for extents 16x16:
 *         16[16[1 pos[1 x, 1 y, 1 z], 1 mass]]
 *     tree(movedown(0;4))         the second extent, child 0 of the root, in blocks of 4
 *         16[4[4 pos[1 x, 1 y, 1 z], 4 mass]]
 *     tree(movedown(0;4), movedown(0/0;4))
 *         16[4[1 pos[4 x, 4 y, 4 z], 4 mass]]
 *     tree(leafonly)
 *         1[1[1 pos[256 x, 256 y, 256 z], 256 mass]]
 *
 * The root is the first dimension, and its only child the next one; the children of the last are the
 * members of the record. Names, and subscripts in them, are nodes: the children of a node are in the
 * order in which the fields first name them, even when other fields stand between. In memory lie all
 * copies of the root, each being all copies of its first child, then all of its second, and so on,
 * without gaps. At first dimensions are there as often as their extents, all others once.
 *
 * Functors, applied in their order:
 *     idem            nothing changes
 *     leafonly        all nodes are there once but the leaves, each as often as all nodes above it and
 *                     it itself multiply to: arrays of single values
 *     movedown(P;K)   node P is there once for every K copies it had, rounded up, and its children K
 *                     times as often. Where K does not divide, the last copy has room for values that
 *                     are not there. P: numbers of children, from 0, on the way down from the root,
 *                     with "/" between; nothing: the root. K: at least 1 */
#ifndef HARRAY_LAYOUT_TREE_H
#define HARRAY_LAYOUT_TREE_H

#include "detail/number.h"
#include "status.h"

enum {
    HA_MAPPING_RANK = 4,  /* most dimensions of a mapping */
    HA_TREE_NODES = 16,   /* most nodes between which the index of one leaf is divided */
    HA_TREE_PATH = 13,    /* most numbers in a path of "movedown" */
    HA_TREE_FUNCTORS = 64 /* most functors of one tree */
};

/* What a functor does to the indices of the nodes above a leaf:
 *     index[to] += index[from] % every * copies, and then index[from] /= every */
typedef struct ha_tree_step {
    int32_t from, to;
    int64_t every, copies;
} ha_tree_step;

/* All leaves that are children of one node. Their nodes' indices are those of the record in the
 * array, by dimension, then zeros, and then what the steps make of them. A leaf lies at the sum of
 * index * stride; its own index is the last, its stride its row's lane_stride. */
typedef struct ha_branch {
    int32_t tree;         /* which of the mapping's */
    int32_t nodes, steps; /* how many of each */
    int64_t first_step;   /* in the mapping's tree_step */
    int64_t stride[HA_TREE_NODES];
} ha_branch;

typedef struct ha_tree {
    const char *functors;               /* as text, up to its end or a ")" that closes it */
    int32_t dimension[HA_MAPPING_RANK]; /* from the root downwards */
} ha_tree;

/* Bytes from where the first value of a leaf lies to that of the record with this index. */
HA_FN int64_t ha_branch_offset_(const ha_branch *branch, const ha_tree_step *step, int64_t stride,
                                int rank, const int64_t *index) {
    int64_t at[HA_TREE_NODES] = {0}, offset; /* a compiler does not know that there is a node */
    for (int k = 0; k < branch->nodes; k++) at[k] = k < rank ? index[k] : 0;
    for (int k = 0; k < branch->steps; k++) {
        const ha_tree_step s = step[k];
        at[s.to] += at[s.from] % s.every * s.copies;
        at[s.from] /= s.every;
    }
    offset = at[branch->nodes - 1] * stride;
    for (int k = 0; k < branch->nodes - 1; k++) offset += at[k] * branch->stride[k];
    return offset;
}

#endif
