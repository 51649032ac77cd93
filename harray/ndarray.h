/* Typed arrays of n dimensions.
 *
 *     array_double_2 a = array_double_2_zeros(HA_DIM(3, 4), gpu);
 *     HA_WRITING(v, a, ha_host()) {
 *         span_double_2 s = v.span;
 *         for (int64_t i = 0; i < s.extent[0]; i++)
 *             for (int64_t j = 0; j < s.extent[1]; j++) HA_AT(s, i, j) += 1;
 *     }
 *     HA_READING(v, array_double_2_fix(a, 0, 2), gpu) HA_RUN(use_row, v);  // one row is moved
 *     HA_IGNORE(array_double_2_free(&a));
 *
 * HA_ARRAY(T, D) makes array_T_D and what belongs to it, for D = 1 … 8. T is a ready-made type, or
 * one for which there is HARRAY(T) (bool is one of these, with stdbool.h); for D > 1 there has to be
 * HA_ARRAY(T, D - 1). Ranks 1 to 4 of half, float and double are ready-made; making them again is
 * harmless. For types that several headers share see HARRAY.
 *
 * An array_T_D is a darray (harray/darray.h) whose type and rank are known to the compiler, and what
 * is said there holds here: array_T_D_slice is darray_slice, and so on. The accesses are those of
 * harray/access.h; they lock and move what the view covers. Those to an array_T_D_const can only read:
 * array_T_D_reading(x), for functions that are given x for that. */
#ifndef HARRAY_NDARRAY_H
#define HARRAY_NDARRAY_H

#include "darray.h"

/* The element of a span at an index of as many numbers as its rank (others do not compile); it can be
 * assigned to, except in a cspan. In C, C++ and device code. The numbers are not checked, except on the
 * host with HARRAY_DEBUG: an index that is none says where, and aborts.
 *
 * `s` is best a local variable (span_double_2 s = v.span): of what others may change, the compiler
 * reads the strides again and again. */
#define HA_AT(s, ...)                                                                              \
    (*((s).data +                                                                                  \
       (HA_REQUIRE_(sizeof((s).extent) ==                                                          \
                        sizeof(int64_t) * HA_AT_COUNT_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, ~),    \
                    "HA_AT: an index has one number for each dimension of the span"),              \
        HA_AT_COUNT_(__VA_ARGS__, HA_AT_8_, HA_AT_7_, HA_AT_6_, HA_AT_5_, HA_AT_4_, HA_AT_3_,      \
                     HA_AT_2_, HA_AT_1_, ~)(s, __VA_ARGS__))))

#define HA_AT_COUNT_(a, b, c, d, e, f, g, h, at, ...) at
#define HA_AT_1_(s, i) HA_AT_OFFSET_(s, 0, i)
#define HA_AT_2_(s, i, j) HA_AT_1_(s, i) + HA_AT_OFFSET_(s, 1, j)
#define HA_AT_3_(s, i, j, k) HA_AT_2_(s, i, j) + HA_AT_OFFSET_(s, 2, k)
#define HA_AT_4_(s, i, j, k, l) HA_AT_3_(s, i, j, k) + HA_AT_OFFSET_(s, 3, l)
#define HA_AT_5_(s, i, j, k, l, m) HA_AT_4_(s, i, j, k, l) + HA_AT_OFFSET_(s, 4, m)
#define HA_AT_6_(s, i, j, k, l, m, n) HA_AT_5_(s, i, j, k, l, m) + HA_AT_OFFSET_(s, 5, n)
#define HA_AT_7_(s, i, j, k, l, m, n, o) HA_AT_6_(s, i, j, k, l, m, n) + HA_AT_OFFSET_(s, 6, o)
#define HA_AT_8_(s, i, j, k, l, m, n, o, p)                                                        \
    HA_AT_7_(s, i, j, k, l, m, n, o) + HA_AT_OFFSET_(s, 7, p)
#if defined HARRAY_DEBUG && !defined __CUDA_ARCH__
#define HA_AT_OFFSET_(s, d, i)                                                                     \
    (ha_checked_index_(HA_TO_(int64_t, i), (s).origin[d], (s).extent[d], d, HA_SITE) *             \
     (s).stride[d])
#else
#define HA_AT_OFFSET_(s, d, i) (HA_TO_(int64_t, i) * (s).stride[d])
#endif

HA_API void ha_index_failed_(int64_t index, int64_t origin, int64_t extent, int dimension,
                             const char *site) __attribute__((__noreturn__));
HA_FN int64_t ha_checked_index_(int64_t index, int64_t origin, int64_t extent, int dimension,
                                const char *site) {
#if !defined __CUDA_ARCH__
    if (index < origin || HA_TO_(uint64_t, index) - HA_TO_(uint64_t, origin) >=
                              HA_TO_(uint64_t, extent)) /* may be far apart */
        ha_index_failed_(index, origin, extent, dimension, site);
#else
    (void)origin, (void)extent, (void)dimension, (void)site;
#endif
    return index;
}

#ifndef __cplusplus
/* Indexing as C's arrays of arrays, in C only:
 *
 *     HA_READING(v, x, ha_host()) {
 *         HA_NATIVE_3(a, v);
 *         if (a) … a[k][j][i] …
 *     }
 *
 * declares a pointer for an open access of rank 2, 3 or 4. NULL unless the memory is the host's,
 * the last index has stride 1, and each stride is a multiple of the next one: as in every row-major
 * array, and in parts of one. With lowest indices other than 0 the inner ones leave what C takes
 * for the bounds of its inner arrays: compilers count on as meant, -fsanitize=bounds objects. */
#define HA_NATIVE_2(a, v)                                                                          \
    HA_NATIVE_(a, v, 2);                                                                           \
    __typeof__ (*(v).span.data)(*a)[a##_sizes_[0]] = a##_data_
#define HA_NATIVE_3(a, v)                                                                          \
    HA_NATIVE_(a, v, 3);                                                                           \
    __typeof__ (*(v).span.data)(*a)[a##_sizes_[0]][a##_sizes_[1]] = a##_data_
#define HA_NATIVE_4(a, v)                                                                          \
    HA_NATIVE_(a, v, 4);                                                                           \
    __typeof__ (*(v).span.data)(*a)[a##_sizes_[0]][a##_sizes_[1]][a##_sizes_[2]] = a##_data_
#define HA_NATIVE_(a, v, D)                                                                        \
    int64_t a##_sizes_[D];                                                                         \
    void *a##_data_ = ha_native_(HA_ACCESS_(&(v)), (v).span.data, D, (v).span.extent,              \
                                 (v).span.stride, (v).span.origin, a##_sizes_)
#endif
HA_API void *ha_native_(const ha_access *access, const void *data, int rank, const int64_t *extent,
                        const int64_t *stride, const int64_t *origin, int64_t *sizes);

/* The address of index 0, 0, … may be outside of any array: the first element's is asked for. */
static inline HA_UNUSED void *ha_span_here_(const ha_queue *queue, const void *data, size_t bytes,
                                            int rank, const int64_t *origin,
                                            const int64_t *stride) {
    const uintptr_t zero = HA_NUMBER_(data);
    const uintptr_t first = zero + HA_TO_(uintptr_t, ha_offset(rank, origin, stride)) *
                                       HA_TO_(uintptr_t, bytes);
    return HA_ADDRESS_(zero + (HA_NUMBER_(ha_here_(queue, HA_ADDRESS_(first))) - first));
}

/* ---- making types --------------------------------------------------------------------------- */

#define HA_ARRAY(T, D)                                                                             \
    HA_VARIANT_(HA_NDARRAY_, HA_SECOND_(HA_PREMADE_##T##_##D##_))                                  \
    (_##T, HA_THIRD_(HA_PREMADE_##T##_, ~, T), HA_FOURTH_(HA_PREMADE_##T##_, ~, ~, HA_DTYPE_NONE), \
     D)

/* The same under another name: HARRAY_NAMED(cell, struct cell); HA_ARRAY_NAMED(cell, struct cell, 1);
 * makes array_cell_1. */
#define HA_ARRAY_NAMED(name, T, D) HA_NDARRAY_define_(_##name, T, HA_DTYPE_NONE, D)

/* Of bool HA_ARRAY cannot give the name on: so names have an underscore in front. */
#define HA_NDARRAY_made_(n, T, dtype, D) struct ha_semicolon_
#define HA_NDARRAY_define_(n, T, dtype, D)                                                            \
    typedef harray##n array##n##_##D##_needs_; /* unknown: HARRAY(T) is missing */                    \
    typedef struct span##n##_##D {                                                                    \
        T *data;                                                                                      \
        int64_t extent[D], stride[D], origin[D];                                                      \
    } span##n##_##D;                                                                                  \
    typedef struct cspan##n##_##D {                                                                   \
        T const *data;                                                                                \
        int64_t extent[D], stride[D], origin[D];                                                      \
    } cspan##n##_##D;                                                                                 \
    typedef struct ha_read##n##_##D {                                                                 \
        HA_ACCESS_MEMBERS_(T const);                                                                  \
        cspan##n##_##D span;                                                                          \
    } ha_read##n##_##D;                                                                               \
    typedef struct ha_write##n##_##D {                                                                \
        HA_ACCESS_MEMBERS_(T);                                                                        \
        span##n##_##D span;                                                                           \
    } ha_write##n##_##D;                                                                              \
    /* read_ and write_ are never followed: they tell the scopes the types of their accesses */       \
    typedef struct array##n##_##D {                                                                   \
        union {                                                                                       \
            ha_array *array;                                                                          \
            ha_read##n##_##D *read_;                                                                  \
            ha_write##n##_##D *write_;                                                                \
        };                                                                                            \
        int64_t offset, extent[D], stride[D], origin[D];                                              \
    } array##n##_##D;                                                                                 \
    /* as harray_T_const: accesses to it can only read */                                             \
    typedef struct array##n##_##D##_const {                                                           \
        union {                                                                                       \
            ha_array *array;                                                                          \
            ha_read##n##_##D *read_;                                                                  \
            ha_write_nothing_ *write_;                                                                \
        };                                                                                            \
        int64_t offset, extent[D], stride[D], origin[D];                                              \
    } array##n##_##D##_const;                                                                         \
    HA_TYPED_ array##n##_##D##_const array##n##_##D##_reading(array##n##_##D x) {                     \
        array##n##_##D##_const c;                                                                     \
        c.array = x.array;                                                                            \
        c.offset = x.offset;                                                                          \
        for (int d = 0; d < D; d++) {                                                                 \
            c.extent[d] = x.extent[d];                                                                \
            c.stride[d] = x.stride[d];                                                                \
            c.origin[d] = x.origin[d];                                                                \
        }                                                                                             \
        return c;                                                                                     \
    }                                                                                                 \
    HA_FN cspan##n##_##D span##n##_##D##_const(span##n##_##D s) {                                     \
        cspan##n##_##D c;                                                                             \
        c.data = s.data;                                                                              \
        for (int d = 0; d < D; d++) {                                                                 \
            c.extent[d] = s.extent[d];                                                                \
            c.stride[d] = s.stride[d];                                                                \
            c.origin[d] = s.origin[d];                                                                \
        }                                                                                             \
        return c;                                                                                     \
    }                                                                                                 \
    /* the span of an access, as a function on a queue can use it: see HA_HERE */                     \
    HA_TYPED_ span##n##_##D span##n##_##D##_here(const ha_queue *queue, span##n##_##D s) {            \
        s.data = HA_CAST_(T *, ha_span_here_(queue, s.data, sizeof(T), D, s.origin, s.stride));       \
        return s;                                                                                     \
    }                                                                                                 \
    HA_TYPED_ cspan##n##_##D cspan##n##_##D##_here(const ha_queue *queue, cspan##n##_##D s) {         \
        s.data = HA_CAST_(T const *,                                                                  \
                          ha_span_here_(queue, s.data, sizeof(T), D, s.origin, s.stride));            \
        return s;                                                                                     \
    }                                                                                                 \
    /* as a parameter of a kernel (kernel.h): what is given, and what its body sees; `unit`: its    \
     * last stride is 1 */ \
    typedef array##n##_##D ha_given_array##n##_##D;                                                   \
    typedef T ha_element_array##n##_##D;                                                              \
    typedef cspan##n##_##D ha_in_array##n##_##D;                                                      \
    typedef span##n##_##D ha_out_array##n##_##D;                                                      \
    HA_FN span##n##_##D ha_out_array##n##_##D##_(T *first, void *span, int unit) {                    \
        span##n##_##D s = *HA_CAST_(const span##n##_##D *, span);                                     \
        s.data = first;                                                                               \
        if (unit) s.stride[D - 1] = 1;                                                                \
        return s;                                                                                     \
    }                                                                                                 \
    HA_FN cspan##n##_##D ha_in_array##n##_##D##_(T const *first, void *span, int unit) {              \
        cspan##n##_##D s = *HA_CAST_(const cspan##n##_##D *, span);                                   \
        s.data = first;                                                                               \
        if (unit) s.stride[D - 1] = 1;                                                                \
        return s;                                                                                     \
    }                                                                                                 \
    /* refused unless type and rank are the same */                                                   \
    HA_TYPED_ array##n##_##D array##n##_##D##_from_darray(darray x) {                                 \
        array##n##_##D typed;                                                                         \
        darray_to_typed_(x, harray##n##_type(), dtype, D, &typed);                                    \
        return typed;                                                                                 \
    }                                                                                                 \
    HA_TYPED_ darray array##n##_##D##_to_darray(array##n##_##D x) {                                   \
        return darray_of_typed_(&x, dtype, D);                                                        \
    }                                                                                                 \
    HA_TYPED_ array##n##_##D array##n##_##D##_new_in(ha_order order, ha_dim##D extent,                \
                                                     ha_context *context) {                           \
        return array##n##_##D##_from_darray(                                                          \
            darray_new_(order, harray##n##_type(), D, extent.at, context));                           \
    }                                                                                                 \
    HA_TYPED_ array##n##_##D array##n##_##D##_new(ha_dim##D extent, ha_context *context) {            \
        return array##n##_##D##_new_in(HA_ROW_MAJOR, extent, context);                                \
    }                                                                                                 \
    HA_TYPED_ array##n##_##D array##n##_##D##_zeros(ha_dim##D extent, ha_context *context) {          \
        return array##n##_##D##_from_darray(                                                          \
            darray_zeros_(harray##n##_type(), D, extent.at, context));                                \
    }                                                                                                 \
    HA_TYPED_ array##n##_##D array##n##_##D##_filled(ha_dim##D extent, T value,                       \
                                                     ha_context *context) {                           \
        return array##n##_##D##_from_darray(                                                          \
            darray_filled_(harray##n##_type(), D, extent.at, &value, context));                       \
    }                                                                                                 \
    HA_TYPED_ array##n##_##D array##n##_##D##_of(ha_dim##D extent, T const *values,                   \
                                                 ha_context *context) {                               \
        return array##n##_##D##_from_darray(                                                          \
            darray_of_(harray##n##_type(), D, extent.at, values, context));                           \
    }                                                                                                 \
    /* its rank is D, or not given: 0 */                                                              \
    HA_TYPED_ array##n##_##D array##n##_##D##_make(const ha_shape *shape, ha_context *context) {      \
        return array##n##_##D##_from_darray(darray_make_(harray##n##_type(), D, shape, context));     \
    }                                                                                                 \
    HA_TYPED_ array##n##_##D array##n##_##D##_wrap(T *data, ha_dim##D extent,                         \
                                                   ha_context *context) {                             \
        return array##n##_##D##_from_darray(                                                          \
            darray_wrap_(harray##n##_type(), D, extent.at, HA_NULL_, data, context, 0));              \
    }                                                                                                 \
    HA_TYPED_ array##n##_##D array##n##_##D##_wrap_strided(                                           \
        T *data, ha_dim##D extent, ha_dim##D stride, ha_context *context) {                           \
        return array##n##_##D##_from_darray(                                                          \
            darray_wrap_(harray##n##_type(), D, extent.at, stride.at, data, context, 0));             \
    }                                                                                                 \
    HA_TYPED_ array##n##_##D array##n##_##D##_wrap_const(T const *data, ha_dim##D extent,             \
                                                         ha_context *context) {                       \
        return array##n##_##D##_from_darray(darray_wrap_(harray##n##_type(), D, extent.at,            \
                                                         HA_NULL_, HA_ADDRESS_(HA_NUMBER_(data)),     \
                                                         context, HA_WRAP_CONST));                    \
    }                                                                                                 \
    HA_TYPED_ array##n##_##D array##n##_##D##_from(harray##n x, ha_dim##D extent) {                   \
        return array##n##_##D##_from_darray(darray_from(x.array, D, extent.at));                      \
    }                                                                                                 \
    HA_TYPED_ harray##n array##n##_##D##_array(array##n##_##D x) {                                    \
        return harray##n##_from(x.array);                                                             \
    }                                                                                                 \
    HA_TYPED_ array##n##_##D array##n##_##D##_share(array##n##_##D x) {                               \
        HA_IGNORE_(ha_array_retain(x.array) == x.array ? HA_OK : HA_ERR_ARGUMENT);                    \
        return x;                                                                                     \
    }                                                                                                 \
    HA_TYPED_ ha_status array##n##_##D##_free(array##n##_##D *x) { /* and x->array = NULL */          \
        ha_status status = ha_array_free(x ? x->array : HA_NULL_);                                    \
        if (x && status == HA_OK) x->array = HA_NULL_;                                                \
        return status;                                                                                \
    }                                                                                                 \
    /* of the storage, with all its elements */                                                       \
    HA_TYPED_ void array##n##_##D##_set_name(array##n##_##D x, const char *text) {                    \
        ha_array_set_name(x.array, text);                                                             \
    }                                                                                                 \
    HA_TYPED_ HA_MUST_CHECK ha_status array##n##_##D##_sync(array##n##_##D x) {                       \
        return ha_sync_(x.array, "array" #n "_" #D "_sync");                                          \
    }                                                                                                 \
    HA_TYPED_ HA_MUST_CHECK ha_status array##n##_##D##_unwrap(array##n##_##D *x) {                    \
        ha_status status = ha_unwrap_(x ? x->array : HA_NULL_, "array" #n "_" #D "_unwrap");          \
        if (x && status == HA_OK) x->array = HA_NULL_; /* otherwise it is as before */                \
        return status;                                                                                \
    }                                                                                                 \
    HA_NDARRAY_VIEW_(n, D, slice,                                                                     \
                     (array##n##_##D x, int dimension, int64_t start, int64_t stop, int64_t step),    \
                     dimension, start, stop, step)                                                    \
    HA_NDARRAY_VIEW_(n, D, part, (array##n##_##D x, ha_dim##D low, ha_dim##D high), low.at,           \
                     high.at)                                                                         \
    HA_TYPED_ HA_MUST_CHECK ha_status array##n##_##D##_shell(                                         \
        array##n##_##D x, ha_dim##D low, ha_dim##D high, array##n##_##D side[2 * D]) {                \
        darray sides[2 * D];                                                                          \
        ha_status status = darray_shell_(array##n##_##D##_to_darray(x), low.at, high.at,              \
                                         side ? sides : HA_NULL_, HA_NULL_);                          \
        for (int i = 0; side && i < 2 * D; i++) side[i] = array##n##_##D##_from_darray(sides[i]);     \
        return status;                                                                                \
    }                                                                                                 \
    HA_NDARRAY_VIEW_(n, D, permute, (array##n##_##D x, ha_dim##D order), order.at)                    \
    HA_NDARRAY_VIEW_(n, D, flip, (array##n##_##D x, int dimension), dimension)                        \
    HA_NDARRAY_VIEW_(n, D, with_origin, (array##n##_##D x, ha_dim##D origin), origin.at)              \
    HA_TYPED_ array##n##_##D array##n##_##D##_transpose(array##n##_##D x) {                           \
        return array##n##_##D##_from_darray(                                                          \
            darray_transpose_(array##n##_##D##_to_darray(x), HA_NULL_));                              \
    }                                                                                                 \
    HA_TYPED_ array##n##_##D array##n##_##D##_interior(array##n##_##D x) {                            \
        return array##n##_##D##_from_darray(                                                          \
            darray_interior_(array##n##_##D##_to_darray(x), HA_NULL_));                               \
    }                                                                                                 \
    /* of an array of any rank */                                                                     \
    HA_TYPED_ array##n##_##D array##n##_##D##_reshape(darray x, ha_dim##D extent) {                   \
        return array##n##_##D##_from_darray(                                                          \
            darray_reshape_in_(HA_ROW_MAJOR, x, D, extent.at, HA_NULL_));                             \
    }                                                                                                 \
    HA_TYPED_ array##n##_##D array##n##_##D##_broadcast(darray x, ha_dim##D extent) {                 \
        return array##n##_##D##_from_darray(darray_broadcast_(x, D, extent.at, HA_NULL_));            \
    }                                                                                                 \
    HA_TYPED_ HA_MUST_CHECK ha_status array##n##_##D##_copy(                                          \
        array##n##_##D to, array##n##_##D from, ha_context *context) {                                \
        return darray_copy_(array##n##_##D##_to_darray(to), array##n##_##D##_to_darray(from),         \
                            context, "array" #n "_" #D "_copy");                                      \
    }                                                                                                 \
    HA_TYPED_ HA_MUST_CHECK ha_status array##n##_##D##_fill(array##n##_##D x, T value,                \
                                                            ha_context *context) {                    \
        return darray_fill_element_(array##n##_##D##_to_darray(x), &value, context,                   \
                                    "array" #n "_" #D "_fill");                                       \
    }                                                                                                 \
    HA_TYPED_ HA_MUST_CHECK ha_status array##n##_##D##_equal(array##n##_##D a, array##n##_##D b,      \
                                                             int *equal) {                            \
        return darray_equal_(array##n##_##D##_to_darray(a), array##n##_##D##_to_darray(b), equal,     \
                             "array" #n "_" #D "_equal");                                             \
    }                                                                                                 \
    HA_TYPED_ HA_MUST_CHECK ha_status array##n##_##D##_get(array##n##_##D x, ha_dim##D index,         \
                                                           T *value) {                                \
        return darray_get_element_(array##n##_##D##_to_darray(x), index.at, value);                   \
    }                                                                                                 \
    HA_TYPED_ HA_MUST_CHECK ha_status array##n##_##D##_set(array##n##_##D x, ha_dim##D index,         \
                                                           T value) {                                 \
        return darray_set_element_(array##n##_##D##_to_darray(x), index.at, &value);                  \
    }                                                                                                 \
    HA_TYPED_ array##n##_##D array##n##_##D##_contiguous(array##n##_##D x, ha_order order,            \
                                                         ha_context *context) {                       \
        return array##n##_##D##_from_darray(                                                          \
            darray_contiguous_(array##n##_##D##_to_darray(x), order, context, HA_NULL_));             \
    }                                                                                                 \
    HA_TYPED_ array##n##_1 array##n##_##D##_flatten(array##n##_##D x) {                               \
        return array##n##_1_from_darray(                                                              \
            darray_flatten_in_(HA_ROW_MAJOR, array##n##_##D##_to_darray(x), HA_NULL_));               \
    }                                                                                                 \
    HA_NDARRAY_LOWER_##D##_(n) struct ha_semicolon_

#define HA_NDARRAY_VIEW_(n, D, verb, parameters, ...)                                              \
    HA_TYPED_ array##n##_##D array##n##_##D##_##verb parameters {                                  \
        return array##n##_##D##_from_darray(                                                       \
            darray_##verb##_(array##n##_##D##_to_darray(x), __VA_ARGS__, HA_NULL_));               \
    }

/* Between a rank and the next lower one. */
#define HA_NDARRAY_BETWEEN_(n, D, L)                                                               \
    HA_TYPED_ array##n##_##L array##n##_##D##_fix(array##n##_##D x, int dimension,                 \
                                                  int64_t index) {                                 \
        return array##n##_##L##_from_darray(                                                       \
            darray_fix_(array##n##_##D##_to_darray(x), dimension, index, HA_NULL_));               \
    }                                                                                              \
    HA_TYPED_ array##n##_##L array##n##_##D##_diagonal(array##n##_##D x, int first, int second,    \
                                                       int64_t shift) {                            \
        return array##n##_##L##_from_darray(                                                       \
            darray_diagonal_(array##n##_##D##_to_darray(x), first, second, shift, HA_NULL_));      \
    }                                                                                              \
    HA_TYPED_ array##n##_##D array##n##_##D##_expand(array##n##_##L x, int dimension) {            \
        return array##n##_##D##_from_darray(                                                       \
            darray_expand_(array##n##_##L##_to_darray(x), dimension, HA_NULL_));                   \
    }
#define HA_NDARRAY_LOWER_1_(n)
#define HA_NDARRAY_LOWER_2_(n) HA_NDARRAY_BETWEEN_(n, 2, 1)
#define HA_NDARRAY_LOWER_3_(n) HA_NDARRAY_BETWEEN_(n, 3, 2)
#define HA_NDARRAY_LOWER_4_(n) HA_NDARRAY_BETWEEN_(n, 4, 3)
#define HA_NDARRAY_LOWER_5_(n) HA_NDARRAY_BETWEEN_(n, 5, 4)
#define HA_NDARRAY_LOWER_6_(n) HA_NDARRAY_BETWEEN_(n, 6, 5)
#define HA_NDARRAY_LOWER_7_(n) HA_NDARRAY_BETWEEN_(n, 7, 6)
#define HA_NDARRAY_LOWER_8_(n) HA_NDARRAY_BETWEEN_(n, 8, 7)

#define HA_THIRD_OF_(a, b, c, ...) c
#define HA_THIRD_(...) HA_THIRD_OF_(__VA_ARGS__, ~)
#define HA_FOURTH_OF_(a, b, c, d, ...) d
#define HA_FOURTH_(...) HA_FOURTH_OF_(__VA_ARGS__, ~)

/* ---- ready-made ------------------------------------------------------------------------------ */

HA_NDARRAY_define_(_half, ha_half, HA_DTYPE_half, 1);
HA_NDARRAY_define_(_half, ha_half, HA_DTYPE_half, 2);
HA_NDARRAY_define_(_half, ha_half, HA_DTYPE_half, 3);
HA_NDARRAY_define_(_half, ha_half, HA_DTYPE_half, 4);
HA_NDARRAY_define_(_float, float, HA_DTYPE_float, 1);
HA_NDARRAY_define_(_float, float, HA_DTYPE_float, 2);
HA_NDARRAY_define_(_float, float, HA_DTYPE_float, 3);
HA_NDARRAY_define_(_float, float, HA_DTYPE_float, 4);
HA_NDARRAY_define_(_double, double, HA_DTYPE_double, 1);
HA_NDARRAY_define_(_double, double, HA_DTYPE_double, 2);
HA_NDARRAY_define_(_double, double, HA_DTYPE_double, 3);
HA_NDARRAY_define_(_double, double, HA_DTYPE_double, 4);
#define HA_PREMADE_half_1_ ~, made
#define HA_PREMADE_half_2_ ~, made
#define HA_PREMADE_half_3_ ~, made
#define HA_PREMADE_half_4_ ~, made
#define HA_PREMADE_float_1_ ~, made
#define HA_PREMADE_float_2_ ~, made
#define HA_PREMADE_float_3_ ~, made
#define HA_PREMADE_float_4_ ~, made
#define HA_PREMADE_double_1_ ~, made
#define HA_PREMADE_double_2_ ~, made
#define HA_PREMADE_double_3_ ~, made
#define HA_PREMADE_double_4_ ~, made

#endif
