/* The pixels of a picture as records. What to look at: along(), the blur. It is written once and
 * says nothing about where a pixel's numbers are; HA_WITH compiles it for each kind of layout. */
#include "layout.h"

#include "blur_layout.h"

#define MOST_PLANES 4 /* a macro, as names of fields are text at run time */

typedef struct pixel {
    float now[MOST_PLANES], next[MOST_PLANES]; /* between the steps of a pass */
} pixel;
#define pixel_FIELDS (float, now, (MOST_PLANES)), (float, next, (MOST_PLANES))
HA_RECORD(pixel)
HA_VIEW(pixels, pixel, 2, HA_ANY)

HA_FN int64_t clamped(int64_t i, int64_t extent) { return i < 0 ? 0 : i < extent ? i : extent - 1; }

/* `next` of each pixel from `now` along its row, or `now` from `next` along its column. */
HA_FN void along(pixels v, const float *weight, int64_t radius, bool columns) {
    const int64_t rows = pixels_region(v).last[0], length = pixels_region(v).last[1];
    HA_EACH(pixels, v, at) {
        float sum[MOST_PLANES] = {0};
        for (int64_t k = -radius; k <= radius; k++) {
            const int64_t y = clamped(ha_coordinate(at, 0) + (columns ? k : 0), rows);
            const int64_t x = clamped(ha_coordinate(at, 1) + (columns ? 0 : k), length);
            const ha_cursor there = pixels_at(v, y, x);
            for (int i = 0; i < MOST_PLANES; i++)
                sum[i] += weight[k] *
                          *(columns ? pixels_next(v, there, i) : pixels_now(v, there, i));
        }
        for (int i = 0; i < MOST_PLANES; i++)
            *(columns ? pixels_now(v, at, i) : pixels_next(v, at, i)) = sum[i];
    }
}

static void blur(pixels v, span_float_3 picture, cspan_float_1 weights, int passes) {
    const int64_t radius = weights.extent[0] / 2;
    const float *middle = &HA_AT(weights, 0);
    HA_EACH(pixels, v, at) {
        for (int i = 0; i < (int)picture.extent[0]; i++)
            *pixels_now(v, at, i) = HA_AT(picture, i, ha_coordinate(at, 0), ha_coordinate(at, 1));
    }
    for (int pass = 0; pass < passes; pass++) {
        HA_WITH(v, along(v, middle, radius, false));
        HA_WITH(v, along(v, middle, radius, true));
    }
    HA_EACH(pixels, v, at) {
        for (int i = 0; i < (int)picture.extent[0]; i++)
            HA_AT(picture, i, ha_coordinate(at, 0), ha_coordinate(at, 1)) = *pixels_now(v, at, i);
    }
}

bool blur_records(const char *layout, span_float_3 picture, cspan_float_1 weights, int passes,
                  ha_error *error) {
    const int64_t extent[] = {picture.extent[1], picture.extent[2]};
    ha_mapping *m = ha_mapping_parse(&pixel_record, layout, 2, extent, error);
    if (!m) return false;
    pixels v = pixels_new_from(m, error);
    const bool good = !pixels_null(v);
    if (good) blur(v, picture, weights, passes);
    pixels_free(v);
    ha_mapping_free(m);
    return good;
}
