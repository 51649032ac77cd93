/* Where the sections of blobs start, and which values may be misaligned. */
#ifndef HARRAY_LAYOUT_IMPL_MAPPING_PLACE_H
#define HARRAY_LAYOUT_IMPL_MAPPING_PLACE_H

#include "tree_build.h"

HA_IN_ ha_status ha_section_bytes(const ha_builder *b, const ha_section *p, int64_t *bytes) {
    int64_t blocks = 1;
    if (p->bits > 0) {
        const int64_t word = 8 * p->alignment; /* in bits */
        int64_t bits;
        if (!ha_product(b->linearizer[p->linearizer].count, p->bits, &bits) ||
            !ha_round_to(bits, word, &bits))
            return ha_too_large(b->asked);
        *bytes = bits / 8;
        return HA_OK;
    }
    if (p->lanes > 0) {
        const int64_t count = b->linearizer[p->linearizer].count;
        blocks = count / p->lanes + (count % p->lanes != 0);
    }
    return ha_product(blocks, p->bytes, bytes) ? HA_OK : ha_too_large(b->asked);
}

/* Each section behind the one before it in its blob. */
HA_IN_ ha_status ha_place_sections(const ha_builder *b) {
    for (int32_t k = 0; k < b->mapping->sections; k++) {
        ha_section *p = &b->section[k];
        int64_t *end = &b->blob[p->blob].bytes, bytes = 0;
        const ha_status s = ha_section_bytes(b, p, &bytes);
        if (s) return s;
        if (!ha_round_to(*end, p->alignment, &p->start) || !ha_sum(p->start, bytes, end))
            return ha_too_large(b->asked);
        if (p->bits > 0 && *end > INT64_MAX / 8)
            return ha_too_large(b->asked); /* as rows count bits */
    }
    return HA_OK;
}

/* The largest power of two, up to 64, of which it is a multiple. */
HA_IN_ int64_t ha_multiple_of(int64_t number) {
    int64_t power = 1;
    while (power < 64 && number % (power * 2) == 0) power *= 2;
    return power;
}

/* What is known of the end of a blob whatever the extents: it is a multiple of `known`, plus `unit`
 * for each block of a linearizer. */
typedef struct ha_known_end {
    int64_t known, unit, lanes;
    int32_t linearizer;
} ha_known_end;

/* Adds a section; gives of what power of two its start is a multiple for all extents. */
HA_IN_ int64_t ha_known_start(ha_known_end *e, const ha_section *p) {
    const int goes_on = p->alignment == 1 && e->lanes == p->lanes && e->linearizer == p->linearizer;
    const int64_t here = ha_smaller(e->known, ha_multiple_of(e->unit));
    if (goes_on) {
        e->unit = (e->unit + p->bytes % 64) % 64; /* all that is asked of it */
        return here;
    }
    e->known = ha_larger(here, p->alignment);
    e->unit = p->bits > 0 ? p->alignment : p->bytes % 64;
    if (p->linearizer < 0) e->unit = 1; /* a tree, for other extents of any length */
    e->lanes = p->bits > 0 ? -1 : p->lanes;
    e->linearizer = p->linearizer;
    return e->known;
}

/* Of what power of two the start of section number `last` is a multiple. */
HA_IN_ int64_t ha_section_alignment(const ha_builder *b, int32_t last) {
    ha_known_end end = {.known = 64, .lanes = -1};
    int64_t known = 64;
    for (int32_t p = 0; p <= last; p++)
        if (b->section[p].blob == b->section[last].blob)
            known = ha_known_start(&end, &b->section[p]);
    return known;
}

/* Completes the rows of leaves and of their bytes. */
HA_IN_ void ha_place_rows(const ha_builder *b) {
    int64_t known = 64;
    int32_t section = -1;
    for (int64_t k = 0; k < b->mapping->rows + b->bytes; k++) {
        ha_row *row = &b->row[k];
        const int64_t a = (int64_t)ha_dtype_alignment(b->leaf[k].type);
        if (k < b->mapping->rows && b->coding[k].bytes > 0) continue; /* its bytes have rows */
        if (row->blob < 0) continue;
        if (row->section != section) known = ha_section_alignment(b, row->section);
        section = row->section;
        row->base = b->section[section].start;
        if (b->section[section].bits > 0) row->base *= 8;
        row->base += row->offset;
        row->packed = known % a != 0 || row->offset % a != 0 || row->block_stride % a != 0 ||
                      row->lane_stride % a != 0 || b->section[section].bits > 0;
        if (row->linearizer < 0 && !ha_branch_is_aligned(&b->branch[-1 - row->linearizer], a))
            row->packed = 1;
    }
}

#endif
