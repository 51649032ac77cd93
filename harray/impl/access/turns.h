/* Waiting for memory, in turn: when what would have to give way is in use by other threads.
 *
 * Who waits holds nothing: neither an access, or it might wait for itself, nor what it had prepared, or others might
 * wait for that. So all that is in use there is by threads that go on. Those who wait stand in line, a line for
 * each memory, the oldest first, and only the first tries; who finds the memory short meanwhile, and could wait, too,
 * stands behind it. So threads whose arrays do not fit together have one turn after the other.
 *
 * To be woken the first one marks all arrays that have a block there: then they are opened and closed on the slow way,
 * where closing says that something has changed. So does whoever gives a block back there, or lists one, which has the
 * mark, too, as long as somebody waits. As it marks before it tries, no change is missed.
 *
 * Nobody gives up because another thread is slow: only where nobody else has anything there, or takes memory
 * (memory/taking.h), twice, with nothing changed since. */
#ifndef HARRAY_IMPL_ACCESS_TURNS_H
#define HARRAY_IMPL_ACCESS_TURNS_H

#include "../transfer/all.h"
#include <errno.h>

#ifndef HA_LONG_WAIT_NS_ /* after which HARRAY_VERBOSE says so */
#define HA_LONG_WAIT_NS_ 1000000000
#endif
#ifndef HA_IDLE_TRIES_ /* two that wait for different memories may wake each other for ever */
#define HA_IDLE_TRIES_ 1000
#endif

/* On the stack of who opens something. */
typedef struct ha_turn {
    struct ha_turn *next;
    ha_memory *memory; /* NULL: it is not in a line yet */
    uint64_t thread, seen, since;
    uint64_t asks; /* when it is asked whether the wait is to end; 0: not known yet */
    int waits;     /* until something has changed, as other threads use memory there */
    int told;      /* others were, that it takes long */
    int idle; /* tries with none, or half of HA_IDLE_TRIES_ for one during which nothing changed, either */
} ha_turn;

HA_STATE_ struct {
    pthread_mutex_t lock;
    pthread_cond_t change;
    ha_turn *first;   /* those of all lines, the oldest first */
    uint32_t waiting; /* how many; atomic */
    uint64_t changes; /* what the first ones look at */
} ha_turns = {.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};

/* Something may have changed for those who wait for memory. */
HA_IN_ void ha_turns_wake(void) {
    if (!__atomic_load_n(&ha_turns.waiting, __ATOMIC_ACQUIRE)) return;
    pthread_mutex_lock(&ha_turns.lock);
    ha_turns.changes++;
    ha_self.changes++;
    pthread_cond_broadcast(&ha_turns.change);
    pthread_mutex_unlock(&ha_turns.lock);
}

/* What others have changed so far: a try of one's own, with victims that then stay, is no reason for another one. */
HA_IN_ uint64_t ha_turns_changes(void) HA_REQUIRES_(ha_turns.lock) {
    return ha_turns.changes - ha_self.changes;
}

/* ---- who is in the way ----------------------------------------------------------------------- */

/* Whether another thread uses the array there, and will not do so for ever. */
HA_IN_ int ha_is_obstacle(const ha_array *a, const ha_memory *m) HA_REQUIRES_(a->lock) {
    int held = 0;
    for (uint32_t i = a->read_only; i < a->holders; i++)
        held |= a->holder[i].context->memory == m && !(a->holder[i].thread & HA_TOKEN_);
    return held || a->busy;
}

/* Marks the arrays that have a block there, or takes the marks away, also those of arrays that have moved there. While
 * they have them, what gets a block there is marked, too (ha_resident_enter): so it is done once, not for each try. */
HA_IN_ void ha_residents_mark(ha_memory *m, uint32_t mark) {
    ha_pool *p = &m->pool;
    ha_spin_lock(&p->lock);
    const int is_done = p->awaited && mark;
    __atomic_store_n(&p->awaited, mark, __ATOMIC_RELEASE);
    for (const ha_block *b = is_done ? NULL : p->resident; b; b = b->younger) {
        ha_array *a = b->resident;
        ha_lock(a);
        a->waiters &= ~(uint32_t)HA_PRESSED;
        if (mark) a->waiters |= HA_PRESSED;
        ha_unlock(a);
    }
    ha_spin_unlock(&p->lock);
}

/* Whether one of them is in the way. What was in use when a try came by is among the youngest since then: so those are
 * looked at first. */
HA_IN_ int ha_residents_obstruct(ha_memory *m) {
    ha_pool *p = &m->pool;
    int found = 0;
    ha_spin_lock(&p->lock);
    for (const ha_block *b = p->latest; b && !found; b = b->older) {
        ha_lock(b->resident);
        found = ha_is_obstacle(b->resident, m->primary ? m : &ha_host_memory);
        ha_unlock(b->resident);
    }
    ha_spin_unlock(&p->lock);
    return found;
}

/* Of a memory and all tiers behind it, which are marked: what is in use there keeps it from making room, too. */
HA_IN_ int ha_tiers_obstruct(ha_memory *m) {
    int found = 0;
    for (; m; m = ha_memory_tier(m->primary ? m : &ha_host_memory)) {
        ha_residents_mark(m, 1);
        found = found || ha_residents_obstruct(m);
    }
    return found;
}

/* A mark that was left on an array that has no block there any more. */
static inline void ha_unmark(ha_array *a) HA_REQUIRES_(a->lock) {
    if ((a->waiters & HA_PRESSED) && !__atomic_load_n(&ha_turns.waiting, __ATOMIC_ACQUIRE))
        a->waiters &= ~(uint32_t)HA_PRESSED;
}

/* ---- the line -------------------------------------------------------------------------------- */

HA_IN_ const ha_turn *ha_turn_first(const ha_memory *m) HA_REQUIRES_(ha_turns.lock) {
    const ha_turn *t = ha_turns.first;
    while (t && t->memory != m) t = t->next;
    return t;
}

/* Whether this thread would have to stand behind another one. */
HA_IN_ int ha_turn_is_anothers(const ha_memory *m) {
    if (!__atomic_load_n(&ha_turns.waiting, __ATOMIC_ACQUIRE)) return 0;
    pthread_mutex_lock(&ha_turns.lock);
    const ha_turn *t = ha_turn_first(m);
    const int anothers = t && t->thread != ha_self.id;
    pthread_mutex_unlock(&ha_turns.lock);
    return anothers;
}

HA_IN_ void ha_turn_leave(const ha_turn *t) HA_REQUIRES_(ha_turns.lock) {
    ha_turn **at = &ha_turns.first;
    while (*at != t) at = &(*at)->next;
    *at = t->next;
}

HA_IN_ void ha_turn_join(ha_turn *t, ha_memory *m) HA_REQUIRES_(ha_turns.lock) {
    ha_turn **at = &ha_turns.first;
    if (!t->memory) {
        __atomic_fetch_add(&m->turns, 1, __ATOMIC_RELAXED);
        t->since = ha_now();
        t->thread = ha_self.id;
        __atomic_fetch_add(&ha_turns.waiting, 1, __ATOMIC_ACQ_REL);
    } else
        ha_turn_leave(t);
    t->memory = m;
    t->next = NULL;
    t->idle = 0;
    while (*at) at = &(*at)->next;
    *at = t;
}

HA_IN_ void ha_turn_say(const ha_turn *t, const char *site) {
    ha_memory_holder holder = {.site = "?"};
    const size_t n = ha_keepers_of(t->memory, &holder, 1);
    fprintf(stderr, "harray: %s: still waiting for memory at %s: %zu arrays are in use there", site,
            ha_memory_context(t->memory)->name, n);
    if (n) fprintf(stderr, ", '%s' since it was opened at %s", holder.array, holder.site);
    fprintf(stderr, "\n");
}

/* What is due, with nothing locked. Nonzero: the wait is to end (ha_ask_while_waiting_). */
HA_IN_ int ha_turn_do_what_is_due(ha_turn *t, const char *site) {
    const uint64_t now = ha_now();
    if (!t->told && now >= t->since + HA_LONG_WAIT_NS_ && ha_verbose()) {
        t->told = 1;
        ha_turn_say(t, site);
    }
    if (!ha_self.asked) return 0;
    if (!t->asks) t->asks = now + HA_ASKS_EVERY_NS_;
    if (now < t->asks) return 0;
    t->asks = now + HA_ASKS_EVERY_NS_;
    return ha_is_asked_to_end();
}

/* Until it is the first one, and something has changed since it tried. Nonzero: the wait is to end. */
HA_IN_ int ha_turn_sleep(ha_turn *t, const char *site) HA_REQUIRES_(ha_turns.lock) {
    const int is_timed = ha_self.asked || ha_verbose();
    const uint64_t every = HA_LONG_WAIT_NS_ < HA_ASKS_EVERY_NS_ ? HA_LONG_WAIT_NS_
                                                                : HA_ASKS_EVERY_NS_;
    for (;;) {
        if (is_timed) {
            pthread_mutex_unlock(&ha_turns.lock);
            const int ends = ha_turn_do_what_is_due(t, site);
            pthread_mutex_lock(&ha_turns.lock);
            if (ends) return 1;
        }
        if (ha_turn_first(t->memory) == t && !(t->waits && t->seen == ha_turns_changes())) return 0;
        if (is_timed) {
            const struct timespec at = ha_time_in(every);
            (void)pthread_cond_timedwait(&ha_turns.change, &ha_turns.lock, &at);
        } else
            pthread_cond_wait(&ha_turns.change, &ha_turns.lock);
    }
}

/* Looks who is in the way after a try that began when there had been t->seen changes. is_new: it began before the marks
 * were made, by which changes are told. 0: it makes no sense to try again. */
HA_IN_ int ha_turn_look(ha_turn *t, int is_new) {
    pthread_mutex_lock(&ha_turns.lock);
    const uint64_t seen = ha_turns_changes();
    pthread_mutex_unlock(&ha_turns.lock);
    ha_taking_watch();
    const int changed = is_new || seen != t->seen;
    int obstacles = ha_others_take(0);
    /* After that, as who has ended has listed what it took. */
    obstacles |= ha_tiers_obstruct(t->memory);
    if (obstacles)
        t->idle = 0;
    else if (!is_new)
        t->idle += changed ? 1 : HA_IDLE_TRIES_ / 2;
    t->seen = seen;
    pthread_mutex_lock(&ha_turns.lock);
    t->waits = obstacles && !changed;
    pthread_mutex_unlock(&ha_turns.lock);
    return t->idle < HA_IDLE_TRIES_;
}

/* After a try for which there was no memory there; nothing is held. Waits until it makes sense to try again. 0: it does
 * not, as nobody else uses anything there, or the wait is to end. */
HA_IN_ int ha_turn_wait(ha_turn *t, ha_memory *m, const char *site) {
    HA_UNCANCELLED_;
    HA_MAY_WAIT_();
    /* The calls that this one is inside of do not go on meanwhile. */
    const int taking = (int)ha_self.taking;
    if (taking) ha_taking_add(-taking);
    pthread_mutex_lock(&ha_turns.lock);
    const int is_new = t->memory != m;
    if (is_new) ha_turn_join(t, m);
    pthread_mutex_unlock(&ha_turns.lock);
    int goes_on = ha_turn_look(t, is_new);
    if (goes_on) {
        if (!t->waits) sched_yield();
        pthread_mutex_lock(&ha_turns.lock);
        goes_on = !ha_turn_sleep(t, site);
        pthread_mutex_unlock(&ha_turns.lock);
    }
    if (taking) ha_taking_add(taking);
    return goes_on;
}

/* After a try. Whether its thread should wait for memory, as what is there is in use by others; *m: which. */
HA_IN_ int ha_attempt_awaits(const ha_attempt *attempt, ha_status s, ha_memory **m) {
    if (s != HA_ERR_MEMORY || !attempt->may_wait || !attempt->fulls || attempt->never) return 0;
    *m = attempt->full[attempt->fulls - 1];
    return 1;
}

/* After a try that was taken back. HA_OK: it is to be begun again, after waiting for memory if need be. */
HA_IN_ ha_status ha_turn_decide(ha_turn *t, ha_status s, ha_memory *m, const char *site) {
    const ha_note note = ha_backend_note;
    if (s == HA_RETRY_ALONE_) return HA_OK;
    if (s != HA_RETRY_ROOM_) return s;
    ha_forget_note();
    if (ha_turn_wait(t, m, site)) return HA_OK;
    ha_backend_note = note;
    return HA_ERR_MEMORY;
}

/* It has what it waited for, or gives up. */
HA_IN_ void ha_turn_end(ha_turn *t, ha_status s, const char *site) {
    if (!t->memory) return;
    pthread_mutex_lock(&ha_turns.lock);
    ha_turn_leave(t);
    /* Before anybody joins and marks anew. */
    for (ha_memory *m = NULL; !ha_turns.first && (m = ha_next_memory(m));) ha_residents_mark(m, 0);
    __atomic_fetch_sub(&ha_turns.waiting, 1, __ATOMIC_ACQ_REL);
    ha_turns.changes++;
    pthread_cond_broadcast(&ha_turns.change);
    pthread_mutex_unlock(&ha_turns.lock);
    __atomic_fetch_add(&t->memory->turns_ns, ha_now() - t->since, __ATOMIC_RELAXED);
    ha_event_record *r = ha_record_add(HA_EVENT_PRESSURE, site, ha_memory_label(t->memory).text);
    if (r) r->info.start = t->since;
    if (r) r->info.status = s;
    t->memory = NULL;
}

/* A block for what is new, waiting in turn as an opening does. */
HA_IN_ ha_status ha_block_get_in_turn(ha_memory *m, size_t bytes, ha_block **out,
                                      const char *operation) {
    HA_UNCANCELLED_;
    ha_turn turn = {.memory = NULL};
    ha_status s;
    do {
        HA_TAKES_MEMORY_;
        ha_attempt attempt = {.site = operation, .may_wait = !ha_held()};
        ha_memory *short_of = NULL;
        s = ha_block_attempt(m, bytes, out, &attempt);
        if (!s || !ha_attempt_awaits(&attempt, s, &short_of)) break;
        s = ha_turn_decide(&turn, HA_RETRY_ROOM_, short_of, operation);
    } while (!s);
    ha_turn_end(&turn, s, operation);
    return s;
}

#endif
