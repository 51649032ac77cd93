/* What must hold of every array after every step, seen from inside. For test programs that include
 * the implementation; to be included behind it.
 *
 *     check_invariants(array);             at any time, also while other threads use the array
 *     check_quiet(array);                  the same, and: no call is running, no lock was left
 *     check_ledger(arrays, count);         every byte that a memory has handed out belongs to one
 * of these arrays, is cached, staging or on its way back. They are all that live (NULL: none); no
 * call is running
 *     check_handed_out(&faulty_sim_ledger) with faulty_backend.h: the wrapper has counted the same
 *
 * What is broken is printed with the state of the array; then the running test fails, or, where
 * cmocka.h is not included, the program is aborted. Two accesses that alias each other (y = f(y))
 * must not be moved to different threads: that looks like a conflict. */
#ifndef HARRAY_TESTS_SUPPORT_INVARIANTS_H
#define HARRAY_TESTS_SUPPORT_INVARIANTS_H

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline void invariant_broken(const ha_array *a, const char *what) {
    char state[4000] = "";
    if (a) (void)ha_describe(a, state, sizeof state);
    fprintf(stderr, "broken: %s\n%s", what, state);
#ifdef CMOCKA_H_
    fail();
#else
    abort();
#endif
}

/* ---- an incarnation; each of these returns what is broken, NULL: nothing --------------------- */

static inline const char *broken_valid(const ha_incarnation *in, size_t size) {
    const ha_set *s = &in->valid;
    const ha_range *v = ha_set_ranges(s);
    if (s->n > (s->heap ? s->capacity : 1)) return "more valid ranges than there is room for";
    uint32_t in_order = 0;
    size_t before = 0;
    for (uint32_t i = ha_set_first(s); i < s->n && !s->grid; i = ha_set_next(s, i)) {
        if (in_order++ && before >= v[i].first) return "valid ranges touch or are out of order";
        before = v[i].last;
    }
    if (!s->grid && in_order != s->n) return "a valid range is not found in order";
    for (uint32_t i = 0; i < s->n; i++) {
        if (v[i].first >= v[i].last) return "an empty valid range";
        for (uint32_t j = 0; s->grid && j < i; j++)
            if (ha_overlap(s->grid, v[i], v[j])) return "valid boxes overlap";
        if (v[i].last > size) return "valid behind the array's end";
        if (v[i].last > in->capacity) return "valid behind the block's end";
    }
    return s->n && !in->block ? "valid without a block" : NULL;
}

static inline const char *broken_block(const ha_array *a, const ha_incarnation *in) {
    const ha_block *b = in->block;
    if (!b) return in->capacity || in->data ? "a capacity without a block" : NULL;
    if (!in->capacity) return "a block without a capacity";
    if (in->data != (char *)b->data + a->lead) return "the data are not where the block's begin";
    if (b->memory != in->memory && (b->memory->primary || in->memory != &ha_host_memory))
        return "a block of another memory"; /* not just a device's pinned part of the host's */
    if (a->ops) return NULL;                /* of a record array: that has blobs in its block */
    return in->capacity > (b->bytes - a->lead) / a->element
               ? "the capacity is larger than the block"
               : NULL;
}

/* The caller's memory is all there for ever; of const memory every element, as nobody writes it. */
static inline const char *broken_wrapped(const ha_array *a, const ha_incarnation *in) {
    if (!in->wrapped) return NULL;
    if (!in->block || in->capacity != a->wrapped ||
        (!a->ops && in->block->bytes != a->wrapped * a->element))
        return "not all of the caller's memory";
    if (a->size > a->wrapped) return "more elements than the caller's memory has";
    if (!ha_is_const(in) || ha_is_dead(in->memory)) return NULL;
    if (!a->read_only) return "const memory in an array that can be written";
    ha_range all = {0, a->size};
    return ha_set_contains(&in->valid, all) ? NULL : "const memory is not valid";
}

static inline const char *broken_operations(ha_ops *o) {
    const ha_operation *list = ha_ops_list(o);
    if ((uint64_t)o->n + o->promised > ha_ops_capacity(o))
        return "more operations and promises than there is room for";
    for (uint32_t i = 0; i < o->n; i++) {
        if (!list[i].at.queue || ha_is_host(list[i].at.queue)) return "an operation of no queue";
        if (list[i].at.seq > ha_sequence_of(list[i].at.queue))
            return "an operation from the future";
        if (ha_is_empty(list[i].range)) return "an operation on nothing";
    }
    return NULL;
}

static inline const char *broken_incarnation(const ha_array *a, ha_incarnation *in) {
    const char *why = broken_valid(in, a->size);
    if (!why) why = broken_block(a, in);
    if (!why) why = broken_wrapped(a, in);
    if (!why) why = broken_operations(&in->ops);
    for (const ha_incarnation *other = in->next; other && !why; other = other->next)
        if (other->memory == in->memory) why = "two incarnations in one memory";
    return why;
}

/* ---- the open accesses ---------------------------------------------------------------------- */

/* A write is alone, except for reads that its thread opened before at the same context. */
static inline const char *broken_pair(const ha_grid *g, const ha_holder *x, const ha_holder *y) {
    if (x->ticket == y->ticket) return "two accesses with one ticket";
    if (!(x->writes | y->writes) || !ha_overlap(g, x->range, y->range)) return NULL;
    const ha_holder *first = x->ticket < y->ticket ? x : y;
    int alias = ((x->thread ^ y->thread) & ~HA_TOKEN_) == 0 && x->context == y->context &&
                !first->writes;
    return alias ? NULL : "two accesses that exclude each other are open";
}

/* Set by tests that open views of arrays without a grid: between the elements of a view may be some
 * that never had values. With a grid it is always so. */
static int views_of_lines;

/* The calling thread's accesses and tokens are open, not being opened: they have what they were
 * promised. */
static inline const char *broken_access(ha_array *a, const ha_holder *h) {
    ha_range r = {h->range.first, h->range.last < a->size ? h->range.last : a->size};
    ha_incarnation *in = ha_incarnation_find(a, h->context->memory);
    if (!in) return "an access without an incarnation";
    int gaps = !h->writes && (a->grid || views_of_lines) && ha_is_all_there(a, in, r);
    if (!gaps && !__atomic_load_n(&ha_failures, __ATOMIC_RELAXED) &&
        !ha_set_contains(&in->valid, r))
        return "an open access covers what is not valid there";
    for (ha_incarnation *other = &a->first; other && h->writes; other = other->next)
        if (other != in && ha_set_overlaps(&other->valid, r))
            return "what an access writes is valid elsewhere";
    return NULL;
}

static inline const char *broken_holders(ha_array *a) {
    const char *why = NULL;
    if (a->holders > a->holder_capacity) return "more accesses than there is room for";
    if (a->read_only && (!a->holders || a->holder->thread || a->holder->writes))
        return "a read-only array that can be written";
    for (uint32_t i = a->read_only; i < a->holders && !why; i++) {
        const ha_holder *h = &a->holder[i];
        if (!h->context || !h->thread || !h->site || h->ticket > a->tickets)
            return "an access of nobody";
        if (h->thread == ha_self.id || h->thread & HA_TOKEN_) why = broken_access(a, h);
        for (uint32_t j = i + 1; j < a->holders && !why; j++)
            why = broken_pair(a->grid, h, &a->holder[j]);
    }
    return why;
}

/* An open access to anything on a device has been promised an entry for closing. While other
 * threads open theirs it is not known which of these have it already. */
static inline const char *broken_promises(const ha_array *a, const ha_incarnation *in, int quiet) {
    uint32_t mine = 0, all = 0;
    for (uint32_t i = a->read_only; i < a->holders; i++) {
        const ha_holder *h = &a->holder[i];
        if (ha_is_host(h->context) || h->context->memory != in->memory) continue;
        if (ha_is_empty(h->range)) continue; /* closing it will note nothing */
        all++;
        mine += h->thread == ha_self.id;
    }
    if (in->ops.promised > all) return "promised for an access that is not open";
    if (in->ops.promised < (quiet ? all : mine)) return "an access that cannot be closed";
    return NULL;
}

/* ---- arrays --------------------------------------------------------------------------------- */

/* Lock held. */
static inline const char *broken_array(ha_array *a, int quiet) {
    const char *why = broken_holders(a);
    int recent = 0;
    for (ha_incarnation *in = &a->first; in && !why; in = in->next) {
        recent |= in == a->recent;
        why = broken_incarnation(a, in);
        if (!why) why = broken_promises(a, in, quiet);
    }
    if (!why && !recent) why = "the recent incarnation is none of the array's";
    if (!why && quiet && (a->busy || (a->waiters & HA_WAITING)))
        why = "busy, or waited for, with no call running";
    return why;
}

/* A lock that was never released is to be told, not waited for. */
static inline int take_array_lock(ha_array *a) {
    for (long tries = 0; tries < 10000000; tries++) {
        if (!__atomic_exchange_n(&a->lock, 1, __ATOMIC_ACQUIRE)) return 1;
        sched_yield();
    }
    return 0;
}

static inline void check_array(ha_array *a, int quiet) {
    if (!take_array_lock(a)) {
        __atomic_store_n(&a->lock, 0, __ATOMIC_RELEASE); /* so that it can be described */
        invariant_broken(a, "the lock is never released");
        return;
    }
    const char *why = broken_array(a, quiet);
    ha_unlock(a);
    if (why) invariant_broken(a, why);
}

static inline void check_invariants(ha_array *a) { check_array(a, 0); }

static inline void check_quiet(ha_array *a) {
    if (__atomic_load_n(&a->lock, __ATOMIC_ACQUIRE)) invariant_broken(NULL, "a lock was left");
    check_array(a, 1);
}

/* ---- the account of a memory, and its cache -------------------------------------------------- */

/* Whether no list has a block. Most are empty whenever they are looked at, which is often. */
static inline int no_blocks(ha_block *const *list, size_t count) {
    static ha_block *const none[HA_SIZE_CLASSES + HA_LOOSE_BUCKETS];
    return memcmp(list, none, count * sizeof *list) == 0;
}

/* Lock held. The lists say the same as the account. */
static inline const char *broken_cache(const ha_pool *p) {
    uint64_t by_age = 0, by_class = 0;
    const ha_block *older = NULL;
    for (const ha_block *b = p->oldest; b; older = b, b = b->younger) {
        by_age += b->bytes;
        if (b->older != older) return "the ages of cached blocks";
        if (b->use != HA_CACHED) return "a block is cached and in use";
        if (b->ops.n || b->ops.heap) return "a cached block with operations";
    }
    if (p->youngest != older) return "the youngest cached block";
    const uint32_t classes = no_blocks(p->cached, HA_SIZE_CLASSES) ? 0 : HA_SIZE_CLASSES;
    for (uint32_t i = 0; i < classes; i++)
        for (const ha_block *b = p->cached[i]; b; b = b->next) {
            by_class += b->bytes;
            if (ha_size_class(b->bytes) != i) return "a cached block in another one's class";
            if (b->next && b->next->previous != b) return "the list of a class";
        }
    if (by_age != by_class || by_age != p->bytes[HA_CACHED]) return "the cached bytes";
    return NULL;
}

/* Is the cache the one that this thread has looked through last? Steps of a test look at it again and again, most
 * of which take no block and give none back; what is wrong in it is found after the next that does. */
static inline int is_known_cache(const ha_pool *p) {
    enum { KNOWN = 8 };
    typedef struct looked_at {
        const ha_pool *pool;
        const ha_block *oldest, *youngest;
        uint64_t bytes, allocations, releases;
    } looked_at;
    static _Thread_local looked_at known[KNOWN];
    const looked_at now = {p,          p->oldest, p->youngest, p->bytes[HA_CACHED], p->allocations,
                           p->releases};
    looked_at *place = &known[((uintptr_t)p / 64) % KNOWN];
    const int same = place->pool == now.pool && place->oldest == now.oldest &&
                     place->youngest == now.youngest && place->bytes == now.bytes &&
                     place->allocations == now.allocations && place->releases == now.releases;
    *place = now;
    return same;
}

/* quiet: no call is running. */
static inline const char *broken_pool(const ha_pool *p, int quiet) {
    const uint64_t handed_out = ha_pool_handed_out(p);
    if (p->bytes[HA_CACHED] > p->most) return "more cached than allowed";
    if (handed_out > p->high_water) return "the high water is too low";
    if (quiet && (p->returning || p->expected)) return "returning or asking, with no call running";
    if (quiet && (p->allocations == p->releases) != (handed_out == 0))
        return "allocations and releases are miscounted";
    return !quiet && is_known_cache(p) ? NULL : broken_cache(p);
}

static inline uint64_t bytes_retired(ha_memory *m) {
    uint64_t bytes = 0;
    int linked = 1;
    pthread_mutex_lock(&m->lock);
    for (const ha_block *b = m->retired; b; b = b->next) {
        linked &= b->next ? b->next->previous == b : m->youngest == b;
        bytes += b->bytes;
    }
    if (!linked || bytes != ha_pool_bytes(m, HA_RETIRED)) bytes = UINT64_MAX;
    pthread_mutex_unlock(&m->lock);
    return bytes;
}

static inline void check_pool(ha_memory *m, int quiet) {
    ha_spin_lock(&m->pool.lock);
    const char *why = broken_pool(&m->pool, quiet);
    ha_spin_unlock(&m->pool.lock);
    if (why) invariant_broken(NULL, why);
}

/* The accounts; at any time, like check_invariants(). */
static inline void check_pools(void) {
    check_pool(&ha_host_memory, 0);
    for (ha_memory *m = ha_registry.memories; m; m = m->next) check_pool(m, 0);
}

/* What the backend says itself; -1: this one does not count. */
static inline int64_t bytes_of_backend(const ha_memory *m) {
    if (m->allocator.allocate) return -1;
#ifdef HARRAY_TESTS_SUPPORT_PRIVATE_BACKEND_H
    const private_device *device = (const private_device *)m->handle;
    if (m->backend->open == private_open) return (int64_t)(device->device.used - device->by_hand);
#endif
    return -1;
}

static inline uint64_t bytes_loose(const ha_memory *m) {
    uint64_t bytes = 0;
    pthread_mutex_lock(&ha_loose.lock);
    const int buckets = no_blocks(ha_loose.bucket, HA_LOOSE_BUCKETS) ? 0 : HA_LOOSE_BUCKETS;
    for (int i = 0; i < buckets; i++)
        for (const ha_block *b = ha_loose.bucket[i]; b; b = b->next)
            if (b->memory == m) bytes += b->bytes;
    pthread_mutex_unlock(&ha_loose.lock);
    return bytes;
}

static inline void check_memory(ha_memory *m, ha_array *const *arrays, size_t count) {
    uint64_t live = bytes_loose(m);
    check_pool(m, 1);
    if (bytes_retired(m) == UINT64_MAX) invariant_broken(NULL, "the retired bytes are miscounted");
    for (size_t i = 0; i < count; i++) {
        const ha_incarnation *in = arrays[i] ? &arrays[i]->first : NULL;
        for (; in; in = in->next)
            if (in->block && in->block->memory == m && !in->wrapped) {
                live += in->block->bytes;
                if (ha_block_behind(m, (uintptr_t)in->block->data) != in->block)
                    invariant_broken(NULL, "a block is not known by its address");
            }
    }
    uint64_t arrays_alive = 0;
    for (const ha_alive *a = m->pool.alive; a; a = a->next) arrays_alive++;
    if (arrays_alive != m->pool.arrays) invariant_broken(NULL, "the living arrays are miscounted");
    if (bytes_of_backend(m) >= 0 && bytes_of_backend(m) != (int64_t)ha_pool_handed_out(&m->pool))
        invariant_broken(NULL, "the backend has handed out something else");
    if (live == ha_pool_bytes(m, HA_LIVE)) return;
    fprintf(stderr, "a memory of '%s': %llu bytes live, %llu in use\n", m->backend->kind,
            (unsigned long long)ha_pool_bytes(m, HA_LIVE), (unsigned long long)live);
    invariant_broken(NULL, "the ledger");
}

/* The caller's memory in these arrays is exactly what is listed as owned; in order, disjoint. */
static inline void check_owners(ha_array *const *arrays, size_t count) {
    size_t wrapped = 0, owned = 0;
    for (size_t i = 0; i < count; i++)
        for (ha_incarnation *in = arrays[i] ? &arrays[i]->first : NULL; in; in = in->next) {
            const ha_owned *o = in->wrapped ? ha_owners_find((uintptr_t)in->data) : NULL;
            wrapped += in->wrapped != 0;
            if (in->wrapped &&
                (!o || o->owner != arrays[i] || o->place.first != (uintptr_t)in->data ||
                 o->place.last - o->place.first != in->block->bytes))
                invariant_broken(arrays[i], "the caller's memory is not listed as its");
        }
    uintptr_t behind = 0; /* the one before */
    for (const ha_owned *o = ha_owners_find(0); o; o = ha_owners_find(behind), owned++) {
        if (o->place.first < behind) invariant_broken(NULL, "owned twice");
        behind = o->place.last;
    }
    if (wrapped != owned) invariant_broken(NULL, "memory is listed that no array wraps");
    if (ha_owners.sources) invariant_broken(NULL, "memory is listed that no copy reads");
}

static inline void check_ledger(ha_array *const *arrays, size_t count) {
    if (__atomic_load_n(&ha_taking.calls, __ATOMIC_RELAXED))
        invariant_broken(NULL, "a call that has ended counts as taking memory");
    HA_DEBUG_(if (ha_fault_signals.told)
                  invariant_broken(NULL, "HARRAY_DEBUG has told of a mistake");)
    uint64_t living = 0;
    for (size_t i = 0; i < count; i++) living += arrays[i] != NULL;
    if (living != ha_living_arrays()) invariant_broken(NULL, "the number of living arrays");
    check_owners(arrays, count);
    check_memory(&ha_host_memory, arrays, count);
    for (ha_memory *m = ha_registry.memories; m; m = m->next) check_memory(m, arrays, count);
}

#ifdef HARRAY_TESTS_SUPPORT_FAULTY_BACKEND_H
static inline void check_handed_out(faulty_ledger *ledger) {
    uint64_t bytes = 0;
    if (ledger->outer == ha_host_memory.backend) bytes = ha_pool_handed_out(&ha_host_memory.pool);
    for (const ha_memory *m = ha_registry.memories; m; m = m->next)
        if (m->backend == ledger->outer) bytes += ha_pool_handed_out(&m->pool);
    if (bytes == faulty_held(ledger).bytes) return;
    fprintf(stderr, "'%s' has handed out %zu bytes, the ledger says %llu\n", ledger->outer->kind,
            faulty_held(ledger).bytes, (unsigned long long)bytes);
    invariant_broken(NULL, "the ledger is not the backend's");
}
#endif

#endif
