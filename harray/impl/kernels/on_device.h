/* A launch on a device that has compiled the kernel: its arguments, and the lanes as teams. */
#ifndef HARRAY_IMPL_KERNELS_ON_DEVICE_H
#define HARRAY_IMPL_KERNELS_ON_DEVICE_H

#include "launching.h"
#include "programs.h"

enum {
    HA_MOST_ARGUMENTS = 2 * 3 + HA_MOST_PARAMETERS_ * (2 + 3 * HA_MOST_RANK),
    HA_TEAM_LANES = 256,      /* in a team, where the device has that many */
    HA_ROW_LANES = 64,        /* side by side, of these */
    HA_MOST_TEAMS_UP = 65535, /* but for the innermost dimension: of CUDA, section "Technical
                                 Specifications per Compute Capability" of its programming guide */
};
/* Work-items of one launch: some drivers count them in 32 bits. */
static const int64_t ha_most_items = INT64_C(1) << 30;

typedef struct ha_device_launch {
    ha_launch launch;
    ha_kernel_argument argument[HA_MOST_ARGUMENTS];
    int64_t first[3], last[3]; /* of the lanes, in the order of the indices */
} ha_device_launch;

HA_IN_ void ha_give_number(ha_device_launch *d, const void *number, size_t bytes) {
    d->argument[d->launch.arguments++] = (ha_kernel_argument){bytes, number};
}

/* The order is that of the entry's parameters: device_text.h. */
HA_IN_ void ha_give_argument(ha_device_launch *d, const ha_launching *l, int i) {
    const ha_kernel_parameter_ *p = &l->kernel->parameter[i];
    const ha_kernel_argument_ *a = &l->argument[i];
    if (!ha_is_array(p)) {
        if (p->bytes) ha_give_number(d, l->given[i], p->bytes);
        return;
    }
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
    for (int i = 0; i < l->kernel->parameters; i++) ha_give_argument(d, l, i);
}

/* How many lanes a team has in each dimension, the innermost first. */
HA_IN_ void ha_team_shape(ha_device_launch *d, const ha_compiled *x, int rank) {
    size_t most = x->limits.lanes && x->limits.lanes < HA_TEAM_LANES ? x->limits.lanes
                                                                     : HA_TEAM_LANES;
    const int64_t row = d->last[rank - 1] - d->first[rank - 1];
    size_t lanes = 1;
    while (2 * lanes <= most && (rank == 1 || lanes < HA_ROW_LANES) && (int64_t)lanes < row)
        lanes *= 2;
    for (int k = 0; k < 3; k++) d->launch.lanes[k] = 1;
    d->launch.lanes[0] = lanes;
    if (rank > 1) {
        const int64_t rows = d->last[rank - 2] - d->first[rank - 2];
        while (2 * lanes * d->launch.lanes[1] <= most && (int64_t)d->launch.lanes[1] < rows)
            d->launch.lanes[1] *= 2;
    }
}

/* How many lanes of an index go into one launch: with those of the indices inside of it, as many as a device
 * can count, but at least a team. */
HA_IN_ int64_t ha_most_of_index(const ha_device_launch *d, int rank, int index) {
    const int up = rank - 1 - index; /* the device's dimension */
    const int64_t team = (int64_t)d->launch.lanes[up];
    int64_t most = ha_most_items;
    for (int inner = rank - 1; inner > index; inner--) {
        const int64_t n = d->last[inner] - d->first[inner];
        const int64_t whole = (int64_t)d->launch.lanes[rank - 1 - inner]; /* teams are full */
        most = n < most - whole ? most / (n + whole - 1) : 1;
    }
    most = most > team ? most / team * team : team;
    return up && most > team * HA_MOST_TEAMS_UP ? team * HA_MOST_TEAMS_UP : most;
}

/* Launches the lanes of [first, last) in pieces of what a device can count, one index after the other. */
HA_IN_ ha_status ha_launch_pieces(ha_device_launch *d, const ha_launching *l, int index) {
    const int rank = l->kernel->rank, up = rank - 1 - index; /* the device's dimension */
    const int64_t first = d->first[index], last = d->last[index];
    const int64_t most = ha_most_of_index(d, rank, index);
    ha_status s = HA_OK;
    for (int64_t at = first; at < last && !s; at += most) {
        const int64_t n = last - at < most ? last - at : most;
        d->first[index] = at;
        d->last[index] = at + n;
        d->launch.teams[up] = ((size_t)n + d->launch.lanes[up] - 1) / d->launch.lanes[up];
        if (index + 1 < rank)
            s = ha_launch_pieces(d, l, index + 1);
        else
            s = ha_queue_status(l->context, l->context->ops->launch(l->context->queue, &d->launch));
        if (last - at <= most) break; /* at + most may be beyond what can be counted */
    }
    d->first[index] = first;
    d->last[index] = last;
    return s;
}

HA_IN_ ha_status ha_launch_on_device(const ha_launching *l, const ha_compiled *x) {
    ha_device_launch d = {.launch = {.kernel = x->entry, .teams = {1, 1, 1}}};
    d.launch.argument = d.argument;
    for (int k = 0; k < l->kernel->rank; k++) {
        d.first[k] = l->box.first[k];
        d.last[k] = l->box.last[k];
    }
    ha_give_all(&d, l);
    ha_team_shape(&d, x, l->kernel->rank);
    return ha_launch_pieces(&d, l, 0);
}

#endif
