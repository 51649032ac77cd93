/* Timing for the benchmarks: figures, each a function against a reference in one process.
 *
 *     static double time_mutex(void *data, size_t count) {
 *         const double start = bench_now();
 *         for (size_t i = 0; i < count; i++) {
 *             pthread_mutex_lock(data);
 *             pthread_mutex_unlock(data);
 *             bench_barrier();
 *         }
 *         return bench_now() - start;
 *     }
 *     ...
 *     bench_begin(argc, argv, "variant");
 *     bench_run(&(bench_figure){"read", time_read, &x, "mutex", time_mutex, &mutex, .bound = 7});
 *
 * A figure times both in turns, at least 15 times, and prints one JSON line: the medians and the least of
 * both times, and the median, least and greatest of the ratios within a pair. What is timed runs often
 * enough for 5 ms. Options of every benchmark: --smoke (one short pass, says nothing about speed),
 * --pairs N, --only TEXT (figures whose name contains it). The including file defines
 * _GNU_SOURCE. */
#ifndef BENCH_H
#define BENCH_H

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Does what is measured `count` times and returns the nanoseconds that took. */
typedef double bench_function(void *data, size_t count);

typedef struct bench_figure {
    const char *name;
    bench_function *function;
    void *data;
    const char *reference_name;
    bench_function *reference;
    void *reference_data;
    double bound;    /* the ratio should not be greater; 0: no bound */
    double bound_ns; /* nor the time; 0: no bound */
    size_t bytes;    /* moved by one repetition, to print a rate; 0: none */
} bench_figure;

enum { BENCH_PAIRS_DEFAULT = 15, BENCH_PAIRS_MOST = 1000 };

static struct {
    const char *variant, *only;
    size_t pairs;
    double least_ns; /* of one timing */
} bench_settings = {"", "", BENCH_PAIRS_DEFAULT, 5e6};

static inline double bench_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline double bench_now(void) { return bench_clock(CLOCK_MONOTONIC); }

/* How long this thread has had a processor: of what waits for nobody, the same, but also where others
 * want the processor. */
static inline double bench_own_now(void) { return bench_clock(CLOCK_THREAD_CPUTIME_ID); }

/* The compiler must assume that everything in memory was read and changed here. */
static inline void bench_barrier(void) { __asm__ volatile("" ::: "memory"); }

/* … and that this value was looked at. */
static inline void bench_use(const void *pointer) {
    __asm__ volatile("" ::"r"(pointer) : "memory");
}

/* A benchmark that went wrong must not print a figure. */
static inline void bench_require(int holds, const char *what) {
    if (__builtin_expect(holds != 0, 1)) return;
    fprintf(stderr, "benchmark failed: %s\n", what);
    exit(1);
}

/* time_name(data, count): the call so many times, in which w is the data, of the type `work`. */
#define BENCH_TIME(name, call)                                                                     \
    static double time_##name(void *data, size_t count) {                                          \
        work *w = (work *)data;                                                                    \
        const double start = bench_now();                                                          \
        for (size_t k = 0; k < count; k++) {                                                       \
            call;                                                                                  \
            bench_barrier();                                                                       \
        }                                                                                          \
        return bench_now() - start;                                                                \
    }

static void *bench_sleep(void *gate) {
    pthread_mutex_lock(gate);
    return NULL;
}

/* A thread that does nothing as long as the program runs. A program with a device has threads, and
 * one without saves atomic operations inside libc: in malloc, in a mutex. */
static void bench_have_threads(void) {
    static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    pthread_mutex_lock(&gate);
    bench_require(pthread_create(&thread, NULL, bench_sleep, &gate) == 0, "thread");
    pthread_detach(thread);
}

static void bench_begin(int argc, char **argv, const char *variant) {
    bench_settings.variant = variant;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--smoke") == 0) {
            bench_settings.pairs = 1;
            bench_settings.least_ns = 0;
        } else if (strcmp(argv[i], "--pairs") == 0 && atoi(value) > 0) {
            bench_settings.pairs = (size_t)atoi(value);
            i++;
        } else if (strcmp(argv[i], "--only") == 0 && *value != 0) {
            bench_settings.only = value;
            i++;
        } else {
            fprintf(stderr, "usage: %s [--smoke] [--pairs N] [--only TEXT]\n", argv[0]);
            exit(2);
        }
    }
    if (bench_settings.pairs > BENCH_PAIRS_MOST) bench_settings.pairs = BENCH_PAIRS_MOST;
    bench_have_threads();
}

static int bench_is_long(bench_function *function, void *data, size_t count) {
    return function(data, count) >= bench_settings.least_ns;
}

/* How many repetitions last long enough to be timed. Twice, as the first time something else may
 * have taken the processor away. */
static size_t bench_calibrate(bench_function *function, void *data) {
    size_t count = 1;
    while (count < SIZE_MAX / 2 &&
           !(bench_is_long(function, data, count) && bench_is_long(function, data, count)))
        count *= 2;
    return count;
}

static int bench_compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts. */
static double bench_median(double *values, size_t n) {
    qsort(values, n, sizeof *values, bench_compare);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void bench_print(const bench_figure *f, double *ns, double *reference_ns, double *ratio) {
    const size_t n = bench_settings.pairs;
    const double ours = bench_median(ns, n), theirs = bench_median(reference_ns, n);
    const double middle = bench_median(ratio, n);
    printf("{\"figure\": \"%s\", \"variant\": \"%s\", \"ns\": %.4g, \"ns_min\": %.4g, "
           "\"reference\": \"%s\", \"reference_ns\": %.4g, \"reference_ns_min\": %.4g, "
           "\"ratio\": %.4g, \"ratio_min\": %.4g, \"ratio_max\": %.4g, \"pairs\": %zu",
           f->name, bench_settings.variant, ours, ns[0], f->reference_name, theirs, reference_ns[0],
           middle, ratio[0], ratio[n - 1], n);
    if (f->bound > 0) printf(", \"bound\": %.4g", f->bound);
    if (f->bound_ns > 0) printf(", \"bound_ns\": %.4g", f->bound_ns);
    if (f->bytes > 0)
        printf(", \"bytes\": %zu, \"gb_per_s\": %.4g", f->bytes, (double)f->bytes / ours);
    puts("}");
    fflush(stdout);
}

/* Times a figure and prints it. Which of the two goes first changes from pair to pair, so that
 * neither profits from what the other leaves behind. */
static void bench_run(const bench_figure *f) {
    static double ns[BENCH_PAIRS_MOST], reference_ns[BENCH_PAIRS_MOST], ratio[BENCH_PAIRS_MOST];
    if (strstr(f->name, bench_settings.only) == NULL) return;
    const size_t count = bench_calibrate(f->function, f->data);
    const size_t reference_count = bench_calibrate(f->reference, f->reference_data);
    for (size_t k = 0; k < bench_settings.pairs; k++) {
        if (k % 2) ns[k] = f->function(f->data, count) / (double)count;
        reference_ns[k] = f->reference(f->reference_data, reference_count) /
                          (double)reference_count;
        if (k % 2 == 0) ns[k] = f->function(f->data, count) / (double)count;
        ratio[k] = ns[k] / reference_ns[k];
    }
    bench_print(f, ns, reference_ns, ratio);
}

#endif
