/* Operations along a dimension: reductions, scans, differences; and histograms. A part of the manual of ops.h.
 *
 *     HA_CHECK(ha_reduce_along(HA_SUM, y, x, 0, gpu));      // y[i] = the sum of x[…, i]
 *     HA_CHECK(ha_count_along(y, x, 1, gpu));               // y[j] = how many of x[j, …] are not 0
 *     HA_CHECK(ha_scan(HA_SUM, y, x, HA_EXCLUSIVE, gpu));   // y[i] = x[0] + … + x[i - 1]
 *     HA_CHECK(ha_scan_along(HA_MAX, y, x, 0, HA_INCLUSIVE, gpu));
 *     HA_CHECK(ha_scan_offsets(offsets, counts, gpu));      // where each of so many begins, and the end
 *     HA_CHECK(ha_differences(y, x, 0, gpu));               // y[i] = x[i + 1] - x[i]
 *     HA_CHECK(ha_histogram(bins, x, 0, 1, &outside, gpu)); // how many are in each part of [0, 1)
 *
 * Arrays, contexts and threads are those of ops.h; dimensions are counted from 0. Views may have all ranks that there are.
 *
 * ---- errors, beside those of ops.h; nothing has been changed then
 *   HA_ERR_ARGUMENT     no such dimension; types, ranks or extents that do not fit together; an array that is written has elements
 *                       in common with another one; numbers that do not fit their type
 *   HA_ERR_UNSUPPORTED  on devices without double: histograms of integers, offsets of counts of 64 bits
 *   HA_ERR_MEMORY       no memory at the context for what is there in between */
#ifndef HARRAY_SCAN_H
#define HARRAY_SCAN_H

#include "darray.h"
#include "detail/word.h"
#include "reduce.h"

/* y[…] = the elements of x along a dimension, joined as ha_reduce joins them, to the same bits. y has the extents of x without
 * that dimension, or with an extent of 1 in it. Its elements are of the type of x (what is joined in 64 bits, or in float, is
 * wrapped around or rounded once; uint8_t of bool), or of that in which is computed: int64_t, uint64_t, float, …. Of HA_MIN_AT and HA_MAX_AT they
 * are indices along the dimension, counted from 0, of a type of indices. On a device each element of y is a lane, which goes
 * over the dimension. */
#define ha_reduce_along(op, y, x, dimension, context)                                              \
    ha_reduce_along_(op, HA_RESULT_(y), HA_DARRAY(x), dimension, context,                          \
                     HA_SITE_OF_REDUCTION_(op, "ha_reduce_along"))

/* y[…] = how many elements of x along a dimension are not 0; y is of a type of indices. All of a mask: as many as its extent; any:
 * more than none. */
#define ha_count_along(y, x, dimension, context)                                                   \
    ha_count_along_(HA_RESULT_(y), HA_DARRAY(x), dimension, context, HA_SITE)

/* Does an element of the result include its own, or only those before it? */
typedef enum ha_scan_kind { HA_INCLUSIVE = 1280, HA_EXCLUSIVE } ha_scan_kind;

/* y = x, each element joined with all before it: in the order of the indices, or along a dimension. op: HA_SUM, HA_PRODUCT, and of all
 * but complex ones HA_MIN and HA_MAX; of the types of ops.h, in their own type: integers wrap around. y has the type and extents
 * of x, and may be x. What is exclusive begins with 0, 1, the greatest or the least number of the type; NaN is both. That is what the
 * first run of an inclusive one is joined to as well: so a sum of -0.0 is 0.0 there.
 *
 * The same bits everywhere, but for which NaN it is where x has several: x is joined first to last in runs of 128 elements,
 * and what is before a run is joined to each of them; that is the exclusive scan of the runs' last numbers, in the same way,
 * in runs of 128. On a device each run is a lane; on the host threads share lines, and long ones, where there are few,
 * in blocks of 128 runs. half and bfloat16 are float in between. */
#define ha_scan(op, y, x, kind, context)                                                           \
    ha_scan_(op, HA_RESULT_(y), HA_DARRAY(x), HA_SCAN_ALL_, kind, context,                         \
             HA_SITE_OF_SCAN_(op, kind, "ha_scan"))
#define ha_scan_along(op, y, x, dimension, kind, context)                                          \
    ha_scan_(op, HA_RESULT_(y), HA_DARRAY(x), dimension, kind, context,                            \
             HA_SITE_OF_SCAN_(op, kind, "ha_scan_along"))
enum { HA_SCAN_ALL_ = INT32_MIN };

/* offsets[0] = 0, offsets[i + 1] = offsets[i] + counts[i]: both of one dimension, offsets with one element more, and of a type of
 * indices; counts are of any integers. Waits: a count below zero is told with its place, and a sum that is too great for the
 * type of the offsets. */
#define ha_scan_offsets(offsets, counts, context)                                                  \
    ha_scan_offsets_(HA_RESULT_(offsets), HA_DARRAY(counts), context, HA_SITE)

/* y[…, i, …] = x[…, i + 1, …] - x[…, i, …] in a dimension, in which y has one element less. Of the types of HA_SUBTRACT. */
#define ha_differences(y, x, dimension, context)                                                   \
    ha_differences_(HA_RESULT_(y), HA_DARRAY(x), dimension, context, HA_SITE)

/* counts[b] = how many elements of x are in the b-th of as many equal parts of [low, high) as counts has elements: in that of
 * (x - low) * (parts / (high - low)), rounded down, which is computed in float for float, half and bfloat16, and in double for
 * double and integers, also those of 8 and 16 bits. Numbers of bins 0 … n - 1 are counted by (counts, x, 0, n, …).
 * *outside = how many are not in [low, high), NaN among them: a number of any type of C; so it waits. counts is of one dimension
 * and a type of integers. HA_ERR_ARGUMENT, too, unless low < high and both are finite, also in the type that is
 * computed in, and as are high - low and parts / (high - low) there: not -1e308 to 1e308, nor 0 to 1e-45 of float. */
#define ha_histogram(counts, x, low, high, outside, context)                                       \
    ha_histogram_(HA_RESULT_(counts), HA_DARRAY(x), low, high, HA_RESULT_TYPE_(outside), outside,  \
                  context, HA_SITE)

HA_API HA_MUST_CHECK ha_status ha_reduce_along_(ha_reduction op, darray y, darray x, int dimension,
                                                ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_count_along_(darray y, darray x, int dimension,
                                               ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_scan_(ha_reduction op, darray y, darray x, int dimension,
                                        ha_scan_kind kind, ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_scan_offsets_(darray offsets, darray counts, ha_context *context,
                                                const char *site);
HA_API HA_MUST_CHECK ha_status ha_differences_(darray y, darray x, int dimension,
                                               ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_histogram_(darray counts, darray x, double low, double high,
                                             ha_dtype type, void *outside, ha_context *context,
                                             const char *site);

#endif
