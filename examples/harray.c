/* The one C file of a program that has the implementation; kernels are in others, which nvcc compiles. */
#define HARRAY_IMPLEMENTATION
#include "../harray.h"
