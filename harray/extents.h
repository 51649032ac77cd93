/* Extents, strides and indices of up to HA_MOST_RANK dimensions: int64_t[rank], in the order in
 * which they are written, a(i, j, k). What the n-dimensional arrays compute with; of use without
 * them, too.
 *
 *     const int64_t extent[] = {3, 4};
 *     int64_t stride[2], index[2];
 *     HA_CHECK(ha_extents_strides(2, extent, HA_ROW_MAJOR, stride));           // 4, 1
 *     HA_CHECK(ha_index_of_linear(2, 7, extent, HA_ROW_MAJOR, index));         // 1, 3
 *     double x = data[ha_offset(2, index, stride)];
 *
 * All numbers count elements, never bytes. Rank 0 is one element; its pointers may be NULL. Results
 * may be written over arguments. Every call that returns a status refuses
 *     HA_ERR_ARGUMENT   a rank outside 0 … HA_MOST_RANK, a null pointer, an order that is none; where
 *                       extents are asked for, a negative one
 *     HA_ERR_MEMORY     a result that does not fit 64 bits
 * and then leaves its results as they were. */
#ifndef HARRAY_EXTENTS_H
#define HARRAY_EXTENTS_H

#include "status.h"
#include "../layout/detail/function.h"

enum { HA_MOST_RANK = 8 };

/* Which index varies fastest in memory. */
typedef enum ha_order {
    HA_ROW_MAJOR = 0, /* the last, as in C */
    HA_COLUMN_MAJOR   /* the first, as in Fortran */
} ha_order;

/* ---- extents -------------------------------------------------------------------------------- */

/* How many elements: 1 for rank 0; 0 as soon as one extent is 0, however large the others. */
HA_API HA_MUST_CHECK ha_status ha_extents_product(int rank, const int64_t *extent, int64_t *count);

/* The strides of elements that lie without gaps. An extent of 1 has the stride that a longer one
 * would have, an extent of 0 counts as 1. HA_ERR_MEMORY: the extents above 0 have a product that
 * does not fit 64 bits. */
HA_API HA_MUST_CHECK ha_status ha_extents_strides(int rank, const int64_t *extent, ha_order order,
                                                  int64_t *stride);

/* Do elements with these strides lie without gaps in this order? Strides of extents of 1 do not
 * matter, and where there is no element none does. 0 for arguments that the others would refuse. */
HA_API int ha_extents_contiguous(int rank, const int64_t *extent, const int64_t *stride,
                                 ha_order order);

/* The offsets of the first and last element in memory, as seen from index 0, 0, …: at most 0, at
 * least 0. Without elements: 0 and -1. Where this succeeds, ha_offset of no index overflows. */
HA_API HA_MUST_CHECK ha_status ha_extents_reach(int rank, const int64_t *extent,
                                                const int64_t *stride, int64_t *lowest,
                                                int64_t *highest);

/* HA_OK when all elements lie inside a storage of `size` elements, index 0, 0, … at `offset` of it;
 * HA_ERR_ARGUMENT when one does not. Without elements there is none that does not. */
HA_API HA_MUST_CHECK ha_status ha_extents_inside(int rank, const int64_t *extent,
                                                 const int64_t *stride, int64_t offset,
                                                 int64_t size);

/* The same rank, and the same numbers? */
HA_API int ha_extents_equal(int rank, const int64_t *a, int other_rank, const int64_t *b);

/* Of each dimension, any numbers. */
HA_API HA_MUST_CHECK ha_status ha_extents_add(int rank, const int64_t *a, const int64_t *b,
                                              int64_t *sum);
HA_API HA_MUST_CHECK ha_status ha_extents_multiply(int rank, const int64_t *a, const int64_t *b,
                                                   int64_t *product);

/* One of the numbers, where the dimension is not known to exist: HA_ERR_ARGUMENT if it does not. */
HA_API HA_MUST_CHECK ha_status ha_extents_get(int rank, const int64_t *numbers, int dimension,
                                              int64_t *value);
HA_API HA_MUST_CHECK ha_status ha_extents_set(int rank, int64_t *numbers, int dimension,
                                              int64_t value);

/* "2, 3" into a buffer, as snprintf does: returns the length that it has without the buffer's end.
 * "" for rank 0, and for a rank that is refused. */
HA_API size_t ha_extents_print(int rank, const int64_t *numbers, char *text, size_t bytes);

/* ---- indices -------------------------------------------------------------------------------- */

/* Is the index one of an element: 0 <= index < extent in each dimension? Nothing is checked. */
HA_FN int ha_contained(int rank, const int64_t *index, const int64_t *extent) {
    for (int d = 0; d < rank; d++)
        if (index[d] < 0 || index[d] >= extent[d]) return 0;
    return 1;
}

/* Where an element lies, as seen from index 0, 0, …: for loops, nothing is checked. */
HA_FN int64_t ha_offset(int rank, const int64_t *index, const int64_t *stride) {
    int64_t offset = 0;
    for (int d = 0; d < rank; d++) offset += index[d] * stride[d];
    return offset;
}

/* The same, checked: HA_ERR_ARGUMENT when the index is not one of these extents, HA_ERR_MEMORY when
 * its positive or its negative parts add up to what does not fit 64 bits. */
HA_API HA_MUST_CHECK ha_status ha_offset_checked(int rank, const int64_t *index,
                                                 const int64_t *extent, const int64_t *stride,
                                                 int64_t *offset);

/* The place of an index when all are counted in this order, from 0, and back. HA_ERR_ARGUMENT when
 * there is no such element. */
HA_API HA_MUST_CHECK ha_status ha_linear_of_index(int rank, const int64_t *index,
                                                  const int64_t *extent, ha_order order,
                                                  int64_t *linear);
HA_API HA_MUST_CHECK ha_status ha_index_of_linear(int rank, int64_t linear, const int64_t *extent,
                                                  ha_order order, int64_t *index);

/* ---- of fixed rank -------------------------------------------------------------------------- */

/* ha_dim1 … ha_dim4: extents, strides or an index to pass by value, to kernels too. They have the
 * functions from above, with ha_dimD_ in front:
 *
 *     ha_dim2 extent = ha_dim2_of(3, 4), stride;
 *     HA_CHECK(ha_dim2_strides(extent, HA_ROW_MAJOR, &stride));
 *     double x = data[ha_dim2_offset(ha_dim2_of(1, 2), stride)];
 *
 * ha_dimD_all(n) has n everywhere. of, all, equal, contained and offset work in kernels. */
#define HA_DIM_(D)                                                                                 \
    typedef struct ha_dim##D {                                                                     \
        int64_t at[D];                                                                             \
    } ha_dim##D;                                                                                   \
    HA_FN ha_dim##D ha_dim##D##_all(int64_t n) {                                                   \
        ha_dim##D d;                                                                               \
        for (int i = 0; i < D; i++) d.at[i] = n;                                                   \
        return d;                                                                                  \
    }                                                                                              \
    HA_FN int ha_dim##D##_equal(ha_dim##D a, ha_dim##D b) {                                        \
        int equal = 1;                                                                             \
        for (int i = 0; i < D; i++) equal &= a.at[i] == b.at[i];                                   \
        return equal;                                                                              \
    }                                                                                              \
    HA_FN int ha_dim##D##_contained(ha_dim##D index, ha_dim##D extent) {                           \
        return ha_contained(D, index.at, extent.at);                                               \
    }                                                                                              \
    HA_FN int64_t ha_dim##D##_offset(ha_dim##D index, ha_dim##D stride) {                          \
        return ha_offset(D, index.at, stride.at);                                                  \
    }                                                                                              \
    static inline HA_UNUSED HA_MUST_CHECK ha_status ha_dim##D##_offset_checked(                    \
        ha_dim##D index, ha_dim##D extent, ha_dim##D stride, int64_t *offset) {                    \
        return ha_offset_checked(D, index.at, extent.at, stride.at, offset);                       \
    }                                                                                              \
    static inline HA_UNUSED HA_MUST_CHECK ha_status ha_dim##D##_product(ha_dim##D extent,          \
                                                                        int64_t *count) {          \
        return ha_extents_product(D, extent.at, count);                                            \
    }                                                                                              \
    static inline HA_UNUSED HA_MUST_CHECK ha_status ha_dim##D##_strides(                           \
        ha_dim##D extent, ha_order order, ha_dim##D *stride) {                                     \
        return ha_extents_strides(D, extent.at, order, stride ? stride->at : HA_NULL_);            \
    }                                                                                              \
    static inline HA_UNUSED int ha_dim##D##_contiguous(ha_dim##D extent, ha_dim##D stride,         \
                                                       ha_order order) {                           \
        return ha_extents_contiguous(D, extent.at, stride.at, order);                              \
    }                                                                                              \
    static inline HA_UNUSED HA_MUST_CHECK ha_status ha_dim##D##_reach(                             \
        ha_dim##D extent, ha_dim##D stride, int64_t *lowest, int64_t *highest) {                   \
        return ha_extents_reach(D, extent.at, stride.at, lowest, highest);                         \
    }                                                                                              \
    static inline HA_UNUSED HA_MUST_CHECK ha_status ha_dim##D##_inside(                            \
        ha_dim##D extent, ha_dim##D stride, int64_t offset, int64_t size) {                        \
        return ha_extents_inside(D, extent.at, stride.at, offset, size);                           \
    }                                                                                              \
    static inline HA_UNUSED HA_MUST_CHECK ha_status ha_dim##D##_add(ha_dim##D a, ha_dim##D b,      \
                                                                    ha_dim##D *sum) {              \
        return ha_extents_add(D, a.at, b.at, sum ? sum->at : HA_NULL_);                            \
    }                                                                                              \
    static inline HA_UNUSED HA_MUST_CHECK ha_status ha_dim##D##_multiply(ha_dim##D a, ha_dim##D b, \
                                                                         ha_dim##D *product) {     \
        return ha_extents_multiply(D, a.at, b.at, product ? product->at : HA_NULL_);               \
    }                                                                                              \
    static inline HA_UNUSED HA_MUST_CHECK ha_status ha_dim##D##_get(                               \
        ha_dim##D numbers, int dimension, int64_t *value) {                                        \
        return ha_extents_get(D, numbers.at, dimension, value);                                    \
    }                                                                                              \
    static inline HA_UNUSED HA_MUST_CHECK ha_status ha_dim##D##_set(                               \
        ha_dim##D *numbers, int dimension, int64_t value) {                                        \
        return ha_extents_set(D, numbers ? numbers->at : HA_NULL_, dimension, value);              \
    }                                                                                              \
    static inline HA_UNUSED HA_MUST_CHECK ha_status ha_dim##D##_linear(                            \
        ha_dim##D index, ha_dim##D extent, ha_order order, int64_t *linear) {                      \
        return ha_linear_of_index(D, index.at, extent.at, order, linear);                          \
    }                                                                                              \
    static inline HA_UNUSED HA_MUST_CHECK ha_status ha_dim##D##_of_linear(                         \
        int64_t linear, ha_dim##D extent, ha_order order, ha_dim##D *index) {                      \
        return ha_index_of_linear(D, linear, extent.at, order, index ? index->at : HA_NULL_);      \
    }                                                                                              \
    static inline HA_UNUSED size_t ha_dim##D##_print(ha_dim##D numbers, char *text,                \
                                                     size_t bytes) {                               \
        return ha_extents_print(D, numbers.at, text, bytes);                                       \
    }                                                                                              \
    typedef ha_dim##D ha_dim##D /* for the semicolon */

HA_DIM_(1);
HA_DIM_(2);
HA_DIM_(3);
HA_DIM_(4);

HA_FN ha_dim1 ha_dim1_of(int64_t i) {
    ha_dim1 d = {{i}};
    return d;
}
HA_FN ha_dim2 ha_dim2_of(int64_t i, int64_t j) {
    ha_dim2 d = {{i, j}};
    return d;
}
HA_FN ha_dim3 ha_dim3_of(int64_t i, int64_t j, int64_t k) {
    ha_dim3 d = {{i, j, k}};
    return d;
}
HA_FN ha_dim4 ha_dim4_of(int64_t i, int64_t j, int64_t k, int64_t l) {
    ha_dim4 d = {{i, j, k, l}};
    return d;
}

/* ha_dim5 … ha_dim8 have `of` alone. HA_DIM(3, 4) is ha_dim2_of(3, 4), and so on. */
typedef struct ha_dim5 {
    int64_t at[5];
} ha_dim5;
typedef struct ha_dim6 {
    int64_t at[6];
} ha_dim6;
typedef struct ha_dim7 {
    int64_t at[7];
} ha_dim7;
typedef struct ha_dim8 {
    int64_t at[8];
} ha_dim8;
HA_FN ha_dim5 ha_dim5_of(int64_t i, int64_t j, int64_t k, int64_t l, int64_t m) {
    ha_dim5 d = {{i, j, k, l, m}};
    return d;
}
HA_FN ha_dim6 ha_dim6_of(int64_t i, int64_t j, int64_t k, int64_t l, int64_t m, int64_t n) {
    ha_dim6 d = {{i, j, k, l, m, n}};
    return d;
}
HA_FN ha_dim7 ha_dim7_of(int64_t i, int64_t j, int64_t k, int64_t l, int64_t m, int64_t n,
                         int64_t o) {
    ha_dim7 d = {{i, j, k, l, m, n, o}};
    return d;
}
HA_FN ha_dim8 ha_dim8_of(int64_t i, int64_t j, int64_t k, int64_t l, int64_t m, int64_t n,
                         int64_t o, int64_t p) {
    ha_dim8 d = {{i, j, k, l, m, n, o, p}};
    return d;
}
#define HA_DIM(...) HA_DIM_COUNT_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, ~)(__VA_ARGS__)
#define HA_DIM_COUNT_(a, b, c, d, e, f, g, h, D, ...) ha_dim##D##_of

#endif
