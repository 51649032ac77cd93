/* Conversions of whole arrays: which of the instructions for it this processor has. */
#ifndef HARRAY_LAYOUT_IMPL_CONVERT_DISPATCH_H
#define HARRAY_LAYOUT_IMPL_CONVERT_DISPATCH_H

#include <stdatomic.h>

#include "avx512.h"

#if defined __x86_64__ && !defined HARRAY_NO_SIMD
#include <cpuid.h>

/* Clang before 19 does not know "f16c". An AVX that the system lets programs use covers it. */
HA_IN_ int ha_has_f16c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0;
}

HA_IN_ int ha_has_avx2(void) { return __builtin_cpu_supports("avx2") && ha_has_f16c(); }
HA_IN_ int ha_has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && ha_has_avx2();
}

HA_IN_ const ha_conversions *ha_find_conversions(void) {
    __builtin_cpu_init(); /* a constructor may convert before libgcc's own has run */
    return ha_has_avx512() ? &ha_conversions_avx512
           : ha_has_avx2() ? &ha_conversions_avx2
                           : &ha_conversions_portable;
}

#elif defined __aarch64__ && !defined HARRAY_NO_SIMD
HA_IN_ const ha_conversions *ha_find_conversions(void) { return &ha_conversions_neon; }
#else
HA_IN_ const ha_conversions *ha_find_conversions(void) { return &ha_conversions_portable; }
#endif

/* Found once, as asking the processor takes microseconds in a virtual machine. Every thread finds the
 * same. */
HA_IN_ const ha_conversions *ha_best_conversions(void) {
    static _Atomic(const ha_conversions *) ha_best;
    const ha_conversions *best = atomic_load_explicit(&ha_best, memory_order_relaxed);
    if (!best) {
        best = ha_find_conversions();
        atomic_store_explicit(&ha_best, best, memory_order_relaxed);
    }
    return best;
}

#endif
