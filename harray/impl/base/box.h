/* Boxes: the parts of arrays of several dimensions that are locked, moved and known to be valid.
 *
 * The elements of such an array lie on a grid. A box of the grid is written as an ordinary range:
 * from its lowest corner to behind its highest. With the grid that says all, and without it, still
 * between which elements the box lies. So whoever keeps ranges keeps boxes, and only those who
 * compare them ask the grid. Where there is no grid (NULL), a range is just that. HA_WHOLE_ is all
 * of either. */
#ifndef HARRAY_IMPL_BASE_BOX_H
#define HARRAY_IMPL_BASE_BOX_H

#include "../../access.h"
#include "../../extents.h"
#include "kept_list.h"

/* Index i, j, … is element i * pitch[0] + j * pitch[1] + …: pitches descend, and those of longer
 * dimensions leave room for what they contain, and perhaps for more, which is nobody's. */
typedef struct ha_grid {
    ha_kept kept; /* state/freed.h: with others that were freed */
    int rank;
    size_t size; /* behind the last element */
    size_t extent[HA_MOST_RANK], pitch[HA_MOST_RANK];
    uint64_t inverse[HA_MOST_RANK]; /* 2^64 / pitch, to divide by */
} ha_grid;

/* [first, last) in each dimension. */
typedef struct ha_box {
    size_t first[HA_MOST_RANK], last[HA_MOST_RANK];
} ha_box;

enum { HA_MOST_PIECES = 2 * HA_MOST_RANK }; /* of a box without another one */

#define HA_WHOLE_ ((ha_range){0, SIZE_MAX})

/* How far it is from one index to the next, in whichever direction. */
static inline uint64_t ha_stride_size(int64_t x) { return x < 0 ? -(uint64_t)x : (uint64_t)x; }

/* ---- corners ------------------------------------------------------------------------------- */

__extension__ typedef unsigned __int128 ha_uint128;

/* n / pitch[d]. Division itself takes several times as long. */
static inline size_t ha_grid_divide(const ha_grid *g, int d, size_t n) {
    if (g->pitch[d] == 1) return n; /* as in most grids that of the last dimension is */
    size_t quotient = (size_t)((ha_uint128)n * g->inverse[d] >> 64); /* or one more */
    return quotient + (n - quotient * g->pitch[d] >= g->pitch[d]);
}

/* The same, and leaves in *n what remains. */
static inline size_t ha_grid_take(const ha_grid *g, int d, size_t *n) {
    const size_t quotient = ha_grid_divide(g, d, *n);
    *n -= quotient * g->pitch[d];
    return quotient;
}

/* The indices of an element of the grid. */
static inline void ha_grid_index(const ha_grid *g, size_t element, size_t *index) {
    int d = 0; /* a grid has dimensions, which gcc would not know from a for */
    do index[d] = ha_grid_take(g, d, &element);
    while (++d < g->rank);
}

HA_IN_ int ha_is_on_grid(const ha_grid *g, size_t element) {
    for (int d = 0; d < g->rank; d++)
        if (ha_grid_take(g, d, &element) >= g->extent[d]) return 0;
    return !element;
}

/* r: not empty. */
static inline size_t ha_last_in(const ha_grid *g, ha_range r) {
    return (r.last < g->size ? r.last : g->size) - 1;
}

static inline void ha_box_of(const ha_grid *g, ha_range r, ha_box *box) {
    ha_grid_index(g, r.first, box->first);
    ha_grid_index(g, ha_last_in(g, r), box->last);
    for (int d = 0; d < g->rank; d++) box->last[d]++;
}

static inline ha_range ha_box_range(const ha_grid *g, const ha_box *box) {
    ha_range r = {0, 1};
    for (int d = 0; d < g->rank; d++) {
        r.first += box->first[d] * g->pitch[d];
        r.last += (box->last[d] - 1) * g->pitch[d];
    }
    return r;
}

/* Whether element x comes before y in Z-order: the dimension decides in which their indices first differ, bit
 * by bit from the highest. What is beside each other in any dimension is mostly near in this order. */
HA_IN_ int ha_grid_precedes(const ha_grid *g, size_t x, size_t y) {
    size_t most = 0;
    int before = 0;
    for (int d = 0; d < g->rank; d++) {
        const size_t i = ha_grid_take(g, d, &x), j = ha_grid_take(g, d, &y), differ = i ^ j;
        if (most >= differ || most >= (most ^ differ)) continue; /* no higher bit */
        most = differ;
        before = i < j;
    }
    return before;
}

/* ---- comparing ----------------------------------------------------------------------------- */

static inline int ha_is_empty(ha_range r) { return r.first >= r.last; }

static inline ha_range ha_between(ha_range x, ha_range y) {
    return (ha_range){x.first > y.first ? x.first : y.first, x.last < y.last ? x.last : y.last};
}

static inline int ha_is_whole(ha_range r) { return r.first == 0 && r.last == SIZE_MAX; }

/* How many elements of box a are in y, whose corners are looked at only as far as need be. */
HA_IN_ size_t ha_box_shared(const ha_grid *g, const ha_box *a, ha_range y) {
    size_t low = y.first, high = ha_last_in(g, y), n = 1;
    for (int d = 0; d < g->rank; d++) {
        size_t first = ha_grid_take(g, d, &low), last = ha_grid_take(g, d, &high);
        if (first < a->first[d]) first = a->first[d];
        if (last >= a->last[d]) last = a->last[d] - 1;
        if (first > last) return 0;
        n *= last - first + 1;
    }
    return n;
}

HA_IN_ int ha_boxes_meet(const ha_grid *g, ha_range x, ha_range y) {
    size_t a = x.first, b = y.first, a_last = ha_last_in(g, x), b_last = ha_last_in(g, y);
    if (ha_is_whole(x) || ha_is_whole(y)) return 1;
    for (int d = 0; d < g->rank; d++) {
        if (ha_grid_take(g, d, &a) > ha_grid_take(g, d, &b_last)) return 0;
        if (ha_grid_take(g, d, &b) > ha_grid_take(g, d, &a_last)) return 0;
    }
    return 1;
}

/* Whether they have an element in common. Empty ones overlap nothing, wherever they lie. */
static inline int ha_overlap(const ha_grid *g, ha_range x, ha_range y) {
    if (ha_is_empty(ha_between(x, y))) return 0;
    return !g || x.first == y.first || ha_boxes_meet(g, x, y); /* the lowest corner is in both */
}

HA_IN_ ha_range ha_boxes_common(const ha_grid *g, ha_range x, ha_range y) {
    ha_box a, b;
    ha_box_of(g, x, &a);
    ha_box_of(g, y, &b);
    for (int d = 0; d < g->rank; d++) {
        if (a.first[d] < b.first[d]) a.first[d] = b.first[d];
        if (a.last[d] > b.last[d]) a.last[d] = b.last[d];
        if (a.first[d] >= a.last[d]) return (ha_range){0, 0};
    }
    return ha_box_range(g, &a);
}

/* What they have in common; empty when that is nothing. */
static inline ha_range ha_intersect(const ha_grid *g, ha_range x, ha_range y) {
    ha_range r = ha_between(x, y);
    return ha_is_empty(r) || !g ? r : ha_boxes_common(g, x, y);
}

/* The corners are looked at only as far as need be. */
HA_IN_ int ha_box_covers(const ha_grid *g, ha_range outer, ha_range inner) {
    size_t a = outer.first, b = inner.first, a_last = ha_last_in(g, outer),
           b_last = ha_last_in(g, inner);
    for (int d = 0; d < g->rank; d++) {
        if (ha_grid_take(g, d, &a) > ha_grid_take(g, d, &b)) return 0;
        if (ha_grid_take(g, d, &a_last) < ha_grid_take(g, d, &b_last)) return 0;
    }
    return 1;
}

/* Whether every element of `inner`, which is not empty, is in `outer`. */
static inline int ha_covers(const ha_grid *g, ha_range outer, ha_range inner) {
    if (outer.first > inner.first || inner.last > outer.last) return 0;
    if (!g || (outer.first == inner.first && inner.last == outer.last)) return 1;
    if (!outer.first && outer.last >= g->size) return 1; /* all of it, as most often */
    return ha_box_covers(g, outer, inner);
}

/* The smallest one with all elements of two, which are not empty. */
HA_IN_ ha_range ha_around(const ha_grid *g, ha_range x, ha_range y) {
    ha_box a, b;
    if (ha_is_whole(x) || ha_is_whole(y)) return HA_WHOLE_;
    if (!g)
        return (ha_range){x.first < y.first ? x.first : y.first, x.last > y.last ? x.last : y.last};
    ha_box_of(g, x, &a);
    ha_box_of(g, y, &b);
    for (int d = 0; d < g->rank; d++) {
        if (a.first[d] > b.first[d]) a.first[d] = b.first[d];
        if (a.last[d] < b.last[d]) a.last[d] = b.last[d];
    }
    return ha_box_range(g, &a);
}

/* How many elements it has. */
HA_IN_ size_t ha_box_size(const ha_grid *g, const ha_box *box) {
    size_t n = 1;
    for (int d = 0; d < g->rank; d++) n *= box->last[d] - box->first[d];
    return n;
}

HA_IN_ size_t ha_elements(const ha_grid *g, ha_range r) {
    ha_box box;
    if (ha_is_empty(r)) return 0;
    if (!g) return r.last - r.first;
    ha_box_of(g, r, &box);
    return ha_box_size(g, &box);
}

/* ---- cutting ------------------------------------------------------------------------------- */

/* Box x without box y, with which it overlaps, in at most 2 * rank pieces. Their number. */
HA_IN_ uint32_t ha_box_without(const ha_grid *g, ha_range x, ha_range y, ha_range *pieces) {
    ha_box rest, hole;
    uint32_t n = 0;
    ha_box_of(g, x, &rest);
    ha_box_of(g, y, &hole);
    for (int d = 0; d < g->rank; d++) {
        size_t first = rest.first[d], last = rest.last[d];
        if (first < hole.first[d]) {
            rest.last[d] = hole.first[d];
            pieces[n++] = ha_box_range(g, &rest);
            rest.first[d] = first = hole.first[d];
            rest.last[d] = last;
        }
        if (last > hole.last[d]) {
            rest.first[d] = hole.last[d];
            pieces[n++] = ha_box_range(g, &rest);
            rest.first[d] = first;
            rest.last[d] = hole.last[d];
        }
    }
    return n;
}

/* Cuts r, of two elements at least, in two: across its longest way from row to row. */
HA_IN_ void ha_box_halve(const ha_grid *g, ha_range r, ha_range halves[2]) {
    ha_box low = {{0}, {0}}, high; /* gcc does not know that a grid has dimensions */
    int d = 0;
    ha_box_of(g, r, &low);
    while (low.last[d] - low.first[d] == 1) d++;
    high = low;
    low.last[d] = high.first[d] = low.first[d] + (low.last[d] - low.first[d]) / 2;
    halves[0] = ha_box_range(g, &low);
    halves[1] = ha_box_range(g, &high);
}

/* Whether two boxes that do not overlap are one. */
HA_IN_ int ha_boxes_join(const ha_grid *g, ha_range x, ha_range y) {
    ha_box a, b;
    int touching = 0;
    ha_box_of(g, x, &a);
    ha_box_of(g, y, &b);
    for (int d = 0; d < g->rank; d++) {
        if (a.first[d] == b.first[d] && a.last[d] == b.last[d]) continue;
        if (touching++ || (a.last[d] != b.first[d] && b.last[d] != a.first[d])) return 0;
    }
    return 1;
}

/* ---- from the order of the elements in memory ----------------------------------------------- */

/* The smallest box with the elements first … last of the grid and all between them. */
HA_IN_ ha_range ha_grid_around(const ha_grid *g, size_t first, size_t last) {
    ha_box box;
    int d = 0;
    ha_grid_index(g, first, box.first);
    ha_grid_index(g, last, box.last);
    while (d < g->rank && box.first[d] == box.last[d]) box.last[d++]++;
    if (d < g->rank) box.last[d++]++;
    for (; d < g->rank; d++) {
        box.first[d] = 0;
        box.last[d] = g->extent[d];
    }
    return ha_box_range(g, &box);
}

#endif
