/* harray_hdf5.h: arrays of n dimensions as datasets of HDF5 files, serial and parallel. docs/hdf5.md has programs,
 * harray/hdf5.h is the manual.
 *
 * As harray.h it is included everywhere, and in ONE C file behind #define HARRAY_IMPLEMENTATION, before every
 * system header. It brings harray.h, and <hdf5.h>: it is compiled and linked as HDF5 says (h5cc, h5pcc, pkg-config). */
#include "harray.h"

#ifndef HARRAY_WITH_HDF5_H
#define HARRAY_WITH_HDF5_H

#include "harray/hdf5.h"

#endif

#if defined HARRAY_IMPLEMENTATION && !defined HARRAY_HDF5_IMPLEMENTED
#define HARRAY_HDF5_IMPLEMENTED
#include "harray/impl/dense/all.h"
#include "harray/impl/hdf5/all.h"
#endif
