/* The implementation, compiled once for all test programs that link it (linked.h). */
#include "tested.h"

#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define HA_LAYOUT_TESTING
#include "../../harray_ops.h"
#include "../../harray_records.h"
