/* Sorting on the host: what kernels are given; one pass of a sort by digits; and a few elements, by comparing all of them. */
#ifndef HARRAY_IMPL_OPS_SORT_LOOPS_H
#define HARRAY_IMPL_OPS_SORT_LOOPS_H

#include "sort_walks.h"

enum { HA_SORT_FEW = 64 }; /* so few are compared */

/* What is sorted: elements; the numbers that they have; elements, and values that belong to them. */
enum { HA_SORT_ELEMENTS, HA_SORT_NUMBERS, HA_SORT_VALUES };

/* ---- what kernels are given ---------------------------------------------------------------------- */

/* of: whether the order is descending; what is done, and 16 times the bytes of what goes along. */
HA_IN_ int ha_sort_what(const ha_op_key *key) { return key->of[1] % 16; }
HA_IN_ size_t ha_sort_number_bytes(const ha_op_key *key) { return (size_t)(key->of[1] / 16); }
HA_IN_ ha_sort_form ha_sort_form_by(const ha_op_key *key) {
    return ha_sort_form_of(key->type->type, key->of[0] % 2);
}
HA_IN_ int64_t ha_sort_step(const ha_kernel_slot_ *slot) {
    return ((const ha_kernel_span *)slot->span)->numbers[1];
}
HA_IN_ int64_t ha_sort_value(const ha_kernel_slot_ *slot) {
    int64_t value;
    memcpy(&value, slot->pointer, sizeof value);
    return value;
}

HA_IN_ uint64_t ha_sort_read(const void *x, size_t bytes, int64_t at) {
    switch (bytes) {
    case 1:
        return ((const uint8_t *)x)[at];
    case 2:
        return ((const uint16_t *)x)[at];
    case 4:
        return ((const uint32_t *)x)[at];
    default:
        return ((const uint64_t *)x)[at];
    }
}

HA_IN_ void ha_sort_write(void *x, size_t bytes, int64_t at, uint64_t bits) {
    switch (bytes) {
    case 1:
        ((uint8_t *)x)[at] = (uint8_t)bits;
        break;
    case 2:
        ((uint16_t *)x)[at] = (uint16_t)bits;
        break;
    case 4:
        ((uint32_t *)x)[at] = (uint32_t)bits;
        break;
    default:
        ((uint64_t *)x)[at] = bits;
    }
}

/* ---- one pass ------------------------------------------------------------------------------------ */

typedef void (*ha_sort_put)(const ha_sort_pass *pass);

#define HA_SORT_TO_(U, kind, e) begin[(uint32_t)(HA_SORT_##kind##_KEY_(U, e) >> shift) & mask]++
#define HA_SORT_ONE_(U, kind, e) y[HA_SORT_TO_(U, kind, e)] = HA_SORT_##kind##_KEPT_(U, e);

/* Four are read before the first is put: a compiler does not know that they are elsewhere. */
#define HA_SORT_ALONE_(U, kind)                                                                    \
    for (; i + 4 <= n; i += 4) {                                                                   \
        const U a = x[i], b = x[i + 1], c = x[i + 2], d = x[i + 3];                                \
        HA_SORT_ONE_(U, kind, a)                                                                   \
        HA_SORT_ONE_(U, kind, b)                                                                   \
        HA_SORT_ONE_(U, kind, c)                                                                   \
        HA_SORT_ONE_(U, kind, d)                                                                   \
    }                                                                                              \
    for (; i < n; i++) HA_SORT_ONE_(U, kind, x[i])
#define HA_SORT_ALONG_(U, P, kind, KEEP, carried)                                                  \
    for (; i < n; i++) {                                                                           \
        const U e = x[i];                                                                          \
        const uint32_t to = HA_SORT_TO_(U, kind, e);                                               \
        KEEP(y[to] = HA_SORT_##kind##_KEPT_(U, e);)                                                \
        q[to] = carried;                                                                           \
    }
#define HA_SORT_KEEP_(statement) statement
#define HA_SORT_LEAVE_(statement)
#define HA_SORT_CARRY_(U, P, kind)                                                                 \
    const P *p = (const P *)pass->from.carried;                                                    \
    P *q = (P *)pass->to.carried;                                                                  \
    if (!p)                                                                                        \
        HA_SORT_ALONG_(U, P, kind, HA_SORT_KEEP_, (P)i)                                            \
    else if (y)                                                                                    \
        HA_SORT_ALONG_(U, P, kind, HA_SORT_KEEP_, p[i])                                            \
    else                                                                                           \
        HA_SORT_ALONG_(U, P, kind, HA_SORT_LEAVE_, p[i])

#define HA_SORT_PUT_(U, kind)                                                                      \
    __attribute__((aligned(64))) HA_IN_ void ha_sort_put_##kind##_##U(const ha_sort_pass *pass) {  \
        const U *x = (const U *)pass->from.keys;                                                   \
        U *y = (U *)pass->to.keys;                                                                 \
        const int64_t n = pass->n;                                                                 \
        uint32_t *begin = pass->begin;                                                             \
        const int shift = pass->shift;                                                             \
        const uint32_t mask = ((uint32_t)1 << pass->bits) - 1;                                     \
        HA_UNUSED const ha_sort_form f = pass->form;                                               \
        int64_t i = 0;                                                                             \
        if (!pass->to.carried) {                                                                   \
            HA_SORT_ALONE_(U, kind)                                                                \
        } else if (pass->wide) {                                                                   \
            HA_SORT_CARRY_(U, uint64_t, kind)                                                      \
        } else {                                                                                   \
            HA_SORT_CARRY_(U, uint32_t, kind)                                                      \
        }                                                                                          \
    }
HA_SORT_PUT_(uint8_t, PLAIN)
HA_SORT_PUT_(uint16_t, PLAIN)
HA_SORT_PUT_(uint16_t, WHOLE)
HA_SORT_PUT_(uint32_t, PLAIN)
HA_SORT_PUT_(uint32_t, FOLD)
HA_SORT_PUT_(uint32_t, UNFOLD)
HA_SORT_PUT_(uint32_t, WHOLE)
HA_SORT_PUT_(uint64_t, PLAIN)
HA_SORT_PUT_(uint64_t, FOLD)
HA_SORT_PUT_(uint64_t, UNFOLD)
HA_SORT_PUT_(uint64_t, WHOLE)

/* By the bytes of an element, as a power of two. */
static const ha_sort_put ha_sort_puts[4][HA_SORT_KINDS] = {
    {ha_sort_put_PLAIN_uint8_t},
    {ha_sort_put_PLAIN_uint16_t, NULL, NULL, ha_sort_put_WHOLE_uint16_t},
    {ha_sort_put_PLAIN_uint32_t, ha_sort_put_FOLD_uint32_t, ha_sort_put_UNFOLD_uint32_t,
     ha_sort_put_WHOLE_uint32_t},
    {ha_sort_put_PLAIN_uint64_t, ha_sort_put_FOLD_uint64_t, ha_sort_put_UNFOLD_uint64_t,
     ha_sort_put_WHOLE_uint64_t}};

/* ---- a few --------------------------------------------------------------------------------------- */

typedef struct ha_sort_job {
    int what, is_real;
    size_t bytes, carried; /* of an element, of what goes along with it */
    ha_sort_form form;
    int64_t n;
    void *x, *q; /* elements; where their numbers are to be, or the values that belong to them */
    int64_t x_step, q_step;
} ha_sort_job;

/* Of each pair of elements, the later one may come before the other. */
HA_IN_ void ha_sort_few(const ha_sort_job *j) {
    uint64_t element[HA_SORT_FEW], carried[HA_SORT_FEW], key[HA_SORT_FEW];
    int64_t place[HA_SORT_FEW];
    for (int64_t i = 0; i < j->n; i++) {
        element[i] = ha_sort_read(j->x, j->bytes, i * j->x_step);
        carried[i] = (uint64_t)i;
        if (j->what == HA_SORT_VALUES) carried[i] = ha_sort_read(j->q, j->carried, i * j->q_step);
        key[i] = ha_sort_key(element[i], &j->form);
        place[i] = i;
        for (int64_t k = 0; k < i; k++) {
            const int64_t before = key[i] < key[k];
            place[i] -= before;
            place[k] += before;
        }
    }
    for (int64_t i = 0; i < j->n; i++) {
        if (j->what != HA_SORT_NUMBERS)
            ha_sort_write(j->x, j->bytes, place[i] * j->x_step, element[i]);
        if (j->carried) ha_sort_write(j->q, j->carried, place[i] * j->q_step, carried[i]);
    }
}

#endif
