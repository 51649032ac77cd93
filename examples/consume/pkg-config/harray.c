/* The implementation, in one file of the program: what its files include. */
#define HARRAY_IMPLEMENTATION
#include <harray_kernels.h>
