/* What copies look at: rows as shapes, and how two linearizers go along together. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_SHAPE_H
#define HARRAY_LAYOUT_IMPL_COPY_SHAPE_H

#include "../../mapping.h"
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------ */

/* No memory has so many values: of such a block there is only one. (Tables by hand may say so.) */
#define HA_COPY_MOST_LANES_ (INT64_C(1) << 46)

/* A row without where it begins. Blocks that go on as their lanes do are none: lanes is 1 then. */
typedef struct ha_copy_shape {
    int64_t lanes, lane, block; /* bytes from lane to lane, and from block to block */
} ha_copy_shape;

HA_IN_ ha_copy_shape ha_copy_shape_of(const ha_row *row) {
    const int64_t n = row->lanes, lane = row->lane_stride, block = row->block_stride;
    if (n > HA_COPY_MOST_LANES_) return (ha_copy_shape){1, 0, lane};
    if (n == 1) return (ha_copy_shape){1, 0, block};
    if (block % n == 0 && block / n == lane) return (ha_copy_shape){1, 0, lane};
    return (ha_copy_shape){n, lane, block};
}

/* A linear index as block and lane: the same for all rows of as many lanes. */
typedef struct ha_copy_place {
    int64_t block, lane;
} ha_copy_place;

HA_IN_ ha_copy_place ha_copy_place_of(const ha_copy_shape *s, int64_t linear) {
    if (s->lanes == 1) return (ha_copy_place){linear, 0};
    return (ha_copy_place){linear / s->lanes, linear % s->lanes};
}

HA_IN_ int64_t ha_copy_distance(const ha_copy_shape *s, ha_copy_place p) {
    return p.block * s->block + p.lane * s->lane;
}

HA_IN_ int64_t ha_copy_offset(const ha_copy_shape *s, int64_t linear) {
    return ha_copy_distance(s, ha_copy_place_of(s, linear));
}

/* Do linear indices this far apart lie at equal distances? */
HA_IN_ int ha_copy_is_even(const ha_copy_shape *s, int64_t step) {
    return s->lanes == 1 || step % s->lanes == 0;
}

/* Which distance. */
HA_IN_ int64_t ha_copy_stride(const ha_copy_shape *s, int64_t step) {
    return step / s->lanes * s->block;
}

/* ---- walks ----------------------------------------------------------------------------------- */

typedef struct ha_copy_loop {
    int64_t count, to, from; /* steps in the linear indices */
} ha_copy_loop;

/* How to go through all records of a region: loops from the outermost to the innermost, which is
 * the one along which the target's values are nearest to each other. */
typedef struct ha_copy_walk {
    const ha_linearizer *to_linearizer, *from_linearizer;
    int64_t to, from; /* linear indices of the first record */
    int rank;         /* of loops, at least 1 where all is even */
    int is_turned;    /* the source's values are nearest along the last loop but one */
    int is_even;      /* 0: one of the two is no linear function of the indices */
    ha_copy_loop loop[HA_MAPPING_RANK];
} ha_copy_walk;

HA_IN_ int ha_copy_same_order(const ha_linearizer *a, const ha_linearizer *b) {
    if (a->morton != b->morton || a->rank != b->rank) return 0;
    return !memcmp(a->stride, b->stride, sizeof a->stride) &&
           !memcmp(a->dimension, b->dimension, sizeof a->dimension);
}

/* Sorts by the target's steps, the longest first. */
HA_IN_ void ha_copy_add_loop(ha_copy_walk *w, ha_copy_loop loop) {
    int k = w->rank++;
    for (; k > 0 && (w->loop[k - 1].to < loop.to ||
                     (w->loop[k - 1].to == loop.to && w->loop[k - 1].from < loop.from));
         k--)
        w->loop[k] = w->loop[k - 1];
    w->loop[k] = loop;
}

/* Makes one loop of two where the inner one ends at the outer one's next step. */
HA_IN_ void ha_copy_merge_loops(ha_copy_walk *w) {
    int last = 0;
    for (int k = 1; k < w->rank; k++) {
        ha_copy_loop *outer = &w->loop[last];
        const ha_copy_loop inner = w->loop[k];
        if (outer->to == inner.to * inner.count && outer->from == inner.from * inner.count)
            *outer = (ha_copy_loop){outer->count * inner.count, inner.to, inner.from};
        else
            w->loop[++last] = inner;
    }
    w->rank = last + 1;
}

/* The loop along which the source's values are nearest comes last but one, if it is not the last. */
HA_IN_ void ha_copy_turn(ha_copy_walk *w) {
    int nearest = w->rank - 1;
    for (int k = w->rank - 1; k >= 0; k--)
        if (w->loop[k].from < w->loop[nearest].from) nearest = k;
    w->is_turned = nearest != w->rank - 1;
    if (!w->is_turned) return;
    const ha_copy_loop loop = w->loop[nearest];
    for (int k = nearest; k < w->rank - 2; k++) w->loop[k] = w->loop[k + 1];
    w->loop[w->rank - 2] = loop;
}

/* All of the region from first[] to before last[], in which there are records. */
HA_IN_ ha_copy_walk ha_copy_walk_of(const ha_linearizer *to, const ha_linearizer *from,
                                    const int64_t *first, const int64_t *last) {
    ha_copy_walk w = {.to_linearizer = to, .from_linearizer = from};
    w.to = ha_linear(to, first);
    w.from = ha_linear(from, first);
    w.is_even = to->morton == 0 && from->morton == 0;
    if (!w.is_even) return w;
    for (int d = 0; d < to->rank; d++)
        if (last[d] - first[d] > 1)
            ha_copy_add_loop(&w,
                             (ha_copy_loop){last[d] - first[d], to->stride[d], from->stride[d]});
    if (w.rank == 0) ha_copy_add_loop(&w, (ha_copy_loop){1, 1, 1});
    ha_copy_merge_loops(&w);
    ha_copy_turn(&w);
    return w;
}

#endif
