/* Half precision as storage: the 16 bits of an IEEE 754 binary16. Arithmetic is done in float.
 *
 * The conversions are right for every value: rounded once, to the nearest, of two equally near ones
 * to the even (from double too, never by way of float), infinities, subnormal numbers and signs of
 * zeros included, whatever the rounding mode and flushing to zero of the processor. A NaN keeps its
 * sign and the upper bits of its payload and becomes quiet, as by the instructions of x86 (F16C)
 * and Arm. (CUDA's own conversion makes 0x7fff of every NaN; these here give the same bits on all
 * devices.)
 *
 * For whole arrays there is harray/convert.h. */
#ifndef HARRAY_LAYOUT_HALF_H
#define HARRAY_LAYOUT_HALF_H

#include "detail/function.h"

HA_FN ha_half ha_half_of_bits(ha_bits16_ bits) {
    ha_half h;
    h.bits = bits;
    return h;
}

/* ---- conversions --------------------------------------------------------------------------- */

HA_FN ha_half ha_half_of_float(float x) {
    const ha_bits32_ bits = ha_float_bits_(x), magnitude = bits & 0x7fffffffu;
    const ha_bits32_ exponent = magnitude >> 23; /* half's is less by 112 */
    ha_bits32_ h;
    if (magnitude > 0x7f800000u) {
        h = 0x7e00u | (magnitude >> 13 & 0x3ffu);
    } else if (exponent >= 143) {
        h = 0x7c00u;
    } else if (exponent > 112) { /* rounding up may carry into the exponent, up to infinity */
        h = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1)) >> 13;
    } else if (exponent >= 102) { /* subnormal: in units of 2^-24 */
        h = HA_TO_(ha_bits32_,
                   ha_round_shift_(0x800000u | (magnitude & 0x7fffffu), 126 - exponent));
    } else {
        h = 0;
    }
    return ha_half_of_bits(HA_TO_(ha_bits16_, (bits >> 16 & 0x8000u) | h));
}

HA_FN float ha_half_to_float(ha_half h) {
    const ha_bits32_ magnitude = h.bits & 0x7fffu, sign = (h.bits & 0x8000u) << 16;
    ha_bits32_ bits;
    if (magnitude >= 0x7c00u)
        bits = 0x7f800000u | magnitude << 13 | (magnitude > 0x7c00u ? 0x400000u : 0);
    else if (magnitude >= 0x400u)
        bits = (magnitude << 13) + (112u << 23);
    else /* subnormal or zero; a normal number as float, and exact */
        bits = ha_float_bits_(HA_TO_(float, magnitude) * 0x1p-24f);
    return ha_bits_float_(sign | bits);
}

#if HA_HAS_DOUBLE_
HA_FN ha_half ha_half_of_double(double x) { return ha_half_of_bits(ha_round_double_(x, 10, 1008)); }

HA_FN double ha_half_to_double(ha_half h) { return HA_TO_(double, ha_half_to_float(h)); }
#endif

/* ---- asking -------------------------------------------------------------------------------- */

HA_FN int ha_half_isnan(ha_half h) { return (h.bits & 0x7fffu) > 0x7c00u; }
HA_FN int ha_half_isinf(ha_half h) { return (h.bits & 0x7fffu) == 0x7c00u; }
HA_FN int ha_half_isfinite(ha_half h) { return (h.bits & 0x7fffu) < 0x7c00u; }

/* As float compares: -0 equals +0, and nothing is true of a NaN. */
HA_FN int ha_half_equal(ha_half a, ha_half b) { return ha_half_to_float(a) == ha_half_to_float(b); }
HA_FN int ha_half_less(ha_half a, ha_half b) { return ha_half_to_float(a) < ha_half_to_float(b); }
HA_FN int ha_half_less_equal(ha_half a, ha_half b) {
    return ha_half_to_float(a) <= ha_half_to_float(b);
}

#endif
