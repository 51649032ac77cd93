/* Whole arrays of half and bfloat16 to float and double, and back, against memcpy that reads and writes
 * as many bytes together: 64 MiB, in memory, and 24 KiB, which stay in the first cache. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray.h"

#include "bench.h"

typedef struct work {
    void *to, *from;
    size_t n;     /* numbers to convert */
    size_t bytes; /* to copy */
} work;

#define TIME(name, From, To)                                                                       \
    static double time_##name(void *data, size_t count) {                                          \
        const work *w = (const work *)data;                                                        \
        const double start = bench_now();                                                          \
        for (size_t i = 0; i < count; i++) {                                                       \
            ha_convert_##name((To *)w->to, (const From *)w->from, w->n);                           \
            bench_barrier();                                                                       \
        }                                                                                          \
        return bench_now() - start;                                                                \
    }
TIME(half_to_float, ha_half, float)
TIME(half_to_double, ha_half, double)
TIME(float_to_half, float, ha_half)
TIME(double_to_half, double, ha_half)
TIME(bfloat16_to_float, ha_bfloat16, float)
TIME(bfloat16_to_double, ha_bfloat16, double)
TIME(float_to_bfloat16, float, ha_bfloat16)
TIME(double_to_bfloat16, double, ha_bfloat16)

static double time_memcpy(void *data, size_t count) {
    const work *w = (const work *)data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        memcpy(w->to, w->from, w->bytes);
        bench_barrier();
    }
    return bench_now() - start;
}

static const struct {
    const char *name;
    bench_function *function;
    size_t from, to;
} conversions[] = {
    {"half to float", time_half_to_float, 2, 4},
    {"half to double", time_half_to_double, 2, 8},
    {"float to half", time_float_to_half, 4, 2},
    {"double to half", time_double_to_half, 8, 2},
    {"bfloat16 to float", time_bfloat16_to_float, 2, 4},
    {"bfloat16 to double", time_bfloat16_to_double, 2, 8},
    {"float to bfloat16", time_float_to_bfloat16, 4, 2},
    {"double to bfloat16", time_double_to_bfloat16, 8, 2},
};

/* Numbers from -1 to 1, of what is converted. */
static void fill(void *from, size_t bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const double x = (double)(i % 1999) / 999.5 - 1;
        const float y = (float)x;
        const ha_half h = ha_half_of_double(x);
        memcpy((char *)from + i * bytes,
               bytes == 8   ? (const void *)&x
               : bytes == 4 ? (const void *)&y
                            : (const void *)&h,
               bytes);
    }
}

/* `bytes` are read and written together. Aligned as the memory of arrays is. */
static void run(size_t bytes, const char *size, double bound) {
    work w = {aligned_alloc(64, bytes), aligned_alloc(64, bytes), 0, bytes / 2};
    bench_require(w.to != NULL && w.from != NULL, "memory");
    memset(w.to, 1, bytes);
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++) {
        char name[40];
        w.n = bytes / (conversions[i].from + conversions[i].to);
        fill(w.from, conversions[i].from, w.n);
        snprintf(name, sizeof name, "%s, %s", conversions[i].name, size);
        bench_run(&(bench_figure){name, conversions[i].function, &w, "memcpy", time_memcpy, &w,
                                  .bound = bound, .bytes = bytes});
    }
    free(w.to);
    free(w.from);
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, "included");
    run(64 << 20, "64 MiB", 1.25);
    run(24 << 10, "24 KiB", 0);
    return 0;
}
