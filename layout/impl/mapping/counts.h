/* Counters of mappings: making them, and counting what goes through them. */
#ifndef HARRAY_LAYOUT_IMPL_MAPPING_COUNTS_H
#define HARRAY_LAYOUT_IMPL_MAPPING_COUNTS_H

#include "layout_text.h"
#include "../../detail/layouts.h"

/* ---- counting -------------------------------------------------------------------------------- */

/* The heat of one value, as it is stored. */
HA_IN_ void ha_count_heat(const ha_mapping *m, int64_t leaf, const int64_t *index) {
    const ha_row *row = &m->row[leaf];
    const ha_coding *coding = row->coding > 0 ? &m->coding[row->coding - 1] : NULL;
    const ha_heat_place_ *place = &m->counts->place[leaf]; /* of a view's counters: not its own */
    int64_t at;
    if (row->blob < 0) return;
    if (coding && coding->bytes > 0) {
        for (int64_t b = 0; b < coding->bytes; b++) {
            const ha_row *byte = &m->byte_row[coding->byte_row + b];
            at = ha_row_at(m, byte, index);
            ha_tally_bytes_(m->counts, byte->blob, at, 1);
        }
        return;
    }
    at = ha_mapping_offset(m, leaf, index);
    if (coding && coding->bits > 0)
        ha_tally_bytes_(m->counts, row->blob, at / 8, (at + coding->bits - 1) / 8 - at / 8 + 1);
    else
        ha_tally_bytes_(m->counts, place->blob, place->base + at - row->base,
                        (int64_t)ha_dtype_size(coding ? coding->stored : (ha_dtype)row->type));
}

/* `count` values of a leaf are read or written, from this index on along a dimension. Who gets and
 * sets values of a mapping says so here, once for each of them. */
HA_IN_ void ha_count_run(const ha_mapping *m, int64_t leaf, const int64_t *index, int dimension,
                         int64_t count, int what) {
    int64_t at[HA_MAPPING_RANK] = {0};
    if (!m->counts || count <= 0) return;
    ha_tally_leaf_(m->counts, leaf, what, (uint64_t)count);
    if (m->counts->granularity == 0) return;
    for (int d = 0; d < m->rank; d++) at[d] = index[d];
    for (int64_t k = 0; k < count; k++, at[dimension]++) ha_count_heat(m, leaf, at);
}

/* ---- their memory ---------------------------------------------------------------------------- */

/* Of the blobs of a mapping. */
HA_IN_ ha_counts_plan_ ha_counts_plan_of(const ha_mapping *m, int counted, int64_t granularity) {
    ha_counts_plan_ p = {.counted = counted != 0, .granularity = granularity};
    p.leaves = (size_t)m->rows;
    p.blobs = granularity > 0 ? (size_t)m->blobs : 0;
    for (size_t b = 0; b < p.blobs; b++)
        p.granules = ha_plus_(p.granules, ha_granules_((size_t)m->blob[b].bytes, granularity));
    return p;
}

/* Counters in a memory of this plan, which is zeroed. */
HA_IN_ ha_counts *ha_counts_of_mapping(const ha_mapping *m, ha_counts_plan_ p, void *memory) {
    ha_counts *c;
    memset(memory, 0, ha_counts_bytes_(p));
    c = ha_counts_in_(memory, m->record, p);
    for (int64_t b = 0; b < c->blobs; b++)
        ha_counts_blob_(c, b, ha_granules_((size_t)m->blob[b].bytes, p.granularity));
    for (int64_t leaf = 0; leaf < m->rows; leaf++)
        c->place[leaf] = (ha_heat_place_){m->row[leaf].blob, m->row[leaf].base};
    return c;
}

/* What the outermost layouts want to be counted. */
HA_IN_ ha_status ha_add_counts(const ha_asked *asked, const ha_layout *layout, ha_mapping *m) {
    int64_t granularity = 0;
    int counted = 0;
    ha_counts_plan_ plan;
    size_t bytes;
    void *memory;
    for (; ha_is_instrument(layout->kind); layout = layout->first)
        if (layout->kind == HA_LAYOUT_COUNT)
            counted = 1;
        else
            granularity = layout->lanes > 0 ? layout->lanes : HA_CACHE_LINE;
    if (!counted && granularity == 0) return HA_OK;
    plan = ha_counts_plan_of(m, counted, granularity);
    bytes = ha_counts_bytes_(plan);
    memory = bytes == SIZE_MAX ? NULL : HA_LAYOUT_MALLOC_(bytes);
    if (!memory) return ha_no_memory(asked, bytes);
    m->counts = ha_counts_of_mapping(m, plan, memory);
    return HA_OK;
}

#endif
