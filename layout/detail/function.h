/* What small functions for host and device are made of. What uses nothing else of harray than this
 * file (half.h, bfloat16.h, harray/complex.h) is C11, C++17, CUDA (also for NVRTC, which has no
 * standard headers) and OpenCL C at once: the same text is included by all. */
#ifndef HARRAY_LAYOUT_DETAIL_FUNCTION_H
#define HARRAY_LAYOUT_DETAIL_FUNCTION_H

#include "number.h"

/* ---- the bits of a number ------------------------------------------------------------------ */

#if defined HA_OPENCL_
HA_FN ha_bits32_ ha_float_bits_(float x) { return as_uint(x); }
HA_FN float ha_bits_float_(ha_bits32_ bits) { return as_float(bits); }
#if HA_HAS_DOUBLE_
HA_FN ha_bits64_ ha_double_bits_(double x) { return as_ulong(x); }
#endif
#elif defined __CUDA_ARCH__
HA_FN ha_bits32_ ha_float_bits_(float x) { return __float_as_uint(x); }
HA_FN float ha_bits_float_(ha_bits32_ bits) { return __uint_as_float(bits); }
HA_FN ha_bits64_ ha_double_bits_(double x) { return HA_TO_(ha_bits64_, __double_as_longlong(x)); }
#else
HA_FN ha_bits32_ ha_float_bits_(float x) {
    ha_bits32_ bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
HA_FN float ha_bits_float_(ha_bits32_ bits) {
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}
HA_FN ha_bits64_ ha_double_bits_(double x) {
    ha_bits64_ bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
#endif

/* ---- rounding ------------------------------------------------------------------------------ */

/* s / 2^shift to the nearest integer, of two equally near ones to the even; 1 <= shift <= 63. */
HA_FN ha_bits64_ ha_round_shift_(ha_bits64_ s, ha_bits32_ shift) {
    const ha_bits64_ quotient = s >> shift, rest = s << (64 - shift);
    const ha_bits64_ middle = HA_TO_(ha_bits64_, 1) << 63;
    return quotient + HA_TO_(ha_bits64_, rest > middle || (rest == middle && (quotient & 1) != 0));
}

#if HA_HAS_DOUBLE_
/* The 16 bits of a number with sign, exponent and `digits` bits of significand that is nearest to
 * x. `bias` is double's bias of the exponent less that of the 16 bits. Integers only, so that
 * neither the rounding mode nor flushing of subnormal numbers to zero makes a difference. */
HA_FN ha_bits16_ ha_round_double_(double x, ha_bits32_ digits, ha_bits32_ bias) {
    const ha_bits64_ bits = ha_double_bits_(x), magnitude = bits & ~(HA_TO_(ha_bits64_, 1) << 63);
    const ha_bits32_ sign = HA_TO_(ha_bits32_, bits >> 48) & 0x8000u, drop = 52 - digits;
    const ha_bits32_ exponent = HA_TO_(ha_bits32_, magnitude >> 52);
    const ha_bits32_ infinity = 2047 - 2 * bias; /* of the 16 bits: all ones */
    ha_bits64_ rounded;
    if (magnitude > HA_TO_(ha_bits64_, 0x7ff) << 52) { /* NaN: quiet */
        const ha_bits64_ payload = magnitude >> drop & ((HA_TO_(ha_bits64_, 1) << digits) - 1);
        rounded = (HA_TO_(ha_bits64_, 2 * infinity + 1) << (digits - 1)) | payload;
    } else if (exponent >= infinity + bias) {
        rounded = HA_TO_(ha_bits64_, infinity) << digits;
    } else if (exponent > bias) { /* rounding up may carry into the exponent, up to infinity */
        rounded = ha_round_shift_(magnitude - (HA_TO_(ha_bits64_, bias) << 52), drop);
    } else if (exponent + digits >= bias) { /* subnormal: the leading one is dropped, too */
        const ha_bits64_ one = HA_TO_(ha_bits64_, 1) << 52;
        rounded = ha_round_shift_(one | (magnitude & (one - 1)), drop + 1 + bias - exponent);
    } else {
        rounded = 0; /* less than half the smallest */
    }
    return HA_TO_(ha_bits16_, sign | HA_TO_(ha_bits32_, rounded));
}
#endif

#endif
