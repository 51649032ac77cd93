/* Values of few bits, which share bytes with their neighbours in one memory. Whoever writes one of them
 * writes the bytes of the others, too. So the leaves that do are in groups, and records in blocks, such that
 * no byte belongs to two groups or blocks: what is locked and moved there is whole groups of whole blocks. */
#ifndef HARRAY_IMPL_RECORDS_SHARED_BYTES_H
#define HARRAY_IMPL_RECORDS_SHARED_BYTES_H

#include "state.h"

/* Neighbouring leaves whose bytes are interleaved; end 0: this leaf shares none. */
typedef struct ha_leaf_group {
    int64_t first, end;
} ha_leaf_group;

typedef struct ha_shared_bytes {
    int64_t
        unit[HA_MAPPING_RANK]; /* records of a block, along each index; blocks begin at multiples */
    ha_leaf_group group[];     /* of each leaf */
} ha_shared_bytes;

/* Bits of a blob, from the first to behind the last. */
typedef struct ha_bit_span {
    int64_t first, end;
} ha_bit_span;

enum { HA_MOST_SHARED_BYTES = 2 << 20 }; /* of a block of records: they are moved in one go */

/* ---- where leaves lie ------------------------------------------------------------------------ */

HA_IN_ int ha_row_has_bits(const ha_mapping *m, const ha_row *row) {
    const ha_coding *c = ha_row_coding(m, row);
    return c && c->bits;
}

/* What a number times a stride adds to the ends of a span. */
HA_IN_ void ha_bit_span_reach(ha_bit_span *s, int64_t times, int64_t stride) {
    if (stride < 0)
        s->first += times * stride;
    else
        s->end += times * stride;
}

/* Of one row, for all records. */
HA_IN_ ha_bit_span ha_row_span(const ha_mapping *m, const ha_row *row, int64_t bytes) {
    const ha_coding *c = ha_row_coding(m, row);
    const int64_t unit = c && c->bits ? 1 : 8, size = c && c->bits ? c->bits : 8 * bytes;
    if (row->linearizer < 0) return (ha_bit_span){0, 8 * m->blob[row->blob].bytes};
    const int64_t count = m->linearizer[row->linearizer].count;
    ha_bit_span s = {row->base * unit, row->base * unit + size};
    if (count < 1) return s;
    ha_bit_span_reach(&s, (count - 1) / row->lanes, row->block_stride * unit);
    if (row->lanes > 1) ha_bit_span_reach(&s, row->lanes - 1, row->lane_stride * unit);
    return s;
}

/* Whether a leaf has bytes between the first and the last of a span. */
HA_IN_ int ha_leaf_meets(const ha_records_state *state, const ha_mapping *m, int64_t leaf,
                         int32_t blob, ha_bit_span s) {
    const ha_row *row = &m->row[leaf];
    const ha_coding *c = ha_row_coding(m, row);
    const int64_t rows = c && c->bytes ? c->bytes : 1;
    int meets = 0;
    for (int64_t i = 0; i < rows; i++) {
        const ha_row *r = c && c->bytes ? &m->byte_row[c->byte_row + i] : row;
        const int64_t size = (int64_t)ha_dtype_size(c ? c->stored : state->leaf[leaf].type);
        const ha_bit_span own = ha_row_span(m, r, c && c->bytes ? 1 : size);
        meets |= r->blob == blob && own.first / 8 < (s.end + 7) / 8 &&
                 s.first / 8 < (own.end + 7) / 8;
    }
    return meets;
}

/* The group of a leaf grows by what lies between its bytes. NULL, or why it cannot. */
HA_IN_ const char *ha_leaf_group_find(const ha_records_state *state, const ha_mapping *m,
                                      int64_t leaf, ha_leaf_group *g) {
    const int32_t blob = m->row[leaf].blob;
    ha_bit_span s = ha_row_span(m, &m->row[leaf], 0);
    *g = (ha_leaf_group){leaf, leaf + 1};
    for (int64_t other = 0; other < m->rows; other++) {
        const ha_row *row = &m->row[other];
        const int inside = g->first <= other && other < g->end;
        if (inside || !ha_leaf_meets(state, m, other, blob, s)) continue;
        if (ha_row_coding(m, row) && ha_row_coding(m, row)->bytes)
            return "values of bits share bytes with one that is stored byte by byte";
        const ha_bit_span own = ha_row_span(m, row,
                                            (int64_t)ha_dtype_size(state->leaf[other].type));
        if (own.first < s.first) s.first = own.first;
        if (own.end > s.end) s.end = own.end;
        if (other < g->first) g->first = other;
        if (other >= g->end) g->end = other + 1;
        other = -1; /* others may lie between these */
    }
    for (int64_t other = g->first; other < g->end; other++)
        if (!ha_leaf_meets(state, m, other, blob, s))
            return "values of bits share bytes with fields that are not beside it";
    return NULL;
}

/* ---- blocks of records ----------------------------------------------------------------------- */

/* How many steps of so many bits end at a byte. */
HA_IN_ int64_t ha_steps_to_byte(int64_t bits) {
    int64_t n = 1;
    while (n * (bits % 8) % 8) n *= 2;
    return n;
}

/* Whether the leaves of a group begin at a byte, and go on by the same step. */
HA_IN_ int ha_leaf_group_is_even(const ha_mapping *m, const ha_leaf_group *g, int64_t *step) {
    const ha_row *first = &m->row[g->first];
    const ha_linearizer *z = first->linearizer < 0 ? NULL : &m->linearizer[first->linearizer];
    int64_t begin = INT64_MAX, end = 0;
    int even = z && !z->morton;
    for (int d = 0; even && d < z->rank; d++) even = z->stride[d] >= 0;
    *step = first->block_stride * (ha_row_has_bits(m, first) ? 1 : 8);
    for (int64_t leaf = g->first; leaf < g->end; leaf++) {
        const ha_row *row = &m->row[leaf];
        const int64_t unit = ha_row_has_bits(m, row) ? 1 : 8;
        even = even && row->lanes == 1 && row->linearizer == first->linearizer &&
               row->block_stride * unit == *step;
        const ha_dtype type = (ha_dtype)row->type;
        const int64_t size = unit == 1 ? ha_row_coding(m, row)->bits
                                       : 8 * (int64_t)ha_dtype_size(type);
        even = even && (unit == 1 || type);
        if (row->base * unit < begin) begin = row->base * unit;
        if (row->base * unit + size > end) end = row->base * unit + size;
    }
    return even && *step > 0 && begin % 8 == 0 && end - begin <= *step;
}

/* Blocks become as large as those of a group have to be. */
HA_IN_ void ha_shared_bytes_grow(ha_shared_bytes *s, const ha_mapping *m, const ha_leaf_group *g) {
    int64_t step;
    const int even = ha_leaf_group_is_even(m, g, &step);
    const ha_linearizer *z = even ? &m->linearizer[m->row[g->first].linearizer] : NULL;
    int outer = -1; /* the slowest index along which a record may end within a byte */
    for (int k = 0; even && k < z->rank && outer < 0; k++) {
        const int d = z->dimension[k];
        if (m->extent[d] > 1 && step * z->stride[d] % 8) outer = k;
    }
    if (even && outer < 0) return;
    for (int k = even ? outer : 0; k < m->rank; k++) {
        const int d = even ? z->dimension[k] : k;
        const int64_t unit = even && k == outer ? ha_steps_to_byte(step * z->stride[d])
                                                : m->extent[d];
        if (unit > s->unit[d]) s->unit[d] = unit;
        if (s->unit[d] > m->extent[d]) s->unit[d] = m->extent[d];
    }
}

/* ---- making ---------------------------------------------------------------------------------- */

/* The bits of a group in a box. */
HA_IN_ ha_bit_span ha_leaf_group_span(const ha_records_state *state, const ha_mapping *m,
                                      const ha_leaf_group *g, const ha_field_box *b) {
    ha_bit_span all = {INT64_MAX, 0};
    for (int64_t leaf = g->first; leaf < g->end; leaf++) {
        const ha_row *row = &m->row[leaf];
        const int bits = ha_row_has_bits(m, row);
        const ha_coding *c = ha_row_coding(m, row);
        const int64_t size = (int64_t)ha_dtype_size(c ? c->stored : state->leaf[leaf].type);
        ha_bit_span s = ha_row_span(m, row, size);
        const ha_linearizer *z = &m->linearizer[row->linearizer];
        int strided = row->lanes == 1 && row->block_stride > 0 && !z->morton;
        for (int d = 0; strided && d < z->rank; d++) strided = z->stride[d] >= 0;
        if (strided) { /* else all of it: then a block is all records */
            int64_t last[HA_MAPPING_RANK];
            for (int d = 0; d < HA_MAPPING_RANK; d++) last[d] = b->last[d] - 1;
            s.first = ha_row_at(m, row, b->first) * (bits ? 1 : 8);
            s.end = bits ? ha_row_at(m, row, last) + c->bits : 8 * (ha_row_at(m, row, last) + size);
        }
        if (s.first < all.first) all.first = s.first;
        if (s.end > all.end) all.end = s.end;
    }
    return all;
}

HA_IN_ const char *ha_shared_bytes_fill(ha_shared_bytes *s, const ha_records_state *state,
                                        const ha_mapping *m, int64_t *leaf) {
    for (*leaf = 0; *leaf < m->rows; ++*leaf) {
        ha_leaf_group g;
        if (s->group[*leaf].end || !ha_row_has_bits(m, &m->row[*leaf])) continue;
        const char *objection = ha_leaf_group_find(state, m, *leaf, &g);
        if (objection) return objection;
        for (int64_t i = g.first; i < g.end; i++) {
            if (m->row[i].linearizer < 0) return "values of bits share bytes in a tree";
            s->group[i] = g;
        }
        ha_shared_bytes_grow(s, m, &g);
    }
    for (*leaf = 0; *leaf < m->rows; ++*leaf) {
        ha_field_box block = {.leaf = 0};
        if (!s->group[*leaf].end) continue;
        for (int d = 0; d < HA_MAPPING_RANK; d++) block.last[d] = s->unit[d];
        const ha_bit_span span = ha_leaf_group_span(state, m, &s->group[*leaf], &block);
        if ((span.end - span.first) / 8 > HA_MOST_SHARED_BYTES)
            return "too many values of bits share bytes: a row of a multiple of 8 records would "
                   "share none with the next one";
    }
    return NULL;
}

/* What of a mapping shares bytes; to be freed. *s NULL: nothing does. *objection: NULL, or why those of *leaf
 * cannot be kept. HA_ERR_MEMORY. */
HA_IN_ ha_status ha_shared_bytes_make(const ha_records_state *state, const ha_mapping *m,
                                      ha_shared_bytes **s, const char **objection, int64_t *leaf) {
    int bits = 0, none = 0;
    *s = NULL;
    *objection = NULL;
    for (int64_t i = 0; i < m->rows; i++) bits |= ha_row_has_bits(m, &m->row[i]);
    for (int d = 0; d < m->rank; d++) none |= !m->extent[d];
    if (!bits || none) return HA_OK;
    const size_t bytes = sizeof **s + (size_t)m->rows * sizeof *(*s)->group;
    *s = (ha_shared_bytes *)HARRAY_MALLOC(bytes);
    if (!*s) return HA_ERR_MEMORY;
    memset(*s, 0, bytes);
    for (int d = 0; d < HA_MAPPING_RANK; d++) (*s)->unit[d] = 1;
    *objection = ha_shared_bytes_fill(*s, state, m, leaf);
    if (!*objection) return HA_OK;
    HARRAY_FREE(*s);
    *s = NULL;
    return HA_ERR_ARGUMENT;
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* The smallest box of whole groups and blocks around one. */
HA_IN_ ha_field_box ha_shared_bytes_around(const ha_shared_bytes *s, const ha_records_state *state,
                                           const ha_field_box *box) {
    ha_field_box b = *box;
    int shares = 0;
    for (int64_t leaf = b.leaf; leaf < b.end; leaf++) shares |= s->group[leaf].end != 0;
    if (!shares) return b;
    if (s->group[b.leaf].end) b.leaf = s->group[b.leaf].first;
    if (s->group[b.end - 1].end) b.end = s->group[b.end - 1].end;
    for (int d = 0; d < HA_MAPPING_RANK; d++) {
        const int64_t unit = s->unit[d];
        b.first[d] = b.first[d] / unit * unit;
        b.last[d] = (b.last[d] + unit - 1) / unit * unit;
        if (b.last[d] > state->extent[d]) b.last[d] = state->extent[d];
    }
    return b;
}

/* The same of a range of the array; s NULL: nothing is shared. */
HA_IN_ ha_range ha_shared_range(const ha_shared_bytes *s, const ha_array *a, ha_range r) {
    if (!s || !a->grid || ha_is_empty(r) || ha_is_whole(r)) return r;
    const ha_field_box b = ha_field_box_of(a, r);
    const ha_field_box around = ha_shared_bytes_around(s, ha_records_state_of(a), &b);
    return ha_field_box_range(a, &around);
}

/* Where the leaves of a box are cut, so that each part is one group or has none; 0: nowhere. */
HA_IN_ int64_t ha_shared_bytes_cut(const ha_shared_bytes *s, const ha_field_box *b) {
    if (!s) return 0;
    const int64_t end = s->group[b->leaf].end;
    int64_t leaf = b->leaf + 1;
    if (end) return end < b->end ? end : 0;
    while (leaf < b->end && !s->group[leaf].end) leaf++;
    return leaf < b->end ? leaf : 0;
}

/* Whether the bytes of a group in a box belong to no other records; else *dimension is the slowest index that
 * has several values. */
HA_IN_ int ha_shared_box_is_dense(const ha_mapping *m, const ha_leaf_group *g,
                                  const ha_field_box *b, int *dimension) {
    const ha_linearizer *z = &m->linearizer[m->row[g->first].linearizer];
    int k = 0, dense = 1;
    while (k < z->rank - 1 && b->last[z->dimension[k]] - b->first[z->dimension[k]] == 1) k++;
    *dimension = z->dimension[k];
    for (k++; k < z->rank; k++) {
        const int d = z->dimension[k];
        dense = dense && b->first[d] == 0 && b->last[d] == m->extent[d];
    }
    return dense;
}

#endif
