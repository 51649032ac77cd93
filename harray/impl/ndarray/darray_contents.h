/* What is done with the elements of one view, or of two without changing them: filling, single
 * elements, comparing. */
#ifndef HARRAY_IMPL_NDARRAY_DARRAY_CONTENTS_H
#define HARRAY_IMPL_NDARRAY_DARRAY_CONTENTS_H

#include "darray_copy.h"
#include "open_view.h"
#include "../array/all.h"

/* ---- filling -------------------------------------------------------------------------------- */

/* Its first element is the first in memory. */
HA_IN_ darray ha_view_forwards(darray x) {
    for (int d = 0; d < x.rank; d++) {
        if (x.stride[d] >= 0 || x.extent[d] == 1) continue;
        x.offset = ha_go(x.offset, x.extent[d] - 1, x.stride[d]);
        x.stride[d] = -x.stride[d];
    }
    return x;
}

HA_IN_ ha_status ha_fill_on_device(const darray *x, const void *value, ha_context *c,
                                   const char *operation, const char *site) {
    const darray forwards = ha_view_forwards(*x);
    ha_opening o = {.array = x->array,
                    .context = c,
                    .operation = operation,
                    .site = site,
                    .mode = HA_OVERWRITE};
    ha_status s = ha_open_refuse(x->array, HA_OVERWRITE, operation, site);
    if (s) return s;
    ha_opening_view(&o, &forwards);
    if ((s = ha_opening_begin(&o, 0))) return s;
    return ha_opening_end(&o, ha_opening_fill(&o, value, x->array->element, o.count));
}

HA_IN_ ha_status ha_fill_on_host(const darray *x, const void *value, const char *operation,
                                 const char *site) {
    ha_access v;
    ha_status s = ha_open_darray(&v, x, ha_host(), HA_OVERWRITE, operation, site);
    if (s) return s;
    ha_strided_fill(x->rank, x->extent, v.data, x->stride, value, x->array->element);
    return ha_close_(&v);
}

/* A view that has been checked, but for repeating elements. */
HA_IN_ ha_status ha_view_fill(const darray *x, const void *value, ha_context *context,
                              const char *site) {
    HA_TELLS_EVENTS_;
    const char *const operation = "darray_fill";
    ha_context *c = ha_resolve(context);
    ha_status s = ha_view_check_repeats(x, operation);
    if (!s && !value) s = ha_view_fail(HA_ERR_ARGUMENT, operation, x, "the value is NULL");
    if (s || ha_view_is_empty(x)) return s;
    if (!ha_is_host(c) && ha_view_has_no_gaps(x))
        return ha_fill_on_device(x, value, c, operation, site);
    if (ha_view_kernels_.fill && !ha_is_host(c) && ha_view_kernels_.fill(x, value, c)) return HA_OK;
    return ha_fill_on_host(x, value, operation, site);
}

ha_status darray_fill_element_(darray x, const void *value, ha_context *context, const char *site) {
    ha_status s = HA_OK;
    HA_FROM(site) {
        s = ha_view_check(&x, "darray_fill");
        if (!s) s = ha_view_fill(&x, value, context, ha_from(site));
    }
    return s;
}

/* A number that the view's type has, refused as the view. */
HA_IN_ ha_status ha_view_number(const darray *x, ha_dvalue value, ha_dvalue *converted,
                                const char *operation) {
    ha_status s = ha_view_check(x, operation);
    if (s) return s;
    if (!x->type) return ha_view_fail(HA_ERR_ARGUMENT, operation, x, "its elements are no numbers");
    return ha_view_convert((ha_named_view){NULL, x}, &value, x->type, converted, operation);
}

ha_status darray_fill_(darray x, ha_dvalue value, ha_context *context, const char *site) {
    ha_status s = HA_OK;
    HA_FROM(site) {
        ha_dvalue converted;
        s = ha_view_number(&x, value, &converted, "darray_fill");
        if (!s) s = ha_view_fill(&x, converted.bytes, context, ha_from(site));
    }
    return s;
}

/* ---- single elements ------------------------------------------------------------------------ */

HA_IN_ ha_status ha_view_element(const darray *x, const int64_t *index, const void *value,
                                 size_t *element, const char *operation) {
    int64_t at = x->offset;
    ha_status s = ha_view_check(x, operation);
    if (s) return s;
    if (!value || (x->rank && !index))
        return ha_view_fail(HA_ERR_ARGUMENT, operation, x, "a pointer is NULL");
    for (int d = 0; d < x->rank; d++) {
        const int64_t lowest = x->origin[d], end = lowest + x->extent[d];
        const int64_t i = ha_index_in(x, d, index[d]);
        if (i < lowest || i >= end)
            return ha_view_fail(HA_ERR_ARGUMENT, operation, x,
                                "there is no element (%s): indices of dimension %d are %lld to "
                                "%lld",
                                ha_show(x->rank, index).text, d, (long long)lowest,
                                (long long)end - 1);
        at = ha_go(at, i - lowest, x->stride[d]);
    }
    *element = (size_t)at;
    return HA_OK;
}

ha_status darray_get_element_(darray x, const int64_t *index, void *value) {
    size_t element = 0;
    ha_status s = ha_view_element(&x, index, value, &element, "darray_get");
    return s ? s : ha_array_get(x.array, element, value);
}

ha_status darray_set_element_(darray x, const int64_t *index, const void *value) {
    const char *const operation = "darray_set";
    size_t element = 0;
    ha_status s = ha_view_element(&x, index, value, &element, operation);
    if (!s) s = ha_view_check_repeats(&x, operation);
    return s ? s : ha_array_set(x.array, element, value);
}

/* The index has as many numbers as the view has dimensions. */
HA_IN_ ha_status ha_view_rank(const darray *x, int rank, const char *operation) {
    if (rank == x->rank) return HA_OK;
    return ha_view_fail(HA_ERR_ARGUMENT, operation, x, "an index of %d numbers, not of %d", rank,
                        x->rank);
}

ha_status darray_get_(darray x, int rank, const int64_t *index, ha_dvalue *value,
                      const char *site) {
    HA_CALLED_FROM_(site);
    unsigned char bytes[16];
    ha_dvalue none;
    ha_status s = ha_view_number(&x, ha_dvalue_of_bool(0), &none, "darray_get");
    if (!s) s = ha_view_rank(&x, rank, "darray_get");
    if (!s) s = darray_get_element_(x, index, value ? bytes : NULL);
    if (!s) *value = ha_dvalue_load(x.type, bytes);
    return s;
}

ha_status darray_set_(darray x, int rank, const int64_t *index, ha_dvalue value, const char *site) {
    HA_CALLED_FROM_(site);
    ha_dvalue converted;
    ha_status s = ha_view_number(&x, value, &converted, "darray_set");
    if (!s) s = ha_view_rank(&x, rank, "darray_set");
    return s ? s : darray_set_element_(x, index, converted.bytes);
}

/* ---- comparing ------------------------------------------------------------------------------ */

ha_status darray_equal_(darray a, darray b, int *equal, const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    HA_CALLED_FROM_(site);
    const char *const operation = "darray_equal";
    const ha_named_view left = {"a", &a}, right = {"b", &b};
    ha_open_set t = {.operation = operation, .views_checked = 1};
    ha_access x, y;
    ha_request requests[] = {{.access = &x, .context = ha_host(), .how = HA_READ, .view = &a},
                             {.access = &y, .context = ha_host(), .how = HA_READ, .view = &b}};
    ha_status s = ha_view_check(&a, operation);
    if (!s) s = ha_view_check(&b, operation);
    if (s) return s;
    if (!equal) return ha_view_fail(HA_ERR_ARGUMENT, operation, &a, "the result is NULL");
    if (!ha_views_match(&a, &b))
        return ha_pair_refuse(left, right, "these types cannot be compared", operation);
    const int same = ha_extents_equal(a.rank, a.extent, b.rank, b.extent);
    if (!same || ha_view_is_empty(&a)) {
        *equal = same;
        return HA_OK;
    }
    if (ha_view_kernels_.equal && ha_view_kernels_.equal(&a, &b, equal)) return HA_OK;
    if ((s = ha_open_all(&t, requests, 2, site))) return s;
    *equal = ha_strided_equal(a.rank, a.extent, x.data, a.stride, a.type, y.data, b.stride, b.type,
                              a.array->element);
    HA_IGNORE_(ha_close_(&x));
    return ha_close_(&y);
}

#endif
