/* Threads: a number for each; whether one may call at all (not in a forked child, not from a function
 * running on a queue); and for whom its calls are made. */
#ifndef HARRAY_IMPL_BASE_THREAD_H
#define HARRAY_IMPL_BASE_THREAD_H

#include "cancel.h"
#include "error.h"
#include "may_wait.h"
#include "../../instruments.h"
#include <pthread.h>
#include <sched.h>

#if defined __x86_64__ || defined __i386__
#define HA_PAUSE_() __builtin_ia32_pause()
#elif defined __aarch64__
#define HA_PAUSE_() __asm__ volatile("yield")
#else
#define HA_PAUSE_() ((void)0)
#endif

/* A spin lock is held for some instructions only: never across a call that may wait, allocate or
 * call back. 0: free. */
static inline int ha_spin_try(uint32_t *lock) {
    uint32_t unlocked = 0;
    return __atomic_compare_exchange_n(lock, &unlocked, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* On its own, as are others that are seldom needed: so that whoever takes a lock, mostly at once, needs
 * no room for it. */
HA_NOINLINE_ HA_IN_ void ha_spin_wait(uint32_t *lock) {
    int spins = 0;
    do {
        if (++spins % 64)
            HA_PAUSE_();
        else
            sched_yield();
    } while (!ha_spin_try(lock));
}

static inline void ha_spin_lock(uint32_t *lock) HA_ACQUIRE_(lock) HA_UNCHECKED_ {
    if (!ha_spin_try(lock)) ha_spin_wait(lock);
}

static inline void ha_spin_unlock(uint32_t *lock) HA_RELEASE_(lock) HA_UNCHECKED_ {
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

HA_STATE_ uint64_t ha_threads;
HA_STATE_ int ha_forked; /* 1 in a child of fork(): the parent's locks and queue threads are gone */
HA_STATE_ pthread_once_t ha_atfork_once = PTHREAD_ONCE_INIT;

HA_IN_ void ha_child_after_fork(void) {
    ha_forked = 1;
    ha_self.id = 0;
}

HA_IN_ void ha_register_atfork(void) { pthread_atfork(NULL, NULL, ha_child_after_fork); }

/* Every call that locks or waits passes here, or found ha_self.id set by an earlier one. This is for those that wait for
 * nobody: which at most lock for some instructions. */
HA_IN_ ha_status ha_enter_briefly(const char *operation) {
    if (ha_self.id) return HA_OK;
    if (ha_forked)
        return ha_fail(HA_ERR_STATE, operation,
                       "this process was forked from one that uses harray: only the parent may "
                       "call; exec a new program, or fork before the first call");
    if (ha_self.on_queue)
        return ha_fail(HA_ERR_STATE, operation,
                       "called from a function that runs on a queue: open the accesses before "
                       "enqueueing, and pass the data pointers in its argument");
    pthread_once(&ha_atfork_once, ha_register_atfork);
    ha_self.id = __atomic_add_fetch(&ha_threads, 1, __ATOMIC_RELAXED);
    return HA_OK;
}

HA_IN_ ha_status ha_enter(const char *operation) {
    HA_MAY_WAIT_();
    return ha_enter_briefly(operation);
}

ha_from_scope_ ha_from_begin_(const char *site) {
    const ha_from_scope_ scope = {ha_self.from, 1};
    ha_self.from = ha_from(site);
    return scope;
}

void ha_from_end_(ha_from_scope_ *scope) { ha_self.from = scope->outer; }

/* ---- what a thread holds ------------------------------------------------------------------- */

/* What others have taken over or ended of a thread's accesses and tokens, and it does not know yet:
 * so that counting its own costs next to nothing. Threads share places. Where a later one takes it
 * from an earlier one, that counts too many: it only queues less. */
enum { HA_FEWER_PLACES = 1024 };
HA_STATE_ struct {
    uint32_t lock;
    struct {
        uint64_t thread, n;
    } place[HA_FEWER_PLACES];
} ha_fewer;

/* A thread holds one less than it did. */
HA_IN_ void ha_held_less(uint64_t thread) {
    const size_t i = thread % HA_FEWER_PLACES;
    if (thread == ha_self.id) {
        ha_self.held -= ha_self.held > 0;
        return;
    }
    ha_spin_lock(&ha_fewer.lock);
    if (ha_fewer.place[i].thread != thread) ha_fewer.place[i].n = 0;
    ha_fewer.place[i].thread = thread;
    ha_fewer.place[i].n++;
    ha_spin_unlock(&ha_fewer.lock);
}

/* How many accesses and tokens this thread holds. */
HA_IN_ uint64_t ha_held(void) {
    const size_t i = ha_self.id % HA_FEWER_PLACES;
    if (!ha_self.held) return 0;
    ha_spin_lock(&ha_fewer.lock);
    if (ha_fewer.place[i].thread == ha_self.id) {
        const uint64_t n = ha_fewer.place[i].n;
        ha_self.held -= n < ha_self.held ? n : ha_self.held;
        ha_fewer.place[i].n = 0;
    }
    ha_spin_unlock(&ha_fewer.lock);
    return ha_self.held;
}

/* ---- scopes -------------------------------------------------------------------------------- */

int ha_no_transfers_begin_(void) {
    ha_self.no_transfers++;
    return 1;
}

void ha_no_transfers_end_(int *scope) {
    (void)scope;
    ha_self.no_transfers--;
}

/* The thread has no number while the function runs: every call inside meets ha_enter's refusal. */
void ha_queue_run(ha_function f, const ha_queue *here, void *argument) {
    ha_thread saved = ha_self;
    ha_self.id = 0;
    ha_self.on_queue = 1;
    f(here, argument);
    ha_self.id = saved.id;
    ha_self.on_queue = saved.on_queue;
}

#endif
