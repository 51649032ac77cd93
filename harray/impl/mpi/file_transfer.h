/* Blocks of an open file, from and to the memory of the host: those of all ranks together where that can be trusted, else
 * each rank's by itself. */
#ifndef HARRAY_IMPL_MPI_FILE_TRANSFER_H
#define HARRAY_IMPL_MPI_FILE_TRANSFER_H

#include "file_blocks.h"
#include "../dense/all.h"
#include "../exchange/all.h"
#include "../../detail/ompio.h"

/* What a call needs from its beginning to its end. */
typedef struct ha_mpi_file {
    ha_mpi_blocks blocks;
    const char *path;
    ha_dense values;
    ha_npy_header header; /* of the whole */
    ha_npy_new made;      /* by rank 0; its file is NULL: none */
    char name[PATH_MAX];  /* of what MPI opens */
    MPI_Datatype block;   /* where the elements are in the file, behind the header */
    int is_made;          /* it is to be freed */
    ha_mpi_count count;
    MPI_File file;
} ha_mpi_file;

HA_IN_ const ha_mpi_placed *ha_mpi_file_block(const ha_mpi_file *f) {
    return &f->blocks.block[f->blocks.self];
}

/* What has come is less when somebody has made the file shorter. n: elements. */
HA_IN_ ha_status ha_mpi_file_moved(const ha_mpi_file *f, int code, const MPI_Status *status,
                                   int64_t n, int writes) {
    const int64_t bytes = n * (int64_t)ha_dtype_size(f->header.type);
    MPI_Count moved = 0;
    if (code) return ha_mpi_tell(&f->blocks.call, code, writes ? "writing" : "reading");
    (void)MPI_Get_elements_x(status, MPI_BYTE, &moved);
    if (!bytes || (int64_t)moved == bytes) return HA_OK;
    return ha_mpi_fail(HA_ERR_BACKEND, &f->blocks.call, "%lld bytes of %lld were transferred",
                       (long long)moved, (long long)bytes);
}

/* ---- all ranks together ----------------------------------------------------------------------- */

/* Whether they are to transfer it so; all of them know the whole. MPI takes extents of subarrays as ints. */
HA_IN_ int ha_mpi_file_is_together(const ha_npy_header *h) {
    int is_together = HA_MPI_FILES_TOGETHER_;
    for (int d = 0; d < h->rank; d++) is_together &= h->extent[d] <= INT_MAX;
    return is_together;
}

/* The block's elements, of the whole. Without any, or dimensions, there is nothing to choose; nor for each by itself. */
HA_IN_ ha_status ha_mpi_file_select(ha_mpi_file *f) {
    const ha_npy_header *h = &f->header;
    const ha_mpi_placed *mine = ha_mpi_file_block(f);
    const MPI_Datatype base = ha_mpi_type_of(h->type);
    const int64_t size = ha_mpi_placed_size(mine);
    int whole[HA_MOST_RANK], part[HA_MOST_RANK], first[HA_MOST_RANK];
    f->block = base;
    if (!ha_mpi_file_is_together(h)) return HA_OK;
    ha_status s = ha_mpi_count_of(&f->count, size, base, &f->blocks.call);
    if (s || !size || !h->rank) return s;
    for (int d = 0; d < h->rank; d++) {
        whole[d] = (int)h->extent[d];
        part[d] = (int)mine->extent[d];
        first[d] = (int)mine->offset[d];
    }
    int code = MPI_Type_create_subarray(h->rank, whole, part, first,
                                        h->order == HA_ROW_MAJOR ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                                        base, &f->block);
    f->is_made = !code;
    if (!code) code = MPI_Type_commit(&f->block);
    return ha_mpi_told(&f->blocks.call, code, "making a type");
}

HA_IN_ ha_status ha_mpi_file_set_view(ha_mpi_file *f) {
    return ha_mpi_told(&f->blocks.call,
                       MPI_File_set_view(f->file, (MPI_Offset)f->header.bytes,
                                         ha_mpi_type_of(f->header.type), f->block, "native",
                                         MPI_INFO_NULL),
                       "choosing a block");
}

HA_IN_ ha_status ha_mpi_file_transfer_together(ha_mpi_file *f, int writes) {
    static char nothing;
    void *data = f->values.data ? f->values.data : &nothing;
    MPI_Status status;
    const int code =
        writes ? MPI_File_write_all(f->file, data, f->count.number, f->count.type, &status)
               : MPI_File_read_all(f->file, data, f->count.number, f->count.type, &status);
    return ha_mpi_file_moved(f, code, &status, ha_mpi_placed_size(ha_mpi_file_block(f)), writes);
}

/* ---- each by itself --------------------------------------------------------------------------- */

/* Elements that follow each other in memory and in the file: those of the fastest dimensions, as far as the block has
 * them whole, and of the next one. */
typedef struct ha_mpi_runs {
    int inner; /* how many dimensions lie in a run */
    int64_t length, number;
} ha_mpi_runs;

/* Dimension k in the order of the file, from the fastest one. */
HA_IN_ int ha_mpi_file_dimension(const ha_npy_header *h, int k) {
    return h->order == HA_ROW_MAJOR ? h->rank - 1 - k : k;
}

/* The block has elements. */
HA_IN_ ha_mpi_runs ha_mpi_file_runs(const ha_npy_header *h, const ha_mpi_placed *block) {
    ha_mpi_runs runs = {.length = 1};
    for (int is_whole = 1; runs.inner < h->rank && is_whole; runs.inner++) {
        const int d = ha_mpi_file_dimension(h, runs.inner);
        runs.length *= block->extent[d];
        is_whole = block->extent[d] == h->extent[d];
    }
    runs.number = ha_mpi_placed_size(block) / runs.length;
    return runs;
}

/* The number in the whole of a run's first element. */
HA_IN_ int64_t ha_mpi_run_begin(const ha_npy_header *h, const ha_mpi_placed *block,
                                const ha_mpi_runs *runs, int64_t run) {
    int64_t begin = 0, step = 1;
    for (int k = 0; k < h->rank; k++) {
        const int d = ha_mpi_file_dimension(h, k), varies = k >= runs->inner;
        begin += (block->offset[d] + (varies ? run % block->extent[d] : 0)) * step;
        if (varies) run /= block->extent[d];
        step *= h->extent[d];
    }
    return begin;
}

HA_IN_ ha_status ha_mpi_file_transfer_run(ha_mpi_file *f, const ha_mpi_runs *runs, int64_t run,
                                          const ha_mpi_count *count, int writes) {
    const int64_t size = (int64_t)ha_dtype_size(f->header.type);
    const int64_t begin = ha_mpi_run_begin(&f->header, ha_mpi_file_block(f), runs, run);
    const MPI_Offset at = (MPI_Offset)f->header.bytes + begin * size;
    char *data = (char *)f->values.data + run * runs->length * size;
    MPI_Status status;
    const int code = writes
                         ? MPI_File_write_at(f->file, at, data, count->number, count->type, &status)
                         : MPI_File_read_at(f->file, at, data, count->number, count->type, &status);
    return ha_mpi_file_moved(f, code, &status, runs->length, writes);
}

HA_IN_ ha_status ha_mpi_file_transfer_runs(ha_mpi_file *f, int writes) {
    const ha_mpi_placed *mine = ha_mpi_file_block(f);
    ha_mpi_count count;
    if (!ha_mpi_placed_size(mine)) return HA_OK;
    const ha_mpi_runs runs = ha_mpi_file_runs(&f->header, mine);
    ha_status s = ha_mpi_count_of(&count, runs.length, ha_mpi_type_of(f->header.type),
                                  &f->blocks.call);
    for (int64_t run = 0; run < runs.number && !s; run++)
        s = ha_mpi_file_transfer_run(f, &runs, run, &count, writes);
    ha_mpi_count_end(&count);
    return s;
}

/* ---- either ------------------------------------------------------------------------------------ */

/* Of an open file, by all ranks, which decide the same. */
HA_IN_ ha_status ha_mpi_file_transfer(ha_mpi_file *f, int writes) {
    if (!ha_mpi_file_is_together(&f->header)) return ha_mpi_file_transfer_runs(f, writes);
    ha_status s = ha_mpi_share_status(&f->blocks.call, ha_mpi_file_set_view(f));
    return s ? s : ha_mpi_file_transfer_together(f, writes);
}

/* And closes it. */
HA_IN_ ha_status ha_mpi_file_transfer_block(ha_mpi_file *f, int writes) {
    const ha_mpi_call *call = &f->blocks.call;
    ha_status s = ha_mpi_share_status(call, ha_mpi_file_transfer(f, writes));
    const ha_status closed = ha_mpi_told(call, MPI_File_close(&f->file), "closing the file");
    return s ? s : ha_mpi_share_status(call, closed);
}

#endif
