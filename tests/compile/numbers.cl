/* numbers.h as OpenCL C 1.2; its functions are called, and conversions are given back bit by bit. */
#include "harray/half.h"
#include "harray/bfloat16.h"
#include "harray/complex.h"
#include "tests/compile/numbers.h"

__kernel void use_numbers(__global int *failed) {
    *failed = use_half() + use_bfloat16() + use_complex();
}

/* The bits of floats to 16 bits, and the lower 16 of these to float: two results of each. */
__kernel void convert(__global const uint *bits, __global uint *half_and_bfloat16,
                      __global uint *floats) {
    const size_t i = get_global_id(0);
    const uint low = bits[i] & 0xffff;
    const uint bfloat16 = ha_bfloat16_of_float(as_float(bits[i])).bits;
    half_and_bfloat16[i] = ha_half_of_float(as_float(bits[i])).bits | bfloat16 << 16;
    floats[2 * i] = as_uint(ha_half_to_float(ha_half_of_bits((ushort)low)));
    floats[2 * i + 1] = as_uint(ha_bfloat16_to_float(ha_bfloat16_of_bits((ushort)low)));
}
