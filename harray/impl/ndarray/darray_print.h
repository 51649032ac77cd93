/* Arrays of n dimensions as text: what they are, and their elements. darray_text.h has the layout.
 * Of what is on a device only those elements move that are shown. */
#ifndef HARRAY_IMPL_NDARRAY_DARRAY_PRINT_H
#define HARRAY_IMPL_NDARRAY_DARRAY_PRINT_H

#include "darray_text.h"
#include "open_view.h"
#include "view.h"
#include "../../print.h"
#include "../array/all.h"

/* ---- what an array is ----------------------------------------------------------------------- */

HA_IN_ void ha_print_type(ha_text *t, const darray *x) {
    if (!x->array)
        ha_print(t, "no array");
    else
        ha_print(t, "%.32s %d", ha_view_type_name(x), x->rank);
}

HA_IN_ void ha_print_numbers(ha_text *t, const char *before, const darray *x,
                             const int64_t *numbers) {
    ha_print(t, "%s[%s]", before, ha_show(x->rank, numbers).text);
}

size_t darray_print_type(darray x, char *text, size_t bytes) {
    ha_text t = ha_text_into(text, bytes);
    ha_print_type(&t, &x);
    return t.length;
}

HA_IN_ const char *ha_order_name(const darray *x) {
    const int row = ha_extents_contiguous(x->rank, x->extent, x->stride, HA_ROW_MAJOR);
    const int column = ha_extents_contiguous(x->rank, x->extent, x->stride, HA_COLUMN_MAJOR);
    if (row != column) return row ? "row-major" : "column-major";
    if (row || ha_view_has_no_gaps(x)) return "without gaps";
    return darray_repeats(*x) ? "repeating elements" : "with gaps";
}

HA_IN_ void ha_print_valid(ha_text *t, const darray *x) {
    const char *before = ", valid on ";
    ha_range box;
    ha_array *a = ha_lockable(x->array);
    ha_lock(a);
    (void)ha_view_cover(a->grid, x, &box);
    for (const ha_incarnation *in = &a->first; in; in = in->next) {
        if (ha_is_empty(box) || !ha_set_contains(&in->valid, box)) continue;
        ha_print(t, "%s%s", before, ha_memory_context(in->memory)->name);
        before = ", ";
    }
    ha_unlock(a);
    if (before[2] == 'v') ha_print(t, ", valid nowhere");
}

size_t darray_describe(darray x, char *text, size_t bytes) {
    ha_text t = ha_text_into(text, bytes);
    const char *name = x.array && ha_may_look_(x.array) ? ha_array_name(x.array) : "";
    if (*name) ha_print(&t, "'%s': ", name);
    ha_print_type(&t, &x);
    if (!x.array || !ha_rank_is_valid(x.rank)) return t.length;
    ha_print_numbers(&t, " ", &x, x.extent);
    ha_print_numbers(&t, ", strides ", &x, x.stride);
    ha_print(&t, ", %s", ha_order_name(&x));
    for (int d = 0, told = 0; d < x.rank && !told; d++)
        if ((told = x.origin[d] != 0)) ha_print_numbers(&t, ", origin ", &x, x.origin);
    if (x.offset) ha_print(&t, ", offset %lld", (long long)x.offset);
    if (ha_may_look_(x.array)) ha_print_valid(&t, &x);
    return t.length;
}

/* ---- its elements --------------------------------------------------------------------------- */

/* A box of those that are shown: of each dimension the first indices or, where the bit is set, the
 * last ones. */
typedef struct ha_shown_box {
    darray view;
    int64_t first[HA_MOST_RANK]; /* where it begins among what is shown */
} ha_shown_box;

HA_IN_ ha_shown_box ha_shown_box_of(const darray *x, const ha_shown *s, unsigned last) {
    ha_shown_box b = {.view = *x};
    for (int d = 0; d < x->rank; d++) {
        b.view.extent[d] = s->first[d];
        if (!(last >> d & 1)) continue;
        b.view.extent[d] = s->last[d];
        b.view.offset += (x->extent[d] - s->last[d]) * x->stride[d];
        b.first[d] = s->first[d];
    }
    return b;
}

/* From an open access to their places among what is shown. */
HA_IN_ void ha_shown_take(const ha_shown *s, const ha_shown_box *b, const void *data,
                          char *values) {
    const size_t size = ha_dtype_size(b->view.type);
    const char *first = (const char *)data;
    int64_t index[HA_MOST_RANK] = {0};
    for (int d = 0; d >= 0;) {
        int64_t place = 0;
        for (int e = 0; e < s->rank; e++)
            place = place * (s->first[e] + s->last[e]) + b->first[e] + index[e];
        memcpy(values + (size_t)place * size,
               first + ha_offset(s->rank, index, b->view.stride) * (int64_t)size, size);
        for (d = s->rank - 1; d >= 0 && ++index[d] == b->view.extent[d]; d--) index[d] = 0;
    }
}

HA_IN_ ha_status ha_shown_fetch(const darray *x, const ha_shown *s, char *values,
                                const char *operation) {
    for (unsigned last = 0; last < 1u << s->rank; last++) {
        ha_access v = {0};
        int is_box = s->count > 0;
        for (int d = 0; d < s->rank; d++) is_box &= !(last >> d & 1) || s->last[d];
        if (!is_box) continue;
        const ha_shown_box b = ha_shown_box_of(x, s, last);
        ha_status status = ha_open_darray(&v, &b.view, ha_host(), HA_READ, operation, operation);
        if (status) return status;
        ha_shown_take(s, &b, v.data, values);
        HA_IGNORE_(ha_close_(&v));
    }
    return HA_OK;
}

/* The values that are shown, to be freed. */
HA_IN_ ha_status ha_shown_values(const darray *x, ha_shown *s, char **values,
                                 const char *operation) {
    *values = NULL;
    if (!x->array)
        return ha_fail(HA_ERR_ARGUMENT, operation,
                       "%s: no array: it was freed, or refused (an earlier error says why)",
                       operation);
    if (!x->type)
        return ha_fail(HA_ERR_UNSUPPORTED, operation,
                       "elements of type %.32s: harray does not know what is in them",
                       ha_array_type(x->array).name);
    ha_status status = ha_view_check(x, operation);
    if (status) return status;
    *s = ha_shown_of(x->rank, x->extent);
    *values = (char *)HARRAY_MALLOC((size_t)(s->count + 1) * ha_dtype_size(x->type));
    if (!*values)
        return ha_fail(HA_ERR_MEMORY, operation, "no memory for %lld values", (long long)s->count);
    status = ha_shown_fetch(x, s, *values, operation);
    if (!status) return HA_OK;
    HARRAY_FREE(*values);
    *values = NULL;
    return status;
}

/* Above it the extents, when they cannot be seen. */
HA_IN_ void ha_darray_text(const darray *x, const ha_shown *s, const char *values, ha_text *t) {
    if (s->is_cut || !s->count) {
        ha_print_type(t, x);
        ha_print_numbers(t, " ", x, x->extent);
        ha_print(t, "\n");
    }
    ha_shown_print(s, x->type, values, t);
}

size_t darray_print(darray x, char *text, size_t bytes) {
    ha_text t = ha_text_into(text, bytes);
    ha_shown s;
    char *values;
    if (ha_shown_values(&x, &s, &values, "darray_print")) return 0;
    ha_darray_text(&x, &s, values, &t);
    HARRAY_FREE(values);
    return t.length;
}

HA_IN_ ha_status ha_darray_write(const darray *x, const ha_shown *s, const char *values,
                                 FILE *file) {
    ha_text t = {0};
    ha_darray_text(x, s, values, &t);
    t.bytes = t.length + 1;
    t.length = 0;
    t.at = (char *)HARRAY_MALLOC(t.bytes);
    if (!t.at) return ha_fail(HA_ERR_MEMORY, "darray_fprint", "no memory for %zu bytes", t.bytes);
    ha_darray_text(x, s, values, &t);
    const int written = fwrite(t.at, 1, t.length, file) == t.length;
    HARRAY_FREE(t.at);
    if (written) return HA_OK;
    return ha_fail(HA_ERR_BACKEND, "darray_fprint", "the file could not be written");
}

ha_status darray_fprint(darray x, FILE *file) {
    ha_shown s;
    char *values;
    if (!file) return ha_fail(HA_ERR_ARGUMENT, "darray_fprint", "the file is NULL");
    ha_status status = ha_shown_values(&x, &s, &values, "darray_fprint");
    if (!status) status = ha_darray_write(&x, &s, values, file);
    HARRAY_FREE(values);
    return status;
}

#endif
