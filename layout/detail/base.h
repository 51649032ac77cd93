/* What the layouts ask of the compiler: small functions for host and device, and the words that make
 * loops vectorise. */
#ifndef HARRAY_LAYOUT_DETAIL_BASE_H
#define HARRAY_LAYOUT_DETAIL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../status.h"
#include "assert.h"
#include "number.h"

/* How indices become places: the last index fastest (C), the first one (Fortran), or the bits of all
 * of them interleaved. */
typedef enum ha_linear_order { HA_ROW = 0, HA_COL = 1, HA_MORTON = 2 } ha_linear_order;

/* Like HA_FN, for the host alone, and not necessarily inlined. */
#define HA_HOST_FN_ static inline __attribute__((__unused__))

/* Like HA_HOST_FN_, and in CUDA a device function as well: how views are made. */
#if defined __CUDACC__
#define HA_ONCE_FN_ HA_FN
#else
#define HA_ONCE_FN_ HA_HOST_FN_
#endif

/* A pointer to an object as one to its first byte; one to ask for types; offsets and sizes as signed
 * numbers. */
#ifdef __cplusplus
#define HA_BYTES_(p) (reinterpret_cast<char *>(p))
#define HA_NO_POINTER_(T) (static_cast<T *>(nullptr))
#else
#define HA_BYTES_(p) ((char *)(p))
#define HA_NO_POINTER_(T) ((T *)0)
#endif
#define HA_OFFSET_(S, member) HA_TO_(ptrdiff_t, offsetof(S, member))
#define HA_SIZE_(T) HA_TO_(ptrdiff_t, sizeof(T))

#ifdef __cplusplus
#define HA_ALIGNOF_(T) alignof(T)
#else
#define HA_ALIGNOF_(T) _Alignof(T)
#endif

/* How long an array is at least that a function is given: compilers of C warn of a shorter one. */
#ifdef __cplusplus
#define HA_AT_LEAST_(elements)
#else
#define HA_AT_LEAST_(elements) static elements
#endif

/* The type of an expression, no reference. */
#define HA_TYPEOF_(expression) __typeof__(expression)

/* Does the compiler know this number, after what is inlined? (nvcc is asked too early.) */
#if defined __CUDACC__
#define HA_KNOWN_(number) 1
#else
#define HA_KNOWN_(number) __builtin_constant_p(number)
#endif

/* HARRAY_NO_BARE_VIEWS: a loop over a view whose layout is known at run time only, outside of HA_WITH, is an
 * error, where the compiler optimises and so knows. */
#if defined HARRAY_NO_BARE_VIEWS && defined __OPTIMIZE__ && !defined __CUDACC__
extern void ha_bare_view_(void) __attribute__((
    __error__("HA_EACH of a view HA_ANY whose layout is not known here: call what has the "
              "loop in HA_WITH(v, ...), or give the view a layout")));
#define HA_NO_BARE_VIEW_(V, v)                                                                     \
    (HA_TO_(int, V##_kind_) >= 0 || HA_KNOWN_((v).as) ? (void)0 : ha_bare_view_())
#else
#define HA_NO_BARE_VIEW_(V, v) ((void)0)
#endif

/* For functions that are rarely called, but from many places. */
#if defined __CUDACC__
#define HA_APART_ static __noinline__ __host__ __device__ __attribute__((__unused__))
#else
#define HA_APART_ static __attribute__((__noinline__, __unused__))
#endif

/* HA_INDEPENDENT_ in front of a loop: no iteration needs what another one writes. (And gcc would take
 * one of few lanes apart, lane by lane, before it could vectorise it.) HA_UNROLLED_: a loop of up to
 * three phases, to be unrolled in full before anything else is done with it. */
#if defined __CUDACC__
#define HA_INDEPENDENT_
#define HA_UNROLLED_
#elif defined __clang__
/* A loop that is not vectorised for one of its phases is no news for the user. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define HA_INDEPENDENT_ _Pragma("clang loop vectorize(assume_safety) interleave(enable)")
#define HA_UNROLLED_ _Pragma("clang loop unroll(full)")
#define HA_LATE_(constant, variable) (__builtin_constant_p(variable) ? (variable) : (constant))
#else
#define HA_INDEPENDENT_ _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#define HA_UNROLLED_ _Pragma("GCC unroll 3")
#endif
#ifndef HA_LATE_
#define HA_LATE_(constant, variable) (constant)
#endif

#endif
