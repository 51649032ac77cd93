/* A store of a program's in its heap, which looks at how it is used, and fails on demand: each key is put once, got as
 * long as it is there, and removed once; and there is one call at a time. */
#ifndef HARRAY_TESTS_SUPPORT_HEAP_STORE_H
#define HARRAY_TESTS_SUPPORT_HEAP_STORE_H

#include "../../harray/store.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { HEAP_STORE_OBJECTS = 4096 };

typedef struct heap_object {
    uint64_t key; /* 0: none */
    void *data;   /* NULL: its put has failed */
    size_t bytes;
} heap_object;

typedef struct heap_store {
    heap_object object[HEAP_STORE_OBJECTS]; /* the store's thread's */
    uint64_t highest;                       /* key so far */
    atomic_int calls;                       /* now */
    atomic_int mistakes;
    atomic_size_t objects, bytes; /* that it has */
    atomic_long puts, gets, removes;
    atomic_int puts_fail, gets_fail, gets_short; /* so many from now on; -1: all */
    atomic_int is_held;                          /* calls do not return until it is 0 */
    void (*inside)(
        void); /* called in each put, as programs may that do not know better; NULL: nothing */
} heap_store;

static inline void heap_store_enter(heap_store *s) {
    if (atomic_fetch_add(&s->calls, 1) != 0) atomic_fetch_add(&s->mistakes, 1);
    while (atomic_load(&s->is_held)) sched_yield();
}

static inline void heap_store_leave(heap_store *s) { atomic_fetch_sub(&s->calls, 1); }

static inline int heap_store_fails(atomic_int *times) {
    const int left = atomic_load(times);
    if (left > 0) atomic_store(times, left - 1);
    return left != 0;
}

static inline heap_object *heap_store_find(heap_store *s, uint64_t key) {
    for (size_t i = 0; i < HEAP_STORE_OBJECTS; i++)
        if (s->object[i].key == key) return &s->object[i];
    atomic_fetch_add(&s->mistakes, 1);
    return NULL;
}

static inline int heap_store_put(void *user, uint64_t key, const void *from, size_t bytes) {
    heap_store *s = (heap_store *)user;
    heap_store_enter(s);
    if (key <= s->highest) atomic_fetch_add(&s->mistakes, 1);
    s->highest = key;
    if (s->inside) s->inside();
    heap_object *o = heap_store_find(s, 0);
    const int fails = o == NULL || heap_store_fails(&s->puts_fail);
    if (o != NULL) *o = (heap_object){key, NULL, bytes};
    if (!fails) o->data = malloc(bytes);
    if (!fails && o->data != NULL) memcpy(o->data, from, bytes);
    if (!fails) atomic_fetch_add(&s->bytes, bytes);
    atomic_fetch_add(&s->objects, 1);
    atomic_fetch_add(&s->puts, 1);
    heap_store_leave(s);
    return fails ? ENOSPC : 0;
}

static inline ptrdiff_t heap_store_get(void *user, uint64_t key, void *to, size_t bytes) {
    heap_store *s = (heap_store *)user;
    heap_store_enter(s);
    const heap_object *o = heap_store_find(s, key);
    if (o != NULL && (o->data == NULL || o->bytes != bytes)) atomic_fetch_add(&s->mistakes, 1);
    ptrdiff_t got = o != NULL && o->data != NULL ? (ptrdiff_t)bytes : -ENOENT;
    if (heap_store_fails(&s->gets_fail)) got = -EIO;
    if (heap_store_fails(&s->gets_short)) got /= 2;
    if (got > 0) memcpy(to, o->data, (size_t)got);
    atomic_fetch_add(&s->gets, 1);
    heap_store_leave(s);
    return got;
}

static inline void heap_store_remove(void *user, uint64_t key) {
    heap_store *s = (heap_store *)user;
    heap_store_enter(s);
    heap_object *o = heap_store_find(s, key);
    if (o != NULL) {
        if (o->data != NULL) atomic_fetch_sub(&s->bytes, o->bytes);
        free(o->data);
        *o = (heap_object){0, NULL, 0};
        atomic_fetch_sub(&s->objects, 1);
    }
    atomic_fetch_add(&s->removes, 1);
    heap_store_leave(s);
}

static inline ha_store heap_store_of(heap_store *s, uint64_t capacity, size_t piece) {
    return (ha_store){heap_store_put, heap_store_get, heap_store_remove, s, capacity, piece};
}

/* Whether it was used as it is to be, and has been left with nothing. */
static inline int heap_store_is_clean(const heap_store *s) {
    return !atomic_load(&s->mistakes) && !atomic_load(&s->objects) && !atomic_load(&s->bytes) &&
           atomic_load(&s->puts) == atomic_load(&s->removes);
}

#endif
