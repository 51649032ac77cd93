/* Values that are not there as they are: by runs through a buffer, decoded and encoded by
 * values/mapped.h. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_RUNS_H
#define HARRAY_LAYOUT_IMPL_COPY_RUNS_H

#include "worker.h"
#include "../values/all.h"

/* Along which index the target's values are nearest. */
HA_IN_ int ha_copy_run_dimension(const ha_layout_plan *p, const ha_copy_leaf *leaf) {
    const ha_mapping *m = p->to->mapping;
    const int32_t number = m->row[leaf->to_number].linearizer;
    return number < 0 ? m->rank - 1 : m->linearizer[number].dimension[m->rank - 1];
}

/* The index of record number `number` of the region, index `along` being the fastest. */
HA_IN_ void ha_copy_index(const ha_layout_plan *p, int along, int64_t number, int64_t *index) {
    const int rank = p->to->mapping->rank;
    for (int k = rank; k >= 0; k--) {
        const int d = k == rank ? along : k;
        if (k == along) continue;
        index[d] = p->first[d] + number % (p->last[d] - p->first[d]);
        number /= p->last[d] - p->first[d];
    }
}

/* A run of values of one leaf, from record number `first` of the region on: its index, and how many, up
 * to before `last` and to the end of its row. */
typedef struct ha_copy_run {
    int64_t index[HA_MAPPING_RANK];
    int along;
    int64_t count;
} ha_copy_run;

HA_IN_ ha_copy_run ha_copy_run_at(const ha_layout_plan *p, const ha_copy_leaf *leaf, int64_t first,
                                  int64_t last) {
    ha_copy_run run = {.along = ha_copy_run_dimension(p, leaf)};
    ha_copy_index(p, run.along, first, run.index);
    run.count = ha_smaller(ha_smaller(last - first, HA_COPY_LIST),
                           p->last[run.along] - run.index[run.along]);
    return run;
}

HA_IN_ void ha_copy_leaf_runs(ha_copy_worker *w, const ha_copy_leaf *leaf, int64_t first,
                              int64_t last) {
    const ha_layout_plan *p = w->plan;
    const int is_same = leaf->to_scalar == leaf->from_scalar;
    for (ha_copy_run run; first < last; first += run.count) {
        run = ha_copy_run_at(p, leaf, first, last);
        ha_fetch_run(p->from, leaf->from_number, run.index, run.along, run.count, w->values[0]);
        if (!is_same)
            (void)ha_convert_scalars(w->values[1], leaf->to_scalar, w->values[0], leaf->from_scalar,
                                     (size_t)run.count);
        ha_keep_run(p->to, leaf->to_number, run.index, run.along, run.count,
                    w->values[is_same ? 0 : 1]);
    }
}

/* Neighbours' bits are in the same bytes. */
HA_IN_ int ha_copy_shares_bytes(const ha_layout_plan *p, const ha_copy_leaf *leaf) {
    const ha_mapping *m = p->to->mapping;
    const ha_coding *coding = ha_row_coding(m, &m->row[leaf->to_number]);
    return coding && coding->bits > 0;
}

/* Records from number `first` to before `last`, of leaves for which others may do the rest at the same
 * time; or of all others. */
HA_IN_ void ha_copy_runs(ha_copy_worker *w, const ha_copy_pass *pass, int shared, int64_t first,
                         int64_t last) {
    for (int64_t g = 0; g < pass->groups; g++)
        for (int64_t k = 0; k < pass->group[g].leaves; k++) {
            const ha_copy_leaf *leaf = &pass->group[g].leaf[k];
            if (ha_copy_shares_bytes(w->plan, leaf) == shared)
                ha_copy_leaf_runs(w, leaf, first, last);
        }
}

/* ---- before and behind it -------------------------------------------------------------------- */

/* Can all values be converted? If not, `misfit` is where the first is that cannot. */
HA_IN_ int ha_copy_leaf_fits(ha_copy_worker *w, const ha_copy_leaf *leaf, ha_copy_run *misfit) {
    const ha_layout_plan *p = w->plan;
    const size_t size = ha_dtype_size(leaf->from_scalar);
    int64_t fitting = 0;
    for (ha_copy_run run; fitting < p->records; fitting += run.count) {
        run = ha_copy_run_at(p, leaf, fitting, p->records);
        ha_fetch_run(p->from, leaf->from_number, run.index, run.along, run.count, w->values[0]);
        if (ha_scalars_fit(leaf->to_scalar, w->values[0], leaf->from_scalar, (size_t)run.count))
            continue;
        *misfit = run;
        for (char *value = w->values[0];
             ha_scalars_fit(leaf->to_scalar, value, leaf->from_scalar, 1); value += size)
            misfit->index[run.along]++;
        return 0;
    }
    return 1;
}

/* Tells instruments of what was read and written, each value once. */
HA_IN_ void ha_copy_count_values(const ha_layout_plan *p) {
    if (!p->to->mapping->counts && !p->from->mapping->counts) return;
    for (int64_t k = 0; k < p->leaves; k++) {
        const ha_copy_leaf *leaf = &p->leaf[k];
        int64_t done = 0;
        for (ha_copy_run run; done < p->records; done += run.count) {
            run = ha_copy_run_at(p, leaf, done, p->records);
            ha_count_run(p->from->mapping, leaf->from_number, run.index, run.along, run.count,
                         HA_READ_);
            ha_count_run(p->to->mapping, leaf->to_number, run.index, run.along, run.count,
                         HA_WRITE_);
        }
    }
}

#endif
