/* The record of the lattice benchmark: fluid as 19 numbers a site, of particles that move to one of
 * 18 neighbours or rest (D3Q19), and what one step does to a site, whoever wrote the loop. */
#ifndef BENCH_SITE_H
#define BENCH_SITE_H

enum { SPEEDS = 19 };

typedef struct site {
    float f[SPEEDS];
} site;

#define REST (1.0f / 3)
#define STRAIGHT (1.0f / 18)
#define OBLIQUE (1.0f / 36)

/* X(number, along x, along y, along z, weight): where the particles of each number go. */
#define DIRECTIONS(X)                                                                              \
    X(0, NONE, NONE, NONE, REST)                                                                   \
    X(1, PLUS, NONE, NONE, STRAIGHT)                                                               \
    X(2, MINUS, NONE, NONE, STRAIGHT)                                                              \
    X(3, NONE, PLUS, NONE, STRAIGHT)                                                               \
    X(4, NONE, MINUS, NONE, STRAIGHT)                                                              \
    X(5, NONE, NONE, PLUS, STRAIGHT)                                                               \
    X(6, NONE, NONE, MINUS, STRAIGHT)                                                              \
    X(7, PLUS, PLUS, NONE, OBLIQUE)                                                                \
    X(8, PLUS, MINUS, NONE, OBLIQUE)                                                               \
    X(9, MINUS, PLUS, NONE, OBLIQUE)                                                               \
    X(10, MINUS, MINUS, NONE, OBLIQUE)                                                             \
    X(11, PLUS, NONE, PLUS, OBLIQUE)                                                               \
    X(12, PLUS, NONE, MINUS, OBLIQUE)                                                              \
    X(13, MINUS, NONE, PLUS, OBLIQUE)                                                              \
    X(14, MINUS, NONE, MINUS, OBLIQUE)                                                             \
    X(15, NONE, PLUS, PLUS, OBLIQUE)                                                               \
    X(16, NONE, PLUS, MINUS, OBLIQUE)                                                              \
    X(17, NONE, MINUS, PLUS, OBLIQUE)                                                              \
    X(18, NONE, MINUS, MINUS, OBLIQUE)

#define STEP_NONE 0
#define STEP_PLUS 1
#define STEP_MINUS (-1)
#define ADD_NONE(value)
#define ADD_PLUS(value) +value
#define ADD_MINUS(value) -value
#define ADD_ALL(number, x, y, z, weight) +f##number
#define ADD_X(number, x, y, z, weight) ADD_##x(f##number)
#define ADD_Y(number, x, y, z, weight) ADD_##y(f##number)
#define ADD_Z(number, x, y, z, weight) ADD_##z(f##number)

/* One step at one site: PULL(number, x, y, z, weight) declares f0 to f18, what comes from the site
 * that lies one step back, and PUT(number, x, y, z, weight) stores RELAXED(the same): after the
 * collision, in which they come nearer to the equilibrium of their density and velocity, at this
 * rate. Some 250 operations; none depends on what the step makes of another site. */
#define COLLIDE(rate, PULL, PUT)                                                                   \
    do {                                                                                           \
        DIRECTIONS(PULL)                                                                           \
        const float density = 0 DIRECTIONS(ADD_ALL), share = 1 / density;                          \
        const float ux = (0 DIRECTIONS(ADD_X)) * share;                                            \
        const float uy = (0 DIRECTIONS(ADD_Y)) * share;                                            \
        const float uz = (0 DIRECTIONS(ADD_Z)) * share;                                            \
        const float still = 1 - 1.5f * (ux * ux + uy * uy + uz * uz);                              \
        DIRECTIONS(PUT)                                                                            \
    } while (0)
#define RELAXED(rate, number, x, y, z, weight)                                                     \
    (f##number +                                                                                   \
     (rate) * (density * (weight)*EQUILIBRIUM(0 ADD_##x(ux) ADD_##y(uy) ADD_##z(uz)) - f##number))
#define EQUILIBRIUM(along) (still + (along) * (3 + 4.5f * (along)))

#endif
