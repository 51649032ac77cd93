/* Transposing copies on the host: where the target's neighbours lie apart in the source, and the
 * source's in the target. Memory moves in lines of 64 bytes, and each should be used whole while it
 * is in a cache: so a tile is read, turned around by vectors into a buffer, and written row by row,
 * past the caches where the whole is large (as memcpy does it). Vectors of 16 bytes are enough for
 * that: it is memory that takes the time, and wider ones read more rows at once, which push each
 * other out of the first cache where they are a power of two apart. */
#ifndef HARRAY_IMPL_ELEMENTS_TRANSPOSE_H
#define HARRAY_IMPL_ELEMENTS_TRANSPOSE_H

#include "../../../layout/impl/simd/vectors.h"

/* From so many bytes on, read and written together, results go past the caches. */
#ifndef HA_PAST_CACHES_ /* tests have less */
#define HA_PAST_CACHES_ (32 << 20)
#endif

/* ---- blocks of vectors ---------------------------------------------------------------------- */

/* ha_block_BYTES: `lanes` rows of 16 bytes, `from_step` apart, become as many columns. */
#define HA_TRANSPOSE_BLOCK_(bytes)                                                                 \
    HA_UNUSED static inline void ha_block_##bytes(char *to, ptrdiff_t to_step, const char *from,   \
                                                  ptrdiff_t from_step) {                           \
        enum { lanes = 16 / bytes };                                                               \
        ha_vector_##bytes x[lanes];                                                                \
        HA_UNROLL_ for (int i = 0; i < lanes; i++) memcpy(&x[i], from + i * from_step, 16);        \
        ha_transpose_lanes_##bytes(x);                                                             \
        HA_UNROLL_ for (int i = 0; i < lanes; i++) memcpy(to + i * to_step, &x[i], 16);            \
    }
HA_TRANSPOSE_BLOCK_(1)
HA_TRANSPOSE_BLOCK_(2)
HA_TRANSPOSE_BLOCK_(4)
HA_TRANSPOSE_BLOCK_(8)
HA_UNUSED static inline void ha_block_16(char *to, HA_UNUSED ptrdiff_t to_step, const char *from,
                                         HA_UNUSED ptrdiff_t from_step) {
    memcpy(to, from, 16);
}

/* ---- tiles ---------------------------------------------------------------------------------- */

/* to[j * to_step + i] = from[i * from_step + j] for i < m, j < n, in elements; the steps in bytes. */
typedef struct ha_tile {
    char *to;
    const char *from;
    ptrdiff_t to_step, from_step;
    size_t m, n;
    size_t left;      /* rows of the source from here on, in which the next tiles are read */
    const char *next; /* where it goes on behind them; NULL: it need not be read ahead */
} ha_tile;

/* So many rows ahead, of this tile or the next ones. */
enum { HA_ROWS_AHEAD = 16 };

/* (Always inline: gcc takes a function that only prefetches for one that does nothing. Into the first
 * cache: prefetching into the second one alone takes twice the time where rows are a power of two
 * apart, on some processors and in some runs.) */
__attribute__((always_inline)) static inline void ha_prefetch_rows(const ha_tile *t, size_t first,
                                                                   size_t rows, size_t row_bytes) {
    if (!t->next) return;
    for (size_t i = first + HA_ROWS_AHEAD; i < first + HA_ROWS_AHEAD + rows; i++) {
        const char *row = i < t->left ? t->from + (ptrdiff_t)i * t->from_step
                                      : t->next + (ptrdiff_t)(i - t->left) * t->from_step;
        for (size_t at = 0; at < row_bytes; at += 64) __builtin_prefetch(row + at);
        __builtin_prefetch(row + row_bytes - 1); /* it may begin anywhere in a line */
    }
}

#define HA_TRANSPOSE_(bytes)                                                                       \
    HA_IN_ void ha_transpose_##bytes(const ha_tile *t) {                                           \
        enum { lanes = 16 / bytes };                                                               \
        const size_t whole_m = t->m - t->m % lanes, whole_n = t->n - t->n % lanes;                 \
        for (size_t i = 0; i < whole_m; i += lanes) {                                              \
            const char *from = t->from + (ptrdiff_t)i * t->from_step;                              \
            char *to = t->to + i * bytes;                                                          \
            ha_prefetch_rows(t, i, lanes, t->n *bytes);                                            \
            for (size_t j = 0; j < whole_n; j += lanes, to += lanes * t->to_step)                  \
                ha_block_##bytes(to, t->to_step, from + j * bytes, t->from_step);                  \
        }                                                                                          \
        for (size_t j = whole_n; j < t->n; j++)                                                    \
            for (size_t i = 0; i < whole_m; i++)                                                   \
                memcpy(t->to + (ptrdiff_t)j * t->to_step + i * bytes,                              \
                       t->from + (ptrdiff_t)i * t->from_step + j * bytes, bytes);                  \
        for (size_t i = whole_m; i < t->m; i++)                                                    \
            for (size_t j = 0; j < t->n; j++)                                                      \
                memcpy(t->to + (ptrdiff_t)j * t->to_step + i * bytes,                              \
                       t->from + (ptrdiff_t)i * t->from_step + j * bytes, bytes);                  \
    }
HA_TRANSPOSE_(1)
HA_TRANSPOSE_(2)
HA_TRANSPOSE_(4)
HA_TRANSPOSE_(8)
HA_TRANSPOSE_(16)

HA_IN_ void ha_transpose(const ha_tile *t, size_t bytes) {
    switch (bytes) {
    case 1:
        ha_transpose_1(t);
        break;
    case 2:
        ha_transpose_2(t);
        break;
    case 4:
        ha_transpose_4(t);
        break;
    case 8:
        ha_transpose_8(t);
        break;
    default:
        ha_transpose_16(t);
    }
}

enum {
    HA_LINE = 64,
    HA_TILE_ROW = 512, /* bytes of a row of the target in a tile */
    HA_TILE_ROWS = 64  /* of them */
};

/* How a whole transposition is done. Large: read ahead; past: the caches. Where whole lines of the
 * target are whole lines of tiles, tiles go along the rows of the source. Elsewhere they go along
 * bands, HA_TILE_ROWS rows of the target from their beginning to their end: what is no whole line
 * at the end of a tile is written with the next one. */
typedef struct ha_transposition {
    ha_tile whole;
    size_t bytes; /* of an element */
    int ahead, direct, past, banded;
} ha_transposition;

/* For each row what is to be written next, from HA_LINE on, and before that the rest of the tile before. */
typedef struct ha_band {
    _Alignas(HA_LINE) char buffer[HA_TILE_ROWS][HA_LINE + HA_TILE_ROW];
} ha_band;

/* Of a row of a tile, which begins at `to`, the whole lines; the rest is kept for the next tile, unless
 * this is the last one. */
HA_IN_ void ha_band_row_past(char *buffer, char *to, size_t bytes, int is_first, int is_last) {
    const size_t before = (uintptr_t)to % HA_LINE;
    const char *from = buffer + HA_LINE;
    if (!is_first) {
        to -= before;
        from -= before;
        bytes += before;
    } else if (before) {
        const size_t head = HA_LINE - before < bytes ? HA_LINE - before : bytes;
        memcpy(to, from, head);
        to += head;
        from += head;
        bytes -= head;
    }
    const size_t lines = bytes - bytes % HA_LINE;
    ha_lines_past(to, from, lines);
    if (is_last)
        memcpy(to + lines, from + lines, bytes - lines);
    else
        memcpy(buffer, buffer + HA_TILE_ROW, HA_LINE);
}

/* Through the buffer, as rows a power of two apart push each other out of the first cache while they
 * are written piece by piece. */
HA_IN_ void ha_band_tile(ha_band *band, const ha_tile *t, const ha_transposition *p, int is_first,
                         int is_last) {
    const size_t bytes = t->m * p->bytes;
    ha_tile inner = *t;
    char *to = t->to;
    inner.to = band->buffer[0] + HA_LINE;
    inner.to_step = sizeof band->buffer[0];
    ha_transpose(&inner, p->bytes);
    for (size_t j = 0; j < t->n; j++, to += t->to_step) {
        char *buffer = band->buffer[j];
        if (p->past)
            ha_band_row_past(buffer, to, bytes, is_first || !p->banded, is_last || !p->banded);
        else
            memcpy(to, buffer + HA_LINE, bytes);
    }
}

HA_IN_ void ha_transpose_tile(ha_band *band, const ha_transposition *p, size_t i, size_t j) {
    const ha_tile *w = &p->whole;
    const size_t m = w->m - i, n = w->n - j, row = HA_TILE_ROW / p->bytes;
    ha_tile t = *w;
    t.to += (ptrdiff_t)j * w->to_step + (ptrdiff_t)(i * p->bytes);
    t.from += (ptrdiff_t)i * w->from_step + (ptrdiff_t)(j * p->bytes);
    t.m = m < row ? m : row;
    t.n = n < HA_TILE_ROWS ? n : HA_TILE_ROWS;
    t.left = p->banded ? m : t.m;
    if (p->ahead) {
        const size_t next_i = p->banded ? 0 : n > HA_TILE_ROWS ? i : i + t.m;
        const size_t next_j = n > HA_TILE_ROWS ? j + HA_TILE_ROWS : 0;
        t.next = w->from + (ptrdiff_t)next_i * w->from_step + (ptrdiff_t)(next_j * p->bytes);
    }
    if (p->direct)
        ha_transpose(&t, p->bytes);
    else
        ha_band_tile(band, &t, p, !i, t.m == m);
}

/* A whole transposition of elements of 1, 2, 4, 8 or 16 bytes. */
HA_IN_ void ha_transpose_all(const ha_tile *whole, size_t bytes, int large, int past) {
    const ptrdiff_t reach = whole->to_step < 0 ? -whole->to_step : whole->to_step;
    const ptrdiff_t source = whole->from_step < 0 ? -whole->from_step : whole->from_step;
    const size_t row = HA_TILE_ROW / bytes;
    const ha_transposition p = {
        .whole = *whole,
        .bytes = bytes,
        .ahead = large && source >= 4 * HA_LINE, /* nearer rows the processor reads itself */
        .direct = whole->m * bytes < HA_LINE || (!large && reach < HA_TILE_ROW),
        .past = past,
        .banded = past && ((uintptr_t)whole->to | (size_t)whole->to_step) % HA_LINE != 0};
    ha_band band;
    for (size_t j = 0; p.banded && j < whole->n; j += HA_TILE_ROWS)
        for (size_t i = 0; i < whole->m; i += row) ha_transpose_tile(&band, &p, i, j);
    for (size_t i = 0; !p.banded && i < whole->m; i += row)
        for (size_t j = 0; j < whole->n; j += HA_TILE_ROWS) ha_transpose_tile(&band, &p, i, j);
}

#endif
