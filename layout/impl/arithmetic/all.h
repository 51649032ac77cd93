#ifndef HARRAY_LAYOUT_IMPL_ARITHMETIC_ALL_H
#define HARRAY_LAYOUT_IMPL_ARITHMETIC_ALL_H

#include "kernels.h"
#include "spans.h"
#include "values.h"
#include "plan.h"
#include "counts.h"
#include "tiles.h"
#include "arithmetic.h"

#endif
