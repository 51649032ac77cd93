/* What was counted, in pictures of mappings: the heat as the colour of memory, with numbers, and a bar
 * for each leaf. */
#ifndef HARRAY_LAYOUT_IMPL_DUMP_SVG_COUNTS_H
#define HARRAY_LAYOUT_IMPL_DUMP_SVG_COUNTS_H

#include "counts_text.h"

enum {
    HA_SVG_BYTES = 64, /* in a line of memory */
    HA_SVG_BYTE = 15,  /* width of a byte */
    HA_SVG_LINE = 44,  /* height of a line */
    HA_SVG_BOX = 34,   /* of that, of a value */
    HA_SVG_COUNT = 12, /* and of the number of accesses below it */
    HA_SVG_LEFT = 70,  /* room for addresses */
    HA_SVG_SHADES = 6,
    HA_SVG_ROW = 18, /* height of a row of the table */
    HA_SVG_ROWS = 256,
    HA_SVG_BAR = 420 /* width of the longest bar */
};

/* What of the counters is drawn. */
typedef struct ha_shown_counts {
    const ha_counts *counts; /* NULL: nothing was counted */
    int64_t granularity;     /* of the heat; 0: there is none */
    uint64_t hottest;
} ha_shown_counts;

HA_IN_ ha_shown_counts ha_shown_counts_of(const ha_counts *c) {
    ha_shown_counts s = {.counts = c, .granularity = c ? c->granularity : 0};
    for (int64_t b = 0; c && b < c->blobs; b++)
        for (int64_t g = 0; g < c->blob[b].granules; g++) {
            const uint64_t n = ha_count_now(&c->blob[b].touched[g]);
            if (n > s.hottest) s.hottest = n;
        }
    return s;
}

/* Are there several granules in a line? Their numbers stand in it then, else at its end. */
HA_IN_ int ha_is_fine(const ha_shown_counts *s) {
    return s->granularity > 0 && s->granularity < HA_SVG_BYTES;
}

HA_IN_ int64_t ha_svg_box_height(const ha_shown_counts *s) {
    return ha_is_fine(s) ? HA_SVG_BOX + HA_SVG_COUNT : HA_SVG_BOX;
}

/* ---- heat ------------------------------------------------------------------------------------ */

/* From light to dark, also in grey; black text is legible on all. The first is for none at all. */
static const char *const ha_svg_shades[HA_SVG_SHADES] = {"#ffffff", "#fdf0d5", "#fbd9a0",
                                                         "#f5b971", "#ec9455", "#dc6b45"};

/* The most accesses that still have this shade: none, then a fifth more of the most each time. */
HA_IN_ uint64_t ha_shade_end(const ha_shown_counts *s, int shade) {
    const uint64_t fifths = HA_SVG_SHADES - 1;
    const uint64_t whole = s->hottest / fifths, rest = s->hottest % fifths;
    return whole * (uint64_t)shade + rest * (uint64_t)shade / fifths;
}

HA_IN_ int ha_shade_of(const ha_shown_counts *s, uint64_t count) {
    int shade = count > 0;
    while (shade < HA_SVG_SHADES - 1 && count > ha_shade_end(s, shade)) shade++;
    return shade;
}

/* In full where there is room for seven digits, else in four letters at most. */
HA_IN_ void ha_put_short_number(ha_text *w, uint64_t n, int room) {
    static const char unit[] = "kMGTPE";
    int k = -1;
    uint64_t rest = 0;
    if (room && n < 10000000) {
        ha_print(w, "%d", (int)n);
        return;
    }
    for (; n >= 1000; n /= 1000, k++) rest = n % 1000;
    if (k < 0)
        ha_print(w, "%d", (int)n);
    else if (n < 10)
        ha_print(w, "%d.%d%c", (int)n, (int)(rest / 100), unit[k]);
    else
        ha_print(w, "%d%c", (int)n, unit[k]);
}

HA_IN_ uint64_t ha_heat_at(const ha_shown_counts *s, int64_t blob, int64_t byte) {
    const ha_heat *h = &s->counts->blob[blob];
    return ha_count_now(&h->touched[byte / s->granularity]);
}

/* Calls this for `bytes` bytes of a blob in pieces of the same granule. */
HA_IN_ void ha_put_svg_heat(ha_text *w, const ha_shown_counts *s, int64_t blob, int64_t from,
                            int64_t bytes, int64_t y) {
    for (int64_t at = from; at < from + bytes;) {
        const int64_t end = ha_smaller(from + bytes,
                                       at / s->granularity * s->granularity + s->granularity);
        const int shade = ha_shade_of(s, ha_heat_at(s, blob, at));
        if (shade > 0)
            ha_print(w,
                     "<rect x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%lld\" "
                     "fill=\"%s\"/>\n",
                     (long long)(HA_SVG_LEFT + (at - from) * HA_SVG_BYTE), (long long)y,
                     (long long)((end - at) * HA_SVG_BYTE), (long long)ha_svg_box_height(s),
                     ha_svg_shades[shade]);
        at = end;
    }
    if (ha_is_fine(s)) return;
    ha_print(w, "<text x=\"%d\" y=\"%lld\" font-weight=\"bold\">",
             HA_SVG_LEFT + HA_SVG_BYTES * HA_SVG_BYTE + 8, (long long)(y + 21));
    ha_put_short_number(w, ha_heat_at(s, blob, from), 1);
    ha_print(w, "</text>\n");
}

/* The frame of a value, which has a part in bytes [first, last) of a blob, and how often the hottest of
 * them was touched. */
HA_IN_ void ha_put_svg_heated(ha_text *w, const ha_shown_counts *s, int64_t blob, int64_t first,
                              int64_t last, int64_t x, int64_t width, int64_t y) {
    uint64_t most = 0;
    ha_print(w,
             "<rect x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%lld\" fill=\"none\" "
             "stroke=\"#333\"/>\n",
             (long long)x, (long long)y, (long long)width, (long long)ha_svg_box_height(s));
    if (!ha_is_fine(s) || width < HA_SVG_BYTE) return;
    for (int64_t at = first; at < last; at++) {
        const uint64_t n = ha_heat_at(s, blob, at);
        if (n > most) most = n;
    }
    ha_print(w,
             "<text x=\"%lld\" y=\"%lld\" text-anchor=\"middle\" font-size=\"%d\" "
             "font-weight=\"bold\">",
             (long long)(x + width / 2), (long long)(y + HA_SVG_BOX + HA_SVG_COUNT - 3),
             width >= 2 * HA_SVG_BYTE ? 10 : 6);
    ha_put_short_number(w, most, width >= 4 * HA_SVG_BYTE);
    ha_print(w, "</text>\n");
}

/* Which shade means how many accesses. */
HA_IN_ void ha_put_svg_legend(ha_text *w, const ha_shown_counts *s, int64_t *y) {
    if (s->granularity == 0) return;
    *y += 14;
    ha_print(w, "<text x=\"10\" y=\"%lld\">accesses to each ", (long long)*y);
    if (s->granularity == 1)
        ha_print(w, "byte:</text>\n");
    else
        ha_print(w, "%lld bytes:</text>\n", (long long)s->granularity);
    for (int k = 0, x = 200; k < HA_SVG_SHADES; k++) {
        const uint64_t first = k ? ha_shade_end(s, k - 1) + 1 : 0, last = ha_shade_end(s, k);
        if (first > last) continue; /* there are fewer numbers than shades */
        ha_print(w,
                 "<rect x=\"%d\" y=\"%lld\" width=\"26\" height=\"14\" fill=\"%s\" "
                 "stroke=\"#333\"/>\n<text x=\"%d\" y=\"%lld\">",
                 x, (long long)(*y - 11), ha_svg_shades[k], x + 32, (long long)*y);
        ha_print(w, first == last ? "%llu</text>\n" : "%llu \xe2\x80\x93 %llu</text>\n",
                 (unsigned long long)first, (unsigned long long)last);
        x += 130;
    }
    *y += 6;
}

/* ---- leaves ---------------------------------------------------------------------------------- */

/* Kinds of accesses: heading, colour, hatching (its number). */
static const struct ha_svg_access {
    const char *name, *colour;
    int pattern;
} ha_svg_accesses[3] = {
    {"reads", "#9cc7e8", 0}, {"writes", "#f0a9a0", 1}, {"pointers", "#e3e3e3", 2}};

enum { HA_SVG_COLUMN = 330, HA_SVG_COLUMNS = 90, HA_SVG_BARS = 560 }; /* where they are */

HA_IN_ void ha_put_svg_swatch(ha_text *w, int kind, int64_t x, int64_t y, int64_t width) {
    const struct ha_svg_access *a = &ha_svg_accesses[kind];
    const char *place = "<rect x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"12\" ";
    ha_print(w, place, (long long)x, (long long)y, (long long)width);
    ha_print(w, "fill=\"%s\" stroke=\"#333\"/>\n", a->colour);
    if (a->pattern == 0) return;
    ha_print(w, place, (long long)x, (long long)y, (long long)width);
    ha_print(w, "fill=\"url(#p%d)\"/>\n", a->pattern);
}

HA_IN_ void ha_put_svg_number(ha_text *w, int64_t x, int64_t y, uint64_t number) {
    ha_print(w, "<text x=\"%lld\" y=\"%lld\" text-anchor=\"end\">%llu</text>\n", (long long)x,
             (long long)y, (unsigned long long)number);
}

/* Reads, writes and pointers, and a bar of these one behind the other. */
HA_IN_ void ha_put_svg_tally(ha_text *w, ha_tally t, uint64_t most, int64_t y) {
    const uint64_t number[3] = {t.reads, t.writes, t.pointers};
    int64_t x = HA_SVG_BARS;
    for (int k = 0; k < 3; k++) {
        const double share = most ? (double)number[k] / (double)most : 0;
        const int64_t width = (int64_t)(share * (int)HA_SVG_BAR + 0.5);
        ha_put_svg_number(w, HA_SVG_COLUMN + k * HA_SVG_COLUMNS, y, number[k]);
        if (width > 0) ha_put_svg_swatch(w, k, x, y - 10, width);
        x += width;
    }
}

HA_IN_ uint64_t ha_most_accesses(const ha_counts *c) {
    uint64_t most = 0;
    for (int64_t k = 0; k < c->leaves; k++) {
        const ha_tally t = ha_tally_now_(&c->leaf[k]);
        const uint64_t sum = t.reads + t.writes + t.pointers;
        if (sum > most) most = sum;
    }
    return most;
}

/* A table of all leaves. */
HA_IN_ void ha_put_svg_bars(ha_text *w, const ha_counts *c, int64_t *y) {
    const uint64_t most = ha_most_accesses(c);
    ha_leaf_walk walk = ha_walk_leaves(c->record);
    *y += 22;
    ha_print(w, "<text x=\"10\" y=\"%lld\" font-weight=\"bold\">accesses to each field</text>\n",
             (long long)*y);
    for (int k = 0; k < 3; k++) {
        const int x = HA_SVG_COLUMN + k * HA_SVG_COLUMNS;
        ha_print(w, "<text x=\"%d\" y=\"%lld\" text-anchor=\"end\">%s</text>\n", x, (long long)*y,
                 ha_svg_accesses[k].name);
        ha_put_svg_swatch(w, k, x - 70, *y - 10, 14);
    }
    for (int64_t k = 0; k < c->leaves && k < HA_SVG_ROWS; k++) {
        *y += HA_SVG_ROW;
        ha_print(w, "<text x=\"10\" y=\"%lld\">", (long long)*y);
        ha_put_leaf_name(w, c->record, ha_following_leaf(&walk));
        ha_print(w, "</text>\n");
        ha_put_svg_tally(w, ha_tally_now_(&c->leaf[k]), most, *y);
    }
    if (c->leaves > HA_SVG_ROWS) {
        *y += HA_SVG_ROW;
        ha_print(w, "<text x=\"10\" y=\"%lld\">and %lld more</text>\n", (long long)*y,
                 (long long)(c->leaves - HA_SVG_ROWS));
    }
    *y += 8;
}

#endif
