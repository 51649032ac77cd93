/* Touching what is not open, with HARRAY_DEBUG: what is known of the blocks that users have
 * pointers into, and what the signal handler (fault_handler.h) tells of it. Records are never freed while
 * that is in place. */
#ifndef HARRAY_IMPL_DEVICE_FAULTS_H
#define HARRAY_IMPL_DEVICE_FAULTS_H

#include "fault_handler.h"
#include "../../access.h"

#ifndef HARRAY_DEBUG
#define HA_DEBUGGING_ 0
#define HA_DEBUG_(...)
#else
#define HA_DEBUGGING_ 1
#define HA_DEBUG_(...) __VA_ARGS__
#include "../../../backends/host/guarded.h"

/* ---- what is known of a block ------------------------------------------------------------- */

typedef enum ha_known_state { HA_KNOWN_UNUSED, HA_KNOWN_ALIVE, HA_KNOWN_GONE } ha_known_state;

typedef struct ha_known_access {
    ha_range range; /* elements */
    const char *site;
    uint64_t ticket;
    int writes, open;
} ha_known_access;

/* What a queue still works on, behind an access that has ended. */
typedef struct ha_known_late {
    const ha_context *queue; /* NULL: none */
    uint64_t seq;
    ha_range range;
    int writes;
} ha_known_late;

enum { HA_KNOWN_ACCESSES = 8, HA_KNOWN_LATE = 4, HA_KNOWN_GONE_KEPT = 1000 };

typedef struct ha_known {
    struct ha_known *next;   /* of all that were ever made */
    struct ha_known *behind; /* in the queue of those whose block is gone */
    ha_known_state state;
    uintptr_t first, end;  /* every address that belongs to the block */
    uintptr_t data, bytes; /* as users see it */
    uintptr_t shift;       /* from the engine's addresses to these */
    ha_guarded *guarded;   /* NULL: memory of a device */
    int engine, synced;    /* of the caller's memory: open for the engine; readable since a sync */
    pthread_mutex_t lock;  /* of those below; the handler does without */
    size_t lead, element;  /* bytes before the first element, and of each */
    char label[120], where[48];
    ha_known_access access[HA_KNOWN_ACCESSES];
    ha_known_late late[HA_KNOWN_LATE]; /* their pages are still open */
    uint64_t opened;                   /* the next one is access[opened % …], if that is closed */
} ha_known;

HA_STATE_ struct {
    pthread_mutex_t lock;
    ha_known *first;                 /* of all */
    ha_known *oldest_gone, **newest; /* told a while longer, then used again */
    size_t gone;
    int begun; /* the handler is told of them */
} ha_faults = {.lock = PTHREAD_MUTEX_INITIALIZER, .newest = &ha_faults.oldest_gone};

/* A fresh record, or the one whose block is gone for longest. */
HA_IN_ ha_known *ha_known_obtain(void) HA_REQUIRES_(ha_faults.lock) {
    ha_known *k = ha_faults.oldest_gone;
    if (k && ha_faults.gone > HA_KNOWN_GONE_KEPT) {
        __atomic_store_n(&k->state, HA_KNOWN_UNUSED, __ATOMIC_RELEASE);
        ha_faults.oldest_gone = k->behind;
        ha_faults.gone--;
        return k;
    }
    k = (ha_known *)HARRAY_MALLOC(sizeof *k);
    if (!k) return NULL;
    memset(k, 0, sizeof *k);
    pthread_mutex_init(&k->lock, NULL);
    k->next = ha_faults.first;
    __atomic_store_n(&ha_faults.first, k, __ATOMIC_RELEASE);
    return k;
}

/* Notes an access that is opened, in the place of one that is closed, if there is any. */
HA_IN_ void ha_known_open(ha_known *k, ha_known_access access, const char *label, size_t lead,
                          size_t element, const char *where) {
    pthread_mutex_lock(&k->lock);
    uint64_t at = k->opened;
    while (k->access[at % HA_KNOWN_ACCESSES].open && at < k->opened + HA_KNOWN_ACCESSES) at++;
    k->access[at % HA_KNOWN_ACCESSES] = access;
    k->opened = at + 1;
    k->lead = lead;
    k->element = element;
    snprintf(k->label, sizeof k->label, "%s", label);
    snprintf(k->where, sizeof k->where, "%s", where);
    pthread_mutex_unlock(&k->lock);
}

/* Returns where it was opened; NULL when that is forgotten. */
HA_IN_ const char *ha_known_close(ha_known *k, uint64_t ticket) {
    const char *site = NULL;
    pthread_mutex_lock(&k->lock);
    for (int i = 0; i < HA_KNOWN_ACCESSES; i++) {
        if (k->access[i].ticket != ticket) continue;
        k->access[i].open = 0;
        site = k->access[i].site;
    }
    pthread_mutex_unlock(&k->lock);
    return site;
}

/* ---- what was touched ---------------------------------------------------------------------- */

enum { HA_CLOSED, HA_OPEN, HA_ANY };

/* Of the accesses that cover an element (of all: HA_END) the latest that is open, closed or any. */
HA_IN_ const ha_known_access *ha_known_find(const ha_known *k, size_t element, int state) {
    for (uint64_t i = 1; i <= HA_KNOWN_ACCESSES; i++) {
        const ha_known_access *x = &k->access[(k->opened - i) % HA_KNOWN_ACCESSES];
        int covers = element == HA_END || (x->range.first <= element && element < x->range.last);
        if (x->site && (state == HA_ANY || x->open == state) && covers) return x;
    }
    return NULL;
}

HA_IN_ void ha_line_site(ha_fault_line *l, const char *words, const ha_known_access *x) {
    ha_line_add(l, words);
    ha_line_add(l, x && x->site ? x->site : "an unknown place");
}

/* Far from any block: the nearest one may be meant. */
HA_IN_ void ha_line_far(ha_fault_line *l, const ha_known *k, uintptr_t address) {
    const int behind = address >= k->data;
    ha_line_add(l, "touched what is ");
    ha_line_number(l, behind ? address - k->data - k->bytes : k->data + k->lead - address, 10);
    ha_line_add(l, behind ? " bytes behind the end" : " bytes before the beginning");
    ha_line_add(l, " of the nearest array, ");
    ha_line_add(l, k->label);
    const ha_known_access *x = ha_known_find(k, HA_END, HA_OPEN);
    ha_line_site(l, ", opened at ", x ? x : ha_known_find(k, HA_END, HA_CLOSED));
}

/* On the host, inside the array's own bytes. */
HA_IN_ void ha_line_inside(ha_fault_line *l, const ha_known *k, size_t element) {
    const ha_known_access *x = ha_known_find(k, element, HA_OPEN), *other;
    if (x && !x->writes) {
        ha_line_add(l, "a write through a read access of array ");
        ha_line_add(l, k->label);
        ha_line_site(l, ", opened at ", x);
        return;
    }
    ha_line_add(l, "array ");
    ha_line_add(l, k->label);
    ha_line_add(l, " was touched ");
    if (x) {
        ha_line_site(l, "as it may be, it is open for writing at ", x);
        ha_line_add(l, ", but the system has no memory for it");
    } else if ((other = ha_known_find(k, HA_END, HA_OPEN))) {
        ha_line_add(l, "outside of what is open: [");
        ha_line_number(l, other->range.first, 10);
        ha_line_add(l, ", ");
        ha_line_number(l, other->range.last, 10);
        ha_line_site(l, "), opened at ", other);
    } else {
        x = ha_known_find(k, element, HA_CLOSED);
        if (!x) x = ha_known_find(k, HA_END, HA_CLOSED);
        ha_line_add(l, "without an open access; ");
        if (x) ha_line_site(l, "the last one was opened at ", x);
        ha_line_add(l, x ? " and closed" : "none was opened on the host yet");
    }
}

/* Beside the bytes: what was meant is the latest access. */
HA_IN_ void ha_line_beside(ha_fault_line *l, const ha_known *k, const char *where) {
    const ha_known_access *x = ha_known_find(k, HA_END, HA_OPEN);
    ha_line_add(l, "touched ");
    ha_line_add(l, where);
    ha_line_add(l, " of array ");
    ha_line_add(l, k->label);
    ha_line_site(l, ", opened at ", x ? x : ha_known_find(k, HA_END, HA_CLOSED));
}

HA_IN_ void ha_line_device(ha_fault_line *l, const ha_known *k, uintptr_t address) {
    const ha_known_access *x = ha_known_find(k, HA_END, HA_OPEN);
    ha_line_add(l, "address 0x");
    ha_line_number(l, address, 16);
    ha_line_add(l, " is device memory of ");
    ha_line_add(l, k->where);
    ha_line_add(l, " (array ");
    ha_line_add(l, k->label);
    ha_line_site(l, ", opened at ", x ? x : ha_known_find(k, HA_END, HA_CLOSED));
    ha_line_add(l,
                "): touch it on its queue, in a kernel or through HA_HERE, or open the access on "
                "the host");
}

HA_IN_ void ha_line_gone(ha_fault_line *l, const ha_known *k) {
    ha_line_add(l, "array ");
    ha_line_add(l, k->label);
    ha_line_add(l, " was touched where its memory was: it was given back since, by freeing, "
                   "growing or the like; it was last opened at ");
    ha_line_site(l, "", ha_known_find(k, HA_END, HA_ANY));
}

/* Tells what an address is. Called by the handler. */
HA_IN_ void ha_fault_tell(const ha_known *k, uintptr_t address) {
    ha_fault_line line = {.n = 0};
    uintptr_t at = address < k->data && address + k->shift < k->data + k->bytes
                       ? address + k->shift /* the engine's: a queue's, of a zero-copy context */
                       : address;
    ha_line_add(&line, "harray: ");
    if (k->state == HA_KNOWN_GONE)
        ha_line_gone(&line, k);
    else if (!k->guarded)
        ha_line_device(&line, k, address);
    else if (at < k->data + k->lead)
        ha_line_beside(&line, k, "before the beginning");
    else if (at >= k->data + k->bytes)
        ha_line_beside(&line, k, "behind the end");
    else
        ha_line_inside(&line, k, k->element ? (at - k->data - k->lead) / k->element : 0);
    ha_line_print(&line);
}

/* What was written beside a block without touching another page; site: NULL, of the last access. */
HA_IN_ void ha_known_check(ha_known *k, const char *site) {
    ha_fault_line line = {.n = 0};
    int damage = k->guarded ? ha_guarded_damage(k->guarded) : 0;
    if (!damage) return;
    pthread_mutex_lock(&k->lock);
    const ha_known_access *x = NULL;
    for (uint64_t i = 1; i <= HA_KNOWN_ACCESSES && !x; i++) {
        const ha_known_access *last = &k->access[(k->opened - i) % HA_KNOWN_ACCESSES];
        if (last->writes) x = last;
    }
    ha_line_add(&line, damage & 1 ? "harray: wrote behind the end of array "
                                  : "harray: wrote before the beginning of array ");
    ha_line_add(&line, k->label);
    ha_line_add(&line, ", ");
    ha_line_add(&line, site ? "opened at " : "last opened for writing at ");
    ha_line_add(&line, site ? site : x ? x->site : "an unknown place");
    pthread_mutex_unlock(&k->lock);
    ha_line_print(&line);
}

/* The block is about to be released. NULL: nobody ever opened it. */
HA_IN_ void ha_known_gone(ha_known *k) {
    if (!k) return;
    ha_known_check(k, NULL);
    k->guarded = NULL;
    __atomic_store_n(&k->state, HA_KNOWN_GONE, __ATOMIC_RELEASE);
    pthread_mutex_lock(&ha_faults.lock);
    if (!ha_faults.gone++) ha_faults.newest = &ha_faults.oldest_gone;
    *ha_faults.newest = k;
    ha_faults.newest = &k->behind;
    pthread_mutex_unlock(&ha_faults.lock);
}

/* The block of an address: a living one rather than one that once was there. */
HA_IN_ const ha_known *ha_known_at(uintptr_t address) {
    const ha_known *gone = NULL;
    for (const ha_known *k = __atomic_load_n(&ha_faults.first, __ATOMIC_ACQUIRE); k; k = k->next) {
        ha_known_state state = __atomic_load_n(&k->state, __ATOMIC_ACQUIRE);
        if (state == HA_KNOWN_UNUSED || address < k->first || address >= k->end) continue;
        if (state == HA_KNOWN_ALIVE) return k;
        gone = k;
    }
    return gone;
}

#define HA_KNOWN_NEAR_ ((uintptr_t)256 << 20)
#define HA_NO_ADDRESS_ ((uintptr_t)64 << 10) /* below that is no memory: a null pointer was meant */

/* The living block that is nearest to an address; NULL: all are far away. */
HA_IN_ const ha_known *ha_known_near(uintptr_t address) {
    const ha_known *nearest = NULL;
    uintptr_t least = address < HA_NO_ADDRESS_ ? 0 : HA_KNOWN_NEAR_;
    for (const ha_known *k = __atomic_load_n(&ha_faults.first, __ATOMIC_ACQUIRE); k; k = k->next) {
        const uintptr_t away = address < k->first ? k->first - address : address - k->end;
        if (__atomic_load_n(&k->state, __ATOMIC_ACQUIRE) != HA_KNOWN_ALIVE || away >= least)
            continue;
        nearest = k;
        least = away;
    }
    return nearest;
}

/* What the handler asks. */
HA_IN_ int ha_known_tell(uintptr_t address) {
    const ha_known *k = ha_known_at(address), *near = k ? NULL : ha_known_near(address);
    ha_fault_line line = {.n = 0};
    if (k) ha_fault_tell(k, address);
    if (near) {
        ha_line_add(&line, "harray: ");
        ha_line_far(&line, near, address);
        ha_line_print(&line);
    }
    return k || near;
}

/* A record of a block that begins at `data`, as the engine sees it. */
HA_IN_ ha_known *ha_known_make(void *data, size_t bytes, ha_guarded *g) {
    pthread_mutex_lock(&ha_faults.lock);
    const int begins = !ha_faults.begun;
    ha_faults.begun = 1;
    ha_known *k = ha_known_obtain();
    pthread_mutex_unlock(&ha_faults.lock);
    if (begins) ha_fault_begin(ha_known_tell);
    if (!k) return NULL;
    k->guarded = g;
    k->shift = g ? g->shift : 0;
    k->data = (uintptr_t)data + k->shift;
    k->bytes = bytes;
    k->first = g && !g->in_place ? (uintptr_t)g : k->data;
    k->end = k->first + (g && !g->in_place ? g->mapped : bytes);
    k->engine = k->synced = 0;
    k->behind = NULL;
    memset(k->access, 0, sizeof k->access);
    memset(k->late, 0, sizeof k->late);
    *k->label = *k->where = 0;
    __atomic_store_n(&k->state, HA_KNOWN_ALIVE, __ATOMIC_RELEASE);
    return k;
}

/* No block that was opened is left. */
HA_IN_ void ha_fault_end(void) {
    pthread_mutex_lock(&ha_faults.lock);
    ha_faults.begun = 0;
    while (ha_faults.first) {
        ha_known *k = ha_faults.first;
        __atomic_store_n(&ha_faults.first, k->next, __ATOMIC_RELEASE);
        pthread_mutex_destroy(&k->lock);
        HARRAY_FREE(k);
    }
    ha_faults.oldest_gone = NULL;
    ha_faults.newest = &ha_faults.oldest_gone;
    ha_faults.gone = 0;
    pthread_mutex_unlock(&ha_faults.lock);
}
#endif

#endif
