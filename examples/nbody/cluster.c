/* A star cluster as H. C. Plummer described those that he saw (1911): density and potential
 *     rho(r) = 3 / (4 pi) (1 + r^2)^(-5/2),   phi(r) = -(1 + r^2)^(-1/2),
 * drawn as S. J. Aarseth, M. Henon and R. Wielen do (Astronomy & Astrophysics 37, 1974, appendix):
 * the radius from the mass inside it, the speed by rejection, directions evenly from the sphere. */
#include "body.h"

#include <math.h>

#define PI 3.14159265358979323846
#define SCALE (3 * PI / 16) /* of lengths, for the energy to be -1/4 */

/* In (0, 1). splitmix64, S. Vigna, who has put it into the public domain. */
static double uniform(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return ((double)((z ^ z >> 31) >> 12) + 0.5) / 4503599627370496.0;
}

static vector direction(uint64_t *state, double length) {
    const double z = 2 * uniform(state) - 1, angle = 2 * PI * uniform(state);
    const double across = sqrt(1 - z * z);
    return (vector){length * across * cos(angle), length * across * sin(angle), length * z};
}

/* A speed in units of the escape velocity: its probability goes with q^2 (1 - q^2)^(7/2). */
static double speed(uint64_t *state) {
    for (;;) {
        const double q = uniform(state), height = 0.1 * uniform(state);
        if (height < q * q * pow(1 - q * q, 3.5)) return q;
    }
}

/* The outermost thousandth of the mass, which reaches arbitrarily far, is left out. */
static body star(uint64_t *state, double mass) {
    const double inside = 0.999 * uniform(state);
    const double radius = 1 / sqrt(pow(inside, -2.0 / 3) - 1);
    const double escape = sqrt(2) * pow(1 + radius * radius, -0.25);
    body b = {.mass = mass};
    b.pos = direction(state, radius * SCALE);
    b.vel = direction(state, speed(state) * escape / sqrt(SCALE));
    return b;
}

void cluster(body *all, int64_t n, uint64_t seed) {
    for (int64_t i = 0; i < n; i++) all[i] = star(&seed, 1 / (double)n);
    body_centre(all, n);
}
