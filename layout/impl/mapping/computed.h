/* Computed layouts: values of other types, in the other byte order, byte by byte, and as few bits. What
 * is stored of a leaf is noted beside it; the layouts inside see no more than that. */
#ifndef HARRAY_LAYOUT_IMPL_MAPPING_COMPUTED_H
#define HARRAY_LAYOUT_IMPL_MAPPING_COMPUTED_H

#include "builder.h"

HA_IN_ int ha_contains(const ha_layout *layout, ha_layout_kind kind) {
    return layout && (layout->kind == kind || ha_contains(layout->first, kind) ||
                      ha_contains(layout->second, kind));
}

HA_IN_ int ha_is_complex(ha_dtype scalar) {
    return scalar == HA_DTYPE_c64 || scalar == HA_DTYPE_c128;
}
HA_IN_ int ha_is_floating(ha_dtype scalar) {
    return scalar == HA_DTYPE_half || scalar == HA_DTYPE_bfloat16 || scalar == HA_DTYPE_float ||
           scalar == HA_DTYPE_double;
}

/* Bytes of a number, of a part of a complex one: what is swapped. */
HA_IN_ int64_t ha_part_size(ha_dtype scalar) {
    return (int64_t)ha_dtype_size(scalar) / (ha_is_complex(scalar) ? 2 : 1);
}

/* Why a leaf cannot be stored so: "its name, and why". */
HA_IN_ ha_status ha_refuse_stored(const ha_builder *b, int64_t position, int32_t leaf,
                                  const char *why, const char *more) {
    char text[300];
    ha_text w = ha_text_into(text, sizeof text);
    ha_put_leaf_name(&w, b->mapping->record, &b->leaf[leaf]);
    ha_print(&w, " %s%s", why, more);
    return ha_refuse_layout(b, position, text);
}

HA_IN_ ha_status ha_refuse_bytes(const ha_builder *b, const ha_layout *layout) {
    return ha_refuse_layout(b, ha_position_of(b, layout),
                            "inside bytesplit there are bytes only: this belongs around it");
}

/* ---- changetype ------------------------------------------------------------------------------ */

HA_IN_ int64_t ha_position_in(const ha_builder *b, const char *at) {
    return b->origin ? at - b->origin : 0;
}

/* Is one of the changes before this one for the same? */
HA_IN_ int ha_is_repeated(const char *changes, const ha_change *change) {
    const size_t length = (size_t)(change->end - change->path);
    ha_change c;
    while (ha_next_change(&changes, &c) && c.path != change->path)
        if ((size_t)(c.end - c.path) == length && strncmp(c.path, change->path, length) == 0)
            return 1;
    return 0;
}

/* Are they right, as far as this can be said of each alone? */
HA_IN_ ha_status ha_check_changes(const ha_builder *b, const ha_layout *layout,
                                  const ha_layout_part *part) {
    const char *at = layout->changes;
    ha_change c;
    while (ha_next_change(&at, &c)) {
        const int64_t position = ha_position_in(b, c.path);
        int found = c.from != HA_DTYPE_NONE;
        for (int64_t k = 0; k < part->leaves && !found; k++)
            found = ha_leaf_below(b->mapping->record, &b->leaf[part->leaf[k]], c.path, c.end);
        if (!found) return ha_refuse_layout(b, position, "there is no such field here");
        if (ha_is_repeated(layout->changes, &c))
            return ha_refuse_layout(b, position, "it is there already");
        if (c.from != HA_DTYPE_NONE && ha_is_complex(c.from) != ha_is_complex(c.to))
            return ha_refuse_layout(b, position, "complex numbers stay complex, and others real");
    }
    return HA_OK;
}

/* The change that counts for a leaf: the longest path, else the type. 0: there is none. */
HA_IN_ int ha_find_change(const ha_builder *b, const ha_layout *layout, const ha_leaf *leaf,
                          ha_change *change) {
    const char *at = layout->changes;
    int64_t longest = -1;
    ha_change c;
    while (ha_next_change(&at, &c)) {
        const int64_t length = c.from != HA_DTYPE_NONE ? 0 : c.end - c.path;
        const int fits = length == 0 ? c.from == leaf->type
                                     : ha_leaf_below(b->mapping->record, leaf, c.path, c.end);
        if (!fits || length <= longest) continue;
        *change = c;
        longest = length;
    }
    return longest >= 0;
}

HA_IN_ ha_status ha_change_leaf(const ha_builder *b, const ha_layout *layout, int32_t number) {
    ha_leaf *leaf = &b->leaf[number];
    ha_change c;
    if (!ha_find_change(b, layout, leaf, &c) || c.to == leaf->type) return HA_OK;
    if (ha_is_complex(c.to) != ha_is_complex(leaf->type))
        return ha_refuse_stored(b, ha_position_in(b, c.path), number,
                                "cannot be it: complex numbers stay complex, and others real", "");
    if (leaf->type != b->mapping->record->field[leaf->field].type)
        return ha_refuse_stored(b, ha_position_in(b, c.path), number, "is stored already as ",
                                ha_dtype_short_name(leaf->type));
    leaf->type = c.to;
    b->coding[number].stored = c.to;
    return HA_OK;
}

HA_IN_ ha_status ha_build_changed(ha_builder *b, const ha_layout *layout,
                                  const ha_layout_part *part, int64_t *offset) {
    ha_status s = part->bytes ? ha_refuse_bytes(b, layout) : ha_check_changes(b, layout, part);
    for (int64_t k = 0; k < part->leaves && !s; k++) s = ha_change_leaf(b, layout, part->leaf[k]);
    return s ? s : b->build(b, layout->first, part, offset);
}

/* ---- byteswap and bytesplit ------------------------------------------------------------------ */

HA_IN_ ha_status ha_build_swapped(ha_builder *b, const ha_layout *layout,
                                  const ha_layout_part *part, int64_t *offset) {
    if (part->bytes) return ha_refuse_bytes(b, layout);
    for (int64_t k = 0; k < part->leaves; k++) b->coding[part->leaf[k]].swapped ^= 1;
    return b->build(b, layout->first, part, offset);
}

/* The bytes of a leaf as leaves of their own; of one byte, itself. Gives the end of the list. */
HA_IN_ int32_t *ha_add_bytes(ha_builder *b, int32_t leaf, int32_t *list) {
    const int32_t size = (int32_t)ha_dtype_size(b->leaf[leaf].type);
    if (size == 1) {
        *list++ = leaf;
        return list;
    }
    b->coding[leaf].bytes = size;
    b->coding[leaf].byte_row = b->bytes;
    for (int32_t k = 0; k < size; k++) {
        const int64_t number = b->mapping->rows + b->bytes++;
        b->leaf[number] = b->leaf[leaf];
        b->leaf[number].type = HA_DTYPE_uint8_t;
        *list++ = (int32_t)number;
    }
    return list;
}

HA_IN_ ha_status ha_build_bytes(ha_builder *b, const ha_layout *layout, const ha_layout_part *part,
                                int64_t *offset) {
    int32_t *list = b->spare, *end = list;
    ha_layout_part inner = *part;
    ha_status s;
    if (part->bytes) return ha_refuse_bytes(b, layout);
    for (int64_t k = 0; k < part->leaves; k++) end = ha_add_bytes(b, part->leaf[k], end);
    inner.leaf = list;
    inner.leaves = end - list;
    inner.bytes = 1;
    b->spare = end;
    s = b->build(b, layout->first, &inner, offset);
    b->spare = list;
    return s;
}

/* ---- bitint and bitfloat --------------------------------------------------------------------- */

HA_IN_ ha_status ha_check_bits(const ha_builder *b, const ha_layout *layout,
                               const ha_layout_part *part, int64_t bits, int64_t *word) {
    const int64_t position = ha_position_of(b, layout);
    const int is_float = layout->kind == HA_LAYOUT_BITFLOAT;
    *word = 4;
    if (part->bytes) return ha_refuse_bytes(b, layout);
    for (int64_t k = 0; k < part->leaves; k++) {
        const ha_dtype scalar = b->leaf[part->leaf[k]].type;
        if (ha_is_complex(scalar) || ha_is_floating(scalar) != is_float)
            return ha_refuse_stored(b, position, part->leaf[k],
                                    is_float ? "is no real number: bitfloat cannot store "
                                             : "is no integer: bitint cannot store ",
                                    ha_dtype_short_name(scalar));
        if (b->coding[part->leaf[k]].swapped && ha_part_size(scalar) > 1)
            return ha_refuse_stored(b, position, part->leaf[k],
                                    "is stored in the other byte order: it has no lowest bits", "");
        if (ha_dtype_size(scalar) > 4) *word = 8;
    }
    if (bits > 8 * *word)
        return ha_refuse_layout(b, position,
                                "these are more than 32 bits, and no field has more than 4 bytes");
    return HA_OK;
}

HA_IN_ void ha_add_bits(ha_builder *b, const ha_layout *layout, int32_t leaf, int64_t offset,
                        int64_t bits) {
    const ha_section *p = &b->section[b->mapping->sections - 1];
    ha_coding *c = &b->coding[leaf];
    c->bits = (int32_t)bits;
    c->exponent = layout->exponent;
    c->mantissa = layout->mantissa;
    b->blob[p->blob].alignment = ha_larger(b->blob[p->blob].alignment, p->alignment);
    b->row[leaf] = (ha_row){.blob = p->blob,
                            .linearizer = p->linearizer,
                            .lane_stride = p->bits,
                            .block_stride = p->bits,
                            .lanes = 1,
                            .section = b->mapping->sections - 1,
                            .offset = offset};
}

HA_IN_ ha_status ha_build_bits(ha_builder *b, const ha_layout *layout, const ha_layout_part *part) {
    const int64_t bits = layout->kind == HA_LAYOUT_BITINT ? layout->bits
                                                          : 1 + layout->exponent + layout->mantissa;
    const int is_aos = layout->first->kind == HA_LAYOUT_AOS;
    int64_t word;
    int32_t linearizer;
    ha_status s = ha_check_bits(b, layout, part, bits, &word);
    if (!s) s = ha_add_linearizer(b, layout->first, part, &linearizer);
    if (s) return s;
    for (int64_t k = 0; k < part->leaves; k++) {
        if (k > 0 && !is_aos) b->into = -1;
        if (k == 0 || !is_aos)
            ha_add_section(b, linearizer, 0, 0, word)->bits = is_aos ? part->leaves * bits : bits;
        ha_add_bits(b, layout, part->leaf[k], is_aos ? k * bits : 0, bits);
    }
    return HA_OK;
}

/* ---- codings --------------------------------------------------------------------------------- */

/* Is a value just there, as it is? */
HA_IN_ int ha_is_plain(const ha_builder *b, int64_t leaf, ha_coding *c) {
    const ha_dtype scalar = b->mapping->record->field[b->leaf[leaf].field].type;
    if (ha_part_size(c->stored) == 1) c->swapped = 0;
    return b->row[leaf].blob < 0 ||
           (c->stored == scalar && !c->swapped && c->bits == 0 && c->bytes == 0);
}

/* Completes the rows by what is stored; equal codings are one. Each comes not behind where it was. */
HA_IN_ void ha_place_codings(ha_builder *b) {
    ha_mapping *m = b->mapping;
    for (int64_t k = 0; k < m->rows + b->bytes; k++) {
        b->row[k].type = (int32_t)(k < m->rows ? m->record->field[b->leaf[k].field].type
                                               : HA_DTYPE_uint8_t);
        if (k >= m->rows) continue;
        ha_coding c = b->coding[k];
        int32_t number = 0;
        if (c.bytes > 0) {
            b->row[k] = b->row[m->rows + c.byte_row];
            b->row[k].type = (int32_t)m->record->field[b->leaf[k].field].type;
        }
        if (ha_is_plain(b, k, &c)) continue;
        while (number < m->codings && memcmp(&b->coding[number], &c, sizeof c) != 0) number++;
        if (number == m->codings) b->coding[m->codings++] = c;
        b->row[k].coding = number + 1;
    }
}

#endif
