/* Values that are not there as they are: by runs through a buffer, decoded and encoded by mapped.h. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_RUNS_H
#define HARRAY_LAYOUT_IMPL_COPY_RUNS_H

#include "copy_list.h"
#include "mapped.h"

/* Along which index the target's values are nearest. */
static int ha_copy_run_dimension(const ha_layout_plan *p, const ha_copy_leaf *leaf) {
    const ha_mapping *m = p->to->mapping;
    const int32_t number = m->row[leaf->to_number].linearizer;
    return number < 0 ? m->rank - 1 : m->linearizer[number].dimension[m->rank - 1];
}

/* The index of record number `number` of the region, index `along` being the fastest. */
static void ha_copy_index(const ha_layout_plan *p, int along, int64_t number, int64_t *index) {
    const int rank = p->to->mapping->rank;
    for (int k = rank; k >= 0; k--) {
        const int d = k == rank ? along : k;
        if (k == along) continue;
        index[d] = p->first[d] + number % (p->last[d] - p->first[d]);
        number /= p->last[d] - p->first[d];
    }
}

static void ha_copy_leaf_runs(ha_copy_worker *w, const ha_copy_leaf *leaf, int64_t first,
                              int64_t last) {
    const ha_layout_plan *p = w->plan;
    const int along = ha_copy_run_dimension(p, leaf);
    for (int64_t n; first < last; first += n) {
        int64_t index[HA_MAPPING_RANK] = {0};
        ha_copy_index(p, along, first, index);
        n = ha_smaller(ha_smaller(last - first, HA_COPY_LIST), p->last[along] - index[along]);
        ha_mapped_get_run(p->from, leaf->from_number, index, along, n, w->values[0]);
        ha_mapped_set_run(p->to, leaf->to_number, index, along, n, w->values[0]);
    }
}

/* Neighbours' bits are in the same bytes. */
static int ha_copy_shares_bytes(const ha_layout_plan *p, const ha_copy_leaf *leaf) {
    const ha_mapping *m = p->to->mapping;
    const ha_coding *coding = ha_row_coding(m, &m->row[leaf->to_number]);
    return coding && coding->bits > 0;
}

/* Records from number `first` to before `last`, of leaves for which others may do the rest at the same
 * time; or of all others. */
static void ha_copy_runs(ha_copy_worker *w, const ha_copy_pass *pass, int shared, int64_t first,
                         int64_t last) {
    for (int64_t g = 0; g < pass->groups; g++)
        for (int64_t k = 0; k < pass->group[g].leaves; k++) {
            const ha_copy_leaf *leaf = &pass->group[g].leaf[k];
            if (ha_copy_shares_bytes(w->plan, leaf) == shared)
                ha_copy_leaf_runs(w, leaf, first, last);
        }
}

#endif
