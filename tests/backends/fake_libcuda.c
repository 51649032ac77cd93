/* The fake driver as a library; fake_libcuda.h says what it is. */
#define _DEFAULT_SOURCE /* mmap's flags, where C is asked to be strict */
#include "fake_cuda_control.h"
