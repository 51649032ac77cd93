/* Strips: values of some leaves of one size, for some records that follow each other, moved from one
 * arrangement to another. What every fast copy between layouts consists of. */
#ifndef HARRAY_LAYOUT_IMPL_STRIPS_H
#define HARRAY_LAYOUT_IMPL_STRIPS_H

#include "basics.h"

/* For leaf f < leaves and lane i < lanes: the `size` bytes at from + f * from_leaf + i * from_lane go to
 * to + f * to_leaf + i * to_lane. With a table, leaf f begins at table[f] in place of base + f * leaf
 * stride. Sizes are 1, 2, 4, 8 and 16; any alignment; strides are bytes, of any sign. Source and target
 * have no byte in common, and no two values of the target have one. Counts are at least 1. */
typedef struct ha_strips {
    char *to;
    const char *from;
    char *const *to_table;         /* NULL: to + f * to_leaf */
    const char *const *from_table; /* NULL: from + f * from_leaf */
    int64_t to_leaf, to_lane;
    int64_t from_leaf, from_lane;
    int64_t leaves, lanes;
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
    for (int64_t f = 0; f < s->leaves; f++)
        ha_move_lanes(ha_strip_to(s, f), s->to_lane, ha_strip_from(s, f), s->from_lane, s->lanes,
                      s->size);
}

#endif
