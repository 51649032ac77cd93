/* ha_find and ha_compact: what is there in each block of the mask is counted by a lane; the host makes of that where each block
 * begins in the result; and a lane for each block puts its elements there. */
#ifndef HARRAY_IMPL_OPS_FIND_H
#define HARRAY_IMPL_OPS_FIND_H

#include "indices.h"

enum { HA_FIND_BLOCK = 256 }; /* elements of the mask */

/* What a kernel does with a block. */
enum { HA_FIND_COUNT, HA_FIND_PUT, HA_FIND_MOVE };

/* ---- on the host --------------------------------------------------------------------------------- */

HA_IN_ int ha_find_is_row(const ha_kernel_slot_ *slot, int rank) {
    return rank == 1 && ((const ha_kernel_span *)slot->span)->numbers[1] == 1;
}

/* 16 at once: in a block none of these sums is too great for a byte. */
HA_IN_ int64_t ha_find_count(const ha_kernel_slot_ *mask, int rank, int64_t first, int64_t last) {
    const uint8_t *m = (const uint8_t *)mask->pointer;
    int64_t count = 0, n = first;
    if (ha_find_is_row(mask, rank)) {
        uint8_t sum[HA_SUMS_] = {0};
        for (; n + HA_SUMS_ <= last; n += HA_SUMS_)
            for (int l = 0; l < HA_SUMS_; l++) sum[l] = (uint8_t)(sum[l] + (m[n + l] != 0));
        for (int l = 0; l < HA_SUMS_; l++) count += sum[l];
    }
    for (; n < last; n++) count += m[ha_index_place(mask, rank, n)] != 0;
    return count;
}

/* Slots: the result, where each block begins, the mask, how many elements it has, and x. The block has elements [c, end) of
 * the result, and goes on until all are there: so each element is written at the next free place, and stays if it belongs there,
 * without a branch that nobody could foresee. What another thread has put into the mask since it was counted has no place. */
#define HA_FIND_LOOP_(name, T, IN_ROW, OTHERWISE)                                                  \
    HA_IN_ void name(const ha_op_key *key, const ha_kernel_slot_ *slot, int64_t first, int64_t c,  \
                     int64_t end) {                                                                \
        const uint8_t *m = (const uint8_t *)slot[2].pointer;                                       \
        const int64_t step = ((const ha_kernel_span *)slot[0].span)->numbers[1];                   \
        const int rank = key->rank, moves = key->of[1] == HA_FIND_MOVE;                            \
        HA_UNUSED const T *x = moves ? (const T *)slot[4].pointer : NULL;                          \
        T *y = (T *)slot[0].pointer;                                                               \
        if (ha_find_is_row(&slot[2], rank) && (!moves || ha_find_is_row(&slot[4], rank)))          \
            for (int64_t n = first; c < end; n++) {                                                \
                y[c * step] = IN_ROW;                                                              \
                c += m[n] != 0;                                                                    \
            }                                                                                      \
        else                                                                                       \
            for (int64_t n = first; c < end; n++) {                                                \
                y[c * step] = OTHERWISE;                                                           \
                c += m[ha_index_place(&slot[2], rank, n)] != 0;                                    \
            }                                                                                      \
    }
#define HA_FIND_MOVE_(T)                                                                           \
    HA_FIND_LOOP_(ha_find_move_##T, ha_loose_##T, x[n], x[ha_index_place(&slot[4], rank, n)])
HA_FIND_LOOP_(ha_find_put_uint32_t, uint32_t, (uint32_t)n, (uint32_t)n)
HA_FIND_LOOP_(ha_find_put_uint64_t, uint64_t, (uint64_t)n, (uint64_t)n)
HA_FIND_MOVE_(uint8_t)
HA_FIND_MOVE_(uint16_t)
HA_FIND_MOVE_(uint32_t)
HA_FIND_MOVE_(uint64_t)
HA_FIND_MOVE_(ha_c128)

typedef void (*ha_find_loop)(const ha_op_key *key, const ha_kernel_slot_ *slot, int64_t first,
                             int64_t c, int64_t end);
static const ha_find_loop ha_find_moves[] = {ha_find_move_uint8_t, ha_find_move_uint16_t,
                                             ha_find_move_uint32_t, ha_find_move_uint64_t,
                                             ha_find_move_ha_c128};

HA_IN_ ha_find_loop ha_find_loop_of(const ha_op_key *key) {
    if (key->of[1] == HA_FIND_MOVE)
        return ha_find_moves[__builtin_ctzll(ha_dtype_size(key->type->type))];
    return key->of[0] == sizeof(uint32_t) ? ha_find_put_uint32_t : ha_find_put_uint64_t;
}

/* The lanes are blocks. */
HA_IN_ void ha_find_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                          const ha_kernel_slot_ *slot) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    const int counts = key->of[1] == HA_FIND_COUNT;
    int64_t all, *const begin = (int64_t *)slot[counts ? 0 : 1].pointer;
    const int64_t room = counts ? 0 : ((const ha_kernel_span *)slot[0].span)->numbers[0];
    memcpy(&all, slot[counts ? 2 : 3].pointer, sizeof all);
    (void)apart;
    HA_AMONG_THREADS_(
        box, 1, HA_FIND_BLOCK, const ha_region own = HA_SHARE_(box, 0);
        for (ptrdiff_t i = own.first[0]; i < own.last[0]; i++) {
            const int64_t first = i * HA_FIND_BLOCK;
            const int64_t last = all - first > HA_FIND_BLOCK ? first + HA_FIND_BLOCK : all;
            const int64_t count = ha_find_count(&slot[counts ? 1 : 2], key->rank, first, last);
            if (counts)
                begin[i] = count;
            else
                ha_find_loop_of(key)(key, slot, first, begin[i],
                                     HA_LESS(begin[i] + count, last < all ? begin[i + 1] : room));
        })
}

/* ---- as kernels ---------------------------------------------------------------------------------- */

HA_IN_ void ha_find_put_text(ha_text *t, const ha_op_key *key) {
    const int counts = key->of[1] == HA_FIND_COUNT;
    ha_print(t, "{ int64_t c = %s; ", counts ? "0" : "begin[i]");
    if (!counts)
        ha_print(t, "const int64_t end = (i + 1) * %d < all ? begin[i + 1] : y.extent[0]; ",
                 HA_FIND_BLOCK);
    ha_print(t, "for (int64_t n = i * %d; n < (i + 1) * %d && n < all; n++) if (", HA_FIND_BLOCK,
             HA_FIND_BLOCK);
    ha_index_put_place(t, "mask", key->rank);
    ha_print(t, ")%s) { ", counts ? "" : " && c < end");
    if (key->of[1] == HA_FIND_PUT)
        ha_print(t, "HA_AT(y, c) = (%s)n; ", ha_dtype_name(ha_index_bits((size_t)key->of[0])));
    if (key->of[1] == HA_FIND_MOVE) {
        ha_print(t, "HA_AT(y, c) = ");
        ha_index_put_place(t, "x", key->rank);
        ha_print(t, "); ");
    }
    ha_print(t, "c++; } %s}", counts ? "begin[i] = c; " : "");
}

/* of: the bytes of an index, what it does */
HA_IN_ void ha_find_make(ha_op_kernel *k, const ha_op_key *key) {
    static const char *const words[] = {"count", "put", "move"};
    const int what = key->of[1];
    const ha_dtype type = what == HA_FIND_MOVE ? key->type->type
                                               : ha_index_bits((size_t)key->of[0]);
    ha_text t = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "ha_find_%s_%s_%d", words[what], ha_dtype_name(type),
             key->rank);
    if (what != HA_FIND_COUNT) ha_index_add_view(k, HA_KERNEL_OUT_, "y", type, 1);
    ha_index_add_array(k, what == HA_FIND_COUNT ? HA_KERNEL_OUT_ : HA_KERNEL_IN_, "begin",
                       HA_DTYPE_int64_t);
    ha_index_add_view(k, HA_KERNEL_IN_, "mask", HA_DTYPE_uint8_t, key->rank);
    ha_op_add_number(k, "all", HA_DTYPE_int64_t, "int64_t");
    if (what == HA_FIND_MOVE) ha_index_add_view(k, HA_KERNEL_IN_, "x", type, key->rank);
    k->op.kernel.rank = 1;
    k->op.kernel.loops = ha_find_loops;
    ha_find_put_text(&t, key);
}

/* ---- the calls ----------------------------------------------------------------------------------- */

typedef struct ha_finding {
    const char *operation;
    ha_context *context;
    darray y, mask;
    const darray *x; /* NULL: numbers are put */
    ha_op_boxes b;   /* of the mask, and x */
    int64_t all, count;
    ha_array *begin; /* of each block */
} ha_finding;

HA_IN_ ha_named_view ha_find_result(const ha_finding *f) {
    return (ha_named_view){f->x ? "y" : "at", &f->y};
}

HA_IN_ ha_status ha_find_check(const ha_finding *f) {
    const char *operation = f->operation;
    const ha_named_view y = ha_find_result(f), x = {"x", f->x}, mask = {"mask", &f->mask};
    ha_status s = ha_index_check_mask(mask, operation);
    if (!s) s = f->x ? ha_index_check_elements(y, x, operation) : ha_index_check_type(y, operation);
    if (!s) s = ha_index_check_row(y, operation);
    if (s) return s;
    if (f->x && !ha_extents_equal(f->x->rank, f->x->extent, f->mask.rank, f->mask.extent))
        return ha_pair_refuse(x, mask, "the extents are not the same", operation);
    if (ha_view_is_empty(&f->y) || ha_view_is_empty(&f->mask)) return HA_OK;
    s = ha_index_check_apart(y, mask, operation);
    if (!s && f->x) s = ha_index_check_apart(y, x, operation);
    return s ? s : ha_op_check_written(y, operation);
}

HA_IN_ ha_status ha_find_launch(const ha_finding *f, int what) {
    const ha_op_key key = {
        .type = what == HA_FIND_MOVE ? ha_index_moved(f->y.array->element) : NULL,
        .rank = f->b.rank,
        .make = ha_find_make,
        .of = {what == HA_FIND_PUT ? (int)f->y.array->element : (int)sizeof(uint64_t), what}};
    const ha_typed mask = ha_op_typed(&f->b, 0, f->mask.array);
    const ha_typed x = f->x ? ha_op_typed(&f->b, 1, f->x->array) : mask;
    const ha_typed y = ha_index_typed(f->y.array, f->y.offset, 1, &f->count, f->y.stride, 0, NULL,
                                      NULL);
    const void *const given[] = {&y, &f->begin, &mask, &f->all, &x};
    const ha_region box = ha_box1(0, (f->all + HA_FIND_BLOCK - 1) / HA_FIND_BLOCK);
    return ha_index_launch(&key, f->operation, f->context, &box,
                           what == HA_FIND_COUNT ? given + 1 : given);
}

/* Is there room, and can the numbers be told? */
HA_IN_ ha_status ha_find_check_room(const ha_finding *f) {
    if (f->count > f->y.extent[0])
        return ha_named_view_fail(HA_ERR_ARGUMENT, f->operation, ha_find_result(f),
                                  "there is no room for %lld", (long long)f->count);
    if (f->x || f->y.array->element == sizeof(uint64_t) ||
        f->all - 1 <= (f->y.type == HA_DTYPE_int32_t ? INT32_MAX : (int64_t)UINT32_MAX))
        return HA_OK;
    return ha_named_view_fail(HA_ERR_ARGUMENT, f->operation, ha_find_result(f),
                              "the numbers of a mask of %lld elements do not fit its type",
                              (long long)f->all);
}

HA_IN_ ha_status ha_find_blocks(ha_finding *f) {
    const ha_type type = {"int64_t", sizeof(int64_t)};
    ha_index_in_order(&f->b, &f->mask, f->x);
    f->all = darray_size(f->mask);
    const int64_t blocks = (f->all + HA_FIND_BLOCK - 1) / HA_FIND_BLOCK;
    f->begin = ha_array_new(type, (size_t)blocks, f->context);
    if (!f->begin) return ha_status_of_nothing();
    const ha_status s = ha_find_launch(f, HA_FIND_COUNT);
    return s ? s : ha_index_sum(f->begin, blocks, &f->count);
}

HA_IN_ ha_status ha_finding_run(ha_finding *f, ha_dtype type, void *result) {
    _Alignas(16) char count[16];
    ha_status s = ha_find_check(f);
    if (!s) s = ha_op_check_result(f->operation, "the count", type, result);
    if (s) return s;
    if (f->x) f->context = ha_index_mover(&f->y, f->x, f->context);
    if (!ha_view_is_empty(&f->mask)) s = ha_find_blocks(f);
    if (!s && f->count) s = ha_find_check_room(f);
    if (!s)
        s = ha_op_give(f->operation, ha_find_result(f), ha_dvalue_of_int64_t(f->count), type,
                       count);
    if (!s && f->count) s = ha_find_launch(f, f->x ? HA_FIND_MOVE : HA_FIND_PUT);
    if (!s) memcpy(result, count, ha_dtype_size(type));
    const ha_status freed = f->begin ? ha_array_free(f->begin) : HA_OK;
    return s ? s : freed;
}

ha_status ha_find_(darray at, darray mask, ha_dtype type, void *count, ha_context *context,
                   const char *site) {
    ha_finding f = {.operation = "ha_find", .context = context, .y = at, .mask = mask};
    ha_status s = HA_OK;
    HA_FROM(site) s = ha_finding_run(&f, type, count);
    return s;
}

ha_status ha_compact_(darray y, darray x, darray mask, ha_dtype type, void *count,
                      ha_context *context, const char *site) {
    ha_finding f = {.operation = "ha_compact", .context = context, .y = y, .mask = mask, .x = &x};
    ha_status s = HA_OK;
    HA_FROM(site) s = ha_finding_run(&f, type, count);
    return s;
}

#endif
