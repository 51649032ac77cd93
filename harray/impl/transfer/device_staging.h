/* Staging in a device's own memory: one chunk of it, for what its queues put into place there.
 *
 * Whoever enqueues with it has it to itself for that time; then queues use it, up to `last`, and who
 * comes next comes behind that. Nobody waits for it: there is another way. When the memory is full it goes
 * back: whoever needs the room waits until nobody enqueues with it, which takes no block meanwhile. */
#ifndef HARRAY_IMPL_TRANSFER_DEVICE_STAGING_H
#define HARRAY_IMPL_TRANSFER_DEVICE_STAGING_H

#include "chunks.h"

enum { HA_DEVICE_STAGING_USED_ = 2 }; /* `taken`, with a block */

/* Puts the block back: into the cache when its last use has happened. */
HA_IN_ void ha_device_staging_trim(ha_memory *m) {
    HA_UNCANCELLED_;
    HA_MAY_WAIT_();
    pthread_mutex_lock(&ha_staging.lock);
    while (m->device_staging && m->device_staging->taken == HA_DEVICE_STAGING_USED_)
        pthread_cond_wait(&ha_staging.change, &ha_staging.lock);
    ha_chunk *chunk = m->device_staging && !m->device_staging->taken ? m->device_staging : NULL;
    if (chunk) chunk->taken = 1;
    pthread_mutex_unlock(&ha_staging.lock);
    if (!chunk) return;
    ha_chunk_empty(chunk);
    ha_chunk_give(chunk);
}

/* The memory's chunk, taken by this thread; NULL: there is none, or another thread has it. */
HA_IN_ ha_chunk *ha_device_staging_choose(ha_memory *m) {
    pthread_mutex_lock(&ha_staging.lock);
    if (!m->device_staging) {
        m->device_staging = (ha_chunk *)HARRAY_MALLOC(sizeof *m->device_staging);
        if (m->device_staging) memset(m->device_staging, 0, sizeof *m->device_staging);
        if (m->device_staging)
            __atomic_store_n(&m->reclaim, ha_device_staging_trim, __ATOMIC_RELEASE);
    }
    ha_chunk *chunk = m->device_staging && !m->device_staging->taken ? m->device_staging : NULL;
    if (chunk) chunk->taken = 1;
    pthread_mutex_unlock(&ha_staging.lock);
    return chunk;
}

/* It has a block, or is NULL. */
HA_IN_ ha_chunk *ha_device_staging_use(ha_chunk *chunk) {
    if (!chunk) return NULL;
    pthread_mutex_lock(&ha_staging.lock);
    chunk->taken = HA_DEVICE_STAGING_USED_;
    pthread_mutex_unlock(&ha_staging.lock);
    return chunk;
}

/* The same, with a block of at least `bytes` bytes; to be given back by ha_chunk_give. NULL: none
 * can be had now. */
HA_IN_ HA_UNUSED ha_chunk *ha_device_staging_take(ha_memory *m, size_t bytes, const char *site) {
    ha_attempt once = {.site = site};
    ha_chunk *chunk = ha_device_staging_choose(m);
    if (!chunk || (chunk->block && chunk->block->bytes >= bytes))
        return ha_device_staging_use(chunk);
    ha_chunk_empty(chunk);
    if (!ha_block_take_for(HA_STAGING, m, bytes, &chunk->block, &once))
        return ha_device_staging_use(chunk);
    chunk->block = NULL;
    ha_forget_note();
    ha_chunk_give(chunk);
    return NULL;
}

/* For ha_shutdown: every queue is drained. */
HA_IN_ void ha_device_staging_end(ha_memory *m) {
    if (!m->device_staging) return;
    ha_chunk_empty(m->device_staging);
    HARRAY_FREE(m->device_staging);
    m->device_staging = NULL;
}

#endif
