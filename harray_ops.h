/* harray_ops.h: operations on whole arrays and views, wherever their values are: harray/ops.h is the manual.
 *
 * As harray.h it is included everywhere, and in ONE C file behind #define HARRAY_IMPLEMENTATION, before
 * every system header. It brings harray_kernels.h, and with that harray_records.h, harray.h and layout.h.
 *
 * In that file #define HARRAY_OPS_TYPES double, half, … before it has operations compiled for these types only, of the names
 * that HARRAY(T) has ready: fewer bytes, and less time for the compiler. What has no arithmetic is there of all types: what
 * moves elements (copies and ha_gather, structs among them; of numbers ha_where, ha_sort, …), and of all integers fills,
 * sequences, comparisons and counts; all else is HA_ERR_UNSUPPORTED of other types. Without it all types are there. */
#include "harray_kernels.h"

#ifndef HARRAY_WITH_OPS_H
#define HARRAY_WITH_OPS_H

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
