/* blur: reads a PNG, blurs it, and writes a PNG.
 *
 *     blur [--device CTX] [--sigma S] [--passes N] [--quiet] IN.png OUT.png
 *
 * The passes run on the device and on the host in turn. What to look at: blur_along() says what one
 * step reads and what it overwrites, and where; average() is the step itself, the same function for
 * host and device. No line of this file copies to the device or back, none waits for it, and
 * nobody keeps a list of what is where. The table that is printed after each pass shows what the
 * library knows: where the picture is at that moment. The last lines compare the bytes that were
 * moved with a program that copies the input of each device step there and its output back.
 *
 * The blur is a Gaussian. N passes of standard deviation S / sqrt(N) are one of S, since variances
 * add. Each pass has a step along the rows and one along the columns, with weights that end at four
 * standard deviations; beyond the edge of the picture, its last pixel counts. Light adds up, sRGB
 * values do not: the planes hold linear light, multiplied by alpha where there is alpha. */
#define HARRAY_IMPLEMENTATION
#include "harray.h"

#include "png_io.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLANES = 4 };

typedef struct options {
    const char *device, *in, *out;
    double sigma;
    int passes;
    bool quiet, help;
} options;

typedef struct image {
    size_t width, height;
    unsigned planes;
    bool alpha; /* the last plane is alpha */
    size_t radius;
    harray_float weights;            /* of the pixels from -radius to radius around one */
    harray_float plane[MOST_PLANES]; /* the picture */
    harray_float next[MOST_PLANES];  /* where a step puts its result */
    uint64_t bytes_both_ways;        /* what copying at each device step would have moved */
} image;

/* ---- the blur ------------------------------------------------------------------------------- */

typedef struct step {
    const float *from, *weights;
    float *to;
    size_t width, height, radius;
    bool columns;
} step;

/* The weighted mean around element i of a line, whose elements are `stride` apart. */
static float mean_around(const float *line, size_t length, size_t stride, size_t i,
                         const float *weights, size_t radius) {
    float sum = 0;
    for (size_t k = 0; k <= 2 * radius; k++) {
        const size_t right = i + k < radius ? 0 : i + k - radius;
        sum += weights[k] * line[(right < length ? right : length - 1) * stride];
    }
    return sum;
}

/* One step, wherever it runs: HA_HERE makes the pointers of the accesses usable there. */
static void average(const ha_queue *queue, void *argument) {
    const step *s = argument;
    const float *from = HA_HERE(queue, const float, s->from);
    const float *weights = HA_HERE(queue, const float, s->weights);
    float *to = HA_HERE(queue, float, s->to);
    for (size_t y = 0; y < s->height; y++) {
        for (size_t x = 0; x < s->width; x++) {
            to[y * s->width + x] =
                s->columns ? mean_around(from + x, s->height, s->width, y, weights, s->radius)
                           : mean_around(from + y * s->width, s->width, 1, x, weights, s->radius);
        }
    }
}

/* Blurs one plane along its rows or its columns, on a context. */
static bool blur_along(image *m, unsigned plane, bool columns, ha_context *where) {
    bool enqueued = false;
    HA_READING(weights, m->weights, where)
    HA_READING(from, m->plane[plane], where)
    HA_OVERWRITING(to, m->next[plane], where, from.size) {
        const step s = {.from = from.data,
                        .weights = weights.data,
                        .to = to.data,
                        .width = m->width,
                        .height = m->height,
                        .radius = m->radius,
                        .columns = columns};
        enqueued = ha_enqueue(where, average, &s, sizeof s) == HA_OK;
        if (where != ha_host()) {
            m->bytes_both_ways += (from.size + weights.size + to.size) * sizeof(float);
        }
    }
    return enqueued && harray_float_swap(m->plane[plane], m->next[plane]) == HA_OK;
}

/* On a device this returns while it is still working. The host's pass on the first plane then
 * begins while the device is busy with the others. */
static bool blur_pass(image *m, ha_context *where) {
    for (unsigned i = 0; i < m->planes; i++) {
        if (!blur_along(m, i, false, where) || !blur_along(m, i, true, where)) return false;
    }
    return true;
}

static void set_weights(image *m, double sigma) {
    HA_OVERWRITING(weights, m->weights, ha_host(), 2 * m->radius + 1) {
        double sum = 0;
        for (size_t k = 0; k < weights.size; k++) {
            const double distance = ((double)k - (double)m->radius) / sigma;
            weights.data[k] = (float)exp(-distance * distance / 2);
            sum += (double)weights.data[k];
        }
        for (size_t k = 0; k < weights.size; k++) {
            weights.data[k] = (float)((double)weights.data[k] / sum);
        }
    }
}

/* ---- between the file's samples and planes of light ----------------------------------------- */

static double light_of(double srgb) {
    return srgb <= 0.04045 ? srgb / 12.92 : pow((srgb + 0.055) / 1.055, 2.4);
}

static double srgb_of(double light) {
    return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055;
}

static unsigned colours(const image *m) { return m->alpha ? m->planes - 1 : m->planes; }

static void unpack(image *m, const picture *p) {
    for (unsigned i = 0; i < m->planes; i++) {
        HA_OVERWRITING(v, m->plane[i], ha_host(), m->width * m->height)
        for (size_t k = 0; k < v.size; k++) {
            const double sample = picture_get(p, k, i);
            v.data[k] = (float)(i < colours(m) ? light_of(sample) : sample);
        }
    }
}

static void pack(picture *p, const image *m) {
    for (unsigned i = 0; i < m->planes; i++) {
        HA_READING(v, m->plane[i], ha_host())
        for (size_t k = 0; k < v.size; k++) {
            const double value = (double)v.data[k];
            picture_set(p, k, i, i < colours(m) ? srgb_of(value) : value);
        }
    }
}

static void multiply_by_alpha(image *m) {
    for (unsigned i = 0; i < colours(m); i++) {
        HA_READING(alpha, m->plane[colours(m)], ha_host())
        HA_WRITING(colour, m->plane[i], ha_host())
        for (size_t k = 0; k < colour.size; k++) colour.data[k] *= alpha.data[k];
    }
}

static void divide_by_alpha(image *m) {
    for (unsigned i = 0; i < colours(m); i++) {
        HA_READING(alpha, m->plane[colours(m)], ha_host())
        HA_WRITING(colour, m->plane[i], ha_host())
        for (size_t k = 0; k < colour.size; k++) {
            if (alpha.data[k] > 0) colour.data[k] /= alpha.data[k];
        }
    }
}

/* ---- the image ------------------------------------------------------------------------------ */

static void make_image(image *m, const picture *p, double sigma) {
    static const char *const names[] = {"grey", "alpha", "red", "green", "blue", "alpha"};
    *m = (image){.width = p->width,
                 .height = p->height,
                 .planes = p->channels,
                 .alpha = p->channels % 2 == 0,
                 .radius = (size_t)ceil(4 * sigma),
                 .weights = harray_float_new(0)};
    harray_float_set_name(m->weights, "weights");
    for (unsigned i = 0; i < m->planes; i++) {
        m->plane[i] = harray_float_new(0);
        m->next[i] = harray_float_new(0);
        harray_float_set_name(m->plane[i], names[m->planes < 3 ? i : 2 + i]);
        harray_float_set_name(m->next[i], names[m->planes < 3 ? i : 2 + i]);
    }
    set_weights(m, sigma);
    unpack(m, p);
}

static void free_image(image *m) {
    for (unsigned i = 0; i < m->planes; i++) {
        HA_IGNORE(harray_float_free(&m->plane[i]));
        HA_IGNORE(harray_float_free(&m->next[i]));
    }
    HA_IGNORE(harray_float_free(&m->weights));
}

static uint64_t bytes_moved(const image *m) {
    uint64_t bytes = ha_array_statistics(m->weights.array).bytes;
    for (unsigned i = 0; i < m->planes; i++) {
        bytes += ha_array_statistics(m->plane[i].array).bytes;
        bytes += ha_array_statistics(m->next[i].array).bytes;
    }
    return bytes;
}

/* ---- the program ---------------------------------------------------------------------------- */

/* One line on stderr; false, so that a failing function can end with it. */
static bool complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)fputs("blur: ", stderr);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
    return false;
}

/* harray keeps the first error, so that a run of calls can be checked once, at its end. */
static bool all_went_well(void) {
    const ha_error error = ha_take_error();
    return error.status == HA_OK || complain("%s", error.text);
}

/* Where the first plane is now, and what has been moved so far. */
static void show_state(const image *m) {
    char text[1024];
    (void)ha_describe(m->plane[0].array, text, sizeof text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        (void)printf("    %s\n", line);
    }
    (void)printf("    moved so far %" PRIu64 " bytes; both ways at each device step: %" PRIu64 "\n",
                 bytes_moved(m), m->bytes_both_ways);
}

static bool blur(image *m, ha_context *device, const options *o) {
    for (int pass = 0; pass < o->passes; pass++) {
        ha_context *where = pass % 2 == 0 ? device : ha_host();
        if (!o->quiet) {
            (void)printf("pass %d of %d on %s\n", pass + 1, o->passes, ha_context_name(where));
        }
        if (!blur_pass(m, where)) return complain("%s", ha_take_error().text);
        if (!o->quiet) show_state(m);
    }
    return true;
}

static void show_summary(const image *m, const options *o) {
    const uint64_t moved = bytes_moved(m), both_ways = m->bytes_both_ways;
    if (both_ways == 0) {
        (void)printf("moved %" PRIu64 " bytes: every step ran on the host\n", moved);
    } else {
        (void)printf("moved %" PRIu64 " bytes; copying both ways at each device step: %" PRIu64
                     " bytes; saved %.0f %%\n",
                     moved, both_ways, 100 - 100 * (double)moved / (double)both_ways);
    }
    (void)printf("wrote %s: %zu x %zu, %u %s, sigma %g in %d %s\n", o->out, m->width, m->height,
                 m->planes, m->planes == 1 ? "plane" : "planes", o->sigma, o->passes,
                 o->passes == 1 ? "pass" : "passes");
}

static bool blur_picture(picture *p, image *m, ha_context *device, const options *o) {
    make_image(m, p, o->sigma / sqrt(o->passes));
    if (!all_went_well()) return false;
    if (m->alpha) multiply_by_alpha(m);
    if (!blur(m, device, o)) return false;
    if (m->alpha) divide_by_alpha(m);
    pack(p, m);
    return all_went_well();
}

static bool run(const options *o) {
    ha_context *device = ha_context_find(o->device);
    if (!device) return complain("%s", ha_take_error().text);
    char error[PICTURE_ERROR_BYTES];
    picture p = {0};
    if (!picture_read(&p, o->in, error)) return complain("%s: %s", o->in, error);
    if (p.profile && !o->quiet) {
        (void)complain("%s: its colour profile is ignored, sRGB is assumed", o->in);
    }
    image m = {0};
    bool ok = blur_picture(&p, &m, device, o);
    if (ok && !picture_write(&p, o->out, error)) ok = complain("%s: %s", o->out, error);
    if (ok && !o->quiet) show_summary(&m, o);
    free_image(&m);
    picture_free(&p);
    return ok;
}

static void help(void) {
    (void)puts("Usage: blur [OPTION]... IN.png OUT.png\n"
               "Blurs a picture, in passes on a device and on the host in turn.\n"
               "\n"
               "  --device CTX  sim (the default), sim:1, host, ...: where every other pass runs\n"
               "  --sigma S     standard deviation of the blur in pixels, 0.1 to 1000; default 6\n"
               "  --passes N    1 to 100; default 4\n"
               "  --quiet       print nothing but errors\n"
               "  --help        this\n"
               "\n"
               "Samples are taken as sRGB. The exit status is 0, 1 on failure, 2 on wrong usage.");
}

/* The number in `text`, or NaN when that is none. */
static double number(const char *text) {
    char *end;
    const double value = strtod(text, &end);
    return end != text && *end == 0 ? value : NAN;
}

static bool set_option(options *o, int letter, const char *value) {
    switch (letter) {
    case 'd':
        o->device = value;
        return true;
    case 's':
        o->sigma = number(value);
        return (o->sigma >= 0.1 && o->sigma <= 1000) ||
               complain("--sigma wants a number from 0.1 to 1000, not '%s'", value);
    case 'p':
        o->passes = number(value) >= 1 && number(value) <= 100 ? (int)number(value) : 0;
        return (o->passes >= 1 && o->passes == number(value)) ||
               complain("--passes wants a whole number from 1 to 100, not '%s'", value);
    case 'q':
        o->quiet = true;
        return true;
    case 'h':
        o->help = true;
        return true;
    default:
        return false;
    }
}

static bool read_options(options *o, int argc, char **argv) {
    static const struct option known[] = {
        {"device", required_argument, NULL, 'd'}, {"sigma", required_argument, NULL, 's'},
        {"passes", required_argument, NULL, 'p'}, {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    *o = (options){.device = "sim", .sigma = 6, .passes = 4};
    opterr = 0;
    for (int letter; (letter = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (letter == '?')
            return complain("%s: wrong option or no value; see blur --help", argv[optind - 1]);
        if (!set_option(o, letter, optarg)) return false;
    }
    if (o->help) return true;
    if (argc - optind != 2)
        return complain("two files are wanted, IN.png and OUT.png; see blur --help");
    o->in = argv[optind];
    o->out = argv[optind + 1];
    return true;
}

int main(int argc, char **argv) {
    options o;
    if (!read_options(&o, argc, argv)) return 2;
    if (o.help) {
        help();
        return 0;
    }
    return run(&o) ? 0 : 1;
}
