/* Waiting for other threads and for devices, so that Ctrl-C ends it. The main thread has another one wait, and looks
 * every tenth of a second whether it was interrupted. */
#include "binding.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static ha_status open_access(held *h, ha_access *access, unsigned how) {
    access->array = NULL;
    return ha_open_any_(access, sizeof *access, &h->x, sizeof h->x, h->context, how, h->site);
}

static ha_status keep(held *h, ha_access *access) {
    h->data = access->data;
    const ha_status status = ha_detach_(&h->token, access, h->site);
    if (status) HA_IGNORE(ha_close(access));
    return status;
}

static ha_status open_held(held *h, unsigned how) {
    ha_access access;
    const ha_status status = open_access(h, &access, how);
    return status ? status : keep(h, &access);
}

ha_status open_at_once(held *h, unsigned how) {
    ha_status status = HA_OK;
    UNLOCKED(status = open_held(h, how));
    return status;
}

/* ---- a thread that waits ---------------------------------------------------------------------- */

/* Of two threads: the one that waits opens the access, or waits for the context if there is no array; the main one takes
 * what came of it, or leaves it. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    darray x; /* one owner for the thread, as the held may go */
    unsigned how;
    ha_context *context;
    const char *site;
    ha_access access;
    ha_status status;
    ha_error error;
    int is_done, is_taken, is_left; /* left: nobody wants it any more */
} wait;

/* How many threads wait: devices cannot be given back then. */
static atomic_int waiting;
int is_waited_for(void) { return atomic_load(&waiting) > 0; }

static void free_wait(wait *w) {
    if (w->x.array) HA_IGNORE(darray_free(&w->x));
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static void *wait_here(void *argument) {
    wait *w = argument;
    w->access.array = NULL;
    w->status = w->x.array ? ha_open_any_(&w->access, sizeof w->access, &w->x, sizeof w->x,
                                          w->context, w->how, w->site)
                           : ha_context_finish(w->context);
    w->error = ha_take_error();
    pthread_mutex_lock(&w->lock);
    w->is_done = 1;
    pthread_cond_broadcast(&w->changed);
    while (!w->is_taken && !w->is_left) pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
    if (w->is_left && w->access.array) HA_IGNORE(ha_close(&w->access));
    (void)ha_take_error();
    free_wait(w);
    atomic_fetch_sub(&waiting, 1);
    return NULL;
}

static wait *new_wait(ha_context *context) {
    wait *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->context = context;
    return w;
}

/* Starts the thread. NULL, and the wait has gone: there is none. */
static wait *begin_wait(wait *w) {
    pthread_t thread;
    atomic_fetch_add(&waiting, 1);
    if (!pthread_create(&thread, NULL, wait_here, w)) return pthread_detach(thread), w;
    atomic_fetch_sub(&waiting, 1);
    free_wait(w);
    return NULL;
}

static wait *begin_opening(const held *h) {
    wait *w = new_wait(h->context);
    if (!w) return NULL;
    w->how = h->how;
    w->x = darray_share(h->x);
    w->site = h->site;
    if (w->x.array) return begin_wait(w);
    free_wait(w);
    return NULL;
}

/* Until it is done, or a tenth of a second has passed. */
static int is_done_soon(wait *w) {
    struct timespec until;
    MAY_WAIT();
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_mutex_lock(&w->lock);
    int error = 0;
    while (!w->is_done && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&w->changed, &w->lock, &until);
    const int is_done = w->is_done;
    pthread_mutex_unlock(&w->lock);
    return is_done;
}

/* The thread frees *w afterwards. */
static void end_wait(wait *w, int *flag) {
    pthread_mutex_lock(&w->lock);
    *flag = 1;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

/* What the other thread has opened becomes this one's. */
static ha_status take(held *h, wait *w, ha_error *error) {
    ha_access access = {0};
    *error = w->error;
    ha_status status = w->status;
    if (!status) status = ha_move(&access, &w->access);
    end_wait(w, &w->is_taken);
    return status ? status : keep(h, &access);
}

/* Until it is done: 0. -1: it was interrupted, and the wait is left. */
static int look_out(wait *w) {
    for (;;) {
        int is_done;
        UNLOCKED(is_done = is_done_soon(w));
        if (is_done) return 0;
        if (PyErr_CheckSignals()) return end_wait(w, &w->is_left), -1;
    }
}

static ha_status wait_interruptibly(held *h, int *interrupted) {
    wait *w = begin_opening(h);
    ha_error error;
    ha_status status = HA_ERR_MEMORY;
    if (!w) return status;
    if (look_out(w)) return *interrupted = 1, HA_OK;
    UNLOCKED(status = take(h, w, &error));
    if (status && error.status) raise_error(status, &error, ""), *interrupted = 1;
    return status;
}

ha_status open_patiently(held *h, int *interrupted) {
    const ha_status status = open_at_once(h, h->how | HA_TRY);
    if (status && PyErr_Occurred()) return *interrupted = 1, status; // by a signal, in a short wait
    if (status != HA_ERR_BUSY && status != HA_ERR_MEMORY) return status;
    (void)ha_take_error(); // memory that others use is waited for as well
    if (is_main_thread()) return wait_interruptibly(h, interrupted);
    return open_at_once(h, h->how);
}

int wait_for_others(darray x, ha_context *context, unsigned how) {
    held *h = held_open(x, context, how, 1);
    if (h) return held_drop(h), 0;
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return -1;
    PyErr_Clear();
    return PyErr_CheckSignals();
}

int wait_at_home(darray x, unsigned how) {
    ha_context *home = ha_array_valid_context(x.array);
    return ha_array_valid(x.array, home, 0, HA_END) ? wait_for_others(x, home, how) : 0;
}

/* ---- a device --------------------------------------------------------------------------------- */

/* What happens sooner than another thread begins to wait for it needs none. */
static const double soon = 50e-6;

/* Within so many seconds; 0: whenever that may be. */
static ha_status finish(ha_context *context, double seconds) {
    ha_status status = HA_OK;
    UNLOCKED(status = seconds > 0 ? ha_context_finish_within(context, seconds)
                                  : ha_context_finish(context));
    return status;
}

int finish_patiently(ha_context *context) {
    ha_status status = finish(context, soon);
    if (status != HA_ERR_BUSY) return status ? (raise_status(status), -1) : 0;
    wait *w = is_main_thread() ? new_wait(context) : NULL;
    if (w) w = begin_wait(w);
    if (!w) { // nobody could interrupt it
        status = finish(context, 0);
        return status ? (raise_status(status), -1) : 0;
    }
    if (look_out(w)) return -1;
    const ha_error error = w->error;
    status = w->status;
    end_wait(w, &w->is_taken);
    return status ? (raise_error(status, &error, ""), -1) : 0;
}
