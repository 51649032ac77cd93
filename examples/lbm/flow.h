/* A flow: sites, what has been measured, and where it is computed. */
#ifndef LBM_FLOW_H
#define LBM_FLOW_H

#include "harray_kernels.h"

#include <stdbool.h>

#define SPEED 0.1 /* of the stream, in sites per step; that of sound is 0.577 */

/* Solid sites: mask[row * columns + column] != 0. */
typedef struct shape {
    int64_t rows, columns;
    ha_region box;                /* around the obstacle */
    unsigned char *mask, *colour; /* red, green and blue, for pictures */
} shape;

typedef struct flow flow;

typedef struct setting {
    ha_context *where;
    const char *layout; /* of the sites there */
    double viscosity;
    bool fixed_end;  /* the last column keeps its speed, too; else what comes there leaves */
    int64_t samples; /* of forces: at most */
} setting;

/* NULL: ha_take_error(). */
flow *flow_new(const shape *s, const setting *how);
void flow_free(flow *f);

/* Two steps each; on a device they are enqueued. */
bool flow_steps(flow *f, int64_t pairs);

/* Until all is done that has been enqueued. */
bool flow_wait(flow *f);

/* The force on the obstacle now becomes the next sample; nobody waits for it. */
bool flow_sample(flow *f);

/* Arrays of the flow's, with the density and the velocity of each site now, and the samples of forces. */
typedef struct flow_results {
    array_float_2 density, east, north;
    harray_float drag, lift;
    int64_t samples;
} flow_results;
bool flow_measure(flow *f, flow_results *r); /* both */
flow_results flow_samples(const flow *f);    /* the samples alone */

#endif
