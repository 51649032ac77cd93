/* The cache of a memory: blocks that were given back, kept for whoever comes next; and the account.
 *
 * A block is in one use at a time: live, cached, retired or staging. Moving it to another one under
 * the pool's lock is the only way the account changes, so it always adds up.
 *
 * What the backend is asked for is rounded up to sizes of which there are eight a doubling, but by
 * no more than 2 MiB. A block serves a request when at most an eighth of that is wasted.
 *
 * The cache never raises the high water: before the backend is asked for more, the oldest blocks in
 * it go, until no more will be handed out than was in use at once before. */
#ifndef HARRAY_IMPL_MEMORY_POOL_H
#define HARRAY_IMPL_MEMORY_POOL_H

#include "resident.h"

enum { HA_SIZE_LEAST = 64, HA_SIZE_STEP_MOST = 2 << 20, HA_LOOKS = 8 };

/* ---- what nobody uses may not be touched --------------------------------------------------- */

#if defined __SANITIZE_ADDRESS__
#define HA_POISONS_ 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define HA_POISONS_ 1
#endif
#endif
#ifdef HA_POISONS_
#include <sanitizer/asan_interface.h>
#endif

/* For AddressSanitizer: of a block, the first `used` bytes alone may be touched. Only on the host:
 * the addresses of a device are the backend's matter. */
static inline void ha_block_poison(const ha_block *b, size_t used) {
#ifdef HA_POISONS_
    if (b->memory->primary) return;
    __asan_poison_memory_region(b->data, b->bytes);
    __asan_unpoison_memory_region(b->data, used);
#else
    (void)b;
    (void)used;
#endif
}

/* ---- sizes --------------------------------------------------------------------------------- */

static inline unsigned ha_size_doublings(size_t bytes) {
    return 63u - (unsigned)__builtin_clzll(bytes);
}

/* What to ask the backend for. */
static inline size_t ha_size_rounded(size_t bytes) {
    if (bytes < HA_SIZE_LEAST) return HA_SIZE_LEAST;
    size_t step = (size_t)1 << (ha_size_doublings(bytes) - 3);
    if (step > HA_SIZE_STEP_MOST) step = HA_SIZE_STEP_MOST;
    return (bytes + step - 1) & ~(step - 1);
}

static inline uint32_t ha_size_class(size_t bytes) {
    if (bytes < HA_SIZE_LEAST) return 0;
    unsigned doublings = ha_size_doublings(bytes);
    return (uint32_t)((doublings - 6) * 8 + ((bytes >> (doublings - 3)) & 7));
}

/* ---- the lists ------------------------------------------------------------------------------ */

static inline void ha_pool_move(ha_pool *p, ha_block *b, ha_purpose to) HA_REQUIRES_(p->lock) {
    if (b->resident) ha_resident_take(p, b);
    if (b->is_beyond && to == HA_CACHED) p->beyond = 0;
    p->bytes[b->use] -= b->bytes;
    p->bytes[to] += b->bytes;
    b->use = to;
}

static inline uint64_t ha_pool_handed_out(const ha_pool *p) HA_REQUIRES_(p->lock) {
    uint64_t bytes = 0;
    for (int i = 0; i < HA_USES; i++) bytes += p->bytes[i];
    return bytes;
}

static inline void ha_pool_push(ha_pool *p, ha_block *b) HA_REQUIRES_(p->lock) {
    ha_block **first = &p->cached[ha_size_class(b->bytes)];
    b->previous = NULL;
    b->next = *first;
    if (b->next) b->next->previous = b;
    *first = b;
    b->older = p->youngest;
    b->younger = NULL;
    *(b->older ? &b->older->younger : &p->oldest) = b;
    p->youngest = b;
}

static inline void ha_pool_unlink(ha_pool *p, ha_block *b) HA_REQUIRES_(p->lock) {
    *(b->previous ? &b->previous->next : &p->cached[ha_size_class(b->bytes)]) = b->next;
    if (b->next) b->next->previous = b->previous;
    *(b->older ? &b->older->younger : &p->oldest) = b->younger;
    *(b->younger ? &b->younger->older : &p->youngest) = b->older;
}

/* A block of a class that has `bytes` bytes, and no more than `most`. Where blocks of a class have
 * several sizes, only some are looked at. */
static inline ha_block *ha_pool_look(const ha_pool *p, uint32_t size_class, size_t bytes,
                                     size_t most) HA_REQUIRES_(p->lock) {
    ha_block *b = size_class < HA_SIZE_CLASSES ? p->cached[size_class] : NULL;
    for (int looks = 0; b && looks < HA_LOOKS; looks++, b = b->next)
        if (bytes <= b->bytes && b->bytes <= most) return b;
    return NULL;
}

/* A cached block for so many bytes; NULL: none. Of the size that would be asked for; somewhat
 * larger; or of an odd size, from a time without a cache or a memory that was full. */
static inline ha_block *ha_pool_find(const ha_pool *p, size_t bytes) HA_REQUIRES_(p->lock) {
    if (bytes < HA_SIZE_LEAST) bytes = HA_SIZE_LEAST;
    size_t most = bytes + bytes / 8;
    uint32_t usual = ha_size_class(ha_size_rounded(bytes));
    ha_block *b = ha_pool_look(p, usual, bytes, most);
    if (!b) b = ha_pool_look(p, usual + 1, bytes, most);
    if (!b) b = ha_pool_look(p, ha_size_class(bytes), bytes, most);
    return b;
}

/* Takes the oldest blocks out of the cache until at most `keep` bytes are in it. They are handed
 * out no more: ha_blocks_release() has to follow. */
HA_IN_ ha_block *ha_pool_pick(ha_pool *p, uint64_t keep) HA_REQUIRES_(p->lock) {
    ha_block *picked = NULL, **last = &picked;
    while (p->bytes[HA_CACHED] > keep) {
        ha_block *b = p->oldest;
        ha_pool_unlink(p, b);
        p->bytes[HA_CACHED] -= b->bytes;
        b->next = NULL;
        *last = b;
        last = &b->next;
    }
    p->returning += picked != NULL;
    return picked;
}

/* The same of a block that is too large to be cached, or was beyond the budget. */
HA_IN_ ha_block *ha_pool_refuse(ha_pool *p, ha_block *b) HA_REQUIRES_(p->lock) {
    p->bytes[HA_CACHED] -= b->bytes;
    p->returning++;
    b->next = NULL;
    return b;
}

/* ---- the backend; nothing locked ----------------------------------------------------------- */

/* The user's allocator may not be what it should. */
HA_IN_ ha_status ha_allocator_call(const ha_allocator *from, size_t bytes, void **data) {
    void *block = NULL;
    ha_status s = from->allocate(from->user, bytes, &block);
    if (s) return s;
    if (!block) return HA_ERR_MEMORY;
    if ((uintptr_t)block % 64) {
        from->release(from->user, block, bytes);
        ha_backend_report(0, "the allocator's block is not aligned to 64 bytes");
        return HA_ERR_BACKEND;
    }
    *data = block;
    return HA_OK;
}

HA_IN_ ha_status ha_memory_call(ha_memory *m, size_t bytes, void **data) {
    if (m->allocator.allocate) return ha_allocator_call(&m->allocator, bytes, data);
    return ha_memory_table(m)->allocate(m->handle, bytes, data);
}

/* The backend has given bytes, or got them back. */
HA_IN_ void ha_tell_block(ha_event_kind kind, ha_memory *m, uint64_t bytes) {
    if (!ha_is_listening()) return;
    ha_spin_lock(&m->pool.lock);
    uint64_t balance = ha_pool_handed_out(&m->pool);
    ha_spin_unlock(&m->pool.lock);
    ha_on_block(kind, m, bytes, balance);
}

HA_IN_ void ha_block_release(ha_block *b) {
    ha_memory *m = b->memory;
    HA_DEBUG_(ha_known_gone(b->known);)
    ha_spin_lock(&m->pool.lock);
    ha_tree_remove(&m->pool.tree, &b->address);
    ha_spin_unlock(&m->pool.lock);
    ha_block_poison(b, b->bytes);
    if (m->allocator.release)
        m->allocator.release(m->allocator.user, b->data, b->bytes);
    else
        ha_memory_table(m)->release(m->handle, b->data, b->bytes);
    ha_tell_block(HA_EVENT_FREE, m, b->bytes);
    HARRAY_FREE(b);
}

/* What ha_pool_pick() took out. Returns how many bytes that are. */
HA_IN_ uint64_t ha_blocks_release(ha_memory *m, ha_block *picked) {
    uint64_t bytes = 0, n = 0;
    if (!picked) return 0;
    for (ha_block *b = picked, *next; b; b = next, n++) {
        next = b->next;
        bytes += b->bytes;
        ha_block_release(b);
    }
    ha_spin_lock(&m->pool.lock);
    m->pool.releases += n;
    m->pool.released += bytes;
    m->pool.returned += n;
    m->pool.returning--;
    ha_spin_unlock(&m->pool.lock);
    return bytes;
}

/* Gives back what is in the cache beyond `keep` bytes. */
HA_IN_ uint64_t ha_memory_shrink(ha_memory *m, uint64_t keep) {
    ha_spin_lock(&m->pool.lock);
    ha_block *picked = ha_pool_pick(&m->pool, keep);
    ha_spin_unlock(&m->pool.lock);
    return ha_blocks_release(m, picked);
}

/* The account is to have room for a block. What is cached makes way, as far as the high water and the budget say. Of
 * the host, one block for staging may be beyond the budget, if nothing else is kept for that: what passes through it on
 * its way out of a full memory, or back, could go nowhere else. As long as it is there, the budget is as if it were not:
 * nobody else has less for it; and it is nobody else's afterwards. *picked: to be released. */
HA_IN_ ha_status ha_pool_expect(ha_pool *p, ha_block *b, ha_block **picked) HA_REQUIRES_(p->lock) {
    const uint64_t needed = ha_pool_handed_out(p) - p->bytes[HA_CACHED] + p->expected + b->bytes;
    const uint64_t most = p->budget && p->budget < p->high_water ? p->budget : p->high_water;
    *picked = NULL;
    if (p->budget && needed - p->beyond > p->budget) {
        const int may_be_beyond = b->use == HA_STAGING && b->memory == &ha_host_memory;
        if (!may_be_beyond || p->beyond || p->bytes[HA_STAGING]) return HA_ERR_MEMORY;
        p->beyond = b->bytes;
        b->is_beyond = 1;
    }
    p->expected += b->bytes;
    *picked = ha_pool_pick(p, most > needed ? most - needed : 0);
    return HA_OK;
}

/* The backend has given a block, or not. */
HA_IN_ void ha_pool_expected(ha_pool *p, ha_block *b, int given) HA_REQUIRES_(p->lock) {
    p->expected -= b->bytes;
    if (!given) {
        if (b->is_beyond) p->beyond = 0;
        b->is_beyond = 0;
        return;
    }
    p->bytes[b->use] += b->bytes;
    p->allocations++;
    b->address.first = (uintptr_t)b->data;
    b->address.last = b->address.first + b->bytes;
    ha_tree_add(&p->tree, &b->address);
    const uint64_t handed_out = ha_pool_handed_out(p);
    if (p->high_water < handed_out) p->high_water = handed_out;
}

/* Asks the backend for b->bytes bytes, unless that is beyond the budget and may not be. */
HA_IN_ ha_status ha_block_ask(ha_block *b) {
    ha_memory *m = b->memory;
    ha_pool *p = &m->pool;
    ha_block *picked;
    ha_status s = m == &ha_host_memory ? ha_host_options_read() : HA_OK;
    if (s) return s;
    ha_spin_lock(&p->lock);
    s = ha_pool_expect(p, b, &picked);
    ha_spin_unlock(&p->lock);
    if (s) return s;
    (void)ha_blocks_release(m, picked);
    s = ha_memory_call(m, b->bytes, &b->data);
    ha_spin_lock(&p->lock);
    ha_pool_expected(p, b, !s);
    ha_spin_unlock(&p->lock);
    if (!s) ha_tell_block(HA_EVENT_ALLOCATE, m, b->bytes);
    return s;
}

/* ---- taking from the cache, and giving back ------------------------------------------------ */

static inline void ha_pool_begin(ha_pool *p, ha_alive *array) HA_REQUIRES_(p->lock) {
    p->arrays++;
    array->link = &p->alive;
    if ((array->next = p->alive)) array->next->link = &array->next;
    p->alive = array;
}

static inline void ha_pool_end(ha_pool *p, ha_alive *array) HA_REQUIRES_(p->lock) {
    p->arrays--;
    *array->link = array->next;
    if (array->next) array->next->link = array->link;
    for (ha_walk *w = p->walks; w; w = w->next)
        if (w->at == array) w->at = array->next;
}

/* Some arrays of a pool at a time, from the youngest on. One that begins meanwhile is not met. */
HA_IN_ void ha_walk_begin(ha_pool *p, ha_walk *w) {
    ha_spin_lock(&p->lock);
    *w = (ha_walk){p->alive, p->walks};
    p->walks = w;
    ha_spin_unlock(&p->lock);
}

HA_IN_ void ha_walk_end(ha_pool *p, const ha_walk *w) {
    ha_spin_lock(&p->lock);
    ha_walk **at = &p->walks;
    while (*at != w) at = &(*at)->next;
    *at = w->next;
    ha_spin_unlock(&p->lock);
}

/* A cached block, of which the first `bytes` bytes will be used; NULL: there is none. */
static inline ha_block *ha_pool_take(ha_pool *p, size_t bytes, ha_purpose use)
    HA_REQUIRES_(p->lock) {
    ha_block *b = ha_pool_find(p, bytes);
    if (!b) return NULL;
    ha_pool_unlink(p, b);
    ha_pool_move(p, b, use);
    p->reused++;
    ha_block_poison(b, bytes);
    return b;
}

/* The same, for who needs nothing else of the pool. */
static inline ha_block *ha_block_reuse(ha_memory *m, size_t bytes, ha_purpose use) {
    ha_spin_lock(&m->pool.lock);
    ha_block *b = ha_pool_take(&m->pool, bytes, use);
    ha_spin_unlock(&m->pool.lock);
    return b;
}

/* Gives a block back that no queue uses. array: it ends with the block; NULL: none does. Returns how
 * many bytes went to the backend for it. */
static inline uint64_t ha_block_give(ha_block *b, ha_alive *array) {
    ha_memory *m = b->memory;
    ha_pool *p = &m->pool;
    ha_block *picked = NULL;
    ha_block_poison(b, 0);
    ha_spin_lock(&p->lock);
    if (array) ha_pool_end(p, array);
    p->returned++;
    ha_pool_move(p, b, HA_CACHED);
    if (b->bytes <= p->most && !b->is_beyond)
        ha_pool_push(p, b);
    else
        picked = ha_pool_refuse(p, b);
    if (p->bytes[HA_CACHED] > p->most) picked = ha_pool_pick(p, p->most);
    const uint32_t awaited = p->awaited;
    ha_spin_unlock(&p->lock);
    if (awaited) ha_for_room.changed();
    return picked ? ha_blocks_release(m, picked) : 0;
}

/* An array begins without a block, or ends. */
HA_IN_ void ha_memory_begin(ha_memory *m, ha_alive *array) {
    ha_spin_lock(&m->pool.lock);
    ha_pool_begin(&m->pool, array);
    ha_spin_unlock(&m->pool.lock);
}

HA_IN_ void ha_memory_end(ha_memory *m, ha_alive *array) {
    ha_spin_lock(&m->pool.lock);
    ha_pool_end(&m->pool, array);
    ha_spin_unlock(&m->pool.lock);
}

/* The first block that ends behind an address; NULL: none does. The pool is locked. */
HA_IN_ const ha_block *ha_block_behind(const ha_memory *m, uintptr_t address) {
    const ha_piece_node *node = ha_tree_find(m->pool.tree, address);
    return node ? (const ha_block *)(const void *)((const char *)node - offsetof(ha_block, address))
                : NULL;
}

/* A block with bytes in [first, last) that is not the user's own; NULL: none. Another thread may free it at
 * once: so nobody looks into it. */
HA_IN_ const ha_block *ha_memory_block_at(ha_memory *m, uintptr_t first, uintptr_t last) {
    ha_spin_lock(&m->pool.lock);
    const ha_block *b = ha_block_behind(m, first);
    while (b && __atomic_load_n(&b->loose, __ATOMIC_RELAXED))
        b = ha_block_behind(m, b->address.last);
    if (b && (uintptr_t)b->data >= last) b = NULL;
    ha_spin_unlock(&m->pool.lock);
    return b;
}

/* A thread starts (1) or ends (-1) giving blocks back one by one. */
HA_IN_ void ha_pool_return(ha_memory *m, int by) {
    ha_spin_lock(&m->pool.lock);
    m->pool.returning += (uint32_t)by;
    ha_spin_unlock(&m->pool.lock);
}

HA_IN_ void ha_pool_retire(ha_block *b) {
    ha_spin_lock(&b->memory->pool.lock);
    ha_pool_move(&b->memory->pool, b, HA_RETIRED);
    ha_spin_unlock(&b->memory->pool.lock);
}

HA_IN_ uint64_t ha_pool_bytes(ha_memory *m, ha_purpose use) {
    ha_spin_lock(&m->pool.lock);
    uint64_t bytes = m->pool.bytes[use];
    ha_spin_unlock(&m->pool.lock);
    return bytes;
}

/* How many blocks came back so far. */
HA_IN_ uint64_t ha_pool_returned(ha_memory *m) {
    ha_spin_lock(&m->pool.lock);
    uint64_t returned = m->pool.returned;
    ha_spin_unlock(&m->pool.lock);
    return returned;
}

HA_IN_ int ha_pool_caches(ha_memory *m) {
    ha_spin_lock(&m->pool.lock);
    int caches = m->pool.most > 0;
    ha_spin_unlock(&m->pool.lock);
    return caches;
}

#endif
