/* Who is calling: a number for each thread, the accesses it holds, its current context; and whether
 * it may call at all (not in a forked child, not from a function running on a queue). */
#ifndef HARRAY_IMPL_BASE_THREAD_H
#define HARRAY_IMPL_BASE_THREAD_H

#include "error.h"
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
static inline void ha_spin_lock(uint32_t *lock) HA_ACQUIRE_(lock) HA_UNCHECKED_ {
    uint32_t unlocked = 0;
    for (int spins = 0;
         !__atomic_compare_exchange_n(lock, &unlocked, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
         unlocked = 0) {
        if (++spins % 64)
            HA_PAUSE_();
        else
            sched_yield();
    }
}

static inline void ha_spin_unlock(uint32_t *lock) HA_RELEASE_(lock) HA_UNCHECKED_ {
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/* In a shared object, one load instead of a call; but then it cannot be dlopened reliably, as all
 * of its thread-local variables have to fit into a small reserve. In a program it makes no
 * difference. */
#ifdef HARRAY_STATIC_TLS
#define HA_TLS_MODEL_ __attribute__((tls_model("initial-exec")))
#else
#define HA_TLS_MODEL_
#endif

typedef struct ha_thread {
    uint64_t id;         /* never reused; 0: unknown, so that fast paths take the slow one */
    uint64_t held;       /* open accesses and tokens on any array; too high, for good, after one was
                            moved away or ended by another thread: this one only queues less */
    ha_context *current; /* innermost HA_ON; NULL: none */
    int no_transfers;    /* HA_NO_TRANSFERS scopes around this call */
    int on_queue;        /* inside a function that runs on a queue */
} ha_thread;

static _Thread_local ha_thread ha_self HA_TLS_MODEL_;
static uint64_t ha_threads;
static int ha_forked; /* 1 in a child of fork(): locks and queue threads of the parent are gone */
static pthread_once_t ha_atfork_once = PTHREAD_ONCE_INIT;

HA_IN_ void ha_child_after_fork(void) {
    ha_forked = 1;
    ha_self.id = 0;
}

HA_IN_ void ha_register_atfork(void) { pthread_atfork(NULL, NULL, ha_child_after_fork); }

/* Every call that locks or waits passes here, or found ha_self.id set by an earlier one. */
HA_IN_ ha_status ha_enter(const char *operation) {
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
