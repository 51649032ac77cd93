/* The blur of blur.c with the picture's pixels as records, in any memory layout. */
#ifndef BLUR_LAYOUT_H
#define BLUR_LAYOUT_H

#include "harray.h"

#include <stdbool.h>

/* Blurs the planes (at most 4) in so many passes, on the host: the same sums in the same order as
 * the kernel of blur.c, so the same result to the bit. `layout` is a text as in
 * layout/mapping.h. False, with one line in `error`, when it is none, or there is no memory. */
bool blur_records(const char *layout, span_float_3 picture, cspan_float_1 weights, int passes,
                  ha_error *error);

#endif
