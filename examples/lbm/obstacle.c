/* Obstacles: five heights of them lie between the beginning of the stream and theirs. */
#include "obstacle.h"

#include "../png_io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool obstacle_none(shape *s, int64_t rows, int64_t columns) {
    *s = (shape){.rows = rows, .columns = columns, .box = ha_box2(1, 2, 1, 2)};
    s->mask = calloc((size_t)rows, (size_t)columns);
    s->colour = calloc((size_t)(rows * columns), 3);
    return s->mask && s->colour;
}

void obstacle_free(shape *s) {
    free(s->mask);
    free(s->colour);
    *s = (shape){0};
}

/* Room for an obstacle, whose box it tells. Columns are even in number, as rows are where `across` is:
 * films want such frames. */
static bool make_stream(shape *s, int64_t height, int64_t width, int64_t across, int64_t behind) {
    const int64_t row = (across - 1) * height / 2, column = 5 * height;
    const int64_t columns = column + width + behind * height;
    const bool good = obstacle_none(s, across * height, columns + columns % 2);
    s->box = ha_box2(row, row + height, column, column + width);
    return good;
}

static void fill(shape *s, int64_t row, int64_t column, double red, double green, double blue) {
    const int64_t at = (s->box.first[0] + row) * s->columns + s->box.first[1] + column;
    const double colour[] = {red, green, blue};
    s->mask[at] = 1;
    for (int k = 0; k < 3; k++)
        s->colour[3 * at + k] = (unsigned char)(fmin(colour[k], 1) * 255 + 0.5);
}

bool obstacle_cylinder(shape *s, int64_t rows, int64_t across, int64_t behind) {
    const double radius = (double)rows / 2;
    if (!make_stream(s, rows, rows, across, behind)) return false;
    for (int64_t j = 0; j < rows; j++)
        for (int64_t i = 0; i < rows; i++) {
            const double x = (double)i + 0.5 - radius, y = (double)j + 0.5 - radius;
            const double light = 0.75 - 0.25 * (x + y) / radius;
            if (x * x + y * y < radius * radius) fill(s, j, i, light, light, light);
        }
    return true;
}

static bool is_opaque(const picture *p, size_t pixel) {
    return p->channels % 2 == 1 || picture_get(p, pixel, p->channels - 1) >= 0.5;
}

/* The box around the opaque pixels. */
static ha_region opaque_box(const picture *p) {
    const ptrdiff_t height = (ptrdiff_t)p->height, width = (ptrdiff_t)p->width;
    ha_region box = ha_box2(height, 0, width, 0);
    for (ptrdiff_t j = 0; j < height; j++)
        for (ptrdiff_t i = 0; i < width; i++) {
            if (!is_opaque(p, (size_t)(j * width + i))) continue;
            if (j < box.first[0]) box.first[0] = j;
            if (i < box.first[1]) box.first[1] = i;
            if (j >= box.last[0]) box.last[0] = j + 1;
            if (i >= box.last[1]) box.last[1] = i + 1;
        }
    return box;
}

/* What is wrong with it as an obstacle; NULL: nothing. */
static const char *wrong_with(const picture *p, ha_region box) {
    const ptrdiff_t height = box.last[0] - box.first[0], width = box.last[1] - box.first[1];
    size_t opaque = 0;
    for (size_t k = 0; k < p->width * p->height; k++) opaque += is_opaque(p, k);
    if (opaque == 0) return "no pixel of it is opaque, so there is no obstacle";
    if (opaque == p->width * p->height)
        return "all of it is opaque: what the fluid flows around has transparent pixels around it";
    if (height < 4 || width < 4)
        return "its opaque part is too small, at least 4 x 4 pixels are wanted";
    return width > 20 * height ? "its opaque part is more than 20 times as wide as high" : NULL;
}

/* Of each site the pixel in its middle. `*solid`: how many sites that makes solid. */
static bool place(shape *s, const picture *p, ha_region box, int64_t rows, int64_t across,
                  int64_t behind, int64_t *solid) {
    const double pixels = (double)(box.last[0] - box.first[0]) / (double)rows;
    const int64_t columns = (int64_t)ceil((double)(box.last[1] - box.first[1]) / pixels);
    const unsigned grey = p->channels < 3;
    if (!make_stream(s, rows, columns, across, behind)) return false;
    for (int64_t j = 0; j < rows; j++)
        for (int64_t i = 0; i < columns; i++) {
            const size_t y = (size_t)box.first[0] + (size_t)(((double)j + 0.5) * pixels);
            const size_t x = (size_t)box.first[1] + (size_t)(((double)i + 0.5) * pixels);
            const size_t k = y * p->width + (x < p->width ? x : p->width - 1);
            *solid += is_opaque(p, k);
            if (is_opaque(p, k))
                fill(s, j, i, picture_get(p, k, 0), picture_get(p, k, grey ? 0 : 1),
                     picture_get(p, k, grey ? 0 : 2));
        }
    return true;
}

bool obstacle_picture(shape *s, const char *path, int64_t rows, int64_t across, int64_t behind,
                      char error[OBSTACLE_ERROR_BYTES]) {
    picture p = {0};
    if (!picture_read(&p, path, error)) return false;
    const ha_region box = opaque_box(&p);
    const char *wrong = wrong_with(&p, box);
    int64_t solid = 0;
    if (!wrong && !place(s, &p, box, rows, across, behind, &solid)) wrong = "no memory";
    if (!wrong && solid == 0)
        wrong = "its opaque part is lost between the sites: take more --sites";
    if (wrong) (void)snprintf(error, OBSTACLE_ERROR_BYTES, "%s", wrong);
    picture_free(&p);
    return !wrong;
}
