#ifndef HARRAY_LAYOUT_IMPL_VALUES_ALL_H
#define HARRAY_LAYOUT_IMPL_VALUES_ALL_H

#include "bits.h"
#include "coding.h"
#include "bit_values.h"
#include "mapped.h"

#endif
