/* Memory that is the caller's: which array owns which bytes of it, and what is refused because of
 * it. array/wrap.h takes and hands back.
 *
 * An array that wraps the caller's memory has all its elements in there (a->wrapped of them at
 * most), so those incarnations never grow, never move and never go. If any of the memory is const,
 * the whole array is read-only: its first holder is nobody's access but reads everything for ever,
 * so the fast path lets readers pass and no writer; whoever comes the slow way is told why. */
#ifndef HARRAY_IMPL_STATE_OWNERS_H
#define HARRAY_IMPL_STATE_OWNERS_H

#include "access_debug.h"

enum {
    HA_CALLERS = 4, /* of an incarnation: beside the flags in array/wrap.h */
    /* As flags of a piece: */
    HA_WRAP_EXPORTED_ = 1 << 16, /* from a producer, who may have it from harray */
    HA_WRAP_COPIED_ = 1 << 17    /* const, and read by a copy, as by any number of others */
};

/* ---- whose a block is ---------------------------------------------------------------------- */

/* Whether an array has this block; an array's lock comes behind a pool's. */
HA_IN_ int ha_has_block(ha_array *a, const ha_block *b) {
    ha_lock(a);
    const ha_incarnation *in = &a->first;
    while (in && __atomic_load_n(&in->block, __ATOMIC_ACQUIRE) != b) in = in->next;
    ha_unlock(a);
    return in != NULL;
}

/* What a block is, for messages: "array 'u' (double[100])". Looks at all arrays that begin in a memory. */
HA_IN_ int ha_name_block(ha_memory *m, const ha_block *b, ha_label *label) {
    ha_spin_lock(&m->pool.lock);
    ha_alive *a = m->pool.alive;
    while (a && !ha_has_block(ha_array_of_alive(a), b)) a = a->next;
    if (a) *label = ha_subject_of(ha_array_of_alive(a));
    ha_spin_unlock(&m->pool.lock);
    return a != NULL;
}

/* In all memories. */
HA_IN_ ha_label ha_label_of_block(const ha_block *b) {
    ha_label label = {"harray"}; /* a block that is cached, or on its way back */
    ha_memory *m = __atomic_load_n(&ha_registry.memories, __ATOMIC_ACQUIRE);
    if (ha_name_block(&ha_host_memory, b, &label)) return label;
    while (m && !ha_name_block(m, b, &label)) m = m->next;
    return label;
}

/* The engine's own block with some of these bytes of a memory; NULL: none. Pinned memory is the host's,
 * too. */
HA_IN_ const ha_block *ha_own_block(ha_memory *in, uintptr_t first, uintptr_t last) {
    const ha_block *b = ha_memory_block_at(in, first, last);
    ha_memory *m = __atomic_load_n(&ha_registry.memories, __ATOMIC_ACQUIRE);
    for (; m && !b && in == &ha_host_memory; m = m->next)
        if (!m->primary) b = ha_memory_block_at(m, first, last);
    return b;
}

/* ---- who owns what ------------------------------------------------------------------------- */

/* Bytes that belong to an array. */
typedef struct ha_owned {
    ha_piece_node place; /* in the tree */
    ha_array *owner;
    struct ha_owned *next; /* of the sources of copies, in place of the tree */
} ha_owned;

/* All of them. Devices and the host are taken to share one space of addresses, as they do where the same
 * bytes can be reached from both. Its lock comes before an array's. */
HA_STATE_ struct {
    pthread_mutex_t lock;
    ha_piece_node *tree; /* NULL: nobody wraps anything */
    ha_owned *sources;   /* of copies under way, which are few: they may overlap each other */
} ha_owners = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The first one that ends behind an address; NULL: none does. */
HA_IN_ ha_owned *ha_owners_find(uintptr_t address) HA_REQUIRES_(ha_owners.lock) {
    ha_piece_node *node = ha_tree_find(ha_owners.tree, address);
    return node ? (ha_owned *)(void *)((char *)node - offsetof(ha_owned, place)) : NULL;
}

/* Who has some of these bytes; NULL: nobody. */
HA_IN_ const ha_owned *ha_owners_of(uintptr_t first, uintptr_t last, int copied)
    HA_REQUIRES_(ha_owners.lock) {
    const ha_owned *owned = ha_owners_find(first);
    if (owned && owned->place.first < last) return owned;
    owned = copied ? NULL : ha_owners.sources;
    while (owned && (owned->place.first >= last || owned->place.last <= first)) owned = owned->next;
    return owned;
}

/* HA_ERR_STATE: *other owns some of it already, who is *label; NULL: it is the engine's own memory.
 * in: where it is; NULL: that may be the engine's own. copied: as HA_WRAP_COPIED_. */
HA_IN_ ha_status ha_owners_add(ha_array *a, ha_memory *in, uintptr_t first, uintptr_t last,
                               int copied, const ha_array **other, ha_label *label) {
    const uintptr_t shift = ha_debug_shift(first);
    const ha_block *own = in ? ha_own_block(in, first - shift, last - shift) : NULL;
    if (own) {
        *label = ha_label_of_block(own);
        return HA_ERR_STATE;
    }
    ha_status s = HA_OK;
    ha_owned *added = (ha_owned *)HARRAY_MALLOC(sizeof *added);
    if (added) *added = (ha_owned){{first, last, NULL, NULL}, a, NULL};
    pthread_mutex_lock(&ha_owners.lock);
    const ha_owned *owned = ha_owners_of(first, last, copied);
    if (owned) {
        s = HA_ERR_STATE;
        *other = owned->owner;
        *label = ha_subject_of(owned->owner); /* it lives: it leaves before it is freed */
    } else if (!added)
        s = HA_ERR_MEMORY;
    else if (copied) {
        added->next = ha_owners.sources;
        ha_owners.sources = added;
    } else
        ha_tree_add(&ha_owners.tree, &added->place);
    pthread_mutex_unlock(&ha_owners.lock);
    if (s) HARRAY_FREE(added);
    return s;
}

/* The one that begins there. */
HA_IN_ void ha_owners_remove(uintptr_t first) {
    pthread_mutex_lock(&ha_owners.lock);
    ha_owned *owned = ha_owners_find(first);
    ha_tree_remove(&ha_owners.tree, &owned->place);
    pthread_mutex_unlock(&ha_owners.lock);
    HARRAY_FREE(owned);
}

/* The source of a copy, which has one. */
HA_IN_ void ha_owners_remove_source(const ha_array *a) {
    pthread_mutex_lock(&ha_owners.lock);
    ha_owned **at = &ha_owners.sources;
    while ((*at)->owner != a) at = &(*at)->next;
    ha_owned *owned = *at;
    *at = owned->next;
    pthread_mutex_unlock(&ha_owners.lock);
    HARRAY_FREE(owned);
}

/* ---- what is refused ----------------------------------------------------------------------- */

/* Whether an array can never have n elements. */
static inline int ha_is_beyond(const ha_array *a, size_t n) { return a->wrapped && n > a->wrapped; }

/* Whether that memory is never written. */
static inline int ha_is_const(const ha_incarnation *in) {
    return (in->wrapped & HA_WRAP_CONST) != 0;
}

/* site: NULL when the operation is told none. */
HA_IN_ ha_status ha_refuse_growth(ha_array *a, size_t n, const char *operation, const char *site) {
    if (a->grid && n != a->size)
        return ha_fail(HA_ERR_STATE, operation,
                       "%s%sarray %s: it has a shape, so it keeps its size: %zu elements, not %zu",
                       site ? site : "", site ? ": " : "", ha_label_of(a).text, a->size, n);
    if (!ha_is_beyond(a, n)) return HA_OK;
    return ha_fail(
        HA_ERR_STATE, operation,
        "%s%sarray %s: its memory is the caller's, with room for %zu elements: it cannot "
        "be made larger for %zu",
        site ? site : "", site ? ": " : "", ha_label_of(a).text, a->wrapped, n);
}

HA_IN_ ha_status ha_refuse_change(ha_array *a, const char *operation, const char *site) {
    if (!a->read_only) return HA_OK;
    return ha_fail(HA_ERR_STATE, operation,
                   "%s%s%s: const memory of the caller's is wrapped, which can only be read",
                   site ? site : "", site ? ": " : "", ha_subject_of(a).text);
}

HA_IN_ ha_status ha_refuse_parting(ha_array *a, const char *operation) {
    if (!a->wrapped) return HA_OK;
    return ha_fail(HA_ERR_STATE, operation,
                   "array %s: its memory is the caller's, and stays with it until ha_unwrap",
                   ha_label_of(a).text);
}

#endif
