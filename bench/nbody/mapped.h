/* The loops of n-body as one text each, for every layout. */
#ifndef BENCH_NBODY_MAPPED_H
#define BENCH_NBODY_MAPPED_H

#include "../../layout.h"
#include "../loops.h"
#include "body.h"

#define body_FIELDS                                                                                \
    (float, pos, x), (float, pos, y), (float, pos, z), (float, vel, x), (float, vel, y),           \
        (float, vel, z), (float, mass)
HA_RECORD(body)

/* Both texts. kick: every body pulls every other one; drift: each moves on. */
#define MAPPED(V)                                                                                  \
    HA_FN void kick_##V(V v) {                                                                     \
        const ptrdiff_t n = V##_region(v).last[0];                                                 \
        for (ptrdiff_t i = 0; i < n; i++) {                                                        \
            const ha_cursor here = V##_at(v, i);                                                   \
            const float x = *V##_pos_x(v, here), y = *V##_pos_y(v, here), z = *V##_pos_z(v, here); \
            HA_EACH(V, v, at) {                                                                    \
                KICK(x, y, z, *V##_mass(v, at), *V##_pos_x(v, at), *V##_pos_y(v, at),              \
                     *V##_pos_z(v, at), *V##_vel_x(v, at), *V##_vel_y(v, at), *V##_vel_z(v, at));  \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    HA_FN void drift_##V(V v, float dt) {                                                          \
        HA_EACH(V, v, at) {                                                                        \
            DRIFT(dt, *V##_pos_x(v, at), *V##_pos_y(v, at), *V##_pos_z(v, at), *V##_vel_x(v, at),  \
                  *V##_vel_y(v, at), *V##_vel_z(v, at));                                           \
        }                                                                                          \
    }

/* As functions, for a layout that is known here. They are handed a pointer, as the loops by hand are: a
 * view by value is written to the stack by each call, and with 4099 bodies in blocks of 16, which do
 * not fit into the first cache, a Zen 5 then takes 1.4 times as long for the same AVX-512 instructions. */
#define MAPPED_LOOPS(V)                                                                            \
    MAPPED(V)                                                                                      \
    LOOP void mapped_kick_##V(const V *v) { kick_##V(*v); }                                        \
    LOOP void mapped_drift_##V(const V *v, float dt) { drift_##V(*v, dt); }

HA_VIEW(aos, body, 1, HA_AOS)
HA_VIEW(soa, body, 1, HA_SOA)
HA_VIEW(aosoa8, body, 1, HA_AOSOA(8))
HA_VIEW(aosoa16, body, 1, HA_AOSOA(16))
HA_VIEW(aosoa32, body, 1, HA_AOSOA(32))
MAPPED_LOOPS(aos)
MAPPED_LOOPS(soa)
MAPPED_LOOPS(aosoa8)
MAPPED_LOOPS(aosoa16)
MAPPED_LOOPS(aosoa32)

/* For a layout that is known at run time only. */
HA_VIEW(any, body, 1, HA_ANY)
MAPPED(any)
LOOP void mapped_kick_any(const any *p) {
    any v = *p;
    HA_WITH(v, kick_any(v));
}
LOOP void mapped_drift_any(const any *p, float dt) {
    any v = *p;
    HA_WITH(v, drift_any(v, dt));
}

#endif
