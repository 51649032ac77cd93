/* Half precision as storage: see layout/half.h. */
#ifndef HARRAY_HALF_H
#define HARRAY_HALF_H

#include "../layout/half.h"

#endif
