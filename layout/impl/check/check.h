/* Does a table make sense: is each value inside its blob, and does none overlap another?
 *
 * Rows are looked at as wholes: those whose addresses do not mingle with others' cannot overlap
 * them. What mingles with the same distance from block to block overlaps nowhere when it does not
 * on a circle of that length. Where this does not help, all values are looked at, one by one. */
#ifndef HARRAY_LAYOUT_IMPL_CHECK_CHECK_H
#define HARRAY_LAYOUT_IMPL_CHECK_CHECK_H

#include "check_coding.h"
#include "check_tree.h"

/* A row, or one of its values. */
typedef struct ha_extent_of {
    int64_t blob, begin, end; /* in units */
    int64_t row, size;        /* number of what was checked; of a value */
} ha_extent_of;

typedef struct ha_checker {
    const ha_asked *asked;
    const ha_mapping *mapping;
    int64_t leaves;
    int64_t unit; /* units of a byte */
    ha_extent_of *row;
    ha_checked_row *checked;
    ha_checked_tree *tree;
} ha_checker;

/* ---- the table itself ------------------------------------------------------------------------ */

HA_IN_ const char *ha_linearizer_mistake(const ha_mapping *m, const ha_linearizer *l) {
    int seen = 0, dimensions = 0;
    if (l->rank != m->rank || l->morton < 0 || l->morton > 1) return "a linearizer makes no sense";
    for (int d = 0; d < l->rank; d++) {
        const int64_t s = l->stride[d];
        if (s < 0 || (l->morton == 1 && s >= l->rank)) return "a stride makes no sense";
        if (l->dimension[d] < 0 || l->dimension[d] >= l->rank) return "no such dimension";
        if (l->morton == 1) seen |= 1 << s;
        dimensions |= 1 << l->dimension[d];
    }
    if (dimensions != (1 << l->rank) - 1) return "a dimension is there twice";
    return l->morton == 1 && seen != (1 << l->rank) - 1 ? "a stride is there twice" : NULL;
}

HA_IN_ const char *ha_row_mistake(const ha_mapping *m, const ha_row *row) {
    if (row->blob >= m->blobs) return "a row is in a blob that does not exist";
    if (row->blob >= 0 && row->linearizer < 0 && m->trees > 0) return ha_tree_row_mistake(m, row);
    if (row->blob >= 0 && (row->linearizer < 0 || row->linearizer >= m->linearizers))
        return "a row has a linearizer that does not exist";
    if (row->coding < 0 || row->coding > m->codings)
        return "a row has a coding that does not exist";
    return row->lanes < 1 ? "a row has no lanes" : NULL;
}

HA_IN_ const char *ha_table_mistake(const ha_mapping *m) {
    const char *mistake = NULL;
    for (int k = 0; k < m->linearizers && !mistake; k++)
        mistake = ha_linearizer_mistake(m, &m->linearizer[k]);
    for (int64_t k = 0; k < m->rows && !mistake; k++) mistake = ha_row_mistake(m, &m->row[k]);
    for (int64_t k = 0; k < m->byte_rows && !mistake; k++)
        mistake = ha_row_mistake(m, &m->byte_row[k]);
    for (int32_t k = 0; k < m->codings && !mistake; k++)
        mistake = ha_coding_mistake(m, &m->coding[k]);
    return mistake;
}

/* ---- rows as wholes -------------------------------------------------------------------------- */

/* The largest linear index; 0: it overflows. There are records. */
HA_IN_ int ha_last_linear(const ha_mapping *m, const ha_linearizer *l, int64_t *last) {
    *last = 0;
    for (int d = 0; d < l->rank; d++) {
        int64_t part;
        if (l->morton == 1) {
            if (m->extent[d] - 1 >= (int64_t)1 << (62 / l->rank)) return 0;
        } else if (!ha_product(m->extent[d] - 1, l->stride[d], &part) ||
                   !ha_sum(*last, part, last)) {
            return 0;
        }
    }
    if (l->morton == 1) {
        int64_t index[HA_MAPPING_RANK];
        for (int d = 0; d < l->rank; d++) index[d] = m->extent[d] - 1;
        *last = ha_linear(l, index);
    }
    return 1;
}

/* Widens what a row takes by the value in this block and lane; 0: it overflows. */
HA_IN_ int ha_extent_add(ha_extent_of *e, const ha_row *row, int64_t block, int64_t lane) {
    int64_t far, at, end;
    if (__builtin_mul_overflow(block, row->block_stride, &far) ||
        __builtin_mul_overflow(lane, row->lane_stride, &at) ||
        __builtin_add_overflow(far, at, &at) || __builtin_add_overflow(at, row->base, &at) ||
        __builtin_add_overflow(at, e->size, &end))
        return 0;
    e->begin = ha_smaller(e->begin, at);
    e->end = ha_larger(e->end, end);
    return 1;
}

/* All that a row takes, for linear indices from 0 to `last`. */
HA_IN_ int ha_find_extent(ha_extent_of *e, const ha_row *row, int64_t last) {
    const int64_t block = last / row->lanes, lane = last % row->lanes;
    e->begin = INT64_MAX;
    e->end = INT64_MIN;
    return ha_extent_add(e, row, 0, 0) &&
           ha_extent_add(e, row, 0, ha_smaller(last, row->lanes - 1)) &&
           ha_extent_add(e, row, block, 0) && ha_extent_add(e, row, block, lane) &&
           (block == 0 || ha_extent_add(e, row, block - 1, row->lanes - 1));
}

/* A row of a tree takes all of that, as others of it are everywhere between its values. */
HA_IN_ int ha_find_tree_extent(const ha_checker *c, ha_extent_of *e, const ha_checked_row *r) {
    const ha_row *row = r->origin;
    const ha_checked_tree *t = &c->tree[c->mapping->branch[-1 - row->linearizer].tree];
    int64_t size;
    return ha_product(t->start, r->scale, &e->begin) && ha_product(t->bytes, r->scale, &e->end) &&
           ha_sum(e->begin, e->end, &e->end) && ha_product(row->lane_stride, r->scale, &size) &&
           size == e->size;
}

/* Where the blob ends, in units, as far as they can tell. */
HA_IN_ int64_t ha_blob_end(const ha_checker *c, int32_t blob) {
    int64_t end;
    return ha_product(c->mapping->blob[blob].bytes, c->unit, &end) ? end : INT64_MAX;
}

/* One row of a leaf, whose values take `size` units each. */
HA_IN_ ha_status ha_check_row(ha_checker *c, const ha_row *row, int64_t leaf, int64_t scale,
                              int64_t size, int64_t *rows) {
    const ha_mapping *m = c->mapping;
    ha_checked_row *r = &c->checked[*rows];
    ha_extent_of *e = &c->row[*rows];
    char name[128];
    int64_t last;
    (void)ha_record_leaf_name(m->record, leaf, name, sizeof name);
    *r = (ha_checked_row){.origin = row, .leaf = leaf, .scale = scale};
    *e = (ha_extent_of){.blob = row->blob, .row = *rows, .size = size};
    if (!ha_scale_row(r) ||
        (row->linearizer < 0 ? !ha_find_tree_extent(c, e, r)
                             : !ha_last_linear(m, &m->linearizer[row->linearizer], &last) ||
                                   !ha_find_extent(e, &r->row, last)))
        return ha_refuse(c->asked, HA_ERR_ARGUMENT, 0, "the addresses of %s overflow", name);
    if (e->begin < 0 || e->end > ha_blob_end(c, row->blob))
        return ha_refuse(c->asked, HA_ERR_ARGUMENT, 0,
                         "%s takes bytes from %lld to %lld of blob %d, which has %lld", name,
                         (long long)(e->begin / c->unit),
                         (long long)((e->end + c->unit - 1) / c->unit), (int)row->blob,
                         (long long)m->blob[row->blob].bytes);
    ++*rows;
    return HA_OK;
}

HA_IN_ ha_status ha_check_leaf(ha_checker *c, int64_t number, const ha_leaf *leaf, int64_t *rows) {
    const ha_mapping *m = c->mapping;
    const ha_row *row = &m->row[number];
    const ha_coding *coding = ha_row_coding(m, row);
    const ha_dtype stored = coding ? coding->stored : leaf->type;
    ha_status s = HA_OK;
    if (row->blob < 0) return HA_OK;
    if ((row->type != HA_DTYPE_NONE && row->type != (int32_t)leaf->type) ||
        ha_is_complex(stored) != ha_is_complex(leaf->type)) {
        char name[128];
        (void)ha_record_leaf_name(m->record, number, name, sizeof name);
        return ha_refuse(c->asked, HA_ERR_ARGUMENT, 0, "a row has another type than %s", name);
    }
    if (coding && coding->bits > 0)
        return ha_check_row(c, row, number, c->unit / 8, coding->bits, rows);
    if (!coding || coding->bytes == 0)
        return ha_check_row(c, row, number, c->unit, (int64_t)ha_dtype_size(stored) * c->unit,
                            rows);
    for (int64_t b = 0; b < coding->bytes && !s; b++)
        s = ha_check_row(c, &m->byte_row[coding->byte_row + b], number, c->unit, c->unit, rows);
    return s;
}

/* ---- overlaps -------------------------------------------------------------------------------- */

HA_IN_ int ha_by_begin(const void *first, const void *second) {
    const ha_extent_of *x = (const ha_extent_of *)first, *y = (const ha_extent_of *)second;
    if (x->blob != y->blob) return x->blob < y->blob ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

HA_IN_ ha_status ha_tell_overlap(const ha_checker *c, int64_t one, int64_t other, int64_t at) {
    char names[2][128];
    const int64_t number[2] = {c->checked[one].leaf, c->checked[other].leaf};
    for (int k = 0; k < 2; k++)
        (void)ha_record_leaf_name(c->mapping->record, number[k], names[k], sizeof names[k]);
    return ha_refuse(c->asked, HA_ERR_ARGUMENT, 0, "values of %s and of %s overlap at byte %lld",
                     names[0], names[1], (long long)(at / c->unit));
}

/* Looks at all values of some rows, one by one. */
HA_IN_ ha_status ha_check_values(const ha_checker *c, const ha_extent_of *row, int64_t rows) {
    const ha_mapping *m = c->mapping;
    int64_t records = 1, bytes, n = 0;
    ha_status s = HA_OK;
    ha_extent_of *value = NULL;
    for (int d = 0; d < m->rank; d++)
        if (!ha_product(records, m->extent[d], &records)) return ha_no_memory(c->asked, SIZE_MAX);
    if (ha_product(records, rows, &bytes) && ha_product(bytes, sizeof *value, &bytes))
        value = (ha_extent_of *)HA_LAYOUT_MALLOC_((size_t)bytes);
    if (!value) return ha_no_memory(c->asked, SIZE_MAX);
    for (int64_t k = 0; k < rows; k++) {
        const ha_checked_row *r = &c->checked[row[k].row];
        int64_t index[HA_MAPPING_RANK] = {0};
        for (int d = 0; d >= 0;) {
            const int64_t at = ha_row_at(m, r->origin, index) * r->scale;
            value[n++] = (ha_extent_of){row[k].blob, at, at + row[k].size, row[k].row, row[k].size};
            for (d = m->rank - 1; d >= 0; index[d--] = 0)
                if (++index[d] < m->extent[d]) break;
        }
    }
    qsort(value, (size_t)n, sizeof *value, ha_by_begin);
    for (int64_t k = 1; k < n && !s; k++)
        if (value[k].begin < value[k - 1].end)
            s = ha_tell_overlap(c, value[k - 1].row, value[k].row, value[k].begin);
    HA_LAYOUT_FREE_(value);
    return s;
}

/* Are all indices different linear indices for certain? From the smallest stride on, each has to be
 * larger than all before together. */
HA_IN_ int ha_is_injective(const ha_mapping *m, const ha_linearizer *l) {
    int64_t reach = 0;
    int left = (1 << l->rank) - 1;
    if (l->morton == 1) return 1;
    while (left != 0) {
        int least = -1;
        for (int d = 0; d < l->rank; d++)
            if ((left >> d & 1) != 0 && (least < 0 || l->stride[d] < l->stride[least])) least = d;
        left &= ~(1 << least);
        if (m->extent[least] == 1) continue;
        if (l->stride[least] <= reach) return 0;
        reach += (m->extent[least] - 1) * l->stride[least];
    }
    return 1;
}

/* Rows of which all lanes are neighbours and all blocks equally far apart: values cannot overlap when
 * their blocks do not on a circle of that length. 0: not known. */
HA_IN_ int ha_apart_on_circle(const ha_checker *c, ha_extent_of *row, int64_t rows) {
    const ha_mapping *m = c->mapping;
    const ha_row *first = &c->checked[row->row].row;
    const int64_t circle = first->block_stride;
    for (int64_t k = 0; k < rows; k++) {
        const ha_row *r = &c->checked[row[k].row].row;
        int64_t length;
        if (r->linearizer < 0 || r->block_stride != circle ||
            !ha_is_injective(m, &m->linearizer[r->linearizer]))
            return 0;
        if (r->lanes > 1 && r->lane_stride != row[k].size) return 0;
        if (!ha_product(r->lanes, row[k].size, &length) || length > circle) return 0;
        row[k].begin = r->base % circle; /* bases are not negative: rows are inside their blobs */
        row[k].end = row[k].begin + length;
    }
    qsort(row, (size_t)rows, sizeof *row, ha_by_begin);
    for (int64_t k = 1; k < rows; k++)
        if (row[k].begin < row[k - 1].end) return 0;
    return row[rows - 1].end - circle <= row[0].begin;
}

/* Does it have one place for all records? There are more than one. */
HA_IN_ int ha_is_shared(const ha_checker *c, const ha_extent_of *row) {
    const ha_row *r = &c->checked[row->row].row;
    int64_t records = 1;
    for (int d = 0; d < c->mapping->rank; d++) records |= c->mapping->extent[d];
    return r->linearizer >= 0 && r->block_stride == 0 && r->lanes == 1 && records > 1;
}

/* Are all rows of the same tree, whose values are apart? */
HA_IN_ int ha_is_one_tree(const ha_checker *c, const ha_extent_of *row, int64_t rows) {
    const ha_mapping *m = c->mapping;
    for (int64_t k = 0; k < rows; k++) {
        const ha_row *first = c->checked[row->row].origin, *other = c->checked[row[k].row].origin;
        if (first->linearizer >= 0 || other->linearizer >= 0 ||
            m->branch[-1 - first->linearizer].tree != m->branch[-1 - other->linearizer].tree)
            return 0;
    }
    return 1;
}

/* Rows whose addresses mingle. */
HA_IN_ ha_status ha_check_group(const ha_checker *c, ha_extent_of *row, int64_t rows) {
    if (ha_is_one_tree(c, row, rows)) return HA_OK;
    for (int64_t k = 0; k < rows; k++)
        if (ha_is_shared(c, &row[k]))
            return ha_tell_overlap(c, row[k].row, row[k].row, row[k].begin);
    return ha_apart_on_circle(c, row, rows) ? HA_OK : ha_check_values(c, row, rows);
}

HA_IN_ ha_status ha_check_overlaps(const ha_checker *c, int64_t rows) {
    ha_status s = HA_OK;
    int64_t first = 0;
    qsort(c->row, (size_t)rows, sizeof *c->row, ha_by_begin);
    while (first < rows && !s) {
        int64_t end = c->row[first].end, next = first + 1;
        while (next < rows && c->row[next].blob == c->row[first].blob && c->row[next].begin < end)
            end = ha_larger(end, c->row[next++].end);
        s = ha_check_group(c, c->row + first, next - first);
        first = next;
    }
    return s;
}

/* ---- all ------------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_check_rows(ha_checker *c) {
    const ha_record *record = c->mapping->record;
    int64_t number = 0, rows = 0;
    for (int64_t f = 0; f < record->fields; f++) {
        const int64_t leaves = ha_field_leaves(&record->field[f]);
        for (int64_t k = 0; k < leaves; k++) {
            ha_leaf leaf;
            ha_status s;
            ha_leaf_of_field(record, f, k, &leaf);
            s = ha_check_leaf(c, number++, &leaf, &rows);
            if (s) return s;
        }
    }
    return ha_check_overlaps(c, rows);
}

/* How many rows of values and of bytes there are. */
HA_IN_ int64_t ha_rows_to_check(const ha_mapping *m) {
    int64_t rows = 0;
    for (int64_t k = 0; k < m->rows; k++) {
        const ha_coding *c = ha_row_coding(m, &m->row[k]);
        rows += c && c->bytes > 0 ? c->bytes : 1;
    }
    return rows;
}

/* A table that makes sense, with records. */
HA_IN_ ha_status ha_check_filled(ha_checker *c) {
    const ha_mapping *m = c->mapping;
    const size_t rows = (size_t)ha_rows_to_check(m);
    const size_t bytes = rows * (sizeof *c->row + sizeof *c->checked) +
                         (size_t)m->trees * sizeof *c->tree;
    ha_status s = HA_OK;
    c->unit = ha_units(m);
    c->row = (ha_extent_of *)HA_LAYOUT_MALLOC_(bytes);
    if (!c->row) return ha_no_memory(c->asked, bytes);
    c->checked = (ha_checked_row *)(void *)(c->row + rows);
    c->tree = (ha_checked_tree *)(void *)(c->checked + rows);
    for (int32_t k = 0; k < m->trees && !s; k++) s = ha_check_tree(m, k, c->asked, &c->tree[k]);
    if (!s) s = ha_check_rows(c);
    HA_LAYOUT_FREE_(c->row);
    return s;
}

HA_API ha_status ha_mapping_check(const ha_mapping *mapping, ha_error *error) {
    const ha_asked asked = ha_ask("ha_mapping_check", error);
    ha_checker c = {.asked = &asked, .mapping = mapping};
    if (!mapping) return ha_refuse(&asked, HA_ERR_ARGUMENT, 0, "there is no mapping");
    ha_status s = ha_check_record(&asked, mapping->record, &c.leaves);
    const char *mistake;
    if (!s) s = ha_check_extents(&asked, mapping->rank, mapping->extent);
    if (s) return s;
    mistake = mapping->rows != c.leaves ? "there is not a row for each leaf"
                                        : ha_table_mistake(mapping);
    if (mistake) return ha_refuse(&asked, HA_ERR_ARGUMENT, 0, "%s", mistake);
    for (int d = 0; d < mapping->rank; d++)
        if (mapping->extent[d] == 0) return HA_OK; /* no record */
    return ha_check_filled(&c);
}

#endif
