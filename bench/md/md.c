/* A molecular dynamics' force loop, 200 lines of it: one text in three layouts, against the loop by hand;
 * and where the layout is known at run time only, against that of the view that has it when the
 * program is compiled. All work on the same numbers, and get the same. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef BENCH_LINKED /* with the library, in which it is */
#define HA_LAYOUT_IMPLEMENTATION
#endif
#include "loops.h"

#include <stdlib.h>

#ifndef SIDE
#define SIDE 20 /* particles along each edge of the box */
#endif
#ifndef VARIANT
#define VARIANT ""
#endif

typedef struct work {
    md s;
    structs hand_aos;
    arrays hand_fields;
    aos aos;
    soa soa;
    fields fields;
    any any_aos, any_soa, any_fields;
    two two_aos, two_fields;
    md_sums sums;
} work;

#define TIME_MD(name, function, view) TIME(name, work, function(&w->view, &w->s, &w->sums))
TIME_MD(hand_aos, md_hand_aos, hand_aos)
TIME_MD(hand_fields, md_hand_fields, hand_fields)
TIME_MD(aos, md_aos, aos)
TIME_MD(soa, md_soa, soa)
TIME_MD(fields, md_fields, fields)
TIME_MD(any_aos, md_any, any_aos)
TIME_MD(any_soa, md_any, any_soa)
TIME_MD(any_fields, md_any, any_fields)
TIME_MD(only_aos, md_only, any_aos)
TIME_MD(only_fields, md_only, any_fields)
TIME_MD(two_aos, md_two, two_aos)
TIME_MD(two_fields, md_two, two_fields)
TIME_MD(bare_aos, md_bare, any_aos)
TIME_MD(bare_fields, md_bare, any_fields)

/* ---- a liquid -------------------------------------------------------------------------------- */

static void *memory(size_t bytes) {
    void *m = aligned_alloc(64, (bytes + 63) / 64 * 64);
    bench_require(m != NULL, "memory");
    return memset(m, 0, (bytes + 63) / 64 * 64);
}

static double noise(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return (double)(*state >> 8) / (1 << 24) - 0.5;
}

/* On a lattice, a bit off; bonds and angles along x, four particles each. */
static particle *liquid(md *s) {
    enum { N = SIDE * SIDE * SIDE };
    const double apart = 1.15;
    uint32_t state = 1;
    particle *all = (particle *)memory(sizeof(particle) * N);
    int(*bond)[2] = (int(*)[2])memory(sizeof *bond * N);
    int(*angle)[3] = (int(*)[3])memory(sizeof *angle * N);
    *s = (md){.n = N, .box = {SIDE * apart, SIDE * apart, SIDE * apart}, .cutoff = 2.5};
    for (int i = 0; i < N; i++) {
        const int at[3] = {i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE)};
        for (int d = 0; d < 3; d++) {
            all[i].r[d] = (at[d] + 0.5 + 0.1 * noise(&state)) * apart;
            all[i].p[d] = noise(&state);
        }
        all[i].charge = i % 3 == 0 ? 0 : i % 3 == 1 ? 0.3 : -0.3;
        all[i].type = i % MD_TYPES;
        if (at[0] % 4 < 3 && at[0] + 1 < SIDE) {
            bond[s->bonds][0] = i;
            bond[s->bonds++][1] = i + 1;
        }
        if (at[0] % 4 < 2 && at[0] + 2 < SIDE)
            for (int k = 0; k < 3; k++) angle[s->angles][k] = i + k;
        s->angles += at[0] % 4 < 2 && at[0] + 2 < SIDE;
    }
    s->bond = (const int(*)[2])bond;
    s->angle = (const int(*)[3])angle;
    return all;
}

static void constants(md *s) {
    const double c = s->cutoff, medium = 80;
    s->switching = 2.0;
    s->reaction_k = (medium - 1) / (2 * medium + 1) / (c * c * c);
    s->reaction_c = 1 / c + s->reaction_k * c * c;
    for (int a = 0; a < MD_TYPES; a++) {
        s->mass[a] = 1 + a;
        for (int b = 0; b < MD_TYPES; b++) {
            s->epsilon[a][b] = 1 + 0.1 * (a + b);
            s->sigma[a][b] = 1 - 0.02 * (a + b);
        }
    }
    s->wall_epsilon = 1;
    s->wall_sigma = 1;
    s->field = 0.1;
    s->bond_k = 50;
    s->bond_length = 1.1;
    s->angle_k = 5;
    s->angle_cosine = -1;
    s->dt = 1e-30; /* nobody gets anywhere, however often this is timed */
}

static int cell_of(const md *s, const particle *p) {
    ptrdiff_t c[3];
    for (int d = 0; d < 3; d++) {
        c[d] = (ptrdiff_t)(p->r[d] / s->box[d] * (double)s->cells[d]);
        if (c[d] >= s->cells[d]) c[d] = s->cells[d] - 1;
    }
    return (int)((c[2] * s->cells[1] + c[1]) * s->cells[0] + c[0]);
}

static void sort_into_cells(md *s, const particle *all) {
    ptrdiff_t cells = 1;
    for (int d = 0; d < 3; d++) cells *= s->cells[d] = (ptrdiff_t)(s->box[d] / s->cutoff);
    int *start = (int *)memory(sizeof(int) * (size_t)(cells + 2));
    int *member = (int *)memory(sizeof(int) * (size_t)s->n);
    for (ptrdiff_t i = 0; i < s->n; i++) start[cell_of(s, &all[i]) + 2]++;
    for (ptrdiff_t c = 2; c <= cells + 1; c++) start[c] += start[c - 1];
    for (ptrdiff_t i = 0; i < s->n; i++) member[start[cell_of(s, &all[i]) + 1]++] = (int)i;
    s->start = start;
    s->member = member;
}

/* ---- the same particles in every layout ------------------------------------------------------ */

#define FROM(V, name, layout, blobs, n)                                                            \
    static V name(const char *layout, char *const *blobs, ptrdiff_t n) {                           \
        const int64_t extent[] = {n};                                                              \
        void *b[soa_blobs];                                                                        \
        ha_mapping *m = ha_mapping_parse(&particle_record, layout, 1, extent, NULL);               \
        bench_require(m != NULL, layout);                                                          \
        for (int k = 0, l = 0; k < m->blobs; k++) {                                                \
            b[k] = blobs[l];                                                                       \
            l += strcmp(layout, "soa(fields)") == 0 && k < 3 ? 3 : 1;                              \
        }                                                                                          \
        const V v = V##_from(m, b, NULL);                                                          \
        bench_require(!V##_null(v), layout);                                                       \
        ha_mapping_free(m);                                                                        \
        return v;                                                                                  \
    }
FROM(any, any_view, layout, blobs, n)
FROM(two, two_view, layout, blobs, n)

static void make(work *w) {
    particle *all = liquid(&w->s);
    const ptrdiff_t n = w->s.n;
    constants(&w->s);
    sort_into_cells(&w->s, all);
    w->aos = aos_of(all, n);
    w->soa = soa_new(n);
    w->fields = fields_new(n);
    bench_require(!soa_null(w->soa) && !fields_null(w->fields), "memory");
    for (ptrdiff_t i = 0; i < n; i++) {
        soa_store(w->soa, soa_at(w->soa, i), all[i]);
        fields_store(w->fields, fields_at(w->fields, i), all[i]);
    }
    w->hand_aos = (structs){n, all};
    const ha_cursor first = fields_at(w->fields, 0);
    w->hand_fields = (arrays){n,
                              (double(*)[3])(void *)fields_r(w->fields, first, 0),
                              (double(*)[3])(void *)fields_p(w->fields, first, 0),
                              (double(*)[3])(void *)fields_f(w->fields, first, 0),
                              fields_charge(w->fields, first),
                              fields_energy(w->fields, first),
                              fields_type(w->fields, first)};
    w->any_aos = any_view("aos", w->aos.blob, n);
    w->any_soa = any_view("soa", w->soa.blob, n);
    w->any_fields = any_view("soa(fields)", w->fields.blob, n);
    w->two_aos = two_view("aos", w->aos.blob, n);
    w->two_fields = two_view("soa(fields)", w->fields.blob, n);
}

/* What one of them finds, compared with what the first one did. */
static md_sums expected;
static void agree(work *w, bench_function *f, const char *name) {
    const double tolerance = 1e-9;
    f(w, 1);
    const double *ours = (const double *)&w->sums, *theirs = (const double *)&expected;
    if (theirs[0] == 0) expected = w->sums;
    for (size_t k = 0; k < sizeof expected / sizeof *ours; k++)
        bench_require(fabs(ours[k] - theirs[k]) <= tolerance * (1 + fabs(theirs[k])), name);
}

int main(int argc, char **argv) {
    static work w;
    bench_begin(argc, argv, VARIANT);
    make(&w);
#define FIGURE(ours, theirs, limit)                                                                \
    agree(&w, time_##theirs, #theirs);                                                             \
    agree(&w, time_##ours, #ours);                                                                 \
    bench_run(&(bench_figure){"md force loop, " #ours, time_##ours, &w, #theirs, time_##theirs,    \
                              &w, .bound = limit})
    FIGURE(aos, hand_aos, 1.1);
    FIGURE(fields, hand_fields, 1.05);
    FIGURE(any_aos, aos, 1.1);
    FIGURE(any_soa, soa, 1.1);
    FIGURE(any_fields, fields, 1.1);
    FIGURE(only_aos, aos, 1.05);
    FIGURE(only_fields, fields, 1.05);
    FIGURE(two_aos, aos, 1.05);
    FIGURE(two_fields, fields, 1.05);
    FIGURE(bare_aos, aos, 0);
    FIGURE(bare_fields, fields, 0);
    return 0;
}
