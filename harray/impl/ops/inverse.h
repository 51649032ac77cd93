/* ha_inverse: y[permutation[i]] = i. Each place is written into an array of its own; if one place is there that is not its own
 * number's any more, a number has been there twice. */
#ifndef HARRAY_IMPL_OPS_INVERSE_H
#define HARRAY_IMPL_OPS_INVERSE_H

#include "indices.h"

/* What a kernel does. */
enum { HA_INVERSE_PUT, HA_INVERSE_CHECK };

/* ---- on the host --------------------------------------------------------------------------------- */

/* Where numbers are there twice, threads may write the same place. */
HA_IN_ void ha_inverse_put(const ha_op_key *key, const ha_kernel_slot_ *slot, ha_region own) {
    for (ptrdiff_t i = own.first[0]; i < own.last[0]; i++) {
        const int64_t to = ha_index_at(&slot[1], 1, key->of[0] % 16, i);
        if (key->of[0] / 16 == sizeof(uint32_t))
            __atomic_store_n((uint32_t *)slot[0].pointer + to, (uint32_t)i, __ATOMIC_RELAXED);
        else
            __atomic_store_n((uint64_t *)slot[0].pointer + to, (uint64_t)i, __ATOMIC_RELAXED);
    }
}

/* Slots: the places, the permutation. */
HA_IN_ void ha_inverse_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                             const ha_kernel_slot_ *slot) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    (void)apart;
    HA_AMONG_THREADS_(box, 1, 1, ha_inverse_put(key, slot, HA_SHARE_(box, 0));)
}

HA_IN_ int64_t ha_inverse_first(const ha_op_key *key, const ha_kernel_slot_ *slot, int64_t first,
                                int64_t last) {
    for (int64_t i = first; i < last; i++) {
        const int64_t at = ha_index_at(&slot[1], 1, key->of[0] % 16, i);
        const int64_t place = key->of[0] / 16 == sizeof(uint32_t)
                                  ? (int64_t)((const uint32_t *)slot[0].pointer)[at]
                                  : (int64_t)((const uint64_t *)slot[0].pointer)[at];
        if (place != i) return i;
    }
    return INT64_MAX;
}

HA_IN_ void ha_inverse_parts(const ha_kernel *kernel, const ha_region *box, int64_t first,
                             int64_t last, int apart, const ha_kernel_slot_ *slot, void *partials) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    const ha_region all = {{0}, {(last - first + HA_PART_LANES_ - 1) / HA_PART_LANES_}};
    (void)box, (void)apart;
    HA_AMONG_THREADS_(
        &all, 1, HA_PART_LANES_, const ha_region own = HA_SHARE_(&all, 0);
        for (ptrdiff_t p = own.first[0]; p < own.last[0]; p++) {
            const int64_t from = first + p * HA_PART_LANES_, to = from + HA_PART_LANES_;
            ((int64_t *)partials)[p] = ha_inverse_first(key, slot, from, to < last ? to : last);
        })
}
static const ha_reduction_ ha_inverse_first_wrong = HA_FIRST_PLACE_(ha_inverse_parts);

/* ---- as kernels ---------------------------------------------------------------------------------- */

/* of: the bytes of a number of the permutation and 16 times those of a place, what it does */
HA_IN_ void ha_inverse_make(ha_op_kernel *k, const ha_op_key *key) {
    const ha_dtype bits = ha_index_bits((size_t)(key->of[0] % 16)),
                   places = ha_index_bits((size_t)(key->of[0] / 16));
    const int puts = key->of[1] == HA_INVERSE_PUT;
    ha_text t = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "ha_inverse_%s_%s_%s", puts ? "put" : "check",
             ha_dtype_name(places), ha_dtype_name(bits));
    ha_index_add_array(k, puts ? HA_KERNEL_OUT_ : HA_KERNEL_IN_, "place", places);
    ha_index_add_view(k, HA_KERNEL_IN_, "at", bits, 1);
    if (puts) {
        k->op.kernel.rank = 1;
        k->op.kernel.loops = ha_inverse_loops;
        ha_print(&t, "{ place[HA_AT(at, i)] = (%s)i; }", ha_dtype_name(places));
    } else {
        ha_index_reduces(k, &ha_inverse_first_wrong);
        ha_print(&t, "{ return place[HA_AT(at, i)] == (%s)i ? 9223372036854775807 : i; }",
                 ha_dtype_name(places));
    }
}

/* ---- the call ------------------------------------------------------------------------------------ */

/* The first number that has been there before. */
HA_IN_ ha_status ha_inverse_tell(const darray *p, const int64_t *number, int64_t n) {
    int64_t *before = (int64_t *)HARRAY_MALLOC((size_t)n * sizeof *before);
    int64_t i = 0;
    if (!before) return ha_fail(HA_ERR_MEMORY, "ha_inverse", "no memory to tell what is wrong");
    memset(before, 0, (size_t)n * sizeof *before);
    for (; i < n && !before[number[i]]; i++) before[number[i]] = i + 1;
    const ha_status s = ha_named_view_fail(
        HA_ERR_ARGUMENT, "ha_inverse", (ha_named_view){"permutation", p},
        "no permutation: %lld is at (%lld) and at (%lld)", (long long)number[i],
        (long long)(p->origin[0] + before[number[i]] - 1), (long long)(p->origin[0] + i));
    HARRAY_FREE(before);
    return s;
}

static ha_status ha_inverse_refuse(const darray *p) {
    const darray numbers = darray_convert_(*p, HA_DTYPE_int64_t, ha_host(), NULL);
    ha_access a;
    if (!numbers.array) return HA_ERR_MEMORY;
    ha_status s = ha_open_(&a, numbers.array, ha_host(), HA_READ, 0, HA_END, "the permutation");
    if (!s) {
        s = ha_inverse_tell(p, (const int64_t *)a.data, p->extent[0]);
        (void)ha_close(&a);
    }
    (void)ha_array_free(numbers.array);
    return s;
}

HA_IN_ ha_status ha_inverse_check(const darray *y, const darray *p) {
    const ha_named_view places = {"y", y}, numbers = {"permutation", p};
    ha_status s = ha_index_check_type(places, "ha_inverse");
    if (!s) s = ha_index_check_type(numbers, "ha_inverse");
    if (!s) s = ha_index_check_row(places, "ha_inverse");
    if (!s) s = ha_index_check_row(numbers, "ha_inverse");
    if (s) return s;
    if (y->extent[0] != p->extent[0])
        return ha_pair_refuse(places, numbers, "the extents are not the same", "ha_inverse");
    if (ha_view_is_empty(y)) return HA_OK;
    if (y->array->element == sizeof(uint32_t) &&
        y->extent[0] - 1 > (y->type == HA_DTYPE_int32_t ? INT32_MAX : (int64_t)UINT32_MAX))
        return ha_named_view_fail(HA_ERR_ARGUMENT, "ha_inverse", places,
                                  "its places do not fit its type");
    s = ha_op_check_written(places, "ha_inverse");
    return s ? s : ha_index_check_apart(places, numbers, "ha_inverse");
}

/* Where each number is; and whether all are. */
HA_IN_ ha_status ha_inverse_places(const darray *places, const darray *p, ha_context *context) {
    ha_op_key key = {
        .rank = 1,
        .make = ha_inverse_make,
        .of = {(int)p->array->element + 16 * (int)places->array->element, HA_INVERSE_PUT}};
    _Alignas(16) int64_t first[2] = {INT64_MAX, 0};
    const ha_kernel_result_ into = {NULL, 0, first};
    const ha_typed of_p = ha_index_typed(p->array, p->offset, 1, p->extent, p->stride, 0, NULL,
                                         NULL);
    const void *const given[] = {&places->array, &of_p, &into};
    const ha_region box = ha_box1(0, p->extent[0]);
    ha_status s = ha_index_launch(&key, "ha_inverse", context, &box, given);
    key.of[1] = HA_INVERSE_CHECK;
    if (!s) s = ha_index_launch(&key, "ha_inverse", context, &box, given);
    return s || first[0] == INT64_MAX ? s : ha_inverse_refuse(p);
}

HA_IN_ ha_status ha_inverse_run(const darray *y, const darray *p, ha_context *context) {
    ha_status s = ha_inverse_check(y, p);
    if (s || ha_view_is_empty(y)) return s;
    s = ha_index_check((ha_named_view){"permutation", p}, p->extent[0], "ha_inverse", context);
    if (s) return s;
    const darray places = darray_new(y->type, 1, y->extent, context);
    if (!places.array) return ha_status_of_nothing();
    s = ha_inverse_places(&places, p, context);
    darray from_0 = *y;
    from_0.origin[0] = 0;
    if (!s) s = darray_copy_(from_0, places, context, "ha_inverse");
    const ha_status freed = ha_array_free(places.array);
    return s ? s : freed;
}

ha_status ha_inverse_(darray y, darray permutation, ha_context *context, const char *site) {
    ha_status s = HA_OK;
    HA_FROM(site) s = ha_inverse_run(&y, &permutation, context);
    return s;
}

#endif
