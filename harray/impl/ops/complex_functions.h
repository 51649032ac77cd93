/* Functions of complex numbers, made of those of real ones, so that hosts and devices compile the same text. Branch cuts are those of
 * C (C11, 7.3), and results are right to some last places of their greater part; where parts are infinite they may be NaN where
 * C's are not. */
#ifndef HARRAY_IMPL_OPS_COMPLEX_FUNCTIONS_H
#define HARRAY_IMPL_OPS_COMPLEX_FUNCTIONS_H

#include "../kernels/all.h"
#include "types.h"

#include <math.h>

/* T is a complex type, R that of its parts, f what its functions' names end with; great and small are powers of 4 between which
 * the sum of a part and the absolute value neither overflows nor loses bits.
 *
 * sqrt   of the greater of two equivalent forms (W. Kahan, Branch cuts for complex elementary functions, 1987), scaled
 * exp    where e to the real part overflows, its root twice: the product with a sine may be smaller
 * log    near 1 by log1p of what is left of the square of the absolute value
 * tanh   Kahan's, where the hyperbolic sine is not beyond what its square may be; the other ones are those of i z */
#define HA_COMPLEX_FUNCTIONS_(tag, T, R, f, great, small)                                          \
    HA_DEVICE_CODE(                                                                                \
        tag,                                                                                       \
        HA_FN T T##_sqrt_(T z) {                                                                   \
            R a = fabs##f(z.re), b = fabs##f(z.im), scale = 1;                                     \
            if (a == 0 && b == 0) return T##_make(0, z.im);                                        \
            if (b - b != 0 && b == b) return T##_make(b, z.im);                                    \
            if (a > great || b > great) {                                                          \
                a /= 4, b /= 4, scale = 2;                                                         \
            } else if (a < small && b < small) {                                                   \
                a /= small * small, b /= small * small, scale = small;                             \
            }                                                                                      \
            const R t = sqrt##f((a + hypot##f(a, b)) / 2), other = b / (2 * t);                    \
            return z.re < 0 ? T##_make(other * scale, copysign##f(t * scale, z.im))                \
                            : T##_make(t * scale, copysign##f(other * scale, z.im));               \
        } HA_FN T T##_exp_(T z) {                                                                  \
            const R e = exp##f(z.re);                                                              \
            if (z.im == 0) return T##_make(e, z.im);                                               \
            if (e - e == 0) return T##_make(e * cos##f(z.im), e * sin##f(z.im));                   \
            const R root = exp##f(z.re / 2);                                                       \
            return T##_make(root * cos##f(z.im) * root, root * sin##f(z.im) * root);               \
        } HA_FN T T##_log_(T z) {                                                                  \
            R a = fabs##f(z.re), b = fabs##f(z.im);                                                \
            const R angle = atan2##f(z.im, z.re);                                                  \
            if (a != a || b != b) return T##_make(a > great ? a : b > great ? b : a + b, angle);   \
            if (a < b) {                                                                           \
                const R greater = b;                                                               \
                b = a, a = greater;                                                                \
            }                                                                                      \
            if (2 * a > 1 && a < 2)                                                                \
                return T##_make(log1p##f((a - 1) * (a + 1) + b * b) / 2, angle);                   \
            const R q = a == 0 || b - b != 0 ? 0 : b / a;                                          \
            return T##_make(log##f(a) + log1p##f(q * q) / 2, angle);                               \
        } HA_FN T T##_sin_(T z) {                                                                  \
            return T##_make(z.re == 0 ? z.re : sin##f(z.re) * cosh##f(z.im),                       \
                            cos##f(z.re) * sinh##f(z.im));                                         \
        } HA_FN T T##_cos_(T z) {                                                                  \
            return T##_make(cos##f(z.re) * cosh##f(z.im),                                          \
                            -sin##f(z.re) * (z.re == 0 ? z.im : sinh##f(z.im)));                   \
        } HA_FN T T##_tanh_(T z) {                                                                 \
            if (fabs##f(z.re) > 20)                                                                \
                return T##_make(copysign##f(1, z.re),                                              \
                                4 * sin##f(z.im) * cos##f(z.im) * exp##f(-2 * fabs##f(z.re)));     \
            const R t = tan##f(z.im), s = sinh##f(z.re), u = 1 + t * t, v = 1 + u * s * s;         \
            return T##_make(u * sqrt##f(1 + s * s) * s / v, t / v);                                \
        } HA_FN T T##_times_i_(T z) { return T##_make(-z.im, z.re); } HA_FN T T##_by_i_(T z) {     \
            return T##_make(z.im, -z.re);                                                          \
        } HA_FN T T##_tan_(T z) {                                                                  \
            return T##_by_i_(T##_tanh_(T##_times_i_(z)));                                          \
        } HA_FN T T##_sinh_(T z) { return T##_by_i_(T##_sin_(T##_times_i_(z))); } HA_FN T          \
            T##_cosh_(T z) { return T##_cos_(T##_times_i_(z)); } HA_FN T T##_pow_(T x, T y) {      \
                if (y.re == 0 && y.im == 0) return T##_make(1, 0);                                 \
                if (x.re == 0 && x.im == 0 && y.re > 0) return T##_make(0, 0);                     \
                return T##_exp_(T##_mul(y, T##_log_(x)));                                          \
            })
HA_IF_ha_c64_(HA_COMPLEX_FUNCTIONS_(ha_functions_of_ha_c64, ha_c64, float, f, 0x1p124f, 0x1p-60f);)
    HA_IF_ha_c128_(HA_COMPLEX_FUNCTIONS_(ha_functions_of_ha_c128, ha_c128, double, , 0x1p1020,
                                         0x1p-500);)

#endif
