/* Benchmarks in two threads at once. */
#ifndef BENCH_THREADS_H
#define BENCH_THREADS_H

#include "bench.h"

/* What two threads do: the same function, each with data of its own. */
typedef struct bench_two {
    bench_function *function;
    void *data[2];
} bench_two;

typedef struct bench_race {
    uint32_t ready, go, over; /* counts threads; opens the gate; one thread is done */
} bench_race;

typedef struct bench_runner {
    bench_race *race;
    int number;
    bench_function *function;
    void *data;
    size_t count, done;
    double start, end;
} bench_runner;

/* Puts the calling thread on the n-th of the processors it may use: two threads on one processor
 * would take turns instead of competing. */
static void bench_stay_on_processor(int n) {
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) || CPU_COUNT(&all) <= n) return;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all) || n-- > 0) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        (void)sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

/* In portions, so that a thread stops soon after the other one has finished: what it would do
 * alone is not to be measured. */
static void *bench_runner_main(void *argument) {
    enum { PORTION = 2048 };
    bench_runner *r = argument;
    bench_stay_on_processor(r->number);
    __atomic_fetch_add(&r->race->ready, 1, __ATOMIC_ACQ_REL);
    while (!__atomic_load_n(&r->race->go, __ATOMIC_ACQUIRE)) sched_yield();
    r->start = bench_now();
    while (r->done < r->count && !__atomic_load_n(&r->race->over, __ATOMIC_RELAXED)) {
        const size_t left = r->count - r->done, portion = left < PORTION ? left : PORTION;
        r->function(r->data, portion);
        r->done += portion;
    }
    r->end = bench_now();
    __atomic_store_n(&r->race->over, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* A bench_function on a bench_two: the time of one repetition as each of the threads sees it,
 * times `count`. */
static double bench_in_two_threads(void *data, size_t count) {
    const bench_two *two = data;
    bench_race race = {0, 0, 0};
    bench_runner runner[2];
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        runner[i] = (bench_runner){&race, i, two->function, two->data[i], count, 0, 0, 0};
        bench_require(!pthread_create(&thread[i], NULL, bench_runner_main, &runner[i]), "thread");
    }
    while (__atomic_load_n(&race.ready, __ATOMIC_ACQUIRE) < 2) sched_yield();
    __atomic_store_n(&race.go, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);

    const double start = runner[0].start < runner[1].start ? runner[0].start : runner[1].start;
    const double end = runner[0].end > runner[1].end ? runner[0].end : runner[1].end;
    const double done = (double)(runner[0].done + runner[1].done);
    return (end - start) * 2 / done * (double)count;
}

#endif
