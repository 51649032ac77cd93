/* Files of all ranks: where the block of each lies in the whole, and whether they fit together. Each rank knows what all
 * have said, so that most of it is the same on all. */
#ifndef HARRAY_IMPL_MPI_FILE_BLOCKS_H
#define HARRAY_IMPL_MPI_FILE_BLOCKS_H

#include "halo_new.h"

/* What a rank says of its block. Travels as bytes. */
typedef struct ha_mpi_placed {
    int32_t type, order, rank, has_offset;
    int64_t extent[HA_MOST_RANK], offset[HA_MOST_RANK];
} ha_mpi_placed;

typedef struct ha_mpi_blocks {
    ha_mpi_call call;
    int self, ranks;
    ha_mpi_grid grid;     /* of the communicator, if somebody needs it */
    ha_mpi_placed *block; /* one of each rank */
    int rank;             /* dimensions of the whole */
    int64_t whole[HA_MOST_RANK];
} ha_mpi_blocks;

/* Collective: what is wrong on one rank, all hear of. s: of this rank. */
HA_IN_ ha_status ha_mpi_share_status(const ha_mpi_call *call, ha_status s) {
    enum { STATUSES = 64 };
    int rank = 0;
    (void)MPI_Comm_rank(call->comm, &rank);
    int64_t mine = s ? (int64_t)rank * STATUSES + (int64_t)s : INT64_MAX, first = INT64_MAX;
    ha_status told = ha_mpi_told(
        call, MPI_Allreduce(&mine, &first, 1, MPI_INT64_T, MPI_MIN, call->comm), "agreeing");
    if (s || told || first == INT64_MAX) return s ? s : told;
    return ha_mpi_fail(HA_ERR_LOST, call, "rank %d has failed: %s", (int)(first / STATUSES),
                       ha_status_name((ha_status)(first % STATUSES)));
}

HA_IN_ int64_t ha_mpi_placed_size(const ha_mpi_placed *block) {
    int64_t size = 1;
    for (int d = 0; d < block->rank; d++) size *= block->extent[d];
    return size;
}

/* ---- where they lie --------------------------------------------------------------------------- */

/* Behind the blocks at lower coordinates, in each dimension of the grid. */
HA_IN_ ha_status ha_mpi_place_in_grid(ha_mpi_blocks *b, int rank) {
    ha_mpi_placed *const block = &b->block[rank];
    int at[HA_MOST_RANK], before[HA_MOST_RANK], other = 0;
    int code = MPI_Cart_coords(b->call.comm, rank, b->grid.dimensions, at);
    for (int d = 0; d < b->grid.dimensions; d++) {
        memcpy(before, at, sizeof before);
        for (before[d] = 0; before[d] < at[d] && !code; before[d]++) {
            code = MPI_Cart_rank(b->call.comm, before, &other);
            if (!code) block->offset[d] += b->block[other].extent[d];
        }
    }
    return ha_mpi_told(&b->call, code, "finding a block's place");
}

/* Where the whole ends, which is where the last of the blocks does: of those that have elements, if any has. */
HA_IN_ ha_status ha_mpi_enclose(ha_mpi_blocks *b) {
    int is_empty = 1;
    for (int r = 0; r < b->ranks; r++) is_empty &= !ha_mpi_placed_size(&b->block[r]);
    for (int r = 0; r < b->ranks; r++) {
        const ha_mpi_placed *block = &b->block[r];
        for (int d = 0; d < b->rank && (is_empty || ha_mpi_placed_size(block)); d++) {
            int64_t end;
            if (__builtin_add_overflow(block->offset[d], block->extent[d], &end))
                return ha_mpi_fail(HA_ERR_ARGUMENT, &b->call,
                                   "the block of rank %d ends beyond 63 bits", r);
            if (end > b->whole[d]) b->whole[d] = end;
        }
    }
    return HA_OK;
}

/* All know of all; grid: those that have not said where they lie, lie as the ranks do. */
HA_IN_ ha_status ha_mpi_place_all(ha_mpi_blocks *b) {
    ha_status s = HA_OK;
    b->rank = b->block[0].rank;
    for (int r = 0; r < b->ranks; r++)
        if (b->block[r].rank != b->rank)
            return ha_mpi_fail(HA_ERR_ARGUMENT, &b->call,
                               "rank 0 has a view of %d dimensions, rank %d of %d", b->rank, r,
                               b->block[r].rank);
    for (int r = 0; r < b->ranks && !s; r++)
        if (!b->block[r].has_offset) s = ha_mpi_place_in_grid(b, r);
    return s ? s : ha_mpi_enclose(b);
}

/* ---- whether they fit together ---------------------------------------------------------------- */

/* Whether two blocks have an element in common. */
HA_IN_ int ha_mpi_blocks_meet(const ha_mpi_placed *x, const ha_mpi_placed *y) {
    int meet = ha_mpi_placed_size(x) && ha_mpi_placed_size(y);
    for (int d = 0; d < x->rank && meet; d++)
        meet = x->offset[d] < y->offset[d] + y->extent[d] &&
               y->offset[d] < x->offset[d] + x->extent[d];
    return meet;
}

/* Each rank looks for what is in the way of its own block. */
HA_IN_ ha_status ha_mpi_check_meeting(const ha_mpi_blocks *b) {
    const ha_mpi_placed *mine = &b->block[b->self];
    for (int r = 0; r < b->ranks; r++)
        if (r != b->self && ha_mpi_blocks_meet(mine, &b->block[r]))
            return ha_mpi_fail(HA_ERR_ARGUMENT, &b->call,
                               "the block (%.60s) at (%.60s) and that of rank %d have elements in "
                               "common",
                               ha_show(mine->rank, mine->extent).text,
                               ha_show(mine->rank, mine->offset).text, r);
    return HA_OK;
}

/* They have one type, and each element of the whole is in one of them. The whole has not too many for 63 bits. */
HA_IN_ ha_status ha_mpi_check_tiles(const ha_mpi_blocks *b) {
    int64_t size = 0, all = 1;
    for (int d = 0; d < b->rank; d++) all *= b->whole[d];
    for (int r = 0; r < b->ranks; r++) {
        if (b->block[r].type != b->block[0].type)
            return ha_mpi_fail(HA_ERR_ARGUMENT, &b->call,
                               "rank 0 has elements of type %s, rank %d of type %s",
                               ha_dtype_name((ha_dtype)b->block[0].type), r,
                               ha_dtype_name((ha_dtype)b->block[r].type));
        size += ha_mpi_placed_size(&b->block[r]);
    }
    ha_status s = ha_mpi_check_meeting(b);
    if (s || size == all) return s;
    return ha_mpi_fail(HA_ERR_ARGUMENT, &b->call,
                       "the blocks have %lld elements, and their whole (%.60s) has %lld",
                       (long long)size, ha_show(b->rank, b->whole).text, (long long)all);
}

#endif
