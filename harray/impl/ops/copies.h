/* Fills, copies, conversions and comparisons of views at devices, as kernels (ha_view_kernels). What cannot be done so, or fails, is
 * left to the host, which tells what is wrong. Elements are copied as integers of as many bytes. */
#ifndef HARRAY_IMPL_OPS_COPIES_H
#define HARRAY_IMPL_OPS_COPIES_H

#include "reduce.h"

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

HA_IN_ int ha_op_is_small_float(ha_dtype type) {
    return type == HA_DTYPE_half || type == HA_DTYPE_bfloat16;
}

/* Whether C converts as ha_convert does, and no value is refused. half and bfloat16 are made of what float has exactly:
 * all else would be rounded twice. */
HA_IN_ int ha_op_converts(ha_dtype from, ha_dtype to) {
    if (from == to) return 1;
    if (to == HA_DTYPE_bool || ha_scalars_may_misfit(from, to)) return 0;
    if (!ha_op_is_small_float(to)) return 1;
    return from == HA_DTYPE_float || ha_dtype_size(from) <= 2;
}

/* The element x as a number that C knows. */
HA_IN_ void ha_op_put_number(ha_text *t, const ha_op_key *key, ha_dtype from) {
    if (from == HA_DTYPE_bool) ha_print(t, "(");
    if (ha_op_is_small_float(from)) ha_print(t, "ha_%s_to_float(", ha_dtype_name(from));
    ha_op_put_element(t, key, 1);
    if (from == HA_DTYPE_bool) ha_print(t, " ? 1 : 0)");
    if (ha_op_is_small_float(from)) ha_print(t, ")");
}

HA_IN_ void ha_op_put_converted(ha_text *t, const ha_op_key *key, ha_dtype from, ha_dtype to) {
    const char *part = to == HA_DTYPE_c64 ? "float" : "double";
    const int of_complex = ha_dtype_kind(from) == HA_KIND_COMPLEX;
    if (from == to) {
        ha_op_put_element(t, key, 1);
    } else if (ha_dtype_kind(to) == HA_KIND_COMPLEX) {
        ha_print(t, "ha_%s_make((%s)", ha_dtype_name(to), part);
        ha_op_put_number(t, key, from);
        ha_print(t, of_complex ? ".re, (%s)" : ", (%s)0", part);
        if (of_complex) ha_op_put_number(t, key, from);
        ha_print(t, of_complex ? ".im)" : ")");
    } else {
        const int is_small = ha_op_is_small_float(to);
        if (is_small) ha_print(t, "ha_%s_of_float(", ha_dtype_name(to));
        ha_print(t, "(%s)", is_small ? "float" : ha_dtype_name(to));
        ha_op_put_number(t, key, from);
        if (is_small) ha_print(t, ")");
    }
}

/* The types of a copy: of[0] is that of what is copied. */
HA_IN_ ha_dtype ha_op_copied_type(const ha_op_key *key) { return (ha_dtype)key->of[0]; }

/* As loops, where a device runs what is compiled here. */
HA_IN_ void ha_op_copy_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                             const ha_kernel_slot_ *slot) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    const int rank = kernel->rank;
    int64_t extent[HA_MAPPING_RANK], stride[2][HA_MAPPING_RANK];
    char *first[2];
    const size_t bytes[] = {ha_dtype_size(key->type->type), ha_dtype_size(ha_op_copied_type(key))};
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
    HA_IGNORE_(ha_strided_convert(rank, extent, first[0], stride[0], key->type->type, first[1],
                                  stride[1], ha_op_copied_type(key), &none));
}

HA_IN_ void ha_op_make_copy(ha_op_kernel *k, const ha_op_key *key) {
    const ha_dtype to = key->type->type, from = ha_op_copied_type(key);
    const char *source = from == HA_DTYPE_bool ? "uint8_t" : ha_dtype_name(from);
    ha_text text = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "ha_copy_%s_to_%s_%d", ha_dtype_name(from), ha_dtype_name(to),
             key->rank);
    snprintf(k->type, sizeof k->type, "array_%s_%d", ha_dtype_name(to), key->rank);
    snprintf(k->other, sizeof k->other, "array_%s_%d", source, key->rank);
    ha_print(&text, "{ ");
    ha_op_put_element(&text, key, 0);
    ha_print(&text, " = ");
    ha_op_put_converted(&text, key, from, to);
    ha_print(&text, "; }");
    for (int n = 0; n < 2; n++) {
        ha_kernel_parameter_ *p = ha_op_add_parameter(k, n ? HA_KERNEL_IN_ : HA_KERNEL_OUT_,
                                                      ha_op_array_names[n], n ? k->other : k->type);
        p->rank = key->rank;
        p->bytes = ha_dtype_size(n ? from : to);
    }
    k->op.kernel.loops = ha_op_copy_loops;
}

/* ---- at a device --------------------------------------------------------------------------------- */

HA_IN_ int ha_op_compiles_at(ha_context *c) { return ha_way_of(c) == HA_WAY_COMPILED; }

/* Without a word when it fails. */
HA_IN_ int ha_op_launch_quietly(ha_op_call *c, const ha_op_boxes *b) {
    const ha_error before = ha_later_error.error;
    if (b->rank > HA_MAPPING_RANK) return 0;
    ha_tell_later();
    const ha_status s = ha_op_launch(c, b, NULL);
    ha_later_error.error = before;
    ha_tell_now();
    return s == HA_OK;
}

static const ha_op_line ha_op_copy_line = {.word = "copy", .kind = HA_OP_PLAIN, .arguments = 1};

HA_IN_ int ha_op_copy_there(const darray *to, const darray *from, ha_context *c) {
    const ha_dtype bytes = ha_op_type_of_bytes(to->array->element);
    const int as_bytes = to->type == from->type;
    const ha_op_type *type = ha_op_type_of(as_bytes ? bytes : to->type);
    int whole;
    if (!type || !ha_op_compiles_at(c)) return 0;
    if (!as_bytes && !ha_op_converts(from->type, to->type)) return 0;
    ha_op_call call = {.operation = "darray_copy",
                       .context = c,
                       .arrays = 2,
                       .view = {*to, *from},
                       .key = {.type = type,
                               .line = &ha_op_copy_line,
                               .make = ha_op_make_copy,
                               .of = {(int)(as_bytes ? bytes : from->type)}}};
    ha_op_boxes b;
    ha_op_boxes_of_call(&b, &call, 0, 0, &whole);
    call.key.rank = b.rank;
    return ha_op_launch_quietly(&call, &b);
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

/* ---- where the values are ------------------------------------------------------------------------ */

/* A device at which both are valid, when the host would have to fetch one of them; NULL: there is none. */
HA_IN_ ha_context *ha_op_where_both_are(const darray *x, const darray *y) {
    ha_context *c = ha_array_valid_context(x->array);
    if (!c || ha_is_host(c) || !ha_view_is_valid_at(x, c) || !ha_view_is_valid_at(y, c))
        return NULL;
    return ha_view_is_valid_at(x, ha_host()) && ha_view_is_valid_at(y, ha_host()) ? NULL : c;
}

/* Numbers of the same type; those of bool may be any bytes. */
HA_IN_ int ha_op_equal_there(const darray *x, const darray *y, int *equal) {
    ha_context *c = ha_op_where_both_are(x, y);
    if (!c || x->type != y->type || x->type == HA_DTYPE_bool || !ha_op_type_of(x->type) ||
        !ha_op_compiles_at(c))
        return 0;
    ha_op_reduction r = {{.operation = "darray_equal", .context = c, .arrays = 2, .view = {*x, *y}},
                         HA_LANE_DIFFERS_,
                         HA_SUM};
    ha_dvalue differ;
    const ha_error before = ha_later_error.error;
    ha_tell_later();
    const ha_status s = ha_op_reduce(&r, 1, &differ);
    ha_later_error.error = before;
    ha_tell_now();
    if (!s) *equal = differ.as_int64_t == 0;
    return s == HA_OK;
}

static const ha_view_kernels ha_view_kernels_ = {ha_op_fill_there, ha_op_copy_there,
                                                 ha_op_equal_there};

#endif
