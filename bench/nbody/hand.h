/* The loops of n-body by hand, the best we know for each layout: what the one text is measured
 * against.
 *
 * Blocks are full but for the last one: full ones have a constant number of lanes, and the rest of
 * the bodies a loop of its own. */
#ifndef BENCH_NBODY_HAND_H
#define BENCH_NBODY_HAND_H

#include "../loops.h"
#include "body.h"

/* ---- an array of structs -------------------------------------------------------------------- */

#define KICK_STRUCT(p, q)                                                                          \
    KICK((p).pos.x, (p).pos.y, (p).pos.z, (q).mass, (q).pos.x, (q).pos.y, (q).pos.z, (q).vel.x,    \
         (q).vel.y, (q).vel.z)

LOOP void hand_kick_aos(body *all, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const body from = all[i];
        INDEPENDENT for (ptrdiff_t j = 0; j < n; j++) KICK_STRUCT(from, all[j]);
    }
}

LOOP void hand_drift_aos(body *all, ptrdiff_t n, float dt) {
    INDEPENDENT for (ptrdiff_t j = 0; j < n; j++) {
        DRIFT(dt, all[j].pos.x, all[j].pos.y, all[j].pos.z, all[j].vel.x, all[j].vel.y,
              all[j].vel.z);
    }
}

/* ---- an array for each field ---------------------------------------------------------------- */

typedef struct arrays {
    float *px, *py, *pz, *vx, *vy, *vz, *mass;
} arrays;

LOOP void hand_kick_soa(arrays a, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const float x = a.px[i], y = a.py[i], z = a.pz[i];
        INDEPENDENT for (ptrdiff_t j = 0; j < n; j++) {
            KICK(x, y, z, a.mass[j], a.px[j], a.py[j], a.pz[j], a.vx[j], a.vy[j], a.vz[j]);
        }
    }
}

LOOP void hand_drift_soa(arrays a, ptrdiff_t n, float dt) {
    INDEPENDENT for (ptrdiff_t j = 0; j < n; j++) {
        DRIFT(dt, a.px[j], a.py[j], a.pz[j], a.vx[j], a.vy[j], a.vz[j]);
    }
}

/* ---- blocks of L bodies, in which each field is an array ------------------------------------ */

#define BLOCKS(L)                                                                                  \
    typedef struct block##L {                                                                      \
        float px[L], py[L], pz[L], vx[L], vy[L], vz[L], mass[L];                                   \
    } block##L;                                                                                    \
                                                                                                   \
    LOOP void hand_kick_aosoa##L(block##L *all, ptrdiff_t n) {                                     \
        for (ptrdiff_t i = 0; i < n; i++) {                                                        \
            const block##L *from = &all[i / (L)];                                                  \
            const float x = from->px[i % (L)], y = from->py[i % (L)], z = from->pz[i % (L)];       \
            BLOCKWISE for (ptrdiff_t k = 0; k < n / (L); k++) {                                    \
                block##L *b = &all[k];                                                             \
                WHOLE for (int j = 0; j < (L); j++) KICK_LANE(b, j);                               \
            }                                                                                      \
            block##L *b = &all[n / (L)];                                                           \
            INDEPENDENT for (int j = 0; j < (int)(n % (L)); j++) KICK_LANE(b, j);                  \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    LOOP void hand_drift_aosoa##L(block##L *all, ptrdiff_t n, float dt) {                          \
        BLOCKWISE for (ptrdiff_t k = 0; k < n / (L); k++) {                                        \
            block##L *b = &all[k];                                                                 \
            WHOLE for (int j = 0; j < (L); j++) DRIFT_LANE(b, j);                                  \
        }                                                                                          \
        block##L *b = &all[n / (L)];                                                               \
        INDEPENDENT for (int j = 0; j < (int)(n % (L)); j++) DRIFT_LANE(b, j);                     \
    }
#define KICK_LANE(b, j)                                                                            \
    KICK(x, y, z, b->mass[j], b->px[j], b->py[j], b->pz[j], b->vx[j], b->vy[j], b->vz[j])
#define DRIFT_LANE(b, j) DRIFT(dt, b->px[j], b->py[j], b->pz[j], b->vx[j], b->vy[j], b->vz[j])

BLOCKS(8)
BLOCKS(16)
BLOCKS(32)

#endif
