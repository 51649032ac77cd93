/* Blocks by address: a tree that is ordered by it, and is balanced as its blocks are ordered by a hash of
 * the address from the root down. Blocks do not overlap. It tells whose memory a pointer is; what comes
 * from the cache and goes back to it stays in it. */
#ifndef HARRAY_IMPL_MEMORY_BLOCK_TREE_H
#define HARRAY_IMPL_MEMORY_BLOCK_TREE_H

#include "block.h"

static inline uint64_t ha_tree_rank(const ha_block *b) {
    return (uint64_t)(uintptr_t)b->data * 0x9E3779B97F4A7C15u;
}

/* What begins before `address`, and the rest. */
HA_IN_ void ha_tree_split(ha_block *t, uintptr_t address, ha_block **below, ha_block **above) {
    while (t)
        if ((uintptr_t)t->data < address) {
            *below = t;
            below = &t->above;
            t = t->above;
        } else {
            *above = t;
            above = &t->below;
            t = t->below;
        }
    *below = *above = NULL;
}

HA_IN_ void ha_tree_add(ha_block **at, ha_block *b) {
    const uintptr_t address = (uintptr_t)b->data;
    while (*at && ha_tree_rank(*at) >= ha_tree_rank(b))
        at = address < (uintptr_t)(*at)->data ? &(*at)->below : &(*at)->above;
    ha_block *t = *at;
    *at = b;
    ha_tree_split(t, address, &b->below, &b->above);
}

HA_IN_ void ha_tree_remove(ha_block **at, const ha_block *b) {
    while (*at != b)
        at = (uintptr_t)b->data < (uintptr_t)(*at)->data ? &(*at)->below : &(*at)->above;
    ha_block *below = b->below, *above = b->above;
    while (below && above)
        if (ha_tree_rank(below) >= ha_tree_rank(above)) {
            *at = below;
            at = &below->above;
            below = *at;
        } else {
            *at = above;
            at = &above->below;
            above = *at;
        }
    *at = below ? below : above;
}

/* The first block that ends behind an address; NULL: none does. */
HA_IN_ const ha_block *ha_tree_find(const ha_block *t, uintptr_t address) {
    const ha_block *found = NULL;
    while (t)
        if ((uintptr_t)t->data + t->bytes > address) {
            found = t;
            t = t->below;
        } else
            t = t->above;
    return found;
}

#endif
