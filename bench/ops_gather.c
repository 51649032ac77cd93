/* Operations by index against the same loops by hand, in the same memory: indices one after the other, and in any order. A gather
 * of the former, which has the memory's bandwidth, against a copy of as many bytes, too. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray_ops.h"

#include "bench.h"
#include <string.h>

#define LOOP __attribute__((noinline, aligned(64))) static
enum { IN_CACHE = 16384, FROM_DRAM = 1 << 23 };

LOOP void gather_by_hand(int64_t n, const double *x, const int32_t *at, double *restrict y) {
    for (int64_t i = 0; i < n; i++) y[i] = x[at[i]];
}
LOOP void scatter_by_hand(int64_t n, double *y, const int32_t *at, const double *x) {
    for (int64_t i = 0; i < n; i++) y[at[i]] += x[i];
}
LOOP int64_t compact_by_hand(int64_t n, double *restrict y, const double *x, const uint8_t *mask) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        if (mask[i]) y[count++] = x[i];
    return count;
}

typedef struct work {
    int64_t n, count;
    harray_double x, y;
    harray_int32_t at;
    harray_uint8_t mask;
    double *px, *py;
    int32_t *pat;
    uint8_t *pmask;
    char *from, *to; /* of memcpy */
    size_t copied;
} work;

BENCH_TIME(memcpy, memcpy(w->to, w->from, w->copied))
BENCH_TIME(gather, HA_CHECK(ha_gather(w->y, w->x, w->at, NULL)))
BENCH_TIME(gather_by_hand, gather_by_hand(w->n, w->px, w->pat, w->py))
BENCH_TIME(scatter, HA_CHECK(ha_scatter(HA_ADD, w->y, w->at, w->x, NULL)))
BENCH_TIME(scatter_by_hand, scatter_by_hand(w->n, w->py, w->pat, w->px))
BENCH_TIME(compact, HA_CHECK(ha_compact(w->y, w->x, w->mask, &w->count, NULL)))
BENCH_TIME(compact_by_hand, w->count = compact_by_hand(w->n, w->py, w->px, w->pmask))

/* step: from one index to the next one, modulo n; prime to it */
static work work_of(int64_t n, int64_t step) {
    work w = {.n = n};
    w.x = harray_double_filled((size_t)n, 1);
    w.y = harray_double_filled((size_t)n, 0);
    w.at = harray_int32_t_new((size_t)n);
    w.mask = harray_uint8_t_new((size_t)n);
    HA_WRITING(v, w.x, ha_host()) w.px = v.data;
    HA_WRITING(v, w.y, ha_host()) w.py = v.data;
    HA_WRITING(v, w.at, ha_host()) {
        w.pat = v.data;
        for (int64_t i = 0; i < n; i++) v.data[i] = (int32_t)(i * step % n);
    }
    HA_CHECK(ha_random(w.mask, 1, NULL));
    HA_CHECK(ha_combine_number(HA_IS_LESS, w.mask, w.mask, 128, NULL));
    HA_WRITING(v, w.mask, ha_host()) w.pmask = v.data;
    return w;
}

static void free_work(work *w) {
    HA_CHECK(harray_double_free(&w->x));
    HA_CHECK(harray_double_free(&w->y));
    HA_CHECK(harray_int32_t_free(&w->at));
    HA_CHECK(harray_uint8_t_free(&w->mask));
}

static void figure(const char *name, bench_function *function, work *w, bench_function *reference,
                   double bound, size_t bytes) {
    bench_run(&(bench_figure){name, function, w, "by hand", reference, w, bound, 0,
                              (size_t)w->n * bytes});
}

/* Against a memcpy that reads and writes as many bytes together, in the memory of arrays, too. */
static void gather_beside_copying(work *w) {
    const size_t bytes = 20 * (size_t)w->n;
    w->copied = bytes / 2;
    harray_double from = harray_double_filled(2 * (size_t)w->n, 1),
                  to = harray_double_filled(2 * (size_t)w->n, 2);
    HA_WRITING(v, from, ha_host()) w->from = (char *)v.data;
    HA_WRITING(v, to, ha_host()) w->to = (char *)v.data;
    bench_run(
        &(bench_figure){"gather, bytes", time_gather, w, "memcpy", time_memcpy, w, 1.11, 0, bytes});
    HA_CHECK(harray_double_free(&from));
    HA_CHECK(harray_double_free(&to));
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, "plain");
    work w = work_of(IN_CACHE, 1);
    figure("gather, in cache", time_gather, &w, time_gather_by_hand, 1.9, 20);
    figure("scatter, in cache", time_scatter, &w, time_scatter_by_hand, 1.9, 28);
    figure("compact, in cache", time_compact, &w, time_compact_by_hand, 1, 17);
    free_work(&w);
    w = work_of(FROM_DRAM, 1);
    figure("gather, from DRAM", time_gather, &w, time_gather_by_hand, 1.1, 20);
    gather_beside_copying(&w);
    figure("scatter, from DRAM", time_scatter, &w, time_scatter_by_hand, 1.4, 28);
    figure("compact, from DRAM", time_compact, &w, time_compact_by_hand, 1, 17);
    free_work(&w);
    w = work_of(FROM_DRAM, 1000003);
    figure("gather in any order", time_gather, &w, time_gather_by_hand, 1.15, 20);
    figure("scatter in any order", time_scatter, &w, time_scatter_by_hand, 1.15, 28);
    free_work(&w);
    return 0;
}
