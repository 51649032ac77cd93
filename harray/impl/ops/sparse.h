/* Sparse vectors, made of other operations: where an element of one comes to in the union of both is found by searching in the
 * other, and which element comes to a place by searching in these. So all of it is done by as many lanes as there are elements. */
#ifndef HARRAY_IMPL_OPS_SPARSE_H
#define HARRAY_IMPL_OPS_SPARSE_H

#include "../../sparse.h"
#include "offsets.h"
#include "scan.h"
#include "sorted.h"

enum { HA_SPARSE_MADE = 24 };

typedef struct ha_sparse {
    const char *operation;
    ha_context *context;
    int op;
    darray z_at, z, at[2], values[2]; /* at, values: of x and of y */
    darray made[HA_SPARSE_MADE];      /* to be given back */
    int makes;
    int64_t count;
} ha_sparse;

HA_IN_ ha_status ha_sparse_new(ha_sparse *v, ha_dtype type, int64_t n, darray *x) {
    darray *made = &v->made[v->makes];
    const darray like = {.rank = 1, .extent = {n}};
    const ha_status s = ha_op_new_array(made, type, &like, v->context);
    if (!s) v->makes++;
    *x = *made;
    return s;
}

HA_IN_ darray ha_sparse_part(darray x, int64_t n) {
    x.origin[0] = 0;
    return darray_slice_(x, 0, 0, n, 1, NULL);
}

/* ---- what is refused ----------------------------------------------------------------------------- */

HA_IN_ ha_named_view ha_sparse_at(const ha_sparse *v, int side) {
    return (ha_named_view){side ? "y_at" : "x_at", &v->at[side]};
}

HA_IN_ ha_status ha_sparse_check_side(const ha_sparse *v, int side) {
    const ha_named_view z_at = {"z_at", &v->z_at}, at = ha_sparse_at(v, side);
    const ha_named_view values = {side ? "y" : "x", &v->values[side]};
    ha_status s = ha_index_check_type(at, v->operation);
    if (!s) s = ha_index_check_row(at, v->operation);
    if (!s) s = ha_named_view_check(values, v->operation);
    if (!s) s = ha_index_check_row(values, v->operation);
    if (s) return s;
    if (at.view->type != v->z_at.type)
        return ha_pair_refuse(z_at, at, "the types are not the same", v->operation);
    if (at.view->extent[0] == values.view->extent[0]) return HA_OK;
    return ha_pair_refuse(at, values, "there are not as many values as indices", v->operation);
}

/* What does not depend on indices. The types of values are those of an operation on no elements. */
static ha_status ha_sparse_check(const ha_sparse *v, ha_dtype type, const void *count) {
    const ha_named_view z_at = {"z_at", &v->z_at}, z = {"z", &v->z};
    ha_status s = ha_op_check_word(&ha_op_combine_words, v->operation, v->op);
    if (!s) s = ha_index_check_type(z_at, v->operation);
    if (!s) s = ha_index_check_row(z_at, v->operation);
    if (!s) s = ha_op_check_written(z_at, v->operation);
    if (!s) s = ha_named_view_check(z, v->operation);
    if (!s) s = ha_index_check_row(z, v->operation);
    if (!s) s = ha_op_check_written(z, v->operation);
    for (int side = 0; side < 2 && !s; side++) s = ha_sparse_check_side(v, side);
    if (!s) s = ha_index_check_apart(z_at, z, v->operation);
    if (!s) s = ha_op_check_result(v->operation, "the count", type, count);
    if (s) return s;
    return ha_combine(v->op, ha_sparse_part(v->z, 0), ha_sparse_part(v->values[0], 0),
                      ha_sparse_part(v->values[1], 0), v->context);
}

/* Each index is greater than the one before it. */
static ha_status ha_sparse_check_order(ha_sparse *v, ha_named_view at) {
    const int64_t n = at.view->extent[0];
    const darray from_0 = ha_sparse_part(*at.view, n);
    darray mask;
    int64_t wrong, first;
    ha_status s = n ? ha_index_check(at, INT64_MAX, v->operation, v->context) : HA_OK;
    if (s || n < 2) return s;
    s = ha_sparse_new(v, HA_DTYPE_uint8_t, n - 1, &mask);
    if (!s)
        s = ha_combine(HA_IS_LESS_EQUAL, mask, darray_slice_(from_0, 0, 1, n, 1, NULL),
                       darray_slice_(from_0, 0, 0, n - 1, 1, NULL), v->context);
    if (!s) s = ha_count(mask, &wrong, v->context);
    if (s || !wrong) return s;
    s = ha_reduce(HA_MAX_AT, mask, &first, v->context);
    if (s) return s;
    return ha_named_view_fail(HA_ERR_ARGUMENT, v->operation, at,
                              "the index at (%lld) is not greater than the one before it",
                              (long long)(at.view->origin[0] + first + 1));
}

HA_IN_ ha_status ha_sparse_check_room(const ha_sparse *v) {
    const ha_named_view z_at = {"z_at", &v->z_at}, z = {"z", &v->z};
    const int has_places = v->z_at.extent[0] >= v->count;
    if (has_places && v->z.extent[0] >= v->count) return HA_OK;
    return ha_named_view_fail(HA_ERR_ARGUMENT, v->operation, has_places ? z : z_at,
                              "there is no room for %lld", (long long)v->count);
}

/* ---- places -------------------------------------------------------------------------------------- */

/* place[i] = where the i-th index of one vector comes to in the union: behind i of its own and those of the other that are less, of
 * which what both have counts once. *common: how many both have. */
static ha_status ha_sparse_places(ha_sparse *v, const darray *at, const darray *other,
                                  darray *place, int64_t *common) {
    const int64_t n = at->extent[0];
    darray both;
    *common = 0;
    ha_status s = ha_sparse_new(v, HA_DTYPE_int64_t, n, place);
    if (!s) s = ha_sparse_new(v, HA_DTYPE_int64_t, n, &both);
    if (s || !n) return s;
    s = ha_lower_bound(*place, *other, *at, v->context);
    if (!s) s = ha_upper_bound(both, *other, *at, v->context);
    if (!s) s = ha_combine(HA_SUBTRACT, both, both, *place, v->context); /* 1 or 0 */
    if (!s) s = ha_reduce(HA_SUM, both, common, v->context);
    if (!s) s = ha_scan(HA_SUM, both, both, HA_EXCLUSIVE, v->context);
    if (!s) s = ha_combine(HA_SUBTRACT, *place, *place, both, v->context);
    if (!s) s = ha_sequence(both, 0, 1, v->context);
    if (!s) s = ha_combine(HA_ADD, *place, *place, both, v->context);
    return s;
}

/* Which element of one vector comes to each place of the union, and whether one does. */
typedef struct ha_sparse_sources {
    darray from, has;
    int64_t n;
} ha_sparse_sources;

static ha_status ha_sparse_find(ha_sparse *v, const darray *place, const darray *numbers,
                                ha_sparse_sources *sources) {
    darray end;
    sources->n = place->extent[0];
    ha_status s = ha_sparse_new(v, HA_DTYPE_int64_t, v->count, &sources->from);
    if (!s) s = ha_sparse_new(v, HA_DTYPE_uint8_t, v->count, &sources->has);
    if (!s) s = ha_sparse_new(v, HA_DTYPE_int64_t, v->count, &end);
    if (s) return s;
    if (!sources->n) return darray_fill(sources->has, ha_dvalue_of_uint8_t(0), v->context);
    s = ha_lower_bound(sources->from, *place, *numbers, v->context);
    if (!s) s = ha_upper_bound(end, *place, *numbers, v->context);
    if (!s) s = ha_combine(HA_IS_LESS, sources->has, sources->from, end, v->context);
    if (!s) /* where none does, any that there is */
        s = ha_combine_number(HA_MINIMUM, sources->from, sources->from, sources->n - 1, v->context);
    return s;
}

/* ---- the call ------------------------------------------------------------------------------------ */

/* What comes to each place of the union, or 0. */
static ha_status ha_sparse_spread(ha_sparse *v, const ha_sparse_sources *sources, darray values,
                                  darray *all) {
    darray zero;
    ha_status s = ha_sparse_new(v, values.type, 1, &zero);
    if (!s) s = darray_fill(zero, ha_dvalue_of_int32_t(0), v->context);
    if (!s) s = ha_sparse_new(v, values.type, v->count, all);
    if (s) return s;
    zero = darray_broadcast_(zero, 1, all->extent, NULL);
    if (!sources->n) return darray_copy(*all, zero, v->context);
    values.origin[0] = 0;
    s = ha_gather(*all, values, sources->from, v->context);
    return s ? s : ha_where(*all, sources->has, *all, zero, v->context);
}

/* The union's indices and values, then both of them to where they belong, or none. */
static ha_status ha_sparse_union(ha_sparse *v, const darray *place) {
    darray numbers, at[2], values[2], both[2];
    ha_sparse_sources sources[2];
    ha_status s = ha_sparse_new(v, HA_DTYPE_int64_t, v->count, &numbers);
    if (!s) s = ha_sequence(numbers, 0, 1, v->context);
    for (int side = 0; side < 2 && !s; side++) {
        s = ha_sparse_find(v, &place[side], &numbers, &sources[side]);
        if (!s) s = ha_sparse_spread(v, &sources[side], v->at[side], &at[side]);
        if (!s) s = ha_sparse_spread(v, &sources[side], v->values[side], &values[side]);
    }
    if (!s) s = ha_sparse_new(v, v->z_at.type, v->count, &both[0]);
    if (!s) s = ha_where(both[0], sources[0].has, at[0], at[1], v->context);
    if (!s) s = ha_sparse_new(v, v->z.type, v->count, &both[1]);
    if (!s) s = ha_combine(v->op, both[1], values[0], values[1], v->context);
    if (s) return s;
    return ha_op_copy_both(ha_sparse_part(v->z_at, v->count), ha_sparse_part(v->z, v->count), both,
                           v->context);
}

HA_IN_ ha_status ha_sparse_run(ha_sparse *v, ha_dtype type, void *result) {
    const ha_named_view z_at = {"z_at", &v->z_at};
    _Alignas(16) char count[16];
    darray place[2];
    int64_t common;
    ha_status s = HA_OK;
    for (int side = 0; side < 2 && !s; side++) s = ha_sparse_check_order(v, ha_sparse_at(v, side));
    for (int side = 0; side < 2 && !s; side++)
        s = ha_sparse_places(v, &v->at[side], &v->at[1 - side], &place[side], &common);
    if (s) return s;
    v->count = v->at[0].extent[0] + v->at[1].extent[0] - common;
    s = ha_sparse_check_room(v);
    if (!s) s = ha_op_give(v->operation, z_at, ha_dvalue_of_int64_t(v->count), type, count);
    if (!s && v->count) s = ha_sparse_union(v, place);
    if (!s) memcpy(result, count, ha_dtype_size(type));
    return s;
}

ha_status ha_sparse_combine_(int op, darray z_at, darray z, darray x_at, darray x, darray y_at,
                             darray y, ha_dtype type, void *count, ha_context *context,
                             const char *site) {
    const int is_kept = ha_first_error.status != HA_OK;
    ha_sparse v = {.operation = "ha_sparse_combine",
                   .context = context,
                   .op = op,
                   .z_at = z_at,
                   .z = z,
                   .at = {x_at, y_at},
                   .values = {x, y}};
    ha_status s = HA_OK;
    HA_FROM(site) {
        s = ha_sparse_check(&v, type, count);
        if (!s) s = ha_sparse_run(&v, type, count);
        s = ha_op_told(s, is_kept, v.operation);
        while (v.makes > 0) {
            const ha_status freed = ha_array_free(v.made[--v.makes].array);
            if (!s) s = freed;
        }
    }
    return s;
}

#endif
