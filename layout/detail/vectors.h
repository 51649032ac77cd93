/* Fields that are arrays, all elements at once: what V_name_load, _store and _add of view.h are. Loops
 * over elements stand here, and are unrolled before compilers look at what is in them: then each
 * element has its constant place, whatever the layout. */
#ifndef HARRAY_LAYOUT_DETAIL_VECTORS_H
#define HARRAY_LAYOUT_DETAIL_VECTORS_H

#include "layouts.h"

/* In front of a loop over elements; there may be many of them. */
#if defined __CUDA_ARCH__
#define HA_ELEMENTWISE_ _Pragma("unroll")
#elif defined __CUDACC__ /* for the host: nvcc knows no pragma of gcc's, nor gcc of nvcc's */
#define HA_ELEMENTWISE_
#elif defined __clang__
#define HA_ELEMENTWISE_ _Pragma("clang loop unroll(full)")
#else
#define HA_ELEMENTWISE_ _Pragma("GCC unroll 16")
#endif

/* A value at an address that may be misaligned, of a type that is not: a store of a number
 * changes no pointers and no counters then, as memcpy might. nvcc does not know such types, nor C++ of
 * structs: there it is memcpy. */
#if defined __CUDACC__
#define HA_IS_LOOSE_(T) 0
#elif defined __cplusplus
#define HA_IS_LOOSE_(T) (!__is_class(T))
#else
#define HA_IS_LOOSE_(T) 1
#endif
#define HA_LOOSE_LOAD_(T, to, from)                                                                \
    (HA_IS_LOOSE_(T) ? HA_TO_(void, *(to) = *HA_CAST_(T *, from))                                  \
                     : HA_TO_(void, memcpy(to, from, sizeof(T))))
#define HA_LOOSE_STORE_(T, to, from)                                                               \
    (HA_IS_LOOSE_(T) ? HA_TO_(void, *HA_CAST_(T *, to) = *(from))                                  \
                     : HA_TO_(void, memcpy(to, from, sizeof(T))))

/* Is it a number that C adds? A constant. */
#define HA_IS_SUMMED_(T)                                                                           \
    (HA_DTYPE_OF(T) != HA_DTYPE_NONE && HA_DTYPE_OF(T) != HA_DTYPE_bool &&                         \
     HA_DTYPE_OF(T) != HA_DTYPE_half && HA_DTYPE_OF(T) != HA_DTYPE_bfloat16 &&                     \
     HA_DTYPE_OF(T) != HA_DTYPE_c64 && HA_DTYPE_OF(T) != HA_DTYPE_c128)
struct ha_only_integers_floats_and_doubles_are_added_;

/* clang-format off */
/* Adds a number of such a type to another one; of other types the function is not called. */
#define HA_SUMMED_TYPES_(X) \
    X(int8_t) X(int16_t) X(int32_t) X(int64_t) X(uint8_t) X(uint16_t) X(uint32_t) X(uint64_t) X(float) X(double)
HA_FN void ha_add_to_(ha_dtype type, void *to, const void *value) {
    switch (type) {
#define HA_ADD_AS_(T) \
    case HA_DTYPE_##T: { \
        T sum, more; \
        memcpy(&sum, to, sizeof sum); \
        memcpy(&more, value, sizeof more); \
        sum = HA_TO_(T, sum + more); \
        memcpy(to, &sum, sizeof sum); \
        break; \
    }
        HA_SUMMED_TYPES_(HA_ADD_AS_)
#undef HA_ADD_AS_
    default:
        break;
    }
}

/* By how many subscripts the path has: none makes nothing. Of one subscript the first elements are written
 * out, as gcc at -O2 unrolls loops later than it looks at what views consist of. */
#define HA_VECTOR_(V, T, name, ...) \
    HA_VARIANT_(HA_VECTOR_, HA_ITEMS_(~ HA_ARGUMENTS_(__VA_ARGS__)))(V, T, name, HA_ELEMENTS_(__VA_ARGS__), (HA_VECTOR_LOOPS_(__VA_ARGS__)), (HA_ARGUMENTS_(__VA_ARGS__)))
#define HA_VECTOR_1_(V, T, name, n, loops, arguments)
#define HA_VECTOR_2_(V, T, name, n, loops, arguments) HA_VECTOR_OF_(V, T, name, n, HA_WRITTEN_OUT_, ~, ~)
#define HA_VECTOR_3_(V, T, name, n, loops, arguments) HA_VECTOR_OF_(V, T, name, n, HA_IN_LOOPS_, loops, arguments)
#define HA_VECTOR_4_ HA_VECTOR_3_
#define HA_VECTOR_5_ HA_VECTOR_3_
#define HA_VECTOR_6_ HA_VECTOR_3_
#define HA_VECTOR_7_ HA_VECTOR_3_
#define HA_VECTOR_8_ HA_VECTOR_3_

/* M(V, name, element number, subscripts) for each of n elements. */
#define HA_WRITTEN_OUT_(M, V, name, n, loops, arguments) \
    if ((n) > 0) M(V, name, 0, (, 0)); \
    if ((n) > 1) M(V, name, 1, (, 1)); \
    if ((n) > 2) M(V, name, 2, (, 2)); \
    if ((n) > 3) M(V, name, 3, (, 3)); \
    for (ptrdiff_t ha_n = 4; ha_n < (n); ha_n++) M(V, name, ha_n, (, ha_n));
#define HA_IN_LOOPS_(M, V, name, n, loops, arguments) \
    ptrdiff_t ha_n = 0; \
    HA_BARE_ loops { \
        M(V, name, ha_n, arguments); \
        ha_n++; \
    }
#define HA_VECTOR_LOOPS_(...) HA_PATH_(HA_NONE_, HA_NONE_, HA_VECTOR_LOOP_, __VA_ARGS__)
#define HA_VECTOR_LOOP_1_(p, a) HA_ELEMENTWISE_ HA_LOOP_(ha_i##p##0, a)
#define HA_VECTOR_LOOP_2_(p, a, b) HA_ELEMENTWISE_ HA_LOOP_(ha_i##p##0, a) HA_ELEMENTWISE_ HA_LOOP_(ha_i##p##1, b)
#define HA_VECTOR_LOOP_3_(p, a, b, c) HA_VECTOR_LOOP_2_(p, a, b) HA_ELEMENTWISE_ HA_LOOP_(ha_i##p##2, c)

#define HA_LOAD_ELEMENT_(V, name, k, subscripts) HA_LOOSE_LOAD_(V##_##name##_loose_, &ha_values[k], V##_##name##_spot_(ha_v, HA_READ_, ha_c HA_BARE_ subscripts))
#define HA_STORE_ELEMENT_(V, name, k, subscripts) HA_LOOSE_STORE_(V##_##name##_loose_, V##_##name##_spot_(ha_v, HA_WRITE_, ha_c HA_BARE_ subscripts), &ha_values[k])

#define HA_VECTOR_OF_(V, T, name, n, each, loops, arguments) \
    typedef T V##_##name##_loose_ __attribute__((__aligned__(HA_IS_LOOSE_(T) ? 1 : HA_ALIGNOF_(T)))); \
    HA_FN void V##_##name##_load(V ha_v, ha_cursor ha_c, T *ha_values) { each(HA_LOAD_ELEMENT_, V, name, n, loops, arguments) } \
    HA_FN void V##_##name##_store(V ha_v, ha_cursor ha_c, const T *ha_values) { each(HA_STORE_ELEMENT_, V, name, n, loops, arguments) } \
    HA_FN void V##_##name##_add(V ha_v, ha_cursor ha_c, const HA_POINTEE_(!HA_IS_SUMMED_(T), ha_only_integers_floats_and_doubles_are_added_, T) *ha_values) { \
        const char *ha_more = HA_TO_(const char *, HA_TO_(const void *, ha_values)); \
        T ha_sum[n]; \
        V##_##name##_load(ha_v, ha_c, ha_sum); \
        HA_ELEMENTWISE_ for (ptrdiff_t ha_k = 0; ha_k < (n); ha_k++) \
            ha_add_to_(HA_DTYPE_OF(T), &ha_sum[ha_k], ha_more + HA_SIZE_(T) * ha_k); \
        V##_##name##_store(ha_v, ha_c, ha_sum); \
    } \
    HA_FN void V##_const_##name##_load(V##_const ha_w, ha_cursor ha_c, T *ha_values) { V##_##name##_load(ha_w.view, ha_c, ha_values); }
/* clang-format on */

#endif
