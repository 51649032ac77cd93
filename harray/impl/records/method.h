/* How a box of a record array is to be moved: in which parts, and each in which way, the one that is estimated
 * to be the fastest. */
#ifndef HARRAY_IMPL_RECORDS_METHOD_H
#define HARRAY_IMPL_RECORDS_METHOD_H

#include "chunk_mapping.h"
#include "device_scatter.h"

/* Parts of this size stay in a cache between conversion and copy. */
#ifndef HA_RECORDS_PART_BYTES
#define HA_RECORDS_PART_BYTES (2 << 20) /* at most a chunk */
#endif
enum { HA_CARRY_PENDING = 192 }; /* a box is cut in halves 63 times at most */

/* How a part is moved. */
typedef enum ha_way {
    HA_WAY_PIECES,  /* copied by the queue */
    HA_WAY_SPREAD,  /* and put into place by the device */
    HA_WAY_CONVERTS /* by the host */
} ha_way;

typedef struct ha_carry {
    ha_array *array;
    ha_incarnation *from, *to;
    ha_context *context;
    ha_set *brought;
    ha_attempt *attempt;
    int here_is_to; /* `here`, whose layout says what the pieces are, is the target */
    int converts;   /* the layouts may differ */
    int detours;    /* `there` is another device: what the host would convert goes through it */
    int loose;      /* padding may be copied */
    ha_mapped here, there;
    ha_strand *strand;
    int64_t strands;
    ha_bundle *bundle;
    int64_t bundles;
    size_t bytes; /* in a chunk */
    ha_way way;   /* HA_WAY_PIECES: the bundles are pairs */
    ha_spread spread;
    int asked; /* whether the device can that */
    ha_staged_tables chunk, host;
    ha_field_box pending[HA_CARRY_PENDING];
    int n;
} ha_carry;

/* ---- parts ----------------------------------------------------------------------------------- */

/* Lattices of all strands. 0: cut the box. *pair: they are alike in both memories. */
static int ha_carry_lattices(ha_carry *c, const ha_field_box *b, int *pair, ha_cut *cut) {
    const ha_record_form *f = ha_records_form(c->array);
    ha_cut unused;
    c->strands = 0;
    *pair = 1;
    for (int64_t leaf = b->leaf; leaf < b->end; leaf++)
        c->strands += ha_strands_of(f, c->here.mapping, c->there.mapping, leaf,
                                    &c->strand[c->strands]);
    for (int64_t i = 0; i < c->strands; i++) {
        ha_strand *s = &c->strand[i];
        if (!ha_lattice_of(&c->here, s->here, b, &s->lattice, cut)) return 0;
        *pair = *pair && s->there && ha_lattice_of(&c->there, s->there, b, &s->other, &unused) &&
                ha_lattices_alike(&s->lattice, &s->other);
    }
    qsort(c->strand, (size_t)c->strands, sizeof *c->strand, ha_strand_compare);
    return 1;
}

/* A part that is small enough: across the slowest index, where blocks of lanes begin. */
static int ha_carry_is_small(const ha_carry *c, const ha_field_box *b, ha_cut *cut) {
    int k = 0;
    if (c->bytes <= HA_RECORDS_PART_BYTES || ha_field_box_records(b) == 1) return 1;
    const ha_linearizer *z = &c->here.mapping->linearizer[c->strand[0].here->linearizer];
    while (ha_box_extent(b, z->dimension[k]) == 1) k++;
    const int d = z->dimension[k];
    const int64_t each = (int64_t)c->bytes / ha_box_extent(b, d) + 1;
    int64_t index = b->first[d] + HA_RECORDS_PART_BYTES / each;
    if (index / 64 * 64 > b->first[d]) index = index / 64 * 64;
    if (index <= b->first[d]) index = b->first[d] + 1;
    *cut = (ha_cut){d, index}; /* before the last one: all of them are more than a part */
    return 0;
}

/* What a device that puts values into place costs. It is asked when that is first looked at. */
static uint64_t ha_carry_spread_cost(ha_carry *c, const ha_field_box *b, uint64_t values,
                                     int loose) {
    const ha_record_form *f = ha_records_form(c->array);
    if (!c->asked && !c->attempt->no_spread)
        ha_spread_make(&c->spread, (c->here_is_to ? c->to : c->from)->memory,
                       ha_strands_count(c->here.mapping, 0, f->leaves));
    c->asked = 1;
    return ha_spread_shape(&c->spread, c->strand, c->strands, &c->there, c->here.mapping, b, values,
                           loose, c->loose);
}

/* To or from a chunk that the host converts. */
static void ha_carry_stage(ha_carry *c, int loose) {
    c->bundles = ha_bundles_make(c->strand, c->strands, 0, loose, c->bundle);
    c->bytes = ha_bundles_pack(c->bundle, c->bundles);
    c->way = HA_WAY_CONVERTS;
}

/* Whichever way is the cheapest. plain: what it costs to copy the pieces; UINT64_MAX: it cannot be. */
static void ha_carry_choose(ha_carry *c, const ha_field_box *b, const ha_context *queue,
                            uint64_t plain, int loose) {
    const uint64_t values = (uint64_t)ha_field_box_bytes(ha_records_form(c->array), b);
    ha_carry_stage(c, loose);
    uint64_t least = ha_bundles_cost(c->bundle, c->bundles, queue) + values / 1024 * HA_CONVERT_NS;
    if (c->detours) least *= 3; /* once more, and by one link more */
    if (plain <= least) {
        c->way = HA_WAY_PIECES;
        least = plain;
    }
    if (least <= 2 * (uint64_t)HA_CALL_NS) return;
    if (ha_carry_spread_cost(c, b, values, loose) >= least) return;
    c->way = HA_WAY_SPREAD;
    c->bytes = c->spread.bytes;
}

/* Whether padding is copied with a box, where there is any. */
static int ha_carry_is_loose(const ha_carry *c, const ha_field_box *b) {
    return c->loose && b->leaf == 0 && b->end == ha_records_form(c->array)->leaves;
}

/* Decides how a box is moved. 0: cut it first. */
static int ha_carry_shape(ha_carry *c, const ha_field_box *b, ha_cut *cut) {
    const ha_context *queue = c->context;
    const int loose = ha_carry_is_loose(c, b);
    uint64_t plain = UINT64_MAX;
    int pair;
    if (!ha_carry_lattices(c, b, &pair, cut)) return 0;
    if (!queue->ops || queue->memory == &ha_host_memory)
        queue = ha_memory_context(c->from->memory); /* to a device it is always of that */
    c->way = HA_WAY_PIECES;
    if (pair) {
        c->bundles = ha_bundles_make(c->strand, c->strands, 1, loose, c->bundle);
        if (!c->converts) return 1;
        plain = ha_bundles_cost(c->bundle, c->bundles, queue);
        if (plain <= 2 * (uint64_t)HA_CALL_NS) return 1;
    }
    ha_carry_choose(c, b, queue, plain, loose);
    if (c->way != HA_WAY_PIECES) return ha_carry_is_small(c, b, cut);
    c->bundles = ha_bundles_make(c->strand, c->strands, 1, loose, c->bundle);
    return 1;
}

static int ha_is_ahead(const struct ha_ahead *at, const ha_carry *c, ha_range r) {
    return at->chunk && at->from == c->from && at->range.first == r.first &&
           at->range.last == r.last;
}

/* The place of a part that is on its way; r NULL: one that is free. NULL: there is none. */
static struct ha_ahead *ha_carry_place(ha_carry *c, const ha_range *r) {
    struct ha_ahead *at = c->attempt->ahead;
    for (int i = 0; i < HA_AHEAD; i++)
        if (r ? ha_is_ahead(&at[i], c, *r) : !at[i].chunk) return &at[i];
    return NULL;
}

/* A part that is on its way stays one that is converted, whatever else there may be by now. */
static int ha_carry_is_coming(ha_carry *c, const ha_field_box *b) {
    const ha_range r = ha_field_box_range(c->array, b);
    ha_cut unused;
    int pair;
    if (!ha_carry_place(c, &r)) return 0;
    (void)ha_carry_lattices(c, b, &pair, &unused);
    ha_carry_stage(c, ha_carry_is_loose(c, b));
    return 1;
}

/* The next part; 0: there is none. */
static int ha_carry_next(ha_carry *c, ha_field_box *b) {
    ha_cut cut;
    if (!c->n) return 0;
    *b = c->pending[--c->n];
    if (ha_carry_is_coming(c, b)) return 1;
    while (!ha_carry_shape(c, b, &cut)) {
        ha_field_box rest = *b;
        rest.first[cut.dimension] = b->last[cut.dimension] = cut.index;
        c->pending[c->n++] = rest;
    }
    return 1;
}

#endif
