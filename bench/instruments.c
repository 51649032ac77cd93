/* What the instruments cost when they are on: watched accesses, an event handler, a trace; each
 * against the same without. That they cost nothing when they are off is what bench/access.c and
 * bench/versus show. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray.h"

#include "bench.h"

enum { ELEMENTS = 512 }; /* 4 KiB */

/* An array, where it is opened, and what is on meanwhile. */
typedef struct subject {
    harray_double x;
    ha_context *context;
    int handler, trace;
} subject;

static void on_event(const ha_event_info *event, void *user) {
    (void)user;
    bench_use(event);
}

static void switch_on(const subject *s) {
    if (s->handler) ha_set_event_handler(on_event, NULL);
    if (s->trace) HA_CHECK(ha_trace_begin("/dev/null"));
}

static void switch_off(const subject *s) {
    if (s->handler) ha_set_event_handler(NULL, NULL);
    if (s->trace) HA_CHECK(ha_trace_end());
}

static double time_read(void *data, size_t count) {
    const subject *s = data;
    ha_read_double v;
    switch_on(s);
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        bench_require(ha_open(&v, s->x.array, s->context, HA_READ, 0, HA_END) == HA_OK, "read");
        bench_use(v.data);
        bench_require(ha_close(&v) == HA_OK, "close");
    }
    const double end = bench_now();
    switch_off(s);
    return end - start;
}

/* Written on the host, read on the device, and waited for. */
static double time_transfer(void *data, size_t count) {
    const subject *s = data;
    ha_write_double w;
    ha_read_double v;
    switch_on(s);
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        bench_require(ha_open(&w, s->x.array, ha_host(), HA_WRITE, 0, HA_END) == HA_OK, "write");
        bench_require(ha_close(&w) == HA_OK, "close");
        bench_require(ha_open(&v, s->x.array, s->context, HA_READ, 0, HA_END) == HA_OK, "read");
        bench_require(ha_close(&v) == HA_OK, "close");
        bench_require(ha_context_finish(s->context) == HA_OK, "finish");
    }
    const double end = bench_now();
    switch_off(s);
    return end - start;
}

static harray_double filled(int watched) {
    ha_watch(watched ? HA_WATCH_ACCESSES : 0);
    harray_double x = harray_double_zeros(ELEMENTS);
    bench_require(x.array != NULL, "array");
    ha_watch(0);
    return x;
}

static void accesses(const char *place, ha_context *context) {
    char name[80];
    subject plain = {filled(0), context, 0, 0}, watched = {filled(1), context, 0, 0};
    HA_CHECK(ha_array_prefetch(plain.x.array, context, 0, HA_END));
    HA_CHECK(ha_array_prefetch(watched.x.array, context, 0, HA_END));
    HA_CHECK(ha_context_finish(context));
    snprintf(name, sizeof name, "%s read, watched", place);
    bench_run(
        &(bench_figure){name, time_read, &watched, "not watched", time_read, &plain, .bound = 0});
    watched.handler = 1;
    snprintf(name, sizeof name, "%s read, watched, with a handler", place);
    bench_run(
        &(bench_figure){name, time_read, &watched, "not watched", time_read, &plain, .bound = 0});
    watched.handler = 0;
    watched.trace = 1;
    snprintf(name, sizeof name, "%s read, traced", place);
    bench_run(
        &(bench_figure){name, time_read, &watched, "not watched", time_read, &plain, .bound = 0});
    HA_CHECK(harray_double_free(&plain.x));
    HA_CHECK(harray_double_free(&watched.x));
}

static void transfers(ha_context *context) {
    subject plain = {filled(0), context, 0, 0}, other = {filled(0), context, 1, 0};
    bench_run(&(bench_figure){"4 KiB host to sim, with a handler", time_transfer, &other, "without",
                              time_transfer, &plain, .bound = 0});
    other = (subject){other.x, context, 0, 1};
    bench_run(&(bench_figure){"4 KiB host to sim, traced", time_transfer, &other, "without",
                              time_transfer, &plain, .bound = 0});
    HA_CHECK(harray_double_free(&plain.x));
    HA_CHECK(harray_double_free(&other.x));
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, "included");
    ha_context *sim = ha_context_find("sim");
    bench_require(sim != NULL, "sim");
    accesses("host", ha_host());
    accesses("sim", sim);
    transfers(sim);
    HA_CHECK(ha_shutdown());
    return 0;
}
