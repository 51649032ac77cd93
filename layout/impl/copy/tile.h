/* One tile after the other: what is at equal distances. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_TILE_H
#define HARRAY_LAYOUT_IMPL_COPY_TILE_H

#include "lines.h"
#include "steps.h"

/* ---- pieces ---------------------------------------------------------------------------------- */

HA_IN_ int64_t ha_copy_apart(int64_t apart, int64_t all_lanes) {
    return apart == HA_COPY_ON_ ? all_lanes : apart;
}

/* Of records from these linear indices on, as far as they are at equal distances. */
HA_IN_ ha_copy_piece ha_copy_single_piece(int64_t to, int64_t from, int64_t lanes) {
    return (ha_copy_piece){to, from, lanes, 1, HA_COPY_ON_, HA_COPY_ON_, 1, 0, 0};
}

/* Whole blocks of both sides, which begin here on both; 0: there are none among `left` records. 0
 * lanes: that side has no blocks. */
HA_IN_ int ha_copy_whole_blocks(const ha_copy_leaf *leaf, int64_t to_lanes, int64_t from_lanes,
                                int64_t left, ha_copy_piece *piece) {
    const ha_copy_shape *t = &leaf->to_shape, *f = &leaf->from_shape;
    const int64_t larger = ha_larger(to_lanes, from_lanes);
    const int64_t unit = to_lanes == 0 || from_lanes == 0 ? larger
                                                          : ha_smaller(to_lanes, from_lanes);
    if (larger % unit != 0 || left < larger) return 0;
    piece->lanes = unit;
    piece->blocks = larger == unit ? left / unit : larger / unit;
    piece->to_apart = to_lanes == unit ? t->block : HA_COPY_ON_;
    piece->from_apart = from_lanes == unit ? f->block : HA_COPY_ON_;
    if (larger == unit) return 1;
    piece->times = left / larger;
    piece->to_again = to_lanes == unit ? t->block * piece->blocks : t->block;
    piece->from_again = from_lanes == unit ? f->block * piece->blocks : f->block;
    return 1;
}

/* The longest piece of `left` records along a loop. */
HA_IN_ ha_copy_piece ha_copy_next_piece(const ha_copy_leaf *leaf, const ha_copy_loop *along,
                                        int64_t to, int64_t from, int64_t left) {
    const ha_copy_shape *t = &leaf->to_shape, *f = &leaf->from_shape;
    const int64_t to_lanes = ha_copy_is_even(t, along->to) ? 0 : t->lanes;
    const int64_t from_lanes = ha_copy_is_even(f, along->from) ? 0 : f->lanes;
    const int64_t to_lane = to_lanes ? to % to_lanes : 0;
    const int64_t from_lane = from_lanes ? from % from_lanes : 0;
    ha_copy_piece piece = ha_copy_single_piece(to, from, left);
    if (to_lanes + from_lanes == 0) return piece;
    if (to_lane == 0 && from_lane == 0 &&
        ha_copy_whole_blocks(leaf, to_lanes, from_lanes, left, &piece))
        return piece;
    if (to_lanes) left = ha_smaller(left, to_lanes - to_lane);
    if (from_lanes) left = ha_smaller(left, from_lanes - from_lane);
    return ha_copy_single_piece(to, from, left);
}

/* From lane to lane. */
HA_IN_ int64_t ha_copy_lane(const ha_copy_shape *s, int64_t step) {
    return ha_copy_is_even(s, step) ? ha_copy_stride(s, step) : s->lane;
}

/* ---- strided blocks -------------------------------------------------------------------------- */

HA_IN_ void ha_copy_some_strided(ha_copy_worker *w, const ha_copy_leaf *leaf, ha_strided_blocks *s,
                                 int64_t to, int64_t from) {
    s->to = ha_copy_target(w, leaf->to + to);
    s->from = ha_copy_source(w, leaf) + from;
    if (s->to_table)
        for (int64_t k = 0; k < s->leaves; k++) {
            w->to_table[k] = ha_copy_target(w, leaf[k].to + to);
            w->from_table[k] = ha_copy_source(w, &leaf[k]) + from;
        }
    ha_strided_blocks_move(s);
}

HA_IN_ void ha_copy_strided_blocks(ha_copy_worker *w, const ha_copy_group *g,
                                   const ha_copy_loop *along, const ha_copy_piece *piece) {
    const ha_copy_leaf *leaf = g->leaf;
    ha_strided_blocks s = {.lanes = piece->lanes, .blocks = piece->blocks, .size = g->size};
    s.to_lane = ha_copy_lane(&leaf->to_shape, along->to);
    s.from_lane = ha_copy_lane(&leaf->from_shape, along->from);
    s.to_block = ha_copy_apart(piece->to_apart, piece->lanes * s.to_lane);
    s.from_block = ha_copy_apart(piece->from_apart, piece->lanes * s.from_lane);
    s.to_leaf = g->to_apart;
    s.from_leaf = g->from_apart;
    s.stream = w->plan->stream && !w->window;
    if (!g->is_spaced) {
        s.to_table = w->to_table;
        s.from_table = w->from_table;
    }
    for (int64_t n = 0; n < piece->times; n++)
        for (int64_t k = 0; k < g->leaves; k += s.leaves) {
            s.leaves = g->is_spaced ? g->leaves : ha_smaller(g->leaves - k, HA_COPY_AT_ONCE);
            ha_copy_some_strided(
                w, leaf + k, &s, ha_copy_offset(&leaf->to_shape, piece->to) + n * piece->to_again,
                ha_copy_offset(&leaf->from_shape, piece->from) + n * piece->from_again);
        }
}

/* ---- records and blocks ---------------------------------------------------------------------- */

/* Of one block. */
HA_IN_ int64_t ha_copy_bytes_of_runs(const ha_short_run *c, int64_t runs) {
    int64_t bytes = 0;
    for (int64_t k = 0; k < runs; k++) bytes += c[k].bytes;
    return bytes;
}

/* Rows of the target, one for each run, are put together in the stage, and written past the caches. */
HA_IN_ void ha_copy_staged_rows(ha_copy_worker *w, int64_t runs, int64_t blocks) {
    ha_short_run *c = w->chunk;
    char *target[HA_COPY_AT_ONCE], *row = w->stage;
    ha_run_nest nest = {.times = 1, .ahead = HA_COPY_AHEAD};
    const int64_t most = ha_smaller(blocks, HA_COPY_STAGE / ha_copy_bytes_of_runs(c, runs));
    for (int64_t k = 0; k < runs; k++) {
        target[k] = c[k].to;
        c[k].to = row;
        row += most * c[k].bytes;
    }
    for (; blocks > 0; blocks -= nest.blocks) {
        nest.blocks = ha_smaller(blocks, most);
        ha_move_by_blocks(c, runs, &nest);
        for (int64_t k = 0; k < runs; k++) {
            ha_move_past_caches(target[k], c[k].to, nest.blocks * c[k].bytes);
            target[k] += nest.blocks * c[k].bytes;
            c[k].from += nest.blocks * c[k].from_apart;
        }
    }
}

/* So that the source is read from one end to the other: runs that follow each other there as
 * wholes, others block by block. */
HA_IN_ void ha_copy_runs_of_piece(ha_copy_worker *w, int64_t runs, const ha_copy_piece *piece) {
    const int is_large = w->plan->stream && !w->window;
    const ha_run_nest nest = {.blocks = piece->blocks,
                              .times = piece->times,
                              .to_again = piece->to_again,
                              .from_again = piece->from_again,
                              .ahead = w->plan->stream ? HA_COPY_AHEAD : 0};
    const ha_short_run *c = w->chunk;
    const int is_whole = runs == 1 && c->bytes == c->to_apart && c->bytes == c->from_apart;
    if (piece->from_apart == HA_COPY_ON_ || is_whole)
        ha_move_by_runs(w->chunk, runs, &nest);
    else if (is_large && piece->to_apart == HA_COPY_ON_ && piece->times == 1 &&
             ha_copy_bytes_of_runs(w->chunk, runs) <= HA_COPY_STAGE / 8)
        ha_copy_staged_rows(w, runs, piece->blocks);
    else
        ha_move_by_turns(w->chunk, runs, &nest);
}

/* Of these leaves, or of what was merged of some. */
HA_IN_ void ha_copy_chunks(ha_copy_worker *w, const ha_copy_leaf *leaf, int64_t leaves,
                           const ha_copy_piece *piece) {
    const ha_copy_place to = ha_copy_place_of(&leaf->to_shape, piece->to);
    const ha_copy_place from = ha_copy_place_of(&leaf->from_shape, piece->from);
    for (int64_t k = 0; k < leaves; k += HA_COPY_AT_ONCE) {
        const int64_t n = ha_smaller(leaves - k, HA_COPY_AT_ONCE);
        for (int64_t i = 0; i < n; i++) {
            const ha_copy_leaf *one = &leaf[k + i];
            const int64_t bytes = one->size * piece->lanes;
            ha_short_run *c = &w->chunk[i];
            c->to = ha_copy_target(w, one->to + ha_copy_distance(&one->to_shape, to));
            c->from = ha_copy_source(w, one) + ha_copy_distance(&one->from_shape, from);
            c->bytes = bytes;
            c->to_apart = ha_copy_apart(piece->to_apart, bytes);
            c->from_apart = ha_copy_apart(piece->from_apart, bytes);
        }
        ha_copy_runs_of_piece(w, n, piece);
    }
}

HA_IN_ void ha_copy_records(ha_copy_worker *w, const ha_copy_group *g, const ha_copy_loop *along,
                            int64_t to, int64_t from, int64_t count) {
    const int64_t to_apart = ha_copy_stride(&g->leaf->to_shape, along->to);
    const int64_t from_apart = ha_copy_stride(&g->leaf->from_shape, along->from);
    const ha_copy_piece piece = {to, from, 1, count, to_apart, from_apart, 1, 0, 0};
    ha_copy_chunks(w, g->merged, g->merges, &piece);
}

HA_IN_ void ha_copy_whole(const ha_copy_group *g, int64_t to, int64_t from, int64_t count) {
    for (int64_t k = 0; k < g->leaves; k++) {
        const ha_copy_leaf *leaf = &g->leaf[k];
        memcpy(leaf->to + ha_copy_offset(&leaf->to_shape, to),
               leaf->from + ha_copy_offset(&leaf->from_shape, from), (size_t)(count * leaf->size));
    }
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* `count` records along the last loop of all. */
HA_IN_ void ha_copy_line(ha_copy_worker *w, const ha_copy_group *g, const ha_copy_loop *last,
                         int64_t to, int64_t from, int64_t count) {
    const ha_copy_loop own = ha_copy_group_loop(g, last), *along = &own;
    from = ha_copy_group_from(g, from);
    if (g->method == HA_COPY_WHOLE) {
        ha_copy_whole(g, to, from, count);
        return;
    }
    if (g->method == HA_COPY_RECORDS) {
        ha_copy_records(w, g, along, to, from, count);
        return;
    }
    if (g->method == HA_COPY_CONVERTED) {
        ha_copy_convert_line(w, g, along, to, from, count);
        return;
    }
    while (count > 0) {
        const ha_copy_piece piece = ha_copy_next_piece(g->leaf, along, to, from, count);
        const int64_t done = piece.lanes * piece.blocks * piece.times;
        if (g->method == HA_COPY_STRIDED)
            ha_copy_strided_blocks(w, g, along, &piece);
        else if (piece.lanes == g->leaf->to_shape.lanes)
            ha_copy_chunks(w, g->merged, g->merges, &piece);
        else
            ha_copy_chunks(w, g->leaf, g->leaves, &piece);
        to += done * along->to;
        from += done * along->from;
        count -= done;
    }
}

/* Where the source's values are nearest along another loop than the target's: what is at equal
 * distances along both is as if the outer loop's were leaves. */
HA_IN_ int ha_copy_turned_strided(const ha_copy_group *g, const ha_copy_loop *rows,
                                  const ha_copy_loop *along, const ha_copy_piece *tile) {
    const ha_copy_shape *to = &g->leaf->to_shape, *from = &g->leaf->from_shape;
    ha_strided_blocks s = {
        .leaves = tile->blocks, .lanes = tile->lanes, .blocks = 1, .size = g->size};
    if (g->method != HA_COPY_STRIDED || !ha_copy_is_even(to, rows->to) ||
        !ha_copy_is_even(to, along->to) || !ha_copy_is_even(from, rows->from) ||
        !ha_copy_is_even(from, along->from))
        return 0;
    s.to_leaf = ha_copy_stride(to, rows->to);
    s.to_lane = ha_copy_stride(to, along->to);
    s.from_leaf = ha_copy_stride(from, rows->from);
    s.from_lane = ha_copy_stride(from, along->from);
    for (int64_t k = 0; k < g->leaves; k++) {
        s.to = g->leaf[k].to + ha_copy_offset(to, tile->to);
        s.from = g->leaf[k].from + ha_copy_offset(from, tile->from);
        ha_strided_blocks_move(&s);
    }
    return 1;
}

HA_IN_ void ha_copy_turned(ha_copy_worker *w, const ha_copy_pass *pass, const ha_copy_piece *tile) {
    const ha_copy_loop *along = &pass->walk->loop[pass->walk->rank - 1], *rows = along - 1;
    for (int64_t k = 0; k < pass->groups; k++) {
        const ha_copy_group *g = &pass->group[k];
        if (ha_copy_turned_strided(g, rows, along, tile)) continue;
        for (int64_t r = 0; r < tile->blocks; r++)
            ha_copy_line(w, g, along, tile->to + r * rows->to, tile->from + r * rows->from,
                         tile->lanes);
    }
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* As many records at once as are converted at once, if any are. */
HA_IN_ void ha_copy_parts(ha_copy_worker *w, const ha_copy_pass *pass, const ha_copy_piece *tile) {
    const ha_copy_loop *along = &pass->walk->loop[pass->walk->rank - 1];
    for (int64_t i = 0, n; i < tile->lanes; i += n) {
        const int64_t to = tile->to + i * along->to, from = tile->from + i * along->from;
        n = pass->changed ? ha_smaller(tile->lanes - i, pass->changed) : tile->lanes;
        if (pass->changed) ha_copy_change_all(w, pass, from, n);
        for (int64_t k = 0; k < pass->groups; k++)
            ha_copy_line(w, &pass->group[k], along, to, from, n);
    }
}

/* A tile that is put together in the stage first, if it consists of whole blocks. */
HA_IN_ void ha_copy_straight(ha_copy_worker *w, const ha_copy_pass *pass,
                             const ha_copy_piece *tile) {
    const int is_staged = w->plan->stream && pass->window && tile->to % pass->lanes == 0 &&
                          tile->lanes % pass->lanes == 0 &&
                          tile->lanes / pass->lanes <= HA_COPY_STAGE / pass->block;
    const int64_t begin = is_staged ? tile->to / pass->lanes * pass->block : 0;
    w->window = is_staged ? pass->window + begin : NULL;
    ha_copy_parts(w, pass, tile);
    w->window = NULL;
    if (is_staged)
        ha_move_past_caches(pass->window + begin, w->stage,
                            tile->lanes / pass->lanes * pass->block);
}

/* In the middle of a block on either side there are no lines to be written at once. */
HA_IN_ int64_t ha_copy_until_lines(const ha_copy_pass *pass, int64_t to, int64_t from) {
    const int64_t head = (pass->lined - to % pass->lined) % pass->lined;
    for (int64_t g = 0; g < pass->groups; g++)
        if ((from + head) % pass->group[g].leaf->from_shape.lanes != 0) return INT64_MAX;
    return head;
}

/* A large tile: by lines as far as can be. */
HA_IN_ void ha_copy_lined(ha_copy_worker *w, const ha_copy_pass *pass, const ha_copy_piece *tile) {
    ha_copy_piece part = *tile;
    int64_t head = ha_copy_until_lines(pass, tile->to, tile->from);
    for (int64_t left = tile->lanes; left > 0; left -= part.lanes) {
        part.lanes = head == 0 ? ha_copy_lines(w, pass, part.to, part.from, left) : 0;
        if (part.lanes == 0) {
            if (head == 0) head = INT64_MAX; /* the rest, or all of it */
            part.lanes = ha_smaller(left, ha_smaller(head, pass->part));
            ha_copy_straight(w, pass, &part);
        }
        part.to += part.lanes;
        part.from += part.lanes;
        if (head > 0 && head < INT64_MAX) head -= part.lanes;
    }
}

/* The tile of this number: records along the last loop are its lanes, along the one before its
 * blocks. */
HA_IN_ void ha_copy_one_tile(ha_copy_worker *w, const ha_copy_pass *pass, int64_t number) {
    const ha_copy_walk *walk = pass->walk;
    const int64_t tiles = ha_copy_tiles(pass), rows = ha_copy_tile_rows(pass);
    const ha_copy_loop *along = &walk->loop[walk->rank - 1], *outer = along - 1;
    ha_copy_piece tile = ha_copy_single_piece(walk->to, walk->from, 0);
    int64_t first = number % tiles * pass->tile[1], row = number / tiles % rows * pass->tile[0];
    number /= tiles * rows;
    for (int k = walk->rank - 2 - walk->is_turned; k >= 0; k--) {
        tile.to += number % walk->loop[k].count * walk->loop[k].to;
        tile.from += number % walk->loop[k].count * walk->loop[k].from;
        number /= walk->loop[k].count;
    }
    if (walk->is_turned) {
        tile.blocks = ha_smaller(pass->tile[0], outer->count - row);
        tile.to += row * outer->to;
        tile.from += row * outer->from;
    }
    const int64_t shift = tile.to % pass->align; /* so that tiles begin with blocks */
    const int64_t last = ha_smaller(first + pass->tile[1] - shift, along->count);
    first = ha_larger(first - shift, 0);
    tile.lanes = last - first;
    tile.to += first * along->to;
    tile.from += first * along->from;
    if (tile.lanes > 0 && !walk->is_turned) {
        const int64_t done = ha_copy_fine_tiles(w, pass, &tile);
        tile.to += done * along->to;
        tile.from += done * along->from;
        tile.lanes -= done;
    }
    if (tile.lanes <= 0) return;
    if (walk->is_turned)
        ha_copy_turned(w, pass, &tile);
    else if (pass->lined)
        ha_copy_lined(w, pass, &tile);
    else
        ha_copy_straight(w, pass, &tile);
}

#endif
