/* How a fake driver knows operations by index: one kernel of each rank and kind. */
#ifndef HARRAY_TESTS_OPS_KNOWN_INDICES_H
#define HARRAY_TESTS_OPS_KNOWN_INDICES_H

#include "some_views.h"
#include "known_keys.h"

static const ha_dtype index_types[] = {HA_DTYPE_int32_t, HA_DTYPE_uint32_t, HA_DTYPE_int64_t,
                                       HA_DTYPE_uint64_t};

static void know_check(ha_dtype at) {
    for (int rank = 1; rank <= HA_MAPPING_RANK; rank++)
        know_key(rank - 1, &(const ha_op_key){.rank = rank,
                                              .make = ha_index_make_check,
                                              .of = {(int)ha_dtype_size(at), 0}});
}

HA_UNUSED static void know_gather(size_t bytes, ha_dtype at) {
    if (!is_fake(C)) return;
    SUCCEEDS(ha_context_finish(C));
    know_check(at);
    for (int rank = 1; rank <= HA_MAPPING_RANK; rank++)
        know_key(3 + rank, &(const ha_op_key){.type = ha_index_moved(bytes),
                                              .rank = rank,
                                              .make = ha_gather_make,
                                              .of = {(int)ha_dtype_size(at), 0}});
}

HA_UNUSED static void know_find(int what, size_t bytes) {
    if (!is_fake(C)) return;
    SUCCEEDS(ha_context_finish(C));
    for (int rank = 1; rank <= HA_MAPPING_RANK; rank++) {
        ha_op_key key = {.rank = rank, .make = ha_find_make, .of = {8, HA_FIND_COUNT}};
        know_key(rank - 1, &key);
        key.of[0] = what == HA_FIND_PUT ? (int)bytes : 8;
        key.of[1] = what;
        key.type = what == HA_FIND_PUT ? NULL : ha_index_moved(bytes);
        know_key((what == HA_FIND_PUT ? 3 : 7) + rank, &key);
    }
}

HA_UNUSED static void know_sorting(ha_dtype type, ha_sort_order order, size_t number) {
    if (!is_fake(C)) return;
    SUCCEEDS(ha_context_finish(C));
    for (int what = HA_SORT_COUNT; what <= HA_SORT_MOVE; what++)
        know_key(8 + what,
                 &(const ha_op_key){.type = ha_op_type_of(type),
                                    .rank = 1,
                                    .make = ha_sort_make_block,
                                    .of = {order == HA_DESCENDING, what + 16 * (int)number}});
}

#endif
