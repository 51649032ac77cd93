/* Arrays by number: a name for those who must not keep them alive. A number is given to an array when somebody asks for
 * it, or an event handler hears of the array, and never again to another one. */
#ifndef HARRAY_IMPL_STATE_IDS_H
#define HARRAY_IMPL_STATE_IDS_H

#include "array_state.h"

/* Those that have one. Its lock comes before an array's. */
HA_STATE_ struct {
    pthread_mutex_t lock;
    ha_piece_node *tree; /* the "addresses" are numbers */
    uint64_t latest;
} ha_ids = {.lock = PTHREAD_MUTEX_INITIALIZER};

static inline uint64_t ha_id_known(const ha_array *a) {
    return __atomic_load_n(&a->id, __ATOMIC_ACQUIRE);
}

HA_IN_ uint64_t ha_id_give(ha_array *a) HA_REQUIRES_(ha_ids.lock) HA_REQUIRES_(a->lock) {
    const uint64_t id = ++ha_ids.latest;
    a->by_id = (ha_piece_node){.first = (uintptr_t)id, .last = (uintptr_t)id + 1};
    ha_tree_add(&ha_ids.tree, &a->by_id);
    __atomic_store_n(&a->id, id, __ATOMIC_RELEASE);
    return id;
}

/* 0: the array was freed. */
HA_IN_ uint64_t ha_id_of(ha_array *a) {
    uint64_t id = ha_id_known(a);
    if (id) return id;
    pthread_mutex_lock(&ha_ids.lock);
    ha_lock(a);
    id = ha_id_known(a);
    if (!id && __atomic_load_n(&a->references, __ATOMIC_ACQUIRE)) id = ha_id_give(a);
    ha_unlock(a);
    pthread_mutex_unlock(&ha_ids.lock);
    return id;
}

/* One more owner, if there still is one. */
HA_IN_ int ha_id_owner_more(ha_array *a) {
    uint64_t n = __atomic_load_n(&a->references, __ATOMIC_ACQUIRE);
    while (n && !__atomic_compare_exchange_n(&a->references, &n, n + 1, 1, __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE)) {}
    return n != 0;
}

/* One more owner; NULL: no array has the number any more. */
HA_IN_ ha_array *ha_id_retain(uint64_t id) {
    pthread_mutex_lock(&ha_ids.lock);
    ha_piece_node *node = ha_tree_find(ha_ids.tree, (uintptr_t)id);
    ha_array *a = node ? (ha_array *)(void *)((char *)node - offsetof(ha_array, by_id)) : NULL;
    if (a && (ha_id_known(a) != id || a->hidden || a->ops || !ha_id_owner_more(a))) a = NULL;
    pthread_mutex_unlock(&ha_ids.lock);
    return a;
}

/* By its last owner, who is about to end it: nobody becomes another one from here on. 0: somebody has. */
HA_IN_ int ha_id_hide(ha_array *a) {
    if (!ha_id_known(a)) return 1;
    pthread_mutex_lock(&ha_ids.lock);
    const int alone = __atomic_load_n(&a->references, __ATOMIC_ACQUIRE) == 1;
    if (alone) a->hidden = 1;
    pthread_mutex_unlock(&ha_ids.lock);
    return alone;
}

/* It stays after all. */
HA_IN_ void ha_id_show(ha_array *a) {
    if (!ha_id_known(a)) return;
    pthread_mutex_lock(&ha_ids.lock);
    a->hidden = 0;
    pthread_mutex_unlock(&ha_ids.lock);
}

/* It has no owners any more, so nobody gives it a number now. */
HA_IN_ void ha_id_end(ha_array *a) {
    if (!ha_id_known(a)) return;
    pthread_mutex_lock(&ha_ids.lock);
    ha_tree_remove(&ha_ids.tree, &a->by_id);
    __atomic_store_n(&a->id, 0, __ATOMIC_RELEASE);
    a->hidden = 0;
    pthread_mutex_unlock(&ha_ids.lock);
}

#endif
