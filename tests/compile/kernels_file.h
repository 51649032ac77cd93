/* Kernels in a file of their own, for kernels.c. */
#ifndef COMPILE_KERNELS_FILE_H
#define COMPILE_KERNELS_FILE_H

HA_FN float doubled_of(float x) { return 2 * x; }

HA_KERNEL_IN(compiled, doubled, ((inout, float, x)), i) { x[i] = doubled_of(x[i]); }

HA_KERNEL_EACH_IN(compiled, slow_down, (bodies, p, "write v"), ((value, float, by)), at) {
    *sky_v(p, at) *= by;
}

HA_TEAM_KERNEL_IN(compiled, turned_over, (2, 4), (gy, gx), ((inout, array_float_2, u))) {
    HA_LOCAL(float, tile, HA_TEAM);
    HA_PRIVATE(float, own);
    HA_LANES(ly, lx) {
        tile[ly * HA_TEAM_X + lx] = HA_AT(u, gy * HA_TEAM_Y + ly, gx * HA_TEAM_X + lx);
    }
    HA_LANES_ALONE(ly, lx)
    HA_MINE(own, ly, lx) = tile[HA_TEAM / HA_TEAM_Z - 1 - (ly * HA_TEAM_X + lx)];
    HA_LANES_ALONE(ly, lx) {
        HA_AT(u, gy * HA_TEAM_Y + ly, gx * HA_TEAM_X + lx) = HA_MINE(own, ly, lx);
    }
}

HA_REDUCE_IN(compiled, difference, ((in, float, x), (in, float, y)), i, float, HA_MAX_AT) {
    const float d = x[i] - y[i];
    return d < 0 ? -d : d;
}

#endif
