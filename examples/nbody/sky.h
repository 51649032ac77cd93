/* How bodies pull each other: the kernels, written once for any layout of any memory. They are all
 * that knows physics. */
#ifndef NBODY_SKY_H
#define NBODY_SKY_H

#include "harray_kernels.h"

#include "body.h"

#include <math.h>

HA_VIEW(sky, body, 1, HA_ANY)
HA_RECORDS(bodies, sky);

/* Everybody is pulled by everybody. A body pulls itself as well, at no distance: that the softening
 * is not zero makes it no pull at all. Each lane of a team has a body of its own (or none, at the end: what it
 * computes is seen by nobody), and all look at the same others, which the team fetches as many at a time as it has
 * lanes. */
enum { TEAM = 32 };
HA_TEAM_KERNEL(kick, TEAM, g,
               ((use, bodies, v, "read pos+mass, write vel"), (value, double, dt),
                (value, double, softening)),
               {
                   HA_LOCAL(body, other, HA_TEAM);
                   HA_PRIVATE(double, x);
                   HA_PRIVATE(double, y);
                   HA_PRIVATE(double, z);
                   HA_PRIVATE(double, ax);
                   HA_PRIVATE(double, ay);
                   HA_PRIVATE(double, az);
                   HA_LANES_ALONE(l) {
                       HA_MINE(x, l) = HA_MINE(y, l) = HA_MINE(z, l) = 0;
                       HA_MINE(ax, l) = HA_MINE(ay, l) = HA_MINE(az, l) = 0;
                       if (g * HA_TEAM + l >= v.count) continue;
                       const ha_cursor at = sky_at(v, g * HA_TEAM + l);
                       HA_MINE(x, l) = *sky_pos_x(v, at);
                       HA_MINE(y, l) = *sky_pos_y(v, at);
                       HA_MINE(z, l) = *sky_pos_z(v, at);
                   }
                   for (int64_t first = 0; first < v.count; first += HA_TEAM) {
                       const int64_t fetched = HA_LESS(v.count - first, HA_TEAM);
                       HA_LANES(l) if (l < fetched) {
                           const ha_cursor at = sky_at(v, first + l);
                           other[l].pos.x = *sky_pos_x(v, at);
                           other[l].pos.y = *sky_pos_y(v, at);
                           other[l].pos.z = *sky_pos_z(v, at);
                           other[l].mass = *sky_mass(v, at);
                       }
                       for (int64_t k = 0; k < fetched; k++) HA_LANES_ALONE(l) {
                               const double dx = other[k].pos.x - HA_MINE(x, l);
                               const double dy = other[k].pos.y - HA_MINE(y, l);
                               const double dz = other[k].pos.z - HA_MINE(z, l);
                               const double square = dx * dx + dy * dy + dz * dz +
                                                     softening * softening;
                               const double pull = other[k].mass / (square * sqrt(square));
                               HA_MINE(ax, l) += dx * pull;
                               HA_MINE(ay, l) += dy * pull;
                               HA_MINE(az, l) += dz * pull;
                           }
                       HA_BARRIER();
                   }
                   HA_LANES_ALONE(l) if (g * HA_TEAM + l < v.count) {
                       const ha_cursor at = sky_at(v, g * HA_TEAM + l);
                       *sky_vel_x(v, at) += dt * HA_MINE(ax, l);
                       *sky_vel_y(v, at) += dt * HA_MINE(ay, l);
                       *sky_vel_z(v, at) += dt * HA_MINE(az, l);
                   }
               });

HA_KERNEL_EACH(drift, (bodies, v, "read vel, write pos"), ((value, double, dt)), at, {
    *sky_pos_x(v, at) += dt * *sky_vel_x(v, at);
    *sky_pos_y(v, at) += dt * *sky_vel_y(v, at);
    *sky_pos_z(v, at) += dt * *sky_vel_z(v, at);
});

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
