/* One step of blur.c, for C and for nvcc. */
#ifndef BLUR_STEP_H
#define BLUR_STEP_H

#include "harray.h"

#include <stdbool.h>

/* What a step reads and what it overwrites, some rows of each plane. Spans are plain pointers with
 * extents, strides and lowest indices, as a kernel can have them: HA_AT(to, plane, y, x) is a pixel.
 * Rows have the same indices in both. */
typedef struct step {
    cspan_float_3 from;
    cspan_float_1 weights; /* from -radius to radius */
    span_float_3 to;
    bool columns; /* along the columns; else along the rows */
} step;

/* What becomes of a pixel: the weighted mean of those before and behind it. Beyond the edge of the
 * picture its last pixel counts; elsewhere `from` has all that are wanted. */
HA_FN float mean_at(const step *s, int64_t plane, int64_t y, int64_t x) {
    const int along = s->columns ? 1 : 2; /* this dimension */
    const int64_t stride = s->from.stride[along], radius = s->weights.extent[0] / 2;
    const int64_t first = s->from.origin[along] - (s->columns ? y : x);
    const int64_t last = first + s->from.extent[along] - 1;
    const float *pixel = &HA_AT(s->from, plane, y, x), *weight = &HA_AT(s->weights, 0);
    float sum = 0;
    for (int64_t k = -radius; k <= radius; k++) {
        sum += weight[k] * pixel[(k < first ? first : k > last ? last : k) * stride];
    }
    return sum;
}

#ifdef __cplusplus
extern "C"
#endif
    /* Launches a step on a GPU, whose stream this is; false when that fails, which it prints. */
    bool
    blur_start_cuda(const step *s, int device, void *stream);

#endif
