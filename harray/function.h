/* HA_FN: small functions for host and device; what they are made of is in layout/function.h. */
#ifndef HARRAY_FUNCTION_H
#define HARRAY_FUNCTION_H

#include "../layout/function.h"

#endif
