/* A lattice of fluid (D3Q19): each site has 19 numbers, of which 18 come from neighbours. One text
 * in four layouts against the best loops by hand; as with the stencil, rows have a part of a
 * block. */
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
#define PLANES 12
#define ROWS 12
#endif
enum { LENGTH = 60 };
#define RATE 0.6f

typedef struct lattice {
    aos aos;
    soa soa;
    aosoa16 aosoa16;
    rows16 rows16;
    numbers numbers; /* the blobs of soa */
} lattice;

typedef struct work {
    lattice from, to;
    struct {
        aos_const aos;
        soa_const soa;
        aosoa16_const aosoa16;
        rows16_const rows16;
    } reading; /* from */
    ptrdiff_t n[3];
} work;

#define SITES(l) ((site *)(void *)(l).aos.blob[0])
#define BLOCKS(l) ((block16 *)(void *)(l).rows16.blob[0])

TIME(hand_aos, work, hand_lattice_aos(SITES(w->from), SITES(w->to), w->n, RATE))
TIME(hand_soa, work, hand_lattice_soa(&w->from.numbers, &w->to.numbers, w->n, RATE))
TIME(hand_rows16, work, hand_lattice_aosoa16(BLOCKS(w->from), BLOCKS(w->to), w->n, RATE))

#define TIME_MAPPED(V)                                                                             \
    TIME(mapped_in_##V, work, mapped_in_##V(&w->reading.V, &w->to.V, RATE))                        \
    TIME(mapped_near_##V, work, mapped_near_##V(&w->reading.V, &w->to.V, RATE))
TIME_MAPPED(aos)
TIME_MAPPED(soa)
TIME_MAPPED(aosoa16)
TIME_MAPPED(rows16)

/* Nearly at rest, nowhere the same. */
static site fluid(ptrdiff_t i) {
    site s;
#define FILL(k, x, y, z, weight) s.f[k] = (weight) + 1e-5f * (float)((i + (k)) % 101);
    DIRECTIONS(FILL)
    return s;
}

/* From the same start to the same result, as far as rounding goes; `expected` is NaN at first. */
#define AGREE(V, function, w, expected)                                                            \
    do {                                                                                           \
        int same = 1;                                                                              \
        HA_EACH(V, (w)->to.V, at) {                                                                \
            V##_store((w)->from.V, at, fluid(ha_index(at)));                                       \
            V##_store((w)->to.V, at, fluid(ha_index(at)));                                         \
        }                                                                                          \
        function(w, 1);                                                                            \
        HA_EACH(V, (w)->to.V, at) {                                                                \
            const site s = V##_load((w)->to.V, at);                                                \
            for (int k = 0; k < SPEEDS; k++) {                                                     \
                const float before = expected[ha_index(at)].f[k];                                  \
                same &= isnan(before) || fabsf(s.f[k] - before) <= 1e-6f;                          \
            }                                                                                      \
            expected[ha_index(at)] = s;                                                            \
        }                                                                                          \
        bench_require(same, #function " has another result");                                      \
    } while (0)

static void check(work *w) {
    const size_t count = (size_t)(w->n[0] * w->n[1] * w->n[2]);
    site *expected = (site *)malloc(count * sizeof *expected);
    bench_require(expected != NULL, "memory");
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < SPEEDS; k++) expected[i].f[k] = NAN;
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
                bench_function *reference) {
    bench_run(&(bench_figure){name, function, w, reference_name, reference, w, .bound = 0});
}

static void make_lattice(lattice *l, ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2) {
    void *blobs[soa_blobs];
    for (int k = 0; k < SPEEDS; k++) {
        blobs[k] = bench_memory(soa_bytes(k, n0, n1, n2));
        l->numbers.f[k] = (float *)blobs[k];
    }
    l->soa = soa_on(blobs, n0, n1, n2);
    blobs[0] = bench_memory(aos_bytes(0, n0, n1, n2));
    l->aos = aos_on(blobs, n0, n1, n2);
    blobs[0] = bench_memory(aosoa16_bytes(0, n0, n1, n2));
    l->aosoa16 = aosoa16_on(blobs, n0, n1, n2);
    blobs[0] = bench_memory(rows16_bytes(0, n0, n1, n2));
    l->rows16 = rows16_on(blobs, n0, n1, n2);
}

int main(int argc, char **argv) {
    static work w;
    volatile ptrdiff_t z = PLANES, y = ROWS, x = LENGTH;
    bench_begin(argc, argv, VARIANT);
    w.n[0] = z, w.n[1] = y, w.n[2] = x;
    make_lattice(&w.from, w.n[0], w.n[1], w.n[2]);
    make_lattice(&w.to, w.n[0], w.n[1], w.n[2]);
    w.reading.aos = aos_reading(w.from.aos);
    w.reading.soa = soa_reading(w.from.soa);
    w.reading.aosoa16 = aosoa16_reading(w.from.aosoa16);
    w.reading.rows16 = rows16_reading(w.from.rows16);
    check(&w);
    run(&w, "lattice aos", time_mapped_in_aos, "by hand", time_hand_aos);
    run(&w, "lattice aos, near", time_mapped_near_aos, "by hand", time_hand_aos);
    run(&w, "lattice soa", time_mapped_in_soa, "by hand", time_hand_soa);
    run(&w, "lattice soa, near", time_mapped_near_soa, "by hand", time_hand_soa);
    run(&w, "lattice aosoa16, rows, near", time_mapped_near_rows16, "by hand", time_hand_rows16);
    run(&w, "lattice aosoa16, rows", time_mapped_in_rows16, "by hand", time_hand_rows16);
    run(&w, "lattice aosoa16, near", time_mapped_near_aosoa16, "by hand, rows", time_hand_rows16);
    run(&w, "lattice aosoa16", time_mapped_in_aosoa16, "by hand, rows", time_hand_rows16);
    return 0;
}
