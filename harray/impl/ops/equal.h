/* Are two views equal, as darray_equal says? Looked at where both are: for the first element that differs from the other
 * one. Elements that are no numbers are equal when their bytes are. */
#ifndef HARRAY_IMPL_OPS_EQUAL_H
#define HARRAY_IMPL_OPS_EQUAL_H

#include "first_place.h"
#include "words.h"

/* ---- as text ------------------------------------------------------------------------------------- */

/* Integers of 64 bits and doubles. */
HA_DEVICE_CODE(
    ha_equals_,
    HA_FN int ha_equals_integer_(int64_t x, double y) {
        if (!(y >= -9223372036854775808.0 && y < 9223372036854775808.0)) return 0;
        return (int64_t)y == x && (double)(int64_t)y == y;
    } HA_FN int ha_equals_natural_(uint64_t x, double y) {
        if (!(y >= 0 && y < 18446744073709551616.0)) return 0;
        return (uint64_t)y == x && (double)(uint64_t)y == y;
    });

/* Has float all numbers of this type? */
HA_IN_ int ha_float_has(ha_dtype type) {
    return type == HA_DTYPE_float || (!ha_value_is_real(type) && ha_dtype_size(type) <= 2);
}

HA_IN_ void ha_put_integers_unequal(ha_text *t, ha_dtype x, const char *u, ha_dtype y,
                                    const char *v) {
    const int x_sign = ha_value_has_sign(x), y_sign = ha_value_has_sign(y);
    const char *word = x_sign && y_sign ? "int64_t" : "uint64_t";
    if (x_sign != y_sign) ha_print(t, "%s < 0 || ", x_sign ? u : v);
    ha_print(t, "(%s)%s != (%s)%s", word, u, word, v);
}

/* Real ones, as they are read: exactly, and a NaN differs from everything. */
HA_IN_ void ha_put_reals_unequal(ha_text *t, ha_dtype x, const char *u, ha_dtype y, const char *v,
                                 int *needs) {
    const int x_whole = !ha_value_is_real(x), y_whole = !ha_value_is_real(y);
    const char *word = ha_float_has(x) && ha_float_has(y) ? "float" : "double";
    if (x_whole && y_whole) {
        ha_put_integers_unequal(t, x, u, y, v);
    } else if (y_whole && ha_dtype_size(y) == 8) {
        ha_put_reals_unequal(t, y, v, x, u, needs);
    } else if (x_whole && ha_dtype_size(x) == 8) {
        ha_print(t, "!ha_equals_%s_(%s, (double)%s)", ha_value_has_sign(x) ? "integer" : "natural",
                 u, v);
        *needs = 1;
    } else {
        ha_print(t, "(%s)%s != (%s)%s", word, u, word, v);
    }
}

/* u of type x and v of type y. *needs: the functions above. */
HA_IN_ void ha_put_unequal(ha_text *t, ha_dtype x, ha_dtype y, int *needs) {
    const int x_complex = ha_type_is_complex(x), y_complex = ha_type_is_complex(y);
    const ha_dtype a = ha_type_of_parts(x), b = ha_type_of_parts(y);
    ha_put_reals_unequal(t, a, x_complex ? "u.re" : "u", b, y_complex ? "v.re" : "v", needs);
    if (!x_complex && !y_complex) return;
    ha_print(t, " || ");
    if (x_complex && y_complex)
        ha_put_reals_unequal(t, a, "u.im", b, "v.im", needs);
    else
        ha_print(t, "!(%s.im == 0)", x_complex ? "u" : "v");
}

/* ---- where a device runs what is compiled here ---------------------------------------------------- */

HA_IN_ int ha_first_differs(const ha_op_key *key, const ha_kernel_slot_ *slot, int64_t n) {
    const ha_dtype x = (ha_dtype)key->of[0], y = (ha_dtype)key->of[1];
    return !ha_equal_many(ha_first_element(key, slot, 0, n), x, ha_first_element(key, slot, 1, n),
                          y, ha_dtype_size(x), 1);
}

HA_IN_ int ha_first_bytes_differ(const ha_op_key *key, const ha_kernel_slot_ *slot, int64_t n) {
    const int64_t bytes = key->of[0];
    return memcmp((const char *)slot[0].pointer + ha_index_place(&slot[0], key->rank, n) * bytes,
                  (const char *)slot[1].pointer + ha_index_place(&slot[1], key->rank, n) * bytes,
                  (size_t)bytes) != 0;
}

HA_IN_ void ha_unequal_parts(const ha_kernel *kernel, const ha_region *box, int64_t first,
                             int64_t last, int apart, const ha_kernel_slot_ *slot, void *partials) {
    (void)box, (void)apart;
    ha_first_parts(kernel, first, last, slot, partials, ha_first_differs);
}

HA_IN_ void ha_unequal_bytes_parts(const ha_kernel *kernel, const ha_region *box, int64_t first,
                                   int64_t last, int apart, const ha_kernel_slot_ *slot,
                                   void *partials) {
    (void)box, (void)apart;
    ha_first_parts(kernel, first, last, slot, partials, ha_first_bytes_differ);
}

static const ha_reduction_ ha_first_unequal = HA_FIRST_PLACE_(ha_unequal_parts);
static const ha_reduction_ ha_first_unequal_bytes = HA_FIRST_PLACE_(ha_unequal_bytes_parts);

/* ---- the kernel ---------------------------------------------------------------------------------- */

/* of: the types of both. */
HA_IN_ void ha_first_make_unequal(ha_op_kernel *k, const ha_op_key *key) {
    const ha_dtype x = (ha_dtype)key->of[0], y = (ha_dtype)key->of[1];
    int needs = 0;
    ha_text t = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "ha_unequal_%s_%s_%d", ha_dtype_name(x), ha_dtype_name(y),
             key->rank);
    ha_first_add_view(k, key, 1, x);
    ha_first_add_view(k, key, 2, y);
    ha_print(&t, "{ ");
    ha_put_read(&t, key, 1, x, "u");
    ha_put_read(&t, key, 2, y, "v");
    ha_print(&t, "return ");
    ha_put_unequal(&t, x, y, &needs);
    ha_print(&t, " ? ");
    ha_first_put_number(&t, key);
    ha_print(&t, " : 9223372036854775807; }");
    if (needs) ha_op_add_parameter(k, HA_KERNEL_USES_, "ha_equals_", ha_uses_ha_equals_);
    ha_first_end(k, key, &ha_first_unequal);
}

/* of: the bytes of an element, and of a word */
HA_IN_ void ha_first_make_unequal_bytes(ha_op_kernel *k, const ha_op_key *key) {
    ha_text t = ha_words_begin(k, key, "ha_unequal_words_", 1);
    ha_print(&t, "if (");
    ha_words_put_word(&t, key, 1);
    ha_print(&t, " != ");
    ha_words_put_word(&t, key, 2);
    ha_print(&t, ") return ");
    ha_first_put_number(&t, key);
    ha_print(&t, "; return 9223372036854775807; }");
    ha_first_end(k, key, &ha_first_unequal_bytes);
}

/* ---- the call ------------------------------------------------------------------------------------ */

/* A device at which both are valid, when the host would have to fetch one of them; NULL: there is none. */
HA_IN_ ha_context *ha_op_where_both_are(const darray *x, const darray *y) {
    ha_context *c = ha_array_valid_context(x->array);
    if (!c || ha_is_host(c) || !ha_view_is_valid_at(x, c) || !ha_view_is_valid_at(y, c))
        return NULL;
    return ha_view_is_valid_at(x, ha_host()) && ha_view_is_valid_at(y, ha_host()) ? NULL : c;
}

/* How elements are compared. 0: they have too many bytes. */
HA_IN_ int ha_op_equal_key(const darray *x, const darray *y, ha_op_key *key) {
    *key = (ha_op_key){.make = x->type ? ha_first_make_unequal : ha_first_make_unequal_bytes,
                       .of = {(int)x->type, (int)y->type}};
    return x->type || ha_words_of(x, y, key->of);
}

/* 0: it cannot be looked at there. */
HA_IN_ int ha_op_equal_there(const darray *x, const darray *y, int *equal) {
    ha_context *c = ha_op_where_both_are(x, y);
    const darray *const view[] = {x, y};
    ha_op_key key;
    int64_t first;
    if (!c || !ha_op_compiles_at(c) || !ha_op_equal_key(x, y, &key)) return 0;
    const ha_error before = ha_op_try();
    if (!ha_op_tried(ha_first_look(&key, view, 2, "darray_equal", c, &first), &before)) return 0;
    *equal = first == INT64_MAX;
    return 1;
}

#endif
