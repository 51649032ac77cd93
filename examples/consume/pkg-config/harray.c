/* The implementation, in one file of the program. */
#define HARRAY_IMPLEMENTATION
#include <harray.h>
