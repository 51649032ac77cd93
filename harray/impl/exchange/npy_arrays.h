/* Arrays of n dimensions as .npy files. npy_file.h reads and writes. */
#ifndef HARRAY_IMPL_EXCHANGE_NPY_ARRAYS_H
#define HARRAY_IMPL_EXCHANGE_NPY_ARRAYS_H

#include "npy_file.h"
#include "npy_header.h"
#include "../ndarray/all.h"

/* ---- writing -------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_npy_describe(const darray *x, ha_npy_header *h, const char *operation) {
    if (!x->array)
        return ha_fail(HA_ERR_ARGUMENT, operation,
                       "%s: no array: it was freed, or refused (an earlier error says why)",
                       operation);
    if (!x->type)
        return ha_fail(HA_ERR_UNSUPPORTED, operation, "NumPy has no elements of type %.32s",
                       ha_array_type(x->array).name);
    ha_status s = ha_view_check(x, operation);
    if (s) return s;
    *h = (ha_npy_header){
        .type = x->type, .order = ha_npy_order(x->rank, x->extent, x->stride), .rank = x->rank};
    memcpy(h->extent, x->extent, sizeof h->extent);
    return ha_npy_printable(h, operation);
}

/* Its values are the same from the first to the last byte: one access holds them. */
HA_IN_ ha_status ha_npy_save(const ha_npy_file *f, const darray *x, ha_npy_header *h) {
    ha_access v = {0};
    ha_status s = ha_open_darray(&v, x, ha_host(), HA_READ, f->operation, f->operation);
    if (s) return s;
    s = ha_npy_write(f, h, v.data, x->stride);
    HA_IGNORE_(ha_close_(&v));
    return s;
}

ha_status darray_save_npy(darray x, const char *path) {
    const char *const operation = "darray_save_npy";
    ha_npy_header h;
    ha_npy_new n;
    ha_status s = ha_npy_describe(&x, &h, operation);
    if (!s) s = ha_npy_new_begin(&n, path, operation);
    return s ? s : ha_npy_new_end(&n, ha_npy_save(&n.to, &x, &h));
}

ha_status darray_write_npy(darray x, FILE *file) {
    const char *const operation = "darray_write_npy";
    const ha_npy_file f = {file, NULL, operation};
    ha_npy_header h;
    if (!file) return ha_fail(HA_ERR_ARGUMENT, operation, "the file is NULL");
    ha_status s = ha_npy_describe(&x, &h, operation);
    return s ? s : ha_npy_save(&f, &x, &h);
}

/* ---- reading -------------------------------------------------------------------------------- */

static const darray ha_no_darray; /* what is refused */

/* The values come to the host first, and are then on their way to where they are to be. */
HA_IN_ ha_status ha_npy_fill(const ha_npy_file *f, const ha_npy_header *h, const darray *x,
                             ha_context *context) {
    ha_access v = {0};
    ha_status s = ha_open_darray(&v, x, ha_host(), HA_OVERWRITE, f->operation, f->operation);
    if (s) return s;
    s = ha_npy_read_elements(f, h, v.data);
    HA_IGNORE_(ha_close_(&v));
    return s ? s : ha_prefetch_darray(x, context, f->operation);
}

HA_IN_ darray ha_npy_load(const ha_npy_file *f, ha_context *context) {
    ha_npy_header h;
    ha_status s = ha_npy_read_header(f, &h);
    if (!s) s = ha_npy_measure_file(f, &h, f->path != NULL);
    if (s) return ha_no_darray;
    darray x = darray_new_in(h.order, h.type, h.rank, h.extent, context);
    if (!x.array) return x;
    s = ha_npy_fill(f, &h, &x, context);
    if (!s && f->path) s = ha_npy_at_end(f);
    if (s) HA_IGNORE_(darray_free(&x));
    return s ? ha_no_darray : x;
}

darray darray_read_npy(FILE *file, ha_context *context) {
    const ha_npy_file f = {file, NULL, "darray_read_npy"};
    if (file) return ha_npy_load(&f, context);
    ha_fail(HA_ERR_ARGUMENT, f.operation, "the file is NULL");
    return ha_no_darray;
}

darray darray_load_npy(const char *path, ha_context *context) {
    ha_npy_file f;
    if (ha_npy_open(&f, path, "darray_load_npy")) return ha_no_darray;
    const darray x = ha_npy_load(&f, context);
    fclose(f.file);
    return x;
}

#endif
