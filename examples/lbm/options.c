/* The options, and what is said of wrong ones. */
#include "options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char program_name[] = "lbm";

static int help(void) {
    (void)puts(
        "Usage: lbm [OPTION]... [OBSTACLE.png]\n"
        "Flow past the opaque part of a picture, or past a cylinder.\n"
        "\n"
        "  --reynolds RE  1 to 1000; default 150. Speed * the obstacle's height / viscosity\n"
        "  --sites N      sites over the obstacle's height, 8 to 512; default 32\n"
        "  --coarse       try more than ten times the sites as RE, though the flow may diverge\n"
        "  --time T       0.1 to 10000; default 60. How often the stream goes on by the obstacle's "
        "height\n"
        "  --context CTX  where it is computed: host (the default), sim, opencl:0, cuda:0, best, "
        "...\n"
        "  --layout L     of the sites there: soa (the default), aos, aosoa(16), ...\n"
        "  --frames DIR   pictures, two for each unit of time: DIR/frame-0000.png, ...\n"
        "  --plot FILE    drag and lift over time, as SVG\n"
        "  --quiet        no line that tells how far it is\n"
        "  --check poiseuille  flow between walls: exit status 1 if it is no parabola, or pressure "
        "falls\n"
        "                      otherwise than the viscosity makes it\n"
        "  --check strouhal    a cylinder at Re 100: exit status 1 if it sheds eddies at another "
        "frequency\n"
        "                      than that known\n"
        "  --help         this\n"
        "\n"
        "The exit status is 0, 1 on failure, 2 on wrong usage.");
    return 0;
}

/* A number within bounds, else 0 and a line of complaint. */
static double number(const char *option, const char *text, double least, double most) {
    char *end;
    const double value = strtod(text, &end);
    if (end != text && *end == 0 && value >= least && value <= most) return value;
    (void)complain("%s wants a number from %g to %g, not '%s'", option, least, most, text);
    return 0;
}

static bool set_number(options *o, const char *option, const char *value) {
    if (strcmp(option, "--reynolds") == 0)
        return (o->reynolds = number(option, value, 1, 1000)) > 0;
    if (strcmp(option, "--time") == 0) return (o->time = number(option, value, 0.1, 10000)) > 0;
    return (o->sites = (int64_t)floor(number(option, value, 8, 512))) > 0;
}

/* value: NULL if the option is the last word. */
static bool set_option(options *o, const char *option, const char *value) {
    const bool is_number = strcmp(option, "--reynolds") == 0 || strcmp(option, "--time") == 0 ||
                           strcmp(option, "--sites") == 0;
    const char **text = strcmp(option, "--context") == 0  ? &o->context
                        : strcmp(option, "--layout") == 0 ? &o->layout
                        : strcmp(option, "--frames") == 0 ? &o->frames
                        : strcmp(option, "--plot") == 0   ? &o->plot
                        : strcmp(option, "--check") == 0  ? &o->check
                                                          : NULL;
    if (!text && !is_number) return complain("there is no option %s; see lbm --help", option);
    if (!value) return complain("%s wants a value; see lbm --help", option);
    if (is_number) return set_number(o, option, value);
    *text = value;
    if (text != &o->check || strcmp(value, "poiseuille") == 0 || strcmp(value, "strouhal") == 0)
        return true;
    return complain("--check wants poiseuille or strouhal, not '%s'", value);
}

int options_read(options *o, int argc, char **argv) {
    *o = (options){.layout = "soa", .context = "host", .reynolds = 150, .time = 60, .sites = 32};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) return help();
        if (strcmp(argv[i], "--quiet") == 0) {
            o->quiet = true;
        } else if (strcmp(argv[i], "--coarse") == 0) {
            o->coarse = true;
        } else if (argv[i][0] != '-') {
            if (o->obstacle) return complain("one picture is enough, not '%s' as well", argv[i]), 2;
            o->obstacle = argv[i];
        } else {
            if (!set_option(o, argv[i], argv[i + 1])) return 2; /* behind the last one is NULL */
            i++;
        }
    }
    if (o->check && (o->obstacle || o->frames || o->plot))
        return complain("--check has a flow of its own: no picture, --frames or --plot"), 2;
    if (o->coarse || o->reynolds <= 10 * (double)o->sites) return -1;
    (void)complain("Re %g needs --sites %.0f at least, or the lattice is too coarse for it; "
                   "--coarse tries",
                   o->reynolds, ceil(o->reynolds / 10));
    return 2;
}
