/* Kernels: included by harray_kernels.h in the one file that defines HARRAY_IMPLEMENTATION.
 *
 *     launch.h   a launch: opening, running, closing */
#ifndef HARRAY_IMPL_KERNELS_ALL_H
#define HARRAY_IMPL_KERNELS_ALL_H

#include "launch.h"

#endif
