/* ha_scan: on the host a lane is a line. On a device a lane has a run of 128 elements: first the last number of each
 * is found; these are scanned, in the same way; and then each run is scanned with what is before it. */
#ifndef HARRAY_IMPL_OPS_SCAN_H
#define HARRAY_IMPL_OPS_SCAN_H

#include "scan_loops.h"

/* ---- as kernels ---------------------------------------------------------------------------------- */

/* { const float u = p, v = w; p = k == first ? w : (u + v); } */
HA_IN_ void ha_scan_put_step(ha_text *t, const ha_op_key *key, const char *to, const char *with,
                             const char *begin) {
    ha_print(t, "{ const %s u = p, v = %s; %s = ", key->type->computed, with, to);
    if (begin) ha_print(t, "k == first ? %s : ", begin);
    ha_print(t, "(%s); } ", key->line->text);
}

HA_IN_ void ha_scan_put_text(ha_text *t, const ha_op_key *key) {
    const int along = ha_scan_along_rank(key), others = ha_scan_others_rank(key);
    const int puts = ha_scan_does(key) == HA_SCAN_PUT, exclusive = ha_scan_is_exclusive(key);
    const ha_op_type *type = key->type;
    ha_print(t,
             "{ const int64_t n = i %% lines, first = i / lines * %d; "
             "const int64_t last = all - first < %d ? all : first + %d; "
             "%s p; { const int64_t k = first; ",
             HA_SCAN_RUN, HA_SCAN_RUN, HA_SCAN_RUN, type->computed);
    ha_split_put_variable(t, type, "w", "x", along, others);
    ha_print(t, "p = w; } ");
    if (puts) ha_print(t, "const %s c = carry[i]; ", type->computed);
    ha_print(t, "for (int64_t k = first%s; k < last; k++) { ", puts ? "" : " + 1");
    ha_split_put_variable(t, type, "w", "x", along, others);
    if (puts) ha_print(t, "%s z; ", type->computed);
    if (puts && exclusive) ha_scan_put_step(t, key, "z", "c", "c");
    ha_scan_put_step(t, key, "p", "w", "w");
    if (puts && !exclusive) ha_scan_put_step(t, key, "z", "c", NULL);
    if (puts) {
        ha_split_put_element(t, "y", along, others);
        if (type->type == type->number)
            ha_print(t, " = z; ");
        else
            ha_print(t, " = ha_%s_of_float(z); ", type->element);
    }
    ha_print(t, puts ? "} }" : "} carry[i] = p; }");
}

/* of: what it does. That of lines is for the host alone. */
HA_IN_ void ha_scan_make(ha_op_kernel *k, const ha_op_key *key) {
    static const char *const words[] = {"lines", "lasts", "put"};
    const int does = ha_scan_does(key), rank = ha_scan_along_rank(key) + ha_scan_others_rank(key);
    ha_text t = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "ha_scan_%s%s_%s_%s_%d_%d", words[does],
             ha_scan_is_exclusive(key) ? "_exclusive" : "", key->line->word, key->type->element,
             ha_scan_along_rank(key), ha_scan_others_rank(key));
    if (does != HA_SCAN_LASTS) ha_index_add_view(k, HA_KERNEL_OUT_, "y", key->type->type, rank);
    ha_index_add_view(k, HA_KERNEL_IN_, "x", key->type->type, rank);
    if (does == HA_SCAN_LINES)
        ha_op_add_number(k, "begin", key->type->number, key->type->computed);
    else /* of what is computed with, by its name as an element */
        ha_index_add_array(k, does == HA_SCAN_PUT ? HA_KERNEL_IN_ : HA_KERNEL_OUT_, "carry",
                           key->type->number);
    ha_op_add_number(k, "all", HA_DTYPE_int64_t, "int64_t");
    ha_op_add_number(k, "lines", HA_DTYPE_int64_t, "int64_t");
    ha_op_add_parameter(k, HA_KERNEL_USES_, "ha_strided_place", ha_uses_ha_strided_place);
    k->op.kernel.rank = 1;
    k->op.kernel.loops = ha_scan_loops;
    if (does == HA_SCAN_LINES)
        ha_print(&t, "{ lines are scanned on the host alone }");
    else
        ha_scan_put_text(&t, key);
}

/* ---- the launches -------------------------------------------------------------------------------- */

/* y and x, with the dimensions along which is scanned in front. */
typedef struct ha_scanning {
    const char *operation;
    ha_context *context;
    ha_op_key key;
    ha_dvalue begin;
    int64_t all, lines;
    ha_typed y, x;
} ha_scanning;

HA_IN_ ha_status ha_scan_launch(const ha_scanning *s, int does, const void *carry) {
    const void *const given[] = {&s->y, &s->x, carry, &s->all, &s->lines, NULL};
    const int64_t runs = does == HA_SCAN_LINES ? 1 : (s->all + HA_SCAN_RUN - 1) / HA_SCAN_RUN;
    const ha_region box = ha_box1(0, runs * s->lines);
    ha_op_key key = s->key;
    key.of[0] += does;
    if (does == HA_SCAN_LASTS) key.of[0] = does;
    return ha_index_launch(&key, s->operation, s->context, &box,
                           does == HA_SCAN_LASTS ? given + 1 : given);
}

HA_IN_ ha_status ha_scan_on_device(const ha_scanning *s);

/* The runs' last numbers, as lines to be scanned: the k-th of each line follows that of the line before. */
HA_IN_ ha_status ha_scan_carries(const ha_scanning *s, ha_array *carry, int64_t runs) {
    const int64_t extent[] = {runs, s->lines}, stride[] = {s->lines, 1};
    ha_scanning above = *s;
    ha_status status = ha_scan_launch(s, HA_SCAN_LASTS, &carry);
    if (status) return status;
    above.key.type = ha_op_type_of(s->key.type->number);
    above.key.rank = 1 + 16;
    above.key.of[0] = HA_SCAN_EXCLUSIVE_;
    above.all = runs;
    above.x = above.y = ha_index_typed(carry, 0, 2, extent, stride, 0, NULL, NULL);
    return ha_scan_on_device(&above);
}

HA_IN_ ha_status ha_scan_on_device(const ha_scanning *s) {
    const int64_t runs = (s->all + HA_SCAN_RUN - 1) / HA_SCAN_RUN, count = runs * s->lines;
    const darray carry = darray_new(s->key.type->number, 1, &count, s->context);
    if (!carry.array) return ha_status_of_nothing();
    ha_status status = runs > 1 ? ha_scan_carries(s, carry.array, runs)
                                : darray_fill_(carry, s->begin, s->context, s->operation);
    if (!status) status = ha_scan_launch(s, HA_SCAN_PUT, &carry.array);
    const ha_status freed = ha_array_free(carry.array);
    return status ? status : freed;
}

/* ---- the call ------------------------------------------------------------------------------------ */

/* By which it joins two. */
HA_IN_ int ha_scan_operation(ha_reduction op) {
    return ha_op_counterpart(&ha_op_combine_words, (int)op);
}

/* What all scans begin with. */
HA_IN_ ha_dvalue ha_scan_first(ha_dtype type, ha_reduction op) {
    const int least = op == HA_MAX;
    ha_dvalue x = ha_dvalue_of_int64_t(op == HA_PRODUCT);
    if (op == HA_SUM || op == HA_PRODUCT)
        HA_IGNORE_(ha_dvalue_convert(x, type, &x)); /* any type has 0 and 1 */
    else if (type == HA_DTYPE_int32_t)
        x = ha_dvalue_of_int32_t(least ? INT32_MIN : INT32_MAX);
    else if (type == HA_DTYPE_int64_t)
        x = ha_dvalue_of_int64_t(least ? INT64_MIN : INT64_MAX);
    else if (type == HA_DTYPE_uint32_t)
        x = ha_dvalue_of_uint32_t(least ? 0 : UINT32_MAX);
    else if (type == HA_DTYPE_uint64_t)
        x = ha_dvalue_of_uint64_t(least ? 0 : UINT64_MAX);
    else if (type == HA_DTYPE_float)
        x = ha_dvalue_of_float(least ? -(float)INFINITY : (float)INFINITY);
    else
        x = ha_dvalue_of_double(least ? -(double)INFINITY : (double)INFINITY);
    return x;
}

/* The line of the operation, of the type of x. */
HA_IN_ ha_status ha_scan_check_operation(ha_scanning *s, ha_reduction op, const darray *x) {
    ha_op_call c = {
        .operation = s->operation, .word = (int)op, .arrays = 1, .view = {x}, .name = {"x"}};
    const ha_status status = ha_op_check_line(&c, &ha_op_joins, ha_scan_operation(op));
    s->key.type = c.key.type;
    s->key.line = c.key.line;
    return status;
}

HA_IN_ ha_status ha_scan_check(ha_scanning *s, ha_reduction op, const darray *y, const darray *x) {
    const char *operation = s->operation;
    ha_status status = ha_scan_check_operation(s, op, x);
    if (!status) status = ha_named_view_check(HA_ARGUMENT_(y), operation);
    if (status) return status;
    if (y->type != x->type)
        return ha_pair_refuse(HA_ARGUMENT_(y), HA_ARGUMENT_(x), "the types are not the same",
                              operation);
    if (!ha_extents_equal(y->rank, y->extent, x->rank, x->extent))
        return ha_pair_refuse(HA_ARGUMENT_(y), HA_ARGUMENT_(x), "the extents are not the same",
                              operation);
    status = ha_op_check_written(HA_ARGUMENT_(y), operation);
    if (status || ha_view_is_empty(y)) return status;
    darray from_0 = *x; /* wherever their indices begin */
    memcpy(from_0.origin, y->origin, sizeof from_0.origin);
    return darray_is_same(*y, from_0)
               ? HA_OK
               : ha_index_check_apart(HA_ARGUMENT_(y), HA_ARGUMENT_(x), operation);
}

/* All of it, in the order of the indices. */
HA_IN_ void ha_scan_whole(ha_scanning *s, const darray *y, const darray *x) {
    ha_op_boxes b;
    ha_index_in_order(&b, y, x);
    s->key.rank = b.rank;
    s->all = ha_op_elements(&b);
    s->lines = 1;
    s->y = ha_op_typed(&b, 0, y->array);
    s->x = ha_op_typed(&b, 1, x->array);
}

HA_IN_ void ha_scan_split(ha_scanning *s, const darray *y, const darray *x, int d) {
    const darray of_y = ha_split_without(y, d), of_x = ha_split_without(x, d);
    const darray *const views[] = {&of_y, &of_x};
    ha_op_boxes b;
    ha_op_boxes_of(&b, views, 2, 0);
    s->key.rank = 1 + 16 * b.rank;
    s->all = y->extent[d];
    s->lines = ha_op_elements(&b);
    s->y = ha_index_typed(y->array, b.of[0].offset, 1, &s->all, &y->stride[d], b.rank, b.extent,
                          b.of[0].stride);
    s->x = ha_index_typed(x->array, b.of[1].offset, 1, &s->all, &x->stride[d], b.rank, b.extent,
                          b.of[1].stride);
}

HA_IN_ ha_status ha_scan_run(ha_reduction op, const darray *y, const darray *x, int dimension,
                             ha_scan_kind kind, ha_context *context) {
    ha_scanning s = {
        .operation = dimension == HA_SCAN_ALL_ ? "ha_scan" : "ha_scan_along",
        .context = context,
        .key = {.make = ha_scan_make, .of = {kind == HA_EXCLUSIVE ? HA_SCAN_EXCLUSIVE_ : 0}}};
    ha_status status = ha_op_check_word(&ha_op_scan_words, s.operation, (int)op);
    if (!status) status = ha_op_check_word(&ha_op_kind_words, s.operation, (int)kind);
    if (!status) status = ha_named_view_check(HA_ARGUMENT_(x), s.operation);
    if (!status && dimension != HA_SCAN_ALL_)
        status = ha_split_check_dimension(HA_ARGUMENT_(x), dimension, s.operation);
    if (!status) status = ha_scan_check(&s, op, y, x);
    if (status || ha_view_is_empty(y)) return status;
    s.begin = ha_scan_first(s.key.type->number, op);
    if (dimension == HA_SCAN_ALL_)
        ha_scan_whole(&s, y, x);
    else
        ha_scan_split(&s, y, x, dimension);
    switch (ha_way_of(ha_resolve(context))) {
    case HA_WAY_COMPILED:
        return ha_scan_on_device(&s);
    case HA_WAY_UNKNOWN:
        return ha_fail(HA_ERR_MEMORY, s.operation, "no memory");
    default:
        return ha_scan_launch(&s, HA_SCAN_LINES, s.begin.bytes);
    }
}

ha_status ha_scan_(ha_reduction op, darray y, darray x, int dimension, ha_scan_kind kind,
                   ha_context *context, const char *site) {
    ha_status s = HA_OK;
    HA_FROM(site) s = ha_scan_run(op, &y, &x, dimension, kind, context);
    return s;
}

#endif
