/* Values that are not stored alike on both sides: by rows that stay in the first cache. What is not
 * a row in memory is put together as one, many leaves at a time; each row is converted as a whole;
 * and what does not go into a row of the target is taken apart again. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_CONVERT_H
#define HARRAY_LAYOUT_IMPL_COPY_CONVERT_H

#include "worker.h"
#include "../values/all.h"

enum { HA_COPY_LEAST_ROW = 64 /* values: their lines are whole, whatever their size */ };

/* ---- rows ------------------------------------------------------------------------------------ */

/* What is stored as values, these as the target's, and these as they are stored there: up to HA_PORTION.
 * Each step that is none costs nothing. The source is changed if its bytes are swapped. */
HA_IN_ void ha_copy_change_portion(const ha_copy_leaf *leaf, char *to, char *from, int64_t n) {
    _Alignas(64) char first[HA_PORTION * 16], second[HA_PORTION * 16];
    const ha_dtype f = leaf->from_scalar, t = leaf->to_scalar;
    char *values = from;
    if (leaf->from_swapped) ha_swap_values(from, leaf->from_stored, n);
    if (f != leaf->from_stored) {
        values = f == t && t == leaf->to_stored ? to : first;
        ha_change_values(values, f, from, leaf->from_stored, n);
    }
    if (f != t) {
        char *const converted = t == leaf->to_stored ? to : second;
        (void)ha_convert_scalars(converted, t, values, f, (size_t)n);
        values = converted;
    }
    if (values != to) ha_change_values(to, leaf->to_stored, values, t, n);
    if (leaf->to_swapped) ha_swap_values(to, leaf->to_stored, n);
}

HA_IN_ int ha_copy_only_converts(const ha_copy_leaf *leaf) {
    return leaf->from_stored == leaf->from_scalar && leaf->to_stored == leaf->to_scalar &&
           !leaf->from_swapped && !leaf->to_swapped;
}

/* A row of one leaf: both at aligned addresses. */
HA_IN_ void ha_copy_change_row(const ha_copy_leaf *leaf, char *to, char *from, int64_t n) {
    if (ha_copy_only_converts(leaf)) {
        (void)ha_convert_scalars(to, leaf->to_scalar, from, leaf->from_scalar, (size_t)n);
        return;
    }
    for (int64_t k = 0; k < n; k += HA_PORTION)
        ha_copy_change_portion(leaf, to + k * leaf->size, from + k * leaf->from_size,
                               ha_smaller(n - k, HA_PORTION));
}

/* ---- sides ----------------------------------------------------------------------------------- */

/* Some leaves' values on one side, of records that follow each other along a loop. */
typedef struct ha_copy_side {
    const ha_copy_shape *shape;
    int64_t step;      /* of the loop, in linear indices */
    int64_t size;      /* of a value */
    int64_t leaves;    /* up to HA_COPY_AT_ONCE: */
    char *const *leaf; /* where linear index 0 is */
    int is_row;        /* the values of a leaf follow each other from end to end */
} ha_copy_side;

/* Leaves that have no blocks here, or whole blocks of lanes: between there and rows in a buffer, which
 * are `apart` bytes apart. */
typedef struct ha_copy_rows {
    char *row;
    int64_t apart, lanes, blocks;
} ha_copy_rows;

HA_IN_ void ha_copy_move_blocks(const ha_copy_side *s, const ha_copy_rows *r, int64_t offset,
                                int is_kept) {
    const int64_t bytes = r->lanes * s->size;
    const ha_run_nest nest = {.blocks = r->blocks, .times = 1};
    for (int64_t k = 0; k < s->leaves; k++) {
        char *const place = s->leaf[k] + offset, *const row = r->row + k * r->apart;
        const ha_short_run kept = {place, row, bytes, s->shape->block, bytes};
        const ha_short_run fetched = {row, place, bytes, bytes, s->shape->block};
        ha_move_by_runs(is_kept ? &kept : &fetched, 1, &nest);
    }
}

HA_IN_ void ha_copy_move_strided(const ha_copy_side *s, const ha_copy_rows *r, int64_t offset,
                                 int64_t lane, int is_kept) {
    char *place[HA_COPY_AT_ONCE], *row[HA_COPY_AT_ONCE];
    const int64_t row_block = r->lanes * s->size;
    ha_strided_blocks m = {.leaves = s->leaves, .lanes = r->lanes, .blocks = r->blocks};
    for (int64_t k = 0; k < s->leaves; k++) {
        place[k] = s->leaf[k] + offset;
        row[k] = r->row + k * r->apart;
    }
    m.size = (int32_t)s->size;
    m.to_table = is_kept ? place : row;
    m.from_table = (const char *const *)(is_kept ? row : place);
    m.to_lane = is_kept ? lane : s->size;
    m.from_lane = is_kept ? s->size : lane;
    m.to_block = is_kept ? s->shape->block : row_block;
    m.from_block = is_kept ? row_block : s->shape->block;
    ha_strided_blocks_move(&m);
}

/* n values of each leaf from linear index `at` on: to the buffer, or from it, where a leaf's are
 * `apart` bytes behind those of the last one. */
HA_IN_ void ha_copy_move_side(const ha_copy_side *s, int64_t at, int64_t n, char *buffer,
                              int64_t apart, int is_kept) {
    const int is_even = ha_copy_is_even(s->shape, s->step);
    const int64_t lanes = is_even ? n : s->shape->lanes;
    const int64_t stride = is_even ? ha_copy_stride(s->shape, s->step) : s->shape->lane;
    ha_copy_rows r = {.row = buffer, .apart = apart};
    for (int64_t done; n > 0; n -= done, at += done, r.row += done * s->size) {
        const int64_t lane = is_even ? 0 : at % lanes, offset = ha_copy_offset(s->shape, at);
        r.lanes = ha_smaller(n, lanes - lane);
        r.blocks = r.lanes == lanes ? n / lanes : 1;
        done = r.lanes * r.blocks;
        if (stride == s->size)
            ha_copy_move_blocks(s, &r, offset, is_kept);
        else
            ha_copy_move_strided(s, &r, offset, stride, is_kept);
    }
}

/* ---- records --------------------------------------------------------------------------------- */

typedef struct ha_copy_sides {
    ha_copy_side to, from;
    char *to_leaf[HA_COPY_AT_ONCE], *from_leaf[HA_COPY_AT_ONCE];
} ha_copy_sides;

/* Leaves of the group from number `first` on: as many as can be together in a row each of the buffers.
 * (What is read is changed in the buffer only.) */
HA_IN_ void ha_copy_find_sides(ha_copy_sides *s, const ha_copy_group *g, int64_t first,
                               const ha_copy_loop *along) {
    const ha_copy_leaf *leaf = &g->leaf[first];
    const int64_t larger = ha_larger(g->size, g->from_size);
    int64_t n = ha_smaller(g->leaves - first, HA_COPY_VALUES / (HA_COPY_LEAST_ROW * larger));
    s->to = (ha_copy_side){&leaf->to_shape, along->to, g->size, 0, s->to_leaf, 0};
    s->from = (ha_copy_side){&leaf->from_shape, along->from, g->from_size, 0, s->from_leaf, 0};
    s->to.is_row = ha_copy_is_row_along(s->to.shape, along->to, g->size);
    s->from.is_row = ha_copy_is_row_along(s->from.shape, along->from, g->from_size);
    if (s->to.is_row && s->from.is_row) n = 1;
    for (int64_t k = 0; k < n; k++) {
        s->to_leaf[k] = leaf[k].to;
        s->from_leaf[k] = (char *)(uintptr_t)leaf[k].from;
    }
    s->to.leaves = s->from.leaves = n;
}

/* So many rows of n values. */
HA_IN_ void ha_copy_convert_rows(ha_copy_worker *w, const ha_copy_sides *s,
                                 const ha_copy_leaf *leaf, int64_t to, int64_t from, int64_t n) {
    const int64_t to_at = ha_copy_offset(s->to.shape, to);
    const int64_t from_at = ha_copy_offset(s->from.shape, from);
    const int is_past = s->to.is_row && w->plan->stream;
    const int64_t to_apart = n * s->to.size, from_apart = n * s->from.size;
    if (s->from.is_row && w->plan->stream)
        for (int64_t k = 0; k < s->to.leaves; k++)
            ha_fetch_ahead(s->from_leaf[k] + from_at, from_apart,
                           &(ha_run_nest){.ahead = from_apart});
    if (!s->from.is_row) ha_copy_move_side(&s->from, from, n, w->values[0], from_apart, 0);
    for (int64_t k = 0; k < s->to.leaves; k++) {
        char *source = s->from.is_row ? s->from_leaf[k] + from_at : w->values[0] + k * from_apart;
        char *target = s->to.is_row ? s->to_leaf[k] + to_at : w->values[1] + k * to_apart;
        char *const place = target;
        if (s->from.is_row &&
            (leaf[k].from_swapped || HA_NUMBER_(source) % (uint64_t)s->from.size != 0))
            source = (char *)memcpy(w->values[0], source, (size_t)from_apart);
        if (s->to.is_row && (is_past || HA_NUMBER_(target) % (uint64_t)s->to.size != 0))
            target = w->values[1];
        ha_copy_change_row(&leaf[k], target, source, n);
        if (target == place) continue;
        if (is_past)
            ha_move_past_caches(place, target, to_apart);
        else
            memcpy(place, target, (size_t)to_apart);
    }
    if (!s->to.is_row) ha_copy_move_side(&s->to, to, n, w->values[1], to_apart, 1);
}

/* `count` records of a group along a loop. */
HA_IN_ void ha_copy_convert_line(ha_copy_worker *w, const ha_copy_group *g,
                                 const ha_copy_loop *along, int64_t to, int64_t from,
                                 int64_t count) {
    ha_copy_sides s;
    for (int64_t k = 0; k < g->leaves; k += s.to.leaves) {
        ha_copy_find_sides(&s, g, k, along);
        const int64_t all = s.to.leaves * ha_larger(g->size, g->from_size);
        const int64_t most = ha_larger(HA_COPY_VALUES / 4 / all / HA_COPY_LEAST_ROW, 1) *
                             HA_COPY_LEAST_ROW;
        for (int64_t i = 0, n; i < count; i += n) {
            n = ha_smaller(count - i, most);
            ha_copy_convert_rows(w, &s, &g->leaf[k], to + i * along->to, from + i * along->from, n);
        }
    }
}

#endif
