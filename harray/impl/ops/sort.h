/* Sorting by digits of the keys, the lowest ones first. In each pass a lane for each block of the elements counts what digits there are; the
 * host makes of that where in the result the elements of each digit and block begin; and a lane for each block puts its
 * elements there, in their order. Where kernels are loops there is one block, and digits are longer. */
#ifndef HARRAY_IMPL_OPS_SORT_H
#define HARRAY_IMPL_OPS_SORT_H

#include "sort_keys.h"

enum { HA_SORT_BLOCK = 2048 }; /* elements, on devices */

/* What a kernel does with a block: counts; puts elements; these and their numbers; these and the numbers they have. */
enum { HA_SORT_COUNT, HA_SORT_PUT, HA_SORT_NUMBER, HA_SORT_MOVE };

/* of: bits of a digit and 16 times whether the order is descending, what it does and 16 times the bytes of a number. */
HA_IN_ int ha_sort_what(const ha_op_key *key) { return key->of[1] % 16; }
HA_IN_ size_t ha_sort_number_bytes(const ha_op_key *key) { return (size_t)(key->of[1] / 16); }
HA_IN_ ha_sort_form ha_sort_form_by(const ha_op_key *key) {
    return ha_sort_form_of(key->type->type, key->of[0] / 16);
}

/* The parameters of all kernels but for the arrays that they write, and the numbers of elements: where digits begin, the elements; the
 * elements in all, in a block; blocks; the bits below the digit. */
typedef struct ha_sort_block {
    ha_sort_form form;
    int64_t *begin, first, last,
        blocks; /* begin: of the block; that of the next digit is `blocks` behind */
    uint64_t digits;
    int shift;
} ha_sort_block;

/* ---- on the host --------------------------------------------------------------------------------- */

HA_IN_ int64_t ha_sort_step(const ha_kernel_slot_ *slot) {
    return ((const ha_kernel_span *)slot->span)->numbers[1];
}

/* The slots of the arrays: elements, and numbers. */
typedef void (*ha_sort_loop)(const ha_sort_block *b, const ha_kernel_slot_ *x,
                             const ha_kernel_slot_ *y, const ha_kernel_slot_ *p,
                             const ha_kernel_slot_ *q);

#define HA_SORT_COUNT_(U)                                                                          \
    static void ha_sort_count_##U(const ha_sort_block *b, const ha_kernel_slot_ *from,             \
                                  const ha_kernel_slot_ *y, const ha_kernel_slot_ *p,              \
                                  const ha_kernel_slot_ *q) {                                      \
        const U *x = (const U *)from->pointer;                                                     \
        const int64_t step = ha_sort_step(from);                                                   \
        (void)y, (void)p, (void)q;                                                                 \
        for (uint64_t d = 0; d < b->digits; d++) b->begin[(int64_t)d * b->blocks] = 0;             \
        for (int64_t n = b->first; n < b->last; n++) {                                             \
            const uint64_t key = ha_sort_key(x[n * step], &b->form);                               \
            b->begin[(int64_t)(key >> b->shift & (b->digits - 1)) * b->blocks]++;                  \
        }                                                                                          \
    }

/* NUMBER: what else is done with the n-th element, which comes to `to`. */
#define HA_SORT_PUT_(name, U, P, NUMBER)                                                           \
    static void name(const ha_sort_block *b, const ha_kernel_slot_ *from,                          \
                     const ha_kernel_slot_ *into, const ha_kernel_slot_ *numbers,                  \
                     const ha_kernel_slot_ *given) {                                               \
        const U *x = (const U *)from->pointer;                                                     \
        U *y = (U *)into->pointer;                                                                 \
        HA_UNUSED P *q = (P *)numbers->pointer;                                                    \
        HA_UNUSED const P *p = (const P *)given->pointer;                                          \
        const int64_t x_step = ha_sort_step(from), y_step = ha_sort_step(into);                    \
        for (int64_t n = b->first; n < b->last; n++) {                                             \
            const U element = x[n * x_step];                                                       \
            const uint64_t key = ha_sort_key(element, &b->form);                                   \
            const int64_t to =                                                                     \
                b->begin[(int64_t)(key >> b->shift & (b->digits - 1)) * b->blocks]++;              \
            y[to * y_step] = element;                                                              \
            NUMBER;                                                                                \
        }                                                                                          \
    }
#define HA_SORT_NUMBERED_(U, P)                                                                    \
    HA_SORT_PUT_(ha_sort_number_##U##_##P, U, P, q[to * ha_sort_step(numbers)] = (P)n)             \
    HA_SORT_PUT_(ha_sort_move_##U##_##P, U, P, q[to * ha_sort_step(numbers)] = p[n])
#define HA_SORT_LOOPS_(U)                                                                          \
    HA_SORT_COUNT_(U)                                                                              \
    HA_SORT_PUT_(ha_sort_put_##U, U, uint32_t, (void)0)                                            \
    HA_SORT_NUMBERED_(U, uint32_t)                                                                 \
    HA_SORT_NUMBERED_(U, uint64_t)
HA_SORT_LOOPS_(uint8_t)
HA_SORT_LOOPS_(uint16_t)
HA_SORT_LOOPS_(uint32_t)
HA_SORT_LOOPS_(uint64_t)

/* By the bytes of an element, as a power of two; what is done; and whether numbers have 64 bits. */
#define HA_SORT_ROW_(U)                                                                            \
    {                                                                                              \
        {ha_sort_count_##U, ha_sort_put_##U, ha_sort_number_##U##_uint32_t,                        \
         ha_sort_move_##U##_uint32_t},                                                             \
            {NULL, NULL, ha_sort_number_##U##_uint64_t, ha_sort_move_##U##_uint64_t},              \
    }
static const ha_sort_loop ha_sort_loops_of[4][2][4] = {
    HA_SORT_ROW_(uint8_t), HA_SORT_ROW_(uint16_t), HA_SORT_ROW_(uint32_t), HA_SORT_ROW_(uint64_t)};

HA_IN_ int64_t ha_sort_value(const ha_kernel_slot_ *slot) {
    int64_t value;
    memcpy(&value, slot->pointer, sizeof value);
    return value;
}

/* Slots: [the elements' and the numbers' new places], where they begin, the elements, [their numbers], numbers. */
static void ha_sort_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                          const ha_kernel_slot_ *slot) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    const int what = ha_sort_what(key), wide = ha_sort_number_bytes(key) == sizeof(uint64_t);
    const ha_kernel_slot_ *y = slot, *q = slot;
    if (what >= HA_SORT_PUT) y = slot++;
    if (what >= HA_SORT_NUMBER) q = slot++;
    const ha_kernel_slot_ *begin = slot++, *x = slot++, *p = what == HA_SORT_MOVE ? slot++ : x;
    const int64_t all = ha_sort_value(&slot[0]), block = ha_sort_value(&slot[1]);
    ha_sort_block b = {.form = ha_sort_form_by(key),
                       .blocks = ha_sort_value(&slot[2]),
                       .digits = (uint64_t)1 << key->of[0] % 16,
                       .shift = (int)ha_sort_value(&slot[3])};
    const int bytes = __builtin_ctzll(ha_dtype_size(key->type->type));
    (void)apart;
    for (ptrdiff_t i = box->first[0]; i < box->last[0]; i++) {
        b.begin = (int64_t *)begin->pointer + i;
        b.first = i * block;
        b.last = all - b.first > block ? b.first + block : all;
        ha_sort_loops_of[bytes][wide && what >= HA_SORT_NUMBER][what](&b, x, y, q, p);
    }
}

/* ---- as kernels ---------------------------------------------------------------------------------- */

HA_IN_ void ha_sort_put_text(ha_text *t, const ha_op_key *key) {
    const ha_sort_form form = ha_sort_form_by(key);
    const int digits = 1 << key->of[0] % 16, what = ha_sort_what(key);
    const char *number = ha_dtype_name(ha_index_bits(ha_sort_number_bytes(key)));
    ha_print(t, "{ ");
    if (what == HA_SORT_COUNT)
        ha_print(t, "for (int64_t d = 0; d < %d; d++) begin[d * blocks + i] = 0; ", digits);
    ha_print(t, "for (int64_t n = i * block; n < (i + 1) * block && n < all; n++) { ");
    ha_print(t, "uint64_t key = HA_AT(x, n); ");
    ha_sort_put_key(t, "key", &form);
    ha_print(t, "const int64_t at = (int64_t)(key >> shift & %d) * blocks + i; ", digits - 1);
    if (what != HA_SORT_COUNT)
        ha_print(t, "const int64_t to = begin[at]; HA_AT(y, to) = HA_AT(x, n); ");
    if (what == HA_SORT_NUMBER) ha_print(t, "HA_AT(q, to) = (%s)n; ", number);
    if (what == HA_SORT_MOVE) ha_print(t, "HA_AT(q, to) = HA_AT(p, n); ");
    ha_print(t, "begin[at] += 1; } }");
}

HA_IN_ void ha_sort_make(ha_op_kernel *k, const ha_op_key *key) {
    static const char *const words[] = {"count", "put", "number", "move"};
    const int what = ha_sort_what(key);
    const ha_dtype bits = ha_sort_bits(ha_dtype_size(key->type->type));
    const ha_dtype number = ha_index_bits(ha_sort_number_bytes(key));
    ha_text t = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "ha_sort_%s_%s_%d_%s%s", words[what],
             ha_dtype_name(key->type->type), key->of[0] % 16, ha_dtype_name(number),
             key->of[0] / 16 ? "_down" : "");
    if (what >= HA_SORT_PUT) ha_index_add_view(k, HA_KERNEL_OUT_, "y", bits, 1);
    if (what >= HA_SORT_NUMBER) ha_index_add_view(k, HA_KERNEL_OUT_, "q", number, 1);
    ha_index_add_array(k, what == HA_SORT_COUNT ? HA_KERNEL_OUT_ : HA_KERNEL_INOUT_, "begin",
                       HA_DTYPE_int64_t);
    ha_index_add_view(k, HA_KERNEL_IN_, "x", bits, 1);
    if (what == HA_SORT_MOVE) ha_index_add_view(k, HA_KERNEL_IN_, "p", number, 1);
    ha_op_add_number(k, "all", HA_DTYPE_int64_t, "int64_t");
    ha_op_add_number(k, "block", HA_DTYPE_int64_t, "int64_t");
    ha_op_add_number(k, "blocks", HA_DTYPE_int64_t, "int64_t");
    ha_op_add_number(k, "shift", HA_DTYPE_int64_t, "int64_t");
    k->op.kernel.rank = 1;
    k->op.kernel.loops = ha_sort_loops;
    ha_sort_put_text(&t, key);
}

/* ---- passes -------------------------------------------------------------------------------------- */

typedef struct ha_sorting {
    const char *operation;
    ha_context *context;
    darray x;         /* stays as it is until the last pass, or the copy behind it */
    const darray *at; /* what gets numbers; NULL: x gets its elements */
    int descending, bits;
    int64_t n, block, blocks;
    darray now, numbers; /* the elements and, from the first pass on, their numbers */
    darray spare[2], spare_number[2];
    ha_array *begin;
    int passes;
} ha_sorting;

HA_IN_ ha_typed ha_sort_typed(const darray *x) {
    return ha_index_typed(x->array, x->offset, 1, x->extent, x->stride, 0, NULL, NULL);
}

HA_IN_ ha_status ha_sort_launch(const ha_sorting *s, int what, int shift, const darray *y,
                                const darray *q) {
    const int number = s->at ? (int)s->at->array->element : (int)sizeof(uint32_t);
    const ha_op_key key = {.type = ha_op_type_of(s->x.type),
                           .rank = 1,
                           .make = ha_sort_make,
                           .of = {s->bits + 16 * s->descending, what + 16 * number}};
    const int64_t bits = shift;
    const ha_typed of_x = ha_sort_typed(&s->now), of_y = y ? ha_sort_typed(y) : of_x;
    const ha_typed of_q = q ? ha_sort_typed(q) : of_x;
    const ha_typed of_p = what == HA_SORT_MOVE ? ha_sort_typed(&s->numbers) : of_x;
    const void *given[9];
    int n = 0;
    if (what >= HA_SORT_PUT) given[n++] = &of_y;
    if (what >= HA_SORT_NUMBER) given[n++] = &of_q;
    given[n++] = &s->begin;
    given[n++] = &of_x;
    if (what == HA_SORT_MOVE) given[n++] = &of_p;
    given[n++] = &s->n;
    given[n++] = &s->block;
    given[n++] = &s->blocks;
    given[n++] = &bits;
    const ha_region box = ha_box1(0, s->blocks);
    return ha_index_launch(&key, s->operation, s->context, &box, given);
}

/* Counts become where each digit begins in each block. *alone: all elements have the same digit. */
static ha_status ha_sort_sum(const ha_sorting *s, int *alone) {
    ha_access a;
    ha_status status = ha_open_(&a, s->begin, ha_host(), HA_WRITE, 0, HA_END, "the counts");
    if (status) return status;
    int64_t *begin = (int64_t *)(uintptr_t)a.data, sum = 0;
    *alone = 0;
    for (int64_t digit = 0; digit < (int64_t)1 << s->bits; digit++) {
        const int64_t before = sum;
        for (int64_t i = 0; i < s->blocks; i++) {
            const int64_t count = begin[digit * s->blocks + i];
            begin[digit * s->blocks + i] = sum;
            sum += count;
        }
        if (sum - before == s->n) *alone = 1;
    }
    return ha_close(&a);
}

/* NULL for what is not there yet: an array without gaps of n elements. */
HA_IN_ ha_status ha_sort_spare(const ha_sorting *s, darray *spare, ha_dtype type) {
    if (spare->array) return HA_OK;
    *spare = darray_new(type, 1, &s->n, s->context);
    if (spare->array) return HA_OK;
    return ha_status_of_nothing();
}

/* The last pass puts its results where they belong, unless they are read from there. */
static ha_status ha_sort_pass(ha_sorting *s, int shift, int last) {
    const int turn = s->passes & 1, numbered = s->at != NULL;
    const int what = !numbered ? HA_SORT_PUT : s->passes ? HA_SORT_MOVE : HA_SORT_NUMBER;
    darray to = s->x, number = {.rank = 0};
    ha_status status = HA_OK;
    if (numbered || !last || !s->passes) {
        status = ha_sort_spare(s, &s->spare[turn], s->x.type);
        to = s->spare[turn];
    }
    if (numbered && last) number = *s->at;
    if (numbered && !last) {
        if (!status) status = ha_sort_spare(s, &s->spare_number[turn], s->at->type);
        number = s->spare_number[turn];
    }
    if (!status) status = ha_sort_launch(s, what, shift, &to, numbered ? &number : NULL);
    if (status) return status;
    s->now = to;
    s->numbers = number;
    s->passes++;
    return HA_OK;
}

/* Digits that all have are left out; but numbers are given in the end. */
static ha_status ha_sort_passes(ha_sorting *s) {
    const int width = 8 * (int)s->x.array->element;
    for (int shift = 0; shift < width; shift += s->bits) {
        const int last = shift + s->bits >= width;
        int alone = 0;
        ha_status status = ha_sort_launch(s, HA_SORT_COUNT, shift, NULL, NULL);
        if (!status) status = ha_sort_sum(s, &alone);
        if (!status && (!alone || (last && s->at && !s->passes)))
            status = ha_sort_pass(s, shift, last);
        if (status) return status;
    }
    return HA_OK;
}

/* Where the last pass was left out, what the one before gave is copied. */
static ha_status ha_sort_finish(const ha_sorting *s) {
    darray to = s->at ? *s->at : s->x;
    const darray *from = s->at ? &s->numbers : &s->now;
    if (!s->passes || (from->array == to.array)) return HA_OK;
    to.origin[0] = 0;
    return darray_copy_(to, *from, s->context, s->operation);
}

static ha_status ha_sort_free(ha_sorting *s, ha_status status) {
    ha_array *const arrays[] = {s->begin, s->spare[0].array, s->spare[1].array,
                                s->spare_number[0].array, s->spare_number[1].array};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        const ha_status freed = arrays[i] ? ha_array_free(arrays[i]) : HA_OK;
        if (!status) status = freed;
    }
    return status;
}

/* x, and `at` if there is one, have been looked at. */
static ha_status ha_sort_run(ha_sorting *s) {
    const ha_type type = {"int64_t", sizeof(int64_t)};
    const int on_device = ha_way_of(ha_resolve(s->context)) == HA_WAY_COMPILED;
    ha_status status;
    s->n = s->x.extent[0];
    if (s->n == 0) return HA_OK;
    s->bits = on_device || s->x.array->element < sizeof(uint32_t) ? 8 : 11;
    s->block = on_device ? HA_SORT_BLOCK : s->n;
    s->blocks = (s->n + s->block - 1) / s->block;
    s->now = s->x;
    s->begin = ha_array_new(type, (size_t)(s->blocks << s->bits), s->context);
    if (!s->begin) return ha_status_of_nothing();
    status = ha_sort_passes(s);
    if (!status) status = ha_sort_finish(s);
    return ha_sort_free(s, status);
}

/* ---- the calls ----------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_sort_check(const darray *x, ha_sort_order order, const char *operation) {
    ha_status s = ha_sort_check_type(x, operation);
    if (!s) s = ha_index_check_row(x, operation);
    if (s || order == HA_ASCENDING || order == HA_DESCENDING) return s;
    return ha_view_fail(HA_ERR_ARGUMENT, operation, x, "%d is no order", (int)order);
}

HA_IN_ ha_status ha_sort_check_written(const darray *x, const char *operation) {
    if (!ha_strides_repeat(x->rank, x->extent, x->stride)) return HA_OK;
    return ha_view_fail(HA_ERR_ARGUMENT, operation, x, "it repeats elements, and can only be read");
}

/* Do numbers below n fit the type of `at`? */
HA_IN_ ha_status ha_sort_check_fits(const darray *at, int64_t n, const char *operation) {
    if (at->array->element == sizeof(uint64_t) ||
        n <= (at->type == HA_DTYPE_int32_t ? INT32_MAX : (int64_t)UINT32_MAX))
        return HA_OK;
    return ha_view_fail(HA_ERR_ARGUMENT, operation, at,
                        "the numbers of %lld elements do not fit its type", (long long)n);
}

ha_status ha_sort_(darray x, ha_sort_order order, ha_context *context, const char *site) {
    ha_sorting s = {
        .operation = "ha_sort", .context = context, .x = x, .descending = order == HA_DESCENDING};
    ha_status status = HA_OK;
    HA_FROM(site) {
        status = ha_sort_check(&x, order, s.operation);
        if (!status) status = ha_sort_check_written(&x, s.operation);
        if (!status) status = ha_sort_run(&s);
    }
    return status;
}

static ha_status ha_sorting_check(const darray *at, const darray *x, ha_sort_order order) {
    ha_status s = ha_sort_check(x, order, "ha_sorting");
    if (!s) s = ha_index_check_type(at, "ha_sorting");
    if (!s) s = ha_index_check_row(at, "ha_sorting");
    if (s) return s;
    if (at->extent[0] != x->extent[0])
        return ha_views_refuse(at, x, "the extents are not the same", "ha_sorting", "");
    s = ha_sort_check_fits(at, x->extent[0], "ha_sorting");
    if (!s) s = ha_sort_check_written(at, "ha_sorting");
    return s || ha_view_is_empty(at) ? s : ha_index_check_apart(at, x, "ha_sorting");
}

ha_status ha_sorting_(darray at, darray x, ha_sort_order order, ha_context *context,
                      const char *site) {
    ha_sorting s = {.operation = "ha_sorting",
                    .context = context,
                    .x = x,
                    .at = &at,
                    .descending = order == HA_DESCENDING};
    ha_status status = HA_OK;
    HA_FROM(site) {
        status = ha_sorting_check(&at, &x, order);
        if (!status) status = ha_sort_run(&s);
    }
    return status;
}

#endif
