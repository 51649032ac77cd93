/* Mappings as JSON: the offsets of one record. */
#ifndef HARRAY_LAYOUT_IMPL_DUMP_JSON_H
#define HARRAY_LAYOUT_IMPL_DUMP_JSON_H

#include "../tree/all.h"

HA_IN_ int ha_index_inside(const ha_mapping *m, const int64_t *index) {
    for (int d = 0; d < m->rank; d++)
        if (index[d] < 0 || index[d] >= m->extent[d]) return 0;
    return 1;
}

/* Where a value is that is stored byte by byte. */
HA_IN_ void ha_put_json_bytes(ha_json *j, const ha_mapping *m, const int64_t *index,
                              const ha_coding *c) {
    ha_json_word(j, "blob", "null");
    ha_json_word(j, "offset", "null");
    ha_json_open(j, "bytes", '[');
    for (int64_t b = 0; b < c->bytes; b++) {
        const ha_row *row = &m->byte_row[c->byte_row + b];
        ha_json_open(j, NULL, '{');
        ha_json_number(j, "blob", row->blob);
        ha_json_number(j, "offset", ha_row_at(m, row, index));
        ha_json_close(j, '}');
    }
    ha_json_close(j, ']');
}

/* What is there instead of the value itself. */
HA_IN_ void ha_put_json_coding(ha_json *j, const ha_coding *c, ha_dtype type) {
    if (c->stored != type) ha_json_string(j, "stored", ha_dtype_short_name(c->stored));
    if (c->swapped) ha_json_word(j, "swapped", "true");
    if (c->bits > 0) ha_json_number(j, "bits", c->bits);
    if (c->exponent > 0) ha_json_number(j, "exponent", c->exponent);
    if (c->exponent > 0) ha_json_number(j, "mantissa", c->mantissa);
}

HA_IN_ void ha_put_json_leaf(ha_json *j, const ha_mapping *m, const int64_t *index, int64_t number,
                             const ha_leaf *leaf) {
    const ha_row *row = &m->row[number];
    const ha_coding *c = ha_row_coding(m, row);
    ha_json_open(j, NULL, '{');
    ha_put_json_leaf_name(j, m->record, leaf);
    ha_json_string(j, "type", ha_dtype_short_name(leaf->type));
    if (row->blob >= 0 && c && c->bytes > 0) {
        ha_put_json_bytes(j, m, index, c);
    } else if (row->blob >= 0) {
        ha_json_number(j, "blob", row->blob);
        ha_json_number(j, c && c->bits > 0 ? "bit_offset" : "offset", ha_row_at(m, row, index));
    } else {
        ha_json_word(j, "blob", "null");
        ha_json_word(j, "offset", "null");
    }
    if (c && row->blob >= 0) ha_put_json_coding(j, c, leaf->type);
    ha_json_close(j, '}');
}

/* Returns whether there was memory. */
HA_IN_ int ha_put_json_trees(ha_json *j, const ha_mapping *m) {
    ha_json_open(j, "trees", '[');
    for (int32_t t = 0; t < m->trees; t++) {
        ha_json_key(j, NULL);
        ha_print(&j->text, "\"");
        if (ha_put_tree(&j->text, m, t)) return 0;
        ha_print(&j->text, "\"");
    }
    ha_json_close(j, ']');
    return 1;
}

HA_IN_ void ha_put_json_fields(ha_json *j, const ha_mapping *m, const int64_t *index) {
    int64_t number = 0;
    ha_json_open(j, "fields", '[');
    for (int64_t f = 0; f < m->record->fields; f++) {
        const int64_t leaves = ha_field_leaves(&m->record->field[f]);
        for (int64_t k = 0; k < leaves; k++, number++) {
            ha_leaf leaf;
            ha_leaf_of_field(m->record, f, k, &leaf);
            ha_put_json_leaf(j, m, index, number, &leaf);
        }
    }
    ha_json_close(j, ']');
}

HA_API int64_t ha_mapping_json(const ha_mapping *mapping, const int64_t *index, char *buffer,
                               size_t size) {
    static const int64_t zeros[HA_MAPPING_RANK] = {0};
    ha_json j = ha_json_into(buffer, size);
    if (!index) index = zeros;
    if (!mapping || !ha_index_inside(mapping, index)) return -1;
    ha_json_open(&j, NULL, '{');
    ha_json_key(&j, "mapping");
    ha_print(&j.text, "\"%s\"", mapping->text); /* however long it is */
    ha_json_open(&j, "extents", '[');
    for (int d = 0; d < mapping->rank; d++) ha_json_number(&j, NULL, mapping->extent[d]);
    ha_json_close(&j, ']');
    ha_json_open(&j, "blobs", '[');
    for (int b = 0; b < mapping->blobs; b++) ha_json_number(&j, NULL, mapping->blob[b].bytes);
    ha_json_close(&j, ']');
    if (mapping->trees > 0 && !ha_put_json_trees(&j, mapping)) return -1;
    ha_put_json_fields(&j, mapping, index);
    ha_json_close(&j, '}');
    return (int64_t)j.text.length;
}

#endif
