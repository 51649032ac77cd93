/* Fills, copies, conversions and comparisons of views at devices, as kernels (ha_view_kernels). What cannot be done so, or fails, is
 * left to the host, which tells what is wrong. Elements are copied as integers of as many bytes. */
#ifndef HARRAY_IMPL_OPS_COPIES_H
#define HARRAY_IMPL_OPS_COPIES_H

#include "equal.h"

/* HA_DTYPE_NONE: no number has as many bytes. */
HA_IN_ ha_dtype ha_op_type_of_bytes(size_t bytes) {
    switch (bytes) {
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

/* As loops, where a device runs what is compiled here. */
HA_IN_ void ha_op_copy_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                             const ha_kernel_slot_ *slot) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    const ha_dtype to = ha_op_written_type(key), from = ha_op_copied_type(key);
    const int rank = kernel->rank;
    int64_t extent[HA_MAPPING_RANK], stride[2][HA_MAPPING_RANK];
    char *first[2];
    const size_t bytes[] = {ha_dtype_size(to), ha_dtype_size(from)};
    ha_misfit none;
    (void)apart;
    for (int k = 0; k < 2; k++) {
        const ha_kernel_span *span = (const ha_kernel_span *)slot[k].span;
        first[k] = (char *)slot[k].pointer;
        for (int d = 0; d < rank; d++) {
            extent[d] = box->last[d] - box->first[d];
            stride[k][d] = span->numbers[rank + d];
            first[k] += box->first[d] * stride[k][d] * (int64_t)bytes[k];
        }
    }
    HA_IGNORE_(ha_strided_convert(rank, extent, first[0], stride[0], to, first[1], stride[1], from,
                                  &none));
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
    k->op.kernel.loops = ha_op_copy_loops;
}

/* ---- at a device --------------------------------------------------------------------------------- */

/* A copy uses at most one text: its functions are given as NULL, too. */
HA_IN_ int ha_op_launch_quietly(ha_op_call *c, const ha_op_boxes *b) {
    if (b->rank > HA_MAPPING_RANK) return 0;
    const ha_error before = ha_op_try();
    return ha_op_tried(ha_op_launch(c, b, NULL), &before);
}

static const ha_op_line ha_op_copy_line = {.word = "copy", .kind = HA_OP_PLAIN, .arguments = 1};

HA_IN_ int ha_op_copy_elements(const darray *to, const darray *from, ha_context *c) {
    const int as_bytes = to->type == from->type;
    const ha_dtype bytes = ha_op_type_of_bytes(to->array->element);
    const ha_dtype written = as_bytes ? bytes : to->type, copied = as_bytes ? bytes : from->type;
    int whole;
    if (!written) return 0;
    ha_op_call call = {.operation = "darray_copy",
                       .context = c,
                       .arrays = 2,
                       .view = {*to, *from},
                       .key = {.type = ha_op_type_of(written),
                               .line = &ha_op_copy_line,
                               .make = ha_op_make_copy,
                               .of = {(int)copied, (int)written}}};
    ha_op_boxes b;
    ha_op_boxes_of_call(&b, &call, 0, 0, &whole);
    call.key.rank = b.rank;
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

HA_IN_ int ha_op_fill_there(const darray *x, const void *value, ha_context *c) {
    const ha_dtype bytes = ha_op_type_of_bytes(x->array->element);
    int whole;
    if (!bytes || !ha_op_compiles_at(c)) return 0;
    const ha_dvalue number = ha_dvalue_load(bytes, value);
    const ha_op_type *type = ha_op_type_of(bytes);
    ha_op_call call = {.operation = "darray_fill",
                       .context = c,
                       .arrays = 1,
                       .numbers = 2,
                       .view = {*x},
                       .number = {number, number},
                       .key = {.type = type, .line = &type->line[HA_OP_OF_PLACES + HA_FILL_]}};
    ha_op_boxes b;
    ha_op_boxes_of_call(&b, &call, 1, 0, &whole);
    call.key.rank = b.rank;
    return ha_op_launch_quietly(&call, &b);
}

/* ---- what views ask for -------------------------------------------------------------------------- */

static const ha_view_kernels ha_view_kernels_ = {ha_op_fill_there, ha_op_copy_there,
                                                 ha_op_equal_there};

#endif
