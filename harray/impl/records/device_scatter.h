/* Values that a device puts into place itself.
 *
 * Where two memories have different layouts, values can travel as they lie in the far one (the
 * host, or another device), into a chunk of the device's memory; from there the device's own copies
 * bring each value to its place, by one call of the queue for all columns. And back the same way.
 * So the host has nothing to convert, where its pieces are long: whole records of an array of
 * structs, or whole fields.
 *
 * Only values that were asked for travel, and padding that is nobody's. */
#ifndef HARRAY_IMPL_RECORDS_DEVICE_SCATTER_H
#define HARRAY_IMPL_RECORDS_DEVICE_SCATTER_H

#include "patterns.h"
#include "../transfer/all.h"

/* An estimate in nanoseconds, as in patterns.h: of 1024 bytes, which a device puts into place. */
enum { HA_SCATTER_NS = 10 };

_Static_assert((int)HA_PATTERN_LEVELS <= (int)HA_SCATTER_LEVELS,
               "a stride pattern is one strided copy");

typedef struct ha_device_scatter {
    ha_context *queue; /* of the device; NULL: it cannot, or there is no chunk */
    ha_column *column; /* as the far memory has them: `here` is there, and the other way round */
    int64_t columns;
    ha_merged_copy *merged_copy; /* of these: what travels; `packed`: where in the chunk */
    int64_t merged_copies;
    ha_strided_copy *copy; /* room for two of each column */
    int64_t records;       /* of the box */
    size_t bytes;          /* of the chunk */
} ha_device_scatter;

/* A queue of a device that does this; NULL: there is none. One that turns out to have failed leaves
 * it to another one. */
HA_IN_ ha_context *ha_device_scatter_queue(const ha_memory *m) {
    for (;;) {
        ha_context *c = ha_memory_queue(m);
        if (!HA_HAS_(c->ops, ha_queue_ops, copy_strided)) return NULL;
        const ha_status s = ha_queue_status(c, c->ops->copy_strided(c->queue, NULL, 0));
        if (s == HA_OK) return c;
        ha_forget_note();
        if (s != HA_ERR_LOST || ha_memory_queue(m) == c) return NULL;
    }
}

/* Room for so many columns; without memory for that the device is not used so. */
HA_IN_ void ha_device_scatter_make(ha_device_scatter *x, const ha_memory *near, int64_t columns) {
    const size_t each = sizeof *x->column + sizeof *x->merged_copy + 2 * sizeof *x->copy;
    x->queue = ha_device_scatter_queue(near);
    if (!x->queue) return;
    x->column = (ha_column *)HARRAY_MALLOC((size_t)columns * each);
    if (!x->column) {
        x->queue = NULL;
        return;
    }
    x->merged_copy = (ha_merged_copy *)(void *)(x->column + columns);
    x->copy = (ha_strided_copy *)(void *)(x->merged_copy + columns);
}

/* ---- what it is -------------------------------------------------------------------------------- */

/* The level of a stride pattern that an index goes along: there is one. */
HA_IN_ int ha_stride_pattern_along(const ha_stride_pattern *p, int dimension) {
    int k = 0;
    while (p->dimension[k] != dimension) k++;
    return k;
}

/* Whether two stride patterns of a box have the same levels, in any order. They have, but for blocks of
 * lanes. */
HA_IN_ int ha_stride_patterns_match(const ha_stride_pattern *x, const ha_stride_pattern *y) {
    return (!x->blocks && !y->blocks) || ha_stride_patterns_alike(x, y);
}

/* Whether the records of a box lie at equal distances, with the indices in the order in which blocks of
 * lanes count them. */
HA_IN_ int ha_stride_pattern_counts_like(const ha_stride_pattern *p, const ha_linearizer *blocks,
                                         const ha_field_box *b) {
    int level = 0;
    if (p->blocks) return 0;
    for (int k = blocks->rank - 1; k >= 0; k--) {
        const int d = blocks->dimension[k];
        if (ha_box_extent(b, d) == 1) continue;
        if (p->dimension[level] != d) return 0;
        if (level && p->step[level] != p->count[level - 1] * p->step[level - 1]) return 0;
        level++;
    }
    return 1;
}

HA_IN_ int ha_stride_pattern_is_backwards(const ha_stride_pattern *p) {
    int backwards = 0;
    for (int k = 0; k < p->levels; k++) backwards |= p->step[k] < 0;
    return backwards;
}

/* Whether strided copies bring a column from one stride pattern to the other one. */
HA_IN_ int ha_column_scatter(const ha_column *s, const ha_mapping *far, const ha_mapping *near,
                             const ha_field_box *b) {
    if (ha_stride_pattern_is_backwards(&s->pattern) || ha_stride_pattern_is_backwards(&s->other))
        return 0;
    if (ha_stride_patterns_match(&s->pattern, &s->other)) return 1;
    if (!s->pattern.blocks)
        return ha_stride_pattern_counts_like(&s->pattern, &near->linearizer[s->there->linearizer],
                                             b);
    return ha_stride_pattern_counts_like(&s->other, &far->linearizer[s->here->linearizer], b);
}

/* The columns of a box, with far and near exchanged. 0: strided copies do not connect them. */
HA_IN_ int ha_device_scatter_columns(ha_device_scatter *x, const ha_column *s, const ha_mapped *far,
                                     const ha_mapping *near, const ha_field_box *b) {
    ha_cut unused;
    for (int64_t i = 0; i < x->columns; i++) {
        ha_column *turned = &x->column[i];
        if (!s[i].there) return 0;
        *turned = s[i];
        turned->here = s[i].there;
        turned->there = s[i].here;
        turned->other = s[i].pattern;
        if (!ha_stride_pattern_of(far, turned->here, b, &turned->pattern, &unused) ||
            !ha_column_scatter(turned, far->mapping, near, b))
            return 0;
    }
    qsort(x->column, (size_t)x->columns, sizeof *x->column, ha_column_compare);
    return 1;
}

HA_IN_ uint64_t ha_merged_copies_bytes(const ha_merged_copy *b, int64_t n) {
    uint64_t bytes = 0;
    for (int64_t i = 0; i < n; i++) bytes += ha_strided_total(&b[i].copy);
    return bytes;
}

/* Looks at a box with these columns in the near memory. Gives what it costs; UINT64_MAX: it cannot
 * be done, or more than a quarter above the `values` bytes of the values would travel. loose: as
 * for merged copies. */
HA_IN_ uint64_t ha_device_scatter_shape(ha_device_scatter *x, const ha_column *s, int64_t columns,
                                        const ha_mapped *far, const ha_mapping *near,
                                        const ha_field_box *b, uint64_t values, int loose) {
    if (!x->queue) return UINT64_MAX;
    x->columns = columns;
    x->records = ha_field_box_records(b);
    if (!ha_device_scatter_columns(x, s, far, near, b)) return UINT64_MAX;
    x->merged_copies = ha_merged_copies_make(x->column, columns, 0, loose, x->merged_copy);
    const uint64_t travels = ha_merged_copies_bytes(x->merged_copy, x->merged_copies);
    if (travels > values + values / 4) return UINT64_MAX;
    x->bytes = ha_merged_copies_pack(x->merged_copy, x->merged_copies);
    return ha_merged_copies_cost(x->merged_copy, x->merged_copies, x->queue) + HA_CALL_NS +
           travels / 1024 * HA_SCATTER_NS;
}

/* ---- the copies -------------------------------------------------------------------------------- */

/* One side of them; distances in bytes. */
typedef struct ha_device_scatter_side {
    char *at;
    int64_t step[HA_SCATTER_LEVELS];
    int64_t behind; /* from the first value to the first one behind the full blocks */
} ha_device_scatter_side;

/* In the order of another one. lanes: 0, or values are counted in blocks of so many, of which
 * `full` are full. */
HA_IN_ ha_device_scatter_side ha_device_scatter_side_of(const ha_stride_pattern *p,
                                                        const ha_stride_pattern *order,
                                                        int64_t lanes, int64_t full) {
    ha_device_scatter_side side = {.at = p->at};
    for (int k = 0; k < p->levels; k++) {
        const int along = p->blocks || lanes ? k : ha_stride_pattern_along(p, order->dimension[k]);
        side.step[k] = p->step[along];
    }
    if (lanes && !p->blocks) side.step[1] = lanes * p->step[0];
    side.behind = full * side.step[1];
    return side;
}

/* The same in a chunk. */
HA_IN_ void ha_device_scatter_pack(ha_device_scatter_side *side, const ha_merged_copy *b,
                                   char *chunk) {
    side->at = chunk + b->packed + (side->at - ha_merged_copy_here(b));
    side->behind = ha_packed_step(&b->copy, side->behind);
    for (int k = 0; k < HA_SCATTER_LEVELS; k++)
        side->step[k] = ha_packed_step(&b->copy, side->step[k]);
}

/* count: of levels. */
HA_IN_ ha_strided_copy ha_device_scatter_copy(size_t bytes, const ha_device_scatter_side *to,
                                              const ha_device_scatter_side *from, int levels,
                                              const int64_t *count) {
    ha_strided_copy s = {.to = to->at, .from = from->at, .bytes = bytes, .levels = levels};
    for (int k = 0; k < levels; k++) {
        s.count[k] = (size_t)count[k];
        s.to_step[k] = (size_t)to->step[k];
        s.from_step[k] = (size_t)from->step[k];
    }
    return s;
}

/* The copies of a column, from the chunk to its place (out: back); how many. */
HA_IN_ int64_t ha_device_scatter_column(const ha_device_scatter *x, const ha_column *s, char *chunk,
                                        int out, ha_strided_copy *copy) {
    const ha_stride_pattern *far = &s->pattern, *near = &s->other;
    const ha_stride_pattern *blocks = ha_stride_patterns_match(far, near) ? NULL
                                      : far->blocks                       ? far
                                                                          : near;
    const int64_t lanes = blocks ? blocks->count[0] : 0, full = blocks ? x->records / lanes : 0;
    const int64_t count[2] = {lanes, full}, tail = blocks ? x->records % lanes : 0;
    ha_device_scatter_side staged = ha_device_scatter_side_of(far, near, lanes, full);
    ha_device_scatter_side placed = ha_device_scatter_side_of(near, near, lanes, full);
    const ha_device_scatter_side *to = out ? &staged : &placed, *from = out ? &placed : &staged;
    int64_t n = 0;
    ha_device_scatter_pack(&staged, &x->merged_copy[s->merged_copy], chunk);
    if (!blocks) {
        copy[n++] = ha_device_scatter_copy(s->bytes, to, from, near->levels, near->count);
        return n;
    }
    copy[n++] = ha_device_scatter_copy(s->bytes, to, from, 2, count);
    staged.at += staged.behind;
    placed.at += placed.behind;
    if (tail) copy[n++] = ha_device_scatter_copy(s->bytes, to, from, 1, &tail);
    return n;
}

/* Enqueues them all. */
HA_IN_ ha_status ha_device_scatter_enqueue(ha_device_scatter *x, ha_context *queue, char *chunk,
                                           int out) {
    int64_t n = 0;
    for (int64_t i = 0; i < x->columns; i++)
        n += ha_device_scatter_column(x, &x->column[i], chunk, out, &x->copy[n]);
    return ha_queue_status(queue, queue->ops->copy_strided(queue->queue, x->copy, (size_t)n));
}

#endif
