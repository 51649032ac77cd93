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

#endif
