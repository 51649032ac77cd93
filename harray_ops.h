/* harray_ops.h: operations on whole arrays and views, wherever their values are: harray/ops.h is the manual.
 *
 * As harray.h it is included everywhere, and in ONE C file behind #define HARRAY_IMPLEMENTATION, before
 * every system header. It brings harray_kernels.h, and with that harray_records.h, harray.h and layout.h. */
#ifndef HARRAY_WITH_OPS_H
#define HARRAY_WITH_OPS_H

#include "harray_kernels.h"

#include "harray/ops.h"
#include "harray/gather.h"
#include "harray/scan.h"
#include "harray/sort.h"
#include "harray/sparse.h"
#include "harray/typed_ops.h"

#endif

#if defined HARRAY_IMPLEMENTATION && !defined HARRAY_OPS_IMPLEMENTED
#define HARRAY_OPS_IMPLEMENTED
#include "harray/impl/ops/all.h"
#endif
