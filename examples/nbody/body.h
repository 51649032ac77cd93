/* The record of this example: the struct, its fields, and what the initial conditions share. */
#ifndef NBODY_BODY_H
#define NBODY_BODY_H

#include "layout.h"

#include <stdint.h>

typedef struct vector {
    double x, y, z;
} vector;

typedef struct body {
    vector pos, vel;
    double mass; /* times the gravitational constant: distance cubed / time squared */
} body;

#define body_FIELDS                                                                                \
    (double, pos, x), (double, pos, y), (double, pos, z), (double, vel, x), (double, vel, y),      \
        (double, vel, z), (double, mass)
HA_RECORD(body)

/* Places and velocities relative to the centre of all masses. */
void body_centre(body *all, int64_t n);

/* ---- solar.c: 11 bodies, in astronomical units and days, at noon of 2000-01-01 --------------- */

enum { SUN, MERCURY, VENUS, EARTH, MOON, MARS, JUPITER, SATURN, URANUS, NEPTUNE, PLUTO, PLANETS };

void solar_system(body all[PLANETS]);

/* ---- cluster.c: a globular cluster of any size ----------------------------------------------- */

/* `n` stars of equal mass, 1 altogether, in a sphere that keeps its size; the same for the same
 * seed. In units in which the whole has energy -1/4, so that it takes a star 2.8 to cross it. */
void cluster(body *all, int64_t n, uint64_t seed);

#endif
