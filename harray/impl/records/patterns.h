/* How a box of a record array lies in memory: as equally spaced pieces, which queues copy.
 *
 * A box consists of columns. A column is the values of one leaf; of a leaf that is stored byte by
 * byte each byte of the values is a column of its own. In one mapping a column has a stride
 * pattern: its values lie at equal distances, on some levels. Where they do not (between the blocks
 * of aosoa, in Morton order) the box is cut. Columns that lie beside each other, with stride
 * patterns of the same levels, are merged into one copy, of larger pieces. The columns of leaves that share
 * bytes (shared_bytes.h) are all the same: the bytes of the group, as they are. */
#ifndef HARRAY_IMPL_RECORDS_PATTERNS_H
#define HARRAY_IMPL_RECORDS_PATTERNS_H

#include "placement.h"

enum { HA_PATTERN_LEVELS = HA_MAPPING_RANK };

typedef struct ha_stride_pattern {
    char *at; /* the first value */
    int levels;
    int blocks; /* the levels are lanes and blocks; else each is a dimension */
    int order; /* of blocks: the dimensions in the order in which records are counted; digits from 1 */
    int64_t linear;
    int64_t count[HA_PATTERN_LEVELS], step[HA_PATTERN_LEVELS]; /* the innermost first */
    int dimension[HA_PATTERN_LEVELS];
} ha_stride_pattern;

typedef struct ha_column {
    int64_t leaf;
    int64_t byte;               /* < 0: whole values; else the row of bytes */
    size_t bytes;               /* of a value, or of the image */
    int image;                  /* of a group that shares bytes: all of these, as they are */
    const ha_row *here, *there; /* in the two mappings; there NULL: not of the same kind */
    ha_stride_pattern pattern, other;
    int64_t place; /* of a pair: how many columns begin before it in the other memory */
    int64_t merged_copy;
} ha_column;

typedef struct ha_merged_copy {
    ha_strided_copy copy; /* to here; from the other memory, or (NULL) from a chunk */
    size_t packed;        /* where it is in a chunk */
    const ha_column *first;
} ha_merged_copy;

/* Where a box has to be cut in two. */
typedef struct ha_cut {
    int dimension;
    int64_t index;
    int behind_blocks; /* in front of it are whole blocks of lanes */
} ha_cut;

/* ---- stride patterns -------------------------------------------------------------------------- */

HA_IN_ int64_t ha_box_extent(const ha_field_box *b, int d) { return b->last[d] - b->first[d]; }

/* In halves across the slowest index that has more than one value. */
HA_IN_ int ha_cut_in_halves(const ha_linearizer *z, const ha_field_box *b, ha_cut *cut) {
    int k = 0;
    while (ha_box_extent(b, z->dimension[k]) == 1) k++;
    const int d = z->dimension[k];
    *cut = (ha_cut){.dimension = d, .index = b->first[d] + ha_box_extent(b, d) / 2};
    return 0;
}

HA_IN_ void ha_stride_pattern_level(ha_stride_pattern *p, int64_t count, int64_t step,
                                    int dimension) {
    if (count == 1) return;
    p->count[p->levels] = count;
    p->step[p->levels] = step;
    p->dimension[p->levels++] = dimension;
}

/* Whether the linear indices of a box follow each other; *order: the dimensions with more than one
 * value, the fastest first, as digits from 1; 0: there is none. */
HA_IN_ int ha_is_linear(const ha_linearizer *z, const ha_field_box *b, int *order) {
    int64_t width = 1;
    *order = 0;
    for (int k = z->rank - 1; k >= 0; k--) {
        const int d = z->dimension[k];
        if (ha_box_extent(b, d) == 1) continue;
        if (z->stride[d] != width) return 0;
        *order = *order * 8 + d + 1;
        width *= ha_box_extent(b, d);
    }
    return 1;
}

/* A box that begins or ends within a block of lanes is cut between blocks: where its only index, or else its
 * slowest one, goes on to another block; in halves where that does not begin a block. */
HA_IN_ int ha_cut_at_blocks(const ha_row *row, const ha_linearizer *z, const ha_field_box *b,
                            int order, const ha_stride_pattern *p, ha_cut *cut) {
    const int64_t lanes = row->lanes, head = p->linear % lanes;
    const int d = order % 8 - 1;
    const int64_t n = ha_box_extent(b, d), step = z->stride[d];
    for (int64_t k = 1; k <= lanes && k < n; k++) {
        const int64_t at = head ? k : n - k; /* as large a part as can be of whole blocks */
        if ((p->linear + at * step) % lanes) continue;
        *cut = (ha_cut){d, b->first[d] + at, !head};
        return 0;
    }
    return ha_cut_in_halves(z, b, cut);
}

/* A box over several blocks of lanes: whole blocks, or it is cut. What is behind the last record in the
 * last block is nobody's, but in memory of the caller's. */
HA_IN_ int ha_stride_pattern_blocks(const ha_row *row, const ha_linearizer *z,
                                    const ha_field_box *b, int64_t end, ha_stride_pattern *p,
                                    ha_cut *cut) {
    const int fills = end == z->count && row->section >= 0;
    if (!ha_is_linear(z, b, &p->order)) return ha_cut_in_halves(z, b, cut);
    if (p->linear % row->lanes || (end % row->lanes && !fills))
        return ha_cut_at_blocks(row, z, b, p->order, p, cut);
    p->blocks = 1;
    ha_stride_pattern_level(p, row->lanes, row->lane_stride, -1);
    ha_stride_pattern_level(p, (end - p->linear + row->lanes - 1) / row->lanes, row->block_stride,
                            -1);
    return 1;
}

/* Values that lie nowhere in particular: only one record has a stride pattern. */
HA_IN_ int ha_stride_pattern_single(const ha_mapped *m, const ha_row *row, const ha_field_box *b,
                                    ha_stride_pattern *p, ha_cut *cut) {
    int d = 0;
    p->levels = p->blocks = 0;
    p->at = (char *)m->blob[row->blob] + ha_row_at(m->mapping, row, b->first);
    while (d < HA_MAPPING_RANK && ha_box_extent(b, d) == 1) d++;
    if (d == HA_MAPPING_RANK) return 1;
    *cut = (ha_cut){.dimension = d, .index = b->first[d] + ha_box_extent(b, d) / 2};
    return 0;
}

/* 0: there is none, *cut says where to cut the box. */
HA_IN_ int ha_stride_pattern_of(const ha_mapped *m, const ha_row *row, const ha_field_box *b,
                                ha_stride_pattern *p, ha_cut *cut) {
    if (row->linearizer < 0 || m->mapping->linearizer[row->linearizer].morton)
        return ha_stride_pattern_single(m, row, b, p, cut);
    const ha_linearizer *z = &m->mapping->linearizer[row->linearizer];
    int64_t last[HA_MAPPING_RANK];
    for (int d = 0; d < HA_MAPPING_RANK; d++) last[d] = b->last[d] - 1;
    p->levels = p->blocks = 0;
    p->linear = ha_linear(z, b->first);
    p->at = (char *)m->blob[row->blob] + ha_row_offset(row, p->linear);
    const int64_t end = ha_linear(z, last) + 1;
    if (row->lanes > 1 && p->linear / row->lanes != (end - 1) / row->lanes)
        return ha_stride_pattern_blocks(row, z, b, end, p, cut);
    const int64_t step = row->lanes > 1 ? row->lane_stride : row->block_stride;
    for (int k = z->rank - 1; k >= 0; k--) {
        const int d = z->dimension[k];
        ha_stride_pattern_level(p, ha_box_extent(b, d), z->stride[d] * step, d);
    }
    return 1;
}

/* The bytes of a group in a box, as one piece. 0: others are between them, *cut says where to cut the box. */
HA_IN_ int ha_image_pattern_of(const ha_records_state *state, const ha_shared_bytes *shared,
                               const ha_mapped *m, const ha_field_box *b, ha_column *s,
                               ha_cut *cut) {
    const ha_leaf_group *g = &shared->group[s->leaf];
    int d;
    if (!ha_shared_box_is_dense(m->mapping, g, b, &d)) {
        *cut = (ha_cut){.dimension = d, .index = b->first[d] + ha_box_extent(b, d) / 2};
        return 0;
    }
    const ha_bit_span span = ha_leaf_group_span(state, m->mapping, g, b);
    s->pattern.levels = s->pattern.blocks = 0;
    s->pattern.linear = span.first / 8; /* in the blob */
    s->pattern.at = (char *)m->blob[s->here->blob] + span.first / 8;
    s->bytes = (size_t)((span.end + 7) / 8 - span.first / 8);
    return 1;
}

/* Whether two stride patterns have the same levels, and on each the same records. */
HA_IN_ int ha_stride_patterns_alike(const ha_stride_pattern *x, const ha_stride_pattern *y) {
    if (x->levels != y->levels || x->blocks != y->blocks) return 0;
    if (x->blocks && x->order != y->order) return 0;
    for (int k = 0; k < x->levels; k++)
        if (x->count[k] != y->count[k] || x->dimension[k] != y->dimension[k]) return 0;
    return 1;
}

/* ---- columns -------------------------------------------------------------------------------- */

/* How many columns the leaves [leaf, end) have. */
HA_IN_ int64_t ha_column_count(const ha_mapping *m, int64_t leaf, int64_t end) {
    int64_t n = 0;
    for (; leaf < end; leaf++) {
        const ha_coding *c = ha_row_coding(m, &m->row[leaf]);
        n += c && c->bytes ? c->bytes : 1;
    }
    return n;
}

/* Whether both mappings store a leaf as the same bytes. */
HA_IN_ int ha_stored_alike(const ha_coding *x, const ha_coding *y, ha_dtype own) {
    const ha_dtype stored = x ? x->stored : own, other = y ? y->stored : own;
    const int swapped = x && x->swapped, other_swapped = y && y->swapped;
    if ((x && x->bits) || (y && y->bits)) return 0;
    return stored == other && swapped == other_swapped && (x ? x->bytes : 0) == (y ? y->bytes : 0);
}

/* The columns of a leaf. Their number. shared: what shares bytes here. */
HA_IN_ int64_t ha_columns_of_leaf(const ha_records_state *state, const ha_mapping *here,
                                  const ha_shared_bytes *shared, const ha_mapping *there,
                                  int64_t leaf, ha_column *s) {
    if (shared && shared->group[leaf].end) {
        *s = (ha_column){.leaf = leaf, .byte = -1, .here = &here->row[leaf], .image = 1};
        return 1;
    }
    const ha_coding *c = ha_row_coding(here, &here->row[leaf]);
    const ha_coding *other = ha_row_coding(there, &there->row[leaf]);
    const int64_t bytes = c && c->bytes ? c->bytes : 1;
    const ha_dtype type = state->leaf[leaf].type;
    const int alike = ha_stored_alike(c, other, type);
    for (int64_t b = 0; b < bytes; b++) {
        s[b] = (ha_column){.leaf = leaf, .byte = -1, .here = &here->row[leaf]};
        s[b].bytes = ha_dtype_size(c ? c->stored : type);
        if (alike) s[b].there = &there->row[leaf];
        if (!c || !c->bytes) continue;
        s[b].bytes = 1;
        s[b].byte = c->byte_row + b;
        s[b].here = &here->byte_row[s[b].byte];
        if (alike) s[b].there = &there->byte_row[other->byte_row + b];
    }
    return bytes;
}

HA_IN_ int ha_column_compare(const void *first, const void *second) {
    const uintptr_t x = (uintptr_t)((const ha_column *)first)->pattern.at;
    const uintptr_t y = (uintptr_t)((const ha_column *)second)->pattern.at;
    return (x > y) - (x < y);
}

HA_IN_ int ha_column_compare_other(const void *first, const void *second) {
    const uintptr_t x = (uintptr_t)((const ha_column *)first)->other.at;
    const uintptr_t y = (uintptr_t)((const ha_column *)second)->other.at;
    return (x > y) - (x < y);
}

/* Sorts columns by where they begin. pair: each knows its place in the other memory. */
HA_IN_ void ha_columns_sort(ha_column *s, int64_t columns, int pair) {
    if (pair) {
        qsort(s, (size_t)columns, sizeof *s, ha_column_compare_other);
        for (int64_t i = 0; i < columns; i++) s[i].place = i;
    }
    qsort(s, (size_t)columns, sizeof *s, ha_column_compare);
}

/* ---- merged copies ---------------------------------------------------------------------------- */

/* The pieces of one column. pair: in both memories, else only here. */
HA_IN_ ha_strided_copy ha_column_copy(const ha_column *s, int pair) {
    const ha_stride_pattern *here = &s->pattern, *there = pair ? &s->other : here;
    ha_strided_copy copy = {.to = here->at, .from = pair ? there->at : NULL, .bytes = s->bytes};
    for (int k = 0; k < here->levels; k++)
        ha_strided_repeat(&copy, (size_t)here->count[k], (size_t)here->step[k],
                          (size_t)there->step[k]);
    return copy;
}

HA_IN_ char *ha_merged_copy_here(const ha_merged_copy *b) { return (char *)b->copy.to; }
HA_IN_ const char *ha_merged_copy_there(const ha_merged_copy *b) {
    return (const char *)b->copy.from;
}

/* Whether the bytes between two columns that follow each other are padding inside the records of an
 * array of structs, from the one's first byte to the other's last so many bytes. When all leaves are
 * in the box, that is nobody's, and may be copied with them. */
HA_IN_ int ha_is_padding(const ha_row *first, const ha_row *row, ptrdiff_t bytes) {
    return row->section >= 0 && row->section == first->section && row->lanes == 1 &&
           bytes <= row->block_stride;
}

/* Whether a gap before a column is padding here and, of a pair, there. */
HA_IN_ int ha_merged_copy_pads(const ha_merged_copy *b, const ha_column *s, ptrdiff_t bytes,
                               int pair) {
    if (!ha_is_padding(b->first->here, s->here, bytes)) return 0;
    return !pair ||
           (s[0].place == s[-1].place + 1 && ha_is_padding(b->first->there, s->there, bytes));
}

/* Whether a copy goes on with a column, which is behind its last one. loose: as below. */
HA_IN_ int ha_merged_copy_takes(const ha_merged_copy *b, const ha_column *s,
                                const ha_strided_copy *copy, int pair, int loose) {
    const ha_strided_copy *all = &b->copy;
    if (s->image) return 1; /* a box with one has no others */
    const ptrdiff_t size = s->pattern.at - ha_merged_copy_here(b),
                    gap = size - (ptrdiff_t)all->bytes;
    if (all->levels != copy->levels || gap < 0) return 0;
    for (int k = 0; k < copy->levels; k++)
        if (all->count[k] != copy->count[k] || all->to_step[k] != copy->to_step[k] ||
            all->from_step[k] != copy->from_step[k])
            return 0;
    if (s->here->blob != b->first->here->blob) return 0;
    if (pair &&
        (s->other.at - ha_merged_copy_there(b) != size || s->there->blob != b->first->there->blob))
        return 0;
    if (!gap) return 1;
    return loose && copy->bytes == s->bytes &&
           ha_merged_copy_pads(b, s, size + (ptrdiff_t)s->bytes, pair);
}

/* Whether a row is of an array of structs of so many bytes, and where in it. */
HA_IN_ int ha_is_in_struct(const ha_row *row, size_t bytes, int64_t offset) {
    return row->section >= 0 && row->lanes == 1 && (size_t)row->block_stride == bytes &&
           row->offset == offset;
}

/* Whole records with the padding at their ends. */
HA_IN_ void ha_merged_copy_round(ha_merged_copy *b, const ha_column *first, int pair) {
    ha_strided_copy *copy = &b->copy;
    const int64_t offset = first->here->offset;
    const size_t record = copy->levels ? copy->to_step[0] : 0;
    if (!record || !ha_is_in_struct(first->here, record, offset)) return;
    if (pair && (copy->from_step[0] != record || !ha_is_in_struct(first->there, record, offset)))
        return;
    copy->to = ha_merged_copy_here(b) - offset;
    if (pair) copy->from = ha_merged_copy_there(b) - offset;
    copy->bytes = record;
}

/* Merges the copies of columns, which are sorted by their address. loose: all leaves of the record are
 * there, and padding between them is nobody's. Gives how many copies are left. */
HA_IN_ int64_t ha_merged_copies_make(ha_column *s, int64_t columns, int pair, int loose,
                                     ha_merged_copy *b) {
    int64_t n = 0;
    for (int64_t i = 0; i < columns; i++) {
        const ha_strided_copy copy = ha_column_copy(&s[i], pair);
        if (n && ha_merged_copy_takes(&b[n - 1], &s[i], &copy, pair, loose))
            b[n - 1].copy.bytes = (size_t)(s[i].pattern.at - ha_merged_copy_here(&b[n - 1])) +
                                  copy.bytes;
        else
            b[n++] = (ha_merged_copy){.copy = copy, .first = &s[i]};
        s[i].merged_copy = n - 1;
    }
    if (loose && n == 1) ha_merged_copy_round(&b[0], &s[0], pair);
    for (int64_t i = 0; i < n; i++) b[i].copy = ha_strided_fold(&b[i].copy); /* longer pieces */
    return n;
}

/* Places merged copies one behind the other in a chunk; gives how many bytes that takes. */
HA_IN_ size_t ha_merged_copies_pack(ha_merged_copy *b, int64_t n) {
    size_t end = 0;
    for (int64_t i = 0; i < n; i++) {
        const size_t bytes = ha_strided_total(&b[i].copy);
        ha_strided_pack(&b[i].copy, b[i].copy.from_step);
        b[i].packed = end;
        end += (bytes + HA_BLOB_ALIGNMENT - 1) / HA_BLOB_ALIGNMENT * HA_BLOB_ALIGNMENT;
    }
    return end;
}

HA_IN_ int64_t ha_distance(int64_t step) { return step < 0 ? -step : step; }

/* What is `step` bytes away here is so far away in the chunk. Steps may be negative. */
HA_IN_ int64_t ha_packed_step(const ha_strided_copy *copy, int64_t step) {
    int k = copy->levels - 1;
    if (k < 0 || (step >= 0 && step < (int64_t)copy->bytes)) return step;
    while (k > 0 && ha_distance((int64_t)copy->to_step[k]) > ha_distance(step)) k--;
    return step / (int64_t)copy->to_step[k] * (int64_t)copy->from_step[k];
}

/* ---- what copies cost ------------------------------------------------------------------------ */

/* An estimate in nanoseconds, to choose between copying pieces and converting on the host: of a
 * call of a queue, of a piece in it, and of converting 1024 bytes. Of the order of what a driver
 * and one core take; what matters is that pieces of single values lose, and long ones win. */
enum { HA_CALL_NS = 2000, HA_PIECE_NS = 40, HA_CONVERT_NS = 250 };

HA_IN_ uint64_t ha_merged_copies_cost(const ha_merged_copy *b, int64_t n, const ha_context *queue) {
    const int at_once = HA_HAS_(queue->ops, ha_queue_ops, copy_strided) ? 2
                                                                        : 0; /* planes of rows */
    uint64_t ns = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t calls = 1, pieces = 1;
        const int levels = ha_strided_is_backwards(&b[i].copy) ? 0 : at_once;
        for (int k = 0; k < b[i].copy.levels; k++) {
            pieces *= b[i].copy.count[k];
            if (k >= levels) calls *= b[i].copy.count[k];
        }
        ns += calls * HA_CALL_NS + pieces * HA_PIECE_NS;
    }
    return ns;
}

#endif
