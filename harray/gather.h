/* Operations by index: gathering, scattering, finding and compacting. A part of the manual of ops.h.
 *
 *     HA_CHECK(ha_gather(y, x, at, gpu));              // y[i] = x[at[i]]
 *     HA_CHECK(ha_scatter(HA_ADD, y, at, x, gpu));     // y[at[i]] += x[i]
 *     HA_CHECK(ha_find(at, mask, &count, gpu));        // where the mask is not 0
 *     HA_CHECK(ha_compact(y, x, mask, &count, gpu));   // what x has there
 *     HA_CHECK(ha_inverse(y, permutation, gpu));       // y[permutation[i]] = i
 *
 * Arrays, contexts and threads are those of ops.h. Indices are int32_t, uint32_t, int64_t or uint64_t, counted from 0 whatever
 * the lowest index of an array is. They are looked at where they are, before anything is changed; the call waits for
 * that. As long as nobody opens them to write it is not done again, but in the caller's own memory, and where they lie at
 * more than one step. No other thread may change them meanwhile. Elements are of any type whose size is 1, 2, 4, 8 or 16 bytes,
 * structs of the program among them, and of the same type in all arrays of a call but those of indices and masks. Structs of 12
 * bytes, such as three floats, are rows of a two-dimensional array of their numbers (darray_wrap takes them where they are): rows
 * are gathered and scattered, and compacted by ha_find and ha_gather.
 *
 * ---- errors, beside those of ops.h; nothing has been changed then
 *   HA_ERR_ARGUMENT     an index that is below zero or not below the extent: the first one, its place, and the extent are told;
 *                       types, ranks or extents that do not fit together; an array that is written has elements in
 *                       common with another one; ha_find and ha_compact: there is no room; or the count does not
 *                       fit its type; ha_inverse: it is no permutation
 *   HA_ERR_STATE        elements that are read, or with ha_scatter of any but HA_ASSIGN those of y, were never written
 *   HA_ERR_UNSUPPORTED  elements of another size; dimensions of which no two can be taken as one: eight of a result of
 *                       ha_gather, and of ha_scatter eight of x, or more than four behind the first of y; on devices
 *                       without double: elements of 16 bytes
 *   HA_ERR_MEMORY       no memory at the context for what is counted in between */
#ifndef HARRAY_GATHER_H
#define HARRAY_GATHER_H

#include "../layout/arithmetic.h"
#include "darray.h"
#include "detail/word.h"

/* y[i…, r…] = x[at[i…], r…]: x has at least one dimension, the first of which is indexed. y has the extents of `at`,
 * and behind these the others of x. */
#define ha_gather(y, x, at, context)                                                               \
    ha_gather_(HA_RESULT_(y), HA_DARRAY(x), HA_DARRAY(at), context, HA_SITE)

/* y[at[i…], r…] = op(y[at[i…], r…], x[i…, r…]), with the extents of ha_gather, where y is what is indexed. op: HA_ASSIGN, for
 * elements of all types; HA_ADD and HA_MULTIPLY, HA_MINIMUM and HA_MAXIMUM as ha_combine has them. Indices may be
 * there several times: their elements are joined in the order of the indices of `at`, so that the result is always the same, and of
 * HA_ASSIGN the last one stays. On a device that is done by sorting the indices, for which memory is taken there and given back;
 * where `at` has more than one dimension, or an index stands for thousands of elements, each of these goes over all of `at`. */
#define ha_scatter(op, y, at, x, context)                                                          \
    ha_scatter_(op, HA_RESULT_(y), HA_DARRAY(at), HA_DARRAY(x), context,                           \
                HA_SITE_OF_TWO_(op, "ha_scatter"))

/* `at`, of one dimension and a type of indices, gets the numbers of the elements of the mask that are not 0, in the order of its
 * indices; the mask is of uint8_t or bool, and of any rank. *count = how many they are: a number of any type of C.
 * `at` may be longer: what is behind them keeps its values. Too short is HA_ERR_ARGUMENT, which tells how many there are. */
#define ha_find(at, mask, count, context)                                                          \
    ha_find_(HA_RESULT_(at), HA_DARRAY(mask), HA_RESULT_TYPE_(count), count, context, HA_SITE)

/* y, of one dimension, gets the elements of x where the mask, of the same extents, is not 0; all else as ha_find. */
#define ha_compact(y, x, mask, count, context)                                                     \
    ha_compact_(HA_RESULT_(y), HA_DARRAY(x), HA_DARRAY(mask), HA_RESULT_TYPE_(count), count,       \
                context, HA_SITE)

/* y[permutation[i]] = i; both of one dimension, as long as each other, and of types of indices. HA_ERR_ARGUMENT tells the first
 * number that has been there before. */
#define ha_inverse(y, permutation, context)                                                        \
    ha_inverse_(HA_RESULT_(y), HA_DARRAY(permutation), context, HA_SITE)

HA_API HA_MUST_CHECK ha_status ha_gather_(darray y, darray x, darray at, ha_context *context,
                                          const char *site);
HA_API HA_MUST_CHECK ha_status ha_scatter_(int op, darray y, darray at, darray x,
                                           ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_find_(darray at, darray mask, ha_dtype type, void *count,
                                        ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_compact_(darray y, darray x, darray mask, ha_dtype type,
                                           void *count, ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_inverse_(darray y, darray permutation, ha_context *context,
                                           const char *site);

#endif
