/* Complex numbers: the layout of C's float _Complex and double _Complex (C11 6.2.5 p13: two
 * consecutive reals), in a form that C, C++ and device compilers all accept, and arithmetic on them that
 * is the same text for all.
 *
 * Products are by the textbook formula: without C's Annex G, where an infinity times a NaN may still be
 * infinite. Kernels on the host do not contract a * b + c here; elsewhere compilers may.
 * Quotients are in detail/complex_div.h. The absolute value is hypot, which C programs link with -lm. */
#ifndef HARRAY_COMPLEX_H
#define HARRAY_COMPLEX_H

#include "../layout/detail/function.h"

#if defined HA_OPENCL_
#define HA_HYPOT_FLOAT_(x, y) hypot(x, y)
#define HA_HYPOT_DOUBLE_(x, y) hypot(x, y)
#elif defined __CUDACC__
#define HA_HYPOT_FLOAT_(x, y) hypotf(x, y)
#define HA_HYPOT_DOUBLE_(x, y) hypot(x, y)
#else
#define HA_HYPOT_FLOAT_(x, y) __builtin_hypotf(x, y)
#define HA_HYPOT_DOUBLE_(x, y) __builtin_hypot(x, y)
#endif

/* A product that is not contracted with a sum. gcc 12 makes one vector instruction of a * b - c * d and a * d + b * c
 * even where it is told -ffp-contract=off. nvcc knows no word for it. */
#if defined __GNUC__ && __GNUC__ >= 12 && !defined __clang__ && !defined __CUDACC__
#define HA_ROUNDED_(product) __builtin_assoc_barrier(product)
#else
#define HA_ROUNDED_(product) (product)
#endif

HA_CONTRACTION_0_

/* ---- float ----------------------------------------------------------------------------------- */

HA_FN ha_c64 ha_c64_make(float re, float im) {
    ha_c64 z;
    z.re = re;
    z.im = im;
    return z;
}

HA_FN ha_c64 ha_c64_add(ha_c64 x, ha_c64 y) { return ha_c64_make(x.re + y.re, x.im + y.im); }
HA_FN ha_c64 ha_c64_sub(ha_c64 x, ha_c64 y) { return ha_c64_make(x.re - y.re, x.im - y.im); }
HA_FN ha_c64 ha_c64_mul(ha_c64 x, ha_c64 y) {
    return ha_c64_make(HA_ROUNDED_(x.re * y.re) - HA_ROUNDED_(x.im * y.im),
                       HA_ROUNDED_(x.re * y.im) + HA_ROUNDED_(x.im * y.re));
}
HA_FN ha_c64 ha_c64_scale(ha_c64 x, float factor) {
    return ha_c64_make(x.re * factor, x.im * factor);
}
HA_FN ha_c64 ha_c64_negate(ha_c64 x) { return ha_c64_make(-x.re, -x.im); }
HA_FN ha_c64 ha_c64_conj(ha_c64 x) { return ha_c64_make(x.re, -x.im); }

/* |x|, which neither overflows nor underflows on the way; and its square, which may. */
HA_FN float ha_c64_abs(ha_c64 x) { return HA_HYPOT_FLOAT_(x.re, x.im); }
HA_FN float ha_c64_abs2(ha_c64 x) { return x.re * x.re + x.im * x.im; }

/* As the parts compare: -0 equals +0, and a NaN nothing. */
HA_FN int ha_c64_equal(ha_c64 x, ha_c64 y) { return x.re == y.re && x.im == y.im; }

#if HA_HAS_DOUBLE_
/* ---- double ----------------------------------------------------------------------------------- */

HA_FN ha_c128 ha_c128_make(double re, double im) {
    ha_c128 z;
    z.re = re;
    z.im = im;
    return z;
}

HA_FN ha_c128 ha_c128_add(ha_c128 x, ha_c128 y) { return ha_c128_make(x.re + y.re, x.im + y.im); }
HA_FN ha_c128 ha_c128_sub(ha_c128 x, ha_c128 y) { return ha_c128_make(x.re - y.re, x.im - y.im); }
HA_FN ha_c128 ha_c128_mul(ha_c128 x, ha_c128 y) {
    return ha_c128_make(HA_ROUNDED_(x.re * y.re) - HA_ROUNDED_(x.im * y.im),
                        HA_ROUNDED_(x.re * y.im) + HA_ROUNDED_(x.im * y.re));
}
HA_FN ha_c128 ha_c128_scale(ha_c128 x, double factor) {
    return ha_c128_make(x.re * factor, x.im * factor);
}
HA_FN ha_c128 ha_c128_negate(ha_c128 x) { return ha_c128_make(-x.re, -x.im); }
HA_FN ha_c128 ha_c128_conj(ha_c128 x) { return ha_c128_make(x.re, -x.im); }

/* |x|, which neither overflows nor underflows on the way; and its square, which may. */
HA_FN double ha_c128_abs(ha_c128 x) { return HA_HYPOT_DOUBLE_(x.re, x.im); }
HA_FN double ha_c128_abs2(ha_c128 x) { return x.re * x.re + x.im * x.im; }

/* As the parts compare: -0 equals +0, and a NaN nothing. */
HA_FN int ha_c128_equal(ha_c128 x, ha_c128 y) { return x.re == y.re && x.im == y.im; }
#endif

HA_CONTRACTION_END_

#include "detail/complex_div.h"

#endif
