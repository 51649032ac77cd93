/* The seven-point stencil by hand, the best we know for each layout. Extents are {planes, rows,
 * cells of a row}; the cells at the faces stay as they are. */
#ifndef BENCH_STENCIL_HAND_H
#define BENCH_STENCIL_HAND_H

#include "../loops.h"
#include "cell.h"

LOOP void hand_stencil_soa(float *next, const float *now, const float *factor, const ptrdiff_t *n) {
    const ptrdiff_t rows = n[1], length = n[2], plane = rows * length;
    for (ptrdiff_t z = 1; z < n[0] - 1; z++)
        for (ptrdiff_t y = 1; y < rows - 1; y++) {
            const ptrdiff_t row = z * plane + y * length;
            INDEPENDENT for (ptrdiff_t i = row + 1; i < row + length - 1; i++) {
                DIFFUSE(next[i], now[i], factor[i], now[i - 1], now[i + 1], now[i - length],
                        now[i + length], now[i - plane], now[i + plane]);
            }
        }
}

LOOP void hand_stencil_aos(cell *all, const ptrdiff_t *n) {
    const ptrdiff_t rows = n[1], length = n[2], plane = rows * length;
    for (ptrdiff_t z = 1; z < n[0] - 1; z++)
        for (ptrdiff_t y = 1; y < rows - 1; y++) {
            cell *row = all + z * plane + y * length;
            INDEPENDENT for (ptrdiff_t x = 1; x < length - 1; x++) {
                cell *c = row + x;
                DIFFUSE(c->next, c->now, c->factor, c[-1].now, c[1].now, c[-length].now,
                        c[length].now, c[-plane].now, c[plane].now);
            }
        }
}

/* ---- blocks of 16 cells of one row; the last block of a row need not be full ---------------- */

enum { LANES = 16 };

typedef struct block16 {
    float now[LANES], next[LANES], factor[LANES];
} block16;

#define DIFFUSE_LANE(b, l, west, east)                                                             \
    DIFFUSE((b)->next[l], (b)->now[l], (b)->factor[l], west, east, (b)[-row].now[l],               \
            (b)[row].now[l], (b)[-plane].now[l], (b)[plane].now[l])
#define DIFFUSE_INSIDE(b, l) DIFFUSE_LANE(b, l, (b)->now[(l)-1], (b)->now[(l) + 1])

/* The neighbours of all lanes but the first and the last are in the block itself: those two are
 * done apart, the others are a plain loop. `row` and `plane` count blocks. */
LOOP void hand_stencil_aosoa16(block16 *all, const ptrdiff_t *n) {
    const ptrdiff_t row = (n[2] + LANES - 1) / LANES, plane = n[1] * row;
    const ptrdiff_t last = (n[2] - 2) / LANES; /* the block of the last cell inside */
    const int rest = (int)((n[2] - 2) % LANES + 1);
    for (ptrdiff_t z = 1; z < n[0] - 1; z++)
        for (ptrdiff_t y = 1; y < n[1] - 1; y++) {
            block16 *b = all + z * plane + y * row;
            INDEPENDENT for (int l = 1; l < LANES - 1; l++) DIFFUSE_INSIDE(b, l);
            DIFFUSE_LANE(b, LANES - 1, b->now[LANES - 2], b[1].now[0]);
            b++;
            BLOCKWISE for (ptrdiff_t k = 1; k < last; k++, b++) {
                DIFFUSE_LANE(b, 0, b[-1].now[LANES - 1], b->now[1]);
                WHOLE for (int l = 1; l < LANES - 1; l++) DIFFUSE_INSIDE(b, l);
                DIFFUSE_LANE(b, LANES - 1, b->now[LANES - 2], b[1].now[0]);
            }
            DIFFUSE_LANE(b, 0, b[-1].now[LANES - 1], b->now[1]);
            INDEPENDENT for (int l = 1; l < rest && l < LANES - 1; l++) DIFFUSE_INSIDE(b, l);
            if (rest == LANES) DIFFUSE_LANE(b, LANES - 1, b->now[LANES - 2], b[1].now[0]);
        }
}

#endif
