/* Sorting, and what sorted arrays are good for. A part of the manual of ops.h.
 *
 *     HA_CHECK(ha_sort(x, HA_ASCENDING, gpu));                     // x[0] <= x[1] <= …
 *     HA_CHECK(ha_sorting(at, x, HA_DESCENDING, gpu));             // x[at[0]] >= x[at[1]] >= …; x stays
 *     HA_CHECK(ha_sort_by_key(keys, values, HA_ASCENDING, gpu));   // both, by the keys
 *     HA_CHECK(ha_unique(y, x, &count, gpu));                      // each once, where equal ones are neighbours
 *     HA_CHECK(ha_lower_bound(at, x, values, gpu));                // where they are in x, or belong
 *
 * Arrays, contexts and threads are those of ops.h. What is sorted has one dimension, of any stride, and elements of any real
 * type: half, bfloat16, float, double, integers of 8 to 64 bits, bool. The order is the same on every context. It is stable:
 * equal elements keep their order. -0.0 and 0.0 are equal; NaNs are last, in both orders, and equal to each other. A radix
 * sort, with a pass for each digit of 8 or 11 bits, but for those digits that all elements share. Memory for what is in between, as
 * much as the arrays have, or twice as much, is taken at the context, and given back.
 *
 * Where a device compiles kernels (kernel.h), and wherever there are 2^32 elements or more, sorting is several kernels, and the call
 * waits for what they count in between. Elsewhere it is one loop of one thread, which no call waits for, but for ha_sort_by_key with
 * values of more dimensions than one or of other sizes than 4 and 8 bytes: it gathers them, and ha_gather looks at indices first
 * (gather.h). ha_unique waits for its count on every context, ha_lower_bound and ha_upper_bound wait nowhere. No other thread may
 * change what is sorted during a call.
 *
 * ---- errors, beside those of ops.h; nothing has been changed then
 *   HA_ERR_ARGUMENT     more or fewer dimensions than one; types without an order; extents that do not fit together; indices that
 *                       do not fit their type; an array that is written has elements in common with another one, or repeats some;
 *                       ha_unique: there is no room, or the count does not fit its type
 *   HA_ERR_STATE        elements of what is sorted, or of the values, were never written; or they can only be read
 *   HA_ERR_UNSUPPORTED  values whose elements are not of 1, 2, 4, 8 or 16 bytes; on devices without double: those of 16 bytes
 *   HA_ERR_MEMORY       no memory at the context for what is in between */
#ifndef HARRAY_SORT_H
#define HARRAY_SORT_H

#include "darray.h"
#include "detail/word.h"

typedef enum ha_sort_order { HA_ASCENDING = 1024, HA_DESCENDING } ha_sort_order;

/* Sorts x where it is. */
#define ha_sort(x, order, context)                                                                 \
    ha_sort_(HA_RESULT_(x), order, context, HA_SITE_OF_ORDER_(order, "ha_sort"))

/* `at`, as long as x and of a type of indices (gather.h), gets the numbers of the elements of x in the order in which they would be
 * sorted: ha_gather(y, x, at, …) sorts, and ha_inverse(rank, at, …) says where each one comes to. */
#define ha_sorting(at, x, order, context)                                                          \
    ha_sorting_(HA_RESULT_(at), HA_DARRAY(x), order, context,                                      \
                HA_SITE_OF_ORDER_(order, "ha_sorting"))

/* Sorts the keys, and puts what belongs to each at its place: values[i], or all of values[i, …], belongs to keys[i]. The values are of
 * any type that ha_gather moves; so three floats each are an array of extents n and 3. */
#define ha_sort_by_key(keys, values, order, context)                                               \
    ha_sort_by_key_(HA_RESULT_(keys), HA_RESULT_(values), order, context,                          \
                    HA_SITE_OF_ORDER_(order, "ha_sort_by_key"))

/* y gets of the elements of x, of one dimension and any type that ha_combine compares, each that differs from the one before it; so of a
 * sorted array each once, but every NaN. *count = how many they are: a number of any type of C. What is behind them in y
 * keeps its values. */
#define ha_unique(y, x, count, context)                                                            \
    ha_unique_(HA_RESULT_(y), HA_DARRAY(x), HA_RESULT_TYPE_(count), count, context, HA_SITE)

/* at[i, …] = how many elements of x are less than values[i, …], or not greater: the first place, and the one behind the last, where that
 * is or would have to be in x. x is sorted, ascending as by ha_sort; in one that is not, some place. `at` has the extents of the values, and a
 * type of indices; x and the values are of the same type. */
#define ha_lower_bound(at, x, values, context)                                                     \
    ha_bound_(HA_RESULT_(at), HA_DARRAY(x), HA_DARRAY(values), 0, context, HA_SITE)
#define ha_upper_bound(at, x, values, context)                                                     \
    ha_bound_(HA_RESULT_(at), HA_DARRAY(x), HA_DARRAY(values), 1, context, HA_SITE)

HA_API HA_MUST_CHECK ha_status ha_sort_(darray x, ha_sort_order order, ha_context *context,
                                        const char *site);
HA_API HA_MUST_CHECK ha_status ha_sorting_(darray at, darray x, ha_sort_order order,
                                           ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_sort_by_key_(darray keys, darray values, ha_sort_order order,
                                               ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_unique_(darray y, darray x, ha_dtype type, void *count,
                                          ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_bound_(darray at, darray x, darray values, int upper,
                                         ha_context *context, const char *site);

#endif
