/* Mappings as pictures: the first records of an array, as boxes in lines of memory, and what lies
 * beside them. */
#ifndef HARRAY_LAYOUT_IMPL_DUMP_SVG_H
#define HARRAY_LAYOUT_IMPL_DUMP_SVG_H

#include "svg_counts.h"
#include "../check/all.h"

enum {
    HA_SVG_LINES = 1024,
    HA_SVG_VALUES = 8192,
    HA_SVG_PATTERNS = 8,
    HA_SVG_COLOURS = 11,
    HA_SVG_NAMED = 8 /* the narrowest box with a name */
};

/* One value in memory, or a byte of it; offset and size in units. */
typedef struct ha_shown_value {
    const ha_row *row;
    int64_t blob, offset, size, field, leaf;
    int64_t byte, scale; /* < 0: it is whole; units of what the row counts in */
    int64_t index[HA_MAPPING_RANK];
} ha_shown_value;

typedef struct ha_shown_line {
    int64_t blob, line; /* number of the line in the blob */
} ha_shown_line;

/* The lines of memory in which the first records lie, and what is in them. */
typedef struct ha_picture {
    const ha_mapping *mapping;
    int64_t unit; /* units of a byte: 8 where something has bits */
    ha_shown_counts counted;
    int64_t lines, values;
    ha_shown_line line[HA_SVG_LINES];
    ha_shown_value value[HA_SVG_VALUES];
} ha_picture;

/* ---- what is shown --------------------------------------------------------------------------- */

HA_IN_ int ha_compare_lines(const void *first, const void *second) {
    const ha_shown_line *x = (const ha_shown_line *)first, *y = (const ha_shown_line *)second;
    if (x->blob != y->blob) return x->blob < y->blob ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

HA_IN_ int ha_compare_values(const void *first, const void *second) {
    const ha_shown_value *x = (const ha_shown_value *)first, *y = (const ha_shown_value *)second;
    if (x->blob != y->blob) return x->blob < y->blob ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

HA_IN_ int ha_is_shown(const ha_picture *p, int64_t blob, int64_t line) {
    const ha_shown_line l = {blob, line};
    return bsearch(&l, p->line, (size_t)p->lines, sizeof l, ha_compare_lines) != NULL;
}

/* Units of a line. */
HA_IN_ int64_t ha_line_length(const ha_picture *p) { return HA_SVG_BYTES * p->unit; }

/* The line or lines of a value of one of the first records. */
HA_IN_ void ha_show_lines(ha_picture *p, const ha_shown_value *v) {
    const int64_t blob = v->blob, length = ha_line_length(p);
    const int64_t last = (v->offset + v->size - 1) / length;
    for (int64_t at = v->offset / length; at <= last && p->lines < HA_SVG_LINES; at++)
        if (p->lines == 0 || p->line[p->lines - 1].blob != blob || p->line[p->lines - 1].line != at)
            p->line[p->lines++] = (ha_shown_line){blob, at};
}

HA_IN_ void ha_show_value(ha_picture *p, const ha_shown_value *v) {
    const int64_t length = ha_line_length(p), last = (v->offset + v->size - 1) / length;
    if (p->values == HA_SVG_VALUES) return;
    if (ha_is_shown(p, v->blob, v->offset / length) || ha_is_shown(p, v->blob, last))
        p->value[p->values++] = *v;
}

/* Calls this for a leaf, or a byte of it, at all indices of a box at the beginning. */
HA_IN_ void ha_show_box(ha_picture *p, ha_shown_value *v, const int64_t *side,
                        void (*show)(ha_picture *, const ha_shown_value *)) {
    const ha_mapping *m = p->mapping;
    int d = m->rank;
    v->blob = v->row->blob;
    memset(v->index, 0, sizeof v->index);
    while (d >= 0) {
        v->offset = ha_row_at(m, v->row, v->index) * v->scale;
        show(p, v);
        if (v->row->linearizer >= 0 && v->row->block_stride == 0) return; /* the same everywhere */
        for (d = m->rank - 1; d >= 0; v->index[d--] = 0)
            if (++v->index[d] < ha_smaller(side[d], m->extent[d])) break;
    }
}

HA_IN_ void ha_show_leaf(ha_picture *p, ha_shown_value *v, const int64_t *side,
                         void (*show)(ha_picture *, const ha_shown_value *)) {
    const ha_mapping *m = p->mapping;
    const ha_coding *c;
    v->row = &m->row[v->leaf];
    v->byte = -1;
    v->scale = p->unit;
    if (v->row->blob < 0) return;
    c = ha_row_coding(m, v->row);
    if (c) v->size = (int64_t)ha_dtype_size(c->stored) * p->unit;
    if (c && c->bits > 0) {
        v->size = c->bits;
        v->scale = 1;
    }
    if (!c || c->bytes == 0) ha_show_box(p, v, side, show);
    for (int64_t b = 0; c && b < c->bytes; b++) {
        v->row = &m->byte_row[c->byte_row + b];
        v->byte = b;
        v->size = p->unit;
        ha_show_box(p, v, side, show);
    }
}

HA_IN_ void ha_show_leaves(ha_picture *p, const int64_t *side,
                           void (*show)(ha_picture *, const ha_shown_value *)) {
    const ha_record *record = p->mapping->record;
    ha_shown_value v = {0};
    for (v.field = 0; v.field < record->fields && p->values < HA_SVG_VALUES; v.field++) {
        const int64_t leaves = ha_field_leaves(&record->field[v.field]);
        for (int64_t k = 0; k < leaves && p->values < HA_SVG_VALUES; k++, v.leaf++) {
            v.size = (int64_t)ha_dtype_size(record->field[v.field].type) * p->unit;
            ha_show_leaf(p, &v, side, show);
        }
    }
}

/* Finds the lines of the first records; then all that is in them, as far as its indices are small. */
HA_IN_ void ha_show_all(ha_picture *p) {
    static const int64_t few[HA_MAPPING_RANK][HA_MAPPING_RANK] = {
        {16}, {2, 4}, {2, 2, 2}, {1, 2, 2, 2}};
    static const int64_t many[HA_MAPPING_RANK] = {128, 64, 16, 8};
    const int rank = (int)p->mapping->rank;
    int64_t side[HA_MAPPING_RANK], n = 0;
    for (int d = 0; d < rank; d++) {
        if (p->mapping->extent[d] == 0) return;
        side[d] = many[rank - 1];
    }
    ha_show_leaves(p, few[rank - 1], ha_show_lines);
    qsort(p->line, (size_t)p->lines, sizeof *p->line, ha_compare_lines);
    for (int64_t k = 0; k < p->lines; k++) /* each once */
        if (n == 0 || ha_compare_lines(&p->line[n - 1], &p->line[k]) != 0)
            p->line[n++] = p->line[k];
    p->lines = n;
    ha_show_leaves(p, side, ha_show_value);
    qsort(p->value, (size_t)p->values, sizeof *p->value, ha_compare_values);
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Light colours of different lightness, so that grey tells neighbours apart, too. */
static const char *const ha_svg_colours[HA_SVG_COLOURS] = {
    "#ffd9a0", "#9cc7e8", "#f4f2a6", "#c5a3d9", "#b7e3a8", "#f0a9a0",
    "#d6ecf5", "#d0b48c", "#f7d3e6", "#8fc9b5", "#e3e3e3"};

/* Hatching by field; the first is none. */
static const char *const ha_svg_patterns[HA_SVG_PATTERNS] = {
    "", "M0 6L6 0", "M0 0L6 6", "M0 3H6", "M3 0V6", "M0 0L6 6M0 6L6 0", "M0 3H6M3 0V6", "M2 3H4"};

HA_IN_ void ha_put_svg_head(ha_text *w, const ha_picture *p, int64_t height) {
    const ha_mapping *m = p->mapping;
    const int right = p->counted.granularity > 0 && !ha_is_fine(&p->counted) ? 60 : 20;
    const int width = HA_SVG_LEFT + HA_SVG_BYTES * HA_SVG_BYTE + right;
    ha_print(w,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%lld\" "
             "viewBox=\"0 0 %d %lld\" font-family=\"sans-serif\" font-size=\"11\">\n"
             "<rect width=\"%d\" height=\"%lld\" fill=\"#fff\"/>\n<defs>\n",
             width, (long long)height, width, (long long)height, width, (long long)height);
    for (int k = 1; k < HA_SVG_PATTERNS; k++)
        ha_print(w,
                 "<pattern id=\"p%d\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
                 "<path d=\"%s\" stroke=\"#000\" stroke-opacity=\"0.28\" "
                 "stroke-width=\"0.8\"/></pattern>\n",
                 k, ha_svg_patterns[k]);
    ha_print(w, "</defs>\n<text x=\"10\" y=\"22\" font-size=\"15\">%s, extents ", m->text);
    for (int d = 0; d < m->rank; d++)
        ha_print(w, "%s%lld", d ? " \xc3\x97 " : "", (long long)m->extent[d]);
    ha_print(w, "</text>\n");
}

HA_IN_ void ha_put_svg_rect(ha_text *w, int64_t x, int64_t y, int64_t width, int64_t field) {
    const int pattern = (int)(field % HA_SVG_PATTERNS);
    const char *place = "<rect x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"34\" ";
    ha_print(w, place, (long long)x, (long long)y, (long long)width);
    ha_print(w, "fill=\"%s\" stroke=\"#333\"/>\n", ha_svg_colours[field % HA_SVG_COLOURS]);
    if (pattern == 0) return;
    ha_print(w, place, (long long)x, (long long)y, (long long)width);
    ha_print(w, "fill=\"url(#p%d)\"/>\n", pattern);
}

/* The last letters of a text that is too long for its room. */
HA_IN_ const char *ha_svg_tail(const char *text, int64_t room) {
    const int64_t length = (int64_t)strlen(text);
    return length > room ? text + length - room : text;
}

/* A name and an index in a box, upright in narrow ones. */
HA_IN_ void ha_put_svg_label(ha_text *w, int64_t x, int64_t y, int64_t width, const char *name,
                             const char *index) {
    if (width >= 4 * HA_SVG_BYTE) {
        const int64_t room = width / 6;
        ha_print(w,
                 "<text x=\"%lld\" y=\"%lld\" text-anchor=\"middle\">%s</text>\n"
                 "<text x=\"%lld\" y=\"%lld\" text-anchor=\"middle\" font-size=\"10\">%s</text>\n",
                 (long long)(x + width / 2), (long long)(y + 15), ha_svg_tail(name, room),
                 (long long)(x + width / 2), (long long)(y + 28), ha_svg_tail(index, room));
        return;
    }
    if (width < HA_SVG_BYTE) { /* bits */
        ha_print(w,
                 "<text transform=\"translate(%lld %lld) rotate(-90)\" text-anchor=\"middle\" "
                 "font-size=\"7\">%s %s</text>\n",
                 (long long)(x + width / 2 + 3), (long long)(y + 17), ha_svg_tail(name, 5),
                 ha_svg_tail(index, 4));
        return;
    }
    ha_print(w,
             "<text transform=\"translate(%lld %lld) rotate(-90)\" text-anchor=\"middle\" "
             "font-size=\"7\">%s",
             (long long)(x + width / 2 - (width > HA_SVG_BYTE ? 2 : 1)), (long long)(y + 17),
             ha_svg_tail(name, 9));
    ha_print(w, "<tspan x=\"0\" dy=\"7\">%s</tspan></text>\n", ha_svg_tail(index, 9));
}

/* What a box is called: "pos.x", and of its third byte "pos.x:2". */
HA_IN_ void ha_svg_name(const ha_mapping *m, const ha_shown_value *v, char name[160]) {
    char leaf[128], byte[24] = "";
    if (v->byte >= 0) snprintf(byte, sizeof byte, ":%lld", (long long)v->byte);
    (void)ha_record_leaf_name(m->record, v->leaf, leaf, sizeof leaf);
    snprintf(name, 160, "%s%s", leaf, byte);
}

HA_IN_ void ha_put_svg_value(ha_text *w, const ha_picture *p, const ha_shown_value *v, int64_t line,
                             int64_t y) {
    const ha_mapping *m = p->mapping;
    const int64_t length = ha_line_length(p), begin = line * length;
    const int64_t first = ha_larger(v->offset, begin);
    const int64_t last = ha_smaller(v->offset + v->size, begin + length);
    const int64_t x = HA_SVG_LEFT + (first - begin) * HA_SVG_BYTE / p->unit;
    const int64_t width = HA_SVG_LEFT + (last - begin) * HA_SVG_BYTE / p->unit - x;
    char name[160], index[96];
    ha_text i = ha_text_into(index, sizeof index);
    int32_t one = v->row->linearizer >= 0 && v->row->block_stride == 0;
    for (int d = 0; d < m->rank; d++) ha_print(&i, "%s%lld", d ? "," : "", (long long)v->index[d]);
    ha_svg_name(m, v, name);
    if (p->counted.granularity > 0)
        ha_put_svg_heated(w, &p->counted, v->blob, first / p->unit, (last + p->unit - 1) / p->unit,
                          x, width, y);
    else
        ha_put_svg_rect(w, x, y, width, v->field);
    if (width >= HA_SVG_NAMED) ha_put_svg_label(w, x, y, width, name, one ? "all" : index);
}

/* ---- lines ----------------------------------------------------------------------------------- */

HA_IN_ void ha_put_svg_blob(ha_text *w, const ha_mapping *m, int64_t blob, int64_t *y) {
    *y += 22;
    ha_print(w, "<text x=\"10\" y=\"%lld\" font-weight=\"bold\">blob %lld: %lld bytes</text>\n",
             (long long)*y, (long long)blob, (long long)m->blob[blob].bytes);
    *y += 8;
}

/* The address at the left, and the memory that the line stands for. */
HA_IN_ void ha_put_svg_line(ha_text *w, const ha_picture *p, int64_t blob, int64_t line,
                            int64_t y) {
    const int64_t begin = line * HA_SVG_BYTES;
    const int64_t bytes = ha_smaller(p->mapping->blob[blob].bytes - begin, HA_SVG_BYTES);
    ha_print(w, "<text x=\"%d\" y=\"%lld\" text-anchor=\"end\">%lld</text>\n", HA_SVG_LEFT - 8,
             (long long)(y + 21), (long long)begin);
    ha_print(w,
             "<rect x=\"%d\" y=\"%lld\" width=\"%lld\" height=\"%lld\" fill=\"#fff\" "
             "stroke=\"#aaa\" stroke-dasharray=\"3 3\"/>\n",
             HA_SVG_LEFT, (long long)y, (long long)(bytes * HA_SVG_BYTE),
             (long long)ha_svg_box_height(&p->counted));
    if (p->counted.granularity > 0) ha_put_svg_heat(w, &p->counted, blob, begin, bytes, y);
}

/* Memory that is not shown. */
HA_IN_ void ha_put_svg_gap(ha_text *w, int64_t *y) {
    ha_print(w, "<text x=\"%d\" y=\"%lld\" text-anchor=\"end\">\xe2\x80\xa6</text>\n",
             HA_SVG_LEFT - 8, (long long)(*y + 8));
    *y += 16;
}

/* The values in a line, from number *first on, which comes closer to those of the next line. */
HA_IN_ void ha_put_svg_values(ha_text *w, const ha_picture *p, const ha_shown_line *l, int64_t y,
                              int64_t *first) {
    const int64_t begin = l->line * ha_line_length(p), end = begin + ha_line_length(p);
    const int64_t longest = 16 * p->unit;
    const ha_shown_value *v = p->value, *behind = v + p->values;
    for (v += *first; v < behind && (v->blob < l->blob || v->offset + longest <= begin); v++)
        ++*first;
    for (; v < behind && v->blob == l->blob && v->offset < end; v++)
        if (v->offset + v->size > begin) ha_put_svg_value(w, p, v, l->line, y);
}

HA_IN_ int64_t ha_blob_lines(const ha_mapping *m, int64_t blob) {
    return m->blob[blob].bytes / HA_SVG_BYTES + (m->blob[blob].bytes % HA_SVG_BYTES > 0);
}

/* Are there blobs with bytes from number `first` on, before number `last`? */
HA_IN_ int ha_has_bytes(const ha_mapping *m, int64_t first, int64_t last) {
    for (int64_t b = first; b < last; b++)
        if (m->blob[b].bytes > 0) return 1;
    return 0;
}

/* Gives the height; a writer without room finds that. */
HA_IN_ int64_t ha_put_svg_lines(ha_text *w, const ha_picture *p) {
    int64_t y = 30, first = 0, next_blob = 0, next_line = 0;
    const ha_counts *counts = p->counted.counts;
    ha_put_svg_legend(w, &p->counted, &y);
    for (int64_t k = 0; k < p->lines; k++) {
        const ha_shown_line *l = &p->line[k];
        if (k == 0 || l[-1].blob != l->blob) {
            if (ha_has_bytes(p->mapping, next_blob, l->blob)) ha_put_svg_gap(w, &y);
            ha_put_svg_blob(w, p->mapping, l->blob, &y);
            next_line = 0;
        }
        if (l->line != next_line) ha_put_svg_gap(w, &y);
        ha_put_svg_line(w, p, l->blob, l->line, y);
        ha_put_svg_values(w, p, l, y, &first);
        y += HA_SVG_LINE - HA_SVG_BOX + ha_svg_box_height(&p->counted);
        next_line = l->line + 1;
        next_blob = l->blob + 1;
        if ((k + 1 == p->lines || l[1].blob != l->blob) &&
            next_line < ha_blob_lines(p->mapping, l->blob))
            ha_put_svg_gap(w, &y);
    }
    if (ha_has_bytes(p->mapping, next_blob, p->mapping->blobs) || p->values == HA_SVG_VALUES)
        ha_put_svg_gap(w, &y);
    if (counts && counts->leaves > 0) ha_put_svg_bars(w, counts, &y);
    return y;
}

HA_API int64_t ha_mapping_svg(const ha_mapping *mapping, char *buffer, size_t size) {
    return ha_counts_svg(mapping, mapping ? mapping->counts : NULL, buffer, size);
}

HA_API int64_t ha_counts_svg(const ha_mapping *mapping, const ha_counts *counts, char *buffer,
                             size_t size) {
    ha_text w = ha_text_into(buffer, size), nowhere = {0};
    ha_picture *p = mapping ? (ha_picture *)HA_LAYOUT_MALLOC_(sizeof *p) : NULL;
    if (!p) return -1;
    memset(p, 0, sizeof *p);
    p->mapping = mapping;
    p->unit = ha_units(mapping);
    p->counted = ha_shown_counts_of(counts);
    ha_show_all(p);
    ha_put_svg_head(&w, p, ha_put_svg_lines(&nowhere, p) + 10);
    (void)ha_put_svg_lines(&w, p);
    ha_print(&w, "</svg>\n");
    HA_LAYOUT_FREE_(p);
    return (int64_t)w.length;
}

#endif
