/* A launch, until it runs: what is given, the lanes, and opening all of it or nothing. */
#ifndef HARRAY_IMPL_KERNELS_LAUNCHING_H
#define HARRAY_IMPL_KERNELS_LAUNCHING_H

#include "../control/all.h"
#include "../../kernel.h"

/* The span of a view, as the head of its span_T_D: the rank is the parameter's. */
typedef struct ha_kernel_span {
    void *data;
    int64_t numbers[3 * HA_MOST_RANK]; /* extents, strides, origins */
} ha_kernel_span;

typedef struct ha_kernel_argument_ {
    ha_access access;
    darray view;
    ha_kernel_span span;
    int64_t size;
} ha_kernel_argument_;

typedef struct ha_launching {
    const ha_kernel *kernel;
    ha_context *context;
    const struct ha_compiled *compiled; /* for the device; NULL: the loops run */
    ha_region box;
    const void *const *given;
    ha_kernel_argument_ argument[HA_MOST_PARAMETERS_];
    ha_request request[HA_MOST_PARAMETERS_];
    size_t requests;
} ha_launching;

HA_IN_ int ha_is_array(const ha_kernel_parameter_ *p) { return p->mode >= HA_KERNEL_IN_; }

/* ---- the lanes --------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_launch_fail(const ha_launching *l, const char *what, int64_t a, int64_t b) {
    return ha_fail(HA_ERR_ARGUMENT, l->kernel->name, "%s: %s: [%lld, %lld)", l->kernel->site, what,
                   (long long)a, (long long)b);
}

HA_IN_ ha_status ha_box_check(const ha_launching *l) {
    int64_t lanes = 1;
    for (int d = 0; d < l->kernel->rank; d++) {
        const int64_t first = l->box.first[d], last = l->box.last[d];
        int64_t n;
        if (last < first) return ha_launch_fail(l, "lanes below zero", first, last);
        if (__builtin_sub_overflow(last, first, &n) || __builtin_mul_overflow(lanes, n, &lanes))
            return ha_launch_fail(l, "more lanes than can be counted", first, last);
    }
    return HA_OK;
}

/* As many as each array has elements. */
HA_IN_ ha_status ha_lanes_from_sizes(ha_launching *l) {
    const ha_kernel *k = l->kernel;
    int of = -1;
    for (int i = 0; i < k->parameters; i++) {
        if (!ha_is_array(&k->parameter[i])) continue;
        if (of < 0) of = i;
        if (l->argument[i].size != l->argument[of].size)
            return ha_fail(HA_ERR_ARGUMENT, k->name,
                           "%s: HA_ALL_LANES: %s has %lld elements, and %s has %lld", k->site,
                           k->parameter[of].name, (long long)l->argument[of].size,
                           k->parameter[i].name, (long long)l->argument[i].size);
    }
    if (of < 0)
        return ha_fail(HA_ERR_ARGUMENT, k->name, "%s: HA_ALL_LANES: no array is given", k->site);
    l->box = ha_box1(0, l->argument[of].size);
    return HA_OK;
}

/* Are the lanes exactly the indices of the argument? */
HA_IN_ int ha_lanes_are_all(const ha_launching *l, int i) {
    const ha_kernel_argument_ *a = &l->argument[i];
    const int rank = l->kernel->parameter[i].rank;
    if (!rank) return l->kernel->rank == 1 && !l->box.first[0] && l->box.last[0] == a->size;
    if (rank != l->kernel->rank) return 0;
    for (int d = 0; d < rank; d++)
        if (l->box.first[d] != a->view.origin[d] ||
            l->box.last[d] - l->box.first[d] != a->view.extent[d])
            return 0;
    return 1;
}

/* ---- opening ----------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_launch_take(ha_launching *l, int i) {
    const ha_kernel_parameter_ *p = &l->kernel->parameter[i];
    ha_kernel_argument_ *a = &l->argument[i];
    if (p->rank) {
        const ha_typed *t = (const ha_typed *)l->given[i];
        a->view = darray_of_typed_(t, HA_DTYPE_NONE, p->rank);
        memcpy(a->span.numbers, t->numbers, 3 * (size_t)p->rank * sizeof(int64_t));
        a->size = (int64_t)ha_view_size(&a->view);
    } else {
        a->view.array = *(ha_array *const *)l->given[i];
    }
    if (!a->view.array)
        return ha_fail(HA_ERR_ARGUMENT, l->kernel->name, "%s: %s: no array", l->kernel->site,
                       p->name);
    if (!p->rank) a->size = (int64_t)ha_array_size(a->view.array);
    return HA_OK;
}

HA_IN_ ha_status ha_launch_take_all(ha_launching *l) {
    for (int i = 0; i < l->kernel->parameters; i++) {
        if (!ha_is_array(&l->kernel->parameter[i])) continue;
        const ha_status s = ha_launch_take(l, i);
        if (s) return s;
    }
    return HA_OK;
}

HA_IN_ unsigned ha_launch_how(const ha_launching *l, int i) {
    switch (l->kernel->parameter[i].mode) {
    case HA_KERNEL_IN_:
        return HA_READ;
    case HA_KERNEL_OUT_:
        return ha_lanes_are_all(l, i) ? HA_OVERWRITE : HA_WRITE;
    default:
        return HA_WRITE;
    }
}

/* By their number: an array that becomes larger or smaller meanwhile is not what the lanes are for. */
HA_IN_ void ha_launch_request(ha_launching *l) {
    for (int i = 0; i < l->kernel->parameters; i++) {
        ha_kernel_argument_ *a = &l->argument[i];
        if (!ha_is_array(&l->kernel->parameter[i])) continue;
        a->access.array = NULL;
        l->request[l->requests++] = (ha_request){.access = &a->access,
                                                 .array = a->view.array,
                                                 .context = l->context,
                                                 .how = ha_launch_how(l, i),
                                                 .last = (size_t)a->size,
                                                 .view = l->kernel->parameter[i].rank ? &a->view
                                                                                      : NULL};
    }
}

/* Neither an element that is written for one argument and another one's, nor strides that loops would have
 * to count with. Different arrays never overlap. */
HA_IN_ int ha_launch_is_apart(const ha_launching *l) {
    for (size_t i = 0; i < l->requests; i++) {
        const ha_request *r = &l->request[i];
        if (r->view && r->view->extent[r->view->rank - 1] > 1 &&
            r->view->stride[r->view->rank - 1] != 1)
            return 0;
        for (size_t j = 0; j < i; j++)
            if (r->array == l->request[j].array && (r->how | l->request[j].how) != HA_READ)
                return 0;
    }
    return 1;
}

/* All is open, or about to be. */
HA_IN_ void ha_launch_point(ha_launching *l) {
    for (int i = 0; i < l->kernel->parameters; i++) {
        ha_kernel_argument_ *a = &l->argument[i];
        if (!ha_is_array(&l->kernel->parameter[i])) continue;
        a->span.data = l->kernel->parameter[i].rank ? ha_span_data(&a->access, &a->view)
                                                    : a->access.data;
    }
}

#endif
