/* What files of HDF5 and MPI need, and nobody else. */
#ifndef HARRAY_IMPL_DENSE_ALL_H
#define HARRAY_IMPL_DENSE_ALL_H

#include "dense.h"

#endif
