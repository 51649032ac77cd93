/* A launch on the host where all that it is given is valid, and nobody is in the way: as short as can be, for that is
 * what launches there usually are. Nothing is waited for, and nothing told: whatever is not so simple is given
 * back, and launch.h begins anew. */
#ifndef HARRAY_IMPL_KERNELS_EASY_H
#define HARRAY_IMPL_KERNELS_EASY_H

#include "on_host.h"
#include "team_check.h"

typedef struct ha_easy_launch {
    const ha_kernel *kernel;
    int held; /* accesses */
    int apart;
    uint32_t written; /* a bit for each access */
    int64_t lanes;    /* as many as each array has elements; -1: no array yet */
    int differ;       /* numbers of elements */
    ha_access access[HA_MOST_PARAMETERS_];
    ha_range range[HA_MOST_PARAMETERS_]; /* of each access */
    ha_kernel_span span[HA_MOST_PARAMETERS_];
    ha_kernel_slot_ slot[HA_MOST_PARAMETERS_];
    const ha_kernel_parameter_ *records; /* the one that is records; NULL: none yet */
    ha_kernel_use_ use;                  /* what is given for it */
    ha_records_access opened;
} ha_easy_launch;

HA_FAST_ void ha_easy_count(ha_easy_launch *e, ha_kernel_slot_ *slot, int64_t size) {
    slot->size = size;
    if (e->lanes < 0) e->lanes = size;
    e->differ |= e->lanes != size;
}

/* An access to the range, which is held now; NULL: it is not so simple. What is only read may be the same elements that
 * another argument writes or reads: those are held once. */
HA_FAST_ const ha_access *ha_easy_access(ha_easy_launch *e, const ha_kernel_parameter_ *p,
                                         ha_array *a, ha_range r) {
    const int write = ha_is_written(p);
    ha_access *x = &e->access[e->held];
    for (int i = 0; i < e->held; i++) {
        if (e->access[i].array != a) continue;
        if (write || e->written >> i & 1) e->apart = 0;
        if (!write && e->range[i].first == r.first && e->range[i].last == r.last)
            return &e->access[i];
    }
    if (!ha_hold_fast(x, a, ha_host(), write, r, 1, HA_END, 0, p->site)) return NULL;
    e->range[e->held] = r;
    e->written |= (uint32_t)write << e->held++;
    return x;
}

HA_FAST_ int ha_easy_array(ha_easy_launch *e, const ha_kernel_parameter_ *p, const void *given,
                           ha_kernel_slot_ *slot) {
    ha_array *a = *(ha_array *const *)given;
    const ha_access *x = a ? ha_easy_access(e, p, a, HA_WHOLE_) : NULL;
    if (!x) return 0;
    *slot = (ha_kernel_slot_){.pointer = (void *)(uintptr_t)x->data};
    ha_easy_count(e, slot, (int64_t)x->size);
    return 1;
}

/* What is only read may repeat elements, where there is no grid. */
HA_IN_ int ha_easy_reach(const ha_kernel_parameter_ *p, const ha_array *a, size_t first,
                         const int64_t *extent, ha_boxed *b) {
    const size_t n = (size_t)p->rank;
    if (a->grid || ha_is_written(p) || !ha_box_numbers(extent, n, n, b)) return 0;
    b->last = ha_reach_end(first, n, extent, extent + n, 1);
    return b->last != 0;
}

HA_IN_ int ha_easy_view(ha_easy_launch *e, const ha_kernel_parameter_ *p, const void *given,
                        ha_kernel_slot_ *slot) {
    const ha_typed_head t = ha_typed_head_of(given);
    const int rank = p->rank;
    const int64_t *extent = ha_typed_numbers(given), *stride = extent + rank;
    ha_array *a = t.array;
    ha_kernel_span *span = &e->span[slot - e->slot];
    ha_boxed b = {.span = span->numbers};
    const size_t n = (size_t)rank;
    if (!a || ha_is_freed(a)) return 0;
    if (!ha_is_box(a->grid, t.first, extent, n, n, &b) && !ha_easy_reach(p, a, t.first, extent, &b))
        return 0;
    const ha_access *x = ha_easy_access(e, p, a, (ha_range){t.first, b.last});
    if (!x) return 0;
    slot->pointer = x->data ? (char *)((uintptr_t)x->data - (uintptr_t)b.lowest * a->element)
                            : NULL;
    slot->span = span;
    /* With another origin than 0 a single index has a stride, too. */
    const int64_t *origin = stride + rank;
    if ((extent[rank - 1] > 1 || origin[rank - 1]) && stride[rank - 1] != 1) e->apart = 0;
    ha_easy_count(e, slot, (int64_t)b.size);
    return 1;
}

/* To be opened when all else is held: what has been opened has a new version. More than one would have to be compared. */
HA_IN_ int ha_easy_records(ha_easy_launch *e, const ha_kernel_parameter_ *p, const void *given,
                           ha_kernel_slot_ *slot) {
    if (e->records) return 0;
    e->records = p;
    e->use = *(const ha_kernel_use_ *)given;
    slot->pointer = e->use.view;
    return 1;
}

/* The fields of all records, as they were opened before. */
HA_IN_ int ha_easy_open(ha_easy_launch *e) {
    const ha_kernel_parameter_ *p = e->records;
    const ha_region all = ha_records_rows_(0, HA_END);
    if (!p) return 1;
    ha_fitting fitting = {.type = p->records, .view = e->use.view, .bytes = p->bytes};
    return ha_records_open_again(&e->opened, e->use.records, ha_host(), p->what, &all, p->site,
                                 &fitting);
}

/* 0: not so simple. */
HA_FAST_ int ha_easy_argument(ha_easy_launch *e, const ha_kernel_parameter_ *p, const void *given,
                              ha_kernel_slot_ *slot) {
    if (p->mode == HA_KERNEL_RESULT_) {
        slot->pointer = ((const ha_kernel_result_ *)given)->value;
        return slot->pointer != NULL;
    }
    if (p->mode >= HA_KERNEL_IN_)
        return p->rank ? ha_easy_view(e, p, given, slot) : ha_easy_array(e, p, given, slot);
    if (p->mode == HA_KERNEL_VALUE_)
        *slot = (ha_kernel_slot_){.pointer = HA_ADDRESS_(HA_NUMBER_(given))};
    if (p->mode == HA_KERNEL_RECORDS_) return ha_easy_records(e, p, given, slot);
    return p->mode == HA_KERNEL_VALUE_ || ha_is_said(p);
}

/* What is written first. */
HA_FAST_ int ha_easy_hold(ha_easy_launch *e, const void *const *given) {
    const ha_kernel *k = e->kernel;
    uint32_t others = 0; /* a bit for each of them */
    for (int i = 0; i < k->parameters; i++)
        if (!ha_is_written(&k->parameter[i]))
            others |= (uint32_t)1 << i;
        else if (!ha_easy_argument(e, &k->parameter[i], given[i], &e->slot[i]))
            return 0;
    for (; others; others &= others - 1) {
        const int i = __builtin_ctz(others);
        if (!ha_easy_argument(e, &k->parameter[i], given[i], &e->slot[i])) return 0;
    }
    return 1;
}

/* The lanes: can they be counted? */
HA_FAST_ int ha_easy_box(const ha_easy_launch *e, const ha_region *given, ha_region *box) {
    int64_t lanes = 1, n;
    if (e->kernel->each) return !given; /* that of all records, when they are open */
    if (!given) {
        if (e->lanes < 0 || e->differ) return 0;
        *box = ha_box1(0, e->lanes);
        return !e->kernel->reduction || e->lanes;
    }
    *box = *given;
    for (int d = 0; d < e->kernel->rank; d++)
        if (box->last[d] < box->first[d] ||
            __builtin_sub_overflow(box->last[d], box->first[d], &n) ||
            __builtin_mul_overflow(lanes, n, &lanes))
            return 0;
    if (!lanes) box->last[0] = box->first[0]; /* rows without lanes are not gone through */
    return !e->kernel->reduction || lanes;
}

/* Nonzero: it was launched, with this status. */
HA_IN_ int ha_launch_easily(const ha_kernel *k, const ha_context *c, const ha_region *given_box,
                            const void *const *given, ha_status *status) {
    ha_easy_launch e;
    ha_region box;
    HA_MAY_WAIT_();
    if (!ha_is_host(c) || !ha_self.id || HA_DEBUGGING_ || ha_is_watching()) return 0;
    if (k->team && (!given_box || !__atomic_load_n(k->team->checked, __ATOMIC_RELAXED))) return 0;
    e.kernel = k;
    e.held = 0;
    e.apart = 1;
    e.written = 0;
    e.lanes = -1;
    e.differ = 0;
    e.records = NULL;
    if (!ha_easy_hold(&e, given) || !ha_easy_box(&e, given_box, &box) || !ha_easy_open(&e)) {
        while (e.held > 0) ha_let_go(&e.access[--e.held]);
        return 0;
    }
    for (int i = 0; i < e.held; i++)
        if (e.written >> i & 1) ha_count_version(e.access[i].array);
    ha_self.held += (uint64_t)e.held;
    if (k->each) box = e.opened.box;
    ha_run_loops(k, &box, ha_outermost_of(k, &e.opened), e.apart, e.slot);
    *status = e.records ? ha_records_close_(&e.opened) : HA_OK;
    while (e.held > 0) {
        const ha_status s = ha_close_(&e.access[--e.held]);
        if (s) *status = s;
    }
    return 1;
}

#endif
