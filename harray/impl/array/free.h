/* Owners of an array as a whole: one more, one less, and the last one frees it. */
#ifndef HARRAY_IMPL_ARRAY_FREE_H
#define HARRAY_IMPL_ARRAY_FREE_H

#include "wrap.h"

ha_array *ha_array_retain(ha_array *a) {
    if (a && !ha_was_freed(a, "ha_array_retain"))
        __atomic_fetch_add(&a->references, 1, __ATOMIC_RELAXED);
    return a;
}

uint64_t ha_array_id(const ha_array *a) {
    return a && !ha_was_freed(a, "ha_array_id") ? ha_id_of(ha_lockable(a)) : 0;
}

ha_array *ha_array_by_id(uint64_t id) {
    return ha_enter_briefly("ha_array_by_id") ? NULL : ha_id_retain(id);
}

/* One owner less, if there are others. */
HA_IN_ int ha_array_leave_to_others(ha_array *a) {
    uint64_t n = __atomic_load_n(&a->references, __ATOMIC_ACQUIRE);
    while (n > 1)
        if (__atomic_compare_exchange_n(&a->references, &n, n - 1, 1, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return 1;
    return 0;
}

/* By its last owner. wanted: the caller's memory gets the values. */
HA_IN_ ha_status ha_array_leave_last(ha_array *a, int wanted, const char *operation,
                                     const char *site) {
    if (a->wrapped) return ha_wrap_end(a, wanted, operation, site);
    if (ha_array_end_plain(a)) return HA_OK;
    const ha_status s = ha_claim(a, operation);
    if (!s) ha_array_end(a);
    return s;
}

HA_IN_ ha_status ha_array_leave(ha_array *a, int wanted, const char *operation, const char *site) {
    ha_status s = ha_enter(operation);
    if (s) return s;
    if (ha_was_freed(a, operation)) return HA_ERR_STATE;
    do
        if (ha_array_leave_to_others(a)) return HA_OK;
    while (!ha_id_hide(a));
    if ((s = ha_array_leave_last(a, wanted, operation, site))) ha_id_show(a);
    return s;
}

ha_status ha_array_free(ha_array *a) {
    HA_TELLS_EVENTS_;
    return a ? ha_array_leave(a, 1, "ha_array_free", ha_from("ha_array_free")) : HA_OK;
}

ha_status ha_discard_(ha_array **a, const char *site) {
    HA_TELLS_EVENTS_;
    HA_CALLED_FROM_(site);
    ha_status s = a && *a ? ha_array_leave(*a, 0, "ha_discard", ha_from(site)) : HA_OK;
    if (a && !s) *a = NULL;
    return s;
}

#endif
