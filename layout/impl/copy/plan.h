/* The plan of a copy: by which method each leaf is copied, those alike together.
 *
 *     whole     the values of a leaf follow each other on both sides, as from soa to soa
 *     records   single values at distances on both sides, as from aos to aos: what is next to each
 *               other in the records on both sides is moved as one
 *     blocks    lanes that follow each other on both sides, as from soa to aosoa, or aosoa to aosoa
 *     strided   anything else at equal distances, or equal ones within blocks: simd/strided_blocks.h
 *     converted the same of values that are stored otherwise on the other side: convert.h
 *     listed    by lists of offsets: Morton order, and steps that blocks are not made for
 *     runs      what is not stored as it is, or by a tree, or not at all: values/mapped.h
 *
 * Records, blocks, strided ones and what is converted are done by tiles, all leaves of one before
 * the next, so that what the leaves share of the caches' lines is fetched once. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_PLAN_H
#define HARRAY_LAYOUT_IMPL_COPY_PLAN_H

#include "match.h"
#include "shape.h"
#include "../../mapped.h"

typedef enum ha_copy_method {
    HA_COPY_WHOLE = 0,
    HA_COPY_RECORDS,
    HA_COPY_BLOCKS,
    HA_COPY_STRIDED,
    HA_COPY_CONVERTED,
    HA_COPY_LISTED,
    HA_COPY_RUNS
} ha_copy_method;

typedef struct ha_copy_leaf {
    char *to; /* of linear index 0 */
    const char *from;
    int64_t to_number, from_number;  /* in their records */
    ha_dtype to_scalar, from_scalar; /* the values' */
    ha_dtype to_stored, from_stored; /* what lies in memory in their place, perhaps */
    int8_t to_swapped, from_swapped; /* in the other byte order */
    ha_copy_shape to_shape, from_shape;
    int32_t to_blob;
    int32_t walk; /* which of the plan's */
    int32_t size; /* of a value; of what is moved as one, for records and blocks that were merged */
    int32_t from_size;
    int32_t
        is_changed; /* `from` is in the first worker: where what was converted is (ha_copy_change) */
    ha_copy_method method;
} ha_copy_leaf;

/* Leaves that are neighbours in the source, and are converted alike, before they are moved as what
 * is stored in the target is moved: part by part, to memory of the worker's. */
typedef struct ha_copy_change {
    ha_copy_leaf leaf; /* the first, as it is in the source */
    int64_t leaves;
    char *to; /* in the first worker */
} ha_copy_change;

/* Leaves that differ in nothing but where they begin, and, but for strided ones, in their sizes. */
typedef struct ha_copy_group {
    const ha_copy_leaf *leaf;
    int64_t leaves;
    const ha_copy_leaf *merged; /* neighbours on both sides as one; of whole blocks only */
    int64_t merges;
    ha_copy_method method;
    int32_t size, from_size; /* strided, converted, listed */
    int is_converted;
    int is_changed;
    int is_spaced; /* strided: the leaves are at equal distances, in bytes */
    int64_t to_apart, from_apart;
} ha_copy_group;

/* Groups that are done together. */
typedef struct ha_copy_pass {
    const ha_copy_walk *walk;
    const ha_copy_group *group;
    int64_t groups;
    ha_copy_method method; /* of the first */
    int64_t tile[2];       /* records along the last loop but one, if turned, and the last */
    int64_t fine;          /* records of the tiles within a tile; 0: there are none */
    int64_t align;         /* where tiles end: at multiples of this linear index of the target */
    int64_t units;         /* tiles there are */
    char *window;          /* they fill all bytes of the target from here on: so many for these */
    int64_t block, lanes;  /* lanes. NULL: not */
    int64_t lined;         /* whole lines are written, so many records at a time; 0: not */
    int64_t part;          /* records of what is done at once otherwise */
    int64_t changed;       /* records, at most, of what is converted at once; 0: nothing is */
} ha_copy_pass;

typedef struct ha_layout_plan {
    const ha_mapped *to, *from;
    const int64_t *first, *last; /* the region */
    int64_t records;
    int64_t leaves, walks, groups, passes, changes;
    int64_t
        changed; /* records, at most, of which values are converted at once before they are moved */
    ha_copy_leaf *leaf, *merged;
    ha_copy_walk *walk;
    ha_copy_group *group;
    ha_copy_pass *pass;
    ha_copy_change *change;
    int stream; /* write past the caches */
} ha_layout_plan;

/* ---- methods --------------------------------------------------------------------------------- */

/* Is this row there as bytes of its stored values, at places that its numbers say? */
HA_IN_ int ha_row_is_plain(const ha_mapping *m, const ha_row *row) {
    const ha_coding *coding = ha_row_coding(m, row);
    return row->blob >= 0 && row->linearizer >= 0 &&
           (!coding || (coding->bits == 0 && coding->bytes == 0));
}

/* Are values stored alike, so that what is stored can be moved as it is? */
HA_IN_ int ha_same_coding(const ha_coding *a, const ha_coding *b) {
    return a == b || (a && b && a->stored == b->stored && a->swapped == b->swapped);
}

/* Do the lanes follow each other? `step` of the last loop. */
HA_IN_ int ha_copy_is_dense(const ha_copy_shape *s, int64_t step, int32_t size) {
    if (s->lanes > 1 && step == 1) return s->lane == size;
    return ha_copy_is_even(s, step) && ha_copy_stride(s, step) == size;
}

/* Do all values follow each other, from end to end? */
HA_IN_ int ha_copy_is_row_along(const ha_copy_shape *s, int64_t step, int32_t size) {
    return ha_copy_is_even(s, step) && ha_copy_stride(s, step) == size;
}

/* The method for what is stored alike on both sides, along the last loop. */
HA_IN_ ha_copy_method ha_copy_method_along(const ha_copy_leaf *leaf, const ha_copy_loop *last) {
    const ha_copy_shape *to = &leaf->to_shape, *from = &leaf->from_shape;
    const int to_even = ha_copy_is_even(to, last->to),
              to_dense = ha_copy_is_dense(to, last->to, leaf->size);
    const int from_even = ha_copy_is_even(from, last->from);
    const int from_dense = ha_copy_is_dense(from, last->from, leaf->from_size);
    if ((!to_even && last->to != 1) || (!from_even && last->from != 1)) return HA_COPY_LISTED;
    if (to_dense && from_dense) return to_even && from_even ? HA_COPY_WHOLE : HA_COPY_BLOCKS;
    return to_even && from_even && !to_dense && !from_dense ? HA_COPY_RECORDS : HA_COPY_STRIDED;
}

/* `is_alike`: what is stored can be moved as it is. */
HA_IN_ ha_copy_method ha_copy_method_of(const ha_copy_leaf *leaf, const ha_copy_walk *w,
                                        int is_alike) {
    if (!w->is_even) return HA_COPY_LISTED; /* where all is even there is a loop */
    const ha_copy_method method = ha_copy_method_along(leaf, &w->loop[w->rank - 1]);
    return is_alike || method == HA_COPY_LISTED ? method : HA_COPY_CONVERTED;
}

/* ---- order ----------------------------------------------------------------------------------- */

HA_IN_ int ha_copy_compare(int64_t x, int64_t y) { return x < y ? -1 : x > y; }

HA_IN_ int ha_copy_compare_shapes(const ha_copy_leaf *a, const ha_copy_leaf *b, int with_lane) {
    const ha_copy_shape *x[2] = {&b->to_shape, &b->from_shape}; /* what is large comes first */
    const ha_copy_shape *y[2] = {&a->to_shape, &a->from_shape};
    int c = 0;
    for (int k = 0; k < 2 && !c; k++) {
        c = ha_copy_compare(x[k]->lanes, y[k]->lanes);
        if (!c && with_lane) c = ha_copy_compare(x[k]->lane, y[k]->lane);
        /* what goes on without blocks has its own distance for each size */
        if (!c && (with_lane || x[k]->lanes > 1 || a->method == HA_COPY_RECORDS))
            c = ha_copy_compare(x[k]->block, y[k]->block);
    }
    return c;
}

/* What is copied by tiles is done together. */
HA_IN_ int ha_copy_is_tiled(ha_copy_method method) {
    return method == HA_COPY_RECORDS || method == HA_COPY_BLOCKS || method == HA_COPY_STRIDED ||
           method == HA_COPY_CONVERTED;
}

HA_IN_ int ha_copy_compare_passes(const ha_copy_leaf *a, const ha_copy_leaf *b) {
    const int tiled = ha_copy_is_tiled(a->method);
    int c = ha_copy_compare(a->walk, b->walk);
    if (!c) c = ha_copy_compare(ha_copy_is_tiled(b->method), tiled);
    return c || tiled ? c : ha_copy_compare(a->method, b->method);
}

/* May what is next to each other on both sides be moved as one? In records, and in blocks alike. */
HA_IN_ int ha_copy_may_merge(const ha_copy_leaf *leaf) {
    const int64_t lanes = leaf->to_shape.lanes;
    if (leaf->from_shape.lanes != lanes) return 0;
    return leaf->method == HA_COPY_BLOCKS || (leaf->method == HA_COPY_RECORDS && lanes == 1);
}

/* Quick to see: of one group, as they differ in nothing that it is made for. */
HA_IN_ int ha_copy_same_kind(const ha_copy_leaf *a, const ha_copy_leaf *b) {
    const ha_copy_shape *t = &a->to_shape, *f = &a->from_shape;
    const ha_copy_shape *u = &b->to_shape, *g = &b->from_shape;
    return a->method == b->method && a->walk == b->walk && a->is_changed == b->is_changed &&
           (a->to_scalar != a->from_scalar) == (b->to_scalar != b->from_scalar) &&
           a->size == b->size && a->from_size == b->from_size && t->lanes == u->lanes &&
           t->lane == u->lane && t->block == u->block && f->lanes == g->lanes &&
           f->lane == g->lane && f->block == g->block;
}

/* 0: of one group. */
HA_IN_ int ha_copy_compare_groups(const ha_copy_leaf *a, const ha_copy_leaf *b) {
    const int by_size = a->method >= HA_COPY_STRIDED || a->is_changed; /* and not runs */
    if (ha_copy_same_kind(a, b)) return 0;
    int c = ha_copy_compare_passes(a, b);
    if (!c) c = ha_copy_compare(a->method, b->method);
    if (!c) c = ha_copy_compare(a->to_scalar != a->from_scalar, b->to_scalar != b->from_scalar);
    if (!c) c = ha_copy_compare(a->is_changed, b->is_changed);
    if (c || a->method == HA_COPY_RUNS || a->method == HA_COPY_WHOLE) return c;
    c = ha_copy_compare_shapes(a, b, by_size);
    if (!c && by_size) c = ha_copy_compare(b->size, a->size);
    return c || !by_size ? c : ha_copy_compare(b->from_size, a->from_size);
}

HA_IN_ int ha_copy_by_group(const void *first, const void *second) {
    const ha_copy_leaf *a = (const ha_copy_leaf *)first, *b = (const ha_copy_leaf *)second;
    int c = ha_copy_compare_groups(a, b);
    if (!c) c = ha_copy_compare(a->to_blob, b->to_blob);
    if (!c && a->to != b->to) c = HA_NUMBER_(a->to) < HA_NUMBER_(b->to) ? -1 : 1;
    return c ? c : ha_copy_compare(a->to_number, b->to_number);
}

/* ---- leaves and groups ----------------------------------------------------------------------- */

/* Which walk it is, perhaps a new one. */
HA_IN_ int32_t ha_copy_find_walk(ha_layout_plan *p, const ha_linearizer *to,
                                 const ha_linearizer *from) {
    for (int32_t k = 0; k < p->walks; k++) {
        const ha_copy_walk *w = &p->walk[k];
        if (w->to_linearizer == to && w->from_linearizer == from) return k;
    }
    for (int32_t k = 0; k < p->walks; k++)
        if (ha_copy_same_order(p->walk[k].to_linearizer, to) &&
            ha_copy_same_order(p->walk[k].from_linearizer, from))
            return k;
    p->walk[p->walks] = ha_copy_walk_of(to, from, p->first, p->last);
    return (int32_t)p->walks++;
}

/* Where the values are, of a row on each side that says so by its numbers, and how they go. */
HA_IN_ void ha_copy_place_leaf(ha_layout_plan *p, ha_copy_leaf *leaf, const ha_row *to,
                               const ha_row *from) {
    const ha_mapping *t = p->to->mapping, *f = p->from->mapping;
    const ha_coding *to_coding = ha_row_coding(t, to), *from_coding = ha_row_coding(f, from);
    const int is_alike = leaf->to_scalar == leaf->from_scalar &&
                         ha_same_coding(to_coding, from_coding);
    leaf->to = (char *)p->to->blob[to->blob] + to->base;
    leaf->from = (const char *)p->from->blob[from->blob] + from->base;
    leaf->to_shape = ha_copy_shape_of(to);
    leaf->from_shape = ha_copy_shape_of(from);
    leaf->to_stored = to_coding ? to_coding->stored : leaf->to_scalar;
    leaf->from_stored = from_coding ? from_coding->stored : leaf->from_scalar;
    leaf->to_swapped = to_coding && to_coding->swapped;
    leaf->from_swapped = from_coding && from_coding->swapped;
    leaf->size = (int32_t)ha_dtype_size(leaf->to_stored);
    leaf->from_size = (int32_t)ha_dtype_size(leaf->from_stored);
    leaf->walk = ha_copy_find_walk(p, &t->linearizer[to->linearizer],
                                   &f->linearizer[from->linearizer]);
    leaf->method = ha_copy_method_of(leaf, &p->walk[leaf->walk], is_alike);
    if (leaf->method == HA_COPY_LISTED && !is_alike && (to_coding || from_coding))
        leaf->method = HA_COPY_RUNS;
}

/* (One by one: compilers make an instruction of an assignment of so many zeros that takes longer
 * than all else that is done for a leaf.) */
HA_IN_ void ha_copy_clear_leaf(ha_copy_leaf *leaf) {
    leaf->to = NULL;
    leaf->from = NULL;
    leaf->to_stored = leaf->from_stored = HA_DTYPE_NONE;
    leaf->to_swapped = leaf->from_swapped = 0;
    leaf->to_shape.lanes = leaf->to_shape.lane = leaf->to_shape.block = 0;
    leaf->from_shape = leaf->to_shape;
    leaf->walk = leaf->size = leaf->from_size = leaf->is_changed = 0;
    leaf->method = HA_COPY_RUNS;
}

/* Blobs are there when there is something to copy. */
HA_IN_ void ha_copy_add_leaf(ha_layout_plan *p, const ha_leaf_pair *pair) {
    const ha_mapping *t = p->to->mapping, *f = p->from->mapping;
    const ha_row *to = &t->row[pair->to_number], *from = &f->row[pair->from_number];
    ha_copy_leaf *leaf = &p->leaf[p->leaves];
    if (to->blob < 0) return;
    ha_copy_clear_leaf(leaf);
    leaf->to_number = pair->to_number;
    leaf->from_number = pair->from_number;
    leaf->to_scalar = pair->to.type;
    leaf->from_scalar = pair->from.type;
    leaf->to_blob = to->blob;
    if (ha_row_is_plain(t, to) && ha_row_is_plain(f, from)) ha_copy_place_leaf(p, leaf, to, from);
    p->leaves++;
}

/* Makes the list of what is moved as one, in `room`; gives what is left of that. */
HA_IN_ ha_copy_leaf *ha_copy_merge_leaves(ha_copy_group *g, ha_copy_leaf *room) {
    const int64_t lanes = g->leaf->to_shape.lanes;
    g->merged = room;
    g->merges = 0;
    for (int64_t k = 0; k < g->leaves; k++) {
        const ha_copy_leaf *next = &g->leaf[k];
        ha_copy_leaf *end = g->merges > 0 ? room - 1 : room;
        if (g->merges > 0 && next->to_blob == end->to_blob &&
            next->to == end->to + end->size * lanes && next->from == end->from + end->size * lanes)
            end->size += next->size;
        else
            *room++ = *next;
        g->merges = room - g->merged;
    }
    return room;
}

/* Of strided ones: where the leaves are, if they are at equal distances. */
HA_IN_ void ha_copy_find_distances(ha_copy_group *g) {
    g->is_spaced = g->method == HA_COPY_STRIDED;
    if (!g->is_spaced || g->leaves == 1) return;
    g->to_apart = (int64_t)(HA_NUMBER_(g->leaf[1].to) - HA_NUMBER_(g->leaf[0].to));
    g->from_apart = (int64_t)(HA_NUMBER_(g->leaf[1].from) - HA_NUMBER_(g->leaf[0].from));
    for (int64_t k = 2; k < g->leaves; k++) {
        const ha_copy_leaf *leaf = &g->leaf[k];
        if ((int64_t)(HA_NUMBER_(leaf->to) - HA_NUMBER_(leaf[-1].to)) != g->to_apart ||
            (int64_t)(HA_NUMBER_(leaf->from) - HA_NUMBER_(leaf[-1].from)) != g->from_apart)
            g->is_spaced = 0;
    }
}

/* The loop in the linear indices of what the group reads: those of what was converted follow each other. */
HA_IN_ ha_copy_loop ha_copy_group_loop(const ha_copy_group *g, const ha_copy_loop *along) {
    return (ha_copy_loop){along->count, along->to, g->is_changed ? 1 : along->from};
}

/* … and the index there, where the source's is this, which is the first of a part. */
HA_IN_ int64_t ha_copy_group_from(const ha_copy_group *g, int64_t from) {
    return g->is_changed ? from % g->leaf->from_shape.lanes : from;
}

/* Mostly leaves come in their order. */
HA_IN_ void ha_copy_sort(ha_layout_plan *p) {
    for (int64_t k = 1; k < p->leaves; k++)
        if (ha_copy_by_group(&p->leaf[k - 1], &p->leaf[k]) > 0) {
            qsort(p->leaf, (size_t)p->leaves, sizeof *p->leaf, ha_copy_by_group);
            return;
        }
}

HA_IN_ void ha_copy_find_groups(ha_layout_plan *p) {
    ha_copy_leaf *room = p->merged;
    ha_copy_sort(p);
    for (int64_t k = 0; k < p->leaves;) {
        ha_copy_group *g = &p->group[p->groups++];
        const ha_copy_leaf *leaf = &p->leaf[k];
        *g = (ha_copy_group){.leaf = leaf, .method = leaf->method, .size = leaf->size};
        g->from_size = leaf->from_size;
        g->is_converted = leaf->to_scalar != leaf->from_scalar;
        g->is_changed = leaf->is_changed;
        for (; k < p->leaves && ha_copy_compare_groups(leaf, &p->leaf[k]) == 0; k++) g->leaves++;
        g->merged = leaf;
        g->merges = g->leaves;
        if (ha_copy_may_merge(leaf)) room = ha_copy_merge_leaves(g, room);
        ha_copy_find_distances(g);
    }
}

#endif
