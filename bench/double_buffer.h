/* A step of examples/outofcore by hand: the cube stays on the host, and a few slabs at a time are on the device, whose
 * own functions copy them, compute them and bring back what was computed. Three queues, one for each, so that all
 * of it goes on at once, and events where one has to wait for another. A slab has a slot with both of its levels; when it
 * is computed, its neighbours are there as well, whose nearest planes it needs. The slots are a ring. */
#ifndef BENCH_DOUBLE_BUFFER_H
#define BENCH_DOUBLE_BUFFER_H

#include "bench.h"

#include "../examples/outofcore/cube.h"

enum { SLOTS = 6, SLOTS_AHEAD = SLOTS - 2 };

typedef struct double_buffer {
    ha_context *device, *in, *computing, *out; /* the queues */
    int64_t n, slabs, planes;                  /* of a slab */
    int64_t visits;                            /* slabs that were computed so far */
    double *level[2];                          /* on the host; the values of now are in the first */
    double *slot[SLOTS][2];                    /* on the device: a slab of each level */
    double *wall;                              /* too: a plane of the surface */
    ha_event arrived[SLOTS], computed[SLOTS], left[SLOTS]; /* of the last visit of each slot */
} double_buffer;

/* ---- computing ----------------------------------------------------------------------------- */

/* Planes [first, last) of a slab. */
typedef struct leap_by_hand {
    double *below, *now, *above, *other;
    int64_t n, planes, first, last;
} leap_by_hand;

/* With the operations of wave.h in their order, so that the results are the same. */
static void run_leap_by_hand(const ha_queue *queue, void *argument) {
    const double r2 = 0.3;
    const leap_by_hand *l = argument;
    const int64_t n = l->n, plane = n * n;
    const double *below = HA_HERE(queue, double, l->below);
    const double *above = HA_HERE(queue, double, l->above);
    const double *now = HA_HERE(queue, double, l->now);
    double *other = HA_HERE(queue, double, l->other);
    for (int64_t k = l->first; k < l->last; k++) {
        const double *u = now + k * plane, *down = k > 0 ? u - plane : below,
                     *up = k < l->planes - 1 ? u + plane : above;
        double *to = other + k * plane;
        for (int64_t j = 1; j < n - 1; j++)
            for (int64_t at = j * n + 1; at < j * n + n - 1; at++) {
                const double around = (u[at - 1] + u[at + 1]) + (u[at - n] + u[at + n]) +
                                      (down[at] + up[at]);
                to[at] = 2 * u[at] - to[at] + r2 * (around - 6 * u[at]);
            }
    }
}

/* ---- queues -------------------------------------------------------------------------------- */

static void buffer_note(ha_context *queue, ha_event *event) {
    if (queue->ops->forget && event->object) queue->ops->forget(event);
    bench_require(queue->ops->record(queue->queue, event) == HA_OK, "record");
}

static void buffer_await(ha_context *queue, const ha_event *event) {
    bench_require(queue->ops->await(queue->queue, event) == HA_OK, "await");
}

static void buffer_copy(ha_context *queue, double *to, const double *from, size_t bytes) {
    bench_require(queue->ops->copy(queue->queue, to, from, bytes) == HA_OK, "copy");
}

static size_t buffer_slab_bytes(const double_buffer *d) {
    return (size_t)(d->planes * d->n * d->n) * sizeof(double);
}

/* Where a visit's slab begins in a level on the host: that of now, or the other one, which change places each step. */
static double *buffer_home(const double_buffer *d, int64_t visit, int other) {
    const int64_t b = visit % d->slabs;
    return d->level[(visit / d->slabs + other) % 2] + b * d->planes * d->n * d->n;
}

/* ---- a visit ------------------------------------------------------------------------------- */

/* What was in the slot has left, and the slab behind that, which needed a plane of it, is computed. */
static void buffer_fetch(double_buffer *d, int64_t visit) {
    const int64_t s = visit % SLOTS;
    if (visit >= SLOTS) buffer_await(d->in, &d->left[s]);
    if (visit >= SLOTS) buffer_await(d->in, &d->computed[(visit + 1) % SLOTS]);
    for (int k = 0; k < 2; k++)
        buffer_copy(d->in, d->slot[s][k], buffer_home(d, visit, k), buffer_slab_bytes(d));
    buffer_note(d->in, &d->arrived[s]);
}

static void buffer_compute(double_buffer *d, int64_t visit) {
    const int64_t s = visit % SLOTS, b = visit % d->slabs, plane = d->n * d->n;
    const int is_first = b == 0, is_last = b == d->slabs - 1;
    const int64_t before = (visit + SLOTS - 1) % SLOTS, behind = (visit + 1) % SLOTS;
    leap_by_hand l = {.now = d->slot[s][0],
                      .other = d->slot[s][1],
                      .below = is_first ? d->wall : d->slot[before][0] + (d->planes - 1) * plane,
                      .above = is_last ? d->wall : d->slot[behind][0],
                      .n = d->n,
                      .planes = d->planes,
                      .first = is_first,
                      .last = d->planes - is_last};
    ha_context *c = d->computing;
    buffer_await(c, &d->arrived[is_last ? s : behind]);
    bench_require(c->ops->call(c->queue, run_leap_by_hand, &l, sizeof l) == HA_OK, "call");
    buffer_note(c, &d->computed[s]);
}

static void buffer_bring_home(double_buffer *d, int64_t visit) {
    const int64_t s = visit % SLOTS;
    buffer_await(d->out, &d->computed[s]);
    buffer_copy(d->out, buffer_home(d, visit, 1), d->slot[s][1], buffer_slab_bytes(d));
    buffer_note(d->out, &d->left[s]);
}

static double time_double_buffer(void *data, size_t count) {
    double_buffer *d = data;
    const double start = bench_now();
    const int64_t end = d->visits + (int64_t)count * d->slabs;
    int64_t fetched = d->visits;
    for (; d->visits < end; d->visits++) {
        while (fetched < end && fetched <= d->visits + SLOTS_AHEAD) buffer_fetch(d, fetched++);
        buffer_compute(d, d->visits);
        buffer_bring_home(d, d->visits);
    }
    bench_require(d->out->ops->finish(&d->left[(end - 1) % SLOTS]) == HA_OK, "finish");
    return bench_now() - start;
}

/* ---- making -------------------------------------------------------------------------------- */

/* Whether the values that cube_step has made last are those by hand. */
static int buffer_is_like(const double_buffer *d, const cube *c) {
    int alike = 1;
    for (int64_t b = 0; b < c->slabs; b++) HA_READING(v, c->slab[b].level[c->steps % 2], ha_host())
    alike &= memcmp(v.data, buffer_home(d, d->visits + b, 0), buffer_slab_bytes(d)) == 0;
    else alike = 0;
    return alike;
}

/* The values of a cube as they are. */
static void buffer_fill(double_buffer *d, const cube *c) {
    for (int64_t b = 0; b < c->slabs; b++)
        for (int k = 0; k < 2; k++) HA_READING(v, c->slab[b].level[(c->steps + k) % 2], ha_host())
    memcpy(buffer_home(d, b, k), v.data, buffer_slab_bytes(d));
    else bench_require(0, "reading the cube");
}

static double *buffer_new(const double_buffer *d, size_t bytes) {
    double *block = ha_memory_allocate(d->device, bytes);
    bench_require(block != NULL, "memory of the device");
    return block;
}

/* Of a device, with the values of a cube. At most so many bytes are there at a time. */
static void buffer_make(double_buffer *d, ha_context *device, const cube *c, size_t most) {
    *d = (double_buffer){.device = device, .n = c->n, .slabs = c->slabs};
    d->planes = c->n / c->slabs;
    const size_t bytes = buffer_slab_bytes(d), plane = (size_t)(d->n * d->n) * sizeof(double);
    bench_require(d->planes * d->slabs == d->n && d->slabs > SLOTS, "slabs");
    bench_require(2 * SLOTS * bytes + plane <= most, "room for the slots");
    d->in = ha_context_fork(device);
    d->computing = ha_context_fork(device);
    d->out = ha_context_fork(device);
    bench_require(d->in && d->computing && d->out, "queues");
    for (int k = 0; k < 2; k++) {
        d->level[k] = malloc((size_t)d->slabs * bytes);
        bench_require(d->level[k] != NULL, "memory");
    }
    for (int s = 0; s < SLOTS; s++)
        for (int k = 0; k < 2; k++) d->slot[s][k] = buffer_new(d, bytes);
    d->wall = buffer_new(d, plane);
    buffer_fill(d, c);
    double *zeros = calloc(1, plane);
    bench_require(zeros != NULL, "memory");
    buffer_copy(d->computing, d->wall, zeros, plane);
    buffer_note(d->computing, &d->computed[0]);
    bench_require(d->computing->ops->finish(&d->computed[0]) == HA_OK, "finish");
    free(zeros);
}

static void buffer_free(double_buffer *d) {
    for (int s = 0; s < SLOTS; s++)
        for (int k = 0; k < 2; k++) HA_CHECK(ha_memory_release(d->device, d->slot[s][k]));
    HA_CHECK(ha_memory_release(d->device, d->wall));
    for (int k = 0; k < 2; k++) free(d->level[k]);
    HA_CHECK(ha_context_unfork(d->in));
    HA_CHECK(ha_context_unfork(d->computing));
    HA_CHECK(ha_context_unfork(d->out));
}

#endif
