/* Scans, reductions along a dimension and histograms against the same loops by hand, in the same memory; a scan also against a copy. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray_ops.h"

#include "bench.h"

HA_ARRAY(double, 2);

#define LOOP __attribute__((noinline, aligned(64))) static
enum { IN_CACHE = 128, FROM_DRAM = 3000, BINS = 256 }; /* rows, and elements of each */

LOOP void scan_by_hand(int64_t n, const double *x, double *restrict y) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) y[i] = sum += x[i];
}
LOOP void columns_by_hand(int64_t n, const double *x, double *restrict y) {
    for (int64_t i = 0; i < n; i++) y[i] = 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) y[i] += x[j * n + i];
}
LOOP void rows_by_hand(int64_t n, const double *x, double *restrict y) {
    for (int64_t j = 0; j < n; j++) {
        double sum[16] = {0}, all = 0;
        int64_t i = 0;
        for (; i + 16 <= n; i += 16)
            for (int l = 0; l < 16; l++) sum[l] += x[j * n + i + l];
        for (int l = 0; l < 16; l++) all += sum[l];
        for (; i < n; i++) all += x[j * n + i];
        y[j] = all;
    }
}
LOOP void histogram_by_hand(int64_t n, const double *x, int32_t *restrict counts) {
    for (int b = 0; b < BINS; b++) counts[b] = 0;
    for (int64_t i = 0; i < n; i++)
        if (x[i] >= 0 && x[i] < 1) counts[(int)(x[i] * BINS)]++;
}

typedef struct work {
    int64_t n, outside; /* rows */
    array_double_2 x, y;
    harray_double sums;
    harray_int32_t counts;
    double *px, *py, *psums;
    int32_t *pcounts;
} work;

BENCH_TIME(scan, HA_CHECK(ha_scan(HA_SUM, w->y, w->x, HA_INCLUSIVE, NULL)))
BENCH_TIME(scan_by_hand, scan_by_hand(w->n * w->n, w->px, w->py))
BENCH_TIME(copy, memcpy(w->py, w->px, (size_t)(w->n * w->n) * sizeof(double)))
BENCH_TIME(scan_columns, HA_CHECK(ha_scan_along(HA_SUM, w->y, w->x, 0, HA_INCLUSIVE, NULL)))
BENCH_TIME(columns, HA_CHECK(ha_reduce_along(HA_SUM, w->sums, w->x, 0, NULL)))
BENCH_TIME(columns_by_hand, columns_by_hand(w->n, w->px, w->psums))
BENCH_TIME(rows, HA_CHECK(ha_reduce_along(HA_SUM, w->sums, w->x, 1, NULL)))
BENCH_TIME(rows_by_hand, rows_by_hand(w->n, w->px, w->psums))
BENCH_TIME(histogram, HA_CHECK(ha_histogram(w->counts, w->x, 0, 1, &w->outside, NULL)))
BENCH_TIME(histogram_by_hand, histogram_by_hand(w->n * w->n, w->px, w->pcounts))

static work work_of(int64_t n) {
    work w = {.n = n};
    w.x = array_double_2_filled(HA_DIM(n, n), 1, NULL);
    w.y = array_double_2_filled(HA_DIM(n, n), 1, NULL);
    w.sums = harray_double_filled((size_t)n, 1);
    w.counts = harray_int32_t_filled(BINS, 1);
    HA_CHECK(ha_random(w.x, 1, NULL));
    HA_WRITING(v, w.x, ha_host()) w.px = &HA_AT(v.span, 0, 0);
    HA_WRITING(v, w.y, ha_host()) w.py = &HA_AT(v.span, 0, 0);
    HA_WRITING(v, w.sums, ha_host()) w.psums = v.data;
    HA_WRITING(v, w.counts, ha_host()) w.pcounts = v.data;
    return w;
}

static void free_work(work *w) {
    HA_CHECK(array_double_2_free(&w->x));
    HA_CHECK(array_double_2_free(&w->y));
    HA_CHECK(harray_double_free(&w->sums));
    HA_CHECK(harray_int32_t_free(&w->counts));
}

static void figure(const char *name, bench_function *function, work *w, const char *other,
                   bench_function *reference, double bound, size_t bytes) {
    bench_run(&(bench_figure){name, function, w, other, reference, w, bound, 0,
                              (size_t)(w->n * w->n) * bytes});
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, "plain");
    work w = work_of(IN_CACHE);
    figure("scan, in cache", time_scan, &w, "by hand", time_scan_by_hand, 1.7, 16);
    figure("sums of columns, in cache", time_columns, &w, "by hand", time_columns_by_hand, 2, 8);
    figure("sums of rows, in cache", time_rows, &w, "by hand", time_rows_by_hand, 1.3, 8);
    figure("histogram, in cache", time_histogram, &w, "by hand", time_histogram_by_hand, 2, 8);
    free_work(&w);
    w = work_of(FROM_DRAM);
    figure("scan, from DRAM", time_scan, &w, "copy", time_copy, 2, 16);
    figure("scan of columns, from DRAM", time_scan_columns, &w, "copy", time_copy, 5, 16);
    figure("sums of columns, from DRAM", time_columns, &w, "by hand", time_columns_by_hand, 2, 8);
    figure("sums of rows, from DRAM", time_rows, &w, "by hand", time_rows_by_hand, 1.3, 8);
    figure("histogram, from DRAM", time_histogram, &w, "by hand", time_histogram_by_hand, 2, 8);
    free_work(&w);
    return 0;
}
