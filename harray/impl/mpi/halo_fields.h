/* Halos: what a field is, an array or fields of records, for those who count its cells and move them. */
#ifndef HARRAY_IMPL_MPI_HALO_FIELDS_H
#define HARRAY_IMPL_MPI_HALO_FIELDS_H

#include "halo_boxes.h"

typedef struct ha_mpi_field {
    /* A view with which the plan was made; or the records that are in its place now. */
    ha_mpi_part part;
    int64_t each;    /* bytes of a cell */
    uint64_t digest; /* of its type, or of all types of a record's fields */
} ha_mpi_field;

/* What the user gives: a row of anything that a message takes. */
typedef struct ha_mpi_list {
    const void *first;
    size_t each, count;
} ha_mpi_list;

HA_IN_ ha_mpi_part ha_mpi_listed(const ha_mpi_list *list, size_t i) {
    return ha_mpi_part_((const char *)list->first + i * list->each, list->each);
}

HA_IN_ uint64_t ha_mpi_mix(uint64_t digest, uint64_t value) {
    return (digest ^ value) * 1099511628211u;
}

/* ---- what it is -------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_mpi_field_of_view(ha_mpi_field *field, const ha_mpi_call *call) {
    const darray *view = &field->part.view;
    ha_status s = ha_view_check_opened(view, HA_WRITE, call->operation, call->site);
    if (s) return s;
    const ha_type type = ha_array_type(view->array);
    field->each = (int64_t)type.size;
    for (const char *c = type.name; *c; c++)
        field->digest = ha_mpi_mix(field->digest, (unsigned char)*c);
    return HA_OK;
}

HA_IN_ ha_status ha_mpi_field_of_records(ha_mpi_field *field, const ha_mpi_call *call) {
    ha_mpi_leaves leaves;
    ha_status s = ha_mpi_leaves_of(&leaves, &field->part, call);
    if (s) return s;
    if (ha_mpi_box_size(&field->part, call) < 0) return HA_ERR_ARGUMENT;
    field->each = leaves.bytes;
    field->digest = leaves.digest;
    return HA_OK;
}

HA_IN_ ha_status ha_mpi_field_of(ha_mpi_field *field, const ha_mpi_part *part,
                                 const ha_mpi_call *call) {
    *field = (ha_mpi_field){.part = *part};
    return part->records ? ha_mpi_field_of_records(field, call) : ha_mpi_field_of_view(field, call);
}

/* All its cells. */
HA_IN_ ha_mpi_block ha_mpi_block_of(const ha_mpi_field *field) {
    const ha_mpi_part *part = &field->part;
    const darray *view = &part->view;
    ha_mpi_block block = {.rank = part->records ? ha_records_rank(part->records) : view->rank};
    for (int d = 0; d < block.rank; d++) {
        block.first[d] = part->records ? part->box.first[d] : view->origin[d];
        block.last[d] = part->records ? part->box.last[d] : view->origin[d] + view->extent[d];
    }
    return block;
}

/* Those that go to a neighbour, or the ghost cells that come from there. */
HA_IN_ ha_mpi_block ha_mpi_field_cells(const ha_mpi_grid *grid, const ha_mpi_field *field,
                                       const ha_mpi_offset *offset, int are_ghosts) {
    const ha_mpi_block all = ha_mpi_block_of(field);
    return ha_mpi_cells(grid, &all, offset, are_ghosts);
}

/* The same of a view, as one. */
HA_IN_ darray ha_mpi_view_of_cells(const ha_mpi_field *field, const ha_mpi_block *cells) {
    return darray_part_(field->part.view, cells->first, cells->last, NULL);
}

/* And of records. */
HA_IN_ ha_mpi_part ha_mpi_records_of_cells(const ha_mpi_field *field, const ha_mpi_block *cells) {
    ha_mpi_part part = field->part;
    for (int d = 0; d < cells->rank; d++) {
        part.box.first[d] = (ptrdiff_t)cells->first[d];
        part.box.last[d] = (ptrdiff_t)cells->last[d];
    }
    return part;
}

/* Whether their cells go side by side in one buffer: views of one type. */
HA_IN_ int ha_mpi_fields_are_alike(const ha_mpi_field *x, const ha_mpi_field *y) {
    if (x->part.records || y->part.records) return x == y;
    const ha_type a = ha_array_type(x->part.view.array), b = ha_array_type(y->part.view.array);
    return a.size == b.size && !strcmp(a.name, b.name);
}

/* ---- whether it can have a halo ---------------------------------------------------------------- */

HA_IN_ ha_status ha_mpi_check_block(const ha_mpi_grid *grid, const ha_mpi_field *field, size_t i,
                                    const ha_mpi_call *call) {
    const ha_mpi_block block = ha_mpi_block_of(field);
    if (block.rank < grid->dimensions)
        return ha_mpi_fail(HA_ERR_ARGUMENT, call,
                           "field %zu has %d dimensions, the communicator %d", i, block.rank,
                           grid->dimensions);
    if (!ha_mpi_block_size(&block))
        return ha_mpi_fail(HA_ERR_ARGUMENT, call, "field %zu has no elements", i);
    for (int d = 0; d < grid->dimensions; d++) {
        const int64_t extent = block.last[d] - block.first[d];
        if (extent / 3 < grid->width)
            return ha_mpi_fail(
                HA_ERR_ARGUMENT, call,
                "field %zu has an extent of %lld in dimension %d: with %lld ghost cells at "
                "each end that leaves fewer than these",
                i, (long long)extent, d, (long long)grid->width);
    }
    return HA_OK;
}

/* ---- what may take its place ------------------------------------------------------------------- */

HA_IN_ int ha_mpi_view_is_in_place_of(const darray *x, const darray *y) {
    int same = x->rank == y->rank && x->offset == y->offset && x->type == y->type;
    for (int d = 0; d < y->rank && same; d++)
        same = x->extent[d] == y->extent[d] && x->stride[d] == y->stride[d];
    return same && ha_arrays_are_alike(y->array, x->array);
}

/* Of records neither the layout matters, nor which ones of the array they are. */
HA_IN_ int ha_mpi_is_in_place_of(const ha_mpi_field *x, const ha_mpi_field *y) {
    if (!x->part.records && !y->part.records)
        return ha_mpi_view_is_in_place_of(&x->part.view, &y->part.view);
    const ha_mpi_block a = ha_mpi_block_of(x), b = ha_mpi_block_of(y);
    int same = x->part.records && y->part.records && x->each == y->each && x->digest == y->digest &&
               a.rank == b.rank;
    for (int d = 0; d < b.rank && same; d++)
        same = a.last[d] - a.first[d] == b.last[d] - b.first[d];
    return same;
}

#endif
