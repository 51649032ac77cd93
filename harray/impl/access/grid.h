/* Arrays whose elements lie on a grid, and what of the grid a view covers. */
#ifndef HARRAY_IMPL_ACCESS_GRID_H
#define HARRAY_IMPL_ACCESS_GRID_H

#include "../../darray.h"
#include "../state/all.h"

/* ---- giving an array its grid -------------------------------------------------------------- */

/* pitch: descending. HA_ERR_ARGUMENT: there is no such grid. */
HA_IN_ ha_status ha_grid_make(ha_grid *g, int rank, const int64_t *extent, const int64_t *pitch) {
    size_t inner = 1; /* elements up to the last one of an index of the dimension before */
    if (rank < 1 || rank > HA_MOST_RANK) return HA_ERR_ARGUMENT;
    memset(g, 0, sizeof *g);
    g->rank = rank;
    for (int d = rank; d-- > 0;) {
        size_t more;
        if (extent[d] < 1 || pitch[d] < 1 || (size_t)pitch[d] < inner) return HA_ERR_ARGUMENT;
        if (__builtin_mul_overflow((size_t)extent[d] - 1, (size_t)pitch[d], &more) ||
            __builtin_add_overflow(inner, more, &inner))
            return HA_ERR_ARGUMENT;
        g->extent[d] = (size_t)extent[d];
        g->pitch[d] = (size_t)pitch[d];
        g->inverse[d] = UINT64_MAX / (uint64_t)pitch[d];
    }
    g->size = inner;
    return HA_OK;
}

HA_IN_ int ha_grids_equal(const ha_grid *x, const ha_grid *y) {
    if (!x || !y) return x == y;
    return x->rank == y->rank && !memcmp(x->extent, y->extent, sizeof x->extent) &&
           !memcmp(x->pitch, y->pitch, sizeof x->pitch);
}

/* a is new: nobody knows it yet. */
HA_IN_ ha_status ha_grid_give(ha_array *a, const ha_grid *g) {
    ha_kept *kept = ha_kept_take(&ha_freed_grids);
    ha_grid *own = kept ? (ha_grid *)(void *)((char *)kept - offsetof(ha_grid, kept))
                        : (ha_grid *)HARRAY_MALLOC(sizeof *own);
    if (!own) return HA_ERR_MEMORY;
    *own = *g;
    a->grid = own;
    a->lost.grid = own;
    for (ha_incarnation *in = &a->first; in; in = in->next) in->valid.grid = in->ops.grid = own;
    return HA_OK;
}

/* a is new, and has as many elements as the grid: index i, j, … is element i * pitch[0] + …, with
 * pitches that descend. From now on it keeps its size. HA_ERR_ARGUMENT: that is no grid, or not one
 * of the array's size; HA_ERR_MEMORY. */
HA_IN_ ha_status ha_array_grid(ha_array *a, int rank, const int64_t *extent, const int64_t *pitch) {
    ha_grid g;
    ha_status s = ha_grid_make(&g, rank, extent, pitch);
    if (!s && g.size != a->size) s = HA_ERR_ARGUMENT;
    return s ? s : ha_grid_give(a, &g);
}

/* ---- what a view covers -------------------------------------------------------------------- */

/* The elements of a view as an index pattern without dimensions of one index and without those in
 * which it repeats itself; all strides are positive, the longest first. */
typedef struct ha_pattern {
    int rank;
    size_t first, count;
    size_t extent[HA_MOST_RANK], stride[HA_MOST_RANK];
} ha_pattern;

HA_IN_ void ha_pattern_insert(ha_pattern *p, size_t extent, size_t stride) {
    int k = p->rank++;
    for (; k > 0 && p->stride[k - 1] < stride; k--) {
        p->extent[k] = p->extent[k - 1];
        p->stride[k] = p->stride[k - 1];
    }
    p->extent[k] = extent;
    p->stride[k] = stride;
    p->count *= extent;
}

/* A view has been checked: its elements are inside the storage, and what is computed here fits. What is behind the rank
 * is left as it is. */
HA_IN_ void ha_pattern_of(ha_pattern *p, const darray *v) {
    p->rank = 0;
    p->first = (size_t)v->offset;
    p->count = 1;
    for (int d = 0; d < v->rank; d++)
        if (!v->extent[d]) p->count = 0;
    for (int d = 0; d < v->rank && p->count; d++) {
        if (v->extent[d] == 1 || !v->stride[d]) continue;
        const int down = v->stride[d] < 0;
        const size_t stride = down ? -(size_t)v->stride[d] : (size_t)v->stride[d];
        if (down) p->first -= ((size_t)v->extent[d] - 1) * stride;
        ha_pattern_insert(p, (size_t)v->extent[d], stride);
    }
    if (!p->count) p->first = (size_t)v->offset; /* nothing lies before it */
}

HA_IN_ size_t ha_pattern_last(const ha_pattern *p) {
    size_t last = p->first;
    for (int k = 0; k < p->rank; k++) last += (p->extent[k] - 1) * p->stride[k];
    return last;
}

/* Whether no element is there twice, as far as is easily seen. */
HA_IN_ int ha_pattern_is_plain(const ha_pattern *p) {
    size_t reach = 0;
    for (int k = p->rank; k-- > 0;) {
        if (p->stride[k] <= reach) return 0;
        reach += (p->extent[k] - 1) * p->stride[k];
    }
    return 1;
}

/* Adds to a box, so far its lowest corner, how far the pattern goes in each dimension of the grid.
 * 0: it leaves a row at its end for the next one. */
HA_IN_ int ha_pattern_box(const ha_grid *g, const ha_pattern *p, ha_box *box) {
    for (int d = 0; d < g->rank; d++) box->last[d] = box->first[d] + 1;
    for (int k = 0; k < p->rank; k++) {
        size_t stride = p->stride[k];
        for (int d = 0; d < g->rank && stride; d++) {
            if (stride < g->pitch[d]) continue;
            const size_t step = stride == g->pitch[d] ? 1 : ha_grid_divide(g, d, stride);
            stride -= step * g->pitch[d];
            size_t way; /* to the last index */
            if (__builtin_mul_overflow(step, p->extent[k] - 1, &way)) return 0;
            if (way > g->extent[d] - box->last[d]) return 0;
            box->last[d] += way;
        }
        if (stride) return 0;
    }
    return 1;
}

/* *r = the smallest box that is easily found with all elements of a view. 1: it has no others. */
HA_IN_ int ha_view_cover(const ha_grid *g, const darray *v, ha_range *r) {
    ha_pattern p;
    ha_pattern_of(&p, v);
    const size_t last = p.count ? ha_pattern_last(&p) : 0;
    ha_box box;
    *r = (ha_range){p.first, p.count ? last + 1 : p.first};
    if (!p.count) return 1;
    if (!g) return last - p.first == p.count - 1 && ha_pattern_is_plain(&p);
    if (!ha_is_on_grid(g, p.first) || !ha_is_on_grid(g, last)) { /* that one alone: it is no box */
        r->first = ha_is_on_grid(g, p.first) ? last : p.first;
        r->last = r->first + 1;
        return 0;
    }
    ha_grid_index(g, p.first, box.first);
    if (ha_pattern_box(g, &p, &box)) {
        *r = ha_box_range(g, &box);
        return ha_box_size(g, &box) == p.count && ha_pattern_is_plain(&p);
    }
    *r = ha_grid_around(g, p.first, last);
    return ha_elements(g, *r) == p.count && ha_pattern_is_plain(&p);
}

/* The end of the box that a view covers from its first element on, by its numbers; it goes along dimensions of
 * the grid in any order. 0: this one does not, or repeats elements, or has none, or not all are in the storage. */
HA_NOINLINE_ HA_IN_ size_t ha_view_end_across(const ha_grid *g, size_t first, size_t rank,
                                              const int64_t *extent, const int64_t *strides) {
    size_t index[HA_MOST_RANK], last = first, rest = first;
    int off_grid = 0, i = 0;
    do {
        index[i] = ha_grid_take(g, i, &rest);
        off_grid |= index[i] >= g->extent[i];
    } while (++i < g->rank);
    if (off_grid || rest) return 0;
    for (size_t d = 0, k = 0, n = (size_t)g->rank; d < rank; d++) {
        const size_t way = (size_t)extent[d] - 1, stride = (size_t)strides[d];
        if (!way) continue;
        for (k = k < n && g->pitch[k] >= stride ? k : 0; k < n; k++)
            if (g->pitch[k] == stride) break;
        if (k == n || way >= g->extent[k] - index[k]) return 0;
        index[k] = g->extent[k] - 1; /* whoever goes along it once more repeats elements */
        last += way * stride;
    }
    return last + 1;
}

/* The same, sooner where it goes along all of them in their order, as most do. */
static inline size_t ha_view_end(const ha_grid *g, size_t first, size_t rank, const int64_t *extent,
                                 const int64_t *strides) {
    size_t last = first, rest = first, d = 0;
    for (; d < rank; d++) {
        const size_t pitch = g->pitch[d], way = (size_t)extent[d] - 1;
        const size_t index = ha_grid_take(g, (int)d, &rest);
        if ((size_t)strides[d] != pitch || index >= g->extent[d] || way >= g->extent[d] - index)
            break;
        last += way * pitch;
    }
    if (d == rank && d == (size_t)g->rank && !rest) return last + 1;
    return ha_view_end_across(g, first, rank, extent, strides);
}

/* Whether what a view covers is a box of the grid. No function makes other views, but their numbers can
 * be changed: what lies between the rows cannot be told apart by boxes. */
HA_IN_ int ha_cover_is_box(const ha_grid *g, ha_range cover) {
    if (!g || ha_is_empty(cover)) return 1;
    return ha_is_on_grid(g, cover.first) && ha_is_on_grid(g, cover.last - 1);
}

HA_IN_ size_t ha_view_size(const darray *v) {
    size_t n = 1;
    for (int d = 0; d < v->rank; d++) n *= (size_t)v->extent[d];
    return n;
}

/* ---- whether a view has elements in a box -------------------------------------------------- */

HA_IN_ int ha_is_in_box(const ha_grid *g, const ha_box *box, size_t element) {
    size_t index[HA_MOST_RANK];
    ha_grid_index(g, element, index);
    for (int d = 0; d < g->rank; d++)
        if (index[d] < box->first[d] || index[d] >= box->last[d]) return 0;
    return 1;
}

/* How a pattern goes along the dimensions of the grid, when it goes along each by itself. */
typedef struct ha_course {
    size_t first[HA_MOST_RANK], step[HA_MOST_RANK], count[HA_MOST_RANK];
} ha_course;

/* 0: it goes across, or from one row to the next. */
HA_IN_ int ha_course_of(const ha_grid *g, const ha_pattern *p, ha_course *c) {
    ha_grid_index(g, p->first, c->first);
    for (int d = 0; d < g->rank; d++) c->step[d] = c->count[d] = 1;
    for (int k = 0; k < p->rank; k++) {
        size_t way; /* to the last index */
        int d = 0;
        while (d < g->rank && g->pitch[d] > p->stride[k]) d++;
        if (d == g->rank || c->count[d] > 1) return 0;
        c->step[d] = ha_grid_divide(g, d, p->stride[k]);
        if (c->step[d] * g->pitch[d] != p->stride[k]) return 0;
        if (__builtin_mul_overflow(c->step[d], p->extent[k] - 1, &way)) return 0;
        if (c->first[d] >= g->extent[d] || way > g->extent[d] - 1 - c->first[d]) return 0;
        c->count[d] = p->extent[k];
    }
    return 1;
}

HA_IN_ int ha_course_hits(const ha_grid *g, const ha_course *c, const ha_box *box) {
    for (int d = 0; d < g->rank; d++) {
        const size_t first = c->first[d], step = c->step[d], low = box->first[d];
        const size_t i = first < low ? (low - first - 1) / step + 1
                                     : 0; /* the first one from low on */
        if (i >= c->count[d] || first + i * step >= box->last[d]) return 0;
    }
    return 1;
}

/* Goes through the elements one by one where there is no other way: for errors and rare cases. */
HA_IN_ int ha_view_hits(const ha_grid *g, const darray *v, ha_range r) {
    ha_pattern p;
    ha_pattern_of(&p, v);
    size_t index[HA_MOST_RANK] = {0}, at = p.first;
    ha_course course;
    ha_box box;
    int k = 0;
    if (g) ha_box_of(g, r, &box);
    if (g && p.count && ha_course_of(g, &p, &course)) return ha_course_hits(g, &course, &box);
    while (k >= 0 && p.count) {
        if (g ? ha_is_in_box(g, &box, at) : r.first <= at && at < r.last) return 1;
        for (k = p.rank - 1; k >= 0; k--) {
            at += p.stride[k];
            if (++index[k] < p.extent[k]) break;
            at -= p.extent[k] * p.stride[k];
            index[k] = 0;
        }
    }
    return 0;
}

/* ---- indices of views ------------------------------------------------------------------------ */

/* The dimension with the longest stride below `longest`, of those that lead anywhere; -1: none. */
HA_IN_ int ha_view_longest(const darray *v, unsigned done) {
    int found = -1;
    for (int d = 0; d < v->rank; d++) {
        const uint64_t size = ha_stride_size(v->stride[d]);
        if (done >> d & 1 || !size || v->extent[d] < 2) continue;
        if (found < 0 || size > ha_stride_size(v->stride[found])) found = d;
    }
    return found;
}

/* The index that an element of the storage has in a view. 0: none, or strides mingle too much to
 * tell. */
HA_IN_ int ha_view_index(const darray *v, size_t element, int64_t *index) {
    int64_t rest = (int64_t)element - v->offset;
    unsigned done = 0;
    for (int d = 0; d < v->rank; d++) {
        index[d] = v->origin[d];
        if (v->stride[d] < 0) rest -= (v->extent[d] - 1) * v->stride[d];
    }
    if (rest < 0) return 0;
    for (int d; (d = ha_view_longest(v, done)) >= 0; done |= 1u << d) {
        const int64_t size = (int64_t)ha_stride_size(v->stride[d]), most = v->extent[d] - 1;
        const int64_t steps = rest / size < most ? rest / size : most;
        rest -= steps * size;
        index[d] += v->stride[d] < 0 ? most - steps : steps;
    }
    return !rest;
}

#endif
