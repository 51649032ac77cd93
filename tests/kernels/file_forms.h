/* Kernels of every form in a file of their own: for cases_files.c. */
#ifndef HARRAY_TESTS_KERNELS_FILE_FORMS_H
#define HARRAY_TESTS_KERNELS_FILE_FORMS_H

#define LANES_OF_FORMS 16
#define TILE 4

HA_FN int next_of(int x) { return x + 1; }

HA_KERNEL_EACH_IN(forms, grow_old, (people, p, "read since, write age"), ((value, int, now)), at) {
    const int years = now - *crowd_since(p, at);
    *crowd_age(p, at) = next_of(years);
}

/* Within each team the other way round. */
HA_TEAM_KERNEL_IN(forms, backwards, LANES_OF_FORMS, g, ((in, int, x), (out, int, y))) {
    HA_LOCAL(int, a, HA_TEAM); // no HA_BARRIER() in HA_LANES, as this is a comment
    HA_PRIVATE(int, own);
#if LANES_OF_FORMS > 1
    HA_LANES(l) a[l] = x[g * HA_TEAM + l];
#else
    HA_LANES(l) a[l] = 0;
#endif
    HA_LANES_ALONE(l) HA_MINE(own, l) = next_of(a[HA_TEAM - 1 - l]);
    HA_LANES_ALONE(l) y[g * HA_TEAM + l] = HA_MINE(own, l);
}

HA_TEAM_KERNEL_IN(forms, transposed, (TILE, 2 * TILE), (gy, gx),
                  ((in, array_float_2, u), (out, array_float_2, w))) {
    HA_LOCAL(float, tile, HA_TEAM);
    HA_LANES(ly, lx) {
        tile[ly * HA_TEAM_X + lx] = HA_AT(u, gy * HA_TEAM_Y + ly, gx * HA_TEAM_X + lx);
    }
    HA_LANES_ALONE(ly, lx) {
        HA_AT(w, gx * HA_TEAM_X + lx, gy * HA_TEAM_Y + ly) = tile[ly * HA_TEAM_X + lx];
    }
}

HA_REDUCE_IN(forms, squares, ((in, int, x)), i, int64_t, HA_SUM) {
    const int64_t v = x[i];
    return v * v;
}

HA_REDUCE_IN(forms, farthest, ((value, int, from), (in, int, x)), i, int, HA_MAX_AT) {
    if (x[i] < from) return from - x[i];
    return x[i] - from;
}

/* What breaks a rule of teams. */
HA_TEAM_KERNEL_IN(forms, barred, 4, g, ((inout, int, x))) {
    HA_LANES(l) {
        x[g * HA_TEAM + l]++;
        HA_BARRIER();
    }
}

/* Names that no device knows. */
HA_TEAM_KERNEL_IN(forms, mistaken_team, 4, g, ((inout, int, x))) {
    HA_LOCAL(int, a, HA_TEAM);
    HA_LANES(l) a[l] = 1;
    HA_LANES(l) x[g * HA_TEAM + l] += a[l] + ONLY_HERE;
}

HA_REDUCE_IN(forms, mistaken_sum, ((in, int, x)), i, int, HA_SUM) {
    return x[i] + /* on the next line */
           ONLY_HERE;
}

HA_KERNEL_EACH_IN(forms, mistaken_age, (people, p, "write age"), (), at) {
    *crowd_age(p, at) += ONLY_HERE;
}

/* Only this kernel computes with double. */
HA_KERNEL_IN(forms, halved, ((inout, double, x)), i) { x[i] *= 0.5; }

#endif
