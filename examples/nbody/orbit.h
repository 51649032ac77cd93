/* How long a year is: one body around another, seen step by step. */
#ifndef NBODY_ORBIT_H
#define NBODY_ORBIT_H

#include "body.h"

#include <math.h>

#define TURN (2 * 3.14159265358979323846)

/* Of one body around another: the angle since the start, and when the last whole turn ended. */
typedef struct orbit {
    double last, angle, ended;
    int turns;
} orbit;

static void follow(orbit *o, vector place, double time, double dt) {
    const double now = atan2(place.y, place.x);
    if (time > 0) {
        const double by = remainder(now - o->last, TURN);
        o->angle += by;
        if (o->angle >= TURN * (o->turns + 1)) {
            o->turns++;
            o->ended = time - dt * (o->angle - TURN * o->turns) / by;
        }
    }
    o->last = now;
}

static double period(const orbit *o) { return o->turns ? o->ended / o->turns : NAN; }

#endif
