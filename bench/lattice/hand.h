/* A step of the lattice by hand, the best we know for each layout: from one lattice to another one,
 * all sites but those at the faces. Extents are {planes, rows, sites of a row}. */
#ifndef BENCH_LATTICE_HAND_H
#define BENCH_LATTICE_HAND_H

#include "../loops.h"
#include "site.h"

/* ---- an array of structs, and an array for each number -------------------------------------- */

#define BACK(x, y, z) (STEP_##x + STEP_##y * row + STEP_##z * plane)

#define PULL_STRUCT(k, x, y, z, weight) const float f##k = from[i - BACK(x, y, z)].f[k];
#define PUT_STRUCT(k, x, y, z, weight) to[i].f[k] = RELAXED(rate, k, x, y, z, weight);

LOOP void hand_lattice_aos(const site *from, site *to, const ptrdiff_t *n, float rate) {
    const ptrdiff_t row = n[2], plane = n[1] * row;
    for (ptrdiff_t z = 1; z < n[0] - 1; z++)
        for (ptrdiff_t y = 1; y < n[1] - 1; y++) {
            const ptrdiff_t first = z * plane + y * row;
            INDEPENDENT for (ptrdiff_t i = first + 1; i < first + row - 1; i++) {
                COLLIDE(rate, PULL_STRUCT, PUT_STRUCT);
            }
        }
}

typedef struct numbers {
    float *f[SPEEDS];
} numbers;

#define PULL_NUMBER(k, x, y, z, weight) const float f##k = from->f[k][i - BACK(x, y, z)];
#define PUT_NUMBER(k, x, y, z, weight) to->f[k][i] = RELAXED(rate, k, x, y, z, weight);

LOOP void hand_lattice_soa(const numbers *from, const numbers *to, const ptrdiff_t *n, float rate) {
    const ptrdiff_t row = n[2], plane = n[1] * row;
    for (ptrdiff_t z = 1; z < n[0] - 1; z++)
        for (ptrdiff_t y = 1; y < n[1] - 1; y++) {
            const ptrdiff_t first = z * plane + y * row;
            INDEPENDENT for (ptrdiff_t i = first + 1; i < first + row - 1; i++) {
                COLLIDE(rate, PULL_NUMBER, PUT_NUMBER);
            }
        }
}

/* ---- blocks of 16 sites of one row; the last block of a row need not be full ---------------- */

enum { LANES = 16 };

typedef struct block16 {
    float f[SPEEDS][LANES];
} block16;

/* From lane l of this block, or its neighbour in the row, which may be in the block before or
 * behind. */
#define PULL_LANE(k, x, y, z, weight)                                                              \
    const float f##k = LANE(from + b - BACK(NONE, y, z), k, l - STEP_##x);
#define LANE_INSIDE(b, k, lane) (b)->f[k][lane]
#define LANE_FIRST(b, k, lane) ((lane) < 0 ? (b)[-1].f[k][LANES - 1] : (b)->f[k][lane])
#define LANE_LAST(b, k, lane) ((lane) == LANES ? (b)[1].f[k][0] : (b)->f[k][lane])
#define PUT_LANE(k, x, y, z, weight) to[b].f[k][l] = RELAXED(rate, k, x, y, z, weight);

/* As with the stencil: the first and the last lane apart. `row` and `plane` count blocks. */
LOOP void hand_lattice_aosoa16(const block16 *from, block16 *to, const ptrdiff_t *n, float rate) {
    const ptrdiff_t row = (n[2] + LANES - 1) / LANES, plane = n[1] * row;
    for (ptrdiff_t z = 1; z < n[0] - 1; z++)
        for (ptrdiff_t y = 1; y < n[1] - 1; y++) {
            const ptrdiff_t first = z * plane + y * row, last = first + (n[2] - 2) / LANES;
            const int rest = (int)((n[2] - 2) % LANES + 1);
            BLOCKWISE for (ptrdiff_t b = first; b <= last; b++) {
                if (b > first) {
                    enum { l = 0 };
#define LANE LANE_FIRST
                    COLLIDE(rate, PULL_LANE, PUT_LANE);
#undef LANE
                }
#define LANE LANE_INSIDE
                if (b < last || rest == LANES) {
                    WHOLE for (int l = 1; l < LANES - 1; l++) COLLIDE(rate, PULL_LANE, PUT_LANE);
                } else {
                    INDEPENDENT for (int l = 1; l < rest; l++) COLLIDE(rate, PULL_LANE, PUT_LANE);
                }
#undef LANE
                if (b < last || rest == LANES) {
                    enum { l = LANES - 1 };
#define LANE LANE_LAST
                    COLLIDE(rate, PULL_LANE, PUT_LANE);
#undef LANE
                }
            }
        }
}

#endif
