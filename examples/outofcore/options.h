/* What the program is asked to do. */
#ifndef OUTOFCORE_OPTIONS_H
#define OUTOFCORE_OPTIONS_H

#include "../complain.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct options {
    const char *device;
    int64_t n, steps, slabs; /* of the cube: sites along an edge, planes in so many slabs */
    int64_t budget;          /* bytes; 0: a quarter of what there is */
    bool hints, quiet;
} options;

/* Negative: run; else the exit status to end with: 0 after --help, 2 for what is no option, which has been
 * said. */
int options_read(options *o, int argc, char **argv);

#endif
