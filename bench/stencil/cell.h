/* The record of the stencil benchmark, and what its loop does to one cell, whoever wrote the
 * loop. */
#ifndef BENCH_CELL_H
#define BENCH_CELL_H

typedef struct cell {
    float now, next, factor;
} cell;

/* Seven points: one explicit step of diffusion. */
#define DIFFUSE(next, now, factor, west, east, south, north, below, above)                         \
    (next) = (now) + (factor) * ((west) + (east) + (south) + (north) + (below) + (above)-6 * (now))

#endif
