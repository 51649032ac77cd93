/* Kernels in a file of their own, as users write them: for cases_files.c. Here it doesn't matter what a comment
 * has: "a quote, or HA_KERNEL_IN(files, none, (), i) { */
#ifndef HARRAY_TESTS_KERNELS_FILE_KERNELS_H
#define HARRAY_TESTS_KERNELS_FILE_KERNELS_H

#include <stddef.h>

#define QUARTER 0.25f // a macro of the file
#define TWICE(x)                                                                                   \
    ((x) + /* goes on */                                                                           \
     (x))

typedef struct two_floats {
    float a, b;
} two_floats;

HA_FN float total(two_floats t) { return t.a + t.b; }

HA_KERNEL_IN(files, smooth, ((in, array_float_2, u), (out, array_float_2, w)), (j, i)) {
    two_floats across, down; // isn't it
    across.a = HA_AT(u, j, i - 1), across.b = HA_AT(u, j, i + 1);
#if 1
    down.a = HA_AT(u, j - 1, i), down.b = HA_AT(u, j + 1, i);
#else
    this is no C;
#endif
    HA_AT(w, j, i) = QUARTER * (total(across) + total(down));
}

/* Another one; only one of them is given to a device at a time. */
HA_KERNEL_IN(files, doubled /* in place */, ((value, int, by), (inout, int, x)), i) {
    if (x[i] == '{') return;
    x[i] = TWICE(x[i]) + by;
}

HA_KERNEL_IN(files, mistaken, ((inout, int, x)), i) {
    x[i] += ONLY_HERE; /* which no device knows */
}

#endif
