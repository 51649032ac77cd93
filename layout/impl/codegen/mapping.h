/* Mappings as functions for devices. */
#ifndef HARRAY_LAYOUT_IMPL_CODEGEN_MAPPING_H
#define HARRAY_LAYOUT_IMPL_CODEGEN_MAPPING_H

#include "bits.h"
#include "tree.h"

/* ---- linear indices -------------------------------------------------------------------------- */

/* "n1", or padded to whole blocks. */
HA_IN_ void ha_put_extent(ha_device_writer *w, const ha_linearizer *l, int k) {
    const int d = (int)l->dimension[k];
    const long long pad = (long long)l->pad;
    if (k == l->rank - 1 && pad > 1)
        ha_put_code(w, "((n%d + %lld) / %lld * %lld)", d, pad - 1, pad, pad);
    else
        ha_put_code(w, "n%d", d);
}

HA_IN_ void ha_put_strided(ha_device_writer *w, const ha_linearizer *l) {
    ha_put_code(w, "    return ");
    for (int k = 1; k < l->rank; k++) ha_put_code(w, "(");
    ha_put_code(w, "i%d", (int)l->dimension[0]);
    for (int k = 1; k < l->rank; k++) {
        ha_put_code(w, " * ");
        ha_put_extent(w, l, k);
        ha_put_code(w, " + i%d)", (int)l->dimension[k]);
    }
    ha_put_code(w, ";\n");
}

HA_IN_ void ha_put_strided_count(ha_device_writer *w, const ha_linearizer *l) {
    ha_put_code(w, "    return ");
    for (int k = 0; k < l->rank; k++) {
        ha_put_code(w, k ? " * " : "");
        ha_put_extent(w, l, k);
    }
    ha_put_code(w, ";\n");
}

HA_IN_ void ha_put_morton(ha_device_writer *w, const ha_linearizer *l) {
    ha_put_code(w, "    $_int linear = 0;\n    for (int b = 0; ((i0");
    for (int d = 1; d < l->rank; d++) ha_put_code(w, " | i%d", d);
    ha_put_code(w, ") >> b) != 0; b++)\n        linear |= ");
    for (int d = 0; d < l->rank; d++)
        ha_put_code(w, "%s(i%d >> b & 1) << (b * %d + %d)", d ? " | " : "", d, (int)l->rank,
                    (int)l->stride[d]);
    ha_put_code(w, ";\n    return linear;\n");
}

HA_IN_ void ha_put_morton_count(ha_device_writer *w, const ha_linearizer *l) {
    ha_put_code(w, "    $_int count = 1, side = 1;\n    while (side < n0");
    for (int d = 1; d < l->rank; d++) ha_put_code(w, " || side < n%d", d);
    ha_put_code(w, ") {\n        side *= 2;\n        count *= %d;\n    }\n    return n0 > 0",
                1 << l->rank);
    for (int d = 1; d < l->rank; d++) ha_put_code(w, " && n%d > 0", d);
    ha_put_code(w, " ? count : 0;\n");
}

HA_IN_ void ha_put_linearizer(ha_device_writer *w, int number) {
    const ha_linearizer *l = &w->mapping->linearizer[number];
    ha_put_code(w, "$_FN $_int $_linear_%d(@P) {\n", number);
    ha_put_unused(w, 'n');
    if (l->morton != 0)
        ha_put_morton(w, l);
    else
        ha_put_strided(w, l);
    ha_put_code(w, "}\n$_FN $_int $_count_%d(@E) {\n", number);
    if (l->morton != 0)
        ha_put_morton_count(w, l);
    else
        ha_put_strided_count(w, l);
    ha_put_code(w, "}\n");
}

/* ---- sections -------------------------------------------------------------------------------- */

/* The section before it in its blob; -1: it is the first. */
HA_IN_ int ha_section_before(const ha_mapping *m, int number) {
    int before = number - 1;
    while (before >= 0 && m->section[before].blob != m->section[number].blob) before--;
    return before;
}

HA_IN_ void ha_put_section(ha_device_writer *w, int number) {
    const ha_section *s = &w->mapping->section[number];
    const int before = ha_section_before(w->mapping, number);
    const long long a = (long long)s->alignment, lanes = (long long)s->lanes;
    ha_put_code(w, "$_FN $_int $_start_%d(@E) {\n", number);
    if (before < 0) {
        ha_put_unused(w, 'n');
        ha_put_code(w, "    return 0;\n");
    } else {
        ha_put_code(w, "    return ($_end_%d(@n) + %lld) / %lld * %lld;\n", before, a - 1, a, a);
    }
    ha_put_code(w, "}\n$_FN $_int $_end_%d(@E) {\n    return $_start_%d(@n) + ", number, number);
    if (s->linearizer < 0) {
        ha_put_code(w, "$_node_%d_0(1, @n);\n}\n", -1 - (int)s->linearizer);
        return;
    }
    if (s->bits > 0) { /* in whole words */
        ha_put_code(w, "($_count_%d(@n) * %lld + %lld) / %lld * %lld;\n}\n", (int)s->linearizer,
                    (long long)s->bits, 8 * a - 1, 8 * a, a);
        return;
    }
    if (lanes > 0)
        ha_put_code(w, "($_count_%d(@n) + %lld) / %lld * ", (int)s->linearizer, lanes - 1, lanes);
    ha_put_code(w, "%lld;\n}\n", (long long)s->bytes);
}

HA_IN_ void ha_put_blob_bytes(ha_device_writer *w, int blob) {
    int last = (int)w->mapping->sections - 1;
    while (w->mapping->section[last].blob != blob) last--; /* each blob has one at least */
    ha_put_code(w, "#define $_BLOB_BYTES_%d %lld\n", blob, (long long)w->mapping->blob[blob].bytes);
    ha_put_code(w, "$_FN $_int $_blob_bytes_%d(@E) {\n    return $_end_%d(@n);\n}\n", blob, last);
}

/* ---- leaves ---------------------------------------------------------------------------------- */

/* Of a tree or not, in its section. Numbers behind those of leaves are bytes'. */
HA_IN_ void ha_put_offset(ha_device_writer *w, int64_t number, const char *leaf,
                          const char *behind) {
    const ha_mapping *m = w->mapping;
    const ha_row *row = number < m->rows ? &m->row[number] : &m->byte_row[number - m->rows];
    const long long lanes = (long long)row->lanes, block = (long long)row->block_stride;
    ha_put_code(w, "$_FN $_int $_%s_offset", leaf);
    ha_put_code(w, "%s(@P) {\n", behind);
    if (row->blob < 0 || block == 0) ha_put_unused(w, 'i');
    if (row->blob < 0) {
        ha_put_unused(w, 'n');
        ha_put_code(w, "    return 0;\n}\n");
        return;
    }
    if (row->linearizer < 0) {
        ha_put_code(w, "    return $_start_%d(@n) + $_leaf_%lld(@i);\n}\n", (int)row->section,
                    (long long)number);
        return;
    }
    if (block != 0)
        ha_put_code(w, "    const $_int linear = $_linear_%d(@i);\n", (int)row->linearizer);
    ha_put_code(w, "    return $_start_%d(@n)%s + %lld", (int)row->section,
                w->mapping->section[row->section].bits > 0 ? " * 8" : "", (long long)row->offset);
    if (block != 0 && lanes == 1) ha_put_code(w, " + linear * %lld", block);
    if (lanes != 1)
        ha_put_code(w, " + linear / %lld * %lld + linear %% %lld * %lld", lanes, block, lanes,
                    (long long)row->lane_stride);
    ha_put_code(w, ";\n}\n");
}

/* May a value be misaligned for some extents? */
HA_IN_ int ha_is_misaligned(const ha_device_writer *w, const ha_row *row) {
    return row->packed != 0 || row->coding != 0 ||
           (row->linearizer < 0 && ha_dtype_alignment(w->type) > 1);
}

HA_IN_ void ha_put_get(ha_device_writer *w, const ha_row *row, const char *leaf) {
    const ha_coding *c = ha_row_coding(w->mapping, row);
    ha_put_code(w, "$_FN @T $_%s_get(", leaf);
    ha_put_blobs(w, c, "const ");
    ha_put_code(w, "@P) {\n");
    if (row->blob < 0) {
        ha_put_code(w, "    @T nothing%s;\n    (void)blob;\n    (void)$_%s_offset(@i);\n",
                    w->type >= HA_DTYPE_c64 ? " = {0, 0}" : " = 0", leaf);
        ha_put_code(w, "    return nothing;\n}\n");
        return;
    }
    if (c && c->bits > 0) {
        ha_put_get_bits(w, c, leaf);
        return;
    }
    if (ha_is_changed(c, row)) {
        ha_put_code(w, "    $_value stored, made;\n    unsigned char *to = stored.bytes;\n");
        ha_put_fetch(w, c, leaf);
        ha_put_all_changed(w, "stored", c->stored, "made", w->type);
        ha_put_return(w);
    } else if (ha_is_misaligned(w, row)) {
        ha_put_code(w, "    @T value;\n    unsigned char *to = (unsigned char *)&value;\n");
        ha_put_fetch(w, c, leaf);
        ha_put_code(w, "    return value;\n}\n");
    } else {
        ha_put_code(w, "    return *(const $_GLOBAL @T *)(blob + $_%s_offset(@i));\n}\n", leaf);
    }
}

HA_IN_ void ha_put_set(ha_device_writer *w, const ha_row *row, const char *leaf) {
    const ha_coding *c = ha_row_coding(w->mapping, row);
    ha_put_code(w, "$_FN void $_%s_set(", leaf);
    ha_put_blobs(w, c, "");
    ha_put_code(w, "@P, @T value) {\n");
    if (row->blob < 0) {
        ha_put_code(w, "    (void)blob;\n    (void)value;\n    (void)$_%s_offset(@i);\n}\n", leaf);
        return;
    }
    if (c && c->bits > 0) {
        ha_put_set_bits(w, c, leaf);
        return;
    }
    if (ha_is_changed(c, row)) {
        ha_put_given(w);
        ha_put_code(w, "    const unsigned char *from = stored.bytes;\n");
        ha_put_all_changed(w, "given", w->type, "stored", c->stored);
        ha_put_keep(w, c, leaf);
        ha_put_code(w, "}\n");
    } else if (ha_is_misaligned(w, row)) {
        ha_put_code(w, "    const unsigned char *from = (const unsigned char *)&value;\n");
        ha_put_keep(w, c, leaf);
        ha_put_code(w, "}\n");
    } else {
        ha_put_code(w, "    *($_GLOBAL @T *)(blob + $_%s_offset(@i)) = value;\n}\n", leaf);
    }
}

/* Where each byte is, of a leaf that is stored byte by byte; the leaf's own place is the first one's. */
HA_IN_ int64_t ha_put_bytes(ha_device_writer *w, const ha_coding *c, const char *leaf) {
    const ha_mapping *m = w->mapping;
    for (int64_t b = 0; b < c->bytes; b++) {
        char behind[24];
        snprintf(behind, sizeof behind, "_%d", (int)b);
        ha_put_code(w, "#define $_%s_blob_%d %d\n", leaf, (int)b,
                    (int)m->byte_row[c->byte_row + b].blob);
        ha_put_offset(w, m->rows + c->byte_row + b, leaf, behind);
    }
    return m->rows + c->byte_row;
}

HA_IN_ void ha_put_leaf(ha_device_writer *w, int64_t number, const ha_leaf *leaf) {
    const ha_row *row = &w->mapping->row[number];
    const ha_coding *c = ha_row_coding(w->mapping, row);
    char name[HA_LONGEST_NAME];
    ha_c_name(w->mapping->record, leaf, name, sizeof name);
    w->type = leaf->type;
    ha_put_code(w, "#define $_%s_blob %d\n", name, (int)row->blob);
    if (c && c->bytes > 0) number = ha_put_bytes(w, c, name);
    ha_put_offset(w, number, name, "");
    ha_put_get(w, row, name);
    ha_put_set(w, row, name);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Was it made by ha_mapping_new, which says where in which section every row is? */
HA_IN_ int ha_has_sections(const ha_mapping *m) {
    for (int64_t k = 0; k < m->rows; k++)
        if (m->row[k].blob >= 0 && m->row[k].section < 0) return 0;
    for (int64_t k = 0; k < m->byte_rows; k++)
        if (m->byte_row[k].section < 0) return 0;
    return 1;
}

/* Of the array fields that `is_regular` knows, the first leaf alone, as the others are as far from each other. */
HA_API int64_t ha_mapping_device_text_(const ha_mapping *mapping, const char *name,
                                       ha_field_choice_ *is_regular, const void *user, char *buffer,
                                       size_t size) {
    ha_device_writer w = {.to = ha_text_into(buffer, size), .mapping = mapping, .name = name};
    int64_t number = 0, known = -1;
    int first_alone = 0;
    ha_leaf leaf;
    if (!mapping || !ha_has_sections(mapping)) return -1;
    if (!name || !ha_is_name(name) || !ha_c_names_differ(mapping->record)) return -1;
    ha_put_device_head(&w);
    if (ha_any_is_changed(mapping)) ha_put_value_functions(&w);
    for (int k = 0; k < mapping->linearizers; k++) ha_put_linearizer(&w, k);
    for (int32_t k = 0; k < mapping->trees; k++)
        if (!ha_put_tree_functions(&w, k)) return -1;
    for (int k = 0; k < mapping->sections; k++) ha_put_section(&w, k);
    for (int k = 0; k < mapping->blobs; k++) ha_put_blob_bytes(&w, k);
    for (int64_t field = 0, rest = 0; ha_next_leaf(mapping->record, &field, &rest, &leaf);
         number++) {
        const int is_first = leaf.field != known;
        known = leaf.field;
        if (is_first) first_alone = is_regular && is_regular(user, known, number);
        if (is_first || !first_alone) ha_put_leaf(&w, number, &leaf);
    }
    return (int64_t)w.to.length;
}

HA_API int64_t ha_mapping_device_text(const ha_mapping *mapping, const char *name, char *buffer,
                                      size_t size) {
    return ha_mapping_device_text_(mapping, name, NULL, NULL, buffer, size);
}

#endif
