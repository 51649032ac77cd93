/* Elements that others own, as arrays. Common to all ways by which they come (dlpack.h,
 * array_interface.h). */
#ifndef HARRAY_IMPL_EXCHANGE_FOREIGN_H
#define HARRAY_IMPL_EXCHANGE_FOREIGN_H

#include "../../darray.h"
#include "../elements/all.h"
#include "../transfer/all.h"

/* What there is, as somebody else says. */
typedef struct ha_foreign {
    ha_dtype type;
    int rank;
    const int64_t *extent, *stride; /* in elements; stride: NULL: row-major without gaps */
    uintptr_t data;                 /* of the first element */
    ha_context *place;
    int read_only;
    ha_context *behind; /* whose queue has brought the values in order; the host: they are there */
} ha_foreign;

HA_IN_ ha_status ha_foreign_fail(const ha_foreign *f, ha_status s, const char *operation,
                                 const char *why) {
    return ha_fail(s, operation, "%s (%s) at %s: %s", ha_dtype_name(f->type),
                   ha_show(f->rank, f->extent).text, f->place->name, why);
}

HA_IN_ int ha_foreign_repeats(const ha_foreign *f, int d) {
    return f->stride && !f->stride[d] && f->extent[d] > 1;
}

HA_IN_ ha_status ha_foreign_check(const ha_foreign *f, const char *operation) {
    int64_t count;
    ha_status s = ha_extents_count(f->rank, f->extent, 0, &count, operation);
    if (s || !count) return s;
    if (!f->data) return ha_foreign_fail(f, HA_ERR_ARGUMENT, operation, "its data is NULL");
    if (f->data % ha_dtype_alignment(f->type))
        return ha_foreign_fail(f, HA_ERR_ARGUMENT, operation,
                               "its data is not aligned for its type: a copy would be");
    return HA_OK;
}

/* Dimensions in which elements repeat themselves are ones of the view alone. */
HA_IN_ darray ha_foreign_view(const ha_foreign *f) {
    int64_t extent[HA_MOST_RANK];
    for (int d = 0; d < f->rank; d++) extent[d] = ha_foreign_repeats(f, d) ? 1 : f->extent[d];
    darray x = darray_wrap(f->type, f->rank, extent, f->stride, (void *)f->data, f->place,
                           (f->read_only ? HA_WRAP_CONST : 0) | HA_WRAP_EXPORTED_);
    for (int d = 0; x.array && d < f->rank; d++) {
        if (!ha_foreign_repeats(f, d)) continue;
        x.extent[d] = f->extent[d];
        x.stride[d] = 0;
    }
    return x;
}

/* All that is done with the array comes after what its place's queue has got so far: as behind a
 * write there. Nobody knows the array yet. */
HA_IN_ ha_status ha_foreign_order(ha_array *a, const ha_foreign *f, const char *operation) {
    ha_context *q = f->behind;
    if (!q->ops || !f->place->ops || !a->size) return HA_OK;
    ha_incarnation *in = ha_incarnation_find(a, f->place->memory);
    if (q->memory != in->memory)
        return ha_foreign_fail(f, HA_ERR_ARGUMENT, operation,
                               "the context, whose stream orders it, is of another device");
    if (ha_ops_reserve(a, &in->ops, 1))
        return ha_foreign_fail(f, HA_ERR_MEMORY, operation, "no memory for its records");
    ha_lock(a);
    ha_note_operation(&in->ops, q, HA_WHOLE_, 1, operation);
    ha_unlock(a);
    return HA_OK;
}

/* array: NULL on failure, and nothing has happened to the memory. */
HA_IN_ darray ha_foreign_wrap(const ha_foreign *f, const char *operation) {
    if (ha_foreign_check(f, operation)) return (darray){.rank = 0};
    darray x = ha_foreign_view(f);
    if (!x.array || !ha_foreign_order(x.array, f, operation)) return x;
    HA_IGNORE_(darray_free(&x));
    return (darray){.rank = 0};
}

#endif
