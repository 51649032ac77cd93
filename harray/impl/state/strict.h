/* Strict contexts: the arrays that functions there may meet.
 *
 * What a function on a strict device may touch is what the accesses cover that are open when it is
 * enqueued. To find them, arrays are listed from their first opening on that is not easy, once there is a
 * strict context; on it none is easy. */
#ifndef HARRAY_IMPL_STATE_STRICT_H
#define HARRAY_IMPL_STATE_STRICT_H

#include "labels.h"

HA_STATE_ struct {
    pthread_mutex_t lock; /* comes before the lock of an array */
    ha_array *first;
} ha_strict_arrays = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* By who has it busy, or ends it: nobody else lists it, or takes it from the list. Where its link leads
 * others may change meanwhile, as they come and go beside it. */
static inline int ha_strict_is_listed(const ha_array *a) {
    return __atomic_load_n(&a->strict_link, __ATOMIC_RELAXED) != NULL;
}

static inline void ha_strict_link(ha_array *a, ha_array **link) {
    __atomic_store_n(&a->strict_link, link, __ATOMIC_RELAXED);
}

/* Busy. */
HA_IN_ void ha_strict_list(ha_array *a) {
    if (!__atomic_load_n(&ha_strict_contexts, __ATOMIC_RELAXED) || ha_strict_is_listed(a)) return;
    pthread_mutex_lock(&ha_strict_arrays.lock);
    a->strict_next = ha_strict_arrays.first;
    ha_strict_link(a, &ha_strict_arrays.first);
    if (a->strict_next) ha_strict_link(a->strict_next, &a->strict_next);
    ha_strict_arrays.first = a;
    pthread_mutex_unlock(&ha_strict_arrays.lock);
}

/* Nobody uses the array any more. */
HA_IN_ void ha_strict_unlist(ha_array *a) {
    if (!ha_strict_is_listed(a)) return;
    pthread_mutex_lock(&ha_strict_arrays.lock);
    *a->strict_link = a->strict_next;
    if (a->strict_next) ha_strict_link(a->strict_next, a->strict_link);
    ha_strict_link(a, NULL);
    pthread_mutex_unlock(&ha_strict_arrays.lock);
}

#endif
