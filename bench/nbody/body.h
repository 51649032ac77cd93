/* The record of the n-body benchmark, and what its two loops do to one body, whoever wrote the
 * loop. */
#ifndef BENCH_BODY_H
#define BENCH_BODY_H

#include <math.h>

typedef struct vector {
    float x, y, z;
} vector;

typedef struct body {
    vector pos, vel;
    float mass;
} body;

/* The body of this mass at this place is pulled by (x, y, z): 20 operations. Nothing is excluded: a
 * body does not pull itself, as the distance is zero, and the softening keeps that from being 0 /
 * 0. */
#define KICK(x, y, z, mass, px, py, pz, vx, vy, vz)                                                \
    do {                                                                                           \
        const float dx = (x) - (px), dy = (y) - (py), dz = (z) - (pz);                             \
        const float square = dx * dx + dy * dy + dz * dz + 0.01f;                                  \
        const float pull = (mass)*0.0001f / sqrtf(square * square * square);                       \
        (vx) += dx * pull;                                                                         \
        (vy) += dy * pull;                                                                         \
        (vz) += dz * pull;                                                                         \
    } while (0)

#define DRIFT(dt, px, py, pz, vx, vy, vz)                                                          \
    do {                                                                                           \
        (px) += (dt) * (vx);                                                                       \
        (py) += (dt) * (vy);                                                                       \
        (pz) += (dt) * (vz);                                                                       \
    } while (0)

#endif
