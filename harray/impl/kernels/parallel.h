/* Loops on the host by a user's own threads (ha_set_parallel). Which part of the loops a thread runs is said by the
 * user's function; that each part is run, and once, does not depend on it. */
#ifndef HARRAY_IMPL_KERNELS_PARALLEL_H
#define HARRAY_IMPL_KERNELS_PARALLEL_H

#include "arguments.h"
#include "variant.h"
#include "../../team.h"

enum { HA_PARALLEL_LANES = 8192, HA_MOST_PARTS = 1024 };

HA_STATE_ struct {
    uint32_t lock; /* guards both */
    ha_parallel call;
    void *user;
} ha_parallel_set;

/* What is run in parts: [0, n), indices of lanes or of parts of a reduction. */
typedef void ha_run_range(const void *loops, int64_t first, int64_t last);
typedef struct ha_parts {
    ha_run_range *run;
    const void *loops;
    int64_t n;
    int parts; /* 0: nobody has said how many */
    uint64_t begun[HA_MOST_PARTS / 64];
} ha_parts;

void ha_set_parallel(ha_parallel function, void *user) {
    ha_spin_lock(&ha_parallel_set.lock);
    __atomic_store_n(&ha_parallel_set.call, function, __ATOMIC_RELAXED);
    ha_parallel_set.user = user;
    ha_spin_unlock(&ha_parallel_set.lock);
}

int ha_is_in_part_(void) { return ha_self.in_part; }

/* Nobody has run it, or begun to. */
HA_IN_ int ha_part_begin(ha_parts *p, int part) {
    const uint64_t bit = (uint64_t)1 << part % 64;
    return !(__atomic_fetch_or(&p->begun[part / 64], bit, __ATOMIC_RELAXED) & bit);
}

HA_IN_ void ha_part_run(const ha_parts *p, int part, int parts) {
    const int64_t each = p->n / parts, more = p->n % parts;
    const int64_t first = part * each + (part < more ? part : more);
    const int outer = ha_self.in_part;
    ha_self.in_part = 1;
    p->run(p->loops, first, first + each + (part < more));
    ha_self.in_part = outer;
}

/* What the user's function calls. How many parts there are is said by its first call. */
HA_IN_ void ha_part_of_launch(void *launch, int part, int parts) {
    ha_parts *p = (ha_parts *)launch;
    int said = 0;
    if (parts < 1 || parts > HA_MOST_PARTS || part < 0 || part >= parts) return;
    if (!__atomic_compare_exchange_n(&p->parts, &said, parts, 0, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED) &&
        said != parts)
        return;
    if (ha_part_begin(p, part)) ha_part_run(p, part, parts);
}

/* By the user's threads; what they leave over, and all of it where there are none any more, here. */
HA_NOINLINE_ HA_IN_ void ha_run_in_parts(ha_run_range *run, const void *loops, int64_t n) {
    ha_parts p = {.run = run, .loops = loops, .n = n};
    ha_spin_lock(&ha_parallel_set.lock);
    const ha_parallel call = ha_parallel_set.call;
    void *user = ha_parallel_set.user;
    ha_spin_unlock(&ha_parallel_set.lock);
    ha_self.in_part = 1;
    if (call) call(user, ha_part_of_launch, &p);
    ha_self.in_part = 0;
    const int said = __atomic_load_n(&p.parts, __ATOMIC_RELAXED), parts = said ? said : 1;
    for (int i = 0; i < parts; i++)
        if (ha_part_begin(&p, i)) ha_part_run(&p, i, parts);
}

/* Are there threads for that much work? Not for what runs in a part, or on a queue, already. */
HA_FAST_ int ha_is_worth_parts(double lanes) {
    if (__builtin_expect(!__atomic_load_n(&ha_parallel_set.call, __ATOMIC_RELAXED), 1)) return 0;
    return lanes >= (int)HA_PARALLEL_LANES && !ha_self.in_part && !ha_self.on_queue;
}

/* ---- the loops of a kernel ----------------------------------------------------------------------- */

typedef struct ha_kernel_run {
    const ha_kernel *kernel;
    const ha_region *box;
    int dimension, apart;
    const ha_kernel_slot_ *slot;
} ha_kernel_run;

HA_IN_ void ha_run_lanes(const void *loops, int64_t first, int64_t last) {
    const ha_kernel_run *r = (const ha_kernel_run *)loops;
    ha_region box = *r->box;
    box.first[r->dimension] += first;
    box.last[r->dimension] = box.first[r->dimension] + (last - first);
    r->kernel->loops(r->kernel, &box, r->apart, r->slot);
}

/* Lanes of teams are counted each, and times `grain`. */
HA_IN_ double ha_work_of_lanes(const ha_kernel *k, const ha_region *box) {
    double lanes = (double)ha_kernel_option(k, HA_OPTION_grain_, 1);
    for (int d = 0; d < k->rank; d++) lanes *= (double)(box->last[d] - box->first[d]);
    for (int d = 0; d < 3 && k->team; d++) lanes *= k->team->lanes[d];
    return lanes;
}

HA_NOINLINE_ HA_IN_ void ha_run_loops_in_parts(const ha_kernel_run *r) {
    const int64_t n = r->box->last[r->dimension] - r->box->first[r->dimension];
    if (!r->kernel->reduction && ha_is_worth_parts(ha_work_of_lanes(r->kernel, r->box)))
        ha_run_in_parts(ha_run_lanes, r, n);
    else
        r->kernel->loops(r->kernel, r->box, r->apart, r->slot);
}

/* dimension: the outermost one. */
HA_FAST_ void ha_run_loops(const ha_kernel *k, const ha_region *box, int dimension, int apart,
                           const ha_kernel_slot_ *slot) {
    const ha_kernel_run r = {k, box, dimension, apart, slot};
    if (__builtin_expect(!__atomic_load_n(&ha_parallel_set.call, __ATOMIC_RELAXED), 1))
        k->loops(k, box, apart, slot);
    else
        ha_run_loops_in_parts(&r);
}

#endif
