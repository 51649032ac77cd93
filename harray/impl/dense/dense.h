/* The elements of a view without gaps on the host, in one of the two orders: where they lie so, else in a buffer. For
 * files, which are written from one address, and read to one. */
#ifndef HARRAY_IMPL_DENSE_DENSE_H
#define HARRAY_IMPL_DENSE_DENSE_H

#include "../ndarray/all.h"

typedef struct ha_dense {
    const char *operation;
    darray view;
    ha_order order;
    int in_place; /* no buffer is needed; whoever has the view says so */
    ha_access access;
    ha_opening
        opening; /* of a view that is to be read, before it counts as written; no array: none */
    char *buffer;
    void *data; /* NULL without elements */
} ha_dense;

HA_IN_ ha_status ha_dense_buffer(ha_dense *x) {
    const size_t bytes = (size_t)darray_size(x->view) * x->view.array->element;
    if (bytes <= PTRDIFF_MAX) x->data = x->buffer = (char *)HARRAY_MALLOC(bytes);
    if (x->buffer) return HA_OK;
    return ha_view_fail(HA_ERR_MEMORY, x->operation, &x->view,
                        "no memory for a buffer of %zu bytes", bytes);
}

/* Between the view, which is open, and the buffer. */
HA_IN_ void ha_dense_pack(const ha_dense *x, void *elements, int is_packed) {
    const darray *view = &x->view;
    int64_t dense[HA_MOST_RANK] = {0};
    HA_IGNORE_(ha_extents_strides(view->rank, view->extent, x->order, dense));
    if (is_packed)
        ha_copy_strided(view->rank, view->extent, x->buffer, dense, elements, view->stride,
                        view->array->element);
    else
        ha_copy_strided(view->rank, view->extent, elements, view->stride, x->buffer, dense,
                        view->array->element);
}

/* x->data: the values. */
HA_IN_ HA_UNUSED ha_status ha_dense_take(ha_dense *x) {
    if (ha_view_is_empty(&x->view)) return HA_OK;
    ha_status s = x->in_place ? HA_OK : ha_dense_buffer(x);
    if (!s)
        s = ha_open_darray(&x->access, &x->view, ha_host(), HA_READ, x->operation, x->operation);
    if (s) return s;
    if (x->in_place)
        x->data = x->access.data;
    else
        ha_dense_pack(x, x->access.data, 1);
    return x->in_place ? HA_OK : ha_close_(&x->access);
}

/* Room for the values: whatever has to be waited for has been, and nothing has changed. Until that is decided the array is
 * busy. */
HA_IN_ HA_UNUSED ha_status ha_dense_room(ha_dense *x) {
    if (ha_view_is_empty(&x->view)) return HA_OK;
    ha_status s = x->in_place ? HA_OK : ha_dense_buffer(x);
    if (!s) s = ha_open_refuse(x->view.array, HA_OVERWRITE, x->operation, x->operation);
    if (s) return s;
    x->opening = (ha_opening){.array = x->view.array,
                              .context = ha_host(),
                              .operation = x->operation,
                              .site = x->operation,
                              .mode = HA_OVERWRITE,
                              .for_user = 1};
    ha_opening_view(&x->opening, &x->view);
    s = ha_opening_begin(&x->opening, 0);
    if (s) x->opening.array = NULL;
    return s;
}

/* The view is about to be overwritten, or is as it was. */
HA_IN_ void ha_dense_decide(ha_dense *x, ha_status s) {
    if (!x->opening.array) return;
    if (s)
        ha_opening_abort(&x->opening);
    else
        ha_opening_commit(&x->opening, &x->access);
    x->opening.array = NULL;
}

/* To C all but 0 is true, and bool has 1 alone. */
HA_IN_ void ha_dense_make_sound(const ha_dense *x) {
    unsigned char *truth = (unsigned char *)x->data;
    const int64_t n = x->view.type == HA_DTYPE_bool && truth ? darray_size(x->view) : 0;
    for (int64_t i = 0; i < n; i++) truth[i] = truth[i] != 0;
}

/* What has been read to x->data, if it has been, becomes the view's. */
HA_IN_ HA_UNUSED void ha_dense_give(ha_dense *x, ha_status s) {
    if (!s) ha_dense_make_sound(x);
    ha_dense_decide(x, s);
    if (!s && x->buffer) ha_dense_pack(x, x->access.data, 0);
}

HA_IN_ HA_UNUSED void ha_dense_end(ha_dense *x) {
    if (x->access.array) HA_IGNORE_(ha_close_(&x->access));
    HARRAY_FREE(x->buffer);
    x->buffer = NULL;
}

#endif
