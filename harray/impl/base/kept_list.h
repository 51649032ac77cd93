/* Records that are never given back while the library is in use, so that what is written in them can
 * be read through any old pointer to them: that they were freed. They are used again, the oldest
 * first, and not before so many others have been freed after them. */
#ifndef HARRAY_IMPL_BASE_KEPT_LIST_H
#define HARRAY_IMPL_BASE_KEPT_LIST_H

#include "thread.h"

/* In the record: its place in the list. */
typedef struct ha_kept {
    struct ha_kept *next;
} ha_kept;

/* `last` points to where the next one goes. */
typedef struct ha_kept_list {
    uint32_t lock;
    size_t n;
    ha_kept *first, **last;
} ha_kept_list;

/* For so many further ones nobody takes a new array for one that was freed. */
#ifdef HARRAY_DEBUG
enum { HA_KEPT = 10000 };
#else
enum { HA_KEPT = 256 };
#endif

HA_IN_ void ha_kept_add(ha_kept_list *l, ha_kept *record) {
    record->next = NULL;
    ha_spin_lock(&l->lock);
    *l->last = record;
    l->last = &record->next;
    l->n++;
    ha_spin_unlock(&l->lock);
}

/* The oldest one, to be used again; NULL: it is too early for that. */
HA_IN_ ha_kept *ha_kept_take(ha_kept_list *l) {
    ha_kept *record = NULL;
    ha_spin_lock(&l->lock);
    if (l->n > HA_KEPT) { /* so it is not the last one */
        record = l->first;
        l->first = record->next;
        l->n--;
    }
    ha_spin_unlock(&l->lock);
    return record;
}

/* Gives all of them back. offset: of the ha_kept in each. */
HA_IN_ void ha_kept_end(ha_kept_list *l, size_t offset) {
    ha_spin_lock(&l->lock);
    ha_kept *record = l->first;
    l->first = NULL;
    l->last = &l->first;
    l->n = 0;
    ha_spin_unlock(&l->lock);
    for (ha_kept *next; record; record = next) {
        next = record->next;
        HARRAY_FREE((char *)record - offset);
    }
}

#endif
