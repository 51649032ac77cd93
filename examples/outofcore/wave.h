/* The wave equation on a cube whose surface is held: the kernels, which are all that knows physics.
 *
 *     u_tt = c^2 (u_xx + u_yy + u_zz)
 *
 * by the leapfrog: central differences of second order in time and in space. A step computes the values
 * to come from those of now and those before, and writes them over the latter, which nobody needs any more:
 * so two levels of time are all that there is. r2 is (c dt / h)^2, at most 1/3.
 *
 * The kernels see a slab of the cube: planes k, of rows j, of sites i. The plane below its first one and
 * the one above its last one, its ghost planes, belong to its neighbours, and are read where they are. */
#ifndef OUTOFCORE_WAVE_H
#define OUTOFCORE_WAVE_H

#include "harray_kernels.h"

/* At first: a bump of some width around a site of the cube, at rest, so that both levels are the same.
 * `first` is the plane of the cube with which the slab begins. */
HA_KERNEL(pluck,
          ((value, int64_t, first), (value, double, z), (value, double, y), (value, double, x),
           (value, double, width), (out, array_double_3, now), (out, array_double_3, before)),
          (k, j, i), {
              const double dz = ((double)(first + k) - z) / width;
              const double dy = ((double)j - y) / width, dx = ((double)i - x) / width;
              const double d = 1 - (dz * dz + dy * dy + dx * dx);
              HA_AT(now, k, j, i) = HA_AT(before, k, j, i) = d > 0 ? d * d * d * d : 0;
          });

/* A step, of sites that are not on the surface. */
HA_KERNEL(leap,
          ((value, double, r2), (in, array_double_2, below), (in, array_double_3, now),
           (in, array_double_2, above), (inout, array_double_3, other)),
          (k, j, i), {
              const int64_t last = now.extent[0] - 1;
              const double u = HA_AT(now, k, j, i);
              const double down = k > 0 ? HA_AT(now, k - 1, j, i) : HA_AT(below, j, i);
              const double up = k < last ? HA_AT(now, k + 1, j, i) : HA_AT(above, j, i);
              const double around = (HA_AT(now, k, j, i - 1) + HA_AT(now, k, j, i + 1)) +
                                    (HA_AT(now, k, j - 1, i) + HA_AT(now, k, j + 1, i)) +
                                    (down + up);
              HA_AT(other, k, j, i) = 2 * u - HA_AT(other, k, j, i) + r2 * (around - 6 * u);
          });

/* The energy between two levels of time, in units of h^3 / dt^2, which the leapfrog keeps exactly:
 *
 *     1/2 sum (v - u)^2  +  r2/2 sum over neighbours of (their difference in u) (that in v)
 *
 * Of a slab, with the differences to the site before along each dimension. */
HA_DEVICE_CODE(
    differences, HA_FN double product(double u, double at_u, double v, double at_v) {
        return (u - at_u) * (v - at_v);
    });
HA_REDUCE(energy,
          ((uses, differences), (value, double, r2), (in, array_double_2, u_below),
           (in, array_double_3, u), (in, array_double_2, v_below), (in, array_double_3, v)),
          (k, j, i), double, HA_SUM,
          0.5 * (HA_AT(v, k, j, i) - HA_AT(u, k, j, i)) * (HA_AT(v, k, j, i) - HA_AT(u, k, j, i)) +
              0.5 * r2 *
                  (product(HA_AT(u, k, j, i), HA_AT(u, k, j, i - 1), HA_AT(v, k, j, i),
                           HA_AT(v, k, j, i - 1)) +
                   product(HA_AT(u, k, j, i), HA_AT(u, k, j - 1, i), HA_AT(v, k, j, i),
                           HA_AT(v, k, j - 1, i)) +
                   product(HA_AT(u, k, j, i), k > 0 ? HA_AT(u, k - 1, j, i) : HA_AT(u_below, j, i),
                           HA_AT(v, k, j, i),
                           k > 0 ? HA_AT(v, k - 1, j, i) : HA_AT(v_below, j, i))));

#endif
