/* The options, and what is said of wrong ones. */
#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char program_name[] = "outofcore";

static int help(void) {
    (void)puts(
        "Usage: outofcore [OPTION]...\n"
        "Waves in a cube that is larger than what the device may have of its memory.\n"
        "\n"
        "  --device CTX   where it is computed: sim:0 (the default), opencl:0, cuda:0, host, best\n"
        "  --n N          sites along an edge, 48 to 4096; default 128\n"
        "  --steps N      2 to 1000000; default 20\n"
        "  --budget B     bytes, or a number with K, M or G; default: a quarter of what there is\n"
        "  --slabs N      of two planes and 64 KiB at least; default 32, if there are so many\n"
        "  --no-hints     nothing is fetched ahead, sent home early, or said to be done with\n"
        "  --quiet        no line that tells how far it is\n"
        "  --help         this\n"
        "\n"
        "The exit status is 0; 1 on failure, or if the result is not that of the same steps "
        "without\n"
        "a budget, bit for bit; 2 on wrong usage.");
    return 0;
}

/* A whole number within bounds, with K, M or G behind it if it is a size; else 0 and a line of complaint. */
static int64_t number(const char *option, const char *text, bool is_size, int64_t least,
                      int64_t most) {
    char *end;
    long long value = strtoll(text, &end, 10);
    const char *unit = is_size && *end ? strchr("KMG", *end) : NULL;
    if (end != text && unit) {
        const int shift = *unit == 'K' ? 10 : *unit == 'M' ? 20 : 30;
        value = value > 0 && value <= most >> shift ? value << shift : 0;
        end++;
    }
    if (end != text && *end == 0 && value >= least && value <= most) return value;
    (void)complain("%s wants a number from %" PRId64 " to %" PRId64 ", not '%s'", option, least,
                   most, text);
    return 0;
}

static bool set_option(options *o, const char *option, const char *value) {
    if (strcmp(option, "--n") == 0) return (o->n = number(option, value, false, 48, 4096)) > 0;
    if (strcmp(option, "--steps") == 0)
        return (o->steps = number(option, value, false, 2, 1000000)) > 0;
    if (strcmp(option, "--slabs") == 0)
        return (o->slabs = number(option, value, false, 2, 2048)) > 0;
    if (strcmp(option, "--budget") == 0)
        return (o->budget = number(option, value, true, 1, INT64_C(1) << 50)) > 0;
    if (strcmp(option, "--device") != 0)
        return complain("there is no option %s; see outofcore --help", option);
    o->device = value;
    return true;
}

/* Slabs are two planes at least, and of a size that may give way (harray/memory.h). */
static int64_t most_slabs(int64_t n) {
    const int64_t plane = n * n * (int64_t)sizeof(double), least = (64 << 10) + plane - 1;
    return least / plane > 2 ? n / (least / plane) : n / 2;
}

int options_read(options *o, int argc, char **argv) {
    *o = (options){.device = "sim:0", .n = 128, .steps = 20, .hints = true};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) return help();
        if (strcmp(argv[i], "--quiet") == 0) {
            o->quiet = true;
        } else if (strcmp(argv[i], "--no-hints") == 0) {
            o->hints = false;
        } else if (i + 1 == argc) {
            (void)complain("%s: there is no such option, or it wants a value; see outofcore --help",
                           argv[i]);
            return 2;
        } else {
            if (!set_option(o, argv[i], argv[i + 1])) return 2;
            i++;
        }
    }
    const int64_t most = most_slabs(o->n);
    if (o->slabs == 0) o->slabs = most < 32 ? most : 32;
    if (o->slabs <= most) return -1;
    (void)complain("--slabs %" PRId64 ": of a cube of %" PRId64 " planes there are %" PRId64
                   " at most",
                   o->slabs, o->n, most);
    return 2;
}
