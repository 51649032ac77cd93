/* Copies on the host between boxes of the same extents, whose elements lie anywhere: with any strides
 * on both sides.
 *
 *     normalise   dimensions without choice are dropped, those that run backwards in the target are
 *                 turned around, those that continue each other become one, and what lies without a gap
 *                 on both sides becomes one larger element, the run
 *     choose      dimension a has the nearest neighbours in the target, b in the source
 *     copy        a and b the same, or long runs: row by row. Else tile by tile, so that no line of
 *                 memory is fetched twice; turned around by vectors where both sides are dense */
#ifndef HARRAY_IMPL_ELEMENTS_STRIDED_H
#define HARRAY_IMPL_ELEMENTS_STRIDED_H

#include "repeat.h"
#include "transpose.h"
#include "../../extents.h"

typedef struct ha_dimension {
    int64_t extent, to, from; /* the strides in bytes */
} ha_dimension;

typedef struct ha_strided {
    int64_t to, from; /* bytes from index 0, 0, … to the first element in this order */
    int rank;
    ha_dimension at[HA_MOST_RANK]; /* the nearest in the target first */
    size_t run;                    /* bytes of an element, without gaps */
    int large, past;               /* worth reading ahead; and writing past the caches */
} ha_strided;

/* ---- normalising ---------------------------------------------------------------------------- */

/* Returns 0 when there is no element. Strides in elements of so many bytes. */
HA_IN_ int ha_strided_gather(ha_strided *s, int rank, const int64_t *extent,
                             const int64_t *to_stride, size_t to_size, const int64_t *from_stride,
                             size_t from_size) {
    s->rank = 0;
    s->to = s->from = 0;
    for (int d = 0; d < rank; d++)
        if (extent[d] == 0) return 0; /* strides that lead nowhere may be any */
    for (int d = 0; d < rank; d++) {
        if (extent[d] == 1) continue;
        ha_dimension x = {extent[d], to_stride[d] * (int64_t)to_size,
                          from_stride[d] * (int64_t)from_size};
        if (x.to < 0) {
            s->to += (x.extent - 1) * x.to;
            s->from += (x.extent - 1) * x.from;
            x.to = -x.to;
            x.from = -x.from;
        }
        int place = s->rank++;
        for (; place && s->at[place - 1].to > x.to; place--) s->at[place] = s->at[place - 1];
        s->at[place] = x;
    }
    return 1;
}

/* Neighbours, where the one goes on behind the end of the other on both sides. */
HA_IN_ void ha_strided_merge(ha_strided *s) {
    int kept = 0;
    for (int d = 1; d < s->rank; d++) {
        ha_dimension *last = &s->at[kept], *x = &s->at[d];
        if (x->to == last->extent * last->to && x->from == last->extent * last->from)
            last->extent *= x->extent;
        else
            s->at[++kept] = *x;
    }
    if (s->rank) s->rank = kept + 1;
}

HA_IN_ ha_dimension ha_strided_remove(ha_strided *s, int d) {
    const ha_dimension removed = s->at[d];
    s->rank--;
    for (; d < s->rank; d++) s->at[d] = s->at[d + 1];
    return removed;
}

/* After merging, only the first dimension can have no gaps. */
HA_IN_ void ha_strided_grow_run(ha_strided *s) {
    if (!s->rank || s->at[0].to != (int64_t)s->run || s->at[0].from != (int64_t)s->run) return;
    s->run *= (size_t)s->at[0].extent;
    (void)ha_strided_remove(s, 0);
}

HA_IN_ int64_t ha_magnitude(int64_t x) { return x < 0 ? -x : x; }

/* The dimension with the nearest neighbours in the source; elements that are repeated are no nearer
 * than those of the first dimension. */
HA_IN_ int ha_strided_nearest(const ha_strided *s) {
    int nearest = 0;
    for (int d = 1; d < s->rank && s->at[0].from; d++)
        if (s->at[d].from && ha_magnitude(s->at[d].from) < ha_magnitude(s->at[nearest].from))
            nearest = d;
    return nearest;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Rows along a, as many as b has. */
typedef struct ha_strided_tile {
    char *to;
    const char *from;
    ha_dimension a, b;
    size_t run;
} ha_strided_tile;

#define HA_COPY_TILE_(name, bytes)                                                                 \
    HA_IN_ void ha_copy_tile_##name(const ha_strided_tile *t) {                                    \
        char *row_to = t->to;                                                                      \
        const char *row_from = t->from;                                                            \
        for (int64_t j = 0; j < t->b.extent; j++, row_to += t->b.to, row_from += t->b.from) {      \
            char *to = row_to;                                                                     \
            const char *from = row_from;                                                           \
            for (int64_t i = 0; i < t->a.extent; i++, to += t->a.to, from += t->a.from)            \
                memcpy(to, from, bytes);                                                           \
        }                                                                                          \
    }
HA_COPY_TILE_(1, 1)
HA_COPY_TILE_(2, 2)
HA_COPY_TILE_(4, 4)
HA_COPY_TILE_(8, 8)
HA_COPY_TILE_(16, 16)
HA_COPY_TILE_(32, 32)
HA_COPY_TILE_(64, 64)
HA_COPY_TILE_(128, 128)
HA_COPY_TILE_(run, t->run)

/* One element many times, without gaps. */
HA_IN_ void ha_fill_tile(const ha_strided_tile *t) {
    for (int64_t j = 0; j < t->b.extent; j++)
        ha_repeat(t->to + j * t->b.to, t->from + j * t->b.from, t->run, (size_t)t->a.extent);
}

HA_IN_ void ha_strided_tile_copy(const ha_strided_tile *t) {
    if (!t->a.from && t->a.to == (int64_t)t->run) {
        ha_fill_tile(t);
        return;
    }
    switch (t->run) {
    case 1:
        ha_copy_tile_1(t);
        break;
    case 2:
        ha_copy_tile_2(t);
        break;
    case 4:
        ha_copy_tile_4(t);
        break;
    case 8:
        ha_copy_tile_8(t);
        break;
    case 16:
        ha_copy_tile_16(t);
        break;
    case 32:
        ha_copy_tile_32(t);
        break;
    case 64:
        ha_copy_tile_64(t);
        break;
    case 128:
        ha_copy_tile_128(t);
        break;
    default:
        ha_copy_tile_run(t);
    }
}

/* ---- two dimensions ------------------------------------------------------------------------- */

/* What is copied for each index of the other dimensions. */
typedef struct ha_plane {
    ha_dimension a, b;
    int transposes;
    int64_t most_a, most_b; /* of a tile */
} ha_plane;

/* A tile: along the longer of its sides. */
HA_IN_ void ha_copy_tile(const ha_strided *s, ha_dimension a, ha_dimension b, char *to,
                         const char *from) {
    if (a.extent < b.extent) {
        const ha_dimension longer = b;
        b = a;
        a = longer;
    }
    const ha_strided_tile tile = {to, from, a, b, s->run};
    ha_strided_tile_copy(&tile);
}

HA_IN_ int64_t ha_least(int64_t a, int64_t b) { return a < b ? a : b; }

HA_IN_ void ha_copy_plane(const ha_strided *s, const ha_plane *p, char *to, const char *from) {
    const ha_dimension *a = &p->a, *b = &p->b;
    if (p->transposes) {
        const ha_tile whole = {to, from, b->to, a->from, (size_t)a->extent, (size_t)b->extent,
                               0,  NULL};
        ha_transpose_all(&whole, s->run, s->large, s->past);
        return;
    }
    for (int64_t i = 0; i < a->extent; i += p->most_a)
        for (int64_t j = 0; j < b->extent; j += p->most_b) {
            ha_dimension x = *a, y = *b;
            x.extent = ha_least(p->most_a, a->extent - i);
            y.extent = ha_least(p->most_b, b->extent - j);
            ha_copy_tile(s, x, y, to + i * a->to + j * b->to, from + i * a->from + j * b->from);
        }
}

/* The two dimensions, taken out of s. */
HA_IN_ ha_plane ha_strided_plane(ha_strided *s) {
    enum { tile = 64, long_run = 512 };
    const int64_t run = (int64_t)s->run;
    int b = ha_strided_nearest(s), tiled = b != 0 && s->run < long_run;
    ha_plane p = {.a = {1, 0, 0}, .b = {1, 0, 0}, .most_a = INT64_MAX, .most_b = INT64_MAX};
    if (!tiled) b = 1;
    if (b < s->rank) p.b = ha_strided_remove(s, b);
    if (s->rank) p.a = ha_strided_remove(s, 0);
    if (!tiled) { /* in the order of the target, but with rows worth the name */
        p.most_b = p.a.extent < 16 ? tile : 1;
        return p;
    }
    p.transposes = p.a.to == run && p.b.from == run && run <= 16 && (run & (run - 1)) == 0;
    p.most_a = p.most_b = tile;
    return p;
}

/* ---- the rest ------------------------------------------------------------------------------- */

/* Every index of the dimensions below d. */
HA_IN_ void ha_copy_planes(const ha_strided *s, const ha_plane *p, int d, char *to,
                           const char *from) {
    if (d == 0) {
        ha_copy_plane(s, p, to, from);
        return;
    }
    const ha_dimension *x = &s->at[d - 1];
    for (int64_t i = 0; i < x->extent; i++)
        ha_copy_planes(s, p, d - 1, to + i * x->to, from + i * x->from);
}

/* A copy as it will be carried out, from and to wherever the elements are then. */
typedef struct ha_strided_rows {
    int64_t to, from; /* bytes from index 0, 0, … to the first element in this order */
    ha_strided rest;  /* the dimensions besides those of the plane */
    ha_plane plane;
    int none; /* there is no element */
} ha_strided_rows;

/* Of elements of `element` bytes each: extent[rank] on both sides; strides in elements. */
HA_IN_ void ha_strided_prepare(ha_strided_rows *r, int rank, const int64_t *extent,
                               const int64_t *to_stride, const int64_t *from_stride,
                               size_t element) {
    ha_strided *s = &r->rest;
    s->run = element;
    r->none = !ha_strided_gather(s, rank, extent, to_stride, element, from_stride, element);
    if (r->none) return;
    ha_strided_merge(s);
    ha_strided_grow_run(s);
    r->to = s->to;
    r->from = s->from;
    size_t bytes = 2 * s->run;
    for (int d = 0; d < s->rank; d++) bytes *= (size_t)s->at[d].extent;
    s->large = bytes >= HA_PAST_CACHES_ / 64;
    s->past = bytes >= HA_PAST_CACHES_;
    r->plane = ha_strided_plane(s);
}

HA_IN_ void ha_strided_carry_out(const ha_strided_rows *r, void *to, const void *from) {
    if (r->none) return;
    ha_copy_planes(&r->rest, &r->plane, r->rest.rank, (char *)to + r->to,
                   (const char *)from + r->from);
    if (r->rest.past) ha_rows_past_end();
}

/* All elements, of `element` bytes each: extent[rank] on both sides; strides in elements. Those of the
 * source may be 0. No two elements of the target are the same memory, and none is one of the source.
 * The addresses are those of index 0, 0, …; all indices were checked. */
HA_IN_ void ha_copy_strided(int rank, const int64_t *extent, void *to, const int64_t *to_stride,
                            const void *from, const int64_t *from_stride, size_t element) {
    ha_strided_rows r;
    ha_strided_prepare(&r, rank, extent, to_stride, from_stride, element);
    ha_strided_carry_out(&r, to, from);
}

/* The same value everywhere. */
HA_UNUSED HA_IN_ void ha_strided_fill(int rank, const int64_t *extent, void *to,
                                      const int64_t *to_stride, const void *value, size_t element) {
    static const int64_t none[HA_MOST_RANK] = {0};
    if (rank == 1 && to_stride[0] == 1)
        ha_repeat((char *)to, value, element, (size_t)extent[0]);
    else
        ha_copy_strided(rank, extent, to, to_stride, value, none, element);
}

#endif
