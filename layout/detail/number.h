/* HA_FN, for small functions of host and device, always inlined (but at -O0), as what a layout costs is
 * folded away only where its constants meet, and the numbers that C lacks, as storage: half and
 * bfloat16 by their bits, complex numbers by their parts. Arithmetic on them is in harray/half.h,
 * harray/bfloat16.h and harray/complex.h. C11, C++17, CUDA (also for NVRTC, which has no standard
 * headers) and OpenCL C at once: the same text is included by all. */
#ifndef HARRAY_LAYOUT_DETAIL_NUMBER_H
#define HARRAY_LAYOUT_DETAIL_NUMBER_H

#if defined __OPENCL_C_VERSION__ || defined __OPENCL_VERSION__
#define HA_OPENCL_ 1
#endif

#if defined HA_OPENCL_
typedef ushort ha_bits16_;
typedef uint ha_bits32_;
typedef ulong ha_bits64_;
#elif defined __CUDACC_RTC__
typedef unsigned short ha_bits16_;
typedef unsigned int ha_bits32_;
typedef unsigned long long ha_bits64_;
#else
#include <stdint.h>
typedef uint16_t ha_bits16_;
typedef uint32_t ha_bits32_;
typedef uint64_t ha_bits64_;
#endif

#if defined __has_feature /* clang's way; gcc has macros for these */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define HA_CHECKED_BUILD_ 1
#endif
#elif defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define HA_CHECKED_BUILD_ 1
#endif

#ifndef HA_FN
#if defined HA_OPENCL_
#define HA_FN static inline
#elif defined __CUDACC__
#define HA_FN static __forceinline__ __host__ __device__ __attribute__((__unused__))
#elif defined __OPTIMIZE__ && !defined HA_CHECKED_BUILD_ /* whose checks are not to be multiplied */
#define HA_FN static inline __attribute__((__always_inline__, __unused__))
#elif defined __OPTIMIZE__ &&                                                                      \
    !defined __clang__ /* as the loops of kernels, in which it need not be inlined */
#define HA_FN static inline __attribute__((__unused__, __optimize__("fp-contract=off")))
#else
#define HA_FN static inline __attribute__((__unused__))
#endif
#endif

/* Between HA_CONTRACTION_0_ and HA_CONTRACTION_END_, at file scope, clang does not contract a * b + c to one
 * operation; between HA_CONTRACTION_1_ and HA_CONTRACTION_END_ it does, also what stands in several statements. */
#if defined __clang__ && !defined HA_OPENCL_ && !defined __CUDACC_RTC__
#define HA_CONTRACTION_0_ _Pragma("float_control(push)") _Pragma("clang fp contract(off)")
#define HA_CONTRACTION_1_ _Pragma("float_control(push)") _Pragma("clang fp contract(fast)")
#define HA_CONTRACTION_END_ _Pragma("float_control(pop)")
#else
#define HA_CONTRACTION_0_
#define HA_CONTRACTION_1_
#define HA_CONTRACTION_END_
#endif

#ifdef __cplusplus /* quiet under -Wold-style-cast */
#define HA_TO_(T, value) (static_cast<T>(value))
#else
#define HA_TO_(T, value) ((T)(value))
#endif

/* An OpenCL device need not have double; functions of it are left out there. */
#if !defined HA_OPENCL_ || defined cl_khr_fp64 || defined __opencl_c_fp64
#define HA_HAS_DOUBLE_ 1
#else
#define HA_HAS_DOUBLE_ 0
#endif

typedef struct ha_half { /* IEEE 754 binary16 */
    ha_bits16_ bits;
} ha_half;

typedef struct ha_bfloat16 { /* the upper half of a float */
    ha_bits16_ bits;
} ha_bfloat16;

/* The layout of C's float _Complex and double _Complex (C11 6.2.5 p13). */
typedef struct ha_c64 {
    float re, im;
} ha_c64;

#if HA_HAS_DOUBLE_
typedef struct ha_c128 {
    double re, im;
} ha_c128;
#endif

#endif
