/* blur: reads a PNG, blurs it, and writes a PNG.
 *
 *     blur [--device CTX] [--sigma S] [--passes N] [--trace FILE] [--report] [--quiet] IN OUT
 *     blur --layout LAYOUT [--sigma S] [--passes N] ... IN OUT
 *
 * The device and the host do each pass together, a half of the rows each. What to look at: average is the
 * step, a kernel, which runs on the host and on any device; blur_rows() says which rows it reads and which
 * it overwrites, and where. No line of this file copies to the device or back, none waits for it, and nobody
 * keeps a list of what is where. The table that is printed after each pass shows what the library knows:
 * where the picture is at that moment. A half goes to the device once and comes back once; between, only
 * the rows around the middle move. The last lines compare the bytes that were moved with a program that
 * copies the input of each device step there and its output back.
 *
 * With --layout the pixels become records in memory of that layout, and the host does everything
 * (blur_layout.c); the picture is the same.
 *
 * The blur is a Gaussian. N passes of standard deviation S / sqrt(N) are one of S, since variances
 * add. Each pass has a step along the rows and one along the columns, with weights that end at four
 * standard deviations; beyond the edge of the picture, its last pixel counts. Light adds up, sRGB
 * values do not: the planes hold linear light, multiplied by alpha where there is alpha. */
#include "harray_kernels.h"

#include "blur_layout.h"
#include "complain.h"
#include "png_io.h"

#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char program_name[] = "blur";

typedef struct options {
    const char *device, *layout, *trace, *in, *out;
    double sigma;
    int passes;
    bool report, quiet, help;
} options;

typedef struct image {
    array_float_3 picture, next; /* planes, rows, columns; next: between the two steps of a pass */
    array_float_1 weights;       /* of the pixels from -radius to radius around one */
    int64_t radius;
    unsigned colours; /* planes of colour; behind them there is alpha, or not */
    bool alpha;
    uint64_t bytes_both_ways; /* what copying at each device step would have moved */
} image;

/* ---- the blur ------------------------------------------------------------------------------- */

/* A pixel's weighted mean of those before and behind it, along its column or its row. Beyond the edge of
 * the picture its last pixel counts; elsewhere `from` has all that are wanted. */
HA_KERNEL(average,
          ((value, bool, columns), (in, array_float_1, weights), (in, array_float_3, from),
           (out, array_float_3, to)),
          (plane, y, x), {
              const int64_t radius = weights.extent[0] / 2;
              const int64_t first = columns ? from.origin[1] - y : from.origin[2] - x;
              const int64_t last = first + (columns ? from.extent[1] : from.extent[2]) - 1;
              float sum = 0;
              for (int64_t k = -radius; k <= radius; k++) {
                  const int64_t near = k < first ? first : k > last ? last : k;
                  sum += HA_AT(weights, k) *
                         HA_AT(from, plane, y + (columns ? near : 0), x + (columns ? 0 : near));
              }
              HA_AT(to, plane, y, x) = sum;
          });

/* A view of rows [first, last) of each plane, as far as there are such rows. They keep their indices. */
static array_float_3 rows_of(array_float_3 all, int64_t first, int64_t last) {
    if (first < 0) first = 0;
    if (last > all.extent[1]) last = all.extent[1];
    return array_float_3_with_origin(array_float_3_slice(all, 1, first, last, 1),
                                     HA_DIM(0, first, 0));
}

/* Blurs rows [first, last) along themselves, from `picture` to `next`, or along the columns and back,
 * for which rows before and behind are read, too. On a device this returns while it is working. */
static bool blur_rows(image *m, int64_t first, int64_t last, bool columns, ha_context *where) {
    const int64_t reach = columns ? m->radius : 0;
    const int64_t planes = m->picture.extent[0], width = m->picture.extent[2];
    const array_float_3 from = rows_of(columns ? m->next : m->picture, first - reach, last + reach);
    const array_float_3 to = rows_of(columns ? m->picture : m->next, first, last);
    if (first == last) return true;
    if (where != ha_host()) {
        const int64_t pixels = planes * (from.extent[1] + to.extent[1]) * width;
        m->bytes_both_ways += (uint64_t)(pixels + m->weights.extent[0]) * sizeof(float);
    }
    return average_in(where, ha_box3(0, planes, first, last, 0, width), columns, m->weights, from,
                      to) == HA_OK;
}

/* The device has the upper half, the host the lower one, and they work at the same time. Between the
 * two steps, rows around the middle move; the host gets its own before the device has more to do. */
static bool blur_pass(image *m, ha_context *device) {
    const int64_t height = m->picture.extent[1], middle = height / 2;
    if (!blur_rows(m, 0, middle, false, device)) return false;
    if (!blur_rows(m, middle, height, false, ha_host())) return false;
    HA_READING(above, rows_of(m->next, middle - m->radius, middle), ha_host()) {
        return blur_rows(m, 0, middle, true, device) &&
               blur_rows(m, middle, height, true, ha_host());
    }
    return false;
}

static void set_weights(image *m, double sigma) {
    HA_OVERWRITING_ALL(v, m->weights, ha_host()) {
        double sum = 0;
        for (int64_t k = -m->radius; k <= m->radius; k++) {
            const double distance = (double)k / sigma;
            HA_AT(v.span, k) = (float)exp(-distance * distance / 2);
            sum += (double)HA_AT(v.span, k);
        }
        for (size_t k = 0; k < v.size; k++) v.data[k] = (float)((double)v.data[k] / sum);
    }
}

/* ---- between the file's samples and planes of light ----------------------------------------- */

static double light_of(double srgb) {
    return srgb <= 0.04045 ? srgb / 12.92 : pow((srgb + 0.055) / 1.055, 2.4);
}

static double srgb_of(double light) {
    return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055;
}

/* A plane's elements are in the order of the file's pixels, without gaps: v.data[k] is pixel k. */
static void unpack(image *m, const picture *p) {
    for (unsigned i = 0; i < p->channels; i++) {
        HA_OVERWRITING_ALL(v, array_float_3_fix(m->picture, 0, i), ha_host())
        for (size_t k = 0; k < v.size; k++) {
            const double sample = picture_get(p, k, i);
            v.data[k] = (float)(i < m->colours ? light_of(sample) : sample);
            if (i < m->colours && m->alpha) v.data[k] *= (float)picture_get(p, k, m->colours);
        }
    }
}

static void pack(picture *p, const image *m) {
    for (unsigned i = 0; i < p->channels; i++) {
        HA_READING(v, array_float_3_fix(m->picture, 0, i), ha_host())
        HA_READING(last, array_float_3_fix(m->picture, 0, p->channels - 1), ha_host())
        for (size_t k = 0; k < v.size; k++) {
            const bool divide = i < m->colours && m->alpha && last.data[k] > 0;
            const double value = (double)(divide ? v.data[k] / last.data[k] : v.data[k]);
            picture_set(p, k, i, i < m->colours ? srgb_of(value) : value);
        }
    }
}

/* ---- the image ------------------------------------------------------------------------------ */

static void make_image(image *m, const picture *p, double sigma) {
    const ha_dim3 extent = HA_DIM(p->channels, (int64_t)p->height, (int64_t)p->width);
    *m = (image){.picture = array_float_3_new(extent, ha_host()),
                 .next = array_float_3_new(extent, ha_host()),
                 .radius = (int64_t)ceil(4 * sigma),
                 .alpha = p->channels % 2 == 0};
    m->weights = array_float_1_with_origin(array_float_1_new(HA_DIM(2 * m->radius + 1), ha_host()),
                                           HA_DIM(-m->radius));
    m->colours = p->channels - m->alpha;
    ha_array_set_name(m->picture.array, "picture");
    ha_array_set_name(m->next.array, "next");
    ha_array_set_name(m->weights.array, "weights");
    set_weights(m, sigma);
    unpack(m, p);
}

static void free_image(image *m) {
    HA_IGNORE(array_float_3_free(&m->picture));
    HA_IGNORE(array_float_3_free(&m->next));
    HA_IGNORE(array_float_1_free(&m->weights));
}

static uint64_t bytes_moved(const image *m) {
    return ha_array_statistics(m->picture.array).bytes + ha_array_statistics(m->next.array).bytes +
           ha_array_statistics(m->weights.array).bytes;
}

/* ---- the program ---------------------------------------------------------------------------- */

/* harray keeps the first error, so that a run of calls can be checked once, at its end. */
static bool all_went_well(void) {
    const ha_error error = ha_take_error();
    return error.status == HA_OK || complain("%s", error.text);
}

static double megabytes(uint64_t bytes) { return (double)bytes * 1e-6; }

/* Where the picture is now, and what has been moved so far. */
static void show_state(const image *m) {
    char text[1024];
    (void)ha_describe(m->picture.array, text, sizeof text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        (void)printf("    %s\n", line);
    }
    (void)printf("    moved so far %.2f MB; both ways at each device step: %.2f MB\n",
                 megabytes(bytes_moved(m)), megabytes(m->bytes_both_ways));
}

static bool blur(image *m, ha_context *device, const options *o) {
    for (int pass = 0; pass < o->passes; pass++) {
        if (!blur_pass(m, device)) return complain("%s", ha_take_error().text);
        if (o->quiet) continue;
        (void)printf("pass %d of %d on %s%s\n", pass + 1, o->passes, ha_context_name(device),
                     device == ha_host() ? "" : " and host");
        show_state(m);
    }
    return true;
}

static void show_summary(const image *m, const picture *p, const options *o) {
    const uint64_t moved = bytes_moved(m), both_ways = m->bytes_both_ways;
    if (both_ways == 0) {
        (void)printf("moved %.2f MB: every step ran on the host\n", megabytes(moved));
    } else {
        (void)printf(
            "moved %.2f MB; copying both ways at each device step: %.2f MB; saved %.0f %%\n",
            megabytes(moved), megabytes(both_ways), 100 - 100 * (double)moved / (double)both_ways);
    }
    (void)printf("wrote %s: %zu x %zu, %u %s, sigma %g in %d %s\n", o->out, p->width, p->height,
                 p->channels, p->channels == 1 ? "plane" : "planes", o->sigma, o->passes,
                 o->passes == 1 ? "pass" : "passes");
}

static bool blur_by_layout(image *m, const options *o) {
    ha_error error = {0};
    bool good = false;
    HA_READING(weights, m->weights, ha_host())
    HA_WRITING(v, m->picture, ha_host()) {
        good = blur_records(o->layout, v.span, weights.span, o->passes, &error);
    }
    return good || complain("--layout %s: %s", o->layout, error.text);
}

static bool blur_picture(picture *p, image *m, ha_context *device, const options *o) {
    make_image(m, p, o->sigma / sqrt(o->passes));
    if (!all_went_well()) return false;
    if (!(o->layout ? blur_by_layout(m, o) : blur(m, device, o))) return false;
    pack(p, m);
    return all_went_well();
}

static bool blur_file(const options *o) {
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
    if (ok && !o->quiet) show_summary(&m, &p, o);
    if (ok && o->report) ha_report(stdout);
    free_image(&m);
    picture_free(&p);
    return ok;
}

static bool run(const options *o) {
    if (o->trace && ha_trace_begin(o->trace) != HA_OK) return complain("%s", ha_take_error().text);
    bool ok = blur_file(o);
    if (o->trace && ha_trace_end() != HA_OK) ok = complain("%s", ha_take_error().text);
    return ok;
}

static void help(void) {
    (void)puts(
        "Usage: blur [OPTION]... IN.png OUT.png\n"
        "Blurs a picture, in passes that a device and the host do together.\n"
        "\n"
        "  --device CTX  sim (the default), host, cuda:0, ...: where half of each pass runs\n"
        "  --layout L    aos, soa, aosoa(16), ...: pixels as records in this layout, on the host\n"
        "  --sigma S     standard deviation of the blur in pixels, 0.1 to 1000; default 6\n"
        "  --passes N    1 to 100; default 4\n"
        "  --trace FILE  write what happens when as a trace, for ui.perfetto.dev\n"
        "  --report      print where bytes went\n"
        "  --quiet       print nothing else but errors\n"
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
    case 'l':
        o->layout = value;
        return true;
    case 's':
        o->sigma = number(value);
        return (o->sigma >= 0.1 && o->sigma <= 1000) ||
               complain("--sigma wants a number from 0.1 to 1000, not '%s'", value);
    case 'p':
        o->passes = number(value) >= 1 && number(value) <= 100 ? (int)number(value) : 0;
        return (o->passes >= 1 && o->passes == number(value)) ||
               complain("--passes wants a whole number from 1 to 100, not '%s'", value);
    case 't':
        o->trace = value;
        return true;
    case 'r':
        o->report = true;
        return true;
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
    static const struct option known[] = {{"device", required_argument, NULL, 'd'},
                                          {"layout", required_argument, NULL, 'l'},
                                          {"sigma", required_argument, NULL, 's'},
                                          {"passes", required_argument, NULL, 'p'},
                                          {"trace", required_argument, NULL, 't'},
                                          {"report", no_argument, NULL, 'r'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
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
