/* Mappings as JSON: the offsets of one record. */
#ifndef HARRAY_LAYOUT_IMPL_DUMP_JSON_H
#define HARRAY_LAYOUT_IMPL_DUMP_JSON_H

#include "../tree/all.h"

static int ha_index_inside(const ha_mapping *m, const int64_t *index) {
    for (int d = 0; d < m->rank; d++)
        if (index[d] < 0 || index[d] >= m->extent[d]) return 0;
    return 1;
}

/* Where a value is that is stored byte by byte. */
static void ha_put_json_bytes(ha_text *w, const ha_mapping *m, const int64_t *index,
                              const ha_coding *c) {
    ha_print(w, "\"blob\": null, \"offset\": null, \"bytes\": [");
    for (int64_t b = 0; b < c->bytes; b++) {
        const ha_row *row = &m->byte_row[c->byte_row + b];
        ha_print(w, "%s{\"blob\": %d, \"offset\": %lld}", b ? ", " : "", (int)row->blob,
                 (long long)ha_row_at(m, row, index));
    }
    ha_print(w, "]");
}

/* What is there instead of the value itself. */
static void ha_put_json_coding(ha_text *w, const ha_coding *c, ha_dtype type) {
    if (c->stored != type) ha_print(w, ", \"stored\": \"%s\"", ha_dtype_short_name(c->stored));
    if (c->swapped) ha_print(w, ", \"swapped\": true");
    if (c->bits > 0) ha_print(w, ", \"bits\": %d", (int)c->bits);
    if (c->exponent > 0)
        ha_print(w, ", \"exponent\": %d, \"mantissa\": %d", (int)c->exponent, (int)c->mantissa);
}

static void ha_put_json_leaf(ha_text *w, const ha_mapping *m, const int64_t *index, int64_t number,
                             const ha_leaf *leaf) {
    const ha_row *row = &m->row[number];
    const ha_coding *c = ha_row_coding(m, row);
    ha_print(w, "%s{\"name\": \"", number ? ", " : "");
    ha_put_leaf_name(w, m->record, leaf); /* letters, digits and . [ ] _ */
    ha_print(w, "\", \"type\": \"%s\", ", ha_dtype_short_name(leaf->type));
    if (row->blob < 0)
        ha_print(w, "\"blob\": null, \"offset\": null");
    else if (c && c->bytes > 0)
        ha_put_json_bytes(w, m, index, c);
    else
        ha_print(w, "\"blob\": %d, \"%s\": %lld", (int)row->blob,
                 c && c->bits > 0 ? "bit_offset" : "offset", (long long)ha_row_at(m, row, index));
    if (c && row->blob >= 0) ha_put_json_coding(w, c, leaf->type);
    ha_print(w, "}");
}

HA_API int64_t ha_mapping_json(const ha_mapping *mapping, const int64_t *index, char *buffer,
                               size_t size) {
    static const int64_t zeros[HA_MAPPING_RANK] = {0};
    ha_text w = ha_text_into(buffer, size);
    int64_t number = 0;
    if (!index) index = zeros;
    if (!ha_index_inside(mapping, index)) return -1;
    ha_print(&w, "{\"mapping\": \"%s\", \"extents\": [", mapping->text);
    for (int d = 0; d < mapping->rank; d++)
        ha_print(&w, "%s%lld", d ? ", " : "", (long long)mapping->extent[d]);
    ha_print(&w, "], \"blobs\": [");
    for (int b = 0; b < mapping->blobs; b++)
        ha_print(&w, "%s%lld", b ? ", " : "", (long long)mapping->blob[b].bytes);
    for (int32_t t = 0; t < mapping->trees; t++) {
        ha_print(&w, t ? ", \"" : "], \"trees\": [\"");
        if (ha_put_tree(&w, mapping, t)) return -1;
        ha_print(&w, "\"");
    }
    ha_print(&w, "], \"fields\": [");
    for (int64_t f = 0; f < mapping->record->fields; f++) {
        const int64_t leaves = ha_field_leaves(&mapping->record->field[f]);
        for (int64_t k = 0; k < leaves; k++, number++) {
            ha_leaf leaf;
            ha_leaf_of_field(mapping->record, f, k, &leaf);
            ha_put_json_leaf(&w, mapping, index, number, &leaf);
        }
    }
    ha_print(&w, "]}");
    return (int64_t)w.length;
}

#endif
