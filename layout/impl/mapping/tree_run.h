/* Runs of values in trees: how far offsets grow evenly with one index. */
#ifndef HARRAY_LAYOUT_IMPL_MAPPING_TREE_RUN_H
#define HARRAY_LAYOUT_IMPL_MAPPING_TREE_RUN_H

#include "../../mapping.h"
#include "../base/all.h"

/* An index of the branch while the record's index goes on: its value, what it grows by. */
typedef struct ha_growth {
    int64_t at[HA_TREE_NODES], by[HA_TREE_NODES];
} ha_growth;

/* Divides one of them by `every`. Gives how many times the record's index can go on before the rest
 * begins again; INT64_MAX: it does not. */
HA_IN_ int64_t ha_divide_growth(ha_growth *g, int32_t from, int64_t every, int64_t *rest,
                                int64_t *rest_by) {
    const int64_t by = g->by[from];
    *rest = g->at[from] % every;
    g->at[from] /= every;
    *rest_by = by % every;
    g->by[from] = by / every;
    return *rest_by == 0 ? INT64_MAX : (every - 1 - *rest) / *rest_by;
}

enum { HA_TREE_STEPS = HA_TREE_FUNCTORS * HA_TREE_NODES }; /* no list of functors makes more */

/* Which steps of a branch change no distance when they begin again: they never do, or what they divide
 * lies in its parts as it would in one piece. So whole runs are found at once. */
HA_IN_ void ha_find_smooth_steps(const ha_mapping *m, const ha_row *row, char *smooth) {
    const ha_branch *b = &m->branch[-1 - row->linearizer];
    const ha_tree_step *step = &m->tree_step[b->first_step];
    int64_t most[HA_TREE_NODES] = {0}, each[HA_TREE_NODES] = {0};
    int even[HA_TREE_NODES] = {
        0}; /* each: what one more of this index is, the steps behind included */
    for (int k = 0; k < b->nodes; k++) {
        most[k] = k < m->rank ? m->extent[k] - 1 : 0;
        each[k] = k < b->nodes - 1 ? b->stride[k] : row->lane_stride;
        even[k] = 1;
    }
    for (int k = 0; k < b->steps; k++) {
        const ha_tree_step *s = &step[k];
        smooth[k] = most[s->from] < s->every;
        most[s->to] += ha_smaller(most[s->from], s->every - 1) * s->copies;
        most[s->from] /= s->every;
    }
    for (int k = b->steps; k-- > 0;) {
        const ha_tree_step *s = &step[k];
        int64_t one, whole;
        if (s->every == 1) continue; /* divides nothing */
        even[s->to] &= !__builtin_mul_overflow(s->copies, each[s->to], &one);
        const int same = even[s->from] && !__builtin_mul_overflow(s->every, one, &whole) &&
                         each[s->from] == whole;
        smooth[k] = even[s->to] && (smooth[k] || same);
        even[s->from] = smooth[k];
        each[s->from] = one;
    }
}

/* *stride: from this value of a leaf to the next along a dimension; gives for how many values more that
 * is known to be so. */
HA_IN_ int64_t ha_even_values(const ha_mapping *m, const ha_row *row, const int64_t *index,
                              int dimension, const char *smooth, int64_t *stride) {
    const ha_branch *b = &m->branch[-1 - row->linearizer];
    ha_growth g = {{0}, {0}};
    int64_t even = INT64_MAX;
    for (int d = 0; d < m->rank; d++) g.at[d] = index[d];
    g.by[dimension] = 1;
    for (int k = 0; k < b->steps; k++) {
        const ha_tree_step *s = &m->tree_step[b->first_step + k];
        int64_t rest, by;
        const int64_t here = ha_divide_growth(&g, s->from, s->every, &rest, &by);
        if (!smooth[k]) even = ha_smaller(even, here);
        g.at[s->to] += rest * s->copies;
        g.by[s->to] += by * s->copies;
    }
    *stride = g.by[b->nodes - 1] * row->lane_stride;
    for (int k = 0; k < b->nodes - 1; k++) *stride += g.by[k] * b->stride[k];
    return even;
}

/* The run from this index on, of which run->dimension and run->offset are said; `left` values are to
 * the end of the extent. Even pieces that fit to each other are one run. */
HA_IN_ void ha_find_tree_run(const ha_mapping *m, const ha_row *row, const int64_t *index,
                             int64_t left, ha_run_of_values *run) {
    int64_t at[HA_MAPPING_RANK] = {0}, stride = 0, all = 0, here = run->offset;
    char smooth[HA_TREE_STEPS];
    for (int d = 0; d < m->rank; d++) at[d] = index[d];
    ha_find_smooth_steps(m, row, smooth);
    run->count = 1;
    while (run->count < left) {
        int64_t even = ha_smaller(ha_even_values(m, row, at, run->dimension, smooth, &stride),
                                  left - run->count);
        HA_LAYOUT_STEP_();
        if (run->count > 1 && stride != all) break;
        all = stride;
        at[run->dimension] += ha_larger(even, 1);
        if (even == 0) { /* something begins again: perhaps at the same distance all the same */
            if (ha_row_at(m, row, at) - here != stride) break;
            even = 1;
        }
        run->count += even;
        here += even * stride;
    }
    run->stride = run->count > 1 ? all : 0;
}

#endif
