/* Fields of records become the bytes of a buffer, and the other way round: by one command of a device, where that
 * puts values into their places (../records/device_scatter.h), else by the host. */
#ifndef HARRAY_IMPL_MPI_RECORDS_H
#define HARRAY_IMPL_MPI_RECORDS_H

#include "fields.h"

/* So many pieces, each of values at equal distances, a device moves by one command: two fields of a face of 128 x 128
 * records, in blocks of lanes that end anywhere, have as many. Tests have less. */
#ifndef HA_MPI_MOST_PIECES_
#define HA_MPI_MOST_PIECES_ (1 << 15)
#endif

typedef struct ha_mpi_pieces {
    ha_mapped records;
    ha_field_box all; /* the cells */
    char *bytes;      /* of the leaf, in the buffer */
    size_t size;      /* of a value */
    int64_t step
        [HA_MOST_DIMENSIONS_]; /* of each index in the buffer, where the last one is the fastest */
    int gathers;
    ha_strided_copy *copy;
    size_t count;
} ha_mpi_pieces;

/* ---- where the values are ----------------------------------------------------------------------- */

HA_IN_ ha_strided_copy ha_mpi_piece(const ha_mpi_pieces *p, const ha_stride_pattern *pattern,
                                    const ha_field_box *box) {
    ha_strided_copy copy = {
        .to = p->bytes, .from = pattern->at, .bytes = p->size, .levels = pattern->levels};
    int64_t at = 0;
    for (int d = 0; d < HA_MOST_DIMENSIONS_; d++)
        at += (box->first[d] - p->all.first[d]) * p->step[d];
    copy.to = p->bytes + at;
    for (int k = 0; k < pattern->levels; k++) {
        copy.count[k] = (size_t)pattern->count[k];
        copy.to_step[k] = (size_t)p->step[pattern->dimension[k]];
        copy.from_step[k] = (size_t)pattern->step[k];
    }
    return p->gathers ? copy : ha_strided_turn(&copy);
}

/* Of a box; where its values do not lie at equal distances, or go on in another block of lanes, of its parts. 0: the
 * device is not to do it. */
HA_IN_ int ha_mpi_pieces_of(ha_mpi_pieces *p, const ha_row *row, const ha_field_box *box) {
    ha_stride_pattern pattern;
    ha_cut cut;
    int fits = ha_stride_pattern_of(&p->records, row, box, &pattern, &cut);
    if (fits && pattern.blocks)
        fits = ha_cut_in_halves(&p->records.mapping->linearizer[row->linearizer], box, &cut);
    if (fits) {
        if (p->count == HA_MPI_MOST_PIECES_ || ha_stride_pattern_is_backwards(&pattern)) return 0;
        p->copy[p->count++] = ha_mpi_piece(p, &pattern, box);
        return 1;
    }
    ha_field_box low = *box, high = *box;
    low.last[cut.dimension] = high.first[cut.dimension] = cut.index;
    return ha_mpi_pieces_of(p, row, &low) && ha_mpi_pieces_of(p, row, &high);
}

/* 0: as above; or a leaf is not stored as its values are. */
HA_IN_ int ha_mpi_pieces_of_all(ha_mpi_pieces *p, const ha_mpi_leaves *leaves) {
    const ha_mapping *m = p->records.mapping;
    const int64_t n = ha_record_leaves(m->record);
    ha_leaf leaf;
    for (int64_t i = 0; i < n; i++) {
        if (!leaves->has[i] || ha_record_leaf(m->record, i, &leaf)) continue;
        const ha_row *row = &m->row[i];
        int64_t step = (int64_t)(p->size = ha_dtype_size(leaf.type));
        if (row->blob < 0 || ha_row_coding(m, row)) return 0;
        for (int d = HA_MOST_DIMENSIONS_ - 1; d >= 0; d--) {
            p->step[d] = step;
            step *= ha_box_extent(&p->all, d);
        }
        if (!ha_mpi_pieces_of(p, row, &p->all)) return 0;
        p->bytes += step;
    }
    return 1;
}

/* ---- by a device -------------------------------------------------------------------------------- */

/* Both are open there. HA_ERR_UNSUPPORTED: the device does not, or cannot any more. */
HA_IN_ ha_status ha_mpi_pieces_move(const ha_records_access *v, const ha_region *box,
                                    const ha_mpi_leaves *leaves, char *bytes, int gathers) {
    ha_context *const c = v->context;
    ha_mpi_pieces p = {.records = {v->mapping, v->blob}, .bytes = bytes, .gathers = gathers};
    ha_status s = HA_ERR_UNSUPPORTED;
    for (int d = 0; d < HA_MOST_DIMENSIONS_; d++) {
        p.all.first[d] = box->first[d];
        p.all.last[d] = box->last[d];
    }
    p.copy = (ha_strided_copy *)HARRAY_MALLOC(HA_MPI_MOST_PIECES_ * sizeof *p.copy);
    if (p.copy && ha_mpi_pieces_of_all(&p, leaves))
        s = ha_queue_status(c, c->ops->copy_strided(c->queue, p.copy, p.count));
    HARRAY_FREE(p.copy);
    if (s)
        ha_forget_note(); /* of a device that has failed, whoever opens what is there finds out */
    return s ? HA_ERR_UNSUPPORTED : HA_OK;
}

/* Whether a device puts values into their places, and those that are to be sent are there. */
HA_IN_ int ha_mpi_records_are_for(const ha_mpi_part *part, ha_context *c, int gathers) {
    if (ha_is_host(c) || !HA_HAS_(c->ops, ha_queue_ops, copy_strided)) return 0;
    if (gathers && !ha_records_box_is_valid(part->records, c, part->paths, &part->box)) return 0;
    const ha_status s = ha_queue_status(c, c->ops->copy_strided(c->queue, NULL, 0));
    if (s) ha_forget_note();
    return !s;
}

/* HA_ERR_UNSUPPORTED, untold: the device does not. */
HA_IN_ ha_status ha_mpi_records_by_device(const ha_mpi_part *part, const ha_mpi_leaves *leaves,
                                          const darray *buffer, ha_context *c, int gathers) {
    ha_records_access v;
    ha_access b;
    if (!ha_mpi_records_are_for(part, c, gathers)) return HA_ERR_UNSUPPORTED;
    memset(&v, 0, sizeof v);
    memset(&b, 0, sizeof b);
    ha_status s = ha_mpi_fields_open(&v, part, c, gathers ? "read" : "overwrite");
    if (s) return s;
    s = ha_open_view(&b, *buffer, c, gathers ? HA_OVERWRITE : HA_READ);
    if (!s) {
        s = ha_mpi_pieces_move(&v, &part->box, leaves, (char *)b.data, gathers);
        HA_IGNORE(ha_close(&b));
    }
    const ha_status closed = ha_records_close(&v);
    return s ? s : closed;
}

/* ---- by the host -------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_mpi_records_by_host(const ha_mpi_part *part, const ha_mpi_leaves *leaves,
                                        const darray *buffer, int gathers) {
    ha_access b;
    memset(&b, 0, sizeof b);
    ha_status s = ha_open_view(&b, *buffer, ha_host(), gathers ? HA_OVERWRITE : HA_READ);
    if (s) return s;
    s = ha_mpi_fields_move(part, leaves, (char *)b.data, gathers);
    const ha_status closed = ha_close(&b);
    return s ? s : closed;
}

/* What the host has written is brought to a context. */
HA_IN_ ha_status ha_mpi_records_bring(const ha_mpi_part *part, ha_context *c) {
    ha_records_access v;
    if (!c->ops) return HA_OK;
    memset(&v, 0, sizeof v);
    ha_status s = ha_mpi_fields_open(&v, part, c, "read");
    return s ? s : ha_records_close(&v);
}

/* gathers: from the cells to the buffer; else to the cells, which are valid at the context then. */
HA_IN_ ha_status ha_mpi_records_move(const ha_mpi_part *part, const darray *buffer, ha_context *c,
                                     int gathers, const ha_mpi_call *call) {
    ha_mpi_leaves leaves;
    ha_status s = ha_mpi_leaves_of(&leaves, part, call);
    if (s) return s;
    s = ha_mpi_records_by_device(part, &leaves, buffer, c, gathers);
    if (s != HA_ERR_UNSUPPORTED) return s;
    s = ha_mpi_records_by_host(part, &leaves, buffer, gathers);
    return s || gathers ? s : ha_mpi_records_bring(part, c);
}

#endif
