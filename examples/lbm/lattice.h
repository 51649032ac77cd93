/* What a site of the lattice is, and what happens to it in a step: the kernels, which are all that knows
 * physics. Two dimensions, nine velocities (D2Q9).
 *
 * A site has as many numbers as there are velocities: how much of the fluid goes on
 *
 *     7  3  5
 *     1's opposite is 2:      2  0  1      north is the row before, east the next column
 *     6  4  8
 *
 * and they are there twice, now and a step later, as fields of one record: a step reads the one and
 * writes the other, so that no site is in the way of its neighbours, and nothing is copied.
 *
 * Relaxation is by two rates (I. Ginzburg, F. Verhaeghe, D. d'Humieres, Communications in Computational
 * Physics 3, 2008, 427-478): of each pair of opposite velocities the sum has one, which is the viscosity,
 * and the difference another one. Solid sites send back what arrives, so that the fluid rests half way
 * between them and their neighbours, and what they turn around is the force on them (A. J. C. Ladd,
 * Journal of Fluid Mechanics 271, 1994, 285-309). */
#ifndef LBM_LATTICE_H
#define LBM_LATTICE_H

#include "harray_kernels.h"

typedef struct site {
    float f[9], g[9];
    uint8_t solid;
} site;
#define site_FIELDS (float, f, (9)), (float, g, (9)), (uint8_t, solid)
HA_RECORD(site)
/* The kernels are compiled for each of them: for all that takes most of a minute. */
#ifdef LBM_FEW_LAYOUTS
#define LAYOUTS HA_ANY_OF(HA_AOS, HA_SOA, HA_AOSOA(8), HA_AOSOA(16))
#else
#define LAYOUTS HA_ANY
#endif
HA_VIEW(lattice, site, 2, LAYOUTS)
HA_RECORDS(sites, lattice);

/* A step of all sites of a box, whose neighbours are all there. even and odd: half of the rates. What is `more` of the sum
 * of two opposite velocities than there would be in equilibrium goes from both, and `apart` of their difference from the
 * one to the other. */
#define STEP(name, what, now, later)                                                               \
    HA_KERNEL_EACH(name, (sites, v, what), ((value, float, even), (value, float, odd)), at, {      \
        const ha_cursor north = ha_neighbour(at, 0, -1), south = ha_neighbour(at, 0, 1);           \
        const float f0 = *lattice_##now(v, at, 0);                                                 \
        const float f1 = *lattice_##now(v, ha_neighbour(at, 1, -1), 1);                            \
        const float f2 = *lattice_##now(v, ha_neighbour(at, 1, 1), 2);                             \
        const float f3 = *lattice_##now(v, south, 3);                                              \
        const float f4 = *lattice_##now(v, north, 4);                                              \
        const float f5 = *lattice_##now(v, ha_neighbour(south, 1, -1), 5);                         \
        const float f6 = *lattice_##now(v, ha_neighbour(north, 1, 1), 6);                          \
        const float f7 = *lattice_##now(v, ha_neighbour(south, 1, 1), 7);                          \
        const float f8 = *lattice_##now(v, ha_neighbour(north, 1, -1), 8);                         \
        const float density = f0 + ((f1 + f2) + (f3 + f4)) + ((f5 + f6) + (f7 + f8));              \
        const float inverse = 1 / density;                                                         \
        const float x = ((f1 - f2) + (f5 - f6) + (f8 - f7)) * inverse;                             \
        const float y = ((f3 - f4) + (f5 - f6) + (f7 - f8)) * inverse;                             \
        const float still = 1 - 1.5f * (x * x + y * y), p = x + y, q = y - x;                      \
        const float along = density * (2.f / 9), across = density * (2.f / 36);                    \
        const float more1 = even * ((f1 + f2) - along * (still + 4.5f * (x * x)));                 \
        const float more3 = even * ((f3 + f4) - along * (still + 4.5f * (y * y)));                 \
        const float more5 = even * ((f5 + f6) - across * (still + 4.5f * (p * p)));                \
        const float more7 = even * ((f7 + f8) - across * (still + 4.5f * (q * q)));                \
        const float apart1 = odd * ((f1 - f2) - 3 * along * x);                                    \
        const float apart3 = odd * ((f3 - f4) - 3 * along * y);                                    \
        const float apart5 = odd * ((f5 - f6) - 3 * across * p);                                   \
        const float apart7 = odd * ((f7 - f8) - 3 * across * q);                                   \
        const bool solid = *lattice_solid(v, at) != 0;                                             \
        *lattice_##later(v, at, 0) = solid ? f0 : f0 - 2 * even * (f0 - 2 * along * still);        \
        *lattice_##later(v, at, 1) = solid ? f2 : f1 - more1 - apart1;                             \
        *lattice_##later(v, at, 2) = solid ? f1 : f2 - more1 + apart1;                             \
        *lattice_##later(v, at, 3) = solid ? f4 : f3 - more3 - apart3;                             \
        *lattice_##later(v, at, 4) = solid ? f3 : f4 - more3 + apart3;                             \
        *lattice_##later(v, at, 5) = solid ? f6 : f5 - more5 - apart5;                             \
        *lattice_##later(v, at, 6) = solid ? f5 : f6 - more5 + apart5;                             \
        *lattice_##later(v, at, 7) = solid ? f8 : f7 - more7 - apart7;                             \
        *lattice_##later(v, at, 8) = solid ? f7 : f8 - more7 + apart7;                             \
    })
STEP(step_forth, "read f+solid, write g", f, g);
STEP(step_back, "read g+solid, write f", g, f);

/* What leaves at the last column is what was at its neighbour. */
#define LEAVE(name, what, now, later)                                                              \
    HA_KERNEL_EACH(name, (sites, v, what), (), at, {                                               \
        float all[9];                                                                              \
        lattice_##now##_load(v, ha_neighbour(at, 1, -1), all);                                     \
        lattice_##later##_store(v, at, all);                                                       \
    })
LEAVE(leave_forth, "read f, write g", f, g);
LEAVE(leave_back, "read g, write f", g, f);

/* ---- what is measured, after an even number of steps ------------------------------------------- */

/* The momentum of a site, and its density. */
HA_DEVICE_CODE(
    momentum,
    HA_FN float momentum_east(const float *f) {
        return (f[1] - f[2]) + (f[5] - f[6]) + (f[8] - f[7]);
    } HA_FN float momentum_north(const float *f) {
        return (f[3] - f[4]) + (f[5] - f[6]) + (f[7] - f[8]);
    } HA_FN float density(const float *f) {
        return f[0] + ((f[1] + f[2]) + (f[3] + f[4])) + ((f[5] + f[6]) + (f[7] + f[8]));
    });

/* The density and the velocity of the fluid, which are 0 at solid sites. */
HA_KERNEL_EACH(measure, (sites, v, "read f+solid"),
               ((uses, momentum), (out, array_float_2, rho), (out, array_float_2, x),
                (out, array_float_2, y)),
               at, {
                   float f[9];
                   lattice_f_load(v, at, f);
                   const int64_t j = ha_coordinate(at, 0), i = ha_coordinate(at, 1);
                   const bool solid = *lattice_solid(v, at) != 0;
                   const float mass = density(f), inverse = 1 / mass;
                   HA_AT(rho, j, i) = solid ? 0 : mass;
                   HA_AT(x, j, i) = solid ? 0 : inverse * momentum_east(f);
                   HA_AT(y, j, i) = solid ? 0 : inverse * momentum_north(f);
               });

/* The force on solid sites: these have just turned around what arrived, and so have got twice that. Inside of the
 * solid nothing arrives. */
HA_KERNEL_EACH(push, (sites, v, "read f+solid"),
               ((uses, momentum), (out, array_float_2, x), (out, array_float_2, y)), at, {
                   float f[9];
                   lattice_f_load(v, at, f);
                   const int64_t j = ha_coordinate(at, 0), i = ha_coordinate(at, 1);
                   const bool solid = *lattice_solid(v, at) != 0;
                   HA_AT(x, j, i) = solid ? -2 * momentum_east(f) : 0;
                   HA_AT(y, j, i) = solid ? -2 * momentum_north(f) : 0;
               });

HA_REDUCE(total, ((in, array_float_2, x)), (j, i), float, HA_SUM, HA_AT(x, j, i));

#endif
