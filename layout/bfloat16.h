/* bfloat16 as storage: the upper 16 bits of a float, with its range and 8 binary digits. Arithmetic is
 * done in float.
 *
 * The conversions are as half.h says: rounded once, to nearest even, whatever the state of the
 * processor; a NaN stays one, with sign and upper payload, and becomes quiet. (Instructions of x86 for
 * bfloat16 take subnormal numbers for zero; these here do not.) */
#ifndef HARRAY_LAYOUT_BFLOAT16_H
#define HARRAY_LAYOUT_BFLOAT16_H

#include "detail/function.h"

HA_FN ha_bfloat16 ha_bfloat16_of_bits(ha_bits16_ bits) {
    ha_bfloat16 b;
    b.bits = bits;
    return b;
}

/* ---- conversions --------------------------------------------------------------------------- */

HA_FN ha_bfloat16 ha_bfloat16_of_float(float x) {
    const ha_bits32_ bits = ha_float_bits_(x), odd = bits >> 16 & 1;
    const ha_bits32_ nan = (bits & 0x7fffffffu) > 0x7f800000u;
    const ha_bits32_ b = nan ? bits >> 16 | 0x40u : (bits + 0x7fffu + odd) >> 16;
    return ha_bfloat16_of_bits(HA_TO_(ha_bits16_, b));
}

HA_FN float ha_bfloat16_to_float(ha_bfloat16 b) {
    const ha_bits32_ quiet = (b.bits & 0x7fffu) > 0x7f80u ? 0x40u : 0;
    return ha_bits_float_((b.bits | quiet) << 16);
}

#if HA_HAS_DOUBLE_
HA_FN ha_bfloat16 ha_bfloat16_of_double(double x) {
    return ha_bfloat16_of_bits(ha_round_double_(x, 7, 896));
}

HA_FN double ha_bfloat16_to_double(ha_bfloat16 b) {
    const int digits = b.bits & 0x7f;
    if ((b.bits & 0x7f80u) != 0) return HA_TO_(double, ha_bfloat16_to_float(b));
    return (b.bits & 0x8000u ? -0x1p-133 : 0x1p-133) * digits; /* float may flush it to zero */
}
#endif

/* ---- asking -------------------------------------------------------------------------------- */

HA_FN int ha_bfloat16_isnan(ha_bfloat16 b) { return (b.bits & 0x7fffu) > 0x7f80u; }
HA_FN int ha_bfloat16_isinf(ha_bfloat16 b) { return (b.bits & 0x7fffu) == 0x7f80u; }
HA_FN int ha_bfloat16_isfinite(ha_bfloat16 b) { return (b.bits & 0x7fffu) < 0x7f80u; }

/* As float compares: -0 equals +0, and nothing is true of a NaN. */
HA_FN int ha_bfloat16_equal(ha_bfloat16 a, ha_bfloat16 b) {
    return ha_bfloat16_to_float(a) == ha_bfloat16_to_float(b);
}
HA_FN int ha_bfloat16_less(ha_bfloat16 a, ha_bfloat16 b) {
    return ha_bfloat16_to_float(a) < ha_bfloat16_to_float(b);
}
HA_FN int ha_bfloat16_less_equal(ha_bfloat16 a, ha_bfloat16 b) {
    return ha_bfloat16_to_float(a) <= ha_bfloat16_to_float(b);
}

#endif
