/* How fast the link between host and device is: measured by plain copies. */
#define _POSIX_C_SOURCE 200809L
#include "link.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { BYTES = 32 << 20, TIMES = 3 };

typedef struct pair {
    ha_context *device, *other; /* two queues */
    harray_double in, out;
} pair;

static double seconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Each copy as often as it takes for the best time: the first one may have to find its memory. */
static void keep_best(double *rate, double bytes, double began) {
    *rate = fmax(*rate, bytes / (seconds() - began));
}

/* Only the host has x; only the device has it. */
static void at_host(harray_double x) { HA_WRITING(v, x, ha_host())(void) v; }
static void at_device(const pair *p, harray_double x) {
    HA_WRITING(v, x, p->device)(void) v;
    HA_IGNORE(ha_context_finish(p->device));
}

static void send(const pair *p) { HA_IGNORE(ha_array_prefetch(p->in.array, p->other, 0, HA_END)); }
static void fetch(const pair *p) {
    HA_IGNORE(ha_array_prefetch(p->out.array, ha_host(), 0, HA_END));
}
static void arrive(const pair *p) {
    HA_IGNORE(ha_context_finish(p->other));
    HA_IGNORE(ha_context_finish(p->device));
}

static void measure_once(const pair *p, link_rates *rates) {
    at_host(p->in);
    double began = seconds();
    send(p), arrive(p);
    keep_best(&rates->in, BYTES, began);

    at_device(p, p->out);
    began = seconds();
    fetch(p), arrive(p);
    keep_best(&rates->out, BYTES, began);

    at_host(p->in);
    at_device(p, p->out);
    began = seconds();
    send(p), fetch(p), arrive(p);
    keep_best(&rates->both, 2.0 * BYTES, began);
}

bool link_measure(ha_context *device, link_rates *rates) {
    pair p = {.device = device, .other = ha_context_fork(device)};
    p.in = harray_double_zeros_at(BYTES / sizeof(double), device);
    p.out = harray_double_zeros_at(BYTES / sizeof(double), device);
    *rates = (link_rates){0};
    for (int k = 0; k < TIMES && p.other; k++) measure_once(&p, rates);
    HA_IGNORE(harray_double_free(&p.in));
    HA_IGNORE(harray_double_free(&p.out));
    if (p.other) HA_IGNORE(ha_context_unfork(p.other));
    (void)ha_memory_trim(device, 0);
    return p.other && rates->both > 0;
}

void link_tell(const link_rates *r) {
    (void)printf("link: %.2f GB/s in, %.2f GB/s out, %.2f GB/s both at once\n", r->in * 1e-9,
                 r->out * 1e-9, r->both * 1e-9);
}

double link_seconds(const link_rates *r, double in, double out) {
    return fmax(fmax(in / r->in, out / r->out), (in + out) / r->both);
}
