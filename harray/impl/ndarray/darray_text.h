/* An array as text, as NumPy lays it out: rows in brackets, one column below the other. Brackets
 * and not plain columns, because they say how many dimensions there are, and where each ends. What
 * NumPy does otherwise: numbers have as many digits as tell them apart, and lines are not wrapped. */
#ifndef HARRAY_IMPL_NDARRAY_DARRAY_TEXT_H
#define HARRAY_IMPL_NDARRAY_DARRAY_TEXT_H

#include "../../dtype.h"
#include "../base/all.h"

/* ---- what is shown -------------------------------------------------------------------------- */

enum { HA_SHOWN_EDGE = 5, HA_SHOWN_MOST = 1000 };

/* Of each dimension the first indices, and if there are more than 10 the last ones. Of ranks above
 * 2 all this may be much: then outer dimensions show their ends only. */
typedef struct ha_shown {
    int rank;
    int64_t first[HA_MOST_RANK],
        last[HA_MOST_RANK]; /* how many; last: 0 where all are first ones */
    int64_t count;          /* of elements */
    int is_cut;             /* there are others */
} ha_shown;

HA_IN_ void ha_shown_cut(ha_shown *s, int d, int64_t extent, int64_t edge) {
    int cut = extent > 2 * edge;
    s->first[d] = cut ? edge : extent;
    s->last[d] = cut ? edge : 0;
    s->is_cut |= cut;
}

/* At most 10 in each dimension: 10^8 do not overflow. */
HA_IN_ int64_t ha_shown_count(const ha_shown *s) {
    int64_t count = 1;
    for (int d = 0; d < s->rank; d++) count *= s->first[d] + s->last[d];
    return count;
}

HA_IN_ ha_shown ha_shown_of(int rank, const int64_t *extent) {
    ha_shown s = {.rank = rank};
    for (int d = 0; d < rank; d++) ha_shown_cut(&s, d, extent[d], HA_SHOWN_EDGE);
    for (int d = 0; d < rank - 2 && ha_shown_count(&s) > HA_SHOWN_MOST; d++)
        ha_shown_cut(&s, d, extent[d], 1);
    s.count = ha_shown_count(&s);
    return s;
}

/* ---- columns -------------------------------------------------------------------------------- */

/* The values that are shown, in the order in which they are, and how wide they are. */
typedef struct ha_table {
    const ha_shown *shown;
    ha_dtype type;
    const char *values;
    int before, behind; /* the most characters up to the decimal point, and from there on */
    int width;          /* of each column */
} ha_table;

typedef struct ha_cell {
    char text[64];
    int before, behind; /* behind < 0: with exponents, complex, nan: aligned are the ends */
} ha_cell;

HA_IN_ ha_cell ha_table_cell(const ha_table *t, int64_t i) {
    ha_cell c;
    const char *at = t->values + (size_t)i * ha_dtype_size(t->type);
    int length = (int)ha_dvalue_print(ha_dvalue_load(t->type, at), c.text, sizeof c.text);
    const int aligned = (int)strspn(c.text, "-0123456789.") == length;
    c.before = aligned ? (int)strcspn(c.text, ".") : length;
    c.behind = aligned ? length - c.before : -1;
    return c;
}

HA_IN_ void ha_table_measure(ha_table *t) {
    for (int64_t i = 0; i < t->shown->count; i++) {
        const ha_cell c = ha_table_cell(t, i);
        if (c.behind < 0) {
            if (c.before > t->width) t->width = c.before;
            continue;
        }
        if (c.before > t->before) t->before = c.before;
        if (c.behind > t->behind) t->behind = c.behind;
    }
    if (t->before + t->behind > t->width) t->width = t->before + t->behind;
}

HA_IN_ void ha_table_print(const ha_table *t, int64_t i, ha_text *text) {
    const ha_cell c = ha_table_cell(t, i);
    const int right = c.behind < 0 ? 0 : t->behind - c.behind;
    ha_print(text, "%*s%*s", t->width - right, c.text, right, "");
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* What stands between two parts of dimension d: a space, or as many ends of lines as there are
 * dimensions inside them, and the brackets' indent. */
HA_IN_ void ha_rows_separate(const ha_table *t, int d, ha_text *text) {
    const int inside = t->shown->rank - 1 - d;
    for (int n = 0; n < inside; n++) ha_print(text, "\n");
    ha_print(text, "%*s", inside ? d + 1 : 1, "");
}

/* The part that begins with value *at, of dimensions d and beyond. */
HA_IN_ void ha_rows_print(const ha_table *t, int d, int64_t *at, ha_text *text) {
    const ha_shown *s = t->shown;
    if (d == s->rank) {
        ha_table_print(t, (*at)++, text);
        return;
    }
    ha_print(text, "[");
    for (int64_t i = 0; i < s->first[d] + s->last[d]; i++) {
        if (i) ha_rows_separate(t, d, text);
        if (i == s->first[d]) {
            ha_print(text, "...");
            ha_rows_separate(t, d, text);
        }
        ha_rows_print(t, d + 1, at, text);
    }
    ha_print(text, "]");
}

/* `values`: those that are shown, without gaps. An end of line stands behind the last bracket. */
HA_IN_ void ha_shown_print(const ha_shown *s, ha_dtype type, const void *values, ha_text *text) {
    ha_table t = {.shown = s, .type = type, .values = (const char *)values};
    int64_t at = 0;
    ha_table_measure(&t);
    if (s->count)
        ha_rows_print(&t, 0, &at, text);
    else
        ha_print(text, "[]");
    ha_print(text, "\n");
}

#endif
