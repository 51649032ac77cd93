/* Transposing copies on the host: where the target's neighbours lie apart in the source, and the source's
 * in the target. Memory moves in lines of 64 bytes, and each should be used whole while it is in a
 * cache: so a tile is read, turned around by vectors into a buffer, and written row by row, past the
 * caches where the whole is large (as memcpy does it). */
#ifndef HA_IMPL_TRANSPOSE_H
#define HA_IMPL_TRANSPOSE_H

#include "text.h"

/* From so many bytes on, read and written together, results go past the caches. */
#ifndef HA_PAST_CACHES /* tests have less */
#define HA_PAST_CACHES (32 << 20)
#endif

/* ---- past the caches ------------------------------------------------------------------------ */

typedef uint64_t ha_vector __attribute__((vector_size(16)));

HA_UNUSED static inline ha_vector ha_vector_load(const char *from) {
    ha_vector v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* No immintrin.h, which takes long to compile. */
#if defined __x86_64__ && !defined __clang__
typedef long long ha_streamed __attribute__((vector_size(16)));
#define HA_STORE_PAST(to, v) __builtin_ia32_movntdq((ha_streamed *)(void *)(to), (ha_streamed)(v))
#define HA_STORE_PAST_END() __builtin_ia32_sfence()
#elif defined __x86_64__
#define HA_STORE_PAST(to, v) __builtin_nontemporal_store(v, (ha_vector *)(void *)(to))
#define HA_STORE_PAST_END() __builtin_ia32_sfence()
#endif

/* As memcpy, of a short row. Only whole lines go past the caches. */
static void ha_row_past(char *to, const char *from, size_t bytes) {
#ifdef HA_STORE_PAST
    const size_t head = (0 - (uintptr_t)to) % 64;
    if (bytes >= head + 64) {
        memcpy(to, from, head);
        to += head, from += head, bytes -= head;
        for (; bytes >= 64; to += 64, from += 64, bytes -= 64)
            for (size_t i = 0; i < 64; i += 16) HA_STORE_PAST(to + i, ha_vector_load(from + i));
    }
#endif
    memcpy(to, from, bytes);
}

static void ha_rows_past_end(void) {
#ifdef HA_STORE_PAST
    HA_STORE_PAST_END();
#endif
}

/* ---- blocks of vectors ---------------------------------------------------------------------- */

#ifdef __clang__
#define HA_SHUFFLE(V, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define HA_UNROLL _Pragma("clang loop unroll(full)")
#else
#define HA_SHUFFLE(V, a, b, ...) __builtin_shuffle(a, b, (V){__VA_ARGS__})
#define HA_UNROLL _Pragma("GCC unroll 16")
#endif

/* ha_block_BYTES: `lanes` rows of 16 bytes, `from_step` apart, become as many columns. Each round pairs
 * row i with the one half of all further down, and lays their elements out in turns: after log2(lanes)
 * rounds each element is where it belongs. */
#define HA_TRANSPOSE_BLOCK(bytes, T, low, high)                                                    \
    typedef T ha_vector_##bytes __attribute__((vector_size(16)));                                  \
    HA_UNUSED static inline void ha_block_##bytes(char *to, ptrdiff_t to_step, const char *from,   \
                                                  ptrdiff_t from_step) {                           \
        enum { lanes = 16 / bytes };                                                               \
        ha_vector_##bytes x[lanes], y[lanes];                                                      \
        HA_UNROLL for (int i = 0; i < lanes; i++) memcpy(&x[i], from + i * from_step, 16);         \
        HA_UNROLL for (int round = 1; round < lanes; round *= 2) {                                 \
            HA_UNROLL for (int i = 0; i < lanes / 2; i++) {                                        \
                y[2 * i] = HA_SHUFFLE(ha_vector_##bytes, x[i], x[i + lanes / 2], HA_SPREAD low);   \
                y[2 * i + 1] = HA_SHUFFLE(ha_vector_##bytes, x[i], x[i + lanes / 2],               \
                                          HA_SPREAD high);                                         \
            }                                                                                      \
            HA_UNROLL for (int i = 0; i < lanes; i++) x[i] = y[i];                                 \
        }                                                                                          \
        HA_UNROLL for (int i = 0; i < lanes; i++) memcpy(to + i * to_step, &x[i], 16);             \
    }
#define HA_SPREAD(...) __VA_ARGS__
HA_TRANSPOSE_BLOCK(1, uint8_t, (0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
                   (8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31))
HA_TRANSPOSE_BLOCK(2, uint16_t, (0, 8, 1, 9, 2, 10, 3, 11), (4, 12, 5, 13, 6, 14, 7, 15))
HA_TRANSPOSE_BLOCK(4, uint32_t, (0, 4, 1, 5), (2, 6, 3, 7))
HA_TRANSPOSE_BLOCK(8, uint64_t, (0, 2), (1, 3))
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
    const char *next; /* where the next tile will be read; NULL: it need not be told */
} ha_tile;

/* So many rows ahead, of this tile or the next one. */
enum { HA_ROWS_AHEAD = 16 };

/* (always inline: gcc takes a function that only prefetches for one that does nothing) */
__attribute__((always_inline)) static inline void ha_prefetch_rows(const ha_tile *t, size_t first,
                                                                   size_t rows, size_t row_bytes) {
    if (!t->next) return;
    for (size_t i = first + HA_ROWS_AHEAD; i < first + HA_ROWS_AHEAD + rows; i++) {
        const char *row = i < t->m ? t->from + (ptrdiff_t)i * t->from_step
                                   : t->next + (ptrdiff_t)(i - t->m) * t->from_step;
        for (size_t at = 0; at < row_bytes; at += 64) __builtin_prefetch(row + at);
        __builtin_prefetch(row + row_bytes - 1); /* it may begin anywhere in a line */
    }
}

#define HA_TRANSPOSE(bytes)                                                                        \
    static void ha_transpose_##bytes(const ha_tile *t) {                                           \
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
HA_TRANSPOSE(1)
HA_TRANSPOSE(2)
HA_TRANSPOSE(4)
HA_TRANSPOSE(8)
HA_TRANSPOSE(16)

static void ha_transpose(const ha_tile *t, size_t bytes) {
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

/* Through a buffer, as rows a power of two apart push each other out of the first cache while they are
 * written piece by piece. Past the caches goes what is whole lines of the target; so a tile begins
 * `before` elements early, where the one before it has stopped at the last whole line of each row. */
static void ha_transpose_buffered(const ha_tile *t, size_t bytes, int past, size_t before,
                                  int is_last) {
    enum { pitch = HA_TILE_ROW + HA_LINE };
    _Alignas(HA_LINE) char buffer[HA_TILE_ROWS * pitch];
    ha_tile inner = *t;
    char *to = t->to - before * bytes;
    inner.to = buffer;
    inner.to_step = pitch;
    inner.from -= (ptrdiff_t)before * t->from_step;
    if (t->next) inner.next -= (ptrdiff_t)before * t->from_step;
    inner.m += before;
    ha_transpose(&inner, bytes);
    for (size_t j = 0; j < t->n; j++, to += t->to_step) {
        size_t first = before * bytes, last = inner.m * bytes;
        if (!past) {
            memcpy(to, buffer + j * pitch, last);
            continue;
        }
        if (before) first -= ((uintptr_t)to + first) % HA_LINE;
        if (!is_last) last -= ((uintptr_t)to + last) % HA_LINE;
        ha_row_past(to + first, buffer + j * pitch + first, last - first);
    }
}

/* A whole transposition of elements of 1, 2, 4, 8 or 16 bytes. Large: read ahead; past: the caches. */
static void ha_transpose_all(const ha_tile *whole, size_t bytes, int large, int past) {
    const size_t row = HA_TILE_ROW / bytes;
    const int aligned = ((uintptr_t)whole->to | (size_t)whole->to_step) % HA_LINE == 0;
    const ptrdiff_t reach = whole->to_step < 0 ? -whole->to_step : whole->to_step;
    const ptrdiff_t source = whole->from_step < 0 ? -whole->from_step : whole->from_step;
    const int ahead = large && source >= 4 * HA_LINE; /* nearer rows the processor reads itself */
    const int direct = whole->m * bytes < HA_LINE || (!large && reach < HA_TILE_ROW);
    for (size_t i = 0; i < whole->m; i += row)
        for (size_t j = 0; j < whole->n; j += HA_TILE_ROWS) {
            const size_t m = whole->m - i, n = whole->n - j;
            const char *from = whole->from + (ptrdiff_t)i * whole->from_step + j * bytes;
            const char *next = n > HA_TILE_ROWS
                                   ? from + HA_TILE_ROWS * bytes
                                   : whole->from + (ptrdiff_t)(i + row) * whole->from_step;
            const ha_tile t = {whole->to + (ptrdiff_t)j * whole->to_step + i * bytes,
                               from,
                               whole->to_step,
                               whole->from_step,
                               m < row ? m : row,
                               n < HA_TILE_ROWS ? n : HA_TILE_ROWS,
                               ahead ? next : NULL};
            if (direct)
                ha_transpose(&t, bytes);
            else
                ha_transpose_buffered(&t, bytes, past, past && !aligned && i ? HA_LINE / bytes : 0,
                                      m <= row);
        }
}

#endif
