/* ha_scan_offsets, and ha_differences: with words that are there. */
#ifndef HARRAY_IMPL_OPS_OFFSETS_H
#define HARRAY_IMPL_OPS_OFFSETS_H

#include "scan.h"

/* ---- offsets ------------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_offsets_check(const darray *offsets, const darray *counts) {
    const char *operation = "ha_scan_offsets";
    ha_status s = ha_index_check_type(HA_ARGUMENT_(offsets), operation);
    if (!s) s = ha_named_view_check(HA_ARGUMENT_(counts), operation);
    if (!s) s = ha_index_check_row(HA_ARGUMENT_(offsets), operation);
    if (!s) s = ha_index_check_row(HA_ARGUMENT_(counts), operation);
    if (!s) s = ha_op_check_written(HA_ARGUMENT_(offsets), operation);
    if (s) return s;
    const ha_number_kind kind = ha_dtype_kind(counts->type);
    if (kind != HA_KIND_SIGNED && kind != HA_KIND_UNSIGNED)
        return ha_named_view_fail(HA_ERR_ARGUMENT, operation, HA_ARGUMENT_(counts),
                                  "a count is an integer");
    if (offsets->extent[0] - 1 != counts->extent[0])
        return ha_pair_refuse(HA_ARGUMENT_(offsets), HA_ARGUMENT_(counts),
                              "there is one offset more than there are counts", operation);
    if (ha_view_is_empty(counts)) return HA_OK;
    return ha_index_check_apart(HA_ARGUMENT_(offsets), HA_ARGUMENT_(counts), operation);
}

HA_IN_ ha_status ha_offsets_reduce(const darray *counts, const ha_op_table *lanes, int lane,
                                   ha_reduction op, ha_context *context, ha_dvalue *result) {
    ha_op_reduction r = {{.operation = "ha_scan_offsets",
                          .context = context,
                          .arrays = 1,
                          .view = {counts},
                          .name = {"counts"}},
                         lanes,
                         lane,
                         op};
    return ha_op_reduce(&r, 1, result);
}

/* Is there no count below zero? */
HA_IN_ ha_status ha_offsets_check_signs(const darray *counts, ha_context *context) {
    ha_dvalue place, least = {.type = counts->type};
    if (ha_dtype_kind(counts->type) == HA_KIND_UNSIGNED) return HA_OK;
    ha_status s = ha_offsets_reduce(counts, &ha_op_lanes_of_value, HA_LANE_VALUE_, HA_MIN_AT,
                                    context, &place);
    const int64_t at = place.as_int64_t, index = counts->origin[0] + at;
    if (!s) s = darray_get_(*counts, 1, &index, &least, NULL);
    if (!s) s = ha_dvalue_convert(least, HA_DTYPE_int64_t, &least);
    if (s || least.as_int64_t >= 0) return s;
    return ha_named_view_fail(HA_ERR_ARGUMENT, "ha_scan_offsets", HA_ARGUMENT_(counts),
                              "at (%lld) there is %lld: a count is not below zero",
                              (long long)index, (long long)least.as_int64_t);
}

/* Does the sum fit? That of 64 bits may have wrapped around: the sum in double is near enough to tell how often. */
HA_IN_ ha_status ha_offsets_check_sum(const darray *offsets, const darray *counts,
                                      ha_context *context) {
    ha_dvalue sum, near;
    ha_status s = ha_offsets_reduce(counts, &ha_op_lanes_of_value, HA_LANE_VALUE_, HA_SUM, context,
                                    &sum);
    if (s) return s;
    near = ha_dvalue_of_double((double)sum.as_uint64_t);
    if (counts->array->element == sizeof(int64_t))
        s = ha_offsets_reduce(counts, &ha_op_lanes_of_size, HA_LANE_ABS_, HA_SUM, context, &near);
    if (s) return s;
    const uint64_t most = offsets->type == HA_DTYPE_int32_t    ? INT32_MAX
                          : offsets->type == HA_DTYPE_uint32_t ? UINT32_MAX
                          : offsets->type == HA_DTYPE_int64_t  ? INT64_MAX
                                                               : UINT64_MAX;
    const int wrapped = near.as_double - (double)sum.as_uint64_t > 0x1p63;
    if (!wrapped && sum.as_uint64_t <= most) return HA_OK;
    return ha_named_view_fail(HA_ERR_ARGUMENT, "ha_scan_offsets", HA_ARGUMENT_(offsets),
                              "the sum of the counts, %.17g, does not fit its type",
                              near.as_double);
}

/* In an array of its own, so that nothing has been changed when anything fails. */
HA_IN_ ha_status ha_offsets_scan(const darray *all, const darray *counts, ha_context *context) {
    darray rest = *all, from_0 = *counts;
    rest.offset++;
    rest.extent[0]--;
    from_0.origin[0] = 0;
    ha_status s = darray_fill_(*all, ha_dvalue_of_int32_t(0), context, "ha_scan_offsets");
    if (!s) s = darray_copy_(rest, from_0, context, "ha_scan_offsets");
    return s ? s : ha_scan_run(HA_SUM, &rest, &rest, HA_SCAN_ALL_, HA_INCLUSIVE, context);
}

HA_IN_ ha_status ha_offsets_run(const darray *offsets, const darray *counts, ha_context *context) {
    ha_status s = ha_offsets_check(offsets, counts);
    if (!s && !ha_view_is_empty(counts)) {
        s = ha_offsets_check_signs(counts, context);
        if (!s) s = ha_offsets_check_sum(offsets, counts, context);
    }
    if (s) return s;
    const darray all = darray_new(offsets->type, 1, offsets->extent, context);
    if (!all.array) return ha_status_of_nothing();
    darray from_0 = *offsets;
    from_0.origin[0] = 0;
    s = ha_offsets_scan(&all, counts, context);
    if (!s) s = darray_copy_(from_0, all, context, "ha_scan_offsets");
    const ha_status freed = ha_array_free(all.array);
    return s ? s : freed;
}

ha_status ha_scan_offsets_(darray offsets, darray counts, ha_context *context, const char *site) {
    ha_status s = HA_OK;
    HA_FROM(site) s = ha_offsets_run(&offsets, &counts, context);
    return s;
}

/* ---- differences --------------------------------------------------------------------------------- */

ha_status ha_differences_(darray y, darray x, int dimension, ha_context *context,
                          const char *site) {
    const ha_named_view result = {"y", &y}, all = {"x", &x};
    darray next = x, own = x;
    ha_op_call c = {.operation = "ha_differences",
                    .context = context,
                    .arrays = 3,
                    .typed = 1,
                    .view = {&y, &next, &own},
                    .name = {"y", "a part of x", "a part of x"}};
    ha_status s = HA_OK;
    HA_FROM(site) {
        s = ha_split_check_dimension(all, dimension, c.operation);
        if (!s) s = ha_named_view_check(result, c.operation);
        if (!s) {
            own.extent[dimension] = --next.extent[dimension];
            next.offset += next.stride[dimension];
            s = ha_extents_equal(y.rank, y.extent, own.rank, own.extent)
                    ? ha_op_run_line(&c, &ha_op_subtract, HA_SUBTRACT)
                    : ha_pair_refuse(result, all, "the extents are not those, but one less there",
                                     c.operation);
        }
    }
    return s;
}

#endif
