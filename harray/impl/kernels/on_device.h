/* A launch on a device that has compiled the kernel: its arguments, and the lanes as teams. */
#ifndef HARRAY_IMPL_KERNELS_ON_DEVICE_H
#define HARRAY_IMPL_KERNELS_ON_DEVICE_H

#include "launching.h"
#include "programs.h"

enum {
    HA_ARGUMENT_BYTES = 1000, /* of a launch: OpenCL has 1,024 everywhere */
    HA_MOST_ARGUMENTS = HA_ARGUMENT_BYTES / 8 + HA_MOST_ARGUMENTS_ + 5,
    HA_TEAM_LANES =
        256, /* in a team, where the device has that many, and the kernel says nothing else */
    HA_ROW_LANES = 64,        /* side by side, of these; on a CPU, a team has no more */
    HA_MOST_TEAMS_UP = 65535, /* but for the innermost dimension: of CUDA, section "Technical
                                 Specifications per Compute Capability" of its programming guide */
};
/* Work-items of one launch: some drivers count them in 32 bits. */
static const int64_t ha_most_items = INT64_C(1) << 30;

typedef struct ha_device_launch {
    ha_launch launch;
    ha_kernel_argument argument[HA_MOST_ARGUMENTS];
    int64_t first[HA_MAPPING_RANK],
        last[HA_MAPPING_RANK]; /* of the lanes, in the order of the indices */
    int64_t extent[HA_MOST_PARAMETERS_][HA_MAPPING_RANK]; /* of records */
} ha_device_launch;

HA_IN_ void ha_give_number(ha_device_launch *d, const void *number, size_t bytes) {
    d->argument[d->launch.arguments++] = (ha_kernel_argument){bytes, number};
}

/* Of the entry's parameters: pointers and numbers have 8. */
HA_IN_ size_t ha_argument_bytes(const ha_launching *l, const ha_kernel_variant *v) {
    int records = 0;
    size_t bytes = 2 * (size_t)l->kernel->rank * sizeof(int64_t);
    for (int i = 0; i < l->arguments; i++) {
        const ha_kernel_parameter_ *p = ha_parameter_of(l, i);
        if (p->mode == HA_KERNEL_VALUE_) bytes += p->bytes;
        if (p->mode == HA_KERNEL_RECORDS_) {
            const ha_mapping *m = v->mapping[records++];
            bytes += ((size_t)m->rank + 2 * (size_t)m->blobs) * sizeof(int64_t);
        }
        if (ha_is_array(p)) bytes += (3 + 3 * (size_t)p->rank) * sizeof(int64_t);
    }
    if (l->kernel->reduction) bytes += 7 * sizeof(int64_t); /* see reduction_text.h */
    return bytes;
}

HA_IN_ ha_status ha_device_check(const ha_launching *l, const ha_kernel_variant *v) {
    const size_t bytes = ha_argument_bytes(l, v);
    if (bytes <= HA_ARGUMENT_BYTES) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, l->kernel->name,
                   "%s: too many arguments for %s: %zu bytes, and at most %d",
                   ha_kernel_site(l->kernel), l->context->name, bytes, HA_ARGUMENT_BYTES);
}

HA_IN_ void ha_give_records(ha_device_launch *d, const ha_launching *l, const ha_used_records *u) {
    const ha_mapping *m = u->opened.mapping;
    int64_t *extent = d->extent[u - l->used];
    for (int k = 0; k < m->rank; k++) {
        extent[k] = m->extent[k];
        ha_give_number(d, &extent[k], sizeof extent[k]);
    }
    for (int32_t b = 0; b < m->blobs; b++) ha_give_number(d, u->opened.blob[b], 0);
}

/* The order is that of the entry's parameters: device_text.h. */
HA_IN_ void ha_give_argument(ha_device_launch *d, const ha_launching *l, int i) {
    const ha_kernel_parameter_ *p = ha_parameter_of(l, i);
    const ha_kernel_argument_ *a = &l->argument[i];
    if (p->mode == HA_KERNEL_VALUE_) ha_give_number(d, a->given, p->bytes);
    if (p->mode == HA_KERNEL_RECORDS_) ha_give_records(d, l, a->used);
    if (!ha_is_array(p)) return;
    ha_give_number(d, a->access.data, 0);
    ha_give_number(d, &a->size, sizeof a->size);
    for (int n = 0; n < 3 * p->rank; n++)
        ha_give_number(d, &a->span.numbers[n], sizeof *a->span.numbers);
}

HA_IN_ void ha_give_all(ha_device_launch *d, const ha_launching *l) {
    d->launch.arguments = 0;
    for (int k = 0; k < l->kernel->rank; k++) {
        ha_give_number(d, &d->first[k], sizeof d->first[k]);
        ha_give_number(d, &d->last[k], sizeof d->last[k]);
    }
    for (int i = 0; i < l->arguments; i++) ha_give_argument(d, l, i);
}

/* How many lanes a team has in each dimension, the innermost first: where the kernel does not say. A CPU goes through
 * a team's lanes as through memory: best along a row. */
HA_IN_ void ha_team_shape(ha_device_launch *d, const ha_compiled *x, int rank) {
    const int by_rows = rank > 1 && x->limits.multiple == 1;
    const size_t wanted = ha_kernel_option(x->kernel, HA_OPTION_block_,
                                           by_rows ? HA_ROW_LANES : HA_TEAM_LANES);
    const size_t most = x->limits.lanes && x->limits.lanes < wanted ? x->limits.lanes : wanted;
    const size_t in_row = rank > 1 && !by_rows ? HA_ROW_LANES : most;
    const int64_t row = d->last[rank - 1] - d->first[rank - 1];
    size_t lanes = 1;
    while (2 * lanes <= most && lanes < in_row && (int64_t)lanes < row) lanes *= 2;
    for (int k = 0; k < 3; k++) d->launch.lanes[k] = 1;
    d->launch.lanes[0] = lanes;
    if (rank > 1) {
        const int64_t rows = d->last[rank - 2] - d->first[rank - 2];
        while (2 * lanes * d->launch.lanes[1] <= most && (int64_t)d->launch.lanes[1] < rows)
            d->launch.lanes[1] *= 2;
    }
}

/* How many indices of a dimension a team has. Those of a team kernel count teams, and no device has a fourth dimension. */
HA_IN_ int64_t ha_indices_of_team(const ha_device_launch *d, const ha_launching *l, int index) {
    const int up = l->kernel->rank - 1 - index;
    return l->kernel->team || up > 2 ? 1 : (int64_t)d->launch.lanes[up];
}

/* How many indices go into one launch: with those inside of them as many lanes as a device can count, but at least
 * a team. */
HA_IN_ int64_t ha_most_of_index(const ha_device_launch *d, const ha_launching *l, int index) {
    const int rank = l->kernel->rank, up = rank - 1 - index; /* the device's dimension */
    const size_t *lanes = d->launch.lanes;
    int64_t teams = ha_most_items / (int64_t)(lanes[0] * lanes[1] * lanes[2]);
    for (int inner = rank - 1; inner > index; inner--) {
        const int64_t n = d->last[inner] - d->first[inner], each = ha_indices_of_team(d, l, inner);
        teams /= n / each + (n % each > 0);
    }
    if (up > 2 || teams < 1) teams = 1;
    if (up && teams > HA_MOST_TEAMS_UP) teams = HA_MOST_TEAMS_UP;
    return teams * ha_indices_of_team(d, l, index);
}

/* One piece, or one step. */
HA_IN_ ha_status ha_launch_piece(const ha_device_launch *d, ha_launching *l) {
    ha_context *c = l->context;
    const ha_status s = ha_queue_status(c, c->ops->launch(c->queue, &d->launch));
    l->launched += !s;
    return s;
}

/* Launches [first, last), of lanes or of teams, in pieces of what a device can count: of the index that is its
 * dimension `up`, and then of those further in, down to 0. */
HA_IN_ ha_status ha_launch_pieces(ha_device_launch *d, ha_launching *l, int up) {
    const int index = l->kernel->rank - 1 - up;
    const int64_t first = d->first[index], last = d->last[index];
    const int64_t most = ha_most_of_index(d, l, index), each = ha_indices_of_team(d, l, index);
    ha_status s = HA_OK;
    for (int64_t at = first; at < last && !s; at += most) {
        const int64_t n = last - at < most ? last - at : most;
        d->first[index] = at;
        d->last[index] = at + n;
        if (up < 3) d->launch.teams[up] = (size_t)((n + each - 1) / each);
        if (up > 0)
            s = ha_launch_pieces(d, l, up - 1);
        else
            s = ha_launch_piece(d, l);
        if (last - at <= most) break; /* at + most may be beyond what can be counted */
    }
    d->first[index] = first;
    d->last[index] = last;
    return s;
}

HA_IN_ ha_status ha_launch_on_device(ha_launching *l, const ha_compiled *x) {
    ha_device_launch d = {.launch = {.kernel = x->entry, .teams = {1, 1, 1}}};
    d.launch.argument = d.argument;
    for (int k = 0; k < l->kernel->rank; k++) {
        d.first[k] = l->box.first[k];
        d.last[k] = l->box.last[k];
    }
    ha_give_all(&d, l);
    if (l->kernel->team)
        for (int k = 0; k < 3; k++) d.launch.lanes[k] = (size_t)l->kernel->team->lanes[k];
    else
        ha_team_shape(&d, x, l->kernel->rank);
    return ha_launch_pieces(&d, l, l->kernel->rank - 1);
}

#endif
