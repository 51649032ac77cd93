/* How a plan is cut into tiles. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_PASSES_H
#define HARRAY_LAYOUT_IMPL_COPY_PASSES_H

#include "plan.h"

enum {
    HA_COPY_TILE = 32768,  /* bytes of the records of a tile, about: what fits the first cache */
    HA_COPY_STAGE = 32768, /* bytes, at most, of a tile that is put together before it is written */
    HA_COPY_LIST = 256,    /* records of a list */
    HA_COPY_VALUES = 8192, /* bytes of values on their way from one type to another, on each side */
    HA_COPY_CHANGED = 16384,     /* bytes of what is converted before it is moved, */
    HA_COPY_CHANGED_LEAST = 64,  /* of so many records at least, */
    HA_COPY_CHANGED_MOST = 1024, /* and at most, */
    HA_COPY_CHANGED_ONCE = 128,  /* bytes of each as one, on each side */
    HA_COPY_LINED = 1 << 21,     /* bytes, at most, of a tile of which whole lines are written */
    HA_COPY_LINED_ONCE = 4096,   /* bytes, at least, of its lines that are done at a time, */
    HA_COPY_LINED_MOST = 24576,  /* and at most */
    HA_COPY_ALIGN = 4096,        /* records: larger blocks are cut anywhere */
    HA_COPY_FINE = 64,           /* records of the least tiles: a line of the smallest values */
    HA_COPY_FINE_BYTES = 4096,   /* … and bytes of them */
    HA_COPY_FINE_TILES = 32,     /* of them in a tile */
    HA_COPY_ROWS = 64            /* leaves that are moved so */
};

/* Records from these linear indices on, which lie at equal distances within each block. */
typedef struct ha_copy_piece {
    int64_t to, from;
    int64_t lanes, blocks;
    int64_t to_apart, from_apart; /* bytes from block to block, or HA_COPY_ON_ */
    int64_t times;                /* all this again and again: */
    int64_t to_again, from_again; /* bytes from one time to the next */
} ha_copy_piece;

#define HA_COPY_ON_ INT64_MIN /* the next block goes on where the lanes end */

HA_IN_ int64_t ha_copy_common_multiple(int64_t a, int64_t b) {
    int64_t x = a, y = b;
    while (y != 0) {
        const int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return ha_product(a / x, b, &y) ? y : INT64_MAX;
}

/* Tiles end where blocks do, of both sides if that can be. */
HA_IN_ int64_t ha_copy_find_align(const ha_copy_pass *pass) {
    int64_t align = 1;
    for (int64_t g = 0; g < pass->groups; g++) {
        const ha_copy_leaf *leaf = pass->group[g].leaf;
        const int64_t both = ha_copy_common_multiple(leaf->to_shape.lanes, leaf->from_shape.lanes);
        const int64_t all = ha_copy_common_multiple(align, both);
        const int64_t some = ha_copy_common_multiple(align, leaf->to_shape.lanes);
        if (all <= HA_COPY_ALIGN)
            align = all;
        else if (some <= HA_COPY_ALIGN)
            align = some;
    }
    return pass->walk->loop[pass->walk->rank - 1].to == 1 ? align : 1;
}

/* Bytes that are copied of each record. */
HA_IN_ int64_t ha_copy_record_bytes(const ha_copy_pass *pass) {
    int64_t bytes = 0;
    for (int64_t g = 0; g < pass->groups; g++)
        for (int64_t k = 0; k < pass->group[g].leaves; k++) bytes += pass->group[g].leaf[k].size;
    return bytes;
}

/* Is all of the group's values one run of memory on both sides? */
HA_IN_ int ha_copy_is_run(const ha_copy_pass *pass) {
    const ha_copy_group *g = pass->group;
    const ha_copy_shape *to = &g->leaf->to_shape, *from = &g->leaf->from_shape;
    const ha_copy_loop *last = &pass->walk->loop[pass->walk->rank - 1];
    const int64_t bytes = g->merged->size * to->lanes;
    if (pass->groups > 1 || g->merges > 1 || to->lanes != from->lanes || g->is_changed) return 0;
    return last->to == 1 && last->from == 1 && to->block == bytes && from->block == bytes;
}

/* Does the pass fill all bytes of the target's records, so that tiles of it can be put together
 * elsewhere and be written as a whole? */
HA_IN_ void ha_copy_find_window(ha_copy_pass *pass, int64_t bytes) {
    const ha_copy_leaf *first = pass->group->leaf;
    const ha_copy_shape *shape = &first->to_shape;
    char *begin = first->to, *end = begin;
    const ha_copy_loop *last = &pass->walk->loop[pass->walk->rank - 1];
    if (pass->walk->is_turned || last->to != 1 || bytes * shape->lanes != shape->block) return;
    for (int64_t g = 0; g < pass->groups; g++)
        for (int64_t k = 0; k < pass->group[g].leaves; k++) {
            const ha_copy_leaf *leaf = &pass->group[g].leaf[k];
            if (leaf->method == HA_COPY_CONVERTED) return; /* does not go through the stage */
            if (leaf->to_blob != first->to_blob || leaf->to_shape.lanes != shape->lanes ||
                leaf->to_shape.block != shape->block ||
                (shape->lanes > 1 && leaf->to_shape.lane != leaf->size))
                return;
            if (leaf->to < begin) begin = leaf->to;
            if (leaf->to + leaf->size * shape->lanes > end)
                end = leaf->to + leaf->size * shape->lanes;
        }
    if (end - begin != shape->block) return;
    pass->window = begin;
    pass->lanes = shape->lanes;
    pass->block = shape->block;
}

/* Runs of lanes go from one side to the other, and all blocks end after `records`. (Blocks of as many
 * lanes are better moved as wholes, if they are all that is moved.) */
HA_IN_ int ha_copy_moves_lanes(const ha_copy_pass *pass, int64_t records) {
    const int64_t lanes = pass->group->leaf->to_shape.lanes;
    for (int64_t g = 0; g < pass->groups; g++) {
        const ha_copy_leaf *leaf = pass->group[g].leaf;
        const int64_t from = leaf->from_shape.lanes, most = ha_larger(lanes, from);
        if (leaf->method != HA_COPY_BLOCKS || leaf->to_shape.lanes != lanes ||
            (from == lanes && !pass->changed))
            return 0;
        if (records % most != 0 || most % ha_smaller(lanes, from) != 0) return 0;
    }
    return 1;
}

/* Can large copies be done by lines (simd/cache_lines.h)? Those that follow each other along the
 * last loop on both sides. Their tiles are larger. */
HA_IN_ void ha_copy_find_lines(ha_copy_pass *pass, int64_t bytes, int threads) {
    const ha_copy_loop *last = &pass->walk->loop[pass->walk->rank - 1];
    int64_t records = 64, all;
    while (records * bytes < HA_COPY_LINED_ONCE) records *= 2;
    if (last->to != 1 || last->from != 1 || records * bytes > HA_COPY_LINED_MOST ||
        !ha_copy_moves_lanes(pass, records))
        return;
    if (pass->changed && records > pass->changed) return;
    all = ha_smaller(HA_COPY_LINED / bytes, last->count / (4 * threads));
    pass->lined = pass->align = records;
    pass->part = pass->tile[1];
    pass->tile[1] = ha_larger(all / records, 1) * records;
}

/* Lanes of a side whose rows are dense, 1 where they go on from end to end; 0: they are not dense. */
HA_IN_ int64_t ha_copy_row_lanes(const ha_copy_shape *s, int64_t step, int32_t size) {
    if (!ha_copy_is_dense(s, step, size)) return 0;
    return ha_copy_is_even(s, step) ? 1 : s->lanes;
}

/* Does the pass go between records and rows in all its groups? If so, records of its least tiles. */
HA_IN_ int64_t ha_copy_find_fine(const ha_copy_pass *pass, int64_t bytes) {
    const ha_copy_loop *along = &pass->walk->loop[pass->walk->rank - 1];
    int64_t records = HA_COPY_FINE, leaves = 0;
    while (records * bytes < HA_COPY_FINE_BYTES) records *= 2;
    for (int64_t k = 0; k < pass->groups; k++) {
        const ha_copy_group *g = &pass->group[k];
        const ha_copy_shape *to = &g->leaf->to_shape, *from = &g->leaf->from_shape;
        const ha_copy_loop own = ha_copy_group_loop(g, along);
        const int64_t to_lanes = ha_copy_row_lanes(to, own.to, g->size);
        const int64_t from_lanes = ha_copy_row_lanes(from, own.from, g->size);
        leaves += g->leaves;
        if (g->is_changed && to_lanes == 1 && from_lanes == 1) continue; /* as rows of one leaf */
        if (g->method != HA_COPY_STRIDED || (to_lanes > 0) == (from_lanes > 0) ||
            !(to_lanes > 0 ? ha_copy_is_even(from, own.from) : ha_copy_is_even(to, own.to)))
            return 0;
        records = ha_copy_common_multiple(records, to_lanes + from_lanes);
        if (records > HA_COPY_STAGE / bytes) return 0;
    }
    if (pass->changed && records > pass->changed) return 0;
    return leaves <= HA_COPY_ROWS ? records : 0;
}

/* How many records a tile has along each of the two last loops. */
HA_IN_ void ha_copy_find_tile(ha_copy_pass *pass, int threads, int is_large) {
    const ha_copy_walk *w = pass->walk;
    const int64_t bytes = ha_copy_record_bytes(pass), count = w->loop[w->rank - 1].count;
    int64_t records = 64;
    pass->align = ha_copy_find_align(pass);
    pass->tile[0] = 1;
    if (w->is_turned) {
        pass->tile[0] = records = bytes <= 16 ? 32 : 16;
    } else if (pass->method == HA_COPY_WHOLE || ha_copy_is_run(pass)) {
        records = count / threads + (count % threads != 0);
    } else {
        const int64_t most = pass->changed ? HA_COPY_TILE / 4 : HA_COPY_TILE;
        while (records < 1024 && records * bytes * 2 <= most) records *= 2;
        ha_copy_find_window(pass, bytes);
        pass->fine = ha_copy_find_fine(pass, bytes);
        records = ha_larger(records, pass->fine * HA_COPY_FINE_TILES);
    }
    if (!ha_round_to(records, pass->align, &pass->tile[1])) pass->tile[1] = records;
    if (!pass->fine && pass->tile[1] * bytes > HA_COPY_STAGE) pass->window = NULL;
    if (is_large && !w->is_turned && pass->method != HA_COPY_WHOLE)
        ha_copy_find_lines(pass, bytes, threads);
}

/* Tiles along the last loop, of which the first may be shorter. */
HA_IN_ int64_t ha_copy_tiles(const ha_copy_pass *pass) {
    const int64_t count = pass->walk->loop[pass->walk->rank - 1].count + pass->align - 1;
    return count / pass->tile[1] + (count % pass->tile[1] != 0);
}

HA_IN_ int64_t ha_copy_tile_rows(const ha_copy_pass *pass) {
    const ha_copy_walk *w = pass->walk;
    const int64_t count = w->is_turned ? w->loop[w->rank - 2].count : 1;
    return count / pass->tile[0] + (count % pass->tile[0] != 0);
}

HA_IN_ void ha_copy_cut_pass(const ha_layout_plan *p, ha_copy_pass *pass, int threads) {
    const ha_copy_walk *w = pass->walk;
    if (pass->method >= HA_COPY_LISTED) { /* lists, or all that there is of runs */
        pass->units = p->records / HA_COPY_LIST + (p->records % HA_COPY_LIST != 0);
        return;
    }
    ha_copy_find_tile(pass, threads, p->stream);
    pass->units = ha_copy_tiles(pass) * ha_copy_tile_rows(pass);
    for (int k = 0; k < w->rank - 1 - w->is_turned; k++) pass->units *= w->loop[k].count;
}

HA_IN_ void ha_copy_find_passes(ha_layout_plan *p, int threads) {
    for (int64_t g = 0; g < p->groups;) {
        const ha_copy_group *first = &p->group[g];
        ha_copy_pass *pass = &p->pass[p->passes++];
        *pass = (ha_copy_pass){
            .group = first, .method = first->method, .walk = &p->walk[first->leaf->walk]};
        for (; g < p->groups && ha_copy_compare_passes(first->leaf, p->group[g].leaf) == 0; g++)
            pass->groups++;
        for (int64_t k = 0; k < pass->groups; k++)
            if (first[k].is_changed) pass->changed = p->changed;
        ha_copy_cut_pass(p, pass, threads);
    }
}

#endif
