/* ha_scatter: y[at[i…], r…] = op(y[at[i…], r…], x[i…, r…]). */
#ifndef HARRAY_IMPL_OPS_SCATTER_H
#define HARRAY_IMPL_OPS_SCATTER_H

#include "scatter_runs.h"
#include "sorted.h"

static const ha_op_line ha_scatter_assign_line = {.word = "assign"};

/* The line of an operation; of HA_ASSIGN bytes. */
HA_IN_ ha_status ha_scatter_line(const darray *y, int op, ha_op_key *key) {
    ha_op_call c = {.operation = "ha_scatter", .word = op, .arrays = 1, .view = {y}, .name = {"y"}};
    key->type = ha_index_moved(y->array->element);
    key->line = &ha_scatter_assign_line;
    key->of[1] = op;
    if (op == HA_ASSIGN) return HA_OK;
    const ha_status s = ha_op_check_line(&c, &ha_op_joins, op);
    key->type = c.key.type;
    key->line = c.key.line;
    return s;
}

HA_IN_ ha_status ha_scatter_check(const darray *y, const darray *at, const darray *x) {
    ha_status s = ha_index_check_elements(HA_ARGUMENT_(y), HA_ARGUMENT_(x), "ha_scatter");
    if (!s) s = ha_index_check_type(HA_ARGUMENT_(at), "ha_scatter");
    if (!s)
        s = ha_index_check_extents(HA_ARGUMENT_(x), HA_ARGUMENT_(at), HA_ARGUMENT_(y),
                                   "ha_scatter");
    if (s || ha_view_is_empty(x) || ha_view_is_empty(y)) return s;
    s = ha_op_check_written(HA_ARGUMENT_(y), "ha_scatter");
    if (!s) s = ha_index_check_apart(HA_ARGUMENT_(y), HA_ARGUMENT_(at), "ha_scatter");
    return s ? s : ha_index_check_apart(HA_ARGUMENT_(y), HA_ARGUMENT_(x), "ha_scatter");
}

/* The dimensions of x that are those of `at`, and the others of y and x. */
HA_IN_ void ha_scatter_split(const darray *y, const darray *at, const darray *x, ha_op_boxes *first,
                             ha_op_boxes *rest) {
    darray of_x = *x, rest_of_y = *y, rest_of_x = *x;
    const darray *const views[] = {&rest_of_y, &rest_of_x};
    of_x.rank = at->rank;
    rest_of_y.rank = rest_of_x.rank = y->rank - 1;
    for (int d = 1; d < y->rank; d++) {
        rest_of_y.extent[d - 1] = y->extent[d];
        rest_of_y.stride[d - 1] = y->stride[d];
        rest_of_x.extent[d - 1] = y->extent[d];
        rest_of_x.stride[d - 1] = x->stride[at->rank + d - 1];
    }
    ha_index_in_order(first, at, &of_x);
    ha_op_boxes_of(rest, views, 2, 0);
}

/* All that a launch is given. */
typedef struct ha_scattering {
    ha_op_key key;
    const darray *at;
    ha_context *context;
    ha_op_boxes first, rest;
    ha_typed of_y, of_at, of_x;
    int64_t all;
} ha_scattering;

HA_IN_ ha_status ha_scatter_by_lanes(const ha_scattering *s) {
    const void *const given[] = {&s->of_y, &s->of_at, &s->of_x, &s->all};
    ha_region box = {{0}, {0}};
    for (int d = 0; d < s->rest.rank; d++) box.last[d] = s->rest.extent[d];
    return ha_index_launch(&s->key, "ha_scatter", s->context, &box, given);
}

HA_IN_ ha_status ha_scatter_by_runs(const ha_scattering *s, const darray *order) {
    ha_op_key key = s->key;
    const void *const given[] = {&s->of_y, &s->of_at, &s->of_x, &s->all, &order->array};
    ha_region box = {{0}, {s->all}};
    for (int d = 0; d < s->rest.rank; d++) box.last[1 + d] = s->rest.extent[d];
    key.make = ha_scatter_run_make;
    return ha_index_launch(&key, "ha_scatter", s->context, &box, given);
}

/* Whether sorting is worth it. */
HA_IN_ int ha_scatter_has_runs(const ha_scattering *s) {
    int64_t lanes = 1;
    for (int d = 0; d < s->rest.rank && lanes < HA_SCATTER_LANES; d++) lanes *= s->rest.extent[d];
    return ha_way_of(ha_resolve(s->context)) == HA_WAY_COMPILED && lanes < HA_SCATTER_LANES &&
           s->at->rank == 1 && s->rest.rank < HA_MAPPING_RANK && s->all >= HA_SCATTER_LEAST &&
           s->all <= (int64_t)UINT32_MAX;
}

static ha_status ha_scatter_sorted(const ha_scattering *s) {
    const darray order = darray_new(HA_DTYPE_uint32_t, 1, &s->all, s->context);
    if (!order.array) return ha_status_of_nothing();
    ha_status status = ha_sorting(order, *s->at, HA_ASCENDING, s->context);
    if (!status) status = ha_scatter_by_runs(s, &order);
    const ha_status freed = ha_array_free(order.array);
    return status ? status : freed;
}

HA_IN_ ha_status ha_scatter_launch(const ha_op_key *key, const darray *y, const darray *at,
                                   const darray *x, ha_context *context) {
    ha_scattering s = {.key = *key, .at = at, .context = context, .all = darray_size(*at)};
    ha_scatter_split(y, at, x, &s.first, &s.rest);
    const int most = HA_MOST_RANK - s.rest.rank;
    ha_status status = ha_index_check_rank(HA_ARGUMENT_(y), s.rest.rank, HA_MAPPING_RANK,
                                           "ha_scatter");
    if (!status) status = ha_index_check_rank(HA_ARGUMENT_(at), s.first.rank, most, "ha_scatter");
    if (!status) status = ha_index_check(HA_ARGUMENT_(at), y->extent[0], "ha_scatter", context);
    if (status) return status;
    s.key.rank = s.first.rank + HA_INDEX_RANK * s.rest.rank;
    s.of_y = ha_index_typed(y->array, s.rest.of[0].offset, 1, y->extent, y->stride, s.rest.rank,
                            s.rest.extent, s.rest.of[0].stride);
    s.of_at = ha_op_typed(&s.first, 0, at->array);
    s.of_x = ha_index_typed(x->array, s.rest.of[1].offset, s.first.rank, s.first.extent,
                            s.first.of[1].stride, s.rest.rank, s.rest.extent, s.rest.of[1].stride);
    return ha_scatter_has_runs(&s) ? ha_scatter_sorted(&s) : ha_scatter_by_lanes(&s);
}

HA_IN_ ha_status ha_scatter_run(int op, const darray *y, const darray *at, const darray *x,
                                ha_context *context) {
    ha_op_key key = {.make = ha_scatter_make};
    ha_status s = ha_op_check_word(&ha_op_scatter_words, "ha_scatter", op);
    if (!s) s = ha_scatter_check(y, at, x);
    if (!s) s = ha_scatter_line(y, op, &key);
    if (s || ha_view_is_empty(x)) return s;
    key.of[0] = (int)ha_dtype_size(at->type);
    return ha_scatter_launch(&key, y, at, x, ha_index_mover(y, x, context));
}

ha_status ha_scatter_(int op, darray y, darray at, darray x, ha_context *context,
                      const char *site) {
    const int is_kept = ha_first_error.status != HA_OK;
    ha_status s = HA_OK;
    HA_FROM(site)
    s = ha_op_told(ha_scatter_run(op, &y, &at, &x, context), is_kept, "ha_scatter");
    return s;
}

#endif
