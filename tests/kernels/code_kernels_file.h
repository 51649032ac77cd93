/* The kernels in a file of code_kernels.c. */
#ifndef HARRAY_TESTS_KERNELS_CODE_KERNELS_FILE_H
#define HARRAY_TESTS_KERNELS_CODE_KERNELS_FILE_H

HA_FN double in_file_helper(double a, double x, double y) { return a * x + y; }

HA_KERNEL_IN(code_file, filed,
             ((value, double, a), (in, double, x), (in, double, y), (out, double, z)), i) {
    z[i] = a * x[i] + y[i];
}

HA_KERNEL_IN(code_file, filed_fused,
             ((value, double, a), (in, double, x), (in, double, y), (out, double, z),
              (option, contract, 1)),
             i) {
    z[i] = a * x[i] + y[i];
}

HA_KERNEL_IN(code_file, filed_helped,
             ((value, double, a), (in, double, x), (in, double, y), (out, double, z)), i) {
    z[i] = in_file_helper(a, x[i], y[i]);
}

HA_KERNEL_EACH_IN(code_file, in_file_each, (points, p, "read x+y, write z"), ((value, double, a)),
                  at) {
    *cloud_z(p, at) = a * *cloud_x(p, at) + *cloud_y(p, at);
}

HA_TEAM_KERNEL_IN(code_file, in_file_team, 8, g,
                  ((value, double, a), (in, double, x), (in, double, y), (out, double, z))) {
    HA_LOCAL(double, product, HA_TEAM);
    HA_LANES(l) product[l] = a * x[g * HA_TEAM + l] + y[g * HA_TEAM + l];
    HA_LANES_ALONE(l) z[g * HA_TEAM + l] = product[l];
}

HA_TEAM_KERNEL_IN(code_file, in_file_team_fused, 8, g,
                  ((value, double, a), (in, double, x), (in, double, y), (out, double, z),
                   (option, contract, 1))) {
    HA_LOCAL(double, product, HA_TEAM);
    HA_LANES(l) product[l] = a * x[g * HA_TEAM + l] + y[g * HA_TEAM + l];
    HA_LANES_ALONE(l) z[g * HA_TEAM + l] = product[l];
}

HA_REDUCE_IN(code_file, in_file_total, ((value, double, a), (in, double, x), (in, double, y)), i,
             double, HA_SUM) {
    return a * x[i] + y[i];
}

#endif
