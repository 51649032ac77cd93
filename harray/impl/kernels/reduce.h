/* Reductions where a launch runs them: all at once here, or as loops on a queue; step by step on a device. */
#ifndef HARRAY_IMPL_KERNELS_REDUCE_H
#define HARRAY_IMPL_KERNELS_REDUCE_H

#include "on_device.h"
#include "parallel.h"

/* ---- on the host --------------------------------------------------------------------------------- */

/* Numbers of one level, as they come: each level gets one for 1,024 of the level below. */
typedef struct ha_reduce_level {
    _Alignas(16) char sums[HA_SUMS_ * HA_PARTIAL_BYTES_];
    int64_t n;     /* since the last one that went up */
    int is_passed; /* some went up */
} ha_reduce_level;

enum { HA_REDUCE_LEVELS = 7 }; /* of 2^63 lanes */

HA_IN_ void ha_reduce_add(const ha_reduction_ *r, ha_reduce_level *level, const void *partial) {
    _Alignas(16) char joined[HA_PARTIAL_BYTES_];
    while (r->add(level->sums, level->n++, partial), level->n == HA_PART_LANES_) {
        r->join(level->sums, level->n, joined);
        partial = joined;
        level->n = 0;
        level++->is_passed = 1;
    }
}

/* What is left on each level goes up as a last part, until one is left. */
HA_IN_ void ha_reduce_rest(const ha_reduction_ *r, ha_reduce_level *level, void *partial) {
    for (;; level++) {
        if (!level->n) continue;
        r->join(level->sums, level->n, partial);
        if (!level->is_passed) return;
        ha_reduce_add(r, level + 1, partial);
    }
}

HA_IN_ int64_t ha_lanes_of(const ha_region *box, int rank) {
    int64_t lanes = 1;
    for (int d = 0; d < rank; d++) lanes *= box->last[d] - box->first[d];
    return lanes;
}

HA_IN_ int64_t ha_parts_of(int64_t values) {
    return values / HA_PART_LANES_ + (values % HA_PART_LANES_ > 0);
}

/* So many parts are computed, by one thread or many, before they are added one after the other. */
enum { HA_PARTS_AT_ONCE = 1024 };

typedef struct ha_reduce_parts {
    const ha_kernel *kernel;
    const ha_region *box;
    int64_t first, last; /* lanes, by number */
    int apart;
    const ha_kernel_slot_ *slot;
    char *partial;
} ha_reduce_parts;

/* Parts [first, last) of these. */
HA_IN_ void ha_reduce_run(const void *loops, int64_t first, int64_t last) {
    const ha_reduce_parts *p = (const ha_reduce_parts *)loops;
    const ha_reduction_ *r = p->kernel->reduction;
    const int64_t from = p->first + first * HA_PART_LANES_, to = p->first + last * HA_PART_LANES_;
    if (first < last)
        r->parts(p->kernel, p->box, from, to < p->last ? to : p->last, p->apart, p->slot,
                 p->partial + (size_t)first * r->partial_bytes);
}

HA_IN_ void ha_reduce_all_parts(const ha_reduce_parts *p) {
    const int64_t n = ha_parts_of(p->last - p->first);
    if (ha_is_worth_parts((double)(p->last - p->first) *
                          (double)ha_kernel_option(p->kernel, HA_OPTION_grain_, 1)))
        ha_run_in_parts(ha_reduce_run, p, n);
    else
        ha_reduce_run(p, 0, n);
}

void ha_reduce_lanes_(const ha_kernel *k, const ha_region *box, int apart,
                      const ha_kernel_slot_ *slot, void *result) {
    const ha_reduction_ *r = k->reduction;
    const int64_t lanes = ha_lanes_of(box, k->rank), most = HA_PARTS_AT_ONCE * HA_PART_LANES_;
    _Alignas(16) char partial[HA_PARTS_AT_ONCE * HA_PARTIAL_BYTES_];
    ha_reduce_level level[HA_REDUCE_LEVELS];
    for (int i = 0; i < HA_REDUCE_LEVELS; i++) level[i].n = level[i].is_passed = 0;
    for (int64_t first = 0, n; first < lanes; first += n) {
        n = lanes - first < most ? lanes - first : most;
        const ha_reduce_parts parts = {k, box, first, first + n, apart, slot, partial};
        ha_reduce_all_parts(&parts);
        for (int64_t i = 0; i < ha_parts_of(n); i++)
            ha_reduce_add(r, level, partial + (size_t)i * r->partial_bytes);
    }
    if (lanes) ha_reduce_rest(r, level, partial);
    r->end(lanes ? partial : NULL, result);
}

/* ---- on a device --------------------------------------------------------------------------------- */

/* Memory for the numbers of all steps but the last, behind each other. */
HA_IN_ ha_status ha_reduce_room(ha_launching *l) {
    size_t numbers = 0;
    for (int64_t n = ha_parts_of(ha_lanes_of(&l->box, l->kernel->rank)); n > 1; n = ha_parts_of(n))
        numbers += (size_t)n;
    if (!numbers) return HA_OK;
    const size_t bytes = numbers * l->kernel->reduction->partial_bytes;
    const ha_status s = ha_loose_allocate(l->context, bytes, &l->room);
    if (!s) return HA_OK;
    return ha_fail(s, l->kernel->name, "%s: %s has no memory for the %zu bytes of a reduction",
                   ha_kernel_site(l->kernel), l->context->name, bytes);
}

/* As many teams as a device can count, and then the next ones. */
HA_IN_ ha_status ha_reduce_step(ha_device_launch *d, ha_launching *l, int64_t *part,
                                int64_t parts) {
    const int64_t most = ha_most_items / HA_SUMS_;
    ha_status s = HA_OK;
    for (*part = 0; *part < parts && !s; *part += most) {
        const int64_t n = parts - *part < most ? parts - *part : most;
        d->launch.teams[0] = (size_t)((n + HA_REDUCTION_PARTS - 1) / HA_REDUCTION_PARTS);
        s = ha_launch_piece(d, l);
    }
    return s;
}

HA_IN_ ha_status ha_reduce_on_device(ha_launching *l, const ha_compiled *x) {
    const size_t bytes = l->kernel->reduction->partial_bytes;
    ha_device_launch d = {.launch = {.kernel = x->entry, .teams = {1, 1, 1}, .lanes = {1, 1, 1}}};
    int64_t values = ha_lanes_of(&l->box, l->kernel->rank), part = 0, step = 0, parts;
    char *to = (char *)l->room;
    d.launch.argument = d.argument;
    d.launch.lanes[0] = HA_REDUCTION_LANES;
    for (int k = 0; k < l->kernel->rank; k++) {
        d.first[k] = l->box.first[k];
        d.last[k] = l->box.last[k];
    }
    ha_give_all(&d, l);
    ha_kernel_argument *const from = &d.argument[d.launch.arguments];
    ha_give_number(&d, NULL, 0);
    ha_give_number(&d, to, 0);
    ha_give_number(&d, &part, sizeof part);
    ha_give_number(&d, &values, sizeof values);
    ha_give_number(&d, &step, sizeof step);
    for (;; values = parts) {
        parts = ha_parts_of(values);
        if (parts <= 1) step |= HA_STEP_LAST;
        const ha_status s = ha_reduce_step(&d, l, &part, parts > 0 ? parts : 1);
        if (s || parts <= 1) return s;
        step |= HA_STEP_OF_PARTS;
        from[0].value = to;
        to += (size_t)parts * bytes;
        from[1].value = to;
    }
}

/* ---- the launch ---------------------------------------------------------------------------------- */

/* What has no neutral element has no value of no lanes. */
HA_IN_ ha_status ha_reduce_check(const ha_launching *l) {
    const ha_reduction operation = l->kernel->reduction->operation;
    const char *name = operation == HA_MIN      ? "HA_MIN"
                       : operation == HA_MAX    ? "HA_MAX"
                       : operation == HA_MIN_AT ? "HA_MIN_AT"
                       : operation == HA_MAX_AT ? "HA_MAX_AT"
                                                : NULL;
    if (!name || ha_lanes_of(&l->box, l->kernel->rank)) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, l->kernel->name, "%s: %s of no lanes",
                   ha_kernel_site(l->kernel), name);
}

#endif
