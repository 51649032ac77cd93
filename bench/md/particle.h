/* A molecular dynamics: what a particle is, and all that its force loop reads. */
#ifndef BENCH_MD_PARTICLE_H
#define BENCH_MD_PARTICLE_H

#include <math.h>
#include <stddef.h>

enum { MD_TYPES = 3, MD_VIRIAL = 6 }; /* xx, yy, zz, xy, xz, yz */

typedef struct particle {
    double r[3], p[3], f[3];
    double charge, energy;
    int type;
} particle;

/* Particles in a box that repeats in x and y and has walls in z, sorted into cells at least as wide
 * as the cutoff: cell c has member[start[c]] … member[start[c + 1] - 1]. */
typedef struct md {
    ptrdiff_t n;
    double box[3], cutoff, switching; /* from there on the potential is switched off */
    double epsilon[MD_TYPES][MD_TYPES], sigma[MD_TYPES][MD_TYPES], mass[MD_TYPES];
    double reaction_k, reaction_c; /* of the medium beyond the cutoff */
    double wall_epsilon, wall_sigma, field;
    double bond_k, bond_length, angle_k, angle_cosine, dt;
    ptrdiff_t cells[3];
    const int *start, *member;
    ptrdiff_t bonds, angles;
    const int (*bond)[2], (*angle)[3];
} md;

typedef struct md_sums {
    double lennard_jones, coulomb, bond, angle, wall, kinetic, virial[MD_VIRIAL], pairs;
} md_sums;

#endif
