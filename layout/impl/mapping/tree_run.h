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

/* *stride: from this value of a leaf to the next along a dimension; gives for how many values more that
 * is known to be so. */
HA_IN_ int64_t ha_even_values(const ha_mapping *m, const ha_row *row, const int64_t *index,
                              int dimension, int64_t *stride) {
    const ha_branch *b = &m->branch[-1 - row->linearizer];
    ha_growth g = {{0}, {0}};
    int64_t even = INT64_MAX;
    for (int d = 0; d < m->rank; d++) g.at[d] = index[d];
    g.by[dimension] = 1;
    for (int k = 0; k < b->steps; k++) {
        const ha_tree_step *s = &m->tree_step[b->first_step + k];
        int64_t rest, by;
        even = ha_smaller(even, ha_divide_growth(&g, s->from, s->every, &rest, &by));
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
    for (int d = 0; d < m->rank; d++) at[d] = index[d];
    run->count = 1;
    while (run->count < left) {
        int64_t even = ha_smaller(ha_even_values(m, row, at, run->dimension, &stride),
                                  left - run->count);
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
