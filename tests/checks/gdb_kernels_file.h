/* Kernels in a file, which tests/checks/test_gdb.py steps through by lines. */
HA_KERNEL_IN(stepped, lanes, ((inout, int, x)), i) {
    const int seen = x[i] + 1; // lanes
    x[i] = seen;
}

HA_KERNEL_EACH_IN(stepped, records, (pairs, p, "write a"), (), at) {
    const int seen = *list_a(p, at) + 2; // records
    *list_a(p, at) = seen;
}

HA_TEAM_KERNEL_IN(stepped, teams, 2, g, ((inout, int, x))) {
    HA_LOCAL(int, a, HA_TEAM);
    HA_LANES(l) a[l] = x[g * HA_TEAM + l];
    const int seen = a[1] + 3; // teams
    HA_LANES_ALONE(l) x[g * HA_TEAM + l] = seen;
}

HA_REDUCE_IN(stepped, sum, ((in, int, x)), i, int, HA_SUM) {
    const int seen = x[i] + 4; // sum
    return seen;
}
