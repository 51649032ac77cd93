/* What it costs to make an array with memory and to free it again, against malloc and free of the
 * same number of bytes on the host. Nothing is written to the memory. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray.h"

#include "bench.h"

enum { LIVE = 64 };

/* Some code keeps nothing, some keeps many arrays of which the oldest goes first. */
typedef struct shape {
    ha_context *context;
    size_t bytes;
    void *live[LIVE];
} shape;

static ha_array *new_array(const shape *s) {
    ha_array *x = ha_array_new(ha_type_of_("byte", 1), s->bytes, s->context);
    bench_require(x != NULL, "new array");
    return x;
}

static void *new_block(size_t bytes) {
    void *block = malloc(bytes);
    bench_require(block != NULL, "malloc");
    bench_use(block);
    return block;
}

static double time_array_pair(void *data, size_t count) {
    const shape *s = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++)
        bench_require(ha_array_free(new_array(s)) == HA_OK, "free array");
    return bench_now() - start;
}

static double time_malloc_pair(void *data, size_t count) {
    const shape *s = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) free(new_block(s->bytes));
    return bench_now() - start;
}

static double time_array_queue(void *data, size_t count) {
    shape *s = data;
    for (size_t i = 0; i < LIVE; i++) s->live[i] = new_array(s);
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        ha_array **oldest = (ha_array **)&s->live[i % LIVE];
        bench_require(ha_array_free(*oldest) == HA_OK, "free array");
        *oldest = new_array(s);
    }
    const double ns = bench_now() - start;
    for (size_t i = 0; i < LIVE; i++) bench_require(!ha_array_free(s->live[i]), "free array");
    return ns;
}

static double time_malloc_queue(void *data, size_t count) {
    shape *s = data;
    for (size_t i = 0; i < LIVE; i++) s->live[i] = new_block(s->bytes);
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        free(s->live[i % LIVE]);
        s->live[i % LIVE] = new_block(s->bytes);
    }
    const double ns = bench_now() - start;
    for (size_t i = 0; i < LIVE; i++) free(s->live[i]);
    return ns;
}

static void at_size(ha_context *context, size_t bytes, double bound_ns, const char *pair,
                    const char *queue) {
    shape s = {.context = context, .bytes = bytes};
    bench_run(&(bench_figure){pair, time_array_pair, &s, "malloc + free", time_malloc_pair, &s,
                              .bound_ns = bound_ns});
    bench_run(&(bench_figure){queue, time_array_queue, &s, "malloc + free, 64 live",
                              time_malloc_queue, &s, .bound_ns = bound_ns});
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, "included");
    ha_context *host = ha_host(), *sim = ha_context_find("sim:0");
    bench_require(sim != NULL, "sim:0");
    at_size(host, 256, 60, "create + free 256 B", "create + free 256 B, 64 live");
    at_size(host, 64 << 10, 60, "create + free 64 KiB", "create + free 64 KiB, 64 live");
    at_size(host, 4 << 20, 100, "create + free 4 MiB", "create + free 4 MiB, 64 live");
    at_size(sim, 64 << 10, 200, "create + free on sim 64 KiB",
            "create + free on sim 64 KiB, 64 live");
    HA_CHECK(ha_shutdown());
    return 0;
}
