/* Loops that know the layout: one text of the body, and the compiler sees of it what it would see of
 * a loop written by hand for each layout.
 *
 *     HA_EACH(sky, v, at) *sky_pos_x(v, at) += dt * *sky_vel_x(v, at);
 *     HA_EACH_IN(grid, g, at, ha_box3(1, nz - 1, 1, ny - 1, 1, nx - 1)) { … ha_coordinate(at, 0) … ha_index(at) … }
 *
 * The iterations have to be independent of each other, as the compiler is told so: no iteration may
 * read or write an element of the view that another one writes. Sums go into local variables. `break`
 * leaves the whole loop, `continue` goes to the next element. The order is the one of memory.
 *
 * Why it looks as it does: a blocked layout has a partial first block in a row, then full blocks, then
 * a partial last one. Each is a phase of one unrolled loop, so that the number of lanes is a constant
 * in the full phase; all bounds are plain variables made before the loop that they bound; whether
 * `break` was used is asked once a block. */
#ifndef HARRAY_LAYOUT_EACH_H
#define HARRAY_LAYOUT_EACH_H

#include "detail/cursor.h"

/* ---- regions --------------------------------------------------------------------------------- */

/* A box of indices, [first, last) in each dimension, in the order of the view's extents. */
typedef struct ha_region {
    ptrdiff_t first[HA_MOST_DIMENSIONS_], last[HA_MOST_DIMENSIONS_];
} ha_region;

HA_FN ha_region ha_box4(ptrdiff_t first0, ptrdiff_t last0, ptrdiff_t first1, ptrdiff_t last1,
                        ptrdiff_t first2, ptrdiff_t last2, ptrdiff_t first3, ptrdiff_t last3) {
    ha_region box = {{first0, first1, first2, first3}, {last0, last1, last2, last3}};
    return box;
}
HA_FN ha_region ha_box3(ptrdiff_t first0, ptrdiff_t last0, ptrdiff_t first1, ptrdiff_t last1,
                        ptrdiff_t first2, ptrdiff_t last2) {
    return ha_box4(first0, last0, first1, last1, first2, last2, 0, 1);
}
HA_FN ha_region ha_box2(ptrdiff_t first0, ptrdiff_t last0, ptrdiff_t first1, ptrdiff_t last1) {
    return ha_box4(first0, last0, first1, last1, 0, 1, 0, 1);
}
HA_FN ha_region ha_box1(ptrdiff_t first, ptrdiff_t last) {
    return ha_box4(first, last, 0, 1, 0, 1, 0, 1);
}

/* The region without its outermost `width` indices at each side of the first `rank` dimensions. */
HA_FN ha_region ha_inside(ha_region box, int rank, ptrdiff_t width) {
    for (int d = 0; d < rank; d++) {
        box.first[d] += width;
        box.last[d] -= width;
    }
    return box;
}

/* ---- the walk over a region ------------------------------------------------------------------ */

typedef struct ha_walk_ {
    ha_shape_ shape;
    ptrdiff_t x0, x1, y0, y1, z0, z1, u0, u1;
    ptrdiff_t lanes; /* 0: flat */
    int more;        /* 0: the body has left the loop */
} ha_walk_;

HA_FN ha_walk_ ha_walk_of_(ha_shape_ s, ha_region box) {
    const bool col = s.order == HA_COL;
    ha_walk_ w;
    w.shape = s;
    w.lanes = s.order == HA_MORTON ? 0 : s.lanes;
    w.x0 = box.first[col ? 0 : s.rank - 1];
    w.x1 = box.last[col ? 0 : s.rank - 1];
    w.y0 = s.rank > 1 ? box.first[col ? 1 : s.rank - 2] : 0;
    w.y1 = s.rank > 1 ? box.last[col ? 1 : s.rank - 2] : 1;
    w.z0 = s.rank > 2 ? box.first[col ? 2 : s.rank - 3] : 0;
    w.z1 = s.rank > 2 ? box.last[col ? 2 : s.rank - 3] : 1;
    w.u0 = s.rank > 3 ? box.first[col ? 3 : 0] : 0;
    w.u1 = s.rank > 3 ? box.last[col ? 3 : 0] : 1;
    /* Not row by row over rows without an element, of which there may be 2^62. */
    w.more = s.rank == 1 || (w.x0 < w.x1 && w.y0 < w.y1 && w.z0 < w.z1 && w.u0 < w.u1);
    return w;
}

HA_FN ptrdiff_t ha_min_(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }
HA_FN ptrdiff_t ha_max_(ptrdiff_t a, ptrdiff_t b) { return a > b ? a : b; }

/* The phases of a row that starts at place `start`: 0 the partial first block, 1 the full blocks, 2
 * the partial last one. A flat layout has phase 2 alone, and in it one "block", at the first place.
 * Phases 0 and 2 have one block always, if need be without any lane: so no loop is left of them. */
HA_FN ptrdiff_t ha_first_block_(ha_walk_ w, ptrdiff_t start, int phase) {
    const ptrdiff_t first = start + w.x0, last = start + w.x1, L = w.lanes;
    if (L == 0) return first;
    if (phase == 0) return first / L;
    if (phase == 1) return (first + L - 1) / L;
    return last / L;
}

HA_FN ptrdiff_t ha_last_block_(ha_walk_ w, ptrdiff_t start, int phase) {
    if (w.lanes != 0 && phase == 1) return (start + w.x1) / w.lanes;
    return ha_first_block_(w, start, phase) + 1;
}

/* Lanes [first, last) of a block. */
HA_FN ptrdiff_t ha_first_lane_(ha_walk_ w, ptrdiff_t start, ptrdiff_t block, int phase) {
    return w.lanes != 0 && phase == 0 ? start + w.x0 - block * w.lanes : 0;
}

HA_FN ptrdiff_t ha_last_lane_(ha_walk_ w, ptrdiff_t start, ptrdiff_t block, int phase) {
    const ptrdiff_t first = start + w.x0, last = start + w.x1, L = w.lanes;
    if (L == 0) return last - block;
    const ptrdiff_t left = ha_min_(L, last - block * L);
    if (phase == 0) return first % L == 0 ? 0 : left;
    if (phase == 1) return HA_LATE_(L, left);
    return block < (first + L - 1) / L ? 0 : last % L; /* or it was the first block, too */
}

HA_FN ha_cursor ha_in_block_(ha_cursor row, ptrdiff_t lanes, ptrdiff_t block) {
    row.block = block;
    row.lanes = lanes;
    return row;
}

/* clang-format off */
/* Every row of the walk, as the cursor w##_r at its start. */
#define HA_EACH_ROW_(w) \
    for (ptrdiff_t w##_u = w.u0; w##_u < w.u1 && w.more; w##_u++) \
    for (ptrdiff_t w##_z = w.z0; w##_z < w.z1 && w.more; w##_z++) \
    for (ptrdiff_t w##_y = w.y0; w##_y < w.y1 && w.more; w##_y++)

/* Every block of a row. */
#define HA_EACH_BLOCK_(w) \
    HA_UNROLLED_ for (int w##_p = w.lanes ? 0 : 2; w##_p < 3; w##_p++) \
    for (ptrdiff_t w##_s = ha_row_(w.shape, w##_y, w##_z, w##_u).start, \
                   w##_b = ha_first_block_(w, w##_s, w##_p), \
                   w##_e = ha_last_block_(w, w##_s, w##_p); \
         w##_b < w##_e && w.more; w##_b++)

#define HA_EACH_IN(V, v, at, region) \
    for (ha_walk_ ha_##at##_w = V##_walk_(v, region); ha_##at##_w.more; ha_##at##_w.more = 0) \
    HA_EACH_ROW_(ha_##at##_w) \
    HA_EACH_BLOCK_(ha_##at##_w) \
    for (ha_cursor at = ha_in_block_(ha_row_(ha_##at##_w.shape, ha_##at##_w_y, ha_##at##_w_z, ha_##at##_w_u), ha_##at##_w.lanes, ha_##at##_w_b); at.rank; at.rank = 0) \
    for (ptrdiff_t ha_##at##_0 = ha_first_lane_(ha_##at##_w, ha_##at##_w_s, ha_##at##_w_b, ha_##at##_w_p), \
                   ha_##at##_1 = ha_last_lane_(ha_##at##_w, ha_##at##_w_s, ha_##at##_w_b, ha_##at##_w_p), ha_##at##_o = 1; \
         ha_##at##_o; ha_##at##_o = 0, ha_##at##_w.more = at.lane >= ha_##at##_1) \
    HA_INDEPENDENT_ for (at.lane = ha_##at##_0; at.lane < ha_##at##_1; at.lane++)
/* clang-format on */

/* Every element of a view. */
#define HA_EACH(V, v, at) HA_EACH_IN(V, v, at, V##_region(v))

#endif
