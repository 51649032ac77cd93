/* What the first touch of fresh memory costs: a new array of 256 MiB, all of it written once,
 * against malloc and memset. Nothing is cached in between. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray.h"

#include "bench.h"

enum { BYTES = 256 << 20 };

static double time_array(void *data, size_t count) {
    const double start = bench_now();
    (void)data;
    for (size_t i = 0; i < count; i++) {
        ha_access v;
        ha_array *x = ha_array_new(ha_type_of_("byte", 1), BYTES, ha_host());
        bench_require(x != NULL, "new array");
        bench_require(ha_open(&v, x, ha_host(), HA_OVERWRITE, 0, HA_END) == HA_OK, "open");
        memset((char *)v.data, 1, v.size);
        bench_use(v.data);
        bench_require(ha_close(&v) == HA_OK && ha_array_free(x) == HA_OK, "close and free");
    }
    return bench_now() - start;
}

static double time_malloc(void *data, size_t count) {
    const double start = bench_now();
    (void)data;
    for (size_t i = 0; i < count; i++) {
        char *block = malloc(BYTES);
        bench_require(block != NULL, "malloc");
        memset(block, 1, BYTES);
        bench_use(block);
        free(block);
    }
    return bench_now() - start;
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, "included");
    HA_CHECK(ha_memory_set_cache(ha_host(), 0));
    bench_run(&(bench_figure){"first touch of 256 MiB", time_array, NULL, "malloc + memset",
                              time_malloc, NULL, .bound = 0.25, .bytes = BYTES});
    HA_CHECK(ha_shutdown());
    return 0;
}
