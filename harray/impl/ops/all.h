/* Operations on arrays: included by harray_ops.h in the one file that defines HARRAY_IMPLEMENTATION.
 *
 *     types.h        the types whose arithmetic is compiled
 *     complex_functions.h
 *                    roots, exponentials, sines, … of complex numbers
 *     expressions.h  the table: what each operation computes, of each type, in C
 *     families.h     the words that say what is computed, and which of them a call takes
 *     random.h       random numbers
 *     rows.h         the table as loops over rows
 *     lines.h        an operation of a type, and as it is called
 *     tables.h       the operations by type
 *     loops.h        rows of a box
 *     trees.h        numbers of lanes reduced to one
 *     boxes.h        views of several arrays as the same box of rows
 *     kernels.h      an operation as a kernel, made when it is asked for
 *     elementwise.h  the calls whose result is an array
 *     records_kernels.h  kernels over records, made for fields and operations
 *     records_loops.h    loops over records, here or on a queue
 *     records_values.h   operations with values of any two types as their text
 *     records_apply.h    fields of record arrays with a number
 *     records_pairs.h    fields of two records that meet, as the text of a kernel
 *     records_with_records.h
 *                    fields of record arrays with those of others
 *     records_with_array.h
 *                    fields of record arrays with elements
 *     reduce.h       those whose result is a number
 *     indices.h      operations by index: whether all indices are within an extent
 *     conversions.h  numbers of any two types as text: one as the other
 *     first_place.h  the first element of which something is so, at devices
 *     words.h        elements of any size as words
 *     equal.h        whether views are equal, there
 *     copies.h       fills, copies and comparisons of views there
 *     gather.h       elements at indices
 *     find.h         where a mask is not 0, and the elements there
 *     inverse.h      of permutations
 *     sort_keys.h    the order of elements, as that of numbers without a sign
 *     sort_walks.h   looking at these, and mending what is nearly in it
 *     sort_loops.h   a pass of sorting on the host, and sorting a few
 *     sort_digits.h  sorting there what caches hold
 *     sort_buckets.h the same of what they do not hold
 *     sort_blocks.h  sorting on devices
 *     sort.h         sorting, and the numbers of elements in the order in which they would be sorted
 *     sorted.h       sorting by keys, what differs from the one before it, searching in what is sorted
 *     scatter_lanes.h, scatter_runs.h
 *                    elements to indices: by the elements that follow an index, and by sorted indices
 *     scatter.h      which of both
 *     split.h        views split in those dimensions along which an operation goes, and the others
 *     along.h        reductions along a dimension
 *     scan_runs.h    scans on the host: runs of numbers, and what is before each
 *     scan_loops.h   scans on the host: which thread scans what
 *     scan.h         scans
 *     offsets.h      offsets of counts, differences
 *     sparse.h       sparse vectors
 *     histogram.h    how many elements are in each part of an interval */
#ifndef HARRAY_IMPL_OPS_ALL_H
#define HARRAY_IMPL_OPS_ALL_H

/* Of programs that only see it, all warnings have been given where it was compiled (tests/support/linked.h). */
#ifdef HA_INSIDE_IS_LINKED_
#pragma GCC system_header
#endif

#include "types.h"
#include "complex_functions.h"
#include "expressions.h"
#include "families.h"
#include "random.h"
#include "rows.h"
#include "loops.h"
#include "lines.h"
#include "tables.h"
#include "boxes.h"
#include "trees.h"
#include "kernels.h"
#include "elementwise.h"
#include "records_kernels.h"
#include "records_loops.h"
#include "records_values.h"
#include "records_apply.h"
#include "records_pairs.h"
#include "records_with_records.h"
#include "records_with_array.h"
#include "reduce.h"
#include "indices.h"
#include "conversions.h"
#include "first_place.h"
#include "words.h"
#include "equal.h"
#include "copies.h"
#include "gather.h"
#include "find.h"
#include "inverse.h"
#include "sort_keys.h"
#include "sort_walks.h"
#include "sort_loops.h"
#include "sort_digits.h"
#include "sort_buckets.h"
#include "sort_blocks.h"
#include "sort.h"
#include "sorted.h"
#include "scatter_lanes.h"
#include "scatter_runs.h"
#include "scatter.h"
#include "split.h"
#include "along.h"
#include "scan_runs.h"
#include "scan_loops.h"
#include "scan.h"
#include "offsets.h"
#include "sparse.h"
#include "histogram.h"

#endif
