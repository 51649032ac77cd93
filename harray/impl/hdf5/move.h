/* Views to blocks of datasets, and back. Whatever waits for others of
 * harray's happens while HDF5 may be called by other threads. */
#ifndef HARRAY_IMPL_HDF5_MOVE_H
#define HARRAY_IMPL_HDF5_MOVE_H

#include "block.h"
#include "../dense/all.h"

/* What a call needs from its beginning to its end. */
typedef struct ha_hdf5_move {
    ha_hdf5_call call;
    ha_hdf5_ranks ranks;
    ha_hdf5_block block;
    ha_dense values; /* their order is that of the file, row-major */
} ha_hdf5_move;

/* ---- HDF5 ------------------------------------------------------------------------------------- */

/* Of all ranks together, if there are any; each one's part is sound. */
HA_IN_ ha_status ha_hdf5_transfer(ha_hdf5_move *m, int writes) {
    static char nothing; /* HDF5 takes no NULL */
    const ha_hdf5_block *b = &m->block;
    void *data = m->values.data ? m->values.data : &nothing;
    if (writes)
        return H5Dwrite(b->dataset, b->element, b->memory, b->space, b->transfer, data) < 0
                   ? ha_hdf5_failed(&m->call, "writing")
                   : HA_OK;
    return H5Dread(b->dataset, b->element, b->memory, b->space, b->transfer, data) < 0
               ? ha_hdf5_failed(&m->call, "reading")
               : HA_OK;
}

/* The dataset is there, and the view fits. Of a file with ranks all of them have looked at it then. */
HA_IN_ ha_status ha_hdf5_prepare(ha_hdf5_move *m, const int64_t *offset, int writes) {
    ha_status s = ha_hdf5_look_at(&m->block, &m->call);
    if (!s)
        s = ha_view_check_opened(&m->values.view, writes ? HA_READ : HA_OVERWRITE,
                                 m->call.operation, m->call.operation);
    if (s) return s;
    m->call.view = &m->values.view;
    m->values.in_place = darray_is_contiguous(m->values.view, HA_ROW_MAJOR);
    s = ha_hdf5_fits(&m->block, &m->values.view, offset, &m->call);
    return s ? s
             : ha_hdf5_block_ready(&m->block, &m->values.view, offset, writes, &m->ranks, &m->call);
}

/* ---- the functions ---------------------------------------------------------------------------- */

/* s: whether the first part went well on this rank, and then on all of them. */
HA_IN_ ha_status ha_hdf5_transfer_together(ha_hdf5_move *m, ha_status s, int writes) {
    ha_hdf5_enter(&m->call);
    s = ha_hdf5_agree(&m->ranks, s, &m->call);
    ha_hdf5_leave(&m->call);
    if (s || m->values.in_place) ha_dense_decide(&m->values, s);
    if (s) return s;
    if (m->values.in_place) m->values.data = m->values.access.data;
    ha_hdf5_enter(&m->call);
    s = ha_hdf5_transfer(m, writes);
    ha_hdf5_leave(&m->call);
    return s;
}

/* The values go to the file, or come from it. call.where is open, and ranks are known. Errors are told when the array is no
 * longer busy. */
HA_IN_ ha_status ha_hdf5_carry_out(ha_hdf5_move *m, ha_status s, int writes) {
    ha_tell_later();
    if (!s) s = writes ? ha_dense_take(&m->values) : ha_dense_room(&m->values);
    s = ha_hdf5_transfer_together(m, s, writes);
    if (!writes) ha_dense_give(&m->values, s);
    ha_dense_end(&m->values);
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
    if (is_open) s = ha_hdf5_prepare(m, offset, writes);
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
                      .values = {.operation = "darray_write_hdf5", .view = x}};
    return ha_hdf5_move_block(&m, offset, 1);
}

ha_status darray_read_hdf5(darray x, hid_t where, const char *dataset, const int64_t *offset) {
    HA_TELLS_EVENTS_;
    ha_hdf5_move m = {.call = {.operation = "darray_read_hdf5", .name = dataset, .where = where},
                      .values = {.operation = "darray_read_hdf5", .view = x}};
    return ha_hdf5_move_block(&m, offset, 0);
}

#endif
