/* .npy files of all ranks: rank 0 makes the file and its header, or reads that, and all of them transfer their blocks
 * together. Before each step all ranks say whether they can take it, so that nobody waits for one that cannot. */
#ifndef HARRAY_IMPL_MPI_FILE_H
#define HARRAY_IMPL_MPI_FILE_H

#include "file_transfer.h"
#include "traced.h"

/* ---- what this rank has ----------------------------------------------------------------------- */

HA_IN_ ha_status ha_mpi_file_check_offset(ha_mpi_file *f, const int64_t *offset) {
    const darray *x = &f->values.view;
    ha_mpi_blocks *b = &f->blocks;
    for (int d = 0; d < x->rank && offset; d++)
        if (offset[d] < 0)
            return ha_mpi_fail(HA_ERR_ARGUMENT, &b->call, "an offset of %lld in dimension %d",
                               (long long)offset[d], d);
    ha_status s = offset ? HA_OK : ha_mpi_grid_of(&b->grid, &b->call);
    if (s || b->grid.dimensions <= x->rank) return s;
    return ha_mpi_fail(HA_ERR_ARGUMENT, &b->call, "the view has %d dimensions, the communicator %d",
                       x->rank, b->grid.dimensions);
}

HA_IN_ ha_status ha_mpi_file_check(ha_mpi_file *f, const ha_mpi_part *part, const int64_t *offset,
                                   int writes) {
    const ha_mpi_call *call = &f->blocks.call;
    ha_npy_header of;
    int is_inter = 0;
    (void)MPI_Comm_test_inter(call->comm, &is_inter);
    if (is_inter) return ha_mpi_fail(HA_ERR_ARGUMENT, call, "an intercommunicator has no file");
    if (!f->path) return ha_mpi_fail(HA_ERR_ARGUMENT, call, "the path is NULL");
    if (part->records)
        return ha_mpi_fail(HA_ERR_UNSUPPORTED, call,
                           "a file has no fields of records: save each as an array");
    ha_status s = ha_npy_describe(&part->view, &of, call->operation);
    if (!s && !writes)
        s = ha_view_check_opened(&part->view, HA_OVERWRITE, call->operation, call->site);
    return s ? s : ha_mpi_file_check_offset(f, offset);
}

/* And says it. */
HA_IN_ void ha_mpi_file_sign(ha_mpi_placed *block, const darray *x, const int64_t *offset) {
    memset(block, 0, sizeof *block);
    block->type = (int32_t)x->type;
    block->order = (int32_t)ha_npy_order(x->rank, x->extent, x->stride);
    block->rank = x->rank;
    block->has_offset = offset != NULL;
    for (int d = 0; d < x->rank; d++) {
        block->extent[d] = x->extent[d];
        if (offset) block->offset[d] = offset[d];
    }
}

/* All ranks know then where all blocks lie. */
HA_IN_ ha_status ha_mpi_file_meet(ha_mpi_file *f, const int64_t *offset) {
    ha_mpi_blocks *b = &f->blocks;
    ha_mpi_placed mine;
    const int bytes = (int)sizeof mine;
    ha_mpi_file_sign(&mine, &f->values.view, offset);
    ha_status s = ha_mpi_told(
        &b->call, MPI_Allgather(&mine, bytes, MPI_BYTE, b->block, bytes, MPI_BYTE, b->call.comm),
        "comparing blocks");
    return s ? s : ha_mpi_place_all(b);
}

/* ---- the open file ---------------------------------------------------------------------------- */

/* s: whether this rank has all that the transfer needs. A file that only some ranks could open stays open, as all of
 * them have to close it. */
HA_IN_ ha_status ha_mpi_file_run(ha_mpi_file *f, ha_status s, int writes) {
    const ha_mpi_call *call = &f->blocks.call;
    s = ha_mpi_share_status(call, s);
    if (s) return s;
    s = ha_mpi_told(call, MPI_Bcast(f->name, PATH_MAX, MPI_CHAR, 0, call->comm), "naming the file");
    s = ha_mpi_share_status(call, s);
    if (s) return s;
    s = ha_mpi_told(call,
                    MPI_File_open(call->comm, f->name, writes ? MPI_MODE_RDWR : MPI_MODE_RDONLY,
                                  MPI_INFO_NULL, &f->file),
                    "opening the file");
    s = ha_mpi_share_status(call, s);
    return s ? s : ha_mpi_file_transfer_block(f, writes);
}

/* ---- saving ----------------------------------------------------------------------------------- */

/* In the order in which rank 0 has its elements. The blocks fit together then. */
HA_IN_ ha_status ha_mpi_file_describe(ha_mpi_file *f) {
    const ha_mpi_blocks *b = &f->blocks;
    f->header = (ha_npy_header){
        .type = (ha_dtype)b->block[0].type, .order = (ha_order)b->block[0].order, .rank = b->rank};
    memcpy(f->header.extent, b->whole, sizeof b->whole);
    ha_status s = ha_npy_printable(&f->header, b->call.operation);
    return s ? s : ha_mpi_check_tiles(b);
}

/* Rank 0 makes the file, as darray_save_npy does: beside an older one until it is complete. */
HA_IN_ ha_status ha_mpi_file_make(ha_mpi_file *f, const char *head) {
    if (f->blocks.self) return HA_OK;
    ha_status s = ha_npy_new_begin(&f->made, f->path, f->blocks.call.operation);
    if (s) f->made.to.file = NULL;
    if (s) return s;
    if (!ha_npy_put(&f->made.to, head, f->header.bytes) || fflush(f->made.to.file))
        return ha_npy_fail(&f->made.to, HA_ERR_BACKEND, "could not be written");
    snprintf(f->name, sizeof f->name, "%s", *f->made.temporary ? f->made.temporary : f->path);
    return HA_OK;
}

HA_IN_ ha_status ha_mpi_file_take(ha_mpi_file *f) {
    const darray *x = &f->values.view;
    const uint64_t before = ha_mpi_bytes_of(x);
    f->values.order = f->header.order;
    f->values.in_place = darray_is_contiguous(*x, f->header.order);
    ha_status s = ha_dense_take(&f->values);
    HA_MPI_MOVED_(staged_bytes, ha_mpi_bytes_of(x) - before);
    if (f->values.buffer) HA_MPI_MOVED_(packed_bytes, darray_size(*x) * (int64_t)x->array->element);
    return s;
}

/* What a rank does by itself before the transfer. */
HA_IN_ ha_status ha_mpi_save_begin(ha_mpi_file *f) {
    char head[HA_NPY_MOST_BYTES];
    ha_status s = ha_mpi_file_describe(f);
    if (!s) s = ha_npy_print(&f->header, head, sizeof head);
    if (!s) s = ha_mpi_file_select(f);
    if (!s) s = ha_mpi_file_take(f);
    return s ? s : ha_mpi_file_make(f, head);
}

HA_IN_ ha_status ha_mpi_save_all(ha_mpi_file *f, ha_status s) {
    if (!s) s = ha_mpi_save_begin(f);
    s = ha_mpi_file_run(f, s, 1);
    const ha_status of_run = s;
    if (f->made.to.file) s = ha_npy_new_end(&f->made, s);
    return of_run ? of_run : ha_mpi_share_status(&f->blocks.call, s);
}

/* ---- loading ---------------------------------------------------------------------------------- */

/* Of the whole, read by rank 0. */
HA_IN_ ha_status ha_mpi_file_look(ha_mpi_file *f) {
    ha_npy_file file;
    if (f->blocks.self) return HA_OK;
    ha_status s = ha_npy_open(&file, f->path, f->blocks.call.operation);
    if (s) return s;
    s = ha_npy_read_header(&file, &f->header);
    if (!s) s = ha_npy_measure_file(&file, &f->header, 1);
    (void)fclose(file.file);
    snprintf(f->name, sizeof f->name, "%s", f->path);
    return s;
}

HA_IN_ int ha_mpi_is_in_file(const ha_npy_header *h, const ha_mpi_placed *block) {
    int is_inside = 1;
    for (int d = 0; d < h->rank; d++)
        is_inside &= block->offset[d] <= h->extent[d] &&
                     block->extent[d] <= h->extent[d] - block->offset[d];
    return is_inside;
}

/* This rank's block is one of the file's; blocks that lie as the ranks do are all of it. */
HA_IN_ ha_status ha_mpi_file_fits(const ha_mpi_file *f) {
    const ha_npy_header *h = &f->header;
    const ha_mpi_blocks *b = &f->blocks;
    const ha_mpi_placed *mine = &b->block[b->self];
    if ((ha_dtype)mine->type != h->type)
        return ha_mpi_fail(HA_ERR_ARGUMENT, &b->call,
                           "%.100s has elements of type %s, the view of type %s", f->path,
                           ha_dtype_name(h->type), ha_dtype_name((ha_dtype)mine->type));
    if (mine->rank != h->rank)
        return ha_mpi_fail(HA_ERR_ARGUMENT, &b->call, "%.100s has %d dimensions, the view %d",
                           f->path, h->rank, mine->rank);
    if (ha_mpi_is_in_file(h, mine) &&
        (mine->has_offset || !memcmp(b->whole, h->extent, sizeof b->whole)))
        return HA_OK;
    return ha_mpi_fail(HA_ERR_ARGUMENT, &b->call,
                       "a block of (%.60s) at (%.60s), of blocks that end at (%.60s), does not "
                       "fit %.60s, which has (%.60s)",
                       ha_show(mine->rank, mine->extent).text,
                       ha_show(mine->rank, mine->offset).text, ha_show(b->rank, b->whole).text,
                       f->path, ha_show(h->rank, h->extent).text);
}

/* Always to a buffer: the view is as it was until all ranks have read. */
HA_IN_ ha_status ha_mpi_load_begin(ha_mpi_file *f) {
    ha_status s = ha_mpi_file_fits(f);
    if (!s) s = ha_mpi_file_select(f);
    f->values.order = f->header.order;
    return s ? s : ha_dense_room(&f->values);
}

HA_IN_ void ha_mpi_file_give(ha_mpi_file *f, ha_status s) {
    const ha_npy_header *h = &f->header;
    const size_t size = ha_dtype_size(h->type);
    const int64_t bytes = s ? 0
                            : ha_mpi_placed_size(&f->blocks.block[f->blocks.self]) * (int64_t)size;
    if (bytes && h->swapped)
        ha_npy_swap(f->values.data, (size_t)bytes,
                    ha_dtype_kind(h->type) == HA_KIND_COMPLEX ? size / 2 : size);
    HA_MPI_MOVED_(packed_bytes, bytes);
    ha_dense_give(&f->values, s);
}

HA_IN_ ha_status ha_mpi_load_all(ha_mpi_file *f, ha_status s) {
    const ha_mpi_call *call = &f->blocks.call;
    const int code = MPI_Bcast(&f->header, (int)sizeof f->header, MPI_BYTE, 0, call->comm);
    if (!s) s = ha_mpi_told(call, code, "telling the header");
    if (!s) s = ha_mpi_load_begin(f);
    s = ha_mpi_file_run(f, s, 0);
    ha_mpi_file_give(f, s);
    return s;
}

/* ---- the functions ---------------------------------------------------------------------------- */

HA_IN_ void ha_mpi_file_end(ha_mpi_file *f) {
    ha_dense_end(&f->values);
    ha_mpi_count_end(&f->count);
    if (f->is_made) (void)MPI_Type_free(&f->block);
    HARRAY_FREE(f->blocks.block);
}

/* Whether the ranks agree that it is this call, with HARRAY_MPI_CHECK. */
HA_IN_ ha_status ha_mpi_file_begin(ha_mpi_file *f) {
    const ha_mpi_call *call = &f->blocks.call;
    ha_mpi_signature sign;
    ha_status s = ha_mpi_enter(call);
    if (s) return s;
    ha_mpi_sign(&sign, NULL, call);
    s = ha_mpi_agree(call, &sign, NULL, HA_OK);
    (void)MPI_Comm_size(call->comm, &f->blocks.ranks);
    (void)MPI_Comm_rank(call->comm, &f->blocks.self);
    return s;
}

/* What a rank needs before it hears of the others. */
HA_IN_ ha_status ha_mpi_file_prepare(ha_mpi_file *f, const ha_mpi_part *part, const int64_t *offset,
                                     int writes) {
    ha_mpi_blocks *b = &f->blocks;
    ha_status s = ha_mpi_file_check(f, part, offset, writes);
    if (!s && !writes) s = ha_mpi_file_look(f);
    if (s) return s;
    b->block = (ha_mpi_placed *)HARRAY_MALLOC((size_t)b->ranks * sizeof *b->block);
    return b->block ? HA_OK : ha_mpi_fail(HA_ERR_MEMORY, &b->call, "no memory for blocks");
}

/* Errors are told when the array is no longer busy. */
HA_IN_ ha_status ha_mpi_file_move(ha_mpi_file *f, const ha_mpi_part *part, const int64_t *offset,
                                  int writes) {
    ha_tell_later();
    ha_status s = ha_mpi_share_status(&f->blocks.call,
                                      ha_mpi_file_prepare(f, part, offset, writes));
    if (!s) {
        s = ha_mpi_file_meet(f, offset);
        s = writes ? ha_mpi_save_all(f, s) : ha_mpi_load_all(f, s);
    }
    ha_mpi_file_end(f);
    ha_tell_now();
    return s;
}

HA_IN_ ha_status ha_mpi_file_of(ha_mpi_part x, const char *path, const int64_t *offset,
                                const ha_mpi_call *call, int writes) {
    ha_mpi_file f;
    ha_status s = HA_OK;
    memset(&f, 0, sizeof f);
    f.blocks.call = *call;
    f.path = path;
    f.values.operation = call->operation;
    f.values.view = x.view;
    const uint64_t begun = ha_mpi_moment();
    HA_FROM(call->site) {
        s = ha_mpi_file_begin(&f);
        if (!s) s = ha_mpi_file_move(&f, &x, offset, writes);
    }
    if (!s)
        ha_mpi_note_collective(call, darray_size(x.view) * (int64_t)x.view.array->element, begun);
    return s;
}

ha_status ha_mpi_save_(ha_mpi_part x, const char *path, const int64_t *offset, MPI_Comm comm,
                       const char *site) {
    HA_TELLS_EVENTS_;
    const ha_mpi_call call = {"ha_mpi_save", ha_from(site), comm};
    return ha_mpi_file_of(x, path, offset, &call, 1);
}

ha_status ha_mpi_load_(ha_mpi_part x, const char *path, const int64_t *offset, MPI_Comm comm,
                       const char *site) {
    HA_TELLS_EVENTS_;
    const ha_mpi_call call = {"ha_mpi_load", ha_from(site), comm};
    return ha_mpi_file_of(x, path, offset, &call, 0);
}

#endif
