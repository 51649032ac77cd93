/* Operations element by element: what is refused, and the launch. */
#ifndef HARRAY_IMPL_OPS_ELEMENTWISE_H
#define HARRAY_IMPL_OPS_ELEMENTWISE_H

#include "kernels.h"

/* A call. */
typedef struct ha_op_call {
    const char *operation; /* the function, for messages */
    ha_context *context;
    int arrays, numbers;
    darray view[HA_OP_ARRAYS]; /* the result, and the arguments */
    ha_dvalue number[2];       /* that of the second argument, or a and b; converted */
    ha_op_key key;
} ha_op_call;

/* ---- what is refused ----------------------------------------------------------------------------- */

HA_IN_ ha_status ha_op_check_view(const ha_op_call *c, int k) {
    const darray *z = &c->view[0], *x = &c->view[k];
    const char *operation = c->operation;
    ha_status s = ha_view_check(x, operation);
    if (s || !k) return s;
    if (x->type != z->type)
        return ha_views_refuse(z, x, "the types are not the same", operation, "");
    if (!ha_extents_equal(z->rank, z->extent, x->rank, x->extent))
        return ha_views_refuse(z, x, "the extents are not the same (darray_broadcast may help)",
                               operation, "");
    return s;
}

HA_IN_ ha_status ha_op_check_line(ha_op_call *c, int place) {
    const darray *z = &c->view[0];
    c->key.type = ha_op_type_of(z->type);
    if (!c->key.type)
        return ha_view_fail(HA_ERR_ARGUMENT, c->operation, z, "%s is not of these elements",
                            c->operation);
    c->key.line = &c->key.type->line[place];
    if (c->key.line->text) return HA_OK;
    return ha_view_fail(HA_ERR_ARGUMENT, c->operation, z,
                        "there is no such operation (number %d) of these elements", place);
}

/* A result that repeats elements is refused by the launch. */
HA_IN_ ha_status ha_op_check(ha_op_call *c, int place) {
    ha_status s = HA_OK;
    for (int k = 0; k < c->arrays && !s; k++) s = ha_op_check_view(c, k);
    if (!s) s = ha_op_check_line(c, place);
    return s;
}

/* The numbers, as what is computed with. */
HA_IN_ ha_status ha_op_check_numbers(ha_op_call *c) {
    ha_status s = HA_OK;
    for (int i = 0; i < c->numbers && !s; i++)
        s = ha_convert(&c->number[i], c->key.type->number, &c->number[i], c->operation);
    return s;
}

/* Lanes must not read what others write: an argument is the result itself, or has nothing in common with it. */
HA_IN_ ha_status ha_op_check_places(const ha_op_call *c, const ha_op_boxes *b) {
    for (int k = 1; k < c->arrays; k++)
        if (!ha_op_is_same(b, k) && ha_views_meet(&c->view[0], &c->view[k]))
            return ha_views_refuse(&c->view[0], &c->view[k],
                                   "the result has elements of an argument in other places",
                                   c->operation, "");
    return HA_OK;
}

/* ---- the launch ---------------------------------------------------------------------------------- */

HA_IN_ ha_typed ha_op_typed(const ha_op_boxes *b, int k, ha_array *array) {
    ha_typed t = {.array = array, .offset = b->of[k].offset};
    const size_t bytes = (size_t)b->rank * sizeof(int64_t);
    memcpy(t.numbers, b->extent, bytes);
    memcpy(t.numbers + b->rank, b->of[k].stride, bytes);
    return t; /* origins are 0 */
}

HA_IN_ ha_status ha_op_launch(ha_op_call *c, const ha_op_boxes *b) {
    const darray *views[] = {&c->view[0], &c->view[1], &c->view[2]};
    ha_typed typed[HA_OP_ARRAYS];
    const void *given[HA_OP_PARAMETERS];
    int n = 0;
    ha_region box = {{0}, {0}}; /* empty behind its rank: loops.h */
    c->key.rank = ha_op_is_whole(b, views) ? 0 : b->rank;
    for (int d = 0; d < b->rank; d++) box.last[d] = b->extent[d];
    for (int k = 0; k < c->arrays; k++) {
        typed[k] = ha_op_typed(b, k, c->view[k].array);
        given[n++] = &typed[k];
    }
    for (int i = 0; i < c->numbers; i++) given[n++] = c->number[i].bytes;
    const ha_kernel *kernel = ha_op_kernel_of(&c->key);
    if (!kernel) return ha_fail(HA_ERR_MEMORY, c->operation, "no memory for its kernel");
    /* Of whole arrays the lanes are counted when they are open: another thread may resize them before. */
    const ha_status s = ha_kernel_launch_(kernel, c->context, c->key.rank ? &box : NULL, given);
    if (s && ha_first_error.operation == kernel->name) ha_first_error.operation = c->operation;
    return s;
}

/* place: of the operation, in the table of a type. */
HA_IN_ ha_status ha_op_run(ha_op_call *c, int place) {
    const darray *views[] = {&c->view[0], &c->view[1], &c->view[2]};
    ha_status s = ha_op_check(c, place);
    if (!s) s = ha_op_check_numbers(c);
    if (s || ha_view_is_empty(&c->view[0])) return s;
    const ha_op_boxes b = ha_op_boxes_of(views, c->arrays);
    s = ha_op_check_places(c, &b);
    if (s) return s;
    if (b.rank > HA_MAPPING_RANK)
        return ha_view_fail(HA_ERR_UNSUPPORTED, c->operation, &c->view[0],
                            "more than %d dimensions that do not follow each other in memory",
                            HA_MAPPING_RANK);
    return ha_op_launch(c, &b);
}

/* ---- the calls ----------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_op_no_operation(const char *operation, int number) {
    return ha_fail(HA_ERR_ARGUMENT, operation, "there is no operation %d", number);
}

ha_status ha_map_(ha_map_operation op, darray y, darray x, ha_context *context, const char *site) {
    ha_op_call c = {.operation = "ha_map", .context = context, .arrays = 2, .view = {y, x}};
    if (op < 0 || op >= HA_MAPS_) return ha_op_no_operation("ha_map", (int)op);
    HA_FROM(site) return ha_op_run(&c, HA_OP_OF_MAPS + (int)op);
    return HA_OK; /* not reached */
}

ha_status ha_combine_(int op, darray z, darray x, darray y, ha_context *context, const char *site) {
    ha_op_call c = {.operation = "ha_combine", .context = context, .arrays = 3, .view = {z, x, y}};
    if (op <= HA_ASSIGN || op >= HA_COMBINES_) return ha_op_no_operation("ha_combine", op);
    HA_FROM(site) return ha_op_run(&c, HA_OP_OF_COMBINES + op);
    return HA_OK;
}

ha_status ha_combine_number_(int op, darray z, darray x, ha_dvalue number, ha_context *context,
                             const char *site) {
    ha_op_call c = {.operation = "ha_combine_number",
                    .context = context,
                    .arrays = 2,
                    .numbers = 1,
                    .view = {z, x},
                    .number = {number},
                    .key.by_number = 1};
    if (op <= HA_ASSIGN || op >= HA_COMBINES_) return ha_op_no_operation("ha_combine_number", op);
    HA_FROM(site) return ha_op_run(&c, HA_OP_OF_COMBINES + op);
    return HA_OK;
}

ha_status ha_axpby_(darray z, ha_dvalue a, darray x, ha_dvalue b, darray y, ha_context *context,
                    const char *site) {
    ha_op_call c = {.operation = "ha_axpby",
                    .context = context,
                    .arrays = 3,
                    .numbers = 2,
                    .view = {z, x, y},
                    .number = {a, b}};
    HA_FROM(site) return ha_op_run(&c, HA_OP_OF_SPECIALS + HA_AXPBY_);
    return HA_OK;
}

ha_status ha_clip_(darray y, darray x, ha_dvalue low, ha_dvalue high, ha_context *context,
                   const char *site) {
    ha_op_call c = {.operation = "ha_clip",
                    .context = context,
                    .arrays = 2,
                    .numbers = 2,
                    .view = {y, x},
                    .number = {low, high}};
    HA_FROM(site) {
        const ha_comparison order = ha_dvalue_compare(low, high);
        if (order == HA_LESS || order == HA_EQUAL)
            return ha_op_run(&c, HA_OP_OF_SPECIALS + HA_CLIP_);
        return ha_fail(HA_ERR_ARGUMENT, "ha_clip", "the lower bound is not below the upper one");
    }
    return HA_OK;
}

#endif
