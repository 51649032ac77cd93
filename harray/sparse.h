/* Sparse vectors: the indices of some elements, ascending and not below zero, and their values; all others are 0. A part of the
 * manual of ops.h.
 *
 *     HA_CHECK(ha_find(at, mask, &count, gpu));                              // from a dense one: indices,
 *     HA_CHECK(ha_compact(x, dense, mask, &count, gpu));                     // values
 *     HA_CHECK(ha_scatter(HA_ASSIGN, dense, at, x, gpu));                    // and back
 *     HA_CHECK(ha_sparse_combine(HA_ADD, z_at, z, x_at, x, y_at, y, &count, gpu));
 *     HA_CHECK(ha_sort_by_key(at, x, HA_ASCENDING, gpu));                    // where indices come in any order
 *
 * Arrays, contexts and threads are those of ops.h. */
#ifndef HARRAY_SPARSE_H
#define HARRAY_SPARSE_H

#include "darray.h"
#include "detail/word.h"

/* z = op(x, y), of sparse vectors: z_at gets the indices that x_at or y_at have, each once, ascending; z gets op of the values there,
 * where one that is not there is 0. *count = how many they are: a number of any type of C; what is behind them in z_at and z
 * keeps its values. All have one dimension; the indices are of one of the types of gather.h, the same in all; op and the types of
 * x, y and z are those of ha_combine. z_at and z may be x_at and x, or y_at and y. Waits for what it counts; memory for some twenty
 * numbers an element is taken at the context, and given back.
 *
 * Errors, beside those of ops.h; nothing has been changed then:
 *   HA_ERR_ARGUMENT  indices that do not ascend, or are below zero: the first place is told; there are not as many values as
 *                    indices; types that do not fit together; z_at or z has no room, or an element in common with the other
 *                    one; the count does not fit its type
 *   HA_ERR_MEMORY    no memory at the context for what is in between */
#define ha_sparse_combine(op, z_at, z, x_at, x, y_at, y, count, context)                           \
    ha_sparse_combine_(op, HA_RESULT_(z_at), HA_RESULT_(z), HA_DARRAY(x_at), HA_DARRAY(x),         \
                       HA_DARRAY(y_at), HA_DARRAY(y), HA_RESULT_TYPE_(count), count, context,      \
                       HA_SITE_OF_TWO_(op, "ha_sparse_combine"))

HA_API HA_MUST_CHECK ha_status ha_sparse_combine_(int op, darray z_at, darray z, darray x_at,
                                                  darray x, darray y_at, darray y, ha_dtype type,
                                                  void *count, ha_context *context,
                                                  const char *site);

#endif
