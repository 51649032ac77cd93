/* Operations that reduce: the calls. */
#ifndef HARRAY_IMPL_OPS_REDUCE_H
#define HARRAY_IMPL_OPS_REDUCE_H

#include "elementwise.h"

/* What is reduced, and where the result goes. */
typedef struct ha_op_reduction {
    ha_op_call call;          /* the views are its arguments */
    const ha_op_table *lanes; /* which has this one */
    int lane;
    ha_reduction operation;
} ha_op_reduction;

HA_IN_ void ha_op_make_reduction(ha_op_kernel *k, const ha_op_key *key) {
    ha_op_make_elementwise(k, key);
    k->op.kernel.loops = ha_op_reduce_loops;
    k->op.kernel.reduction = &key->tree->reduction;
}

HA_IN_ ha_status ha_op_check_reduction(ha_op_reduction *r) {
    ha_op_call *c = &r->call;
    ha_status s = ha_op_check_word(&ha_op_reduce_words, c->operation, (int)r->operation);
    if (!s) s = ha_op_check(c, r->lanes, r->lane);
    if (s) return s;
    c->key.tree = ha_op_tree_of(c->key.line->gives, r->operation);
    if (c->key.tree) return HA_OK;
    return ha_named_view_fail(HA_ERR_ARGUMENT, c->operation, ha_op_argument(c, 0),
                              "there is no %s of %s", ha_op_name_of((int)r->operation),
                              ha_dtype_name(c->view[0]->type));
}

HA_IN_ ha_status ha_op_reduce_none(const ha_op_reduction *r, void *result) {
    if (r->operation == HA_MIN || r->operation == HA_MAX || r->operation >= HA_MIN_AT)
        return ha_named_view_fail(HA_ERR_ARGUMENT, r->call.operation, ha_op_argument(&r->call, 0),
                                  "no elements have a least or a greatest one");
    r->call.key.tree->reduction.end(NULL, result);
    return HA_OK;
}

/* The result as a value: places are of int64_t, behind the value of the element there. */
HA_IN_ ha_dvalue ha_op_outcome(const ha_op_reduction *r, const char *result) {
    return r->operation >= HA_MIN_AT ? ha_dvalue_load(HA_DTYPE_int64_t, result + sizeof(int64_t))
                                     : ha_dvalue_load(r->call.key.line->gives, result);
}

/* The lanes are in the order of the indices. */
HA_IN_ ha_status ha_op_reduce(ha_op_reduction *r, double scale, ha_dvalue *value) {
    ha_op_call *c = &r->call;
    _Alignas(16) char result[HA_PARTIAL_BYTES_];
    const ha_kernel_result_ into = {NULL, 0, result};
    int whole;
    ha_status s = ha_op_check_reduction(r);
    if (s) return s;
    if (ha_view_is_empty(c->view[0])) {
        s = ha_op_reduce_none(r, result);
    } else {
        ha_op_boxes b;
        ha_op_boxes_of_call(&b, c, 0, 1, &whole);
        c->numbers = c->key.line->numbers;
        c->number[0] = ha_op_scale(c->key.type) == HA_DTYPE_float ? ha_dvalue_of_float((float)scale)
                                                                  : ha_dvalue_of_double(scale);
        c->key.rank = whole ? 0 : b.rank;
        c->key.make = ha_op_make_reduction;
        s = ha_op_launch(c, &b, &into);
    }
    if (!s) *value = ha_op_outcome(r, result);
    return s;
}

/* A place, which is below 2^53, that has become another one. */
HA_IN_ int ha_op_rounds(ha_dvalue value, ha_dtype type) {
    if (ha_dtype_kind(type) != HA_KIND_REAL) return 0;
    ha_dvalue given = value;
    return ha_dvalue_convert(value, type, &given) ||
           ha_dvalue_convert(given, HA_DTYPE_double, &given) ||
           given.as_double != (double)value.as_int64_t;
}

/* Can what the caller wants be written there? what: "the result". */
HA_IN_ ha_status ha_op_check_result(const char *operation, const char *what, ha_dtype type,
                                    const void *result) {
    if (!result) return ha_fail(HA_ERR_ARGUMENT, operation, "the pointer to %s is NULL", what);
    if (ha_dtype_size(type)) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, operation,
                   "the pointer to %s is to no number: that is an integer, bool, float, double, "
                   "ha_half, ha_bfloat16, ha_c64 or ha_c128",
                   what);
}

/* To where the caller wants it, as the type that it has there: that has been checked. It is a result of a view. */
HA_IN_ ha_status ha_op_give(const char *operation, ha_named_view of, ha_dvalue value, ha_dtype type,
                            void *result) {
    char number[80];
    if (value.type == type) {
        ha_copy_number(result, value.bytes, ha_dtype_size(type));
        return HA_OK;
    }
    ha_dvalue given = {.type = type};
    const ha_wide wide = ha_widen(&value);
    const char *objection = ha_put(&wide, &given);
    if (!objection && ha_op_overflows(value, given)) objection = "does not fit";
    if (objection) {
        (void)ha_dvalue_print(value, number, sizeof number);
        return ha_named_view_fail(HA_ERR_ARGUMENT, operation, of, "the result, %s, as %s: %s",
                                  number, ha_dtype_name(type), objection);
    }
    memcpy(result, given.bytes, ha_dtype_size(type));
    return HA_OK;
}

static ha_status ha_op_reduce_to(ha_op_reduction *r, ha_dtype type, void *result,
                                 const char *site) {
    const ha_named_view x = ha_op_argument(&r->call, 0);
    ha_dvalue value;
    ha_status s = HA_OK;
    HA_FROM(site) {
        s = ha_op_check_result(r->call.operation, "the result", type, result);
        if (!s) s = ha_op_reduce(r, 1, &value);
        if (!s && r->operation >= HA_MIN_AT && ha_op_rounds(value, type))
            s = ha_named_view_fail(HA_ERR_ARGUMENT, r->call.operation, x,
                                   "the place, %lld, would be another one as %s",
                                   (long long)value.as_int64_t, ha_dtype_name(type));
        if (!s) s = ha_op_give(r->call.operation, x, value, type, result);
    }
    return s;
}

/* ---- norms --------------------------------------------------------------------------------------- */

/* What is reduced, of elements divided by 2^power, as a number without that. */
HA_IN_ ha_status ha_op_reduce_scaled(ha_op_reduction *r, int power, double *number) {
    ha_dvalue value = {.type = HA_DTYPE_NONE};
    ha_status s = ha_op_reduce(r, ldexp(1, -power), &value);
    if (!s) s = ha_dvalue_convert(value, HA_DTYPE_double, &value);
    if (!s) *number = value.as_double;
    return s;
}

/* A sum of sizes, or the greatest of them, may be beyond the greatest number of the type that is computed with where the
 * result, a double, is not; and so may the difference of two elements be, or the size of a complex one. Then elements are divided
 * first: by 4, and a sum by what makes up for their count. */
HA_IN_ ha_status ha_op_norm_of_sizes(ha_op_reduction *r, double *norm) {
    ha_status s = ha_op_reduce_scaled(r, 0, norm);
    if (s || *norm <= DBL_MAX || *norm != *norm) return s;
    int power = 2;
    if (r->operation == HA_SUM) (void)frexp(4 * (double)darray_size(*r->call.view[0]), &power);
    s = ha_op_reduce_scaled(r, power, norm);
    *norm = ldexp(*norm, power);
    return s;
}

/* The sum of squares may be beyond the greatest number, or below the least one, where its root is not: then it is
 * made of elements divided by a power of 2 near the greatest of them. */
HA_IN_ ha_status ha_op_norm_2(ha_op_reduction *r, int lane_of_size, double *norm) {
    double sum;
    const int lane = r->lane;
    ha_status s = ha_op_reduce_scaled(r, 0, &sum);
    if (s) return s;
    const int is_float = r->call.key.line->gives == HA_DTYPE_float;
    *norm = sqrt(sum);
    if (sum > (is_float ? 1e-30 : 1e-280) && sum <= DBL_MAX) return HA_OK;
    if (ha_view_is_empty(r->call.view[0])) return HA_OK;
    r->lane = lane_of_size;
    r->operation = HA_MAX;
    s = ha_op_norm_of_sizes(r, norm);
    if (s || !(*norm > 0 && *norm <= DBL_MAX)) return s;
    int power;
    (void)frexp(*norm, &power);
    const int most = is_float ? 126 : 1022;
    power = power > most ? most : power < -most ? -most : power;
    r->lane = lane;
    r->operation = HA_SUM;
    s = ha_op_reduce_scaled(r, power, &sum);
    *norm = ldexp(sqrt(sum), power);
    return s;
}

static ha_status ha_op_norm(ha_op_call c, const ha_op_table *lanes, ha_norm_kind kind,
                            ha_dtype type, void *result, const char *site) {
    const int two = c.arrays > 1;
    const int size = two ? HA_LANE_ABS_DIFFERENCE_ : HA_LANE_ABS_;
    const int square = two ? HA_LANE_SQUARE_OF_DIFFERENCE_ : HA_LANE_SQUARE_;
    const int is_sum = kind != HA_NORM_MAX || (c.view[0]->array && ha_view_is_empty(c.view[0]));
    ha_op_reduction r = {c, lanes, kind == HA_NORM_2 ? square : size, is_sum ? HA_SUM : HA_MAX};
    double norm = 0;
    ha_status s = HA_OK;
    HA_FROM(site) {
        s = ha_op_check_word(&ha_op_norm_words, c.operation, (int)kind);
        if (!s) s = ha_op_check_result(c.operation, "the result", type, result);
        if (!s)
            s = kind == HA_NORM_2 ? ha_op_norm_2(&r, size, &norm) : ha_op_norm_of_sizes(&r, &norm);
        if (!s)
            s = ha_op_give(c.operation, ha_op_argument(&c, 0), ha_dvalue_of_double(norm), type,
                           result);
    }
    return s;
}

/* ---- the calls ----------------------------------------------------------------------------------- */

ha_status ha_reduce_(ha_reduction op, darray x, ha_dtype type, void *result, ha_context *context,
                     const char *site) {
    ha_op_reduction r = {
        {.operation = "ha_reduce", .context = context, .arrays = 1, .view = {&x}, .name = {"x"}},
        &ha_op_lanes_of_value,
        HA_LANE_VALUE_,
        op};
    return ha_op_reduce_to(&r, type, result, site);
}

ha_status ha_count_elements_(darray x, ha_dtype type, void *result, ha_context *context,
                             const char *site) {
    ha_op_reduction r = {
        {.operation = "ha_count", .context = context, .arrays = 1, .view = {&x}, .name = {"x"}},
        &ha_op_lanes_of_is_there,
        HA_LANE_IS_THERE_,
        HA_SUM};
    return ha_op_reduce_to(&r, type, result, site);
}

ha_status ha_dot_(darray x, darray y, ha_dtype type, void *result, ha_context *context,
                  const char *site) {
    ha_op_reduction r = {{.operation = "ha_dot",
                          .context = context,
                          .arrays = 2,
                          .view = {&x, &y},
                          .name = {"x", "y"}},
                         &ha_op_lanes_of_product,
                         HA_LANE_PRODUCT_,
                         HA_SUM};
    return ha_op_reduce_to(&r, type, result, site);
}

ha_status ha_norm_(ha_norm_kind kind, darray x, ha_dtype type, void *result, ha_context *context,
                   const char *site) {
    const ha_op_call c = {
        .operation = "ha_norm", .context = context, .arrays = 1, .view = {&x}, .name = {"x"}};
    return ha_op_norm(c, &ha_op_lanes_of_size, kind, type, result, site);
}

ha_status ha_difference_(ha_norm_kind kind, darray x, darray y, ha_dtype type, void *result,
                         ha_context *context, const char *site) {
    const ha_op_call c = {.operation = "ha_difference",
                          .context = context,
                          .arrays = 2,
                          .view = {&x, &y},
                          .name = {"x", "y"}};
    return ha_op_norm(c, &ha_op_lanes_of_difference, kind, type, result, site);
}

#endif
