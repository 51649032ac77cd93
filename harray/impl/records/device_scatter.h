/* Values that a device puts into place itself.
 *
 * What the two memories keep in other places can travel as the far one (the host, or another device) has
 * it, into a chunk of the device's memory; from there the device's own copies bring each value to its
 * place: one call of the queue for all strands. And back the same way. So the host has nothing to convert,
 * where its pieces are long: whole records of an array of structs, or whole fields.
 *
 * Only values that were asked for travel, and padding that is nobody's. */
#ifndef HARRAY_IMPL_RECORDS_DEVICE_SCATTER_H
#define HARRAY_IMPL_RECORDS_DEVICE_SCATTER_H

#include "patterns.h"
#include "../transfer/all.h"

/* An estimate in nanoseconds, as in patterns.h: of 1024 bytes, which a device puts into place. */
enum { HA_SPREAD_NS = 10 };

_Static_assert((int)HA_LATTICE_LEVELS <= (int)HA_STRIDES_LEVELS, "a lattice is one strided copy");

typedef struct ha_spread {
    ha_context *queue; /* of the device; NULL: it cannot, or there is no chunk */
    ha_strand *strand; /* as the far memory has them: `here` is there, and the other way round */
    int64_t strands;
    ha_bundle *bundle; /* of these: what travels; `packed`: where in the chunk */
    int64_t bundles;
    ha_stride_copy *copy; /* room for two of each strand */
    int64_t records;      /* of the box */
    size_t bytes;         /* of the chunk */
} ha_spread;

/* A queue of a device that does this; NULL: there is none. One that turns out to have failed leaves it to
 * another one. */
static ha_context *ha_spread_queue(const ha_memory *m) {
    for (;;) {
        ha_context *c = ha_memory_queue(m);
        if (!HA_HAS(c->ops, ha_queue_ops, strides)) return NULL;
        const ha_status s = ha_noticed(c, c->ops->strides(c->queue, NULL, 0));
        if (s == HA_OK) return c;
        ha_forget_note();
        if (s != HA_ERR_LOST || ha_memory_queue(m) == c) return NULL;
    }
}

/* Room for so many strands; without memory for that the device is not used so. */
static void ha_spread_make(ha_spread *x, const ha_memory *near, int64_t strands) {
    const size_t each = sizeof *x->strand + sizeof *x->bundle + 2 * sizeof *x->copy;
    x->queue = ha_spread_queue(near);
    if (!x->queue) return;
    x->strand = (ha_strand *)HARRAY_MALLOC((size_t)strands * each);
    if (!x->strand) {
        x->queue = NULL;
        return;
    }
    x->bundle = (ha_bundle *)(void *)(x->strand + strands);
    x->copy = (ha_stride_copy *)(void *)(x->bundle + strands);
}

/* ---- what it is -------------------------------------------------------------------------------- */

/* The level of a lattice that an index goes along: there is one. */
static int ha_lattice_along(const ha_lattice *l, int dimension) {
    int k = 0;
    while (l->dimension[k] != dimension) k++;
    return k;
}

/* Whether two lattices of a box have the same levels, in any order. They have, but for blocks of lanes. */
static int ha_lattices_match(const ha_lattice *x, const ha_lattice *y) {
    return (!x->blocks && !y->blocks) || ha_lattices_alike(x, y);
}

/* Whether the records of a box lie at equal distances, with the indices in the order in which blocks of
 * lanes count them. */
static int ha_lattice_counts_like(const ha_lattice *l, const ha_linearizer *blocks,
                                  const ha_field_box *b) {
    int level = 0;
    if (l->blocks) return 0;
    for (int k = blocks->rank - 1; k >= 0; k--) {
        const int d = blocks->dimension[k];
        if (ha_box_extent(b, d) == 1) continue;
        if (l->dimension[level] != d) return 0;
        if (level && l->step[level] != l->count[level - 1] * l->step[level - 1]) return 0;
        level++;
    }
    return 1;
}

/* Whether strided copies bring a strand from one lattice to the other one. fills: what is behind the last
 * record in its block may be written. */
static int ha_strand_spreads(const ha_strand *s, const ha_mapping *far, const ha_mapping *near,
                             const ha_field_box *b, int fills) {
    if (ha_lattices_match(&s->lattice, &s->other)) return 1;
    if (!s->lattice.blocks)
        return ha_lattice_counts_like(&s->lattice, &near->linearizer[s->there->linearizer], b);
    if (!fills && ha_field_box_records(b) % s->lattice.count[0]) return 0;
    return ha_lattice_counts_like(&s->other, &far->linearizer[s->here->linearizer], b);
}

/* The strands of a box, turned round. 0: they are not on lattices that copies connect. */
static int ha_spread_strands(ha_spread *x, const ha_strand *s, const ha_mapped *far,
                             const ha_mapping *near, const ha_field_box *b, int fills) {
    ha_cut unused;
    for (int64_t i = 0; i < x->strands; i++) {
        ha_strand *turned = &x->strand[i];
        if (!s[i].there) return 0;
        *turned = s[i];
        turned->here = s[i].there;
        turned->there = s[i].here;
        turned->other = s[i].lattice;
        if (!ha_lattice_of(far, turned->here, b, &turned->lattice, &unused) ||
            !ha_strand_spreads(turned, far->mapping, near, b, fills))
            return 0;
    }
    qsort(x->strand, (size_t)x->strands, sizeof *x->strand, ha_strand_compare);
    return 1;
}

static uint64_t ha_bundles_bytes(const ha_bundle *b, int64_t n) {
    uint64_t bytes = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t all = b[i].rows.bytes;
        for (int k = 0; k < b[i].rows.levels; k++) all *= b[i].rows.count[k];
        bytes += all;
    }
    return bytes;
}

/* Looks at a box whose strands the near memory has on these lattices. What it costs; UINT64_MAX: it cannot
 * be, or a quarter more than the `values` bytes of the values would travel. loose: as of bundles. */
static uint64_t ha_spread_shape(ha_spread *x, const ha_strand *s, int64_t strands,
                                const ha_mapped *far, const ha_mapping *near, const ha_field_box *b,
                                uint64_t values, int loose, int fills) {
    if (!x->queue) return UINT64_MAX;
    x->strands = strands;
    x->records = ha_field_box_records(b);
    if (!ha_spread_strands(x, s, far, near, b, fills)) return UINT64_MAX;
    x->bundles = ha_bundles_make(x->strand, strands, 0, loose, x->bundle);
    const uint64_t travels = ha_bundles_bytes(x->bundle, x->bundles);
    if (travels > values + values / 4) return UINT64_MAX;
    x->bytes = ha_bundles_pack(x->bundle, x->bundles);
    return ha_bundles_cost(x->bundle, x->bundles, x->queue) + HA_CALL_NS +
           travels / 1024 * HA_SPREAD_NS;
}

/* ---- the copies -------------------------------------------------------------------------------- */

/* One side of them; distances in bytes. */
typedef struct ha_spread_side {
    char *at;
    int64_t step[HA_STRIDES_LEVELS];
    int64_t behind; /* from the first value to the first one behind the full blocks */
} ha_spread_side;

/* In the order of another one. lanes: 0, or values are counted in blocks of so many, of which `full` are
 * full. */
static ha_spread_side ha_spread_side_of(const ha_lattice *l, const ha_lattice *order, int64_t lanes,
                                        int64_t full) {
    ha_spread_side side = {.at = l->at};
    for (int k = 0; k < l->levels; k++) {
        const int along = l->blocks || lanes ? k : ha_lattice_along(l, order->dimension[k]);
        side.step[k] = l->step[along];
    }
    if (lanes && !l->blocks) side.step[1] = lanes * l->step[0];
    side.behind = full * side.step[1];
    return side;
}

/* The same in a chunk. */
static void ha_spread_pack(ha_spread_side *side, const ha_bundle *b, char *chunk) {
    side->at = chunk + b->packed + (side->at - b->here);
    side->behind = ha_packed_step(&b->rows, side->behind);
    for (int k = 0; k < HA_STRIDES_LEVELS; k++)
        side->step[k] = ha_packed_step(&b->rows, side->step[k]);
}

/* count: of levels. */
static ha_stride_copy ha_spread_copy(size_t bytes, const ha_spread_side *to,
                                     const ha_spread_side *from, int levels, const int64_t *count) {
    ha_stride_copy s = {.to = to->at, .from = from->at, .bytes = bytes, .levels = levels};
    for (int k = 0; k < levels; k++) {
        s.count[k] = (size_t)count[k];
        s.to_step[k] = (size_t)to->step[k];
        s.from_step[k] = (size_t)from->step[k];
    }
    return s;
}

/* The copies of a strand, from the chunk to its place (out: back); how many. */
static int64_t ha_spread_strand(const ha_spread *x, const ha_strand *s, char *chunk, int out,
                                ha_stride_copy *copy) {
    const ha_lattice *far = &s->lattice, *near = &s->other;
    const ha_lattice *blocks = ha_lattices_match(far, near) ? NULL : far->blocks ? far : near;
    const int64_t lanes = blocks ? blocks->count[0] : 0, full = blocks ? x->records / lanes : 0;
    const int64_t count[2] = {lanes, full}, tail = blocks ? x->records % lanes : 0;
    ha_spread_side staged = ha_spread_side_of(far, near, lanes, full);
    ha_spread_side placed = ha_spread_side_of(near, near, lanes, full);
    const ha_spread_side *to = out ? &staged : &placed, *from = out ? &placed : &staged;
    int64_t n = 0;
    ha_spread_pack(&staged, &x->bundle[s->bundle], chunk);
    if (!blocks) {
        copy[n++] = ha_spread_copy(s->bytes, to, from, near->levels, near->count);
        return n;
    }
    copy[n++] = ha_spread_copy(s->bytes, to, from, 2, count);
    staged.at += staged.behind;
    placed.at += placed.behind;
    if (tail) copy[n++] = ha_spread_copy(s->bytes, to, from, 1, &tail);
    return n;
}

/* Enqueues them all. */
static ha_status ha_spread_enqueue(ha_spread *x, ha_context *queue, char *chunk, int out) {
    int64_t n = 0;
    for (int64_t i = 0; i < x->strands; i++)
        n += ha_spread_strand(x, &x->strand[i], chunk, out, &x->copy[n]);
    return ha_noticed(queue, queue->ops->strides(queue->queue, x->copy, (size_t)n));
}

#endif
