/* Operations of ops.h, gather.h, scan.h and sort.h as functions of one type of arrays. A part of the manual of ops.h.
 *
 *     HA_OPS(double);
 *     …
 *     HA_CHECK(harray_double_axpy(y, 2.0, x, gpu));          // y += 2 x
 *     HA_CHECK(harray_double_gather(some, x, at, gpu));      // some[i] = x[at[i]]
 *     HA_CHECK(harray_double_dot(x, y, &product, gpu));
 *     HA_CHECK(harray_double_sort(x, HA_ASCENDING, gpu));
 *
 * Each does what the word of its name does: harray_double_axpy what ha_axpy does, with the same errors. Arrays of another
 * type do not compile, nor do views, which the words take; numbers are converted to T by the compiler. Messages name
 * the function instead of the caller's line. Where nobody writes HA_OPS nothing is declared. */
#ifndef HARRAY_TYPED_OPS_H
#define HARRAY_TYPED_OPS_H

#include "ops.h"
#include "gather.h"
#include "scan.h"
#include "sort.h"

/* HA_OPS(T); makes functions of harray_T from the words fill, where, gather, scatter and compact; sequence, random,
 * random_normal, map, combine, combine_number, axpy, axpby, clip, reduce, dot, norm and difference; sort, sorting, unique,
 * lower_bound, upper_bound, scan, differences and histogram; sum, min and max are those reductions, and compare and
 * compare_number what ha_combine and ha_combine_number do with HA_IS_EQUAL to HA_IS_GREATER_EQUAL. T is a number of HA_DTYPES
 * or another name of one for which HARRAY(T) has been written, but not bool, which is a macro in C. A type that a word
 * does not have is refused when it is called.
 *
 * Masks are of uint8_t, indices and counts in bins of int32_t; norms are double, numbers of elements int64_t, the other
 * results T. So a sum that T cannot hold is refused: ha_reduce takes a wider number. Once per program part. */
#define HA_OPS(T) HA_OPS_NAMED_(T, HA_THIRD_(HA_PREMADE_##T##_, ~, T))

#define HA_OPS_NAMED_(name, T)                                                                     \
    HA_STATIC_ASSERT_(HA_DTYPE_OF(T) != HA_DTYPE_NONE,                                             \
                      "HA_OPS: " #name " is no type of numbers that operations know");             \
    HA_OPS_MAKING_(name, T)                                                                        \
    HA_OPS_COMBINING_(name, T)                                                                     \
    HA_OPS_REDUCING_(name, T)                                                                      \
    HA_OPS_INDEXING_(name, T)                                                                      \
    HA_OPS_SORTING_(name)                                                                          \
    HA_OPS_SCANNING_(name)                                                                         \
    struct ha_semicolon_

#define HA_OPS_MAKING_(name, T)                                                                    \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_fill(harray_##name x, T value,               \
                                                           ha_context *context) {                  \
        return darray_fill_element_(HA_DARRAY(x), &value, context, "harray_" #name "_fill");       \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_sequence(harray_##name x, T first, T step,   \
                                                               ha_context *context) {              \
        return ha_sequence_(HA_DARRAY(x), HA_DVALUE(first), HA_DVALUE(step), context,              \
                            "harray_" #name "_sequence");                                          \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_random(harray_##name x, uint64_t seed,       \
                                                             ha_context *context) {                \
        return ha_random_(HA_DARRAY(x), seed, context, "harray_" #name "_random");                 \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_random_normal(                               \
        harray_##name x, uint64_t seed, ha_context *context) {                                     \
        return ha_random_normal_(HA_DARRAY(x), seed, context, "harray_" #name "_random_normal");   \
    }

#define HA_OPS_COMBINING_(name, T)                                                                 \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_map(ha_map_operation op, harray_##name y,    \
                                                          harray_##name x, ha_context *context) {  \
        return ha_map_(op, HA_DARRAY(y), HA_DARRAY(x), context, "harray_" #name "_map");           \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_combine(                                     \
        int op, harray_##name z, harray_##name x, harray_##name y, ha_context *context) {          \
        return ha_combine_(op, HA_DARRAY(z), HA_DARRAY(x), HA_DARRAY(y), context,                  \
                           "harray_" #name "_combine");                                            \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_combine_number(                              \
        int op, harray_##name z, harray_##name x, T number, ha_context *context) {                 \
        return ha_combine_number_(op, HA_DARRAY(z), HA_DARRAY(x), HA_DVALUE(number), context,      \
                                  "harray_" #name "_combine_number");                              \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_compare(                                     \
        int op, harray_uint8_t mask, harray_##name x, harray_##name y, ha_context *context) {      \
        return ha_combine_(op, HA_DARRAY(mask), HA_DARRAY(x), HA_DARRAY(y), context,               \
                           "harray_" #name "_compare");                                            \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_compare_number(                              \
        int op, harray_uint8_t mask, harray_##name x, T number, ha_context *context) {             \
        return ha_combine_number_(op, HA_DARRAY(mask), HA_DARRAY(x), HA_DVALUE(number), context,   \
                                  "harray_" #name "_compare_number");                              \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_axpy(harray_##name y, T a, harray_##name x,  \
                                                           ha_context *context) {                  \
        return ha_axpby_(HA_DARRAY(y), HA_DVALUE(a), HA_DARRAY(x), HA_DVALUE(1), HA_DARRAY(y),     \
                         context, "harray_" #name "_axpy");                                        \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_axpby(                                       \
        harray_##name z, T a, harray_##name x, T b, harray_##name y, ha_context *context) {        \
        return ha_axpby_(HA_DARRAY(z), HA_DVALUE(a), HA_DARRAY(x), HA_DVALUE(b), HA_DARRAY(y),     \
                         context, "harray_" #name "_axpby");                                       \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_clip(harray_##name y, harray_##name x,       \
                                                           T low, T high, ha_context *context) {   \
        return ha_clip_(HA_DARRAY(y), HA_DARRAY(x), HA_DVALUE(low), HA_DVALUE(high), context,      \
                        "harray_" #name "_clip");                                                  \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_where(harray_##name z, harray_uint8_t mask,  \
                                                            harray_##name x, harray_##name y,      \
                                                            ha_context *context) {                 \
        return ha_where_(HA_DARRAY(z), HA_DARRAY(mask), HA_DARRAY(x), HA_DARRAY(y), context,       \
                         "harray_" #name "_where");                                                \
    }

#define HA_OPS_REDUCING_(name, T)                                                                  \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_reduce(ha_reduction op, harray_##name x,     \
                                                             T *result, ha_context *context) {     \
        return ha_reduce_(op, HA_DARRAY(x), HA_DTYPE_OF(T), result, context,                       \
                          "harray_" #name "_reduce");                                              \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_sum(harray_##name x, T *sum,                 \
                                                          ha_context *context) {                   \
        return ha_reduce_(HA_SUM, HA_DARRAY(x), HA_DTYPE_OF(T), sum, context,                      \
                          "harray_" #name "_sum");                                                 \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_min(harray_##name x, T *least,               \
                                                          ha_context *context) {                   \
        return ha_reduce_(HA_MIN, HA_DARRAY(x), HA_DTYPE_OF(T), least, context,                    \
                          "harray_" #name "_min");                                                 \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_max(harray_##name x, T *greatest,            \
                                                          ha_context *context) {                   \
        return ha_reduce_(HA_MAX, HA_DARRAY(x), HA_DTYPE_OF(T), greatest, context,                 \
                          "harray_" #name "_max");                                                 \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_dot(harray_##name x, harray_##name y,        \
                                                          T *product, ha_context *context) {       \
        return ha_dot_(HA_DARRAY(x), HA_DARRAY(y), HA_DTYPE_OF(T), product, context,               \
                       "harray_" #name "_dot");                                                    \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_norm(ha_norm_kind kind, harray_##name x,     \
                                                           double *norm, ha_context *context) {    \
        return ha_norm_(kind, HA_DARRAY(x), HA_DTYPE_double, norm, context,                        \
                        "harray_" #name "_norm");                                                  \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_difference(                                  \
        ha_norm_kind kind, harray_##name x, harray_##name y, double *norm, ha_context *context) {  \
        return ha_difference_(kind, HA_DARRAY(x), HA_DARRAY(y), HA_DTYPE_double, norm, context,    \
                              "harray_" #name "_difference");                                      \
    }

#define HA_OPS_INDEXING_(name, T)                                                                  \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_gather(                                      \
        harray_##name y, harray_##name x, harray_int32_t at, ha_context *context) {                \
        return ha_gather_(HA_DARRAY(y), HA_DARRAY(x), HA_DARRAY(at), context,                      \
                          "harray_" #name "_gather");                                              \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_scatter(                                     \
        int op, harray_##name y, harray_int32_t at, harray_##name x, ha_context *context) {        \
        return ha_scatter_(op, HA_DARRAY(y), HA_DARRAY(at), HA_DARRAY(x), context,                 \
                           "harray_" #name "_scatter");                                            \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_compact(harray_##name y, harray_##name x,    \
                                                              harray_uint8_t mask, int64_t *count, \
                                                              ha_context *context) {               \
        return ha_compact_(HA_DARRAY(y), HA_DARRAY(x), HA_DARRAY(mask), HA_DTYPE_int64_t, count,   \
                           context, "harray_" #name "_compact");                                   \
    }

#define HA_OPS_SORTING_(name)                                                                      \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_sort(harray_##name x, ha_sort_order order,   \
                                                           ha_context *context) {                  \
        return ha_sort_(HA_DARRAY(x), order, context, "harray_" #name "_sort");                    \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_sorting(                                     \
        harray_int32_t at, harray_##name x, ha_sort_order order, ha_context *context) {            \
        return ha_sorting_(HA_DARRAY(at), HA_DARRAY(x), order, context,                            \
                           "harray_" #name "_sorting");                                            \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_unique(                                      \
        harray_##name y, harray_##name x, int64_t *count, ha_context *context) {                   \
        return ha_unique_(HA_DARRAY(y), HA_DARRAY(x), HA_DTYPE_int64_t, count, context,            \
                          "harray_" #name "_unique");                                              \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_lower_bound(                                 \
        harray_int32_t at, harray_##name x, harray_##name sought, ha_context *context) {           \
        return ha_bound_(HA_DARRAY(at), HA_DARRAY(x), HA_DARRAY(sought), 0, context,               \
                         "harray_" #name "_lower_bound");                                          \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_upper_bound(                                 \
        harray_int32_t at, harray_##name x, harray_##name sought, ha_context *context) {           \
        return ha_bound_(HA_DARRAY(at), HA_DARRAY(x), HA_DARRAY(sought), 1, context,               \
                         "harray_" #name "_upper_bound");                                          \
    }

#define HA_OPS_SCANNING_(name)                                                                     \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_scan(ha_reduction op, harray_##name y,       \
                                                           harray_##name x, ha_scan_kind kind,     \
                                                           ha_context *context) {                  \
        return ha_scan_(op, HA_DARRAY(y), HA_DARRAY(x), HA_SCAN_ALL_, kind, context,               \
                        "harray_" #name "_scan");                                                  \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_differences(                                 \
        harray_##name y, harray_##name x, ha_context *context) {                                   \
        return ha_differences_(HA_DARRAY(y), HA_DARRAY(x), 0, context,                             \
                               "harray_" #name "_differences");                                    \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_histogram(                                   \
        harray_int32_t counts, harray_##name x, double low, double high, int64_t *outside,         \
        ha_context *context) {                                                                     \
        return ha_histogram_(HA_DARRAY(counts), HA_DARRAY(x), low, high, HA_DTYPE_int64_t,         \
                             outside, context, "harray_" #name "_histogram");                      \
    }

#endif
