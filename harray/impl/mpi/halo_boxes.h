/* Halos: which cells go to which neighbour. Arithmetic on extents and coordinates alone.
 *
 * A neighbour is an offset of -1, 0 or 1 in each dimension of the communicator. A message that goes to the neighbour at
 * an offset has that as its tag; so what comes from there has the opposite one. */
#ifndef HARRAY_IMPL_MPI_HALO_BOXES_H
#define HARRAY_IMPL_MPI_HALO_BOXES_H

#include "waiting.h"

typedef struct ha_mpi_grid {
    int dimensions, kind;
    int64_t width;
    int size[HA_MOST_RANK], is_periodic[HA_MOST_RANK], at[HA_MOST_RANK];
} ha_mpi_grid;

/* -1, 0 or 1 in each dimension. */
typedef struct ha_mpi_offset {
    int number; /* its tag */
    int way[HA_MOST_RANK];
} ha_mpi_offset;

/* 3^n */
HA_IN_ int ha_mpi_offsets(const ha_mpi_grid *grid) {
    int count = 1;
    for (int d = 0; d < grid->dimensions; d++) count *= 3;
    return count;
}

HA_IN_ ha_mpi_offset ha_mpi_offset_of(const ha_mpi_grid *grid, int number) {
    ha_mpi_offset offset = {.number = number};
    for (int d = 0; d < grid->dimensions; d++) {
        offset.way[d] = number % 3 - 1;
        number /= 3;
    }
    return offset;
}

/* In how many dimensions it is elsewhere; *axis is the last of these. */
HA_IN_ int ha_mpi_ways(const ha_mpi_grid *grid, const ha_mpi_offset *offset, int *axis) {
    int ways = 0;
    *axis = -1;
    for (int d = 0; d < grid->dimensions; d++) {
        ways += offset->way[d] != 0;
        if (offset->way[d]) *axis = d;
    }
    return ways;
}

/* With corners each dimension is a round, and takes along what the ones before have brought. */
HA_IN_ int ha_mpi_rounds(const ha_mpi_grid *grid) {
    return grid->kind == HA_MPI_CORNERS ? grid->dimensions : 1;
}

/* Whether a message goes there in this round. */
HA_IN_ int ha_mpi_is_sent(const ha_mpi_grid *grid, const ha_mpi_offset *offset, int round) {
    int axis;
    const int ways = ha_mpi_ways(grid, offset, &axis);
    if (grid->kind == HA_MPI_AT_ONCE) return ways > 0;
    return ways == 1 && (grid->kind == HA_MPI_FACES || axis == round);
}

/* Its rank, or MPI_PROC_NULL. */
HA_IN_ int ha_mpi_neighbour(const ha_mpi_grid *grid, const ha_mpi_offset *offset, MPI_Comm comm) {
    int at[HA_MOST_RANK], rank = MPI_PROC_NULL;
    for (int d = 0; d < grid->dimensions; d++) {
        const int n = grid->size[d];
        at[d] = grid->at[d] + offset->way[d];
        if (at[d] >= 0 && at[d] < n) continue;
        if (!grid->is_periodic[d]) return MPI_PROC_NULL;
        at[d] = (at[d] + n) % n;
    }
    return MPI_Cart_rank(comm, at, &rank) ? MPI_PROC_NULL : rank;
}

/* Cells of a field: indices [first, last) in each dimension. */
typedef struct ha_mpi_block {
    int rank;
    int64_t first[HA_MOST_RANK], last[HA_MOST_RANK];
} ha_mpi_block;

HA_IN_ int64_t ha_mpi_block_size(const ha_mpi_block *block) {
    int64_t size = 1;
    for (int d = 0; d < block->rank; d++) size *= block->last[d] - block->first[d];
    return size;
}

/* Of all cells those that are sent to the neighbour there; or the ghost cells that come from it. */
HA_IN_ ha_mpi_block ha_mpi_cells(const ha_mpi_grid *grid, const ha_mpi_block *all,
                                 const ha_mpi_offset *offset, int are_ghosts) {
    ha_mpi_block cells = {.rank = all->rank};
    int axis;
    (void)ha_mpi_ways(grid, offset, &axis);
    for (int d = 0; d < all->rank; d++) {
        const int64_t begin = all->first[d], end = all->last[d];
        const int64_t w = grid->width, depth = are_ghosts ? 0 : w;
        const int way = d < grid->dimensions ? offset->way[d] : 0;
        const int whole = d >= grid->dimensions || (grid->kind == HA_MPI_CORNERS && d < axis);
        cells.first[d] = way < 0   ? begin + depth
                         : way > 0 ? end - w - depth
                         : whole   ? begin
                                   : begin + w;
        cells.last[d] = way ? cells.first[d] + w : whole ? end : end - w;
    }
    return cells;
}

#endif
