/* A store of the program's in the place of the file. */
#ifndef HARRAY_TESTS_ARRAYS_STORE_TIER_H
#define HARRAY_TESTS_ARRAYS_STORE_TIER_H

#include "../support/heap_store.h"
#include "tiers.h"

static heap_store heap;

/* The host's next tier, in pieces that are not as large as an array. */
static inline ha_context *use_store(void) {
    const ha_store is = heap_store_of(&heap, 64 * BYTES, BYTES / 3);
    memset(&heap, 0, sizeof heap);
    ha_context *store = ha_store_open(&is);
    assert_non_null(store);
    SUCCEEDS(ha_memory_set_tier(H, store));
    return store;
}

static inline void leave_store(void) {
    drop_arrays();
    SUCCEEDS(ha_shutdown());
    assert_true(heap_store_is_clean(&heap));
}

#endif
