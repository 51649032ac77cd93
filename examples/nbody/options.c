/* The options, and what is said of wrong ones. */
#include "options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char program_name[] = "nbody";

static int usage(int status) {
    (void)fputs(
        "Usage: nbody [--layout LAYOUT] [--years T] [--step DAYS] [--device CTX] [--check]\n"
        "       nbody --cluster N [--seed S] [--time T] [--step DT] [--layout LAYOUT] "
        "[--device CTX] [--check]\n"
        "The solar system from noon of 2000-01-01 on, or a cluster of N stars.\n"
        "\n"
        "  --layout LAYOUT  how the bodies lie in memory: aos, soa (the default; with a device "
        "aos), aosoa(16), ...\n"
        "                   or count(aos), heatmap(aos): accesses in the first step are counted\n"
        "  --counts FILE    they are written to FILE, for harray-layout --counts\n"
        "  --device CTX     where the loops run: host, sim:0, ...\n"
        "  --device-layout LAYOUT  how the bodies lie there: soa if not said\n"
        "  --advise         times a step in several layouts, and does nothing else\n"
        "  --check          exit status 1 when energy, Earth's year or the month are wrong, "
        "or more was moved\n"
        "                   than has to be\n",
        status ? stderr : stdout);
    return status;
}

/* A number within bounds, else NaN and a line of complaint. */
static double number(const char *option, const char *text, double least, double most) {
    char *end;
    const double value = strtod(text, &end);
    if (end != text && *end == 0 && value >= least && value <= most) return value;
    (void)complain("%s wants a number from %g to %g, not '%s'", option, least, most, text);
    return NAN;
}

static bool set_option(options *o, const char *option, const char *value) {
    double x = 0;
    if (strcmp(option, "--layout") == 0)
        o->layout = value;
    else if (strcmp(option, "--counts") == 0)
        o->counts = value;
    else if (strcmp(option, "--device") == 0)
        o->device = value;
    else if (strcmp(option, "--device-layout") == 0)
        o->device_layout = value;
    else if (strcmp(option, "--cluster") == 0)
        o->cluster = isnan(x = floor(number(option, value, 2, 1e9))) ? 0 : (int64_t)x;
    else if (strcmp(option, "--seed") == 0)
        o->seed = isnan(x = number(option, value, 0, 1e15)) ? 0 : (uint64_t)x;
    else if (strcmp(option, "--time") == 0)
        o->time = x = number(option, value, 1e-6, 1e9);
    else if (strcmp(option, "--years") == 0)
        o->time = 365.25 * (x = number(option, value, 0.001, 1e6));
    else if (strcmp(option, "--step") == 0)
        o->step = x = number(option, value, 1e-9, 1e6);
    else
        return complain("there is no option %s; see nbody --help", option);
    return !isnan(x);
}

int options_read(options *o, int argc, char **argv) {
    *o = (options){.seed = 1};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) return usage(0);
        if (strcmp(argv[i], "--check") == 0) {
            o->check = true;
        } else if (strcmp(argv[i], "--advise") == 0) {
            o->advise = true;
        } else if (i + 1 == argc) {
            return usage(2);
        } else {
            if (!set_option(o, argv[i], argv[i + 1])) return 2;
            i++;
        }
    }
    if (o->time == 0) o->time = o->cluster ? 1 : 3652.5;
    if (o->step == 0) o->step = o->cluster ? 1.0 / 64 : 0.125;
    if (!o->layout) o->layout = o->device ? "aos" : "soa";
    if (!o->device) o->device = "host";
    if (!o->device_layout) o->device_layout = "soa";
    return -1;
}
