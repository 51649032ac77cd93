/* How a box of a record array is moved: in which parts, and each part by which method, namely the
 * one that is estimated to be the fastest. */
#ifndef HARRAY_IMPL_RECORDS_METHOD_H
#define HARRAY_IMPL_RECORDS_METHOD_H

#include "chunk_mapping.h"
#include "device_scatter.h"

/* Parts of this size stay in a cache between conversion and copy. */
#ifndef HA_RECORDS_PART_BYTES_
#define HA_RECORDS_PART_BYTES_ (2 << 20) /* at most a chunk */
#endif
enum { HA_TRANSFER_PENDING = 192 }; /* a box is cut in halves 63 times at most */

/* How a part is moved. */
typedef enum ha_method {
    HA_BY_QUEUE,   /* copied by the queue */
    HA_BY_SCATTER, /* and put into place by the device */
    HA_BY_HOST     /* by the host */
} ha_method;

typedef struct ha_records_transfer {
    ha_array *array;
    ha_incarnation *from, *to;
    ha_context *context;
    ha_set *brought;
    ha_attempt *attempt;
    int here_is_to; /* `here`, whose layout says what the pieces are, is the target */
    int converts;   /* the layouts may differ */
    int via_host;   /* `there` is another device: what the host would convert goes through it */
    ha_mapped here, there;
    const ha_shared_bytes *shared; /* here */
    ha_range asked;                /* of what is moved here only this counts as moved; empty: all */
    ha_column *column;
    int64_t columns;
    ha_merged_copy *merged_copy;
    int64_t merged_copies;
    size_t bytes;     /* in a chunk */
    ha_method method; /* HA_BY_QUEUE: merged in both memories */
    ha_device_scatter scatter;
    int scatter_asked; /* whether the device can that */
    ha_staged_tables chunk, host;
    ha_field_box pending[HA_TRANSFER_PENDING];
    int n;
} ha_records_transfer;

/* ---- parts ----------------------------------------------------------------------------------- */

/* Whether both memories have as many lanes, and only the last block there, which is not full, is in the
 * way: the others are moved by themselves. */
HA_IN_ int ha_column_ends_in_block(const ha_column *s, const ha_cut *there) {
    return s->pattern.blocks && s->here->lanes == s->there->lanes && there->behind_blocks;
}

/* The columns of a box, with their stride patterns. 0: cut the box. *pair: they are alike in both
 * memories. */
HA_IN_ int ha_records_transfer_patterns(ha_records_transfer *c, const ha_field_box *b, int *pair,
                                        ha_cut *cut) {
    ha_cut other;
    const ha_records_state *state = ha_records_state_of(c->array);
    c->columns = 0;
    *pair = 1;
    for (int64_t leaf = b->leaf; leaf < b->end; leaf++)
        c->columns += ha_columns_of_leaf(state, c->here.mapping, c->shared, c->there.mapping, leaf,
                                         &c->column[c->columns]);
    for (int64_t i = 0; i < c->columns; i++) {
        ha_column *s = &c->column[i];
        if (s->image ? !ha_image_pattern_of(state, c->shared, &c->here, b, s, cut)
                     : !ha_stride_pattern_of(&c->here, s->here, b, &s->pattern, cut))
            return 0;
        if (!*pair || !(*pair = s->there != NULL)) continue;
        if (ha_stride_pattern_of(&c->there, s->there, b, &s->other, &other))
            *pair = ha_stride_patterns_alike(&s->pattern, &s->other);
        else if (ha_column_ends_in_block(s, &other)) {
            *cut = other;
            return 0;
        } else
            *pair = 0;
    }
    ha_columns_sort(c->column, c->columns, *pair);
    return 1;
}

/* A part that is small enough: across the slowest index, where blocks of lanes begin. */
HA_IN_ int ha_records_transfer_is_small(const ha_records_transfer *c, const ha_field_box *b,
                                        ha_cut *cut) {
    int k = 0;
    if (c->bytes <= HA_RECORDS_PART_BYTES_ || ha_field_box_records(b) == 1) return 1;
    const ha_linearizer *z = &c->here.mapping->linearizer[c->column[0].here->linearizer];
    while (ha_box_extent(b, z->dimension[k]) == 1) k++;
    const int d = z->dimension[k];
    const int64_t each = (int64_t)c->bytes / ha_box_extent(b, d) + 1;
    int64_t index = b->first[d] + HA_RECORDS_PART_BYTES_ / each;
    const int64_t unit = c->column[0].image ? c->shared->unit[d] : 1;
    if (index / 64 * 64 > b->first[d]) index = index / 64 * 64;
    index = index / unit * unit;
    if (index <= b->first[d]) index = b->first[d] / unit * unit + unit;
    if (index >= b->last[d]) return 1; /* a block of records is not cut */
    *cut = (ha_cut){.dimension = d,
                    .index = index}; /* before the last one: all of them are more than a part */
    return 0;
}

/* What it costs when the device puts values into place, which it is asked about the first time. */
HA_IN_ uint64_t ha_records_transfer_scatter_cost(ha_records_transfer *c, const ha_field_box *b,
                                                 uint64_t values, int loose) {
    const ha_records_state *state = ha_records_state_of(c->array);
    if (!c->scatter_asked && !c->attempt->no_scatter)
        ha_device_scatter_make(&c->scatter, (c->here_is_to ? c->to : c->from)->memory,
                               ha_column_count(c->here.mapping, 0, state->leaves));
    c->scatter_asked = 1;
    return ha_device_scatter_shape(&c->scatter, c->column, c->columns, &c->there, c->here.mapping,
                                   b, values, loose);
}

/* To or from a chunk that the host converts. */
HA_IN_ void ha_records_transfer_stage(ha_records_transfer *c, int loose) {
    c->merged_copies = ha_merged_copies_make(c->column, c->columns, 0, loose, c->merged_copy);
    c->bytes = ha_merged_copies_pack(c->merged_copy, c->merged_copies);
    c->method = HA_BY_HOST;
}

/* Whichever method is the cheapest. plain: what it costs to copy the pieces; UINT64_MAX: it cannot be. */
HA_IN_ void ha_records_transfer_choose(ha_records_transfer *c, const ha_field_box *b,
                                       const ha_context *queue, uint64_t plain, int loose) {
    const uint64_t values = (uint64_t)ha_field_box_bytes(ha_records_state_of(c->array), b);
    ha_records_transfer_stage(c, loose);
    uint64_t least = ha_merged_copies_cost(c->merged_copy, c->merged_copies, queue) +
                     values / 1024 * HA_CONVERT_NS;
    if (c->via_host) least *= 3; /* once more, and by one link more */
    if (plain <= least) {
        c->method = HA_BY_QUEUE;
        least = plain;
    }
    if (least <= 2 * (uint64_t)HA_CALL_NS) return;
    if (ha_records_transfer_scatter_cost(c, b, values, loose) >= least) return;
    c->method = HA_BY_SCATTER;
    c->bytes = c->scatter.bytes;
}

/* Whether padding is copied with a box, where there is any. */
HA_IN_ int ha_records_transfer_is_loose(const ha_records_transfer *c, const ha_field_box *b) {
    return b->leaf == 0 && b->end == ha_records_state_of(c->array)->leaves;
}

/* Decides how a box is moved. 0: cut it first. */
HA_IN_ int ha_records_transfer_shape(ha_records_transfer *c, const ha_field_box *b, ha_cut *cut) {
    const ha_context *queue = c->context;
    const int loose = ha_records_transfer_is_loose(c, b);
    uint64_t plain = UINT64_MAX;
    int pair;
    if (!ha_records_transfer_patterns(c, b, &pair, cut)) return 0;
    if (!queue->ops || queue->memory == &ha_host_memory)
        queue = ha_memory_context(c->from->memory); /* to a device it is always of that */
    c->method = HA_BY_QUEUE;
    if (pair) {
        c->merged_copies = ha_merged_copies_make(c->column, c->columns, 1, loose, c->merged_copy);
        if (!c->converts) return 1;
        plain = ha_merged_copies_cost(c->merged_copy, c->merged_copies, queue);
        if (plain <= 2 * (uint64_t)HA_CALL_NS) return 1;
    }
    ha_records_transfer_choose(c, b, queue, plain, loose);
    if (c->method != HA_BY_QUEUE) return ha_records_transfer_is_small(c, b, cut);
    c->merged_copies = ha_merged_copies_make(c->column, c->columns, 1, loose, c->merged_copy);
    return 1;
}

HA_IN_ int ha_is_in_flight(const struct ha_in_flight *at, const ha_records_transfer *c,
                           ha_range r) {
    return at->chunk && at->from == c->from && at->range.first == r.first &&
           at->range.last == r.last;
}

/* The place of a part that is on its way; r NULL: one that is free. NULL: there is none. */
HA_IN_ struct ha_in_flight *ha_records_transfer_place(ha_records_transfer *c, const ha_range *r) {
    struct ha_in_flight *at = c->attempt->in_flight;
    for (int i = 0; i < HA_IN_FLIGHT; i++)
        if (r ? ha_is_in_flight(&at[i], c, *r) : !at[i].chunk) return &at[i];
    return NULL;
}

/* A part that is on its way stays one that is converted, whatever else there may be by now. */
HA_IN_ int ha_records_transfer_is_coming(ha_records_transfer *c, const ha_field_box *b) {
    const ha_range r = ha_field_box_range(c->array, b);
    ha_cut unused;
    int pair;
    if (!ha_records_transfer_place(c, &r)) return 0;
    (void)ha_records_transfer_patterns(c, b, &pair, &unused);
    ha_records_transfer_stage(c, ha_records_transfer_is_loose(c, b));
    return 1;
}

/* The next part; 0: there is none. */
HA_IN_ int ha_records_transfer_next(ha_records_transfer *c, ha_field_box *b) {
    ha_cut cut;
    if (!c->n) return 0;
    *b = c->pending[--c->n];
    for (int64_t leaf; (leaf = ha_shared_bytes_cut(c->shared, b)) != 0;) {
        ha_field_box rest = *b;
        rest.leaf = b->end = leaf;
        c->pending[c->n++] = rest;
    }
    if (ha_records_transfer_is_coming(c, b)) return 1;
    while (!ha_records_transfer_shape(c, b, &cut)) {
        ha_field_box rest = *b;
        rest.first[cut.dimension] = b->last[cut.dimension] = cut.index;
        c->pending[c->n++] = rest;
    }
    return 1;
}

#endif
