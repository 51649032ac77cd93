/* Values that bodies trace (ha_trace_value), where they run on the host. */
#ifndef HARRAY_IMPL_KERNELS_TRACE_VALUE_H
#define HARRAY_IMPL_KERNELS_TRACE_VALUE_H

#include "arguments.h"

#include <inttypes.h>

/* Integers have been promoted: of 32 or 64 bits. One call, so that lines of several threads stay whole. */
void ha_trace_value_(const char *what, const void *value, size_t bytes, int has_fraction,
                     int is_unsigned) {
    const int is_long = bytes == sizeof(int64_t);
    double number;
    float short_number;
    int64_t integer;
    int32_t short_integer;
    if (has_fraction && is_long) {
        memcpy(&number, value, sizeof number);
        fprintf(stderr, "harray: %s = %.17g\n", what, number);
    } else if (has_fraction) {
        memcpy(&short_number, value, sizeof short_number);
        fprintf(stderr, "harray: %s = %.9g\n", what, (double)short_number);
    } else if (is_long) {
        memcpy(&integer, value, sizeof integer);
        fprintf(stderr, is_unsigned ? "harray: %s = %" PRIu64 "\n" : "harray: %s = %" PRId64 "\n",
                what, integer);
    } else {
        memcpy(&short_integer, value, sizeof short_integer);
        fprintf(stderr, is_unsigned ? "harray: %s = %" PRIu32 "\n" : "harray: %s = %" PRId32 "\n",
                what, short_integer);
    }
}

#endif
