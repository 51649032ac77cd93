/* Fills, copies, conversions and comparisons of views at devices, as kernels (ha_view_kernels). What cannot be done so, or fails, is
 * left to the host, which tells what is wrong. Elements are copied as integers of as many bytes, or as words. */
#ifndef HARRAY_IMPL_OPS_COPIES_H
#define HARRAY_IMPL_OPS_COPIES_H

#include "equal.h"

/* The number as which an element is moved. HA_DTYPE_NONE: none has as many bytes; or it is no number, in memory of the caller's,
 * which need not be aligned for one. */
HA_IN_ ha_dtype ha_op_type_of_bytes(const darray *x) {
    if (!x->type && x->array->wrapped) return HA_DTYPE_NONE;
    switch (x->array->element) {
    case 1:
        return HA_DTYPE_uint8_t;
    case 2:
        return HA_DTYPE_uint16_t;
    case 4:
        return HA_DTYPE_uint32_t;
    case 8:
        return HA_DTYPE_uint64_t;
    case 16:
        return HA_DTYPE_c128;
    default:
        return HA_DTYPE_NONE;
    }
}

/* ---- the kernel of a copy ------------------------------------------------------------------------ */

/* The types of a copy: of what is copied, and of what is written. */
HA_IN_ ha_dtype ha_op_copied_type(const ha_op_key *key) { return (ha_dtype)key->of[0]; }
HA_IN_ ha_dtype ha_op_written_type(const ha_op_key *key) { return (ha_dtype)key->of[1]; }

/* As loops, where a device runs what is compiled here: what is copied, and the number of its lanes' dimensions. */
typedef struct ha_op_copied {
    int rank;
    int64_t extent[HA_MOST_RANK], stride[2][HA_MOST_RANK];
    char *first[2];
} ha_op_copied;

/* Of lanes that are elements by their number, one. */
HA_IN_ void ha_op_copied_one(ha_op_copied *c, const ha_op_key *key, const ha_kernel_slot_ *slot,
                             int64_t n, const size_t *bytes) {
    c->rank = 0;
    for (int k = 0; k < 2; k++)
        c->first[k] = (char *)slot[k].pointer +
                      ha_index_place(&slot[k], key->rank, n) * (int64_t)bytes[k];
}

HA_IN_ void ha_op_copied_box(ha_op_copied *c, const ha_region *box, int rank,
                             const ha_kernel_slot_ *slot, const size_t *bytes) {
    c->rank = rank;
    for (int k = 0; k < 2; k++) {
        const ha_kernel_span *span = (const ha_kernel_span *)slot[k].span;
        c->first[k] = (char *)slot[k].pointer;
        for (int d = 0; d < rank; d++) {
            c->extent[d] = box->last[d] - box->first[d];
            c->stride[k][d] = span->numbers[rank + d];
            c->first[k] += box->first[d] * c->stride[k][d] * (int64_t)bytes[k];
        }
    }
}

typedef void ha_op_copy_work(const ha_op_copied *c, const ha_op_key *key);

HA_IN_ void ha_op_copy_boxes(const ha_kernel *kernel, const ha_region *box,
                             const ha_kernel_slot_ *slot, const size_t *bytes,
                             ha_op_copy_work *work) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    ha_op_copied c;
    if (!ha_op_by_number(key)) {
        ha_op_copied_box(&c, box, kernel->rank, slot, bytes);
        work(&c, key);
    } else {
        for (int64_t n = box->first[0]; n < box->last[0]; n++) {
            ha_op_copied_one(&c, key, slot, n, bytes);
            work(&c, key);
        }
    }
}

HA_IN_ void ha_op_copy_numbers(const ha_op_copied *c, const ha_op_key *key) {
    ha_misfit none;
    HA_IGNORE_(ha_strided_convert(c->rank, c->extent, c->first[0], c->stride[0],
                                  ha_op_written_type(key), c->first[1], c->stride[1],
                                  ha_op_copied_type(key), &none));
}

HA_IN_ void ha_op_copy_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                             const ha_kernel_slot_ *slot) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    const size_t bytes[] = {ha_dtype_size(ha_op_written_type(key)),
                            ha_dtype_size(ha_op_copied_type(key))};
    (void)apart;
    ha_op_copy_boxes(kernel, box, slot, bytes, ha_op_copy_numbers);
}

HA_IN_ void ha_op_copy_bytes(const ha_op_copied *c, const ha_op_key *key) {
    ha_copy_strided(c->rank, c->extent, c->first[0], c->stride[0], c->first[1], c->stride[1],
                    (size_t)key->of[0]);
}

HA_IN_ void ha_op_words_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                              const ha_kernel_slot_ *slot) {
    const size_t size = (size_t)ha_op_of(kernel)->key.of[0], bytes[] = {size, size};
    (void)apart;
    ha_op_copy_boxes(kernel, box, slot, bytes, ha_op_copy_bytes);
}

HA_IN_ void ha_op_put_copy(ha_text *t, const ha_op_key *key, ha_value_needs *needs) {
    const ha_dtype to = ha_op_written_type(key), from = ha_op_copied_type(key);
    ha_print(t, "{ ");
    if (to != from) ha_put_read(t, key, 1, from, "u");
    ha_op_put_element(t, key, 0);
    ha_print(t, " = ");
    if (to != from)
        ha_put_as(t, to, from, needs);
    else
        ha_op_put_element(t, key, 1);
    ha_print(t, "; }");
}

HA_IN_ void ha_op_make_copy(ha_op_kernel *k, const ha_op_key *key) {
    const ha_dtype to = ha_op_written_type(key), from = ha_op_copied_type(key);
    ha_value_needs needs = {0, 0, 0};
    ha_text text = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "ha_copy_%s_to_%s_%d", ha_dtype_name(from), ha_dtype_name(to),
             key->rank);
    ha_index_add_view(k, HA_KERNEL_OUT_, "z", ha_type_of_elements(to), key->rank);
    ha_index_add_view(k, HA_KERNEL_IN_, "x", ha_type_of_elements(from), key->rank);
    ha_op_put_copy(&text, key, &needs);
    if (needs.nearest) ha_op_add_parameter(k, HA_KERNEL_USES_, "ha_nearest_", ha_uses_ha_nearest_);
    if (needs.whole) ha_op_add_parameter(k, HA_KERNEL_USES_, "ha_whole_", ha_uses_ha_whole_);
    ha_op_add_place(k, key);
    k->op.kernel.loops = ha_op_copy_loops;
}

/* Elements that are no numbers: word by word. */
HA_IN_ void ha_op_make_words(ha_op_kernel *k, const ha_op_key *key) {
    ha_text text = ha_words_begin(k, key, "ha_copy_words_", 0);
    ha_words_put_word(&text, key, 0);
    ha_print(&text, " = ");
    ha_words_put_word(&text, key, 1);
    ha_print(&text, "; }");
    ha_op_add_place(k, key);
    k->op.kernel.loops = ha_op_words_loops;
}

/* ---- at a device --------------------------------------------------------------------------------- */

HA_IN_ int ha_op_launch_quietly(ha_op_call *c, const ha_op_boxes *b) {
    const ha_error before = ha_op_try();
    c->key.rank = b->rank;
    return ha_op_tried(ha_op_launch(c, b, NULL), &before);
}

static const ha_op_line ha_op_copy_line = {.word = "copy", .kind = HA_OP_PLAIN, .arguments = 1};

/* How elements are copied. 0: they have too many bytes. */
HA_IN_ int ha_op_copy_key(const darray *to, const darray *from, ha_op_key *key) {
    const int as_bytes = to->type == from->type;
    const ha_dtype bytes = ha_op_type_of_bytes(from) ? ha_op_type_of_bytes(to) : HA_DTYPE_NONE;
    const ha_dtype written = as_bytes ? bytes : to->type, copied = as_bytes ? bytes : from->type;
    *key = (ha_op_key){.line = &ha_op_copy_line,
                       .make = written ? ha_op_make_copy : ha_op_make_words,
                       .of = {(int)copied, (int)written}};
    return written || ha_words_of(to, from, key->of);
}

HA_IN_ int ha_op_copy_elements(const darray *to, const darray *from, ha_context *c) {
    ha_op_call call = {.operation = "darray_copy", .context = c, .arrays = 2, .view = {to, from}};
    ha_op_boxes b;
    int whole;
    if (!ha_op_copy_key(to, from, &call.key)) return 0;
    ha_op_boxes_of_call(&b, &call, 0, 0, &whole);
    return ha_op_launch_quietly(&call, &b);
}

/* If all have a place there: they are held, so that nobody writes them between being looked at and being copied. */
HA_IN_ int ha_op_copy_if_all_fit(const darray *to, const darray *from, ha_context *c,
                                 ha_misfit *misfit) {
    ha_access held;
    const ha_error before = ha_op_try();
    ha_status s = ha_open_darray(&held, from, c, HA_READ, "darray_copy", "");
    if (!s) {
        s = ha_misfit_look(from, to->type, c, misfit);
        if (!s && !misfit->objection && !ha_op_copy_elements(to, from, c)) s = HA_ERR_UNSUPPORTED;
        const ha_status closed = ha_close_(&held);
        if (!s) s = closed;
    }
    return ha_op_tried(s, &before);
}

HA_IN_ int ha_op_copy_there(const darray *to, const darray *from, ha_context *c,
                            ha_misfit *misfit) {
    if (!ha_op_compiles_at(c)) return 0;
    return ha_scalars_may_misfit(from->type, to->type) ? ha_op_copy_if_all_fit(to, from, c, misfit)
                                                       : ha_op_copy_elements(to, from, c);
}

/* From one element that is made there. */
HA_IN_ int ha_op_fill_words(const darray *x, const void *value, ha_context *c) {
    const int64_t n = 1;
    const ha_error before = ha_op_try();
    darray one = darray_new_(HA_ROW_MAJOR, ha_array_type(x->array), 1, &n, c);
    ha_status s = HA_ERR_MEMORY;
    if (one.array) {
        one.type = x->type;
        s = darray_fill_element_(one, value, c, "darray_fill");
        const darray all = darray_broadcast_(one, x->rank, x->extent, NULL);
        if (!s && !(all.array && ha_op_copy_elements(x, &all, c))) s = HA_ERR_UNSUPPORTED;
        HA_IGNORE_(darray_free(&one));
    }
    return ha_op_tried(s, &before);
}

HA_IN_ int ha_op_fill_there(const darray *x, const void *value, ha_context *c) {
    const ha_dtype bytes = ha_op_type_of_bytes(x);
    int whole;
    if (!ha_op_compiles_at(c)) return 0;
    if (!bytes) return ha_op_fill_words(x, value, c);
    const ha_dvalue number = ha_dvalue_load(bytes, value);
    const ha_op_type *type = ha_op_type_of(bytes);
    ha_op_call call = {.operation = "darray_fill",
                       .context = c,
                       .arrays = 1,
                       .numbers = 2,
                       .view = {x},
                       .number = {number, number},
                       .key = {.type = type, .line = ha_op_line_of(&ha_op_fill, type, 0)}};
    ha_op_boxes b;
    ha_op_boxes_of_call(&b, &call, 1, 0, &whole);
    if (b.rank > HA_MAPPING_RANK) ha_op_boxes_of_call(&b, &call, 0, 1, &whole);
    return ha_op_launch_quietly(&call, &b);
}

/* ---- what views ask for -------------------------------------------------------------------------- */

static const ha_view_kernels ha_view_kernels_ = {ha_op_fill_there, ha_op_copy_there,
                                                 ha_op_equal_there, ha_op_compiles_at};

#endif
