/* Operations of ops.h, gather.h, scan.h, sort.h and sparse.h as functions of one type of arrays. A part of the manual of ops.h.
 *
 *     HA_OPS(double);
 *     HA_OPS(int32_t);
 *     …
 *     HA_CHECK(harray_double_axpy(y, 2.0, x, gpu));          // y += 2 x
 *     HA_CHECK(harray_double_compare_number(HA_IS_LESS, mask, x, 0, gpu));
 *     HA_CHECK(harray_int32_t_find(at, mask, &count, gpu));  // where x is less than 0
 *     HA_CHECK(harray_double_gather(some, x, at, gpu));      // some[i] = x[at[i]]
 *     HA_CHECK(harray_double_dot(x, y, &product, gpu));
 *     HA_CHECK(harray_double_sort(x, HA_ASCENDING, gpu));
 *
 * Each does what the word of its name does: harray_double_axpy what ha_axpy does, with the same errors. Arrays of another
 * type do not compile, nor do views, nor results of another type; numbers are converted to T by the compiler,
 * which cuts fractions off for integers, and refuses nothing. They are functions, which have addresses: messages tell the line of
 * the HA_CHECK or HA_IGNORE around a call, or of HA_FROM(HA_SITE), and without these the name of the function. Where nobody writes
 * HA_OPS nothing is declared.
 *
 * The words themselves take a harray_T as it is, too, and arrays of several types: that is how values are sorted by keys of
 * double, offsets of int64_t made from counts of int32_t, or views computed with. */
#ifndef HARRAY_TYPED_OPS_H
#define HARRAY_TYPED_OPS_H

#include "ops.h"
#include "gather.h"
#include "scan.h"
#include "sort.h"
#include "sparse.h"

/* HA_OPS(T); makes functions of harray_T from the words fill, where, gather, scatter and compact; sequence, random,
 * random_normal, map, combine, combine_number, axpy, axpby, clip, reduce, count, dot, norm and difference; sort, sorting,
 * sort_by_key, unique, lower_bound, upper_bound, scan, differences, histogram and sparse_combine. And of these, each under
 * the name of what it gives:
 *     sum, min, max        what ha_reduce gives with HA_SUM, HA_MIN, HA_MAX
 *     min_at, max_at       and with HA_MIN_AT, HA_MAX_AT: places
 *     compare, compare_number
 *                          a mask: ha_combine and ha_combine_number with HA_IS_EQUAL to HA_IS_GREATER_EQUAL
 *     classify             a mask: ha_map with HA_IS_NAN, HA_IS_FINITE
 * Of int, int32_t, uint32_t, int64_t and uint64_t, which are types of indices, also from find, inverse and scan_offsets, whose
 * arrays are all of T but for masks. Of c64 and c128, with arrays of float, and of double:
 *     part                 ha_map with HA_REAL_PART, HA_IMAGINARY_PART, HA_ABS, HA_ARGUMENT
 *     complex              z = x + i y: ha_combine with HA_COMPLEX
 *
 * T is a ready-made type of array.h but bool, which is a macro in C: other names of these, and structs, do not compile. A
 * type that a word does not have is refused when it is called.
 *
 * Masks are of uint8_t; indices, counts in bins and keys of sort_by_key of int32_t; norms are double, numbers of elements and
 * places int64_t, the other results T. So a sum that T cannot hold is refused: ha_reduce takes a wider number. Once per
 * program part. */
#define HA_OPS(T) HA_OPS_NAMED_(T, HA_THIRD_(HA_PREMADE_##T##_, ~, T))

#define HA_OPS_NAMED_(N, T)                                                                        \
    HA_STATIC_ASSERT_(HA_FOURTH_(HA_PREMADE_##N##_, ~, ~, HA_DTYPE_NONE) != HA_DTYPE_NONE,         \
                      "HA_OPS: " #N " is no type of numbers whose arrays are ready-made");         \
    HA_OPS_MAKING_(N, T, harray_##N)                                                               \
    HA_OPS_COMBINING_(N, T, harray_##N)                                                            \
    HA_OPS_MASKING_(N, T, harray_##N)                                                              \
    HA_OPS_REDUCING_(N, T, harray_##N)                                                             \
    HA_OPS_MOVING_(N, harray_##N)                                                                  \
    HA_OPS_SORTING_(N, harray_##N)                                                                 \
    HA_OPS_SCANNING_(N, harray_##N)                                                                \
    HA_VARIANT_(HA_OPS_OF_, HA_SECOND_(HA_OPS_ALSO_##N##_, numbers))                               \
    (N, harray_##N) struct ha_semicolon_

/* harray_N_word(parameters, context): calls the function with what follows, the context, and its own name. */
#define HA_TYPED_OP_(N, word, function, parameters, ...)                                           \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##N##_##word(HA_BARE_ parameters,                     \
                                                          ha_context *context) {                   \
        return function(__VA_ARGS__, context, "harray_" #N "_" #word);                             \
    }
/* One that ends in so many elements, *count. */
#define HA_DCOUNT_ HA_DTYPE_int64_t, count

/* N is the name of the type T, A that of its arrays. */
#define HA_OPS_MAKING_(N, T, A)                                                                    \
    HA_TYPED_OP_(N, fill, darray_fill_element_, (A x, T value), HA_DARRAY(x), &value)              \
    HA_TYPED_OP_(N, sequence, ha_sequence_, (A x, T first, T step), HA_DARRAY(x),                  \
                 HA_DVALUE(first), HA_DVALUE(step))                                                \
    HA_TYPED_OP_(N, random, ha_random_, (A x, uint64_t seed), HA_DARRAY(x), seed)                  \
    HA_TYPED_OP_(N, random_normal, ha_random_normal_, (A x, uint64_t seed), HA_DARRAY(x), seed)

#define HA_OPS_COMBINING_(N, T, A)                                                                 \
    HA_TYPED_OP_(N, map, ha_map_, (ha_map_operation op, A y, A x), op, HA_DARRAY(y), HA_DARRAY(x)) \
    HA_TYPED_OP_(N, combine, ha_combine_, (int op, A z, A x, A y), op, HA_DARRAY(z), HA_DARRAY(x), \
                 HA_DARRAY(y))                                                                     \
    HA_TYPED_OP_(N, combine_number, ha_combine_number_, (int op, A z, A x, T number), op,          \
                 HA_DARRAY(z), HA_DARRAY(x), HA_DVALUE(number))                                    \
    HA_TYPED_OP_(N, axpy, ha_axpy_, (A y, T a, A x), HA_DARRAY(y), HA_DVALUE(a), HA_DARRAY(x))     \
    HA_TYPED_OP_(N, axpby, ha_axpby_, (A z, T a, A x, T b, A y), HA_DARRAY(z), HA_DVALUE(a),       \
                 HA_DARRAY(x), HA_DVALUE(b), HA_DARRAY(y))                                         \
    HA_TYPED_OP_(N, clip, ha_clip_, (A y, A x, T low, T high), HA_DARRAY(y), HA_DARRAY(x),         \
                 HA_DVALUE(low), HA_DVALUE(high))                                                  \
    HA_TYPED_OP_(N, sparse_combine, ha_sparse_combine_,                                            \
                 (int op, harray_int32_t z_at, A z, harray_int32_t x_at, A x, harray_int32_t y_at, \
                  A y, int64_t *count),                                                            \
                 op, HA_DARRAY(z_at), HA_DARRAY(z), HA_DARRAY(x_at), HA_DARRAY(x),                 \
                 HA_DARRAY(y_at), HA_DARRAY(y), HA_DCOUNT_)

#define HA_OPS_MASKING_(N, T, A)                                                                   \
    HA_TYPED_OP_(N, compare, ha_combine_, (int op, harray_uint8_t mask, A x, A y), op,             \
                 HA_DARRAY(mask), HA_DARRAY(x), HA_DARRAY(y))                                      \
    HA_TYPED_OP_(N, compare_number, ha_combine_number_,                                            \
                 (int op, harray_uint8_t mask, A x, T number), op, HA_DARRAY(mask), HA_DARRAY(x),  \
                 HA_DVALUE(number))                                                                \
    HA_TYPED_OP_(N, classify, ha_map_, (ha_map_operation op, harray_uint8_t mask, A x), op,        \
                 HA_DARRAY(mask), HA_DARRAY(x))                                                    \
    HA_TYPED_OP_(N, where, ha_where_, (A z, harray_uint8_t mask, A x, A y), HA_DARRAY(z),          \
                 HA_DARRAY(mask), HA_DARRAY(x), HA_DARRAY(y))                                      \
    HA_TYPED_OP_(N, compact, ha_compact_, (A y, A x, harray_uint8_t mask, int64_t * count),        \
                 HA_DARRAY(y), HA_DARRAY(x), HA_DARRAY(mask), HA_DCOUNT_)

#define HA_OPS_REDUCING_(N, T, A)                                                                  \
    HA_TYPED_OP_(N, reduce, ha_reduce_, (ha_reduction op, A x, T * result), op, HA_DARRAY(x),      \
                 HA_DTYPE_OF(T), result)                                                           \
    HA_TYPED_OP_(N, sum, ha_reduce_, (A x, T * sum), HA_SUM, HA_DARRAY(x), HA_DTYPE_OF(T), sum)    \
    HA_TYPED_OP_(N, min, ha_reduce_, (A x, T * least), HA_MIN, HA_DARRAY(x), HA_DTYPE_OF(T),       \
                 least)                                                                            \
    HA_TYPED_OP_(N, max, ha_reduce_, (A x, T * greatest), HA_MAX, HA_DARRAY(x), HA_DTYPE_OF(T),    \
                 greatest)                                                                         \
    HA_TYPED_OP_(N, min_at, ha_reduce_, (A x, int64_t * at), HA_MIN_AT, HA_DARRAY(x),              \
                 HA_DTYPE_int64_t, at)                                                             \
    HA_TYPED_OP_(N, max_at, ha_reduce_, (A x, int64_t * at), HA_MAX_AT, HA_DARRAY(x),              \
                 HA_DTYPE_int64_t, at)                                                             \
    HA_TYPED_OP_(N, count, ha_count_elements_, (A x, int64_t * count), HA_DARRAY(x), HA_DCOUNT_)   \
    HA_TYPED_OP_(N, dot, ha_dot_, (A x, A y, T * product), HA_DARRAY(x), HA_DARRAY(y),             \
                 HA_DTYPE_OF(T), product)                                                          \
    HA_TYPED_OP_(N, norm, ha_norm_, (ha_norm_kind kind, A x, double *norm), kind, HA_DARRAY(x),    \
                 HA_DTYPE_double, norm)                                                            \
    HA_TYPED_OP_(N, difference, ha_difference_, (ha_norm_kind kind, A x, A y, double *norm), kind, \
                 HA_DARRAY(x), HA_DARRAY(y), HA_DTYPE_double, norm)

#define HA_OPS_MOVING_(N, A)                                                                       \
    HA_TYPED_OP_(N, gather, ha_gather_, (A y, A x, harray_int32_t at), HA_DARRAY(y), HA_DARRAY(x), \
                 HA_DARRAY(at))                                                                    \
    HA_TYPED_OP_(N, scatter, ha_scatter_, (int op, A y, harray_int32_t at, A x), op, HA_DARRAY(y), \
                 HA_DARRAY(at), HA_DARRAY(x))

#define HA_OPS_SORTING_(N, A)                                                                      \
    HA_TYPED_OP_(N, sort, ha_sort_, (A x, ha_sort_order order), HA_DARRAY(x), order)               \
    HA_TYPED_OP_(N, sorting, ha_sorting_, (harray_int32_t at, A x, ha_sort_order order),           \
                 HA_DARRAY(at), HA_DARRAY(x), order)                                               \
    HA_TYPED_OP_(N, sort_by_key, ha_sort_by_key_, (harray_int32_t keys, A x, ha_sort_order order), \
                 HA_DARRAY(keys), HA_DARRAY(x), order)                                             \
    HA_TYPED_OP_(N, unique, ha_unique_, (A y, A x, int64_t * count), HA_DARRAY(y), HA_DARRAY(x),   \
                 HA_DCOUNT_)                                                                       \
    HA_TYPED_OP_(N, lower_bound, ha_bound_, (harray_int32_t at, A x, A sought), HA_DARRAY(at),     \
                 HA_DARRAY(x), HA_DARRAY(sought), 0)                                               \
    HA_TYPED_OP_(N, upper_bound, ha_bound_, (harray_int32_t at, A x, A sought), HA_DARRAY(at),     \
                 HA_DARRAY(x), HA_DARRAY(sought), 1)

#define HA_OPS_SCANNING_(N, A)                                                                     \
    HA_TYPED_OP_(N, scan, ha_scan_, (ha_reduction op, A y, A x, ha_scan_kind kind), op,            \
                 HA_DARRAY(y), HA_DARRAY(x), HA_SCAN_ALL_, kind)                                   \
    HA_TYPED_OP_(N, differences, ha_differences_, (A y, A x), HA_DARRAY(y), HA_DARRAY(x), 0)       \
    HA_TYPED_OP_(N, histogram, ha_histogram_,                                                      \
                 (harray_int32_t counts, A x, double low, double high, int64_t *outside),          \
                 HA_DARRAY(counts), HA_DARRAY(x), low, high, HA_DTYPE_int64_t, outside)

/* What only some types have: HA_OPS_ALSO_N_ says which of these, the second one where there is no such macro. */
#define HA_OPS_OF_numbers_(N, A)
#define HA_OPS_OF_indices_(N, A)                                                                   \
    HA_TYPED_OP_(N, find, ha_find_, (A at, harray_uint8_t mask, int64_t * count), HA_DARRAY(at),   \
                 HA_DARRAY(mask), HA_DCOUNT_)                                                      \
    HA_TYPED_OP_(N, inverse, ha_inverse_, (A y, A permutation), HA_DARRAY(y),                      \
                 HA_DARRAY(permutation))                                                           \
    HA_TYPED_OP_(N, scan_offsets, ha_scan_offsets_, (A offsets, A counts), HA_DARRAY(offsets),     \
                 HA_DARRAY(counts))
#define HA_OPS_OF_complex_float_(N, A) HA_OPS_OF_COMPLEX_(N, A, harray_float)
#define HA_OPS_OF_complex_double_(N, A) HA_OPS_OF_COMPLEX_(N, A, harray_double)
#define HA_OPS_OF_COMPLEX_(N, A, R)                                                                \
    HA_TYPED_OP_(N, part, ha_map_, (ha_map_operation op, R y, A x), op, HA_DARRAY(y),              \
                 HA_DARRAY(x))                                                                     \
    HA_TYPED_OP_(N, complex, ha_combine_, (A z, R x, R y), HA_COMPLEX, HA_DARRAY(z), HA_DARRAY(x), \
                 HA_DARRAY(y))
#define HA_OPS_ALSO_int_ ~, indices
#define HA_OPS_ALSO_int32_t_ ~, indices
#define HA_OPS_ALSO_uint32_t_ ~, indices
#define HA_OPS_ALSO_int64_t_ ~, indices
#define HA_OPS_ALSO_uint64_t_ ~, indices
#define HA_OPS_ALSO_c64_ ~, complex_float
#define HA_OPS_ALSO_c128_ ~, complex_double

#endif
