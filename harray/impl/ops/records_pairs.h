/* Which fields of two records meet each other, and a kernel's body for them: of the fields of the same path, those that
 * are asked for. */
#ifndef HARRAY_IMPL_OPS_RECORDS_PAIRS_H
#define HARRAY_IMPL_OPS_RECORDS_PAIRS_H

#include "records_kernels.h"
#include "records_values.h"

typedef struct ha_pairing {
    const ha_record *left, *right;
    ha_leaf_pair *pair; /* those that are chosen; to be freed */
    int64_t pairs;
    ha_operator operation;
    /* The right side in the body, "ha_those_", or "ha_these_" where it is the left one, and where; NULL: y is there. */
    const char *of, *at;
    const char *from; /* "q", "p" */
} ha_pairing;

/* HA_ERR_MEMORY. That the paths are right is known. */
HA_IN_ ha_status ha_pairing_make(ha_pairing *p, int64_t left_leaves, int64_t right_leaves,
                                 const char *paths) {
    const ha_asked nobody = ha_ask("", NULL);
    const size_t n = (size_t)left_leaves, both = n + (size_t)right_leaves;
    int64_t chosen = 0;
    char *room = (char *)HARRAY_MALLOC(n * sizeof *p->pair + both * sizeof(ha_named_leaf));
    if (!room) return HA_ERR_MEMORY;
    p->pair = (ha_leaf_pair *)(void *)room;
    p->pairs = ha_pair_leaves(p->left, left_leaves, p->right, right_leaves,
                              (ha_named_leaf *)(void *)(p->pair + n), p->pair);
    (void)!ha_choose_paths(&nobody, p->left, p->pair, p->pairs, paths, "");
    for (int64_t k = 0; k < p->pairs; k++)
        if (p->pair[k].is_chosen) p->pair[chosen++] = p->pair[k];
    p->pairs = chosen;
    return HA_OK;
}

/* "write pos.x+mass": how one of the sides is opened. */
HA_IN_ void ha_pairing_put_what(ha_text *t, const ha_pairing *p, const char *mode, int right) {
    char name[HA_FIELD_PATH];
    for (int64_t k = 0; k < p->pairs; k++) {
        const ha_leaf_pair *pair = &p->pair[k];
        (void)ha_leaf_name_(right ? p->right : p->left, right ? &pair->from : &pair->to, name,
                            sizeof name);
        ha_print(t, "%s%s", k ? "+" : mode, name);
    }
}

/* Can a kernel compute it? */
HA_IN_ int ha_pairing_has_text(const ha_pairing *p) {
    for (int64_t k = 0; k < p->pairs; k++)
        if (!ha_value_has_text(p->operation, p->pair[k].to.type, p->pair[k].from.type)) return 0;
    return 1;
}

/* The device code that a body calls, behind the other arguments of its kernel. */
HA_IN_ void ha_pairing_add_uses(ha_made_kernel *made, const ha_value_needs *needs) {
    if (needs->nearest) ha_made_add(made, HA_KERNEL_USES_, "ha_nearest_", ha_uses_ha_nearest_);
    if (needs->whole) ha_made_add(made, HA_KERNEL_USES_, "ha_whole_", ha_uses_ha_whole_);
    if (needs->product) ha_made_add(made, HA_KERNEL_USES_, "ha_product_", ha_uses_ha_product_);
}

/* ---- the body ------------------------------------------------------------------------------------ */

/* The names of the field a leaf is of. */
HA_IN_ ha_device_field ha_pairing_field(const ha_record *record, const ha_leaf *leaf) {
    return ha_device_field_of(record, leaf->field, 0);
}

/* Are all leaves of a field here, one after the other, and so on the other side? Then they are a loop. */
HA_IN_ int ha_pairing_is_whole(const ha_pairing *p, int64_t k, const ha_device_field *f,
                               const ha_device_field *g) {
    const ha_leaf_pair *first = &p->pair[k];
    int is = f->leaves > 1 && f->rank == g->rank && k + f->leaves <= p->pairs;
    for (int d = 0; d < f->rank && is; d++)
        is = f->extent[d] == g->extent[d] && !first->to.subscript[d] && !first->from.subscript[d];
    return is && first[f->leaves - 1].to_number == first->to_number + f->leaves - 1 &&
           first[f->leaves - 1].from_number == first->from_number + f->leaves - 1;
}

HA_IN_ void ha_pairing_put_subscripts(ha_text *t, const ha_leaf *leaf, int rank) {
    for (int d = 0; d < rank; d++) ha_print(t, ", %lld", (long long)leaf->subscript[d]);
}

/* What is done with one leaf, or all of a field in a loop. */
HA_IN_ void ha_pairing_put_leaf(ha_text *t, const ha_pairing *p, const ha_leaf_pair *pair,
                                const ha_device_field *f, const ha_device_field *g, int is_whole,
                                ha_value_needs *needs) {
    const ha_dtype left = pair->to.type, right = pair->from.type;
    const int is_complex = ha_dtype_kind(left) == HA_KIND_COMPLEX;
    char to[40 * HA_MOST_SUBSCRIPTS], from[40 * HA_MOST_SUBSCRIPTS];
    ha_text subscripts = ha_text_into(to, sizeof to), others = ha_text_into(from, sizeof from);
    *to = *from = 0;
    if (is_whole) {
        ha_put_subscripts(&subscripts, f, 0);
        ha_put_subscripts(&others, g, 0);
    } else {
        ha_pairing_put_subscripts(&subscripts, &pair->to, f->rank);
        ha_pairing_put_subscripts(&others, &pair->from, g->rank);
    }
    ha_print(t, "{ ");
    if (p->of)
        ha_print(t, "const %s y = %s%s_get(%s, %s%s); ", ha_device_word(right), p->of, g->name,
                 p->from, p->at, from);
    if (p->operation != HA_ASSIGN)
        ha_print(t, "%s x = ha_these_%s_get(p, at%s); ", ha_device_word(left), f->name, to);
    else if (is_complex)
        ha_print(t, "%s x; ", ha_device_word(left));
    if (is_complex) ha_value_put_parts(t, p->operation, left, right, needs);
    ha_print(t, "ha_these_%s_set(p, at%s, ", f->name, to);
    if (is_complex)
        ha_print(t, "x");
    else
        ha_value_put_operated(t, p->operation, left, right, "x", "y", needs);
    ha_print(t, "); } ");
}

HA_IN_ void ha_pairing_put_body(ha_text *t, const ha_pairing *p, ha_value_needs *needs) {
    for (int64_t k = 0, n; k < p->pairs; k += n) {
        const ha_leaf_pair *pair = &p->pair[k];
        const ha_device_field f = ha_pairing_field(p->left, &pair->to);
        const ha_device_field g = ha_pairing_field(p->right, &pair->from);
        const int is_whole = ha_pairing_is_whole(p, k, &f, &g);
        n = is_whole ? f.leaves : 1;
        for (int d = 0; d < f.rank && is_whole; d++)
            ha_print(t, "for (int e%d = 0; e%d < %lld; e%d++) ", d, d, (long long)f.extent[d], d);
        ha_pairing_put_leaf(t, p, pair, &f, &g, is_whole, needs);
    }
}

#endif
