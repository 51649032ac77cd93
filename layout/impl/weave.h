/* Between records and rows: of leaves that are neighbours in a record, all of one size, each has its values
 * in a row of its own on the other side. By vectors of 16 bytes, which every processor has that has any;
 * weave_x86.h has wider ones. */
#ifndef HARRAY_LAYOUT_IMPL_WEAVE_H
#define HARRAY_LAYOUT_IMPL_WEAVE_H

#include "vectors.h"

/* Lane i of leaf f is at row[f] + at + i * size on the one side, and at record + i * step + f * size on
 * the other. Gathering reads records and writes rows, scattering does the contrary. */
typedef struct ha_weave {
    char *const *row;
    int64_t at;
    char *record;
    int64_t step;
    int64_t leaves, lanes;
    int64_t ahead; /* bytes ahead of what is read that is going to be read soon; 0: not known */
} ha_weave;

typedef void ha_weaver(const ha_weave *w);

/* (Always inline: gcc takes a function that only prefetches for one that does nothing.) */
__attribute__((always_inline)) static inline void ha_weave_ahead(const char *from, int64_t bytes) {
    for (int64_t k = 0; k < bytes; k += 64) __builtin_prefetch(from + k);
}

/* The lanes from `lane` on: what is left behind the last whole vectors. */
static inline ha_weave ha_weave_rest(const ha_weave *w, int64_t lane, int64_t size) {
    ha_weave rest = *w;
    rest.at += lane * size;
    rest.record += lane * w->step;
    rest.lanes -= lane;
    return rest;
}

/* One leaf after the other, one value after the other. */
#define HA_WEAVE_EACH(bytes)                                                                       \
    static void ha_gather_each_##bytes(const ha_weave *w) {                                        \
        for (int64_t f = 0; f < w->leaves; f++) {                                                  \
            char *to = w->row[f] + w->at;                                                          \
            const char *from = w->record + f * bytes;                                              \
            for (int64_t i = 0; i < w->lanes; i++, to += bytes, from += w->step)                   \
                memcpy(to, from, bytes);                                                           \
        }                                                                                          \
    }                                                                                              \
    static void ha_scatter_each_##bytes(const ha_weave *w) {                                       \
        for (int64_t f = 0; f < w->leaves; f++) {                                                  \
            char *to = w->record + f * bytes;                                                      \
            const char *from = w->row[f] + w->at;                                                  \
            for (int64_t i = 0; i < w->lanes; i++, to += w->step, from += bytes)                   \
                memcpy(to, from, bytes);                                                           \
        }                                                                                          \
    }
HA_WEAVE_EACH(1)
HA_WEAVE_EACH(2)
HA_WEAVE_EACH(4)
HA_WEAVE_EACH(8)
HA_WEAVE_EACH(16)

/* Blocks of as many leaves as lanes; the last leaves' block begins among those before. */
#define HA_WEAVE(bytes)                                                                            \
    static void ha_gather_##bytes(const ha_weave *w) {                                             \
        enum { n = 16 / bytes };                                                                   \
        const int64_t whole = w->leaves < n ? 0 : w->lanes - w->lanes % n;                         \
        for (int64_t i = 0; i < whole; i += n) {                                                   \
            const char *from = w->record + i * w->step;                                            \
            if (w->ahead)                                                                          \
                for (int k = 0; k < n; k++)                                                        \
                    ha_weave_ahead(from + k * w->step + w->ahead, w->leaves * bytes);              \
            for (int64_t f = 0; f < w->leaves; f += n) {                                           \
                if (f > w->leaves - n) f = w->leaves - n;                                          \
                ha_vector_##bytes x[n];                                                            \
                HA_UNROLL for (int k = 0; k < n; k++)                                              \
                    memcpy(&x[k], from + k * w->step + f * bytes, 16);                             \
                ha_turn_##bytes(x);                                                                \
                HA_UNROLL for (int k = 0; k < n; k++)                                              \
                    memcpy(w->row[f + k] + w->at + i * bytes, &x[k], 16);                          \
            }                                                                                      \
        }                                                                                          \
        const ha_weave rest = ha_weave_rest(w, whole, bytes);                                      \
        ha_gather_each_##bytes(&rest);                                                             \
    }                                                                                              \
    static void ha_scatter_##bytes(const ha_weave *w) {                                            \
        enum { n = 16 / bytes };                                                                   \
        const int64_t whole = w->leaves < n ? 0 : w->lanes - w->lanes % n;                         \
        for (int64_t i = 0; i < whole; i += n) {                                                   \
            char *to = w->record + i * w->step;                                                    \
            if (w->ahead && i * bytes % 64 == 0)                                                   \
                for (int64_t f = 0; f < w->leaves; f++)                                            \
                    ha_weave_ahead(w->row[f] + w->at + i * bytes + w->ahead, 1);                   \
            for (int64_t f = 0; f < w->leaves; f += n) {                                           \
                if (f > w->leaves - n) f = w->leaves - n;                                          \
                ha_vector_##bytes x[n];                                                            \
                HA_UNROLL for (int k = 0; k < n; k++)                                              \
                    memcpy(&x[k], w->row[f + k] + w->at + i * bytes, 16);                          \
                ha_turn_##bytes(x);                                                                \
                HA_UNROLL for (int k = 0; k < n; k++)                                              \
                    memcpy(to + k * w->step + f * bytes, &x[k], 16);                               \
            }                                                                                      \
        }                                                                                          \
        const ha_weave rest = ha_weave_rest(w, whole, bytes);                                      \
        ha_scatter_each_##bytes(&rest);                                                            \
    }
HA_WEAVE(1)
HA_WEAVE(2)
HA_WEAVE(4)
HA_WEAVE(8)

/* The ways of one processor; index k is for sizes of 2^k bytes. */
typedef struct ha_weavers {
    const char *name;
    ha_weaver *gather[5], *scatter[5];
    void (*lines_past)(char *to, const char *from, size_t bytes); /* to the address of a line */
} ha_weavers;

static const ha_weavers ha_weavers_portable = {
    "portable",
    {ha_gather_1, ha_gather_2, ha_gather_4, ha_gather_8, ha_gather_each_16},
    {ha_scatter_1, ha_scatter_2, ha_scatter_4, ha_scatter_8, ha_scatter_each_16},
    ha_lines_past};

#endif
