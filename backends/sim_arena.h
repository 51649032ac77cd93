/* The simulated device's allocator: which parts of [0, capacity) are free.
 *
 * It keeps the holes only, sorted and never touching each other, and takes the first that fits.
 * What is released joins its neighbours at once, so no memory is ever lost.
 * There is at most one hole more than there are blocks; taking a block reserves the room for that,
 * so giving back needs none and cannot fail. */
#ifndef HARRAY_BACKEND_SIM_ARENA_H
#define HARRAY_BACKEND_SIM_ARENA_H

#include "backend.h"

#include <pthread.h>
#include <string.h>

#define HA_SIM_ALIGN ((size_t)64) /* of every block; sizes are rounded up to it */

typedef struct ha_sim_hole {
    size_t first, bytes;
} ha_sim_hole;

typedef struct ha_sim_arena {
    pthread_mutex_t lock;
    size_t capacity; /* a multiple of HA_SIM_ALIGN */
    size_t used;     /* bytes in blocks */
    size_t blocks;
    ha_sim_hole *holes; /* ascending */
    size_t count, room; /* of holes; room > blocks */
} ha_sim_arena;

static size_t ha_sim_round_up(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

static ha_status ha_sim_arena_create(ha_sim_arena *arena, size_t capacity) {
    size_t room = 16;
    ha_sim_hole *holes = (ha_sim_hole *)HARRAY_MALLOC(room * sizeof *holes);
    if (holes == NULL) return HA_ERR_MEMORY;
    holes[0] = (ha_sim_hole){0, ha_sim_round_up(capacity, HA_SIM_ALIGN)};
    *arena = (ha_sim_arena){.capacity = holes[0].bytes, .holes = holes, .count = 1, .room = room};
    pthread_mutex_init(&arena->lock, NULL);
    return HA_OK;
}

static void ha_sim_arena_destroy(ha_sim_arena *arena) {
    pthread_mutex_destroy(&arena->lock);
    HARRAY_FREE(arena->holes);
}

/* Room for the holes that one more block can make. */
static int ha_sim_arena_reserve(ha_sim_arena *arena) {
    size_t room = 2 * arena->room;
    ha_sim_hole *holes;
    if (arena->blocks + 2 <= arena->room) return 1;
    holes = (ha_sim_hole *)HARRAY_REALLOC(arena->holes, room * sizeof *holes);
    if (holes == NULL) return 0;
    arena->holes = holes;
    arena->room = room;
    return 1;
}

static void ha_sim_arena_remove(ha_sim_arena *arena, size_t i) {
    ha_sim_hole *hole = &arena->holes[i];
    memmove(hole, hole + 1, (--arena->count - i) * sizeof *hole);
}

static void ha_sim_arena_insert(ha_sim_arena *arena, size_t i, ha_sim_hole fresh) {
    ha_sim_hole *hole = &arena->holes[i];
    memmove(hole + 1, hole, (arena->count++ - i) * sizeof *hole);
    *hole = fresh;
}

/* Takes `bytes` bytes from the front of a hole. */
static size_t ha_sim_arena_cut(ha_sim_arena *arena, size_t i, size_t bytes) {
    ha_sim_hole *hole = &arena->holes[i];
    size_t first = hole->first;
    hole->first += bytes;
    hole->bytes -= bytes;
    if (hole->bytes == 0) ha_sim_arena_remove(arena, i);
    arena->used += bytes;
    arena->blocks++;
    return first;
}

/* *first = where a fresh block is. HA_ERR_MEMORY when no hole is large enough. */
static ha_status ha_sim_arena_take(ha_sim_arena *arena, size_t bytes, size_t *first) {
    ha_status status = HA_ERR_MEMORY;
    size_t i = 0;
    if (bytes > arena->capacity) return status;
    bytes = ha_sim_round_up(bytes, HA_SIM_ALIGN);
    pthread_mutex_lock(&arena->lock);
    while (i < arena->count && arena->holes[i].bytes < bytes) i++;
    if (i < arena->count && ha_sim_arena_reserve(arena)) {
        *first = ha_sim_arena_cut(arena, i, bytes);
        status = HA_OK;
    }
    pthread_mutex_unlock(&arena->lock);
    return status;
}

static size_t ha_sim_arena_used(ha_sim_arena *arena) {
    size_t used;
    pthread_mutex_lock(&arena->lock);
    used = arena->used;
    pthread_mutex_unlock(&arena->lock);
    return used;
}

/* The first hole behind an address. */
static size_t ha_sim_arena_find(const ha_sim_arena *arena, size_t address) {
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

static void ha_sim_arena_give(ha_sim_arena *arena, size_t first, size_t bytes) {
    size_t i;
    ha_sim_hole *before, *behind;
    bytes = ha_sim_round_up(bytes, HA_SIM_ALIGN);
    pthread_mutex_lock(&arena->lock);
    i = ha_sim_arena_find(arena, first);
    before = i > 0 && arena->holes[i - 1].first + arena->holes[i - 1].bytes == first
                 ? &arena->holes[i - 1]
                 : NULL;
    behind = i < arena->count && first + bytes == arena->holes[i].first ? &arena->holes[i] : NULL;
    if (before != NULL) {
        before->bytes += bytes + (behind != NULL ? behind->bytes : 0);
        if (behind != NULL) ha_sim_arena_remove(arena, i);
    } else if (behind != NULL) {
        behind->first = first;
        behind->bytes += bytes;
    } else {
        ha_sim_arena_insert(arena, i, (ha_sim_hole){first, bytes});
    }
    arena->used -= bytes;
    arena->blocks--;
    pthread_mutex_unlock(&arena->lock);
}

#endif
