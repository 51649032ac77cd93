/* ha_gather: y[i…, r…] = x[at[i…], r…]. Its lanes are the elements of y; of x a lane sees a view with the indexed dimension
 * in front of those of y, which has no steps where y goes on in `at`. */
#ifndef HARRAY_IMPL_OPS_GATHER_H
#define HARRAY_IMPL_OPS_GATHER_H

#include "indices.h"

/* ---- on the host --------------------------------------------------------------------------------- */

/* A row of y, of[0], of x at index 0, of[1], and of indices, of[2]; at_step is from one index of x to the next one. */
#define HA_ROW_OF_GATHER_(T, U)                                                                    \
    HA_IN_ void ha_row_gather_##T##_##U(const ha_op_row *row) {                                    \
        const int64_t n = row->n, dy = row->step[0], dx = row->step[1], da = row->step[2];         \
        const int64_t to = row->at_step;                                                           \
        const ha_loose_##T *x = (const ha_loose_##T *)row->of[1];                                  \
        const U *at = (const U *)row->of[2];                                                       \
        ha_loose_##T *y = (ha_loose_##T *)row->of[0];                                              \
        if (dy == 1 && da == 1 && dx == 0 && to == 1)                                              \
            HA_LANES_LOOP_ for (int64_t i = 0; i < n; i++) y[i] = x[at[i]];                        \
        else if (da == 0 && dx == 1 && dy == 1)                                                    \
            memcpy(y, x + (int64_t)*at * to, (size_t)n * sizeof *y);                               \
        else                                                                                       \
            for (int64_t i = 0; i < n; i++) y[i * dy] = x[(int64_t)at[i * da] * to + i * dx];      \
    }
#define HA_ROWS_OF_GATHER_(T)                                                                      \
    HA_ROW_OF_GATHER_(T, uint32_t)                                                                 \
    HA_ROW_OF_GATHER_(T, uint64_t)
HA_ROWS_OF_GATHER_(uint8_t)
HA_ROWS_OF_GATHER_(uint16_t)
HA_ROWS_OF_GATHER_(uint32_t)
HA_ROWS_OF_GATHER_(uint64_t)
HA_ROWS_OF_GATHER_(ha_c128)

/* By the bytes of an element, 1 << n, and of an index. */
#define HA_GATHER_OF_(T)                                                                           \
    { ha_row_gather_##T##_uint32_t, ha_row_gather_##T##_uint64_t }
static const ha_op_rows ha_gather_rows[][2] = {HA_GATHER_OF_(uint8_t), HA_GATHER_OF_(uint16_t),
                                               HA_GATHER_OF_(uint32_t), HA_GATHER_OF_(uint64_t),
                                               HA_GATHER_OF_(ha_c128)};

/* Slots: y, x with one dimension more, at. */
HA_IN_ void ha_gather_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                            const ha_kernel_slot_ *slot) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    const int rank = key->rank;
    const size_t bytes = ha_dtype_size(key->type->type);
    ha_op_walk w = {.key = key,
                    .rows = ha_gather_rows[__builtin_ctzll(bytes)][key->of[0] == sizeof(uint64_t)],
                    .arrays = 3,
                    .rank = rank};
    ha_op_row row = {.n = 0};
    (void)apart;
    for (int k = 0; k < 3; k++) {
        const int own = rank + (k == 1);
        const int64_t *stride = ((const ha_kernel_span *)slot[k].span)->numbers + own;
        if (k == 1) row.at_step = *stride++;
        for (int d = 0; d < rank; d++)
            w.stride[k][d] = stride[d] * (k == 2 ? key->of[0] : (int64_t)bytes);
        row.of[k] = slot[k].pointer;
        row.step[k] = stride[rank - 1];
    }
    memcpy(w.extent, ((const ha_kernel_span *)slot[0].span)->numbers,
           (size_t)rank * sizeof *w.extent);
    ha_op_run_walk(&w, row, box);
}

/* ---- as a kernel --------------------------------------------------------------------------------- */

HA_IN_ void ha_gather_put_numbers(ha_text *t, int rank) {
    ha_print(t, "{ y.data[ha_strided_place_(y.extent, y.stride, %d, i)] = ", rank);
    ha_print(t, "x.data[(int64_t)at.data[ha_strided_place_(y.extent, at.stride, %d, i)] * ", rank);
    ha_print(t, "x.stride[0] + ha_strided_place_(y.extent, x.stride + 1, %d, i)]; }", rank);
}

/* of: the bytes of an index */
HA_IN_ void ha_gather_make(ha_op_kernel *k, const ha_op_key *key) {
    const int by_number = ha_op_by_number(key);
    const char *lanes = by_number ? NULL : ha_op_indices[key->rank] + 1;
    const ha_dtype bits = ha_index_bits((size_t)key->of[0]), type = key->type->type;
    ha_text t = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "ha_gather_%s_%s_%d", key->type->element, ha_dtype_name(bits),
             key->rank);
    ha_index_add_view(k, HA_KERNEL_OUT_, "y", type, key->rank);
    ha_index_add_view(k, HA_KERNEL_IN_, "x", type, key->rank + 1);
    ha_index_add_view(k, HA_KERNEL_IN_, "at", bits, key->rank);
    k->op.kernel.loops = ha_gather_loops;
    if (by_number) {
        ha_op_add_parameter(k, HA_KERNEL_USES_, "ha_strided_place", ha_uses_ha_strided_place);
        ha_gather_put_numbers(&t, key->rank);
        return;
    }
    ha_print(&t, "{ HA_AT(y, %s = HA_AT(x, (int64_t)HA_AT(at, %s, %s; }", lanes, lanes, lanes);
}

/* ---- the call ------------------------------------------------------------------------------------ */

HA_IN_ ha_status ha_gather_check(const darray *y, const darray *x, const darray *at) {
    ha_status s = ha_index_check_elements(HA_ARGUMENT_(y), HA_ARGUMENT_(x), "ha_gather");
    if (!s) s = ha_index_check_type(HA_ARGUMENT_(at), "ha_gather");
    if (!s)
        s = ha_index_check_extents(HA_ARGUMENT_(y), HA_ARGUMENT_(at), HA_ARGUMENT_(x), "ha_gather");
    if (s || ha_view_is_empty(y)) return s;
    s = ha_op_check_written(HA_ARGUMENT_(y), "ha_gather");
    if (!s) s = ha_index_check_apart(HA_ARGUMENT_(y), HA_ARGUMENT_(at), "ha_gather");
    return s || ha_view_is_empty(x)
               ? s
               : ha_index_check_apart(HA_ARGUMENT_(y), HA_ARGUMENT_(x), "ha_gather");
}

/* As views with the extents of y. */
HA_IN_ void ha_gather_boxes(ha_op_boxes *b, const darray *y, const darray *x, const darray *at) {
    darray of_x = *y, of_at = *y;
    const darray *const views[] = {y, &of_x, &of_at};
    of_x.offset = x->offset;
    of_at.offset = at->offset;
    for (int d = 0; d < y->rank; d++) {
        of_x.stride[d] = d < at->rank ? 0 : x->stride[d - at->rank + 1];
        of_at.stride[d] = d < at->rank ? at->stride[d] : 0;
    }
    ha_op_boxes_of(b, views, 3, 0);
}

HA_IN_ ha_status ha_gather_run(const darray *y, const darray *x, const darray *at,
                               ha_context *context) {
    ha_status s = ha_gather_check(y, x, at);
    if (s || ha_view_is_empty(y)) return s;
    context = ha_index_mover(y, x, context);
    ha_op_boxes b;
    ha_gather_boxes(&b, y, x, at);
    s = ha_index_check_rank(HA_ARGUMENT_(y), b.rank, HA_MOST_RANK - 1, "ha_gather");
    if (!s) s = ha_index_check(HA_ARGUMENT_(at), x->extent[0], "ha_gather", context);
    if (s) return s;
    const ha_op_key key = {.type = ha_index_moved(y->array->element),
                           .rank = b.rank,
                           .make = ha_gather_make,
                           .of = {(int)ha_dtype_size(at->type), 0}};
    const ha_typed of_y = ha_op_typed(&b, 0, y->array), of_at = ha_op_typed(&b, 2, at->array);
    ha_typed of_x = ha_index_typed(x->array, b.of[1].offset, 1, x->extent, x->stride, b.rank,
                                   b.extent, b.of[1].stride);
    /* Without steps the product of all extents may be too great; an extent of 1 would say that there is but one index. */
    for (int d = 0; d < b.rank; d++)
        if (!b.of[1].stride[d] && b.extent[d] > 2) of_x.numbers[1 + d] = 2;
    const void *const given[] = {&of_y, &of_x, &of_at, NULL}; /* what it uses */
    ha_region box = {{0}, {0}};
    if (ha_op_by_number(&key))
        box.last[0] = ha_op_elements(&b);
    else
        for (int d = 0; d < b.rank; d++) box.last[d] = b.extent[d];
    return ha_index_launch(&key, "ha_gather", context, &box, given);
}

ha_status ha_gather_(darray y, darray x, darray at, ha_context *context, const char *site) {
    ha_status s = HA_OK;
    HA_FROM(site) s = ha_gather_run(&y, &x, &at, context);
    return s;
}

#endif
