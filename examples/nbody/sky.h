/* How bodies pull each other: the loops, written once for any layout of any memory. They are all
 * that knows physics. */
#ifndef NBODY_SKY_H
#define NBODY_SKY_H

#include "harray_records.h"

#include "body.h"

#include <math.h>

HA_VIEW(sky, body, 1, HA_ANY)

/* Everybody is pulled by everybody. A body pulls itself as well, at no distance: that the softening
 * is not zero makes it no pull at all. */
HA_FN void kick(sky v, int64_t n, double dt, double softening) {
    for (int64_t i = 0; i < n; i++) {
        const body from = sky_load(v, sky_at(v, i));
        HA_EACH(sky, v, at) {
            const double dx = from.pos.x - *sky_pos_x(v, at), dy = from.pos.y - *sky_pos_y(v, at);
            const double dz = from.pos.z - *sky_pos_z(v, at);
            const double square = dx * dx + dy * dy + dz * dz + softening * softening;
            const double pull = dt * from.mass / (square * sqrt(square));
            *sky_vel_x(v, at) += dx * pull;
            *sky_vel_y(v, at) += dy * pull;
            *sky_vel_z(v, at) += dz * pull;
        }
    }
}

HA_FN void drift(sky v, double dt) {
    HA_EACH(sky, v, at) {
        *sky_pos_x(v, at) += dt * *sky_vel_x(v, at);
        *sky_pos_y(v, at) += dt * *sky_vel_y(v, at);
        *sky_pos_z(v, at) += dt * *sky_vel_z(v, at);
    }
}

/* They can be run where the bodies are, whatever their layout is there. */
HA_QUEUED(kick, sky, int64_t, double, double);
HA_QUEUED(drift, sky, double);

/* ---- what does not change -------------------------------------------------------------------- */

static vector less(vector a, vector b) { return (vector){a.x - b.x, a.y - b.y, a.z - b.z}; }

static double square(vector a) { return a.x * a.x + a.y * a.y + a.z * a.z; }

/* Times the gravitational constant, as all masses are. */
static double energy_of(sky v, int64_t n, double softening) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const body a = sky_load(v, sky_at(v, i));
        sum += a.mass * square(a.vel) / 2;
        for (int64_t j = 0; j < i; j++) {
            const body b = sky_load(v, sky_at(v, j));
            sum -= a.mass * b.mass / sqrt(square(less(a.pos, b.pos)) + softening * softening);
        }
    }
    return sum;
}

#endif
