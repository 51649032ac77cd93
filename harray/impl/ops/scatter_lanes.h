/* ha_scatter where the elements of y behind its first dimension are lanes: each one goes over all of `at`, in the order of the
 * indices. */
#ifndef HARRAY_IMPL_OPS_SCATTER_LANES_H
#define HARRAY_IMPL_OPS_SCATTER_LANES_H

#include "gather.h"

/* ---- on the host --------------------------------------------------------------------------------- */

/* What goes over all indices: a row of elements for each of them. */
typedef struct ha_scatter_walk {
    const ha_op_key *key;
    const ha_kernel_slot_ *slot; /* y, at, x */
    int64_t all, to;             /* indices; elements of y from one to the next one */
    ha_op_row row;               /* of y, y, and x, at the first index */
} ha_scatter_walk;

/* Elements one by one, in one dimension: of type T, at places for E. */
#define HA_SCATTER_LOOP_(word, T, E, U, ...)                                                       \
    HA_IN_ void ha_scatter_##word##_##T##_##U(const ha_scatter_walk *w) {                          \
        const int64_t to = w->to, da = ((const ha_kernel_span *)w->slot[1].span)->numbers[1],      \
                      dx = ((const ha_kernel_span *)w->slot[2].span)->numbers[1];                  \
        const U *at = (const U *)w->slot[1].pointer;                                               \
        const int64_t all = w->all;                                                                \
        const E *x = (const E *)w->row.of[2];                                                      \
        E *y = (E *)w->row.of[0];                                                                  \
        for (int64_t i = 0; i < all; i++) {                                                        \
            E *const z = y + (int64_t)at[i * da] * to;                                             \
            const E v = x[i * dx];                                                                 \
            *z = __VA_ARGS__;                                                                      \
        }                                                                                          \
    }
#define HA_SCATTER_LOOPS_(word, T, E, ...)                                                         \
    HA_SCATTER_LOOP_(word, T, E, uint32_t, __VA_ARGS__)                                            \
    HA_SCATTER_LOOP_(word, T, E, uint64_t, __VA_ARGS__)
HA_SCATTER_LOOPS_(assign, uint8_t, ha_loose_uint8_t, v)
HA_SCATTER_LOOPS_(assign, uint16_t, ha_loose_uint16_t, v)
HA_SCATTER_LOOPS_(assign, uint32_t, ha_loose_uint32_t, v)
HA_SCATTER_LOOPS_(assign, uint64_t, ha_loose_uint64_t, v)
HA_SCATTER_LOOPS_(assign, ha_c128, ha_loose_ha_c128, v)
HA_SCATTER_LOOPS_(add, uint32_t, uint32_t, *z + v)
HA_SCATTER_LOOPS_(add, uint64_t, uint64_t, *z + v)
HA_SCATTER_LOOPS_(add, float, float, *z + v)
HA_SCATTER_LOOPS_(add, double, double, *z + v)

#define HA_SCATTER_OF_(word, T)                                                                    \
    { ha_scatter_##word##_##T##_uint32_t, ha_scatter_##word##_##T##_uint64_t }
typedef void (*ha_scatter_loop)(const ha_scatter_walk *w);
static const ha_scatter_loop ha_scatter_moves[][2] = {
    HA_SCATTER_OF_(assign, uint8_t), HA_SCATTER_OF_(assign, uint16_t),
    HA_SCATTER_OF_(assign, uint32_t), HA_SCATTER_OF_(assign, uint64_t),
    HA_SCATTER_OF_(assign, ha_c128)};
static const ha_scatter_loop ha_scatter_adds[][2] = {
    HA_SCATTER_OF_(add, uint32_t), HA_SCATTER_OF_(add, uint64_t), HA_SCATTER_OF_(add, float),
    HA_SCATTER_OF_(add, double)};

/* NULL: there is none. Sums of integers have the same bits with and without a sign. */
HA_IN_ ha_scatter_loop ha_scatter_loop_of(const ha_op_key *key) {
    const int wide = key->of[0] == sizeof(uint64_t);
    const size_t bytes = ha_dtype_size(key->type->type);
    if (key->of[1] == HA_ASSIGN) return ha_scatter_moves[__builtin_ctzll(bytes)][wide];
    if (key->of[1] != HA_ADD) return NULL;
    switch (key->type->type) {
    case HA_DTYPE_int32_t:
    case HA_DTYPE_uint32_t:
        return ha_scatter_adds[0][wide];
    case HA_DTYPE_int64_t:
    case HA_DTYPE_uint64_t:
        return ha_scatter_adds[1][wide];
    case HA_DTYPE_float:
        return ha_scatter_adds[2][wide];
    case HA_DTYPE_double:
        return ha_scatter_adds[3][wide];
    default:
        return NULL;
    }
}

HA_IN_ void ha_scatter_move(const ha_op_row *row, size_t bytes) {
    const int64_t n = (int64_t)bytes;
    if (row->step[0] == 1 && row->step[2] == 1)
        memcpy(row->of[0], row->of[2], (size_t)row->n * bytes);
    else
        for (int64_t i = 0; i < row->n; i++)
            ha_copy_number((char *)row->of[0] + i * row->step[0] * n,
                           (const char *)row->of[2] + i * row->step[2] * n, bytes);
}

/* Rows of several elements, or of an operation without a loop of its own. */
HA_IN_ void ha_scatter_rows(const ha_scatter_walk *w) {
    const size_t bytes = ha_dtype_size(w->key->type->type);
    const int rank = w->key->rank % HA_INDEX_RANK;
    const ha_op_walk walk = {.key = w->key, .rows = w->key->line->rows};
    for (int64_t n = 0; n < w->all; n++) {
        const int64_t target = ha_index_at(&w->slot[1], rank, w->key->of[0], n);
        ha_op_row row = w->row;
        row.of[0] = row.of[1] = (char *)row.of[0] + target * w->to * (int64_t)bytes;
        row.of[2] = (char *)row.of[2] + ha_index_place(&w->slot[2], rank, n) * (int64_t)bytes;
        if (w->key->of[1] == HA_ASSIGN)
            ha_scatter_move(&row, bytes);
        else
            ha_op_run_row(&walk, &row);
    }
}

/* The elements of a box behind the first dimension of y, row by row. */
HA_IN_ void ha_scatter_box(const ha_kernel *kernel, const ha_kernel_slot_ *slot,
                           const ha_region box) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    const int rank = key->rank % HA_INDEX_RANK, rest = key->rank / HA_INDEX_RANK;
    const int64_t *y = ((const ha_kernel_span *)slot[0].span)->numbers + 1 + rest;
    const int64_t *x = ((const ha_kernel_span *)slot[2].span)->numbers + rank + rest + rank;
    const int64_t bytes = (int64_t)ha_dtype_size(key->type->type);
    ha_kernel_slot_ own[3] = {slot[0], slot[1], slot[2]};
    ha_kernel_span of_x; /* only the dimensions of `at` */
    ha_scatter_walk w = {.key = key, .slot = own, .to = y[0]};
    ha_region at = box;
    int64_t rows = 1;
    memcpy(of_x.numbers, ((const ha_kernel_span *)slot[1].span)->numbers, (size_t)rank * sizeof *x);
    memcpy(of_x.numbers + rank, x - rank, (size_t)rank * sizeof *x);
    own[2].span = &of_x;
    memcpy(&w.all, slot[3].pointer, sizeof w.all);
    w.row.n = box.last[rest - 1] - box.first[rest - 1];
    w.row.step[0] = w.row.step[1] = y[rest];
    w.row.step[2] = x[rest - 1];
    const ha_scatter_loop loop = w.row.n == 1 && rank == 1 ? ha_scatter_loop_of(key) : NULL;
    for (int d = 0; d < rest - 1; d++) rows *= box.last[d] - box.first[d];
    for (; rows > 0; rows--) {
        int64_t in_y = 0, in_x = 0;
        for (int d = 0; d < rest; d++) {
            in_y += at.first[d] * y[1 + d];
            in_x += at.first[d] * x[d];
        }
        w.row.of[0] = (char *)slot[0].pointer + in_y * bytes;
        w.row.of[2] = (char *)slot[2].pointer + in_x * bytes;
        if (loop)
            loop(&w);
        else
            ha_scatter_rows(&w);
        for (int d = rest - 1; d-- > 0;) {
            if (++at.first[d] < at.last[d]) break;
            at.first[d] = box.first[d];
        }
    }
}

HA_IN_ void ha_scatter_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                             const ha_kernel_slot_ *slot) {
    int64_t each;
    memcpy(&each, slot[3].pointer, sizeof each);
    (void)apart;
    HA_AMONG_THREADS_(box, kernel->rank, (double)each, const ha_region own = HA_SHARE_(box, 0);
                      if (own.first[0] < own.last[0]) ha_scatter_box(kernel, slot, own);)
}

/* ---- as a kernel --------------------------------------------------------------------------------- */

HA_IN_ void ha_scatter_put_variable(ha_text *t, const ha_op_key *key, const char *variable) {
    ha_print(t, "const %s %s = ", key->type->computed, variable);
    if (ha_op_is_as_float(key)) ha_print(t, "ha_%s_to_float(", key->type->element);
}

/* y[to, lanes] is joined with the n-th element of x. */
HA_IN_ void ha_scatter_put_join(ha_text *t, const ha_op_key *key, const char *lanes) {
    const int rank = key->rank % HA_INDEX_RANK, assigns = key->of[1] == HA_ASSIGN;
    const int as_float = !assigns && ha_op_is_as_float(key);
    if (!assigns) {
        ha_scatter_put_variable(t, key, "u");
        ha_print(t, "HA_AT(y, to, %s%s; ", lanes, as_float ? ")" : "");
        ha_scatter_put_variable(t, key, "v");
        ha_index_put_place(t, "x", rank);
        ha_print(t, ", %s%s; ", lanes, as_float ? ")" : "");
    }
    ha_print(t, "HA_AT(y, to, %s = ", lanes);
    if (assigns) {
        ha_index_put_place(t, "x", rank);
        ha_print(t, ", %s", lanes);
    } else if (as_float)
        ha_print(t, "ha_%s_of_float(%s)", key->type->element, key->line->text);
    else
        ha_print(t, "%s", key->line->text);
    ha_print(t, "; ");
}

HA_IN_ void ha_scatter_put_text(ha_text *t, const ha_op_key *key) {
    const int rank = key->rank % HA_INDEX_RANK, rest = key->rank / HA_INDEX_RANK;
    ha_print(t, "{ for (int64_t n = 0; n < all; n++) { const int64_t to = (int64_t)");
    ha_index_put_place(t, "at", rank);
    ha_print(t, "); ");
    ha_scatter_put_join(t, key, ha_op_indices[rest] + 1);
    ha_print(t, "} }");
}

/* rank: of the indices, and HA_INDEX_RANK times that of the rest. of: the bytes of an index, the operation */
HA_IN_ void ha_scatter_make(ha_op_kernel *k, const ha_op_key *key) {
    const int rank = key->rank % HA_INDEX_RANK, rest = key->rank / HA_INDEX_RANK;
    const ha_dtype bits = ha_index_bits((size_t)key->of[0]), type = key->type->type;
    ha_text t = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "ha_scatter_%s_%s_%s_%d_%d", key->line->word,
             key->type->element, ha_dtype_name(bits), rank, rest);
    ha_index_add_view(k, HA_KERNEL_INOUT_, "y", type, 1 + rest)->updates = key->of[1] != HA_ASSIGN;
    ha_index_add_view(k, HA_KERNEL_IN_, "at", bits, rank);
    ha_index_add_view(k, HA_KERNEL_IN_, "x", type, rank + rest);
    ha_op_add_number(k, "all", HA_DTYPE_int64_t, "int64_t");
    k->op.kernel.rank = rest;
    k->op.kernel.loops = ha_scatter_loops;
    ha_scatter_put_text(&t, key);
}

#endif
