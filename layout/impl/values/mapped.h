/* Values of records in memory, one at a time and in runs. */
#ifndef HARRAY_LAYOUT_IMPL_VALUES_MAPPED_H
#define HARRAY_LAYOUT_IMPL_VALUES_MAPPED_H

#include "bit_values.h"
#include "../../mapped.h"

/* Are the blobs there in which the row's values are? */
HA_IN_ int ha_has_blobs(const ha_mapped *records, const ha_row *row) {
    const ha_mapping *m = records->mapping;
    const ha_coding *coding = ha_row_coding(m, row);
    if (row->blob >= 0 && !records->blob[row->blob]) return 0;
    for (int64_t b = 0; coding && b < coding->bytes; b++) {
        const int32_t blob = m->byte_row[coding->byte_row + b].blob;
        if (blob >= 0 && !records->blob[blob]) return 0;
    }
    return 1;
}

/* Are there records to be looked at? `which` they are, is for the message. */
HA_IN_ ha_status ha_check_mapped(const ha_asked *asked, const ha_mapped *records,
                                 const char *which) {
    if (!records || !records->mapping)
        return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "%s is NULL", which);
    if (!records->blob && records->mapping->blobs > 0)
        return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "%s has no table of blobs", which);
    return HA_OK;
}

/* A row's values along one dimension, from some index on. */
typedef struct ha_along {
    const ha_mapping *mapping;
    const ha_row *row;
    unsigned char *blob;
    int64_t index[HA_MAPPING_RANK];
    int dimension;
} ha_along;

HA_IN_ ha_along ha_along_of(const ha_mapped *records, const ha_row *row, const int64_t *index,
                            int dimension) {
    const ha_mapping *m = records->mapping;
    ha_along a = {.mapping = m, .row = row, .dimension = dimension};
    a.blob = row->blob < 0 ? NULL : (unsigned char *)records->blob[row->blob];
    for (int d = 0; d < m->rank; d++) a.index[d] = index[d];
    return a;
}

/* The next values that are at equal distances: where the first is, how far it is from one to the next,
 * and how many, at most n. Goes on behind them. */
HA_IN_ int64_t ha_along_next(ha_along *a, int64_t n, int64_t *at, int64_t *step) {
    const ha_row *row = a->row;
    const ha_linearizer *l;
    int64_t linear, by;
    const int64_t lanes = row->lanes;
    *step = 0;
    if (row->linearizer < 0) { /* of a tree */
        *at = ha_row_at(a->mapping, row, a->index);
        a->index[a->dimension]++;
        return 1;
    }
    l = &a->mapping->linearizer[row->linearizer];
    linear = ha_linear(l, a->index);
    by = l->morton == 0 ? l->stride[a->dimension] : 0;
    *at = ha_row_offset(row, linear);
    if (l->morton != 0) {
        n = 1;
    } else if (lanes == 1 ||
               (row->block_stride % lanes == 0 && row->block_stride / lanes == row->lane_stride)) {
        *step = by * (lanes == 1 ? row->block_stride : row->lane_stride);
    } else if (by % lanes == 0) {
        *step = by / lanes * row->block_stride;
    } else if (by == 1) {
        *step = row->lane_stride;
        n = ha_smaller(n, lanes - linear % lanes);
    } else {
        n = 1;
    }
    a->index[a->dimension] += n;
    return n;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Values of this size, from one distance to another. */
HA_IN_ void ha_move_strided(char *to, int64_t to_step, const char *from, int64_t from_step,
                            int64_t size, int64_t n) {
#define HA_MOVE_OF_(bytes)                                                                         \
    for (int64_t k = 0; k < n; k++) memcpy(to + k * to_step, from + k * from_step, bytes)
    if (to_step == size && from_step == size)
        memcpy(to, from, (size_t)(n * size));
    else if (size == 1)
        HA_MOVE_OF_(1);
    else if (size == 2)
        HA_MOVE_OF_(2);
    else if (size == 4)
        HA_MOVE_OF_(4);
    else if (size == 8)
        HA_MOVE_OF_(8);
    else
        HA_MOVE_OF_(16);
#undef HA_MOVE_OF_
}

/* n values of this size from memory to a list, in which they are `every` bytes apart; goes on. */
HA_IN_ void ha_fetch_raw(ha_along *a, int64_t size, char *values, int64_t every, int64_t n) {
    for (int64_t at, step, here; n > 0; n -= here, values += here * every) {
        here = ha_along_next(a, n, &at, &step);
        ha_move_strided(values, every, (const char *)a->blob + at, step, size, here);
    }
}

HA_IN_ void ha_keep_raw(ha_along *a, int64_t size, const char *values, int64_t every, int64_t n) {
    for (int64_t at, step, here; n > 0; n -= here, values += here * every) {
        here = ha_along_next(a, n, &at, &step);
        ha_move_strided((char *)a->blob + at, step, values, every, size, here);
    }
}

/* ---- what is stored -------------------------------------------------------------------------- */

/* Has it values of a byte, of which so few bits are stored that eight fit into a word? */
HA_IN_ int ha_is_small(const ha_coding *c, int64_t step) {
    return ha_dtype_size(c->stored) == 1 && c->bits <= 7 && step == c->bits &&
           (c->stored != HA_DTYPE_bool || c->bits == 1);
}

/* Up to HA_PORTION values of bits: from memory, and to memory. */
HA_IN_ void ha_fetch_bits(const ha_coding *c, ha_along *a, char *stored, int64_t n) {
    const int64_t size = (int64_t)ha_dtype_size(c->stored);
    uint64_t code[HA_PORTION];
    for (int64_t at, step, here; n > 0; n -= here, stored += here * size) {
        int64_t done = 0;
        here = ha_along_next(a, n, &at, &step);
        ha_bit_run run = {at, step, c->bits};
        if (ha_is_small(c, step))
            done = ha_bits_read_small(a->blob, run, c->stored == HA_DTYPE_int8_t, stored, here);
        run.at += done * step;
        if (done == here) continue;
        ha_bits_read(a->blob, run, code, here - done);
        ha_values_of_bits(stored + done * size, code, c, here - done);
    }
}

HA_IN_ void ha_keep_bits(const ha_coding *c, ha_along *a, const char *stored, int64_t n) {
    const int64_t size = (int64_t)ha_dtype_size(c->stored);
    uint64_t code[HA_PORTION];
    for (int64_t at, step, here; n > 0; n -= here, stored += here * size) {
        int64_t done = 0;
        here = ha_along_next(a, n, &at, &step);
        ha_bit_run run = {at, step, c->bits};
        if (ha_is_small(c, step))
            done = ha_bits_write_small(a->blob, run, c->stored == HA_DTYPE_int8_t, stored, here);
        run.at += done * step;
        if (done == here) continue;
        ha_values_to_bits(code, stored + done * size, c, here - done);
        ha_bits_write(a->blob, run, code, here - done);
    }
}

/* The same of values as they are stored, whatever that is. */
HA_IN_ void ha_fetch_stored(const ha_mapped *records, const ha_coding *c, ha_along *a, void *stored,
                            int64_t n) {
    const int64_t size = (int64_t)ha_dtype_size(c->stored);
    for (int64_t b = 0; b < c->bytes; b++) {
        const ha_row *row = &a->mapping->byte_row[c->byte_row + b];
        ha_along byte = ha_along_of(records, row, a->index, a->dimension);
        ha_fetch_raw(&byte, 1, (char *)stored + b, size, n);
    }
    if (c->bits > 0)
        ha_fetch_bits(c, a, (char *)stored, n);
    else if (c->bytes == 0)
        ha_fetch_raw(a, size, (char *)stored, size, n);
    else
        a->index[a->dimension] += n;
    if (c->swapped) ha_swap_values(stored, c->stored, n);
}

HA_IN_ void ha_keep_stored(const ha_mapped *records, const ha_coding *c, ha_along *a, void *stored,
                           int64_t n) {
    const int64_t size = (int64_t)ha_dtype_size(c->stored);
    if (c->swapped) ha_swap_values(stored, c->stored, n);
    for (int64_t b = 0; b < c->bytes; b++) {
        const ha_row *row = &a->mapping->byte_row[c->byte_row + b];
        ha_along byte = ha_along_of(records, row, a->index, a->dimension);
        ha_keep_raw(&byte, 1, (const char *)stored + b, size, n);
    }
    if (c->bits > 0)
        ha_keep_bits(c, a, (const char *)stored, n);
    else if (c->bytes == 0)
        ha_keep_raw(a, size, (const char *)stored, size, n);
    else
        a->index[a->dimension] += n;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The type of a leaf's values. Tables that were written by hand need not say it in the row. */
HA_IN_ ha_dtype ha_mapped_type(const ha_mapping *m, int64_t leaf) {
    ha_leaf described = {.type = HA_DTYPE_NONE};
    if (m->row[leaf].type != HA_DTYPE_NONE) return (ha_dtype)m->row[leaf].type;
    (void)!ha_record_leaf(m->record, leaf, &described);
    return described.type;
}

/* What ha_mapped_get_run and ha_mapped_set_run do, without anything being counted. */
HA_IN_ void ha_fetch_run(const ha_mapped *records, int64_t leaf, const int64_t *index,
                         int dimension, int64_t count, void *values) {
    const ha_mapping *m = records->mapping;
    const ha_row *row = &m->row[leaf];
    const ha_coding *c = ha_row_coding(m, row);
    const ha_dtype type = ha_mapped_type(m, leaf);
    const int64_t size = (int64_t)ha_dtype_size(type);
    ha_along a = ha_along_of(records, row, index, dimension);
    uint64_t stored[2 * HA_PORTION];
    if (row->blob < 0) {
        memset(values, 0, (size_t)(count * size));
    } else if (!c) {
        ha_fetch_raw(&a, size, (char *)values, size, count);
    } else {
        for (int64_t k = 0, n; k < count; k += n) {
            void *to = (char *)values + k * size;
            n = ha_smaller(count - k, HA_PORTION);
            ha_fetch_stored(records, c, &a, c->stored == type ? to : stored, n);
            if (c->stored != type) ha_change_values(to, type, stored, c->stored, n);
        }
    }
}

HA_IN_ void ha_keep_run(const ha_mapped *records, int64_t leaf, const int64_t *index, int dimension,
                        int64_t count, const void *values) {
    const ha_mapping *m = records->mapping;
    const ha_row *row = &m->row[leaf];
    const ha_coding *c = ha_row_coding(m, row);
    const ha_dtype type = ha_mapped_type(m, leaf);
    const int64_t size = (int64_t)ha_dtype_size(type);
    ha_along a = ha_along_of(records, row, index, dimension);
    uint64_t stored[2 * HA_PORTION];
    if (row->blob < 0) return;
    if (!c) {
        ha_keep_raw(&a, size, (const char *)values, size, count);
        return;
    }
    for (int64_t k = 0, n; k < count; k += n) {
        n = ha_smaller(count - k, HA_PORTION);
        ha_change_values(stored, c->stored, (const char *)values + k * size, type, n);
        ha_keep_stored(records, c, &a, stored, n);
    }
}

HA_API void ha_mapped_get(const ha_mapped *records, int64_t leaf, const int64_t *index,
                          void *value) {
    ha_count_run(records->mapping, leaf, index, 0, 1, HA_READ_);
    ha_fetch_run(records, leaf, index, 0, 1, value);
}

HA_API void ha_mapped_set(const ha_mapped *records, int64_t leaf, const int64_t *index,
                          const void *value) {
    ha_count_run(records->mapping, leaf, index, 0, 1, HA_WRITE_);
    ha_keep_run(records, leaf, index, 0, 1, value);
}

HA_API void ha_mapped_get_run(const ha_mapped *records, int64_t leaf, const int64_t *index,
                              int dimension, int64_t count, void *values) {
    ha_count_run(records->mapping, leaf, index, dimension, count, HA_READ_);
    ha_fetch_run(records, leaf, index, dimension, count, values);
}

HA_API void ha_mapped_set_run(const ha_mapped *records, int64_t leaf, const int64_t *index,
                              int dimension, int64_t count, const void *values) {
    ha_count_run(records->mapping, leaf, index, dimension, count, HA_WRITE_);
    ha_keep_run(records, leaf, index, dimension, count, values);
}

#endif
