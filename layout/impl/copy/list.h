/* Records by lists of linear indices: what is not at equal distances. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_LIST_H
#define HARRAY_LAYOUT_IMPL_COPY_LIST_H

#include "worker.h"
#include "../convert/all.h"

/* ---- linear indices -------------------------------------------------------------------------- */

/* What one index adds to a linear index: of Morton order, too, the sum of all these is the whole. */
typedef struct ha_copy_counter {
    uint64_t mask; /* the bits that are the index's in Morton order; 0: strided */
    int64_t stride, first, now;
} ha_copy_counter;

HA_IN_ ha_copy_counter ha_copy_count_from(const ha_linearizer *l, int dimension, int64_t first,
                                          int64_t index) {
    int64_t at[HA_MAPPING_RANK] = {0};
    ha_copy_counter c = {.stride = l->stride[dimension]};
    if (l->morton != 0)
        for (int64_t b = l->stride[dimension]; b < 64; b += l->rank) c.mask |= (uint64_t)1 << b;
    at[dimension] = first;
    c.first = ha_linear(l, at);
    at[dimension] = index;
    c.now = ha_linear(l, at);
    return c;
}

/* Bits that are not the index's are all ones when one is added, which carries through them. */
HA_IN_ void ha_copy_count(ha_copy_counter *c) {
    if (c->mask != 0)
        c->now = (int64_t)((((uint64_t)c->now | ~c->mask) + 1) & c->mask);
    else
        c->now += c->stride;
}

/* Where a list goes on. */
typedef struct ha_copy_cursor {
    int rank;
    int64_t left[HA_MAPPING_RANK], count[HA_MAPPING_RANK];
    ha_copy_counter to[HA_MAPPING_RANK], from[HA_MAPPING_RANK];
} ha_copy_cursor;

/* At record number `number` of the region, the target's order being the one that is gone by. */
HA_IN_ ha_copy_cursor ha_copy_cursor_at(const ha_layout_plan *p, const ha_copy_walk *w,
                                        int64_t number) {
    const ha_linearizer *to = w->to_linearizer, *from = w->from_linearizer;
    ha_copy_cursor c = {.rank = to->rank};
    for (int k = to->rank - 1; k >= 0; k--) {
        const int d = to->dimension[k];
        const int64_t first = p->first[d], count = p->last[d] - first, done = number % count;
        c.count[k] = count;
        c.left[k] = count - done;
        c.to[k] = ha_copy_count_from(to, d, first, first + done);
        c.from[k] = ha_copy_count_from(from, d, first, first + done);
        number /= count;
    }
    return c;
}

/* The next n linear indices of both. */
HA_IN_ void ha_copy_fill(ha_copy_worker *w, ha_copy_cursor *c, int64_t n) {
    const int last = c->rank - 1;
    ha_copy_counter *to = &c->to[last], *from = &c->from[last];
    int64_t k = 0;
    while (k < n) {
        const int64_t end = k + ha_smaller(n - k, c->left[last]);
        int64_t to_others = 0, from_others = 0;
        for (int d = 0; d < last; d++) to_others += c->to[d].now;
        for (int d = 0; d < last; d++) from_others += c->from[d].now;
        c->left[last] -= end - k;
        for (; k < end; k++) {
            w->to_linear[k] = to_others + to->now;
            w->from_linear[k] = from_others + from->now;
            ha_copy_count(to);
            ha_copy_count(from);
        }
        for (int d = last; d >= 0 && c->left[d] == 0; d--) {
            c->left[d] = c->count[d];
            c->to[d].now = c->to[d].first;
            c->from[d].now = c->from[d].first;
            if (d > 0) {
                c->left[d - 1]--;
                ha_copy_count(&c->to[d - 1]);
                ha_copy_count(&c->from[d - 1]);
            }
        }
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

/* From one list of offsets to another; without one, the values follow each other there. */
#define HA_MOVE_LISTED_(bytes)                                                                     \
    HA_IN_ void ha_move_listed_##bytes(char *to, const int64_t *to_at, const char *from,           \
                                       const int64_t *from_at, int64_t n) {                        \
        for (int64_t i = 0; i < n; i++)                                                            \
            memcpy(to + (to_at ? to_at[i] : i * bytes), from + (from_at ? from_at[i] : i * bytes), \
                   bytes);                                                                         \
    }
HA_MOVE_LISTED_(1)
HA_MOVE_LISTED_(2)
HA_MOVE_LISTED_(4)
HA_MOVE_LISTED_(8)
HA_MOVE_LISTED_(16)

HA_IN_ void ha_move_listed(char *to, const int64_t *to_at, const char *from, const int64_t *from_at,
                           int64_t n, int64_t size) {
    if (size == 8)
        ha_move_listed_8(to, to_at, from, from_at, n);
    else if (size == 4)
        ha_move_listed_4(to, to_at, from, from_at, n);
    else if (size == 2)
        ha_move_listed_2(to, to_at, from, from_at, n);
    else if (size == 1)
        ha_move_listed_1(to, to_at, from, from_at, n);
    else
        ha_move_listed_16(to, to_at, from, from_at, n);
}

HA_IN_ void ha_copy_offsets(const ha_copy_shape *s, const int64_t *linear, int64_t *at, int64_t n) {
    for (int64_t i = 0; i < n; i++) at[i] = ha_copy_offset(s, linear[i]);
}

/* Do n values of this size follow each other, at an address that is a multiple of it? */
HA_IN_ int ha_copy_is_row(const char *base, const int64_t *at, int64_t n, int64_t size) {
    if (HA_NUMBER_(base + at[0]) % (uint64_t)size != 0) return 0;
    for (int64_t i = 1; i < n; i++)
        if (at[i] - at[i - 1] != size) return 0;
    return 1;
}

/* The values go together, are converted, and go where they belong. */
HA_IN_ void ha_copy_converted(ha_copy_worker *w, const ha_copy_leaf *leaf, int64_t n) {
    const int64_t to_size = (int64_t)ha_dtype_size(leaf->to_scalar);
    const int64_t from_size = (int64_t)ha_dtype_size(leaf->from_scalar);
    const int to_row = ha_copy_is_row(leaf->to, w->to_at, n, to_size);
    const int from_row = ha_copy_is_row(leaf->from, w->from_at, n, from_size);
    const void *from = from_row ? leaf->from + w->from_at[0] : w->values[0];
    void *to = to_row ? leaf->to + w->to_at[0] : w->values[1];
    if (!from_row) ha_move_listed(w->values[0], NULL, leaf->from, w->from_at, n, from_size);
    (void)ha_convert_scalars(to, leaf->to_scalar, from, leaf->from_scalar, (size_t)n);
    if (!to_row) ha_move_listed(leaf->to, w->to_at, w->values[1], NULL, n, to_size);
}

HA_IN_ void ha_copy_listed_group(ha_copy_worker *w, const ha_copy_group *g, int64_t n) {
    ha_copy_offsets(&g->leaf->to_shape, w->to_linear, w->to_at, n);
    ha_copy_offsets(&g->leaf->from_shape, w->from_linear, w->from_at, n);
    for (int64_t k = 0; k < g->leaves && g->is_converted; k++) ha_copy_converted(w, &g->leaf[k], n);
    if (g->is_converted) return;
    for (int64_t k = 0; k < g->leaves; k++)
        ha_move_listed(g->leaf[k].to, w->to_at, g->leaf[k].from, w->from_at, n, g->size);
}

/* Records from number `first` to before `last`. */
HA_IN_ void ha_copy_listed(ha_copy_worker *w, const ha_copy_pass *pass, int64_t first,
                           int64_t last) {
    ha_copy_cursor c;
    if (first >= last) return;
    c = ha_copy_cursor_at(w->plan, pass->walk, first);
    for (int64_t n; first < last; first += n) {
        n = ha_smaller(last - first, HA_COPY_LIST);
        ha_copy_fill(w, &c, n);
        for (int64_t k = 0; k < pass->groups; k++) ha_copy_listed_group(w, &pass->group[k], n);
    }
}

#endif
