/* What the loops of the layout benchmarks share: nbody, stencil, lattice. */
#ifndef BENCH_LOOPS_H
#define BENCH_LOOPS_H

#include "bench.h"

/* A loop to be timed: a function of its own, which begins on a cache line, so that chance does not
 * decide how fast it is, and whose instructions valgrind --tool=callgrind counts. */
#define LOOP __attribute__((noinline, noclone, aligned(64))) static

/* No iteration of the hand-written loop behind this depends on another one, which a compiler cannot
 * see when what is read and what is written have the same type. WHOLE is for loops over the lanes
 * of a block: gcc would take them apart, one lane after the other, before it could vectorise them.
 * BLOCKWISE is for loops over blocks: clang would do several at once, gathering lane 0 of each,
 * then lane 1. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* not every loop here can be vectorised */
#undef LOOP
#define LOOP __attribute__((noinline, aligned(64))) static
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety) interleave(enable)")
#define WHOLE INDEPENDENT
#define BLOCKWISE _Pragma("clang loop vectorize(disable)")
#elif defined __OPTIMIZE__
#define INDEPENDENT _Pragma("GCC ivdep")
#define WHOLE _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#define BLOCKWISE
#else /* gcc says that it ignores them */
#define INDEPENDENT
#define WHOLE
#define BLOCKWISE
#endif

/* What this thread has used of the processor, in nanoseconds: nothing here waits, so what else the
 * machine does has less to say. */
static inline double loops_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Makes the function that times a call: time_NAME. */
#define TIME(name, type, ...)                                                                      \
    static double time_##name(void *data, size_t count) {                                          \
        type *const w = (type *)data;                                                              \
        const double start = loops_now();                                                          \
        for (size_t k = 0; k < count; k++) {                                                       \
            __VA_ARGS__;                                                                           \
            bench_barrier();                                                                       \
        }                                                                                          \
        return loops_now() - start;                                                                \
    }

/* Memory in which every field is a few cache lines further than a multiple of a page from the last
 * one: else all of them would want the same places in the first cache. Never freed. */
__attribute__((unused)) static void *bench_memory(size_t bytes) {
    static size_t number;
    enum { PAGE = 4096, LINE = 64 };
    const size_t shift = number++ % 64 * LINE;
    char *memory = (char *)aligned_alloc(PAGE, (bytes + shift + 2 * PAGE - 1) / PAGE * PAGE);
    bench_require(memory != NULL, "memory");
    memset(memory, 0, bytes + shift);
    return memory + shift;
}

#endif
