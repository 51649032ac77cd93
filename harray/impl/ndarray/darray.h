/* Making arrays of n dimensions: how their elements lie in a storage. */
#ifndef HARRAY_IMPL_NDARRAY_DARRAY_H
#define HARRAY_IMPL_NDARRAY_DARRAY_H

#include "../array/all.h"
#include "view.h"
#include "../../ndarray.h"
#include "../access/all.h"

/* ---- layout --------------------------------------------------------------------------------- */

/* A storage, and the elements in it. */
typedef struct ha_plot {
    ha_type type;
    darray view;  /* without a storage yet */
    int64_t size; /* of the storage */
    int64_t unit; /* elements from one aligned address to the next */
    int64_t lead; /* elements of memory to leave free before it */
    int rank;     /* of the grid that its elements lie on; 0: none, they lie without gaps */
    int64_t extent[HA_MOST_RANK], pitch[HA_MOST_RANK];
} ha_plot;

/* Elements from one aligned address to the next. */
HA_IN_ int64_t ha_alignment_unit(size_t alignment, size_t element) {
    size_t common = alignment;
    while (element % common) common /= 2;
    return (int64_t)(alignment / common);
}

/* *sum += more, of what is not negative. Returns whether it fits. */
HA_IN_ int ha_grow(int64_t *sum, int64_t more) { return !__builtin_add_overflow(*sum, more, sum); }

HA_IN_ ha_status ha_shape_valid(const ha_shape *shape, int rank, const char *operation) {
    ha_status s = ha_extents_sizes(rank, shape->extent, 0, operation);
    if (!s) s = ha_order_valid(shape->order, operation);
    if (s) return s;
    if (ha_any_negative(rank, shape->ghost_low) || ha_any_negative(rank, shape->ghost_high) ||
        ha_any_negative(rank, shape->padding))
        return ha_fail(HA_ERR_ARGUMENT, operation, "ghost cells or padding of (%s) are negative",
                       ha_show(rank, shape->extent).text);
    if (shape->alignment > 64 || (shape->alignment & (shape->alignment - 1)))
        return ha_fail(HA_ERR_ARGUMENT, operation,
                       "(%s): an alignment of %zu bytes is no power of 2 up to 64",
                       ha_show(rank, shape->extent).text, shape->alignment);
    return HA_OK;
}

HA_IN_ ha_status ha_plot_overflow(const ha_plot *plot, const ha_shape *shape,
                                  const char *operation) {
    return ha_fail(HA_ERR_MEMORY, operation, "%.32s (%s) overflows 64 bits", plot->type.name,
                   ha_show(plot->view.rank, shape->extent).text);
}

/* The extents with their ghost cells. Returns whether all fits 64 bits. */
HA_IN_ int ha_plot_extents(ha_plot *plot, const ha_shape *shape) {
    darray *x = &plot->view;
    int64_t count;
    for (int d = 0; d < x->rank; d++) {
        x->origin[d] = -shape->ghost_low[d];
        x->extent[d] = shape->extent[d];
        if (!ha_grow(&x->extent[d], shape->ghost_low[d]) ||
            !ha_grow(&x->extent[d], shape->ghost_high[d]))
            return 0;
    }
    return ha_product_above_0(x->rank, x->extent, &count);
}

/* Strides by order, padding and alignment, from the fastest dimension to the slowest. Returns whether all
 * fits 64 bits. */
HA_IN_ int ha_plot_lay(ha_plot *plot, const ha_shape *shape) {
    darray *x = &plot->view;
    int64_t next = 1;
    for (int n = 0; n < x->rank; n++) {
        const int d = ha_nth_fastest(n, x->rank, shape->order);
        int64_t width = x->extent[d] ? x->extent[d] : 1;
        x->stride[d] = next;
        if (!ha_grow(&width, shape->padding[d])) return 0;
        if (!n && !ha_grow(&width, plot->unit - 1)) return 0;
        if (!n) width -= width % plot->unit;
        if (__builtin_mul_overflow(next, width, &next)) return 0;
    }
    return 1;
}

/* Why strides of one's own cannot be; NULL: they can. */
HA_IN_ const char *ha_plot_objection(const ha_plot *plot, const ha_shape *shape) {
    const darray *x = &plot->view;
    int row = x->rank - 1;
    for (int d = 0; d < x->rank; d++) {
        if (shape->padding[d]) return "leave nothing for padding to say";
        if (x->stride[d] <= 0) return "are not all above 0";
        if (x->stride[d] < x->stride[row]) row = d;
    }
    if (ha_strides_repeat(x->rank, x->extent, x->stride))
        return "let elements overlap, or lie on no grid";
    for (int d = 0; d < x->rank; d++)
        if (d != row && x->extent[d] > 1 && x->stride[d] % plot->unit)
            return "lead to rows without this alignment";
    return NULL;
}

HA_IN_ int ha_has_own_strides(int rank, const ha_shape *shape) {
    int some = 0;
    for (int d = 0; d < rank; d++) some |= shape->stride[d] != 0;
    return some;
}

HA_IN_ ha_status ha_plot_own(ha_plot *plot, const ha_shape *shape, const char *operation) {
    darray *x = &plot->view;
    int64_t low, high;
    for (int d = 0; d < x->rank; d++) x->stride[d] = shape->stride[d];
    if (!ha_reach_fits(x->rank, x->extent, x->stride, &low, &high) || high == INT64_MAX)
        return ha_plot_overflow(plot, shape, operation);
    const char *objection = ha_plot_objection(plot, shape);
    if (!objection) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, operation, "%.32s (%s): strides (%s) %s", plot->type.name,
                   ha_show(x->rank, x->extent).text, ha_show(x->rank, x->stride).text, objection);
}

/* Where the storage begins, seen from an aligned address, so that the first interior element is at one: so
 * are those of all other rows. */
HA_IN_ int64_t ha_plot_lead(const ha_plot *plot, const ha_shape *shape) {
    const int64_t unit = plot->unit;
    int64_t inside = 0;
    for (int d = 0; d < plot->view.rank; d++)
        inside += shape->ghost_low[d] % unit * (plot->view.stride[d] % unit);
    return (unit - inside % unit) % unit;
}

/* Into the grid, by descending pitch. Of a dimension of one index the pitch does not matter. */
HA_IN_ void ha_plot_insert(ha_plot *plot, int64_t extent, int64_t stride) {
    int k = plot->rank;
    if (extent == 1) return;
    const int64_t pitch = stride < 0 ? -stride : stride;
    for (plot->rank++; k > 0 && plot->pitch[k - 1] < pitch; k--) {
        plot->pitch[k] = plot->pitch[k - 1];
        plot->extent[k] = plot->extent[k - 1];
    }
    plot->pitch[k] = pitch;
    plot->extent[k] = extent;
    plot->size += (extent - 1) * pitch;
}

/* The grid of all that the strides reach, whose sizes fit. */
HA_IN_ void ha_plot_grid(ha_plot *plot) {
    const darray *x = &plot->view;
    plot->rank = 0;
    plot->size = !ha_view_is_empty(x);
    for (int d = 0; plot->size && d < x->rank; d++)
        ha_plot_insert(plot, x->extent[d], x->stride[d]);
    if (plot->rank == 1 && plot->pitch[0] == 1) plot->rank = 0; /* without gaps: it needs none */
}

HA_IN_ ha_status ha_plot_make(ha_plot *plot, ha_type type, int rank, const ha_shape *shape,
                              const char *operation) {
    memset(plot, 0, sizeof *plot);
    ha_status s = ha_enter_briefly(operation);
    if (s) return s;
    if (!type.name) type.name = "?";
    if (!type.size)
        return ha_fail(HA_ERR_ARGUMENT, operation, "elements of type %.32s have no size",
                       type.name);
    if ((s = ha_shape_valid(shape, rank, operation))) return s;
    plot->type = type;
    plot->view.type = ha_dtype_quietly(type);
    plot->view.rank = rank;
    plot->unit = shape->alignment ? ha_alignment_unit(shape->alignment, type.size) : 1;
    const int is_own = ha_has_own_strides(rank, shape);
    if (!ha_plot_extents(plot, shape) || (!is_own && !ha_plot_lay(plot, shape)))
        return ha_plot_overflow(plot, shape, operation);
    if (is_own && (s = ha_plot_own(plot, shape, operation))) return s;
    ha_plot_grid(plot);
    plot->lead = ha_plot_lead(plot, shape);
    return HA_OK;
}

/* Of extents alone. */
HA_IN_ ha_status ha_plot_plain(ha_plot *plot, ha_order order, ha_type type, int rank,
                               const int64_t *extent, const char *operation) {
    ha_shape shape = {.rank = rank, .order = order};
    ha_status s = ha_extents_valid(rank, rank && !extent, operation);
    if (s) return s;
    for (int d = 0; d < rank; d++) shape.extent[d] = extent[d];
    return ha_plot_make(plot, type, rank, &shape, operation);
}

/* An array that nobody knows yet, or none, becomes the storage. */
HA_IN_ darray ha_plot_on(const ha_plot *plot, ha_array *storage, const char *operation) {
    darray x = ha_view_done(plot->view);
    if (!storage) return (darray){.rank = 0};
    x.array = storage;
    (void)ha_busy_begin(storage, 0, NULL); /* it may just give way */
    ha_status s = plot->rank ? ha_array_grid(storage, plot->rank, plot->extent, plot->pitch)
                             : HA_OK;
    if (!s) ha_resident_enter(storage, &storage->first);
    ha_busy_end(storage);
    if (!s) return x;
    ha_view_fail(HA_ERR_MEMORY, operation, &x, "no memory for its records");
    HA_IGNORE_(ha_array_free(storage));
    return (darray){.rank = 0};
}

/* ---- making --------------------------------------------------------------------------------- */

darray darray_new_(ha_order order, ha_type type, int rank, const int64_t *extent, ha_context *c) {
    ha_plot plot;
    if (ha_plot_plain(&plot, order, type, rank, extent, "darray_new")) return (darray){.rank = 0};
    HA_TAKES_MEMORY_;
    return ha_plot_on(&plot, ha_array_new_behind(type, (size_t)plot.size, 0, c, 0), "darray_new");
}

darray darray_zeros_(ha_type type, int rank, const int64_t *extent, ha_context *c) {
    ha_plot plot;
    if (ha_plot_plain(&plot, HA_ROW_MAJOR, type, rank, extent, "darray_zeros"))
        return (darray){.rank = 0};
    return ha_plot_on(&plot, ha_array_zeros(type, (size_t)plot.size, c), "darray_zeros");
}

darray darray_filled_(ha_type type, int rank, const int64_t *extent, const void *value,
                      ha_context *c) {
    ha_plot plot;
    if (ha_plot_plain(&plot, HA_ROW_MAJOR, type, rank, extent, "darray_filled"))
        return (darray){.rank = 0};
    return ha_plot_on(&plot, ha_array_filled(type, (size_t)plot.size, value, c), "darray_filled");
}

darray darray_of_(ha_type type, int rank, const int64_t *extent, const void *values,
                  ha_context *c) {
    ha_plot plot;
    if (ha_plot_plain(&plot, HA_ROW_MAJOR, type, rank, extent, "darray_of"))
        return (darray){.rank = 0};
    return ha_plot_on(&plot, ha_array_of(type, (size_t)plot.size, values, c), "darray_of");
}

darray darray_make_(ha_type type, int rank, const ha_shape *shape, ha_context *c) {
    const char *const operation = "darray_make";
    ha_plot plot;
    if (!shape || (shape->rank && shape->rank != rank)) {
        if (shape)
            ha_fail(HA_ERR_ARGUMENT, operation, "the shape is of another rank: %d, not %d",
                    shape->rank, rank);
        else
            ha_fail(HA_ERR_ARGUMENT, operation, "no shape");
        return (darray){.rank = 0};
    }
    if (ha_plot_make(&plot, type, rank, shape, operation)) return (darray){.rank = 0};
    const size_t lead = (size_t)plot.lead * type.size;
    HA_TAKES_MEMORY_;
    darray x = ha_plot_on(&plot, ha_array_new_behind(type, (size_t)plot.size, lead, c, 0),
                          operation);
    for (int d = 0; x.array && d < rank; d++)
        x.array->uneven |= shape->ghost_low[d] != shape->ghost_high[d];
    return x;
}

darray darray_new_in(ha_order order, ha_dtype type, int rank, const int64_t *extent,
                     ha_context *c) {
    return darray_new_(order, ha_dtype_to_type(type), rank, extent, c);
}

darray darray_new(ha_dtype type, int rank, const int64_t *extent, ha_context *c) {
    return darray_new_in(HA_ROW_MAJOR, type, rank, extent, c);
}

darray darray_zeros(ha_dtype type, int rank, const int64_t *extent, ha_context *c) {
    return darray_zeros_(ha_dtype_to_type(type), rank, extent, c);
}

darray darray_filled(ha_dtype type, int rank, const int64_t *extent, ha_dvalue value,
                     ha_context *c) {
    ha_dvalue converted;
    if (ha_convert(&value, type, &converted, "darray_filled")) return (darray){.rank = 0};
    return darray_filled_(ha_dtype_to_type(type), rank, extent, converted.bytes, c);
}

darray darray_of(ha_dtype type, int rank, const int64_t *extent, const void *values,
                 ha_context *c) {
    return darray_of_(ha_dtype_to_type(type), rank, extent, values, c);
}

darray darray_make_of(ha_type type, const ha_shape *shape, ha_context *c) {
    return darray_make_(type, shape ? shape->rank : 0, shape, c);
}

darray darray_make(ha_dtype type, const ha_shape *shape, ha_context *c) {
    return darray_make_of(ha_dtype_to_type(type), shape, c);
}

darray darray_from(ha_array *array, int rank, const int64_t *extent) {
    const char *const operation = "darray_from";
    ha_plot plot;
    if (ha_enter_briefly(operation)) return (darray){.rank = 0};
    if (!array) {
        ha_fail(HA_ERR_ARGUMENT, operation, "%s: no array", operation);
        return (darray){.rank = 0};
    }
    if (ha_was_freed(array, operation) ||
        ha_plot_plain(&plot, HA_ROW_MAJOR, ha_array_type(array), rank, extent, operation))
        return (darray){.rank = 0};
    const size_t size = ha_array_size(array);
    if (array->grid && ha_elements(array->grid, HA_WHOLE_) != size) {
        ha_fail(HA_ERR_ARGUMENT, operation,
                "array %s has memory between its elements that is not its own",
                ha_label_of(array).text);
        return (darray){.rank = 0};
    }
    if (size == (size_t)plot.size) {
        plot.view.array = ha_array_retain(array);
        return ha_view_done(plot.view);
    }
    ha_fail(HA_ERR_ARGUMENT, operation, "array %s has %zu elements, (%s) has %lld",
            ha_label_of(array).text, size, ha_show(rank, extent).text, (long long)plot.size);
    return (darray){.rank = 0};
}

/* ---- owners --------------------------------------------------------------------------------- */

darray darray_share(darray x) {
    (void)ha_array_retain(x.array);
    return x;
}

ha_status darray_free(darray *x) {
    ha_status s = ha_array_free(x ? x->array : NULL);
    if (x && !s) x->array = NULL;
    return s;
}

/* ---- typed ones ----------------------------------------------------------------------------- */

/* An array_T_D is this, with its rank for HA_MOST_RANK: {extent[D], stride[D], origin[D]}. */
typedef struct ha_typed {
    ha_array *array;
    int64_t offset, numbers[3 * HA_MOST_RANK];
} ha_typed;

HA_IN_ size_t ha_typed_bytes(int rank) {
    return offsetof(ha_typed, numbers) + 3 * (size_t)rank * sizeof(int64_t);
}

darray darray_of_typed_(const void *typed, ha_dtype dtype, int rank) {
    const char *from = (const char *)typed + offsetof(ha_typed, numbers);
    const size_t next = (size_t)rank * sizeof(int64_t);
    darray x = {.type = dtype, .rank = rank};
    memcpy(&x.array, (const char *)typed + offsetof(ha_typed, array), sizeof x.array);
    memcpy(&x.offset, (const char *)typed + offsetof(ha_typed, offset), sizeof x.offset);
    for (int d = 0; d < rank; d++, from += sizeof(int64_t)) {
        memcpy(&x.extent[d], from, sizeof(int64_t));
        memcpy(&x.stride[d], from + next, sizeof(int64_t));
        memcpy(&x.origin[d], from + 2 * next, sizeof(int64_t));
    }
    return x;
}

HA_IN_ int ha_type_is(const ha_array *a, ha_type type) {
    return a->element == type.size && (a->type == type.name || !strcmp(a->type, type.name));
}

void darray_to_typed_(darray x, ha_type type, ha_dtype dtype, int rank, void *typed) {
    ha_typed t = {.array = NULL};
    if (x.array && (x.rank != rank || x.type != dtype || (!dtype && !ha_type_is(x.array, type))))
        ha_view_fail(HA_ERR_ARGUMENT, "array_from_darray", &x, "it is no array of %.32s of rank %d",
                     type.name, rank);
    else if (x.array) {
        t.array = x.array;
        t.offset = x.offset;
        for (int d = 0; d < rank; d++) {
            t.numbers[d] = x.extent[d];
            t.numbers[rank + d] = x.stride[d];
            t.numbers[2 * rank + d] = x.origin[d];
        }
    }
    memcpy(typed, &t, ha_typed_bytes(rank));
}

__attribute__((noreturn)) void ha_index_failed_(int64_t index, int64_t origin, int64_t extent,
                                                int dimension, const char *site) {
    fprintf(stderr, "harray: %s: index %lld of dimension %d: its indices are %lld to %lld\n", site,
            (long long)index, dimension, (long long)origin, (long long)(origin + extent - 1));
    abort();
}

#endif
