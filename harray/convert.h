/* Whole arrays of half and bfloat16 to float and double, and back: the same bits as the functions of
 * half.h and bfloat16.h give for every value, as fast as memory allows on processors that have
 * instructions for it (x86-64 with AVX2 and F16C or AVX-512, aarch64), which is found out at run time.
 *
 * On the host. `from` is n numbers, `to` has room for n; both may have any alignment, but may not
 * overlap. With n = 0 neither is touched, and both may be NULL. They cannot fail. Like any
 * conversion they may raise floating-point exceptions (inexact, overflow, underflow, invalid). What
 * is large (32 MiB with `from`) is written past the caches, as by memcpy. */
#ifndef HARRAY_CONVERT_H
#define HARRAY_CONVERT_H

#include "status.h"
#include "half.h"
#include "bfloat16.h"

HA_API void ha_convert_half_to_float(float *to, const ha_half *from, size_t n);
HA_API void ha_convert_half_to_double(double *to, const ha_half *from, size_t n);
HA_API void ha_convert_float_to_half(ha_half *to, const float *from, size_t n);
HA_API void ha_convert_double_to_half(ha_half *to, const double *from, size_t n);

HA_API void ha_convert_bfloat16_to_float(float *to, const ha_bfloat16 *from, size_t n);
HA_API void ha_convert_bfloat16_to_double(double *to, const ha_bfloat16 *from, size_t n);
HA_API void ha_convert_float_to_bfloat16(ha_bfloat16 *to, const float *from, size_t n);
HA_API void ha_convert_double_to_bfloat16(ha_bfloat16 *to, const double *from, size_t n);

#endif
