/* Strided blocks: values of some leaves of one size, for some records that follow each other, moved
 * from one arrangement to another. What every fast copy between layouts consists of. */
#ifndef HARRAY_LAYOUT_IMPL_SIMD_STRIDED_BLOCKS_H
#define HARRAY_LAYOUT_IMPL_SIMD_STRIDED_BLOCKS_H

#include <stdatomic.h>

#include "interleave_x86.h"
#include "../base/all.h"

/* For block b < blocks, leaf f < leaves and lane i < lanes: the `size` bytes at
 *     from + b * from_block + f * from_leaf + i * from_lane
 * go to the same with `to`. With a table, leaf f of block 0 begins at table[f] in place of base + f *
 * leaf stride. Sizes are 1, 2, 4, 8 and 16; any alignment; strides are bytes, of any sign. Source and
 * target have no byte in common, and no two values of the target have one. Counts are at least 1. In
 * any order: best so that the target's bytes are written one after the other. */
typedef struct ha_strided_blocks {
    char *to;
    const char *from;
    char *const *to_table;         /* NULL: to + f * to_leaf */
    const char *const *from_table; /* NULL: from + f * from_leaf */
    int64_t to_leaf, to_lane, to_block;
    int64_t from_leaf, from_lane, from_block;
    int64_t leaves, lanes, blocks;
    int32_t size;
    int32_t stream; /* 1: what is written is not read soon, and may go past the caches */
} ha_strided_blocks;

HA_IN_ char *ha_strided_blocks_to(const ha_strided_blocks *s, int64_t leaf) {
    return s->to_table ? s->to_table[leaf] : s->to + leaf * s->to_leaf;
}

HA_IN_ const char *ha_strided_blocks_from(const ha_strided_blocks *s, int64_t leaf) {
    return s->from_table ? s->from_table[leaf] : s->from + leaf * s->from_leaf;
}

/* One leaf at a time, with a loop for each size so that copies of single values are moves. */
#define HA_MOVE_LANES_(bytes)                                                                      \
    HA_IN_ void ha_move_lanes_##bytes(char *to, int64_t to_lane, const char *from,                 \
                                      int64_t from_lane, int64_t lanes) {                          \
        for (int64_t i = 0; i < lanes; i++) memcpy(to + i * to_lane, from + i * from_lane, bytes); \
    }
HA_MOVE_LANES_(1)
HA_MOVE_LANES_(2)
HA_MOVE_LANES_(4)
HA_MOVE_LANES_(8)
HA_MOVE_LANES_(16)

HA_IN_ void ha_move_lanes(char *to, int64_t to_lane, const char *from, int64_t from_lane,
                          int64_t lanes, int32_t size) {
    if (to_lane == size && from_lane == size)
        memcpy(to, from, (size_t)(lanes * size));
    else if (size == 8)
        ha_move_lanes_8(to, to_lane, from, from_lane, lanes);
    else if (size == 4)
        ha_move_lanes_4(to, to_lane, from, from_lane, lanes);
    else if (size == 2)
        ha_move_lanes_2(to, to_lane, from, from_lane, lanes);
    else if (size == 1)
        ha_move_lanes_1(to, to_lane, from, from_lane, lanes);
    else
        ha_move_lanes_16(to, to_lane, from, from_lane, lanes);
}

/* Found once, as asking the processor takes microseconds in a virtual machine. Every thread finds the
 * same. */
HA_STATE_ _Atomic(const ha_interleavers *) ha_chosen_interleavers;

HA_IN_ const ha_interleavers *ha_best_interleavers(void) {
    const ha_interleavers *best = atomic_load_explicit(&ha_chosen_interleavers,
                                                       memory_order_relaxed);
    if (!best) {
        best = ha_find_interleavers();
        atomic_store_explicit(&ha_chosen_interleavers, best, memory_order_relaxed);
    }
    return best;
}

/* ---- past the caches ------------------------------------------------------------------------- */

/* A part of a large target as a whole, past the caches where that can be. */
HA_IN_ void ha_move_past_caches(char *to, const char *from, int64_t bytes) {
    const int64_t before = (int64_t)((0 - (uintptr_t)to) % 64);
    const int64_t head = ha_smaller(before, bytes), lines = (bytes - head) / 64 * 64;
    if (head) memcpy(to, from, (size_t)head);
    ha_best_interleavers()->lines_past(to + head, from + head, (size_t)lines);
    if (bytes - head - lines)
        memcpy(to + head + lines, from + head + lines, (size_t)(bytes - head - lines));
}

/* When all is written that was, or may have been, past the caches: others see it from here on. */
HA_IN_ void ha_end_of_stream(void) { ha_rows_past_end(); }

/* ---- strided blocks of one kind -------------------------------------------------------------- */

enum { HA_STRIDED_LEAVES = 32, HA_STRIDED_BYTES = 512 };

/* Leaves that are interleaved together. */
typedef struct ha_strided_blocks_set {
    const ha_strided_blocks *blocks;
    const ha_interleavers *interleavers;
    int kind; /* 2^kind bytes */
    int64_t first, leaves;
    char *row[HA_STRIDED_LEAVES];
} ha_strided_blocks_set;

HA_IN_ int ha_strided_blocks_kind(int32_t size) {
    return size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : size == 1 ? 0 : 4;
}

/* So many leaves from this one on as are neighbours in the records. */
HA_IN_ int64_t ha_strided_blocks_neighbours(const ha_strided_blocks *s, int64_t first,
                                            int is_gathered) {
    const int64_t most = ha_smaller(s->leaves - first, HA_STRIDED_LEAVES);
    int64_t n = 1;
    if (is_gathered)
        while (n < most && ha_strided_blocks_from(s, first + n) ==
                               ha_strided_blocks_from(s, first) + n * s->size)
            n++;
    else
        while (n < most &&
               ha_strided_blocks_to(s, first + n) == ha_strided_blocks_to(s, first) + n * s->size)
            n++;
    return n;
}

/* Rows are put together in a buffer, each as it lies in its lines, and written past the caches. */
HA_IN_ void ha_gather_past(ha_strided_blocks_set *set, const ha_interleave *all) {
    _Alignas(64) char buffer[HA_STRIDED_LEAVES][HA_STRIDED_BYTES + 64];
    char *row[HA_STRIDED_LEAVES];
    const int64_t size = set->blocks->size, most = HA_STRIDED_BYTES / size;
    ha_interleave part = *all;
    part.row = row;
    part.at = 0;
    for (int64_t f = 0; f < set->leaves; f++)
        row[f] = buffer[f] + (uintptr_t)(all->row[f] + all->at) % 64;
    for (int64_t i = 0; i < all->lanes; i += part.lanes) {
        part.lanes = ha_smaller(all->lanes - i, most);
        part.record = all->record + i * all->step;
        set->interleavers->gather[set->kind](&part);
        for (int64_t f = 0; f < set->leaves; f++)
            ha_move_past_caches(all->row[f] + all->at + i * size, row[f], part.lanes * size);
    }
}

/* Can whole lines of all rows be written at once? */
HA_IN_ int ha_gathers_lines(const ha_strided_blocks_set *set, const ha_interleave *w) {
    const int64_t size = set->blocks->size;
    uintptr_t all = (uintptr_t)(w->lanes * size);
    if (!set->interleavers->gather_past[set->kind] || w->leaves * size < 16) return 0;
    for (int64_t f = 0; f < w->leaves; f++) all |= (uintptr_t)(w->row[f] + w->at);
    return all % 64 == 0;
}

/* Where the next blocks are going to be read, if they lie behind these: so far ahead. */
HA_IN_ int64_t ha_strided_blocks_ahead(const ha_strided_blocks *s, int64_t lane) {
    return s->blocks > 1 ? s->blocks * s->from_block : s->lanes * lane;
}

HA_IN_ void ha_gather_set(ha_strided_blocks_set *set) {
    const ha_strided_blocks *s = set->blocks;
    const int64_t bytes = s->lanes * s->size;
    ha_interleave w = {
        .row = set->row, .step = s->from_lane, .leaves = set->leaves, .lanes = s->lanes};
    for (int64_t f = 0; f < set->leaves; f++) set->row[f] = ha_strided_blocks_to(s, set->first + f);
    w.ahead = ha_strided_blocks_ahead(s, s->from_lane);
    for (int64_t b = 0; b < s->blocks; b++) {
        w.at = b * s->to_block;
        w.record = (char *)(uintptr_t)(ha_strided_blocks_from(s, set->first) + b * s->from_block);
        if (s->stream && ha_gathers_lines(set, &w))
            set->interleavers->gather_past[set->kind](&w);
        else if (s->stream && bytes >= 64)
            ha_gather_past(set, &w);
        else
            set->interleavers->gather[set->kind](&w);
    }
}

HA_IN_ void ha_scatter_set(ha_strided_blocks_set *set) {
    const ha_strided_blocks *s = set->blocks;
    ha_interleave w = {
        .row = set->row, .step = s->to_lane, .leaves = set->leaves, .lanes = s->lanes};
    for (int64_t f = 0; f < set->leaves; f++)
        set->row[f] = (char *)(uintptr_t)ha_strided_blocks_from(s, set->first + f);
    w.ahead = ha_strided_blocks_ahead(s, s->size);
    for (int64_t b = 0; b < s->blocks; b++) {
        w.at = b * s->from_block;
        w.record = ha_strided_blocks_to(s, set->first) + b * s->to_block;
        set->interleavers->scatter[set->kind](&w);
    }
}

HA_IN_ void ha_strided_blocks_move_each(const ha_strided_blocks *s) {
    for (int64_t b = 0; b < s->blocks; b++)
        for (int64_t f = 0; f < s->leaves; f++)
            ha_move_lanes(ha_strided_blocks_to(s, f) + b * s->to_block, s->to_lane,
                          ha_strided_blocks_from(s, f) + b * s->from_block, s->from_lane, s->lanes,
                          s->size);
}

HA_IN_ void ha_strided_blocks_move(const ha_strided_blocks *s) {
    const int is_gathered = s->to_lane == s->size && s->from_lane != s->size;
    const int is_scattered = s->to_lane != s->size && s->from_lane == s->size;
    ha_strided_blocks_set set = {.blocks = s, .kind = ha_strided_blocks_kind(s->size)};
    if (!is_gathered && !is_scattered) {
        ha_strided_blocks_move_each(s);
        return;
    }
    set.interleavers = ha_best_interleavers();
    for (set.first = 0; set.first < s->leaves; set.first += set.leaves) {
        set.leaves = ha_strided_blocks_neighbours(s, set.first, is_gathered);
        if (is_gathered)
            ha_gather_set(&set);
        else
            ha_scatter_set(&set);
    }
}

#endif
