/* Views to blocks of datasets, and back: opened on the host, in place or through a buffer. Whatever waits for others of
 * harray's happens while HDF5 may be called by other threads. */
#ifndef HARRAY_IMPL_HDF5_MOVE_H
#define HARRAY_IMPL_HDF5_MOVE_H

#include "block.h"

/* What a call needs from its beginning to its end. */
typedef struct ha_hdf5_move {
    ha_hdf5_call call;
    ha_hdf5_ranks ranks;
    ha_hdf5_block block;
    darray view;
    int in_place;
    ha_access access;
    ha_opening
        opening; /* of a view that is to be read, before it counts as written; no array: none */
    char *buffer;
    void *data; /* what HDF5 gets; NULL without elements */
} ha_hdf5_move;

/* ---- elements --------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_hdf5_buffer(ha_hdf5_move *m) {
    const size_t bytes = (size_t)darray_size(m->view) * m->view.array->element;
    if (bytes <= PTRDIFF_MAX) m->data = m->buffer = (char *)HARRAY_MALLOC(bytes);
    if (m->buffer) return HA_OK;
    return ha_view_fail(HA_ERR_MEMORY, m->call.operation, &m->view,
                        "no memory for a buffer of %zu bytes", bytes);
}

/* Between the view, which is open, and the buffer. */
HA_IN_ void ha_hdf5_pack(const ha_hdf5_move *m, void *elements, int is_packed) {
    const darray *x = &m->view;
    int64_t dense[HA_MOST_RANK] = {0};
    HA_IGNORE_(ha_extents_strides(x->rank, x->extent, HA_ROW_MAJOR, dense));
    if (is_packed)
        ha_copy_strided(x->rank, x->extent, m->buffer, dense, elements, x->stride,
                        x->array->element);
    else
        ha_copy_strided(x->rank, x->extent, elements, x->stride, m->buffer, dense,
                        x->array->element);
}

/* m->data: the values. */
HA_IN_ ha_status ha_hdf5_take_values(ha_hdf5_move *m) {
    const char *const operation = m->call.operation;
    if (ha_view_is_empty(&m->view)) return HA_OK;
    ha_status s = m->in_place ? HA_OK : ha_hdf5_buffer(m);
    if (!s) s = ha_open_darray(&m->access, &m->view, ha_host(), HA_READ, operation, operation);
    if (s) return s;
    if (m->in_place)
        m->data = m->access.data;
    else
        ha_hdf5_pack(m, m->access.data, 1);
    return m->in_place ? HA_OK : ha_close_(&m->access);
}

/* Room for the values: whatever has to be waited for has been, and nothing has changed. Until that is decided the array is
 * busy. */
HA_IN_ ha_status ha_hdf5_take_room(ha_hdf5_move *m) {
    const char *const operation = m->call.operation;
    if (ha_view_is_empty(&m->view)) return HA_OK;
    ha_status s = m->in_place ? HA_OK : ha_hdf5_buffer(m);
    if (!s) s = ha_open_refuse(m->view.array, HA_OVERWRITE, operation, operation);
    if (s) return s;
    m->opening = (ha_opening){.array = m->view.array,
                              .context = ha_host(),
                              .operation = operation,
                              .site = operation,
                              .mode = HA_OVERWRITE,
                              .for_user = 1};
    ha_opening_view(&m->opening, &m->view);
    s = ha_opening_begin(&m->opening, 0);
    if (s) m->opening.array = NULL;
    return s;
}

/* The view is about to be overwritten, or is as it was. */
HA_IN_ void ha_hdf5_decide(ha_hdf5_move *m, ha_status s) {
    if (!m->opening.array) return;
    if (s)
        ha_opening_abort(&m->opening);
    else
        ha_opening_commit(&m->opening, &m->access);
    m->opening.array = NULL;
}

/* To C all but 0 is true, and bool has 1 alone. */
HA_IN_ void ha_hdf5_make_sound(const ha_hdf5_move *m) {
    unsigned char *truth = (unsigned char *)m->data;
    const int64_t n = m->view.type == HA_DTYPE_bool && truth ? darray_size(m->view) : 0;
    for (int64_t i = 0; i < n; i++) truth[i] = truth[i] != 0;
}

/* What has been read, if it has been, becomes the view's. */
HA_IN_ void ha_hdf5_give_values(ha_hdf5_move *m, ha_status s) {
    if (!s) ha_hdf5_make_sound(m);
    ha_hdf5_decide(m, s);
    if (!s && m->buffer) ha_hdf5_pack(m, m->access.data, 0);
}

/* ---- HDF5 ------------------------------------------------------------------------------------- */

/* Of all ranks together, if there are any; each one's part is sound. */
HA_IN_ ha_status ha_hdf5_transfer(ha_hdf5_move *m, int writes) {
    static char nothing; /* HDF5 takes no NULL */
    const ha_hdf5_block *b = &m->block;
    void *data = m->data ? m->data : &nothing;
    if (writes)
        return H5Dwrite(b->dataset, b->element, b->memory, b->space, b->transfer, data) < 0
                   ? ha_hdf5_failed(&m->call, "writing")
                   : HA_OK;
    return H5Dread(b->dataset, b->element, b->memory, b->space, b->transfer, data) < 0
               ? ha_hdf5_failed(&m->call, "reading")
               : HA_OK;
}

/* The dataset is there, and the view fits. Of a file with ranks all of them have looked at it then. */
HA_IN_ ha_status ha_hdf5_prepare(ha_hdf5_move *m, const int64_t *offset, unsigned how) {
    ha_status s = ha_hdf5_look_at(&m->block, &m->call);
    if (!s) s = ha_view_check_opened(&m->view, how, m->call.operation, m->call.operation);
    if (s) return s;
    m->call.view = &m->view;
    m->in_place = darray_is_contiguous(m->view, HA_ROW_MAJOR);
    s = ha_hdf5_fits(&m->block, &m->view, offset, &m->call);
    return s ? s : ha_hdf5_block_ready(&m->block, &m->view, offset, &m->ranks, &m->call);
}

/* ---- the functions ---------------------------------------------------------------------------- */

/* s: whether the first part went well on this rank, and then on all of them. */
HA_IN_ ha_status ha_hdf5_transfer_together(ha_hdf5_move *m, ha_status s, int writes) {
    ha_hdf5_enter(&m->call);
    s = ha_hdf5_agree(&m->ranks, s, &m->call);
    ha_hdf5_leave(&m->call);
    if (s || m->in_place) ha_hdf5_decide(m, s);
    if (s) return s;
    if (m->in_place) m->data = m->access.data;
    ha_hdf5_enter(&m->call);
    s = ha_hdf5_transfer(m, writes);
    ha_hdf5_leave(&m->call);
    return s;
}

/* The values go to the file, or come from it. call.where is open, and ranks are known. Errors are told when the array is no
 * longer busy. */
HA_IN_ ha_status ha_hdf5_carry_out(ha_hdf5_move *m, ha_status s, int writes) {
    ha_tell_later();
    if (!s) s = writes ? ha_hdf5_take_values(m) : ha_hdf5_take_room(m);
    s = ha_hdf5_transfer_together(m, s, writes);
    if (!writes) ha_hdf5_give_values(m, s);
    if (m->access.array) HA_IGNORE_(ha_close_(&m->access));
    HARRAY_FREE(m->buffer);
    m->buffer = NULL;
    ha_tell_now();
    return s;
}

HA_IN_ ha_status ha_hdf5_move_block(ha_hdf5_move *m, const int64_t *offset, int writes) {
    ha_status s = ha_enter(m->call.operation);
    if (s) return s;
    m->block = ha_hdf5_no_block();
    ha_hdf5_enter(&m->call);
    s = ha_hdf5_ranks_begin(&m->ranks, &m->call);
    const int is_open = !s;
    if (is_open) s = ha_hdf5_prepare(m, offset, writes ? HA_READ : HA_OVERWRITE);
    ha_hdf5_leave(&m->call);
    if (!is_open) return s;
    s = ha_hdf5_carry_out(m, s, writes);
    ha_hdf5_enter(&m->call);
    s = ha_hdf5_agree(&m->ranks, s, &m->call);
    ha_hdf5_block_end(&m->block);
    ha_hdf5_ranks_end(&m->ranks);
    ha_hdf5_leave(&m->call);
    return s;
}

ha_status darray_write_hdf5(darray x, hid_t where, const char *dataset, const int64_t *offset) {
    HA_TELLS_EVENTS_;
    ha_hdf5_move m = {.call = {.operation = "darray_write_hdf5", .name = dataset, .where = where},
                      .view = x};
    return ha_hdf5_move_block(&m, offset, 1);
}

ha_status darray_read_hdf5(darray x, hid_t where, const char *dataset, const int64_t *offset) {
    HA_TELLS_EVENTS_;
    ha_hdf5_move m = {.call = {.operation = "darray_read_hdf5", .name = dataset, .where = where},
                      .view = x};
    return ha_hdf5_move_block(&m, offset, 0);
}

#endif
