/* Owners of an array as a whole: one more, one less, and the last one frees it. */
#ifndef HARRAY_IMPL_ARRAY_FREE_H
#define HARRAY_IMPL_ARRAY_FREE_H

#include "wrap.h"

ha_array *ha_array_retain(ha_array *a) {
    if (a && !ha_was_freed(a, "ha_array_retain"))
        __atomic_fetch_add(&a->references, 1, __ATOMIC_RELAXED);
    return a;
}

ha_status ha_array_free(ha_array *a) {
    HA_TELLS_EVENTS_;
    if (!a) return HA_OK;
    ha_status s = ha_enter("ha_array_free");
    if (s) return s;
    if (ha_was_freed(a, "ha_array_free")) return HA_ERR_STATE;
    uint64_t n = __atomic_load_n(&a->references, __ATOMIC_ACQUIRE);
    while (n > 1)
        if (__atomic_compare_exchange_n(&a->references, &n, n - 1, 1, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return HA_OK;
    if (a->wrapped) return ha_wrap_end(a, "ha_array_free", ha_from("ha_array_free"));
    if ((s = ha_claim(a, "ha_array_free"))) return s;
    ha_array_end(a);
    return HA_OK;
}

#endif
