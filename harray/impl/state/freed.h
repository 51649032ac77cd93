/* Arrays that were freed: whoever comes with another copy of the handle is told.
 *
 * The record of a freed array is kept (base/kept_list.h), with no owners, nothing valid and no
 * accesses: so the fast path lets nobody pass, and whoever looks on the slow way finds it freed. A
 * new array that takes the record goes on counting tickets, so that no access of the old one is
 * taken for one of its own. */
#ifndef HARRAY_IMPL_STATE_FREED_H
#define HARRAY_IMPL_STATE_FREED_H

#include "ids.h"
#include "labels.h"

HA_STATE_ ha_kept_list ha_freed_arrays = {.last = &ha_freed_arrays.first};

/* The handles of record arrays (records/handle.h), which begin with their ha_kept. The array that a
 * handle had is among the arrays. */
HA_STATE_ ha_kept_list ha_freed_handles = {.last = &ha_freed_handles.first};

/* The grids of arrays that were freed: who has read the pointer to one may just look at it. */
HA_STATE_ ha_kept_list ha_freed_grids = {.last = &ha_freed_grids.first};

/* a: may be NULL. */
static inline int ha_is_freed(const ha_array *a) {
    return a && !__atomic_load_n(&a->references, __ATOMIC_ACQUIRE);
}

/* site: NULL where the call in the user's source is not known. */
HA_IN_ ha_status ha_fail_freed(ha_array *a, const char *operation, const char *site) {
    return ha_fail(HA_ERR_STATE, operation, "%s%sarray %s was freed", site ? site : "",
                   site ? ": " : "", ha_label_of(a).text);
}

/* Whether an array was freed; tells it. a: may be NULL. */
HA_IN_ int ha_was_freed(const ha_array *a, const char *operation) {
    if (!ha_is_freed(a)) return 0;
    (void)!ha_fail_freed(ha_lockable(a), operation, NULL);
    return 1;
}

/* It has no block and no valid elements any more. Only what is looked at, for zeroing all of it takes a
 * tenth of making and freeing an array. */
HA_IN_ void ha_incarnation_forget(ha_incarnation *in) {
    in->data = NULL;
    in->block = NULL;
    in->capacity = 0;
    in->wrapped = 0;
    in->next = NULL;
    in->valid.heap = NULL;
    in->valid.grid = NULL;
    in->valid.n = 0;
    in->ops.heap = NULL;
    in->ops.grid = NULL;
    in->ops.n = in->ops.capacity = in->ops.promised = 0;
}

/* It is nobody's from here on. Its name, type and size stay, for messages. */
HA_IN_ void ha_array_forget_all(ha_array *a) HA_REQUIRES_(a->lock) {
    ha_incarnation_forget(&a->first);
    a->recent = &a->first;
    a->holder = a->first_holders;
    a->holders = 0;
    a->holder_capacity = a->holders_easy = 0;
    a->waiters &= ~(uint32_t)(HA_INDEXED | HA_PRESSED);
    a->read_only = a->busy = 0;
    a->wrapped = 0;
    a->grid = NULL;
    a->ops = NULL;
    __atomic_store_n(&a->references, 0, __ATOMIC_RELEASE);
}

/* Keeps the record of an array that has gone. Whether somebody waits for it, and is to be woken. Up to
 * then a thread that found the table of holders full may make more room in it (ha_holder_grow), so the
 * table goes under the lock. */
HA_IN_ int ha_array_keep(ha_array *a) {
    ha_lock(a);
    ha_holder *table = a->holder == a->first_holders ? NULL : a->holder;
    const int awaited = (a->waiters & HA_WAITING) != 0;
    ha_array_forget_all(a);
    ha_unlock(a);
    if (table) HARRAY_FREE(table);
    ha_id_end(a);
    ha_kept_add(&ha_freed_arrays, &a->kept);
    return awaited;
}

/* The next one to be taken, into the processor's cache: it was last looked at when it was freed. */
HA_IN_ void ha_array_fetch(const ha_kept *next) {
    const char *record = (const char *)next - offsetof(ha_array, kept);
    const size_t zeroed = offsetof(ha_array, first_holders);
    for (size_t i = 0; i < zeroed; i += 64) __builtin_prefetch(record + i, 1);
}

/* The record of an array that was freed long ago; NULL: there is none. */
HA_IN_ ha_array *ha_array_again(void) {
    ha_kept *kept = ha_kept_take(&ha_freed_arrays);
    if (!kept) return NULL;
    ha_array *a = (ha_array *)(void *)((char *)kept - offsetof(ha_array, kept));
    ha_array_fetch(kept->next);
    if (!__atomic_load_n(&a->waiters, __ATOMIC_ACQUIRE)) return a;
    ha_kept_add(&ha_freed_arrays, kept); /* a thread that waited for it has still to be told */
    return NULL;
}

/* For ha_shutdown: nobody has a handle any more. */
HA_IN_ void ha_freed_end(void) {
    ha_kept_end(&ha_freed_arrays, offsetof(ha_array, kept));
    ha_kept_end(&ha_freed_grids, offsetof(ha_grid, kept));
    ha_kept_end(&ha_freed_handles, 0);
}

#endif
