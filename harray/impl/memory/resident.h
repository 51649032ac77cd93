/* Which arrays have blocks of a memory, so that some can give way when it is full: those that were used longest
 * ago first, nearly. A block gets its place when the array is opened there on the slow way, or gets the block; whoever
 * looks for some to give way moves those that were used since. Before all of them stand those that nobody needs any
 * more (ha_array_done), in the order in which that was said: of the first ones the queues have got further.
 *
 * The pool's lock guards the list. Whose a block is may be out of date: who finds it there asks the array,
 * whose record is never given back. Small blocks are not listed, as they give way to nobody. */
#ifndef HARRAY_IMPL_MEMORY_RESIDENT_H
#define HARRAY_IMPL_MEMORY_RESIDENT_H

#include "attempt.h"
#include "block.h"

HA_STATE_ size_t ha_resident_least = (size_t)64 << 10; /* bytes of a block that is listed */

static inline void ha_resident_take(ha_pool *p, ha_block *b) HA_REQUIRES_(p->lock) {
    *(b->older ? &b->older->younger : &p->resident) = b->younger;
    *(b->younger ? &b->younger->older : &p->latest) = b->older;
    if (p->done == b) p->done = b->older;
    p->residents--;
    b->resident = NULL;
}

/* Behind another one; NULL: it is the oldest. */
static inline void ha_resident_put_behind(ha_pool *p, ha_block *b, ha_block *older,
                                          struct ha_array *a, uint64_t stamp)
    HA_REQUIRES_(p->lock) {
    b->resident = a;
    b->stamp = stamp;
    b->older = older;
    b->younger = older ? older->younger : p->resident;
    *(b->older ? &b->older->younger : &p->resident) = b;
    *(b->younger ? &b->younger->older : &p->latest) = b;
    p->residents++;
}

/* The youngest one from now on. */
static inline void ha_resident_put(ha_pool *p, ha_block *b, struct ha_array *a, uint64_t stamp)
    HA_REQUIRES_(p->lock) {
    ha_resident_put_behind(p, b, p->latest, a, stamp);
}

/* The block is the array's. It is the youngest one, unless it has its place since that time. Nonzero: somebody waits for
 * memory there. */
HA_IN_ uint32_t ha_resident_list(struct ha_array *a, ha_block *b, uint64_t stamp) {
    ha_pool *p = &b->memory->pool;
    if (b->bytes < ha_resident_least) return 0;
    ha_spin_lock(&p->lock);
    if (b->resident && b->stamp != stamp) ha_resident_take(p, b);
    if (b->use == HA_LIVE && !b->resident) ha_resident_put(p, b, a, stamp);
    if (b->resident) b->resident = a;
    const uint32_t awaited = p->awaited;
    ha_spin_unlock(&p->lock);
    return awaited;
}

/* It is one of the oldest, of stamp 0. */
HA_IN_ void ha_resident_first(ha_block *b) {
    ha_pool *p = &b->memory->pool;
    ha_spin_lock(&p->lock);
    struct ha_array *a = b->resident;
    if (a) {
        ha_resident_take(p, b);
        ha_resident_put_behind(p, b, p->done, a, 0);
        p->done = b;
    }
    ha_spin_unlock(&p->lock);
}

HA_IN_ uint64_t ha_residents(ha_memory *m) {
    ha_spin_lock(&m->pool.lock);
    const uint64_t n = m->pool.residents;
    ha_spin_unlock(&m->pool.lock);
    return n;
}

#endif
