/* What is made of sorting by other operations: sorting by keys, and leaving out what is there twice; and searching in what is sorted. */
#ifndef HARRAY_IMPL_OPS_SORTED_H
#define HARRAY_IMPL_OPS_SORTED_H

#include "find.h"
#include "gather.h"
#include "sort.h"

/* ---- ha_sort_by_key ------------------------------------------------------------------------------ */

HA_IN_ ha_status ha_by_key_check(const darray *keys, const darray *values, ha_sort_order order) {
    static const char operation[] = "ha_sort_by_key";
    ha_status s = ha_sort_check(HA_ARGUMENT_(keys), order, operation);
    if (!s) s = ha_op_check_written(HA_ARGUMENT_(keys), operation);
    const ha_named_view moved = HA_ARGUMENT_(values);
    if (!s) s = ha_index_check_elements(moved, moved, operation);
    if (!s) s = ha_op_check_written(moved, operation);
    if (s) return s;
    if (values->rank < 1 || values->extent[0] != keys->extent[0])
        return ha_pair_refuse(HA_ARGUMENT_(keys), HA_ARGUMENT_(values),
                              "there are not as many values as keys", operation);
    if (ha_view_is_empty(keys) || ha_view_is_empty(values)) return HA_OK;
    return ha_index_check_apart(HA_ARGUMENT_(keys), HA_ARGUMENT_(values), operation);
}

static ha_status ha_by_key_run(darray keys, darray values, ha_sort_order order,
                               ha_context *context) {
    const int64_t n = keys.extent[0];
    const ha_dtype type = n <= (int64_t)UINT32_MAX ? HA_DTYPE_uint32_t : HA_DTYPE_uint64_t;
    darray at = {.rank = 0}, sorted[2] = {{.rank = 0}, {.rank = 0}};
    ha_status s = ha_op_new_array(&at, type, &keys, context);
    if (!s) s = ha_op_new_array(&sorted[0], keys.type, &keys, context);
    if (!s) {
        sorted[1] = darray_new_(HA_ROW_MAJOR, ha_array_type(values.array), values.rank,
                                values.extent, context);
        if (!sorted[1].array) s = ha_status_of_nothing();
    }
    if (!s) s = ha_sorting(at, keys, order, context);
    if (!s) s = ha_gather(sorted[0], keys, at, context);
    if (!s) s = ha_gather(sorted[1], values, at, context);
    if (!s) s = ha_op_copy_both(keys, values, sorted, context);
    const darray *const made[] = {&at, &sorted[0], &sorted[1]};
    for (int i = 0; i < 3; i++) {
        const ha_status freed = made[i]->array ? ha_array_free(made[i]->array) : HA_OK;
        if (!s) s = freed;
    }
    return s;
}

/* Values go along where the keys are sorted, if they are aligned as numbers are, or are gathered afterwards. */
HA_IN_ int ha_by_key_goes_along(const darray *keys, const darray *values, ha_context *context) {
    const size_t bytes = values->array->element;
    return values->rank == 1 && (bytes == sizeof(uint32_t) || bytes == sizeof(uint64_t)) &&
           (values->type || !values->array->wrapped) && ha_sort_is_here(context, keys->extent[0]);
}

HA_IN_ ha_status ha_by_key_along(darray keys, darray values, ha_sort_order order,
                                 ha_context *context) {
    ha_sorting s = {.operation = "ha_sort_by_key",
                    .context = context,
                    .what = HA_SORT_VALUES,
                    .x = keys,
                    .at = &values,
                    .descending = order == HA_DESCENDING};
    return ha_sort_run(&s);
}

ha_status ha_sort_by_key_(darray keys, darray values, ha_sort_order order, ha_context *context,
                          const char *site) {
    const int is_kept = ha_first_error.status != HA_OK;
    ha_status s = HA_OK;
    HA_FROM(site) {
        s = ha_by_key_check(&keys, &values, order);
        if (!s && keys.extent[0] > 1)
            s = ha_op_told(ha_by_key_goes_along(&keys, &values, context)
                               ? ha_by_key_along(keys, values, order, context)
                               : ha_by_key_run(keys, values, order, context),
                           is_kept, "ha_sort_by_key");
    }
    return s;
}

/* ---- ha_unique ----------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_unique_check(const darray *y, const darray *x, ha_dtype type,
                                 const void *count) {
    ha_status s = ha_index_check_elements(HA_ARGUMENT_(y), HA_ARGUMENT_(x), "ha_unique");
    if (!s) s = ha_index_check_row(HA_ARGUMENT_(y), "ha_unique");
    if (!s) s = ha_index_check_row(HA_ARGUMENT_(x), "ha_unique");
    if (!s) s = ha_op_check_written(HA_ARGUMENT_(y), "ha_unique");
    if (!s) s = ha_op_check_result("ha_unique", "the count", type, count);
    if (s || ha_view_is_empty(y) || ha_view_is_empty(x)) return s;
    return ha_index_check_apart(HA_ARGUMENT_(y), HA_ARGUMENT_(x), "ha_unique");
}

/* The mask says of each element whether it differs from the one before it. */
static ha_status ha_unique_mask(darray mask, darray x, ha_context *context) {
    const int64_t n = x.extent[0];
    x.origin[0] = 0;
    ha_status s = n ? darray_fill(darray_slice_(mask, 0, 0, 1, 1, NULL), ha_dvalue_of_uint8_t(1),
                                  context)
                    : HA_OK;
    if (s || n < 2) return s;
    const darray differs = darray_slice_(mask, 0, 1, n, 1, NULL),
                 own = darray_slice_(x, 0, 1, n, 1, NULL);
    const darray before = darray_slice_(x, 0, 0, n - 1, 1, NULL);
    ha_op_call c = {.operation = "ha_unique",
                    .context = context,
                    .arrays = 3,
                    .typed = 1,
                    .view = {&differs, &own, &before},
                    .name = {"y", "x", "x"}};
    return ha_op_run(&c, &ha_op_differs, HA_IS_NOT_EQUAL, HA_SITE);
}

HA_IN_ ha_status ha_unique_run(darray y, darray x, ha_dtype type, void *count,
                               ha_context *context) {
    darray mask = {.rank = 0};
    ha_status s = ha_op_new_array(&mask, HA_DTYPE_uint8_t, &x, context);
    if (!s) s = ha_unique_mask(mask, x, context);
    if (!s) s = ha_compact_(y, x, mask, type, count, context, "ha_unique");
    const ha_status freed = mask.array ? ha_array_free(mask.array) : HA_OK;
    return s ? s : freed;
}

ha_status ha_unique_(darray y, darray x, ha_dtype type, void *count, ha_context *context,
                     const char *site) {
    const int is_kept = ha_first_error.status != HA_OK;
    ha_status s = HA_OK;
    HA_FROM(site) {
        s = ha_unique_check(&y, &x, type, count);
        if (!s) s = ha_op_told(ha_unique_run(y, x, type, count, context), is_kept, "ha_unique");
    }
    return s;
}

/* ---- ha_lower_bound and ha_upper_bound ----------------------------------------------------------- */

/* of: the bytes of a number, 16 where the upper bound is asked for. In [from, to] the place is. */
#define HA_BOUND_(U)                                                                               \
    HA_IN_ int64_t ha_bound_##U(const void *sorted, int64_t step, int64_t n, const void *value,    \
                                const ha_sort_form *form, int upper) {                             \
        const U *x = (const U *)sorted;                                                            \
        const uint64_t key = ha_sort_key(*(const U *)value, form);                                 \
        int64_t from = 0, to = n;                                                                  \
        while (from < to) {                                                                        \
            const int64_t at = from + (to - from) / 2;                                             \
            const uint64_t there = ha_sort_key(x[at * step], form);                                \
            if (upper ? there <= key : there < key)                                                \
                from = at + 1;                                                                     \
            else                                                                                   \
                to = at;                                                                           \
        }                                                                                          \
        return from;                                                                               \
    }
HA_BOUND_(uint8_t)
HA_BOUND_(uint16_t)
HA_BOUND_(uint32_t)
HA_BOUND_(uint64_t)
static int64_t (*const ha_bounds[])(const void *, int64_t, int64_t, const void *,
                                    const ha_sort_form *, int) = {
    ha_bound_uint8_t, ha_bound_uint16_t, ha_bound_uint32_t, ha_bound_uint64_t};

/* Slots: the places, what is sorted, the values, how many are sorted. */
HA_IN_ void ha_bound_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                           const ha_kernel_slot_ *slot) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    const size_t bytes = ha_dtype_size(key->type->type);
    const ha_sort_form form = ha_sort_form_of(key->type->type, 0);
    const int64_t step = ha_sort_step(&slot[1]), n = ha_sort_value(&slot[3]);
    (void)apart;
    HA_AMONG_THREADS_(
        box, 1, 64, const ha_region own = HA_SHARE_(box, 0);
        for (ptrdiff_t i = own.first[0]; i < own.last[0]; i++) {
            const char *value = (const char *)slot[2].pointer +
                                ha_index_place(&slot[2], key->rank, i) * (int64_t)bytes;
            const int64_t at = ha_bounds[__builtin_ctzll(bytes)](slot[1].pointer, step, n, value,
                                                                 &form, key->of[1]);
            const int64_t place = ha_index_place(&slot[0], key->rank, i);
            if (key->of[0] == sizeof(uint32_t))
                ((uint32_t *)slot[0].pointer)[place] = (uint32_t)at;
            else
                ((uint64_t *)slot[0].pointer)[place] = (uint64_t)at;
        })
}

HA_IN_ void ha_bound_put_text(ha_text *t, const ha_op_key *key) {
    const ha_sort_form form = ha_sort_form_of(key->type->type, 0);
    ha_print(t, "{ const int64_t n = i; int64_t from = 0, to = all; ");
    ha_print(t, "uint64_t key = ");
    ha_index_put_place(t, "values", key->rank);
    ha_print(t, "); ");
    ha_sort_put_key(t, "key", &form);
    ha_print(t, "while (from < to) { const int64_t at = from + (to - from) / 2; ");
    ha_print(t, "uint64_t there = HA_AT(x, at); ");
    ha_sort_put_key(t, "there", &form);
    ha_print(t, "if (there %s key) from = at + 1; else to = at; } ", key->of[1] ? "<=" : "<");
    ha_index_put_place(t, "at", key->rank);
    ha_print(t, ") = (%s)from; }", ha_dtype_name(ha_index_bits((size_t)key->of[0])));
}

HA_IN_ void ha_bound_make(ha_op_kernel *k, const ha_op_key *key) {
    const ha_dtype bits = ha_sort_bits(ha_dtype_size(key->type->type));
    const ha_dtype number = ha_index_bits((size_t)key->of[0]);
    ha_text t = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "ha_%s_%s_%s_%d", key->of[1] ? "upper" : "lower",
             ha_dtype_name(key->type->type), ha_dtype_name(number), key->rank);
    ha_index_add_view(k, HA_KERNEL_OUT_, "at", number, key->rank);
    ha_index_add_view(k, HA_KERNEL_IN_, "x", bits, 1);
    ha_index_add_view(k, HA_KERNEL_IN_, "values", bits, key->rank);
    ha_op_add_number(k, "all", HA_DTYPE_int64_t, "int64_t");
    k->op.kernel.rank = 1;
    k->op.kernel.loops = ha_bound_loops;
    ha_bound_put_text(&t, key);
}

HA_IN_ ha_status ha_bound_check(const darray *at, const darray *x, const darray *values,
                                const char *operation) {
    const ha_named_view place = {"at", at}, sorted = {"x", x}, given = {"values", values};
    ha_status s = ha_sort_check_type(sorted, operation);
    if (!s) s = ha_named_view_check(given, operation);
    if (!s) s = ha_index_check_type(place, operation);
    if (!s) s = ha_index_check_row(sorted, operation);
    if (s) return s;
    if (values->type != x->type)
        return ha_pair_refuse(sorted, given, "the types are not the same", operation);
    if (!ha_extents_equal(at->rank, at->extent, values->rank, values->extent))
        return ha_pair_refuse(place, given, "the extents are not the same", operation);
    s = ha_sort_check_fits(place, x->extent[0], operation);
    if (!s) s = ha_op_check_written(place, operation);
    if (s || ha_view_is_empty(at)) return s;
    s = ha_index_check_apart(place, given, operation);
    return s || ha_view_is_empty(x) ? s : ha_index_check_apart(place, sorted, operation);
}

HA_IN_ ha_status ha_bound_run(const darray *at, const darray *x, const darray *values, int upper,
                              const char *operation, ha_context *context) {
    if (ha_view_is_empty(at)) return HA_OK;
    ha_op_boxes b;
    ha_index_in_order(&b, at, values);
    const ha_op_key key = {.type = ha_op_type_of(x->type),
                           .rank = b.rank,
                           .make = ha_bound_make,
                           .of = {(int)at->array->element, upper}};
    const ha_typed of_at = ha_op_typed(&b, 0, at->array);
    const ha_typed of_values = ha_op_typed(&b, 1, values->array), of_x = ha_sort_typed(x);
    const void *const given[] = {&of_at, &of_x, &of_values, &x->extent[0]};
    const ha_region box = ha_box1(0, darray_size(*at));
    return ha_index_launch(&key, operation, context, &box, given);
}

ha_status ha_bound_(darray at, darray x, darray values, int upper, ha_context *context,
                    const char *site) {
    const char *operation = upper ? "ha_upper_bound" : "ha_lower_bound";
    ha_status s = HA_OK;
    HA_FROM(site) {
        s = ha_bound_check(&at, &x, &values, operation);
        if (!s) s = ha_bound_run(&at, &x, &values, upper, operation, context);
    }
    return s;
}

#endif
