/* Reductions along a dimension: a lane for each element of the result, which joins its elements as reductions do. */
#ifndef HARRAY_IMPL_OPS_ALONG_H
#define HARRAY_IMPL_OPS_ALONG_H

#include "copies.h"
#include "split.h"

/* ---- the result ---------------------------------------------------------------------------------- */

HA_IN_ int ha_along_gives_place(const ha_op_tree *tree) {
    return tree->reduction.operation >= HA_MIN_AT;
}

/* As its type has it: the lowest bits, or rounded. */
HA_IN_ void ha_along_put(char *to, ha_dtype type, const ha_op_tree *tree, const char *result) {
    if (ha_along_gives_place(tree)) result += sizeof(int64_t);
    if (type == HA_DTYPE_half || type == HA_DTYPE_bfloat16)
        ha_op_store(type, to, (const float *)(const void *)result, 1, 1);
    else
        ha_copy_number(to, result, ha_dtype_size(type)); /* of a little end */
}

/* ---- on the host --------------------------------------------------------------------------------- */

/* Results side by side; numbers of parts go up by levels: two are enough for 2^20 lanes, four for 2^50. */
enum { HA_ALONG_WIDTH = 128, HA_ALONG_LEVELS = 4, HA_ALONG_FEW = 2 };

typedef struct ha_along_walk {
    const ha_op_key *key;
    const ha_op_tree *tree;
    const ha_op_across *across;
    int64_t all;          /* lanes of a result */
    int64_t lane;         /* elements of x from one lane to the next one */
    int64_t to, of;       /* elements of y, of x from one result of the row to the next one */
    int64_t result_bytes; /* of an element of y */
    char *y;
    const char *x; /* of the first result */
} ha_along_walk;

/* The numbers of n lanes, which are `step` elements of x apart. */
HA_IN_ const void *ha_along_values(const ha_along_walk *w, const char *x, int64_t n, int64_t step,
                                   char *buffer) {
    const ha_op_key *key = w->key;
    const ha_op_walk walk = {.key = key, .rows = key->line->rows};
    if (step == 1 && key->line->number == HA_LANE_VALUE_ && key->type->type == key->line->gives)
        return x;
    const ha_op_row row = {.n = n,
                           .of = {buffer, (void *)(uintptr_t)x, (void *)(uintptr_t)x},
                           .step = {1, step, step}};
    ha_op_run_row(&walk, &row);
    return buffer;
}

HA_IN_ void ha_along_end(const ha_along_walk *w, int64_t i, const void *partial) {
    _Alignas(16) char result[HA_PARTIAL_BYTES_];
    w->tree->reduction.end(partial, result);
    ha_along_put(w->y + i * w->to * w->result_bytes, (ha_dtype)w->key->of[0], w->tree, result);
}

/* One result after the other: where its lanes follow each other. */
HA_IN_ void ha_along_one(const ha_along_walk *w, int64_t i) {
    const int64_t bytes = (int64_t)ha_dtype_size(w->key->type->type);
    _Alignas(16) char buffer[HA_PART_LANES_ * HA_PARTIAL_BYTES_], partial[HA_PARTIAL_BYTES_];
    ha_reduce_level level[HA_ALONG_LEVELS];
    for (int l = 0; l < HA_ALONG_LEVELS; l++) level[l].n = level[l].is_passed = 0;
    for (int64_t from = 0; from < w->all; from += HA_PART_LANES_) {
        const int64_t n = HA_LESS(HA_PART_LANES_, w->all - from);
        const char *x = w->x + (i * w->of + from * w->lane) * bytes;
        w->tree->part(ha_along_values(w, x, n, w->lane, buffer), n, from, partial);
        if (w->all > HA_PART_LANES_) ha_reduce_add(&w->tree->reduction, level, partial);
    }
    if (w->all > HA_PART_LANES_) ha_reduce_rest(&w->tree->reduction, level, partial);
    ha_along_end(w, i, partial);
}

HA_IN_ int64_t ha_along_levels(const ha_along_walk *w) {
    return w->all <= HA_PART_LANES_ * HA_PART_LANES_ ? HA_ALONG_FEW : HA_ALONG_LEVELS;
}

/* Lane `at` of results [i, i + n), and those abreast of it, into one of their 16 sums. */
HA_IN_ void ha_along_lane(const ha_along_walk *w, int64_t i, int64_t n, int64_t from, int64_t at,
                          int abreast, void *sums) {
    const int64_t bytes = (int64_t)ha_dtype_size(w->key->type->type);
    _Alignas(16) char buffer[HA_ABREAST_][HA_ALONG_WIDTH * HA_PARTIAL_BYTES_];
    const void *values[HA_ABREAST_];
    for (int k = 0; k < abreast; k++) {
        const char *x = w->x + (i * w->of + (at + k * HA_SUMS_) * w->lane) * bytes;
        values[k] = ha_along_values(w, x, n, w->of, buffer[k]);
    }
    w->across->across(sums, values, abreast, n, from, at);
}

/* Lanes [from, end) of them: as many abreast as there are, as a sum is read and written for each such step. */
HA_IN_ void ha_along_part(const ha_along_walk *w, int64_t i, int64_t n, int64_t from, int64_t end,
                          void *sums) {
    int abreast = 1; /* the first 16 begin the sums */
    for (int64_t first = from; first < end; first += abreast * HA_SUMS_) {
        abreast = first > from && first + HA_ABREAST_ * HA_SUMS_ <= end ? HA_ABREAST_ : 1;
        for (int64_t at = first; at < HA_LESS(first + HA_SUMS_, end); at++)
            ha_along_lane(w, i, n, from, at, abreast, sums);
    }
}

/* Results [i, i + n), lane by lane: where those follow each other. */
HA_IN_ void ha_along_several(const ha_along_walk *w, int64_t i, int64_t n) {
    const ha_reduction_ *r = &w->tree->reduction;
    const size_t part = r->partial_bytes;
    _Alignas(16) char sums[HA_SUMS_ * HA_ALONG_WIDTH * HA_PARTIAL_BYTES_];
    _Alignas(16) char partial[HA_PARTIAL_BYTES_], own[HA_SUMS_ * HA_PARTIAL_BYTES_];
    const int64_t levels = ha_along_levels(w);
    ha_reduce_level level[HA_ALONG_WIDTH * HA_ALONG_FEW];
    for (int64_t k = 0; k < n * levels; k++) level[k].n = level[k].is_passed = 0;
    for (int64_t from = 0; from < w->all; from += HA_PART_LANES_) {
        const int64_t lanes = HA_LESS(HA_PART_LANES_, w->all - from);
        ha_along_part(w, i, n, from, from + lanes, sums);
        for (int64_t k = 0; k < n; k++) {
            for (int64_t l = 0; l < HA_LESS(lanes, HA_SUMS_); l++)
                ha_copy_number(own + (size_t)l * part, sums + (size_t)(l * n + k) * part, part);
            r->join(own, lanes, partial);
            if (w->all > HA_PART_LANES_)
                ha_reduce_add(r, &level[k * levels], partial);
            else
                ha_along_end(w, i + k, partial);
        }
    }
    for (int64_t k = 0; k < n && w->all > HA_PART_LANES_; k++) {
        ha_reduce_rest(r, &level[k * levels], partial);
        ha_along_end(w, i + k, partial);
    }
}

/* Results [first, last): rows of y. Slots: y, x, how many lanes. */
HA_IN_ void ha_along_results(const ha_op_key *key, const ha_kernel_slot_ *slot, int64_t first,
                             int64_t last) {
    const int rank = key->rank;
    const int64_t *y = ((const ha_kernel_span *)slot[0].span)->numbers;
    const int64_t *x = ((const ha_kernel_span *)slot[1].span)->numbers + 1 + rank;
    ha_along_walk w = {.key = key,
                       .tree = key->tree,
                       .across = ha_op_across_of(key->line->gives, key->tree),
                       .lane = x[0],
                       .to = y[2 * rank - 1],
                       .of = x[rank],
                       .result_bytes = (int64_t)ha_dtype_size((ha_dtype)key->of[0])};
    const int64_t bytes = (int64_t)ha_dtype_size(key->type->type);
    memcpy(&w.all, slot[2].pointer, sizeof w.all);
    const int64_t width = HA_ALONG_WIDTH * HA_ALONG_FEW / ha_along_levels(&w);
    for (int64_t place, n; first < last; first += n) {
        n = ha_split_piece(y, y + rank, rank, first, last - first, &place);
        w.y = (char *)slot[0].pointer + place * w.result_bytes;
        w.x = (const char *)slot[1].pointer + ha_strided_place_(y, x + 1, rank, first) * bytes;
        if (w.lane == 1 || n < 4)
            for (int64_t i = 0; i < n; i++) ha_along_one(&w, i);
        else
            for (int64_t i = 0; i < n; i += width) ha_along_several(&w, i, HA_LESS(width, n - i));
    }
}

HA_IN_ void ha_along_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                           const ha_kernel_slot_ *slot) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    int64_t each;
    memcpy(&each, slot[2].pointer, sizeof each);
    (void)apart;
    HA_AMONG_THREADS_(box, 1, (double)each, const ha_region own = HA_SHARE_(box, 0);
                      ha_along_results(key, slot, own.first[0], own.last[0]);)
}

/* ---- as a kernel --------------------------------------------------------------------------------- */

HA_IN_ void ha_along_put_text(ha_text *t, const ha_op_key *key) {
    const ha_dtype type = (ha_dtype)key->of[0];
    const int is_small = ha_value_small(type) != NULL;
    ha_print(t,
             "{ const int64_t n = i; ha_partial_ sum[%d], p = ha_none_(); ha_level_ level[%d]; "
             "for (int l = 0; l < %d; l++) level[l].n = level[l].is_passed = 0; "
             "for (int64_t from = 0; from < all; from += %d) { "
             "const int64_t lanes = all - from < %d ? all - from : %d; "
             "for (int64_t at = 0; at < lanes; at += %d) "
             "for (int l = 0; l < %d && at + l < lanes; l++) { const int64_t k = from + at + l; ",
             HA_SUMS_, HA_ALONG_LEVELS, HA_ALONG_LEVELS, HA_PART_LANES_, HA_PART_LANES_,
             HA_PART_LANES_, HA_SUMS_, HA_SUMS_);
    ha_split_put_variable(t, key->type, "u", "x", 1, key->rank);
    ha_print(t,
             "const ha_partial_ q = ha_begin_(%s, k); sum[l] = at ? ha_merge_(sum[l], q) : q; } "
             "p = ha_join_(sum, lanes); if (all > %d) ha_add_(level, p); } "
             "if (all > %d) p = ha_rest_(level); ",
             key->line->text, HA_PART_LANES_, HA_PART_LANES_);
    ha_split_put_element(t, "y", 0, key->rank);
    if (is_small) ha_print(t, " = ha_%s_of_float(", ha_dtype_name(type));
    if (!is_small && type != key->line->gives) ha_print(t, " = (%s)", ha_dtype_name(type));
    if (!is_small && type == key->line->gives) ha_print(t, " = ");
    ha_print(t, "ha_finish_(p)%s%s; }", ha_along_gives_place(key->tree) ? ".at" : "",
             is_small ? ")" : "");
}

/* rank: of the result. of: its type */
HA_IN_ void ha_along_make(ha_op_kernel *k, const ha_op_key *key) {
    ha_text t = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "ha_along_%s%s_%s_to_%s_%d", key->tree->word, key->line->word,
             key->type->element, ha_dtype_name((ha_dtype)key->of[0]), key->rank);
    ha_index_add_view(k, HA_KERNEL_OUT_, "y", (ha_dtype)key->of[0], key->rank);
    ha_index_add_view(k, HA_KERNEL_IN_, "x", key->type->type, 1 + key->rank);
    ha_op_add_number(k, "all", HA_DTYPE_int64_t, "int64_t");
    ha_op_add_parameter(k, HA_KERNEL_USES_, "ha_strided_place", ha_uses_ha_strided_place);
    ha_op_add_parameter(k, HA_KERNEL_USES_, "ha_tree",
                        ha_op_across_of(key->line->gives, key->tree)->uses);
    k->op.kernel.rank = 1;
    k->op.kernel.loops = ha_along_loops;
    ha_along_put_text(&t, key);
}

/* ---- the calls ----------------------------------------------------------------------------------- */

typedef struct ha_along_call {
    ha_op_reduction r; /* x is its argument */
    darray y;          /* without the dimension */
    int dimension;
} ha_along_call;

HA_IN_ ha_status ha_along_check_type(const ha_along_call *a) {
    const char *operation = a->r.call.operation;
    const darray *x = a->r.call.view[0], *y = &a->y;
    const int counts = a->r.lane == HA_LANE_IS_THERE_ || ha_along_gives_place(a->r.call.key.tree);
    const ha_op_key *key = &a->r.call.key; /* the type of which is uint8_t for bool */
    if (!counts && (y->type == key->type->type || y->type == key->line->gives)) return HA_OK;
    if (!counts)
        return ha_pair_refuse(HA_ARGUMENT_(y), HA_ARGUMENT_(x),
                              "the result is of neither type: that of the elements, and that "
                              "of their sums",
                              operation);
    const ha_status s = ha_index_check_type(HA_ARGUMENT_(y), operation);
    const int64_t most = y->type == HA_DTYPE_int32_t ? INT32_MAX : (int64_t)UINT32_MAX;
    if (s || y->array->element == sizeof(int64_t) || x->extent[a->dimension] <= most) return s;
    return ha_named_view_fail(HA_ERR_ARGUMENT, operation, HA_ARGUMENT_(y),
                              "numbers up to %lld do not fit its type",
                              (long long)x->extent[a->dimension]);
}

/* The dimension of y, where it has one of extent 1 there, goes. */
HA_IN_ ha_status ha_along_check_extents(ha_along_call *a) {
    const darray *x = a->r.call.view[0];
    const darray rest = ha_split_without(x, a->dimension);
    if (a->y.rank == x->rank && a->y.extent[a->dimension] == 1)
        a->y = ha_split_without(&a->y, a->dimension);
    if (ha_extents_equal(a->y.rank, a->y.extent, rest.rank, rest.extent)) return HA_OK;
    return ha_pair_refuse((ha_named_view){"y", &a->y}, HA_ARGUMENT_(x),
                          "the extents are not those without the dimension", a->r.call.operation);
}

HA_IN_ ha_status ha_along_check(ha_along_call *a) {
    const char *operation = a->r.call.operation;
    const darray *x = a->r.call.view[0], *y = &a->y;
    ha_status s = ha_split_check_dimension(HA_ARGUMENT_(x), a->dimension, operation);
    if (!s) s = ha_op_check_reduction(&a->r);
    if (!s) s = ha_named_view_check(HA_ARGUMENT_(y), operation);
    if (!s) s = ha_along_check_type(a);
    if (!s) s = ha_op_check_written(HA_ARGUMENT_(y), operation);
    if (!s) s = ha_along_check_extents(a);
    if (s || ha_view_is_empty(y) || ha_view_is_empty(x)) return s;
    return ha_index_check_apart(HA_ARGUMENT_(y), HA_ARGUMENT_(x), operation);
}

/* What a reduction of no elements is, everywhere. */
HA_IN_ ha_status ha_along_fill(const ha_along_call *a, const char *site) {
    _Alignas(16) char result[HA_PARTIAL_BYTES_], value[16];
    const ha_status s = ha_op_reduce_none(&a->r, result);
    if (s) return s;
    ha_along_put(value, a->y.type, a->r.call.key.tree, result);
    return darray_fill_(a->y, ha_dvalue_load(a->y.type, value), a->r.call.context, site);
}

HA_IN_ ha_status ha_along_launch(const ha_along_call *a) {
    const ha_op_call *c = &a->r.call;
    const darray *x = c->view[0];
    const darray rest = ha_split_without(x, a->dimension);
    const darray *const views[] = {&a->y, &rest};
    ha_op_boxes b;
    ha_op_boxes_of(&b, views, 2, 0);
    const int64_t all = x->extent[a->dimension];
    ha_op_key key = c->key;
    key.rank = b.rank;
    key.make = ha_along_make;
    key.of[0] = (int)a->y.type;
    const ha_typed of_y = ha_op_typed(&b, 0, a->y.array);
    const ha_typed of_x = ha_index_typed(x->array, b.of[1].offset, 1, &all,
                                         &x->stride[a->dimension], b.rank, b.extent,
                                         b.of[1].stride);
    const void *const given[] = {&of_y, &of_x, &all, NULL, NULL};
    const ha_region box = ha_box1(0, ha_op_elements(&b));
    return ha_index_launch(&key, c->operation, c->context, &box, given);
}

static ha_status ha_along_run(ha_along_call *a, const char *site) {
    ha_status s = HA_OK;
    HA_FROM(site) {
        s = ha_along_check(a);
        if (!s && !ha_view_is_empty(&a->y))
            s = ha_view_is_empty(a->r.call.view[0]) ? ha_along_fill(a, site) : ha_along_launch(a);
    }
    return s;
}

ha_status ha_reduce_along_(ha_reduction op, darray y, darray x, int dimension, ha_context *context,
                           const char *site) {
    ha_along_call a = {{{.operation = "ha_reduce_along",
                         .context = context,
                         .arrays = 1,
                         .view = {&x},
                         .name = {"x"}},
                        &ha_op_lanes_of_value,
                        HA_LANE_VALUE_,
                        op},
                       y,
                       dimension};
    return ha_along_run(&a, site);
}

ha_status ha_count_along_(darray y, darray x, int dimension, ha_context *context,
                          const char *site) {
    ha_along_call a = {{{.operation = "ha_count_along",
                         .context = context,
                         .arrays = 1,
                         .view = {&x},
                         .name = {"x"}},
                        &ha_op_lanes_of_is_there,
                        HA_LANE_IS_THERE_,
                        HA_SUM},
                       y,
                       dimension};
    return ha_along_run(&a, site);
}

#endif
