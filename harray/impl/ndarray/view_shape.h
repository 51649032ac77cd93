/* Views of other extents: reshaping and broadcasting. */
#ifndef HARRAY_IMPL_NDARRAY_VIEW_SHAPE_H
#define HARRAY_IMPL_NDARRAY_VIEW_SHAPE_H

#include "view.h"

/* ---- reshaping ------------------------------------------------------------------------------ */

/* Neighbouring dimensions that one stride goes through are one run: the slowest of them has the
 * index count / (the others), and so on. Extents of 1 belong to any. */
typedef struct ha_run {
    int64_t count, stride;
} ha_run;

/* The runs of x, the fastest in this order first. Returns how many. */
HA_IN_ int ha_runs_of(const darray *x, ha_order order, ha_run *runs) {
    int n = 0;
    for (int k = 0; k < x->rank; k++) {
        const int d = ha_nth_fastest(k, x->rank, order);
        if (x->extent[d] == 1) continue;
        if (n && x->stride[d] == ha_go(0, runs[n - 1].count, runs[n - 1].stride))
            runs[n - 1].count *= x->extent[d];
        else
            runs[n++] = (ha_run){x->extent[d], x->stride[d]};
    }
    return n;
}

/* A dimension that leads across the end of a run would need two strides. Returns whether none
 * does. The extents have as many elements as the runs. */
HA_IN_ int ha_runs_cut(const ha_run *runs, int n, int rank, const int64_t *extent, ha_order order,
                       int64_t *stride) {
    ha_run left = n ? runs[0] : (ha_run){1, 1};
    int next = 1;
    for (int k = 0; k < rank; k++) {
        const int d = ha_nth_fastest(k, rank, order);
        if (left.count == 1 && extent[d] > 1) left = runs[next++];
        if (left.count % extent[d]) return 0;
        stride[d] = left.stride;
        left.count /= extent[d];
        left.stride = ha_go(0, extent[d], left.stride);
    }
    return 1;
}

/* Why these extents cannot be of as many elements as x; HA_OK: they are. */
HA_IN_ ha_status ha_reshape_count(const darray *x, int rank, const int64_t *extent,
                                  const char *operation) {
    int64_t count;
    ha_status s = ha_extents_count(rank, extent, 0, &count, operation);
    if (s || count == darray_size(*x)) return s;
    return ha_view_fail(HA_ERR_ARGUMENT, operation, x, "(%s) has %lld elements, this %lld",
                        ha_show(rank, extent).text, (long long)count, (long long)darray_size(*x));
}

darray darray_reshape_in_(ha_order order, darray x, int rank, const int64_t *extent,
                          const char *site) {
    HA_CALLED_FROM_(site);
    const char *const operation = "darray_reshape";
    ha_run runs[HA_MOST_RANK];
    if (ha_view_check(&x, operation) || ha_order_valid(order, operation) ||
        ha_reshape_count(&x, rank, extent, operation))
        return (darray){.rank = 0};
    darray shaped = x;
    shaped.rank = rank;
    for (int d = 0; d < rank; d++) {
        shaped.extent[d] = extent[d];
        shaped.origin[d] = 0;
    }
    if (ha_view_is_empty(&x)) {
        if (ha_extents_strides(rank, extent, order, shaped.stride)) return (darray){.rank = 0};
    } else if (!ha_runs_cut(runs, ha_runs_of(&x, order, runs), rank, extent, order, shaped.stride))
        return HA_REFUSED(operation, &x,
                          "strides (%s) cannot become those of (%s) in this order without a copy: "
                          "make a contiguous one, and reshape that",
                          ha_show(x.rank, x.stride).text, ha_show(rank, extent).text);
    return ha_view_done(shaped);
}

darray darray_flatten_in_(ha_order order, darray x, const char *site) {
    HA_CALLED_FROM_(site);
    const int64_t count = darray_size(x);
    return darray_reshape_in_(order, x, 1, &count, site);
}

/* ---- broadcasting --------------------------------------------------------------------------- */

darray darray_broadcast_(darray x, int rank, const int64_t *extent, const char *site) {
    HA_CALLED_FROM_(site);
    const char *const operation = "darray_broadcast";
    int64_t count;
    if (ha_view_check(&x, operation) || ha_extents_count(rank, extent, 0, &count, operation))
        return (darray){.rank = 0};
    darray wide = x;
    const int more = rank - x.rank;
    wide.rank = rank;
    for (int d = more < 0 ? -1 : 0; d < rank; d++) {
        const int from = d - more;
        if (d < 0 || (from >= 0 && x.extent[from] != extent[d] && x.extent[from] != 1))
            return HA_REFUSED(
                operation, &x, "it cannot be repeated to (%s): %s", ha_show(rank, extent).text,
                d < 0 ? "that has fewer dimensions" : "extents other than 1 have to be the same");
        const int same = from >= 0 && x.extent[from] == extent[d];
        wide.extent[d] = extent[d];
        wide.stride[d] = same ? x.stride[from] : 0;
        wide.origin[d] = same ? x.origin[from] : 0;
    }
    return ha_view_done(wide);
}

#endif
