/* The cube: slabs of planes, at two levels of time, and the order in which they are computed. */
#ifndef OUTOFCORE_CUBE_H
#define OUTOFCORE_CUBE_H

#include "harray_kernels.h"

#include <stdbool.h>

enum { QUEUES = 4 };

typedef struct slab {
    int64_t first, planes;
    array_double_3 level[2];
} slab;

typedef struct cube {
    ha_context *device;
    ha_context *queue[QUEUES]; /* of the device, on which slabs are computed by turns */
    ha_context *fetching;      /* one more, which fetches what comes next; NULL: no hints */
    int64_t ahead;             /* how many slabs before they are computed */
    int64_t n, slabs;
    int64_t steps, samples; /* so far */
    slab *slab;
    array_double_2 wall;  /* a plane of the surface */
    harray_double energy; /* for each sample a number for each slab */
} cube;

/* ahead: 0 for a cube without hints. False, also of what follows: ha_take_error(). What was made is to be freed all
 * the same. */
bool cube_make(cube *c, ha_context *device, int64_t ahead, int64_t n, int64_t slabs,
               int64_t samples);
void cube_free(cube *c);

/* Bytes of the values of a cube. */
int64_t cube_bytes(int64_t n);

/* A step; on a device it is enqueued. If it is asked for, the energy behind it is the next sample. */
bool cube_step(cube *c, bool sample);

/* Waits for all that was enqueued. */
bool cube_finish(const cube *c);

/* Leaves the device: all values are on the host. */
bool cube_leave(const cube *c);

/* The first sample, and how far any other one is from it, as a part of it. */
bool cube_energy(const cube *c, double *first, double *drift);

/* How many values of two cubes differ, of both levels. */
bool cube_compare(const cube *a, const cube *b, int64_t *different);

#endif
