#ifndef HARRAY_IMPL_EXCHANGE_ALL_H
#define HARRAY_IMPL_EXCHANGE_ALL_H

#include "foreign.h"
#include "npy_header.h"
#include "streams.h"
#include "array_interface.h"
#include "dlpack.h"
#include "npy_file.h"
#include "npy_arrays.h"
#include "npy_map.h"

#endif
