/* The implementation as one compiled unit, for those who link instead of include. */
#define HARRAY_IMPLEMENTATION
#include "../harray_ops.h"
