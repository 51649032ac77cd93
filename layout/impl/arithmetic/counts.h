/* What an operation reads and writes, told to the counters of both sides (mapping/counts.h): each
 * value once, as a loop by hand would. */
#ifndef HARRAY_LAYOUT_IMPL_ARITHMETIC_COUNTS_H
#define HARRAY_LAYOUT_IMPL_ARITHMETIC_COUNTS_H

#include "plan.h"

/* Goes to the next row of values along the last index; 0 behind the last one. */
HA_IN_ int ha_apply_next_row(const ha_apply_plan *p, int64_t *index) {
    int d = p->left->mapping->rank - 2;
    for (; d >= 0 && ++index[d] == p->last[d]; d--) index[d] = p->first[d];
    return d >= 0;
}

HA_IN_ void ha_apply_count_leaf(const ha_apply_plan *p, const ha_leaf_pair *pair) {
    const ha_mapping *m = p->left->mapping;
    const int along = m->rank - 1;
    const int64_t n = p->last[along] - p->first[along];
    int64_t index[HA_MAPPING_RANK], other[HA_MAPPING_RANK];
    memcpy(index, p->first, sizeof index);
    do {
        for (int d = 0; d <= along; d++) other[d] = index[d] + p->shift[d];
        if (p->right) ha_count_run(p->right->mapping, pair->from_number, other, along, n, HA_READ_);
        if (p->operation != HA_ASSIGN) ha_count_run(m, pair->to_number, index, along, n, HA_READ_);
        ha_count_run(m, pair->to_number, index, along, n, HA_WRITE_);
    } while (ha_apply_next_row(p, index));
}

/* Of what has been done. What the left side does not store is not read from the right one. */
HA_IN_ void ha_apply_count_values(const ha_apply_plan *p, const ha_leaf_pair *pair, int64_t pairs) {
    const ha_mapping *m = p->left->mapping;
    if (p->records == 0 || (!m->counts && (!p->right || !p->right->mapping->counts))) return;
    for (int64_t k = 0; k < pairs; k++)
        if (pair[k].is_chosen && m->row[pair[k].to_number].blob >= 0)
            ha_apply_count_leaf(p, &pair[k]);
}

#endif
