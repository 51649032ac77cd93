/* Pieces of memory by address: a tree that is ordered by it, and is balanced as its pieces are ordered by a
 * hash of the address from the root down. They do not overlap. It tells whose memory a pointer is, of blocks
 * (what comes from the cache and goes back to it stays in it) and of what the caller owns. */
#ifndef HARRAY_IMPL_BASE_ADDRESS_TREE_H
#define HARRAY_IMPL_BASE_ADDRESS_TREE_H

#include "steps.h"
#include <stddef.h>
#include "../../status.h"

/* In the record of a piece: the bytes [first, last), which are some, and what is left and right of it. */
typedef struct ha_piece_node {
    uintptr_t first, last;
    struct ha_piece_node *below, *above;
} ha_piece_node;

static inline uint64_t ha_tree_rank(const ha_piece_node *b) {
    return (uint64_t)b->first * 0x9E3779B97F4A7C15u;
}

/* What begins before `address`, and the rest. */
HA_IN_ void ha_tree_split(ha_piece_node *t, uintptr_t address, ha_piece_node **below,
                          ha_piece_node **above) {
    while (t) {
        HA_COUNT_STEP_();
        if (t->first < address) {
            *below = t;
            below = &t->above;
            t = t->above;
        } else {
            *above = t;
            above = &t->below;
            t = t->below;
        }
    }
    *below = *above = NULL;
}

/* b->first and b->last are set. */
HA_IN_ void ha_tree_add(ha_piece_node **at, ha_piece_node *b) {
    while (*at && ha_tree_rank(*at) >= ha_tree_rank(b)) {
        HA_COUNT_STEP_();
        at = b->first < (*at)->first ? &(*at)->below : &(*at)->above;
    }
    ha_piece_node *t = *at;
    *at = b;
    ha_tree_split(t, b->first, &b->below, &b->above);
}

HA_IN_ void ha_tree_remove(ha_piece_node **at, const ha_piece_node *b) {
    while (*at != b) {
        HA_COUNT_STEP_();
        at = b->first < (*at)->first ? &(*at)->below : &(*at)->above;
    }
    ha_piece_node *below = b->below, *above = b->above;
    while (below && above) {
        HA_COUNT_STEP_();
        if (ha_tree_rank(below) >= ha_tree_rank(above)) {
            *at = below;
            at = &below->above;
            below = *at;
        } else {
            *at = above;
            at = &above->below;
            above = *at;
        }
    }
    *at = below ? below : above;
}

/* The first piece that ends behind an address; NULL: none does. */
HA_IN_ ha_piece_node *ha_tree_find(ha_piece_node *t, uintptr_t address) {
    ha_piece_node *found = NULL;
    while (t) {
        HA_COUNT_STEP_();
        if (t->last > address) {
            found = t;
            t = t->below;
        } else
            t = t->above;
    }
    return found;
}

#endif
