/* Between records and rows: of leaves that are neighbours in a record, all of one size, each has
 * its values in a row of its own on the other side. By vectors of 16 bytes, which every processor
 * has that has any; interleave_x86.h has wider ones. */
#ifndef HARRAY_LAYOUT_IMPL_SIMD_INTERLEAVE_H
#define HARRAY_LAYOUT_IMPL_SIMD_INTERLEAVE_H

#include "vectors.h"

/* Lane i of leaf f is at row[f] + at + i * size on the one side, and at record + i * step + f * size on
 * the other. Gathering reads records and writes rows, scattering does the contrary. */
typedef struct ha_interleave {
    char *const *row;
    int64_t at;
    char *record;
    int64_t step;
    int64_t leaves, lanes;
    int64_t ahead; /* bytes ahead of what is read that is going to be read soon; 0: not known */
    int64_t blocks, at_block, record_block; /* interleavers do one block; for who does all */
} ha_interleave;

typedef void ha_interleaver(const ha_interleave *w);

/* (Always inline: gcc takes a function that only prefetches for one that does nothing.) */
__attribute__((always_inline)) static inline void ha_interleave_ahead(const char *from,
                                                                      int64_t bytes) {
    for (int64_t k = 0; k < bytes; k += 64) __builtin_prefetch(from + k);
}

/* The lanes from `lane` on: what is left behind the last whole vectors. */
static inline ha_interleave ha_interleave_rest(const ha_interleave *w, int64_t lane, int64_t size) {
    ha_interleave rest = *w;
    rest.at += lane * size;
    rest.record += lane * w->step;
    rest.lanes -= lane;
    return rest;
}

/* One leaf after the other, one value after the other. */
#define HA_INTERLEAVE_EACH_(bytes)                                                                 \
    HA_IN_ void ha_gather_each_##bytes(const ha_interleave *w) {                                   \
        for (int64_t f = 0; f < w->leaves; f++) {                                                  \
            char *to = w->row[f] + w->at;                                                          \
            const char *from = w->record + f * bytes;                                              \
            for (int64_t i = 0; i < w->lanes; i++, to += bytes, from += w->step)                   \
                memcpy(to, from, bytes);                                                           \
        }                                                                                          \
    }                                                                                              \
    HA_IN_ void ha_scatter_each_##bytes(const ha_interleave *w) {                                  \
        for (int64_t f = 0; f < w->leaves; f++) {                                                  \
            char *to = w->record + f * bytes;                                                      \
            const char *from = w->row[f] + w->at;                                                  \
            for (int64_t i = 0; i < w->lanes; i++, to += w->step, from += bytes)                   \
                memcpy(to, from, bytes);                                                           \
        }                                                                                          \
    }
HA_INTERLEAVE_EACH_(1)
HA_INTERLEAVE_EACH_(2)
HA_INTERLEAVE_EACH_(4)
HA_INTERLEAVE_EACH_(8)
HA_INTERLEAVE_EACH_(16)

/* Blocks of as many leaves as lanes; the last leaves' block begins among those before. */
#define HA_INTERLEAVE_(bytes)                                                                      \
    HA_IN_ void ha_gather_##bytes(const ha_interleave *w) {                                        \
        enum { n = 16 / bytes };                                                                   \
        const int64_t whole = w->leaves < n ? 0 : w->lanes - w->lanes % n;                         \
        for (int64_t i = 0; i < whole; i += n) {                                                   \
            const char *from = w->record + i * w->step;                                            \
            if (w->ahead)                                                                          \
                for (int k = 0; k < n; k++)                                                        \
                    ha_interleave_ahead(from + k * w->step + w->ahead, w->leaves * bytes);         \
            for (int64_t f = 0; f < w->leaves; f += n) {                                           \
                if (f > w->leaves - n) f = w->leaves - n;                                          \
                ha_vector_##bytes x[n];                                                            \
                HA_UNROLL_ for (int k = 0; k < n; k++)                                             \
                    memcpy(&x[k], from + k * w->step + f * bytes, 16);                             \
                ha_transpose_lanes_##bytes(x);                                                     \
                HA_UNROLL_ for (int k = 0; k < n; k++)                                             \
                    memcpy(w->row[f + k] + w->at + i * bytes, &x[k], 16);                          \
            }                                                                                      \
        }                                                                                          \
        if (whole == w->lanes) return;                                                             \
        const ha_interleave rest = ha_interleave_rest(w, whole, bytes);                            \
        ha_gather_each_##bytes(&rest);                                                             \
    }                                                                                              \
    HA_IN_ void ha_scatter_##bytes(const ha_interleave *w) {                                       \
        enum { n = 16 / bytes };                                                                   \
        const int64_t whole = w->leaves < n ? 0 : w->lanes - w->lanes % n;                         \
        for (int64_t i = 0; i < whole; i += n) {                                                   \
            char *to = w->record + i * w->step;                                                    \
            if (w->ahead && i * bytes % 64 == 0)                                                   \
                for (int64_t f = 0; f < w->leaves; f++)                                            \
                    ha_interleave_ahead(w->row[f] + w->at + i * bytes + w->ahead, 1);              \
            for (int64_t f = 0; f < w->leaves; f += n) {                                           \
                if (f > w->leaves - n) f = w->leaves - n;                                          \
                ha_vector_##bytes x[n];                                                            \
                HA_UNROLL_ for (int k = 0; k < n; k++)                                             \
                    memcpy(&x[k], w->row[f + k] + w->at + i * bytes, 16);                          \
                ha_transpose_lanes_##bytes(x);                                                     \
                HA_UNROLL_ for (int k = 0; k < n; k++)                                             \
                    memcpy(to + k * w->step + f * bytes, &x[k], 16);                               \
            }                                                                                      \
        }                                                                                          \
        if (whole == w->lanes) return;                                                             \
        const ha_interleave rest = ha_interleave_rest(w, whole, bytes);                            \
        ha_scatter_each_##bytes(&rest);                                                            \
    }
HA_INTERLEAVE_(1)
HA_INTERLEAVE_(2)
HA_INTERLEAVE_(4)
HA_INTERLEAVE_(8)

/* Four leaves of one byte, or more by fours: sixteen lanes of four bytes are one sequence of 64, and each
 * round lays its halves out in turns, which moves the first bit of each byte's number to the end. */
__attribute__((always_inline)) static inline void ha_interleave_halves(ha_vector_1 *x, int rounds) {
    ha_vector_1 y[4];
    HA_UNROLL_ for (int round = 0; round < rounds; round++) {
        HA_UNROLL_ for (int i = 0; i < 2; i++) {
            y[2 * i] = HA_SHUFFLE_(ha_vector_1, x[i], x[i + 2], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20,
                                   5, 21, 6, 22, 7, 23);
            y[2 * i + 1] = HA_SHUFFLE_(ha_vector_1, x[i], x[i + 2], 8, 24, 9, 25, 10, 26, 11, 27,
                                       12, 28, 13, 29, 14, 30, 15, 31);
        }
        HA_UNROLL_ for (int i = 0; i < 4; i++) x[i] = y[i];
    }
}

__attribute__((always_inline)) static inline uint32_t ha_load_four(const char *from) {
    uint32_t four;
    memcpy(&four, from, 4);
    return four;
}

HA_IN_ void ha_gather_few_1(const ha_interleave *w) {
    const int64_t whole = w->leaves < 4 ? 0 : w->lanes - w->lanes % 16, step = w->step;
    for (int64_t i = 0; i < whole; i += 16)
        for (int64_t f = 0; f < w->leaves; f += 4) {
            if (f > w->leaves - 4) f = w->leaves - 4;
            const char *from = w->record + i * step + f;
            ha_vector_1 x[4];
            HA_UNROLL_ for (int k = 0; k < 4; k++) x[k] = (ha_vector_1)(ha_vector_4){
                ha_load_four(from + 4 * k * step), ha_load_four(from + (4 * k + 1) * step),
                ha_load_four(from + (4 * k + 2) * step), ha_load_four(from + (4 * k + 3) * step)};
            ha_interleave_halves(x, 4);
            HA_UNROLL_ for (int k = 0; k < 4; k++) memcpy(w->row[f + k] + w->at + i, &x[k], 16);
        }
    if (whole == w->lanes) return;
    const ha_interleave rest = ha_interleave_rest(w, whole, 1);
    ha_gather_each_1(&rest);
}

HA_IN_ void ha_scatter_few_1(const ha_interleave *w) {
    const int64_t whole = w->leaves < 4 ? 0 : w->lanes - w->lanes % 16;
    for (int64_t i = 0; i < whole; i += 16)
        for (int64_t f = 0; f < w->leaves; f += 4) {
            if (f > w->leaves - 4) f = w->leaves - 4;
            char *to = w->record + i * w->step + f;
            ha_vector_1 x[4];
            HA_UNROLL_ for (int k = 0; k < 4; k++) memcpy(&x[k], w->row[f + k] + w->at + i, 16);
            ha_interleave_halves(x, 2);
            HA_UNROLL_ for (int k = 0; k < 16; k++) {
                const uint32_t four = ((ha_vector_4)x[k / 4])[k % 4];
                memcpy(to + k * w->step, &four, 4);
            }
        }
    if (whole == w->lanes) return;
    const ha_interleave rest = ha_interleave_rest(w, whole, 1);
    ha_scatter_each_1(&rest);
}

HA_IN_ void ha_gather_bytes(const ha_interleave *w) {
    if (w->leaves < 16)
        ha_gather_few_1(w);
    else
        ha_gather_1(w);
}
HA_IN_ void ha_scatter_bytes(const ha_interleave *w) {
    if (w->leaves < 16)
        ha_scatter_few_1(w);
    else
        ha_scatter_1(w);
}

/* The interleavers of one processor; index k is for sizes of 2^k bytes. */
typedef struct ha_interleavers {
    const char *name;
    ha_interleaver *gather[5], *scatter[5];
    /* The same past the caches, or NULL: only whole lines of rows, at the addresses of lines, and at
     * least 16 bytes of leaves. */
    ha_interleaver *gather_past[5];
    void (*lines_past)(char *to, const char *from, size_t bytes); /* to the address of a line */
} ha_interleavers;

static const ha_interleavers ha_interleavers_portable = {
    "portable",
    {ha_gather_bytes, ha_gather_2, ha_gather_4, ha_gather_8, ha_gather_each_16},
    {ha_scatter_bytes, ha_scatter_2, ha_scatter_4, ha_scatter_8, ha_scatter_each_16},
    {NULL},
    ha_lines_past};

#endif
