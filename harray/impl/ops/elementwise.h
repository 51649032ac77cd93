/* Operations element by element: what is refused, and the launch. */
#ifndef HARRAY_IMPL_OPS_ELEMENTWISE_H
#define HARRAY_IMPL_OPS_ELEMENTWISE_H

#include "families.h"
#include "kernels.h"
#include "tables.h"

/* A call. */
typedef struct ha_op_call {
    const char *operation; /* the function, for messages */
    int word;              /* what it was given; 0: it is of one operation */
    ha_context *context;
    int arrays, numbers;
    int typed;                        /* the view whose elements the operation is of */
    const darray *view[HA_OP_ARRAYS]; /* the result, and the arguments */
    const char *name[HA_OP_ARRAYS];   /* of each */
    ha_dvalue number[2];              /* that of the second argument, or a and b; converted */
    ha_op_key key;
} ha_op_call;

/* ---- what is refused ----------------------------------------------------------------------------- */

HA_IN_ ha_named_view ha_op_argument(const ha_op_call *c, int k) {
    return (ha_named_view){c->name[k], c->view[k]};
}

/* The result is named first. */
HA_IN_ ha_status ha_op_refuse_pair(const ha_op_call *c, int k, const char *why) {
    const int first = k ? c->typed : 0, second = k ? k : c->typed;
    return ha_pair_refuse(ha_op_argument(c, first), ha_op_argument(c, second), why, c->operation);
}

/* Its type, which is that of the operation unless that says another one. */
HA_IN_ ha_status ha_op_check_type(const ha_op_call *c, int k) {
    const darray *first = c->view[c->typed], *x = c->view[k];
    const ha_op_line *line = c->key.line;
    if (ha_op_is_mask(&c->key, k))
        return x->type == HA_DTYPE_uint8_t || x->type == HA_DTYPE_bool
                   ? HA_OK
                   : ha_named_view_fail(HA_ERR_ARGUMENT, c->operation, ha_op_argument(c, k),
                                        "a mask is of uint8_t or bool");
    if (line->kind == HA_OP_OTHER && k == 0)
        return x->type == line->gives
                   ? HA_OK
                   : ha_named_view_fail(HA_ERR_ARGUMENT, c->operation, ha_op_argument(c, k),
                                        "the result is of %s here", ha_dtype_name(line->gives));
    return x->type == first->type ? HA_OK : ha_op_refuse_pair(c, k, "the types are not the same");
}

/* That whose elements it is of has been looked at with them. */
HA_IN_ ha_status ha_op_check_view(const ha_op_call *c, int k) {
    const darray *first = c->view[c->typed], *x = c->view[k];
    const char *operation = c->operation;
    ha_status s = k == c->typed ? HA_OK : ha_named_view_check(ha_op_argument(c, k), operation);
    if (!s) s = ha_op_check_type(c, k);
    if (s) return s;
    if (!ha_extents_equal(first->rank, first->extent, x->rank, x->extent))
        return ha_op_refuse_pair(c, k, "the extents are not the same (darray_broadcast may help)");
    return s;
}

/* Its elements have other operations, but not this one. */
HA_IN_ ha_status ha_op_refuse_type(const ha_op_call *c) {
    const ha_named_view of = ha_op_argument(c, c->typed);
    const char *type = ha_dtype_name(of.view->type);
    return c->word ? ha_named_view_fail(HA_ERR_ARGUMENT, c->operation, of, "there is no %s of %s",
                                        ha_op_name_of(c->word), type)
                   : ha_named_view_fail(HA_ERR_ARGUMENT, c->operation, of, "%s is not of %s",
                                        c->operation, type);
}

HA_IN_ ha_status ha_op_check_line(ha_op_call *c, const ha_op_table *table, int n) {
    const ha_named_view of = ha_op_argument(c, c->typed);
    const ha_dtype type = of.view->type;
    const ha_status s = ha_named_view_check(of, c->operation);
    if (s) return s;
    c->key.type = ha_op_type_of(type);
    if (!c->key.type)
        return ha_named_view_fail(HA_ERR_ARGUMENT, c->operation, of, "its elements are no numbers");
    c->key.line = ha_op_line_of(table, c->key.type, n);
    const ha_op_kind kind = c->key.line->kind;
    const int as_bytes = kind == HA_OP_MASK || kind == HA_OP_CHOICE || kind == HA_OP_LANES;
    if (c->key.line->text && (type != HA_DTYPE_bool || as_bytes)) return HA_OK;
    if (!ha_op_is_listed(type))
        return ha_named_view_fail(
            HA_ERR_UNSUPPORTED, c->operation, of,
            "%s is not among HARRAY_OPS_TYPES, for which operations are compiled",
            ha_dtype_name(type));
    return ha_op_refuse_type(c);
}

HA_IN_ ha_status ha_op_check_written(ha_named_view x, const char *operation) {
    if (!ha_strides_repeat(x.view->rank, x.view->extent, x.view->stride)) return HA_OK;
    return ha_named_view_fail(HA_ERR_ARGUMENT, operation, x,
                              "it repeats elements, and can only be read");
}

HA_IN_ ha_status ha_op_check(ha_op_call *c, const ha_op_table *table, int n) {
    ha_status s = ha_op_check_line(c, table, n);
    for (int k = 0; k < c->arrays && !s; k++) s = ha_op_check_view(c, k);
    return s;
}

/* A finite number that has become an infinite one. */
HA_IN_ int ha_op_overflows(ha_dvalue value, ha_dvalue given) {
    if (ha_dvalue_convert(value, HA_DTYPE_c128, &value) ||
        ha_dvalue_convert(given, HA_DTYPE_c128, &given))
        return 0;
    return (isfinite(value.as_c128.re) && isinf(given.as_c128.re)) ||
           (isfinite(value.as_c128.im) && isinf(given.as_c128.im));
}

/* A number with a fraction, for elements that are integers. */
HA_IN_ int ha_op_is_cut(ha_dvalue value, ha_dtype type) {
    const ha_number_kind kind = ha_dtype_kind(type);
    const ha_wide wide = ha_widen(&value);
    return (kind == HA_KIND_SIGNED || kind == HA_KIND_UNSIGNED) && !wide.is_integer &&
           wide.re != trunc(wide.re);
}

/* A number as an element: what would be another number there is refused, but for what is rounded. */
HA_IN_ ha_status ha_op_check_number(const ha_op_call *c, ha_dvalue *number) {
    const ha_named_view of = ha_op_argument(c, c->typed);
    const ha_dtype type = c->key.type->type;
    const ha_dvalue given = *number;
    char text[80];
    const ha_status s = ha_view_convert(of, &given, type, number, c->operation);
    if (s) return s;
    if (ha_op_overflows(given, *number))
        return ha_named_view_fail(HA_ERR_ARGUMENT, c->operation, of, "%s: does not fit",
                                  ha_show_unconverted(&given, type).text);
    if (!ha_op_is_cut(given, type)) return HA_OK;
    (void)ha_dvalue_print(given, text, sizeof text);
    return ha_named_view_fail(HA_ERR_ARGUMENT, c->operation, of, "%s is no %s", text,
                              ha_dtype_name(type));
}

/* The numbers, as elements, and those as what is computed with; those of HA_OP_RANDOM are bits. */
HA_IN_ ha_status ha_op_check_numbers(ha_op_call *c) {
    const ha_op_type *type = c->key.type;
    const ha_named_view of = ha_op_argument(c, c->typed);
    ha_status s = HA_OK;
    for (int i = 0; i < c->numbers && c->key.line->kind != HA_OP_RANDOM && !s; i++) {
        ha_dvalue *number = &c->number[i];
        if (number->type == type->type && number->type == type->number)
            continue; /* it stays as it is */
        s = ha_op_check_number(c, number);
        if (!s) s = ha_view_convert(of, number, type->number, number, c->operation);
    }
    return s;
}

/* Lanes must not read what others write: an argument is the result itself, or has nothing in common with it. */
HA_IN_ ha_status ha_op_check_places(const ha_op_call *c, const ha_op_boxes *b) {
    for (int k = 1; k < c->arrays; k++)
        if (!ha_op_is_same(b, k) && ha_op_meets(b, k, c->view[0], c->view[k]))
            return ha_pair_refuse(ha_op_argument(c, 0), ha_op_argument(c, k),
                                  "the result has, or may have, elements of an argument in other "
                                  "places",
                                  c->operation);
    return HA_OK;
}

/* ---- the launch ---------------------------------------------------------------------------------- */

/* What is behind its rank is left as it is. */
HA_IN_ void ha_op_set_typed(ha_typed *t, const ha_op_boxes *b, int k, ha_array *array) {
    t->array = array;
    t->offset = b->of[k].offset;
    for (int d = 0; d < b->rank; d++) {
        t->numbers[d] = b->extent[d];
        t->numbers[b->rank + d] = b->of[k].stride[d];
        t->numbers[2 * b->rank + d] = 0; /* origins */
    }
}

HA_IN_ ha_typed ha_op_typed(const ha_op_boxes *b, int k, ha_array *array) {
    ha_typed t;
    ha_op_set_typed(&t, b, k, array);
    return t;
}

/* The numbers of the elements of a view, as a view. */
HA_IN_ void ha_op_places_of(darray *at, const darray *x) {
    int64_t stride = 1;
    *at = (darray){.rank = x->rank};
    for (int d = x->rank - 1; d >= 0; d--) {
        at->extent[d] = x->extent[d];
        at->stride[d] = stride;
        stride *= x->extent[d];
    }
}

/* All views, in the order of their indices, or in that of the result's memory; *whole: they are whole arrays. */
HA_IN_ void ha_op_boxes_of_call(ha_op_boxes *b, const ha_op_call *c, int has_place, int in_order,
                                int *whole) {
    darray at;
    const darray *views[HA_OP_VIEWS];
    int n = 0;
    for (; n < c->arrays; n++) views[n] = c->view[n];
    if (has_place) {
        ha_op_places_of(&at, c->view[0]);
        views[n++] = &at;
    }
    ha_op_boxes_of(b, views, n, in_order);
    *whole = ha_op_is_whole(b, views);
}

/* Launches a kernel with the views, the numbers, and what is behind them. */
HA_IN_ ha_status ha_op_launch(ha_op_call *c, const ha_op_boxes *b, const void *more) {
    ha_typed typed[HA_OP_ARRAYS];
    const void *given[HA_OP_PARAMETERS];
    int n = 0;
    ha_region box = {{0}, {0}};
    if (ha_op_by_number(&c->key))
        box.last[0] = ha_op_elements(b);
    else
        for (int d = 0; d < b->rank; d++) box.last[d] = b->extent[d];
    for (int k = 0; k < c->arrays; k++) { /* of reductions without the result */
        ha_op_set_typed(&typed[k], b, k, c->view[k]->array);
        given[n++] = &typed[k];
    }
    for (int i = 0; i < c->numbers; i++) given[n++] = c->number[i].bytes;
    if (ha_op_by_number(&c->key)) {
        given[n++] = NULL; /* what it uses */
    } else if (ha_op_has_place(&c->key) && c->key.rank) {
        given[n++] = &b->of[c->arrays].offset;
        for (int d = 0; d < b->rank; d++) given[n++] = &b->of[c->arrays].stride[d];
    }
    given[n] = more; /* what it uses, or a result */
    const ha_kernel *kernel = ha_op_kernel_of(&c->key);
    if (!kernel) return ha_fail(HA_ERR_MEMORY, c->operation, "no memory for its kernel");
    while (++n < kernel->parameters) given[n] = NULL; /* what it uses */
    /* Of whole arrays the lanes are counted when they are open: another thread may resize them before. */
    const ha_status s = ha_kernel_launch_(kernel, c->context, c->key.rank ? &box : NULL, given);
    if (s && ha_first_error.operation == kernel->name) ha_first_error.operation = c->operation;
    return s;
}

HA_IN_ ha_status ha_op_run_line(ha_op_call *c, const ha_op_table *table, int n) {
    int whole;
    ha_op_boxes b;
    ha_status s = ha_op_check(c, table, n);
    if (!s) s = ha_op_check_numbers(c);
    if (s || ha_view_is_empty(c->view[0])) return s;
    s = ha_op_check_written(ha_op_argument(c, 0), c->operation);
    if (s) return s;
    ha_op_boxes_of_call(&b, c, ha_op_has_place(&c->key), 0, &whole);
    if (b.rank > HA_MAPPING_RANK && ha_op_has_place(&c->key))
        ha_op_boxes_of_call(&b, c, 0, 1, &whole); /* the number of an element is its place */
    c->key.rank = whole ? 0 : b.rank;
    s = ha_op_check_places(c, &b);
    return s ? s : ha_op_launch(c, &b, NULL);
}

/* n: of the operation, in its table. */
static ha_status ha_op_run(ha_op_call *c, const ha_op_table *table, int n, const char *site) {
    ha_status s = HA_OK;
    HA_FROM(site) s = ha_op_run_line(c, table, n);
    return s;
}

/* Runs that of the word which it was given. */
static ha_status ha_op_run_word(ha_op_call *c, const ha_op_words *words, const ha_op_table *table,
                                int word, const char *site) {
    ha_status s = HA_OK;
    c->word = word;
    HA_FROM(site) {
        s = ha_op_check_word(words, c->operation, word);
        if (!s) s = ha_op_run_line(c, table, word);
    }
    return s;
}

/* ---- the calls ----------------------------------------------------------------------------------- */

ha_status ha_map_(ha_map_operation op, darray y, darray x, ha_context *context, const char *site) {
    ha_op_call c = {.operation = "ha_map",
                    .context = context,
                    .arrays = 2,
                    .typed = 1,
                    .view = {&y, &x},
                    .name = {"y", "x"}};
    return ha_op_run_word(&c, &ha_op_map_words, &ha_op_maps, (int)op, site);
}

ha_status ha_combine_(int op, darray z, darray x, darray y, ha_context *context, const char *site) {
    ha_op_call c = {.operation = "ha_combine",
                    .context = context,
                    .arrays = 3,
                    .typed = 1,
                    .view = {&z, &x, &y},
                    .name = {"z", "x", "y"}};
    return ha_op_run_word(&c, &ha_op_combine_words, &ha_op_combines, op, site);
}

ha_status ha_combine_number_(int op, darray z, darray x, ha_dvalue number, ha_context *context,
                             const char *site) {
    ha_op_call c = {.operation = "ha_combine_number",
                    .context = context,
                    .arrays = 2,
                    .numbers = 1,
                    .typed = 1,
                    .view = {&z, &x},
                    .name = {"z", "x"},
                    .number = {number},
                    .key.by_number = 1};
    return ha_op_run_word(&c, &ha_op_combine_words, &ha_op_combines, op, site);
}

ha_status ha_axpby_(darray z, ha_dvalue a, darray x, ha_dvalue b, darray y, ha_context *context,
                    const char *site) {
    ha_op_call c = {.operation = "ha_axpby",
                    .context = context,
                    .arrays = 3,
                    .numbers = 2,
                    .view = {&z, &x, &y},
                    .name = {"z", "x", "y"},
                    .number = {a, b}};
    return ha_op_run(&c, &ha_op_axpby, 0, site);
}

ha_status ha_axpy_(darray y, ha_dvalue a, darray x, ha_context *context, const char *site) {
    ha_op_call c = {.operation = "ha_axpy",
                    .context = context,
                    .arrays = 3,
                    .numbers = 1,
                    .view = {&y, &x, &y},
                    .name = {"y", "x", "y"},
                    .number = {a}};
    return ha_op_run(&c, &ha_op_axpy, 0, site);
}

/* Bounds between which there is no number. */
HA_IN_ ha_status ha_clip_refuse(const darray *y, ha_dvalue low, ha_dvalue high,
                                ha_comparison order) {
    char lowest[80], highest[80];
    const ha_status s = ha_named_view_check(HA_ARGUMENT_(y), "ha_clip");
    if (s) return s;
    (void)ha_dvalue_print(low, lowest, sizeof lowest);
    (void)ha_dvalue_print(high, highest, sizeof highest);
    return ha_named_view_fail(HA_ERR_ARGUMENT, "ha_clip", HA_ARGUMENT_(y),
                              order == HA_GREATER ? "low, %s, is greater than high, %s"
                                                  : "low, %s, and high, %s, have no order",
                              lowest, highest);
}

ha_status ha_clip_(darray y, darray x, ha_dvalue low, ha_dvalue high, ha_context *context,
                   const char *site) {
    ha_op_call c = {.operation = "ha_clip",
                    .context = context,
                    .arrays = 2,
                    .numbers = 2,
                    .view = {&y, &x},
                    .name = {"y", "x"},
                    .number = {low, high}};
    const ha_comparison order = ha_dvalue_compare(low, high);
    if (order == HA_LESS || order == HA_EQUAL) return ha_op_run(&c, &ha_op_clip, 0, site);
    ha_status s = HA_OK;
    HA_FROM(site) s = ha_clip_refuse(&y, low, high, order);
    return s;
}

/* Which line is of elements of so many bytes. */
HA_IN_ int ha_op_choice_of(ha_dtype type) {
    const size_t bytes = ha_dtype_size(type);
    return bytes ? __builtin_ctzll(bytes) : 0;
}

ha_status ha_where_(darray z, darray mask, darray x, darray y, ha_context *context,
                    const char *site) {
    ha_op_call c = {.operation = "ha_where",
                    .context = context,
                    .arrays = 4,
                    .view = {&z, &mask, &x, &y},
                    .name = {"z", "mask", "x", "y"}};
    return ha_op_run(&c, &ha_op_choice, ha_op_choice_of(z.type), site);
}

ha_status ha_sequence_(darray x, ha_dvalue first, ha_dvalue step, ha_context *context,
                       const char *site) {
    ha_op_call c = {.operation = "ha_sequence",
                    .context = context,
                    .arrays = 1,
                    .numbers = 2,
                    .view = {&x},
                    .name = {"x"},
                    .number = {first, step}};
    return ha_op_run(&c, &ha_op_sequence, 0, site);
}

/* Of 16 bits those that half (11) and bfloat16 (8) have exactly: so that nothing is rounded up to 1. */
HA_IN_ uint32_t ha_op_random_bits(ha_dtype type) { return type == HA_DTYPE_half ? 0xffe0 : 0xff00; }

HA_IN_ ha_status ha_op_random_of(const char *operation, const ha_op_table *table, int n, darray x,
                                 uint64_t seed, ha_context *context, const char *site) {
    ha_op_call c = {
        .operation = operation,
        .context = context,
        .arrays = 1,
        .numbers = 2,
        .view = {&x},
        .name = {"x"},
        .number = {ha_dvalue_of_uint64_t(seed), ha_dvalue_of_uint32_t(ha_op_random_bits(x.type))}};
    return ha_op_run(&c, table, n, site);
}

ha_status ha_random_(darray x, uint64_t seed, ha_context *context, const char *site) {
    const int is_small = x.type == HA_DTYPE_half || x.type == HA_DTYPE_bfloat16;
    return ha_op_random_of("ha_random", &ha_op_random,
                           is_small ? HA_RANDOM_SMALL_ : HA_RANDOM_PLAIN_, x, seed, context, site);
}

ha_status ha_random_normal_(darray x, uint64_t seed, ha_context *context, const char *site) {
    return ha_op_random_of("ha_random_normal", &ha_op_normal, 0, x, seed, context, site);
}

#endif
