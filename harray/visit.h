/* Code for arrays whose type and rank are known at run time only.
 *
 *     DARRAY_VISIT(d, a, DARRAY_STANDARD, {
 *         HA_WRITING(v, a, ha_host()) for (size_t i = 0; i < v.size; i++) v.data[i] = (a_type){0};
 *     })
 *     else { … d is none of these, or no array … }
 *
 * The body is compiled once for each type and rank in the list, and runs in the one that d has: `a`
 * is d as array_T_D, and a_type is the type of its elements, ha_half for half. (Names follow `a`: of
 * b it is b_type.) It may have commas, as any macro's; what is wrong in it the compiler tells for
 * the whole line, and each type. An else may stand behind it.
 *
 * As in the scopes of harray/access.h, `break` and `continue` leave the body (not a loop around it),
 * `return` and `goto` what they always leave. d is evaluated once. A visit inside a visit needs
 * another name than a; its body is compiled for each pair.
 *
 * A list takes a macro X and whatever follows it, and hands that on to each of its entries: a type
 * of HA_DTYPES and a rank, for which there is HA_ARRAY(type, rank). One more line makes it longer:
 *
 *     #define MINE(X, ...) DARRAY_STANDARD(X, __VA_ARGS__) X(int32_t, 2, __VA_ARGS__) */
#ifndef HARRAY_VISIT_H
#define HARRAY_VISIT_H

#include "ndarray.h"

/* The arrays that are ready-made. */
#define DARRAY_STANDARD(X, ...)                                                                    \
    X(half, 1, __VA_ARGS__)                                                                        \
    X(half, 2, __VA_ARGS__)                                                                        \
    X(half, 3, __VA_ARGS__)                                                                        \
    X(half, 4, __VA_ARGS__)                                                                        \
    X(float, 1, __VA_ARGS__)                                                                       \
    X(float, 2, __VA_ARGS__)                                                                       \
    X(float, 3, __VA_ARGS__)                                                                       \
    X(float, 4, __VA_ARGS__)                                                                       \
    X(double, 1, __VA_ARGS__)                                                                      \
    X(double, 2, __VA_ARGS__)                                                                      \
    X(double, 3, __VA_ARGS__)                                                                      \
    X(double, 4, __VA_ARGS__)

#define DARRAY_VISIT(d, a, LIST, ...)                                                              \
    for (darray a##_visited_ = (d), *a##_once_ = &a##_visited_; a##_once_; a##_once_ = HA_NULL_)   \
        if (0) {}                                                                                  \
    LIST(HA_VISIT_, a, __VA_ARGS__)

#define HA_VISIT_(T, D, a, ...)                                                                    \
    else if (ha_is_visited_(&a##_visited_, HA_DTYPE_##T, D)) {                                     \
        typedef __typeof__(*HA_CAST_(span_##T##_##D *, a##_once_)->data) a##_type HA_UNUSED;       \
        array_##T##_##D a HA_UNUSED = array_##T##_##D##_from_darray(a##_visited_);                 \
        __VA_ARGS__                                                                                \
    }

static inline HA_UNUSED int ha_is_visited_(const darray *x, ha_dtype type, int rank) {
    return x->array && x->type == type && x->rank == rank;
}

#endif
