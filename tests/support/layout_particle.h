/* The record of most tests of layouts: fields of three sizes, an array, and a size that is no multiple
 * of the largest. */
#ifndef HARRAY_TESTS_SUPPORT_LAYOUT_PARTICLE_H
#define HARRAY_TESTS_SUPPORT_LAYOUT_PARTICLE_H

#include "../../layout.h"

typedef struct particle {
    struct {
        double x, y, z;
    } pos;
    float mass;
    struct {
        double x, y, z;
    } vel;
    bool flags[4];
} particle;
#define HOT_FIELDS (double, pos, x), (double, pos, y), (double, pos, z)
#define COLD_FIELDS                                                                                \
    (float, mass), (double, vel, x), (double, vel, y), (double, vel, z), (bool, flags, (4))
#define particle_FIELDS HOT_FIELDS, COLD_FIELDS
HA_RECORD(particle)

/* Different for each seed, and without bytes that are zero by chance everywhere. */
static inline particle particle_of(uint64_t seed) {
    particle p;
    memset(&p, 0, sizeof p);
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const double value = (double)(seed >> 12) + 0.5;
    p.pos.x = value;
    p.pos.y = -value;
    p.pos.z = value * 3;
    p.mass = (float)(seed >> 40) + 0.25f;
    p.vel.x = value * 5;
    p.vel.y = -value * 7;
    p.vel.z = value * 11;
    for (int k = 0; k < 4; k++) p.flags[k] = (seed >> (20 + k) & 1) != 0;
    return p;
}

#endif
