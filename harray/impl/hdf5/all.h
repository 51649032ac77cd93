/* Arrays and HDF5: included by harray_hdf5.h in the one file that defines HARRAY_IMPLEMENTATION. */
#ifndef HARRAY_IMPL_HDF5_ALL_H
#define HARRAY_IMPL_HDF5_ALL_H

#include "call.h"
#include "types.h"
#include "ranks.h"
#include "block.h"
#include "move.h"
#include "files.h"

#endif
