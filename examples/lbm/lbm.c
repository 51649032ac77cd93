/* lbm: a fluid streams past what is opaque in a picture.
 *
 *     lbm [--reynolds RE] [--layout LAYOUT] [--context CTX] [--frames DIR] [--plot FILE.svg] [OBSTACLE.png]
 *
 * What to look at: the sites of the fluid are records, whose layout is a word of the command line, and the step
 * (lattice.h) is a kernel, which runs on the host and on any device. flow.c says in which order kernels are
 * launched; a step neither copies nor waits. Forces are measured without waiting for them, into an array,
 * which is read when a line is printed. */
#define _POSIX_C_SOURCE 200809L
#include "flow.h"

#include "../png_io.h"
#include "draw.h"
#include "obstacle.h"
#include "options.h"
#include "plot_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 5 }; /* of steps, between two samples of the forces */

/* harray keeps the first error. */
static bool fails(void) { return complain("%s", ha_take_error().text); }

static double seconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double height_of(const shape *s) { return (double)(s->box.last[0] - s->box.first[0]); }

/* Of a force whose coefficient is 1. */
static double force_unit(const shape *s) { return 0.5 * SPEED * SPEED * height_of(s); }

/* ---- what forces tell ---------------------------------------------------------------------------- */

/* How often lift changes from below zero to above, per unit of time, from sample `first` on; 0: not three
 * times. */
static double frequency(const float *lift, int64_t first, int64_t n, double each) {
    double begun = 0, ended = 0;
    int turns = -1;
    for (int64_t k = first + 1; k < n; k++) {
        if (!(lift[k - 1] < 0 && lift[k] >= 0)) continue;
        ended = ((double)k - (double)(lift[k] / (lift[k] - lift[k - 1]))) * each;
        if (turns++ < 0) begun = ended;
    }
    return turns >= 2 ? turns / (ended - begun) : 0;
}

static double mean(const float *value, int64_t first, int64_t n) {
    double sum = 0;
    for (int64_t k = first; k < n; k++) sum += (double)value[k];
    return sum / (double)(n - first);
}

/* From forces to coefficients, and what there is to say of their second half. */
static double judge_forces(const flow_results *r, const shape *s, double each, FILE *plot,
                           bool *written) {
    const double unit = force_unit(s);
    double found = 0;
    HA_WRITING(drag, r->drag, ha_host()) HA_WRITING(lift, r->lift, ha_host()) {
        for (int64_t k = 0; k < r->samples; k++) {
            drag.data[k] = (float)((double)drag.data[k] / unit);
            lift.data[k] = (float)((double)lift.data[k] / unit);
        }
        found = frequency(lift.data, r->samples / 2, r->samples, each);
        (void)printf("drag coefficient %.3f, lift coefficient %.3f",
                     mean(drag.data, r->samples / 2, r->samples),
                     mean(lift.data, r->samples / 2, r->samples));
        if (found > 0) (void)printf(", Strouhal number %.4f", found);
        (void)puts(" (of the second half)");
        if (plot) *written = draw_forces(plot, drag.data, lift.data, r->samples, each);
    }
    return found;
}

/* ---- a run --------------------------------------------------------------------------------------- */

static bool write_frame(flow *f, const shape *s, const char *folder, int64_t number) {
    char path[4096], error[PICTURE_ERROR_BYTES];
    flow_results r;
    if (!flow_measure(f, &r)) return fails();
    const int length = snprintf(path, sizeof path, "%s/frame-%04" PRId64 ".png", folder, number);
    if (length >= (int)sizeof path) return complain("--frames: the name is too long");
    return draw_frame(&r, s, path, error) || complain("%s: %s", path, error);
}

/* What is told at times: how far it is, and how fast it went since that was told before. */
typedef struct progress {
    double most;           /* units of time */
    int64_t updates;       /* of sites, since then */
    double since, drawing; /* then; and seconds of them that went into frames */
} progress;

/* Of Inf or NaN at some site, nothing but these comes later. */
static bool check_finite(flow *f, double time) {
    flow_results r;
    bool finite = true;
    if (!flow_measure(f, &r)) return fails();
    HA_READING(x, r.east, ha_host()) HA_READING(y, r.north, ha_host()) {
        for (ptrdiff_t j = 0; j < x.span.extent[0]; j++)
            for (ptrdiff_t i = 0; i < x.span.extent[1]; i++)
                finite = finite && isfinite(HA_AT(x.span, j, i)) && isfinite(HA_AT(y.span, j, i));
    }
    if (!finite && isatty(STDOUT_FILENO)) (void)puts("");
    return finite || complain("before time %.1f the flow diverges: the lattice is too coarse for "
                              "it, so take more --sites or a lower --reynolds",
                              time);
}

static void tell(const flow *f, const shape *s, double time, progress *p) {
    const flow_results r = flow_samples(f); /* reading the last one waits for what is enqueued */
    double drag = 0;
    HA_READING(v, r.drag, ha_host()) if (r.samples > 0) drag = (double)v.data[r.samples - 1];
    const double now = seconds(), rate = (double)p->updates / (now - p->since - p->drawing) * 1e-6;
    const bool terminal = isatty(STDOUT_FILENO);
    (void)printf("%stime %.1f of %.1f, %.1f MLUPS, drag coefficient %.3f%s", terminal ? "\r" : "",
                 time, p->most, rate, drag / force_unit(s), terminal ? "   " : "\n");
    if (terminal && time >= p->most) (void)puts("");
    *p = (progress){.most = p->most, .since = seconds()};
    (void)fflush(stdout);
}

/* What has been enqueued before is no part of the time that a frame takes. */
static bool draw(flow *f, const shape *s, const char *folder, int64_t number, progress *p) {
    if (!flow_wait(f)) return fails();
    const double began = seconds();
    if (!write_frame(f, s, folder, number)) return false;
    p->drawing += seconds() - began;
    return true;
}

/* `most` is in units of time. Frames are half a unit apart, lines a tenth of all. */
static bool run(flow *f, const shape *s, const options *o, double most) {
    const double each = 2 * PAIRS * SPEED / height_of(s);
    const int64_t rounds = (int64_t)ceil(most / each);
    const int64_t sites = (s->rows - 2) * (s->columns - 2);
    int64_t frames = 0;
    progress p = {.most = most, .since = seconds()};
    for (int64_t k = 0; k <= rounds; k++) {
        const double time = (double)k * each;
        if (o->frames && time * 2 >= (double)frames && !draw(f, s, o->frames, frames++, &p))
            return false;
        if (k > 0 && (k * 10 / rounds > (k - 1) * 10 / rounds)) {
            if (!o->quiet) tell(f, s, fmin(time, most), &p);
            if (!check_finite(f, time)) return false;
        }
        if (k < rounds && !(flow_steps(f, PAIRS) && flow_sample(f))) return fails();
        p.updates += 2 * PAIRS * sites;
    }
    return true;
}

static flow *make_flow(const shape *s, const options *o, double viscosity, bool fixed_end,
                       double most) {
    const double each = 2 * PAIRS * SPEED / height_of(s);
    const setting how = {.where = ha_context_find(o->context),
                         .layout = o->layout,
                         .viscosity = viscosity,
                         .fixed_end = fixed_end,
                         .samples = (int64_t)ceil(most / each) + 1};
    flow *f = how.where ? flow_new(s, &how) : NULL;
    if (!f) (void)fails();
    return f;
}

/* ---- streams ------------------------------------------------------------------------------------- */

static bool is_folder(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) return false;
    if (!S_ISDIR(status.st_mode)) errno = ENOTDIR;
    return S_ISDIR(status.st_mode);
}

static bool begin_frames(const char *folder) {
    return !folder || mkdir(folder, 0777) == 0 ||
           (errno == EEXIST && is_folder(folder) && access(folder, W_OK | X_OK) == 0) ||
           complain("%s: %s", folder, strerror(errno));
}

/* The stream past an obstacle; its frequency goes to *found. What goes to files is begun when there is a flow. */
static bool stream(const shape *s, const options *o, double most, double *found) {
    bool written = true;
    plot_file plot = {.path = o->plot};
    flow *f = make_flow(s, o, SPEED * height_of(s) / o->reynolds, false, most);
    if (!f) return false;
    flow_results r; /* a context that cannot have it in the layout says so now */
    bool good = flow_measure(f, &r) || fails();
    good = good && begin_frames(o->frames) && plot_file_begin(&plot);
    if (good) {
        (void)printf("%" PRId64 " x %" PRId64
                     " sites, %s, on %s; Re %g, the obstacle takes %.3g %% of the width\n",
                     s->columns, s->rows, o->layout, ha_context_name(ha_context_find(o->context)),
                     o->reynolds, 100 * height_of(s) / (double)s->rows);
        good = run(f, s, o, most);
    }
    if (good) {
        r = flow_samples(f);
        *found = judge_forces(&r, s, 2 * PAIRS * SPEED / height_of(s), plot.drawing, &written);
        good = written || complain("%s: %s", o->plot, strerror(errno));
    }
    flow_free(f);
    const ha_error error = ha_take_error();
    good = good && (error.status == HA_OK || complain("%s", error.text));
    return plot_file_end(&plot, good);
}

/* ---- what is known ------------------------------------------------------------------------------- */

/* The profile in the last quarter of a channel, against the parabola of as much fluid. */
static double profile_error(const flow_results *r, const shape *s) {
    const int64_t column = s->columns * 3 / 4, width = s->rows - 4;
    double all = 0, wrong = 0, right = 0;
    HA_READING(x, r->east, ha_host()) {
        for (int64_t j = 0; j < width; j++) all += (double)HA_AT(x.span, j + 2, column);
        for (int64_t j = 0; j < width; j++) {
            const double y = ((double)j + 0.5) / (double)width;
            const double parabola = 6 * all / (double)width * y * (1 - y);
            const double by = (double)HA_AT(x.span, j + 2, column) - parabola;
            wrong += by * by, right += parabola * parabola;
        }
    }
    return right > 0 ? sqrt(wrong / right) : NAN;
}

/* How fast pressure falls in the middle third of a channel, by least squares, against what the friction at the walls
 * takes from the fluid: 12 viscosity x momentum / width^2. To pressure, a third of the density, is added what momentum
 * the fluid carries on: that grows downstream, where there is less pressure, and so the fluid is thinner and faster. */
static double gradient_error(const flow_results *r, const shape *s, double viscosity) {
    const int64_t width = s->rows - 4, first = s->columns / 3, last = s->columns - first;
    double fall = 0, squares = 0, momentum = 0;
    HA_READING(density, r->density, ha_host()) HA_READING(x, r->east, ha_host()) {
        for (int64_t j = 2; j < width + 2; j++)
            for (int64_t i = first; i < last; i++) {
                const double mass = (double)HA_AT(density.span, j, i);
                const double speed = (double)HA_AT(x.span, j, i);
                const double from_middle = (double)i - (double)(first + last - 1) / 2;
                fall -= from_middle * (mass / 3 + mass * speed * speed);
                squares += from_middle * from_middle;
                momentum += mass * speed / (double)(width * (last - first));
            }
    }
    const double known = 12 * viscosity * momentum / (double)(width * width);
    return momentum > 0 ? fabs(fall / squares / known - 1) : NAN;
}

static bool judge_channel(const flow_results *r, const shape *s, double viscosity) {
    const double profile = profile_error(r, s), gradient = gradient_error(r, s, viscosity);
    (void)printf("poiseuille: L2 error %.3f %% (at most 1 %%), pressure gradient within %.3f %% of "
                 "12 nu rho U / W^2 (at most 3 %%)\n",
                 100 * profile, 100 * gradient);
    return (profile < 0.01 || complain("the profile is no parabola")) &&
           (gradient < 0.03 || complain("pressure does not fall as the viscosity makes it"));
}

/* What comes in has the same speed everywhere, and becomes a parabola on its way. */
static bool check_poiseuille(const options *o) {
    enum { WIDTH = 24, LENGTH = 96, STEPS = 2000 };
    const double viscosity = 0.1;
    shape s = {0};
    flow_results r;
    bool good = obstacle_none(&s, WIDTH + 4, LENGTH) || complain("no memory");
    for (int64_t i = 0; i < LENGTH && good; i++)
        s.mask[LENGTH + i] = s.mask[(WIDTH + 2) * LENGTH + i] = 1;
    flow *f = good ? make_flow(&s, o, viscosity, true, 1) : NULL;
    good = f && ((flow_steps(f, STEPS / 2) && flow_measure(f, &r) && flow_wait(f)) || fails());
    good = good && judge_channel(&r, &s, viscosity);
    if (f) flow_free(f);
    obstacle_free(&s);
    return good;
}

static bool check_strouhal(const options *o) {
    options cylinder = *o;
    shape s = {0};
    double found = 0;
    cylinder.reynolds = 100;
    bool good = obstacle_cylinder(&s, 16, 16, 22) || complain("no memory");
    good = good && stream(&s, &cylinder, 130, &found);
    obstacle_free(&s);
    if (good) (void)printf("strouhal: %.4f (0.165 within 0.01)\n", found);
    return good && (fabs(found - 0.165) <= 0.01 || complain("eddies come at another frequency"));
}

/* ---- the program --------------------------------------------------------------------------------- */

static bool show(const options *o) {
    char error[OBSTACLE_ERROR_BYTES] = "no memory";
    double found;
    shape s = {0};
    if (!(o->obstacle ? obstacle_picture(&s, o->obstacle, o->sites, 8, 14, error)
                      : obstacle_cylinder(&s, o->sites, 8, 14))) {
        obstacle_free(&s);
        return complain("%s: %s", o->obstacle ? o->obstacle : "cylinder", error);
    }
    const bool good = stream(&s, o, o->time, &found);
    obstacle_free(&s);
    return good;
}

int main(int argc, char **argv) {
    options o;
    (void)signal(SIGXFSZ, SIG_IGN); /* what is too long for a file is an error of writing it */
    const int status = options_read(&o, argc, argv);
    if (status >= 0) return status;
    if (!o.check) return show(&o) ? 0 : 1;
    return (o.check[0] == 'p' ? check_poiseuille(&o) : check_strouhal(&o)) ? 0 : 1;
}
