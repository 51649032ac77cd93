/* bfloat16 as storage: see layout/bfloat16.h. */
#ifndef HARRAY_BFLOAT16_H
#define HARRAY_BFLOAT16_H

#include "../layout/bfloat16.h"

#endif
