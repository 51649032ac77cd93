/* A block of a dataset: finding the dataset, and what has to fit. */
#ifndef HARRAY_IMPL_HDF5_BLOCK_H
#define HARRAY_IMPL_HDF5_BLOCK_H

#include "ranks.h"

typedef struct ha_hdf5_block {
    hid_t dataset, space, memory; /* H5I_INVALID_HID: none yet */
    hid_t element, transfer;      /* the type in memory, and how it is moved */
    ha_dtype type;
    int rank;
    hsize_t extent[H5S_MAX_RANK]; /* of the dataset */
} ha_hdf5_block;

HA_IN_ ha_hdf5_block ha_hdf5_no_block(void) {
    return (ha_hdf5_block){.dataset = H5I_INVALID_HID,
                           .space = H5I_INVALID_HID,
                           .memory = H5I_INVALID_HID,
                           .element = H5I_INVALID_HID,
                           .transfer = H5I_INVALID_HID};
}

HA_IN_ void ha_hdf5_block_end(ha_hdf5_block *b) {
    if (b->transfer > 0) (void)H5Pclose(b->transfer); /* 0: the default one */
    if (b->element >= 0) (void)H5Tclose(b->element);
    if (b->memory >= 0) (void)H5Sclose(b->memory);
    if (b->space >= 0) (void)H5Sclose(b->space);
    if (b->dataset >= 0) (void)H5Dclose(b->dataset);
    *b = ha_hdf5_no_block();
}

/* ---- finding it ------------------------------------------------------------------------------- */

enum { HA_HDF5_MOST_NAME = 1024 };

/* *length: of the first part of the path that is not there, "step" of "step/u"; 0: all is there. */
HA_IN_ ha_status ha_hdf5_missing(size_t *length, const ha_hdf5_call *call) {
    char part[HA_HDF5_MOST_NAME];
    const char *name = call->name;
    const size_t all = strlen(name);
    if (all == 0 || all >= sizeof part)
        return ha_hdf5_fail(HA_ERR_ARGUMENT, call, "no name, or one of more than %d bytes",
                            HA_HDF5_MOST_NAME - 1);
    memcpy(part, name, all + 1);
    *length = 0;
    for (size_t i = 1; i <= all; i++) {
        if ((name[i] && name[i] != '/') || name[i - 1] == '/') continue;
        part[i] = 0;
        const htri_t is_there = H5Lexists(call->where, part, H5P_DEFAULT);
        if (is_there < 0) return ha_hdf5_failed(call, "looking for it");
        if (!is_there) *length = i;
        if (!is_there) return HA_OK;
        part[i] = name[i];
    }
    return HA_OK;
}

HA_IN_ ha_status ha_hdf5_open_named(ha_hdf5_block *b, const ha_hdf5_call *call) {
    size_t missing = 0;
    ha_status s = ha_hdf5_missing(&missing, call);
    if (s) return s;
    if (missing) return ha_hdf5_fail(HA_ERR_NOT_FOUND, call, "there is no such dataset");
    const hid_t object = H5Oopen(call->where, call->name, H5P_DEFAULT);
    if (object < 0) return ha_hdf5_failed(call, "opening it");
    if (H5Iget_type(object) == H5I_DATASET) {
        b->dataset = object;
        return HA_OK;
    }
    (void)H5Oclose(object);
    return ha_hdf5_fail(HA_ERR_ARGUMENT, call, "it is no dataset");
}

HA_IN_ ha_status ha_hdf5_open_dataset(ha_hdf5_block *b, const ha_hdf5_call *call) {
    if (call->name) return ha_hdf5_open_named(b, call);
    if (H5Iget_type(call->where) != H5I_DATASET)
        return ha_hdf5_fail(HA_ERR_ARGUMENT, call, "it is no dataset, and no name is given");
    if (H5Iinc_ref(call->where) < 0) return ha_hdf5_failed(call, "keeping it");
    b->dataset = call->where;
    return HA_OK;
}

/* ---- what it is ------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_hdf5_look_at_extents(ha_hdf5_block *b, const ha_hdf5_call *call) {
    b->space = H5Dget_space(b->dataset);
    if (b->space < 0) return ha_hdf5_failed(call, "asking for its extents");
    if (H5Sget_simple_extent_type(b->space) == H5S_NULL)
        return ha_hdf5_fail(HA_ERR_UNSUPPORTED, call, "it has neither extents nor elements");
    b->rank = H5Sget_simple_extent_dims(b->space, b->extent, NULL);
    return b->rank < 0 ? ha_hdf5_failed(call, "asking for its extents") : HA_OK;
}

HA_IN_ ha_status ha_hdf5_look_at_type(ha_hdf5_block *b, const ha_hdf5_call *call) {
    const hid_t type = H5Dget_type(b->dataset);
    if (type < 0) return ha_hdf5_failed(call, "asking for its type");
    b->type = ha_hdf5_dtype_of(type);
    (void)H5Tclose(type);
    if (b->type) return HA_OK;
    return ha_hdf5_fail(HA_ERR_UNSUPPORTED, call, "harray has no elements of its type");
}

/* Ended in any case. */
HA_IN_ ha_status ha_hdf5_look_at(ha_hdf5_block *b, const ha_hdf5_call *call) {
    ha_status s = ha_hdf5_open_dataset(b, call);
    if (!s) s = ha_hdf5_look_at_extents(b, call);
    return s ? s : ha_hdf5_look_at_type(b, call);
}

/* ---- what has to fit -------------------------------------------------------------------------- */

/* "3, 4" of any rank. */
typedef struct ha_hdf5_extents {
    char text[100];
} ha_hdf5_extents;
HA_IN_ ha_hdf5_extents ha_hdf5_show(const ha_hdf5_block *b) {
    ha_hdf5_extents e = {""};
    ha_text t = ha_text_into(e.text, sizeof e.text);
    for (int d = 0; d < b->rank; d++)
        ha_print(&t, "%s%llu", d ? ", " : "", (unsigned long long)b->extent[d]);
    return e;
}

HA_IN_ int ha_hdf5_is_inside(const ha_hdf5_block *b, const darray *x, const int64_t *offset) {
    for (int d = 0; d < b->rank; d++) {
        const int64_t from = offset ? offset[d] : 0;
        if (from < 0 || (hsize_t)from > b->extent[d] ||
            (hsize_t)x->extent[d] > b->extent[d] - (hsize_t)from)
            return 0;
    }
    return 1;
}

/* The view has been checked. */
HA_IN_ ha_status ha_hdf5_fits(const ha_hdf5_block *b, const darray *x, const int64_t *offset,
                              const ha_hdf5_call *call) {
    static const int64_t first[HA_MOST_RANK];
    if (!x->type) return ha_hdf5_fail(HA_ERR_UNSUPPORTED, call, "elements of the user's own type");
    if (x->type != b->type)
        return ha_hdf5_fail(HA_ERR_ARGUMENT, call,
                            "it has elements of type %s, the view of type %s",
                            ha_dtype_name(b->type), ha_dtype_name(x->type));
    if (x->rank != b->rank)
        return ha_hdf5_fail(HA_ERR_ARGUMENT, call, "it has %d dimensions, the view %d", b->rank,
                            x->rank);
    if (ha_hdf5_is_inside(b, x, offset)) return HA_OK;
    return ha_hdf5_fail(HA_ERR_ARGUMENT, call,
                        "a block of (%.60s) at (%.60s) is not all in its extents (%.60s)",
                        ha_show(x->rank, x->extent).text,
                        ha_show(x->rank, offset ? offset : first).text, ha_hdf5_show(b).text);
}

/* The elements of the block in the file, and as many without gaps in memory. */
HA_IN_ ha_status ha_hdf5_select(ha_hdf5_block *b, const darray *x, const int64_t *offset,
                                const ha_hdf5_call *call) {
    hsize_t from[HA_MOST_RANK], extent[HA_MOST_RANK];
    const hsize_t count = (hsize_t)darray_size(*x);
    herr_t wrong = 0;
    for (int d = 0; d < x->rank; d++) {
        from[d] = (hsize_t)(offset ? offset[d] : 0);
        extent[d] = (hsize_t)x->extent[d];
    }
    b->memory = H5Screate_simple(1, &count, NULL);
    if (b->memory < 0) return ha_hdf5_failed(call, "describing memory");
    if (!count)
        wrong = H5Sselect_none(b->space) < 0 ? -1 : H5Sselect_none(b->memory);
    else if (x->rank)
        wrong = H5Sselect_hyperslab(b->space, H5S_SELECT_SET, from, NULL, extent, NULL);
    return wrong < 0 ? ha_hdf5_failed(call, "selecting a block") : HA_OK;
}

/* All that a transfer needs of HDF5: what fails here keeps no other rank waiting. */
HA_IN_ ha_status ha_hdf5_block_ready(ha_hdf5_block *b, const darray *x, const int64_t *offset,
                                     int writes, const ha_hdf5_ranks *ranks,
                                     const ha_hdf5_call *call) {
    ha_status s = ha_hdf5_select(b, x, offset, call);
    if (s) return s;
    b->element = ha_hdf5_make_type(x->type);
    if (b->element < 0) return ha_hdf5_failed(call, "making a type");
    b->transfer = ha_hdf5_transfer_of(ranks, b->dataset, writes);
    return b->transfer < 0 ? ha_hdf5_failed(call, "preparing a transfer") : HA_OK;
}

#endif
