/* The first element, in the order of the indices, of which something is so: that another type has no place for it. It is looked
 * for at devices that compile kernels; one number comes back. */
#ifndef HARRAY_IMPL_OPS_FIRST_PLACE_H
#define HARRAY_IMPL_OPS_FIRST_PLACE_H

#include "conversions.h"
#include "indices.h"

/* ---- without a word ------------------------------------------------------------------------------ */

/* What is tried at a device first is not told when it fails: the host does it then, or tells what is wrong. */
HA_IN_ ha_error ha_op_try(void) {
    const ha_error before = ha_later_error.error;
    ha_tell_later();
    return before;
}

HA_IN_ int ha_op_tried(ha_status s, const ha_error *before) {
    ha_later_error.error = *before;
    ha_tell_now();
    return s == HA_OK;
}

HA_IN_ int ha_op_compiles_at(ha_context *c) { return ha_way_of(c) == HA_WAY_COMPILED; }

/* ---- where a device runs what is compiled here ---------------------------------------------------- */

/* Is it so of this lane? */
typedef int ha_first_test(const ha_op_key *key, const ha_kernel_slot_ *slot, int64_t n);

HA_IN_ const char *ha_first_element(const ha_op_key *key, const ha_kernel_slot_ *slot, int k,
                                    int64_t n) {
    return (const char *)slot[k].pointer +
           ha_index_place(&slot[k], key->rank, n) * (int64_t)ha_dtype_size((ha_dtype)key->of[k]);
}

HA_IN_ int ha_first_misfits(const ha_op_key *key, const ha_kernel_slot_ *slot, int64_t n) {
    return !ha_scalars_fit((ha_dtype)key->of[1], ha_first_element(key, slot, 0, n),
                           (ha_dtype)key->of[0], 1);
}

HA_IN_ void ha_first_parts(const ha_kernel *kernel, int64_t first, int64_t last,
                           const ha_kernel_slot_ *slot, void *partials, ha_first_test *is_so) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    int64_t *place = (int64_t *)partials;
    for (; first < last; first += HA_PART_LANES_, place++) {
        const int64_t end = HA_LESS(first + HA_PART_LANES_, last);
        int64_t n = first;
        while (n < end && !is_so(key, slot, n)) n++;
        *place = n < end ? n : INT64_MAX;
    }
}

HA_IN_ void ha_misfit_parts(const ha_kernel *kernel, const ha_region *box, int64_t first,
                            int64_t last, int apart, const ha_kernel_slot_ *slot, void *partials) {
    (void)box, (void)apart;
    ha_first_parts(kernel, first, last, slot, partials, ha_first_misfits);
}

static const ha_reduction_ ha_first_misfit = HA_FIRST_PLACE_(ha_misfit_parts);

/* ---- the kernels --------------------------------------------------------------------------------- */

/* What there is of bool is bytes. */
HA_IN_ ha_dtype ha_type_of_elements(ha_dtype type) {
    return type == HA_DTYPE_bool ? HA_DTYPE_uint8_t : type;
}

HA_IN_ void ha_first_add_view(ha_op_kernel *k, const ha_op_key *key, int n, ha_dtype type) {
    ha_index_add_view(k, HA_KERNEL_IN_, ha_op_pair_names[n], ha_type_of_elements(type), key->rank);
}

/* The lane's number in the order of the indices: (i * x.extent[1] + j) * x.extent[2] + k */
HA_IN_ void ha_first_put_number(ha_text *t, const ha_op_key *key) {
    static const char *const index = "ijkl";
    const int rank = ha_op_by_number(key) ? 1 : key->rank;
    for (int d = 2; d < rank; d++) ha_print(t, "(");
    ha_print(t, "i");
    for (int d = 1; d < rank; d++)
        ha_print(t, " * x.extent[%d] + %c%s", d, index[d], d + 1 < rank ? ")" : "");
}

/* What elements are found by, where they are by number. */
HA_IN_ void ha_op_add_place(ha_op_kernel *k, const ha_op_key *key) {
    if (ha_op_by_number(key))
        ha_op_add_parameter(k, HA_KERNEL_USES_, "ha_strided_place", ha_uses_ha_strided_place);
}

/* Behind its views: what else the text uses, and the result. */
HA_IN_ void ha_first_end(ha_op_kernel *k, const ha_op_key *key, const ha_reduction_ *reduction) {
    ha_op_add_place(k, key);
    ha_index_reduces(k, reduction);
    k->op.kernel.rank = ha_op_by_number(key) ? 1 : key->rank;
}

/* of: the type of the elements, and the other one. */
HA_IN_ void ha_first_make_misfit(ha_op_kernel *k, const ha_op_key *key) {
    const ha_dtype from = (ha_dtype)key->of[0], to = (ha_dtype)key->of[1];
    ha_text t = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "ha_misfit_%s_to_%s_%d", ha_dtype_name(from),
             ha_dtype_name(to), key->rank);
    ha_first_add_view(k, key, 1, from);
    ha_first_end(k, key, &ha_first_misfit);
    ha_print(&t, "{ ");
    ha_put_read(&t, key, 1, from, "u");
    ha_print(&t, "return ");
    ha_put_misfits(&t, to, from);
    ha_print(&t, " ? ");
    ha_first_put_number(&t, key);
    ha_print(&t, " : 9223372036854775807; }");
}

/* ---- looking for it ------------------------------------------------------------------------------ */

/* In views of the same extents, none of which is 0. *first: INT64_MAX where there is none, and after errors. */
HA_IN_ ha_status ha_first_look(ha_op_key *key, const darray *const *view, int views,
                               const char *operation, ha_context *c, int64_t *first) {
    ha_op_boxes b;
    ha_typed typed[2];
    const void *given[HA_OP_PARAMETERS];
    ha_region box = {{0}, {0}};
    _Alignas(16) int64_t place[2] = {INT64_MAX, 0};
    const ha_kernel_result_ into = {NULL, 0, place};
    *first = INT64_MAX;
    ha_op_boxes_of(&b, view, views, 1);
    key->rank = b.rank;
    const ha_kernel *k = ha_op_kernel_of(key);
    if (!k) return ha_fail(HA_ERR_MEMORY, operation, "no memory for its kernel");
    for (int i = 0; i < views; i++) {
        ha_op_set_typed(&typed[i], &b, i, view[i]->array);
        given[i] = &typed[i];
    }
    for (int i = views; i < k->parameters; i++) given[i] = NULL; /* what it uses */
    given[k->parameters - 1] = &into;
    if (ha_op_by_number(key))
        box.last[0] = ha_op_elements(&b);
    else
        for (int d = 0; d < b.rank; d++) box.last[d] = b.extent[d];
    const ha_status s = ha_kernel_launch_(k, c, &box, given);
    *first = place[0];
    return s;
}

/* ---- what does not fit --------------------------------------------------------------------------- */

/* The n-th element, which another type has no place for: so says the device, and so must the host. */
HA_IN_ ha_status ha_misfit_at(const darray *from, ha_dtype to, int64_t n, ha_misfit *misfit) {
    ha_dvalue converted = {.type = to};
    darray from_0 = *from;
    memset(from_0.origin, 0, sizeof from_0.origin);
    for (int d = from->rank - 1; d >= 0; d--) {
        misfit->index[d] = n % from->extent[d];
        n /= from->extent[d];
    }
    const ha_status s = darray_get_(from_0, from->rank, misfit->index, &misfit->value, NULL);
    if (s) return s;
    const ha_wide wide = ha_widen(&misfit->value);
    misfit->objection = ha_put(&wide, &converted);
    return misfit->objection ? HA_OK : HA_ERR_UNSUPPORTED;
}

/* The first one, if there is any. */
HA_IN_ ha_status ha_misfit_look(const darray *from, ha_dtype to, ha_context *c, ha_misfit *misfit) {
    ha_op_key key = {.make = ha_first_make_misfit, .of = {(int)from->type, (int)to}};
    int64_t first;
    const ha_status s = ha_first_look(&key, &from, 1, "darray_copy", c, &first);
    return s || first == INT64_MAX ? s : ha_misfit_at(from, to, first, misfit);
}

#endif
