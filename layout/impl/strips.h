/* Strips: values of some leaves of one size, for some records that follow each other, moved from one
 * arrangement to another. What every fast copy between layouts consists of. */
#ifndef HARRAY_LAYOUT_IMPL_STRIPS_H
#define HARRAY_LAYOUT_IMPL_STRIPS_H

#include "../status.h"
#include "basics.h"

/* For block b < blocks, leaf f < leaves and lane i < lanes: the `size` bytes at
 *     from + b * from_block + f * from_leaf + i * from_lane
 * go to the same with `to`. With a table, leaf f of block 0 begins at table[f] in place of base + f *
 * leaf stride. Sizes are 1, 2, 4, 8 and 16; any alignment; strides are bytes, of any sign. Source and
 * target have no byte in common, and no two values of the target have one. Counts are at least 1. In
 * any order: best so that the target's bytes are written one after the other. */
typedef struct ha_strips {
    char *to;
    const char *from;
    char *const *to_table;         /* NULL: to + f * to_leaf */
    const char *const *from_table; /* NULL: from + f * from_leaf */
    int64_t to_leaf, to_lane, to_block;
    int64_t from_leaf, from_lane, from_block;
    int64_t leaves, lanes, blocks;
    int32_t size;
    int32_t stream; /* 1: what is written is not read soon, and may go past the caches */
} ha_strips;

static char *ha_strip_to(const ha_strips *s, int64_t leaf) {
    return s->to_table ? s->to_table[leaf] : s->to + leaf * s->to_leaf;
}

static const char *ha_strip_from(const ha_strips *s, int64_t leaf) {
    return s->from_table ? s->from_table[leaf] : s->from + leaf * s->from_leaf;
}

/* One leaf at a time, with a loop for each size so that copies of single values are moves. */
#define HA_MOVE_LANES_(bytes)                                                                      \
    static void ha_move_lanes_##bytes(char *to, int64_t to_lane, const char *from,                 \
                                      int64_t from_lane, int64_t lanes) {                          \
        for (int64_t i = 0; i < lanes; i++) memcpy(to + i * to_lane, from + i * from_lane, bytes); \
    }
HA_MOVE_LANES_(1)
HA_MOVE_LANES_(2)
HA_MOVE_LANES_(4)
HA_MOVE_LANES_(8)
HA_MOVE_LANES_(16)

static void ha_move_lanes(char *to, int64_t to_lane, const char *from, int64_t from_lane,
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

static void ha_move_strips(const ha_strips *s) {
    for (int64_t b = 0; b < s->blocks; b++)
        for (int64_t f = 0; f < s->leaves; f++)
            ha_move_lanes(ha_strip_to(s, f) + b * s->to_block, s->to_lane,
                          ha_strip_from(s, f) + b * s->from_block, s->from_lane, s->lanes, s->size);
}

/* A part of a large target as a whole, past the caches where that can be. */
static void ha_move_past_caches(char *to, const char *from, int64_t bytes) {
    memcpy(to, from, (size_t)bytes);
}

/* When all is written that was, or may have been, past the caches: others see it from here on. */
static void ha_end_of_stream(void) {}

#endif
