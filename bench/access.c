/* What it costs to open and close an access to elements that are valid where they are asked for,
 * against the least that any lock costs.
 *
 * Compiled with HARRAY_IMPLEMENTATION the library is part of this program, without it the program
 * is linked against the library: the same calls, through the linker's tables. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray.h"

#include "bench.h"
#include "bench_threads.h"

#ifdef HARRAY_IMPLEMENTATION
#define VARIANT "included"
#else
#define VARIANT "linked"
#endif

enum { ELEMENTS = 1000 };
static const double HOST_BOUND = 7, VIEW_BOUND = 10, DEVICE_BOUND = 10, THREADS_BOUND = 7;

/* ---- ours --------------------------------------------------------------------------------- */

/* An array, and what of it is opened where. */
typedef struct subject {
    harray_double x;
    ha_context *context;
    size_t first, last;
} subject;

static double time_read(void *data, size_t count) {
    const subject *s = data;
    ha_read_double v;
    const double start = bench_own_now();
    for (size_t i = 0; i < count; i++) {
        bench_require(ha_open(&v, s->x.array, s->context, HA_READ, 0, HA_END) == HA_OK, "read");
        bench_use(v.data);
        bench_require(ha_close(&v) == HA_OK, "close");
    }
    return bench_own_now() - start;
}

static double time_write(void *data, size_t count) {
    const subject *s = data;
    ha_write_double v;
    const double start = bench_own_now();
    for (size_t i = 0; i < count; i++) {
        bench_require(ha_open(&v, s->x.array, s->context, HA_WRITE, 0, HA_END) == HA_OK, "write");
        bench_use(v.data);
        bench_require(ha_close(&v) == HA_OK, "close");
    }
    return bench_own_now() - start;
}

static double time_overwrite(void *data, size_t count) {
    const subject *s = data;
    ha_write_double v;
    const double start = bench_own_now();
    for (size_t i = 0; i < count; i++) {
        const ha_status status = ha_overwrite(&v, s->x.array, s->context, ELEMENTS, HA_WAIT);
        bench_require(status == HA_OK, "overwrite");
        bench_use(v.data);
        bench_require(ha_close(&v) == HA_OK, "close");
    }
    return bench_own_now() - start;
}

static double time_read_range(void *data, size_t count) {
    const subject *s = data;
    ha_read_double v;
    const double start = bench_own_now();
    for (size_t i = 0; i < count; i++) {
        const ha_status status = ha_open(&v, s->x.array, s->context, HA_READ, s->first, s->last);
        bench_require(status == HA_OK, "read a range");
        bench_use(v.data);
        bench_require(ha_close(&v) == HA_OK, "close");
    }
    return bench_own_now() - start;
}

static double time_write_range(void *data, size_t count) {
    const subject *s = data;
    ha_write_double v;
    const double start = bench_own_now();
    for (size_t i = 0; i < count; i++) {
        const ha_status status = ha_open(&v, s->x.array, s->context, HA_WRITE, s->first, s->last);
        bench_require(status == HA_OK, "write a range");
        bench_use(v.data);
        bench_require(ha_close(&v) == HA_OK, "close");
    }
    return bench_own_now() - start;
}

static double time_reading_scope(void *data, size_t count) {
    const subject *s = data;
    const double start = bench_own_now();
    for (size_t i = 0; i < count; i++) {
        HA_READING(v, s->x, s->context) bench_use(v.data);
        else bench_require(0, "read in a scope");
    }
    return bench_own_now() - start;
}

static double time_writing_scope(void *data, size_t count) {
    const subject *s = data;
    const double start = bench_own_now();
    for (size_t i = 0; i < count; i++) {
        HA_WRITING(v, s->x, s->context) bench_use(v.data);
        else bench_require(0, "write in a scope");
    }
    return bench_own_now() - start;
}

/* An inner part of two dimensions, as a view. */
static double time_reading_view(void *data, size_t count) {
    const array_double_2 *x = data;
    const double start = bench_own_now();
    for (size_t i = 0; i < count; i++) {
        HA_READING(v, *x, ha_host()) bench_use(&v);
        else bench_require(0, "read a view");
    }
    return bench_own_now() - start;
}

static double time_writing_view(void *data, size_t count) {
    const array_double_2 *x = data;
    const double start = bench_own_now();
    for (size_t i = 0; i < count; i++) {
        HA_WRITING(v, *x, ha_host()) bench_use(&v);
        else bench_require(0, "write a view");
    }
    return bench_own_now() - start;
}

/* ---- references --------------------------------------------------------------------------- */

/* A lock, and a little that it protects in a cache line of its own: what any shared object has. */
typedef struct guarded {
    _Alignas(64) uint32_t lock;
    pthread_mutex_t mutex;
    _Alignas(64) uint64_t words[4];
} guarded;

/* The bare lock, nobody else there: one atomic exchange and one store. */
static double time_bare_lock(void *data, size_t count) {
    guarded *g = data;
    const double start = bench_own_now();
    for (size_t i = 0; i < count; i++) {
        uint32_t open = 0;
        const int taken = __atomic_compare_exchange_n(&g->lock, &open, 1, 0, __ATOMIC_ACQUIRE,
                                                      __ATOMIC_RELAXED);
        bench_require(taken, "lock");
        __atomic_store_n(&g->lock, 0, __ATOMIC_RELEASE);
        bench_barrier();
    }
    return bench_own_now() - start;
}

static double time_mutex(void *data, size_t count) {
    guarded *g = data;
    const double start = bench_own_now();
    for (size_t i = 0; i < count; i++) {
        bench_require(pthread_mutex_lock(&g->mutex) == 0, "lock");
        bench_require(pthread_mutex_unlock(&g->mutex) == 0, "unlock");
        bench_barrier();
    }
    return bench_own_now() - start;
}

static void pause_processor(void) {
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* The same lock as it must be when somebody else may be there, and as the library's own. */
static void lock(uint32_t *word) {
    int spins = 0;
    for (;;) {
        uint32_t open = 0;
        if (__atomic_compare_exchange_n(word, &open, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return;
        if (++spins > 64) {
            sched_yield();
            spins = 0;
        } else {
            pause_processor();
        }
    }
}

static void change(guarded *g) {
    for (size_t i = 0; i < sizeof g->words / sizeof g->words[0]; i++) g->words[i]++;
    bench_barrier();
}

/* What an access does to be safe: it takes the lock twice, to open and to close, and changes
 * something each time. */
static double time_lock_twice(void *data, size_t count) {
    guarded *g = data;
    const double start = bench_own_now();
    for (size_t i = 0; i < 2 * count; i++) {
        lock(&g->lock);
        change(g);
        __atomic_store_n(&g->lock, 0, __ATOMIC_RELEASE);
    }
    return bench_own_now() - start;
}

static double time_mutex_twice(void *data, size_t count) {
    guarded *g = data;
    const double start = bench_own_now();
    for (size_t i = 0; i < 2 * count; i++) {
        bench_require(pthread_mutex_lock(&g->mutex) == 0, "lock");
        change(g);
        bench_require(pthread_mutex_unlock(&g->mutex) == 0, "unlock");
    }
    return bench_own_now() - start;
}

static guarded reference = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- figures ------------------------------------------------------------------------------ */

static void against_lock(const char *name, bench_function *function, void *s, double bound) {
    bench_run(&(bench_figure){name, function, s, "bare atomic lock + unlock", time_bare_lock,
                              &reference, .bound = bound});
}

static void against_mutex(const char *name, bench_function *function, subject *s) {
    bench_run(&(bench_figure){name, function, s, "pthread mutex lock + unlock", time_mutex,
                              &reference, .bound = 0});
}

static void in_two_threads(const char *name, bench_function *function, subject *a, subject *b) {
    bench_two ours = {function, {a, b}};
    bench_two locks = {time_lock_twice, {&reference, &reference}};
    bench_two mutexes = {time_mutex_twice, {&reference, &reference}};
    bench_run(&(bench_figure){name, bench_in_two_threads, &ours,
                              "two contended lock + unlock of the same lock", bench_in_two_threads,
                              &locks, .bound = THREADS_BOUND});
    bench_run(&(bench_figure){name, bench_in_two_threads, &ours,
                              "two contended pthread mutex lock + unlock", bench_in_two_threads,
                              &mutexes, .bound = 0});
}

static harray_double filled(void) {
    harray_double x = harray_double_zeros(ELEMENTS);
    bench_require(x.array != NULL, "array");
    return x;
}

/* Makes the array valid at the context, too, with nothing left to do there. */
static void settle(harray_double x, ha_context *context) {
    HA_CHECK(ha_array_prefetch(x.array, context, 0, HA_END));
    HA_CHECK(ha_context_finish(context));
}

static void on_host(void) {
    subject s = {filled(), ha_host(), 200, 500};
    against_lock("host read", time_read, &s, HOST_BOUND);
    against_lock("host write", time_write, &s, HOST_BOUND);
    against_lock("host overwrite", time_overwrite, &s, HOST_BOUND);
    against_lock("host read range", time_read_range, &s, HOST_BOUND);
    against_lock("host write range", time_write_range, &s, HOST_BOUND);
    against_lock("host read scope", time_reading_scope, &s, HOST_BOUND);
    against_lock("host write scope", time_writing_scope, &s, HOST_BOUND);
    against_mutex("host read", time_read, &s);
    against_mutex("host write", time_write, &s);
    HA_CHECK(harray_double_free(&s.x));
}

static void with_two_dimensions(void) {
    array_double_2 whole = array_double_2_zeros(HA_DIM(40, 25), ha_host());
    array_double_2 inner = array_double_2_part(whole, HA_DIM(1, 1), HA_DIM(39, 24));
    bench_require(inner.array != NULL, "view");
    subject storage = {{whole.array}, ha_host(), 0, HA_END};
    against_lock("host read view", time_reading_view, &inner, VIEW_BOUND);
    against_lock("host write view", time_writing_view, &inner, VIEW_BOUND);
    against_lock("host read storage", time_read, &storage, HOST_BOUND);
    HA_CHECK(array_double_2_free(&whole));
}

static void do_nothing(const ha_queue *queue, void *argument) {
    (void)queue;
    (void)argument;
}

static void on_sim(void) {
    subject s = {filled(), ha_context_find("sim"), 200, 500};
    settle(s.x, s.context);
    against_lock("sim read", time_read, &s, DEVICE_BOUND);
    against_lock("sim read range", time_read_range, &s, DEVICE_BOUND);
    against_lock("sim read scope", time_reading_scope, &s, DEVICE_BOUND);
    against_lock("sim write", time_write, &s, DEVICE_BOUND);
    against_lock("sim write range", time_write_range, &s, DEVICE_BOUND);
    against_mutex("sim read", time_read, &s);
    against_mutex("sim write", time_write, &s);

    /* The usual state of a device: earlier work on the same queue has not happened yet. */
    HA_CHECK(ha_sim_hold(s.context));
    HA_WRITING(v, s.x, s.context) HA_RUN(do_nothing, v);
    against_lock("sim read, work outstanding", time_read, &s, DEVICE_BOUND);
    against_lock("sim write, work outstanding", time_write, &s, DEVICE_BOUND);
    HA_CHECK(ha_sim_step(s.context, -1));
    HA_CHECK(ha_context_finish(s.context));
    HA_CHECK(harray_double_free(&s.x));
}

enum { BATCH = 32, ARGUMENT = 4 << 10 };

/* The queue works while this goes on; waiting for it is not timed. */
static double time_enqueue(ha_context *context, size_t bytes, size_t copied, size_t count) {
    static char argument[ARGUMENT], copy[ARGUMENT];
    double ns = 0;
    for (size_t done = 0; done < count; done += BATCH) {
        const size_t end = count - done < BATCH ? count : done + BATCH;
        const double start = bench_now();
        for (size_t i = done; i < end; i++) {
            memcpy(copy, argument, copied);
            bench_use(copy);
            HA_CHECK(ha_enqueue(context, do_nothing, argument, bytes));
        }
        ns += bench_now() - start;
        HA_CHECK(ha_context_finish(context));
    }
    return ns;
}

static double time_large_argument(void *data, size_t count) {
    return time_enqueue(data, ARGUMENT, 0, count);
}

static double time_small_argument(void *data, size_t count) {
    return time_enqueue(data, 16, ARGUMENT, count);
}

static void enqueueing(void) {
    bench_run(&(bench_figure){"enqueue on sim, 4 KiB of argument", time_large_argument,
                              ha_context_find("sim"), "memcpy of 4 KiB, enqueue of 16 bytes",
                              time_small_argument, ha_context_find("sim"), .bound = 1.3});
}

static void with_two_threads(void) {
    subject low = {filled(), ha_host(), 0, 400};
    subject high = {low.x, low.context, 500, 900};
    in_two_threads("host read, 2 threads, 1 array", time_read, &low, &high);
    in_two_threads("host read range, 2 threads, 1 array", time_read_range, &low, &high);
    in_two_threads("host write separate ranges, 2 threads, 1 array", time_write_range, &low, &high);

    subject other = {filled(), ha_host(), 500, 900};
    bench_two both = {time_read, {&low, &other}};
    bench_run(&(bench_figure){"host read, 2 threads, 2 arrays", bench_in_two_threads, &both,
                              "1 thread", time_read, &low, .bound = 0});
    HA_CHECK(harray_double_free(&other.x));

    low.context = high.context = ha_context_find("sim");
    settle(low.x, low.context);
    in_two_threads("sim read, 2 threads, 1 array", time_read, &low, &high);
    in_two_threads("sim write separate ranges, 2 threads, 1 array", time_write_range, &low, &high);
    HA_CHECK(harray_double_free(&low.x));
}

/* Whole writes exclude each other: one thread sleeps while the other one has the array. */
static void taking_turns(void) {
    subject s = {filled(), ha_host(), 0, 0};
    bench_two ours = {time_write, {&s, &s}};
    bench_two mutexes = {time_mutex_twice, {&reference, &reference}};
    bench_run(&(bench_figure){"host write in turns, 2 threads, 1 array", bench_in_two_threads,
                              &ours, "two contended pthread mutex lock + unlock",
                              bench_in_two_threads, &mutexes, .bound = 0});
    HA_CHECK(harray_double_free(&s.x));
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, VARIANT);
    on_host();
    with_two_dimensions();
    on_sim();
    enqueueing();
    with_two_threads();
    taking_turns();
    HA_CHECK(ha_shutdown());
    return 0;
}
