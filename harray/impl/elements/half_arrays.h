/* Conversions of whole arrays, for everybody. */
#ifndef HARRAY_IMPL_ELEMENTS_HALF_ARRAYS_H
#define HARRAY_IMPL_ELEMENTS_HALF_ARRAYS_H

#include "../../../layout/impl/convert/all.h"
#include "../../convert.h"

void ha_convert_half_to_float(float *to, const ha_half *from, size_t n) {
    ha_best_conversions()->half_to_float(to, from, n);
}
void ha_convert_half_to_double(double *to, const ha_half *from, size_t n) {
    ha_best_conversions()->half_to_double(to, from, n);
}
void ha_convert_float_to_half(ha_half *to, const float *from, size_t n) {
    ha_best_conversions()->float_to_half(to, from, n);
}
void ha_convert_double_to_half(ha_half *to, const double *from, size_t n) {
    ha_best_conversions()->double_to_half(to, from, n);
}
void ha_convert_bfloat16_to_float(float *to, const ha_bfloat16 *from, size_t n) {
    ha_best_conversions()->bfloat16_to_float(to, from, n);
}
void ha_convert_bfloat16_to_double(double *to, const ha_bfloat16 *from, size_t n) {
    ha_best_conversions()->bfloat16_to_double(to, from, n);
}
void ha_convert_float_to_bfloat16(ha_bfloat16 *to, const float *from, size_t n) {
    ha_best_conversions()->float_to_bfloat16(to, from, n);
}
void ha_convert_double_to_bfloat16(ha_bfloat16 *to, const double *from, size_t n) {
    ha_best_conversions()->double_to_bfloat16(to, from, n);
}

#endif
