/* The handle of a record array, which stays the same one when the extents change. */
#ifndef HARRAY_IMPL_RECORDS_HANDLE_H
#define HARRAY_IMPL_RECORDS_HANDLE_H

#include "../../records.h"
#include "../state/all.h"

struct ha_access_spec;

struct ha_records {
    ha_kept kept;    /* state/freed.h: with others that were freed */
    ha_array *array; /* another one when the extents change; NULL: it was freed */
    /* To read `array`, one of these is read-locked; to change it both are locked for writing, and the
     * array that it was, by its own lock. Whoever opens or changes something has the first one, and may wait
     * for queues meanwhile; so do resizing and freeing. Whoever only asks has the second one, for a moment: so
     * functions on queues may ask anything while somebody waits for them. Whoever opens what was opened before
     * has the array's own lock alone (ha_records_is_at). */
    pthread_rwlock_t lock, asking;
    char name[sizeof((ha_array *)0)->name]; /* as the array's, which may go */
    uint32_t specs_lock;
    int32_t spec_count;
    struct ha_access_spec *specs; /* texts that are known */
    ha_label
        label; /* of the array that it was; changes as `array`. The locks stay: another thread may just
                       come for them */
};

/* Another array, or none. The handle's locks are this thread's. */
HA_IN_ void ha_records_turn(ha_records *r, ha_array *to) {
    __atomic_store_n(&r->array, to, __ATOMIC_RELEASE);
}

/* The array, to be locked; NULL: it was freed. */
HA_IN_ ha_array *ha_records_look_at(const ha_records *r) {
    return __atomic_load_n(&r->array, __ATOMIC_ACQUIRE);
}

/* Whether it still is the handle's when it is locked: it stays that until it is unlocked. A record that was
 * given back or taken for another array can be locked nevertheless (state/freed.h). */
HA_IN_ int ha_records_is_at(const ha_records *r, const ha_array *a) HA_REQUIRES_(a->lock) {
    return ha_records_look_at(r) == a;
}

HA_IN_ ha_label ha_records_label(ha_records *r) {
    pthread_rwlock_rdlock(&r->asking);
    const ha_label label = r->array ? ha_label_of(r->array) : r->label;
    pthread_rwlock_unlock(&r->asking);
    return label;
}

/* Whether it was freed; tells it, without waiting for a lock in a child of fork(). */
HA_IN_ int ha_records_freed(const ha_records *r, const char *operation) {
    if (ha_records_look_at(r)) return 0;
    const ha_label label = ha_forked ? r->label : ha_records_label((ha_records *)(uintptr_t)r);
    (void)!ha_fail(HA_ERR_STATE, operation, "records %s were freed", label.text);
    return 1;
}

/* The array stays the same one until ha_records_leave. Between both one may wait, and errors are told when nobody has the lock any
 * more: the handler may use the records. HA_ERR_STATE: it was freed, and there is nothing to leave. */
HA_IN_ ha_status ha_records_begin_at(ha_records *r, const char *operation, ha_array **a) {
    pthread_rwlock_rdlock(&r->lock);
    *a = r->array;
    if (*a) {
        ha_tell_later();
        return HA_OK;
    }
    pthread_rwlock_unlock(&r->lock);
    (void)ha_records_freed(r, operation);
    return HA_ERR_STATE;
}

HA_IN_ void ha_records_leave(ha_records *r) {
    pthread_rwlock_unlock(&r->lock);
    ha_tell_now();
}

/* The array for this thread alone; ended by ha_records_leave. It does not wait for others, who may be
 * waiting for this thread. */
HA_IN_ ha_status ha_records_alone(ha_records *r, const char *operation, const char *site) {
    if (pthread_rwlock_trywrlock(&r->lock))
        return ha_fail(HA_ERR_CONFLICT, operation, "%s: another thread is about to use the records",
                       site);
    if (ha_records_freed(r, operation)) {
        pthread_rwlock_unlock(&r->lock);
        return HA_ERR_STATE;
    }
    ha_tell_later(); /* the handler may use the records */
    return HA_OK;
}

/* Ends what ha_records_ask has begun. */
HA_IN_ void ha_records_asked(const ha_records *r) {
    pthread_rwlock_unlock(&((ha_records *)(uintptr_t)r)->asking);
}

/* The array to look at something, until ha_records_asked. Between both nothing is waited for, and no error
 * told. NULL: there are no records, or they were freed, which is told; or this is a child of fork(), where
 * another thread of the parent may have had the lock. Then there is nothing to end. */
HA_IN_ ha_array *ha_records_ask(const ha_records *r, const char *operation) {
    if (!r || ha_forked) return NULL;
    pthread_rwlock_rdlock(&((ha_records *)(uintptr_t)r)->asking);
    if (r->array) return r->array;
    ha_records_asked(r);
    (void)ha_records_freed(r, operation);
    return NULL;
}

HA_IN_ ha_status ha_records_enter(const ha_records *r, const char *operation, const char *site) {
    ha_status s = ha_enter(operation);
    if (s) return s;
    if (!r) return ha_fail(HA_ERR_ARGUMENT, operation, "%s: no records", site);
    return ha_records_freed(r, operation) ? HA_ERR_STATE : HA_OK;
}

#endif
