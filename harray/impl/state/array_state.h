/* The state of an array, its lock, and the small questions about it. */
#ifndef HARRAY_IMPL_STATE_ARRAY_STATE_H
#define HARRAY_IMPL_STATE_ARRAY_STATE_H

#include "array_ops.h"
#include "../memory/all.h"

_Static_assert(sizeof(size_t) == 8, "harray counts elements in 64 bits");

/* The array's bytes in one memory. Made at first use, lives as long as the array. */
typedef struct ha_incarnation {
    ha_memory *memory;
    char *data;       /* of the block; NULL: no block */
    size_t capacity;  /* elements */
    ha_set valid;     /* within the array's size */
    ha_ops ops;       /* outstanding on the block */
    ha_block *block;  /* NULL: none */
    unsigned wrapped; /* owners.h: 0, or HA_CALLERS: the block is the caller's; | HA_WRAP_CONST */
    struct ha_incarnation *next;
} ha_incarnation;

/* In ha_holder.thread: the access was detached into a token. So it is no thread's own; the other
 * bits say who detached it. */
#define HA_TOKEN_ ((uint64_t)1 << 63)

/* An open access, or one that is being opened. */
typedef struct ha_holder {
    uint64_t thread, ticket;
    ha_range range; /* locked: a whole access locks [0, SIZE_MAX), also at size 0 */
    ha_context *context;
    const char *site;
    int writes;
    int overwrites;  /* open, and began with no values: none that it has can be lost by others */
    uint64_t opened; /* when, if the array is watched; else undefined */
} ha_holder;

struct ha_array {
    uint32_t lock;    /* 1: taken. Held for a few instructions, never across a call that may wait */
    uint32_t busy;    /* a thread prepares or changes the array with the lock dropped */
    uint32_t waiters; /* threads that wait for a change here, or queue for it; and flags: while it
                         is not 0, opening and closing take the slow way */
    uint32_t holders, holder_capacity;
    ha_holder *holder;
    ha_incarnation *recent; /* where the last access went */
    size_t size;
    size_t element; /* bytes; 0: of a form */
    uint64_t tickets, version;
    ha_incarnation first; /* where it was first touched; the others follow by `next` */
    ha_context *first_touch;
    const char *type;
    uint64_t references;
    size_t wrapped;     /* owners.h: elements of the caller's memory; 0: it has none of that */
    uint32_t read_only; /* owners.h: 1: the first holder is nobody's access and keeps writers out */
    uint32_t uneven;    /* 1: not as many ghost cells behind as before the interior, somewhere */
    ha_statistics statistics;
    ha_set lost;                 /* lost.h: written once, and valid nowhere any more */
    const char *lost_where;      /* the context whose failure that was */
    const char *lost_site;       /* what it was to write them for; NULL: unknown */
    struct ha_watched *watched;  /* array_events.h; NULL: it is not */
    ha_grid *grid;               /* on which its elements lie; NULL: one behind the other */
    ha_array_form *form;         /* of a record array; NULL: elements are bytes in a row */
    void (*release)(void *user); /* to be called when it is gone; NULL: nothing is */
    void *release_user;
    char name[48];
    ha_holder first_holders[2]; /* last: this alone is not zeroed in a new array */
};

/* In `waiters`: flags, and the threads. */
enum { HA_WATCHED = 1 << 30, HA_WAITING = (1 << 24) - 1 };

static inline void ha_lock(ha_array *a) { ha_spin_lock(&a->lock); }

static inline void ha_unlock(ha_array *a) { ha_spin_unlock(&a->lock); }

/* The lock is needed for looking, too; it is not part of what an array says. */
static inline ha_array *ha_lock_const(const ha_array *a) {
    ha_array *mutable_array = (ha_array *)(uintptr_t)a;
    ha_lock(mutable_array);
    return mutable_array;
}

static inline ha_incarnation *ha_incarnation_find(ha_array *a, const ha_memory *m) {
    ha_incarnation *in = &a->first;
    while (in && in->memory != m) in = in->next;
    return in;
}

/* Lock held. The holder of an access: NULL when it is closed. Usually the last one. */
static inline ha_holder *ha_holder_find(ha_array *a, uint64_t ticket) {
    for (uint32_t i = a->holders; i > 0; i--)
        if (a->holder[i - 1].ticket == ticket) return &a->holder[i - 1];
    return NULL;
}

/* The incarnation of a memory, made if need be; NULL when there is no memory for it. Busy. */
static ha_incarnation *ha_incarnation_add(ha_array *a, ha_memory *m) {
    ha_incarnation *in = ha_incarnation_find(a, m);
    if (in) return in;
    in = (ha_incarnation *)HARRAY_MALLOC(sizeof *in);
    if (!in) return NULL;
    memset(in, 0, sizeof *in);
    in->memory = m;
    in->valid.grid = in->ops.grid = a->grid;
    ha_incarnation *last = &a->first;
    while (last->next) last = last->next;
    ha_lock(a);
    last->next = in;
    ha_unlock(a);
    return in;
}

/* "'u' (double[1000])" for messages. */
typedef struct ha_label {
    char text[120];
} ha_label;

static ha_label ha_label_of(ha_array *a) {
    ha_label l;
    char name[sizeof a->name];
    ha_lock(a);
    size_t size = a->size;
    memcpy(name, a->name, sizeof name);
    ha_unlock(a);
    const char *quote = *name ? "'" : "", *space = *name ? " " : "";
    int n = snprintf(l.text, sizeof l.text, "%s%s%s%s(%.32s[", quote, name, quote, space, a->type);
    ha_text t = {l.text, sizeof l.text, (size_t)n};
    if (a->form)
        a->form->ops->print_extents(a, &t);
    else if (!a->grid)
        ha_print(&t, "%zu", size);
    for (int d = 0; a->grid && !a->form && d < a->grid->rank; d++)
        ha_print(&t, "%s%zu", d ? ", " : "", a->grid->extent[d]);
    ha_print(&t, "])");
    return l;
}

/* "array 'u' (double[1000])", or "records 'v' (body[1000])". */
static ha_label ha_subject_of(ha_array *a) {
    const ha_label label = ha_label_of(a);
    ha_label subject;
    ha_text t = ha_text_into(subject.text, sizeof subject.text);
    ha_print(&t, "%s %s", a->form ? "records" : "array", label.text);
    return subject;
}

/* "[3, 7)", or "[3, 7) x [0, 2)" for messages. */
typedef struct ha_part_label {
    char text[112];
} ha_part_label;

static ha_part_label ha_part_label_of(const ha_array *a, ha_range r) {
    ha_part_label l = {""};
    ha_text t = {l.text, sizeof l.text, 0};
    ha_box box = {{r.first}, {r.last}};
    if (a->form && a->grid && !ha_is_empty(r)) {
        a->form->ops->print_part(a, r, &t);
        return l;
    }
    if (a->grid && !ha_is_empty(r)) ha_box_of(a->grid, r, &box);
    for (int d = 0; d < (a->grid ? a->grid->rank : 1); d++)
        ha_print(&t, "%s[%zu, %zu)", d ? " x " : "", box.first[d], box.last[d]);
    return l;
}

/* The bytes of the values in r. */
static uint64_t ha_value_bytes(const ha_array *a, ha_range r) {
    if (a->form) return a->form->ops->value_bytes(a, r);
    return ha_elements(a->grid, r) * a->element;
}

/* Room for one more operation on an incarnation, keeping promises. Busy; takes memory unlocked. */
static ha_status ha_ops_reserve(ha_array *a, ha_ops *o, uint32_t more) {
    ha_lock(a);
    if (!ha_ops_has_room(o, more)) ha_ops_prune(o, 1);
    if (!ha_ops_has_room(o, more) && o->n > HA_MERGE_ABOVE) ha_ops_merge(o);
    int enough = ha_ops_has_room(o, more);
    uint32_t capacity = 2 * (o->n + o->promised + more);
    ha_unlock(a);
    if (enough) return HA_OK;
    /* While busy, closing accesses use up promises and may note, but never need more than this. */
    ha_operation *heap = (ha_operation *)HARRAY_MALLOC(capacity * sizeof *heap), *old;
    if (!heap) return HA_ERR_MEMORY;
    ha_lock(a);
    memcpy(heap, ha_ops_list(o), o->n * sizeof *heap);
    old = o->heap;
    o->heap = heap;
    o->capacity = capacity;
    ha_unlock(a);
    HARRAY_FREE(old);
    return HA_OK;
}

/* Room for `more` further ranges in a set of an incarnation. Sets change only under busy and lock
 * together, and are looked at under the lock: so the new memory is put in under the lock. */
static ha_status ha_set_reserve(ha_array *a, ha_set *set, size_t more) {
    ha_set grown = {.one = set->one, .n = set->n, .grid = set->grid};
    if (set->n + more <= (set->heap ? set->capacity : 1)) return HA_OK;
    if (ha_set_room(&grown, set->capacity + more)) return HA_ERR_MEMORY;
    memcpy(grown.heap, ha_set_ranges(set), set->n * sizeof *grown.heap);
    ha_lock(a);
    ha_range *old = set->heap;
    *set = grown;
    ha_unlock(a);
    HARRAY_FREE(old);
    return HA_OK;
}

/* The next queue, in order of address behind p->queue, with an operation that an access to r has to
 * come after; *p is the last of these. 0 when there is none. Not by index: while the lock is
 * dropped between two calls, others may note operations and so move the entries of the list. */
static int ha_next_conflict(ha_array *a, ha_incarnation *in, ha_range r, int write,
                            const ha_context *queue, ha_timepoint *p) {
    ha_timepoint best = {NULL, 0};
    ha_lock(a);
    const ha_operation *list = ha_ops_list(&in->ops);
    for (uint32_t i = 0; i < in->ops.n; i++) {
        const ha_operation *o = &list[i];
        uintptr_t at = (uintptr_t)o->at.queue;
        if (o->at.queue == queue || at <= (uintptr_t)p->queue ||
            !ha_conflicts(a->grid, o, r, write) ||
            (ha_passed(o->at.queue, o->at.seq) && !ha_lost_write(o)))
            continue;
        if (!best.queue || at < (uintptr_t)best.queue)
            best = o->at;
        else if (o->at.queue == best.queue && o->at.seq > best.seq)
            best.seq = o->at.seq;
    }
    ha_unlock(a);
    *p = best;
    return best.queue != NULL;
}

/* Work enqueued on `queue` (or, for the host, done by this thread) from now on comes after p.
 * HA_RETRY_ when the host would have to wait, or when a queue turns out to have failed: then what
 * there is has to be looked at again. */
static ha_status ha_come_after_timepoint(ha_context *queue, ha_timepoint p, ha_attempt *attempt) {
    ha_poll(p.queue);
    if (ha_passed(p.queue, p.seq) && !ha_is_lost(p)) return HA_OK;
    ha_status s = ha_can_await(queue, p.queue) && !ha_is_lost(p) ? ha_await(queue, p) : HA_RETRY_;
    if (s == HA_ERR_LOST) s = HA_RETRY_;
    if (s == HA_RETRY_) attempt->point = p;
    return s;
}

/* Work on `queue` from now on comes after every conflicting operation on `in`. */
static ha_status ha_come_after(ha_array *a, ha_incarnation *in, ha_range r, int write,
                               ha_context *queue, ha_attempt *attempt) {
    ha_timepoint p = {NULL, 0};
    ha_status s = HA_OK;
    while (!s && ha_next_conflict(a, in, r, write, queue, &p))
        s = ha_come_after_timepoint(queue, p, attempt);
    return s;
}

#endif
