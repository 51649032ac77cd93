/* A launch, until it runs: what is given, the lanes, and opening all of it or nothing. */
#ifndef HARRAY_IMPL_KERNELS_LAUNCHING_H
#define HARRAY_IMPL_KERNELS_LAUNCHING_H

#include "variant.h"
#include "../../reduce.h"
#include "../records/all.h"

/* The span of a view, as the head of its span_T_D: the rank is the parameter's. */
typedef struct ha_kernel_span {
    void *data;
    int64_t numbers[3 * HA_MOST_RANK]; /* extents, strides, origins */
} ha_kernel_span;

struct ha_used_records;
typedef struct ha_kernel_argument_ {
    ha_kernel_leaf leaf;
    const void *given;
    ha_access access;
    struct ha_used_records *used; /* of records, instead of what follows */
    darray view;
    ha_kernel_span span;
    int64_t size;
    size_t first; /* element that is opened */
} ha_kernel_argument_;

/* A record array that is given. */
typedef struct ha_used_records {
    ha_fitting fitting; /* the first member: see ha_used_fits */
    const ha_kernel_parameter_ *parameter;
    ha_kernel_use_ given;
    ha_records_access opened;
    const char *layout; /* for which the kernel has been compiled; NULL: it is not */
    ha_error error;
} ha_used_records;

typedef struct ha_launching {
    const ha_kernel *kernel;
    ha_context *context;
    const struct ha_compiled *compiled; /* for the device; NULL: the loops run */
    ha_region box;
    int arguments, records;
    ha_kernel_argument_ argument[HA_MOST_ARGUMENTS_];
    ha_used_records used[HA_MOST_PARAMETERS_];
    ha_request request[HA_MOST_ARGUMENTS_];
    ha_fitting *fitting[HA_MOST_ARGUMENTS_]; /* of each request; NULL: of an array */
    size_t requests;
    void *room;     /* of a reduction on a device: for its steps; NULL: it needs none */
    int launched;   /* pieces of it, or steps, that a device has taken */
    ha_status late; /* of the first one that it has not taken behind these, */
    ha_note note;   /* and what the backend said of it */
} ha_launching;

HA_IN_ const ha_kernel_parameter_ *ha_parameter_of(const ha_launching *l, int i) {
    return l->argument[i].leaf.parameter;
}

/* ---- the lanes --------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_launch_fail(const ha_launching *l, const char *what, int64_t a, int64_t b) {
    return ha_fail(HA_ERR_ARGUMENT, l->kernel->name, "%s: %s: [%lld, %lld)",
                   ha_kernel_site(l->kernel), what, (long long)a, (long long)b);
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
    if (leaf->parameter->mode == HA_KERNEL_RESULT_) return 0;
    return leaf->parameter->mode >= HA_KERNEL_IN_ && !leaf->bundle;
}

/* For messages: "x", or "x, array 'pressure',". */
typedef struct ha_launched_name {
    char text[sizeof(ha_leaf_name) + sizeof(ha_name) + sizeof ", array '',"];
} ha_launched_name;
HA_IN_ ha_launched_name ha_name_of_launched(const ha_launching *l, int i) {
    const ha_name name = ha_name_of(l->argument[i].view.array);
    ha_launched_name both;
    ha_text t = ha_text_into(both.text, sizeof both.text);
    ha_print(&t, "%s", ha_name_of_leaf(&l->argument[i].leaf).text);
    if (*name.text) ha_print(&t, ", array '%s',", name.text);
    return both;
}

/* As many as each array has elements. */
HA_IN_ ha_status ha_lanes_from_sizes(ha_launching *l) {
    const ha_kernel *k = l->kernel;
    int of = -1;
    if (k->team)
        return ha_fail(HA_ERR_ARGUMENT, k->name,
                       "%s: HA_ALL_LANES: a team kernel is given teams: HA_TEAMS(%d, n)",
                       ha_kernel_site(k), k->team->lanes[0]);
    for (int i = 0; i < l->arguments; i++) {
        if (!ha_counts_lanes(&l->argument[i].leaf)) continue;
        if (of < 0) of = i;
        if (l->argument[i].size != l->argument[of].size)
            return ha_fail(
                HA_ERR_ARGUMENT, k->name, "%s: HA_ALL_LANES: %s has %lld elements, and %s has %lld",
                ha_kernel_site(k), ha_name_of_launched(l, of).text, (long long)l->argument[of].size,
                ha_name_of_launched(l, i).text, (long long)l->argument[i].size);
    }
    if (of < 0)
        return ha_fail(HA_ERR_ARGUMENT, k->name, "%s: HA_ALL_LANES: no array is given",
                       ha_kernel_site(k));
    l->box = ha_box1(0, l->argument[of].size);
    return HA_OK;
}

/* Are these indices of the d-th dimension those of a launch? Of teams: as many as these indices need. */
HA_IN_ int ha_lanes_are(const ha_launching *l, int d, int64_t first, int64_t n) {
    const ha_team_ *team = l->kernel->team;
    const int64_t each = team ? team->lanes[l->kernel->rank - 1 - d] : 1;
    return l->box.first[d] == (team ? 0 : first) && (!team || !first) &&
           l->box.last[d] - l->box.first[d] == ha_teams_(each, n);
}

/* Are the lanes exactly the indices of the argument? */
HA_IN_ int ha_lanes_are_all(const ha_launching *l, int i) {
    const ha_kernel_argument_ *a = &l->argument[i];
    const int rank = ha_parameter_of(l, i)->rank;
    if (!rank) return l->kernel->rank == 1 && ha_lanes_are(l, 0, 0, a->size);
    if (rank != l->kernel->rank) return 0;
    for (int d = 0; d < rank; d++)
        if (!ha_lanes_are(l, d, a->view.origin[d], a->view.extent[d])) return 0;
    return 1;
}

/* ---- opening ----------------------------------------------------------------------------------- */

/* The element that a reduction writes; to the host it needs no access. */
HA_IN_ ha_status ha_launch_take_result(ha_launching *l, ha_kernel_argument_ *a,
                                       const ha_kernel_result_ *result) {
    const size_t size = result->array ? ha_array_size(result->array) : 0;
    a->view.array = result->array;
    a->span.data = result->value;
    a->size = 1;
    a->first = result->index;
    if (result->value || result->index < size) return HA_OK;
    if (!result->array)
        return ha_fail(HA_ERR_ARGUMENT, l->kernel->name, "%s: no place for the result",
                       ha_kernel_site(l->kernel));
    return ha_fail(HA_ERR_ARGUMENT, l->kernel->name,
                   "%s: the result is to be element %zu of an array of %zu",
                   ha_kernel_site(l->kernel), result->index, size);
}

HA_IN_ ha_status ha_argument_fail(const ha_launching *l, int i, const char *what) {
    return ha_fail(HA_ERR_ARGUMENT, l->kernel->name, "%s: %s: %s", ha_kernel_site(l->kernel),
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
    a->first = 0;
    if (p->mode == HA_KERNEL_RESULT_)
        return ha_launch_take_result(l, a, (const ha_kernel_result_ *)a->given);
    if (p->rank) {
        const ha_typed *t = (const ha_typed *)a->given;
        a->view = darray_of_typed_(t, HA_DTYPE_NONE, p->rank);
        memcpy(a->span.numbers, t->numbers, 3 * (size_t)p->rank * sizeof(int64_t));
        a->size = (int64_t)ha_view_size(&a->view);
    } else {
        a->view.array = *(ha_array *const *)a->given;
    }
    if (!a->view.array) return ha_argument_fail(l, i, "no array");
    if (ha_is_freed(a->view.array)) {
        char place[300];
        snprintf(place, sizeof place, "%s: %s", ha_kernel_site(l->kernel),
                 ha_name_of_leaf(&a->leaf).text);
        return ha_fail_freed(ha_lockable(a->view.array), l->kernel->name, place);
    }
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
                           ha_kernel_site(l->kernel), ha_name_of_leaf(&a->leaf).text,
                           ha_name_of_leaf(&b->leaf).text);
        }
    return HA_OK;
}

/* What views of its type cannot show is refused when it is opened: fits. */
HA_IN_ int ha_used_fits(ha_fitting *f, const ha_placement *p) {
    const ha_used_records *u = (const ha_used_records *)(void *)f;
    return (!u->layout || !strcmp(u->layout, p->mapping->text)) && ha_view_fits(f, p);
}

HA_IN_ ha_status ha_launch_take_records(const ha_launching *l, ha_kernel_argument_ *a) {
    const ha_kernel_parameter_ *p = a->leaf.parameter;
    const ha_kernel_use_ *use = (const ha_kernel_use_ *)a->given;
    ha_used_records *u = a->used;
    *u = (ha_used_records){.parameter = p, .given = *use};
    u->fitting = (ha_fitting){.fits = ha_used_fits,
                              .type = p->records,
                              .view = use->view,
                              .bytes = p->bytes,
                              .error = &u->error};
    return ha_records_enter(use->records, l->kernel->name, p->site);
}

/* All records, of the kernels that go over them. */
HA_IN_ void ha_lanes_from_records(ha_launching *l) {
    const ha_records *r = l->used[0].given.records;
    l->box = ha_box1(0, 1);
    for (int d = 0; d < l->kernel->rank; d++) l->box.last[d] = ha_records_extent(r, d);
}

/* given: by parameter; of a bundle the struct of what its members are given. */
HA_IN_ ha_status ha_launch_take_all(ha_launching *l, const void *const *given) {
    const ha_kernel *k = l->kernel;
    int constants = 0;
    l->arguments = l->records = 0;
    for (int i = 0; i < k->parameters; i++) {
        const ha_kernel_parameter_ *p = &k->parameter[i];
        const int is_bundle = p->mode == HA_KERNEL_BUNDLE_;
        for (int m = 0; m < (is_bundle ? p->rank : 1); m++) {
            const int n = l->arguments++;
            ha_kernel_argument_ *a = &l->argument[n];
            a->leaf = (ha_kernel_leaf){is_bundle ? &p->member[m] : p, is_bundle ? p : NULL};
            a->given = is_bundle ? (const char *)given[i] + p->member[m].offset : given[i];
            constants |= a->leaf.parameter->mode == HA_KERNEL_CONSTANT_;
            if (a->leaf.parameter->mode == HA_KERNEL_RECORDS_) {
                a->used = &l->used[l->records++];
                const ha_status s = ha_launch_take_records(l, a);
                if (s) return s;
            }
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
    case HA_KERNEL_RESULT_:
        return HA_OVERWRITE;
    default:
        return HA_WRITE;
    }
}

/* Of the records that lanes are for, those of the lanes. */
HA_IN_ void ha_records_request(ha_launching *l, ha_used_records *u) {
    const int is_each = l->kernel->each && u == l->used;
    const ha_region *box = u->given.box ? u->given.box : is_each ? &l->box : NULL;
    l->fitting[l->requests] = &u->fitting;
    l->request[l->requests++] = (ha_request){.opened = &u->opened,
                                             .records = u->given.records,
                                             .context = l->context,
                                             .what = u->parameter->what,
                                             .last = HA_END,
                                             .box = box,
                                             .reads_all_ = !u->given.box,
                                             .updates_ = u->parameter->updates,
                                             .site_ = u->parameter->site};
}

/* By their number: an array that becomes larger or smaller meanwhile is not what the lanes are for. */
HA_IN_ void ha_launch_request(ha_launching *l) {
    for (int i = 0; i < l->arguments; i++) {
        ha_kernel_argument_ *a = &l->argument[i];
        if (a->leaf.parameter->mode == HA_KERNEL_RECORDS_) ha_records_request(l, a->used);
        if (!ha_is_array(a->leaf.parameter) || !a->view.array) continue;
        l->fitting[l->requests] = NULL;
        a->access.array = NULL;
        l->request[l->requests++] = (ha_request){.access = &a->access,
                                                 .array = a->view.array,
                                                 .context = l->context,
                                                 .how = ha_launch_how(l, i),
                                                 .first = a->first,
                                                 .last = a->first + (size_t)a->size,
                                                 .view = a->leaf.parameter->rank ? &a->view : NULL,
                                                 .updates_ = a->leaf.parameter->updates,
                                                 .site_ = a->leaf.parameter->site};
    }
}

/* Neither an element that is written for one argument and another one's, nor strides that loops would have
 * to count with: that of a single index, too, unless it is 0. Different arrays never overlap. */
HA_IN_ int ha_launch_is_apart(const ha_launching *l) {
    for (size_t i = 0; i < l->requests; i++) {
        const ha_request *r = &l->request[i];
        const darray *v = r->view;
        const int last = v ? v->rank - 1 : 0;
        if (v && (v->extent[last] > 1 || v->origin[last]) && v->stride[last] != 1) return 0;
        for (size_t j = 0; j < i; j++)
            if (r->array && r->array == l->request[j].array &&
                (r->how | l->request[j].how) != HA_READ)
                return 0;
    }
    return 1;
}

/* Whether all was refused because the layout of records is another one than it was before: that is no error. */
HA_IN_ int ha_launch_misfits(const ha_launching *l) {
    for (int i = 0; i < l->records; i++)
        if (l->used[i].fitting.misfit) return 1;
    return 0;
}

/* Views of records that are open; on the host they are kept, for easy launches. */
HA_IN_ ha_status ha_launch_view(ha_launching *l, ha_used_records *u) {
    const ha_records_type_ *type = u->parameter->records;
    const ha_status s = ha_make_view(type, u->opened.mapping, u->opened.blob, u->given.view,
                                     &u->error);
    if (s)
        return ha_view_refused(u->given.records, type, l->context, "changing", &u->error,
                               u->parameter->site);
    if (ha_is_host(l->context) && !HA_DEBUGGING_) ha_records_keep_view(&u->opened, &u->fitting);
    return HA_OK;
}

HA_NOINLINE_ HA_IN_ ha_status ha_launch_open_together(ha_launching *l) {
    HA_TELLS_EVENTS_;
    return ha_open_together(l->request, l->requests, l->fitting, NULL, l->kernel->site);
}

/* All is open, or about to be. */
HA_IN_ ha_status ha_launch_point(ha_launching *l) {
    ha_status s = HA_OK;
    for (int i = 0; i < l->records && !s; i++) s = ha_launch_view(l, &l->used[i]);
    for (int i = 0; i < l->arguments; i++) {
        ha_kernel_argument_ *a = &l->argument[i];
        if (!ha_is_array(a->leaf.parameter) || !a->view.array) continue;
        a->span.data = a->leaf.parameter->rank ? ha_span_data(&a->access, &a->view)
                                               : a->access.data;
    }
    return s;
}

#endif
