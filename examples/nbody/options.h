/* What the program is asked to do. */
#ifndef NBODY_OPTIONS_H
#define NBODY_OPTIONS_H

#include "../complain.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct options {
    const char *layout, *device, *device_layout, *counts; /* NULL: as it fits */
    int64_t cluster;                                      /* stars; 0: the solar system */
    uint64_t seed;
    double time, step; /* 0: as it fits */
    bool check, advise;
} options;

/* Reads them, and fills in what fits. Negative: run; else the exit status to end with: 0 after
 * --help, 2 for what is no option, which has been said. */
int options_read(options *o, int argc, char **argv);

#endif
