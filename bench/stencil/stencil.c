/* A stencil of seven points in three dimensions: one text in four layouts against the best loops by
 * hand. In blocks, the neighbours along a row lie in the same block but for those of its first and
 * last lane; those of other rows lie in the same lane of another block only where rows are whole
 * blocks (HA_ROWS). What it costs to do without, the figures say. Each row has 250 cells: 15 blocks
 * and a part of one. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef BENCH_LINKED /* with the library, in which it is */
#define HA_LAYOUT_IMPLEMENTATION
#endif
#include "hand.h"
#include "mapped.h"

#include <math.h>

#ifndef VARIANT
#define VARIANT ""
#endif
#ifndef PLANES
#define PLANES 24
#define ROWS 24
#endif
enum { LENGTH = 250 };

typedef struct work {
    aos aos;
    soa soa;
    aosoa16 aosoa16;
    rows16 rows16;
    ptrdiff_t n[3];
} work;

#define FIELD(w, k) ((float *)(void *)(w)->soa.blob[k])

TIME(hand_aos, work, hand_stencil_aos((cell *)(void *)w->aos.blob[0], w->n))
TIME(hand_soa, work, hand_stencil_soa(FIELD(w, 1), FIELD(w, 0), FIELD(w, 2), w->n))
TIME(hand_rows16, work, hand_stencil_aosoa16((block16 *)(void *)w->rows16.blob[0], w->n))

#define TIME_MAPPED(V)                                                                             \
    TIME(mapped_in_##V, work, mapped_in_##V(w->V))                                                 \
    TIME(mapped_near_##V, work, mapped_near_##V(w->V))
TIME_MAPPED(aos)
TIME_MAPPED(soa)
TIME_MAPPED(aosoa16)
TIME_MAPPED(rows16)

/* From the same start to the same result, as far as rounding goes; `expected` is NaN at first. */
#define AGREE(V, function, w, expected)                                                            \
    do {                                                                                           \
        HA_EACH(V, (w)->V, at) {                                                                   \
            const cell c = {(float)(ha_index(at) % 101), 0, 0.1f * (float)(ha_index(at) % 3)};     \
            V##_store((w)->V, at, c);                                                              \
        }                                                                                          \
        function(w, 1);                                                                            \
        int same = 1;                                                                              \
        HA_EACH(V, (w)->V, at) {                                                                   \
            const float next = *V##_next((w)->V, at), before = expected[ha_index(at)];             \
            same &= isnan(before) || fabsf(next - before) <= 1e-4f;                                \
            expected[ha_index(at)] = next;                                                         \
        }                                                                                          \
        bench_require(same, #function " has another result");                                      \
    } while (0)

static void check(work *w) {
    const size_t count = (size_t)(w->n[0] * w->n[1] * w->n[2]);
    float *expected = (float *)malloc(count * sizeof *expected);
    bench_require(expected != NULL, "memory");
    for (size_t i = 0; i < count; i++) expected[i] = NAN;
    AGREE(aos, time_hand_aos, w, expected);
    AGREE(soa, time_hand_soa, w, expected);
    AGREE(rows16, time_hand_rows16, w, expected);
    AGREE(aos, time_mapped_in_aos, w, expected);
    AGREE(soa, time_mapped_in_soa, w, expected);
    AGREE(aosoa16, time_mapped_in_aosoa16, w, expected);
    AGREE(rows16, time_mapped_in_rows16, w, expected);
    AGREE(aos, time_mapped_near_aos, w, expected);
    AGREE(soa, time_mapped_near_soa, w, expected);
    AGREE(aosoa16, time_mapped_near_aosoa16, w, expected);
    AGREE(rows16, time_mapped_near_rows16, w, expected);
    free(expected);
}

static void run(work *w, const char *name, bench_function *function, const char *reference_name,
                bench_function *reference, double bound) {
    bench_run(&(bench_figure){name, function, w, reference_name, reference, w, .bound = bound});
}

static void make(work *w) {
    volatile ptrdiff_t z = PLANES, y = ROWS, x = LENGTH;
    const ptrdiff_t n0 = z, n1 = y, n2 = x;
    void *blobs[soa_blobs];
    w->n[0] = n0, w->n[1] = n1, w->n[2] = n2;
    for (int k = 0; k < soa_blobs; k++) blobs[k] = bench_memory(soa_bytes(k, n0, n1, n2));
    w->soa = soa_on(blobs, n0, n1, n2);
    blobs[0] = bench_memory(aos_bytes(0, n0, n1, n2));
    w->aos = aos_on(blobs, n0, n1, n2);
    blobs[0] = bench_memory(aosoa16_bytes(0, n0, n1, n2));
    w->aosoa16 = aosoa16_on(blobs, n0, n1, n2);
    blobs[0] = bench_memory(rows16_bytes(0, n0, n1, n2));
    w->rows16 = rows16_on(blobs, n0, n1, n2);
}

int main(int argc, char **argv) {
    static work w;
    bench_begin(argc, argv, VARIANT);
    make(&w);
    check(&w);
    run(&w, "stencil aos", time_mapped_in_aos, "by hand", time_hand_aos, 0);
    run(&w, "stencil aos, near", time_mapped_near_aos, "by hand", time_hand_aos, 0);
    run(&w, "stencil soa", time_mapped_in_soa, "by hand", time_hand_soa, 0);
    run(&w, "stencil soa, near", time_mapped_near_soa, "by hand", time_hand_soa, 0);
    run(&w, "stencil aosoa16, rows, near", time_mapped_near_rows16, "by hand", time_hand_rows16, 0);
    run(&w, "stencil aosoa16, rows", time_mapped_in_rows16, "by hand", time_hand_rows16, 0);
    run(&w, "stencil aosoa16, near", time_mapped_near_aosoa16, "by hand, rows", time_hand_rows16,
        0);
    run(&w, "stencil aosoa16", time_mapped_in_aosoa16, "by hand, rows", time_hand_rows16, 0);
    return 0;
}
