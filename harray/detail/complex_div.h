/* Quotients of complex numbers: right to a few last places of the greater part wherever the parts can
 * be represented, which the textbook formula is not: c*c + d*d overflows from 10^154 on.
 *
 * The algorithm is that of M. Baudin and R. L. Smith, "A robust complex division in Scilab"
 * (arXiv:1210.4539, 2012): R. L. Smith's of 1962, with the operands scaled first when they are near
 * the limits, and with another order of operations where d/c, or a product with it, is too small to
 * be represented.
 * A quotient by zero is that by its real part: x/0 is (re/0, im/0). */
#ifndef HARRAY_DETAIL_COMPLEX_DIV_H
#define HARRAY_DETAIL_COMPLEX_DIV_H

#include "../complex.h"

HA_CONTRACTION_0_

/* ---- float ----------------------------------------------------------------------------------- */

/* (a + b r) t, where r is d/c and t is 1/(c + d r). */
HA_FN float ha_c64_div_part_(float a, float b, ha_c64 y, float r, float t) {
    const float br = b * r;
    if (r == 0) return (a + y.im * (b / y.re)) * t;
    return br == 0 ? a * t + b * t * r : (a + br) * t;
}

/* For a y whose real part is not the smaller one. */
HA_FN ha_c64 ha_c64_div_smith_(ha_c64 x, ha_c64 y) {
    const float r = y.im / y.re, t = 1 / (y.re + y.im * r);
    return ha_c64_make(ha_c64_div_part_(x.re, x.im, y, r, t),
                       ha_c64_div_part_(x.im, -x.re, y, r, t));
}

/* The greater of the absolute values of the parts. */
HA_FN float ha_c64_greater_(ha_c64 x) {
    const float re = x.re < 0 ? -x.re : x.re, im = x.im < 0 ? -x.im : x.im;
    return re < im ? im : re;
}

/* By what to multiply a number whose greater part is `size`: not too large, nor too small. */
HA_FN float ha_c64_fit_(float size) {
    return size >= 0x1p127f ? 0.5f : size <= 0x1p-102f ? 0x1p47f : 1;
}

HA_FN ha_c64 ha_c64_div(ha_c64 x, ha_c64 y) {
    const float size = ha_c64_greater_(y);
    const float fit_x = ha_c64_fit_(ha_c64_greater_(x)), fit_y = ha_c64_fit_(size);
    ha_c64 z;
    if (size == 0) return ha_c64_make(x.re / y.re, x.im / y.re);
    x = ha_c64_scale(x, fit_x);
    y = ha_c64_scale(y, fit_y);
    if ((y.re < 0 ? -y.re : y.re) >= (y.im < 0 ? -y.im : y.im)) {
        z = ha_c64_div_smith_(x, y);
    } else { /* both times -i, and the parts are exchanged */
        z = ha_c64_div_smith_(ha_c64_make(x.im, -x.re), ha_c64_make(y.im, -y.re));
    }
    return ha_c64_scale(z, fit_y / fit_x);
}

#if HA_HAS_DOUBLE_
/* ---- double ----------------------------------------------------------------------------------- */

/* (a + b r) t, where r is d/c and t is 1/(c + d r). */
HA_FN double ha_c128_div_part_(double a, double b, ha_c128 y, double r, double t) {
    const double br = b * r;
    if (r == 0) return (a + y.im * (b / y.re)) * t;
    return br == 0 ? a * t + b * t * r : (a + br) * t;
}

/* For a y whose real part is not the smaller one. */
HA_FN ha_c128 ha_c128_div_smith_(ha_c128 x, ha_c128 y) {
    const double r = y.im / y.re, t = 1 / (y.re + y.im * r);
    return ha_c128_make(ha_c128_div_part_(x.re, x.im, y, r, t),
                        ha_c128_div_part_(x.im, -x.re, y, r, t));
}

/* The greater of the absolute values of the parts. */
HA_FN double ha_c128_greater_(ha_c128 x) {
    const double re = x.re < 0 ? -x.re : x.re, im = x.im < 0 ? -x.im : x.im;
    return re < im ? im : re;
}

/* By what to multiply a number whose greater part is `size`: not too large, nor too small. */
HA_FN double ha_c128_fit_(double size) {
    return size >= 0x1p1023 ? 0.5 : size <= 0x1p-969 ? 0x1p105 : 1;
}

HA_FN ha_c128 ha_c128_div(ha_c128 x, ha_c128 y) {
    const double size = ha_c128_greater_(y);
    const double fit_x = ha_c128_fit_(ha_c128_greater_(x)), fit_y = ha_c128_fit_(size);
    ha_c128 z;
    if (size == 0) return ha_c128_make(x.re / y.re, x.im / y.re);
    x = ha_c128_scale(x, fit_x);
    y = ha_c128_scale(y, fit_y);
    if ((y.re < 0 ? -y.re : y.re) >= (y.im < 0 ? -y.im : y.im)) {
        z = ha_c128_div_smith_(x, y);
    } else { /* both times -i, and the parts are exchanged */
        z = ha_c128_div_smith_(ha_c128_make(x.im, -x.re), ha_c128_make(y.im, -y.re));
    }
    return ha_c128_scale(z, fit_y / fit_x);
}
#endif

HA_CONTRACTION_END_

#endif
