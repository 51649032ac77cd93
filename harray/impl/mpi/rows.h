/* A view of long rows, which a message moves as it lies: by a type that MPI is given for it. MPI copies rows as fast as
 * anyone, into and out of its own buffers, of which one is on its way while the next is filled; so nothing is packed. */
#ifndef HARRAY_IMPL_MPI_ROWS_H
#define HARRAY_IMPL_MPI_ROWS_H

#include "library.h"

/* Bytes of a row. Shorter ones are packed faster (bench/results/xeon-2core-2026-11-28-mpi.md). Tests have less. */
#ifndef HA_MPI_ROW_BYTES_
#define HA_MPI_ROW_BYTES_ 256
#endif

/* How many elements lie one behind the other; in *outer, how many dimensions such rows are in. */
HA_IN_ int64_t ha_mpi_row_of(const darray *x, int *outer) {
    int64_t n = 1;
    int d = x->rank;
    for (; d > 0 && (x->extent[d - 1] == 1 || x->stride[d - 1] == n); d--) n *= x->extent[d - 1];
    *outer = d;
    return n;
}

/* Of a view with elements, of so many bytes each, that are not contiguous. While the message is on its way the view is
 * open, so it has to be all that an access to it locks: no other view of the array may have to wait for a peer. */
HA_IN_ int ha_mpi_has_rows(const darray *x, int64_t bytes) {
    int outer;
    ha_range covered;
    const int64_t row = ha_mpi_row_of(x, &outer) * bytes;
    for (int d = 0; d < outer; d++)
        if (x->extent[d] > HA_MPI_MOST_COUNT_) return 0;
    return row >= HA_MPI_ROW_BYTES_ && row <= HA_MPI_MOST_COUNT_ &&
           ha_view_cover(x->array->grid, x, &covered);
}

/* MPI's code. The elements from the first one on, in order, as one of count->type. An element has so many bytes, and is
 * `units` of base. */
HA_IN_ int ha_mpi_count_rows(ha_mpi_count *count, const darray *x, int64_t bytes, int64_t units,
                             MPI_Datatype base) {
    int d, wrong = MPI_SUCCESS;
    int length = (int)(ha_mpi_row_of(x, &d) * units);
    MPI_Datatype type = base;
    while (!wrong && d-- > 0) {
        if (x->extent[d] == 1) continue; /* its stride may be anything */
        MPI_Datatype all = MPI_DATATYPE_NULL;
        wrong = MPI_Type_create_hvector((int)x->extent[d], length, (MPI_Aint)(x->stride[d] * bytes),
                                        type, &all);
        if (type != base) (void)MPI_Type_free(&type);
        type = all;
        length = 1;
    }
    if (wrong) return wrong;
    *count = (ha_mpi_count){.type = type, .number = 1, .is_made = 1};
    return MPI_Type_commit(&count->type);
}

#endif
