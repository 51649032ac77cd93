/* What each library has inside. */
#define HARRAY_IMPLEMENTATION
#include "../../harray.h"
