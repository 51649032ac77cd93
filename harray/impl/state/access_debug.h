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
 * closing. The caller's memory has no other mapping: it is open while the array is busy, and until
 * queues are done with it; what is opened there on a zero-copy context ends its protection. Memory of
 * other allocators is not protected, nor what record arrays adopt. */
#ifndef HARRAY_IMPL_STATE_ACCESS_DEBUG_H
#define HARRAY_IMPL_STATE_ACCESS_DEBUG_H

#include "labels.h"
#include "../../wrap.h"

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

/* Memory of the caller's that is protected from now on; it need not be. */
HA_IN_ void ha_debug_wrap(ha_array *a, const ha_incarnation *in) {
    ha_block *b = in->block;
    ha_guarded *g = NULL;
    ha_context *owner;
    if (in->memory == &ha_host_memory && !(in->wrapped & HA_WRAP_CONST) &&
        ha_pointer_owner(b->data, &owner) == HA_MEMORY_HOST)
        g = ha_guarded_in_place(b->data, b->bytes);
    if (!g) return;
    b->known = ha_known_make(b->data, b->bytes, g);
    if (b->known)
        snprintf(b->known->label, sizeof b->known->label, "%s", ha_label_of(a).text);
    else
        ha_guarded_leave(g);
}

/* The memory is the caller's again. */
HA_IN_ void ha_debug_unwrap(ha_block *b) {
    ha_guarded *g = b->known ? b->known->guarded : NULL;
    ha_known_gone(b->known);
    if (g) ha_guarded_leave(g);
}

/* What is known of the caller's memory that is protected; NULL: there is none. */
HA_IN_ ha_known *ha_debug_wrapped(ha_array *a) {
    if (!a->wrapped) return NULL;
    ha_lock(a);
    const ha_incarnation *in = ha_incarnation_find(a, &ha_host_memory);
    ha_known *k = in && in->wrapped && in->block ? in->block->known : NULL;
    ha_unlock(a);
    return k && k->guarded && k->guarded->in_place ? k : NULL;
}

/* The array has become busy. */
HA_IN_ void ha_debug_busy(ha_array *a) {
    ha_known *k = ha_debug_wrapped(a);
    if (!k || k->engine) return;
    k->engine = 1;
    ha_guarded_count(k->guarded, 0, k->bytes, 1, 1);
}

/* It is about to be no longer. */
HA_IN_ void ha_debug_idle(ha_array *a) {
    ha_known *k = ha_debug_wrapped(a);
    int used = 0;
    if (!k || !k->engine) return;
    ha_lock(a);
    ha_incarnation *in = ha_incarnation_find(a, &ha_host_memory);
    for (uint32_t i = 0; i < in->ops.n; i++) {
        const ha_operation *o = &ha_ops_list(&in->ops)[i];
        used |= !ha_passed(o->at.queue, o->at.seq);
    }
    ha_unlock(a);
    if (used) return;
    k->engine = 0;
    ha_guarded_count(k->guarded, 0, k->bytes, 1, -1);
}

/* The caller may read its memory, up to the next write. */
HA_IN_ void ha_debug_synced(ha_array *a, int synced) {
    ha_known *k = ha_debug_wrapped(a);
    if (!k || k->synced == synced) return;
    k->synced = synced;
    ha_guarded_count(k->guarded, 0, k->bytes, 0, synced ? 1 : -1);
}

/* The pages of the elements r, for one access more or less. */
HA_IN_ void ha_debug_count(const ha_array *a, const ha_known *k, const ha_context *c, ha_range r,
                           int writes, int by) {
    if (!k->guarded || !ha_is_host(c) || ha_is_empty(r)) return;
    if (a->ops) /* its fields lie anywhere */
        ha_guarded_count(k->guarded, 0, k->bytes, writes, by);
    else
        ha_guarded_count(k->guarded, a->lead + r.first * a->element, a->lead + r.last * a->element,
                         writes, by);
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
    if (writes && !ha_is_empty(r)) ha_debug_synced(a, 0);
    if (!k || !x->size) return;
    if (!host && k->guarded && k->guarded->in_place) ha_guarded_give_up(k->guarded);
    ha_debug_close_late(a, k);
    ha_known_access access = {r, site, x->ticket, writes, host || !k->guarded};
    ha_known_open(k, access, ha_label_of(a).text, a->lead, a->element, x->context->name);
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

/* From the engine's addresses to those of users, at one of these. */
HA_IN_ uintptr_t ha_debug_shift(uintptr_t address) {
    const ha_known *k = __atomic_load_n(&ha_faults.first, __ATOMIC_ACQUIRE);
    for (; k; k = k->next)
        if (__atomic_load_n(&k->state, __ATOMIC_ACQUIRE) == HA_KNOWN_ALIVE && k->shift &&
            address - k->data < k->bytes)
            return k->shift;
    return 0;
}

/* ---- the end ------------------------------------------------------------------------------- */

HA_IN_ void ha_debug_end(void) { ha_fault_end(); }

#else

static inline ha_status ha_debug_reserve(const ha_incarnation *in, ha_block *b) {
    (void)in, (void)b;
    return HA_OK;
}

static inline void ha_debug_wrap(ha_array *a, const ha_incarnation *in) { (void)a, (void)in; }

static inline void ha_debug_unwrap(ha_block *b) { (void)b; }

static inline void ha_debug_busy(ha_array *a) { (void)a; }

static inline void ha_debug_idle(ha_array *a) { (void)a; }

static inline void ha_debug_synced(ha_array *a, int synced) { (void)a, (void)synced; }

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

static inline uintptr_t ha_debug_shift(uintptr_t address) {
    (void)address;
    return 0;
}

static inline void ha_debug_end(void) {}

#endif

#endif
