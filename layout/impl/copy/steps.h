/* Between records and rows, tile by tile: what is to be done for a tile is found once, as a list of
 * steps, and each tile that follows takes the same steps some bytes further on. So tiles can be
 * small: all their lines stay in the first cache, and the next ones are on their way. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_STEPS_H
#define HARRAY_LAYOUT_IMPL_COPY_STEPS_H

#include "convert_first.h"

enum { HA_COPY_STEPS = 16 /* of a tile */ };

/* Some leaves that are neighbours in the records, with their rows. */
typedef struct ha_copy_step {
    ha_interleave interleave; /* the first block of a tile */
    ha_interleaver *interleaver;
    int64_t at_tile, record_tile;     /* bytes from tile to tile */
    const ha_strided_blocks *strided; /* not NULL: rows go past the caches through a buffer */
} ha_copy_step;

typedef struct ha_copy_program {
    int64_t steps, rows;
    ha_copy_worker *worker;
    const char *window; /* of the first tile; NULL: nothing is put together in the stage */
    char *row[HA_COPY_ROWS];
    ha_copy_step step[HA_COPY_STEPS];
    ha_strided_blocks strided[HA_COPY_STEPS];
} ha_copy_program;

HA_IN_ char *ha_copy_program_target(const ha_copy_program *p, char *to) {
    return p->window ? p->worker->stage + (to - p->window) : to;
}

/* ---- finding the steps ----------------------------------------------------------------------- */

/* Leaves from number `first` on that are neighbours in the records. */
HA_IN_ int64_t ha_copy_neighbours(const ha_copy_group *g, int64_t first, int is_gathered) {
    const int64_t most = ha_smaller(g->leaves - first, HA_STRIDED_LEAVES);
    const ha_copy_leaf *leaf = &g->leaf[first];
    int64_t n = 1;
    while (n < most && (is_gathered ? leaf[n].from == leaf[n - 1].from + g->size
                                    : leaf[n].to == leaf[n - 1].to + g->size))
        n++;
    return n;
}

/* Past the caches, if that is wanted and whole lines of rows are written. */
HA_IN_ void ha_copy_find_interleaver(ha_copy_step *s, ha_strided_blocks *strided, int32_t size,
                                     int is_gathered, int is_past) {
    const ha_interleavers *interleavers = ha_best_interleavers();
    const int kind = ha_strided_blocks_kind(size);
    uintptr_t all = (uintptr_t)(s->interleave.lanes * size);
    s->interleaver = is_gathered ? interleavers->gather[kind] : interleavers->scatter[kind];
    if (!is_past || s->interleave.blocks > 1) return;
    for (int64_t f = 0; f < s->interleave.leaves; f++) all |= (uintptr_t)s->interleave.row[f];
    if (all % 64 == 0 && interleavers->gather_past[kind] && s->interleave.leaves * size >= 16) {
        s->interleaver = interleavers->gather_past[kind];
    } else if (all >= 64) {
        *strided = (ha_strided_blocks){.size = size};
        s->strided = strided;
    }
}

/* Leaves of a group: rows on one side, records on the other. 0: there is no room for them. */
HA_IN_ int ha_copy_add_step(ha_copy_program *p, const ha_copy_pass *pass, const ha_copy_group *g,
                            int64_t first, int64_t leaves, const ha_copy_piece *tile, int is_past) {
    const ha_copy_loop own = ha_copy_group_loop(g, &pass->walk->loop[pass->walk->rank - 1]);
    const ha_copy_leaf *leaf = &g->leaf[first];
    const ha_copy_shape *to = &leaf->to_shape, *from = &leaf->from_shape;
    const int is_gathered = ha_copy_is_dense(to, own.to, g->size);
    const ha_copy_shape *rows = is_gathered ? to : from, *records = is_gathered ? from : to;
    const int64_t row_step = is_gathered ? own.to : own.from;
    const int64_t record_step = is_gathered ? own.from : own.to;
    const int64_t to_at = ha_copy_offset(to, tile->to);
    const int64_t from_at = ha_copy_offset(from, ha_copy_group_from(g, tile->from));
    const int64_t lanes = ha_copy_is_even(rows, row_step) ? pass->fine : rows->lanes;
    const int64_t block = ha_copy_is_even(rows, row_step) ? lanes * g->size : rows->block;
    ha_copy_step *s = &p->step[p->steps];
    char *from_record = (char *)(uintptr_t)(ha_copy_source(p->worker, leaf) + from_at);
    if (p->steps == HA_COPY_STEPS || p->rows + leaves > HA_COPY_ROWS) return 0;
    *s = (ha_copy_step){.interleave = {.row = p->row + p->rows, .leaves = leaves, .lanes = lanes}};
    for (int64_t f = 0; f < leaves; f++)
        p->row[p->rows++] = is_gathered ? ha_copy_program_target(p, leaf[f].to + to_at)
                                        : (char *)(uintptr_t)(ha_copy_source(p->worker, &leaf[f]) +
                                                              from_at);
    s->interleave.record = is_gathered ? from_record : ha_copy_program_target(p, leaf->to + to_at);
    s->interleave.step = ha_copy_stride(records, record_step);
    s->interleave.blocks = pass->fine / lanes;
    s->interleave.at_block = block;
    s->interleave.record_block = lanes * s->interleave.step;
    s->at_tile = is_gathered ? !p->window : !g->is_changed;
    s->at_tile *= s->interleave.blocks * block;
    s->record_tile = is_gathered ? !g->is_changed : !p->window;
    s->record_tile *= pass->fine * s->interleave.step;
    s->interleave.ahead = is_gathered ? s->record_tile : s->at_tile;
    ha_copy_find_interleaver(s, &p->strided[p->steps++], g->size, is_gathered,
                             is_past && is_gathered && !p->window);
    return 1;
}

HA_IN_ int ha_copy_make_program(ha_copy_program *p, const ha_copy_pass *pass,
                                const ha_copy_piece *tile, int is_past) {
    const ha_copy_loop *along = &pass->walk->loop[pass->walk->rank - 1];
    for (int64_t k = 0; k < pass->groups; k++) {
        const ha_copy_group *g = &pass->group[k];
        const int is_gathered = ha_copy_is_dense(&g->leaf->to_shape, along->to, g->size);
        const int64_t at = is_gathered ? tile->to : tile->from;
        int64_t n = 0;
        if (at % (is_gathered ? g->leaf->to_shape.lanes : g->leaf->from_shape.lanes) != 0) return 0;
        for (int64_t first = 0; first < g->leaves; first += n) {
            n = ha_copy_neighbours(g, first, is_gathered);
            if (!ha_copy_add_step(p, pass, g, first, n, tile, is_past)) return 0;
        }
    }
    return 1;
}

/* ---- taking them ----------------------------------------------------------------------------- */

HA_IN_ void ha_copy_take_step(ha_copy_step *s) {
    ha_interleave w = s->interleave;
    if (s->strided) {
        ha_strided_blocks_set set = {
            .blocks = s->strided, .interleavers = ha_best_interleavers(), .leaves = w.leaves};
        set.kind = ha_strided_blocks_kind(s->strided->size);
        ha_gather_past(&set, &w);
    } else {
        for (int64_t b = 0; b < w.blocks; b++, w.at += w.at_block, w.record += w.record_block)
            s->interleaver(&w);
    }
    s->interleave.at += s->at_tile;
    s->interleave.record += s->record_tile;
}

HA_IN_ void ha_copy_run_program(ha_copy_program *p, const ha_copy_pass *pass,
                                const ha_copy_piece *tile, int64_t tiles) {
    const int64_t step = pass->walk->loop[pass->walk->rank - 1].from * pass->fine;
    const int64_t bytes = pass->fine / ha_larger(pass->lanes, 1) * pass->block;
    char *target = p->window ? pass->window + tile->to / pass->lanes * pass->block : NULL;
    for (int64_t t = 0; t < tiles; t++) {
        if (pass->changed) ha_copy_change_all(p->worker, pass, tile->from + t * step, pass->fine);
        for (int64_t k = 0; k < p->steps; k++) ha_copy_take_step(&p->step[k]);
        if (target) ha_move_past_caches(target + t * bytes, p->worker->stage, bytes);
    }
}

/* How many of the tile's records, from the first on, are copied then. */
HA_IN_ int64_t ha_copy_fine_tiles(ha_copy_worker *w, const ha_copy_pass *pass,
                                  const ha_copy_piece *tile) {
    ha_copy_program p;
    const int64_t tiles = pass->fine > 0 ? tile->lanes / pass->fine : 0;
    const int stream = w->plan->stream;
    if (tiles == 0) return 0;
    p.steps = p.rows = 0;
    p.worker = w;
    p.window = NULL;
    if (stream && pass->window && tile->to % pass->lanes == 0)
        p.window = pass->window + tile->to / pass->lanes * pass->block;
    if (!ha_copy_make_program(&p, pass, tile, stream)) return 0;
    ha_copy_run_program(&p, pass, tile, tiles);
    return tiles * pass->fine;
}

#endif
