/* Operations that reduce: numbers of lanes, in the order of reduce.h, to one. */
#ifndef HARRAY_IMPL_OPS_TREES_H
#define HARRAY_IMPL_OPS_TREES_H

#include "loops.h"

/* Reduces a part of the lanes. */
typedef void (*ha_op_part)(const void *values, int64_t n, int64_t first, void *partial);

typedef struct ha_op_tree {
    ha_reduction_ reduction;
    const char *word;
    ha_op_part part;
} ha_op_tree;

/* Results side by side, as only along.h needs them. */
typedef struct ha_op_across {
    ha_dtype type;
    ha_reduction operation;
    void (*across)(void *sums, const void *const *values, int abreast, int64_t n, int64_t first,
                   int64_t at);
    const char *uses; /* functions of the reduction, for kernels that call them */
} ha_op_across;

/* ---- joining two --------------------------------------------------------------------------------- */

/* Those of signed numbers wrap around; NaN is the least and the greatest, wherever it is. */
#define HA_WRAPPED_SUM_OF_(a, b) (int64_t)((uint64_t)a + (uint64_t)b)
#define HA_WRAPPED_PRODUCT_OF_(a, b) (int64_t)((uint64_t)a * (uint64_t)b)
#define HA_LEAST_OF_(a, b) a < b || a != a ? a : b
#define HA_GREATEST_OF_(a, b) b < a || a != a ? a : b
#define HA_IS_BEFORE_LEAST_(a, b) a < b || (a != a && b == b)
#define HA_IS_BEFORE_GREATEST_(a, b) b < a || (a != a && b == b)

/* What a part of no lanes is has no meaning where the result has none. */
#define HA_BY_SUM_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_SUM_OF_, HA_NOTHING_)
#define HA_BY_WRAPPED_SUM_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_WRAPPED_SUM_OF_, HA_NOTHING_)
#define HA_BY_PRODUCT_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_PRODUCT_OF_, HA_ONE_)
#define HA_BY_WRAPPED_PRODUCT_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_WRAPPED_PRODUCT_OF_, HA_ONE_)
#define HA_BY_MIN_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_MIN_OF_, HA_NOTHING_)
#define HA_BY_MAX_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_MAX_OF_, HA_NOTHING_)
#define HA_BY_LEAST_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_LEAST_OF_, HA_NOTHING_)
#define HA_BY_GREATEST_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_GREATEST_OF_, HA_NOTHING_)
#define HA_BY_AND_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_AND_OF_, HA_ALL_BITS_)
#define HA_BY_OR_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_OR_OF_, HA_NOTHING_)
#define HA_BY_XOR_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_XOR_OF_, HA_NOTHING_)
#define HA_BY_EXACT_SUM_(...) HA_REDUCE_EXACTLY_(__VA_ARGS__, ~, ~)
#define HA_BY_MIN_AT_(...) HA_REDUCE_WITH_PLACE_(__VA_ARGS__, HA_LESS_OF_, ~)
#define HA_BY_MAX_AT_(...) HA_REDUCE_WITH_PLACE_(__VA_ARGS__, HA_GREATER_OF_, ~)
#define HA_BY_LEAST_AT_(...) HA_REDUCE_WITH_PLACE_(__VA_ARGS__, HA_IS_BEFORE_LEAST_, ~)
#define HA_BY_GREATEST_AT_(...) HA_REDUCE_WITH_PLACE_(__VA_ARGS__, HA_IS_BEFORE_GREATEST_, ~)

#define HA_REDUCE_COMPLEX_(FN, T, P, R, begin, merge, none, finish, OF, re)                        \
    typedef T P;                                                                                   \
    typedef T R;                                                                                   \
    FN P begin(T v, int64_t at) {                                                                  \
        (void)at;                                                                                  \
        return v;                                                                                  \
    }                                                                                              \
    FN P merge(P a, P b) { return OF(a, b); }                                                      \
    FN P none(void) { return T##_make(re, 0); }                                                    \
    FN R finish(P a) { return a; }
#define HA_BY_SUM_OF_C64_(...) HA_REDUCE_COMPLEX_(__VA_ARGS__, ha_c64_add, 0)
#define HA_BY_PRODUCT_OF_C64_(...) HA_REDUCE_COMPLEX_(__VA_ARGS__, ha_c64_mul, 1)
#define HA_BY_SUM_OF_C128_(...) HA_REDUCE_COMPLEX_(__VA_ARGS__, ha_c128_add, 0)
#define HA_BY_PRODUCT_OF_C128_(...) HA_REDUCE_COMPLEX_(__VA_ARGS__, ha_c128_mul, 1)

/* ---- all lanes of a part ------------------------------------------------------------------------- */

/* From numbers without gaps, the first of which is of lane `first`: as they lie there, or products of two. The sums whose
 * address is given to a function are not those of the loop, which stay in registers. */
#define HA_TREE_VALUES_(T) const T *v = (const T *)values;
#define HA_TREE_VALUE_(i) v[i]
#define HA_TREE_FACTORS_(T)                                                                        \
    const T *u = ((const T *const *)values)[0], *v = ((const T *const *)values)[1];
#define HA_TREE_PRODUCT_(i) u[i] * v[i]
#define HA_TREE_PART_(P, part, T, VALUES, VALUE, begin, merge, join, operation)                    \
    HA_CONTRACTED_0_ HA_IN_ void part(const void *values, int64_t n, int64_t first,                \
                                      void *partial) {                                             \
        VALUES(T)                                                                                  \
        P joined[HA_SUMS_];                                                                        \
        if (n >= HA_SUMS_) {                                                                       \
            P sum[HA_SUMS_];                                                                       \
            int64_t i = HA_SUMS_;                                                                  \
            for (int ha_l_ = 0; ha_l_ < HA_SUMS_; ha_l_++)                                         \
                sum[ha_l_] = begin(VALUE(ha_l_), first + ha_l_);                                   \
            for (; i + HA_SUMS_ <= n; i += HA_SUMS_) HA_SUMS_FOR_(operation)                       \
            sum[ha_l_] = merge(sum[ha_l_], begin(VALUE(i + ha_l_), first + i + ha_l_));            \
            HA_SUMS_FOR_(operation) joined[ha_l_] = sum[ha_l_];                                    \
            for (int l = 0; i + l < n; l++)                                                        \
                joined[l] = merge(joined[l], begin(VALUE(i + l), first + i + l));                  \
        } else                                                                                     \
            for (int l = 0; l < n; l++) joined[l] = begin(VALUE(l), first + l);                    \
        join(joined, n, partial);                                                                  \
    }

enum { HA_ABREAST_ = 4 };

/* Lanes of n reductions side by side, of a part that begins with lane `first`: lane `at`, or, where HA_ABREAST_ pointers are
 * given, that and those HA_SUMS_, 2 HA_SUMS_, … behind it. Of the 16 sums of each, those of one number follow each other. */
#define HA_TREE_ACROSS_(P, across, T, begin, merge)                                                \
    HA_CONTRACTED_0_ HA_IN_ void across(void *sums, const void *const *values, int abreast,        \
                                        int64_t n, int64_t first, int64_t at) {                    \
        P *const sum = (P *)sums + (at - first) % HA_SUMS_ * n;                                    \
        const T *const a = (const T *)values[0];                                                   \
        if (abreast == HA_ABREAST_) {                                                              \
            const T *const b = (const T *)values[1], *const c = (const T *)values[2],              \
                           *const d = (const T *)values[3];                                        \
            HA_LANES_LOOP_ for (int64_t i = 0; i < n; i++) {                                       \
                const P ab = merge(merge(sum[i], begin(a[i], at)), begin(b[i], at + HA_SUMS_));    \
                sum[i] = merge(merge(ab, begin(c[i], at + 2 * HA_SUMS_)),                          \
                               begin(d[i], at + 3 * HA_SUMS_));                                    \
            }                                                                                      \
        } else if (at - first < HA_SUMS_)                                                          \
            HA_LANES_LOOP_ for (int64_t i = 0; i < n; i++) sum[i] = begin(a[i], at);               \
        else                                                                                       \
            HA_LANES_LOOP_ for (int64_t i = 0; i < n; i++)                                         \
                sum[i] = merge(sum[i], begin(a[i], at));                                           \
    }

/* The first half with the last one, until one is left. All of them are mostly there, which is no loop then. */
#define HA_TREE_HALVE_(merge, d)                                                                   \
    for (int l = 0; l < (d); l++) sum[l] = merge(sum[l], sum[l + (d)]);
#define HA_TREE_JOIN_(P, join, merge)                                                              \
    HA_NOINLINE_ static void join(void *sums, int64_t n, void *to) {                               \
        P *const sum = (P *)sums;                                                                  \
        if (n >= HA_SUMS_) {                                                                       \
            HA_TREE_HALVE_(merge, 8)                                                               \
            HA_TREE_HALVE_(merge, 4) HA_TREE_HALVE_(merge, 2) HA_TREE_HALVE_(merge, 1)             \
        } else                                                                                     \
            for (int d = HA_SUMS_ / 2; d > 0; d /= 2)                                              \
                for (int l = 0; l < d && l + d < n; l++) sum[l] = merge(sum[l], sum[l + d]);       \
        *(P *)to = sum[0];                                                                         \
    }
#define HA_TREE_ADD_(P, add, merge)                                                                \
    HA_IN_ void add(void *sums, int64_t n, const void *partial) {                                  \
        P *const sum = (P *)sums + n % HA_SUMS_;                                                   \
        *sum = n < HA_SUMS_ ? *(const P *)partial : merge(*sum, *(const P *)partial);              \
    }
#define HA_TREE_END_(P, R, end, none, finish)                                                      \
    HA_IN_ void end(const void *partial, void *result) {                                           \
        *(R *)result = finish(partial ? *(const P *)partial : none());                             \
    }

HA_IN_ void ha_op_parts(const ha_kernel *kernel, const ha_region *box, int64_t first, int64_t last,
                        int apart, const ha_kernel_slot_ *slot, void *partials);

#define HA_TREE_(operation, word, T, by)                                                           \
    by(HA_FN, T, ha_partial_##word##_##T, ha_outcome_##word##_##T, ha_begin_##word##_##T,          \
       ha_merge_##word##_##T, ha_none_##word##_##T, ha_finish_##word##_##T)                        \
        HA_TREE_JOIN_(ha_partial_##word##_##T, ha_join_##word##_##T, ha_merge_##word##_##T)        \
            HA_TREE_ADD_(ha_partial_##word##_##T, ha_add_##word##_##T, ha_merge_##word##_##T)      \
                HA_TREE_END_(ha_partial_##word##_##T, ha_outcome_##word##_##T,                     \
                             ha_end_##word##_##T, ha_none_##word##_##T, ha_finish_##word##_##T)    \
                    HA_TREE_PART_(ha_partial_##word##_##T, ha_part_##word##_##T, T,                \
                                  HA_TREE_VALUES_, HA_TREE_VALUE_, ha_begin_##word##_##T,          \
                                  ha_merge_##word##_##T, ha_join_##word##_##T, operation)          \
                        HA_TREE_ACROSS_(ha_partial_##word##_##T, ha_across_##word##_##T, T,        \
                                        ha_begin_##word##_##T, ha_merge_##word##_##T)

HA_CONTRACTION_0_
#define HA_TREES_OF_INTEGERS_(X, T, SUM, PRODUCT)                                                  \
    X(HA_SUM, sum, T, SUM)                                                                         \
    X(HA_PRODUCT, product, T, PRODUCT)                                                             \
    X(HA_MIN, min, T, HA_BY_MIN_)                                                                  \
    X(HA_MAX, max, T, HA_BY_MAX_)                                                                  \
    X(HA_AND, and, T, HA_BY_AND_)                                                                  \
    X(HA_OR, or, T, HA_BY_OR_)                                                                     \
    X(HA_XOR, xor, T, HA_BY_XOR_)                                                                  \
    X(HA_MIN_AT, min_at, T, HA_BY_MIN_AT_)                                                         \
    X(HA_MAX_AT, max_at, T, HA_BY_MAX_AT_)
#define HA_TREES_OF_REAL_(X, T)                                                                    \
    X(HA_SUM, sum, T, HA_BY_SUM_)                                                                  \
    X(HA_PRODUCT, product, T, HA_BY_PRODUCT_)                                                      \
    X(HA_MIN, min, T, HA_BY_LEAST_)                                                                \
    X(HA_MAX, max, T, HA_BY_GREATEST_)                                                             \
    X(HA_SUM_EXACT, exact_sum, T, HA_BY_EXACT_SUM_)                                                \
    X(HA_MIN_AT, min_at, T, HA_BY_LEAST_AT_)                                                       \
    X(HA_MAX_AT, max_at, T, HA_BY_GREATEST_AT_)
#define HA_TREES_OF_COMPLEX_(X, T, SUM, PRODUCT)                                                   \
    X(HA_SUM, sum, T, SUM)                                                                         \
    X(HA_PRODUCT, product, T, PRODUCT)
#define HA_TREES_OF_int64_t_(X)                                                                    \
    HA_TREES_OF_INTEGERS_(X, int64_t, HA_BY_WRAPPED_SUM_, HA_BY_WRAPPED_PRODUCT_)
#define HA_TREES_OF_uint64_t_(X) HA_TREES_OF_INTEGERS_(X, uint64_t, HA_BY_SUM_, HA_BY_PRODUCT_)
#define HA_TREES_OF_float_(X) HA_TREES_OF_REAL_(X, float)
#define HA_TREES_OF_double_(X) HA_TREES_OF_REAL_(X, double)
#define HA_TREES_OF_ha_c64_(X)                                                                     \
    HA_TREES_OF_COMPLEX_(X, ha_c64, HA_BY_SUM_OF_C64_, HA_BY_PRODUCT_OF_C64_)
#define HA_TREES_OF_ha_c128_(X)                                                                    \
    HA_TREES_OF_COMPLEX_(X, ha_c128, HA_BY_SUM_OF_C128_, HA_BY_PRODUCT_OF_C128_)
HA_TREES_OF_int64_t_(HA_TREE_) HA_TREES_OF_uint64_t_(HA_TREE_) HA_TREES_OF_double_(HA_TREE_)
    HA_IF_size_of_c64_(HA_TREES_OF_float_(HA_TREE_)) HA_IF_ha_c64_(HA_TREES_OF_ha_c64_(HA_TREE_))
        HA_IF_ha_c128_(HA_TREES_OF_ha_c128_(HA_TREE_))
#define HA_TREE_OF_PRODUCTS_(T)                                                                    \
    HA_TREE_PART_(ha_partial_sum_##T, ha_part_products_##T, T, HA_TREE_FACTORS_, HA_TREE_PRODUCT_, \
                  ha_begin_sum_##T, ha_merge_sum_##T, ha_join_sum_##T, HA_SUM)
            HA_TREE_OF_PRODUCTS_(double)
                HA_IF_size_of_c64_(HA_TREE_OF_PRODUCTS_(float)) HA_CONTRACTION_END_

    /* ---- the lanes of a launch ----------------------------------------------------------------------- */

    /* What is in 1,024 lanes from a number on: where it lies without gaps already, there; else in the buffer. */
    HA_IN_ const void *ha_op_lanes(const ha_op_walk *w, const ha_op_row *first, int64_t from,
                                   int64_t n, char *buffer) {
    const ha_op_key *key = w->key;
    const int64_t bytes = (int64_t)ha_op_bytes(key, 0);
    const int is_there = key->line->number == HA_LANE_VALUE_ &&
                         key->type->type == key->line->gives && first->step[1] == 1;
    for (int64_t done = 0, at; done < n; done += at) {
        ha_op_row row = *first;
        at = ha_op_go_to(w, &row, from + done);
        if (!done && at >= n && is_there) return row.of[1];
        row.n = at < n - done ? at : n - done;
        row.of[0] = buffer + done * bytes;
        row.step[0] = 1;
        ha_op_run_row(w, &row);
    }
    return buffer;
}

/* Sums of products of reals are made without storing these. NULL: it is another reduction, or of other elements. */
HA_IN_ ha_op_part ha_op_part_of_products(const ha_op_key *key) {
    const ha_dtype type = key->type->type;
    if (key->line->number != HA_LANE_PRODUCT_ || key->tree->reduction.operation != HA_SUM ||
        type != key->line->gives)
        return NULL;
    HA_IF_size_of_c64_(if (type == HA_DTYPE_float) return ha_part_products_float;) return type ==
            HA_DTYPE_double
        ? ha_part_products_double
        : NULL;
}

/* Where n lanes from a number on have their factors. 0: these are not in one row, or have gaps. */
HA_IN_ int ha_op_factors(const ha_op_walk *w, const ha_op_row *first, int64_t from, int64_t n,
                         const void *factors[2]) {
    ha_op_row row = *first;
    if (row.step[1] != 1 || row.step[2] != 1 || ha_op_go_to(w, &row, from) < n) return 0;
    factors[0] = row.of[1];
    factors[1] = row.of[2];
    return 1;
}

HA_IN_ void ha_op_parts(const ha_kernel *kernel, const ha_region *box, int64_t first, int64_t last,
                        int apart, const ha_kernel_slot_ *slot, void *partials) {
    const ha_op_part products = ha_op_part_of_products(&ha_op_of(kernel)->key);
    const ha_op_tree *tree = ha_op_of(kernel)->key.tree;
    const size_t bytes = tree->reduction.partial_bytes;
    const ha_region all = {{0}, {(last - first + HA_PART_LANES_ - 1) / HA_PART_LANES_}};
    ha_op_row row;
    ha_op_walk w;
    ha_op_walk_of(&w, &ha_op_of(kernel)->key, slot, &row);
    (void)box, (void)apart;
    HA_AMONG_THREADS_(
        &all, 1, HA_PART_LANES_, const ha_region own = HA_SHARE_(&all, 0);
        for (ptrdiff_t p = own.first[0]; p < own.last[0]; p++) {
            _Alignas(16) char buffer[HA_PART_LANES_ * HA_PARTIAL_BYTES_];
            const int64_t from = first + p * HA_PART_LANES_;
            const int64_t n = HA_LESS(HA_PART_LANES_, last - from);
            char *const partial = (char *)partials + (size_t)p * bytes;
            const void *factors[2];
            if (products && ha_op_factors(&w, &row, from, n, factors))
                products(factors, n, from, partial);
            else
                tree->part(ha_op_lanes(&w, &row, from, n, buffer), n, from, partial);
        })
}

HA_IN_ void ha_op_reduce_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                               const ha_kernel_slot_ *slot) {
    ha_reduce_lanes_(kernel, box, apart, slot, slot[kernel->parameters - 1].pointer);
}

/* ---- the table ----------------------------------------------------------------------------------- */

/* What kernels/reduce.h does with parts, as text: a lane joins all of them. */
#define HA_TREE_LEVELS_                                                                            \
    "\ntypedef struct { ha_partial_ sum[16]; int64_t n; int is_passed; } ha_level_;\n"             \
    "HA_BODY_ ha_partial_ ha_join_(ha_partial_ *sum, int64_t n) {\n"                               \
    "    for (int d = 8; d > 0; d /= 2)\n"                                                         \
    "        for (int l = 0; l < d && l + d < n; l++) sum[l] = ha_merge_(sum[l], sum[l + d]);\n"   \
    "    return sum[0];\n"                                                                         \
    "}\n"                                                                                          \
    "HA_BODY_ void ha_add_(ha_level_ *to, ha_partial_ p) {\n"                                      \
    "    for (;; to++) {\n"                                                                        \
    "        const int l = (int)(to->n % 16);\n"                                                   \
    "        to->sum[l] = to->n < 16 ? p : ha_merge_(to->sum[l], p);\n"                            \
    "        if (++to->n < 1024) return;\n"                                                        \
    "        p = ha_join_(to->sum, 1024); to->n = 0; to->is_passed = 1;\n"                         \
    "    }\n"                                                                                      \
    "}\n"                                                                                          \
    "HA_BODY_ ha_partial_ ha_rest_(ha_level_ *of) {\n"                                             \
    "    for (;; of++) {\n"                                                                        \
    "        if (!of->n) continue;\n"                                                              \
    "        const ha_partial_ p = ha_join_(of->sum, of->n);\n"                                    \
    "        if (!of->is_passed) return p;\n"                                                      \
    "        ha_add_(of + 1, p);\n"                                                                \
    "    }\n"                                                                                      \
    "}\n"

#define HA_TREE_TEXT_(T, by)                                                                       \
    HA_TEXT_OF_(                                                                                   \
        by(HA_BODY_, T, ha_partial_, ha_outcome_, ha_begin_, ha_merge_, ha_none_, ha_finish_))
#define HA_TREE_ROW_(operation, word, T, by)                                                       \
    {{operation, sizeof(ha_partial_##word##_##T), sizeof(ha_outcome_##word##_##T), #T,             \
      HA_TREE_TEXT_(T, by), ha_op_parts, ha_add_##word##_##T, ha_join_##word##_##T,                \
      ha_end_##word##_##T},                                                                        \
     #word "_",                                                                                    \
     ha_part_##word##_##T},
static const ha_op_tree ha_op_trees_int64_t[] = {HA_TREES_OF_int64_t_(HA_TREE_ROW_)};
static const ha_op_tree ha_op_trees_uint64_t[] = {HA_TREES_OF_uint64_t_(HA_TREE_ROW_)};
HA_IF_size_of_c64_(static const ha_op_tree ha_op_trees_float[] = {HA_TREES_OF_float_(
                       HA_TREE_ROW_)};) static const ha_op_tree ha_op_trees_double[] = {
    HA_TREES_OF_double_(HA_TREE_ROW_)};
HA_IF_ha_c64_(static const ha_op_tree ha_op_trees_c64[] = {HA_TREES_OF_ha_c64_(HA_TREE_ROW_)};)
    HA_IF_ha_c128_(
        static const ha_op_tree ha_op_trees_c128[] = {HA_TREES_OF_ha_c128_(HA_TREE_ROW_)};)

#define HA_TREES_BY_TYPE_(T)                                                                       \
    { HA_DTYPE_##T, ha_op_trees_##T, sizeof ha_op_trees_##T / sizeof *ha_op_trees_##T }
        static const struct {
    ha_dtype type;
    const ha_op_tree *tree;
    size_t trees;
} ha_op_trees[] = {
    HA_TREES_BY_TYPE_(int64_t), HA_TREES_BY_TYPE_(uint64_t), HA_TREES_BY_TYPE_(double),
    HA_IF_size_of_c64_(HA_TREES_BY_TYPE_(float), ) HA_IF_ha_c64_(HA_TREES_BY_TYPE_(c64), )
        HA_IF_ha_c128_(HA_TREES_BY_TYPE_(c128), )};

/* NULL: numbers of this type are not reduced so. */
HA_IN_ const ha_op_tree *ha_op_tree_of(ha_dtype type, ha_reduction operation) {
    for (size_t i = 0; i < sizeof ha_op_trees / sizeof *ha_op_trees; i++)
        for (size_t k = 0; k < ha_op_trees[i].trees && ha_op_trees[i].type == type; k++)
            if (ha_op_trees[i].tree[k].reduction.operation == operation)
                return &ha_op_trees[i].tree[k];
    return NULL;
}

#define HA_ACROSS_ROW_(operation, word, T, by)                                                     \
    {HA_DTYPE_OF(T), operation, ha_across_##word##_##T,                                            \
     HA_SITE "\n" HA_TREE_TEXT_(T, by) HA_TREE_LEVELS_},
static const ha_op_across ha_op_acrosses[] = {
    HA_TREES_OF_int64_t_(HA_ACROSS_ROW_) HA_TREES_OF_uint64_t_(HA_ACROSS_ROW_)
        HA_TREES_OF_double_(HA_ACROSS_ROW_) HA_IF_size_of_c64_(HA_TREES_OF_float_(HA_ACROSS_ROW_))
            HA_IF_ha_c64_(HA_TREES_OF_ha_c64_(HA_ACROSS_ROW_))
                HA_IF_ha_c128_(HA_TREES_OF_ha_c128_(HA_ACROSS_ROW_))};

/* There is one for each tree of numbers of this type. */
HA_IN_ const ha_op_across *ha_op_across_of(ha_dtype type, const ha_op_tree *tree) {
    const ha_op_across *a = ha_op_acrosses;
    while (a->type != type || a->operation != tree->reduction.operation) a++;
    return a;
}

#endif
