/* The part of a box that is converted at once: what of a chunk of the host's memory is like the
 * device's, described as a mapping, so that a copy between layouts fills or reads it. */
#ifndef HARRAY_IMPL_RECORDS_CHUNK_MAPPING_H
#define HARRAY_IMPL_RECORDS_CHUNK_MAPPING_H

#include "patterns.h"

/* The tables of a mapping that is written by hand. */
typedef struct ha_staged_tables {
    ha_mapping mapping;
    ha_row *row, *byte_row;
    ha_linearizer *linearizer;
    ha_blob blob;
} ha_staged_tables;

/* All leaves: not stored. */
HA_IN_ void ha_tables_clear(ha_staged_tables *h, const ha_mapping *like) {
    h->mapping = *like;
    h->mapping.counts = NULL;
    h->mapping.row = h->row;
    for (int64_t leaf = 0; leaf < like->rows; leaf++)
        h->row[leaf] = (ha_row){.blob = -1, .lanes = 1, .section = -1};
}

/* Some leaves as in a mapping. */
HA_IN_ void ha_tables_take(ha_staged_tables *h, const ha_mapping *like, int64_t leaf, int64_t end) {
    ha_tables_clear(h, like);
    for (; leaf < end; leaf++) h->row[leaf] = like->row[leaf];
}

/* The linearizer of a column in a chunk, where neighbouring values are `*unit` bytes apart. */
HA_IN_ ha_linearizer ha_chunk_linearizer(const ha_column *s, const ha_mapping *device,
                                         const ha_strided_copy *copy, int64_t *unit) {
    const ha_stride_pattern *p = &s->pattern;
    ha_linearizer z = {.rank = device->rank, .count = INT64_MAX};
    for (int d = 0; d < z.rank; d++) z.dimension[d] = d;
    if (s->here->linearizer >= 0) z = device->linearizer[s->here->linearizer];
    *unit = p->levels ? ha_packed_step(copy, p->step[0]) : (int64_t)s->bytes;
    for (int k = 1; k < p->levels; k++)
        if (ha_packed_step(copy, p->step[k]) % *unit) *unit = 1;
    z.morton = 0;
    z.pad = 1;
    for (int d = 0; d < z.rank; d++) z.stride[d] = 0;
    for (int k = 0; k < p->levels; k++)
        z.stride[p->dimension[k]] = ha_packed_step(copy, p->step[k]) / *unit;
    return z;
}

/* Adds a linearizer, unless it is the one before; its number. */
HA_IN_ int32_t ha_tables_linearizer(ha_staged_tables *h, const ha_linearizer *z) {
    const int32_t n = h->mapping.linearizers;
    if (n && !memcmp(&h->linearizer[n - 1], z, sizeof *z)) return n - 1;
    h->linearizer[h->mapping.linearizers++] = *z;
    return n;
}

/* The row of a column in a chunk. Its base is such that the array's own indices hold. */
HA_IN_ ha_row ha_chunk_row(ha_staged_tables *h, const ha_column *s, const ha_merged_copy *b,
                           const ha_mapping *device, const ha_field_box *box) {
    const ha_strided_copy *copy = &b->copy;
    ha_row row = *s->here;
    ha_linearizer z;
    row.blob = 0;
    row.section = -1;
    if (s->image) { /* as it is, but elsewhere */
        const int64_t by = (int64_t)b->packed - s->pattern.linear;
        row.base += ha_row_has_bits(device, s->here) ? 8 * by : by;
        row.packed = 1;
        row.linearizer = ha_tables_linearizer(h, &device->linearizer[row.linearizer]);
        return row;
    }
    row.base = (int64_t)b->packed + (s->pattern.at - ha_merged_copy_here(b));
    if (s->pattern.blocks) {
        row.lane_stride = ha_packed_step(copy, s->pattern.step[0]);
        row.block_stride = ha_packed_step(copy, s->pattern.step[1]);
        row.base -= s->pattern.linear / row.lanes * row.block_stride;
        z = device->linearizer[row.linearizer];
    } else {
        z = ha_chunk_linearizer(s, device, copy, &row.block_stride);
        row.lanes = 1;
        row.lane_stride = 0;
        row.base -= ha_linear(&z, box->first) * row.block_stride;
    }
    row.linearizer = ha_tables_linearizer(h, &z);
    return row;
}

/* The mapping of a chunk of so many bytes, with these merged copies. */
HA_IN_ void ha_chunk_map(ha_staged_tables *h, size_t bytes, const ha_column *s, int64_t columns,
                         const ha_merged_copy *b, const ha_mapping *device,
                         const ha_field_box *box) {
    ha_tables_clear(h, device);
    h->blob = (ha_blob){(int64_t)bytes, HA_BLOB_ALIGNMENT};
    h->mapping.linearizer = h->linearizer;
    h->mapping.linearizers = 0;
    h->mapping.byte_row = h->byte_row;
    h->mapping.blobs = 1;
    h->mapping.blob = &h->blob;
    h->mapping.sections = 0;
    h->mapping.section = NULL;
    h->mapping.text = "";
    for (int64_t i = 0; i < columns; i++) {
        const ha_row row = ha_chunk_row(h, &s[i], &b[s[i].merged_copy], device, box);
        if (s[i].byte >= 0) h->byte_row[s[i].byte] = row;
        const ha_row *leaf = &device->row[s[i].leaf];
        if (s[i].byte >= 0 && s[i].byte != ha_row_coding(device, leaf)->byte_row) continue;
        h->row[s[i].leaf] = row; /* of the first byte, if it is stored byte by byte */
        h->row[s[i].leaf].coding = leaf->coding;
        h->row[s[i].leaf].type = leaf->type;
    }
}

#endif
