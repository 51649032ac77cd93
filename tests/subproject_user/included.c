/* The same program as linked.c, with the implementation in it. */
#define HARRAY_IMPLEMENTATION
#include "linked.c"
