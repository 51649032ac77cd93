/* Kernels in a file of their own, for kernels.c. */
#ifndef COMPILE_KERNELS_FILE_H
#define COMPILE_KERNELS_FILE_H

HA_FN float doubled_of(float x) { return 2 * x; }

HA_KERNEL_IN(compiled, doubled, ((inout, float, x)), i) { x[i] = doubled_of(x[i]); }

#endif
