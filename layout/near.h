/* Loops over neighbours, and parts of a region.
 *
 *     HA_VIEW(grid, cell, 3, HA_AOSOA(16, HA_ROWS))
 *     HA_EACH_NEAR(grid, g, at, ha_inside(grid_region(g), 3, 1))
 *         *grid_next(g, at) = *grid_now(g, ha_neighbour(at, 2, -1)) + *grid_now(g, ha_neighbour(at, 2, 1)) + …
 *
 * HA_EACH_NEAR is HA_EACH_IN for bodies that look one to the left and right along the fastest
 * dimension: in a blocked layout only the first and the last lane of a block find these neighbours in
 * another block, so they are taken alone and the lanes between them stay vectors. Neighbours along
 * other dimensions keep their lane where rows are whole blocks, HA_AOSOA(L, HA_ROWS), in any loop.
 * In flat layouts it is the same as HA_EACH_IN. The body is compiled nine times: keep it short. */
#ifndef HARRAY_LAYOUT_NEAR_H
#define HARRAY_LAYOUT_NEAR_H

#include "each.h"

/* Lanes [first, last) of a block in three pieces: edge -1, its first lane; 0, those between; 1, its
 * last lane. A flat layout has the piece 0 alone, with all. */
HA_FN ptrdiff_t ha_near_first_(ha_walk_ w, ptrdiff_t first, int edge) {
    return w.lanes == 0 || edge < 0 ? first : ha_max_(first, edge == 0 ? 1 : w.lanes - 1);
}

HA_FN ptrdiff_t ha_near_last_(ha_walk_ w, ptrdiff_t start, ptrdiff_t block, int phase, int edge) {
    const ptrdiff_t last = ha_last_lane_(w, start, block, phase);
    const ptrdiff_t end = edge < 0 ? 1 : edge == 0 ? w.lanes - 1 : w.lanes;
    if (w.lanes == 0) return last;
    return phase == 1 ? HA_LATE_(end, ha_min_(end, last)) : ha_min_(end, last);
}

HA_FN ha_cursor ha_in_piece_(ha_cursor row, ptrdiff_t lanes, ptrdiff_t block, int edge) {
    row.block = block;
    row.lanes = lanes;
    row.edge = edge;
    return row;
}

/* clang-format off */
#define HA_EACH_NEAR(V, v, at, region) \
    for (ha_walk_ ha_##at##_w = V##_walk_(v, region); ha_##at##_w.more; ha_##at##_w.more = 0) \
    HA_EACH_ROW_(ha_##at##_w) \
    HA_EACH_BLOCK_(ha_##at##_w) \
    HA_UNROLLED_ for (int ha_##at##_q = ha_##at##_w.lanes ? -1 : 0, ha_##at##_k = ha_##at##_w.lanes ? 2 : 1; ha_##at##_q < ha_##at##_k; ha_##at##_q++) \
    for (ha_cursor at = ha_in_piece_(ha_row_(ha_##at##_w.shape, ha_##at##_w_y, ha_##at##_w_z, ha_##at##_w_u), ha_##at##_w.lanes, ha_##at##_w_b, ha_##at##_q); at.rank; at.rank = 0) \
    for (ptrdiff_t ha_##at##_0 = ha_near_first_(ha_##at##_w, ha_first_lane_(ha_##at##_w, ha_##at##_w_s, ha_##at##_w_b, ha_##at##_w_p), ha_##at##_q), \
                   ha_##at##_1 = ha_near_last_(ha_##at##_w, ha_##at##_w_s, ha_##at##_w_b, ha_##at##_w_p, ha_##at##_q), ha_##at##_o = ha_##at##_w.more; \
         ha_##at##_o; ha_##at##_o = 0, ha_##at##_w.more = at.lane >= ha_##at##_1) \
    HA_INDEPENDENT_ for (at.lane = ha_##at##_0; at.lane < ha_##at##_1; at.lane++)
/* clang-format on */

/* Part number `part` of `parts` of a region, for threads: the parts are disjoint and together all
 * of it; some may be empty. It is cut along its first dimension that is long enough, else along its
 * longest one. A region of one dimension is cut at multiples of 64, so that no block of up to 64
 * lanes has two owners, if it is long enough for that. 0 <= part < parts. */
HA_FN ha_region ha_part(ha_region region, ptrdiff_t part, ptrdiff_t parts) {
    int cut = -1, longest = 0, used = 0;
    for (int d = 0; d < HA_MOST_DIMENSIONS_; d++) {
        const ptrdiff_t n = region.last[d] - region.first[d];
        if (cut < 0 && n >= parts && n > 1) cut = d;
        if (n > region.last[longest] - region.first[longest]) longest = d;
        used += n > 1;
    }
    if (cut < 0) cut = longest;
    const ptrdiff_t first = region.first[cut], last = region.last[cut];
    const ptrdiff_t n = last > first ? last - first : 0, whole = n / parts, rest = n % parts;
    const ptrdiff_t grain = used == 1 && whole >= 64 ? 64 : 1;
    const ptrdiff_t from = first + part * whole + ha_min_(part, rest);
    const ptrdiff_t to = from + whole + (part < rest);
    region.first[cut] = part == 0 ? first : ha_min_(last, ha_up_(from, grain));
    region.last[cut] = part == parts - 1 ? last : ha_min_(last, ha_up_(to, grain));
    return region;
}

#endif
