/* A step of the lattice as one text, for every layout. The views come by pointer: of two that come by
 * value, clang 14 reads the second one again for each site, and makes vectors of half the width. */
#ifndef BENCH_LATTICE_MAPPED_H
#define BENCH_LATTICE_MAPPED_H

#include "../../layout.h"
#include "../loops.h"
#include "site.h"

#define site_FIELDS (float, f, (SPEEDS))
HA_RECORD(site)

#define SOURCE(x, y, z)                                                                            \
    ha_neighbour(ha_neighbour(ha_neighbour(at, 0, -STEP_##z), 1, -STEP_##y), 2, -STEP_##x)
#define PULL(V, k, x, y, z) const float f##k = *V##_const_f(from, SOURCE(x, y, z), k);
#define PUT(V, k, x, y, z, weight) *V##_f(to, at, k) = RELAXED(rate, k, x, y, z, weight);

#define MAPPED_LOOP(name, EACH, V)                                                                 \
    LOOP void mapped_##name##_##V(const V##_const *source, const V *target, float rate) {          \
        const V##_const from = *source;                                                            \
        const V to = *target;                                                                      \
        EACH(V, to, at, ha_inside(V##_region(to), 3, 1)) { COLLIDE(rate, PULL_##V, PUT_##V); }     \
    }
#define MAPPED(V)                                                                                  \
    MAPPED_LOOP(in, HA_EACH_IN, V)                                                                 \
    MAPPED_LOOP(near, HA_EACH_NEAR, V)

HA_VIEW(aos, site, 3, HA_AOS)
HA_VIEW(soa, site, 3, HA_SOA)
HA_VIEW(aosoa16, site, 3, HA_AOSOA(16))
HA_VIEW(rows16, site, 3, HA_AOSOA(16, HA_ROWS))
#define PULL_aos(k, x, y, z, weight) PULL(aos, k, x, y, z)
#define PULL_soa(k, x, y, z, weight) PULL(soa, k, x, y, z)
#define PULL_aosoa16(k, x, y, z, weight) PULL(aosoa16, k, x, y, z)
#define PULL_rows16(k, x, y, z, weight) PULL(rows16, k, x, y, z)
#define PUT_aos(k, x, y, z, weight) PUT(aos, k, x, y, z, weight)
#define PUT_soa(k, x, y, z, weight) PUT(soa, k, x, y, z, weight)
#define PUT_aosoa16(k, x, y, z, weight) PUT(aosoa16, k, x, y, z, weight)
#define PUT_rows16(k, x, y, z, weight) PUT(rows16, k, x, y, z, weight)
MAPPED(aos)
MAPPED(soa)
MAPPED(aosoa16)
MAPPED(rows16)

#endif
