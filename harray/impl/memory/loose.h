/* Blocks without an array: those of ha_memory_allocate and ha_memory_allocate_kind. */
#ifndef HARRAY_IMPL_MEMORY_LOOSE_H
#define HARRAY_IMPL_MEMORY_LOOSE_H

#include "retire.h"

enum { HA_LOOSE_BUCKETS = 256 };
HA_STATE_ struct {
    pthread_mutex_t lock;
    uint64_t blocks;
    ha_block *bucket[HA_LOOSE_BUCKETS]; /* hashed by address */
} ha_loose = {.lock = PTHREAD_MUTEX_INITIALIZER};

HA_IN_ ha_block **ha_loose_bucket(const void *data) {
    return &ha_loose.bucket[((uintptr_t)data >> 6) * 0x9E3779B97F4A7C15u >> 56];
}

HA_IN_ void ha_loose_add(ha_block *b) {
    ha_block **bucket = ha_loose_bucket(b->data);
    __atomic_store_n(&b->loose, 1,
                     __ATOMIC_RELAXED); /* others look at all blocks, with its pool's lock */
    pthread_mutex_lock(&ha_loose.lock);
    b->next = *bucket;
    *bucket = b;
    ha_loose.blocks++;
    pthread_mutex_unlock(&ha_loose.lock);
}

HA_IN_ int ha_loose_is_of(const ha_context *c, const ha_block *b) {
    return b->memory == c->memory || b->memory == c->home->pinned || b->memory == c->home->managed;
}

/* NULL: there is no such block of the context. */
HA_IN_ ha_block *ha_loose_take(const ha_context *c, const void *data) {
    ha_block **at = ha_loose_bucket(data), *b;
    pthread_mutex_lock(&ha_loose.lock);
    while ((b = *at) && (b->data != data || !ha_loose_is_of(c, b))) at = &b->next;
    if (b) {
        *at = b->next;
        ha_loose.blocks--;
    }
    pthread_mutex_unlock(&ha_loose.lock);
    return b;
}

HA_IN_ uint64_t ha_loose_blocks(void) {
    pthread_mutex_lock(&ha_loose.lock);
    uint64_t blocks = ha_loose.blocks;
    pthread_mutex_unlock(&ha_loose.lock);
    return blocks;
}

/* All of a context's memory. */
HA_IN_ void ha_loose_each(const ha_context *c, void (*f)(void *user, const ha_block *b),
                          void *user) {
    pthread_mutex_lock(&ha_loose.lock);
    for (int i = 0; i < HA_LOOSE_BUCKETS; i++)
        for (const ha_block *b = ha_loose.bucket[i]; b; b = b->next)
            if (b->memory == c->memory) f(user, b);
    pthread_mutex_unlock(&ha_loose.lock);
}

#endif
