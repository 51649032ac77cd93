/* Conversions of whole arrays on aarch64, as avx2.h explains them. Its instructions for half
 * round as the program has set; where that is not to nearest, or NaNs or halves are not IEEE's, numbers
 * are converted one by one. */
#ifndef HARRAY_LAYOUT_IMPL_CONVERT_NEON_H
#define HARRAY_LAYOUT_IMPL_CONVERT_NEON_H

#include "portable.h"

#if defined __aarch64__ && !defined HARRAY_NO_SIMD
#include <arm_neon.h>

enum { HA_NEON_WIDTH = 8 };

/* The floating-point control register has none of: alternative half (26), default NaN (25), a rounding
 * mode (23, 22), alternative handling (2 to 0). Flushing to zero makes no difference to a half. */
static inline int ha_neon_is_ieee(void) {
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (control & 0x6c00007) == 0;
}

static inline uint8x16_t ha_load_neon(const char *from, size_t vector) {
    return vld1q_u8((const uint8_t *)from + 16 * vector);
}
static inline void ha_store_neon(char *to, size_t vector, uint8x16_t x) {
    vst1q_u8((uint8_t *)to + 16 * vector, x);
}

/* ---- half ---------------------------------------------------------------------------------- */

static inline void ha_step_half_to_float_neon(char *to, const char *from, int past HA_UNUSED) {
    const float16x8_t h = vreinterpretq_f16_u8(ha_load_neon(from, 0));
    ha_store_neon(to, 0, vreinterpretq_u8_f32(vcvt_f32_f16(vget_low_f16(h))));
    ha_store_neon(to, 1, vreinterpretq_u8_f32(vcvt_high_f32_f16(h)));
}

static inline void ha_step_half_to_double_neon(char *to, const char *from, int past HA_UNUSED) {
    const float16x8_t h = vreinterpretq_f16_u8(ha_load_neon(from, 0));
    const float32x4_t low = vcvt_f32_f16(vget_low_f16(h)), high = vcvt_high_f32_f16(h);
    ha_store_neon(to, 0, vreinterpretq_u8_f64(vcvt_f64_f32(vget_low_f32(low))));
    ha_store_neon(to, 1, vreinterpretq_u8_f64(vcvt_high_f64_f32(low)));
    ha_store_neon(to, 2, vreinterpretq_u8_f64(vcvt_f64_f32(vget_low_f32(high))));
    ha_store_neon(to, 3, vreinterpretq_u8_f64(vcvt_high_f64_f32(high)));
}

static inline void ha_step_float_to_half_neon(char *to, const char *from, int past HA_UNUSED) {
    const float32x4_t low = vreinterpretq_f32_u8(ha_load_neon(from, 0));
    const float32x4_t high = vreinterpretq_f32_u8(ha_load_neon(from, 1));
    ha_store_neon(to, 0, vreinterpretq_u8_f16(vcvt_high_f16_f32(vcvt_f16_f32(low), high)));
}

/* Four doubles as floats, rounded to odd, for which there is an instruction. */
static inline float32x4_t ha_load_doubles_neon(const char *from, size_t i) {
    const float64x2_t low = vreinterpretq_f64_u8(ha_load_neon(from, 2 * i));
    const float64x2_t high = vreinterpretq_f64_u8(ha_load_neon(from, 2 * i + 1));
    return vcvtx_high_f32_f64(vcvtx_f32_f64(low), high);
}

static inline void ha_step_double_to_half_neon(char *to, const char *from, int past HA_UNUSED) {
    const float16x4_t low = vcvt_f16_f32(ha_load_doubles_neon(from, 0));
    ha_store_neon(to, 0,
                  vreinterpretq_u8_f16(vcvt_high_f16_f32(low, ha_load_doubles_neon(from, 1))));
}

/* ---- bfloat16, with float ------------------------------------------------------------------ */

static inline uint32x4_t ha_nan_neon(uint32x4_t x) {
    return vcgtq_u32(vandq_u32(x, vdupq_n_u32(0x7fffffff)), vdupq_n_u32(0x7f800000));
}

static inline uint8x16_t ha_widen_bfloat16_neon(uint16x4_t b) {
    const uint32x4_t x = vshll_n_u16(b, 16);
    return vreinterpretq_u8_u32(vorrq_u32(x, vandq_u32(ha_nan_neon(x), vdupq_n_u32(0x400000))));
}

static inline void ha_step_bfloat16_to_float_neon(char *to, const char *from, int past HA_UNUSED) {
    const uint16x8_t b = vreinterpretq_u16_u8(ha_load_neon(from, 0));
    ha_store_neon(to, 0, ha_widen_bfloat16_neon(vget_low_u16(b)));
    ha_store_neon(to, 1, ha_widen_bfloat16_neon(vget_high_u16(b)));
}

static inline uint16x4_t ha_round_bfloat16_neon(uint32x4_t x) {
    const uint32x4_t upper = vshrq_n_u32(x, 16), last = vandq_u32(upper, vdupq_n_u32(1));
    const uint32x4_t rounded = vaddq_u32(x, vaddq_u32(vdupq_n_u32(0x7fff), last));
    const uint32x4_t quiet = vorrq_u32(x, vdupq_n_u32(0x400000));
    return vshrn_n_u32(vbslq_u32(ha_nan_neon(x), quiet, rounded), 16);
}

static inline void ha_step_float_to_bfloat16_neon(char *to, const char *from, int past HA_UNUSED) {
    const uint32x4_t low = vreinterpretq_u32_u8(ha_load_neon(from, 0));
    const uint32x4_t high = vreinterpretq_u32_u8(ha_load_neon(from, 1));
    const uint16x8_t both = vcombine_u16(ha_round_bfloat16_neon(low), ha_round_bfloat16_neon(high));
    ha_store_neon(to, 0, vreinterpretq_u8_u16(both));
}

/* ---- whole arrays -------------------------------------------------------------------------- */

#define HA_CONVERT_NEON_(name, From, To)                                                           \
    HA_CONVERT_STEPS_(, ha_##name##_stepped, ha_step_##name##_neon, HA_NEON_WIDTH, From, To)       \
    HA_IN_ void ha_##name##_neon(void *to, const void *from, size_t n) {                           \
        if (ha_neon_is_ieee())                                                                     \
            ha_##name##_stepped(to, from, n);                                                      \
        else                                                                                       \
            ha_##name##_portable(to, from, n);                                                     \
    }
HA_CONVERT_NEON_(half_to_float, uint16_t, float)
HA_CONVERT_NEON_(half_to_double, uint16_t, double)
HA_CONVERT_NEON_(float_to_half, float, uint16_t)
HA_CONVERT_NEON_(double_to_half, double, uint16_t)
HA_CONVERT_NEON_(bfloat16_to_float, uint16_t, float)
HA_CONVERT_NEON_(float_to_bfloat16, float, uint16_t)

/* With double bfloat16 has subnormal numbers to see to; one by one is fast enough. */
static const ha_conversions ha_conversions_neon = {
    "neon",
    ha_half_to_float_neon,
    ha_half_to_double_neon,
    ha_float_to_half_neon,
    ha_double_to_half_neon,
    ha_bfloat16_to_float_neon,
    ha_bfloat16_to_double_portable,
    ha_float_to_bfloat16_neon,
    ha_double_to_bfloat16_portable,
};
#endif

#endif
