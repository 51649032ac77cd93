/* HARRAY_DEBUG: what the engine does besides, to find mistakes in its users. Without it everything
 * here is empty.
 *
 * Opening an access on the host gives the users' mapping of a block (backends/host/guarded.h) instead
 * of the engine's, and opens its pages; closing closes them. Pages are counted under a mutex of the
 * block, from the last step of opening, when the access is in place, to the first one of closing,
 * when it still is: so the block does not move meanwhile, a page is open as long as anyone needs
 * it, and the array's lock is not held in a system call.
 *
 * What is opened on a zero-copy context stays the engine's mapping: its queue works on after
 * closing. Memory of other allocators, and the caller's own, is not protected. */
#ifndef HARRAY_IMPL_STATE_ACCESS_DEBUG_H
#define HARRAY_IMPL_STATE_ACCESS_DEBUG_H

#include "labels.h"

#ifdef HARRAY_DEBUG

/* ---- accesses ------------------------------------------------------------------------------ */

/* Before anything is changed: what opening a block of the incarnation will need. */
HA_IN_ ha_status ha_debug_reserve(const ha_incarnation *in, ha_block *b) {
    if (!b || b->known) return HA_OK;
    ha_guarded *g = in->wrapped ? NULL : ha_guarded_find(b->data);
    if (!g && in->memory == &ha_host_memory) return HA_OK; /* not protected: nothing to tell */
    b->known = ha_known_make(b->data, b->bytes, g);
    return b->known ? HA_OK : HA_ERR_MEMORY;
}

/* The pages of the elements r, for one access more or less. */
HA_IN_ void ha_debug_count(const ha_array *a, const ha_known *k, const ha_context *c, ha_range r,
                           int writes, int by) {
    if (!k->guarded || !ha_is_host(c) || ha_is_empty(r)) return;
    if (a->ops) /* its fields lie anywhere */
        ha_guarded_count(k->guarded, 0, k->bytes, writes, by);
    else
        ha_guarded_count(k->guarded, r.first * a->element, r.last * a->element, writes, by);
}

/* Closes what queues were to work on when it was closed, and have by now. */
HA_IN_ void ha_debug_close_late(const ha_array *a, ha_known *k) {
    for (int i = 0; i < HA_KNOWN_LATE; i++) {
        pthread_mutex_lock(&k->lock);
        ha_known_late late = k->late[i];
        int passed = late.queue && ha_passed(late.queue, late.seq);
        if (passed) k->late[i].queue = NULL;
        pthread_mutex_unlock(&k->lock);
        if (passed) ha_debug_count(a, k, ha_host(), late.range, late.writes, -1);
    }
}

/* Leaves pages open until a queue is done with them; for good, when there is too much of that. */
HA_IN_ void ha_debug_keep(ha_known *k, ha_known_late late) {
    pthread_mutex_lock(&k->lock);
    for (int i = 0; i < HA_KNOWN_LATE && late.queue; i++) {
        if (k->late[i].queue) continue;
        k->late[i] = late;
        late.queue = NULL;
    }
    pthread_mutex_unlock(&k->lock);
}

/* An access to r is open: *x gets the pointer for users. Busy. */
HA_IN_ void ha_debug_open(ha_array *a, const ha_incarnation *in, ha_access *x, ha_range r,
                          int writes, const char *site) {
    ha_known *k = in->block ? in->block->known : NULL;
    int host = ha_is_host(x->context);
    if (!k || !x->size) return;
    ha_debug_close_late(a, k);
    ha_known_access access = {r, site, x->ticket, writes, host || !k->guarded};
    ha_known_open(k, access, ha_label_of(a).text, a->element, x->context->name);
    ha_debug_count(a, k, x->context, r, writes, 1);
    if (host) x->data = (char *)x->data + k->shift;
}

/* The access of a thread is about to be closed, or a token to end (thread: HA_TOKEN_), its holder
 * still in place. behind: another queue may work on its data until then; queue NULL: none does. */
HA_IN_ void ha_debug_close(ha_array *a, uint64_t ticket, uint64_t thread, ha_timepoint behind) {
    ha_known *k = NULL;
    ha_lock(a);
    ha_holder *found = ha_holder_find(a, ticket), h = {0};
    if (found && (found->thread == thread || found->thread & thread & HA_TOKEN_)) {
        h = *found;
        const ha_incarnation *in = ha_incarnation_find(a, h.context->memory);
        if (in && in->block) k = in->block->known;
        if (h.range.last > a->size) h.range.last = a->size;
    }
    ha_unlock(a);
    if (!k || ha_is_empty(h.range)) return;
    const char *site = ha_known_close(k, ticket);
    if (behind.queue && ha_is_host(h.context))
        ha_debug_keep(k, (ha_known_late){behind.queue, behind.seq, h.range, h.writes});
    else
        ha_debug_count(a, k, h.context, h.range, h.writes, -1);
    if (h.writes) ha_known_check(k, site);
}

/* The write access *x to the whole array, which was *before, has another size, or another block.
 * Busy. What is new is opened first: other threads of its user may be at work in the old. */
HA_IN_ void ha_debug_resize(ha_array *a, const ha_incarnation *in, ha_access *x,
                            const ha_access *before, const char *site) {
    const ha_known *k = in->block ? in->block->known : NULL;
    int same = k && (uintptr_t)before->data == (uintptr_t)in->data + k->shift;
    ha_debug_open(a, in, x, (ha_range){0, x->size}, 1, site);
    if (same) ha_debug_count(a, k, x->context, (ha_range){0, before->size}, 1, -1);
}

/* ---- arrays that were freed ---------------------------------------------------------------- */

enum { HA_FREED_KEPT = 10000 }; /* beyond that, the oldest ones are forgotten */
typedef struct ha_freed_list {
    pthread_mutex_t lock;
    void *memory[HA_FREED_KEPT];
    size_t next;
} ha_freed_list;

/* Arrays, and the handles of record arrays: the one that a handle had lies among the arrays. */
static ha_freed_list ha_freed_arrays = {.lock = PTHREAD_MUTEX_INITIALIZER};
static ha_freed_list ha_freed_handles = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Instead of freeing it. */
HA_IN_ void ha_freed_list_add(ha_freed_list *g, void *memory) {
    pthread_mutex_lock(&g->lock);
    void **slot = &g->memory[g->next++ % HA_FREED_KEPT], *old = *slot;
    *slot = memory;
    pthread_mutex_unlock(&g->lock);
    HARRAY_FREE(old);
}

/* Instead of freeing its record: whoever comes with it is told. An array without owners is dead. */
HA_IN_ void ha_debug_note_freed(ha_array *a) {
    a->first = (ha_incarnation){.memory = a->first.memory};
    a->recent = &a->first;
    a->holder = a->first_holders;
    a->holders = 0;
    a->holder_capacity = 0;
    a->read_only = a->busy = 0;
    a->wrapped = 0;
    a->grid = NULL;
    a->ops = NULL;
    __atomic_store_n(&a->references, 0, __ATOMIC_RELEASE);
    ha_freed_list_add(&ha_freed_arrays, a);
}

/* Whether an array was freed; tells it. a: may be NULL. */
HA_IN_ int ha_debug_freed(const ha_array *a, const char *operation) {
    if (!a || __atomic_load_n(&a->references, __ATOMIC_ACQUIRE)) return 0;
    ha_fail(HA_ERR_STATE, operation, "array %s was freed",
            ha_label_of((ha_array *)(uintptr_t)a).text);
    return 1;
}

/* ---- the end ------------------------------------------------------------------------------- */

HA_IN_ void ha_freed_list_end(ha_freed_list *g) {
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < HA_FREED_KEPT; i++) {
        HARRAY_FREE(g->memory[i]);
        g->memory[i] = NULL;
    }
    pthread_mutex_unlock(&g->lock);
}

HA_IN_ void ha_debug_end(void) {
    ha_fault_end();
    ha_freed_list_end(&ha_freed_arrays);
    ha_freed_list_end(&ha_freed_handles);
}

#else

static inline ha_status ha_debug_reserve(const ha_incarnation *in, ha_block *b) {
    (void)in, (void)b;
    return HA_OK;
}

static inline void ha_debug_open(ha_array *a, const ha_incarnation *in, ha_access *x, ha_range r,
                                 int writes, const char *site) {
    (void)a, (void)in, (void)x, (void)r, (void)writes, (void)site;
}

static inline void ha_debug_close(ha_array *a, uint64_t ticket, uint64_t thread,
                                  ha_timepoint behind) {
    (void)a, (void)ticket, (void)thread, (void)behind;
}

static inline void ha_debug_resize(ha_array *a, const ha_incarnation *in, ha_access *x,
                                   const ha_access *before, const char *site) {
    (void)a, (void)in, (void)x, (void)before, (void)site;
}

static inline void ha_debug_note_freed(ha_array *a) { HARRAY_FREE(a); }

static inline int ha_debug_freed(const ha_array *a, const char *operation) {
    (void)a, (void)operation;
    return 0;
}

static inline void ha_debug_end(void) {}

#endif

#endif
