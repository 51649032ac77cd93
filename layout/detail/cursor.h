/* The cursor: a place in the index domain of a view, as the loops of each.h carry it.
 *
 * A blocked layout (HA_AOSOA) keeps L elements of each field side by side, so the place is a block and
 * a lane in it: a flat index would have to be divided again at each access, which costs 8 to 15 times
 * the loop. A flat layout has no lanes; there the place is block + lane, block the start of a run.
 * Beside that a cursor has the other coordinates, so that neighbours are found without division. */
#ifndef HARRAY_LAYOUT_DETAIL_CURSOR_H
#define HARRAY_LAYOUT_DETAIL_CURSOR_H

#include "base.h"

enum {
    HA_MOST_DIMENSIONS_ = 4, /* of a view */
    HA_EDGE_UNKNOWN_ = 2
};

/* Dimensions are counted from the fastest here: x, y, z, u. */
typedef struct ha_cursor {
    ptrdiff_t block, lane, lanes; /* lanes 0: flat */
    ptrdiff_t start;              /* place of x = 0 in this row */
    ptrdiff_t dense;              /* the same if rows were not padded */
    ptrdiff_t y, z, u;
    ptrdiff_t step_y, step_z, step_u;    /* in places */
    ptrdiff_t dense_y, dense_z, dense_u; /* if rows were not padded */
    int rank, order;                     /* HA_ROW or HA_COL */
    int edge;           /* of the block: -1 first lane, 1 last lane, 0 neither, or unknown */
    ptrdiff_t multiple; /* rows are padded to a multiple of this */
} ha_cursor;

HA_FN ptrdiff_t ha_cursor_place_(ha_cursor at) {
    return (at.lanes ? at.block * at.lanes : at.block) + at.lane;
}

HA_FN ptrdiff_t ha_cursor_x_(ha_cursor at) { return ha_cursor_place_(at) - at.start; }

/* The number of the index in the order of the view, 0 … count - 1, whatever the layout pads (for
 * HA_MORTON in row-major order): the index of your own array beside the view. */
HA_FN ptrdiff_t ha_index(ha_cursor at) { return at.dense + ha_cursor_x_(at); }

/* Dimension d as it is counted from the fastest. */
HA_FN int ha_cursor_dimension_(ha_cursor at, int d) {
    return at.order == HA_COL ? d : at.rank - 1 - d;
}

/* Coordinate d, in the order in which the view's extents are given. */
HA_FN ptrdiff_t ha_coordinate(ha_cursor at, int d) {
    const int q = ha_cursor_dimension_(at, d);
    return q == 0 ? ha_cursor_x_(at) : q == 1 ? at.y : q == 2 ? at.z : at.u;
}

/* A step along x. Inside HA_EACH_NEAR the edge is known, and one step leaves lanes whole. */
HA_FN ha_cursor ha_shift_x_(ha_cursor at, ptrdiff_t k) {
    if (at.lanes == 0) {
        at.block += k;
    } else if ((k == 1 && (at.edge == 0 || at.edge == -1)) ||
               (k == -1 && (at.edge == 0 || at.edge == 1))) {
        at.lane += k;
    } else if (k == 1 && at.edge == 1) {
        at.block += 1;
        at.lane -= at.lanes - 1;
    } else if (k == -1 && at.edge == -1) {
        at.block -= 1;
        at.lane += at.lanes - 1;
    } else {
        at.block = at.block * at.lanes + k;
        at.lanes = 0;
    }
    at.edge = HA_EDGE_UNKNOWN_;
    return at;
}

/* A step of so many places to another row. Where rows are whole blocks it is one of whole blocks. */
HA_FN ha_cursor ha_shift_rows_(ha_cursor at, ptrdiff_t places, ptrdiff_t dense) {
    at.start += places;
    at.dense += dense;
    if (at.lanes == 0) {
        at.block += places;
    } else if (at.multiple == at.lanes) {
        at.block += places / at.lanes;
    } else {
        at.block = at.block * at.lanes + places;
        at.lanes = 0;
    }
    return at;
}

/* The neighbour k further along dimension d; k may be negative. The neighbour has to exist: nothing
 * checks it. */
HA_FN ha_cursor ha_neighbour(ha_cursor at, int d, ptrdiff_t k) {
    const int q = ha_cursor_dimension_(at, d);
    if (k == 0) return at; /* which keeps block and lane, whatever the layout */
    if (q == 0) return ha_shift_x_(at, k);
    if (q == 1) {
        at.y += k;
        return ha_shift_rows_(at, k * at.step_y, k * at.dense_y);
    }
    if (q == 2) {
        at.z += k;
        return ha_shift_rows_(at, k * at.step_z, k * at.dense_z);
    }
    at.u += k;
    return ha_shift_rows_(at, k * at.step_u, k * at.dense_u);
}

/* ---- the shape of a view ------------------------------------------------------------------------- */

/* All that places and loops depend on. */
typedef struct ha_shape_ {
    int rank, order;
    ptrdiff_t lanes, multiple;             /* 0: flat; 1: rows are not padded */
    ptrdiff_t extent[HA_MOST_DIMENSIONS_]; /* in the user's order; 1 beyond the rank */
} ha_shape_;

/* The extent of dimension q, counted from the fastest in this order. */
HA_FN ptrdiff_t ha_extent_(ha_shape_ s, int order, int q) {
    return q >= s.rank ? 1 : s.extent[order == HA_COL ? q : s.rank - 1 - q];
}

HA_FN ptrdiff_t ha_up_(ptrdiff_t n, ptrdiff_t multiple) {
    return multiple == 1 ? n : (n + multiple - 1) / multiple * multiple;
}

/* Spreads the bits of i: bit b goes to b * rank. */
HA_FN uint64_t ha_spread_bits_(uint64_t i, int rank) {
    uint64_t spread = 0;
    for (int b = 0; b < 64 && i >> b != 0; b++) spread |= (i >> b & 1) << (b * rank);
    return spread;
}

/* The place of an index, i in the user's order; the last index has Morton's lowest bit. */
HA_FN ptrdiff_t ha_place_(ha_shape_ s, ptrdiff_t i0, ptrdiff_t i1, ptrdiff_t i2, ptrdiff_t i3) {
    const ptrdiff_t i[HA_MOST_DIMENSIONS_] = {i0, i1, i2, i3};
    ptrdiff_t place = 0;
    if (s.order == HA_MORTON) {
        uint64_t bits = 0;
        for (int d = 0; d < s.rank; d++)
            bits |= ha_spread_bits_(HA_TO_(uint64_t, i[d]), s.rank) << (s.rank - 1 - d);
        return HA_TO_(ptrdiff_t, bits);
    }
    for (int q = s.rank - 1; q >= 0; q--) {
        const int d = s.order == HA_COL ? q : s.rank - 1 - q;
        place = place * (q == 0 ? ha_up_(s.extent[d], s.multiple) : s.extent[d]) + i[d];
    }
    return place;
}

/* How many places there are. */
HA_FN ptrdiff_t ha_places_(ha_shape_ s) {
    ptrdiff_t places = 1, longest = 1;
    for (int q = 0; q < s.rank; q++) {
        const ptrdiff_t n = ha_extent_(s, s.order, q);
        places *= q == 0 ? ha_up_(n, s.multiple) : n;
        if (n > longest) longest = n;
    }
    if (s.order != HA_MORTON || places == 0) return places;
    ptrdiff_t side = 1;
    while (side < longest) side *= 2;
    for (int q = 0; q < s.rank; q++) places = q == 0 ? side : places * side;
    return places;
}

/* The cursor at the start of a row. */
HA_FN ha_cursor ha_row_(ha_shape_ s, ptrdiff_t y, ptrdiff_t z, ptrdiff_t u) {
    ha_cursor at;
    at.order = s.order == HA_COL ? HA_COL : HA_ROW;
    at.rank = s.rank;
    at.multiple = s.multiple;
    at.edge = HA_EDGE_UNKNOWN_;
    at.y = y;
    at.z = z;
    at.u = u;
    at.dense_y = ha_extent_(s, at.order, 0);
    at.dense_z = at.dense_y * ha_extent_(s, at.order, 1);
    at.dense_u = at.dense_z * ha_extent_(s, at.order, 2);
    at.step_y = ha_up_(at.dense_y, s.multiple);
    at.step_z = at.step_y * ha_extent_(s, at.order, 1);
    at.step_u = at.step_z * ha_extent_(s, at.order, 2);
    at.dense = s.rank == 1 ? 0 : y * at.dense_y + z * at.dense_z + u * at.dense_u;
    at.start = s.rank == 1 ? 0 : y * at.step_y + z * at.step_z + u * at.step_u;
    at.lanes = 0;
    at.block = at.start;
    at.lane = 0;
    return at;
}

/* The cursor of an index, in the user's order. */
HA_FN ha_cursor ha_cursor_of_(ha_shape_ s, ptrdiff_t i0, ptrdiff_t i1, ptrdiff_t i2, ptrdiff_t i3) {
    const ptrdiff_t i[HA_MOST_DIMENSIONS_] = {i0, i1, i2, i3};
    const int order = s.order == HA_COL ? HA_COL : HA_ROW;
    ha_cursor at = ha_row_(s,
                           order == HA_COL ? i[1]
                           : s.rank > 1    ? i[s.rank - 2]
                                           : 0,
                           s.rank < 3        ? 0
                           : order == HA_COL ? i[2]
                                             : i[s.rank - 3],
                           s.rank < 4        ? 0
                           : order == HA_COL ? i[3]
                                             : i[0]);
    const ptrdiff_t place = at.start + (order == HA_COL ? i[0] : i[s.rank - 1]);
    at.lanes = s.order == HA_MORTON ? 0 : s.lanes;
    at.block = at.lanes ? HA_TO_(ptrdiff_t, HA_TO_(uint64_t, place) / HA_TO_(uint64_t, at.lanes))
                        : place;
    at.lane = at.lanes ? HA_TO_(ptrdiff_t, HA_TO_(uint64_t, place) % HA_TO_(uint64_t, at.lanes))
                       : 0;
    return at;
}

/* Where a view keeps what the cursor points at. */
typedef struct ha_spot_ {
    ptrdiff_t block, lane; /* of a flat view: the place is their sum */
} ha_spot_;

/* The place in a view of this shape that has the coordinates of the cursor. */
HA_FN ptrdiff_t ha_place_like_(ha_shape_ s, ha_cursor at) {
    return ha_place_(s, ha_coordinate(at, 0), s.rank > 1 ? ha_coordinate(at, 1) : 0,
                     s.rank > 2 ? ha_coordinate(at, 2) : 0, s.rank > 3 ? ha_coordinate(at, 3) : 0);
}
HA_APART_ ptrdiff_t ha_place_apart_(ha_shape_ s, ha_cursor at) { return ha_place_like_(s, at); }

/* A cursor of the same shape says it; any other one of a view with the same extents is looked up by its
 * coordinates. Which it is, is known at compile time, but for HA_ANY outside of HA_WITH's cases. */
HA_FN ha_spot_ ha_spot_of_(ha_shape_ s, ha_cursor at) {
    const bool same = s.order != HA_MORTON && at.order == (s.order == HA_COL ? HA_COL : HA_ROW) &&
                      at.multiple == s.multiple;
    ha_spot_ spot = {at.block, at.lane};
    if (same && at.lanes == s.lanes) return spot;
    const ptrdiff_t place = same                 ? ha_cursor_place_(at)
                            : HA_KNOWN_(s.order) ? ha_place_like_(s, at)
                                                 : ha_place_apart_(s, at);
    const uint64_t lanes = s.lanes ? HA_TO_(uint64_t, s.lanes) : 1;
    spot.block = HA_TO_(ptrdiff_t, HA_TO_(uint64_t, place) / lanes);
    spot.lane = HA_TO_(ptrdiff_t, HA_TO_(uint64_t, place) % lanes);
    return spot;
}

#endif
