/* An allocator: which parts of [0, capacity) are free. Backends carve blocks with it from a range of
 * addresses that they have.
 *
 * It keeps the holes only, sorted and never touching each other, and takes the first that fits.
 * What is released joins its neighbours at once, so no memory is ever lost.
 * There is at most one hole more than there are blocks; taking a block reserves the room for that,
 * so giving back needs none and cannot fail. */
#ifndef HARRAY_BACKENDS_COMMON_ARENA_H
#define HARRAY_BACKENDS_COMMON_ARENA_H

#include "../backend.h"

#include <pthread.h>
#include <string.h>

typedef struct ha_hole {
    size_t first, bytes;
} ha_hole;

typedef struct ha_arena {
    pthread_mutex_t lock;
    size_t unit;     /* every block begins and ends at a multiple of it */
    size_t capacity; /* too */
    size_t used;     /* bytes in blocks */
    size_t blocks;
    ha_hole *holes;     /* ascending */
    size_t count, room; /* of holes; room > blocks */
} ha_arena;

HA_IN_ size_t ha_round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

HA_IN_ ha_status ha_arena_create(ha_arena *arena, size_t capacity, size_t unit) {
    size_t room = 16;
    ha_hole *holes = (ha_hole *)HARRAY_MALLOC(room * sizeof *holes);
    if (holes == NULL) return HA_ERR_MEMORY;
    holes[0] = (ha_hole){0, ha_round_up(capacity, unit)};
    *arena = (ha_arena){
        .unit = unit, .capacity = holes[0].bytes, .holes = holes, .count = 1, .room = room};
    pthread_mutex_init(&arena->lock, NULL);
    return HA_OK;
}

HA_IN_ void ha_arena_destroy(ha_arena *arena) {
    pthread_mutex_destroy(&arena->lock);
    HARRAY_FREE(arena->holes);
}

/* Room for the holes that one more block can make. */
HA_IN_ int ha_arena_reserve(ha_arena *arena) {
    size_t room = 2 * arena->room;
    ha_hole *holes;
    if (arena->blocks + 2 <= arena->room) return 1;
    holes = (ha_hole *)HARRAY_REALLOC(arena->holes, room * sizeof *holes);
    if (holes == NULL) return 0;
    arena->holes = holes;
    arena->room = room;
    return 1;
}

HA_IN_ void ha_arena_remove(ha_arena *arena, size_t i) {
    ha_hole *hole = &arena->holes[i];
    memmove(hole, hole + 1, (--arena->count - i) * sizeof *hole);
}

HA_IN_ void ha_arena_insert(ha_arena *arena, size_t i, ha_hole fresh) {
    ha_hole *hole = &arena->holes[i];
    memmove(hole + 1, hole, (arena->count++ - i) * sizeof *hole);
    *hole = fresh;
}

/* Takes `bytes` bytes from the front of a hole. */
HA_IN_ size_t ha_arena_cut(ha_arena *arena, size_t i, size_t bytes) {
    ha_hole *hole = &arena->holes[i];
    size_t first = hole->first;
    hole->first += bytes;
    hole->bytes -= bytes;
    if (hole->bytes == 0) ha_arena_remove(arena, i);
    arena->used += bytes;
    arena->blocks++;
    return first;
}

/* *first = where a fresh block is. HA_ERR_MEMORY when no hole is large enough. */
HA_IN_ ha_status ha_arena_take(ha_arena *arena, size_t bytes, size_t *first) {
    ha_status status = HA_ERR_MEMORY;
    size_t i = 0;
    if (bytes > arena->capacity) return status;
    bytes = ha_round_up(bytes, arena->unit);
    pthread_mutex_lock(&arena->lock);
    while (i < arena->count && arena->holes[i].bytes < bytes) i++;
    if (i < arena->count && ha_arena_reserve(arena)) {
        *first = ha_arena_cut(arena, i, bytes);
        status = HA_OK;
    }
    pthread_mutex_unlock(&arena->lock);
    return status;
}

HA_IN_ HA_UNUSED size_t ha_arena_used(ha_arena *arena) {
    size_t used;
    pthread_mutex_lock(&arena->lock);
    used = arena->used;
    pthread_mutex_unlock(&arena->lock);
    return used;
}

/* The first hole behind an address. */
HA_IN_ size_t ha_arena_find(const ha_arena *arena, size_t address) {
    size_t low = 0, high = arena->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (arena->holes[middle].first > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

HA_IN_ void ha_arena_give(ha_arena *arena, size_t first, size_t bytes) {
    size_t i;
    ha_hole *before, *behind;
    bytes = ha_round_up(bytes, arena->unit);
    pthread_mutex_lock(&arena->lock);
    i = ha_arena_find(arena, first);
    before = i > 0 && arena->holes[i - 1].first + arena->holes[i - 1].bytes == first
                 ? &arena->holes[i - 1]
                 : NULL;
    behind = i < arena->count && first + bytes == arena->holes[i].first ? &arena->holes[i] : NULL;
    if (before != NULL) {
        before->bytes += bytes + (behind != NULL ? behind->bytes : 0);
        if (behind != NULL) ha_arena_remove(arena, i);
    } else if (behind != NULL) {
        behind->first = first;
        behind->bytes += bytes;
    } else {
        ha_arena_insert(arena, i, (ha_hole){first, bytes});
    }
    arena->used -= bytes;
    arena->blocks--;
    pthread_mutex_unlock(&arena->lock);
}

#endif
