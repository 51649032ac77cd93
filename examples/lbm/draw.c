/* Colours and curves. */
#include "draw.h"

#include "../png_io.h"

#include <math.h>
#include <stdlib.h>

/* ---- a frame ----------------------------------------------------------------------------------- */

/* From light blue over dark to yellow, for numbers from -1 to 1. */
static void paint(picture *p, size_t pixel, double value) {
    static const double colours[2][3][3] = {
        {{0.04, 0.05, 0.11}, {0.05, 0.42, 0.66}, {0.72, 0.94, 1.00}},
        {{0.04, 0.05, 0.11}, {0.80, 0.30, 0.10}, {1.00, 0.93, 0.55}},
    };
    const double strength = fmin(fabs(value), 1) * 2;
    const int side = value > 0, step = strength >= 1;
    for (unsigned k = 0; k < 3; k++) {
        const double *from = colours[side][step], *to = colours[side][step < 2 ? step + 1 : 2];
        picture_set(p, pixel, k, from[k] + (strength - step) * (to[k] - from[k]));
    }
}

/* How fast the fluid turns, at a site that is not at the edge; times height / speed. */
static double vorticity(cspan_float_2 x, cspan_float_2 y, int64_t j, int64_t i, double height) {
    const float across = HA_AT(y, j, i + 1) - HA_AT(y, j, i - 1);
    const float along = HA_AT(x, j - 1, i) - HA_AT(x, j + 1, i);
    return (double)(across - along) / 2 * height / SPEED;
}

static void paint_sites(picture *p, cspan_float_2 x, cspan_float_2 y, const shape *s) {
    const double height = (double)(s->box.last[0] - s->box.first[0]);
    for (int64_t j = 1; j < s->rows - 1; j++)
        for (int64_t i = 1; i < s->columns - 1; i++) {
            const size_t pixel = (size_t)((j - 1) * (s->columns - 2) + i - 1);
            const size_t at = (size_t)(j * s->columns + i);
            if (!s->mask[at]) paint(p, pixel, tanh(vorticity(x, y, j, i, height) / 5));
            for (unsigned k = 0; k < 3 && s->mask[at]; k++)
                picture_set(p, pixel, k, s->colour[3 * at + k] / 255.0);
        }
}

bool draw_frame(const flow_results *r, const shape *s, const char *path, char *error) {
    picture p = {.width = (size_t)s->columns - 2, .height = (size_t)s->rows - 2, .channels = 3};
    p.depth = 8;
    p.samples = malloc(3 * p.width * p.height);
    (void)snprintf(error, PICTURE_ERROR_BYTES, "no memory, or nothing to be read");
    bool good = false;
    if (p.samples) HA_READING(x, r->east, ha_host()) HA_READING(y, r->north, ha_host()) {
            paint_sites(&p, x.span, y.span, s);
            good = true;
        }
    good = good && picture_write(&p, path, error);
    picture_free(&p);
    return good;
}

/* ---- the plot ---------------------------------------------------------------------------------- */

enum { LEFT = 60, TOP = 20, WIDTH = 720, HEIGHT = 280, RIGHT = 60, LETTERS = 14 };

typedef struct scale {
    double last, least, most; /* of time, and of the curves */
} scale;

static double x_of(scale s, double time) { return LEFT + WIDTH * time / s.last; }
static double y_of(scale s, double value) {
    return TOP + HEIGHT * (s.most - value) / (s.most - s.least);
}

/* What lies outside of the scale is cut off; its name stands behind its end, at a height of its own. */
static void draw_curve(FILE *f, scale s, const char *name, double height, const char *colour,
                       const float *value, int64_t n, double each) {
    (void)fprintf(f,
                  "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" "
                  "clip-path=\"url(#inside)\" points=\"",
                  colour);
    for (int64_t k = 0; k < n; k++)
        (void)fprintf(f, "%.2f,%.2f ", x_of(s, (double)(k + 1) * each), y_of(s, (double)value[k]));
    (void)fprintf(f, "\"/>\n<text x=\"%d\" y=\"%.2f\" fill=\"%s\">%s</text>\n", LEFT + WIDTH + 8,
                  height, colour, name);
}

/* Where the name of a curve stands: as high as the mean of the second half. */
static double name_height(scale s, const float *value, int64_t n) {
    double mean = 0;
    for (int64_t k = n / 2; k < n; k++) mean += (double)value[k] / (double)(n - n / 2);
    return y_of(s, mean) + 4;
}

/* A distance between marks of which there are at most about ten: 1, 2 or 5 times a power of ten. */
static double mark_distance(double length) {
    const double ten = pow(10, floor(log10(length / 10)));
    return length / ten <= 20 ? 2 * ten : length / ten <= 50 ? 5 * ten : 10 * ten;
}

static void draw_marks(FILE *f, scale s) {
    const double dy = mark_distance(s.most - s.least), dx = mark_distance(s.last);
    for (double v = ceil(s.least / dy) * dy; v <= s.most; v += dy)
        (void)fprintf(f,
                      "<path d=\"M%d %.2fh%d\" stroke=\"#ddd\"/>"
                      "<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">%.3g</text>\n",
                      LEFT, y_of(s, v), WIDTH, LEFT - 6, y_of(s, v) + 4, fabs(v) < dy / 2 ? 0 : v);
    for (double t = 0; t <= s.last; t += dx)
        (void)fprintf(f, "<text x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", x_of(s, t),
                      TOP + HEIGHT + 18, t);
}

/* What the first tenth has, when all begins to move, may lie outside. */
bool draw_forces(FILE *f, const float *drag, const float *lift, int64_t n, double each) {
    scale s = {.last = (double)(n > 0 ? n : 1) * each, .least = -0.1, .most = 0.1};
    for (int64_t k = n / 10; k < n; k++) {
        s.least = fmin(s.least, fmin((double)drag[k], (double)lift[k]) * 1.1);
        s.most = fmax(s.most, fmax((double)drag[k], (double)lift[k]) * 1.1);
    }
    (void)fprintf(f,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                  "font-family=\"sans-serif\" font-size=\"12\">\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
                  "<clipPath id=\"inside\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
                  "</clipPath>\n",
                  LEFT + WIDTH + RIGHT, TOP + HEIGHT + 50, LEFT, TOP, WIDTH, HEIGHT);
    draw_marks(f, s);
    const double of_drag = name_height(s, drag, n), of_lift = name_height(s, lift, n);
    const double short_of = fmax(LETTERS - fabs(of_drag - of_lift), 0) / 2; /* of not overlapping */
    const double apart = of_drag < of_lift ? short_of : -short_of;
    draw_curve(f, s, "drag", of_drag - apart, "#c0501a", drag, n, each);
    draw_curve(f, s, "lift", of_lift + apart, "#0d6ba8", lift, n, each);
    (void)fprintf(f,
                  "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">time, in heights of the obstacle "
                  "that the stream has gone</text>\n"
                  "<text x=\"16\" y=\"%d\" text-anchor=\"middle\" "
                  "transform=\"rotate(-90 16 %d)\">coefficients</text>\n</svg>\n",
                  LEFT + WIDTH / 2, TOP + HEIGHT + 40, TOP + HEIGHT / 2, TOP + HEIGHT / 2);
    return fflush(f) == 0 && !ferror(f);
}
