/* Sorting on devices, by digits of the keys, the lowest ones first. In each pass a lane for each block of the elements counts what digits
 * there are; the host makes of that where in the result the elements of each digit and block begin; and a lane for each block
 * puts its elements there, in their order. */
#ifndef HARRAY_IMPL_OPS_SORT_BLOCKS_H
#define HARRAY_IMPL_OPS_SORT_BLOCKS_H

#include "sort_buckets.h"

enum { HA_SORT_BLOCK = 2048, HA_SORT_BITS = 8 }; /* elements of a block, bits of a digit */

/* ---- kernels ------------------------------------------------------------------------------------- */

/* What a kernel does with a block: counts; puts elements; these and their numbers; these and the numbers they have. */
enum { HA_SORT_COUNT, HA_SORT_PUT, HA_SORT_NUMBER, HA_SORT_MOVE };

/* As loops, for what is too long for those of the host. Slots: [the elements' and the numbers' new places], where they
 * begin, the elements, [their numbers], numbers. */
HA_IN_ void ha_sort_block_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                                const ha_kernel_slot_ *slot) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    const size_t bytes = ha_dtype_size(key->type->type), number = ha_sort_number_bytes(key);
    const ha_sort_form form = ha_sort_form_by(key);
    const int what = ha_sort_what(key), digits = 1 << HA_SORT_BITS;
    const ha_kernel_slot_ *y = what >= HA_SORT_PUT ? slot++ : NULL;
    const ha_kernel_slot_ *q = what >= HA_SORT_NUMBER ? slot++ : NULL;
    int64_t *begin = (int64_t *)(slot++)->pointer;
    const ha_kernel_slot_ *x = slot++, *p = what == HA_SORT_MOVE ? slot++ : NULL;
    const int64_t all = ha_sort_value(&slot[0]), block = ha_sort_value(&slot[1]);
    const int64_t blocks = ha_sort_value(&slot[2]), shift = ha_sort_value(&slot[3]);
    (void)apart;
    for (ptrdiff_t i = box->first[0]; i < box->last[0]; i++) {
        for (int64_t d = 0; d < digits && !y; d++) begin[d * blocks + i] = 0;
        for (int64_t n = i * block; n < (i + 1) * block && n < all; n++) {
            const uint64_t element = ha_sort_read(x->pointer, bytes, n * ha_sort_step(x));
            const uint64_t digit = ha_sort_key(element, &form) >> shift & (uint64_t)(digits - 1);
            const int64_t to = begin[(int64_t)digit * blocks + i]++;
            uint64_t along = (uint64_t)n;
            if (p) along = ha_sort_read(p->pointer, number, n * ha_sort_step(p));
            if (y) ha_sort_write(y->pointer, bytes, to * ha_sort_step(y), element);
            if (q) ha_sort_write(q->pointer, number, to * ha_sort_step(q), along);
        }
    }
}

HA_IN_ void ha_sort_put_block_text(ha_text *t, const ha_op_key *key) {
    const ha_sort_form form = ha_sort_form_by(key);
    const int digits = 1 << HA_SORT_BITS, what = ha_sort_what(key);
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

HA_IN_ void ha_sort_make_block(ha_op_kernel *k, const ha_op_key *key) {
    static const char *const words[] = {"count", "put", "number", "move"};
    const int what = ha_sort_what(key);
    const ha_dtype bits = ha_sort_bits(ha_dtype_size(key->type->type));
    const ha_dtype number = ha_index_bits(ha_sort_number_bytes(key));
    ha_text t = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "ha_sort_%s_%s_%s%s", words[what],
             ha_dtype_name(key->type->type), ha_dtype_name(number), key->of[0] ? "_down" : "");
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
    k->op.kernel.loops = ha_sort_block_loops;
    ha_sort_put_block_text(&t, key);
}

/* ---- passes -------------------------------------------------------------------------------------- */

typedef struct ha_sorting {
    const char *operation;
    ha_context *context;
    int what, descending;
    darray x;         /* on devices it stays as it is until the last pass, or the copy behind it */
    const darray *at; /* what gets numbers, or is sorted along; NULL: nothing */
    int64_t n, blocks;
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
                           .make = ha_sort_make_block,
                           .of = {s->descending, what + 16 * number}};
    const int64_t bits = shift, block = HA_SORT_BLOCK;
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
    given[n++] = &block;
    given[n++] = &s->blocks;
    given[n++] = &bits;
    const ha_region box = ha_box1(0, s->blocks);
    return ha_index_launch(&key, s->operation, s->context, &box, given);
}

/* NULL for what is not there yet: an array without gaps of n elements. */
HA_IN_ ha_status ha_sort_spare(const ha_sorting *s, darray *spare, ha_dtype type) {
    if (spare->array) return HA_OK;
    *spare = darray_new(type, 1, &s->n, s->context);
    if (spare->array) return HA_OK;
    return ha_status_of_nothing();
}

/* The last pass puts its results where they belong, unless they are read from there. */
HA_IN_ ha_status ha_sort_pass_by(ha_sorting *s, int shift, int last) {
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
HA_IN_ ha_status ha_sort_passes(ha_sorting *s) {
    const int width = 8 * (int)s->x.array->element;
    for (int shift = 0; shift < width; shift += HA_SORT_BITS) {
        const int last = shift + HA_SORT_BITS >= width;
        int64_t of_a_digit = 0; /* of that which most elements have */
        ha_status status = ha_sort_launch(s, HA_SORT_COUNT, shift, NULL, NULL);
        if (!status) status = ha_index_sum(s->begin, s->blocks, &of_a_digit);
        const int alone = of_a_digit == s->n;
        if (!status && (!alone || (last && s->at && !s->passes)))
            status = ha_sort_pass_by(s, shift, last);
        if (status) return status;
    }
    return HA_OK;
}

/* Where the last pass was left out, what the one before gave is copied. */
HA_IN_ ha_status ha_sort_finish(const ha_sorting *s) {
    darray to = s->at ? *s->at : s->x;
    const darray *from = s->at ? &s->numbers : &s->now;
    if (!s->passes || (from->array == to.array)) return HA_OK;
    to.origin[0] = 0;
    return darray_copy_(to, *from, s->context, s->operation);
}

HA_IN_ ha_status ha_sort_free(ha_sorting *s, ha_status status) {
    ha_array *const arrays[] = {s->begin, s->spare[0].array, s->spare[1].array,
                                s->spare_number[0].array, s->spare_number[1].array};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        const ha_status freed = arrays[i] ? ha_array_free(arrays[i]) : HA_OK;
        if (!status) status = freed;
    }
    return status;
}

/* What is sorted in place is written only where digits differ. So that what is refused does not depend on its values, it is
 * opened first as if it were written. */
static ha_status ha_sort_ask(const ha_sorting *s) {
    ha_access a;
    ha_request r = {.access = &a,
                    .context = s->context,
                    .how = HA_WRITE,
                    .view = &s->x,
                    .updates_ = 1,
                    .site_ = "x"};
    if (s->what == HA_SORT_NUMBERS) return HA_OK;
    const ha_status status = ha_open_many_(&r, 1, s->operation);
    return status ? status : ha_close(&a);
}

HA_IN_ ha_status ha_sort_in_blocks(ha_sorting *s) {
    const ha_type type = {"int64_t", sizeof(int64_t)};
    ha_status status = ha_sort_ask(s);
    if (status) return status;
    s->blocks = (s->n + HA_SORT_BLOCK - 1) / HA_SORT_BLOCK;
    s->now = s->x;
    s->begin = ha_array_new(type, (size_t)(s->blocks << HA_SORT_BITS), s->context);
    if (!s->begin) return ha_status_of_nothing();
    status = ha_sort_passes(s);
    if (!status) status = ha_sort_finish(s);
    return ha_sort_free(s, status);
}

#endif
