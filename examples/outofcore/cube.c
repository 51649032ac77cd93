/* The cube: slabs of planes, at two levels of time, and the order in which they are computed.
 *
 * No line of this copies, allocates on the device or waits for it: kernels say what they read and write, and
 * a slab that has had to give way is there again when it is opened. What is said more are hints. */
#include "cube.h"

#include "wave.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define R2 0.3 /* (c dt / h)^2 */

/* ---- making ------------------------------------------------------------------------------------ */

static bool make_slab(cube *c, slab *s) {
    const double edge = (double)(c->n - 1);
    for (int k = 0; k < 2; k++)
        s->level[k] = array_double_3_new(HA_DIM(s->planes, c->n, c->n), c->device);
    return pluck(c->device, HA_DIM(s->planes, c->n, c->n), s->first, 0.4 * edge, 0.5 * edge,
                 0.55 * edge, 0.3 * edge, s->level[0], s->level[1]) == HA_OK;
}

/* With hints, queues besides the device's own one: so what one of them sends home does not keep the next slab from
 * being computed. */
static bool take_queues(cube *c) {
    bool good = true;
    for (int k = 0; k < QUEUES; k++) {
        c->queue[k] = c->ahead ? ha_context_fork(c->device) : c->device;
        good &= c->queue[k] != NULL;
    }
    if (c->ahead) c->fetching = ha_context_fork(c->device);
    return good && (!c->ahead || c->fetching);
}

bool cube_make(cube *c, ha_context *device, int64_t ahead, int64_t n, int64_t slabs,
               int64_t samples) {
    *c = (cube){.device = device, .ahead = ahead, .n = n, .slabs = slabs};
    if (!take_queues(c)) return false;
    c->slab = calloc((size_t)slabs, sizeof *c->slab);
    c->wall = array_double_2_zeros(HA_DIM(n, n), device);
    c->energy = harray_double_zeros((size_t)(samples * slabs));
    for (int64_t b = 0; b < slabs && c->slab; b++) {
        c->slab[b].first = b * n / slabs;
        c->slab[b].planes = (b + 1) * n / slabs - b * n / slabs;
        if (!make_slab(c, &c->slab[b])) return false;
    }
    return c->slab && ha_array_set_priority(c->wall.array, HA_KEEP) == HA_OK;
}

void cube_free(cube *c) {
    for (int64_t b = 0; b < c->slabs && c->slab; b++)
        for (int k = 0; k < 2; k++) HA_IGNORE(array_double_3_free(&c->slab[b].level[k]));
    HA_IGNORE(array_double_2_free(&c->wall));
    HA_IGNORE(harray_double_free(&c->energy));
    free(c->slab);
    c->slab = NULL;
}

int64_t cube_bytes(int64_t n) { return 2 * n * n * n * (int64_t)sizeof(double); }

/* ---- a step ------------------------------------------------------------------------------------ */

/* Slabs are visited one after the other, step by step. The level that a visit reads everywhere, and the one
 * that it overwrites: they change places from step to step. */
static array_double_3 now_of(const cube *c, int64_t visit) {
    return c->slab[visit % c->slabs].level[visit / c->slabs % 2];
}
static array_double_3 other_of(const cube *c, int64_t visit) {
    return c->slab[visit % c->slabs].level[(visit / c->slabs + 1) % 2];
}

/* The ghost planes of a slab: the nearest ones of its neighbours, or the surface. */
static array_double_2 below(const cube *c, int64_t b, int level) {
    if (b == 0) return c->wall;
    return array_double_3_fix(c->slab[b - 1].level[level], 0, c->slab[b - 1].planes - 1);
}
static array_double_2 above(const cube *c, int64_t b, int level) {
    if (b == c->slabs - 1) return c->wall;
    return array_double_3_fix(c->slab[b + 1].level[level], 0, 0);
}

/* What a later visit needs comes while slabs before it are computed. Of the slab behind that, now: its first plane
 * is a ghost plane. */
static void fetch_ahead(const cube *c, int64_t visit) {
    HA_IGNORE(ha_array_prefetch(other_of(c, visit).array, c->fetching, 0, HA_END));
    HA_IGNORE(ha_array_prefetch(now_of(c, visit + 1).array, c->fetching, 0, HA_END));
}

/* What was computed goes home behind its kernel, and makes room when it has arrived. The slab before this one is
 * not needed any more. */
static void let_go(const cube *c, int64_t visit) {
    HA_IGNORE(ha_array_prefetch(other_of(c, visit).array, ha_host(), 0, HA_END));
    if (visit == 0) return;
    ha_array_done(now_of(c, visit - 1).array, c->device);
    ha_array_done(other_of(c, visit - 1).array, c->device);
}

static bool visit_slab(cube *c, int64_t visit, bool sample) {
    const int64_t b = visit % c->slabs, n = c->n;
    const int level = (int)(visit / c->slabs % 2);
    const slab *s = &c->slab[b];
    ha_context *queue = c->queue[visit % QUEUES];
    const array_double_3 now = s->level[level], other = s->level[!level];
    const ha_region inside = ha_box3(b == 0, s->planes - (b == c->slabs - 1), 1, n - 1, 1, n - 1);
    if (leap_in(queue, inside, R2, below(c, b, level), now, above(c, b, level), other) != HA_OK)
        return false;
    return !sample || energy_in_into(queue, ha_box3(0, s->planes, 1, n, 1, n), R2,
                                     below(c, b, level), now, below(c, b, !level), other, c->energy,
                                     (size_t)(c->samples * c->slabs + b)) == HA_OK;
}

bool cube_step(cube *c, bool sample) {
    for (int64_t b = 0; b < c->slabs; b++) {
        const int64_t visit = c->steps * c->slabs + b;
        if (!visit_slab(c, visit, sample)) return false;
        if (c->ahead) let_go(c, visit);
        if (c->ahead) fetch_ahead(c, visit + c->ahead);
    }
    c->steps++;
    c->samples += sample;
    return true;
}

bool cube_finish(const cube *c) {
    bool good = ha_context_finish(c->device) == HA_OK;
    if (c->fetching) good &= ha_context_finish(c->fetching) == HA_OK;
    for (int k = 0; k < QUEUES; k++) good &= ha_context_finish(c->queue[k]) == HA_OK;
    return good;
}

/* ---- what has become of it --------------------------------------------------------------------- */

bool cube_leave(const cube *c) {
    const bool apart = c->device != ha_host() && !ha_context_is_zero_copy(c->device);
    for (int64_t b = 0; b < c->slabs && apart; b++)
        for (int k = 0; k < 2; k++)
            if (ha_array_evict(c->slab[b].level[k].array, c->device) != HA_OK) return false;
    return true;
}

bool cube_energy(const cube *c, double *first, double *drift) {
    HA_READING(v, c->energy, ha_host()) {
        *first = *drift = 0;
        for (int64_t k = 0; k < c->samples; k++) {
            double sum = 0;
            for (int64_t b = 0; b < c->slabs; b++) sum += v.data[k * c->slabs + b];
            if (k == 0) *first = sum;
            *drift = fmax(*drift, fabs(sum / *first - 1));
        }
        return true;
    }
    return false;
}

static int64_t count_different(cspan_double_3 a, cspan_double_3 b) {
    int64_t different = 0;
    for (int64_t k = 0; k < a.extent[0]; k++)
        for (int64_t j = 0; j < a.extent[1]; j++)
            for (int64_t i = 0; i < a.extent[2]; i++)
                different += memcmp(&HA_AT(a, k, j, i), &HA_AT(b, k, j, i), sizeof(double)) != 0;
    return different;
}

bool cube_compare(const cube *a, const cube *b, int64_t *different) {
    *different = 0;
    for (int64_t s = 0; s < a->slabs; s++)
        for (int k = 0; k < 2; k++) {
            int opened = 0;
            HA_READING(x, a->slab[s].level[k], ha_host())
            HA_READING(y, b->slab[s].level[k], ha_host()) {
                *different += count_different(x.span, y.span);
                opened = 1;
            }
            if (!opened) return false;
        }
    return true;
}
