/* n-body: one text for each loop, in five layouts, against the best loops by hand for each of them.
 * The number of bodies is no multiple of any number of lanes. Both work on the same memory, in
 * turns. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef BENCH_LINKED /* with the library, in which it is */
#define HA_LAYOUT_IMPLEMENTATION
#endif
#include "hand.h"
#include "mapped.h"

#ifndef BODIES
#define BODIES 4099
#endif
#ifndef VARIANT
#define VARIANT ""
#endif
#ifndef AOS_BOUND
#define AOS_BOUND 1.1
#endif

#define DT 1e-9f /* nobody gets anywhere, however often this is timed */

typedef struct work {
    aos aos;
    soa soa;
    aosoa8 aosoa8;
    aosoa16 aosoa16;
    aosoa32 aosoa32;
    any any_aos, any_soa, any_aosoa8, any_aosoa16, any_aosoa32; /* of the same memory */
    ptrdiff_t n;
} work;

static float *as_float(void *blob) { return (float *)blob; }

static arrays arrays_of(soa v) {
    char *const *b = v.blob;
    return (arrays){as_float(b[0]), as_float(b[1]), as_float(b[2]), as_float(b[3]),
                    as_float(b[4]), as_float(b[5]), as_float(b[6])};
}

#define BODIES_OF(w) ((body *)(void *)(w)->aos.blob[0])
#define BLOCKS_OF(L, w) ((block##L *)(void *)(w)->aosoa##L.blob[0])

TIME(hand_kick_aos, work, hand_kick_aos(BODIES_OF(w), w->n))
TIME(hand_kick_soa, work, hand_kick_soa(arrays_of(w->soa), w->n))
TIME(hand_kick_aosoa8, work, hand_kick_aosoa8(BLOCKS_OF(8, w), w->n))
TIME(hand_kick_aosoa16, work, hand_kick_aosoa16(BLOCKS_OF(16, w), w->n))
TIME(hand_kick_aosoa32, work, hand_kick_aosoa32(BLOCKS_OF(32, w), w->n))
TIME(hand_drift_aos, work, hand_drift_aos(BODIES_OF(w), w->n, DT))
TIME(hand_drift_soa, work, hand_drift_soa(arrays_of(w->soa), w->n, DT))
TIME(hand_drift_aosoa8, work, hand_drift_aosoa8(BLOCKS_OF(8, w), w->n, DT))
TIME(hand_drift_aosoa16, work, hand_drift_aosoa16(BLOCKS_OF(16, w), w->n, DT))
TIME(hand_drift_aosoa32, work, hand_drift_aosoa32(BLOCKS_OF(32, w), w->n, DT))

#define TIME_MAPPED(V)                                                                             \
    TIME(mapped_kick_##V, work, mapped_kick_##V(&w->V))                                            \
    TIME(mapped_drift_##V, work, mapped_drift_##V(&w->V, DT))                                      \
    TIME(any_kick_##V, work, mapped_kick_any(&w->any_##V))                                         \
    TIME(any_drift_##V, work, mapped_drift_any(&w->any_##V, DT))
TIME_MAPPED(aos)
TIME_MAPPED(soa)
TIME_MAPPED(aosoa8)
TIME_MAPPED(aosoa16)
TIME_MAPPED(aosoa32)

/* ---- the same numbers in every layout, and the same results --------------------------------- */

static float random_number(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return (float)(*state >> 8) * 1e-7f;
}

static body random_body(uint32_t *state) {
    const float x = random_number(state), y = random_number(state), z = random_number(state);
    return (body){{x, y, z}, {0, 0, 0}, random_number(state)};
}

static int is_near(vector a, vector b) {
    const float tolerance = 1e-3f * (fabsf(a.x) + fabsf(a.y) + fabsf(a.z)) + 1e-6f;
    return fabsf(a.x - b.x) < tolerance && fabsf(a.y - b.y) < tolerance &&
           fabsf(a.z - b.z) < tolerance;
}

/* A kick and a drift by each, from the same start. `expected` has n records, from the layout
 * before, or with mass 0 if there was none. */
#define AGREE(V, w, expected)                                                                      \
    do {                                                                                           \
        for (int by = 0; by < 3; by++) {                                                           \
            uint32_t state = 1;                                                                    \
            for (ptrdiff_t i = 0; i < (w)->n; i++)                                                 \
                V##_store((w)->V, V##_at((w)->V, i), random_body(&state));                         \
            (by == 0   ? time_hand_kick_##V                                                        \
             : by == 1 ? time_mapped_kick_##V                                                      \
                       : time_any_kick_##V)(w, 1);                                                 \
            (by == 0   ? time_hand_drift_##V                                                       \
             : by == 1 ? time_mapped_drift_##V                                                     \
                       : time_any_drift_##V)(w, 1);                                                \
            for (ptrdiff_t i = 0; i < (w)->n; i++) {                                               \
                const body b = V##_load((w)->V, V##_at((w)->V, i));                                \
                bench_require(expected[i].mass == 0 || (is_near(expected[i].pos, b.pos) &&         \
                                                        is_near(expected[i].vel, b.vel)),          \
                              #V " has other results");                                            \
                expected[i] = b;                                                                   \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static void run(work *w, const char *name, bench_function *function, bench_function *reference,
                double bound) {
    bench_run(&(bench_figure){name, function, w, "by hand", reference, w, .bound = bound});
}

#define RUN(V, w, bound)                                                                           \
    run(w, "kick " #V, time_mapped_kick_##V, time_hand_kick_##V, bound);                           \
    run(w, "drift " #V, time_mapped_drift_##V, time_hand_drift_##V, bound);                        \
    run(w, "kick " #V ", any", time_any_kick_##V, time_hand_kick_##V, 1.1);                        \
    run(w, "drift " #V ", any", time_any_drift_##V, time_hand_drift_##V, 1.1)

/* The layout by its text, on the blobs of a view that has it. */
static any any_view(const char *layout, ptrdiff_t n, char *const *blobs) {
    const int64_t extent[] = {n};
    void *blob[soa_blobs] = {NULL};
    ha_mapping *m = ha_mapping_parse(&body_record, layout, 1, extent, NULL);
    bench_require(m != NULL && m->blobs <= soa_blobs, layout);
    for (int k = 0; k < m->blobs; k++) blob[k] = blobs[k];
    const any v = any_from(m, blob, NULL);
    bench_require(!any_null(v), layout);
    ha_mapping_free(m);
    return v;
}

static void make_any(work *w) {
    w->any_aos = any_view("aos", w->n, w->aos.blob);
    w->any_soa = any_view("soa", w->n, w->soa.blob);
    w->any_aosoa8 = any_view("aosoa(8)", w->n, w->aosoa8.blob);
    w->any_aosoa16 = any_view("aosoa(16)", w->n, w->aosoa16.blob);
    w->any_aosoa32 = any_view("aosoa(32)", w->n, w->aosoa32.blob);
}

/* Of known size, but not known to the compiler. */
static void make(work *w) {
    volatile ptrdiff_t n = BODIES;
    void *blobs[soa_blobs];
    w->n = n;
    for (int k = 0; k < soa_blobs; k++) blobs[k] = bench_memory(soa_bytes(k, n));
    w->soa = soa_on(blobs, n);
    blobs[0] = bench_memory(aos_bytes(0, n));
    w->aos = aos_on(blobs, n);
    blobs[0] = bench_memory(aosoa8_bytes(0, n));
    w->aosoa8 = aosoa8_on(blobs, n);
    blobs[0] = bench_memory(aosoa16_bytes(0, n));
    w->aosoa16 = aosoa16_on(blobs, n);
    blobs[0] = bench_memory(aosoa32_bytes(0, n));
    w->aosoa32 = aosoa32_on(blobs, n);
}

static void check(work *w) {
    body *expected = (body *)calloc((size_t)w->n, sizeof *expected);
    bench_require(expected != NULL, "memory");
    AGREE(aos, w, expected);
    AGREE(soa, w, expected);
    AGREE(aosoa8, w, expected);
    AGREE(aosoa16, w, expected);
    AGREE(aosoa32, w, expected);
    free(expected);
}

int main(int argc, char **argv) {
    static work w;
    bench_begin(argc, argv, VARIANT);
    make(&w);
    make_any(&w);
    check(&w);
    RUN(aos, &w, AOS_BOUND);
    RUN(soa, &w, 1.03);
    RUN(aosoa8, &w, 1.03);
    RUN(aosoa16, &w, 1.03);
    RUN(aosoa32, &w, 1.03);
    return 0;
}
