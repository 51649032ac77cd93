/* The caller's memory as an array of n dimensions. */
#ifndef HARRAY_IMPL_NDARRAY_DARRAY_WRAP_H
#define HARRAY_IMPL_NDARRAY_DARRAY_WRAP_H

#include "darray.h"

/* What stands between the lowest and the highest address belongs to the storage; the grid keeps what
 * is not the array's from being touched. `low`: of index 0, 0, …, from there. */
HA_IN_ ha_status ha_plot_strides(ha_plot *plot, const int64_t *stride, int64_t *low,
                                 const char *operation) {
    darray *x = &plot->view;
    int64_t high, size;
    for (int d = 0; d < x->rank; d++) x->stride[d] = stride[d];
    if (!ha_reach_fits(x->rank, x->extent, stride, low, &high) || *low <= -INT64_MAX ||
        __builtin_sub_overflow(high, *low - 1, &size))
        return ha_fail(HA_ERR_MEMORY, operation, "%.32s (%s) with strides (%s) overflows 64 bits",
                       plot->type.name, ha_show(x->rank, x->extent).text,
                       ha_show(x->rank, stride).text);
    if (ha_strides_repeat(x->rank, x->extent, stride))
        return ha_fail(HA_ERR_ARGUMENT, operation,
                       "%.32s (%s) with strides (%s): its elements overlap, or lie on no grid",
                       plot->type.name, ha_show(x->rank, x->extent).text,
                       ha_show(x->rank, stride).text);
    x->offset = -*low;
    ha_plot_grid(plot);
    return HA_OK;
}

darray darray_wrap_(ha_type type, int rank, const int64_t *extent, const int64_t *stride,
                    void *data, ha_context *c, unsigned flags) {
    const char *const operation = "darray_wrap";
    int64_t low = 0, bytes = 0;
    ha_plot plot;
    if (ha_plot_plain(&plot, HA_ROW_MAJOR, type, rank, extent, operation) ||
        (rank && stride && ha_plot_strides(&plot, stride, &low, operation)))
        return (darray){.rank = 0};
    if ((plot.size && !data) || __builtin_mul_overflow(low, (int64_t)type.size, &bytes)) {
        ha_fail(data ? HA_ERR_MEMORY : HA_ERR_ARGUMENT, operation, "%.32s (%s): %s", plot.type.name,
                ha_show(rank, extent).text, data ? "its bytes overflow" : "no memory to wrap");
        return (darray){.rank = 0};
    }
    const ha_wrapped piece = {(void *)((uintptr_t)data + (uintptr_t)bytes), c, flags};
    return ha_plot_on(&plot, ha_array_wrap(type, (size_t)plot.size, &piece, 1), operation);
}

darray darray_wrap(ha_dtype type, int rank, const int64_t *extent, const int64_t *stride,
                   void *data, ha_context *c, unsigned flags) {
    return darray_wrap_(ha_dtype_to_type(type), rank, extent, stride, data, c, flags);
}

#endif
