#ifndef HARRAY_IMPL_ELEMENTS_ALL_H
#define HARRAY_IMPL_ELEMENTS_ALL_H

#include "dtype.h"
#include "extents.h"
#include "half_arrays.h"
#include "repeat.h"
#include "transpose.h"
#include "strided.h"
#include "strided_convert.h"
#include "strided_equal.h"

#endif
