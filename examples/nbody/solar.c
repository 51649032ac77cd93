/* The Sun, the planets, the Moon and Pluto at the epoch J2000.0 (JD 2451545.0, noon of 2000-01-01
 * TT).
 *
 * Planets: E. M. Standish, "Keplerian Elements for Approximate Positions of the Major Planets" (JPL
 * Solar System Dynamics, table 1, for the years 1800 to 2050): heliocentric, mean ecliptic and
 * equinox of J2000. Earth's are those of its common centre of mass with the Moon. They are good to
 * some tens of seconds of arc, for Jupiter and Saturn some minutes. Moon: the greatest terms of the
 * lunar theory ELP-2000/82 as J. Meeus gives them (Astronomical Algorithms, chapter 47),
 * geocentric, ecliptic; the velocity is what they make of it within an hour. Masses: reciprocals in
 * solar masses, and Earth : Moon, as in JPL's DE405. The gravitational constant is that of Gauss,
 * 0.01720209895^2 au^3 / day^2 / solar mass.
 *
 * From elements to place and velocity: with longitudes of the perihelion w and of the node N, mean
 * longitude L and inclination I, the mean anomaly is M = L - w; the eccentric anomaly E solves
 * Kepler's equation E - e sin E = M; in the plane of the orbit, from the perihelion, the place is
 *     (a (cos E - e), a sqrt(1 - e^2) sin E),
 * its derivative has dE/dt = sqrt(G (M0 + m) / a^3) / (1 - e cos E), and both are turned by w - N
 * around z, I around x, N around z. */
#include "body.h"

#include <math.h>

#define RADIANS (3.14159265358979323846 / 180)
#define GAUSS (0.01720209895 * 0.01720209895)
#define ASTRONOMICAL_UNIT 149597870700.0 /* metres */
#define EARTH_TO_MOON 81.30056

/* Angles in degrees. */
typedef struct elements {
    double a, e, inclination, longitude, perihelion, node;
    double reciprocal; /* solar masses / mass */
} elements;

static const elements planets[PLANETS] = {
    [MERCURY] = {0.38709927, 0.20563593, 7.00497902, 252.25032350, 77.45779628, 48.33076593,
                 6023600},
    [VENUS] = {0.72333566, 0.00677672, 3.39467605, 181.97909950, 131.60246718, 76.67984255,
               408523.71},
    [EARTH] = {1.00000261, 0.01671123, -0.00001531, 100.46457166, 102.93768193, 0,
               328900.56}, /* with the Moon */
    [MARS] = {1.52371034, 0.09339410, 1.84969142, -4.55343205, -23.94362959, 49.55953891, 3098708},
    [JUPITER] = {5.20288700, 0.04838624, 1.30439695, 34.39644051, 14.72847983, 100.47390909,
                 1047.3486},
    [SATURN] = {9.53667594, 0.05386179, 2.48599187, 49.95424423, 92.59887831, 113.66242448,
                3497.898},
    [URANUS] = {19.18916464, 0.04725744, 0.77263783, 313.23810451, 170.95427630, 74.01692503,
                22902.98},
    [NEPTUNE] = {30.06992276, 0.00859048, 1.77004347, -55.12002969, 44.96476227, 131.78422574,
                 19412.24},
    [PLUTO] = {39.48211675, 0.24882730, 17.14001206, 238.92903833, 224.06891629, 110.30393684,
               1.352e8}};

/* What the Moon's place swings by: multiples of the elongation D, the Sun's mean anomaly S, the
 * Moon's M and its distance from the node F, and how far, in longitude and in distance, or in
 * latitude. */
typedef struct swing {
    int d, s, m, f;
    double angle, distance; /* 1e-6 degrees, metres */
} swing;

static const swing along[] = {{0, 0, 1, 0, 6288774, -20905355}, {2, 0, -1, 0, 1274027, -3699111},
                              {2, 0, 0, 0, 658314, -2955968},   {0, 0, 2, 0, 213618, -569925},
                              {0, 1, 0, 0, -185116, 48888},     {0, 0, 0, 2, -114332, -3149},
                              {2, 0, -2, 0, 58793, 246158},     {2, -1, -1, 0, 57066, -152138},
                              {2, 0, 1, 0, 53322, -170733},     {2, -1, 0, 0, 45758, -204586},
                              {0, 1, -1, 0, -40923, -129620},   {1, 0, 0, 0, -34720, 108743},
                              {0, 1, 1, 0, -30383, 104755}};
static const swing across[] = {{0, 0, 0, 1, 5128122, 0}, {0, 0, 1, 1, 280602, 0},
                               {0, 0, 1, -1, 277693, 0}, {2, 0, 0, -1, 173237, 0},
                               {2, 0, -1, 1, 55413, 0},  {2, 0, -1, -1, 46271, 0},
                               {2, 0, 0, 1, 32573, 0},   {0, 0, 2, 1, 17198, 0}};

/* Newton's way: for the eccentricities here a few steps get to the last digit. */
static double eccentric_anomaly(double mean, double e) {
    double anomaly = mean + e * sin(mean);
    for (int k = 0; k < 10; k++)
        anomaly -= (anomaly - e * sin(anomaly) - mean) / (1 - e * cos(anomaly));
    return anomaly;
}

/* From the plane of the orbit to the ecliptic. */
static vector turned(const elements *o, double x, double y) {
    const double w = (o->perihelion - o->node) * RADIANS, n = o->node * RADIANS;
    const double i = o->inclination * RADIANS;
    const double u = cos(w) * x - sin(w) * y, v = sin(w) * x + cos(w) * y;
    return (vector){cos(n) * u - sin(n) * cos(i) * v, sin(n) * u + cos(n) * cos(i) * v, sin(i) * v};
}

/* Relative to what it goes around; `both` is the mass of the two. */
static body on_orbit(const elements *o, double both) {
    const double mean = remainder(o->longitude - o->perihelion, 360) * RADIANS;
    const double anomaly = eccentric_anomaly(mean, o->e);
    const double c = cos(anomaly), s = sin(anomaly), flat = sqrt(1 - o->e * o->e);
    const double speed = sqrt(both / (o->a * o->a * o->a)) / (1 - o->e * c);
    return (body){turned(o, o->a * (c - o->e), o->a * flat * s),
                  turned(o, -o->a * s * speed, o->a * flat * c * speed), GAUSS / o->reciprocal};
}

static vector sum(vector a, double factor, vector b) {
    return (vector){a.x + factor * b.x, a.y + factor * b.y, a.z + factor * b.z};
}

void body_centre(body *all, int64_t n) {
    body centre = {0};
    for (int64_t i = 0; i < n; i++) {
        centre.mass += all[i].mass;
        centre.pos = sum(centre.pos, all[i].mass, all[i].pos);
        centre.vel = sum(centre.vel, all[i].mass, all[i].vel);
    }
    for (int64_t i = 0; i < n; i++) {
        all[i].pos = sum(all[i].pos, -1 / centre.mass, centre.pos);
        all[i].vel = sum(all[i].vel, -1 / centre.mass, centre.vel);
    }
}

/* From Earth, `days` after the epoch. */
static vector moon_place(double days) {
    const double t = days / 36525;
    const double d = 297.8501921 + 445267.1114034 * t, f = 93.2720950 + 483202.0175233 * t;
    const double s = 357.5291092 + 35999.0502909 * t, m = 134.9633964 + 477198.8675055 * t;
    double longitude = 218.3164477 + 481267.88123421 * t, latitude = 0, distance = 385000560;
    for (size_t k = 0; k < sizeof along / sizeof along[0]; k++) {
        const swing *w = &along[k];
        const double phase = (w->d * d + w->s * s + w->m * m + w->f * f) * RADIANS;
        longitude += w->angle * 1e-6 * sin(phase);
        distance += w->distance * cos(phase);
    }
    for (size_t k = 0; k < sizeof across / sizeof across[0]; k++) {
        const swing *w = &across[k];
        latitude += w->angle * 1e-6 * sin((w->d * d + w->s * s + w->m * m + w->f * f) * RADIANS);
    }
    const double l = longitude * RADIANS, b = latitude * RADIANS, r = distance / ASTRONOMICAL_UNIT;
    return (vector){r * cos(b) * cos(l), r * cos(b) * sin(l), r * sin(b)};
}

/* Earth and Moon on both sides of their common centre, which is where the table has Earth. */
static void separate(body *earth, body *moon) {
    const double hour = 1.0 / 24;
    const vector to = moon_place(0), after = moon_place(hour), before = moon_place(-hour);
    const vector speed = sum((vector){0}, 1 / (2 * hour), sum(after, -1, before));
    const double part = 1 / (1 + EARTH_TO_MOON);
    moon->mass = earth->mass * part;
    moon->pos = sum(earth->pos, 1 - part, to);
    moon->vel = sum(earth->vel, 1 - part, speed);
    earth->mass -= moon->mass;
    earth->pos = sum(earth->pos, -part, to);
    earth->vel = sum(earth->vel, -part, speed);
}

void solar_system(body all[PLANETS]) {
    all[SUN] = (body){.mass = GAUSS};
    for (int i = MERCURY; i < PLANETS; i++) {
        if (i != MOON) all[i] = on_orbit(&planets[i], GAUSS * (1 + 1 / planets[i].reciprocal));
    }
    separate(&all[EARTH], &all[MOON]);
    body_centre(all, PLANETS);
}
