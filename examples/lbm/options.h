/* What the program is asked to do. */
#ifndef LBM_OPTIONS_H
#define LBM_OPTIONS_H

#include "../complain.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct options {
    const char *obstacle, *layout, *context, *frames, *plot, *check; /* NULL: none, or as it fits */
    double reynolds, time;
    int64_t sites; /* rows of the obstacle */
    bool quiet, coarse;
} options;

/* Negative: run; else the exit status to end with: 0 after --help, 2 for what is no option, which has been
 * said. */
int options_read(options *o, int argc, char **argv);

#endif
