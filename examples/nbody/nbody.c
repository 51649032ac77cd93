/* nbody: bodies that pull each other, in any memory layout, on any device.
 *
 *     nbody [--layout LAYOUT] [--years T]                 the solar system from the year 2000 on
 *     nbody --cluster N [--seed S] [--time T] [--layout LAYOUT]
 *     … --step DT                                         days, or the cluster's units
 *     … --device CTX [--device-layout LAYOUT]             where the loops run: sim:0, …
 *     … --layout "count(LAYOUT)" [--counts FILE]          what the first step touches: layout/counts.h
 *     … --advise                                          which layout is best here: layout/advise.h
 *     … --check                                           exit status 1 when physics says otherwise,
 *                                                         or more was moved than has to be
 *
 * LAYOUT is any layout text of layout/mapping.h whose fields lie at regular distances: aos, soa,
 * aosoa(16), ... What to look at: kick() and drift() in sky.h, the kernels. They are written once,
 * know of no layout and of no device, and say which fields they read and write. On the host they are
 * compiled for each kind of layout, on a device for the one that there is. So the bodies are an array
 * of structs on the host and an array for each field on the device, and what moves is what the host
 * looks at.
 *
 * The leapfrog: half a kick, a drift, half a kick. It is symplectic: its energy swings and does not
 * drift away, however long it runs. */
#include "body.h"
#include "options.h"
#include "orbit.h"
#include "sky.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static void step(bodies r, ha_context *where, int64_t n, double dt, double softening) {
    HA_IGNORE(kick(where, HA_TEAMS(TEAM, n), r, dt / 2, softening));
    HA_IGNORE(drift(where, r, dt));
    HA_IGNORE(kick(where, HA_TEAMS(TEAM, n), r, dt / 2, softening));
}

static double energy(bodies r, int64_t n, double softening) {
    HA_USING(v, r, ha_host(), "read") return energy_of(v, n, softening);
    return NAN;
}

/* How fast the centre of all masses moves. */
static double centre_speed(bodies r, int64_t n) {
    body centre = {0};
    HA_USING(v, r, ha_host(), "read vel+mass") for (int64_t i = 0; i < n; i++) {
        const ha_cursor at = sky_at(v, i);
        const double mass = *sky_mass(v, at);
        centre.mass += mass;
        centre.vel.x += mass * *sky_vel_x(v, at);
        centre.vel.y += mass * *sky_vel_y(v, at);
        centre.vel.z += mass * *sky_vel_z(v, at);
    }
    return sqrt(square(centre.vel)) / centre.mass;
}

static vector place(sky v, int64_t i) {
    const ha_cursor at = sky_at(v, i);
    return (vector){*sky_pos_x(v, at), *sky_pos_y(v, at), *sky_pos_z(v, at)};
}

/* Earth's year is the one of its common centre with the Moon, around the Sun. */
static void follow_earth(orbit *year, orbit *month, bodies r, double time, double dt) {
    HA_USING_PART(v, r, ha_host(), "read pos+mass", SUN, MOON + 1) {
        const double moon = *sky_mass(v, sky_at(v, MOON));
        const double part = moon / (moon + *sky_mass(v, sky_at(v, EARTH)));
        const vector apart = less(place(v, MOON), place(v, EARTH));
        const vector from = less(place(v, EARTH), place(v, SUN));
        follow(year, (vector){from.x + part * apart.x, from.y + part * apart.y, 0}, time, dt);
        follow(month, apart, time, dt);
    }
}

/* harray keeps the first error, so that a run of calls can be checked once, at its end. */
static bool all_went_well(void) {
    const ha_error error = ha_take_error();
    return error.status == HA_OK || complain("%s", error.text);
}

/* ---- what layouts are worth ------------------------------------------------------------------ */

typedef struct stepping {
    int64_t n;
    double dt, softening;
} stepping;

static ha_status step_on(const ha_mapped *records, void *user, ha_error *error) {
    const stepping *s = user;
    const bodies r = {.records = ha_records_wrap(records, ha_host(), 0)};
    step(r, ha_host(), s->n, s->dt, s->softening);
    HA_IGNORE(ha_records_unwrap(r.records));
    *error = ha_take_error();
    return error->status;
}

/* Times a step in usual layouts, from these bodies on. */
static bool advise(body *all, int64_t n, double dt, double softening) {
    stepping s = {n, dt, softening};
    void *const blob[] = {all};
    ha_advice advice[HA_ADVISED_LAYOUTS];
    char text[4096];
    ha_error error;
    ha_mapping *aos = ha_mapping_parse(&body_record, "aos", 1, &n, &error);
    const ha_mapped from = {aos, blob};
    const ha_advising how = {.run = step_on, .from = &from, .user = &s};
    const bool good = aos &&
                      ha_layout_advise(&body_record, 1, &n, NULL, 0, &how, advice, &error) == HA_OK;
    ha_mapping_free(aos);
    if (!good) return complain("%s", error.text);
    (void)ha_advice_text(advice, HA_ADVISED_LAYOUTS, text, sizeof text);
    (void)fputs(text, stdout);
    return true;
}

/* What a layout has counted, if that is what it does: into a file, or as a table. */
static bool show_counts(const ha_counts *counts, const char *name) {
    char table[4096];
    if (!name) {
        (void)ha_counts_text(counts, table, sizeof table);
        return !counts || fputs(table, stdout) >= 0;
    }
    const size_t size = (size_t)ha_counts_json(counts, NULL, 0) + 1;
    char *json = counts ? (char *)malloc(size) : NULL;
    FILE *file = json ? fopen(name, "w") : NULL;
    if (json) (void)ha_counts_json(counts, json, size);
    bool good = file && fputs(json, file) >= 0;
    if (file) good &= fclose(file) == 0;
    free(json);
    return good || complain(counts ? "--counts: cannot write %s"
                                   : "--counts %s: the layout counts nothing; count(…) does",
                            name);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Prints a finding, and with --check whether it is within bounds. */
static bool found(const options *o, const char *what, double value, const char *unit, double least,
                  double most) {
    const bool good = value >= least && value <= most;
    (void)printf("%-16s %.8g%s", what, value, unit);
    if (o->check) (void)printf(": %s, expected %.8g to %.8g", good ? "good" : "WRONG", least, most);
    (void)puts("");
    return good || !o->check;
}

/* What has moved between host and device so far. */
typedef struct traffic {
    uint64_t there, back;
} traffic;

static traffic moved(ha_context *device) {
    const ha_memory_usage m = ha_context_memory(device);
    return (traffic){m.bytes_in, m.bytes_out};
}

/* Everything goes there once. Back come the places of the bodies that follow_earth() looks at, after each
 * step; places and velocities of all, when the energy is to be known; the masses, never. */
static bool moved_no_more(const options *o, ha_context *device, traffic start, int64_t n,
                          int64_t steps, int64_t looks) {
    const int64_t follows = o->cluster ? 0 : MOON + 1, one = sizeof(vector);
    int64_t there = n * (2 * one + (int64_t)sizeof(double));
    int64_t back = steps * follows * one + looks * (2 * n - follows) * one;
    if (device == ha_host() || ha_context_is_zero_copy(device)) return true;
    const traffic now = moved(device);
    (void)printf("to %s: %" PRIu64 " bytes; back: %" PRIu64 " (whole bodies, each time: %" PRId64
                 ")\n",
                 ha_context_name(device), now.there - start.there, now.back - start.back,
                 (follows ? steps : looks) * there);
    bool good = found(o, "bytes there", (double)(now.there - start.there), "", (double)there,
                      (double)there);
    return found(o, "bytes back", (double)(now.back - start.back), "", (double)back,
                 (double)back) &&
           good;
}

static bool simulate(const options *o, bodies r, ha_context *device, int64_t n, double softening) {
    const bool solar = o->cluster == 0;
    const int64_t steps = (int64_t)ceil(o->time / o->step);
    const double start = energy(r, n, softening);
    const traffic before = moved(device);
    double drifted = 0;
    int64_t looks = 0;
    orbit year = {0}, month = {0};
    ha_counts *counts = ha_records_mapping(r.records, device)->counts;
    if (solar) follow_earth(&year, &month, r, 0, o->step);
    for (int64_t k = 1; k <= steps; k++) {
        if (k == 1) ha_counts_reset(counts);
        step(r, device, n, o->step, softening);
        if (k == 1 && !show_counts(counts, o->counts)) return false;
        if (solar) follow_earth(&year, &month, r, (double)k * o->step, o->step);
        if (k % (steps / 16 + 1) == 0 || k == steps) {
            drifted = fmax(drifted, fabs(energy(r, n, softening) / start - 1));
            looks++;
        }
    }
    if (!all_went_well()) return false;
    (void)printf("%lld bodies as %s, %lld steps of %g\n", (long long)n, o->layout, (long long)steps,
                 o->step);
    bool good = found(o, "energy drift", drifted, "", 0, solar ? 1e-7 : 1e-3);
    good &= found(o, "centre's speed", centre_speed(r, n), "", 0, 1e-12);
    good &= moved_no_more(o, device, before, n, steps, looks);
    if (!solar) return good;
    good &= found(o, "Earth's year", period(&year), " days", 365.25636 - 0.01, 365.25636 + 0.01);
    good &= found(o, "Moon's month", period(&month), " days", 27.32166 - 0.1, 27.32166 + 0.1);
    return good;
}

/* The bodies on the host, laid out there as they are asked for. */
static bool fill(bodies r, const body *all, int64_t n, const options *o) {
    HA_USING(v, r, ha_host(), "overwrite") {
        for (int64_t i = 0; i < n; i++) sky_store(v, sky_at(v, i), all[i]);
        return true;
    }
    return complain("--layout %s: %s", o->layout, ha_take_error().text);
}

static bool lay_out(bodies r, ha_context *where, const char *option, const char *layout) {
    return ha_records_layout(r.records, where, layout) == HA_OK ||
           complain("%s %s: %s", option, layout, ha_take_error().text);
}

static bool run_bodies(body *all, int64_t n, const options *o) {
    const double softening = o->cluster ? 0.05 : 1e-15;
    ha_context *device = ha_context_find(o->device);
    if (o->cluster)
        cluster(all, n, o->seed);
    else
        solar_system(all);
    if (o->advise) return advise(all, n, o->step, softening);
    if (!device) return complain("--device %s: %s", o->device, ha_take_error().text);
    bodies r = bodies_new(n);
    if (!r.records) return all_went_well();
    const bool apart = device != ha_host() && !ha_context_is_zero_copy(device);
    bool good = lay_out(r, ha_host(), "--layout", o->layout) &&
                (!apart || lay_out(r, device, "--device-layout", o->device_layout)) &&
                fill(r, all, n, o) && simulate(o, r, device, n, softening);
    good &= all_went_well();
    (void)bodies_free(&r);
    return good;
}

static bool run(const options *o) {
    const int64_t n = o->cluster ? o->cluster : PLANETS;
    body *all = (body *)calloc((size_t)n, sizeof *all);
    if (!all) return complain("no memory for %lld bodies", (long long)n);
    const bool good = run_bodies(all, n, o);
    free(all);
    return good;
}

int main(int argc, char **argv) {
    options o;
    const int status = options_read(&o, argc, argv);
    return status >= 0 ? status : !run(&o);
}
