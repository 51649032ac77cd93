/* Who does which part of a plan. Threads need no library where the C library has them (glibc from
 * 2.34 on, musl); where a program lacks them, the one that asks does everything. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_THREADS_H
#define HARRAY_LAYOUT_IMPL_COPY_THREADS_H

#include <pthread.h>

#include "list.h"
#include "runs.h"
#include "tile.h"

/* Weak for these names alone, so that a program that uses no threads needs no -lpthread. */
#if defined __APPLE__
#define ha_start_thread_ pthread_create
#define ha_join_thread_ pthread_join
HA_IN_ int ha_has_threads(void) { return 1; }
#else
static __typeof__(pthread_create) ha_start_thread_ __attribute__((__weakref__("pthread_create")));
static __typeof__(pthread_join) ha_join_thread_ __attribute__((__weakref__("pthread_join")));
HA_IN_ int ha_has_threads(void) { return ha_start_thread_ && ha_join_thread_; }
#endif

/* Where share number k of n begins. */
HA_IN_ int64_t ha_copy_share(int64_t units, int64_t k, int64_t n) {
    return units / n * k + ha_smaller(k, units % n);
}

/* Share number k of n of everything but of what must not be shared. */
HA_IN_ void ha_copy_do(ha_copy_worker *w, int64_t k, int64_t n) {
    const ha_layout_plan *p = w->plan;
    for (int64_t i = 0; i < p->passes; i++) {
        const ha_copy_pass *pass = &p->pass[i];
        const int64_t first = ha_copy_share(pass->units, k, n);
        const int64_t last = ha_copy_share(pass->units, k + 1, n);
        const int64_t begin = first * HA_COPY_LIST; /* of lists */
        const int64_t end = ha_smaller(last * HA_COPY_LIST, p->records);
        if (pass->method == HA_COPY_RUNS)
            ha_copy_runs(w, pass, 0, begin, end);
        else if (pass->method == HA_COPY_LISTED)
            ha_copy_listed(w, pass, begin, end);
        else
            for (int64_t u = first; u < last; u++) ha_copy_one_tile(w, pass, u);
    }
    if (p->stream) ha_end_of_stream();
}

HA_IN_ void *ha_copy_thread(void *worker) {
    ha_copy_worker *w = (ha_copy_worker *)worker;
    ha_copy_do(w, w->number, w->workers);
    return NULL;
}

/* This thread takes the first share, those of threads that cannot be started, and, when all others are
 * done, what must not be shared: bits are written by words, which may have other leaves' bytes in them. */
HA_IN_ void ha_copy_do_all(ha_copy_worker *worker, int workers) {
    for (int k = 1; k < workers; k++)
        worker[k].is_started = ha_has_threads() && !ha_start_thread_(&worker[k].thread, NULL,
                                                                     ha_copy_thread, &worker[k]);
    for (int k = 0; k < workers; k++)
        if (!worker[k].is_started) ha_copy_do(worker, k, workers);
    for (int k = 1; k < workers; k++)
        if (worker[k].is_started) ha_join_thread_(worker[k].thread, NULL);
    for (int64_t i = 0; i < worker->plan->passes; i++)
        if (worker->plan->pass[i].method == HA_COPY_RUNS)
            ha_copy_runs(worker, &worker->plan->pass[i], 1, 0, worker->plan->records);
}

#endif
