/* Conversions that come before a copy: part by part to memory of the worker's, from where the
 * values go on as if they had been stored there as they are in the target, by all that copies have
 * for that. There leaves that are neighbours in the source's records or blocks are neighbours, too,
 * so that nothing has to be turned around. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_CONVERT_FIRST_H
#define HARRAY_LAYOUT_IMPL_COPY_CONVERT_FIRST_H

#include "convert.h"

/* ---- finding them ---------------------------------------------------------------------------- */

enum {
    HA_COPY_CHANGED_LANES = 64, /* at most; larger blocks have rows that are long enough */
    HA_COPY_CHANGED_VALUES =
        32 /* at least that are converted where they are, and not put together */
};

/* Has the leaf values that are to be converted first? `step` of the source along the last loop. Rows to
 * rows are not, and what is turned around on its way. */
HA_IN_ int ha_copy_may_change(const ha_layout_plan *p, const ha_copy_leaf *leaf) {
    const ha_copy_walk *walk = &p->walk[leaf->walk];
    if (leaf->method != HA_COPY_CONVERTED || walk->is_turned) return 0;
    const ha_copy_loop *last = &walk->loop[walk->rank - 1];
    if (ha_copy_is_even(&leaf->from_shape, last->from))
        return !ha_copy_is_row_along(&leaf->from_shape, last->from, leaf->from_size) ||
               !ha_copy_is_row_along(&leaf->to_shape, last->to, leaf->size);
    return leaf->from_shape.lane == leaf->from_size &&
           leaf->from_shape.lanes <= HA_COPY_CHANGED_LANES;
}

HA_IN_ int ha_copy_changes_alike(const ha_copy_leaf *a, const ha_copy_leaf *b) {
    const ha_copy_shape *x = &a->from_shape, *y = &b->from_shape;
    return a->walk == b->walk && a->to_scalar == b->to_scalar && a->from_scalar == b->from_scalar &&
           a->to_stored == b->to_stored && a->from_stored == b->from_stored &&
           a->to_swapped == b->to_swapped && a->from_swapped == b->from_swapped &&
           x->lanes == y->lanes && x->lane == y->lane && x->block == y->block;
}

/* How many leaves from this one on, the first of `left`, are changed together; 0: not even this one. */
HA_IN_ int64_t ha_copy_changed_leaves(const ha_layout_plan *p, const ha_copy_leaf *leaf,
                                      int64_t left) {
    const ha_copy_walk *walk = &p->walk[leaf->walk];
    int64_t n = 1;
    if (!ha_copy_may_change(p, leaf)) return 0;
    const int64_t most = HA_COPY_CHANGED_ONCE / ha_larger(leaf->size, leaf->from_size);
    const int64_t step = walk->loop[walk->rank - 1].from;
    if (ha_copy_is_row_along(&leaf->from_shape, step, leaf->from_size)) return 1;
    const int64_t lanes = ha_copy_is_even(&leaf->from_shape, step) ? 1 : leaf->from_shape.lanes;
    while (n < most && n < left && ha_copy_may_change(p, &leaf[n]) &&
           leaf[n].from == leaf[n - 1].from + lanes * leaf->from_size &&
           ha_copy_changes_alike(leaf, &leaf[n]))
        n++;
    return n;
}

/* Reads what was changed from there on. */
HA_IN_ void ha_copy_read_changed(ha_copy_leaf *leaf, const ha_copy_change *c, int64_t number,
                                 const ha_copy_loop *last) {
    const int64_t size = leaf->size;
    const int is_even = ha_copy_is_even(&leaf->from_shape, last->from);
    const int64_t lanes = is_even ? 1 : leaf->from_shape.lanes;
    leaf->from = c->to + number * lanes * size;
    leaf->from_shape = (ha_copy_shape){lanes, is_even ? 0 : size, c->leaves * lanes * size};
    leaf->from_size = leaf->size;
    leaf->is_changed = 1;
    leaf->method = ha_copy_method_along(leaf, &(ha_copy_loop){last->count, last->to, 1});
    if (leaf->method == HA_COPY_WHOLE)
        leaf->method = HA_COPY_BLOCKS; /* what is whole there is a part */
}

/* Bytes of so many records of some leaves, the first of blocks perhaps from its last lane on. */
HA_IN_ int64_t ha_copy_changed_bytes(const ha_copy_leaf *leaf, int64_t leaves, int64_t records) {
    const int64_t lanes = leaf->from_shape.lanes, bytes = leaves * leaf->size;
    return (lanes == 1 ? records * bytes : (records / lanes + 2) * lanes * bytes) / 64 * 64 + 64;
}

/* Of all leaves there is room for; others are converted as they are moved. */
HA_IN_ void ha_copy_find_changes(ha_layout_plan *p, char *room) {
    int64_t bytes = 1, n;
    char *const end = room + HA_COPY_CHANGED;
    for (int64_t k = 0; k < p->leaves; k++)
        if (ha_copy_may_change(p, &p->leaf[k])) bytes += p->leaf[k].size;
    p->changed = HA_COPY_CHANGED_LEAST;
    while (2 * p->changed <= HA_COPY_CHANGED_MOST && 4 * p->changed * bytes <= HA_COPY_CHANGED)
        p->changed *= 2;
    for (int64_t k = 0; k < p->leaves; k += n) {
        ha_copy_leaf *leaf = &p->leaf[k];
        const ha_copy_walk *walk = &p->walk[leaf->walk];
        ha_copy_change *c = &p->change[p->changes];
        n = ha_copy_changed_leaves(p, leaf, p->leaves - k);
        if (n == 0) {
            n = 1;
            continue;
        }
        const int64_t need = ha_copy_changed_bytes(leaf, n, p->changed);
        if (need > end - room) continue;
        *c = (ha_copy_change){*leaf, n, room};
        for (int64_t i = 0; i < n; i++)
            ha_copy_read_changed(&leaf[i], c, i, &walk->loop[walk->rank - 1]);
        room += need;
        p->changes++;
    }
}

/* ---- doing them ------------------------------------------------------------------------------ */

/* Values that follow each other in the source; those that lie `ahead` of them are read the next time. */
HA_IN_ void ha_copy_change_here(ha_copy_worker *w, const ha_copy_leaf *leaf, char *to,
                                const char *from, int64_t n, int64_t ahead) {
    const int64_t size = leaf->from_size, most = HA_COPY_VALUES / size;
    ha_fetch_ahead(from, n * size, &(ha_run_nest){.ahead = w->plan->stream ? ahead : 0});
    if (!leaf->from_swapped && HA_NUMBER_(from) % (uint64_t)size == 0) {
        ha_copy_change_row(leaf, to, (char *)(uintptr_t)from, n);
        return;
    }
    for (int64_t i = 0, piece; i < n; i += piece) {
        piece = ha_smaller(n - i, most);
        memcpy(w->values[0], from + i * size, (size_t)(piece * size));
        ha_copy_change_row(leaf, to + i * leaf->size, w->values[0], piece);
    }
}

/* n runs of so many values each, which go together first. */
HA_IN_ void ha_copy_change_runs(ha_copy_worker *w, const ha_copy_leaf *leaf, char *to,
                                const char *from, int64_t apart, int64_t values, int64_t n) {
    const int64_t bytes = values * leaf->from_size, most = HA_COPY_VALUES / bytes;
    ha_run_nest nest = {.times = 1, .ahead = w->plan->stream ? n * apart : 0};
    for (int64_t i = 0; i < n; i += nest.blocks) {
        const ha_short_run run = {w->values[0], from + i * apart, bytes, bytes, apart};
        nest.blocks = ha_smaller(n - i, most);
        ha_move_by_runs(&run, 1, &nest);
        ha_copy_change_row(leaf, to + i * values * leaf->size, w->values[0], nest.blocks * values);
    }
}

/* Of lanes in the middle of a block, or of whole blocks; gives how many. */
HA_IN_ int64_t ha_copy_change_lanes(ha_copy_worker *w, const ha_copy_change *c, char *to,
                                    int64_t from, int64_t n) {
    const ha_copy_leaf *leaf = &c->leaf;
    const ha_copy_shape *s = &leaf->from_shape;
    const int64_t lanes = s->lanes, lane = from % lanes, values = lanes * c->leaves;
    const int64_t blocks = n / lanes, bytes = values * leaf->from_size;
    const char *source = leaf->from + from / lanes * s->block;
    if (lane != 0 || blocks == 0) {
        n = ha_smaller(n, lanes - lane);
        for (int64_t k = 0; k < c->leaves; k++)
            ha_copy_change_here(w, leaf, to + (k * lanes + lane) * leaf->size,
                                source + (k * lanes + lane) * leaf->from_size, n, 0);
        return n;
    }
    if (s->block == bytes)
        ha_copy_change_here(w, leaf, to, source, blocks * values, blocks * bytes);
    else if (values < HA_COPY_CHANGED_VALUES)
        ha_copy_change_runs(w, leaf, to, source, s->block, values, blocks);
    else
        for (int64_t b = 0; b < blocks; b++)
            ha_copy_change_here(w, leaf, to + b * values * leaf->size, source + b * s->block,
                                values, blocks * s->block);
    return blocks * lanes;
}

/* n records from this linear index on. */
HA_IN_ void ha_copy_change_part(ha_copy_worker *w, const ha_copy_change *c, int64_t step,
                                int64_t from, int64_t n) {
    const ha_copy_leaf *leaf = &c->leaf;
    const ha_copy_shape *s = &leaf->from_shape;
    char *to = c->to + (size_t)w->number * sizeof *w;
    if (ha_copy_is_even(s, step)) {
        const char *source = leaf->from + ha_copy_offset(s, from);
        const int64_t stride = ha_copy_stride(s, step), bytes = c->leaves * leaf->from_size;
        if (stride == bytes)
            ha_copy_change_here(w, leaf, to, source, n * c->leaves, n * bytes);
        else
            ha_copy_change_runs(w, leaf, to, source, stride, c->leaves, n);
        return;
    }
    for (int64_t done; n > 0; n -= done, from += done) {
        done = ha_copy_change_lanes(w, c, to, from, n);
        to += (from % s->lanes + done) / s->lanes * s->lanes * c->leaves * leaf->size;
    }
}

/* All that a pass reads of n records from here on. */
HA_IN_ void ha_copy_change_all(ha_copy_worker *w, const ha_copy_pass *pass, int64_t from,
                               int64_t n) {
    const ha_layout_plan *p = w->plan;
    for (int64_t k = 0; k < p->changes; k++)
        if (&p->walk[p->change[k].leaf.walk] == pass->walk)
            ha_copy_change_part(w, &p->change[k], pass->walk->loop[pass->walk->rank - 1].from, from,
                                n);
}

#endif
