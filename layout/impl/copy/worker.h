/* What one thread of a copy works with. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_WORKER_H
#define HARRAY_LAYOUT_IMPL_COPY_WORKER_H

#include <pthread.h>

#include "passes.h"
#include "runs_of_bytes.h"
#include "../simd/all.h"

enum {
    HA_COPY_AT_ONCE = 64, /* leaves */
    HA_COPY_AHEAD = 2048  /* bytes ahead of what is read that are fetched */
};

typedef struct ha_copy_worker {
    union {
        _Alignas(64) char stage[HA_COPY_STAGE];
        ha_line_program lines;
    };
    _Alignas(64) char values[2][HA_COPY_VALUES]; /* in both types of a conversion */
    _Alignas(64) char changed[HA_COPY_CHANGED];  /* what is converted and not yet moved */
    int64_t to_linear[HA_COPY_LIST], from_linear[HA_COPY_LIST];
    int64_t to_at[HA_COPY_LIST], from_at[HA_COPY_LIST];
    char *to_table[HA_COPY_AT_ONCE];
    const char *from_table[HA_COPY_AT_ONCE];
    ha_short_run chunk[HA_COPY_AT_ONCE];
    const ha_layout_plan *plan;
    const char *window;  /* the stage stands for the target from here on; NULL: it does not */
    int number, workers; /* which share of everything is its */
    int is_started;
    pthread_t thread;
} ha_copy_worker;

HA_IN_ char *ha_copy_target(ha_copy_worker *w, char *to) {
    return w->window ? w->stage + (to - w->window) : to;
}

/* Where what a leaf reads is for this worker. */
HA_IN_ const char *ha_copy_source(const ha_copy_worker *w, const ha_copy_leaf *leaf) {
    return leaf->is_changed ? leaf->from + (size_t)w->number * sizeof *w : leaf->from;
}

#endif
