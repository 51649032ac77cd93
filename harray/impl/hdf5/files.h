/* Whole arrays as datasets of files that are opened for that and closed again. */
#ifndef HARRAY_IMPL_HDF5_FILES_H
#define HARRAY_IMPL_HDF5_FILES_H

#include <errno.h>
#include <unistd.h>

#include "move.h"

/* ---- files ------------------------------------------------------------------------------------ */

/* Below 0: the file cannot be looked at; 0: it is none of HDF5's. */
HA_IN_ htri_t ha_hdf5_is_file(const char *path) {
#if H5_VERSION_GE(1, 12, 0)
    return H5Fis_accessible(path, H5P_DEFAULT);
#else
    return H5Fis_hdf5(path);
#endif
}

/* call->where: the file, which is there. */
HA_IN_ ha_status ha_hdf5_open_file(ha_hdf5_call *call, unsigned flags) {
    if (!ha_hdf5_is_file(call->path))
        return ha_hdf5_fail(HA_ERR_ARGUMENT, call, "it is no HDF5 file");
    call->where = H5Fopen(call->path, flags, H5P_DEFAULT);
    return call->where < 0 ? ha_hdf5_failed(call, "opening the file") : HA_OK;
}

HA_IN_ ha_status ha_hdf5_open_to_read(ha_hdf5_call *call) {
    if (!access(call->path, R_OK)) return ha_hdf5_open_file(call, H5F_ACC_RDONLY);
    ha_backend_report(errno, strerror(errno));
    return ha_hdf5_fail(HA_ERR_NOT_FOUND, call, "the file cannot be read");
}

HA_IN_ ha_status ha_hdf5_open_to_write(ha_hdf5_call *call, int *is_new) {
    *is_new = access(call->path, F_OK) != 0;
    if (!*is_new) return ha_hdf5_open_file(call, H5F_ACC_RDWR);
    call->where = H5Fcreate(call->path, H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT);
    if (call->where >= 0) return HA_OK;
    *is_new = 0; /* there is nothing to be removed */
    return ha_hdf5_failed(call, "making the file");
}

/* s: how it went so far. */
HA_IN_ ha_status ha_hdf5_close_file(ha_hdf5_call *call, ha_status s) {
    const int failed = call->where >= 0 && H5Fclose(call->where) < 0;
    call->where = H5I_INVALID_HID;
    return s || !failed ? s : ha_hdf5_failed(call, "closing the file");
}

HA_IN_ ha_status ha_hdf5_check_names(const char *path, const char *dataset, const char *operation) {
    ha_status s = ha_enter(operation);
    if (s || (path && dataset)) return s;
    return ha_fail(HA_ERR_ARGUMENT, operation, "the %s is NULL", path ? "dataset" : "path");
}

/* ---- saving ----------------------------------------------------------------------------------- */

/* The groups in its path are made, too. */
HA_IN_ ha_status ha_hdf5_create_as(ha_hdf5_move *m, hid_t type) {
    ha_hdf5_block *b = &m->block;
    ha_status s = HA_OK;
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    if (links < 0) return ha_hdf5_failed(&m->call, "preparing its path");
    if (H5Pset_create_intermediate_group(links, 1) < 0)
        s = ha_hdf5_failed(&m->call, "preparing its path");
    else
        b->dataset = H5Dcreate2(m->call.where, m->call.name, type, b->space, links, H5P_DEFAULT,
                                H5P_DEFAULT);
    if (!s && b->dataset < 0) s = ha_hdf5_failed(&m->call, "making it");
    (void)H5Pclose(links);
    return s;
}

HA_IN_ ha_status ha_hdf5_create(ha_hdf5_move *m) {
    hsize_t extent[HA_MOST_RANK] = {0};
    ha_hdf5_block *b = &m->block;
    for (int d = 0; d < m->values.view.rank; d++) extent[d] = (hsize_t)m->values.view.extent[d];
    b->space = m->values.view.rank ? H5Screate_simple(m->values.view.rank, extent, NULL)
                                   : H5Screate(H5S_SCALAR);
    if (b->space < 0) return ha_hdf5_failed(&m->call, "describing its extents");
    const hid_t type = ha_hdf5_make_type(m->values.view.type);
    if (type < 0) return ha_hdf5_failed(&m->call, "making its type");
    ha_status s = ha_hdf5_create_as(m, type);
    (void)H5Tclose(type);
    return s ? s : ha_hdf5_block_ready(b, &m->values.view, NULL, 1, &m->ranks, &m->call);
}

/* In the open file. What fails leaves neither the dataset nor its groups. */
HA_IN_ ha_status ha_hdf5_save_new(ha_hdf5_move *m) {
    char made[HA_HDF5_MOST_NAME];
    size_t length = 0;
    ha_status s = ha_hdf5_missing(&length, &m->call);
    if (s) return s;
    if (!length)
        return ha_hdf5_fail(HA_ERR_ARGUMENT, &m->call, "there is something of that name already");
    snprintf(made, sizeof made, "%.*s", (int)length, m->call.name);
    s = ha_hdf5_create(m);
    if (!s) s = ha_hdf5_transfer(m, 1);
    ha_hdf5_block_end(&m->block);
    if (s && H5Lexists(m->call.where, made, H5P_DEFAULT) > 0)
        (void)H5Ldelete(m->call.where, made, H5P_DEFAULT);
    return s;
}

/* The values are at m->values.data. A file that was made for them goes when that has come to nothing. */
HA_IN_ ha_status ha_hdf5_save(ha_hdf5_move *m) {
    int is_new = 0;
    ha_hdf5_enter(&m->call);
    ha_status s = ha_hdf5_open_to_write(&m->call, &is_new);
    if (!s) s = ha_hdf5_save_new(m);
    s = ha_hdf5_close_file(&m->call, s);
    if (s && is_new) (void)unlink(m->call.path);
    ha_hdf5_leave(&m->call);
    return s;
}

HA_IN_ ha_status ha_hdf5_check_saved(const darray *x, const char *operation) {
    ha_status s = ha_view_check(x, operation);
    if (s || x->type) return s;
    return ha_view_fail(HA_ERR_UNSUPPORTED, operation, x, "elements of the user's own type");
}

ha_status darray_save_hdf5(darray x, const char *path, const char *dataset) {
    HA_TELLS_EVENTS_;
    ha_hdf5_move m = {.call = {.operation = "darray_save_hdf5", .path = path, .name = dataset},
                      .values = {.operation = "darray_save_hdf5", .view = x}};
    ha_status s = ha_hdf5_check_names(path, dataset, m.call.operation);
    if (!s) s = ha_hdf5_check_saved(&x, m.call.operation);
    if (s) return s;
    m.call.view = &m.values.view;
    m.ranks = ha_hdf5_no_ranks();
    m.block = ha_hdf5_no_block();
    m.call.where = H5I_INVALID_HID;
    m.values.in_place = darray_is_contiguous(x, HA_ROW_MAJOR);
    s = ha_dense_take(&m.values);
    if (!s) s = ha_hdf5_save(&m);
    ha_dense_end(&m.values);
    return s;
}

/* ---- loading ---------------------------------------------------------------------------------- */

/* What the array is to be. */
HA_IN_ ha_status ha_hdf5_array_of(const ha_hdf5_move *m, int64_t *extent) {
    const ha_hdf5_block *b = &m->block;
    if (b->rank > HA_MOST_RANK)
        return ha_hdf5_fail(HA_ERR_UNSUPPORTED, &m->call,
                            "it has %d dimensions, an array at most %d", b->rank, HA_MOST_RANK);
    for (int d = 0; d < b->rank; d++) {
        if (b->extent[d] > INT64_MAX)
            return ha_hdf5_fail(HA_ERR_MEMORY, &m->call, "its extents do not fit 64 bits");
        extent[d] = (int64_t)b->extent[d];
    }
    return HA_OK;
}

/* Open until it is ended. */
HA_IN_ ha_status ha_hdf5_load_begin(ha_hdf5_move *m, int64_t *extent) {
    ha_hdf5_enter(&m->call);
    ha_status s = ha_hdf5_open_to_read(&m->call);
    if (!s) s = ha_hdf5_look_at(&m->block, &m->call);
    if (!s) s = ha_hdf5_array_of(m, extent);
    ha_hdf5_leave(&m->call);
    return s;
}

HA_IN_ ha_status ha_hdf5_load_end(ha_hdf5_move *m, ha_status s) {
    ha_hdf5_enter(&m->call);
    ha_hdf5_block_end(&m->block);
    s = ha_hdf5_close_file(&m->call, s);
    ha_hdf5_leave(&m->call);
    return s;
}

/* What is wrong with making it is told of the dataset. */
HA_IN_ ha_status ha_hdf5_new_array(ha_hdf5_move *m, const int64_t *extent, ha_context *context) {
    ha_tell_later();
    m->values.view = darray_new_in(HA_ROW_MAJOR, m->block.type, m->block.rank, extent, context);
    const ha_error e = ha_later_error.error;
    ha_later_error.error.status = HA_OK;
    ha_tell_now();
    if (m->values.view.array) return HA_OK;
    ha_hdf5_enter(&m->call);
    ha_backend_report(e.code, NULL);
    ha_hdf5_fail(e.status, &m->call, "%.190s", e.text);
    ha_hdf5_leave(&m->call);
    return e.status;
}

/* The new array gets its values. */
HA_IN_ ha_status ha_hdf5_load_values(ha_hdf5_move *m) {
    m->values.in_place = 1;
    ha_hdf5_enter(&m->call);
    ha_status s = ha_hdf5_block_ready(&m->block, &m->values.view, NULL, 0, &m->ranks, &m->call);
    ha_hdf5_leave(&m->call);
    return ha_hdf5_carry_out(m, s, 0);
}

darray darray_load_hdf5(const char *path, const char *dataset, ha_context *context) {
    HA_TELLS_EVENTS_;
    const darray none = {.rank = 0};
    int64_t extent[HA_MOST_RANK] = {0};
    ha_hdf5_move m = {.call = {.operation = "darray_load_hdf5", .path = path, .name = dataset},
                      .values = {.operation = "darray_load_hdf5"}};
    if (ha_hdf5_check_names(path, dataset, m.call.operation)) return none;
    m.ranks = ha_hdf5_no_ranks();
    m.block = ha_hdf5_no_block();
    m.call.where = H5I_INVALID_HID;
    ha_status s = ha_hdf5_load_begin(&m, extent);
    if (!s) s = ha_hdf5_new_array(&m, extent, context);
    if (!s) s = ha_hdf5_load_values(&m);
    s = ha_hdf5_load_end(&m, s);
    if (!s) s = ha_prefetch_darray(&m.values.view, context, m.call.operation);
    if (s && m.values.view.array) HA_IGNORE_(darray_free(&m.values.view));
    return s ? none : m.values.view;
}

#endif
