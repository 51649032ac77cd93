/* The implementation: included by harray.h in the one file that defines HARRAY_IMPLEMENTATION. This is
 * its map: each layer knows those above it, and no other. docs/engine.md tells how they work. */
#ifndef HARRAY_IMPL_H
#define HARRAY_IMPL_H

/* Of programs that only see it, all warnings have been given where it was compiled (tests/support/linked.h). */
#ifdef HA_INSIDE_IS_LINKED_
#pragma GCC system_header
#endif

#ifdef __cplusplus
#error "HARRAY_IMPLEMENTATION belongs in a C file; C++ files include harray.h without it"
#endif

#if __STDC_VERSION__ < 201112L
#error "the file that defines HARRAY_IMPLEMENTATION needs -std=c11 or later"
#endif

#include "harray/impl/base/all.h"     /* errors, text, threads, boxes, sets of ranges */
#include "harray/impl/events/all.h"   /* what happened, on its way to handler and trace */
#include "harray/impl/elements/all.h" /* element types, extents, strided copies on the host */
#include "harray/impl/device/all.h"   /* contexts, queues and their order; faults */
#include "harray/impl/memory/all.h"   /* blocks: cache, account, retirement, trying again */
#include "harray/impl/state/all.h"    /* the array: incarnations, holders, what is valid and lost */
#include "harray/impl/transfer/all.h" /* from where, on which link, by which queue, in which chunk */
#include "harray/impl/access/all.h"   /* conflicts, admission, opening and closing, tokens */
#include "harray/impl/array/all.h"    /* arrays as a whole, their contents, the caller's memory */
#include "harray/impl/ndarray/all.h"  /* views, dimensions, many at once, printing */
#include "harray/impl/exchange/all.h" /* streams and tensors of others, NumPy's files */
#include "harray/impl/control/all.h"  /* reports, account, shutdown, options of devices */
                                      /* harray/impl/records/: only with harray_records.h, */
                                      /* harray/impl/kernels/: only with harray_kernels.h, */
                                      /* harray/impl/ops/: only with harray_ops.h, */
                                      /* harray/impl/mpi/: only with harray_mpi.h, */
                                      /* harray/impl/hdf5/: only with harray_hdf5.h */
#endif
