/* The seven-point stencil as one text, for every layout: with HA_EACH_IN, and with HA_EACH_NEAR,
 * which knows that the neighbours along a row are one cell away. */
#ifndef BENCH_STENCIL_MAPPED_H
#define BENCH_STENCIL_MAPPED_H

#include "../../layout.h"
#include "../loops.h"
#include "cell.h"

#define cell_FIELDS (float, now), (float, next), (float, factor)
HA_RECORD(cell)

#define NOW(V, d, k) *V##_now(v, ha_neighbour(at, d, k))
#define MAPPED_LOOP(name, EACH, V)                                                                 \
    LOOP void mapped_##name##_##V(V v) {                                                           \
        EACH(V, v, at, ha_inside(V##_region(v), 3, 1)) {                                           \
            DIFFUSE(*V##_next(v, at), *V##_now(v, at), *V##_factor(v, at), NOW(V, 2, -1),          \
                    NOW(V, 2, 1), NOW(V, 1, -1), NOW(V, 1, 1), NOW(V, 0, -1), NOW(V, 0, 1));       \
        }                                                                                          \
    }
#define MAPPED(V)                                                                                  \
    MAPPED_LOOP(in, HA_EACH_IN, V)                                                                 \
    MAPPED_LOOP(near, HA_EACH_NEAR, V)

HA_VIEW(aos, cell, 3, HA_AOS)
HA_VIEW(soa, cell, 3, HA_SOA)
HA_VIEW(aosoa16, cell, 3, HA_AOSOA(16))
HA_VIEW(rows16, cell, 3, HA_AOSOA(16, HA_ROWS))
MAPPED(aos)
MAPPED(soa)
MAPPED(aosoa16)
MAPPED(rows16)

#endif
