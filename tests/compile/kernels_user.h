/* Kernels in the subset that C11, C++17 and CUDA share: a unit that includes this, and
 * HARRAY_IMPLEMENTATION elsewhere. */
#ifndef COMPILE_KERNELS_USER_H
#define COMPILE_KERNELS_USER_H

#include <harray_ops.h>

#ifdef __cplusplus
extern "C" {
#endif
int use_kernels(ha_context *context); /* how many checks failed */
#ifdef __cplusplus
}
#endif

#endif
