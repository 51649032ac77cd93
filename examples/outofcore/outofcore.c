/* outofcore: waves in a cube that does not fit into the device's memory.
 *
 *     outofcore [--device CTX] [--n N] [--steps N] [--budget BYTES] [--slabs N] [--no-hints]
 *
 * What to look at: cube.c, which computes slab after slab, and does not know of any budget. The program
 * runs it twice, first with all the memory that the device has, then with a quarter of what the cube
 * takes. What has no room gives way and comes back when it is opened. The second result has to be the
 * first one, bit for bit.
 *
 * It cannot be faster than computing alone, which the first run shows, nor than the link moves what had to
 * move, whose rate is measured by plain copies before. So the longer of the two is what the second run is
 * compared with. With hints (cube.c: fetch_ahead, let_go) computing and both directions of the link go on
 * at once. */
#define _POSIX_C_SOURCE 200809L
#include "cube.h"
#include "link.h"
#include "options.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

enum { SAMPLES = 10 };

typedef struct result {
    double seconds;
    double energy, drift;
    uint64_t in, out;            /* bytes that the link moved */
    uint64_t evictions, evicted; /* blocks that gave way, and their bytes */
} result;

/* harray keeps the first error. */
static bool fails(void) { return complain("%s", ha_take_error().text); }

static double seconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double mib(uint64_t bytes) { return (double)bytes / (1 << 20); }

/* Whether the device has memory of its own, so that there is something to be short of. */
static bool is_apart(ha_context *device) {
    return device != ha_host() && !ha_context_is_zero_copy(device);
}

/* ---- the steps --------------------------------------------------------------------------------- */

/* A sample of the energy, and a line, behind each tenth of the steps. */
static bool take_steps(cube *c, const options *o, const char *what) {
    const double began = seconds();
    for (int64_t k = 1; k < o->steps; k++) {
        const bool tenth = (k + 1) * SAMPLES / o->steps > k * SAMPLES / o->steps;
        if (!cube_step(c, tenth)) return false;
        if (tenth && !o->quiet)
            (void)printf("%s: step %" PRId64 " of %" PRId64 ", %.2f s\n", what, k + 1, o->steps,
                         seconds() - began);
    }
    return true;
}

/* Has the cube computed, and measures that, but for the first step, in which kernels are compiled. */
static bool compute(cube *c, const options *o, const char *what, result *r) {
    if (!cube_step(c, true) || !cube_finish(c)) return fails();
    const ha_memory_usage moved = ha_context_memory(c->device);
    const ha_pressure gone = ha_memory_pressure(c->device);
    const double began = seconds();
    if (!take_steps(c, o, what) || !cube_finish(c)) return fails();
    r->seconds = seconds() - began;
    r->in = ha_context_memory(c->device).bytes_in - moved.bytes_in;
    r->out = ha_context_memory(c->device).bytes_out - moved.bytes_out;
    r->evictions = ha_memory_pressure(c->device).evictions - gone.evictions;
    r->evicted = ha_memory_pressure(c->device).evicted - gone.evicted;
    return cube_energy(c, &r->energy, &r->drift) || fails();
}

static bool compute_all_there(cube *c, const options *o, ha_context *device, result *r) {
    return (cube_make(c, device, 0, o->n, o->slabs, SAMPLES + 1) || fails()) &&
           compute(c, o, "all there", r) && (cube_leave(c) || fails());
}

/* So many slabs ahead as there is room for: a visit needs four levels of slabs, each one ahead two more. */
static int64_t slabs_ahead(const options *o) {
    const int64_t level = cube_bytes(o->n) / (2 * o->slabs), ahead = (o->budget / level - 5) / 2;
    return ahead < 1 ? 1 : ahead > 4 ? 4 : ahead;
}

/* The same within a budget, where the device has memory of its own. */
static bool compute_out_of_core(cube *c, const options *o, ha_context *device, result *r) {
    const bool apart = is_apart(device);
    const int64_t ahead = apart && o->hints ? slabs_ahead(o) : 0;
    if (apart && ha_memory_set_budget(device, (uint64_t)o->budget) != HA_OK) return fails();
    return (cube_make(c, device, ahead, o->n, o->slabs, SAMPLES + 1) || fails()) &&
           compute(c, o, "out of core", r);
}

/* ---- what is told ------------------------------------------------------------------------------ */

static void tell_cube(const options *o, ha_context *device) {
    (void)printf("%" PRId64 "^3 sites, %" PRId64 " steps, %" PRId64 " slabs at %s: %.1f MiB, ",
                 o->n, o->steps, o->slabs, ha_context_name(device),
                 mib((uint64_t)cube_bytes(o->n)));
    if (is_apart(device))
        (void)printf("budget %.1f MiB%s\n", mib((uint64_t)o->budget), o->hints ? "" : ", no hints");
    else
        (void)printf("in the host's memory: nothing has to give way\n");
}

static void tell_moves(const result *r) {
    (void)printf("evicted: %" PRIu64
                 " blocks, %.1f MiB; written back: %.1f MiB; restored: %.1f MiB\n",
                 r->evictions, mib(r->evicted), mib(r->out), mib(r->in));
}

static void tell_time(const link_rates *rates, const result *there, const result *r) {
    const double link = link_seconds(rates, (double)r->in, (double)r->out);
    const double least = fmax(link, there->seconds);
    (void)printf(
        "computing alone: %.3f s; the link alone: %.3f s; out of core: %.3f s, %.2f times the "
        "longer one\n",
        there->seconds, link, r->seconds, r->seconds / least);
}

static bool tell_energy(const result *there, const result *r) {
    const double drift = fmax(there->drift, r->drift);
    const bool kept = drift <= 1e-10;
    (void)printf("energy: %.10g, kept to %.1e%s\n", r->energy, drift,
                 kept ? "" : " (WRONG: 1e-10 at most)");
    return kept;
}

static bool tell_difference(const cube *a, const cube *b) {
    int64_t different;
    if (!cube_compare(a, b, &different)) return fails();
    if (different == 0)
        (void)printf("the result is that of the run that fits, bit for bit\n");
    else
        (void)printf("%" PRId64 " values are NOT those of the run that fits\n", different);
    return different == 0;
}

/* ---- the program ------------------------------------------------------------------------------- */

static bool run(const options *o, ha_context *device, cube *fits, cube *larger) {
    link_rates rates = {0};
    result there, r;
    tell_cube(o, device);
    if (is_apart(device)) {
        if (!link_measure(device, &rates)) return fails();
        link_tell(&rates);
    }
    if (!compute_all_there(fits, o, device, &there)) return false;
    if (!compute_out_of_core(larger, o, device, &r)) return false;
    if (is_apart(device)) {
        tell_moves(&r);
        tell_time(&rates, &there, &r);
    }
    const bool kept = tell_energy(&there, &r);
    return tell_difference(fits, larger) && kept;
}

int main(int argc, char **argv) {
    options o;
    cube fits = {0}, larger = {0};
    const int status = options_read(&o, argc, argv);
    if (status >= 0) return status;
    if (o.budget == 0) o.budget = cube_bytes(o.n) / 4;
    ha_context *device = ha_context_find(o.device);
    if (!device) return !fails();
    const bool good = run(&o, device, &fits, &larger);
    cube_free(&fits);
    cube_free(&larger);
    return good ? 0 : 1;
}
