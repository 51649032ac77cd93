/* A launch, until it runs: what is given, the lanes, and opening all of it or nothing. */
#ifndef HARRAY_IMPL_KERNELS_LAUNCHING_H
#define HARRAY_IMPL_KERNELS_LAUNCHING_H

#include "arguments.h"

/* The span of a view, as the head of its span_T_D: the rank is the parameter's. */
typedef struct ha_kernel_span {
    void *data;
    int64_t numbers[3 * HA_MOST_RANK]; /* extents, strides, origins */
} ha_kernel_span;

typedef struct ha_kernel_argument_ {
    ha_kernel_leaf leaf;
    const void *given;
    ha_access access;
    darray view;
    ha_kernel_span span;
    int64_t size;
} ha_kernel_argument_;

typedef struct ha_launching {
    const ha_kernel *kernel;
    ha_context *context;
    ha_region box;
    int arguments;
    ha_kernel_argument_ argument[HA_MOST_ARGUMENTS_];
    ha_request request[HA_MOST_ARGUMENTS_];
    size_t requests;
} ha_launching;

HA_IN_ const ha_kernel_parameter_ *ha_parameter_of(const ha_launching *l, int i) {
    return l->argument[i].leaf.parameter;
}

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

/* Has it as many elements as there are lanes? Tables have what they have. */
HA_IN_ int ha_counts_lanes(const ha_kernel_leaf *leaf) {
    return leaf->parameter->mode >= HA_KERNEL_IN_ && !leaf->bundle;
}

/* As many as each array has elements. */
HA_IN_ ha_status ha_lanes_from_sizes(ha_launching *l) {
    const ha_kernel *k = l->kernel;
    int of = -1;
    for (int i = 0; i < l->arguments; i++) {
        if (!ha_counts_lanes(&l->argument[i].leaf)) continue;
        if (of < 0) of = i;
        if (l->argument[i].size != l->argument[of].size)
            return ha_fail(HA_ERR_ARGUMENT, k->name,
                           "%s: HA_ALL_LANES: %s has %lld elements, and %s has %lld", k->site,
                           ha_parameter_of(l, of)->name, (long long)l->argument[of].size,
                           ha_parameter_of(l, i)->name, (long long)l->argument[i].size);
    }
    if (of < 0)
        return ha_fail(HA_ERR_ARGUMENT, k->name, "%s: HA_ALL_LANES: no array is given", k->site);
    l->box = ha_box1(0, l->argument[of].size);
    return HA_OK;
}

/* Are the lanes exactly the indices of the argument? */
HA_IN_ int ha_lanes_are_all(const ha_launching *l, int i) {
    const ha_kernel_argument_ *a = &l->argument[i];
    const int rank = ha_parameter_of(l, i)->rank;
    if (!rank) return l->kernel->rank == 1 && !l->box.first[0] && l->box.last[0] == a->size;
    if (rank != l->kernel->rank) return 0;
    for (int d = 0; d < rank; d++)
        if (l->box.first[d] != a->view.origin[d] ||
            l->box.last[d] - l->box.first[d] != a->view.extent[d])
            return 0;
    return 1;
}

/* ---- opening ----------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_argument_fail(const ha_launching *l, int i, const char *what) {
    return ha_fail(HA_ERR_ARGUMENT, l->kernel->name, "%s: %s: %s", l->kernel->site,
                   ha_name_of_leaf(&l->argument[i].leaf).text, what);
}

HA_IN_ ha_status ha_constant_check(const ha_launching *l, int i) {
    const size_t bytes = (size_t)l->argument[i].size * ha_parameter_of(l, i)->bytes;
    char text[100];
    if (bytes <= HA_CONSTANT_BYTES_) return HA_OK;
    snprintf(text, sizeof text, "a constant of %zu bytes: at most %d", bytes, HA_CONSTANT_BYTES_);
    return ha_argument_fail(l, i, text);
}

HA_IN_ ha_status ha_launch_take(ha_launching *l, int i) {
    ha_kernel_argument_ *a = &l->argument[i];
    const ha_kernel_parameter_ *p = a->leaf.parameter;
    if (p->rank) {
        const ha_typed *t = (const ha_typed *)a->given;
        a->view = darray_of_typed_(t, HA_DTYPE_NONE, p->rank);
        memcpy(a->span.numbers, t->numbers, 3 * (size_t)p->rank * sizeof(int64_t));
        a->size = (int64_t)ha_view_size(&a->view);
    } else {
        a->view.array = *(ha_array *const *)a->given;
    }
    if (!a->view.array) return ha_argument_fail(l, i, "no array");
    if (!p->rank) a->size = (int64_t)ha_array_size(a->view.array);
    return p->mode == HA_KERNEL_CONSTANT_ ? ha_constant_check(l, i) : HA_OK;
}

/* Constants are in a memory that lanes do not see changing. */
HA_IN_ ha_status ha_constants_check(const ha_launching *l) {
    for (int i = 0; i < l->arguments; i++)
        for (int j = 0; j < l->arguments; j++) {
            const ha_kernel_argument_ *a = &l->argument[i], *b = &l->argument[j];
            if (a->leaf.parameter->mode != HA_KERNEL_CONSTANT_ ||
                !ha_is_written(b->leaf.parameter) || a->view.array != b->view.array)
                continue;
            return ha_fail(HA_ERR_ARGUMENT, l->kernel->name,
                           "%s: %s: a constant, and the kernel writes the same array as %s",
                           l->kernel->site, ha_name_of_leaf(&a->leaf).text,
                           ha_name_of_leaf(&b->leaf).text);
        }
    return HA_OK;
}

/* given: by parameter; of a bundle the struct of what its members are given. */
HA_IN_ ha_status ha_launch_take_all(ha_launching *l, const void *const *given) {
    const ha_kernel *k = l->kernel;
    int constants = 0;
    l->arguments = 0;
    for (int i = 0; i < k->parameters; i++) {
        const ha_kernel_parameter_ *p = &k->parameter[i];
        const int is_bundle = p->mode == HA_KERNEL_BUNDLE_;
        for (int m = 0; m < (is_bundle ? p->rank : 1); m++) {
            const int n = l->arguments++;
            ha_kernel_argument_ *a = &l->argument[n];
            a->leaf = (ha_kernel_leaf){is_bundle ? &p->member[m] : p, is_bundle ? p : NULL};
            a->given = is_bundle ? (const char *)given[i] + p->member[m].offset : given[i];
            constants |= a->leaf.parameter->mode == HA_KERNEL_CONSTANT_;
            if (!ha_is_array(a->leaf.parameter)) continue;
            const ha_status s = ha_launch_take(l, n);
            if (s) return s;
        }
    }
    return constants ? ha_constants_check(l) : HA_OK;
}

HA_IN_ unsigned ha_launch_how(const ha_launching *l, int i) {
    switch (ha_parameter_of(l, i)->mode) {
    case HA_KERNEL_CONSTANT_:
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
    for (int i = 0; i < l->arguments; i++) {
        ha_kernel_argument_ *a = &l->argument[i];
        if (!ha_is_array(a->leaf.parameter)) continue;
        a->access.array = NULL;
        l->request[l->requests++] = (ha_request){.access = &a->access,
                                                 .array = a->view.array,
                                                 .context = l->context,
                                                 .how = ha_launch_how(l, i),
                                                 .last = (size_t)a->size,
                                                 .view = a->leaf.parameter->rank ? &a->view : NULL};
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

HA_IN_ ha_status ha_launch_open(ha_launching *l) {
    const ha_status s = ha_open_many_(l->request, l->requests, l->kernel->site);
    for (int i = 0; i < l->arguments && !s; i++) {
        ha_kernel_argument_ *a = &l->argument[i];
        if (!ha_is_array(a->leaf.parameter)) continue;
        a->span.data = a->leaf.parameter->rank ? ha_span_data(&a->access, &a->view)
                                               : a->access.data;
    }
    return s;
}

#endif
