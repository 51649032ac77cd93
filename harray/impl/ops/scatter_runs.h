/* ha_scatter where y has too few elements behind its first dimension to be the lanes of a device: the indices are sorted, stably, so
 * that equal ones follow each other in the order in which they are in `at`; and the first of each run is a lane, which joins what
 * the run has, in that order. So the bits are those of the other way. */
#ifndef HARRAY_IMPL_OPS_SCATTER_RUNS_H
#define HARRAY_IMPL_OPS_SCATTER_RUNS_H

#include "scatter_lanes.h"

/* Fewer indices are not worth it, nor is it where there are as many other lanes. */
enum { HA_SCATTER_LEAST = 64, HA_SCATTER_LANES = 4096 };

/* ---- on the host --------------------------------------------------------------------------------- */

/* The n-th index alone. */
HA_IN_ void ha_scatter_one(const ha_kernel *kernel, const ha_kernel_slot_ *slot, uint32_t n,
                           const ha_region rest) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    const int64_t all_dimensions = 1 + key->rank / HA_INDEX_RANK;
    const int64_t at = ((const ha_kernel_span *)slot[1].span)->numbers[1];
    const int64_t x = ((const ha_kernel_span *)slot[2].span)->numbers[all_dimensions];
    ha_kernel_slot_ one[4] = {slot[0], slot[1], slot[2], slot[3]};
    int64_t alone = 1;
    one[1].pointer = (char *)slot[1].pointer + (int64_t)n * at * key->of[0];
    one[2].pointer = (char *)slot[2].pointer +
                     (int64_t)n * x * (int64_t)ha_dtype_size(key->type->type);
    one[3].pointer = &alone;
    ha_scatter_box(kernel, one, rest);
}

/* Slots: y, at, x, how many indices there are, their numbers in the order of the indices. */
HA_IN_ void ha_scatter_run_of(const ha_kernel *kernel, const ha_kernel_slot_ *slot, int64_t i,
                              const ha_region rest) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    const uint32_t *order = (const uint32_t *)slot[4].pointer;
    int64_t all;
    memcpy(&all, slot[3].pointer, sizeof all);
    const int bytes = key->of[0];
    const int64_t to = ha_index_at(&slot[1], 1, bytes, order[i]);
    if (i > 0 && ha_index_at(&slot[1], 1, bytes, order[i - 1]) == to) return;
    for (; i < all && ha_index_at(&slot[1], 1, bytes, order[i]) == to; i++)
        ha_scatter_one(kernel, slot, order[i], rest);
}

HA_IN_ void ha_scatter_run_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                                 const ha_kernel_slot_ *slot) {
    ha_region rest = {{0}, {0}};
    (void)apart;
    for (int d = 1; d < kernel->rank; d++) {
        rest.first[d - 1] = box->first[d];
        rest.last[d - 1] = box->last[d];
        if (box->first[d] >= box->last[d]) return;
    }
    for (int64_t i = box->first[0]; i < box->last[0]; i++) ha_scatter_run_of(kernel, slot, i, rest);
}

/* ---- as a kernel --------------------------------------------------------------------------------- */

HA_IN_ void ha_scatter_run_make(ha_op_kernel *k, const ha_op_key *key) {
    const int rest = key->rank / HA_INDEX_RANK;
    ha_text t = ha_text_into(k->text, sizeof k->text);
    ha_scatter_make(k, key);
    snprintf(k->name + strlen(k->name), sizeof k->name - strlen(k->name), "_runs");
    ha_index_add_array(k, HA_KERNEL_IN_, "order", HA_DTYPE_uint32_t);
    k->op.kernel.rank = 1 + rest;
    k->op.kernel.loops = ha_scatter_run_loops;
    ha_print(&t, "{ const int64_t to = (int64_t)HA_AT(at, order[i]); int64_t m = i; ");
    ha_print(&t, "if (i > 0 && (int64_t)HA_AT(at, order[i - 1]) == to) m = all; ");
    ha_print(&t, "for (; m < all && (int64_t)HA_AT(at, order[m]) == to; m++) { ");
    ha_print(&t, "const int64_t n = order[m]; ");
    ha_scatter_put_join(&t, key, ha_op_indices[1 + rest] + 4); /* behind "(i, " */
    ha_print(&t, "} }");
}

#endif
