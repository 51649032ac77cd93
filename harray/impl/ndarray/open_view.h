/* Accesses to views: they lock the box that the view covers, and move what is missing of it. */
#ifndef HARRAY_IMPL_NDARRAY_OPEN_VIEW_H
#define HARRAY_IMPL_NDARRAY_OPEN_VIEW_H

#include "../access/all.h"
#include "view.h"

/* What a view covers, when that is a box of its array's grid. */
typedef struct ha_boxed {
    size_t last, size; /* from the view's first element on; how many elements */
    int64_t lowest;    /* where index 0, 0, … would be, from the first element back */
    int64_t *span;     /* gets the view's numbers, also when it is no box; NULL: nothing does */
} ha_boxed;

_Static_assert(offsetof(darray, origin) - offsetof(darray, stride) ==
                       sizeof(((darray *)0)->stride) &&
                   offsetof(darray, stride) - offsetof(darray, extent) ==
                       sizeof(((darray *)0)->extent),
               "a darray has its numbers as an array_T_D does, each HA_MOST_RANK apart");

/* Strides stand `apart` numbers behind extents, and origins behind strides. Returns whether origins are sound. */
HA_FAST_ int ha_box_numbers(const int64_t *extent, size_t rank, size_t apart, ha_boxed *b) {
    int64_t *span = b->span, lowest = 0, end;
    size_t size = 1;
    for (const int64_t *n = extent, *stop = extent + rank; n < stop; n++) {
        const int64_t step = n[apart], from = n[2 * apart];
        size *= (size_t)*n;
        if (from) {
            if (from <= HA_ALL || __builtin_add_overflow(from, *n, &end)) return 0;
            lowest = ha_go(lowest, from, step);
        }
        if (!span) continue;
        span[0] = *n;
        span[rank] = step;
        span[2 * rank] = from;
        span++;
    }
    b->size = size;
    b->lowest = lowest;
    return 1;
}

/* Without a grid: the end of what a view covers, whose first element is the lowest. 0: it is not, has no elements, or
 * reaches too far. repeats: it may have elements twice. */
static inline size_t ha_reach_end(size_t first, size_t rank, const int64_t *extent,
                                  const int64_t *strides, int repeats) {
    size_t last = first, count = 1, way;
    if (!repeats && (rank != 1 || strides[0] < 1)) return 0;
    for (size_t d = 0; d < rank; d++) {
        if (extent[d] < 1 || strides[d] < 0) return 0;
        if (__builtin_mul_overflow((size_t)extent[d] - 1, (size_t)strides[d], &way)) return 0;
        if (__builtin_add_overflow(last, way, &last)) return 0;
        if (__builtin_mul_overflow(count, (size_t)extent[d], &count)) return 0;
    }
    return count > INT64_MAX || last >= INT64_MAX ? 0 : last + 1;
}

/* As most views are: along dimensions of the grid, or of the one of an array that has none. That shows that nothing is
 * wrong with its numbers, but for the origins, and that it repeats no elements. 0: it is not like that. */
HA_FAST_ int ha_is_box(const ha_grid *g, size_t first, const int64_t *extent, size_t rank,
                       size_t apart, ha_boxed *b) {
    if (!ha_box_numbers(extent, rank, apart, b)) return 0;
    b->last = g ? ha_view_end(g, first, rank, extent, extent + apart)
                : ha_reach_end(first, rank, extent, extent + apart, 0);
    return b->last - 1 < HA_END - 1; /* no array has so many elements, and now the compiler knows */
}

/* Where everything is valid and nobody is in the way. As ha_hold_fast. checked: the view has been, but for repeating
 * elements. */
HA_IN_ int ha_hold_view_fast(ha_access *x, const darray *v, int checked, ha_context *c, int write,
                             uint64_t written, const char *site) {
    ha_array *a = v->array;
    ha_boxed b = {.span = NULL};
    ha_range box = {(size_t)v->offset, 0};
    if (!checked && !ha_view_may_be_sound(v)) return 0;
    if (ha_is_box(a->grid, box.first, v->extent, (size_t)v->rank, HA_MOST_RANK, &b)) {
        box.last = b.last;
        if (!ha_hold_fast(x, a, c, write, box, 1, HA_END, written, site)) return 0;
        x->size = b.size;
        return 1;
    }
    if (!checked && !ha_view_is_sound(v)) return 0;
    if (write && ha_strides_repeat(v->rank, v->extent, v->stride)) return 0;
    (void)ha_view_cover(a->grid, v, &box);
    if (!ha_cover_is_box(a->grid, box)) return 0; /* the slow way refuses both */
    if (!ha_hold_fast(x, a, c, write, box, 1, HA_END, written, site)) return 0;
    x->data = (char *)x->data + (v->offset - (int64_t)box.first) * (int64_t)a->element;
    x->first = (size_t)v->offset;
    x->size = ha_view_size(v);
    return 1;
}

HA_NOINLINE_ HA_IN_ ha_status ha_open_view_slow(ha_access *x, const darray *v, ha_context *c,
                                                unsigned how, const char *operation,
                                                const char *site) {
    ha_array *a = v->array;
    site = ha_from(site);
    ha_opening o = {.array = a,
                    .context = c,
                    .operation = operation,
                    .site = site,
                    .mode = how & ~(unsigned)HA_TRY,
                    .for_user = 1};
    HA_TELLS_EVENTS_;
    memset(x, 0, sizeof *x);
    ha_status s = ha_open_refuse(a, how, operation, site);
    if (s) return x->status = s;
    ha_opening_view(&o, v);
    if ((s = ha_opening_begin(&o, (how & HA_TRY) != 0))) return x->status = s;
    ha_opening_commit(&o, x);
    return HA_OK;
}

/* As ha_open, for what a view covers, which has been checked: x->data is its first element, x->first where that is in the
 * storage, x->size how many it has. */
HA_IN_ ha_status ha_open_darray(ha_access *x, const darray *v, ha_context *c, unsigned how,
                                const char *operation, const char *site) {
    HA_MAY_WAIT_();
    const unsigned mode = how & ~(unsigned)HA_TRY;
    c = ha_resolve(c);
    const int write = mode != HA_READ;
    if (ha_self.id && mode <= HA_OVERWRITE &&
        ha_hold_view_fast(x, v, 1, c, write, (uint64_t)write, site)) {
        ha_self.held++;
        return HA_OK;
    }
    return ha_open_view_slow(x, v, c, how, operation, site);
}

/* As ha_read_anywhere. */
HA_IN_ ha_status ha_read_darray_anywhere(ha_access *x, const darray *v, ha_context *otherwise,
                                         const char *operation, const char *site) {
    HA_TELLS_EVENTS_;
    ha_array *a = v->array;
    ha_opening o = {.array = a,
                    .context = ha_resolve(otherwise),
                    .operation = operation,
                    .site = site,
                    .mode = HA_READ};
    memset(x, 0, sizeof *x);
    ha_status s = ha_open_refuse(a, HA_READ, operation, site);
    if (s) return x->status = s;
    ha_opening_view(&o, v);
    return ha_open_anywhere(x, &o);
}

/* As ha_array_prefetch. */
HA_IN_ ha_status ha_prefetch_darray(const darray *v, ha_context *c, const char *site) {
    HA_TELLS_EVENTS_;
    ha_array *a = v->array;
    ha_opening o = {.array = a,
                    .context = ha_resolve(c),
                    .operation = "darray_prefetch",
                    .site = site,
                    .mode = HA_READ};
    ha_status s = ha_open_refuse(a, HA_READ, o.operation, site);
    if (s) return s;
    ha_opening_view(&o, v);
    return ha_opening_prefetch(&o);
}

#endif
