/* The force loop (force_loop.h) for particles as structs, as an array for each value, and as an array for
 * each field: by hand, through views whose layout is known when the program is compiled, and through
 * one whose layout is known at run time only. */
#ifndef BENCH_MD_LOOPS_H
#define BENCH_MD_LOOPS_H

#include "../../layout.h"
#include "../loops.h"
#include "particle.h"

#define particle_FIELDS                                                                            \
    (double, r, (3)), (double, p, (3)), (double, f, (3)), (double, charge), (double, energy),      \
        (int, type)
HA_RECORD(particle)
HA_VIEW(aos, particle, 1, HA_AOS)
HA_VIEW(soa, particle, 1, HA_SOA)
HA_VIEW(fields, particle, 1, HA_SOA_FIELDS)
HA_VIEW(any, particle, 1, HA_ANY)
HA_VIEW(two, particle, 1, HA_ANY_OF(HA_AOS, HA_SOA_FIELDS))

/* ---- by hand --------------------------------------------------------------------------------- */

typedef struct arrays {
    ptrdiff_t n;
    double (*r)[3], (*p)[3], (*f)[3], *charge, *energy;
    int *type;
} arrays;

typedef struct structs {
    ptrdiff_t n;
    particle *all;
} structs;

#define HAND_LOAD(from, to) ((to)[0] = (from)[0], (to)[1] = (from)[1], (to)[2] = (from)[2])
#define HAND_ADD(to, more) ((to)[0] += (more)[0], (to)[1] += (more)[1], (to)[2] += (more)[2])

#define NAME hand_aos
#define PARTICLES structs
#define PLACE ptrdiff_t
#define AT(v, i) ((ptrdiff_t)(i))
#define EACH(v, at) INDEPENDENT for (ptrdiff_t at = 0; at < v.n; at++)
#define CHARGE(v, at) v.all[at].charge
#define ENERGY(v, at) v.all[at].energy
#define TYPE(v, at) v.all[at].type
#define LOAD_R(v, at, x) HAND_LOAD(v.all[at].r, x)
#define LOAD_P(v, at, x) HAND_LOAD(v.all[at].p, x)
#define LOAD_F(v, at, x) HAND_LOAD(v.all[at].f, x)
#define STORE_P(v, at, x) HAND_LOAD(x, v.all[at].p)
#define STORE_F(v, at, x) HAND_LOAD(x, v.all[at].f)
#define ADD_F(v, at, x) HAND_ADD(v.all[at].f, x)
#include "force_loop.h"

#define NAME hand_fields
#define PARTICLES arrays
#define PLACE ptrdiff_t
#define AT(v, i) ((ptrdiff_t)(i))
#define EACH(v, at) INDEPENDENT for (ptrdiff_t at = 0; at < v.n; at++)
#define CHARGE(v, at) v.charge[at]
#define ENERGY(v, at) v.energy[at]
#define TYPE(v, at) v.type[at]
#define LOAD_R(v, at, x) HAND_LOAD(v.r[at], x)
#define LOAD_P(v, at, x) HAND_LOAD(v.p[at], x)
#define LOAD_F(v, at, x) HAND_LOAD(v.f[at], x)
#define STORE_P(v, at, x) HAND_LOAD(x, v.p[at])
#define STORE_F(v, at, x) HAND_LOAD(x, v.f[at])
#define ADD_F(v, at, x) HAND_ADD(v.f[at], x)
#include "force_loop.h"

/* ---- through views --------------------------------------------------------------------------- */

#define VIEW aos
#include "through_view.h"
#define VIEW soa
#include "through_view.h"
#define VIEW fields
#include "through_view.h"
#define VIEW any
#include "through_view.h"
#define VIEW two
#include "through_view.h"

LOOP void md_hand_aos(const structs *v, const md *s, md_sums *sums) {
    forces_hand_aos(*v, s, sums);
}
LOOP void md_hand_fields(const arrays *v, const md *s, md_sums *sums) {
    forces_hand_fields(*v, s, sums);
}
LOOP void md_aos(const aos *v, const md *s, md_sums *sums) { forces_aos(*v, s, sums); }
LOOP void md_soa(const soa *v, const md *s, md_sums *sums) { forces_soa(*v, s, sums); }
LOOP void md_fields(const fields *v, const md *s, md_sums *sums) { forces_fields(*v, s, sums); }

/* Compiled for each layout there is; for two that the place names; for two that the view names; and for
 * none. */
LOOP void md_any(const any *p, const md *s, md_sums *sums) {
    any v = *p;
    HA_WITH(v, forces_any(v, s, sums));
}
LOOP void md_only(const any *p, const md *s, md_sums *sums) {
    any v = *p;
    HA_WITH_ONLY(v, (HA_AOS, HA_SOA_FIELDS), forces_any(v, s, sums));
}
LOOP void md_two(const two *p, const md *s, md_sums *sums) {
    two v = *p;
    HA_WITH(v, forces_two(v, s, sums));
}
LOOP void md_bare(const any *p, const md *s, md_sums *sums) { forces_any(*p, s, sums); }

#endif
